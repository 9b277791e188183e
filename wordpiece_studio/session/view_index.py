"""Where a place of the text lies in the editor, and back.

Python counts code points; Qt counts UTF-16 units, in which an emoji takes two, and its editor shows CR LF as one line
break. All other characters count the same in both, so only these irregular ones are kept. How long lines are folded
is `view_text.py`'s affair.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LAST_OF_BMP = 0xFFFF


class ViewIndex:
    r"""The irregular characters of a text.

    They are kept in two int64 arrays of shape (n,): `_places`, the code point index of each, ascending; and `_shifts`,
    by how much what follows it lies further on in the view than in the text. A character beyond U+FFFF adds 1 to the
    shift, the LF of a CR LF takes 1 away.

    >>> index = ViewIndex("a\r\n\N{HUGGING FACE}b")
    >>> index.view_position(4), index.text_position(4)
    (4, 4)
    >>> index.view_position(3), index.text_position(2)
    (2, 3)
    """

    def __init__(self, text: str) -> None:
        self._places, self._shifts = _irregular(text)

    def view_position(self, position: int) -> int:
        """Return the UTF-16 position in the editor of the code point position `position`."""
        return position + self._shift_after(int(np.searchsorted(self._places, position)))

    def text_position(self, view_position: int) -> int:
        """Return the code point position of a UTF-16 position; inside a character, that of its beginning."""
        before = bisect_right(range(len(self._places)), view_position, key=self._view_end)
        position = view_position - self._shift_after(before)
        is_inside = before < len(self._places) and position > self._places[before]
        return position - 1 if is_inside else position

    def note_edit(self, position: int, removed: int, inserted: int, text: str) -> None:
        """Follow an edit: `removed` and `inserted` code points at `position`; `text` is the new text."""
        # One more character on each side: an edit may join or part a CR and its LF.
        start, end = max(0, position - 1), min(len(text), position + inserted + 1)
        # A LF whose CR stands before the window is irregular still, though the window cannot tell.
        side: Literal["left", "right"] = "right" if start and text[start - 1 : start + 1] == "\r\n" else "left"
        first = int(np.searchsorted(self._places, start, side=side))
        last = max(first, int(np.searchsorted(self._places, end - inserted + removed)))
        places, shifts = _irregular(text[start:end])
        shifts += self._shift_after(first)
        further = (int(shifts[-1]) if len(shifts) else self._shift_after(first)) - self._shift_after(last)
        self._places = np.concatenate(
            (self._places[:first], places + start, self._places[last:] + (inserted - removed))
        )
        self._shifts = np.concatenate((self._shifts[:first], shifts, self._shifts[last:] + further))

    def _shift_after(self, count: int) -> int:
        """Return the shift of what follows the first `count` irregular characters."""
        return int(self._shifts[count - 1]) if count else 0

    def _view_end(self, index: int) -> int:
        """Return where in the view an irregular character ends."""
        return int(self._places[index]) + 1 + int(self._shifts[index])


def utf16_length(text: str) -> int:
    """Return how many UTF-16 units `text` has."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _irregular(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of the irregular characters and the shifts after them, both int64, shape (n,)."""
    if text.isascii() and "\r\n" not in text:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    wide = codes > _LAST_OF_BMP
    narrow = np.zeros(len(codes), dtype=np.bool_)
    narrow[1:] = (codes[1:] == ord("\n")) & (codes[:-1] == ord("\r"))
    places = np.flatnonzero(wide | narrow)
    return places, np.cumsum(np.where(wide[places], 1, -1), dtype=np.int64)
