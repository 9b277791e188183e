"""The corpus as files: their table, with its keys and drops, how the selected ones are read, and a preview of one.

The preview shows any part of a file without reading the rest, with a slider over the whole file.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QItemSelection, QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QAction, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QSlider, QSplitter, QVBoxLayout, QWidget

from wordpiece_studio.corpus.inspection import Preview, preview
from wordpiece_studio.session.corpus_files import FileColumn, FileRow
from wordpiece_studio.session.plural import counted
from wordpiece_studio.session.table_model import each_row
from wordpiece_studio.session.task import Task, single_shot
from wordpiece_studio.session.view_text import ViewIndex, to_view
from wordpiece_studio.ui.panes.corpus.corpus_figures import data_size
from wordpiece_studio.ui.panes.corpus.reading import ReadingForm, loss_words
from wordpiece_studio.ui.widgets.fields import FileDrops
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import (
    ExactEdit,
    FittingLabel,
    WholeLabel,
    plain_label,
    set_look,
    set_plain_text,
    set_plain_tooltip,
    tool_button,
    tooltip_text,
    whole,
)
from wordpiece_studio.ui.widgets.table import TableView
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from wordpiece_studio.corpus.files import CorpusFile
    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.session.document import Document
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.widgets.theme import Theme


_STEPS = 1000
PREVIEW_BYTES = 32_768
_PATIENCE_MS = 2000  # a part that takes longer is abandoned when another one is requested


class PreviewText(ExactEdit):
    """Shows a read-only text, which is copied exactly."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown = ""

    def show_text(self, text: str) -> None:
        self._shown = text
        self.setPlainText(whole(to_view(text)))
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def text_between(self, start: int, end: int) -> str:
        index = ViewIndex(self._shown)
        return self._shown[index.text_position(start) : index.text_position(end)]


