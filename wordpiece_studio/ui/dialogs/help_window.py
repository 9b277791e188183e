"""Help beside the work: the pages of ``resources/help``, and all keyboard shortcuts, with a field to search them.

The pages are our own Markdown, never text from outside.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QRegularExpression, QSignalBlocker, Qt, QUrl
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QShortcut, QTextCursor, QWheelEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QTextBrowser, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from wordpiece_studio.resources import resource_path
from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn, each_row
from wordpiece_studio.ui.dialogs.palette import folded, keys_of
from wordpiece_studio.ui.widgets.fields import ScreenDialog, line_field
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import plain_label, plain_title, tooltip_text
from wordpiece_studio.ui.widgets.table import RowLook, TableView

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from PySide6.QtWidgets import QLineEdit

    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "help_window")

_MARGIN = 16
_INTRODUCTION = "what-is-wordpiece.md"
_SECTION = re.compile(r"^(?:<!-- (\S+) -->\n)?(#+ |\*\*)(.+?)(?:\.?\*\*|$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class HelpSection:
    """A page, or what stands below a heading or explains a term."""

    page: Path
    title: str
    text: str


@cache
def help_sections() -> dict[str, HelpSection]:
    """Return all by keys, from comments above the headings and terms, or their titles; a page has its file's name."""
    found: dict[str, HelpSection] = {}
    for path in sorted(resource_path("help").glob("*.md"), key=lambda path: (path.name != _INTRODUCTION, path.name)):
        _, *parts = _SECTION.split(whole := path.read_text(encoding="utf-8"))
        for key, mark, title, text in zip(*(parts[start::4] for start in range(4)), strict=True):
            if mark == "# ":
                key, text = path.stem, whole
            found[key or title] = HelpSection(path, title, f"{title} {text}")
    return found


def help_pages() -> dict[str, str]:
    """Return the titles of all pages by their keys; the one to begin with is the first."""
    return {key: each.title for key, each in help_sections().items() if key == each.page.stem}


class _PageBrowser(QTextBrowser):
    def wheelEvent(self, event: QWheelEvent) -> None:
        """Keep the size of the text: Qt would make it smaller until there is none."""
        if not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().wheelEvent(event)


def _search_field(parent: QWidget, hint: str, name: str, found: QWidget) -> QLineEdit:
    """Return a field whose down arrow and Enter lead to what is `found`."""

    def takes_key(event: QKeyEvent) -> bool:
        if is_taken := event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            found.setFocus()
        return is_taken

    return line_field(parent, hint=hint, name=name, clears=True, takes_key=takes_key)


