"""The history of a training: its merges, the trees of its tokens, and the words that hold a token or a pair."""

from __future__ import annotations

import dataclasses
import itertools
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import wordpiece_studio as wps
from tests.sampling import one_example_in
from tests.training import definition
from wordpiece_studio.errors import StudioError
from wordpiece_studio.training import segmentation
from wordpiece_studio.training.engine import MergeBatch
from wordpiece_studio.training.history import MergeHistory
from wordpiece_studio.training.segmentation import HistoryPlaces

if TYPE_CHECKING:
    from types import FrameType


COLUMNS = ("left_id", "right_id", "new_id", "pair_frequency", "left_frequency", "right_frequency", "symbols_before")


@pytest.fixture
def history() -> Any:
    counts = wps.WordCounts.from_pairs([("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)])
    return wps.train(counts, wps.TrainingConfig(objective="score", special_tokens=["[UNK]"])).history


def batch_of(history: MergeHistory, first: int, end: int) -> MergeBatch:
    """Return merges of a history as an engine would report them."""
    names = (*COLUMNS, "value", "ties", "is_new")
    places = [history.positions(index) for index in range(first, end)]
    widths = [len(history[index].left.removeprefix("##")) for index in range(first, end)]
    return MergeBatch(
        columns={name: history.column(name)[first:end] for name in names},
        places=HistoryPlaces(
            position_counts=np.array([len(positions) for positions in places], dtype=np.int64),
            left_lengths=np.array(widths, dtype=np.int64),
            positions=np.concatenate(places),
        ),
    )


def test_segmentation_at_every_step(history: Any) -> None:
    assert history.segmentation("hugs", 0) == ["h", "##u", "##g", "##s"]
    assert history.segmentation("hugs", 1) == ["h", "##u", "##gs"]
    assert history.segmentation("hugs", 2) == ["hu", "##gs"]
    assert history.segmentation("hugs", 3) == ["hugs"]
    for stranger in ("mug", "", "hugsy"):
        with pytest.raises(StudioError, match=f"'{stranger}' is not in the training corpus"):
            history.segmentation(stranger, 1)


def test_words_with_equal_hashes_are_told_apart(history: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("training.segmentation", "system.arrays"):
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


def test_steps_and_merges_that_do_not_exist(history: Any) -> None:
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


def test_merges_are_not_python_objects(sample_words: Any) -> None:
    learned = wps.train(sample_words, wps.TrainingConfig(max_merges=300), engine="compiled").history
    copy = MergeHistory(learned.input)
    copy.extend(batch_of(learned, 0, 10))
    rest = batch_of(learned, 10, 300)
    before = sys.getallocatedblocks()
    copy.extend(rest)
    assert sys.getallocatedblocks() - before < 60  # larger arrays, and what the interpreter keeps; 290 merges
    assert list(copy) == list(learned)


def test_what_is_counted_can_be_read(sample_words: Any) -> None:
    # At every line of `extend`, as if the thread were interrupted there, all merges that len() counts are complete.
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
        if frame.f_code.co_name in {"extend", "with_room"}:
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


def test_an_interrupt_while_tokens_are_spelled_does_no_harm(
    sample_words: wps.WordCounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = wps.train(sample_words, wps.TrainingConfig(max_merges=20))
    expected = wps.train(sample_words, wps.TrainingConfig(max_merges=20)).vocabulary.tokens
    table = run.history._table

    class Interrupted(dict[str, int]):
        def setdefault(self, token: str, token_id: int) -> int:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(table, "ids", Interrupted(table.ids))
        with pytest.raises(KeyboardInterrupt):
            run.vocabulary.tokens  # noqa: B018
    assert run.vocabulary.tokens == expected
    assert all(run.vocabulary.id_of(token) == index for index, token in enumerate(expected))


words = st.text(alphabet="ab#", min_size=1, max_size=12) | st.sampled_from(["aaaaaaaa", "##ab", "xab", "[UNK]b"])
corpora = st.lists(st.tuples(words, st.integers(1, 9)), min_size=1, max_size=10, unique_by=lambda pair: pair[0])


def leaves(tree: Any) -> list[Any]:
    found, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        found += [node] if node.left is None else []
        waiting += [] if node.left is None else [node.right, node.left]
    return found


def test_a_token_and_its_parts() -> None:
    counts = wps.WordCounts.from_pairs([("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)])
    history = wps.train(counts, wps.TrainingConfig(objective="score", special_tokens=["[UNK]"])).history
    tree: Any = history.merge_tree(10)
    assert (history.token(10), tree.step) == ("hugs", 3)
    assert [history.token(part.token_id) for part in (tree.left, tree.right)] == ["hu", "##gs"]
    assert [tree.left.step, tree.right.step, tree.left.left.step] == [2, 1, 0]
    assert [history.token(leaf.token_id) for leaf in leaves(tree)] == ["h", "##u", "##g", "##s"]
    unknown = history.merge_tree(0)
    assert (unknown.step, unknown.left, unknown.right) == (0, None, None)
    assert leaves(unknown) == [unknown]


@pytest.mark.slow
@given(corpora, st.sampled_from(["##", ""]), st.sampled_from([(), ("[UNK]", "aa")]))
def test_every_tree_is_made_of_the_merges(
    pairs: list[tuple[str, int]], prefix: str, special_tokens: tuple[str, ...]
) -> None:
    config = wps.TrainingConfig(
        objective="count", continuing_subword_prefix=prefix, special_tokens=special_tokens, max_merges=20
    )
    history = wps.train(wps.WordCounts.from_pairs(pairs), config, engine="plain").history
    makers = {}
    for merge in history:
        if merge.is_new:
            makers[merge.token] = merge  # the first: a token is new once
    for token_id, token in enumerate(history.vocabulary(len(history))):
        waiting = [history.merge_tree(token_id)]
        assert waiting[0].token_id == token_id
        spelled = [history.token(leaf.token_id) for leaf in leaves(waiting[0])]
        if token in makers and not (prefix and any(prefix in word for word, _ in pairs)):
            assert spelled[0] + "".join(leaf.removeprefix(prefix) for leaf in spelled[1:]) == token
        while waiting:
            node = waiting.pop()
            text = history.token(node.token_id)
            assert node.step == history.birth_step(node.token_id) == (makers[text].step if text in makers else 0)
            if node.left is None or node.right is None:
                assert node.left is node.right is None
                assert text not in makers
            else:
                maker = makers[text]
                assert (history.token(node.left.token_id), history.token(node.right.token_id)) == (
                    maker.left,
                    maker.right,
                )
                waiting += [node.left, node.right]


def test_a_token_made_twice_has_the_tree_of_the_first_merge() -> None:
    # "ab" inside a word and the word "##ab" are written alike; the more frequent one is made first.
    counts = wps.WordCounts.from_pairs([("##ab", 2), ("xab", 9), ("yab", 9)])
    config = wps.TrainingConfig(objective="count", special_tokens=())
    history = wps.train(counts, config).history
    makers = [merge for merge in history if merge.token == "##ab"]
    assert [merge.is_new for merge in makers] == [True, False]
    tree: Any = history.merge_tree(history.vocabulary(len(history)).id_of("##ab"))
    assert tree.step == makers[0].step < makers[1].step
    assert (history.token(tree.left.token_id), history.token(tree.right.token_id)) == (makers[0].left, makers[0].right)


def test_a_tree_deeper_than_recursion_allows() -> None:
    letters = "".join(map(chr, range(0x4E00, 0x4E00 + 1501)))
    counts = wps.WordCounts.from_pairs([(letters, 1)])
    history = wps.train(counts, wps.TrainingConfig(objective="count", special_tokens=()), engine="compiled").history
    tree: Any = history.merge_tree(history.vocabulary(1500).id_of(letters))
    assert tree.step == 1500
    assert "".join(history.token(leaf.token_id).removeprefix("##") for leaf in leaves(tree)) == letters
    assert tree == history.merge_tree(tree.token_id)
    assert repr(tree) == f"MergeTree(token_id={tree.token_id}, step=1500)"
    assert hash(tree) == hash(history.merge_tree(tree.token_id))
    depth, node = 0, tree
    while node.left is not None:
        depth, node = depth + 1, node.left
    assert depth == 1500


def test_shared_parts_are_one_object() -> None:
    history = wps.train(
        wps.WordCounts.from_pairs([("a" * 1024, 1)]),
        wps.TrainingConfig(objective="count", continuing_subword_prefix="", special_tokens=()),
    ).history
    node: Any = history.merge_tree(history.vocabulary(len(history)).id_of("a" * 1024))
    for _ in range(10):
        assert node.left is node.right
        node = node.left
    assert node.step == 0


@pytest.mark.parametrize("token_id", [-1, 1000])
def test_no_such_token(token_id: int) -> None:
    history = wps.train(wps.WordCounts.from_pairs([("ab", 1)])).history
    with pytest.raises(StudioError, match=f"no token with the ID {token_id}"):
        history.merge_tree(token_id)


spellings = st.text(alphabet="ab#é😀", min_size=1, max_size=10) | st.sampled_from(
    ["aaaa", "aaaaaaa", "abababab", "babab", "##a", "a##", "##ab", "[UNK]", "[UNK]b", "aab</w>", "_a_"]
)
counted_spellings = st.lists(
    st.tuples(spellings, st.sampled_from([1, 1, 1, 2, 3, 1000, 2**40])),
    min_size=1,
    max_size=10,
    unique_by=lambda pair: pair[0],
)
configs = st.builds(
    wps.TrainingConfig,
    objective=st.sampled_from(["score", "likelihood", "count"]),
    max_merges=st.integers(0, 12),
    special_tokens=st.sampled_from([(), ("[UNK]",), ("[UNK]", "##ab", "a", "aa")]),
    continuing_subword_prefix=st.sampled_from(["##", "##", "", "#"]),
    end_of_word_suffix=st.sampled_from([None, None, "</w>", "_", "a", "ab"]),
    end_of_word=st.sampled_from(["symbol", "attached"]),
)
HUG = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)]
TWO_TOKENS_WRITTEN_ALIKE = [("##ab", 2), ("xab", 9), ("yab", 9)]


def most_frequent_first(found: list[str], weights: dict[str, int]) -> list[tuple[str, int]]:
    """Return the words with their weights; equal ones keep the order of the corpus, in which they must be given."""
    return sorted(((word, weights[word]) for word in found), key=lambda pair: -pair[1])


# The symbol `a` inside a word and the symbol `#` with its suffix are both written "#a".
@pytest.mark.slow
@example([("#", 2), ("ba", 3)], wps.TrainingConfig(
    special_tokens=(), continuing_subword_prefix="#", end_of_word_suffix="a", end_of_word="attached"
))  # fmt: skip
# `ba` inside a word and `aba` at its beginning are both written "aba".
@example([("ababa", 3)], wps.TrainingConfig(objective="count", special_tokens=(), continuing_subword_prefix="a"))
@example(TWO_TOKENS_WRITTEN_ALIKE, wps.TrainingConfig(objective="count", special_tokens=()))
@one_example_in(2)  # each is trained anew for every step
@given(counted_spellings, configs)
def test_words_that_contain_a_token_or_a_pair(pairs: list[tuple[str, int]], config: Any) -> None:
    history = wps.train(wps.WordCounts.from_pairs(pairs), config, engine="plain").history
    weights = dict(pairs)
    before: dict[str, list[str]] = {}
    for step in range(len(history) + 1):
        trained, _ = definition.train(pairs, dataclasses.replace(config, max_merges=step))
        now = dict(zip(weights, trained.segmentations, strict=True))
        vocabulary = history.vocabulary(step)
        per_token = history.words_per_token(step).tolist()
        assert {word: history.segmentation(word, step) for word in weights} == now
        for token_id, token in enumerate(vocabulary):
            expected = most_frequent_first([word for word in weights if token in now[word]], weights)
            assert history.words_with_token(token_id, step) == expected
            assert history.words_with_token(token_id, step, limit=2) == expected[:2]
            assert history.number_of_words(token_id, step) == per_token[token_id] == len(expected)
        neighbours = {word: set(itertools.pairwise(tokens)) for word, tokens in now.items()}
        met = set().union(*neighbours.values())
        for left, right in [*met, ("a", "a"), (vocabulary[0], vocabulary[len(vocabulary) - 1])]:
            expected = most_frequent_first([word for word in weights if (left, right) in neighbours[word]], weights)
            assert history.words_with_pair(left, right, step) == expected
            assert history.words_with_pair(left, right, step, limit=1) == expected[:1]
            assert history.number_of_words_with_pair(left, right, step) == len(expected)
        if step:
            assert history.words_touched(step - 1) == [word for word in weights if now[word] != before[word]]
        before = now


def test_words_of_a_token_at_every_step() -> None:
    history = wps.train(
        wps.WordCounts.from_pairs(HUG), wps.TrainingConfig(objective="score", special_tokens=())
    ).history
    ids = history.vocabulary(len(history)).id_of
    assert history.words_with_token(ids("##u"), 0) == [("pun", 12), ("hug", 10), ("pug", 5), ("hugs", 5), ("bun", 4)]
    assert history.words_with_token(ids("##gs"), 0) == []
    assert history.words_with_token(ids("##gs"), 1) == [("hugs", 5)]
    assert history.words_with_token(ids("##gs"), 3) == []
    assert history.words_with_token(ids("hu"), 2) == [("hug", 10), ("hugs", 5)]
    assert history.words_with_pair("##u", "##g", 0) == [("hug", 10), ("pug", 5), ("hugs", 5)]
    assert history.words_with_pair("##u", "##g", 2) == [("pug", 5)]
    assert history.words_with_pair("hug", "##s", 2) == []


def test_neighbors_of_removed_characters_become_adjacent() -> None:
    pairs = [("axb", 3), ("ab", 4), ("aab", 5), ("bbb", 6)]
    config = wps.TrainingConfig(special_tokens=(), alphabet_limit=2, alphabet_overflow="remove")
    history = wps.train(wps.WordCounts.from_pairs(pairs), config).history
    assert history.words_with_pair("a", "##b", 0) == [("ab", 4), ("axb", 3)]


def test_words_are_counted_block_by_block(sample_words: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    history = wps.train(sample_words, wps.TrainingConfig(max_merges=60)).history
    whole = [history.words_per_token(step).tolist() for step in (0, 30, 60)]
    monkeypatch.setattr(segmentation, "_BLOCK", 7)
    assert [history.words_per_token(step).tolist() for step in (0, 30, 60)] == whole
    assert whole[2] == [history.number_of_words(token_id, 60) for token_id in range(len(whole[2]))]


def test_answers_about_the_past_stay_while_the_history_grows(sample_words: Any) -> None:
    trainer = wps.Trainer(sample_words, wps.TrainingConfig(max_merges=80), engine="compiled")
    trainer.run(40)
    ids = range(len(trainer.vocabulary))
    before = [trainer.history.words_with_token(token_id, 40) for token_id in ids]
    trainer.run()
    assert len(trainer.history) == 80
    assert [trainer.history.words_with_token(token_id, 40) for token_id in ids] == before


@given(
    first=st.none() | st.integers(-12, 12), end=st.none() | st.integers(-12, 12), step=st.sampled_from([1, 2, -1, -3])
)
def test_a_history_is_a_sequence(first: int | None, end: int | None, step: int) -> None:
    history = trained_once()
    merges = list(history)
    assert history[first:end:step] == merges[first:end:step]
    assert [history[index] for index in range(len(history))] == list(reversed(history))[::-1] == merges
    assert [merge.step for merge in merges] == list(range(1, len(history) + 1))
    assert all(merge in history and history.index(merge) == merge.step - 1 for merge in merges)
    for stranger in (dataclasses.replace(merges[0], step=2), dataclasses.replace(merges[0], step=99), "hug", None):
        assert stranger not in history
    assert merges[0] == history[-len(history)]
    assert {type(value) for merge in merges for value in dataclasses.astuple(merge)} == {int, str, float, bool}
    with pytest.raises(IndexError):
        history[len(history)]


@cache
def trained_once() -> MergeHistory:
    return wps.train({"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}).history


def test_a_long_history_is_read_in_parts() -> None:
    words = ("".join(map(chr, range(start, start + 700))) for start in (0x4E00, 0x6000))
    history = wps.train(dict.fromkeys(words, 1)).history
    assert len(history) > 1024
    assert [merge.token for merge in history[::-1]] == [history[index].token for index in range(len(history))][::-1]


@pytest.mark.parametrize("objective", ["likelihood", "score", "count"])
def test_a_history_until_a_step_is_that_of_a_training_which_ended_there(objective: Any) -> None:
    words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    whole = wps.train(words, wps.TrainingConfig(objective=objective)).history
    assert len(whole) > 3
    for step in range(len(whole) + 1):
        until = whole.until(step)
        ended = wps.train(words, wps.TrainingConfig(objective=objective, max_merges=step)).history
        assert list(until) == list(ended)
        assert until.vocabulary(step).tokens == ended.vocabulary(step).tokens
        assert until.symbols_after(step) == ended.symbols_after(step)
        assert np.array_equal(until.places.boundary_steps, ended.places.boundary_steps)
        for index in range(step, len(whole)):
            until.extend(whole.part(index, index + 1))
        assert list(until) == list(whole)
        assert np.array_equal(until.places.boundary_steps, whole.places.boundary_steps)


@pytest.mark.parametrize(("merges", "said"), [(0, "0 merges"), (1, "1 merge"), (2, "2 merges")])
def test_one_merge_is_not_merges(merges: int, said: str) -> None:
    run = wps.train({"hug": 10, "pug": 5}, wps.TrainingConfig(max_merges=merges))
    assert repr(run.history) == f"<MergeHistory: {said} by likelihood>"
    assert repr(run).startswith(f"<TrainingRun: {said} by likelihood")
