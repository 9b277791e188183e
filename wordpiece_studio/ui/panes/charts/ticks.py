"""The positions and labels of axis ticks: a few round numbers, in plain text. Nothing is drawn here."""

from __future__ import annotations

import math

from PySide6.QtCore import QLocale

from wordpiece_studio.ui.widgets.token_text import number_text

Ticks = list[tuple[float, str]]
"""(position on the axis, text) in ascending order."""

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
    return f"{value:.6g}".replace(".", QLocale().decimalPoint())


def short_text(value: float, decimals: int = 0) -> str:
    """Return a number as an axis shows it: large ones in thousands (k), millions (M) or billions (G).

    >>> short_text(9000), short_text(20000), short_text(2500000), short_text(0.5, 1)
    ('9,000', '20 k', '2.5 M', '0.5')
    """
    if decimals:
        return f"{value:.{decimals}f}".replace(".", QLocale().decimalPoint())
    size, unit = _unit(value)
    if size == 1:
        return number_text(round(value)) if round(value) == value else _round_text(value)
    return _round_text(value / size) + unit


def _unit(value: float) -> tuple[float, str]:
    """Return the unit in which numbers of this size are written, and its symbol."""
    if abs(value) < 10_000:
        return 1.0, ""
    return next((size, f" {sign}") for size, sign in _UNITS if abs(value) >= size)
