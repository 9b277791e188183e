"""What a plot draws, as plain data: shapes on two axes, each with a unit, a scale and round numbers.

Shapes lie where the axes have their numbers: on a logarithmic axis, at powers of ten.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from PySide6.QtCore import Qt

from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.session.chart_source import Curve

Range = tuple[float, float]
Ticks = list[tuple[float, str]]
"""(position on the axis, text) in ascending order."""


class Stroke(NamedTuple):
    """How a line is drawn: the name of a color of the theme, and its width in pixels."""

    color: str
    width: float = 1.0
    style: Qt.PenStyle = Qt.PenStyle.SolidLine


class Line(NamedTuple):
    curve: Curve
    stroke: Stroke


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
    """A vertical line through the plot."""

    x: float
    stroke: Stroke


class Label(NamedTuple):
    """A text whose part `across` and `down` (0 to 1) lies at a point; it is moved to fit into the plot.

    It gives way to those of the marks and to those before it, unless its own background lets it lie on top of all.
    """

    text: str
    x: float
    y: float
    across: float
    down: float
    color: str
    has_ground: bool = False


Shape = Line | Dots | Bars | Rule | Label
BAR_WIDTH = 0.8


class Room(NamedTuple):
    """How many pixels are between the axes, and how many text takes there."""

    columns: int
    rows: int
    line: int
    width_of: Callable[[str], int]

    def top_for_text(self, low: float, high: float, place: float) -> float:
        """Return where a vertical axis from `low` must end, at least at `high`, for a text to fit above `place`."""
        rows, line = self.rows, 1.3 * self.line
        return max(high, low + (place - low) * rows / max(rows - line, rows / 3))


class Axis(NamedTuple):
    """What an axis measures, and from where to where."""

    title: str
    scale: Literal["linear", "whole", "log"] = "linear"
    unit: str = ""
    range: Range = (0.0, 1.0)
    floor: float = 0.0  # where values without a logarithm lie on a logarithmic axis
    marked: Range | None = None  # the part with ticks; all of it if None
    density: int = 1  # how many times as many ticks as usual it has room for
    notes: tuple[str, ...] = ()  # what is said beside its title about the curves

    @property
    def caption(self) -> str:
        return "   ".join((f"{self.title} ({self.unit})" if self.unit else self.title, *self.notes))

    def fitted(self, values: NDArray[np.float64]) -> Axis:
        """Return the axis with room for these values, and a little more."""
        if self.scale != "log":
            low, high = float(values.min()), float(values.max())
            margin = (high - low) * 0.08 or max(abs(high) * 0.05, 0.5)
            return self._replace(range=(low - margin, high + margin))
        positive = values[np.isfinite(values) & (values > 0)]
        low, high = (math.log10(positive.min()), math.log10(positive.max())) if len(positive) else (0.0, 1.0)
        margin = max((high - low) * 0.08, 0.02)
        return self._replace(range=(low - 1.6 * margin, high + 1.4 * margin), floor=low)

    def places(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return where these values lie."""
        if self.scale != "log":
            return values
        has_one = np.isfinite(values) & (values > 0)
        return np.log10(values, out=np.full(len(values), self.floor), where=has_one)

    def ticks(self, most: int) -> Ticks:
        low, high = self.marked or self.range
        if self.scale == "log":
            return log_ticks(low, high, most * self.density)
        return linear_ticks(low, high, most * self.density, whole=self.scale == "whole")


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
    """Return at most `most` ticks between two numbers, 1, 2 or 5 times a power of ten apart.

    `whole`: no fractions.

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
    return _linear_log_ticks(low, high, most)


def _linear_log_ticks(low: float, high: float, most: int) -> Ticks:
    """Return ticks for a logarithmic axis shorter than about a decade: evenly spaced round numbers."""
    marks = linear_ticks(10.0**low, 10.0**high, most)
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
    """Return the unit in which numbers of this size are written, and its symbol."""
    if abs(value) < 10_000:
        return 1.0, ""
    return next((size, f" {sign}") for size, sign in _UNITS if abs(value) >= size)
