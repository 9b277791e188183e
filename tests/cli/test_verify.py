from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.calls import COURSE, fails, run
from wordpiece_studio.storage.verification import Check, Outcome, Verification

if TYPE_CHECKING:
    from pathlib import Path


def test_verify_says_whether_every_file_agrees(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "course-en.txt, one of the files it was trained on, does not exist. Specify the corpus" in fails(
        capsys, "verify", course
    )
    code, out, err = run(capsys, "verify", course, COURSE)
    assert (code, err) == (0, "")
    assert "agrees     tokenizer.json" in out
    assert out.splitlines()[-1].startswith(f"{course}: all 7 agree (70 tokens after 25 merges, from {COURSE}, in ")
    (course / "vocab.txt").write_text((course / "vocab.txt").read_text().replace("##fu\n", "##uf\n"))
    code, out, _ = run(capsys, "verify", course, COURSE)
    assert code == 1
    assert "differs    vocab.txt  (first difference at line 47, byte " in out
    assert "1 of 7 differ" in out


def test_verify_for_programs(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "verify", course, COURSE, "--json")
    result = json.loads(out)
    assert code == 0
    assert (result["agrees"], result["tokens"], result["merges"]) == (True, 70, 25)
    assert {check["outcome"] for check in result["checks"]} == {"agrees"}


def test_words_and_merges_that_were_written_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, merges = tmp_path / "out", tmp_path / "merges.jsonl"
    options = ["--max-merges", 9, "--with-counts", "--history", merges, "-o", folder]
    assert run(capsys, "train", COURSE, *options)[0] == 0
    out = run(capsys, "verify", folder)[1]
    assert f"from {folder / 'word-counts.tsv'}" in out
    code, out, _ = run(capsys, "verify", merges, folder / "word-counts.tsv")
    assert code == 0
    assert "agrees     merges.jsonl" in out


def test_counts_have_a_manifest_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "counts.csv"
    assert run(capsys, "count", COURSE, "-o", table)[0] == 0
    manifest = json.loads((tmp_path / "counts.csv.card.json").read_text())
    assert manifest["kind"] == "word-counts"
    assert len(manifest["corpus"]["sha256"]) == 64
    assert run(capsys, "verify", table, COURSE)[0] == 0
    table.write_text(table.read_text().replace("This,1", "This,2"))
    assert run(capsys, "verify", table, COURSE)[0] == 1


def test_the_reading_of_the_corpus_is_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = tmp_path / "rows.csv"
    corpus.write_bytes("id,text\n1,hug pug hug\n2,pün bun bun\n".encode("latin-1"))
    options = ["--column", "text", "--encoding", "latin-1", "--min-count", 2, "--max-word-length", 5]
    assert run(capsys, "train", corpus, *options, "-o", tmp_path / "out")[0] == 0
    code, out, _ = run(capsys, "verify", tmp_path / "out", "--json")
    assert code == 0
    assert {check["outcome"] for check in json.loads(out)["checks"]} == {"agrees"}


def test_a_table_that_no_one_exported_is_named_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "words.tsv").write_text("hug\t10\npug\t5\npun\t12\n")
    assert run(capsys, "train", tmp_path / "words.tsv", "--word-counts", "-o", tmp_path / "out")[0] == 0
    assert run(capsys, "verify", tmp_path / "out", tmp_path / "words.tsv", "--word-counts")[0] == 0
    assert run(capsys, "verify", tmp_path / "out")[0] == 0


def test_what_could_not_be_compared_does_not_agree() -> None:
    cases: list[tuple[list[Outcome], bool]] = [([], False), (["unchecked"], False), (["agrees", "unchecked"], True)]
    for outcomes, agrees in cases:
        checks = tuple(Check("a.txt", outcome) for outcome in outcomes)
        assert Verification("", 0, 0, checks, (), ()).agrees is agrees


def test_what_cannot_be_verified_is_reported_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "does not exist" in fails(capsys, "verify", tmp_path / "none")
    assert "has no manifest" in fails(capsys, "verify", tmp_path)
    (tmp_path / "empty.txt").touch()
    assert run(capsys, "count", COURSE, "-o", tmp_path / "counts.tsv")[0] == 0
    message = fails(capsys, "verify", tmp_path / "counts.tsv", tmp_path / "empty.txt")
    assert "There are no words in " in message
    assert "empty.txt. Specify the corpus, its word counts or the project." in message


@pytest.mark.slow
def test_stdin_has_no_corpus_hash_and_the_reason(tmp_path: Path) -> None:
    import subprocess

    from tests.cli.calls import process

    with process("train", "-", "-o", tmp_path / "out", stdin=subprocess.PIPE) as train:
        train.communicate(b"hug hugs pug")
    assert train.returncode == 0
    corpus = json.loads((tmp_path / "out" / "wordpiece-studio.json").read_text())["corpus"]
    assert (corpus["sha256"], corpus["sha256_missing"]) == (None, "it was read from standard input")


def test_rules_are_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "v"
    words = ["--require", "bugs", "--forbid", "##ug", "--forbid-pair", "t", "##h", "--merge", "1", "s", "##h"]
    assert run(capsys, "train", COURSE, "-o", folder, "--max-merges", "5", *words)[0] == 0
    assert json.loads((folder / "wordpiece-studio.json").read_text())["training"]["chosen_merges"] == [[1, "s", "##h"]]
    assert {"bugs", "sh"} < {*(folder / "vocab.txt").read_text().split()}
    code, out, _ = run(capsys, "verify", folder, COURSE)
    assert code == 0
    assert "all 7 agree" in out
