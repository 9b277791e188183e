"""The charts: four over the steps, and two of the vocabulary at the current step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt

from wordpiece_studio.evaluation.metrics import (
    fertility_at,
    length_histogram,
    rank_frequency,
    symbols_at,
    vocabulary_sizes_at,
)
from wordpiece_studio.session.chart_source import (
    Curve,
    held_curve,
    median_curve,
    sampled_steps,
    spread_ranks,
    tie_steps,
    value_curve,
)
from wordpiece_studio.session.plural import counted, plural
from wordpiece_studio.ui.panes.charts.canvas import linear_ticks, log_ticks
from wordpiece_studio.ui.panes.charts.chart import Chart, StepChart
from wordpiece_studio.ui.widgets.fields import is_alone, keep
from wordpiece_studio.ui.widgets.token_text import held_out_text, number_text, signed_text, token_text, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QKeyEvent

    from wordpiece_studio.ui.panes.charts.canvas import Canvas, Range
    from wordpiece_studio.ui.panes.charts.chart import Point
    from wordpiece_studio.ui.widgets.theme import Colors

_LOW_LINES = 4
"""A plot with a height of fewer text lines has no room for labels beside its curves."""
_BAR = 0.8
_MOST_POINTS = 400


class ValueChart(StepChart):
    """The value of each merge (score, gain or count) on a logarithmic axis; a triangle below marks a tie."""

    def title(self) -> str:
        return self.tr("Merge score")

    def _make_more_items(self, canvas: Canvas, colors: Colors) -> None:
        self._medians = canvas.add_curve()
        self.ties = canvas.add_dots(colors.tie)
        self._floor = 0.0

    @property
    def _values(self) -> NDArray[np.float64]:
        values: NDArray[np.float64] = self.history.column("value")[: self.source.count]
        return values

    def draw(self) -> None:
        values, columns, colors = self._values, self.canvas.columns, self.canvas.colors
        curve = value_curve(values, columns)
        positive = curve.y[np.isfinite(curve.y) & (curve.y > 0)]
        self._floor = float(np.log10(positive.min())) if len(positive) else 0.0
        top = float(np.log10(positive.max())) if len(positive) else 1.0
        margin = max((top - self._floor) * 0.08, 0.02)
        low, high = self.y_range = (self._floor - 1.6 * margin, top + 1.4 * margin)
        is_dense = curve.is_columns
        self.draw_curve(self.curve, self._in_logs(curve), colors.bar if is_dense else colors.accent)
        self._medians.setVisible(is_dense)
        if is_dense:
            self.draw_curve(self._medians, self._in_logs(median_curve(values, columns)), colors.accent)
        ties = tie_steps(self.history, self.source.count, columns // 4)
        heights = np.full(len(ties), low + (high - low) * 0.025)
        self.ties.setData(ties.astype(np.float64), heights, symbol="t1", size=8 if self.has_dots else 5)
        self.draw_axes(self._caption(is_dense), self.tr("Merge"), log_ticks(low, high, self.y_marks))

    def _caption(self, is_dense: bool) -> str:
        config = self.source.model.config
        names = {
            "score": self.tr("Score n(ab) / (n(a) × n(b))"),
            "likelihood": self.tr("Gain in log-likelihood (nats)"),
            "count": self.tr("Pair count"),
        }
        parts = [names["score" if config is None else config.objective], "▲ " + self.tr("Tie")]
        if is_dense:
            parts.append(self.tr("Line: median; band: range"))
        return "   ".join(parts)

    def _in_logs(self, curve: Curve) -> Curve:
        return Curve(curve.x, self._logs(curve.y), curve.is_columns)

    def _logs(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return logarithms; values without one lie at the lower edge of the curve."""
        logs = np.full(len(values), self._floor)
        has_one = np.isfinite(values) & (values > 0)
        logs[has_one] = np.log10(values[has_one])
        return logs

    def points_at(self, step: int) -> Sequence[Point]:
        """Return the point of a merge; there is none before the first merge."""
        return [(float(step), float(self._logs(self._values[step - 1 : step])[0]))] if step else []

    def figures_at(self, step: int) -> str:
        config = self.source.model.config
        if config is None or not step:
            return self.tr("Before the first merge")
        merge = self.history[step - 1]
        said = {
            "score": self.tr("Merge {step}: score {value}"),
            "likelihood": self.tr("Merge {step}: gain {value}"),
            "count": self.tr("Merge {step}: count {value}"),
        }[config.objective]
        left, right, token = (token_text(each, 24) for each in (merge.left, merge.right, merge.token))
        parts = [said.format(step=number_text(step), value=value_text(merge.value)), f"{left} + {right} → {token}"]
        if merge.ties > 1:
            parts.append(self.tr("tie of {count}").format(count=number_text(merge.ties)))
        return " · ".join(parts)


