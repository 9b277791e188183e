"""The merge history: one row a merge, at hand to look at, filter, sort, go to and copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QVBoxLayout, QWidget

from wordpiece_studio.model.history_rows import HistoryFilter
from wordpiece_studio.model.history_table import HistoryTableModel
from wordpiece_studio.model.records import Focus, TrainerState
from wordpiece_studio.model.watched_changes import WatchedChanges
from wordpiece_studio.ui.history.history_controls import HistoryControls
from wordpiece_studio.ui.history.history_tsv import history_tsv
from wordpiece_studio.ui.history.history_view import HistoryView
from wordpiece_studio.ui.look.pane import Pane
from wordpiece_studio.ui.look.plain import plain_label, set_plain_text
from wordpiece_studio.ui.look.token_text import number_text

if TYPE_CHECKING:
    from wordpiece_studio.model.trainer_model import TrainerModel
    from wordpiece_studio.ui.look.theme import Theme

_BUSY_DELAY_MS = 50


class HistoryPane(Pane):
    """The table of merges with its controls."""

    def __init__(
        self, model: TrainerModel, theme: Theme, parent: QWidget | None = None, *, changes: WatchedChanges | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._changes = changes if changes is not None else WatchedChanges(self)
        self._rows = HistoryTableModel(model, self)
        self._view = HistoryView(self._rows, theme, self)
        self._controls = HistoryControls(self)
        self._empty = plain_label("", self, role="hint", wrap=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._jump = QShortcut(QKeySequence("Ctrl+G"), self)
        self._jump.setContext(Qt.ShortcutContext.WindowShortcut)
        self._show_moment = QShortcut(QKeySequence("Ctrl+J"), self)
        self._show_moment.setContext(Qt.ShortcutContext.WindowShortcut)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(1, 4, 1, 2)
        layout.setSpacing(4)
        layout.addWidget(self._controls)
        layout.addWidget(self._empty, 1)
        layout.addWidget(self._view, 100)
        self._connect()
        self._view.set_moment(model.moment)
        self.set_heading(self.tr("Merge history"))

    def header_widget(self) -> QWidget:
        """Return the controls, for the title line of the card; until it is taken they stand above the table."""
        return self._controls

    @property
    def view(self) -> HistoryView:
        """The table."""
        return self._view

    @property
    def rows(self) -> HistoryTableModel:
        """The rows of the table."""
        return self._rows

    def _connect(self) -> None:
        self._view.clicked.connect(self._on_view_clicked)
        self._view.step_walked_to.connect(self._go_to)
        self._view.copy_requested.connect(self.copy_rows)
        self._controls.filter_changed.connect(self._on_controls_filter_changed)
        self._controls.step_entered.connect(self._on_controls_step_entered)
        self._jump.activated.connect(self._controls.ask_for_step)
        self._show_moment.activated.connect(self.show_moment)
        self._controls.moment_requested.connect(self.show_moment)
        self._model.moment_changed.connect(self._on_model_moment_changed)
        self._model.merges_appended.connect(self._on_model_merges_appended)
        self._model.run_reset.connect(self._on_model_run_reset)
        self._model.state_changed.connect(self._on_model_state_changed)

    # -- what is shown

    def refresh(self) -> None:
        history, count = self._model.history, self._model.merge_count
        self._show_emptiness()
        self._view.fit_numbers()
        if history is None:
            self.set_heading(self.tr("Merge history"))
            return
        ties = int(np.count_nonzero(history.column("ties")[:count] > 1))
        hint = self.tr("{merges} merges, {ties} tie") if ties == 1 else self.tr("{merges} merges, {ties} ties")
        if self._rows.hidden_count:
            hint = self.tr("{shown} of {merges} merges shown")
        texts = {"merges": number_text(count), "ties": number_text(ties), "shown": number_text(self._rows.rowCount())}
        self.set_heading(self.tr("Merge history"), hint.format(**texts))

    def _show_emptiness(self) -> None:
        text = ""
        if self._model.history is None:
            text = self.tr("Nothing is trained yet. Train, and every merge appears here.")
        elif not self._model.merge_count and self._model.state is not TrainerState.TRAINING:
            text = self._why_no_merge()
        elif not self._rows.rowCount() and self._rows.hidden_count:
            text = self.tr("No merge matches the filter.")
        set_plain_text(self._empty, text)
        self._empty.setVisible(bool(text))
        self._view.setVisible(not text)

    def _why_no_merge(self) -> str:
        """Return what is true of a run without a merge: whether there can be one."""
        config = self._model.config
        reasons = {
            "no_pair": self.tr("No merge: no pair is left. Every word that was trained on is one symbol."),
            "min_frequency": self.tr("No merge: no pair occurs {count} times, the smallest count asked for.").format(
                count=number_text(config.min_frequency if config is not None else 0)
            ),
            "vocab_size": self.tr("No merge: special tokens and alphabet reach the size. “Train further” goes on."),
            "min_value": self.tr("No merge: no pair is as good as asked for."),
            "max_merges": self.tr("No merge was asked for. “Train further” learns some."),
            "max_seconds": self.tr("No merge: the time was over before the first one. “Train further” goes on."),
        }
        first = self.tr("No merge yet. “Next merge” learns the first one.")
        return reasons.get(self._model.stop_reason or "", first)

    def show_moment(self) -> None:
        """Bring the row of the moment into view and give it the keyboard; a filter that hides it is taken away."""
        if self._model.moment and self._rows.row_of_step(self._model.moment) < 0:
            self._controls.clear_filter()
        self._view.show_step(self._model.moment, select=True)
        self._view.setFocus(Qt.FocusReason.ShortcutFocusReason)

    # -- copying

    def copy_rows(self) -> None:
        """Put the selected rows on the clipboard as tab-separated text; nothing if none is selected."""
        history, steps = self._model.history, self._view.selected_steps()
        if history is not None and len(steps):
            QGuiApplication.clipboard().setText(history_tsv(history, steps))

    # -- what happens

    def _go_to(self, step: int) -> None:
        history = self._model.history
        if history is None:
            return
        self._model.seek(step)
        if 1 <= step <= self._model.merge_count:
            self._model.set_focus(Focus("token", text=history[step - 1].token))

    def _on_view_clicked(self, index: QModelIndex) -> None:
        if self._view.is_one_row_selected():
            self._go_to(self._view.step_at(index))

    def _on_controls_filter_changed(self) -> None:
        self._rows.set_filter(HistoryFilter(self._controls.text, self._controls.only_ties))
        self._view.show_step(self._model.moment, select=True)
        self.refresh_later()

    def _on_controls_step_entered(self, step: int) -> None:
        self._model.seek(step)
        self._view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_model_moment_changed(self, moment: int) -> None:
        self._view.set_moment(moment)
        if self._model.state is TrainerState.TRAINING and self._model.is_at_head:
            return  # the view follows by itself if it stands at the end, and stays put if it does not
        self._view.show_step(moment, select=self._view.is_one_row_selected())

    def _on_model_merges_appended(self, _first: object, _last: object) -> None:
        self.refresh_later(_BUSY_DELAY_MS)

    def _on_model_run_reset(self) -> None:
        self._view.set_moment(self._model.moment)
        self._view.restyle()  # the value may have another name, and numbers another length
        self.refresh_later()

    def _on_model_state_changed(self, _state: object) -> None:
        self._view.show_step(self._model.moment, select=self._view.is_one_row_selected())
        self.refresh_later()
