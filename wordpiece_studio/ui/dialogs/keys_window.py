"""All keyboard shortcuts in a window beside the work, with a field to search them.

The shortcuts of the commands are read from the menus; the others are those that a pane handles by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QVBoxLayout, QWidget

from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn
from wordpiece_studio.ui.dialogs.palette import folded
from wordpiece_studio.ui.menus import plain_title
from wordpiece_studio.ui.widgets.fields import line_field
from wordpiece_studio.ui.widgets.plain import plain_label, tooltip_text
from wordpiece_studio.ui.widgets.screen_room import ScreenDialog

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from PySide6.QtGui import QAction
    from PySide6.QtWidgets import QLineEdit

    from wordpiece_studio.session.table_model import Index
    from wordpiece_studio.ui.widgets.theme import Theme

_NATIVE = QKeySequence.SequenceFormat.NativeText
_CHARACTERS, _LINES = 84, 30


@dataclass(frozen=True, slots=True)
class KeyLine:
    """What keys do.

    Attributes
    ----------
    group
        The menu, or where the keys are pressed.
    title, keys, tip
        What happens, in a few words; the keys; what happens, in a sentence.
    """

    group: str
    title: str
    keys: str = ""
    tip: str = ""

    def fits(self, words: Sequence[str]) -> bool:
        """Return whether every one of the folded `words` is in this line."""
        text = folded(f"{self.group} {self.title} {self.keys} {self.tip}")
        return all(word in text for word in words)


def command_lines(placed: Iterable[tuple[str, QAction]]) -> list[KeyLine]:
    """Return a line for each command that has a key, menu by menu."""
    lines: list[KeyLine] = []
    for where, action in placed:
        keys = "   ".join(key.toString(_NATIVE) for key in action.shortcuts()) or action.text().partition("\t")[2]
        if keys:
            lines.append(KeyLine(where, plain_title(action.text()), keys, action.statusTip()))
    groups = list(dict.fromkeys(line.group for line in lines))  # a submenu stands in the middle of its menu
    return sorted(lines, key=lambda line: groups.index(line.group))


def pane_lines() -> list[KeyLine]:
    """Return lines for what the window and its panes do with keys that belong to no command."""
    window, table = _tr("Everywhere"), _tr("In a table")
    chips, plot, field = _tr("In the live tokenization"), _tr("On the timeline"), _tr("In a search field")
    return [
        KeyLine(window, _tr("Pause or resume the training, play or stop"), _tr("Space")),
        KeyLine(window, _tr("Go to the next control, and back"), "Tab   Shift+Tab"),
        KeyLine(window, _tr("Open a menu"), _tr("Alt + underlined letter")),
        KeyLine(window, _tr("Larger or smaller text in the pane under the pointer"), _tr("Ctrl + mouse wheel")),
        KeyLine(window, _tr("Switch between stacked panes"), _tr("← → on its tab")),
        KeyLine(table, _tr("Move through the rows; the selection follows"), "↑ ↓   PgUp PgDown   Home End"),
        KeyLine(table, _tr("Go to the step of the row"), _tr("Enter")),
        KeyLine(table, _tr("Copy the selected rows"), "Ctrl+C"),
        KeyLine(chips, _tr("Move from token to token and from gap to gap"), "← → ↑ ↓   Home End"),
        KeyLine(chips, _tr("Show why the text is split here"), _tr("Enter")),
        KeyLine(_tr("In the token details"), _tr("Move through the merge tree"), "← → ↑ ↓"),
        KeyLine(_tr("In the token details"), _tr("Select this token"), _tr("Enter")),
        KeyLine(plot, _tr("One step back or forward"), "← →"),
        KeyLine(plot, _tr("A tenth of the way back or forward"), "PgUp PgDown"),
        KeyLine(plot, _tr("Go to the beginning or the end"), "Home End"),
        KeyLine(_tr("On a chart"), _tr("One step, or one rank, back or forward"), "← →"),
        KeyLine(_tr("On a chart"), _tr("Ten steps back or forward, beginning, end"), "PgUp PgDown   Home End"),
        KeyLine(_tr("In the list of files"), _tr("Remove or move the file"), "Del   Alt+↑ Alt+↓"),
        KeyLine(_tr("In the bookmarks"), _tr("Edit the note or delete the bookmark"), "F2   Del"),
        KeyLine(_tr("In the list of breakpoints"), _tr("Switch on or off, delete"), _tr("Space   Del")),
        KeyLine(_tr("In the help"), _tr("Go to the next link or open it"), _tr("Tab   Enter")),
        KeyLine(_tr("In the help"), _tr("Go back to the previous page"), "Alt+←"),
        KeyLine(field, _tr("Go to the matches"), "↓   Enter"),
        KeyLine(field, _tr("Clear the field, or leave it"), "Esc"),
    ]


def matching_lines(lines: Sequence[KeyLine], text: str) -> list[KeyLine]:
    """Return the lines that contain every word of `text`; above each group a line with its name and no keys."""
    words = folded(text).split()
    found: list[KeyLine] = []
    for line in (line for line in lines if line.fits(words)):
        if not found or found[-1].group != line.group:
            found.append(KeyLine(line.group, line.group))
        found.append(line)
    return found


def _tr(text: str) -> str:
    return QCoreApplication.translate("key_lines", text)


class KeysModel(RecordTableModel["KeyLine"]):
    """One row per line, two columns; a line without keys is the name of a group."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._columns = (
            TableColumn(self.tr("Action"), lambda lines, row: lines[row].title, align=LEFT),
            TableColumn(self.tr("Keys"), lambda lines, row: lines[row].keys, align=LEFT),
        )

    def tooltip(self, item: int) -> str:
        """Return what happens, in a sentence."""
        return tooltip_text(self.records[item].tip)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.FontRole and self._is_group(index):
            return self._theme.font(0, bold=True)
        if role == Qt.ItemDataRole.ForegroundRole and index.column() == 1 and not self._is_group(index):
            return self._theme.muted
        return super().data(index, role)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags & ~Qt.ItemFlag.ItemIsSelectable if self._is_group(index) else flags

    def _is_group(self, index: Index) -> bool:
        return index.isValid() and not self.records[index.row()].keys


