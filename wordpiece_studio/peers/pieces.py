"""Pieces of a text on their way to tokens, and how a step cuts them.

A piece is an `AlignedText`: its characters know where in the original text they come from. Not here: the steps
themselves (`normalizing`, `cutting`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from wordpiece_studio.text.pipeline import AlignedText

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Stretch = tuple[int, int, bool]
    """Where a stretch of a piece begins and ends, and whether it is a match of what is looked for."""

Behavior = Literal["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
BEHAVIORS: tuple[Behavior, ...] = get_args(Behavior)


def part_of(piece: AlignedText, start: int, end: int) -> AlignedText:
    """Return the characters of a piece from `start` up to, not including, `end`."""
    return AlignedText(piece.text[start:end], piece.starts[start:end], piece.ends[start:end])


def with_prefix(piece: AlignedText, prefix: str) -> AlignedText:
    """Return a piece with a text before it, whose characters belong where the piece's first one belongs."""
    if not piece.text:
        return piece
    starts = [piece.starts[0]] * len(prefix) + list(piece.starts)
    ends = [piece.ends[0]] * len(prefix) + list(piece.ends)
    return AlignedText(prefix + piece.text, starts, ends)


def stretches(length: int, matches: Iterable[tuple[int, int]], *, is_inverted: bool = False) -> Iterator[Stretch]:
    """Yield the matches, from left to right, and what lies between them; inverted, what lies between is the match.

    >>> list(stretches(5, [(1, 2), (2, 4)]))
    [(0, 1, False), (1, 2, True), (2, 4, True), (4, 5, False)]
    """
    done = 0
    for start, end in matches:
        if start > done:
            yield done, start, is_inverted
        yield start, end, not is_inverted
        done = end
    if done < length:
        yield done, length, is_inverted


def cut(piece: AlignedText, found: Iterable[Stretch], behavior: Behavior) -> list[AlignedText]:
    """Return the parts that a piece is cut into; what becomes of matches is the `tokenizers` library's.

    Parameters
    ----------
    found
        The stretches of the piece, which together are all of it.
    behavior
        ``"Removed"``: matches go. ``"Isolated"``: each is a part. ``"MergedWithPrevious"``, ``"MergedWithNext"``: the
        first, or last, of neighbouring matches stays with what is beside it. ``"Contiguous"``: neighbouring matches are
        one part.
    """
    match behavior:
        case "Removed":
            bounds = [(start, end) for start, end, is_match in found if not is_match]
        case "Isolated":
            bounds = [(start, end) for start, end, _ in found]
        case "MergedWithPrevious":
            bounds = _joined(found, lambda is_match, was_match: is_match and not was_match)
        case "Contiguous":
            bounds = _joined(found, lambda is_match, was_match: is_match == was_match)
        case "MergedWithNext":
            mirrored = ((-end, -start, is_match) for start, end, is_match in reversed(list(found)))
            bounds = [(-end, -start) for start, end in _joined(mirrored, lambda now, before: now and not before)[::-1]]
    return [part_of(piece, start, end) for start, end in bounds if start < end]


def _joined(found: Iterable[Stretch], joins: Callable[[bool, bool], bool]) -> list[tuple[int, int]]:
    """Return bounds, some joined to those before them: as `joins` says of whether this and the one before match."""
    bounds: list[tuple[int, int]] = []
    was_match = False
    for start, end, is_match in found:
        if bounds and joins(is_match, was_match):
            bounds[-1] = bounds[-1][0], end
        else:
            bounds.append((start, end))
        was_match = is_match
    return bounds
