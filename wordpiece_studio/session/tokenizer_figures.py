"""What the runs and opened tokenizers make of a text, and the objectives of text that was held out.

Both are measured in a child process of low priority: the figures while someone looks, a moment after anything has
changed; the objectives a moment after a training has ended, by three quick trainings with its settings on the larger
part of its corpus. Words with their counts, small texts, and a corpus that is gone have no such figures.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.corpus.files import is_url
from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.cross_validation import FOLDS, Retraining
from wordpiece_studio.libraries.library_training import library_retraining
from wordpiece_studio.session.kernel_warmup import compile_kernels, must_compile_first
from wordpiece_studio.session.measuring import (
    Fingerprint,
    HeldOutFigure,
    judge,
    library_tokenizer,
    measure,
)
from wordpiece_studio.session.task import Task, single_shot
from wordpiece_studio.session.training_job import TrainerState, corpus_with_lines
from wordpiece_studio.session.watched_files import FileWatch
from wordpiece_studio.storage.corpus_record import HELD_OUT, recorded_files
from wordpiece_studio.storage.tokenizer_loading import files_read, load_tokenizer, manifest_of_tokenizer
from wordpiece_studio.system.child import Child
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import TextReading
from wordpiece_studio.training.trainer import bpe_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.corpus.files import CorpusReference
    from wordpiece_studio.evaluation.figures import TokenizerFigures
    from wordpiece_studio.evaluation.held_out import Report
    from wordpiece_studio.session.corpus_counting import CorpusCounting
    from wordpiece_studio.session.runs import Comparison, Runs
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.session.watched_files import FileNews
    from wordpiece_studio.storage.project.contents import ProjectCorpus, Run
    from wordpiece_studio.training.config import TrainingConfig

    Place = Literal["training", "held-out", "folds", "live", "files"]
    Judgement = dict[str, HeldOutFigure]  # what each objective makes of the text
    # The words of a run, its settings, and the text or the files of its corpus.
    JudgingRequest = tuple[WordCounts, TrainingConfig, str, tuple[CorpusReference, ...]]

_log = logging.getLogger(__name__)

LEAST_WORDS = 2000  # a tenth of a smaller corpus is too little text to judge by
_DEBOUNCE_MS, _JUDGING_DEBOUNCE_MS = 300, 500
_LOOK_MS = 100  # between two looks whether the files have been looked at
# Reasons why a training ended that end a training on a part of the corpus in the same way.
_RULES = ("vocab_size", "no_pair", "min_frequency", "forbidden", "min_value", "max_merges")


@dataclass(frozen=True, slots=True)
class Measured:
    """A tokenizer: a run at a step, or the one in the file at `path`."""

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
        return self.run is None or self.step == len(self.run.history)


@dataclass(frozen=True, slots=True)
class FiguresRow:
    """What is known of a tokenizer: its figures, or why there are none, or neither yet.

    Its name, and which figures are the best of all, are said where it is shown.
    """

    measured: Measured
    figures: TokenizerFigures | None = None
    error: StudioError | None = None
    name: str = ""
    best: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FiguresText:
    """What tokenizers are measured on.

    That is ``"training"``: the words of the run that is shown; ``"held-out"``: a part of its corpus, while runs of that
    corpus are trained anew on the rest; ``"folds"``: each of ten parts in turn; ``"live"``: the live text; or
    ``"files"``.
    """

    place: Place = "training"
    paths: tuple[str, ...] = ()  # of files
    is_parallel: bool = False  # they say the same in different languages

    def names(self) -> dict[str, str]:
        """Return the paths by their last part, or if several have the same, as they are."""
        names = [Path(path).name for path in self.paths]
        are_clear = len(set(names)) == len(names)
        return {display_name(name if are_clear else path): path for name, path in zip(names, self.paths, strict=True)}


@dataclass(frozen=True, slots=True)
class FiguresRequest:
    """What is measured, and on what: words with their counts, a text, the files that `where` names, or a corpus.

    Requests with the same `edition` find the same content in the files.
    """

    measured: tuple[Measured, ...]
    where: FiguresText
    counts: WordCounts | None = None
    text: str = ""
    corpus: ProjectCorpus | None = None
    max_word_length: int = field(default=0, compare=False)
    edition: int = 0

    def is_on_text_of(self, other: FiguresRequest) -> bool:
        return replace(self, measured=other.measured) == other

    def files(self) -> list[Path]:
        corpus = () if self.corpus is None else (each.file.path for each in self.corpus.files)
        texts = [Path(path) for path in (*self.where.paths, *corpus) if not is_url(path)]
        opened = [file for each in self.measured if each.run is None for file in files_read(each.path)]
        return list(dict.fromkeys((*texts, *opened)))

    def is_trained_anew(self, measured: Measured) -> bool:
        """Return whether a run is trained on the rest of the corpus: else it would be measured on what it knows."""
        corpus = None if measured.run is None else measured.run.origin.corpus
        known = None if self.corpus is None else (self.corpus.text, self.corpus.files)
        return corpus is not None and (corpus.text, corpus.files) == known


@dataclass(frozen=True, slots=True)
class FiguresFound:
    """What came of a request: the figures on all of the text, called ``""``, and on each part; why some have none."""

    figures: dict[str, dict[Measured, TokenizerFigures]] = field(default_factory=dict)
    errors: dict[Measured, StudioError] = field(default_factory=dict)
    words_of: tuple[str, ...] = ()


class FiguresMeasuring(QObject):
    changed = Signal()  # any of the properties has changed

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
        self._is_wanted = False
        self.was_stopped = False  # by the user
        self._request: FiguresRequest | None = None
        self._edition = 0
        self._files = FileWatch(self)
        self._files.noticed.connect(self._on_files_noticed)
        self._timer = single_shot(self, self.refresh, _LOOK_MS)
        self.task = Task(measured, "The tokenizers cannot be measured", self, debounce_ms=_DEBOUNCE_MS)
        self.task.changed.connect(self.changed)
        comparison.changed.connect(self.refresh)
        model.state_changed.connect(self.refresh)

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
        names = tuple(self.where.names()) if self.where.place == "files" else ()
        return names if len(names) > 1 else ()

    @property
    def words_of(self) -> tuple[str, ...]:
        """The normalizer and the pre-tokenizer that decide what a word is; empty if there are no figures."""
        return self._found.words_of

    @property
    def is_running(self) -> bool:
        return self.task.is_running or self._timer.isActive()

    @property
    def _found(self) -> FiguresFound:
        answered, request = self.task.answered, self._request
        if answered is None or request is None or self.task.error is not None or not request.is_on_text_of(answered[0]):
            return FiguresFound()
        found: FiguresFound = self.task.answer
        return found

    def rows(self, part: str = "") -> list[FiguresRow]:
        """Return all tokenizers with their figures on all of the text or a part of it, as far as they are known."""
        found = self._found
        figures, errors = found.figures.get(part, {}), found.errors
        return [FiguresRow(each, figures.get(each), errors.get(each)) for each in self._measured()]

    # What the user does.

    def set_wanted(self, is_wanted: bool) -> None:
        self._is_wanted = is_wanted
        self.refresh()

    def measure_on(self, where: FiguresText) -> None:
        self._where = where
        self._edition += 1
        self.refresh()

    def set_live_text(self, text: str) -> None:
        self._live_text = text
        if self.where.place == "live":
            self.refresh()

    def open(self, paths: Sequence[str]) -> None:
        self._opened = list(dict.fromkeys([*self._opened, *(str(Path(path).absolute()) for path in paths)]))
        self.refresh()

    def remove(self, path: str) -> None:
        self._opened.remove(path)
        self.refresh()

    def stop(self) -> None:
        """Stop; nothing is measured until something changes."""
        self.was_stopped = True
        self._timer.stop()
        self.task.stop()
        self.changed.emit()  # the task has not, if it has still to begin

    # The work.

    def refresh(self) -> None:
        if self._request is None and not self._is_wanted:
            return  # no one has looked yet
        request = self._wanted_request()
        self._timer.stop()
        if request != self._request:
            self._request = request
            self.was_stopped = False
            (self.task.forget if request is None else self.task.stop)()  # with no runs, keep none in memory
        files = [] if request is None else request.files()
        if files != list(self._files.stamps):
            self._files.watch(files)
        if request is None or not self._is_wanted or self.was_stopped:
            if self.task.is_running:
                self.task.stop()
        elif self._files.is_pending and self.task.request is None:
            self._timer.start()  # or else a change between the reading and the first look would not be noticed
        else:
            self.task.ask(request)
        self.changed.emit()

    def _wanted_request(self) -> FiguresRequest | None:
        found, where, run = self._measured(), self.where, self._model.run
        if not found:
            return None
        request = FiguresRequest(found, where, edition=self._edition)
        if where.place == "training":
            return None if self._model.counts is None else replace(request, counts=self._model.counts)
        if where.place in ("held-out", "folds"):
            corpus = None if run is None else corpus_to_divide(run)
            length = self._counting.max_word_length
            return None if corpus is None else replace(request, corpus=corpus, max_word_length=length)
        return replace(request, text=self._live_text if where.place == "live" else "")

    def _measured(self) -> tuple[Measured, ...]:
        """Return each run that is not being trained at its end, with the steps of it that are compared; then files."""
        growing = self._model.run if self._model.state in (TrainerState.TRAINING, TrainerState.PAUSED) else None
        marked = self._comparison.bookmarked()
        found = []
        for run in () if self._model.hides_future else self._comparison.runs.all:
            found += [] if run is growing else [Measured(run, len(run.history))]
            found += [Measured(run, each.step) for each in marked if each.run is run]
        return (*dict.fromkeys(found), *(Measured(path=path) for path in self._opened))

    def _on_files_noticed(self, path: Path, news: FileNews) -> None:
        if news != "gone" or self._files.stamps.get(path):  # the others were not there when they were to be read
            self._edition += 1
            self.refresh()


def measured(request: FiguresRequest, *, progress: Report, should_stop: Callable[[], bool]) -> FiguresFound:
    errors: dict[Measured, StudioError] = {}
    tokenizers: dict[str, Any] = {}
    for each in request.measured:
        try:
            tokenizers[each.name] = _tokenizer(request, each)
        except StudioError as error:
            errors[each] = error
    names = {each.name: each for each in request.measured if each not in errors}
    if not names:
        return FiguresFound(errors=errors)
    trained = [each.run for each in names.values() if each.run is not None and request.is_trained_anew(each)]
    if any(must_compile_first(run.counts, run.config) for run in trained):
        compile_kernels(should_stop)
    on: Any = () if request.counts is None else request.counts
    text, where, corpus = request.text, request.where, request.corpus
    if where.place == "files":
        on = where.names()
    elif corpus is not None:
        on, text = tuple(each.file for each in corpus.files), corpus.text or ""
    with Child("The tokenizers cannot be measured", low_priority=True) as child:
        found, failures = child.call(
            measure, tokenizers, on, text, request.max_word_length, is_parallel=where.is_parallel,
            is_held_out=corpus is not None, folds=FOLDS if where.place == "folds" else 0, progress=progress,
            should_stop=should_stop,
        )  # fmt: skip
    errors |= {names[name]: error for name, error in failures.items()}
    if found is None:
        return FiguresFound(errors=errors)
    parts = {"": found.figures, **found.parts}
    figures = {part: {names[each.name]: each for each in some} for part, some in parts.items()}
    return FiguresFound(figures, errors, found.words_of)


def _tokenizer(request: FiguresRequest, measured: Measured) -> Any:
    """Return the tokenizer, or what loads it or trains it anew in the child."""
    run, step, corpus = measured.run, measured.step, request.corpus
    if run is None:
        if corpus is not None:
            _check_unseen(measured.path, corpus, request.where.place)
        return partial(load_tokenizer, measured.path)
    of_library = run.library_run
    if corpus is not None and not request.is_trained_anew(measured):
        what = "It may have been trained on this part too, as it is not known to be of this corpus"
        raise StudioError(what, "Train again on this corpus, or measure on another text.")
    if corpus is not None:
        config = settings_at(run, run.config if of_library is None else of_library.config, step)
        steps = run.counts.normalizer, run.counts.pre_tokenizer
        again = Retraining(config, steps)
        if of_library is not None:
            again = library_retraining(of_library.trainer, config, steps, of_library.learned.is_of_lines)
        return replace(again, verify=Fingerprint.of(run.counts, corpus.files).check)
    return tokenizer_of(run, step)


def tokenizer_of(run: Run, step: int) -> Any:
    """Return the tokenizer of a run after `step` merges, or what loads it, for a child."""
    steps, of_library = (run.counts.normalizer, run.counts.pre_tokenizer), run.library_run
    if of_library is not None and run.is_run_by_library(step):
        words_of = TextReading(Pipeline(steps[0].kept, steps[1])) if not of_library.learned.is_of_lines else None
        return partial(library_tokenizer, of_library.file_name, of_library.content, words_of)
    if run.history.config.is_byte_pair_encoding:
        return bpe_tokenizer(run.history, run.counts, step)
    return Tokenizer(run.history.vocabulary(step), *steps)


def _check_unseen(path: str, corpus: ProjectCorpus, place: Place) -> None:
    """Check that a tokenizer does not say that it was trained on what is held out of a corpus, be it all in turn."""
    manifest = manifest_of_tokenizer(Path(path))
    if manifest is None or manifest.corpus is None or not manifest.corpus.files:
        return
    origin = [corpus.origin] if corpus.origin is not None and not corpus.is_edited else []
    digests = [file.sha256 for file in recorded_files(corpus.files or origin)]
    trained_on = [file.sha256 for file in manifest.corpus.files]
    is_of_rest = place == "held-out" and manifest.corpus.sha256_missing == HELD_OUT
    is_divided_alike = is_of_rest and trained_on == digests
    if not is_divided_alike and {*digests} & {*trained_on} - {None}:
        what = "It was trained on this part too: its manifest names the corpus"
        raise StudioError(what, "Add what train --held-out-model writes, or measure on another text.")


def corpus_to_divide(run: Run) -> ProjectCorpus | None:
    """Return the corpus of a run, of which a part can be held out; None if it has no lines, few words, or is gone."""
    return corpus_with_lines(run.origin.corpus, run.counts) if run.counts.total >= LEAST_WORDS else None


def settings_at(run: Run, config: TrainingConfig, step: int) -> TrainingConfig:
    """Return settings for a part of the corpus, by which a training ends where that of the run was at a step."""
    if step < len(run.history) or run.stop_reason not in (*_RULES, "peer"):
        config = replace(config, vocab_size=run.history.vocabulary_size(step))
    return replace(config, max_seconds=None)


class HeldOutJudging(QObject):
    """What the objectives make of text that was held out, for the run that is shown."""

    changed = Signal()  # `figures`, or the progress of `task`, has changed

    def __init__(
        self, model: TrainerModel, runs: Runs, counting: CorpusCounting, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._runs = runs
        self._counting = counting
        self._request: JudgingRequest | None = None
        self._known: list[tuple[JudgingRequest, Judgement]] = []
        self.task = Task(
            judged, "Held-out text cannot be measured", self, debounce_ms=_JUDGING_DEBOUNCE_MS, on_answer=self._take,
            on_error=partial(_log.info, "No metrics for held-out text: %s"),
        )  # fmt: skip
        self.task.changed.connect(self.changed)
        for signal in (model.state_changed, model.run_reset, runs.changed):
            signal.connect(self._judge)

    @property
    def figures(self) -> Judgement | None:
        """The figures by objective for the run that is shown, its own first; None if there are none yet or at all."""
        run, request = self._model.run, self._request
        found = next((figures for known, figures in self._known if _are_alike(known, request)), None)
        if run is None or found is None or self._model.hides_future:
            return None
        own = run.config.objective
        return {own: found[own]} | dict(sorted(found.items()))

    def _judge(self) -> None:
        shown = {id(run.counts) for run in self._runs.all}
        self._known = [each for each in self._known if id(each[0][0]) in shown]
        request = self._request_for(self._model.run) if self._model.state is TrainerState.FINISHED else None
        if _are_alike(request, self._request):
            return
        self._request = request
        self.task.forget()  # the words of a run that is gone, too
        if request is not None and self.figures is None:
            self.task.ask(*request, self._counting.max_word_length)
        self.changed.emit()

    def _request_for(self, run: Run | None) -> JudgingRequest | None:
        if run is None or run.library_run is not None or not len(run.history):
            return None
        corpus = corpus_to_divide(run)
        if corpus is None:
            return None
        config = settings_at(run, run.config, len(run.history))
        if config.min_value is None:  # all objectives are trained: it does not matter which one the run has
            config = replace(config, objective="likelihood")
        return run.counts, config, corpus.text or "", corpus.files

    def _take(self, figures: Judgement) -> None:
        assert self._request is not None
        self._known.append((self._request, figures))


def _are_alike(one: JudgingRequest | None, other: JudgingRequest | None) -> bool:
    """Return whether they say the same of the same words: equal ones of a run that is gone are forgotten with it."""
    return one is other or bool(one and other and one[0] is other[0] and one[1:] == other[1:])


def judged(
    counts: WordCounts, config: TrainingConfig, text: str, files: tuple[CorpusReference, ...], max_word_length: int, *,
    progress: Callable[[float], None], should_stop: Callable[[], bool],
) -> Judgement:  # fmt: skip
    progress(0.0)
    if must_compile_first(counts, config):
        compile_kernels(should_stop)
    verify = Fingerprint.of(counts, files).check
    again = Retraining(config, (counts.normalizer, counts.pre_tokenizer), verify=verify)
    request: Any = text, [each.file for each in files], again, max_word_length
    with Child("Held-out text cannot be measured", low_priority=True) as child:
        found: Judgement = child.call(judge, *request, progress=progress, should_stop=should_stop)
        return found
