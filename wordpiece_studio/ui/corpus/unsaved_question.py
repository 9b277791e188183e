"""The question what becomes of a corpus text that was edited and not saved."""

from __future__ import annotations

from PySide6.QtWidgets import QMessageBox, QWidget

from wordpiece_studio.ui.messages import plain_box


def unsaved_box(parent: QWidget, name: str, extra: str = "") -> QMessageBox:
    """Return the box with Save, Discard and Cancel for the text called `name`; `extra` says what else is at stake."""
    box = plain_box(
        parent,
        QMessageBox.Icon.Question,
        parent.tr("Save the corpus text “{name}”?").format(name=name),
        "\n".join(part for part in (parent.tr("It was edited; without saving the edits are lost."), extra) if part),
    )
    buttons = QMessageBox.StandardButton
    for button in (buttons.Save, buttons.Discard, buttons.Cancel):
        box.addButton(button)
    box.setDefaultButton(buttons.Save)
    box.setEscapeButton(buttons.Cancel)
    return box
