"""Work beside the window: the latest request wins, the last answer stays, and no report floods the event loop."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from tests.system import child_functions as do
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session import task as task_module
from wordpiece_studio.session.task import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

REPORTS = 20_000
FAILURE = "The words cannot be counted"


@pytest.fixture
def make(qtbot: QtBot) -> Iterator[Callable[..., Task]]:
    """Make tasks that are closed after the test."""
    made: list[Task] = []

    def make(work: Callable[..., Any], **options: Any) -> Task:
        made.append(Task(work, FAILURE, **options))
        return made[-1]

    yield make
    for task in made:
        task.close()


@pytest.fixture
def slow_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no progress be delivered after the first, except where it must."""
    monkeypatch.setattr(task_module, "_REPORT_MS", 3_600_000)


def received(qtbot: QtBot, task: Task, *request: object) -> list[object]:
    """Return all progress and parts and, last, the answer."""
    found: list[object] = []
    for signal in (task.progressed, task.part_ready, task.finished):
        signal.connect(found.append)
    with qtbot.waitSignal(task.finished, timeout=20_000):
        task.run(*request)
    return found


def test_only_what_is_long_is_done_in_a_child(qtbot: QtBot, make: Callable[..., Task]) -> None:
    task = make(process_of, in_child=lambda text: len(text) > 3)
    assert received(qtbot, task, "hug") == [os.getpid()]
    (other,) = received(qtbot, task, "hugs")
    assert other != os.getpid()


def process_of(_text: str) -> int:
    return os.getpid()


@pytest.mark.usefixtures("slow_reports")
@pytest.mark.parametrize("in_child", [False, True])
def test_of_much_progress_little_is_delivered(qtbot: QtBot, make: Callable[..., Task], in_child: bool) -> None:
    task = make(do.report_many, in_child=in_child)
    found = received(qtbot, task, REPORTS)
    assert found[-1] == task.answer == REPORTS
    assert len(found) <= 3
    assert task.progress is None


@pytest.mark.parametrize("in_child", [False, True])
def test_the_last_progress_arrives_while_the_work_goes_on(
    qtbot: QtBot, make: Callable[..., Task], in_child: bool
) -> None:
    go_on = threading.Event()

    def report_and_wait(most: int, *, progress: Callable[[int], None]) -> None:
        do.report_many(most, progress=progress)
        go_on.wait()

    task = make(do.report_and_hang, in_child=True) if in_child else make(report_and_wait)
    task.run(REPORTS)
    qtbot.waitUntil(lambda: task.progress == REPORTS - 1)
    assert task.is_running
    go_on.set()
    task.stop()


@pytest.mark.usefixtures("slow_reports")
@pytest.mark.parametrize("in_child", [False, True])
def test_parts_all_arrive_in_their_order(qtbot: QtBot, make: Callable[..., Task], in_child: bool) -> None:
    text = "abcdefghij" * 30
    assert received(qtbot, make(do.letters, in_child=in_child), text) == [*text, len(text)]


def test_the_latest_request_wins_and_the_last_answer_stays(qtbot: QtBot, make: Callable[..., Task]) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def work(name: str) -> str:
        if name == "slow":
            begun.set()
            go_on.wait()
        return name.upper()

    task = make(work)
    assert received(qtbot, task, "first") == ["FIRST"]
    task.run("slow")
    begun.wait()
    task.run("skipped")
    found: list[object] = []
    task.finished.connect(found.append)
    with qtbot.waitSignal(task.finished):
        task.run("last")
        assert (task.is_running, task.answer, task.answered) == (True, "FIRST", ("first",))
        go_on.set()
    assert found == ["LAST"]
    assert (task.is_running, task.answer, task.answered) == (False, "LAST", ("last",))


