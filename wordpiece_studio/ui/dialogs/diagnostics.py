"""The log file, the About box, and the diagnostics: versions, machine, settings, the end of the log.

Nothing from the corpus goes into any of them.
"""

from __future__ import annotations

import json
import locale
import logging
import platform
import sys
from importlib import metadata
from logging.handlers import RotatingFileHandler
from pathlib import Path

import platformdirs
from PySide6.QtCore import (
    QCoreApplication,
    QLibraryInfo,
    QMessageLogContext,
    QtMsgType,
    qInstallMessageHandler,
    qVersion,
)
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMessageBox, QWidget

from wordpiece_studio.ui.messages import plain_box
from wordpiece_studio.version import __version__

_LEVELS = logging.DEBUG, logging.WARNING, logging.ERROR, logging.CRITICAL, logging.INFO  # in the order of `QtMsgType`
_PACKAGES = ("PySide6_Essentials", "numpy", "numba", "llvmlite", "regex", "msgspec", "platformdirs")


def log_path() -> Path:
    return Path(platformdirs.user_log_dir("wordpiece-studio", appauthor=False)) / "studio.log"


def start_log() -> Path | None:
    """Write the program's and Qt's messages to the log file from now on; return its path, or None without one."""
    path = log_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(path, maxBytes=1_000_000, backupCount=3, encoding="utf-8")
    except OSError:
        return None
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger = logging.getLogger("wordpiece_studio")
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    qInstallMessageHandler(_log_qt_message)
    return path


def stop_log() -> None:
    qInstallMessageHandler(None)
    logger = logging.getLogger("wordpiece_studio")
    for handler in [each for each in logger.handlers if isinstance(each, RotatingFileHandler)]:
        logger.removeHandler(handler)
        handler.close()


def last_lines(number: int) -> list[str]:
    """Return the last lines of the log, oldest first; none if there is no log."""
    try:
        return log_path().read_text("utf-8", "replace").splitlines()[-number:]
    except OSError:
        return []


def _log_qt_message(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    category = getattr(context, "category", None) or "default"
    logging.getLogger("wordpiece_studio.qt").log(_LEVELS[kind.value], "%s: %s", category, message)


def diagnostics(settings: object = None) -> str:
    """Return the report as plain text; `settings` is anything that JSON can show."""
    parts = [
        f"WordPiece Studio {_version('wordpiece-studio')}",
        f"Python {sys.version.split()[0]} ({platform.python_implementation()}), Qt {qVersion()}"
        f" (PySide6 built for {QLibraryInfo.version().toString()})",
        *(f"{name} {_version(name)}{_loaded(name)}" for name in _PACKAGES),
        f"system: {platform.platform()}, {platform.machine()}, {'.'.join(map(str, platform.libc_ver())) or 'libc ?'}",
        f"mathematics library: {_math_library()}",
        f"locale: {locale.setlocale(locale.LC_CTYPE)}, file names: {sys.getfilesystemencoding()}",
        f"platform plugin: {QGuiApplication.platformName()}",
        *(
            f"screen: {screen.size().width()}×{screen.size().height()}, scale {screen.devicePixelRatio():g},"
            f" {screen.logicalDotsPerInch():.0f} dpi"
            for screen in QGuiApplication.screens()
        ),
        f"settings: {json.dumps(settings, ensure_ascii=False, default=repr)}",
        f"log file: {log_path()}",
        *last_lines(60),
    ]
    return "\n".join(parts) + "\n"


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


def about_box(parent: QWidget) -> QMessageBox:
    box = plain_box(
        parent,
        QMessageBox.Icon.Information,
        f"WordPiece Studio {__version__}",
        QCoreApplication.translate(
            "about_box",
            "Train WordPiece vocabularies, inspect every merge, and see text tokenized at any step of the "
            "training.\n\nMIT license. Built with Qt {qt} and PySide6 (LGPL), NumPy, Numba and regex.",
        ).format(qt=qVersion()),
    )
    box.addButton(QMessageBox.StandardButton.Ok)
    return box
