"""The words of the run shown and their splits: the second face of the corpus pane.

A click on a word selects it, a click on a chip selects its token; what is selected elsewhere is marked here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPointF, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QStyle, QVBoxLayout, QWidget

from wordpiece_studio.session.run import Selection, TrainerState
from wordpiece_studio.session.selection import text_of_token
from wordpiece_studio.session.timers import single_shot
from wordpiece_studio.session.words_table import RunWordsModel, WordColumn, WordsFilter
from wordpiece_studio.ui.widgets.chip_style import ChipDelegate, FlowItem
from wordpiece_studio.ui.widgets.fields import line_field
from wordpiece_studio.ui.widgets.pane import EmptyState, Pane
from wordpiece_studio.ui.widgets.plain import copy_text, menu_text, set_plain_tooltip
from wordpiece_studio.ui.widgets.quiet_table import CELL_PADDING, SortedTable, paint_mark, paint_text
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtGui import QMouseEvent, QPainter, QResizeEvent
    from PySide6.QtWidgets import QStyleOptionViewItem

    from wordpiece_studio.session.table_model import Index
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.ui.widgets.theme import Theme

_ROWS_AROUND = 1
_PAUSE_MS = 120
_BUSY_DELAY_MS = 100
_LONGEST_SHOWN = 14
"""Characters of the selected token at the box."""


class _WordDelegate(ChipDelegate):
    """Draws the splits as chips, and words and counts with the mark of the rows that the step changed."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        table = index.model()
        if index.column() == WordColumn.SPLIT or not isinstance(table, RunWordsModel):
            super().paint(painter, option, index)
            return
        is_word, is_changed = index.column() == WordColumn.WORD, index.row() < table.changed_rows
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, self._theme.accent_soft)
        if is_word and is_changed:
            paint_mark(painter, option.rect, self._theme)
        font = QFont(option.font)
        font.setBold(is_word and is_changed)
        painter.setFont(font)
        painter.setPen(self._theme.text)
        text = table.text(table.item_of_row(index.row()), index.column())
        paint_text(painter, option.rect, token_text(text), is_number=not is_word)


