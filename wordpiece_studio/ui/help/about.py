"""The dialogs of the Help menu that only tell: about the program, and the list of its keys."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt, qVersion
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QMessageBox,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from wordpiece_studio import __version__
from wordpiece_studio.ui.look.plain import plain_label
from wordpiece_studio.ui.messages import plain_box


def about_box(parent: QWidget) -> QMessageBox:
    """Return the box that names the program, its version and its licence."""
    box = plain_box(
        parent,
        QMessageBox.Icon.Information,
        f"WordPiece Studio {__version__}",
        QCoreApplication.translate(
            "about_box",
            "Train a WordPiece vocabulary, look at every merge, and see text tokenized at any moment of the training."
            "\n\n"
            "MIT licence. Made with Qt {qt} and PySide6 (LGPL), NumPy, Numba and regex.",
        ).format(qt=qVersion()),
    )
    box.addButton(QMessageBox.StandardButton.Ok)
    return box


class KeysDialog(QDialog):
    """A list of the window's commands that have keys."""

    def __init__(self, actions: list[QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Keys"))
        contents = QWidget()
        contents.setObjectName("scroll_contents")
        grid = QGridLayout(contents)
        grid.setHorizontalSpacing(24)
        rows = [_described(action) for action in actions if action.shortcuts()]
        rows.append((self.tr("Hold or go on, play or stop"), self.tr("Space")))
        for row, (text, keys) in enumerate(rows):
            grid.addWidget(plain_label(text, contents), row, 0)
            grid.addWidget(plain_label(keys, contents, role="caption"), row, 1)
        grid.setRowStretch(grid.rowCount(), 1)
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(contents)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(area)
        layout.addWidget(buttons)
        self.resize(460, 520)


def _described(action: QAction) -> tuple[str, str]:
    keys = [key.toString(QKeySequence.SequenceFormat.NativeText) for key in action.shortcuts()]
    return action.text().replace("&", "").rstrip("…"), "   ".join(keys)
