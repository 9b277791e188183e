"""Positions in the text and in the editor, folding, and what a document reports to the editor."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wordpiece_studio.session.commands import Edit
from wordpiece_studio.session.document import TextFile
from wordpiece_studio.session.view_text import (
    LONGEST_LINE,
    ViewIndex,
    has_long_line,
    main_line_break,
    placed_edit,
    to_view,
    utf16_length,
)

if TYPE_CHECKING:
    from wordpiece_studio.session.document import Document
    from wordpiece_studio.session.view_text import ViewEdit

MIXED = "a\r\n\n\r\r\n\u2028\u2029\u0085\u00a0\U0001f917한z\ufeff\ufffe\ud83e\udd17"
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


def test_long_lines_are_noticed_quickly() -> None:
    assert has_long_line("x" * (LONGEST_LINE + 1) + "\r\n" + "y" * LONGEST_LINE)
    assert not has_long_line(("y" * LONGEST_LINE + "\r") * 3 + "y" * LONGEST_LINE)
    assert has_long_line("y" * 17 + "\n" + "y" * (LONGEST_LINE + 1))
    text = ("a" * (LONGEST_LINE - 1) + "\n") * 200
    began = time.process_time()
    assert not has_long_line(text)
    assert has_long_line(text + "b" * (LONGEST_LINE + 1))
    assert time.process_time() - began < 5  # an expression that tried at every character took a minute


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


@given(texts, st.lists(st.tuples(st.integers(0, 14), st.integers(0, 3), texts), max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_editor_that_does_what_it_hears_shows_the_text(
    qapp: object, document: Document, text: str, edits: list[tuple[int, int, str]]
) -> None:
    document.take_text(TextFile(text), None)
    shown = [to_view(text)]

    def follow(edit: ViewEdit) -> None:
        units = shown[0].encode("utf-16-le")
        end = edit.position + edit.removed
        units = units[: 2 * edit.position] + edit.inserted.encode("utf-16-le") + units[2 * end :]
        shown[0] = units.decode("utf-16-le")

    document.view_edited.connect(follow)
    for position, removed, inserted in edits:
        position = min(position, len(document.text))
        document.edit(position, min(removed, len(document.text) - position), inserted)
        assert shown[0] == document.view_text
        assert document.view_length == utf16_length(document.view_text)
    while document.undo_stack.canUndo():
        document.undo_stack.undo()
        assert shown[0] == document.view_text
    document.view_edited.disconnect(follow)
