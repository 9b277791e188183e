"""The table of candidates: pairs as chips, formulas, values as bars, and a box around those that tie for the best.

It shows a :class:`CandidatesModel`, and reports which candidate was chosen and when more are needed.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen, QResizeEvent

from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn
from wordpiece_studio.training.engine import RULES
from wordpiece_studio.ui.widgets.chip_style import ChipDelegate, FlowItem
from wordpiece_studio.ui.widgets.plain import tool_button, tooltip_text
from wordpiece_studio.ui.widgets.quiet_table import ChoosingTable
from wordpiece_studio.ui.widgets.theme import icon, saved
from wordpiece_studio.ui.widgets.token_text import formula_of, number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtWidgets import QStyleOptionViewItem, QTableView, QWidget

    from wordpiece_studio.session.table_model import Index
    from wordpiece_studio.training.engine import Candidate, Formula
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "scoreboard")
RANK, PAIR, NUMBERS, REDUCED, VALUE, BAR = range(6)
_SHORTEST_BAR, _LONGEST_BAR = 20, 150
_CELL_ROOM = 14
_TIE_ROOM = 16
_MOST_AIR = 24
_LEAST_PAIR = 8  # digits
_LONGEST_PAIR = 320
"""Pixels; a longer pair is cut off at the end."""
_YIELDS = 4  # at most 1/4 of the width of the pairs is given up for the formulas
_SAMPLE = 40
"""The number of rows at either end that determine the column widths."""


def value_name(objective: str) -> str:
    return {"score": _tr("Score"), "likelihood": _tr("Gain"), "count": _tr("Count")}[objective]


class CandidatesModel(RecordTableModel["Candidate"]):
    """One row per candidate, the best first.

    Columns: rank, pair, the formula with the candidate's numbers, the reduced formula, value, bar (which is painted).

    Attributes
    ----------
    rule
        The rule behind the formulas; empty if it adds nothing to the value's heading.
    tied_rows
        How many of the first rows share the best value; 0 if the best has no equal.
    tie_rule
        The rule shown in their tooltips.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._objective, self._symbols = "score", 0
        self._formulas: dict[int, Formula] = {}  # three columns show parts of each
        self.tied_rows = 0
        self.tie_rule = ""
        self._is_rule_named = False
        self._describe()

    def _describe(self) -> None:
        objective = self._objective
        self.rule = "" if objective == "count" else RULES[objective]
        rule_title = self.tr("Formula") if self._is_rule_named else self.rule
        self._columns = (
            TableColumn(self.tr("Rank"), lambda _pairs, row: number_text(row + 1)),
            TableColumn(self.tr("Pair"), self._pair_text, align=LEFT, spoken=self._spoken, entry="pair"),
            TableColumn(rule_title, lambda _pairs, row: self.formula(row).numbers, entry="pair"),
            TableColumn("", lambda _pairs, row: next(iter(self.formula(row).reduced[-1:]), "")),
            TableColumn(
                value_name(self._objective), lambda _pairs, row: self.formula(row).value, entry=self._objective
            ),
            TableColumn("", lambda _pairs, _row: "", align=LEFT),
        )

    def show_candidates(self, candidates: Sequence[Candidate], objective: str, symbols: int) -> bool:
        """Show these candidates; return whether they only continue those shown, so that rows were only added.

        `objective`, `symbols`: what the formulas are computed with; see `formula_of`.
        """
        count, is_same = len(self.records), (objective, symbols) == (self._objective, self._symbols)
        continues = bool(count) and is_same and tuple(candidates[:count]) == self.records
        self.tied_rows = sum(candidate.is_tied for candidate in candidates)
        if continues:
            self.extend_records(tuple(candidates))
        else:
            self._objective, self._symbols, self._formulas = objective, symbols, {}
            self._describe()
            self.set_records(tuple(candidates))
        return continues

    def set_rule_named(self, is_named: bool) -> None:
        """Use a word as the heading of the formulas, where there is no room for the rule itself."""
        if is_named != self._is_rule_named:
            self._is_rule_named = is_named
            self._describe()
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, NUMBERS, NUMBERS)

    def row_of(self, left: str, right: str) -> int:
        pairs = ((candidate.left, candidate.right) for candidate in self.records)
        return next((row for row, pair in enumerate(pairs) if pair == (left, right)), -1)

    def share(self, row: int) -> float:
        """Return the length of a row's bar: its value over the best one, between 0 and 1."""
        best = self.records[0].value
        return min(max(self.records[row].value / best, 0.0), 1.0) if best > 0 else 0.0

    def formula(self, row: int) -> Formula:
        formula = self._formulas.get(row)
        if formula is None:
            formula = self._formulas[row] = formula_of(self._objective, self.records[row], self._symbols)
        return formula

    def _pair_text(self, pairs: Sequence[Candidate], row: int) -> str:
        return f"{token_text(pairs[row].left)} {token_text(pairs[row].right)}"

    def _spoken(self, pairs: Sequence[Candidate], row: int) -> str:
        return f"{number_text(row + 1)}: {self._pair_text(pairs, row)}, {self.formula(row).text}"

    def tooltip(self, item: int) -> str:
        candidate = self.records[item]
        pair = f"{candidate.left} + {candidate.right} → {candidate.token}"
        counts = "n(ab) = {}, n(a) = {}, n(b) = {}".format(
            *map(number_text, (candidate.pair_frequency, candidate.left_frequency, candidate.right_frequency))
        )
        rule = self.tie_rule if item < self.tied_rows else ""
        return tooltip_text("\n".join(filter(None, (pair, self.formula(item).text, counts, rule))))


