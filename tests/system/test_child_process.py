"""How a child process ends its work: what it says, and that it says nothing to a parent that is gone."""

from __future__ import annotations

import multiprocessing
import signal
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system import child_process

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection


def well(_connection: Connection) -> None:
    """Do nothing."""


def badly(_connection: Connection) -> None:
    raise StudioError("It went badly")


def out_of_memory(_connection: Connection) -> None:
    raise MemoryError


def to_nobody(connection: Connection) -> None:
    connection.send_bytes(b"x")


@pytest.fixture
def _kept_signals() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_kept_signals")
@pytest.mark.parametrize("work", [well, badly, out_of_memory, to_nobody])
def test_a_child_whose_parent_is_gone_ends_without_a_word(monkeypatch: pytest.MonkeyPatch, work: object) -> None:
    ours, theirs = multiprocessing.Pipe()
    lifeline, parents_end = multiprocessing.Pipe(duplex=False)
    monkeypatch.setattr(child_process, "_watch", lambda _lifeline: None)  # it would end this process
    ours.close()
    with theirs, lifeline, parents_end:
        child_process._run_in_child(lifeline, theirs, __name__, work.__name__, ())
