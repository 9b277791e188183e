"""The line above the table of merges in which the filter is typed, and a step to go to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRegularExpression, Qt, Signal
from PySide6.QtGui import QKeyEvent, QRegularExpressionValidator
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from wordpiece_studio.session.history_rows import HistoryFilter
from wordpiece_studio.ui.widgets.line_field import line_field
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, set_plain_tooltip

if TYPE_CHECKING:
    from wordpiece_studio.errors import StudioError

_STEP = r"[\d\s.,'’_]{0,24}"
"""A number as people copy it, with what stands between its groups of digits."""


class HistoryFilterRow(QWidget):
    """Text or expression, only ties, only changes of the live text; below them what is wrong with the expression."""

    filter_changed = Signal()
    """:attr:`filter` has changed."""
    step_entered = Signal(object)
    """The user wants to go to this step (int), which there may not be."""
    closed = Signal()
    """The user pressed Escape: the row is not wanted any more."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = line_field(self)
        self._text.setPlaceholderText(self.tr("in left, right or new token"))
        self._text.setAccessibleName(self.tr("Show only merges with this in the left, right or new token"))
        self._text.setClearButtonEnabled(True)
        self._text.setMinimumWidth(60)
        self._is_pattern = self._toggle(".*", self.tr("Regular expression"), self.tr("Read it as a regular expression"))
        self._only_ties = self._toggle(
            self.tr("ties"), self.tr("Only ties"), self.tr("Show only merges at which another pair was as good")
        )
        self._only_live = self._toggle(
            self.tr("changes"), self.tr("Only changes of the live text"),
            self.tr("Show only merges that changed how the live text is tokenized"),
        )  # fmt: skip
        self._step = line_field(self)
        self._step.setPlaceholderText(self.tr("to step"))
        self._step.setAccessibleName(self.tr("Go to step"))
        set_plain_tooltip(self._step, self.tr("Type a step and press Enter (Ctrl+G)"))
        self._step.setValidator(QRegularExpressionValidator(QRegularExpression(_STEP), self._step))
        self._step.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._error = plain_label("", self, role="error", wrap=True)
        self._error.hide()
        self._put_together()
        self._text.textChanged.connect(self._on_something_changed)
        for toggle in (self._is_pattern, self._only_ties, self._only_live):
            toggle.toggled.connect(self._on_something_changed)
        self._step.returnPressed.connect(self._on_step_return_pressed)

    def _put_together(self) -> None:
        self._step.setFixedWidth(self._step.fontMetrics().horizontalAdvance("0,000,000") + 18)
        line = QHBoxLayout()
        line.setSpacing(4)
        line.addWidget(self._text, 1)
        for control in (self._is_pattern, self._only_ties, self._only_live, self._step):
            line.addWidget(control)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 2, 10, 2)
        layout.setSpacing(2)
        layout.addLayout(line)
        layout.addWidget(self._error)

    @property
    def filter(self) -> HistoryFilter:
        """What is wanted; an expression only if there is one."""
        text = self._text.text()
        is_pattern = bool(text) and self._is_pattern.isChecked()
        return HistoryFilter(text, is_pattern, self._only_ties.isChecked(), self._only_live.isChecked())

    @property
    def error(self) -> str:
        """What is wrong with the expression; empty if nothing is."""
        return self._error.text()

    def name(self) -> str:
        """Return the filter in few words; empty if it lets everything through."""
        wanted = self.filter
        parts = [
            self.tr("text") if wanted.text else "",
            self.tr("ties") if wanted.only_ties else "",
            self.tr("changes") if wanted.only_live else "",
        ]
        return " + ".join(filter(None, parts))

    def ask_for_text(self) -> None:
        """Put the keyboard into the line for the text."""
        self._text.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._text.selectAll()

    def ask_for_step(self) -> None:
        """Put the keyboard into the line for a step."""
        self._step.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._step.selectAll()

    def clear(self) -> None:
        """Show all merges."""
        self._text.clear()
        self._only_ties.setChecked(False)
        self._only_live.setChecked(False)

    def show_error(self, error: StudioError | None) -> None:
        """Tell below the line what is wrong with the expression, or nothing."""
        text = str(error) if error is not None else ""
        set_plain_text(self._error, text)
        self._error.setVisible(bool(text))
        self._text.setProperty("state", "wrong" if text else "")
        self._text.setAccessibleDescription(text)
        self.style().unpolish(self._text)
        self.style().polish(self._text)

    def event(self, event: QEvent) -> bool:
        """Keep Escape for this row, from the command that has it in the whole window."""
        is_override = event.type() == QEvent.Type.ShortcutOverride
        if is_override and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
            return
        super().keyPressEvent(event)

    def _toggle(self, text: str, name: str, tip: str) -> QToolButton:
        toggle = QToolButton(self)
        toggle.setText(text)
        toggle.setAccessibleName(name)
        toggle.setCheckable(True)
        toggle.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        set_plain_tooltip(toggle, tip)
        return toggle

    def _on_something_changed(self, _value: object) -> None:
        self.filter_changed.emit()

    def _on_step_return_pressed(self) -> None:
        digits = "".join(filter(str.isdecimal, self._step.text()))
        if digits:
            self.step_entered.emit(int(digits))
        self._step.clear()