class SymbolsChart(StepChart):
    """The number of symbols that make up the corpus, against vocabulary size."""

    def title(self) -> str:
        return self.tr("Symbols by vocabulary size")

    def draw(self) -> None:
        steps = sampled_steps(self.source.count, self.canvas.columns)
        symbols = symbols_at(self.history, steps).astype(np.float64)
        self.y_range = _padded(float(symbols.min()), float(symbols.max()))
        curve = Curve(vocabulary_sizes_at(self.history, steps).astype(np.float64), symbols)
        self.draw_curve(self.curve, curve, self.canvas.colors.accent)
        ticks = linear_ticks(*self.y_range, self.y_marks, whole=True)
        self.draw_axes(self.tr("Symbols in the corpus"), self.tr("Tokens in the vocabulary"), ticks)

    def place_of(self, step: int) -> float:
        return float(self.history.vocabulary_size(step))

    def step_at(self, x: float) -> int:
        """Return the first step after which the vocabulary has about this size."""
        if x <= self.history.vocabulary_size(0):
            return 0
        sizes = self.history.vocabulary_sizes()[: self.source.count]
        return min(int(np.searchsorted(sizes, round(x))) + 1, self.source.count)

    def points_at(self, step: int) -> Sequence[Point]:
        return [(self.place_of(step), float(self.history.symbols_after(step)))]

    def figures_at(self, step: int) -> str:
        tokens, symbols = self.history.vocabulary_size(step), self.history.symbols_after(step)
        return self.tr("After merge {step}: {tokens}, {symbols}").format(
            step=number_text(step),
            tokens=counted(tokens, "1 token", "{count} tokens"),
            symbols=counted(symbols, "1 symbol in the corpus", "{count} symbols in the corpus"),
        )


