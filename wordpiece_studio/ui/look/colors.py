"""The colours of the window by name, light and dark, and the colour of a token. No widget and no style sheet is here.

A token's colour is a function of its text alone, so a token looks the same in every pane, at every step and in every
run. Colour never carries a meaning of its own: the token's text stands on it.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, fields

from PySide6.QtGui import QColor, QPalette


@dataclass(frozen=True, slots=True)
class Colors:
    """The named colours of one look (sRGB).

    ``window`` lies behind the cards, ``surface`` is a card, ``raised`` a button or field, ``hover`` the same under the
    pointer; ``border`` goes round cards and fields, ``line`` between rows; ``faint`` is text of what is not reached
    yet; each ``_soft`` colour is a ground for text of the colour it is named after.
    """

    window: QColor
    surface: QColor
    raised: QColor
    hover: QColor
    border: QColor
    line: QColor
    text: QColor
    muted: QColor
    faint: QColor
    accent: QColor
    accent_hover: QColor
    accent_text: QColor
    accent_soft: QColor
    accent_ink: QColor
    tie: QColor
    tie_soft: QColor
    tie_text: QColor
    error: QColor
    error_soft: QColor
    error_line: QColor
    success: QColor
    bar: QColor


def _colors(**names: str) -> Colors:
    return Colors(**{name: QColor(value) for name, value in names.items()})


LIGHT = _colors(
    window="#f3f4f7", surface="#ffffff", raised="#ffffff", hover="#eef1f6", border="#d5d8de", line="#e6e8ec",
    text="#1d2330", muted="#626a78", faint="#747c8a",
    accent="#2563e0", accent_hover="#1c54c7", accent_text="#ffffff", accent_soft="#e6eefd", accent_ink="#1b4fbe",
    tie="#f0b44c", tie_soft="#fff6e5", tie_text="#8a5a00",
    error="#8c1d18", error_soft="#fff1f0", error_line="#f2b8b5", success="#256b2a", bar="#a9b6d3",
)  # fmt: skip

DARK = _colors(
    window="#14171d", surface="#1c2028", raised="#262b35", hover="#303643", border="#363d4a", line="#2b313c",
    text="#e6e9ef", muted="#a0a9b8", faint="#838c9c",
    accent="#3267dd", accent_hover="#2a5bcb", accent_text="#ffffff", accent_soft="#22324f", accent_ink="#8fb4ff",
    tie="#c98f2b", tie_soft="#332a17", tie_text="#f2c46d",
    error="#ffb4ab", error_soft="#3a1f1e", error_line="#7d3a36", success="#7fd08a", bar="#4a5874",
)  # fmt: skip

_PASTEL = tuple(
    QColor(value)
    for value in (
        "#cfe3ff", "#ffe2b8", "#cdeccf", "#e0d6f9", "#d3ede6", "#f8d5c8",
        "#f5d3e7", "#f8ebab", "#d4dcf7", "#e4ecc0", "#cdeaf4", "#eddccb",
    )
)  # fmt: skip
_DEEP = tuple(
    QColor(value)
    for value in (
        "#274a7d", "#6b4714", "#28582f", "#4c3c80", "#1f5850", "#7a3826",
        "#702f58", "#5c500f", "#3a4585", "#475617", "#1e5569", "#5c4630",
    )
)  # fmt: skip
_INK_ON_PASTEL = QColor("#14181f")
_INK_ON_DEEP = QColor("#f3f5f9")


def token_color(token: str, dark: bool) -> QColor:
    """Return the ground on which the text `token` is drawn; the same text has the same one everywhere."""
    shades = _DEEP if dark else _PASTEL
    # crc32 and not hash(): hash() differs from run to run. A lone surrogate may come out of a jsonl file.
    return shades[zlib.crc32(token.encode("utf-8", "surrogatepass")) % len(shades)]


def token_text_color(dark: bool) -> QColor:
    """Return the colour of the text on any token's ground."""
    return _INK_ON_DEEP if dark else _INK_ON_PASTEL


def contrast(first: QColor, second: QColor) -> float:
    """Return the contrast ratio of two colours, from 1 (the same) to 21 (black on white), as WCAG 2 defines it."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: QColor) -> float:
    channels = (color.redF(), color.greenF(), color.blueF())
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def palette(colors: Colors) -> QPalette:
    """Return Qt's palette in these colours, for all that no style sheet reaches."""
    role = QPalette.ColorRole
    result = QPalette(colors.raised, colors.window)
    roles = {
        role.Window: colors.window, role.WindowText: colors.text, role.Base: colors.surface,
        role.AlternateBase: colors.window, role.Text: colors.text, role.Button: colors.raised,
        role.ButtonText: colors.text, role.BrightText: colors.error, role.Highlight: colors.accent,
        role.HighlightedText: colors.accent_text, role.Link: colors.accent_ink, role.LinkVisited: colors.accent_ink,
        role.ToolTipBase: colors.raised, role.ToolTipText: colors.text, role.PlaceholderText: colors.faint,
        role.Mid: colors.border, role.Midlight: colors.line, role.Light: colors.raised, role.Dark: colors.border,
        role.Shadow: colors.border, role.Accent: colors.accent,
    }  # fmt: skip
    for name, color in roles.items():
        result.setColor(name, color)
    for name in (role.WindowText, role.Text, role.ButtonText):
        result.setColor(QPalette.ColorGroup.Disabled, name, colors.faint)
    return result


def names() -> tuple[str, ...]:
    """Return the names of all colours of a look."""
    return tuple(field.name for field in fields(Colors))
