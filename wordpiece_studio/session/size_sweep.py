"""The sizes of the current run, and of the other runs of its corpus, measured beside the window while someone looks.

It is a sweep in a child process: vocabularies are trained on parts of the corpus, and measured on the others. Here are
what is asked for, and the figures at any size, which lie on a line between those of the sizes that were measured.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QObject, Signal

from wordpiece_studio.evaluation.sizes import FIGURES
from wordpiece_studio.libraries.library_training import is_replayable
from wordpiece_studio.libraries.sweep import SweepMethod, sweep
from wordpiece_studio.session.kernel_warmup import compile_kernels, must_compile_first
from wordpiece_studio.session.task import Task
from wordpiece_studio.session.tokenizer_figures import corpus_to_divide
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.system.child import Child

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.corpus.files import CorpusReference
    from wordpiece_studio.evaluation.held_out import Report
    from wordpiece_studio.evaluation.sizes import Sweep
    from wordpiece_studio.session.corpus_counting import CorpusCounting
    from wordpiece_studio.session.runs import Runs
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.storage.project.contents import Run

_DEBOUNCE_MS = 300
_NUMBER = 24  # of sizes, unless the user asks for others


class SizeSweep(QObject):
    changed = Signal()  # what is found, or the progress of `task`

    def __init__(
        self, model: TrainerModel, runs: Runs, counting: CorpusCounting, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._model, self._runs, self._counting = model, runs, counting
        self.sizes = ""  # as the user wrote them; empty for those of the runs
        self._is_wanted = False
        self._alike: dict[str, tuple[SweepMethod, list[Run]]] = {}
        self._request: tuple[Any, ...] | None = None
        self.task = Task(swept, "The sizes cannot be measured", self, debounce_ms=_DEBOUNCE_MS, on_answer=self._take)
        self.advised: dict[tuple[str, str], int | None] = {}  # sizes, by rule and method
        self.task.changed.connect(self.changed)
        for signal in (model.state_changed, model.run_reset, runs.changed):
            signal.connect(self.refresh)

    @property
    def method(self) -> str:
        """The name of the current run among the methods: the letter of the first run that is trained alike."""
        run = self._model.run
        return "" if run is None else next((each for each, (_, runs) in self._alike.items() if run in runs), run.letter)

    def runs_of(self, letter: str) -> list[Run]:
        """Return the runs of a method, the first of which has this letter; they differ in size alone."""
        return self._alike[letter][1] if letter in self._alike else []

    @property
    def found(self) -> Sweep | None:
        """What is known of the current run and the others of its corpus, but nothing while its future is hidden."""
        answered, request = self.task.answered, self._request
        if answered is None or request is None or answered[0] is not request[0] or self._model.hides_future:
            return None
        return self.task.answer if self.method in self.task.answer.methods else None

    @property
    def can_measure(self) -> bool:
        """Whether the corpus of the current run is known, and large enough to be divided."""
        return self._request is not None

    def at(self, method: str, figure: str, size: int) -> tuple[float, float]:
        """Return the mean and standard deviation of a figure at a size; no numbers beyond the sizes measured."""
        place, beyond = np.log(max(size, 1)), {"left": np.nan, "right": np.nan}
        mean, sd = (float(np.interp(place, self._places, each, **beyond)) for each in self._curves[method, figure])
        return mean, sd

    def _take(self, found: Sweep) -> None:
        """Work out all that is asked for at every frame while the size is dragged."""
        self._places = np.log(found.sizes)
        both = ((method, figure) for method in found.methods for figure in FIGURES)
        self._curves = {each: (found.mean(*each), found.deviation(*each)) for each in both}
        self.advised = {(each.rule, each.method): each.size for each in found.advice}

    def set_wanted(self, is_wanted: bool) -> None:
        self._is_wanted = is_wanted
        self.refresh()

    def set_sizes(self, sizes: str) -> None:
        self.sizes = sizes
        self.refresh()

    def refresh(self) -> None:
        self._request = self._wanted_request()
        if self._request is not None and self._is_wanted:
            self.task.ask(*self._request)
        elif self.task.is_running:
            self.task.stop()
        self.changed.emit()

    def _wanted_request(self) -> tuple[Any, ...] | None:
        self._alike, run = {}, self._model.run
        corpus = None if run is None else corpus_to_divide(run)
        is_finished = self._model.state is TrainerState.FINISHED
        if run is None or corpus is None or (is_finished and not run.history.has_steps):
            return None
        alike = [each for each in self._runs.all if each is run or _is_alike(each, run)]
        found: dict[str, tuple[SweepMethod, list[Run]]] = {}
        for each in alike:
            method = _method(each)
            known = next((runs for its, runs in found.values() if its == method), None)
            if known is None:
                found[each.letter] = method, [each]
            else:
                known.append(each)
        methods = {letter: method for letter, (method, _) in found.items()}
        sizes = self.sizes or f"1..{max(each.history.vocabulary_size(len(each.history)) for each in alike)}:{_NUMBER}"
        request = alike[0].counts, methods, corpus.text or "", corpus.files, sizes, self._counting.max_word_length
        if not is_finished and request != self.task.answered:
            return None  # a training changes nothing if all is known of its method
        self._alike = found
        return request


def _is_alike(run: Run, other: Run) -> bool:
    """Return whether a run has the corpus of another one and its words, and sizes that one training gives."""
    corpus, steps = run.origin.corpus, (run.counts.normalizer, run.counts.pre_tokenizer)
    is_quick = run.library_run is None or is_replayable(run.library_run.trainer)
    is_ended = run.stop_reason is not None and run.history.has_steps
    theirs = other.origin.corpus, (other.counts.normalizer, other.counts.pre_tokenizer)
    return is_quick and is_ended and (corpus, steps) == theirs


def _method(run: Run) -> SweepMethod:
    library_run = run.library_run
    config = run.config if library_run is None else library_run.config
    config = replace(config, vocab_size=None, max_merges=None, max_seconds=None)
    return SweepMethod(config, None if library_run is None else library_run.trainer)


def swept(
    counts: WordCounts, methods: dict[str, SweepMethod], text: str, files: tuple[CorpusReference, ...], sizes: str,
    max_word_length: int, *, progress: Report, should_stop: Callable[[], bool],
) -> Sweep:  # fmt: skip
    if must_compile_first(counts, next(iter(methods.values())).config):
        compile_kernels(should_stop)
    with Child("The sizes cannot be measured", low_priority=True) as child:
        found: Sweep = child.call(
            sweep, [each.file for each in files], methods, texts=[] if files else [text], sizes=sizes,
            normalizer=counts.normalizer, pre_tokenizer=counts.pre_tokenizer, max_word_length=max_word_length,
            progress=progress, should_stop=should_stop,
        )  # fmt: skip
        return found
