"""What can be read from a history without an engine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import wordpiece_studio as wps
from wordpiece_studio.errors import StudioError
from wordpiece_studio.training.history import MergeBatch, MergeHistory

if TYPE_CHECKING:
    from types import FrameType

COLUMNS = ("left_id", "right_id", "new_id", "pair_frequency", "left_frequency", "right_frequency", "symbols_before")


@pytest.fixture
def history() -> Any:
    counts = wps.WordCounts.from_pairs([("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)])
    return wps.train(counts, wps.TrainingConfig(special_tokens=["[UNK]"])).history


def batch_of(history: MergeHistory, first: int, end: int) -> MergeBatch:
    """Return merges of a history as an engine would report them."""
    names = (*COLUMNS, "value", "ties", "is_new")
    places = [history.positions(index) for index in range(first, end)]
    widths = [len(history[index].left.removeprefix("##")) for index in range(first, end)]
    return MergeBatch(
        columns={name: history.column(name)[first:end] for name in names},
        position_counts=np.array([len(positions) for positions in places], dtype=np.int64),
        positions=np.concatenate(places),
        left_lengths=np.array(widths, dtype=np.int64),
    )


def test_segmentation_at_every_step(history: Any) -> None:
    assert history.segmentation("hugs", 0) == ["h", "##u", "##g", "##s"]
    assert history.segmentation("hugs", 1) == ["h", "##u", "##gs"]
    assert history.segmentation("hugs", 2) == ["hu", "##gs"]
    assert history.segmentation("hugs", 3) == ["hugs"]
    for stranger in ("mug", "", "hugsy"):
        with pytest.raises(StudioError, match=f"'{stranger}' was not trained on"):
            history.segmentation(stranger, 1)


def test_words_with_equal_hashes_are_told_apart(history: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("training.segmentation", "system.in_slices"):
        monkeypatch.setattr(f"wordpiece_studio.{module}.hash", lambda word: 7, raising=False)
    assert [history.segmentation(word, len(history)) for word in ("bun", "hug", "hugs")] == [["bun"], ["hug"], ["hugs"]]
    with pytest.raises(StudioError, match="'mug'"):
        history.segmentation("mug", 1)


def test_vocabularies_of_all_steps(history: Any) -> None:
    assert len(history.vocabulary(0)) == 8
    assert history.vocabulary(2).tokens[-2:] == ["##gs", "hu"]
    assert "hugs" not in history.vocabulary(2)
    assert "hugs" in history.vocabulary(3)
    assert [history.birth_step(token_id) for token_id in (0, 7, 8, 10)] == [0, 0, 1, 3]


def test_symbols_after_each_step(history: Any) -> None:
    symbols = [history.symbols_after(step) for step in range(len(history) + 1)]
    assert symbols[0] == 3 * 10 + 3 * 5 + 3 * 12 + 3 * 4 + 4 * 5
    for step, expected in enumerate(symbols):
        weights = dict(zip(history.input.words, history.input.weights.tolist(), strict=True))
        assert expected == sum(len(history.segmentation(word, step)) * n for word, n in weights.items())


def test_columns_agree_with_merges(history: Any) -> None:
    for name in ("pair_frequency", "left_frequency", "right_frequency", "symbols_before", "value", "ties", "is_new"):
        assert history.column(name).tolist() == [getattr(merge, name) for merge in history]
    assert history[-1] == history[len(history) - 1]
    with pytest.raises(IndexError):
        history[len(history)]


def test_steps_and_merges_that_are_not_there(history: Any) -> None:
    last = len(history)
    assert history.words_touched(-1) == history.words_touched(last - 1)
    for ask in (history.words_touched, history.positions):
        with pytest.raises(IndexError):
            ask(last)
    for step in (-1, last + 1):
        for query in (history.vocabulary, history.symbols_after, history.vocabulary_size, history.words_per_token):
            with pytest.raises(StudioError, match="no step"):
                query(step)
        for query in (history.words_with_token, history.number_of_words):
            with pytest.raises(StudioError, match="no step"):
                query(1, step)
        with pytest.raises(StudioError, match="no step"):
            history.segmentation("hug", step)
        with pytest.raises(StudioError, match="no step"):
            history.words_with_pair("h", "##u", step)


def test_a_merge_is_no_python_object(sample_words: Any) -> None:
    learned = wps.train(sample_words, wps.TrainingConfig(max_merges=300), engine="compiled").history
    copy = MergeHistory(learned.input)
    copy.extend(batch_of(learned, 0, 10))
    rest = batch_of(learned, 10, 300)
    before = sys.getallocatedblocks()
    copy.extend(rest)
    assert sys.getallocatedblocks() - before < 60  # larger arrays, and what the interpreter keeps; 290 merges
    assert list(copy) == list(learned)


def test_what_is_counted_can_be_read(sample_words: Any) -> None:
    # At every line of `extend`, as if the thread were interrupted there, all merges that len() tells of are whole.
    learned = wps.train(sample_words, wps.TrainingConfig(max_merges=150), engine="compiled").history
    merges = list(learned)
    words = learned.input.words[:2]
    growing = MergeHistory(learned.input)
    seen = set()

    def look() -> None:
        count = len(growing)
        seen.add(count)
        if count:
            assert growing[count - 1] == merges[count - 1]
            assert growing.positions(count - 1).tolist() == learned.positions(count - 1).tolist()
            assert growing.vocabulary_size(count) == learned.vocabulary_size(count)
            token_id = int(learned.column("new_id")[count - 1])
            assert growing.words_with_token(token_id, count) == learned.words_with_token(token_id, count)
        assert len(growing.vocabulary_sizes()) == len(growing.column("value")) == count
        for word in words:
            assert growing.segmentation(word, count) == learned.segmentation(word, count)

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_name in {"extend", "_with_room"}:
            if event == "line":
                look()
            return trace
        return None

    before = sys.gettrace()
    for first, end in ((0, 1), (1, 4), (4, 100), (100, 150)):
        batch = batch_of(learned, first, end)
        sys.settrace(trace)
        try:
            growing.extend(batch)
        finally:
            sys.settrace(before)
        look()
    assert seen == {0, 1, 4, 100, 150}


def test_an_interrupt_while_tokens_are_spelled_out_spoils_nothing(
    sample_words: wps.WordCounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = wps.train(sample_words, wps.TrainingConfig(max_merges=20))
    expected = wps.train(sample_words, wps.TrainingConfig(max_merges=20)).vocabulary.tokens
    table = run.history._table

    class Interrupted(dict[str, int]):
        def setdefault(self, token: str, token_id: int) -> int:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(table, "_ids", Interrupted(table.ids))
        with pytest.raises(KeyboardInterrupt):
            run.vocabulary.tokens  # noqa: B018
    assert run.vocabulary.tokens == expected
    assert all(run.vocabulary.id_of(token) == index for index, token in enumerate(expected))
