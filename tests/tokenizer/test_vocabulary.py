"""A vocabulary: its tokens and their ids."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.errors import StudioError
from wordpiece_studio.tokenizer.vocabulary import AddedToken, TokenList, Vocabulary


def test_ids_are_positions() -> None:
    vocabulary = Vocabulary(["[UNK]", "a", "##b"])
    assert vocabulary.tokens == list(vocabulary) == ["[UNK]", "a", "##b"]
    assert (vocabulary.id_of("##b"), vocabulary.id_of("b"), vocabulary[1]) == (2, None, "a")


def test_view_of_the_first_tokens_does_not_see_later_ones() -> None:
    table = TokenList(["a", "b"])
    now = Vocabulary(table)
    table.append("ab")
    assert now.tokens == ["a", "b"]
    assert "ab" not in now
    assert "ab" in Vocabulary(table)
    assert Vocabulary(table).first(1) == Vocabulary(["a"])


def test_token_twice() -> None:
    with pytest.raises(StudioError, match="'a' twice"):
        Vocabulary(["a", "b", "a"])


@pytest.mark.parametrize("token_id", [-1, 1])
def test_an_unknown_id(token_id: int) -> None:
    with pytest.raises(StudioError, match="no token with the ID"):
        Vocabulary(["a"])[token_id]


@given(st.lists(st.sampled_from("abcdefgh"), min_size=2))
def test_a_duplicate_token_is_named(tokens: list[str]) -> None:
    if len(set(tokens)) == len(tokens):
        TokenList(tokens)
        return
    with pytest.raises(StudioError, match="twice"):
        TokenList(tokens)


def test_a_table_is_pickled_without_its_index() -> None:
    table = pickle.loads(pickle.dumps(TokenList(["a", "b"])))
    table.append("c")
    assert (table.ids, table.tokens) == ({"a": 0, "b": 1, "c": 2}, ["a", "b", "c"])


@pytest.mark.parametrize(
    ("special", "given", "roles"),
    [
        (("[PAD]", "[UNK]"), {}, {"pad_token": "[PAD]", "unk_token": "[UNK]"}),
        (
            ("<unk>", "<s>", "</s>"),
            {},
            {"unk_token": "<unk>", "cls_token": "<s>", "sep_token": "</s>", "bos_token": "<s>", "eos_token": "</s>"},
        ),
        (("[CLS]", "<s>"), {"eos_token": "<e>"}, {"cls_token": "[CLS]", "bos_token": "<s>", "eos_token": "<e>"}),
        (("[PAD]", "[MASK]"), {"pad_token": "", "mask_token": "<m>"}, {"mask_token": "<m>"}),
    ],
)
def test_roles(special: tuple[str, ...], given: dict[str, str], roles: dict[str, str]) -> None:
    vocabulary = Vocabulary([*special, "a"], special, **given)  # type: ignore[arg-type]
    assert vocabulary.roles == roles
    assert vocabulary.pad_token == roles.get("pad_token")
    assert vocabulary.unk_token == roles.get("unk_token", "[UNK]")
    assert set(vocabulary.special_tokens) == {*special, *filter(None, given.values())}
    assert vocabulary.first(1).roles == roles


def test_user_tokens_are_added_tokens_that_are_not_special() -> None:
    added = [AddedToken("[X]", lstrip=True, special=True), "<url>"]
    vocabulary = Vocabulary(["[UNK]", "a", "[X]", "<url>"], ["[UNK]"], added_tokens=added, pieces=2)
    assert (vocabulary.special_tokens, vocabulary.user_tokens) == (("[UNK]", "[X]"), ("<url>",))
    assert vocabulary.added_tokens == (AddedToken("[UNK]", special=True), added[0], AddedToken("<url>"))
    assert (vocabulary.pieces, vocabulary.is_piece("a"), vocabulary.is_piece("<url>")) == (["[UNK]", "a"], True, False)


@pytest.mark.parametrize("wrong", [{"pad_token": 3}, {"added_tokens": [""]}, {"added_tokens": ["[UNK]"]}])
def test_wrong_roles(wrong: dict[str, object]) -> None:
    with pytest.raises(StudioError):
        Vocabulary(["[UNK]"], ["[UNK]"], **wrong)  # type: ignore[arg-type]