class FertilityChart(StepChart):
    """Tokens per word of the training corpus, as it is merged, and of the live text, as longest match splits it.

    A dot at the last step stands for text that was held out, where a part of the corpus can be.
    """

    def title(self) -> str:
        return self.tr("Tokens per word")

    def _make_more_items(self, canvas: Canvas, colors: Colors) -> None:
        self.live = canvas.add_curve()
        self.held_out = canvas.add_dots(colors.accent_ink, canvas.pen(colors.surface, 1.5), 5)
        self._labels = [canvas.add_label(color, self.font()) for color in (colors.accent_ink, colors.tie_text)]

    @property
    def _live_words(self) -> int:
        changes = self.source.changes
        return changes.summary_at(0).words if changes.is_known else 0

    def draw(self) -> None:
        colors, line = self.canvas.colors, self.fontMetrics().height()
        steps = sampled_steps(self.source.count, self.canvas.columns)
        corpus = Curve(steps.astype(np.float64), fertility_at(self.history, steps))
        live = self._live_curve()
        found = self.source.held_out
        held_out = [] if found is None else [found.rate]
        highest = max(corpus.y.max(), live.y.max(initial=0.0), *held_out)
        lowest = min(corpus.y.min(), live.y.min(initial=np.inf), *held_out)
        self.held_out.setData([float(self.source.count)] * len(held_out), held_out, size=10)
        low, high = _padded(float(lowest), float(highest))
        is_low = self.canvas.rows < _LOW_LINES * line
        texts = [] if is_low else self._label_texts(corpus, live)
        if texts:
            low = max(low - (high - low) * 1.6 * line / self.canvas.rows, 0.0)  # room below the lower curve
            high = self.top_for_text(low, high, max(place for _, place, is_above in texts if is_above))
        self.y_range = low, high
        self.draw_curve(self.curve, corpus, colors.accent)
        self.draw_curve(self.live, live, colors.tie_text, Qt.PenStyle.DashLine)
        for each in self._labels:
            each.clear()
        for each, (text, place, is_above) in zip(self._labels, texts, strict=False):
            each.write(text, float(self.source.count), place, 1, 1 if is_above else 0)
        caption = [self.tr("Tokens per word")]
        if is_low:  # no room for labels beside the curves
            names = "— " + self.tr("Training corpus"), "- - " + self.tr("Live text")
            caption += names[: 1 + bool(len(live.x))]
        if found is not None:
            caption.append(self.tr("● {rate} on held-out text").format(rate=held_out_text(found)))
        self.draw_axes("   ".join(caption), self.tr("Merge"), linear_ticks(low, high, self.y_marks))

    def _live_curve(self) -> Curve:
        changes = self.source.changes
        if not self._live_words:
            return Curve(np.empty(0), np.empty(0))
        steps, tokens = changes.steps, self.source.live_tokens()
        return held_curve(steps, tokens, changes.summary_at(0), self.source.count, self.canvas.columns)

    def _label_texts(self, corpus: Curve, live: Curve) -> list[tuple[str, float, bool]]:
        """Return the label of each curve: above the higher end and below the lower one, clear of both curves.

        Text, position on the vertical axis, and whether the text stands above it.
        """
        curves, last = [each for each in (corpus, live) if len(each.x)], float(self.source.count)
        texts = self.tr("Training corpus, as merged"), self.tr("Live text, as tokenized")
        if max(map(self.fontMetrics().horizontalAdvance, texts)) > self.canvas.columns * 0.6:
            texts = self.tr("Training corpus"), self.tr("Live text")
        highest = int(np.argmax([float(each.y[-1]) for each in curves]))
        found = []
        for index in range(len(curves)):
            span = self.fontMetrics().horizontalAdvance(texts[index]) * 1.1 * last / self.canvas.columns
            beside = np.concatenate([each.y[each.x >= last - span] for each in curves])
            before = [float(np.interp(last - span, each.x, each.y)) for each in curves]
            is_above = index == highest
            place = max(beside.max(), *before, 0.0) if is_above else min(beside.min(), *before)
            found.append((texts[index], float(place), is_above))
        return found

    def is_label_low(self, across: float) -> bool:
        """Return whether the birth is on the left: both curves fall, so the lower left is free."""
        return across < 0.45

    def points_at(self, step: int) -> Sequence[Point]:
        """Return the points of a step on both curves, the corpus first."""
        return [(float(step), value) for value in self._fertility(step) if value is not None]

    def _fertility(self, step: int) -> tuple[float | None, float | None]:
        """Return the tokens per word of the corpus and of the live text after a step."""
        words, changes = self.source.words, self.source.changes
        corpus = self.history.symbols_after(step) / words if words else None
        return corpus, changes.summary_at(step).fertility if self._live_words else None

    def figures_at(self, step: int) -> str:
        corpus, live = self._fertility(step)
        held_out = self.source.held_out if step == self.source.count else None
        said = self.tr("After merge {step}: {corpus} tokens per word in the corpus")
        if live is not None and held_out is not None:
            said = self.tr("After merge {step}: {corpus} tokens per word in the corpus, {live} in the live text, "
                           "{held_out} in held-out text")  # fmt: skip
        elif live is not None:
            said = self.tr("After merge {step}: {corpus} tokens per word in the corpus, {live} in the live text")
        elif held_out is not None:
            said = self.tr("After merge {step}: {corpus} tokens per word in the corpus, {held_out} in held-out text")
        return said.format(
            step=number_text(step),
            corpus=value_text(corpus or 0.0),
            live=value_text(live or 0.0),
            held_out="" if held_out is None else held_out_text(held_out),
        )


