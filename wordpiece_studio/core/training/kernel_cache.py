"""Loading the compiled kernels: from a cache that only this user can write to, and anew when it is damaged.

Numba's cache files are pickles. Reading one runs code, so they lie in a folder of the user's own; and a truncated one
fails to load, so on any error the folder is emptied and the kernels are compiled again.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import os
import platform
import shutil
import sys
import tempfile
import threading
from importlib.metadata import version
from pathlib import Path

import platformdirs

_PACKAGE = "wordpiece_studio.core.training.kernels"
_KERNELS = f"{_PACKAGE}.merging"  # which imports all the others
_COMPLETE = "complete"
_loading = threading.Lock()


def cache_folder() -> Path:
    """Return the folder of the compiled kernels: another one for other sources, Python or numba."""
    source = b"".join(path.read_bytes() for path in sorted(Path(__file__).with_name("kernels").glob("*.py")))
    key = "|".join((platform.machine(), platform.python_version(), version("numba"), version("numpy")))
    digest = hashlib.sha256(key.encode() + source).hexdigest()[:16]
    return platformdirs.user_cache_path("wordpiece-studio", appauthor=False) / "kernels" / digest


def kernels_are_cached() -> bool:
    """Tell whether loading the kernels will take a fraction of a second, and not the seconds of compiling them."""
    return _KERNELS in sys.modules or (cache_folder() / _COMPLETE).is_file()


def load_kernels() -> None:
    """Import the kernels, compiling them if need be. Does nothing when they are loaded."""
    with _loading:
        if _KERNELS in sys.modules:
            return
        from numba.core import config

        folder = _private(cache_folder())
        before = config.CACHE_DIR  # type: ignore[attr-defined]  # numba makes it from its environment
        config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
        try:
            _import_kernels(folder)
        finally:
            config.CACHE_DIR = before  # type: ignore[attr-defined]


def _import_kernels(folder: Path) -> None:
    try:
        importlib.import_module(_KERNELS)
    except Exception:  # whatever a damaged pickle raises
        for name in [name for name in sys.modules if name.startswith(_PACKAGE)]:
            del sys.modules[name]
        shutil.rmtree(folder, ignore_errors=True)
        _private(folder)
        importlib.import_module(_KERNELS)
    with contextlib.suppress(OSError):
        (folder / _COMPLETE).touch()


def _private(folder: Path) -> Path:
    """Return `folder`, made so that others cannot write to it, or a temporary one if that cannot be had."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.name == "posix":
            status = folder.stat()
            if status.st_uid != os.getuid() or status.st_mode & 0o022:
                raise PermissionError(folder)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return Path(tempfile.mkdtemp(prefix="wordpiece-studio-kernels-"))
