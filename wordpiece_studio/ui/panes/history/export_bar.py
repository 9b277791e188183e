"""How far an export of merges is, in true numbers, and the button to give it up."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QSizePolicy, QToolButton, QWidget

from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, set_plain_tooltip
from wordpiece_studio.ui.widgets.token_text import number_text


class ExportBar(QWidget):
    """Seen while merges are written; the work goes on beside it."""

    stop_requested = Signal()
    """The file is not wanted any more."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = ""
        self._label = plain_label("", self, role="hint")
        self._label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._bar = QProgressBar(self)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(self.tr("Progress of the export"))
        self._stop = QToolButton(self)
        self._stop.setText(self.tr("Cancel"))
        self._stop.setAccessibleName(self.tr("Cancel the export"))
        set_plain_tooltip(self._stop, self.tr("Write no file; one that was there before stays as it was"))
        self._stop.clicked.connect(self.stop_requested)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 2, 10, 2)
        layout.addWidget(self._label, 3)
        layout.addWidget(self._bar, 1)
        layout.addWidget(self._stop)
        self.hide()

    @property
    def text(self) -> str:
        """What the bar says; empty if it is not there."""
        return self._label.text() if not self.isHidden() else ""

    def begin(self, name: str) -> None:
        """Say that a file of this name is being written."""
        self._name = name
        set_plain_text(self._label, self.tr("Writing {name}…").format(name=name))
        self._bar.setRange(0, 0)
        self.show()

    def show_progress(self, written: int, rows: int) -> None:
        """Say how many of the merges are written."""
        sentence = self.tr("{name}: {written} of {rows} merges")
        text = sentence.format(name=self._name, written=number_text(written), rows=number_text(rows))
        set_plain_text(self._label, text)
        set_plain_tooltip(self._label, text)
        self._bar.setRange(0, max(rows, 1))
        self._bar.setValue(written)
