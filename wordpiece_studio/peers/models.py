"""The models of other programs that tokenize a word: BPE, Unigram, and WordPiece with ids of its own.

Offsets are in bytes of the word in UTF-8, end exclusive: so the `tokenizers` library counts, and where it loses
characters its offsets can only be had in the same way.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_UNKNOWN_PENALTY = 10.0

ModelKind = Literal["WordPiece", "BPE", "Unigram"]


class ModelToken(NamedTuple):
    """A token of a word: id, text, and (start, end) in bytes of the word."""

    id: int
    token: str
    start: int
    end: int


class Model(Protocol):
    """Tokenizes words."""

    @property
    def kind(self) -> ModelKind:
        """What the model is called in files."""

    @property
    def vocab(self) -> Mapping[str, int]:
        """The id of each token."""

    def tokenize(self, word: str) -> list[ModelToken]:
        """Return the tokens of a word, which is not empty."""


@dataclass(frozen=True, slots=True)
class WordPieceModel:
    """Greedy longest match.

    Attributes
    ----------
    vocab
        The id of each token; holds `unk_token`.
    max_word_length
        Words of more characters are unknown.
    longest
        How many characters the longest token has.
    """

    vocab: Mapping[str, int]
    unk_token: str
    prefix: str
    max_word_length: int
    longest: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "longest", max(map(len, self.vocab), default=0))

    @property
    def kind(self) -> ModelKind:
        """``"WordPiece"``."""
        return "WordPiece"

    def tokenize(self, word: str) -> list[ModelToken]:
        """Return the tokens of a word."""
        unknown = [ModelToken(self.vocab[self.unk_token], self.unk_token, 0, _size(word))]
        if len(word) > self.max_word_length:
            return unknown
        tokens: list[ModelToken] = []
        start = byte = 0
        while start < len(word):
            prefix = self.prefix if start else ""
            for end in range(min(start + self.longest, len(word)), start, -1):
                candidate = prefix + word[start:end]
                if candidate in self.vocab:
                    break
            else:
                return unknown
            size = _size(word[start:end])
            tokens.append(ModelToken(self.vocab[candidate], candidate, byte, byte + size))
            start, byte = end, byte + size
        return tokens


@dataclass(frozen=True, slots=True)
class BpeOptions:
    """What else a BPE model is told; the names are those of its file."""

    unk_token: str | None = None
    continuing_subword_prefix: str = ""
    end_of_word_suffix: str = ""
    fuse_unk: bool = False
    byte_fallback: bool = False
    ignore_merges: bool = False


class BpeModel:
    """Byte pair encoding: the symbols of a word are merged, always the pair that stands first in the list of merges.

    Parameters
    ----------
    vocab
        The id of each token, all different; holds every symbol that is merged and what it becomes.
    merges
        Pairs of tokens, all different, the first to be merged first.
    options
        What else it is told.

    >>> vocab = {"h": 0, "u": 1, "g": 2, "ug": 3, "hug": 4}
    >>> model = BpeModel(vocab, [("u", "g"), ("h", "ug")], BpeOptions())
    >>> [token.token for token in model.tokenize("hugu")]
    ['hug', 'u']
    """

    def __init__(self, vocab: Mapping[str, int], merges: Iterable[tuple[str, str]], options: BpeOptions) -> None:
        self.vocab = vocab
        self.options = options
        self._tokens = {token_id: token for token, token_id in vocab.items()}
        drop = len(options.continuing_subword_prefix)
        self._merges = {
            (vocab[left], vocab[right]): (rank, vocab[left + right[drop:]]) for rank, (left, right) in enumerate(merges)
        }

    @property
    def kind(self) -> ModelKind:
        """``"BPE"``."""
        return "BPE"

    def tokenize(self, word: str) -> list[ModelToken]:
        """Return the tokens of a word."""
        if self.options.ignore_merges and word in self.vocab:
            return [ModelToken(self.vocab[word], word, 0, _size(word))]
        tokens, start = [], 0
        for token_id, size in self._merged(self._symbols(word)):
            tokens.append(ModelToken(token_id, self._tokens[token_id], start, start + size))
            start += size
        return tokens

    def _symbols(self, word: str) -> list[tuple[int, int]]:
        """Return (id, bytes) of the symbols of a word. Without an unknown token what is unknown is left out."""
        options, vocab = self.options, self.vocab
        symbols: list[tuple[int, int]] = []
        unknown = 0  # bytes of the unknown symbol that is not written yet
        unk_id = -1 if options.unk_token is None else vocab[options.unk_token]
        for index, character in enumerate(word):
            symbol = (options.continuing_subword_prefix if index else "") + character
            if index == len(word) - 1:
                symbol += options.end_of_word_suffix
            if symbol in vocab:
                if unknown:
                    symbols.append((unk_id, unknown))
                    unknown = 0
                symbols.append((vocab[symbol], _size(character)))
            elif options.byte_fallback and (fallback := _byte_ids(symbol, vocab)):
                symbols += ((token_id, 1) for token_id in fallback)  # before what is unknown: so it is done there
            elif unk_id >= 0:
                if unknown and not options.fuse_unk:
                    symbols.append((unk_id, unknown))
                    unknown = 0
                unknown += _size(character)
        if unknown:
            symbols.append((unk_id, unknown))
        return symbols

    def _merged(self, symbols: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the symbols after all merges: at each moment the one of the lowest rank, from the left."""
        ids = [token_id for token_id, _ in symbols]
        sizes = [size for _, size in symbols]
        after = [*range(1, len(ids)), -1]
        before = list(range(-1, len(ids) - 1))
        queue: list[tuple[int, int, int]] = []  # rank, place of the left one, id of what they become

        def offer(left: int, right: int) -> None:
            found = self._merges.get((ids[left], ids[right]))
            if found is not None:
                heapq.heappush(queue, (found[0], left, found[1]))

        for left in range(len(ids) - 1):
            offer(left, left + 1)
        while queue:
            _, left, new_id = heapq.heappop(queue)
            right = after[left]
            if not sizes[left] or right < 0:
                continue
            found = self._merges.get((ids[left], ids[right]))
            if found is None or found[1] != new_id:
                continue  # one of the two has been merged meanwhile
            ids[left] = new_id
            sizes[left] += sizes[right]
            sizes[right] = 0
            after[left] = after[right]
            if after[left] >= 0:
                before[after[left]] = left
                offer(left, after[left])
            if before[left] >= 0:
                offer(before[left], left)
        return [(token_id, size) for token_id, size in zip(ids, sizes, strict=True) if size]


