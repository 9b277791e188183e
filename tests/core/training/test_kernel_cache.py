"""The compiled kernels come back whatever happened to their cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
from wordpiece_studio.core.training import kernel_cache
before = kernel_cache.kernels_are_cached()
kernel_cache.load_kernels()
from wordpiece_studio.core.training.kernels import pairs
assert pairs.pair_value(0, 5, 20, 5, 1) == 0.05
print(before, kernel_cache.cache_folder())
"""


def load(cache: Path) -> tuple[bool, Path]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "LOCALAPPDATA": str(cache), "HOME": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True, timeout=300
    )
    before, folder = done.stdout.strip().split(" ", 1)
    return before == "True", Path(folder)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def test_cached_then_damaged_then_cached_again(cache: Path) -> None:
    assert load(cache)[0] is False
    was_cached, folder = load(cache)
    assert was_cached
    if os.name == "posix":
        assert folder.stat().st_mode & 0o077 == 0
    files = [path for path in folder.rglob("*") if path.suffix in {".nbi", ".nbc"}]
    assert files
    for path in files:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    load(cache)
    assert all(path.stat().st_size for path in folder.rglob("*.nbi"))
    assert load(cache)[0] is True
