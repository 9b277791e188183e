"""Which entry of the glossary explains a part of the window: by its key, the same in every language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QLabel

from wordpiece_studio.session.table_model import TableModel

if TYPE_CHECKING:
    from PySide6.QtCore import QPoint
    from PySide6.QtWidgets import QWidget

_PROPERTY = "glossary_entry"


def explain(entry: str, *widgets: QWidget) -> None:
    """Let the entry with this key explain these widgets, and what is inside them unless that has its own."""
    for widget in widgets:
        widget.setProperty(_PROPERTY, entry)


def entry_at(widget: QWidget, place: QPoint) -> str:
    """Return the key of the entry that explains a widget, or the nearest one around it; empty if there is none.

    Parameters
    ----------
    place
        Of the mouse on the screen: it decides about the column where it is over a table.
    """
    around: QWidget | None = widget
    while around is not None:
        buddy = around.buddy() if isinstance(around, QLabel) else None
        entry = _entry_of_column(around, place) or around.property(_PROPERTY) or (buddy and buddy.property(_PROPERTY))
        if entry:
            return str(entry)
        around = around.parentWidget()
    return ""


def _entry_of_column(widget: QWidget, place: QPoint) -> str:
    """Return the key that the column of a table under the mouse has, if there is one."""
    column = -1
    if isinstance(widget, QHeaderView):
        column = widget.logicalIndexAt(widget.viewport().mapFromGlobal(place))
    elif isinstance(widget, QAbstractItemView):
        column = widget.indexAt(widget.viewport().mapFromGlobal(place)).column()
    model = widget.model() if isinstance(widget, QAbstractItemView) else None
    return model.entry(column) if column >= 0 and isinstance(model, TableModel) else ""