def _chips_of(candidate: Candidate) -> list[FlowItem]:
    return [FlowItem(candidate.left, "chip"), FlowItem(candidate.right, "chip")]


class _CandidatesDelegate(ChipDelegate):
    """Draws the pair of a candidate as chips and its value as a bar."""

    def __init__(self, model: CandidatesModel, theme: Theme, table: QTableView) -> None:
        super().__init__(theme, PAIR, lambda index: [_chips_of(model.records[index.row()])], table, points=0, gap=3)
        self._model = model
        self.tie_width = 0  # pixels to keep free to the right of the bars, for the text of the tie box

    def is_bold(self, index: Index) -> bool:
        return index.column() in (RANK, VALUE) and self._is_best(index)

    def ink(self, index: Index) -> QColor:
        return self._theme.muted if index.column() in (RANK, NUMBERS) else self._theme.text

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        cell = QRectF(option.rect)
        room = min(cell.width() - self.tie_width - 30, float(_LONGEST_BAR))
        if index.column() != BAR or room < _SHORTEST_BAR:
            return
        bar = QRectF(cell.left() + 12, cell.center().y() - 5, max(room * self._model.share(index.row()), 2.0), 10)
        with saved(painter):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.accent if self._is_best(index) else self._theme.bar)
            painter.drawRoundedRect(bar, 1.5, 1.5)

    def _is_best(self, index: Index) -> bool:
        return index.row() < max(self._model.tied_rows, 1)


