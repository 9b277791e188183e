"""One line of the corpus as the trainer reads it: raw, normalized, words, and the symbols of the word at the cursor.

It computes nothing itself: the normalizer and pre-tokenizer are those used for counting and training.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.plain_engine import split, token_of
from wordpiece_studio.ui.widgets.explained import explain
from wordpiece_studio.ui.widgets.plain import FittingLabel, plain_label, set_plain_text, set_plain_tooltip
from wordpiece_studio.ui.widgets.token_text import line_text, number_text, token_text

if TYPE_CHECKING:
    from wordpiece_studio.text.pipeline import Pipeline, Word
    from wordpiece_studio.ui.widgets.theme import Theme

_LONGEST_LINE = 2000
_JAMO = re.compile("[\u1100-\u11ff](?=[\u1100-\u11ff])")
_LONGEST_WORD = 300
_MOST_WORDS = 60
_MOST_SHOWN = 400
"""Characters of a row: more than ever fit, and few enough to be measured at every key press."""
_SEEN_FROM_START, _SEEN_BEFORE = 14, 8
"""Characters: a line is shown from its start if the word is this near to it, else from this many before the word."""


class LineView(QWidget):
    """Four rows under a heading that names the line."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.heading = plain_label("", self, role="heading")
        grid = QGridLayout(self)
        grid.setContentsMargins(14, 6, 14, 8)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        grid.addWidget(self.heading, 0, 0, 1, 2)
        self._texts: dict[str, str] = {}
        self._labels: dict[str, FittingLabel] = {}
        for row, (name, caption, entry) in enumerate(
            (
                ("raw", self.tr("Raw"), "corpus"),
                ("normalized", self.tr("Normalized"), "normalizer"),
                ("words", self.tr("Words"), "word"),
                ("symbols", self.tr("Symbols"), "symbol"),
            ),
            start=1,
        ):
            label = self._labels[name] = FittingLabel(self)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setAccessibleName(caption)
            caption_label = plain_label(caption, self, role="caption")
            explain(entry, label, caption_label)
            grid.addWidget(caption_label, row, 0)
            grid.addWidget(label, row, 1)
        theme.dress(self._set_fonts)

    def show_line(
        self, number: int | None, line: str, column: int, pipeline: Pipeline, config: TrainingConfig | None = None
    ) -> None:
        """Show line `number` (from 1, None if not known) with the cursor before character `column` (from 0).

        The symbols are those with which a training with these settings begins.
        """
        line, column = _window(line, column)
        heading = self.tr("This line, as the trainer reads it")
        if number is not None:
            heading = self.tr("Line {number}, as the trainer reads it").format(number=number_text(number))
        set_plain_text(self.heading, heading)
        try:
            aligned = pipeline.normalizer.align(line)
            words = pipeline.aligned_words(line)
        except StudioError as error:
            texts = {"raw": line, "normalized": str(error)}
            self._show(texts, {"raw": (line_text(line),), "normalized": (str(error),)})
            return
        chosen = _word_at(words, column)
        # Where no one has placed the cursor, the line is shown from its beginning.
        place = chosen.start if chosen is not None and column else 0
        near = words[_first_near(words, chosen) :][:_MOST_WORDS]
        symbols = _symbols_of(chosen.text, config or TrainingConfig()) if chosen is not None else []
        self._show(
            {
                "raw": line,
                "normalized": aligned.text,
                "words": _joined_words([word.text for word in near], near[:1] != words[:1]),
                "symbols": " ".join(symbols),
            },
            {
                "raw": (beginning_near(line, place),),
                "normalized": (beginning_near(aligned.text, bisect_left(aligned.starts, place)),),
                "words": (
                    _left_to_right(_joined_words([_isolated(word.text) for word in near], near[:1] != words[:1])),
                ),
                "symbols": shown_symbols(chosen.text, symbols) if chosen is not None else ("",),
            },
        )

    def text_of(self, row: str) -> str:
        """Return the full text of the row ``"raw"``, ``"normalized"``, ``"words"`` or ``"symbols"``."""
        return self._texts.get(row, "")

    def _show(self, texts: dict[str, str], shown: dict[str, tuple[str, ...]]) -> None:
        """Set the full texts of the rows, and the forms to display, of which the first that fits is used."""
        self._texts = texts
        for name, label in self._labels.items():
            set_plain_tooltip(label, jamo_apart(line_text(texts.get(name, ""))))
            label.show_forms(*(jamo_apart(form[:_MOST_SHOWN]) for form in shown.get(name, ("",))))

    def _set_fonts(self) -> None:
        self._labels["symbols"].setFont(self._theme.mono_font())


