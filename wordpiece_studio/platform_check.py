"""Check, without Qt, whether Qt can open a window here.

Qt ends the whole process with a core dump when the libraries of its platform plugin are missing or when no display
answers. So both are checked first, by plain `dlopen` and a plain connection. This is not a list of everything that Qt
needs at run time: the wheels for macOS and Windows contain it all, and nothing is checked there.
"""

from __future__ import annotations

import ctypes
import os
import socket
import sys
import threading
from importlib import metadata, util
from itertools import chain
from pathlib import Path

from wordpiece_studio.errors import StudioError

# What libQt6Core, libQt6Gui, libQt6DBus and every platform plugin link to ("readelf -d", PySide6-Essentials 6.11).
_BASE_LIBRARIES = (
    *("libstdc++.so.6", "libz.so.1", "libzstd.so.1", "libglib-2.0.so.0", "libgthread-2.0.so.0", "libdbus-1.so.3"),
    *("libEGL.so.1", "libGL.so.1", "libfontconfig.so.1", "libfreetype.so.6", "libX11.so.6", "libxkbcommon.so.0"),
)
_PLUGIN_LIBRARIES = {
    "xcb": (
        *("libX11-xcb.so.1", "libxkbcommon-x11.so.0", "libxcb.so.1", "libxcb-cursor.so.0", "libxcb-icccm.so.4"),
        *("libxcb-image.so.0", "libxcb-keysyms.so.1", "libxcb-randr.so.0", "libxcb-render.so.0"),
        *("libxcb-render-util.so.0", "libxcb-shape.so.0", "libxcb-shm.so.0", "libxcb-sync.so.1", "libxcb-util.so.1"),
        *("libxcb-xfixes.so.0", "libxcb-xkb.so.1"),
    ),
    "wayland": ("libwayland-client.so.0", "libwayland-cursor.so.0"),
}
# Debian and Ubuntu packages that are not called as Debian's policy wants: like the library and its version.
_PACKAGES = {"libz.so.1": "zlib1g", "libglib-2.0.so.0": "libglib2.0-0", "libgthread-2.0.so.0": "libglib2.0-0"}

# An X server that accepts the connection and never answers would block the start for ever.
_ANSWER_SECONDS = 5.0


def window_problem() -> str | None:
    """Return one line that says why no window can be opened here and what to install, or None if one can.

    Does not look for a Qt that must not be run at all (`bad_qt_pair`).
    """
    problems = [display_problem(), _library_problem()]
    return " ".join(problem for problem in problems if problem) or None


def missing_qt_libraries() -> list[str]:
    """Return the shared objects that Qt needs to open a window and that cannot be loaded, in a fixed order.

    On Linux this includes the libraries of the platform plugin that Qt would choose: among those whose display answers,
    else among those requested, else X11's. Elsewhere the list is empty, as Qt's wheels contain what they need.
    """
    if not sys.platform.startswith("linux"):
        return []
    missing = [name for name in _BASE_LIBRARIES if not _can_load(name)]
    platforms = _window_platforms()
    if len(platforms) > 1:
        platforms = [each for each in platforms if _answers(each)] or platforms
    if platforms:
        # Qt tries its plugins in turn: one that loads is enough. If none does, the last is the one to install.
        lacking = [[name for name in _PLUGIN_LIBRARIES[each] if not _can_load(name)] for each in platforms]
        missing += [] if [] in lacking else lacking[-1]
    return missing


def packages_for(libraries: list[str]) -> list[str]:
    """Return the Debian and Ubuntu packages that hold `libraries`, each once, sorted by name.

    Libraries unknown to this module are left out.

    >>> packages_for(["libX11.so.6", "libxcb.so.1", "libz.so.1"])
    ['libx11-6', 'libxcb1', 'zlib1g']
    """
    known = {*_BASE_LIBRARIES, *chain.from_iterable(_PLUGIN_LIBRARIES.values())}
    return sorted({_PACKAGES.get(name) or _package_of(name) for name in libraries if name in known})


def _package_of(library: str) -> str:
    name, _, version = library.lower().partition(".so.")
    return f"{name}-{version}" if name[-1].isdecimal() else name + version


