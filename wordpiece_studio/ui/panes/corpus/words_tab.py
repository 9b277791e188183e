"""The words of the run shown and their splits: the second tab of the corpus pane.

A click on a word selects it, a click on a chip selects its token; what is selected elsewhere is marked here. The field
above searches the words; a word with a number, such as ``hug 10``, is a count that Enter sets in the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QVBoxLayout, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.step_marks import selected_token
from wordpiece_studio.session.words_table import RunWords, RunWordsModel, WordColumn, WordsFilter
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.widgets.chips import FlowItem, split_variants
from wordpiece_studio.ui.widgets.fields import ask_in, line_field
from wordpiece_studio.ui.widgets.pane import EmptyState, Pane, fill
from wordpiece_studio.ui.widgets.plain import (
    WholeLabel,
    explain,
    menu_text,
    set_plain_tooltip,
    tool_button,
    tooltip_text,
    whole,
)
from wordpiece_studio.ui.widgets.table import RowLook, TableView
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wordpiece_studio.session.session import Session
    from wordpiece_studio.ui.widgets.theme import Theme

_LONGEST_SHOWN = 14  # characters of the selected token at the box
_CHANGED = RowLook(is_marked=True)
_ENTRY = re.compile(r"\s*(\S+)\s+([0-9]{1,18})\s*")  # a word and how often it is to occur


class WordsTab(Pane):
    """The table with a field for searches and counts, and a box that leaves only words with the selected token.

    `refuse` is called if a count cannot be set.
    """

    def __init__(
        self, session: Session, refuse: Callable[[StudioError], None], theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(session.model, parent)
        self._session = session
        self._refuse = refuse
        explain("word", self)
        self.table = RunWordsModel(session.model, self)
        self.table.tip = self._tip
        self.table.dress(WordColumn.WORD, drawn=lambda words, item: token_text(words.words[item]))
        self.table.dress(WordColumn.SPLIT, chips=self._chips)
        self.view = TableView(
            self.table, theme, self, name=self.tr("Words and splits"), row_room=4, gap=3, has_bar=False,
            several=True, walking_chooses=True, is_adjustable=True, look=self._look,
            keys=dict.fromkeys((Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space), self._edit_count),
        )  # fmt: skip
        self.view.horizontalHeader().setSortIndicatorClearable(True)  # a third click: the order of the text
        self._in_text_order: bool | None = None  # the order that was shown last, unless a column was clicked
        self._token = ""  # the selected one, which is marked
        self._field = line_field(
            self, hint=self.tr("Search, or type: hug 10"), clears=True, takes_key=self._takes_key,
            name=self.tr("Search the words, or type a word and its count"),
        )  # fmt: skip
        tip = self.tr("Search words, or type a word and its count and press Enter: the corpus becomes words with "
                      "counts. A count of 0 removes the word.")  # fmt: skip
        set_plain_tooltip(self._field, tip)
        self._field.setMinimumWidth(60)
        self.only = QCheckBox(self)
        self.only.setEnabled(False)
        tip = self.tr("Set the count of this word")
        self.set_button = tool_button(self.tr("Set"), tip, self, self._set_count, role="link")
        self.set_button.hide()
        self.owner = WholeLabel(self, role="warning")
        self.empty = EmptyState(self)
        self._lay_out()
        self._connect()
        self._show_token("")
        self.setAccessibleName(self.tr("Words and splits"))

    def _lay_out(self) -> None:
        parts = (self._field, 1), self.only, self.set_button
        controls = fill(QHBoxLayout(), *parts, margins=(12, 2, 12, 0), spacing=6)
        owner = fill(QVBoxLayout(), self.owner, margins=(12, 0, 12, 0))
        fill(QVBoxLayout(self), controls, owner, (self.empty, 1), (self.view, 100), margins=(1, 2, 1, 2), spacing=4)

    def _connect(self) -> None:
        model = self._model
        self._field.textChanged.connect(self._take_filter)
        self._field.textChanged.connect(self._show_set_button)
        self.only.toggled.connect(self._take_filter)
        self.view.doubleClicked.connect(lambda at: None if at.column() == WordColumn.SPLIT else self._edit_count())
        self.view.item_chosen.connect(self._select_word)
        self.view.chip_chosen.connect(lambda token: model.set_selection(Selection("token", text=token)))
        self.table.rows_found.connect(self._on_table_rows_found)
        self.table.task.failed.connect(self._show_emptiness)
        self.follow(model.step_changed, model.side_changed, model.order_changed, model.selection_changed)
        self.follow(self._session.counting.counts_changed, self._session.counting.state_changed)

    def focus_search(self) -> None:
        ask_in(self._field)

    # -- contents

    def refresh(self) -> None:
        before, counts = self.table.source, self._session.counting.counts
        self.table.show_step(None if counts is None else (counts, self._session.settings.valid_config()))
        self._take_order()
        self._take_filter()
        if self.table.source is not before:
            self.view.spread()
        self._show_token(selected_token(self._model))
        self._show_selection()
        self._show_emptiness()

    def forget(self) -> None:
        self.table.forget()

    def _take_order(self) -> None:
        words = self.table.source
        wanted = self._model.in_text_order(words.word_count if words is not None else 0)
        if wanted != self._in_text_order:
            self._in_text_order = wanted
            column = -1 if wanted else WordColumn.COUNT
            self.view.horizontalHeader().setSortIndicator(column, Qt.SortOrder.DescendingOrder)

    def _look(self, _words: RunWords, item: int) -> RowLook:
        return _CHANGED if self.table.is_changed(item) else RowLook()

    def _tip(self, words: RunWords, item: int) -> str:
        head = f"{words.words[item]} ×{number_text(int(words.weights[item]))}"
        return tooltip_text(f"{head}\n{' '.join(words.split(item))}")

    def _chips(self, words: RunWords, item: int) -> list[Iterator[list[FlowItem]]]:
        marked = words.marked(item) if self.table.is_changed(item) else ((), ())
        return [split_variants(words.split(item), self._token, *marked)]

    def _show_selection(self) -> None:
        selection, token = self._model.selection, selected_token(self._model)
        if token != self._token:
            self._token = token
            self.view.viewport().update()
        if self.view.selected_count() > 1:
            return
        row = self.table.row_of_word(selection.text) if selection is not None and selection.kind == "word" else -1
        if row < 0:
            self.view.clearSelection()
        elif row != self.view.selected_row:
            self.view.setCurrentIndex(self.table.index(row, 0))
            self.view.bring_into_view(row, 1)

    def _show_token(self, token: str) -> None:
        self.only.setEnabled(bool(token) or self.only.isChecked())
        text = self.tr("Contains token")
        tip = self.tr("Show only words that contain a token; select a token first, for example in Live tokenization")
        if token:
            text = self.tr("Contains {token}").format(token=token_text(token, _LONGEST_SHOWN))
            tip = self.tr("Only words that contain the selected token")
        self.only.setText(menu_text(text))
        set_plain_tooltip(self.only, tip)
        self.only.setAccessibleName(tip)

    def _show_emptiness(self) -> None:
        self.empty.replace(self.view, self._why_empty())

    def _why_empty(self) -> str:
        error, words = self.table.task.error, self.table.source
        if error is not None:
            return str(error)
        if words is not None:
            is_empty = not self.table.rowCount() and not self.table.task.is_running
            return self.tr("No word matches at this step.") if is_empty else ""
        if self._model.history is not None:
            return self.tr("The words of this run cannot be read.")
        if self._session.counting.is_under_way:
            return self.tr("The words are being counted.")
        return self.tr("There are no words yet. Type or open a text, or type a word and its count above: hug 10")

    def _take_filter(self) -> None:
        token = selected_token(self._model) if self.only.isChecked() else ""
        entry = self._entry()
        sought = entry[0] if entry is not None else self._field.text()
        self.table.set_filter(WordsFilter(sought, token))

    # -- counts

    def _entry(self) -> tuple[str, int] | None:
        found = _ENTRY.fullmatch(self._field.text())
        return None if found is None else (found[1], int(found[2]))

    def _show_set_button(self) -> None:
        entry = self._entry()
        if entry is not None:
            word, count = entry
            tip = self.tr("Set the count of {word} to {count:,} (Enter)") if count else self.tr("Remove {word} (Enter)")
            tip = tip.format(word=token_text(word, _LONGEST_SHOWN), count=count)
            self.set_button.setText(self.tr("Set") if count else self.tr("Remove"))
            set_plain_tooltip(self.set_button, tip)
            self.set_button.setAccessibleName(tip)
        self.set_button.setVisible(entry is not None)
        self.only.setVisible(entry is None)

    def _set_count(self) -> None:
        entry = self._entry()
        if entry is None:
            return
        try:
            self._session.counting.set_count(*entry)
        except StudioError as error:
            self._refuse(error)
            return
        self._field.setText("")
        self._field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _edit_count(self) -> None:
        row = self.view.currentIndex().row()
        if row < 0:
            return
        item = self.table.item_of_row(row)
        word, count = (str(self.table.value(item, column)) for column in (WordColumn.WORD, WordColumn.COUNT))
        if not self._session.document.is_files:
            self._field.setText(whole(f"{word} {count}"))
            self._field.setFocus(Qt.FocusReason.OtherFocusReason)
            self._field.setSelection(len(self._field.text()) - len(count), len(count))

    # -- events

    def _takes_key(self, event: QKeyEvent) -> bool:
        """Let Escape clear the field, Enter set a count, and otherwise Enter and the down arrow go to the table.

        Where the field has nothing of its own to undo, what was set is undone.
        """
        field, stack = self._field, self._session.document.undo_stack
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if event.key() == Qt.Key.Key_Escape and field.text():
            field.clear()
        elif is_enter and self._entry() is not None:
            self._set_count()
        elif is_enter or event.key() == Qt.Key.Key_Down:
            self.view.setFocus(Qt.FocusReason.OtherFocusReason)
        elif event.matches(QKeySequence.StandardKey.Undo) and not field.isUndoAvailable():
            stack.undo()
        elif event.matches(QKeySequence.StandardKey.Redo) and not field.isRedoAvailable():
            stack.redo()
        else:
            return False
        return True

    def _select_word(self, item: int) -> None:
        self._model.set_selection(Selection("word", text=str(self.table.value(item, WordColumn.WORD))))

    def _on_table_rows_found(self, is_refiltered: bool) -> None:
        if is_refiltered:
            self.view.scrollToTop()
        self.view.spread()
        if self.is_current:
            self._show_selection()
            self._show_emptiness()
