"""What a chart is: a description of what it draws, marks and says, all of it from the source. It knows no widgets.

Shapes lie where the axes have their numbers: on a logarithmic axis, at powers of ten.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
from PySide6.QtCore import QCoreApplication, Qt

from wordpiece_studio.session.chart_source import Curve, median_curve, sampled_steps, value_curve
from wordpiece_studio.session.plural import filled
from wordpiece_studio.ui.widgets.token_text import merges_text, number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.session.chart_source import ChartSource
    from wordpiece_studio.training.history import MergeHistory

Range = tuple[float, float]
Ticks = list[tuple[float, str]]  # (position on the axis, text) in ascending order


class Stroke(NamedTuple):
    """How a line is drawn: the name of a color of the theme, or ``#rrggbb``, and its width in pixels."""

    color: str
    width: float = 1.0
    style: Qt.PenStyle = Qt.PenStyle.SolidLine


class Line(NamedTuple):
    curve: Curve
    stroke: Stroke


class Band(NamedTuple):
    """What lies within a closed line; colors have ``#aarrggbb``."""

    curve: Curve
    color: str


class Dots(NamedTuple):
    """Symbols of pyqtgraph: ``"o"`` disc, ``"s"`` square, ``"d"`` diamond, ``"t1"`` triangle."""

    x: Sequence[float] | NDArray[np.generic]
    y: Sequence[float] | NDArray[np.generic]
    color: str
    edge: Stroke | None = None
    symbol: str = "o"
    size: int = 10


class Bars(NamedTuple):
    x: NDArray[np.generic]
    bottoms: NDArray[np.generic]
    heights: NDArray[np.generic]
    color: str
    edge: Stroke | None = None


class Rule(NamedTuple):
    x: float
    stroke: Stroke


class Label(NamedTuple):
    """A text on the color of the surface whose part `across` and `down` (0 to 1) lies at a point, or near it."""

    text: str
    x: float
    y: float
    across: float
    down: float
    color: str


Shape = Line | Band | Dots | Bars | Rule | Label
BAR_WIDTH = 0.8


class Room(NamedTuple):
    """How many pixels are between the axes, and how many text takes there."""

    columns: int
    rows: int
    line: int
    width_of: Callable[[str], int]


class Axis(NamedTuple):
    title: str
    scale: Literal["linear", "whole", "log"] = "linear"
    unit: str = ""
    range: Range = (0.0, 1.0)
    floor: float = 0.0  # where values without a logarithm lie on a logarithmic axis
    marked: Range | None = None  # the part with ticks; all of it if None
    notes: tuple[str, ...] = ()  # what is said beside its title about the curves

    @property
    def caption(self) -> str:
        return "   ".join((f"{self.title} ({self.unit})" if self.unit else self.title, *self.notes))

    def fitted(self, values: NDArray[np.float64]) -> Axis:
        if self.scale != "log":
            low, high = float(values.min()), float(values.max())
            margin = (high - low) * 0.08 or max(abs(high) * 0.05, 0.5)
            return self._replace(range=(low - margin, high + margin))
        positive = values[np.isfinite(values) & (values > 0)]
        low, high = (math.log10(positive.min()), math.log10(positive.max())) if len(positive) else (0.0, 1.0)
        margin = max((high - low) * 0.08, 0.02)
        return self._replace(range=(low - 1.6 * margin, high + 1.4 * margin), floor=low)

    def places(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.scale != "log":
            return values
        has_one = np.isfinite(values) & (values > 0)
        return np.log10(values, out=np.full(len(values), self.floor), where=has_one)

    def ticks(self, most: int) -> Ticks:
        low, high = self.marked or self.range
        if self.scale == "log":
            return log_ticks(low, high, most)
        return linear_ticks(low, high, most, whole=self.scale == "whole")


class Drawing(NamedTuple):
    """The shapes of a chart from bottom to top, in the room that they are made for.

    `data` are the numbers drawn, for its marks and its readout, if these are not the source's.
    """

    x: Axis
    y: Axis
    shapes: Sequence[Shape]
    room: Room
    data: Any = None


# -- round numbers

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def linear_ticks(low: float, high: float, most: int, *, whole: bool = False) -> Ticks:
    """Return at most `most` ticks between two numbers, 1, 2 or 5 times a power of ten apart; whole ones if told so.

    >>> linear_ticks(0, 25, 6, whole=True)
    [(0.0, '0'), (5.0, '5'), (10.0, '10'), (15.0, '15'), (20.0, '20'), (25.0, '25')]
    """
    if not high > low:
        return [(low, short_text(low))]
    power = 10.0 ** (math.floor(math.log10(high - low)) - 2)
    for factor in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000):
        distance = max(power * factor, 1.0) if whole else power * factor
        first, last = math.ceil(low / distance - 1e-9), math.floor(high / distance + 1e-9)
        if last - first < most:
            break
    decimals = max(0, -math.floor(math.log10(distance) + 1e-9))
    size, unit = _unit(high)
    texts = (short_text(round(n * distance, decimals) / size, decimals) + unit for n in range(first, last + 1))
    return [(n * distance, "0" if not n else text) for n, text in zip(range(first, last + 1), texts, strict=True)]


