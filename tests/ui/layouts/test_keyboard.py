"""Everything in the window can be reached with the Tab key, in the order of reading, and has a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QApplication, QWidget

from wordpiece_studio.ui.widgets.layouts import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.ui.conftest import Studio
    from wordpiece_studio.ui.main_window import MainWindow


def stops(window: MainWindow) -> Iterator[QWidget]:
    """Yield the controls that the Tab key comes to, from the timeline round to it, or from what is last without it."""
    window.activateWindow()
    last = window.comparison_pane.tabs if window.comparison_pane.isVisible() else window.tokenization_pane.edit
    first = window.timeline_pane.plot if window.timeline_pane.isVisible() else last
    first.setFocus()
    for _ in range(200):
        yield QApplication.focusWidget()
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        if QApplication.focusWidget() is first:
            return
    pytest.fail("Tab never came round")


def pane_of(window: MainWindow, widget: QWidget) -> str:
    if window.bar.isAncestorOf(widget):
        return "bar"
    return next((panel.objectName() for panel in window.docks.panels.values() if panel.isAncestorOf(widget)), "")


@pytest.mark.slow
def test_tab_goes_through_all_that_is_seen_from_part_to_part(studio: Studio) -> None:
    window = studio.window
    for name in LAYOUTS:
        window.actions_.choice("choose_layout", name).trigger()
        if name == "engineer":
            studio.wait(lambda: bool(window.charts_pane.findChildren(QAbstractButton)))
        studio.qtbot.wait(30)
        found = list(stops(window))
        nameless = [
            f"{pane_of(window, each)}: {type(each).__name__}"
            for each in found
            if not (each.accessibleName() or (isinstance(each, QAbstractButton) and each.text()))
        ]
        assert not nameless
        order = [part for part in dict.fromkeys(pane_of(window, each) for each in found) if part]
        seen = [panel.objectName() for panel in window.docks.panels.values() if panel.isVisible()]
        wanted = [panel.objectName() for panel in window.docks.parts() if panel in window.docks.panels.values()]
        parts = [*(["bar"] if window.bar.isVisible() else []), *(part for part in wanted if part in seen)]
        assert parts[-1] == ({"compare": "comparison", "sizes": "tokenization"}.get(name, "timeline"))
        assert order == [parts[-1], *parts[:-1]]  # it began in the last one


def test_in_a_pane_tab_goes_from_line_to_line(studio: Studio) -> None:
    window = studio.window
    found = list(stops(window))
    more = window.scoreboard_pane.candidates_view.more_button
    assert found.index(more.parentWidget().parentWidget()) + 1 == found.index(more)  # wherever it is scrolled to
    shown = (each for each in found if each is not more and pane_of(window, each) == "scoreboard")
    tops = [each.mapTo(window, QPoint(0, 0)).y() for each in shown]
    assert tops == sorted(tops)
    names = [each.accessibleName() for each in found]
    assert names.index("Text to tokenize") < names.index("Tokens")


def test_every_control_has_a_name_seen_or_not(studio: Studio) -> None:
    window = studio.window
    nameless = [
        f"{pane_of(window, each)}: {type(each).__name__}"
        for each in window.docks.findChildren(QWidget)
        if each.focusPolicy().value & Qt.FocusPolicy.TabFocus.value
        and pane_of(window, each)
        and each.focusProxy() is None
        and not isinstance(each.parentWidget(), QAbstractSpinBox)
        and not (each.accessibleName() or (isinstance(each, QAbstractButton) and each.text()))
    ]
    assert not nameless
