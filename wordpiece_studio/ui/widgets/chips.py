"""Chips: how a token is drawn as one, and what stands beside chips; and views of chips.

Nothing depends on color alone: the text is written on it; a chip that begins a word is round at its left, one that
continues a word is square there; unknown chips are hatched, those born at this step have a folded corner, and selected
and current chips have edges of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, TypeVar

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt, QVariantAnimation, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QBrush,
    QColor,
    QFontMetricsF,
    QHelpEvent,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QSizePolicy, QToolTip, QWidget

from wordpiece_studio.tokenizer.encoding import UnknownToken
from wordpiece_studio.ui.widgets.fields import chooses, is_alone, keep
from wordpiece_studio.ui.widgets.plain import tooltip_text
from wordpiece_studio.ui.widgets.token_text import token_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from PySide6.QtGui import QFont, QKeyEvent, QMouseEvent, QPaintEvent, QResizeEvent

    from wordpiece_studio.ui.widgets.theme import Border, Look, Theme, TokenStyle

_PADDING = 7.0
_RADIUS = 5.0
_CORNER = 8.0
_RING = 2.5
_AROUND = 2.0  # pixels that the ring around a chip needs
_WIDEST_PICTURE, _MOST_PICTURES = 300.0, 1000  # painting text and round corners takes Qt ten times as long
_CENTRE = int(Qt.AlignmentFlag.AlignCenter)


@dataclass(frozen=True, slots=True)
class ChipLook:
    unknown: bool = False  # not in the vocabulary
    selected: bool = False
    current: bool = False  # under the keyboard cursor
    faded: bool = False  # not in effect
    continues: bool = False  # a word that another chip began
    fresh: bool = False  # its token was born at the step that is shown


PLAIN_CHIP = ChipLook()


@dataclass(frozen=True, slots=True)
class FlowItem:
    """A chip, which is a token; or beside it a word in a frame, a link to choose, or muted, ordinary or bold text."""

    text: str
    kind: Literal["chip", "word", "link", "text", "value", "strong"] = "text"
    target: object = None  # what it stands for; None if it cannot be chosen
    tip: str = ""
    faded: bool = False  # it does not exist yet at the step that is shown
    selected: bool = False
    fresh: bool = False  # it was born at the step that is shown

    @property
    def shown(self) -> str:
        """The text as it is shown: that of words and links comes from outside, like a token's."""
        return token_text(self.text) if self.kind in ("word", "link") else self.text


def _text_width(font: QFont) -> Callable[[str], float]:
    metrics = QFontMetricsF(font)
    # Not around Qt's own method: its signature takes a third of a second to load.
    return lru_cache(100_000)(lambda text: metrics.horizontalAdvance(text))


_MOST_CHIPS = 30  # of a split that is too long for its cell


def split_variants(
    split: Sequence[str], selected: str, ringed: Sequence[bool] = (), fresh: Sequence[bool] = ()
) -> Iterator[list[FlowItem]]:
    """Yield the chips of a word's tokens, and then fewer of them with dots: for a cell with less room."""
    chips = []
    for at, token in enumerate(split):
        is_ringed = token == selected or any(ringed[at : at + 1])
        chips.append(FlowItem(token, "chip", target=token, selected=is_ringed, fresh=any(fresh[at : at + 1])))
    yield chips or [FlowItem("—", "text")]
    for number in range(min(len(chips) - 1, _MOST_CHIPS), 0, -1):
        yield [*chips[:number], FlowItem("…", "text")]


