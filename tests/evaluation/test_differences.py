"""Where two tokenizers differ, against their encodings of the words."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import wordpiece_studio as wps
from tests.libraries.library_models import STRUCTURES, sentencepiece_model
from wordpiece_studio.evaluation.differences import overlap

if TYPE_CHECKING:
    from pathlib import Path

WORDS = [f"{stem}{end}" for stem in ("hug", "pug", "bun", "mug", "fox") for end in ("", "s", "ging", "ged", "né")]
TEXT = " ".join(random.Random(3).choices(WORDS, range(1, len(WORDS) + 1), k=2000)) + " , hug-pug 2024"


def run_of(objective: Any, merges: int = 12, **options: Any) -> wps.TrainingRun:
    return wps.train(wps.count_texts([TEXT]), wps.TrainingConfig(objective=objective, max_merges=merges, **options))


def test_words_that_are_cut_differently_are_those_with_other_tokens() -> None:
    first, second = run_of("score"), run_of("count")
    found = wps.compare(first, second, texts=[TEXT]).differences
    assert found is not None
    tokenizers = first.tokenizer(), second.tokenizer()
    counts = Counter(tokenizers[0].pipeline.words(TEXT))
    cuts = {word: tuple(tuple(each.encode(word).tokens) for each in tokenizers) for word in counts}
    expected = {(word, counts[word], *cut) for word, cut in cuts.items() if cut[0] != cut[1]}
    assert {(each.word, each.count, each.first, each.second) for each in found.words} == expected
    assert len(expected) > 5
    assert [each.count for each in found.words] == sorted((each.count for each in found.words), reverse=True)
    assert (found.distinct_words, found.total) == (len(counts), counts.total())
    assert found.share == sum(count for _, count, *_ in expected) / counts.total()
    assert wps.compare(first, second, first.counts).differences == found


def test_cuts_are_compared_by_their_places() -> None:
    prefixed = wps.Tokenizer(wps.Vocabulary(["[UNK]", "hug", "h", "##ug", "##s", "x"], ["[UNK]"]))
    bare = wps.BpeTokenizer(
        {"h": 0, "u": 1, "g": 2, "s": 3, "ug": 4, "hug": 5}, [("u", "g"), ("h", "ug")], "none", "bert"
    )
    found = wps.compare(prefixed, bare, texts=["hug hugs x hugh hugh u"]).differences
    assert found is not None
    assert [(each.word, each.first, each.second) for each in found.words] == [
        ("hugh", ("[UNK]",), ("hug", "h")),
        ("x", ("x",), ()),
        ("u", ("[UNK]",), ("u",)),
    ]


@pytest.mark.parametrize(
    "name", ["gpt_2", "t5", *(pytest.param(name, marks=pytest.mark.slow) for name in ("roberta", "llama_2", "clip"))]
)
def test_tokenizers_that_find_words_otherwise_read_each_word_as_a_text(tmp_path: Path, name: str) -> None:
    STRUCTURES[name]().save(str(tmp_path / "tokenizer.json"))
    other, run = wps.load_tokenizer(tmp_path / "tokenizer.json"), run_of("count")
    found = wps.compare(run, other, texts=[TEXT]).differences
    assert found is not None
    before = "" if other.reading is None else " "
    for word in ("hugging", "pug", "buns", ","):
        text = word if word == "," else before + word
        theirs, ours = other.encode(text), run.tokenizer().encode(word)
        starts = [start for start, _ in theirs.offsets][len(theirs) > 1 and theirs.tokens[0] in "▁Ġ" :]
        places = [
            [max(start - len(text) + len(word), 0) for start in starts],
            [start for start, _ in ours.offsets],
        ]
        shown = [(each.first, each.second) for each in found.words if each.word == word]
        assert shown == [(tuple(ours.tokens), tuple(theirs.tokens))] * (
            places[0] != places[1] or "[UNK]" in ours.tokens
        )
    assert wps.compare(other, other, texts=[TEXT]).differences.words == ()  # type: ignore[union-attr]


def test_the_mark_before_a_word_is_no_cut(tmp_path: Path) -> None:
    (tmp_path / "pieces.model").write_bytes(sentencepiece_model())
    pieces = wps.load_tokenizer(tmp_path / "pieces.model")
    assert (pieces.encode("x").tokens, pieces.encode("ex").tokens) == (["▁", "x"], ["▁", "e", "x"])
    whole = wps.Tokenizer(wps.Vocabulary(["[UNK]", "x", "ex"], ["[UNK]"]))
    found = wps.compare(whole, pieces, texts=["x ex"]).differences
    assert found is not None
    assert found.words == (wps.WordDifference("ex", 1, ("ex",), ("▁", "e", "x")),)


def test_the_mark_after_a_word_is_no_cut() -> None:
    counts = wps.count_texts(["low lower low"], pre_tokenizer="whitespace")
    bare = {"objective": "count", "continuing_subword_prefix": "", "end_of_word_suffix": "</w>", "max_merges": 2}
    first = wps.train(counts, wps.TrainingConfig(**bare, end_of_word="symbol"))
    assert first.bpe_tokenizer().encode("low").tokens == ["low", "</w>"]
    found = wps.compare(first, wps.train(counts, wps.TrainingConfig(objective="count", max_merges=2)), counts)
    assert found.differences is not None
    assert found.differences.words == ()


def test_words_of_bytes_are_shown_as_text() -> None:
    vocabulary = wps.Vocabulary(["[UNK]", "Ġ", "Ã", "©", "Ġn", "n", "Ã©"], ["[UNK]"], "")
    fewer = wps.Vocabulary(["[UNK]", "Ġ", "Ã", "©", "Ġn", "n"], ["[UNK]"], "")
    tokenizers = [wps.Tokenizer(each, "none", "byte-level") for each in (vocabulary, fewer)]
    found = wps.compare(*tokenizers, texts=["né né"]).differences
    assert found is not None
    assert found.words == (wps.WordDifference(" né", 2, ("Ġn", "Ã©"), ("Ġn", "Ã", "©")),)


def test_the_first_merge_that_differs() -> None:
    by_count, smallest, more = run_of("count"), run_of("count", tie="ids"), run_of("count", 15)
    first, second = ([(merge.left, merge.right) for merge in run.history] for run in (by_count, run_of("score")))
    step = next(n for n, pair in enumerate(first) if pair != second[n])
    found = wps.compare(by_count, run_of("score"))
    assert found.divergence == wps.Divergence(step + 1, first[step], second[step], is_tie=False)
    assert found.differences is None
    pair = (more.history[12].left, more.history[12].right)
    assert wps.divergence(by_count, more.history) == wps.Divergence(13, None, pair)
    assert wps.divergence(by_count.history, by_count) is None
    divergence = wps.divergence(by_count, smallest)
    assert divergence is not None
    assert divergence.is_tie
    assert by_count.history[divergence.step - 1].ties > 1


@pytest.mark.parametrize("history", [None, "hug", [("h",)], [1], wps.Tokenizer(wps.Vocabulary(["h"]))])
def test_what_has_no_merges(history: object) -> None:
    with pytest.raises(wps.StudioError, match="has no merges"):
        wps.divergence([], history)


def test_merges_of_byte_pair_encoding_are_compared() -> None:
    vocab = {"a": 0, "b": 1, "ab": 2, "ba": 3}
    first, second = (wps.BpeTokenizer(vocab, merges, "none", "bert") for merges in ([("a", "b")], [("b", "a")]))
    assert wps.compare(first, second).divergence == wps.Divergence(1, ("a", "b"), ("b", "a"))
    same = wps.compare(first, first)
    assert (same.divergence, same.has_merges) == (None, True)
    assert not wps.compare(first, wps.Tokenizer(wps.Vocabulary(["a"]))).has_merges


def test_vocabularies_overlap_by_set_and_by_rank() -> None:
    tokens = [f"t{number}" for number in range(300)]
    first = wps.Tokenizer(wps.Vocabulary(tokens))
    second = wps.Tokenizer(wps.Vocabulary([*reversed(tokens[:150]), *(f"x{n}" for n in range(100))]))
    found = overlap(first, second)
    assert (found.sizes, found.shared, found.share) == ((300, 250), 150, 150 / 400)
    assert (found.only_first, found.only_second[:2]) == (tuple(tokens[150:]), ("x0", "x1"))
    assert found.by_rank == ((100, 0.5), (200, 0.75), (250, 0.6))


def test_marks_of_words_are_compared_by_their_meaning(tmp_path: Path) -> None:
    prefixed = wps.Tokenizer(wps.Vocabulary(["hug", "##s", "é", "u"]))
    marked = wps.Tokenizer(wps.Vocabulary(["Ġhug", "s", "ĠÃ©", "u"], (), ""), "none", "byte-level")
    assert overlap(prefixed, marked).only_first == ("u",)
    assert overlap(prefixed, marked).only_second == ("u",)
    bare = wps.BpeTokenizer({"hug": 0, "s": 1, "u": 2}, [], "none", "bert")
    assert overlap(prefixed, bare).only_second == ("s",)


def test_words_are_compared_on_one_text() -> None:
    run = run_of("count")
    with pytest.raises(wps.StudioError, match="several were given"):
        wps.compare(run, run, {"a": run.counts, "b": run.counts})
    with pytest.raises(wps.StudioError, match="'x' is not a tokenizer"):
        wps.compare("x", run)  # type: ignore[arg-type]
    with pytest.raises(wps.CountingStopped):
        wps.compare(run, run, run.counts, should_stop=lambda: True)
