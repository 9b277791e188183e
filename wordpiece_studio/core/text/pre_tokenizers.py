"""The pre-tokenizers that are built in: they cut a normalized text into words.

Not here: what happens to the text before (`normalizers`) and to the words afterwards.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import regex

from wordpiece_studio.core.text.character_tables import bert_tables
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True)
class Span:
    """A word and where it stands in the normalized text.

    Attributes
    ----------
    text
        The word.
    start, end
        Its first code point in the normalized text, and the one after its last.
    positions
        Where each character of the word stands, if characters between them were dropped; else None.
    """

    text: str
    start: int
    end: int
    positions: tuple[int, ...] | None = None


class PreTokenizer(ABC):
    """Cuts a normalized text into words.

    A pre-tokenizer of one's own need only define `name` and `spans`.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called in messages and on the command line."""

    @property
    def is_local(self) -> bool:
        """Whether each stretch between blanks and line ends may be cut by itself.

        If so, equal stretches of a corpus need be cut only once. Leave it False when in doubt.
        """
        return False

    @property
    def is_by_character(self) -> bool:
        """Whether each character by itself parts words, is one, stands in one or goes, and white space never stands.

        If so, what becomes of each need be found out only once. Leave it False when in doubt.
        """
        return False

    @abstractmethod
    def spans(self, text: str) -> list[Span]:
        """Return the words of `text` and where they stand, from left to right."""

    def split(self, text: str) -> list[str]:
        """Return the words alone; the same as the texts of ``spans(text)``, but it may be faster."""
        return [span.text for span in self.spans(text)]

    def iterate(self, text: str) -> Iterator[str]:
        """Yield the words alone; the same as ``split(text)``, but it may need less memory."""
        yield from self.split(text)


@dataclass(frozen=True, slots=True)
class BertPreTokenizer(PreTokenizer):
    """Splits at white space, and makes every punctuation character a word of its own.

    >>> BertPreTokenizer().split("Don't stop.")
    ['Don', "'", 't', 'stop', '.']
    """

    @property
    def name(self) -> str:
        """``"bert"``."""
        return "bert"

    @property
    def is_local(self) -> bool:
        """Always."""
        return True

    @property
    def is_by_character(self) -> bool:
        """Always."""
        return True

    def spans(self, text: str) -> list[Span]:
        """Return the words of `text` and where they stand."""
        return _matches(_bert_words(), text)

    def split(self, text: str) -> list[str]:
        """Return the words of `text`."""
        words: list[str] = _bert_words().findall(text)
        return words

    def iterate(self, text: str) -> Iterator[str]:
        """Yield the words of `text`."""
        for match in _bert_words().finditer(text):
            yield match[0]


@dataclass(frozen=True, slots=True)
class WhitespaceSplit(PreTokenizer):
    """Splits at white space and nowhere else.

    White space is what Unicode calls so. Python's `str.split` would also split at the separators U+001C to
    U+001F.
    """

    @property
    def name(self) -> str:
        """``"whitespace"``."""
        return "whitespace"

    @property
    def is_local(self) -> bool:
        """Always."""
        return True

    @property
    def is_by_character(self) -> bool:
        """Always."""
        return True

    def spans(self, text: str) -> list[Span]:
        """Return the words of `text` and where they stand."""
        return _matches(_blank_separated_words(), text)

    def split(self, text: str) -> list[str]:
        """Return the words of `text`."""
        words: list[str] = _blank_separated_words().findall(text)
        return words


@dataclass(frozen=True, slots=True)
class UnicodePunctuation(PreTokenizer):
    """The pre-tokenizer of the Simplified Chinese notebook, which reads a text line by line.

    Of each line the control characters are dropped, tabs among them, so that their neighbours touch; every
    Han, kana or Hangul character and every Unicode punctuation mark becomes a word of its own; the rest is
    split at white space. Lower-casing, an option there, is a normalizer here. Lines end at LF, CR or both.
    """

    @property
    def name(self) -> str:
        """``"unicode-punctuation"``."""
        return "unicode-punctuation"

    @property
    def is_local(self) -> bool:
        """Always."""
        return True

    @property
    def is_by_character(self) -> bool:
        """Always."""
        return True

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


def resolve_pre_tokenizer(value: str | PreTokenizer) -> PreTokenizer:
    """Return the pre-tokenizer that `value` is or names.

    Raises
    ------
    StudioError
        If there is no pre-tokenizer of that name; the message lists the names.
    """
    if isinstance(value, PreTokenizer):
        return value
    if value in _BUILT_IN:
        return _BUILT_IN[value]()
    raise StudioError(
        'There is no pre-tokenizer called "{name}"', "The pre-tokenizers are {names}.", name=value, names=_names()
    )


def to_spec(pre_tokenizer: PreTokenizer) -> dict[str, str]:
    """Return a built-in pre-tokenizer as plain data that JSON can hold.

    Raises
    ------
    StudioError
        If it is not one of the built-in pre-tokenizers.
    """
    if type(pre_tokenizer) in _BUILT_IN.values():
        return {"type": pre_tokenizer.name}
    raise StudioError(
        'The pre-tokenizer "{name}" is not built in, so it cannot be written to a file',
        "Save the vocabulary alone, and give the pre-tokenizer again when you load it.",
        name=pre_tokenizer.name,
    )


def from_spec(spec: Any) -> PreTokenizer:
    """Return the pre-tokenizer that `to_spec` described.

    Raises
    ------
    StudioError
        If `spec` is not such a description.
    """
    match spec:
        case {"type": str(name)} if len(spec) == 1 and name in _BUILT_IN:
            return _BUILT_IN[name]()
    raise StudioError("{spec} does not describe a pre-tokenizer", spec=repr(spec)[:200])


_BUILT_IN: Mapping[str, type[PreTokenizer]] = {
    "bert": BertPreTokenizer,
    "whitespace": WhitespaceSplit,
    "unicode-punctuation": UnicodePunctuation,
}


def _names() -> str:
    *others, last = _BUILT_IN
    return f"{', '.join(others)} and {last}"


def _matches(pattern: re.Pattern[str], text: str) -> list[Span]:
    return [Span(match[0], match.start(), match.end()) for match in pattern.finditer(text)]


@cache
def _bert_words() -> re.Pattern[str]:
    tables = bert_tables()
    punctuation, whitespace = tables.punctuation.pattern(), tables.whitespace.pattern()
    return re.compile(f"[^{punctuation}{whitespace}]+|[{punctuation}]")


@cache
def _blank_separated_words() -> re.Pattern[str]:
    return re.compile(f"[^{bert_tables().whitespace.pattern()}]+")


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
