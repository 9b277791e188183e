"""Commands about runs: show another one, keep, rename and close it, and bring back the text that it was trained on."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from wordpiece_studio.session.project_state import Loss
from wordpiece_studio.session.run import TrainerState
from wordpiece_studio.session.tokenizer_figures import FiguresText
from wordpiece_studio.ui.dialogs.file_questions import place_dialog
from wordpiece_studio.ui.dialogs.overlap_window import OverlapWindow
from wordpiece_studio.ui.panes.corpus.corpus_pane import Face
from wordpiece_studio.ui.run_strip import RenameDialog
from wordpiece_studio.ui.widgets.plain import menu_text
from wordpiece_studio.ui.widgets.token_text import run_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QAction

    from wordpiece_studio.session.run import Run
    from wordpiece_studio.ui.controllers.project_controller import ProjectController
    from wordpiece_studio.ui.workspace import Workspace


class RunsController(QObject):
    """Connects the commands to the runs."""

    def __init__(self, window: Workspace, project: ProjectController) -> None:
        super().__init__(window)
        self._window = window
        self._project = project
        self._session = window.session
        self._runs = window.session.runs
        self._actions = actions = window.actions_
        runs, charts = self._runs, window.charts_pane
        actions.next_run.triggered.connect(lambda: runs.show_next())
        actions.previous_run.triggered.connect(lambda: runs.show_next(-1))
        actions.show_run.triggered.connect(self._show)
        for action, act in (
            (actions.keep_run, runs.keep),
            (actions.compare_run, lambda run: runs.set_compared(run, actions.compare_run.isChecked())),
            (actions.rename_run, self._ask_for_name),
            (actions.close_run, runs.close),
            (actions.bring_text_back, self._bring_text_back),
        ):
            action.triggered.connect(partial(self._act, act))
        actions.word_differences.triggered.connect(self._show_word_differences)
        actions.go_to_parting.triggered.connect(self._go_to_parting)
        actions.vocabulary_overlap.triggered.connect(self._show_overlap)
        actions.figures.triggered.connect(self._show_figures)
        window.run_strip.tabs.rename_wanted.connect(self._ask_for_name)
        charts.files_requested.connect(self._ask_for_texts)
        charts.tokenizers_requested.connect(self._ask_for_tokenizers)
        self._runs.chosen.connect(self._on_runs_chosen)
        self.overlap: OverlapWindow | None = None
        """The window about the vocabularies, if it was ever opened."""
        self._comparison = window.session.comparison
        self._comparison.changed.connect(self._enable)
        self._enable()

    def _show(self, action: QAction) -> None:
        place = action.data()
        if place < len(self._runs.all):
            self._runs.show(self._runs.all[place])

    def _act(self, act: Callable[[Run], None], _is_checked: bool = False) -> None:
        """Do something to the run that is shown."""
        if self._runs.current is not None:
            act(self._runs.current)

    def _ask_for_name(self, run: Run) -> None:
        dialog = RenameDialog(run.letter, run.name, self._window)
        dialog.text_chosen.connect(partial(self._runs.rename, run))
        dialog.open()

    def _show_word_differences(self) -> None:
        self._window.docks.bring("corpus")
        self._window.corpus_pane.show_face(Face.WORDS)
        self._window.corpus_pane.words_face.choose_next()

    def _go_to_parting(self) -> None:
        self._window.docks.bring("timeline")
        self._window.timeline_pane.go_to_parting()

    def _show_overlap(self) -> None:
        if self.overlap is None:
            self.overlap = OverlapWindow(self._session, self._window)
        self.overlap.begin()

    def _bring_text_back(self, run: Run) -> None:
        """Show the text of the run; where it is an earlier state of the present one, as an edit that can be undone."""
        corpus = run.origin.corpus
        if corpus is None:
            return
        document = self._session.document
        is_earlier = not self._session.changes_since_run().is_other_corpus and not document.is_files
        if is_earlier and corpus.text is not None and not document.is_folded:
            # The text of a sample's or a saved run in place of another unedited one loses nothing.
            is_edit = document.is_modified or corpus.is_edited or run.is_unsaved or document.path is not None
            document.set_text(corpus.text)
            if not is_edit:
                document.note_saved()
            self._session.note_text_of(run)
        else:
            self._project.when_safe(partial(self._bring_back, run), Loss.CORPUS)

    def _bring_back(self, run: Run) -> None:
        self._window.project.detach()
        self._session.bring_back(run)

    # The figures.

    def _show_figures(self) -> None:
        self._window.docks.bring("charts")
        self._window.charts_pane.show_figures()

    def _ask_for_texts(self) -> None:
        dialog = self._ask_for_files(self.tr("Choose files to measure, such as one per language"))
        dialog.filesSelected.connect(self._measure_on)

    def _ask_for_tokenizers(self) -> None:
        title = self.tr("Add tokenizers: tokenizer.json, vocab.txt, vocab.json or a SentencePiece .model")
        self._ask_for_files(title).filesSelected.connect(self._session.figures.open)

    def _ask_for_files(self, title: str) -> QFileDialog:
        dialog = place_dialog(self._window, title, QFileDialog.AcceptMode.AcceptOpen, None)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.open()
        return dialog

    def _measure_on(self, paths: list[str]) -> None:
        self._session.figures.measure_on(FiguresText("files", tuple(dict.fromkeys(paths))))

    def _on_runs_chosen(self, _run: Run) -> None:
        left = self._runs.current
        if left is not None and left.stop_reason is None and self._session.model.state is TrainerState.TRAINING:
            words = self.tr("Training of run {letter} is paused. Switch back to the run to resume it.")
            self._window.notices.training.show_message(words.format(letter=left.letter))

    def _enable(self) -> None:
        runs, current = self._runs.all, self._runs.current
        for action in (self._actions.next_run, self._actions.previous_run):
            action.setEnabled(len(runs) > 1)
        for action in (self._actions.compare_run, self._actions.rename_run, self._actions.close_run):
            action.setEnabled(current is not None)
        self._actions.go_to_parting.setEnabled(bool(self._comparison.others))
        for action in (self._actions.word_differences, self._actions.vocabulary_overlap):
            action.setEnabled(bool(self._comparison.beside()))
        self._actions.compare_run.setChecked(current is not None and current.is_compared)
        self._actions.keep_run.setEnabled(current is not None and not current.is_kept)
        names = run_names(runs)
        for place, action in enumerate(self._actions.show_run.actions()):
            action.setVisible(place < len(runs))
            if place < len(runs):
                action.setText(menu_text(f"{runs[place].letter}  {names[place]}"))
