"""How a token came to be."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import wordpiece_studio as wps
from wordpiece_studio.errors import StudioError

words = st.text(alphabet="ab#", min_size=1, max_size=12) | st.sampled_from(["aaaaaaaa", "##ab", "xab", "[UNK]b"])
corpora = st.lists(st.tuples(words, st.integers(1, 9)), min_size=1, max_size=10, unique_by=lambda pair: pair[0])


def test_a_token_and_its_parts() -> None:
    counts = wps.WordCounts.from_pairs([("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)])
    history = wps.train(counts, wps.TrainingConfig(special_tokens=["[UNK]"])).history
    tree: Any = history.merge_tree(10)
    assert (history.token(10), tree.step) == ("hugs", 3)
    assert [history.token(part.token_id) for part in (tree.left, tree.right)] == ["hu", "##gs"]
    assert [tree.left.step, tree.right.step, tree.left.left.step] == [2, 1, 0]
    assert [history.token(leaf.token_id) for leaf in tree.leaves()] == ["h", "##u", "##g", "##s"]
    unknown = history.merge_tree(0)
    assert (unknown.step, unknown.left, unknown.right) == (0, None, None)
    assert list(unknown.leaves()) == [unknown]


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
        spelled = [history.token(leaf.token_id) for leaf in waiting[0].leaves()]
        if token in makers:
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


def test_the_first_of_several_makers_counts() -> None:
    # "ab" inside a word and the word "##ab" are written alike; the more frequent one is made first.
    counts = wps.WordCounts.from_pairs([("##ab", 2), ("xab", 9), ("yab", 9)])
    config = wps.TrainingConfig(objective="count", special_tokens=())
    history = wps.train(counts, config).history
    makers = [merge for merge in history if merge.token == "##ab"]
    assert [merge.is_new for merge in makers] == [True, False]
    tree: Any = history.merge_tree(history.vocabulary(len(history)).id_of("##ab"))
    assert tree.step == makers[0].step < makers[1].step
    assert (history.token(tree.left.token_id), history.token(tree.right.token_id)) == (makers[0].left, makers[0].right)


def test_a_chain_deeper_than_calls_can_be() -> None:
    letters = "".join(map(chr, range(0x4E00, 0x4E00 + 1501)))
    counts = wps.WordCounts.from_pairs([(letters, 1)])
    history = wps.train(counts, wps.TrainingConfig(objective="count", special_tokens=()), engine="compiled").history
    tree: Any = history.merge_tree(history.vocabulary(1500).id_of(letters))
    assert tree.step == 1500
    assert "".join(history.token(leaf.token_id).removeprefix("##") for leaf in tree.leaves()) == letters
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
    with pytest.raises(StudioError, match=f"no token with the id {token_id}"):
        history.merge_tree(token_id)
