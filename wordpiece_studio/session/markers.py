"""The markers A and B on steps of the current run, and the difference between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.session.records import TrainerState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wordpiece_studio.session.trainer_model import TrainerModel

MarkerName = Literal["A", "B"]


@dataclass(frozen=True, slots=True)
class Distance:
    """What changes from one step to another, the second minus the first.

    Attributes
    ----------
    merges
        Number of merges.
    tokens
        Tokens in the vocabulary.
    symbols
        Symbols that the corpus consists of, weighted.
    """

    merges: int
    tokens: int
    symbols: int


class Markers(QObject):
    """The marked steps.

    They belong to the run. When another run replaces it, as the corpus is edited, they stay if the new run has the
    step; when a new run starts, they are removed.

    Signals
    -------
    changed()
        `a` or `b` has changed.
    """

    changed = Signal()

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._steps: dict[MarkerName, int] = {}
        model.run_reset.connect(self._on_model_run_reset)

    @property
    def a(self) -> int | None:
        """The step marked A."""
        return self._steps.get("A")

    @property
    def b(self) -> int | None:
        """The step marked B."""
        return self._steps.get("B")

    def step(self, name: MarkerName) -> int | None:
        """Return the step with this marker."""
        return self._steps.get(name)

    def set_step(self, name: MarkerName, step: int | None) -> None:
        """Mark a step of the run, or the nearest one it has; None removes the marker."""
        if step is None or self._model.history is None:
            self._steps.pop(name, None)
        else:
            self._steps[name] = max(0, min(step, self._model.merge_count))
        self.changed.emit()

    def set_steps(self, steps: Mapping[MarkerName, int]) -> None:
        """Mark exactly these steps, skipping those that the run does not have."""
        last = self._model.merge_count if self._model.history is not None else -1
        self._steps = {name: step for name, step in steps.items() if 0 <= step <= last}
        self.changed.emit()

    def toggle(self, name: MarkerName) -> None:
        """Mark the current step, or remove the marker if it is already there."""
        step = self._model.step
        self.set_step(name, None if self._steps.get(name) == step else step)

    def distance(self) -> Distance | None:
        """Return what changes from A to B; None unless both are set."""
        history, a, b = self._model.history, self.a, self.b
        if history is None or a is None or b is None or max(a, b) > self._model.merge_count:
            return None
        return Distance(
            b - a,
            history.vocabulary_size(b) - history.vocabulary_size(a),
            history.symbols_after(b) - history.symbols_after(a),
        )

    def _on_model_run_reset(self) -> None:
        history = self._model.history
        # A new run is training at first; a run that replaces another is complete.
        last = len(history) if history is not None and self._model.state is TrainerState.FINISHED else -1
        kept: dict[MarkerName, int] = {name: step for name, step in self._steps.items() if step <= last}
        if kept != self._steps:
            self._steps = kept
            self.changed.emit()
