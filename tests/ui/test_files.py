"""The corpus as files, in the window: opened by menu, drop and command line; read another way; counted, held, ended."""

from __future__ import annotations

import gzip
import json
import os
import threading
from typing import TYPE_CHECKING

import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMessageBox

from tests.monkey.agreement import outdated
from tests.ui.drops import drop
from wordpiece_studio.corpus.counts import CountingProgress, WordCounts
from wordpiece_studio.corpus.files import CorpusFile
from wordpiece_studio.session import corpus_counting
from wordpiece_studio.session.corpus_files import FileColumn, FileState
from wordpiece_studio.session.document import Document
from wordpiece_studio.ui.panes.corpus.corpus_figures import CountingBar, progress_words
from wordpiece_studio.ui.panes.corpus.files_view import PreviewText, PreviewView
from wordpiece_studio.ui.panes.corpus.reading import EncodingDialog

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tests.ui.conftest import Studio
    from wordpiece_studio.ui.widgets.theme import Theme

TEXT = "hug pug bun\nhug\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files of three kinds."""
    place = tmp_path / "corpus"
    place.mkdir()
    (place / "1.txt").write_text(TEXT * 10, encoding="utf-8")
    (place / "2.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    (place / "3.jsonl").write_text(
        "".join(json.dumps({"title": "bun bun", "text": line}) + "\n" for line in TEXT.split("\n") if line),
        encoding="utf-8",
    )
    return place


def wait_counted(studio: Studio) -> None:
    studio.wait_opened()
    studio.wait(lambda: studio.window.session.counting.counts is not None, 30_000)


def opened(studio: Studio, *paths: Path) -> None:
    studio.open(*paths)
    wait_counted(studio)


def names(studio: Studio) -> list[str]:
    return [os.path.basename(row.file.path) for row in studio.window.session.document.files.rows]


