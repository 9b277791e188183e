"""The files that an export would write, what each is for, how they are loaded, and what the manifest says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from wordpiece_studio.session.timers import later
from wordpiece_studio.storage.manifest import MANIFEST_FILE, SIDE_SUFFIX
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.ui.widgets.explained import explain
from wordpiece_studio.ui.widgets.plain import (
    CutLabel,
    ExactEdit,
    copy_text,
    plain_label,
    set_plain_tooltip,
    set_role,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QFont
    from PySide6.QtWidgets import QLabel

_LONGEST_MANIFEST = 20_000
_LONGEST_VALUE = 300
_LINES = 2
_LONGEST_SHOWN = 2000
_COPIED_MS = 1500
_NAME_WIDTH = 200  # pixels; a longer name is cut in its middle


class ManifestView(QWidget):
    """Rows of captions and values; or the file, on demand.

    Parameters
    ----------
    fixed_font
        The font of the file.
    """

    def __init__(self, fixed_font: QFont, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: list[tuple[str, str]] = []
        self._labels: list[QLabel] = []
        self._json = ""
        explain("manifest", self)
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
        self._edit.setAccessibleName(self.tr("Manifest"))
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
        self._scroll.setAccessibleName(self.tr("Manifest summary"))
        self._scroll.viewport().setAutoFillBackground(False)  # the dialog's own colour
        heading = QHBoxLayout()
        heading.addWidget(plain_label(self.tr("Manifest: how the export was made"), self, role="heading"), 1)
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
        """The part of the file that is shown."""
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


class UsageBox(QWidget):
    """Shows two lines of Python that load the export from the place that was chosen.

    Parameters
    ----------
    fixed_font
        The font of the lines.
    """

    def __init__(self, fixed_font: QFont, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self._view = ExactEdit(self)
        self._view.setReadOnly(True)
        self._view.setTabChangesFocus(True)
        self._view.setLineWrapMode(ExactEdit.LineWrapMode.NoWrap)
        self._view.setFont(fixed_font)
        self._view.setObjectName("export_usage")
        self._view.setAccessibleName(self.tr("How to load it in Python"))
        self._view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        margins = 2 * (self._view.document().documentMargin() + self._view.frameWidth() + 1)
        self._view.setFixedHeight(round(_LINES * self._view.fontMetrics().lineSpacing() + margins))
        self._copy = QPushButton(self.tr("Co&py"), self)
        self._copy.setAutoDefault(False)
        self._copy.setAccessibleName(self.tr("Copy the Python lines"))
        self._copy.clicked.connect(self._on_copy_clicked)
        heading = QHBoxLayout()
        heading.addWidget(plain_label(self.tr("Load it in Python"), self, role="heading"), 1)
        heading.addWidget(self._copy)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addLayout(heading)
        layout.addWidget(self._view)

    @property
    def text(self) -> str:
        """The lines; empty if there is no place yet."""
        return self._text

    def show_lines(self, text: str) -> None:
        """Show these lines; if there are none, disable copying."""
        self._text = text
        self._view.setPlainText(shown(text, _LONGEST_SHOWN))
        set_plain_tooltip(self._view, text)
        self._copy.setEnabled(bool(text))
        self._reset_button()

    def _on_copy_clicked(self) -> None:
        copy_text(self._text)
        self._copy.setText(self.tr("Copied"))
        later(self, _COPIED_MS, self._reset_button)

    def _reset_button(self) -> None:
        self._copy.setText(self.tr("Co&py"))


class FilePreview(QWidget):
    """A list of files, the lines that load them, and the manifest.

    Parameters
    ----------
    fixed_font
        The font of the Python lines and of the manifest's file.
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
        layout.addWidget(plain_label(self.tr("These files will be written"), self, role="heading"))
        layout.addLayout(self._grid)
        layout.addSpacing(6)
        layout.addWidget(self.usage)
        layout.addSpacing(6)
        layout.addWidget(self.manifest, 1)
        hint = self.tr("With the manifest, the command “wordpiece-studio verify” trains again and compares every byte.")
        layout.addWidget(plain_label(hint, self, role="hint", wrap=True))

    @property
    def names(self) -> list[str]:
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
            "vocab.txt": self.tr("One token per line; the ID is the line number minus one"),
            "tokenizer.json": self.tr("Everything that the Hugging Face libraries need"),
            "tokenizer_config.json": self.tr("Tells transformers which class to use"),
            "special_tokens_map.json": self.tr("Which tokens stand for unknown words, padding and so on"),
            MANIFEST_FILE: self.tr("Manifest, read by WordPiece Studio and the verify command"),
            "vocab.json": self.tr("Every token with its ID"),
            "merges.txt": self.tr("One merge per line, in the order learned"),
        }
        if name.endswith(SIDE_SUFFIX):
            return self.tr("Manifest of the file next to it")
        if name.startswith("word-counts."):
            return self.tr("Every distinct word and its count")
        return purposes.get(name, self.tr("The exported data"))
