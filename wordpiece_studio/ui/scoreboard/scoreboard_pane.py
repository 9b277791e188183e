"""The scoreboard: the merge of the moment with its formula filled in, the rivals it beat, the words it changed.

At moment k it shows the merge that made it, step k, and the rivals of that step as they stood at k - 1; at moment 0
the rivals for merge 1. Every number is the history's or the trainer's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from wordpiece_studio.model.records import Focus, Rivals, TrainerState
from wordpiece_studio.ui.look.pane import Pane
from wordpiece_studio.ui.look.plain import plain_label, set_plain_text, set_plain_tooltip
from wordpiece_studio.ui.look.token_text import number_text, token_text
from wordpiece_studio.ui.scoreboard.formula import formula_of
from wordpiece_studio.ui.scoreboard.formula_line import FormulaLine, Run
from wordpiece_studio.ui.scoreboard.pair_words import NO_WORDS, PairWords, words_of_merge, words_of_pair
from wordpiece_studio.ui.scoreboard.rivals_view import RivalsView
from wordpiece_studio.ui.scoreboard.words_view import WordsView

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from wordpiece_studio.core.training.history import MergeHistory
    from wordpiece_studio.core.training.records import Candidate, Merge
    from wordpiece_studio.model.trainer_model import TrainerModel
    from wordpiece_studio.ui.look.theme import Theme

_LIMIT = 30
_BUSY_DELAY_MS = 100
"""While training the pane is refreshed ten times a second: faster cannot be read."""
_PATIENCE_MS = 80
_LOW_LINES, _WORDLESS_LINES = 13, 11
"""A pane of fewer lines of text is low: the numbers come before the rule and the fraction; and of still fewer, the
rivals before the words."""
_HIGH_LINES, _FEW_WORDS = 15, 3
"""A pane of at least so many lines of text shows three words at once."""


class ScoreboardPane(Pane):
    """Why this pair, and not another one."""

    def __init__(self, model: TrainerModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._rivals: Rivals | None = None
        self._focused_at = 0
        self._is_low = False
        self._has_words = True
        self._is_patient = False
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(_PATIENCE_MS)
        self._formula = FormulaLine(theme, self)
        self._rivals_view = RivalsView(theme, self)
        self._message = plain_label("", self, role="hint", wrap=True)
        self._words_title = plain_label("", self, role="heading", wrap=True)
        self._words_view = WordsView(theme, self)
        self._lay_out()
        self._connect()
        self.set_heading(self.tr("Scoreboard"))

    # -- set-up

    def _lay_out(self) -> None:
        self._message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._message.setContentsMargins(24, 8, 24, 8)
        self._middle = QStackedWidget(self)
        self._middle.addWidget(self._rivals_view)
        self._middle.addWidget(self._message)
        self._words = QWidget(self)
        words = QVBoxLayout(self._words)
        words.setContentsMargins(14, 4, 6, 4)
        words.setSpacing(2)
        words.addWidget(self._words_title)
        words.addWidget(self._words_view, 1)
        self._splitter = QSplitter(Qt.Orientation.Vertical, self)
        self._splitter.addWidget(self._middle)
        self._splitter.addWidget(self._words)
        self._splitter.setStretchFactor(0, 2)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setSizes([190, 110])
        self._splitter.setChildrenCollapsible(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.setSpacing(4)
        top = QVBoxLayout()
        top.setContentsMargins(14, 0, 14, 0)
        top.addWidget(self._formula)
        layout.addLayout(top)
        layout.addWidget(self._splitter, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out the words and the rule of the formula in a low pane."""
        super().resizeEvent(event)
        line = self.fontMetrics().height()
        is_low, has_words = self.height() < _LOW_LINES * line, self.height() >= _WORDLESS_LINES * line
        if (is_low, has_words) != (self._is_low, self._has_words):
            self._is_low, self._has_words = is_low, has_words
            self._words.setVisible(has_words and bool(self._words_title.text()))
            self._show_formula()
        self._show_heading()
        self._words_view.show_rows(_FEW_WORDS if self.height() >= _HIGH_LINES * self.fontMetrics().height() else 1)

    def _connect(self) -> None:
        self._model.moment_changed.connect(self._on_model_moment_changed)
        self._model.run_reset.connect(self._on_model_run_reset)
        self._model.state_changed.connect(self._on_model_state_changed)
        self._model.merges_appended.connect(self._on_model_merges_appended)
        self._model.focus_changed.connect(self._on_model_focus_changed)
        self._model.rivals_changed.connect(self._on_model_rivals_changed)
        self._patience.timeout.connect(self._on_patience_timeout)
        self._rivals_view.rival_chosen.connect(self._on_rivals_view_rival_chosen)
        self._words_view.word_chosen.connect(self._on_words_view_word_chosen)

    # -- what is shown

    @property
    def shown_step(self) -> int:
        """The step whose rivals are shown, from 1: the one that made the moment, or the first one."""
        return max(self._model.moment, 1)

    @property
    def merge(self) -> Merge | None:
        """The merge shown, or None at moment 0 and before anything was trained."""
        history = self._model.history
        return history[self._model.moment - 1] if history is not None and self._model.moment else None

    def refresh(self) -> None:
        self._show_heading()
        self._show_formula()
        self._is_patient = False
        self._model.request_rivals(_LIMIT, self.shown_step - 1)
        if self._rivals is None or self._rivals.moment != self.shown_step - 1:
            self._patience.start()
        self._show_words()

    def _show_heading(self) -> None:
        moment, count = self._model.moment, self._model.merge_count
        ended_empty = not count and self._model.state is TrainerState.FINISHED
        if self._model.history is None or ended_empty:
            self.set_heading(self.tr("Scoreboard"))
            return
        if moment:
            title = self.tr("Scoreboard: merge {step} of {count}")
        else:
            title = self.tr("Scoreboard: next merge")
        title = title.format(step=number_text(moment), count=number_text(count))
        self.set_heading(title, self.fitting_hint(title, *self._tie_rules()))

    def _tie_rules(self) -> tuple[str, str]:
        """The rule for ties, and the same shorter."""
        config = self._model.config
        if config is not None and config.tie == "ids":
            return self.tr("ties go to the pair with the smallest ids"), self.tr("ties: smallest ids")
        return self.tr("ties go to the pair that occurs first"), self.tr("ties: the first pair")

    def _value_name(self) -> str:
        config = self._model.config
        names = {"score": self.tr("score"), "likelihood": self.tr("gain"), "count": self.tr("count")}
        return names[config.objective if config is not None else "score"]

    def _show_formula(self) -> None:
        history, shown = self._model.history, self._shown_pair()
        if history is None or shown is None:
            self._formula.set_runs((), "")
            self._formula.setVisible(False)
            return
        objective = self._model.config.objective if self._model.config is not None else "score"
        formula = formula_of(objective, shown, history.symbols_after(self.shown_step - 1))
        name = self._value_name()
        runs = [Run(name, "muted"), Run(shown.left, "chip"), Run("+", "muted"), Run(shown.right, "chip")]
        runs += [Run("→", "muted"), Run(shown.token, "chip")]
        rule, fraction = formula.rule, formula.fraction
        if self._is_low and formula.numbers:
            rule = fraction = ""
        runs += [Run(f"= {part}") for part in (rule, formula.numbers, fraction) if part]
        runs.append(Run(f"= {formula.value}", "strong"))
        spoken = f"{name}: {shown.left} + {shown.right} → {shown.token}, {formula.text}"
        self._formula.set_runs(runs, spoken)
        set_plain_tooltip(self._formula, spoken)
        self._formula.setVisible(True)

    def _shown_pair(self) -> Merge | Candidate | None:
        """The merge of the moment; at moment 0 the best rival, as soon as it is known."""
        if self.merge is not None:
            return self.merge
        rivals = self._rivals
        return rivals.candidates[0] if rivals is not None and rivals.moment == 0 and rivals.candidates else None

    def _show_rivals(self, rivals: Rivals) -> None:
        objective = self._model.config.objective if self._model.config is not None else "score"
        history = self._model.history
        symbols = history.symbols_after(rivals.moment) if history is not None else 0
        formulas = [formula_of(objective, candidate, symbols).text for candidate in rivals.candidates]
        self._rivals_view.rivals.set_rivals(rivals.candidates, formulas, self._value_name())
        self._rivals_view.set_tie_text(self._tie_text())
        message = self._message_for(rivals)
        set_plain_text(self._message, message)
        self._middle.setCurrentWidget(self._message if message else self._rivals_view)
        self._mark_focused_pair()

    def _tie_text(self) -> str:
        tied = self._rivals_view.rivals.tied_rows
        if self.merge is not None:
            return self.tr("tie of {count}").format(count=number_text(self.merge.ties))
        if tied == _LIMIT:
            return self.tr("tie of {count} or more").format(count=number_text(tied))
        return self.tr("tie of {count}").format(count=number_text(tied))

    def _message_for(self, rivals: Rivals) -> str:
        if self._model.history is None:
            return self.tr("Nothing is trained yet. Train, and see here why each pair won.")
        if self._model.state is TrainerState.TRAINING:
            return self.tr("Pause to see the rivals of this merge.")
        if not rivals.available:
            return self.tr("The rivals are not known: the engine of this training is gone. Train again to see them.")
        if not rivals.candidates:
            return self.tr("No pair is left to merge.")
        return ""

    def _mark_focused_pair(self) -> None:
        focus = self._model.focus
        if focus is not None and focus.kind == "pair":
            self._rivals_view.show_pair(focus.left, focus.right)
        else:
            self._rivals_view.show_pair("", "")

    def _show_words(self) -> None:
        history = self._model.history
        left, right, token, words = self._words_of_interest(history) if history is not None else ("", "", "", NO_WORDS)
        self._words_view.show_words(words)
        self._words.setVisible(bool(token) and self._has_words)  # an empty table would take the keyboard
        if not token:
            set_plain_text(self._words_title, "")
            return
        pair = f"{token_text(left)} + {token_text(right)}"
        if words.total == 1:
            text = self.tr("In one word: {pair}")
        elif words.total == 0:
            text = self.tr("In no word at this moment: {pair}")
        else:
            text = self.tr("In {count} words, the most frequent first: {pair}")
        set_plain_text(self._words_title, text.format(count=number_text(words.total), pair=pair))

    def _words_of_interest(self, history: MergeHistory) -> tuple[str, str, str, PairWords]:
        merge, focus = self._shown_pair(), self._model.focus
        # A pair that was chosen at another moment stays the focus, but here the merge of the moment comes first.
        is_chosen_here = focus is not None and focus.kind == "pair" and self._focused_at == self._model.moment
        focused = focus if is_chosen_here else None
        if focused is not None and (merge is None or (focused.left, focused.right) != (merge.left, merge.right)):
            token = self._token_of(focused)
            words = words_of_pair(history, focused.left, focused.right, token, self.shown_step - 1)
            return focused.left, focused.right, token, words
        if merge is None:
            return "", "", "", NO_WORDS
        if self._model.moment:
            words = words_of_merge(history, self._model.moment)
        else:
            words = words_of_pair(history, merge.left, merge.right, merge.token, 0)
        return merge.left, merge.right, merge.token, words

    def _token_of(self, pair: Focus) -> str:
        config = self._model.config
        prefix = config.continuing_subword_prefix if config is not None else ""
        return pair.left + pair.right.removeprefix(prefix)

    # -- what happens

    def _on_model_moment_changed(self, _moment: object) -> None:
        self.refresh_later(_BUSY_DELAY_MS if self._model.state is TrainerState.TRAINING else 0)

    def _on_model_run_reset(self) -> None:
        self._rivals = None
        self.refresh_later()

    def _on_model_state_changed(self, _state: object) -> None:
        self.refresh_later()

    def _on_model_merges_appended(self, _first: object, _last: object) -> None:
        self.refresh_later(_BUSY_DELAY_MS)

    def _on_model_focus_changed(self, _focus: object) -> None:
        self._focused_at = self._model.moment
        if self.isVisible():
            self._mark_focused_pair()
            self._show_words()

    def _on_model_rivals_changed(self, rivals: Rivals) -> None:
        if rivals.moment != self.shown_step - 1:
            return
        self._rivals = rivals
        self._patience.stop()
        self._show_rivals(rivals)
        if self.merge is None:
            self._show_formula()
            self._show_words()

    def _on_patience_timeout(self) -> None:
        """The rivals of another moment must not stand below the formula of this one."""
        if not self._is_patient:  # the window was busy itself, and the answer may be waiting behind this timer
            self._is_patient = True
            self._patience.start()
            return
        set_plain_text(self._message, self.tr("Going back in the training to see the rivals of this merge…"))
        self._middle.setCurrentWidget(self._message)

    def _on_rivals_view_rival_chosen(self, candidate: Candidate) -> None:
        self._model.set_focus(Focus("pair", left=candidate.left, right=candidate.right))

    def _on_words_view_word_chosen(self, word: str) -> None:
        self._model.set_focus(Focus("word", text=word))
