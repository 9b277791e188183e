"""How the text is shown in the editor, which is only a view of it.

Qt's editor has one kind of line break. So it shows a copy: every line break as LF; a lone surrogate, which Qt would
join with its neighbor, as U+FFFD. The text itself stays as it is. Qt also needs minutes for a line of a few megabytes,
and seconds for very many lines: `is_too_long` says which texts are not edited.

Python counts code points; Qt counts UTF-16 units, in which an emoji takes two, and its editor shows CR LF as one line
break. All other characters count the same in both, so only the irregular ones are stored.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.session.commands import Edit
from wordpiece_studio.system.arrays import common_length

if TYPE_CHECKING:
    from numpy.typing import NDArray


_LAST_OF_BMP = 0xFFFF


class ViewIndex:
    r"""The irregular characters of a text.

    They are stored in two int64 arrays of shape (n,): `_places`, the code point index of each, ascending; and
    `_shifts`, how much further on the text after it lies in the view. A character beyond U+FFFF adds 1 to the shift,
    the LF of a CR LF subtracts 1.

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
        """Return the code point position of a UTF-16 position; inside a character, the position of its start."""
        before = bisect_right(range(len(self._places)), view_position, key=self._view_end)
        position = view_position - self._shift_after(before)
        is_inside = before < len(self._places) and position > self._places[before]
        return position - 1 if is_inside else position

    def _shift_after(self, count: int) -> int:
        return int(self._shifts[count - 1]) if count else 0

    def _view_end(self, index: int) -> int:
        return int(self._places[index]) + 1 + int(self._shifts[index])


def utf16_length(text: str) -> int:
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


# What the editor takes: bytes in UTF-8, lines, and characters of a line.
LARGEST_TEXT, MOST_LINES, LONGEST_LINE = 2_000_000, 100_000, 10_000

# What Qt's editor treats as the end of a block. U+2028 is not included: it breaks a line inside a block.
_BREAKS = "\r\n\u2029\ufdd0\ufdd1"
_HALF = re.compile("[\ud800-\udfff]")


def to_view(text: str) -> str:
    """Return `text` with every line break as LF and every lone surrogate as U+FFFD."""
    for line_break in ("\r\n", "\r", "\u2029", "\ufdd0", "\ufdd1"):
        if line_break in text:
            text = text.replace(line_break, "\n")
    return text if text.isascii() else _HALF.sub("\ufffd", text)


def length_in_text(text: str, view: str, view_length: int) -> int:
    """Return how many characters of `text` the first `view_length` characters of its view correspond to."""
    if len(text) == len(view):
        return view_length
    pairs = (found.start() - before for before, found in enumerate(re.finditer("\r\n", text)))  # places in the view
    return view_length + sum(1 for _ in takewhile(lambda place: place < view_length, pairs))


def is_too_long(text: str) -> bool:
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    lines = sum(map(text.count, _BREAKS)) - text.count("\r\n")
    return size > LARGEST_TEXT or lines > MOST_LINES or has_long_line(text)


def has_long_line(text: str) -> bool:
    """Return whether a line of `text` is too long. Jumps from one line break to the last one within range."""
    start = 0
    while len(text) - start > LONGEST_LINE:
        found = max(text.rfind(line_break, start, start + LONGEST_LINE + 1) for line_break in _BREAKS)
        if found < 0:
            return True
        start = found + 1
    return False


def main_line_break(text: str) -> str:
    """Return the most frequent line break of `text`, which new lines get; LF if it has none."""
    if "\r" not in text:
        return "\n"
    pairs = text.count("\r\n")
    kinds = {"\n": text.count("\n") - pairs, "\r\n": pairs, "\r": text.count("\r") - pairs}
    return max(kinds, key=kinds.__getitem__)


@dataclass(frozen=True, slots=True)
class ViewEdit:
    """At `position`, `inserted`, whose line breaks are all LF, replaces `removed` UTF-16 units."""

    position: int
    removed: int
    inserted: str


def placed_edit(old: str, inserted: str, newline: str, start: int) -> Edit | None:
    r"""Return the edit of the text that makes `old`, at `start`, appear as `inserted`; None if it already does.

    What looks the same before and after keeps its exact characters, so that other kinds of line breaks survive an
    editor that reports more than it changed. New line breaks are `newline`.

    >>> placed_edit("a\r\nb", "a\nbc", "\n", 10)
    Edit(position=14, removed='', inserted='c')
    """
    old_view, new_view = to_view(old), to_view(inserted)
    if old_view == new_view:
        return None
    head, tail = common_ends(old_view, new_view)
    first = length_in_text(old, old_view, head)
    last = length_in_text(old, old_view, len(old_view) - tail)
    added = new_view[head : len(new_view) - tail]
    return Edit(start + first, old[first:last], added.replace("\n", newline))


def common_ends(one: str, other: str) -> tuple[int, int]:
    """Return how many characters at the beginning, and then at the end, are the same in both."""
    head = common_length(one, other)
    return head, common_length(one[head:], other[head:], from_end=True)
