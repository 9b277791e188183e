"""The upper part of the scoreboard: a pair with its formula filled in, its ratio, and the tie rule if it was a tie.

It has three levels of detail, each complete in itself; the pane decides which one there is room for. The sentences of
the scoreboard about values, ties and ratios are here too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QVBoxLayout, QWidget

from wordpiece_studio.training.engine import ratio_of, ratio_over_neighbours
from wordpiece_studio.ui.widgets.chip_area import ChipFlow
from wordpiece_studio.ui.widgets.chip_style import FlowItem
from wordpiece_studio.ui.widgets.explained import explain
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, set_plain_tooltip, wrapped_height
from wordpiece_studio.ui.widgets.token_text import formula_of, fraction_text, number_text, value_text

if TYPE_CHECKING:
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.engine import Candidate, Formula, Merge
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.widgets.theme import Theme

Detail = Literal["all", "formula", "numbers"]
"""Formula and sentences, the formula alone, or only its numbers."""

_SIDE, _SPACING = 14, 2
_SLACK = 0.85


def _tr(text: str) -> str:
    return QCoreApplication.translate("scoreboard", text)


def value_name(objective: str) -> str:
    return {"score": _tr("Score"), "likelihood": _tr("Gain"), "count": _tr("Count")}[objective]


def tie_rule_names(tie: str) -> tuple[str, str]:
    """Return the name of a tie rule, and a shorter form."""
    if tie == "ids":
        return _tr("Ties: lowest IDs first"), _tr("Ties: lowest IDs")
    return _tr("Ties: first occurrence in the corpus"), _tr("Ties: first occurrence")


def tie_rule_sentence(tie: str, count: int) -> str:
    """Return the tie rule explained in one sentence, for a tie of `count` pairs."""
    if tie == "ids":
        text = _tr(
            "Tie of {count}: the pair with the lowest left ID is merged; if those are equal, the lowest right ID."
        )
    else:
        text = _tr("Tie of {count}: the pair that occurs first is merged (earliest word, then leftmost position).")
    return text.format(count=number_text(count))


def tie_text(count: int, *, or_more: bool) -> str:
    """Return the text of a tie box."""
    text = _tr("Tie of {count} or more") if or_more else _tr("Tie of {count}")
    return text.format(count=number_text(count))


def ratio_line(pair: Merge | Candidate, symbols: int) -> str:
    """Return the ratio of a pair in one plain sentence, with what it is normalized by."""
    text = _tr(
        "The pair occurs {ratio} times as often as expected by chance: p(ab) / (p(a) × p(b)), where N = {symbols}."
    )
    return text.format(ratio=value_text(float(ratio_of(pair, symbols))), symbols=number_text(symbols))


def ratio_sentences(pair: Merge | Candidate, symbols: int, words: int) -> str:
    """Return the ratio worked out, and the other way to normalize it.

    Parameters
    ----------
    symbols, words
        N, and the number of words in the corpus, both weighted.
    """
    ratio, other = ratio_of(pair, symbols), ratio_over_neighbours(pair, symbols, words)
    numbers = [number_text(n) for n in (pair.pair_frequency, symbols, pair.left_frequency, pair.right_frequency)]
    exact, value = fraction_text(ratio), value_text(float(ratio))
    equal = " = ".join(dict.fromkeys((exact, value)))
    lines = [
        "p(ab) / (p(a) × p(b)) = n(ab) × N / (n(a) × n(b)) = {} × {} / ({} × {}) = ".format(*numbers) + equal,
        _tr(
            "All three probabilities are counts divided by N = {symbols}, the number of symbols in the corpus, so the "
            "ratio is the score times N. If symbols were drawn independently, p(ab) would be p(a) × p(b)."
        ).format(symbols=numbers[1]),
    ]
    if other is not None:
        text = _tr(
            "If n(ab) is divided by the number of adjacent pairs instead, P = {pairs} (N minus the number of words, "
            "{words}), the ratio is {other}."
        )
        counts = (number_text(symbols - words), number_text(words), value_text(float(other)))
        lines.append(text.format(**dict(zip(("pairs", "words", "other"), counts, strict=True))))
    return "\n".join(lines)


class FormulaPart(QWidget):
    """One pair, explained."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._detail: Detail = "all"
        self._rule = ""  # for ties, set even if this is not one
        self._history: MergeHistory | None = None
        self._words = 0  # of its corpus, weighted
        self._shown: tuple[str, Merge | Candidate, Formula] | None = None
        self.line = ChipFlow(theme, self, points=1, gap=8)
        self.ratio = plain_label("", self, role="hint", wrap=True)
        self.tie = plain_label("", self, role="hint", wrap=True)
        explain("merge-score", self)
        explain("tie", self.tie)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(_SIDE, 0, _SIDE, 0)
        layout.setSpacing(_SPACING)
        for part in (self.line, self.ratio, self.tie):
            layout.addWidget(part)
        self.show_nothing()

    def show_nothing(self) -> None:
        """Show no pair."""
        self._shown = self._history = None
        self.line.show_items((), "")
        self.hide()

    def show_pair(
        self, pair: Merge | Candidate, history: MergeHistory, config: TrainingConfig, step: int, *, ties: int
    ) -> None:
        """Show a pair as of `step`; `ties` is how many pairs shared the best value when it was chosen."""
        if history is not self._history:
            self._history, self._words = history, history.total_words
        symbols, words = history.symbols_after(step), self._words
        formula = formula_of(config.objective, pair, symbols)
        self._shown = (value_name(config.objective), pair, formula)
        sentences = ratio_sentences(pair, symbols, words)
        rule = tie_rule_sentence(config.tie, ties) if ties > 1 else ""
        self._rule = tie_rule_sentence(config.tie, max(ties, 2))
        set_plain_text(self.ratio, ratio_line(pair, symbols))
        set_plain_text(self.tie, rule)
        set_plain_tooltip(self.ratio, sentences)
        set_plain_tooltip(self.line, "\n".join(filter(None, (self._spoken(), sentences, rule))))
        self._show_line()
        self._show_notes()
        self.show()

    def set_detail(self, detail: Detail) -> None:
        """Set the level of detail."""
        if detail != self._detail:
            self._detail = detail
            self._show_line()
            self._show_notes()

    def needed_height(self, detail: Detail, width: int) -> int:
        """Return the height in pixels of this detail in a pane of this width; 0 while no pair is shown.

        It hardly varies between merges, so that the pane does not change its layout while stepping: room for the tie
        rule is always included, and a formula that just fits counts as one that does not.
        """
        if self._shown is None:
            return 0
        width -= 2 * _SIDE
        height = self.line.height_of(self._items(detail), width if detail == "numbers" else int(width * _SLACK))
        if detail == "all":
            for label, text in ((self.ratio, self.ratio.text()), (self.tie, self._rule)):
                height += _SPACING + wrapped_height(label, text, int(width * _SLACK))
        return height

    def _spoken(self) -> str:
        if self._shown is None:
            return ""
        name, pair, formula = self._shown
        return f"{name}: {pair.left} + {pair.right} → {pair.token}, {formula.text}"

    def _show_line(self) -> None:
        if self._shown is not None:
            self.line.show_items(self._items(self._detail), self._spoken())

    def _items(self, detail: Detail) -> list[FlowItem]:
        if self._shown is None:
            return []
        name, pair, formula = self._shown
        items = [FlowItem(name), FlowItem(pair.left, "chip"), FlowItem("+"), FlowItem(pair.right, "chip")]
        items += [FlowItem("→"), FlowItem(pair.token, "chip")]
        parts: tuple[str, ...] = (formula.rule, formula.numbers, *formula.reduced)
        if detail == "numbers" and formula.numbers:
            parts = (formula.numbers,)
        items += [FlowItem(f"= {part}", "value") for part in parts if part]
        return [*items, FlowItem(f"= {formula.value}", "strong")]

    def _show_notes(self) -> None:
        self.ratio.setVisible(self._detail == "all")
        self.tie.setVisible(self._detail == "all" and bool(self.tie.text()))