class UnigramModel:
    """The segmentation whose pieces have the highest sum of scores.

    Parameters
    ----------
    pieces
        Each piece and its score, in id order, all different.
    unk_id
        The id of what is unknown; None if there is none.
    byte_fallback
        Whether what is unknown is written as bytes, if there are pieces for them.
    """

    def __init__(self, pieces: Sequence[tuple[str, float]], unk_id: int | None, *, byte_fallback: bool = False) -> None:
        self.vocab = {piece: piece_id for piece_id, (piece, _) in enumerate(pieces)}
        self.unk_id = unk_id
        self.byte_fallback = byte_fallback
        self._scores = [score for _, score in pieces]
        self._unknown_score = min(self._scores, default=0.0) - _UNKNOWN_PENALTY
        self._longest = max((len(piece) for piece, _ in pieces), default=0)

    @property
    def kind(self) -> ModelKind:
        """``"Unigram"``."""
        return "Unigram"

    def tokenize(self, word: str) -> list[ModelToken]:
        """Return the tokens of a word.

        Raises
        ------
        StudioError
            If something is unknown and there is no unknown piece.
        """
        tokens: list[ModelToken] = []
        start = 0
        for piece in self._best_pieces(word):
            end = start + _size(piece)
            piece_id = self.vocab.get(piece)
            fallback = _byte_ids(piece, self.vocab) if piece_id is None and self.byte_fallback else []
            if fallback:
                data = piece.encode("utf-8", "surrogatepass")
                tokens += (
                    ModelToken(token_id, f"<0x{byte:02X}>", start, end)
                    for token_id, byte in zip(fallback, data, strict=True)
                )
            else:
                tokens.append(ModelToken(self._unknown_id(piece) if piece_id is None else piece_id, piece, start, end))
            start = end
        return tokens

    def _best_pieces(self, word: str) -> list[str]:
        """Return the best segmentation, neighbouring unknown pieces joined: Viterbi's algorithm, from left to right."""
        size = len(word)
        best: list[tuple[float, int, int] | None] = [(0.0, 0, -1), *[None] * size]  # sum, start, id of what ends there
        for start in range(size):
            before = best[start]
            till_here = before[0] if before is not None else 0.0
            has_single = False
            for end in range(start + 1, min(start + self._longest, size) + 1):
                piece_id = self.vocab.get(word[start:end])
                if piece_id is None:
                    continue
                has_single = has_single or end == start + 1
                _improve(best, end, self._scores[piece_id] + till_here, start, piece_id)
            if not has_single:
                _improve(best, start + 1, self._unknown_score + till_here, start, self._unknown_id(word[start]))
        pieces: list[str] = []
        end, was_unknown = size, False
        while end > 0:
            _, start, piece_id = best[end] or (0.0, end - 1, -1)
            is_unknown = piece_id == self.unk_id
            if is_unknown and was_unknown:
                pieces[-1] = word[start:end] + pieces[-1]
            else:
                pieces.append(word[start:end])
            end, was_unknown = start, is_unknown
        return pieces[::-1]

    def _unknown_id(self, text: str) -> int:
        if self.unk_id is None:
            raise StudioError(
                "The Unigram model has no piece for {text!r}, and none for what is unknown",
                "Leave that out of the text.",
                text=text[:50],
            )
        return self.unk_id


def _improve(best: list[tuple[float, int, int] | None], end: int, score: float, start: int, piece_id: int) -> None:
    known = best[end]
    if known is None or score > known[0]:
        best[end] = score, start, piece_id


def _byte_ids(text: str, vocab: Mapping[str, int]) -> list[int]:
    """Return the ids of the tokens for the bytes of a text, or nothing if one of them is missing."""
    ids = [vocab.get(f"<0x{byte:02X}>") for byte in text.encode("utf-8", "surrogatepass")]
    found = [token_id for token_id in ids if token_id is not None]
    return found if len(found) == len(ids) else []


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
