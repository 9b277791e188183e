"""The corpus editor: a view of the document, which owns the text. It reports typing and shows every other change.

Qt's own undo is off, because Qt's copy is not the authoritative text: the document does the undoing. After every
change the editor compares its content with the document; where they differ, the document is right.

Marked in it are the places that its find bar finds, and the selection: the visible words that contain it, as the
vocabulary of the step tokenizes them. All positions are in UTF-16 units of the text shown, as Qt counts them.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QObject, QRect, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QDragLeaveEvent,
    QDropEvent,
    QGuiApplication,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QTextEdit, QVBoxLayout, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.step_marks import made_by
from wordpiece_studio.session.task import later, single_shot
from wordpiece_studio.session.view_text import ViewEdit, ViewIndex, common_ends, to_view, utf16_length
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.widgets.fields import FileDrops, ask_in, line_field
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import (
    ExactEdit,
    editor_text,
    plain_label,
    set_look,
    set_plain_text,
    tool_button,
    whole,
)
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wordpiece_studio.session.document import Document
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.tokenizer.tokenizer import TokenizedWord, Tokenizer
    from wordpiece_studio.ui.widgets.theme import Theme


_KEEP = QTextCursor.MoveMode.KeepAnchor

_SOON_MS, _LATER_MS = 0, 60


class CorpusEditor(ExactEdit):
    """Shows ``document.view_text`` and hands every edit to the document."""

    word_wanted = Signal(object)  # the user asks to select the word at this UTF-16 position (int)

    def __init__(self, document: Document, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._theme = theme
        self._is_own_change = False  # a change that the document has already made
        self._is_reporting = False  # in contentsChange, where the text must not be replaced
        self.is_stale = False  # until the text is loaded anew
        self._differs = False  # until the difference from the document is repaired
        self._marks: list[QTextCursor] = []  # cursors, because edits move them
        self.selection_marks: list[QTextCursor] = []
        self.drops = FileDrops(self, self.tr("Drop to open as the corpus"))
        self.setAccessibleName(self.tr("Corpus text"))
        self.setPlaceholderText(self.tr("Type or paste text here, drop files or a folder, or choose a sample."))
        self.setTabChangesFocus(True)
        self.document().setUndoRedoEnabled(False)
        self.document().setDocumentMargin(8)
        self.document().contentsChange.connect(self._on_contents_change)
        self.document().contentsChanged.connect(lambda: None if self._is_own_change else self._mend())
        self.cursorPositionChanged.connect(self._draw_marks)
        document.reset.connect(self._on_document_reset)
        document.view_edited.connect(self._on_document_view_edited)
        theme.changed.connect(self._draw_marks)
        self._load()

    # -- from the document

    def _on_document_reset(self) -> None:
        if self._is_reporting:
            self._show_afresh()
        else:
            self._load()

    def _show_afresh(self) -> None:
        """Load the document's text, but later: Qt is in the middle of its own change."""
        self.setReadOnly(True)
        self.is_stale = True
        later(self, 0, self._load)

    def _load(self) -> None:
        self.is_stale = self._differs = False
        place = self.textCursor().position()
        self._is_own_change = True
        self._marks, self.selection_marks = [], []
        self.setPlainText(whole(self._document.view_text))
        self._is_own_change = False
        self.setReadOnly(not self._document.is_editable)
        self.select(place)
        self._draw_marks()

    def _on_document_view_edited(self, edit: ViewEdit) -> None:
        self._is_own_change = True
        self._end_composing()
        cursor = self._replace(edit.position, edit.position + edit.removed, edit.inserted)
        self._differs = not self._agrees(edit.position, cursor.position())
        self._mend()
        self.setTextCursor(cursor)
        self._draw_marks()

    def _replace(self, start: int, end: int, inserted: str) -> QTextCursor:
        self._is_own_change = True
        cursor = self._cursor(start, end)
        cursor.insertText(whole(inserted))
        self._is_own_change = False
        return cursor

    # -- to the document

    def _on_contents_change(self, position: int, removed: int, added: int) -> None:
        if self._is_own_change or self.is_stale:
            return
        if self.isReadOnly():
            self._show_afresh()
            return
        # Qt may count the end of the last block, which is not a character of the text.
        beyond = max(0, position + added - self._length)
        end = position + added - beyond
        if self._agrees(position, end):
            return
        self._is_reporting = True
        self._document.edit_view(position, max(0, removed - beyond), self.view_part(position, end), is_reported=True)
        self._is_reporting = False
        self._differs = not self.is_stale and not self._agrees(position, end)
        if self.document().characterCount() <= 1:
            self._draw_marks()  # some keys that empty the text do not move the cursor

    def _agrees(self, start: int, end: int) -> bool:
        """Return whether document and editor are equally long, and equal in the lines around this range."""
        if self._length != self._document.view_length:
            return False
        block = self.document().findBlock(end)
        start, end = self.document().findBlock(start).position(), block.position() + block.length() - 1
        return self.view_part(start, end) == self._document.view_between(start, end)

    def _mend(self) -> None:
        """Show the document's text where it differs: it drops half characters, and treats CR LF as one line break."""
        if not self._differs:
            return
        self._differs = False
        held, right = self.view_part(0, self._length), self._document.view_text
        head, tail = common_ends(held, right)
        start, end = (utf16_length(held[:place]) for place in (head, len(held) - tail))
        self._replace(start, end, right[head : len(right) - tail])

    def insertFromMimeData(self, source: QMimeData) -> None:
        if source.hasText() and not self.isReadOnly():
            cursor = self.textCursor()
            start, end = cursor.selectionStart(), cursor.selectionEnd()
            self._document.edit_view(start, end - start, source.text())

    def text_between(self, start: int, end: int) -> str:
        """Return the document's text there, of which the editor may not show everything."""
        return super().text_between(start, end) if self.is_stale else self._document.text_between(start, end)

    # -- places

    @property
    def _length(self) -> int:
        return self.document().characterCount() - 1

    def _cursor(self, start: int, end: int) -> QTextCursor:
        cursor = QTextCursor(self.document())
        cursor.setPosition(min(start, self._length))
        cursor.setPosition(min(end, self._length), _KEEP)
        return cursor

    def view_part(self, start: int, end: int) -> str:
        """Return the text shown from UTF-16 position `start` to `end`, with LF as line break."""
        return editor_text(self.document(), start, end)

    def select(self, start: int, end: int | None = None) -> None:
        """Move the cursor to `start`, or select up to `end` (UTF-16 positions), and scroll there."""
        self._end_composing()
        self.setTextCursor(self._cursor(start, start if end is None else end))
        self.ensureCursorVisible()

    def _end_composing(self) -> None:
        """Discard what an input method is composing: Qt would leave it where the cursor was, and count it as text."""
        if self.textCursor().block().layout().preeditAreaText():
            QGuiApplication.inputMethod().reset()
            QGuiApplication.sendEvent(self, QInputMethodEvent())

    def set_marks(self, marks: list[tuple[int, int]]) -> None:
        self._marks = [self._cursor(start, end) for start, end in marks]
        self._draw_marks()

    def set_selection_marks(self, marks: list[tuple[int, int]]) -> None:
        if marks != [(cursor.selectionStart(), cursor.selectionEnd()) for cursor in self.selection_marks]:
            self.selection_marks = [self._cursor(start, end) for start, end in marks]
            self._draw_marks()

    def visible_blocks(self) -> Iterator[QTextBlock]:
        block, bottom = self.firstVisibleBlock(), self.viewport().height()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top < bottom:
            yield block
            top += self.blockBoundingRect(block).height()
            block = block.next()

    def _draw_marks(self) -> None:
        selections = [self._word_selection(cursor) for cursor in self.selection_marks]
        selections += [self._selection(cursor, self._theme.tie_soft) for cursor in self._marks]
        cursor = self.textCursor()
        cursor.clearSelection()
        line = self._selection(cursor, self._theme.accent_soft)
        line.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        is_empty = self.document().characterCount() <= 1  # the line's background would hide the placeholder
        self.setExtraSelections(selections if is_empty else [line, *selections])

    def _selection(self, cursor: QTextCursor, ground: QColor) -> QTextEdit.ExtraSelection:
        selection = QTextEdit.ExtraSelection()
        selection.cursor = cursor
        selection.format.setBackground(ground)
        return selection

    def _word_selection(self, cursor: QTextCursor) -> QTextEdit.ExtraSelection:
        selection = self._selection(cursor, self._theme.accent_soft)
        selection.format.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
        selection.format.setUnderlineColor(self._theme.accent)
        return selection

    # -- keys, menu, drops

    def dropEvent(self, event: QDropEvent) -> None:
        """Take dropped text, from here or elsewhere, as one edit of the document: Qt would edit first, then report."""
        super().dragLeaveEvent(QDragLeaveEvent())  # tells Qt that the drag is over
        if self.isReadOnly() or not event.mimeData().hasText():
            return
        QGuiApplication.inputMethod().commit()
        self._end_composing()
        place = self.cursorForPosition(event.position().toPoint()).position()
        is_moved = event.source() is self and event.dropAction() == Qt.DropAction.MoveAction
        event.acceptProposedAction()
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if is_moved:
            cursor = self.textCursor()
            self._document.move_view(cursor.selectionStart(), cursor.selectionEnd(), place)
        else:
            self._document.edit_view(place, 0, event.mimeData().text())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        is_asked = event.modifiers() == Qt.KeyboardModifier.ControlModifier
        super().mousePressEvent(event)
        if is_asked and event.button() == Qt.MouseButton.LeftButton:
            self.word_wanted.emit(self.cursorForPosition(event.position().toPoint()).position())

    def want_word(self) -> None:
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


