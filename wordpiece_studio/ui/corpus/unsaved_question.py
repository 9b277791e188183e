"""The questions what becomes of a corpus text that was edited, or of a file that holds more than the text."""

from __future__ import annotations

from PySide6.QtWidgets import QMessageBox, QWidget

from wordpiece_studio.ui.messages import add_button, plain_box


def unsaved_box(parent: QWidget, name: str, extra: str = "") -> QMessageBox:
    """Return the box with Save, Discard and Cancel for the text called `name`; `extra` says what else is at stake."""
    box = plain_box(
        parent,
        QMessageBox.Icon.Question,
        parent.tr("Save the corpus text “{name}”?").format(name=name),
        "\n".join(part for part in (parent.tr("It was edited; without saving the edits are lost."), extra) if part),
    )
    buttons = QMessageBox.StandardButton
    add_button(box, buttons.Save, parent.tr("&Save"))
    add_button(box, buttons.Discard, parent.tr("&Discard"))
    add_button(box, buttons.Cancel)
    box.setDefaultButton(buttons.Save)
    return box


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
