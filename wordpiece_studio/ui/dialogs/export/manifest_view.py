"""The manifest of an export, in words or as it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QScrollArea,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from wordpiece_studio.ui.widgets.exact_text import ExactEdit
from wordpiece_studio.ui.widgets.plain import plain_label, set_role, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QFont
    from PySide6.QtWidgets import QLabel

_LONGEST_MANIFEST = 20_000
_LONGEST_VALUE = 300


class ManifestView(QWidget):
    """Rows of captions and values; or the file, on demand.

    Parameters
    ----------
    fixed_font
        In which the file is shown.
    """

    def __init__(self, fixed_font: QFont, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: list[tuple[str, str]] = []
        self._labels: list[QLabel] = []
        self._json = ""
        self._button = QToolButton(self)
        self._button.setText(self.tr("Show as &JSON"))
        self._button.setCheckable(True)
        self._button.toggled.connect(self._on_button_toggled)
        set_role(self._button, "button")
        self._edit = ExactEdit(self)
        self._edit.setReadOnly(True)
        self._edit.setTabChangesFocus(True)
        self._edit.setLineWrapMode(ExactEdit.LineWrapMode.NoWrap)
        self._edit.setFont(fixed_font)
        self._edit.setObjectName("export_manifest")
        self._edit.setAccessibleName(self.tr("The manifest"))
        summary = QWidget(self)
        summary.setObjectName("scroll_contents")
        column = QVBoxLayout(summary)
        column.setContentsMargins(0, 2, 0, 0)
        self._grid = QGridLayout()
        column.addLayout(self._grid)
        column.addStretch(1)
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(1, 1)
        self._scroll = QScrollArea(self)
        self._scroll.setWidget(summary)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setAccessibleName(self.tr("The manifest, in words"))
        self._scroll.viewport().setAutoFillBackground(False)  # the dialog's own colour
        heading = QHBoxLayout()
        heading.addWidget(plain_label(self.tr("The manifest says how they were made"), self, role="heading"), 1)
        heading.addWidget(self._button)
        self._stack = QStackedLayout()
        self._stack.addWidget(self._scroll)
        self._stack.addWidget(self._edit)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(heading)
        layout.addLayout(self._stack, 1)

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The captions and values that are shown."""
        return self._rows

    @property
    def json(self) -> str:
        """What is shown of the file."""
        return self._json

    def show_manifest(self, rows: Sequence[tuple[str, str]], json: str) -> None:
        """Show a manifest: in words, and the beginning of its file if that is long."""
        self._json = shown(json, _LONGEST_MANIFEST)
        self._edit.setPlainText(self._json)
        self._button.setEnabled(bool(json))
        if list(rows) != self._rows:
            self._rows = list(rows)
            self._fill()

    def _fill(self) -> None:
        for label in self._labels:
            self._grid.removeWidget(label)
            label.hide()
            label.deleteLater()
        self._labels = []
        for row, (caption, value) in enumerate(self._rows):
            pair = plain_label(caption, self, role="hint"), plain_label(shown(value, _LONGEST_VALUE), self, wrap=True)
            for column, label in enumerate(pair):
                label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
                self._grid.addWidget(label, row, column, Qt.AlignmentFlag.AlignTop)
            self._labels += pair

    def _on_button_toggled(self, is_json: bool) -> None:
        self._stack.setCurrentIndex(int(is_json))
