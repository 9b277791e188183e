"""The merge tree: chips and lines, with the step that made it under each chip; nodes can be chosen by mouse and key.

The token is at the top, its symbols below in reading order. Every node is centered above its symbols, so nodes of one
level never overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QScrollArea, QToolTip, QWidget

from wordpiece_studio.ui.widgets.chip_style import ChipLook, ChipStyle
from wordpiece_studio.ui.widgets.kept_keys import keep
from wordpiece_studio.ui.widgets.plain import tooltip_text
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wordpiece_studio.training.history import MergeHistory, MergeTree
    from wordpiece_studio.ui.widgets.theme import Theme

MOST_NODES = 400
"""Only the upper levels of a larger tree are laid out."""
_GAP = 8.0
_LEVEL_GAP = 13.0
_MARGIN = 3.0
_MOST_SPOKEN = 30  # merges
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
_ARROWS = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down)


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
    """Return the nodes of a tree, the root first, parents before their parts.

    Parameters
    ----------
    width_of
        Returns the width in pixels of the node of the token with this id.
    gap
        The minimum distance in pixels between two nodes of a level.
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
    leftmost = min(node.x for node in nodes)  # a node may be wider than everything below it
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
    """Return the nodes without parts laid out below them, left to right."""
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
    """Return the distinct merges that made a token, in step order."""
    found: dict[int, MergeTree] = {}
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if node.left is not None and node.right is not None and node.step not in found:
            found[node.step] = node
            waiting += [node.left, node.right]
    return [found[step] for step in sorted(found)]


