"""Places in the text and in the editor, folding, and the document against the real thing: Qt's own text document."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QObject
from PySide6.QtGui import QTextCursor, QTextDocument

from wordpiece_studio.model.commands import Edit
from wordpiece_studio.model.view_edit import ViewEdit, placed_edit
from wordpiece_studio.model.view_index import ViewIndex, utf16_length
from wordpiece_studio.model.view_text import (
    LONGEST_LINE,
    PAGE_LENGTH,
    folded,
    has_long_line,
    has_long_line_near,
    main_line_break,
    page_starts,
    to_view,
)

if TYPE_CHECKING:
    from wordpiece_studio.model.document import Document

MIXED = "a\r\n\n\r\r\n\u2028\u2029\u0085\u00a0\U0001f917한z"
texts = st.text(alphabet=MIXED, max_size=12)


@given(texts)
def test_places_agree_with_the_view_itself(text: str) -> None:
    index = ViewIndex(text)
    for position in range(len(text) + 1):
        if text[position - 1 : position + 1] != "\r\n" or not position:
            view_position = utf16_length(to_view(text[:position]))
            assert index.view_position(position) == view_position
            assert index.text_position(view_position) == position


def test_a_place_inside_an_emoji_is_its_beginning() -> None:
    assert ViewIndex("a\U0001f917b").text_position(2) == 1


@given(texts, st.data())
def test_an_edited_index_is_that_of_the_new_text(text: str, data: st.DataObject) -> None:
    index = ViewIndex(text)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    inserted = data.draw(texts)
    edited = text[:start] + inserted + text[end:]
    index.note_edit(start, end - start, len(inserted), edited)
    fresh = ViewIndex(edited)
    assert index._places.tolist() == fresh._places.tolist()
    assert index._shifts.tolist() == fresh._shifts.tolist()


@given(texts, texts, st.sampled_from(["\n", "\r\n", "\r"]))
def test_a_placed_edit_shows_what_was_typed_and_keeps_the_rest(old: str, inserted: str, newline: str) -> None:
    edit = placed_edit(old, inserted, newline, 0)
    if edit is None:
        assert to_view(old) == to_view(inserted)
        return
    end = edit.position + len(edit.removed)
    assert old[edit.position : end] == edit.removed
    before, after = old[: edit.position], old[end:]
    assert to_view(before) + to_view(edit.inserted) + to_view(after) == to_view(inserted)


def test_an_edit_that_changes_nothing_is_none() -> None:
    assert placed_edit("a\r\nb\rc", "a\nb\nc", "\n", 0) is None


@given(texts)
def test_view_text_is_what_qt_shows(text: str) -> None:
    qt = QTextDocument()
    qt.setPlainText(to_view(text))
    cursor = QTextCursor(qt)
    cursor.select(QTextCursor.SelectionType.Document)
    assert cursor.selectedText().replace("\u2029", "\n") == to_view(text)


def test_long_lines_are_folded() -> None:
    text = "x" * (2 * LONGEST_LINE + 5) + "\r\n" + "y" * LONGEST_LINE
    assert has_long_line(text)
    assert not has_long_line(("y" * LONGEST_LINE + "\r") * 3 + "y" * LONGEST_LINE)
    assert has_long_line("y" * 17 + "\n" + "y" * (LONGEST_LINE + 1))
    assert [len(line) for line in folded(text).split("\n")] == [LONGEST_LINE, LONGEST_LINE, 5, LONGEST_LINE]


def test_lines_that_need_no_folding_cost_nothing() -> None:
    text = ("a" * (LONGEST_LINE - 1) + "\n") * 200
    began = time.process_time()
    assert folded(text) is text
    assert folded(text + "b" * (LONGEST_LINE + 1)) == text + "b" * LONGEST_LINE + "\nb"
    assert time.process_time() - began < 0.5  # an expression that tried at every character took a minute


def test_a_long_line_is_seen_from_near() -> None:
    text = "a\n" * 9000 + "x" * (LONGEST_LINE + 1) + "\n" + "b\n" * 9000
    for position in (18_000, 23_000, 18_000 + LONGEST_LINE):
        assert has_long_line_near(text, position, position + 1)
    assert not has_long_line_near(text, 100, 101)


def test_pages_end_with_lines() -> None:
    text = ("x" * 99 + "\n") * (3 * PAGE_LENGTH // 100 + 7)
    starts = page_starts(text)
    assert len(starts) == 4
    assert all(text[start - 1] == "\n" for start in starts[1:])


@pytest.mark.parametrize(
    ("text", "line_break"), [("", "\n"), ("a\nb\r\nc\r\n", "\r\n"), ("a\rb", "\r"), ("a\nb", "\n")]
)
def test_main_line_break(text: str, line_break: str) -> None:
    assert main_line_break(text) == line_break


def test_typing_merges_and_a_new_word_begins_a_new_command() -> None:
    typed = Edit(0, "", "a")
    for letter in "bc ":
        typed = typed.followed_by(Edit(len(typed.inserted), "", letter)) or typed
    assert typed == Edit(0, "", "abc ")
    assert typed.followed_by(Edit(4, "", "d")) is None
    assert typed.followed_by(Edit(9, "", "d")) is None


def test_deleting_merges_both_ways() -> None:
    assert Edit(4, "e", "").followed_by(Edit(3, "d", "")) == Edit(3, "de", "")
    assert Edit(4, "e", "").followed_by(Edit(4, "f", "")) == Edit(4, "ef", "")
    assert Edit(4, "e", "").followed_by(Edit(9, "f", "")) is None


class Editor(QObject):
    """What the corpus editor does, around Qt's text document alone."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document
        self.qt = QTextDocument(self)
        self.qt.setUndoRedoEnabled(False)
        self.qt.documentLayout()  # without one Qt reports no changes
        self.qt.contentsChange.connect(self._on_contents_change)
        self.is_told = True
        document.reset.connect(self._on_reset)
        document.view_edited.connect(self._on_view_edited)
        self._on_reset()

    def replace(self, start: int, end: int, text: str) -> None:
        cursor = QTextCursor(self.qt)
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(text)

    def shown(self, start: int = 0, end: int | None = None) -> str:
        cursor = QTextCursor(self.qt)
        cursor.setPosition(start)
        cursor.setPosition(self.qt.characterCount() - 1 if end is None else end, QTextCursor.MoveMode.KeepAnchor)
        return cursor.selectedText().replace("\u2029", "\n")

    def _on_contents_change(self, position: int, removed: int, added: int) -> None:
        if self.is_told:
            beyond = max(0, position + added - (self.qt.characterCount() - 1))
            part = self.shown(position, position + added - beyond)
            self.document.take_view_edit(position, max(0, removed - beyond), part)

    def _on_reset(self) -> None:
        self.is_told = False
        self.qt.setPlainText(self.document.view_text)
        self.is_told = True

    def _on_view_edited(self, edit: ViewEdit) -> None:
        self.is_told = False
        self.replace(edit.position, edit.position + edit.removed, edit.inserted)
        self.is_told = True


