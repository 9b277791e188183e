"""Taking merges out of the history: as text to copy, or exported to a file.

Before an export, a dialog asks which merges and which format; then a bar shows the progress.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QProgressBar,
    QRadioButton,
    QSizePolicy,
    QSpacerItem,
    QWidget,
)

from wordpiece_studio.session.plural import counted, plural
from wordpiece_studio.session.task import Turn
from wordpiece_studio.storage.merge_table import KINDS, merge_parts
from wordpiece_studio.training.history import MERGE_COLUMNS
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import (
    plain_label,
    set_plain_text,
    set_plain_tooltip,
    tool_button,
)
from wordpiece_studio.ui.widgets.screen_room import QuestionDialog
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from wordpiece_studio.training.history import MergeHistory

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def history_tsv(
    history: MergeHistory, steps: NDArray[np.int64], should_stop: Callable[[], bool] = lambda: False
) -> str:
    """Return one line per step below a header line; numbers are exact and the same in every language.

    Parameters
    ----------
    steps
        Steps from 1, shape (n_rows,), in the order wanted.
    """
    lines, turn = ["\t".join(MERGE_COLUMNS)], Turn()
    for columns in merge_parts(history, steps, should_stop):
        for name in ("left", "right", "token"):
            columns[name] = [token.translate(_ESCAPES) for token in columns[name]]
        lines += ["\t".join(map(str, row)) for row in zip(*(columns[name] for name in MERGE_COLUMNS), strict=True)]
        turn.give()
    return "\n".join(lines) + "\n"


class ExportBar(QWidget):
    """Visible while merges are being written; work can continue meanwhile."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = ""
        self._label = plain_label("", self, role="hint")
        self._label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._bar = QProgressBar(self)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(self.tr("Export progress"))
        tip = self.tr("Cancel without writing; an existing file stays unchanged")
        self.stop_button = tool_button(self.tr("Cancel"), tip, self, name=self.tr("Cancel the export"))
        fill(QHBoxLayout(self), (self._label, 3), (self._bar, 1), self.stop_button, margins=(12, 2, 10, 2), spacing=-1)
        self.hide()

    @property
    def text(self) -> str:
        return self._label.text() if not self.isHidden() else ""

    def begin(self, name: str) -> None:
        """Show that a file of this name is being written."""
        self._name = name
        set_plain_text(self._label, self.tr("Writing {name}…").format(name=name))
        self._bar.setRange(0, 0)
        self.show()

    def show_progress(self, written: int, rows: int) -> None:
        sentence = plural(rows, "{name}: {written} of 1 merge", "{name}: {written} of {rows} merges")
        text = sentence.format(name=self._name, written=number_text(written), rows=number_text(rows))
        set_plain_text(self._label, text)
        set_plain_tooltip(self._label, text)
        self._bar.setRange(0, max(rows, 1))
        self._bar.setValue(written)


@dataclass(frozen=True, slots=True)
class HistoryExportChoice:
    """What to export: all merges, or the rows shown in their order; and the file format, as its suffix."""

    all_merges: bool
    kind: str


class HistoryExportDialog(QuestionDialog):
    """Asks which rows to export and in which format; the file name is asked for next.

    Parameters
    ----------
    merges
        The total number of merges.
    rows
        The number of rows shown; None if they are all the merges in step order, so that there is nothing to choose.
    """

    def __init__(self, merges: int, rows: int | None, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Export merge history"), parent, entry="merge")
        self._parts: list[QWidget | QSpacerItem] = []
        self._rows = None
        if rows is not None:
            shown = counted(
                rows, "1 merge shown, as filtered and sorted", "{count} merges shown, as filtered and sorted"
            )
            every = counted(merges, "The only merge, in step order", "All {count} merges, in step order")
            self._rows = self._ask(self.tr("Merges"), shown, every)
        kinds = (
            self.tr("CSV: for spreadsheets; tokens are never read as formulas"),
            self.tr("JSONL: one JSON object per merge, for programs"),
            self.tr("Parquet: small and fast to read, for programs; needs pyarrow"),
        )
        self._kinds = self._ask(self.tr("Format"), *kinds)
        self.lay_out(*self._parts, accept=self.tr("Choose &location…"))
        self.accept_button.setFocus()

    def _ask(self, question: str, *answers: str) -> QButtonGroup:
        """Add a question; the ids of the answers in the group count from 0, and the first one is chosen."""
        group = QButtonGroup(self)
        self._parts.append(plain_label(question, self, role="heading"))
        for number, text in enumerate(answers):
            button = QRadioButton(text, self)
            button.setChecked(number == 0)
            group.addButton(button, number)
            self._parts.append(button)
        self._parts.append(QSpacerItem(0, 8, QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed))
        return group

    @property
    def choice(self) -> HistoryExportChoice:
        are_all = self._rows is None or self._rows.checkedId() == 1
        return HistoryExportChoice(are_all, KINDS[self._kinds.checkedId()])
