"""The question what becomes of a file that holds more than the text that was read of it."""

from __future__ import annotations

from PySide6.QtWidgets import QMessageBox, QWidget

from wordpiece_studio.ui.messages import add_button, plain_box


def overwrite_box(parent: QWidget, name: str) -> QMessageBox:
    """Return the question whether the file called `name` may be replaced by a text that is not all that it holds."""
    box = plain_box(
        parent,
        QMessageBox.Icon.Warning,
        parent.tr("Replace “{name}” by what could be read of it?").format(name=name),
        parent.tr("Bytes were replaced or lines skipped when it was opened; they are lost then. "
                  "To keep them, save the text under another name."),
    )  # fmt: skip
    add_button(box, QMessageBox.StandardButton.Yes, parent.tr("&Replace the file"))
    add_button(box, QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(QMessageBox.StandardButton.Cancel)
    return box
