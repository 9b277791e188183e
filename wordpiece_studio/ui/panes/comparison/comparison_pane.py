"""Everything that compares runs, in one place: a tab for each question."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from wordpiece_studio.corpus.count_tables import csv_text, guarded
from wordpiece_studio.ui.panes.comparison import compared_tables as tables
from wordpiece_studio.ui.panes.comparison.summary_table import SummaryTable
from wordpiece_studio.ui.widgets.fields import keep_keys
from wordpiece_studio.ui.widgets.pane import EmptyState, Pane, fill
from wordpiece_studio.ui.widgets.plain import copy_lines, tool_button
from wordpiece_studio.ui.widgets.token_text import where_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QHideEvent, QShowEvent

    from wordpiece_studio.session.session import Session
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.widgets.table import TableView
    from wordpiece_studio.ui.widgets.theme import Theme


class Tab(IntEnum):
    SUMMARY = 0
    TEXT = 1
    WORDS = 2
    VOCABULARIES = 3
    DIVERGENCES = 4


_FILE_NAMES = ("metrics", "split-text", "words-split-differently", "vocabularies", "divergences")


class _Tabs(QTabBar):
    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())


class ComparisonPane(Pane):
    def __init__(self, session: Session, actions: Actions, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(session.model, parent)
        self._session, self._actions = session, actions
        self._comparison = session.comparison
        self.tabs = _Tabs(self, expanding=False, drawBase=False)
        self.tabs.setAccessibleName(self.tr("What is compared"))
        keep_keys(self.tabs, Qt.Key.Key_Left, Qt.Key.Key_Right)
        tr = self.tr
        for title in (tr("Summary"), tr("Text"), tr("Words"), tr("Vocabularies"), tr("Where they diverge")):
            self.tabs.addTab(title)
        self.summary = SummaryTable(session.figures, theme, self)
        self.text, self.words = tables.TextTable(session, theme, self), tables.WordsTable(session, theme, self)
        self.vocabularies = tables.VocabulariesTable(session, theme, self)
        self.divergences = tables.DivergencesTable(session, theme, self)
        self._stack = QStackedWidget(self)
        self.faces = self.summary, self.text, self.words, self.vocabularies, self.divergences
        self.empty = EmptyState(self)
        self.empty.offer(actions.compare_runs)
        for face in (*self.faces, self.empty):
            self._stack.addWidget(face)
        tip = tr("Copy the selected rows, or the whole table, with all digits")
        self.copy_button = tool_button(tr("Copy"), tip, self, self.copy)
        self.export_button = tool_button("", "", self)
        self.export_button.setDefaultAction(actions.export_comparison)
        self.export_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        buttons = self.copy_button, self.export_button
        head = fill(QHBoxLayout(), self.tabs, 1, (self.summary.controls, 2), *buttons, margins=(8, 0, 12, 0), spacing=6)
        fill(QVBoxLayout(self), head, (self._stack, 1), margins=(1, 2, 1, 2), spacing=4)
        self._connect()

    def _connect(self) -> None:
        for face in self.faces:
            self._actions.give_menu(face.table, "copy export_comparison")
            face.table.rows.modelReset.connect(self._actions.refresh_soon)  # there may be something to export now
            face.table.keys[QKeySequence.StandardKey.Copy] = self.copy
            face.table.copies_all = True
        self.tabs.currentChanged.connect(lambda: self.refresh_now() if self.isVisible() else None)
        session, model = self._session, self._model
        self.follow(
            self._comparison.changed, model.step_changed, model.state_changed, model.selection_changed,
            session.live_text_changed, session.figures.changed,
        )  # fmt: skip

    @property
    def tab(self) -> Tab:
        return Tab(self.tabs.currentIndex())

    @property
    def file_name(self) -> str:
        return _FILE_NAMES[self.tab]

    @property
    def table(self) -> TableView | None:
        """The table that is shown, if it has anything."""
        table = self.faces[self.tab].table
        is_shown = self._stack.currentWidget() is self.faces[self.tab]
        return table if is_shown and table.rows.rowCount() else None

    def show_tab(self, tab: Tab) -> None:
        """Show a tab; keys are now for its table."""
        self.tabs.setCurrentIndex(tab)
        self.refresh_now()
        (self.tabs if self.table is None else self.table).setFocus()

    # -- contents

    def refresh(self) -> None:
        steps = self._comparison.texts() if self.tab is Tab.TEXT else self._comparison.steps()
        face = self.faces[self.tab]
        for each in self.faces[1:]:
            each.mark_selection()
            if each is not face or not steps:
                each.forget()  # compare nothing that nobody sees
        self.summary.controls.setVisible(self.tab is Tab.SUMMARY)
        if self.tab is Tab.SUMMARY:
            self.set_heading(self.tr("Each run at its final step"))
        elif steps:
            face.refresh(steps)
            where = where_text(self._comparison.shown)
            beside = self.tr("{run} · the others at the same vocabulary size or below")
            self.set_heading(beside.format(run=where), where)
        else:
            self.set_heading()
            text = self.tr("There is nothing to compare yet. Choose other settings and train a second run (F5).")
            if len(self._comparison.runs.all) > 1:
                text = self.tr("No runs are compared. Select “Compare” on the tabs of other runs, or compare all.")
            self.empty.show_text(text)
        self._stack.setCurrentWidget(face if self.tab is Tab.SUMMARY or steps else self.empty)
        self._actions.refresh_soon()

    def forget(self) -> None:
        for face in self.faces[1:]:
            face.forget()

    # -- copying

    def lines(self, *, only_selected: bool = False, take: Callable[[str], str] = str) -> list[list[str]]:
        """Return the table shown, with all digits, under its titles; a column of links has none, and is left out.

        `take` returns what stands for a text, be it a title or in a row; numbers are unchanged.
        """
        table = self.table
        if table is None:
            return []
        rows = table.rows
        titled = ((at, each.is_there) for at, each in enumerate(rows.columns) if each.title)
        there = [at for at, is_there in titled if is_there is None or is_there(rows.source)]
        is_part = only_selected and table.selected_count() > 0
        items = table.selected_items().tolist() if is_part else range(rows.rowCount())

        def written(value: object) -> str:
            if isinstance(value, str):
                return take(" ".join(value.split()))
            return "" if value is None else str(value)

        lines = [[rows.title(at) for at in there], *([rows.value(item, at) for at in there] for item in items)]
        return [list(map(written, line)) for line in lines]

    def copy(self) -> None:
        if lines := self.lines(only_selected=True):
            copy_lines(lines)

    def csv(self) -> bytes:
        return csv_text(self.lines(take=guarded)).encode("utf-8-sig")

    # -- Qt

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh_later()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.forget()
