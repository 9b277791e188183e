"""The live text as compared runs and steps tokenize it: for each, what it is, its figures, a few rows of chips."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QRectF, Qt
from PySide6.QtGui import QFont, QPainter
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from wordpiece_studio.evaluation.usage import MUCH_UNKNOWN
from wordpiece_studio.session.live_text import MOST_UNKNOWN, LiveText
from wordpiece_studio.session.plural import counted
from wordpiece_studio.session.runs import MOST_SHOWN
from wordpiece_studio.ui.panes.tokenization.live_chips import LiveChips
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import CutLabel, explain, plain_label, set_plain_text
from wordpiece_studio.ui.widgets.token_text import number_text, paint_run_disc, run_names, step_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from PySide6.QtGui import QPaintEvent

    from wordpiece_studio.session.run import Run
    from wordpiece_studio.session.runs import ComparedStep, Comparison
    from wordpiece_studio.storage.view import Bookmark
    from wordpiece_studio.tokenizer.tokenizer import TokenizedWord
    from wordpiece_studio.ui.panes.tokenization.live_chips import ChipPlace
    from wordpiece_studio.ui.widgets.theme import Theme

    LineKey: TypeAlias = tuple[Run, Bookmark | None, bool]
    Ask: TypeAlias = Callable[[LineKey | None, tuple[ChipPlace, bool] | None], None]

_tr = partial(QCoreApplication.translate, "compared_texts")
MOST_ROWS = 3
"""Of chips a run, where there is room."""
_MOST_COUNTED = 20_000
"""Characters; the tokens of a longer text are not counted at every step."""
_DISC, _DISC_AND_LINE, _GAP = 18, 22, 7
_BELOW_HEADING = 1


class RunHeading(QWidget):
    """A line that names a run, its step, and what it makes of the text, after the run's disc."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        explain("run", self)
        self._theme = theme
        self.run: Run | None = None
        self._name = CutLabel(parent=self, role="heading")
        self._name.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._step = CutLabel(parent=self, role="hint")
        self._figures = plain_label("", self, role="hint")
        step = self._step, 1, Qt.AlignmentFlag.AlignVCenter
        parts = self._name, step, self._figures
        fill(QHBoxLayout(self), *parts, margins=(_DISC + _GAP, 0, 0, 0), spacing=_GAP).addStrut(_DISC_AND_LINE)
        theme.dress(self.update)

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self.run is not None:
            disc = QRectF(0, (self.height() - _DISC_AND_LINE) // 2, _DISC, _DISC)
            with QPainter(self) as painter:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                paint_run_disc(painter, self.run, disc, self._theme, QFont(self.font()))

    def show_run(self, run: Run, name: str, step: str, figures: str) -> None:
        self.run = run
        self._name.show_text(name)
        self._step.show_text(step)
        set_plain_text(self._figures, figures)
        self.setAccessibleName(" · ".join(filter(None, (name, step, figures))))
        self.update()


class _Line(QWidget):
    """The heading and the chips of one run."""

    def __init__(self, theme: Theme, ask: Ask, parent: QWidget) -> None:
        super().__init__(parent)
        self.heading = RunHeading(theme, self)
        self.step: ComparedStep | None = None
        self._rows = MOST_ROWS
        self.chips = LiveChips(theme, lambda _line, _piece: (), self._describe, self)
        self.chips.content_height_changed.connect(self._fit)
        self.chips.chosen.connect(lambda chosen: ask(self.key, chosen))
        fill(QVBoxLayout(self), self.heading, self.chips, spacing=_BELOW_HEADING)

    @property
    def key(self) -> LineKey | None:
        step = self.step
        return None if step is None else (step.run, step.bookmark, step.is_longest_first)

    @property
    def live(self) -> LiveText:
        return self.chips.lines

    def needed_height(self, rows: int) -> int:
        return self.heading.sizeHint().height() + _BELOW_HEADING + self.chips.height_of_rows(rows)

    def set_rows(self, rows: int) -> None:
        self._rows = rows
        self._fit()

    def _fit(self) -> None:
        self.chips.setFixedHeight(self.chips.height_of_rows(self._rows))

    def _describe(self, place: ChipPlace) -> str:
        word = self.live.word_at(*place[:2])
        return word.pieces[place.chip].token if word is not None and place.chip < len(word.pieces) else ""


class ComparedTexts(QWidget):
    """What the step shown is compared with, below its chips; `heading` stands above those.

    `ask` is called with the `LineKey` of a line, and what its chips emitted as `chosen`.
    """

    def __init__(self, comparison: Comparison, theme: Theme, ask: Ask, parent: QWidget) -> None:
        super().__init__(parent)
        self._ask = ask
        explain("comparison", self)
        self._comparison = comparison
        self._theme = theme
        self._lines: list[_Line] = []
        self.heading = RunHeading(theme, parent)
        self.rest = plain_label("", self, role="hint", wrap=True)
        self.legend = plain_label(self.tr("Framed words are split differently."), self, role="hint")
        self.legend.hide()
        self.differing: frozenset[tuple[int, int]] = frozenset()  # words, each by its line and its place there
        self.read: dict[Run, list[str]] = {}  # the text in the lines or segments that the other runs read
        self._layout = fill(QVBoxLayout(self), self.rest, self.legend, spacing=4)
        self.heading.hide()
        self.hide()

    def refresh(self, run: Run | None, step: int, live: LiveText) -> None:
        """Show the text of `live`, tokenized by `run` at `step`, as what it is compared with tokenizes it."""
        others = self._comparison.texts() if run is not None else []
        self.heading.setVisible(bool(others))
        self.setVisible(bool(others))
        self.heading.run = None  # nothing hidden keeps a run that is closed
        names = run_names(self._comparison.runs.all if others else [])
        if run is not None and others:
            self.heading.show_run(run, names[run], self._step_text(run, step), figures_text(live))
        self._show_lines(others[: MOST_SHOWN - 1], names, live.text)
        rest = [f"{each.run.letter} {step_name(each, names)}" for each in others[MOST_SHOWN - 1 :]]
        self.rest.setVisible(bool(rest))
        set_plain_text(self.rest, self.tr("Also compared: {runs}").format(runs=", ".join(rest)))
        self.differing = differing_words([live, *(line.live for line in self._lines)]) if others else frozenset()
        for line in self._lines:
            line.chips.set_framed(self.differing)
        self.legend.setVisible(bool(self.differing))
        lines = zip(others, self._lines, strict=False)
        self.read = {
            each.run: line.live.texts for each, line in lines if each.bookmark is None and not each.is_longest_first
        }

    def line(self, key: LineKey) -> LiveText:
        return next((line.live for line in self._lines if line.key == key), LiveText())

    def needed_height(self, rows: int) -> int:
        if self.isHidden():
            return 0
        labels = [label for label in (self.rest, self.legend) if not label.isHidden()]
        heights = [line.needed_height(rows) for line in self._lines] + [label.sizeHint().height() for label in labels]
        return sum(heights) + max(len(heights) - 1, 0) * self._layout.spacing()

    def set_rows(self, rows: int) -> None:
        for line in self._lines:
            line.set_rows(rows)

    def _step_text(self, run: Run, step: int) -> str:
        if not run.history.has_steps:
            return self.tr("final")
        return self.tr("at step {step}").format(step=number_text(step))

    def _show_lines(self, others: Sequence[ComparedStep], names: dict[Run, str], text: str) -> None:
        while len(self._lines) > len(others):
            line = self._lines.pop()
            self._layout.removeWidget(line)
            line.hide()
            line.deleteLater()
        while len(self._lines) < len(others):
            line = _Line(self._theme, self._ask, self)
            self._layout.insertWidget(len(self._lines), line)
            self._lines.append(line)
            line.show()
        for line, each in zip(self._lines, others, strict=True):
            line.step = each
            line.chips.set_lines(line.live.updated(text, each.tokenizer))
            where = self.tr("final") if each.is_at_end else self._step_text(each.run, each.step)
            line.heading.show_run(each.run, step_name(each, names), where, figures_text(line.live))
            line.chips.setAccessibleName(self.tr("Tokens of run {letter}").format(letter=each.label))


def differing_words(texts: Sequence[LiveText]) -> frozenset[tuple[int, int]]:
    """Return the words that are not cut at the same places in all texts, each by its line and its place there.

    An unknown word is unlike a known one. There are none where the texts do not consist of the same words, or are long.
    """
    if len(texts[0].text) > _MOST_COUNTED:
        return frozenset()
    cuts = [[[_cut(word, each) for word in line.words] for line in each] for each in texts]
    if any([len(line) for line in each] != [len(line) for line in cuts[0]] for each in cuts):
        return frozenset()
    return frozenset(
        (number, place)
        for number, lines in enumerate(zip(*cuts, strict=True))
        for place, words in enumerate(zip(*lines, strict=True))
        if any(word != words[0] for word in words)
    )


def _cut(word: TokenizedWord, live: LiveText) -> list[tuple[int, bool]]:
    """Return where the tokens of a word begin, and whether they are unknown; a mark alone at an end is no cut."""
    unknown = "" if live.tokenizer is None else live.tokenizer.unk_token
    pieces = [piece for piece in word.pieces if piece.start < piece.end] or word.pieces
    return [(piece.start, piece.token == unknown) for piece in pieces]


def figures_text(live: LiveText) -> str:
    """Return how many tokens a text has, and how many a word; empty for a long text."""
    if len(live.text) > _MOST_COUNTED:
        return ""
    words = [word for line in live for word in line.words]
    tokens = sum(len(word.pieces) for word in words)
    number = sum(word.word is not None for word in words)
    said = [counted(tokens, "1 token", "{count} tokens")]
    unknown = "" if live.tokenizer is None else live.tokenizer.unk_token
    lost = sum(piece.token == unknown for word in words for piece in word.pieces)
    if number:
        is_too_good = lost > MUCH_UNKNOWN * tokens  # an unknown word, however long, is one token
        rate = f"({tokens / number:.2f})" if is_too_good else f"{tokens / number:.2f}"
        if sum(any(piece.token == unknown for piece in word.pieces) for word in words) <= MOST_UNKNOWN * number:
            said.append(_tr("{rate} per word").format(rate=rate))
        if is_too_good:
            said.append(counted(lost, "1 unknown", "{count} unknown"))
    return " · ".join(said)
