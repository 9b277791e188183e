"""What every command shares: printing, warnings, a progress bar, and standard input."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from wordpiece_studio.corpus.files import unreadable
from wordpiece_studio.errors import StudioError
from wordpiece_studio.stopping import finished, undo_if_stopped
from wordpiece_studio.system.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import BufferedIOBase

    from rich.progress import TaskID

    Report = Callable[[str, int, int | None], None]

PROGRAM = "wordpiece-studio"


_CLEAR, _CLEAR_ABOVE = b"\r\x1b[2K\x1b[?25h", b"\x1b[1A\x1b[2K"  # also shows the cursor, which the bars hide


class OutputClosed(Exception):
    """The reader of our output has closed it, as in ``| head``."""


def print_line(text: str) -> None:
    """Print a line of the result."""
    try:
        sys.stdout.write(text + "\n")
    except BrokenPipeError:
        raise OutputClosed from None  # typer would end the program with an error


def warn(text: str) -> None:
    """Print a line on stderr."""
    sys.stderr.write(f"{PROGRAM}: {printable(text)}\n")


def stdin() -> BufferedIOBase:
    """Return standard input.

    Raises
    ------
    StudioError
        If it is closed.
    """
    if sys.stdin is None:  # closed by the parent process
        raise StudioError("There is nothing to read: stdin is closed", "Name a file or give a text instead.")
    return cast("BufferedIOBase", sys.stdin.buffer)


def is_stream(files: list[str]) -> bool:
    """Return whether the argument is ``-`` or a pipe, such as the shell makes of ``<(…)``, instead of a list of files.

    Raises
    ------
    StudioError
        If standard input is one of several.
    """
    if "-" in files and len(files) > 1:
        raise StudioError("Stdin cannot be combined with files", "Write the text to a file and name it.")
    return files == ["-"] or (len(files) == 1 and Path(files[0]).is_fifo())


@contextmanager
def opened_bytes(name: str) -> Iterator[BufferedIOBase]:
    """Open a pipe for the duration of the block; ``-`` is standard input.

    Raises
    ------
    StudioError
        If standard input is closed, or the pipe cannot be opened.
    """
    if name == "-":
        yield stdin()
        return
    try:
        pipe = open(name, "rb")
    except OSError as error:
        raise unreadable(name, error) from error
    with pipe:
        yield pipe


@contextmanager
def progress(*, of_bytes: bool = False) -> Iterator[Report]:
    """Show a progress bar on stderr during the block, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    amount = DownloadColumn() if of_bytes else TaskProgressColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), amount, TimeRemainingColumn())
    console = Console(file=sys.stderr)
    tasks: dict[str, TaskID] = {}

    def clear() -> None:
        if not (console.is_dumb_terminal or console.legacy_windows):
            os.write(sys.stderr.fileno(), _CLEAR + _CLEAR_ABOVE * (len(tasks) - 1))

    undo_if_stopped(console, clear)
    with Progress(*columns, console=console, transient=True) as bars:

        def report(what: str, done: int, total: int | None) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what)
            bars.update(tasks[what], completed=done, total=total)

        yield report
    finished(console)
