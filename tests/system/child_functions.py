"""What child processes are given to do in the tests of the mechanism."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import time
from typing import TYPE_CHECKING

from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def echo(*arguments: object, **keywords: object) -> object:
    return (*arguments, keywords)


def fail_badly() -> None:
    raise StudioError("It went badly in line {line}", "Fix it.", line=3)


def run_out_of_memory() -> None:
    raise MemoryError


def miss_a_file() -> None:
    raise FileNotFoundError(2, "No such file")


def divide(number: int) -> float:
    return 1 / number


def chatter() -> bytes:
    """Write where others might expect messages, and read where they might come from."""
    print("from Python")  # noqa: T201
    os.write(1, b"from C\n")
    return os.read(0, 10)


def interrupt_itself() -> str:
    """Get what Ctrl-C in a terminal sends to all its processes."""
    os.kill(os.getpid(), signal.SIGINT)
    return "still here"


def leave_garbage() -> None:
    cycle: list[object] = []
    cycle.append(cycle)


def frozen_objects() -> int:
    return gc.get_freeze_count()


def hang() -> None:
    time.sleep(60)


def crash() -> None:
    ctypes.string_at(0)


def exit_early() -> None:
    os._exit(7)


def kill_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def count_until_stopped(*, progress: Callable[[int, str], None], should_stop: Callable[[], bool]) -> int:
    """Report as often as possible, and return how often."""
    count = 0
    while not should_stop():
        count += 1
        progress(count, "counted")
    return count


def report_many(most: int, *, progress: Callable[[int], None]) -> int:
    for number in range(most):
        progress(number)
    return most


def report_and_hang(most: int, *, progress: Callable[[int], None]) -> None:
    report_many(most, progress=progress)
    hang()


def letters(text: str) -> Iterator[str]:
    yield from text
    return len(text)


def cannot_return() -> object:
    return lambda: None


def speak_nonsense() -> None:
    """Write to the pipe of the answers, whichever that is."""
    for descriptor in range(3, 10):
        try:
            os.write(descriptor, b"hello, this is no message at all")
        except OSError:
            continue
    hang()
