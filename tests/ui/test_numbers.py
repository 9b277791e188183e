"""Numbers look the same everywhere in the window, whatever the system's language: 29,792 and 0.05."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QLocale, QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QAbstractSpinBox, QLabel, QLineEdit

from wordpiece_studio.ui.panes.charts.chart import short_text
from wordpiece_studio.ui.widgets.token_text import number_text, value_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.ui.conftest import Studio

LANGUAGES = ("de_DE", "es_ES", "de_CH", "hi_IN", "ar_EG")
FOREIGN = re.compile(r"\d,(?!\d{3}(?!\d))\d|\d\.\d{3}\.\d|\d[’' \u00a0\u202f]\d{3}|[٠-٩]")
"""A comma before decimals, and what other languages put between thousands."""


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    before = QLocale()
    QLocale.setDefault(QLocale(request.param))
    yield request.param
    QLocale.setDefault(before)


def texts_of(window: QObject) -> Iterator[str]:
    """Yield what labels, buttons, fields, commands and tables say."""
    for each in window.findChildren(QObject):
        if isinstance(each, QLabel | QAbstractButton | QLineEdit | QAction):
            yield each.text()
        elif isinstance(each, QAbstractItemView) and (model := each.model()) is not None:
            for row in range(min(model.rowCount(), 20)):
                for column in range(model.columnCount()):
                    yield str(model.index(row, column).data(Qt.ItemDataRole.DisplayRole) or "")


@pytest.mark.usefixtures("language")
@pytest.mark.parametrize("language", ["de_DE", "ar_EG"], indirect=True)
def test_the_fields_of_a_window_are_in_no_other_language(empty_studio: Studio) -> None:
    window = empty_studio.window
    boxes = window.findChildren(QAbstractSpinBox)
    assert boxes
    assert {box.locale().name() for box in (*boxes, QLineEdit(window))} == {"en_US"}


@pytest.mark.usefixtures("language")
def test_texts_are_in_no_other_language() -> None:
    assert (number_text(29_792), value_text(1 / 6), value_text(1234.5678)) == ("29,792", "0.1667", "1,234.6")
    assert (short_text(0.25, 2), short_text(2_500_000)) == ("0.25", "2.5 M")


@pytest.mark.slow
@pytest.mark.parametrize("language", ["de_DE"], indirect=True)
def test_all_that_a_window_says_has_the_same_numbers(language: str, studio: Studio) -> None:
    found = [text for text in texts_of(studio.window) if FOREIGN.search(text)]
    assert not found, language
    assert any(re.search(r"\d\.\d{2}", text) for text in texts_of(studio.window))
