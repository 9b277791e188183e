"""The table of candidates: pairs as chips, formulas, values as bars, and a box around those that tie for the best."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QTableView

from wordpiece_studio.session.history_table import value_name
from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn, each_row
from wordpiece_studio.training.engine import RULES
from wordpiece_studio.ui.widgets.chips import FlowItem
from wordpiece_studio.ui.widgets.plain import tool_button, tooltip_text
from wordpiece_studio.ui.widgets.table import Measure, TableView
from wordpiece_studio.ui.widgets.token_text import formula_of, number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtCore import QObject, QRect
    from PySide6.QtWidgets import QWidget

    from wordpiece_studio.session.table_model import Index
    from wordpiece_studio.training.engine import Candidate
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "scoreboard")
RANK, PAIR, NUMBERS, REDUCED, VALUE, BAR = range(6)
_SHORTEST_BAR, _LONGEST_BAR = 20, 150
_CELL_ROOM = 14
_TIE_ROOM = 16
_MOST_AIR = 24
_YIELDS = 4  # at most 1/4 of the width of the pairs is given up for the formulas
_SAMPLE = 40  # the number of rows at either end that determine the column widths


class Ranking(list["Candidate"]):
    """Candidates, the best first but for a chosen one, with the formulas of their values; see `formula_of`."""

    def __init__(self, candidates: Sequence[Candidate] = (), objective: str = "score", symbols: int = 0) -> None:
        super().__init__(candidates)
        self.objective, self.symbols = objective, symbols
        self.rule = "" if objective == "count" else RULES[objective]  # the heading of the value says it all
        self.best = max((candidate.value for candidate in candidates), default=0.0)
        self.tied_rows = sum(candidate.is_tied for candidate in candidates)  # 0 if the best has no equal
        self.first_tied = int(self.tied_rows > 0 and not candidates[0].is_tied)  # after a chosen one
        self.tie_text = self.tie_rule = ""  # what stands in the box around these, and in their tooltips
        self.merged_text = ""  # what marks the first of all, if it was merged while others tied, or was chosen
        # Three columns show parts of each.
        self.formula = cache(lambda row: formula_of(objective, candidates[row], symbols))

    def goes_on_in(self, other: Ranking) -> bool:
        """Return whether another one has more candidates after these, or the same."""
        is_same = (self.objective, self.symbols) == (other.objective, other.symbols)
        return bool(self) and is_same and other[: len(self)] == self

    def row_of(self, left: str, right: str) -> int:
        return next((row for row, each in enumerate(self) if (each.left, each.right) == (left, right)), -1)

    def share(self, row: int) -> float:
        """Return the length of a row's bar: its value over the best one, between 0 and 1."""
        return min(max(self[row].value / self.best, 0.0), 1.0) if self.best > 0 else 0.0

    def is_best(self, row: int) -> bool:
        return self[row].value == self.best

    def pair_text(self, row: int) -> str:
        return f"{token_text(self[row].left)} {token_text(self[row].right)}"

    def spoken(self, row: int) -> str:
        said = f"{number_text(row + 1)}: {self.pair_text(row)}, {self.formula(row).text}"
        return f"{said}, {self.merged_text}" if self.merged_text and row == 0 else said

    def tip(self, row: int) -> str:
        candidate = self[row]
        pair = f"{candidate.left} + {candidate.right} → {candidate.token}"
        counts = "n(ab) = {}, n(a) = {}, n(b) = {}".format(
            *map(number_text, (candidate.pair_frequency, candidate.left_frequency, candidate.right_frequency))
        )
        rule = self.tie_rule if candidate.is_tied else ""
        return tooltip_text("\n".join(filter(None, (pair, self.formula(row).text, counts, rule))))


def chips_of(candidate: Candidate) -> list[FlowItem]:
    return [FlowItem(candidate.left, "chip"), FlowItem(candidate.right, "chip")]


