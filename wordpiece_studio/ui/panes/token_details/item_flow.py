"""Chips, words, steps and text in lines that wrap; items with a target can be chosen by mouse and keyboard.

It paints its items and reports which target was chosen; the token details decide what that means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QFocusEvent,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from wordpiece_studio.ui.widgets.chip_style import ChipLook, ChipStyle
from wordpiece_studio.ui.widgets.kept_keys import keep
from wordpiece_studio.ui.widgets.plain import tooltip_text
from wordpiece_studio.ui.widgets.token_text import token_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.ui.widgets.theme import Theme

_GAP = 5.0
_LINE_GAP = 4.0
_PADDING = 7.0
_MOST_SPOKEN = 60  # items
_FORTH = (Qt.Key.Key_Right, Qt.Key.Key_Down)
_BACK = (Qt.Key.Key_Left, Qt.Key.Key_Up)
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


@dataclass(frozen=True, slots=True)
class FlowItem:
    """One piece of the flow.

    Attributes
    ----------
    text
        The text to show.
    kind
        ``"chip"``: a token. ``"word"``: a word in a frame. ``"link"``: text to choose. ``"text"``: muted text.
    target
        What it stands for; None if it cannot be chosen.
    tip
        The tooltip.
    faded
        Whether it does not exist yet at the step shown.
    selected
        Whether it is the selection.
    """

    text: str
    kind: Literal["chip", "word", "link", "text"] = "text"
    target: object = None
    tip: str = ""
    faded: bool = False
    selected: bool = False


class ItemFlow(QWidget):
    """Items from left to right, in as many lines as they need.

    Parameters
    ----------
    points
        How much larger the font is than the window's.
    """

    chosen = Signal(object)
    """The target of the item that was clicked, or on which Enter or the space bar was pressed."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, points: float = 0) -> None:
        super().__init__(parent)
        self._theme = theme
        self._points = points
        self._items: tuple[FlowItem, ...] = ()
        self._name = ""
        self._current = 0  # among the items that can be chosen
        self._style = ChipStyle(theme, points)
        self.setMouseTracking(True)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.hide()  # while there is nothing to show
        theme.changed.connect(self._on_theme_changed)

    @property
    def items(self) -> tuple[FlowItem, ...]:
        """The items shown."""
        return self._items

    def show_items(self, items: Sequence[FlowItem], name: str) -> None:
        """Show these items; `name` is their accessible name."""
        if (tuple(items), name) == (self._items, self._name):
            return
        if [item.target for item in items] != [item.target for item in self._items]:
            self._current = 0
        self._items, self._name = tuple(items), name
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if self._choices() else Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(name)
        self._update_accessibility()
        self.setVisible(bool(items))
        self.updateGeometry()
        self.update()

    def set_points(self, points: float) -> None:
        """Make the font this much larger than the window's."""
        if points != self._points:
            self._points = points
            self._on_theme_changed()

    # -- geometry

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self.height_of(self._items, width)

    def height_of(self, items: Sequence[FlowItem], width: int) -> int:
        """Return the height in pixels that items need at a width in pixels."""
        return int(max((rect.bottom() for rect in self._placed(items, width)), default=self._style.height) + 2)

    def sizeHint(self) -> QSize:
        return QSize(300, self.heightForWidth(300))

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self._style.height + 2)

    def _placed(self, items: Sequence[FlowItem], width: int) -> list[QRectF]:
        places: list[QRectF] = []
        x = y = 1.0
        for item in items:
            needed = min(self._width_of(item), float(max(width - 2, 20)))
            if x > 1 and x + needed > width - 1:
                x, y = 1.0, y + self._style.height + _LINE_GAP
            places.append(QRectF(x, y, needed, self._style.height))
            x += needed + _GAP
        return places

    def _width_of(self, item: FlowItem) -> float:
        if item.kind == "chip":
            return self._style.width(item.text)
        width = QFontMetricsF(self._style.font).horizontalAdvance(token_text(item.text)) + 1
        return width + 2 * _PADDING if item.kind in ("word", "link") else width

    # -- choosing

    def _choices(self) -> list[int]:
        return [index for index, item in enumerate(self._items) if item.target is not None]

    def _item_at(self, point: QPointF) -> FlowItem | None:
        places = self._placed(self._items, self.width())
        return next((item for item, rect in zip(self._items, places, strict=True) if rect.contains(point)), None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        item = self._item_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and item is not None and item.target is not None:
            self._current = self._choices().index(self._items.index(item))
            self.chosen.emit(item.target)
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        item = self._item_at(event.position())
        is_choice = item is not None and item.target is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if is_choice else Qt.CursorShape.ArrowCursor)

    def event(self, event: QEvent) -> bool:
        """Show tooltips of items, and keep the keys that move among them: in the window they move the step."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            item = self._item_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), tooltip_text(item.tip if item is not None else ""))
            return True
        return keep(event, (*_FORTH, *_BACK, *_ENTER)) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, choices = Qt.Key(event.key()), self._choices()
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier or not choices:
            super().keyPressEvent(event)
        elif key in _FORTH or key in _BACK:
            self._current = max(0, min(self._current + (1 if key in _FORTH else -1), len(choices) - 1))
            self._update_accessibility()
            self.update()
        elif key in _ENTER:
            self.chosen.emit(self._items[choices[self._current]].target)
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._update_accessibility()
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def _update_accessibility(self) -> None:
        """Describe the current item to screen readers, or all items while the flow has no keyboard focus."""
        choices = self._choices()
        if self.hasFocus() and choices:
            item = self._items[choices[self._current]]
            text = item.tip if item.tip.startswith(item.text) else f"{token_text(item.text)}. {item.tip}"
        else:
            text = " ".join(token_text(item.text) for item in self._items[:_MOST_SPOKEN])
        if text != self.accessibleDescription():
            self.setAccessibleDescription(text)
            if self.hasFocus():
                QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    # -- painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            choices = self._choices()
            current = choices[self._current] if choices and self.hasFocus() else None
            places = self._placed(self._items, self.width())
            for index, (item, rect) in enumerate(zip(self._items, places, strict=True)):
                self._paint_item(painter, item, rect, is_current=index == current)

    def _paint_item(self, painter: QPainter, item: FlowItem, rect: QRectF, *, is_current: bool) -> None:
        theme = self._theme
        if item.kind == "chip":
            look = ChipLook(selected=item.selected, current=is_current, faded=item.faded)
            painter.setClipRect(rect.adjusted(-1, -1, 1, 1))  # a long one may be clipped
            self._style.paint(painter, rect, item.text, look)
            painter.setClipping(False)
            return
        if item.kind == "word" or is_current:
            painter.setPen(QPen(theme.text if is_current else theme.border, 2 if is_current else 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        colors = {"word": theme.text, "link": theme.accent_ink, "text": theme.muted}
        painter.setPen(theme.faint if item.faded else colors[item.kind])
        painter.setFont(self._style.font)
        text = painter.fontMetrics().elidedText(
            token_text(item.text), Qt.TextElideMode.ElideRight, int(rect.width()) + 1
        )
        painter.drawText(rect, int(Qt.AlignmentFlag.AlignCenter), text)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        self._style = ChipStyle(self._theme, self._points)
        self.updateGeometry()
        self.update()
