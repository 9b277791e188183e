"""The steps that change how the live text is tokenized, for all panes that ask for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

from wordpiece_studio.session.live_timeline import TextSummary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.session.text_changes import TextChange

_NOTHING = TextSummary(0, 0, 0)


class LiveChanges(QObject):
    """The list of changes's rows as every pane may look at them; `live_finder.py` finds them.

    Signals
    -------
    changed()
        `rows`, `steps` or `is_known` has changed.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: Sequence[TextChange] = ()
        self._steps: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._is_known = False
        self._start = _NOTHING

    @property
    def rows(self) -> Sequence[TextChange]:
        """The steps that changed the text, each with its token and the number of tokens after it."""
        return self._rows

    @property
    def steps(self) -> NDArray[np.int64]:
        """The steps that changed the text, from 1, ascending; int64, shape (n,)."""
        return self._steps

    @property
    def is_known(self) -> bool:
        """Whether `steps` is all of them; not while they are looked for."""
        return self._is_known

    @property
    def words(self) -> int:
        """How many words the text has."""
        return self._start.words

    @property
    def tokens_before(self) -> int:
        """How many tokens the text has before the first merge."""
        return self._start.tokens

    def set_rows(
        self,
        rows: Sequence[TextChange],
        *,
        is_known: bool = True,
        steps: NDArray[np.int64] | None = None,
        start: TextSummary = _NOTHING,
    ) -> None:
        """Take what was found; `steps`: those of the rows, if they are at hand; `start`: the text at step 0."""
        self._rows, self._is_known, self._start = rows, is_known, start
        self._steps = np.array([row.step for row in rows], dtype=np.int64) if steps is None else steps
        self.changed.emit()

    def set_unknown(self) -> None:
        """Say that what there is may not be all of it any more."""
        if self._is_known:
            self._is_known = False
            self.changed.emit()

    def summary_at(self, step: int) -> TextSummary:
        """Return how many words, tokens and unknown words the text has at a step, as far as `is_known`."""
        past = int(np.searchsorted(self._steps, step, side="right"))
        tokens = self._rows[past - 1].tokens if past else self._start.tokens
        return TextSummary(self._start.words, tokens, self._start.unknown)

    def next_after(self, step: int) -> int | None:
        """Return the first step after `step` that changes the text, or None."""
        index = int(np.searchsorted(self._steps, step, side="right"))
        return int(self._steps[index]) if index < len(self._steps) else None

    def previous_before(self, step: int) -> int | None:
        """Return the last step before `step` that changes the text, or None."""
        index = int(np.searchsorted(self._steps, step, side="left")) - 1
        return int(self._steps[index]) if index >= 0 else None
