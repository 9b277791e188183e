"""``train --by``: trainings by other libraries."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
import tokenizers

import wordpiece_studio as wps
from tests.cli.calls import COURSE, fails, run
from tests.evaluation.test_held_out import divided
from wordpiece_studio.libraries import library_training
from wordpiece_studio.libraries.training_child import Learned
from wordpiece_studio.storage.manifest import read_manifest

if TYPE_CHECKING:
    from pathlib import Path


def test_byte_pair_encoding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["train", COURSE, "--by", "tokenizers-bpe", "--vocab-size", 90, "-o", tmp_path / "out"]
    code, out, err = run(capsys, *call, "--json")
    assert (code, err) == (0, "")
    summary = json.loads(out)
    assert (summary["tokens"], summary["by"], summary["words"], summary["repetition"]) == (
        90, "tokenizers-bpe", 36, None,
    )  # fmt: skip
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "special_tokens_map.json", "tokenizer.json", "tokenizer.json.card.json", "tokenizer_config.json",
    ]  # fmt: skip
    configuration = json.loads((tmp_path / "out" / "tokenizer_config.json").read_text())
    assert (configuration["tokenizer_class"], configuration["mask_token"]) == ("PreTrainedTokenizerFast", "[MASK]")
    manifest = read_manifest(tmp_path / "out" / "tokenizer.json.card.json")
    assert (manifest.kind, manifest.vocabulary_size, manifest.corpus and manifest.corpus.words) == ("peer", 90, 36)
    assert manifest.training is not None
    assert (manifest.training["trainer"], manifest.versions["tokenizers"]) == ("tokenizers-bpe", tokenizers.__version__)
    code, out, _ = run(capsys, "verify", tmp_path / "out", COURSE)
    assert (code, "unchecked  tokenizer.json  (another library trained it)" in out) == (0, True)
    assert run(capsys, "tokenize", "--vocab", tmp_path / "out", "the course")[1].split()
    assert run(capsys, *call)[0] == 0  # it may replace what it wrote
    configuration_file = tmp_path / "out" / "tokenizer_config.json"
    written = configuration_file.read_text(encoding="utf-8")
    configuration_file.write_text("{}", encoding="utf-8")
    assert "tokenizer_config.json was not written by WordPiece Studio, or has changed" in fails(capsys, *call)
    configuration_file.write_text(written, encoding="utf-8")
    (tmp_path / "out" / "tokenizer.json").write_text("{}", encoding="utf-8")
    assert "tokenizer.json was not written by WordPiece Studio, or has changed" in fails(capsys, *call)


def test_wordpiece_is_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--by", "tokenizers-wordpiece", "--vocab-size", 90, "--twice", "--replay"]
    shutil.copy(COURSE, tmp_path / "course.txt")
    files = ["-o", tmp_path / "out", "--history", tmp_path / "merges.csv"]
    code, out, err = run(capsys, "train", tmp_path / "course.txt", *options, *files)
    assert code == 0
    assert "90 tokens after" in out
    assert "Trained twice, with different results" in err
    training = json.loads((tmp_path / "out" / "wordpiece-studio.json").read_text())["training"]
    assert (training["objective"], training["tie"], training["alphabet"]) == ("count", "ids", "huggingface")
    assert training["continuing_order"] != sorted(training["continuing_order"])
    assert run(capsys, "verify", tmp_path / "out")[0] == 0


@pytest.mark.slow
def test_a_replay_is_written_as_byte_pair_encoding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--by", "tokenizers-bpe", "--vocab-size", 90]
    assert run(capsys, "train", COURSE, *options, "-o", tmp_path / "theirs")[0] == 0
    assert run(capsys, "train", COURSE, *options, "--replay", "--bpe", "-o", tmp_path / "ours")[0] == 0
    out = run(capsys, "compare", tmp_path / "ours", tmp_path / "theirs", "--on", COURSE)[1]
    assert "90 in both, 100.0%" in out
    assert "\n0 of " in out


def test_a_replay_with_another_vocabulary_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    learned = Learned("1", ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "z"))
    monkeypatch.setattr(library_training.Child, "call", lambda *_, **__: (b"", learned))
    options = ["--by", "tokenizers-wordpiece", "--vocab-size", 90, "--replay", "-o", tmp_path / "out"]
    assert "The vocabularies differ from ID 5 on" in fails(capsys, "train", COURSE, *options)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_sentencepiece_reads_text_and_tables_of_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "counts.tsv").write_text("hug\t10\npug\t5\npun\t12\nbun\t4\nhugs\t5\n", encoding="utf-8")
    for name, file, size, word in (
        ("text", COURSE, 90, "tokenization"),
        ("table", tmp_path / "counts.tsv", 16, "hugs"),
    ):
        options = ["--by", "sentencepiece-bpe", "--twice", "--vocab-size", size, "-o", tmp_path / name]
        code, out, err = run(capsys, "train", file, *options)
        assert (code, "was read as words and their counts" in err) == (0, name == "table")
        assert out.startswith(f"{size} tokens in ")
        assert (", trained on words" in out) is (name == "table")
        evaluated = run(capsys, "evaluate", tmp_path / name, "--on", COURSE)[1]
        assert (f"{name} (trained on words)" in evaluated) is (name == "table")
        assert out.endswith("Trained twice, with the same result\n")
        tokenizer = wps.load_tokenizer(tmp_path / name)
        assert len(tokenizer.encode(word).tokens) <= len(word)  # with the mark it has a character more


def test_tokens_are_counted_per_word_of_its_own_pipeline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judged, corpus = tmp_path / "judged", tmp_path / "corpus.txt"
    corpus.write_text("they, hug-hug the (pugs)\na mug, hums!\n" * 50, encoding="utf-8")
    options = ["--by", "tokenizers-bpe", "--vocab-size", 40, "--pre-tokenizer", "whitespace-split", "--held-out"]
    call = ["train", corpus, *options, "--held-out-model", judged, "-o", tmp_path / "out", "--json"]
    held_out = json.loads(run(capsys, *call)[1])["held_out"]
    found = json.loads(run(capsys, "evaluate", judged, "--on", corpus, "--held-out", "--json")[1])
    assert found["words_of"]["pre_tokenizer"] == "whitespace-split"
    assert held_out["words"] == found["figures"][0]["words"] == len(divided(corpus.read_text())[1].split())
    assert held_out["tokens_per_word"]["tokenizers-bpe"] == found["figures"][0]["tokens_per_word"]


def test_too_few_tokens_for_a_library_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for by in ("tokenizers-wordpiece", "tokenizers-bpe"):
        call = ["train", COURSE, "--by", by, "--vocab-size", 5, "-o", tmp_path / "out"]
        told = fails(capsys, *call)
        assert "--vocab-size: A vocabulary of 5 tokens is too small: special tokens and alphabet alone are" in told
        call[call.index(5)] = int(told.partition("alone are ")[2].split()[0])
        assert run(capsys, *call)[0] == 0
    assert not (tmp_path / "none").exists()


@pytest.mark.slow
def test_text_held_out_is_judged_by_what_was_trained_on_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus, rest, other = (tmp_path / name for name in ("corpus.txt", "rest.txt", "other.txt"))
    text = "### the hug and the pug\nthe bun\nthey hug the pugs\n" * 50 + "a mug hums\n" * 20
    corpus.write_text(text, encoding="utf-8", newline="")
    rest.write_text(divided(text)[0], encoding="utf-8", newline="")
    other.write_text("they hug buns\n", encoding="utf-8")
    for by, file in (("tokenizers-bpe", "tokenizer.json"), ("sentencepiece-bpe", "sentencepiece.model")):
        options = ["--by", by, "--vocab-size", 30, "--special-tokens", "[UNK]"]
        judged, alone, out = (tmp_path / f"{by}-{name}" for name in ("judged", "alone", "out"))
        code, printed, err = run(
            capsys, "train", corpus, *options, "--held-out", "--held-out-model", judged, "-o", out, "--json"
        )
        assert (code, err) == (0, "")
        found = wps.evaluate(wps.load_tokenizer(judged), corpus, is_held_out=True)
        figures, splitter = found.figures[0], "bert" if by == "tokenizers-bpe" else "whitespace-split"
        assert found.words_of[1] == splitter
        expected = {"words": figures.words, "tokens_per_word": {by: figures.tokens_per_word}}
        assert json.loads(printed)["held_out"] == expected
        by_other = run(capsys, "train", rest, *options, "--held-out-file", other, "-o", alone)[1]
        value = wps.evaluate(wps.load_tokenizer(alone), other).figures[0].tokens_per_word
        assert by_other.endswith(f"\nHeld-out: {value:.2f} tokens per word\n")
        assert (judged / file).read_bytes() == (alone / file).read_bytes() != (out / file).read_bytes()
        record = read_manifest(judged / f"{file}.card.json").corpus
        assert record is not None
        assert [file.path for file in record.files] == ["../corpus.txt"]
        assert record.sha256_missing == "a part of the corpus was held out"
    warned = run(capsys, "evaluate", out, judged, "--on", corpus, "--held-out")[2]
    assert warned.count("was trained on all of") == 1
    assert f"{out} was trained on all of {corpus}" in warned


def test_wrong_combinations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for message, *options in (
        ('no trainer called "bpe"', "--by", "bpe"),
        ("--twice needs --by", "--twice"),
        ("--replay needs --by", "--replay"),
        ("--vocab-size must be a whole number for", "--by", "tokenizers-bpe"),
        ("--max-merges is not available for", "--by", "tokenizers-bpe", "--vocab-size", 90, "--max-merges", 3),
        (
            "--history and --by tokenizers-bpe cannot",
            "--by",
            "tokenizers-bpe",
            "--vocab-size",
            90,
            "--history",
            "a.csv",
        ),
        ("--min-count and --by", "--by", "sentencepiece-bpe", "--vocab-size", 90, "--min-count", 2),
        ("needs a text that can be read twice", "-", "--by", "sentencepiece-bpe", "--vocab-size", 90),
        ("--byte-fallback needs --by", "--byte-fallback"),
        (
            "--character-coverage is not available",
            "--by",
            "tokenizers-bpe",
            "--vocab-size",
            90,
            "--character-coverage",
            1,
        ),
        (
            "--continuing-subword-prefix ## and",
            "--by",
            "tokenizers-bpe",
            "--vocab-size",
            90,
            "--continuing-subword-prefix",
            "##",
        ),
        (
            "## and --by sentencepiece-bpe cannot be combined: ## is for WordPiece only. Omit it.",
            "--by",
            "sentencepiece-bpe",
            "--vocab-size",
            90,
            "--continuing-subword-prefix",
            "##",
        ),
        ("from 0.98 to 1, not 0.5", "--by", "sentencepiece-bpe", "--vocab-size", 90, "--character-coverage", 0.5),
        ("cannot be replayed", "--by", "sentencepiece-bpe", "--vocab-size", 90, "--replay"),
    ):
        assert message in fails(
            capsys, "train", *([] if "-" in options else [COURSE]), *options, "-o", tmp_path / "out"
        )
    (tmp_path / "vocab.txt").write_text("a\n", encoding="utf-8")
    options = ["--by", "tokenizers-bpe", "--vocab-size", 90]
    assert "a vocab.txt that would not match" in fails(capsys, "train", COURSE, *options, "-o", tmp_path)
    assert not (tmp_path / "out").exists()
