"""Where the nodes of a merge tree lie: the token on top, its symbols below, in the order in which they are read.

Every node stands above the middle of its symbols, so nodes of one level never overlap. No widget is here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wordpiece_studio.training.history import MergeTree

MOST_NODES = 400
"""Of a larger tree only the upper levels are laid out."""


@dataclass(slots=True)
class PlacedNode:
    """A node with its place: left edge and width in pixels, its level from 0 at the top.

    `parent`, `left` and `right` are indices of nodes, -1 for none; `is_cut` says that there is more below it.
    """

    tree: MergeTree
    level: int
    parent: int
    left: int = -1
    right: int = -1
    x: float = 0.0
    width: float = 0.0
    is_cut: bool = False


def laid_out(tree: MergeTree, width_of: Callable[[int], float], gap: float) -> list[PlacedNode]:
    """Return the nodes of a tree, the root first, parents before their parts.

    Parameters
    ----------
    width_of
        The width in pixels of the node of the token with this id.
    gap
        The least distance in pixels between two nodes of a level.
    """
    nodes = _by_level(tree)
    spans: dict[int, tuple[float, float]] = {}
    x = 0.0
    for index in _leaves(nodes):
        width = width_of(nodes[index].tree.token_id)
        spans[index] = (x, x + width)
        x += width + gap
    for index in range(len(nodes) - 1, -1, -1):
        node = nodes[index]
        node.width = width_of(node.tree.token_id)
        if node.left >= 0:
            spans[index] = (spans[node.left][0], spans[node.right][1])
        node.x = (spans[index][0] + spans[index][1] - node.width) / 2
    leftmost = min(node.x for node in nodes)  # a node may be wider than all that is below it
    for node in nodes:
        node.x -= leftmost
    return nodes


def _by_level(tree: MergeTree) -> list[PlacedNode]:
    nodes = [PlacedNode(tree, 0, -1)]
    done = 0
    while done < len(nodes):
        node = nodes[done]
        left, right = node.tree.left, node.tree.right
        if left is not None and right is not None:
            if len(nodes) + 2 <= MOST_NODES:
                node.left, node.right = len(nodes), len(nodes) + 1
                nodes += [PlacedNode(left, node.level + 1, done), PlacedNode(right, node.level + 1, done)]
            else:
                node.is_cut = True
        done += 1
    return nodes


def _leaves(nodes: Sequence[PlacedNode]) -> list[int]:
    """Return the nodes without parts below them, left to right."""
    found: list[int] = []
    waiting = [0]
    while waiting:
        index = waiting.pop()
        if nodes[index].left < 0:
            found.append(index)
        else:
            waiting += [nodes[index].right, nodes[index].left]
    return found


def merges_of(tree: MergeTree) -> list[MergeTree]:
    """Return the merges that made a token, each once, in the order of their steps."""
    found: dict[int, MergeTree] = {}
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if node.left is not None and node.right is not None and node.step not in found:
            found[node.step] = node
            waiting += [node.left, node.right]
    return [found[step] for step in sorted(found)]
