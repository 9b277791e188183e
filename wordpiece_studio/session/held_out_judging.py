"""What the objectives make of text that was not trained on, with the settings of the run that is shown.

Three quick trainings on the larger part of its corpus, in a child process of low priority: they begin a moment after a
training has ended, and end when another run is shown or trained. Words with their counts, small texts, and a corpus
that is not here any more have no figures.
"""

from __future__ import annotations

import dataclasses
import logging
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.corpus.count_tables import is_typed_counts
from wordpiece_studio.evaluation.metrics import MUCH_UNKNOWN
from wordpiece_studio.session.kernel_warmup import compile_kernels, must_compile_first
from wordpiece_studio.session.measuring import Fingerprint, judge
from wordpiece_studio.session.run import TrainerState
from wordpiece_studio.session.task import Task
from wordpiece_studio.system.child import Child

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.corpus.files import CorpusReference
    from wordpiece_studio.session.corpus_counting import CorpusCounting
    from wordpiece_studio.session.run import Run
    from wordpiece_studio.session.runs import Runs
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.storage.project.contents import ProjectCorpus
    from wordpiece_studio.training.config import TrainingConfig

    Figures = dict[str, "HeldOutFigure"]
    """What each objective makes of the text."""
    Request = tuple[WordCounts, TrainingConfig, str, tuple[CorpusReference, ...]]
    """The words of a run, its settings, and the text or the files of its corpus."""

_log = logging.getLogger(__name__)

LEAST_WORDS = 2000
"""A tenth of a smaller corpus is too little text to judge by."""
_REST_MS = 500
_RULES = ("vocab_size", "no_pair", "min_frequency", "min_value", "max_merges")
"""Reasons why a training ended that end a training on a part of the corpus in the same way."""


class HeldOutFigure(NamedTuple):
    """Tokens a word, and the share of them that is unknown."""

    rate: float
    unknown: float = 0.0

    @property
    def loses_text(self) -> bool:
        """Whether so much is unknown that the rate is better than it should be."""
        return self.unknown > MUCH_UNKNOWN


class HeldOutJudging(QObject):
    """The figures for the run that is shown.

    Signals
    -------
    changed()
        `figures` or `progress` has changed.
    """

    changed = Signal()

    def __init__(
        self, model: TrainerModel, runs: Runs, counting: CorpusCounting, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._runs = runs
        self._counting = counting
        self._request: Request | None = None
        self._known: list[tuple[Request, Figures]] = []
        self.task = Task(
            judged, "Held-out text cannot be measured", self, debounce_ms=_REST_MS, on_answer=self._take_figures,
            on_error=partial(_log.info, "No metrics for held-out text: %s"),
        )  # fmt: skip
        self.task.changed.connect(self.changed)
        for signal in (model.state_changed, model.run_reset, runs.changed):
            signal.connect(self._judge)

    @property
    def figures(self) -> Figures | None:
        """The figures by objective for the run that is shown, its own first; None if there are none yet or at all."""
        run, request = self._model.run, self._request
        found = next((figures for known, figures in self._known if _are_alike(known, request)), None)
        if run is None or found is None:
            return None
        own = run.config.objective
        return {own: found[own]} | dict(sorted(found.items()))

    @property
    def progress(self) -> float | None:
        """How much of the work is done, from 0 to 1; None while there is none."""
        progress: float | None = self.task.progress
        return progress

    def close(self) -> None:
        self.task.close()

    def _judge(self) -> None:
        shown = {id(run.counts) for run in self._runs.all}
        self._known = [each for each in self._known if id(each[0][0]) in shown]
        request = self._request_for(self._model.run) if self._model.state is TrainerState.FINISHED else None
        if request is self._request or (request is not None and _are_alike(request, self._request)):
            return
        self._request = request
        self.task.forget()  # the words of a run that is gone, too
        if request is not None and self.figures is None:
            self.task.ask(*request, self._counting.max_word_length)
        self.changed.emit()

    def _request_for(self, run: Run | None) -> Request | None:
        """Return what is to be judged; None if that makes no sense."""
        if run is None or run.library_run is not None or not len(run.history):
            return None
        corpus = corpus_to_divide(run)
        if corpus is None:
            return None
        config = settings_at(run, run.config, len(run.history))
        if config.min_value is None:  # all objectives are trained: it does not matter which one the run has
            config = dataclasses.replace(config, objective="likelihood")
        return run.counts, config, corpus.text or "", corpus.files

    def _take_figures(self, figures: Figures) -> None:
        if self._request is not None:
            self._known.append((self._request, figures))


def _are_alike(one: Request, other: Request | None) -> bool:
    return other is not None and one[0] is other[0] and one[1:] == other[1:]


def corpus_to_divide(run: Run) -> ProjectCorpus | None:
    """Return the corpus of a run, of which a part can be held out; None if it has no lines, few words, or is gone."""
    return corpus_with_lines(run.origin.corpus, run.counts) if run.counts.total >= LEAST_WORDS else None


def corpus_with_lines(corpus: ProjectCorpus | None, counts: WordCounts) -> ProjectCorpus | None:
    """Return a corpus that words were counted in; None if it has no lines, is gone, or only a part was counted.

    Nor is one of files that the user has not agreed to reading, see `CorpusFile.unagreed`.
    """
    if corpus is None or counts.statistics.is_partial or any(each.file.unagreed for each in corpus.files):
        return None
    has_lines = all(each.file.kind != "word-counts" for each in corpus.files)
    return corpus if has_lines and not is_typed_counts(corpus.text or "") else None


def settings_at(run: Run, config: TrainingConfig, step: int) -> TrainingConfig:
    """Return settings for a part of the corpus, by which a training ends where that of the run was at a step."""
    if step < len(run.history) or run.stop_reason not in (*_RULES, "peer"):
        config = dataclasses.replace(config, vocab_size=run.history.vocabulary_size(step))
    return dataclasses.replace(config, max_seconds=None)


def judged(
    counts: WordCounts,
    config: TrainingConfig,
    text: str,
    files: tuple[CorpusReference, ...],
    max_word_length: int,
    *,
    progress: Callable[[float], None],
    should_stop: Callable[[], bool],
) -> Figures:
    """Return the figures by objective, see `judge`."""
    progress(0.0)
    if must_compile_first(counts, config):
        compile_kernels(should_stop)
    request: Any = [each.file for each in files], (counts.normalizer, counts.pre_tokenizer), config
    fingerprint = Fingerprint.of(counts, files)
    with Child("Held-out text cannot be measured", low_priority=True) as child:
        found = child.call(
            judge, text, *request, fingerprint, max_word_length, progress=progress, should_stop=should_stop
        )
    return {objective: HeldOutFigure(*figure) for objective, figure in found.items()}
