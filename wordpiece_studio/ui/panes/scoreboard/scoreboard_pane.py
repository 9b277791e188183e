"""The scoreboard: the merge of the step with its formula filled in, the candidates it beat, the words it changed.

At step k it shows merge k and its candidates, as they stood at step k - 1 (*Before*), or what that merge made and the
candidates after it (*After*); at step 0, the candidates for merge 1. A candidate, token or word chosen there takes
precedence until that changes.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from PySide6.QtCore import QCoreApplication, QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from wordpiece_studio.session.history_table import value_name
from wordpiece_studio.session.plural import filled
from wordpiece_studio.session.prediction import Prediction
from wordpiece_studio.session.task import single_shot
from wordpiece_studio.session.trainer_model import TOY_WORDS
from wordpiece_studio.session.training_job import Candidates, TrainerState
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.training.engine import Candidate, ratio_of, ratio_over_neighbours
from wordpiece_studio.ui.panes.scoreboard.candidates_view import CandidatesView, Ranking
from wordpiece_studio.ui.panes.scoreboard.prediction_view import PredictionView
from wordpiece_studio.ui.panes.scoreboard.words_panel import MOST_CELLS, WordsPanel, WordsRequest, is_of
from wordpiece_studio.ui.widgets.chips import ChipFlow, FlowItem
from wordpiece_studio.ui.widgets.fields import Segments
from wordpiece_studio.ui.widgets.pane import EmptyState, Pane, fill
from wordpiece_studio.ui.widgets.plain import (
    explain,
    plain_label,
    set_plain_text,
    set_plain_tooltip,
    tool_button,
    wrapped_height,
)
from wordpiece_studio.ui.widgets.token_text import formula_of, fraction_text, number_text, token_text, value_text

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.engine import Merge
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "scoreboard")
_FIRST_CANDIDATES = 30
_MOST_CANDIDATES = 10_000
# The pane follows a training, or a step that is dragged, ten times a second: no one can read faster.
_BUSY_DELAY_MS = 100
_PATIENCE_MS = 80
_LEAST_WIDTH, _TOP = 200, 6


# Formula and sentences, the formula alone, only its numbers, or nothing.
Detail = Literal["all", "formula", "numbers", "none"]

_SIDE, _SPACING = 14, 2
_SLACK = 0.85


def tie_rule_names(tie: str) -> tuple[str, str]:
    if tie == "ids":
        return _tr("Ties: lowest IDs first"), _tr("Ties: lowest IDs")
    return _tr("Ties: first occurrence in the corpus"), _tr("Ties: first occurrence")


def tie_rule_sentence(tie: str, count: int) -> str:
    text = _tr("Tie of {count}: the pair that occurs first is merged (earliest word, then leftmost position).")
    if tie == "ids":
        text = _tr("Tie of {count}: the pair with the lowest left ID is merged; if those are equal, the lowest right "
                   "ID.")  # fmt: skip
    return filled(text, count=count)


def tie_decision(
    pair: Merge | Candidate, ties: int, history: MergeHistory, step: int, config: TrainingConfig
) -> tuple[str, ...]:
    """Return what decides for a pair among those that share its value after `step` merges, then shorter forms.

    It is empty if finding the word would take long.
    """
    value, name = formula_of(config.objective, pair, history.symbols_after(step)).short, _pair_name(pair, " ")
    fields: dict[str, object] = {"ties": ties, "value": value, "pair": name}
    if config.tie == "ids":
        vocabulary = history.vocabulary(step)
        fields |= {"left": vocabulary.id_of(pair.left), "right": vocabulary.id_of(pair.right)}
        short, least = _tr("{pair} has the lowest IDs, {left} and {right}"), _tr("{pair} has the lowest IDs")
    elif not history.is_whole or len(history.input.cells) > MOST_CELLS:
        return ()
    else:
        word = history.words_with_pair(pair.left, pair.right, step, 1, in_text_order=True)[0][0]
        number = history.places.index_of(word) + 1
        fields |= {"word": token_text(word), "number": number}
        short, least = _tr("{pair} stands first: in {word}, word {number} of the text"), _tr("{pair} first: in {word}")
        if number == 1:
            short = _tr("{pair} stands first: in {word}, the first word of the text")
    short = filled(short, **fields)
    return filled(_tr("{ties} pairs share {value}; "), **fields) + short, short, filled(least, **fields)


def _pair_name(pair: Merge | Candidate, between: str = " + ") -> str:
    return f"{token_text(pair.left)}{between}{token_text(pair.right)}"


def ratio_sentences(pair: Merge | Candidate, symbols: int, words: int) -> str:
    """Return the ratio worked out with N symbols, and the other way to normalize it; both counts are weighted."""
    ratio, other = ratio_of(pair, symbols), ratio_over_neighbours(pair, symbols, words)
    numbers = [number_text(n) for n in (pair.pair_frequency, symbols, pair.left_frequency, pair.right_frequency)]
    exact, value = fraction_text(ratio), value_text(float(ratio))
    equal = " = ".join(dict.fromkeys((exact, value)))
    lines = [
        "p(ab) / (p(a) × p(b)) = n(ab) × N / (n(a) × n(b)) = {} × {} / ({} × {}) = ".format(*numbers) + equal,
        filled(_tr("All three probabilities are counts divided by N = {symbols}, the number of symbols in the corpus, "
                   "so the ratio is the score times N. If symbols were drawn independently, p(ab) would be "
                   "p(a) × p(b)."), symbols=symbols),
    ]  # fmt: skip
    if other is not None:
        text = _tr("If n(ab) is divided by the number of adjacent pairs instead, P = {pairs} (N minus the number of "
                   "words, {words}), the ratio is {other}.")  # fmt: skip
        lines.append(filled(text, pairs=symbols - words, words=words, other=value_text(float(other))))
    return "\n".join(lines)


class FormulaPart(QWidget):
    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._detail: Detail = "all"
        self._rule = ""  # for ties, set even if this is not one
        self._items: dict[Detail, list[FlowItem]] = {}  # of the pair shown, by detail
        self._spoken = ""
        self.line = ChipFlow(theme, self, points=1, gap=8)
        self.ratio = plain_label("", self, role="hint", wrap=True)
        self.tie = plain_label("", self, role="hint", wrap=True, entry="tie")
        explain("merge-score", self)
        fill(QVBoxLayout(self), self.line, self.ratio, self.tie, margins=(_SIDE, 0, _SIDE, 0), spacing=_SPACING)
        self.show_nothing()

    def show_nothing(self) -> None:
        self._items = {}
        self.line.show_items((), "")
        self._show_detail()

    def show_pair(
        self, pair: Merge | Candidate, history: MergeHistory, config: TrainingConfig, step: int, *, ties: int,
        decision: str = "",
    ) -> None:  # fmt: skip
        """Show a pair as of `step`; `ties` is how many pairs shared the best value when it was chosen."""
        symbols, name = history.symbols_after(step), value_name(config.objective)
        formula = formula_of(config.objective, pair, symbols)
        is_lost = step < len(history) and (history[step].left, history[step].right) != (pair.left, pair.right)
        items = [
            FlowItem(_tr("Candidate") if is_lost else name),
            FlowItem(pair.left, "chip"),
            FlowItem("+"),
            FlowItem(pair.right, "chip"),
        ]
        items += [FlowItem("→"), FlowItem(pair.token, "chip")]
        whole = [FlowItem(f"= {part}", "value") for part in (formula.rule, formula.numbers, *formula.reduced) if part]
        numbers = [FlowItem(f"= {formula.numbers}", "value")] if formula.numbers else whole
        value = FlowItem(f"= {formula.value}", "strong")
        self._items = {"numbers": [*items, *numbers, value], "formula": [*items, *whole, value]}
        self._items["all"] = self._items["formula"]
        self._spoken = f"{name}: {pair.left} + {pair.right} → {pair.token}, {formula.text}"
        sentences = ratio_sentences(pair, symbols, history.total_words)
        rule = (decision or tie_rule_sentence(config.tie, ties)) if ties > 1 else ""
        self._rule = rule or tie_rule_sentence(config.tie, 2)
        line = _tr(
            "The pair occurs {ratio} times as often as expected by chance: p(ab) / (p(a) × p(b)), where N = {symbols}."
        )
        ratio = value_text(float(ratio_of(pair, symbols)))
        set_plain_text(self.ratio, filled(line, ratio=ratio, symbols=symbols))
        set_plain_text(self.tie, rule)
        set_plain_tooltip(self.ratio, sentences)
        set_plain_tooltip(self.line, "\n".join(filter(None, (self._spoken, sentences, rule))))
        self._show_detail()

    def set_detail(self, detail: Detail) -> None:
        if detail != self._detail:
            self._detail = detail
            self._show_detail()

    def needed_height(self, detail: Detail, width: int) -> int:
        """Return the height in pixels of this detail in a pane of this width; 0 while no pair is shown.

        It hardly varies between merges, so that the pane does not change its layout while stepping: room for the tie
        rule is always included, and a formula that just fits counts as one that does not.
        """
        if detail not in self._items:
            return 0
        width -= 2 * _SIDE
        height = self.line.height_of(self._items[detail], width if detail == "numbers" else int(width * _SLACK))
        if detail == "all":
            for label, text in ((self.ratio, self.ratio.text()), (self.tie, self._rule)):
                height += _SPACING + wrapped_height(label, text, int(width * _SLACK))
        return height

    def _show_detail(self) -> None:
        if self._detail in self._items:
            self.line.show_items(self._items[self._detail], self._spoken)
        self.setVisible(self._detail in self._items)
        self.ratio.setVisible(self._detail == "all")
        self.tie.setVisible(self._detail == "all" and bool(self.tie.text()))


class CandidatesPart(QStackedWidget):
    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = CandidatesView(theme, self)
        self._note = QWidget(self)
        self.message = plain_label("", self._note, role="hint", wrap=True)
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.pause_button = QPushButton(self.tr("Pause"), self._note)
        set_plain_tooltip(self.pause_button, self.tr("Pause training to see the candidates"))
        parts = 1, self.message, (self.pause_button, 0, Qt.AlignmentFlag.AlignHCenter), 1
        fill(QVBoxLayout(self._note), *parts, margins=(24, 4, 24, 4), spacing=-1)
        self.nothing = EmptyState(self)
        for page in (self.view, self._note, self.nothing):
            self.addWidget(page)
        theme.set_icon(self.pause_button, "pause")

    def show_message(self, text: str, *, can_pause: bool = False) -> None:
        """Show a message in place of the table, with a button if pausing helps; an empty one shows the table."""
        set_plain_text(self.message, text)
        self.pause_button.setVisible(can_pause)
        self.setCurrentWidget(self._note if text else self.view)

    def show_nothing(self, text: str) -> None:
        self.nothing.show_text(text)
        self.setCurrentWidget(self.nothing)


class _Arrangement(NamedTuple):
    """The least that is shown: formula detail, rows of candidates and words, and whether the title is beside them."""

    detail: Detail
    candidates: int
    words: int
    is_low: bool


# The first one that fits is used; parts that do not fit are hidden completely, a word last: it shows the merge.
_ARRANGEMENTS = (
    _Arrangement("all", 6, TOY_WORDS, False),  # the first three: if these are all
    _Arrangement("formula", 6, TOY_WORDS, False),
    _Arrangement("formula", 5, TOY_WORDS, False),
    _Arrangement("all", 6, 3, False),
    _Arrangement("formula", 6, 2, False),
    _Arrangement("formula", 6, 1, True),
    _Arrangement("formula", 4, 1, True),
    _Arrangement("numbers", 4, 1, True),
    _Arrangement("numbers", 2, 1, True),
    _Arrangement("numbers", 2, 0, True),
    _Arrangement("none", 2, 0, True),
)


class ScoreboardPane(Pane):
    def __init__(
        self, model: TrainerModel, theme: Theme, parent: QWidget | None = None, *, prediction: Prediction | None = None
    ) -> None:
        super().__init__(model, parent)
        self._prediction = prediction or Prediction(model, self)
        self.limit = _FIRST_CANDIDATES
        self.is_animated = False
        self._chosen: Selection | None = None  # at this step
        self._is_patient = False
        self._patience = single_shot(self, self._on_patience_timeout, _PATIENCE_MS)
        self._refreshed_at, self._refreshed_step = 0.0, 0  # when, by time.monotonic(), and what is shown since
        self._top = FormulaPart(theme, self)
        self.formula = self._top.line
        self.middle = CandidatesPart(theme, self)
        self.candidates_view = self.middle.view
        self._words = WordsPanel(theme, self)
        names = self.tr("Before"), self.tr("After")
        tips = self.tr("Before the merge: what it was chosen from"), self.tr("After the merge: what it made")
        self._switches = fill(QHBoxLayout(), spacing=6)
        self.header = QWidget(self)
        self.header.setLayout(self._switches)
        self.side = Segments(names, tips, self.header, lambda at: model.set_after(at == 1), entry="step")
        self._switches.addWidget(self.side)
        self.side.choose(int(model.is_after))
        model.side_changed.connect(lambda is_after: self.side.choose(int(is_after)))
        self._splitter = QSplitter(Qt.Orientation.Vertical, self)
        self._splitter.addWidget(self.middle)
        self._splitter.addWidget(self._words)
        self._splitter.setStretchFactor(0, 2)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setSizes([190, 80])
        self._splitter.setChildrenCollapsible(False)
        self.prediction_view = PredictionView(model, self._prediction, theme, self)
        parts = self._top, (self._splitter, 1), (self.prediction_view, 1)
        self._layout = fill(QVBoxLayout(self), *parts, margins=(0, _TOP, 0, 0), spacing=2)
        self._layout.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)  # the contents adapt to the height
        self.follow(model.state_changed, self._prediction.changed)
        for moved in (model.step_changed, model.side_changed):
            moved.connect(self._on_model_step_changed)
        model.merges_appended.connect(self._on_model_merges_appended)
        model.selection_changed.connect(self._on_model_selection_changed)
        model.candidates_changed.connect(self._on_model_candidates_changed)
        self.candidates_view.item_chosen.connect(self._on_candidates_view_item_chosen)
        self.candidates_view.more_wanted.connect(self._on_candidates_view_more_wanted)
        self.middle.pause_button.clicked.connect(model.pause)
        self._words.view.item_chosen.connect(self._on_words_view_item_chosen)
        self._words.order_wanted.connect(model.set_text_order)
        model.order_changed.connect(self._show_words)

    def offer(self, action: QAction) -> None:
        """Have a switch for another view in the title."""
        button = tool_button("", "", self.header, role="segment")
        button.setDefaultAction(action)
        self._switches.addWidget(button)

    def minimumSizeHint(self) -> QSize:
        """Scroll later than Qt would, which assumes that wrapped texts are as high as in a very narrow pane."""
        return QSize(_LEAST_WIDTH, self._needed_height(_ARRANGEMENTS[-1]))

    def fit(self) -> None:
        if self._prediction.is_on:
            return
        room = self.height()
        request = self._words.request
        offered = _ARRANGEMENTS[0 if request is not None and request.are_all else 3 :]
        chosen = next((each for each in offered if self._needed_height(each) <= room), _ARRANGEMENTS[-1])
        self._top.set_detail(chosen.detail)
        self._layout.setContentsMargins(0, _TOP if chosen.detail != "none" else 0, 0, 0)
        self._words.set_room(max(chosen.words, 1), self.width(), is_low=chosen.is_low)
        self._words.setVisible(self._words.request is not None and chosen.words > 0)
        view = self.candidates_view
        view.setMinimumHeight(view.needed_height(chosen.candidates))

    def _needed_height(self, each: _Arrangement) -> int:
        if each.detail == "none":
            return self.candidates_view.needed_height(each.candidates)
        width, between = self.width(), self._splitter.handleWidth() + 2
        top = self._top.needed_height(each.detail, width)
        words = self._words.needed_height(each.words, width, is_low=each.is_low) if each.words else 0
        return _TOP + top + self.candidates_view.needed_height(each.candidates) + words + between

    # -- contents

    @property
    def _step(self) -> int:
        """The step that all of the pane shows, in the midst of a drag too."""
        return self._refreshed_step if self._history is self._model.history else self._model.step

    @property
    def shown_step(self) -> int:
        """The merge whose candidates are shown, from 1: that of the step, or the next one after it and at step 0."""
        return self._step + 1 if self._model.is_after else max(self._step, 1)

    @property
    def _is_chosen(self) -> bool:
        config, candidates = self._model.config, self.candidates
        chosen = None if config is None else config.choices.get(self.shown_step)
        first = None if candidates is None else next(iter(candidates.pairs), None)
        return chosen is not None and (first is None or chosen == (first.left, first.right))

    @property
    def merge(self) -> Merge | None:
        """The merge that was chosen from the candidates shown; None if it is still to come."""
        history = self._model.history
        return history[self._step - 1] if history is not None and self.shown_step == self._step else None

    @property
    def candidates(self) -> Candidates | None:
        """The candidates, unless they are of another step, or the engine learns."""
        found = self._model.candidates
        is_of_step = found is not None and found.step == self.shown_step - 1
        return found if is_of_step and not self._is_learning_at_head() else None

    def refresh(self) -> None:
        is_next = self._model.step == self._refreshed_step + 1
        self._refreshed_at, self._refreshed_step = time.monotonic(), self._model.step
        is_asked = self._prediction.is_on and self._model.history is not None and self._model.history.has_steps
        self._splitter.setVisible(not is_asked)
        self.prediction_view.setVisible(is_asked)
        self.side.setVisible(not is_asked)
        if is_asked:
            self._patience.stop()
            self._top.show_nothing()
            self._words.show_words(None)
            self.candidates_view.show_ranking(Ranking(), may_have_more=False)
            self._show_heading()
            return
        self.limit = _FIRST_CANDIDATES
        if self._is_learning_at_head():
            if self.middle.currentWidget() is not self.candidates_view:
                self._show_message()
            elif not self._patience.isActive():  # a short run is over by then
                self._wait_patiently()
        else:
            history = self._model.history
            is_read = history is None or history.is_whole or history.is_damaged
            if is_read:  # otherwise they are requested once the project has been read
                self._model.request_candidates(self.limit, self.shown_step - 1)
            if self.candidates is None:
                self._wait_patiently()
        self._show_formula()
        if is_next and self.is_animated and self.merge is not None:
            self.formula.joining.start()
        self._show_words()

    def _wait_patiently(self) -> None:
        self._is_patient = False
        self._patience.start()

    def _is_learning_at_head(self) -> bool:
        """Return whether the step follows the engine as it learns: no one could read its candidates."""
        return self._model.state is TrainerState.TRAINING and self._model.is_at_head

    def _show_heading(self) -> None:
        step, count = self._step, self._model.merge_count
        ended_empty = not count and self._model.state is TrainerState.FINISHED and not self._prediction.is_on
        config = self._model.config
        if config is None or self._model.history is None or ended_empty:
            self.set_heading()
            return
        if self._prediction.is_on:
            before = filled(self.tr("before merge {step}"), step=step + 1)
            short = " · ".join(filter(None, (before, self._prediction.tally)))
            order = self.tr("alphabetical order")
            if self._prediction.has_more:
                order = filled(self.tr("the {count} best in alphabetical order"), count=self._prediction.limit)
            whole = f"{short} · {order}"
            first = short if self._prediction.is_revealed else whole
            self.set_heading(first, short, title=self.tr("Which pair is merged next?"))
            return
        title, pair = self.tr("Candidates for merge {step} of {count}"), self._shown_pair()
        if not step:
            title = self.tr("Candidates for the next merge")
        elif self._model.is_after:
            title = self.tr("Candidates after merge {step} of {count}")
        elif isinstance(pair, Candidate):
            title = self.tr("{pair}, a candidate for merge {step} of {count}")
        name = "" if pair is None else _pair_name(pair)
        hints = *self._decision(), *tie_rule_names(config.tie)
        self.set_heading(*hints, title=filled(title, step=step, count=count, pair=name))

    def _decision(self) -> tuple[str, ...]:
        """Return what decided for the merge, or decides for the best candidate, if it is one of several equal pairs."""
        history, config = self._model.history, self._model.config
        pair = self.merge or next(iter(self.candidates.pairs if self.candidates is not None else ()), None)
        ties = self.merge.ties if self.merge is not None else self.candidates_view.ranking.tied_rows
        if history is None or config is None or pair is None or ties < 2 or self._is_chosen:
            return ()
        return tie_decision(pair, ties, history, self.shown_step - 1, config)

    def _show_formula(self) -> None:
        history, config, pair = self._model.history, self._model.config, self._shown_pair()
        self._show_heading()
        if history is None or config is None or pair is None:
            self._top.show_nothing()
            return
        ties = self.merge.ties if self.merge is not None else self.candidates_view.ranking.tied_rows
        is_tied = (not isinstance(pair, Candidate) or pair.is_tied) and not self._is_chosen
        decision = next(iter(self._decision()), "")
        self._top.show_pair(pair, history, config, self.shown_step - 1, ties=ties if is_tied else 1, decision=decision)

    def _shown_pair(self) -> Merge | Candidate | None:
        """Return the chosen candidate, or else the merge of the step, or else (at step 0) the best candidate."""
        candidates, chosen = self.candidates.pairs if self.candidates is not None else (), self._chosen
        if self.merge is not None and (chosen is None or is_of(chosen, self.merge)):
            return self.merge
        found = None if chosen is None else next((each for each in candidates if is_of(chosen, each)), None)
        return found or self.merge or next(iter(candidates), None)

    def _show_candidates(self, candidates: Candidates) -> None:
        history, config, pairs = self._model.history, self._model.config, candidates.pairs
        if history is not None and config is not None:
            ranking = Ranking(pairs, config.objective, history.symbols_after(candidates.step))
            tied = ranking.tied_rows  # of those that are known here
            ties = self.merge.ties if self.merge is not None and not self._is_chosen else tied
            text = _tr("Tie of {count} or more") if self.merge is None and tied == self.limit else _tr("Tie of {count}")
            ranking.tie_text = filled(text, count=ties)
            ranking.tie_rule = tie_rule_sentence(config.tie, ties)  # in the tips of rows
            if self._is_chosen:
                ranking.merged_text = _tr("Chosen") if self.merge is None else _tr("✓ chosen")
            elif tied > 1 and self.merge is not None:
                ranking.merged_text = _tr("✓ merged")
            self.candidates_view.show_ranking(ranking, may_have_more=len(pairs) >= self.limit)
        self._show_message()
        self._mark_selection()

    def _show_message(self) -> None:
        candidates, can_pause, text = self.candidates, False, ""
        if self._model.history is None:
            self.middle.show_nothing(self.tr("Add a text and train to see why each pair is merged."))
            return
        if not self._model.history.has_steps:
            text = self.tr("This run has no record of merges: it was trained with another library, extended or pruned.")
        elif self._is_learning_at_head():
            text = self.tr("Training is running. Pause, or go back to an earlier step, to see the candidates.")
            can_pause = True
        elif candidates is not None and not candidates.available:
            text = self.tr("The candidates cannot be computed: there is not enough memory.")
            if can_pause := self._model.state is TrainerState.TRAINING:
                text = self.tr("There is not enough memory for a second engine during training. Pause to see the "
                               "candidates.")  # fmt: skip
        elif candidates is not None and not candidates.pairs:
            text = self.tr("No pair is left to merge.")
        self.middle.show_message(text, can_pause=can_pause)

    def _mark_selection(self) -> None:
        selection, history = self._model.selection, self._model.history
        left = right = ""
        if selection is not None and selection.kind == "pair":
            left, right = selection.left, selection.right
        elif selection is not None and selection.kind == "token" and history is not None:
            token_id = history.vocabulary(len(history)).id_of(selection.text)
            if token_id is not None and (birth := history.birth_step(token_id)):
                left, right = history[birth - 1].left, history[birth - 1].right
        self.candidates_view.mark_row(self.candidates_view.ranking.row_of(left, right))
        self._words.mark_word(selection.text if selection is not None and selection.kind == "word" else "")

    def _show_words(self) -> None:
        history, selection, pair = self._model.history, self._chosen, self._shown_pair()
        step, is_after = self._step, self._model.is_after
        made = history[step - 1].token if history is not None and step else ""
        if selection is not None and selection.kind == "token" and selection.text == made:
            selection = None  # which is in no word before the merge
        if selection is None and pair is not None and not (step and is_after):
            selection = Selection("pair", left=pair.left, right=pair.right)
        request = None
        if history is not None and (selection is not None or step):
            in_order = self._model.in_text_order(history.word_count)
            are_all = in_order and history.word_count <= TOY_WORDS and self._chosen is None
            request = WordsRequest(history, step, selection, is_after, in_order, are_all)
        self._words.show_words(request)
        self.fit()
        self._mark_selection()

    # -- events

    def _on_model_step_changed(self) -> None:
        self._chosen = None  # it stays selected, but here the merge of the step comes first
        is_scrubbed = self._model.state is not TrainerState.TRAINING or not self._model.is_at_head
        is_dragged = time.monotonic() < self._refreshed_at + _BUSY_DELAY_MS / 1000
        self.refresh_later(0 if is_scrubbed and not is_dragged else _BUSY_DELAY_MS)

    def _on_model_merges_appended(self, first: int) -> None:
        if self._model.step < first:  # otherwise the step follows, with a signal of its own
            self._show_heading()

    def _on_model_selection_changed(self, selection: Selection | None) -> None:
        is_shown = selection is not None and selection.kind == "word" and self._words.mark_word(selection.text)
        if not is_shown:  # otherwise the word is marked among those already shown
            self._chosen = selection
        if self.is_current and not self._prediction.is_on:
            self._show_formula()
            self._show_words()

    def _on_model_candidates_changed(self) -> None:
        candidates = self.candidates
        if candidates is None or self._prediction.is_on:
            return
        self._patience.stop()
        self._show_candidates(candidates)
        if self.merge is None or (self._chosen is not None and self._chosen.kind == "pair"):
            self._show_formula()
            self._show_words()

    def _on_patience_timeout(self) -> None:
        """Hide candidates of another step, which must not stand below the formula of this one."""
        if not self._is_patient:  # the window itself was busy, and the answer may be queued behind this timer
            self._is_patient = True
            self._patience.start()
            return
        if self._is_learning_at_head():
            self._show_message()
        else:
            self.middle.show_message(self.tr("Computing the candidates of this merge…"))

    def _on_candidates_view_item_chosen(self, row: int) -> None:
        candidate = self.candidates_view.ranking[row]
        self._choose(Selection("pair", left=candidate.left, right=candidate.right))

    def _on_candidates_view_more_wanted(self) -> None:
        shown = len(self.candidates.pairs) if self.candidates is not None else 0
        if shown == self.limit < _MOST_CANDIDATES:  # otherwise the answer is still to come
            self.limit = min(2 * self.limit, _MOST_CANDIDATES)
            self._model.request_candidates(self.limit, self.shown_step - 1)

    def _on_words_view_item_chosen(self, row: int) -> None:
        self._choose(Selection("word", text=self._words.words.records[row].word))

    def _choose(self, selection: Selection) -> None:
        if selection == self._model.selection:  # chosen at another step, and now again at this one
            self._on_model_selection_changed(selection)
        else:
            self._model.set_selection(selection)
