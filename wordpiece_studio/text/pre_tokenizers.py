"""The built-in pre-tokenizers, by name and as plain data: they split a normalized text into words.

They split by character class: white space, punctuation, letters. Not here: splitting by the user's own regular
expression (`patterns`), and what happens to the text before (`normalizers`).
"""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import regex

from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.character_tables import bert_tables, form_tables, one_pattern, ranges_outside, run_pattern
from wordpiece_studio.text.patterns import PATTERN_PREFIX, PatternPreTokenizer
from wordpiece_studio.text.pipeline import CharacterPreTokenizer, PreTokenizer, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


class _Matching(CharacterPreTokenizer):
    """A pre-tokenizer whose words are the matches of a pattern without groups."""

    __slots__ = ()

    @property
    @abstractmethod
    def _pattern(self) -> re.Pattern[str]:
        """The pattern that matches a word."""

    def spans(self, text: str) -> list[Span]:
        """Return the words of `text` and their positions."""
        return [Span(match[0], match.start(), match.end()) for match in self._pattern.finditer(text)]

    def split(self, text: str) -> list[str]:
        """Return the words of `text`."""
        words: list[str] = self._pattern.findall(text)
        return words

    def iterate(self, text: str) -> Iterator[str]:
        """Yield the words of `text`."""
        for match in self._pattern.finditer(text):
            yield match[0]


@dataclass(frozen=True, slots=True)
class BertPreTokenizer(_Matching):
    """Splits at white space, and makes every punctuation character a word of its own.

    >>> BertPreTokenizer().split("Don't stop...")
    ['Don', "'", 't', 'stop', '.', '.', '.']
    """

    @property
    def name(self) -> str:
        """``"bert"``."""
        return "bert"

    @property
    def _pattern(self) -> re.Pattern[str]:
        return _bert_words()


@dataclass(frozen=True, slots=True)
class Whitespace(_Matching):
    r"""Splits at white space, and makes each run of characters other than letters, digits and marks a separate word.

    That is ``\w+|[^\w\s]+``, as the `tokenizers` library defines ``\w``; Python's does not include marks.

    >>> Whitespace().split("Don't stop...")
    ['Don', "'", 't', 'stop', '...']
    """

    @property
    def name(self) -> str:
        """``"whitespace"``."""
        return "whitespace"

    @property
    def is_by_character(self) -> bool:
        """No: punctuation is a word together with the punctuation beside it."""
        return False

    @property
    def _pattern(self) -> re.Pattern[str]:
        return _runs()


@dataclass(frozen=True, slots=True)
class WhitespaceSplit(_Matching):
    """Splits at white space and nowhere else.

    White space is as Unicode defines it. Python's `str.split` would also split at the separators U+001C to U+001F.

    >>> WhitespaceSplit().split("Don't stop...")
    ["Don't", 'stop...']
    """

    @property
    def name(self) -> str:
        """``"whitespace-split"``."""
        return "whitespace-split"

    @property
    def _pattern(self) -> re.Pattern[str]:
        return _blank_separated_words()


@dataclass(frozen=True, slots=True)
class Punctuation(_Matching):
    """Makes every punctuation character a word of its own, and splits nowhere else: words may hold blanks.

    A line end still ends a word, because a text is read line by line. Most useful in a sequence with others.

    >>> Punctuation().split("Don't stop...")
    ['Don', "'", 't stop', '.', '.', '.']
    """

    @property
    def name(self) -> str:
        """``"punctuation"``."""
        return "punctuation"

    @property
    def is_local(self) -> bool:
        """Never."""
        return False

    @property
    def _pattern(self) -> re.Pattern[str]:
        return _punctuation_separated_words()


@cache
def _bert_words() -> re.Pattern[str]:
    tables = bert_tables()
    letters = run_pattern(ranges_outside(tables.punctuation, tables.whitespace))
    return re.compile(f"{letters}|{one_pattern(tables.punctuation.ranges)}")


