"""The worked examples of the published material, and random corpora, through the public library."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import wordpiece_studio as wps

DATA = Path(__file__).parents[1] / "data" / "vectors.json"
SHARED = Path(__file__).parents[3] / "shared" / "vectors"
VECTORS = json.loads(DATA.read_text(encoding="utf-8"))
TRAINING = VECTORS["training"] + VECTORS["random"]
if (SHARED / "random.json").exists():  # more of the same, where available
    TRAINING = VECTORS["training"] + json.loads((SHARED / "random.json").read_text(encoding="utf-8"))


def config_of(case: dict[str, Any]) -> wps.TrainingConfig:
    args = case["args"]
    return wps.TrainingConfig(
        objective=case["objective"],
        vocab_size=args.get("vocab_size"),
        max_merges=args.get("max_merges"),
        min_frequency=args.get("min_freq", 0),
        special_tokens=args.get("specials", []),
    )


@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_training(engine: Any) -> None:
    for case in TRAINING:
        trainer = wps.Trainer(wps.WordCounts.from_pairs(case["word_counts"]), config_of(case), engine=engine)
        trainer.run()
        history = trainer.history
        assert trainer.vocabulary.tokens == case["vocab"], case["name"]
        for index, (merge, expected) in enumerate(zip(history, case["merges"], strict=True)):
            found = (merge.left, merge.right, merge.token, merge.pair_frequency, merge.left_frequency)
            assert found == tuple(expected[key] for key in ("left", "right", "token", "pair_freq", "left_freq"))
            found = (merge.right_frequency, merge.symbols_before, merge.ties, merge.is_new)
            assert found == tuple(expected[key] for key in ("right_freq", "symbols_before", "ties", "new"))
            assert merge.value == pytest.approx(expected["value"], rel=1e-12, abs=0)
            assert history.words_touched(index) == expected["words"]
        for word, tokens in case["final_segmentation"].items():
            assert history.segmentation(word, len(history)) == tokens


@pytest.mark.parametrize("case", VECTORS["encoding"], ids=lambda case: case["text"])
def test_encoding(case: dict[str, Any]) -> None:
    vocabulary = case["vocab"]
    if isinstance(vocabulary, str):
        name, objective = vocabulary.split("/")
        by_name = {(one["name"], one["objective"]): one for one in VECTORS["training"]}
        vocabulary = by_name[name, objective]["vocab"]
    tokenizer = wps.Tokenizer(wps.Vocabulary(vocabulary))
    assert tokenizer.encode(case["text"]).tokens == case["tokens"]


@pytest.mark.parametrize("engine", ["plain", "compiled"])
@pytest.mark.parametrize("case", VECTORS["bpe"], ids=["once", "weighted"])
def test_byte_pair_encoding(case: dict[str, Any], engine: Any) -> None:
    config = wps.TrainingConfig(
        objective="count",
        continuing_subword_prefix="",
        end_of_word_suffix=case["end_of_word_suffix"],
        special_tokens=(),
        max_merges=len(case["steps"]) - 1,
    )
    counts = wps.WordCounts.from_pairs(case["word_counts"])
    trainer = wps.Trainer(counts, config, engine=engine)
    trainer.run()
    for step in case["steps"]:
        frequencies: Counter[str] = Counter()
        for word, weight in counts.items():
            for token in trainer.history.segmentation(word, step["step"]):
                frequencies[token] += weight
        assert frequencies == step["tokens"]
        if step["step"]:
            merge = trainer.history[step["step"] - 1]
            assert (merge.left, merge.right, merge.pair_frequency) == (step["left"], step["right"], step["pair_freq"])
    for word, tokens in case["segmentation"].items():
        assert trainer.history.segmentation(word, len(trainer.history)) == tokens


def test_third_merge_of_the_course_is_hugs() -> None:
    # The course learns `hug` third, because it miscalculates 10/(15·15) as 1/15.
    counts = wps.WordCounts.from_pairs([("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)])
    run = wps.train(counts, wps.TrainingConfig(objective="score", special_tokens=()))
    assert [merge.token for merge in run.history][:4] == ["##gs", "hu", "hugs", "hug"]
    assert run.history[2].value == 5 / (15 * 5)
