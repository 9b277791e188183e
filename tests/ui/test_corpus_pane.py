"""The corpus pane: the editor is a view of the document, the line as the trainer reads it, finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QMessageBox

from tests.ui.drops import drop, hovering
from wordpiece_studio.session.document import TextFile
from wordpiece_studio.storage.project.project_file import save_project
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer
from wordpiece_studio.ui.panes.corpus.corpus_editor import find_places, next_place, previous_place
from wordpiece_studio.ui.panes.corpus.corpus_pane import CorpusTab, LineView
from wordpiece_studio.ui.panes.corpus.reading import EncodingDialog
from wordpiece_studio.ui.widgets.token_text import jamo_apart

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from tests.ui.conftest import Studio
    from wordpiece_studio.ui.widgets.theme import Theme


def type_into_editor(studio: Studio, text: str) -> None:
    studio.qtbot.keyClicks(studio.window.corpus_pane.editor, text)


def place_cursor(studio: Studio, position: int) -> None:
    studio.window.corpus_pane.editor.select(position)


def shown(studio: Studio) -> str:
    editor = studio.window.corpus_pane.editor
    return editor.view_part(0, editor.document().characterCount() - 1)


# -- the editor


def test_typing_reaches_the_document_and_can_be_undone(studio: Studio) -> None:
    before = studio.window.session.document.text
    place_cursor(studio, 0)
    type_into_editor(studio, "hug")
    assert studio.window.session.document.text == "hug" + before
    studio.qtbot.keyClick(studio.window.corpus_pane.editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert studio.window.session.document.text == before
    assert shown(studio) == before
    studio.qtbot.keyClick(
        studio.window.corpus_pane.editor, Qt.Key.Key_Z,
        Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier,
    )  # fmt: skip
    assert studio.window.session.document.text == "hug" + before


def test_the_menu_undoes_too_and_editor_and_document_stay_the_same_through_edits(studio: Studio) -> None:
    studio.set_text("hug")
    assert studio.window.actions_.undo.isEnabled()
    studio.window.actions_.undo.trigger()
    assert studio.window.session.document.text.startswith("This is")
    for text in ("one\ntwo\n", "\U0001f917a\U0001f917", "a\u00a0b\u2028c", "\u0915\u094d\u0937 e\u0301"):
        studio.set_text(text)
        editor, document = studio.window.corpus_pane.editor, studio.window.session.document
        editor.moveCursor(QTextCursor.MoveOperation.End)
        type_into_editor(studio, "xy")
        studio.qtbot.keyClick(editor, Qt.Key.Key_Return)
        studio.qtbot.keyClick(editor, Qt.Key.Key_Backspace)
        studio.qtbot.keyClick(editor, Qt.Key.Key_Backspace)
        assert document.text == text + "x"
        assert shown(studio) == document.view_text
        editor.selectAll()
        studio.qtbot.keyClick(editor, Qt.Key.Key_Delete)
        assert document.text == shown(studio) == ""


def test_windows_line_ends_survive_an_edit(studio: Studio, tmp_path: Path) -> None:
    path = tmp_path / "crlf.txt"
    path.write_bytes(b"one\r\ntwo\r\n")
    studio.open(path)
    place_cursor(studio, 3)
    type_into_editor(studio, "!")
    studio.qtbot.keyClick(studio.window.corpus_pane.editor, Qt.Key.Key_Return)
    assert studio.window.session.document.text == "one!\r\n\r\ntwo\r\n"
    studio.window.session.document.note_saved()


def test_a_pasted_line_of_5_mb_becomes_a_file_and_is_undone(studio: Studio) -> None:
    window, pane = studio.window, studio.window.corpus_pane
    before = window.session.document.text
    data = QMimeData()
    data.setText("y" * 5_000_000)
    pane.editor.selectAll()
    pane.editor.insertFromMimeData(data)
    banner = window.notices.training
    assert (pane.tab, pane.files_view.list.isVisible(), window.session.document.is_kept) == (
        CorpusTab.FILES,
        True,
        True,
    )
    assert len(window.session.document.text) == 5_000_000
    assert banner.text == (
        "The text is too long to edit (over 2 MB, 100,000 lines, or 10,000 characters in a line), so it is a file with "
        "a preview."
    )
    studio.wait(lambda: pane.files_view.preview.text.startswith("yyy"), 30_000)
    pane.files_view._remove()
    assert len(window.session.document.files.rows) == 1
    assert not pane.files_view.form.isVisible()
    window.actions_.undo.trigger()
    assert window.session.document.text == shown(studio) == before
    assert (pane.tab, pane.editor.isReadOnly(), banner.text) == (CorpusTab.TEXT, False, "")


def test_words_of_a_kept_text_are_counted(studio: Studio) -> None:
    document = studio.window.session.document
    document.set_text("hug pug hug\n" * 100_001)
    assert document.is_kept
    studio.wait(lambda: studio.window.session.counting.counts is not None, 30_000)
    (row,) = document.files.rows
    assert (row.statistics.words, row.statistics.distinct_words, row.statistics.lines) == (300_003, 2, 100_001)
    document.note_saved()


def test_a_kept_text_is_in_its_project(studio: Studio, tmp_path: Path) -> None:
    window, path = studio.window, tmp_path / "long.wpstudio"
    text = "\ufeffhug\rpug \ud83e\r\n" + "x" * 10_001
    window.session.document.set_text(text)
    save_project(path, window.project.capture())
    window.corpus_controller.load_sample("hug.txt")
    studio.open(path)
    document = window.session.document
    studio.wait(lambda: document.is_kept, 30_000)
    assert document.text == text
    assert window.corpus_pane.tab is CorpusTab.FILES
    assert window.notices.training.text.endswith("so it is a file with a preview.")


def test_typing_on_in_a_line_that_gets_too_long_loses_nothing(studio: Studio) -> None:
    studio.set_text("z" * 9_999)
    studio.window.corpus_pane.editor.moveCursor(QTextCursor.MoveOperation.End)
    type_into_editor(studio, "ab")
    studio.qtbot.wait(20)
    assert studio.window.session.document.text == "z" * 9_999 + "ab"
    assert studio.window.session.document.is_kept


def test_a_drop_says_what_it_did_and_is_undone(studio: Studio, tmp_path: Path) -> None:
    window, path = studio.window, tmp_path / "dropped.txt"
    path.write_text("dropped", encoding="utf-8")
    text, tokens = window.session.document.text, window.model.history.vocabulary(25).tokens
    pane = window.corpus_pane
    pane.tabs.setCurrentIndex(CorpusTab.FILES)
    with hovering(pane.files_view, path):
        assert pane.files_view.drops.light.isVisible()
    assert not pane.files_view.drops.light.isVisible()
    drop(pane.files_view, path)
    studio.wait_opened()
    assert [file.path for file in window.session.document.files.files] == [str(path)]
    banner = window.notices.training
    assert (banner.text, banner.button.text()) == ("The corpus is now dropped.txt.", "Undo")
    drop(pane.files_view, path)
    studio.wait_opened()
    assert banner.text == "1 file was added to the corpus."
    window.session.document.files.remove([0])
    assert (banner.text, banner.act) == ("", None)  # to undo the drop would bring back the file
    window.actions_.undo.trigger()
    drop(pane.files_view, path)
    studio.wait_opened()
    banner.close_button.click()
    assert window.actions_.last_messages.isEnabled()
    window.session.document.files.remove([0])
    assert not window.notices.can_come_back
    window.actions_.undo.trigger()
    window.actions_.undo.trigger()
    window.actions_.undo.trigger()
    drop(pane.files_view, path)
    studio.wait_opened()
    banner.button.click()
    assert len(window.session.document.files.files) == 1
    drop(pane.editor.viewport(), path)
    studio.wait_opened()
    assert (window.session.document.text, banner.text) == ("dropped", "The corpus is now dropped.txt.")
    assert window.model.history is None
    banner.button.click()
    assert window.session.document.is_files
    banner.clear()
    window.corpus_controller.load_sample("course-en.txt")
    studio.wait(lambda: window.model.merge_count == 25)
    studio.wait_finished()
    window.model.seek(3)
    drop(window, path)
    studio.wait_opened()
    banner.button.click()
    assert window.session.document.text == text
    assert (window.model.step, window.model.history.vocabulary(25).tokens) == (3, tokens)
    assert not window.project_controller.must_ask()


@pytest.mark.parametrize("name", ["a.txt", "a.wpstudio"])
def test_a_drop_that_cannot_be_read_is_never_undone(studio: Studio, tmp_path: Path, name: str) -> None:
    window, path, project = studio.window, tmp_path / name, tmp_path / "other.wpstudio"
    save_project(project, window.project.capture())
    path.write_bytes(b"caf\xe9 \xff\xfe")
    drop(window, path)
    studio.wait(lambda: window.findChild(EncodingDialog) or studio.has_box())
    if dialog := window.findChild(EncodingDialog):
        dialog.reject()
    else:
        studio.answer(QMessageBox.StandardButton.Ok)
    window.corpus_controller.open_paths([project])
    studio.wait(lambda: window.project.path == project)
    assert window.notices.training.text == ""


def test_a_drop_that_only_passes_leaves_no_trace_and_a_dropped_file_is_opened(studio: Studio, tmp_path: Path) -> None:
    with hovering(studio.window, tmp_path):
        assert studio.window.drops.light.isVisible()
        assert studio.window.drops.light.text() == "Drop to open"
    assert not studio.window.drops.light.isVisible()
    assert studio.window.notices.training.text == ""
    path = tmp_path / "dropped.txt"
    path.write_text("dropped", encoding="utf-8")
    drop(studio.window.corpus_pane.editor.viewport(), path)
    studio.wait_opened()
    assert studio.window.session.document.text == "dropped"


# -- the line as the trainer reads it


def test_the_line_at_the_cursor_is_shown_and_an_invalid_normalizer_is_refused(studio: Studio) -> None:
    place_cursor(studio, studio.window.session.document.text.index("chapter") + 3)
    view = studio.window.corpus_pane.line_view
    studio.wait(lambda: view.texts["raw"] == "This chapter is about tokenization.")
    assert view.texts["words"] == "This · chapter · is · about · tokenization · ."
    assert view.texts["symbols"] == "c ##h ##a ##p ##t ##e ##r"
    studio.window.corpus_pane.figures.choose("bert-upside-down", "bert")
    assert "bert-upside-down" in studio.box().text()
    studio.answer(QMessageBox.StandardButton.Ok)


def test_what_berts_preprocessing_does_to_korean_is_seen(qtbot: QtBot, theme: Theme) -> None:
    view = LineView(theme)
    qtbot.addWidget(view)
    uncased = Pipeline(resolve_normalizer("bert-uncased"), resolve_pre_tokenizer("bert"))
    view.show_line(1, "안녕 Niño", 0, uncased)
    assert len(view.texts["symbols"].split()) == 6
    assert view.texts["normalized"].endswith("nino")


@pytest.mark.parametrize("is_next", [False, True])
def test_the_heading_says_who_reads_the_line(qtbot: QtBot, theme: Theme, is_next: bool) -> None:
    view, reader = LineView(theme), "next run" if is_next else "trainer"
    qtbot.addWidget(view)
    cased = Pipeline(resolve_normalizer("bert-cased"), resolve_pre_tokenizer("bert"))
    for number, line in ((None, "This line"), (1200, "Line 1,200")):
        view.show_line(number, "hug", 0, cased, is_next=is_next)
        assert view.heading.text() == f"{line}, as the {reader} reads it"


def test_a_very_long_line_is_read_round_the_cursor(qtbot: QtBot, theme: Theme) -> None:
    view = LineView(theme)
    qtbot.addWidget(view)
    cased = Pipeline(resolve_normalizer("bert-cased"), resolve_pre_tokenizer("bert"))
    view.show_line(1, "a " * 500_000 + "hug", 1_000_003, cased)
    assert view.texts["symbols"] == "h ##u ##g"


def test_another_normalizer_counts_anew(studio: Studio) -> None:
    figures = studio.window.corpus_pane.figures
    figures.choose("bert-uncased", "bert")
    studio.wait(lambda: studio.window.session.counting.counts is not None)
    assert studio.window.session.counting.counts.normalizer.name == "bert-uncased"
    assert "this" in studio.window.session.counting.counts.words
    studio.wait(lambda: studio.window.model.counts is studio.window.session.counting.counts)  # as a preview
    assert studio.window.bar.progress_label.forms[0].startswith("70 tokens")


# -- finding


def test_places_are_in_units_of_the_editor() -> None:
    assert find_places("\U0001f917 Hug hug", "hug", False) == [(3, 6), (7, 10)]
    assert find_places("Hug hug", "hug", True) == [(4, 7)]
    assert find_places("a.b axb", "a.b", False) == [(0, 3)]
    assert find_places("abc", "", False) == []


def selected(studio: Studio) -> tuple[int, str]:
    cursor = studio.window.corpus_pane.editor.textCursor()
    return cursor.selectionStart(), cursor.selectedText()


def test_find_next_goes_by_the_text_as_it_is_now(studio: Studio) -> None:
    for text in ("a hug", "x" * 30 + " a hug, hug", "\U0001f917\ufeff\r\nhug"):
        studio.set_text("hug " * 50)
        pane = studio.window.corpus_pane
        pane.open_find_bar()
        pane.find_bar._field.setText("hug")
        studio.window.actions_.find_previous.trigger()
        assert selected(studio) == (196, "hug")
        studio.window.session.document.set_text(text)
        place_cursor(studio, 0)
        for find in (studio.window.actions_.find_next, studio.window.actions_.find_previous):
            find.trigger()
            assert selected(studio)[1] == "hug"
        studio.window.session.document.set_text("none")
        studio.window.actions_.find_next.trigger()
        assert pane.find_bar.count_label.text() == "No matches"


def test_two_lines_are_found_whatever_ends_them() -> None:
    assert find_places("a\nb", "a\r\nb", False) == [(0, 3)]


def test_finding_wraps_round() -> None:
    places = [(0, 2), (5, 7)]
    assert [next_place(places, position) for position in (0, 1, 6)] == [0, 1, 0]
    assert [previous_place(places, position) for position in (0, 5, 9)] == [1, 0, 1]


def test_find_goes_from_place_to_place_and_nothing_found_does_not_widen_the_pane(studio: Studio) -> None:
    pane = studio.window.corpus_pane
    before = pane.minimumSizeHint().width()
    pane.open_find_bar()
    pane.find_bar._field.setText("no such thing")
    assert pane.minimumSizeHint().width() <= max(before, pane.minimumWidth())
    place_cursor(studio, 0)
    studio.window.actions_.find.trigger()
    pane.find_bar._field.setText("toke")
    first = pane.editor.textCursor().selectionStart()
    studio.window.actions_.find_next.trigger()
    assert pane.editor.textCursor().selectedText() == "toke"
    assert pane.editor.textCursor().selectionStart() > first
    studio.window.actions_.find_previous.trigger()
    assert pane.editor.textCursor().selectionStart() == first
    assert pane.find_bar.count_label.text() == "1 of 3"
    pane.find_bar._field.setText("nowhere")
    assert pane.find_bar.count_label.text() == "No matches"
    studio.window.session.document.take_text(TextFile("\ufeffhug\r\n\ufeffhug"), None)
    pane.editor.select(0, 4)
    pane.open_find_bar()
    assert pane.find_bar.sought == "\ufeffhug"
    assert pane.find_bar.count_label.text() == "1 of 2"
    pane.editor.selectAll()
    pane.open_find_bar()
    assert pane.find_bar.sought == "\ufeffhug"


def test_jamo_are_seen_apart_and_symbols_begin_with_a_word_that_has_some(qtbot: QtBot, theme: Theme) -> None:
    view = LineView(theme)
    qtbot.addWidget(view)
    view.resize(600, 200)
    pipeline = Pipeline(resolve_normalizer("bert-uncased"), resolve_pre_tokenizer("bert"))
    view.show_line(1, "“학교", 0, pipeline)
    assert view.texts["symbols"].startswith("\u1112 ##\u1161")
    assert jamo_apart("\u1112\u1161\u11a8") == "\u1112\u2009\u1161\u2009\u11a8"


def test_another_corpus_is_read_from_its_beginning_and_an_empty_one_shows_no_line(
    studio: Studio,
) -> None:
    place_cursor(studio, 30)
    studio.window.corpus_controller.load_sample("hug.txt")
    assert studio.window.corpus_pane.editor.textCursor().position() == 0
    editor = studio.window.corpus_pane.editor
    studio.window.session.document.set_text("")
    assert not editor.extraSelections()
    studio.window.session.document.set_text("a")
    assert editor.extraSelections()
