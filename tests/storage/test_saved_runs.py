"""Trainings kept in files, and what goes on from them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import wordpiece_studio as wps
from tests.cli.calls import run as run_command
from wordpiece_studio.storage.saved_runs import settings_to_continue

if TYPE_CHECKING:
    from pathlib import Path

FIRST, SECOND = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}, {"hugging": 8, "runs": 5, "bugs": 2}


@pytest.fixture
def run() -> wps.TrainingRun:
    return wps.train(FIRST, wps.TrainingConfig(vocab_size=16))


def merges_of(run: wps.TrainingRun) -> list[tuple[str, str]]:
    return [(merge.left, merge.right) for merge in run.history]


def test_a_training_is_what_was_saved(run: wps.TrainingRun, tmp_path: Path) -> None:
    run.save(tmp_path / "a.wpstudio")
    loaded = wps.TrainingRun.load(tmp_path / "a.wpstudio")
    assert loaded.config == run.config
    assert loaded.stop_reason == run.stop_reason == "vocab_size"
    assert loaded.counts.items() == run.counts.items()
    assert list(loaded.history) == list(run.history)
    assert [*wps.load_project(tmp_path / "a.wpstudio")] == ["A"]


def test_what_went_on_is_what_was_saved(run: wps.TrainingRun, tmp_path: Path) -> None:
    further = wps.train(SECOND, run.continued_config(vocab_size=26))
    assert further.vocabulary.tokens[:16] == run.vocabulary.tokens
    assert further.history.segmentation("hugging", 0) == ["hug", "##g", "##i", "##n", "##g"]
    further.save(tmp_path / "b.wpstudio")
    loaded = wps.TrainingRun.load(tmp_path / "b.wpstudio")
    assert list(loaded.history) == list(further.history)
    for step in range(len(further.history) + 1):
        for word in SECOND:
            assert loaded.history.segmentation(word, step) == further.history.segmentation(word, step)
    again = wps.train(SECOND, loaded.continued_config(vocab_size=30))
    assert again.vocabulary.tokens[:26] == further.vocabulary.tokens
    assert again.config.base_merges == (*merges_of(run), *merges_of(further))


def test_what_no_project_is_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.wpstudio").write_bytes(b"none")
    with pytest.raises(wps.StudioError, match=r"a\.wpstudio"):
        wps.TrainingRun.load(tmp_path / "a.wpstudio")


@pytest.fixture
def folder(run: wps.TrainingRun, tmp_path: Path) -> Path:
    counts = run.counts
    wps.save_directory(
        tmp_path / "out", run.vocabulary, counts.normalizer, counts.pre_tokenizer, config=run.config, counts=counts
    )
    return tmp_path / "out"


def test_a_folder_needs_all_its_merges(run: wps.TrainingRun, folder: Path) -> None:
    with pytest.raises(wps.StudioError, match=r"There are no merges in .*out\. Train with --history DIR/merges\.csv"):
        settings_to_continue(folder)
    manifest = folder / "wordpiece-studio.json"
    told = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps({**told, "training": None}), encoding="utf-8")
    with pytest.raises(wps.StudioError, match="It is not known how the vocabulary in"):
        settings_to_continue(folder)


def test_settings_that_do_not_belong_together_are_refused(run: wps.TrainingRun) -> None:
    tokens = run.vocabulary.tokens
    with pytest.raises(wps.StudioError, match=r"base_merges must have pairs of base tokens that become one, not"):
        run.config.continued(tokens, [("h", "##x")])
    with pytest.raises(wps.StudioError, match="base_tokens must be different tokens, the special tokens first"):
        run.config.continued(tokens[::-1], [])


def test_merges_of_another_vocabulary_are_not_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, other, out = tmp_path / "a.txt", tmp_path / "b.txt", tmp_path / "out"
    text.write_text("hug hugs pug pun bun\n" * 9, encoding="utf-8")
    other.write_text("mud muds cat\n" * 9, encoding="utf-8")
    run_command(capsys, "train", text, "--max-merges", 3, "-o", out, "--history", out / "merges.csv")
    assert settings_to_continue(out)[0].base_merges
    run_command(capsys, "train", other, "--max-merges", 3, "-o", out)  # the merges stay
    with pytest.raises(wps.StudioError, match="are not known to be those of its vocabulary"):
        settings_to_continue(out)


def test_byte_pair_encoding_goes_on_with_its_merges() -> None:
    config = wps.TrainingConfig(max_merges=3, objective="count", continuing_subword_prefix="")
    first = wps.train(FIRST, config)
    further = wps.train({"bugs": 5, "hubs": 7, "hug": 4}, first.continued_config(max_merges=3))
    tokenizer = further.bpe_tokenizer()
    assert [tokenizer.encode(word).tokens for word in ("hug", "pun")] == [["hug"], ["p", "un"]]
    assert further.bpe_tokenizer(longest_first=True).encode("pun").tokens == ["p", "un"]