@pytest.mark.parametrize("seed", range(25))
def test_editor_and_document_stay_the_same(qapp: object, document: Document, seed: int) -> None:
    rng = random.Random(seed)
    letters = "ab \n\U0001f917한"
    document.set_text("".join(rng.choices(MIXED, k=30)))
    editor = Editor(document)
    for _ in range(60):
        places = [place for place in range(editor.qt.characterCount()) if _is_between_characters(editor, place)]
        start, end = sorted(rng.choices(places, k=2))
        end = min(end, start + 5)
        end = end if end in places else start
        new = "".join(rng.choices(letters, k=rng.randint(0, 3)))
        match rng.randrange(5):
            case 0:
                document.undo_stack.undo()
            case 1:
                document.undo_stack.redo()
            case 2:
                document.edit_view(start, end - start, new)
            case _:
                editor.replace(start, end, new)
        assert editor.shown() == document.view_text
        assert document._index.view_position(len(document.text)) == utf16_length(document.view_text)
    while document.undo_stack.canRedo():
        document.undo_stack.redo()
    final = document.text
    while document.undo_stack.canUndo():
        document.undo_stack.undo()
    assert document.text == ""
    while document.undo_stack.canRedo():
        document.undo_stack.redo()
    assert document.text == final


def _is_between_characters(editor: Editor, place: int) -> bool:
    before = editor.qt.characterAt(place - 1) if place else "x"
    return not 0xD800 <= ord(before[:1] or "x") < 0xDC00
