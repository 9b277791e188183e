"""The merge tree: chips and lines, with the step that made it under each chip; nodes can be chosen by mouse and key.

Every node is centered above its symbols, so nodes of one level never overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen, QResizeEvent

from wordpiece_studio.session.plural import filled
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.widgets.chips import ChipArea, ChipLook
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from wordpiece_studio.training.history import MergeHistory, MergeTree
    from wordpiece_studio.ui.widgets.theme import Theme

MOST_NODES = 400  # only the upper levels of a larger tree are laid out
_GAP = 8.0
_LEVEL_GAP = 13.0
_MARGIN = 3.0


@dataclass(slots=True)
class PlacedNode:
    """A node with its place: left edge and width in pixels, and its level from 0 at the top.

    `parent`, `left` and `right` are indices of nodes, -1 for none; `is_cut`: nodes below it were left out.
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
    """Return the nodes of a tree, the root first, parents before their parts; on a level at least `gap` pixels apart.

    `width_of` returns the width in pixels of the node of a token's id.
    """
    nodes = _by_level(tree)

    def place(index: int, begin: float) -> float:
        """Place a node and all below it from `begin` on; return where they end."""
        node = nodes[index]
        node.width = width_of(node.tree.token_id)
        end = begin + node.width if node.left < 0 else place(node.right, place(node.left, begin) + gap)
        node.x = (begin + end - node.width) / 2
        return end

    place(0, 0.0)
    leftmost = min(node.x for node in nodes)  # a node may be wider than everything below it
    for node in nodes:
        node.x -= leftmost
    return nodes


def _by_level(tree: MergeTree) -> list[PlacedNode]:
    nodes = [PlacedNode(tree, 0, -1)]
    for place, node in enumerate(nodes):  # which grow
        left, right = node.tree.left, node.tree.right
        if left is None or right is None:
            continue
        node.is_cut = len(nodes) + 2 > MOST_NODES
        if not node.is_cut:
            node.left, node.right = len(nodes), len(nodes) + 1
            nodes += [PlacedNode(left, node.level + 1, place), PlacedNode(right, node.level + 1, place)]
    return nodes


def merges_of(tree: MergeTree) -> list[MergeTree]:
    found: dict[int, MergeTree] = {}
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if node.left is not None and node.right is not None and node.step not in found:
            found[node.step] = node
            waiting += [node.left, node.right]
    return [found[step] for step in sorted(found)]


