"""Distinct words, numbered from 0 in order of first appearance; those of a large corpus are in `word_table`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray


_BLANK = ord(" ")
_PART_BYTES = 1 << 18


class JoinedWords:
    """Many words as one piece of UTF-8, a blank after each; called, it makes texts of them, which no training needs."""

    def __init__(self, joined: bytes) -> None:
        self.joined = joined

    def __call__(self) -> list[str]:
        return self.joined.decode("utf-8", "surrogatepass").split(" ")[:-1]

    def may_contain(self, texts: Iterable[str]) -> bool:
        sought = [text.encode("utf-8", "surrogatepass") for text in texts]
        # Most of them begin with a bracket, of which distinct words have few.
        places = {first: self._places_of(first) for first in {text[:1] for text in sought}}
        return any(self.joined.startswith(text, place) for text in sought for place in places[text[:1]])

    def _places_of(self, byte: bytes) -> list[int]:
        return np.flatnonzero(np.frombuffer(self.joined, dtype=np.uint8) == ord(byte)).tolist() if byte else [0]

    def sample(self, stride: int) -> list[str]:
        ends = np.flatnonzero(np.frombuffer(self.joined, dtype=np.uint8) == _BLANK)
        begins = (np.append(-1, ends[:-1]) + 1)[::stride] if len(ends) else ends
        bounds = zip(begins.tolist(), ends[::stride].tolist(), strict=True)
        some = b" ".join([self.joined[begin:end] for begin, end in bounds])
        return some.decode("utf-8", "surrogatepass").split(" ") if some else []

    def characters(self) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
        """Yield code points and lengths of words, some at a time, so that other threads get their turn."""
        end = 0
        while end < len(self.joined):
            begin, end = end, self.joined.index(b" ", min(end + _PART_BYTES, len(self.joined) - 1)) + 1
            part = self.joined[begin:end].decode("utf-8", "surrogatepass").encode("utf-32-le", "surrogatepass")
            found = np.frombuffer(part, dtype="<i4")
            is_blank = found == _BLANK
            yield found[~is_blank], np.diff(np.flatnonzero(is_blank), prepend=-1) - 1


class WordNumbers(ABC):
    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def words(self) -> list[str]: ...

    def words_of(self, numbers: NDArray[np.int32]) -> list[str] | JoinedWords:
        words = self.words()
        return words if self.are_in_order(numbers) else [words[number] for number in numbers.tolist()]

    def are_in_order(self, numbers: NDArray[np.int32]) -> bool:
        return len(numbers) == len(self) and np.array_equal(numbers, np.arange(len(numbers)))

    @abstractmethod
    def spelled(self, first: int) -> tuple[bytes, NDArray[np.int64]]:
        """Return the words from number `first` on in UTF-8, one after the other, and where each ends: int64."""

    @abstractmethod
    def numbers_of(self, spelled: bytes, ends: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the numbers of words from `spelled`, perhaps of another process; words not met yet get new ones."""


class PlainWordNumbers(WordNumbers):
    def __init__(self) -> None:
        self.by_word: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.by_word)

    def words(self) -> list[str]:
        return list(self.by_word)

    def number(self, word: str) -> int:
        return self.by_word.setdefault(word, len(self.by_word))

    def spelled(self, first: int) -> tuple[bytes, NDArray[np.int64]]:
        return spelled_out(self.words()[first:])

    def numbers_of(self, spelled: bytes, ends: NDArray[np.int64]) -> NDArray[np.int32]:
        words = words_in(spelled, ends)
        return np.fromiter(map(self.number, words), dtype=np.int32, count=len(words))


def spelled_out(words: Sequence[str]) -> tuple[bytes, NDArray[np.int64]]:
    """Return words in UTF-8, one after the other, and where each ends: int64, shape ``(n_words,)``."""
    parts = [word.encode("utf-8", "surrogatepass") for word in words]
    return b"".join(parts), np.cumsum(np.fromiter(map(len, parts), dtype=np.int64, count=len(parts)))


def words_in(spelled: bytes, ends: NDArray[np.int64]) -> list[str]:
    words, start = [], 0
    for end in ends.tolist():
        words.append(spelled[start:end].decode("utf-8", "surrogatepass"))
        start = end
    return words
