"""How the text is shown in the editor, which is a view of it and not its home.

Qt's editor has one kind of line break, takes minutes for a line of some megabytes and much memory for long texts. So
it is shown a copy: every line break as one LF; a lone half of a surrogate pair, which Qt would join with its neighbour,
as U+FFFD; lines of more than 10,000 characters folded; texts of more than 10 million characters by pages. What is
folded or paged is for reading only. The text itself stays as it is.
"""

from __future__ import annotations

import re

from wordpiece_studio.session.view_index import ViewIndex

LONGEST_LINE = 10_000
"""Characters; a longer line is folded."""

LONGEST_TEXT = 10_000_000
"""Characters; a longer text is paged."""

PAGE_LENGTH = 2_000_000
"""Characters in a page, about: pages end with lines."""

LINE_BREAK = re.compile("\r\n|[\r\n\u2029\ufdd0\ufdd1]")
"""What Qt's editor takes for the end of a block. U+2028 is not among them: it breaks a line inside a block."""

_BREAKS = "\r\n\u2029\ufdd0\ufdd1"
_HALF = re.compile("[\ud800-\udfff]")


def to_view(text: str) -> str:
    """Return `text` with every line break as one LF, and U+FFFD for each half of a surrogate pair."""
    for line_break in ("\r\n", "\r", "\u2029", "\ufdd0", "\ufdd1"):
        if line_break in text:
            text = text.replace(line_break, "\n")
    return text if text.isascii() else _HALF.sub("\ufffd", text)


def length_in_text(text: str, view: str, view_length: int) -> int:
    """Return how many characters of `text` the first `view_length` characters of its view are."""
    if len(text) == len(view):
        return view_length
    position, left = 0, view_length
    while left:
        step = text.find("\r\n", position)
        plain = left if step < 0 else min(left, step - position)
        position += plain
        left -= plain
        if left:
            position += 2
            left -= 1
    return position


def has_long_line(text: str) -> bool:
    """Return whether a line of `text` must be folded. Leaps from one line break to the last one within reach."""
    start = 0
    while len(text) - start > LONGEST_LINE:
        found = max(text.rfind(line_break, start, start + LONGEST_LINE + 1) for line_break in _BREAKS)
        if found < 0:
            return True
        start = found + 1
    return False


def has_long_line_near(text: str, start: int, end: int) -> bool:
    """Return whether a line between the positions `start` and `end`, or one that reaches in, must be folded."""
    return has_long_line(text[max(0, start - LONGEST_LINE - 1) : end + LONGEST_LINE + 1])


def folded(text: str) -> str:
    """Return the view of `text` with its long lines folded."""
    view = to_view(text)
    return "\n".join(map(_folded_line, view.split("\n"))) if has_long_line(view) else view


def _folded_line(line: str) -> str:
    return "\n".join(line[start : start + LONGEST_LINE] for start in range(0, max(len(line), 1), LONGEST_LINE))


def unfolded(text: str, start: int, end: int) -> str:
    """Return what `text` has where its folded view is shown between two UTF-16 positions."""
    index = ViewIndex(folded(text))
    return text[slice(*(_unfolded_length(text, index.text_position(place)) for place in (start, end)))]


def _unfolded_length(text: str, folded_length: int) -> int:
    """Return how many characters of `text` the first `folded_length` characters of its folded view are."""
    view, before, left = to_view(text), 0, folded_length
    for line in view.split("\n"):
        length = len(line) + max(len(line) - 1, 0) // LONGEST_LINE
        if left <= length:
            return length_in_text(text, view, before + left - left // (LONGEST_LINE + 1))
        before += len(line) + 1
        left -= length + 1
    return len(text)


def page_starts(text: str) -> list[int]:
    """Return where the pages of `text` begin, in code points; a page ends with a line unless that is a long one."""
    starts = [0]
    while len(text) - starts[-1] > PAGE_LENGTH:
        wanted = starts[-1] + PAGE_LENGTH
        found = LINE_BREAK.search(text, wanted, wanted + PAGE_LENGTH // 2)
        starts.append(found.end() if found else wanted)
    return starts


def main_line_break(text: str) -> str:
    """Return the line break that `text` uses most, which is what new lines get; LF if it has none."""
    if "\r" not in text:
        return "\n"
    pairs = text.count("\r\n")
    kinds = {"\n": text.count("\n") - pairs, "\r\n": pairs, "\r": text.count("\r") - pairs}
    return max(kinds, key=kinds.__getitem__)
