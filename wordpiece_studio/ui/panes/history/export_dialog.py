"""The question which merges are exported, and as what; the place is asked for afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wordpiece_studio.storage.merge_table import KINDS
from wordpiece_studio.ui.widgets.choice_dialog import ChoiceDialog
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget


@dataclass(frozen=True, slots=True)
class ExportChoice:
    """What is exported: all merges or the rows shown, in their order; and the ending of the file's name."""

    all_merges: bool
    kind: str


class ExportDialog(ChoiceDialog):
    """Asks which rows are exported and in which format.

    Parameters
    ----------
    merges
        How many there are.
    rows
        How many are shown; None if these are all of them in the order of the steps, and there is nothing to choose.
    """

    def __init__(self, merges: int, rows: int | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Export merge history"))
        self._rows = None
        if rows is not None:
            shown = self.tr("The {rows} shown, filtered and sorted as they are").format(rows=number_text(rows))
            every = self.tr("All {merges}, in the order of the steps").format(merges=number_text(merges))
            self._rows = self.ask(self.tr("Which merges?"), [(shown, 0), (every, 1)])
        kinds = (
            self.tr("csv: for spreadsheets; no token is taken for a formula"),
            self.tr("jsonl: an object of JSON a merge, for programs"),
            self.tr("parquet: small and quick to read, for programs; needs pyarrow"),
        )
        self._kinds = self.ask(self.tr("As what?"), [(text, index) for index, text in enumerate(kinds)])
        self.end()

    def choice(self) -> ExportChoice:
        """Return which merges, and the kind of file."""
        return ExportChoice(self._rows is None or self._rows.checkedId() == 1, KINDS[self._kinds.checkedId()])
