from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.cli.calls import COURSE_VOCABULARY, KOREAN_VOCABULARY, POSIX, SENTENCE, fails, process, run
from tests.libraries.library_models import RUNAWAY, gpt_2

if TYPE_CHECKING:
    from pathlib import Path


def test_the_courses_vocabulary_and_its_sentence(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (course / "vocab.txt").read_text(encoding="utf-8").split("\n") == [*COURSE_VOCABULARY, ""]
    code, out, err = run(capsys, "tokenize", "--vocab", course, SENTENCE)
    expected = "Th ##i ##s is th ##e Hugg ##i ##n ##g Fac ##e c ##o ##u ##r ##s ##e [UNK]\n"
    assert (code, out, err) == (0, expected, "")
    assert run(capsys, "tokenize", "--vocab", course / "vocab.txt", "HOgging")[1] == "[UNK]\n"


def test_the_korean_notebooks_vocabulary_and_its_sentence(korean: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (korean / "vocab.txt").read_text(encoding="utf-8").split("\n") == [*KOREAN_VOCABULARY, ""]
    # The notebook does not lower-case when it tokenizes.
    _, out, _ = run(capsys, "tokenize", "--vocab", korean, "--normalizer", "none", SENTENCE)
    assert out == "[UNK] is t ##h ##e [UNK] [UNK] c ##o ##u ##r ##s ##e [UNK]\n"
    _, out, _ = run(capsys, "tokenize", "--vocab", korean, "This, is.")
    assert out == "t ##h ##i ##s is\n"


def test_ids_and_json(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "tokenize", "--vocab", course, "--ids", "is a\nis")[1] == "65 34\n65\n"
    out = run(capsys, "tokenize", "--vocab", course, "--json", "Hugging\x1b\nis")[1]
    assert [json.loads(line) for line in out.splitlines()] == [
        {
            "text": "Hugging\x1b",
            "tokens": ["Hugg", "##i", "##n", "##g"],
            "ids": [62, 13, 17, 11],
            "offsets": [[0, 4], [4, 5], [5, 6], [6, 7]],
        },
        {"text": "is", "tokens": ["is"], "ids": [65], "offsets": [[0, 2]]},
    ]
    assert "\x1b" not in out


def test_explain_shows_the_ladder(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "explain", "--vocab", course, "isH")[1]
    assert out == (
        "isH\n  from character 1: isH ✗  is ✓\n  from character 3: ##H ✗\n"
        "  → [UNK]: nothing in the vocabulary matches from character 3, not even ##H\n"
    )
    traces = [json.loads(line) for line in run(capsys, "explain", "--vocab", course, "--json", "is.")[1].splitlines()]
    assert [trace["tokens"] for trace in traces] == [["is"], ["."]]
    assert traces[0]["positions"] == [{"start": 0, "tried": [{"candidate": "is", "matched": True}], "token": "is"}]
    assert "more than 100 characters" in run(capsys, "explain", "--vocab", course, "i" * 101)[1]


def test_a_missing_vocabulary_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, course: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "--vocab" in fails(capsys, "tokenize", "a")
    monkeypatch.chdir(course)
    assert run(capsys, "tokenize", "is")[1] == "is\n"


def test_words_without_an_id_are_reported_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "vocab.txt").write_text("a\nb\n")
    options = ["tokenize", "--vocab", tmp_path / "vocab.txt", "--normalizer", "bert-cased"]
    code, out, err = run(capsys, *options, "--ids", "a x\nx b")
    assert (code, out) == (0, "0 -1\n-1 1\n")
    assert err.startswith("wordpiece-studio: The vocabulary has no [UNK]: ")
    assert err.count("\n") == 1
    assert run(capsys, *options, "--ids", "a")[2] == run(capsys, *options, "x")[2] == ""


def test_it_warns_that_a_vocabulary_alone_is_taken_for_cased_or_uncased(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "vocab.txt"
    options = ["--vocab", tmp_path, "Hug"]
    said = f"wordpiece-studio: Nothing next to {tmp_path} says how text is read; it is assumed to be "
    path.write_text("[UNK]\n[unused1]\nhug\n")
    assert run(capsys, "tokenize", *options) == (
        0, "hug\n",
        f"{said}uncased, as its tokens have no capitals (--normalizer bert-uncased). If that is wrong, use "
        "--normalizer bert-cased.\n",
    )  # fmt: skip
    assert run(capsys, "tokenize", *options, "--normalizer", "bert-cased") == (0, "[UNK]\n", "")
    assert run(capsys, "explain", *options, "--remove", "x")[2].startswith(said)
    path.write_text("[UNK]\nHug\nhug\n")
    assert run(capsys, "tokenize", *options) == (
        0, "Hug\n",
        f"{said}cased (--normalizer bert-cased). If that is wrong, use --normalizer bert-uncased, which is what the "
        "BertTokenizer of transformers does.\n",
    )  # fmt: skip
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": true}')
    assert run(capsys, "tokenize", *options) == (0, "hug\n", "")


@pytest.mark.slow
def test_text_in_utf_16_is_tokenized(course: Path) -> None:
    with process("tokenize", "--vocab", course, stdin=subprocess.PIPE) as tokenize:
        out, err = tokenize.communicate("is the\r\nis".encode("utf-16"))
    assert (out.decode().splitlines(), err) == (["is th ##e", "is"], b"")


@pytest.mark.slow
def test_what_was_done_before_a_fault_is_printed(course: Path) -> None:
    tokenize = process("tokenize", "--vocab", course, stdin=subprocess.PIPE)
    out, err = tokenize.communicate(b"hug\n" * 10_000 + b"\xff\n")
    assert tokenize.returncode == 1
    assert out.count(b"\n") > 9_000
    assert err.count(b"\n") == 1


@pytest.fixture
def gpt(tmp_path: Path) -> Path:
    gpt_2().save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


def test_other_peoples_models(gpt: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["The quick dog", "", "학교 x"]
    expected = [gpt_2().from_file(str(gpt)).encode(line) for line in lines]
    assert run(capsys, "tokenize", "--vocab", gpt, "\n".join(lines))[1].splitlines() == [
        " ".join(encoding.tokens) for encoding in expected
    ]
    out = run(capsys, "tokenize", "--vocab", gpt, "--json", "\n".join(lines))[1]
    assert [json.loads(line)["offsets"] for line in out.splitlines()] == [
        [list(offset) for offset in encoding.offsets] for encoding in expected
    ]
    assert "can be used for tokenizing" in fails(capsys, "explain", "--vocab", gpt, "a")
    assert "itself specifies how" in fails(capsys, "tokenize", "--vocab", gpt, "--normalizer", "nfc", "a")
    assert "--remove" in fails(capsys, "tokenize", "--vocab", gpt, "--remove", "x", "a")


@pytest.mark.slow
def test_lines_before_one_that_a_library_cannot_handle_are_printed(
    gpt: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gpt.write_text(json.dumps(json.loads(gpt.read_bytes()) | {"pre_tokenizer": RUNAWAY}), encoding="utf-8")
    code, out, err = run(capsys, "tokenize", "--vocab", gpt, "a\nb\n" + "a" * 100 + "\nb")
    assert (code, out.splitlines()) == (1, ["a", "b"])
    assert err.count("\n") == 1
    assert "retry-limit" in err


@pytest.mark.slow
@POSIX
def test_a_line_waits_for_no_other_and_ctrl_c_ends_the_library_too(gpt: Path) -> None:
    env = {**os.environ, "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "wordpiece_studio", "tokenize", "--vocab", str(gpt)]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, env=env, **pipes) as tokenize:
        assert tokenize.stdin is not None
        assert tokenize.stdout is not None
        assert tokenize.stderr is not None
        for line in (b"a b\n", b"c\n"):
            tokenize.stdin.write(line)
            tokenize.stdin.flush()
            assert tokenize.stdout.readline().decode().replace("Ġ", "").split() == line.decode().split()
        children = psutil.Process(tokenize.pid).children(recursive=True)
        assert children
        tokenize.send_signal(signal.SIGINT)
        assert tokenize.wait(timeout=60) == 130
        assert tokenize.stderr.read() == b"wordpiece-studio: Stopped.\n"
        assert not psutil.wait_procs(children, timeout=60)[1]
