"""Vocabularies of many sizes: their figures are those of vocabularies trained at each size, as others see them."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import Counter
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pytest
import tokenizers

import wordpiece_studio as wps
from wordpiece_studio.evaluation.held_out import Fold, divided_corpus
from wordpiece_studio.libraries.sweep import SweepMethod
from wordpiece_studio.resources import resource_path
from wordpiece_studio.training.config import Objective

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.libraries.library_training import LibraryTrainer

COURSE = resource_path("samples/course-en.txt")
WORDS = ["hug", "pug", "hugs", "bugs", "mug", "low", "lower", "newest", "widest", "new", "größer", "Wörter", "안녕"]
CORPORA = {
    "skewed": "\n".join(" ".join(WORDS[: 1 + n * 7 % len(WORDS)]) for n in range(60)),
    "course": COURSE.read_text(encoding="utf-8") * 5 + "\nand more of the Hugging Face text, tokenized\n" * 9,
    "digits": "\n".join(f"{n} {n * n} x{n % 7}y" for n in range(150)),
}


def bits_of(tokens: Counter[str], trained: Counter[str], vocabulary: list[str]) -> float:
    total = sum(trained.values()) + len(vocabulary)
    return sum(count * math.log2(total / (trained[token] + 1)) for token, count in tokens.items())


def tokens_by_library(folder: Path, text: list[str], counts: list[int]) -> Counter[str]:
    library = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    found: Counter[str] = Counter()
    for word, count in zip(text, counts, strict=True):
        for token in library.encode(word, add_special_tokens=False).tokens:
            found[token] += count
    return found


@pytest.mark.parametrize("objective", get_args(Objective))
@pytest.mark.parametrize("name", CORPORA)
def test_a_size_is_what_is_trained_at_that_size(name: str, objective: Objective, tmp_path: Path) -> None:
    text = CORPORA[name]
    found = wps.sweep(texts=[text], methods=[objective], sizes="10..400", folds=2)
    assert len(found.sizes) >= 8
    for number in range(2):
        part = divided_corpus(texts=[text], fold=Fold(number, 2))
        for place, size in enumerate(found.sizes):
            run = wps.train(part.rest, wps.TrainingConfig(objective=objective, vocab_size=size))
            run.tokenizer().save(tmp_path / f"{number}-{size}")
            held, rest = (
                tokens_by_library(tmp_path / f"{number}-{size}", counts.words, counts.counts.tolist())
                for counts in (part.held_out.counts, part.rest)
            )
            measured = found.methods[objective][number][place]
            figures = measured.figures
            assert measured.size == len(run.vocabulary) == size
            assert (figures.tokens, figures.unknown) == (held.total(), held["[UNK]"])
            assert (figures.words, figures.characters) == (part.held_out.words, part.held_out.characters)
            pieces = run.vocabulary.tokens[5:]
            assert measured.frequent_share == sum(rest[token] >= 100 for token in pieces) / len(pieces)
            alphabet = {*"".join(token.removeprefix("##") for token in pieces)}
            prefixed = [token for token in pieces if token.startswith("##") and token != "##"]
            symbol = math.log2(len(alphabet) + bool(prefixed) + 1)
            symbols = sum(len(token.removeprefix("##")) + 1 for token in pieces) + len(prefixed)
            assert figures.vocabulary_bits == pytest.approx(symbols * symbol)
            unknown = 0.0
            for word, count in part.held_out.counts.items():
                if run.tokenizer().encode(word).tokens == ["[UNK]"]:
                    spelled = (symbol if letter in alphabet else math.log2(0x110000) for letter in word)
                    unknown += count * (symbol + sum(spelled))
            assert figures.code_length == pytest.approx(bits_of(held, rest, run.vocabulary.tokens) + unknown)


def test_what_a_library_merges_first_is_what_it_learns_at_a_smaller_size() -> None:
    text = "\n".join(" ".join(word for place, word in enumerate(WORDS) if n % (place + 2) == 0) for n in range(400))
    sizes = [40, 45, 50]
    trainers: list[LibraryTrainer] = ["tokenizers-wordpiece", "tokenizers-bpe"]
    found = wps.sweep(texts=[text], methods=trainers, sizes=sizes, folds=1)
    part = divided_corpus(texts=[text])
    for trainer in trainers:
        (figures,) = found.methods[trainer]
        config = wps.TrainingConfig(continuing_subword_prefix="##" if trainer.endswith("wordpiece") else "")
        for each in figures:
            run = wps.train_library(part.rest, dataclasses.replace(config, vocab_size=each.size), trainer)
            evaluated = wps.evaluate(run.tokenizer(), part.held_out).figures[0]
            assert (each.size, each.figures.tokens) == (len(run.tokens), evaluated.tokens)
            assert each.figures.unknown == evaluated.unknown


def test_a_library_that_finds_words_itself_is_given_lines() -> None:
    course = COURSE.read_text(encoding="utf-8").splitlines()
    text = "".join(f"{course[n % 4]} {n * n}\n" for n in range(400))
    found = wps.sweep(texts=[text], methods=["sentencepiece-unigram"], sizes=[150, 5000], folds=2)
    assert found.sizes == (150,)
    part = divided_corpus(texts=[text], fold=Fold(1, 2))
    rest = text[: len(text) - part.held_out.characters]
    config = wps.TrainingConfig(vocab_size=150)
    run = wps.train_library([rest], config, "sentencepiece-unigram")
    lines = text[len(rest) :].removesuffix("\n").split("\n")
    tokens = sum(len(run.tokenizer().encode(line).tokens) for line in lines)
    assert found.methods["sentencepiece-unigram"][1][0].figures.tokens == tokens


def test_byte_pair_encoding_is_measured_by_its_merges() -> None:
    config = wps.TrainingConfig(objective="count", continuing_subword_prefix="", end_of_word_suffix="</w>")
    found = wps.sweep(texts=[CORPORA["skewed"]], methods={"bpe": SweepMethod(config)}, sizes=[45, 55], folds=2)
    part = divided_corpus(texts=[CORPORA["skewed"]], fold=Fold(0, 2))
    for each in found.methods["bpe"][0]:
        run = wps.train(part.rest, dataclasses.replace(config, vocab_size=each.size))
        encoded = run.bpe_tokenizer().encode_words(part.held_out.counts.words)
        assert each.figures.tokens == sum(
            len(one.ids) * n for one, n in zip(encoded, part.held_out.counts.counts.tolist(), strict=True)
        )


def test_a_description_is_as_long_as_where_the_vocabulary_is_evaluated() -> None:
    found = wps.sweep(texts=[CORPORA["skewed"]], methods="count", sizes=[40], folds=np.int64(2))  # type: ignore[arg-type]  # as good
    whole = wps.count_texts([CORPORA["skewed"]])
    run = wps.train(whole, wps.TrainingConfig(objective="count", vocab_size=40))
    (figures,) = wps.cross_validate(run, texts=[CORPORA["skewed"]], folds=2).figures
    expected = [each.description_length for each in figures.folds]
    assert found.values("count", "description_length")[:, 0].tolist() == pytest.approx(expected, rel=1e-12)


WRONG: list[tuple[dict[str, Any], str]] = [
    *(({"folds": folds}, "Invalid number of folds") for folds in ("3", 2.5, None, True, 0)),
    ({"methods": None}, "There is no method"),
    ({"methods": "counts"}, "There is no method counts"),
    ({"methods": ["count", 1]}, "There is no method 1"),
    ({"methods": {}}, "There is no method"),
    ({"methods": {"a": 1}}, "A method is expected, not 1"),
    *(({"texts": texts}, "Texts are expected") for texts in (None, 5)),
    ({"config": "x"}, "Settings are expected"),
    *(({"max_word_length": length}, "longest word must have") for length in ("a", 0, -1)),
]


@pytest.mark.parametrize(("wrong", "said"), WRONG)
def test_wrong_arguments_are_named(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(wps.StudioError, match=said):
        wps.sweep(**({"texts": ["a\nb"]} | wrong))


def test_a_single_size_and_sizes_left_out() -> None:
    ends = wps.sweep(texts=["a b\n" * 9], methods="count", sizes="5..40", folds=3)
    assert (ends.sizes, ends.smallest, ends.largest, ends.edges) == ((7,), 7, 7, {})
    found = wps.sweep(texts=["hug pug\n" * 9], methods="count", sizes=[8, 10, 3000], folds=3)
    assert found.sizes == (10,)
    assert found.left_out == (8, 3000)
    assert f"this corpus gives has {found.largest} tokens" in found.conclusions()[1]
    with pytest.raises(wps.StudioError, match=rf"Use sizes of \d+ to {found.largest}"):
        wps.sweep(texts=["hug pug\n" * 9], methods="count", sizes=[3000], folds=3)
    with pytest.raises(wps.StudioError, match=r"one part gives at least \d+ tokens, another at most \d+"):
        wps.sweep(texts=["a b c d e\nx x x x x\nx x x x x\n"], methods="count", sizes=[3000], folds=3)


def test_sizes_that_cannot_be_reached() -> None:
    with pytest.raises(wps.StudioError, match=r"No vocabulary of 5 to 5 tokens .* alphabet alone are \d+ tokens"):
        wps.sweep(texts=[CORPORA["skewed"]], methods=["count"], sizes=[5])
    with pytest.raises(wps.StudioError, match="too few lines for 9 folds"):
        wps.sweep(texts=["one line\nanother"], folds=9)
    with pytest.raises(wps.StudioError, match="Use the text they are from"):
        wps.sweep(wps.CorpusFile(str(COURSE), kind="word-counts"))
    with pytest.raises(wps.StudioError, match="no method"):
        wps.sweep(texts=["a\nb"], methods=[])
    with pytest.raises(wps.StudioError, match="Use one of likelihood"):
        wps.sweep(texts=["a\nb"], methods=["scores"])
    with pytest.raises(wps.StudioError, match="min_value is not available"):
        wps.sweep(texts=["a\nb"], methods=["tokenizers-bpe"], config=wps.TrainingConfig(min_value=2))


def test_it_can_be_stopped() -> None:
    for calls in (1, 4, 12, 30):
        left = iter(range(calls))
        with pytest.raises(wps.CountingStopped):
            wps.sweep(texts=[CORPORA["course"]], folds=2, should_stop=lambda left=left: next(left, None) is None)  # type: ignore[misc]
    said: list[str] = []
    wps.sweep(texts=[CORPORA["course"]], folds=2, progress=lambda what, *_: said.append(what))
    assert [*dict.fromkeys(said)][:2] == ["Reading", "Training likelihood"]


def test_it_is_plain_data() -> None:
    found = wps.sweep(texts=[CORPORA["course"]], methods=["count"], folds=2)
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["sizes"] == list(found.sizes)
    mean = data["methods"]["count"]["figures"]["tokens_per_word"]["mean"]
    assert np.allclose(mean, found.mean("count", "tokens_per_word"))
