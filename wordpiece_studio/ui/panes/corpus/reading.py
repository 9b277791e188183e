"""How the corpus is read: encodings, the form for listed files, the dialog for one that cannot be decoded, word counts.

The form sets kind, encoding and column, and how bad lines are handled. In the dialog, the user can name the encoding,
or have bad bytes replaced or bad lines skipped.
"""

from __future__ import annotations

import codecs
import locale
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QCheckBox, QComboBox, QFrame, QHBoxLayout, QRadioButton, QSizePolicy, QWidget

from wordpiece_studio.corpus.count_tables import HEADER, as_typed_counts, is_typed_counts
from wordpiece_studio.session.document import Reading
from wordpiece_studio.session.plural import counted, plural
from wordpiece_studio.session.task import single_shot
from wordpiece_studio.ui.widgets.fields import LONGEST_LIST, QuestionDialog, combo_box, line_field, offer
from wordpiece_studio.ui.widgets.pane import fill, grid_in
from wordpiece_studio.ui.widgets.plain import (
    BuddyLabel,
    CutLabel,
    explain,
    plain_label,
    set_plain_tooltip,
    tool_button,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from PySide6.QtWidgets import QLabel

    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.session.corpus_files import FileRow
    from wordpiece_studio.session.document import Document

_tr = partial(QCoreApplication.translate, "reading")

_T = TypeVar("_T")


def encodings() -> list[tuple[str, str]]:
    """Return ``(codec, title)`` of each encoding on offer; the system's comes first if it is not UTF-8."""
    offered = _known()
    system = codecs.lookup(locale.getpreferredencoding(False)).name
    if system in ("utf-8", "ascii"):
        return offered
    title = next((title for codec, title in offered if codecs.lookup(codec).name == system), system)
    others = [(codec, title) for codec, title in offered if codecs.lookup(codec).name != system]
    return [(system, _tr("{encoding} (system default)").format(encoding=title)), *others]


def encoding_title(codec: str) -> str:
    name = codecs.lookup(codec).name
    if name == "utf-8":
        return "UTF-8"
    return next((title for known, title in _known() if codecs.lookup(known).name == name), codec.upper())


def reading_words(document: Document) -> str:
    """Return how the text was read if not completely and as UTF-8; otherwise an empty string."""
    file = document.file
    of_replaced, of_skipped = loss_words(file.replaced, file.skipped_lines)
    of_encoding = "" if codecs.lookup(file.encoding).name == "utf-8" else encoding_title(file.encoding)
    return of_skipped or of_replaced or of_encoding


def loss_words(replaced: int, skipped: int) -> tuple[str, str]:
    """Return how many invalid sequences were replaced and lines skipped; empty for none."""
    of_replaced = counted(replaced, "1 invalid sequence replaced", "{count} invalid sequences replaced")
    of_skipped = counted(skipped, "1 line skipped", "{count} lines skipped")
    return of_replaced if replaced else "", of_skipped if skipped else ""


def _known() -> list[tuple[str, str]]:
    return [
        ("cp1252", "Windows-1252"), ("latin-1", "Latin-1"), ("cp949", _tr("Korean (CP949)")),
        ("gb18030", _tr("Chinese (GB 18030)")), ("big5", _tr("Chinese (Big5)")),
        ("shift_jis", _tr("Japanese (Shift-JIS)")),
        ("koi8-r", _tr("Cyrillic (KOI8-R)")), ("cp1251", _tr("Cyrillic (Windows-1251)")),
        ("utf-16", "UTF-16"), ("utf-16-le", "UTF-16 LE"), ("utf-16-be", "UTF-16 BE"),
    ]  # fmt: skip


class EncodingDialog(QuestionDialog):
    """Explains why a file could not be read as it was tried, and asks how to read it instead.

    A guess of its encoding is offered first and labeled as one. With several files, the choice can apply to all.
    """

    def __init__(
        self, error: StudioError, tried: Reading, parent: QWidget | None = None, *, guess: str | None = None,
        files: int = 1,
    ) -> None:  # fmt: skip
        super().__init__(self.tr("Choose how to read the file"), parent)
        self._tried = tried
        self.message = error.what if error.what.endswith(".") else f"{error.what}."
        self.read_button = QRadioButton(self.tr("&Read it as"), self)
        self.encoding_box = combo_box(self, self.tr("Encoding"))
        items = [(title, codec) for codec, title in encodings()]
        if guess is not None:
            items.insert(0, (self.tr("{encoding} (guess)").format(encoding=encoding_title(guess)), guess))
        offer(self.encoding_box, items, items[0][1])
        self.encoding_box.activated.connect(lambda: self.read_button.setChecked(True))
        self.replace_button = QRadioButton(self.tr("Re&place invalid bytes with �"), self)
        self.skip_button = QRadioButton(self.tr("&Skip invalid lines"), self)
        self.read_button.setChecked(True)
        words = counted(files, "Apply to &all files", "Apply to &all {count} files")
        self._all_box = QCheckBox(words, self)
        self._all_box.setVisible(files > 1)
        message = plain_label(self.message, self, wrap=True)
        first = fill(QHBoxLayout(), self.read_button, (self.encoding_box, 1), spacing=-1)
        note = self.tr("If bytes are replaced or lines skipped, part of the file’s content is lost.")
        hint = plain_label(note, self, role="hint", wrap=True)
        parts = message, first, self.replace_button, self.skip_button, hint, self._all_box
        accept = self.tr("&Open") if files == 1 else self.tr("Con&tinue")
        self.lay_out(*parts, accept=accept, cancel=self.tr("&Cancel"))
        self.setMinimumWidth(440)

    @property
    def reading(self) -> Reading:
        if self.replace_button.isChecked():
            return Reading(self._tried.encoding, "replace")
        if self.skip_button.isChecked():
            return Reading(self._tried.encoding, "skip-line")
        return Reading(self.encoding_box.currentData())

    @property
    def is_for_all(self) -> bool:
        return self._all_box.isChecked()


_COLUMN = 2
_KINDS_WITH_COLUMNS = ("jsonl", "csv", "tsv", "parquet")


class ReadingForm(QWidget):
    """Four choices; a choice is empty where the selected files differ."""

    def __init__(
        self, kind_title: Callable[[str], str], read_as: Callable[..., None], parent: QWidget | None = None
    ) -> None:
        """`read_as` takes what was chosen as `CorpusFiles.read_as` does."""
        super().__init__(parent)
        self._kind_title = kind_title
        self._read_as = read_as
        self._grid = grid_in(self, (14, 2, 12, 6), across=6, down=2)
        self._parts: list[tuple[QLabel, QComboBox]] = []
        self.kind_box = self._add_box(self.tr("Kind"))
        self.encoding_box = self._add_box(self.tr("Encoding"))
        self.column_box = self._add_box(self.tr("Column"))
        self._errors_box = self._add_box(self.tr("Invalid lines"))
        tip = self.tr("The column or field with the text; type a nested field with dots: meta.text")
        set_plain_tooltip(self.column_box, tip)
        self.column_edit = line_field(self, most=LONGEST_LIST)
        self.column_box.setLineEdit(self.column_edit)
        self.column_box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self._column: str | None = None  # the one in force
        tip = self.tr("Where bytes cannot be decoded or a row is malformed: stop and ask, replace them with \ufffd,"
                      " or skip the line; skipped lines are counted")  # fmt: skip
        set_plain_tooltip(self._errors_box, tip)
        ways = (self.tr("Stop"), "strict"), (self.tr("Replace"), "replace"), (self.tr("Skip"), "skip-line")
        offer(self._errors_box, ways)
        self.kind_box.activated.connect(lambda: read_as(kind=self.kind_box.currentData()))
        self.encoding_box.activated.connect(lambda: read_as(encoding=self.encoding_box.currentData()))
        self._errors_box.activated.connect(lambda: read_as(errors=self._errors_box.currentData()))
        for typed in (self.column_box.activated, self.column_edit.editingFinished):
            typed.connect(self._take_column)
        self.show_files(())

    def show_files(self, rows: Sequence[FileRow]) -> None:
        self.setEnabled(bool(rows))
        self._show_kinds(rows)
        self.encoding_box.setEnabled(any(row.file.kind != "parquet" for row in rows))
        self._show_encodings(rows)
        columns = [column for column in (rows[0].columns if rows else ()) if all(column in row.columns for row in rows)]
        has_columns = bool(rows) and all(row.file.kind in _KINDS_WITH_COLUMNS for row in rows)
        for part in self._parts[_COLUMN]:
            part.setVisible(has_columns)
        self._place()
        self._show_columns(columns, _common(row.file.column for row in rows))
        errors = _common(row.file.errors for row in rows)
        self._errors_box.setCurrentIndex(-1 if errors is None else self._errors_box.findData(errors))

    def _place(self) -> None:
        shown = [(label, box) for label, box in self._parts if not box.isHidden()]
        in_row = 2 if len(shown) == len(self._parts) else len(self._parts)
        for column in range(len(self._parts)):
            self._grid.setColumnStretch(column, int(column < min(in_row, len(shown))))
        for place, (label, box) in enumerate(shown):
            row, column = divmod(place, in_row)
            self._grid.addWidget(label, 2 * row, column)
            self._grid.addWidget(box, 2 * row + 1, column)

    def _show_kinds(self, rows: Sequence[FileRow]) -> None:
        chosen = _common(row.file.kind for row in rows)
        is_guess = bool(rows) and all(row.is_kind_guess for row in rows)
        guessed = self.tr("{kind} (guess)") if is_guess else "{kind}"
        items = [
            ((guessed if kind == chosen else "{kind}").format(kind=self._kind_title(kind)), kind)
            for kind in (rows[0].kinds if rows else ())
            if all(kind in row.kinds for row in rows)
        ]
        offer(self.kind_box, items, chosen)
        words = self.tr("The kind of file, if its name is misleading")
        guess = self.tr("Read as word counts: two columns, the second with a whole number in every row")
        set_plain_tooltip(self.kind_box, guess if is_guess else words)

    def _show_encodings(self, rows: Sequence[FileRow]) -> None:
        codec, is_guess = _common((row.encoding, row.known == "guess") for row in rows) or ("", False)
        items = [(title, each) for each, title in [("utf-8", "UTF-8"), *encodings()] if each != codec]
        if codec:
            title = encoding_title(codec)
            items.insert(0, (self.tr("{encoding} (guess)").format(encoding=title) if is_guess else title, codec))
        offer(self.encoding_box, items, codec or None)
        set_plain_tooltip(self.encoding_box, self.encoding_box.currentText())  # it may be elided

    def _show_columns(self, columns: Sequence[str], chosen: str | None) -> None:
        offered = columns if chosen is None or chosen in columns else [*columns, chosen]
        items = [(whole(column), whole(column)) for column in offered]
        offer(self.column_box, items, None if chosen is None else whole(chosen))
        self._column = chosen
        self.column_edit.setText(whole(chosen or ""))
        self.column_edit.setCursorPosition(0)

    def _take_column(self) -> None:
        column = self.column_edit.text().strip()
        if column and column != self._column:
            self._column = column
            self._read_as(column=column)

    def _add_box(self, name: str) -> QComboBox:
        box = combo_box(self, name)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        box.setMinimumWidth(62)  # pixels
        self._parts.append((BuddyLabel(name, box, self), box))
        return box


def _common(values: Iterable[_T]) -> _T | None:
    found = set(values)
    return found.pop() if len(found) == 1 else None


_LONGEST = 200_000  # characters; going through the lines of a longer text would be felt at every key press


class CountsOffer(QFrame):
    """The line above a text that looks like words with their counts, and above a text or files that are read as such.

    It changes the text, or how the files are read; both can be undone. An offer that was declined is not made again
    for the same text.
    """

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._offered: str | None = None
        self._is_declined = False
        self._is_wanted = True
        explain("word", self)
        self._label = CutLabel(parent=self, role="hint")
        self.accept = tool_button("", "", self, self._accept, role="link", takes_focus=True)
        tip = self.tr("Read it as text")
        name = self.tr("Keep as text")
        self.decline = tool_button(name, tip, self, self._decline, role="link", takes_focus=True)
        fill(QHBoxLayout(self), (self._label, 1), self.accept, self.decline, margins=(14, 0, 8, 0), spacing=2)
        self._timer = single_shot(self, self._look)
        document.text_changed.connect(self._timer.start)
        document.reset.connect(self._on_document_reset)
        self.hide()

    @property
    def text(self) -> str:
        return self._label.accessibleName()

    def set_wanted(self, is_wanted: bool) -> None:
        self._is_wanted = is_wanted
        self._look()

    def _look(self) -> None:
        document, files = self._document, self._document.files
        self._offered = None
        tables, number = files.guessed_tables if document.is_files else 0, len(files.rows)
        is_read = bool(tables) or is_typed_counts(document.text)
        if not document.is_files and not is_read and not self._is_declined and len(document.text) <= _LONGEST:
            self._offered = as_typed_counts(document.text)
        if is_read:
            text = self.tr("Word counts")
            if number > 1:
                text = plural(tables, "1 of {number:,} files is read as word counts",
                              "{tables:,} of {number:,} files are read as word counts")  # fmt: skip
            self._label.show_text(text.format(tables=tables, number=number))
            self.accept.setText(self.tr("Read as text"))
        elif self._offered is not None:
            self._label.show_text(self.tr("This looks like word counts"))
            self.accept.setText(self.tr("Read as word counts"))
        tip = self.tr("Every line is a word and its count") if not is_read else ""
        set_plain_tooltip(self.accept, tip)
        self.accept.setAccessibleName(tip or self.accept.text())
        self.decline.setVisible(not is_read)
        self.setVisible(self._is_wanted and (is_read or self._offered is not None))

    def _accept(self) -> None:
        if self._offered is not None:
            self._document.set_text(self._offered)
        elif self._document.is_files:
            self._document.files.read_tables_as_texts()
        else:
            self._is_declined = True
            text = self._document.text
            self._document.set_text(text[len(HEADER) :].lstrip("\r\n"))

    def _decline(self) -> None:
        self._is_declined = True
        self._look()

    def _on_document_reset(self) -> None:
        self._is_declined = False
        self._timer.start()
