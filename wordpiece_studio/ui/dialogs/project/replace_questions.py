"""The questions before a project file is replaced that holds something else than the project that is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMessageBox, QWidget

from wordpiece_studio.system.printable import display_name
from wordpiece_studio.ui.messages import add_button, plain_box

if TYPE_CHECKING:
    from pathlib import Path

_Button = QMessageBox.StandardButton


def replace_box(parent: QWidget, path: Path) -> QMessageBox:
    """Return the question whether another project may be replaced: Yes or Cancel."""
    title = parent.tr("Replace “{name}”?").format(name=display_name(path.name))
    return _box(parent, title, parent.tr("There is a project of this name. What is in it now would be lost."))


def changed_box(parent: QWidget, path: Path) -> QMessageBox:
    """Return the question what becomes of a project that another program has changed: Yes, Save (as) or Cancel."""
    title = parent.tr("Replace “{name}”, which was changed meanwhile?").format(name=display_name(path.name))
    text = parent.tr("Another program has written the file since it was opened or saved here. To keep both, save yours "
                     "under another name.")  # fmt: skip
    box = _box(parent, title, text)
    add_button(box, _Button.Save, parent.tr("&Save as…"))
    return box


def _box(parent: QWidget, title: str, text: str) -> QMessageBox:
    box = plain_box(parent, QMessageBox.Icon.Question, title, text)
    add_button(box, _Button.Yes, parent.tr("&Replace"))
    add_button(box, _Button.Cancel)
    box.setDefaultButton(_Button.Cancel)
    return box
