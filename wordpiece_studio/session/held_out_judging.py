"""What the objectives make of text that was not trained on, with the settings of the run that is shown.

Three quick trainings on the larger part of its corpus, in a child process of low priority: they begin a moment after a
training has ended, and end when another run is shown or trained. Words with their counts, small texts, and a corpus
that is not here any more have no figures.
"""

from __future__ import annotations

import dataclasses
import json
import logging
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.corpus.count_tables import is_typed_counts
from wordpiece_studio.evaluation.metrics import MUCH_UNKNOWN
from wordpiece_studio.session.background_job import BackgroundJob
from wordpiece_studio.session.corpus_child import (
    FIGURES,
    READY,
    judge_in_child,
    messages_of,
    written_judge_order,
)
from wordpiece_studio.session.kernel_warmup import compile_kernels, must_compile_first
from wordpiece_studio.session.run import TrainerState
from wordpiece_studio.session.timers import single_shot
from wordpiece_studio.system.child_process import ChildProcess

if TYPE_CHECKING:
    import threading

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.session.background_job import Report
    from wordpiece_studio.session.corpus_counting import CorpusCounting
    from wordpiece_studio.session.run import Run
    from wordpiece_studio.session.runs import Runs
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.storage.project.contents import ProjectCorpus
    from wordpiece_studio.training.config import TrainingConfig

    Figures = dict[str, "HeldOutFigure"]
    """What each objective makes of the text."""

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


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class JudgingOrder:
    """What is judged: the settings of a run, with the words and the corpus that it was trained on."""

    counts: WordCounts
    config: TrainingConfig
    corpus: ProjectCorpus
    max_word_length: int

    def is_like(self, other: JudgingOrder | None) -> bool:
        """Return whether another order has the same figures."""
        if other is None or self.counts is not other.counts or self.config != other.config:
            return False
        return (self.corpus.text, self.corpus.files) == (other.corpus.text, other.corpus.files)


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
        self._order: JudgingOrder | None = None
        self._known: list[tuple[JudgingOrder, Figures]] = []
        self._progress: float | None = None
        self._timer = single_shot(self, self._on_timer_timeout, _REST_MS)
        self._job = BackgroundJob(judged, "Held-out text cannot be measured", self)
        self._job.reported.connect(self._on_job_reported)
        self._job.finished.connect(self._on_job_finished)
        self._job.failed.connect(self._on_job_failed)
        model.state_changed.connect(self._on_run_changed)
        model.run_reset.connect(self._on_run_changed)
        runs.changed.connect(self._on_run_changed)

    @property
    def figures(self) -> Figures | None:
        """The figures by objective for the run that is shown, its own first; None if there are none yet or at all."""
        run, order = self._model.run, self._order
        found = next((figures for known, figures in self._known if known.is_like(order)), None)
        if run is None or found is None:
            return None
        own = run.config.objective
        return {own: found[own]} | dict(sorted(found.items()))

    @property
    def progress(self) -> float | None:
        """How much of the work is done, from 0 to 1; None while there is none."""
        return self._progress

    def close(self) -> None:
        """Cancel what runs and wait for it to end."""
        self._timer.stop()
        self._job.close()

    def _on_run_changed(self, _value: object = None) -> None:
        shown = {id(run.counts) for run in self._runs.all}
        self._known = [each for each in self._known if id(each[0].counts) in shown]
        order = self._order_for(self._model.run) if self._model.state is TrainerState.FINISHED else None
        if order is self._order or (order is not None and order.is_like(self._order)):
            return
        self._order = order
        self._job.stop()
        self._timer.stop()
        self._progress = None
        if order is not None and self.figures is None:
            self._timer.start()
        self.changed.emit()

    def _order_for(self, run: Run | None) -> JudgingOrder | None:
        """Return what is to be judged; None if that makes no sense."""
        if run is None or run.library_run is not None or not len(run.history):
            return None
        corpus = corpus_to_divide(run)
        if corpus is None:
            return None
        config = settings_at(run, run.config, len(run.history))
        if config.min_value is None:  # all objectives are trained: it does not matter which one the run has
            config = dataclasses.replace(config, objective="likelihood")
        return JudgingOrder(run.counts, config, corpus, self._counting.max_word_length)

    def _on_timer_timeout(self) -> None:
        if self._order is not None:
            self._progress = 0.0
            self._job.begin(self._order)
            self.changed.emit()

    def _on_job_reported(self, progress: float) -> None:
        self._progress = progress
        self.changed.emit()

    def _on_job_finished(self, figures: Figures) -> None:
        self._progress = None
        if self._order is not None:
            self._known.append((self._order, figures))
        self.changed.emit()

    def _on_job_failed(self, error: StudioError) -> None:
        _log.info("No metrics for held-out text: %s", error)
        self._progress = None
        self.changed.emit()


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


def judged(order: JudgingOrder, stop: threading.Event, report: Report) -> Figures | None:
    """Return the figures by objective; None if canceled."""
    written = written_judge_order(order.counts, order.config, order.corpus, order.max_word_length)
    if must_compile_first(order.counts, order.config):
        compile_kernels(stop.is_set)
    child = ChildProcess(judge_in_child, written, failure="Held-out text cannot be measured")
    figures: Figures | None = None
    try:
        for kind, content in child.messages(stop):
            if kind == READY:
                for message in messages_of(order.corpus.text or "", None):
                    child.send(message)
            elif kind == FIGURES:
                figures = {name: HeldOutFigure(*figure) for name, figure in json.loads(bytes(content)).items()}
            else:
                report(json.loads(bytes(content)))
    finally:
        child.end()
    return None if stop.is_set() else figures
