"""Timers that call once; what was scheduled for later is not done once its owner is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QObject

from wordpiece_studio.session.task import later, single_shot

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


class Caller(QObject):
    def __init__(self, calls: list[str], name: str) -> None:
        super().__init__()
        self._calls, self._name = calls, name

    def call(self) -> None:
        self._calls.append(self.objectName() or self._name)  # fails if the C++ side is gone


def test_only_the_living_are_called(qtbot: QtBot) -> None:
    calls: list[str] = []
    stays, goes = Caller(calls, "stays"), Caller(calls, "goes")
    for caller in (stays, goes):
        later(caller, 20, caller.call)
    goes.deleteLater()
    QCoreApplication.sendPostedEvents(goes, QEvent.Type.DeferredDelete.value)
    qtbot.waitUntil(lambda: calls == ["stays"], timeout=2000)
    qtbot.wait(60)
    assert calls == ["stays"]
    assert not stays.children()


def test_a_timer_calls_once_each_time_it_is_started(qtbot: QtBot) -> None:
    calls: list[str] = []
    caller = Caller(calls, "called")
    timer = single_shot(caller, caller.call, 1)
    assert not timer.isActive()
    for count in (1, 2):
        with qtbot.waitSignal(timer.timeout, timeout=2000):
            timer.start()
        assert calls == ["called"] * count
        assert not timer.isActive()