def _symbols_of(word: str, config: TrainingConfig) -> list[str]:
    """Return the symbols with which training starts for `word`, whatever the limit of the alphabet.

    >>> _symbols_of("hug", TrainingConfig())
    ['h', '##u', '##g']
    """
    word = word[:_LONGEST_WORD]
    return [token_of(symbol, config.continuing_subword_prefix) for symbol in split(word, config)]


def jamo_apart(text: str) -> str:
    """Return the text with a thin space between Hangul letters that a font would draw as one syllable.

    >>> jamo_apart("\u1112\u1161\u11ab") == "\u1112\u2009\u1161\u2009\u11ab"
    True
    """
    return _JAMO.sub("\\g<0>\u2009", text) if not text.isascii() else text


def _word_at(words: list[Word], column: int) -> Word | None:
    """Return the word in or after which the cursor stands; None if there are no words.

    At the start of the line, where no one has placed the cursor, it is the first word of more than one symbol.
    """
    if column == 0:
        return next((word for word in words if len(word.text) > 1), words[0] if words else None)
    before = [word for word in words if word.start <= column]
    return before[-1] if before else (words[0] if words else None)


def _first_near(words: list[Word], chosen: Word | None) -> int:
    """Return the index of the first word to show: 0, or a little before the word at the cursor."""
    place = next((index for index, word in enumerate(words) if word is chosen), 0)
    return max(0, place - 1) if place > 2 else 0


def _joined_words(words: list[str], is_later: bool) -> str:
    """Return the words separated by dots; `is_later`: other words come before them."""
    shown = " · ".join(words)
    return f"… {shown}" if is_later else shown


def beginning_near(line: str, place: int) -> str:
    """Return a line for display, starting a little before `place` unless that is near its beginning."""
    if place <= _SEEN_FROM_START:
        return line_text(line)
    start = place - _SEEN_BEFORE
    return "… " + line_text(line[start:])


def _isolated(word: str) -> str:
    """Return a word for display that keeps its own direction and does not affect that of its neighbors."""
    shown = line_text(word[:_LONGEST_WORD])
    return shown if word.isascii() else f"\u2068{shown}\u2069"


def shown_symbols(word: str, symbols: list[str]) -> tuple[str, ...]:
    """Return ``"word → w ##o ##r ##d"`` for display, left to right in every script, with and without the word."""
    apart = [token_text(symbol) for symbol in symbols]
    if not word.isascii():
        apart = [f"\u2066{symbol}\u2069" for symbol in apart]
    bare = " ".join(apart)
    return _left_to_right(f"{_isolated(word)} → {bare}"), _left_to_right(bare)


def _left_to_right(text: str) -> str:
    """Return a text for display whose parts run from left to right, like those of a list."""
    has_right_to_left = any(unicodedata.bidirectional(character) in ("R", "AL") for character in text)
    return f"\u200e{text}" if has_right_to_left else text


def _window(line: str, column: int) -> tuple[str, int]:
    """Return the part of a long line around the cursor, and the column in it."""
    if len(line) <= _LONGEST_LINE:
        return line, column
    start = max(0, min(column - _LONGEST_LINE // 4, len(line) - _LONGEST_LINE))
    return line[start : start + _LONGEST_LINE], column - start
