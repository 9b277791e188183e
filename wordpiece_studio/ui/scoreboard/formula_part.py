"""The upper part of the scoreboard: a pair with its formula filled in, its ratio, and the rule where it was a tie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from wordpiece_studio.ui.look.formula import Formula, formula_of
from wordpiece_studio.ui.look.plain import plain_label, set_plain_text, set_plain_tooltip
from wordpiece_studio.ui.scoreboard.formula_line import FormulaLine, Run
from wordpiece_studio.ui.scoreboard.wording import ratio_line, ratio_sentences, tie_rule_sentence, value_name

if TYPE_CHECKING:
    from wordpiece_studio.core.training.config import TrainingConfig
    from wordpiece_studio.core.training.history import MergeHistory
    from wordpiece_studio.core.training.records import Candidate, Merge
    from wordpiece_studio.ui.look.theme import Theme


class FormulaPart(QWidget):
    """One pair, explained."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_low = False
        self._history: MergeHistory | None = None
        self._words = 0  # of its corpus, weighted
        self._shown: tuple[str, Merge | Candidate, Formula] | None = None
        self.line = FormulaLine(theme, self)
        self.ratio = plain_label("", self, role="hint", wrap=True)
        self.tie = plain_label("", self, role="hint", wrap=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 0, 14, 0)
        layout.setSpacing(2)
        for part in (self.line, self.ratio, self.tie):
            layout.addWidget(part)
        self.show_nothing()

    def show_nothing(self) -> None:
        """Show no pair."""
        self._shown = self._history = None
        self.line.set_runs((), "")
        self.hide()

    def show_pair(
        self, pair: Merge | Candidate, history: MergeHistory, config: TrainingConfig, moment: int, *, ties: int
    ) -> None:
        """Show a pair as it stands at `moment`; `ties` is how many had the best value where it was chosen."""
        if history is not self._history:
            self._history, self._words = history, history.total_words
        symbols, words = history.symbols_after(moment), self._words
        formula = formula_of(config.objective, pair, symbols)
        self._shown = (value_name(config.objective), pair, formula)
        sentences = ratio_sentences(pair, symbols, words)
        rule = tie_rule_sentence(config.tie, ties) if ties > 1 else ""
        set_plain_text(self.ratio, ratio_line(pair, symbols))
        set_plain_text(self.tie, rule)
        set_plain_tooltip(self.ratio, sentences)
        set_plain_tooltip(self.line, "\n".join(filter(None, (self._spoken(), sentences, rule))))
        self._show_line()
        self._show_notes()
        self.show()

    def set_low(self, is_low: bool) -> None:
        """Take as little height as can be, or what it needs."""
        if is_low != self._is_low:
            self._is_low = is_low
            self._show_line()
            self._show_notes()

    def _spoken(self) -> str:
        if self._shown is None:
            return ""
        name, pair, formula = self._shown
        return f"{name}: {pair.left} + {pair.right} → {pair.token}, {formula.text}"

    def _show_line(self) -> None:
        if self._shown is None:
            return
        name, pair, formula = self._shown
        runs = [Run(name, "muted"), Run(pair.left, "chip"), Run("+", "muted"), Run(pair.right, "chip")]
        runs += [Run("→", "muted"), Run(pair.token, "chip")]
        parts: tuple[str, ...] = (formula.rule, formula.numbers, *formula.reduced)
        if self._is_low and formula.numbers:
            parts = (formula.numbers,)
        runs += [Run(f"= {part}") for part in parts if part]
        runs.append(Run(f"= {formula.value}", "strong"))
        self.line.set_runs(runs, self._spoken())

    def _show_notes(self) -> None:
        self.ratio.setVisible(not self._is_low)
        self.tie.setVisible(not self._is_low and bool(self.tie.text()))
