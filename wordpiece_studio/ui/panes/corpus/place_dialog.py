"""The dialog that asks for a file or folder, made in one way for all who ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

if TYPE_CHECKING:
    from pathlib import Path


def place_dialog(
    window: QWidget, title: str, mode: QFileDialog.AcceptMode, folder: Path | None, name: str = ""
) -> QFileDialog:
    """Return a dialog that begins in `folder`, where there is one, and proposes `name`; it is to be opened."""
    dialog = QFileDialog(window, title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setAcceptMode(mode)
    if folder is not None:
        dialog.setDirectory(str(folder))
    if name:
        dialog.selectFile(name)
    return dialog
