"""Garbage is collected in the window's thread, and in no other."""

from __future__ import annotations

import gc
import threading
from typing import TYPE_CHECKING

from wordpiece_studio.ui.studio import GarbageCollector

if TYPE_CHECKING:
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
