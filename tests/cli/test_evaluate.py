"""Tokenizers compared by the command line."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

import wordpiece_studio as wps
from tests.cli.calls import COURSE, fails, run
from tests.peers.foreign import gpt_2, t5
from wordpiece_studio.cli import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wordpiece_studio.cli.messages import Report


@pytest.fixture
def peers(tmp_path: Path) -> list[Path]:
    for name, made in {"gpt.json": gpt_2(), "t5.json": t5()}.items():
        made.save(str(tmp_path / name))
    return [tmp_path / "gpt.json", tmp_path / "t5.json"]


def test_json_is_what_the_library_finds(
    tmp_path: Path, course: Path, peers: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "hug.txt").write_text("hug hugs\n", encoding="utf-8")
    texts = [COURSE, tmp_path / "hug.txt"]
    code, out, err = run(capsys, "evaluate", course, *peers, "--on", *texts, "--parallel", "--json")
    assert (code, err) == (0, "")
    tokenizers = {path.name: wps.load_tokenizer(path) for path in (course, *peers)}
    named = {"course-en.txt": COURSE, "hug.txt": tmp_path / "hug.txt"}
    assert json.loads(out) == wps.evaluate(tokenizers, named, is_parallel=True).to_dict()


def test_the_judged_vocabulary_has_the_figure_that_train_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus, judged = tmp_path / "corpus.txt", tmp_path / "judged"
    corpus.write_text("the hug and the pug [SEP]\nthe bun\nthey hug the pugs\n" * 50, encoding="utf-8")
    options = ["--vocab-size", 30, "--held-out", "--held-out-model", judged, "-o", tmp_path / "out", "--json"]
    printed = json.loads(run(capsys, "train", corpus, *options)[1])["held_out"]
    figures = json.loads(run(capsys, "evaluate", judged, "--on", corpus, "--held-out", "--json")[1])["figures"][0]
    assert (figures["words"], figures["tokens_per_word"]) == (
        printed["words"],
        printed["tokens_per_word"]["likelihood"],
    )
    (tmp_path / "counts.tsv").write_text("hug\t3\n", encoding="utf-8")
    told = fails(capsys, "evaluate", judged, "--on", tmp_path / "counts.tsv", "--held-out")
    assert told.endswith("--held-out: Words with their counts have no lines and cannot be held out. Omit it.\n")


def test_the_table(course: Path, peers: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "evaluate", course, peers[0], "--on", COURSE)
    head, own, gpt, _, words = out.splitlines()
    figures = wps.evaluate([wps.load_tokenizer(course), wps.load_tokenizer(peers[0])], COURSE).figures
    assert (code, err) == (0, "")
    assert (
        head.split()
        == (
            "tokenizer size tokens a word characters a token bytes a token unknown whole words tokens used Rényi bits a"
            " character"
        ).split()
    )
    for line, each in zip((own, gpt), figures, strict=True):
        assert f"{each.vocabulary_size}  " in line
        assert f" {each.tokens_per_word:.3f} " in line
    assert len({len(line) for line in (head, own, gpt)}) == 1
    assert words == f"{figures[0].words} words, as bert-cased and bert find them"
    assert run(capsys, "evaluate", course, peers[0], "--on", COURSE, "--each")[1].splitlines()[4:8] == [
        "course-en.txt", head, own, gpt,
    ]  # fmt: skip


def test_it_reports_its_progress(
    course: Path, peers: list[Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: dict[str, list[tuple[int, int | None]]] = {}

    @contextmanager
    def recording() -> Iterator[Report]:
        yield lambda what, done, total: reported.setdefault(what, []).append((done, total))

    monkeypatch.setattr(evaluate, "progress", recording)
    assert run(capsys, "evaluate", course, *peers, "--on", COURSE)[0] == 0
    assert [*reported] == ["Reading", "Tokenizing"]
    assert all(each[-1][0] == each[-1][1] for each in reported.values())


@pytest.mark.skipif(os.name != "posix", reason="POSIX files")
def test_texts_whose_names_look_alike_are_both_measured(
    tmp_path: Path, course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / "a\u202e.txt", tmp_path / r"a\u202e.txt"]
    for path in paths:
        path.write_text("hug pug", encoding="utf-8")
    found = json.loads(run(capsys, "evaluate", course, "--on", paths[0], "--on", paths[1], "--json")[1])
    assert (found["figures"][0]["words"], len(found["parts"])) == (4, 2)


def test_what_cannot_be_evaluated(tmp_path: Path, course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.txt").write_text("\n", encoding="utf-8")
    for arguments, message in [
        ([course, "--on", "-"], "--on needs a text that can be read twice"),
        ([course, "--on", tmp_path / "none.txt"], "none.txt does not exist"),
        ([course, "--on", tmp_path / "empty.txt"], "empty.txt: There are no words"),
        ([course, "--on", COURSE, "--parallel"], "only one text"),
        ([course, course, "--on", COURSE], "is named twice"),
        ([tmp_path / "none", "--on", COURSE], "none does not exist"),
    ]:
        assert message in fails(capsys, "evaluate", *arguments)
    assert "--on" in fails(capsys, "evaluate", course, code=2)
