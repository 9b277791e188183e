"""The field for one line, as all of the window's are: it takes a line, not the megabyte that may be on the clipboard.

What is typed is sought, compiled or drawn at each key, which takes seconds for the 32,767 characters of Qt's own limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLineEdit

from wordpiece_studio.session.view_text import utf16_length
from wordpiece_studio.ui.widgets.exact_text import whole

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

_LONGEST_LINE = 1000
LONGEST_LIST = 30_000
"""For what is not a line so much as a list, such as ids."""


def line_field(parent: QWidget | None, text: str = "", *, most: int = _LONGEST_LINE) -> QLineEdit:
    """Return a field for a line of at most `most` UTF-16 units, or for `text` if that is longer."""
    field = QLineEdit(parent)
    limit(field, text, most=most)
    field.setText(whole(text))
    return field


def limit(field: QLineEdit, text: str, *, most: int = _LONGEST_LINE) -> None:
    """Let a field that Qt made take so much, or `text` if that is longer."""
    field.setMaxLength(max(most, utf16_length(text)))
