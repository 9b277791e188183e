"""Why a word of the live text is `[UNK]`: the exact reason in sentences, and the box below the chips that shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, set_plain_tooltip, wrapped_height
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.tokenizer.tokenizer import UnknownReason, WordTrace
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.training.initial_state import TrainingInput

_SIDE, _TOP = 8, 5
_LOW_LINES = 2


class UnknownNote:
    """Writes the reasons for the unknown words of one run, and caches what it finds out about a symbol.

    Parameters
    ----------
    counts, history
        The corpus and the history that the vocabulary was learned from.
    """

    def __init__(self, counts: WordCounts | None, history: MergeHistory | None, max_word_length: int = 100) -> None:
        self._counts = counts
        self._history = history
        self._max_word_length = max_word_length
        self._places: dict[str, tuple[int, int]] = {}

    def reason(self, word: str, unknown: UnknownReason, unk_token: str) -> str:
        """Return one sentence on which symbol, at which position, made the word unknown."""
        if unknown.kind == "too-long":
            text = _tr("“{word}” is {unk}: it has {length} characters, and words of more than {limit} are not split.")
            return text.format(
                word=token_text(word, 30),
                unk=unk_token,
                length=number_text(len(word)),
                limit=number_text(self._max_word_length),
            )
        if self._history is not None and not self._history.is_whole:  # the words are still being read
            text = _tr("“{word}” is {unk}: nothing in the vocabulary matches from character {position} (from 0) on.")
            return text.format(
                word=token_text(word, 40), unk=unk_token, position=number_text(unknown.position)
            )  # fmt: skip
        character = word[unknown.position] if unknown.position < len(word) else unknown.symbol
        return self._template(character, unknown).format(
            word=token_text(word, 40),
            unk=unk_token,
            symbol=token_text(unknown.symbol),
            character=token_text(character),
            position=number_text(unknown.position),
            count=number_text(sum(self._words_with(character))),
        )

    def _template(self, character: str, unknown: UnknownReason) -> str:
        first, later = self._words_with(character)
        if not first + later and unknown.position:
            return _tr(
                "“{word}” is {unk}: {character}, at character {position} (from 0),"
                " occurs in no word of the training corpus."
            )
        if not first + later:
            return _tr("“{word}” is {unk}: the symbol {symbol} occurs in no word of the training corpus.")
        if unknown.position and not later:
            return _tr(
                "“{word}” is {unk}: the symbol {symbol}, at character {position} (from 0), occurs in no word of the"
                " training corpus, where {character} occurs only at the start of words ({count} of them)."
            )
        if not unknown.position and not first:
            return _tr(
                "“{word}” is {unk}: no word of the training corpus begins with {symbol},"
                " which occurs there only inside words ({count} of them)."
            )
        return _tr(
            "“{word}” is {unk}: the symbol {symbol}, at character {position} (from 0), is in {count} words of the"
            " corpus, but was left out of the alphabet."
        )

    def _words_with(self, character: str) -> tuple[int, int]:
        """Return how many distinct words begin with the character, and how many have it later on."""
        found = self._places.get(character)
        if found is None:
            found = _trained_words_with(character, self._history.input) if self._history is not None else (0, 0)
            if found == (0, 0) and self._has_dropped_words():
                words = self._counts.words if self._counts is not None else []
                found = (0, sum(character in word for word in words))
            self._places[character] = found
        return found

    def _has_dropped_words(self) -> bool:
        """Return whether words were dropped from training because a character was left out of the alphabet."""
        if self._counts is None or self._history is None:
            return False
        return self._history.word_count < len(self._counts)


def _trained_words_with(character: str, trained: TrainingInput) -> tuple[int, int]:
    """Return how many words of a run begin with a character, and how many have it later on."""
    spelled = {character, character + (trained.config.end_of_word_suffix or "")}
    symbols = [index for index, symbol in enumerate(trained.symbols) if symbol.text in spelled]
    if not symbols:
        return 0, 0
    places = np.concatenate([np.flatnonzero(trained.cells == symbol) for symbol in symbols])
    words = np.searchsorted(trained.word_starts, places, side="right") - 1
    begins = places == trained.word_starts[words]
    return len(np.unique(words[begins])), len(np.unique(words[~begins]))


def unknown_note(trace: WordTrace, note: UnknownNote, unk_token: str, total: int) -> str:
    """Return the note under the chips: why this word is unknown, and what becomes of unknown words.

    Parameters
    ----------
    total
        The number of unknown words in the text.
    """
    if trace.unknown is None:
        return ""
    lines = [note.reason(trace.word, trace.unknown, unk_token)]
    if total > 1:
        lines.append(_tr("The text has {count} unknown words in all.").format(count=number_text(total)))
    lines.append(_tr("The whole word becomes unknown, not only the missing part."))
    return "\n".join(lines)


def _tr(text: str) -> str:
    return QCoreApplication.translate("UnknownNote", text)


class UnknownBox(QFrame):
    """Shows all sentences; in a low pane, only the first in at most two lines, and all of them in the tooltip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self.setProperty("kind", "error")
        self._text = ""
        self._is_low = False
        self._gives_way = False
        self.label = plain_label("", self, wrap=True)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(_SIDE, _TOP, _SIDE, _TOP)
        self._layout.addWidget(self.label)
        self.hide()

    def show_text(self, text: str) -> None:
        """Show these sentences, one per line; an empty text hides the box."""
        self._text = text
        set_plain_tooltip(self, text)
        self._fit()

    @property
    def is_wanted(self) -> bool:
        """Whether there is anything to show."""
        return bool(self._text)

    def give_way(self, gives_way: bool) -> None:
        """Hide to make room for other parts, or show again if there is anything to show."""
        self._gives_way = gives_way
        self._fit()

    def set_low(self, is_low: bool) -> None:
        """Save height, or show everything."""
        self._is_low = is_low
        self._fit()

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):  # the latter also when the font changes
            self._fit()
        return super().event(event)

    def needed_height(self, width: int) -> int:
        """Return the height in pixels that the box needs at this width."""
        return wrapped_height(self.label, self._shown(width), width - 2 * (_SIDE + 1)) + 2 * (_TOP + 1)

    def _shown(self, width: int) -> str:
        """Return the text shown at this width; in a low pane, the first sentence in two lines."""
        if not self._is_low:
            return self._text
        metrics, first = self.label.fontMetrics(), self._text.split("\n")[0]
        # A little less than two lines, because lines break between words.
        room = int(_LOW_LINES * (width - 2 * (_SIDE + 1)) * 0.9)
        return metrics.elidedText(first, Qt.TextElideMode.ElideRight, room)

    def _fit(self) -> None:
        """Keep the whole text visible: otherwise a wrapped label may become lower than its text."""
        shown = self._shown(self.width())
        if shown != self.label.text():
            set_plain_text(self.label, shown)
        self.setVisible(bool(self._text) and not self._gives_way)
        self.setFixedHeight(self.needed_height(self.width()))
        self._layout.setGeometry(self.contentsRect())  # Qt leaves it unchanged if the height changes during layout
