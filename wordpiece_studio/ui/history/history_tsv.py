"""Rows of the merge history as tab-separated text, with their exact values."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from wordpiece_studio.core.training.history import MergeHistory

TITLES = (
    "step",
    "left",
    "right",
    "token",
    "pair_frequency",
    "left_frequency",
    "right_frequency",
    "value",
    "ties",
    "vocabulary_size",
    "symbols_after",
)
_NUMBERS = ("pair_frequency", "left_frequency", "right_frequency", "value", "ties")
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def history_tsv(history: MergeHistory, steps: NDArray[np.int64]) -> str:
    """Return one line for each step, below a line of titles; numbers are exact and the same in every language.

    Parameters
    ----------
    steps
        Steps from 1, shape (n_rows,), in the order wanted.
    """
    rows = steps - 1
    columns: list[Sequence[object]] = [steps.tolist()]
    for name in ("left_id", "right_id", "new_id"):
        tokens = (history.token(token_id) for token_id in history.column(name)[rows].tolist())
        columns.append([token.translate(_ESCAPES) for token in tokens])
    columns += [history.column(name)[rows].tolist() for name in _NUMBERS]
    columns.append(history.vocabulary_sizes()[rows].tolist())
    columns.append([history.symbols_after(step) for step in steps.tolist()])
    lines = ["\t".join(TITLES)]
    lines += ["\t".join(map(str, row)) for row in zip(*columns, strict=True)]
    return "\n".join(lines) + "\n"
