"""The merge history: one row per merge, to inspect, filter, sort, go to and copy."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QCoreApplication, QRect, QRegularExpression, Qt, Signal
from PySide6.QtGui import QActionGroup, QGuiApplication, QKeySequence, QPainter, QPen, QRegularExpressionValidator
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QVBoxLayout, QWidget

from wordpiece_studio.session.history_table import TOKEN_COLUMNS, HistoryColumn, HistoryFilter, HistoryTableModel
from wordpiece_studio.session.live_text import LiveChanges
from wordpiece_studio.session.plural import counted, filled, plural
from wordpiece_studio.session.step_marks import step_of_selection
from wordpiece_studio.session.table_model import VALUE_ROLE
from wordpiece_studio.session.task import Task, Turn
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.merge_table import merge_parts
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.training.history import MERGE_COLUMNS, MERGE_TOKENS
from wordpiece_studio.ui.widgets.fields import ask_in, keep_keys, line_field, show_problem
from wordpiece_studio.ui.widgets.pane import EmptyState, Pane, fill
from wordpiece_studio.ui.widgets.plain import (
    WholeLabel,
    copy_text,
    explain,
    menu_text,
    set_plain_tooltip,
    tool_button,
    tooltip_text,
)
from wordpiece_studio.ui.widgets.table import RowLook, TableView
from wordpiece_studio.ui.widgets.token_text import merges_text, token_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray
    from PySide6.QtCore import QModelIndex
    from PySide6.QtGui import QAction, QKeyEvent, QPaintEvent, QResizeEvent

    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.session.history_table import HistoryItems
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.widgets.table import Key
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "HistoryView")
_AUTOMATIC, _HIDDEN = "automatic", "-"
# Selected rows that are found again in a new order within a frame; for very many, Qt takes seconds.
_MOST_CARRIED = 2000
_PLAIN, _LATER = RowLook(), RowLook(ink="faint")
_AT_STEP = RowLook("accent_soft", is_bold=True, is_marked=True)


def _token_look(value: Callable[[HistoryItems, int], Any]) -> dict[str, Callable[[HistoryItems, int], str]]:
    """Describe how a token is drawn, and its tooltip: the full token, which may be elided in its cell."""
    return {
        "drawn": lambda items, index: token_text(value(items, index)),
        "tip": lambda items, index: tooltip_text(token_text(value(items, index), 1000)),
    }


class HistoryView(TableView):
    """The table of merges: the row of the step is marked, later ones are pale. It decides nothing about steps."""

    columns_chosen = Signal(object)  # the user has chosen columns, or another order: as `column_names` returns them

    def __init__(
        self, model: HistoryTableModel, theme: Theme, parent: QWidget | None = None, *,
        keys: Mapping[Key, Callable[[], object]],
    ) -> None:  # fmt: skip
        for column in TOKEN_COLUMNS:
            model.dress(column, **_token_look(model.columns[column].value))
        super().__init__(
            model, theme, parent, name=_tr("Merge history"), row_room=7, several=True, is_adjustable=True,
            look=self._look, keys=keys,
        )  # fmt: skip
        self._merges = model
        self.selection_step = 0  # that of what is selected; 0 for none
        self._theme = theme
        self._was_at_end = True
        self._shown_step = 0
        self._is_moving = False
        header = self.horizontalHeader()
        header.setSectionsMovable(True)
        header.sectionMoved.connect(self._report_columns)
        header.sortIndicatorChanged.connect(self._on_header_sort_indicator_changed)
        model.rearranging.connect(self._on_model_rearranging)
        model.rowsAboutToBeInserted.connect(self._on_model_rows_about_to_be_inserted)
        model.rowsInserted.connect(lambda: self.scrollToBottom() if self._was_at_end else None)

    def _look(self, _items: HistoryItems, index: int) -> RowLook:
        step = self._merges.step
        return _PLAIN if index + 1 < step else _AT_STEP if index + 1 == step else _LATER

    # -- columns

    def choose_columns(self, columns: frozenset[int] | None) -> None:
        """Show these columns from now on; None shows as many as fit, in their usual order."""
        if columns is None:
            self._move(tuple(HistoryColumn))
        self.choose(columns)
        self._report_columns()

    def column_names(self) -> tuple[str, ...]:
        """Return the choice in a form to save: names from left to right, hidden ones with a hyphen."""
        header, chosen = self.horizontalHeader(), self.chosen
        order = [HistoryColumn(header.logicalIndex(place)) for place in range(len(HistoryColumn))]
        names = (("" if chosen is None or column in chosen else _HIDDEN) + column.name.lower() for column in order)
        return (_AUTOMATIC, *names) if chosen is None else tuple(names)

    def take_column_names(self, names: Sequence[str]) -> None:
        """Restore an earlier choice; unknown names are ignored."""
        by_name = {column.name.lower(): column for column in HistoryColumn}
        found = {by_name[bare]: bare == name for name in names if (bare := name.removeprefix(_HIDDEN)) in by_name}
        shown = frozenset(column for column, is_shown in found.items() if is_shown)
        if shown:
            self._move((*found, *(column for column in HistoryColumn if column not in found)))
            self.choose(None if _AUTOMATIC in names else shown)

    def _move(self, columns: Sequence[HistoryColumn]) -> None:
        header = self.horizontalHeader()
        self._is_moving = True
        for place, column in enumerate(columns):
            header.moveSection(header.visualIndex(column), place)
        self._is_moving = False

    def _report_columns(self) -> None:
        if not self._is_moving:
            self.columns_chosen.emit(self.column_names())

    # -- position

    @property
    def is_at_end(self) -> bool:
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum() - self.row_height

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        row = self._merges.row_of_step(self.selection_step)
        if row < 0:
            return
        width = min(self.viewport().width(), self.horizontalHeader().length() - self.horizontalHeader().offset())
        frame = QRect(0, self.rowViewportPosition(row), width, self.row_height)
        if frame.intersects(event.rect()):
            with QPainter(self.viewport()) as painter:
                painter.setPen(QPen(self._theme.accent_ink, 1))
                painter.drawRect(frame.adjusted(0, 0, -1, -1))

    def show_step(self, step: int, *, select: bool) -> None:
        row = self._merges.row_of_step(step)
        if row < 0:
            if select:
                self.clearSelection()
            if step == 0:
                self.scrollToTop()
            return
        if select:
            self.setCurrentIndex(self._merges.index(row, 0))
        self.bring_into_view(row, 3, is_early=True)
        self._shown_step = step

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the last row shown in view, unless the user has scrolled away from it."""
        row, height = self._merges.row_of_step(self._shown_step), event.oldSize().height()
        was_there = row >= 0 and (height < 0 or -1 <= self.rowViewportPosition(row) < height)
        super().resizeEvent(event)
        if was_there:
            self.show_step(self._shown_step, select=False)

    def selected_steps(self) -> NDArray[np.int64]:
        return self.selected_items() + 1

    def _on_header_sort_indicator_changed(self) -> None:
        """Show the first rows of the new order, or the step's row if it is the one selected."""
        step = self._merges.step
        if self.is_one_row_selected() and self.selected_steps().tolist() == [step]:
            self.show_step(step, select=False)
        else:
            self.scrollToTop()

    # -- while rows arrive and change places

    def _on_model_rearranging(self) -> None:
        """Drop a selection of very many rows, unless it covers all."""
        if _MOST_CARRIED < self.selected_count() < self._merges.rowCount():
            self.clearSelection()

    def _on_model_rows_about_to_be_inserted(self) -> None:
        self._was_at_end = self.is_at_end


