"""Text from outside is shown and never obeyed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QWidget

from wordpiece_studio.ui.widgets.plain import (
    menu_text,
    plain_label,
    set_plain_text,
    set_plain_tooltip,
    shown,
    tooltip_text,
)

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

_HOSTILE = ["<img src='/dev/zero'>", "<s>", "##<b>", "&amp;", "a\nb  c", "</span><img src=x>", "‮abc"]


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