class MergeTreeView(ChipArea[int]):
    """Paints one tree, as high as a small tree; a large one scrolls. A place is the index of a node."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._history: MergeHistory | None = None
        self._tree: MergeTree | None = None
        self.nodes: list[PlacedNode] = []
        self._step = 0
        self.setAccessibleName(self.tr("Merge tree"))

    def show_tree(self, history: MergeHistory | None, tree: MergeTree | None, step: int) -> None:
        """Show the tree of a token, nodes born after `step` pale; hide if the token was not made by a merge."""
        shown = tree if tree is not None and tree.left is not None else None
        is_same = history is self._history and shown == self._tree
        self._history, self._tree, self._step = history, shown, step
        self.setVisible(shown is not None)
        if not is_same:
            self.current = 0 if shown is not None else None
            self._lay_out()
            self._show_root()
            self._update_accessibility()
        self.viewport().update()

    # -- geometry

    def _lay_out(self) -> None:
        nodes = [] if self._tree is None else laid_out(self._tree, lambda it: self._style.width(self._token(it)), _GAP)
        self.nodes = nodes
        self._fit()

    def _token(self, token_id: int) -> str:
        assert self._history is not None  # there is a tree
        return self._history.token(token_id)

    @property
    def _level_height(self) -> float:
        return self._style.height + self._style.caption_height + _LEVEL_GAP

    def _content_size(self) -> QSize:
        if not self.nodes:
            return QSize(40, 10)
        width = max(node.x + node.width for node in self.nodes)
        levels = max(node.level for node in self.nodes)
        has_caption = any(node.level == levels and node.tree.step for node in self.nodes)
        below = self._style.caption_height if has_caption else 0
        height = levels * self._level_height + self._style.height + below
        return QSize(int(width + 2 * _MARGIN + 1), int(height + 2 * _MARGIN + 1))

    def _fit(self) -> None:
        size = self._content_size()
        bar = self.horizontalScrollBar().sizeHint().height() if size.width() > self.width() else 0
        self.setFixedHeight(min(size.height(), 420) + bar + 2)
        self._update_scroll_bars()

    def _show_root(self) -> None:
        """Scroll to the root, which in a large tree may lie far from the corner."""
        if self.nodes:
            center = self._content_rect(0).center().toPoint()
            self.horizontalScrollBar().setValue(center.x() - self.viewport().width() // 2)
            self.verticalScrollBar().setValue(0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
        if event.size().width() != event.oldSize().width():
            self._show_root()

    def _content_rect(self, place: int) -> QRectF:
        node = self.nodes[place]
        return QRectF(_MARGIN + node.x, _MARGIN + node.level * self._level_height, node.width, self._style.height)

    def _place_at(self, point: QPointF) -> int | None:
        return next((place for place in range(len(self.nodes)) if self._content_rect(place).contains(point)), None)

    # -- nodes

    def _target(self, place: int) -> Selection:
        return Selection("token", text=self._token(self.nodes[place].tree.token_id))

    def _place_for(self, key: Qt.Key) -> int | None:
        """Return the node in the direction of an arrow key: up is the whole, down the left part."""
        here = self.current
        if here is None:
            return None
        node = self.nodes[here]
        targets = {
            Qt.Key.Key_Home: 0, Qt.Key.Key_End: len(self.nodes) - 1, Qt.Key.Key_Up: node.parent,
            Qt.Key.Key_Down: node.left,
        }  # fmt: skip
        if key in targets:
            return targets[key] if targets[key] >= 0 else None
        level = [place for place, other in enumerate(self.nodes) if other.level == node.level]  # from left to right
        at = level.index(here) + (1 if key == Qt.Key.Key_Right else -1)
        return level[at] if 0 <= at < len(level) else None

    def _update_accessibility(self) -> None:
        if self._tree is not None:
            token = token_text(self._token(self._tree.token_id))
            self.setAccessibleName(self.tr("Merge tree of {token}").format(token=token))
            super()._update_accessibility()

    def _said(self, place: int) -> str:
        return self._sentence(self.nodes[place].tree)

    def _said_of_all(self) -> str:
        merges = merges_of(self._tree) if self._tree is not None else []
        return "; ".join(map(self._sentence, merges[-30:]))  # merges

    def _sentence(self, tree: MergeTree) -> str:
        token = token_text(self._token(tree.token_id))
        if tree.left is None or tree.right is None:
            return self.tr("{token}, in the alphabet").format(token=token)
        left, right = (token_text(self._token(part.token_id)) for part in (tree.left, tree.right))
        said = self.tr("step {step}: {left} + {right} → {token}")
        return filled(said, step=tree.step, left=left, right=right, token=token)

    # -- painting

    def _paint(self, painter: QPainter, seen: QRectF) -> None:
        around = seen.adjusted(-1, -self._level_height, 1, self._level_height)
        rects = [self._content_rect(place).translated(-self._offset) for place in range(len(self.nodes))]
        painter.setPen(QPen(self._theme.border, 1.5))
        for above, below in ((rects[node.parent], rect) for node, rect in zip(self.nodes[1:], rects[1:], strict=True)):
            begin = QPointF(above.center().x(), above.bottom() + self._style.caption_height + 1)
            end = QPointF(below.center().x(), below.top() - 1)
            middle = begin.y() + (end.y() - begin.y()) / 2
            painter.drawPolyline([begin, QPointF(begin.x(), middle), QPointF(end.x(), middle), end])
        for place, rect in enumerate(rects):
            if around.intersects(rect):
                self._paint_node(painter, place, rect)

    def _paint_node(self, painter: QPainter, place: int, rect: QRectF) -> None:
        node = self.nodes[place]
        is_current = place == self.current and self.hasFocus()
        look = ChipLook(selected=place == 0 and not is_current, current=is_current, faded=node.tree.step > self._step)
        self._style.paint(painter, rect, self._token(node.tree.token_id), look)
        if node.tree.step:
            caption = number_text(node.tree.step) + (" …" if node.is_cut else "")
            self._style.paint_captions(painter, rect, (caption,))