class CorpusMarks(QObject):
    """Keeps the marks in `editor` in line with the selection and the step of `model`."""

    def __init__(self, model: TrainerModel, editor: CorpusEditor, parent: QObject) -> None:
        super().__init__(parent)
        self._model = model
        self.editor = editor
        self._tokenized: dict[str, list[TokenizedWord]] = {}
        self._tokenizer: Tokenizer | None = None
        self._timer = single_shot(self, self._mark)
        model.selection_changed.connect(lambda: self._look(_SOON_MS))
        model.run_reset.connect(self._look_later)
        model.step_changed.connect(self._look_later)
        editor.updateRequest.connect(self._look_if_moved)
        editor.word_wanted.connect(self._select_word)

    def _mark(self) -> None:
        selection, editor = self._model.selection, self.editor
        tokenizer = self._model.tokenizer_at(self._model.step)
        if selection is None or tokenizer is None or not editor.isVisible():
            editor.set_selection_marks([])
            return
        holds = _holder_of(selection, tokenizer.vocabulary.continuing_subword_prefix)
        marks = []
        for block in editor.visible_blocks():
            for word in self._words(block, tokenizer):
                if word.word is not None and holds(word):
                    marks.append(_place(block, word))
        editor.set_selection_marks(marks[:400])

    def _words(self, block: QTextBlock, tokenizer: Tokenizer) -> list[TokenizedWord]:
        if tokenizer is not self._tokenizer:
            self._tokenizer, self._tokenized = tokenizer, {}
        text = block.text()[:2000]  # characters of a line that are searched for the selection
        words = self._tokenized.get(text)
        if words is None:
            try:
                words = tokenizer.tokenize_words(text)
            except StudioError:  # counting reports the error
                words = []
            self._tokenized[text] = words
        return words

    def _select_word(self, position: int) -> None:
        tokenizer = self._model.tokenizer_at(self._model.step)
        block = self.editor.document().findBlock(position)
        for word in self._words(block, tokenizer) if tokenizer is not None else ():
            start, end = _place(block, word)
            if start <= position <= end and word.word is not None:
                self._model.set_selection(Selection("word", text=word.word.text))
                return

    def _look(self, delay_ms: int) -> None:
        if self._model.selection is not None or self.editor.selection_marks:
            self._timer.start(delay_ms)

    def _look_if_moved(self, rect: QRect, dy: int) -> None:
        if dy or rect.contains(self.editor.viewport().rect()):
            self._look_later()

    def _look_later(self) -> None:
        if not self._timer.isActive():
            self._look(_LATER_MS)


