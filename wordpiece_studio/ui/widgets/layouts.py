"""Where the panels lie in each layout, and their area, which keeps what the user changes by hand.

They lie beside, below and behind each other; panels behind each other have tabs in place of their titles. Splitters
share the room, but panels lie over the slots in them and keep their parent: a style sheet would take a tenth of a
second to give some of them another.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QPoint, QRect, QSignalBlocker, QSize, Qt
from PySide6.QtWidgets import QSplitter, QTabBar, QWidget

from wordpiece_studio.session.settings import SavedLayout
from wordpiece_studio.ui.widgets.fields import keep_keys
from wordpiece_studio.ui.widgets.plain import Fitted
from wordpiece_studio.ui.widgets.theme import Theme, scaled_font

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from PySide6.QtGui import QShowEvent

    from wordpiece_studio.ui.widgets.pane import Panel

LayoutName = Literal["teach", "engineer", "demo", "compare", "sizes"]

_LOW_LINES = 40  # of text: in a lower area the token details lie behind the corpus
_NARROW_LINES = 62  # of text: in an area less wide than so many are high, the corpus gives way to a tab

_MOST_DEMO_TEXT, _DEMO_HEIGHT = 160, 896  # percent; and how many pixels high a screen must be for text that large


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
        return tuple(name for group in self.groups for name in group)


@dataclass(frozen=True, slots=True)
class Layout:
    name: LayoutName
    version: int  # changes with the arrangement: what was saved for another version is ignored
    columns: tuple[Column, ...]  # from left to right, above the panel `bottom`
    bottom: str = "timeline"
    closed: frozenset[str] = frozenset()  # not shown until the user asks for them
    low: tuple[Column, ...] = ()  # the columns in a low area
    narrow: tuple[Column, ...] = ()  # and in a narrow one
    bottom_part: float = 0.2
    has_bar: bool = True  # with the training controls
    has_tools: bool = False  # what an engineer needs in the panes and a class does not; the menus always have it

    def columns_for(self, width: int, height: int, line: int, *, is_full: bool) -> tuple[Column, ...]:
        if self.narrow and width < _NARROW_LINES * line:
            return self.narrow
        if not self.low or not (is_full or is_low(height, line)):
            return self.columns
        return self.low if is_low(height, line) else (self.low[0], *self.columns[1:])

    def bottom_height(self, height: int, line: int) -> int:
        """Return the default height of the panel at the bottom, in pixels; there is always room for its buttons."""
        least = max(round(5.7 * line), 98)
        return least if is_low(height, line) else max(least, round(height * self.bottom_part))


def is_low(height: int, line: int) -> bool:
    """Return whether an area has few lines of `line` pixels.

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


_TABLES = ("history", "code", "vocabulary", "charts", "sizes", "comparison")
_TOKENIZATION = Column((("tokenization",),), 0.325, 330)
_LEFT = Column((("corpus",), ("token_details",)), 0.22, 235, upper=0.72)
_LOW_LEFT = Column((("corpus", "token_details"),), 0.22, 235)
_NARROW_RIGHT = Column((("tokenization", "corpus", "token_details"),), 0.43, 330)
_MIDDLE = Column((("scoreboard",), _TABLES), upper=0.6, lower_lines=12)
_LOW_MIDDLE = Column(_MIDDLE.groups, upper=0.57, lower_lines=12)
_WORK = Column((("history", "code", "vocabulary", "scoreboard"), ("charts", "sizes", "comparison")), upper=0.55)
_LOW_WORK = Column(_WORK.groups, upper=0.5)

