"""Every command of the window, made once in the menu that it is in, with its keys, tip and icon; and the menu bar.

What the commands do is connected elsewhere; nothing here depends on the model.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar

from wordpiece_studio.session.plural import plural
from wordpiece_studio.ui.dialogs.help_window import help_pages
from wordpiece_studio.ui.widgets.plain import menu_text, plain_title, set_plain_tooltip
from wordpiece_studio.ui.widgets.theme import icon
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from PySide6.QtWidgets import QWidget

    from wordpiece_studio.session.samples import SampleCorpus
    from wordpiece_studio.ui.widgets.theme import Theme

_RUN_KEYS = 8
"""Alt and a digit show a run."""


class Actions(QObject):
    """The commands, as attributes; their icons are drawn in the colours of the theme."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icons: dict[QAction, str] = {}
        self._tips: dict[QAction, str] = {}
        self._reasons: dict[QAction, str] = {}
        self.bar = QMenuBar(parent)
        self._open: QMenuBar | QMenu = self.bar  # what is being filled
        for title, make_actions in (
            (self.tr("&File"), self._make_file_actions),
            (self.tr("&Edit"), self._make_edit_actions),
            (self.tr("&Training"), self._make_training_actions),
            (self.tr("&Step"), self._make_step_actions),
            (self.tr("&View"), self._make_view_actions),
            (self.tr("&Help"), self._make_help_actions),
        ):
            with self._menu(title):
                make_actions()
        self.set_recent_files([])
        self._draw_icons()
        theme.changed.connect(self._draw_icons)

    def all(self) -> list[QAction]:
        """Return every command once."""
        return list(self._tips)

    def usual_tip(self, action: QAction) -> str:
        """Return the tooltip that a command has while it is available."""
        return self._tips[action]

    def set_reason(self, action: QAction, reason: str) -> None:
        """Disable `action` and say why; with an empty reason enable it."""
        if self._reasons.get(action) != reason:  # they are set again whenever a training makes progress
            self._reasons[action] = reason
            action.setEnabled(not reason)
            set_plain_tooltip(action, f"{self._tips[action]}\n{reason}" if reason else self._tips[action])

    # -- the menus

    def set_samples(self, samples: Sequence[SampleCorpus]) -> None:
        """Offer these samples; the data of each entry is its file name."""
        self.samples_menu.clear()
        for sample in samples:
            self.samples_menu.addAction(menu_text(sample.title)).setData(sample.name)

    def set_recent_files(self, opened: Sequence[Sequence[str]]) -> None:
        """Offer what was opened before, the latest first; each entry is the paths that were opened together."""
        self.recent_menu.clear()
        for paths in opened:
            action = self.recent_menu.addAction(menu_text(_name_of(paths)))
            action.setData(tuple(paths))
            set_plain_tooltip(action, "\n".join(paths))
        self.recent_menu.setToolTipsVisible(True)
        self.recent_menu.setEnabled(bool(opened))

    def refresh_menus(self) -> None:
        """Update what is otherwise updated only when its menu is opened."""
        for menu in (self.edit_menu, self.recent_menu):
            menu.aboutToShow.emit()

    def placed(self) -> list[tuple[str, QAction]]:
        """Return every command in menu order, with the names of the menus that it is in."""
        return [each for action in self.bar.actions() for each in _placed(action, "")]

    # -- files and edits

    def _make_file_actions(self) -> None:
        add, tr, standard = self._action, self.tr, QKeySequence.StandardKey
        self.new_corpus = add(tr("&New"), tr("Start over with an empty corpus"), standard.New, "new")
        self.open_file = add(tr("&Open…"), tr("Open a project, or text files as the corpus"), standard.Open, "open")
        self.open_folder = add(tr("Open &folder…"), tr("Open all text files in a folder as the corpus"), "Ctrl+Shift+O")
        self.recent_menu = self._open.addMenu(tr("Open &recent"))
        self.samples_menu = self._open.addMenu(tr("Sam&ple corpora"))
        self._open.addSeparator()
        tip = tr("Save the project: corpus, settings, merges and bookmarks in one file")
        self.save_project = add(tr("&Save"), tip, "Ctrl+S", "save")
        self.save_project_as = add(tr("Save &as…"), tr("Save the project under another name"), "Ctrl+Shift+S")
        self._open.addSeparator()
        self.add_files = add(tr("A&dd files…"), tr("Add text files to the corpus"), icon="new")
        self.add_folder = add(tr("Add fo&lder…"), tr("Add all text files in a folder to the corpus"))
        self.locate_files = add(tr("Locate &missing files…"), tr("Choose where the missing corpus files are now"))
        self.save_corpus = add(tr("Save &corpus text as…"), tr("Save the text of the corpus to a text file"))
        self._open.addSeparator()
        tip = tr("Export the final vocabulary, or the one at the current step, for use in other programs")
        self.save_vocabulary = add(tr("Export &vocabulary…"), tip, "Ctrl+Shift+E")
        tip = tr("Save the merges as CSV, JSONL or Parquet")
        self.export_history = add(tr("&Export merge history…"), tip, "Ctrl+E")
        self.save_chart = add(tr("Save c&hart…"), tr("Save the current chart as a PNG or SVG image"))
        self._open.addSeparator()
        self.quit = add(tr("&Quit"), tr("Exit WordPiece Studio"), "Ctrl+Q")
        self.quit.setMenuRole(QAction.MenuRole.QuitRole)

    def _make_edit_actions(self) -> None:
        add, tr, standard = self._action, self.tr, QKeySequence.StandardKey
        self.edit_menu = cast("QMenu", self._open)
        self.undo = add(tr("&Undo"), tr("Undo the last corpus edit, or bring back the run closed last"), standard.Undo)
        self.redo = add(tr("&Redo"), tr("Redo what was undone"), standard.Redo)
        self._open.addSeparator()
        # Without shortcuts: those belong to the text fields, and a second owner would take them away.
        self.cut = self._text_action(tr("Cu&t"), tr("Cut the selected text"), standard.Cut)
        self.copy = self._text_action(tr("&Copy"), tr("Copy the selected text"), standard.Copy)
        self.paste = self._text_action(tr("&Paste"), tr("Insert the text on the clipboard"), standard.Paste)
        self.select_all = self._text_action(tr("Select &all"), tr("Select the whole text"), standard.SelectAll)
        self._open.addSeparator()
        self.find = add(tr("&Find in corpus…"), tr("Find text in the corpus"), standard.Find)
        self.find_next = add(tr("Find &next"), tr("Go to the next match"), "F3")
        self.find_previous = add(tr("Find pre&vious"), tr("Go to the previous match"), "Shift+F3")
        self.find_token = add(tr("Find a to&ken…"), tr("Search the vocabulary"), "Ctrl+Shift+F")
        self._open.addSeparator()
        tip = tr("Go to the text field of the live tokenization")
        self.type_live_text = add(tr("T&ype text to tokenize"), tip, "Ctrl+L")

    # -- training

    def _make_training_actions(self) -> None:
        add, tr = self._action, self.tr
        tip = tr("Train a vocabulary on the corpus, as a new run")
        self.train = add(tr("&Train"), tip, "F5 Ctrl+Return Ctrl+Enter", "play")
        self.train.setIconVisibleInMenu(False)  # it is drawn for the button's background
        tip = tr("Raise the vocabulary size and continue; everything learned is kept")
        self.train_further = add(tr("Train &further…"), tip, "Shift+F5 Ctrl+Shift+Return", "further")
        self.pause = add(tr("&Pause"), tr("Pause the training; it can be resumed later"), "F6", "pause")
        self.stop = add(tr("St&op and keep"), tr("Stop training and keep the merges learned so far"), "F7", "stop")
        self.stop.setIconText(tr("Stop"))  # there is one place for all buttons of the training
        with self._menu(tr("Train with &another library")):
            self._make_library_actions()
        self._open.addSeparator()
        with self._menu(tr("&Runs")):
            self._make_run_actions()
        self._open.addSeparator()
        with self._menu(tr("Ob&jective")):
            self.objectives = QActionGroup(self)
            for objective, text, tip in (
                ("likelihood", tr("&Likelihood"), tr("Merge the pair that makes the corpus most probable")),
                ("score", tr("&Score"), tr("Merge the pair with the highest score, as in the Hugging Face course")),
                ("count", tr("&Count (BPE)"), tr("Merge the most frequent pair, as in byte pair encoding (BPE)")),
            ):
                self._choice(self.objectives, objective, text, tip)
        self.special_tokens = add(tr("&Special tokens…"), tr("Choose the tokens that come first and are never learned"))
        self.longest_word = add(tr("Maximum word &length…"), tr("Choose the length up to which words are counted"))
        tip = tr("Train a small corpus after every edit or change of a setting, as a preview")
        self.train_as_you_type = add(tr("Train as you t&ype"), tip)
        self.train_as_you_type.setCheckable(True)
        self.train_as_you_type.setChecked(True)

    def _make_library_actions(self) -> None:
        add, tr = self._action, self.tr
        self.library_trainers = QActionGroup(self)
        for trainer, text in (
            ("tokenizers-wordpiece", tr("&WordPiece (tokenizers)")),
            ("tokenizers-bpe", tr("&BPE (tokenizers)")),
            ("tokenizers-unigram", tr("&Unigram (tokenizers)")),
            ("sentencepiece-bpe", tr("B&PE (SentencePiece)")),
            ("sentencepiece-unigram", tr("U&nigram (SentencePiece)")),
        ):
            action = add(text, tr("Train on the corpus words with this library’s own trainer, as a new run"))
            action.setData(trainer)
            self.library_trainers.addAction(action)
        self._open.addSeparator()
        tip = tr("Some libraries learn a different vocabulary each time, even from the same words")
        self.library_twice = add(tr("Train &twice and compare"), tip)
        self.library_twice.setCheckable(True)
        tip = tr("Stop training with another library and discard the result")
        self.stop_library = add(tr("&Stop library training"), tip)

    def _make_run_actions(self) -> None:
        add, tr = self._action, self.tr
        self.next_run = add(tr("&Next run"), tr("Show the run in the next tab"), "Ctrl+Tab")
        self.previous_run = add(tr("&Previous run"), tr("Show the run in the previous tab"), "Ctrl+Shift+Tab")
        self._open.addSeparator()
        self.keep_run = add(tr("&Keep this run"), tr("Keep this preview as a run; the next change opens a new preview"))
        tip = tr("Show how this run tokenizes the live text, next to other runs")
        self.compare_run = add(tr("Co&mpare this run"), tip)
        self.compare_run.setCheckable(True)
        self.rename_run = add(tr("&Rename this run…"), tr("Rename the current run"))
        tip = tr("Reopen the corpus that this run was trained on")
        self.bring_text_back = add(tr("Re&store this run’s corpus"), tip)
        self.close_run = add(tr("&Close this run"), tr("Close the current run; Undo brings it back"), "Ctrl+W")
        tip = tr("Evaluate runs and other tokenizers on a text, such as held-out text")
        self.figures = add(tr("Run metr&ics"), tip)
        self._open.addSeparator()
        tip = tr("List the words that a compared run splits differently; repeat for the next run, then for all words")
        self.word_differences = add(tr("&Words split differently"), tip, "Ctrl+Shift+W")
        tip = tr("Show how many tokens the compared runs share, overall and among the first 100, 200 and so on")
        self.vocabulary_overlap = add(tr("Vocabulary &overlap"), tip)
        self._open.addSeparator()
        self.show_run = QActionGroup(self)
        for place in range(_RUN_KEYS):
            text = tr("Run {place}").format(place=place + 1)
            action = add(text, tr("Show the run in this tab"), f"Alt+{place + 1}")
            action.setData(place)
            self.show_run.addAction(action)

    # -- steps, marks, the selection

    def _make_step_actions(self) -> None:
        add, tr = self._action, self.tr
        # Left and Right belong to the text in a text field; the others work everywhere.
        tip = tr("Go one merge forward; at the last one, learn one more")
        self.next_merge = add(tr("&Next merge"), tip, "Alt+Right Right F10", "next")
        self.previous_merge = add(tr("Pre&vious merge"), tr("Go one merge back"), "Alt+Left Left Shift+F10", "previous")
        self.ten_on = add(tr("Ten merges &forward"), tr("Go ten merges forward"), "Alt+PgDown Shift+Right", "ten_on")
        self.ten_back = add(tr("&Ten merges back"), tr("Go ten merges back"), "Alt+PgUp Shift+Left", "ten_back")
        tip = tr("Step 0, before the first merge")
        self.first_merge = add(tr("Go to the b&eginning"), tip, "Alt+Home Home", "first")
        self.last_merge = add(tr("Go to the &last merge"), tr("The step after the last merge"), "Alt+End End", "last")
        self.go_to_step = add(tr("&Go to step…"), tr("Type the number of a step"), "Ctrl+G")
        self.play = add(tr("Pl&ay the merges"), tr("Show the merges one after another"), "F8", "play")
        self.play.setCheckable(True)
        self._open.addSeparator()
        tip = tr("Go to the next step that changes how the live text is tokenized")
        self.next_change = add(tr("Next &change to the text"), tip, "F9 Ctrl+Right", "next_change")
        tip = tr("Go to the previous step that changed how the live text is tokenized")
        self.previous_change = add(tr("Previous change to the te&xt"), tip, "Shift+F9 Ctrl+Left", "previous_change")
        tip = tr("Go to the first step at which a compared run merges a different pair; repeat for the next run")
        self.go_to_parting = add(tr("Go to where r&uns diverge"), tip, "Ctrl+Shift+G")
        tip = tr("Go to the next step that hits a breakpoint; continues training if needed")
        self.run_to_breakpoint = add(tr("&Run to the next breakpoint"), tip, "Ctrl+F8", "run")
        tip = tr("Go back to the previous step that hits a breakpoint")
        self.run_back = add(tr("Run bac&k to the previous breakpoint"), tip, "Ctrl+Shift+F8", "run_back")
        self.breakpoints = add(tr("&Breakpoints…"), tr("Choose where playing and running stop"), "Ctrl+B", "breakpoint")
        self._open.addSeparator()
        self.keep_step = add(tr("Bookmark this &step…"), tr("Bookmark this step, with a note"), "Ctrl+D", "keep")
        tip = tr("Keep showing how this step tokenizes the live text, next to the current step; repeat to stop")
        self.compare_step = add(tr("Co&mpare with this step"), tip, "Ctrl+Shift+M", "compare")
        tip = tr("Show the bookmarked steps and their notes")
        self.bookmarks = add(tr("B&ookmarks…"), tip, "Ctrl+Shift+D", "bookmarks")
        self._open.addSeparator()
        tip = tr("Go to the step that created the selected token")
        self.go_to_birth = add(tr("Go to the step t&hat created the token"), tip, "Ctrl+Shift+B")
        self.show_step_row = add(tr("Sho&w this step in the history"), tr("Scroll to the row of this step"), "Ctrl+J")
        self.clear_selection = add(tr("Clear the select&ion"), tr("Clear the selection in all panes"), "Esc")

    # -- the window

    def _make_view_actions(self) -> None:
        add, tr, standard = self._action, self.tr, QKeySequence.StandardKey
        self.layouts = QActionGroup(self)
        for layout, text, tip, key in (
            ("teach", tr("&Teaching"),
             tr("Layout for teaching: corpus, merge candidates, history and tokens"), "Ctrl+1"),
            ("engineer", tr("&Engineering"), tr("Layout for engineering: history, vocabulary and charts"), "Ctrl+2"),
            ("demo", tr("Prese&nting"),
             tr("Layout for presenting: full screen, large text; formula, tokens and timeline"), "Ctrl+3"),
        ):  # fmt: skip
            self._choice(self.layouts, layout, text, tip, key)
        self.layout_teach, self.layout_engineer, self.layout_demo = self.layouts.actions()
        self.reset_layout = add(tr("&Reset layout"), tr("Move all panes of this layout back to their default places"))
        self._open.addSeparator()
        self.panes_menu = self._open.addMenu(tr("&Panes"))
        with self._menu(tr("Text &size")):
            tip = tr("Zoom in: a larger font, readable from the back of the room")
            self.larger_text = add(tr("La&rger text"), tip, QKeySequence(standard.ZoomIn).toString() + " Ctrl+=")
            self.smaller_text = add(tr("S&maller text"), tr("Zoom out: a smaller font"), standard.ZoomOut)
            self.normal_text = add(tr("&Normal text"), tr("Back to the system’s text size"), "Ctrl+0")
            self._open.addSeparator()
            tip = tr("Zoom in on the focused pane only")
            self.larger_pane = add(tr("Larger text in this &pane"), tip, "Ctrl+Alt+= Ctrl+Alt++")
            tip = tr("Zoom out of the focused pane only")
            self.smaller_pane = add(tr("Smaller te&xt in this pane"), tip, "Ctrl+Alt+-")
            tip = tr("Show all panes in the window’s text size")
            self.normal_pane = add(tr("Normal text in &all panes"), tip, "Ctrl+Alt+0")
        with self._menu(tr("T&heme")):
            self.themes = QActionGroup(self)
            for theme, text in (
                ("system", tr("Same as the &system")),
                ("light", tr("&Light")),
                ("dark", tr("&Dark")),
                ("contrast", tr("&High contrast")),
            ):
                self._choice(self.themes, theme, text)
        self._open.addSeparator()
        tip = tr("Show only the focused pane; press Esc or use this command again to show the others")
        self.fill_pane = add(tr("Ma&ximize this pane"), tip, "F12")
        self.full_screen = add(tr("F&ull screen"), tr("Switch full screen on or off"), "F11")
        self.full_screen.setCheckable(True)

    def _make_help_actions(self) -> None:
        add, tr = self._action, self.tr
        tip = tr("Find any command, step, token, sample or file by name")
        self.command_palette = add(tr("Comman&d palette…"), tip, "Ctrl+K Ctrl+Shift+P")
        self.explain = add(tr("&Explain this"), tr("Show help for the item under the pointer or with the focus"), "F1")
        self.shortcuts = add(tr("&Keyboard shortcuts"), tr("Show all keyboard shortcuts"), "Shift+F1")
        self.last_messages = add(tr("Show recent &messages"), tr("Show recent messages"), "Ctrl+M", "info")
        self.last_messages.setIconText(tr("Messages"))
        self._open.addSeparator()
        self.pages = QActionGroup(self)
        for page in help_pages():
            self.pages.addAction(menu_text(page.title)).setData(page.path)
        self._open.addActions(self.pages.actions())
        self._open.addSeparator()
        tip = tr("Copy versions, settings and the end of the log to the clipboard")
        self.copy_diagnostics = add(tr("&Copy diagnostics"), tip)
        self.open_log_folder = add(tr("Open &log folder"), tr("Show the folder of the log file"))
        self._open.addSeparator()
        self.about = add(tr("&About WordPiece Studio"), tr("Show the version and the license"))
        self.about.setMenuRole(QAction.MenuRole.AboutRole)

    # -- making them

    @contextmanager
    def _menu(self, title: str) -> Iterator[None]:
        """Put what is made inside into a menu of its own."""
        around, self._open = self._open, self._open.addMenu(title)
        yield
        self._open = around

    def _action(self, text: str, tip: str, keys: str | QKeySequence.StandardKey = "", icon: str = "") -> QAction:
        """Return a command in the present menu; `keys`: a standard key, or keys between spaces."""
        action = QAction(text, self)
        sequences = keys.split() if isinstance(keys, str) else [keys]
        action.setShortcuts([QKeySequence(key) for key in sequences])
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        shown_key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        usual = tip or text.replace("&", "")
        self._tips[action] = f"{usual} ({shown_key})" if shown_key else usual
        set_plain_tooltip(action, self._tips[action])
        action.setStatusTip(tip)
        if icon:
            self._icons[action] = icon
        self._open.addAction(action)
        return action

    def _text_action(self, text: str, tip: str, key: QKeySequence.StandardKey) -> QAction:
        shown_key = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
        return self._action(f"{text}\t{shown_key}", tip)

    def _choice(self, group: QActionGroup, value: str, text: str, tip: str = "", keys: str = "") -> QAction:
        action = self._action(text, tip, keys)
        action.setCheckable(True)
        action.setData(value)
        group.addAction(action)
        return action

    def set_icon(self, action: QAction, name: str) -> None:
        """Give a command another icon."""
        if self._icons.get(action) != name:  # drawing it takes longer than all else that changes in a training
            self._icons[action] = name
            self._draw_icon(action)

    def _draw_icons(self) -> None:
        for action in self._icons:
            self._draw_icon(action)

    def _draw_icon(self, action: QAction) -> None:
        color = self._theme.accent_text if action is self.train else self._theme.text
        action.setIcon(icon(self._icons[action], color, self._theme.faint))


def _name_of(paths: Sequence[str]) -> str:
    name = Path(paths[0]).name
    if len(paths) == 1:
        return name
    others = len(paths) - 1
    return plural(others, "{name} and 1 more", "{name} and {count} more").format(name=name, count=number_text(others))


def _placed(action: QAction, path: str) -> Iterator[tuple[str, QAction]]:
    menu = action.menu()
    if isinstance(menu, QMenu):
        inner = f"{path} › {plain_title(action.text())}" if path else plain_title(action.text())
        for each in menu.actions():
            yield from _placed(each, inner)
    elif not action.isSeparator():
        yield path, action
