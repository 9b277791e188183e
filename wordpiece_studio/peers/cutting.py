"""How the pre-tokenizers of other programs cut a piece of normalized text into words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, Protocol

from wordpiece_studio.peers.expressions import GPT2_WORDS, Expression
from wordpiece_studio.peers.normalizing import ByteCharacters
from wordpiece_studio.peers.pieces import Behavior, cut, part_of, stretches, with_prefix
from wordpiece_studio.text.character_tables import bert_tables
from wordpiece_studio.text.pipeline import AlignedText

if TYPE_CHECKING:
    from wordpiece_studio.text.pipeline import PreTokenizer, Span


class Cutter(Protocol):
    """A step that cuts a piece into smaller ones."""

    def parts(self, piece: AlignedText) -> list[AlignedText]:
        """Return the parts of a piece, from left to right; none is empty."""


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """One of our own pre-tokenizers."""

    pre_tokenizer: PreTokenizer

    def parts(self, piece: AlignedText) -> list[AlignedText]:
        """Return the words of a piece."""
        return [_word(piece, span) for span in self.pre_tokenizer.spans(piece.text)]


def line_cutters(pre_tokenizer: PreTokenizer) -> list[Cutter]:
    """Return the cutters that do what one of our own does, which reads a text line by line."""
    own = BuiltIn(pre_tokenizer)
    return [own] if pre_tokenizer.is_local else [Split("\n", "Removed"), own]


@dataclass(frozen=True, slots=True)
class Split:
    """Cuts at a text or at the matches of an expression, or at everything else."""

    pattern: str | Expression
    behavior: Behavior
    is_inverted: bool = False

    def parts(self, piece: AlignedText) -> list[AlignedText]:
        """Return the parts of a piece."""
        found = stretches(len(piece.text), self._matches(piece.text), is_inverted=self.is_inverted)
        return cut(piece, found, self.behavior)

    def _matches(self, text: str) -> list[tuple[int, int]]:
        if isinstance(self.pattern, Expression):
            return list(self.pattern.matches(text))
        found, start = [], text.find(self.pattern)
        while start >= 0:
            found.append((start, start + len(self.pattern)))
            start = text.find(self.pattern, found[-1][1])
        return found


@dataclass(frozen=True, slots=True)
class PunctuationSplit:
    """Cuts at punctuation, in another way than to isolate it."""

    behavior: Behavior

    def parts(self, piece: AlignedText) -> list[AlignedText]:
        """Return the parts of a piece."""
        punctuation = bert_tables().punctuation
        matches = [(at, at + 1) for at, character in enumerate(piece.text) if ord(character) in punctuation]
        return cut(piece, stretches(len(piece.text), matches), self.behavior)


@dataclass(frozen=True, slots=True)
class Metaspace:
    """Writes a mark in the place of every blank, and before the text, and cuts before each mark."""

    mark: str
    scheme: Literal["always", "first", "never"]
    does_split: bool

    def parts(self, piece: AlignedText) -> list[AlignedText]:
        """Return the parts of a piece."""
        marked = AlignedText(piece.text.replace(" ", self.mark), piece.starts, piece.ends)
        is_marked = self.scheme == "always" or (self.scheme == "first" and piece.starts[0] == 0)
        if is_marked and not marked.text.startswith(self.mark):
            marked = with_prefix(marked, self.mark)
        return Split(self.mark, "MergedWithNext").parts(marked) if self.does_split else [marked]


@dataclass(frozen=True, slots=True)
class ByteLevel:
    """Cuts as GPT-2 does, if it is to, and writes a character for each byte."""

    adds_blank: bool
    does_split: bool

    def parts(self, piece: AlignedText) -> list[AlignedText]:
        """Return the parts of a piece."""
        if self.adds_blank and not piece.text.startswith(" "):
            piece = with_prefix(piece, " ")
        parts = [piece]
        if self.does_split:
            parts = cut(piece, stretches(len(piece.text), _gpt2_words().matches(piece.text)), "Isolated")
        return [part.then(ByteCharacters().align(part.text)) for part in parts]


def _word(piece: AlignedText, span: Span) -> AlignedText:
    if span.positions is None:
        return part_of(piece, span.start, span.end)
    starts = [piece.starts[position] for position in span.positions]
    ends = [piece.ends[position] for position in span.positions]
    return AlignedText(span.text, starts, ends)


@cache
def _gpt2_words() -> Expression:
    return Expression(GPT2_WORDS)
