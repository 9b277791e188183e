"""What is reported about a corpus before it is trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import wordpiece_studio as wps
from wordpiece_studio.system import arrays
from wordpiece_studio.training.forecast import corpus_notices

if TYPE_CHECKING:
    import pytest


def said(text: str, pre_tokenizer: str = "bert", **settings: object) -> str:
    counts = wps.count_texts([text], pre_tokenizer=pre_tokenizer)
    return "\n".join(map(str, corpus_notices(counts, wps.TrainingConfig(**settings))))  # type: ignore[arg-type]


def test_nothing_unusual() -> None:
    assert said("a plain text ## [unk]") == ""


def test_special_token_in_the_text_however_it_is_split() -> None:
    assert "special token [UNK] (2×)" in said("an [UNK] and an x[UNK]")
    assert "special token [UNK] (1×)" in said("an [UNK]", "whitespace-split")


def test_several_special_tokens_are_reported_in_one_sentence() -> None:
    text = said("[UNK] [MASK] and [UNK] again")
    assert text.startswith("The corpus spells out the special tokens [UNK] (2×), [MASK] (1×). They are")
    assert text.count("spells out") == 1


def test_special_token_that_is_a_word() -> None:
    assert "special token hug (2×)" in said("hug pug hug", special_tokens=["[UNK]", "hug"])


def test_words_that_begin_with_the_prefix() -> None:
    assert "begin with the prefix ##, such as ##a (1 in all)" in said("##a b ##", "whitespace-split")


def test_no_unknown_token() -> None:
    assert "[UNK] is not among the special tokens" in said("a", special_tokens=[])


def test_the_unknown_token_may_have_another_name() -> None:
    assert said("a", special_tokens=["<unk>"]) == said("a", special_tokens=[], unk_token="?") == ""


def test_user_tokens_that_were_not_taken_out_of_the_text() -> None:
    assert "without taking the user tokens out of the text: <url>." in said("a <url>", user_tokens=["<url>"])
    counts = wps.count_texts(["a <url>"], user_tokens=["<url>"])
    assert not corpus_notices(counts, wps.TrainingConfig(user_tokens=["<url>"]))


def test_words_are_searched_in_parts_and_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "SLICE", 3)
    counts = wps.WordCounts.from_pairs([*((f"word{n}", 1) for n in range(10)), ("##a", 2), ("x[MINE]y", 4), ("##b", 3)])
    found = corpus_notices(counts, wps.TrainingConfig(special_tokens=("[UNK]", "[MINE]")))
    assert [notice.values for notice in found] == [
        {"tokens": "[MINE] (4×)"}, {"number": 2, "prefix": "##", "word": "##a"},
    ]  # fmt: skip


def test_special_token_that_is_an_ordinary_one_too() -> None:
    notice = "The special token {} is also an ordinary token of this corpus, or may become one."
    assert notice.format("h") in said("hug", special_tokens=["[UNK]", "h"])
    assert said("hug", special_tokens=["[UNK]", "u"]) == ""  # there is only ##u
    assert notice.format("u") in said(
        "hug", special_tokens=["[UNK]", "u"], continuing_subword_prefix="", objective="count"
    )
    assert notice.format("##u") in said("hug", special_tokens=["[UNK]", "##u"])
    assert notice.format("##ug") in said("hug", special_tokens=["[UNK]", "##ug"])
    assert said("hug", special_tokens=["[UNK]", "##h"]) == ""


def test_no_prefix_is_usual_for_byte_pair_encoding_alone() -> None:
    assert said("hug", continuing_subword_prefix="").startswith("The prefix of tokens inside words is empty")
    assert said("hug", continuing_subword_prefix="", objective="count") == ""