class ChipStyle:
    """Sizes and drawing of chips in the theme's present fonts and colours; make a new one when the theme changes."""

    def __init__(self, theme: Theme, points: float = 0) -> None:
        self._theme = theme
        self.font = theme.font(points)
        self.strong_font = theme.font(points, bold=True)
        self.caption_font = theme.font(points - 2)
        self._metrics = QFontMetricsF(self.font)
        self.width = cache(self._width)  # the width in pixels of the chip of a token
        self.caption_width = _text_width(self.caption_font)  # the width in pixels of a line of text under a chip
        self._text_width, self._strong_width = _text_width(self.font), _text_width(self.strong_font)
        self.pictures: dict[tuple[str, TokenStyle, ChipLook, float, float], QPixmap] = {}
        self.height = round(self._metrics.height() + 7)
        self.caption_height = round(QFontMetricsF(self.caption_font).height())

    def _width(self, token: str) -> float:
        return max(self._metrics.horizontalAdvance(token_text(token)) + 2 * _PADDING, 22.0)

    def paint(self, painter: QPainter, rect: QRectF, token: str, look: ChipLook = PLAIN_CHIP) -> None:
        """Draw the chip of this token into `rect`; the painter has the chips' font afterwards."""
        if rect.width() > _WIDEST_PICTURE:
            self._paint_anew(painter, rect, token, look)
            return
        ratio = painter.device().devicePixelRatio()
        key = token, self._theme.token_styles.of(token), look, rect.width(), ratio
        picture = self.pictures.get(key)
        if picture is None:
            if len(self.pictures) >= _MOST_PICTURES:
                self.pictures.clear()
            picture = self.pictures[key] = self._picture(rect.size(), ratio, token, look)
        at = QPointF(round(rect.x() * ratio) / ratio - _AROUND, round(rect.y() * ratio) / ratio - _AROUND)
        painter.drawPixmap(at, picture)
        painter.setFont(self.font)

    def _picture(self, size: QSizeF, ratio: float, token: str, look: ChipLook) -> QPixmap:
        around = QSizeF(2 * _AROUND + 1, 2 * _AROUND + 1)
        picture = QPixmap(((size + around) * ratio).toSize())
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        with QPainter(picture) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_anew(painter, QRectF(QPointF(_AROUND, _AROUND), size), token, look)
        return picture

    def _paint_anew(self, painter: QPainter, rect: QRectF, token: str, look: ChipLook) -> None:
        ground = self._theme.token_color(token)
        if look.unknown:
            self._paint_unknown_ground(painter, rect, token)
        elif look.faded:
            painter.setPen(QPen(self._theme.border, 1))
            painter.setBrush(self._theme.surface)
            _draw_shape(painter, rect.adjusted(0.5, 0.5, -0.5, -0.5), look.continues)
        else:
            border = self._theme.token_styles.of(token).border
            edge = edge_pen(ground, self._theme.look, border)
            inset = edge.widthF() / 2
            painter.setPen(edge)
            painter.setBrush(ground)
            for within in (inset, inset + 2.5) if border == "double" else (inset,):
                _draw_shape(painter, rect.adjusted(within, within, -within, -within), look.continues)
        if look.fresh:  # the token is new at this step
            tip = rect.topRight() + QPointF(-0.5, 0.5)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.token_ink)
            painter.drawPolygon([tip, tip - QPointF(_CORNER, 0), tip + QPointF(0, _CORNER)])
        if look.selected or look.current:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._theme.accent_ink if look.selected else self._theme.text, _RING))
            _draw_shape(painter, rect.adjusted(-0.5, -0.5, 0.5, 0.5), look.continues)
        ink = self._theme.faint if look.faded else self._theme.token_ink
        painter.setPen(self._theme.text if look.unknown else ink)
        painter.setFont(self.font)
        painter.drawText(rect, _CENTRE, token_text(token))

    def paint_captions(self, painter: QPainter, rect: QRectF, captions: tuple[str, ...]) -> None:
        painter.setPen(self._theme.muted)
        painter.setFont(self.caption_font)
        line = QRectF(rect.left(), rect.bottom() + 1, rect.width(), self.caption_height)
        for caption in captions:
            painter.drawText(line, _CENTRE, caption)
            line.translate(0, self.caption_height)

    def item_width(self, item: FlowItem) -> float:
        if item.kind == "chip":
            return self.width(item.text)
        width = (self._strong_width if item.kind == "strong" else self._text_width)(item.shown) + 1
        return width + 2 * _PADDING if item.kind in ("word", "link") else width

    def paint_item(self, painter: QPainter, rect: QRectF, item: FlowItem, *, is_current: bool = False) -> None:
        theme = self._theme
        if item.kind == "chip":
            look = ChipLook(
                unknown=isinstance(item.text, UnknownToken), selected=item.selected, current=is_current,
                faded=item.faded, fresh=item.fresh,
            )  # fmt: skip
            self.paint(painter, rect, item.text, look)
            return
        if item.kind == "word" or is_current:
            painter.setPen(QPen(theme.text if is_current else theme.border, 2 if is_current else 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        inks = {"link": theme.accent_ink, "text": theme.muted}
        painter.setPen(theme.faint if item.faded else inks.get(item.kind, theme.text))
        painter.setFont(self.strong_font if item.kind == "strong" else self.font)
        room = int(rect.width()) + 1
        painter.drawText(rect, _CENTRE, painter.fontMetrics().elidedText(item.shown, Qt.TextElideMode.ElideRight, room))

    def _paint_unknown_ground(self, painter: QPainter, rect: QRectF, token: str) -> None:
        edge = QPen(self._theme.muted, 1, Qt.PenStyle.DashLine)
        inner = rect.adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.surface)
        painter.drawRoundedRect(inner, _RADIUS, _RADIUS)
        painter.setBrush(QBrush(self._theme.bar, Qt.BrushStyle.BDiagPattern))
        painter.setPen(edge)
        painter.drawRoundedRect(inner, _RADIUS, _RADIUS)
        text = QRectF(0, 0, self.width(token) - 2 * _PADDING, self._metrics.ascent())
        text.moveCenter(rect.center())
        painter.fillRect(text.intersected(inner), self._theme.surface)


def _draw_shape(painter: QPainter, rect: QRectF, is_square_at_left: bool) -> None:
    if not is_square_at_left:
        painter.drawRoundedRect(rect, _RADIUS, _RADIUS)
        return
    path = QPainterPath(rect.topLeft())
    path.lineTo(rect.right() - _RADIUS, rect.top())
    path.quadTo(rect.topRight(), QPointF(rect.right(), rect.top() + _RADIUS))
    path.lineTo(rect.right(), rect.bottom() - _RADIUS)
    path.quadTo(rect.bottomRight(), QPointF(rect.right() - _RADIUS, rect.bottom()))
    path.lineTo(rect.bottomLeft())
    path.closeSubpath()
    painter.drawPath(path)


def edge_pen(ground: QColor, look: Look, border: Border) -> QPen:
    """Return the pen for the edge of a chip on the color `ground`, which stands out from it in a light or dark look."""
    faint, strong = (130, 280) if look == "dark" else (118, 200)
    color = ground.lighter if look == "dark" else ground.darker
    return QPen(color(faint if border == "thin" else strong), 2 if border == "thick" else 1)


_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
_WALKS = (
    Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End,
)  # fmt: skip
Place = TypeVar("Place")  # how a view identifies one of its chips: an index, or line, word and chip


class ChipArea(QAbstractScrollArea, Generic[Place]):
    """Chips, one of which is under the keyboard cursor; subclasses implement the methods in the first part.

    "In the contents" means: in pixels from the corner of what scrolls. The font is `points` larger than the window's.
    """

    chosen = Signal(object)  # what the chip stands for that was clicked, or on which Enter or the space bar was pressed

    walking_chooses: ClassVar[bool] = False  # whether the keys that move the cursor choose the chip they reach

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, points: float = 0) -> None:
        super().__init__(parent)
        self._theme = theme
        self._points = points
        self._style = ChipStyle(theme, points)
        self.current: Place | None = None
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.viewport().setAutoFillBackground(False)
        theme.changed.connect(self.restyle)

    # -- what subclasses say

    def _lay_out(self) -> None:
        """Find new places for all chips: their sizes have changed."""
        raise NotImplementedError

    def _content_size(self) -> QSize:
        """Return the size of all contents, or nothing if they never scroll."""
        return QSize()

    def _content_rect(self, place: Place) -> QRectF | None:
        raise NotImplementedError

    def _place_at(self, point: QPointF) -> Place | None:
        raise NotImplementedError

    def _place_for(self, key: Qt.Key) -> Place | None:
        raise NotImplementedError

    def _target(self, place: Place) -> object:
        raise NotImplementedError

    def _said(self, place: Place) -> str:
        raise NotImplementedError

    def _said_of_all(self) -> str:
        raise NotImplementedError

    def _tip(self, place: Place) -> str:
        return self._said(place)

    def _paint(self, painter: QPainter, seen: QRectF) -> None:
        raise NotImplementedError

    # -- geometry

    @property
    def _offset(self) -> QPointF:
        return QPointF(self.horizontalScrollBar().value(), self.verticalScrollBar().value())

    def rect_of(self, place: Place) -> QRectF | None:
        """Return the rectangle of a chip in viewport pixels, if it is there."""
        rect = self._content_rect(place)
        return rect.translated(-self._offset) if rect is not None else None

    def chip_at(self, point: QPointF) -> Place | None:
        return self._place_at(point + self._offset)

    def restyle(self) -> None:
        self._style = ChipStyle(self._theme, self._points)
        self._lay_out()
        self.viewport().update()

    def _update_scroll_bars(self) -> None:
        size, room = self._content_size(), self.viewport().size()
        bars = self.horizontalScrollBar(), self.verticalScrollBar()
        sizes = (size.width(), room.width()), (size.height(), room.height())
        for bar, (needed, shown) in zip(bars, sizes, strict=True):
            bar.setRange(0, max(needed - shown, 0))
            bar.setPageStep(shown)
            bar.setSingleStep(self._style.height * 3 // 4)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._update_scroll_bars()

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self.viewport()) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint(painter, QRectF(event.rect()))

    # -- the cursor

    def set_current(self, place: Place | None) -> None:
        self.current = place
        rect = self._content_rect(place) if place is not None else None
        if rect is not None:
            self._update_scroll_bars()
            seen, room = self._with_surroundings(rect), self.viewport().size()
            across, upright = self.horizontalScrollBar(), self.verticalScrollBar()
            across.setValue(min(max(across.value(), int(seen.right() - room.width())), int(seen.left())))
            upright.setValue(min(max(upright.value(), int(seen.bottom() - room.height())), int(seen.top())))
        self._show_cursor()

    def _with_surroundings(self, rect: QRectF) -> QRectF:
        """Return what should be in view together with the chip in `rect`."""
        return rect.adjusted(-10, -10, 10, 10)

    def _choose(self, place: Place | None) -> None:
        if place is not None and (target := self._target(place)) is not None:
            self.set_current(place)
            self.chosen.emit(target)

    def _update_accessibility(self) -> None:
        current = self.current if self.hasFocus() else None
        text = self._said(current) if current is not None else self._said_of_all()
        if text == self.accessibleDescription():
            return
        self.setAccessibleDescription(text)
        if self.hasFocus():
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))

    def _show_cursor(self) -> None:
        self._update_accessibility()
        self.viewport().update()

    # -- user input

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self.chip_at(event.position())
        if chooses(event, self) and self._is_choice(place):
            self._choose(place)
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        is_choice = self._is_choice(self.chip_at(event.position()))
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if is_choice else Qt.CursorShape.ArrowCursor)

    def _is_choice(self, place: Place | None) -> bool:
        return place is not None and self._target(place) is not None

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = self.chip_at(QPointF(event.pos()))
            tip = self._tip(place) if place is not None else ""
            if tip or not self.toolTip():
                QToolTip.showText(event.globalPos(), tooltip_text(tip))
                return True
        return super().viewportEvent(event)

    def event(self, event: QEvent) -> bool:
        """Keep the keys that move among the chips and choose them: in the window they move the step."""
        is_handled = keep(event, (*_WALKS, *_ENTER)) or super().event(event)
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self._show_cursor()
        return is_handled

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if is_alone(event) and key in _ENTER:
            self._choose(self._place_for(Qt.Key.Key_Home) if self.current is None else self.current)
        elif is_alone(event) and key in _WALKS:
            place = self._place_for(key)
            if place is not None:
                (self._choose if self.walking_chooses else self.set_current)(place)
        elif is_alone(event) and self.verticalScrollBar().maximum():
            super().keyPressEvent(event)
        else:
            event.ignore()


