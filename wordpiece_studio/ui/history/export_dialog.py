"""The question which merges are exported, and as what; the place is asked for afterwards."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QDialog, QDialogButtonBox, QRadioButton, QVBoxLayout, QWidget

from wordpiece_studio.core.formats.merge_table import KINDS
from wordpiece_studio.ui.look.plain import plain_label, set_role
from wordpiece_studio.ui.look.token_text import number_text


@dataclass(frozen=True, slots=True)
class ExportChoice:
    """What is exported: all merges or the rows shown, in their order; and the ending of the file's name."""

    all_merges: bool
    kind: str


class ExportDialog(QDialog):
    """Asks which rows are exported and in which format.

    Parameters
    ----------
    merges
        How many there are.
    rows
        How many are shown; None if these are all of them in the order of the steps, and there is nothing to choose.
    """

    chosen = Signal(object)
    """The :class:`ExportChoice`, when the dialog was accepted."""

    def __init__(self, merges: int, rows: int | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Export merge history"))
        self._rows = QButtonGroup(self)
        self._kinds = QButtonGroup(self)
        layout = QVBoxLayout(self)
        if rows is not None:
            layout.addWidget(plain_label(self.tr("Which merges?"), self, role="heading"))
            shown = self.tr("The {rows} shown, filtered and sorted as they are").format(rows=number_text(rows))
            every = self.tr("All {merges}, in the order of the steps").format(merges=number_text(merges))
            self._add(layout, self._rows, shown, 0)
            self._add(layout, self._rows, every, 1)
            layout.addSpacing(8)
        layout.addWidget(plain_label(self.tr("As what?"), self, role="heading"))
        self._add(layout, self._kinds, self.tr("csv: for spreadsheets; no token is taken for a formula"), 0)
        self._add(layout, self._kinds, self.tr("jsonl: an object of JSON a merge, for programs"), 1)
        self._add(layout, self._kinds, self.tr("parquet: small and quick to read, for programs; needs pyarrow"), 2)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        save = buttons.addButton(self.tr("Choose &where…"), QDialogButtonBox.ButtonRole.AcceptRole)
        set_role(save, "primary")
        save.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout.addSpacing(8)
        layout.addWidget(buttons)
        save.setFocus()

    def accept(self) -> None:
        """Hand the choice over and close."""
        self.chosen.emit(ExportChoice(self._rows.checkedId() != 0, KINDS[self._kinds.checkedId()]))
        super().accept()

    def _add(self, layout: QVBoxLayout, group: QButtonGroup, text: str, value: int) -> None:
        button = QRadioButton(text, self)
        button.setChecked(not group.buttons())
        group.addButton(button, value)
        layout.addWidget(button)
