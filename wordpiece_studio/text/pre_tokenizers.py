"""The pre-tokenizers that are built in, by name and as plain data: they cut a normalized text into words.

Not here: what happens to the text before (`normalizers`) and to the words afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.class_pre_tokenizers import (
    BertPreTokenizer,
    Punctuation,
    Whitespace,
    WhitespaceSplit,
)
from wordpiece_studio.text.pattern_pre_tokenizer import PATTERN_PREFIX, PatternPreTokenizer
from wordpiece_studio.text.pre_tokenizer import PreTokenizer, Span
from wordpiece_studio.text.unicode_punctuation import UnicodePunctuation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = [
    "BertPreTokenizer",
    "PatternPreTokenizer",
    "PreTokenizer",
    "PreTokenizerSequence",
    "Punctuation",
    "Span",
    "UnicodePunctuation",
    "Whitespace",
    "WhitespaceSplit",
    "from_spec",
    "resolve_pre_tokenizer",
    "to_spec",
]


@dataclass(frozen=True, slots=True, init=False)
class PreTokenizerSequence(PreTokenizer):
    """Several pre-tokenizers, each of which cuts the words of the one before it.

    Raises
    ------
    StudioError
        If there are none; or if a pattern stands before another, because in a name it goes on to the end.

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
                "Put the pattern last, or let it do what the other one does.",
            )
        object.__setattr__(self, "pre_tokenizers", parts)

    @property
    def name(self) -> str:
        """The names, joined by ``+``."""
        return "+".join(pre_tokenizer.name for pre_tokenizer in self.pre_tokenizers)

    @property
    def is_local(self) -> bool:
        """Whether the first is, or any of them if all go by character."""
        return self.pre_tokenizers[0].is_local or (
            self.is_by_character and any(pre_tokenizer.is_local for pre_tokenizer in self.pre_tokenizers)
        )

    @property
    def is_by_character(self) -> bool:
        """Whether all of them are."""
        return all(pre_tokenizer.is_by_character for pre_tokenizer in self.pre_tokenizers)

    def spans(self, text: str) -> list[Span]:
        """Return the words of `text` and where they stand."""
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

    What stands behind ``pattern:`` is a regular expression, up to the end.

    Raises
    ------
    StudioError
        If there is no pre-tokenizer of that name, the message lists the names; or if a pattern is invalid.

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
    """Return a word of a word's text as a word of the text that the outer one stands in."""
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
