"""Where compared runs differ, in the window: words, merges, vocabularies; against the same by the library."""

from __future__ import annotations

import csv
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QPushButton

import wordpiece_studio as wps
from tests.ui.test_libraries import trained
from tests.ui.test_run_strip import train
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.live_text import LiveText
from wordpiece_studio.session.runs import RunDivergence, step_of_size
from wordpiece_studio.storage.project.contents import Run
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.tokenizer.bpe_tokenizer import TokenizerInWindow
from wordpiece_studio.tokenizer.encoding import UnknownToken
from wordpiece_studio.ui.panes.comparison import compared_tables
from wordpiece_studio.ui.panes.comparison.compared_tables import _order_text, text_rows
from wordpiece_studio.ui.panes.comparison.comparison_pane import Tab
from wordpiece_studio.ui.panes.timeline.timeline_pane import divergences_text

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.modeltest import ModelTester

    from tests.ui.conftest import Studio

_LEFT = Qt.MouseButton.LeftButton
_CONTROL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def two(studio: Studio) -> Studio:
    """A window that compares A, by score, with B, by count, on the smallest sample; A is shown, at step 3."""
    window, runs = studio.window, studio.window.session.runs
    window.corpus_controller.load_sample("hug.txt")
    studio.wait(lambda: window.model.merge_count == 9, 30_000)
    runs.keep(runs.all[0])
    runs.close(runs.all[1])
    train(studio, "count")
    for run in runs.all:
        runs.set_compared(run, True)
    runs.show(runs.all[0])
    window.model.seek(3)
    return studio


def wait_for_words(studio: Studio, *steps: int) -> None:
    """Wait until the tab of words shows what the library says about the first two runs at these steps."""
    runs = studio.window.session.runs.all
    tokenizers = [run.tokenizer_at(step) for run, step in zip(runs, steps, strict=False)]
    found = wps.compare(*tokenizers, runs[0].counts).differences.words
    cells = [(each.word, each.count, [each.first, each.second]) for each in found]
    table = studio.window.comparison_pane.words
    studio.wait(lambda: list(table.rows.records) == cells and not table.search.is_running, 30_000)


def test_words_that_are_split_differently(two: Studio) -> None:
    window, runs = two.window, two.window.session.runs
    pane = window.comparison_pane
    words = pane.words
    QTest.keyClick(window, Qt.Key.Key_W, _CONTROL_SHIFT)
    wait_for_words(two, 3, 3)
    assert (pane.isVisible(), pane.tab) == (True, Tab.WORDS)
    assert words.said.text() == "5 of 5 distinct words are split differently: 100.00% of the text."
    assert "A at step 3 · the others" in pane.hints[0]
    assert [words.rows.title(at) for at in range(4)] == ["Word", "Count", "A", "B"]
    for column, token in ((2, "##u"), (3, "##un")):
        index = words.rows.index(0, column)
        rects = {item.text: rect for rect, item in words.table.delegate.places(words.table.visualRect(index), index)}
        two.qtbot.mouseClick(words.table.viewport(), _LEFT, pos=rects[token].center().toPoint())
        assert window.model.selection == Selection("token", text=token)
    pane.show_tab(Tab.TEXT)
    window.model.seek(7)
    two.wait(lambda: not pane.is_stale, 30_000)
    assert not words.search.request  # nothing is compared where nobody sees it
    pane.show_tab(Tab.WORDS)
    wait_for_words(two, 7, 7)

    runs.show(runs.all[1])
    window.model.seek(0)
    two.wait(lambda: words.said.text().startswith("0 of 5 distinct words are split differently"), 30_000)
    window.actions_.compare_step.trigger()  # a bookmark is compared like a run
    window.model.seek(5)
    two.wait(lambda: [words.rows.title(at) for at in range(2, words.rows.columnCount())] == ["A", "B", "B@0"], 30_000)
    assert words.rows.rowCount() > 0
    window.session.marks.bookmarks.set_compared(0, False)
    for run in runs.all:
        runs.set_compared(run, False)
    two.wait(lambda: "No runs are compared" in pane.empty.text)
    assert not window.actions_.word_differences.isEnabled()
    button = pane.empty.findChild(QPushButton)
    assert button.text() == "Compare all runs"
    button.click()
    wait_for_words(two, 5, 5)


