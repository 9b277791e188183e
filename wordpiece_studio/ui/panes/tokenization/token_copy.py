"""Puts all tokens or ids of a text on the clipboard; a long text is gathered in slices beside everything else."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, QTimer, Signal

from wordpiece_studio.ui.widgets.exact_text import copy_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.session.live_text import LiveLine

_SLICE_SECONDS, _PAUSE_MS = 0.008, 4


class TokenCopy(QObject):
    """One copy at a time; the latest one wins."""

    finished = Signal(object)
    """How many tokens (int) are on the clipboard."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: Sequence[LiveLine] = ()
        self._what: Literal["tokens", "ids"] = "tokens"
        self._next = 0
        self._gathered: list[str] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PAUSE_MS)
        self._timer.timeout.connect(self._gather)

    def start(self, lines: Sequence[LiveLine], what: Literal["tokens", "ids"]) -> None:
        """Copy the tokens or the ids of these lines, as they are, with a space between two."""
        self._lines, self._what, self._next, self._gathered = lines, what, 0, []
        self._gather()

    def _gather(self) -> None:
        end = time.perf_counter() + _SLICE_SECONDS
        while self._next < len(self._lines):
            for word in self._lines[self._next].words:
                self._gathered += [piece.token if self._what == "tokens" else str(piece.id) for piece in word.pieces]
            self._next += 1
            if time.perf_counter() > end:
                self._timer.start()
                return
        count = len(self._gathered)
        copy_text(" ".join(self._gathered))
        self._lines, self._gathered = (), []
        self.finished.emit(count)
