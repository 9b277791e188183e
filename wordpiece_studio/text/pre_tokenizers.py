"""The built-in pre-tokenizers, by name and as plain data; those with the user's own pattern are in `patterns`."""

from __future__ import annotations

import codecs
import math
import re
from abc import abstractmethod
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

import regex

from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.character_tables import (
    bert_tables,
    form_tables,
    one_pattern,
    pattern_tables,
    ranges_outside,
    run_pattern,
)
from wordpiece_studio.text.patterns import PATTERN_PREFIX, SPLIT_PREFIX, PatternPreTokenizer, Split, split_named
from wordpiece_studio.text.pipeline import CharacterPreTokenizer, PreTokenizer, Span, checked_steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


class _Matching(CharacterPreTokenizer):
    __slots__ = ()

    @abstractmethod
    def _pattern(self) -> re.Pattern[str]: ...

    def spans(self, text: str) -> list[Span]:
        return [Span(match[0], *match.span()) for match in self._pattern().finditer(text)]

    def split(self, text: str) -> list[str]:
        words: list[str] = self._pattern().findall(text)
        return words

    def iterate(self, text: str) -> Iterator[str]:
        for match in self._pattern().finditer(text):
            yield match[0]


@dataclass(frozen=True, slots=True)
class BertPreTokenizer(_Matching):
    """Splits at white space, and makes every punctuation character a word of its own.

    >>> BertPreTokenizer().split("Don't stop...")
    ['Don', "'", 't', 'stop', '.', '.', '.']
    """

    name = "bert"

    @staticmethod
    @cache
    def _pattern() -> re.Pattern[str]:
        tables = bert_tables()
        letters = run_pattern(ranges_outside(tables.punctuation, tables.whitespace))
        return re.compile(f"{letters}|{one_pattern(tables.punctuation.ranges)}")


@dataclass(frozen=True, slots=True)
class Whitespace(_Matching):
    r"""Splits at white space, and makes each run of characters other than letters, digits and marks a separate word.

    That is ``\w+|[^\w\s]+``, as the `tokenizers` library defines ``\w``; Python's does not include marks.

    >>> Whitespace().split("Don't stop...")
    ['Don', "'", 't', 'stop', '...']
    """

    name = "whitespace"

    is_by_character = False  # punctuation is a word together with the punctuation beside it

    @staticmethod
    @cache
    def _pattern() -> re.Pattern[str]:
        word, whitespace = form_tables().word, bert_tables().whitespace
        return re.compile(f"{run_pattern(word.ranges)}|{run_pattern(ranges_outside(word, whitespace))}")


@dataclass(frozen=True, slots=True)
class WhitespaceSplit(_Matching):
    """Splits at white space and nowhere else.

    White space is as Unicode defines it. Python's `str.split` would also split at the separators U+001C to U+001F.

    >>> WhitespaceSplit().split("Don't stop...")
    ["Don't", 'stop...']
    """

    name = "whitespace-split"

    @staticmethod
    @cache
    def _pattern() -> re.Pattern[str]:
        return re.compile(f"[^{bert_tables().whitespace.pattern()}]+")


@dataclass(frozen=True, slots=True)
class Punctuation(_Matching):
    """Makes every punctuation character a word of its own, and splits nowhere else: words may hold blanks.

    A line end still ends a word, because a text is read line by line. Most useful in a sequence with others.

    >>> Punctuation().split("Don't stop...")
    ['Don', "'", 't stop', '.', '.', '.']
    """

    name = "punctuation"

    is_local = False

    @staticmethod
    @cache
    def _pattern() -> re.Pattern[str]:
        punctuation = bert_tables().punctuation
        return re.compile(f"{run_pattern(ranges_outside(punctuation))}|{one_pattern(punctuation.ranges)}")


