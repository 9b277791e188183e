"""The palette itself: a field and the list of what fits, over the upper middle of the window until it is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QListView, QVBoxLayout, QWidget
from shiboken6 import isValid

from wordpiece_studio.ui.dialogs.palette.palette_delegate import PaletteDelegate
from wordpiece_studio.ui.dialogs.palette.palette_model import PaletteModel
from wordpiece_studio.ui.widgets.line_field import line_field
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtWidgets import QLineEdit

    from wordpiece_studio.ui.dialogs.palette.entries import Entry
    from wordpiece_studio.ui.widgets.theme import Theme

_MOST_ROWS = 11
_CHARACTERS = 84
_TOP = 56
_LIST_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class Palette(QFrame):
    """Says what is typed and which entry was chosen; it finds nothing by itself.

    It is a part of the window and no window of its own: it cannot lie beside it, and goes when the keyboard does.
    """

    text_changed = Signal(object)
    """What was typed, a str."""
    chosen = Signal(object)
    """An :class:`~wordpiece_studio.ui.dialogs.palette.entries.Entry` that can be done."""

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("palette")
        self.setAccessibleName(self.tr("Find or do anything"))
        self._window = window
        self._before: QWidget | None = None  # what had the keyboard; it may be deleted by now
        self._field = line_field(self)
        self._field.setPlaceholderText(self.tr("A command, a step's number, “token …”, a sample or a file"))
        self._field.setAccessibleName(self.tr("What to find or do"))
        self._field.setClearButtonEnabled(False)
        self._model = PaletteModel(self)
        self._list = QListView(self)
        self._list.setModel(self._model)
        self._list.setItemDelegate(PaletteDelegate(self._model, theme, self._list))
        self._list.setUniformItemSizes(True)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the field keeps the keyboard
        self._list.setAccessibleName(self.tr("What fits"))
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._note = plain_label("", self, role="hint", wrap=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 10, 10, 10)
        layout.setSpacing(8)
        layout.addWidget(self._field)
        layout.addWidget(self._list, 1)
        layout.addWidget(self._note)
        self._field.textChanged.connect(self._on_field_text_changed)
        self._field.installEventFilter(self)
        self._list.clicked.connect(self._on_list_clicked)
        theme.changed.connect(self._list.viewport().update)
        window.installEventFilter(self)
        self.hide()

    @property
    def model(self) -> PaletteModel:
        """The lines shown."""
        return self._model

    @property
    def field(self) -> QLineEdit:
        """Where one types."""
        return self._field

    def begin(self) -> None:
        """Show the palette with an empty field that has the keyboard."""
        self._before = QApplication.focusWidget()
        self._field.clear()
        self.text_changed.emit("")
        self._place()
        self.show()
        self.raise_()
        self._field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def leave(self) -> None:
        """Put the palette away and give the keyboard back."""
        if not self.isVisible():
            return
        before, self._before = self._before, None
        has_keyboard = self._field.hasFocus()
        self.hide()
        if has_keyboard and before is not None and isValid(before) and before.isVisible():
            before.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_entries(self, entries: Sequence[Entry]) -> None:
        """Show what fits, the first of it chosen."""
        self._model.set_entries(entries)
        if entries:
            self._list.setCurrentIndex(self._model.index(0))
        self._list.setVisible(bool(entries))
        self._list.scrollToTop()
        set_plain_text(self._note, "" if entries else self.tr("Nothing fits. Try a part of a word."))
        self._note.setVisible(not entries)
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the keys of the list from the field, and keep the palette in its place."""
        if watched is self._field:
            if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
                return self._take_key(event)
            if event.type() == QEvent.Type.FocusOut and self.isVisible():
                self.leave()
        elif event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and self.isVisible():
            self._place()

    def _take_key(self, event: QKeyEvent) -> bool:
        key = event.key()
        if key == Qt.Key.Key_Escape:
            self.leave()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self._list.currentIndex())
        elif key in _LIST_KEYS:
            self._move(key)
        elif key not in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            return False
        return True

    def _move(self, key: int) -> None:
        count, row = self._model.rowCount(), self._list.currentIndex().row()
        if not count:
            return
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):  # from the last to the first, and back
            row = (row + (1 if key == Qt.Key.Key_Down else -1)) % count
        else:
            row = max(0, min(count - 1, row + (_MOST_ROWS - 1) * (1 if key == Qt.Key.Key_PageDown else -1)))
        self._list.setCurrentIndex(self._model.index(row))

    def _on_field_text_changed(self, text: str) -> None:
        self.text_changed.emit(text)

    def _on_list_clicked(self, index: QModelIndex) -> None:
        self._choose(index)

    def _choose(self, index: QModelIndex | QPersistentModelIndex) -> None:
        if not index.isValid():
            return
        entry = self._model.entry(index.row())
        if entry.reason:
            set_plain_text(self._note, entry.reason)
            self._note.show()
            self._place()
            return
        self.leave()
        self.chosen.emit(entry)

    def _place(self) -> None:
        window = self._window
        width = min(self.fontMetrics().averageCharWidth() * _CHARACTERS, window.width() - 40)
        rows = min(self._model.rowCount(), _MOST_ROWS)
        self._list.setFixedHeight(max(1, rows) * (self.fontMetrics().height() + 12) + 2)
        self.setFixedWidth(width)
        self.adjustSize()
        self.move((window.width() - width) // 2, min(_TOP, max(0, window.height() - self.height())))
