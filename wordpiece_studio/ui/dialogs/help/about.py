"""The box that tells about the program."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, qVersion
from PySide6.QtWidgets import QMessageBox, QWidget

from wordpiece_studio.ui.messages import plain_box
from wordpiece_studio.version import __version__


def about_box(parent: QWidget) -> QMessageBox:
    """Return the box that names the program, its version and its licence."""
    box = plain_box(
        parent,
        QMessageBox.Icon.Information,
        f"WordPiece Studio {__version__}",
        QCoreApplication.translate(
            "about_box",
            "Train a WordPiece vocabulary, look at every merge, and see text tokenized at any step of the training."
            "\n\n"
            "MIT licence. Made with Qt {qt} and PySide6 (LGPL), NumPy, Numba and regex.",
        ).format(qt=qVersion()),
    )
    box.addButton(QMessageBox.StandardButton.Ok)
    return box