@dataclass(frozen=True, slots=True)
class Digits(_Matching):
    """Separates digits from everything else, and splits nowhere else: words may hold blanks.

    Digits are those of the `tokenizers` library, which counts fractions, superscripts and Roman numerals among them.
    Most useful in a sequence with others.

    Parameters
    ----------
    individual_digits
        Whether every digit is a word of its own; otherwise digits beside each other are one.

    >>> Digits().split("Call 911!"), Digits(individual_digits=True).split("Call 911!")
    (['Call ', '911', '!'], ['Call ', '9', '1', '1', '!'])
    """

    individual_digits: bool = False

    @property
    def name(self) -> str:
        """``"digits"``, or ``"digits-single"``."""
        return "digits-single" if self.individual_digits else "digits"

    is_local = False

    @property
    def is_by_character(self) -> bool:  # type: ignore[override]  # elsewhere it does not depend on an option
        return self.individual_digits

    @cache  # noqa: B019  # of two of them
    def _pattern(self) -> re.Pattern[str]:
        digit = pattern_tables().digit
        digits = one_pattern(digit.ranges) if self.individual_digits else run_pattern(digit.ranges)
        return re.compile(f"{run_pattern(ranges_outside(digit))}|{digits}")


@dataclass(frozen=True, slots=True)
class ByteLevel(PreTokenizer):
    """Splits as GPT-2 does, and turns every byte of a word's UTF-8 into a letter: 256 letters are enough for any text.

    Blanks stay part of the words, as the letter Ġ, so that decoded text has them where the text had them. After a
    pre-tokenizer that drops blanks only `add_prefix_space` shows where words begin.

    Parameters
    ----------
    add_prefix_space
        Whether a blank is put before a text, or before a word of the pre-tokenizer before this one, that has none.
    use_regex
        Whether to split, into contractions, letters, digits and the rest, each with the blank before it.

    >>> ByteLevel().split("Café, 7 o'clock")
    ['ĠCafÃ©', ',', 'Ġ7', 'Ġo', "'", 'clock']
    """

    add_prefix_space: bool = True
    use_regex: bool = True

    @property
    def name(self) -> str:
        """``"byte-level"``, and after a colon ``"no-prefix"``, ``"no-regex"``, or ``"bytes-only"`` for neither."""
        if self.add_prefix_space:
            return "byte-level" if self.use_regex else "byte-level:no-regex"
        return "byte-level:no-prefix" if self.use_regex else "byte-level:bytes-only"

    growth = 5  # the bytes of a character, and the blank before it

    is_byte_level = True

    @staticmethod
    def alphabet() -> tuple[str, ...]:
        """Return the 256 letters; given as the initial alphabet of a training, they leave no text unknown.

        >>> len(ByteLevel.alphabet())
        256
        """
        return tuple(sorted(_BYTE_LETTERS))

    def spans(self, text: str) -> list[Span]:
        padded = self._padded(text)
        added = len(padded) - len(text)
        spans, start = [], 0
        for word in self._words(padded):
            letters = _letters_of(word)
            # The blank that was put before the text stands where its first character does.
            places = [max(place - added, 0) for place in range(start, start + len(word))]
            if len(letters) > len(word):
                sizes = (len(_letters_of(character)) for character in word)
                places = [place for place, size in zip(places, sizes, strict=True) for _ in range(size)]
            spans.append(_span(letters, places))
            start += len(word)
        return spans

    def split(self, text: str) -> list[str]:
        return list(map(_letters_of, self._words(self._padded(text))))

    def _padded(self, text: str) -> str:
        return f" {text}" if self.add_prefix_space and text and text[0] != " " else text

    def _words(self, text: str) -> list[str]:
        if not self.use_regex:
            return [text] if text else []
        words: list[str] = _gpt2_words().findall(text)
        return words


# Bytes that cannot be seen in Latin-1 have letters from U+0100 on.
_UNSEEN = [*range(0x21), *range(0x7F, 0xA1), 0xAD]
_BYTE_LETTERS = "".join(chr(0x100 + _UNSEEN.index(byte) if byte in _UNSEEN else byte) for byte in range(256))
_BYTES_OF_LETTERS = {letter: byte for byte, letter in enumerate(_BYTE_LETTERS)}


def _letters_of(word: str) -> str:
    return codecs.charmap_decode(word.encode("utf-8", "surrogatepass"), "strict", _BYTE_LETTERS)[0]


def text_of_letters(parts: Iterable[str]) -> str:
    """Return the text whose bytes the letters stand for; a part with any other letter stands for itself.

    >>> text_of_letters(["Caf", "Ã", "©Ġ", "日"])
    'Café 日'
    """
    joined = bytearray()
    for part in parts:
        try:
            joined += bytes(map(_BYTES_OF_LETTERS.__getitem__, part))
        except KeyError:
            joined += part.encode("utf-8", "surrogatepass")
    return joined.decode("utf-8", "replace")