def _holder_of(selection: Selection, prefix: str) -> Callable[[TokenizedWord], bool]:
    """Return a predicate for words that contain the selection; a pair is also found in the token it makes."""
    if selection.kind == "word":
        return lambda word: word.word is not None and word.word.text == selection.text
    if selection.kind == "token":
        return lambda word: any(piece.token == selection.text for piece in word.pieces)

    made = made_by(selection, prefix)

    def holds_pair(word: TokenizedWord) -> bool:
        tokens = [piece.token for piece in word.pieces]
        return made in tokens or (selection.left, selection.right) in itertools.pairwise(tokens)

    return holds_pair


def _place(block: QTextBlock, word: TokenizedWord) -> tuple[int, int]:
    text, start, end = block.text(), word.pieces[0].start, word.pieces[-1].end
    before = utf16_length(text[:start])
    return block.position() + before, block.position() + before + utf16_length(text[start:end])


# -- finding a text

_MOST_PLACES_MARKED = 500
_MOST_PLACES = 100_000
# Pairs of lower-case letters with the same capital: the first is treated as the second.
_SAME_LETTERS = tuple(
    zip(
        "\u00b5\u0131\u017f\u0345\u03c2\u03d0\u03d1\u03d5\u03d6\u03f0\u03f1\u03f5\u1c80"
        "\u1c81\u1c82\u1c83\u1c84\u1c85\u1c86\u1c87\u1c88\u1e9b\u1fbe\u1fd3\u1fe3\ufb05",
        "\u03bc\u0069\u0073\u03b9\u03c3\u03b2\u03b8\u03c6\u03c0\u03ba\u03c1\u03b5\u0432"
        "\u0434\u043e\u0441\u0442\u0442\u044a\u0463\ua64b\u1e61\u03b9\u0390\u03b0\ufb06",
        strict=True,
    )
)


