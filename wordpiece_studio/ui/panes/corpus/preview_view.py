"""A preview of any part of a file without reading the rest: the text, and a slider over the whole file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QSlider, QToolButton, QVBoxLayout, QWidget

from wordpiece_studio.session.corpus_opening import PREVIEW_BYTES, PreviewJob, PreviewOrder, ShownPart
from wordpiece_studio.session.timers import single_shot
from wordpiece_studio.session.view_text import ViewIndex, folded, unfolded
from wordpiece_studio.ui.widgets.plain import (
    ExactEdit,
    plain_label,
    set_plain_text,
    set_plain_tooltip,
    tool_button,
    whole,
)
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from wordpiece_studio.corpus.files import CorpusFile
    from wordpiece_studio.errors import StudioError

_STEPS = 1000
_PATIENCE_MS = 2000
"""A part that takes longer is abandoned when another one is requested."""


class PreviewText(ExactEdit):
    """Shows a read-only text, folded; copied text is not folded."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown = ""

    def show_text(self, text: str) -> None:
        """Show a text from its beginning."""
        self._shown = text
        self.setPlainText(whole(folded(text)))
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def text_between(self, start: int, end: int) -> str:
        return unfolded(self._shown, start, end)


class PreviewView(QWidget):
    """Shows a part of one file; requests one part at a time, always the latest one wanted."""

    line_changed = Signal()
    """The cursor is on another line, or another part is shown."""
    text_shown = Signal(object)
    """The beginning of a file is shown, a str."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._job = PreviewJob(self)
        self._wanted: PreviewOrder | None = None  # requested once the current one has arrived
        self._order: PreviewOrder | None = None
        self._part: ShownPart | None = None
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
        self._slider.valueChanged.connect(self._on_slider_value_changed)
        self._place_label = plain_label("", self, role="hint")
        self._earlier_button = self._button("‹", self.tr("Previous part"), self._on_earlier_clicked)
        self._later_button = self._button("›", self.tr("Next part"), self._on_later_clicked)
        self._impatience = single_shot(self, self._on_impatience_timeout, _PATIENCE_MS)
        self._job.finished.connect(self._on_job_finished)
        self._job.failed.connect(self._on_job_failed)
        self._lay_out()
        self._enable()

    def show_file(self, file: CorpusFile | None) -> None:
        """Show the beginning of a file, or nothing."""
        if file is None:
            self._wanted = self._order = self._part = None
            self._job.stop()
            self._show_text("")
            return
        if file.kind == "word-counts" and not file.path.lower().endswith(".parquet"):
            file = replace(file, kind="text")  # a table is previewed line by line
        if self._order is None or self._order.file != file:
            self._order = None
            self._ask(PreviewOrder(file))

    def read_again(self, path: Path) -> None:
        """Show the same part of the file anew if it is of the one at `path`, which has changed."""
        order = self._wanted or self._order
        if order is not None and Path(order.file.path) == path:
            self._ask(order)

    def close_job(self) -> None:
        """End the job that reads the parts."""
        self._job.close()

    @property
    def text(self) -> str:
        """The text of the part shown, as it is in the file."""
        return self._part.part.text if self._part is not None else ""

    def line_at_cursor(self) -> tuple[int | None, str, int]:
        """Return the number of the line at the cursor if known, its text, and the cursor's position in it."""
        cursor = self._text.textCursor()
        first = self._part.part.first_line if self._part is not None else None
        number = None if first is None else first + cursor.blockNumber()
        line = cursor.block().text()
        return number, line, ViewIndex(line).text_position(cursor.positionInBlock())

    # -- requests

    def _ask(self, order: PreviewOrder) -> None:
        self._wanted = order
        if not self._job.is_running:
            self._ask_now()
        elif not self._impatience.isActive():
            self._impatience.start()

    def _ask_now(self) -> None:
        self._impatience.stop()
        if self._wanted is not None:
            order, self._wanted = self._wanted, None
            self._order = order
            self._job.begin(order)

    def _on_impatience_timeout(self) -> None:
        self._ask_now()

    def _on_slider_value_changed(self, value: int) -> None:
        if self._part is not None:
            self._ask(PreviewOrder(self._part.order.file, self._part.part.total * value // _STEPS))

    def _on_earlier_clicked(self) -> None:
        if self._part is not None:
            step = max(self._part.part.end - self._part.part.start, 1) if self._is_by_row else PREVIEW_BYTES
            self._ask(PreviewOrder(self._part.order.file, max(0, self._part.part.start - step)))

    def _on_later_clicked(self) -> None:
        if self._part is not None and self._part.part.end < self._part.part.total:
            self._ask(PreviewOrder(self._part.order.file, self._part.part.end))

    @property
    def _is_by_row(self) -> bool:
        return self._part is not None and self._part.order.file.kind == "parquet"

    # -- display

    def _on_job_finished(self, part: ShownPart) -> None:
        is_new = self._part is None or self._part.order.file != part.order.file
        self._part = part
        self._show_text(part.part.text)
        if not part.part.text.strip():
            self._text.setPlaceholderText(self.tr("This part of the file has no text") if part.part.total else
                                          self.tr("The file is empty"))  # fmt: skip
        if is_new and part.order.at == 0:
            self.text_shown.emit(part.part.text)
        self._ask_now()

    def _on_job_failed(self, error: StudioError) -> None:
        self._part = None
        self._show_text("")
        self._text.setPlaceholderText(str(error))
        self._ask_now()

    def _show_text(self, text: str) -> None:
        self._text.setPlaceholderText("")
        self._text.show_text(text)
        self._enable()
        self.line_changed.emit()

    def _enable(self) -> None:
        part = self._part.part if self._part is not None else None
        for widget in (self._slider, self._earlier_button, self._later_button):
            widget.setEnabled(part is not None)
        words = ""
        if part is not None:
            self._earlier_button.setEnabled(part.start > 0)
            self._later_button.setEnabled(part.end < part.total)
            if not self._slider.isSliderDown() and self._wanted is None:
                self._slider.blockSignals(True)
                self._slider.setValue(round(_STEPS * part.start / max(part.total, 1)))
                self._slider.blockSignals(False)
            share = f"{100 * part.start / max(part.total, 1):.0f}%"
            line = part.first_line
            words = share if line is None else self.tr("Line {line}").format(line=number_text(line))
        set_plain_text(self._place_label, words)

    def _button(self, text: str, name: str, slot: object) -> QToolButton:
        button = tool_button(text, name, self)
        button.clicked.connect(slot)
        return button

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(14, 4, 12, 0)
        bar.setSpacing(6)
        bar.addWidget(plain_label(self.tr("Preview"), self, role="heading"))
        bar.addWidget(self._earlier_button)
        bar.addWidget(self._slider, 1)
        bar.addWidget(self._later_button)
        bar.addWidget(self._place_label)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        layout.addWidget(self._text, 1)
