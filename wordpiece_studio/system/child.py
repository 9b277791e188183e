"""Child processes: one calls functions for its parent, one after another, reports progress, and never outlives it.

It is a new interpreter that loads only what the functions need: not the parent's program, and not the user's own
script. Both sides run our code and trust each other: requests and answers are pickles, here and nowhere else, and
nothing that comes from a file is one. Arrays travel beside the pickle, uncopied.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import inspect
import json
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Literal, Self

from wordpiece_studio.errors import StudioError
from wordpiece_studio.stopping import finished, undo_if_stopped

if TYPE_CHECKING:
    State = Literal["running", "paused", "stopped", "canceled"]

_log = logging.getLogger(__name__)

POLL_SECONDS = 0.05
# The argument that makes the stand-alone program a child: there, `sys.executable` is the program itself.
SERVE = "--serve-parent"
_END_SECONDS = 5.0
_ORPHAN_EXIT_CODE = 3
_NICER = 5
_SIZE_BYTES = 8
_SMALL = 1 << 16
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
    "from wordpiece_studio.system.child import serve; serve()\n"
)
_CALL, _STATE, _PROGRESS, _PART, _ANSWER, _ERROR = b"c", b"s", b"p", b"i", b"a", b"e"


class Stopped(Exception):
    """The caller's `should_stop` returned True, and the function that was called has no such parameter."""


class ChildDied(StudioError):
    """The child ended before it answered."""


class CannotSend(Exception):
    """A function or its arguments cannot be pickled: they are the user's own."""


class Control:
    """Pauses and stops work from another thread. Called, it is the work's `should_stop`, and waits while paused."""

    def __init__(self) -> None:
        self.state: State = "running"
        self.when_canceled: Callable[[], object] = bool
        self._may_go_on = threading.Event()
        self._may_go_on.set()

    def set(self, state: State) -> None:
        if self.state in ("running", "paused") or state == "canceled":
            self.state = state
            (self._may_go_on.clear if state == "paused" else self._may_go_on.set)()
        if state == "canceled":
            self.when_canceled()

    @property
    def is_canceled(self) -> bool:
        return self.state == "canceled"

    def __call__(self) -> bool:
        self._may_go_on.wait()
        return self.state in ("stopped", "canceled")


