"""Where compared runs differ, in the window: words, merges, vocabularies; against the same by the library."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

import wordpiece_studio as wps
from tests.ui.test_libraries import trained
from tests.ui.test_run_strip import train
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.run import Run
from wordpiece_studio.session.runs import Parting, step_of_size
from wordpiece_studio.session.words_table import WordColumn
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.panes.corpus.corpus_pane import Face
from wordpiece_studio.ui.panes.timeline.timeline_pane import parting_words

if TYPE_CHECKING:
    from pytestqt.modeltest import ModelTester

    from tests.ui.conftest import Studio
    from wordpiece_studio.evaluation.differences import WordDifference

_LEFT = Qt.MouseButton.LeftButton
_CONTROL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def two(studio: Studio) -> Studio:
    """A window that compares A, by score, with B, by count, on the smallest sample; A is shown, at step 3."""
    window, runs = studio.window, studio.window.session.runs
    window.corpus_controller.load_sample("hug.txt")
    studio.wait(lambda: window.model.merge_count == 9, 30_000)
    runs.keep(runs.all[0])
    train(studio, "count")
    for run in runs.all:
        runs.set_compared(run, True)
    runs.show(runs.all[0])
    window.model.seek(3)
    return studio


def expected(studio: Studio, *steps: int) -> tuple[WordDifference, ...]:
    """Return what the library says about all runs at these steps."""
    runs = studio.window.session.runs.all
    tokenizers = [run.tokenizer_at(step) for run, step in zip(runs, steps, strict=True)]
    return wps.compare(*tokenizers, runs[0].counts).differences.words


def shown(studio: Studio) -> list[tuple[object, ...]]:
    table = studio.window.corpus_pane.words_face.table
    words = table.source
    if words is None:
        return []
    return [(words.words[item], words.weights[item], *words.splits(item)) for item in table.shown_items().tolist()]


def wait_for(studio: Studio, words: tuple[WordDifference, ...]) -> None:
    cells = [(each.word, each.count, each.first, each.second) for each in words]
    studio.wait(lambda: shown(studio) == cells, 30_000)


def test_words_that_are_cut_differently(two: Studio) -> None:
    window, runs = two.window, two.window.session.runs
    face = window.corpus_pane.words_face
    window.docks.bring("token_details")
    QTest.keyClick(window, Qt.Key.Key_W, _CONTROL_SHIFT)
    wait_for(two, expected(two, 3, 3))
    assert face.isVisible()
    assert face.choice.currentText() == "Split differently by B"
    assert (
        face.share.text() == "A at step 3 and B at step 3 split 5 of 5 distinct words differently: 100.00% of the text."
    )
    cell = face.view.visualRect(face.table.index(0, WordColumn.SPLIT))
    rects = {item.text: rect for rect, item in face.view.delegate.places(cell, face.table.index(0, WordColumn.SPLIT))}
    for token in ("##u", "##un"):
        two.qtbot.mouseClick(face.view.viewport(), _LEFT, pos=rects[token].center().toPoint())
        assert window.model.selection == Selection("token", text=token)
    window.corpus_pane.show_face(Face.TEXT)
    window.model.seek(7)
    two.wait(lambda: not window.timeline_pane.is_stale, 30_000)
    assert not face._search.request  # nothing is compared where nobody sees it
    window.corpus_pane.show_face(Face.WORDS)
    wait_for(two, expected(two, 7, 7))
    assert face.share.text().startswith("A at step 7 and B at step 7 split ")

    runs.show(runs.all[1])  # it is compared with A then
    two.wait(lambda: face.choice.currentText() == "Split differently by A", 30_000)
    window.model.seek(0)
    two.wait(lambda: face.empty.text == "B at step 0 and A at step 0 split all words the same way.", 30_000)
    window.actions_.compare_step.trigger()  # a bookmark is compared like a run
    window.model.seek(5)
    two.wait(lambda: face.choice.count() == 3 and face.choice.itemText(2) == "Split differently by B@0", 30_000)
    window.actions_.word_differences.trigger()
    two.wait(lambda: face.share.text().startswith("B at step 5 and B at step 0 split "), 30_000)
    window.actions_.word_differences.trigger()
    two.wait(lambda: not face.table.is_apart and len(shown(two)) == 5, 30_000)
    for run in runs.all:
        runs.set_compared(run, False)
    two.wait(lambda: face.choice.count() == 2)


def test_where_runs_part(two: Studio) -> None:
    window, (first, second) = two.window, two.window.session.runs.all
    pane, plot, link = window.timeline_pane, window.timeline_pane.plot, window.timeline_pane._parting
    parting = wps.divergence(first.history, second.history)
    assert (parting.step, parting.first, parting.second) == (1, ("##g", "##s"), ("##u", "##g"))
    text = "▼ A and B diverge at step 1: A merges ##g + ##s, B merges ##u + ##g"
    two.wait(lambda: link.isVisible() and link.text() == text, 30_000)
    assert [lane.parting for lane in plot.lanes] == [None, 1]
    two.qtbot.mouseClick(link, _LEFT)
    two.wait(lambda: window.model.step == 1)

    window.session.settings.choose(objective="score", min_frequency=5, vocab_size=20)
    train(two, "score")
    window.session.runs.set_compared(window.model.run, True)
    window.session.runs.show(first)
    later = wps.divergence(first.history, window.session.runs.all[2].history).step
    assert later > 1
    two.wait(lambda: link.text() == f"▼ A and B diverge at step 1 · ▼ A and C diverge at step {later}", 30_000)
    assert link.accessibleName().startswith(f"{text}\n▼ A and C diverge at step {later}")
    window.docks.bring("corpus")
    for step in (later, 1):
        QTest.keyClick(window, Qt.Key.Key_G, _CONTROL_SHIFT)
        two.wait(lambda step=step: window.model.step == step, 30_000)

    pane.hide()
    window.session.runs.show(second)
    assert not pane.partings.request
    pane.show()
    two.wait(lambda: link.text().startswith("▼ B and A diverge at step 1 · ▼ B and C diverge at "), 30_000)
    for run in (first, second):
        window.session.runs.set_compared(run, False)
    two.wait(lambda: "B and C diverge" in link.text(), 30_000)
    window.session.runs.set_compared(window.session.runs.all[2], False)
    two.wait(lambda: not link.isVisible())
    assert not window.actions_.go_to_parting.isEnabled()
    pane.go_to_parting()  # as if the last comparison had ended before it was known
    two.wait(lambda: not pane.is_stale)
    window.session.runs.set_compared(first, True)
    two.wait(lambda: link.isVisible(), 30_000)
    assert window.model.step != 1


@pytest.mark.slow
def test_the_window_rests_with_all_that_compares_open(two: Studio) -> None:
    window = two.window
    for action in (window.actions_.figures, window.actions_.word_differences, window.actions_.vocabulary_overlap):
        action.trigger()
    overlap, figures = window.runs_controller.overlap, window.session.figures
    two.wait(lambda: overlap.said.text().startswith("A ") and window.corpus_pane.words_face.share.text() != "", 30_000)
    two.wait(lambda: figures.rows()[0].figures is not None, 30_000)
    for width in (1024, 1366):
        window.resize(width, 768)
        assert two.rests()


def test_unknown_merges_are_said_once() -> None:
    shown, *others = (Run(None, None, SimpleNamespace(has_steps=False), number=number) for number in range(3))
    found = [Parting(shown, each, is_known=False) for each in others]
    assert parting_words(found) == ("Merges of A not available",)


@pytest.mark.slow
def test_the_overlap_of_the_vocabularies(two: Studio, qtmodeltester: ModelTester) -> None:
    window, (first, second) = two.window, two.window.session.runs.all
    window.actions_.vocabulary_overlap.trigger()
    overlap = window.runs_controller.overlap
    model = overlap.lines
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
    overlap.close()
    window.model.seek(2)
    two.wait(lambda: not window.timeline_pane.is_stale)
    assert not window.session.overlaps.request
    overlap.begin()
    two.wait(lambda: overlap.said.text().startswith("A at step 2 "), 30_000)
    window.session.runs.set_compared(second, False)
    two.wait(lambda: overlap.said.text().startswith("No runs are compared."), 30_000)
    font = overlap.font()
    font.setPointSizeF(2 * font.pointSizeF())
    overlap.setFont(font)
    assert overlap._table.verticalHeader().defaultSectionSize() > overlap._table.fontMetrics().height()


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
        window.actions_.word_differences.trigger()
        wait_for(two, found.differences.words)
        window.tokenization_pane.set_text(" ".join(own.counts.words))
        apart = {own.counts.words.index(each.word) for each in found.differences.words}
        compared = window.tokenization_pane._compared
        two.wait(lambda apart=apart, line=compared: line.differing == {(0, place) for place in apart}, 30_000)
        window.actions_.word_differences.trigger()
        runs.set_compared(library_run, False)
    runs.set_compared(library_run, True)
    two.wait(lambda: window.timeline_pane._parting.text() == f"Merges of {library_run.letter} not available", 30_000)
    assert not window.timeline_pane._parting.isEnabled()

    def fail(_words: object) -> None:
        raise StudioError("The library crashed", "Train again.")

    monkeypatch.setattr(library_run.library, "cut", fail)
    window.model.seek(8)
    window.actions_.word_differences.trigger()
    two.wait(lambda: window.corpus_pane.words_face.empty.text.startswith("The library crashed"), 30_000)