class CandidatesView(ChoosingTable):
    """The candidates in rows. A box around ties shows how many there are."""

    more_wanted = Signal()
    """The last row is in view, or the button was pressed, and there may be more candidates."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.tie_text = ""
        self.needs: dict[int, int] = {}  # pixels per column, until the candidates or the fonts change
        self.candidates = CandidatesModel(self)
        self.delegate = _CandidatesDelegate(self.candidates, theme, self)
        self.setAccessibleName(self.tr("Candidates"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.horizontalHeader()
        header.setSectionsClickable(False)
        header.setTextElideMode(Qt.TextElideMode.ElideRight)
        tip = self.tr("Show more candidates. Scrolling to the last one does the same.")
        self.more_button = tool_button(self.tr("Show more candidates"), tip, self, name=self.tr("Show more candidates"))
        self.more_button.hide()
        self.set_up(self.candidates, theme, self.delegate, stretched=BAR)
        self.more_button.clicked.connect(self.more_wanted)
        self.verticalScrollBar().valueChanged.connect(self._on_scroll_bar_value_changed)

    def show_candidates(
        self, candidates: Sequence[Candidate], objective: str, symbols: int, *, may_have_more: bool
    ) -> None:
        """Show these candidates, from the top unless they continue those shown; see `CandidatesModel`."""
        continues = self.candidates.show_candidates(candidates, objective, symbols)
        self._set_more(may_have_more)
        if not continues:
            self.scrollToTop()

    def restyle(self) -> None:
        self.delegate.restyle()
        self._leave_room_for_tie()
        self.more_button.setIcon(icon("down", self._theme.muted))
        self.needs = {}
        self.verticalHeader().setDefaultSectionSize(self.delegate.chip_height + 3)
        self._spread_columns()

    def needed_height(self, rows: int) -> int:
        return self.horizontalHeader().sizeHint().height() + rows * self.verticalHeader().defaultSectionSize() + 3

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._spread_columns()

    def _spread_columns(self) -> None:
        """Values are never cut off; then pairs, formulas and reduced formulas get room, and the bar takes the rest."""
        width = self.viewport().width()
        if not self.needs:
            self.needs = {column: self._needed_width(column) for column in (RANK, NUMBERS, REDUCED, VALUE)}
            self.needs[PAIR] = self._needed_pair_width()
        needed = dict(self.needs)
        pair = needed.pop(PAIR)
        more = self._fit_button(width - pair - sum(needed.values()))
        left = width - needed[RANK] - needed[VALUE] - pair - more
        missing = needed[NUMBERS] + needed[REDUCED] - left
        if 0 < missing <= pair // _YIELDS:  # shorten the longest pair rather than drop all the reduced formulas
            pair, left = pair - missing, left + missing
        for column in (NUMBERS, REDUCED):
            is_hidden = not needed[column] or needed[column] > left
            self.setColumnHidden(column, is_hidden)
            left -= 0 if is_hidden else needed[column]
            if is_hidden:
                needed.pop(column)
        tie = max(self._tie_width() + _TIE_ROOM - more, 0) if self.candidates.tied_rows > 1 else 0
        if left < 0:
            pair = max(pair + left, self.fontMetrics().horizontalAdvance("0") * _LEAST_PAIR)
        rule = self.fontMetrics().horizontalAdvance(self.candidates.rule) + _CELL_ROOM
        title = rule if NUMBERS in needed else 0
        if 0 < title - needed.get(NUMBERS, title) <= left - tie - _SHORTEST_BAR:
            left -= title - needed[NUMBERS]
            needed[NUMBERS] = title
        self.candidates.set_rule_named(title > needed.get(NUMBERS, title))
        airy = min(max(left - tie - _LONGEST_BAR, 0) // len(needed), _MOST_AIR)
        self.setColumnWidth(PAIR, pair + airy)
        for column, room in needed.items():
            self.setColumnWidth(column, room + (airy if column != RANK else 0))
        self._place_button()

    def _fit_button(self, left: int) -> int:
        """Return the width of the button; it drops its text where that does not fit into `left`."""
        if self.more_button.isHidden():
            return 0
        self.more_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        if self.more_button.sizeHint().width() > left:
            self.more_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        return self.more_button.sizeHint().width()

    def _place_button(self) -> None:
        header = self.horizontalHeader()
        size = self.more_button.sizeHint()
        height = min(size.height(), header.height())
        right = self.viewport().geometry().right()  # the header is laid out later
        self.more_button.setGeometry(right - size.width(), header.geometry().top(), size.width(), height)

    def _sampled_rows(self) -> Sequence[int]:
        count = self.candidates.rowCount()
        return range(count) if count <= 2 * _SAMPLE else [*range(_SAMPLE), *range(count - _SAMPLE, count)]

    def _needed_width(self, column: int) -> int:
        """Return the width of a column's texts, 0 if there are none; a long heading may be elided."""
        metrics = QFontMetrics(self._theme.font(0, bold=column in (RANK, VALUE)))
        texts = (str(self.candidates.index(row, column).data()) for row in self._sampled_rows())
        needed = max(map(metrics.horizontalAdvance, texts), default=0)
        if not needed:
            return 0
        if column != NUMBERS:
            title = str(self.candidates.headerData(column, Qt.Orientation.Horizontal))
            needed = max(needed, self.fontMetrics().horizontalAdvance(title))
        return needed + _CELL_ROOM

    def _needed_pair_width(self) -> int:
        candidates = (self.candidates.records[row] for row in self._sampled_rows())
        longest = max((self.delegate.width(_chips_of(candidate)) for candidate in candidates), default=80.0)
        return min(int(longest), _LONGEST_PAIR) + _CELL_ROOM

    def _tie_width(self) -> int:
        return QFontMetrics(self._theme.font(-1, bold=True)).horizontalAdvance(self.tie_text or "tie of 00")

    def set_tie_text(self, text: str, rule: str) -> None:
        """Set the text on the right of the tie box, for example ``tie of 2``, and the rule for the tooltips there."""
        self.tie_text = text
        self.candidates.tie_rule = rule
        self._leave_room_for_tie()
        self._spread_columns()
        self.viewport().update()

    def _leave_room_for_tie(self) -> None:
        self.delegate.tie_width = self._tie_width() if self.candidates.tied_rows > 1 else 0

    def show_pair(self, left: str, right: str) -> None:
        self.mark_row(self.candidates.row_of(left, right))

    def paintEvent(self, event: QPaintEvent) -> None:
        box = self._tie_box()
        with QPainter(self.viewport()) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if box is not None:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(self._theme.tie_soft)
                painter.drawRoundedRect(box, 4, 4)
        super().paintEvent(event)
        if box is not None:
            self._paint_tie_frame(box)

    def _paint_tie_frame(self, box: QRectF) -> None:
        with QPainter(self.viewport()) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(self._theme.tie, 1.4))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box, 4, 4)
            painter.setPen(self._theme.tie_text)
            painter.setFont(self._theme.font(-1, bold=True))
            left = self.columnViewportPosition(BAR)
            first = QRectF(left, box.top(), box.right() - 10 - left, self.verticalHeader().defaultSectionSize())
            if first.width() >= self._tie_width():  # the text must never cover a number
                flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
                painter.drawText(first, int(flags), self.tie_text)

    def _tie_box(self) -> QRectF | None:
        tied = self.candidates.tied_rows
        if tied < 2:
            return None
        top = self.rowViewportPosition(0)
        height = tied * self.verticalHeader().defaultSectionSize()
        return QRectF(1, top + 1, self.viewport().width() - 2, height - 2)

    def _on_scroll_bar_value_changed(self, value: int) -> None:
        if not self.more_button.isHidden() and 0 < self.verticalScrollBar().maximum() <= value:
            self.more_wanted.emit()

    def _set_more(self, may_have_more: bool) -> None:
        self.needs = {}
        self.more_button.setVisible(may_have_more)
        self._spread_columns()