@cache
def _gpt2_words() -> re.Pattern[str]:
    tables, whitespace = pattern_tables(), bert_tables().whitespace
    others = ranges_outside(tables.letter, tables.number, whitespace)
    runs = "|".join(f" ?(?:{run_pattern(ranges)})" for ranges in (tables.letter.ranges, tables.number.ranges, others))
    blank = whitespace.pattern()
    return re.compile(f"'(?:[stmd]|re|ve|ll)|{runs}|[{blank}]+(?![^{blank}])|[{blank}]+")


@dataclass(frozen=True, slots=True)
class UnicodePunctuation(CharacterPreTokenizer):
    """The pre-tokenizer of the Simplified Chinese notebook, which reads a text line by line.

    From each line control characters, including tabs, are dropped, so that their neighbours are joined; every Han,
    kana or Hangul character and every Unicode punctuation mark becomes a word of its own; the rest is split at
    white space. Lower-casing, an option there, is a normalizer here. Lines end at LF, CR or both.
    """

    name = "unicode-punctuation"

    def spans(self, text: str) -> list[Span]:
        words, control = _unicode_patterns()
        spans = []
        for match in words.finditer(text):
            if control.search(match[0]) is None:
                spans.append(Span(match[0], *match.span()))
            elif word := control.sub("", match[0]):
                places = range(*match.span())
                spans.append(_span(word, [place for place in places if not control.match(text[place])]))
        return spans

    def split(self, text: str) -> list[str]:
        words, control = _unicode_patterns()
        found: list[str] = words.findall(text)
        return found if control.search(text) is None else list(filter(None, (control.sub("", each) for each in found)))


@cache
def _unicode_patterns() -> tuple[regex.Pattern[str], regex.Pattern[str]]:
    """Return what matches a word, and a control character, which may be inside it, unless it ends a line."""
    alone = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{P}"
    words = regex.compile(rf"[{alone}]|(?:[^\s{alone}]|[\u0000-\u0009\u000B\u000C\u000E-\u001F])+")
    return words, regex.compile(r"[\u0000-\u001F\u007F]")


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
            for given in checked_steps(pre_tokenizers, PreTokenizer)  # type: ignore[type-abstract]
            for part in (given.pre_tokenizers if isinstance(given, PreTokenizerSequence) else (given,))
        )
        if not parts:
            raise StudioError("A sequence of pre-tokenizers is empty", "Specify at least one.")
        if any(isinstance(part, PatternPreTokenizer) for part in parts[:-1]):
            what = "A pattern stands before another pre-tokenizer"
            raise StudioError(what, "Put the pattern last, or make it do the other one's work too.")
        object.__setattr__(self, "pre_tokenizers", parts)

    @property
    def name(self) -> str:
        """The names, joined by ``+``."""
        return "+".join(pre_tokenizer.name for pre_tokenizer in self.pre_tokenizers)

    @property
    def is_local(self) -> bool:
        return self.pre_tokenizers[0].is_local or (
            self.is_by_character and any(pre_tokenizer.is_local for pre_tokenizer in self.pre_tokenizers)
        )

    @property
    def is_by_character(self) -> bool:
        return all(pre_tokenizer.is_by_character for pre_tokenizer in self.pre_tokenizers)

    @property
    def growth(self) -> int:
        return math.prod(pre_tokenizer.growth for pre_tokenizer in self.pre_tokenizers)

    @property
    def is_byte_level(self) -> bool:
        return any(pre_tokenizer.is_byte_level for pre_tokenizer in self.pre_tokenizers)

    def spans(self, text: str) -> list[Span]:
        spans = [Span(text, 0, len(text))]
        for pre_tokenizer in self.pre_tokenizers:
            spans = [within(outer, inner) for outer in spans for inner in pre_tokenizer.spans(outer.text)]
        return spans

    def split(self, text: str) -> list[str]:
        words = [text]
        for pre_tokenizer in self.pre_tokenizers:
            words = [part for word in words for part in pre_tokenizer.split(word)]
        return words

    def iterate(self, text: str) -> Iterator[str]:
        words: Iterator[str] = iter((text,))
        for pre_tokenizer in self.pre_tokenizers:
            words = chain.from_iterable(map(pre_tokenizer.iterate, words))
        return words


_NAMES = "The pre-tokenizers are {names}, split:BEHAVIOR:REGEX and pattern:REGEX; several are joined by a plus sign."


