"""Ctrl-C and its like end the program: at once, wherever it is, with one line, and with nothing unfinished left.

An exception from a signal handler is not enough: one that is raised in a callback of C code or of an import vanishes,
and none is raised as long as C code runs. So a thread of its own hears of the signal, removes what is unfinished and
ends the process, while the handler only keeps the main thread from going on.

The program asks for that, see `stop_on_signals`. In a library Ctrl-C is what Python makes of it, and what is noted here
as unfinished does nothing.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Never

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

STOPPED = 128 + signal.SIGINT
"""The exit code of a program that was interrupted; that of another signal is made alike."""

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")  # no system has all of them
_LINE = b"wordpiece-studio: Stopped.\n"
_PAUSE_SECONDS = 0.1
"""How long the main thread may take to hold still; in C code it takes longer, but changes no files there."""
_GRACE_SECONDS = 1.0
"""How long a program whose results are in place may take to end by itself."""

_unfinished: dict[Hashable, Callable[[], object]] = {}
_undisturbed = threading.Lock()  # held by the main thread for a moment, or for good by whoever ends the program
_still = threading.Lock()  # free when the main thread holds still
_still.acquire()
_for_ever = threading.Lock()
_for_ever.acquire()
_main_thread: int | None = None  # the one that signals are to stop
_is_undisturbed = _is_told = _has_results = False


def stop_on_signals() -> None:
    """From now on Ctrl-C, a terminate signal and the end of the terminal end this process.

    One that is ignored from the start, as with nohup, is still ignored.
    """
    global _main_thread
    if _main_thread is not None:
        return
    _main_thread = threading.get_ident()
    reader, writer = os.pipe()
    if os.name == "posix":  # elsewhere it cannot be, and need not
        os.set_blocking(writer, False)
    present = [signal.Signals[name] for name in _NAMES if name in signal.Signals.__members__]
    numbers = [number for number in present if signal.getsignal(number) is not signal.SIG_IGN]

    def hear(number: int, _frame: object) -> None:
        global _is_told
        _is_told = True
        with contextlib.suppress(OSError):  # full: it is known
            os.write(writer, bytes([number]))  # someone else may have taken the descriptor that is woken up
        if not _is_undisturbed:
            _hold_still()

    threading.Thread(target=_end_when_told, args=(reader, numbers), daemon=True, name="signals").start()
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in numbers:
        signal.signal(number, hear)


def undo_if_stopped(thing: Hashable, undo: Callable[[], object]) -> None:
    """Have `undo` called should a signal end the program before `thing` is `finished`.

    It is called in another thread than this one, which may hold any lock, and may be called when there is nothing to
    undo yet.
    """
    _unfinished[thing] = undo


def finished(thing: Hashable) -> None:
    """Leave `thing` as it is, whatever comes."""
    _unfinished.pop(thing, None)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """While this holds no signal ends the program: it does so afterwards. For what takes a moment."""
    global _is_undisturbed
    if threading.get_ident() != _main_thread or _is_undisturbed:
        yield
        return
    _is_undisturbed = True
    try:
        with _undisturbed:
            yield
    finally:
        _is_undisturbed = False
        if _is_told:
            _hold_still()


def results_are_there() -> None:
    """Have the command end as if no signal had come; to be called while it is `undisturbed`."""
    global _has_results
    _has_results = threading.get_ident() == _main_thread


def end(code: int) -> Never:
    """End the program, unless a signal is ending it."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    if not _has_results:
        _undisturbed.acquire()
    os._exit(code)


def ignore_signals() -> None:
    """Ignore them from now on, as when the interpreter is about to end."""
    for name in _NAMES:
        if name in signal.Signals.__members__:
            signal.signal(signal.Signals[name], signal.SIG_IGN)


def _hold_still() -> None:
    """Have the main thread do nothing more: another one is ending the program."""
    if not _has_results:
        with contextlib.suppress(RuntimeError):  # it was released already
            _still.release()
        _for_ever.acquire()


def _end_when_told(reader: int, numbers: list[signal.Signals]) -> None:
    """Wait for one of the signals and end the process."""
    while (number := os.read(reader, 1)[0]) not in numbers:
        pass
    _undisturbed.acquire()
    if _has_results:
        time.sleep(_GRACE_SECONDS)
    _still.acquire(timeout=_PAUSE_SECONDS)
    for undo in reversed([*_unfinished.values()]):
        with contextlib.suppress(Exception):
            undo()
    with contextlib.suppress(OSError):
        os.write(2, _LINE)
    os._exit(128 + number)
