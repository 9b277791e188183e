"""The icons, drawn from ``resources/icons/*.svg`` in the colours of the theme; and painters left in order.

An exception with a painter open ends the process when Qt paints next. So painters are opened only in a ``with``
statement, and another restores the state of a painter that Qt lends.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QIcon, QImage, QPainter, QPixmap, QPixmapCache
from PySide6.QtSvg import QSvgRenderer

from wordpiece_studio.resources import resource_path

if TYPE_CHECKING:
    from collections.abc import Iterator
_SIZES = (16, 20, 24, 32, 48)


@contextmanager
def saved(painter: QPainter) -> Iterator[None]:
    """Restore the painter's state at the end."""
    painter.save()
    try:
        yield
    finally:
        painter.restore()


def bold(font: QFont) -> QFont:
    """Return the font in bold."""
    result = QFont(font)
    result.setBold(True)
    return result


def icon(name: str, color: QColor, disabled: QColor | None = None) -> QIcon:
    """Return the icon called `name` in `color`, and in `disabled` where its action is not available."""
    result = QIcon()
    _add(result, name, color, QIcon.Mode.Normal)
    if disabled is not None:
        _add(result, name, disabled, QIcon.Mode.Disabled)
    return result


def program_icon() -> QIcon:
    """Return the program's own icon, for the title bar and the task bar."""
    result = QIcon()
    _add(result, "studio", QColor("black"), QIcon.Mode.Normal)
    return result


def sheet_pictures() -> dict[str, str]:
    """Return the paths of the pictures that the style sheet needs, by their names in it."""
    files = {"arrow_up": "arrow-up", "arrow_down": "arrow-down", "check": "check"}
    return {name: resource_path(f"icons/{file}.svg").as_posix() for name, file in files.items()}


def _add(target: QIcon, name: str, color: QColor, mode: QIcon.Mode) -> None:
    renderer: QSvgRenderer | None = None
    for size in _SIZES:
        key = f"icon/{name}/{color.name()}/{size}"
        pixmap = QPixmap()
        if not QPixmapCache.find(key, pixmap):
            renderer = renderer or _renderer(name, color)
            pixmap = _drawn(renderer, size)
            QPixmapCache.insert(key, pixmap)
        target.addPixmap(pixmap, mode)


def _renderer(name: str, color: QColor) -> QSvgRenderer:
    drawing = resource_path(f"icons/{name}.svg").read_text("utf-8")
    return QSvgRenderer(QByteArray(drawing.replace("currentColor", color.name()).encode()))


def _drawn(renderer: QSvgRenderer, size: int) -> QPixmap:
    image = QImage(QSize(size, size), QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    with QPainter(image) as painter:
        renderer.render(painter, QRectF(0, 0, size, size))
    return QPixmap.fromImage(image)
