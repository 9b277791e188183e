"""The compiled kernels come back whatever happened to their cache."""

from __future__ import annotations

import copy
import os
import pickle
import shutil
import subprocess
import sys
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import pytest

from wordpiece_studio.compiled import kernel_cache
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from pathlib import Path

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


@pytest.mark.slow
def test_damaged_then_cached_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel_cache.load_kernels("text")
    whole = (kernel_cache.cache_folder("text") / "kernels").read_bytes()
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    folder = kernel_cache.cache_folder("text")
    assert folder.is_relative_to(tmp_path)
    if os.name == "posix":
        assert folder.stat().st_mode & 0o077 == 0
    file = folder / "kernels"
    file.write_bytes(whole[: len(whole) // 2])
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.strip() == f"True {folder}"
    assert file.stat().st_size == len(whole)


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
    (folder / "kernels").touch()
    assert kernel_cache.cache_folder("text") == folder


def test_all_are_cached_when_each_package_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache, "cache_folder", lambda package: tmp_path / package)
    monkeypatch.setattr(kernel_cache, "_loaded", set())
    assert not kernel_cache.kernels_are_cached()
    for number, package in enumerate(kernel_cache.KERNEL_PACKAGES, start=1):
        (tmp_path / package).mkdir()
        assert not kernel_cache.kernels_are_cached(package)
        (tmp_path / package / "kernels").touch()
        assert kernel_cache.kernels_are_cached(package)
        assert kernel_cache.kernels_are_cached() is (number == len(kernel_cache.KERNEL_PACKAGES))


@pytest.mark.slow
@pytest.mark.parametrize("module", ["text.word_table", "tokenizer.compiled_encoder", "training.numba_engine"])
def test_what_needs_kernels_takes_them_from_the_cache(module: str) -> None:
    script = f"import sys, wordpiece_studio.{module}; print({{'llvmlite', 'numba'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout == "{'llvmlite'}\n"


@pytest.mark.slow
def test_compiling_leaves_the_standard_streams_alone() -> None:
    """With colours, numba wraps and restores sys.stdout for every message that it makes, even for itself."""
    script = """
import wordpiece_studio.compiled.kernel_compiler
from numba.core.errors import termcolor
print(type(termcolor()).__name__)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout == "NOPColorScheme\n"


def test_machine_code_is_not_read_if_it_is_damaged_or_for_another_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "kernels"
    assert kernel_cache._read(file) is None
    code = kernel_cache._target() + b"code"
    kernel_cache._write(file, code)
    assert [path.name for path in tmp_path.iterdir()] == ["kernels"]
    assert kernel_cache._read(file) == code
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_name", lambda: "another")
    assert kernel_cache._read(file) is None
    monkeypatch.undo()
    file.write_bytes(file.read_bytes()[:-1])
    assert kernel_cache._read(file) is None


def test_a_numba_that_cannot_compile_them_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache, "cache_folder", lambda _package: tmp_path)
    monkeypatch.setattr(kernel_cache, "_loaded", set())
    monkeypatch.setitem(sys.modules, "wordpiece_studio.compiled.kernel_compiler", ModuleType("another"))
    with pytest.raises(StudioError, match=r"cannot be compiled with numba \d.* Install numba \d"):
        kernel_cache.load_kernels("text")
    assert not kernel_cache.kernels_are_loaded("text")


def test_kernels_take_only_what_they_are_for() -> None:
    kernel_cache.load_kernels("training")
    from wordpiece_studio.training.kernels.pairs import find, ln

    pairs, table = np.zeros((1, 8), np.int32), np.full(4, -1, np.int32)
    assert 0 <= find(pairs, table, 1, 2) < 4
    assert ln(1.0) == 0
    table.flags.writeable = False
    for wrong in (table, np.zeros(4, np.int64), np.zeros((4, 1), np.int32), np.zeros(8, np.int32)[::2]):
        with pytest.raises(TypeError):
            find(pairs, wrong, 1, 2)


def test_copies_of_arrays_do_not_keep_the_addresses() -> None:
    from wordpiece_studio.text.word_table import ChunkTable

    table = ChunkTable()
    table.add(b"a b a")
    arrays = table.arrays
    assert arrays.words is not None
    for copied in (copy.deepcopy(arrays), pickle.loads(pickle.dumps(arrays)), arrays._replace(key=arrays.key)):
        assert copied.words is None
        assert type(copied) is type(arrays)
        assert len(copied) == len(arrays)
