"""The tables of the live text: its tokens in order, for those who cannot see chips, and the steps that change it.

All its tokens are also put on the clipboard here. The texts about a token are made here too: under its chip, in a row,
for screen readers.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from typing import TYPE_CHECKING, Literal

import numpy as np
from PySide6.QtCore import QModelIndex, QObject
from PySide6.QtWidgets import QVBoxLayout, QWidget

from wordpiece_studio.evaluation.metrics import MUCH_UNKNOWN
from wordpiece_studio.session.live_changes import ChangesOfRuns
from wordpiece_studio.session.live_text import TextChanges
from wordpiece_studio.session.plural import plural
from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn, TableModel
from wordpiece_studio.session.task import single_shot
from wordpiece_studio.ui.panes.tokenization.live_chips import ChipPlace
from wordpiece_studio.ui.widgets.chip_style import ChipDelegate, FlowItem
from wordpiece_studio.ui.widgets.explained import explain
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import copy_text, plain_label, set_plain_text, tooltip_text
from wordpiece_studio.ui.widgets.quiet_table import QuietTable, needed_height
from wordpiece_studio.ui.widgets.token_text import number_text, signed_text, token_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray
    from PySide6.QtGui import QColor
    from PySide6.QtWidgets import QTableView

    from wordpiece_studio.session.live_changes import ComparedChanges, LiveChanges
    from wordpiece_studio.session.live_text import LiveLine, LiveText, TextChange, TextSummary
    from wordpiece_studio.session.run import Run
    from wordpiece_studio.session.runs import Comparison
    from wordpiece_studio.session.table_model import Index
    from wordpiece_studio.session.view_text import TextUnit
    from wordpiece_studio.tokenizer.tokenizer import Piece, TokenizedWord
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.panes.tokenization.live_field import TokenOptions
    from wordpiece_studio.ui.widgets.chip_style import Variants
    from wordpiece_studio.ui.widgets.theme import Theme

_SLICE_SECONDS, _PAUSE_MS = 0.008, 4
_TOKEN, _ID, _OFFSETS, _BORN, _WORD = range(5)
_NOTHING = "–"
_AT_ONCE = 200
"""Rows made at a time; the next ones follow when the table is scrolled to its end."""


class PieceTexts(QObject):
    """Formats ids, offsets and birth steps; birth steps come from the run that made the tokens."""

    def __init__(self, live: LiveText, options: TokenOptions, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.history: MergeHistory | None = None
        self.merges = 0
        self.live = live
        self.options = options
        self._captions: dict[int, tuple[str, ...]] = {}  # by id, unless they depend on the place
        options.changed.connect(self._captions.clear)

    def show_run(self, history: MergeHistory | None, merges: int) -> None:
        if history is not self.history:
            self._captions.clear()
        self.history, self.merges = history, merges

    def summary(self, found: TextSummary) -> str:
        """Return the numbers of words and tokens in a text, and the unit of offsets if they are shown."""
        is_too_good = found.unknown > MUCH_UNKNOWN * found.tokens  # an unknown word, however long, is one token
        said = [
            plural(found.words, "1 word", "{count} words").format(count=number_text(found.words)),
            plural(found.tokens, "1 token", "{count} tokens").format(count=number_text(found.tokens)),
            self.tr("{rate} tokens per word").format(
                rate=f"({found.fertility:.2f})" if is_too_good else f"{found.fertility:.2f}"
            ),
            plural(found.unknown, "1 unknown", "{count} unknown").format(count=number_text(found.unknown)),
        ]
        if self.options.offsets:
            said.append(self._unit_words[0])
        return " · ".join(said)

    @property
    def _unit_words(self) -> tuple[str, str]:
        words: dict[TextUnit, tuple[str, str]] = {
            "characters": (self.tr("offsets in characters, from 0"), self.tr("characters {offsets}")),
            "utf8": (self.tr("offsets in UTF-8 bytes, from 0"), self.tr("UTF-8 bytes {offsets}")),
            "utf16": (self.tr("offsets in UTF-16 units, from 0"), self.tr("UTF-16 units {offsets}")),
        }
        return words[self.options.unit]

    def captions(self, line: LiveLine, piece: Piece) -> tuple[str, ...]:
        if piece.id in self._captions:
            return self._captions[piece.id]
        captions = []
        if self.options.ids:
            captions.append(_id_text(piece))
        if self.options.offsets:
            captions.append(self._offsets_text(line, piece))
        if self.options.births:
            captions.append(self.tr("step {step}").format(step=self._born_text(piece)))
        if not self.options.offsets:
            self._captions[piece.id] = tuple(captions)
        return tuple(captions)

    def row(self, line: LiveLine, word: TokenizedWord, chip: int) -> tuple[str, ...]:
        piece = word.pieces[chip]
        text = token_text(word.word.text) if word.word is not None else ""
        offsets = self._offsets_text(line, piece)
        return token_text(piece.token), _id_text(piece), offsets, self._born_text(piece), text

    def spoken(self, line: LiveLine, word: TokenizedWord, chip: int) -> str:
        token, number, offsets, born, text = self.row(line, word, chip)
        created = self.tr("in the alphabet") if born == "0" else self.tr("created at step {step}").format(step=born)
        return " · ".join((
            self.tr("Token {token}").format(token=token),
            self.tr("ID {id}").format(id=number),
            self._unit_words[1].format(offsets=offsets),
            *(() if born == _NOTHING else (created,)),
            self.tr("in the word {word}").format(word=text),
        ))  # fmt: skip

    def _born_text(self, piece: Piece) -> str:
        history = self.history
        return number_text(history.birth_step(piece.id)) if history is not None and piece.id >= 0 else _NOTHING

    def _offsets_text(self, line: LiveLine, piece: Piece) -> str:
        start, end = self.live.offsets_in(self.options.unit, line, piece.start, piece.end)
        return f"{number_text(start)}–{number_text(end)}"


def _id_text(piece: Piece) -> str:
    return number_text(piece.id) if piece.id >= 0 else _NOTHING


def birth_step(history: MergeHistory | None, merges: int, token: str) -> int | None:
    """Return the step up to `merges` at which a token is born, 0 for the alphabet, None if it is not."""
    token_id = history.vocabulary(merges).id_of(token) if history is not None else None
    return history.birth_step(token_id) if history is not None and token_id is not None else None


class TokenCopy(QObject):
    """Copies tokens or ids to the clipboard in slices of time; the latest request wins."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._waiting: Iterator[str] = iter(())
        self._gathered: list[str] = []
        self._timer = single_shot(self, self._gather, _PAUSE_MS)

    def start(self, lines: Sequence[LiveLine], what: Literal["tokens", "ids"]) -> None:
        pieces = (piece for line in lines for word in line.words for piece in word.pieces)
        self._waiting = (piece.token if what == "tokens" else str(piece.id) for piece in pieces)
        self._gathered = []
        self._gather()

    def _gather(self) -> None:
        end = time.perf_counter() + _SLICE_SECONDS
        for text in self._waiting:
            self._gathered.append(text)
            if time.perf_counter() > end:
                self._timer.start()
                return
        copy_text(" ".join(self._gathered))
        self._gathered = []


