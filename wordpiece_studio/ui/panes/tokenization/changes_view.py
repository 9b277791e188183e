"""The list of changes: one row per step that changed the live text, with the token it made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtWidgets import QHeaderView, QVBoxLayout, QWidget

from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn
from wordpiece_studio.ui.widgets.chip_style import ChipDelegate, FlowItem
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, tooltip_text
from wordpiece_studio.ui.widgets.quiet_table import QuietTable, needed_height
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from PySide6.QtGui import QResizeEvent

    from wordpiece_studio.session.live_changes import LiveChanges
    from wordpiece_studio.session.live_timeline import TextChange
    from wordpiece_studio.session.table_model import Index
    from wordpiece_studio.ui.widgets.theme import Theme

STEP, TOKEN, CHANGE, COUNT = range(4)


class ChangesModel(RecordTableModel["TextChange"]):
    """One row per change: step, token, change in the number of tokens, number of tokens."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._steps: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._step = 0
        self._columns = (
            TableColumn(
                self.tr("step"),
                lambda rows, row: number_text(rows[row].step),
                spoken=lambda rows, row: self._spoken(rows[row]),
            ),
            TableColumn(self.tr("token"), lambda rows, row: token_text(rows[row].token), align=LEFT),
            TableColumn(self.tr("change"), lambda rows, row: _signed(rows[row].change)),
            TableColumn(self.tr("tokens"), lambda rows, row: self._count(rows[row])),
        )

    def set_rows(self, rows: Sequence[TextChange], steps: NDArray[np.int64]) -> None:
        """Show these rows; `steps`: their steps, int64, shape (n,). Rows that are only appended move nothing."""
        old, self._steps = self._steps, steps
        if len(steps) < len(old) or not np.array_equal(steps[: len(old)], old):
            self.set_records(rows)
        else:
            self.extend_records(rows)
            self.redraw()

    def set_step(self, step: int) -> None:
        """Make the rows after `step` pale."""
        if step != self._step:
            self._step = step
            self.redraw()

    def last_past(self) -> int:
        """Return the index of the last row not after the step, or -1."""
        return int(np.searchsorted(self._steps, self._step, side="right")) - 1

    def is_future(self, row: int) -> bool:
        """Return whether a row lies after the step."""
        return bool(self._steps[row] > self._step)

    def redraw(self) -> None:
        """Report that all rows may look different now."""
        self._emit_changed(0, self.rowCount() - 1)

    def tooltip(self, item: int) -> str:
        """Return what a screen reader says."""
        return tooltip_text(self._spoken(self.records[item]))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.ForegroundRole and index.isValid():
            return self._theme.faint if self.is_future(index.row()) else self._theme.muted
        return super().data(index, role)

    def _count(self, row: TextChange) -> str:
        return self.tr("{count} tokens").format(count=number_text(row.tokens))

    def _spoken(self, row: TextChange) -> str:
        return self.tr("step {step}: {left} + {right} → {token}, {change} tokens, then {count}").format(
            step=number_text(row.step),
            left=token_text(row.left),
            right=token_text(row.right),
            token=token_text(row.token),
            change=_signed(row.change),
            count=self._count(row),
        )


def _signed(change: int) -> str:
    return f"−{number_text(-change)}" if change < 0 else f"+{number_text(change)}" if change else "±0"


class ChangesView(QWidget):
    """The rows of `changes` under a title; a click goes to the step."""

    step_chosen = Signal(object, object)
    """The step (int) of the row that was clicked, and the token (str) that it made."""
    rows_changed = Signal()
    """The number of rows has changed, and with it the height needed."""

    def __init__(self, changes: LiveChanges, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._changes = changes
        self._step = 0
        self._title = plain_label("", self, role="heading", wrap=True)
        self._table = _ChangesTable(theme, self)
        self._table.setAccessibleName(self.tr("Steps that changed the text"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 6, 6, 4)
        layout.setSpacing(4)
        layout.addWidget(self._title)
        layout.addWidget(self._table, 1)
        self._table.row_chosen.connect(self._on_table_row_chosen)
        changes.changed.connect(self._on_changes_changed)
        theme.changed.connect(self._table.changes.redraw)
        self._on_changes_changed()

    @property
    def rows(self) -> Sequence[TextChange]:
        """The rows shown."""
        return self._table.changes.records

    def needed_height(self, most_rows: int | None = None) -> int:
        """Return the height in pixels of the title and all rows, or the first `most_rows`."""
        rows = len(self.rows)
        return needed_height(self, self._title, self._table, rows if most_rows is None else min(rows, most_rows))

    def set_step(self, step: int) -> None:
        """Scroll to where this step lies among the rows; those after it are pale."""
        if step != self._step:
            self._step = step
            self._table.changes.set_step(step)
            self._mark_step()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._mark_step()

    def _on_changes_changed(self) -> None:
        before = len(self.rows)
        self._table.changes.set_rows(self._changes.rows, self._changes.steps)
        self._show_title()
        self._mark_step()
        if len(self.rows) != before:
            self.rows_changed.emit()

    def _show_title(self) -> None:
        rows, is_known = len(self.rows), self._changes.is_known
        text = self.tr("Steps that changed this text")
        if rows and is_known:
            text = self.tr("{count} steps that changed this text").format(count=number_text(rows))
        elif not rows:
            appear = self.tr("The steps that change this text appear here")
            text = self.tr("No step changes this text") if is_known else appear
        set_plain_text(self._title, text)

    def _mark_step(self) -> None:
        """Keep the last row not after the step in view, and mark it if it is at the step."""
        changes = self._table.changes
        here = changes.last_past()
        is_current_step = here >= 0 and int(self._changes.steps[here]) == self._step
        self._table.setCurrentIndex(changes.index(here, 0) if is_current_step else QModelIndex())
        if changes.rowCount():
            self._table.scrollTo(changes.index(max(here, 0), 0))

    def _on_table_row_chosen(self, row: int) -> None:
        chosen = self.rows[row]
        self.step_chosen.emit(chosen.step, chosen.token)


class _ChangesTable(QuietTable):
    """Step, token as a chip with its pair, change, number of tokens."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.changes = ChangesModel(theme, self)
        self._delegate = ChipDelegate(theme, TOKEN, self._chips_at, self)
        self.setModel(self.changes)
        self.setItemDelegate(self._delegate)
        self.horizontalHeader().hide()
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setSectionResizeMode(TOKEN, QHeaderView.ResizeMode.Stretch)
        self.restyle()
        theme.changed.connect(self.on_theme_changed)

    def restyle(self) -> None:
        metrics = self.fontMetrics()
        self._delegate.restyle()
        self.verticalHeader().setDefaultSectionSize(self._delegate.chip_height + 4)
        self.setColumnWidth(STEP, metrics.horizontalAdvance("300,000") + 10)
        self.setColumnWidth(CHANGE, metrics.horizontalAdvance("−1,000") + 10)
        self.setColumnWidth(COUNT, metrics.horizontalAdvance("10,000 tokens") + 14)

    def _chips_at(self, index: Index) -> Iterator[list[FlowItem]]:
        """Yield the token of a row as a chip with its pair, and without."""
        row, is_future = self.changes.records[index.row()], self.changes.is_future(index.row())
        chip = FlowItem(row.token, "chip", faded=is_future)
        yield [chip, FlowItem(f"{token_text(row.left)} + {token_text(row.right)}", faded=is_future)]
        yield [chip]
