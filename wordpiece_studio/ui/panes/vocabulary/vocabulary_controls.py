"""The controls in the vocabulary's title bar: a search field, a switch for regular expressions, a choice of kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QToolButton, QWidget

from wordpiece_studio.session.vocabulary_table import VocabularyFilter
from wordpiece_studio.ui.widgets.fields import line_field
from wordpiece_studio.ui.widgets.plain import WholeLabel, set_plain_tooltip
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from wordpiece_studio.session.vocabulary_table import Kind, TokenNumbers

_KINDS: tuple[Kind, ...] = ("all", "special", "alphabet", "learned", "dead")
_PAUSE_MS = 120
"""Delay after the last key: a half-written regular expression is often invalid."""


class VocabularyControls(QWidget):
    """Sets what to search for, and which kind of tokens to show."""

    filter_changed = Signal()
    """:attr:`filter` has changed."""
    table_wanted = Signal()
    """The user moves from the search field into the table."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._field = line_field(self)
        self._field.setPlaceholderText(self.tr("search tokens"))
        self._field.setAccessibleName(self.tr("Search tokens in the vocabulary"))
        self._field.setClearButtonEnabled(True)
        self._field.setMinimumWidth(70)
        self._field.setMaximumWidth(260)
        self._field.installEventFilter(self)
        self._pattern = QToolButton(self)
        self._pattern.setText(".*")
        self._pattern.setCheckable(True)
        self._pattern.setAccessibleName(self.tr("Search with a regular expression"))
        set_plain_tooltip(self._pattern, self.tr("Search with a regular expression, such as ^##.*ing$"))
        self._kinds = QComboBox(self)
        self._kinds.setAccessibleName(self.tr("Which tokens are shown"))
        self._kinds.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        for kind, text in zip(_KINDS, self._kind_names(), strict=True):
            self._kinds.addItem(text, kind)
        self.error = WholeLabel(role="error")
        """The error in the regular expression; the pane places it."""
        self.error.hide()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PAUSE_MS)
        self._lay_out()
        self._timer.timeout.connect(self._on_timer_timeout)
        self._field.textChanged.connect(self._on_field_text_changed)
        self._pattern.toggled.connect(self._on_pattern_toggled)
        self._kinds.activated.connect(self._on_kinds_activated)

    def _lay_out(self) -> None:
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(6)
        line.addWidget(self._field, 1)
        line.addWidget(self._pattern)
        line.addWidget(self._kinds)

    @property
    def filter(self) -> VocabularyFilter:
        """Which tokens to show; it is a regular expression only if there is any text."""
        text = self._field.text()
        return VocabularyFilter(text, bool(text) and self._pattern.isChecked(), self._kinds.currentData())

    @property
    def has_error(self) -> bool:
        """Whether the regular expression has an error."""
        return not self.error.isHidden()

    def focus_search(self) -> None:
        """Move the keyboard focus to the search field."""
        self._field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._field.selectAll()

    def show_error(self, text: str) -> None:
        """Show the error in the regular expression; an empty `text` hides it."""
        self.error.show_text(text)
        self.error.setVisible(bool(text))
        self._field.setProperty("state", "wrong" if text else "")
        self._field.style().polish(self._field)

    def show_numbers(self, numbers: TokenNumbers) -> None:
        """Show the number of tokens of each kind."""
        counts = (numbers.all, numbers.special, numbers.alphabet, numbers.learned, numbers.dead)
        for index, (name, count) in enumerate(zip(self._kind_names(), counts, strict=True)):
            text = f"{name}  {number_text(count)}" if count is not None else name
            if text != self._kinds.itemText(index):
                self._kinds.setItemText(index, text)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let Escape clear the field, and Enter or the down arrow go to the table."""
        if watched is self._field and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() == Qt.Key.Key_Escape and self._field.text():
                self._field.clear()
                return True
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape):
                if self._timer.isActive():
                    self._report_filter()
                self.table_wanted.emit()
                return True
        return super().eventFilter(watched, event)

    def _kind_names(self) -> tuple[str, ...]:
        return self.tr("all"), self.tr("special"), self.tr("alphabet"), self.tr("learned"), self.tr("dead")

    def _report_filter(self) -> None:
        self._timer.stop()
        self.filter_changed.emit()

    def _on_field_text_changed(self, text: str) -> None:
        if text:
            self._timer.start()
        else:
            self._report_filter()

    def _on_timer_timeout(self) -> None:
        self._report_filter()

    def _on_pattern_toggled(self, _checked: bool) -> None:
        self._report_filter()

    def _on_kinds_activated(self, _index: int) -> None:
        self._report_filter()
