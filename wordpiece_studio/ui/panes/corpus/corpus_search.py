"""Finds text in what the editor shows. Positions are UTF-16 units of that view, as Qt counts them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from wordpiece_studio.session.view_text import ViewIndex, to_view, utf16_length

_MOST_PLACES = 100_000
_SAME_LETTERS = tuple(
    zip(
        "\u00b5\u0131\u017f\u0345\u03c2\u03d0\u03d1\u03d5\u03d6\u03f0\u03f1\u03f5\u1c80"
        "\u1c81\u1c82\u1c83\u1c84\u1c85\u1c86\u1c87\u1c88\u1e9b\u1fbe\u1fd3\u1fe3\ufb05",
        "\u03bc\u0069\u0073\u03b9\u03c3\u03b2\u03b8\u03c6\u03c0\u03ba\u03c1\u03b5\u0432"
        "\u0434\u043e\u0441\u0442\u0442\u044a\u0463\ua64b\u1e61\u03b9\u0390\u03b0\ufb06",
        strict=True,
    )
)
"""Small letters that have the same capital: the one, and the one it is taken for."""


def find_places(view_text: str, sought: str, case_matters: bool) -> list[tuple[int, int]]:
    """Return the start and end of every place where `sought` stands, at most 100,000 of them, in order.

    >>> find_places("Hug a hug", "hug", False)
    [(0, 3), (6, 9)]
    """
    if not sought:
        return []
    index, sought = ViewIndex(view_text), to_view(sought)
    text, wanted = (view_text, sought) if case_matters else (_without_case(view_text), _without_case(sought))
    places: list[tuple[int, int]] = []
    # Not `re`: where capitals do not matter it takes as many steps a character as a line of one letter has.
    found = text.find(wanted)
    while found >= 0 and len(places) < _MOST_PLACES:
        start, end = index.view_position(found), found + len(wanted)
        places.append((start, start + utf16_length(view_text[found:end])))
        found = text.find(wanted, end)
    return places


def _without_case(text: str) -> str:
    """Return a text that is equal for all texts that differ in their capitals only, of the same length."""
    lower = text.replace("\u0130", "i").lower()  # the one letter that becomes two
    if not lower.isascii():
        for one, other in _SAME_LETTERS:
            if one in lower:
                lower = lower.replace(one, other)
    return lower


def next_place(places: list[tuple[int, int]], position: int) -> int:
    """Return the index of the first place at or after `position`, or the first of all; `places` is not empty."""
    found = bisect_left(places, (position, -1))
    return found if found < len(places) else 0


def previous_place(places: list[tuple[int, int]], position: int) -> int:
    """Return the index of the last place that begins before `position`, or the last of all."""
    return (bisect_right(places, (position - 1, 1 << 62)) - 1) % len(places)