class PreviewView(QWidget):
    """Shows a part of one file; requests one part at a time, always the latest one wanted."""

    line_changed = Signal()  # the cursor is on another line, or another part is shown
    text_shown = Signal(object)  # the beginning of a file is shown, a str

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.task = Task(
            preview, "The file cannot be previewed", self, in_child=True, keeps_child=True,
            on_answer=self._on_task_finished, on_error=self._on_task_failed,
        )  # fmt: skip
        self._wanted: tuple[CorpusFile, int] | None = None  # and the place; requested once the current one has arrived
        self._shown: tuple[CorpusFile, Preview] | None = None
        self._text = PreviewText(self)
        self._text.setReadOnly(True)
        self._text.setUndoRedoEnabled(False)
        self._text.setTabChangesFocus(True)
        self._text.setAccessibleName(self.tr("Preview of the file"))
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._text.setMinimumHeight(48)
        self._text.document().setDocumentMargin(8)
        self._text.cursorPositionChanged.connect(self.line_changed)
        self._slider = QSlider(Qt.Orientation.Horizontal, self)
        self._slider.setRange(0, _STEPS)
        self._slider.setPageStep(_STEPS // 10)
        self._slider.setAccessibleName(self.tr("Position in the file"))
        set_plain_tooltip(self._slider, self.tr("Which part of the file is shown"))
        self._slider.valueChanged.connect(lambda value: self._ask_at(lambda _file, part: part.total * value // _STEPS))
        self._place_label = plain_label("", self, role="hint")
        self._earlier_button = tool_button("‹", self.tr("Previous part"), self, lambda: self._ask_at(_earlier))
        tip = self.tr("Next part")
        self.later_button = tool_button("›", tip, self, lambda: self._ask_at(lambda _file, part: part.end))
        self._impatience = single_shot(self, self._ask_now, _PATIENCE_MS)
        heading = plain_label(self.tr("Preview"), self, role="heading")
        turning = self._earlier_button, (self._slider, 1), self.later_button, self._place_label
        bar = fill(QHBoxLayout(), heading, *turning, margins=(14, 4, 12, 0), spacing=6)
        fill(QVBoxLayout(self), bar, (self._text, 1))
        self._enable()

    def show_file(self, file: CorpusFile | None) -> None:
        if file is None:
            self._wanted = self._shown = None
            self.task.stop()
            self._show_text("")
            return
        if file.kind == "word-counts" and not file.path.lower().endswith(".parquet"):
            file = replace(file, kind="text")  # a table is previewed line by line
        latest = self._wanted or self.task.request
        if latest is None or latest[0] != file:
            self._ask(file, 0)

    def read_again(self, path: Path) -> None:
        latest = self._wanted or self.task.request
        if latest is not None and Path(latest[0].path) == path:
            self._ask(*latest[:2])

    @property
    def text(self) -> str:
        return self._shown[1].text if self._shown is not None else ""

    def line_at_cursor(self) -> tuple[int | None, str, int]:
        """Return the number of the line at the cursor if known, its text, and the cursor's position in it."""
        cursor = self._text.textCursor()
        first = self._shown[1].first_line if self._shown is not None else None
        number = None if first is None else first + cursor.blockNumber()
        line = cursor.block().text()
        return number, line, ViewIndex(line).text_position(cursor.positionInBlock())

    # -- requests

    def _ask(self, file: CorpusFile, at: int) -> None:
        self._wanted = file, at
        if not self.task.is_running:
            self._ask_now()
        elif not self._impatience.isActive():
            self._impatience.start()

    def _ask_now(self) -> None:
        self._impatience.stop()
        if self._wanted is not None:
            (file, at), self._wanted = self._wanted, None
            self.task.run(file, at, PREVIEW_BYTES)

    def _ask_at(self, place: Callable[[CorpusFile, Preview], int]) -> None:
        if self._shown is not None:
            self._ask(self._shown[0], place(*self._shown))

    # -- display

    def _on_task_finished(self, part: Preview) -> None:
        assert self.task.request is not None  # it has just been answered
        file, at, _ = self.task.request
        is_new = self._shown is None or self._shown[0] != file
        self._shown = file, part
        self._show_text(part.text)
        if not part.text.strip():
            self._text.setPlaceholderText(self.tr("This part of the file has no text") if part.total else
                                          self.tr("The file is empty"))  # fmt: skip
        if is_new and at == 0:
            self.text_shown.emit(part.text)
        self._ask_now()

    def _on_task_failed(self, error: StudioError) -> None:
        self._shown = None
        self._show_text("")
        self._text.setPlaceholderText(str(error))
        self._ask_now()

    def _show_text(self, text: str) -> None:
        self._text.setPlaceholderText("")
        self._text.show_text(text)
        self._enable()
        self.line_changed.emit()

    def _enable(self) -> None:
        part = self._shown[1] if self._shown is not None else None
        self._slider.setEnabled(part is not None)
        self._earlier_button.setEnabled(part is not None and part.start > 0)
        self.later_button.setEnabled(part is not None and part.end < part.total)
        words = ""
        if part is not None:
            if not self._slider.isSliderDown() and self._wanted is None:
                self._slider.blockSignals(True)
                self._slider.setValue(round(_STEPS * part.start / max(part.total, 1)))
                self._slider.blockSignals(False)
            share = f"{100 * part.start / max(part.total, 1):.0f}%"
            line = part.first_line
            words = share if line is None else self.tr("Line {line}").format(line=number_text(line))
        set_plain_text(self._place_label, words)


def _earlier(file: CorpusFile, part: Preview) -> int:
    return max(0, part.start - (max(part.end - part.start, 1) if file.kind == "parquet" else PREVIEW_BYTES))


_LEAST_LIST, _LEAST_PREVIEW = 84, 76  # pixels


class FilesView(QWidget):
    """Shows ``document.files``, which makes all changes.

    Where there is little room (`set_dense`), only the table or the preview is visible, and a button switches.
    """

    def __init__(self, document: Document, actions: Actions, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._table = table = document.files
        table.tip = each_row(lambda row: tooltip_text(table.description(row)))
        alt = Qt.KeyboardModifier.AltModifier
        self.list = TableView(
            table, theme, self, name=self.tr("Files of the corpus"), row_room=7, padding=3, several=True,
            is_adjustable=True,
            keys={
                Qt.Key.Key_Delete: self._remove, Qt.Key.Key_Backspace: self._remove,
                alt | Qt.Key.Key_Up: partial(self._move, -1), alt | Qt.Key.Key_Down: partial(self._move, 1),
            },
        )  # fmt: skip
        self.drops = FileDrops(self, self.tr("Drop to add to the corpus"))
        self.form = ReadingForm(document.files.kind_title, self._read_as, self)
        self.preview = PreviewView(self)
        self._bar = QWidget(self)
        self._sum_label = FittingLabel(self, role="hint")
        self.detail_label = WholeLabel(self, role="hint")
        adding = QMenu(self)
        adding.addActions((actions.add_files, actions.add_folder))
        self._add_button = tool_button(self.tr("Add"), self.tr("Add files or folders"), self, menu=adding)
        remove = tool_button("−", self.tr("Remove the selected files from the list (Del)"), self, self._remove)
        tip = self.tr("Preview the selected file")
        self.preview_button = tool_button(self.tr("Preview"), tip, self, self._show_parts, is_switch=True)
        self._is_dense = False
        up = tool_button("", self.tr("Move up, to be read earlier (Alt+Up)"), self, lambda: self._move(-1))
        down = tool_button("", self.tr("Move down, to be read later (Alt+Down)"), self, lambda: self._move(1))
        theme.set_icon(up, "up", "text", "faint")
        theme.set_icon(down, "down", "text", "faint")
        self._of_selected = remove, up, down
        self.empty = QWidget(self)
        self._empty_label = plain_label("", self.empty, wrap=True)
        self._body = QSplitter(Qt.Orientation.Vertical, self)
        self._upper = QWidget(self._body)
        self._lay_out(adding.actions())
        for changed in (table.modelReset, table.rowsInserted, self._table.changed):
            changed.connect(self.refresh)
        table.dataChanged.connect(self._show_detail)
        self._table.places_wanted.connect(self.select)
        self.list.selectionModel().selectionChanged.connect(self._show_selected)
        self.refresh()

    def refresh(self) -> None:
        table = self._table
        number = table.rowCount()
        files = counted(number, "1 file", "{count} files")
        words = " · ".join((files, data_size(table.size)))
        set_plain_tooltip(self._sum_label, words)
        self._sum_label.show_forms(words, number_text(number))
        self.empty.setVisible(number == 0)
        self._body.setVisible(number > 0)
        self._bar.setVisible(number > 0)
        if number and not self.selected:
            self.select([0])
        self._show_selected()

    def set_dense(self, is_dense: bool) -> None:
        self._is_dense = is_dense
        self.preview_button.setVisible(is_dense)
        self._show_parts()

    @property
    def shows_preview(self) -> bool:
        """Whether the preview is visible, or would be if this view were."""
        return not self._is_dense or self.preview_button.isChecked()

    def _show_parts(self) -> None:
        self._upper.setVisible(not self._is_dense or not self.preview_button.isChecked())
        self.preview.setVisible(self.shows_preview)

    # -- the selection

    @property
    def selected(self) -> list[int]:
        selected: list[int] = self.list.selected_items().tolist()
        return selected

    @property
    def current(self) -> FileRow | None:
        number = self.list.currentIndex().row()
        if number < 0:
            number = next(iter(self.selected), -1)
        return self._table.records[number] if number >= 0 else None

    def select(self, numbers: Iterable[int]) -> None:
        table, model, selection = self._table, self.list.selectionModel(), QItemSelection()
        chosen = [number for number in numbers if 0 <= number < table.rowCount()]
        for number in chosen:
            selection.select(table.index(number, 0), table.index(number, table.columnCount() - 1))
        flags = QItemSelectionModel.SelectionFlag
        if chosen:
            model.setCurrentIndex(table.index(chosen[0], FileColumn.NAME), flags.NoUpdate)
            self.list.scrollTo(self.list.currentIndex())
        model.select(selection, flags.ClearAndSelect)

    def _remove(self) -> None:
        if not self._document.is_kept:
            self._table.remove(self.selected)

    def _move(self, by: int) -> None:
        self._table.move(self.selected, by)

    def _show_selected(self) -> None:
        rows = [self._table.records[number] for number in self.selected]
        self.form.setVisible(not self._document.is_kept)
        self.form.show_files(rows)
        current = self.current
        self._show_detail()
        for button in self._of_selected:
            button.setEnabled(bool(rows) and not self._document.is_kept)
        self.preview.show_file(current.file if current is not None and self.isVisible() else None)

    def _show_detail(self) -> None:
        current = self.current
        self.detail_label.show_text(self._detail(current))
        set_look(self.detail_label, role="error" if current is not None and current.error else "hint")

    def _detail(self, row: FileRow | None) -> str:
        if row is not None and row.error is not None:
            return str(row.error)
        if row is not None and (selected := len(self.selected)) > 1:
            return counted(selected, "1 file selected", "{count} files selected")
        if row is None or row.statistics is None:
            return ""
        return " · ".join(filter(None, loss_words(row.statistics.replaced, row.statistics.skipped_lines)))

    def _read_as(self, **how: Any) -> None:
        self._table.read_as(self.selected, **how)

    def show_fault(self) -> None:
        self.select(self._table.faulty[:1] or self.selected)

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        words = self.tr("No files yet. Drop files or folders here, or add them.")
        if not self._document.is_files and self._document.text and self._document.path is None:
            words += " " + self.tr("They take the place of the text.")
        set_plain_text(self._empty_label, words)
        self._show_selected()

    # -- construction

    def _lay_out(self, adding: Sequence[QAction]) -> None:
        self._empty_label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        offers = []
        for action in adding:
            offer = QPushButton(action.text(), self.empty)
            offer.clicked.connect(action.trigger)
            offers.append((offer, 0, Qt.AlignmentFlag.AlignHCenter))
        fill(QVBoxLayout(self.empty), 1, self._empty_label, *offers, 1, margins=(24, 24, 24, 24), spacing=-1)
        buttons = self.preview_button, self._add_button, *self._of_selected
        for button in buttons:
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        fill(QHBoxLayout(self._bar), (self._sum_label, 1), *buttons, margins=(14, 4, 8, 4), spacing=2)
        fill(QVBoxLayout(self._upper), (self.list, 1), self.detail_label, self.form)
        self.detail_label.setContentsMargins(14, 3, 14, 3)
        self.list.setMinimumHeight(_LEAST_LIST)
        self.preview.setMinimumHeight(_LEAST_PREVIEW)
        self._body.addWidget(self.preview)
        self._body.setChildrenCollapsible(False)
        self._body.setStretchFactor(0, 3)
        self._body.setStretchFactor(1, 2)
        self.preview_button.hide()
        fill(QVBoxLayout(self), self._bar, (self._body, 1), (self.empty, 1))
