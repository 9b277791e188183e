"""The compiled kernels come back whatever happened to their cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from wordpiece_studio.compiled import kernel_cache
from wordpiece_studio.errors import StudioError

SCRIPT = """
from wordpiece_studio.compiled import kernel_cache
before = kernel_cache.kernels_are_cached("text")
kernel_cache.load_kernels("text")
from wordpiece_studio.text.word_table import ChunkTable
table = ChunkTable()
table.add(b"a b a")
assert table.counts.tolist() == [2, 1]
assert kernel_cache.kernels_are_cached("text")
assert not kernel_cache.kernels_are_cached("training")
assert not kernel_cache.kernels_are_cached()
print(before, kernel_cache.cache_folder("text"))
"""


def load(cache: Path) -> tuple[bool, Path]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "LOCALAPPDATA": str(cache), "HOME": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True, timeout=300
    )
    before, folder = done.stdout.strip().split(" ", 1)
    return before == "True", Path(folder)


@pytest.mark.slow
def test_cached_then_damaged_then_cached_again(tmp_path: Path) -> None:
    was_cached, folder = load(tmp_path)
    assert not was_cached
    if os.name == "posix":
        assert folder.stat().st_mode & 0o077 == 0
    files = [path for path in folder.rglob("*") if path.suffix in {".nbi", ".nbc"}]
    assert files
    for path in files:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    was_cached, _ = load(tmp_path)
    assert was_cached
    assert all(path.stat().st_size for path in folder.rglob("*.nbi"))
    assert load(tmp_path)[0] is True


@pytest.mark.skipif(os.name != "posix", reason="how folders are protected")
def test_kernels_that_the_cache_cannot_hold_go_to_the_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(kernel_cache, "_loaded", set())
    monkeypatch.setattr(kernel_cache.platformdirs, "user_cache_path", lambda *_, **__: tmp_path / "cache")
    (tmp_path / "temporary").mkdir()
    kept = kernel_cache.cache_folder("text")
    assert kept.is_relative_to(tmp_path / "cache")
    (tmp_path / "cache" / "kernels").chmod(0o777)
    other = kernel_cache.cache_folder("text")
    assert other.is_relative_to(tmp_path / "temporary")
    assert other.stat().st_mode & 0o077 == 0
    assert kernel_cache.cache_folder("text") == other
    other.parent.chmod(0o777)
    assert not kernel_cache.kernels_are_cached()
    with pytest.raises(StudioError, match="The compiled kernels cannot be stored in"):
        kernel_cache.cache_folder("text")


def test_a_full_disk_keeps_no_new_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache.platformdirs, "user_cache_path", lambda *_, **__: tmp_path)
    folder = kernel_cache.cache_folder("text")
    monkeypatch.setattr(kernel_cache.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1, 1, 0))
    with pytest.raises(StudioError, match="Free about 20 MB"):
        kernel_cache.cache_folder("text")
    (folder / "complete").touch()
    assert kernel_cache.cache_folder("text") == folder


def test_all_are_cached_when_each_package_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache, "cache_folder", lambda package: tmp_path / package)
    monkeypatch.setattr(kernel_cache, "_loaded", set())
    assert not kernel_cache.kernels_are_cached()
    for number, package in enumerate(kernel_cache.KERNEL_PACKAGES, start=1):
        (tmp_path / package).mkdir()
        assert not kernel_cache.kernels_are_cached(package)
        (tmp_path / package / "complete").touch()
        assert kernel_cache.kernels_are_cached(package)
        assert kernel_cache.kernels_are_cached() is (number == len(kernel_cache.KERNEL_PACKAGES))


@pytest.mark.slow
@pytest.mark.parametrize("module", ["text.word_table", "tokenizer.compiled_encoder", "training.numba_engine"])
def test_what_needs_kernels_takes_them_from_the_cache_and_leaves_the_standard_streams_alone(module: str) -> None:
    """With colours, numba wraps and restores sys.stdout for every message that it makes, even for itself."""
    script = f"""
import sys
import wordpiece_studio.{module}
from numba.core.dispatcher import Dispatcher
from numba.core.errors import termcolor
from wordpiece_studio.compiled import kernel_cache
folders = [str(kernel_cache.cache_folder(package)) for package in kernel_cache.KERNEL_PACKAGES]
kernels = [
    kernel
    for name, loaded in list(sys.modules.items()) if name.startswith("wordpiece_studio.")
    for kernel in vars(loaded).values() if isinstance(kernel, Dispatcher)
]
print(len(kernels) > 3, {{kernel.stats.cache_path.startswith(tuple(folders)) for kernel in kernels}})
print(type(termcolor()).__name__)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout == "True {True}\nNOPColorScheme\n"


def test_the_same_sources_in_another_place_are_compiled_separately(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What numba compiled is found by the place of the source too: it would compile it in the window's process."""
    house = Path(kernel_cache.__file__).parents[1]
    for name in ("compiled/kernels.py", "training/logarithm.py", "training/kernels", "text/kernels"):
        copy = shutil.copytree if (house / name).is_dir() else shutil.copy
        (tmp_path / name).parent.mkdir(exist_ok=True)
        copy(house / name, tmp_path / name)
    here = kernel_cache.cache_folder("training")
    monkeypatch.setattr(kernel_cache, "__file__", str(tmp_path / "compiled" / "kernel_cache.py"))
    assert kernel_cache.cache_folder("training") != here