class InUseChart(StepChart):
    """How many different tokens the corpus consists of: a merge adds one, and takes away those that it used up."""

    def title(self) -> str:
        return self.tr("Tokens in use")

    def key(self) -> object:
        """Return for how many steps the number is known."""
        return None if self.source.history is None else len(self.source.usage.in_use) or None

    def missing(self) -> str:
        if self.source.history is None:
            return super().missing()
        return self.tr("Counting how often tokens are used…")

    def draw(self) -> None:
        numbers = self.source.usage.in_use.astype(np.float64)
        curve = value_curve(numbers, self.canvas.columns)
        self.y_range = _padded(float(numbers.min()), float(numbers.max()))
        self.draw_curve(self.curve, Curve(curve.x - 1, curve.y, curve.is_columns), self.canvas.colors.accent)
        ticks = linear_ticks(*self.y_range, self.y_marks, whole=True)
        self.draw_axes(self.tr("Distinct tokens in the corpus"), self.tr("Merge"), ticks)

    def points_at(self, step: int) -> Sequence[Point]:
        numbers = self.source.usage.in_use
        return [(float(step), float(numbers[step]))] if step < len(numbers) else []

    def figures_at(self, step: int) -> str:
        numbers = self.source.usage.in_use
        if step >= len(numbers):
            return self.tr("Counting…")
        tokens = int(numbers[step])
        said = plural(tokens, "After merge {step}: 1 token in use", "After merge {step}: {tokens} tokens in use")
        change = ""
        if step:
            change = signed_text(tokens - int(numbers[step - 1]))
            said = plural(
                tokens,
                "After merge {step}: 1 token in use ({change})",
                "After merge {step}: {tokens} tokens in use ({change})",
            )
        return said.format(step=number_text(step), tokens=number_text(tokens), change=change)


def _padded(low: float, high: float) -> Range:
    margin = (high - low) * 0.08 or max(abs(high) * 0.05, 0.5)
    return low - margin, high + margin