TEACH = Layout(
    "teach", 5, (_LEFT, _MIDDLE, _TOKENIZATION), low=(_LOW_LEFT, _LOW_MIDDLE, _TOKENIZATION),
    narrow=(_LOW_MIDDLE, _NARROW_RIGHT), closed=frozenset(("sizes", "comparison")),
)  # fmt: skip
ENGINEER = Layout(
    "engineer", 5, (_LEFT, _WORK, _TOKENIZATION), low=(_LOW_LEFT, _LOW_WORK, _TOKENIZATION),
    narrow=(_LOW_WORK, _NARROW_RIGHT), bottom_part=0.15, has_tools=True,
    closed=frozenset(("code", "sizes", "comparison")),
)  # fmt: skip
DEMO = Layout(
    "demo", 4,
    (Column((("scoreboard", *_TABLES),)), Column((("tokenization", "token_details", "corpus"),), 0.44, 330)),
    closed=frozenset(("corpus", "token_details", *_TABLES)), has_bar=False,
)  # fmt: skip
_BESIDE_COMPARISON = (
    "tokenization", "corpus", "token_details", "scoreboard", "history", "code", "vocabulary", "charts",
    "sizes",
)  # fmt: skip
COMPARE = Layout(
    "compare", 3, (Column((("comparison", *_BESIDE_COMPARISON),)),),
    closed=frozenset((*_BESIDE_COMPARISON, "timeline")),
)  # fmt: skip
_BESIDE_SIZES = "scoreboard", "history", "code", "vocabulary", "charts", "comparison"
SIZES = Layout(
    "sizes", 1,
    (Column((("sizes", *_BESIDE_SIZES),)), Column((("tokenization", "token_details", "corpus"),), 0.325, 330)),
    closed=frozenset((*_BESIDE_SIZES, "token_details", "corpus", "timeline")),
)  # fmt: skip
LAYOUTS: dict[LayoutName, Layout] = {each.name: each for each in (TEACH, ENGINEER, DEMO, COMPARE, SIZES)}

_WIDE_LEFT_PART = 0.295  # of the width
_GAP = 8
_ACROSS, _UPRIGHT = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
_TABS_LEFT, _TABS_SIDE = 7, 14  # pixels beside the tabs in a title line


class _Slot(QWidget):
    """The place in a splitter of open panels behind each other, and their tabs."""

    def __init__(self, names: Sequence[str], area: DockArea) -> None:
        super().__init__(area)
        self.names = names
        self._area = area
        self.tabs = QTabBar(area, drawBase=False, expanding=False)
        self.tabs.setAccessibleName(self.tr("Stacked panes"))
        for name in names:
            self.tabs.addTab(area.panels[name].windowTitle())
        keep_keys(self.tabs, Qt.Key.Key_Left, Qt.Key.Key_Right)
        self.tabs.currentChanged.connect(lambda at: area.bring(names[at]))
        self.tabs.tabBarDoubleClicked.connect(lambda: area.fill(names[self.tabs.currentIndex()]))

    def place(self) -> QRect:
        return QRect(self.mapTo(self._area, QPoint()), self.size())

    def lay(self, name: str) -> QRect:
        """Lay the tabs in the title line of this panel, or above it; return the place that is left to it."""
        panel, place, size = self._area.panels[name], self.place(), self.tabs.sizeHint()
        has_tabs, title = len(self.names) > 1, panel.title_bar
        has_room = size.width() + _TABS_SIDE + title.controls_width() <= place.width()
        title.make_room(size.width() + _TABS_LEFT if has_tabs and has_room else 0)
        if not has_tabs:
            return place
        with QSignalBlocker(self.tabs):
            self.tabs.setCurrentIndex(self.names.index(name))
        if has_room:
            self.tabs.setGeometry(QRect(place.topLeft() + QPoint(_TABS_LEFT, 1 + title.height() - size.height()), size))
        else:
            self.tabs.setGeometry(place.left(), place.top(), min(size.width(), place.width()), size.height())
            place.setTop(place.top() + size.height())
        self.tabs.raise_()
        return place


