"""Commands about predicting: ask which pair is merged next, reveal and merge it, as an exercise too, and save it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLineEdit, QPlainTextEdit

from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.system.atomic_write import atomic_write
from wordpiece_studio.ui.actions import MenuChoice, command, tr
from wordpiece_studio.ui.dialogs.file_questions import ask_for_place
from wordpiece_studio.ui.dialogs.help_window import HelpWindow, KeysWindow
from wordpiece_studio.ui.messages import reported
from wordpiece_studio.ui.widgets.fields import ScreenDialog
from wordpiece_studio.ui.widgets.token_text import run_names
from wordpiece_studio.ui.workspace import Controller, Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.session.prediction import Exercise


class PredictionController(Controller):
    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        self._prediction, model = window.session.prediction, self._model
        self._pane = window.tokenization_pane
        asked = self._prediction.changed, self._pane.split_view.changed
        self._actions.bind(self, *asked, model.run_reset, model.state_changed, model.step_changed)
        self._hidden: list[ScreenDialog] | None = None  # while prediction is on
        self._prediction.changed.connect(self._on_prediction_changed)

    def _on_prediction_changed(self) -> None:
        """Hide the windows beside the work, which know what comes next, or show them again."""
        windows = self._window.findChildren(ScreenDialog)
        if self._is_on and self._hidden is None:
            self._hidden = [
                each for each in windows
                if each.isVisible() and not each.isModal() and not isinstance(each, (HelpWindow, KeysWindow))
            ]  # fmt: skip
            for each in self._hidden:
                each.hide()
        elif not self._is_on and self._hidden is not None:
            for each in windows:
                each.setVisible(each.isVisible() or each in self._hidden)
            self._hidden = None

    def _why_not(self) -> str:
        history = self._model.history
        if history is None:
            return self.tr("Nothing has been trained yet")
        if not history.has_steps:
            return self.tr("This run has no record of merges")
        return self.tr("Training is running") if self._model.state is TrainerState.TRAINING else ""

    @property
    def _is_on(self) -> bool:
        return self._prediction.is_on

    @command(
        tr("&Predict the next merge"), tr("Hide everything after the current step, and ask which pair is merged next"),
        "P", checked=lambda self: self._is_on, unless=lambda self: "" if self._is_on else self._why_not(),
        button=tr("Predict"),
    )  # fmt: skip
    def predict(self) -> None:
        self._toggle("", is_on=self._is_on)

    def _toggle(self, exercise: Exercise, *, is_on: bool) -> None:
        if is_on:
            self._prediction.end()
            return
        if self._model.is_at_head and self._model.step:
            self._model.seek(0)  # there is nothing to predict after the last merge
        self._prediction.begin(exercise)
        self._window.docks.bring("scoreboard")
        if isinstance(field := self._window.focusWidget(), QLineEdit | QPlainTextEdit):
            field.clearFocus()  # else Space would be typed there, not reveal

    @command(
        tr("&Reveal, then merge"), tr("Show which pair is merged next, and merge it with the second press"), "Space",
        when=lambda self: self._is_on or self._pane.split_view.is_asking,
    )  # fmt: skip
    def reveal(self) -> None:
        (self._pane.split_view if self._pane.split_view.is_asking else self._prediction).go_on()

    def _why_no_split(self) -> str:
        tokenizer = self._pane.live.tokenizer
        if tokenizer is None or not self._pane.text.strip():
            return self.tr("There is no text to split")
        return "" if tokenizer.can_explain else self.tr("The library that trained this run gives no reasons")

    @command(
        tr("Predict how &words are split"), tr("Ask where the words of the live text are split, one after the other"),
        "Shift+P", checked=lambda self: self._pane.split_view.is_asking, unless=_why_no_split,
    )  # fmt: skip
    def predict_split(self) -> None:
        if self._pane.split_view.is_asking:
            self._pane.split_view.begin((), None)
        else:
            self._window.docks.bring("tokenization")
            self._pane.ask_for_split()

    def _exercises(self) -> Iterator[MenuChoice]:
        yield MenuChoice(
            "undo", self.tr("After a wrong choice, choose a&gain"), self.tr("Without saying which is right")
        )
        yield MenuChoice("correct", self.tr("A wrong choice is put &right"), self.tr("With the reason"))
        yield MenuChoice("leave", self.tr("A wrong choice is &noted"), self.tr("Graded at the end"))

    def _is_on_as(self, exercise: Exercise) -> bool:
        return self._is_on and self._prediction.exercise == exercise

    @command(
        choices=_exercises, unless=lambda self, _exercise: self._why_not(),
        checked=lambda self, exercise: self._is_on_as(exercise),
    )  # fmt: skip
    def choose_exercise(self, exercise: Exercise) -> None:
        """Let a student predict one merge after the other; choosing the same again ends it."""
        self._toggle(exercise, is_on=self._is_on_as(exercise))

    @command(
        tr("&Save predictions…"), tr("Save what was chosen and counted as a page of text, to show to a teacher"),
        unless=lambda self: "" if self._prediction.answers else self.tr("Nothing has been predicted yet"),
        button=tr("Save what you did…"),
    )  # fmt: skip
    def save_predictions(self) -> None:
        ask_for_place(
            self._window, self.tr("Save predictions"), "new file", self.write_predictions, suffix="md",
            name=self.tr("predictions.md"), filters=[self.tr("Text in Markdown (*.md)")],
        )  # fmt: skip

    def write_predictions(self, place: str) -> None:
        run = self._session.runs.current
        if run is None:
            return
        names = run_names(self._session.runs.all)
        page = self._prediction.report(run.origin.corpus_name, f"{run.letter}: {names.get(run, run.name)}")
        with reported(self._messages.show_error):
            atomic_write(Path(place), page.encode("utf-8", "backslashreplace"))
            self._window.notices.export.show_message(self.tr("Saved the predictions to {path}").format(path=place))