_LINE_GAP, _MARGIN = 4.0, 1.0
_MOST_SPOKEN = 60  # items


@dataclass(frozen=True, slots=True)
class FlowSpacing:
    """Distances: between chips of a word, between words, and from the top of one row to the next.

    `unknown_height`: how much higher a row is that has an unknown word, which is written below its chip.
    """

    chip_gap: float
    word_gap: float
    row_height: float
    unknown_height: float = 0.0


def lay_out(words: Sequence[Sequence[float]], width: float, spacing: FlowSpacing) -> list[tuple[float, float, float]]:
    """Return left edge, top edge and width of chips, given by their widths, in rows of the given width.

    A word that does not fit into the rest of a row starts the next one; a word wider than a row is broken between
    chips; a chip wider than a row is clipped when painted.

    >>> lay_out([[10, 10], [30]], 40, FlowSpacing(2, 5, 20))
    [(0.0, 0.0, 10), (12.0, 0.0, 10), (0.0, 20.0, 30)]
    """
    placed: list[tuple[float, float, float]] = []
    x = y = 0.0
    for widths in words:
        whole = sum(widths) + spacing.chip_gap * max(len(widths) - 1, 0)
        if x and x + whole > width:
            x, y = 0.0, y + spacing.row_height
        for chip_width in widths:
            if x and x + chip_width > width:
                x, y = 0.0, y + spacing.row_height
            placed.append((x, y, chip_width))
            x += chip_width + spacing.chip_gap
        x += spacing.word_gap - spacing.chip_gap
    return placed