class HistoryMenu(QMenu):
    """Which columns are visible, and the sort order; also the context menu of the table header."""

    def __init__(self, view: HistoryView, parent: QWidget) -> None:
        super().__init__(parent)
        self._view = view
        self.sorting = QMenu(self.tr("&Sort by"), self)
        self._orders = QActionGroup(self.sorting)
        self.aboutToShow.connect(self._fill)
        header = view.horizontalHeader()
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(lambda place: self.popup(header.viewport().mapToGlobal(place)))
        self._fill()

    def _fill(self) -> None:
        view, header = self._view, self._view.horizontalHeader()
        shown, sorted_by, order = view.shown_columns(), header.sortIndicatorSection(), header.sortIndicatorOrder()
        up, down = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder
        titles = [menu_text(view.rows.title(column)) for column in HistoryColumn]
        self.clear()
        self.sorting.clear()
        self.addMenu(self.sorting)
        for column, title in enumerate((self.tr("&None (in step order)"), *titles), start=-1):
            choose = partial(header.setSortIndicator, column, order)
            self._orders.addAction(_add(self.sorting, title, column == sorted_by, choose))
        self.sorting.addSeparator()
        turn = partial(header.setSortIndicator, sorted_by, up if order == down else down)
        _add(self.sorting, self.tr("&Largest first"), order == down, turn)
        self.addSeparator()
        _add(self, self.tr("As many as &fit"), view.chosen is None, partial(view.choose_columns, None))
        self.addSeparator()
        for column, title in zip(HistoryColumn, titles, strict=True):
            action = _add(self, title, column in shown, partial(view.choose_columns, shown ^ {column}))
            action.setEnabled(shown != {column})  # one must be left


