"""Sizes and methods compared by the command line."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

import wordpiece_studio as wps
from tests.cli.calls import fails, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    words = ["hug", "pug", "hugs", "bugs", "mug", "low", "lower", "newest", "widest", "new"]
    text = "".join(" ".join(words[: 1 + n * 7 % 10]) + "\n" for n in range(60))
    (tmp_path / "text.txt").write_text(text, encoding="utf-8")
    return tmp_path / "text.txt"


def test_it_says_which_size_and_method_to_take(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "sweep", corpus, "--sizes", "10..64", "--folds", 3)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert [line for line in lines if line in ("likelihood", "score", "count")] == ["likelihood", "score", "count"]
    assert lines[1].split("  ")[-1] == "advised by"
    assert "Measured on text not trained on: mean ± standard deviation over 3 folds." in lines
    assert any(line.startswith("95% occur 100 times") and line.split()[-1] == "–" for line in lines)
    assert any("Gowda and May 2020" in line for line in lines)
    assert any(line.startswith("The shortest description is that of ") for line in lines)
    assert any("95% interval" in line for line in lines)


def test_json_a_page_and_the_tokenizer(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, folder = corpus.with_name("sweep.html"), corpus.with_name("best")
    options = ["--objective", "count", "--by", "tokenizers-wordpiece", "--sizes", "28,29,30", "--folds", 2]
    options += ["--special-tokens", "[UNK]", "--min-frequency", 2, "--normalizer", "nfc"]
    code, out, err = run(capsys, "sweep", corpus, *options, "-o", page, "--export", folder, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert list(found["methods"]) == ["count", "tokenizers-wordpiece"]
    assert found["sizes"] == [28, 29, 30]
    assert found["exported"]["rule"] == "description"
    assert [found["exported"]["method"], found["exported"]["size"]] == found["best"]["description"]
    tokenizer = wps.load_tokenizer(folder)
    assert (len(tokenizer), tokenizer.tokens[0]) == (found["exported"]["size"], "[UNK]")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    # A page that was written may be written again, but not one that was changed since.
    assert run(capsys, "sweep", corpus, *options, "-o", page)[0] == 0
    page.write_text(page.read_text(encoding="utf-8").replace("Vocabulary sizes", "Sizes"), encoding="utf-8")
    assert "--force" in fails(capsys, "sweep", corpus, *options, "-o", page)


def test_what_is_wrong_is_said_before_anything_is_read(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Invalid sizes: 9..1" in fails(capsys, "sweep", corpus, "--sizes", "9..1")
    assert "There is no rule best" in fails(capsys, "sweep", corpus, "--rule", "best", "--export", corpus.parent / "x")
    assert "--rule needs --export" in fails(capsys, "sweep", corpus, "--rule", "doubling")
    assert "objective" in fails(capsys, "sweep", corpus, "--objective", "scores")
    assert "can be read twice" in fails(capsys, "sweep", "-")
    assert "--folds must be at least 1" in fails(capsys, "sweep", corpus, "--folds", 0, code=2)
    assert "too few lines for 99 folds" in fails(capsys, "sweep", corpus, "--folds", 99)
    assert "no trainer" in fails(capsys, "sweep", corpus, "--by", "foo")
    assert "--max-word-length must be" in fails(capsys, "sweep", corpus, "--max-word-length", 0, code=2)
    assert "is not a folder" in fails(capsys, "sweep", corpus, "-o", corpus / "page.html")
    assert "is not a folder" in fails(capsys, "sweep", corpus, "--export", corpus)


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
def test_a_folder_that_takes_no_files_is_seen_before(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "The folder /proc cannot be written to" in fails(capsys, "sweep", corpus, "-o", "/proc/x.html")


def test_a_rule_that_holds_for_no_size_exports_nothing_but_the_figures_are_there(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = corpus.parent / "new" / "page.html"
    options = ["--sizes", "30,35", "--rule", "frequency", "--export", corpus.parent / "x", "--objective", "count"]
    code, out, err = run(capsys, "sweep", corpus, *options, "-o", page, "--json")
    assert (code, json.loads(out)["sizes"]) == (1, [30, 35])
    assert "The rule frequency holds for none of the sizes" in err
    assert page.is_file()
    assert not (corpus.parent / "x").exists()
    assert run(capsys, "sweep", corpus, *options[:2], "-o", page, "--export", page.parent)[0] == 0
    assert page.with_name("vocab.txt").is_file()
