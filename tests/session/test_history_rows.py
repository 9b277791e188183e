"""Filtering and sorting merges: equal to the plainest Python, quick, and never at the mercy of an expression."""

from __future__ import annotations

import re
import time
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.benchmarks.million import MillionModel, million_history
from tests.session.conftest import random_counts
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session import history_rows
from wordpiece_studio.session.history_ranks import token_ranks
from wordpiece_studio.session.history_rows import HistoryColumn, HistoryFilter, HistoryRows, RowsWanted, _stable_order
from wordpiece_studio.session.history_search import SearchCanceled, ends_soon, pattern_finder, tokens_found
from wordpiece_studio.session.history_table import RAW_ROLE, HistoryTableModel
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import Trainer

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.modeltest import ModelTester
    from pytestqt.qtbot import QtBot

    from wordpiece_studio.training.history import MergeHistory

HOSTILE = "(?:a|b|ab|#)+[^ab]$"
LETTERS = st.characters(codec="utf-32-be", include_characters="#ab\0가\U0010ffff")


@cache
def history() -> MergeHistory:
    trainer = Trainer(random_counts(5, words=80, letters="abcAB"), TrainingConfig(max_merges=120))
    trainer.run(120)
    return trainer.history


def values(history: MergeHistory, column: HistoryColumn) -> list[Any]:
    names = {
        HistoryColumn.LEFT: "left", HistoryColumn.RIGHT: "right", HistoryColumn.TOKEN: "token",
        HistoryColumn.PAIR_FREQUENCY: "pair_frequency", HistoryColumn.LEFT_FREQUENCY: "left_frequency",
        HistoryColumn.RIGHT_FREQUENCY: "right_frequency", HistoryColumn.VALUE: "value", HistoryColumn.TIES: "ties",
        HistoryColumn.STEP: "step", HistoryColumn.IS_NEW: "is_new",
    }  # fmt: skip
    if column in names:
        return [getattr(merge, names[column]) for merge in history]
    steps = range(1, len(history) + 1)
    if column is HistoryColumn.WORDS:
        return [len(history.words_touched(step - 1)) for step in steps]
    ask = history.vocabulary_size if column is HistoryColumn.VOCABULARY else history.symbols_after
    return [ask(step) for step in steps]


def let_through(history: MergeHistory, wanted: RowsWanted) -> list[int]:
    """Return the indices of the merges that the filter lets through, found out in the plainest way."""
    chosen, rows = wanted.filter, []
    for index, merge in enumerate(list(history)[: wanted.count]):
        tokens = (merge.left, merge.right, merge.token)
        if chosen.is_pattern:
            is_found = any(re.search(chosen.text, token) for token in tokens)
        elif chosen.text == chosen.text.lower():
            is_found = any(chosen.text in token.lower() for token in tokens)
        else:
            is_found = any(chosen.text in token for token in tokens)
        is_change = merge.step in wanted.live_steps.tolist()
        if is_found and (merge.ties > 1 or not chosen.only_ties) and (is_change or not chosen.only_live):
            rows.append(index)
    return rows


filters = st.builds(
    HistoryFilter, st.sampled_from(["", "a", "##b", "Ab", "bA", "zz"]), st.just(False), st.booleans(), st.booleans()
) | st.builds(HistoryFilter, st.sampled_from(["^##", "a.b$", "[AB]{2}", "(a|B)c", "a+#*b"]), st.just(True))


@pytest.mark.slow
@given(
    st.integers(0, 120), filters, st.sampled_from(list(HistoryColumn)), st.booleans(), st.sets(st.integers(1, 130))
)  # fmt: skip
def test_rows_are_those_of_the_plainest_python(
    count: int, chosen: HistoryFilter, column: HistoryColumn, descending: bool, watched: set[int]
) -> None:
    steps = np.array(sorted(watched), dtype=np.int64)
    wanted = RowsWanted(count, chosen, column, descending, steps)
    keys = values(history(), column)
    expected = sorted(let_through(history(), wanted), key=keys.__getitem__, reverse=descending)
    if descending:  # Python keeps equal ones in order when it sorts the other way round, and so do we
        assert [keys[row] for row in expected] == sorted((keys[row] for row in expected), reverse=True)
    assert HistoryRows(history()).ordered(wanted).tolist() == expected


