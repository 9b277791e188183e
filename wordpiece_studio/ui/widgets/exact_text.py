"""Text handed to Qt, to the clipboard, and taken back from an editor, without a character lost.

PySide takes a U+FEFF or U+FFFE in front of a string for a byte order mark, which it drops or swaps bytes by, and leaves
out halves of surrogate pairs on the way back; Qt's own plain text of an editor has spaces for no-break spaces.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QLocale, QMimeData, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QTextCursor, QTextDocument
from PySide6.QtWidgets import QPlainTextEdit

from wordpiece_studio.session.view_text import utf16_length

_MARK = "\ufeff"
_MARK_IS_TAKEN = not QLocale.c().toLower(_MARK)  # as by all versions from 6.8 to 6.12


def whole(text: str) -> str:
    """Return what to hand to Qt so that it gets `text` to the last character."""
    return _MARK + text if text[:1] in (_MARK, "\ufffe") and _MARK_IS_TAKEN else text


def copy_text(text: str) -> None:
    """Put `text` on the clipboard."""
    QGuiApplication.clipboard().setText(whole(text))


def editor_text(document: QTextDocument, start: int = 0, end: int | None = None) -> str:
    """Return what an editor's document holds between two positions in UTF-16 units; the end of a block is a LF."""
    end = document.characterCount() - 1 if end is None else end
    cursor = QTextCursor(document)
    cursor.setPosition(start)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    text = cursor.selectedText()
    if utf16_length(text) != end - start:
        units = "".join(document.characterAt(place) for place in range(start, end))
        text = units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text.replace("\u2029", "\n")


class ExactEdit(QPlainTextEdit):
    """An editor out of which text is copied, cut and dragged as it is, and in which Shift+Enter ends a line too.

    In Qt's own it makes a U+2028, which ends no line of a file.
    """

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.InsertLineSeparator):
            event = QKeyEvent(QEvent.Type.KeyPress, event.key(), Qt.KeyboardModifier.NoModifier, "\r")
        super().keyPressEvent(event)

    def createMimeDataFromSelection(self) -> QMimeData:
        cursor = self.textCursor()
        # The clipboard may keep it until after Python's end, where one made in Python would crash.
        data = QPlainTextEdit().createMimeDataFromSelection()
        data.setText(whole(self.text_between(cursor.selectionStart(), cursor.selectionEnd())))
        return data

    def text_between(self, start: int, end: int) -> str:
        """Return the text that is shown between two positions in UTF-16 units."""
        return editor_text(self.document(), start, end)