class DockArea(Fitted, QWidget):
    fits_later = True  # when the panels have their new font and edges too

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.panels: dict[str, Panel] = {}
        self.layout_taken = TEACH
        self._columns: tuple[Column, ...] = ()
        self._saved: SavedLayout | None = None
        self._is_wide_left = False
        self._closed: set[str] = set()
        self._raised: set[str] = set()  # those in front of the first one of their group
        self._suggested = ""  # the panel that came to the front by itself
        self.filling = ""  # the name of the panel that fills the area; empty if none does
        self._widths: dict[str, float] = {}  # fractions of the area, set by hand; empty if none was
        self._heights: dict[str, float] = {}
        self._split: list[list[list[str]]] = []  # the open groups of each column and of the bottom, as they are split
        self._splitters = [QSplitter(self)]  # that of the whole, that of the columns, those of each column
        self._slots: list[_Slot] = []
        self._is_held = self._is_due = False  # see `hold`

    def add_panel(self, panel: Panel) -> None:
        name = panel.objectName()
        self.panels[name] = panel
        panel.hide()
        panel.setFont(scaled_font(self.font()))  # its own, see `Theme.pass_font_on`
        panel.title_bar.double_clicked.connect(lambda: self.fill(name))
        panel.toggle_action.triggered.connect(lambda is_on: self.bring(name) if is_on else self.close_panel(name))

    def suggest(self, name: str, asked_in: str) -> None:
        """Bring a panel to the front because of a click in another one, but not over that; if in none, take it back."""
        group = next((group for group in self._groups() if name in group), (name,))
        is_first = self._first(group) == name
        if asked_in and not (is_first or self.filling or name in self._closed or asked_in in group):
            self.bring(name)
            self._suggested = name
        elif not asked_in and is_first and self._suggested == name:
            self._raised.discard(name)
            self.fit()

    def bring(self, name: str) -> None:
        self._suggested = ""
        self._closed.discard(name)
        for group in self._groups():
            if name in group:
                self._raised = self._raised - set(group) | {name}
        if name != self.filling:
            self.filling = ""
        self.fit()

    def close_panel(self, name: str) -> None:
        self._closed.add(name)
        self.filling = ""
        self.fit()

    # -- one panel alone

    def fill(self, name: str) -> None:
        self.filling = "" if self.filling else name
        self.fit()

    # -- layouts

    def take(self, layout: Layout, saved: SavedLayout | None = None) -> None:
        """Arrange the panels as `layout` says, with the changes saved for it, unless those are for another version."""
        self.layout_taken = layout
        self._columns = ()
        self._saved = saved if saved is not None and saved.version == layout.version else None
        changes = self._saved or SavedLayout(version=layout.version, closed=tuple(layout.closed))
        self.filling = ""
        self._closed, self._raised = set(changes.closed) & set(self.panels), set(changes.front) & set(self.panels)
        self._widths, self._heights = dict(changes.widths), dict(changes.heights)
        self._arrange()

    def hold(self, is_held: bool) -> None:
        """Arrange nothing anew for now but what is taken: many sizes follow from a change of layout or look."""
        self._is_held = is_held
        if self._is_due and not is_held:
            self.fit()

    def changed_by_hand(self) -> SavedLayout | None:
        if not self._columns:  # it was not shown yet
            return self._saved
        front = tuple(name for group in self._groups() for name in self._open(group)[1:]
                      if name == self._first(group) != self._suggested)  # fmt: skip
        if self._closed == self.layout_taken.closed and not front and not self._widths:
            return None
        return SavedLayout(
            version=self.layout_taken.version, closed=tuple(sorted(self._closed)), front=front, widths=self._widths,
            heights=self._heights,
        )  # fmt: skip

    def parts(self) -> list[QWidget]:
        return [part for slot in self._slots for part in (slot.tabs, *(self.panels[name] for name in slot.names))]

    def set_wide_left(self, is_wide: bool) -> None:
        """Give the corpus the width that a table needs, or its default width; a width set by hand is kept."""
        if is_wide != self._is_wide_left:
            self._is_wide_left = is_wide
            self.fit()

    def _groups(self) -> Iterable[tuple[str, ...]]:
        return (group for column in self._columns for group in column.groups)

    def _open(self, names: Iterable[str]) -> list[str]:
        return [name for name in names if name not in self._closed]

    def _first(self, group: Sequence[str]) -> str:
        open_ones = self._open(group)
        return next((name for name in open_ones if name in self._raised), next(iter(open_ones), ""))

    # -- events

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.fit()

    def _note_sizes(self) -> None:
        places = {self._first(slot.names): slot.place() for slot in self._slots}
        self._widths = {name: place.width() / max(self.width(), 1) for name, place in places.items()}
        self._heights = {name: place.height() / max(self.height(), 1) for name, place in places.items()}
        self._show_panels()

    # -- places

    def minimumSizeHint(self) -> QSize:
        """Return the size that the panels need; a narrow area has fewer columns."""
        columns = [self._open_groups(column) for column in self.layout_taken.narrow or self._columns]
        widths = [max((self.least(group).width() for group in groups), default=0) for groups in columns]
        heights = [sum(self.least(group).height() + _GAP for group in groups) for groups in columns]
        bottom = self.least([self.layout_taken.bottom]).height()
        return QSize(sum(widths) + _GAP * max(len(widths) - 1, 0), max(heights, default=0) + bottom)

    def least(self, group: Sequence[str]) -> QSize:
        first = self._first(group)
        return self._fresh(first).minimumSizeHint() if first else QSize(0, 0)

    def _fresh(self, name: str) -> Panel:
        panel = self.panels[name]
        if panel.font() != self.font():
            self._theme.pass_font_on(panel)
        return panel

    def _open_groups(self, column: Column) -> list[list[str]]:
        return [names for group in column.groups if (names := self._open(group))]

    def fit(self) -> None:
        self._is_due = self._is_held
        if not self._is_held:
            self._arrange()

    def _arrange(self) -> None:
        for name, panel in self.panels.items():
            panel.toggle_action.setChecked(name not in self._closed)
        if not self.isVisible():
            return
        self._columns = self.layout_taken.columns_for(
            self.width(), self.height(), self.fontMetrics().height(), is_full=self._is_wide_left
        )
        self._share_room()
        self._show_panels()
        self.updateGeometry()

    def _share_room(self) -> None:
        columns = [column for column in self._columns if self._open_groups(column)]
        split = [*map(self._open_groups, columns), [names] if (names := self._open([self.layout_taken.bottom])) else []]
        if split != self._split:
            self._split = split
            self._make_splitters(_taker(columns))
        whole, row, *uprights = self._splitters
        for slot in self._slots:
            slot.setMinimumSize(self.least(slot.names))  # not a hint: splitters ask for that hundreds of times
        whole.setGeometry(self.rect())
        by_hand = round(self.height() * self._heights.get(self.layout_taken.bottom, 0))
        usual = self.layout_taken.bottom_height(self.height(), self.fontMetrics().height())
        whole.setSizes([0, by_hand or usual])
        row.setSizes([0 if at == _taker(columns) else self._width(column) for at, column in enumerate(columns)])
        for upright, column in zip(uprights, columns, strict=True):
            upright.setSizes([self._upper_height(column, row.height()), 0])

    def _make_splitters(self, taker: int) -> None:
        for old in (*(slot.tabs for slot in self._slots), self._splitters[0]):
            old.hide()
            old.deleteLater()
        slots = [[_Slot(names, self) for names in groups] for groups in self._split]
        self._slots = list(chain.from_iterable(slots))
        uprights = [self._new_splitter(_UPRIGHT, column, len(column) - 1) for column in slots[:-1]]
        row = self._new_splitter(_ACROSS, uprights, taker)
        row.setVisible(bool(uprights))
        whole = self._new_splitter(_UPRIGHT, [row, *slots[-1]], 0)
        whole.lower()
        whole.show()
        self._splitters = [whole, row, *uprights]

    def _new_splitter(self, orientation: Qt.Orientation, parts: Iterable[QWidget], taker: int) -> QSplitter:
        splitter = QSplitter(orientation, self, handleWidth=_GAP, childrenCollapsible=False)
        splitter.setObjectName("edges")
        for part in parts:
            splitter.addWidget(part)
        splitter.setStretchFactor(taker, 1)
        splitter.splitterMoved.connect(self._note_sizes)
        return splitter

    def _show_panels(self) -> None:
        for slot in self._slots:
            slot.tabs.setVisible(len(slot.names) > 1 and not self.filling)
        if self.filling:
            self._fresh(self.filling).title_bar.make_room(0)
            places = {self.filling: self.rect()}
        else:
            places = {name: slot.lay(name) for slot in self._slots if (name := self._first(slot.names))}
        for name, place in places.items():
            self.panels[name].setGeometry(place)
            self.panels[name].show()
        for name in set(self.panels) - set(places):
            self.panels[name].hide()

    def _upper_height(self, column: Column, room: int) -> int:
        by_hand = self._heights.get(self._first(self._open_groups(column)[0]), 0)
        lower = min(column.lower_lines * self.fontMetrics().height(), room // 2)  # with large text, both are short
        return round(self.height() * by_hand) or min(round(room * column.upper), room - _GAP - lower)

    def _width(self, column: Column) -> int:
        by_hand = self._widths.get(self._first(self._open_groups(column)[0]), 0)
        if by_hand:
            return round(self.width() * by_hand)
        is_wide = self._is_wide_left and "corpus" in column.names
        part = max(_WIDE_LEFT_PART, column.part) if is_wide else column.part
        return max(column.least, round(self.width() * part))


def _taker(columns: Sequence[Column]) -> int:
    return next((at for at, column in enumerate(columns) if not column.part), len(columns) - 1)
