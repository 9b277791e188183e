"""Whether a window can be opened is found out without Qt, and reported in words that say what to do."""

from __future__ import annotations

import socket
import struct
import sys
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio import platform_check

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="nothing is checked elsewhere")

needs_libxcb = pytest.mark.skipif(not platform_check._can_load("libxcb.so.1"), reason="libxcb is not installed")

# "Success", protocol 11.0, 72 bytes of setup: no vendor, no formats, one screen of no depths (X11 protocol, section 8).
SETUP = struct.pack("<BxHHH", 1, 11, 0, 18) + struct.pack("<16xHHBB10x", 0, 65535, 1, 0) + bytes(40)


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def nothing_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform_check, "_can_load", lambda _library: False)


@contextmanager
def x_server(answer: bytes) -> Iterator[str]:
    """Run a server that answers one connection with `answer` and yield its DISPLAY."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        held = []

        def serve() -> None:
            connection, _ = server.accept()
            held.append(connection)
            with suppress(OSError):  # who only knocks is gone by now
                connection.recv(4096)
                connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1] - 6000}"
        thread.join(5)
        for connection in held:
            connection.close()


def test_no_display() -> None:
    assert platform_check.display_problem() == (
        "No display can be reached: neither DISPLAY nor WAYLAND_DISPLAY is set."
    )


@pytest.mark.parametrize("name", ["DISPLAY", "WAYLAND_DISPLAY"])
def test_nothing_behind_the_display(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "127.0.0.1:59999" if name == "DISPLAY" else "/nowhere/wayland-0")
    assert (platform_check.display_problem() or "").startswith(f"No display can be reached: nothing answers at {name}=")


def test_an_x_server_that_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    with x_server(SETUP) as display:
        monkeypatch.setenv("DISPLAY", display)
        assert platform_check.display_problem() is None


def test_without_libxcb_the_library_is_what_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform_check.ctypes, "CDLL", cannot_open)
    monkeypatch.setenv("DISPLAY", ":98765")
    assert platform_check.display_problem() is None
    assert "libxcb.so.1" in platform_check.missing_qt_libraries()


def cannot_open(library: str) -> None:
    raise OSError(library)


@needs_libxcb
def test_an_x_server_that_never_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform_check, "_ANSWER_SECONDS", 0.2)
    with x_server(b"") as display:
        monkeypatch.setenv("DISPLAY", display)
        assert "nothing answers" in (platform_check.display_problem() or "")


def test_a_wayland_socket_that_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the system bounds the length of a socket's name
    monkeypatch.setenv("XDG_RUNTIME_DIR", ".")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("wayland-test")
        server.listen()
        monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-test")
        assert platform_check.display_problem() is None


@pytest.mark.parametrize("platform", ["offscreen", "minimal", "xcb;offscreen"])
def test_a_platform_without_a_display_is_respected(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", platform)
    assert platform_check.display_problem() is None


def test_all_libraries_missing(nothing_loads: None) -> None:
    missing = platform_check.missing_qt_libraries()
    assert {"libEGL.so.1", "libxcb-cursor.so.0", "libxkbcommon-x11.so.0"} <= set(missing)
    assert {"libegl1", "libxcb-cursor0", "libxkbcommon-x11-0"} <= set(platform_check.packages_for(missing))
    assert "apt-get install " in (platform_check.window_problem() or "")


def test_offscreen_needs_no_libraries_of_x(nothing_loads: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    missing = platform_check.missing_qt_libraries()
    assert "libEGL.so.1" in missing
    assert "libxcb-cursor.so.0" not in missing


def test_a_library_that_can_be_loaded_is_not_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform_check, "_can_load", lambda library: library != "libxcb-cursor.so.0")
    assert platform_check.missing_qt_libraries() == ["libxcb-cursor.so.0"]


def test_packages_are_named_once() -> None:
    assert platform_check.packages_for(["libgthread-2.0.so.0", "libglib-2.0.so.0", "libunknown.so"]) == ["libglib2.0-0"]


@pytest.mark.parametrize(
    ("pyside", "python", "is_bad"),
    [("6.11.3", (3, 11), False), ("6.12.0", (3, 11), True), ("6.13.1", (3, 11), True), ("6.12.0", (3, 12), False)],
)
def test_bad_pair(pyside: str, python: tuple[int, int], is_bad: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform_check, "_version_of", lambda _name: pyside)
    monkeypatch.setattr(platform_check, "_python_version", lambda: python)
    problem = platform_check.bad_qt_pair()
    assert bool(problem) is is_bad
    assert problem is None or f"PySide6 {pyside} crashes Python 3.11" in str(problem)


def test_without_pyside_there_is_no_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform_check, "_version_of", lambda _name: None)
    assert platform_check.bad_qt_pair() is None


def test_other_systems_are_not_asked(nothing_loads: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform_check.sys, "platform", "darwin")
    assert platform_check.missing_qt_libraries() == []
    assert platform_check.display_problem() is None
