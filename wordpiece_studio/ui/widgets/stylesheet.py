"""The style sheet, made from the named colours. It sets colours, edges and room; sizes of text come from the system."""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING

from wordpiece_studio.ui.widgets.colors import names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wordpiece_studio.ui.widgets.colors import Colors

BOLD_ROLES = ("title", "heading", "primary")
"""The roles of widgets that the style sheet gives a font of their own, a semi-bold one."""

_TEMPLATE = Template("""
QMainWindow { background: $window; }
QDialog { background: $surface; }
QMainWindow::separator { background: $window; width: 8px; height: 8px; }
QMainWindow::separator:hover { background: $border; }
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
#panel { background: $surface; border: 1px solid $border; border-radius: 6px; }
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
QPushButton[role="primary"]:focus, QToolButton[role="primary"]:focus { border: 1px solid $text; }
QPushButton[role="primary"]:disabled, QToolButton[role="primary"]:disabled {
    background: $window; color: $faint; border-color: $border;
}
QToolButton { background: transparent; border: 1px solid transparent; border-radius: 5px; padding: 3px 5px; }
QToolButton:hover { background: $hover; }
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


def stylesheet(colors: Colors, pictures: Mapping[str, str]) -> str:
    """Return the style sheet of the window.

    `pictures` has the paths of ``arrow_up``, ``arrow_down`` and ``check``, with forward slashes.
    """
    values = {name: getattr(colors, name).name() for name in names()}
    return _TEMPLATE.substitute(values, **pictures)
