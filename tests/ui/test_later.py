"""What was scheduled for later is not done once its owner is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QObject

from wordpiece_studio.ui.widgets.later import later

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
