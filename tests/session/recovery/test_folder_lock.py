from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.session import recovery_store
from wordpiece_studio.session.recovery_store import FolderLock

if TYPE_CHECKING:
    from pathlib import Path

TAKE_AND_WAIT = """
import sys, pathlib
from wordpiece_studio.session.recovery_store import FolderLock
lock = FolderLock(pathlib.Path(sys.argv[1]))
print(lock.take(), flush=True)
sys.stdin.read()
"""


def test_only_one_has_it(tmp_path: Path) -> None:
    one, other = FolderLock(tmp_path), FolderLock(tmp_path)
    assert one.take()
    assert one.take()
    assert not other.take()
    one.release()
    one.release()
    assert other.take()
    other.release()


def test_a_killed_process_has_it_no_longer(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TAKE_AND_WAIT, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        lock = FolderLock(tmp_path)
        assert not lock.take()
        holder.kill()
        holder.wait()
        assert lock.take()
        lock.release()


def test_where_there_are_no_locks_the_process_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(_descriptor: int) -> bool:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(recovery_store, "_lock", no_locks)
    one, other = FolderLock(tmp_path), FolderLock(tmp_path)
    assert one.take()
    assert not other.take()
    monkeypatch.setattr(recovery_store, "is_gone", lambda pid: pid > 0)
    assert other.take()
    one.release()
    other.release()


def test_without_a_folder_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FolderLock(tmp_path / "nowhere").take()
