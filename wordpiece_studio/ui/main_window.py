"""The window: creates the panes, puts them in their places and connects them to the commands. It decides nothing.

The controllers carry out the commands: `training_controller`, `file_controller`, `step_controller`, `view_controller`,
`help_controller`.
"""

from __future__ import annotations

import logging
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QApplication, QMainWindow, QVBoxLayout, QWidget

from wordpiece_studio.session.project_state import ProjectState
from wordpiece_studio.session.records import TrainerState
from wordpiece_studio.session.session import Session
from wordpiece_studio.ui.actions import Actions
from wordpiece_studio.ui.controllers.chart_controller import ChartController
from wordpiece_studio.ui.controllers.disk_controller import DiskController
from wordpiece_studio.ui.controllers.edit_controller import EditController
from wordpiece_studio.ui.controllers.export_controller import ExportController
from wordpiece_studio.ui.controllers.file_controller import FileController
from wordpiece_studio.ui.controllers.help_controller import HelpController
from wordpiece_studio.ui.controllers.history_controller import HistoryController
from wordpiece_studio.ui.controllers.layout_controller import LayoutController
from wordpiece_studio.ui.controllers.marks_controller import MarksController
from wordpiece_studio.ui.controllers.palette_controller import PaletteController
from wordpiece_studio.ui.controllers.project_controller import ProjectController
from wordpiece_studio.ui.controllers.recovery_controller import RecoveryController, recovery_folder
from wordpiece_studio.ui.controllers.selection_controller import SelectionController
from wordpiece_studio.ui.controllers.step_controller import StepController
from wordpiece_studio.ui.controllers.training_controller import TrainingController
from wordpiece_studio.ui.controllers.view_controller import ViewController
from wordpiece_studio.ui.layouts.pane_zoom import PaneTheme, PaneZoom
from wordpiece_studio.ui.menus import Menus
from wordpiece_studio.ui.messages import Messages
from wordpiece_studio.ui.panes.charts.charts_pane import ChartsPane
from wordpiece_studio.ui.panes.corpus.corpus_editor import CorpusMarks
from wordpiece_studio.ui.panes.corpus.corpus_pane import CorpusPane
from wordpiece_studio.ui.panes.corpus.file_drops import FileDrops
from wordpiece_studio.ui.panes.corpus.samples import START_SAMPLE, SampleCorpus, first_sentence, samples
from wordpiece_studio.ui.panes.history.history_pane import HistoryPane
from wordpiece_studio.ui.panes.scoreboard.scoreboard_pane import ScoreboardPane
from wordpiece_studio.ui.panes.timeline.timeline_pane import TimelinePane
from wordpiece_studio.ui.panes.token_details.token_details_pane import TokenDetailsPane
from wordpiece_studio.ui.panes.tokenization.tokenization_pane import TokenizationPane
from wordpiece_studio.ui.panes.training_bar.training_bar import TrainingBar
from wordpiece_studio.ui.panes.vocabulary.vocabulary_pane import VocabularyPane
from wordpiece_studio.ui.widgets.banner import Banner
from wordpiece_studio.ui.widgets.dock_area import DockArea
from wordpiece_studio.ui.widgets.empty_state import EmptyState
from wordpiece_studio.ui.widgets.later import later
from wordpiece_studio.ui.widgets.panel import PanelDock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from PySide6.QtGui import QCloseEvent, QKeyEvent

    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.session.settings import SettingsStore
    from wordpiece_studio.ui.widgets.theme import Theme

_log = logging.getLogger(__name__)
_MARGIN = 10
_PATIENCE_MS = 500
_WARM_UP_DELAY_MS = 300  # after the first paint
PANES = ("corpus", "token_details", "scoreboard", "history", "vocabulary", "charts", "tokenization", "timeline")
_SAME_LINE = 12
"""Pixels: the height of a line, for the order in which Tab visits the controls."""
_START_STEP = 12
"""The step shown at first: a merge with a tie, with some merges before it and some still to come."""