@cache
def _runs() -> re.Pattern[str]:
    word, whitespace = form_tables().word, bert_tables().whitespace
    return re.compile(f"{run_pattern(word.ranges)}|{run_pattern(ranges_outside(word, whitespace))}")


@cache
def _blank_separated_words() -> re.Pattern[str]:
    return re.compile(f"[^{bert_tables().whitespace.pattern()}]+")


@cache
def _punctuation_separated_words() -> re.Pattern[str]:
    punctuation = bert_tables().punctuation
    return re.compile(f"{run_pattern(ranges_outside(punctuation))}|{one_pattern(punctuation.ranges)}")


@dataclass(frozen=True, slots=True)
class UnicodePunctuation(CharacterPreTokenizer):
    """The pre-tokenizer of the Simplified Chinese notebook, which reads a text line by line.

    From each line control characters, including tabs, are dropped, so that their neighbours are joined; every Han,
    kana or Hangul character and every Unicode punctuation mark becomes a word of its own; the rest is split at
    white space. Lower-casing, an option there, is a normalizer here. Lines end at LF, CR or both.
    """

    @property
    def name(self) -> str:
        """``"unicode-punctuation"``."""
        return "unicode-punctuation"

    def spans(self, text: str) -> list[Span]:
        """Return the words of `text` and their positions."""
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
        # The other patterns in one: controls are inside a word, line ends are not.
        word_with_controls=regex.compile(rf"[{alone}]|(?:[^\s{alone}]|[\u0000-\u0009\u000B\u000C\u000E-\u001F])+"),
    )


@dataclass(frozen=True, slots=True, init=False)
class PreTokenizerSequence(PreTokenizer):
    """Several pre-tokenizers, each of which splits the words of the one before it.

    Raises
    ------
    StudioError
        If there are none; or if a pattern stands before another, because in a name it extends to the end.

    >>> PreTokenizerSequence([WhitespaceSplit(), PatternPreTokenizer(r"[a-z]+|.")]).split("to B2B")
    ['to', 'B', '2', 'B']
    """

    pre_tokenizers: tuple[PreTokenizer, ...]

    def __init__(self, pre_tokenizers: Iterable[PreTokenizer]) -> None:
        parts = tuple(
            part
            for given in pre_tokenizers
            for part in (given.pre_tokenizers if isinstance(given, PreTokenizerSequence) else (given,))
        )
        if not parts:
            raise StudioError("A sequence of pre-tokenizers is empty", "Name at least one.")
        if any(isinstance(part, PatternPreTokenizer) for part in parts[:-1]):
            raise StudioError(
                "A pattern stands before another pre-tokenizer",
                "Put the pattern last, or make it do the other one's work too.",
            )
        object.__setattr__(self, "pre_tokenizers", parts)

    @property
    def name(self) -> str:
        """The names, joined by ``+``."""
        return "+".join(pre_tokenizer.name for pre_tokenizer in self.pre_tokenizers)

    @property
    def is_local(self) -> bool:
        """Whether the first is, or any of them if all work character by character."""
        return self.pre_tokenizers[0].is_local or (
            self.is_by_character and any(pre_tokenizer.is_local for pre_tokenizer in self.pre_tokenizers)
        )

    @property
    def is_by_character(self) -> bool:
        """Whether all of them are."""
        return all(pre_tokenizer.is_by_character for pre_tokenizer in self.pre_tokenizers)

    def spans(self, text: str) -> list[Span]:
        """Return the words of `text` and their positions."""
        spans = [Span(text, 0, len(text))]
        for pre_tokenizer in self.pre_tokenizers:
            spans = [_within(outer, inner) for outer in spans for inner in pre_tokenizer.spans(outer.text)]
        return spans

    def split(self, text: str) -> list[str]:
        """Return the words of `text`."""
        words = [text]
        for pre_tokenizer in self.pre_tokenizers:
            words = [part for word in words for part in pre_tokenizer.split(word)]
        return words

    def iterate(self, text: str) -> Iterator[str]:
        """Yield the words of `text`."""
        words: Iterator[str] = iter((text,))
        for pre_tokenizer in self.pre_tokenizers:
            words = _iterated(pre_tokenizer, words)
        return words


