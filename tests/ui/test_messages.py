"""Errors reach the user in words, once, and the work goes on."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QCoreApplication, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMessageBox

from wordpiece_studio.errors import StudioError
from wordpiece_studio.ui import messages
from wordpiece_studio.ui.dialogs.diagnostics import diagnostics, last_lines, log_path, start_log, stop_log
from wordpiece_studio.ui.messages import reading_time

if TYPE_CHECKING:
    from tests.ui.conftest import Studio

_OK = QMessageBox.StandardButton.Ok


def test_errors_are_shown_as_plain_text_not_too_long_and_in_one_box(studio: Studio) -> None:
    studio.window.messages.show_error(
        StudioError("{name} is odd", "Take <b>another</b>.", name="<img src='/dev/zero'>")
    )
    box = studio.box()
    assert box.textFormat() is Qt.TextFormat.PlainText
    assert box.text() == "<img src='/dev/zero'> is odd."
    assert box.informativeText() == "Take <b>another</b>."
    studio.answer(_OK)
    studio.window.messages.show_error(StudioError("{text} is odd", "Not {text}.", text="x" * 100_000))
    box = studio.box()
    assert box.text().startswith("xxx")
    assert max(len(box.text()), len(box.informativeText())) < 2_100
    studio.answer(_OK)
    for name in ("first", "second"):
        studio.window.messages.show_error(StudioError(name))
    assert studio.box().text() == "second."
    studio.answer(_OK)
    assert not studio.has_box()


@pytest.mark.expects_log
def test_a_flood_of_faults_opens_one_box_and_the_work_goes_on(studio: Studio) -> None:
    reports = studio.window.messages
    for number in range(50):
        reports.fault_happened.emit(f"Traceback: fault {number}")
    box = studio.box()
    assert "fault 0" in box.detailedText()
    box.button(_OK).click()
    reports.fault_happened.emit("Traceback: one more")
    QCoreApplication.processEvents()
    assert not studio.has_box()
    studio.window.actions_.next_merge.trigger()
    assert studio.window.model.step == 13


@pytest.mark.expects_log
def test_a_fault_in_another_thread_is_reported_by_the_window(studio: Studio) -> None:
    reports = studio.window.messages
    old = sys.excepthook, threading.excepthook
    try:
        reports.catch_faults()
        thread = threading.Thread(target=int, args=("no number",))
        thread.start()
        thread.join()
        assert "ValueError" in studio.box().detailedText()
    finally:
        sys.excepthook, threading.excepthook = old
    studio.answer(_OK)


def test_diagnostics_say_what_is_shown_without_the_corpus(studio: Studio) -> None:
    studio.window.actions_.copy_diagnostics.trigger()
    report = QGuiApplication.clipboard().text()
    assert "PySide6" in report
    assert '"merges": 25, "step": 12' in report
    assert '"train_as_you_type": true' in report
    studio.answer(_OK)
    model = studio.window.model
    studio.set_text("a very secret corpus")
    studio.wait(lambda: model.counts is not None and "secret" in model.counts.words)  # trained as it was typed
    studio.window.actions_.copy_diagnostics.trigger()
    report = QGuiApplication.clipboard().text()
    assert f'"merges": {model.merge_count}, "step": {model.step}' in report
    assert model.merge_count < 25
    assert "secret" not in report
    studio.answer(_OK)


def test_diagnostics_show_any_settings(qapp: object) -> None:
    assert "object object" in diagnostics({"odd": object()})


# -- notices


def test_a_notice_lies_above_the_timeline_and_moves_nothing(studio: Studio) -> None:
    window = studio.window
    QCoreApplication.processEvents()  # lays out what was shown
    before = [panel.geometry() for panel in window.docks.panels.values()]
    window.notices.training.show_message("Something was done. " * 20)
    window.notices.files.show_message("A file is missing", "warning", "Locate…")
    QCoreApplication.processEvents()
    assert [panel.geometry() for panel in window.docks.panels.values()] == before
    notices, content = window.notices, window.centralWidget()
    assert content.rect().contains(notices.geometry())
    timeline = window.docks.panels["timeline"]
    assert (
        timeline.mapTo(content, QPoint()).y() - 30 < notices.geometry().bottom() < timeline.mapTo(content, QPoint()).y()
    )
    for banner in (window.notices.training, window.notices.files):
        assert notices.rect().contains(banner.geometry())
        assert banner.height() >= banner.heightForWidth(banner.width())
    window.notices.training.clear()
    window.notices.files.clear()
    assert not notices.isVisible()


def test_a_notice_goes_when_it_could_be_read_and_can_be_called_back(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    banner, actions = studio.window.notices.training, studio.window.actions_
    assert reading_time("x" * 200) > reading_time("x") > 1000
    assert not actions.last_messages.isEnabled()
    monkeypatch.setattr(messages, "reading_time", lambda _text: 1)
    banner.show_message("Exported")
    assert banner.text == "Exported"
    studio.wait(lambda: not banner.text)
    monkeypatch.undo()
    actions.last_messages.trigger()
    assert banner.text == "Exported"
    assert not actions.last_messages.isEnabled()
    banner.close_button.click()
    assert actions.last_messages.isEnabled()
    banner.clear()  # now it is out of date
    assert not actions.last_messages.isEnabled()


def test_a_notice_with_a_button_waits_and_the_most_urgent_is_at_the_top(studio: Studio) -> None:
    banner = studio.window.notices.training
    banner.show_message("It is small", "error", "Train to 45")
    assert not banner.timer.isActive()
    banner.show_message("It was read")
    assert banner.timer.isActive()
    banner.show_message("It was exported", action="Copy", needs_answer=False)
    assert banner.timer.isActive()
    banner.clear()
    assert not banner.timer.isActive()
    notices = studio.window.notices
    notices.export.show_message("Exported")
    notices.library.show_message("It did not fit", "error")
    notices.training.show_message("It is much", "warning")
    QCoreApplication.processEvents()
    assert notices.library.y() < notices.training.y() < notices.export.y()
    notices.training.show_message("Nothing was learned")
    QCoreApplication.processEvents()
    assert notices.library.y() < notices.export.y() < notices.training.y()
    studio.window.notices.training.show_message(
        "It is small, and this is said at some length " * 5, "error", "Train to 45"
    )
    assert studio.rests()


def test_no_notice_is_shown_to_an_audience(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    window = studio.window
    window.actions_.choice("choose_layout", "demo").trigger()
    monkeypatch.setattr(messages, "reading_time", lambda _text: 1)
    with studio.qtbot.waitSignal(window.notices.training.timer.timeout):
        window.notices.training.show_message("Saved")
    assert not window.notices.isVisible()
    assert window.notices.training.text == "Saved"  # no one has seen it yet
    monkeypatch.undo()
    window.notices.training.come_back()
    window.actions_.choice("choose_layout", "teach").trigger()
    assert window.notices.training.isVisible()


def test_the_log_is_written_and_read() -> None:
    assert start_log() == log_path()
    try:
        import logging

        logging.getLogger("wordpiece_studio.test").info("hello")
        assert last_lines(1)[0].endswith("hello")
    finally:
        stop_log()


def test_no_log_is_no_reason_not_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null/nowhere")
    assert start_log() is None
    assert last_lines(5) == []


def test_the_help_dialogs_open(studio: Studio) -> None:
    studio.window.actions_.shortcuts.trigger()
    studio.window.actions_.about.trigger()
    studio.answer(_OK)
