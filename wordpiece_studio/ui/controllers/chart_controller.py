"""Saves the chart shown as a PNG or SVG picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.atomic_write import atomic_write

if TYPE_CHECKING:
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.messages import Messages
    from wordpiece_studio.ui.panes.charts.charts_pane import ChartsPane

KINDS = ("png", "svg")


class ChartController(QObject):
    """Asks where to save the picture and writes it there, completely or not at all."""

    saved = Signal(object)
    """A sentence that says what was saved and where, a str."""

    def __init__(
        self, window: QWidget, model: TrainerModel, pane: ChartsPane, actions: Actions, messages: Messages
    ) -> None:
        super().__init__(window)
        self._window = window
        self._model = model
        self._pane = pane
        self._actions = actions
        self._messages = messages
        actions.save_chart.triggered.connect(self.ask)
        pane.save_requested.connect(self.ask)
        model.merges_appended.connect(self._on_model_merges_appended)
        model.run_reset.connect(self._enable)
        self._enable()

    def ask(self) -> None:
        """Open the dialog that asks where to save."""
        if not self._model.merge_count:
            return
        dialog = QFileDialog(self._window, self.tr("Save chart"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([self.tr("PNG picture (*.png)"), self.tr("SVG drawing (*.svg)")])
        dialog.setDefaultSuffix(KINDS[0])
        dialog.selectFile(f"{self._pane.file_name}.{KINDS[0]}")
        dialog.filterSelected.connect(self._on_dialog_filter_selected)
        dialog.fileSelected.connect(self.save_to)
        dialog.open()

    def save_to(self, place: str) -> None:
        """Write the chart shown to a file: as SVG if the name ends in .svg, else as PNG."""
        path = Path(place)
        kind = "svg" if path.suffix.lower() == ".svg" else "png"
        try:
            atomic_write(path, self._pane.picture(kind))
        except StudioError as error:
            self._messages.show_error(error)
            return
        self.saved.emit(self.tr("Saved the chart to {path}").format(path=path))

    def _on_dialog_filter_selected(self, name_filter: str) -> None:
        dialog = self.sender()
        if isinstance(dialog, QFileDialog):
            dialog.setDefaultSuffix(next(kind for kind in KINDS if f"*.{kind}" in name_filter))

    def _on_model_merges_appended(self, _first: object, _last: object) -> None:
        self._enable()

    def _enable(self) -> None:
        self._actions.save_chart.setEnabled(bool(self._model.merge_count))
