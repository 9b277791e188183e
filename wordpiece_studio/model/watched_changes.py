"""The steps that change how the watched text is tokenized, for all panes that ask for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.model.film_strip import StripRow


class WatchedChanges(QObject):
    """The film strip's rows as every pane may look at them.

    Signals
    -------
    changed()
        `rows`, `steps` or `is_known` is another one.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[StripRow, ...] = ()
        self._steps: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._is_known = False

    @property
    def rows(self) -> tuple[StripRow, ...]:
        """The steps that changed the text, each with its token and the number of tokens after it."""
        return self._rows

    @property
    def steps(self) -> NDArray[np.int64]:
        """The steps that changed the text, from 1, ascending; int64, shape (n,)."""
        return self._steps

    @property
    def is_known(self) -> bool:
        """Whether `steps` is all of them: not while they are looked for, and not for a text that is too long."""
        return self._is_known

    def set_rows(self, rows: Sequence[StripRow], *, is_known: bool = True) -> None:
        """Take what was found."""
        self._rows, self._is_known = tuple(rows), is_known
        self._steps = np.array([row.step for row in self._rows], dtype=np.int64)
        self.changed.emit()

    def next_after(self, moment: int) -> int | None:
        """Return the first step after `moment` that changes the text, or None."""
        index = int(np.searchsorted(self._steps, moment, side="right"))
        return int(self._steps[index]) if index < len(self._steps) else None

    def previous_before(self, moment: int) -> int | None:
        """Return the last step before `moment` that changes the text, or None."""
        index = int(np.searchsorted(self._steps, moment, side="left")) - 1
        return int(self._steps[index]) if index >= 0 else None
