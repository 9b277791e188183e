"""Tokens, ids, and the views that all steps of a training share."""

from __future__ import annotations

import pytest

from wordpiece_studio.errors import StudioError
from wordpiece_studio.tokenizer.vocabulary import TokenList, Vocabulary


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
def test_id_that_is_not_there(token_id: int) -> None:
    with pytest.raises(StudioError, match="no token with the id"):
        Vocabulary(["a"])[token_id]
