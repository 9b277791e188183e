"""The way of the Tab key through the window: part after part, and in each part as it was made."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from collections.abc import Sequence


def set_tab_order(parts: Sequence[QWidget]) -> None:
    """Let Tab go through the controls of the first part, then of the second, and so on.

    A part inside a later part comes where it is named first.
    """
    order: list[QWidget] = []
    for part in parts:
        order += [control for control in _controls(part) if control not in order]
    for before, after in pairwise(order):
        QWidget.setTabOrder(before, after)


def _controls(part: QWidget) -> list[QWidget]:
    """Return what can have the keyboard inside a part, pop-up windows and the insides of controls left out."""
    children = [part, *part.findChildren(QWidget)]
    return [child for child in children if _stops_at(child) and child.window() is part.window()]


def _stops_at(widget: QWidget) -> bool:
    takes_tab = widget.focusPolicy().value & Qt.FocusPolicy.TabFocus.value
    return bool(takes_tab) and widget.focusProxy() is None