def find_places(view_text: str, sought: str, case_matters: bool) -> list[tuple[int, int]]:
    """Return the start and end of each occurrence of `sought`, in order, at most 100,000 of them.

    >>> find_places("Hug a hug", "hug", False)
    [(0, 3), (6, 9)]
    """
    if not sought:
        return []
    index, sought = ViewIndex(view_text), to_view(sought)
    text, wanted = (view_text, sought) if case_matters else (_without_case(view_text), _without_case(sought))
    places: list[tuple[int, int]] = []
    # Not `re`: ignoring case, it takes as many steps per character as a line of one repeated letter is long.
    found = text.find(wanted)
    while found >= 0 and len(places) < _MOST_PLACES:
        start, end = index.view_position(found), found + len(wanted)
        places.append((start, start + utf16_length(view_text[found:end])))
        found = text.find(wanted, end)
    return places


def _without_case(text: str) -> str:
    """Return a text of the same length that is equal for all texts that differ only in case."""
    lower = text.replace("\u0130", "i").lower()  # the one letter that becomes two
    if not lower.isascii():
        for one, other in _SAME_LETTERS:
            if one in lower:
                lower = lower.replace(one, other)
    return lower


def next_place(places: list[tuple[int, int]], position: int) -> int:
    """Return the index of the first place at or after `position`, or else 0; `places` must not be empty."""
    found = bisect_left(places, (position, -1))
    return found if found < len(places) else 0


def previous_place(places: list[tuple[int, int]], position: int) -> int:
    """Return the index of the last place that begins before `position`, or else of the last place."""
    return (bisect_right(places, (position - 1, 1 << 62)) - 1) % len(places)


