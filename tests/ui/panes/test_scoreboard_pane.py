"""The scoreboard against the history and the trainer's own numbers."""

from __future__ import annotations

import time
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt

from tests.sampling import some_pairs
from tests.ui.panes.conftest import Bench
from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.session.table_model import VALUE_ROLE
from wordpiece_studio.session.training_job import Candidates, Pacer, TrainerState
from wordpiece_studio.session.words_table import RunWordsModel, WordColumn
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.engine import ratio_of, ratio_over_neighbours
from wordpiece_studio.training.trainer import Trainer
from wordpiece_studio.ui.panes.scoreboard.candidates_view import NUMBERS, PAIR, REDUCED
from wordpiece_studio.ui.panes.scoreboard.scoreboard_pane import ScoreboardPane, tie_decision
from wordpiece_studio.ui.panes.scoreboard.words_panel import WordsRequest, find_words
from wordpiece_studio.ui.widgets.token_text import value_text

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


def candidates_of(pane: ScoreboardPane) -> list[tuple[str, str]]:
    return [(candidate.left, candidate.right) for candidate in pane.candidates_view.candidates.records]


def seek(bench: Bench, pane: ScoreboardPane, step: int) -> None:
    bench.seek(step)
    bench.wait(lambda: pane.candidates is not None and pane.candidates.step == max(step, 1) - 1)


def test_before_training_it_says_what_to_do(empty_bench: Bench) -> None:
    pane = empty_bench.show(ScoreboardPane)
    assert "train" in pane.middle.nothing.text
    assert pane.middle.nothing.isVisible()


