"""What child processes are given to do in the tests of the mechanism."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from wordpiece_studio.system.child_process import ParentConnection


def well(_connection: ParentConnection) -> None:
    """Do nothing."""


def badly(_connection: ParentConnection) -> None:
    """Report an error with values."""
    raise StudioError("It went badly in line {line}", "Fix it.", line=3)


def out_of_memory(_connection: ParentConnection) -> None:
    """Report that there is no memory."""
    raise MemoryError


def without_a_file(_connection: ParentConnection) -> None:
    """Report what the system says."""
    raise FileNotFoundError(2, "No such file")


def to_nobody(connection: ParentConnection) -> None:
    """Say something to a parent that is gone."""
    connection.send_bytes(b"x")


def echo(connection: ParentConnection, *arguments: object) -> None:
    """Send the arguments and then all that comes, until an empty message."""
    connection.send_bytes(b"a" + repr(arguments).encode())
    while message := connection.recv_bytes():
        connection.send_bytes(b"x" + message)


def chatter(connection: ParentConnection) -> None:
    """Write where others might expect messages, and read where they might come from."""
    print("from Python")  # noqa: T201
    os.write(1, b"from C\n")
    assert os.read(0, 10) == b""
    connection.send_bytes(b"x")


def interrupt_itself(connection: ParentConnection) -> None:
    """Get what Ctrl-C in a terminal sends to all its processes."""
    os.kill(os.getpid(), signal.SIGINT)
    connection.send_bytes(b"x")


def hang(connection: ParentConnection) -> None:
    """Say that it has begun, and then nothing for long."""
    connection.send_bytes(b"x")
    time.sleep(60)


def fail(_connection: ParentConnection) -> None:
    """Do what no one expects."""
    os._exit(7)
