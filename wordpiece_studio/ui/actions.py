"""Every command of the window: its text, shortcuts, tooltip and icon, each made once and shared by menus and buttons.

What a command does is connected elsewhere; nothing here knows the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence

from wordpiece_studio.ui.look.icons import icon
from wordpiece_studio.ui.look.plain import set_plain_tooltip

if TYPE_CHECKING:
    from wordpiece_studio.ui.look.theme import Theme

_Shortcuts = tuple[str | QKeySequence.StandardKey, ...]


class Actions(QObject):
    """The commands, as attributes."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icons: dict[QAction, str] = {}
        self._tips: dict[QAction, str] = {}
        self._make_file_actions()
        self._make_edit_actions()
        self._make_training_actions()
        self._make_moment_actions()
        self._make_view_actions()
        self._make_help_actions()
        self.draw_icons()
        theme.changed.connect(self.draw_icons)

    def all(self) -> list[QAction]:
        """Return every command once."""
        return [action for action in vars(self).values() if isinstance(action, QAction)]

    def usual_tip(self, action: QAction) -> str:
        """Return what the tooltip of a command says as long as there is no reason that it cannot be used."""
        return self._tips[action]

    def draw_icons(self) -> None:
        """Draw the icons in the colours of the theme."""
        for action, name in self._icons.items():
            color = self._theme.accent_text if action is self.train else self._theme.text
            action.setIcon(icon(name, color, self._theme.faint))

    def _make_file_actions(self) -> None:
        standard = QKeySequence.StandardKey
        self.new_corpus = self._action(
            self.tr("&New corpus"), (standard.New,), self.tr("Start with an empty corpus"), "new"
        )
        self.open_file = self._action(
            self.tr("&Open files…"), (standard.Open,), self.tr("Open text files of any kind as the corpus"), "open"
        )
        self.open_folder = self._action(
            self.tr("Open &folder…"), ("Ctrl+Shift+O",), self.tr("Open all text files of a folder as the corpus")
        )
        self.add_files = self._action(
            self.tr("A&dd files…"), (), self.tr("Add text files of any kind to the corpus"), "new"
        )
        self.add_folder = self._action(
            self.tr("Add folde&r…"), (), self.tr("Add all text files of a folder to the corpus")
        )
        self.save_vocabulary = self._action(
            self.tr("&Save vocabulary…"), ("Ctrl+S",), self.tr("Save the vocabulary at the step shown"), "save"
        )
        self.save_corpus = self._action(
            self.tr("Save &corpus text…"), ("Ctrl+Shift+S",), self.tr("Save the text of the corpus as it is")
        )
        self.quit = self._action(self.tr("&Quit"), ("Ctrl+Q",), self.tr("Leave WordPiece Studio"))
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

    def _make_moment_actions(self) -> None:
        # Left and Right belong to the text in a text field; the others work everywhere.
        self.next_merge = self._action(
            self.tr("&Next merge"), ("Alt+Right", "Right", "F10"),
            self.tr("One merge on; at the last one, learn one more"), "next",
        )  # fmt: skip
        self.previous_merge = self._action(
            self.tr("Pre&vious merge"), ("Alt+Left", "Left", "Shift+F10"), self.tr("One merge back"), "previous"
        )
        self.first_merge = self._action(
            self.tr("To the be&ginning"), ("Alt+Home", "Home"), self.tr("Before the first merge"), "first"
        )
        self.last_merge = self._action(
            self.tr("To the &last merge"), ("Alt+End", "End"), self.tr("After the last merge learned"), "last"
        )
        self.play = self._action(
            self.tr("Pl&ay the merges"), ("F8",), self.tr("Show the merges one after the other"), "play"
        )
        self.play.setCheckable(True)

    def _make_view_actions(self) -> None:
        self.themes = QActionGroup(self)
        self.theme_system = self._theme_action(self.tr("Like the &system"), "system")
        self.theme_light = self._theme_action(self.tr("&Light"), "light")
        self.theme_dark = self._theme_action(self.tr("&Dark"), "dark")
        standard = QKeySequence.StandardKey
        self.larger_text = self._action(
            self.tr("La&rger text"), (standard.ZoomIn, "Ctrl+="), self.tr("For the last row of the room")
        )
        self.smaller_text = self._action(self.tr("S&maller text"), (standard.ZoomOut,), self.tr("Smaller text"))
        self.normal_text = self._action(self.tr("&Normal text"), ("Ctrl+0",), self.tr("The system's size of text"))
        self.reset_layout = self._action(
            self.tr("&Reset arrangement"), (), self.tr("All panes where they were at first")
        )

    def _make_help_actions(self) -> None:
        self.shortcuts = self._action(self.tr("&Keys"), ("F1",), self.tr("All keyboard shortcuts"))
        self.copy_diagnostics = self._action(
            self.tr("&Copy diagnostics"), (), self.tr("Put versions, settings and the log's end on the clipboard")
        )
        self.open_log_folder = self._action(self.tr("Open &log folder"), (), self.tr("Show the folder of the log file"))
        self.about = self._action(self.tr("&About WordPiece Studio"), (), self.tr("Version and licence"))
        self.about.setMenuRole(QAction.MenuRole.AboutRole)

    def _theme_action(self, text: str, choice: str) -> QAction:
        action = self._action(text, (), "")
        action.setCheckable(True)
        action.setData(choice)
        self.themes.addAction(action)
        return action

    def _text_action(self, text: str, key: QKeySequence.StandardKey, tip: str) -> QAction:
        shown_key = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
        return self._action(f"{text}\t{shown_key}", (), tip)

    def _action(self, text: str, shortcuts: _Shortcuts, tip: str, picture: str = "") -> QAction:
        action = QAction(text, self)
        keys = [each if isinstance(each, str) else QKeySequence(each) for each in shortcuts]
        action.setShortcuts([QKeySequence(key) for key in keys])
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        plain_text = text.replace("&", "")
        shown_key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        self._tips[action] = f"{tip or plain_text} ({shown_key})" if shown_key else tip or plain_text
        set_plain_tooltip(action, self._tips[action])
        action.setStatusTip(tip)
        if picture:
            self._icons[action] = picture
        return action
