"""The vocabulary at the current step, one row per token: to search, sort and filter, with dead tokens marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from wordpiece_studio.evaluation.usage import DeadReason
from wordpiece_studio.session.plural import counted, filled
from wordpiece_studio.session.step_marks import selected_id
from wordpiece_studio.session.vocabulary_table import (
    BY_USAGE,
    SPECIAL_BIRTH,
    VocabularyColumn,
    VocabularyFilter,
    VocabularyTableModel,
)
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.widgets.chips import FlowItem
from wordpiece_studio.ui.widgets.fields import ask_in, combo_box, line_field, show_problem
from wordpiece_studio.ui.widgets.pane import EmptyState, Pane, fill
from wordpiece_studio.ui.widgets.plain import WholeLabel, copy_text, explain, tool_button, tooltip_text
from wordpiece_studio.ui.widgets.table import TableView
from wordpiece_studio.ui.widgets.token_text import DEAD_MARK, dead_sentence, dead_words, signed_text, token_text

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.session.runs import Comparison
    from wordpiece_studio.session.token_usage import TokenUsage
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.session.vocabulary_table import Kind, TokenNumbers, VocabularyItems
    from wordpiece_studio.ui.widgets.theme import Theme

_KINDS: tuple[Kind, ...] = ("all", "special", "alphabet", "learned", "dead")
_ONLY: Kind = "only"
_NARROWEST = 70  # pixels of the search field
_SPACING = 6


class VocabularyControls(QWidget):
    """Sets what to search for, and which kind of tokens to show.

    It calls `look` when `filter` has changed, and `leave` when the user moves from the search field into the table.
    """

    def __init__(self, look: Callable[[], None], leave: Callable[[], None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look, self._leave = look, leave
        self._field = line_field(
            self, hint=self.tr("Search"), name=self.tr("Search tokens in the vocabulary"), clears=True,
            takes_key=self._takes_key,
        )  # fmt: skip
        self._field.setMinimumWidth(_NARROWEST)
        tip = self.tr("Search with a regular expression, such as ^##.*ing$")
        name = self.tr("Search with a regular expression")
        self._pattern = tool_button(".*", tip, self, look, name=name, is_switch=True)
        self._kinds = combo_box(self, self.tr("Which tokens are shown"))
        self._kinds.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        explain("token", self._field, self._kinds)
        self._kinds.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        for kind, text in zip(_KINDS, self._kind_names(), strict=False):
            self._kinds.addItem(text, kind)
        self.error = WholeLabel(role="error")  # the error in the regular expression; the pane places it
        self._field.textChanged.connect(look)
        self._kinds.activated.connect(look)
        fill(QHBoxLayout(self), (self._field, 1), self._pattern, self._kinds, spacing=_SPACING)

    @property
    def filter(self) -> VocabularyFilter:
        """Which tokens to show; it is a regular expression only if there is any text."""
        text = self._field.text()
        return VocabularyFilter(text, bool(text) and self._pattern.isChecked(), self._kinds.currentData())

    def focus_search(self) -> None:
        ask_in(self._field)

    def search(self, text: str) -> None:
        self._field.setText(text)

    def show_all(self) -> None:
        self._kinds.setCurrentIndex(0)
        self._field.clear()
        self._look()

    def take_rest(self, room: int) -> None:
        """Let the search field be so many pixels wider than it must be."""
        width = _NARROWEST + max(room, 0)
        if width != self._field.maximumWidth():
            self._field.setMaximumWidth(width)
            self.updateGeometry()  # at once: the row is being laid out

    def show_error(self, error: StudioError | None) -> None:
        show_problem(self._field, self.error, str(error or ""))

    def offer_only_here(self, is_offered: bool) -> None:
        place = self._kinds.findData(_ONLY)
        if is_offered and place < 0:
            self._kinds.addItem(self._kind_names()[-1], _ONLY)
        elif not is_offered and place >= 0:
            was_chosen = self._kinds.currentIndex() == place
            self._kinds.removeItem(place)
            if was_chosen:
                self._kinds.setCurrentIndex(0)
                self._look()

    def show_numbers(self, numbers: TokenNumbers) -> None:
        counts = (numbers.all, numbers.special, numbers.alphabet, numbers.learned, numbers.dead, numbers.only)
        shown = zip(self._kind_names(), counts, range(self._kinds.count()), strict=False)
        for name, count, index in shown:
            text = f"{name}  {count:,}" if count is not None else name
            if text != self._kinds.itemText(index):
                self._kinds.setItemText(index, text)

    def _takes_key(self, event: QKeyEvent) -> bool:
        """Let Escape clear the field, and Enter or the down arrow go to the table."""
        if event.key() == Qt.Key.Key_Escape and self._field.text():
            self._field.clear()
        elif event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape):
            self._leave()
        else:
            return False
        return True

    def _kind_names(self) -> tuple[str, ...]:
        kinds = self.tr("All"), self.tr("Special"), self.tr("Alphabet"), self.tr("Learned"), self.tr("Unused")
        return *kinds, self.tr("Only in this run")


def _sign(items: VocabularyItems, token_id: int) -> str:
    dead = items.usage.dead
    return DEAD_MARK if token_id < len(dead) and dead[token_id] else ""


def _reason_text(items: VocabularyItems, token_id: int) -> str:
    reason = items.usage.reason(token_id)
    return dead_words(reason) if reason is not None else ""


# Of what is copied.
_TITLES = {
    VocabularyColumn.TOKEN: "token", VocabularyColumn.ID: "id", VocabularyColumn.BORN: "born",
    VocabularyColumn.SCORE: "score", VocabularyColumn.FREQUENCY: "frequency", VocabularyColumn.WORDS: "words",
    VocabularyColumn.LENGTH: "length", VocabularyColumn.REASON: "dead",
}  # fmt: skip
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def _vocabulary_tsv(table: VocabularyTableModel, ids: NDArray[np.int64]) -> str:
    """Return a header line and one line per token; unknown values are empty, as is a special token's birth."""
    items = table.source
    assert items is not None  # else there are no ids
    columns = [column for column in _TITLES if column is not VocabularyColumn.SCORE or items.scores is not None]
    unknown = () if items.usage.is_current else BY_USAGE
    lines = ["\t".join(_TITLES[column] for column in columns)]
    for token_id in ids.tolist():
        values = (None if column in unknown else table.value(token_id, column) for column in columns)
        lines.append("\t".join(map(_field, values, columns)))
    return "\n".join(lines) + "\n"


