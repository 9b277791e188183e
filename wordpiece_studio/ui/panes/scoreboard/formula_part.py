"""The upper part of the scoreboard: a pair with its formula filled in, its ratio, and the tie rule if it was a tie.

It has three levels of detail, each complete in itself; the pane decides which one there is room for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from wordpiece_studio.ui.panes.scoreboard.wording import ratio_line, ratio_sentences, tie_rule_sentence, value_name
from wordpiece_studio.ui.widgets.chip_style import ChipStyle
from wordpiece_studio.ui.widgets.formula import Formula, formula_of
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, set_plain_tooltip

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.engine import Candidate, Merge
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.widgets.theme import Theme

_GAP = 8.0
_LINE_GAP = 5.0
Detail = Literal["all", "formula", "numbers"]
"""Formula and sentences, the formula alone, or only its numbers."""

_SIDE, _SPACING = 14, 2
_SLACK = 0.85


@dataclass(frozen=True, slots=True)
class _Run:
    """A chip, or an unbreakable piece of text: ordinary, muted or strong."""

    text: str
    kind: Literal["chip", "text", "muted", "strong"] = "text"


class FormulaLine(QWidget):
    """Paints runs of chips and text from left to right, in as many lines as they need."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._runs: Sequence[_Run] = ()
        self._restyle()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        theme.changed.connect(self._on_theme_changed)

    def set_runs(self, runs: Sequence[_Run], spoken: str) -> None:
        """Show these runs; `spoken` is the text for screen readers."""
        self._runs = tuple(runs)
        self.setAccessibleName(spoken)
        self.updateGeometry()
        self.update()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self.height_of(self._runs, width)

    def height_of(self, runs: Sequence[_Run], width: int) -> int:
        """Return the height in pixels of these runs in lines of this width."""
        bottom = max((rect.bottom() for _, rect in self._placed(runs, width)), default=self._style.height)
        return int(bottom + 1)

    def sizeHint(self) -> QSize:
        return QSize(420, self.heightForWidth(420))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self._style.height)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._on_theme_changed()

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for run, rect in self._placed(self._runs, self.width()):
                if run.kind == "chip":
                    self._style.paint(painter, rect, run.text)
                else:
                    painter.setFont(self._strong_font if run.kind == "strong" else self._style.font)
                    painter.setPen(self._theme.muted if run.kind == "muted" else self._theme.text)
                    painter.drawText(rect, int(Qt.AlignmentFlag.AlignVCenter), run.text)

    def _placed(self, runs: Sequence[_Run], width: int) -> Iterator[tuple[_Run, QRectF]]:
        x = y = 0.0
        for run in runs:
            needed = min(self._width_of(run), float(width))
            if x and x + needed > width:
                x, y = 0.0, y + self._style.height + _LINE_GAP
            yield run, QRectF(x, y, needed, self._style.height)
            x += needed + _GAP

    def _width_of(self, run: _Run) -> float:
        if run.kind == "chip":
            return self._style.width(run.text)
        font = self._strong_font if run.kind == "strong" else self._style.font
        return QFontMetricsF(font).horizontalAdvance(run.text) + 1

    def _restyle(self) -> None:
        self._style = ChipStyle(self._theme, 1)
        self._strong_font = self._theme.font(1, bold=True)

    def _on_theme_changed(self) -> None:
        self._restyle()
        self.updateGeometry()
        self.update()


class FormulaPart(QWidget):
    """One pair, explained."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._detail: Detail = "all"
        self._rule = ""  # for ties, set even if this is not one
        self._history: MergeHistory | None = None
        self._words = 0  # of its corpus, weighted
        self._shown: tuple[str, Merge | Candidate, Formula] | None = None
        self.line = FormulaLine(theme, self)
        self.ratio = plain_label("", self, role="hint", wrap=True)
        self.tie = plain_label("", self, role="hint", wrap=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(_SIDE, 0, _SIDE, 0)
        layout.setSpacing(_SPACING)
        for part in (self.line, self.ratio, self.tie):
            layout.addWidget(part)
        self.show_nothing()

    def show_nothing(self) -> None:
        """Show no pair."""
        self._shown = self._history = None
        self.line.set_runs((), "")
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
        height = self.line.height_of(self._runs(detail), width if detail == "numbers" else int(width * _SLACK))
        if detail == "all":
            for label, text in ((self.ratio, self.ratio.text()), (self.tie, self._rule)):
                height += _SPACING + _wrapped_height(label, text, width)
        return height

    def _spoken(self) -> str:
        if self._shown is None:
            return ""
        name, pair, formula = self._shown
        return f"{name}: {pair.left} + {pair.right} → {pair.token}, {formula.text}"

    def _show_line(self) -> None:
        if self._shown is not None:
            self.line.set_runs(self._runs(self._detail), self._spoken())

    def _runs(self, detail: Detail) -> list[_Run]:
        if self._shown is None:
            return []
        name, pair, formula = self._shown
        runs = [_Run(name, "muted"), _Run(pair.left, "chip"), _Run("+", "muted"), _Run(pair.right, "chip")]
        runs += [_Run("→", "muted"), _Run(pair.token, "chip")]
        parts: tuple[str, ...] = (formula.rule, formula.numbers, *formula.reduced)
        if detail == "numbers" and formula.numbers:
            parts = (formula.numbers,)
        runs += [_Run(f"= {part}") for part in parts if part]
        return [*runs, _Run(f"= {formula.value}", "strong")]

    def _show_notes(self) -> None:
        self.ratio.setVisible(self._detail == "all")
        self.tie.setVisible(self._detail == "all" and bool(self.tie.text()))


def _wrapped_height(label: QLabel, text: str, width: int) -> int:
    return label.fontMetrics().boundingRect(0, 0, width, 10_000, int(Qt.TextFlag.TextWordWrap), text).height()