def _add(menu: QMenu, text: str, is_checked: bool, act: Callable[[], object]) -> QAction:
    action = menu.addAction(text)
    action.setCheckable(True)
    action.setChecked(is_checked)
    action.triggered.connect(lambda: act())
    return action


_STEP = r"[\d\s.,'’_]{0,24}"  # a number as people copy it, with separators between groups of digits


class HistoryFilterRow(QWidget):
    """Text or regular expression, ties only, live-text changes only; below them, errors in the expression.

    It calls `look` when `filter` has changed, `go` with a step to go to, which may not exist, and `leave` at Escape.
    """

    def __init__(
        self, look: Callable[[], None], go: Callable[[int], None], leave: Callable[[], None], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._look, self._go, self._leave = look, go, leave
        keep_keys(self, Qt.Key.Key_Escape)
        self._text = line_field(
            self, hint=self.tr("Left, right or new token"), clears=True,
            name=self.tr("Show only merges whose left, right or new token contains this"),
        )  # fmt: skip
        self._text.setMinimumWidth(60)
        self.is_pattern = self._toggle(".*", self.tr("Regular expression"), self.tr("Use a regular expression"))
        self.only_ties = self._toggle(
            self.tr("Ties"), self.tr("Only ties"),
            self.tr("Show only merges in which another pair had the same score"), "tie",
        )  # fmt: skip
        self.only_live = self._toggle(
            self.tr("Changes"), self.tr("Only changes to the live text"),
            self.tr("Show only merges that changed the tokenization of the live text"), "changes",
        )  # fmt: skip
        self._step = line_field(self, hint=self.tr("Step"), name=self.tr("Go to step"))
        explain("step", self._step)
        set_plain_tooltip(self._step, self.tr("Type a step and press Enter (Ctrl+G)"))
        self._step.setValidator(QRegularExpressionValidator(QRegularExpression(_STEP), self._step))
        self._step.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._error = WholeLabel(self, role="error")
        self._step.setFixedWidth(self._step.fontMetrics().horizontalAdvance("0,000,000") + 18)
        controls = self.is_pattern, self.only_ties, self.only_live, self._step
        line = fill(QHBoxLayout(), (self._text, 1), *controls, spacing=4)
        fill(QVBoxLayout(self), line, self._error, margins=(10, 2, 10, 2), spacing=2)
        self._text.textChanged.connect(look)
        self._step.returnPressed.connect(self._take_step)

    @property
    def filter(self) -> HistoryFilter:
        """The filter chosen; it is a regular expression only if there is any text."""
        text = self._text.text()
        is_pattern = bool(text) and self.is_pattern.isChecked()
        return HistoryFilter(text, is_pattern, self.only_ties.isChecked(), self.only_live.isChecked())

    @property
    def error(self) -> str:
        return self._error.text()

    def ask_for_text(self) -> None:
        ask_in(self._text)

    def ask_for_step(self) -> None:
        ask_in(self._step)

    def clear(self) -> None:
        self._text.clear()
        self.only_ties.setChecked(False)
        self.only_live.setChecked(False)

    def show_error(self, error: StudioError | None) -> None:
        show_problem(self._text, self._error, str(error or ""))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._leave()
            return
        super().keyPressEvent(event)

    def _toggle(self, text: str, name: str, tip: str, entry: str = "") -> QToolButton:
        return tool_button(text, tip, self, self._look, name=name, entry=entry, is_switch=True, takes_focus=True)

    def _take_step(self) -> None:
        digits = "".join(filter(str.isdecimal, self._step.text()))
        if digits:
            self._go(int(digits))
        self._step.clear()


class HistoryControls(QWidget):
    def __init__(self, theme: Theme, columns: QMenu, row: HistoryFilterRow, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._row = row
        self.filter = self._button("filter", self.tr("Filter the merges"), self.tr("Show or hide the filter"))
        self.filter.setCheckable(True)
        self.step = self._button("go_to", self.tr("Go to step"), self.tr("Type the number of a step (Ctrl+G)"), "step")
        tip = self.tr("Show the current step (Ctrl+J)")
        self.show_step = self._button("target", self.tr("Show the current step"), tip, "step")
        self.columns = self._button("columns", self.tr("Columns"), "", menu=columns)
        for button in (self.filter, self.columns):
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.export = self._button(
            "export", self.tr("Export the merge history"), self.tr("Save the merges as CSV, JSONL or Parquet (Ctrl+E)")
        )
        buttons = self.filter, self.step, self.show_step, self.columns, self.export
        fill(QHBoxLayout(self), *buttons, spacing=2)
        self.show_filter()

    def show_filter(self) -> None:
        chosen = self._row.filter
        ties, changes = (chosen.only_ties, self.tr("Ties")), (chosen.only_live, self.tr("Changes"))
        conditions = (bool(chosen.text), self.tr("Text")), ties, changes
        text = " + ".join(name for is_set, name in conditions if is_set) or self.tr("All")
        self.filter.setText(text)
        self.filter.setChecked(not self._row.isHidden())

    def show_columns(self, shown: int) -> None:
        number = {"shown": shown, "all": len(HistoryColumn)}
        self.columns.setText("{shown}/{all}".format(**number))
        sentence = plural(
            shown, "1 of {all} columns is shown; choose columns and the order of the rows",
            "{shown} of {all} columns are shown; choose columns and the order of the rows",
        )  # fmt: skip
        set_plain_tooltip(self.columns, sentence.format(**number))
        self.columns.setAccessibleName(self.tr("Columns: {shown} of {all}").format(**number))

    def _button(self, icon: str, name: str, tip: str, entry: str = "", menu: QMenu | None = None) -> QToolButton:
        button = tool_button("", tip, self, name=name, entry=entry, takes_focus=True, menu=menu)
        self._theme.set_icon(button, icon, "muted", "border")
        return button


# Rows that are copied without a thread, which takes a few milliseconds; and rows that are copied at all.
_AT_ONCE, _MOST_COPIED = 256, 100_000
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def history_tsv(
    history: MergeHistory, steps: NDArray[np.int64], should_stop: Callable[[], bool] = lambda: False
) -> str:
    """Return a header line, and a line for each of these steps; numbers are exact and the same in every language."""
    lines, turn = ["\t".join(MERGE_COLUMNS)], Turn()
    for columns in merge_parts(history, steps, should_stop):
        for name in MERGE_TOKENS:
            columns[name] = [token.translate(_ESCAPES) for token in columns[name]]
        lines += ["\t".join(map(str, row)) for row in zip(*(columns[name] for name in MERGE_COLUMNS), strict=True)]
        turn.give()
    return "\n".join(lines) + "\n"


class HistoryPane(Pane):
    def __init__(
        self, model: TrainerModel, theme: Theme, parent: QWidget | None = None, *, changes: LiveChanges | None = None
    ) -> None:
        super().__init__(model, parent)
        self._changes = changes if changes is not None else LiveChanges(self)
        self.rows = HistoryTableModel(model, self)
        self.view = HistoryView(self.rows, theme, self, keys={QKeySequence.StandardKey.Copy: self.copy_rows})
        self.filter_row = HistoryFilterRow(self._filter_rows, self._go_to_typed, self._close_filter, self)
        self.filter_row.hide()
        self._controls = HistoryControls(theme, HistoryMenu(self.view, self), self.filter_row, self)
        self.header = self._controls
        self.export_button = self._controls.export
        self._copying = Task(history_tsv, "The rows cannot be copied", self, on_answer=self._take_copy)
        self.empty = EmptyState(self)
        self._is_my_selection = False  # the selection was made here, so it is in view
        self._is_selection_marked = False
        self._is_open_for_step = False  # the filter row, which closes once the step is typed
        above = fill(QVBoxLayout(), self._controls, self.filter_row, spacing=4)
        fill(QVBoxLayout(self), above, (self.empty, 1), (self.view, 100), margins=(1, 4, 1, 2), spacing=4)
        self.columns_chosen = self.view.columns_chosen
        self._connect()
        self.rows.set_live_steps(self._changes.steps)
        self._show_columns()
        self.view.show_step(model.step, select=False)

    def _connect(self) -> None:
        self.view.clicked.connect(self._on_view_clicked)
        self.view.item_walked_to.connect(lambda index: self._go_to(index + 1))
        self.view.columns_changed.connect(self._show_columns)
        self._controls.filter.toggled.connect(self.open_filter)
        self._controls.step.clicked.connect(self.ask_for_step)
        self._controls.show_step.clicked.connect(self.show_step)
        self.rows.task.failed.connect(self.filter_row.show_error)
        self.follow(self.rows.task.changed, self.rows.rows_found, self._model.merges_appended)
        self.rows.modelReset.connect(self._on_rows_model_reset)
        self._changes.changed.connect(self._on_changes_changed)
        self._model.selection_changed.connect(self._mark_selection)
        self._model.step_changed.connect(self._on_model_step_changed)
        self._model.state_changed.connect(self._on_model_state_changed)

    # -- contents

    def refresh(self) -> None:
        history, count = self._model.history, self._model.merge_count
        self._show_emptiness()
        self.view.spread()
        if not self._is_selection_marked:
            self._mark_selection()
        if history is None:
            self.set_heading()
            return
        merges, ties = merges_text(count), int(np.count_nonzero(history.column("ties")[:count] > 1))
        hints = (" · ".join((merges, counted(ties, "1 tie", "{count} ties"))), merges, "{merges}")
        if self.rows.task.is_running:
            searching = plural(count, "Searching 1 merge…", "Searching {merges} merges…")
            hints = (searching, self.tr("Searching…"), "…")
        elif self.rows.hidden_count:
            shown = plural(count, "{shown} of 1 merge shown", "{shown} of {merges} merges shown")
            hints = (shown, self.tr("{shown} of {merges}"), "{shown}")
        self.set_heading(*(filled(hint, merges=count, shown=self.rows.rowCount()) for hint in hints), "")

    def _show_emptiness(self) -> None:
        text = ""
        if self._model.history is None:
            text = self.tr("Nothing has been trained yet. Train to see every merge here.")
        elif not self._model.merge_count and self._model.state is not TrainerState.TRAINING:
            text = self._why_no_merge()
        elif not self.rows.rowCount() and self.rows.hidden_count:
            text = self.tr("No merge matches the filter.")
            if self.rows.filter.only_live and not self._changes.is_known:
                text = self.tr("Still finding the steps that change the live text.")
        self.empty.replace(self.view, text)

    def _why_no_merge(self) -> str:
        """Return why a run has no merge, and whether there can be one."""
        config = self._model.config
        reasons = {
            "no_pair": self.tr("No merges: no pair is left. Every word in the training corpus is a single symbol."),
            "min_frequency": self.tr("No merges: no pair reaches the minimum frequency of {count}."),
            "vocab_size": self.tr("No merges: special tokens and alphabet already fill the vocabulary size. Use “Train "
                                  "further” to learn merges."),
            "forbidden": self.tr("No merges: all pairs are forbidden."),
            "min_value": self.tr("No merges: no pair reaches the minimum merge score."),
            "max_merges": self.tr("No merges were requested. Use “Train further” to learn some."),
            "peer": self.tr("This run has no record of merges: it was trained with another library, extended or "
                            "pruned."),
            "max_seconds": self.tr("No merges: time ran out before the first one. Use “Train further” to learn some."),
        }  # fmt: skip
        first = self.tr("No merges yet. Use “Next merge” to learn the first one.")
        reason = reasons.get(self._model.stop_reason or "", first)
        return filled(reason, count=config.min_frequency if config is not None else 0)

    def show_tools(self, is_wanted: bool) -> None:
        """Offer the choice of columns in the title bar, or leave it to the menu of the table's header."""
        self._controls.columns.setVisible(is_wanted)
        self.refresh_later()

    def show_step(self) -> None:
        """Scroll to the row of the current step and focus it; a filter that hides it is cleared."""
        if self._model.step and self.rows.row_of_step(self._model.step) < 0:
            self.filter_row.clear()
        self.view.show_step(self._model.step, select=True)
        self.view.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def open_filter(self, is_wanted: bool = True) -> None:
        self._is_open_for_step = False
        self.filter_row.setVisible(is_wanted)
        if is_wanted:
            self.filter_row.ask_for_text()
        else:
            self.filter_row.clear()
        self._controls.show_filter()

    def ask_for_step(self) -> None:
        was_hidden = self.filter_row.isHidden()
        self.filter_row.show()
        self._controls.show_filter()
        self.filter_row.ask_for_step()
        self._is_open_for_step = was_hidden

    # -- copying

    def copy_rows(self) -> None:
        history, steps = self._model.history, self.view.selected_steps()
        rows = len(steps)
        if rows > _MOST_COPIED:
            said = counted(
                rows, "1 row is too many to copy: export it", "{count} rows are too many to copy: export them"
            )
            self.set_heading(said, self.tr("Too many rows to copy"), "")
        elif history is not None and rows > _AT_ONCE:
            self._copying.run(history, steps)
            self.set_heading(counted(rows, "Copying 1 row…", "Copying {count} rows…"), "")
        elif history is not None and rows:
            self._take_copy(history_tsv(history, steps))

    def _take_copy(self, text: str) -> None:
        self._copying.forget()  # the run may be closed
        copy_text(text)
        rows = text.count("\n") - 1  # one line is the header, and tokens have none
        self.set_heading(counted(rows, "1 row copied", "{count} rows copied"), "")

    # -- events

    def _go_to(self, step: int) -> None:
        history = self._model.history
        if history is None:
            return
        self._model.seek(step)
        if 1 <= step <= self._model.merge_count:
            self._look_at(history.token(int(history.column("new_id")[step - 1])))

    def _look_at(self, token: str) -> None:
        self._is_my_selection = True
        self._model.set_selection(Selection("token", text=token))
        self._is_my_selection = False

    def _mark_selection(self) -> None:
        model, step = self._model, 0
        if model.selection is not None and model.selection.kind != "word":
            step = step_of_selection(model.selection, model.history, model.merge_count) or 0
        self._is_selection_marked = bool(step)
        self.view.selection_step = step
        self.view.viewport().update()
        if step and not self._is_my_selection and self.rows.row_of_step(step) >= 0:
            self.view.show_step(step, select=False)

    def _show_columns(self) -> None:
        self._controls.show_columns(len(self.view.shown_columns()))

    def _on_view_clicked(self, index: QModelIndex) -> None:
        if not self.view.is_one_row_selected():
            return
        has_menu = QGuiApplication.mouseButtons() & Qt.MouseButton.RightButton  # which is about the step, too
        if index.column() in TOKEN_COLUMNS and not has_menu:
            self._look_at(index.data(VALUE_ROLE))
        else:
            self._go_to(self.rows.item_of_row(index.row()) + 1)

    def _filter_rows(self) -> None:
        self.filter_row.show_error(None)
        self.rows.set_filter(self.filter_row.filter)
        self._controls.show_filter()
        self.refresh_later()

    def _go_to_typed(self, step: int) -> None:
        self._model.seek(step)
        if self._is_open_for_step and not self.filter_row.filter:
            self.open_filter(False)
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _close_filter(self) -> None:
        self.open_filter(False)
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_rows_model_reset(self) -> None:
        self._mark_selection()
        self.view.restyle()  # in another run the value may have another name, and numbers another length
        self.view.show_step(self._model.step, select=True)
        self.refresh_later()

    def _on_changes_changed(self) -> None:
        self.rows.set_live_steps(self._changes.steps)
        self.refresh_later()

    def _on_model_step_changed(self, step: int) -> None:
        self.view.viewport().update()
        if self._model.state is TrainerState.TRAINING and self._model.is_at_head:
            return  # the view follows by itself if it is at the end, and otherwise stays put
        self.view.show_step(step, select=self.view.is_one_row_selected())

    def _on_model_state_changed(self) -> None:
        self.view.show_step(self._model.step, select=self.view.is_one_row_selected())
        self.refresh_later()
