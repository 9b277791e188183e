"""Which files an export would write, each with what it is for, how they are loaded, and what stands in the manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from wordpiece_studio.storage.manifest import MANIFEST_FILE, SIDE_SUFFIX
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.ui.dialogs.export.manifest_view import ManifestView
from wordpiece_studio.ui.dialogs.export.usage_box import UsageBox
from wordpiece_studio.ui.widgets.cut_label import CutLabel
from wordpiece_studio.ui.widgets.plain import plain_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QFont
    from PySide6.QtWidgets import QLabel

_NAME_WIDTH = 200  # pixels; a longer name is cut in its middle


class FilePreview(QWidget):
    """A list of files, the lines that load them, and the manifest.

    Parameters
    ----------
    fixed_font
        In which lines of Python and the file of the manifest are shown.
    """

    def __init__(self, fixed_font: QFont, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._labels: list[QLabel] = []
        self._names: list[str] = []
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        self.usage = UsageBox(fixed_font, self)
        self.manifest = ManifestView(fixed_font, self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(plain_label(self.tr("These files are written"), self, role="heading"))
        layout.addLayout(self._grid)
        layout.addSpacing(6)
        layout.addWidget(self.usage)
        layout.addSpacing(6)
        layout.addWidget(self.manifest, 1)
        hint = self.tr("With the manifest, the command “wordpiece-studio verify” trains again and compares every byte.")
        layout.addWidget(plain_label(hint, self, role="hint", wrap=True))

    @property
    def names(self) -> list[str]:
        """The files that are listed."""
        return self._names

    def show_files(self, names: Sequence[str]) -> None:
        """List these files."""
        if list(names) == self._names:
            return
        self._names = list(names)
        for label in self._labels:
            self._grid.removeWidget(label)
            label.hide()
            label.deleteLater()
        self._labels = []
        for row, name in enumerate(names):
            pair = (
                CutLabel(display_name(name), self, most=_NAME_WIDTH),
                plain_label(self._purpose(name), self, role="hint", wrap=True),
            )
            for column, label in enumerate(pair):
                self._grid.addWidget(label, row, column, Qt.AlignmentFlag.AlignTop)
            self._labels += pair

    def _purpose(self, name: str) -> str:
        purposes = {
            "vocab.txt": self.tr("one token a line; the id is the line’s number less one"),
            "tokenizer.json": self.tr("all that the libraries of Hugging Face need"),
            "tokenizer_config.json": self.tr("tells transformers which class to take"),
            "special_tokens_map.json": self.tr("which tokens stand for unknown words, padding and so on"),
            MANIFEST_FILE: self.tr("the manifest; the Studio and the command verify read it"),
            "vocab.json": self.tr("every token with its id"),
            "merges.txt": self.tr("one merge a line, in the order in which they were learned"),
        }
        if name.endswith(SIDE_SUFFIX):
            return self.tr("the manifest of the file beside it")
        if name.startswith("word-counts."):
            return self.tr("every distinct word and how often it occurs")
        return purposes.get(name, self.tr("what you export"))
