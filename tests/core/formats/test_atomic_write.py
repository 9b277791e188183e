from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.core.formats.atomic_write import atomic_write, make_folder
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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
    with pytest.raises(StudioError, match=r"file\.txt cannot be written: .*What was there before is unchanged"):
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


def test_what_is_no_place_for_a_file_is_refused(tmp_path: Path) -> None:
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
    with pytest.raises(StudioError, match="cannot be made"):
        make_folder(tmp_path / "file" / "x")
