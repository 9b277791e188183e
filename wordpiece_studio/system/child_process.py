"""A child process that does one piece of work, reports its progress, and never outlives its parent.

It is a new interpreter that loads only what the work needs: not the parent's program, and not the user's own script.
Both sides send bytes, each message preceded by its length; nothing is ever unpickled. A message from the child begins
with one letter for its kind: ``e`` an error as JSON, ``d`` done; all others belong to the work.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from wordpiece_studio.errors import StudioError
from wordpiece_studio.stopping import finished, undo_if_stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    ChildWork = Callable[..., None]

_log = logging.getLogger(__name__)

POLL_SECONDS = 0.05
_END_SECONDS = 5.0
_ORPHAN_EXIT_CODE = 3
_NICER, _BELOW_NORMAL = 5, 0x4000
_SIZE_BYTES = 8  # before each message
_KILLED = (
    "The background process was ended by the signal {signal}. There may be too little memory, or another program ended "
    "it. Try again, or use a smaller corpus."
)
_EXITED = (
    "The background process ended with exit code {code}. There may be too little memory, or another program ended it. "
    "Try again, or use a smaller corpus."
)
# The child imports from the same places as its parent; Ctrl-C in a terminal is left to the parent.
_BOOTSTRAP = (
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    "import json, sys; sys.path[:] = json.loads(sys.argv[1])\n"
    "from wordpiece_studio.system.child_process import run_in_child; run_in_child(*sys.argv[2:])\n"
)


class ChildProcess:
    """The parent's end of a child process.

    Parameters
    ----------
    work
        A function at the top level of a module: ``work(connection, *arguments)``. It runs in the child, with a
        `ParentConnection`. It may start child processes of its own.
    arguments
        Values that JSON can hold.
    failure
        What is said if the child dies, as in a `StudioError`: "The words cannot be counted".
    values
        The values of the named fields in it.
    """

    def __init__(self, work: ChildWork, *arguments: object, failure: str, **values: object) -> None:
        self._failure, self._values = failure, values
        self._name = work.__qualname__
        self._inbox: SimpleQueue[bytearray | None] = SimpleQueue()  # None at the end
        self._sending = threading.Lock()
        self._is_nonsense = False
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _BOOTSTRAP, json.dumps(sys.path), work.__module__, work.__qualname__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        undo_if_stopped(self, self._process.kill)  # it exits by itself, unless it hangs
        self._listener = threading.Thread(target=self._listen, daemon=True, name=f"messages of {self._name}")
        self._listener.start()
        with contextlib.suppress(StudioError):  # it has already exited: `messages` reports that
            self.send(json.dumps(arguments).encode())

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def messages(self, stop: threading.Event) -> Iterator[tuple[bytes, memoryview]]:
        """Yield (kind, content) until the child is done; stops early if `stop` is set."""
        while not stop.is_set():
            try:
                message = self._inbox.get(timeout=POLL_SECONDS)
            except Empty:
                continue
            if message is None:
                self._inbox.put(None)  # it stays dead
                raise self.death()
            kind, content = bytes(message[:1]), memoryview(message)[1:]
            if kind == b"d":
                return
            if kind == b"e":
                raise read_error(content)
            yield kind, content

    def send(self, content: bytes) -> None:
        """Send bytes to the child."""
        assert self._process.stdin is not None
        try:
            with self._sending:
                _write(self._process.stdin.fileno(), content)
        except (OSError, ValueError) as error:  # the pipe is broken, or closed
            raise self.death() from error

    def death(self) -> StudioError:
        """Return the error that says how the child ended prematurely."""
        code = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(_END_SECONDS)
        _log.info("%s: process %s ended with exit code %s", self._name, self.pid, code)
        if self._is_nonsense:
            return StudioError(self._failure, "The background process sent invalid data. Try again.", **self._values)
        if code is not None and code < 0:
            return StudioError(self._failure, _KILLED, **self._values, signal=_signal_name(-code))
        return StudioError(self._failure, _EXITED, **self._values, code=code)

    def end(self) -> None:
        """Kill the child if it is still running, and release its resources."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.kill()
        with self._sending:
            self._process.stdin.close()
        self._process.wait()
        self._listener.join()
        self._process.stdout.close()
        finished(self)

    def _listen(self) -> None:
        """Receive messages from the child, in a thread of its own."""
        assert self._process.stdout is not None
        try:
            for message in _messages_from(self._process.stdout.fileno()):
                self._inbox.put(message)
        except (MemoryError, OverflowError):  # something else wrote to the pipe: that is no size
            self._is_nonsense = True
            self._process.kill()
        self._inbox.put(None)


