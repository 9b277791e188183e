"""The look of the window: light, dark or high-contrast, as the system or the user chose; its fonts, icons and colours.

Every pane is given a :class:`Theme`, draws with its colours, and has it :meth:`~Theme.dress` what must change with
them. The style sheet made from the colours, ``resources/window.qss``, sets colours, borders and spacing, and leaves
text sizes to the system. Tokens and runs have colours of their own, each with a second sign: a border, or a kind of
line.
"""

from __future__ import annotations

import zlib
from collections import Counter
from contextlib import contextmanager
from functools import cache
from itertools import pairwise, product
from string import Template
from typing import TYPE_CHECKING, Literal, NamedTuple

from PySide6.QtCore import QByteArray, QCoreApplication, QObject, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QGuiApplication,
    QIcon,
    QPainter,
    QPalette,
    QPixmap,
    QPixmapCache,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QMenu,
    QPushButton,
    QRadioButton,
    QTabBar,
    QToolButton,
    QWidget,
)
from shiboken6 import isValid

from wordpiece_studio.notebook import CHIP_COLORS, CHIP_INK
from wordpiece_studio.resources import resource_path
from wordpiece_studio.session.task import single_shot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from PySide6.QtGui import QAction
    from PySide6.QtWidgets import QApplication

_SIZES = (16, 20, 24, 32, 48)


@contextmanager
def saved(painter: QPainter) -> Iterator[None]:
    painter.save()
    try:
        yield
    finally:
        painter.restore()


def bold(font: QFont) -> QFont:
    result = QFont(font)
    result.setBold(True)
    return result


def icon(name: str, color: QColor, disabled: QColor | None = None) -> QIcon:
    """Return the icon called `name` in `color`, and in `disabled` where its action is not available."""
    result = QIcon()
    for mode, shade in ((QIcon.Mode.Normal, color), (QIcon.Mode.Disabled, disabled)):
        if shade is not None:
            for size in _SIZES:
                result.addPixmap(_drawn(name, shade.name(), size), mode)
    return result


@cache
def _drawing(name: str) -> str:
    return resource_path(f"icons/{name}.svg").read_text("utf-8")


def _drawn(name: str, color: str, size: int) -> QPixmap:
    key, pixmap = f"icon/{name}/{color}/{size}", QPixmap(size, size)
    if not QPixmapCache.find(key, pixmap):
        drawing = _drawing(name).replace("currentColor", color)
        pixmap.fill(Qt.GlobalColor.transparent)
        with QPainter(pixmap) as painter:
            QSvgRenderer(QByteArray(drawing.encode())).render(painter, QRectF(0, 0, size, size))
        QPixmapCache.insert(key, pixmap)
    return pixmap


