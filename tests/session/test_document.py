"""The document: edits, undo, and files to the byte."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.corpus_files import FileState
from wordpiece_studio.session.document import TextFile, read_text_file, write_text_file
from wordpiece_studio.session.recovery_store import recovery_folder
from wordpiece_studio.session.view_text import LONGEST_LINE, MOST_LINES

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from wordpiece_studio.corpus.decoding import ErrorHandling
    from wordpiece_studio.session.document import Document

EIGHT_KINDS = "a\r\nb\rc\nd\u2028e\u2029f\u0085g\u00a0h\ufdd0i\ufeffj"
# No NUL, which only binary files have, and no half characters, which no file can hold.
any_text = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]) | st.sampled_from(EIGHT_KINDS))


@given(text=any_text, codec=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_open_and_save_is_identical_to_the_byte(tmp_path: Path, text: str, codec: str) -> None:
    before, after = tmp_path / "before.txt", tmp_path / "after.txt"
    before.write_bytes(text.encode(codec))
    file = read_text_file(before)
    write_text_file(after, file.text, file)
    assert after.read_bytes() == before.read_bytes()


def open_file(document: Document, path: Path) -> None:
    document.take_text(read_text_file(path), path)


def test_a_document_saves_the_eight_kinds_as_they_were(document: Document, tmp_path: Path) -> None:
    path = tmp_path / "kinds.txt"
    path.write_bytes(b"\xef\xbb\xbf" + EIGHT_KINDS.encode())
    open_file(document, path)
    assert document.text == EIGHT_KINDS
    document.save_text(tmp_path / "copy.txt")
    assert (tmp_path / "copy.txt").read_bytes() == path.read_bytes()


def test_an_encoding_with_two_ways_to_write_a_text_is_kept_to_the_byte(tmp_path: Path) -> None:
    data = b"\x1b(J\x1b(Babc"  # an escape that the encoder would leave out
    (tmp_path / "a.txt").write_bytes(data)
    file = read_text_file(tmp_path / "a.txt", "iso2022_jp")
    assert write_text_file(tmp_path / "b.txt", file.text, file) is file
    assert (tmp_path / "b.txt").read_bytes() == data
    write_text_file(tmp_path / "b.txt", file.text + "d", file)
    assert (tmp_path / "b.txt").read_bytes() == b"abcd"


def test_a_character_that_the_encoding_lacks_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"caf\xe9")
    file = read_text_file(tmp_path / "a.txt", "latin-1")
    with pytest.raises(StudioError, match="'한' in line 2"):
        write_text_file(tmp_path / "a.txt", "x\n한", file)
    assert (tmp_path / "a.txt").read_bytes() == b"caf\xe9"


def test_a_file_that_cannot_be_read_leaves_the_text(document: Document, tmp_path: Path) -> None:
    document.set_text("mine")
    (tmp_path / "binary").write_bytes(b"a\n\0")
    with pytest.raises(StudioError, match="line 2"):
        open_file(document, tmp_path / "binary")
    with pytest.raises(StudioError, match="does not exist"):
        open_file(document, tmp_path / "nothing")
    assert document.text == "mine"


def test_modified_until_saved(qtbot: QtBot, document: Document, tmp_path: Path) -> None:
    with qtbot.waitSignal(document.modified_changed):
        document.edit(0, 0, "a")
    assert document.is_modified
    with qtbot.waitSignals([document.path_changed, document.modified_changed], order="strict"):
        document.save_text(tmp_path / "a.txt")
    assert not document.is_modified
    document.undo_stack.undo()
    assert document.is_modified
    assert document.text == ""


def test_typing_is_undone_by_words(document: Document) -> None:
    for position, letter in enumerate("hug pug"):
        document.edit_view(position, 0, letter, is_reported=True)
    document.undo_stack.undo()
    assert document.text == "hug "
    document.undo_stack.undo()
    assert document.text == ""


def test_a_word_that_begins_with_a_blank_is_undone_in_one_step(document: Document) -> None:
    document.edit(0, 0, "hug")
    for position, letter in enumerate("  pug", start=3):
        document.edit_view(position, 0, letter, is_reported=True)
    document.undo_stack.undo()
    assert document.text == "hug"


def test_new_lines_are_those_of_the_file(document: Document, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    open_file(document, tmp_path / "a.txt")
    document.edit_view(8, 0, "three\nfour", is_reported=True)
    assert document.text == "one\r\ntwo\r\nthree\r\nfour"
    assert document.view_text == "one\ntwo\nthree\nfour"


def test_an_editor_that_made_the_edit_is_not_notified(qtbot: QtBot, document: Document) -> None:
    with qtbot.assertNotEmitted(document.view_edited):
        document.edit_view(0, 0, "a", is_reported=True)
    with qtbot.waitSignal(document.view_edited):
        document.edit_view(1, 0, "b")
    with qtbot.waitSignal(document.view_edited):
        document.undo_stack.undo()


@pytest.mark.parametrize(
    "long", ["x" * LONGEST_LINE, "hug pug\n" * 250_001, "é hug\n" * 350_001, "\n" * (MOST_LINES + 1)]
)
def test_a_text_too_long_is_kept_as_a_file_until_that_is_undone(qtbot: QtBot, document: Document, long: str) -> None:
    document.edit(0, 0, "short")
    with qtbot.waitSignal(document.reset):
        document.edit_view(5, 0, long)
    assert document.is_kept
    assert document.text == "short" + long
    assert (document.is_modified, document.is_editable) == (True, False)
    assert (document.view_text, document.view_length) == ("", 0)
    (row,) = document.files.rows
    path = Path(row.file.path)
    assert path.read_bytes().decode("utf-8-sig") == document.text
    assert path.parent.parent == recovery_folder()
    document.edit_view(0, 0, "ignored")
    assert document.text == "short" + long
    with qtbot.waitSignal(document.reset):
        document.undo_stack.undo()
    assert (document.is_kept, document.files.rows, document.view_text) == (False, (), "short")
    document.undo_stack.redo()
    assert (document.is_kept, document.text) == (True, "short" + long)
    document.close()
    assert list(recovery_folder().iterdir()) == []


def test_a_text_within_the_bounds_is_edited(document: Document) -> None:
    for text in ("y" * LONGEST_LINE + "\r\n" + "z" * LONGEST_LINE, "\n" * MOST_LINES, "hug pug\n" * 90_000):
        document.take_text(TextFile(text), None)
        assert document.is_editable


@pytest.mark.parametrize("text", ["\ufeffhug\0\ud83e pug\rbun", "BZh91AY", "\ufffehug"])
def test_a_kept_text_has_its_exact_characters(document: Document, text: str) -> None:
    text += "\n" + "x" * (LONGEST_LINE + 1)
    document.set_text(text)
    data = Path(document.files.rows[0].file.path).read_bytes()
    assert data.decode("utf-8-sig", "surrogatepass") == document.text == text


def test_a_text_that_cannot_be_kept_as_a_file_is_not_lost(document: Document) -> None:
    recovery_folder().parent.mkdir(parents=True, exist_ok=True)
    recovery_folder().touch()
    text = "x" * (LONGEST_LINE + 1)
    document.set_text(text)
    (row,) = document.files.rows
    assert (document.text, row.state, str(recovery_folder()) in str(row.error)) == (text, FileState.FAULT, True)


def test_an_edit_of_two_megabytes_is_quick(document: Document) -> None:
    document.set_text("abc def ghi \U0001f917\r\n" * 90_000)
    assert document.is_editable
    began = time.thread_time()
    for _ in range(5):
        document.edit_view(400_000, 0, "x", is_reported=True)
    assert (time.thread_time() - began) / 5 < 0.5  # seconds a key; 0.05 are promised, and printed by the benchmark


def test_a_text_without_a_file_is_an_unsaved_text(qtbot: QtBot, document: Document) -> None:
    document.edit(0, 0, "mine")
    with qtbot.waitSignals([document.reset, document.text_changed], order="strict"):
        document.take_text(TextFile("hug pug"), None)
    assert "hug" in document.text
    assert (document.path, document.is_modified, document.undo_stack.canUndo()) == (None, False, False)
    document.clear()
    assert document.text == ""


@pytest.mark.parametrize(("errors", "text"), [("replace", "hug\ncaf\ufffd\n"), ("skip-line", "hug\n")])
def test_a_text_read_with_losses_says_so_until_it_is_saved_elsewhere(
    document: Document, tmp_path: Path, errors: ErrorHandling, text: str
) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes(b"hug\ncaf\xe9\n")
    document.take_text(read_text_file(path, errors=errors), path)
    assert document.text == text
    assert document.file.is_lossy
    document.save_text(tmp_path / "other.txt")
    assert not document.file.is_lossy
    assert (tmp_path / "other.txt").read_text(encoding="utf-8") == text
    document.take_text(read_text_file(path, "latin-1"), path)
    assert (document.text, document.file.encoding, document.file.is_lossy) == ("hug\ncaf\xe9\n", "iso8859-1", False)
