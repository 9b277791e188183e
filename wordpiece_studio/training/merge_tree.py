"""How a token came to be: the merge that made it, those that made its two parts, and so on down to the alphabet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.training.history import MergeHistory


@dataclass(frozen=True, slots=True)
class MergeTree:
    """A token with the trees of its parts. Where a token occurs twice in a tree, both are one object.

    Two trees of one history are equal if they are trees of the same token; they compare and print without their parts,
    because a tree may be thousands of merges deep.

    Attributes
    ----------
    token_id
        Its vocabulary id.
    step
        The merge that made it first, from 1; 0 for special tokens and the alphabet.
    left, right
        What was merged; None for special tokens and the alphabet.
    """

    token_id: int
    step: int
    left: MergeTree | None = field(default=None, repr=False, compare=False)
    right: MergeTree | None = field(default=None, repr=False, compare=False)

    def leaves(self) -> Iterator[MergeTree]:
        """Yield the symbols of the alphabet that the token consists of, left to right."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            if node.left is None or node.right is None:
                yield node
            else:
                waiting += [node.right, node.left]


def merge_tree(history: MergeHistory, token_id: int) -> MergeTree:
    """Return the tree of a token. It is made of loops: a tree may be deeper than calls can be."""
    lefts, rights = history.column("left_id"), history.column("right_id")
    steps: dict[int, int] = {}
    waiting = [token_id]
    while waiting:
        token = waiting.pop()
        if token not in steps:
            steps[token] = step = history.birth_step(token)
            waiting += [int(lefts[step - 1]), int(rights[step - 1])] if step else []
    trees: dict[int, MergeTree] = {}
    for token in sorted(steps):  # a merge joins tokens that were there, so parts have smaller ids
        step = steps[token]
        parts = (trees[int(lefts[step - 1])], trees[int(rights[step - 1])]) if step else ()
        trees[token] = MergeTree(token, step, *parts)
    return trees[token_id]
