"""Where the panels lie in each layout, and their area, which keeps what the user changes by hand.

The panels are placed directly, never moved from one parent to another: a style sheet would take a tenth of a second for
each. They lie beside, below and behind each other; panels behind each other have tabs in place of their titles. For a
while, one of them may fill the area.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QTabBar, QWidget

from wordpiece_studio.session.settings import SavedLayout
from wordpiece_studio.session.task import later
from wordpiece_studio.ui.widgets.fields import keep

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from PySide6.QtGui import QMouseEvent, QResizeEvent, QShowEvent

    from wordpiece_studio.ui.widgets.pane import Panel

LayoutName = Literal["teach", "engineer", "demo"]

_LOW_LINES = 40
"""An area of fewer lines of text is low: there the token details lie behind the corpus, and the timeline is low."""
_NARROW_LINES = 62
"""An area less wide than this many lines of text are high is narrow: there the corpus gives way to a tab."""

_MOST_DEMO_TEXT, _DEMO_HEIGHT = 160, 896
"""Percent; and how many pixels high a screen must be for text that large."""


@dataclass(frozen=True, slots=True)
class Column:
    """Panels below each other, by their names; those of one group lie behind each other, the first in front."""

    groups: tuple[tuple[str, ...], ...]
    part: float = 0.0  # of the width that it takes; 0 for what the others leave
    least: int = 0  # width in pixels
    upper: float = 0.5  # of the height above the timeline that its first group takes, if there is another below it
    lower_lines: int = 0  # lines of text that are left to that other group before

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all its panels."""
        return tuple(name for group in self.groups for name in group)


@dataclass(frozen=True, slots=True)
class Layout:
    """An arrangement of all panels."""

    name: LayoutName
    version: int  # changes with the arrangement: what was saved for another version is ignored
    columns: tuple[Column, ...]  # from left to right, above the panel `bottom`
    bottom: str = "timeline"
    closed: frozenset[str] = frozenset()  # not shown until the user asks for them
    low: tuple[Column, ...] = ()  # the columns in a low area
    narrow: tuple[Column, ...] = ()  # and in a narrow one
    bottom_part: float = 0.235

    @property
    def has_bar(self) -> bool:
        """Whether the bar with the training controls is shown."""
        return self.name != "demo"

    @property
    def has_tools(self) -> bool:
        """Whether the panes offer what an engineer needs and a class does not; the menus always do."""
        return self.name == "engineer"

    def columns_for(self, width: int, height: int, line: int, *, is_full: bool = False) -> tuple[Column, ...]:
        """Return the columns for an area of this size, in pixels, with lines of text of `line` pixels.

        With a full corpus, a list of files and their preview, the first column is always the one of a low area.
        """
        if self.narrow and width < _NARROW_LINES * line:
            return self.narrow
        if not self.low or not (is_full or is_low(height, line)):
            return self.columns
        return self.low if is_low(height, line) else (self.low[0], *self.columns[1:])

    def bottom_height(self, height: int, line: int) -> int:
        """Return the default height of the panel at the bottom, in pixels; there is always room for its buttons."""
        least = max(round(6.6 * line), 124)
        return least if is_low(height, line) else max(least, round(height * self.bottom_part))


def is_low(height: int, line: int) -> bool:
    """Return whether an area of `height` pixels is low for lines of text of `line` pixels.

    >>> is_low(575, 17), is_low(760, 17)
    (True, False)
    """
    return height < _LOW_LINES * line


def demo_text_size(height: int) -> int:
    """Return the text size for *Demo* on a screen of `height` pixels, in percent of the usual size.

    >>> demo_text_size(1080), demo_text_size(900), demo_text_size(768), demo_text_size(480)
    (160, 160, 130, 100)
    """
    fitting = int(height / _DEMO_HEIGHT * _MOST_DEMO_TEXT) // 10 * 10
    return max(100, min(fitting, _MOST_DEMO_TEXT))


