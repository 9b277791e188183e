"""Loading the compiled kernels: from a cache that only this user can write to, or recompiled if it is damaged.

There are two packages of them, each compiled, cached and loaded separately. Numba's cache files are pickles. Reading
one runs code, so they are kept in a folder of the user's own; and a truncated one fails to load, so on any error the
folder is emptied and the kernels are compiled again.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import itertools
import os
import platform
import re
import shutil
import stat
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import platformdirs

from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

KernelPackage = Literal["training", "text"]
KERNEL_PACKAGES: tuple[KernelPackage, ...] = ("training", "text")
_SHARED = ("compiled/kernels.py", "training/logarithm.py")
"""What kernels are compiled from outside their packages."""

_COMPLETE = "complete"
_ROOM = 20 << 20  # bytes; all kernels together take a quarter of it
_loading = threading.Lock()
_loaded: set[str] = set()
_report: Callable[[KernelPackage, int, int], object] | None = None


def cache_folder(package: KernelPackage) -> Path:
    """Return the folder of a package's compiled kernels.

    It differs for other kernel sources, another location of the package, another Python and another numba.

    It is in the user's cache, or, if nothing can be kept there, in a folder of the user's own in the temporary folder.

    Raises
    ------
    StudioError
        If nothing can be kept in either.
    """
    user = str(os.getuid()) if os.name == "posix" else "user"
    homes = [
        platformdirs.user_cache_path("wordpiece-studio", appauthor=False) / "kernels",
        Path(tempfile.gettempdir()) / f"wordpiece-studio-kernels-{user}",
    ]
    for home in homes:
        folder = home / f"{package}-{_digest(Path(__file__).parents[1], package)}"
        with contextlib.suppress(OSError):
            _make_private(home)
            _make_private(folder)
            if (folder / _COMPLETE).is_file() or _has_room(folder):
                return folder
    raise StudioError(
        "The compiled kernels cannot be stored in {folder} or in {other}",
        "Free about 20 MB in one of them, and make it writable only by you.",
        folder=homes[0],
        other=homes[1],
    )


@cache  # asked for each of many short texts
def _digest(root: Path, package: KernelPackage) -> str:
    from importlib.metadata import version  # takes 20 ms to load

    files = [*(root / name for name in _SHARED), *sorted((root / package / "kernels").glob("*.py"))]
    # numba also looks up compiled code by the location of its source.
    key = "|".join((platform.machine(), platform.python_version(), version("numba"), version("numpy"), str(root)))
    return hashlib.sha256(key.encode() + b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


def kernels_are_cached(*packages: KernelPackage) -> bool:
    """Return whether loading the kernels takes a fraction of a second rather than the seconds of compiling them.

    `packages` are the ones to check; all if none is given.
    """
    try:
        return all(
            package in _loaded or (cache_folder(package) / _COMPLETE).is_file()
            for package in packages or KERNEL_PACKAGES
        )
    except StudioError:  # loading them will report it
        return False


def kernels_are_loaded(package: KernelPackage) -> bool:
    """Return whether a package of kernels can be used at once."""
    return package in _loaded


def load_kernels(package: KernelPackage) -> None:
    """Import a package of kernels, compiling them if necessary. Does nothing if they are already loaded."""
    with _loading:
        if package in _loaded:
            return
        from wordpiece_studio.compiled.kernels import config

        folder = cache_folder(package)
        before = config.CACHE_DIR  # type: ignore[attr-defined]  # numba creates it from its environment
        config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
        try:
            _import_kernels(package, folder)
            _loaded.add(package)
        finally:
            config.CACHE_DIR = before  # type: ignore[attr-defined]


@contextlib.contextmanager
def compiling_reported(report: Callable[[KernelPackage, int, int], object]) -> Iterator[None]:
    """Report all compiling in this process during the block: the package, how many kernels are ready, and of how many.

    `report` is called in the thread that compiles, first with 0. Loading from the cache is not reported.
    """
    global _report
    before, _report = _report, report
    try:
        yield
    finally:
        _report = before


def number_of_kernels(package: KernelPackage) -> int:
    """Return how many kernels a package has."""
    return sum(len(re.findall(r"\bkernel\(", path.read_text("utf-8"))) for path in _modules_of(package))


def _modules_of(package: KernelPackage) -> list[Path]:
    return sorted(Path(__file__).parents[1].joinpath(package, "kernels").glob("*.py"))


def _import_kernels(package: KernelPackage, folder: Path) -> None:
    name = f"wordpiece_studio.{package}.kernels"
    modules = [f"{name}.{path.stem}" for path in _modules_of(package) if path.stem != "__init__"]
    try:
        _import_all(package, modules, is_reported=not (folder / _COMPLETE).is_file())
    except MemoryError:
        raise
    except Exception:  # whatever a damaged pickle raises
        for module in [module for module in sys.modules if module.startswith(name)]:
            del sys.modules[module]
        shutil.rmtree(folder, ignore_errors=True)
        _make_private(folder)
        _import_all(package, modules, is_reported=True)
    with contextlib.suppress(OSError):
        (folder / _COMPLETE).touch()


def _import_all(package: KernelPackage, modules: Sequence[str], *, is_reported: bool) -> None:
    from wordpiece_studio.compiled import kernels

    ready, number = itertools.count(), number_of_kernels(package) if is_reported else 0

    def on_ready() -> None:
        done = next(ready)
        if _report is not None:
            _report(package, done, number)

    if is_reported:
        on_ready()  # none so far
        kernels.on_ready = on_ready
    try:
        for module in modules:
            importlib.import_module(module)
    finally:
        kernels.on_ready = None


def _make_private(folder: Path) -> None:
    """Make a folder, unless it exists, that others cannot write to; raises `OSError` if that is impossible."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name == "posix":
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
            raise PermissionError(folder)


def _has_room(folder: Path) -> bool:
    """Return whether there is room for the kernels; raises `OSError` if nothing can be written."""
    with tempfile.TemporaryFile(dir=folder):
        return shutil.disk_usage(folder).free > _ROOM