class Colors:
    """The named colours of one look (sRGB), which are attributes; a theme has those of its present look.

    ``window`` lies behind the panels, ``surface`` is a panel, ``raised`` a button or field, ``hover`` the same under
    the pointer; ``border`` goes round panels and fields, ``line`` between rows; ``faint`` is text about what is not
    reached yet; each ``_soft`` colour is a background for text of the colour it is named after. Text has a contrast of
    at least 4.5 on all of them, and what else is to be told from them, one of 3.
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
    window="#f3f4f7", surface="#ffffff", raised="#ffffff", hover="#eef1f6", border="#858c99", line="#e6e8ec",
    text="#1d2330", muted="#4f5765", faint="#616977",
    accent="#2563e0", accent_hover="#1c54c7", accent_text="#ffffff", accent_soft="#e6eefd", accent_ink="#1b4fbe",
    tie="#b57a14", tie_soft="#fff6e5", tie_text="#8a5a00",
    error="#8c1d18", error_soft="#fff1f0", error_line="#d4665f", success="#256b2a", bar="#7889b3",
    bookmark="#7350c8",
)  # fmt: skip

DARK = _colors(
    window="#14171d", surface="#1c2028", raised="#262b35", hover="#303643", border="#6f788a", line="#2b313c",
    text="#e6e9ef", muted="#b3bbc8", faint="#99a2b1",
    accent="#3a6fe6", accent_hover="#2a5bcb", accent_text="#ffffff", accent_soft="#22324f", accent_ink="#8fb4ff",
    tie="#c98f2b", tie_soft="#332a17", tie_text="#f2c46d",
    error="#ffb4ab", error_soft="#3a1f1e", error_line="#b8605a", success="#7fd08a", bar="#66789c",
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


Border = Literal["thin", "thick", "double"]
_BORDERS: tuple[Border, ...] = ("thin", "thick", "double")
_SHADE_COUNT = 8
_MOST_TOGETHER = 20  # symbols of a word


class TokenStyle(NamedTuple):
    """Which of the backgrounds a token has, and the border around it."""

    shade: int
    border: Border = "thin"


# All of them; the first eight differ in colour.
_STYLES = [TokenStyle(shade, border) for border, shade in product(_BORDERS, range(_SHADE_COUNT))]


class TokenStyles:
    """The style of each token; the symbols of some words, which may be none, are coloured together.

    Symbols side by side in a word get different colours while there are any left, then different borders; up to eight
    symbols all differ in colour, and so do, if possible, all of a word. A longer token keeps the colour of its first
    symbol, whatever is merged, with another border.

    >>> styles = TokenStyles(["hug", "hugs", "pug"], "##")
    >>> len({styles.of(symbol).shade for symbol in ("h", "p", "##u", "##g", "##s")})
    5
    >>> [styles.of(token) == (styles.of("h").shade, border) for token, border in (("hu", "thick"), ("hug", "double"))]
    [True, True]
    """

    def __init__(self, words: Iterable[str] = (), prefix: str = "") -> None:
        self._prefix = prefix
        self._of_symbols = _symbol_styles(words, prefix)

    def of(self, token: str) -> TokenStyle:
        """Return the style of a token; it depends on nothing but its text and the words."""
        own = self._of_symbols.get(token)
        if own is not None:
            return own
        text = token.removeprefix(self._prefix)
        first = self._of_symbols.get(token[: len(token) - len(text) + 1])
        if first is not None:
            return TokenStyle(first.shade, _BORDERS[(_BORDERS.index(first.border) + 1 + len(text) % 2) % len(_BORDERS)])
        # crc32 and not hash(): hash() differs from run to run. A jsonl file may hold a lone surrogate.
        return TokenStyle(zlib.crc32(token.encode("utf-8", "surrogatepass")) % _SHADE_COUNT)


def _symbol_styles(words: Iterable[str], prefix: str) -> dict[str, TokenStyle]:
    neighbours: dict[str, set[str]] = {}
    together: dict[str, set[str]] = {}
    for word in words:
        symbols = [word[:1], *(prefix + character for character in word[1:])]  # a word may begin with the prefix
        for symbol in symbols:
            neighbours.setdefault(symbol, set())
            together.setdefault(symbol, set()).update(symbols[:_MOST_TOGETHER])
        for left, right in pairwise(symbols):
            neighbours[left].add(right)
            neighbours[right].add(left)
    styles: dict[str, TokenStyle] = {}
    used: Counter[TokenStyle] = Counter()
    for symbol in sorted(neighbours, key=lambda each: (-len(neighbours[each]), each)):
        beside = [styles[each] for each in neighbours[symbol] - {symbol} if each in styles]
        same, shades = Counter(beside), Counter(style.shade for style in beside)
        in_words = Counter(styles[each].shade for each in together[symbol] - {symbol} if each in styles)
        # The style that is least like those beside it, then those in its words; of several, the first least used.
        styles[symbol] = min(
            _STYLES, key=lambda style: (same[style], shades[style.shade], in_words[style.shade], used[style])
        )
        used[styles[symbol]] += 1
    return styles


_NAMED_RUNS = ("#277d5d", "#db0059", "#8d579e", "#85940e", "#e55b86", "#9c80b4", "#0a9b86", "#6d7100")
_NAMED_BRIGHT_RUNS = ("#6ce5d9", "#fa802e", "#b07efc", "#e8fda5", "#4db3a8", "#cba186", "#cdfed9", "#c0b1f1")
_RUNS, _BRIGHT_RUNS = (tuple(map(QColor, shades)) for shades in (_NAMED_RUNS, _NAMED_BRIGHT_RUNS))
_PEN = Qt.PenStyle
_RUN_LINES = (_PEN.SolidLine, _PEN.DashLine, _PEN.DotLine, _PEN.DashDotLine)


def run_line(number: int) -> Qt.PenStyle:
    return _RUN_LINES[number % len(_RUN_LINES)]


def palette(colors: Colors) -> QPalette:
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


_IS_POLISHED, _HAS_STYLE = Qt.WidgetAttribute.WA_WState_Polished, Qt.WidgetAttribute.WA_SetStyle
_UNSEEN_MS = 100  # until what is not seen is polished
_AT_ONCE = 30  # widgets, in some milliseconds

# The roles of widgets that the style sheet gives a font of their own, a semi-bold one.
_BOLD_ROLES = ("title", "heading", "primary")
# What has boxes to tick, icons or arrows, whose sizes in the style sheet follow the font, but which Qt caches.
_WITH_SIGNS = (QPushButton, QToolButton, QCheckBox, QRadioButton, QComboBox, QAbstractSpinBox, QMenu, QTabBar)

ThemeChoice = Literal["system", "light", "dark", "contrast"]


class Theme(QObject, Colors):
    """The colours and fonts in which everything is drawn; the colours are attributes: ``theme.accent``."""

    changed = Signal()  # all colours or fonts may have changed: redraw
    recolored = Signal()  # all colours may have changed, for what has no text

    def __init__(self, choice: ThemeChoice = "system", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.choice: ThemeChoice = choice
        self._application: QApplication | None = None
        self.scale = 1.0
        self.token_styles = TokenStyles()  # those of tokens, from the next time they are drawn
        self._usual_font = QGuiApplication.font()
        self._unseen: list[tuple[QWidget, Callable[[QWidget], object]]] = []  # what is done to them, some at a time
        self._unseen_timer = single_shot(self, self._restyle_unseen)
        self._take_look(self._wanted_look())
        # Else a font set on a widget does not reach what inside it has a style sheet.
        QCoreApplication.setAttribute(Qt.ApplicationAttribute.AA_UseStyleSheetPropagationInWidgetStyles)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._refresh)

    def dress(self, draw: Callable[[], object]) -> None:
        """Call a method of a widget now, and again whenever colours or fonts have changed."""
        draw()
        self.changed.connect(draw)

    def set_icon(
        self, target: QAbstractButton | QAction, name: str, color: str = "text", disabled: str = ""
    ) -> ThemedIcon:
        """Give a button or command the icon called `name`, always in these colours of the theme."""
        return ThemedIcon(target, name, self, color, disabled)

    # -- light, dark or high-contrast

    def set_choice(self, choice: ThemeChoice) -> None:
        """Change to the chosen look, and emit `changed` if it differs."""
        self.choice = choice
        if self._application is not None:
            self._pass_to_system()
        self._refresh()

    def apply_to(self, application: QApplication) -> None:
        self._application = application
        application.setStyle("Fusion")
        self._pass_to_system()
        self._apply_style()

    def set_scale(self, scale: float) -> None:
        """Make all text `scale` times as large as the system's."""
        if scale == self.scale:
            return
        self.scale = scale
        if self._application is not None:
            self._application.setFont(scaled_font(self._usual_font, scale))
            for window in self._application.topLevelWidgets():
                self._do_soon(window, self.pass_font_on, at_once=window.isVisible())
        self.changed.emit()

    def pass_font_on(self, root: QWidget) -> None:
        """Give `root` and everything in it the window's font; a style sheet set for that would too, but take a second.

        A hidden panel is passed over: what shows it passes the font on to it first.
        """
        parts = root.findChildren(QWidget)
        panels = [part for part in parts if part.property("role") == "panel"]
        hidden = [panel for panel in panels if not panel.isVisible()]
        for each in (root, *panels):
            if each not in hidden:
                each.setFont(QGuiApplication.font())
        for part in (root, *(each for each in parts if not each.isWindow())):  # a menu only once it has its font
            has_signs, is_bold = isinstance(part, _WITH_SIGNS), part.property("role") in _BOLD_ROLES
            if not (has_signs or is_bold) or any(panel.isAncestorOf(part) for panel in hidden):
                continue
            if has_signs:
                self._do_soon(part, _polish, at_once=part.isVisibleTo(root))
                part.updateGeometry()
            if is_bold:  # the style sheet gave it a font of its own
                part.setFont(self.font(bold=True))

    def _wanted_look(self) -> Look:
        if self.choice == "system":
            return "dark" if QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark else "light"
        return self.choice

    def _pass_to_system(self) -> None:
        schemes = {"system": Qt.ColorScheme.Unknown, "light": Qt.ColorScheme.Light}
        # Title bars and native dialogs follow this; Unknown hands the choice back to the system.
        QGuiApplication.styleHints().setColorScheme(schemes.get(self.choice, Qt.ColorScheme.Dark))

    def _refresh(self) -> None:
        look = self._wanted_look()
        if look != self.look:
            self._take_look(look)
            self._apply_style()
            self.recolored.emit()
            self.changed.emit()

    def _take_look(self, look: Look) -> None:
        self.look = look
        self.colors = LOOKS[look]
        self.token_ink = INKS[look]  # on every token's background the contrast is at least 4.5, in high contrast 7
        vars(self).update(vars(self.colors))

    def _apply_style(self) -> None:
        if self._application is None:
            return
        self._application.setPalette(palette(self.colors))
        sheet = Template(resource_path("window.qss").read_text("utf-8"))
        names = {name: color.name() for name, color in vars(self.colors).items()}
        names["veil"] = names["accent_soft"].replace("#", "#d8")  # what lies below shows through
        for picture in ("arrow-up", "arrow-down", "arrow-left", "arrow-right", "check"):
            names[picture.replace("-", "_")] = resource_path(f"icons/{picture}.svg").as_posix()
        if self.look == "contrast":  # a file has one colour, and white is not seen on this accent
            names["check"] = resource_path("icons/check-black.svg").as_posix()
        self._unseen = []
        for widget in _replace_sheet(self._application, sheet.substitute(names)):
            self._do_soon(widget, _polish, at_once=widget.isVisible())
            widget.update()

    def _do_soon(self, widget: QWidget, restyle: Callable[[QWidget], object], *, at_once: bool) -> None:
        if at_once:
            restyle(widget)
        else:
            self._unseen.append((widget, restyle))
            self._unseen_timer.start(_UNSEEN_MS)

    def _restyle_unseen(self) -> None:
        some, self._unseen = self._unseen[:_AT_ONCE], self._unseen[_AT_ONCE:]
        for widget, restyle in some:
            if isValid(widget):
                restyle(widget)
        if self._unseen:
            self._unseen_timer.start(0)

    # -- colours

    def token_color(self, token: str) -> QColor:
        return SHADES[self.look][self.token_styles.of(token).shade]

    def run_color(self, number: int) -> QColor:
        """Return the colour of the run with this number; :meth:`run_ink` is written on it. None is near the accent."""
        shades = _BRIGHT_RUNS if self.look == "contrast" else _RUNS
        return shades[number % len(shades)]

    def run_ink(self, number: int) -> QColor:
        color = self.run_color(number)
        channels = color.redF(), color.greenF(), color.blueF()
        luminance = sum(weight * each**2.2 for weight, each in zip((0.2126, 0.7152, 0.0722), channels, strict=True))
        return QColor("black" if luminance > 0.18 else "white")

    # -- fonts: the system's own sizes, changed by steps of a point

    def font(self, points: float = 0, bold: bool = False) -> QFont:
        """Return the window's font, `points` larger (or smaller) than the system's."""
        font = scaled_font(QGuiApplication.font(), points=points)
        if bold:
            font.setWeight(QFont.Weight.DemiBold)
        return font

    def mono_font(self, points: float = 0) -> QFont:
        """Return the system's font of fixed width, `points` larger than the window's."""
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        if QGuiApplication.font().pointSizeF() > 0:
            font.setPointSizeF(QGuiApplication.font().pointSizeF())
        return scaled_font(font, points=points)


