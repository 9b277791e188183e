"""Garbage is collected in the window's thread, and in no other; what cannot be opened is taken down."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.ui.studio import GarbageCollector

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot


class Cycle:
    """Refers to itself and notes the thread that it dies in."""

    deaths: list[threading.Thread] = []  # noqa: RUF012  # shared on purpose

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        Cycle.deaths.append(threading.current_thread())


def make_garbage() -> None:
    for _ in range(5000):
        Cycle()


def test_a_worker_makes_garbage_and_the_window_takes_it_away(qtbot: QtBot) -> None:
    gc.collect()
    Cycle.deaths.clear()
    collector = GarbageCollector()
    collector.start()
    try:
        worker = threading.Thread(target=make_garbage)
        worker.start()
        worker.join()
        assert not Cycle.deaths
        qtbot.waitUntil(lambda: len(Cycle.deaths) == 5000)
        assert set(Cycle.deaths) == {threading.main_thread()}
    finally:
        collector.stop()
    assert gc.isenabled()


_BROKEN = """
from wordpiece_studio.ui import studio
class Window(studio.MainWindow):
    def show_soon(self):
        raise RuntimeError("broken")
    def take_down(self):
        super().take_down()
        print("taken down")
studio.MainWindow = Window
studio.open_studio([])
"""


@pytest.mark.slow
def test_a_window_that_cannot_be_opened_is_taken_down_too(tmp_path: Path) -> None:
    names = "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"
    command, places = [sys.executable, "-c", _BROKEN], os.environ | dict.fromkeys(names, str(tmp_path))
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=places)
    assert done.stdout.split("\n")[0] == "taken down"
    assert "RuntimeError: broken" in done.stderr
