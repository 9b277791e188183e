"""A vocabulary: its tokens, their ids, and the ids of a long list, found by hashes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.errors import StudioError
from wordpiece_studio.tokenizer.vocabulary import AddedToken, TokenIndex, TokenList, Vocabulary


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


@given(st.lists(st.text(max_size=4), unique=True), st.text(max_size=4))
def test_every_token_has_its_index_and_others_have_none(tokens: list[str], other: str) -> None:
    index = TokenIndex(tokens)
    assert [index.id_of(token) for token in tokens] == list(range(len(tokens)))
    assert index.id_of(other) == (tokens.index(other) if other in tokens else None)


class Same(str):
    """A token of which the hash is that of all others."""

    __slots__ = ()

    def __hash__(self) -> int:
        return 7

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) is True


def test_tokens_with_equal_hashes_are_distinguished() -> None:
    tokens = [Same(letter) for letter in "abcd"]
    index = TokenIndex(tokens)
    assert [index.id_of(token) for token in tokens] == [0, 1, 2, 3]
    assert index.id_of(Same("e")) is None
    with pytest.raises(StudioError, match="'b' twice"):
        TokenIndex([*tokens, Same("b")])


@given(st.lists(st.sampled_from("abcdefgh"), min_size=2))
def test_a_duplicate_token_is_named(tokens: list[str]) -> None:
    if len(set(tokens)) == len(tokens):
        TokenIndex(tokens)
        return
    with pytest.raises(StudioError, match="twice"):
        TokenIndex(tokens)


def test_a_table_finds_tokens_before_and_after_it_has_a_dictionary() -> None:
    table = TokenList.of(["a", "b"])
    assert table._ids is None
    assert (table.id_of("b"), table.id_of("c")) == (1, None)
    table.append("c")
    assert (table.id_of("b"), table.id_of("c"), table.ids) == (1, 2, {"a": 0, "b": 1, "c": 2})


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
