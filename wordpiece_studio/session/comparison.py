"""The runs that are compared with the one that is shown, each at the step with the nearest size of vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

from wordpiece_studio.session.shown_run import TokenizerCache

if TYPE_CHECKING:
    from wordpiece_studio.session.run import Run
    from wordpiece_studio.session.runs import Runs
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.tokenizer.tokenizer import Tokenizer
    from wordpiece_studio.training.history import MergeHistory


@dataclass(frozen=True, slots=True)
class AlignedRun:
    """A run at the step that belongs to the one that is shown; `is_at_end`: its vocabulary never gets that large."""

    run: Run
    step: int
    is_at_end: bool


class Comparison(QObject):
    """Aligns the compared runs by the size of their vocabulary.

    Signals
    -------
    changed()
        Other runs are compared, or one of them has changed.
    """

    changed = Signal()

    def __init__(self, model: TrainerModel, runs: Runs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._runs = runs
        self._tokenizers: dict[Run, TokenizerCache] = {}
        runs.changed.connect(self._on_runs_changed)

    @property
    def others(self) -> tuple[Run, ...]:
        """The compared runs other than the one that is shown."""
        return tuple(run for run in self._runs.compared if run is not self._runs.current)

    @property
    def size(self) -> int:
        """The size of the vocabulary at the step shown; 0 if nothing was trained."""
        history = self._model.history
        return 0 if history is None else history.vocabulary_size(self._model.step)

    def aligned(self) -> list[AlignedRun]:
        """Return `others`, each at its largest vocabulary that is no larger than the one shown."""
        return [AlignedRun(run, *step_of_size(run.history, self.size)) for run in self.others]

    def tokenizer(self, aligned: AlignedRun) -> Tokenizer:
        """Return the tokenizer of a run at its step, with the pipeline of its words."""
        run = aligned.run
        return self._tokenizers.setdefault(run, TokenizerCache()).at(run.history, run.counts, aligned.step)

    def _on_runs_changed(self) -> None:
        for run in self._tokenizers.keys() - set(self._runs.compared):
            del self._tokenizers[run]
        self.changed.emit()


def step_of_size(history: MergeHistory, size: int) -> tuple[int, bool]:
    """Return the last step with at most `size` tokens, or 0, and whether the history ends before that size."""
    sizes = history.vocabulary_sizes()
    step = int(np.searchsorted(sizes, size, side="right"))
    return step, step == len(sizes) and history.vocabulary_size(step) < size
