"""Cases 56 to 61 and 63: what goes wrong while something is saved; and 74, a cache of kernels that is worth nothing."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.reliability.fault_layer import Faults, planted
from tests.reliability.faults import killed_at_each_call, swept
from tests.reliability.saves import NEW, OLD, Save, saves
from wordpiece_studio.compiled import kernel_cache
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.merge_table import write_merge_table
from wordpiece_studio.storage.vocab_txt import read_vocabulary, write_vocabulary
from wordpiece_studio.system.atomic_write import atomic_write, atomic_write_all
from wordpiece_studio.system.child import Stopped

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Told = Callable[[object], str]

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals, links and permissions of POSIX")
UNCHANGED = "Any existing file is unchanged."


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "vocab.txt"
    write_vocabulary(path, ["old"])
    return path


@pytest.fixture
def save() -> Save:
    return next(save for save in saves(20) if save.name == "vocab.txt")


@pytest.mark.slow
@POSIX
@pytest.mark.case(56)
@pytest.mark.parametrize("name", ["vocab.txt", "tokenizer.json", "corpus text"])
def test_killed_before_each_call_of_a_save(tmp_path: Path, told: Told, name: str) -> None:
    save = next(save for save in saves(20) if save.name == name)
    report = killed_at_each_call(save, tmp_path)
    assert report.faults == []
    assert report.points > 5
    assert report.outcomes.keys() == {"old", "new"}
    told(f"nothing: {name} is the old file or the new one, killed at {report.points} places")


@pytest.mark.case(57, 58)
@pytest.mark.parametrize(("code", "words"), [("ENOSPC", "No space left on device"), ("EIO", "Input/output error")])
def test_every_call_fails(save: Save, tmp_path: Path, told: Told, code: str, words: str) -> None:
    report = swept(save, tmp_path, [code])
    assert report.faults == []
    assert report.outcomes["old"] > 10
    (message,) = report.messages
    assert told(message).startswith(f"{tmp_path / 'vocab.txt'} cannot be written: {words}. {UNCHANGED}")


@POSIX
@pytest.mark.case(59)
def test_the_folder_is_removed_in_mid_save(target: Path, told: Told) -> None:
    def write(file: Any) -> None:
        file.write(b"half")
        shutil.rmtree(target.parent)

    with pytest.raises(StudioError) as raised:
        atomic_write_all({target: write})
    assert told(raised.value) == (
        f"{target} cannot be written: the folder {target.parent} does not exist. Save to another location."
    )


@POSIX
@pytest.mark.case(60)
@pytest.mark.parametrize("kind", ["folder", "device", "pipe"])
def test_the_target_is_no_file(tmp_path: Path, told: Told, kind: str) -> None:
    path = tmp_path / "vocab.txt"
    {"folder": path.mkdir, "device": lambda: path.symlink_to("/dev/null"), "pipe": lambda: os.mkfifo(path)}[kind]()
    with pytest.raises(StudioError) as raised:
        write_vocabulary(path, ["new"])
    name = "/dev/null" if kind == "device" else path
    assert told(raised.value) == f"{name} is not a regular file. Choose another name to save under."


@POSIX
@pytest.mark.case(60)
def test_the_target_is_a_link(target: Path) -> None:
    soft, hard = target.with_name("soft.txt"), target.with_name("hard.txt")
    soft.symlink_to(target.name)
    os.link(target, hard)
    write_vocabulary(soft, ["new"])
    assert soft.is_symlink()
    assert read_vocabulary(target) == ["new"]
    assert read_vocabulary(hard) == ["old"]  # another name of the old file: it stays what it was


@pytest.mark.case(60)
def test_the_target_is_write_protected(target: Path, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # a real one does not stop an administrator
    with pytest.raises(StudioError) as raised:
        atomic_write(target, b"new")
    assert told(raised.value) == f"{target} is write-protected. Choose another name to save under."
    assert read_vocabulary(target) == ["old"]


@POSIX
@pytest.mark.case(61)
def test_what_a_crash_left_is_cleared_by_the_next_save(save: Save, tmp_path: Path, told: Told) -> None:
    save.write(tmp_path, OLD)
    calls = killed_at_each_call(save, tmp_path)  # which looks after each kill that the next save clears everything
    assert calls.faults == []
    assert [path.name for path in tmp_path.iterdir()] == ["vocab.txt"]
    told("nothing: the next save takes away what the killed one left")


def _in_use(failures: int) -> Callable[..., None]:
    genuine = os.replace

    def replace(source: Path, destination: Path) -> None:
        nonlocal failures
        failures -= 1
        if failures >= 0:
            error = PermissionError(errno.EACCES, "The process cannot access the file")
            error.winerror = 32  # type: ignore[attr-defined]
            raise error
        genuine(source, destination)

    return replace


@pytest.mark.case(63)
def test_renaming_is_refused_for_a_step(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "replace", _in_use(4))
    write_vocabulary(target, ["new"])
    assert read_vocabulary(target) == ["new"]


@pytest.mark.case(63)
def test_renaming_is_refused_for_good(target: Path, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    monkeypatch.setattr(os, "replace", _in_use(99))
    with pytest.raises(StudioError) as raised:
        write_vocabulary(target, ["new"])
    assert told(raised.value) == (
        f"{target} cannot be replaced: it is open in another program (The process cannot access the file). Close it "
        "there, or save under another name. The existing file is unchanged."
    )
    assert 0.5 < sum(slept) < 3
    assert read_vocabulary(target) == ["old"]
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.case(69)
def test_a_save_that_is_not_wanted_any_more_changes_nothing(tmp_path: Path) -> None:
    from tests.reliability.saves import trained

    path = tmp_path / "merges.csv"
    write_merge_table(path, trained(OLD, 1200).history)
    before, asked = path.read_bytes(), iter([False])
    with pytest.raises(Stopped):
        write_merge_table(path, trained(NEW, 1200).history, should_stop=lambda: next(asked, True))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@POSIX
@pytest.mark.case(74)
def test_a_folder_for_kernels_that_others_may_write_to(
    tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(kernel_cache.platformdirs, "user_cache_path", lambda *_, **__: tmp_path / "cache")
    (tmp_path / "temporary").mkdir()
    kernel_cache.cache_folder("text")
    (tmp_path / "cache" / "kernels").chmod(0o777)  # as someone would have it who wants to put code there
    other = kernel_cache.cache_folder("text")
    assert other.is_relative_to(tmp_path / "temporary")
    other.parent.chmod(0o777)
    with pytest.raises(StudioError) as raised:
        kernel_cache.cache_folder("text")
    assert "The compiled kernels cannot be stored in" in told(raised.value)


@pytest.fixture
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's caches, and one of temporary files beside it."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(kernel_cache.platformdirs, "user_cache_path", lambda *_, **__: tmp_path / "cache")
    return tmp_path / "cache"


@pytest.mark.case(74)
def test_a_cache_that_cannot_be_written(caches: Path, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's refusal is made up: for an administrator, no folder is read-only."""
    really = kernel_cache._make_private

    def refuse(folder: Path) -> None:
        if folder.is_relative_to(caches):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(folder))
        really(folder)

    monkeypatch.setattr(kernel_cache, "_make_private", refuse)
    assert kernel_cache.cache_folder("text").is_relative_to(caches.parent / "temporary")
    told("nothing: the kernels are kept among the temporary files")


