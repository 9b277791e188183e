"""A child process that does one piece of work, says how far it is, and never outlives the Studio.

It is started afresh (spawn), so nothing of the window is in it. Messages are bytes: one letter for the kind, then
the content; nothing is ever unpickled from it. Kinds used here: ``e`` an error as JSON, ``d`` done; all others are
the work's own.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import logging
import multiprocessing
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection

    ChildWork = Callable[..., None]

_log = logging.getLogger(__name__)

POLL_SECONDS = 0.05
_END_SECONDS = 5.0
_ORPHAN_EXIT_CODE = 3
_NICER, _BELOW_NORMAL = 5, 0x4000


class ChildProcess:
    """The parent's end of a child process.

    Parameters
    ----------
    work
        A function at the top level of a module: ``work(connection, *arguments)``. It runs in the child.
    arguments
        Plain values.
    name
        What the work is called in an error: "The counting".
    has_children
        Whether the work begins processes of its own; those must end by themselves when the child is killed.
    """

    def __init__(self, work: ChildWork, *arguments: object, name: str, has_children: bool = False) -> None:
        context = multiprocessing.get_context("spawn")
        self._name = name
        self.connection, theirs = context.Pipe()
        # Nothing is ever written to the lifeline: the child sees its end when this process is gone, however it went.
        lifeline, self._lifeline = context.Pipe(duplex=False)
        self._process = context.Process(
            target=_run_in_child,
            args=(lifeline, theirs, work.__module__, work.__qualname__, arguments),
            name=name,
            daemon=not has_children,
        )
        self._process.start()
        theirs.close()
        lifeline.close()

    @property
    def pid(self) -> int | None:
        """The number of the process."""
        return self._process.pid

    def messages(self, stop: threading.Event) -> Iterator[tuple[bytes, memoryview]]:
        """Yield (kind, content) until the child is done; ends early if `stop` is set.

        Raises
        ------
        StudioError
            What the child reported, or that it died.
        """
        while not stop.is_set():
            if not self.connection.poll(POLL_SECONDS):
                continue
            try:
                message = self.connection.recv_bytes()
            except (EOFError, OSError) as error:
                raise self.death() from error
            kind, content = message[:1], memoryview(message)[1:]
            if kind == b"d":
                return
            if kind == b"e":
                raise _read_error(bytes(content))
            yield kind, content

    def send(self, content: bytes) -> None:
        """Send bytes to the child.

        Raises
        ------
        StudioError
            If the child has died.
        """
        try:
            self.connection.send_bytes(content)
        except OSError as error:
            raise self.death() from error

    def death(self) -> StudioError:
        """Return the error that says how the child ended before its time."""
        self._process.join(_END_SECONDS)
        code = self._process.exitcode
        _log.warning("%s: process %s ended with exit code %s", self._name, self.pid, code)
        return StudioError(
            "{name} was broken off: its process ended {how}",
            "There may be too little memory, or another program ended it. Try again, or take a smaller corpus.",
            name=self._name,
            how=_how_ended(code),
        )

    def end(self) -> None:
        """Kill the child if it still runs, and give everything back."""
        self._process.kill()
        self._process.join(_END_SECONDS)
        self.connection.close()
        self._lifeline.close()
        if self._process.exitcode is not None:
            self._process.close()


def lower_priority() -> None:
    """Let this process, and those that it begins, stand back behind the window; where that cannot be, nothing."""
    if hasattr(os, "nice"):
        os.nice(_NICER)
    elif sys.platform == "win32":
        kernel = ctypes.windll.kernel32
        kernel.GetCurrentProcess.restype = ctypes.c_void_p
        kernel.SetPriorityClass(ctypes.c_void_p(kernel.GetCurrentProcess()), _BELOW_NORMAL)


def _how_ended(code: int | None) -> str:
    if code is not None and code < 0:
        try:
            return f"by {signal.Signals(-code).name}"
        except ValueError:
            return f"by signal {-code}"
    return f"with exit code {code}"


def _run_in_child(
    lifeline: Connection, connection: Connection, module: str, name: str, arguments: tuple[object, ...]
) -> None:
    """Do the work in the child, the function `name` of a module, and report how it ended.

    The work is named and not handed over, so that the lifeline is watched before all that it needs is loaded.
    """
    threading.Thread(target=_watch, args=(lifeline,), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is the parent's affair
    try:
        work: ChildWork = getattr(importlib.import_module(module), name)
        work(connection, *arguments)
    except StudioError as error:
        last = b"e" + _written_error(error)
    except MemoryError:
        last = b"e" + _written_error(StudioError("There is not enough memory", "Close other programs."))
    except OSError as error:
        last = b"e" + _written_error(StudioError("{reason}", reason=error))
    else:
        last = b"d"
    with contextlib.suppress(OSError):  # the parent may be gone, and cannot be told then
        connection.send_bytes(last)


def _watch(lifeline: Connection) -> None:
    """End this process when the parent has gone."""
    try:
        lifeline.recv_bytes()
    except (EOFError, OSError):
        os._exit(_ORPHAN_EXIT_CODE)


def _written_error(error: StudioError) -> bytes:
    values = {name: value if isinstance(value, (int, float)) else str(value) for name, value in error.values.items()}
    return json.dumps([error.what_template, error.advice_template, values]).encode()


def _read_error(content: bytes) -> StudioError:
    what, advice, values = json.loads(content)
    return StudioError(what, advice, **values)