def press(studio: Studio, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    studio.qtbot.keyClick(studio.window.corpus_pane.files_view.list, key, modifier)


def choose(studio: Studio, *paths: Path) -> None:
    dialog = next(each for each in studio.window.findChildren(QFileDialog) if each.isVisible())
    dialog.filesSelected.emit([str(path) for path in paths])
    dialog.done(1)
    studio.wait_opened()


# -- opening


def test_a_folder_is_opened_by_menu_and_counted_file_by_file(studio: Studio, folder: Path) -> None:
    window = studio.window
    window.actions_.open_folder.trigger()
    choose(studio, folder)
    wait_counted(studio)
    assert names(studio) == ["1.txt", "2.txt.gz", "3.jsonl"]
    assert window.corpus_pane.hints[0] == "corpus · 3 files"
    assert window.corpus_pane.figures.values["words"] == "48"
    assert window.corpus_pane.figures.values["alphabet"] != "–"
    assert [row.state for row in window.session.document.files.rows] == [FileState.DONE] * 3
    shown = [window.session.document.files.index(number, FileColumn.WORDS).data() for number in range(3)]
    assert shown == ["40", "4", "4"]
    assert window.settings.values.recent_files[0] == (str(folder),)
    assert window.corpus_pane.files_view.isVisible()
    assert not window.corpus_pane.editor.isVisible()
    assert not window.actions_.save_corpus.isEnabled()


@pytest.mark.slow
def test_a_folder_is_opened_from_the_recent_files_again(studio: Studio, folder: Path) -> None:
    opened(studio, folder)
    studio.window.actions_.new_corpus.trigger()
    assert studio.window.corpus_pane.editor.isVisible()
    studio.window.actions_.refresh_menus()
    studio.window.actions_.choices("open_recent")[0].trigger()
    wait_counted(studio)
    assert len(names(studio)) == 3


@pytest.mark.slow
def test_what_is_opened_after_nothing_was_found_to_add_replaces_the_list(
    studio: Studio, folder: Path, tmp_path: Path
) -> None:
    opened(studio, folder)
    (tmp_path / "empty").mkdir()
    studio.window.corpus_controller.add_paths([tmp_path / "empty"])
    studio.wait_opened()
    studio.answer(QMessageBox.StandardButton.Ok)
    assert len(names(studio)) == 3
    opened(studio, folder / "1.txt", folder / "3.jsonl")
    assert names(studio) == ["1.txt", "3.jsonl"]


@pytest.mark.slow
def test_files_that_were_opened_together_are_opened_together_again(studio: Studio, folder: Path) -> None:
    window, paths = studio.window, (folder / "1.txt", folder / "3.jsonl")
    window.corpus_controller.open_paths(paths)
    wait_counted(studio)
    assert window.settings.values.recent_files[0] == tuple(map(str, paths))
    window.actions_.new_corpus.trigger()
    window.actions_.refresh_menus()
    entry = window.actions_.choices("open_recent")[0]
    assert entry.text() == "1.txt and 1 more"
    entry.trigger()
    wait_counted(studio)
    assert names(studio) == ["1.txt", "3.jsonl"]


@pytest.mark.slow
def test_files_are_dropped_on_the_window_and_more_on_the_table(studio: Studio, folder: Path) -> None:
    drop(studio.window, folder / "3.jsonl", folder / "1.txt")
    wait_counted(studio)
    assert names(studio) == ["3.jsonl", "1.txt"]
    drop(studio.window.corpus_pane.files_view.list.viewport(), folder / "2.txt.gz")
    studio.wait_opened()
    assert names(studio) == ["3.jsonl", "1.txt", "2.txt.gz"]
    studio.window.actions_.undo.trigger()
    assert names(studio) == ["3.jsonl", "1.txt"]


def test_files_are_added_to_a_text_that_has_a_file(studio: Studio, folder: Path) -> None:
    studio.open(folder / "1.txt")
    assert not studio.window.session.document.is_files
    studio.window.actions_.add_files.trigger()
    choose(studio, folder / "2.txt.gz")
    assert names(studio) == ["1.txt", "2.txt.gz"]


@pytest.mark.slow
@pytest.mark.usefixtures("long_runs")
def test_what_is_trained_is_what_the_files_hold(studio: Studio, folder: Path) -> None:
    opened(studio, folder)
    studio.window.actions_.train.trigger()
    studio.wait(lambda: studio.window.model.counts is studio.window.session.counting.counts)
    studio.wait_finished()
    assert studio.window.model.origin.corpus_name == "corpus · 3 files"
    studio.window.close()
    assert "text" not in studio.box().text()  # only the vocabulary is at stake
    studio.window.leave_at_once()


def test_an_edited_text_is_asked_about_before_files_replace_it(studio: Studio, folder: Path) -> None:
    studio.set_text("mine")
    studio.window.corpus_controller.open_paths([folder])
    assert studio.has_box()
    studio.box().reject()
    assert studio.window.session.document.text == "mine"
    studio.window.session.document.note_saved()


def test_an_empty_list_says_what_to_do(studio: Studio, folder: Path) -> None:
    opened(studio, folder)
    studio.window.corpus_pane.files_view.list.selectAll()
    press(studio, Qt.Key.Key_Delete)
    view = studio.window.corpus_pane.files_view
    assert view.empty.isVisible()
    assert not view.list.isVisible()
    studio.wait(lambda: studio.window.session.counting.counts is not None)
    assert studio.window.corpus_pane.figures.values["words"] == "0"
    studio.window.actions_.undo.trigger()
    assert view.list.isVisible()


# -- the list by keyboard


@pytest.mark.slow
def test_files_are_moved_and_removed_by_keys(studio: Studio, folder: Path) -> None:
    opened(studio, folder)
    press(studio, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert names(studio) == ["2.txt.gz", "1.txt", "3.jsonl"]
    assert studio.window.corpus_pane.files_view.selected == [1]
    press(studio, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    press(studio, Qt.Key.Key_Delete)
    assert names(studio) == ["2.txt.gz", "3.jsonl"]
    wait_counted(studio)
    assert studio.window.corpus_pane.figures.values["words"] == "8"


@pytest.mark.slow
def test_another_column_is_chosen_for_the_file_selected(studio: Studio, folder: Path) -> None:
    opened(studio, folder)
    view = studio.window.corpus_pane.files_view
    view.select([0])
    assert not view.form.column_box.isVisible()
    view.select([2])
    box = view.form.column_box
    assert box.isVisible()
    assert box.currentData() == "text"
    box.setCurrentIndex(box.findData("title"))
    box.activated.emit(box.currentIndex())
    wait_counted(studio)
    assert dict(studio.window.session.counting.counts.items())["bun"] == 10 + 1 + 4


# -- the preview


@pytest.mark.slow
def test_the_preview_is_of_the_file_as_it_is(studio: Studio, folder: Path) -> None:
    opened(studio, folder)
    preview, watch = studio.window.corpus_pane.files_view.preview, studio.window.session.watch
    studio.wait(lambda: preview.text.startswith("hug pug bun") and not watch.is_pending, 20_000)
    assert outdated(studio.window) == ""
    (folder / "1.txt").write_text("mug\n", encoding="utf-8")
    assert outdated(studio.window) == "the preview is of an older 1.txt"
    studio.wait(lambda: preview.text == "mug\n", 20_000)
    assert outdated(studio.window) == ""
    (folder / "1.txt").unlink()
    assert outdated(studio.window) == "1.txt of the corpus is missing, and nothing says so"
    studio.wait(lambda: preview.text == "" and not preview.task.is_running, 20_000)
    assert outdated(studio.window) == ""
    (folder / "1.txt").write_text("mug\n", encoding="utf-8")
    studio.wait(lambda: preview.text == "mug\n", 20_000)


@pytest.mark.slow
def test_the_line_at_the_cursor_of_the_preview_is_read_as_the_trainer_does(studio: Studio, folder: Path) -> None:
    opened(studio, folder)
    pane = studio.window.corpus_pane
    pane.files_view.select([2])
    studio.wait(lambda: pane.files_view.preview.text.startswith("hug pug bun"), 20_000)
    studio.wait(lambda: pane.line_view.texts["words"] == "hug · pug · bun")
    assert studio.window.tokenization_pane.text


# -- what cannot be decoded


@pytest.mark.slow
def test_a_file_that_cannot_be_decoded_is_asked_about_and_the_counting_goes_on(studio: Studio, folder: Path) -> None:
    (folder / "0.txt").write_bytes(b"hug\n" * 5000 + b"caf\xc3\xa9 \xff pug\n" + b"hug\n" * 5000)
    studio.open(folder)
    studio.wait(lambda: bool(studio.window.findChildren(EncodingDialog)), 20_000)
    window, dialog = studio.window, studio.window.findChild(EncodingDialog)
    assert "0.txt, line 5,001" in dialog.message or "0.txt, line 5001" in dialog.message
    view = window.corpus_pane.files_view
    assert view.selected == [0]
    assert window.session.document.files.rows[0].state is FileState.FAULT
    assert "0.txt" in view.detail_label.text()
    assert "0.txt cannot be read" in window.corpus_pane.counting_bar.text
    dialog.skip_button.setChecked(True)
    dialog.accept()
    wait_counted(studio)
    assert window.session.document.files.rows[0].file.errors == "skip-line"
    assert window.session.counting.counts.statistics.skipped_lines == 1
    assert "1 lines skipped" in view.detail_label.text() or "1 line skipped" in view.detail_label.text()


# -- counting


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A file that takes some seconds to count."""
    path = tmp_path / "large.csv"
    with path.open("w", encoding="utf-8") as file:
        file.write("id,text\n")
        for start in range(0, 100_000, 1000):
            file.write(
                "".join(f"{number},word{number} other{number * 7} hug\n" for number in range(start, start + 1000))
            )
    return path


def begin_counting(studio: Studio, large: Path) -> None:
    studio.open(large)
    studio.wait(lambda: studio.window.corpus_pane.counting_bar.text != "", 20_000)
    studio.wait(lambda: studio.window.corpus_pane.counting_bar.keep_button.isEnabled(), 20_000)


def test_a_long_counting_of_a_text_is_shown_though_it_reports_often(
    qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end = threading.Event()

    def slow(*request: object, progress: Callable[[CountingProgress], None]) -> WordCounts:
        while not may_end.wait(0.005):
            progress(CountingProgress(1, 4))
        return WordCounts.from_pairs([("hug", 1)])

    monkeypatch.setattr(corpus_counting, "count_corpus", slow)
    monkeypatch.setattr(corpus_counting, "is_much", False)
    document = Document()
    counting = corpus_counting.CorpusCounting(document)
    bar = CountingBar(document, counting, theme)
    qtbot.addWidget(bar)
    document.set_text("hug")
    qtbot.waitUntil(lambda: bar.text != "", timeout=2000)
    may_end.set()
    qtbot.waitUntil(lambda: bar.text == "")
    counting.task.close()
    document.close()


@pytest.mark.slow
def test_a_counting_is_held_and_goes_on(studio: Studio, large: Path) -> None:
    begin_counting(studio, large)
    bar = studio.window.corpus_pane.counting_bar
    told: list[CountingProgress] = []
    bar.pause_button.click()
    assert bar.text.startswith("Paused")
    studio.qtbot.wait(300)
    studio.window.session.counting.task.progressed.connect(told.append)
    studio.qtbot.wait(300)
    assert not told
    assert studio.window.session.counting.counts is None
    bar.pause_button.click()
    wait_counted(studio)
    assert told[-1].bytes_done == told[-1].bytes_total
    assert bar.isHidden()


@pytest.mark.slow
def test_a_counting_is_given_up_and_begun_again(studio: Studio, large: Path) -> None:
    begin_counting(studio, large)
    bar = studio.window.corpus_pane.counting_bar
    bar.stop_button.click()
    assert "stopped" in bar.text
    assert bar.again_button.isVisible()
    assert studio.window.session.document.files.rows[0].state is FileState.WAITING
    bar.again_button.click()
    assert studio.window.session.counting.is_running
    assert bar.stop_button.isVisible()


@pytest.mark.slow
def test_stop_and_keep_trains_on_the_first_part_and_says_so(studio: Studio, large: Path) -> None:
    begin_counting(studio, large)
    bar, window = studio.window.corpus_pane.counting_bar, studio.window
    bar.keep_button.click()
    wait_counted(studio)
    counts = window.session.counting.counts
    assert counts.statistics.is_partial
    assert counts.words[:3] == ["word0", "other0", "hug"]
    assert window.session.document.files.rows[0].state is FileState.PARTLY
    assert window.corpus_pane.hints[0] == window.session.corpus_name == "large.csv (partial)"
    assert "Only the first" in bar.text
    assert bar.again_button.text() == "Count all"


@pytest.mark.slow
@pytest.mark.expects_log
@pytest.mark.skipif(os.name != "posix", reason="elsewhere no signal ends a process")
def test_a_killed_counting_is_reported_and_offered_again(studio: Studio, large: Path) -> None:
    before = psutil.Process().children()
    begin_counting(studio, large)
    preview = studio.window.corpus_pane.files_view.preview.task.child
    counting = [child for child in psutil.Process().children() if child not in before]
    next(child for child in counting if preview is None or child.pid != preview.pid).kill()
    bar = studio.window.corpus_pane.counting_bar
    studio.wait(lambda: "SIGKILL" in bar.text, 10_000)
    bar.again_button.click()
    assert studio.window.session.counting.is_running


def test_progress_is_reported_in_true_numbers() -> None:
    progress = CountingProgress(312_000_000, 1_000_000_000, 0, 1, 4_100_000, 31.0, 260_000_000)
    words = progress_words(progress).replace("\u00a0", " ")
    assert words == "312 MB of 1.0 GB · 4.1 million words · 31 s left · 260 MB of memory"
    words = progress_words(CountingProgress(2000, 9000, 1, 2, 1)).replace("\u00a0", " ")
    assert words == "2 kB of 9 kB · 1 of 2 files · 1 word"


def test_parts_of_a_file_come_one_after_the_other(qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("".join(f"line {number}\n" for number in range(100_000)), encoding="utf-8")
    view = PreviewView()
    qtbot.addWidget(view)
    view.show_file(CorpusFile(str(path)))
    qtbot.waitUntil(lambda: view.text.startswith("line 0\n"), timeout=20_000)
    number = view.text.count("\n")
    view.later_button.click()
    qtbot.waitUntil(lambda: view.text.startswith(f"line {number}\n"), timeout=20_000)
    view.show_file(CorpusFile(str(tmp_path / "gone")))
    qtbot.waitUntil(lambda: "does not exist" in view._text.placeholderText(), timeout=20_000)
    view.show_file(CorpusFile(str(path)))
    qtbot.waitUntil(lambda: view.text.startswith("line 0\n"), timeout=20_000)
    view.task.close()


def test_the_preview_is_copied_exactly(qtbot: QtBot) -> None:
    text, view = PreviewText(), "a\r\nb\rc\u2029\U0001f917\ufeffd" + "x" * 20_000
    qtbot.addWidget(text)
    text.show_text(view)
    text.selectAll()
    text.copy()
    assert QGuiApplication.clipboard().text() == view
