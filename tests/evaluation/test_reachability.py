"""Which tokens no text can produce, against all texts of small alphabets."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wordpiece_studio as wps
from wordpiece_studio.corpus.counts import CountingStopped
from wordpiece_studio.evaluation.reachability import reachability

# Normalizer, pre-tokenizer, the characters of tokens, and the others that texts need: where ## is no word of its own, a
# text may spell it out.
PIPELINES = [
    ("bert-uncased", "bert", "aA,", ""),
    ("bert-uncased", "bert", "ae\u00e9", ""),
    ("bert-cased", "bert", "ab中", ""),
    ("none", "bert", "a1#", ""),
    ("none", "whitespace-split", "a#", ""),
    ("none", "whitespace", "a.,", "#"),
    ("none", "digits", "a1A", "#"),
    ("lowercase", "digits-single", "a1A", "#"),
    ("none", "punctuation", "a ,", ""),
    ("none", "unicode-punctuation", "a한\t", ""),
    ("remove:b", "whitespace+digits-single", "a1b", ""),
    ("nfd", "bert", "e\u00e9\u0301", ""),
    ("language-friendly", "bert", "e\u0301", "\0"),
    ("nfkc", "whitespace-split", "a1\u00b9", "#"),
]


def made_of(characters: str) -> st.SearchStrategy[list[str]]:
    letters = st.text(st.sampled_from(characters), min_size=1, max_size=2)
    tokens = st.tuples(st.sampled_from(["", "##"]), letters).map("".join)
    return st.lists(tokens, min_size=1, max_size=9, unique=True)


def produced(tokenizer: wps.Tokenizer, characters: str, length: int) -> set[str]:
    """All tokens that texts of up to so many characters become, user tokens and unknown ones left out."""
    lines = ("".join(text) for size in range(length + 1) for text in product(characters, repeat=size))
    words = {word for line in lines for word, is_added in tokenizer.split(line) if not is_added}
    return {token for word in words for token in tokenizer.match(word).tokens} - {"[UNK]"}


@pytest.mark.parametrize(("normalizer", "pre_tokenizer", "characters", "others"), PIPELINES)
def test_they_are_those_that_no_text_produces(
    normalizer: str, pre_tokenizer: str, characters: str, others: str
) -> None:
    @settings(deadline=None)
    @given(made_of(characters))
    def check(tokens: list[str]) -> None:
        vocabulary = wps.Vocabulary(["[UNK]", *tokens], ["[UNK]"])
        tokenizer = wps.Tokenizer(vocabulary, normalizer, pre_tokenizer)
        found = reachability(tokenizer)
        assert found.tokens == len(tokens)
        assert found.undecided == ()
        # A token before it, and itself, each as long as they can be, with what keeps characters from being composed.
        length = {"#": 5, "\0": 7}.get(others, 8 if characters == "a#" else 4)
        assert set(found.unreachable) == set(tokens) - produced(tokenizer, characters + others, length)

    check()


@settings(deadline=None)
@given(made_of("e\u0301\u0323"), st.sampled_from(["nfc", "nfkc", "lowercase+nfc"]))
def test_what_would_be_composed_is_never_called_unreachable_wrongly(tokens: list[str], normalizer: str) -> None:
    """Whether marks are composed depends on all that stands before them."""
    tokenizer = wps.Tokenizer(wps.Vocabulary(["[UNK]", *tokens], ["[UNK]"]), normalizer, "whitespace-split")
    found, possible = reachability(tokenizer), produced(tokenizer, "e\u0301\u0323", 5)
    assert not possible.intersection(found.unreachable)
    assert not possible.intersection(found.undecided)


@settings(deadline=None)
@given(made_of("ab"), st.sampled_from(["ab", "a", ""]), st.booleans())
def test_suffixes_and_user_tokens_never_make_it_wrong(tokens: list[str], user: str, has_suffix: bool) -> None:
    suffix = "</w>" if has_suffix else None
    spelled = list(dict.fromkeys([*tokens, *(f"{token}</w>" for token in tokens[::2] if has_suffix)]))
    added = [user] if user and user in spelled else []
    vocabulary = wps.Vocabulary(["[UNK]", *spelled], ["[UNK]"], end_of_word_suffix=suffix, added_tokens=added)
    tokenizer = wps.Tokenizer(vocabulary, "none", "bert")
    assert not produced(tokenizer, "ab", 6).intersection(reachability(tokenizer).unreachable)


def test_reasons() -> None:
    tokens = ["[UNK]", "a", "A", "é", "b", "##b", "##,", "...", "##中", "1", "##1", "한", "abcdef", "##abcde", "##abcd"]
    vocabulary = wps.Vocabulary([*tokens, "##½"], ["[UNK]"])
    tokenizer = wps.Tokenizer(vocabulary, "bert-uncased", "whitespace+punctuation", max_word_length=5)
    assert reachability(tokenizer).unreachable == {
        "A": "normalizer", "é": "normalizer", "##,": "pre-tokenizer", "...": "pre-tokenizer", "##中": "pre-tokenizer",
        "한": "normalizer", "abcdef": "word length", "##abcde": "word length", "##½": "beginning",
    }  # fmt: skip


def test_a_longer_match_in_front_hides_no_token() -> None:
    """Whatever begins a word before it is continued by some longer token, but not for ever."""
    tokens = ["[UNK]", "a", "aa", "aaa", "aab", "aaaab", "##a", "##b", "##ab"]
    assert not reachability(wps.Tokenizer(wps.Vocabulary(tokens, ["[UNK]"]))).unreachable


def test_letters_of_bytes_and_patterns_are_never_refused_where_they_occur() -> None:
    for pre_tokenizer, text in (("byte-level", "hug 7 é"), ("split:isolated:[0-9]", "h1g 12")):
        counts = wps.count_texts([text], pre_tokenizer=pre_tokenizer, normalizer="none")
        tokenizer = wps.train(counts, wps.TrainingConfig(vocab_size=600)).tokenizer()
        found = reachability(tokenizer)
        assert not found.unreachable
        assert not set(tokenizer.encode(text).tokens).intersection(found.undecided)


def test_it_can_be_stopped() -> None:
    with pytest.raises(CountingStopped):
        reachability(wps.Tokenizer(wps.Vocabulary(["[UNK]", "a"])), lambda: True)
