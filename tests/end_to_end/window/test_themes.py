"""A change of theme reaches everything: a window that was changed looks, pixel by pixel, like one that began so.

And no text is cut in the panes that share little room, whatever the window's size and that of the type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QImage, QPalette
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QWidget

from tests.end_to_end.driver import Driver
from wordpiece_studio.corpus.linter.finding import Finding
from wordpiece_studio.session.breakpoints import Breakpoint
from wordpiece_studio.session.settings import SettingsStore
from wordpiece_studio.ui.main_window import MainWindow
from wordpiece_studio.ui.panes.charts.charts_pane import ChartChoice
from wordpiece_studio.ui.panes.scoreboard.candidates_view import CandidatesView
from wordpiece_studio.ui.panes.tokenization.chip_blocks import ChipPlace
from wordpiece_studio.ui.panes.tokenization.why_here import UnknownBox
from wordpiece_studio.ui.widgets.theme import Theme, ThemeChoice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

Pictures = dict[str, QImage]


@pytest.fixture
def dressed(qapp: QApplication) -> Iterator[None]:
    """The application in the dress of the themes, and as it was when the test is over."""
    style, palette, flash = qapp.style().objectName(), QPalette(qapp.palette()), qapp.cursorFlashTime()
    qapp.setCursorFlashTime(0)
    yield
    qapp.setCursorFlashTime(flash)
    qapp.setStyleSheet("")
    qapp.setStyle(style)
    qapp.setPalette(palette)


@pytest.fixture
def opened(
    qapp: QApplication, dressed: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[ThemeChoice], tuple[Driver, Theme]]]:
    """Return a maker of windows in which every pane has something to show; one at a time."""
    windows: list[MainWindow] = []

    def close() -> None:
        while windows:
            window = windows.pop()
            window.leave_at_once()
            window.take_down()

    def make(choice: ThemeChoice) -> tuple[Driver, Theme]:
        close()
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / choice))  # what the other one leaves is not asked for
        theme = Theme(choice)
        theme.apply_to(qapp)
        windows.append(MainWindow(SettingsStore(tmp_path / choice), theme))
        driver = Driver(windows[-1])
        populate(driver)
        return driver, theme

    yield make
    close()


def populate(driver: Driver) -> None:
    window = driver.window
    window.open_first()
    window.resize(1440, 900)
    window.show()
    driver.wait_finished()
    window.tokenization_pane.set_text("The Hugging Face course! zebra")
    window.session.marks.breakpoints.add(Breakpoint("token", "cha"))
    window.session.marks.bookmarks.keep("of another look", 5)
    driver.settle()
    window.model.seek(12)
    window.corpus_pane.open_find_bar()
    window.corpus_pane.find_bar._field.setText("token")
    driver.settle()
    driver.click_chip(ChipPlace(0, 0, 0))
    assert window.tokenization_pane._why.rows
    driver.wait(lambda: not window.corpus_pane.lint_controller.is_under_way)
    window.corpus_pane.lint_view.show_findings([finding("warning"), finding("information")])
    window.banner.show_message("Something was done", "Undo")
    for action in (window.actions_.breakpoints, window.actions_.bookmarks, window.actions_.shortcuts):
        action.trigger()  # they stay open
    window.activateWindow()


def finding(severity: str) -> Finding:
    return Finding(severity, severity, "{word} falls apart", (), {"word": "한"}, fix_name="Fix it")  # type: ignore[arg-type]


def pictures(driver: Driver) -> Pictures:
    """Return what is seen of each pane and each window that can be opened."""
    window, taken = driver.window, {}

    def take(name: str, widget: QWidget) -> None:
        driver.settle()
        taken[name] = widget.grab().toImage()

    step = window.model.step  # lists scroll as little as they can: let all begin at their tops
    window.model.first()
    driver.settle()
    window.model.seek(step)
    (choice,) = window.charts_pane.findChildren(ChartChoice)
    for pane in ("vocabulary", "history"):
        window.docks.bring(pane)
        take(pane, window)
    window.docks.bring("charts")
    for button in choice._group.buttons():
        if not button.isHidden():
            button.click()
            take(button.text(), window.charts_pane)
    for dialog in window.findChildren(QDialog):
        if dialog.isVisible():
            take(dialog.windowTitle(), dialog)
    window.actions_.command_palette.trigger()
    take("palette", window.help_controller.palette)
    window.help_controller.palette.leave()
    return taken


def differing(some: Pictures, others: Pictures) -> list[str]:
    assert list(some) == list(others)
    return [name for name, picture in some.items() if picture != others[name]]


@pytest.mark.slow
def test_a_change_of_theme_reaches_everything(opened: Callable[[ThemeChoice], tuple[Driver, Theme]]) -> None:
    driver, theme = opened("light")
    light = pictures(driver)
    theme.set_choice("dark")
    dark = pictures(driver)
    theme.set_choice("light")
    assert differing(light, pictures(driver)) == []
    began_dark, theme = opened("dark")
    assert differing(dark, pictures(began_dark)) == []
    theme.set_choice("light")
    assert differing(light, pictures(began_dark)) == []


def cut_texts(pane: QWidget) -> list[str]:
    """The texts of labels of which not all is seen."""
    cut = []
    for label in pane.findChildren(QLabel):
        if label.isVisible() and label.text():
            room = QRect(0, 0, label.width() if label.wordWrap() else 10_000, 10_000)
            flags = int(Qt.TextFlag.TextWordWrap) if label.wordWrap() else 0
            needed, seen = label.fontMetrics().boundingRect(room, flags, label.text()), label.visibleRegion()
            is_narrow = needed.width() > seen.boundingRect().width() + 1
            if is_narrow or needed.height() > seen.boundingRect().height() + 1:
                cut.append(label.text())
    return cut


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layout", "size"),
    [("teach", (1024, 768)), ("teach", (1366, 768)), ("teach", (1920, 1080)), ("engineer", (1024, 768))],
)
def test_no_text_is_cut_at_any_size_of_type(
    opened: Callable[[ThemeChoice], tuple[Driver, Theme]], qapp: QApplication, layout: str, size: tuple[int, int]
) -> None:
    driver, theme = opened("light")
    window, font = driver.window, qapp.font()
    getattr(window.actions_, f"layout_{layout}").trigger()
    try:
        for percent in range(70, 170, 10):
            theme.set_scale(percent / 100)
            window.resize(*size)
            driver.settle()
            for name in ("charts", "scoreboard", "tokenization"):
                window.docks.bring(name)
                driver.settle()
                assert cut_texts(getattr(window, f"{name}_pane")) == [], percent
    finally:
        qapp.setFont(font)


def test_the_reason_of_an_unknown_word_is_seen_in_its_box_at_the_first_start(
    qapp: QApplication, dressed: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The box was red and empty: its label lay where a narrow box would have had it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    theme = Theme("light")
    theme.apply_to(qapp)
    window = MainWindow(SettingsStore(tmp_path), theme)
    driver = Driver(window)
    try:
        window.open_first()
        window.resize(1440, 900)
        window.show()
        driver.wait_finished()
        driver.settle()
        box = window.tokenization_pane.findChild(UnknownBox)
        assert box.isVisible()
        assert box.contentsRect().contains(box.label.geometry())
    finally:
        window.leave_at_once()
        window.take_down()


def test_panes_of_another_size_are_laid_out_few_times(opened: Callable[[ThemeChoice], tuple[Driver, Theme]]) -> None:
    """With a style sheet of its own for each such pane it took every table 38 times, and the window 2.4 seconds."""
    driver, theme = opened("light")
    driver.window.view_controller.zoom.set_zooms({"scoreboard": 150, "history": 120})
    driver.settle()
    calls: list[None] = []
    driver.window.scoreboard_pane.findChild(CandidatesView).restyle = lambda: calls.append(None)
    theme.set_choice("dark")
    assert 1 <= len(calls) <= 12
