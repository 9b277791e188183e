"""Taking merges out of the history: copied as text, or exported to a file.

A few rows go to the clipboard at once, many from a background thread. Before an export, a dialog asks which merges and
which format; then a bar shows the progress.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialogButtonBox,
    QHBoxLayout,
    QProgressBar,
    QRadioButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from wordpiece_studio.session.background_job import BackgroundJob, Report, Turn
from wordpiece_studio.session.plural import plural
from wordpiece_studio.storage.merge_table import KINDS, NotWanted, merge_parts
from wordpiece_studio.training.history import MERGE_COLUMNS
from wordpiece_studio.ui.widgets.explained import explain
from wordpiece_studio.ui.widgets.plain import (
    copy_text,
    plain_label,
    set_plain_text,
    set_plain_tooltip,
    set_role,
    tool_button,
)
from wordpiece_studio.ui.widgets.screen_room import ScreenDialog
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from wordpiece_studio.training.history import MergeHistory

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_AT_ONCE = 256
"""Rows; they take a few milliseconds."""


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


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    history: MergeHistory
    steps: NDArray[np.int64]


class HistoryCopying(QObject):
    """Copies the rows most recently requested.

    Signals
    -------
    copied(int)
        This many rows are now on the clipboard.
    """

    copied = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._job = BackgroundJob(_work, "The rows cannot be copied", self)
        self._job.finished.connect(self._on_job_finished)

    @property
    def is_running(self) -> bool:
        """Whether rows are being copied."""
        return self._job.is_running

    def copy(self, history: MergeHistory, steps: NDArray[np.int64]) -> None:
        """Copy the merges of these steps, from 1, in this order: int64, shape (n_rows,)."""
        if len(steps) > _AT_ONCE:
            self._job.begin(_Rows(history, steps))
        else:
            self._job.stop()
            self._on_job_finished((history_tsv(history, steps), len(steps)))

    def close(self) -> None:
        """Cancel copying, and wait for the thread to end."""
        self._job.close()

    def _on_job_finished(self, copied: tuple[str, int]) -> None:
        text, rows = copied
        copy_text(text)
        self.copied.emit(rows)


def _work(order: Any, stop: threading.Event, _report: Report) -> tuple[str, int] | None:
    try:
        return history_tsv(order.history, order.steps, stop.is_set), len(order.steps)
    except NotWanted:
        return None


class ExportBar(QWidget):
    """Visible while merges are being written; work can continue meanwhile."""

    stop_requested = Signal()
    """The user canceled the export."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = ""
        self._label = plain_label("", self, role="hint")
        self._label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._bar = QProgressBar(self)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(self.tr("Export progress"))
        tip = self.tr("Cancel without writing; an existing file stays unchanged")
        self._stop = tool_button(self.tr("Cancel"), tip, self, name=self.tr("Cancel the export"))
        self._stop.clicked.connect(self.stop_requested)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 2, 10, 2)
        layout.addWidget(self._label, 3)
        layout.addWidget(self._bar, 1)
        layout.addWidget(self._stop)
        self.hide()

    @property
    def text(self) -> str:
        """The text of the bar; empty while it is hidden."""
        return self._label.text() if not self.isHidden() else ""

    def begin(self, name: str) -> None:
        """Show that a file of this name is being written."""
        self._name = name
        set_plain_text(self._label, self.tr("Writing {name}…").format(name=name))
        self._bar.setRange(0, 0)
        self.show()

    def show_progress(self, written: int, rows: int) -> None:
        """Show how many merges have been written."""
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


class HistoryExportDialog(ScreenDialog):
    """Asks which rows to export and in which format; the file name is asked for next.

    Parameters
    ----------
    merges
        The total number of merges.
    rows
        The number of rows shown; None if they are all the merges in step order, so that there is nothing to choose.
    """

    chosen = Signal(object)
    """The :class:`HistoryExportChoice`, when the dialog was accepted."""

    def __init__(self, merges: int, rows: int | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._layout = QVBoxLayout(self)
        self.setWindowTitle(self.tr("Export merge history"))
        explain("merge", self)
        self._rows = None
        if rows is not None:
            shown = plural(rows, "1 merge shown, as filtered and sorted", "{rows} merges shown, as filtered and sorted")
            shown = shown.format(rows=number_text(rows))
            every = plural(merges, "The only merge, in step order", "All {merges} merges, in step order")
            every = every.format(merges=number_text(merges))
            self._rows = self._ask(self.tr("Merges"), [(shown, 0), (every, 1)])
        kinds = (
            self.tr("CSV: for spreadsheets; tokens are never read as formulas"),
            self.tr("JSONL: one JSON object per merge, for programs"),
            self.tr("Parquet: small and fast to read, for programs; needs pyarrow"),
        )
        self._kinds = self._ask(self.tr("Format"), [(text, index) for index, text in enumerate(kinds)])
        self._end()

    def choice(self) -> HistoryExportChoice:
        """Return which merges to export, and the kind of file."""
        return HistoryExportChoice(self._rows is None or self._rows.checkedId() == 1, KINDS[self._kinds.checkedId()])

    def _ask(self, question: str, answers: Sequence[tuple[str, int]]) -> QButtonGroup:
        """Add a question; each answer is a text and its id in the group, and the first one is chosen."""
        group = QButtonGroup(self)
        self._layout.addWidget(plain_label(question, self, role="heading"))
        for text, number in answers:
            button = QRadioButton(text, self)
            button.setChecked(not group.buttons())
            group.addButton(button, number)
            self._layout.addWidget(button)
        self._layout.addSpacing(8)
        return group

    def _end(self) -> None:
        """Add the buttons; the accept button has the keyboard focus."""
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        go_on = buttons.addButton(self.tr("Choose &location…"), QDialogButtonBox.ButtonRole.AcceptRole)
        set_role(go_on, "primary")
        go_on.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        self._layout.addWidget(buttons)
        go_on.setFocus()

    def accept(self) -> None:
        """Emit the choice and close."""
        self.chosen.emit(self.choice())
        super().accept()
