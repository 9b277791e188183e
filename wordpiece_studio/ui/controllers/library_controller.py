"""Training by other libraries: the commands, how far it is, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_training import check_library_settings, is_replayable, library_settings
from wordpiece_studio.session.plural import plural
from wordpiece_studio.ui.panes.training_bar.training_words import why_no_words
from wordpiece_studio.ui.widgets.token_text import library_trainer_name, number_text, repetition_text, run_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtGui import QAction

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.libraries.library_training import LibraryProgress, LibraryTrainer
    from wordpiece_studio.session.run import Run
    from wordpiece_studio.ui.workspace import Workspace


class LibraryController(QObject):
    """Has a library train on the words of the corpus, with the size and the special tokens that are set."""

    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        self._session = session = window.session
        self._training = session.library_job
        self._banner = window.notices.library
        self._actions = actions = window.actions_
        self._trainer: LibraryTrainer | None = None  # being trained, or waiting for counts
        self._is_waiting = False
        actions.library_trainers.triggered.connect(self._on_library_trainers_triggered)
        actions.stop_library.triggered.connect(self._stop)
        session.runs.replaced.connect(self._stop)  # what it learns is no run of another project
        session.counting.counts_changed.connect(self._on_counting_counts_changed)
        session.counting.failed.connect(self._on_counting_failed)
        session.counting.state_changed.connect(self._on_counting_state_changed)
        self._training.progressed.connect(self._on_training_progressed)
        self._training.finished.connect(self._on_training_finished)
        self._training.failed.connect(self._on_training_failed)
        self._show(None)

    def _on_library_trainers_triggered(self, action: QAction) -> None:
        self._training.stop()
        self._show(action.data())
        counting = self._session.counting
        if counting.counts is not None:
            self._begin(counting.counts)
            return
        self._is_waiting = True
        self._banner.show_message(self.tr("Counting the words…"), action=self.tr("Stop"), act=self._stop)
        if counting.is_paused:
            counting.resume()
        elif not (counting.is_running or counting.is_expecting):
            counting.count_now()

    def _begin(self, counts: WordCounts) -> None:
        trainer = self._trainer
        if trainer is None:
            return
        try:
            config = library_settings(trainer, self._session.settings.config())
            check_library_settings(trainer, config)
        except StudioError as error:
            self._on_training_failed(error)
            return
        if not len(counts):
            self._show(None)
            self._banner.show_message(why_no_words(counts), "warning")
            return
        origin = self._session.origin(is_wanted=True)
        self._training.run(trainer, counts, config, origin, self._actions.library_twice.isChecked())

    def _stop(self) -> None:
        if self._trainer is not None:
            self._training.stop()
            self._show(None)
            self._banner.show_message(self.tr("Training with another library was stopped; the result was discarded."))

    def _show(self, trainer: LibraryTrainer | None) -> None:
        """Note what is being trained; None if nothing is."""
        self._trainer, self._is_waiting = trainer, False
        self._actions.stop_library.setEnabled(trainer is not None)
        self._banner.clear()

    def _on_counting_counts_changed(self, counts: WordCounts | None) -> None:
        if counts is not None and self._is_waiting:
            self._is_waiting = False
            self._begin(counts)

    def _on_counting_state_changed(self) -> None:
        if self._is_waiting and self._session.counting.was_stopped:  # no counts will come
            self._show(None)

    def _on_counting_failed(self, error: StudioError) -> None:
        if self._is_waiting:
            self._on_training_failed(error)

    def _on_training_progressed(self, progress: LibraryProgress) -> None:
        if self._trainer is None:
            return
        if progress.done is not None and progress.total:
            words = self.tr("Training {name}: {done} of {total}…")
            if progress.is_second:
                words = self.tr("Training {name} a second time: {done} of {total}…")
        else:
            words = self.tr("Training {name}: progress not available…")
            if progress.is_second:
                words = self.tr("Training {name} a second time: progress not available…")
        done, total = number_text(progress.done or 0), number_text(progress.total or 0)
        text = words.format(name=library_trainer_name(self._trainer), done=done, total=total)
        if text != self._banner.text:
            self._banner.show_message(text, action=self.tr("Stop"), act=self._stop)

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
            yield self.tr("Run {letter} is trained: {name}.").format(letter=run.letter, name=run_names([run])[0])
        if is_replayable(library_run.trainer) and not run.history.has_steps:
            words = self.tr(
                "Run {letter} has no steps: WordPiece Studio could not reproduce its vocabulary, even with the "
                "library’s tie-breaking order."
            )
            yield words.format(letter=run.letter)
        if len(library_run.tokens) < (library_run.config.vocab_size or 0):
            size = len(library_run.tokens)
            words = plural(
                size,
                "Run {letter} has only 1 token: the library found no more in this corpus.",
                "Run {letter} has only {size} tokens: the library found no more in this corpus.",
            )
            yield words.format(letter=run.letter, size=number_text(size))
        if library_run.is_of_words:
            words = self.tr("Run {letter} was trained on words, as this corpus has no lines. From text, the library "
                            "learns another vocabulary.")  # fmt: skip
            yield words.format(letter=run.letter)
        if library_run.left_out:
            words = self.tr("Words left out because they contain ▅, which the library reserves: {number}.")
            if library_run.learned.is_of_lines:
                words = self.tr("Lines left out by the library, which reserves the character ▅ in them: {number}.")
            yield words.format(number=number_text(library_run.left_out))
        if repetition := repetition_text(run):
            yield repetition

    def _on_training_failed(self, error: StudioError) -> None:
        self._training.forget()
        self._show(None)
        self._banner.show_message(str(error), "error")
