"""Two tokenizers compared by the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import wordpiece_studio as wps
from tests.cli.calls import COURSE, fails, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> list[Path]:
    """Return two vocabularies, with their merges beside them."""
    folders = [tmp_path / name for name in ("score", "count")]
    for folder in folders:
        options = ["--objective", folder.name, "--vocab-size", 60, "--history", f"{folder}.csv", "-o", folder]
        assert run(capsys, "train", COURSE, *options)[0] == 0
    return folders


def test_words_and_vocabularies(two: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    found = wps.compare(*map(wps.load_tokenizer, two), COURSE)
    overlap, words = found.overlap, found.differences
    assert words is not None
    number = f"{len(words.words)} of {words.distinct_words} distinct words are split differently"
    code, out, err = run(capsys, "compare", *two, "--on", COURSE, "--top", 2)
    assert (code, err) == (0, "")
    assert out.splitlines()[:3] == [
        f"60 and 60 tokens: {overlap.shared} in both, {overlap.share:.1%} of all",
        f"of the first 60  {overlap.by_rank[-1][1]:.1%}",
        f"{number}, {words.share:.2%} of the text",
    ]
    assert [line.split() for line in out.splitlines()[4:]] == [
        [*each.first, *each.second, each.word, str(each.count)] for each in words.words[:2]
    ]
    code, out, _ = run(capsys, "compare", *two, "--on", COURSE, "--top", 1, "--json")
    printed = json.loads(out)
    assert printed["overlap"]["only_first"] == list(overlap.only_first)
    assert printed["differences"]["differing_words"] == len(words.words)
    assert [each["word"] for each in printed["differences"]["words"]] == [words.words[0].word]
    assert json.loads(run(capsys, "compare", *two, "--json")[1])["differences"] is None


def test_tables_of_merges(two: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    tables = [f"{folder}.csv" for folder in two]
    printed = json.loads(run(capsys, "compare", *tables, "--json")[1])["divergence"]
    step, first, second = printed["step"], printed["first"], printed["second"]
    assert run(capsys, "compare", *tables)[1] == (
        f"A and B diverge at step {step}: A merges {' + '.join(first)}, B merges {' + '.join(second)}\n"
    )
    assert run(capsys, "compare", tables[0], tables[0])[1] == "All merges are the same\n"
    assert "can only be compared with another" in fails(capsys, "compare", tables[0], two[1])
    assert "without --on" in fails(capsys, "compare", *tables, "--on", COURSE)
