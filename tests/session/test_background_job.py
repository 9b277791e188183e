"""Work beside the window: however many reports it sends, they do not flood the event loop, and the last one arrives."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session import background_job
from wordpiece_studio.session.background_job import BackgroundJob, Report

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

REPORTS = 20_000


@pytest.fixture
def slow_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be delivered after the first report, except where it must."""
    monkeypatch.setattr(background_job, "_REPORT_MS", 3_600_000)


def count(most: int, stop: threading.Event, report: Report) -> int:
    for number in range(most):
        report(number)
    return most


def received(qtbot: QtBot, job: BackgroundJob, most: int) -> list[object]:
    """Return all reports and, last, the result."""
    found: list[object] = []
    job.reported.connect(found.append)
    job.finished.connect(found.append)
    with qtbot.waitSignal(job.finished, timeout=20_000):
        job.begin(most)
    job.close()
    return found


@pytest.mark.usefixtures("slow_reports")
def test_of_many_reports_few_are_delivered_and_the_last_one_always(qtbot: QtBot) -> None:
    found = received(qtbot, BackgroundJob(count, "The words cannot be counted"), REPORTS)
    assert found[-2:] == [REPORTS - 1, REPORTS]
    assert len(found) <= 3


def test_the_last_report_arrives_while_the_work_goes_on(qtbot: QtBot) -> None:
    go_on = threading.Event()

    def report_and_wait(most: int, stop: threading.Event, report: Report) -> int:
        count(most, stop, report)
        go_on.wait()
        return most

    job, found = BackgroundJob(report_and_wait, "The words cannot be counted"), list[object]()
    job.reported.connect(found.append)
    job.begin(REPORTS)
    qtbot.waitUntil(lambda: bool(found) and found[-1] == REPORTS - 1)
    go_on.set()
    job.close()


def test_reports_that_are_parts_of_the_result_all_arrive_in_their_order(qtbot: QtBot) -> None:
    found = received(qtbot, BackgroundJob(count, "The files cannot be listed", keeps_all_reports=True), 1000)
    assert found == [*range(1000), 1000]


@pytest.mark.usefixtures("slow_reports")
def test_nothing_is_reported_of_work_that_was_stopped(qtbot: QtBot) -> None:
    job, found = BackgroundJob(count, "The words cannot be counted"), list[object]()
    job.reported.connect(found.append)
    job.begin(REPORTS)
    job.stop()
    with qtbot.waitSignal(job.finished, timeout=20_000):
        job.begin(1)
    assert set(found) <= {0}
    job.close()


@pytest.mark.expects_log
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (StudioError("The file {path} is empty", path="a.txt"), "The file a.txt is empty."),
        (
            MemoryError(),
            "The words cannot be counted. There is not enough memory. Close other programs, or use a smaller corpus.",
        ),
        (
            ValueError("{x}"),
            "The words cannot be counted. This is a bug in WordPiece Studio (ValueError: {x}); the log "
            "has the details.",
        ),
    ],
)
def test_a_failure_is_a_whole_sentence_of_the_job(qtbot: QtBot, error: Exception, said: str) -> None:
    def fail(_order: object, _stop: threading.Event, _report: Report) -> None:
        raise error

    job = BackgroundJob(fail, "The words cannot be counted")
    with qtbot.waitSignal(job.failed) as waiting:
        job.begin(None)
    job.close()
    assert str(waiting.args[0]) == said
