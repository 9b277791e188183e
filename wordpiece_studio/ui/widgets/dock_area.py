"""The area of the panels: arranges them as a layout says, and keeps what the user changes by hand.

The panels are placed directly, never moved from one parent to another: a style sheet would take a tenth of a second for
each. They lie beside, below and behind each other; panels behind each other have tabs in place of their titles. For a
while, one of them may fill the area.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QTabBar, QWidget

from wordpiece_studio.session.settings import SavedLayout
from wordpiece_studio.session.timers import later
from wordpiece_studio.ui.layouts import TEACH, Layout
from wordpiece_studio.ui.widgets.input_events import keep

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from PySide6.QtGui import QAction, QMouseEvent, QResizeEvent, QShowEvent

    from wordpiece_studio.ui.layouts import Column
    from wordpiece_studio.ui.widgets.pane import Panel

_WIDE_LEFT_PART = 0.295  # of the width
_GAP = 8
_TABS_LEFT, _TABS_SIDE = 7, 14  # pixels beside the tabs in a title line


class _Edge(QFrame):
    """The gap between the panels `before` and `after`, which the mouse can drag."""

    pressed = Signal()
    dragged = Signal(object)
    """By how many pixels, an int, since it was pressed."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("edge")
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.before = self.after = ""
        self.is_upright = True
        self._start = QPoint()

    def put(self, before: str, after: str, place: QRect, *, is_upright: bool) -> None:
        """Lie between these panels."""
        self.before, self.after, self.is_upright = before, after, is_upright
        self.setCursor(Qt.CursorShape.SplitHCursor if is_upright else Qt.CursorShape.SplitVCursor)
        self.setGeometry(place)
        self.show()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._start = event.globalPosition().toPoint()
        self.pressed.emit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        way = event.globalPosition().toPoint() - self._start
        self.dragged.emit(way.x() if self.is_upright else way.y())


