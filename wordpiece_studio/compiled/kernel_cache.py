"""Loading the compiled kernels: from a cache that only this user can write to, or recompiled if it is damaged.

There are two packages of them, each compiled, cached and loaded separately: its machine code is one object file, which
LLVM loads in a few milliseconds, without numba. Loading it means running it, so it is kept in a folder of the user's
own; it carries its digest and what it was compiled for, and if either is wrong the kernels are compiled again.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import itertools
import os
import platform
import shutil
import stat
import tempfile
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import platformdirs

from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wordpiece_studio.compiled.kernels import Kernel

KernelPackage = Literal["training", "text"]
KERNEL_PACKAGES: tuple[KernelPackage, ...] = ("training", "text")
# What kernels are compiled from outside their packages.
_SHARED = ("compiled/kernel_compiler.py", "compiled/kernels.py", "training/reference.py")

_TESTED_NUMBA = "0.68.1"
_COMPLETE = "kernels"
_DIGEST = 32  # bytes
_ROOM = 20 << 20  # bytes; all kernels together take a quarter of it
_loading = threading.Lock()
_loaded: set[str] = set()
_engines: list[Any] = []  # own the machine code
_report: Callable[[KernelPackage, int, int], object] | None = None


def cache_folder(package: KernelPackage) -> Path:
    """Return the folder of a package's compiled kernels: another for other sources, another Python or another numba.

    It is in the user's cache, or, if nothing can be kept there, in a folder of the user's own in the temporary folder.
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
    what = "The compiled kernels cannot be stored in {folder} or in {other}"
    advice = "Free about 20 MB in one of them, and make it writable only by you."
    raise StudioError(what, advice, folder=homes[0], other=homes[1])


@cache  # asked for each of many short texts
def _digest(root: Path, package: KernelPackage) -> str:
    from importlib.metadata import version  # takes 20 ms to load

    files = [*(root / name for name in _SHARED), *sorted((root / package / "kernels").glob("*.py"))]
    key = "|".join((platform.machine(), platform.python_version(), version("numba"), version("numpy")))
    return hashlib.sha256(key.encode() + b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


def kernels_are_cached(*packages: KernelPackage) -> bool:
    """Return whether the kernels of these packages, or of all, need not be compiled."""
    try:
        return all(
            package in _loaded or (cache_folder(package) / _COMPLETE).is_file()
            for package in packages or KERNEL_PACKAGES
        )
    except StudioError:  # loading them will report it
        return False


def kernels_are_loaded(package: KernelPackage) -> bool:
    return package in _loaded


def load_kernels(package: KernelPackage) -> None:
    with _loading:
        if package in _loaded:
            return
        file, kernels = cache_folder(package) / _COMPLETE, _kernels_of(package)
        try:
            code = _read(file)
            if code is None:
                code = _compiled(package, kernels)
                _write(file, code)
            _engines.append(_load(code, kernels))
        except MemoryError:
            raise
        except Exception as error:  # whatever a numba raises that differs from those that this was written for
            from importlib.metadata import version

            what = "The kernels cannot be compiled with numba {numba} and llvmlite {llvmlite}"
            advice = "Install numba {tested}, with which they were tested."
            raise StudioError(
                what, advice, numba=version("numba"), llvmlite=version("llvmlite"), tested=_TESTED_NUMBA
            ) from error
        _loaded.add(package)


@contextlib.contextmanager
def compiling_reported(report: Callable[[KernelPackage, int, int], object]) -> Iterator[None]:
    """Report all compiling in this process during the block: the package, how many kernels are ready, and of how many.

    `report` is called in the thread that compiles, first with 0.
    """
    global _report
    before, _report = _report, report
    try:
        yield
    finally:
        _report = before


def number_of_kernels(package: KernelPackage) -> int:
    return len(_kernels_of(package))


def _kernels_of(package: KernelPackage) -> list[Kernel]:
    """Return the kernels of a package, each after those that it calls."""
    from wordpiece_studio.compiled.kernels import Kernel

    found: dict[Kernel, None] = {}

    def add(kernel: Kernel) -> None:
        called = [kernel.function.__globals__.get(name) for name in kernel.function.__code__.co_names]
        for each in called:
            if isinstance(each, Kernel) and each not in found:
                add(each)
        found[kernel] = None

    for path in sorted(Path(__file__).parents[1].joinpath(package, "kernels").glob("*.py")):
        if path.stem != "__init__":
            module = importlib.import_module(f"wordpiece_studio.{package}.kernels.{path.stem}")
            for value in list(vars(module).values()):
                if isinstance(value, Kernel) and value not in found:
                    add(value)
    return list(found)


def _compiled(package: KernelPackage, kernels: list[Kernel]) -> bytes:
    ready = itertools.count()

    def on_ready() -> None:
        done = next(ready)
        if _report is not None:
            _report(package, done, len(kernels))

    on_ready()  # none so far; importing numba takes a while
    from wordpiece_studio.compiled.kernel_compiler import machine_code

    return _target() + machine_code(kernels, on_ready)


def _target() -> bytes:
    """Return what identifies the processor that machine code is for: another one may lack instructions."""
    from llvmlite import binding

    features = binding.get_host_cpu_features().flatten()
    return hashlib.sha256(f"{binding.get_process_triple()} {binding.get_host_cpu_name()} {features}".encode()).digest()


def _read(file: Path) -> bytes | None:
    """Return the machine code in a file with its target; None if there is none, or it is damaged or of another one."""
    with contextlib.suppress(OSError):
        data = file.read_bytes()
        digest, code = data[:_DIGEST], data[_DIGEST:]
        if hashlib.sha256(code).digest() == digest and code.startswith(_target()):
            return code
    return None


def _write(file: Path, code: bytes) -> None:
    """Write machine code, unless that is impossible: then it will be compiled again."""
    from wordpiece_studio.system.atomic_write import atomic_write  # rarely needed

    with contextlib.suppress(StudioError):
        atomic_write(file, hashlib.sha256(code).digest() + code)


def _load(code: bytes, kernels: list[Kernel]) -> Any:
    """Load machine code and let the kernels call it; return what must be kept as long as they are used."""
    from llvmlite import binding

    with contextlib.suppress(RuntimeError):  # newer versions need no such call, and refuse it
        binding.initialize()
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    engine.add_object_file(binding.ObjectFileRef.from_data(code[_DIGEST:]))
    engine.finalize_object()
    for kernel in kernels:
        if kernel.is_called:
            address = engine.get_function_address(kernel.symbol)
            if not address:  # calling it would end the process
                raise LookupError(kernel.symbol)
            kernel.load(address)
    return engine


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
