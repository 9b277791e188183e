"""The look of the window: light, dark or high-contrast, as the system or the user chose, and the fonts.

Every pane is given a :class:`Theme`; it draws with its colours and redraws when that emits ``changed``. A theme holds
no widget. The colours themselves are in :mod:`~wordpiece_studio.ui.widgets.colors`; the style sheet made from them sets
colours, borders and spacing, and leaves text sizes to the system.
"""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QComboBox, QWidget

from wordpiece_studio.ui.widgets import colors as named
from wordpiece_studio.ui.widgets.painting import sheet_pictures

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

_BOLD_ROLES = ("title", "heading", "primary")
"""The roles of widgets that the style sheet gives a font of their own, a semi-bold one."""

_TEMPLATE = Template("""
QMainWindow { background: $window; }
QDialog { background: $surface; }
#edge:hover { background: $border; }
QMenuBar { background: $surface; border-bottom: 1px solid $line; padding: 1px 4px; }
QMenuBar::item { padding: 4px 10px; background: transparent; border-radius: 4px; }
QMenuBar::item:selected { background: $hover; }
QMenu { background: $raised; border: 1px solid $border; padding: 4px; }
QMenu::item { padding: 5px 26px 5px 22px; border-radius: 4px; }
QMenu::item:selected { background: $accent_soft; color: $text; }
QMenu::item:disabled { color: $faint; }
QMenu::separator { height: 1px; background: $line; margin: 4px 8px; }
QToolTip { background: $raised; color: $text; border: 1px solid $border; padding: 4px 6px; }
QStatusBar { background: $surface; border-top: 1px solid $line; color: $muted; }
QStatusBar::item { border: none; }

#training_bar { background: $surface; border: none; border-bottom: 1px solid $line; }
#run_strip { background: $window; border: none; }
#run_tabs::tab { padding: 0; margin: 0; border: none; }
#run_tabs::scroller { width: 44px; }
#run_tabs > QToolButton { background: $raised; border: 1px solid $border; padding: 0; }
QFrame[role="panel"] { background: $surface; border: 1px solid $border; border-radius: 6px; }
#palette { background: $raised; border: 1px solid $border; border-radius: 8px; }
#palette QLineEdit { padding: 6px 9px; }
#palette QListView { background: transparent; border: none; }
#panel_title_bar { background: transparent; border: none; border-bottom: 1px solid $line; }
QLabel { background: transparent; color: $text; }
QLabel:disabled { color: $faint; }
QLabel[role="title"] { font-weight: 600; }
QLabel[role="heading"] { font-weight: 600; color: $text; }
QLabel[role="hint"], QLabel[role="caption"] { color: $muted; }
QLabel[role="error"] { color: $error; }
QLabel[role="value"] { color: $text; }

QPushButton, QToolButton[role="button"] {
    background: $raised; color: $text; border: 1px solid $border; border-radius: 6px; padding: 5px 12px;
}
QPushButton:hover, QToolButton[role="button"]:hover { background: $hover; }
QPushButton:pressed, QToolButton[role="button"]:pressed { background: $line; }
QPushButton:focus, QToolButton[role="button"]:focus { border-color: $accent; }
QPushButton:disabled, QToolButton[role="button"]:disabled { color: $faint; background: $window; }
QPushButton[role="primary"], QToolButton[role="primary"] {
    background: $accent; color: $accent_text; border: 1px solid $accent; border-radius: 6px; padding: 5px 16px;
    font-weight: 600;
}
QPushButton[role="primary"]:hover, QToolButton[role="primary"]:hover { background: $accent_hover; }
QPushButton[role="primary"]:focus, QToolButton[role="primary"]:focus { border: 2px solid $text; padding: 4px 15px; }
QPushButton[role="primary"]:disabled, QToolButton[role="primary"]:disabled {
    background: $window; color: $faint; border-color: $border;
}
QToolButton { background: transparent; border: 1px solid transparent; border-radius: 5px; padding: 3px 5px; }
QToolButton:hover { background: $hover; }
QToolButton[role="link"] { color: $accent_ink; }
QToolButton[role="search"] {
    background: $window; color: $muted; border: 1px solid $border; border-radius: 6px; padding: 5px 12px;
}
QToolButton[role="search"]:hover { color: $text; border-color: $faint; }
QToolButton[role="search"]:focus { border-color: $accent; }
QToolButton:focus { border-color: $accent; }
QToolButton:checked { background: $accent_soft; border-color: $accent; }
QToolButton:disabled { color: $faint; }
QToolButton::menu-indicator { image: none; }

QLineEdit, QComboBox, QAbstractSpinBox {
    background: $raised; color: $text; border: 1px solid $border; border-radius: 6px; padding: 3px 7px;
    selection-background-color: $accent; selection-color: $accent_text;
}
QLineEdit:focus, QComboBox:focus, QAbstractSpinBox:focus { border-color: $accent; }
QLineEdit:disabled, QComboBox:disabled, QAbstractSpinBox:disabled { color: $faint; background: $window; }
QLineEdit[state="wrong"], QAbstractSpinBox[state="wrong"] { border-color: $error; background: $error_soft; }
QComboBox::drop-down { border: none; width: 18px; }
QComboBox::down-arrow { image: url("$arrow_down"); width: 10px; height: 10px; }
QComboBox QAbstractItemView { background: $raised; border: 1px solid $border; outline: none; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {
    subcontrol-origin: border; width: 16px; border: none; background: transparent;
}
QAbstractSpinBox::up-button { subcontrol-position: top right; margin-top: 2px; }
QAbstractSpinBox::down-button { subcontrol-position: bottom right; margin-bottom: 2px; }
QAbstractSpinBox::up-arrow { image: url("$arrow_up"); width: 8px; height: 8px; }
QAbstractSpinBox::down-arrow { image: url("$arrow_down"); width: 8px; height: 8px; }
QCheckBox, QRadioButton { background: transparent; spacing: 6px; padding: 2px; }
QCheckBox::indicator, QRadioButton::indicator, QMenu::indicator:non-exclusive, QTableView::indicator {
    width: 13px; height: 13px; border: 1px solid $faint; background: $raised;
}
QCheckBox::indicator, QMenu::indicator:non-exclusive, QTableView::indicator { border-radius: 3px; }
QRadioButton::indicator { border-radius: 7px; }
QCheckBox::indicator:checked, QMenu::indicator:non-exclusive:checked, QTableView::indicator:checked {
    background: $accent; border-color: $accent; image: url("$check");
}
QRadioButton::indicator:checked { width: 7px; height: 7px; border: 4px solid $accent; border-radius: 7px; }
QCheckBox:focus, QRadioButton:focus { color: $accent_ink; }
QMenu::indicator { margin-left: 5px; }

QPlainTextEdit, QTextEdit {
    background: $surface; color: $text; border: 1px solid transparent;
    selection-background-color: $accent; selection-color: $accent_text;
}
QPlainTextEdit:focus, QTextEdit:focus { border-color: $accent; }
QAbstractItemView {
    background: $surface; alternate-background-color: $window; border: none; gridline-color: $line;
    selection-background-color: $accent_soft; selection-color: $text; outline: none;
}
QTableView, #chips { border: 1px solid transparent; border-radius: 3px; }
QTableView:focus, #chips:focus { border-color: $accent; }
QTabBar { background: transparent; }
QTabBar::tab {
    background: transparent; color: $muted; border: none; border-bottom: 2px solid transparent;
    padding: 3px 4px 4px 4px; margin: 0 8px 3px 6px;
}
QTabBar::tab:hover { color: $text; }
QTabBar::tab:selected { color: $text; border-bottom-color: $accent; }
QTabBar::tab:selected:focus { color: $accent_ink; }
QHeaderView { background: $surface; border: none; }
QHeaderView::section {
    background: $surface; color: $muted; border: none; border-bottom: 1px solid $line; padding: 4px 6px;
}
QTableView QTableCornerButton::section { background: $surface; border: none; }
QScrollArea { background: transparent; border: none; }
#scroll_contents { background: transparent; }

QDialogButtonBox, QMessageBox { dialogbuttonbox-buttons-have-icons: 0; }
QProgressBar { background: $line; border: none; border-radius: 2px; max-height: 4px; min-height: 4px; }
QProgressBar::chunk { background: $accent; border-radius: 2px; }
QScrollBar:vertical { background: transparent; width: 11px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 11px; margin: 0; }
QScrollBar::handle { background: $border; border-radius: 4px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover { background: $faint; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QSplitter::handle { background: $window; }
QSlider::groove:horizontal { background: $border; height: 3px; border-radius: 1px; }
QSlider::handle:horizontal { background: $text; width: 14px; height: 14px; margin: -6px 0; border-radius: 7px; }

#banner { border-radius: 6px; border: 1px solid $border; background: $accent_soft; }
#banner[kind="error"] { border-color: $error_line; background: $error_soft; }
#banner[kind="error"] QLabel { color: $error; }
#banner[kind="warning"] { border-color: $tie; background: $tie_soft; }
#banner[kind="warning"] QLabel { color: $tie_text; }
""")
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
        self._token_styles = named.TokenStyles()
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
        vars(self).update(vars(self.colors))

    def _apply_style(self) -> None:
        if self._application is not None:
            self._application.setPalette(named.palette(self.colors))
            self._application.setStyleSheet("")  # replacing one takes Qt three times as long
            colors = {name: color.name() for name, color in vars(self.colors).items()}
            self._application.setStyleSheet(_TEMPLATE.substitute(colors, **sheet_pictures()))

    # -- colours

    def set_token_styles(self, styles: named.TokenStyles) -> None:
        """Let tokens have these styles, from the next time they are drawn."""
        self._token_styles = styles

    def token_style(self, token: str) -> named.TokenStyle:
        """Return the style of the token with this text; stable from run to run on the same words."""
        return self._token_styles.of(token)

    def token_color(self, token: str) -> QColor:
        """Return the background of the token with this text."""
        return named.shade_color(self.token_style(token).shade, self.look)

    def run_color(self, number: int) -> QColor:
        """Return the colour of a run; `surface` is written on it."""
        return named.run_color(number, self.look)

    def token_text_color(self, _token: str) -> QColor:
        """Return the colour of the text on :meth:`token_color`; the contrast is at least 4.5, in high contrast 7."""
        return named.token_text_color(self.look)

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
