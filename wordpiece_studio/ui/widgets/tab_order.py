"""The way of the Tab key through the window: part after part, and in each part as one reads."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SAME_LINE = 12
"""Pixels: what begins so little lower than its neighbour stands on the same line."""


def set_tab_order(parts: Sequence[QWidget]) -> None:
    """Let Tab go through the controls of the first part, then of the second, and so on.

    In a part it goes from line to line and from left to right, and through all of one group before the next. A part
    inside a later part comes where it is named first.
    """
    order: list[QWidget] = []
    for part in parts:
        order += [control for control in _controls(part) if control not in order]
    for before, after in pairwise(order):
        QWidget.setTabOrder(before, after)


def _controls(part: QWidget) -> Iterator[QWidget]:
    """Yield what can have the keyboard inside a part; pop-up windows and the insides of controls are left out."""
    if _stops_at(part):
        yield part
    children = part.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    for child in sorted((child for child in children if not child.isWindow()), key=_place):
        yield from _controls(child)


def _place(widget: QWidget) -> tuple[int, int]:
    return widget.y() // _SAME_LINE, widget.x()


def _stops_at(widget: QWidget) -> bool:
    takes_tab = widget.focusPolicy().value & Qt.FocusPolicy.TabFocus.value
    return bool(takes_tab) and widget.focusProxy() is None