class KeysWindow(ScreenDialog):
    """Stays open beside the work until it is closed."""

    def __init__(self, lines: Sequence[KeyLine], theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Keyboard shortcuts"))
        self._lines = lines
        self._field = line_field(self)
        self._field.setPlaceholderText(self.tr("Search by action or key"))
        self._field.setAccessibleName(self.tr("Search the shortcuts"))
        self._field.setClearButtonEnabled(True)
        self._field.installEventFilter(self)
        self._model = KeysModel(theme, self)
        self._table = QTableView(self)
        self._table.setAccessibleName(self.tr("Keys"))
        self._put_table_together()
        self._empty = plain_label(self.tr("No shortcut found. Ctrl+K finds every command."), self, role="hint")
        layout = QVBoxLayout(self)
        layout.addWidget(self._field)
        layout.addWidget(self._table, 1)
        layout.addWidget(self._empty)
        self._field.textChanged.connect(self._on_field_text_changed)
        self._show("")
        self.resize(self.fontMetrics().averageCharWidth() * _CHARACTERS, self.fontMetrics().height() * _LINES)

    @property
    def field(self) -> QLineEdit:
        """The field to type in."""
        return self._field

    @property
    def model(self) -> KeysModel:
        """The lines shown."""
        return self._model

    def begin(self) -> None:
        """Show the window in front, with the focus in its field."""
        self.show()
        self.activateWindow()
        self._field.setFocus()
        self._field.clear()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the down arrow go from the field into the table."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Down:
            self._table.setFocus()
            return True
        return super().eventFilter(watched, event)

    def _put_table_together(self) -> None:
        table = self._table
        table.setModel(self._model)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setTabKeyNavigation(False)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 8)
        table.horizontalHeader().hide()
        table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)

    def _on_field_text_changed(self, text: str) -> None:
        self._show(text)

    def _show(self, text: str) -> None:
        found = matching_lines(self._lines, text)
        self._model.set_records(found)
        self._table.setVisible(bool(found))
        self._empty.setVisible(not found)
