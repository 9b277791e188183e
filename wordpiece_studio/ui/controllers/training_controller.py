"""Training commands: when to wait for counts, when to ask the user, and what the bar shows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMessageBox, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.live_training import LiveTraining
from wordpiece_studio.session.records import Progress, TrainerState
from wordpiece_studio.ui.controllers.memory_controller import MemoryController
from wordpiece_studio.ui.panes.training_bar.training_dialogs import FurtherDialog, discard_question, next_size
from wordpiece_studio.ui.panes.training_bar.training_words import (
    EngineNotice,
    further_note,
    idle_words,
    notice_words,
    outcome_words,
    why_no_words,
    why_not_further,
    why_nothing_was_learned,
)
from wordpiece_studio.ui.widgets.icons import icon
from wordpiece_studio.ui.widgets.plain import set_plain_tooltip

if TYPE_CHECKING:
    from PySide6.QtGui import QColor

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.session import Session
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.panes.training_bar.training_bar import TrainingBar
    from wordpiece_studio.ui.widgets.banner import Banner
    from wordpiece_studio.ui.widgets.theme import Theme

_BannerAction = Literal["", "size", "further", "typing"]


class TrainingState(QObject):
    """Shows the state of the model and of the run in the bar and the commands."""

    out_of_date = Signal()
    """The colours have changed, and with them the icons."""

    def __init__(self, controller: TrainingController, bar: TrainingBar, actions: Actions, theme: Theme) -> None:
        super().__init__(controller)
        self._controller = controller
        self._bar = bar
        self._actions = actions
        self._theme = theme
        self._pause_icon: tuple[str, QColor, QColor] | None = None
        theme.changed.connect(self.out_of_date)

    def show(self, *, is_waiting: bool) -> None:
        """Show the present state; `is_waiting` for counts, in order to train."""
        model, actions = self._controller.model, self._actions
        training, paused = model.state is TrainerState.TRAINING, model.state is TrainerState.PAUSED
        has_history = model.history is not None
        had_keyboard = self._bar.has_keyboard
        actions.train.setEnabled(not training and not is_waiting)
        is_users = has_history and not self._controller.model.origin.is_automatic
        actions.train.setText(self.tr("&Train again") if is_users else self.tr("&Train"))
        reason = why_not_further(model)
        actions.train_further.setEnabled(has_history and not training and not is_waiting and not reason)
        set_plain_tooltip(actions.train_further, reason or actions.usual_tip(actions.train_further))
        actions.pause.setEnabled(training or paused)
        actions.pause.setText(self.tr("&Resume") if paused else self.tr("&Pause"))
        self._show_pause_icon("play" if paused else "pause")
        actions.stop.setEnabled(training or paused or is_waiting)
        if had_keyboard:
            self._bar.keep_keyboard()
        self._show_words(training, paused, is_waiting)

    def check_size(self, counts: WordCounts | None) -> None:
        """Mark a size that cannot be reached with these counts, as far as that is known without counting anew."""
        history, settings = self._controller.model.history, self._controller.session.settings
        is_known = counts is not None and counts is self._controller.model.counts
        size = settings.target_size
        self._bar.settings.set_size_wrong(is_known and history is not None and 0 < size < history.vocabulary_size(0))

    def _show_pause_icon(self, name: str) -> None:
        wanted = (name, self._theme.text, self._theme.faint)
        if wanted != self._pause_icon:  # redrawing it would take longer than all the rest
            self._pause_icon = wanted
            self._actions.pause.setIcon(icon(*wanted))

    def _show_words(self, training: bool, paused: bool, is_waiting: bool) -> None:
        controller, bar = self._controller, self._bar
        if is_waiting:
            bar.show_busy(self.tr("Counting the words…"))
        elif training and controller.model.history is None:
            bar.show_busy(controller.engine.waiting_words)
        elif training or paused:
            bar.show_progress(controller.model.progress, paused)
        else:
            words = idle_words(controller.session, controller.memory.words)
            bar.show_text(*controller.engine.beside(*words))


class FurtherController(QObject):
    """Connects “Train further…” to the model."""

    def __init__(
        self, window: QWidget, controller: TrainingController, bar: TrainingBar, banner: Banner, actions: Actions
    ) -> None:
        super().__init__(controller)
        self._window = window
        self._controller = controller
        self._bar = bar
        self._banner = banner
        self._actions = actions
        actions.train_further.triggered.connect(self._on_further_triggered)

    def _on_further_triggered(self) -> None:
        session = self._controller.session
        note = further_note(session.changes_since_run(), session.model.origin.corpus_name)
        dialog = FurtherDialog(session.model.progress.vocabulary_size, self._window, note=note)
        dialog.again_chosen.connect(self._actions.train.trigger)
        dialog.size_chosen.connect(self._on_dialog_size_chosen)
        dialog.open()

    def _on_dialog_size_chosen(self, size: int) -> None:
        model = self._controller.model
        counts, config = model.counts, model.config
        if counts is not None and config is not None:
            longer = replace(config, vocab_size=size, max_merges=None)
            self._controller.memory.confirm(counts, longer, partial(self._train, size), merges=model.merge_count)

    def _train(self, size: int) -> None:
        self._banner.clear()
        self._controller.model.claim()
        self._controller.session.settings.set_target_size(size)
        self._controller.model.last()
        self._controller.model.train_further(vocab_size=size)


class TrainingController(QObject):
    """Connects the bar and the commands to the model.

    Merges that the user asked for are never discarded without asking; those of a run that the Studio started by itself
    (the sample at the start) are. Training as you type has a rule of its own, see `live_training`.
    """

    def __init__(
        self, window: QWidget, session: Session, bar: TrainingBar, banner: Banner, actions: Actions, theme: Theme
    ) -> None:
        super().__init__(window)
        self._window = window
        self.session = session
        self.model = session.model
        self._counting = session.counting
        self._settings = session.settings
        self._live = LiveTraining(session)
        self._bar = bar
        self._banner = banner
        self._actions = actions
        self._is_waiting = False  # for counts, in order to train
        self._wants_one_merge = False  # begin paused and learn one merge
        self._next_is_automatic = True
        self._step_wanted: int | None = None  # where to go when the run has ended
        self._question: QMessageBox | None = None
        self._banner_action: _BannerAction = ""
        self._size_offered = 0
        self._refusal = ""  # the last message about a training that could not begin
        self.engine = EngineNotice(self)
        self.memory = MemoryController(window, session.settings, banner)
        self._state = TrainingState(self, bar, actions, theme)
        self.further = FurtherController(window, self, bar, banner, actions)
        self._connect()
        self._show_state()

    @property
    def question(self) -> QMessageBox | None:
        """The question that is open now."""
        return self._question

    def _on_session_corpus_taken(self) -> None:
        if not self.session.is_sample:
            self._banner.clear()  # it is about the previous corpus
            if not self.model.origin.is_wanted:  # its run is dropped
                self._is_waiting = self._wants_one_merge = False
                self._step_wanted = None
        self._show_state()

    def train_unasked(self, step: int | None = None) -> None:
        """Train the corpus without having been asked, then show `step`; None is the last one."""
        self._next_is_automatic = True
        self._step_wanted = step
        self._wait_for_counts()

    def learn_first_merge(self) -> None:
        """Begin a paused training, and learn its first merge."""
        self._next_is_automatic = False
        self._wants_one_merge = True
        self._wait_for_counts()

    def say_end_reached(self) -> None:
        """Say why there is no next merge, and offer to go on."""
        reason = why_not_further(self.model)
        if reason:
            self._say(reason, "info")
        else:
            self._say(outcome_words(self.model), "info", self.tr("Train further…"), "further")

    # -- commands

    def _on_train_triggered(self) -> None:
        if self.model.state is TrainerState.TRAINING or self._is_waiting or self._question is not None:
            return
        if self.model.merge_count and not self.model.origin.is_automatic:
            self._question = discard_question(self.model.merge_count, self.model.origin.corpus_name, self._window)
            self._question.finished.connect(self._on_question_finished)
            self._question.open()
        else:
            self._train()

    def _on_question_finished(self, answer: int) -> None:
        self._question = None
        if answer == QMessageBox.StandardButton.Yes.value:
            self._train()

    def _train(self) -> None:
        self._next_is_automatic = False
        self._step_wanted = None
        self._wait_for_counts()

    def _on_pause_triggered(self) -> None:
        if self.model.state is TrainerState.PAUSED:
            self.model.resume()
        else:
            self.model.pause()

    def _on_stop_triggered(self) -> None:
        if self._is_waiting:
            self._is_waiting = False
            self._counting.stop()
            self._show_state()
        else:
            self.model.stop()

    def _on_banner_action_requested(self) -> None:
        self._banner.clear()
        if self._banner_action == "size":
            self._settings.set_target_size(self._size_offered)
            self._actions.train.trigger()
        elif self._banner_action == "typing":
            self._actions.train_as_you_type.setChecked(False)
        elif self._banner_action == "further":
            self._actions.train_further.trigger()

    # -- waiting for counts

    def _wait_for_counts(self) -> None:
        self._banner.clear()
        self._is_waiting = True
        if self._counting.counts is not None:
            self._begin(self._counting.counts)
            return
        if self._counting.is_paused:
            self._counting.resume()
        elif not (self._counting.is_running or self._counting.is_expecting):  # else they arrive without being asked for
            self._counting.count_now()
        self._show_state()

    def _on_counting_state_changed(self) -> None:
        if self._is_waiting and self._counting.was_stopped:  # in the corpus pane: no counts will come
            self._is_waiting = self._wants_one_merge = False
            self._show_state()

    def _on_counting_counts_changed(self, counts: WordCounts | None) -> None:
        if counts is not None:
            self._settings.suggestion.take_counts(counts)
        self.memory.take_counts(counts)
        if counts is not None and self._is_waiting:
            self._begin(counts)
        elif counts is not None and self._live.can_train(counts):
            self._train_live(counts)
        else:
            self._state.check_size(self._counting.counts)
            self._show_state()

    def _catch_up(self) -> None:
        """Train what was typed while training was not possible."""
        counts = self._counting.counts
        if counts is not None and counts is not self.model.counts and self._live.can_train(counts):
            self._train_live(counts)

    def _train_live(self, counts: WordCounts) -> None:
        try:
            self._live.train(counts, self._settings.config())
        except StudioError as error:
            self._refuse(error)
        if not self.model.is_replacing:
            self._show_state()

    def _on_counting_failed(self, error: StudioError) -> None:
        is_asked_for = self._is_waiting  # else only the corpus pane says so
        self._is_waiting = self._wants_one_merge = False
        if is_asked_for:
            self._refuse(error)
        self._show_state()

    def _begin(self, counts: WordCounts) -> None:
        self._is_waiting = False
        one_merge, self._wants_one_merge = self._wants_one_merge, False
        if not len(counts):
            self._say(why_no_words(counts), "warning")
            self._show_state()
            return
        try:
            config = self._settings.config()
        except StudioError as error:
            self._refuse(error)
            return
        self.memory.confirm(counts, config, partial(self._start, counts, config, one_merge))
        self._show_state()

    def _start(self, counts: WordCounts, config: TrainingConfig, one_merge: bool) -> None:
        self._banner.clear()
        origin = self.session.origin(is_automatic=self._next_is_automatic)
        self.model.start(counts, config, paused=one_merge, origin=origin)
        if one_merge:
            self._step_wanted = -1

    def _on_train_as_you_type_toggled(self, is_on: bool) -> None:
        try:
            self._live.set_on(is_on)
        except StudioError as error:
            self._refuse(error)

    # -- signals of the model

    def _on_live_follows(self) -> None:
        text = self.tr("The merges follow what you type. Undo an edit, and the earlier merges are back.")
        self._say(text, "info", self.tr("Don’t train as I type"), "typing")

    def _on_model_run_reset(self) -> None:
        if self._banner.text == self._refusal != "":
            self._banner.clear()  # about a text that could not be trained as it was typed: now it was
        self._settings.suggestion.note_training()
        self._bar.settings.set_size_wrong(False)
        if not self.model.origin.is_automatic and (words := notice_words(self.model.notices)):
            self._say(words, "info")

    def _on_model_state_changed(self, state: TrainerState) -> None:
        if state is TrainerState.PAUSED and self._step_wanted == -1:
            self._step_wanted = None
            self.model.next_merge()
        if state is TrainerState.FINISHED:
            if self._step_wanted is not None:
                self.model.seek(self._step_wanted)
                self._step_wanted = None
            if not self.model.origin.is_automatic and (words := why_nothing_was_learned(self.model)):
                self._say(words, "info")
            self._catch_up()
        self._show_state()

    def _on_model_progress_changed(self, progress: Progress) -> None:
        if self.model.state is not TrainerState.TRAINING:
            self._show_state()
        elif self.model.history is not None:
            self._bar.show_progress(progress, paused=False)

    def _on_model_failed(self, error: StudioError) -> None:
        counts = self._counting.counts
        is_small = "minimum" in error.values and counts is not None and self._live.can_train(counts)
        if is_small and counts is not None and self._settings.suggestion.take_refusal(counts):
            self._train_live(counts)  # with the new size
            return
        self._step_wanted = None
        self._refuse(error)

    def _on_engine_changed(self) -> None:
        self._catch_up()
        self._show_state()

    # -- what the bar shows

    def _on_settings_changed(self) -> None:
        if self._banner_action == "size":
            self._banner.clear()
        self.memory.look()
        self._state.check_size(self._counting.counts)
        self._show_state()

    def _refuse(self, error: StudioError) -> None:
        self._refusal = " ".join(str(error).split())
        minimum = error.values.get("minimum")
        if isinstance(minimum, int):
            words = len(self._counting.counts) if self._counting.counts is not None else 0
            self._size_offered = next_size(max(2 * minimum, words // 2))
            self._bar.settings.set_size_wrong(True)
            action = self.tr("Train to {size:,}").format(size=self._size_offered)
            self._say(str(error), "error", action, "size")
        else:
            self._say(str(error), "error")

    def _say(
        self, text: str, kind: Literal["info", "warning", "error"], action: str = "", meaning: _BannerAction = ""
    ) -> None:
        self._banner_action = meaning
        self._banner.show_message(text, kind, action)

    def _show_state(self) -> None:
        self._state.show(is_waiting=self._is_waiting)

    def _connect(self) -> None:
        actions, model = self._actions, self.model
        actions.train_as_you_type.setChecked(self._live.is_on)
        actions.train.triggered.connect(self._on_train_triggered)
        actions.pause.triggered.connect(self._on_pause_triggered)
        actions.stop.triggered.connect(self._on_stop_triggered)
        actions.special_tokens.triggered.connect(self._bar.settings.edit_special_tokens)
        self._banner.action_requested.connect(self._on_banner_action_requested)
        self._settings.changed.connect(self._on_settings_changed)
        self.engine.changed.connect(self._on_engine_changed)
        self._counting.counts_changed.connect(self._on_counting_counts_changed)
        self._counting.failed.connect(self._on_counting_failed)
        self._counting.state_changed.connect(self._on_counting_state_changed)
        self._live.follows.connect(self._on_live_follows)
        actions.train_as_you_type.toggled.connect(self._on_train_as_you_type_toggled)
        self.session.corpus_taken.connect(self._on_session_corpus_taken)
        model.run_reset.connect(self._on_model_run_reset)
        model.state_changed.connect(self._on_model_state_changed)
        model.progress_changed.connect(self._on_model_progress_changed)
        model.failed.connect(self._on_model_failed)
        self._state.out_of_date.connect(self._show_state)
