"""What a child process says, how it ends, and that it ends in any case."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from tests.system import child_works
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system import child_process
from wordpiece_studio.system.child_process import ChildProcess, ParentConnection, do_work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Begin = Callable[..., ChildProcess]

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
NEVER = threading.Event()


@pytest.fixture
def begin() -> Iterator[Begin]:
    """Begin a child that is ended after the test."""
    begun: list[ChildProcess] = []

    def start(work: Callable[..., None], *arguments: object) -> ChildProcess:
        begun.append(ChildProcess(work, *arguments, failure="The child failed"))
        return begun[-1]

    yield start
    for child in begun:
        child.end()


def said(child: ChildProcess) -> list[bytes]:
    return [kind + bytes(content) for kind, content in child.messages(NEVER)]


def test_messages_of_any_size_go_both_ways(begin: Begin) -> None:
    child = begin(child_works.echo, "a", 1, [2.5, None])
    messages = child.messages(NEVER)
    assert [bytes(part) for part in next(messages)] == [b"a", b"('a', 1, [2.5, None])"]
    for content in (b"small", bytes(range(256)) * 20_000):
        child.send(content)
        assert [bytes(part) for part in next(messages)] == [b"x", content]
    child.send(b"")
    assert list(messages) == []


def test_printed_output_is_not_taken_for_a_message(begin: Begin, capfd: pytest.CaptureFixture[str]) -> None:
    assert said(begin(child_works.chatter)) == [b"x"]
    out, err = capfd.readouterr()
    assert (out, sorted(err.splitlines())) == ("", ["from C", "from Python"])


@POSIX
def test_ctrl_c_is_left_to_the_parent(begin: Begin) -> None:
    assert said(begin(child_works.interrupt_itself)) == [b"x"]


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (child_works.badly, "It went badly in line 3. Fix it."),
        (child_works.out_of_memory, "There is not enough memory. Close other programs."),
        (child_works.without_a_file, "[Errno 2] No such file."),
    ],
)
def test_errors_are_reported(begin: Begin, work: Callable[..., None], words: str) -> None:
    with pytest.raises(StudioError) as raised:
        said(begin(work))
    assert str(raised.value) == words


@pytest.mark.expects_log
def test_a_premature_end_is_reported_every_time(begin: Begin) -> None:
    child = begin(child_works.fail)
    for _ in range(2):
        with pytest.raises(StudioError, match=r"The child failed\. The background process ended with exit code 7\."):
            said(child)


def test_a_parent_that_stops_waiting_gets_no_more_and_can_end_it(begin: Begin) -> None:
    child, stop = begin(child_works.hang), threading.Event()
    for _ in child.messages(stop):
        stop.set()
    child.end()
    if os.name == "posix":
        with pytest.raises(ProcessLookupError):
            os.kill(child.pid, 0)
    child.end()


@pytest.mark.expects_log
def test_nothing_can_be_sent_to_one_that_was_ended(begin: Begin) -> None:
    child = begin(child_works.hang)
    child.end()
    with pytest.raises(StudioError, match=r"The child failed\. The background process"):
        child.send(b"too late")


def test_a_script_that_begins_one_need_not_guard_its_main_part(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import threading\n"
        "from tests.system import child_works\n"
        "from wordpiece_studio.system.child_process import ChildProcess\n"
        "child = ChildProcess(child_works.well, failure='The child failed')\n"
        "print(list(child.messages(threading.Event())))\n"
        "child.end()\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    run = subprocess.run([sys.executable, str(script)], capture_output=True, env=environment, check=False, timeout=60)
    assert (run.returncode, run.stdout.split(), run.stderr) == (0, [b"[]"], b"")


@POSIX
def test_the_child_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    code = (
        "import os, signal, threading\n"
        "from tests.system import child_works\n"
        "from wordpiece_studio.system.child_process import ChildProcess\n"
        "child = ChildProcess(child_works.hang, failure='The child failed')\n"
        "next(child.messages(threading.Event()))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ours, theirs = os.pipe()  # the child has its end open as long as it lives
    parent = subprocess.Popen([sys.executable, "-c", code], stderr=theirs)
    os.close(theirs)
    assert parent.wait(60) == -signal.SIGKILL
    assert os.read(ours, 1000) == b""  # waits until no one has it open
    os.close(ours)


@pytest.mark.parametrize("work", ["well", "badly", "out_of_memory", "to_nobody"])
def test_a_child_whose_parent_is_gone_ends_without_a_word(monkeypatch: pytest.MonkeyPatch, work: str) -> None:
    monkeypatch.setattr(ParentConnection, "_listen", lambda _self, _incoming: None)  # it would end this process
    ours, theirs = os.pipe()
    os.close(ours)
    do_work(ParentConnection(-1, theirs), getattr(child_works, work), [])
    os.close(theirs)
    assert child_process.read_error(child_process.written_error(StudioError("{a}", a=[1]))).values == {"a": "[1]"}