class MergeTreeView(QWidget):
    """Paints one tree at its natural size; large ones belong in a scroll area."""

    token_chosen = Signal(object)
    """The token (str) whose node was clicked, or on which Enter or the space bar was pressed."""
    node_walked_to = Signal(object)
    """The QRect of the node that the keyboard moved to."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Merge tree"))
        self._theme = theme
        self._style = ChipStyle(theme)
        self._history: MergeHistory | None = None
        self._tree: MergeTree | None = None
        self._nodes: list[PlacedNode] = []
        self._step = 0
        self._current = 0
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        theme.changed.connect(self._on_theme_changed)

    @property
    def nodes(self) -> list[PlacedNode]:
        """The nodes as laid out, the root first."""
        return self._nodes

    def shows(self, history: MergeHistory | None, tree: MergeTree | None) -> bool:
        """Return whether this tree is the one shown."""
        return history is self._history and tree == self._tree

    def show_tree(self, history: MergeHistory | None, tree: MergeTree | None, step: int) -> None:
        """Show the tree of a token; nodes born after `step` are pale."""
        is_same = self.shows(history, tree)
        self._history, self._tree, self._step = history, tree, step
        if not is_same:
            self._current = 0
            self._lay_out()
            self._update_accessibility()
        self.update()

    # -- geometry

    def _lay_out(self) -> None:
        self._nodes = laid_out(self._tree, self._width_of, _GAP) if self._tree is not None else []
        self.updateGeometry()
        self.resize(self.sizeHint())

    def _width_of(self, token_id: int) -> float:
        assert self._history is not None  # there is a tree
        return self._style.width(self._history.token(token_id))

    @property
    def _level_height(self) -> float:
        return self._style.height + self._style.caption_height + _LEVEL_GAP

    def sizeHint(self) -> QSize:
        if not self._nodes:
            return QSize(40, 10)
        width = max(node.x + node.width for node in self._nodes)
        levels = max(node.level for node in self._nodes)
        has_caption = any(node.level == levels and node.tree.step for node in self._nodes)
        below = self._style.caption_height if has_caption else 0
        height = levels * self._level_height + self._style.height + below
        return QSize(int(width + 2 * _MARGIN + 1), int(height + 2 * _MARGIN + 1))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def rect_of(self, index: int) -> QRectF:
        """Return the rectangle of a node's chip."""
        node = self._nodes[index]
        return QRectF(_MARGIN + node.x, _MARGIN + node.level * self._level_height, node.width, self._style.height)

    def _node_at(self, point: QPointF) -> int | None:
        return next((index for index in range(len(self._nodes)) if self.rect_of(index).contains(point)), None)

    # -- user input

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self._node_at(event.position())
        if event.button() != Qt.MouseButton.LeftButton or index is None:
            super().mousePressEvent(event)
            return
        self._current = index
        self._choose_current()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        is_node = self._node_at(event.position()) is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if is_node else Qt.CursorShape.ArrowCursor)

    def event(self, event: QEvent) -> bool:
        """Show tooltips of nodes, and keep the keys that move through the tree: in the window they move the step."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            index, history = self._node_at(QPointF(event.pos())), self._history
            said = self._said(history, self._nodes[index].tree) if history is not None and index is not None else ""
            QToolTip.showText(event.globalPos(), tooltip_text(said))
            return True
        return keep(event, (*_ARROWS, *_ENTER)) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if not self._nodes or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
        elif key in _ARROWS:
            self._walk_to(self._neighbor(key))
        elif key in _ENTER:
            self._choose_current()
        else:
            super().keyPressEvent(event)

    def _choose_current(self) -> None:
        if self._history is not None:
            self.token_chosen.emit(self._history.token(self._nodes[self._current].tree.token_id))

    def _neighbor(self, key: Qt.Key) -> int:
        """Return the node in the direction of an arrow key: up is the whole, down the left part."""
        node = self._nodes[self._current]
        if key == Qt.Key.Key_Up:
            return node.parent
        if key == Qt.Key.Key_Down:
            return node.left
        level = [index for index, other in enumerate(self._nodes) if other.level == node.level]
        level.sort(key=self._left_edge)
        place = level.index(self._current) + (1 if key == Qt.Key.Key_Right else -1)
        return level[place] if 0 <= place < len(level) else -1

    def _left_edge(self, index: int) -> float:
        return self._nodes[index].x

    def _walk_to(self, index: int) -> None:
        if index >= 0:
            self._current = index
            self._update_accessibility()
            self.node_walked_to.emit(self.rect_of(index).toAlignedRect())
            self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._update_accessibility()
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    # -- accessibility

    def _update_accessibility(self) -> None:
        """Describe the current node to screen readers, or all merges while the tree has no keyboard focus."""
        history, tree = self._history, self._tree
        if history is None or tree is None:
            return
        self.setAccessibleName(self.tr("Merge tree of {token}").format(token=token_text(history.token(tree.token_id))))
        if self.hasFocus() and self._nodes:
            text = self._said(history, self._nodes[self._current].tree)
        else:
            text = "; ".join(self._said(history, merge) for merge in merges_of(tree)[-_MOST_SPOKEN:])
        if text != self.accessibleDescription():
            self.setAccessibleDescription(text)
            if self.hasFocus():
                QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    def _said(self, history: MergeHistory, tree: MergeTree) -> str:
        token = token_text(history.token(tree.token_id))
        if tree.left is None or tree.right is None:
            return self.tr("{token}, in the alphabet").format(token=token)
        return self.tr("step {step}: {left} + {right} → {token}").format(
            step=number_text(tree.step),
            left=token_text(history.token(tree.left.token_id)),
            right=token_text(history.token(tree.right.token_id)),
            token=token,
        )

    # -- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        history = self._history
        if history is None:
            return
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            seen = QRectF(event.rect()).adjusted(-1, -self._level_height, 1, self._level_height)
            for index, node in enumerate(self._nodes):
                if node.parent >= 0:
                    self._paint_line(painter, node.parent, index)
            for index in range(len(self._nodes)):
                if seen.intersects(self.rect_of(index)):
                    self._paint_node(painter, history, index)

    def _paint_line(self, painter: QPainter, parent: int, child: int) -> None:
        above, below = self.rect_of(parent), self.rect_of(child)
        begin = QPointF(above.center().x(), above.bottom() + self._style.caption_height + 1)
        end = QPointF(below.center().x(), below.top() - 1)
        middle = begin.y() + (end.y() - begin.y()) / 2
        painter.setPen(QPen(self._theme.border, 1.5))
        painter.drawPolyline([begin, QPointF(begin.x(), middle), QPointF(end.x(), middle), end])

    def _paint_node(self, painter: QPainter, history: MergeHistory, index: int) -> None:
        node, rect = self._nodes[index], self.rect_of(index)
        is_current = index == self._current and self.hasFocus()
        look = ChipLook(selected=index == 0, current=is_current, faded=node.tree.step > self._step)
        if is_current and index == 0:
            look = ChipLook(current=True, faded=look.faded)
        self._style.paint(painter, rect, history.token(node.tree.token_id), look)
        if node.tree.step:
            caption = number_text(node.tree.step) + (" …" if node.is_cut else "")
            self._style.paint_captions(painter, rect, (caption,))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        self._style = ChipStyle(self._theme)
        self._lay_out()
        self.update()


class MergeTreeArea(QScrollArea):
    """The scroll area of a tree: as high as a small tree; a large one scrolls."""

    _MOST_HEIGHT = 420

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = MergeTreeView(theme)
        self.setWidget(self.view)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setAutoFillBackground(False)
        self.view.setAutoFillBackground(False)
        self.view.node_walked_to.connect(self._on_view_node_walked_to)

    def show_tree(self, history: MergeHistory | None, tree: MergeTree | None, step: int) -> None:
        """Show a tree; hide if the token was not made by a merge."""
        shown = tree if tree is not None and tree.left is not None else None
        is_other = not self.view.shows(history, shown)
        self.setVisible(shown is not None)
        self.view.show_tree(history, shown, step)
        self._fit()
        if is_other and shown is not None:
            self._show_root()

    def _fit(self) -> None:
        size = self.view.sizeHint()
        bar = self.horizontalScrollBar().sizeHint().height() if size.width() > self.width() else 0
        self.setFixedHeight(min(size.height(), self._MOST_HEIGHT) + bar + 2)

    def _show_root(self) -> None:
        """Scroll to the root, which in a large tree may lie far from the corner."""
        center = self.view.rect_of(0).center().toPoint()
        self.horizontalScrollBar().setValue(center.x() - self.viewport().width() // 2)
        self.verticalScrollBar().setValue(0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
        if self.view.nodes and event.size().width() != event.oldSize().width():
            self._show_root()

    def _on_view_node_walked_to(self, rect: QRect) -> None:
        center: QPoint = rect.center()
        self.ensureVisible(center.x(), center.y(), rect.width() // 2 + 10, rect.height() + 10)
