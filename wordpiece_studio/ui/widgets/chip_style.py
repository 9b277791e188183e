"""How a token is drawn as a chip, and what stands beside chips.

This draws single chips, words and texts; a :class:`~wordpiece_studio.ui.widgets.chip_area.ChipArea` or a table decides
where they lie.
Nothing depends on colour alone: the text is written on it; a chip that begins a word is round at its left, one that
continues a word is square there; unknown chips are hatched, those born at this step have a folded corner, and selected
and current chips have edges of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QPixmap

from wordpiece_studio.ui.widgets.token_text import token_text

if TYPE_CHECKING:
    from wordpiece_studio.ui.widgets.theme import Border, Look, Theme, TokenStyle


_PADDING = 7.0
_RADIUS = 5.0
_CORNER = 8.0
_FADED = 0.45
_RING = 2.5
_AROUND = 2.0
"""Pixels that the ring around a chip needs."""
_WIDEST_PICTURE, _MOST_PICTURES = 300.0, 1000
_MOST_WIDTHS = 100_000
"""Chips are painted once and cached: text and round corners take Qt ten times as long as a picture of them."""
_CENTRE = int(Qt.AlignmentFlag.AlignCenter)


@dataclass(frozen=True, slots=True)
class ChipLook:
    """What is special about a chip."""

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


class ChipStyle:
    """Sizes and drawing of chips in the theme's present fonts and colours; make a new one when the theme changes."""

    def __init__(self, theme: Theme, points: float = 0) -> None:
        self._theme = theme
        self.font = theme.font(points)
        self.strong_font = theme.font(points, bold=True)
        self.caption_font = theme.font(points - 2)
        self._metrics = QFontMetricsF(self.font)
        self.width = cache(self._width)
        """The width in pixels of the chip of a token."""
        caption_metrics = QFontMetricsF(self.caption_font)
        self.caption_width = lru_cache(_MOST_WIDTHS)(caption_metrics.horizontalAdvance)  # offsets never repeat
        """The width in pixels of a line of text under a chip."""
        self._text_width = lru_cache(_MOST_WIDTHS)(self._metrics.horizontalAdvance)
        self._strong_width = lru_cache(_MOST_WIDTHS)(QFontMetricsF(self.strong_font).horizontalAdvance)
        self.pictures: dict[tuple[str, TokenStyle, ChipLook, float, float], QPixmap] = {}
        self.height = round(self._metrics.height() + 7)
        self.caption_height = round(caption_metrics.height())

    def _width(self, token: str) -> float:
        return max(self._metrics.horizontalAdvance(token_text(token)) + 2 * _PADDING, 22.0)

    def paint(self, painter: QPainter, rect: QRectF, token: str, look: ChipLook = PLAIN_CHIP) -> None:
        """Draw the chip of this token into `rect`; the painter has the chips' font afterwards."""
        if rect.width() > _WIDEST_PICTURE:
            self._paint_anew(painter, rect, token, look)
            return
        ratio = painter.device().devicePixelRatio()
        key = token, self._theme.token_style(token), look, rect.width(), ratio
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
        is_hollow = look.faded and self._theme.look == "contrast"
        if look.faded and not is_hollow:
            painter.setOpacity(_FADED)
        if look.unknown:
            self._paint_unknown_ground(painter, rect, token)
        elif is_hollow:
            painter.setPen(QPen(self._theme.faint, 1, Qt.PenStyle.DashLine))
            painter.setBrush(self._theme.surface)
            _draw_shape(painter, rect.adjusted(0.5, 0.5, -0.5, -0.5), look.continues)
        else:
            edge = _edge_pen(ground, self._theme.look, self._theme.token_style(token).border)
            inset = edge.widthF() / 2
            painter.setPen(edge)
            painter.setBrush(ground)
            _draw_shape(painter, rect.adjusted(inset, inset, -inset, -inset), look.continues)
        if look.fresh:
            self._paint_corner(painter, rect)
        if look.selected or look.current:
            self._paint_ring(painter, rect, look)
        ink = self._theme.text if look.unknown else self._theme.token_ink
        painter.setPen(self._theme.faint if is_hollow else ink)
        painter.setFont(self.font)
        painter.drawText(rect, _CENTRE, token_text(token))
        if look.faded:
            painter.setOpacity(1.0)

    def paint_captions(self, painter: QPainter, rect: QRectF, captions: tuple[str, ...]) -> None:
        """Draw the lines of text under the chip whose place is `rect`, each centred."""
        painter.setPen(self._theme.muted)
        painter.setFont(self.caption_font)
        line = QRectF(rect.left(), rect.bottom() + 1, rect.width(), self.caption_height)
        for caption in captions:
            painter.drawText(line, _CENTRE, caption)
            line.translate(0, self.caption_height)

    def item_width(self, item: FlowItem) -> float:
        """Width of an item in pixels."""
        if item.kind == "chip":
            return self.width(item.text)
        width = (self._strong_width if item.kind == "strong" else self._text_width)(item.shown) + 1
        return width + 2 * _PADDING if item.kind in ("word", "link") else width

    def paint_item(self, painter: QPainter, rect: QRectF, item: FlowItem, *, is_current: bool = False) -> None:
        """Draw an item into `rect`, cut if it does not fit; `is_current`: it is under the keyboard cursor."""
        theme = self._theme
        if item.kind == "chip":
            look = ChipLook(selected=item.selected, current=is_current, faded=item.faded, fresh=item.fresh)
            self.paint(painter, rect, item.text, look)
            return
        if item.kind == "word" or is_current:
            painter.setPen(QPen(theme.text if is_current else theme.border, 2 if is_current else 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        inks = {"link": theme.accent_ink, "text": theme.muted}
        painter.setPen(theme.faint if item.faded else inks.get(item.kind, theme.text))
        painter.setFont(self._font_of(item))
        room = int(rect.width()) + 1
        painter.drawText(rect, _CENTRE, painter.fontMetrics().elidedText(item.shown, Qt.TextElideMode.ElideRight, room))

    def _font_of(self, item: FlowItem) -> QFont:
        return self.strong_font if item.kind == "strong" else self.font

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

    def _paint_corner(self, painter: QPainter, rect: QRectF) -> None:
        """Fold the upper right corner: the token is new at this step."""
        tip = rect.topRight() + QPointF(-0.5, 0.5)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.token_ink)
        painter.drawPolygon([tip, tip - QPointF(_CORNER, 0), tip + QPointF(0, _CORNER)])

    def _paint_ring(self, painter: QPainter, rect: QRectF, look: ChipLook) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self._theme.accent_ink if look.selected else self._theme.text, _RING))
        _draw_shape(painter, rect.adjusted(-0.5, -0.5, 0.5, 0.5), look.continues)


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


def _edge_pen(ground: QColor, look: Look, border: Border) -> QPen:
    faint, strong = (130, 160) if look == "dark" else (118, 160)
    color = ground.lighter if look == "dark" else ground.darker
    if border == "thin":
        return QPen(color(faint), 1)
    return QPen(color(strong), 2, Qt.PenStyle.DotLine if border == "dotted" else Qt.PenStyle.SolidLine)
