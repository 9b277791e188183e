"""The area of the panels: arranges them as a layout says, and keeps what the user changes by hand.

Panels are docks that lie beside, below and behind each other. There is no central widget.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QApplication, QMainWindow, QTabBar, QTabWidget, QVBoxLayout, QWidget

from wordpiece_studio.session.settings import SavedLayout
from wordpiece_studio.session.timers import later
from wordpiece_studio.ui.layouts import TEACH, Layout
from wordpiece_studio.ui.widgets.input_events import keep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QAction, QResizeEvent, QShowEvent

    from wordpiece_studio.ui.layouts import Column
    from wordpiece_studio.ui.widgets.pane import PanelDock

_AREA = Qt.DockWidgetArea
_ACROSS, _DOWN = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
_WIDE_LEFT_PART = 0.295  # of the width
_GAP = 8


class _Room(QMainWindow):
    """The docks of one arrangement; Qt is bad at rearranging docks: old tab bars stay and old sizes come back."""

    pressed = Signal()
    released = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowFlags(Qt.WindowType.Widget)
        options = QMainWindow.DockOption
        self.setDockOptions(options.AllowNestedDocks | options.AllowTabbedDocks)
        self.setTabPosition(_AREA.AllDockWidgetAreas, QTabWidget.TabPosition.North)

    def event(self, event: QEvent) -> bool:
        """Report when an edge between two panels may have been dragged."""
        if event.type() == QEvent.Type.MouseButtonPress:
            self.pressed.emit()
        is_handled = super().event(event)
        if event.type() == QEvent.Type.MouseButtonRelease:
            self.released.emit()
        return is_handled

    def build(self, panels: dict[str, PanelDock], columns: Sequence[Column], bottom: str) -> None:
        """Put the panels into these columns, and the one called `bottom` below them."""
        leads = [panels[column.groups[0][0]] for column in columns]
        self.addDockWidget(_AREA.TopDockWidgetArea, leads[0])
        for before, after in pairwise(leads):
            self.splitDockWidget(before, after, _ACROSS)
        self.addDockWidget(_AREA.BottomDockWidgetArea, panels[bottom])
        for column in columns:
            for above, below in pairwise(column.groups):
                self.splitDockWidget(panels[above[0]], panels[below[0]], _DOWN)
        for group in (group for column in columns for group in column.groups):
            for first, second in pairwise(group):
                self.tabifyDockWidget(panels[first], panels[second])

    def tab_bars(self) -> list[QTabBar]:
        """Return the tab bars above panels that lie behind each other; Qt hides that of a single panel."""
        return self.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)


class DockArea(QWidget):
    """The panels, which may be resized, hidden and brought to the front."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._room: _Room | None = None
        self._whole = QVBoxLayout(self)
        self._whole.setContentsMargins(0, 0, 0, 0)
        self._panels: dict[str, PanelDock] = {}
        self._layout = TEACH
        self._columns: tuple[Column, ...] = ()
        self._saved: SavedLayout | None = None
        self._is_placing = False
        self._is_wide_left = False
        self._widths: dict[str, float] = {}  # fractions of the area, set by hand; empty if none was
        self._heights: dict[str, float] = {}
        self._pressed_sizes: dict[str, tuple[int, int]] = {}

    def add_panel(self, panel: PanelDock) -> None:
        """Add a panel; the layout places it."""
        self._panels[panel.objectName()] = panel
        panel.setParent(self)
        panel.toggleViewAction().triggered.connect(panel.come_to_front)

    def panel(self, name: str) -> PanelDock:
        """Return the panel called `name`."""
        return self._panels[name]

    @property
    def panels(self) -> list[PanelDock]:
        """All panels, in the order in which they were added."""
        return list(self._panels.values())

    @property
    def layout_taken(self) -> Layout:
        """The layout in use."""
        return self._layout

    def bring(self, name: str) -> None:
        """Show the panel called `name` in front of those in the same place."""
        self._panels[name].come_to_front(True)

    def toggles(self) -> list[QAction]:
        """Return one checkable command for each panel, which hides it and brings it back."""
        return [panel.toggleViewAction() for panel in self._panels.values()]

    # -- layouts

    def take(self, layout: Layout, saved: SavedLayout | None = None) -> None:
        """Arrange the panels as `layout` says, with the changes saved for it, unless those are for another version."""
        self._layout = layout
        self._columns = ()
        self._saved = saved if saved is not None and saved.version == layout.version else None
        self._widths = dict(self._saved.widths) if self._saved is not None else {}
        self._heights = dict(self._saved.heights) if self._saved is not None else {}
        if self.isVisible():
            self._place_first()

    def _place_first(self) -> None:
        saved = self._saved
        self._place(frozenset(saved.closed) if saved is not None else self._layout.closed, saved.front if saved else ())

    def changed_by_hand(self) -> SavedLayout | None:
        """Return the user's changes to the layout; None if there are none."""
        if not self._columns:  # it was not shown yet
            return self._saved
        closed, front = self._closed(), self._front()
        if closed == self._layout.closed and not front and not self._widths:
            return None
        return SavedLayout(
            version=self._layout.version,
            closed=tuple(sorted(closed)),
            front=front,
            widths=self._widths,
            heights=self._heights,
        )

    def parts(self) -> list[QWidget]:
        """Return tab bars and panels in reading order."""
        result: list[QWidget] = []
        for column in self._columns:
            for group in column.groups:
                bar = self._tab_bar(group)
                result += [bar] if bar is not None else []
                result += [self._panels[name] for name in group]
        return [*result, self._panels[self._layout.bottom]]

    def set_wide_left(self, is_wide: bool) -> None:
        """Give the corpus the width that a table needs, or its default width; a width set by hand is kept."""
        if is_wide != self._is_wide_left:
            self._is_wide_left = is_wide
            if self.isVisible() and self._columns:
                self._fit()

    def _place(self, closed: frozenset[str], front: Sequence[str]) -> None:
        self._is_placing = True
        for panel in self._panels.values():
            panel.blockSignals(True)  # no pane must be seen on the way
        held = QApplication.focusWidget()  # Qt takes the focus from what moves to another window
        columns = self._wanted_columns()
        if columns != self._columns:
            self._columns = columns
            self._make_room(columns)
        for panel in self._panels.values():
            panel.show()  # a panel hidden in a new area would leave an empty tab
        for name in closed & set(self._panels):
            self._panels[name].hide()
        leads = [group[0] for column in columns for group in column.groups if len(group) > 1]
        for name in (*leads, *front):
            if name in self._panels and not self._panels[name].isHidden():
                self._panels[name].raise_()
        self._name_tab_bars()
        if held is not None and self.isAncestorOf(held) and held.isVisible():
            held.setFocus(Qt.FocusReason.OtherFocusReason)
        self._is_placing = False
        self._spread()
        for panel in self._panels.values():
            panel.blockSignals(False)
            panel.notice()

    def _make_room(self, columns: Sequence[Column]) -> None:
        old, self._room = self._room, _Room(self)
        if old is not None:
            for panel in self._panels.values():
                old.removeDockWidget(panel)
            old.hide()
            old.deleteLater()
        self._room.build(self._panels, columns, self._layout.bottom)
        self._room.pressed.connect(self._on_room_pressed)
        self._room.released.connect(self._on_room_released)
        self._whole.addWidget(self._room)
        self._room.show()
        self._whole.activate()  # panels can be resized only in an area that has its own size

    def _name_tab_bars(self) -> None:
        for bar in self._room.tab_bars() if self._room is not None else ():
            bar.setAccessibleName(self.tr("Panes behind each other"))
            bar.setDrawBase(False)
            bar.setExpanding(False)
            bar.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Leave the arrow keys, which change the step elsewhere, to the tab bar that has the focus."""
        return keep(event, (Qt.Key.Key_Left, Qt.Key.Key_Right)) or super().eventFilter(watched, event)

    def _tab_bar(self, group: Sequence[str]) -> QTabBar | None:
        titles = {self._panels[name].windowTitle() for name in group if not self._panels[name].isHidden()}
        bars = self._room.tab_bars() if self._room is not None else []
        found = (bar for bar in bars if {bar.tabText(index) for index in range(bar.count())} == titles)
        return next(found, None)

    def _closed(self) -> frozenset[str]:
        return frozenset(name for name, panel in self._panels.items() if panel.isHidden())

    def _front(self) -> tuple[str, ...]:
        """Return the panels that are in front of those that usually are."""
        front = []
        for group in (group for column in self._columns for group in column.groups):
            open_ones = [name for name in group if not self._panels[name].isHidden()]
            front += [name for name in open_ones[1:] if self._panels[name].is_in_front]
        return tuple(front)

    # -- sizes

    def showEvent(self, event: QShowEvent) -> None:
        """Place the panels once the size of the area is known."""
        super().showEvent(event)
        if self._columns:
            self._fit()
        else:
            self._place_first()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the proportions."""
        super().resizeEvent(event)
        if self.isVisible() and self._columns:
            self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and self.isVisible():
            later(self, 0, self._fit)  # when the panels have their new font and edges too

    def _wanted_columns(self) -> tuple[Column, ...]:
        line = self.fontMetrics().height()
        return self._layout.columns_for(self.height(), line, is_full=self._is_wide_left)

    def _fit(self) -> None:
        if self._is_placing:
            return
        columns = self._wanted_columns()
        if columns != self._columns:  # the area became low, or the corpus became a list of files
            self._place(self._closed(), self._front())
        else:
            self._spread()

    def _sizes(self) -> dict[str, tuple[int, int]]:
        seen = (panel for panel in self._panels.values() if panel.is_in_front)
        return {panel.objectName(): (panel.width(), panel.height()) for panel in seen}

    def _on_room_pressed(self) -> None:
        self._pressed_sizes = self._sizes()

    def _on_room_released(self) -> None:
        if self._sizes() != self._pressed_sizes:  # from now on the user's proportions are kept
            self._note_parts()

    def _note_parts(self) -> None:
        sizes = self._sizes()
        self._widths = {name: width / max(self.width(), 1) for name, (width, _) in sizes.items()}
        self._heights = {name: height / max(self.height(), 1) for name, (_, height) in sizes.items()}

    def _spread(self) -> None:
        height, line = self.height(), self.fontMetrics().height()
        bottom_name = self._layout.bottom
        bottom = round(height * self._heights.get(bottom_name, 0)) or self._layout.bottom_height(height, line)
        columns = {lead: column for column in self._columns if (lead := self._first_open(column.names))}
        self._resize({bottom_name: bottom, **dict.fromkeys(columns, height - bottom - _GAP)}, _DOWN)
        self._resize({lead: self._width(lead, column) for lead, column in columns.items()}, _ACROSS)
        room = height - (bottom + _GAP if not self._panels[bottom_name].isHidden() else 0)
        for column in columns.values():
            leads = [lead for group in column.groups if (lead := self._first_open(group))]
            if len(leads) == 2:
                upper = round(height * self._heights.get(leads[0], 0)) or round(room * column.upper)
                self._resize({leads[0]: upper, leads[1]: max(room - _GAP - upper, 1)}, _DOWN)

    def _width(self, lead: str, column: Column) -> int:
        whole = self.width()
        by_hand = round(whole * self._widths.get(lead, 0))
        if by_hand:
            return by_hand
        if column.part:
            is_wide = self._is_wide_left and "corpus" in column.names
            return max(column.least, round(whole * (max(_WIDE_LEFT_PART, column.part) if is_wide else column.part)))
        others = (each for each in self._columns if each is not column and self._first_open(each.names))
        return max(1, whole - sum(self._width(self._first_open(each.names), each) + _GAP for each in others))

    def _first_open(self, names: Sequence[str]) -> str:
        """Return the first of these panels that is in front, else the first that is not closed; "" if all are."""
        seen = (name for name in names if self._panels[name].is_in_front)
        return next(seen, next((name for name in names if not self._panels[name].isHidden()), ""))

    def _resize(self, sizes: dict[str, int], orientation: Qt.Orientation) -> None:
        shown = {name: max(1, size) for name, size in sizes.items() if not self._panels[name].isHidden()}
        if self._room is not None and shown:
            self._room.resizeDocks([self._panels[name] for name in shown], list(shown.values()), orientation)
