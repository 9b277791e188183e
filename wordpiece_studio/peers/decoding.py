"""How the decoders of other programs make a text of tokens: each step turns a list of texts into another."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from wordpiece_studio.peers.normalizing import Replace, byte_characters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.errors import StudioError

_BYTE = re.compile(r"<0x((?:[0-9A-Fa-f]|\+)[0-9A-Fa-f])>")  # a sign counts as a digit there


_CLEANUP = (
    *((f" {mark}", mark) for mark in ".?!,"),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    *((f" {ending}", ending) for ending in ("'s", "'ve", "'re")),
)


class Decoder(Protocol):
    """A step."""

    def decode(self, tokens: list[str]) -> list[str]:
        """Return what becomes of some tokens, of which the first is the first of the text."""


@dataclass(frozen=True, slots=True)
class WordPieceDecoder:
    """Puts a blank before each token that does not continue a word."""

    prefix: str
    cleanup: bool

    def decode(self, tokens: list[str]) -> list[str]:
        """Return the tokens, most with a blank before them."""
        spaced = [
            token if not index else token[len(self.prefix) :] if token.startswith(self.prefix) else " " + token
            for index, token in enumerate(tokens)
        ]
        return [_cleaned(token) for token in spaced] if self.cleanup else spaced


@dataclass(frozen=True, slots=True)
class BpeDecoder:
    """Puts a blank in the place of each suffix, none at the end."""

    suffix: str

    def decode(self, tokens: list[str]) -> list[str]:
        """Return the tokens without suffixes."""
        last = len(tokens) - 1
        return [token.replace(self.suffix, " " if index < last else "") for index, token in enumerate(tokens)]


@dataclass(frozen=True, slots=True)
class ByteLevelDecoder:
    """Takes characters for the bytes that GPT-2 writes with them; a token with any other is taken as it is."""

    def decode(self, tokens: list[str]) -> list[str]:
        """Return one text."""
        bytes_by_character = {character: byte for byte, character in enumerate(byte_characters())}
        data = bytearray()
        for token in tokens:
            try:
                data += bytes([bytes_by_character[character] for character in token])
            except KeyError:
                data += token.encode("utf-8", "surrogatepass")
        return [data.decode("utf-8", "replace")]


@dataclass(frozen=True, slots=True)
class MetaspaceDecoder:
    """Puts a blank in the place of each mark; in the first token nothing, unless no mark was put before the text."""

    mark: str
    is_prepended: bool

    def decode(self, tokens: list[str]) -> list[str]:
        """Return the tokens without marks."""
        return [
            token.replace(self.mark, "" if not index and self.is_prepended else " ")
            for index, token in enumerate(tokens)
        ]


@dataclass(frozen=True, slots=True)
class ByteFallbackDecoder:
    """Makes characters of neighbouring tokens such as ``<0x41>``; a replacement character each if they make none."""

    def decode(self, tokens: list[str]) -> list[str]:
        """Return the tokens with bytes joined."""
        decoded: list[str] = []
        data = bytearray()
        for token in [*tokens, None]:
            found = None if token is None else _BYTE.fullmatch(token)
            if found is not None:
                data.append(int(found[1], 16))
                continue
            if data:
                try:
                    decoded.append(data.decode("utf-8"))
                except UnicodeDecodeError:
                    decoded += ["\N{REPLACEMENT CHARACTER}"] * len(data)
                data.clear()
            if token is not None:
                decoded.append(token)
        return decoded


@dataclass(frozen=True, slots=True)
class FuseDecoder:
    """Joins all tokens."""

    def decode(self, tokens: list[str]) -> list[str]:
        """Return one text."""
        return ["".join(tokens)]


@dataclass(frozen=True, slots=True)
class StripDecoder:
    """Removes a character from the beginning and the end of each token, so many times at most."""

    content: str
    start: int
    stop: int

    def decode(self, tokens: list[str]) -> list[str]:
        """Return the shorter tokens."""
        return [self._stripped(token) for token in tokens]

    def _stripped(self, token: str) -> str:
        first, last = 0, len(token)
        while first < min(self.start, len(token)) and token[first] == self.content:
            first += 1
        while last > first and len(token) - last < self.stop and token[last - 1] == self.content:
            last -= 1
        return token[first:last]


@dataclass(frozen=True, slots=True)
class ReplaceDecoder:
    """Replaces in each token as the normalizer of that name does."""

    replace: Replace

    def decode(self, tokens: list[str]) -> list[str]:
        """Return the tokens with everything replaced."""
        return [self.replace.normalize(token) for token in tokens]


@dataclass(frozen=True, slots=True)
class NoDecoder:
    """Stands for one that cannot be repeated: tokens can be had, but no text of them."""

    error: StudioError

    def decode(self, tokens: list[str]) -> list[str]:
        """Raise the error that says why."""
        raise self.error


def decoded(tokens: list[str], decoders: Sequence[Decoder] | None) -> str:
    """Return the text of some tokens; without decoders there is a blank between them.

    Raises
    ------
    StudioError
        If a decoder cannot be repeated here.
    """
    if decoders is None:
        return " ".join(tokens)
    for decoder in decoders:
        tokens = decoder.decode(tokens)
    return "".join(tokens)


def _cleaned(token: str) -> str:
    for old, new in _CLEANUP:
        token = token.replace(old, new)
    return token
