"""What the runs and opened tokenizers make of a text: their figures, measured in a child process of low priority.

Ours are measured at their end, and at the steps that are compared; those of other libraries by these libraries. They
are measured while someone looks, a moment after runs have come or gone, and anew on another text or when another
program has changed, removed or brought back a file that was read for them.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.corpus.files import is_url
from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.figures import TokenizerFigures
from wordpiece_studio.session.background_job import BackgroundJob
from wordpiece_studio.session.corpus_child import (
    FAILURES,
    FIGURES,
    READY,
    measure_in_child,
    messages_of,
    written_pipeline,
    written_tokenizer,
    written_training,
)
from wordpiece_studio.session.corpus_references import FileWatch
from wordpiece_studio.session.file_rows import written_file
from wordpiece_studio.session.held_out_judging import corpus_to_divide, settings_at
from wordpiece_studio.session.kernel_warmup import compile_kernels, must_compile_first
from wordpiece_studio.session.run import TrainerState
from wordpiece_studio.session.timers import single_shot
from wordpiece_studio.storage.corpus_record import HELD_OUT, recorded_files
from wordpiece_studio.storage.tokenizer_loading import files_read, manifest_of_tokenizer
from wordpiece_studio.system.child_process import ChildProcess, read_error
from wordpiece_studio.system.printable import display_name

if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.background_job import Report
    from wordpiece_studio.session.corpus_counting import CorpusCounting
    from wordpiece_studio.session.run import Run
    from wordpiece_studio.session.runs import Comparison
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.storage.project.contents import ProjectCorpus

    Place = Literal["training", "held-out", "live", "files"]

_log = logging.getLogger(__name__)
_REST_MS = 300


@dataclass(frozen=True, slots=True)
class Measured:
    """A tokenizer: a run at a step, or one in a file.

    Attributes
    ----------
    run, step
        The run, and the merges that it has made there.
    path
        The file, if it is no run.
    """

    run: Run | None = None
    step: int = 0
    path: str = ""

    @property
    def name(self) -> str:
        """The letter of the run, with the step unless it is at its end: ``"A@12"``; or the path."""
        if self.run is None:
            return display_name(self.path)
        return self.run.letter if self.is_at_end else f"{self.run.letter}@{self.step}"

    @property
    def is_at_end(self) -> bool:
        """Whether there are no later steps."""
        return self.run is None or self.step == len(self.run.history)


@dataclass(frozen=True, slots=True)
class FiguresRow:
    """What is known of a tokenizer: its figures, or why there are none, or neither yet."""

    measured: Measured
    figures: TokenizerFigures | None = None
    error: StudioError | None = None


@dataclass(frozen=True, slots=True)
class FiguresText:
    """What tokenizers are measured on.

    Attributes
    ----------
    place
        ``"training"``: the words of the run that is shown; ``"held-out"``: a part of its corpus, while runs of that
        corpus are trained anew on the rest; ``"live"``: the live text; ``"files"``: files.
    paths
        The files.
    is_parallel
        Whether they say the same in different languages.
    """

    place: Place = "training"
    paths: tuple[str, ...] = ()
    is_parallel: bool = False

    def names(self) -> dict[str, str]:
        """Return the paths by their last part, or if several have the same, as they are."""
        names = [Path(path).name for path in self.paths]
        are_clear = len(set(names)) == len(names)
        return {display_name(name if are_clear else path): path for name, path in zip(names, self.paths, strict=True)}


@dataclass(frozen=True, slots=True, eq=False)
class FiguresOrder:
    """What is measured, and on what: words with their counts, a text, the files that `where` names, or a corpus.

    Orders with the same `edition` find the same content in the files.
    """

    measured: tuple[Measured, ...]
    where: FiguresText
    counts: WordCounts | None = None
    text: str = ""
    corpus: ProjectCorpus | None = None
    max_word_length: int = 0
    edition: int = 0

    def is_like(self, other: FiguresOrder) -> bool:
        return self.measured == other.measured and self.is_on_text_of(other)

    def is_on_text_of(self, other: FiguresOrder) -> bool:
        is_same_text = (self.where, self.text, self.corpus) == (other.where, other.text, other.corpus)
        return is_same_text and self.counts is other.counts and self.edition == other.edition

    def files(self) -> list[Path]:
        """Return the files that are read, and those that would be if they existed."""
        corpus = () if self.corpus is None else (each.file.path for each in self.corpus.files)
        texts = [Path(path) for path in (*self.where.paths, *corpus) if not is_url(path)]
        opened = [file for each in self.measured if each.run is None for file in files_read(each.path)]
        return list(dict.fromkeys((*texts, *opened)))

    def is_trained_anew(self, measured: Measured) -> bool:
        """Return whether a run is trained on the rest of the corpus: else it would be measured on what it knows."""
        corpus = None if measured.run is None else measured.run.origin.corpus
        known = None if self.corpus is None else (self.corpus.text, self.corpus.files)
        return corpus is not None and (corpus.text, corpus.files) == known


Figures = dict[Measured, TokenizerFigures]


@dataclass(frozen=True, slots=True)
class FiguresFound:
    """What came of an order.

    Attributes
    ----------
    figures
        Those on all of the text are called ``""``, those on a part by its name.
    errors
        Why some have none.
    words_of
        The normalizer and the pre-tokenizer that decide what a word is.
    """

    figures: dict[str, Figures] = field(default_factory=dict)
    errors: dict[Measured, StudioError] = field(default_factory=dict)
    words_of: tuple[str, ...] = ()


class FiguresMeasuring(QObject):
    """Measures the runs, the steps that are compared, and the tokenizers that were opened.

    Signals
    -------
    changed()
        Any of the properties has changed.
    """

    changed = Signal()

    def __init__(
        self, model: TrainerModel, comparison: Comparison, counting: CorpusCounting, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._counting = counting
        self._comparison = comparison
        self._opened: list[str] = []
        self._where: FiguresText | None = None  # None: whatever is best
        self._live_text = ""
        self._is_wanted = self._was_stopped = False
        self._order: FiguresOrder | None = None
        self._found = FiguresFound()
        self._is_done = False
        self._progress: tuple[str, int, int] | None = None
        self._error: StudioError | None = None
        self._edition = 0
        self._files = FileWatch(self)
        self._files.changed.connect(self._on_files_changed)
        self._files.back.connect(self._on_files_changed)
        self._files.gone.connect(self._on_files_gone)
        self._timer = single_shot(self, self._on_timer_timeout, _REST_MS)
        self._job = BackgroundJob(measured, "The tokenizers cannot be measured", self)
        self._job.reported.connect(self._on_job_reported)
        self._job.finished.connect(self._on_job_finished)
        self._job.failed.connect(self._on_job_failed)
        comparison.changed.connect(self.refresh)
        model.state_changed.connect(self.refresh)

    # What is known.

    @property
    def runs(self) -> tuple[Run, ...]:
        return self._comparison.runs.all

    @property
    def where(self) -> FiguresText:
        """What is measured on: until the user chooses, held-out text where there is some."""
        return self._where or FiguresText("held-out" if self.can_hold_out else "training")

    @property
    def can_hold_out(self) -> bool:
        """Whether the corpus of the run that is shown is known, and long enough to hold a part of it out."""
        run = self._model.run
        return run is not None and corpus_to_divide(run) is not None

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the texts, if there are several."""
        names = tuple(self.where.names()) if self.where.place == "files" else ()
        return names if len(names) > 1 else ()

    @property
    def words_of(self) -> tuple[str, ...]:
        """The normalizer and the pre-tokenizer that decide what a word is; empty if there are no figures."""
        return self._found.words_of

    @property
    def is_running(self) -> bool:
        """Whether figures are being measured, or will be in a moment."""
        return self._job.is_running or self._timer.isActive()

    @property
    def was_stopped(self) -> bool:
        """Whether the user has stopped it."""
        return self._was_stopped

    @property
    def progress(self) -> tuple[str, int, int] | None:
        """What is being done, how much of it is done, and how much there is."""
        return self._progress

    @property
    def error(self) -> StudioError | None:
        return self._error

    def rows(self, part: str = "") -> list[FiguresRow]:
        """Return all tokenizers with their figures on all of the text or a part of it, as far as they are known."""
        figures, errors = self._found.figures.get(part, {}), self._found.errors
        return [FiguresRow(each, figures.get(each), errors.get(each)) for each in self._measured()]

    # What the user does.

    def set_wanted(self, is_wanted: bool) -> None:
        """Measure from now on, or not until further notice."""
        if is_wanted is not self._is_wanted:
            self._is_wanted = is_wanted
            self.refresh()

    def measure_on(self, where: FiguresText) -> None:
        """Measure on another text, or anew on the same."""
        self._where, self._order = where, None
        self.refresh()

    def set_live_text(self, text: str) -> None:
        """Take note of the live text."""
        self._live_text = text
        if self.where.place == "live":
            self.refresh()

    def open(self, paths: Sequence[str]) -> None:
        """Measure the tokenizers in these files too."""
        self._opened = list(dict.fromkeys([*self._opened, *(str(Path(path).absolute()) for path in paths)]))
        self.refresh()

    def remove(self, path: str) -> None:
        """Measure a file no longer."""
        self._opened.remove(path)
        self.refresh()

    def stop(self) -> None:
        """Stop; nothing is measured until something changes."""
        self._was_stopped = True
        self._end()
        self.changed.emit()

    def close(self) -> None:
        """Cancel what runs and wait for it to end."""
        self._timer.stop()
        self._files.close()
        self._job.close()

    # The work.

    def refresh(self, _value: object = None) -> None:
        """Measure in a moment if anything has changed and someone looks."""
        order, before = self._wanted_order(), self._order
        if order is None or before is None or not order.is_like(before):
            self._order = order
            self._end()
            self._is_done = self._was_stopped = False
            self._error = None
            if order is None or before is None or not order.is_on_text_of(before):
                self._found = FiguresFound()
        files = [] if order is None else order.files()
        if files != self._files.paths:
            self._files.watch(files)
        if not self._is_wanted:
            self._end()
        elif self._order is not None and not (self._is_done or self._was_stopped or self.is_running):
            self._timer.start()
        self.changed.emit()

    def _end(self) -> None:
        self._timer.stop()
        self._job.stop()
        self._progress = None

    def _wanted_order(self) -> FiguresOrder | None:
        found, where, counts = self._measured(), self.where, self._model.counts
        if not found or (where.place == "training" and counts is None):
            return None
        if where.place == "training":
            return FiguresOrder(found, where, counts=counts, edition=self._edition)
        if where.place == "held-out":
            corpus = corpus_to_divide(self._model.run) if self._model.run is not None else None
            length = self._counting.max_word_length
            return (
                None
                if corpus is None
                else FiguresOrder(found, where, corpus=corpus, max_word_length=length, edition=self._edition)
            )
        text = self._live_text if where.place == "live" else ""
        return FiguresOrder(found, where, text=text, edition=self._edition)

    def _measured(self) -> tuple[Measured, ...]:
        """Return each run that is not being trained at its end, with the steps of it that are compared; then files."""
        growing = self._model.run if self._model.state in (TrainerState.TRAINING, TrainerState.PAUSED) else None
        marked = self._comparison.bookmarked()
        found = []
        for run in self._comparison.runs.all:
            found += [] if run is growing else [Measured(run, len(run.history))]
            found += [Measured(run, each.step) for each in marked if each.run is run]
        return (*dict.fromkeys(found), *(Measured(path=path) for path in self._opened))

    def _on_timer_timeout(self) -> None:
        if self._order is None:
            return
        if self._files.is_pending:  # or else a change between the reading and the first look would not be noticed
            self._timer.start()
            return
        self._job.begin(self._order)
        self.changed.emit()

    def _on_files_changed(self, _path: Path) -> None:
        self._edition += 1
        self.refresh()

    def _on_files_gone(self, path: Path) -> None:
        if self._files.has_seen(path):  # the others were not there when they were to be read
            self._on_files_changed(path)

    def _on_job_reported(self, progress: tuple[str, int, int]) -> None:
        self._progress = progress
        self.changed.emit()

    def _on_job_finished(self, found: FiguresFound) -> None:
        self._progress, self._found, self._is_done = None, found, True
        self.changed.emit()

    def _on_job_failed(self, error: StudioError) -> None:
        _log.info("No metrics: %s", error)
        self._progress, self._error, self._found, self._is_done = None, error, FiguresFound(), True
        self.changed.emit()


