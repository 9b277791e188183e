"""The window: gives the commands of a workspace their controllers, opens what is shown first, and ends everything."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, Qt, Signal
from PySide6.QtGui import QAction, QCloseEvent, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QMenu

from wordpiece_studio.session.samples import START_SAMPLE
from wordpiece_studio.session.task import later
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.ui.actions import Menu, command, tr
from wordpiece_studio.ui.controllers.corpus_controller import CorpusController, CorpusOnDisk
from wordpiece_studio.ui.controllers.export_controller import ExportController, HistoryExport, VocabularyExport
from wordpiece_studio.ui.controllers.help_controller import HelpController
from wordpiece_studio.ui.controllers.lesson_controller import LessonController
from wordpiece_studio.ui.controllers.prediction_controller import PredictionController
from wordpiece_studio.ui.controllers.presenting_controller import PresentingController
from wordpiece_studio.ui.controllers.project_controller import ProjectController, RecoveryController
from wordpiece_studio.ui.controllers.rules_controller import RulesController
from wordpiece_studio.ui.controllers.runs_controller import RunsController
from wordpiece_studio.ui.controllers.step_controller import StepController
from wordpiece_studio.ui.controllers.training_controller import LibraryController, TrainingController
from wordpiece_studio.ui.controllers.view_controller import ViewController
from wordpiece_studio.ui.controllers.vocabulary_controller import VocabularyController
from wordpiece_studio.ui.widgets.chips import ChipArea
from wordpiece_studio.ui.widgets.table import TableView
from wordpiece_studio.ui.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wordpiece_studio.session.settings import SettingsStore
    from wordpiece_studio.ui.widgets.theme import Theme

_log = logging.getLogger(__name__)
_COMMANDS_OF = (
    TrainingController, ProjectController, RunsController, LibraryController, CorpusController, CorpusOnDisk,
    VocabularyExport, HistoryExport, ExportController, StepController, RulesController, ViewController, HelpController,
    VocabularyController, PresentingController, LessonController, PredictionController,
)  # fmt: skip
_START_STEP = 12  # the step shown at first: a merge with a tie, with some merges before it and some still to come


class MainWindow(Workspace):
    closed = Signal()  # for good, and nothing in it is running

    def __init__(self, settings: SettingsStore, theme: Theme) -> None:
        super().__init__(settings, theme, (MainWindow, *_COMMANDS_OF))
        self._is_leaving = False
        self._was_shown = False
        self.training_controller = training = TrainingController(self)
        self.project_controller = project = ProjectController(self)
        self.recovery = RecoveryController(self)
        self.runs_controller = RunsController(self, project)
        self.library_controller = LibraryController(self)
        self.corpus_controller = CorpusController(self, project)
        self.export_controller = ExportController(self)
        self.step_controller = StepController(self, training)
        self.rules_controller = RulesController(self, training)
        self.view_controller = ViewController(self)
        self.lesson_controller = LessonController(self, self.view_controller)
        self.corpus_controller.lesson_found.connect(self.lesson_controller.open_lesson)
        self.help_controller = HelpController(self)
        self.vocabulary_controller = VocabularyController(self)
        self.presenting_controller = PresentingController(self)
        self.prediction_controller = PredictionController(self)
        self.actions_.bind(self)
        self.actions_.place(self, *self._menus())
        self.corpus_pane.set_samples_menu(self.actions_.menu("open_sample"))
        self.actions_.give_menu(self.corpus_pane.editor, "undo redo", "cut copy paste select_all", "look_up_word")
        about_selection = (
            "copy", "show_in_vocabulary go_to_birth switch_breakpoint", "keep_step compare_step",
            "merge_instead forbid_token forbid_pair require_token",
        )  # fmt: skip
        for pane in (
            self.token_details_pane, self.scoreboard_pane, self.history_pane, self.vocabulary_pane,
            self.tokenization_pane, self.corpus_pane.words_tab,
        ):  # fmt: skip
            for part in (*pane.findChildren(TableView), *pane.findChildren(ChipArea)):
                if not self.scoreboard_pane.prediction_view.isAncestorOf(part):  # whose rows are answers
                    self.actions_.give_menu(part, *about_selection)
        self.actions_.give_menu(self.timeline_pane.plot, "keep_step compare_step", "show_step_row bookmarks")
        for menu in self.findChildren(QMenu):  # which get no keys of the window
            QShortcut(self.actions_.explain.shortcut(), menu, self.actions_.explain.trigger)
        self.export_controller.vocabulary.saved.connect(self._on_vocabulary_saved)
        project.agreed.connect(self._on_project_agreed)
        self.player.set_speed(settings.values.play_speed)
        self.view_controller.restore()

    def _menus(self) -> tuple[Menu, ...]:
        tr = self.tr
        return (
            Menu(
                tr("&File"),
                ["edit-corpus: new_corpus corpora: open_file open_folder",
                 Menu(tr("Open &recent"), "open_recent", shows_tips=True), Menu(tr("Sam&ple corpora"), "open_sample")],
                "project: save_project save_project_as",
                "edit-corpus: add_files add_folder locate_files save_corpus",
                "export: save_vocabulary export_size export-history: export_history compare: export_comparison "
                "read-charts: save_chart",
                "restore: quit",
            ),
            Menu(
                tr("&Edit"),
                "undo redo",
                "cut copy paste select_all",
                "look-into-token: show_in_vocabulary go_to_birth breakpoint: switch_breakpoint "
                "selection: clear_selection",
                "edit-corpus: find find_next find_previous look_up_word search-vocabulary: find_token",
                "edit-corpus: add_text watch-text: type_live_text",
            ),
            Menu(
                tr("&Training"),
                ["runs: train train_further continue_on_text pause stop another-library:",
                 Menu(tr("Train with &another library"), "train_with_library", "library_twice stop_library")],
                ["runs:", Menu(
                    tr("&Runs"),
                    "next_run previous_run",
                    "keep_run run_of_size rename_run bring_text_back close_run",
                    "compare: compare_runs which-is-better: figures compare: word_differences vocabulary_overlap "
                    "divergences",
                    "runs: show_run",
                )],
                ["objective:", Menu(tr("Ob&jective"), "choose_objective"),
                 "special-token: special_tokens word: longest_word preview: train_as_you_type"],
                "what-if: merge_instead forbid_token forbid_pair require_token",
                "check: check_tokenizer extend: extend_vocabulary prune: prune_vocabulary",
            ),
            Menu(
                tr("&Step"),
                ["go-to-step: next_merge previous_merge ten_on ten_back first_merge last_merge go_to_step play",
                 Menu(tr("Play&back speed"), "choose_speed"), "show_after"],
                "changes: next_change previous_change breakpoint: run_to_breakpoint run_back",
                ["bookmark: keep_step compare_step bookmarks",
                 Menu(tr("Go t&hrough bookmarks"), "next_bookmark previous_bookmark return_from_bookmark")],
                ["predict:", Menu(tr("Pred&iction"), ["predict predict_split reveal",
                                                     Menu(tr("Predict as an &exercise"), "choose_exercise"),
                                                     "save_predictions"])],
                ["search-history: show_step_row read-code:",
                 Menu(tr("Code and &phases"), "next_phase previous_phase copy_program")],
            ),
            Menu(
                tr("&View"),
                "layout: choose_layout reset_layout",
                [Menu(tr("&Panes"), [panel.toggle_action for panel in self.docks.panels.values()]),
                 Menu(tr("Text &size"), "larger_text smaller_text normal_text"),
                 Menu(tr("T&heme"), "choose_theme"),
                 Menu(tr("Presentin&g"), "presenting: forward backward blank_screen", "animate_merges")],
                "fill_pane full_screen",
            ),
            Menu(
                tr("&Help"),
                "command_palette explain shortcuts last_messages",
                [Menu(tr("Lesso&ns"), "open_lesson"),
                 Menu(tr("Lesson pa&ge"), "lesson_next lesson_back lesson_check lesson_show lesson_leave")],
                "show_page",
                "copy_diagnostics open_log_folder",
                "about",
            ),
        )  # fmt: skip

    # -- the start

    def open_first(self, paths: Sequence[str | Path] = ()) -> None:
        """Offer recovered work; if there is none, open these files and folders, or show a sample."""
        self.recovery.offer(partial(self._open_first, paths))
        if self.settings.damage is not None:
            self.messages.show_error(self.settings.damage)

    def _open_first(self, paths: Sequence[str | Path]) -> None:
        if paths:
            self.corpus_controller.open_paths(paths)
        else:
            self.corpus_controller.load_sample(START_SAMPLE)
            self.model.seek(_START_STEP)

    def show_soon(self) -> None:
        """Show the window at once with the sample, else after a short wait, so that it does not open empty."""
        if self.model.state is TrainerState.FINISHED:
            self._show_once()
        else:
            self.model.state_changed.connect(lambda: self._show_once())
            later(self, 500, self._show_once)

    def _show_once(self) -> None:
        if not self._was_shown and not self._is_leaving:
            self._was_shown = True
            self.show()
            self.view_controller.keep_on_screen()
            self.bar.buttons.train.setFocus()
            self.lesson_controller.offer()
            _log.info("the window is open, %s merges", self.model.merge_count)
            later(self, 300, self.session.warm_up.ask)  # after the first paint

    # -- the end

    @command(tr("&Quit"), tr("Exit WordPiece Studio"), "Ctrl+Q", role=QAction.MenuRole.QuitRole)
    def quit(self) -> None:
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self._is_leaving:
            if self.project_controller.must_ask():
                event.ignore()
                return
            self.recovery.keeper.forget()
        self._is_leaving = True
        self.view_controller.remember(self.player.speed)
        self.hide()  # jobs may take a moment to end, and no one should have to look at a frozen window
        self._end_jobs()
        event.accept()
        self.closed.emit()

    def _on_vocabulary_saved(self) -> None:
        if self.model.run is not None:
            self.session.runs.keep(self.model.run)
        self.model.note_saved()

    def _on_project_agreed(self) -> None:
        self.recovery.keeper.forget()
        self.leave_at_once()

    def leave_at_once(self) -> None:
        self._is_leaving = True
        self.close()

    def take_down(self) -> None:
        """End everything and delete the window: nothing of Qt may be alive when the interpreter ends."""
        self._end_jobs()
        self.hide()
        self.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        QCoreApplication.processEvents()

    def _end_jobs(self) -> None:
        self.recovery.close()  # first: it records unsaved work, in case the user was not asked
        for pane in self.panes():
            pane.close_jobs()
        controllers = (
            self.lesson_controller,
            self.vocabulary_controller,
            self.export_controller,
            self.project_controller,
        )
        for part in (*controllers, self.session):
            part.close()

    # -- keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let the space bar pause and resume, or play and stop, unless a button or field takes it."""
        if event.key() == Qt.Key.Key_Space and not event.modifiers():
            state = self.model.state
            trains = state is TrainerState.TRAINING or (state is TrainerState.PAUSED and self.model.is_at_head)
            (self.actions_.pause if trains else self.actions_.play).trigger()
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.actions_.copy.trigger()  # a field or a table has taken the key, if it has the focus
        else:
            super().keyPressEvent(event)
