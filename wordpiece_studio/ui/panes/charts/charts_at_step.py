"""The two charts of the vocabulary at the current step: token lengths, and how often each token is used (Zipf)."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent

from wordpiece_studio.evaluation.metrics import length_histogram, rank_frequency
from wordpiece_studio.session.chart_source import spread_ranks
from wordpiece_studio.session.plural import plural
from wordpiece_studio.ui.panes.charts.canvas import graph, linear_ticks, log_ticks
from wordpiece_studio.ui.panes.charts.chart import Chart
from wordpiece_studio.ui.widgets.token_text import number_text, token_text, value_text

_BAR = 0.8
_MOST_POINTS = 400


class LengthsChart(Chart):
    """A histogram of token lengths in characters; the bars of the alphabet are hollow."""

    follows_step = True

    def title(self) -> str:
        """Return the name of the chart."""
        return self.tr("Token lengths")

    def key(self) -> object:
        """Return the step, and the step up to which lengths are known."""
        if self.source.history is None:
            return None
        return self.source.step, min(self.source.step, self.source.lengths.merges)

    def _make_items(self) -> None:
        self._learned_bars = graph.BarGraphItem(x=[], height=[], width=_BAR)
        self._alphabet_bars = graph.BarGraphItem(x=[], height=[], width=_BAR)
        self._mark = graph.ScatterPlotItem(useCache=False, antialias=True)
        self._labels = self.canvas.add_label(), self.canvas.add_label()
        self._mark_label = self.canvas.add_label()
        self._learned = self._alphabet = np.zeros(0, dtype=np.int64)
        for item in (self._learned_bars, self._alphabet_bars, self._mark):
            self.canvas.add(item)
        self._mark.setZValue(20)

    def _restyle_items(self) -> None:
        colors = self.canvas.colors
        self._learned_bars.setOpts(brush=graph.mkBrush(colors.accent), pen=graph.mkPen(None))
        self._alphabet_bars.setOpts(brush=graph.mkBrush(colors.surface), pen=self.canvas.pen(colors.muted, 1.2))
        self._mark.setBrush(graph.mkBrush(colors.surface))
        self._mark.setPen(self.canvas.pen(colors.accent_ink, 1.6))
        for label, color in zip(self._labels, (colors.accent_ink, colors.muted), strict=True):
            label.setColor(color)
            label.setFont(self.font())
        self._mark_label.setColor(colors.accent_ink)
        self._mark_label.fill = graph.mkBrush(colors.surface)  # it may lie on a bar
        self._mark_label.setFont(self.font())

    # -- the figures

    def _count(self) -> None:
        """Count the lengths at the step; special tokens are not pieces of words and have none."""
        history = self.source.history
        if history is None:
            return
        config = history.config
        special, first = len(set(config.reserved_tokens)), history.vocabulary_size(0)
        lengths = self.source.lengths.first(history.vocabulary_size(self.source.step))
        learned, alphabet = length_histogram(lengths[first:]), length_histogram(lengths[special:first])
        width = max(len(learned), len(alphabet))
        self._learned = np.pad(learned, (0, width - len(learned)))
        self._alphabet = np.pad(alphabet, (0, width - len(alphabet)))

    def draw(self) -> None:
        """Draw the bars: learned tokens, with the alphabet on top of them."""
        self._count()
        learned, alphabet = self._learned, self._alphabet
        lengths = np.arange(len(learned), dtype=np.float64)
        self._learned_bars.setOpts(x=lengths, y0=np.zeros(len(lengths)), height=learned.astype(np.float64))
        has_any = alphabet > 0  # a bar of zero height would still be drawn as a line
        self._alphabet_bars.setOpts(
            x=lengths[has_any], y0=learned[has_any].astype(np.float64), height=alphabet[has_any].astype(np.float64)
        )
        highest = float((learned + alphabet).max(initial=1))
        top = self.top_for_text(0.0, highest * 1.16, float(learned.max(initial=0)))
        x_range, y_range = (0.4, max(len(learned), 6) - 0.4), (0.0, top)
        self._write_labels()
        self.canvas.set_captions(self.tr("Tokens"), self.tr("Characters (without prefix)"))
        x_ticks = linear_ticks(1, max(len(learned) - 1, 5), 2 * self.x_marks, whole=True)
        self.canvas.set_axes(x_range, y_range, x_ticks, linear_ticks(*y_range, self.y_marks, whole=True))

    def _write_labels(self) -> None:
        for label in self._labels:
            label.clear()
        learned, alphabet = self._labels
        if self._learned.any():
            peak = int(self._learned.argmax())
            learned.write(self.tr("Learned"), peak + _BAR / 2, float(self._learned[peak]), 0, 1)
        if self._alphabet.any():
            most = int(self._alphabet.argmax())
            height = float(self._learned[most] + self._alphabet[most])
            alphabet.write(self.tr("Alphabet"), most + _BAR / 2, height, 0, 0)

    def draw_marks(self) -> None:
        """Mark the bar that holds the selected token."""
        selected = self.source.selected
        length = self._selected_length()
        self._mark.setVisible(length is not None)
        if selected is None or length is None:
            self._mark_label.clear()
            return
        height = float(self._learned[length] + self._alphabet[length])
        self._mark.setData([float(length)], [height], symbol="d", size=12)
        across = 0.5 if 2 < length < len(self._learned) - 2 else 0
        self._mark_label.write(token_text(selected.text, 24), length, height, across, 1.4)

    def _selected_length(self) -> int | None:
        """Return the length of the selected token if it is in the vocabulary shown."""
        selected, history = self.source.selected, self.source.history
        if selected is None or history is None or selected.id >= history.vocabulary_size(self.source.step):
            return None
        length = self.source.lengths.of(selected.id)
        return length if length is not None and length < len(self._learned) else None

    # -- figures and description

    def figures(self) -> str:
        """Return the numbers of the bar under the pointer, or of all bars."""
        if self.hovered is not None and 0 <= round(self.hovered) < len(self._learned):
            length = round(self.hovered)
            learned, alphabet = int(self._learned[length]), int(self._alphabet[length])
            return " · ".join((
                plural(length, "1 character", "{count} characters").format(count=number_text(length)),
                plural(learned, "1 learned token", "{count} learned tokens").format(count=number_text(learned)),
                plural(alphabet, "1 in the alphabet", "{count} in the alphabet").format(count=number_text(alphabet)),
            ))  # fmt: skip
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
        """Return the name of the chart and the figures at the step."""
        hovered, self.hovered = self.hovered, None
        said = f"{self.title()}\n{self.figures()}"
        self.hovered = hovered
        return said


class ZipfChart(Chart):
    """How often each token is used on the corpus against its rank, on log-log axes, beside the line of Zipf's law."""

    follows_step = True

    def title(self) -> str:
        """Return the name of the chart."""
        return self.tr("Rank and frequency (Zipf)")

    def key(self) -> object:
        """Return the step to which the figures belong."""
        usage = self.source.usage
        if self.source.history is None or usage.step is None or not usage.frequencies.any():
            return None
        return usage.step

    def missing(self) -> str:
        """Return whether usage is being counted or is not known."""
        if self.source.history is None:
            return super().missing()
        if self.source.usage.is_counting:
            return self.tr("Counting how often tokens are used…")
        return self.tr("Token usage is not known.")

    def _make_items(self) -> None:
        self._law = graph.PlotCurveItem()
        self._points = graph.ScatterPlotItem(useCache=False, antialias=True, size=5)
        self._curve = graph.PlotCurveItem()
        self._mark = graph.ScatterPlotItem(useCache=False, antialias=True)
        self._mark_label, self._law_label = self.canvas.add_label(), self.canvas.add_label()
        self._ids = self._frequencies = np.zeros(0, dtype=np.int64)
        for height, item in enumerate((self._law, self._curve, self._points, self._mark), start=1):
            item.setZValue(height)
            self.canvas.add(item)

    def _restyle_items(self) -> None:
        colors = self.canvas.colors
        self._law.setPen(self.canvas.pen(colors.muted, 1.2, Qt.PenStyle.DashLine))
        self._curve.setPen(self.canvas.pen(colors.accent, 1))
        self._points.setBrush(graph.mkBrush(colors.accent))
        self._points.setPen(graph.mkPen(None))
        self._mark.setBrush(graph.mkBrush(colors.surface))
        self._mark.setPen(self.canvas.pen(colors.accent_ink, 1.6))
        for label, color in ((self._mark_label, colors.accent_ink), (self._law_label, colors.muted)):
            label.setColor(color)
            label.setFont(self.font())

    def draw(self) -> None:
        """Draw as many points as can be distinguished, and the line that Zipf's law predicts."""
        self._ids, self._frequencies = rank_frequency(self.source.usage.frequencies)
        count, most = len(self._ids), float(self._frequencies[0])
        ranks = spread_ranks(count, min(self.canvas.columns // 2, _MOST_POINTS))
        x, y = np.log10(ranks), np.log10(self._frequencies[ranks - 1])
        self._points.setData(x, y)
        self._curve.setData(x, y, antialias=True)
        self._curve.setVisible(count > 1)
        right, top = max(math.log10(count), 0.3), max(math.log10(most), 0.3)
        end = min(right, math.log10(most))
        self._law.setData([0.0, end], [math.log10(most), math.log10(most) - end], antialias=True)
        self._place_law_label(end, is_above=math.log10(most) - end * 0.7 > float(np.interp(end * 0.7, x, y)))
        x_range, y_range = (-0.03 * right, right * 1.03), (-0.06 * top, top * 1.08)
        self.canvas.set_captions(self.tr("Uses in the corpus"), self.tr("Rank"))
        self.canvas.set_axes(x_range, y_range, log_ticks(*x_range, self.x_marks), log_ticks(*y_range, self.y_marks))

    def _place_law_label(self, end: float, *, is_above: bool) -> None:
        """Label the line of Zipf's law on the side away from the points."""
        width = self.fontMetrics().horizontalAdvance(self.tr("Zipf’s law: maximum / rank"))
        span = width * 1.1 * end / self.canvas.columns
        place = max(end - span, 0.0) if is_above else end * 0.7
        across, down = (1, 1) if is_above else (1.05, 0.1)
        height = math.log10(float(self._frequencies[0])) - place
        self._law_label.write(self.tr("Zipf’s law: maximum / rank"), end if is_above else place, height, across, down)

    def draw_marks(self) -> None:
        """Mark the token under the pointer, or else the selected one."""
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
        if selected is None:
            return None
        places = np.flatnonzero(self._ids == selected.id)
        return int(places[0]) + 1 if len(places) else None

    def rank_at(self, x: float) -> int:
        """Return the rank nearest to a place on the horizontal axis."""
        nearest = round(math.pow(10.0, min(x, 12.0)))
        return min(max(nearest, 1), max(len(self._ids), 1))

    def _token(self, rank: int) -> str:
        history = self.source.history
        return history.token(int(self._ids[rank - 1])) if history is not None else ""

    # -- figures and description

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

    def summary(self) -> str:
        """Return the name of the chart and the figures of the marked token."""
        return f"{self.title()}\n{self.figures()}"

    # -- user input

    def _choose(self, x: float) -> None:
        if len(self._ids):
            self.token_chosen.emit(self._token(self.rank_at(x)))

    def event(self, event: QEvent) -> bool:
        """Keep the arrow keys, with which the window changes the step: here they go from rank to rank."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._move(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        move = self._move(event)
        if not move or not self.is_drawn:
            event.ignore()
            return
        rank = self._selected_rank()
        to = 1 if rank is None else min(max(rank + move, 1), len(self._ids))
        self.token_chosen.emit(self._token(to))

    def _move(self, event: QKeyEvent) -> int:
        """Return by how many ranks a key moves."""
        plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        return {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0) if plain else 0
