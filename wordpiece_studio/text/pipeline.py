"""From raw text to words: what a normalizer and a pre-tokenizer are, and the pipeline of the two.

Every character can be traced back to the original text. Positions are code points, as Python counts them.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, NamedTuple, Self, TypeVar

from wordpiece_studio.errors import StudioError


class AlignedText(NamedTuple):
    """A normalized text with, for every character, the stretch of the original that it came from.

    A character that normalization removed belongs to no stretch; if one original character was turned into several,
    they all have its stretch.
    """

    text: str
    starts: Sequence[int]  # for each character of the text, its first original position
    ends: Sequence[int]  # and the one after its last

    @classmethod
    def identity(cls, text: str) -> Self:
        return cls(text, range(len(text)), range(1, len(text) + 1))

    @classmethod
    def at(cls, text: str, positions: Sequence[int]) -> Self:
        """Return a text of which each character comes from a single one, at its position."""
        return cls(text, positions, [position + 1 for position in positions])

    def then(self, later: AlignedText) -> AlignedText:
        """Return `later`, a normalization of this text, aligned with this text's original.

        >>> first = AlignedText("ab", [0, 2], [1, 3])         # "a b" with its space removed
        >>> first.then(AlignedText("b", [1], [2])).starts     # then the "a" removed
        [2]
        """
        starts = [self.starts[start] for start in later.starts]
        ends = [self.ends[end - 1] for end in later.ends]
        return AlignedText(later.text, starts, ends)


MOST_GROWTH = 18  # the number of characters in the longest compatibility decomposition, that of U+FDFA


_T = TypeVar("_T")
_FIELD_TYPES: dict[Any, tuple[type | tuple[type, ...], str]] = {
    "bool": (bool, "Use True or False."),
    "bool | None": ((bool, type(None)), "Use True, False or None."),
    "str": (str, "Use a string."),
}


def check_fields(value: Any) -> None:
    for field in fields(value):
        type_, advice = _FIELD_TYPES.get(field.type, (object, ""))
        found = getattr(value, field.name)
        if not isinstance(found, type_):
            what = "Invalid value for {field} of {kind}: {value}"
            raise StudioError(what, advice, field=field.name, kind=type(value).__name__, value=repr(found)[:100])


def checked_steps(steps: object, kind: type[_T]) -> tuple[_T, ...]:
    found = tuple(steps) if isinstance(steps, Iterable) and not isinstance(steps, str) else (steps,)
    for step in found:
        if not isinstance(step, kind):
            what = "{value} is not a {kind}"
            advice = "Pass a list of such objects; a name can only stand for the whole sequence."
            raise StudioError(what, advice, value=repr(step)[:100], kind=kind.__name__)
    return found


class _Step(ABC):
    __slots__ = ()

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name in messages and on the command line."""

    @property
    def is_local(self) -> bool:
        """Whether each stretch between blanks and line ends can be normalized, or split, on its own.

        If so, equal stretches of a corpus need be processed only once. Leave it False when in doubt.
        """
        return False

    @property
    def is_by_character(self) -> bool:
        """Whether what becomes of each character is the same everywhere, unless a normalizer `regards_neighbours`.

        A pre-tokenizer then drops it, or makes it part of a word, a word, or what separates words. If so, the result
        for each character need be found out only once. Leave it False when in doubt.
        """
        return False


class Normalizer(_Step):
    """Changes a text before it is split into words: lower-cases it, strips accents, removes control characters.

    A custom normalizer need only define `name` and `align`.
    """

    __slots__ = ()

    @property
    def growth(self) -> int:
        """The most characters that one can become; overlong words are reported with their lines up to this growth."""
        return MOST_GROWTH

    @property
    def kept(self) -> Normalizer:
        """What a tokenizer keeps of it: all, except steps that are for the corpus only, see `CorpusOnly`."""
        return self

    def regards_neighbours(self, character: str) -> bool:
        """Return whether the result for a character, or for its neighbours, may depend on the context."""
        return not self.is_by_character

    @abstractmethod
    def align(self, text: str) -> AlignedText:
        """Return the normalized text, aligned with `text`."""

    def normalize(self, text: str) -> str:
        """Return the normalized text; the same as ``align(text).text``, but possibly faster."""
        return self.align(text).text


class CharacterNormalizer(Normalizer):
    """A normalizer that looks at single characters and their neighbours, and never across a blank."""

    __slots__ = ()
    is_local = is_by_character = True


class Span(NamedTuple):
    """A word and its position in the normalized text, in code points.

    The positions of its characters are given if some between them were dropped, or several stand for one of the text.
    """

    text: str
    start: int
    end: int  # the position after its last character
    positions: tuple[int, ...] | None = None

    def taken(self, places: Sequence[int]) -> Sequence[int]:
        if self.positions is None:
            return places[self.start : self.end]
        return [places[position] for position in self.positions]


class PreTokenizer(_Step):
    """Splits a normalized text into words.

    A custom pre-tokenizer need only define `name` and `spans`.
    """

    __slots__ = ()

    @property
    def growth(self) -> int:
        """The most letters that one character can become; as for normalizers."""
        return 1

    @property
    def is_byte_level(self) -> bool:
        """Whether the letters of a word stand for the bytes of its UTF-8, see `ByteLevel`."""
        return False

    @abstractmethod
    def spans(self, text: str) -> list[Span]:
        """Return the words of `text` and their positions, from left to right."""

    def split(self, text: str) -> list[str]:
        """Return the words alone; the same as the texts of ``spans(text)``, but possibly faster."""
        return [span.text for span in self.spans(text)]

    def iterate(self, text: str) -> Iterator[str]:
        """Yield the words alone; the same as ``split(text)``, but possibly with less memory."""
        yield from self.split(text)