@example([chr(0x4E00 + n) for n in range(2000)] + ["b" * 7 + end for end in "xyz"])  # one group is left at the end
@settings(max_examples=60)
@given(st.lists(st.text(LETTERS, max_size=70), max_size=20))
def test_ranks_are_the_places_in_the_order_of_the_code_points(tokens: list[str]) -> None:
    distinct = sorted(set(tokens))
    assert token_ranks(tokens).tolist() == [distinct.index(token) for token in tokens]


@given(st.lists(st.integers(-(2**62), 2**62) | st.integers(-3, 3), max_size=30), st.sampled_from([np.int64, np.int8]))
def test_the_order_of_whole_numbers_is_stable(numbers: list[int], dtype: type[np.signedinteger[Any]]) -> None:
    values = np.array(numbers, dtype=np.int64).astype(dtype)
    assert _stable_order(values).tolist() == np.argsort(values, kind="stable").tolist()


def test_what_was_found_is_kept_while_the_history_grows() -> None:
    rows = HistoryRows(history())
    for count in (10, 60, 120):
        wanted = RowsWanted(count, HistoryFilter("ab"), HistoryColumn.WORDS)
        assert rows.ordered(wanted).tolist() == HistoryRows(history()).ordered(wanted).tolist()


def test_words_touched_are_counted_together_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    one_by_one = [len(history().words_touched(index)) for index in range(120)]
    assert history().words_touched_counts(0, 120).tolist() == one_by_one
    monkeypatch.setattr("wordpiece_studio.training.history._PLACES_AT_ONCE", 7)
    assert history().words_touched_counts(5, 90).tolist() == one_by_one[5:90]
    assert history().words_touched_counts(3, 3).tolist() == []


# Regular expressions.


@pytest.mark.parametrize("pattern", ["a", "^##.*ing$", "[^ab]c", "(?:a|b)c", "a.*b", r"\.", "x{2,3}"])
def test_usual_expressions_are_known_to_end_soon(pattern: str) -> None:
    assert ends_soon(pattern, 30)


@pytest.mark.parametrize("pattern", [HOSTILE, "(a+)+$", "(?:a|aa)*b", r"(a)\1", "(?=a)", "a*a*a*a*a*b", "(a|a)" * 25])
def test_hostile_expressions_are_not(pattern: str) -> None:
    assert not ends_soon(pattern, 30)


def test_a_hostile_expression_is_abandoned() -> None:
    began = time.process_time()
    with pytest.raises(StudioError, match="takes too long"):
        tokens_found(["ok", "ab" * 30], pattern_finder(HOSTILE, 60))
    assert time.process_time() - began < 10


def test_an_expression_that_only_the_one_library_knows_is_searched_with_it() -> None:
    tokens = ["가나", "ab", "a{2}{3}"]
    assert tokens_found(tokens, pattern_finder(r"\p{Hangul}", 9)).tolist() == [True, False, False]
    assert tokens_found(["aaaaaa", "aaa"], pattern_finder("^(?:a{2}){3}$", 9)).tolist() == [True, False]


@given(
    st.lists(st.text(st.sampled_from("abc#\n\r\u2028"), max_size=6), max_size=20),
    st.sampled_from(["a(b|c)+$", "^(a|b)*c", "(ab|c)+", "^(#)+a?$", "(a|b)*", "(.)+b", "^(a.)+$"]),
)
def test_tokens_searched_as_lines_are_found_as_each_on_its_own_is(tokens: list[str], pattern: str) -> None:
    expected = [regex.search(pattern, token) is not None for token in tokens]
    assert tokens_found(tokens, pattern_finder(pattern, 6)).tolist() == expected


