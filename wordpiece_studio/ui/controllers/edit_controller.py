"""Cut, Copy, Paste and Select all in the Edit menu: they act on the text field that has the focus.

The text fields handle the keys themselves; the menu only shows them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QLineEdit,
    QMenu,
    QMenuBar,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

if TYPE_CHECKING:
    from wordpiece_studio.ui.actions import Actions

_TEXTS = (QLineEdit, QPlainTextEdit, QTextEdit)


class EditController(QObject):
    """Remembers which text field had the focus before the menu took it."""

    def __init__(self, window: QWidget, actions: Actions, menu: QMenu) -> None:
        super().__init__(window)
        self._actions = actions
        self._target: QWidget | None = None
        actions.cut.triggered.connect(self._on_cut_triggered)
        actions.copy.triggered.connect(self._on_copy_triggered)
        actions.paste.triggered.connect(self._on_paste_triggered)
        actions.select_all.triggered.connect(self._on_select_all_triggered)
        menu.aboutToShow.connect(self._on_menu_about_to_show)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_application_focus_changed)

    @property
    def target(self) -> QLineEdit | QPlainTextEdit | QTextEdit | None:
        """The text field that the commands act on."""
        return self._target if isinstance(self._target, _TEXTS) else None

    def _on_application_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        if new is not None and not isinstance(new, QMenu | QMenuBar):
            self._set_target(new)

    def _set_target(self, widget: QWidget) -> None:
        inner = widget.findChild(QLineEdit) if isinstance(widget, QAbstractSpinBox) else widget
        if self._target is not None:
            self._target.destroyed.disconnect(self._on_target_destroyed)
        self._target = inner if isinstance(inner, _TEXTS) else None
        if self._target is not None:
            self._target.destroyed.connect(self._on_target_destroyed)

    def _on_target_destroyed(self) -> None:
        self._target = None

    def _on_menu_about_to_show(self) -> None:
        target, actions = self.target, self._actions
        writable = target is not None and not target.isReadOnly()
        if isinstance(target, QLineEdit):
            has_selection = target.hasSelectedText()
        else:
            has_selection = target is not None and target.textCursor().hasSelection()
        actions.cut.setEnabled(writable and has_selection)
        actions.copy.setEnabled(has_selection)
        actions.paste.setEnabled(writable)
        actions.select_all.setEnabled(target is not None)

    def _on_cut_triggered(self) -> None:
        if (target := self.target) is not None:
            target.cut()

    def _on_copy_triggered(self) -> None:
        if (target := self.target) is not None:
            target.copy()

    def _on_paste_triggered(self) -> None:
        if (target := self.target) is not None:
            target.paste()

    def _on_select_all_triggered(self) -> None:
        if (target := self.target) is not None:
            target.selectAll()