class CharacterPreTokenizer(PreTokenizer):
    """A pre-tokenizer to which context never matters, and for which a blank always separates words."""

    __slots__ = ()
    is_local = is_by_character = True


_FEW_TOKENS = 8
_ADVICE = (
    "If a repetition can match the same text in several ways, as in (a|aa)+, leave only one of them,"
    " or make it possessive, as in (a|aa)++."
)


class PatternOverrunError(StudioError):
    """A user's pattern was stopped on a text, whose `place` is a template."""

    def __init__(self, what: str, pattern: str, text: str, place: str = "", **values: object) -> None:
        template = f'The pattern "{{pattern}}" {what}{place}: "{{text}}"'
        super().__init__(template, _ADVICE, pattern=pattern, text=text, **values)
        self._beginning = what, pattern, text

    def in_line(self, line: int, source: str = "") -> PatternOverrunError:
        place = " in line {line} of {path}" if source else " in line {line}"
        return PatternOverrunError(*self._beginning, place, line=line, path=source)


# The special tokens of most WordPiece pipelines; the linter reports a corpus that spells them out.
BERT_SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


@dataclass(frozen=True, slots=True)
class Word:
    """A word after normalization, never empty, with the stretch of the original text that each character came from."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @property
    def start(self) -> int:
        return self.starts[0]

    @property
    def end(self) -> int:
        return self.ends[-1]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A normalizer and the pre-tokenizer that follows it; `user_tokens` are taken out of a text before.

    A text is read line by line; a line ends at LF. For the built-in steps this makes no difference, except for those
    that remove or join at line ends.
    """

    normalizer: Normalizer
    pre_tokenizer: PreTokenizer
    user_tokens: tuple[str, ...] = ()

    @property
    def is_local(self) -> bool:
        """Whether a text's words are those of its stretches between blanks and line ends, taken one after the other."""
        has_blanks = any(" " in token for token in self.user_tokens)
        return self.normalizer.is_local and self.pre_tokenizer.is_local and not has_blanks

    @property
    def is_by_character(self) -> bool:
        """Whether each character has a fixed result, except where the normalizer `regards_neighbours`."""
        is_by_character = self.normalizer.is_by_character and self.pre_tokenizer.is_by_character
        return is_by_character and self.is_local and not self.user_tokens

    def words(self, text: str) -> list[str]:
        if self.is_local and not self.user_tokens:
            return self.pre_tokenizer.split(self.normalizer.normalize(text))
        return list(self.iterate(text))

    def iterate(self, text: str) -> Iterator[str]:
        """Yield the words of a text, whose list may need much memory."""
        for number, _, stretch in self._stretches(text):
            try:
                yield from self.pre_tokenizer.iterate(self.normalizer.normalize(stretch))
            except PatternOverrunError as error:
                raise error.in_line(number) from None

    def aligned_words(self, text: str) -> list[Word]:
        """Return the words of `text` with their positions in it; their texts are those of ``words(text)``."""
        words: list[Word] = []
        for number, first, stretch in self._stretches(text):
            try:
                aligned = self.normalizer.align(stretch)
                spans = self.pre_tokenizer.spans(aligned.text)
            except PatternOverrunError as error:
                raise error.in_line(number) from None
            starts, ends = aligned.starts, aligned.ends
            if first:
                starts, ends = [first + start for start in starts], [first + end for end in ends]
            words += [Word(span.text, tuple(span.taken(starts)), tuple(span.taken(ends))) for span in spans]
        return words

    def _stretches(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield what is normalized by itself: the number of its line, from 1, where it begins, and its text."""
        start = 0
        for number, line in enumerate([text] if self.is_local else text.split("\n"), start=1):
            done = 0
            for found in one_of(self.user_tokens).finditer(line) if self.user_tokens else ():
                yield number, start + done, line[done : found.start()]
                done = found.end()
            yield number, start + done, line[done:]
            start += len(line) + 1


@cache
def one_of(tokens: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern that finds tokens in a text: of several that begin at one place, the longest.

    >>> one_of(("ab", "abc", "b")).findall("abcdabb"), one_of(()).findall("ab")
    (['abc', 'ab', 'b'], [])
    """
    return re.compile(_alternatives(tokens, 8) or r"\b\B")


def _alternatives(tokens: Sequence[str], depth: int) -> str:
    """Return a pattern that tries the longest token first, but a common beginning of many, up to `depth`, only once."""
    if not depth or len(tokens) < _FEW_TOKENS:
        return "|".join(map(re.escape, sorted(tokens, key=len, reverse=True)))
    rests: dict[str, list[str]] = {}
    for token in tokens:
        rests.setdefault(token[:1], []).append(token[1:])
    has_end = rests.pop("", None) is not None
    parts = [f"{re.escape(first)}(?:{_alternatives(rest, depth - 1)})" for first, rest in rests.items()]
    return "|".join(parts + [""] * has_end)
