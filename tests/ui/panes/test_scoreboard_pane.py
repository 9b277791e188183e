"""The scoreboard against the history and the trainer's own numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt

from wordpiece_studio.core.corpus.counting.counting import count_texts
from wordpiece_studio.core.training.config import TrainingConfig
from wordpiece_studio.model.records import Focus, TrainerState
from wordpiece_studio.ui.scoreboard.pair_words import words_of_merge
from wordpiece_studio.ui.scoreboard.rivals_model import PAIR
from wordpiece_studio.ui.scoreboard.scoreboard_pane import ScoreboardPane

if TYPE_CHECKING:
    from tests.ui.panes.conftest import Bench


def rivals_of(pane: ScoreboardPane) -> list[tuple[str, str]]:
    return [(rival.left, rival.right) for rival in pane._rivals_view.rivals.candidates]


def seek(bench: Bench, pane: ScoreboardPane, moment: int) -> None:
    bench.seek(moment)
    bench.wait(lambda: pane._rivals is not None and pane._rivals.moment == max(moment, 1) - 1)


def test_before_a_training_it_says_what_to_do(empty_bench: Bench) -> None:
    pane = empty_bench.show(ScoreboardPane)
    assert pane.title == "Scoreboard"
    assert "Train" in pane._message.text()
    assert pane._message.isVisible()


def test_merge_12_of_the_course_is_a_tie_of_two(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    seek(bench, pane, 12)
    assert (pane.title, pane.hint) == ("Scoreboard: merge 12 of 25", "ties go to the pair that occurs first")
    assert rivals_of(pane)[:3] == [("ch", "##a"), ("##t", "##hm"), ("H", "##u")]
    assert pane._rivals_view.rivals.tied_rows == 2
    assert pane._tie_text() == "tie of 2"
    spoken = pane._formula.accessibleName()
    assert spoken == "score: ch + ##a → cha, n(ab) / (n(a) × n(b)) = 1 / (1 × 6) = 1/6 = 0.1667"


@pytest.mark.parametrize("moment", [1, 2, 3, 11, 24, 25])
def test_the_first_rival_is_the_merge_of_the_history(bench: Bench, moment: int) -> None:
    pane = bench.show(ScoreboardPane)
    seek(bench, pane, moment)
    merge = bench.model.history[moment - 1]
    best = pane._rivals_view.rivals.candidates[0]
    assert (best.left, best.right, best.value) == (merge.left, merge.right, merge.value)
    assert Fraction(best.pair_frequency, best.left_frequency * best.right_frequency) == Fraction(
        merge.pair_frequency, merge.left_frequency * merge.right_frequency
    )


def test_moment_0_shows_the_rivals_for_the_next_merge(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    seek(bench, pane, 0)
    first = bench.model.history[0]
    assert pane.title == "Scoreboard: next merge"
    assert rivals_of(pane)[0] == (first.left, first.right)
    assert first.token in pane._formula.accessibleName()


def test_a_click_on_a_rival_makes_it_the_focus_and_shows_its_words(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    seek(bench, pane, 12)
    view = pane._rivals_view
    place = view.visualRect(view.rivals.index(2, PAIR)).center()
    bench.qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert bench.model.focus == Focus("pair", left="H", right="##u")
    words = pane._words_view.words.words
    assert [(row.word, row.count) for row in words.words] == [("Hugging", 1)]
    assert words.words[0].before == tuple(bench.model.history.segmentation("Hugging", 11))
    assert words.words[0].after[0] == "Hu"


def test_the_words_of_the_merge_come_back_at_another_moment(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    seek(bench, pane, 12)
    bench.model.set_focus(Focus("pair", left="H", right="##u"))
    seek(bench, pane, 11)
    assert "##h + ##m" in pane._words_title.text()


def test_the_words_of_a_merge_are_those_that_it_touched(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    history, counts = bench.model.history, dict(bench.model.counts.items())
    for moment in (1, 9, 25):
        seek(bench, pane, moment)
        words = pane._words_view.words.words
        assert {row.word for row in words.words} == set(history.words_touched(moment - 1))
        assert [row.count for row in words.words] == sorted((counts[row.word] for row in words.words), reverse=True)
        for row in words.words:
            assert list(row.before) == history.segmentation(row.word, moment - 1)
            assert list(row.after) == history.segmentation(row.word, moment)


def test_the_most_frequent_words_come_first_and_among_equals_the_first_of_the_corpus(empty_bench: Bench) -> None:
    empty_bench.train(["xya xyb xyc xyb xyd xyc xyc " * 3 + " ".join(f"xy{n}" for n in range(200))], objective="count")
    words = words_of_merge(empty_bench.model.history, 1)
    assert [(row.word, row.count) for row in words.words[:5]] == [
        ("xyc", 9), ("xyb", 6), ("xya", 3), ("xyd", 3), ("xy0", 1),
    ]  # fmt: skip
    assert (len(words.words), words.total) == (100, 204)
    assert words.words[0].before == ("x", "##y", "##c")
    assert words.words[0].after == ("xy", "##c")


def test_enter_on_a_rival_does_what_a_click_does(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    seek(bench, pane, 12)
    view = pane._rivals_view
    view.setFocus()
    view.setCurrentIndex(view.rivals.index(1, 0))
    bench.qtbot.keyClick(view, Qt.Key.Key_Return)
    assert bench.model.focus == Focus("pair", left="##t", right="##hm")


@pytest.mark.parametrize("objective", ["likelihood", "count"])
def test_the_other_objectives_fill_in_their_own_formula(empty_bench: Bench, objective: str) -> None:
    empty_bench.train(objective=objective)
    pane = empty_bench.show(ScoreboardPane)
    seek(empty_bench, pane, 5)
    merge = empty_bench.model.history[4]
    spoken = pane._formula.accessibleName()
    assert spoken.startswith(("gain", "count"))
    assert str(merge.pair_frequency) in spoken
    assert (" × ln(" in spoken) == (objective == "likelihood")


def test_the_tie_rule_by_ids_is_named(empty_bench: Bench) -> None:
    empty_bench.train(objective="count", tie="ids")
    pane = empty_bench.show(ScoreboardPane)
    assert "smallest ids" in pane.hint


def test_a_corpus_without_pairs_says_so(empty_bench: Bench) -> None:
    empty_bench.train(["a b c a"], vocab_size=None)
    pane = empty_bench.show(ScoreboardPane)
    assert "No pair" in pane._message.text()


def test_while_training_the_rivals_wait_for_a_pause(empty_bench: Bench) -> None:
    pane = empty_bench.show(ScoreboardPane)
    texts = [f"{number:b} w{number:x} {number}" for number in range(20_000)]
    empty_bench.model.start(count_texts(texts), TrainingConfig(vocab_size=20_000))
    empty_bench.wait(lambda: empty_bench.model.state is TrainerState.TRAINING and empty_bench.model.merge_count > 2)
    empty_bench.wait(lambda: "Pause" in pane._message.text())
    empty_bench.model.pause()
    empty_bench.wait(lambda: empty_bench.model.state is TrainerState.PAUSED)
    empty_bench.wait(lambda: len(rivals_of(pane)) > 1)
    assert pane.title.startswith("Scoreboard: merge ")


def test_an_untrained_scoreboard_has_no_empty_table_for_the_keyboard(empty_bench: Bench) -> None:
    pane = empty_bench.show(ScoreboardPane)
    assert not pane._words_view.isVisible()
    assert not pane._rivals_view.isVisible()


def test_three_words_are_seen_at_once(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane, height=300)
    table = pane._words_view
    assert table.viewport().height() >= 3 * table.verticalHeader().defaultSectionSize()
