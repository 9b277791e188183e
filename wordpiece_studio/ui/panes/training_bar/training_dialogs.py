"""The two training dialogs: whether merges may be discarded, and to what size to train further."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFormLayout, QMessageBox, QSpinBox, QVBoxLayout, QWidget

from wordpiece_studio.ui.messages import add_button, plain_box
from wordpiece_studio.ui.panes.training_bar.training_bar import NUMBERS
from wordpiece_studio.ui.widgets.plain import plain_label, set_role

_LARGEST_SIZE = 10_000_000
_STEPS = (100, 200, 500, 1000, 2000, 5000, 8000, 10_000, 16_000, 20_000, 30_000, 50_000, 100_000)


def discard_question(merges: int, corpus_name: str, parent: QWidget) -> QMessageBox:
    """Return the dialog that asks whether `merges` merges may be discarded; its result is ``Yes`` or ``Cancel``.

    `corpus_name`: the corpus that they were learned from.
    """
    lost = (
        parent.tr("The merge learned from “{name}” will be discarded.") if merges == 1
        else parent.tr("The {merges:,} merges learned from “{name}” will be discarded.")
    ).format(merges=merges, name=corpus_name)  # fmt: skip
    keep = parent.tr("To keep them and learn more, use “Train further”.")
    title = parent.tr("Train again from the first merge?")
    box = plain_box(parent, QMessageBox.Icon.Question, title, f"{lost} {keep}")
    yes = QMessageBox.StandardButton.Yes
    add_button(box, yes, parent.tr("&Train again"))
    add_button(box, QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(yes)
    return box


class FurtherDialog(QDialog):
    """Asks to what size the vocabulary should grow.

    Parameters
    ----------
    note
        What training further does not take into account; with it, there is a button to train again instead.
    """

    size_chosen = Signal(object)
    """The new size, an int larger than the current one."""
    again_chosen = Signal()
    """The user prefers to train again."""

    def __init__(self, size: int, parent: QWidget | None = None, *, note: str = "") -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Train further"))
        intro = plain_label(
            self.tr("The vocabulary has {size:,} tokens. Everything learned so far is kept.").format(size=size),
            self, role="caption", wrap=True,
        )  # fmt: skip
        self._size_box = QSpinBox(self)
        self._size_box.setRange(size + 1, max(size + 1, _LARGEST_SIZE))
        self._size_box.setLocale(NUMBERS)
        self._size_box.setGroupSeparatorShown(True)
        self._size_box.setStepType(QSpinBox.StepType.AdaptiveDecimalStepType)
        self._size_box.setValue(next_size(size))
        self._size_box.setAccessibleName(self.tr("New vocabulary size"))
        self._size_box.selectAll()
        self.note = note
        buttons = QDialogButtonBox(self)
        buttons.addButton(self.tr("&Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        if note:
            again = buttons.addButton(self.tr("Train &again"), QDialogButtonBox.ButtonRole.ResetRole)
            again.clicked.connect(self._on_again_clicked)
        go_on = buttons.addButton(self.tr("&Train further"), QDialogButtonBox.ButtonRole.AcceptRole)
        set_role(go_on, "primary")
        go_on.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        form = QFormLayout()
        form.addRow(self.tr("New vocabulary size"), self._size_box)
        layout = QVBoxLayout(self)
        layout.addWidget(intro)
        if note:
            layout.addWidget(plain_label(note, self, wrap=True))
        layout.addLayout(form)
        layout.addWidget(buttons)
        self._size_box.setFocus()

    def accept(self) -> None:
        """Emit the size and close."""
        self.size_chosen.emit(self._size_box.value())
        super().accept()

    def _on_again_clicked(self) -> None:
        self.reject()
        self.again_chosen.emit()


def next_size(size: int) -> int:
    """Return the size to offer after `size`: the next usual one, or a fifth more beyond those.

    >>> next_size(70), next_size(8000), next_size(200_000)
    (100, 10000, 240000)
    """
    return next((step for step in _STEPS if step > size * 1.1), size + max(1, size // 5))
