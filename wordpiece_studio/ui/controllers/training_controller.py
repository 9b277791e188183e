"""Training commands: when to wait for counts, what the bar shows, and what a training needs; other libraries' too."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QMessageBox
from shiboken6 import isValid

from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_training import check_library_settings, is_replayable, library_settings
from wordpiece_studio.session.corpus_counting import CountsRequest
from wordpiece_studio.session.plural import counted, filled
from wordpiece_studio.session.session import LiveTraining
from wordpiece_studio.session.training_job import Progress, TrainerState
from wordpiece_studio.system.memory import ADVICE, available_memory, memory_text
from wordpiece_studio.training.forecast import Forecaster
from wordpiece_studio.training.trainer import continued_config
from wordpiece_studio.ui.actions import MenuChoice, command, tr
from wordpiece_studio.ui.messages import ask, question_box, reported
from wordpiece_studio.ui.training_bar import (
    FurtherDialog,
    further_note,
    idle_words,
    next_size,
    notice_words,
    outcome_words,
    why_no_words,
    why_not_further,
    why_nothing_was_learned,
)
from wordpiece_studio.ui.widgets.token_text import duration, library_trainer_name, repetition_text, run_names
from wordpiece_studio.ui.workspace import Controller, Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.libraries.library_training import LibraryProgress, LibraryTrainer
    from wordpiece_studio.storage.project.contents import Run
    from wordpiece_studio.storage.view import Selection
    from wordpiece_studio.training.config import TrainingConfig

_LEAST_BYTES = 1_000_000  # of a corpus whose needs are worth a word
_MUCH = 0.8  # of the free memory


class TrainingController(Controller):
    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        session = window.session
        self._counting = session.counting
        self._settings = session.settings
        self.live = LiveTraining(session)
        self._bar = window.bar
        self._banner = window.notices.training
        self._wants_one_merge = False  # begin paused and learn one merge
        self._is_repeated = False  # the user knows that there is such a run
        self._step_wanted: int | None = None  # where to go when the run has ended
        self._selection_wanted: Selection | None = None  # and what to select there
        self._size_offered = 0
        self._noticed = ""  # the last words about the corpus of a run
        self._refusal = ""  # the last message about a training that could not begin
        self.needs = TrainingNeeds(window)
        session.corpus_taken.connect(self._on_session_corpus_taken)
        session.warm_up.changed.connect(self._on_warm_up_changed)
        self._settings.changed.connect(self._on_settings_changed)
        self._counting.counts_changed.connect(self._on_counting_counts_changed)
        self._model.run_reset.connect(self._on_model_run_reset)
        self._model.state_changed.connect(self._on_model_state_changed)
        self._model.progress_changed.connect(self._on_model_progress_changed)
        self._model.failed.connect(self._on_model_failed)
        self._bar.ready_timer.timeout.connect(self._show_state)  # it says no more of the engine
        self._request = CountsRequest(self._counting, self._begin, self._give_up, self)
        self._actions.bind(self, self._settings.changed, self._settings.replaced)
        self._show_state()

    def _on_warm_up_changed(self) -> None:
        warm_up = self._session.warm_up
        if warm_up.answer is not None:
            self.needs.pace = warm_up.answer
            self.needs.look()
        elif warm_up.error is not None:
            self._banner.show_message(str(warm_up.error), "warning")
        self._bar.show_engine(warm_up.progress, is_ready=warm_up.answer is not None)
        self._catch_up()
        self._show_state()

    def _on_session_corpus_taken(self) -> None:
        self._banner.clear()  # it is about the previous corpus
        if not self._model.origin.is_wanted:  # its run is dropped
            self._request.cancel()
            self._wants_one_merge = False
            self._step_wanted = None
        self._show_state()

    def learn_first_merge(self) -> None:
        self._wait_for_counts(wants_one_merge=True)

    def say_end_reached(self) -> None:
        if reason := why_not_further(self._model):
            self._banner.show_message(reason)
        else:
            words, further = outcome_words(self._model), self.tr("Train further…")
            self._banner.show_message(words, "info", further, self._press_train_further)

    # -- commands

    @property
    def _has_begun(self) -> bool:
        return self._model.state in (TrainerState.TRAINING, TrainerState.PAUSED)

    def _can_train(self) -> bool:
        return self._model.state is not TrainerState.TRAINING and not self._request.is_waiting

    @command(
        tr("&Train"), tr("Train a vocabulary on the corpus, as a new run"), "F5 Ctrl+Return Ctrl+Enter", "play",
        when=_can_train, unless=lambda self: why_no_words(self._counting.counts), is_primary=True,
    )  # fmt: skip
    def train(self) -> None:
        self._wait_for_counts()

    @command(
        tr("Train &further…"), tr("Raise the vocabulary size and continue; everything learned is kept"),
        "Shift+F5 Ctrl+Shift+Return", "further",
        when=lambda self: self._can_train() and self._model.history is not None,
        unless=lambda self: why_not_further(self._model),
    )  # fmt: skip
    def train_further(self) -> None:
        note = further_note(self._session.changes_since_run(), self._model.origin.corpus_name)
        dialog = FurtherDialog(self._model.progress.vocabulary_size, self._window, note=note)
        dialog.again_chosen.connect(self._actions.train.trigger)
        dialog.accepted.connect(lambda: self._confirm_further(dialog.size_box.value()))
        dialog.open()

    def _why_not_on_text(self) -> str:
        run = self._model.run
        if run is not None and run.library_run is not None:
            return self.tr("This run was trained with another library and cannot be continued here.")
        if not self._session.has_pipeline_of(run):
            return self.tr("The corpus now has other text processing than this run.")
        return why_no_words(self._counting.counts)

    @command(
        tr("&Continue on this text…"), tr("Train a new run on the present corpus that begins with this run’s merges"),
        when=lambda self: self._can_train() and self._model.history is not None, unless=_why_not_on_text,
    )  # fmt: skip
    def continue_on_text(self) -> None:
        dialog = FurtherDialog(self._model.progress.vocabulary_size, self._window)
        dialog.accepted.connect(lambda: self._continue_on_text(dialog.size_box.value()))
        dialog.open()

    def _continue_on_text(self, size: int) -> None:
        run = self._model.run
        assert run is not None
        self._session.runs.keep(run)
        config = continued_config(run.history, run.config, vocab_size=size, max_merges=None)
        self._session.settings.set_config(config)
        self.train()

    def _look_of_pause(self) -> tuple[str, str]:
        is_paused = self._model.state is TrainerState.PAUSED
        return (self.tr("&Resume"), "play") if is_paused else (self.tr("&Pause"), "pause")

    @command(
        tr("&Pause"), tr("Pause the training; it can be resumed later"), "F6", "pause",
        when=lambda self: self._has_begun, look=_look_of_pause,
    )  # fmt: skip
    def pause(self) -> None:
        if self._model.state is TrainerState.PAUSED:
            self._model.resume()
        else:
            self._model.pause()

    @command(
        tr("St&op and keep"), tr("Stop training and keep the merges learned so far"), "F7", "stop",
        button=tr("Stop"),  # there is one place for all buttons of the training
        when=lambda self: self._has_begun or self._request.is_waiting,
    )  # fmt: skip
    def stop(self) -> None:
        if self._request.is_waiting:
            self._request.cancel()
            self._counting.stop()
            self._show_state()
        else:
            self._model.stop()

    def _objectives(self) -> Iterator[MenuChoice]:
        tr = self.tr
        yield MenuChoice("likelihood", tr("&Likelihood"), tr("Merge the pair that makes the corpus most probable"))
        tip = tr("Merge the pair with the highest score, as in the Hugging Face course")
        yield MenuChoice("score", tr("&Score"), tip)
        tip = tr("Merge the most frequent pair, as in byte pair encoding (BPE)")
        yield MenuChoice("count", tr("&Count (BPE)"), tip)

    @command(choices=_objectives, checked=lambda self, objective: self._settings.objective == objective)
    def choose_objective(self, objective: str) -> None:
        self._settings.choose(objective=objective)

    @command(tr("&Special tokens…"), tr("Choose the tokens that come first and are never learned"))
    def special_tokens(self) -> None:
        self._bar.settings.edit_special_tokens()

    @command(
        tr("Train as you t&ype"), tr("Train a small corpus after every edit or change of a setting, as a preview"),
        checked=lambda self: self.live.is_on,
    )  # fmt: skip
    def train_as_you_type(self) -> None:
        with reported(self._refuse):
            self.live.set_on(not self.live.is_on)

    def _press_train_further(self) -> None:
        self._banner.clear()
        self._actions.train_further.trigger()

    def _train_to_size_offered(self) -> None:
        self._settings.set_target_size(self._size_offered)
        self._actions.train.trigger()

    # -- training further

    def _confirm_further(self, size: int) -> None:
        counts, config = self._model.counts, self._model.config
        if counts is not None and config is not None:
            longer = replace(config, vocab_size=size, max_merges=None)
            self.needs.confirm(counts, longer, partial(self._train_further, size), merges=self._model.merge_count)

    def _train_further(self, size: int) -> None:
        self._banner.clear()
        if self._model.run is not None:
            self._session.runs.keep(self._model.run)
        self._settings.set_target_size(size)
        self._model.last()
        self._model.train_further(vocab_size=size)

    # -- waiting for counts

    def _wait_for_counts(self, *, wants_one_merge: bool = False, is_repeated: bool = False) -> None:
        self._is_repeated, self._wants_one_merge, self._step_wanted = is_repeated, wants_one_merge, None
        self._banner.clear()
        self._request.ask()
        self._show_state()

    def _give_up(self, error: StudioError | None) -> None:
        self._wants_one_merge = False
        if error is not None:  # else the counting was stopped in the corpus pane
            self._refuse(error)
        self._show_state()

    def _on_counting_counts_changed(self, counts: WordCounts | None) -> None:
        if counts is not None:
            self._settings.suggestion.take_counts(counts)
        self.needs.take_counts(counts)
        if counts is not None and self._request.is_waiting:
            return  # they are what was asked for
        if not self._catch_up():
            self._check_size()
            self._show_state()

    def _catch_up(self) -> bool:
        """Train what was changed while training was not possible; return whether there was anything."""
        counts = self._counting.counts
        if counts is None or not self.live.can_train(counts):
            return False
        self._train_live(counts)
        return True

    def _train_live(self, counts: WordCounts) -> None:
        with reported(self._refuse):
            self.live.train(counts, self._settings.config())
        if not self._model.is_replacing:
            self._show_state()

    def _begin(self, counts: WordCounts) -> None:
        one_merge, self._wants_one_merge = self._wants_one_merge, False
        if not len(counts):
            self._banner.show_message(why_no_words(counts), "warning")
        else:
            with reported(self._refuse):
                config = self._settings.config()
                if one_merge or not self._show_trained(counts, config):
                    self.needs.confirm(counts, config, partial(self._start, counts, config, one_merge))
        self._show_state()

    def _show_trained(self, counts: WordCounts, config: TrainingConfig) -> bool:
        """Show the run of the user's that this training would repeat, unless it is to be; return whether there is."""
        found = self._session.runs.trained_on(counts, config)
        if found is None or not found.origin.is_wanted or self._is_repeated:
            return False
        self._session.show_repeated(found)
        words = self.tr("Run {run} was trained with the same corpus and settings.").format(run=found.letter)
        anyway = partial(self._wait_for_counts, is_repeated=True)
        self._banner.show_message(words, "info", self.tr("Train anyway"), anyway, needs_answer=False)
        return True

    def train_branch(self, config: TrainingConfig) -> None:
        """Train the words of the run that is shown with other settings, as a run beside it; stay at the step."""
        run, step, selection, runs = self._model.run, self._model.step, self._model.selection, self._session.runs
        assert run is not None
        runs.keep(run)
        self._banner.clear()
        if (found := runs.trained_on(run.counts, config)) is not None:
            runs.show(found)
            self._model.seek(step)
            self._model.set_selection(selection)
            return

        def start() -> None:
            self._session.take_settings_of(run, config)
            self._step_wanted = step
            self.live.forget_change()
            self._model.start(run.counts, config, origin=run.origin)
            self._selection_wanted = selection

        self.needs.confirm(run.counts, config, start)

    def _start(self, counts: WordCounts, config: TrainingConfig, one_merge: bool) -> None:
        self._banner.clear()
        self.live.forget_change()
        self._model.start(counts, config, paused=one_merge, origin=self._session.origin(is_wanted=True))
        if one_merge:
            self._step_wanted = -1

    # -- signals of the model

    def _on_model_run_reset(self) -> None:
        if self._banner.text == self._refusal != "":
            self._banner.clear()  # about a text that could not be trained as it was typed: now it was
        self._settings.suggestion.forget()
        self._bar.settings.set_size_wrong(False)
        words = "" if self._model.run is None else notice_words(self._model.run.notices)
        if self._model.origin.is_wanted and words not in ("", self._noticed):
            self._noticed = words  # say it once, not whenever the run is shown again
            self._banner.show_message(words)

    def _on_model_state_changed(self, state: TrainerState) -> None:
        if state is TrainerState.PAUSED and self._step_wanted == -1:
            self._step_wanted = None
            self._model.next_merge()
        if state is TrainerState.FINISHED:
            if self._step_wanted is not None:
                self._model.seek(self._step_wanted)
                self._step_wanted = None
                if self._selection_wanted is not None:
                    self._model.set_selection(self._selection_wanted)
            self._selection_wanted = None
            if self._model.origin.is_wanted and (words := why_nothing_was_learned(self._model)):
                self._banner.show_message(words)
            self._catch_up()
        self._show_state()

    def _on_model_progress_changed(self, progress: Progress) -> None:
        if self._model.state is not TrainerState.TRAINING:
            self._show_state()
        elif self._model.history is not None:
            self._bar.show_progress(progress, paused=False)

    def _on_model_failed(self, error: StudioError) -> None:
        counts = self._counting.counts
        is_small = "minimum" in error.values and self._model.state is not TrainerState.FAILED  # and it is a preview
        if is_small and counts is not None and self._settings.suggestion.take_refusal(counts):
            self._train_live(counts)  # with the new size
            return
        self._step_wanted = None
        self._refuse(error)

    # -- what the bar shows

    def _on_settings_changed(self) -> None:
        if self._banner.act == self._train_to_size_offered:
            self._banner.clear()
        self.needs.look()
        self._check_size()
        if not self._bar.settings.is_size_wrong:  # half typed, perhaps
            self._catch_up()
        self._show_state()

    def _refuse(self, error: StudioError) -> None:
        self._refusal = " ".join(str(error).split())
        minimum = error.values.get("minimum")
        if isinstance(minimum, int):
            words = len(self._counting.counts) if self._counting.counts is not None else 0
            self._size_offered = next_size(max(2 * minimum, words // 2))
            self._bar.settings.set_size_wrong(True)
            action = self.tr("Train to {size:,}").format(size=self._size_offered)
            self._banner.show_message(str(error), "error", action, self._train_to_size_offered)
        else:
            self._banner.show_message(str(error), "error")

    def _show_state(self) -> None:
        is_waiting, bar = self._request.is_waiting, self._bar
        had_keyboard = bar.buttons.has_keyboard
        self._actions.refresh()  # a button takes over the keyboard if its command can be done
        bar.buttons.show_training(self._has_begun or is_waiting, had_keyboard=had_keyboard)
        state = self._model.state
        if is_waiting:
            bar.show_busy(self.tr("Counting the words…"))
        elif state is TrainerState.TRAINING and self._model.history is None:
            bar.show_waiting()
        elif self._has_begun:
            bar.show_progress(self._model.progress, state is TrainerState.PAUSED)
        else:
            words, more = idle_words(self._session, self.needs.words)
            bar.show_text(*words, more=more)

    def _check_size(self) -> None:
        """Mark a size that cannot be reached with these counts, as far as that is known without counting anew."""
        counts, history, size = self._counting.counts, self._model.history, self._settings.target_size
        is_known = counts is not None and counts is self._model.counts and history is not None and history.has_steps
        self._bar.settings.set_size_wrong(is_known and history is not None and 0 < size < history.vocabulary_size(0))


class TrainingNeeds(Controller):
    """Forecasts the memory and time that training the open corpus takes, and warns if that is much."""

    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        self._settings = window.session.settings
        self._banner = window.notices.training
        self._forecaster: Forecaster | None = None
        self._counts: WordCounts | None = None  # those that the forecast is for
        self._needed = 0  # 0: not worth mentioning
        self._seconds = 0.0
        self.pace = 1.0
        self._available: int | None = None
        self._is_much = False
        self._warning = ""  # the last one that was shown
        self._question: QMessageBox | None = None

    def take_counts(self, counts: WordCounts | None) -> None:
        self._counts = counts
        self._forecaster = Forecaster(counts) if counts is not None and _is_large(counts) else None
        self.look()

    def look(self) -> None:
        self._needed = 0
        if self._forecaster is not None:
            try:
                config = self._settings.config()
                self._needed = self._forecaster.memory(config).peak
                self._seconds = self._forecaster.seconds(config, self.pace, is_watched=True)
            except StudioError:
                return  # training says what is wrong with the settings
            self._available = available_memory()
        was_much, self._is_much = self._is_much, self._needed > _MUCH * (self._available or math.inf)
        is_shown = self._banner.text == self._warning != ""
        if self._is_much and self._available is not None and (is_shown or not was_much):
            self._warning = " ".join((self._figures(self._needed, self._available), _advice()))
            self._banner.show_message(self._warning, "warning")
        elif is_shown:
            self._banner.clear()

    @property
    def words(self) -> tuple[str, ...]:
        """What the next training needs, from the longest wording to the shortest; empty for a small corpus."""
        if not self._needed:
            return ()
        time = self.tr("under 1 s")
        if self._seconds >= 1:
            time = self.tr("about {time}").format(time=duration(float(f"{self._seconds:.2g}")))
        needed, free = memory_text(self._needed), memory_text(self._available or 0)
        whole = self.tr("About {needed} of {free} free, {time}").format(needed=needed, free=free, time=time)
        shorter = self.tr("About {needed}, {time}").format(needed=needed, time=time)
        return (*([whole] if self._available is not None else []), shorter, f"{needed}, {time}")

    def confirm(self, counts: WordCounts, config: TrainingConfig, go: Callable[[], None], *, merges: int = 0) -> None:
        """Call `go`; if the training does not fit, ask the user first. `merges` of its merges are already learned."""
        if not _is_large(counts):
            go()
            return
        known = self._forecaster if counts is self._counts else None
        available, forecaster = available_memory(), known or Forecaster(counts)
        forecast = forecaster.memory(config)
        needed = forecast.beyond(forecaster.memory(replace(config, max_merges=merges))) if merges else forecast.peak
        if available is None or needed <= available:
            go()
            return
        risk = self.tr("If you train anyway, other programs may slow down, or the system may close WordPiece Studio.")
        figures = self._figures(needed, available)
        answers = {QMessageBox.StandardButton.Yes: self.tr("&Train anyway")}
        box = question_box(self._window, figures, f"{risk} {_advice()}", answers, picture=QMessageBox.Icon.Warning)
        if self._question is not None and isValid(self._question):
            self._question.reject()  # it is about a training no longer wanted
        self._question = box
        ask(box, {QMessageBox.StandardButton.Yes: go})

    def _figures(self, needed: int, available: int) -> str:
        words = self.tr("This run needs about {needed} of memory, but only {free} is free.")
        return words.format(needed=memory_text(needed), free=memory_text(available))


class LibraryController(Controller):
    """Has a library train on the words of the corpus, with the size and the special tokens that are set."""

    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        session = window.session
        self._training = session.library_job
        self._banner = window.notices.library
        self._trainer: LibraryTrainer | None = None  # being trained, or waiting for counts
        self._trains_twice = False
        self._request = CountsRequest(session.counting, self._begin, self._give_up, self)
        session.runs.replaced.connect(self.stop_library)  # what it learns is no run of another project
        self._training.progressed.connect(self._on_training_progressed)
        self._training.finished.connect(self._on_training_finished)
        self._training.failed.connect(self._on_training_failed)
        self._actions.bind(self)

    def _trainers(self) -> Iterator[MenuChoice]:
        tip = self.tr("Train on the corpus words with this library’s own trainer, as a new run")
        for trainer, text in (
            ("tokenizers-wordpiece", self.tr("&WordPiece (tokenizers)")),
            ("tokenizers-bpe", self.tr("&BPE (tokenizers)")),
            ("tokenizers-unigram", self.tr("&Unigram (tokenizers)")),
            ("sentencepiece-bpe", self.tr("B&PE (SentencePiece)")),
            ("sentencepiece-unigram", self.tr("U&nigram (SentencePiece)")),
        ):
            yield MenuChoice(trainer, text, tip)

    @command(choices=_trainers)
    def train_with_library(self, trainer: LibraryTrainer) -> None:
        self._training.stop()
        self._show(trainer)
        if self._session.counting.counts is None:
            self._banner.show_message(self.tr("Counting the words…"), action=self.tr("Stop"), act=self.stop_library)
        self._request.ask()

    @command(
        tr("Train &twice and compare"),
        tr("Some libraries learn a different vocabulary each time, even from the same words"),
        checked=lambda self: self._trains_twice,
    )
    def library_twice(self) -> None:
        self._trains_twice = not self._trains_twice

    @command(
        tr("&Stop library training"),
        tr("Stop training with another library and discard the result"),
        when=lambda self: self._trainer is not None,
    )
    def stop_library(self) -> None:
        if self._trainer is not None:
            self._training.stop()
            self._show(None)
            self._banner.show_message(self.tr("Training with another library was stopped; the result was discarded."))

    def _begin(self, counts: WordCounts) -> None:
        trainer = self._trainer
        assert trainer is not None  # else the request is cancelled
        with reported(self._on_training_failed):
            config = library_settings(trainer, self._session.settings.config())
            check_library_settings(trainer, config)
            if len(counts):
                origin = self._session.origin(is_wanted=True)
                self._training.run(trainer, counts, config, origin, self._trains_twice)
            else:
                self._show(None)
                self._banner.show_message(why_no_words(counts), "warning")

    def _show(self, trainer: LibraryTrainer | None) -> None:
        self._trainer = trainer
        self._request.cancel()
        self._actions.refresh_soon()
        self._banner.clear()

    def _give_up(self, error: StudioError | None) -> None:
        if error is None:  # the counting was stopped in the corpus pane
            self._show(None)
        else:
            self._on_training_failed(error)

    def _on_training_progressed(self, progress: LibraryProgress) -> None:
        assert self._trainer is not None  # else the training is stopped
        has_figures = progress.done is not None and bool(progress.total)
        words = {
            (True, False): self.tr("Training {name}: {done} of {total}…"),
            (True, True): self.tr("Training {name} a second time: {done} of {total}…"),
            (False, False): self.tr("Training {name}: progress not available…"),
            (False, True): self.tr("Training {name} a second time: progress not available…"),
        }[has_figures, progress.is_second]
        name = library_trainer_name(self._trainer)
        text = filled(words, name=name, done=progress.done or 0, total=progress.total or 0)
        if text != self._banner.text:
            self._banner.show_message(text, action=self.tr("Stop"), act=self.stop_library)

    def _on_training_finished(self, run: Run) -> None:
        self._show(None)
        self._training.forget()  # the run may be closed
        self._session.runs.add(run)
        if notes := " ".join(self._notes(run)):
            self._banner.show_message(notes)

    def _notes(self, run: Run) -> Iterator[str]:
        library_run = run.library_run
        assert library_run is not None
        if run is not self._session.runs.current:
            yield self.tr("Run {letter} is trained: {name}.").format(letter=run.letter, name=run_names([run])[run])
        if is_replayable(library_run.trainer) and not run.history.has_steps:
            yield self.tr(
                "Run {letter} has no steps: WordPiece Studio could not reproduce its vocabulary, even with the "
                "library’s tie-breaking order."
            ).format(letter=run.letter)
        if len(library_run.tokens) < (library_run.config.vocab_size or 0):
            yield counted(
                len(library_run.tokens), "Run {letter} has only 1 token: the library found no more in this corpus.",
                "Run {letter} has only {count} tokens: the library found no more in this corpus.", letter=run.letter,
            )  # fmt: skip
        if library_run.is_of_words:
            yield self.tr("Run {letter} was trained on words, as this corpus has no lines. From text, the library "
                          "learns another vocabulary.").format(letter=run.letter)  # fmt: skip
        if library_run.left_out:
            words = self.tr("Words left out because they contain ▅, which the library reserves: {number}.")
            if library_run.learned.is_of_lines:
                words = self.tr("Lines left out by the library, which reserves the character ▅ in them: {number}.")
            yield filled(words, number=library_run.left_out)
        if repetition := repetition_text(run):
            yield repetition

    def _on_training_failed(self, error: StudioError) -> None:
        self._training.forget()
        self._show(None)
        self._banner.show_message(str(error), "error")


def _is_large(counts: WordCounts) -> bool:
    return max(counts.statistics.bytes, counts.statistics.characters) > _LEAST_BYTES


def _advice() -> str:
    return QCoreApplication.translate("errors", ADVICE)
