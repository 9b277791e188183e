"""The data of the charts: one run at its step, and its curves with at most two numbers per pixel column."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wordpiece_studio.session.step_marks import text_of_token

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.session.live_text import TextSummary
    from wordpiece_studio.session.measuring import HeldOutFigure
    from wordpiece_studio.session.session import Session
    from wordpiece_studio.training.history import MergeHistory


_LEAST = float(np.nextafter(0.0, 1.0))
_MERGES_A_TURN = 40_000  # these take about 8 ms; more at once would stall the window


class TokenLengths:
    """The lengths of the tokens of one history, in characters without prefix and suffix, by vocabulary id."""

    def __init__(self) -> None:
        self._history: MergeHistory | None = None
        self._lengths = array("i")
        self.merges = 0  # how many merges have been processed

    def catch_up(self, history: MergeHistory, merges: int) -> bool:
        """Process merges up to `merges`, a limited number per call; return whether that was all of them."""
        if history is not self._history:
            config = history.config
            prefix, suffix = config.continuing_subword_prefix, config.end_of_word_suffix or ""
            tokens = history.vocabulary(0).tokens
            self._history, self.merges = history, 0
            self._lengths = array("i", (len(token.removeprefix(prefix).removesuffix(suffix)) for token in tokens))
        end = min(merges, self.merges + _MERGES_A_TURN)
        names = ("left_id", "right_id", "new_id")
        columns = (history.column(name)[self.merges : end].tolist() for name in names)
        lengths = self._lengths
        for left, right, new in zip(*columns, strict=True):
            if new == len(lengths):
                lengths.append(lengths[left] + lengths[right])
        self.merges = max(end, self.merges)
        return self.merges >= merges

    def first(self, size: int) -> NDArray[np.int32]:
        """Return the lengths of the first `size` tokens, as far as known; int32, special tokens included."""
        return np.array(self._lengths[:size], dtype=np.int32)

    def of(self, token_id: int) -> int | None:
        return self._lengths[token_id] if token_id < len(self._lengths) else None


class SelectedToken(NamedTuple):
    """The selected token: its text, its id, and the step that made it (0: present from the beginning)."""

    text: str
    id: int
    birth: int


class ChartSource:
    def __init__(self, session: Session) -> None:
        self.model, self.usage, self.changes = session.model, session.usage, session.changes
        self._judging = session.judging
        self.lengths = TokenLengths()
        self.edition = 0  # becomes another one when figures change that are of the same merges

    @property
    def history(self) -> MergeHistory | None:
        return self.model.history if self.model.merge_count else None

    @property
    def merges(self) -> MergeHistory:
        """The history, which must have merges."""
        assert self.history is not None
        return self.history

    @property
    def count(self) -> int:
        return self.model.merge_count

    @property
    def step(self) -> int:
        return self.model.step

    @property
    def held_out(self) -> HeldOutFigure | None:
        """What a training on the rest makes of held-out text at the last step; None if not known."""
        figures = self._judging.figures
        return None if figures is None else next(iter(figures.values()))

    @property
    def selected(self) -> SelectedToken | None:
        """The token that the selection stands for: itself, the one its pair makes, or its whole word as a token.

        None if there is no such token yet.
        """
        selection, history = self.model.selection, self.history
        vocabulary = self.model.vocabulary_at(self.count)
        if selection is None or history is None or vocabulary is None:
            return None
        text = selection.text if selection.kind == "word" else text_of_token(selection, vocabulary)
        token_id = vocabulary.id_of(text)
        return None if token_id is None else SelectedToken(text, token_id, history.birth_step(token_id))


class Curve(NamedTuple):
    """Points to draw, float64 of shape (n,), joined in order, or every two by a vertical line: a column's range."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    is_columns: bool = False


def value_curve(values: NDArray[np.float64], columns: int) -> Curve:
    """Return the value of each merge over its step, from 1, for a curve as many pixels wide as there are columns.

    If these are fewer than the merges, each has the smallest and the largest value in it, and touches its neighbors.
    """
    count = len(values)
    if count <= columns:
        return Curve(np.arange(1, count + 1, dtype=np.float64), np.asarray(values, dtype=np.float64))
    starts, middles = _columns_of(count, columns)
    coming_from = values[np.maximum(starts - 1, 0)]
    lows = np.minimum(np.minimum.reduceat(values, starts), coming_from)
    highs = np.maximum(np.maximum.reduceat(values, starts), coming_from)
    return Curve(np.repeat(middles, 2), np.column_stack((lows, highs)).ravel(), is_columns=True)


