"""What a child process answers, how it is stopped, and that it ends in any case."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.system import child_functions as do
from wordpiece_studio.corpus.counts import CorpusStatistics, WordCounts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system import child as child_module
from wordpiece_studio.system.child import CannotSend, Child, Control, Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.fixture(scope="module")
def shared() -> Iterator[Child]:
    """A child for all that it survives."""
    with Child("The child failed") as child:
        yield child


@pytest.fixture
def child() -> Iterator[Child]:
    with Child("The child failed") as child:
        yield child


def test_arguments_and_answers_of_any_size_are_the_same(shared: Child) -> None:
    assert shared.call(do.echo, 1, [2.5, None], name="a") == (1, [2.5, None], {"name": "a"})
    large = bytes(range(256)) * 20_000
    assert shared.call(do.echo, large) == (large, {})
    arrays = np.arange(1_000_000), np.empty(0, dtype=np.int32)
    found = shared.call(do.echo, *arrays)
    assert all(
        np.array_equal(one, other) and one.dtype == other.dtype for one, other in zip(arrays, found, strict=False)
    )


def test_word_counts_arrive_whole(shared: Child) -> None:
    words = [f"w{number}é한" for number in range(40_000)]
    counts = WordCounts.from_pairs([(word, index + 1) for index, word in enumerate(words)])
    counts.statistics = CorpusStatistics(lines=7)
    found, _ = shared.call(do.echo, counts)
    assert found == counts
    assert (found.words, found.statistics, found.figures()) == (words, counts.statistics, counts.figures())
    assert not found.counts.flags.writeable


def test_garbage_of_many_calls_does_not_stay(child: Child) -> None:
    child.call(do.leave_garbage)
    frozen = child.call(do.frozen_objects)
    for _ in range(20):
        child.call(do.leave_garbage)
    assert child.call(do.frozen_objects) == frozen


def test_printed_output_is_not_taken_for_a_message(capfd: pytest.CaptureFixture[str]) -> None:
    with Child("The child failed") as child:
        assert child.call(do.chatter) == b""
    out, err = capfd.readouterr()
    assert out == ""
    assert {"from Python", "from C"} <= set(err.splitlines())


@POSIX
def test_ctrl_c_is_left_to_the_parent(shared: Child) -> None:
    assert shared.call(do.interrupt_itself) == "still here"


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (do.fail_badly, "It went badly in line 3. Fix it."),
        (do.run_out_of_memory, "There is not enough memory. Close other programs."),
        (do.miss_a_file, "[Errno 2] No such file."),
    ],
)
def test_errors_are_raised_here_and_the_child_goes_on(shared: Child, function: Callable[[], None], words: str) -> None:
    with pytest.raises(StudioError) as caught:
        shared.call(function)
    assert str(caught.value) == words
    with pytest.raises(ZeroDivisionError):
        shared.call(do.divide, 0)
    assert shared.call(do.divide, 2) == 0.5


def test_what_cannot_be_sent_is_said_on_either_side(shared: Child) -> None:
    with pytest.raises(CannotSend):
        shared.call(do.echo, lambda: None)
    with pytest.raises(Exception, match="pickle"):
        shared.call(do.cannot_return)
    assert shared.call(do.echo) == ({},)


def test_parts_come_in_their_order_and_the_answer_after_them(shared: Child) -> None:
    def found() -> Iterator[object]:
        yield (yield from shared.parts(do.letters, "word"))

    assert [*found()] == [*"word", 4]


def test_of_many_reports_few_arrive(shared: Child) -> None:
    found: list[int] = []
    assert shared.call(do.report_many, 20_000, progress=found.append) == 20_000
    assert len(found) < 200
    assert found == sorted(found)


def test_the_last_report_arrives_while_the_work_goes_on(child: Child) -> None:
    found: list[int] = []
    with pytest.raises(Stopped):
        child.call(do.report_and_hang, 500, progress=found.append, should_stop=lambda: found[-1:] == [499])


def test_what_is_stopped_answers_with_what_it_has(shared: Child) -> None:
    seen: list[tuple[int, str]] = []
    found = shared.call(
        do.count_until_stopped, progress=lambda *what: seen.append(what), should_stop=lambda: len(seen) > 1
    )
    assert found >= seen[-1][0] > 0
    assert seen[-1][1] == "counted"
    assert shared.call(do.echo) == ({},)


def test_what_is_paused_waits(shared: Child) -> None:
    control, seen = Control(), list[int]()
    is_paused = threading.Event()

    def note(count: int, _word: str) -> None:
        seen.append(count)
        if len(seen) == 2:
            control.set("paused")
            is_paused.set()

    def resume() -> None:
        is_paused.wait()
        time.sleep(0.3)
        seen.append(-1)
        control.set("running")
        time.sleep(0.2)
        control.set("stopped")

    helper = threading.Thread(target=resume)
    helper.start()
    shared.call(do.count_until_stopped, progress=note, should_stop=control)
    helper.join()
    pause = seen.index(-1)
    assert pause <= 4  # one report may already have been on its way
    assert len(seen) > pause + 1


def test_what_is_canceled_is_ended_at_once() -> None:
    control = Control()
    with Child("The child failed") as child:
        threading.Timer(0.2, control.set, ["canceled"]).start()
        with pytest.raises(Stopped):
            child.call(do.hang, should_stop=control)
        assert child.is_dead


def test_one_that_was_sent_half_a_request_is_not_used_again(child: Child, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in a program of the user's may come while a request is being sent."""

    def interrupted(pipe: int, message: list[bytes]) -> None:
        os.write(pipe, b"half")
        raise KeyboardInterrupt

    child.call(do.echo)
    monkeypatch.setattr(child_module, "_write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        child.call(do.echo)
    assert child.is_dead


@POSIX
def test_a_large_request_is_canceled_while_it_is_sent(child: Child) -> None:
    child.call(do.echo)
    os.kill(child.pid, signal.SIGSTOP)  # it does not read
    control = Control()
    canceling = threading.Timer(0.2, control.set, ["canceled"])
    rescue = threading.Timer(20, child.kill)
    canceling.start()
    rescue.start()
    with pytest.raises(Stopped):
        child.call(do.echo, bytes(10_000_000), should_stop=control)
    assert rescue.is_alive()
    rescue.cancel()


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (do.exit_early, "ended with exit code 7"),
        pytest.param(do.kill_itself, "ended by the signal SIGKILL", marks=POSIX),
        pytest.param(do.crash, "ended by the signal SIGSEGV", marks=POSIX),
        (do.speak_nonsense, "sent invalid data"),
    ],
)
def test_a_death_is_told_every_time(child: Child, function: Callable[[], None], words: str) -> None:
    for called in (function, do.echo):
        with pytest.raises(StudioError) as caught:
            child.call(called)
        assert str(caught.value).startswith("The child failed. The background process")
        assert words in str(caught.value)


def test_a_script_that_begins_one_need_not_guard_its_main_part(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from math import factorial\nfrom wordpiece_studio.system.child import Child\n"
        "with Child('It failed') as child:\n    print(child.call(factorial, 5))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout == "120\n"


@POSIX
def test_the_child_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, time\nfrom wordpiece_studio.system.child import Child\nchild = Child('It failed')\n"
        "child.call(time.sleep, 0)\nprint(child.pid, flush=True)\nchild.call(time.sleep, 60)\n"
    )
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.communicate()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        with open(f"/proc/{child}/stat") as stat:
            if stat.read().split()[2] == "Z":
                return
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    pytest.fail("The child is still running")


def test_the_stand_alone_program_is_its_own_child(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """There, `sys.executable` is the program, which knows no `-c`."""
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m wordpiece_studio "$@"\n')
    program.chmod(0o755)
    monkeypatch.setattr(child_module.sys, "frozen", True, raising=False)
    monkeypatch.setattr(child_module.sys, "executable", str(program))
    with Child("The child failed") as child:
        assert child.call(do.echo, 1) == (1, {})
