"""The theme: chosen or the system's; it reports when it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QSpinBox,
    QStyle,
    QStyleOptionSpinBox,
    QTabBar,
    QToolButton,
    QWidget,
)

from wordpiece_studio.ui.widgets.plain import set_look
from wordpiece_studio.ui.widgets.theme import CONTRAST, DARK, LIGHT, Theme, scaled_font

if TYPE_CHECKING:
    from PySide6.QtGui import QColor
    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot


def test_a_chosen_look_is_announced_and_has_its_own_colours(qtbot: QtBot) -> None:
    theme = Theme("light")
    with qtbot.waitSignal(theme.changed):
        theme.set_choice("dark")
    assert theme.surface == DARK.surface
    assert theme.token_color("##a") != Theme("light").token_color("##a")


def test_high_contrast_is_a_look_of_its_own(qtbot: QtBot) -> None:
    theme = Theme("dark")
    with qtbot.waitSignal(theme.changed):
        theme.set_choice("contrast")
    assert theme.look == "contrast"
    assert theme.colors is CONTRAST
    assert theme.token_color("##a") != Theme("dark").token_color("##a")


def test_the_same_look_is_not_announced_again(qtbot: QtBot) -> None:
    theme = Theme("light")
    with qtbot.assertNotEmitted(theme.changed):
        theme.set_choice("light")


def test_the_application_is_styled(qapp: QApplication, styled: Theme) -> None:
    usual = qapp.font().pointSizeF()
    assert qapp.palette().window().color() == LIGHT.window
    styled.set_choice("dark")
    assert qapp.palette().window().color() == DARK.window
    assert DARK.surface.name() in qapp.styleSheet()
    styled.set_scale(2.0)
    assert qapp.font().pointSizeF() == 2 * usual


def test_another_look_reaches_what_is_seen_at_once_and_what_is_hidden_a_little_later(
    qtbot: QtBot, styled: Theme
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    seen, hidden, own = (QLabel("text", window) for _ in range(3))
    for label in (seen, hidden):
        label.setProperty("role", "hint")

    def ink(label: QLabel) -> QColor:
        return label.palette().color(label.foregroundRole())

    window.show()
    hidden.hide()
    for look, colors in (("dark", DARK), ("contrast", CONTRAST), ("light", LIGHT)):
        styled.set_choice(look)
        assert ink(seen) == colors.muted
        qtbot.waitUntil(lambda wanted=colors.muted: ink(hidden) == wanted)
        assert ink(own) == colors.text
    set_look(seen, role="")
    assert ink(seen) == LIGHT.text  # Qt still knows what it was like without a style sheet


def test_a_hidden_panel_has_the_font_when_it_is_shown(qtbot: QtBot, qapp: QApplication, styled: Theme) -> None:
    usual = qapp.font().pointSizeF()
    window = QWidget()
    qtbot.addWidget(window)
    panel = QWidget(window)
    panel.setProperty("role", "panel")
    panel.setFont(scaled_font(qapp.font(), 1))
    title, tick = QLabel("title", panel), QCheckBox(panel)
    title.setProperty("role", "title")
    window.show()
    before = tick.style().pixelMetric(QStyle.PixelMetric.PM_IndicatorWidth, None, tick)
    panel.hide()
    styled.set_scale(2.0)
    assert panel.font().pointSizeF() == title.font().pointSizeF() == usual
    styled.pass_font_on(panel)
    panel.show()
    assert panel.font().pointSizeF() == title.font().pointSizeF() == 2 * usual
    assert title.font().bold()
    assert tick.style().pixelMetric(QStyle.PixelMetric.PM_IndicatorWidth, None, tick) > 1.7 * before


def test_another_size_of_text_reaches_what_the_style_sheet_would_reach(
    qtbot: QtBot, qapp: QApplication, styled: Theme
) -> None:
    usual = qapp.font().pointSizeF()
    window = QWidget()
    qtbot.addWidget(window)
    row = QHBoxLayout(window)
    for widget in (QLabel("plain"), QLabel("title"), QToolButton(), QComboBox(), QLineEdit(), QSpinBox(), QListView()):
        row.addWidget(widget)
        widget.setProperty("role", {QLabel: "title", QToolButton: "primary"}.get(type(widget)))
    row.itemAt(0).widget().setProperty("role", "hint")
    row.itemAt(3).widget().addItem("WordPiece")
    window.show()
    for scale in (1.5, 0.9, 2.0, 1.0):
        styled.set_scale(scale)
        fonts, hints = shown(window)
        qapp.setStyleSheet(qapp.styleSheet() + "\n")
        assert (fonts, hints) == shown(window)
        assert {float(font.split(",")[1]) for font in fonts} == {scale * usual}


def test_boxes_icons_and_arrows_grow_with_the_text(qtbot: QtBot, styled: Theme) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    tick, button, spin = QCheckBox(window), QToolButton(window), QSpinBox(window)
    menu, tabs = QMenu(window), QTabBar(window)

    def sizes() -> list[int]:
        option = QStyleOptionSpinBox()
        spin.initStyleOption(option)
        style, part = spin.style(), QStyle.SubControl.SC_SpinBoxUp
        box = tick.style().pixelMetric(QStyle.PixelMetric.PM_IndicatorWidth, None, tick)
        arrow = style.subControlRect(QStyle.ComplexControl.CC_SpinBox, option, part, spin)
        sign = menu.style().pixelMetric(QStyle.PixelMetric.PM_SmallIconSize, None, menu)
        scroller = tabs.style().pixelMetric(QStyle.PixelMetric.PM_TabBarScrollButtonWidth, None, tabs)
        return [box, button.iconSize().width(), arrow.width(), sign, scroller]

    window.show()
    before = sizes()
    styled.set_scale(2.0)
    qtbot.waitUntil(lambda: all(1.7 * old < new < 2.3 * old for old, new in zip(before, sizes(), strict=True)))
    styled.set_scale(1.0)
    qtbot.waitUntil(lambda: sizes() == before)


def shown(window: QWidget) -> tuple[list[str], list[QSize]]:
    """Return the fonts of a window and of what is in it, and how large these want to be."""
    widgets = [window, *window.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)]
    return [widget.font().toString() for widget in widgets], [widget.sizeHint() for widget in widgets[1:]]


def test_fonts_follow_the_system(qapp: QApplication) -> None:
    theme = Theme("light")
    assert theme.font(2).pointSizeF() == qapp.font().pointSizeF() + 2
    assert theme.mono_font().fixedPitch() or theme.mono_font().family()