def measured(order: FiguresOrder, stop: threading.Event, report: Report) -> FiguresFound | None:
    """Return the figures; None if canceled. The work of a `BackgroundJob`, which reports what is being done."""
    errors: dict[Measured, StudioError] = {}
    contents: dict[str, bytes] = {}
    named_words: dict[str, dict[str, Any]] = {}
    for each in order.measured:
        try:
            if each.run is not None and _is_of_words(each.run, each.step):
                named_words[each.name] = written_pipeline(each.run.counts)
            contents[each.name] = _content(order, each)
        except StudioError as error:
            errors[each] = error
    names = {each.name: each for each in order.measured if each not in errors}
    if not names or stop.is_set():
        return None if stop.is_set() else FiguresFound(errors=errors)
    files = {name: _file_name(order, each) for name, each in names.items()}
    trained = [each.run for each in names.values() if each.run is not None and order.is_trained_anew(each)]
    if any(must_compile_first(run.counts, run.config) for run in trained):
        compile_kernels(stop.is_set)
    written = _written_order(order, files, named_words)
    child = ChildProcess(measure_in_child, written, failure="The tokenizers cannot be measured")
    figures: dict[str, Figures] = {}
    words_of: tuple[str, ...] = ()
    try:
        for kind, content in child.messages(stop):
            if kind == READY:
                text = order.text if order.corpus is None else order.corpus.text or ""
                for message in (*contents.values(), *messages_of(text, order.counts)):
                    child.send(message)
            elif kind == FAILURES:
                failed = json.loads(bytes(content))
                errors |= {names[name]: read_error(error.encode()) for name, error in failed.items()}
            elif kind == FIGURES:
                found = json.loads(bytes(content))
                words_of = tuple(found["words_of"])
                figures = {part: _read_figures(each, names) for part, each in found["figures"].items()}
            else:
                report(tuple(json.loads(bytes(content))))
    finally:
        child.end()
    return None if stop.is_set() else FiguresFound(figures, errors, words_of)


