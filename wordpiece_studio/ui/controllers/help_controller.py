"""What the commands of the Help menu do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices

from wordpiece_studio.errors import StudioError
from wordpiece_studio.ui.dialogs.diagnostics import about_box, copy_diagnostics, log_path
from wordpiece_studio.ui.dialogs.help_window import HelpWindow
from wordpiece_studio.ui.dialogs.keys_window import KeysWindow, command_lines, pane_lines

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtWidgets import QWidget

    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.menus import Menus
    from wordpiece_studio.ui.messages import Messages
    from wordpiece_studio.ui.widgets.theme import Theme


class HelpController(QObject):
    """Shows the keyboard shortcuts, the pages of the help, the version and the log, and copies diagnostics.

    Parameters
    ----------
    describe_settings
        Returns what the report says about the settings and the training, as JSON values.
    """

    def __init__(
        self, window: QWidget, menus: Menus, actions: Actions, theme: Theme, messages: Messages,
        describe_settings: Callable[[], object],
    ) -> None:  # fmt: skip
        super().__init__(window)
        self._window = window
        self._menus = menus
        self._theme = theme
        self._keys: KeysWindow | None = None
        self._pages: HelpWindow | None = None
        self._messages = messages
        self._describe_settings = describe_settings
        actions.shortcuts.triggered.connect(self._on_shortcuts_triggered)
        menus.help_page_chosen.connect(self._on_help_page_chosen)
        actions.about.triggered.connect(self._on_about_triggered)
        actions.copy_diagnostics.triggered.connect(self._on_copy_diagnostics_triggered)
        actions.open_log_folder.triggered.connect(self._on_open_log_folder_triggered)
        messages.diagnostics_requested.connect(self._copy)

    @property
    def keys(self) -> KeysWindow | None:
        """The window of keyboard shortcuts, if it was ever opened."""
        return self._keys

    def _on_shortcuts_triggered(self) -> None:
        if self._keys is None:
            self._keys = KeysWindow([*command_lines(self._menus.placed()), *pane_lines()], self._theme, self._window)
        self._keys.begin()

    def _on_help_page_chosen(self, page: Path) -> None:
        if self._pages is None:
            self._pages = HelpWindow(self._theme, self._window)
        self._pages.begin(page)

    def _on_about_triggered(self) -> None:
        about_box(self._window).open()

    def _on_copy_diagnostics_triggered(self) -> None:
        self._copy()
        self._messages.show_information(
            self.tr("The diagnostics are on the clipboard."),
            self.tr("They contain versions, settings and the end of the log, and nothing from your corpus."),
        )

    def _copy(self) -> None:
        copy_diagnostics(self._describe_settings())

    def _on_open_log_folder_triggered(self) -> None:
        folder = log_path().parent
        if not folder.is_dir() or not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            self._messages.show_error(StudioError("The log folder cannot be shown", "It is {path}.", path=folder))