def test_the_text_word_by_word(two: Studio, qtmodeltester: ModelTester) -> None:
    window, (first, second) = two.window, two.window.session.runs.all
    pane, table = window.comparison_pane, window.comparison_pane.text
    window.tokenization_pane.set_text("hugs x pun")
    pane.show_tab(Tab.SUMMARY)
    link = window.tokenization_pane._compare
    two.wait(lambda: not window.tokenization_pane.is_stale)
    two.qtbot.mouseClick(link, _LEFT)
    assert window.settings.values.layout == "compare"
    assert [name for name, panel in window.docks.panels.items() if panel.isVisible()] == ["comparison"]
    assert pane.tab is Tab.TEXT
    window.docks.fill("comparison")
    window.actions_.figures.trigger()
    assert (pane.tab, window.docks.filling) == (Tab.SUMMARY, "comparison")
    window.docks.fill("")
    pane.show_tab(Tab.TEXT)
    window.model.seek(5)
    two.wait(lambda: not pane.is_stale)
    qtmodeltester.check(table.rows)
    splits = [[run.tokenizer_at(5).encode(word).tokens for run in (first, second)] for word in ("hugs", "x", "pun")]
    assert [list(row.splits) for row in table.words] == splits
    assert all(isinstance(split[0], UnknownToken) for split in table.words[1].splits)
    alike = sum(one == other for one, other in splits)
    assert 0 < alike < 3
    assert table.said.text().startswith(f"{alike} of 3 words of the live text ")
    counts = [sum(len(split[at]) for split in splits) for at in (0, 1)]
    titles = [table.rows.title(at) for at in range(3)]
    assert titles == ["Word", *(f"{run} · {count} tokens" for run, count in zip("AB", counts, strict=True))]
    table.only.click()
    assert table.rows.rowCount() == 3 - alike
    table.only.click()

    table.table.setFocus()
    QTest.keyClick(table.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    rows = [[word, *map(" ".join, split)] for word, split in zip(("hugs", "x", "pun"), splits, strict=True)]
    copied = [line.split("\t") for line in QApplication.clipboard().text().splitlines()]
    assert copied == [titles, *rows]
    menu = table.table.findChild(QMenu)
    copy, export = menu.actions()
    menu.aboutToShow.emit()
    assert copy.isEnabled()  # all rows, as the key does
    table.table.selectRow(1)
    menu.aboutToShow.emit()
    copy.trigger()
    assert QApplication.clipboard().text().splitlines()[1:] == ["\t".join(rows[1])]
    two.wait(export.isEnabled)


def test_the_text_is_split_only_where_it_changes(two: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    window, pane = two.window, two.window.comparison_pane
    splits: list[int] = []

    def counted(texts: list[LiveText]) -> list[object]:
        splits.append(window.model.step)
        return text_rows(texts)

    monkeypatch.setattr(compared_tables, "text_rows", counted)
    window.tokenization_pane.set_text("hugs x pun")
    window.runs_controller.show_comparison(Tab.WORDS)
    for step in (4, 5, 6):
        window.model.seek(step)
        pane.refresh_now()
    assert splits == []
    pane.show_tab(Tab.TEXT)
    window.model.seek(7)
    for _ in range(2):
        pane.refresh_now()
    assert splits == [6, 7]


def test_what_is_one_word_for_one_run_and_two_for_another_is_one_row() -> None:
    tokens = [*"ab!", "##!", "##b", "ab", "[UNK]"]
    split, whole = (
        wps.Tokenizer(wps.Vocabulary(tokens), pre_tokenizer=pre_tokenizer)
        for pre_tokenizer in ("bert", "whitespace-split")
    )
    rows = text_rows([LiveText("ab! ab\n☃ a", each) for each in (split, whole)])
    assert [(row.word, row.splits, row.is_apart) for row in rows] == [
        ("ab!", [["ab", "!"], ["ab", "##!"]], False), ("ab", [["ab"], ["ab"]], False),
        ("☃", [["[UNK]"], ["[UNK]"]], False), ("a", [["a"], ["a"]], False),
    ]  # fmt: skip


def test_every_table_is_exported(two: Studio, tmp_path: Path) -> None:
    window, pane = two.window, two.window.comparison_pane
    for tab in Tab:
        window.runs_controller.show_comparison(tab)
        two.wait(lambda: pane.table is not None, 60_000)
        two.wait(lambda: not window.session.figures.is_running, 60_000)
        window.actions_.export_comparison.trigger()
        (dialog,) = (each for each in window.findChildren(QFileDialog) if each.isVisible())
        assert dialog.selectedFiles()[0].endswith(f"{pane.file_name}.csv")
        dialog.reject()
        window.export_controller.write_comparison(str(tmp_path / "a.csv"))
        with (tmp_path / "a.csv").open(encoding="utf-8-sig", newline="") as file:
            assert list(csv.reader(file)) == pane.lines() != []
        assert len(pane.lines()) == pane.table.rows.rowCount() + 1
        assert "" not in pane.lines()[0]
        if tab is Tab.VOCABULARIES:
            (found,) = window.comparison_pane.vocabularies.search.answer
            assert [line[1] for line in pane.lines()[1:6]] == [
                str(found.sizes[1]), str(found.shared), *(str(size - found.shared) for size in found.sizes),
                str(found.share),
            ]  # fmt: skip
        if tab is Tab.DIVERGENCES:
            assert [line[1] for line in pane.lines()[1:]] == ["1"]


def test_a_spreadsheet_executes_nothing_of_what_is_exported(two: Studio, tmp_path: Path) -> None:
    window, pane = two.window, two.window.comparison_pane
    window.tokenization_pane.set_text("=A1")
    window.runs_controller.show_comparison(Tab.TEXT)
    two.wait(lambda: pane.table is not None and not pane.is_stale, 30_000)
    pane.text.only.setChecked(False)
    window.export_controller.write_comparison(str(tmp_path / "a.csv"))
    written = (tmp_path / "a.csv").read_bytes()
    assert written.startswith(b"\xef\xbb\xbfWord,")
    assert written.splitlines()[1].startswith(b"'=,")


def test_one_run_alone_is_told_what_to_do(studio: Studio) -> None:
    window, pane = studio.window, studio.window.comparison_pane
    assert not window.tokenization_pane._compare.isVisible()
    window.actions_.choice("choose_layout", "compare").trigger()
    pane.show_tab(Tab.TEXT)
    assert pane.empty.text.endswith("train a second run (F5).")
    assert pane.table is None
    assert not window.actions_.export_comparison.isEnabled()


def test_where_runs_diverge(two: Studio) -> None:
    window, (first, second) = two.window, two.window.session.runs.all
    pane, plot, link = window.timeline_pane, window.timeline_pane.plot, window.timeline_pane.link
    divergence = wps.divergence(first.history, second.history)
    assert (divergence.step, divergence.first, divergence.second) == (1, ("##g", "##s"), ("##u", "##g"))
    text = "▼ A and B diverge at step 1: A merges ##g + ##s, B merges ##u + ##g"
    two.wait(lambda: link.isVisible() and link.text() == text, 30_000)
    assert [lane.diverges_at for lane in plot.lanes] == [None, 1]
    window.session.settings.choose(objective="score", min_frequency=5, vocab_size=20)
    train(two, "score")
    window.session.runs.set_compared(window.model.run, True)
    window.session.runs.show(first)
    later = wps.divergence(first.history, window.session.runs.all[2].history).step
    assert later > 1
    two.wait(lambda: link.text() == f"▼ A and B diverge at step 1 · ▼ A and C diverge at step {later}", 30_000)
    assert link.accessibleName().startswith(f"{text}\n▼ A and C diverge at step {later}")
    two.qtbot.mouseClick(link, _LEFT)
    assert window.comparison_pane.isVisible()
    assert window.comparison_pane.tab is Tab.DIVERGENCES
    window.actions_.choice("choose_layout", "teach").trigger()

    pane.hide()
    window.session.runs.show(second)
    assert not pane.divergences.request
    pane.show()
    two.wait(lambda: link.text().startswith("▼ B and A diverge at step 1 · ▼ B and C diverge at "), 30_000)
    for run in (first, second):
        window.session.runs.set_compared(run, False)
    two.wait(lambda: "B and C diverge" in link.text(), 30_000)
    window.session.runs.set_compared(window.session.runs.all[2], False)
    two.wait(lambda: not link.isVisible())
    assert not window.actions_.divergences.isEnabled()


def test_every_two_runs_diverge_somewhere_and_a_click_goes_there(two: Studio) -> None:
    window, (first, second) = two.window, two.window.session.runs.all
    train(two, "likelihood")
    third = window.model.run
    window.session.runs.set_compared(third, True)
    window.actions_.choice("choose_layout", "compare").trigger()
    QTest.keyClick(window, Qt.Key.Key_G, _CONTROL_SHIFT)
    pane = window.comparison_pane
    table = pane.divergences
    two.wait(lambda: table.rows.rowCount() == 3, 30_000)
    assert pane.tab is Tab.DIVERGENCES
    found = [wps.divergence(one.history, other.history) for one, other in combinations((first, second, third), 2)]
    assert [table.rows.index(row, 1).data() for row in range(3)] == [str(each.step) for each in found]
    lines = table.rows.records
    assert lines[0][0] == "A and B"
    assert lines[0][2:] == ("A merges ##g + ##s", "B merges ##u + ##g", "Go to step")
    cell = table.table.visualRect(table.rows.index(0, 4)).center()
    two.qtbot.mouseClick(table.table.viewport(), _LEFT, pos=cell)
    assert (window.model.run, window.model.step) == (first, 1)
    assert window.history_pane.isVisible()
    window.model.seek(0)
    QTest.keyClick(window, Qt.Key.Key_G, _CONTROL_SHIFT)
    two.wait(lambda: table.rows.rowCount() == 3, 30_000)
    table.table.setCurrentIndex(table.rows.index(0, 0))
    table.table.setFocus()
    QTest.keyClick(table.table, Qt.Key.Key_Return)
    assert window.model.step == 1
    table.forget()
    QTest.keyClick(table.table, Qt.Key.Key_Return)  # goes nowhere


@pytest.mark.parametrize("tab", [Tab.WORDS, Tab.VOCABULARIES, Tab.DIVERGENCES])
def test_a_table_is_empty_after_an_error_and_full_after_the_next_answer(
    two: Studio, tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, pane = two.window, two.window.comparison_pane
    window.runs_controller.show_comparison(tab)
    face = pane.faces[tab]
    two.wait(lambda: face.rows.rowCount() > 0 and not face.search.is_running, 30_000)
    rows = list(face.rows.records)

    def fail(*_request: object) -> None:
        raise StudioError("The library crashed", "Train again.")

    with monkeypatch.context() as patch:
        patch.setattr(face.search, "_work", fail)
        face.search.run(*face.search.request)
        two.wait(lambda: face.said.text().startswith("The library crashed"))
    assert face.rows.rowCount() == 0
    face.search.run(*face.search.request)
    two.wait(lambda: list(face.rows.records) == rows)
    pane.show_tab(Tab.SUMMARY)
    assert face.rows.rowCount() == 0


def test_words_are_compared_at_once_when_the_tab_is_opened_and_later_while_stepping(
    two: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, words = two.window, two.window.comparison_pane.words
    monkeypatch.setattr(compared_tables, "_FEW_WORDS", 0)
    monkeypatch.setattr(words.search, "_debounce_ms", 1_000_000)
    window.runs_controller.show_comparison(Tab.WORDS)
    wait_for_words(two, 3, 3)
    window.model.seek(7)
    two.wait(lambda: not window.comparison_pane.is_stale, 30_000)
    assert words.search.is_running
    assert words.search.request != words.search.answered


def test_words_found_first_are_shown_in_place_of_those_found_later_for_others(two: Studio) -> None:
    window, table = two.window, two.window.comparison_pane.words
    window.runs_controller.show_comparison(Tab.WORDS)
    wait_for_words(two, 3, 3)
    found = table.search.answer
    first = replace(found, rows=found.rows[:2])
    counts, *others = table.search.request
    table.search.request = (counts, *others)
    for part in (first, found):
        table._show(part)
    table.search.request = (counts, *others)  # an equal one at another time
    table._show(first)
    assert list(table.rows.records) == first.rows


@pytest.mark.slow
def test_the_window_rests_while_it_compares(two: Studio) -> None:
    window = two.window
    for tab in Tab:
        window.runs_controller.show_comparison(tab)
        two.wait(lambda: window.comparison_pane.table is not None, 30_000)
        two.wait(lambda: not window.session.figures.is_running, 60_000)
        for width in (1024, 1366):
            window.resize(width, 768)
            assert two.rests()


def test_unknown_merges_are_said_once() -> None:
    shown, *others = (Run(None, None, SimpleNamespace(has_steps=False), number=number) for number in range(3))
    found = [RunDivergence(shown, each, is_known=False) for each in others]
    assert divergences_text(found) == ("Merges of A not available",)


@pytest.mark.slow
def test_the_overlap_of_the_vocabularies(two: Studio, qtmodeltester: ModelTester) -> None:
    window, (first, second) = two.window, two.window.session.runs.all
    window.actions_.vocabulary_overlap.trigger()
    pane = window.comparison_pane
    overlap = pane.vocabularies
    model = overlap.rows
    qtmodeltester.check(model)

    def lines() -> list[list[str]]:
        return [
            [model.index(row, column).data() for column in range(model.columnCount())]
            for row in range(model.rowCount())
        ]

    for step in (3, 7):
        window.model.seek(step)
        found = wps.compare(first.tokenizer_at(step), second.tokenizer_at(step)).overlap
        (depth, share), sizes, shared = found.by_rank[-1], found.sizes, found.shared
        expected = [
            ["Tokens", str(sizes[1])],
            ["Tokens in both", str(shared)],
            ["Only in A", str(sizes[0] - shared)],
            ["Only in the other", str(sizes[1] - shared)],
            ["Share in both, all tokens", f"{found.share:.1%}"],
            [f"Share in both, first {depth}", f"{share:.1%}"],
        ]
        two.wait(lambda expected=expected: lines() == expected, 30_000)
        assert overlap.said.text() == f"A at step {step} has {sizes[0]} tokens. Compared with:"
    assert model.headerData(1, Qt.Orientation.Horizontal) == "B at step 7"
    pane.show_tab(Tab.TEXT)
    window.model.seek(2)
    two.wait(lambda: not pane.is_stale)
    assert not window.comparison_pane.vocabularies.search.request
    assert not overlap._note.text()
    pane.show_tab(Tab.VOCABULARIES)
    two.wait(lambda: overlap.said.text().startswith("A at step 2 "), 30_000)
    window.session.runs.set_compared(second, False)
    two.wait(lambda: pane.empty.text.startswith("No runs are compared."), 30_000)


@pytest.mark.slow
@pytest.mark.expects_log
def test_differences_from_a_run_of_another_library(two: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    window, runs = two.window, two.window.session.runs
    own = runs.all[0]
    for run in runs.all[1:]:
        runs.set_compared(run, False)
    for trainer in ("tokenizers-bpe", "sentencepiece-unigram"):
        window.session.settings.set_target_size(17)
        library_run = trained(two, trainer)
        runs.set_compared(library_run, True)
        runs.show(own)
        window.model.seek(7)
        at = step_of_size(library_run.history, own.history.vocabulary_size(7))[0]
        found = wps.compare(own.tokenizer_at(7), library_run.tokenizer_at(at), own.counts)
        cells = [(each.word, each.count, [each.first, each.second]) for each in found.differences.words]
        words, text = window.comparison_pane.words, window.comparison_pane.text
        window.actions_.word_differences.trigger()
        two.wait(lambda cells=cells, words=words: list(words.rows.records) == cells, 30_000)
        window.tokenization_pane.set_text(" ".join(own.counts.words))
        window.comparison_pane.show_tab(Tab.TEXT)
        apart = {each.word for each in found.differences.words}
        two.wait(lambda apart=apart, text=text: {row.word for row in text.words if row.is_apart} == apart, 30_000)
        runs.set_compared(library_run, False)
    runs.set_compared(library_run, True)
    window.docks.bring("timeline")
    two.wait(lambda: window.timeline_pane.link.text() == f"Merges of {library_run.letter} not available", 30_000)
    assert not window.timeline_pane.link.isEnabled()

    def fail(_words: object) -> None:
        raise StudioError("The library crashed", "Train again.")

    monkeypatch.setattr(library_run.library, "cut", fail)
    window.model.seek(8)
    window.actions_.word_differences.trigger()
    two.wait(lambda: window.comparison_pane.words.said.text().startswith("The library crashed"), 30_000)


def test_the_order_is_told_of_every_word_as_it_is_normalized() -> None:
    counts = wps.WordCounts.from_pairs({"low": 2, "lower": 1}, "lowercase", "whitespace-split")
    config = wps.TrainingConfig(objective="count", continuing_subword_prefix="", end_of_word_suffix="</w>")
    run = wps.train(counts, config)
    tokenizer = TokenizerInWindow(run.history.vocabulary(len(run.history)), run.bpe_tokenizer(longest_first=True))
    first, second = _order_text(tokenizer, "LOW Lowlower").splitlines()
    assert first == "“low” is in the training corpus and keeps its split from training."
    assert second.endswith("Order: lower</w>")
