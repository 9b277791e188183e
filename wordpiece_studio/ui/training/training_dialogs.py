"""The two questions about a training: may its merges be discarded, and how far shall it go on."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFormLayout, QMessageBox, QSpinBox, QVBoxLayout, QWidget

from wordpiece_studio.ui.look.plain import plain_label, set_role
from wordpiece_studio.ui.messages import plain_box

_LARGEST_SIZE = 10_000_000
_STEPS = (100, 200, 500, 1000, 2000, 5000, 8000, 10_000, 16_000, 20_000, 30_000, 50_000, 100_000)


def discard_question(merges: int, parent: QWidget) -> QMessageBox:
    """Return the question whether `merges` merges may be discarded; its result is ``Yes`` or ``Cancel``."""
    box = plain_box(
        parent,
        QMessageBox.Icon.Question,
        parent.tr("Train again from the first merge?"),
        parent.tr("The {merges:,} merges learned so far are discarded. To keep them and learn more, "
                  "use “Train further”.").format(merges=merges),
    )  # fmt: skip
    discard = box.addButton(QMessageBox.StandardButton.Yes)
    discard.setText(parent.tr("&Train again"))
    box.addButton(QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(QMessageBox.StandardButton.Yes)
    box.setEscapeButton(QMessageBox.StandardButton.Cancel)
    return box


class FurtherDialog(QDialog):
    """Asks for the size to which the vocabulary shall grow."""

    size_chosen = Signal(object)
    """The new size, an int larger than the present one."""

    def __init__(self, size: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Train further"))
        intro = plain_label(
            self.tr("The vocabulary has {size:,} tokens. Everything learned is kept.").format(size=size),
            self, role="caption", wrap=True,
        )  # fmt: skip
        self._size_box = QSpinBox(self)
        self._size_box.setRange(size + 1, max(size + 1, _LARGEST_SIZE))
        self._size_box.setGroupSeparatorShown(True)
        self._size_box.setStepType(QSpinBox.StepType.AdaptiveDecimalStepType)
        self._size_box.setValue(next_size(size))
        self._size_box.setAccessibleName(self.tr("New size of the vocabulary"))
        self._size_box.selectAll()
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        go_on = buttons.addButton(self.tr("&Train further"), QDialogButtonBox.ButtonRole.AcceptRole)
        set_role(go_on, "primary")
        go_on.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        form = QFormLayout()
        form.addRow(self.tr("Go on to a size of"), self._size_box)
        layout = QVBoxLayout(self)
        layout.addWidget(intro)
        layout.addLayout(form)
        layout.addWidget(buttons)
        self._size_box.setFocus()

    def accept(self) -> None:
        """Hand the size over and close."""
        self.size_chosen.emit(self._size_box.value())
        super().accept()


def next_size(size: int) -> int:
    """Return the size to offer after `size`: the next usual one, or a fifth more beyond them.

    >>> next_size(70), next_size(8000), next_size(200_000)
    (100, 10000, 240000)
    """
    return next((step for step in _STEPS if step > size * 1.1), size + max(1, size // 5))
