"""*Which pair is merged next?* The candidates without their values, and the words to count them in.

It stands in place of the candidates while prediction is on. A row is chosen, and what was counted may be typed into it;
a click on a symbol in the words lights all its places and adds them up. What is asked, and what is right, is in
`session/prediction.py`.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from wordpiece_studio.session.history_table import value_name
from wordpiece_studio.session.plural import counted, filled
from wordpiece_studio.session.prediction import NO_COUNTS, Pair, counts_of, pair_of
from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn, each_row
from wordpiece_studio.session.task import single_shot
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.ui.panes.scoreboard.candidates_view import chips_of
from wordpiece_studio.ui.widgets.chips import split_variants
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import explain, plain_label, set_look, set_plain_text, tool_button, tooltip_text
from wordpiece_studio.ui.widgets.table import RowLook, TableView
from wordpiece_studio.ui.widgets.token_text import formula_of, number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from PySide6.QtGui import QResizeEvent

    from wordpiece_studio.session.prediction import Prediction
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.engine import Candidate
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "prediction")
_MOST_WORDS, _MOST_SUMMANDS = 200, 12
_FLASH_MS = 1200
_COUNTS = range(2, 5)  # the columns of n(ab), n(a) and n(b)


class CandidateRow(NamedTuple):
    candidate: Candidate
    is_chosen: bool
    counts: tuple[int | None, ...]  # that were typed
    value: str = ""  # once it is revealed, worked out
    mark: str = ""  # likewise, what is special about it

    @property
    def pair_text(self) -> str:
        return f"{token_text(self.candidate.left)} {token_text(self.candidate.right)}"

    def count_text(self, place: int) -> str:
        typed, actual = self.counts[place], counts_of(self.candidate)[place]
        if typed is None or (self.value and typed == actual):
            return number_text(actual) if self.value else "?"
        return f"{number_text(typed)} ✗ {number_text(actual)}" if self.value else number_text(typed)

    def count_ink(self, place: int) -> str:
        typed = self.counts[place]
        if typed is None or not self.value:
            return "faint" if typed is None and not self.value else "text"
        return "success" if typed == counts_of(self.candidate)[place] else "error"

    @property
    def look(self) -> RowLook:
        is_merged = self.mark == _tr("merged")  # also where there is no room for the word
        return RowLook("tie_soft" if self.mark else "", is_bold=is_merged, is_marked=is_merged)

    @property
    def spoken(self) -> str:
        chosen = _tr("{pair}, your choice") if self.is_chosen else "{pair}"
        return ", ".join(filter(None, (chosen.format(pair=self.pair_text), self.value, self.mark)))


class WordRow(NamedTuple):
    word: str
    times: int
    symbols: tuple[str, ...]
    lit: tuple[bool, ...] = ()  # which symbols are
    is_changed: bool = False  # by the merge that was just made


class PredictionView(QWidget):
    def __init__(self, model: TrainerModel, prediction: Prediction, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._model, self._prediction, self._theme = model, prediction, theme
        self._lit = ""  # the symbol that was clicked
        self._words: list[WordRow] = []
        self._step = 0  # of the words
        explain("predict", self)
        self.rows: RecordTableModel[CandidateRow] = RecordTableModel(
            self._columns(), self, tip=each_row(lambda row: tooltip_text(row.spoken))
        )
        self.table = TableView(
            self.rows, theme, self, name=self.tr("Candidates in alphabetical order"), row_room=4, points=0, gap=3,
            has_bar=False, walking_chooses=True, marks_selected=True,
            look=each_row(lambda row: row.look),
        )  # fmt: skip
        self.more_button = tool_button(
            self.tr("Show more candidates"), "", self, prediction.ask_for_more, name=self.tr("Show more candidates"),
            role="link", takes_focus=True,
        )  # fmt: skip
        self.sentence = plain_label("", self, role="value", wrap=True)
        self.hint = plain_label("", self, role="hint", wrap=True)
        self.words_title = plain_label("", self, role="heading", wrap=True)
        self.words: RecordTableModel[WordRow] = RecordTableModel(_WORD_COLUMNS, self)
        self.words_table = TableView(
            self.words, theme, self, name=self.tr("Words, in the order of the text"), row_room=4, points=0, gap=3,
            has_heading=False, has_bar=False, look=each_row(lambda row: RowLook("tie_soft" if row.is_changed else "")),
        )  # fmt: skip
        question = fill(QVBoxLayout(), (self.table, 1), self.more_button, spacing=4)
        title = fill(QVBoxLayout(), self.words_title, margins=(14, 2, 14, 0))
        words = fill(QVBoxLayout(), title, (self.words_table, 1), spacing=4)
        self._parts = fill(QBoxLayout(QBoxLayout.Direction.TopToBottom), (question, 5), (words, 3), spacing=4)
        self.save_button = tool_button("", "", self, role="button")
        said = fill(QVBoxLayout(), self.sentence, self.hint, self.save_button, margins=(14, 2, 14, 6), spacing=2)
        fill(QVBoxLayout(self), (self._parts, 1), said, spacing=4)
        self._flash = single_shot(self, self._show_words, _FLASH_MS)
        self.table.clicked.connect(lambda index: self._edit(index.row(), index.column()))
        self.table.item_chosen.connect(self._choose)
        self.words_table.chip_chosen.connect(self._light)
        prediction.changed.connect(self.refresh)
        model.step_changed.connect(self._on_model_step_changed)
        self.hide()

    def _columns(self) -> tuple[TableColumn[Sequence[CandidateRow]], ...]:
        def counts(place: int, title: str) -> TableColumn[Sequence[CandidateRow]]:
            return TableColumn(
                title, each_row(lambda row: row.count_text(place)), ink=each_row(lambda row: row.count_ink(place)),
                edit=partial(self._count, place), entry="pair", importance=4 - place,
                explanation=_tr("Type what you have counted; it may stay empty"),
                width=lambda measure, rows: max(
                    measure.contents, measure.letter * 6, measure.text(*(row.count_text(place) for row in rows)) + 14
                ),
            )  # fmt: skip

        return (
            TableColumn("", each_row(lambda row: "◉" if row.is_chosen else "○"), align=LEFT, width="◉"),
            TableColumn(
                _tr("Pair"), each_row(lambda row: row.pair_text), align=LEFT, spoken=each_row(lambda row: row.spoken),
                entry="pair", stretch=1, width=lambda measure, _rows: measure.letter * 12,
                chips=each_row(lambda row: [[chips_of(row.candidate)]]),
            ),
            counts(0, "n(ab)"), counts(1, "n(a)"), counts(2, "n(b)"),
            TableColumn(
                lambda rows: value_name(rows[0].candidate.objective) if rows else "",
                each_row(lambda row: row.value or "?"), ink=each_row(lambda row: "" if row.value else "faint"),
                width=lambda measure, _rows: max(measure.contents, measure.letter * 6),
            ),
            TableColumn(
                "", each_row(lambda row: row.mark or (_tr("your choice") if row.is_chosen else "")), align=LEFT,
                ink="muted", width=lambda measure, _rows: measure.text(_tr("your choice")) + 14, importance=1,
            ),
        )  # fmt: skip

    # -- what is asked

    def refresh(self) -> None:
        prediction = self._prediction
        if not self.isVisible():
            self._forget()
        if not (self.isVisible() and prediction.is_on):
            return
        merge = self._model.hidden_merge if prediction.is_revealed else None
        rows = []
        for each in prediction.candidates:
            value = mark = ""
            if merge is not None:
                value = formula_of(each.objective, each, merge.symbols_before).short
                mark = _tr("merged") if pair_of(each) == pair_of(merge) else _tr("tie") if each.is_tied else ""
            is_chosen = pair_of(each) == prediction.chosen
            rows.append(CandidateRow(each, is_chosen, prediction.counts if is_chosen else NO_COUNTS, value, mark))
        self.rows.update_records(rows)
        self.table.mark_row(next((at for at, row in enumerate(rows) if row.is_chosen and not row.value), -1))
        self.table.spread()
        self.more_button.setText(filled(_tr("Show more than the {count} best"), count=prediction.limit))
        self.more_button.setVisible(prediction.has_more and not prediction.is_revealed)
        self._lit = self._lit if merge is None else ""
        self._say()
        self._show_words()
        if merge is not None:
            self._bring_into_view(rows, pair_of(merge))

    def _forget(self) -> None:
        """Keep nothing of another question behind another pane: it may be what is asked for now."""
        self._lit, self._words = "", []
        self.rows.update_records([])
        self._say()
        self._show_words()

    def _bring_into_view(self, rows: Sequence[CandidateRow], merged: Pair) -> None:
        """Show the pair that is merged, if there is room that which was chosen, and the first word that has it."""
        if (layout := self.layout()) is not None:
            layout.activate()  # the sentence has its room
        wanted = [at for at, row in enumerate(rows) if row.is_chosen or pair_of(row.candidate) == merged]
        for row in sorted(wanted, key=lambda at: pair_of(rows[at].candidate) == merged):
            self.table.bring_into_view(row, 0)
        first = next((at for at, word in enumerate(self.words.records) if any(word.lit)), -1)
        if first >= 0:
            self.words_table.bring_into_view(first, 0)

    def _say(self) -> None:
        prediction = self._prediction
        said = prediction.sentence()
        if prediction.is_revealed:  # on the same line: every line takes one from the candidates
            said, hint = f"{said} {_tr('Space or Page Down: merge it')}", ""
        elif self._model.state is TrainerState.TRAINING:
            hint = _tr("Training is running.")
        elif not prediction.has_question:
            hint = _tr("The training ends here: there is no next merge.")
        elif prediction.exercise:
            hint = _tr("Choose a pair, then press Space or Page Down.")
        else:
            hint = _tr("Space or Page Down: reveal it. Before, you can choose a pair, type counts, and click symbols.")
        is_roomy = self.height() > self.fontMetrics().height() * 20
        self.sentence.setFont(self._theme.font(3 if is_roomy else 0))
        set_plain_text(self.sentence, said)
        self.sentence.setVisible(bool(said))
        self.sentence.setAccessibleName(said)
        set_plain_text(self.hint, hint)
        self.hint.setVisible(bool(hint))
        self.save_button.setVisible(bool(prediction.exercise and prediction.answers) and not prediction.has_question)
        grade = "success" if prediction.is_right else "error"
        set_look(self.sentence, role=grade if prediction.is_revealed and prediction.chosen is not None else "value")

    def _choose(self, row: int) -> None:
        self._prediction.choose(pair_of(self.rows.records[row].candidate))

    def _edit(self, row: int, column: int) -> None:
        if column in _COUNTS and not self._prediction.is_revealed:
            self._choose(row)
            self.table.edit(self.rows.index(row, column))

    def _count(self, place: int, rows: Sequence[CandidateRow], row: int, text: str) -> None:
        counts: list[int | None] = list(rows[row].counts)
        typed = "".join(text.replace(",", "").split())
        counts[place] = int(typed) if typed.isascii() and typed.isdigit() and len(typed) < 19 else None
        self._choose(row)
        self._prediction.count(*counts)

    # -- the words

    def _on_model_step_changed(self) -> None:
        if not (self.isVisible() and self._prediction.is_on):
            return
        self._lit = ""
        goes_on = self._model.step == self._step + 1  # going back marks nothing: it would show the merge asked for
        self._read_words({row.word: row.symbols for row in self._words} if goes_on else {})
        if any(row.is_changed for row in self._words):
            self._flash.start()
        self._show_words()

    def _read_words(self, before: Mapping[str, Sequence[str]]) -> None:
        history, step, self._words = self._model.history, self._model.step, []
        self._step = step
        if history is not None and history.is_whole:
            for index, word in enumerate(history.input.words[:_MOST_WORDS]):
                symbols = tuple(history.places.tokens(index, step))
                is_changed = before.get(word, symbols) != symbols
                self._words.append(WordRow(word, int(history.input.weights[index]), symbols, is_changed=is_changed))

    def _light(self, symbol: str) -> None:
        self._lit = "" if symbol == self._lit else symbol
        self._show_words()

    def _show_words(self) -> None:
        if not self._flash.isActive():
            self._words = [row._replace(is_changed=False) for row in self._words]
        self.words.update_records([row._replace(lit=self._lit_symbols(row.symbols)) for row in self._words])
        self.words_table.spread()
        said = self._sum() if self._lit else _tr("Words, in the order of the text")
        set_plain_text(self.words_title, said)
        self.words_title.setAccessibleName(said)

    def _lit_symbols(self, symbols: Sequence[str]) -> tuple[bool, ...]:
        """Return which symbols are the one that was clicked, or else of the pair that is chosen, or merged."""
        if self._lit:
            return tuple(symbol == self._lit for symbol in symbols)
        merge = self._model.hidden_merge if self._prediction.is_revealed else None
        pair = self._prediction.chosen if merge is None else pair_of(merge)
        starts = [False, *(both == pair for both in pairwise(symbols)), False]
        return tuple(map(any, pairwise(starts)))

    def _sum(self) -> str:
        counts = [row.times for row in self._words for symbol in row.symbols if symbol == self._lit]
        numbers = [number_text(count) for count in counts[:_MOST_SUMMANDS]]
        numbers += ["…"] if len(counts) > _MOST_SUMMANDS else []
        many = "{symbol} occurs {sum} = {count} times" if counts[1:] else "{symbol} occurs {count} times"
        if len(self._words) == _MOST_WORDS:
            many = "{symbol} occurs {count} times in the words shown"
        return counted(sum(counts), "{symbol} occurs once", many, symbol=token_text(self._lit), sum=" + ".join(numbers))

    # -- geometry

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self._read_words({})
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Let the words stand beside the candidates where there is room."""
        super().resizeEvent(event)
        is_wide = event.size().width() > self.fontMetrics().height() * 28
        directions = QBoxLayout.Direction
        self._parts.setDirection(directions.LeftToRight if is_wide else directions.TopToBottom)
        if self._prediction.is_on:
            self._say()


_WORD_COLUMNS: tuple[TableColumn[Sequence[WordRow]], ...] = (
    TableColumn(
        "", each_row(lambda row: " ".join(map(token_text, row.symbols))), align=LEFT,
        chips=each_row(lambda row: [split_variants(row.symbols, "", row.lit)]), stretch=1,
        width=lambda measure, _rows: measure.letter * 10,
    ),
    TableColumn(
        "", each_row(lambda row: f"×{number_text(row.times)}"), bold=each_row(lambda row: any(row.lit)),
        ink=each_row(lambda row: "" if any(row.lit) else "muted"), width=lambda measure, _rows: measure.contents + 8,
    ),
)  # fmt: skip
