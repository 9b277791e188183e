"""A whole window for a test, on a trained sample, and taken down again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QMessageBox

from wordpiece_studio.session.settings import SettingsStore
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.ui.main_window import MainWindow
from wordpiece_studio.ui.widgets.theme import Theme

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot


class Requests(QObject):
    """Counts how often widgets are laid out again."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.LayoutRequest
        return False


class Studio:
    """A window and the ways in which a test acts on it."""

    def __init__(self, window: MainWindow, qtbot: QtBot) -> None:
        self.window = window
        self.qtbot = qtbot

    def wait_finished(self, timeout_ms: int = 10_000) -> None:
        self.wait(lambda: self.window.model.state is TrainerState.FINISHED, timeout_ms)

    def wait(self, condition: object, timeout_ms: int = 5000) -> None:
        self.qtbot.waitUntil(condition, timeout=timeout_ms)

    def open(self, *paths: Path) -> None:
        """Open files or folders and wait until they are read or listed."""
        self.window.corpus_controller.open_paths(paths)
        self.wait_opened()

    def wait_opened(self) -> None:
        self.wait(lambda: not self.window.session.opening.is_running, 20_000)

    def set_text(self, text: str) -> None:
        """Replace the corpus as one edit and wait for its counts."""
        self.window.session.document.set_text(text)
        self.wait(lambda: self.window.session.counting.counts is not None)

    def box(self) -> QMessageBox:
        """Wait for a message or question and return it."""
        self.wait(lambda: bool(self._boxes()))
        return self._boxes()[-1]

    def rests(self) -> bool:
        """Tell whether the layout of the window comes to an end, and is not made again and again."""
        requests, application = Requests(), QApplication.instance()
        application.installEventFilter(requests)
        turns = []
        for _ in range(60):
            before = requests.count
            QApplication.processEvents()
            turns.append(requests.count - before)
        application.removeEventFilter(requests)
        return not any(turns[-20:])

    def answer(self, button: QMessageBox.StandardButton) -> None:
        """Press `button` of the question that is open."""
        box = self.box()
        box.button(button).click()
        self.wait(lambda: not self._boxes())

    def has_box(self) -> bool:
        return bool(self._boxes())

    def _boxes(self) -> list[QMessageBox]:
        return [box for box in self.window.findChildren(QMessageBox) if box.isVisible()]


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    return Theme("light")


@pytest.fixture
def styled(qapp: QApplication, theme: Theme) -> Iterator[Theme]:
    """The theme, in which the application is styled until the test is over."""
    palette, sheet, font = qapp.palette(), qapp.styleSheet(), qapp.font()
    theme.apply_to(qapp)
    yield theme
    qapp.setPalette(palette)
    qapp.setStyleSheet(sheet)
    qapp.setFont(font)


@pytest.fixture
def empty_studio(qtbot: QtBot, tmp_path: Path, theme: Theme) -> Iterator[Studio]:
    """A window before anything was loaded into it."""
    window = MainWindow(SettingsStore(tmp_path / "settings"), theme)
    yield Studio(window, qtbot)
    window.leave_at_once()
    window.take_down()


@pytest.fixture
def studio(empty_studio: Studio) -> Studio:
    """A window on the sample corpus, shown when that is trained, as at a start: it is painted once."""
    window = empty_studio.window
    window.open_first()
    window.resize(1440, 900)
    empty_studio.wait_finished()
    with empty_studio.qtbot.waitActive(window):
        window.show()
    return empty_studio


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Qt's offscreen platform warns that it cannot pass on the smallest size of a window; it says nothing of ours."""
    if os.environ.get("QT_QPA_PLATFORM") == "offscreen":
        for item in items:
            if "/ui/" in item.path.as_posix():
                item.add_marker(pytest.mark.qt_log_ignore("does not support propagateSizeHints", extend=True))
