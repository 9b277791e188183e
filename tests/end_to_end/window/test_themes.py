"""A change of theme reaches everything: a window that was changed looks, pixel by pixel, like one that began so.

And no text is cut in the panes that share little room, whatever the window's size and that of the type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QImage, QPalette
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QLabel,
    QTabBar,
    QTableView,
    QToolButton,
    QWidget,
)

from tests.end_to_end.driver import Driver
from wordpiece_studio.corpus.linter.finding import Finding
from wordpiece_studio.session.settings import SettingsStore
from wordpiece_studio.session.table_model import VALUE_ROLE
from wordpiece_studio.storage.view import Breakpoint
from wordpiece_studio.ui.main_window import MainWindow
from wordpiece_studio.ui.panes.scoreboard.candidates_view import CandidatesView
from wordpiece_studio.ui.panes.tokenization.live_chips import ChipPlace
from wordpiece_studio.ui.panes.tokenization.why_here import UnknownBox
from wordpiece_studio.ui.widgets.chips import ChipArea
from wordpiece_studio.ui.widgets.layouts import LAYOUTS
from wordpiece_studio.ui.widgets.pane import PaneArea
from wordpiece_studio.ui.widgets.table import TableView
from wordpiece_studio.ui.widgets.theme import Theme, ThemeChoice
from wordpiece_studio.ui.workspace import PANES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
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
    field = window.corpus_pane.find_bar._field
    field.setText("token")
    driver.wait(lambda: field.findChild(QToolButton).property("opacity") == 1)  # the button that clears it fades in
    driver.click_chip(ChipPlace(0, 0, 0))
    assert window.tokenization_pane.why.rows
    driver.wait(lambda: not window.corpus_pane.lint_controller.is_under_way)
    window.corpus_pane.lint_view.show_findings([finding("warning"), finding("information")])
    window.notices.training.show_message("Something was done", action="Undo")  # with a button it stays
    for action in (window.actions_.bookmarks, window.actions_.shortcuts):
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

    choice = window.charts_pane.choice
    for pane in ("vocabulary", "history"):
        window.docks.bring(pane)
        driver.settle()
        for table in window.findChildren(TableView):  # which scroll as little as they can
            table.scrollToTop()
            table.scrollTo(table.currentIndex(), TableView.ScrollHint.PositionAtTop)
        take(pane, window)
    window.docks.bring("charts")
    for index in range(choice.count()):
        if choice.model().item(index).isEnabled():
            window.charts_pane.choose(index)
            take(choice.itemText(index), window.charts_pane)
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

    def change(choice: ThemeChoice) -> None:
        theme.set_choice(choice)
        driver.wait(lambda: not theme._unseen)  # what is hidden is polished a little later

    change("dark")
    dark = pictures(driver)
    change("light")
    assert differing(light, pictures(driver)) == []
    began_dark, theme = opened("dark")
    assert differing(dark, pictures(began_dark)) == []
    change("light")
    assert differing(light, pictures(began_dark)) == []


# -- nothing cut


def seen_size(widget: QWidget) -> QSize:
    """Return how much of a widget is seen, or can be by scrolling."""
    seen, inner = widget.rect(), widget
    while (outer := inner.parentWidget()) is not None and not inner.isWindow():
        if isinstance(outer.parentWidget(), QAbstractScrollArea) and outer.parentWidget().viewport() is outer:
            bar = outer.parentWidget().verticalScrollBar()
            if bar.maximum() > bar.minimum():
                break
        seen.translate(inner.pos())
        seen = seen.intersected(outer.rect())
        inner = outer
    return seen.size()


def room_for_text(widget: QWidget) -> tuple[str, int, int, int]:
    """Return a text of a widget, its width and height, and the width that is there for it."""
    size = seen_size(widget)
    if isinstance(widget, QLabel):
        return widget.text(), 0, 0, size.width()
    if isinstance(widget, QComboBox):
        return widget.currentText(), 0, 0, min(widget.width() - 34, size.width())
    if isinstance(widget, QAbstractSpinBox):
        return widget.text(), 0, 0, min(widget.lineEdit().width() - 4, size.width())
    icon = widget.iconSize().width() if not widget.icon().isNull() else 0
    return widget.text().replace("&", ""), icon, 0, size.width()


def is_cut(widget: QWidget) -> bool:
    text, beside, _, width = room_for_text(widget)
    if isinstance(widget, QToolButton) and widget.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly:
        text = ""
    wraps = isinstance(widget, QLabel) and widget.wordWrap()
    room = QRect(0, 0, widget.width() if wraps else 100_000, 100_000)
    needed = widget.fontMetrics().boundingRect(room, int(Qt.TextFlag.TextWordWrap) if wraps else 0, text)
    too_high = needed.height() > seen_size(widget).height() + 1
    return bool(text) and (needed.width() + beside > width + 1 or too_high)


def cut_cells(table: QTableView) -> list[str]:
    """Return what is cut of the titles and the rows that are seen."""
    model, cut = table.model(), []
    header = table.horizontalHeader()
    columns = [at for at in range(model.columnCount()) if not table.isColumnHidden(at)]
    for column in columns:
        title = str(model.headerData(column, Qt.Orientation.Horizontal) or "")
        left, width = table.columnViewportPosition(column), table.columnWidth(column)
        if left + width > table.viewport().width() + 1:
            cut.append(f"column {title}")
        if header.isVisible() and max(map(header.fontMetrics().horizontalAdvance, title.split("\n"))) > width:
            cut.append(f"title {title}")
        for row in range(table.rowAt(0), min(model.rowCount(), table.rowAt(0) + 12)):
            index = model.index(row, column)
            text = index.data()
            is_text = isinstance(text, str) and index.data(VALUE_ROLE) is None
            if is_text and table.fontMetrics().horizontalAdvance(text) > width:
                cut.append(f"cell {text}")
    return cut


def cut_parts(window: MainWindow) -> list[str]:
    """Return all that is seen of the window in part: texts, cells, tabs, chips."""
    cut: list[str] = []
    for widget in window.findChildren(QWidget):
        if not widget.isVisible() or isinstance(widget.parentWidget(), QAbstractItemView):
            continue
        if isinstance(widget, QLabel | QComboBox | QAbstractSpinBox | QAbstractButton) and is_cut(widget):
            cut.append(f"{type(widget).__name__} {room_for_text(widget)}")
        if isinstance(widget, QTabBar) and widget.objectName() != "run_tabs":
            cut += [
                widget.tabText(at) for at in range(widget.count()) if not widget.rect().contains(widget.tabRect(at))
            ]
        if isinstance(widget, QTableView):
            cut += cut_cells(widget)
        if isinstance(widget, ChipArea) and widget._content_size().width() > widget.viewport().width() + 1:
            cut.append(f"chips {widget.accessibleName()}")
        if isinstance(widget, PaneArea) and widget.horizontalScrollBar().isVisible():
            cut.append(f"pane {widget.widget().accessibleName()}")
    return cut


SIZES = ((1024, 768), (1280, 720), (1366, 768), (1440, 900), (1920, 1080), (3840, 2160))
FEW = (("teach", (1366, 768), 100), ("engineer", (1024, 768), 120), ("demo", (1920, 1080), 100))
PERCENTS = (80, 100, 120, 130)
COMBINATIONS = tuple((name, size, percent) for name in LAYOUTS for size in SIZES for percent in PERCENTS)


@pytest.fixture
def compared(opened: Callable[[ThemeChoice], tuple[Driver, Theme]], qapp: QApplication) -> Iterator[Driver]:
    """A window with two compared runs of a small corpus."""
    font = qapp.font()
    driver, _ = opened("light")
    window = driver.window
    for dialog in window.findChildren(QDialog):
        dialog.close()
    window.corpus_pane.find_bar.close_bar()
    window.notices.training.clear()
    window.session.settings.choose(objective="count")
    window.actions_.train.trigger()
    driver.wait(lambda: len(window.session.runs.all) > 1)
    driver.wait_finished()
    for run in window.session.runs.all:
        window.session.runs.set_compared(run, True)
    driver.settle()
    yield driver
    qapp.setFont(font)


def walk(driver: Driver, combinations: Iterable[tuple[str, tuple[int, int], int]]) -> dict[str, list[str]]:
    """Return what is cut in each of these layouts, sizes and percents of text, with every pane in front once."""
    window, found = driver.window, {}
    for name, size, percent in combinations:
        window.actions_.choice("choose_layout", name).trigger()
        window.setWindowState(Qt.WindowState.WindowNoState)
        window.theme.set_scale(percent / 100)
        window.resize(*size)
        driver.settle()
        for pane in PANES:
            if window.docks.panels[pane].toggle_action.isChecked():
                window.docks.bring(pane)
                driver.settle()
                found[f"{name} {size} {percent} {pane}"] = cut_parts(window)
    return {where: cut for where, cut in found.items() if cut}


def test_nothing_is_cut(compared: Driver) -> None:
    assert walk(compared, FEW) == {}


def test_a_pane_that_comes_to_the_front_has_the_size_of_text_chosen_while_it_was_hidden(compared: Driver) -> None:
    window = compared.window
    window.actions_.choice("choose_layout", "engineer").trigger()
    panel = window.docks.panels["vocabulary"]
    window.docks.bring("history")
    compared.settle()
    for percent in (150, 100):
        window.theme.set_scale(percent / 100)
        compared.settle()
        assert panel.font() != window.font()
        window.docks.bring("vocabulary")
        assert {part.font().pointSizeF() for part in (panel, panel.title_bar.title_label)} == {
            window.font().pointSizeF()
        }
        window.docks.bring("history")


@pytest.mark.slow
def test_large_text_on_a_laptop_leaves_candidates_and_lanes(compared: Driver) -> None:
    assert walk(compared, (("teach", (1366, 768), 160),)) == {}
    window = compared.window
    candidates, timeline = window.scoreboard_pane.findChild(CandidatesView), window.timeline_pane
    assert candidates.viewport().height() >= 2 * candidates.rowHeight(0)
    assert timeline.height() <= timeline.parentWidget().height()
    assert not timeline.legend.isVisible()
    tabs = window.run_strip.tabs
    for box in (tabs.controls(index).compare for index in range(tabs.count())):
        assert box.width() >= box.sizeHint().width()


@pytest.mark.exhaustive
@pytest.mark.slow
def test_nothing_is_cut_in_any_layout_at_any_size_of_window_and_text(compared: Driver) -> None:
    assert walk(compared, COMBINATIONS) == {}


@pytest.mark.slow
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
        assert box.text()
        assert (
            box.contentsRect().height()
            >= box.fontMetrics().boundingRect(box.contentsRect(), Qt.TextFlag.TextWordWrap, box.text()).height()
        )
    finally:
        window.leave_at_once()
        window.take_down()
