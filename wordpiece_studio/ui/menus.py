"""The menu bar, built from the window's commands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QMenuBar

from wordpiece_studio.session.plural import plural
from wordpiece_studio.ui.dialogs.help_window import help_pages
from wordpiece_studio.ui.widgets.plain import menu_text, set_plain_tooltip
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wordpiece_studio.session.samples import SampleCorpus
    from wordpiece_studio.ui.actions import Actions


class Menus(QObject):
    """Fills `bar` and reports which sample, recent file or page of the help was chosen."""

    sample_chosen = Signal(object)
    """The file name of a sample corpus, a str."""
    recent_file_chosen = Signal(object)
    """The paths that were opened together before, a tuple of str."""
    help_page_chosen = Signal(object)
    """The page's path."""

    def __init__(self, bar: QMenuBar, actions: Actions, pane_toggles: Sequence[QAction]) -> None:
        super().__init__(bar)
        self._bar = bar
        self.samples = QMenu(self.tr("Sam&ple corpora"), bar)
        self.recent = QMenu(self.tr("Open &recent"), bar)
        self._add_file_menu(actions)
        self._add_edit_menu(actions)
        self._add_training_menu(actions)
        self._add_step_menu(actions)
        self._add_view_menu(actions, pane_toggles)
        self._add_help_menu(actions)
        self.set_recent_files([])

    def set_samples(self, samples: Sequence[SampleCorpus]) -> None:
        """Offer these samples."""
        self.samples.clear()
        for sample in samples:
            action = self.samples.addAction(menu_text(sample.title))
            action.setData(sample.name)
            action.triggered.connect(self._on_sample_triggered)

    def set_recent_files(self, opened: Sequence[Sequence[str]]) -> None:
        """Offer what was opened before, the latest first; each entry is the paths that were opened together."""
        self.recent.clear()
        for paths in opened:
            action = self.recent.addAction(menu_text(self._name_of(paths)))
            action.setData(tuple(paths))
            set_plain_tooltip(action, "\n".join(paths))
            action.triggered.connect(self._on_recent_triggered)
        self.recent.setToolTipsVisible(True)
        self.recent.setEnabled(bool(opened))

    def _name_of(self, paths: Sequence[str]) -> str:
        name = Path(paths[0]).name
        if len(paths) == 1:
            return name
        others = len(paths) - 1
        return plural(others, "{name} and 1 more", "{name} and {count} more").format(
            name=name, count=number_text(others)
        )

    def refresh(self) -> None:
        """Update what is otherwise updated only when its menu is opened."""
        for menu in (self.edit, self.recent):
            menu.aboutToShow.emit()

    def placed(self) -> list[tuple[str, QAction]]:
        """Return every command in menu order, with the names of the menus that it is in."""
        return [each for action in self._bar.actions() for each in _placed(action, "")]

    def _on_sample_triggered(self) -> None:
        self._emit_data(self.sample_chosen.emit)

    def _on_recent_triggered(self) -> None:
        self._emit_data(self.recent_file_chosen.emit)

    def _on_help_page_triggered(self) -> None:
        self._emit_data(self.help_page_chosen.emit)

    def _emit_data(self, emit: object) -> None:
        sender = self.sender()
        if isinstance(sender, QAction) and callable(emit):
            emit(sender.data())

    def _add_file_menu(self, actions: Actions) -> None:
        menu = self._bar.addMenu(self.tr("&File"))
        menu.addActions([actions.new_corpus, actions.open_file, actions.open_folder])
        menu.addMenu(self.recent)
        menu.addMenu(self.samples)
        menu.addSeparator()
        menu.addActions([actions.save_project, actions.save_project_as])
        menu.addSeparator()
        menu.addActions([actions.add_files, actions.add_folder, actions.locate_files, actions.save_corpus])
        menu.addSeparator()
        menu.addActions([actions.save_vocabulary, actions.export_history, actions.save_chart])
        menu.addSeparator()
        menu.addAction(actions.quit)

    def _add_edit_menu(self, actions: Actions) -> None:
        menu = self.edit = self._bar.addMenu(self.tr("&Edit"))
        menu.addActions([actions.undo, actions.redo])
        menu.addSeparator()
        menu.addActions([actions.cut, actions.copy, actions.paste, actions.select_all])
        menu.addSeparator()
        menu.addActions([actions.find, actions.find_next, actions.find_previous, actions.find_token])
        menu.addSeparator()
        menu.addAction(actions.type_live_text)

    def _add_training_menu(self, actions: Actions) -> None:
        menu = self._bar.addMenu(self.tr("&Training"))
        menu.addActions([actions.train, actions.train_further, actions.pause, actions.stop])
        submenu = menu.addMenu(self.tr("Train with &another library"))
        submenu.addActions(actions.library_trainers.actions())
        submenu.addSeparator()
        submenu.addActions([actions.library_twice, actions.stop_library])
        menu.addSeparator()
        runs = menu.addMenu(self.tr("&Runs"))
        runs.addActions([actions.next_run, actions.previous_run])
        runs.addSeparator()
        runs.addActions([actions.keep_run, actions.compare_run, actions.rename_run, actions.bring_text_back])
        runs.addActions([actions.close_run, actions.figures])
        runs.addSeparator()
        runs.addActions([actions.words_apart, actions.vocabulary_overlap])
        runs.addSeparator()
        runs.addActions(actions.show_run.actions())
        menu.addSeparator()
        objectives = menu.addMenu(self.tr("Ob&jective"))
        objectives.addActions(actions.objectives.actions())
        menu.addActions([actions.special_tokens, actions.longest_word, actions.train_as_you_type])

    def _add_step_menu(self, actions: Actions) -> None:
        menu = self._bar.addMenu(self.tr("&Step"))
        menu.addActions([actions.next_merge, actions.previous_merge, actions.ten_on, actions.ten_back])
        menu.addActions([actions.first_merge, actions.last_merge, actions.go_to_step, actions.play])
        menu.addSeparator()
        menu.addActions([actions.next_change, actions.previous_change, actions.go_to_parting])
        menu.addActions([actions.run_to_breakpoint, actions.run_back, actions.breakpoints])
        menu.addSeparator()
        menu.addActions([actions.keep_step, actions.compare_step, actions.bookmarks])
        menu.addSeparator()
        menu.addActions([actions.go_to_birth, actions.show_step_row, actions.clear_selection])

    def _add_view_menu(self, actions: Actions, pane_toggles: Sequence[QAction]) -> None:
        menu = self._bar.addMenu(self.tr("&View"))
        menu.addActions([*actions.layouts.actions(), actions.reset_layout])
        menu.addSeparator()
        panes = menu.addMenu(self.tr("&Panes"))
        panes.addActions(list(pane_toggles))
        text = menu.addMenu(self.tr("Text &size"))
        text.addActions([actions.larger_text, actions.smaller_text, actions.normal_text])
        text.addSeparator()
        text.addActions([actions.larger_pane, actions.smaller_pane, actions.normal_pane])
        themes = menu.addMenu(self.tr("T&heme"))
        themes.addActions(actions.themes.actions())
        menu.addSeparator()
        menu.addActions([actions.fill_pane, actions.full_screen])

    def _add_help_menu(self, actions: Actions) -> None:
        menu = self._bar.addMenu(self.tr("&Help"))
        menu.addActions([actions.command_palette, actions.explain, actions.shortcuts, actions.last_messages])
        menu.addSeparator()
        for page in help_pages():
            action = menu.addAction(menu_text(page.title))
            action.setData(page.path)
            action.triggered.connect(self._on_help_page_triggered)
        menu.addSeparator()
        menu.addActions([actions.copy_diagnostics, actions.open_log_folder])
        menu.addSeparator()
        menu.addAction(actions.about)


def plain_title(text: str) -> str:
    r"""Return the text of a command or menu without the mark of its mnemonic and without the key after it.

    >>> plain_title("Save &vocabulary…"), plain_title("R&&D"), plain_title("Cu&t\tCtrl+X")
    ('Save vocabulary…', 'R&D', 'Cut')
    """
    return re.sub(r"&(.)", r"\1", text.partition("\t")[0])


def _placed(action: QAction, path: str) -> Iterator[tuple[str, QAction]]:
    menu = action.menu()
    if isinstance(menu, QMenu):
        inner = f"{path} › {plain_title(action.text())}" if path else plain_title(action.text())
        for each in menu.actions():
            yield from _placed(each, inner)
    elif not action.isSeparator():
        yield path, action