class FindBar(QFrame):
    def __init__(self, document: Document, editor: CorpusEditor, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._editor = editor
        self._places: list[tuple[int, int]] | None = None  # None: not searched for since the text changed
        name = self.tr("Find in corpus")
        self._field = line_field(self, hint=name, name=name, clears=True, takes_key=self._takes_key)
        self._field.textChanged.connect(self._search)
        self.count_label = plain_label("", self, role="hint", wrap=True)
        self._case_button = tool_button("Aa", self.tr("Match case"), self, self._search, is_switch=True)
        self._previous_button = tool_button("", self.tr("Find previous (Shift+F3)"), self, self.find_previous)
        self._next_button = tool_button("", self.tr("Find next (F3, Enter)"), self, self.find_next)
        self.close_button = tool_button("", self.tr("Close (Esc)"), self, self.close_bar)
        self._search_timer = single_shot(self, self._search_again, 150)
        for changed in (document.text_changed, document.reset):
            changed.connect(self._forget_places)
        self._lay_out()
        for button, name in ((self._previous_button, "up"), (self._next_button, "down"), (self.close_button, "close")):
            theme.set_icon(button, name)
        self.hide()

    def _lay_out(self) -> None:
        self._field.setMinimumWidth(60)
        controls = fill(QHBoxLayout(), (self._field, 1), self.close_button, spacing=3)
        # On its own line: beside the field it would widen the pane.
        buttons = self._case_button, self._previous_button, self._next_button
        below = fill(QHBoxLayout(), (self.count_label, 1), *buttons, spacing=3)
        fill(QVBoxLayout(self), controls, below, margins=(10, 6, 8, 2), spacing=2)

    @property
    def sought(self) -> str:
        return self._field.text()

    def open_bar(self) -> None:
        self.show()
        cursor = self._editor.textCursor()
        text = self._editor.view_part(cursor.selectionStart(), cursor.selectionEnd())
        if text and "\n" not in text:
            self._field.setText(whole(text))
        ask_in(self._field)
        self._search()

    def close_bar(self) -> None:
        self.hide()
        self._editor.set_marks([])
        self._editor.setFocus()

    def find_next(self) -> None:
        self._find(lambda places: next_place(places, self._editor.textCursor().selectionEnd()))

    def find_previous(self) -> None:
        self._find(lambda places: previous_place(places, self._editor.textCursor().selectionStart()))

    def _find(self, place_in: Callable[[list[tuple[int, int]]], int]) -> None:
        if not self.sought:
            self.open_bar()
        elif places := self._found_places():
            self._go_to(places, place_in(places))

    def _found_places(self) -> list[tuple[int, int]]:
        if self._places is None:
            self._places = find_places(self._document.view_text, self.sought, self._case_button.isChecked())
            if not self._places:
                self._show_places(self._places)
        return self._places

    def _forget_places(self) -> None:
        self._places = None
        if self.isVisible():
            self._search_timer.start()

    def _search(self) -> None:
        self._places = None
        if places := self._found_places():
            self._go_to(places, next_place(places, self._editor.textCursor().selectionStart()))

    def _search_again(self) -> None:
        if self.isVisible() and self.sought:
            self._show_places(self._found_places())

    def _show_places(self, places: list[tuple[int, int]]) -> None:
        cursor = self._editor.textCursor()
        place = next_place(places, cursor.selectionStart()) if places else 0
        is_selected = (cursor.selectionStart(), cursor.selectionEnd()) in places[place : place + 1]
        first = max(0, place - _MOST_PLACES_MARKED // 2)
        self._editor.set_marks(places[first : first + _MOST_PLACES_MARKED])
        self._show_count(place + 1 if is_selected else 0, len(places))

    def _go_to(self, places: list[tuple[int, int]], place: int) -> None:
        self._editor.select(*places[place])
        self._show_places(places)

    def _show_count(self, place: int, places: int) -> None:
        text = ""
        if self.sought:
            text = self.tr("{place} of {places}").format(place=number_text(place), places=number_text(places))
        if self.sought and not places:
            text = self.tr("No matches")
        set_plain_text(self.count_label, text)
        set_look(self._field, state="wrong" if self.sought and not places else "")

    def _takes_key(self, event: QKeyEvent) -> bool:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            shift = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            (self.find_previous if shift else self.find_next)()
        elif event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        else:
            return False
        return True
