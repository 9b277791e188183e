"""Cases 10, 11 and 71 in the window: very long lines, unusual characters, and very much that is pasted."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QMimeData

from tests.ui.conftest import Studio, empty_studio, studio, theme
from wordpiece_studio.session.document import read_text_file, write_text_file
from wordpiece_studio.session.recovery_store import recovery_folder
from wordpiece_studio.storage.project.project_file import open_project

if TYPE_CHECKING:
    from collections.abc import Callable

    Told = Callable[[object], str]

__all__ = ["empty_studio", "studio", "theme"]  # fixtures

LINE = "y" * 5_000_000
# What editors and their files change on the way: line ends of every kind, blanks, marks.
UNUSUAL = (
    "\ufeffa\rb\r\nc\nd\u2028e\u2029f\u0085g\x0bh\x0ci\u00a0j\u202fk\u200bl\ufdd0m\ufdd1n\ufffeo\x1cp\U0010ffffq\tr  \r"
)


@pytest.mark.case(10)
def test_one_line_of_5_mb_is_opened_as_a_file(studio: Studio, tmp_path: Path, told: Told) -> None:
    path = tmp_path / "line.txt"
    path.write_text(LINE, encoding="utf-8")
    started = time.thread_time()  # of the processor: others may be at work beside
    studio.open(path)
    document, pane = studio.window.session.document, studio.window.corpus_pane
    studio.wait(lambda: [file.path for file in document.files.files] == [str(path)], 30_000)
    studio.wait(lambda: pane.files_view.preview.text.startswith("yyyy"), 30_000)
    assert time.thread_time() - started < 1
    studio.wait(lambda: bool(studio.window.notices.training.text))
    told(studio.window.notices.training.text)


@pytest.mark.case(11)
def test_a_text_is_the_same_after_it_was_opened_and_saved(studio: Studio, tmp_path: Path, told: Told) -> None:
    content = UNUSUAL.encode()
    path = tmp_path / "unusual.txt"
    path.write_bytes(content)
    studio.open(path)
    document = studio.window.session.document
    studio.wait(lambda: document.path == path)
    studio.qtbot.wait(50)
    assert not document.is_modified
    document.save_text(path)
    assert path.read_bytes() == content
    document.save_text(tmp_path / "copy.txt")
    assert (tmp_path / "copy.txt").read_bytes() == content
    told("nothing: not a byte is another")


@pytest.mark.case(11)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(text=st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0")))
def test_any_text_is_read_and_written_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "any.txt"
    path.write_bytes(text.encode())
    if text.encode().startswith((b"\x1f\x8b\x08", b"\xfd7zXZ")):
        return
    file = read_text_file(path)
    write_text_file(path, file.text, file)
    assert path.read_bytes() == text.encode()


def paste(studio: Studio, text: str) -> float:
    """Paste a text in the place of all, and return for how many seconds of work the window did not answer."""
    data = QMimeData()
    data.setText(text)
    editor = studio.window.corpus_pane.editor
    editor.selectAll()
    started = time.thread_time()
    editor.insertFromMimeData(data)
    return time.thread_time() - started


@pytest.mark.case(71)
def test_a_pasted_line_of_5_mb_becomes_a_file(studio: Studio, told: Told) -> None:
    document = studio.window.session.document
    before = document.text
    assert paste(studio, LINE) < 2
    assert document.text == LINE
    (row,) = document.files.rows
    assert Path(row.file.path).read_text(encoding="utf-8-sig") == LINE
    told(studio.window.notices.training.text)
    studio.window.actions_.undo.trigger()
    assert document.text == before


@pytest.mark.case(71)
def test_what_was_pasted_is_among_the_unsaved_work(studio: Studio, told: Told) -> None:
    paste(studio, LINE)
    keeper = studio.window.recovery.keeper
    studio.wait(lambda: keeper.is_kept and keeper.is_idle, 30_000)
    (work,) = recovery_folder().glob("*/work.wpstudio")
    assert open_project(work).corpus.text == LINE
    told("nothing: it would be restored after a crash")
    studio.window.actions_.undo.trigger()


@pytest.mark.slow
@pytest.mark.case(71)
def test_100_mb_pasted(studio: Studio, told: Told) -> None:
    before = studio.window.session.document.text
    seconds = paste(studio, "some words and more\n" * 5_000_000)
    assert len(studio.window.session.document.text) == 100_000_000
    told(studio.window.notices.training.text)
    assert seconds < 20
    studio.window.actions_.undo.trigger()
    assert studio.window.session.document.text == before
    studio.window.session.document.note_saved()
