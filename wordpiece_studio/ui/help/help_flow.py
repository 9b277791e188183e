"""What the commands of the Help menu do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices

from wordpiece_studio.errors import StudioError
from wordpiece_studio.ui.help.about import KeysDialog, about_box
from wordpiece_studio.ui.help.diagnostics import copy_diagnostics
from wordpiece_studio.ui.help.log import log_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from wordpiece_studio.ui.actions.actions import Actions
    from wordpiece_studio.ui.messages import Messages


class HelpFlow(QObject):
    """Shows the keys, the version and the log, and copies diagnostics.

    Parameters
    ----------
    describe_settings
        Returns what the report says about the settings and the training, as JSON values.
    """

    def __init__(
        self, window: QWidget, actions: Actions, messages: Messages, describe_settings: Callable[[], object]
    ) -> None:
        super().__init__(window)
        self._window = window
        self._actions = actions
        self._messages = messages
        self._describe_settings = describe_settings
        actions.shortcuts.triggered.connect(self._on_shortcuts_triggered)
        actions.about.triggered.connect(self._on_about_triggered)
        actions.copy_diagnostics.triggered.connect(self._on_copy_diagnostics_triggered)
        actions.open_log_folder.triggered.connect(self._on_open_log_folder_triggered)
        messages.diagnostics_requested.connect(self._copy)

    def _on_shortcuts_triggered(self) -> None:
        KeysDialog(self._actions.all(), self._window).open()

    def _on_about_triggered(self) -> None:
        about_box(self._window).open()

    def _on_copy_diagnostics_triggered(self) -> None:
        self._copy()
        self._messages.show_information(
            self.tr("The diagnostics are on the clipboard."),
            self.tr("They hold versions, settings and the end of the log, and nothing of your corpus."),
        )

    def _copy(self) -> None:
        copy_diagnostics(self._describe_settings())

    def _on_open_log_folder_triggered(self) -> None:
        folder = log_path().parent
        if not folder.is_dir() or not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            self._messages.show_error(
                StudioError("The folder of the log cannot be shown", "It is {path}.", path=folder)
            )
