"""The table of characters of a SentencePiece normalizer: what texts of few bytes are replaced by.

In files it is a trie of bytes, as a double array, and the new texts, each with a zero byte behind. Files are not
trusted: every reference that could be followed is checked before one is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_HEAD, _UNIT = 4, 4  # bytes: the size of the trie, and each of its units
_VALUE = (1 << 31) - 1
_IS_VALUE = 1 << 31


class CharacterTable:
    """What a text is replaced by.

    Parameters
    ----------
    data
        The table as SentencePiece stores it, its ``precompiled_charsmap``.

    Attributes
    ----------
    longest
        How many bytes the longest new text has.

    Raises
    ------
    StudioError
        If it is damaged.
    """

    def __init__(self, data: bytes) -> None:
        size = int.from_bytes(data[:_HEAD], "little")
        if len(data) < _HEAD or size == 0 or size % _UNIT or size > len(data) - _HEAD:
            raise _damaged("its trie has {n:,} bytes, of {all:,} in the table", n=size, all=max(len(data) - _HEAD, 0))
        units = np.frombuffer(data, "<u4", size // _UNIT, _HEAD)
        self._texts = data[_HEAD + size :]
        try:
            self._texts.decode("utf-8")
        except UnicodeDecodeError:
            raise _damaged("its texts are not UTF-8") from None
        self.longest = _longest_text(units, self._texts)
        self._units = units.astype(np.uint32).data

    def find(self, text: str) -> str | None:
        """Return what a text is replaced by: what its shortest beginning in the table is, or None if none is there."""
        units = self._units
        place = _offset(units[0])
        for byte in text.encode("utf-8", "surrogatepass"):
            if byte == 0:
                return None
            place ^= byte
            unit = units[place]
            if unit & (_IS_VALUE | 0xFF) != byte:
                return None
            place ^= _offset(unit)
            if unit >> 8 & 1:
                start = units[place] & _VALUE
                end = self._texts.find(b"\0", start)
                return self._texts[start : end if end >= 0 else None].decode("utf-8")
        return None


def _offset(unit: int) -> int:
    return unit >> 10 << ((unit & 1 << 9) >> 6)


def _longest_text(units: NDArray[np.uint32], texts: bytes) -> int:
    """Return how many bytes the longest text has that a unit leads to.

    Raises
    ------
    StudioError
        If one leads outside the trie or the texts, or into the middle of a character.
    """
    places, wide = np.arange(len(units)), units.astype(np.int64)
    bases = places ^ (wide >> 10 << ((wide & 1 << 9) >> 6))
    is_node = wide & _IS_VALUE == 0
    # The unit of any byte after a node's must be there: it is looked at before its label says whose it is.
    if np.any(bases[is_node] | 0xFF >= len(units)):
        raise _damaged("its trie leads outside itself")
    starts = np.unique(wide[bases[is_node & (wide >> 8 & 1 == 1)]] & _VALUE)
    if not len(starts):
        return 0
    if starts[-1] > len(texts):
        raise _damaged("its trie leads outside its texts")
    ends = np.append(np.flatnonzero(np.frombuffer(texts, np.uint8) == 0), len(texts))
    if np.any(np.frombuffer(texts + b"\0", np.uint8)[starts] & 0xC0 == 0x80):
        raise _damaged("its trie leads into the middle of a character")
    return int(np.max(ends[np.searchsorted(ends, starts)] - starts))


def _damaged(reason: str, **values: object) -> StudioError:
    return StudioError("The table of characters is damaged: " + reason, "Get the file once more.", **values)
