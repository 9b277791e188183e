"""Tokens that are found in a text before anything else is done with it, or right after it is normalized."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wordpiece_studio.peers.pieces import part_of
from wordpiece_studio.text.character_tables import bert_tables, form_tables
from wordpiece_studio.text.pipeline import AlignedText

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wordpiece_studio.text.pipeline import Normalizer


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A token with an id of its own.

    Attributes
    ----------
    is_normalized
        Whether it is looked for in the normalized text, and is normalized itself for that.
    is_single_word
        Whether it counts only where no letter, digit or mark stands right beside it.
    takes_left, takes_right
        Whether white space on that side belongs to it.
    is_special
        Whether it is no piece of text, such as ``[CLS]``.
    """

    id: int
    content: str
    is_normalized: bool = False
    is_single_word: bool = False
    takes_left: bool = False
    takes_right: bool = False
    is_special: bool = False


class AddedTokens:
    """Finds added tokens as the `tokenizers` library does: the leftmost first, and of those the longest.

    Parameters
    ----------
    tokens
        The tokens; empty ones are never found.
    normalizer
        What a text goes through.
    """

    def __init__(self, tokens: Sequence[AddedToken], normalizer: Normalizer) -> None:
        self._normalizer = normalizer
        plain = {token.content: token for token in tokens if not token.is_normalized}
        normalized = {normalizer.normalize(token.content): token for token in tokens if token.is_normalized}
        self._plain = _Finder(plain)
        self._normalized = _Finder(normalized)

    def pieces(self, text: str) -> Iterator[tuple[AlignedText, AddedToken | None]]:
        """Yield the pieces of a text, normalized unless they are an added token; and the token if they are one."""
        for piece, token in self._plain.pieces(AlignedText.identity(text)):
            if token is not None:
                yield piece, token
            elif piece.text:
                yield from self._normalized.pieces(piece.then(self._normalizer.align(piece.text)))


class _Finder:
    """Finds some tokens by what they are written like."""

    def __init__(self, tokens: dict[str, AddedToken]) -> None:
        self._tokens = tokens
        written = sorted(filter(None, tokens), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, written))) if written else None

    def pieces(self, piece: AlignedText) -> Iterator[tuple[AlignedText, AddedToken | None]]:
        text, done = piece.text, 0
        for match in self._pattern.finditer(text) if self._pattern else ():
            token, (start, end) = self._tokens[match[0]], match.span()
            if token.is_single_word and (_is_word(text[start - 1 : start]) or _is_word(text[end : end + 1])):
                continue
            if token.takes_left:
                start = max(_blank_from(text, start), done)
            if token.takes_right:
                end = _blank_until(text, end)
            if done < start:
                yield part_of(piece, done, start), None
            yield part_of(piece, start, end), token
            done = end
        if done < len(text):
            yield part_of(piece, done, len(text)), None


def _is_word(character: str) -> bool:
    return character != "" and ord(character) in form_tables().word


def _blank_from(text: str, start: int) -> int:
    whitespace = bert_tables().whitespace
    while start and ord(text[start - 1]) in whitespace:
        start -= 1
    return start


def _blank_until(text: str, end: int) -> int:
    whitespace = bert_tables().whitespace
    while end < len(text) and ord(text[end]) in whitespace:
        end += 1
    return end
