from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from typing import TYPE_CHECKING, get_args

import numpy as np
import pytest

import wordpiece_studio as wps
from tests.cli.calls import COURSE, fails, process, run, tokens_in
from wordpiece_studio.libraries.library_training import LibraryTrainer

if TYPE_CHECKING:
    from pathlib import Path


def test_encode_writes_ids(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("is a\n\nThis HOgging [MASK]")
    output, offsets = tmp_path / "ids.npy", tmp_path / "offsets.npy"
    arguments = ["encode", tmp_path / "a.txt", "--vocab", course, "-o", output]
    code, out, err = run(capsys, *arguments, "--offsets", offsets)
    assert (code, err) == (0, "")
    assert tokens_in(output) == ["is", "a", "Th", "##i", "##s", "[UNK]", "[MASK]"]
    assert np.load(offsets).tolist() == [0, 2, 2, 7]
    said = re.sub(r"in [0-9.]+ s \([0-9.]+ MB/s", "in 0.0 s (0.0 MB/s", out)
    assert said == f"7 tokens of 3 texts in 0.0 s (0.0 MB/s, 14.29% [UNK]), written to {output}\n"
    arguments += ["--dtype", "uint16", "--add-special-tokens", "--normalizer", "lowercase", "--json"]
    summary = json.loads(run(capsys, *arguments)[1])
    words = ["is", "a", "[SEP]", "[CLS]", "[SEP]", "[CLS]", "th", "##i", "##s", "h", "##o"]
    assert tokens_in(output) == ["[CLS]", *words, "##g", "##g", "##i", "##n", "##g", "[MASK]", "[SEP]"]
    assert {key: summary[key] for key in ("tokens", "texts", "unknown", "bytes")} == {
        "tokens": 19,
        "texts": 3,
        "unknown": 0,
        "bytes": 25,
    }


@pytest.mark.slow
@pytest.mark.parametrize("by", [None, *get_args(LibraryTrainer)])
def test_whatever_was_trained_encodes_and_decodes(
    by: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "this course is about\n\nthe tokenizer\n"
    (tmp_path / "a.txt").write_text(text)
    options = ["--by", by] if by else ["--bpe", "--objective", "count", "--continuing-subword-prefix="]
    is_own = bool(by) and "sentencepiece" in str(by)
    reading = [] if is_own else ["--pre-tokenizer", "byte-level:no-prefix", "--normalizer", "none"]
    folder, ids, ends = tmp_path / "out", tmp_path / "ids.npy", tmp_path / "ends.npy"
    size = {"sentencepiece-unigram": 40, "tokenizers-wordpiece": 560}.get(str(by), 300)
    assert run(capsys, "train", COURSE, *options, *reading, "--vocab-size", size, "-o", folder)[0] == 0
    encode = ["encode", tmp_path / "a.txt", "--vocab", folder, "-o", ids, "--offsets", ends, "--dtype", "uint16"]
    code, out, err = run(capsys, *encode)
    assert (code, err, "of 3 texts in" in out) == (0, "", True)
    tokenizer = wps.load_tokenizer(folder)
    encoded = wps.encode_texts(tokenizer, text.split("\n")[:3], dtype="uint16")
    assert encoded.ids.tolist() == np.load(ids).tolist() == [
        number for line in text.split("\n") for number in tokenizer.ids(line)
    ]  # fmt: skip
    assert encoded.offsets.tolist() == np.load(ends).tolist()
    assert wps.encode_files(tokenizer, tmp_path / "a.txt").ids.tolist() == encoded.ids.tolist()
    assert run(capsys, "decode", ids, "--vocab", folder)[::2] == (0, "")
    assert run(capsys, "evaluate", folder, "--on", tmp_path / "a.txt")[0] == 0
    if by != "tokenizers-wordpiece" and (by is None or "unigram" not in by):
        assert run(capsys, "decode", ids, "--vocab", folder)[1] == text


def test_encode_tells_what_is_unusual(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_bytes(b"is\nx\xff\n")
    encode = ["encode", tmp_path / "a.txt", "--vocab", course, "-o", tmp_path / "ids.npy"]
    assert "use --errors replace" in fails(capsys, *encode)
    assert not (tmp_path / "ids.npy").exists()
    assert run(capsys, *encode, "--errors", "skip-line")[2].endswith(": 1 invalid line was skipped.\n")
    assert "--dtype: There is no type of IDs" in fails(capsys, *encode, "--dtype", "int8")
    (tmp_path / "vocab.txt").write_text("is\n")
    encode = ["encode", tmp_path / "a.txt", "--encoding", "latin-1", "--vocab", tmp_path / "vocab.txt", "-o"]
    encode.append(tmp_path / "ids.npy")
    code, out, err = run(capsys, *encode)
    assert (code, np.load(tmp_path / "ids.npy").tolist()) == (0, [0, -1])
    assert "50.00% [UNK]" in out
    assert "The vocabulary has no [UNK]: words that it cannot spell have no ID and are written as -1." in err
    assert "--dtype: The unknown token [UNK]" in fails(capsys, *encode, "--dtype", "uint16")
    assert "--add-special-tokens: The vocabulary has no [CLS]" in fails(capsys, *encode, "--add-special-tokens")
    assert "Stdin cannot be combined with files" in fails(capsys, *encode, "-")


@pytest.mark.slow
def test_encode_reads_stdin(course: Path, tmp_path: Path) -> None:
    with process("encode", "-", "--vocab", course, "-o", tmp_path / "ids.npy", stdin=subprocess.PIPE) as encode:
        out, err = encode.communicate(b"is\nis is")
    assert (encode.returncode, err) == (0, b"")
    assert out.startswith(b"3 tokens of 2 texts")
    assert np.load(tmp_path / "ids.npy").tolist() == [65, 65, 65]
    with process("encode", "-", "--vocab", course, "-o", tmp_path / "ids.npy", stdin=subprocess.PIPE) as encode:
        out, err = encode.communicate(b"is\nb\xff\n")
    assert encode.returncode == 1
    assert b"stdin, line 2: the bytes FF at byte 4 are not UTF-8. Specify the encoding with --encoding" in err


def test_the_vocabulary_is_not_written_over(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (course / "vocab.txt").read_bytes()
    assert "is the vocabulary itself" in fails(capsys, "encode", COURSE, "--vocab", course, "-o", course / "vocab.txt")
    assert (course / "vocab.txt").read_bytes() == before


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_being_terminated_leaves_no_temporary_file(course: Path, tmp_path: Path) -> None:
    encode = process("encode", "-", "--vocab", course, "-o", tmp_path / "ids.npy", stdin=subprocess.PIPE)
    assert encode.stdin is not None
    encode.stdin.write(b"hug\n" * 500_000)
    encode.stdin.flush()
    waiting = time.monotonic() + 30
    while not list(tmp_path.glob(".ids.npy*")) and time.monotonic() < waiting:
        time.sleep(0.02)
    encode.send_signal(signal.SIGTERM)
    encode.communicate()
    assert encode.returncode == 143
    assert [path.name for path in tmp_path.iterdir()] == ["course"]
