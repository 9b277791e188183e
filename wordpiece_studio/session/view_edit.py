"""Edits in the coordinates of the editor, and what they mean for the text."""

from __future__ import annotations

from dataclasses import dataclass

from wordpiece_studio.session.commands import Edit
from wordpiece_studio.session.view_text import length_in_text, to_view


@dataclass(frozen=True, slots=True)
class ViewEdit:
    """At `position`, `removed` UTF-16 units give way to `inserted`, whose line breaks are all LF."""

    position: int
    removed: int
    inserted: str


def placed_edit(old: str, inserted: str, newline: str, start: int) -> Edit | None:
    r"""Return the edit of the text by which `old`, at `start`, comes to be shown as `inserted`; None if it does so.

    What looks the same before and after keeps its very characters, so that a line break of another kind survives an
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
    shorter = min(len(one), len(other))
    head = _common_prefix(one, other, shorter)
    return head, _common_suffix(one, other, shorter - head)


def _common_prefix(one: str, other: str, limit: int) -> int:
    """Return how many of the first `limit` characters agree; by halves, for a Python loop would be slow."""
    known, unknown = 0, limit + 1
    while unknown - known > 1:
        middle = (known + unknown) // 2
        if one[known:middle] == other[known:middle]:
            known = middle
        else:
            unknown = middle
    return known


def _common_suffix(one: str, other: str, limit: int) -> int:
    """Return how many of the last `limit` characters agree."""
    if not limit:
        return 0
    return _common_prefix(one[-limit:][::-1], other[-limit:][::-1], limit)
