"""The tables of the live text: its tokens in order, for those who cannot see chips, and the steps that change it.

The texts about a token are made here too: under its chip, in a row, for screen readers.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QCoreApplication, QModelIndex, QObject
from PySide6.QtWidgets import QVBoxLayout, QWidget

from wordpiece_studio.evaluation.usage import MUCH_UNKNOWN
from wordpiece_studio.session.live_text import LiveText, TextChanges
from wordpiece_studio.session.plural import counted, filled, plural
from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn, each_row
from wordpiece_studio.ui.panes.tokenization.live_chips import ChipPlace
from wordpiece_studio.ui.widgets.chips import FlowItem
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import explain, plain_label, set_plain_text, tooltip_text
from wordpiece_studio.ui.widgets.table import RowLook, TableView, needed_height
from wordpiece_studio.ui.widgets.token_text import number_text, signed_text, token_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from wordpiece_studio.session.live_text import LiveChanges, LiveLine, TextChange, TextSummary
    from wordpiece_studio.session.runs import Comparison
    from wordpiece_studio.storage.project.contents import Run
    from wordpiece_studio.tokenizer.tokenizer import Piece, TokenizedWord
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.panes.tokenization.live_field import TokenOptions
    from wordpiece_studio.ui.widgets.table import Measure
    from wordpiece_studio.ui.widgets.theme import Theme

    Token = tuple[ChipPlace, LiveLine, TokenizedWord, int]
    """The place of a token, its line, its word, and its place in that."""

_tr = partial(QCoreApplication.translate, "ChangesView")
_NOTHING = "–"
_AROUND = 16  # pixels beside a title


class PieceTexts(QObject):
    """Formats ids, offsets and birth steps; birth steps come from the run that made the tokens."""

    def __init__(self, options: TokenOptions, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.history: MergeHistory | None = None
        self.options = options

    def summary(self, found: TextSummary) -> str:
        is_too_good = found.unknown > MUCH_UNKNOWN * found.tokens  # an unknown word, however long, is one token
        rate = f"({found.fertility:.2f})" if is_too_good else f"{found.fertility:.2f}"
        said = [
            counted(found.words, "1 word", "{count} words"),
            counted(found.tokens, "1 token", "{count} tokens"),
            *([self.tr("{rate} tokens per word").format(rate=rate)] if found.has_fertility else []),
            counted(found.unknown, "1 unknown", "{count} unknown"),
        ]
        if self.options.offsets.isChecked():
            said.append(self.tr("offsets in characters, from 0"))
        return " · ".join(said)

    def captions(self, line: LiveLine, piece: Piece) -> tuple[str, ...]:
        captions = []
        if self.options.ids.isChecked():
            captions.append(_id_text(piece))
        if self.options.offsets.isChecked():
            captions.append(self._offsets_text(line, piece))
        if self.options.births.isChecked():
            captions.append(self.tr("step {step}").format(step=self._born_text(piece)))
        return tuple(captions)

    def row(self, line: LiveLine, word: TokenizedWord, chip: int) -> tuple[str, ...]:
        piece = word.pieces[chip]
        text = token_text(word.word.text) if word.word is not None else ""
        offsets = self._offsets_text(line, piece)
        return token_text(piece.token), _id_text(piece), offsets, self._born_text(piece), text

    def spoken(self, line: LiveLine, word: TokenizedWord, chip: int) -> str:
        token, number, offsets, born, text = self.row(line, word, chip)
        created = self.tr("in the alphabet") if born == "0" else self.tr("created at step {step}").format(step=born)
        if self.history is not None and word.pieces[chip].token in self.history.config.required_tokens:
            created = self.tr("required")
        return " · ".join((
            self.tr("Token {token}").format(token=token),
            self.tr("ID {id}").format(id=number),
            self.tr("characters {offsets}").format(offsets=offsets),
            *(() if born == _NOTHING else (created,)),
            self.tr("in the word {word}").format(word=text),
        ))  # fmt: skip

    def _born_text(self, piece: Piece) -> str:
        history = self.history
        return number_text(history.birth_step(piece.id)) if history is not None and piece.id >= 0 else _NOTHING

    def _offsets_text(self, line: LiveLine, piece: Piece) -> str:
        return f"{number_text(line.start + piece.start)}–{number_text(line.start + piece.end)}"


def _id_text(piece: Piece) -> str:
    return number_text(piece.id) if piece.id >= 0 else _NOTHING


def birth_step(history: MergeHistory | None, merges: int, token: str) -> int | None:
    """Return the step up to `merges` at which a token is born, 0 for the alphabet, None if it is not."""
    token_id = history.vocabulary(merges).id_of(token) if history is not None else None
    return history.birth_step(token_id) if history is not None and token_id is not None else None


class TokenModel(RecordTableModel["Token"]):
    """One row per token: token, id, offsets, birth step, word."""

    def __init__(self, texts: PieceTexts, parent: QObject | None = None) -> None:
        def column(place: int, title: str, **how: Any) -> TableColumn[Sequence[Token]]:
            return TableColumn(title, each_row(lambda token: texts.row(*token[1:])[place]), **how)

        super().__init__(parent=parent)
        self.columns = (
            column(0, self.tr("Token"), align=LEFT, width=_letters(12),
                   spoken=each_row(lambda token: texts.spoken(*token[1:]))),
            column(1, self.tr("ID"), width=_letters(6)),
            column(2, self.tr("Characters"), width=_letters(14)),
            column(3, self.tr("Created"), entry="step", width=_letters(7)),
            column(4, self.tr("Word"), align=LEFT, entry="word", stretch=1),
        )  # fmt: skip

    def set_lines(self, lines: LiveText) -> None:
        self.set_records(list(_tokens_of(lines)))


def _tokens_of(lines: LiveText) -> Iterator[Token]:
    for number, line in enumerate(lines):
        for place, word in enumerate(line.words):
            for chip in range(len(word.pieces)):
                yield ChipPlace(number, place, chip), line, word, chip


def _letters(count: int) -> Callable[[Measure, object], int]:
    return lambda measure, _tokens: max(measure.text("n") * count, measure.title + _AROUND)


STEP, TOKEN, CHANGE, COUNT, RUN = range(5)


class ChangesView(QWidget):
    """The rows of `changes`, and of the runs compared with the one shown, under a title.

    `go` is called with the step that belongs to a row that is clicked, and the token that this row's step made.
    """

    def __init__(
        self, changes: LiveChanges, comparison: Comparison, theme: Theme, parent: QWidget, *,
        go: Callable[[int, str], None],
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._go = go
        self._changes = changes
        self._comparison = comparison
        self._step = 0
        self.rows = TextChanges()
        self._now = self.rows.steps  # the step of the run of each row
        self._title = plain_label("", self, role="heading", wrap=True)
        explain("changes", self)
        self.model: RecordTableModel[TextChange] = RecordTableModel(
            self._columns(), self, tip=lambda _rows, row: tooltip_text(self.spoken(row))
        )
        self._table = TableView(
            self.model, theme, self, name=self.tr("Steps that changed the text"), row_room=4, has_heading=False,
            look=lambda _rows, row: self.look(row),
        )  # fmt: skip
        self._table.horizontalHeader().moveSection(RUN, 0)
        fill(QVBoxLayout(self), self._title, (self._table, 1), margins=(14, 6, 6, 4), spacing=4)
        self._table.item_chosen.connect(self._on_table_item_chosen)
        self._table.verticalScrollBar().rangeChanged.connect(self._mark_step)  # it has other rows, or another height
        changes.changed.connect(self._show_rows)
        self._show_rows()

    def _columns(self) -> tuple[TableColumn[Sequence[TextChange]], ...]:
        return (
            TableColumn(
                _tr("Step"), each_row(lambda change: number_text(change.step)), entry="step", width="300,000",
                spoken=lambda _rows, row: self.spoken(row),
            ),
            TableColumn(
                _tr("Token"), each_row(lambda change: token_text(change.token)), align=LEFT, entry="token",
                chips=lambda _rows, row: [self._chips(row)], stretch=1,
            ),
            TableColumn(_tr("Change"), each_row(lambda change: signed_text(change.change)), width="−1,000"),
            TableColumn(
                _tr("Tokens"), each_row(lambda change: counted(change.tokens, "1 token", "{count} tokens")),
                width="10,000 tokens",
            ),
            TableColumn(
                _tr("Run"), lambda _rows, row: self._letter_of(row), entry="run", width="AA",
                is_there=lambda _rows: self.is_merged,
            ),
        )  # fmt: skip

    # -- what a row says

    @property
    def is_merged(self) -> bool:
        return len(self.rows.runs) > 1

    def run_of(self, row: int) -> Run | None:
        return self.rows.run_of(row) if self.is_merged else None

    def _letter_of(self, row: int) -> str:
        run = self.run_of(row)
        return "" if run is None else run.letter

    def is_future(self, row: int) -> bool:
        return bool(self.rows.steps[row] > self._now[row])

    def look(self, row: int) -> RowLook:
        """Mark the rows of the steps where there are several runs, and draw what is still to come pale."""
        is_marked = self.is_merged and self.rows.steps[row] == self._now[row]
        return RowLook("hover" if is_marked else "", "faint" if self.is_future(row) else "muted")

    def _chips(self, row: int) -> Iterator[list[FlowItem]]:
        change, is_future = self.rows[row], self.is_future(row)
        chip = FlowItem(change.token, "chip", faded=is_future)
        yield [chip, FlowItem(f"{token_text(change.left)} + {token_text(change.right)}", faded=is_future)]
        yield [chip]

    def spoken(self, row: int) -> str:
        change = self.rows[row]
        said = _tr("Step {step}: {left} + {right} → {token}")
        if self.is_merged:
            said = _tr("Run {letter}, step {step}: {left} + {right} → {token}")
        left, right, token = map(token_text, (change.left, change.right, change.token))
        said = filled(said, letter=self._letter_of(row), step=change.step, left=left, right=right, token=token)
        by = plural(abs(change.change), "{change} token", "{change} tokens").format(change=signed_text(change.change))
        tokens = counted(change.tokens, "then 1 token", "then {count} tokens")
        return " · ".join((said, by, tokens))

    # -- which rows there are

    def needed_height(self, most_rows: int | None = None) -> int:
        rows = len(self.rows)
        return needed_height(self, self._title, self._table, rows if most_rows is None else min(rows, most_rows))

    def set_step(self, step: int) -> None:
        """Scroll to where this step lies among the rows; those after it are pale."""
        self._step = step
        self._find_now()
        self._mark_step()
        self._table.viewport().update()

    def _show_rows(self) -> None:
        before, was_merged = self.rows.steps, self.is_merged
        self.rows = self._merged() or self._changes.rows
        self._find_now()
        is_of_one = not was_merged and not self.is_merged
        if is_of_one and np.array_equal(before, self.rows.steps[: len(before)]):  # what is only appended moves nothing
            self.model.extend_records(self.rows)
            self._table.viewport().update()
        else:
            self.model.set_records(self.rows)
        self._mark_step()
        self._show_title()
        if len(self.rows) != len(before):
            self.updateGeometry()  # more rows need more height

    def _merged(self) -> TextChanges | None:
        current, rows, others = self._comparison.runs.current, self._changes.rows, self._changes.others
        if current is None or not others or current in others or rows.runs != (current,):
            return None  # those of another run stay until this one's are found
        found = {**others, current: rows}
        return TextChanges.of_runs({run: found[run] for run in self._comparison.runs.all if run in found})

    def _find_now(self) -> None:
        others = {aligned.run: aligned.step for aligned in self._comparison.aligned()}
        now = np.array([others.get(run, self._step) for run in self.rows.runs], dtype=np.int64)
        self._now = now[self.rows.places]

    def _show_title(self) -> None:
        rows, is_known = len(self.rows), self._changes.is_known
        if is_known:
            text = self.tr("No step changes this text")
            if rows:
                text = counted(rows, "1 step that changed this text", "{count} steps that changed this text")
        else:
            appear = self.tr("The steps that change this text appear here")
            text = self.tr("Steps that changed this text") if rows else appear
        set_plain_text(self._title, text)

    def last_past(self) -> int:
        past = np.flatnonzero(self.rows.steps <= self._now)
        return int(past[-1]) if len(past) else -1

    def _mark_step(self) -> None:
        """Keep the last row not after the step in view, and mark it if it is at the step."""
        run = self._comparison.runs.current if self.is_merged else None
        here = (row for row in np.flatnonzero(self.rows.steps == self._now).tolist() if self.run_of(row) is run)
        row = next(here, -1)
        self._table.setCurrentIndex(self.model.index(row, 0) if row >= 0 else QModelIndex())
        if len(self.rows):
            self._table.bring_into_view(max(self.last_past(), 0), 2, is_early=True)

    def _on_table_item_chosen(self, row: int) -> None:
        chosen, run = self.rows[row], self.run_of(row)
        step = chosen.step if run is None else self._comparison.shown_step(run, chosen.step)
        self._go(step, chosen.token)
