"""What can be read in a window: found by Qt alone, whatever its widgets are called."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QIODevice, QModelIndex, QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QMenu, QMenuBar, QWidget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtCore import QAbstractItemModel

PANELS = ("corpus", "token_details", "scoreboard", "history", "vocabulary", "charts", "tokenization", "timeline")
_TEXT = re.compile(r"<text\b[^>]*>(.*?)</text>", re.DOTALL)
_MOST_ROWS = 100
_DISPLAY, _ACCESSIBLE = Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole


def panel(window: QWidget, name: str) -> QWidget:
    """Return the widget of a panel, which is shown or not."""
    found = window.findChild(QWidget, name)
    assert isinstance(found, QWidget), f"there is no panel {name}"
    return found


def combo_boxes(widget: QWidget) -> dict[str, QComboBox]:
    """Return the combo boxes by the name that a screen reader uses."""
    return {box.accessibleName(): box for box in widget.findChildren(QComboBox)}


def painted_texts(widget: QWidget) -> str:
    """Return every text that the widget and its children paint, one a line, in the order in which they are painted."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.ReadWrite)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(QSize(widget.width(), widget.height()))
    widget.render(generator)
    del generator
    svg = bytes(buffer.data().data()).decode()
    return "\n".join(html.unescape(text) for text in _TEXT.findall(svg))


def descriptions(widget: QWidget) -> str:
    """Return what a screen reader says of the widgets that are seen."""
    seen = [each for each in (widget, *widget.findChildren(QWidget)) if each.isVisible()]
    said = (f"{each.accessibleName()} | {each.accessibleDescription()}" for each in seen)
    return "\n".join(line for line in said if line != " | ")


def tables(widget: QWidget) -> dict[str, str]:
    """Return what the first rows of every list and table that is seen say, by the name that a screen reader uses."""
    found: dict[str, str] = {}
    for view in widget.findChildren(QAbstractItemView):
        if view.isVisible() and view.model() is not None:
            name = view.accessibleName() or "a list"
            while name in found:
                name += "'"
            found[name] = "\n".join(_rows(view.model()))
    return found


def _rows(model: QAbstractItemModel) -> Iterator[str]:
    columns = range(model.columnCount(QModelIndex()))
    rows = model.rowCount(QModelIndex())
    yield " | ".join(str(model.headerData(at, Qt.Orientation.Horizontal) or "") for at in columns)
    for row in range(min(rows, _MOST_ROWS)):
        cells = (model.index(row, column) for column in columns)
        yield " | ".join(_cell_text(index.data(_DISPLAY), index.data(_ACCESSIBLE)) for index in cells)
    yield f"{rows} rows"


def _cell_text(shown: object, said: object) -> str:
    texts = [str(text) for text in (shown, said) if isinstance(text, str | int | float) and str(text)]
    return " / ".join(dict.fromkeys(texts))


def visible_names(window: QWidget) -> str:
    """Return the object names of the widgets that are seen, sorted."""
    names = {each.objectName() for each in window.findChildren(QWidget) if each.isVisible()}
    return "\n".join(sorted(name for name in names if name and not name.startswith("qt_")))


# -- commands


def actions(window: QWidget) -> dict[str, dict[str, str]]:
    """Return every command, by its place in the menus or else by its text, with all that a user sees of it."""
    found: dict[str, dict[str, str]] = {}
    placed = []
    for depth, path, action in _in_menus(window):
        placed.append(action)
        if depth and not action.isSeparator():
            _add(found, path, action)
    others = [each for each in window.findChildren(QAction) if each.text() and each not in placed]
    for action in sorted(others, key=lambda each: (each.text(), _keys(each))):
        _add(found, f"not in a menu: {action.text()}", action)
    return found


def menus(window: QWidget) -> str:
    """Return the menus, one command a line, with the lines between them."""
    return "\n".join(
        "    " * depth + ("-----" if action.isSeparator() else action.text()) for depth, _, action in _in_menus(window)
    )


def _in_menus(window: QWidget) -> Iterator[tuple[int, str, QAction]]:
    for menu in window.findChildren(QMenu):
        menu.aboutToShow.emit()  # some are filled in only then
    for bar in window.findChildren(QMenuBar):
        yield from _below(bar.actions(), "", 0)


def _below(actions: list[QAction], path: str, depth: int) -> Iterator[tuple[int, str, QAction]]:
    for action in actions:
        yield depth, f"{path}{action.text()}", action
        menu = action.menu()
        if isinstance(menu, QMenu):
            yield from _below(menu.actions(), f"{path}{action.text()} > ", depth + 1)


def _keys(action: QAction) -> str:
    return ", ".join(keys.toString() for keys in action.shortcuts())


def _add(found: dict[str, dict[str, str]], name: str, action: QAction) -> None:
    while name in found:
        name += "'"
    found[name] = {
        "keys": _keys(action),
        "text": f"{action.text()} | {action.iconText()}",
        "status tip": action.statusTip(),
        "tooltip": action.toolTip(),
        "state": " ".join(
            word
            for word, holds in (
                ("enabled", action.isEnabled()), ("visible", action.isVisible()), ("checkable", action.isCheckable()),
                ("checked", action.isChecked()),
            )
            if holds
        ),
    }  # fmt: skip
