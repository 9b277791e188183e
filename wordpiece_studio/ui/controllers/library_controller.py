"""Training by other libraries: the commands, how far it is, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_training import check_library_settings, is_replayable, library_settings
from wordpiece_studio.session.corpus_counting import CountsRequest
from wordpiece_studio.session.plural import plural
from wordpiece_studio.ui.actions import MenuChoice, command, tr
from wordpiece_studio.ui.training_bar import why_no_words
from wordpiece_studio.ui.widgets.token_text import library_trainer_name, number_text, repetition_text, run_names
from wordpiece_studio.ui.workspace import Controller

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.libraries.library_training import LibraryProgress, LibraryTrainer
    from wordpiece_studio.session.run import Run
    from wordpiece_studio.ui.workspace import Workspace


class LibraryController(Controller):
    """Has a library train on the words of the corpus, with the size and the special tokens that are set."""

    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        session = window.session
        self._training = session.library_job
        self._banner = window.notices.library
        self._actions = window.actions_
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
        self._training.run(trainer, counts, config, origin, self._trains_twice)

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
        if self._trainer is None:
            return
        has_figures = progress.done is not None and bool(progress.total)
        words = {
            (True, False): self.tr("Training {name}: {done} of {total}…"),
            (True, True): self.tr("Training {name} a second time: {done} of {total}…"),
            (False, False): self.tr("Training {name}: progress not available…"),
            (False, True): self.tr("Training {name} a second time: progress not available…"),
        }[has_figures, progress.is_second]
        done, total = number_text(progress.done or 0), number_text(progress.total or 0)
        text = words.format(name=library_trainer_name(self._trainer), done=done, total=total)
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
