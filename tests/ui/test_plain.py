"""Text from outside is shown and never obeyed; on the way to Qt, to the clipboard and back not a character is lost."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QTextCursor, QTextDocument
from PySide6.QtWidgets import QWidget

from tests.sampling import one_example_in
from wordpiece_studio.ui.panes.corpus.files_view import PreviewText, PreviewView
from wordpiece_studio.ui.panes.corpus.reading import ReadingForm
from wordpiece_studio.ui.training_bar import SpecialTokensDialog
from wordpiece_studio.ui.widgets.plain import (
    ExactEdit,
    copy_text,
    editor_text,
    menu_text,
    plain_label,
    set_plain_text,
    set_plain_tooltip,
    shown,
    tooltip_text,
    whole,
)

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

_HOSTILE = ["<img src='/dev/zero'>", "<s>", "##<b>", "&amp;", "a\nb  c", "</span><img src=x>", "‮abc"]
texts = st.text(st.sampled_from("a\ufeff\ufffe\u00a0\u2028\U0001f917") | st.characters(codec="utf-16"), max_size=8)


@pytest.mark.parametrize("text", _HOSTILE)
def test_a_label_shows_markup_as_it_is(qtbot: QtBot, text: str) -> None:
    label = plain_label("", role="hint")
    qtbot.addWidget(label)
    set_plain_text(label, text)
    assert label.text() == text
    assert label.textFormat() is Qt.TextFormat.PlainText


@pytest.mark.parametrize("text", _HOSTILE)
def test_a_tooltip_shows_exactly_the_text(qtbot: QtBot, text: str) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    set_plain_tooltip(widget, text)
    document = QTextDocument()
    document.setHtml(widget.toolTip())
    assert document.toPlainText() == text
    assert "<img" not in widget.toolTip()


def test_nothing_stays_nothing() -> None:
    assert tooltip_text("") == ""


def test_half_a_surrogate_pair_can_be_shown() -> None:
    assert shown("a\ud800b", 10) == "a?b"


def test_a_very_long_text_is_cut() -> None:
    assert len(shown("x" * 1_000_000, 100)) == 100


def test_an_ampersand_in_a_file_name_is_no_shortcut() -> None:
    assert menu_text("a&b") == "a&&b"


@one_example_in(4)
@given(texts)
def test_the_clipboard_gets_the_whole_text(qapp: object, text: str) -> None:
    copy_text(text)
    assert QGuiApplication.clipboard().text() == text


COPYING = """
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from wordpiece_studio.ui.panes.corpus.files_view import PreviewText, PreviewView
from wordpiece_studio.ui.widgets.plain import ExactEdit

application = QApplication([])
edit = ExactEdit()
edit.setPlainText("a\\u00a0b")
edit.selectAll()
edit.copy()
assert QGuiApplication.clipboard().text() == "a\\u00a0b"
"""


@pytest.mark.slow
def test_what_is_copied_outlives_python() -> None:
    """The clipboard lets go of what it holds after the interpreter has ended."""
    subprocess.run([sys.executable, "-c", COPYING], check=True)


def test_a_preview_is_copied_without_folds_and_with_its_no_break_spaces(qtbot: QtBot) -> None:
    text = "a\u00a0b\r\n" + "x" * 10_001 + "\ufeff"
    preview = PreviewText()
    qtbot.addWidget(preview)
    preview.show_text(text)
    preview.selectAll()
    preview.copy()
    assert QGuiApplication.clipboard().text() == text


def test_the_place_in_a_line_of_a_preview_counts_an_emoji_as_one_character(qtbot: QtBot) -> None:
    preview = PreviewView()
    qtbot.addWidget(preview)
    preview._show_text("\U0001f917 hug")
    for _ in range(3):
        preview._text.moveCursor(QTextCursor.MoveOperation.NextCharacter)
    assert preview.line_at_cursor() == (None, "\U0001f917 hug", 3)
    preview.task.close()


def test_a_column_is_called_as_it_is_in_the_file(qtbot: QtBot) -> None:
    form = ReadingForm(str, lambda **_how: None)
    qtbot.addWidget(form)
    form._show_columns(["\ufefftext", "other"], "\ufefftext")
    assert form.column_box.currentData() == form.column_edit.text() == "\ufefftext"


def test_special_tokens_keep_their_no_break_spaces(qtbot: QtBot) -> None:
    tokens = ("\ufeff[A]", "[B\u00a0C]")
    dialog = SpecialTokensDialog(tokens)
    qtbot.addWidget(dialog)
    assert dialog.tokens == tokens


def test_shift_and_return_end_a_line(qtbot: QtBot) -> None:
    edit = ExactEdit()
    qtbot.addWidget(edit)
    qtbot.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert editor_text(edit.document()) == "\n"


@given(st.text(st.sampled_from("a\ufeff\ufffe\u00a0\u2028\n\U0001f917\ud83e\udd17"), max_size=8), st.data())
def test_an_editor_is_read_to_the_half_of_a_character(text: str, data: st.DataObject) -> None:
    qt = QTextDocument()
    QTextCursor(qt).insertText(whole(text))
    units = text.encode("utf-16-le", "surrogatepass")
    start = data.draw(st.integers(0, len(units) // 2))
    end = data.draw(st.integers(start, len(units) // 2))
    assert editor_text(qt, start, end) == units[2 * start : 2 * end].decode("utf-16-le", "surrogatepass")