def _is_of_words(run: Run, step: int) -> bool:
    """Return whether a library runs the tokenizer and was trained on the words of the run, not on lines of text."""
    of_library = run.library_run
    return of_library is not None and run.is_run_by_library(step) and not of_library.learned.is_of_lines


def _content(order: FiguresOrder, measured: Measured) -> bytes:
    """Return what makes the tokenizer, or trains it anew."""
    run = measured.run
    if run is None:
        if order.corpus is not None:
            _check_unseen(measured.path, order.corpus)
        return b""
    if order.corpus is not None and order.is_trained_anew(measured):
        config = run.config if run.library_run is None else run.library_run.config
        return written_training(run, settings_at(run, config, measured.step), order.corpus)
    if order.corpus is not None:
        what = "It may have been trained on this part too, as it is not known to be of this corpus"
        raise StudioError(what, "Train again on this corpus, or measure on another text.")
    return written_tokenizer(run, measured.step)


def _check_unseen(path: str, corpus: ProjectCorpus) -> None:
    """Check that a tokenizer does not say that it was trained on what is held out of a corpus."""
    manifest = manifest_of_tokenizer(Path(path))
    if manifest is None or manifest.corpus is None or not manifest.corpus.files:
        return
    origin = [corpus.origin] if corpus.origin is not None and not corpus.is_edited else []
    digests = [file.sha256 for file in recorded_files(corpus.files or origin)]
    trained_on = [file.sha256 for file in manifest.corpus.files]
    is_divided_alike = manifest.corpus.sha256_missing == HELD_OUT and trained_on == digests
    if not is_divided_alike and {*digests} & {*trained_on} - {None}:
        what = "It was trained on this part too: its manifest names the corpus"
        raise StudioError(what, "Add what train --held-out-model writes, or measure on another text.")


def _file_name(order: FiguresOrder, measured: Measured) -> str:
    """Return the file that a tokenizer is in, or would be in if its library runs it; else an empty text."""
    run = measured.run
    if run is None:
        return measured.path
    if run.library_run is None or order.is_trained_anew(measured) or not run.is_run_by_library(measured.step):
        return ""
    return run.library_run.file_name


def _written_order(order: FiguresOrder, files: dict[str, str], words_of: dict[str, dict[str, Any]]) -> str:
    """Return an order for `measure_in_child` as JSON."""
    counts, where = order.counts, order.where
    return json.dumps(
        {
            "tokenizers": files,
            "words_of": words_of,
            **({"normalizer": None, "pre_tokenizer": None} if counts is None else written_pipeline(counts)),
            "files": where.names() if where.place == "files" else None,
            "is_parallel": where.is_parallel,
            "corpus": None if order.corpus is None else [written_file(each.file) for each in order.corpus.files],
            "max_word_length": order.max_word_length,
        }
    )


def _read_figures(figures: list[dict[str, Any]], names: dict[str, Measured]) -> Figures:
    return {names[each["name"]]: TokenizerFigures(**each) for each in figures}
