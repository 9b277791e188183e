"""Commands of the Help menu: the palette, the keyboard shortcuts, the pages, the diagnostics, the version, the log."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QAction, QCursor, QDesktopServices
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.task import later
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.actions import MenuChoice, command, tr
from wordpiece_studio.ui.dialogs.diagnostics import about_box, diagnostics, log_path
from wordpiece_studio.ui.dialogs.help_window import HelpWindow, KeysWindow, command_lines, help_pages, pane_lines
from wordpiece_studio.ui.dialogs.palette import (
    Entry,
    Palette,
    asks_for_token,
    command_entries,
    matching_entries,
    step_entry,
    token_entries,
)
from wordpiece_studio.ui.widgets.plain import copy_text, entry_at, menu_text
from wordpiece_studio.ui.workspace import Controller, Workspace

if TYPE_CHECKING:
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary


class HelpController(Controller):
    """Shows and copies what helps; fills the palette as the user types, and carries out what is chosen in it."""

    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        self.keys: KeysWindow | None = None  # once it was opened
        self.palette: Palette | None = None
        self._commands: list[Entry] = []
        self._vocabulary: Vocabulary | None = None
        self._tokens: list[str] = []
        focus_changed = cast("QApplication", QApplication.instance()).focusChanged
        focus_changed.connect(self._on_application_focus_changed)
        window.messages.diagnostics_requested.connect(self._copy_diagnostics)
        self._actions.bind(self)

    # -- shortcuts, pages, version, diagnostics

    @command(tr("&Keyboard shortcuts"), tr("Show all keyboard shortcuts"), "Shift+F1")
    def shortcuts(self) -> None:
        if self.keys is None:
            lines = [*command_lines(self._actions.placed()), *pane_lines()]
            self.keys = KeysWindow(lines, self._window.theme, self._window)
        self.keys.begin()

    def _on_application_focus_changed(self, _old: object, now: QWidget | None) -> None:
        """Let the key that explains work in dialogs, too: the shortcuts of the window behind do not."""
        dialog = now.window() if now is not None else None
        # Of the dialogs that are ours: the commands are gone while the window is deleted.
        if isinstance(dialog, QDialog) and dialog in self._window.findChildren(QDialog):
            explain = self._actions.explain
            if explain not in dialog.actions():
                dialog.addAction(explain)

    @command(tr("&Explain this"), tr("Show help for the item under the pointer or with the focus"), "F1")
    def explain(self) -> None:
        menu = QApplication.activePopupWidget()
        active = menu or QApplication.activeWindow() or self._window
        pointed = QApplication.widgetAt(QCursor.pos())
        if pointed is None or pointed.window() is not active:
            pointed = None
        found = (entry_at(each, QCursor.pos()) for each in (pointed, active.focusWidget(), menu) if each is not None)
        entry = next(filter(None, found), "")
        while (menu := QApplication.activePopupWidget()) is not None:
            menu.close()
        self.show_page(entry or "window")

    @command(choices=lambda self: (MenuChoice(key, menu_text(title)) for key, title in help_pages().items()))
    def show_page(self, key: str) -> None:
        owner = QApplication.activeModalWidget() or self._window
        pages = owner.findChild(HelpWindow, options=Qt.FindChildOption.FindDirectChildrenOnly)
        if pages is None:
            pages = HelpWindow(self._window.theme, owner)
        pages.show_page(key)

    @command(tr("&About WordPiece Studio"), tr("Show the version and the license"), role=QAction.MenuRole.AboutRole)
    def about(self) -> None:
        about_box(self._window).open()

    @command(tr("&Copy diagnostics"), tr("Copy versions, settings and the end of the log to the clipboard"))
    def copy_diagnostics(self) -> None:
        self._copy_diagnostics()
        self._messages.show_information(
            self.tr("The diagnostics are on the clipboard."),
            self.tr("They contain versions, settings and the end of the log, and nothing from your corpus."),
        )

    def _copy_diagnostics(self) -> None:
        """Copy the report, with what it says about settings and training; nothing from the corpus."""
        values, model = self._window.settings.values, self._model
        described = {
            "theme": values.theme,
            "text": values.font_scale,
            "train_as_you_type": values.train_as_you_type,
            "training": model.config.to_dict() if model.config is not None else None,
            "state": model.state.value,
            "merges": model.merge_count,
            "step": model.step,
        }
        copy_text(diagnostics(described))

    @command(tr("Open &log folder"), tr("Show the folder of the log file"))
    def open_log_folder(self) -> None:
        folder = log_path().parent
        if not folder.is_dir() or not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            error = StudioError("The log folder cannot be shown", "It is {path}.", path=folder)
            self._messages.show_error(error)

    # -- the palette

    def _found(self, text: str) -> list[Entry]:
        tokens = token_entries(text, self._vocabulary, self._tokens)
        if tokens and asks_for_token(text):
            return tokens
        step = step_entry(text, self._model.merge_count)
        commands = matching_entries(self._commands, text)
        return [*([step] if step is not None else []), *commands, *tokens]

    @command(
        tr("Comman&d palette…"), tr("Find any command, step, token, sample or file by name"), "Ctrl+K Ctrl+Shift+P"
    )
    def command_palette(self) -> None:
        actions = self._actions
        if self.palette is None:
            self.palette = Palette(
                self._window.theme, self._window, find=self._found, catch_up=actions.catch_up,
                do=lambda entry: later(self, 0, partial(self._do, entry)),  # when the focus is back where it was
            )  # fmt: skip
        palette = self.palette
        if palette.isVisible():
            palette.leave()
            return
        actions.refresh_menus()
        self._commands = command_entries([each for each in actions.placed() if each[1] is not actions.command_palette])
        self._vocabulary = self._model.vocabulary_at(self._model.step)
        self._tokens = self._vocabulary.tokens if self._vocabulary is not None else []
        palette.begin()

    def _do(self, entry: Entry) -> None:
        docks = self._window.docks
        panes = {panel.toggle_action: panel.objectName() for panel in docks.panels.values()}
        if entry.action in panes:
            docks.bring(panes[entry.action])  # the command would hide one that is already shown
        elif entry.action is not None:
            entry.action.trigger()
        elif entry.step is not None:
            self._model.seek(entry.step)
        elif entry.token is not None:
            self._model.set_selection(Selection("token", text=entry.token))
            docks.bring("token_details")