class DockArea(QWidget):
    """The panels, which may be resized, hidden and brought to the front."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._panels: dict[str, Panel] = {}
        self._layout = TEACH
        self._columns: tuple[Column, ...] = ()
        self._saved: SavedLayout | None = None
        self._is_wide_left = False
        self._closed: set[str] = set()
        self._raised: set[str] = set()  # those in front of the first one of their group
        self._filling = ""
        self._widths: dict[str, float] = {}  # fractions of the area, set by hand; empty if none was
        self._heights: dict[str, float] = {}
        self._bars: list[QTabBar] = []
        self._edges: list[_Edge] = []
        self._pressed_sizes: dict[str, QSize] = {}

    def add_panel(self, panel: Panel) -> None:
        """Add a panel that is a child of this area; the layout places it."""
        self._panels[panel.objectName()] = panel
        panel.hide()
        panel.title_bar.double_clicked.connect(self._on_title_bar_double_clicked)
        panel.toggle_action.triggered.connect(self._on_panel_toggled)

    def panel(self, name: str) -> Panel:
        """Return the panel called `name`."""
        return self._panels[name]

    @property
    def panels(self) -> list[Panel]:
        """All panels, in the order in which they were added."""
        return list(self._panels.values())

    @property
    def layout_taken(self) -> Layout:
        """The layout in use."""
        return self._layout

    def bring(self, name: str) -> None:
        """Show the panel called `name` in front of those in the same place."""
        self._closed.discard(name)
        self._raise(name)
        if name != self._filling:
            self._filling = ""
        self._arrange()

    def close_panel(self, name: str) -> None:
        """Show the panel called `name` no more, until it is brought back."""
        self._closed.add(name)
        self._filling = ""
        self._arrange()

    def toggles(self) -> list[QAction]:
        """Return one checkable command for each panel, which hides it and brings it back."""
        return [panel.toggle_action for panel in self._panels.values()]

    # -- one panel alone

    @property
    def filling(self) -> str:
        """The name of the panel that fills the area; empty if none does."""
        return self._filling

    def fill(self, name: str) -> None:
        """Let the panel called `name` fill the area; if one does already, bring the others back."""
        self._filling = "" if self._filling else name
        self._arrange()

    def restore(self) -> None:
        """Bring back all panels that were there before one filled the area."""
        self._filling = ""
        self._arrange()

    def _on_title_bar_double_clicked(self) -> None:
        sender = self.sender()
        self.fill(next(name for name, panel in self._panels.items() if panel.title_bar is sender))

    def _on_panel_toggled(self, is_wanted: bool) -> None:
        sender = self.sender()
        name = next(name for name, panel in self._panels.items() if panel.toggle_action is sender)
        (self.bring if is_wanted else self.close_panel)(name)

    # -- layouts

    def take(self, layout: Layout, saved: SavedLayout | None = None) -> None:
        """Arrange the panels as `layout` says, with the changes saved for it, unless those are for another version."""
        self._layout = layout
        self._columns = ()
        self._saved = saved = saved if saved is not None and saved.version == layout.version else None
        self._filling = ""
        self._closed = set(saved.closed if saved is not None else layout.closed) & set(self._panels)
        self._raised = set(saved.front) & set(self._panels) if saved is not None else set()
        self._widths = dict(saved.widths) if saved is not None else {}
        self._heights = dict(saved.heights) if saved is not None else {}
        self._arrange()

    def changed_by_hand(self) -> SavedLayout | None:
        """Return the user's changes to the layout; None if there are none."""
        if not self._columns:  # it was not shown yet
            return self._saved
        front = tuple(name for group in self._groups() for name in self._open(group)[1:] if name == self._first(group))
        if self._closed == self._layout.closed and not front and not self._widths:
            return None
        return SavedLayout(
            version=self._layout.version, closed=tuple(sorted(self._closed)), front=front, widths=self._widths,
            heights=self._heights,
        )  # fmt: skip

    def parts(self) -> list[QWidget]:
        """Return tab bars and panels in reading order."""
        result: list[QWidget] = []
        bars = iter(self._bars)
        for group in self._groups():
            result += [next(bars)] if len(self._open(group)) > 1 else []
            result += [self._panels[name] for name in group]
        return [*result, self._panels[self._layout.bottom]]

    def set_wide_left(self, is_wide: bool) -> None:
        """Give the corpus the width that a table needs, or its default width; a width set by hand is kept."""
        if is_wide != self._is_wide_left:
            self._is_wide_left = is_wide
            self._arrange()

    def _groups(self) -> Iterable[tuple[str, ...]]:
        return (group for column in self._columns for group in column.groups)

    def _open(self, names: Iterable[str]) -> list[str]:
        return [name for name in names if name not in self._closed]

    def _first(self, group: Sequence[str]) -> str:
        """Return the panel of a group that is in front; empty if all are closed."""
        open_ones = self._open(group)
        return next((name for name in open_ones if name in self._raised), next(iter(open_ones), ""))

    def _raise(self, name: str) -> None:
        for group in self._groups():
            if name in group:
                self._raised = self._raised - set(group) | {name}

    # -- events

    def showEvent(self, event: QShowEvent) -> None:
        """Place the panels once the size of the area is known."""
        super().showEvent(event)
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the proportions."""
        super().resizeEvent(event)
        self._arrange()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and self.isVisible():
            later(self, 0, self._arrange)  # when the panels have their new font and edges too

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Leave the arrow keys, which change the step elsewhere, to the tab bar that has the focus.

        A double click on a tab does what one on a title does.
        """
        if event.type() == QEvent.Type.MouseButtonDblClick and isinstance(watched, QTabBar):
            self.fill(str(watched.tabData(watched.currentIndex())))
            return True
        return keep(event, (Qt.Key.Key_Left, Qt.Key.Key_Right)) or super().eventFilter(watched, event)

    def _on_bar_current_changed(self, index: int) -> None:
        sender = self.sender()
        if isinstance(sender, QTabBar) and index >= 0:
            self.bring(str(sender.tabData(index)))

    def _on_edge_pressed(self) -> None:
        self._pressed_sizes = {panel.objectName(): panel.size() for panel in self.panels if panel.is_in_front}

    def _on_edge_dragged(self, way: int) -> None:
        edge, sizes = self.sender(), self._pressed_sizes
        if not isinstance(edge, _Edge) or edge.before not in sizes or edge.after not in sizes:
            return
        before, after = sizes[edge.before], sizes[edge.after]
        if edge.is_upright:
            least = self._least_width(edge.before) - before.width(), after.width() - self._least_width(edge.after)
        else:
            least = (
                self._least(edge.before).height() - before.height(),
                after.height() - self._least(edge.after).height(),
            )
        way = min(max(way, least[0]), max(least[0], least[1]))
        self._note_parts(sizes)  # from now on the user's proportions are kept
        if edge.is_upright:
            self._widths[edge.before] = (before.width() + way) / max(self.width(), 1)
            self._widths[edge.after] = (after.width() - way) / max(self.width(), 1)
        else:
            self._heights[edge.before] = (before.height() + way) / max(self.height(), 1)
            self._heights[edge.after] = (after.height() - way) / max(self.height(), 1)
        self._arrange()

    def _note_parts(self, sizes: dict[str, QSize]) -> None:
        self._widths = {name: size.width() / max(self.width(), 1) for name, size in sizes.items()}
        self._heights = {name: size.height() / max(self.height(), 1) for name, size in sizes.items()}

    # -- places

    def minimumSizeHint(self) -> QSize:
        """Return the size that the panels need; a narrow area has fewer columns."""
        columns = [self._firsts(column) for column in self._layout.narrow or self._columns]
        widths = [max((self._least(name).width() for name in names), default=0) for names in columns]
        heights = [sum(self._least(name).height() + _GAP for name in names) for names in columns]
        bottom = self._least(self._layout.bottom).height() if self._open([self._layout.bottom]) else 0
        return QSize(sum(widths) + _GAP * max(len(widths) - 1, 0), max(heights, default=0) + bottom)

    def _least(self, name: str) -> QSize:
        return self._panels[name].minimumSizeHint()

    def _least_width(self, name: str) -> int:
        """Return the least width of the column with this panel."""
        column = next(column for column in self._columns if name in column.names)
        return max(self._least(each).width() for each in self._firsts(column))

    def _firsts(self, column: Column) -> list[str]:
        """Return the panels of a column that are in front, from top to bottom."""
        return list(filter(None, map(self._first, column.groups)))

    def _arrange(self) -> None:
        """Give every panel, tab bar and edge its place, all at once."""
        for name, panel in self._panels.items():
            panel.toggle_action.setChecked(name not in self._closed)
        if not self.isVisible():
            return
        self._columns = self._layout.columns_for(
            self.width(), self.height(), self.fontMetrics().height(), is_full=self._is_wide_left
        )
        places = {self._filling: self.rect()} if self._filling else self._places()
        self._show_bars(places)
        for name, place in places.items():
            self._panels[name].setGeometry(place)
            self._panels[name].show()
        for name in set(self._panels) - set(places):
            self._panels[name].hide()
        self._show_edges(places)
        self.updateGeometry()

    def _places(self) -> dict[str, QRect]:
        """Return where the panels in front lie."""
        columns = [column for column in self._columns if self._firsts(column)]
        places: dict[str, QRect] = {}
        room = self.height()
        if bottom_name := self._first([self._layout.bottom]):
            bottom = self._bottom_height() if columns else room
            places[bottom_name] = QRect(0, room - bottom, self.width(), bottom)
            room -= bottom + _GAP
        left = 0
        for column, width in zip(columns, self._column_widths(columns), strict=True):
            top, names = 0, self._firsts(column)
            for name, height in zip(names, self._row_heights(column, names, room), strict=True):
                places[name] = QRect(left, top, width, height)
                top += height + _GAP
            left += width + _GAP
        return places

    def _bottom_height(self) -> int:
        name, height = self._layout.bottom, self.height()
        wanted = round(height * self._heights.get(name, 0))
        wanted = wanted or self._layout.bottom_height(height, self.fontMetrics().height())
        return max(wanted, self._least(name).height())

    def _row_heights(self, column: Column, names: Sequence[str], room: int) -> list[int]:
        if len(names) == 1:
            return [room]
        least = [self._least(name).height() for name in names]
        lower = min(column.lower_lines * self.fontMetrics().height(), room // 2)  # with large text, both are short
        usual = min(round(room * column.upper), room - _GAP - lower)
        upper = round(self.height() * self._heights.get(names[0], 0)) or usual
        upper = max(min(upper, room - _GAP - least[1]), least[0])
        return [upper, max(room - _GAP - upper, least[1])]

    def _column_widths(self, columns: Sequence[Column]) -> list[int]:
        """Return the widths of columns that fill the area: one takes what the others leave."""
        if not columns:
            return []
        widths = [self._width(column) for column in columns]
        taker = next((place for place, column in enumerate(columns) if not column.part), len(columns) - 1)
        widths[taker] = 0
        rest = self.width() - _GAP * (len(columns) - 1) - sum(widths)
        widths[taker] = max(rest, self._least_width(columns[taker].names[0]))
        for place in set(range(len(columns))) - {taker}:  # these give way where the taker would be too narrow
            given = min(widths[taker] - rest, widths[place] - self._least_width(columns[place].names[0]))
            widths[place] -= max(given, 0)
            rest += max(given, 0)
        return widths

    def _width(self, column: Column) -> int:
        by_hand = self._widths.get(self._firsts(column)[0], 0)
        if by_hand:
            return round(self.width() * by_hand)
        is_wide = self._is_wide_left and "corpus" in column.names
        part = max(_WIDE_LEFT_PART, column.part) if is_wide else column.part
        return max(column.least, round(self.width() * part))

    # -- what lies between and above the panels

    def _show_bars(self, places: dict[str, QRect]) -> None:
        """Give the panels behind each other their tabs: in the title line, or above it where that has no room."""
        groups = [names for group in self._groups() if len(names := self._open(group)) > 1]
        rooms = dict.fromkeys(self._panels, 0)
        while len(self._bars) < len(groups):
            self._bars.append(self._new_bar())
        for bar in self._bars[len(groups) :]:
            bar.hide()
        for bar, names in zip(self._bars, groups, strict=False):
            front = next((name for name in names if name in places), "")
            bar.setVisible(bool(front) and not self._filling)
            if front and not self._filling:
                self._fill_bar(bar, names, front)
                place, size, title = places[front], bar.sizeHint(), self._panels[front].title_bar
                if size.width() + _TABS_SIDE + title.controls_width() <= place.width():
                    rooms[front] = size.width() + _TABS_LEFT
                    top = place.top() + 1 + title.height() - size.height()
                    bar.setGeometry(QRect(QPoint(place.left() + _TABS_LEFT, top), size))
                else:
                    bar.setGeometry(place.left(), place.top(), min(size.width(), place.width()), size.height())
                    places[front] = place.adjusted(0, size.height(), 0, 0)
                bar.raise_()
        for name, room in rooms.items():
            self._panels[name].make_room(room)

    def _new_bar(self) -> QTabBar:
        bar = QTabBar(self)
        bar.setAccessibleName(self.tr("Stacked panes"))
        bar.setDrawBase(False)
        bar.setExpanding(False)
        bar.installEventFilter(self)
        bar.currentChanged.connect(self._on_bar_current_changed)
        return bar

    def _fill_bar(self, bar: QTabBar, names: Sequence[str], front: str) -> None:
        bar.blockSignals(True)
        if [bar.tabData(index) for index in range(bar.count())] != list(names):
            while bar.count():
                bar.removeTab(0)
            for name in names:
                bar.setTabData(bar.addTab(self._panels[name].windowTitle()), name)
        bar.setCurrentIndex(list(names).index(front))
        bar.blockSignals(False)

    def _show_edges(self, places: dict[str, QRect]) -> None:
        gaps = [] if self._filling else list(self._gaps(places))
        while len(self._edges) < len(gaps):
            edge = _Edge(self)
            edge.pressed.connect(self._on_edge_pressed)
            edge.dragged.connect(self._on_edge_dragged)
            self._edges.append(edge)
        for edge in self._edges[len(gaps) :]:
            edge.hide()
        for edge, (before, after, place, is_upright) in zip(self._edges, gaps, strict=False):
            edge.put(before, after, place, is_upright=is_upright)

    def _gaps(self, places: dict[str, QRect]) -> Iterable[tuple[str, str, QRect, bool]]:
        """Yield the gaps: the panels before and after each, its place, and whether it is upright."""
        columns = [names for column in self._columns if (names := self._firsts(column))]
        bottom = self._first([self._layout.bottom])
        high = places[bottom].top() - _GAP if bottom else self.height()
        for names in columns:
            for above, below in pairwise(names):
                place = places[above]
                yield above, below, QRect(place.left(), place.bottom() + 1, place.width(), _GAP), False
        for before, after in pairwise(columns):
            yield before[0], after[0], QRect(places[before[0]].right() + 1, 0, _GAP, high), True
        if bottom and columns:
            yield columns[0][-1], bottom, QRect(0, high, self.width(), _GAP), False
