"""The menu bar, put together from the window's commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QMenuBar

from wordpiece_studio.ui.look.plain import menu_text, set_plain_tooltip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.ui.actions.actions import Actions
    from wordpiece_studio.ui.corpus.samples import Sample


class Menus(QObject):
    """Fills `bar` and says which sample or recent file was chosen."""

    sample_chosen = Signal(object)
    """The file name of a sample corpus, a str."""
    recent_file_chosen = Signal(object)
    """The path of a file opened before, a str."""

    def __init__(self, bar: QMenuBar, actions: Actions, pane_toggles: Sequence[QAction]) -> None:
        super().__init__(bar)
        self._bar = bar
        self.samples = QMenu(self.tr("S&ample corpora"), bar)
        self.recent = QMenu(self.tr("Open &recent"), bar)
        self._add_file_menu(actions)
        self._add_edit_menu(actions)
        self._add_training_menu(actions)
        self._add_view_menu(actions, pane_toggles)
        self._add_help_menu(actions)
        self.set_recent_files([])

    def set_samples(self, samples: Sequence[Sample]) -> None:
        """Offer these samples."""
        self.samples.clear()
        for sample in samples:
            action = self.samples.addAction(menu_text(sample.title))
            action.setData(sample.name)
            action.triggered.connect(self._on_sample_triggered)

    def set_recent_files(self, paths: Sequence[str]) -> None:
        """Offer these files, the latest first."""
        self.recent.clear()
        for path in paths:
            action = self.recent.addAction(menu_text(Path(path).name))
            action.setData(path)
            set_plain_tooltip(action, path)
            action.triggered.connect(self._on_recent_triggered)
        self.recent.setToolTipsVisible(True)
        self.recent.setEnabled(bool(paths))

    def _on_sample_triggered(self) -> None:
        self._emit_data(self.sample_chosen.emit)

    def _on_recent_triggered(self) -> None:
        self._emit_data(self.recent_file_chosen.emit)

    def _emit_data(self, emit: object) -> None:
        sender = self.sender()
        if isinstance(sender, QAction) and callable(emit):
            emit(sender.data())

    def _add_file_menu(self, actions: Actions) -> None:
        menu = self._bar.addMenu(self.tr("&File"))
        menu.addActions([actions.new_corpus, actions.open_file, actions.open_folder])
        menu.addMenu(self.samples)
        menu.addMenu(self.recent)
        menu.addActions([actions.add_files, actions.add_folder])
        menu.addSeparator()
        menu.addActions([actions.save_vocabulary, actions.save_corpus])
        menu.addSeparator()
        menu.addAction(actions.quit)

    def _add_edit_menu(self, actions: Actions) -> None:
        menu = self.edit = self._bar.addMenu(self.tr("&Edit"))
        menu.addActions([actions.undo, actions.redo])
        menu.addSeparator()
        menu.addActions([actions.cut, actions.copy, actions.paste, actions.select_all])
        menu.addSeparator()
        menu.addActions([actions.find, actions.find_next, actions.find_previous])

    def _add_training_menu(self, actions: Actions) -> None:
        menu = self._bar.addMenu(self.tr("&Training"))
        menu.addActions([actions.train, actions.train_further, actions.pause, actions.stop])
        menu.addSeparator()
        menu.addActions([actions.next_merge, actions.previous_merge, actions.first_merge, actions.last_merge])
        menu.addAction(actions.play)
        menu.addSeparator()
        menu.addActions([actions.special_tokens, actions.train_as_you_type])

    def _add_view_menu(self, actions: Actions, pane_toggles: Sequence[QAction]) -> None:
        menu = self._bar.addMenu(self.tr("&View"))
        themes = menu.addMenu(self.tr("&Theme"))
        themes.addActions(actions.themes.actions())
        menu.addActions([actions.larger_text, actions.smaller_text, actions.normal_text])
        menu.addSeparator()
        menu.addActions(list(pane_toggles))
        menu.addAction(actions.reset_layout)

    def _add_help_menu(self, actions: Actions) -> None:
        menu = self._bar.addMenu(self.tr("&Help"))
        menu.addActions([actions.shortcuts, actions.copy_diagnostics, actions.open_log_folder])
        menu.addSeparator()
        menu.addAction(actions.about)