def _polish(widget: QWidget) -> None:
    widget.style().polish(widget)


class ThemedIcon(QObject):
    """Draws the icon of what it belongs to, as long as that lives."""

    def __init__(self, target: QAbstractButton | QAction, name: str, theme: Theme, color: str, disabled: str) -> None:
        super().__init__(target)
        self._target, self._name, self._theme = target, name, theme
        self._color, self._disabled = color, disabled
        theme.recolored.connect(self._draw)
        self._draw()

    def show(self, name: str) -> None:
        if name != self._name:  # drawing it takes long
            self._name = name
            self._draw()

    def _draw(self) -> None:
        disabled = getattr(self._theme, self._disabled) if self._disabled else None
        self._target.setIcon(icon(self._name, getattr(self._theme, self._color), disabled))


def _replace_sheet(application: QApplication, sheet: str) -> list[QWidget]:
    """Take another style sheet, and return the widgets that must be polished for it.

    Qt would polish all of them twice, lay them out twice, and take half a second; it passes over what it thinks is
    not polished yet and has a style of its own.
    """
    keeper = QWidget()  # with the last sheet, Qt would forget what widgets were like without one
    keeper.setStyleSheet("QWidget { }")
    widgets = [each for each in application.allWidgets() if not each.testAttribute(_HAS_STYLE)]
    polished = [each for each in widgets if each.testAttribute(_IS_POLISHED)]
    for each in polished:
        each.setAttribute(_IS_POLISHED, False)
    for each in widgets:
        each.setAttribute(_HAS_STYLE)
    application.setStyleSheet("")
    application.setStyleSheet(sheet)
    for each in widgets:
        each.setAttribute(_HAS_STYLE, False)
    for each in polished:
        each.setAttribute(_IS_POLISHED)
    return polished


def scaled_font(font: QFont, scale: float = 1, points: float = 0) -> QFont:
    result = QFont(font)
    if font.pointSizeF() > 0:  # -1 where the size was given in pixels
        result.setPointSizeF(max(5.0, font.pointSizeF() * scale + points))
    else:
        result.setPixelSize(max(7, round(font.pixelSize() * scale + points * 4 / 3)))
    return result
