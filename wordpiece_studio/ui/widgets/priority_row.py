"""A row whose labels and buttons say less where there is less room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING

from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QLabel

from wordpiece_studio.ui.widgets.plain import CutLabel

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QRect
    from PySide6.QtWidgets import QWidget

Part = QLabel | QAbstractButton
Forms = Mapping[Part, Sequence[str]]
"""What parts say, the most important part first: each from the fullest form to the least; an empty one hides it."""


class PriorityRow(QHBoxLayout):
    """Gives each part the fullest form that fits beside the least forms of those after it and beside all else.

    `take_rest` is told how many pixels remain.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.take_rest: Callable[[int], None] | None = None
        self._forms: Forms = {}

    def set_forms(self, forms: Forms) -> None:
        self._forms = forms
        self.update()

    def setGeometry(self, rect: QRect) -> None:
        taken = sum(_width(part, part.text()) for part in self._forms if not isinstance(part, CutLabel))
        room = rect.width() - (self.minimumSize().width() - taken)
        room -= sum(_width(part, forms[-1]) for part, forms in self._forms.items())
        for part, forms in self._forms.items():
            room += _width(part, forms[-1])
            form = next((form for form in forms if _width(part, form) <= room), forms[-1])
            room -= _width(part, form)
            _show(part, form)
        if self.take_rest is not None:
            self.take_rest(room)
        super().setGeometry(rect)


def _width(part: Part, form: str) -> int:
    """Return what a part takes, with the space beside it; one whose text can be cut takes only what its text needs."""
    if not form:
        return 0
    width = ceil(QFontMetricsF(part.font()).horizontalAdvance(form))
    if isinstance(part, CutLabel):
        return width
    edges = part.sizeHint().width() - part.fontMetrics().horizontalAdvance(part.text())
    layout = around.layout() if (around := part.parentWidget()) is not None else None
    return edges + width + (layout.spacing() if layout is not None else 0)


def _show(part: Part, form: str) -> None:
    if isinstance(part, CutLabel):
        if form != part.accessibleName():  # otherwise the row would be laid out for ever
            part.show_text(form)
    elif form != part.text():
        part.setText(form)
        part.setVisible(bool(form))
