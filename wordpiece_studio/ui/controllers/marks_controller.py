"""Commands that mark steps and go to marks: breakpoints, markers and bookmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.ui.actions import ActionReasons
from wordpiece_studio.ui.panes.timeline.bookmarks_dialog import BookmarksDialog, KeepDialog
from wordpiece_studio.ui.panes.timeline.breakpoint_editor import BreakpointEditor
from wordpiece_studio.ui.panes.timeline.mark_words import halt_words, hit_words, merge_words
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.session.breakpoint_watch import Hit
    from wordpiece_studio.session.player import Player
    from wordpiece_studio.session.step_marks import Bookmark, MarkerName, StepMarks
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.panes.timeline.timeline_pane import TimelinePane
    from wordpiece_studio.ui.widgets.theme import Theme


class MarksController(QObject):
    """Connects the commands to the marks.

    Signals
    -------
    breakpoint_hit(str)
        Playing or running has halted; a sentence says where and why.
    breakpoint_disabled(str)
        A breakpoint was switched off; a sentence says why.
    """

    breakpoint_hit = Signal(object)
    breakpoint_disabled = Signal(object)

    def __init__(
        self, window: QWidget, model: TrainerModel, player: Player, marks: StepMarks, pane: TimelinePane,
        actions: Actions, theme: Theme,
    ) -> None:  # fmt: skip
        super().__init__(window)
        self._window = window
        self._model = model
        self._player = player
        self._marks = marks
        self._pane = pane
        self._actions = actions
        self._theme = theme
        self._reasons = ActionReasons(actions)
        self._editor: BreakpointEditor | None = None
        self._bookmarks: BookmarksDialog | None = None
        self._kept_step = 0
        self._connect()
        self._enable()

    @property
    def editor(self) -> BreakpointEditor | None:
        """The breakpoint editor, if it was ever opened."""
        return self._editor

    @property
    def bookmarks(self) -> BookmarksDialog | None:
        """The bookmarks window, if it was ever opened."""
        return self._bookmarks

    def _connect(self) -> None:
        actions, model, marks = self._actions, self._model, self._marks
        actions.breakpoints.triggered.connect(self._on_breakpoints_triggered)
        actions.run_to_breakpoint.triggered.connect(self._on_run_triggered)
        actions.run_back.triggered.connect(self._on_run_back_triggered)
        actions.set_marker_a.triggered.connect(self._on_set_marker_a_triggered)
        actions.set_marker_b.triggered.connect(self._on_set_marker_b_triggered)
        actions.go_to_marker_a.triggered.connect(self._on_go_to_marker_a_triggered)
        actions.go_to_marker_b.triggered.connect(self._on_go_to_marker_b_triggered)
        actions.keep_step.triggered.connect(self._on_keep_triggered)
        actions.bookmarks.triggered.connect(self._on_bookmarks_triggered)
        self._player.halted.connect(self._on_halted)
        marks.run.halted.connect(self._on_halted)
        marks.run.ended.connect(self._on_run_ended)
        marks.run.waiting_changed.connect(self._on_something_changed)
        marks.watch.changed.connect(self._enable)
        marks.watch.faulted.connect(self._on_watch_faulted)
        marks.markers.changed.connect(self._enable)
        model.step_changed.connect(self._on_something_changed)
        model.state_changed.connect(self._on_something_changed)
        model.run_reset.connect(self._enable)

    # -- breakpoints

    def _on_breakpoints_triggered(self) -> None:
        if self._editor is None:
            self._editor = BreakpointEditor(self._marks, self._window)
        self._editor.begin()

    def _on_run_triggered(self) -> None:
        self._player.stop()
        self._marks.run.run()

    def _on_run_back_triggered(self) -> None:
        self._player.stop()
        self._marks.run.run_back()

    def _on_halted(self, hit: Hit) -> None:
        history = self._model.history
        if history is not None:
            self._pane.say_here(hit_words(hit, history))
            self.breakpoint_hit.emit(halt_words(hit, history))

    def _on_run_ended(self) -> None:
        self._pane.say_here(self.tr("no further breakpoint is hit"))

    def _on_watch_faulted(self, _breakpoint: object, error: StudioError) -> None:
        self.breakpoint_disabled.emit(self.tr("A breakpoint was switched off. {why}").format(why=error))

    # -- markers

    def _on_set_marker_a_triggered(self) -> None:
        self._marks.markers.toggle("A")

    def _on_set_marker_b_triggered(self) -> None:
        self._marks.markers.toggle("B")

    def _on_go_to_marker_a_triggered(self) -> None:
        self._go_to_marker("A")

    def _on_go_to_marker_b_triggered(self) -> None:
        self._go_to_marker("B")

    def _go_to_marker(self, name: MarkerName) -> None:
        step = self._marks.markers.step(name)
        if step is not None:
            self._player.stop()
            self._model.seek(step)

    # -- the bookmarks

    def _on_keep_triggered(self) -> None:
        self._player.stop()
        model = self._model
        where = self.tr("Step {step}").format(step=number_text(model.step))
        self._kept_step = model.step  # a running training may go on meanwhile
        dialog = KeepDialog(where, merge_words(model.step, model.history), self._window)
        dialog.text_chosen.connect(self._on_keep_text_chosen)
        dialog.open()

    def _on_keep_text_chosen(self, text: str) -> None:
        step = min(self._kept_step, self._model.merge_count)
        row = self._marks.bookmarks.keep(text or merge_words(step, self._model.history), step)
        if self._bookmarks is not None:
            self._bookmarks.select_row(row)

    def _on_bookmarks_triggered(self) -> None:
        if self._bookmarks is None:
            self._bookmarks = BookmarksDialog(self._marks.bookmarks, self._actions, self._theme, self._window)
            self._bookmarks.note_chosen.connect(self._on_bookmarks_note_chosen)
        self._bookmarks.begin()

    def _on_bookmarks_note_chosen(self, note: Bookmark) -> None:
        self._player.stop()
        self._model.seek(note.step)

    # -- what can be done now

    def _on_something_changed(self, _value: object) -> None:
        self._enable()

    def _enable(self) -> None:
        model, marks, actions, set_reason = self._model, self._marks, self._actions, self._reasons.set_reason
        no_run = "" if model.history is not None else self.tr("Nothing has been trained yet")
        no_breakpoint = "" if marks.watch.is_set else self.tr("No breakpoint is set")
        runs = self.tr("Already running: pause the training to stop") if marks.run.is_waiting else ""
        set_reason(actions.run_to_breakpoint, no_run or no_breakpoint or runs)
        has_before = marks.watch.is_set and marks.watch.previous_hit(model.step) is not None
        none_before = "" if has_before else self.tr("No breakpoint is hit before this step")
        set_reason(actions.run_back, no_run or no_breakpoint or none_before)
        for action in (actions.set_marker_a, actions.set_marker_b, actions.keep_step):
            set_reason(action, no_run)
        for action, step in (
            (actions.go_to_marker_a, marks.markers.a),
            (actions.go_to_marker_b, marks.markers.b),
        ):
            set_reason(action, "" if step is not None else self.tr("This marker is not set"))
