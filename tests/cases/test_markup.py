"""Case 67 in the whole window: tokens and names that look like markup are shown everywhere and obeyed nowhere.

Every widget that can read HTML is looked at, whatever pane or dialog it is in.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractItemView, QLabel, QMessageBox, QTextEdit, QWidget

from tests.ui.conftest import Studio, empty_studio, theme
from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.training.config import TrainingConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["empty_studio", "theme"]  # fixtures

MOST_ROWS = 60
NAME = "&amp; <img src=x> a&b.txt" if os.name == "posix" else "&amp; a&b.txt"


def hostile_words(pipe: Path) -> list[str]:
    return [
        "<s>", "</s>", f"<img/src='{pipe}'>", "<b>bold</b>", "&amp;", "&lt;i&gt;", "a&b", "\u202eabc\u202c",
        "👩\u200d👧", "x" * 10_000, "<a/href='file:///etc'>x</a>", "<table><tr><td>",
    ]  # fmt: skip


@pytest.fixture
def hostile(empty_studio: Studio, tmp_path: Path) -> Iterator[Studio]:
    """A window on a vocabulary of such tokens, from a file with such a name; a picture to be loaded would hang it."""
    studio = empty_studio
    if os.name == "posix":
        os.mkfifo(tmp_path / "pipe")
    words = hostile_words(tmp_path / "pipe")
    (tmp_path / NAME).write_text("\n".join(words), encoding="utf-8")
    window = studio.window
    window.open_first()
    window.show()
    studio.wait_finished()
    studio.open(tmp_path / NAME)
    counts = count_texts([" ".join(words * 2)], "none", "whitespace-split")
    window.model.start(counts, TrainingConfig(max_merges=12_000))
    studio.wait_finished()
    window.model.last()
    yield studio
    window.session.document.note_saved()


def rich_labels(window: QWidget) -> list[QLabel]:
    """Return the labels that may take what they show for HTML."""
    plain = Qt.TextFormat.PlainText
    return [label for label in window.findChildren(QLabel) if label.textFormat() != plain and label.text()]


def tooltip_is_safe(text: str) -> bool:
    """Tell whether a tooltip shows no more than text: nothing is loaded and no tag of a token is obeyed."""
    if "<" not in text:
        return True
    inner = text.removeprefix('<span style="white-space:pre-wrap">').removesuffix("</span>")
    return inner != text and "<" not in inner


def cells(model: QAbstractItemModel) -> Iterator[tuple[QModelIndex, Qt.ItemDataRole]]:
    for row in range(min(model.rowCount(), MOST_ROWS)):
        for column in range(model.columnCount()):
            yield model.index(row, column), Qt.ItemDataRole.ToolTipRole


def assert_plain(window: QWidget) -> None:
    """Look at everything in a window that could read HTML."""
    assert not [label.text()[:200] for label in rich_labels(window)]
    boxes = [box for box in window.findChildren(QMessageBox) if box.textFormat() != Qt.TextFormat.PlainText]
    assert not boxes
    assert not [edit for edit in window.findChildren(QTextEdit) if edit.isVisible() and not edit.isReadOnly()]
    tooltips = [widget.toolTip() for widget in [window, *window.findChildren(QWidget)]]
    tooltips += [action.toolTip() for action in window.findChildren(QAction) if action.toolTip() != action.text()]
    views = window.findChildren(QAbstractItemView)
    assert views
    for view in views:
        model = view.model()
        if model is None:
            continue
        tooltips += [str(index.data(role) or "") for index, role in cells(model)]
        for column in range(model.columnCount()):
            told = model.headerData(column, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
            tooltips.append(str(told or ""))
    assert not [text[:200] for text in tooltips if not tooltip_is_safe(text)]


@pytest.mark.case(67)
def test_nothing_in_the_window_obeys_a_token(hostile: Studio, told: Callable[[object], str]) -> None:
    window = hostile.window
    model = window.model
    assert_plain(window)
    tokens = [token for token in model.history.vocabulary(model.step).tokens if "<" in token or "&" in token]
    assert tokens
    for token in tokens[:12]:
        model.set_selection(Selection("token", text=token))
        hostile.qtbot.wait(1)
        assert_plain(window)
    told(f"{tokens[-1][:60]} is shown as it is")


@pytest.mark.case(67)
def test_a_file_name_is_shown_as_it_is(hostile: Studio) -> None:
    window = hostile.window
    window.corpus_pane.refresh_now()
    assert window.corpus_pane.hints[0].startswith(NAME)
    window.actions_.refresh_menus()
    entries = window.actions_.choices("open_recent")
    assert NAME.replace("&", "&&") in [entry.text() for entry in entries]
    for entry in entries:
        assert tooltip_is_safe(entry.toolTip())


@pytest.mark.case(67)
def test_a_message_is_shown_as_it_is(empty_studio: Studio, told: Callable[[object], str]) -> None:
    empty_studio.window.show()
    for text in ("<img src='/dev/zero'>", "<b>x</b>", "&amp;", "\u202eabc"):
        empty_studio.window.messages.show_error(StudioError("{path} does not exist", "Choose {path}.", path=text))
        box = empty_studio.box()
        assert box.textFormat() is Qt.TextFormat.PlainText
        assert told(box.text()) == f"{text} does not exist."
        assert box.informativeText() == f"Choose {text}."
        for label in box.findChildren(QLabel):
            assert label.textFormat() is not Qt.TextFormat.RichText
        empty_studio.answer(QMessageBox.StandardButton.Ok)


def test_the_check_itself_finds_what_is_obeyed(empty_studio: Studio) -> None:
    """It would pass for nothing if it never failed."""
    window = empty_studio.window
    label = QLabel("<b>x</b>", window)
    with pytest.raises(AssertionError):
        assert_plain(window)
    label.setTextFormat(Qt.TextFormat.PlainText)
    assert_plain(window)
    label.setToolTip("<img src=x>")
    with pytest.raises(AssertionError):
        assert_plain(window)
    label.deleteLater()
    assert not tooltip_is_safe('<span style="white-space:pre-wrap"><img src=x></span>')
    assert tooltip_is_safe('<span style="white-space:pre-wrap">&lt;img src=x></span>'.replace("x>", "x&gt;"))
