"""How the selected files are read: their kind, encoding and column, and how bad lines are handled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QSizePolicy, QWidget

from wordpiece_studio.ui.panes.corpus.encodings import encoding_title, encodings
from wordpiece_studio.ui.widgets.fields import LONGEST_LIST, line_field
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_tooltip, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtWidgets import QLabel

    from wordpiece_studio.session.file_rows import FileRow

_KINDS_WITHOUT_ENCODING = ("parquet",)
_COLUMN = 2
_LEAST_BOX = 62  # pixels
_KINDS_WITH_COLUMNS = ("jsonl", "csv", "tsv", "parquet")


class ReadingForm(QWidget):
    """Four choices; a choice is empty where the selected files differ."""

    kind_chosen = Signal(object)
    """The kind of the files, a ``FileKind``."""

    encoding_chosen = Signal(object)
    """A codec, a str."""
    column_chosen = Signal(object)
    """A column or field, a str."""
    errors_chosen = Signal(object)
    """How to handle bad lines, an ``ErrorHandling``."""

    def __init__(self, kind_title: Callable[[str], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind_title = kind_title
        self._kind_box = self._box(self.tr("Kind"))
        self._encoding_box = self._box(self.tr("Encoding"))
        self._column_box = self._box(self.tr("Column"))
        self._errors_box = self._box(self.tr("Bad lines"))
        set_plain_tooltip(
            self._column_box, self.tr("The column or field with the text; type a nested field with dots: meta.text")
        )
        self._column_edit = line_field(self, most=LONGEST_LIST)
        self._column_box.setLineEdit(self._column_edit)
        self._column_box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self._column: str | None = None  # the one in force
        set_plain_tooltip(
            self._errors_box,
            self.tr(
                "Where bytes cannot be decoded or a row is malformed: stop and ask, replace them with \ufffd,"
                " or skip the line; skipped lines are counted"
            ),
        )
        for words, errors in (
            (self.tr("stop"), "strict"), (self.tr("replace"), "replace"), (self.tr("skip"), "skip-line"),
        ):  # fmt: skip
            self._errors_box.addItem(words, errors)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(14, 2, 12, 6)
        self._grid.setHorizontalSpacing(6)
        self._grid.setVerticalSpacing(2)
        self._parts = [
            (self._label(caption, box), box)
            for caption, box in (
                (self.tr("Kind"), self._kind_box), (self.tr("Encoding"), self._encoding_box),
                (self.tr("Column"), self._column_box), (self.tr("Bad lines"), self._errors_box),
            )
        ]  # fmt: skip
        self._is_narrow = False
        self._kind_box.activated.connect(self._on_kind_box_activated)
        self._encoding_box.activated.connect(self._on_encoding_box_activated)
        self._column_box.activated.connect(self._on_column_typed)
        self._column_edit.editingFinished.connect(self._on_column_typed)
        self._errors_box.activated.connect(self._on_errors_box_activated)
        self.show_files(())

    def show_files(self, rows: Sequence[FileRow]) -> None:
        """Show how these files are read."""
        self.setEnabled(bool(rows))
        self._show_kinds(rows)
        has_encoding = any(row.file.kind not in _KINDS_WITHOUT_ENCODING for row in rows)
        self._encoding_box.setEnabled(has_encoding)
        self._show_encodings({(row.encoding, row.known == "guess") for row in rows})
        columns = [column for row in rows[:1] for column in row.columns]
        for row in rows[1:]:
            columns = [column for column in columns if column in row.columns]
        has_columns = bool(rows) and all(row.file.kind in _KINDS_WITH_COLUMNS for row in rows)
        for part in self._parts[_COLUMN]:
            part.setVisible(has_columns)
        self._place()
        self._show_columns(columns, {row.file.column for row in rows})
        handlings = {row.file.errors for row in rows}
        self._errors_box.setCurrentIndex(self._errors_box.findData(handlings.pop()) if len(handlings) == 1 else -1)

    def set_narrow(self, is_narrow: bool) -> None:
        """Arrange the four choices in two rows."""
        self._is_narrow = is_narrow
        self._place()

    def _place(self) -> None:
        shown = [(label, box) for label, box in self._parts if not box.isHidden()]
        in_row = 2 if self._is_narrow and len(shown) == len(self._parts) else len(self._parts)
        for column in range(len(self._parts)):
            self._grid.setColumnStretch(column, int(column < min(in_row, len(shown))))
        for place, (label, box) in enumerate(shown):
            row, column = divmod(place, in_row)
            self._grid.addWidget(label, 2 * row, column)
            self._grid.addWidget(box, 2 * row + 1, column)

    def _show_kinds(self, rows: Sequence[FileRow]) -> None:
        self._kind_box.clear()
        for kind in rows[0].kinds if rows else ():
            if all(kind in row.kinds for row in rows):
                self._kind_box.addItem(self._kind_title(kind), kind)
        present = {row.file.kind for row in rows}
        is_guess = bool(rows) and all(row.is_kind_guess for row in rows)
        index = self._kind_box.findData(present.pop()) if len(present) == 1 else -1
        if is_guess:
            title = self._kind_box.itemText(index)
            self._kind_box.setItemText(index, self.tr("{kind} (guess)").format(kind=title))
        self._kind_box.setCurrentIndex(index)
        words = self.tr("The kind of file, if its name is misleading")
        guess = self.tr("Read as words and counts: two columns, the second with a whole number in every row")
        set_plain_tooltip(self._kind_box, guess if is_guess else words)

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
        set_plain_tooltip(self._encoding_box, self._encoding_box.currentText())  # it may be elided

    def _show_columns(self, columns: Sequence[str], present: set[str | None]) -> None:
        self._column_box.clear()
        for column in columns:
            self._column_box.addItem(whole(column), whole(column))
        chosen = next(iter(present)) if len(present) == 1 else None
        if chosen is not None and chosen not in columns:
            self._column_box.addItem(whole(chosen), whole(chosen))
        self._column = chosen
        self._column_box.setCurrentIndex(self._column_box.findData(whole(chosen)) if chosen is not None else -1)
        self._column_edit.setText(whole(chosen or ""))
        self._column_edit.setCursorPosition(0)

    def _on_encoding_box_activated(self, index: int) -> None:
        self.encoding_chosen.emit(self._encoding_box.itemData(index))

    def _on_kind_box_activated(self, index: int) -> None:
        self.kind_chosen.emit(self._kind_box.itemData(index))

    def _on_column_typed(self) -> None:
        column = self._column_edit.text().strip()
        if column and column != self._column:
            self._column = column
            self.column_chosen.emit(column)

    def _on_errors_box_activated(self, index: int) -> None:
        self.errors_chosen.emit(self._errors_box.itemData(index))

    def _box(self, name: str) -> QComboBox:
        box = QComboBox(self)
        box.setAccessibleName(name)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        box.setMinimumWidth(_LEAST_BOX)
        return box

    def _label(self, caption: str, box: QComboBox) -> QLabel:
        label = plain_label(caption, self, role="caption")
        label.setBuddy(box)
        return label
