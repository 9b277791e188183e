"""All keys in a window of their own beside the work, with a field to search them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QDialog, QHeaderView, QTableView, QVBoxLayout, QWidget

from wordpiece_studio.ui.dialogs.help.key_lines import KeyLine, matching_lines
from wordpiece_studio.ui.dialogs.help.keys_model import KeysModel
from wordpiece_studio.ui.widgets.line_field import line_field
from wordpiece_studio.ui.widgets.plain import plain_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtWidgets import QLineEdit

    from wordpiece_studio.ui.widgets.theme import Theme

_CHARACTERS, _LINES = 84, 30


class KeysWindow(QDialog):
    """Stays open while one works, until it is closed."""

    def __init__(self, lines: Sequence[KeyLine], theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Keys"))
        self._lines = lines
        self._field = line_field(self)
        self._field.setPlaceholderText(self.tr("Search: what you want to do, or a key"))
        self._field.setAccessibleName(self.tr("Search the keys"))
        self._field.setClearButtonEnabled(True)
        self._field.installEventFilter(self)
        self._model = KeysModel(theme, self)
        self._table = QTableView(self)
        self._table.setAccessibleName(self.tr("Keys"))
        self._put_table_together()
        self._empty = plain_label(self.tr("No key does that. Ctrl+K finds every command."), self, role="hint")
        layout = QVBoxLayout(self)
        layout.addWidget(self._field)
        layout.addWidget(self._table, 1)
        layout.addWidget(self._empty)
        self._field.textChanged.connect(self._on_field_text_changed)
        self._show("")
        self.resize(self.fontMetrics().averageCharWidth() * _CHARACTERS, self.fontMetrics().height() * _LINES)

    @property
    def field(self) -> QLineEdit:
        """Where one types."""
        return self._field

    @property
    def model(self) -> KeysModel:
        """The lines shown."""
        return self._model

    def begin(self) -> None:
        """Show the window in front, with the keyboard in its field."""
        self.show()
        self.activateWindow()
        self._field.setFocus()
        self._field.clear()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Go from the field into the table with the arrow."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Down:
            self._table.setFocus()
            return True
        return super().eventFilter(watched, event)

    def _put_table_together(self) -> None:
        table = self._table
        table.setModel(self._model)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setTabKeyNavigation(False)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 8)
        table.horizontalHeader().hide()
        table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)

    def _on_field_text_changed(self, text: str) -> None:
        self._show(text)

    def _show(self, text: str) -> None:
        found = matching_lines(self._lines, text)
        self._model.set_lines(found)
        self._table.setVisible(bool(found))
        self._empty.setVisible(not found)
