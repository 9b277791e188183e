"""Ctrl-C and similar signals at critical moments: where an exception vanishes or none is raised, between two files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.calls import COURSE, POSIX

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = POSIX

LATE = [pytest.param(each, marks=pytest.mark.slow) for each in ("finalizer", "while writing")]
STOPPED = b"wordpiece-studio: Stopped.\n"

# A command that gets a signal at a certain moment, from itself.
_CHILD = """
import ctypes, os, signal, sys, threading
moment, number = sys.argv[1], signal.Signals[sys.argv[2]]
del sys.argv[1:3]
if moment == "first line" and number != signal.SIGINT:
    signal.signal(number, signal.SIG_DFL)  # the tests may run where it is ignored, as under nohup


def send():
    os.kill(os.getpid(), number)
    for _ in range(100):  # handlers run between two steps of Python
        pass


def before(owner, name, action, call=1):
    original, calls = getattr(owner, name), []

    def wrapped(*arguments, **options):
        calls.append(name)
        if len(calls) == call:
            action()
        return original(*arguments, **options)

    setattr(owner, name, wrapped)


class Dying:
    def __del__(self):
        send()


class FirstImport:
    def find_spec(self, name, path=None, target=None):
        sys.meta_path.remove(self)
        send()


def wait_in_c():
    threading.Timer(0.1, send).start()
    library, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(256)
    library.pthread_mutex_init(mutex, None)
    library.pthread_mutex_lock(mutex)
    library.pthread_mutex_lock(mutex)  # for ever; no signal interrupts that


from wordpiece_studio.__main__ import main
if moment == "first line":
    sys.meta_path.insert(0, FirstImport())
    main()

from wordpiece_studio.cli import messages, train
messages._PATIENCE_SECONDS = 0
from wordpiece_studio.system import atomic_write
from wordpiece_studio.storage import verification
from wordpiece_studio.evaluation import held_out
callback = ctypes.CFUNCTYPE(None)(send)
if moment == "C callback":
    before(train.Trainer, "run", callback)
elif moment == "finalizer":
    before(train.Trainer, "run", Dying)
elif moment == "C code":
    before(train.Trainer, "run", wait_in_c)
elif moment == "held-out text":
    before(held_out, "held_out_figures", wait_in_c)
elif moment == "between files":
    before(train.Export, "write", send)
elif moment == "while writing":
    before(os, "fsync", send, call=3)
elif moment == "putting in place":
    before(os, "replace", send, call=2)
elif moment == "in place":
    before(train, "print_result", send)
elif moment == "verifying":
    before(verification._Again, "_written", send)
main()
"""


def stopped(moment: str, name: str, *arguments: object, env: dict[str, str] | None = None) -> tuple[int, bytes, bytes]:
    """Run a command that gets a signal; return its exit code and its output."""
    command = [sys.executable, "-c", _CHILD, moment, name, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False, env=os.environ | (env or {}))
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_is_heard_from_the_first_line_on(name: str) -> None:
    assert stopped("first line", name, "--version") == (128 + signal.Signals[name], b"", STOPPED)


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["C callback", "C code", "between files", *LATE])
def test_wherever_ctrl_c_comes_it_ends_the_program_and_nothing_is_written(tmp_path: Path, moment: str) -> None:
    out = tmp_path / "new" / "out"
    arguments = ["train", COURSE, "--with-counts", "--history", tmp_path / "merges.csv", "-o", out]
    assert stopped(moment, "SIGINT", *arguments) == (130, b"", STOPPED)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_it_ends_the_judging_by_held_out_text_too(tmp_path: Path) -> None:
    corpus, out = tmp_path / "corpus.txt", tmp_path / "out"
    corpus.write_text("hug pug pun bun hugs\n" * 20, encoding="utf-8")
    assert stopped("held-out text", "SIGINT", "train", corpus, "--held-out", "-o", out) == (130, b"", STOPPED)
    assert list(tmp_path.iterdir()) == [corpus]


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["putting in place", pytest.param("in place", marks=pytest.mark.slow)])
def test_what_is_put_in_place_is_put_in_place_whole(tmp_path: Path, moment: str) -> None:
    """A signal that comes too late for "nothing is written" finds a command that has ended."""
    code, said, errors = stopped(moment, "SIGINT", "train", COURSE, "--with-counts", "-o", tmp_path / "out")
    assert (code, errors) == (0, b"")
    assert b"written to" in said
    assert len([path for path in (tmp_path / "out").iterdir() if not path.name.endswith(".tmp")]) == 7


@pytest.mark.slow
def test_nothing_is_left_among_the_temporary_files(course: Path, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    said = stopped("verifying", "SIGTERM", "verify", course, COURSE, env={"TMPDIR": str(temporary)})
    assert said == (143, b"", STOPPED)
    assert list(temporary.iterdir()) == []


@pytest.mark.slow
def test_a_signal_that_was_to_be_ignored_is(tmp_path: Path) -> None:
    """As with nohup."""
    old = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert stopped("C callback", "SIGHUP", "train", COURSE, "-o", tmp_path / "out")[0] == 0
    finally:
        signal.signal(signal.SIGHUP, old)


@pytest.mark.slow
def test_in_a_library_ctrl_c_is_what_python_makes_of_it() -> None:
    code = (
        "import os, signal, wordpiece_studio as wps\n"
        "counts = wps.count_texts(['hug pug'])\n"
        "try:\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    wps.train(counts)\n"
        "except KeyboardInterrupt:\n"
        "    print(len(wps.train(counts).vocabulary))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert int(done.stdout) > 5


@pytest.mark.slow
def test_the_cursor_comes_back_that_the_progress_bar_hid(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    command = [sys.executable, "-c", _CHILD, "C callback", "SIGINT", "train", COURSE, "-o", str(tmp_path / "out")]
    child = subprocess.Popen(command, stdout=theirs, stderr=theirs, env=os.environ | {"TERM": "xterm"})
    os.close(theirs)
    said = b""
    while not said.endswith(STOPPED.replace(b"\n", b"\r\n")):
        said += os.read(ours, 1000)
    assert child.wait(60) == 130
    os.close(ours)
    assert said.rindex(b"\x1b[?25h") > said.rindex(b"\x1b[?25l")
