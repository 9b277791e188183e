"""Byte pair encoding as the Studio trains it: the merges of a training by counts, applied to the words of a text.

Not here: byte pair encodings from elsewhere, which their own library runs (`peers`), and files (`storage.bpe_files`).
"""

from __future__ import annotations

import heapq
import re
from typing import TYPE_CHECKING, NamedTuple

from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer, text_of_letters
from wordpiece_studio.tokenizer.added_tokens import AddedToken, TextReading
from wordpiece_studio.tokenizer.encoding import Encoder, Encoding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer, Word


class _Symbol(NamedTuple):
    """A symbol of a word, and (start, end) in the word's characters."""

    token: str
    start: int
    end: int


class BpeTokenizer(Encoder):
    """Tokenizes text by merges: in each word always the pair that comes first in their list, from the left.

    Parameters
    ----------
    vocab
        The id of each token; contains every symbol that is merged and every result of a merge.
    merges
        Pairs of symbols, in the order in which they are merged.
    normalizer, pre_tokenizer
        How text is split into words; names or objects.
    special_tokens
        Tokens that are found in a text before anything else.
    unk_token
        Stands for an unknown symbol; if None, the symbol is left out, and its neighbours may merge.
    end_of_word_suffix
        Appended to the last character of each word.

    >>> vocab = {"h": 0, "u": 1, "g": 2, "ug": 3, "hug": 4}
    >>> BpeTokenizer(vocab, [("u", "g"), ("h", "ug")], "none", "whitespace").encode("hugu gu").tokens
    ['hug', 'u', 'g', 'u']
    """

    kind = "BPE"
    """The kind of its model, as in `ImportedTokenizer.kind`."""

    def __init__(
        self,
        vocab: Mapping[str, int],
        merges: Iterable[tuple[str, str]],
        normalizer: str | Normalizer | None,
        pre_tokenizer: str | PreTokenizer,
        *,
        special_tokens: Sequence[str] = (),
        unk_token: str | None = None,
        end_of_word_suffix: str = "",
    ) -> None:
        self.vocab = dict(vocab)
        self.special_tokens = tuple(special_tokens)
        self.unk_token = unk_token
        self.end_of_word_suffix = end_of_word_suffix
        self.pipeline = Pipeline(resolve_normalizer(normalizer), resolve_pre_tokenizer(pre_tokenizer))
        self._ranks = {pair: rank for rank, pair in enumerate(merges)}
        self._tokens = {token_id: token for token, token_id in self.vocab.items()}
        self._known: dict[str, list[_Symbol]] = {}
        special = sorted(special_tokens, key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, special))) if special else None

    def __repr__(self) -> str:
        return f"<BpeTokenizer: {len(self.vocab):,} tokens, {len(self._ranks):,} merges>"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": {}}  # copies begin with an empty cache

    @property
    def reading(self) -> TextReading:
        """How it finds the words of a text."""
        return TextReading(self.pipeline, tuple(AddedToken(token, special=True) for token in self.special_tokens))

    @property
    def tokens(self) -> list[str]:
        """All tokens in id order."""
        return sorted(self.vocab, key=self.vocab.__getitem__)

    @property
    def merges(self) -> list[tuple[str, str]]:
        """The pairs, in the order in which they are merged."""
        return list(self._ranks)

    def __len__(self) -> int:
        """Return how many tokens it has."""
        return len(self.vocab)

    def id_of(self, token: str) -> int | None:
        """Return the id of `token`, or None if there is no such token."""
        return self.vocab.get(token)

    def _encoding_of(self, text: str) -> Encoding:
        words: list[int] = []
        encoding = Encoding([], [], [], words)
        for number, (word, offset) in enumerate(self._words(text)):
            if isinstance(word, str):
                found = [(word, offset, offset + len(word))]
            else:
                found = [
                    (token, offset + word.starts[start], offset + word.ends[end - 1])
                    for token, start, end in self._spans_of(word.text)
                ]
            for token, start, end in found:
                encoding.tokens.append(token)
                encoding.ids.append(self.vocab[token])
                encoding.offsets.append((start, end))
                words.append(number)
        return encoding

    def ids(self, text: str) -> list[int]:
        """Return ``encode(text).ids``."""
        return self.encode(text).ids

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = True) -> str:
        """Return the text that `ids` stand for, as far as it can be determined: without a suffix word ends are unknown.

        Raises
        ------
        StudioError
            If no token has one of the ids.
        """
        unknown = next((number for number in ids if number not in self._tokens), None)
        if unknown is not None:
            raise StudioError("No token has the id {id}", "Leave it out.", id=str(unknown)[:30])
        tokens = [self._tokens[number] for number in ids]
        if skip_special_tokens:
            tokens = [token for token in tokens if token not in self.special_tokens]
        suffix = self.end_of_word_suffix
        if self.pipeline.pre_tokenizer.is_byte_level:
            return text_of_letters(token.removesuffix(suffix) for token in tokens)
        return "".join(tokens).replace(suffix, " ").rstrip(" ") if suffix else " ".join(tokens)

    def _words(self, text: str) -> Iterator[tuple[Word | str, int]]:
        """Yield the words of a text and its special tokens, each with the position that its offsets count from."""
        done = 0
        for found in self._special.finditer(text) if self._special else ():
            for word in self.pipeline.aligned_words(text[done : found.start()]):
                yield word, done
            yield found[0], found.start()
            done = found.end()
        for word in self.pipeline.aligned_words(text[done:]):
            yield word, done

    def _spans_of(self, word: str) -> list[_Symbol]:
        """Return the tokens of a word; each distinct word is processed once."""
        found = self._known.get(word)
        if found is None:
            found = self._known[word] = self._merge(list(self._symbols(word)))
        return found

    def _symbols(self, word: str) -> Iterator[_Symbol]:
        """Yield the initial symbols of a word, one per character."""
        for start, character in enumerate(word):
            symbol = character if start < len(word) - 1 else character + self.end_of_word_suffix
            if symbol in self.vocab:
                yield _Symbol(symbol, start, start + 1)
            elif self.unk_token is not None:
                yield _Symbol(self.unk_token, start, start + 1)

    def _merge(self, symbols: list[_Symbol]) -> list[_Symbol]:
        """Return the symbols after all merges: always the one of the lowest rank next, from the left."""
        merged: list[_Symbol | None] = [*symbols]  # None where a symbol was merged into the one before it
        after = [*range(1, len(symbols) + 1)]
        before = [*range(-1, len(symbols))]
        queue: list[tuple[int, int, str, str]] = []  # rank, position of the left symbol, both symbols

        def offer(left: int) -> None:
            right = after[left] if left >= 0 else len(merged)
            if right < len(merged) and (first := merged[left]) and (second := merged[right]):
                rank = self._ranks.get((first.token, second.token))
                if rank is not None:
                    heapq.heappush(queue, (rank, left, first.token, second.token))

        for left in range(len(symbols)):
            offer(left)
        while queue:
            _, left, *pair = heapq.heappop(queue)
            right = after[left]
            first, second = merged[left], merged[right] if right < len(merged) else None
            if first is None or second is None or [first.token, second.token] != pair:
                continue  # one of the two has been merged in the meantime
            merged[left] = _Symbol(first.token + second.token, first.start, second.end)
            merged[right] = None
            after[left] = after[right]
            before[after[left]] = left
            offer(before[left])
            offer(left)
        return [symbol for symbol in merged if symbol is not None]
