from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING

from tests.cli.calls import COURSE, fails, run

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SPOILED = "one\nEl niÃ±o y la niÃ±a\nniño, señor\n"


def test_findings_say_where_they_are_and_what_helps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.txt"
    path.write_text(SPOILED, encoding="utf-8")
    code, out, err = run(capsys, "lint", path, "--normalizer", "bert-uncased")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert lines[0].startswith(f"{path}:2: warning: Wrong encoding: niÃ±o → niño. 2 places are affected.")
    assert f"    {path}:2: niÃ±a → niña" in lines
    assert any(line.startswith(f"{path}:3: warning: Accents are lost: ") for line in lines)
    assert "    Keep accents: --normalizer bert-uncased:keep-accents" in lines
    assert lines[-1] == "2 warnings and 0 notes about 1 file"


def test_a_token_of_ones_own_is_not_spoiled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, tokens = tmp_path / "a.txt", tmp_path / "tokens.txt"
    path.write_text("one niño", encoding="utf-8")
    tokens.write_text("niño\n", encoding="utf-8")
    options = ("lint", path, "--normalizer", "bert-uncased")
    assert "Accents are lost" in run(capsys, *options)[1]
    assert run(capsys, *options, "--user-tokens", tokens)[:2] == (0, "0 warnings and 0 notes about 1 file\n")


def test_findings_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.txt"
    path.write_text(SPOILED, encoding="utf-8")
    code, out, _ = run(capsys, "lint", path, "--json")
    assert out.count("\n") == 1
    result = json.loads(out)
    assert (code, result["warnings"], result["files"]) == (1, 1, 1)
    (finding,) = result["findings"]
    assert (finding["kind"], finding["file"], finding["line"], finding["count"]) == ("mojibake", str(path), 2, 2)
    assert finding["examples"][0] == {"before": "niÃ±o", "after": "niño", "file": str(path), "line": 2}


def test_a_text_in_order_has_no_findings(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "lint", COURSE) == (0, "0 warnings and 0 notes about 1 file\n", "")


def test_stdin_is_examined_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SPOILED.encode())))
    code, out, _ = run(capsys, "lint", "-")
    assert code == 1
    assert out.startswith("stdin:2: warning: Wrong encoding")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    assert "There are no words in stdin." in fails(capsys, "lint", "-")


def test_a_file_that_cannot_be_examined_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.parquet").write_bytes(b"no table")
    assert "a.parquet" in fails(capsys, "lint", tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    assert "has no column with text" in fails(capsys, "lint", tmp_path / "a.csv")
    assert "--column: " in fails(capsys, "lint", tmp_path / "a.csv", "--column", "text")
    assert "does not exist" in fails(capsys, "lint", tmp_path / "no.txt")
    (tmp_path / "empty.txt").touch()
    assert "There are no words in " in fails(capsys, "lint", tmp_path / "empty.txt")


def test_what_train_refuses_is_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for content in (b"hug pug\xff", b"\xffhug pug", b"hug\0 pug\n"):
        (tmp_path / "a.txt").write_bytes(content)
        assert "a.txt, line 1: " in fails(capsys, "count", tmp_path / "a.txt")
        assert "a.txt:1: warning: Characters are lost" in run(capsys, "lint", tmp_path / "a.txt")[1]