class HelpWindow(ScreenDialog):
    """Shows one page at a time next to the contents of all; stays open beside the work until it is closed."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__("", parent)  # that of the page
        self.contents = QTreeWidget(self)
        self.contents.setHeaderHidden(True)
        self.contents.setAccessibleName(self.tr("Contents"))
        self._items: dict[str, QTreeWidgetItem] = {}
        self._texts = {key: folded(section.text) for key, section in help_sections().items()}
        for key, section in help_sections().items():
            page = self._items.get(section.page.stem, self.contents)
            self._items[key] = item = QTreeWidgetItem(page, [section.title])
            item.setData(0, Qt.ItemDataRole.UserRole, key)
            item.setToolTip(0, tooltip_text(section.title))
        for chosen in (self.contents.currentItemChanged, self.contents.itemClicked):  # the current one, too
            chosen.connect(self._open)
        self.field = _search_field(self, self.tr("Search all pages"), self.tr("Search the help"), self.contents)
        self.field.textChanged.connect(self._search)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self.field.setFocus)
        self.browser = _PageBrowser(self, openExternalLinks=True)
        self.browser.document().setDocumentMargin(_MARGIN)
        self.browser.sourceChanged.connect(self._show_title)
        theme.changed.connect(self._reload)
        side = fill(QVBoxLayout(), self.field, (self.contents, 1), spacing=-1)
        fill(QHBoxLayout(self), (side, 1), (self.browser, 2), margins=None, spacing=-1)
        self.size_to(140, 38)

    def show_page(self, key: str) -> None:
        """Show the section with this key, a page from its beginning; for an unknown key, that about the window."""
        item = self._items.get(key, self._items["window"])
        self.field.clear()
        self.begin()
        self.browser.setFocus()
        item.setExpanded(True)
        self._open(item)

    def _search(self, text: str) -> None:
        """List what has all words of `text`, and open the first section, if possible one with the word in its title."""
        words = folded(text).split()
        for key, item in self._items.items():
            item.setHidden(not all(word in self._texts[key] for word in words))
        found = [item for item in self._items.values() if not item.isHidden()]
        if not words:
            self.contents.collapseAll()
        elif found:
            self.contents.expandAll()
            first = min(found, key=lambda item: (words[0] not in folded(item.text(0)), item.parent() is None))
            self._open(first)

    def _open(self, item: QTreeWidgetItem | None) -> None:
        """Show a section at the top, with its title selected; of a search, the first word where it occurs there."""
        if item is None:  # a search finds nothing
            return
        key = item.data(0, Qt.ItemDataRole.UserRole)
        section, document = help_sections()[key], self.browser.document()
        with QSignalBlocker(self.contents):
            self.contents.setCurrentItem(item)
        self.browser.setSource(QUrl.fromLocalFile(str(section.page)))
        title = document.find(QRegularExpression(rf"^{QRegularExpression.escape(section.title)}(?=\.| \(|$)"))
        cursor = document.find((self.field.text().split() or [""])[0], title.selectionStart())
        if cursor.isNull():
            cursor = title if key != section.page.stem else QTextCursor(document)
        self.browser.setTextCursor(cursor)
        bar = self.browser.verticalScrollBar()
        bar.setValue(bar.value() + self.browser.cursorRect(cursor).top() - _MARGIN)

    def _show_title(self, source: QUrl) -> None:
        page = Path(source.toLocalFile()).stem
        title = help_pages().get(page, "")
        self.setWindowTitle(title)
        self.browser.setAccessibleName(title)
        shown = self.contents.currentItem()
        if title and (shown is None or self._items[page] not in (shown, shown.parent())):  # a link, or back
            with QSignalBlocker(self.contents):
                self.contents.setCurrentItem(self._items[page])

    def _reload(self) -> None:
        place = self.browser.verticalScrollBar().value()
        self.browser.reload()  # links and code keep the colors and fonts of the time when they were read
        self.browser.verticalScrollBar().setValue(place)


@dataclass(frozen=True, slots=True)
class KeyLine:
    group: str  # the menu, or where they are pressed
    title: str
    keys: str = ""
    tip: str = ""


def command_lines(placed: Iterable[tuple[str, QAction]]) -> list[KeyLine]:
    lines: list[KeyLine] = []
    for where, action in placed:
        if keys := keys_of(action):
            lines.append(KeyLine(where, plain_title(action.text()), keys, action.statusTip()))
    groups = list(dict.fromkeys(line.group for line in lines))  # a submenu stands in the middle of its menu
    return sorted(lines, key=lambda line: groups.index(line.group))


def pane_lines() -> list[KeyLine]:
    """Return lines for keys that belong to no command."""
    window, table = _tr("Everywhere"), _tr("In a table")
    chips, plot, field = _tr("In the live tokenization"), _tr("On the timeline"), _tr("In a search field")
    return [
        KeyLine(window, _tr("Pause or resume the training, play or stop"), _tr("Space")),
        KeyLine(window, _tr("Go to the next control, and back"), "Tab   Shift+Tab"),
        KeyLine(window, _tr("Open a menu"), _tr("Alt + underlined letter")),
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
        KeyLine(
            _tr("In bookmarks and breakpoints"), _tr("Edit, compare or switch on, delete"), _tr("F2   Space   Del")
        ),
        KeyLine(_tr("In the help"), _tr("Go to the next link or open it"), _tr("Tab   Enter")),
        KeyLine(_tr("In the help"), _tr("Search all pages"), "Ctrl+F"),
        KeyLine(_tr("In the help"), _tr("Go back to the previous page"), "Alt+←"),
        KeyLine(field, _tr("Go to the matches"), "↓   Enter"),
        KeyLine(field, _tr("Clear the field, or leave it"), "Esc"),
    ]


def matching_lines(lines: Sequence[KeyLine], text: str) -> list[KeyLine]:
    """Return the lines that contain every word of `text`; above each group a line with its name and no keys."""
    words = folded(text).split()
    found: list[KeyLine] = []
    for line in lines:
        whole = folded(f"{line.group} {line.title} {line.keys} {line.tip}")
        if all(word in whole for word in words):
            if not found or found[-1].group != line.group:
                found.append(KeyLine(line.group, line.group))
            found.append(line)
    return found


class KeysWindow(ScreenDialog):
    def __init__(self, lines: Sequence[KeyLine], theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Keyboard shortcuts"), parent)
        self._all = lines
        columns: tuple[TableColumn[Sequence[KeyLine]], ...] = (
            TableColumn(self.tr("Action"), each_row(lambda line: line.title), align=LEFT, stretch=1),
            TableColumn(
                self.tr("Keys"), each_row(lambda line: line.keys), align=LEFT, ink="muted",
                width=lambda measure, _lines: measure.contents,
            ),
        )  # fmt: skip
        self.lines: RecordTableModel[KeyLine] = RecordTableModel(
            columns, self, tip=each_row(lambda line: tooltip_text(line.tip)),
            is_selectable=each_row(lambda line: bool(line.keys)),
        )  # fmt: skip
        self._table = TableView(
            self.lines, theme, self, name=self.tr("Keys"), padding=3, has_heading=False, has_bar=False,
            look=each_row(lambda line: RowLook(is_bold=not line.keys)),
        )  # fmt: skip
        hint = self.tr("Search by action or key")
        self.field = _search_field(self, hint, self.tr("Search the shortcuts"), self._table)
        self._table.setFrameShape(QFrame.Shape.StyledPanel)
        self.empty = plain_label(self.tr("No shortcut found. Ctrl+K finds every command."), self, role="hint")
        fill(QVBoxLayout(self), self.field, (self._table, 1), self.empty, margins=None, spacing=-1)
        self.field.textChanged.connect(self._show)
        self._show("")
        self.size_to(84, 30)

    def begin(self) -> None:
        super().begin()
        self.field.setFocus()
        self.field.clear()

    def _show(self, text: str) -> None:
        found = matching_lines(self._all, text)
        self.lines.set_records(found)
        self._table.setVisible(bool(found))
        self.empty.setVisible(not found)
