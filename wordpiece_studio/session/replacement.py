"""The run that is being trained to take the place of the one shown, and the step that is shown on either side of it.

Plain Python; what is done with it is the affair of `trainer_model.py`.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING

from wordpiece_studio.session.training_messages import ReplaceRequest

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.training.config import TrainingConfig


class Replacement:
    """At most one is under way; whoever begins another one gives it up."""

    def __init__(self) -> None:
        self._request: ReplaceRequest | None = None
        self._missed: int | None = None  # the step that was chosen, where no run has gone beyond it since

    @property
    def is_under_way(self) -> bool:
        """Whether a run is being trained."""
        return self._request is not None

    def begin(self, run: int, counts: WordCounts, config: TrainingConfig) -> ReplaceRequest:
        """Return the request for the worker."""
        self.give_up()
        self._request = ReplaceRequest(run, counts, config, threading.Event())
        return self._request

    def give_up(self) -> None:
        """Have the worker leave off; what it says of that run is no longer `taken`."""
        if self._request is not None:
            self._request.stop.set()
            self._request = None

    def taken(self, run: int) -> bool:
        """Return whether `run` is the one that is under way; it is over then."""
        if self._request is None or self._request.run != run:
            return False
        self._request = None
        return True

    def forget_step(self) -> None:
        """Note that another step was chosen."""
        self._missed = None

    def wanted_step(self, step: int, *, is_head: bool) -> float:
        """Return the step to show instead of `step`; infinity is the head."""
        if self._missed is not None:
            return self._missed
        return math.inf if is_head else step

    def step(self, wanted: float, last: int) -> int:
        """Return the step nearest to `wanted`; a later run may reach further, but no one has asked for its head."""
        self._missed = int(wanted) if last <= wanted < math.inf else None
        return int(min(wanted, last))
