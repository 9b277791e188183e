"""The bar that finds text in the corpus. It asks; the pane searches the document and shows the place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from wordpiece_studio.ui.widgets.exact_text import whole
from wordpiece_studio.ui.widgets.icons import icon
from wordpiece_studio.ui.widgets.line_field import line_field
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, set_plain_tooltip
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from wordpiece_studio.ui.widgets.theme import Theme


class FindBar(QFrame):
    """A line to type what is sought, and where one is among the places found."""

    search_changed = Signal(object, object)
    """What is sought and whether capitals matter: str, bool."""
    next_requested = Signal()
    previous_requested = Signal()
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._field = line_field(self)
        self._field.setPlaceholderText(self.tr("Find in corpus"))
        self._field.setAccessibleName(self.tr("Find in corpus"))
        self._field.setClearButtonEnabled(True)
        self._field.textChanged.connect(self._on_field_text_changed)
        self._field.installEventFilter(self)
        self._count_label = plain_label("", self, role="hint", wrap=True)
        self._case_button = self._button("Aa", self.tr("Capitals matter"))
        self._case_button.setCheckable(True)
        self._case_button.toggled.connect(self._on_case_button_toggled)
        self._previous_button = self._button("", self.tr("Previous place (Shift+F3)"))
        self._previous_button.clicked.connect(self.previous_requested)
        self._next_button = self._button("", self.tr("Next place (F3, Enter)"))
        self._next_button.clicked.connect(self.next_requested)
        self._close_button = self._button("", self.tr("Close (Esc)"))
        self._close_button.clicked.connect(self.close_bar)
        self._lay_out()
        theme.changed.connect(self._draw_icons)
        self._draw_icons()
        self.hide()

    def _lay_out(self) -> None:
        self._field.setMinimumWidth(60)
        controls = QHBoxLayout()
        controls.setSpacing(3)
        controls.addWidget(self._field, 1)
        controls.addWidget(self._close_button)
        below = QHBoxLayout()  # in a line of its own: beside the field it would widen the pane
        below.setSpacing(3)
        below.addWidget(self._count_label, 1)
        for button in (self._case_button, self._previous_button, self._next_button):
            below.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 6, 8, 2)
        layout.setSpacing(2)
        layout.addLayout(controls)
        layout.addLayout(below)

    @property
    def sought(self) -> str:
        """The text sought."""
        return self._field.text()

    @property
    def case_matters(self) -> bool:
        """Whether capitals matter."""
        return self._case_button.isChecked()

    def open_bar(self, text: str = "") -> None:
        """Show the bar, with `text` (of one line) as what is sought if there is any."""
        self.show()
        if text and "\n" not in text:
            self._field.setText(whole(text))
        self._field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._field.selectAll()
        self._say_search()

    def close_bar(self) -> None:
        """Hide the bar and hand the keyboard back."""
        self.hide()
        self.closed.emit()

    def show_count(self, place: int, places: int) -> None:
        """Say that this is place `place` (from 1; 0 is before the first) of `places`."""
        if not self.sought:
            text = ""
        elif places == 0:
            text = self.tr("nothing found")
        else:
            text = self.tr("{place} of {places}").format(place=number_text(place), places=number_text(places))
        set_plain_text(self._count_label, text)
        self._field.setProperty("state", "wrong" if self.sought and places == 0 else "")
        self._field.style().polish(self._field)

    def eventFilter(self, watched: QObject, event: object) -> bool:
        """Take Enter, Shift+Enter and Escape from the field."""
        if watched is self._field and isinstance(event, QKeyEvent) and event.type() == QKeyEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                shift = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
                (self.previous_requested if shift else self.next_requested).emit()
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.close_bar()
                return True
        return False

    def _button(self, text: str, tip: str) -> QToolButton:
        button = QToolButton(self)
        button.setText(text)
        button.setAccessibleName(tip)
        set_plain_tooltip(button, tip)
        return button

    def _draw_icons(self) -> None:
        for button, name in ((self._previous_button, "up"), (self._next_button, "down"), (self._close_button, "close")):
            button.setIcon(icon(name, self._theme.text))

    def _on_field_text_changed(self, _text: str) -> None:
        self._say_search()

    def _on_case_button_toggled(self, _checked: bool) -> None:
        self._say_search()

    def _say_search(self) -> None:
        self.search_changed.emit(self.sought, self.case_matters)