def median_curve(values: NDArray[np.float64], columns: int) -> Curve:
    """Return the median of the values, more than `columns`, in each pixel column; of two middle ones, the greater."""
    starts, middles = _columns_of(len(values), columns)
    sizes = np.diff(np.append(starts, len(values)))
    medians = np.empty(columns, dtype=np.float64)
    for size in np.unique(sizes).tolist():  # two sizes at most
        which = np.flatnonzero(sizes == size)
        block = values[starts[which][:, np.newaxis] + np.arange(size)]
        block.partition(size // 2, axis=1)
        medians[which] = block[:, size // 2]
    return Curve(middles, medians)


def _columns_of(count: int, columns: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the index of the first merge in each pixel column, and the step in its middle."""
    starts = np.arange(columns, dtype=np.int64) * count // columns
    return starts, (starts + np.append(starts[1:], count) + 1) / 2


def sampled_steps(count: int, columns: int) -> NDArray[np.int64]:
    """Return the steps 0 to `count`, or about two per pixel column; enough for a monotonic curve."""
    if count + 1 <= 2 * columns:
        return np.arange(count + 1, dtype=np.int64)
    return np.unique(np.linspace(0, count, 2 * columns).round().astype(np.int64))


def height_curve(values: NDArray[np.float64], columns: int) -> Curve:
    """Return the `value_curve` with logarithmic heights from 0 (the smallest value) to 1 (the largest).

    Values without a logarithm (zero and below) lie at 0. If all are equal, they lie in the middle, at 0.5.
    """
    curve = value_curve(values, columns)
    positive = curve.y
    if not ((positive > 0) & (positive < np.inf)).all():
        has_log = (values > 0) & (values < np.inf)
        curve, positive = value_curve(np.where(has_log, values, 0.0), columns), values[has_log]
    low, high = np.log(positive.min(initial=np.inf)), np.log(positive.max(initial=_LEAST))
    logs = np.log(curve.y, out=np.full(len(curve.y), -np.inf), where=curve.y > 0)
    if high > low:
        return Curve(curve.x, np.maximum((logs - low) / (high - low), 0.0), curve.is_columns)
    return Curve(curve.x, np.where(curve.y > 0, 0.5, 0.0), curve.is_columns)


def thinned(steps: NDArray[np.int64], count: int, columns: int) -> NDArray[np.int64]:
    """Return the steps, ascending, at which to draw a mark: at most one in each of the columns for `count` merges."""
    if len(steps) > columns:
        column_of = steps * columns // max(count, 1)
        steps = steps[np.diff(column_of, prepend=-1) > 0]
    return steps


def tie_steps(history: MergeHistory, count: int, columns: int) -> NDArray[np.int64]:
    """Return which of the first `count` steps (from 1) had a tie, at most one per pixel column."""
    return thinned(np.flatnonzero(history.column("ties")[:count] > 1), count, columns) + 1


def held_curve(
    steps: NDArray[np.int64], tokens: NDArray[np.int64], start: TextSummary, count: int, columns: int
) -> Curve:
    """Return the tokens per word of the live text over the steps: a staircase that falls where a step changes it.

    The steps are ascending, with the number of tokens after each. With more stairs than half the pixel columns, it
    consists of the values at evenly spaced steps instead.
    """
    heights = np.concatenate(([start.tokens], tokens)) / start.words
    shown = int(np.searchsorted(steps, count, side="right"))
    if shown > columns // 2:
        places = sampled_steps(count, columns // 2)
        return Curve(places.astype(np.float64), heights[np.searchsorted(steps, places, side="right")])
    ends = np.concatenate(([0], steps[:shown], [count])).astype(np.float64)
    return Curve(np.repeat(ends, 2)[1:-1], np.repeat(heights[: shown + 1], 2))


def spread_ranks(count: int, columns: int) -> NDArray[np.int64]:
    """Return ranks from 1 to `count`, at least about a pixel apart on a logarithmic axis of `columns` pixels."""
    if not count:
        return np.zeros(0, dtype=np.int64)
    return np.unique(np.geomspace(1, count, max(columns, 2)).round().astype(np.int64))