class CandidatesView(TableView):
    """The candidates in rows, with bars. A box around ties shows how many there are."""

    more_wanted = Signal()  # the button was pressed, and there may be more candidates

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self._theme = theme
        self._is_rule_named = False
        more = _tr("Show more candidates")
        self.more_button = tool_button(more, "", None, name=more, takes_focus=True)
        self.candidates: RecordTableModel[Candidate] = RecordTableModel(self._columns(), tip=Ranking.tip)
        self.candidates.set_records(Ranking())
        super().__init__(
            self.candidates, theme, parent, name=_tr("Candidates"), row_room=3, points=0, gap=3, has_bar=False,
            walking_chooses=True,
        )  # fmt: skip
        self.more_button.setParent(self.viewport())
        self.more_button.installEventFilter(self)
        self.more_button.hide()
        header = self.horizontalHeader()
        header.setSectionsClickable(False)
        header.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.more_button.clicked.connect(self.more_wanted)
        self.verticalScrollBar().valueChanged.connect(self._place_button)

    def _columns(self) -> tuple[TableColumn[Ranking], ...]:
        return (
            TableColumn(_tr("Rank"), lambda _ranking, row: number_text(row + 1), bold=Ranking.is_best, ink="muted"),
            TableColumn(
                _tr("Pair"), Ranking.pair_text, align=LEFT, spoken=Ranking.spoken, entry="pair",
                chips=each_row(lambda candidate: [[chips_of(candidate)]]),
            ),
            TableColumn(self._rule_title, lambda ranking, row: ranking.formula(row).numbers, entry="pair", ink="muted"),
            TableColumn("", lambda ranking, row: next(iter(ranking.formula(row).reduced[-1:]), "")),
            TableColumn(
                lambda ranking: value_name(ranking.objective), lambda ranking, row: ranking.formula(row).value,
                entry=lambda ranking: ranking.objective, bold=Ranking.is_best,
            ),
            TableColumn("", lambda _ranking, _row: "", align=LEFT),
        )  # fmt: skip

    @property
    def ranking(self) -> Ranking:
        ranking = self.candidates.records
        assert isinstance(ranking, Ranking)
        return ranking

    def _rule_title(self, ranking: Ranking) -> str:
        """Return the rule as the heading of the formulas, or a word where there is no room for it."""
        return _tr("Formula") if self._is_rule_named else ranking.rule

    def show_ranking(self, ranking: Ranking, *, may_have_more: bool) -> None:
        self.more_button.setVisible(may_have_more)
        if self.ranking.goes_on_in(ranking):
            self.candidates.extend_records(ranking)
            self.spread()
            self.viewport().update()
        else:
            self.candidates.set_records(ranking)
            self.scrollToTop()
        self.updateGeometries()

    def needed_height(self, rows: int) -> int:
        return self.horizontalHeader().sizeHint().height() + rows * self.row_height + 3

    def widths(self, room: int) -> dict[int, int]:
        """Values are never cut off; then pairs, formulas and reduced formulas get room, and the bar takes the rest."""
        needed = self.needed_widths()
        pair = needed.pop(PAIR)
        left = room - needed[RANK] - needed[VALUE] - pair
        missing = needed[NUMBERS] + needed[REDUCED] - left
        if 0 < missing <= pair // _YIELDS:  # shorten the longest pair rather than drop all the reduced formulas
            pair, left = pair - missing, left + missing
        for column in (NUMBERS, REDUCED):
            if not needed[column] or needed[column] > left:
                needed.pop(column)
            else:
                left -= needed[column]
        tie = self.tie_width + _TIE_ROOM if self.tie_width else 0
        if left < 0:
            pair = max(pair + left, self.fontMetrics().horizontalAdvance("0") * 8)  # digits
        rule = self.fontMetrics().horizontalAdvance(self.ranking.rule) + _CELL_ROOM
        title = rule if NUMBERS in needed else 0
        if 0 < title - needed.get(NUMBERS, title) <= left - tie - _SHORTEST_BAR:
            left -= title - needed[NUMBERS]
            needed[NUMBERS] = title
        self._is_rule_named = title > needed.get(NUMBERS, title)
        self.horizontalHeader().viewport().update()
        airy = min(max(left - tie - _LONGEST_BAR, 0) // len(needed), _MOST_AIR)
        widths = {column: width + (airy if column != RANK else 0) for column, width in {**needed, PAIR: pair}.items()}
        return {**widths, BAR: max(room - sum(widths.values()), self.horizontalHeader().minimumSectionSize())}

    def updateGeometries(self) -> None:
        """Leave room for the button, which is the last row and scrolls with the others."""
        super().updateGeometries()
        rows = self.verticalHeader().length()
        if not self.more_button.isHidden():
            self.verticalScrollBar().setMaximum(max(rows + self.row_height - self.viewport().height(), 0))
        self._place_button()

    def scrollTo(self, index: Index, hint: QTableView.ScrollHint = QTableView.ScrollHint.EnsureVisible) -> None:
        super().scrollTo(index, hint)
        if index.row() == len(self.ranking) - 1:
            self.scrollToBottom()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.more_button and event.type() == QEvent.Type.FocusIn:
            self.scrollToBottom()
        return super().eventFilter(watched, event)

    def _place_button(self) -> None:
        header = self.verticalHeader()
        self.more_button.setGeometry(0, header.length() - header.offset(), self.viewport().width(), self.row_height)

    def needed_widths(self) -> dict[int, int]:
        """Return the width of what is in each column but the bars, 0 if there is nothing; long headings may be cut."""
        measure, all_rows = Measure(self), range(len(self.ranking))
        rows = {*all_rows[:_SAMPLE], *all_rows[-_SAMPLE:]}
        longest = max((self.delegate.width(chips_of(self.ranking[row])) for row in rows), default=80.0)
        needed = {PAIR: min(int(longest), 320) + _CELL_ROOM}  # pixels; a longer pair is cut off at the end
        for column in (RANK, NUMBERS, REDUCED, VALUE):
            texts = (self.candidates.text(row, column) for row in rows)
            width = measure.text(*texts, is_bold=column in (RANK, VALUE))
            if width and column != NUMBERS:
                width = max(width, measure.text(self.candidates.title(column)))
            needed[column] = width + _CELL_ROOM if width else 0
        return needed

    @property
    def tie_width(self) -> int:
        metrics, ranking = QFontMetrics(self._theme.font(-1, bold=True)), self.ranking
        texts = (ranking.tie_text if ranking.tied_rows > 1 else "", ranking.merged_text)
        return max(map(metrics.horizontalAdvance, texts))

    def paintEvent(self, event: QPaintEvent) -> None:
        box = self._tie_box()
        with QPainter(self.viewport()) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if box is not None:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(self._theme.tie_soft)
                painter.drawRoundedRect(box, 4, 4)
        super().paintEvent(event)
        with QPainter(self.viewport()) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_bars(painter, event.rect())
            texts = [self.ranking.merged_text]
            if box is not None:
                painter.setPen(QPen(self._theme.tie, 1.4))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(box, 4, 4)
                texts.insert(len(texts) if texts[0] else 0, self.ranking.tie_text)
            self._paint_remarks(painter, texts)

    def _paint_bars(self, painter: QPainter, within: QRect) -> None:
        left, ranking = self.columnViewportPosition(BAR), self.ranking
        room = min(self.columnWidth(BAR) - self.tie_width - 30, _LONGEST_BAR)
        if room < _SHORTEST_BAR or not ranking:
            return
        painter.setPen(Qt.PenStyle.NoPen)
        last = self.rowAt(within.bottom())
        for row in range(max(self.rowAt(within.top()), 0), last + 1 if last >= 0 else len(ranking)):
            middle = QRectF(self.visualRect(self.candidates.index(row, BAR))).center().y()
            painter.setBrush(self._theme.accent if ranking.is_best(row) else self._theme.bar)
            painter.drawRoundedRect(QRectF(left + 12, middle - 5, max(room * ranking.share(row), 2.0), 10), 1.5, 1.5)

    def _paint_remarks(self, painter: QPainter, texts: Sequence[str]) -> None:
        painter.setPen(self._theme.tie_text)
        painter.setFont(self._theme.font(-1, bold=True))
        left = self.columnViewportPosition(BAR)
        line = QRectF(left, self.rowViewportPosition(0) + 1, self.viewport().width() - 11 - left, self.row_height)
        if line.width() >= self.tie_width:  # the texts must never cover a number
            flags = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            for text in texts:
                painter.drawText(line, flags, text)
                line.translate(0, self.row_height)

    def _tie_box(self) -> QRectF | None:
        tied = self.ranking.tied_rows
        if tied < 2:
            return None
        top = self.rowViewportPosition(0) + self.ranking.first_tied * self.row_height
        return QRectF(1, top + 1, self.viewport().width() - 2, tied * self.row_height - 2)
