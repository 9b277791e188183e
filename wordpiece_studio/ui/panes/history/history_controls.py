"""The controls of the merge history: the menu of columns and sort orders, the title bar buttons, and the filter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRegularExpression, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeyEvent, QRegularExpressionValidator
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QVBoxLayout, QWidget

from wordpiece_studio.session.history_table import HistoryColumn, HistoryFilter
from wordpiece_studio.session.plural import plural
from wordpiece_studio.ui.widgets.explained import explain
from wordpiece_studio.ui.widgets.fields import line_field
from wordpiece_studio.ui.widgets.painting import icon
from wordpiece_studio.ui.widgets.plain import menu_text, plain_label, set_plain_text, set_plain_tooltip, tool_button

if TYPE_CHECKING:
    from PySide6.QtCore import QPoint

    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.ui.panes.history.history_view import HistoryView
    from wordpiece_studio.ui.widgets.theme import Theme

_NO_ORDER = -1
_STEP = r"[\d\s.,'’_]{0,24}"
"""A number as people copy it, with separators between groups of digits."""


class HistoryMenu(QMenu):
    """Which columns are visible, and the sort order; also the context menu of the table header."""

    def __init__(self, view: HistoryView, parent: QWidget) -> None:
        super().__init__(parent)
        self._view = view
        self._sorting = QMenu(self.tr("&Sort by"), self)
        self._sorted_by = QActionGroup(self)
        self._descending = QAction(self.tr("&Largest first"), self)
        self._descending.setCheckable(True)
        self._columns = [self._checkable(column) for column in HistoryColumn]
        self._automatic = QAction(self.tr("As many as &fit"), self)
        self._automatic.setCheckable(True)
        self._put_together()
        self.aboutToShow.connect(self._on_self_about_to_show)
        self.triggered.connect(self._on_self_triggered)
        self._sorting.triggered.connect(self._on_sorting_triggered)
        header = view.horizontalHeader()
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._on_header_context_menu_requested)

    def _put_together(self) -> None:
        for place in (_NO_ORDER, *HistoryColumn):
            action = self._checkable(place)
            self._sorted_by.addAction(action)
            self._sorting.addAction(action)
        self._sorting.addSeparator()
        self._sorting.addAction(self._descending)
        self.addMenu(self._sorting)
        self.addSeparator()
        self.addAction(self._automatic)
        self.addSeparator()
        self.addActions(self._columns)

    def _checkable(self, data: int) -> QAction:
        action = QAction(self)
        action.setCheckable(True)
        action.setData(int(data))
        return action

    def _on_self_about_to_show(self) -> None:
        model, header, columns = self._view.model(), self._view.horizontalHeader(), self._view.columns
        titles = [str(model.headerData(column, Qt.Orientation.Horizontal)) for column in HistoryColumn]
        shown = columns.shown()
        for action, column in zip(self._columns, HistoryColumn, strict=True):
            action.setText(menu_text(titles[column]))
            action.setChecked(column in shown)
            action.setEnabled(shown != {column})  # one must be left
        self._automatic.setChecked(columns.is_automatic)
        for action in self._sorted_by.actions():
            place = int(action.data())
            action.setText(menu_text(titles[place]) if place >= 0 else self.tr("&None (in step order)"))
            action.setChecked(place == header.sortIndicatorSection())
        self._descending.setChecked(header.sortIndicatorOrder() == Qt.SortOrder.DescendingOrder)

    def _on_self_triggered(self, action: QAction) -> None:
        columns = self._view.columns
        if action is self._automatic:
            columns.choose(None)
        elif action in self._columns:
            columns.choose(frozenset(HistoryColumn(int(a.data())) for a in self._columns if a.isChecked()))

    def _on_sorting_triggered(self, action: QAction) -> None:
        header, is_descending = self._view.horizontalHeader(), self._descending.isChecked()
        order = Qt.SortOrder.DescendingOrder if is_descending else Qt.SortOrder.AscendingOrder
        place = header.sortIndicatorSection() if action is self._descending else int(action.data())
        header.setSortIndicator(place, order)

    def _on_header_context_menu_requested(self, place: QPoint) -> None:
        self.popup(self._view.horizontalHeader().viewport().mapToGlobal(place))


class HistoryControls(QWidget):
    """A row of buttons; the filter button shows whether merges are hidden."""

    filter_wanted = Signal(bool)
    """The user opened or closed the filter row (bool)."""
    step_wanted = Signal()
    """The user wants to type a step."""
    shown_step_requested = Signal()
    """The user wants to see the row of the current step."""
    export_requested = Signal()
    """The user wants to save the table."""

    def __init__(self, theme: Theme, columns: QMenu, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._is_wide = False
        self._shown_filter = HistoryFilter()
        self._filter = self._button(self.tr("Filter the merges"), self.tr("Show or hide the filter"))
        self._filter.setCheckable(True)
        self._filter.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._step = self._button(self.tr("Go to step"), self.tr("Type the number of a step (Ctrl+G)"))
        self._show_step = self._button(self.tr("Show the current step"), self.tr("Show the current step (Ctrl+J)"))
        explain("step", self._step, self._show_step)
        self._columns = self._button(self.tr("Columns"), "")
        self._columns.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._columns.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._columns.setMenu(columns)
        self._export = self._button(
            self.tr("Export the merge history"), self.tr("Save the merges as CSV, JSONL or Parquet (Ctrl+E)")
        )
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        for button in (self._filter, self._step, self._show_step, self._columns, self._export):
            layout.addWidget(button)
        self._filter.toggled.connect(self.filter_wanted)
        self._step.clicked.connect(self.step_wanted)
        self._show_step.clicked.connect(self.shown_step_requested)
        self._export.clicked.connect(self.export_requested)
        theme.changed.connect(self._draw_icons)
        self.show_filter(self._shown_filter)
        self.show_columns(0, 0)
        self._draw_icons()

    def show_filter(self, chosen: HistoryFilter, *, is_open: bool | None = None) -> None:
        """Show what the filter lets through, and whether the filter row is open."""
        self._shown_filter = chosen
        conditions = (
            (bool(chosen.text), self.tr("Text"), self.tr("text")),
            (chosen.only_ties, self.tr("Ties"), self.tr("ties")),
            (chosen.only_live, self.tr("Changes"), self.tr("changes")),
        )
        alone = " + ".join(name for is_set, name, _ in conditions if is_set)
        inside = " + ".join(name for is_set, _, name in conditions if is_set)
        if not self._is_wide:
            self._filter.setText(alone or self.tr("All"))
        elif inside:
            self._filter.setText(self.tr("Filter: {conditions}").format(conditions=inside))
        else:
            self._filter.setText(self.tr("Filter: all"))
        if is_open is not None:
            self._filter.setChecked(is_open)

    def show_tools(self, is_wanted: bool) -> None:
        """Show or hide the button that chooses columns."""
        self._columns.setVisible(is_wanted)

    def set_wide(self, is_wide: bool) -> None:
        """Set whether there is room for a caption on the filter button."""
        self._is_wide = is_wide
        self.show_filter(self._shown_filter)

    def show_columns(self, shown: int, all_: int) -> None:
        """Show how many columns are visible, and of how many."""
        self._columns.setText(f"{shown}/{all_}")
        sentence = plural(
            shown,
            "1 of {all} columns is shown; choose columns and the order of the rows",
            "{shown} of {all} columns are shown; choose columns and the order of the rows",
        )
        set_plain_tooltip(self._columns, sentence.format(shown=shown, all=all_))
        self._columns.setAccessibleName(self.tr("Columns: {shown} of {all}").format(shown=shown, all=all_))

    def set_export_enabled(self, is_enabled: bool) -> None:
        """Set whether there is something to save and nothing is being saved."""
        self._export.setEnabled(is_enabled)

    def _button(self, name: str, tip: str) -> QToolButton:
        button = tool_button("", tip, self, name=name)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        return button

    def _draw_icons(self) -> None:
        buttons = {
            "filter": self._filter, "go_to": self._step, "target": self._show_step,
            "columns": self._columns, "export": self._export,
        }  # fmt: skip
        for name, button in buttons.items():
            button.setIcon(icon(name, self._theme.muted, self._theme.border))


class HistoryFilterRow(QWidget):
    """Text or regular expression, ties only, live-text changes only; below them, errors in the expression."""

    filter_changed = Signal()
    """:attr:`filter` has changed."""
    step_entered = Signal(object)
    """The user wants to go to this step (int), which may not exist."""
    closed = Signal()
    """The user pressed Escape to close the row."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = line_field(self)
        self._text.setPlaceholderText(self.tr("Left, right or new token"))
        self._text.setAccessibleName(self.tr("Show only merges whose left, right or new token contains this"))
        self._text.setClearButtonEnabled(True)
        self._text.setMinimumWidth(60)
        self._is_pattern = self._toggle(".*", self.tr("Regular expression"), self.tr("Use a regular expression"))
        self._only_ties = self._toggle(
            self.tr("Ties"), self.tr("Only ties"), self.tr("Show only merges in which another pair had the same score")
        )
        self._only_live = self._toggle(
            self.tr("Changes"), self.tr("Only changes to the live text"),
            self.tr("Show only merges that changed the tokenization of the live text"),
        )  # fmt: skip
        self._step = line_field(self)
        self._step.setPlaceholderText(self.tr("Step"))
        self._step.setAccessibleName(self.tr("Go to step"))
        explain("step", self._step)
        explain("tie", self._only_ties)
        explain("changes", self._only_live)
        set_plain_tooltip(self._step, self.tr("Type a step and press Enter (Ctrl+G)"))
        self._step.setValidator(QRegularExpressionValidator(QRegularExpression(_STEP), self._step))
        self._step.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._error = plain_label("", self, role="error", wrap=True)
        self._error.hide()
        self._put_together()
        self._text.textChanged.connect(self._on_something_changed)
        for toggle in (self._is_pattern, self._only_ties, self._only_live):
            toggle.toggled.connect(self._on_something_changed)
        self._step.returnPressed.connect(self._on_step_return_pressed)

    def _put_together(self) -> None:
        self._step.setFixedWidth(self._step.fontMetrics().horizontalAdvance("0,000,000") + 18)
        line = QHBoxLayout()
        line.setSpacing(4)
        line.addWidget(self._text, 1)
        for control in (self._is_pattern, self._only_ties, self._only_live, self._step):
            line.addWidget(control)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 2, 10, 2)
        layout.setSpacing(2)
        layout.addLayout(line)
        layout.addWidget(self._error)

    @property
    def filter(self) -> HistoryFilter:
        """The filter chosen; it is a regular expression only if there is any text."""
        text = self._text.text()
        is_pattern = bool(text) and self._is_pattern.isChecked()
        return HistoryFilter(text, is_pattern, self._only_ties.isChecked(), self._only_live.isChecked())

    @property
    def error(self) -> str:
        """The error in the expression; empty if there is none."""
        return self._error.text()

    def ask_for_text(self) -> None:
        """Move the keyboard focus to the text field."""
        self._text.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._text.selectAll()

    def ask_for_step(self) -> None:
        """Move the keyboard focus to the step field."""
        self._step.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._step.selectAll()

    def clear(self) -> None:
        """Show all merges."""
        self._text.clear()
        self._only_ties.setChecked(False)
        self._only_live.setChecked(False)

    def show_error(self, error: StudioError | None) -> None:
        """Show the error in the expression below the field; None clears it."""
        text = str(error) if error is not None else ""
        set_plain_text(self._error, text)
        self._error.setVisible(bool(text))
        self._text.setProperty("state", "wrong" if text else "")
        self._text.setAccessibleDescription(text)
        self.style().unpolish(self._text)
        self.style().polish(self._text)

    def event(self, event: QEvent) -> bool:
        """Keep Escape for this row; it is also a shortcut of the whole window."""
        is_override = event.type() == QEvent.Type.ShortcutOverride
        if is_override and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
            return
        super().keyPressEvent(event)

    def _toggle(self, text: str, name: str, tip: str) -> QToolButton:
        toggle = tool_button(text, tip, self, name=name)
        toggle.setCheckable(True)
        toggle.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        return toggle

    def _on_something_changed(self, _value: object) -> None:
        self.filter_changed.emit()

    def _on_step_return_pressed(self) -> None:
        digits = "".join(filter(str.isdecimal, self._step.text()))
        if digits:
            self.step_entered.emit(int(digits))
        self._step.clear()
