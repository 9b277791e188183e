"""The line at the cursor: raw, normalized, words and symbols, readable whatever it holds."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.ui.panes.corpus.corpus_pane import LineView, beginning_near, shown_symbols
from wordpiece_studio.ui.widgets.token_text import line_text

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.ui.conftest import Studio
    from wordpiece_studio.ui.widgets.theme import Theme

CASED = Pipeline(resolve_normalizer("bert-cased"), resolve_pre_tokenizer("bert"))
UNCASED = Pipeline(resolve_normalizer("bert-uncased"), resolve_pre_tokenizer("bert"))
ROWS = ("raw", "normalized", "words", "symbols")


@pytest.fixture
def view(qtbot: QtBot, theme: Theme) -> LineView:
    view = LineView(theme)
    qtbot.addWidget(view)
    view.resize(1200, 160)
    view.show()
    return view


def shown(view: LineView) -> list[str]:
    return [view._labels[row].text() for row in ROWS]


@pytest.mark.parametrize(
    ("line", "words", "symbols"),
    [
        ("The niño", "the · nino", "t ##h ##e"),
        ("a我们b", "a · 我 · 们 · b", "a"),
        ("\u1112\u1161\u11ab!", "\u1112\u1161\u11ab · !", "\u1112 ##\u1161 ##\u11ab"),
        ("👩\u200d👧 x", "👩👧 · x", "👩 ##👧"),
        ("", "", ""),
        (" \t\xa0", "", ""),
    ],
)
def test_all_four_stages(view: LineView, line: str, words: str, symbols: str) -> None:
    view.show_line(3, line, 0, UNCASED)
    assert view.texts["raw"] == line
    assert view.texts["normalized"] == UNCASED.normalizer.normalize(line)
    assert view.texts["words"] == words
    assert view.texts["symbols"] == symbols


def test_invisible_characters_are_spelled_out(view: LineView) -> None:
    view.show_line(1, "a\tb\xa0c\u200bd\u202ee\u0301", 0, CASED)
    raw, normalized, words, symbols = shown(view)
    assert raw == "a⟨tab⟩b⟨nbsp⟩c⟨U+200B⟩d⟨U+202E⟩e\u0301"
    assert normalized == "a b cde\u0301"
    assert "a · b · " in words
    assert "##\u25cc\u0301" in symbols  # a mark alone stands on a dotted circle


def test_words_and_symbols_stand_from_left_to_right_in_every_script(view: LineView) -> None:
    view.show_line(1, "مرحبا hello", 0, CASED)
    _, _, words, symbols = shown(view)
    assert words == "\u200e\u2068مرحبا\u2069 · hello"
    assert symbols.startswith("\u200e\u2068مرحبا\u2069 → \u2066م\u2069 \u2066##ر\u2069")
    assert view.texts["words"] == "مرحبا · hello"  # what is said stays what it is


def test_the_symbols_are_those_of_the_settings(view: LineView) -> None:
    byte_pairs = TrainingConfig(continuing_subword_prefix="", end_of_word_suffix="</w>")
    view.show_line(1, "low", 0, CASED, byte_pairs)
    assert view.texts["symbols"] == "l o w </w>"
    view.show_line(1, "low", 0, CASED, replace(byte_pairs, end_of_word="attached", alphabet_limit=1))
    assert view.texts["symbols"] == "l o w</w>"


def test_the_word_before_its_symbols_gives_way_where_there_is_no_room(view: LineView) -> None:
    view.show_line(1, "tokenization", 0, CASED)
    assert shown(view)[3].startswith("tokenization → t ##o")
    view.resize(230, 160)
    assert shown(view)[3].startswith("t ##o")


@pytest.mark.parametrize("column", [0, 5, 60_000, 149_990, 150_000])
def test_a_very_long_line_is_shown_round_the_cursor_and_soon(view: LineView, column: int) -> None:
    line = "".join(f"word{number:06}" + " " * (number % 3 == 0) for number in range(15_000))
    began = time.process_time()
    view.show_line(1, line, min(column, len(line)), CASED)
    assert time.process_time() - began < 2
    assert all(len(view.texts[row]) <= 4000 for row in ROWS)
    if column == 60_000:
        word = view.texts["symbols"].replace(" ##", "")
        assert word[:12] in line[59_000:61_000]
        assert word[:4] in shown(view)[0]


def test_one_endless_word_is_cut(view: LineView) -> None:
    view.show_line(1, "x" * 100_000, 50_000, CASED)
    assert len(view.texts["symbols"].split()) <= 300


def test_markup_is_shown_and_not_obeyed(view: LineView) -> None:
    view.show_line(1, "<b>bold</b> &amp;", 5, CASED)
    assert shown(view)[0] == "<b>bold</b> &amp;"


def test_the_word_under_the_cursor_follows_it(studio: Studio) -> None:
    window = studio.window
    view, editor = window.corpus_pane.line_view, window.corpus_pane.editor
    studio.window.session.document.edit(0, 0, "über\xa0näive x\n")
    editor.select(7)
    studio.wait(lambda: view.texts["symbols"] == "n ##ä ##i ##v ##e")
    assert "⟨nbsp⟩" in view._labels["raw"].text()


def test_where_a_line_is_shown_from() -> None:
    assert beginning_near("short line", 6) == "short line"
    assert beginning_near("a" * 30 + "tail", 30) == "… " + "a" * 8 + "tail"
    assert line_text("plain") == "plain"
    assert shown_symbols("ab", ["a", "##b"]) == ("ab → a ##b", "a ##b")
