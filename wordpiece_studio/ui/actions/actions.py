"""Every command of the window: its text, shortcuts, tooltip and icon, each made once and shared by menus and buttons.

What a command does is connected elsewhere; nothing here knows the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QKeySequence

from wordpiece_studio.ui.actions.step_actions import StepActions
from wordpiece_studio.ui.actions.view_actions import ViewActions

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from wordpiece_studio.ui.widgets.theme import Theme


class Actions(StepActions, ViewActions):
    """The commands, as attributes."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(theme, parent)
        self._make_file_actions()
        self._make_edit_actions()
        self._make_training_actions()
        self._make_step_actions()
        self._make_mark_actions()
        self._make_focus_actions()
        self._make_view_actions()
        self._make_layout_actions()
        self._make_help_actions()
        self._primary = self.train
        self.train.setIconVisibleInMenu(False)  # it is drawn for the button's ground
        self.draw_icons()

    def _make_file_actions(self) -> None:
        standard = QKeySequence.StandardKey
        self.new_corpus = self._action(
            self.tr("&New"), (standard.New,), self.tr("Start anew, with an empty corpus"), "new"
        )
        self.open_file = self._action(
            self.tr("&Open…"),
            (standard.Open,),
            self.tr("Open a project, or text files of any kind as the corpus"),
            "open",
        )
        self.open_folder = self._action(
            self.tr("Open &folder…"), ("Ctrl+Shift+O",), self.tr("Open all text files of a folder as the corpus")
        )
        self.add_files = self._action(
            self.tr("A&dd files…"), (), self.tr("Add text files of any kind to the corpus"), "new"
        )
        self.add_folder = self._action(
            self.tr("Add fo&lder…"), (), self.tr("Add all text files of a folder to the corpus")
        )
        self.save_project = self._action(
            self.tr("&Save"), ("Ctrl+S",), self.tr("Save the project: corpus, settings, merges and notes in one file"),
            "save",
        )  # fmt: skip
        self.save_project_as = self._action(
            self.tr("Save &as…"), ("Ctrl+Shift+S",), self.tr("Save the project under another name")
        )
        self.save_vocabulary = self._action(
            self.tr("Export &vocabulary…"), ("Ctrl+Shift+E",),
            self.tr("Write the vocabulary at the step shown for other programs"),
        )  # fmt: skip
        self.save_corpus = self._action(
            self.tr("Save &corpus text as…"), (), self.tr("Save the text of the corpus as it is, in a text file")
        )
        self.locate_files = self._action(
            self.tr("Locate &missing files…"), (), self.tr("Say where files of the corpus are that are not found")
        )
        self.quit = self._action(self.tr("&Quit"), ("Ctrl+Q",), self.tr("Exit WordPiece Studio"))
        self.quit.setMenuRole(QAction.MenuRole.QuitRole)

    def _make_edit_actions(self) -> None:
        standard = QKeySequence.StandardKey
        self.undo = self._action(self.tr("&Undo"), (standard.Undo,), self.tr("Take back the last edit of the corpus"))
        self.redo = self._action(self.tr("&Redo"), (standard.Redo,), self.tr("Do the edit again that was taken back"))
        # Without keys: those belong to the text fields, and another owner would take them away.
        self.cut = self._text_action(self.tr("Cu&t"), standard.Cut, self.tr("Cut what is selected in the text"))
        self.copy = self._text_action(self.tr("&Copy"), standard.Copy, self.tr("Copy what is selected in the text"))
        self.paste = self._text_action(self.tr("&Paste"), standard.Paste, self.tr("Insert what was copied"))
        self.select_all = self._text_action(
            self.tr("Select &all"), standard.SelectAll, self.tr("Select the whole text")
        )
        self.find = self._action(self.tr("&Find in corpus…"), (standard.Find,), self.tr("Find text in the corpus"))
        self.find_next = self._action(self.tr("Find &next"), ("F3",), self.tr("Go to the next place found"))
        self.find_previous = self._action(
            self.tr("Find pre&vious"), ("Shift+F3",), self.tr("Go to the previous place found")
        )

    def _make_training_actions(self) -> None:
        self.train = self._action(
            self.tr("&Train"), ("F5", "Ctrl+Return", "Ctrl+Enter"),
            self.tr("Learn a vocabulary from the corpus, from the first merge on"), "play",
        )  # fmt: skip
        self.train_further = self._action(
            self.tr("Train &further…"), ("Shift+F5", "Ctrl+Shift+Return"),
            self.tr("Raise the size and go on; everything learned is kept"), "further",
        )  # fmt: skip
        self.pause = self._action(
            self.tr("&Pause"), ("F6",), self.tr("Hold the training, and go on with it later"), "pause"
        )
        self.stop = self._action(
            self.tr("St&op and keep"), ("F7",), self.tr("End the training and keep what it learned"), "stop"
        )
        self.special_tokens = self._action(
            self.tr("&Special tokens…"), (), self.tr("Choose the tokens that come first and are never learned")
        )
        self.train_as_you_type = self._action(
            self.tr("Train as you t&ype"), (), self.tr("Train a small corpus again after every edit, without asking")
        )
        self.train_as_you_type.setCheckable(True)
        self.train_as_you_type.setChecked(True)

    def _make_help_actions(self) -> None:
        self.shortcuts = self._action(self.tr("&Keys"), ("F1",), self.tr("All keyboard shortcuts"))
        self.copy_diagnostics = self._action(
            self.tr("&Copy diagnostics"), (), self.tr("Put versions, settings and the log's end on the clipboard")
        )
        self.open_log_folder = self._action(self.tr("Open &log folder"), (), self.tr("Show the folder of the log file"))
        self.about = self._action(self.tr("&About WordPiece Studio"), (), self.tr("Version and licence"))
        self.about.setMenuRole(QAction.MenuRole.AboutRole)
