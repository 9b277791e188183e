"""The look of the window: light, dark or high-contrast, as the system or the user chose, and the fonts.

Every pane is given a :class:`Theme`; it draws with its colours and redraws when that emits ``changed``. A theme holds
no widget. The colours themselves are in :mod:`~wordpiece_studio.ui.widgets.colors`; the style sheet made from them,
``resources/window.qss``, sets colours, borders and spacing, and leaves text sizes to the system.
"""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QComboBox, QWidget

from wordpiece_studio.resources import resource_path
from wordpiece_studio.ui.widgets import colors as named
from wordpiece_studio.ui.widgets.painting import sheet_pictures

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

_BOLD_ROLES = ("title", "heading", "primary")
"""The roles of widgets that the style sheet gives a font of their own, a semi-bold one."""

ThemeChoice = Literal["system", "light", "dark", "contrast"]


class Theme(QObject, named.Colors):
    """The colours and fonts in which everything is drawn; the colours are attributes: ``theme.accent``."""

    changed = Signal()
    """All colours may have changed: redraw."""

    def __init__(self, choice: ThemeChoice = "system", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.choice: ThemeChoice = choice
        self._application: QApplication | None = None
        self.scale = 1.0
        self.token_styles = named.TokenStyles()  # those of tokens, from the next time they are drawn
        self._usual_font = QGuiApplication.font()
        self._take_look(self._wanted_look())
        # Else a font set on a widget does not reach what inside it has a style sheet.
        QCoreApplication.setAttribute(Qt.ApplicationAttribute.AA_UseStyleSheetPropagationInWidgetStyles)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_system_scheme_changed)

    # -- light, dark or high-contrast

    def set_choice(self, choice: ThemeChoice) -> None:
        """Change to the chosen look, and emit `changed` if it differs."""
        self.choice = choice
        if self._application is not None:
            self._pass_to_system()
        self._refresh()

    def apply_to(self, application: QApplication) -> None:
        """Style the whole application in this look, now and whenever it changes."""
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
                _pass_font_on(window, self._application.font())
        self.changed.emit()

    def _wanted_look(self) -> named.Look:
        if self.choice == "system":
            return "dark" if QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark else "light"
        return self.choice

    def _pass_to_system(self) -> None:
        schemes = {"system": Qt.ColorScheme.Unknown, "light": Qt.ColorScheme.Light}
        # Title bars and native dialogs follow this; Unknown hands the choice back to the system.
        QGuiApplication.styleHints().setColorScheme(schemes.get(self.choice, Qt.ColorScheme.Dark))

    def _on_system_scheme_changed(self, _scheme: Qt.ColorScheme) -> None:
        if self.choice == "system":
            self._refresh()

    def _refresh(self) -> None:
        look = self._wanted_look()
        if look != self.look:
            self._take_look(look)
            self._apply_style()
            self.changed.emit()

    def _take_look(self, look: named.Look) -> None:
        self.look = look
        self.colors = named.LOOKS[look]
        self.token_ink = named.INKS[
            look
        ]  # on every token's background the contrast is at least 4.5, in high contrast 7
        vars(self).update(vars(self.colors))

    def _apply_style(self) -> None:
        if self._application is not None:
            self._application.setPalette(named.palette(self.colors))
            self._application.setStyleSheet("")  # replacing one takes Qt three times as long
            sheet = Template(resource_path("window.qss").read_text("utf-8"))
            colors = {name: color.name() for name, color in vars(self.colors).items()}
            self._application.setStyleSheet(sheet.substitute(colors, **sheet_pictures()))

    # -- colours

    def token_style(self, token: str) -> named.TokenStyle:
        """Return the style of the token with this text; stable from run to run on the same words."""
        return self.token_styles.of(token)

    def token_color(self, token: str) -> QColor:
        """Return the background of the token with this text."""
        return named.SHADES[self.look][self.token_style(token).shade]

    def run_color(self, number: int) -> QColor:
        """Return the colour of a run; `surface` is written on it."""
        return named.run_color(number, self.look)

    # -- fonts: the system's own sizes, changed by steps of a point

    def font(self, points: float = 0, bold: bool = False) -> QFont:
        """Return the window's font, `points` larger (or smaller) than the system's."""
        return _changed(QGuiApplication.font(), points, bold)

    def mono_font(self, points: float = 0, bold: bool = False) -> QFont:
        """Return the system's font of fixed width, `points` larger than the window's."""
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        if QGuiApplication.font().pointSizeF() > 0:
            font.setPointSizeF(QGuiApplication.font().pointSizeF())
        return _changed(font, points, bold)


class PaneTheme(Theme):
    """The theme of a pane: follows `base`, the window's, in everything but the text size.

    Attributes
    ----------
    panel
        What gets the pane's font, before `changed` is emitted.
    """

    panel: QWidget | None = None

    def __init__(self, base: Theme, parent: QObject | None = None) -> None:
        super().__init__(base.choice, parent)
        self._base = base
        self.zoom = 1.0
        self._take_look(base.look)
        base.changed.connect(self._on_base_changed)

    def set_zoom(self, zoom: float) -> None:
        """Make the pane's text `zoom` times as large as the window's, and emit `changed`."""
        if zoom != self.zoom:
            self.zoom = zoom
            self._pass_font_on()
            self.changed.emit()

    def token_style(self, token: str) -> named.TokenStyle:
        """Return the style that the window's theme gives to the token with this text."""
        return self._base.token_style(token)

    def font(self, points: float = 0, bold: bool = False) -> QFont:
        """Return the pane's font, `points` larger (or smaller) before it is zoomed."""
        return scaled_font(super().font(points, bold), self.zoom)

    def mono_font(self, points: float = 0, bold: bool = False) -> QFont:
        """Return the system's font of fixed width in the pane's size."""
        return scaled_font(super().mono_font(points, bold), self.zoom)

    def _on_base_changed(self) -> None:
        self._take_look(self._base.look)
        if self.zoom != 1:  # the window's text may have another size now
            self._pass_font_on()
        self.changed.emit()

    def _pass_font_on(self) -> None:
        if self.panel is not None:
            _pass_font_on(self.panel, self.font())

    def _on_system_scheme_changed(self, _scheme: Qt.ColorScheme) -> None:
        """Do nothing: the window's theme handles that."""


def _pass_font_on(root: QWidget, font: QFont) -> None:
    """Give `root` and everything in it this font; a style sheet set for that would too, but take a second."""
    root.setFont(font)
    for widget in root.findChildren(QWidget):
        if widget.property("role") in _BOLD_ROLES:  # the style sheet gave them a font of their own
            widget.setFont(_changed(font, 0, bold=True))
        elif isinstance(widget, QComboBox):  # Qt's keep the size that they needed until their style changes
            QCoreApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))


def scaled_font(font: QFont, scale: float) -> QFont:
    """Return `font`, `scale` times as large."""
    result = QFont(font)
    if font.pointSizeF() > 0:
        result.setPointSizeF(font.pointSizeF() * scale)
    else:
        result.setPixelSize(max(1, round(font.pixelSize() * scale)))
    return result


def _changed(font: QFont, points: float, bold: bool) -> QFont:
    result = QFont(font)
    if font.pointSizeF() > 0:  # -1 where the size was given in pixels
        result.setPointSizeF(max(5.0, font.pointSizeF() + points))
    else:
        result.setPixelSize(max(7, round(font.pixelSize() + points * 4 / 3)))
    if bold:
        result.setWeight(QFont.Weight.DemiBold)
    return result
