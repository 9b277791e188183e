"""Drives the real window as a person does: mouse and keys go to the window's surface, not to a widget.

Qt itself finds the widget under the pointer, the one that has the keyboard, and the command that a key belongs to; so a
test notices what lies on top of a button, and which of two owners takes a key.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QRect, Qt, QTimer
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QApplication, QDialog, QMenu, QTabBar, QToolButton, QWidget

from wordpiece_studio.session.task import Task
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.ui.widgets.pane import Pane

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QAction

    from wordpiece_studio.ui.main_window import MainWindow
    from wordpiece_studio.ui.panes.tokenization.live_chips import ChipPlace

_LEFT = Qt.MouseButton.LeftButton
_PLAIN = Qt.KeyboardModifier.NoModifier
_PATIENCE_SECONDS = 60


class Driver:
    """A window, and the hands of a person."""

    def __init__(self, window: MainWindow) -> None:
        self.window = window
        self.model = window.model
        self._panes = window.findChildren(Pane)

    # -- waiting

    def wait(self, condition: Callable[[], object]) -> None:
        """Run the window until something holds."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < end, "it never came about"
            QTest.qWait(1)

    def wait_finished(self) -> None:
        """Run the window until the training has ended and every pane shows it."""
        self.wait(lambda: self.model.state is TrainerState.FINISHED)
        self.settle()

    def settle(self) -> None:
        """Run the window until every pane shows the present step and selection."""
        self.wait(self._is_settled)
        QApplication.processEvents()

    def _is_settled(self) -> bool:
        window, panes = self.window, self.panes()
        if self.model.is_busy or any(pane.is_stale or _waits(pane) for pane in panes) or _waits(window.corpus_marks):
            return False
        if _waits(window.session.usage):  # the words of a token are sought once its use is counted
            return False
        if window.session.figures.is_running:
            return False
        if self.model.history is None:
            return True
        scoreboard = window.scoreboard_pane
        if scoreboard in panes and (candidates := scoreboard.candidates) is not None:
            return candidates.step == scoreboard.shown_step - 1 and window.session.changes.is_known
        return scoreboard not in panes and window.session.changes.is_known

    def panes(self) -> list[Pane]:
        """Return the panes that are seen."""
        return [pane for pane in self._panes if pane.isVisible()]

    # -- keys

    def press(self, keys: str) -> None:
        """Press keys by their name, for example ``Ctrl+Right``, where the keyboard is."""
        combination = QKeySequence(keys)[0]
        QTest.keyClick(self._keyboard_window(), combination.key(), combination.keyboardModifiers())
        self.settle()

    def type(self, text: str) -> None:
        """Type a text where the keyboard is."""
        for letter in text:
            widget = QApplication.focusWidget()
            assert widget is not None, "nothing has the keyboard"
            QTest.keyClicks(widget, letter)
        self.settle()

    def _keyboard_window(self) -> object:
        if QApplication.activeWindow() is None:  # a dialog was closed; a desktop would go back to the window itself
            self.window.activateWindow()
            self.wait(self.window.isActiveWindow)
        shown = QApplication.activePopupWidget() or QApplication.activeModalWidget() or QApplication.activeWindow()
        return (shown or self.window).windowHandle()

    def focus(self, widget: QWidget) -> None:
        """Give a widget the keyboard, as the Tab key does at last."""
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        self.wait(widget.hasFocus)

    # -- the mouse

    def click(self, widget: QWidget, at: QPoint | None = None, keys: Qt.KeyboardModifier = _PLAIN) -> None:
        """Click on a widget: in its middle, or at a point of its own."""
        point = at if at is not None else widget.rect().center()
        QTest.mouseClick(*self._on_surface(widget), keys, self._surface_point(widget, point))
        self.settle()

    def drag(self, widget: QWidget, start: QPoint, *stops: QPoint) -> None:
        """Press at `start`, go to each of `stops`, and let go at the last one."""
        surface = widget.window().windowHandle()
        QTest.mousePress(surface, _LEFT, _PLAIN, self._surface_point(widget, start))
        for stop in stops:
            QTest.mouseMove(surface, self._surface_point(widget, stop))
            QApplication.processEvents()
        QTest.mouseRelease(surface, _LEFT, _PLAIN, self._surface_point(widget, stops[-1]))
        self.settle()

    def _on_surface(self, widget: QWidget) -> tuple[object, Qt.MouseButton]:
        assert widget.isVisible(), f"{widget!r} is not seen"
        return widget.window().windowHandle(), _LEFT

    @staticmethod
    def _surface_point(widget: QWidget, point: QPoint) -> QPoint:
        assert widget.rect().contains(point), f"{point} is outside of {widget!r}"
        clipped = widget.visibleRegion().boundingRect()
        assert clipped.contains(point), f"{point} of {widget!r} is covered or scrolled away"
        return widget.mapTo(widget.window(), point)

    def click_row(self, view: QAbstractItemView, row: int, column: int = 0) -> None:
        """Click on a cell, which is brought into view before, as one does with the wheel."""
        index = view.model().index(row, column)
        assert index.isValid(), f"no row {row} in {view!r}"
        view.scrollTo(index)
        QApplication.processEvents()
        inside: QRect = view.visualRect(index) & view.viewport().rect()
        self.click(view.viewport(), inside.center())

    def click_chip(self, place: ChipPlace, *, boundary: bool = False) -> None:
        """Click on a chip of the live text, or on the boundary at its end."""
        chips = self.window.tokenization_pane.chips
        rect = chips.rect_of(place)
        assert rect is not None, f"no chip at {place}"
        point = QPoint(int(rect.right()) + 2, int(rect.center().y())) if boundary else rect.center().toPoint()
        self.click(chips.viewport(), point)

    def click_tab(self, title: str) -> None:
        """Bring a panel to the front that lies behind others."""
        for bar in self.window.findChildren(QTabBar):
            titles = [bar.tabText(at).replace("&", "") for at in range(bar.count())]
            if bar.isVisible() and title in titles:
                self.click(bar, bar.tabRect(titles.index(title)).center())
                return
        raise AssertionError(f"no tab “{title}” is seen")

    def click_button(self, action: QAction) -> None:
        """Click on the button of a command."""
        buttons = [button for button in self.window.findChildren(QToolButton) if button.defaultAction() is action]
        seen = [button for button in buttons if button.isVisible() and button.isEnabled()]
        assert seen, f"no button for “{action.text()}” can be clicked"
        self.click(seen[0])

    # -- menus and dialogs

    def click_menu(self, *path: str) -> None:
        """Open a menu with the mouse and click on a command, by their texts without ampersands."""
        bar = self.window.menuBar()
        action = _named(bar.actions(), path[0])
        self.click_open(bar, bar.actionGeometry(action).center())
        menu = action.menu()
        for name in path[1:]:
            self.wait(menu.isVisible)
            action = _named(menu.actions(), name)
            assert action.isEnabled(), f"“{name}” cannot be chosen"
            QTest.mouseClick(menu, _LEFT, _PLAIN, menu.actionGeometry(action).center())
            if isinstance(action.menu(), QMenu):
                menu = action.menu()
        self.settle()

    def click_open(self, widget: QWidget, at: QPoint) -> None:
        """Click on what opens a menu; nothing is waited for."""
        QTest.mouseClick(*self._on_surface(widget), _PLAIN, self._surface_point(widget, at))

    def dialog(self) -> QDialog:
        """Wait for a dialog and return it."""
        self.wait(lambda: self._dialogs())
        return self._dialogs()[-1]

    def _dialogs(self) -> list[QDialog]:
        return [dialog for dialog in self.window.findChildren(QDialog) if dialog.isVisible()]


def _waits(part: QObject) -> bool:
    """Tell whether something has put something off for a moment, or is looking something up."""
    timers, jobs = part.findChildren(QTimer), part.findChildren(Task)
    return any(timer.isActive() and timer.isSingleShot() for timer in timers) or any(job.is_running for job in jobs)


def _named(actions: list[QAction], name: str) -> QAction:
    found = [action for action in actions if action.text().replace("&", "").split("\t")[0] == name]
    assert found, f"no “{name}” among {[action.text() for action in actions]}"
    return found[0]
