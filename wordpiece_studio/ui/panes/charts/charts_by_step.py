"""The three charts over steps: value per step, vocabulary against symbols, and tokens per word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import Qt

from wordpiece_studio.evaluation.metrics import fertility_at, symbols_at, vocabulary_sizes_at
from wordpiece_studio.session.chart_source import Curve, held_curve, median_curve, sampled_steps, tie_steps, value_curve
from wordpiece_studio.session.plural import plural
from wordpiece_studio.ui.panes.charts.canvas import graph, linear_ticks, log_ticks
from wordpiece_studio.ui.panes.charts.chart import Chart
from wordpiece_studio.ui.widgets.run_names import merges_text
from wordpiece_studio.ui.widgets.token_text import held_out_text, number_text, signed_text, token_text, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from PySide6.QtGui import QColor, QKeyEvent

    from wordpiece_studio.ui.panes.charts.canvas import Range, Ticks

    Point = tuple[float, float]

_FEW = 60
"""Up to this many merges, each has a dot of its own."""
_LONG = 200
_TEN = 10
_LOW_LINES = 4
"""A plot with a height of fewer text lines has no room for labels beside its curves."""


class StepChart(Chart):
    """Curves over steps, with marks for the current step, the pointer and the birth of the selected token."""

    def _make_items(self) -> None:
        self._step_line = graph.InfiniteLine(angle=90, movable=False)
        self._birth_line = graph.InfiniteLine(angle=90, movable=False)
        self._hover_line = graph.InfiniteLine(angle=90, movable=False)
        self._step_dots = graph.ScatterPlotItem(useCache=False, antialias=True)
        self._birth_dots = graph.ScatterPlotItem(useCache=False, antialias=True)
        self._birth_label = self.canvas.add_label()
        for height, item in enumerate(self._marks(), start=10):
            item.setZValue(height)
            self.canvas.add(item)

    def _marks(self) -> tuple[Any, ...]:
        return self._hover_line, self._birth_line, self._step_line, self._birth_dots, self._step_dots

    def _restyle_items(self) -> None:
        colors = self.canvas.colors
        self._hover_line.setPen(self.canvas.pen(colors.muted, 1, Qt.PenStyle.DotLine))
        self._birth_line.setPen(self.canvas.pen(colors.accent_ink, 1, Qt.PenStyle.DashLine))
        self._step_line.setPen(self.canvas.pen(colors.text, 1))
        edge = self.canvas.pen(colors.surface, 1.5)
        self._step_dots.setBrush(graph.mkBrush(colors.text))
        self._step_dots.setPen(edge)
        self._birth_dots.setBrush(graph.mkBrush(colors.surface))
        self._birth_dots.setPen(self.canvas.pen(colors.accent_ink, 1.6))
        self._birth_label.setColor(colors.accent_ink)
        self._birth_label.fill = graph.mkBrush(colors.surface)
        self._birth_label.setFont(self.font())

    # -- for subclasses to implement

    def place_of(self, step: int) -> float:
        """Return where a step lies on the horizontal axis."""
        return float(step)

    def step_at(self, x: float) -> int:
        """Return the step nearest to a place on the horizontal axis."""
        return min(max(round(x), 0), self.source.count)

    def points_at(self, step: int) -> Sequence[Point]:
        """Return the points on the curves that belong to a step, in axis coordinates."""
        raise NotImplementedError

    def figures_at(self, step: int) -> str:
        """Return the figures of a step, in one line."""
        raise NotImplementedError

    # -- marks

    def draw_marks(self) -> None:
        """Place the lines and dots."""
        step, selected = self.source.step, self.source.selected
        self._step_line.setPos(self.place_of(step))
        dots = self.points_at(step)
        self._step_dots.setData(pos=dots, symbol=["o", "s"][: len(dots)], size=10)
        self._hover_line.setVisible(self.hovered is not None)
        if self.hovered is not None:
            self._hover_line.setPos(self.place_of(self.step_at(self.hovered)))
        is_born = selected is not None and selected.birth > 0
        for item in (self._birth_line, self._birth_dots):
            item.setVisible(is_born)
        self._birth_label.clear()
        if selected is not None and is_born:
            self._mark_birth(selected.text, selected.birth)

    def _mark_birth(self, token: str, step: int) -> None:
        x = self.place_of(step)
        self._birth_line.setPos(x)
        self._birth_dots.setData(pos=self.points_at(step), symbol="d", size=12)
        (left, right), (low, high) = self.x_range(), self.y_range()
        across = (x - left) / (right - left)
        is_low = self.is_label_low(across)
        height, down = (low, 1) if is_low else (high, 0)
        self._birth_label.write(token_text(token, 24), x, height, 0 if across < 0.5 else 1, down)

    def is_label_low(self, across: float) -> bool:
        """Return whether the token's label stands low rather than high, for a birth at this fraction of the width."""
        return False

    def x_range(self) -> Range:
        """Return the visible range of the horizontal axis."""
        first, last = self.place_of(0), self.place_of(self.source.count)
        margin = max((last - first) * 0.012, 1e-9)
        return first - margin, last + margin

    def y_range(self) -> Range:
        """Return the visible range of the vertical axis."""
        raise NotImplementedError

    def x_ticks(self) -> Ticks:
        """Return the ticks of the horizontal axis, as many as there is room for."""
        low, high = self.place_of(0), self.place_of(self.source.count)
        return linear_ticks(low, high, self.x_marks, whole=True)

    @property
    def has_dots(self) -> bool:
        """Whether each merge has a dot of its own."""
        return self.source.count <= _FEW

    def draw_curve(self, item: Any, curve: Curve, color: QColor, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> None:
        """Give a curve its points; hundreds of vertical lines are not antialiased, which would be slow in Qt.

        An antialiased polyline of a thousand points takes 20 ms, its segments one by one 3 ms; a polyline of few
        points has neater corners.
        """
        is_long = len(curve.x) > _LONG and style is Qt.PenStyle.SolidLine
        item.setSegmentedLineMode("on" if is_long else "off")
        item.setVisible(len(curve.x) > 1)  # a line of one point would be an empty path in an SVG file
        pen = self.canvas.pen(color, 1 if curve.is_columns else 1.8, style)
        connect = "pairs" if curve.is_columns else "all"
        item.setData(curve.x, curve.y, pen=pen, connect=connect, antialias=not curve.is_columns)

    # -- figures and description

    def figures(self) -> str:
        """Return the figures of the step under the pointer, or of the current step."""
        return self.figures_at(self.source.step if self.hovered is None else self.step_at(self.hovered))

    def summary(self) -> str:
        """Return the name of the chart, the figures at the step, and the step that made the selected token."""
        said = [self.title(), merges_text(self.source.count), self.figures_at(self.source.step)]
        selected = self.source.selected
        if selected is not None and selected.birth:
            created = self.tr("{token} was created at step {step}")
            said.append(created.format(token=token_text(selected.text), step=number_text(selected.birth)))
        return "\n".join(said)

    # -- user input

    def _choose(self, x: float) -> None:
        self.step_chosen.emit(self.step_at(x))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        now, last = self.source.step, self.source.count
        steps = {
            Qt.Key.Key_Left: now - 1,
            Qt.Key.Key_Right: now + 1,
            Qt.Key.Key_PageUp: now - _TEN,
            Qt.Key.Key_PageDown: now + _TEN,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        step = steps.get(Qt.Key(event.key()))
        if step is None or event.modifiers() not in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
        ):
            event.ignore()
        else:
            self.step_chosen.emit(min(max(step, 0), last))


class ValueChart(StepChart):
    """The value of each merge (score, gain or count) on a logarithmic axis; a triangle below marks a tie."""

    def title(self) -> str:
        """Return the name of the chart."""
        return self.tr("Merge score")

    def key(self) -> object:
        """Return how many merges there are."""
        return self.source.count or None

    def _make_items(self) -> None:
        self._curve, self._medians = graph.PlotCurveItem(), graph.PlotCurveItem()
        self._ties = graph.ScatterPlotItem(useCache=False, antialias=True)
        self._floor = 0.0
        self._range: Range = (0.0, 1.0)
        for item in (self._curve, self._medians, self._ties):
            self.canvas.add(item)
        super()._make_items()

    def _restyle_items(self) -> None:
        super()._restyle_items()
        self._ties.setBrush(graph.mkBrush(self.canvas.colors.tie))
        self._ties.setPen(graph.mkPen(None))

    @property
    def _values(self) -> NDArray[np.float64]:
        history = self.source.history
        return np.empty(0) if history is None else history.column("value")[: self.source.count]

    def draw(self) -> None:
        """Draw the curve and the ties."""
        values, columns, colors = self._values, self.canvas.columns, self.canvas.colors
        curve = value_curve(values, columns)
        positive = curve.y[np.isfinite(curve.y) & (curve.y > 0)]
        self._floor = float(np.log10(positive.min())) if len(positive) else 0.0
        top = float(np.log10(positive.max())) if len(positive) else 1.0
        margin = max((top - self._floor) * 0.08, 0.02)
        self._range = (self._floor - 1.6 * margin, top + 1.4 * margin)
        is_dense = curve.is_columns
        self.draw_curve(self._curve, self._in_logs(curve), colors.bar if is_dense else colors.accent)
        self._medians.setVisible(is_dense)
        if is_dense:
            self.draw_curve(self._medians, self._in_logs(median_curve(values, columns)), colors.accent)
        self._draw_ties(columns)
        self.canvas.set_captions(self._caption(is_dense), self.tr("Merge"))
        self.canvas.set_axes(self.x_range(), self._range, self.x_ticks(), log_ticks(*self._range, self.y_marks))

    def _draw_ties(self, columns: int) -> None:
        history = self.source.history
        assert history is not None
        ties = tie_steps(history, self.source.count, columns // 4)
        low, high = self._range
        heights = np.full(len(ties), low + (high - low) * 0.025)
        self._ties.setData(ties.astype(np.float64), heights, symbol="t1", size=8 if self.has_dots else 5)

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

    def y_range(self) -> Range:
        """Return the visible range of the vertical axis."""
        return self._range

    def points_at(self, step: int) -> Sequence[Point]:
        """Return the point of a merge; there is none before the first merge."""
        return [(float(step), float(self._logs(self._values[step - 1 : step])[0]))] if step else []

    def figures_at(self, step: int) -> str:
        """Return the merge, its value, and whether it was a tie."""
        history, config = self.source.history, self.source.model.config
        if history is None or config is None or not step:
            return self.tr("Before the first merge")
        merge = history[step - 1]
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
        """Return the name of the chart."""
        return self.tr("Symbols by vocabulary size")

    def key(self) -> object:
        """Return how many merges there are."""
        return self.source.count or None

    def _make_items(self) -> None:
        self._curve = graph.PlotCurveItem()
        self._range: Range = (0.0, 1.0)
        self.canvas.add(self._curve)
        super()._make_items()

    def draw(self) -> None:
        """Draw the curve."""
        history = self.source.history
        assert history is not None
        steps = sampled_steps(self.source.count, self.canvas.columns)
        symbols = symbols_at(history, steps).astype(np.float64)
        self._range = _padded(float(symbols.min()), float(symbols.max()))
        curve = Curve(vocabulary_sizes_at(history, steps).astype(np.float64), symbols)
        self.draw_curve(self._curve, curve, self.canvas.colors.accent)
        self.canvas.set_captions(self.tr("Symbols in the corpus"), self.tr("Tokens in the vocabulary"))
        ticks = linear_ticks(*self._range, self.y_marks, whole=True)
        self.canvas.set_axes(self.x_range(), self._range, self.x_ticks(), ticks)

    def y_range(self) -> Range:
        """Return the visible range of the vertical axis."""
        return self._range

    def place_of(self, step: int) -> float:
        """Return the size of the vocabulary after a step."""
        history = self.source.history
        return float(history.vocabulary_size(step)) if history is not None else 0.0

    def step_at(self, x: float) -> int:
        """Return the first step after which the vocabulary has about this size."""
        history = self.source.history
        if history is None or x <= history.vocabulary_size(0):
            return 0
        sizes = history.vocabulary_sizes()[: self.source.count]
        return min(int(np.searchsorted(sizes, round(x))) + 1, self.source.count)

    def points_at(self, step: int) -> Sequence[Point]:
        """Return the point of a step on the curve."""
        history = self.source.history
        return [] if history is None else [(self.place_of(step), float(history.symbols_after(step)))]

    def figures_at(self, step: int) -> str:
        """Return the two numbers after a step."""
        history = self.source.history
        if history is None:
            return ""
        tokens, symbols = history.vocabulary_size(step), history.symbols_after(step)
        return self.tr("After merge {step}: {tokens}, {symbols}").format(
            step=number_text(step),
            tokens=plural(tokens, "1 token", "{count} tokens").format(count=number_text(tokens)),
            symbols=plural(symbols, "1 symbol in the corpus", "{count} symbols in the corpus").format(
                count=number_text(symbols)
            ),
        )


class FertilityChart(StepChart):
    """Tokens per word of the training corpus, as it is merged, and of the live text, as longest match splits it.

    A dot at the last step stands for text that was held out, where a part of the corpus can be.
    """

    def title(self) -> str:
        """Return the name of the chart."""
        return self.tr("Tokens per word")

    def key(self) -> object:
        """Return how many merges there are."""
        return self.source.count or None

    def _make_items(self) -> None:
        self._corpus, self._live = graph.PlotCurveItem(), graph.PlotCurveItem()
        self._held_out = graph.ScatterPlotItem(useCache=False, antialias=True)
        self._labels = self.canvas.add_label(), self.canvas.add_label()
        self._range: Range = (0.0, 1.0)
        self.canvas.add(self._corpus)
        self.canvas.add(self._live)
        self._held_out.setZValue(5)
        self.canvas.add(self._held_out)
        super()._make_items()

    def _restyle_items(self) -> None:
        super()._restyle_items()
        colors = self.canvas.colors
        for label, color in zip(self._labels, (colors.accent_ink, colors.tie_text), strict=True):
            label.setColor(color)
            label.setFont(self.font())
        self._held_out.setBrush(graph.mkBrush(colors.accent_ink))
        self._held_out.setPen(self.canvas.pen(colors.surface, 1.5))

    @property
    def _live_words(self) -> int:
        changes = self.source.changes
        return changes.summary_at(0).words if changes.is_known else 0

    def draw(self) -> None:
        """Draw both curves, with a label beside each."""
        history, colors = self.source.history, self.canvas.colors
        assert history is not None
        steps = sampled_steps(self.source.count, self.canvas.columns)
        corpus = Curve(steps.astype(np.float64), fertility_at(history, steps))
        live = self._live_curve()
        found = self.source.held_out
        held_out = [] if found is None else [found.rate]
        highest = max(corpus.y.max(), live.y.max(initial=0.0), *held_out)
        lowest = min(corpus.y.min(), live.y.min(initial=np.inf), *held_out)
        self._held_out.setData([float(self.source.count)] * len(held_out), held_out, size=10)
        low, high = _padded(float(lowest), float(highest))
        is_low = self.canvas.rows < _LOW_LINES * self.fontMetrics().height()
        texts = [] if is_low else self._label_texts(corpus, live)
        if texts:
            label = (high - low) * 1.6 * self.fontMetrics().height() / self.canvas.rows  # room below the lower curve
            low = max(low - label, 0.0)
            high = self.top_for_text(low, high, max(place for _, place, is_above in texts if is_above))
        self._range = low, high
        self.draw_curve(self._corpus, corpus, colors.accent)
        self.draw_curve(self._live, live, colors.tie_text, Qt.PenStyle.DashLine)
        for each in self._labels:
            each.clear()
        for each, (text, place, is_above) in zip(self._labels, texts, strict=False):
            each.write(text, float(self.source.count), place, 1, 1 if is_above else 0)
        caption = self.tr("Tokens per word")
        if is_low:  # no room for labels beside the curves
            names = "— " + self.tr("Training corpus"), "- - " + self.tr("Live text")
            caption = "   ".join([caption, *names[: 1 + bool(len(live.x))]])
        if found is not None:
            said = self.tr("● {rate} on held-out text").format(rate=held_out_text(found))
            caption = "   ".join([caption, said])
        self.canvas.set_captions(caption, self.tr("Merge"))
        ticks = linear_ticks(*self._range, self.y_marks)
        self.canvas.set_axes(self.x_range(), self._range, self.x_ticks(), ticks)

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
        ends = [float(each.y[-1]) for each in curves]
        found = []
        for index in range(len(curves)):
            span = self.fontMetrics().horizontalAdvance(texts[index]) * 1.1 * last / self.canvas.columns
            beside = np.concatenate([each.y[each.x >= last - span] for each in curves])
            before = [float(np.interp(last - span, each.x, each.y)) for each in curves]
            is_above = index == int(np.argmax(ends))
            place = max(beside.max(), *before, 0.0) if is_above else min(beside.min(), *before)
            found.append((texts[index], float(place), is_above))
        return found

    def is_label_low(self, across: float) -> bool:
        """Return whether the birth is on the left: both curves fall, so the lower left is free."""
        return across < 0.45

    def y_range(self) -> Range:
        """Return the visible range of the vertical axis."""
        return self._range

    def points_at(self, step: int) -> Sequence[Point]:
        """Return the points of a step on both curves, the corpus first."""
        fertility = self._fertility(step)
        return [(float(step), value) for value in fertility if value is not None]

    def _fertility(self, step: int) -> tuple[float | None, float | None]:
        """Return the tokens per word of the corpus and of the live text after a step."""
        history, changes = self.source.history, self.source.changes
        corpus = history.symbols_after(step) / self.source.words if history is not None and self.source.words else None
        return corpus, changes.summary_at(step).fertility if self._live_words else None

    def figures_at(self, step: int) -> str:
        """Return both numbers after a step."""
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
        """Return the name of the chart."""
        return self.tr("Tokens in use")

    def key(self) -> object:
        """Return for how many steps the number is known."""
        return None if self.source.history is None else len(self.source.usage.in_use) or None

    def missing(self) -> str:
        if self.source.history is None:
            return super().missing()
        return self.tr("Counting how often tokens are used…")

    def _make_items(self) -> None:
        self._curve = graph.PlotCurveItem()
        self._range: Range = (0.0, 1.0)
        self.canvas.add(self._curve)
        super()._make_items()

    def draw(self) -> None:
        """Draw the curve."""
        numbers = self.source.usage.in_use.astype(np.float64)
        curve = value_curve(numbers, self.canvas.columns)
        self._range = _padded(float(numbers.min()), float(numbers.max()))
        self.draw_curve(self._curve, Curve(curve.x - 1, curve.y, curve.is_columns), self.canvas.colors.accent)
        self.canvas.set_captions(self.tr("Distinct tokens in the corpus"), self.tr("Merge"))
        ticks = linear_ticks(*self._range, self.y_marks, whole=True)
        self.canvas.set_axes(self.x_range(), self._range, self.x_ticks(), ticks)

    def y_range(self) -> Range:
        """Return the visible range of the vertical axis."""
        return self._range

    def points_at(self, step: int) -> Sequence[Point]:
        """Return the point of a step on the curve."""
        numbers = self.source.usage.in_use
        return [(float(step), float(numbers[step]))] if step < len(numbers) else []

    def figures_at(self, step: int) -> str:
        """Return the number after a step, and how the merge changed it."""
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
    """Return a range with a margin below and above."""
    margin = (high - low) * 0.08 or max(abs(high) * 0.05, 0.5)
    return low - margin, high + margin