def resolve_pre_tokenizer(value: str | PreTokenizer) -> PreTokenizer:
    """Return the pre-tokenizer that `value` is or names; several names are joined by ``+``.

    Everything after ``pattern:`` is a regular expression; after ``split:BEHAVIOR:``, everything up to a plus sign with
    another name.

    >>> resolve_pre_tokenizer("whitespace-split+pattern:[a-z]+|.").split("to B2B")
    ['to', 'B', '2', 'B']
    >>> resolve_pre_tokenizer("split:isolated:[0-9]+digits-single").split("B12")
    ['B', '1', '2']
    """
    if isinstance(value, PreTokenizer):
        return value
    parts: list[PreTokenizer] = []
    part: PreTokenizer
    rest = f"+{value}"
    while rest:
        rest = rest[1:]
        if rest.startswith(PATTERN_PREFIX):
            parts.append(PatternPreTokenizer(rest.removeprefix(PATTERN_PREFIX)))
            break
        if rest.startswith(SPLIT_PREFIX):
            part, rest = split_named(rest)
        elif (name := rest.partition("+")[0]) in _BUILT_IN:
            part, rest = _BUILT_IN[name], rest[len(name) :]
        else:
            what = 'There is no pre-tokenizer called "{name}"'
            raise StudioError(what, _NAMES, name=name, names=", ".join(_BUILT_IN))
        parts.append(part)
    return parts[0] if len(parts) == 1 else PreTokenizerSequence(parts)


def to_spec(pre_tokenizer: PreTokenizer) -> dict[str, Any]:
    match pre_tokenizer:
        case PreTokenizerSequence(pre_tokenizers=parts) if type(pre_tokenizer) is PreTokenizerSequence:
            return {"type": "sequence", "pre_tokenizers": [to_spec(part) for part in parts]}
        case PatternPreTokenizer(pattern=pattern) if type(pre_tokenizer) is PatternPreTokenizer:
            return {"type": "pattern", "pattern": pattern}
        case Split(pattern=pattern, behavior=behavior, invert=invert) if type(pre_tokenizer) is Split:
            return {"type": "split", "pattern": pattern, "behavior": behavior, "invert": invert}
    if pre_tokenizer in _BUILT_IN.values():
        return {"type": pre_tokenizer.name}
    what = 'The pre-tokenizer "{name}" is not built in, so it cannot be written to a file'
    advice = "Save the vocabulary alone, and specify the pre-tokenizer again when you load it."
    raise StudioError(what, advice, name=pre_tokenizer.name)


def from_spec(spec: Any) -> PreTokenizer:
    match spec:
        case {"type": "sequence", "pre_tokenizers": [_, *_] as parts} if len(spec) == 2:
            return PreTokenizerSequence(map(from_spec, parts))
        case {"type": "pattern", "pattern": str(pattern)} if len(spec) == 2:
            return PatternPreTokenizer(pattern)
        case {"type": "split", "pattern": str(pattern), "behavior": behavior, "invert": bool(invert)} if len(spec) == 4:
            return Split(pattern, behavior, invert)
        case {"type": str(name)} if len(spec) == 1 and name in _BUILT_IN:
            return _BUILT_IN[name]
    raise StudioError("{spec} does not describe a pre-tokenizer", spec=repr(spec)[:200])


_BUILT_IN: Mapping[str, PreTokenizer] = {
    each.name: each
    for each in (
        BertPreTokenizer(), Whitespace(), WhitespaceSplit(), Punctuation(), UnicodePunctuation(),
        Digits(), Digits(individual_digits=True),
        ByteLevel(), ByteLevel(False, True), ByteLevel(True, False), ByteLevel(False, False),
    )
}  # fmt: skip


def within(outer: Span, inner: Span) -> Span:
    """Return a span of the text of another one as one of what that is in."""
    places = range(outer.start, outer.end) if outer.positions is None else outer.positions
    if outer.positions is None and inner.positions is None:
        return Span(inner.text, places[inner.start], places[inner.end - 1] + 1)
    inside = range(inner.start, inner.end) if inner.positions is None else inner.positions
    return _span(inner.text, [places[position] for position in inside])


def _span(text: str, positions: list[int]) -> Span:
    start, end = positions[0], positions[-1] + 1
    return Span(text, start, end, None if positions == list(range(start, end)) else tuple(positions))
