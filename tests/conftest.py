"""What every test gets: Qt where it can run, folders of its own, and no log line, thread or window left over.

Where Qt cannot run, the tests that need it are left out, named at the end, and the rest runs.
"""

from __future__ import annotations

import ast
import gc
import importlib
import inspect
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from wordpiece_studio import platform_check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # before anything imports Qt

# Hundreds of processes are started here, each of which would compile the whole program anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell has it for what runs behind it; children inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

_QT_MODULES = ("PySide6.QtCore", "PySide6.QtGui", "PySide6.QtWidgets", "PySide6.QtSvg", "PySide6.QtTest")
_QT_FIXTURES = {"qtbot", "qapp", "qtlog", "qtmodeltester"}
_QT_PACKAGES = ("PySide6", "pytestqt", "pyqtgraph", "wordpiece_studio.session", "wordpiece_studio.ui")
_QT_FOLDERS = {"model", "monkey", "ui"}

_WINDOW_FIXTURES = {"studio", "empty_studio", "driver", "start", "projects"}
_WINDOWS_EACH = 8

_LEFT_OUT = pytest.StashKey[list[str]]()
_QT_PROBLEM = pytest.StashKey["str | None"]()

_MEMORY = "/dev/shm"  # a file system in memory; waiting for the disk takes a quarter of the time
_MEMORY_NEEDED = 8 << 30

_LOGS_OF_OTHERS = {"distributed", "tornado"}  # they tell of every connection that a test cuts

_MOST_AT_ONCE_SECONDS = 0.05
_MOST_WORKERS = 8  # each holds Qt and the kernels
_LOAD_KERNELS = "import sys; from wordpiece_studio.compiled.kernel_cache import load_kernels; load_kernels(sys.argv[1])"

hypothesis.settings.register_profile(
    "studio",
    deadline=None,  # a time limit on a shared machine tells nothing about the code
    max_examples=40,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile(
    "ci", parent=hypothesis.settings.get_profile("studio"), derandomize=True, database=None
)
# pytest --hypothesis-profile=exhaustive
hypothesis.settings.register_profile("exhaustive", parent=hypothesis.settings.get_profile("studio"), max_examples=1000)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "studio")


# ---- Qt, or not ------------------------------------------------------------------------------------------------------


def _find_qt_problem() -> str | None:
    """Return why Qt cannot run here, or None. Imports are enough: they fail, they do not abort."""
    if problem := platform_check.bad_qt_pair():
        return str(problem)
    try:
        for name in _QT_MODULES:
            importlib.import_module(name)
    except ImportError as error:
        return _explain(error)
    return None


def _explain(error: ImportError) -> str:
    packages = platform_check.packages_for(platform_check.missing_qt_libraries())
    if isinstance(error, ModuleNotFoundError):
        return f"{error.name} is not installed. Install it: pip install PySide6-Essentials"
    if packages:
        return f"{error}. Install what Qt needs (Debian, Ubuntu): apt-get install {' '.join(packages)}"
    return f"{error}. Install the package of your system that holds this library"


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Take pytest-qt out where Qt cannot run: it would end the whole run when it is configured."""
    parser.addoption("--every", type=int, default=1, metavar="N", help="of each file only every Nth test")
    if _find_qt_problem():
        pluginmanager.set_blocked("pytest-qt")


def pytest_configure(config: pytest.Config) -> None:
    if _has_room_in_memory():
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _MEMORY)
    config.stash[_QT_PROBLEM] = _find_qt_problem()
    config.stash[_LEFT_OUT] = []


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if config.stash[_QT_PROBLEM] is None or not _needs_qt(collection_path):
        return None
    config.stash[_LEFT_OUT].append(collection_path.relative_to(config.rootpath).as_posix())
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    gc.disable()  # what is made now, hundreds of thousands of objects, stays to the end


def pytest_collection_finish() -> None:
    gc.freeze()  # else each full collection goes through all of it
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item], config: pytest.Config) -> Iterator[None]:
    tests = config.rootpath / "tests"
    if all(config.rootpath / argument == tests for argument in config.args):
        _mark_window_tests(items)
    yield
    every = config.getoption("every")
    seen: Counter[Path] = Counter()
    kept = []
    for item in items:
        kept += [item] if seen[item.path] % every == 0 else []
        seen[item.path] += 1
    items[:] = kept


def _mark_window_tests(items: list[pytest.Item]) -> None:
    """Leave every eighth test of a whole window in each file to the default run, and the others to the slow one.

    Only where no files or folders are named: else all of theirs run.
    """
    seen: Counter[Path] = Counter()
    for item in items:
        is_chosen = any(item.get_closest_marker(name) for name in ("slow", "exhaustive"))
        if not is_chosen and _WINDOW_FIXTURES.intersection(getattr(item, "fixturenames", ())):
            if seen[item.path] % _WINDOWS_EACH:
                item.add_marker(pytest.mark.slow)
            seen[item.path] += 1


@cache  # asked for each test, of its file
def _needs_qt(path: Path) -> bool:
    if path.is_dir():
        conftest = path / "conftest.py"
        return path.name in _QT_FOLDERS or (conftest.exists() and _asks_for_qt(conftest))
    return path.match("test_*.py") and (path.parent.name in _QT_FOLDERS or _asks_for_qt(path))


def _asks_for_qt(path: Path) -> bool:
    """Tell whether a file imports Qt, or a package above it, or has a function that takes one of its fixtures."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.arg) and node.arg in _QT_FIXTURES:
            return True
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        if any(f"{name}.".startswith(f"{package}.") for name in names for package in _QT_PACKAGES):
            return True
    return False


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if left_out := config.stash[_LEFT_OUT]:
        terminalreporter.section("not run, because Qt cannot run here")
        for name in left_out:
            terminalreporter.line(f"not run: {name}")
        terminalreporter.line(f"reason: {config.stash[_QT_PROBLEM]}")


