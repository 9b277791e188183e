"""Tokenizers that are checked by the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import wordpiece_studio as wps
from tests.cli.calls import COURSE, fails, run

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def test_a_trained_folder_passes(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "check", course, "--on", COURSE)
    assert (code, err) == (0, "")
    assert out.splitlines()[0].split(maxsplit=2)[:2] == ["pass", "IDs"]
    assert "No token of 65 is out of reach" in out


def test_the_code_is_1_only_for_a_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokens = [*SPECIAL, "hug", "Hug", "##s"]
    wps.Tokenizer(wps.Vocabulary(tokens, SPECIAL), "bert-uncased").save(tmp_path)
    code, out, _ = run(capsys, "check", tmp_path)
    assert code == 1
    lines = out.splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("fail"))
    assert lines[place].split(maxsplit=3)[3] == "No text can produce 1 of 3 tokens, because of: normalizer 1"
    assert lines[place + 2] == "    Hug"
    code, out, _ = run(capsys, "check", tmp_path, "--normalizer", "bert-cased", "--json")
    found = json.loads(out)
    assert (code, found["failed"], found["checks"][6]["status"]) == (0, False, "pass")


def test_what_cannot_be_read(tmp_path: Path, course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.txt").write_bytes(b"")
    for command in (["check", course], ["evaluate", course]):
        assert "empty.txt. Choose another text" in fails(capsys, *command, "--on", tmp_path / "empty.txt")
    assert "There is no tokenizer in" in fails(capsys, "check", tmp_path)
    assert run(capsys, "check")[0] == 2