class TokenModel(TableModel["PieceTexts"]):
    """One row per token: token, id, offsets, birth step, word; rows of later lines are made on request."""

    def __init__(self, texts: PieceTexts, parent: QObject | None = None) -> None:
        super().__init__(texts, parent)
        self._texts = texts
        self._lines: Sequence[LiveLine] = ()
        self._ends: list[int] = []  # the number of tokens up to the end of each line read so far
        self._is_growing = False
        self._describe()

    def _describe(self) -> None:
        self._columns = (
            TableColumn(self.tr("Token"), self._text_of(_TOKEN), align=LEFT, spoken=self._spoken),
            TableColumn(self.tr("ID"), self._text_of(_ID)),
            TableColumn(self._texts.options.unit_title, self._text_of(_OFFSETS)),
            TableColumn(self.tr("Created"), self._text_of(_BORN), entry="step"),
            TableColumn(self.tr("Word"), self._text_of(_WORD), align=LEFT, entry="word"),
        )

    def set_lines(self, lines: Sequence[LiveLine]) -> None:
        """Show the tokens of these lines, with offsets in the unit chosen."""
        self.beginResetModel()
        self._describe()
        self._lines = lines
        self._ends = self._further_ends([])
        self.endResetModel()

    def place_of(self, row: int) -> ChipPlace:
        line = bisect_right(self._ends, row)
        chip = row - (self._ends[line - 1] if line else 0)
        for index, word in enumerate(self._lines[line].words):
            if chip < len(word.pieces):
                return ChipPlace(line, index, chip)
            chip -= len(word.pieces)
        raise IndexError(row)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return self._ends[-1] if self._ends and not parent.isValid() else 0

    def canFetchMore(self, parent: Index) -> bool:
        has_more = len(self._ends) < len(self._lines)
        return has_more and not parent.isValid() and not self._is_growing

    def fetchMore(self, _parent: Index) -> None:
        ends = self._further_ends(self._ends)
        before, after = self.rowCount(), ends[-1] if ends else 0
        if self._is_growing or after == before:
            self._ends = self._ends if self._is_growing else ends  # blank lines only
            return
        self._is_growing = True  # a slot notified of the new rows may ask for more at once
        self.beginInsertRows(QModelIndex(), before, after - 1)
        self._ends = ends
        self.endInsertRows()
        self._is_growing = False

    def _text_of(self, column: int) -> Callable[[PieceTexts, int], str]:
        return lambda texts, row: texts.row(*self._token(row))[column]

    def _spoken(self, texts: PieceTexts, row: int) -> str:
        return texts.spoken(*self._token(row))

    def _token(self, row: int) -> tuple[LiveLine, TokenizedWord, int]:
        place = self.place_of(row)
        line = self._lines[place.line]
        return line, line.words[place.word], place.chip

    def _further_ends(self, ends: list[int]) -> list[int]:
        further = list(ends)
        total = wanted = further[-1] if further else 0
        wanted += _AT_ONCE
        while len(further) < len(self._lines) and total < wanted:
            total += sum(len(word.pieces) for word in self._lines[len(further)].words)
            further.append(total)
        return further


