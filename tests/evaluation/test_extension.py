"""What a vocabulary lacks, and what it can do without, against plain tokenizing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wordpiece_studio as wps
from wordpiece_studio.evaluation.extension import with_tokens

if TYPE_CHECKING:
    import random
    from pathlib import Path

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PIECES = [*"abcdeghnpstu", *(f"##{letter}" for letter in "abcdeghnpstu"), "hug", "##ug"]
TOKENIZER = wps.Tokenizer(wps.Vocabulary([*SPECIAL, *PIECES], SPECIAL))
DOMAIN = ["hugs hug pugs the pugs", "bats and cats – hug the pens", "the end, pugs hugs xyz"] * 30
GENERAL = ["the bath has a stage", "the tug"] * 20


def tokens_of(tokenizer: wps.Tokenizer, texts: list[str]) -> tuple[int, int]:
    tokens = [token for text in texts for token in tokenizer.encode(text).tokens]
    return len(tokens), tokens.count("[UNK]")


def extension(**options: object) -> wps.Extension:
    return wps.extend(TOKENIZER, texts=DOMAIN, **{"min_frequency": 1, **options})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def general(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("general") / "general.txt"
    path.write_text("\n".join(GENERAL), encoding="utf-8")
    return path


def test_the_effect_of_every_token_is_that_of_tokenizing_with_it(general: Path) -> None:
    found = extension(general=general)
    assert found.general is not None
    held_out = DOMAIN[81:]
    for number in range(len(found.proposals) + 1):
        tokenizer = with_tokens(TOKENIZER, found.tokens[:number])
        assert tokens_of(tokenizer, held_out) == (found.held_out.tokens[number], found.held_out.unknown[number])
        assert tokens_of(tokenizer, GENERAL) == (found.general.tokens[number], found.general.unknown[number])


@settings(max_examples=25, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_effect_is_exact_for_any_tokens(choice: random.Random) -> None:
    # Tokens that stand in for others may leave the rest of a word without any: it becomes unknown on the way.
    letters = "abc"
    pieces = {choice.choice(["", "##"]) + "".join(choice.choices(letters, k=choice.randint(1, 3))) for _ in range(12)}
    given_tokens = sorted(pieces)
    choice.shuffle(given_tokens)
    half = max(1, len(given_tokens) // 2)
    vocabulary = wps.Vocabulary(["[UNK]", "##z", *given_tokens[:half]], ["[UNK]"])
    tokenizer = wps.Tokenizer(vocabulary)
    texts = [" ".join("".join(choice.choices(letters, k=choice.randint(1, 6))) for _ in range(6)) for _ in range(40)]
    found = wps.extend(tokenizer, texts=texts, include=given_tokens[half:], budget=len(given_tokens) - half)
    assert found.tokens == given_tokens[half:]
    words = [word for word, count in found._texts[0].counts.items() for _ in range(count)]
    for number in range(len(found.tokens) + 1):
        measured = tokens_of(with_tokens(tokenizer, found.tokens[:number]), words)
        assert measured == (found.held_out.tokens[number], found.held_out.unknown[number])


def test_what_is_wanting_is_listed_by_its_cost() -> None:
    found = extension()
    costs = [word.cost for word in found.costly_words]
    assert costs == sorted(costs, reverse=True)
    assert (found.costly_words[0].word, found.costly_words[0].tokens) == ("pugs", ("p", "##ug", "##s"))
    assert {word.word: word.reason.symbol for word in found.unknown_words} == {"–": "–", ",": ",", "xyz": "x"}
    assert "##c" in found.unused_tokens
    assert "[PAD]" not in found.unused_tokens


def test_tokens_are_included_excluded_and_chosen() -> None:
    found = extension(include=["bat", "##ats"], exclude=["pugs", "hugs"], budget=6)
    assert found.tokens[:2] == ["bat", "##ats"]
    assert len(found.tokens) == 6
    assert not {"pugs", "hugs"}.intersection(found.tokens)
    some = found.chosen(["##ats", "the"])
    assert set(some.tokens) <= {"##ats", "the"}
    assert len(some.held_out.tokens) == len(some.tokens) + 1
    assert some.held_out.tokens[-1] == tokens_of(with_tokens(TOKENIZER, some.tokens), DOMAIN[81:])[0]


def test_a_token_that_could_never_be_found_is_refused() -> None:
    lower = wps.Tokenizer(TOKENIZER.vocabulary, "bert-uncased")
    with pytest.raises(wps.StudioError, match="could never be found: the vocabulary's text processing makes 'hugs' of"):
        wps.extend(lower, texts=DOMAIN, include=["Hugs"])
    with pytest.raises(wps.StudioError, match="'hug' already"):
        wps.extend(lower, texts=DOMAIN, include=["hug"])


@pytest.mark.parametrize(
    ("tokens", "what"),
    [
        (["a", "##a"], "has no \\[UNK\\], which stands for unknown words"),
        (["[UNK]", "a", "b"], "not a WordPiece vocabulary: no token has a prefix"),
    ],
)
def test_what_is_no_wordpiece_vocabulary_is_refused(tokens: list[str], what: str) -> None:
    for change in (wps.extend, wps.prune):
        with pytest.raises(wps.StudioError, match=what):
            change(wps.Tokenizer(wps.Vocabulary(tokens, tokens[:1])), texts=DOMAIN)


def test_byte_pair_encoding_and_a_text_of_one_word_are_refused() -> None:
    bpe = wps.BpeTokenizer({"h": 0}, [], "none", "bert")
    for change in (wps.extend, wps.prune):
        with pytest.raises(wps.StudioError, match="this is a BPE model"):
            change(bpe, texts=DOMAIN)  # type: ignore[arg-type]
        with pytest.raises(wps.StudioError, match="too few lines: a tenth of it is held out"):
            change(TOKENIZER, texts=["hugs"])


def test_new_tokens_take_the_place_of_unused_ones() -> None:
    tokens = ["[PAD]", "[unused0]", "[unused1]", *SPECIAL[1:], *PIECES]
    tokenizer = wps.Tokenizer(wps.Vocabulary(tokens, [token for token in tokens if token[0] == "["]))
    found = wps.extend(tokenizer, texts=DOMAIN, min_frequency=1, budget=2)
    after = found.extended(in_unused=True)
    assert after.tokens == ["[PAD]", *found.tokens, *SPECIAL[1:], *PIECES]
    assert after.vocabulary.special_tokens == tuple(SPECIAL)
    assert after.decode(after.encode("pugs").ids) == "pugs"
    assert len(tokens_of(after, DOMAIN)) == len(tokens_of(found.extended(), DOMAIN))
    with pytest.raises(wps.StudioError, match=r"There are 2 \[unused\] tokens in the vocabulary, and 3 to add"):
        wps.extend(tokenizer, texts=DOMAIN, min_frequency=1, budget=3).extended(in_unused=True)


def test_what_overlaps_saves_once() -> None:
    tokenizer = wps.Tokenizer(wps.Vocabulary(["[UNK]", "a", "##a"], ["[UNK]"]))
    found = wps.extend(tokenizer, texts=["aaaa aaa"] * 30, min_frequency=9, budget=1, exclude=["aaaa", "aaa", "aa"])
    assert found.proposals == (wps.Proposal("##aa", "piece", 54),)


def test_included_tokens_count_and_may_be_spelled_in_bytes() -> None:
    assert extension(include=["bat", "##ats"], budget=1).tokens == ["bat"]
    tokenizer = wps.train(
        wps.count_texts(["hello you"] * 9, "none", "byte-level"), wps.TrainingConfig(max_merges=0)
    ).tokenizer()
    found = wps.extend(tokenizer, texts=["hello you"] * 30, include=["Ġyou"], budget=1)
    assert found.tokens == ["Ġyou"]
    assert found.held_out.tokens[1] < found.held_out.tokens[0]


# -- pruning


def test_what_a_text_does_not_use_goes(general: Path) -> None:
    found = wps.prune(TOKENIZER, texts=DOMAIN, general=general, protected=["##ug"])
    assert found.removed == []  # all others are single characters
    vocabulary = wps.Vocabulary([*SPECIAL, *PIECES, "bath", "##age", "the"], SPECIAL)
    found = wps.prune(wps.Tokenizer(vocabulary), texts=DOMAIN, general=general, protected=["##age"])
    assert found.removed == ["bath"]
    after = found.pruned()
    assert [vocabulary[old] for old in found.kept] == after.tokens
    assert found.general is not None
    assert found.general.tokens.tolist() == [tokens_of(each, GENERAL)[0] for each in (wps.Tokenizer(vocabulary), after)]
    assert found.held_out.tokens[0] == found.held_out.tokens[1]


@settings(max_examples=25, deadline=None)
@given(st.sets(st.tuples(st.sampled_from(["", "##"]), st.text("ab", min_size=2, max_size=4)).map("".join), min_size=2))
def test_no_token_needs_another_to_be_found(tokens: set[str]) -> None:
    """Whichever goes, each that stays is found in some word, which is made of what longest match begins words with."""
    for gone in ("", *tokens):
        kept = {"a", "b", "##a", "##b", *tokens} - {gone}
        vocabulary = wps.Vocabulary(sorted(kept))
        for token in kept:
            rest = token.removeprefix("##")
            begins = "" if rest == token else "a"
            while token not in (found := vocabulary.longest_matches(begins + rest)[0]):
                assert len(found[0]) > len(begins)
                begins = found[0]