def test_canceled_searches_are_not_answered() -> None:
    with pytest.raises(SearchCanceled):
        HistoryRows(history()).ordered(RowsWanted(120, HistoryFilter("a")), lambda: True)


# In the table, beside the window.


@pytest.fixture
def table(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, qtmodeltester: ModelTester) -> Any:
    """A table that has all its rows found in a thread."""
    monkeypatch.setattr(history_rows, "_AT_ONCE", 0)
    table = HistoryTableModel(MillionModel(history()))  # type: ignore[arg-type]
    qtmodeltester.check(table)
    yield table
    table.close()


def steps_of(table: HistoryTableModel) -> list[int]:
    return [table.index(row, HistoryColumn.STEP).data(RAW_ROLE) for row in range(table.rowCount())]


def settled(qtbot: QtBot, table: HistoryTableModel, act: Callable[[], object]) -> list[int]:
    act()
    qtbot.waitUntil(lambda: not table.is_busy)
    return steps_of(table)


def test_a_long_history_is_put_in_order_in_the_background(qtbot: QtBot, table: HistoryTableModel) -> None:
    table.sort(HistoryColumn.VALUE)
    assert table.is_busy
    assert steps_of(table) == list(range(1, 121))
    keys = values(history(), HistoryColumn.VALUE)
    in_order = sorted(range(1, 121), key=lambda step: keys[step - 1])
    assert settled(qtbot, table, lambda: None) == in_order
    few = settled(qtbot, table, lambda: table.set_filter(HistoryFilter("ab", only_ties=True)))
    shown = let_through(history(), RowsWanted(120, HistoryFilter("ab", only_ties=True)))
    assert few == [step for step in in_order if step - 1 in shown]
    assert settled(qtbot, table, lambda: table.set_filter(HistoryFilter())) == in_order
    assert settled(qtbot, table, lambda: table.sort(-1)) == list(range(1, 121))


def test_only_the_latest_question_is_answered(qtbot: QtBot, table: HistoryTableModel) -> None:
    with qtbot.waitSignal(table.modelReset) as _:
        for text in ("a", "ab", "abc", "##b"):
            table.set_filter(HistoryFilter(text))
    assert steps_of(table) == [row + 1 for row in let_through(history(), RowsWanted(120, HistoryFilter("##b")))]


@pytest.mark.parametrize(("pattern", "message"), [("(", "not a valid regular expression"), (HOSTILE, "takes too long")])
def test_a_wrong_expression_is_told_and_changes_nothing(qtbot: QtBot, pattern: str, message: str) -> None:
    trainer = Trainer(WordCounts.from_pairs([("ab" * 30, 1)]), TrainingConfig(max_merges=100))
    merges = trainer.run(100)
    table = HistoryTableModel(MillionModel(trainer.history))  # type: ignore[arg-type]
    with qtbot.waitSignal(table.filter_failed) as caught:
        table.set_filter(HistoryFilter(pattern, is_pattern=True))
    assert message in str(caught.args[0])
    assert table.rowCount() == merges
    table.close()


def test_rows_follow_the_live_text(qtbot: QtBot, table: HistoryTableModel) -> None:
    table.set_live_steps(np.array([3, 50]))
    assert settled(qtbot, table, lambda: table.set_filter(HistoryFilter(only_live=True))) == [3, 50]
    assert settled(qtbot, table, lambda: table.set_live_steps(np.array([4]))) == [4]
    assert settled(qtbot, table, lambda: table.set_filter(HistoryFilter())) == list(range(1, 121))


@pytest.mark.slow
def test_a_million_rows_sort_and_filter_in_time() -> None:
    million = million_history(1_000_000)
    for column in HistoryColumn:
        for chosen in (HistoryFilter(), HistoryFilter("ab"), HistoryFilter("^##a.*b$", True, only_ties=True)):
            rows = HistoryRows(million)
            began = time.process_time()
            rows.ordered(RowsWanted(1_000_000, chosen, column, descending=True))
            assert time.process_time() - began < 5, (column, chosen)  # 0.2 s on a quiet machine
