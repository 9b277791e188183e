"""Ctrl+C and its like, once and again, at any time of the window's life: it ends, and keeps what was not saved."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.session import recovery_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")

_CHILD = """
import atexit, functools, os, signal, sys, time
from wordpiece_studio.ui import studio
from wordpiece_studio.session.task import later
from wordpiece_studio.ui.main_window import MainWindow

step, numbers = sys.argv[1], [signal.Signals[name] for name in sys.argv[2:]]
del sys.argv[1:]


def send(*, again=True):
    if numbers:
        os.kill(os.getpid(), numbers.pop(0))
    if again and numbers and step == "at once":
        send()


def around(owner, name, before=None, after=None):
    original = getattr(owner, name)

    @functools.wraps(original)
    def wrapped(*arguments, **options):
        for each in (before, lambda: original(*arguments, **options), after):
            result = each() if each is not None else None
        return result

    setattr(owner, name, wrapped)


class Window(MainWindow):
    def _show_once(self):
        super()._show_once()
        if step != "start":
            self.session.document.set_text("unsaved hugs")
            later(self, 0, send)

    def _end_jobs(self):
        time.sleep(0.1)  # so slow that one loses patience
        if step == "closing":
            send()
        super()._end_jobs()


class Last:
    def __del__(self):
        os.kill(os.getpid(), numbers.pop(0))


studio.MainWindow = Window
if step == "start":
    around(studio, "start_log", send)
    around(MainWindow, "open_first", send)
elif step == "taken down":
    around(MainWindow, "take_down", send, send)
elif step == "log closed":
    around(studio, "stop_log", send, send)
elif step == "window gone":
    around(studio.InterruptWatch, "stop", None, send)
elif step == "atexit":
    atexit.register(send)
elif step == "finalization":
    last = Last()

from wordpiece_studio.__main__ import main

main()
"""

STEPS = (
    "start", "taken down",
    *(pytest.param(each, marks=pytest.mark.slow) for each in ("at once", "closing", "window gone", "log closed")),
    *(pytest.param(each, marks=pytest.mark.slow) for each in ("atexit", "finalization")),
)  # fmt: skip


@pytest.fixture(autouse=True)
def _hangup() -> Iterator[None]:
    """Children inherit what is ignored."""
    old = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, old)


def end(folder: Path, step: str, *names: str) -> tuple[int, str]:
    """Run the window until the signals that it sends itself have ended it; return its code and what it said."""
    own = {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("CONFIG", "STATE", "DATA")}
    command = [sys.executable, "-c", _CHILD, step, *names]
    done = subprocess.run(
        command, env=os.environ | own | {"QT_QPA_PLATFORM": "offscreen"}, capture_output=True, text=True, timeout=120
    )
    said = [line for line in done.stderr.splitlines() if "This plugin does not support" not in line]
    return done.returncode, "\n".join(said)


def left(folder: Path) -> list[str]:
    """Return the texts that the next start would offer."""
    found = recovery_store.find_recoverable(folder / "state" / "wordpiece-studio" / "recovery")
    texts = [recovery_store.recover(each).project.corpus.text for each in found]
    for each in found:
        each.lock.release()
    return texts


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_a_second_ctrl_c_disturbs_nothing(tmp_path: Path, step: str) -> None:
    assert end(tmp_path, step, "SIGINT", "SIGTERM", "SIGINT") == (130, "wordpiece-studio: Stopped.")
    assert left(tmp_path) == ([] if step == "start" else ["unsaved hugs"])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "code"), [pytest.param("SIGTERM", 143, marks=pytest.mark.slow), ("SIGHUP", 129)])
def test_the_first_signal_decides_the_exit_code(tmp_path: Path, name: str, code: int) -> None:
    assert end(tmp_path, "at once", name, "SIGINT") == (code, "")
    assert left(tmp_path) == ["unsaved hugs"]


@pytest.mark.slow
def test_a_signal_that_was_to_be_ignored_is(tmp_path: Path) -> None:
    """As with nohup: the end of the terminal leaves the window open."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    assert end(tmp_path, "at once", "SIGHUP", "SIGTERM") == (143, "")
