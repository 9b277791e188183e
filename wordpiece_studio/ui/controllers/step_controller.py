"""Commands that move between steps and mark them: next, previous, play, breakpoints, bookmarks, the selection."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from wordpiece_studio.session.plural import plural
from wordpiece_studio.session.step_marks import WHOLE_RUN, Hit, one_line, selected_id, selected_token
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.view import Breakpoint
from wordpiece_studio.training.program import PHASES, program_of, why_no_program
from wordpiece_studio.ui.actions import MenuChoice, command, tr
from wordpiece_studio.ui.messages import reported
from wordpiece_studio.ui.panes.timeline.marks_dialogs import MarksDialog
from wordpiece_studio.ui.panes.timeline.timeline_pane import hit_words, merge_words
from wordpiece_studio.ui.training_bar import why_no_words
from wordpiece_studio.ui.widgets.fields import LineDialog
from wordpiece_studio.ui.widgets.plain import copy_text, key_text
from wordpiece_studio.ui.widgets.token_text import number_text, value_text
from wordpiece_studio.ui.workspace import Controller, Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.ui.controllers.training_controller import TrainingController

_MANY = 10
_SPEEDS = (0.5, 1.0, 2.0, 4.0, 10.0, 50.0, 200.0, 1000.0)


class StepController(Controller):
    def __init__(self, window: Workspace, training: TrainingController) -> None:
        super().__init__(window)
        self._training = training
        self._player = window.session.player
        self._marks = window.session.marks
        self._changes = window.session.changes
        self._pane = window.timeline_pane
        self.marks_window: MarksDialog | None = None  # once it was opened
        model, player, marks = self._model, self._player, self._marks
        player.halted.connect(self._on_player_halted)
        words = self.tr("A breakpoint was switched off. {why}")
        marks.watch.faulted.connect(lambda error: window.notices.training.show_message(words.format(why=error)))
        self._note = ""  # what is said about the current step
        for signal in (model.step_changed, model.run_reset, player.changed, marks.bookmarks.changed):
            signal.connect(self._show_note)
        self._actions.bind(
            self, model.step_changed, model.state_changed, model.run_reset, model.merges_appended,
            model.side_changed, model.selection_changed, self._changes.changed, player.changed, marks.watch.changed,
        )  # fmt: skip

    # -- why there is nothing to do

    def _at_start(self) -> str:
        return "" if self._model.step > 0 else self.tr("The current step is before the first merge")

    def _at_end(self) -> str:
        return self.tr("The current step is the last merge") if self._model.is_at_head else ""

    def _no_next(self) -> str:
        model = self._model
        if model.history is None:
            return why_no_words(self._session.counting.counts)
        if not model.history.has_steps:
            return self._at_end()
        follows = model.is_at_head and model.state is TrainerState.TRAINING
        return self.tr("The step follows training while it runs") if follows else ""

    def _no_change(self, step: int | None, at_edge: str) -> str:
        if step is not None and step <= self._model.merge_count:
            return ""
        if at_edge:
            return at_edge
        if not self._changes.is_known:
            return self.tr("Still finding the steps that change the live text")
        return self.tr("No step in this direction changes the live text")

    def _no_next_phase(self) -> str:
        is_last = self._window.code_pane.phase == PHASES - 1 or not self._model.step
        return self._no_run() or (self._at_end() if is_last else "")

    def _no_run(self) -> str:
        return "" if self._model.history is not None else self.tr("Nothing has been trained yet")

    def _no_breakpoint(self) -> str:
        return (
            self.why_hidden() or self._no_run() or ("" if self._marks.watch.is_set else self.tr("No breakpoint is set"))
        )

    def _no_next_breakpoint(self) -> str:
        runs = self._player.is_running
        return self._no_breakpoint() or (self.tr("Already running: pause the training to stop") if runs else "")

    def _no_previous_breakpoint(self) -> str:
        if reason := self._no_breakpoint():
            return reason
        has_any = self._marks.watch.previous_hit(self._model.step) is not None
        return "" if has_any else self.tr("No breakpoint is hit before this step")

    # -- moving; Left and Right belong to the text in a text field, the other keys work everywhere

    def _seek(self, step: int | None) -> None:
        self._player.stop()
        if step is not None:
            self._model.seek(step)

    @command(
        tr("&Next merge"), tr("Go one merge forward; at the last one, learn one more"), "Alt+Right Right F10", "next",
        unless=_no_next,
    )  # fmt: skip
    def next_merge(self) -> None:
        self._player.stop()
        model = self._model
        if model.hides_future and model.history is not None:
            self._session.prediction.go_on()
        elif model.history is None:
            if model.state is not TrainerState.TRAINING:
                self._training.learn_first_merge()
        elif model.is_at_head and model.state is TrainerState.FINISHED and model.stop_reason != "user":
            self._training.say_end_reached()
        else:
            model.next_merge()

    @command(tr("Pre&vious merge"), tr("Go one merge back"), "Alt+Left Left Shift+F10", "previous", unless=_at_start)
    def previous_merge(self) -> None:
        self._seek(self._model.step - 1)

    @command(tr("Ten merges &forward"), tr("Go ten merges forward"), "Alt+PgDown Shift+Right", "ten_on", unless=_at_end)
    def ten_on(self) -> None:
        self._seek(self._model.step + _MANY)

    @command(tr("&Ten merges back"), tr("Go ten merges back"), "Alt+PgUp Shift+Left", "ten_back", unless=_at_start)
    def ten_back(self) -> None:
        self._seek(self._model.step - _MANY)

    @command(
        tr("Go to the b&eginning"), tr("Step 0, before the first merge"), "Alt+Home Home", "first", unless=_at_start
    )
    def first_merge(self) -> None:
        self._seek(0)

    @command(tr("Go to the &last merge"), tr("The step after the last merge"), "Alt+End End", "last", unless=_at_end)
    def last_merge(self) -> None:
        self._seek(self._model.merge_count)

    @command(
        tr("Pl&ay the merges"), tr("Show the merges one after another"), "F8", "play",
        checked=lambda self: self._player.is_playing,
        unless=lambda self: (
            self.why_hidden() or ("" if self._model.merge_count else self.tr("Nothing has been trained yet"))
        ),
    )  # fmt: skip
    def play(self) -> None:
        self._player.toggle()

    @command(
        tr("Show what the merge ma&de"),
        tr("Show words and candidates after the merge of the step, not those that it was chosen from"), "B",
        checked=lambda self: self._model.is_after, unless=_at_start,
    )  # fmt: skip
    def show_after(self) -> None:
        self._model.set_after(not self._model.is_after)

    @command(
        tr("Next &change to the text"), tr("Go to the next step that changes how the live text is tokenized"),
        "F9 Ctrl+Right", "next_change",
        unless=lambda self: self._no_change(self._changes.next_after(self._model.step), self._at_end()),
    )  # fmt: skip
    def next_change(self) -> None:
        self._seek(self._changes.next_after(self._model.step))

    @command(
        tr("Previous change to the te&xt"), tr("Go to the previous step that changed how the live text is tokenized"),
        "Shift+F9 Ctrl+Left", "previous_change",
        unless=lambda self: self._no_change(self._changes.previous_before(self._model.step), self._at_start()),
    )  # fmt: skip
    def previous_change(self) -> None:
        self._seek(self._changes.previous_before(self._model.step))

    def _speeds(self) -> Iterator[MenuChoice]:
        for speed in _SPEEDS:
            number = value_text(speed) if speed >= 1 else "½"
            text = plural(math.ceil(speed), "{number} merge per second", "{number} merges per second")
            yield MenuChoice(speed, text.format(number=number))
        yield MenuChoice(WHOLE_RUN, self.tr("&Whole run in 30 s"))

    @command(choices=_speeds, checked=lambda self, speed: self._player.speed == speed)
    def choose_speed(self, speed: float) -> None:
        self._player.set_speed(speed)

    # -- breakpoints

    @command(
        tr("&Run to the next breakpoint"),
        tr("Go to the next step that hits a breakpoint; continues training if needed"),
        "Ctrl+F8", "run", unless=_no_next_breakpoint,
    )  # fmt: skip
    def run_to_breakpoint(self) -> None:
        self._player.run()

    @command(
        tr("Run bac&k to the previous breakpoint"), tr("Go back to the previous step that hits a breakpoint"),
        "Ctrl+Shift+F8", "run_back", unless=_no_previous_breakpoint,
    )  # fmt: skip
    def run_back(self) -> None:
        self._player.run_back()

    def _on_player_halted(self, hit: Hit | None) -> None:
        history = self._model.history
        if hit is None:
            self._pane.say_here(self.tr("no more breakpoints are hit"))
        elif history is not None:
            self._pane.say_here(hit_words(hit, history))

    # -- bookmarks

    def _show_note(self) -> None:
        """Show the notes of a step where one arrives at it in their run, as long as one stays there."""
        step, bookmarks = self._model.step, self._marks.bookmarks
        own = merge_words(step, self._model.history)  # a note that says no more
        here = [text for text in bookmarks.texts(step) if text != own and not self._player.is_playing]
        if here and (count := len(bookmarks.of_run())) > 1:
            more = self.tr("{count} bookmarks in total ({keys}).")
            keys = key_text(self._actions.bookmarks.shortcut())
            here.append(more.format(count=number_text(count), keys=keys))
        if (text := " ".join(here)) != self._note:
            self._note, banner = text, self._window.notices.step
            banner.show_message(text) if text else banner.clear()

    @command(tr("Bookmark this &step…"), tr("Bookmark this step, with a note"), "Ctrl+D", "keep", unless=_no_run)
    def keep_step(self) -> None:
        self._player.stop()
        step = self._model.step  # a running training may go on meanwhile
        if self._window.is_presenting:
            self._keep(step, "")
            return
        label = self.tr("Note for step {step}").format(step=number_text(step))
        LineDialog(
            self.tr("Bookmark this step"), label, merge_words(step, self._model.history), self._window,
            name=self.tr("Note for this step"), accept=self.tr("&Add bookmark"), entry="bookmark",
            take=partial(self._keep, step),
        ).open()  # fmt: skip

    def _keep(self, step: int, text: str) -> None:
        step = min(step, self._model.merge_count)
        row = self._marks.bookmarks.keep(one_line(text) or merge_words(step, self._model.history), step)
        if self.marks_window is not None:
            self.marks_window.select_row(row)

    @command(
        tr("Co&mpare with this step"),
        tr("Keep showing how this step tokenizes the live text, next to the current step; repeat to stop"),
        "Ctrl+Shift+M", "compare", unless=lambda self: self.why_hidden() or self._no_run(),
    )  # fmt: skip
    def compare_step(self) -> None:
        bookmarks, step, history = self._marks.bookmarks, self._model.step, self._model.history
        here = [row for row, note in enumerate(bookmarks.records) if note.step == step and bookmarks.is_of_run(note)]
        compared = [row for row in here if bookmarks.records[row].run is not None]
        for row in compared:
            bookmarks.set_compared(row, False)
        if not compared:
            bookmarks.set_compared(here[0] if here else bookmarks.keep(merge_words(step, history), step), True)

    @command(
        tr("B&ookmarks and breakpoints…"), tr("List the bookmarked steps, and choose where playing and running stop"),
        "Ctrl+B Ctrl+Shift+D", "bookmarks", unless=Controller.why_hidden,
    )  # fmt: skip
    def bookmarks(self) -> None:
        window = self._window
        if self.marks_window is None:
            self.marks_window = MarksDialog(self._marks, self._actions, window.theme, window)
            self.marks_window.step_chosen.connect(self._seek)
        self.marks_window.begin()

    # -- the code

    def _go_to_phase(self, way: int) -> None:
        step, pane = self._model.step, self._window.code_pane
        step, phase = divmod(step * PHASES + (pane.phase if step else PHASES - 1) + way, PHASES)
        self._window.docks.bring("code")
        pane.show_phase(phase)
        self._seek(step)

    @command(
        tr("Next p&hase in the code"), tr("Go to the next phase of the merge in the code, or to the next merge"),
        "F4", "down", unless=_no_next_phase,
    )  # fmt: skip
    def next_phase(self) -> None:
        self._go_to_phase(1)

    @command(
        tr("Previo&us phase in the code"),
        tr("Go to the previous phase of the merge in the code, or to the previous merge"),
        "Shift+F4", "up", unless=_at_start,
    )  # fmt: skip
    def previous_phase(self) -> None:
        self._go_to_phase(-1)

    def _no_program(self) -> str:
        history = self._model.history
        return self._no_run() if history is None else str(why_no_program(history) or "")

    @command(
        tr("Copy as &program"), tr("Copy a Python program with these words that prints the same merges"), icon="copy",
        unless=_no_program,
    )  # fmt: skip
    def copy_program(self) -> None:
        assert self._model.history is not None
        with reported(self._messages.show_error):
            copy_text(program_of(self._model.history, self._model.merge_count))
            self._window.docks.bring("code")
            self._window.code_pane.set_heading(self.tr("Program copied"))

    # -- the selection

    def _birth_step(self) -> int | None:
        history, token_id = self._model.history, selected_id(self._model)
        return None if history is None or token_id is None else history.birth_step(token_id) or None

    @command(
        tr("Go to the step t&hat created the token"), tr("Go to the step that created the selected token"),
        "Ctrl+Shift+B", when=lambda self: self._birth_step() is not None,
    )  # fmt: skip
    def go_to_birth(self) -> None:
        if (step := self._birth_step()) is not None:
            self._model.seek(step)

    def _breakpoint(self) -> Breakpoint | None:
        selection, token = self._model.selection, selected_token(self._model)
        if selection is None:
            return None
        return Breakpoint("token", token) if token else Breakpoint("word", selection.text)

    @command(
        tr("Stop at this token or wor&d"),
        tr("Switch a breakpoint for the selected token or word on or off"),
        when=lambda self: self._breakpoint() is not None,
        checked=lambda self: self._breakpoint() in self._marks.breakpoints.enabled,
    )
    def switch_breakpoint(self) -> None:
        found, breakpoints = self._breakpoint(), self._marks.breakpoints
        assert found is not None
        breakpoints.add(msgspec.structs.replace(found, is_enabled=found not in breakpoints.records))

    @command(
        tr("Clear the select&ion"), tr("Clear the selection in all panes"), "Esc",
        when=lambda self: self._model.selection is not None,
    )  # fmt: skip
    def clear_selection(self) -> None:
        self._model.set_selection(None)
