"""The named colours of the window, light, dark and high-contrast, and the colour of a token. No widgets here.

A token's colour is a function of its text alone, so a token looks the same in every pane, at every step and in every
run. The symbols of a small corpus are an exception: they are coloured together, with three kinds of border, so that no
two that stand side by side in a word look alike; runs on the same words share these colours too. Colour never carries
meaning by itself: the token's text is written on it.

The backgrounds of tokens were found by a search, not chosen by eye: among all colours of a look's lightness and chroma
(dull olives left out), eight whose smallest difference is large. With normal vision and with simulated protanopia,
deuteranopia and tritanopia, any two of them differ by at least 10 (CIEDE2000; 2 to 3 is just noticeable). Text on them
has a contrast of at least 4.5, in high contrast 7 (WCAG 2.2, criteria 1.4.3 and 1.4.6).

Simulation: G. M. Machado, M. M. Oliveira, L. A. F. Fernandes: A Physiologically-based Model for Simulation of Color
Vision Deficiency. IEEE Transactions on Visualization and Computer Graphics 15 (2009), severity 1.0. Difference:
G. Sharma, W. Wu, E. N. Dalal: The CIEDE2000 Color-Difference Formula. Color Research and Application 30 (2005).
"""

from __future__ import annotations

import zlib
from collections import Counter
from itertools import pairwise, product
from typing import TYPE_CHECKING, Literal, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette

