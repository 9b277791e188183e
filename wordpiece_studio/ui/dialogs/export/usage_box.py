"""The lines with which an export is loaded, and a button that copies them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from wordpiece_studio.ui.widgets.exact_text import ExactEdit, copy_text
from wordpiece_studio.ui.widgets.later import later
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_tooltip, shown

if TYPE_CHECKING:
    from PySide6.QtGui import QFont

_LINES = 2
_LONGEST_SHOWN = 2000
_TOLD_MS = 1500


class UsageBox(QWidget):
    """Shows two lines of Python in the user's own words: with the place that was chosen.

    Parameters
    ----------
    fixed_font
        In which they are shown.
    """

    def __init__(self, fixed_font: QFont, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self._view = ExactEdit(self)
        self._view.setReadOnly(True)
        self._view.setTabChangesFocus(True)
        self._view.setLineWrapMode(ExactEdit.LineWrapMode.NoWrap)
        self._view.setFont(fixed_font)
        self._view.setObjectName("export_usage")
        self._view.setAccessibleName(self.tr("How to load it in Python"))
        self._view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        margins = 2 * (self._view.document().documentMargin() + self._view.frameWidth() + 1)
        self._view.setFixedHeight(round(_LINES * self._view.fontMetrics().lineSpacing() + margins))
        self._copy = QPushButton(self.tr("Co&py"), self)
        self._copy.setAutoDefault(False)
        self._copy.setAccessibleName(self.tr("Copy the lines of Python"))
        self._copy.clicked.connect(self._on_copy_clicked)
        heading = QHBoxLayout()
        heading.addWidget(plain_label(self.tr("Load it in Python"), self, role="heading"), 1)
        heading.addWidget(self._copy)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addLayout(heading)
        layout.addWidget(self._view)

    @property
    def text(self) -> str:
        """The lines; empty if there is no place yet."""
        return self._text

    def show_lines(self, text: str) -> None:
        """Show these lines; there is nothing to copy where there are none."""
        self._text = text
        self._view.setPlainText(shown(text, _LONGEST_SHOWN))
        set_plain_tooltip(self._view, text)
        self._copy.setEnabled(bool(text))
        self._reset_button()

    def _on_copy_clicked(self) -> None:
        copy_text(self._text)
        self._copy.setText(self.tr("Copied"))
        later(self, _TOLD_MS, self._reset_button)

    def _reset_button(self) -> None:
        self._copy.setText(self.tr("Co&py"))
