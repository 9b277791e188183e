"""Ids typed in, and the text that they stand for at the step shown; what decodes them is handed in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.ui.widgets.line_field import LONGEST_LIST, line_field
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text
from wordpiece_studio.ui.widgets.token_text import line_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_IDS = re.compile(r"[\s,;\[\]()]+")
_LONGEST_NUMBER = 9


class DecodeBox(QWidget):
    """A field for ids, and below it their text or what is wrong with them."""

    def __init__(self, decode: Callable[[Sequence[int]], str | None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._decode = decode
        self.field = line_field(self, most=LONGEST_LIST)
        self.field.setPlaceholderText(self.tr("Ids to decode, such as 53 13 21"))
        self.field.setAccessibleName(self.tr("Ids to decode"))
        self.result = plain_label("", self, wrap=True)
        self.result.setAccessibleName(self.tr("Decoded text"))
        self.result.setTextInteractionFlags(self.result.textInteractionFlags().TextSelectableByMouse)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2, 2, 2, 2)
        layout.setSpacing(2)
        layout.addWidget(self.field)
        layout.addWidget(self.result)
        self.field.textChanged.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Decode again: there may be another vocabulary."""
        text, is_wrong = self._answer()
        set_plain_text(self.result, text)
        self.result.setVisible(bool(text))
        role = "error" if is_wrong else "value"
        if self.result.property("role") != role:
            self.result.setProperty("role", role)
            self.result.style().polish(self.result)

    def _answer(self) -> tuple[str, bool]:
        parts = [part for part in _IDS.split(self.field.text()) if part]
        wrong = next((part for part in parts if not (part.isdecimal() and len(part) <= _LONGEST_NUMBER)), None)
        if wrong is not None:
            return self.tr("“{part}” is no id: ids are whole numbers.").format(part=line_text(wrong[:40])), True
        try:
            text = self._decode([int(part) for part in parts]) if parts else ""
        except StudioError as error:
            return str(error), True
        return (self.tr("Nothing is trained yet."), True) if text is None else (line_text(text), False)