def display_problem() -> str | None:
    """Return in one sentence why no display can be reached, or None if one answers.

    Also None where the question makes no sense: on macOS and Windows, and where ``QT_QPA_PLATFORM`` names a platform
    without a display, for example ``offscreen``.
    """
    if not sys.platform.startswith("linux"):
        return None
    if unknown := _unknown_platform():
        return unknown
    platforms = _window_platforms()
    if not platforms:
        return None
    if not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
        return "No display can be reached: neither DISPLAY nor WAYLAND_DISPLAY is set."
    if any(_answers(platform) for platform in platforms):
        return None
    named = [f"{name}={os.environ[name]}" for name in ("WAYLAND_DISPLAY", "DISPLAY") if os.environ.get(name)]
    return f"No display can be reached: nothing answers at {' or '.join(named)}."


def bad_qt_pair() -> StudioError | None:
    """Return why this Python must not run the installed PySide6, or None if it may.

    On Python 3.11 and older, PySide6 6.12 loses references to None and to booleans; the interpreter aborts after a few
    thousand calls.
    """
    version = _version_of("PySide6_Essentials") or _version_of("PySide6")
    python = _python_version()
    if version is None or python >= (3, 12) or [*map(int, version.split(".")[:2])] < [6, 12]:
        return None
    what = "PySide6 {version} crashes Python {python}, so the window is not opened"
    advice = 'Run: pip install "PySide6-Essentials<6.12". Or use Python 3.12 or newer.'
    return StudioError(what, advice, version=version, python=f"{python[0]}.{python[1]}")


def _library_problem() -> str | None:
    missing = missing_qt_libraries()
    if not missing:
        return None
    others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    packages = " ".join(packages_for(missing))
    return f"Qt lacks {missing[0]}{others}: on Debian and Ubuntu, apt-get install {packages}"


def _asked_platforms() -> list[str]:
    return [part.partition(":")[0] for part in os.environ.get("QT_QPA_PLATFORM", "").split(";") if part]


def _unknown_platform() -> str | None:
    """Return one sentence if ``QT_QPA_PLATFORM`` names no plugin of this Qt, which would make Qt abort."""
    package = util.find_spec("PySide6")
    places = (package and package.submodule_search_locations) or []
    folders = [Path(place, "Qt", "plugins", "platforms") for place in places]
    known = {path.stem.removeprefix("libq") for folder in folders for path in folder.glob("libq*.so")}
    asked = _asked_platforms()
    if not asked or not known or any(name.startswith(tuple(known)) for name in asked):
        return None
    return f"No display can be reached: QT_QPA_PLATFORM={';'.join(asked)} is not one of {', '.join(sorted(known))}."


def _window_platforms() -> list[str]:
    """Return the platform plugins with a display that Qt would try, in its order; empty if it needs no display."""
    if asked := _asked_platforms():
        known = ["wayland" if name.startswith("wayland") else name for name in asked]
        return known if all(name in _PLUGIN_LIBRARIES for name in known) else []
    return ["wayland", "xcb"] if os.environ.get("WAYLAND_DISPLAY") else ["xcb"]


def _answers(platform: str) -> bool:
    if platform != "wayland":
        return _x_server_answers()
    name = os.environ.get("WAYLAND_DISPLAY")
    if not name:
        return False
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_ANSWER_SECONDS)
        try:  # an absolute name replaces the folder
            connection.connect(str(Path(os.environ.get("XDG_RUNTIME_DIR", ""), name)))
        except OSError:
            return False
    return True


def _x_server_answers() -> bool:
    if not os.environ.get("DISPLAY"):
        return False
    outcome: list[bool] = []
    # A daemon thread, because the C call cannot be cancelled: a server that hangs must not block the program too.
    attempt = threading.Thread(target=lambda: outcome.append(_connect_to_x()), name="x-server-check", daemon=True)
    attempt.start()
    attempt.join(_ANSWER_SECONDS)
    return bool(outcome and outcome[0])


def _connect_to_x() -> bool:
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True  # it is not known; that this library is missing is told anyway
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connect.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_int)]
    xcb.xcb_connection_has_error.argtypes = [ctypes.c_void_p]
    xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(None, None)
    failed = bool(xcb.xcb_connection_has_error(connection))
    xcb.xcb_disconnect(connection)
    return not failed


def _can_load(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _version_of(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _python_version() -> tuple[int, int]:
    return sys.version_info.major, sys.version_info.minor