class LiveTokenTable(QuietTable):
    """The table of tokens, one row per token."""

    def __init__(self, texts: PieceTexts, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tokens = TokenModel(texts, self)
        explain("token", self)
        self.setModel(self.tokens)
        self.setAccessibleName(self.tr("Tokens as a table"))
        self.horizontalHeader().setStretchLastSection(True)
        self.restyle()
        theme.changed.connect(self.on_theme_changed)

    def restyle(self) -> None:
        metrics = self.fontMetrics()
        self.verticalHeader().setDefaultSectionSize(metrics.height() + 8)
        for column, width in enumerate((12, 6, 14, 7)):
            self.setColumnWidth(column, metrics.horizontalAdvance("n") * width)


STEP, TOKEN, CHANGE, COUNT, RUN = range(5)
_ROWS_AROUND = 2


class ChangesModel(RecordTableModel["TextChange"]):
    """One row per change: step, token, change in the number of tokens, number of tokens, letter of the run."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._steps: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._now = self._steps  # the step of the run that each row is about
        self._columns = (
            TableColumn(
                self.tr("Step"),
                lambda rows, row: number_text(rows[row].step),
                spoken=lambda rows, row: self._spoken(row),
                entry="step",
            ),
            TableColumn(self.tr("Token"), lambda rows, row: token_text(rows[row].token), align=LEFT, entry="token"),
            TableColumn(self.tr("Change"), lambda rows, row: signed_text(rows[row].change)),
            TableColumn(self.tr("Tokens"), lambda rows, row: self._count(rows[row])),
            TableColumn(self.tr("Run"), lambda _rows, row: self._letter(row), entry="run"),
        )

    def set_rows(self, rows: Sequence[TextChange], steps: NDArray[np.int64], now: Sequence[int]) -> None:
        """Show these rows. Rows that are only appended move nothing.

        Parameters
        ----------
        steps
            Their steps, int64, shape (n,).
        now
            The step of each run.
        """
        old, self._steps, self._now = self._steps, steps, _of_rows(now, rows)
        is_longer = len(steps) >= len(old) and np.array_equal(steps[: len(old)], old)
        if not is_longer or isinstance(rows, ChangesOfRuns) or isinstance(self.records, ChangesOfRuns):
            self.set_records(rows)
        else:
            self.extend_records(rows)
            self._emit_changed(0, self.rowCount() - 1)

    def set_now(self, steps: Sequence[int]) -> None:
        """Make the rows after the step of their run pale; `steps`: that of each run."""
        now = _of_rows(steps, self.records)
        if not np.array_equal(now, self._now):
            self._now = now
            self._emit_changed(0, self.rowCount() - 1)

    def run_of(self, row: int) -> Run | None:
        return self.records.run_of(row) if isinstance(self.records, ChangesOfRuns) else None

    def last_past(self) -> int:
        """Return the index of the last row not after the step, or -1."""
        past = np.flatnonzero(self._steps <= self._now)
        return int(past[-1]) if len(past) else -1

    def row_of_step(self, run: Run | None) -> int:
        here = np.flatnonzero(self._steps == self._now).tolist()
        return next((row for row in here if self.run_of(row) is run), -1)

    def is_future(self, row: int) -> bool:
        return bool(self._steps[row] > self._now[row])

    def is_here(self, row: int) -> bool:
        return bool(self._steps[row] == self._now[row])

    def tooltip(self, item: int) -> str:
        return tooltip_text(self._spoken(item))

    def _letter(self, row: int) -> str:
        run = self.run_of(row)
        return "" if run is None else run.letter

    def _count(self, row: TextChange) -> str:
        return plural(row.tokens, "1 token", "{count} tokens").format(count=number_text(row.tokens))

    def _spoken(self, item: int) -> str:
        row, run = self.records[item], self.run_of(item)
        of_run = self.tr("Run {letter}, step {step}: {left} + {right} → {token}")
        said = (self.tr("Step {step}: {left} + {right} → {token}") if run is None else of_run).format(
            letter=self._letter(item),
            step=number_text(row.step),
            left=token_text(row.left),
            right=token_text(row.right),
            token=token_text(row.token),
        )
        change = plural(abs(row.change), "{change} token", "{change} tokens").format(change=signed_text(row.change))
        tokens = plural(row.tokens, "then 1 token", "then {count} tokens").format(count=number_text(row.tokens))
        return " · ".join((said, change, tokens))


def _of_rows(steps: Sequence[int], rows: Sequence[TextChange]) -> NDArray[np.int64]:
    places = rows.places if isinstance(rows, ChangesOfRuns) else np.zeros(len(rows), dtype=np.int64)
    return np.array(steps, dtype=np.int64)[places]


class ChangesView(QWidget):
    """The rows of `changes`, and of the runs compared with the one shown, under a title.

    Parameters
    ----------
    go
        Called with the step that belongs to a row that is clicked, and the token that this row's step made.
    make_room
        Called when another height is needed.
    """

    def __init__(
        self,
        changes: LiveChanges,
        comparison: Comparison,
        compared: ComparedChanges,
        theme: Theme,
        parent: QWidget,
        *,
        go: Callable[[int, str], None],
        make_room: Callable[[], None],
    ) -> None:
        super().__init__(parent)
        self._go, self._make_room = go, make_room
        self._changes = changes
        self._comparison, self._compared = comparison, compared
        self._step = 0
        self._title = plain_label("", self, role="heading", wrap=True)
        explain("changes", self)
        self._table = _ChangesTable(theme, self)
        self._table.setAccessibleName(self.tr("Steps that changed the text"))
        fill(QVBoxLayout(self), self._title, (self._table, 1), margins=(14, 6, 6, 4), spacing=4)
        self._table.row_chosen.connect(self._on_table_row_chosen)
        self._table.verticalScrollBar().rangeChanged.connect(self._mark_step)  # it has other rows, or another height
        changes.changed.connect(self._show_rows)
        compared.changed.connect(self._show_rows)
        self._show_rows()

    @property
    def rows(self) -> Sequence[TextChange]:
        return self._table.changes.records

    def needed_height(self, most_rows: int | None = None) -> int:
        rows = len(self.rows)
        return needed_height(self, self._title, self._table, rows if most_rows is None else min(rows, most_rows))

    def set_step(self, step: int) -> None:
        """Scroll to where this step lies among the rows; those after it are pale."""
        self._step = step
        self._table.changes.set_now(self._steps(self.rows))
        self._mark_step()

    def _show_rows(self) -> None:
        before = len(self.rows)
        merged = self._merged()
        self._table.setColumnHidden(RUN, merged is None)
        if merged is None:
            self._table.changes.set_rows(self._changes.rows, self._changes.steps, [self._step])
        else:
            self._table.changes.set_rows(merged, merged.steps, self._steps(merged))
        self._show_title()
        self._mark_step()
        if len(self.rows) != before:
            self._make_room()

    def _merged(self) -> ChangesOfRuns | None:
        """Return the rows of all compared runs in the order of their tabs, if there are others."""
        current, rows, others = self._comparison.runs.current, self._changes.rows, self._compared.rows
        if current is None or not others or current in others:
            return None
        if not isinstance(rows, TextChanges) or rows.history is not current.history:
            return None  # those of another run stay until this one's are found
        found = {**others, current: rows}
        return ChangesOfRuns({run: found[run] for run in self._comparison.runs.all if run in found})

    def _steps(self, rows: Sequence[TextChange]) -> list[int]:
        if not isinstance(rows, ChangesOfRuns):
            return [self._step]
        others = {aligned.run: aligned.step for aligned in self._comparison.aligned()}
        return [others.get(run, self._step) for run in rows.runs]

    def _show_title(self) -> None:
        rows, is_known = len(self.rows), self._changes.is_known
        text = self.tr("Steps that changed this text")
        if rows and is_known:
            text = plural(rows, "1 step that changed this text", "{count} steps that changed this text")
            text = text.format(count=number_text(rows))
        elif not rows:
            appear = self.tr("The steps that change this text appear here")
            text = self.tr("No step changes this text") if is_known else appear
        set_plain_text(self._title, text)

    def _mark_step(self) -> None:
        """Keep the last row not after the step in view, and mark it if it is at the step."""
        changes = self._table.changes
        is_merged = isinstance(self.rows, ChangesOfRuns)
        here = changes.row_of_step(self._comparison.runs.current if is_merged else None)
        self._table.setCurrentIndex(changes.index(here, 0) if here >= 0 else QModelIndex())
        if changes.rowCount():
            self._table.bring_into_view(max(changes.last_past(), 0), _ROWS_AROUND, is_early=True)

    def _on_table_row_chosen(self, row: int) -> None:
        chosen, run = self.rows[row], self._table.changes.run_of(row)
        step = chosen.step if run is None else self._comparison.shown_step(run, chosen.step)
        self._go(step, chosen.token)


class _ChangeDelegate(ChipDelegate):
    """Draws what is still to come pale, the letter of a run in its color, and marks the rows of the steps."""

    def __init__(self, model: ChangesModel, theme: Theme, chips: Variants, table: QTableView) -> None:
        super().__init__(theme, TOKEN, chips, table)
        self._model = model

    def ink(self, index: Index) -> QColor:
        run = self._model.run_of(index.row())
        if run is not None and index.column() == RUN:
            return self._theme.run_color(run.color)
        return self._theme.faint if self._model.is_future(index.row()) else self._theme.muted

    def ground(self, index: Index) -> QColor | None:
        is_marked = self._model.run_of(index.row()) is not None and self._model.is_here(index.row())
        return self._theme.hover if is_marked else None


class _ChangesTable(QuietTable):
    """Step, token as a chip with its pair, change, number of tokens."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.changes = ChangesModel(self)
        self.delegate = _ChangeDelegate(self.changes, theme, self._chips_at, self)
        self.set_up(self.changes, theme, self.delegate, stretched=TOKEN)
        self.horizontalHeader().hide()
        self.horizontalHeader().moveSection(RUN, 0)
        self.setColumnHidden(RUN, True)

    def restyle(self) -> None:
        metrics = self.fontMetrics()
        self.delegate.restyle()
        self.verticalHeader().setDefaultSectionSize(self.delegate.chip_height + 4)
        self.setColumnWidth(RUN, metrics.horizontalAdvance("AA") + 14)
        self.setColumnWidth(STEP, metrics.horizontalAdvance("300,000") + 14)
        self.setColumnWidth(CHANGE, metrics.horizontalAdvance("−1,000") + 14)
        self.setColumnWidth(COUNT, metrics.horizontalAdvance("10,000 tokens") + 14)

    def _chips_at(self, index: Index) -> Iterator[list[FlowItem]]:
        row, is_future = self.changes.records[index.row()], self.changes.is_future(index.row())
        chip = FlowItem(row.token, "chip", faded=is_future)
        yield [chip, FlowItem(f"{token_text(row.left)} + {token_text(row.right)}", faded=is_future)]
        yield [chip]
