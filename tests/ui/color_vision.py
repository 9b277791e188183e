"""How far two colours lie apart, as people with and without the common kinds of colour-blindness see them.

Simulation after Machado, Oliveira and Fernandes (2009), at full severity, on linear RGB; difference by CIEDE2000 as
Sharma, Wu and Dalal (2005) write it out.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PySide6.QtGui import QColor

VISIONS = {
    "ordinary": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])


def seen(color: QColor, vision: str) -> NDArray[np.float64]:
    """Return a colour in CIELAB as it is seen."""
    channels = np.array([color.redF(), color.greenF(), color.blueF()])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return _lab(np.clip(VISIONS[vision] @ linear, 0, 1))


def _lab(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    xyz = _TO_XYZ @ linear / _WHITE
    delta = 6 / 29
    f = np.where(xyz > delta**3, np.cbrt(xyz), xyz / (3 * delta**2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def difference(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return CIEDE2000 of two colours in CIELAB."""
    mean_chroma = (math.hypot(one[1], one[2]) + math.hypot(other[1], other[2])) / 2
    grey = 1 + 0.5 * (1 - math.sqrt(mean_chroma**7 / (mean_chroma**7 + 25**7)))
    (l1, c1, h1), (l2, c2, h2) = (_polar(color, grey) for color in (one, other))
    hue = _hue_between(h1, h2, c1 * c2)
    mean_l, mean_c, mean_h = (l1 + l2) / 2, (c1 + c2) / 2, _mean_hue(h1, h2, c1 * c2)
    weight = (
        1
        - 0.17 * _cos(mean_h - 30)
        + 0.24 * _cos(2 * mean_h)
        + 0.32 * _cos(3 * mean_h + 6)
        - 0.20 * _cos(4 * mean_h - 63)
    )
    turn = 30 * math.exp(-(((mean_h - 275) / 25) ** 2))
    rotation = -2 * math.sqrt(mean_c**7 / (mean_c**7 + 25**7)) * math.sin(math.radians(2 * turn))
    light = (l2 - l1) / (1 + 0.015 * (mean_l - 50) ** 2 / math.sqrt(20 + (mean_l - 50) ** 2))
    chroma = (c2 - c1) / (1 + 0.045 * mean_c)
    shade = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(hue / 2)) / (1 + 0.015 * mean_c * weight)
    return math.sqrt(light**2 + chroma**2 + shade**2 + rotation * chroma * shade)


def _polar(color: NDArray[np.float64], grey: float) -> tuple[float, float, float]:
    a = color[1] * grey
    return float(color[0]), math.hypot(a, color[2]), math.degrees(math.atan2(color[2], a)) % 360


def _hue_between(h1: float, h2: float, chroma: float) -> float:
    turn = h2 - h1
    if not chroma:
        return 0.0
    return turn - 360 if turn > 180 else turn + 360 if turn < -180 else turn


def _mean_hue(h1: float, h2: float, chroma: float) -> float:
    if not chroma:
        return h1 + h2
    if abs(h1 - h2) <= 180:
        return (h1 + h2) / 2
    return (h1 + h2 + 360) / 2 if h1 + h2 < 360 else (h1 + h2 - 360) / 2


def _cos(degrees: float) -> float:
    return math.cos(math.radians(degrees))


def contrast(first: QColor, second: QColor) -> float:
    """Return the contrast ratio of two colours, from 1 (the same) to 21 (black on white), as WCAG 2 defines it."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: QColor) -> float:
    channels = (color.redF(), color.greenF(), color.blueF())
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