class MainWindow(QMainWindow):
    """Everything that the user sees; see the module's docstring."""

    closed = Signal()
    """The window is closed for good, and nothing in it is running; it may never have been shown."""

    def __init__(self, settings: SettingsStore, theme: Theme) -> None:
        super().__init__()
        self.settings = settings
        self.session = session = Session(settings, self)
        self.project = ProjectState(session)
        self.model, self.player = session.model, session.player
        self.messages = Messages(self)
        self.actions_ = Actions(theme, self)
        self.bar = TrainingBar(session.settings, self.actions_, self)
        self.banner = Banner(theme, self)
        self.project_banner, self.disk_banner, self.export_banner = (Banner(theme, self) for _ in range(3))
        themes = self._pane_themes = {name: PaneTheme(theme, self) for name in PANES}
        self.corpus_pane = CorpusPane(session, self.actions_, themes["corpus"], self)
        usage, changes = session.usage, session.changes
        self.tokenization_pane = TokenizationPane(self.model, themes["tokenization"], self, changes=changes)
        self.scoreboard_pane = ScoreboardPane(self.model, themes["scoreboard"], self)
        self.history_pane = HistoryPane(self.model, themes["history"], self, changes=changes)
        self.vocabulary_pane = VocabularyPane(self.model, usage, themes["vocabulary"], self)
        self.token_details_pane = TokenDetailsPane(self.model, usage, themes["token_details"], self)
        self.charts_pane = ChartsPane(self.model, usage, changes, themes["charts"], self)
        self.timeline_pane = TimelinePane(
            self.model, self.actions_, session.marks, themes["timeline"], self, player=self.player, changes=changes
        )
        self.docks = DockArea(self)
        self.drops = FileDrops(self)
        self._is_leaving = False
        self._first_paths: Sequence[str | Path] = ()
        self._was_shown = False
        self._awaits_preview = False
        self._suggested_text = self.tokenization_pane.text
        self._put_together()
        self.menus = Menus(self.menuBar(), self.actions_, self.docks.toggles())
        self._make_controllers(theme)
        self._connect()
        self._restore()

    # -- start and end

    def open_first(self, paths: Sequence[str | Path] = ()) -> None:
        """Offer recovered work; if there is none, open these files and folders, or show the sample and train it."""
        self._first_paths = paths
        self.recovery.offer(self._open_first_paths)
        if self.settings.damage is not None:
            self.messages.show_error(self.settings.damage)

    def _open_first_paths(self) -> None:
        if self._first_paths:
            self.file_controller.open_paths(self._first_paths)
        else:
            self.file_controller.load_sample(START_SAMPLE)
            self.training_controller.train_unasked(_START_STEP)

    def show_soon(self) -> None:
        """Show the window once the sample is trained, so that it does not open empty, or else after a short wait."""
        self.model.state_changed.connect(self._on_model_first_state)
        later(self, _PATIENCE_MS, self._show_once)

    def _on_model_first_state(self, state: TrainerState) -> None:
        if state in (TrainerState.FINISHED, TrainerState.FAILED):
            self._show_once()

    def _show_once(self) -> None:
        if not self._was_shown and not self._is_leaving:
            self._was_shown = True
            self.model.state_changed.disconnect(self._on_model_first_state)
            self.show()
            self.view_controller.keep_on_screen()
            self.bar.focus_first()
            _log.info("the window is open, %s merges", self.model.merge_count)
            later(self, _WARM_UP_DELAY_MS, self.session.warm_up.start)

    def leave_at_once(self) -> None:
        """Close without asking."""
        self._is_leaving = True
        self.close()

    def shut_down(self) -> None:
        """Stop everything that is running and wait for it to end."""
        self.recovery.close()  # first: it records unsaved work, in case the user was not asked
        self.vocabulary_pane.close_jobs()
        self.history_controller.close()
        self.export_controller.close()
        self.corpus_pane.files_view.preview.close_job()
        self.scoreboard_pane.close_job()
        self.corpus_pane.lint_controller.close()
        self.project_controller.close()
        self.project.close()
        self.session.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self._is_leaving:
            if self.project_controller.must_ask():
                event.ignore()
                return
            self.recovery.keeper.forget()
        self._is_leaving = True
        self.view_controller.remember(self.player.speed)
        self.hide()  # jobs may take a moment to end, and no one should have to look at a frozen window
        self.shut_down()
        event.accept()
        self.closed.emit()

    # -- keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let the space bar pause and resume, or play and stop, unless a button or field takes it."""
        if event.key() == Qt.Key.Key_Space and not event.modifiers():
            state = self.model.state
            trains = state is TrainerState.TRAINING or (state is TrainerState.PAUSED and self.model.is_at_head)
            (self.actions_.pause if trains else self.actions_.play).trigger()
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, is_next: bool) -> bool:
        """Let Tab follow the reading order of what is shown now: panes create some controls when first shown."""
        _set_tab_order([self.bar, *self.docks.parts(), *self._banners()])
        return super().focusNextPrevChild(is_next)

    # -- construction

    def _put_together(self) -> None:
        docks = self.docks
        for name, title, pane in (
            ("corpus", self.tr("Corpus"), self.corpus_pane),
            ("token_details", self.tr("Token details"), self.token_details_pane),
            ("scoreboard", self.tr("Scoreboard"), self.scoreboard_pane),
            ("history", self.tr("Merge history"), self.history_pane),
            ("vocabulary", self.tr("Vocabulary"), self.vocabulary_pane),
            ("charts", self.tr("Charts"), self.charts_pane),
            ("tokenization", self.tr("Live tokenization"), self.tokenization_pane),
            ("timeline", self.tr("Timeline"), self.timeline_pane),
        ):
            docks.add_panel(PanelDock(name, title, pane))
        content = QWidget(self)
        layout = QVBoxLayout(content)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.bar)
        room = QVBoxLayout()
        room.setContentsMargins(_MARGIN, _MARGIN, _MARGIN, _MARGIN)
        room.setSpacing(_MARGIN - 2)
        room.addWidget(docks, 1)
        for banner in self._banners():
            room.addWidget(banner)  # at the bottom: a message must not move what the user reads or types in
        layout.addLayout(room, 1)
        self.setCentralWidget(content)

    def _banners(self) -> tuple[Banner, ...]:
        return self.disk_banner, self.project_banner, self.export_banner, self.banner

    def _make_controllers(self, theme: Theme) -> None:
        actions, model = self.actions_, self.model
        self.addActions(actions.all())
        for empty in self.findChildren(EmptyState):
            empty.offer(actions.train)
        self.training_controller = TrainingController(self, self.session, self.bar, self.banner, actions, theme)
        self.file_controller = FileController(self, self.session, actions, self.messages)
        self._make_project()
        capture = self.project.capture
        self.export_controller = ExportController(
            self, self.session.document, model, capture, actions, theme, self.messages, self.export_banner
        )
        self.corpus_marks = CorpusMarks(model, self.corpus_pane.editor, self)
        self.edit_controller = EditController(self, actions, self.menus.edit)
        self.selection_controller = SelectionController(self, model, self.vocabulary_pane, actions)
        self.step_controller = StepController(model, self.player, self.session.changes, actions, self)
        self.marks_controller = MarksController(
            self, model, self.player, self.session.marks, self.timeline_pane, actions, theme
        )
        self.history_controller = HistoryController(
            self, self.docks, model, self.history_pane, actions, self.settings, self.messages, capture
        )
        self.chart_controller = ChartController(self, model, self.charts_pane, actions, self.messages)
        self.zoom = PaneZoom(self, self.docks, theme, self._pane_themes, actions)
        self.layout_controller = LayoutController(
            self, self.docks, self.zoom, self.bar, theme, actions, self.settings, self.messages
        )
        self.view_controller = ViewController(
            self, self.layout_controller, theme, actions, self.settings, self.messages
        )
        self.palette_controller = PaletteController(self, model, self.docks, self.menus, actions, theme)
        self.help_controller = HelpController(self, self.menus, actions, theme, self.messages, self._described)

    def _make_project(self) -> None:
        session, files = self.session, self.file_controller
        self.project_controller = project = ProjectController(
            self, session, self.project, self.actions_, self.messages, self.project_banner
        )
        self.disk_controller = DiskController(self, session, self.actions_, self.disk_banner, self.messages)
        self.recovery = RecoveryController(
            self, session.document, self.project, self.messages, self.banner, recovery_folder()
        )
        files.set_guard(project.when_safe)
        files.replaced.connect(self.project.detach)
        files.new_begun.connect(self.project.clear)
        files.project_wanted.connect(project.open)
        files.text_saved.connect(self.disk_controller.note_written)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.applicationStateChanged.connect(session.watch.check)  # as when one comes back to the window

    def _connect(self) -> None:
        actions, document, pane = self.actions_, self.session.document, self.corpus_pane
        actions.quit.triggered.connect(self.close)
        actions.undo.triggered.connect(document.undo_stack.undo)
        actions.redo.triggered.connect(document.undo_stack.redo)
        document.undo_stack.canUndoChanged.connect(actions.undo.setEnabled)
        document.undo_stack.canRedoChanged.connect(actions.redo.setEnabled)
        actions.undo.setEnabled(False)
        actions.redo.setEnabled(False)
        actions.find.triggered.connect(pane.open_find_bar)
        actions.find_next.triggered.connect(pane.find_next)
        actions.find_previous.triggered.connect(pane.find_previous)
        self.menus.set_samples(samples())
        pane.set_samples_menu(self.menus.samples)
        self.menus.sample_chosen.connect(self.file_controller.open_sample)
        self.menus.recent_file_chosen.connect(self._on_recent_file_chosen)
        self.menus.recent.aboutToShow.connect(self._on_recent_menu_about_to_show)
        pane.editor.drops.files_dropped.connect(self.file_controller.open_paths)
        self.drops.files_dropped.connect(self.file_controller.open_paths)
        pane.files_view.list.drops.files_dropped.connect(self.file_controller.add_paths)
        pane.files_view.preview.text_shown.connect(self._on_preview_text_shown)
        self.file_controller.listing.progress_changed.connect(pane.counting_bar.show_listing)
        document.reset.connect(self._on_document_reset)
        pane.figures.name_refused.connect(self.messages.show_error)
        session, tokenization = self.session, self.tokenization_pane
        session.corpus_taken.connect(self._on_session_corpus_taken)
        session.live_text_changed.connect(tokenization.set_text)
        tokenization.text_changed.connect(session.set_live_text)
        session.set_live_text(tokenization.text)
        self.file_controller.sample_loaded.connect(self._on_sample_loaded)
        self.export_controller.saved.connect(self.model.note_saved)
        self.project_controller.agreed.connect(self.recovery.keeper.forget)
        self.project_controller.agreed.connect(self.leave_at_once)
        session.warm_up.status_changed.connect(self.training_controller.engine.take_status)
        session.warm_up.ready.connect(self._on_warm_up_ready)
        session.warm_up.failed.connect(self._on_warm_up_failed)
        self.step_controller.first_run_needed.connect(self.training_controller.learn_first_merge)
        self.step_controller.end_reached.connect(self.training_controller.say_end_reached)
        self.history_controller.exported.connect(self.banner.show_message)
        self.marks_controller.breakpoint_disabled.connect(self.banner.show_message)
        self.chart_controller.saved.connect(self.banner.show_message)

    def _restore(self) -> None:
        self.menus.set_recent_files(self.settings.values.recent_files)
        self.player.set_speed(self.settings.values.play_speed)
        self.view_controller.restore()

    def _on_session_corpus_taken(self) -> None:
        document = self.session.document
        self._awaits_preview = document.is_files
        if document.path is not None:
            self._suggest_text(first_sentence(document.text))

    def _on_document_reset(self) -> None:
        is_text = not self.session.document.is_files
        actions = self.actions_
        for action in (actions.find, actions.find_next, actions.find_previous, actions.save_corpus):
            action.setEnabled(is_text)
        self.docks.set_wide_left(not is_text)

    def _on_preview_text_shown(self, text: str) -> None:
        if self._awaits_preview:  # of the first file of a newly opened corpus
            self._awaits_preview = False
            self._suggest_text(first_sentence(text))

    def _on_sample_loaded(self, sample: SampleCorpus) -> None:
        self._suggest_text(sample.sentence)
        self.training_controller.train_unasked()

    def _suggest_text(self, text: str) -> None:
        """Suggest a text to tokenize, unless the user has typed one."""
        if text and self.tokenization_pane.text in (self._suggested_text, ""):
            self.tokenization_pane.set_text(text)
            self._suggested_text = text

    def _on_recent_file_chosen(self, paths: Sequence[str]) -> None:
        self.file_controller.open_paths(paths)

    def _on_recent_menu_about_to_show(self) -> None:
        self.menus.set_recent_files(self.settings.values.recent_files)

    def _on_warm_up_ready(self, _seconds: float) -> None:
        self.training_controller.memory.set_pace(self.session.warm_up.pace)

    def _on_warm_up_failed(self, error: StudioError) -> None:
        self.banner.show_message(str(error), "warning")

    def _described(self) -> object:
        """Return what the diagnostics say about settings and training; nothing from the corpus."""
        config = self.model.config
        return {
            "theme": self.settings.values.theme,
            "text": self.settings.values.font_scale,
            "train_as_you_type": self.settings.values.train_as_you_type,
            "training": config.to_dict() if config is not None else None,
            "state": self.model.state.value,
            "merges": self.model.merge_count,
            "step": self.model.step,
        }


def _set_tab_order(parts: Sequence[QWidget]) -> None:
    """Let Tab visit the controls of the first part, then those of the second, and so on.

    Within a part it goes line by line, from left to right, and finishes one group before the next. A part that is also
    inside a later part is visited where it is listed first.
    """
    order: list[QWidget] = []
    for part in parts:
        order += [control for control in _controls(part) if control not in order]
    for before, after in pairwise(order):
        QWidget.setTabOrder(before, after)


def _controls(part: QWidget) -> Iterator[QWidget]:
    """Yield what can have the focus inside a part; pop-up windows and the insides of controls are left out."""
    if _stops_at(part):
        yield part
    children = part.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    for child in sorted((child for child in children if not child.isWindow()), key=_place):
        yield from _controls(child)


def _place(widget: QWidget) -> tuple[int, int]:
    return widget.y() // _SAME_LINE, widget.x()


def _stops_at(widget: QWidget) -> bool:
    takes_tab = widget.focusPolicy().value & Qt.FocusPolicy.TabFocus.value
    return bool(takes_tab) and widget.focusProxy() is None
