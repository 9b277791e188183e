"""What child processes are given to do in the tests of their ends."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wordpiece_studio.system.child_process import ParentConnection


def sleep(connection: ParentConnection, seconds: float) -> None:
    """Say that it has begun, and then nothing for long."""
    connection.send_bytes(b"b")
    time.sleep(seconds)
