from __future__ import annotations

import errno
import os
import re
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.atomic_write import (
    atomic_write,
    atomic_write_all,
    is_gone,
    make_folder,
    temporary_path,
    written_together,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import BinaryIO

POSIX = pytest.mark.skipif(os.name != "posix", reason="POSIX permissions and links")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "file.txt"
    path.write_bytes(b"old")
    return path


def test_a_file_is_made_and_replaced(tmp_path: Path) -> None:
    target = tmp_path / "new.txt"
    for data in (b"one", b"", b"\r\n\0" * 1_000_000):
        atomic_write(target, data)
        assert target.read_bytes() == data
    assert list(tmp_path.iterdir()) == [target]


def test_what_is_large_is_written_by_a_function(target: Path) -> None:
    def write(file: BinaryIO) -> None:
        file.write(b"??? new")
        file.seek(0)
        file.write(b"all")

    atomic_write_all({target: write})
    assert target.read_bytes() == b"all new"

    def fail(file: BinaryIO) -> None:
        file.write(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(StudioError, match=r"file\.txt cannot be written: No space left"):
        atomic_write_all({target: fail})
    assert target.read_bytes() == b"all new"
    assert list(target.parent.iterdir()) == [target]


@POSIX
def test_permissions_are_kept_and_new_files_get_the_usual_ones(target: Path) -> None:
    target.chmod(0o640)
    atomic_write(target, b"new")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    plain = target.with_name("plain")
    plain.touch()
    atomic_write(target.with_name("made"), b"")
    assert target.with_name("made").stat().st_mode == plain.stat().st_mode


@POSIX
def test_a_link_stays_a_link(target: Path) -> None:
    link = target.with_name("link")
    link.symlink_to(target.name)
    atomic_write(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.parametrize("name", ["write", "flush", "fchmod", "fsync", "replace", "open"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EACCES])
def test_whatever_fails_the_old_file_stays(target: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: int) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    if name in ("write", "flush"):
        genuine: Callable[..., object] = os.fdopen

        def fdopen(*args: object) -> object:
            file = genuine(*args)
            return _Failing(file, name, fail)

        monkeypatch.setattr(os, "fdopen", fdopen)
    else:
        monkeypatch.setattr(os, name, fail)
    with pytest.raises(StudioError, match=r"file\.txt cannot be written: .*Any existing file is unchanged"):
        atomic_write(target, b"new")
    monkeypatch.undo()
    assert target.read_bytes() == b"old"
    assert list(target.parent.iterdir()) == [target]


class _Failing:
    """A file one of whose methods fails."""

    def __init__(self, file: object, name: str, fail: Callable[..., None]) -> None:
        self._file = file
        setattr(self, name, fail)

    def __enter__(self) -> _Failing:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)


@POSIX
def test_a_real_full_disk_keeps_the_old_file(target: Path) -> None:
    import resource

    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    import signal

    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, old[1]))
    try:
        with pytest.raises(StudioError, match="cannot be written"):
            atomic_write(target, b"x" * 2_000_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert target.read_bytes() == b"old"
    assert list(target.parent.iterdir()) == [target]


class Replacing:
    """Counts the calls of `os.replace` and makes some fail."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, failing: set[int], error: BaseException) -> None:
        self._genuine: Callable[..., None] = os.replace
        self._failing = failing
        self._error = error
        self.calls = 0
        monkeypatch.setattr(os, "replace", self)

    def __call__(self, *paths: object) -> None:
        self.calls += 1
        if self.calls in self._failing:
            raise self._error
        self._genuine(*paths)


@pytest.mark.parametrize("error", [OSError(errno.EACCES, "no"), KeyboardInterrupt()])
@pytest.mark.parametrize("has_links", [True, False])
def test_when_one_replacement_fails_those_before_are_restored(
    target: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, has_links: bool
) -> None:
    def no_link(*_: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    if not has_links:
        monkeypatch.setattr(os, "link", no_link)
    new, last = target.with_name("new"), target.with_name("last")
    last.write_bytes(b"old too")
    Replacing(monkeypatch, {3}, error)
    with pytest.raises((StudioError, KeyboardInterrupt)) as raised:
        atomic_write_all({target: b"1", new: b"2", last: b"3"})
    assert isinstance(raised.value, KeyboardInterrupt) or "last cannot be written: no" in str(raised.value)
    assert (target.read_bytes(), last.read_bytes()) == (b"old", b"old too")
    assert sorted(target.parent.iterdir()) == [target, last]


def test_files_that_cannot_be_restored_are_reported_and_kept(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Replacing(monkeypatch, {2, 3}, OSError(errno.EACCES, "no"))
    with pytest.raises(StudioError, match=r"file\.txt could not be restored.* The previous versions are in ") as raised:
        atomic_write_all({target: b"1", target.with_name("last"): b"2"})
    (kept,) = (path for path in target.parent.iterdir() if path != target)
    assert str(kept) in str(raised.value)
    assert kept.read_bytes() == b"old"


def test_what_a_killed_save_left_is_removed_by_the_next(target: Path) -> None:
    code = f"""
import os, sys
from pathlib import Path
from wordpiece_studio.system.atomic_write import atomic_write
os.replace = lambda *_: os._exit(9)
atomic_write({str(target)!r}, b"new")
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    (left,) = (path for path in target.parent.iterdir() if path != target)
    own = temporary_path(target)  # of a process that lives
    elsewhere = left.with_name(re.sub(r"-[0-9a-f]{8}-", "-00000000-", left.name))  # of another computer
    others = [own, elsewhere, left.with_name(f"x{left.name}"), left.with_name(".file.txt.1.tmp")]
    for path in others:
        path.touch()
    atomic_write(target, b"newer")
    assert target.read_bytes() == b"newer"
    assert sorted(target.parent.iterdir()) == sorted([target, *others])


def test_a_process_is_gone_only_when_that_is_certain() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert not is_gone(process.pid)
        process.communicate(b"\n")
    assert is_gone(process.pid)
    assert not is_gone(os.getpid())
    if os.name == "posix":
        assert not is_gone(1)
    assert not is_gone(10**10) or os.name != "posix"


def test_invalid_targets_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(StudioError, match="not a regular file"):
        atomic_write(tmp_path, b"")
    with pytest.raises(StudioError, match="cannot be written"):
        atomic_write(tmp_path / "no" / "file", b"")
    if os.name == "posix":
        with pytest.raises(StudioError, match="not a regular file"):
            atomic_write("/dev/null", b"")


def test_folders_are_made(tmp_path: Path) -> None:
    assert make_folder(tmp_path / "a" / "b").is_dir()
    assert make_folder(tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").touch()
    with pytest.raises(StudioError, match="is a file, not a folder"):
        make_folder(tmp_path / "file")
    with pytest.raises(StudioError, match="cannot be created"):
        make_folder(tmp_path / "file" / "x")


def test_a_folder_that_was_not_there_is_not_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    folder = tmp_path / "a" / "b"
    with monkeypatch.context() as faults:
        faults.setattr(os, "fsync", full)
        with pytest.raises(StudioError, match="unchanged"):
            atomic_write_all({folder / "one": b"1", folder / "two": b"2"}, folder=folder)
        assert list(tmp_path.iterdir()) == []
        with pytest.raises(StudioError, match="unchanged"), written_together():
            atomic_write_all({folder / "one": b"1"}, folder=folder)
        assert list(tmp_path.iterdir()) == []
    atomic_write_all({folder / "one": b"1"}, folder=folder)
    assert [path.name for path in folder.iterdir()] == ["one"]
    with pytest.raises(StudioError), written_together():
        atomic_write_all({folder / "two": b"2", tmp_path: b""}, folder=folder)
    assert [path.name for path in folder.iterdir()] == ["one"]