def resolve_pre_tokenizer(value: str | PreTokenizer) -> PreTokenizer:
    """Return the pre-tokenizer that `value` is or names; several names are joined by ``+``.

    Everything after ``pattern:`` is a regular expression.

    Raises
    ------
    StudioError
        If there is no pre-tokenizer of that name (the message lists the names), or if a pattern is invalid.

    >>> resolve_pre_tokenizer("whitespace-split+pattern:[a-z]+|.").split("to B2B")
    ['to', 'B', '2', 'B']
    """
    if isinstance(value, PreTokenizer):
        return value
    before, has_pattern, pattern = f"+{value}".partition(f"+{PATTERN_PREFIX}")
    parts: list[PreTokenizer] = [_pre_tokenizer_named(name) for name in before.split("+")[1:]]
    if has_pattern:
        parts.append(PatternPreTokenizer(pattern))
    return parts[0] if len(parts) == 1 else PreTokenizerSequence(parts)


def _pre_tokenizer_named(name: str) -> PreTokenizer:
    if name in _BUILT_IN:
        return _BUILT_IN[name]()
    raise StudioError(
        'There is no pre-tokenizer called "{name}"',
        "The pre-tokenizers are {names} and pattern:REGEX; several are joined by a plus sign.",
        name=name,
        names=", ".join(_BUILT_IN),
    )


def to_spec(pre_tokenizer: PreTokenizer) -> dict[str, Any]:
    """Return a built-in pre-tokenizer as plain data that JSON can hold.

    Raises
    ------
    StudioError
        If it is not one of the built-in pre-tokenizers.
    """
    match pre_tokenizer:
        case PreTokenizerSequence(pre_tokenizers=parts) if type(pre_tokenizer) is PreTokenizerSequence:
            return {"type": "sequence", "pre_tokenizers": [to_spec(part) for part in parts]}
        case PatternPreTokenizer(pattern=pattern) if type(pre_tokenizer) is PatternPreTokenizer:
            return {"type": "pattern", "pattern": pattern}
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
        case {"type": "sequence", "pre_tokenizers": [_, *_] as parts} if len(spec) == 2:
            return PreTokenizerSequence(map(from_spec, parts))
        case {"type": "pattern", "pattern": str(pattern)} if len(spec) == 2:
            return PatternPreTokenizer(pattern)
        case {"type": str(name)} if len(spec) == 1 and name in _BUILT_IN:
            return _BUILT_IN[name]()
    raise StudioError("{spec} does not describe a pre-tokenizer", spec=repr(spec)[:200])


_BUILT_IN: Mapping[str, type[PreTokenizer]] = {
    "bert": BertPreTokenizer,
    "whitespace": Whitespace,
    "whitespace-split": WhitespaceSplit,
    "punctuation": Punctuation,
    "unicode-punctuation": UnicodePunctuation,
}


def _within(outer: Span, inner: Span) -> Span:
    """Return a span within the text of `outer` as a span of the text that contains `outer`."""
    places = range(outer.start, outer.end) if outer.positions is None else outer.positions
    positions = None
    if outer.positions is not None or inner.positions is not None:
        inside = range(inner.start, inner.end) if inner.positions is None else inner.positions
        positions = tuple(places[position] for position in inside)
    start, end = places[inner.start], places[inner.end - 1] + 1
    return Span(inner.text, start, end, positions if len(inner.text) < end - start else None)


def _iterated(pre_tokenizer: PreTokenizer, words: Iterable[str]) -> Iterator[str]:
    for word in words:
        yield from pre_tokenizer.iterate(word)
