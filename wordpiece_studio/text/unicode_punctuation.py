"""The pre-tokenizer of the Simplified Chinese notebook."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import regex

from wordpiece_studio.text.pre_tokenizer import CharacterPreTokenizer, Span


@dataclass(frozen=True, slots=True)
class UnicodePunctuation(CharacterPreTokenizer):
    """The pre-tokenizer of the Simplified Chinese notebook, which reads a text line by line.

    Of each line the control characters are dropped, tabs among them, so that their neighbours touch; every
    Han, kana or Hangul character and every Unicode punctuation mark becomes a word of its own; the rest is
    split at white space. Lower-casing, an option there, is a normalizer here. Lines end at LF, CR or both.
    """

    @property
    def name(self) -> str:
        """``"unicode-punctuation"``."""
        return "unicode-punctuation"

    def spans(self, text: str) -> list[Span]:
        """Return the words of `text` and where they stand."""
        patterns = _unicode_patterns()
        spans = []
        for match in patterns.word_with_controls.finditer(text):
            positions = [
                match.start() + offset
                for offset, character in enumerate(match[0])
                if not patterns.control.match(character)
            ]
            if positions:
                word = "".join(text[position] for position in positions)
                start, end = positions[0], positions[-1] + 1
                spans.append(Span(word, start, end, tuple(positions) if len(word) < end - start else None))
        return spans

    def split(self, text: str) -> list[str]:
        """Return the words of `text`."""
        patterns = _unicode_patterns()
        words: list[str] = []
        for line in patterns.line_end.split(text):
            line = patterns.control.sub("", line)
            line = patterns.ideograph.sub(r" \1 ", line)
            line = patterns.punctuation.sub(r" \1 ", line)
            words += [word for word in patterns.blanks.split(line.strip()) if word]
        return words


@dataclass(frozen=True, slots=True)
class _UnicodePatterns:
    line_end: regex.Pattern[str]
    control: regex.Pattern[str]
    ideograph: regex.Pattern[str]
    punctuation: regex.Pattern[str]
    blanks: regex.Pattern[str]
    word_with_controls: regex.Pattern[str]


@cache
def _unicode_patterns() -> _UnicodePatterns:
    alone = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{P}"
    return _UnicodePatterns(
        line_end=regex.compile(r"\r\n|\r|\n"),
        control=regex.compile(r"[\u0000-\u001F\u007F]"),
        ideograph=regex.compile(r"([\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}])"),
        punctuation=regex.compile(r"([\p{P}])"),
        blanks=regex.compile(r"\s+"),
        # What the other patterns make of a line, in one: controls are inside a word, line ends are not.
        word_with_controls=regex.compile(rf"[{alone}]|(?:[^\s{alone}]|[\u0000-\u0009\u000B\u000C\u000E-\u001F])+"),
    )