from wordpiece_studio.notebook import CHIP_COLORS, CHIP_INK

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Colors:
    """The named colours of one look (sRGB), which are attributes; a theme has those of its present look.

    ``window`` lies behind the panels, ``surface`` is a panel, ``raised`` a button or field, ``hover`` the same under
    the pointer; ``border`` goes round panels and fields, ``line`` between rows; ``faint`` is text about what is not
    reached yet; each ``_soft`` colour is a background for text of the colour it is named after.
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
    bookmark: QColor


def _colors(**names: str) -> Colors:
    colors = Colors()
    vars(colors).update({name: QColor(value) for name, value in names.items()})
    return colors


LIGHT = _colors(
    window="#f3f4f7", surface="#ffffff", raised="#ffffff", hover="#eef1f6", border="#d5d8de", line="#e6e8ec",
    text="#1d2330", muted="#626a78", faint="#747c8a",
    accent="#2563e0", accent_hover="#1c54c7", accent_text="#ffffff", accent_soft="#e6eefd", accent_ink="#1b4fbe",
    tie="#f0b44c", tie_soft="#fff6e5", tie_text="#8a5a00",
    error="#8c1d18", error_soft="#fff1f0", error_line="#f2b8b5", success="#256b2a", bar="#a9b6d3",
    bookmark="#7350c8",
)  # fmt: skip

DARK = _colors(
    window="#14171d", surface="#1c2028", raised="#262b35", hover="#303643", border="#363d4a", line="#2b313c",
    text="#e6e9ef", muted="#a0a9b8", faint="#838c9c",
    accent="#3267dd", accent_hover="#2a5bcb", accent_text="#ffffff", accent_soft="#22324f", accent_ink="#8fb4ff",
    tie="#c98f2b", tie_soft="#332a17", tie_text="#f2c46d",
    error="#ffb4ab", error_soft="#3a1f1e", error_line="#7d3a36", success="#7fd08a", bar="#4a5874",
    bookmark="#b39af5",
)  # fmt: skip

CONTRAST = _colors(
    window="#000000", surface="#000000", raised="#000000", hover="#2b2b2b", border="#ffffff", line="#8c8c8c",
    text="#ffffff", muted="#e8e8e8", faint="#c4c4c4",
    accent="#ffd633", accent_hover="#ffe680", accent_text="#000000", accent_soft="#3d3300", accent_ink="#ffe066",
    tie="#ff9d2e", tie_soft="#331c00", tie_text="#ffc073",
    error="#ffb8b0", error_soft="#3d0500", error_line="#ff7a6b", success="#8dff98", bar="#9db4e8", bookmark="#d3b8ff",
)  # fmt: skip

Look = Literal["light", "dark", "contrast"]
LOOKS: dict[Look, Colors] = {"light": LIGHT, "dark": DARK, "contrast": CONTRAST}

_NAMED_SHADES: dict[Look, tuple[str, ...]] = {
    "light": CHIP_COLORS,
    "dark": ("#263b8c", "#30283f", "#422421", "#4969c0", "#5c674e", "#685369", "#792603", "#91650b"),
    "contrast": ("#61b3b3", "#99ab8d", "#bffae9", "#c78bff", "#d29c43", "#e2cfff", "#e6fcb3", "#f6de15"),
}
SHADES = {look: tuple(map(QColor, shades)) for look, shades in _NAMED_SHADES.items()}
INKS: dict[Look, QColor] = {"light": QColor(CHIP_INK), "dark": QColor("#f8f9fc"), "contrast": QColor("#000000")}


Border = Literal["thin", "thick", "dotted"]
_BORDERS: tuple[Border, ...] = ("thin", "thick", "dotted")
_SHADE_COUNT = 8


class TokenStyle(NamedTuple):
    """Which of the backgrounds a token has, and the border around it."""

    shade: int
    border: Border = "thin"


_STYLES = [TokenStyle(shade, border) for border, shade in product(_BORDERS, range(_SHADE_COUNT))]
"""All of them; the first eight differ in colour."""


class TokenStyles:
    """The style of each token; the symbols of some words, which may be none, are coloured together.

    Symbols side by side in a word get different colours while there are any left, then different borders; up to eight
    symbols all differ in colour. A longer token has none of the colours of its symbols, if possible.

    >>> styles = TokenStyles(["hug", "hugs", "pug"], "##")
    >>> len({styles.of(symbol).shade for symbol in ("h", "p", "##u", "##g", "##s", "##gs")})
    6
    """

    def __init__(self, words: Iterable[str] = (), prefix: str = "") -> None:
        self._prefix = prefix
        self._of_symbols = _symbol_styles(words, prefix)

    def of(self, token: str) -> TokenStyle:
        """Return the style of a token; it depends on nothing but its text and the words."""
        own = self._of_symbols.get(token)
        if own is not None:
            return own
        shades: Sequence[int] = range(_SHADE_COUNT)
        if self._of_symbols:
            styles = map(self._of_symbols.get, _symbols_of(token, self._prefix))
            taken = {style.shade for style in styles if style is not None}
            shades = [shade for shade in shades if shade not in taken] or shades
        # crc32 and not hash(): hash() differs from run to run. A jsonl file may hold a lone surrogate.
        return TokenStyle(shades[zlib.crc32(token.encode("utf-8", "surrogatepass")) % len(shades)])


def _symbols_of(token: str, prefix: str) -> list[str]:
    """Return the symbols that a word or token is made of.

    >>> _symbols_of("hug", "##"), _symbols_of("##gs", "##")
    (['h', '##u', '##g'], ['##g', '##s'])
    """
    text = token.removeprefix(prefix)
    first = text[:1] if text == token else prefix + text[:1]
    return [first, *(prefix + character for character in text[1:])]


def _symbol_styles(words: Iterable[str], prefix: str) -> dict[str, TokenStyle]:
    """Return the style of each symbol of some words, in whatever order they come."""
    neighbours: dict[str, set[str]] = {}
    for word in words:
        symbols = [word[:1], *(prefix + character for character in word[1:])]  # a word may begin with the prefix
        for symbol in symbols:
            neighbours.setdefault(symbol, set())
        for left, right in pairwise(symbols):
            neighbours[left].add(right)
            neighbours[right].add(left)
    styles: dict[str, TokenStyle] = {}
    used: Counter[TokenStyle] = Counter()
    for symbol in sorted(neighbours, key=lambda each: (-len(neighbours[each]), each)):
        beside = [styles[each] for each in neighbours[symbol] - {symbol} if each in styles]
        style = _style_beside(beside, used)
        styles[symbol] = style
        used[style] += 1
    return styles


def _style_beside(beside: list[TokenStyle], used: Counter[TokenStyle]) -> TokenStyle:
    """Return the style that is least like those beside it; of several, the first of those that are used least."""
    same, shades = Counter(beside), Counter(style.shade for style in beside)
    return min(_STYLES, key=lambda style: (same[style], shades[style.shade], used[style]))


_NAMED_RUNS: dict[Look, tuple[str, ...]] = {
    "light": ("#037c64", "#7c1b03", "#61049f", "#e5065f", "#6c6c13", "#a44691", "#26593b", "#723158"),
    "dark": ("#4db375", "#fa572e", "#8e8eeb", "#f9c806", "#56fbda", "#cb86a1", "#c8fda5", "#d7cdfe"),
    "contrast": ("#6ce5d9", "#fa802e", "#b07efc", "#e8fda5", "#4db3a8", "#cba186", "#cdfed9", "#c0b1f1"),
}
_RUNS = {look: tuple(map(QColor, shades)) for look, shades in _NAMED_RUNS.items()}
_PEN = Qt.PenStyle
_RUN_LINES = (_PEN.SolidLine, _PEN.DashLine, _PEN.DotLine, _PEN.DashDotLine)


def run_color(number: int, look: Look) -> QColor:
    """Return the colour of the run with this number, from 0; `surface` is written on it. There are eight.

    They were found like the backgrounds of tokens, and lie as far apart; none is near the accent.
    """
    return _RUNS[look][number % len(_RUNS[look])]


def run_line(number: int) -> Qt.PenStyle:
    """Return the line style that goes with the colour of a run."""
    return _RUN_LINES[number % len(_RUN_LINES)]


def palette(colors: Colors) -> QPalette:
    """Return Qt's palette in these colours, for everything that the style sheet does not reach."""
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
