"""The log file: what happened, for the day when somebody has to find out why. Nothing of the corpus goes into it."""

from __future__ import annotations

import logging
from logging.handlers import RotatingFileHandler
from pathlib import Path

import platformdirs
from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

_LONGEST_BYTES = 1_000_000
_OLD_FILES = 3
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


def log_path() -> Path:
    """Return where the log file is, or will be."""
    return Path(platformdirs.user_log_dir("wordpiece-studio", appauthor=False)) / "studio.log"


def start_log() -> Path | None:
    """Write the program's and Qt's messages to the log file from now on, and return its path.

    None if it cannot be written: the Studio works without a log rather than not at all.
    """
    path = log_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(path, maxBytes=_LONGEST_BYTES, backupCount=_OLD_FILES, encoding="utf-8")
    except OSError:
        return None
    handler.setFormatter(logging.Formatter(_FORMAT))
    logger = logging.getLogger("wordpiece_studio")
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    qInstallMessageHandler(_log_qt_message)
    return path


def stop_log() -> None:
    """Close the log file and give Qt its own messages back."""
    qInstallMessageHandler(None)
    logger = logging.getLogger("wordpiece_studio")
    for handler in [each for each in logger.handlers if isinstance(each, RotatingFileHandler)]:
        logger.removeHandler(handler)
        handler.close()


def last_lines(number: int, path: Path | None = None) -> list[str]:
    """Return the last `number` lines of the log, oldest first; none if there is no log."""
    try:
        with (path or log_path()).open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - 200 * number))
            tail = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    return tail.splitlines()[-number:]


def _log_qt_message(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    category = getattr(context, "category", None) or "default"
    logging.getLogger("wordpiece_studio.qt").log(_LEVELS.get(kind, logging.WARNING), "%s: %s", category, message)
