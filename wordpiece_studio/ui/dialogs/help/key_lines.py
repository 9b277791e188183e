"""All keys as lines to read: those of the commands, from the menus, and those that a pane answers to by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QKeySequence

from wordpiece_studio.ui.dialogs.palette.matching import folded
from wordpiece_studio.ui.menus import plain_title

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from PySide6.QtGui import QAction

_NATIVE = QKeySequence.SequenceFormat.NativeText


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
        """Return whether each of the folded `words` is in it."""
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
    """Return a line for what the window and its panes do with keys that no command has."""
    window, table = _tr("Everywhere"), _tr("In a table")
    chips, plot, field = _tr("Among the tokens of the text"), _tr("On the timeline"), _tr("In a search field")
    return [
        KeyLine(window, _tr("Hold the training or go on, play or stop"), _tr("Space")),
        KeyLine(window, _tr("To the next control, and back"), "Tab   Shift+Tab"),
        KeyLine(window, _tr("Open a menu"), _tr("Alt and its underlined letter")),
        KeyLine(window, _tr("Larger or smaller text in the pane under the pointer"), _tr("Ctrl and the mouse wheel")),
        KeyLine(window, _tr("Another pane of those that lie behind each other"), _tr("← → on its name")),
        KeyLine(table, _tr("Walk through the rows; the focus goes with you"), "↑ ↓   PgUp PgDown   Home End"),
        KeyLine(table, _tr("Go to the step of the row"), _tr("Enter")),
        KeyLine(table, _tr("Copy the rows that are selected"), "Ctrl+C"),
        KeyLine(chips, _tr("Walk from token to token and from gap to gap"), "← → ↑ ↓   Home End"),
        KeyLine(chips, _tr("Why here?"), _tr("Enter")),
        KeyLine(_tr("In the token details"), _tr("Walk through the merge tree"), "← → ↑ ↓"),
        KeyLine(_tr("In the token details"), _tr("Look at this token"), _tr("Enter")),
        KeyLine(plot, _tr("One step back or on"), "← →"),
        KeyLine(plot, _tr("A tenth of the way back or on"), "PgUp PgDown"),
        KeyLine(plot, _tr("To the beginning, to the end"), "Home End"),
        KeyLine(_tr("On a chart"), _tr("One step, or one rank, back or on"), "← →"),
        KeyLine(_tr("On a chart"), _tr("Ten steps back or on, to the beginning, to the end"), "PgUp PgDown   Home End"),
        KeyLine(_tr("In the list of files"), _tr("Take the file out, move it"), "Del   Alt+↑ Alt+↓"),
        KeyLine(_tr("In the bookmarks"), _tr("Change the line of text, delete the step"), "F2   Del"),
        KeyLine(_tr("In the list of breakpoints"), _tr("On or off, delete"), _tr("Space   Del")),
        KeyLine(field, _tr("To what was found"), "↓   Enter"),
        KeyLine(field, _tr("Empty the field, or leave it"), "Esc"),
    ]


def matching_lines(lines: Sequence[KeyLine], text: str) -> list[KeyLine]:
    """Return the lines that hold every word of `text`; above each group a line with its name and no keys."""
    words = folded(text).split()
    found: list[KeyLine] = []
    for line in (line for line in lines if line.fits(words)):
        if not found or found[-1].group != line.group:
            found.append(KeyLine(line.group, line.group))
        found.append(line)
    return found


def _tr(text: str) -> str:
    return QCoreApplication.translate("key_lines", text)
