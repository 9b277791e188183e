"""Finds text in what the editor shows. Positions are UTF-16 units of that view, as Qt counts them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from wordpiece_studio.model.view_index import ViewIndex, utf16_length
from wordpiece_studio.model.view_text import to_view

_MOST_PLACES = 100_000


def find_places(view_text: str, sought: str, case_matters: bool) -> list[tuple[int, int]]:
    """Return the start and end of every place where `sought` stands, at most 100,000 of them, in order.

    >>> find_places("Hug a hug", "hug", False)
    [(0, 3), (6, 9)]
    """
    if not sought:
        return []
    index = ViewIndex(view_text)
    pattern = re.compile(re.escape(to_view(sought)), 0 if case_matters else re.IGNORECASE)
    places: list[tuple[int, int]] = []
    for match in pattern.finditer(view_text):
        start = index.view_position(match.start())
        places.append((start, start + utf16_length(match[0])))
        if len(places) == _MOST_PLACES:
            break
    return places


def next_place(places: list[tuple[int, int]], position: int) -> int:
    """Return the index of the first place at or after `position`, or the first of all; `places` is not empty."""
    found = bisect_left(places, (position, -1))
    return found if found < len(places) else 0


def previous_place(places: list[tuple[int, int]], position: int) -> int:
    """Return the index of the last place that begins before `position`, or the last of all."""
    return (bisect_right(places, (position - 1, 1 << 62)) - 1) % len(places)