def test_what_was_asked_last_is_not_asked_again(qtbot: QtBot, make: Callable[..., Task]) -> None:
    asked: list[str] = []
    task = make(asked.append, debounce_ms=20)
    for name in ("never", "a", "a"):
        task.ask(name)
    assert task.is_running
    qtbot.waitSignal(task.finished).wait()
    for name in ("never", "a"):
        task.ask(name)
    assert not task.is_running  # the answer is still there
    task.ask("b")
    qtbot.waitSignal(task.finished).wait()
    task.run("b")
    qtbot.waitSignal(task.finished).wait()
    assert asked == ["a", "b", "b"]


def test_nothing_is_reported_of_work_that_was_stopped(qtbot: QtBot, make: Callable[..., Task]) -> None:
    ended = threading.Event()

    def work(*, progress: Callable[[int], None], should_stop: Callable[[], bool]) -> int:
        while not should_stop():
            progress(1)
        ended.set()
        return 1

    task = make(work)
    with qtbot.waitSignal(task.progressed):
        task.run()
    heard: list[object] = []
    for signal in (task.progressed, task.finished, task.failed):
        signal.connect(heard.append)
    task.stop()
    ended.wait()
    task.close()
    qtbot.wait(1)
    assert heard == []
    assert (task.is_running, task.request) == (False, None)
    task.run()  # closed
    assert not task.is_running


@pytest.mark.parametrize("in_child", [False, True])
def test_work_is_paused_and_ends_with_what_it_has(qtbot: QtBot, make: Callable[..., Task], in_child: bool) -> None:
    task = make(do.count_until_stopped, in_child=in_child)
    with qtbot.waitSignal(task.progressed):
        task.run()
    task.pause()
    count = None
    while count != task.progress:  # what was on its way arrives
        count = task.progress
        qtbot.wait(200)
    with qtbot.waitSignal(task.progressed):
        task.resume()
    with qtbot.waitSignal(task.finished):
        task.finish()
    assert task.answer > count[0]


@pytest.mark.parametrize("in_child", [False, True])
@pytest.mark.parametrize(
    ("work", "said"),
    [
        (do.fail_badly, "It went badly in line 3. Fix it."),
        (do.divide, f"{FAILURE}. This is a bug in WordPiece Studio (TypeError: "),
    ],
)
def test_a_failure_is_a_whole_sentence(
    qtbot: QtBot, make: Callable[..., Task], caplog: pytest.LogCaptureFixture, work: Any, said: str, in_child: bool
) -> None:
    task = make(work, in_child=in_child)
    with qtbot.waitSignal(task.failed):
        task.run()
    caplog.clear()
    assert isinstance(task.error, StudioError)
    assert str(task.error).startswith(said)
    assert not task.is_running


def test_what_cannot_be_sent_to_a_child_is_worked_on_here(qtbot: QtBot, make: Callable[..., Task]) -> None:
    given = lambda: None  # noqa: E731
    assert received(qtbot, make(do.echo, in_child=True), given) == [(given, {})]


def test_a_child_is_kept_until_it_dies(qtbot: QtBot, make: Callable[..., Task]) -> None:
    task = make(pid_unless, in_child=True, keeps_child=True)
    first = received(qtbot, task, "")[-1]
    assert received(qtbot, task, "")[-1] == first
    with qtbot.waitSignal(task.failed):
        task.run("exit")
    second = received(qtbot, task, "")[-1]
    assert second != first
    assert task.child is not None
    task.child.kill()  # while there is nothing for it to do
    assert received(qtbot, task, "")[-1] not in (first, second)


def pid_unless(what: str) -> int:
    import os

    if what:
        os._exit(7)
    return os.getpid()


def test_tasks_of_one_thread_work_one_after_the_other(qtbot: QtBot, make: Callable[..., Task]) -> None:
    thread, done = ThreadPoolExecutor(1, "engine"), list[str]()

    def work(name: str) -> None:
        time.sleep(0.01)
        done.append(f"{name} in {threading.current_thread().name}")

    tasks = [make(work, thread=thread) for _ in range(3)]
    with qtbot.waitSignals([task.finished for task in tasks]):
        for task, name in zip(tasks, "abc", strict=True):
            task.run(name)
    assert done == ["a in engine_0", "b in engine_0", "c in engine_0"]
