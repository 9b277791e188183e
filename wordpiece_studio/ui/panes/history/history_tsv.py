"""Rows of the merge history as tab-separated text, with their exact values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.session.pacing import Turn
from wordpiece_studio.storage.merge_table import MERGE_COLUMNS, merge_parts

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from wordpiece_studio.training.history import MergeHistory

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def history_tsv(
    history: MergeHistory, steps: NDArray[np.int64], should_stop: Callable[[], bool] = lambda: False
) -> str:
    """Return one line for each step, below a line of titles; numbers are exact and the same in every language.

    Parameters
    ----------
    steps
        Steps from 1, shape (n_rows,), in the order wanted.

    Raises
    ------
    NotWanted
        If `should_stop` says so.
    """
    lines, turn = ["\t".join(MERGE_COLUMNS)], Turn()
    for columns in merge_parts(history, steps, should_stop):
        for name in ("left", "right", "token"):
            columns[name] = [token.translate(_ESCAPES) for token in columns[name]]
        lines += ["\t".join(map(str, row)) for row in zip(*(columns[name] for name in MERGE_COLUMNS), strict=True)]
        turn.give()
    return "\n".join(lines) + "\n"
