"""What a report of a fault needs: versions, machine, screen, settings and the last lines of the log.

Nothing of the corpus is in it.
"""

from __future__ import annotations

import json
import locale
import platform
import sys
from importlib import metadata

from PySide6.QtCore import QLibraryInfo, qVersion
from PySide6.QtGui import QGuiApplication

from wordpiece_studio.ui.dialogs.help.log import last_lines, log_path
from wordpiece_studio.ui.widgets.exact_text import copy_text

_PACKAGES = ("PySide6_Essentials", "numpy", "numba", "llvmlite", "regex", "msgspec", "platformdirs")
_LOG_LINES = 60


def diagnostics(settings: object = None) -> str:
    """Return the report as plain text; `settings` is anything that JSON or ``repr`` can show."""
    parts = [
        f"WordPiece Studio {_version('wordpiece-studio')}",
        f"Python {sys.version.split()[0]} ({platform.python_implementation()}), Qt {qVersion()}"
        f" (PySide6 made for {QLibraryInfo.version().toString()})",
        *(f"{name} {_version(name)}{_loaded(name)}" for name in _PACKAGES),
        f"system: {platform.platform()}, {platform.machine()}, {'.'.join(map(str, platform.libc_ver())) or 'libc ?'}",
        f"mathematics library: {_math_library()}",
        f"locale: {locale.setlocale(locale.LC_CTYPE)}, file names: {sys.getfilesystemencoding()}",
        f"platform plugin: {QGuiApplication.platformName()}",
        *_screens(),
        f"settings: {_as_text(settings)}",
        f"log file: {log_path()}",
        *last_lines(_LOG_LINES),
    ]
    return "\n".join(parts) + "\n"


def copy_diagnostics(settings: object = None) -> str:
    """Put the report on the clipboard and return it."""
    report = diagnostics(settings)
    copy_text(report)
    return report


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "not installed"


def _loaded(distribution: str) -> str:
    return "" if distribution.partition("_")[0] in sys.modules else " (not loaded)"


def _math_library() -> str:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return "numpy is not loaded"
    config = numpy.show_config(mode="dicts")
    blas = config.get("Build Dependencies", {}).get("blas", {}) if isinstance(config, dict) else {}
    return f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()


def _screens() -> list[str]:
    return [
        f"screen: {screen.size().width()}×{screen.size().height()}, scale {screen.devicePixelRatio():g},"
        f" {screen.logicalDotsPerInch():.0f} dpi"
        for screen in QGuiApplication.screens()
    ]


def _as_text(settings: object) -> str:
    try:
        return json.dumps(settings, ensure_ascii=False, default=repr)
    except (TypeError, ValueError):
        return repr(settings)