class RunWordsView(SortedTable):
    """The words in rows of equal height."""

    token_clicked = Signal(object)
    """The token (str) of the chip that was clicked."""

    def __init__(self, table: RunWordsModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(table, parent)
        self._words = table
        self._theme = theme
        self._token = ""
        self._pressed_at = QPointF()
        self._delegate = _WordDelegate(theme, WordColumn.SPLIT, self._chips_at, self, gap=3)
        self.setItemDelegate(self._delegate)
        self.setAccessibleName(self.tr("Words and their splits"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.horizontalHeader()
        header.setSortIndicatorClearable(False)
        header.setSortIndicator(WordColumn.COUNT, Qt.SortOrder.DescendingOrder)
        header.setStretchLastSection(True)
        self.restyle()
        theme.changed.connect(self.on_theme_changed)

    def show_selection(self, selection: Selection | None, token: str) -> None:
        """Mark the row of the selected word, and the chips of the selected token."""
        if token != self._token:
            self._token = token
            self.viewport().update()
        if self.selected_count() > 1:
            return
        row = self._words.row_of_word(selection.text) if selection is not None and selection.kind == "word" else -1
        if row < 0:
            self.clearSelection()
        elif row != self.selected_row:
            self.setCurrentIndex(self._words.index(row, 0))
            self.bring_into_view(row, _ROWS_AROUND, is_early=False)

    def restyle(self) -> None:
        self._delegate.restyle()
        self.verticalHeader().setDefaultSectionSize(self._delegate.chip_height + 4)
        self.fit_columns()

    def fit_columns(self) -> None:
        """Give the counts the width that the largest needs, the words a third of the rest at most."""
        metrics, words = self.fontMetrics(), self._words.words
        room = self.viewport().width()
        most = number_text(words.largest_count() if words is not None and self._words.rowCount() else 0)
        title = str(self._words.headerData(WordColumn.COUNT, Qt.Orientation.Horizontal))
        width = max(metrics.horizontalAdvance(most), metrics.horizontalAdvance(title)) + 3 * CELL_PADDING
        self.setColumnWidth(WordColumn.COUNT, width)
        wanted = metrics.averageCharWidth() * 14 + 3 * CELL_PADDING
        self.setColumnWidth(WordColumn.WORD, max(50, min(wanted, (room - width) // 3)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_columns()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed_at = event.position()
        super().mousePressEvent(event)

    def _on_self_clicked(self, index: QModelIndex) -> None:
        chip = None
        if index.column() == WordColumn.SPLIT:
            chip = self._delegate.item_at(self.visualRect(index), index, self._pressed_at.x())
        if chip is not None:
            self.token_clicked.emit(chip.target)
        elif self.is_one_row_selected():
            self.item_walked_to.emit(self._words.item_of_row(index.row()))

    def _chips_at(self, index: Index) -> Iterator[list[FlowItem]]:
        words = self._words.words
        if words is None:
            return
        made = words.made() if index.row() < self._words.changed_rows else ""
        yield [
            FlowItem(token, "chip", target=token, selected=token == self._token, fresh=token == made)
            for token in words.split(self._words.item_of_row(index.row()))
        ]


class WordsFace(Pane):
    """The table with a search field and a box that leaves only words with the selected token."""

    def __init__(self, model: TrainerModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.table = RunWordsModel(model, self)
        self.view = RunWordsView(self.table, theme, self)
        self._field = line_field(self)
        self._field.setPlaceholderText(self.tr("search words"))
        self._field.setAccessibleName(self.tr("Search the words of the corpus"))
        self._field.setClearButtonEnabled(True)
        self._field.setMinimumWidth(60)
        self._field.installEventFilter(self)
        self._only = QCheckBox(self)
        self._only.setEnabled(False)
        self._empty = EmptyState(self)
        self._timer = single_shot(self, self._take_filter, _PAUSE_MS)
        self._lay_out()
        self._connect()
        self._show_token("")
        self.set_heading(self.tr("Words and their splits"))

    def _lay_out(self) -> None:
        controls = QHBoxLayout()
        controls.setContentsMargins(12, 2, 12, 0)
        controls.setSpacing(6)
        controls.addWidget(self._field, 1)
        controls.addWidget(self._only)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(1, 2, 1, 2)
        layout.setSpacing(4)
        layout.addLayout(controls)
        layout.addWidget(self._empty, 1)
        layout.addWidget(self.view, 100)

    def _connect(self) -> None:
        model = self._model
        self._field.textChanged.connect(self._on_field_text_changed)
        self._only.toggled.connect(self._on_only_toggled)
        self.view.item_walked_to.connect(self._on_view_item_walked_to)
        self.view.token_clicked.connect(self._on_view_token_clicked)
        self.view.copy_requested.connect(self._copy)
        self.table.rows_found.connect(self._on_table_rows_found)
        model.step_changed.connect(self._on_model_step_changed)
        model.selection_changed.connect(self._on_model_selection_changed)

    @property
    def only(self) -> QCheckBox:
        """The box that leaves only words with the selected token."""
        return self._only

    def focus_search(self) -> None:
        """Move the keyboard focus to the search field."""
        self._field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._field.selectAll()

    def close_jobs(self) -> None:
        self.table.close()

    # -- contents

    def refresh(self) -> None:
        before = self.table.words
        self.table.show_step()
        self._take_filter()
        if self.table.words is not before:
            self.view.fit_columns()
        self._show_token(self._selected_token())
        self.view.show_selection(self._model.selection, self._selected_token())
        self._show_emptiness()

    def forget(self) -> None:
        self.table.forget()

    def _selected_token(self) -> str:
        history, selection = self._model.history, self._model.selection
        if history is None or selection is None:
            return ""
        return text_of_token(selection, history.vocabulary(self._model.merge_count))

    def _show_token(self, token: str) -> None:
        self._only.setEnabled(bool(token) or self._only.isChecked())
        name = token_text(token, _LONGEST_SHOWN) if token else self.tr("token")
        self._only.setText(menu_text(self.tr("with {token}").format(token=name)))
        tip = self.tr("Only words that contain the selected token")
        if not token:
            tip = self.tr("Only words that contain a token: select one first, for example with a click on a chip")
        set_plain_tooltip(self._only, tip)
        self._only.setAccessibleName(tip)

    def _show_emptiness(self) -> None:
        text = ""
        if self._model.history is None:
            text = self.tr("Nothing has been trained yet. Train to see every word and how it is split.")
        elif not self.table.rowCount() and not self.table.is_busy:
            text = self.tr("No word matches at this step.")
        self._empty.show_text(text, offers=self._model.history is None)
        self._empty.setVisible(bool(text))
        self.view.setVisible(not text)

    def _take_filter(self) -> None:
        self._timer.stop()
        token = self._selected_token() if self._only.isChecked() else ""
        self.table.set_filter(WordsFilter(self._field.text(), token, self._model.step if token else 0))

    def _copy(self) -> None:
        """Copy the selected rows as tab-separated text."""
        rows = self.view.selected_items().tolist()
        copy_text("".join("\t".join(str(self._plain(row, column)) for column in WordColumn) + "\n" for row in rows))

    def _plain(self, item: int, column: WordColumn) -> object:
        return self.table.text(item, column) if column is WordColumn.SPLIT else self.table.value(item, column)

    # -- events

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let Escape clear the field, and Enter or the down arrow go to the table."""
        if watched is self._field and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape and self._field.text():
                self._field.clear()
                return True
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._take_filter()
                self.view.setFocus(Qt.FocusReason.OtherFocusReason)
                return True
        return super().eventFilter(watched, event)

    def _on_field_text_changed(self, _text: str) -> None:
        self._timer.start()

    def _on_only_toggled(self, _is_checked: bool) -> None:
        self._take_filter()

    def _on_view_item_walked_to(self, item: int) -> None:
        self._model.set_selection(Selection("word", text=str(self.table.value(item, WordColumn.WORD))))

    def _on_view_token_clicked(self, token: str) -> None:
        self._model.set_selection(Selection("token", text=token))

    def _on_table_rows_found(self, is_refiltered: bool) -> None:
        if is_refiltered:
            self.view.scrollToTop()
        self.view.fit_columns()
        if self.is_current:
            self.view.show_selection(self._model.selection, self._selected_token())
            self._show_emptiness()

    def _on_model_step_changed(self, _step: object) -> None:
        self.refresh_later(_BUSY_DELAY_MS if self._model.state is TrainerState.TRAINING else 0)

    def _on_model_selection_changed(self, _selection: object) -> None:
        self.refresh_later()
