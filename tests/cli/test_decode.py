from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING

import numpy as np

from tests.cli.calls import COURSE, COURSE_VOCABULARY, fails, run

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

CLS, SEP, FACE, IS = (COURSE_VOCABULARY.index(token) for token in ("[CLS]", "[SEP]", "Fac", "is"))


def give(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_ids_become_text(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    decode = ("decode", "--vocab", course)
    assert run(capsys, *decode, CLS, FACE, IS, SEP) == (0, "Fac is\n", "")
    assert run(capsys, *decode, f"[{CLS}, {FACE}]", "--keep-special-tokens") == (0, "[CLS] Fac\n", "")
    assert json.loads(run(capsys, *decode, IS, "--json")[1]) == {"ids": [IS], "text": "is"}


def test_each_line_of_stdin_is_a_text(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    give(monkeypatch, f"{FACE} {IS}\n\n{IS}\n")
    assert run(capsys, "decode", "--vocab", course)[:2] == (0, "Fac is\n\nis\n")
    for text, message in ((f"{IS}\nx\n", "stdin, line 2: 'x' is neither an id"), ("70\n", "line 1: There is no token")):
        give(monkeypatch, text)
        code, _, err = run(capsys, "decode", "--vocab", course, "-")
        assert code == 1
        assert message in err


def test_what_encode_wrote_comes_back(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ids, lines = tmp_path / "ids.npy", tmp_path / "lines.npy"
    (tmp_path / "a.txt").write_text("This is the\n\nFace course\n")
    written = ("--vocab", course, "-o", ids, "--offsets", lines, "--add-special-tokens")
    assert run(capsys, "encode", tmp_path / "a.txt", *written)[0] == 0
    assert run(capsys, "decode", "--vocab", course, ids, "--offsets", lines)[1] == "This is the\n\nFace course\n"
    assert run(capsys, "decode", "--vocab", course, ids)[1] == "This is the Face course\n"
    assert "ids.npy: nothing could be compared" in run(capsys, "verify", ids, tmp_path / "a.txt")[1]
    np.save(lines, [0, 1])
    assert "lines.npy does not belong to " in fails(capsys, "decode", "--vocab", course, ids, "--offsets", lines)


def test_what_is_no_id(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "floats.npy", [0.5])
    (tmp_path / "bad.npy").write_bytes(b"\x93NUMPY")
    for arguments, message in (
        (["x"], "'x' is neither an id nor a file of ids. Give whole numbers, or"),
        ([70], "There is no token with the id 70"),
        (["-", 1], "Stdin cannot be combined with ids"),
        ([1, "--offsets", "x"], "--offsets needs a file of ids"),
        ([COURSE], "is not a file of ids"),
        ([tmp_path], "cannot be read: Is a directory"),
        ([tmp_path / "floats.npy"], "is not a file of ids"),
        ([tmp_path / "bad.npy"], "is not a file of ids"),
        ([tmp_path / "no.npy"], "does not exist"),
    ):
        assert message in fails(capsys, "decode", "--vocab", course, *arguments)