class ParentConnection:
    """The child's end: messages from the parent, and to it. The process ends when the parent is gone.

    Parameters
    ----------
    incoming, outgoing
        Descriptors of the pipes.
    """

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._outgoing = outgoing
        self._inbox: SimpleQueue[bytearray] = SimpleQueue()
        self._sending = threading.Lock()
        threading.Thread(target=self._listen, args=(incoming,), daemon=True, name="messages of the parent").start()

    def send_bytes(self, content: bytes) -> None:
        """Send bytes, from any thread."""
        with self._sending:
            _write(self._outgoing, content)

    def recv_bytes(self) -> bytes:
        """Return the next bytes from the parent; waits for them."""
        return bytes(self._inbox.get())

    def _listen(self, incoming: int) -> None:
        """Receive messages from the parent, and end this process when the parent has gone, for whatever reason."""
        for message in _messages_from(incoming):
            self._inbox.put(message)
        os._exit(_ORPHAN_EXIT_CODE)


def lower_priority() -> None:
    """Give this process, and those it starts, a lower priority than the window; does nothing where impossible."""
    if hasattr(os, "nice"):
        os.nice(_NICER)
    elif sys.platform == "win32":
        kernel = ctypes.windll.kernel32
        kernel.GetCurrentProcess.restype = ctypes.c_void_p
        kernel.SetPriorityClass(ctypes.c_void_p(kernel.GetCurrentProcess()), _BELOW_NORMAL)


def run_in_child(module: str, name: str) -> None:
    """Do the work, which is the function `name` of a module, in the child.

    The work is passed by name, so that the parent's end is noticed even before everything the work needs is loaded.
    """
    connection = ParentConnection(*_own_pipes())
    arguments = json.loads(connection.recv_bytes())
    gc.disable()  # loading creates many objects and no garbage
    work: ChildWork = getattr(importlib.import_module(module), name)
    gc.enable()
    do_work(connection, work, arguments)


def do_work(connection: ParentConnection, work: ChildWork, arguments: list[object]) -> None:
    """Do the work and report how it ended."""
    try:
        work(connection, *arguments)
    except StudioError as error:
        last = b"e" + written_error(error)
    except MemoryError:
        last = b"e" + written_error(StudioError("There is not enough memory", "Close other programs."))
    except OSError as error:
        last = b"e" + written_error(StudioError("{reason}", reason=error))
    else:
        last = b"d"
    with contextlib.suppress(OSError):  # the parent may be gone
        connection.send_bytes(last)


def _own_pipes() -> tuple[int, int]:
    """Return descriptors of the pipes from and to the parent, which nothing else in this process can reach.

    Printed output goes to standard error, and cannot be mistaken for a message.
    """
    nothing = os.open(os.devnull, os.O_RDWR)  # first: it becomes standard error if there is none
    incoming, outgoing = os.dup(0), os.dup(1)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    with contextlib.suppress(OSError):  # there may be none
        os.dup2(2, 1)
    if nothing > 2:
        os.close(nothing)
    return incoming, outgoing


def _messages_from(pipe: int) -> Iterator[bytearray]:
    """Yield the messages from a pipe until it ends."""
    while size := _read(pipe, _SIZE_BYTES):
        message = _read(pipe, int.from_bytes(size, "little"))
        if message is None:
            return
        yield message


def _read(pipe: int, size: int) -> bytearray | None:
    """Return `size` bytes from a pipe; None if it ends before that."""
    content = bytearray(size)
    room = memoryview(content)
    while room:
        piece = os.read(pipe, min(len(room), 1 << 20))
        if not piece:
            return None
        room[: len(piece)] = piece
        room = room[len(piece) :]
    return content


def _write(pipe: int, content: bytes) -> None:
    """Write a message to a pipe."""
    for part in (len(content).to_bytes(_SIZE_BYTES, "little"), content):
        rest = memoryview(part)
        while rest:
            rest = rest[os.write(pipe, rest) :]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def written_error(error: StudioError) -> bytes:
    plain = int | float | None
    values = {name: value if isinstance(value, plain) else str(value) for name, value in error.values.items()}
    return json.dumps([error.what_template, error.advice_template, values]).encode()


def read_error(content: bytes | memoryview) -> StudioError:
    """Return what `written_error` wrote."""
    what, advice, values = json.loads(bytes(content))
    return StudioError(what, advice, **values)