_JOINING_MS = 350


class ChipFlow(ChipArea[int]):
    """Items from left to right, `gap` pixels apart, in as many lines as they need; a place is the index of an item."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, points: float = 0, gap: float = 5) -> None:
        super().__init__(theme, parent, points=points)
        self._gap = gap
        self.items: tuple[FlowItem, ...] = ()
        self._rects: list[QRectF] = []
        self._name = ""
        self.joining = QVariantAnimation(self, startValue=0.0, endValue=1.0, duration=_JOINING_MS)
        self.joining.valueChanged.connect(self.viewport().update)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # until there is something to choose
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.hide()  # while there is nothing to show

    def show_items(self, items: Sequence[FlowItem], name: str) -> None:
        if (tuple(items), name) == (self.items, self._name):
            return
        is_same = [item.target for item in items] == [item.target for item in self.items]
        self.items, self._name = tuple(items), name
        if not is_same:
            self.current = self._place_for(Qt.Key.Key_Home)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus if self.current is None else Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(name)
        self._update_accessibility()
        self.setVisible(bool(items))
        self._lay_out()
        self.viewport().update()

    def set_points(self, points: float) -> None:
        if points != self._points:
            self._points = points
            self.restyle()

    # -- geometry

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self.height_of(self.items, width)

    def height_of(self, items: Sequence[FlowItem], width: int) -> int:
        return int(max((rect.bottom() for rect in self._placed(items, width)), default=self._style.height) + 2)

    def sizeHint(self) -> QSize:
        return QSize(300, self.heightForWidth(300))

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self._style.height + 2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._rects = self._placed(self.items, self.width())

    def _lay_out(self) -> None:
        self._rects = self._placed(self.items, self.width())
        self.updateGeometry()

    def _placed(self, items: Sequence[FlowItem], width: int) -> list[QRectF]:
        room, height = max(width - 2 * _MARGIN, 20.0), self._style.height
        widths = [[min(self._style.item_width(item), room)] for item in items]
        chips = lay_out(widths, room, FlowSpacing(0, self._gap, height + _LINE_GAP))
        return [QRectF(x + _MARGIN, y + _MARGIN, chip_width, height) for x, y, chip_width in chips]

    def _content_rect(self, place: int) -> QRectF | None:
        return self._rects[place]

    def _place_at(self, point: QPointF) -> int | None:
        return next((place for place, rect in enumerate(self._rects) if rect.contains(point)), None)

    # -- items

    def _place_for(self, key: Qt.Key) -> int | None:
        choices = [place for place, item in enumerate(self.items) if item.target is not None]
        if not choices:
            return None
        at = choices.index(self.current) if self.current in choices else 0
        steps = {Qt.Key.Key_Left: at - 1, Qt.Key.Key_Up: at - 1, Qt.Key.Key_Home: 0, Qt.Key.Key_End: len(choices) - 1}
        return choices[max(0, min(steps.get(key, at + 1), len(choices) - 1))]

    def _target(self, place: int) -> object:
        return self.items[place].target

    def _said(self, place: int) -> str:
        item = self.items[place]
        return item.tip if item.tip.startswith(item.text) else f"{token_text(item.text)}. {item.tip}"

    def _said_of_all(self) -> str:
        return " ".join(token_text(item.text) for item in self.items[:_MOST_SPOKEN])

    def _tip(self, place: int) -> str:
        return self.items[place].tip

    def _paint(self, painter: QPainter, _seen: QRectF) -> None:
        current = self.current if self.hasFocus() else None
        for place, (item, rect) in enumerate(zip(self.items, self._rects, strict=True)):
            painter.setClipRect(rect.adjusted(-1, -1, 1, 1))  # a long one may be clipped
            self._style.paint_item(painter, rect, item, is_current=place == current)
        if self.joining.state() == QVariantAnimation.State.Running:
            self._paint_joining(painter, self.joining.currentValue())

    def _paint_joining(self, painter: QPainter, part: float) -> None:
        """Let the first two chips move together in place of the third, which they become."""
        chips = [place for place, item in enumerate(self.items) if item.kind == "chip"][:3]
        if len(chips) < 3:
            return
        painter.setClipping(False)
        left, right, made = (self._rects[place] for place in chips)
        for rect in self._rects[chips[0] : chips[2] + 1]:
            painter.fillRect(rect.adjusted(-1, -1, 1, 1), self._theme.surface)
        ends = made.topLeft(), made.topRight() - QPointF(right.width(), 0)
        for place, rect, end in zip(chips, (left, right), ends, strict=False):
            self._style.paint_item(painter, rect.translated((end - rect.topLeft()) * part), self.items[place])