class LengthsChart(Chart):
    """A histogram of token lengths in characters; the bars of the alphabet are hollow."""

    follows_step = True

    def title(self) -> str:
        return self.tr("Token lengths")

    def key(self) -> object:
        """Return the step, and the step up to which lengths are known."""
        step = self.source.step
        return None if self.source.history is None else (step, min(step, self.source.lengths.merges))

    def _make_items(self, canvas: Canvas, colors: Colors) -> None:
        self._learned_bars = canvas.add_bars(_BAR, colors.accent)
        self._alphabet_bars = canvas.add_bars(_BAR, colors.surface, canvas.pen(colors.muted, 1.2))
        self._mark = canvas.add_dots(colors.surface, canvas.pen(colors.accent_ink, 1.6), 20)
        self._labels = [canvas.add_label(color, self.font()) for color in (colors.accent_ink, colors.muted)]
        self._mark_label = canvas.add_label(colors.accent_ink, self.font(), has_ground=True)  # it may lie on a bar
        self._learned = self.alphabet = np.zeros(0, dtype=np.int64)

    # -- the figures

    def _count(self) -> None:
        """Count the lengths at the step; special tokens are not pieces of words and have none."""
        history = self.history
        special, first = len(set(history.config.reserved_tokens)), history.vocabulary_size(0)
        lengths = self.source.lengths.first(history.vocabulary_size(self.source.step))
        learned, alphabet = length_histogram(lengths[first:]), length_histogram(lengths[special:first])
        width = max(len(learned), len(alphabet))
        self._learned = np.pad(learned, (0, width - len(learned)))
        self.alphabet = np.pad(alphabet, (0, width - len(alphabet)))

    def draw(self) -> None:
        """Draw the bars: learned tokens, with the alphabet on top of them."""
        self._count()
        learned, alphabet = self._learned, self.alphabet
        lengths = np.arange(len(learned), dtype=np.float64)
        self._learned_bars.setOpts(x=lengths, y0=np.zeros(len(lengths)), height=learned.astype(np.float64))
        has_any = alphabet > 0  # a bar of zero height would still be drawn as a line
        self._alphabet_bars.setOpts(
            x=lengths[has_any], y0=learned[has_any].astype(np.float64), height=alphabet[has_any].astype(np.float64)
        )
        highest = float((learned + alphabet).max(initial=1))
        top = self.top_for_text(0.0, highest * 1.16, float(learned.max(initial=0)))
        self._write_labels()
        self.canvas.set_captions(self.tr("Tokens"), self.tr("Characters (without prefix)"))
        x_ticks = linear_ticks(1, max(len(learned) - 1, 5), 2 * self.x_marks, whole=True)
        y_ticks = linear_ticks(0.0, top, self.y_marks, whole=True)
        self.canvas.set_axes((0.4, max(len(learned), 6) - 0.4), (0.0, top), x_ticks, y_ticks)

    def _write_labels(self) -> None:
        for label in self._labels:
            label.clear()
        learned, alphabet = self._labels
        if self._learned.any():
            peak = int(self._learned.argmax())
            learned.write(self.tr("Learned"), peak + _BAR / 2, float(self._learned[peak]), 0, 1)
        if self.alphabet.any():
            most = int(self.alphabet.argmax())
            height = float(self._learned[most] + self.alphabet[most])
            alphabet.write(self.tr("Alphabet"), most + _BAR / 2, height, 0, 0)

    def draw_marks(self) -> None:
        selected, length = self.source.selected, self._selected_length()
        self._mark.setVisible(length is not None)
        if selected is None or length is None:
            self._mark_label.clear()
            return
        height = float(self._learned[length] + self.alphabet[length])
        self._mark.setData([float(length)], [height], symbol="d", size=12)
        across = 0.5 if 2 < length < len(self._learned) - 2 else 0
        self._mark_label.write(token_text(selected.text, 24), length, height, across, 1.4)

    def _selected_length(self) -> int | None:
        """Return the length of the selected token if it is in the vocabulary shown."""
        selected = self.source.selected
        if selected is None or selected.id >= self.history.vocabulary_size(self.source.step):
            return None
        length = self.source.lengths.of(selected.id)
        return length if length is not None and length < len(self._learned) else None

    # -- figures and description

    def figures(self) -> str:
        if self.hovered is None or not 0 <= round(self.hovered) < len(self._learned):
            return self._figures_of_all()
        length = round(self.hovered)
        learned, alphabet = int(self._learned[length]), int(self.alphabet[length])
        return " · ".join(
            (
                counted(length, "1 character", "{count} characters"),
                counted(learned, "1 learned token", "{count} learned tokens"),
                counted(alphabet, "1 in the alphabet", "{count} in the alphabet"),
            )
        )

    def _figures_of_all(self) -> str:
        learned = int(self._learned.sum())
        if not learned:
            return self.tr("After merge {step}: no tokens learned yet").format(step=number_text(self.source.step))
        mean = float((self._learned * np.arange(len(self._learned))).sum()) / learned
        said = plural(
            learned,
            "After merge {step}: 1 learned, {mean} characters on average, {longest} at most",
            "After merge {step}: {learned} learned, {mean} characters on average, {longest} at most",
        )
        return said.format(
            step=number_text(self.source.step), learned=number_text(learned), mean=value_text(mean),
            longest=int(np.flatnonzero(self._learned).max()),
        )  # fmt: skip

    def summary(self) -> str:
        return f"{self.title()}\n{self._figures_of_all()}"


