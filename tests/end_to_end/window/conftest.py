"""A whole window on the trained sample, and someone to use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.end_to_end.driver import Driver
from wordpiece_studio.session.settings import SettingsStore
from wordpiece_studio.ui.main_window import MainWindow
from wordpiece_studio.ui.widgets.theme import Theme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot


@pytest.fixture
def start(qtbot: QtBot, tmp_path: Path) -> Iterator[Callable[[], Driver]]:
    """Start the Studio, with the settings of the start before; the window before is closed."""
    windows: list[MainWindow] = []

    def close() -> None:
        while windows:
            window = windows.pop()
            window.leave_at_once()
            window.take_down()

    def begin() -> Driver:
        close()
        window = MainWindow(SettingsStore(tmp_path / "settings"), Theme("light"))
        windows.append(window)
        window.open_first()
        window.resize(1440, 900)
        driver = Driver(window)
        driver.wait_finished()
        with qtbot.waitActive(window):
            window.show()
        driver.settle()
        return driver

    yield begin
    close()


@pytest.fixture
def driver(start: Callable[[], Driver]) -> Driver:
    """The Studio after its first start."""
    return start()
