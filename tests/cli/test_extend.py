"""Vocabularies extended and pruned by the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import wordpiece_studio as wps
from tests.cli.calls import fails, run

if TYPE_CHECKING:
    from pathlib import Path

SPECIAL = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TOKENS = [*SPECIAL, *"hugsp", *(f"##{letter}" for letter in "hugsp"), "hug", "put"]


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A tokenizer, the text of a domain, and where results go."""
    wps.Tokenizer(wps.Vocabulary(TOKENS, SPECIAL)).save(tmp_path / "old")
    (tmp_path / "domain.txt").write_text("hugs pugs hug –\n" * 40, encoding="utf-8")
    return tmp_path / "old", tmp_path / "domain.txt", tmp_path / "new"


def test_a_domain_gets_its_tokens(places: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    old, domain, new = places
    code, out, err = run(capsys, "extend", old, "--on", domain, "--general", domain, "--budget", 3, "-o", new)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "3 tokens to add"
    assert lines[3].split() == ["0", "tokens", "2.0000", "2.0000", "4", "40"]
    assert lines[6].split() == ["3", "tokens", "1.0000", "1.0000", "0", "0"]
    assert ["pugs", "word", "108"] in [line.split() for line in lines]
    assert ["–", "no", "token", "–", "36"] in [line.split() for line in lines]
    assert lines[-1] == f"Written to {new}."
    assert wps.load_tokenizer(new).tokens == [*TOKENS, "pugs", "hugs", "–"]


def test_json_says_all_of_it(places: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    old, domain, new = places
    (new.parent / "first.txt").write_text("##gs\n")
    (new.parent / "never.txt").write_text("pugs\n")
    lists = ["--include", new.parent / "first.txt", "--exclude", new.parent / "never.txt"]
    _, out, err = run(capsys, "extend", old, "--on", domain, *lists, "--budget", 2, "--json")
    assert err.endswith("The effect on general text is unknown: specify one with --general.\n")
    found = json.loads(out)
    assert [each["token"] for each in found["tokens"]] == ["##gs", "##ugs"]
    assert found["effect"]["general"] is None
    assert len(found["effect"]["held_out"]["tokens"]) == 3
    assert found["costly_words"][0] == {"word": "pugs", "count": 36, "tokens": ["p", "##u", "##g", "##s"], "cost": 108}
    assert not new.exists()


def test_tokens_go_into_unused_ones(places: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    old, domain, new = places
    run(capsys, "extend", old, "--on", domain, "--budget", 1, "--unused", "-o", new)
    assert wps.load_tokenizer(new).tokens[:3] == ["[PAD]", "pugs", "[UNK]"]
    told = fails(capsys, "extend", old, "--on", domain, "--budget", 2, "--unused", "-o", new.parent / "other")
    assert "There are 1 [unused] tokens in the vocabulary, and 2 to add. Add fewer, or append them." in told
    assert not (new.parent / "other").exists()


def test_tokens_go(places: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    old, domain, new = places
    _, out, _ = run(capsys, "prune", old, "--on", domain, "--general", domain, "-o", new)
    assert out.startswith("1 token of 18 can go, 17 stay")
    assert "Removed: put" in out
    assert "put" not in wps.load_tokenizer(new).tokens
    (new / "vocab.txt").write_text("mine\n")
    assert "vocab.txt" in fails(capsys, "prune", old, "--on", domain, "-o", new)


def test_other_vocabularies_are_refused(places: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    old, domain, new = places
    wps.Tokenizer(wps.Vocabulary(["[UNK]", "a", "b"], ["[UNK]"])).save(new.parent / "plain")
    assert "not a WordPiece vocabulary" in fails(capsys, "extend", new.parent / "plain", "--on", domain, "-o", new)
    (new.parent / "word.txt").write_text("hug")
    assert "too few lines" in fails(capsys, "extend", old, "--on", new.parent / "word.txt", "-o", new)
    assert not new.exists()