# ---- several processes: pytest -n auto -------------------------------------------------------------------------------


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return one process more than there are cores, as tests wait for others; with a single core there is no other."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return 0 if cores == 1 else min(cores + 1, _MOST_WORKERS)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the kernels before there are workers, of which each would compile them all at the same time."""
    if session.config.getoption("numprocesses", None) and not session.config.option.collectonly:
        _compile_kernels()


def _compile_kernels() -> None:
    from wordpiece_studio.compiled.kernel_cache import KERNEL_PACKAGES, kernels_are_cached

    missing = [package for package in KERNEL_PACKAGES if not kernels_are_cached(package)]
    children = [subprocess.Popen([sys.executable, "-c", _LOAD_KERNELS, package]) for package in missing]
    for child in children:
        child.wait()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand what a worker left out to the process that reports."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = session.config.stash[_LEFT_OUT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what a worker left out; all of them leave out the same."""
    known = node.config.stash[_LEFT_OUT]
    known += [name for name in getattr(node, "workeroutput", {}).get("left_out", ()) if name not in known]


# ---- folders of its own ----------------------------------------------------------------------------------------------


def _has_room_in_memory() -> bool:
    if not os.path.ismount(_MEMORY) or not os.access(_MEMORY, os.W_OK):
        return False
    state = os.statvfs(_MEMORY)
    return state.f_bavail * state.f_frsize > _MEMORY_NEEDED


@pytest.fixture(scope="session")
def _private_root(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, Iterator[int]]]:
    yield tmp_path_factory.mktemp("user"), count()
    root = tmp_path_factory.getbasetemp()  # on a disk, pytest keeps those of three runs
    if root.is_relative_to(_MEMORY) and not request.session.testsfailed:
        shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(autouse=True)
def _private_folders(_private_root: tuple[Path, Iterator[int]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test its own settings, data and log folders. The cache of compiled kernels stays shared."""
    root, numbers = _private_root
    home = root / str(next(numbers))
    for kind in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(home / kind.lower()))


# ---- no time lost ----------------------------------------------------------------------------------------------------


@pytest.fixture
def qtbot(qtbot: QtBot) -> QtBot:
    """pytest-qt's own, which looks every millisecond, not every ten, whether what is waited for is there.

    Of the time in which the machine stood still, or did something else, it counts a moment only.
    """

    def wait_until(condition: Callable[[], bool], *, timeout: float = 5000) -> None:
        waited, last = 0.0, time.monotonic()
        while not condition():
            if waited > timeout / 1000:
                raise TimeoutError(f"not within {timeout} milliseconds")
            qtbot.wait(1)
            now = time.monotonic()
            waited, last = waited + min(now - last, _MOST_AT_ONCE_SECONDS), now

    qtbot.waitUntil = wait_until  # type: ignore[method-assign]
    return qtbot


@pytest.fixture
def long_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat every training as one that took long, and is not lost without a question."""
    monkeypatch.setattr("wordpiece_studio.storage.project.contents.LONG_SECONDS", -1.0)


# ---- nothing left over -----------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _no_unexpected_log(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail a test that logs a warning or worse, unless it takes `caplog` itself or is marked ``expects_log``."""
    yield
    takes_caplog = "caplog" in inspect.signature(request.function).parameters
    if takes_caplog or request.node.get_closest_marker("expects_log"):
        return
    records = [*caplog.get_records("setup"), *caplog.get_records("call"), *caplog.get_records("teardown")]
    ours = [r for r in records if r.name.partition(".")[0] not in _LOGS_OF_OTHERS]
    lines = [f"{r.levelname} {r.name}: {r.getMessage()}" for r in ours if r.levelno >= logging.WARNING]
    assert not lines, f"unexpected log lines: {lines}"


@pytest.fixture(autouse=True)
def _nothing_left_over(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a Qt test that leaves a thread, a running timer or a window behind."""
    if request.config.stash[_QT_PROBLEM] or not _needs_qt(request.path):
        yield
        return
    from tests import leftovers

    before = leftovers.alive()
    yield
    left = leftovers.left_since(before)
    assert not left, f"left over: {left}"