class Child:
    """The parent's end of a child process, to be used by one thread at a time.

    If the child dies, `failure` and `values` make the `StudioError`. `OSError` if the system cannot start a process.

    >>> from math import factorial
    >>> with Child("The number cannot be computed") as child:
    ...     child.call(factorial, 5)
    120
    """

    def __init__(self, failure: str, *, low_priority: bool = False, **values: object) -> None:
        self._failure, self._values = failure, values
        self._low_priority = low_priority
        self._inbox: SimpleQueue[list[bytearray] | None] = SimpleQueue()  # None at the end
        self._is_nonsense = False
        self._is_killed = False
        is_frozen = getattr(sys, "frozen", False)
        self._process = process = subprocess.Popen(
            [sys.executable, SERVE] if is_frozen else [sys.executable, "-P", "-c", _BOOTSTRAP, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        assert process.stdin is not None
        assert process.stdout is not None
        self._to_child, self._from_child = process.stdin, process.stdout
        self.pid = process.pid
        undo_if_stopped(self, self._process.kill)  # it exits by itself, unless it hangs
        self._listener = threading.Thread(target=self._listen, daemon=True, name=f"messages of {self.pid}")
        self._listener.start()

    @property
    def is_dead(self) -> bool:
        return self._is_killed or self._process.poll() is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.end()

    def call(self, function: Callable[..., Any], *arguments: object, **keywords: Any) -> Any:
        parts = self.parts(function, *arguments, **keywords)
        while True:
            try:
                next(parts)
            except StopIteration as end:
                return end.value

    def parts(
        self,
        function: Callable[..., Any],
        *arguments: object,
        progress: Callable[..., object] | None = None,
        should_stop: Callable[[], bool] | None = None,
        **keywords: object,
    ) -> Generator[Any, None, Any]:
        """Call a function at the top level of a module; yield what it yields, if it is a generator; return its answer.

        If the function has the parameters `progress` and `should_stop`, the child gives it its own: of many calls of
        the first, the newest arrive here; what the second returns here, or a `Control`, is told there. A function
        without the second is ended, and its child with it. What the function raises is raised here.
        """
        can_stop = takes(function, "should_stop")
        try:
            request = _pickled(_CALL, (function, arguments, keywords, self._low_priority))
        except StudioError:  # what it is about must not be sent
            raise
        except Exception as error:  # pickling raises whatever the objects' own methods raise
            raise CannotSend(str(error)) from error
        told, is_over = "running", False
        if isinstance(should_stop, Control):
            should_stop.when_canceled = self.kill
        try:
            self._send(request, should_stop)
            while True:
                state = _state_of(should_stop)
                if state == "canceled" or (state == "stopped" and not can_stop):
                    raise Stopped
                if state != told:
                    self._send(_pickled(_STATE, told := state), should_stop)
                try:
                    message = self._inbox.get(timeout=POLL_SECONDS)
                except Empty:
                    continue
                kind, value = self._read(message, should_stop)
                if kind == _PART:
                    yield value
                elif kind == _PROGRESS and progress is not None:
                    progress(*value)
                elif kind in (_ANSWER, _ERROR):
                    is_over = True
                    if kind == _ERROR:
                        raise value
                    return value
        finally:
            if isinstance(should_stop, Control):
                should_stop.when_canceled = bool
            if not is_over:
                self.kill()  # it may be busy for long with what is not wanted any more

    def kill(self) -> None:
        self._is_killed = True
        self._process.kill()

    def end(self) -> None:
        self.kill()
        self._to_child.close()
        self._process.wait()
        self._listener.join()
        self._from_child.close()
        finished(self)

    def _send(self, message: Sequence[bytes | memoryview], should_stop: object) -> None:
        try:
            _write(self._to_child.fileno(), message)
        except (OSError, ValueError) as error:  # the pipe is broken, or closed
            raise self._death(should_stop) from error

    def _read(self, message: list[bytearray] | None, should_stop: object) -> tuple[bytes, Any]:
        if message is None:
            self._inbox.put(None)  # it stays dead
            raise self._death(should_stop)
        try:
            return bytes(message[0]), pickle.loads(message[1], buffers=message[2:])
        except Exception as error:
            self._is_nonsense = True
            self.kill()
            raise self._death(should_stop) from error

    def _death(self, should_stop: object) -> StudioError | Stopped:
        self._is_killed = True
        if isinstance(should_stop, Control) and should_stop.is_canceled:
            return Stopped()
        code = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(_END_SECONDS)
        _log.info("process %s ended with exit code %s", self.pid, code)
        if self._is_nonsense:
            return ChildDied(self._failure, "The background process sent invalid data. Try again.", **self._values)
        if code is not None and code < 0:
            name = next((each.name for each in signal.Signals if each == -code), str(-code))
            return ChildDied(self._failure, _KILLED, **self._values, signal=name)
        return ChildDied(self._failure, _EXITED, **self._values, code=code)

    def _listen(self) -> None:
        try:
            while message := _received(self._from_child.fileno()):
                self._inbox.put(message)
        except (MemoryError, OverflowError):  # something else wrote to the pipe: that is no size
            self._is_nonsense = True
            self._process.kill()
        self._inbox.put(None)


@functools.lru_cache(100)
def takes(function: Callable[..., Any], parameter: str) -> bool:
    try:
        return parameter in inspect.signature(function).parameters
    except ValueError:  # one in C says nothing
        return False


def serve() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = _Parent(*_own_pipes())
    while True:
        parent.serve_one()


class _Parent:
    def __init__(self, incoming: int, outgoing: int) -> None:
        self._outgoing = outgoing
        self._requests: SimpleQueue[list[bytearray]] = SimpleQueue()
        self._control = Control()
        self._sending = threading.Lock()
        self._progress: tuple[object, ...] | None = None
        self._has_progress = threading.Event()
        self._is_low = self._is_warm = False
        threading.Thread(target=self._listen, args=(incoming,), daemon=True, name="messages of the parent").start()
        threading.Thread(target=self._send_progress, daemon=True, name="progress").start()

    def serve_one(self) -> None:
        request = self._requests.get()
        try:
            answer = _ANSWER, self._called(request)
        except Exception as error:
            answer = _ERROR, _sendable(error)
        with self._sending, contextlib.suppress(OSError):  # the parent may be gone
            self._progress = None
            try:
                message = _pickled(*answer)
            except Exception as error:
                message = _pickled(_ERROR, _sendable(error))
            _write(self._outgoing, message)

    def _called(self, request: list[bytearray]) -> object:
        gc.disable()  # loading creates many objects and no garbage
        function, arguments, keywords, is_low = pickle.loads(request[1], buffers=request[2:])
        if not self._is_warm:  # later there may be garbage
            self._is_warm = True
            gc.freeze()
        gc.enable()
        if is_low and not self._is_low:
            self._is_low = True
            _lower_priority()
        own = {"progress": self._report, "should_stop": self._control}
        keywords |= {name: value for name, value in own.items() if takes(function, name)}
        found = function(*arguments, **keywords)
        return self._end_of(found) if isinstance(found, Generator) else found

    def _end_of(self, parts: Generator[Any, None, Any]) -> object:
        while True:
            try:
                part = _pickled(_PART, next(parts))
            except StopIteration as end:
                return end.value
            with self._sending:
                _write(self._outgoing, part)

    def _report(self, *progress: object) -> None:
        self._progress = progress
        self._has_progress.set()

    def _send_progress(self) -> None:
        while self._has_progress.wait():
            self._has_progress.clear()
            with self._sending, contextlib.suppress(OSError):
                if self._progress is not None:
                    _write(self._outgoing, _pickled(_PROGRESS, self._progress))
            threading.Event().wait(POLL_SECONDS)

    def _listen(self, incoming: int) -> None:
        """Receive messages, and end this process when the parent has gone, for whatever reason."""
        while message := _received(incoming):
            if message[0] == _STATE:
                self._control.set(pickle.loads(message[1]))
            else:
                self._control = Control()
                self._requests.put(message)
        os._exit(_ORPHAN_EXIT_CODE)


def _state_of(should_stop: Callable[[], bool] | None) -> State:
    if isinstance(should_stop, Control):
        return should_stop.state
    return "stopped" if should_stop is not None and should_stop() else "running"


def _sendable(error: Exception) -> Exception:
    if isinstance(error, MemoryError):
        return StudioError("There is not enough memory", "Close other programs.")
    if isinstance(error, OSError):
        return StudioError("{reason}", reason=str(error))
    if isinstance(error, StudioError):
        plain = int | float | None
        error.values = {name: each if isinstance(each, plain) else str(each) for name, each in error.values.items()}
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _lower_priority() -> None:
    if hasattr(os, "nice"):
        os.nice(_NICER)
    else:
        import psutil

        psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)


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


def _pickled(kind: bytes, content: object) -> list[bytes | memoryview]:
    arrays: list[pickle.PickleBuffer] = []
    return [kind, pickle.dumps(content, 5, buffer_callback=arrays.append), *(array.raw() for array in arrays)]


def _write(pipe: int, message: Sequence[bytes | memoryview]) -> None:
    numbers = len(message), *(memoryview(part).nbytes for part in message)
    parts = [b"".join(number.to_bytes(_SIZE_BYTES, "little") for number in numbers), *message]
    for part in [b"".join(parts)] if sum(numbers) < _SMALL else parts:  # at once, if it is cheap to join
        rest = memoryview(part)
        while rest:
            rest = rest[os.write(pipe, rest) :]


def _received(pipe: int) -> list[bytearray] | None:
    number = _read_exactly(pipe, _SIZE_BYTES)
    sizes = None if number is None else _read_exactly(pipe, _SIZE_BYTES * int.from_bytes(number, "little"))
    if sizes is None:
        return None
    parts = []
    for start in range(0, len(sizes), _SIZE_BYTES):
        part = _read_exactly(pipe, int.from_bytes(sizes[start : start + _SIZE_BYTES], "little"))
        if part is None:
            return None
        parts.append(part)
    return parts


def _read_exactly(pipe: int, size: int) -> bytearray | None:
    content = bytearray(size)
    room = memoryview(content)
    while room:
        piece = os.read(pipe, min(len(room), 1 << 20))
        if not piece:
            return None
        room[: len(piece)] = piece
        room = room[len(piece) :]
    return content