def test_its_own_title_stands_in_place_of_that_of_its_panel(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    panel = bench.show_panel("Merge candidates", pane, 660, 600)
    seek(bench, pane, 12)
    bench.settle()
    said = [(panel.title_bar.title_label.text(), pane.accessibleName())]
    bench.model.forget()
    bench.wait(lambda: not pane.title)
    said.append((panel.title_bar.title_label.text(), pane.accessibleName()))
    assert said == [("Candidates for merge 12 of 25",) * 2, ("Merge candidates",) * 2]
    assert panel.windowTitle() == "Merge candidates"


def test_merge_12_of_the_course_is_a_tie_of_two(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    seek(bench, pane, 12)
    assert (pane.title, pane.hints[:4]) == (
        "Candidates for merge 12 of 25",
        (
            "2 pairs share 1/6; ch ##a stands first: in chapter, word 8 of the text",
            "ch ##a stands first: in chapter, word 8 of the text", "ch ##a first: in chapter",
            "Ties: first occurrence in the corpus",
        ),
    )  # fmt: skip
    assert candidates_of(pane)[:3] == [("ch", "##a"), ("##t", "##hm"), ("H", "##u")]
    assert pane.candidates_view.ranking.tied_rows == 2
    assert pane.candidates_view.ranking.tie_text == "Tie of 2"
    spoken = pane.formula.accessibleName()
    assert spoken == "Score: ch + ##a → cha, n(ab) / (n(a) × n(b)) = 1 / (1 × 6) = 1/6 = 0.1667"


@pytest.mark.parametrize("step", [1, 2, 3, 11, 24, 25])
def test_the_first_candidate_is_the_merge_of_the_history(bench: Bench, step: int) -> None:
    pane = bench.show(ScoreboardPane)
    seek(bench, pane, step)
    merge = bench.model.history[step - 1]
    best = pane.candidates_view.candidates.records[0]
    assert (best.left, best.right, best.value) == (merge.left, merge.right, merge.value)
    assert Fraction(best.pair_frequency, best.left_frequency * best.right_frequency) == Fraction(
        merge.pair_frequency, merge.left_frequency * merge.right_frequency
    )


def test_a_dragged_step_is_followed_now_and_then_by_all_of_the_pane(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "wordpiece_studio.ui.panes.scoreboard.scoreboard_pane._BUSY_DELAY_MS", 1500
    )  # for slow machines
    pane = bench.show(ScoreboardPane)
    seek(bench, pane, 12)
    for step in (13, 14, 15):
        bench.model.seek(step)
        bench.qtbot.wait(1)
    assert pane.shown_step < 15
    assert pane.title == f"Candidates for merge {pane.shown_step} of 25"
    assert pane.merge == bench.model.history[pane.shown_step - 1]
    assert pane.merge.token in pane.formula.accessibleName()
    bench.wait(lambda: pane.candidates is not None and pane.candidates.step == 14)
    assert candidates_of(pane)[0] == (pane.merge.left, pane.merge.right)


def test_step_0_shows_the_candidates_for_the_next_merge(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    seek(bench, pane, 0)
    first = bench.model.history[0]
    assert pane.title == "Candidates for the next merge"
    assert candidates_of(pane)[0] == (first.left, first.right)
    assert first.token in pane.formula.accessibleName()


def test_before_and_after_are_two_buttons_for_words_and_candidates(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    panel = bench.show_panel("Merge candidates", pane, 660, 600)
    history, (before, after) = bench.model.history, pane.side.buttons
    seek(bench, pane, 12)
    assert (before.isChecked(), after.isChecked()) == (True, False)
    assert pane._words.title == "ch + ##a in one word"
    assert panel.title_bar.isAncestorOf(after)
    bench.qtbot.mouseClick(after, Qt.MouseButton.LeftButton)
    bench.wait(lambda: pane.candidates is not None and pane.candidates.step == 12)
    bench.settle()
    assert (bench.model.is_after, bench.model.words_step, after.isChecked()) == (True, 12, True)
    assert pane.title == "Candidates after merge 12 of 25"
    assert candidates_of(pane)[0] == (history[12].left, history[12].right)
    assert pane.candidates_view.ranking.merged_text == ""
    assert pane._words.title == "cha, made in one word"
    row = pane._words.words.records[0]
    assert (row.before[:2], row.after[0]) == (("ch", "##a"), "cha")
    bench.model.set_after(False)
    bench.wait(lambda: pane.candidates is not None and pane.candidates.step == 11)
    assert (before.isChecked(), after.isChecked()) == (True, False)
    assert candidates_of(pane)[0] == ("ch", "##a")


WORDS = st.dictionaries(st.text("abc", min_size=1, max_size=6), st.integers(1, 9), min_size=1, max_size=8)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(WORDS, st.sampled_from(["score", "likelihood", "count"]), st.sampled_from(["first", "ids"]), st.booleans())
def test_every_count_that_is_shown_is_that_of_the_words_shown(
    empty_bench: Bench, words: dict[str, int], objective: str, tie: str, is_after: bool
) -> None:
    bench = empty_bench
    bench.train([" ".join([word] * count) for word, count in words.items()], objective=objective, tie=tie)
    model, history = bench.model, bench.model.history
    model.set_after(is_after)
    if not bench.panes:
        bench.show(ScoreboardPane)
    pane, table = bench.panes[0], RunWordsModel(model)
    for step in range(len(history) + 1):
        model.seek(step)
        table.show_step()
        bench.wait(lambda: pane.candidates is not None and pane.candidates.step == model.words_step)
        bench.settle()
        state = model.words_step
        rows = [tuple(table.index(row, at).data(VALUE_ROLE) for at in WordColumn) for row in range(len(words))]
        symbols, pairs = Counter[str](), Counter[tuple[str, str]]()
        for _word, count, split in rows:
            for symbol in split:
                symbols[symbol] += count
            for pair in pairwise(split):
                pairs[pair] += count
        assert {(each.left, each.right) for each in pane.candidates_view.ranking} == set(pairs)
        for each in pane.candidates_view.ranking:
            assert each.pair_frequency == pairs[each.left, each.right]
            assert (each.left_frequency, each.right_frequency) == (symbols[each.left], symbols[each.right])
        shown = pane._shown_pair()
        assert (shown is None) == (not pairs)
        if shown is not None:
            assert shown.pair_frequency == pairs[shown.left, shown.right]
            assert (shown.left_frequency, shown.right_frequency) == (symbols[shown.left], symbols[shown.right])
        splits = {word: split for word, _count, split in rows}
        for row in pane._words.words.records:
            assert row.count == words[row.word]
            assert (row.after if is_after and step else row.before) == splits[row.word]
        assert state == (step if is_after else max(step - 1, 0))


def test_a_click_on_a_candidate_makes_it_the_selection_and_shows_its_words(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    seek(bench, pane, 12)
    view = pane.candidates_view
    place = view.visualRect(view.candidates.index(2, PAIR)).center()
    bench.qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert bench.model.selection == Selection("pair", left="H", right="##u")
    assert pane.title == "H + ##u, a candidate for merge 12 of 25"
    assert [item.text for item in pane.formula.items][:2] == ["Candidate", "H"]
    words = pane._words.words.records
    assert [(row.word, row.count) for row in words] == [("Hugging", 1)]
    assert words[0].before == tuple(bench.model.history.segmentation("Hugging", 11))
    assert words[0].after[0] == "Hu"


def test_the_words_of_the_merge_come_back_at_another_step(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    seek(bench, pane, 12)
    bench.model.set_selection(Selection("pair", left="H", right="##u"))
    seek(bench, pane, 11)
    assert "##h + ##m" in pane._words.title


def test_the_words_of_a_merge_are_those_that_it_touched(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    history, counts = bench.model.history, dict(bench.model.counts.items())
    for step in (1, 9, 25):
        seek(bench, pane, step)
        words = pane._words.words.records
        assert {row.word for row in words} == set(history.words_touched(step - 1))
        assert [row.count for row in words] == sorted((counts[row.word] for row in words), reverse=True)
        for row in words:
            assert list(row.before) == history.segmentation(row.word, step - 1)
            assert list(row.after) == history.segmentation(row.word, step)


def test_the_most_frequent_words_come_first_and_among_equals_the_first_of_the_corpus(empty_bench: Bench) -> None:
    empty_bench.train(["xya xyb xyc xyb xyd xyc xyc " * 3 + " ".join(f"xy{n}" for n in range(200))], objective="count")
    words = find_words(WordsRequest(empty_bench.model.history, 1, Selection("pair", left="x", right="##y")))
    assert [(row.word, row.count) for row in words.words[:5]] == [
        ("xyc", 9), ("xyb", 6), ("xya", 3), ("xyd", 3), ("xy0", 1),
    ]  # fmt: skip
    assert (len(words.words), words.total) == (100, 204)
    assert words.words[0].before == ("x", "##y", "##c")
    assert words.words[0].after == ("xy", "##c")


def test_enter_on_a_candidate_does_what_a_click_does(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    seek(bench, pane, 12)
    view = pane.candidates_view
    view.setFocus()
    view.setCurrentIndex(view.candidates.index(1, 0))
    bench.qtbot.keyClick(view, Qt.Key.Key_Return)
    assert bench.model.selection == Selection("pair", left="##t", right="##hm")


def test_the_winner_of_a_tie_is_marked(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    seek(bench, pane, 12)
    ranking = pane.candidates_view.ranking
    assert (ranking.tied_rows, ranking.merged_text) == (2, "✓ merged")
    assert ranking.spoken(0).endswith(", ✓ merged")
    assert "merged" not in ranking.spoken(1)
    alone = next(merge.step for merge in bench.model.history if merge.ties == 1)
    seek(bench, pane, alone)
    assert pane.candidates_view.ranking.merged_text == ""


@pytest.mark.parametrize("objective", ["likelihood", "count"])
def test_the_other_objectives_fill_in_their_own_formula(empty_bench: Bench, objective: str) -> None:
    empty_bench.train(objective=objective)
    pane = empty_bench.show(ScoreboardPane)
    seek(empty_bench, pane, 5)
    merge = empty_bench.model.history[4]
    spoken = pane.formula.accessibleName()
    assert spoken.startswith(("Gain", "Count"))
    assert str(merge.pair_frequency) in spoken
    assert (" × ln(" in spoken) == (objective == "likelihood")


def test_the_tie_rule_by_ids_is_named(empty_bench: Bench) -> None:
    empty_bench.train(objective="count", tie="ids")
    pane = empty_bench.show(ScoreboardPane)
    assert "lowest IDs" in pane.hints[-1]


HUG = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}


def test_all_words_of_a_toy_corpus_are_listed_in_the_order_of_the_text(empty_bench: Bench) -> None:
    empty_bench.train([" ".join([word] * count) for word, count in HUG.items()], vocab_size=None)
    model, pane = empty_bench.model, empty_bench.show(ScoreboardPane, 700, 800)
    seek(empty_bench, pane, 2)
    assert pane._words.title == "h + ##u in 2 of 5 words"
    assert pane.hints[0] == "6 pairs share 1/36; h ##u stands first: in hug, the first word of the text"
    assert pane._top.tie.text() == pane.hints[0]
    assert [(row.word, row.count) for row in pane._words.words.records] == [*HUG.items()]
    assert pane._words.view.viewport().height() >= 5 * pane._words.view.row_height
    _, frequent = pane._words.order.buttons
    empty_bench.qtbot.mouseClick(frequent, Qt.MouseButton.LeftButton)
    assert model.text_order is False
    assert pane._words.title == "h + ##u in 2 words, most frequent first"
    model.set_selection(Selection("token", text="##n"))
    assert [row.word for row in pane._words.words.records] == ["pun", "bun"]
    model.set_text_order(True)
    assert pane._words.title == "##n in 2 words, in the order of the text"
    model.set_selection(None)
    model.set_after(True)
    empty_bench.settle()
    assert [row.word for row in pane._words.words.records] == ["hug", "hugs", "pug", "pun", "bun"]
    assert pane._words.title == "hu, made in 2 of 5 words"
    pane.resize(400, 190)  # where there is room for one, it is one that the merge changed
    empty_bench.settle()
    assert [row.word for row in pane._words.words.records] == ["hug", "hugs"]
    assert pane._words.view.isVisible()


@settings(max_examples=40, deadline=None)
@given(WORDS, st.sampled_from(["score", "likelihood", "count"]), st.sampled_from(["first", "ids"]))
def test_what_is_said_to_decide_a_tie_is_what_decides_it(words: dict[str, int], objective: str, tie: str) -> None:
    trainer = Trainer(WordCounts.from_pairs([*words.items()]), TrainingConfig(objective=objective, tie=tie))
    trainer.run()
    history, names = trainer.history, [*words]
    for merge in history:
        if merge.ties < 2:
            continue
        trainer.seek(merge.step - 1)
        tied = [(each.left, each.right) for each in trainer.top(10_000) if each.is_tied]
        said, short, _ = tie_decision(merge, merge.ties, history, merge.step - 1, history.config)
        assert said == f"{merge.ties} pairs share {said.split('share ')[1].split(';')[0]}; {short}"
        splits = [history.segmentation(name, merge.step - 1) for name in names]
        if tie == "ids":
            id_of = history.vocabulary(merge.step - 1).id_of
            assert min(tied, key=lambda pair: [*map(id_of, pair)]) == (merge.left, merge.right)
            assert short.endswith(f"the lowest IDs, {id_of(merge.left)} and {id_of(merge.right)}")
        else:
            number = next(at for at, split in enumerate(splits) if set(pairwise(split)) & {*tied})
            assert next(pair for pair in pairwise(splits[number]) if pair in tied) == (merge.left, merge.right)
            place = "the first word" if number == 0 else f"word {number + 1}"
            assert short == f"{merge.left} {merge.right} stands first: in {names[number]}, {place} of the text"


def test_a_corpus_without_pairs_says_so(empty_bench: Bench) -> None:
    empty_bench.train(["a b c a"], vocab_size=None)
    pane = empty_bench.show(ScoreboardPane)
    assert "No pair" in pane.middle.message.text()


def start_long_training(bench: Bench) -> None:
    texts = [f"{number:b} w{number:x} {number}" for number in range(8_000)]
    bench.model.start(count_texts(texts), TrainingConfig(vocab_size=20_000))
    bench.wait(lambda: bench.model.state is TrainerState.TRAINING and bench.model.merge_count > 20)


@pytest.mark.slow
def test_at_the_head_of_training_a_button_pauses_it(empty_bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    # A merge at a time, with a rest after each: however busy the machine is, the button comes before the end.
    monkeypatch.setattr(Pacer, "note", lambda *_: time.sleep(0.005))
    pane = empty_bench.show(ScoreboardPane)
    start_long_training(empty_bench)
    empty_bench.wait(lambda: "Pause" in pane.middle.message.text() and pane.middle.pause_button.isVisible())
    empty_bench.qtbot.mouseClick(pane.middle.pause_button, Qt.MouseButton.LeftButton)
    empty_bench.wait(lambda: empty_bench.model.state is TrainerState.PAUSED)
    empty_bench.wait(lambda: len(candidates_of(pane)) > 1)
    assert not pane.middle.pause_button.isVisible()
    assert pane.title.startswith("Candidates for merge ")


@pytest.mark.slow
def test_behind_the_head_of_training_the_candidates_are_shown(empty_bench: Bench) -> None:
    pane = empty_bench.show(ScoreboardPane)
    start_long_training(empty_bench)
    model = empty_bench.model
    model.seek(12)
    empty_bench.wait(lambda: pane.candidates is not None and pane.candidates.step == 11)
    assert model.state is TrainerState.TRAINING
    assert pane.middle.currentWidget() is pane.candidates_view
    assert candidates_of(pane)[0] == (model.history[11].left, model.history[11].right)
    assert {row.word for row in pane._words.words.records} <= set(model.history.words_touched(11))
    model.stop()
    empty_bench.wait(lambda: model.state is TrainerState.FINISHED)


@pytest.mark.slow
def test_without_memory_for_a_second_engine_it_offers_to_pause(qtbot: QtBot) -> None:
    bench = Bench(qtbot, candidates_finder=lambda _, step, *__: Candidates(step, (), available=False))
    try:
        pane = bench.show(ScoreboardPane)
        start_long_training(bench)
        bench.model.seek(12)
        bench.wait(lambda: "second engine" in pane.middle.message.text())
        assert pane.middle.pause_button.isVisible()
        bench.model.pause()
        bench.wait(lambda: bench.model.state is TrainerState.PAUSED and len(candidates_of(pane)) > 1)
        assert pane.middle.currentWidget() is pane.candidates_view
    finally:
        bench.close()


def test_an_untrained_scoreboard_has_no_empty_table_for_the_keyboard(empty_bench: Bench) -> None:
    pane = empty_bench.show(ScoreboardPane)
    assert not pane._words.view.isVisible()
    assert not pane.candidates_view.isVisible()


def test_three_words_are_visible_where_there_is_room(empty_bench: Bench) -> None:
    empty_bench.train(objective="count")
    pane = empty_bench.show(ScoreboardPane, height=480)
    seek(empty_bench, pane, 1)
    table = pane._words.view
    assert table.viewport().height() >= 3 * table.verticalHeader().defaultSectionSize()


@pytest.mark.parametrize(("height", "candidates"), [(168, 2), (190, 2), (300, 2), (400, 6)])
def test_candidates_and_a_word_are_visible_at_any_height(bench: Bench, height: int, candidates: int) -> None:
    pane = bench.show(ScoreboardPane, width=400, height=height)
    seek(bench, pane, 12)
    for table, rows in ((pane.candidates_view, candidates), (pane._words.view, 1)):
        assert table.isVisible()
        assert table.viewport().height() >= rows * table.verticalHeader().defaultSectionSize()
        assert table.mapTo(pane, table.rect().bottomLeft()).y() < height


def cut_parts(pane: ScoreboardPane) -> list[str]:
    """Return the parts of the formula, and the title of the words, that are not completely visible."""
    parts = [pane._top.line, pane._top.ratio, pane._top.tie, pane._words._title]
    cut = [part for part in parts if part.isVisible() and part.height() < part.heightForWidth(part.width())]
    cut += [part for part in parts if part.isVisible() and part.visibleRegion().boundingRect() != part.rect()]
    return [part.accessibleName() or part.text() for part in cut]


@pytest.mark.slow
@some_pairs(("width", "points"), [330, 470, 800], [16, 10, 7])
def test_parts_that_do_not_fit_are_hidden_completely(bench: Bench, width: int, points: int) -> None:
    pane = bench.show(ScoreboardPane, width=width, height=830)
    pane.setStyleSheet(f"* {{ font-size: {points}pt; }}")
    bench.theme.set_scale(points / 10)
    seek(bench, pane, 12)
    seen = set()
    for height in range(830, pane.minimumSizeHint().height() - 1, -29):
        pane.resize(width, height)
        bench.settle()
        assert cut_parts(pane) == [], height
        seen.add((pane._top.line.isVisible(), pane._top.ratio.isVisible()))
    assert seen == {(True, True), (True, False), (False, False)}


@pytest.mark.slow
def test_parts_are_hidden_with_a_larger_font_too(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane, width=420, height=330)
    seek(bench, pane, 12)
    for points in range(7, 17):
        pane.setStyleSheet(f"* {{ font-size: {points}pt; }}")
        bench.theme.set_scale(points / 10)
        bench.settle()
        assert pane.minimumSizeHint().height() > 330 or cut_parts(pane) == [], points


def test_more_candidates_are_requested_by_the_last_row(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    seek(bench, pane, 12)
    view = pane.candidates_view
    trainer = Trainer(bench.model.counts, bench.model.config)
    trainer.seek(11)
    everything = [(candidate.left, candidate.right) for candidate in trainer.top(10_000)]
    assert candidates_of(pane) == everything[:30]
    bench.model.set_selection(Selection("pair", left=everything[3][0], right=everything[3][1]))
    assert view.more_button.y() == view.rowViewportPosition(29) + view.row_height
    view.more_button.click()
    bench.wait(lambda: len(candidates_of(pane)) == 60)
    assert view.currentIndex().row() == 3  # nothing moved
    view.setFocus()
    bench.qtbot.keyClick(view, Qt.Key.Key_End)
    button, seen = view.more_button.geometry(), view.viewport().rect()
    assert (button.top(), button.bottom()) == (view.rowViewportPosition(59) + view.row_height, seen.bottom())
    view.scrollToTop()
    view.more_button.setFocus()
    assert view.more_button.geometry() == button
    view.more_button.click()
    bench.wait(lambda: len(candidates_of(pane)) == len(everything))
    assert candidates_of(pane) == everything
    assert not view.more_button.isVisible()


def test_an_arrow_key_chooses_a_candidate_and_its_formula_is_shown(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    seek(bench, pane, 12)
    view = pane.candidates_view
    view.setCurrentIndex(view.candidates.index(1, 0))
    bench.qtbot.keyClick(view, Qt.Key.Key_Down)
    assert bench.model.selection == Selection("pair", left="H", right="##u")
    assert pane.formula.accessibleName() == "Score: H + ##u → Hu, n(ab) / (n(a) × n(b)) = 1 / (2 × 4) = 1/8 = 0.1250"
    assert "Tie" not in pane._top.tie.text()


def test_each_row_has_its_own_formula(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    seek(bench, pane, 12)
    candidates = pane.candidates_view.candidates
    for row, candidate in enumerate(candidates.records):
        numbers, reduced = (candidates.index(row, column).data() for column in (NUMBERS, REDUCED))
        assert numbers == f"{candidate.pair_frequency} / ({candidate.left_frequency} × {candidate.right_frequency})"
        assert float(Fraction(reduced)) == candidate.value


def test_the_tie_is_explained_in_a_sentence(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    seek(bench, pane, 12)
    assert pane._top.tie.isVisible()
    assert pane._top.tie.text() == "2 pairs share 1/6; ch ##a stands first: in chapter, word 8 of the text"
    assert "occurs first" in pane.candidates_view.candidates.index(1, PAIR).data(Qt.ItemDataRole.ToolTipRole)
    bench.model.set_selection(Selection("pair", left="##t", right="##hm"))
    assert pane._top.tie.isVisible()  # it is one of the two
    bench.model.set_selection(Selection("pair", left="H", right="##u"))
    assert not pane._top.tie.isVisible()
    seek(bench, pane, 11)
    assert not pane._top.tie.isVisible()


def test_the_ratio_says_what_it_is_normalized_by(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    seek(bench, pane, 12)
    merge, history = bench.model.history[11], bench.model.history
    symbols = sum(count * len(history.segmentation(word, 11)) for word, count in bench.model.counts.items())
    words = sum(count for _, count in bench.model.counts.items())
    p_both, p_left, p_right = (
        Fraction(n, symbols) for n in (merge.pair_frequency, merge.left_frequency, merge.right_frequency)
    )
    ratio = p_both / (p_left * p_right)
    assert ratio_of(merge, symbols) == ratio
    assert float(ratio) == pytest.approx(merge.value * symbols, rel=1e-15)
    assert f"The pair occurs {value_text(float(ratio))} times as often as expected by chance" in pane._top.ratio.text()
    assert f"N = {symbols}" in pane._top.ratio.text()
    neighbours = sum(count * (len(history.segmentation(word, 11)) - 1) for word, count in bench.model.counts.items())
    over_neighbours = Fraction(merge.pair_frequency, neighbours) / (p_left * p_right)
    assert ratio_over_neighbours(merge, symbols, words) == over_neighbours
    assert f"number of adjacent pairs instead, P = {neighbours} " in pane._top.ratio.toolTip()
    assert value_text(float(over_neighbours)) in pane._top.ratio.toolTip()


def test_a_token_shows_the_words_that_contain_it_and_its_pair(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    seek(bench, pane, 12)
    history = bench.model.history
    bench.model.set_selection(Selection("token", text="##s"))
    shown = pane._words.words.records
    holding = {word for word in history.input.words if "##s" in history.segmentation(word, 12)}
    assert {row.word for row in shown} == holding
    assert f"in {len(holding)} words" in pane._words.title
    bench.model.set_selection(Selection("token", text=history[11].token))
    assert pane.candidates_view.currentIndex().row() == 0
    assert [row.before == row.after for row in pane._words.words.records] == [False]
    bench.model.set_selection(Selection("token", text=history[20].token))
    assert pane._words.title == f"{history[20].token} is not created until step 21"
    bench.model.set_selection(Selection("token", text="nothing"))
    assert "not a token" in pane._words.title


def test_a_word_is_shown_before_and_after_or_marked_in_place(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    seek(bench, pane, 12)
    bench.model.set_selection(Selection("word", text="chapter"))
    assert pane._words.title == "ch + ##a in one word"  # it is among the words of the merge
    assert pane._words.view.currentIndex().row() == 0
    bench.model.set_selection(Selection("word", text="Hugging"))
    (row,) = pane._words.words.records
    assert row.before == row.after == tuple(bench.model.history.segmentation("Hugging", 12))
    assert pane._words.title == "Hugging is unchanged by this merge"
    bench.model.set_selection(Selection("word", text="zebra"))
    assert pane._words.title == "zebra is not in the training corpus"
    bench.model.set_selection(None)
    assert pane._words.title == "ch + ##a in one word"


def test_in_a_large_corpus_words_are_found_in_the_background(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wordpiece_studio.ui.panes.scoreboard.words_panel.MOST_CELLS", 0)
    pane = bench.show(ScoreboardPane)
    try:
        bench.model.seek(12)
        bench.model.set_selection(Selection("pair", left="H", right="##u"))
        bench.wait(lambda: [row.word for row in pane._words.words.records] == ["Hugging"])
        seek(bench, pane, 9)
        bench.wait(lambda: bool(pane._words.words.records))
        assert {row.word for row in pane._words.words.records} == set(bench.model.history.words_touched(8))
    finally:
        pane.close_jobs()


def test_a_candidate_can_be_chosen_again_at_another_step(bench: Bench) -> None:
    pane = bench.show(ScoreboardPane)
    seek(bench, pane, 12)
    for step in (12, 11):
        seek(bench, pane, step)
        view = pane.candidates_view
        row = candidates_of(pane).index(("H", "##u"))
        view.scrollTo(view.candidates.index(row, PAIR))
        place = view.visualRect(view.candidates.index(row, PAIR)).center()
        bench.qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert "H + ##u" in pane.formula.accessibleName()
        assert pane._words.title == "H + ##u in one word"
