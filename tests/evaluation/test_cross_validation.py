"""Tokenizers over the blocks of a text, against training and measuring each block by itself."""

from __future__ import annotations

import io
import json
import random
import statistics
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import wordpiece_studio as wps
from tests.evaluation.test_held_out import divided, text_of
from wordpiece_studio.evaluation.coding import code_bits
from wordpiece_studio.evaluation.figures import best_of, difference, figure_text, known

if TYPE_CHECKING:
    from pathlib import Path

TEXT = text_of(9000)
CONFIGS: dict[str, Any] = {
    name: wps.TrainingConfig(vocab_size=90, objective=name)  # type: ignore[arg-type]
    for name in ("likelihood", "score", "count")
}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8", newline="")
    return tmp_path / "text.txt"


def test_each_block_is_measured_after_training_on_the_others(corpus: Path) -> None:
    counts = wps.count_words(corpus)
    runs = {name: wps.train(counts, config) for name, config in CONFIGS.items()}
    loaded = runs["count"].tokenizer()
    given = {**runs, "loaded": loaded}
    found = wps.cross_validate(given, corpus, folds=4, with_greedy_gap=True)
    assert found.figures == wps.cross_validate(given, texts=[TEXT], folds=4, with_greedy_gap=True).figures
    for number in range(4):
        rest, judged = divided(TEXT, fold=wps.Fold(number, 4))
        words = wps.count_texts([rest])
        made = [wps.train(words, config).tokenizer() for config in CONFIGS.values()]
        expected = wps.evaluate([*made, loaded], texts=[judged], with_greedy_gap=True).figures
        for each, one in zip(found.figures, expected, strict=True):
            block = each.folds[number]
            for name in ("tokens", "words", "tokens_per_word", "renyi_efficiency", "greedy_gap", "vocabulary_bits"):
                assert getattr(block, name) == getattr(one, name)
            assert block.coded_by == "rest"
    for each in found.figures:
        rates = [block.tokens_per_word for block in each.folds]
        mean, deviation = statistics.mean(rates), statistics.stdev(rates)
        assert known(each, "tokens_per_word") == pytest.approx(mean)
        assert figure_text(each, "tokens_per_word").strip("()") == f"{mean:.3f} ± {deviation:.3f}"
        assert (each.words, each.lines) == (len(TEXT.split()), TEXT.count("\n"))
        assert each.share == pytest.approx(1)
        lengths = [block.code_length for block in each.folds]
        vocabularies = [block.vocabulary_bits for block in each.folds]
        assert each.description_length == pytest.approx(sum(lengths) + statistics.mean(vocabularies))
    assert [each.is_retrained for each in found.figures] == [True, True, True, False]
    first, second = ([block.tokens_per_word for block in found.figures[at].folds] for at in (0, 2))
    assert found.difference("likelihood", "count") == difference(first, second)
    with pytest.raises(wps.StudioError, match="likelihood and none have no tokens_per_word on several folds"):
        found.difference("likelihood", "none")
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))["figures"][0]
    assert data["deviations"]["tokens_per_word"] == pytest.approx(statistics.stdev(first))
    assert data["tokens_per_word"] == pytest.approx(statistics.mean(first))
    assert len(data["folds"]) == 4


def test_the_best_is_marked_with_those_whose_difference_may_be_0(corpus: Path) -> None:
    counts = wps.count_words(corpus)
    found = wps.cross_validate({name: wps.train(counts, config) for name, config in CONFIGS.items()}, corpus, folds=5)
    likelihood, score, count = found.figures
    best = best_of(found.figures, "tokens_per_word")
    first = min((likelihood, count), key=lambda each: statistics.mean(block.tokens_per_word for block in each.folds))
    assert first in best
    assert score not in best
    for each in found.figures:
        apart = found.difference(each.name, first.name)
        assert (each in best) == (apart.may_be_zero or each is first)
    ((_, rows),) = found.tables()
    column = rows[0].index("tokens per word")
    assert [row[column].endswith(" *") for row in rows[1:]] == [each in best for each in found.figures]
    order = [each.name for each in found.sorted_by("tokens_per_word").figures]
    assert order == sorted(order, key=lambda name: statistics.mean(
        block.tokens_per_word for each in found.figures if each.name == name for block in each.folds
    ))  # fmt: skip
    assert [each.name for each in found.sorted_by("used_share").figures][-1] == "score"


