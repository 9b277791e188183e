"""How the files selected are read: their encoding, their column, and what is done about bad lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QWidget

from wordpiece_studio.ui.corpus.encodings import encoding_title, encodings
from wordpiece_studio.ui.look.plain import plain_label, set_plain_tooltip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtWidgets import QLabel

    from wordpiece_studio.model.file_rows import FileRow

_KINDS_WITHOUT_ENCODING = ("parquet",)
_KINDS_WITH_COLUMNS = ("jsonl", "csv", "tsv", "parquet")


class ReadingForm(QWidget):
    """Three choices; where the files selected differ, the choice is empty."""

    encoding_chosen = Signal(object)
    """A codec, a str."""
    column_chosen = Signal(object)
    """A column or field, a str."""
    errors_chosen = Signal(object)
    """What to do about bad lines, an ``ErrorHandling``."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._encoding_box = self._box(self.tr("Encoding"))
        self._column_box = self._box(self.tr("Column"))
        self._errors_box = self._box(self.tr("Bad lines"))
        set_plain_tooltip(self._column_box, self.tr("Which column or field has the text"))
        set_plain_tooltip(
            self._errors_box, self.tr("What is done where bytes are no text, or a row is broken; it is counted")
        )
        for words, errors in (
            (self.tr("stop and ask"), "strict"), (self.tr("replace by \ufffd"), "replace"),
            (self.tr("skip the line"), "skip-line"),
        ):  # fmt: skip
            self._errors_box.addItem(words, errors)
        grid = self._grid = QGridLayout(self)
        grid.setContentsMargins(14, 2, 12, 6)
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(2)
        self._column_label = self._add(grid, 1, self.tr("Column"), self._column_box)
        self._add(grid, 0, self.tr("Encoding"), self._encoding_box)
        self._add(grid, 2, self.tr("Bad lines"), self._errors_box)
        self._encoding_box.activated.connect(self._on_encoding_box_activated)
        self._column_box.activated.connect(self._on_column_box_activated)
        self._errors_box.activated.connect(self._on_errors_box_activated)
        self.show_files(())

    def show_files(self, rows: Sequence[FileRow]) -> None:
        """Show how these files are read."""
        self.setEnabled(bool(rows))
        has_encoding = any(row.file.kind not in _KINDS_WITHOUT_ENCODING for row in rows)
        self._encoding_box.setEnabled(has_encoding)
        self._show_encodings({(row.encoding, row.known == "guess") for row in rows})
        columns = [column for row in rows[:1] for column in row.columns]
        for row in rows[1:]:
            columns = [column for column in columns if column in row.columns]
        has_columns = bool(rows) and all(row.file.kind in _KINDS_WITH_COLUMNS for row in rows)
        for part in (self._column_box, self._column_label):
            part.setVisible(has_columns)
        self._grid.setColumnStretch(1, int(has_columns))
        self._show_columns(columns, {row.file.column for row in rows})
        handlings = {row.file.errors for row in rows}
        self._errors_box.setCurrentIndex(self._errors_box.findData(handlings.pop()) if len(handlings) == 1 else -1)

    def _show_encodings(self, present: set[tuple[str, bool]]) -> None:
        self._encoding_box.clear()
        codec, is_guess = next(iter(present)) if len(present) == 1 else ("", False)
        known = dict([("utf-8", "UTF-8"), *encodings()])
        if codec:
            title = encoding_title(codec)
            self._encoding_box.addItem(
                self.tr("{encoding} (guess)").format(encoding=title) if is_guess else title, codec
            )
            known.pop(codec, None)
        for each, title in known.items():
            self._encoding_box.addItem(title, each)
        self._encoding_box.setCurrentIndex(0 if codec else -1)

    def _show_columns(self, columns: Sequence[str], present: set[str | None]) -> None:
        self._column_box.clear()
        for column in columns:
            self._column_box.addItem(column, column)
        chosen = next(iter(present)) if len(present) == 1 else None
        if chosen is not None and chosen not in columns:
            self._column_box.addItem(chosen, chosen)
        self._column_box.setCurrentIndex(self._column_box.findData(chosen) if chosen is not None else -1)

    def _on_encoding_box_activated(self, index: int) -> None:
        self.encoding_chosen.emit(self._encoding_box.itemData(index))

    def _on_column_box_activated(self, index: int) -> None:
        self.column_chosen.emit(self._column_box.itemData(index))

    def _on_errors_box_activated(self, index: int) -> None:
        self.errors_chosen.emit(self._errors_box.itemData(index))

    def _box(self, name: str) -> QComboBox:
        box = QComboBox(self)
        box.setAccessibleName(name)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(4)
        return box

    def _add(self, grid: QGridLayout, column: int, caption: str, box: QComboBox) -> QLabel:
        label = plain_label(caption, self, role="caption")
        label.setBuddy(box)
        grid.addWidget(label, 0, column)
        grid.addWidget(box, 1, column)
        grid.setColumnStretch(column, 1)
        return label
