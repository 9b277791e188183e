"""Commands that move between steps and mark them: next, previous, play, breakpoints, bookmarks, the selection.

They act on the model and the player, and each says why it is not available.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from wordpiece_studio.session.breakpoints import id_of_token
from wordpiece_studio.session.run import TrainerState
from wordpiece_studio.session.step_marks import one_line
from wordpiece_studio.ui.panes.timeline.marks_dialogs import BookmarksDialog, BreakpointEditor, KeepDialog
from wordpiece_studio.ui.panes.timeline.timeline_marks import hit_words, merge_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.session.breakpoints import Hit
    from wordpiece_studio.ui.controllers.training_controller import TrainingController
    from wordpiece_studio.ui.workspace import Workspace

_MANY = 10


class StepController(QObject):
    """Connects the commands to the model, the player and the marks, and says when there is nothing to move to."""

    def __init__(self, window: Workspace, training: TrainingController) -> None:
        super().__init__(window)
        self._window = window
        self._training = training
        self._model = window.session.model
        self._player = window.session.player
        self._marks = window.session.marks
        self._changes = window.session.changes
        self._actions = window.actions_
        self._pane = window.timeline_pane
        self.editor: BreakpointEditor | None = None  # once it was opened
        self.bookmarks: BookmarksDialog | None = None
        self._connect_moves()
        self._connect_marks()
        self._connect_session()
        self._enable()
        self._enable_selection()

    def _connect_moves(self) -> None:
        actions, model, changes = self._actions, self._model, self._changes
        actions.next_merge.triggered.connect(self._go_on)
        actions.previous_merge.triggered.connect(lambda: self._move(model.previous_merge))
        actions.first_merge.triggered.connect(lambda: self._move(model.first))
        actions.last_merge.triggered.connect(lambda: self._move(model.last))
        actions.ten_on.triggered.connect(lambda: self._seek(model.step + _MANY))
        actions.ten_back.triggered.connect(lambda: self._seek(model.step - _MANY))
        actions.next_change.triggered.connect(lambda: self._seek(changes.next_after(model.step)))
        actions.previous_change.triggered.connect(lambda: self._seek(changes.previous_before(model.step)))
        actions.play.triggered.connect(self._play)
        actions.go_to_birth.triggered.connect(self._go_to_birth)
        actions.clear_selection.triggered.connect(lambda: model.set_selection(None))

    def _connect_marks(self) -> None:
        actions, run = self._actions, self._marks.run
        actions.breakpoints.triggered.connect(self._edit_breakpoints)
        actions.run_to_breakpoint.triggered.connect(lambda: self._move(run.run))
        actions.run_back.triggered.connect(lambda: self._move(run.run_back))
        actions.keep_step.triggered.connect(self._keep_step)
        actions.compare_step.triggered.connect(self._compare_step)
        actions.bookmarks.triggered.connect(self._show_bookmarks)

    def _connect_session(self) -> None:
        model, player, marks = self._model, self._player, self._marks
        for changed in (
            model.step_changed, model.state_changed, model.run_reset, marks.run.waiting_changed, marks.watch.changed,
        ):  # fmt: skip
            changed.connect(self._enable)
        for changed in (model.merges_appended, self._changes.changed):
            changed.connect(self._enable_moves)
        player.playing_changed.connect(self._actions.play.setChecked)
        player.halted.connect(self._on_halted)
        marks.run.halted.connect(self._on_halted)
        marks.run.ended.connect(lambda: self._pane.say_here(self.tr("no more breakpoints are hit")))
        marks.watch.faulted.connect(self._on_watch_faulted)
        model.selection_changed.connect(self._enable_selection)
        model.merges_appended.connect(self._on_model_merges_appended)
        model.run_reset.connect(self._enable_selection)

    # -- moving

    def _move(self, move: Callable[[], None]) -> None:
        self._player.stop()
        move()

    def _go_on(self) -> None:
        self._player.stop()
        model = self._model
        if model.history is None:
            if model.state is not TrainerState.TRAINING:
                self._training.learn_first_merge()
        elif model.is_at_head and model.state is TrainerState.FINISHED and model.stop_reason != "user":
            self._training.say_end_reached()
        else:
            model.next_merge()

    def _seek(self, step: int | None) -> None:
        self._player.stop()
        if step is not None:
            self._model.seek(step)

    def _play(self) -> None:
        self._player.toggle()
        self._actions.play.setChecked(self._player.is_playing)

    # -- breakpoints

    def _edit_breakpoints(self) -> None:
        if self.editor is None:
            self.editor = BreakpointEditor(self._marks, self._window)
        self.editor.begin()

    def _on_halted(self, hit: Hit) -> None:
        history = self._model.history
        if history is not None:
            self._pane.say_here(hit_words(hit, history))

    def _on_watch_faulted(self, _breakpoint: object, error: StudioError) -> None:
        self._window.notices.training.show_message(self.tr("A breakpoint was switched off. {why}").format(why=error))

    # -- bookmarks

    def _keep_step(self) -> None:
        self._player.stop()
        step = self._model.step  # a running training may go on meanwhile
        dialog = KeepDialog(step, merge_words(step, self._model.history), self._window)
        dialog.text_chosen.connect(partial(self._keep, step))
        dialog.open()

    def _keep(self, step: int, text: str) -> None:
        step = min(step, self._model.merge_count)
        row = self._marks.bookmarks.keep(one_line(text) or merge_words(step, self._model.history), step)
        if self.bookmarks is not None:
            self.bookmarks.select_row(row)

    def _compare_step(self) -> None:
        """Compare with this step, which is bookmarked if it is not yet, or do so no longer."""
        bookmarks, step, history = self._marks.bookmarks, self._model.step, self._model.history
        here = [row for row, note in enumerate(bookmarks.notes) if note.step == step and bookmarks.is_of_run(note)]
        compared = [row for row in here if bookmarks.notes[row].run is not None]
        for row in compared:
            bookmarks.set_compared(row, False)
        if not compared:
            bookmarks.set_compared(here[0] if here else bookmarks.keep(merge_words(step, history), step), True)

    def _show_bookmarks(self) -> None:
        if self.bookmarks is None:
            self.bookmarks = BookmarksDialog(self._marks.bookmarks, self._actions, self._window.theme, self._window)
            self.bookmarks.note_chosen.connect(lambda note: self._seek(note.step))
        self.bookmarks.begin()

    # -- the selection

    def _birth_step(self) -> int | None:
        """Return the step that made the selected token, or the token of the selected pair; None if there is none."""
        selection, history = self._model.selection, self._model.history
        if selection is None or history is None:
            return None
        token_id = id_of_token(selection, history.vocabulary(self._model.merge_count))
        return (history.birth_step(token_id) or None) if token_id is not None else None

    def _go_to_birth(self) -> None:
        step = self._birth_step()
        if step is not None:
            self._model.seek(step)

    def _on_model_merges_appended(self, _first: object, _last: object) -> None:
        if self._model.selection is not None:
            self._enable_selection()

    # -- what can be done now

    def _enable_selection(self) -> None:
        self._actions.clear_selection.setEnabled(self._model.selection is not None)
        self._actions.go_to_birth.setEnabled(self._birth_step() is not None)

    def _enable(self) -> None:
        self._enable_moves()
        self._enable_marks()

    def _enable_moves(self) -> None:
        model, actions, set_reason = self._model, self._actions, self._actions.set_reason
        at_start = "" if model.step > 0 else self.tr("The current step is before the first merge")
        at_end = "" if not model.is_at_head else self.tr("The current step is the last merge")
        for action in (actions.previous_merge, actions.first_merge, actions.ten_back):
            set_reason(action, at_start)
        for action in (actions.last_merge, actions.ten_on):
            set_reason(action, at_end)
        follows = model.is_at_head and model.state is TrainerState.TRAINING
        no_steps = model.history is not None and not model.history.has_steps
        set_reason(
            actions.next_merge,
            at_end if no_steps else self.tr("The step follows training while it runs") if follows else "",
        )
        set_reason(actions.play, "" if model.merge_count else self.tr("Nothing has been trained yet"))
        set_reason(actions.next_change, self._why_no_change(self._changes.next_after(model.step), at_end))
        set_reason(actions.previous_change, self._why_no_change(self._changes.previous_before(model.step), at_start))

    def _why_no_change(self, step: int | None, at_edge: str) -> str:
        if step is not None and step <= self._model.merge_count:
            return ""
        if at_edge:
            return at_edge
        if not self._changes.is_known:
            return self.tr("Still finding the steps that change the live text")
        return self.tr("No step in this direction changes the live text")

    def _enable_marks(self) -> None:
        model, marks, actions, set_reason = self._model, self._marks, self._actions, self._actions.set_reason
        no_run = "" if model.history is not None else self.tr("Nothing has been trained yet")
        no_breakpoint = "" if marks.watch.is_set else self.tr("No breakpoint is set")
        runs = self.tr("Already running: pause the training to stop") if marks.run.is_waiting else ""
        set_reason(actions.run_to_breakpoint, no_run or no_breakpoint or runs)
        has_before = marks.watch.is_set and marks.watch.previous_hit(model.step) is not None
        none_before = "" if has_before else self.tr("No breakpoint is hit before this step")
        set_reason(actions.run_back, no_run or no_breakpoint or none_before)
        for action in (actions.keep_step, actions.compare_step):
            set_reason(action, no_run)
