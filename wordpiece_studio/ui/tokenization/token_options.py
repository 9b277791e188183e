"""The row of options of the live tokenization: what stands under each chip, chips or table, copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QWidget

from wordpiece_studio.ui.look.plain import set_plain_tooltip

if TYPE_CHECKING:
    from collections.abc import Callable


class TokenOptions(QWidget):
    """Switches for ids, offsets, birth steps and the table, and a menu to copy."""

    changed = Signal()
    """A switch is another one."""
    copy_tokens_requested = Signal()
    """The tokens are wanted on the clipboard."""
    copy_ids_requested = Signal()
    """The ids are wanted on the clipboard."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ids = self._switch(self.tr("ids"), self.tr("Show the id of each token"), checked=True)
        self._offsets = self._switch(
            self.tr("offsets"), self.tr("Show where each token stands in the text, counted in code points from 0")
        )
        self._births = self._switch(
            self.tr("born"), self.tr("Show the step at which each token was born; 0 is the alphabet")
        )
        self._table = self._switch(self.tr("table"), self.tr("Show the tokens as a table"))
        self._copy = self._copy_button()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        for switch in (self._ids, self._offsets, self._births):
            layout.addWidget(switch)
        layout.addStretch(1)
        layout.addWidget(self._table)
        layout.addWidget(self._copy)

    @property
    def ids(self) -> bool:
        """Whether ids stand under the chips."""
        return self._ids.isChecked()

    @property
    def offsets(self) -> bool:
        """Whether offsets stand under the chips."""
        return self._offsets.isChecked()

    @property
    def births(self) -> bool:
        """Whether birth steps stand under the chips."""
        return self._births.isChecked()

    @property
    def as_table(self) -> bool:
        """Whether a table is shown instead of chips."""
        return self._table.isChecked()

    def _switch(self, text: str, tip: str, *, checked: bool = False) -> QToolButton:
        button = self._button(text, tip)
        button.setCheckable(True)
        button.setChecked(checked)
        button.toggled.connect(self._on_switch_toggled)
        return button

    def _copy_button(self) -> QToolButton:
        button = self._button(self.tr("copy ▾"), self.tr("Copy the tokens or the ids"))
        menu = QMenu(button)
        self._add(menu, self.tr("Copy &tokens"), self.copy_tokens_requested.emit)
        self._add(menu, self.tr("Copy &ids"), self.copy_ids_requested.emit)
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        return button

    def _add(self, menu: QMenu, text: str, on_triggered: Callable[[], None]) -> None:
        menu.addAction(text).triggered.connect(on_triggered)

    def _button(self, text: str, tip: str) -> QToolButton:
        button = QToolButton(self)
        button.setText(text)
        button.setAccessibleName(tip)
        set_plain_tooltip(button, tip)
        return button

    def _on_switch_toggled(self, _checked: bool) -> None:
        self.changed.emit()
