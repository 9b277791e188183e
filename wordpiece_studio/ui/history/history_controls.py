"""The controls of the merge history, in its title line: filter, only ties, go to a step."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QIntValidator
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QToolButton, QWidget

from wordpiece_studio.ui.look.plain import set_plain_tooltip


class HistoryControls(QWidget):
    """A line to filter by text, a box for ties, a line for a step."""

    filter_changed = Signal()
    """:attr:`text` or :attr:`only_ties` is another one."""
    moment_requested = Signal()
    """The user wants to see the row of the moment."""
    step_entered = Signal(object)
    """The user wants to go to this step (int)."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = QLineEdit(self)
        self._text.setPlaceholderText(self.tr("filter tokens"))
        self._text.setAccessibleName(self.tr("Show only merges with this text in a token"))
        self._text.setClearButtonEnabled(True)
        self._text.setMaximumWidth(170)
        self._text.setMinimumWidth(70)
        self._only_ties = QToolButton(self)
        self._only_ties.setText(self.tr("only ties"))
        self._only_ties.setCheckable(True)
        set_plain_tooltip(self._only_ties, self.tr("Show only merges at which another pair was as good"))
        self._moment = QToolButton(self)
        self._moment.setText("⌖")
        self._moment.setAccessibleName(self.tr("Show the current step"))
        set_plain_tooltip(self._moment, self.tr("Show the current step (Ctrl+J)"))
        self._step = QLineEdit(self)
        self._step.setPlaceholderText(self.tr("go to step"))
        self._step.setAccessibleName(self.tr("Go to step"))
        set_plain_tooltip(self._step, self.tr("Type a step and press Enter (Ctrl+G)"))
        self._step.setValidator(QIntValidator(0, 2**31 - 1, self._step))
        self._step.setFixedWidth(max(78, self._step.fontMetrics().horizontalAdvance("000,000,000")))
        self._step.setAlignment(Qt.AlignmentFlag.AlignRight)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        for control in (self._text, self._only_ties, self._moment, self._step):
            layout.addWidget(control)
        self._text.textChanged.connect(self._on_text_changed)
        self._only_ties.toggled.connect(self._on_only_ties_toggled)
        self._moment.clicked.connect(self._on_moment_clicked)
        self._step.returnPressed.connect(self._on_step_return_pressed)

    @property
    def text(self) -> str:
        """The text to filter by."""
        return self._text.text()

    @property
    def only_ties(self) -> bool:
        """Whether only ties are wanted."""
        return self._only_ties.isChecked()

    def ask_for_step(self) -> None:
        """Put the keyboard into the line for a step."""
        self._step.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._step.selectAll()

    def clear_filter(self) -> None:
        """Show all merges."""
        self._text.clear()
        self._only_ties.setChecked(False)

    def _on_moment_clicked(self) -> None:
        self.moment_requested.emit()

    def _on_text_changed(self, _text: str) -> None:
        self.filter_changed.emit()

    def _on_only_ties_toggled(self, _checked: bool) -> None:
        self.filter_changed.emit()

    def _on_step_return_pressed(self) -> None:
        if self._step.text():
            self.step_entered.emit(int(self._step.text()))
            self._step.clear()
