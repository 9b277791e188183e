from __future__ import annotations

import io
import json
import random
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.cli.calls import COURSE, COURSE_VOCABULARY, fails, run
from wordpiece_studio.cli.encode import decoded_parts
from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train

if TYPE_CHECKING:
    from pathlib import Path

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
    for text, message in (
        (f"{IS}\nx\n", "stdin, line 2: 'x' is neither a token ID"),
        ("70\n", "line 1: There is no token"),
    ):
        give(monkeypatch, text)
        code, _, err = run(capsys, "decode", "--vocab", course, "-")
        assert code == 1
        assert message in err


def test_what_encode_wrote_comes_back(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ids, lines = tmp_path / "ids.npy", tmp_path / "lines.npy"
    (tmp_path / "a.txt").write_text("This is the\n\nFace course\n")
    written = ("--vocab", course, "-o", ids, "--offsets", lines, "--add-special-tokens")
    assert run(capsys, "encode", tmp_path / "a.txt", *written)[0] == 0
    for more in ([], ["--offsets", lines]):
        assert run(capsys, "decode", "--vocab", course, ids, *more) == (0, "This is the\n\nFace course\n", "")
    assert f"{lines} contains the line offsets of ids.npy, not token IDs. " in fails(
        capsys, "decode", "--vocab", course, lines
    )
    elsewhere = lines.rename(tmp_path / "elsewhere.npy")
    code, out, err = run(capsys, "decode", "--vocab", course, ids)
    assert (code, out) == (0, "This is the Face course\n")
    assert err.endswith("ids.npy end is not known, as lines.npy is not next to it: all of it is one text.\n")
    assert run(capsys, "decode", "--vocab", course, ids, "--offsets", elsewhere)[1:] == (
        "This is the\n\nFace course\n",
        "",
    )
    for more in ([], [tmp_path / "a.txt"]):
        assert "ids.npy contains token IDs, and verify does not encode text again. Run" in fails(
            capsys, "verify", ids, *more
        )
    np.save(lines, [0, 1])
    assert "lines.npy does not belong to " in fails(capsys, "decode", "--vocab", course, ids, "--offsets", lines)


def test_what_decode_cannot_know_is_said(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("is\nthe\n")
    (tmp_path / "vocab.txt").write_text("is\n[CLS]\n[SEP]\n")
    ids, other = tmp_path / "ids.npy", ("--vocab", tmp_path / "vocab.txt")
    assert run(capsys, "encode", tmp_path / "a.txt", "--vocab", course, "-o", ids)[0] == 0
    code, out, err = run(capsys, "decode", ids, "--vocab", course)
    assert (code, out) == (0, "is the\n")
    assert err.endswith("ids.npy end is not known, as encode was not given --offsets: all of it is one text.\n")
    assert "ids.npy was encoded with another vocabulary than this." in run(capsys, "decode", ids, *other)[2]
    assert run(capsys, "encode", tmp_path / "a.txt", *other, "-o", ids, "--offsets", tmp_path / "lines.npy")[0] == 0
    code, out, err = run(capsys, "decode", ids, *other)
    assert (code, out) == (1, "is\n")
    assert "ids.npy, text 2: -1 stands for a word that the vocabulary could not spell" in err


@pytest.mark.parametrize(
    ("texts", "settings", "pre_tokenizer"),
    [
        (["hug hugs, pug. bun's"], {}, "bert"),
        (["Höhe 日本 ❤❤❤", "日日日"], {"byte_alphabet": "seen"}, "whitespace-split+byte-level"),
        (["hug hugs bun"], {"continuing_subword_prefix": "", "end_of_word_suffix": "</w>"}, "bert"),
    ],
)
def test_parts_make_the_whole_text(
    monkeypatch: pytest.MonkeyPatch, texts: list[str], settings: dict[str, str], pre_tokenizer: str
) -> None:
    tokens = train(count_texts(texts, "none", pre_tokenizer), TrainingConfig(vocab_size=60, **settings)).tokenizer()
    rng = random.Random(1)
    ids = [rng.choice((rng.randrange(5), rng.randrange(len(tokens.vocabulary)))) for _ in range(300)]
    ids += tokens.encode(" ".join(texts * 9)).ids + [0] * 30
    for at_once, behind in ((4, 4), (7, 3), (64, 8)):
        monkeypatch.setattr("wordpiece_studio.cli.encode._AT_ONCE", at_once)
        monkeypatch.setattr("wordpiece_studio.cli.encode._BEHIND", behind)
        parts = list(decoded_parts(tokens.decode, ids))
        assert len(parts) > 5
        assert "".join(parts) == tokens.decode(ids)
    assert list(decoded_parts(tokens.decode, [])) == [""]


def test_what_is_no_id(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "floats.npy", [0.5])
    (tmp_path / "bad.npy").write_bytes(b"\x93NUMPY")
    for arguments, message in (
        (["x"], "'x' is neither a token ID nor a file of token IDs. Specify whole numbers, or"),
        ([70], "There is no token with the ID 70"),
        (["-", 1], "Stdin cannot be combined with IDs"),
        ([1, "--offsets", "x"], "--offsets needs a file of token IDs"),
        ([COURSE], "is not a file of token IDs"),
        ([tmp_path], "cannot be read: Is a directory"),
        ([tmp_path / "floats.npy"], "is not a file of token IDs"),
        ([tmp_path / "bad.npy"], "is not a file of token IDs"),
        ([tmp_path / "no.npy"], "does not exist"),
    ):
        assert message in fails(capsys, "decode", "--vocab", course, *arguments)