def log_ticks(low: float, high: float, most: int) -> Ticks:
    """Return at most about `most` ticks at round numbers between two powers of ten, given as exponents.

    >>> log_ticks(0, 3, 4)
    [(0.0, '1'), (1.0, '10'), (2.0, '100'), (3.0, '1,000')]
    """
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    if last - first >= 2 or last - first + 1 >= most:
        every = max(1, math.ceil((last - first + 1) / max(most, 1)))
        return [(float(n), power_text(n)) for n in range(first, last + 1) if n % every == 0]
    for factors in ((1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        values = [(n + math.log10(factor), factor * 10.0**n) for n in range(first - 1, last + 1) for factor in factors]
        ticks = [(place, _round_text(value)) for place, value in values if low <= place <= high]
        if len(ticks) <= most and len(ticks) > 1:
            return ticks
    marks = linear_ticks(10.0**low, 10.0**high, most)  # on an axis shorter than about a decade: evenly spaced
    return [(math.log10(value), _round_text(value)) for value, _ in marks if value > 0]


def power_text(exponent: int) -> str:
    """Return a power of ten as a plain number, or in exponent form where that would be long.

    >>> power_text(2), power_text(-2), power_text(-7)
    ('100', '0.01', '10⁻⁷')
    """
    if -3 <= exponent <= 3:
        return _round_text(10.0**exponent)
    return "10" + str(exponent).translate(_SUPERSCRIPTS)


def _round_text(value: float) -> str:
    """Return a round number without needless zeros.

    >>> _round_text(0.5), _round_text(0.02), _round_text(2000.0)
    ('0.5', '0.02', '2,000')
    """
    if value >= 1 and round(value) == value:
        return short_text(value)
    return f"{value:.6g}"


def short_text(value: float, decimals: int = 0) -> str:
    """Return a number as an axis shows it: large ones in thousands (k), millions (M) or billions (G).

    >>> short_text(9000), short_text(20000), short_text(2500000), short_text(0.5, 1)
    ('9,000', '20 k', '2.5 M', '0.5')
    """
    if decimals:
        return f"{value:.{decimals}f}"
    size, unit = _unit(value)
    if size == 1:
        return number_text(round(value)) if round(value) == value else _round_text(value)
    return _round_text(value / size) + unit


def _unit(value: float) -> tuple[float, str]:
    if abs(value) < 10_000:
        return 1.0, ""
    return next((size, f" {sign}") for size, sign in _UNITS if abs(value) >= size)


# -- charts

_tr = partial(QCoreApplication.translate, "charts")
_FEW = 60  # up to this many merges, marks below the curve are large
_TEN = 10


@dataclass(frozen=True)
class Choice:
    """Something that the pane can show; `entry` is of the glossary."""

    name: str
    file_name: str
    entry: str
    tip: str


@dataclass(frozen=True, kw_only=True)
class Chart(Choice):
    """A chart; the places that it is given, and gives, are on its horizontal axis."""

    title: str
    needs_usage: bool = False  # how often tokens are used is counted only while someone wants to know
    kept_keys: ClassVar[tuple[Qt.Key, ...]] = ()  # those for `move` that the window would take

    def state(self, source: ChartSource) -> object:
        """Return what the drawing depends on within one run; None if there is nothing to draw."""
        raise NotImplementedError

    def missing(self, source: ChartSource) -> str:
        history = source.model.history
        if history is None:
            return _tr("Nothing has been trained yet. Train to see the charts here.")
        if not history.has_steps:
            return _tr("This run has no record of merges: it was trained with another library, extended or pruned.")
        if source.history is None:
            return _tr("No merges yet. The charts appear here after the first one.")
        if source.usage.is_counting:
            return _tr("Counting how often tokens are used…")
        return _tr("Token usage is not known.")

    def draw(self, source: ChartSource, room: Room) -> Drawing:
        raise NotImplementedError

    def marks(self, source: ChartSource, drawing: Drawing, hovered: float | None) -> Sequence[Shape]:
        raise NotImplementedError

    def readout(self, source: ChartSource, drawing: Drawing, hovered: float | None) -> str:
        raise NotImplementedError

    def summary(self, source: ChartSource, drawing: Drawing) -> str:
        """Return the description for screen readers, with the figures at the step."""
        return f"{self.title}\n{self.readout(source, drawing, None)}"

    def press(self, source: ChartSource, drawing: Drawing, place: float) -> None:
        """Respond to a press."""

    def move(self, source: ChartSource, drawing: Drawing, key: Qt.Key) -> bool:
        """Respond to a key; return whether it is one of the chart's."""
        return False


@dataclass(frozen=True)
class StepAxis:
    """A horizontal axis on which every step has a place."""

    title: str
    places: Callable[[MergeHistory, NDArray[np.float64]], NDArray[Any]]
    step_at: Callable[[ChartSource, float], int]

    def place(self, source: ChartSource, step: int) -> float:
        return float(self.places(source.merges, np.array([step], dtype=np.float64))[0])


@dataclass(frozen=True)
class Series:
    """A curve over the steps; :func:`sampled` and :func:`each_step` make one of numbers."""

    curve: Callable[[ChartSource, int], Curve]  # of steps and values, given how many pixels wide it is drawn
    at: Callable[[ChartSource, int], float | None]  # its value at a step, if it has one
    median: Callable[[ChartSource, int], Curve] | None = None  # drawn over a band of smallest and largest values
    color: str = "accent"
    style: Qt.PenStyle = Qt.PenStyle.SolidLine
    symbol: str = "o"  # of its point at the step
    name: str = ""  # for the caption; empty if it is alone


def sampled(values_at: Callable[[MergeHistory, NDArray[np.int64]], NDArray[np.generic]], **looks: Any) -> Series:
    """Return the series of numbers that only fall or only rise, given a function of the steps."""

    def curve(source: ChartSource, columns: int) -> Curve:
        steps = sampled_steps(source.count, columns)
        return Curve(steps.astype(np.float64), values_at(source.merges, steps).astype(np.float64))

    return Series(curve, lambda source, step: float(values_at(source.merges, np.array([step]))[0]), **looks)


def each_step(values: Callable[[ChartSource], NDArray[np.generic]], first: int, *, has_median: bool = False) -> Series:
    """Return the series of any numbers, one for each step from the `first` on."""

    def drawn(make: Callable[[NDArray[np.float64], int], Curve], source: ChartSource, columns: int) -> Curve:
        curve = make(np.asarray(values(source), dtype=np.float64), columns)
        return curve._replace(x=curve.x + (first - 1))

    def at(source: ChartSource, step: int) -> float | None:
        numbers = values(source)
        return float(numbers[step - first]) if first <= step < first + len(numbers) else None

    return Series(partial(drawn, value_curve), at, partial(drawn, median_curve) if has_median else None)


@dataclass(frozen=True, kw_only=True)
class StepChart(Chart):
    """Curves over the steps; the step, the pointer and the creation of the selected token are marked."""

    x: StepAxis = field(default_factory=lambda: StepAxis(
        _tr("Merge"), lambda _history, steps: steps, lambda source, place: min(max(round(place), 0), source.count)
    ))  # fmt: skip
    y: Callable[[ChartSource], Axis]  # its range is that of the curves
    series: tuple[Series, ...]
    figures: Callable[[ChartSource, int], str]  # the values at a step in one line
    known: Callable[[ChartSource], int] = lambda source: source.count  # for how many steps there are values
    # The steps marked below the curve, given how many pixels wide it is.
    ties: Callable[[ChartSource, int], NDArray[np.int64]] = lambda _source, _columns: np.empty(0, dtype=np.int64)
    dots: Callable[[ChartSource], Sequence[tuple[float, float]]] = lambda _source: ()  # beside the curves

    def state(self, source: ChartSource) -> object:
        return None if source.history is None else self.known(source) or None

    def draw(self, source: ChartSource, room: Room) -> Drawing:
        places = partial(self.x.places, source.merges)
        curves = [(each, each.curve(source, room.columns)) for each in self.series]
        curves = [(each, curve._replace(x=places(curve.x))) for each, curve in curves if len(curve.x)]
        dots, ties = self.dots(source), self.ties(source, room.columns)
        y = self.y(source).fitted(np.concatenate([*(curve.y for _, curve in curves), [height for _, height in dots]]))
        named = (
            ("- - " if each.style is Qt.PenStyle.DashLine else "— ") + each.name for each, _ in curves if each.name
        )
        y = y._replace(notes=(*named, *y.notes))
        shapes: list[Shape] = []
        for series, curve in curves:
            line = curve._replace(y=y.places(curve.y))
            if curve.is_columns and series.median is not None:
                median = series.median(source, room.columns)
                median = median._replace(x=places(median.x), y=y.places(median.y))
                shapes += [Line(line, Stroke("bar")), Line(median, Stroke(series.color, 1.8))]
                y = y._replace(notes=(*y.notes, _tr("Line: median; band: range")))
            else:
                shapes.append(Line(line, Stroke(series.color, 1.0 if curve.is_columns else 1.8, series.style)))
        foot = y.range[0] + (y.range[1] - y.range[0]) * 0.025
        shapes.append(Dots(ties, [foot] * len(ties), "tie", symbol="t1", size=8 if source.count <= _FEW else 5))
        shapes += [Dots([place], [height], "accent_ink", Stroke("surface", 1.5)) for place, height in dots]
        first, last = self.x.place(source, 0), self.x.place(source, source.count)
        margin = max((last - first) * 0.012, 1e-9)
        x = Axis(self.x.title, "whole", range=(first - margin, last + margin), marked=(first, last))
        return Drawing(x, y, shapes, room)

    def marks(self, source: ChartSource, drawing: Drawing, hovered: float | None) -> Sequence[Shape]:
        step, selected, found = source.step, source.selected, list[Shape]()
        if hovered is not None:
            pointed = self.x.place(source, self.x.step_at(source, hovered))
            found.append(Rule(pointed, Stroke("muted", style=Qt.PenStyle.DotLine)))
        place = Rule(self.x.place(source, step), Stroke("text"))
        points = self._points(source, drawing, step, "text", Stroke("surface", 1.5))
        if selected is None or not selected.birth:
            return [*found, place, *points]
        left, right = drawing.x.range
        birth = self.x.place(source, selected.birth)
        across = (birth - left) / (right - left)
        created = self._points(source, drawing, selected.birth, "surface", Stroke("accent_ink", 1.6))
        found += [Rule(birth, Stroke("accent_ink", style=Qt.PenStyle.DashLine)), place]
        found += [dot._replace(symbol="d", size=12) for dot in created]
        text, side = token_text(selected.text, 24), 0 if across < 0.5 else 1
        return [*found, *points, Label(text, birth, drawing.y.range[1], side, 0, "accent_ink")]

    def _points(self, source: ChartSource, drawing: Drawing, step: int, color: str, edge: Stroke) -> list[Dots]:
        values = ((series.symbol, series.at(source, step)) for series in self.series)
        known = ((symbol, drawing.y.places(np.array([value]))) for symbol, value in values if value is not None)
        return [Dots([self.x.place(source, step)], height, color, edge, symbol) for symbol, height in known]

    def readout(self, source: ChartSource, drawing: Drawing, hovered: float | None) -> str:
        return self.figures(source, source.step if hovered is None else self.x.step_at(source, hovered))

    def summary(self, source: ChartSource, drawing: Drawing) -> str:
        """Return the name of the chart, the figures at the step, and the step that made the selected token."""
        said = [self.title, merges_text(source.count), self.figures(source, source.step)]
        selected = source.selected
        if selected is not None and selected.birth:
            created = _tr("{token} was created at step {step}")
            said.append(filled(created, token=token_text(selected.text), step=selected.birth))
        return "\n".join(said)

    def press(self, source: ChartSource, drawing: Drawing, place: float) -> None:
        source.model.seek(self.x.step_at(source, place))

    def move(self, source: ChartSource, drawing: Drawing, key: Qt.Key) -> bool:
        now, last = source.step, source.count
        steps = {
            Qt.Key.Key_Left: now - 1, Qt.Key.Key_Right: now + 1, Qt.Key.Key_PageUp: now - _TEN,
            Qt.Key.Key_PageDown: now + _TEN, Qt.Key.Key_Home: 0, Qt.Key.Key_End: last,
        }  # fmt: skip
        if key in steps:
            source.model.seek(min(max(steps[key], 0), last))
        return key in steps
