"""A layer between the program and the operating system in which chosen calls fail. Not here: which, and what then.

Counted are the calls that saving makes from Python: opening for writing, every write, fsync, close, and all that
changes names or permissions. What C code writes by itself (SQLite) is not seen; `shim` is for that.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NAMED = ("replace", "rename", "link", "unlink", "remove", "fsync", "fchmod", "chmod", "mkdir", "open", "write")
CLEANING = {"unlink", "remove"}
SHORT = -1
"""In the place of an error code: half of what is to be written is written, and afterwards the disk is full."""


@dataclass
class Faults:
    """Which calls fail.

    Attributes
    ----------
    first
        The number of the first that fails, from 1; 0 for none.
    code
        With which `errno`, or `SHORT`, which only means writes.
    for_good
        Whether all later ones fail too.
    spares_cleaning
        Whether removing files works all the same, as it does on a full disk.
    on_fault
        Called in the place of a failing call, if there is one.
    calls
        The names of the calls so far.
    """

    first: int = 0
    code: int = errno.EIO
    for_good: bool = False
    spares_cleaning: bool = True
    on_fault: Callable[[], None] | None = None
    calls: list[str] = field(default_factory=list)
    has_struck: bool = False

    def meet(self, name: str) -> bool:
        """Count a call; raise if it is to fail, and return whether only half of it is to be written."""
        self.calls.append(name)
        number = len(self.calls)
        if not self.first or number < self.first or (number > self.first and not self.for_good):
            return False
        if self.for_good and number > self.first and self.spares_cleaning and name in CLEANING:
            return False
        if self.on_fault is not None:
            self.on_fault()
        code = self.code
        if code == SHORT:
            if number == self.first and name == "write":
                self.has_struck = True
                return True
            if not self.has_struck:
                return False
            code = errno.ENOSPC
        self.has_struck = True
        raise OSError(code, os.strerror(code))


class _Raw(io.FileIO):
    """A file whose writes and whose closing go through the layer."""

    faults: Faults

    def write(self, data: Any, /) -> int:
        view = memoryview(data).cast("B")
        if self.faults.meet("write"):
            view = view[: max(1, len(view) // 2)]
        return super().write(view)

    def close(self) -> None:
        was_open = not self.closed
        super().close()
        if was_open:
            self.faults.meet("close")


@contextmanager
def planted(faults: Faults) -> Iterator[Faults]:
    """Let the calls in this process go through `faults`."""
    genuine = {name: getattr(os, name) for name in (*NAMED, "fdopen", "close")}
    genuine_open = builtins.open

    def through(name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if name == "open" and not args[1] & (os.O_WRONLY | os.O_RDWR):
                return genuine[name](*args, **kwargs)
            if faults.meet(name):
                args = (args[0], args[1][: max(1, len(args[1]) // 2)])
            return genuine[name](*args, **kwargs)

        return call

    def fdopen(descriptor: int, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if mode not in ("wb", "w+b"):
            return genuine["fdopen"](descriptor, mode, *args, **kwargs)
        raw = _Raw(descriptor, mode)
        raw.faults = faults
        return io.BufferedRandom(raw) if raw.readable() else io.BufferedWriter(raw)

    def open_(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if not set(mode) & set("wax+"):
            return genuine_open(file, mode, *args, **kwargs)
        faults.meet("open")
        if mode != "wb" or args or kwargs:
            return genuine_open(file, mode, *args, **kwargs)
        raw = _Raw(file, "wb")
        raw.faults = faults
        return io.BufferedWriter(raw)

    for name in NAMED:
        setattr(os, name, through(name))
    os.fdopen = fdopen
    builtins.open = io.open = open_
    try:
        yield faults
    finally:
        for name, function in genuine.items():
            setattr(os, name, function)
        builtins.open = io.open = genuine_open