class ZipfChart(Chart):
    """How often each token is used on the corpus against its rank, on log-log axes, beside the line of Zipf's law."""

    follows_step = True

    def title(self) -> str:
        return self.tr("Rank and frequency (Zipf)")

    def key(self) -> object:
        """Return the step to which the figures belong."""
        usage = self.source.usage
        return None if self.source.history is None or not usage.frequencies.any() else usage.step

    def missing(self) -> str:
        if self.source.history is None:
            return super().missing()
        if self.source.usage.is_counting:
            return self.tr("Counting how often tokens are used…")
        return self.tr("Token usage is not known.")

    def _make_items(self, canvas: Canvas, colors: Colors) -> None:
        self._law = canvas.add_curve(1)
        self._law.setPen(canvas.pen(colors.muted, 1.2, Qt.PenStyle.DashLine))
        self.curve = canvas.add_curve(2)
        self.curve.setPen(canvas.pen(colors.accent, 1))
        self._points = canvas.add_dots(colors.accent, height=3)
        self._mark = canvas.add_dots(colors.surface, canvas.pen(colors.accent_ink, 1.6), 4)
        self._mark_label = canvas.add_label(colors.accent_ink, self.font())
        self._law_label = canvas.add_label(colors.muted, self.font())
        self._ids = self._frequencies = np.zeros(0, dtype=np.int64)

    def draw(self) -> None:
        """Draw as many points as can be distinguished, and the line that Zipf's law predicts."""
        self._ids, self._frequencies = rank_frequency(self.source.usage.frequencies)
        count, most = len(self._ids), math.log10(float(self._frequencies[0]))
        ranks = spread_ranks(count, min(self.canvas.columns // 2, _MOST_POINTS))
        x, y = np.log10(ranks), np.log10(self._frequencies[ranks - 1])
        self._points.setData(x, y, size=5)
        self.curve.setData(x, y, antialias=True)
        self.curve.setVisible(count > 1)
        right, top = max(math.log10(count), 0.3), max(most, 0.3)
        end = min(right, most)
        self._law.setData([0.0, end], [most, most - end], antialias=True)
        self._place_law_label(end, most, is_above=most - end * 0.7 > float(np.interp(end * 0.7, x, y)))
        x_range, y_range = (-0.03 * right, right * 1.03), (-0.06 * top, top * 1.08)
        self.canvas.set_captions(self.tr("Uses in the corpus"), self.tr("Rank"))
        self.canvas.set_axes(x_range, y_range, log_ticks(*x_range, self.x_marks), log_ticks(*y_range, self.y_marks))

    def _place_law_label(self, end: float, most: float, *, is_above: bool) -> None:
        """Label the line of Zipf's law on the side away from the points."""
        text = self.tr("Zipf’s law: maximum / rank")
        span = self.fontMetrics().horizontalAdvance(text) * 1.1 * end / self.canvas.columns
        if is_above:
            self._law_label.write(text, end, most - max(end - span, 0.0), 1, 1)
        else:
            self._law_label.write(text, end * 0.7, most - end * 0.7, 1.05, 0.1)

    def draw_marks(self) -> None:
        rank = self._marked_rank()
        self._mark.setVisible(rank is not None)
        if rank is None:
            self._mark_label.clear()
            return
        x, y = math.log10(rank), math.log10(float(self._frequencies[rank - 1]))
        self._mark.setData([x], [y], symbol="d", size=12)
        text = token_text(self._token(rank), 24)
        end = math.log10(len(self._ids) + 1)
        room = (end - x) / end * self.canvas.columns
        fits = self.fontMetrics().horizontalAdvance(text) * 1.2 < room
        across, down = (-0.05, 1.05) if fits else (1, 1.4)  # the curve falls: above it is free
        self._mark_label.write(text, x, y, across, down)

    def _marked_rank(self) -> int | None:
        return self.rank_at(self.hovered) if self.hovered is not None else self._selected_rank()

    def _selected_rank(self) -> int | None:
        selected = self.source.selected
        places = [] if selected is None else np.flatnonzero(self._ids == selected.id).tolist()
        return places[0] + 1 if places else None

    def rank_at(self, x: float) -> int:
        nearest = round(math.pow(10.0, min(x, 12.0)))
        return min(max(nearest, 1), max(len(self._ids), 1))

    def _token(self, rank: int) -> str:
        return self.history.token(int(self._ids[rank - 1]))

    def figures(self) -> str:
        """Return the rank and frequency of the marked token, or else of the most frequent one."""
        rank, step = self._marked_rank() or 1, self.source.usage.step
        times = int(self._frequencies[rank - 1])
        said = plural(
            times,
            "After merge {step}: {token} has rank {rank} of {count}, used once",
            "After merge {step}: {token} has rank {rank} of {count}, used {times} times",
        ).format(
            step=number_text(step or 0), token=token_text(self._token(rank), 24), rank=number_text(rank),
            count=number_text(len(self._ids)), times=number_text(times),
        )  # fmt: skip
        return " · ".join((said, self.tr("counting…"))) if step != self.source.step else said

    # -- user input

    def _choose(self, x: float) -> None:
        if len(self._ids):
            self.token_chosen.emit(self._token(self.rank_at(x)))

    def event(self, event: QEvent) -> bool:
        """Keep the arrow keys, with which the window changes the step: here they go from rank to rank."""
        return keep(event, (Qt.Key.Key_Left, Qt.Key.Key_Right)) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        move = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if move is None or not is_alone(event) or not self.is_drawn:
            event.ignore()
            return
        rank = self._selected_rank()
        to = 1 if rank is None else min(max(rank + move, 1), len(self._ids))
        self.token_chosen.emit(self._token(to))