def test_another_library_is_trained_again_too(corpus: Path) -> None:
    run = wps.train_library(wps.count_words(corpus), wps.TrainingConfig(vocab_size=90), "tokenizers-bpe")
    pieces = wps.train_library([*io.StringIO(TEXT)], wps.TrainingConfig(vocab_size=60), "sentencepiece-unigram")
    found = wps.cross_validate({"bpe": run, "pieces": pieces}, corpus, folds=2)
    train = partial(wps.train_library, config=wps.TrainingConfig(vocab_size=90), trainer="tokenizers-bpe")
    for number in range(2):
        rest, judged = divided(TEXT, fold=wps.Fold(number, 2))
        expected = wps.evaluate(train(wps.count_texts([rest])), texts=[judged]).figures[0]
        assert found.figures[0].folds[number].tokens == expected.tokens
        again = wps.train_library([rest], pieces.config, "sentencepiece-unigram")
        assert found.figures[1].folds[number].tokens == wps.evaluate(again, texts=[judged]).figures[0].tokens
    assert [each.is_retrained for each in found.figures] == [True, True]


def test_it_reports_its_progress_and_can_be_stopped(corpus: Path) -> None:
    run = wps.train(wps.count_words(corpus), CONFIGS["count"])
    reports: list[str] = []
    wps.cross_validate(run, corpus, folds=2, progress=lambda what, *_: reports.append(what))
    ways = ("Training A", "Reading", "Tokenizing by A")
    assert {*reports} == {f"Fold {number} of 2: {way}" for number in (1, 2) for way in ways}
    chance, asked = random.Random(2), 0

    def count(stop: int) -> bool:
        nonlocal asked
        asked += 1
        return asked >= stop

    wps.cross_validate(run, corpus, folds=2, should_stop=partial(count, 1 << 60))
    for stop in sorted(chance.sample(range(1, asked), 8)):
        asked = 0
        with pytest.raises(wps.CountingStopped):
            wps.cross_validate(run, corpus, folds=2, should_stop=partial(count, stop))


def test_what_cannot_be_done_on_folds(corpus: Path) -> None:
    tokenizer = wps.Tokenizer(wps.Vocabulary(["a"]))
    for folds in (True, 1, 0, 2.5, "3"):
        with pytest.raises(wps.StudioError, match="Invalid number of folds"):
            wps.cross_validate(tokenizer, corpus, folds=folds)  # type: ignore[arg-type]
    with pytest.raises(wps.StudioError, match="without lines"):
        wps.cross_validate(tokenizer, wps.count_texts(["a"]))
    with pytest.raises(TypeError, match="foo"):
        wps.cross_validate(tokenizer, corpus, foo=1)  # type: ignore[call-arg]
    with pytest.raises(wps.StudioError, match="too few lines for 3 folds"):
        wps.cross_validate(tokenizer, texts=["a\nb\n"], folds=3)
    with pytest.raises(wps.StudioError, match="no tokenizer"):
        wps.cross_validate([], corpus)


def test_a_library_trained_again_has_a_greedy_gap(tmp_path: Path) -> None:
    lines = ["hug hugs bugs mug pug"] * 40
    config = wps.TrainingConfig(vocab_size=24, continuing_subword_prefix="@@")
    run = wps.train_library(wps.count_texts(lines), config, "tokenizers-wordpiece")
    (tmp_path / "tokenizer.json").write_bytes(run.content)
    both = [run, wps.load_tokenizer(tmp_path / "tokenizer.json")]
    found = wps.cross_validate(both, texts=lines, folds=2, with_greedy_gap=True).figures
    assert found[0].greedy_gap is not None
    for name in ("greedy_gap", "tokens", "vocabulary_bits", "code_length"):  # each block has the same words
        assert getattr(found[0], name) == getattr(found[1], name)


def test_special_tokens_in_a_text_are_learned_as_they_are_judged() -> None:
    tokenizer = wps.train(wps.count_texts([TEXT]), CONFIGS["count"]).tokenizer()
    text = TEXT.replace("\n", "\n[CLS] ")
    rest, judged = divided(text, fold=wps.Fold(1, 4))
    learned, counts = (np.bincount(tokenizer.encode(part).ids, minlength=len(tokenizer)) for part in (rest, judged))
    assert min(learned[tokenizer.id_of("[CLS]")], counts[tokenizer.id_of("[CLS]")]) > 9
    figures = wps.cross_validate(tokenizer, texts=[text], folds=4).figures[0].folds[1]
    assert figures.unknown == 0
    assert figures.code_length == pytest.approx(code_bits(counts, learned, len(tokenizer)))
    (words,) = {
        each.values["words"] for each in wps.check(tokenizer, texts=[text]).checks if each.name == "unknown tokens"
    }
    assert words == wps.evaluate(tokenizer, texts=[text]).figures[0].words


def test_a_greedy_gap_that_one_block_lacks_is_unknown() -> None:
    tokenizer = wps.Tokenizer(wps.Vocabulary(["[UNK]", "hug"], ["[UNK]"]))
    lines = ["hug hug"] * 4 + ["xyz xyz"] * 4
    (figures,) = wps.cross_validate(tokenizer, texts=lines, folds=2, with_greedy_gap=True).figures
    assert [each.greedy_gap for each in figures.folds] == [1, None]
    assert known(figures, "greedy_gap") is None
