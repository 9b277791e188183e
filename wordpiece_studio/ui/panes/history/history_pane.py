"""The merge history: one row per merge, to inspect, filter, sort, go to and copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from wordpiece_studio.session.history_table import TOKEN_COLUMNS, HistoryColumn, HistoryTableModel
from wordpiece_studio.session.live_changes import LiveChanges
from wordpiece_studio.session.plural import plural
from wordpiece_studio.session.run import Selection, TrainerState
from wordpiece_studio.session.selection import SelectionStep
from wordpiece_studio.session.table_model import VALUE_ROLE
from wordpiece_studio.ui.panes.history.history_controls import HistoryControls, HistoryFilterRow, HistoryMenu
from wordpiece_studio.ui.panes.history.history_export import ExportBar, HistoryCopying
from wordpiece_studio.ui.panes.history.history_view import HistoryView
from wordpiece_studio.ui.widgets.pane import EmptyState, Pane
from wordpiece_studio.ui.widgets.run_names import merges_text
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QResizeEvent

    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.ui.widgets.theme import Theme

_BUSY_DELAY_MS = 50
_MOST_COPIED = 100_000
_WIDE_LETTERS = 72
"""In a pane wider than this many letters the filter button has a caption."""


class HistoryPane(Pane):
    """The table of merges with its controls."""

    export_requested = Signal()
    """The user wants to save the table."""
    columns_chosen = Signal(object)
    """The user has chosen other columns: their names, as in `HistoryColumns.names`."""

    def __init__(
        self, model: TrainerModel, theme: Theme, parent: QWidget | None = None, *, changes: LiveChanges | None = None
    ) -> None:
        super().__init__(model, parent)
        self._changes = changes if changes is not None else LiveChanges(self)
        self._rows = HistoryTableModel(model, self)
        self._view = HistoryView(self._rows, theme, self)
        self._controls = HistoryControls(theme, HistoryMenu(self._view, self), self)
        self._filter_row = HistoryFilterRow(self)
        self._filter_row.hide()
        self.export_bar = ExportBar(self)
        self._copying = HistoryCopying(self)
        self._empty = EmptyState(self)
        self._selection_step = SelectionStep()
        self._is_my_selection = False  # the selection was made here, so it is in view
        self._is_selection_marked = False
        self._is_open_for_step = False  # the filter row, which closes once the step is typed
        layout = QVBoxLayout(self)
        layout.setContentsMargins(1, 4, 1, 2)
        layout.setSpacing(4)
        layout.addWidget(self._controls)
        layout.addWidget(self._filter_row)
        layout.addWidget(self.export_bar)
        layout.addWidget(self._empty, 1)
        layout.addWidget(self._view, 100)
        self._connect()
        self._rows.set_live_steps(self._changes.steps)
        self._show_columns()
        self._view.set_step(model.step)
        self._view.show_step(model.step, select=False)
        self.set_heading(self.tr("Merge history"))

    def header_widget(self) -> QWidget:
        """Return the controls for the panel's title bar; until they are moved there, they stand above the table."""
        return self._controls

    @property
    def view(self) -> HistoryView:
        """The table."""
        return self._view

    @property
    def rows(self) -> HistoryTableModel:
        return self._rows

    def _connect(self) -> None:
        self._view.clicked.connect(self._on_view_clicked)
        self._view.item_walked_to.connect(self._on_view_item_walked_to)
        self._view.copy_requested.connect(self.copy_rows)
        self._copying.copied.connect(self._on_copying_copied)
        self._view.columns.changed.connect(self._show_columns)
        self._view.columns.chosen.connect(self._on_columns_chosen)
        self._controls.filter_wanted.connect(self.open_filter)
        self._controls.step_wanted.connect(self.ask_for_step)
        self._controls.shown_step_requested.connect(self.show_step)
        self._controls.export_requested.connect(self.export_requested)
        self._filter_row.filter_changed.connect(self._on_filter_row_filter_changed)
        self._filter_row.step_entered.connect(self._on_filter_row_step_entered)
        self._filter_row.closed.connect(self._on_filter_row_closed)
        self._rows.filter_failed.connect(self._filter_row.show_error)
        self._rows.busy_changed.connect(self._on_rows_changed)
        self._rows.rows_found.connect(self._on_rows_changed)
        self._rows.modelReset.connect(self._on_rows_model_reset)
        self._changes.changed.connect(self._on_changes_changed)
        self._model.selection_changed.connect(self._on_model_selection_changed)
        self._model.step_changed.connect(self._on_model_step_changed)
        self._model.merges_appended.connect(self._on_model_merges_appended)
        self._model.state_changed.connect(self._on_model_state_changed)

    # -- contents

    def refresh(self) -> None:
        history, count = self._model.history, self._model.merge_count
        self._show_emptiness()
        self._view.columns.fit_numbers()
        if not self._is_selection_marked:
            self._mark_selection()
        if history is None:
            self.set_heading(self.tr("Merge history"))
            return
        ties = int(np.count_nonzero(history.column("ties")[:count] > 1))
        merges = merges_text(count)
        tied = plural(ties, "1 tie", "{count} ties").format(count=number_text(ties))
        hints = (f"{merges} · {tied}", merges, "{merges}")
        if self._rows.is_busy:
            searching = plural(count, "Searching 1 merge…", "Searching {merges} merges…")
            hints = (searching, self.tr("Searching…"), "…")
        elif self._rows.hidden_count:
            shown = plural(count, "{shown} of 1 merge shown", "{shown} of {merges} merges shown")
            hints = (shown, self.tr("{shown} of {merges}"), "{shown}")
        texts = {"merges": number_text(count), "shown": number_text(self._rows.rowCount())}
        self._set_hint(*(hint.format(**texts) for hint in hints))

    def _set_hint(self, *hints: str) -> None:
        """Show the first hint that fits beside the title and the buttons, or none."""
        title, taken = self.tr("Merge history"), self._controls.sizeHint().width()
        self.set_heading(title, self.fitting_hint(title, *hints, "", taken=taken))

    def _show_emptiness(self) -> None:
        text = ""
        if self._model.history is None:
            text = self.tr("Nothing has been trained yet. Train to see every merge here.")
        elif not self._model.merge_count and self._model.state is not TrainerState.TRAINING:
            text = self._why_no_merge()
        elif not self._rows.rowCount() and self._rows.hidden_count:
            text = self.tr("No merge matches the filter.")
            if self._rows.filter.only_live and not self._changes.is_known:
                text = self.tr("Still finding the steps that change the live text.")
        self._empty.show_text(text, offers=self._model.history is None)
        self._empty.setVisible(bool(text))
        self._view.setVisible(not text)

    def _why_no_merge(self) -> str:
        """Return why a run has no merge, and whether there can be one."""
        config = self._model.config
        reasons = {
            "no_pair": self.tr("No merges: no pair is left. Every word in the training corpus is a single symbol."),
            "min_frequency": self.tr("No merges: no pair reaches the minimum frequency of {count}.").format(
                count=number_text(config.min_frequency if config is not None else 0)
            ),
            "vocab_size": self.tr(
                "No merges: special tokens and alphabet already fill the vocabulary size. Use “Train further” to "
                "learn merges."
            ),
            "min_value": self.tr("No merges: no pair reaches the minimum merge score."),
            "max_merges": self.tr("No merges were requested. Use “Train further” to learn some."),
            "peer": self.tr("This run was trained with another library, which does not record merges."),
            "max_seconds": self.tr("No merges: time ran out before the first one. Use “Train further” to learn some."),
        }
        first = self.tr("No merges yet. Use “Next merge” to learn the first one.")
        return reasons.get(self._model.stop_reason or "", first)

    def show_tools(self, is_wanted: bool) -> None:
        """Offer the choice of columns in the title bar, or leave it to the menu of the table's header."""
        self._controls.show_tools(is_wanted)
        self.refresh_later()

    def show_step(self) -> None:
        """Scroll to the row of the current step and focus it; a filter that hides it is cleared."""
        if self._model.step and self._rows.row_of_step(self._model.step) < 0:
            self._filter_row.clear()
        self._view.show_step(self._model.step, select=True)
        self._view.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def open_filter(self, is_wanted: bool = True) -> None:
        """Show the filter row and focus it; or hide it, and show all merges."""
        self._is_open_for_step = False
        self._filter_row.setVisible(is_wanted)
        if is_wanted:
            self._filter_row.ask_for_text()
        else:
            self._filter_row.clear()
        self._show_filter()

    def ask_for_step(self) -> None:
        """Move the keyboard focus to the step field."""
        was_hidden = self._filter_row.isHidden()
        self._filter_row.show()
        self._show_filter()
        self._filter_row.ask_for_step()
        self._is_open_for_step = was_hidden

    def take_columns(self, names: Sequence[str]) -> None:
        """Show the columns that were chosen earlier."""
        self._view.columns.take_names(names)

    def set_export_enabled(self, is_enabled: bool) -> None:
        self._controls.set_export_enabled(is_enabled)

    def close_jobs(self) -> None:
        self._copying.close()
        self._rows.close()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._controls.set_wide(event.size().width() > _WIDE_LETTERS * self.fontMetrics().averageCharWidth())
        self.refresh_later()

    # -- copying

    def copy_rows(self) -> None:
        """Copy the selected rows as tab-separated text, unless there are none or far too many."""
        history, steps = self._model.history, self._view.selected_steps()
        rows = len(steps)
        if rows > _MOST_COPIED:
            too_many = plural(
                rows, "1 row is too many to copy: export it", "{count} rows are too many to copy: export them"
            )
            self._set_hint(too_many.format(count=number_text(rows)), self.tr("Too many rows to copy"))
        elif history is not None and rows:
            self._copying.copy(history, steps)
            if self._copying.is_running:
                self._set_hint(plural(rows, "Copying 1 row…", "Copying {count} rows…").format(count=number_text(rows)))

    def _on_copying_copied(self, rows: int) -> None:
        self._set_hint(plural(rows, "1 row copied", "{count} rows copied").format(count=number_text(rows)))

    # -- events

    def _go_to(self, step: int) -> None:
        history = self._model.history
        if history is None:
            return
        self._model.seek(step)
        if 1 <= step <= self._model.merge_count:
            self._look_at(history.token(int(history.column("new_id")[step - 1])))

    def _look_at(self, token: str) -> None:
        self._is_my_selection = True
        self._model.set_selection(Selection("token", text=token))
        self._is_my_selection = False

    def _mark_selection(self) -> None:
        """Mark the row of the selection; scroll to it if it was made elsewhere."""
        model, step = self._model, 0
        if model.selection is not None and model.selection.kind != "word":
            step = self._selection_step.find(model.selection, model.history, model.merge_count) or 0
        self._is_selection_marked = bool(step)
        self._view.set_selection_step(step)
        if step and not self._is_my_selection and self._rows.row_of_step(step) >= 0:
            self._view.show_step(step, select=False)

    def _show_filter(self) -> None:
        self._controls.show_filter(self._filter_row.filter, is_open=not self._filter_row.isHidden())

    def _show_columns(self) -> None:
        self._controls.show_columns(len(self._view.columns.shown()), len(HistoryColumn))

    def _on_columns_chosen(self) -> None:
        self._show_columns()
        self.columns_chosen.emit(self._view.columns.names())

    def _on_view_item_walked_to(self, index: int) -> None:
        self._go_to(index + 1)

    def _on_view_clicked(self, index: QModelIndex) -> None:
        if not self._view.is_one_row_selected():
            return
        if index.column() in TOKEN_COLUMNS:
            self._look_at(index.data(VALUE_ROLE))
        else:
            self._go_to(self._rows.step_of_row(index.row()))

    def _on_filter_row_filter_changed(self) -> None:
        self._filter_row.show_error(None)
        self._rows.set_filter(self._filter_row.filter)
        self._show_filter()
        self.refresh_later()

    def _on_filter_row_step_entered(self, step: int) -> None:
        self._model.seek(step)
        if self._is_open_for_step and not self._filter_row.filter:
            self.open_filter(False)
        self._view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_filter_row_closed(self) -> None:
        self.open_filter(False)
        self._view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_rows_changed(self, _how: object) -> None:
        self.refresh_later()

    def _on_rows_model_reset(self) -> None:
        self._view.set_step(self._model.step)
        self._mark_selection()
        self._view.restyle()  # in another run the value may have another name, and numbers another length
        self._view.show_step(self._model.step, select=True)
        self.refresh_later()

    def _on_changes_changed(self) -> None:
        self._rows.set_live_steps(self._changes.steps)
        self.refresh_later()

    def _on_model_selection_changed(self, _selection: object) -> None:
        self._mark_selection()

    def _on_model_step_changed(self, step: int) -> None:
        self._view.set_step(step)
        self._view.viewport().update()  # more may now be known of a run that was opened
        if self._model.state is TrainerState.TRAINING and self._model.is_at_head:
            return  # the view follows by itself if it is at the end, and otherwise stays put
        self._view.show_step(step, select=self._view.is_one_row_selected())

    def _on_model_merges_appended(self, _first: object, _last: object) -> None:
        self.refresh_later(_BUSY_DELAY_MS)

    def _on_model_state_changed(self, _state: object) -> None:
        self._view.show_step(self._model.step, select=self._view.is_one_row_selected())
        self.refresh_later()
