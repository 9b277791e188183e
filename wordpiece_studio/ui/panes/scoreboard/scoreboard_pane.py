"""The scoreboard: the merge of the step with its formula filled in, the candidates it beat, the words it changed.

At step k it shows merge k and its candidates, as they stood at step k - 1; at step 0, the candidates for merge 1. A
candidate, token or word chosen at the step takes precedence until the step changes. Every number comes from the
history or the trainer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QPushButton, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from wordpiece_studio.session.run import Candidates, Selection, TrainerState
from wordpiece_studio.session.selection import made_by
from wordpiece_studio.session.timers import single_shot
from wordpiece_studio.training.engine import Candidate
from wordpiece_studio.ui.panes.scoreboard.candidates_view import CandidatesView
from wordpiece_studio.ui.panes.scoreboard.formula_part import (
    Detail,
    FormulaPart,
    tie_rule_names,
    tie_rule_sentence,
    tie_text,
    value_name,
)
from wordpiece_studio.ui.panes.scoreboard.words_panel import WordsPanel, WordsWish
from wordpiece_studio.ui.widgets.painting import icon
from wordpiece_studio.ui.widgets.pane import EmptyState, Pane
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, set_plain_tooltip
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QResizeEvent

    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.engine import Merge
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.widgets.theme import Theme

_FIRST_CANDIDATES = 30
_MOST_CANDIDATES = 10_000
_BUSY_DELAY_MS = 100
"""During training the pane is refreshed ten times a second: no one can read faster."""
_PATIENCE_MS = 80
_LEAST_WIDTH, _TOP = 200, 6


class CandidatesPart(QStackedWidget):
    """Shows candidates or a message."""

    pause_wanted = Signal()
    """The button below the message was pressed."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = CandidatesView(theme, self)
        self._note = QWidget(self)
        self.message = plain_label("", self._note, role="hint", wrap=True)
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._theme = theme
        self.pause_button = QPushButton(self.tr("Pause"), self._note)
        set_plain_tooltip(self.pause_button, self.tr("Pause training to see the candidates"))
        layout = QVBoxLayout(self._note)
        layout.setContentsMargins(24, 4, 24, 4)
        layout.addStretch(1)
        layout.addWidget(self.message)
        layout.addWidget(self.pause_button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(1)
        self.addWidget(self.view)
        self.addWidget(self._note)
        self.nothing = EmptyState(self)
        self.addWidget(self.nothing)
        self._on_theme_changed()
        theme.changed.connect(self._on_theme_changed)
        self.pause_button.clicked.connect(self.pause_wanted)

    def show_candidates(
        self,
        candidates: Sequence[Candidate],
        config: TrainingConfig,
        symbols: int,
        limit: int,
        *,
        ties: int | None,
    ) -> None:
        """Show these candidates; if they only continue those already shown, nothing scrolls.

        Parameters
        ----------
        symbols
            N, see `formula_of`.
        limit
            How many were requested: if there are as many, there may be more.
        ties
            How many tie for the best value; None if only the candidates shown are known.
        """
        may_have_more = len(candidates) >= limit
        name = value_name(config.objective)
        if not self.view.add_candidates(candidates, config.objective, symbols, may_have_more=may_have_more):
            self.view.show_candidates(candidates, config.objective, symbols, name, may_have_more=may_have_more)
        tied = self.view.candidates.tied_rows
        text = tie_text(ties or tied, or_more=ties is None and tied == limit)
        self.view.set_tie_text(text, tie_rule_sentence(config.tie, ties or tied))

    def show_message(self, text: str, *, can_pause: bool = False) -> None:
        """Show a message in place of the table, with a button if pausing helps; an empty message shows the table."""
        set_plain_text(self.message, text)
        self.pause_button.setVisible(can_pause)
        self.setCurrentWidget(self._note if text else self.view)

    def show_nothing(self, text: str) -> None:
        """Show that nothing has been trained, with the command that trains."""
        self.nothing.show_text(text, offers=True)
        self.setCurrentWidget(self.nothing)

    def _on_theme_changed(self) -> None:
        self.pause_button.setIcon(icon("pause", self._theme.text))


class _Arrangement(NamedTuple):
    """The least that is shown: formula detail, rows of candidates and words, and whether the title is beside them."""

    detail: Detail
    candidates: int
    words: int
    is_low: bool


_ARRANGEMENTS = (
    _Arrangement("all", 6, 3, False),
    _Arrangement("formula", 6, 2, False),
    _Arrangement("formula", 6, 1, True),
    _Arrangement("formula", 6, 0, True),
    _Arrangement("numbers", 6, 0, True),
    _Arrangement("numbers", 2, 1, True),
    _Arrangement("numbers", 1, 1, True),
    _Arrangement("numbers", 1, 0, True),
)
"""The first one that fits is used, six candidates before the words; parts that do not fit are hidden completely."""


class ScoreboardPane(Pane):
    """Shows why this pair was merged and not another."""

    def __init__(self, model: TrainerModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self._candidates: Candidates | None = None
        self._limit = _FIRST_CANDIDATES
        self._chosen: Selection | None = None  # at this step
        self._is_patient = False
        self._patience = single_shot(self, self._on_patience_timeout, _PATIENCE_MS)
        self._top = FormulaPart(theme, self)
        self._formula = self._top.line
        self._middle = CandidatesPart(theme, self)
        self._candidates_view = self._middle.view
        self._words = WordsPanel(theme, self)
        self._lay_out()
        self._connect(theme)
        self.set_heading(self.tr("Merge candidates"))

    # -- set-up

    def _lay_out(self) -> None:
        self._splitter = QSplitter(Qt.Orientation.Vertical, self)
        self._splitter.addWidget(self._middle)
        self._splitter.addWidget(self._words)
        self._splitter.setStretchFactor(0, 2)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setSizes([190, 80])
        self._splitter.setChildrenCollapsible(False)
        layout = QVBoxLayout(self)
        layout.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)  # the contents adapt to the height
        layout.setContentsMargins(0, _TOP, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self._top)
        layout.addWidget(self._splitter, 1)

    def minimumSizeHint(self) -> QSize:
        """Scroll later than Qt would, which assumes that wrapped texts are as high as in a very narrow pane."""
        return QSize(_LEAST_WIDTH, self._needed_height(_ARRANGEMENTS[-1]))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_room()
        self._show_heading()

    def _share_room(self) -> None:
        room = self.height()
        chosen = next((each for each in _ARRANGEMENTS if self._needed_height(each) <= room), _ARRANGEMENTS[-1])
        self._top.set_detail(chosen.detail)
        self._words.set_room(max(chosen.words, 1), is_low=chosen.is_low)
        self._words.setVisible(self._words.wish is not None and chosen.words > 0)
        self._candidates_view.show_rows(chosen.candidates)

    def _needed_height(self, each: _Arrangement) -> int:
        width, between = self.width(), self._splitter.handleWidth() + 2
        top = self._top.needed_height(each.detail, width)
        words = self._words.needed_height(each.words, width, is_low=each.is_low) if each.words else 0
        return _TOP + top + self._candidates_view.needed_height(each.candidates) + words + between

    def _connect(self, theme: Theme) -> None:
        self._model.step_changed.connect(self._on_model_step_changed)
        self._model.state_changed.connect(self._on_model_state_changed)
        self._model.merges_appended.connect(self._on_model_merges_appended)
        self._model.selection_changed.connect(self._on_model_selection_changed)
        self._model.candidates_changed.connect(self._on_model_candidates_changed)
        theme.changed.connect(self._share_room)
        self._candidates_view.candidate_chosen.connect(self._on_candidates_view_candidate_chosen)
        self._candidates_view.more_wanted.connect(self._on_candidates_view_more_wanted)
        self._middle.pause_wanted.connect(self._model.pause)
        self._words.word_chosen.connect(self._on_words_word_chosen)

    def close_jobs(self) -> None:
        self._words.close_job()

    # -- contents

    @property
    def shown_step(self) -> int:
        """The merge whose candidates are shown, from 1: the merge of the step, or the first one at step 0."""
        return max(self._model.step, 1)

    @property
    def merge(self) -> Merge | None:
        """The merge shown; None at step 0 and before anything has been trained."""
        history = self._model.history
        return history[self._model.step - 1] if history is not None and self._model.step else None

    def forget(self) -> None:
        self._candidates = self._chosen = None

    def refresh(self) -> None:
        self._show_heading()
        self._limit = _FIRST_CANDIDATES
        if self._is_learning_at_head():
            self._candidates = None
            if self._middle.currentWidget() is not self._candidates_view:
                self._show_message()
            elif not self._patience.isActive():  # a short run is over by then
                self._wait_patiently()
        else:
            history = self._model.history
            if (
                history is None or history.is_whole or history.is_damaged
            ):  # otherwise they are requested once the project has been read
                self._model.request_candidates(self._limit, self.shown_step - 1)
            if not self._are_candidates_current():
                self._wait_patiently()
        self._show_formula()
        self._show_words()

    def _wait_patiently(self) -> None:
        self._is_patient = False
        self._patience.start()

    def _is_learning_at_head(self) -> bool:
        """Return whether the step follows the engine as it learns: no one could read its candidates."""
        return self._model.state is TrainerState.TRAINING and self._model.is_at_head

    def _show_heading(self) -> None:
        step, count = self._model.step, self._model.merge_count
        ended_empty = not count and self._model.state is TrainerState.FINISHED
        config = self._model.config
        if config is None or self._model.history is None or ended_empty:
            self.set_heading(self.tr("Merge candidates"))
            return
        if step:
            title = self.tr("Candidates for merge {step} of {count}")
        else:
            title = self.tr("Candidates for the next merge")
        title = title.format(step=number_text(step), count=number_text(count))
        self.set_heading(title, self.fitting_hint(title, *tie_rule_names(config.tie)))

    def _show_formula(self) -> None:
        history, config, pair = self._model.history, self._model.config, self._shown_pair()
        if history is None or config is None or pair is None:
            self._top.show_nothing()
            return
        self._top.show_pair(pair, history, config, self.shown_step - 1, ties=self._ties_of(pair))

    def _ties_of(self, pair: Merge | Candidate) -> int:
        """Return how many pairs share the best value, if this is one of them; otherwise 1."""
        if isinstance(pair, Candidate) and not pair.is_tied:
            return 1
        return self.merge.ties if self.merge is not None else self._candidates_view.candidates.tied_rows

    def _shown_pair(self) -> Merge | Candidate | None:
        """Return the chosen candidate, or else the merge of the step, or else (at step 0) the best candidate."""
        candidates = self._candidates.pairs if self._are_candidates_current() and self._candidates is not None else ()
        chosen = self._chosen
        if chosen is not None and chosen.kind == "pair":
            for candidate in candidates:
                if (candidate.left, candidate.right) == (chosen.left, chosen.right):
                    return candidate
        if self.merge is not None:
            return self.merge
        return candidates[0] if candidates else None

    def _are_candidates_current(self) -> bool:
        return self._candidates is not None and self._candidates.step == self.shown_step - 1

    def _show_candidates(self, candidates: Candidates) -> None:
        history, config, merge = self._model.history, self._model.config, self.merge
        if history is not None and config is not None:
            symbols, ties = history.symbols_after(candidates.step), merge.ties if merge is not None else None
            self._middle.show_candidates(candidates.pairs, config, symbols, self._limit, ties=ties)
        self._show_message()
        self._mark_selection()

    def _show_message(self) -> None:
        candidates, can_pause = self._candidates, False
        if self._model.history is None:
            self._middle.show_nothing(self.tr("Nothing has been trained yet. Train to see why each pair is merged."))
            return
        if not self._model.history.has_steps:
            text = self.tr("This run was trained with another library, which does not record merges.")
        elif self._is_learning_at_head():
            text = self.tr("Training is running. Pause, or go back to an earlier step, to see the candidates.")
            can_pause = True
        elif candidates is not None and not candidates.available and self._model.state is TrainerState.TRAINING:
            text = self.tr(
                "There is not enough memory for a second engine during training. Pause to see the candidates."
            )
            can_pause = True
        elif candidates is not None and not candidates.available:
            text = self.tr("The candidates cannot be computed: there is not enough memory.")
        elif candidates is not None and not candidates.pairs:
            text = self.tr("No pair is left to merge.")
        else:
            text = ""
        self._middle.show_message(text, can_pause=can_pause)

    def _mark_selection(self) -> None:
        selection, history = self._model.selection, self._model.history
        left = right = ""
        if selection is not None and selection.kind == "pair":
            left, right = selection.left, selection.right
        elif selection is not None and selection.kind == "token" and history is not None:
            left, right = _parents(history, selection.text)
        self._candidates_view.show_pair(left, right)
        self._words.mark_word(selection.text if selection is not None and selection.kind == "word" else "")

    def _show_words(self) -> None:
        wish = self._wish()
        self._words.show_words(wish)
        self._share_room()
        self._mark_selection()

    def _wish(self) -> WordsWish | None:
        history, merge, chosen, step = self._model.history, self._shown_pair(), self._chosen, self._model.step
        if history is None:
            return None
        if chosen is not None and (chosen.kind != "pair" or merge is None or not _is_of(chosen, merge)):
            prefix = history.config.continuing_subword_prefix
            return WordsWish(history, step, chosen, made_by(chosen, prefix))
        if merge is None:
            return None
        pair = Selection("pair", left=merge.left, right=merge.right)
        is_merge = self.merge is not None and _is_of(pair, self.merge)
        return WordsWish(history, step, pair, merge.token, is_merge)

    # -- events

    def _on_model_step_changed(self, _step: object) -> None:
        self._chosen = None  # it stays selected, but here the merge of the step comes first
        is_scrubbed = self._model.state is not TrainerState.TRAINING or not self._model.is_at_head
        self.refresh_later(0 if is_scrubbed else _BUSY_DELAY_MS)

    def _on_model_state_changed(self, _state: object) -> None:
        self.refresh_later()

    def _on_model_merges_appended(self, first: int, _last: object) -> None:
        if self._model.step < first:  # otherwise the step follows, with a signal of its own
            self._show_heading()

    def _on_model_selection_changed(self, selection: Selection | None) -> None:
        is_shown = selection is not None and selection.kind == "word" and self._words.mark_word(selection.text)
        if not is_shown:  # otherwise the word is marked among those already shown
            self._chosen = selection
        if self.is_current:
            self._show_formula()
            self._show_words()

    def _on_model_candidates_changed(self, candidates: Candidates) -> None:
        if candidates.step != self.shown_step - 1 or self._is_learning_at_head():
            return
        self._candidates = candidates
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
            self._middle.show_message(self.tr("Computing the candidates of this merge…"))

    def _on_candidates_view_candidate_chosen(self, candidate: Candidate) -> None:
        self._choose(Selection("pair", left=candidate.left, right=candidate.right))

    def _on_candidates_view_more_wanted(self) -> None:
        shown = len(self._candidates.pairs) if self._candidates is not None else 0
        if shown == self._limit < _MOST_CANDIDATES:  # otherwise the answer is still to come
            self._limit = min(2 * self._limit, _MOST_CANDIDATES)
            self._model.request_candidates(self._limit, self.shown_step - 1)

    def _on_words_word_chosen(self, word: str) -> None:
        self._choose(Selection("word", text=word))

    def _choose(self, selection: Selection) -> None:
        if selection == self._model.selection:  # chosen at another step, and now again at this one
            self._on_model_selection_changed(selection)
        else:
            self._model.set_selection(selection)


def _is_of(pair: Selection, merge: Merge | Candidate) -> bool:
    return (pair.left, pair.right) == (merge.left, merge.right)


def _parents(history: MergeHistory, token: str) -> tuple[str, str]:
    """Return the pair that was merged into a token; two empty strings if it was not made by a merge."""
    token_id = history.vocabulary(len(history)).id_of(token)
    birth = 0 if token_id is None else history.birth_step(token_id)
    if not birth:
        return "", ""
    merge = history[birth - 1]
    return merge.left, merge.right