def _field(value: object, column: VocabularyColumn) -> str:
    if value is None or (column is VocabularyColumn.BORN and value == SPECIAL_BIRTH):
        return ""
    return value.kind if isinstance(value, DeadReason) else str(value).translate(_ESCAPES)


class VocabularyPane(Pane):
    def __init__(
        self, model: TrainerModel, usage: TokenUsage, theme: Theme, parent: QWidget | None = None, *,
        comparison: Comparison | None = None,
    ) -> None:  # fmt: skip
        super().__init__(model, parent, usage=usage)
        self._usage = usage
        self.table = VocabularyTableModel(model, usage, self, comparison=comparison)
        if comparison is not None:
            self.follow(comparison.changed)
        self.table.tip = self._tip
        self.table.dress(
            VocabularyColumn.TOKEN, sign=_sign, indent=2,
            chips=lambda items, token_id: [[[FlowItem(items.history.token(token_id), "chip")]]],
        )  # fmt: skip
        self.table.dress(VocabularyColumn.REASON, text=_reason_text)
        self.view = TableView(
            self.table, theme, self, name=self.tr("Vocabulary"), row_room=4, several=True, walking_chooses=True,
            marks_selected=True, is_adjustable=True,
            keys={
                QKeySequence.StandardKey.Copy: self.copy_rows,
                Qt.Key.Key_Return: self._go_to_birth, Qt.Key.Key_Enter: self._go_to_birth,
            },
        )  # fmt: skip
        self._is_scrolled_away = False  # by the user
        self.header = self.controls = VocabularyControls(self._filter_tokens, self._focus_rows, self)
        self.empty = EmptyState(self)
        error = fill(QHBoxLayout(), self.controls.error, margins=(12, 0, 12, 0))
        parts = self.controls, error, (self.empty, 1), (self.view, 100)
        fill(QVBoxLayout(self), *parts, margins=(1, 4, 1, 2), spacing=4)
        self._connect()

    def _connect(self) -> None:
        self.view.item_chosen.connect(self._select)
        self.view.doubleClicked.connect(self._go_to_birth)
        self.view.verticalScrollBar().actionTriggered.connect(self._on_scroll_bar_action_triggered)
        self.view.horizontalHeader().sortIndicatorChanged.connect(self._on_header_sort_indicator_changed)
        self.table.rows_found.connect(self._on_table_rows_found)
        self.table.task.failed.connect(self._on_table_task_failed)
        model = self._model
        self.follow(self._usage.changed, model.step_changed, model.merges_appended, model.state_changed)
        model.selection_changed.connect(self._on_model_selection_changed)

    @property
    def has_selected(self) -> bool:
        history, token_id = self._model.history, selected_id(self._model)
        return history is not None and token_id is not None and token_id < history.vocabulary_size(self._model.step)

    def show_selected(self) -> None:
        """Go to the row of the selected token; a filter that hides it is cleared."""
        self.refresh_now()
        if self.table.row_of_item(token_id := selected_id(self._model) or 0) < 0:
            self.controls.show_all()
        self._show_token(token_id)
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    # -- contents

    def forget(self) -> None:
        self.table.forget()

    def refresh(self) -> None:
        self.table.show_step()
        self.table.show_usage()
        self.view.spread()  # whether there are other runs, or scores
        self.controls.offer_only_here(self.table.source is not None and bool(self.table.source.others))
        self._show_heading()
        self._show_emptiness()
        token_id = selected_id(self._model)
        if token_id is not None:
            self._keep_token(token_id)

    def _show_heading(self) -> None:
        history, items = self._model.history, self.table.source
        if history is None or items is None or items.history is not history:  # the last: of the run shown before
            self.set_heading()
            return
        numbers = items.numbers(history.vocabulary_size(self._model.step))
        self.controls.show_numbers(numbers)
        self.set_heading(*self._hints(numbers))

    def _hints(self, numbers: TokenNumbers) -> tuple[str, ...]:
        shown = self.table.rowCount()
        tokens = counted(numbers.all, "1 token", "{count} tokens")
        if shown != numbers.all:
            tokens = counted(numbers.all, "{shown} of 1 token", "{shown} of {count} tokens", shown=shown)
        parts = [
            counted(numbers.special, "1 special", "{count} special"),
            filled(self.tr("{count} alphabet"), count=numbers.alphabet),
            counted(numbers.learned, "1 learned", "{count} learned"),
        ]
        step, in_use = self._model.step, self._usage.in_use
        if step < len(in_use):
            text = self.tr("{count} in use ({change})") if step else self.tr("{count} in use")
            change = signed_text(int(in_use[step] - in_use[step - 1]))
            parts.append(filled(text, count=int(in_use[step]), change=change))
        if numbers.dead is not None:
            parts.append(counted(numbers.dead, "1 unused", "{count} unused"))
        elif self._usage.is_counting:
            parts.append(self.tr("counting…"))
        whole = " · ".join((tokens, *parts))
        if shown != numbers.all:  # the numbers for all tokens would be mistaken for those found
            return whole, tokens
        short = " · ".join((tokens, *(parts[3:] or parts[-1:])))
        in_use_alone = parts[3:4] if step < len(in_use) else ()  # the box of kinds has the other numbers, too
        return whole, " · ".join(parts[1:]), short, *in_use_alone, " · ".join((tokens, parts[-1])), tokens, ""

    def _show_emptiness(self) -> None:
        text = ""
        if self._model.history is None:
            text = self.tr("Nothing has been trained yet. Train to see every token here.")
        elif not self.table.rowCount():
            text = self._why_empty()
        self.empty.replace(self.view, text)
        self.controls.setVisible(self._model.history is not None)

    def _why_empty(self) -> str:
        if not self.controls.error.isHidden():
            return self.tr("Correct the regular expression to see the matching tokens here.")
        if self.table.filter.text:
            return self.tr("No token at this step matches the search.")
        if self.table.filter.kind == "dead":
            if self._usage.is_current:
                return self.tr("No unused tokens: every token is used in the corpus.")
            return self.tr("Counting how often each token is used…")
        if self.table.filter.kind == _ONLY:
            return self.tr("Every token at this step is in another compared run or step too.")
        return self.tr("There are no such tokens at this step.")

    def _tip(self, items: VocabularyItems, token_id: int) -> str:
        token, reason = token_text(items.history.token(token_id), 400), self._usage.reason(token_id)
        return tooltip_text(token if reason is None else f"{token}\n{dead_sentence(reason)}")

    def _show_token(self, token_id: int) -> None:
        row = self.table.row_of_item(token_id)
        if row < 0:
            self.view.clearSelection()
            return
        if self.view.selected_items().tolist() != [token_id]:
            self.view.setCurrentIndex(self.table.index(row, 0))
        self.view.bring_into_view(row, 2)
        self._is_scrolled_away = False

    def _keep_token(self, token_id: int) -> None:
        """Do the same after the rows have changed, but respect what the user has selected or scrolled to."""
        selected = self.view.selected_items().tolist()
        if len(selected) <= 1 and (selected != [token_id] or not self._is_scrolled_away):
            self._show_token(token_id)

    def _focus_rows(self) -> None:
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)
        if self.table.rowCount() and not self.view.selectionModel().hasSelection():
            self.view.setCurrentIndex(self.table.index(0, 0))
            self._select(self.table.item_of_row(0))

    # -- copying

    def copy_rows(self) -> None:
        copy_text(_vocabulary_tsv(self.table, self.view.selected_items()))

    # -- events

    def _on_scroll_bar_action_triggered(self) -> None:
        self._is_scrolled_away = True

    def _on_header_sort_indicator_changed(self) -> None:
        """Show the first rows of the new order, or the selected row if there is only one."""
        selected = self.view.selected_items().tolist()
        if len(selected) == 1:
            self._show_token(selected[0])
        else:
            self.view.scrollToTop()

    def _filter_tokens(self) -> None:
        self.controls.show_error(None)
        self.table.set_filter(self.controls.filter)
        self.refresh_later()

    def _on_table_rows_found(self, is_refiltered: bool) -> None:
        if is_refiltered:
            self.view.scrollToTop()
        self.refresh_later()

    def _on_table_task_failed(self, error: StudioError) -> None:
        self.controls.show_error(error)
        self.refresh_later()

    def _select(self, token_id: int) -> None:
        self._model.set_selection(Selection("token", text=self.table.value(token_id, VocabularyColumn.TOKEN)))

    def _go_to_birth(self) -> None:
        row = self.view.currentIndex().row()
        if row < 0:
            return
        token_id = self.table.item_of_row(row)
        self._model.seek(max(self.table.value(token_id, VocabularyColumn.BORN), 0))
        self._select(token_id)

    def _on_model_selection_changed(self) -> None:
        if self.is_current:
            token_id = selected_id(self._model)
            self._show_token(-1 if token_id is None else token_id)
