"""A vocabulary: tokens in id order, and what is needed to look them up."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


UNKNOWN_TOKEN = "[UNK]"
_AT_ONCE = 20_000  # between turns of other threads


class TokenList:
    """Tokens in id order that may grow at the end. The vocabularies of all steps of a training share one."""

    def __init__(self, tokens: Iterable[str] = ()) -> None:
        self.tokens: list[str] = []
        self.longest = 0  # characters, prefix included
        self._ids: dict[str, int] | None = {}
        self._index: TokenIndex | None = None  # at most as long as `_ids` is None
        self._making = threading.Lock()
        for token in tokens:
            self.append(token)

    @classmethod
    def of(cls, tokens: list[str]) -> TokenList:
        """Return the table of a long list of tokens, of which it takes ownership.

        Raises
        ------
        StudioError
            If a token occurs twice.
        """
        table = cls()
        table.tokens, table._ids, table._index = tokens, None, TokenIndex(tokens)
        table.longest = max(map(len, tokens), default=0)
        return table

    def __getstate__(self) -> dict[str, list[str]]:
        return {"tokens": self.tokens.copy()}  # the index would be wrong in another process, which hashes otherwise

    def __setstate__(self, state: dict[str, list[str]]) -> None:
        self.tokens = state["tokens"]
        self.longest = max(map(len, self.tokens), default=0)
        self._ids, self._index, self._making = None, None, threading.Lock()

    @property
    def ids(self) -> dict[str, int]:
        """The id of each token; for a long list the dictionary is built on first use, which takes a while."""
        if self._ids is None:
            with self._making:
                if self._ids is None:
                    ids: dict[str, int] = {}
                    for start in range(0, len(self.tokens), _AT_ONCE):  # so that other threads get their turn
                        part = self.tokens[start : start + _AT_ONCE]
                        ids.update(zip(part, range(start, start + len(part)), strict=True))
                    self._ids, self._index = ids, None
        return self._ids

    def id_of(self, token: str) -> int | None:
        """Return the id of `token`, or None if there is no such token."""
        index = self._index
        return self.ids.get(token) if index is None else index.id_of(token)

    def append(self, token: str) -> None:
        """Give `token` the next id.

        Raises
        ------
        StudioError
            If it already has one.
        """
        if token in self.ids:
            raise StudioError("The vocabulary holds {token!r} twice", "Every token must occur only once.", token=token)
        self.longest = max(self.longest, len(token))
        self.tokens.append(token)
        self.ids[token] = len(self.tokens) - 1


class Vocabulary:
    """Tokens in id order.

    Parameters
    ----------
    tokens
        One string per id, all different; or a table, of which the vocabulary is a view.
    special_tokens
        Those that are not pieces of words, such as ``[CLS]``.
    continuing_subword_prefix
        Written before every token that does not begin a word.
    end_of_word_suffix
        The mark that closes every word, if the vocabulary was trained with one.
    unk_token
        Stands for a word that no tokens make up.
    size
        How many tokens of the table belong to the vocabulary; None for all it has now.

    Raises
    ------
    StudioError
        If two tokens are the same; the message names the token.
    """

    def __init__(
        self,
        tokens: Sequence[str] | TokenList,
        special_tokens: Sequence[str] = (),
        continuing_subword_prefix: str = "##",
        end_of_word_suffix: str | None = None,
        unk_token: str = UNKNOWN_TOKEN,
        *,
        size: int | None = None,
    ) -> None:
        self._table = tokens if isinstance(tokens, TokenList) else TokenList(tokens)
        self._size = len(self._table.tokens) if size is None else size
        self.special_tokens = tuple(special_tokens)
        self.continuing_subword_prefix = continuing_subword_prefix
        self.end_of_word_suffix = end_of_word_suffix
        self.unk_token = unk_token
        self.longest = self._table.longest

    def first(self, size: int) -> Vocabulary:
        """Return the vocabulary of the first `size` tokens. It shares the tokens, so this costs nothing."""
        return Vocabulary(
            self._table,
            self.special_tokens,
            self.continuing_subword_prefix,
            self.end_of_word_suffix,
            self.unk_token,
            size=min(size, self._size),
        )

    @property
    def tokens(self) -> list[str]:
        """All tokens in id order."""
        return self._table.tokens[: self._size]

    def id_of(self, token: str) -> int | None:
        """Return the id of `token`, or None if it is not in the vocabulary."""
        found = self._table.id_of(token)
        return found if found is not None and found < self._size else None

    def tokens_apart(self, other: Vocabulary) -> list[str] | None:
        """Return the tokens that only one of two vocabularies of one history has; None if they are of two."""
        if self._table is not other._table or self.special_tokens != other.special_tokens:
            return None
        return self._table.tokens[min(self._size, other._size) : max(self._size, other._size)]

    def __getitem__(self, token_id: int) -> str:
        if not 0 <= token_id < self._size:
            raise StudioError(
                "There is no token with the id {id}", "The ids run from 0 to {last}.", id=token_id, last=self._size - 1
            )
        return self._table.tokens[token_id]

    def __contains__(self, token: object) -> bool:
        return isinstance(token, str) and self.id_of(token) is not None

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[str]:
        return iter(self.tokens)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.tokens == other.tokens

    def __hash__(self) -> int:
        return hash(tuple(self.tokens))

    def __repr__(self) -> str:
        return f"<Vocabulary of {self._size:,} tokens>"


class TokenIndex:
    """An index of tokens, whose ids are their positions in the list.

    Parameters
    ----------
    tokens
        All different. Tokens appended to the list later are not found.

    Raises
    ------
    StudioError
        If a token occurs twice.
    """

    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens = tokens
        hashes = np.empty(len(tokens), dtype=np.int64)
        for start in range(0, len(tokens), _AT_ONCE):
            part = tokens[start : start + _AT_ONCE]
            hashes[start : start + len(part)] = np.fromiter(map(hash, part), dtype=np.int64, count=len(part))
        self._order = np.argsort(hashes)  # a stable sort takes four times as long
        self._hashes = hashes[self._order]
        self._check()

    def id_of(self, token: str) -> int | None:
        """Return the id of a token, or None if there is no such token."""
        wanted = hash(token)
        place = int(self._hashes.searchsorted(wanted))
        while place < len(self._hashes) and self._hashes[place] == wanted:
            token_id = int(self._order[place])
            if self._tokens[token_id] == token:
                return token_id
            place += 1
        return None

    def _check(self) -> None:
        for place in np.flatnonzero(self._hashes[1:] == self._hashes[:-1]).tolist():
            token = self._tokens[int(self._order[place + 1])]
            if self.id_of(token) != int(self._order[place + 1]):
                raise StudioError(
                    "The vocabulary holds {token!r} twice", "Every token must occur only once.", token=token
                )
