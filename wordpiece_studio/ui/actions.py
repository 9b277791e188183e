"""Every command of the window: its text, shortcuts, tooltip and icon, each made once and shared by menus and buttons.

What the commands do is connected elsewhere; nothing here depends on the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence

from wordpiece_studio.ui.widgets.painting import icon
from wordpiece_studio.ui.widgets.plain import set_plain_tooltip

if TYPE_CHECKING:
    from wordpiece_studio.ui.widgets.theme import Theme

_RUN_KEYS = 8
"""Alt and a digit show a run."""


class Actions(QObject):
    """The commands, as attributes; their icons are drawn in the colours of the theme."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icons: dict[QAction, str] = {}
        self._tips: dict[QAction, str] = {}
        self._make_file_actions()
        self._make_edit_actions()
        self._make_training_actions()
        self._make_run_actions()
        self._make_step_actions()
        self._make_mark_actions()
        self._make_selection_actions()
        self._make_view_actions()
        self._make_layout_actions()
        self._make_help_actions()
        self.train.setIconVisibleInMenu(False)  # it is drawn for the button's background
        self._draw_icons()
        theme.changed.connect(self._draw_icons)

    def all(self) -> list[QAction]:
        """Return every command once."""
        single = [each for each in vars(self).values() if isinstance(each, QAction)]
        return list(dict.fromkeys([*single, *self.show_run.actions(), *self.library_trainers.actions()]))

    def usual_tip(self, action: QAction) -> str:
        """Return the tooltip that a command has while it is available."""
        return self._tips[action]

    # -- files, edits, training

    def _make_file_actions(self) -> None:
        standard = QKeySequence.StandardKey
        self.new_corpus = self._action(
            self.tr("&New"), (standard.New,), self.tr("Start over with an empty corpus"), "new"
        )
        self.open_file = self._action(
            self.tr("&Open…"),
            (standard.Open,),
            self.tr("Open a project, or text files as the corpus"),
            "open",
        )
        self.open_folder = self._action(
            self.tr("Open &folder…"), ("Ctrl+Shift+O",), self.tr("Open all text files in a folder as the corpus")
        )
        self.add_files = self._action(self.tr("A&dd files…"), (), self.tr("Add text files to the corpus"), "new")
        self.add_folder = self._action(
            self.tr("Add fo&lder…"), (), self.tr("Add all text files in a folder to the corpus")
        )
        self.save_project = self._action(
            self.tr("&Save"), ("Ctrl+S",), self.tr("Save the project: corpus, settings, merges and bookmarks in one "
            "file"),
            "save",
        )  # fmt: skip
        self.save_project_as = self._action(
            self.tr("Save &as…"), ("Ctrl+Shift+S",), self.tr("Save the project under another name")
        )
        self.save_vocabulary = self._action(
            self.tr("Export &vocabulary…"), ("Ctrl+Shift+E",),
            self.tr("Export the final vocabulary, or the one at the current step, for use in other programs"),
        )  # fmt: skip
        self.save_corpus = self._action(
            self.tr("Save &corpus text as…"), (), self.tr("Save the text of the corpus to a text file")
        )
        self.locate_files = self._action(
            self.tr("Locate &missing files…"), (), self.tr("Choose where the missing corpus files are now")
        )
        self.quit = self._action(self.tr("&Quit"), ("Ctrl+Q",), self.tr("Exit WordPiece Studio"))
        self.quit.setMenuRole(QAction.MenuRole.QuitRole)

    def _make_edit_actions(self) -> None:
        standard = QKeySequence.StandardKey
        self.undo = self._action(
            self.tr("&Undo"),
            (standard.Undo,),
            self.tr("Undo the last corpus edit, or bring back the run closed last"),
        )
        self.redo = self._action(self.tr("&Redo"), (standard.Redo,), self.tr("Redo what was undone"))
        # Without shortcuts: those belong to the text fields, and a second owner would take them away.
        self.cut = self._text_action(self.tr("Cu&t"), standard.Cut, self.tr("Cut the selected text"))
        self.copy = self._text_action(self.tr("&Copy"), standard.Copy, self.tr("Copy the selected text"))
        self.paste = self._text_action(self.tr("&Paste"), standard.Paste, self.tr("Insert the text on the clipboard"))
        self.select_all = self._text_action(
            self.tr("Select &all"), standard.SelectAll, self.tr("Select the whole text")
        )
        self.find = self._action(self.tr("&Find in corpus…"), (standard.Find,), self.tr("Find text in the corpus"))
        self.find_next = self._action(self.tr("Find &next"), ("F3",), self.tr("Go to the next match"))
        self.find_previous = self._action(self.tr("Find pre&vious"), ("Shift+F3",), self.tr("Go to the previous match"))

    def _make_training_actions(self) -> None:
        self.train = self._action(
            self.tr("&Train"), ("F5", "Ctrl+Return", "Ctrl+Enter"),
            self.tr("Train a vocabulary on the corpus, as a new run"), "play",
        )  # fmt: skip
        self.train_further = self._action(
            self.tr("Train &further…"), ("Shift+F5", "Ctrl+Shift+Return"),
            self.tr("Raise the vocabulary size and continue; everything learned is kept"), "further",
        )  # fmt: skip
        self.pause = self._action(
            self.tr("&Pause"), ("F6",), self.tr("Pause the training; it can be resumed later"), "pause"
        )
        self.stop = self._action(
            self.tr("St&op and keep"), ("F7",), self.tr("Stop training and keep the merges learned so far"), "stop"
        )
        self.library_trainers = QActionGroup(self)
        for trainer, text in (
            ("tokenizers-wordpiece", self.tr("&WordPiece (tokenizers)")),
            ("tokenizers-bpe", self.tr("&BPE (tokenizers)")),
            ("tokenizers-unigram", self.tr("&Unigram (tokenizers)")),
            ("sentencepiece-bpe", self.tr("B&PE (SentencePiece)")),
            ("sentencepiece-unigram", self.tr("U&nigram (SentencePiece)")),
        ):
            action = self._action(
                text, (), self.tr("Train on the corpus words with this library’s own trainer, as a new run")
            )
            action.setData(trainer)
            self.library_trainers.addAction(action)
        self.library_trainers.setExclusive(False)
        self.library_twice = self._action(
            self.tr("Train &twice and compare"), (),
            self.tr("Some libraries learn a different vocabulary each time, even from the same words"),
        )  # fmt: skip
        self.library_twice.setCheckable(True)
        self.stop_library = self._action(
            self.tr("&Stop library training"), (), self.tr("Stop training with another library and discard the result")
        )
        self.stop.setIconText(self.tr("Stop"))  # there is one place for all buttons of the training
        self.objectives = QActionGroup(self)
        for objective, text, tip in (
            ("likelihood", self.tr("&Likelihood"), self.tr("Merge the pair that makes the corpus most probable")),
            ("score", self.tr("&Score"),
             self.tr("Merge the pair with the highest score, as in the Hugging Face course")),
            ("count", self.tr("&Count (BPE)"), self.tr("Merge the most frequent pair, as in byte pair encoding (BPE)")),
        ):  # fmt: skip
            self._choice(self.objectives, objective, text, tip=tip)
        self.special_tokens = self._action(
            self.tr("&Special tokens…"), (), self.tr("Choose the tokens that come first and are never learned")
        )
        self.longest_word = self._action(
            self.tr("Maximum word &length…"), (), self.tr("Choose the length up to which words are counted")
        )
        self.train_as_you_type = self._action(
            self.tr("Train as you t&ype"),
            (),
            self.tr("Train a small corpus after every edit or change of a setting, as a preview"),
        )
        self.train_as_you_type.setCheckable(True)
        self.train_as_you_type.setChecked(True)

    def _make_run_actions(self) -> None:
        self.next_run = self._action(self.tr("&Next run"), ("Ctrl+Tab",), self.tr("Show the run in the next tab"))
        self.previous_run = self._action(
            self.tr("&Previous run"), ("Ctrl+Shift+Tab",), self.tr("Show the run in the previous tab")
        )
        self.keep_run = self._action(
            self.tr("&Keep this run"), (), self.tr("Keep this preview as a run; the next change opens a new preview")
        )
        self.rename_run = self._action(self.tr("&Rename this run…"), (), self.tr("Rename the current run"))
        self.close_run = self._action(
            self.tr("&Close this run"), ("Ctrl+W",), self.tr("Close the current run; Undo brings it back")
        )
        self.compare_run = self._action(
            self.tr("Co&mpare this run"),
            (),
            self.tr("Show how this run tokenizes the live text, next to other runs"),
        )
        self.compare_run.setCheckable(True)
        self.words_apart = self._action(
            self.tr("&Words split differently"),
            ("Ctrl+Shift+W",),
            self.tr(
                "List the words that a compared run splits differently; repeat for the next run, then for all words"
            ),
        )
        self.vocabulary_overlap = self._action(
            self.tr("Vocabulary &overlap"),
            (),
            self.tr("Show how many tokens the compared runs share, overall and among the first 100, 200 and so on"),
        )
        self.bring_text_back = self._action(
            self.tr("Re&store this run’s corpus"), (), self.tr("Reopen the corpus that this run was trained on")
        )
        self.figures = self._action(
            self.tr("Run metr&ics"),
            (),
            self.tr("Evaluate runs and other tokenizers on a text, such as held-out text"),
        )
        self.show_run = QActionGroup(self)
        self.show_run.setExclusive(False)
        for place in range(_RUN_KEYS):
            action = self._action(
                self.tr("Run {place}").format(place=place + 1),
                (f"Alt+{place + 1}",),
                self.tr("Show the run in this tab"),
            )
            action.setData(place)
            self.show_run.addAction(action)

    # -- steps, marks, what is looked at

    def _make_step_actions(self) -> None:
        # Left and Right belong to the text in a text field; the others work everywhere.
        self.next_merge = self._action(
            self.tr("&Next merge"), ("Alt+Right", "Right", "F10"),
            self.tr("Go one merge forward; at the last one, learn one more"), "next",
        )  # fmt: skip
        self.previous_merge = self._action(
            self.tr("Pre&vious merge"), ("Alt+Left", "Left", "Shift+F10"), self.tr("Go one merge back"), "previous"
        )
        self.first_merge = self._action(
            self.tr("Go to the b&eginning"), ("Alt+Home", "Home"), self.tr("Step 0, before the first merge"), "first"
        )
        self.last_merge = self._action(
            self.tr("Go to the &last merge"), ("Alt+End", "End"), self.tr("The step after the last merge"), "last"
        )
        self.play = self._action(
            self.tr("Pl&ay the merges"), ("F8",), self.tr("Show the merges one after another"), "play"
        )
        self.play.setCheckable(True)
        self.ten_on = self._action(
            self.tr("Ten merges &forward"), ("Alt+PgDown", "Shift+Right"), self.tr("Go ten merges forward"), "ten_on"
        )
        self.ten_back = self._action(
            self.tr("&Ten merges back"), ("Alt+PgUp", "Shift+Left"), self.tr("Go ten merges back"), "ten_back"
        )
        self.next_change = self._action(
            self.tr("Next &change to the text"), ("F9", "Ctrl+Right"),
            self.tr("Go to the next step that changes how the live text is tokenized"), "next_change",
        )  # fmt: skip
        self.previous_change = self._action(
            self.tr("Previous change to the te&xt"), ("Shift+F9", "Ctrl+Left"),
            self.tr("Go to the previous step that changed how the live text is tokenized"), "previous_change",
        )  # fmt: skip
        self.go_to_parting = self._action(
            self.tr("Go to where r&uns diverge"), ("Ctrl+Shift+G",),
            self.tr("Go to the first step at which a compared run merges a different pair; repeat for the next run"),
        )  # fmt: skip
        self.go_to_step = self._action(self.tr("&Go to step…"), ("Ctrl+G",), self.tr("Type the number of a step"))

    def _make_mark_actions(self) -> None:
        self.breakpoints = self._action(
            self.tr("&Breakpoints…"), ("Ctrl+B",), self.tr("Choose where playing and running stop"), "breakpoint"
        )
        self.run_to_breakpoint = self._action(
            self.tr("&Run to the next breakpoint"), ("Ctrl+F8",),
            self.tr("Go to the next step that hits a breakpoint; continues training if needed"), "run",
        )  # fmt: skip
        self.run_back = self._action(
            self.tr("Run bac&k to the previous breakpoint"), ("Ctrl+Shift+F8",),
            self.tr("Go back to the previous step that hits a breakpoint"), "run_back",
        )  # fmt: skip
        self.keep_step = self._action(
            self.tr("Bookmark this &step…"),
            ("Ctrl+D",),
            self.tr("Bookmark this step, with a note"),
            "keep",
        )
        self.compare_step = self._action(
            self.tr("Co&mpare with this step"),
            ("Ctrl+Shift+M",),
            self.tr("Keep showing how this step tokenizes the live text, next to the current step; repeat to stop"),
            "compare",
        )
        self.bookmarks = self._action(
            self.tr("B&ookmarks…"),
            ("Ctrl+Shift+D",),
            self.tr("Show the bookmarked steps and their notes"),
            "bookmarks",
        )

    def _make_selection_actions(self) -> None:
        self.go_to_birth = self._action(
            self.tr("Go to the step t&hat created the token"), ("Ctrl+Shift+B",),
            self.tr("Go to the step that created the selected token"),
        )  # fmt: skip
        self.clear_selection = self._action(
            self.tr("Clear the select&ion"), ("Esc",), self.tr("Clear the selection in all panes")
        )
        self.find_token = self._action(self.tr("Find a to&ken…"), ("Ctrl+Shift+F",), self.tr("Search the vocabulary"))
        self.type_live_text = self._action(
            self.tr("T&ype text to tokenize"), ("Ctrl+L",), self.tr("Go to the text field of the live tokenization")
        )
        self.show_step_row = self._action(
            self.tr("Sho&w this step in the history"), ("Ctrl+J",), self.tr("Scroll to the row of this step")
        )
        self.export_history = self._action(
            self.tr("&Export merge history…"), ("Ctrl+E",), self.tr("Save the merges as CSV, JSONL or Parquet")
        )
        self.save_chart = self._action(
            self.tr("Save c&hart…"), (), self.tr("Save the current chart as a PNG or SVG image")
        )

    # -- the window

    def _make_view_actions(self) -> None:
        self.themes = QActionGroup(self)
        self.theme_system = self._choice(self.themes, "system", self.tr("Same as the &system"))
        self.theme_light = self._choice(self.themes, "light", self.tr("&Light"))
        self.theme_dark = self._choice(self.themes, "dark", self.tr("&Dark"))
        self.theme_contrast = self._choice(self.themes, "contrast", self.tr("&High contrast"))
        standard = QKeySequence.StandardKey
        self.larger_text = self._action(
            self.tr("La&rger text"),
            (standard.ZoomIn, "Ctrl+="),
            self.tr("Zoom in: a larger font, readable from the back of the room"),
        )
        self.smaller_text = self._action(
            self.tr("S&maller text"), (standard.ZoomOut,), self.tr("Zoom out: a smaller font")
        )
        self.normal_text = self._action(self.tr("&Normal text"), ("Ctrl+0",), self.tr("Back to the system’s text size"))
        self.larger_pane = self._action(
            self.tr("Larger text in this &pane"),
            ("Ctrl+Alt+=", "Ctrl+Alt++"),
            self.tr("Zoom in on the focused pane only"),
        )
        self.smaller_pane = self._action(
            self.tr("Smaller te&xt in this pane"),
            ("Ctrl+Alt+-",),
            self.tr("Zoom out of the focused pane only"),
        )
        self.normal_pane = self._action(
            self.tr("Normal text in &all panes"), ("Ctrl+Alt+0",), self.tr("Show all panes in the window’s text size")
        )

    def _make_layout_actions(self) -> None:
        self.layouts = QActionGroup(self)
        self.layout_teach = self._choice(
            self.layouts, "teach", self.tr("&Teaching"), "Ctrl+1",
            self.tr("Layout for teaching: corpus, merge candidates, history and tokens"),
        )  # fmt: skip
        self.layout_engineer = self._choice(
            self.layouts, "engineer", self.tr("&Engineering"), "Ctrl+2",
            self.tr("Layout for engineering: history, vocabulary and charts"),
        )  # fmt: skip
        self.layout_demo = self._choice(
            self.layouts, "demo", self.tr("Prese&nting"), "Ctrl+3",
            self.tr("Layout for presenting: full screen, large text; formula, tokens and timeline"),
        )  # fmt: skip
        self.reset_layout = self._action(
            self.tr("&Reset layout"), (), self.tr("Move all panes of this layout back to their default places")
        )
        self.fill_pane = self._action(
            self.tr("Ma&ximize this pane"),
            ("F12",),
            self.tr("Show only the focused pane; press Esc or use this command again to show the others"),
        )
        self.full_screen = self._action(self.tr("F&ull screen"), ("F11",), self.tr("Switch full screen on or off"))
        self.full_screen.setCheckable(True)
        self.command_palette = self._action(
            self.tr("Comman&d palette…"),
            ("Ctrl+K", "Ctrl+Shift+P"),
            self.tr("Find any command, step, token, sample or file by name"),
        )

    def _make_help_actions(self) -> None:
        self.last_messages = self._action(
            self.tr("Show recent &messages"),
            ("Ctrl+M",),
            self.tr("Show recent messages"),
            "info",
        )
        self.last_messages.setIconText(self.tr("Messages"))
        self.shortcuts = self._action(
            self.tr("&Keyboard shortcuts"), ("Shift+F1",), self.tr("Show all keyboard shortcuts")
        )
        self.explain = self._action(
            self.tr("&Explain this"), ("F1",), self.tr("Show help for the item under the pointer or with the focus")
        )
        self.copy_diagnostics = self._action(
            self.tr("&Copy diagnostics"), (), self.tr("Copy versions, settings and the end of the log to the clipboard")
        )
        self.open_log_folder = self._action(self.tr("Open &log folder"), (), self.tr("Show the folder of the log file"))
        self.about = self._action(self.tr("&About WordPiece Studio"), (), self.tr("Show the version and the license"))
        self.about.setMenuRole(QAction.MenuRole.AboutRole)

    # -- making them

    def _action(
        self, text: str, shortcuts: tuple[str | QKeySequence.StandardKey, ...], tip: str, picture: str = ""
    ) -> QAction:
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

    def _text_action(self, text: str, key: QKeySequence.StandardKey, tip: str) -> QAction:
        shown_key = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
        return self._action(f"{text}\t{shown_key}", (), tip)

    def _choice(self, group: QActionGroup, value: str, text: str, key: str = "", tip: str = "") -> QAction:
        action = self._action(text, (key,) if key else (), tip)
        action.setCheckable(True)
        action.setData(value)
        group.addAction(action)
        return action

    def _draw_icons(self) -> None:
        for action, name in self._icons.items():
            color = self._theme.accent_text if action is self.train else self._theme.text
            action.setIcon(icon(name, color, self._theme.faint))


class ActionReasons:
    """Remembers each command's reason: reasons are set again whenever a training makes progress."""

    def __init__(self, actions: Actions) -> None:
        self._actions = actions
        self._reasons: dict[QAction, str] = {}

    def set_reason(self, action: QAction, reason: str) -> None:
        """Disable `action` and say why; with an empty reason enable it."""
        if self._reasons.get(action) != reason:
            self._reasons[action] = reason
            action.setEnabled(not reason)
            usual = self._actions.usual_tip(action)
            set_plain_tooltip(action, f"{usual}\n{reason}" if reason else usual)
