"""One line of the corpus as the trainer reads it: raw, normalized, words, and the symbols of the word at the cursor.

It computes nothing of its own: normalizer and pre-tokenizer are the ones that count and train.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.ui.look.plain import plain_label, set_plain_text, set_plain_tooltip
from wordpiece_studio.ui.look.token_text import number_text

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from wordpiece_studio.core.text.pipeline import Pipeline, Word
    from wordpiece_studio.ui.look.theme import Theme

_LONGEST_LINE = 2000
_JAMO = re.compile("[\u1100-\u11ff](?=[\u1100-\u11ff])")
_LONGEST_WORD = 300
_MOST_WORDS = 60


class LineView(QWidget):
    """Four rows under a heading that names the line."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._heading = plain_label("", self, role="heading")
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(14, 6, 14, 8)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        self._grid.addWidget(self._heading, 0, 0, 1, 2)
        self._texts: dict[str, str] = {}
        self._labels: dict[str, QLabel] = {}
        for row, (name, caption) in enumerate(self._captions(), 1):
            self._add_row(row, name, caption)
        theme.changed.connect(self._set_fonts)
        self._set_fonts()

    def show_line(self, number: int, line: str, column: int, pipeline: Pipeline, prefix: str = "##") -> None:
        """Show line `number` (from 1), whose cursor stands before its character `column` (from 0)."""
        line, column = _window(line, column)
        try:
            normalized = pipeline.normalizer.normalize(line)
            words = pipeline.aligned_words(line)
        except StudioError as error:
            self._show(number, {"raw": line, "normalized": str(error), "words": "", "symbols": ""})
            return
        chosen = word_at(words, column)
        self._show(
            number,
            {
                "raw": line,
                "normalized": normalized,
                "words": words_around(words, chosen),
                "symbols": " ".join(symbols_of(chosen.text, prefix)) if chosen else "",
            },
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._cut_texts()

    def text_of(self, row: str) -> str:
        """Return what the row ``"raw"``, ``"normalized"``, ``"words"`` or ``"symbols"`` says, whole."""
        return self._texts.get(row, "")

    def _captions(self) -> list[tuple[str, str]]:
        return [
            ("raw", self.tr("raw")), ("normalized", self.tr("normalized")),
            ("words", self.tr("words")), ("symbols", self.tr("symbols")),
        ]  # fmt: skip

    def _add_row(self, row: int, name: str, caption: str) -> None:
        label = plain_label("", self)
        label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        label.setAccessibleName(caption)
        self._labels[name] = label
        self._grid.addWidget(plain_label(caption, self, role="caption"), row, 0)
        self._grid.addWidget(label, row, 1)

    def _show(self, number: int, texts: dict[str, str]) -> None:
        heading = self.tr("Line {number}, as the trainer reads it").format(number=number_text(number))
        set_plain_text(self._heading, heading)
        self._texts = texts
        for name, text in texts.items():
            set_plain_tooltip(self._labels[name], jamo_apart(text))
        self._cut_texts()

    def _cut_texts(self) -> None:
        for name, text in self._texts.items():
            label = self._labels[name]
            one_line = jamo_apart(text).replace("\n", " ").replace("\t", " ")
            cut = label.fontMetrics().elidedText(one_line, Qt.TextElideMode.ElideRight, max(0, label.width() - 2))
            set_plain_text(label, cut)

    def _set_fonts(self) -> None:
        self._labels["symbols"].setFont(self._theme.mono_font())
        self._cut_texts()


def symbols_of(word: str, prefix: str) -> list[str]:
    """Return the symbols in which the training of `word` begins.

    >>> symbols_of("hug", "##")
    ['h', '##u', '##g']
    """
    word = word[:_LONGEST_WORD]
    return [*word[:1], *(prefix + character for character in word[1:])]


def jamo_apart(text: str) -> str:
    """Return the text with a thin space between Hangul letters that a font would draw as one syllable.

    >>> jamo_apart("\u1112\u1161\u11ab") == "\u1112\u2009\u1161\u2009\u11ab"
    True
    """
    return _JAMO.sub("\\g<0>\u2009", text) if not text.isascii() else text


def word_at(words: list[Word], column: int) -> Word | None:
    """Return the word in which or after which the cursor stands; None if there are none.

    At the start of the line, where nobody has put it, it is the first word that has more than one symbol.
    """
    if column == 0:
        return next((word for word in words if len(word.text) > 1), words[0] if words else None)
    before = [word for word in words if word.start <= column]
    return before[-1] if before else (words[0] if words else None)


def words_around(words: list[Word], chosen: Word | None) -> str:
    """Return the words with a dot between, beginning a little before the one at the cursor if they are many."""
    place = next((index for index, word in enumerate(words) if word is chosen), 0)
    first = max(0, place - 2) if place > 3 else 0
    shown = " · ".join(word.text for word in words[first : first + _MOST_WORDS])
    return f"… {shown}" if first else shown


def _window(line: str, column: int) -> tuple[str, int]:
    """Return a stretch of a long line round the cursor, and the column in it."""
    if len(line) <= _LONGEST_LINE:
        return line, column
    start = max(0, min(column - _LONGEST_LINE // 4, len(line) - _LONGEST_LINE))
    return line[start : start + _LONGEST_LINE], column - start
