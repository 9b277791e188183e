"""How the height of the live tokenization is shared: text with chips, "Why here?", changes. Pure arithmetic."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wanted:
    """A height in pixels that shows everything, and the least that is of use; 0 where there is nothing to show."""

    all: int
    least: int


def shared_room(room: int, top: Wanted, why: Wanted, changes: Wanted) -> tuple[int, int, int]:
    """Return the heights of the three parts, together `room` pixels.

    The chips grow into what the parts below do not need. While an answer is shown it comes before the list of changes,
    which is left out (0) where its least height would be taken from the chips or from the answer's least; also where
    all chips are seen only without it. Nothing is less high than its least, but the chips where all else is left out.

    >>> shared_room(560, Wanted(230, 120), Wanted(0, 0), Wanted(900, 160))
    (230, 0, 330)
    >>> shared_room(560, Wanted(700, 120), Wanted(0, 0), Wanted(100, 90))
    (470, 0, 90)
    >>> shared_room(560, Wanted(530, 120), Wanted(0, 0), Wanted(900, 90))
    (560, 0, 0)
    >>> shared_room(560, Wanted(230, 120), Wanted(300, 180), Wanted(900, 90))
    (230, 240, 90)
    >>> shared_room(260, Wanted(700, 200), Wanted(0, 0), Wanted(900, 90))
    (260, 0, 0)
    >>> shared_room(260, Wanted(700, 200), Wanted(300, 90), Wanted(900, 90))
    (170, 90, 0)
    """
    if not why.all:
        below = min(max(room * 3 // 10, changes.least), changes.all)
        if top.all > room - below:
            below = min(changes.least, changes.all)
            if room - below < top.all <= room:
                return room, 0, 0  # without the list of changes everything that is said of the text is seen
        high = max(min(top.all, room - below), min(top.least, room))
        return (high, 0, room - high) if room - high >= min(changes.least, changes.all) else (room, 0, 0)
    has_changes = bool(changes.all) and room - top.least - why.least >= changes.least
    below = why.least + (changes.least if has_changes else 0)
    high = max(min(top.all, room - below), min(top.least, room))
    high = min(high, max(room - why.least, 0))
    rest = room - high
    if not has_changes:
        return high, rest, 0
    answer = max(why.least, min(why.all, rest - changes.least))
    return high, answer, rest - answer
