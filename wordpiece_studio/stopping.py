"""Ctrl-C and similar signals end the program: at once, wherever it is, with one line, leaving nothing unfinished.

Raising an exception in a signal handler is not enough: one raised in a callback of C code or during an import is lost,
and none is raised while C code runs. So a separate thread receives the signal, removes whatever is unfinished and ends
the process, while the handler only stops the main thread.

The program opts in with `stop_on_signals`. In a library Ctrl-C does what Python makes it do, and what is registered
here as unfinished has no effect.
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

# The exit code of a program that was interrupted; other signals give theirs in the same way.
STOPPED = 128 + signal.SIGINT

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")  # no system has them all
_LINE = b"wordpiece-studio: Stopped.\n"
_PAUSE_SECONDS = 0.1  # that the main thread may take to stop; in C code it takes longer, but changes no files there
_GRACE_SECONDS = 1.0  # that a program whose results are in place may take to exit by itself

_unfinished: dict[Hashable, Callable[[], object]] = {}
_undisturbed = threading.Lock()  # held briefly by the main thread, or for good by the thread that ends the program
_still = threading.Lock()  # free once the main thread has stopped
_still.acquire()
_for_ever = threading.Lock()
_for_ever.acquire()
_main_thread: int | None = None  # the one that signals stop
_is_undisturbed = _has_signal = _has_results = False


def stop_on_signals() -> None:
    """Make Ctrl-C, a terminate signal and the closing of the terminal end this process from now on.

    A signal that was ignored from the start, as with nohup, is still ignored.
    """
    global _main_thread
    if _main_thread is not None:
        return
    _main_thread = threading.get_ident()
    reader, writer = os.pipe()
    if os.name == "posix":  # elsewhere impossible, and not needed
        os.set_blocking(writer, False)
    present = [signal.Signals[name] for name in _NAMES if name in signal.Signals.__members__]
    numbers = [number for number in present if signal.getsignal(number) is not signal.SIG_IGN]

    def on_signal(number: int, _frame: object) -> None:
        global _has_signal
        _has_signal = True
        with contextlib.suppress(OSError):  # full: the signal is already known
            os.write(writer, bytes([number]))  # other code may have taken over the wakeup descriptor
        if not _is_undisturbed:
            _hold_still()

    threading.Thread(target=_end_on_signal, args=(reader, numbers), daemon=True, name="signals").start()
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in numbers:
        signal.signal(number, on_signal)


def undo_if_stopped(thing: Hashable, undo: Callable[[], object]) -> None:
    """Call `undo` if a signal ends the program before `thing` is `finished`.

    It is called in another thread, while this one may hold any lock, and possibly before there is anything to undo.
    """
    _unfinished[thing] = undo


def finished(thing: Hashable) -> None:
    """Keep `thing` as it is, whatever happens."""
    _unfinished.pop(thing, None)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Defer the end of the program by a signal until the block is left. For brief work only."""
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
        if _has_signal:
            _hold_still()


def results_are_there() -> None:
    """Let the command end as if no signal had come; call it within `undisturbed`."""
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
    """Ignore the signals from now on, because the interpreter is about to exit."""
    for name in _NAMES:
        if name in signal.Signals.__members__:
            signal.signal(signal.Signals[name], signal.SIG_IGN)


def _hold_still() -> None:
    """Stop the main thread for good: another thread is ending the program."""
    if not _has_results:
        with contextlib.suppress(RuntimeError):  # already released
            _still.release()
        _for_ever.acquire()


def _end_on_signal(reader: int, numbers: list[signal.Signals]) -> None:
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