@POSIX
@pytest.mark.case(74)
def test_a_cache_that_someone_else_has_put_there(caches: Path, tmp_path: Path, told: Told) -> None:
    """Nothing is read from a folder that is a link to another one, or that others may write to."""
    poisoned = tmp_path / "poisoned"
    poisoned.mkdir(mode=0o700)
    folder = kernel_cache.cache_folder("text")
    folder.rmdir()
    folder.symlink_to(poisoned)
    assert kernel_cache.cache_folder("text").is_relative_to(tmp_path / "temporary")
    folder.unlink()
    folder.mkdir()
    folder.chmod(0o777)
    assert kernel_cache.cache_folder("text").is_relative_to(tmp_path / "temporary")
    told("nothing: it is not read, and the kernels are kept elsewhere")


@pytest.mark.case(74)
@pytest.mark.parametrize(
    "content", [b"", b"\x80\x04", b"cos\nsystem\n(S'exit 3'\n"], ids=["empty", "truncated", "junk"]
)
def test_a_damaged_cache_is_emptied_and_made_again(
    caches: Path, told: Told, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    file = kernel_cache.cache_folder("text") / "kernels"
    file.write_bytes(content)
    monkeypatch.setattr(kernel_cache, "_loaded", set())
    monkeypatch.setattr(kernel_cache, "_kernels_of", lambda _package: [])
    kernel_cache.load_kernels("text")
    assert file.read_bytes().startswith(hashlib.sha256(file.read_bytes()[32:]).digest())
    told("nothing: the kernels are compiled again")


def test_a_layer_that_lets_nothing_fail_changes_nothing(save: Save, tmp_path: Path) -> None:
    with planted(Faults()) as faults:
        save.write(tmp_path, NEW)
    assert save.which(tmp_path) == NEW
    assert "replace" in faults.calls
    assert sys.modules["os"].replace is os.replace
