"""Ctrl-C while modules are being loaded: an orderly end, at once."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

STOPPED = 130
"""The exit code of a program that was interrupted."""


@contextlib.contextmanager
def stopped_at_once() -> Iterator[None]:
    """While this holds, Ctrl-C ends the process with one line; unless somebody else handles it, or it is ignored.

    Modules that are being loaded may swallow an exception, or make another of it: the program would go on.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _stop(*_: object) -> None:
    with contextlib.suppress(OSError):
        os.write(2, b"wordpiece-studio: Stopped.\n")
    os._exit(STOPPED)
