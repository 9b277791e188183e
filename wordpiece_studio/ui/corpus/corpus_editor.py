"""The editor of the corpus: a view of the document, which has the text. It reports what is typed and shows the rest.

Qt's own undo is off, as its text is not the text: the document undoes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QRect, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
)
from PySide6.QtWidgets import QMenu, QPlainTextEdit, QTextEdit, QWidget

from wordpiece_studio.ui.corpus.file_drops import FileDrops
from wordpiece_studio.ui.look.later import later

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.model.document import Document
    from wordpiece_studio.model.view_edit import ViewEdit
    from wordpiece_studio.ui.look.theme import Theme

_KEEP = QTextCursor.MoveMode.KeepAnchor


_LOADED_AT_ONCE, _LOADED_PIECE = 1_000_000, 200_000
"""Characters: a longer text is shown piece by piece, each in some milliseconds, and can be edited when it is there."""


class CorpusEditor(QPlainTextEdit):
    """Shows ``document.view_text`` and hands every edit to the document."""

    view_moved = Signal()
    """Another part of the text is seen, or other text."""
    word_wanted = Signal(object)
    """The word at this UTF-16 position (int) is to come into the focus."""

    def __init__(self, document: Document, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._theme = theme
        self._is_own_change = False  # a change that the document knows already
        self._is_reporting = False  # inside contentsChange, where the text must not be replaced
        self._is_stale = False  # until the text is shown afresh
        self._rest = ""  # what is still to be shown
        self._marks: list[tuple[int, int]] = []
        self._focus_marks: list[tuple[int, int]] = []
        self.drops = FileDrops(self)
        self.setAccessibleName(self.tr("Corpus text"))
        self.setPlaceholderText(self.tr("Type or paste text here, drop files or a folder, or choose a sample."))
        self.setTabChangesFocus(True)
        self.document().setUndoRedoEnabled(False)
        self.document().setDocumentMargin(8)
        self.document().contentsChange.connect(self._on_contents_change)
        self.cursorPositionChanged.connect(self._draw_marks)
        self.updateRequest.connect(self._on_update_request)
        document.reset.connect(self._on_document_reset)
        document.view_edited.connect(self._on_document_view_edited)
        theme.changed.connect(self._draw_marks)
        self._load()

    # -- from the document

    def _on_document_reset(self) -> None:
        self.setReadOnly(True)
        self._is_stale = True
        if self._is_reporting:
            later(self, 0, self._load)  # Qt is in the middle of its own change
        else:
            self._load()

    def _load(self) -> None:
        self._is_stale = False
        position = self.textCursor().position()
        self._is_own_change = True
        text = self._document.view_text
        shown = _LOADED_PIECE if len(text) > _LOADED_AT_ONCE else len(text)
        self.setPlainText(text[:shown])
        self._is_own_change = False
        self._rest = text[shown:]
        self.setReadOnly(self._document.is_folded or bool(self._rest))
        self.select(min(position, self.document().characterCount() - 1))
        self._draw_marks()
        if self._rest:
            later(self, 0, self._load_more)

    def _load_more(self) -> None:
        if not self._rest:
            return  # another text is shown by now
        self._is_own_change = True
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(self._rest[:_LOADED_PIECE])
        self._is_own_change = False
        self._rest = self._rest[_LOADED_PIECE:]
        if self._rest:
            later(self, 0, self._load_more)
        else:
            self.setReadOnly(self._document.is_folded)

    def _on_document_view_edited(self, edit: ViewEdit) -> None:
        self._is_own_change = True
        cursor = QTextCursor(self.document())
        cursor.setPosition(edit.position)
        cursor.setPosition(edit.position + edit.removed, _KEEP)
        cursor.insertText(edit.inserted)
        self._is_own_change = False
        self.setTextCursor(cursor)
        self._draw_marks()

    # -- to the document

    def _on_contents_change(self, position: int, removed: int, added: int) -> None:
        if self._is_own_change or self._is_stale:
            return
        # Qt may count the end of the last block, which is no character of the text.
        beyond = max(0, position + added - (self.document().characterCount() - 1))
        self._is_reporting = True
        inserted = self.view_part(position, position + added - beyond)
        self._document.take_view_edit(position, max(0, removed - beyond), inserted)
        self._is_reporting = False
        if self.document().characterCount() <= 1:
            self._draw_marks()  # not every key that empties the text moves the cursor

    def insertFromMimeData(self, source: QMimeData) -> None:
        if source.hasText() and not self.isReadOnly():
            cursor = self.textCursor()
            start, end = cursor.selectionStart(), cursor.selectionEnd()
            self._document.edit_view(start, end - start, source.text())

    # -- places

    def view_part(self, start: int, end: int) -> str:
        """Return what is shown from UTF-16 position `start` to `end`, line breaks as LF."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(start)
        cursor.setPosition(end, _KEEP)
        return cursor.selectedText().replace("\u2029", "\n")

    def select(self, start: int, end: int | None = None) -> None:
        """Put the cursor to `start`, or select up to `end` (UTF-16 positions), and show the place."""
        cursor = self.textCursor()
        cursor.setPosition(start)
        if end is not None:
            cursor.setPosition(end, _KEEP)
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def set_marks(self, marks: list[tuple[int, int]]) -> None:
        """Mark these stretches (UTF-16 positions), the places found."""
        self._marks = marks
        self._draw_marks()

    @property
    def has_focus_marks(self) -> bool:
        """Whether words are marked that hold the focus."""
        return bool(self._focus_marks)

    def set_focus_marks(self, marks: list[tuple[int, int]]) -> None:
        """Mark these stretches (UTF-16 positions), the words that hold the focus."""
        if marks != self._focus_marks:
            self._focus_marks = marks
            self._draw_marks()

    def visible_blocks(self) -> Iterator[QTextBlock]:
        """Yield the lines in view."""
        block, bottom = self.firstVisibleBlock(), self.viewport().height()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top < bottom:
            yield block
            top += self.blockBoundingRect(block).height()
            block = block.next()

    def _draw_marks(self) -> None:
        focused = [self._focus_selection(start, end) for start, end in self._focus_marks]
        selections = focused + [self._selection(start, end, self._theme.tie_soft) for start, end in self._marks]
        line = self._selection(self.textCursor().position(), None, self._theme.accent_soft)
        line.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        is_empty = self.document().characterCount() <= 1  # there the ground of the line would hide the placeholder
        self.setExtraSelections(selections if is_empty else [line, *selections])

    def _selection(self, start: int, end: int | None, ground: QColor) -> QTextEdit.ExtraSelection:
        selection = QTextEdit.ExtraSelection()
        cursor = QTextCursor(self.document())
        last = self.document().characterCount() - 1
        cursor.setPosition(min(start, last))
        if end is not None:
            cursor.setPosition(min(end, last), _KEEP)
        selection.cursor = cursor
        selection.format.setBackground(ground)
        return selection

    def _focus_selection(self, start: int, end: int) -> QTextEdit.ExtraSelection:
        selection = self._selection(start, end, self._theme.accent_soft)
        selection.format.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
        selection.format.setUnderlineColor(self._theme.accent)
        return selection

    def _on_update_request(self, rect: QRect, dy: int) -> None:
        if dy or rect.contains(self.viewport().rect()):
            self.view_moved.emit()

    # -- keys, menu, drops

    def mousePressEvent(self, event: QMouseEvent) -> None:
        is_asked = event.modifiers() == Qt.KeyboardModifier.ControlModifier
        super().mousePressEvent(event)
        if is_asked and event.button() == Qt.MouseButton.LeftButton:
            self.word_wanted.emit(self.cursorForPosition(event.position().toPoint()).position())

    def _want_word(self) -> None:
        self.word_wanted.emit(self.textCursor().position())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Undo):
            self._document.undo_stack.undo()
        elif event.matches(QKeySequence.StandardKey.Redo):
            self._document.undo_stack.redo()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.text():
            event.ignore()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self._context_menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def _context_menu(self) -> QMenu:
        menu = QMenu(self)
        stack, has_selection = self._document.undo_stack, self.textCursor().hasSelection()
        commands = (
            (self.tr("&Undo"), stack.undo, stack.canUndo()),
            (self.tr("&Redo"), stack.redo, stack.canRedo()),
            (self.tr("Cu&t"), self.cut, has_selection and not self.isReadOnly()),
            (self.tr("&Copy"), self.copy, has_selection),
            (self.tr("&Paste"), self.paste, self.canPaste()),
            (self.tr("Select &all"), self.selectAll, True),
            (self.tr("&Look at this word (Ctrl+click)"), self._want_word, bool(self.textCursor().block().text())),
        )
        for text, slot, is_possible in commands:
            action = menu.addAction(text)
            action.triggered.connect(slot)
            action.setEnabled(is_possible)
        return menu
