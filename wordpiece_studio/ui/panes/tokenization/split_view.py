"""*How is “pugs” split?* The letters of a word, with a gap to click between any two, before its tokens are revealed."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from wordpiece_studio.session.plural import filled
from wordpiece_studio.ui.widgets.chips import ChipFlow, FlowItem
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import explain, plain_label, set_look, set_plain_text
from wordpiece_studio.ui.widgets.token_text import token_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.tokenizer.tokenizer import Tokenizer, WordTrace
    from wordpiece_studio.ui.widgets.theme import Theme


class Letters(ChipFlow):
    def event(self, event: QEvent) -> bool:
        """Leave the space bar to the window, which reveals."""
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Space:
            event.ignore()
            return False
        return super().event(event)


class SplitView(QWidget):
    """Asks about one word after the other; `trace` is that of the word once its tokens are revealed."""

    changed = Signal()  # another word is asked about, its tokens are revealed, or there are no more
    piece_chosen = Signal(object)  # the number of a token that was clicked

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words: list[str] = []
        self._tokenizer: Tokenizer | None = None
        self.cuts: frozenset[int] = frozenset()  # where the user splits the word
        self.trace: WordTrace | None = None
        explain("predict", self)
        self._title = plain_label("", self, role="heading", wrap=True)
        self.letters = Letters(theme, self, points=4, gap=3)
        self.said = plain_label("", self, role="value", wrap=True)
        self._layout = fill(QVBoxLayout(self), self._title, self.letters, self.said, 1, margins=(0, 8, 0, 4), spacing=8)
        self.letters.chosen.connect(self._choose)

    @property
    def is_asking(self) -> bool:
        return bool(self._words)

    @property
    def is_right(self) -> bool:
        trace = self.trace
        return trace is not None and trace.unknown is None and not self._wrong(trace)

    @property
    def piece(self) -> int:
        """The number of the token at which the split goes wrong, 0 if it does not."""
        trace = self.trace
        if trace is None or trace.unknown is not None or not self.cuts or self.is_right:
            return 0
        return sum(at.start < min(self._wrong(trace)) for at in trace.positions) - 1

    def _wrong(self, trace: WordTrace) -> frozenset[int]:
        """Return the places that were split though no token ends there, or the other way round."""
        return self.cuts ^ {at.start for at in trace.positions if at.start}

    def needed_height(self, width: int) -> int:
        return self._layout.totalHeightForWidth(width)

    def begin(self, words: Sequence[str], tokenizer: Tokenizer | None) -> None:
        self._words, self._tokenizer = list(words), tokenizer
        self._ask()

    def use(self, tokenizer: Tokenizer | None) -> None:
        """Ask about the same word under another tokenizer, that of another step."""
        if self._words and tokenizer is not self._tokenizer:
            self.begin(self._words if tokenizer is not None else (), tokenizer)

    def go_on(self) -> None:
        """Reveal the tokens of the word; if they are, ask about the next word."""
        if self.trace is not None:
            self._words = self._words[1:]
            self._ask()
        elif self._tokenizer is not None:
            self.trace = self._tokenizer.explain(self._words[0])
            self._show()
            self.changed.emit()

    def _ask(self) -> None:
        self.cuts, self.trace = frozenset(), None
        self._show()
        self.changed.emit()

    def _choose(self, place: int) -> None:
        if self.trace is not None:
            self.piece_chosen.emit(place)
        else:
            self.cuts ^= {place}
            self._show()

    def _show(self) -> None:
        word, trace = next(iter(self._words), ""), self.trace
        set_plain_text(self._title, filled(self.tr("How is “{word}” split?"), word=token_text(word)) if word else "")
        said, role = self.tr("Click between letters. Space or Page Down: reveal it"), "hint"
        if trace is None:
            items = []
            for place, letter in enumerate(word):
                if place:
                    gap, tip = "│" if place in self.cuts else "·", self.tr("Split here, or not")
                    items.append(FlowItem(gap, "link", target=place, tip=tip))
                items.append(FlowItem(letter, "strong"))
        else:
            items = [FlowItem(each, "chip", target=number, tip=each) for number, each in enumerate(trace.tokens)]
            if self.cuts and not self.is_right:
                ends = [0, *sorted(self.cuts), len(word)]
                own = " │ ".join(word[start:end] for start, end in pairwise(ends))
                items.append(FlowItem(filled(self.tr("Your split: {own}"), own=token_text(own))))
            said = self.tr("Right. Click a token to see the pieces tried.") if self.is_right else self._why(trace)
            role = "success" if self.is_right else "error" if self.cuts else "value"
        self.letters.show_items(items, self._title.text())
        set_plain_text(self.said, said if word else "")
        set_look(self.said, role=role)

    def _why(self, trace: WordTrace) -> str:
        """Return what is wrong about the split, from left to right; without one, what is to be seen."""
        if trace.unknown is not None:
            return self.tr("The word is unknown: nothing in the vocabulary matches at some place.")
        if not self.cuts:
            return self.tr("Click a token to see the pieces tried.")
        text = self.tr("From character {position} on, the first piece is {token}.")
        position = trace.positions[self.piece].start + 1
        return filled(text, position=position, token=token_text(trace.tokens[self.piece]))