_TABLES = ("history", "vocabulary", "charts")
_TOKENIZATION = Column((("tokenization",),), 0.325, 330)
_LEFT = Column((("corpus",), ("token_details",)), 0.22, 235, upper=0.72)
_LOW_LEFT = Column((("corpus", "token_details"),), 0.22, 235)
_NARROW_RIGHT = Column((("tokenization", "corpus", "token_details"),), 0.43, 330)
_MIDDLE = Column((("scoreboard",), _TABLES), upper=0.6, lower_lines=12)
_LOW_MIDDLE = Column(_MIDDLE.groups, upper=0.57, lower_lines=12)
_WORK = Column((("history", "vocabulary", "scoreboard"), ("charts",)), upper=0.55)
_LOW_WORK = Column(_WORK.groups, upper=0.5)

TEACH = Layout(
    "teach", 2, (_LEFT, _MIDDLE, _TOKENIZATION), low=(_LOW_LEFT, _LOW_MIDDLE, _TOKENIZATION),
    narrow=(_LOW_MIDDLE, _NARROW_RIGHT),
)  # fmt: skip
ENGINEER = Layout(
    "engineer", 2, (_LEFT, _WORK, _TOKENIZATION), low=(_LOW_LEFT, _LOW_WORK, _TOKENIZATION),
    narrow=(_LOW_WORK, _NARROW_RIGHT), bottom_part=0.17,
)  # fmt: skip
DEMO = Layout(
    "demo", 1,
    (Column((("scoreboard", *_TABLES),)), Column((("tokenization", "token_details", "corpus"),), 0.44, 330)),
    closed=frozenset(("corpus", "token_details", *_TABLES)),
)  # fmt: skip
LAYOUTS: dict[LayoutName, Layout] = {"teach": TEACH, "engineer": ENGINEER, "demo": DEMO}

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
        self.layout_taken = TEACH
        self._columns: tuple[Column, ...] = ()
        self._saved: SavedLayout | None = None
        self._is_wide_left = False
        self._closed: set[str] = set()
        self._raised: set[str] = set()  # those in front of the first one of their group
        self.filling = ""  # the name of the panel that fills the area; empty if none does
        self._widths: dict[str, float] = {}  # fractions of the area, set by hand; empty if none was
        self._heights: dict[str, float] = {}
        self.bars: list[QTabBar] = []
        self._edges: list[_Edge] = []
        self._pressed_sizes: dict[str, QSize] = {}

    def add_panel(self, panel: Panel) -> None:
        """Add a panel that is a child of this area; the layout places it."""
        self._panels[panel.objectName()] = panel
        panel.hide()
        name = panel.objectName()
        panel.title_bar.double_clicked.connect(lambda: self.fill(name))
        panel.toggle_action.triggered.connect(lambda is_on: self.bring(name) if is_on else self.close_panel(name))

    def panel(self, name: str) -> Panel:
        """Return the panel called `name`."""
        return self._panels[name]

    @property
    def panels(self) -> list[Panel]:
        """All panels, in the order in which they were added."""
        return list(self._panels.values())

    def bring(self, name: str) -> None:
        """Show the panel called `name` in front of those in the same place."""
        self._closed.discard(name)
        self._raise(name)
        if name != self.filling:
            self.filling = ""
        self._arrange()

    def close_panel(self, name: str) -> None:
        """Show the panel called `name` no more, until it is brought back."""
        self._closed.add(name)
        self.filling = ""
        self._arrange()

    # -- one panel alone

    def fill(self, name: str) -> None:
        """Let the panel called `name` fill the area; if one does already, bring the others back."""
        self.filling = "" if self.filling else name
        self._arrange()

    # -- layouts

    def take(self, layout: Layout, saved: SavedLayout | None = None) -> None:
        """Arrange the panels as `layout` says, with the changes saved for it, unless those are for another version."""
        self.layout_taken = layout
        self._columns = ()
        self._saved = saved if saved is not None and saved.version == layout.version else None
        changes = self._saved or SavedLayout(version=layout.version, closed=tuple(layout.closed))
        self.filling = ""
        self._closed, self._raised = set(changes.closed) & set(self._panels), set(changes.front) & set(self._panels)
        self._widths, self._heights = dict(changes.widths), dict(changes.heights)
        self._arrange()

    def changed_by_hand(self) -> SavedLayout | None:
        """Return the user's changes to the layout; None if there are none."""
        if not self._columns:  # it was not shown yet
            return self._saved
        front = tuple(name for group in self._groups() for name in self._open(group)[1:] if name == self._first(group))
        if self._closed == self.layout_taken.closed and not front and not self._widths:
            return None
        return SavedLayout(
            version=self.layout_taken.version, closed=tuple(sorted(self._closed)), front=front, widths=self._widths,
            heights=self._heights,
        )  # fmt: skip

    def parts(self) -> list[QWidget]:
        """Return tab bars and panels in reading order."""
        result: list[QWidget] = []
        bars = iter(self.bars)
        for group in self._groups():
            result += [next(bars)] if len(self._open(group)) > 1 else []
            result += [self._panels[name] for name in group]
        return [*result, self._panels[self.layout_taken.bottom]]

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

    def _press(self) -> None:
        self._pressed_sizes = {panel.objectName(): panel.size() for panel in self.panels if panel.isVisible()}

    def _drag(self, edge: _Edge, way: int) -> None:
        sizes = self._pressed_sizes
        if edge.before not in sizes or edge.after not in sizes:
            return
        measure = QSize.width if edge.is_upright else QSize.height
        least = self._least_width if edge.is_upright else lambda name: self._least(name).height()
        before, after = measure(sizes[edge.before]), measure(sizes[edge.after])
        most_back, most_on = least(edge.before) - before, after - least(edge.after)
        way = min(max(way, most_back), max(most_back, most_on))
        # From now on the user's proportions are kept.
        self._widths = {name: size.width() / max(self.width(), 1) for name, size in sizes.items()}
        self._heights = {name: size.height() / max(self.height(), 1) for name, size in sizes.items()}
        parts, whole = (self._widths if edge.is_upright else self._heights), max(measure(self.size()), 1)
        parts[edge.before], parts[edge.after] = (before + way) / whole, (after - way) / whole
        self._arrange()

    # -- places

    def minimumSizeHint(self) -> QSize:
        """Return the size that the panels need; a narrow area has fewer columns."""
        columns = [self._firsts(column) for column in self.layout_taken.narrow or self._columns]
        widths = [max((self._least(name).width() for name in names), default=0) for names in columns]
        heights = [sum(self._least(name).height() + _GAP for name in names) for names in columns]
        bottom = self._least(self.layout_taken.bottom).height() if self._open([self.layout_taken.bottom]) else 0
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
        self._columns = self.layout_taken.columns_for(
            self.width(), self.height(), self.fontMetrics().height(), is_full=self._is_wide_left
        )
        places = {self.filling: self.rect()} if self.filling else self._places()
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
        if bottom_name := self._first([self.layout_taken.bottom]):
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
        name, height = self.layout_taken.bottom, self.height()
        wanted = round(height * self._heights.get(name, 0))
        wanted = wanted or self.layout_taken.bottom_height(height, self.fontMetrics().height())
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
        while len(self.bars) < len(groups):
            self.bars.append(self._new_bar())
        for bar in self.bars[len(groups) :]:
            bar.hide()
        for bar, names in zip(self.bars, groups, strict=False):
            front = next((name for name in names if name in places), "")
            bar.setVisible(bool(front) and not self.filling)
            if front and not self.filling:
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
        bar.currentChanged.connect(lambda index: self.bring(str(bar.tabData(index))) if index >= 0 else None)
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
        gaps = [] if self.filling else list(self._gaps(places))
        while len(self._edges) < len(gaps):
            edge = _Edge(self)
            edge.pressed.connect(self._press)
            edge.dragged.connect(partial(self._drag, edge))
            self._edges.append(edge)
        for edge in self._edges[len(gaps) :]:
            edge.hide()
        for edge, (before, after, place, is_upright) in zip(self._edges, gaps, strict=False):
            edge.put(before, after, place, is_upright=is_upright)

    def _gaps(self, places: dict[str, QRect]) -> Iterable[tuple[str, str, QRect, bool]]:
        """Yield the gaps: the panels before and after each, its place, and whether it is upright."""
        columns = [names for column in self._columns if (names := self._firsts(column))]
        bottom = self._first([self.layout_taken.bottom])
        high = places[bottom].top() - _GAP if bottom else self.height()
        for names in columns:
            for above, below in pairwise(names):
                place = places[above]
                yield above, below, QRect(place.left(), place.bottom() + 1, place.width(), _GAP), False
        for before, after in pairwise(columns):
            yield before[0], after[0], QRect(places[before[0]].right() + 1, 0, _GAP, high), True
        if bottom and columns:
            yield columns[0][-1], bottom, QRect(0, high, self.width(), _GAP), False
