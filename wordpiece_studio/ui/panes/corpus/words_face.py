"""The words of the run shown and their splits: the second face of the corpus pane.

A click on a word selects it, a click on a chip selects its token; what is selected elsewhere is marked here. The field
above searches the words; a word with a number, such as ``hug 10``, is a count that Enter sets in the text. Where the
run is compared, its words can be those that it and another one cut differently.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.plural import plural
from wordpiece_studio.session.runs import ComparedStep, words_apart
from wordpiece_studio.session.step_marks import text_of_token
from wordpiece_studio.session.task import Task
from wordpiece_studio.session.words_table import ListedWords, RunWordsModel, WordColumn, WordsApart, WordsFilter
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.widgets.chips import FlowItem
from wordpiece_studio.ui.widgets.fields import ask_in, line_field
from wordpiece_studio.ui.widgets.pane import EmptyState, Pane, fill
from wordpiece_studio.ui.widgets.plain import (
    WholeLabel,
    copy_text,
    explain,
    menu_text,
    set_plain_tooltip,
    tool_button,
    tooltip_text,
    whole,
)
from wordpiece_studio.ui.widgets.table import RowLook, TableView
from wordpiece_studio.ui.widgets.token_text import number_text, token_text, where_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from PySide6.QtGui import QHideEvent

    from wordpiece_studio.evaluation.differences import WordDifferences
    from wordpiece_studio.session.run import Run
    from wordpiece_studio.session.session import Session
    from wordpiece_studio.ui.widgets.theme import Theme

_ROWS_AROUND = 1
_LONGEST_SHOWN = 14
"""Characters of the selected token at the box."""
_MOST_CHIPS = 30
"""Of a split that is too long for its cell."""
_BETWEEN_WORDS = 6  # pixels
_CHANGED = RowLook(is_marked=True)
_SHORTEST_CHOICE = 12  # characters
_FEW_WORDS = 2000
"""So many are compared in no time, so there is no need to wait for the step to settle."""
_ENTRY = re.compile(r"\s*(\S+)\s+([0-9]{1,18})\s*")
"""A word and how often it is to occur."""


def _key(compared: ComparedStep) -> tuple[Run, int | None]:
    """Return what stays the same when the step shown is another one."""
    return compared.run, None if compared.bookmark is None else compared.step


class WordsFace(Pane):
    """The table with a field for searches and counts, and a box that leaves only words with the selected token.

    Below them, where something is compared, a choice of what it is that must cut the words differently. `refuse` is
    called if a count cannot be set.
    """

    def __init__(
        self, session: Session, refuse: Callable[[StudioError], None], theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(session.model, parent)
        self._session = session
        self._refuse = refuse
        self._said = ""  # about the words that are cut differently
        self._other: tuple[Run, int | None] | None = None  # what must cut the words differently, if anything
        self._shown_before: Run | None = None
        self._search = Task(words_apart, "The runs cannot be compared", self, debounce_ms=150)
        explain("word", self)
        self.table = RunWordsModel(session.model, self)
        self.table.tip = self._tip
        self.table.dress(WordColumn.WORD, drawn=lambda words, item: token_text(words.words[item]))
        self.table.dress(WordColumn.SPLIT, chips=self._chips)
        self.view = TableView(
            self.table, theme, self, name=self.tr("Words and splits"), row_room=4, gap=3, has_bar=False,
            several=True, walking_chooses=True, is_adjustable=True, look=self._look,
            keys={
                QKeySequence.StandardKey.Copy: self._copy,
                **dict.fromkeys((Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space), self._edit_count),
            },
        )  # fmt: skip
        self.view.horizontalHeader().setSortIndicatorClearable(False)
        self.view.horizontalHeader().setSortIndicator(WordColumn.COUNT, Qt.SortOrder.DescendingOrder)
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
        policy = QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        self.choice = QComboBox(self, sizeAdjustPolicy=policy, minimumContentsLength=_SHORTEST_CHOICE)
        self.choice.setAccessibleName(self.tr("Which words are shown"))
        self.choice.hide()
        self.owner, self.share = WholeLabel(self, role="warning"), WholeLabel(self, role="hint")
        self.empty = EmptyState(self)
        self._lay_out()
        self._connect()
        self._show_token("")
        self.setAccessibleName(self.tr("Words and splits"))

    def _lay_out(self) -> None:
        parts = (self._field, 1), self.only, self.set_button
        controls = fill(QHBoxLayout(), *parts, margins=(12, 2, 12, 0), spacing=6)
        apart = fill(QVBoxLayout(), self.owner, self.choice, self.share, margins=(12, 0, 12, 0), spacing=-1)
        fill(QVBoxLayout(self), controls, apart, (self.empty, 1), (self.view, 100), margins=(1, 2, 1, 2), spacing=4)

    def _connect(self) -> None:
        model = self._model
        self._field.textChanged.connect(self._take_filter)
        self._field.textChanged.connect(self._show_set_button)
        self.only.toggled.connect(self._take_filter)
        self.choice.activated.connect(self._choose)
        self._search.changed.connect(self._on_search_changed)
        self.view.doubleClicked.connect(self._on_view_double_clicked)
        self.view.item_chosen.connect(self._select_word)
        self.view.chip_chosen.connect(lambda token: model.set_selection(Selection("token", text=token)))
        self.table.rows_found.connect(self._on_table_rows_found)
        self.table.task.failed.connect(self._show_emptiness)
        self.follow(self._session.comparison.changed, model.step_changed, model.selection_changed)
        self.follow(self._session.counting.counts_changed, self._session.counting.state_changed)

    def focus_search(self) -> None:
        ask_in(self._field)

    def choose_next(self) -> None:
        """Show the words that the next compared run or step cuts differently, or after the last one, all words."""
        self._choose((self._place_of_choice() + 1) % (len(self._others()) + 1))

    # -- contents

    def refresh(self) -> None:
        before, counts = self.table.source, self._session.counting.counts
        others = self._others()
        self._show_choice(others)
        if self._other is None:
            self._search.stop()
            self.table.show_step(None if counts is None else (counts, self._session.settings.valid_config()))
        else:
            self._find_apart(others[self._place_of_choice() - 1])
        self._show_share()
        self._take_filter()
        if self.table.source is not before:
            self._fit()
        self._show_token(self._selected_token())
        self._show_selection()
        self._show_emptiness()

    def forget(self) -> None:
        self.table.forget()
        self._search.forget()

    def _fit(self) -> None:
        """Give the rows the height of one split, or of two with room between words, and the columns their widths."""
        self.view.lines, self.view.row_room = (2, 8 + _BETWEEN_WORDS) if self.table.is_apart else (1, 4)
        self.view.fit_rows()
        self.view.spread()

    def _look(self, _words: ListedWords, item: int) -> RowLook:
        return _CHANGED if self.table.is_changed(item) else RowLook()

    def _tip(self, words: ListedWords, item: int) -> str:
        head = f"{words.words[item]} ×{number_text(int(words.weights[item]))}"
        return tooltip_text("\n".join((head, *words.split_texts(item))))

    def _chips(self, words: ListedWords, item: int) -> Iterator[Iterator[list[FlowItem]]]:
        """Yield a line for each of those that cut a word."""
        made = words.made() if self.table.is_changed(item) else ""
        for label, split in zip_longest(words.labels, words.splits(item), fillvalue=""):
            yield self._variants([FlowItem(label, "strong")] if label else [], split, made)

    def _variants(self, first: list[FlowItem], split: Sequence[str], made: str) -> Iterator[list[FlowItem]]:
        chips = [
            FlowItem(token, "chip", target=token, selected=token == self._token, fresh=token == made) for token in split
        ]
        yield [*first, *(chips or [FlowItem("—", "text")])]
        for number in range(min(len(chips) - 1, _MOST_CHIPS), 0, -1):
            yield [*first, *chips[:number], FlowItem("…", "text")]

    def _show_selection(self) -> None:
        selection, token = self._model.selection, self._selected_token()
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
            self.view.bring_into_view(row, _ROWS_AROUND)

    # -- words that are cut differently

    def _others(self) -> list[ComparedStep]:
        return [] if self._model.run is None else self._session.comparison.beside()

    def _show_choice(self, others: Sequence[ComparedStep]) -> None:
        run, keys = self._model.run, [_key(other) for other in others]
        if self._other is not None and self._other not in keys:
            # Where the tab of the chosen one is shown now, it is compared with the one shown before.
            is_shown_now = self._other == (run, None) and (self._shown_before, None) in keys
            self._other = (self._shown_before, None) if is_shown_now and self._shown_before is not None else None
        self._shown_before = run
        texts = [self.tr("All words")]
        texts += [self.tr("Split differently by {run}").format(run=other.label) for other in others]
        if texts != [self.choice.itemText(place) for place in range(self.choice.count())]:
            self.choice.clear()
            self.choice.addItems(texts)
        self.choice.setCurrentIndex(self._place_of_choice())
        self.choice.setVisible(bool(others))

    def _place_of_choice(self) -> int:
        keys = [None, *map(_key, self._others())]
        return keys.index(self._other) if self._other in keys else 0

    def _choose(self, place: int) -> None:
        self._other = _key(self._others()[place - 1]) if place else None
        self.refresh_later()

    def _find_apart(self, other: ComparedStep) -> None:
        """Show the words that are cut differently, or those found last until they are known."""
        run = self._model.run
        assert run is not None  # else nothing is compared
        shown = ComparedStep(run, self._model.step)
        libraries = run.library, other.run.library  # which are loaded a little later than the runs of a project
        self._search.ask(shown, other, *libraries, at_once=len(run.counts) <= _FEW_WORDS)
        found, words = self._search.answer, self.table.source
        if self._search.answered != self._search.request:
            if not isinstance(words, WordsApart):
                self.table.forget()
        elif not isinstance(words, WordsApart) or words.found is not found:
            self.table.show_apart(WordsApart(found, (shown.label, other.label)))
            self._said = self._apart_text(found, where_text(shown), where_text(other))

    def _apart_text(self, found: WordDifferences, first: str, second: str) -> str:
        if not found.words:
            return self.tr("{first} and {second} split all words the same way.").format(first=first, second=second)
        text = plural(
            found.distinct_words,
            "{first} and {second} split {number} of 1 distinct word differently: {share}% of the text.",
            "{first} and {second} split {number} of {total} distinct words differently: {share}% of the text.",
        )
        return text.format(
            first=first,
            second=second,
            number=number_text(len(found.words)),
            total=number_text(found.distinct_words),
            share=f"{100 * found.share:.2f}",
        )

    def _show_share(self) -> None:
        """Say how much of the text is cut differently, and how far the search for another step is."""
        text = self._said if self.table.is_apart and not self._is_alike else ""
        if text and self._search.progress is not None:
            text += " " + self.tr("Comparing: {percent}%").format(percent=self._search.progress)
        self.share.show_text(text)

    @property
    def _is_alike(self) -> bool:
        words = self.table.source
        return isinstance(words, WordsApart) and not words.word_count

    def _selected_token(self) -> str:
        history, selection = self._model.history, self._model.selection
        if history is None or selection is None:
            return ""
        return text_of_token(selection, history.vocabulary(self._model.merge_count))

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
        error, words = self.table.task.error or self._search.error, self.table.source
        if error is not None:
            return str(error)
        if words is None and self._other is not None:
            percent = self._search.progress
            comparing = self.tr("Comparing words…") if percent is None else self.tr("Comparing words… {percent}%")
            return comparing.format(percent=percent)
        if self._is_alike:
            return self._said
        if words is not None:
            is_empty = not self.table.rowCount() and not self.table.is_busy
            return self.tr("No word matches at this step.") if is_empty else ""
        if self._model.history is not None:
            return self.tr("The words of this run cannot be read.")
        if self._session.counting.is_under_way:
            return self.tr("The words are being counted.")
        return self.tr("There are no words yet. Type or open a text, or type a word and its count above: hug 10")

    def _take_filter(self) -> None:
        token = self._selected_token() if self.only.isChecked() else ""
        entry = self._entry()
        sought = entry[0] if entry is not None else self._field.text()
        self.table.set_filter(WordsFilter(sought, token))

    def _copy(self) -> None:
        words = self.table.source
        if words is None:
            return
        rows = (
            (words.words[item], str(words.weights[item]), *map(" ".join, words.splits(item)))
            for item in self.view.selected_items().tolist()
        )
        copy_text("".join("\t".join(row) + "\n" for row in rows))

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

    def _on_view_double_clicked(self, index: QModelIndex) -> None:
        if index.column() != WordColumn.SPLIT:
            self._edit_count()

    def _edit_count(self) -> None:
        """Put the current word into the field with its count, which can then be typed over."""
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

    def _on_search_changed(self) -> None:
        if self._search.progress is None:
            self.refresh_later()
        elif self.is_current:
            self._show_share()
            self._show_emptiness()

    def hideEvent(self, event: QHideEvent) -> None:
        """Compare nothing that nobody sees."""
        super().hideEvent(event)
        if self._other is not None:
            self._search.stop()
            self.refresh_later()

    def _select_word(self, item: int) -> None:
        self._model.set_selection(Selection("word", text=str(self.table.value(item, WordColumn.WORD))))

    def _on_table_rows_found(self, is_refiltered: bool) -> None:
        if is_refiltered:
            self.view.scrollToTop()
        self._fit()
        if self.is_current:
            self._show_selection()
            self._show_emptiness()
