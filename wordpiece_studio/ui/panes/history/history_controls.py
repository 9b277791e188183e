"""The buttons of the merge history, in its title line: filter, go to a step, show the current step, columns, export."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from wordpiece_studio.ui.widgets.icons import icon
from wordpiece_studio.ui.widgets.plain import set_plain_tooltip

if TYPE_CHECKING:
    from PySide6.QtWidgets import QMenu

    from wordpiece_studio.ui.widgets.theme import Theme


class HistoryControls(QWidget):
    """A row of buttons; the one of the filter says whether merges are hidden."""

    filter_wanted = Signal(bool)
    """The filter's row is wanted, or not any more (bool)."""
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
        self._filter_name = ""
        self._filter = self._button(self.tr("Filter the merges"), self.tr("Show or hide the line with the filter"))
        self._filter.setCheckable(True)
        self._filter.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._step = self._button(self.tr("Go to step"), self.tr("Type the number of a step (Ctrl+G)"))
        self._show_step = self._button(self.tr("Show the current step"), self.tr("Show the current step (Ctrl+J)"))
        self._columns = self._button(self.tr("Columns"), "")
        self._columns.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._columns.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._columns.setMenu(columns)
        self._export = self._button(
            self.tr("Export the merge history"), self.tr("Save the merges as csv, jsonl or parquet (Ctrl+E)")
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
        self.show_filter("")
        self.show_columns(0, 0)
        self._draw_icons()

    def show_filter(self, filter_name: str, *, is_open: bool | None = None) -> None:
        """Say what is shown, "" for all, and whether the filter's row is open."""
        self._filter_name = filter_name or self.tr("all")
        self._filter.setText(
            self.tr("filter: {name}").format(name=self._filter_name) if self._is_wide else self._filter_name
        )
        if is_open is not None:
            self._filter.setChecked(is_open)

    def set_wide(self, is_wide: bool) -> None:
        """Say whether there is room for the name of the filter's button."""
        self._is_wide = is_wide
        self.show_filter(self._filter_name)

    def show_columns(self, shown: int, all_: int) -> None:
        """Say how many of the columns are shown."""
        self._columns.setText(f"{shown}/{all_}")
        sentence = self.tr("{shown} of {all} columns are shown; choose columns and the order of the rows")
        set_plain_tooltip(self._columns, sentence.format(shown=shown, all=all_))
        self._columns.setAccessibleName(self.tr("Columns: {shown} of {all}").format(shown=shown, all=all_))

    def set_export_enabled(self, is_enabled: bool) -> None:
        """Say whether there is something to save and nothing is being saved."""
        self._export.setEnabled(is_enabled)

    def _button(self, name: str, tip: str) -> QToolButton:
        button = QToolButton(self)
        button.setAccessibleName(name)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        set_plain_tooltip(button, tip)
        return button

    def _draw_icons(self) -> None:
        buttons = {
            "filter": self._filter, "go_to": self._step, "target": self._show_step,
            "columns": self._columns, "export": self._export,
        }  # fmt: skip
        for name, button in buttons.items():
            button.setIcon(icon(name, self._theme.muted, self._theme.border))
