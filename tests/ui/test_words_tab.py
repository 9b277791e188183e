"""The words and their splits in the window: tabs, clicks, keys, search, and the selection both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QMessageBox, QPushButton

from wordpiece_studio.session.words_table import WordColumn
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.panes.corpus.corpus_pane import CorpusTab

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.conftest import Studio
    from wordpiece_studio.ui.panes.corpus.words_tab import WordsTab


@pytest.fixture
def words(studio: Studio) -> WordsTab:
    """The words of the hug sample after three merges."""
    studio.window.corpus_controller.load_sample("hug.txt")
    studio.wait(lambda: studio.window.model.merge_count == 9, 30_000)
    click_tab(studio, CorpusTab.WORDS)
    studio.window.model.seek(3)
    studio.window.model.set_after(True)
    studio.window.model.set_text_order(False)
    words = studio.window.corpus_pane.words_tab
    studio.wait(lambda: words.table.rowCount() == 5 and not words.is_stale, 30_000)
    return words


def click_tab(studio: Studio, tab: CorpusTab) -> None:
    tabs = studio.window.corpus_pane.tabs
    studio.qtbot.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=tabs.tabRect(tab).center())


def shown(words: WordsTab) -> list[str]:
    return [words.table.index(row, WordColumn.WORD).data() for row in range(words.table.rowCount())]


def click(studio: Studio, words: WordsTab, row: int, column: WordColumn, x: int = 8) -> None:
    cell = words.view.visualRect(words.table.index(row, column))
    place = QPoint(cell.left() + x, cell.center().y())
    studio.qtbot.mouseClick(words.view.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_each_face_shows_its_part(studio: Studio, words: WordsTab) -> None:
    pane = studio.window.corpus_pane
    assert words.isVisible()
    assert not pane.editor.isVisible()
    assert not pane.files_view.isVisible()
    click_tab(studio, CorpusTab.FILES)  # the corpus is a text
    offers = [button.text().replace("&", "") for button in pane.files_view.empty.findChildren(QPushButton)]
    assert (pane.files_view.empty.isVisible(), offers) == (True, ["Add files…", "Add folder…"])
    assert "They take the place of the text." in pane.files_view.empty.findChild(QLabel).text()
    click_tab(studio, CorpusTab.TEXT)
    assert pane.editor.isVisible()
    assert not words.isVisible()


def test_words_stay_in_front_when_files_are_opened(studio: Studio, words: WordsTab) -> None:
    pane = studio.window.corpus_pane
    studio.window.session.document.take_files()
    assert pane.tab is CorpusTab.WORDS
    pane.show_tab(CorpusTab.TEXT)  # the corpus is files
    assert pane.tab is CorpusTab.FILES
    pane.show_tab(CorpusTab.WORDS)
    click_tab(studio, CorpusTab.FILES)
    assert pane.files_view.isVisible()
    studio.window.corpus_controller.load_sample("hug.txt")
    assert pane.tab is CorpusTab.TEXT


def test_clicks_and_keys_select_tokens_and_words(studio: Studio, words: WordsTab) -> None:
    assert shown(words) == ["hugs", "pun", "hug", "pug", "bun"]
    click(studio, words, 1, WordColumn.SPLIT)
    assert studio.window.model.selection == Selection("token", text="p")
    click(studio, words, 2, WordColumn.WORD)
    assert studio.window.model.selection == Selection("word", text="hug")
    click(studio, words, 3, WordColumn.SPLIT, words.view.columnWidth(WordColumn.SPLIT) - 3)
    assert studio.window.model.selection == Selection("word", text="pug")
    click(studio, words, 0, WordColumn.WORD)
    studio.qtbot.keyClick(words.view, Qt.Key.Key_Down)
    assert studio.window.model.selection == Selection("word", text="pun")
    studio.qtbot.keyClick(words.view, Qt.Key.Key_End)
    assert studio.window.model.selection == Selection("word", text="bun")
    studio.qtbot.keyClick(words.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "bun\t4\tb ##u ##n\n"
    index = words.table.index(1, WordColumn.SPLIT)
    cell = words.view.visualRect(index)
    places = words.view.delegate.places
    assert [item.text for _, item in places(cell, index)] == ["p", "##u", "##n"]
    cell.setWidth(60)
    assert [item.text for _, item in places(cell, index)] == ["p", "…"]


def test_the_selection_of_the_window_is_marked_and_a_click_on_the_header_sorts(studio: Studio, words: WordsTab) -> None:
    studio.window.model.set_selection(Selection("word", text="pug"))
    studio.wait(lambda: words.view.selected_row == 3)
    studio.window.model.seek(6)  # changes bun, which goes first
    studio.wait(lambda: not words.is_stale)
    assert shown(words)[words.view.selected_row] == "pug"
    studio.window.model.set_selection(Selection("token", text="##u"))
    studio.wait(lambda: words.view.selected_row == -1)
    studio.window.model.seek(3)
    studio.wait(lambda: not words.is_stale)
    header = words.view.horizontalHeader()
    place = QPoint(header.sectionViewportPosition(WordColumn.WORD) + 10, header.height() // 2)
    studio.qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)
    studio.wait(lambda: shown(words)[1:] == sorted(shown(words)[1:]))
    assert shown(words)[0] == "hugs"


def test_only_words_with_the_selected_token(studio: Studio, words: WordsTab) -> None:
    assert not words.only.isEnabled()
    studio.window.model.set_selection(Selection("pair", "hu", "##gs"))
    studio.wait(words.only.isEnabled)
    assert words.only.text() == "Contains hugs"
    words.only.click()
    assert shown(words) == ["hugs"]
    studio.window.model.set_selection(Selection("token", text="##n"))
    studio.wait(lambda: shown(words) == ["pun", "bun"])
    studio.window.model.seek(9)
    studio.wait(lambda: shown(words) == [])
    assert not words.view.isVisible()  # a sentence says why
    words.only.click()
    studio.wait(lambda: len(shown(words)) == 5)


def test_find_searches_the_words(studio: Studio, words: WordsTab) -> None:
    studio.window.actions_.find.trigger()
    field = studio.window.focusWidget()
    studio.qtbot.keyClicks(field, "ug")
    studio.wait(lambda: shown(words) == ["hugs", "hug", "pug"])
    studio.qtbot.keyClick(field, Qt.Key.Key_Escape)
    studio.wait(lambda: len(shown(words)) == 5)
    click_tab(studio, CorpusTab.TEXT)
    studio.window.actions_.find.trigger()
    assert studio.window.corpus_pane.find_bar.isVisible()


def counts(studio: Studio) -> dict[str, int]:
    known = studio.window.session.counting.counts
    return {} if known is None else dict(known.items())


def type_count(studio: Studio, text: str) -> None:
    studio.window.corpus_pane.words_tab.focus_search()
    studio.qtbot.keyClicks(studio.window.focusWidget(), text)
    studio.qtbot.keyClick(studio.window.focusWidget(), Qt.Key.Key_Return)


def test_a_typed_count_makes_the_text_words_with_counts_and_is_undone(studio: Studio, words: WordsTab) -> None:
    document = studio.window.session.document
    before = document.text
    type_count(studio, "mug 7")
    studio.wait(lambda: counts(studio) == {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5, "mug": 7}, 30_000)
    assert document.text.startswith("word\tcount\n")
    studio.wait(lambda: "mug" in shown(words), 30_000)
    type_count(studio, "pun 1")
    type_count(studio, "hugs 0")
    studio.wait(lambda: counts(studio) == {"hug": 10, "pug": 5, "pun": 1, "bun": 4, "mug": 7}, 30_000)
    studio.wait(lambda: sorted(shown(words)) == ["bun", "hug", "mug", "pug", "pun"], 30_000)
    for _ in range(3):
        studio.qtbot.keyClick(studio.window.focusWidget(), Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert document.text == before
    studio.qtbot.keyClick(studio.window.focusWidget(), Qt.Key.Key_Y, Qt.KeyboardModifier.ControlModifier)
    studio.wait(lambda: counts(studio).get("mug") == 7, 30_000)


def test_a_count_is_changed_with_the_mouse(studio: Studio, words: WordsTab) -> None:
    cell = words.view.visualRect(words.table.index(2, WordColumn.COUNT)).center()
    studio.qtbot.mouseClick(words.view.viewport(), Qt.MouseButton.LeftButton, pos=cell)
    studio.qtbot.mouseDClick(words.view.viewport(), Qt.MouseButton.LeftButton, pos=cell)
    field = studio.window.focusWidget()
    assert (field.text(), field.selectedText()) == ("hug 10", "10")
    studio.wait(lambda: shown(words) == ["hugs", "hug"])
    assert not words.only.isVisible()
    studio.qtbot.keyClicks(field, "0")
    assert words.set_button.text() == "Remove"
    studio.qtbot.mouseClick(words.set_button, Qt.MouseButton.LeftButton)
    studio.wait(lambda: counts(studio) == {"pug": 5, "pun": 12, "bun": 4, "hugs": 5}, 30_000)
    assert not words.set_button.isVisible()
    assert words.only.isVisible()


def test_words_of_files_are_not_changed(studio: Studio, words: WordsTab, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("hug\t10\npug\t5\n")
    studio.open(tmp_path / "a.tsv")
    studio.wait(lambda: counts(studio) == {"hug": 10, "pug": 5}, 30_000)
    type_count(studio, "mug 7")
    assert "come from files" in studio.box().text()
    studio.answer(QMessageBox.StandardButton.Ok)
    assert counts(studio) == {"hug": 10, "pug": 5}


def test_before_a_training_the_words_counted_are_shown(empty_studio: Studio) -> None:
    window = empty_studio.window
    window.actions_.train_as_you_type.trigger()  # off
    window.resize(1440, 900)
    with empty_studio.qtbot.waitActive(window):
        window.show()
    click_tab(empty_studio, CorpusTab.WORDS)
    words = window.corpus_pane.words_tab
    empty_studio.wait(lambda: words.empty.text.startswith("There are no words yet"), 30_000)
    type_count(empty_studio, "hug 10")
    empty_studio.wait(lambda: shown(words) == ["hug"], 30_000)
    assert words.empty.text == ""
    assert words.table.index(0, WordColumn.SPLIT).data() == "h ##u ##g"
    window.actions_.train.trigger()
    empty_studio.wait_finished()
    empty_studio.wait(lambda: words.table.source is not None and words.table.source.history is window.model.history)
