"""Cases 77 to 80: signals, closed and full outputs, and what a terminal would obey."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.calls import COURSE, POSIX, process
from wordpiece_studio import cli

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cases.program import Program

pytestmark = pytest.mark.slow

ESCAPES = "\x1b]0;owned\x07\x1b[31m\x9b2J\u202e\u200b"
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device to write to")

# A training that says on stderr when a phase begins, and then takes its time over it.
PHASES = """
import sys, time
from wordpiece_studio.cli import options
from wordpiece_studio.cli import train
from wordpiece_studio.cli import main
phase, sys.argv = sys.argv[1], sys.argv[1:]
def slowly(function):
    def called(*arguments, **options):
        print("begun", file=sys.stderr, flush=True)
        if phase == "writing": time.sleep(20)
        return function(*arguments, **options)
    return called
module, name = {
    "counting": (options, "count_words"), "training": (train.Trainer, "run"), "writing": (train.Export, "write")
}[phase]
setattr(module, name, slowly(getattr(module, name)))
main()
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a text that takes a moment to count and some more to train on."""
    path = tmp_path_factory.mktemp("large") / "large.txt"
    letters = random.Random(1).choices("abcdefghij", k=1 << 19)
    words = ["".join(letters[start : start + 7]) for start in range(0, len(letters), 7)]
    path.write_text("\n".join(" ".join(words[start : start + 10]) for start in range(0, len(words), 10)))
    return path


@POSIX
@pytest.mark.case(77)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("phase", ["counting", "training", "writing"])
def test_a_signal_ends_every_phase(
    phase: str, number: int, code: int, large: Path, tmp_path: Path, told: Callable[[object], str]
) -> None:
    text = COURSE if phase == "writing" else str(large)
    arguments = [phase, "train", text, "-o", str(tmp_path / "out"), "--vocab-size", "500000"]
    command = [sys.executable, "-c", PHASES, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as training:
        assert training.stderr is not None
        assert training.stdout is not None
        assert training.stderr.readline() == b"begun\n"
        time.sleep(0.05)
        training.send_signal(number)
        assert training.wait(timeout=60) == code
        said = training.stderr.read().replace(b"begun\n", b"")
        assert said == b"wordpiece-studio: Stopped.\n"
        assert training.stdout.read() == b""
    told(f"{phase}: {said.decode().strip() or 'nothing'}, exit code {code}")
    assert list(tmp_path.iterdir()) in ([], [tmp_path / "out"])
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@POSIX
@pytest.mark.case(77)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_ids_are_written_leaves_the_old_file(program: Program, number: int) -> None:
    program.prepares(COURSE)
    (program.folder / "ids.npy").write_bytes(b"old")
    arguments = ("encode", "-", "--vocab", program.folder / "vocabulary", "-o", program.folder / "ids.npy", "--force")
    with process(*arguments, stdin=subprocess.PIPE) as encoding:
        assert encoding.stdin is not None
        encoding.stdin.write(b"some words\n" * 100_000)
        encoding.stdin.flush()
        while len(list(program.folder.iterdir())) == 2:  # until it writes
            assert encoding.poll() is None
            time.sleep(0.01)
        encoding.send_signal(number)
        assert encoding.wait(timeout=60) == 128 + number
    assert (program.folder / "ids.npy").read_bytes() == b"old"
    assert {path.name for path in program.folder.iterdir()} == {"ids.npy", "vocabulary"}


@POSIX
@pytest.mark.case(78)
@pytest.mark.parametrize("arguments", [("tokenize",), ("tokenize", "--json"), ("tokenize", "--ids")])
def test_whoever_reads_has_enough(program: Program, arguments: tuple[str, ...]) -> None:
    program.prepares(COURSE)
    command = (*arguments, "--vocab", program.folder / "vocabulary")
    with process(*command, stdin=subprocess.PIPE) as tokenizing:
        assert tokenizing.stdin is not None
        assert tokenizing.stdout is not None
        assert tokenizing.stderr is not None
        tokenizing.stdout.close()
        tokenizing.stdin.write(b"This is the course\n" * 2000)
        tokenizing.stdin.close()
        assert (tokenizing.wait(timeout=20), tokenizing.stderr.read()) == (0, b"")
    program.told("nothing, exit code 0")


@POSIX
@pytest.mark.case(78)
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_outputs_that_were_closed_before(program: Program, closed: str) -> None:
    file = program.file("a.txt", "some words\n")
    command = f'"{sys.executable}" -m wordpiece_studio train {file} -o out {closed}'
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert Path("out/vocab.txt").exists()


@pytest.mark.case(79)
def test_nothing_that_a_terminal_obeys_is_printed(
    program: Program, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "_open_window", pytest.fail)
    word = f"a{ESCAPES}b"
    program.file("a.txt", f"{word} {word} x")
    plain = ["--normalizer", "none", "--pre-tokenizer", "whitespace-split"]
    assert cli.run(["train", "a.txt", *plain, "-o", "out"]) == 0
    name = program.file(f"{ESCAPES}.txt" if os.name == "posix" else "\u202e.txt", f"{word}\n")
    program.file("a.csv", f"id,{word}\n1,x\n")
    program.file("a.jsonl", f'{{"{word}": 3}}\n'.replace("\x1b", "\\u001b").replace("\x07", "\\u0007"))
    calls = [
        ["tokenize", "--vocab", "out", word], ["tokenize", "--vocab", "out", "--json", word],
        ["explain", "--vocab", "out", word], ["explain", "--vocab", "out", "--json", word],
        ["train", word, "-o", "new"], ["train", "a.txt", "-o", f"{word}/{word}"], ["train", "a.txt", "-o", "a.txt"],
        ["count", name, "--top", "5"], ["count", name, "--top", "5", "--json"], ["count", name, *plain, "--top", "5"],
        ["count", name, "--encoding", word], ["count", name, "--normalizer", word], ["count", name, "--kind", word],
        ["count", name, "--pre-tokenizer", f"pattern:({word}"], ["count", name, "-o", f"{word}.xyz"],
        ["count", name, "--errors", word], ["count", "a.csv", "--column", word], ["count", "a.csv", "--column", "x"],
        ["count", "a.jsonl"], ["train", name, "--special-tokens", word, "-o", "new"],
        ["train", name, "--continuing-subword-prefix", word, "-o", "new"], ["train", name, "--objective", word],
        ["train", name, "--history", f"{word}.xyz", "-o", "new"], ["encode", name, "--vocab", word, "-o", "ids.npy"],
        ["encode", name, "--vocab", "out", "-o", f"{word}.npy"], [f"--{word}"], ["train", f"--{word}"],
        ["train", name, "--vocab-size", word, "-o", "new"], ["tokenize", "--vocab", name, "x"], ["verify", name, word],
        ["count", name, "--cluster", word], ["train", name, *plain, "-o", f"{word}"],
    ]  # fmt: skip
    capsys.readouterr()
    for call in calls:
        code = cli.run(call)
        captured = capsys.readouterr()
        printed = captured.out + captured.err
        assert printed, call
        assert all(character.isprintable() or character == "\n" for character in printed), (call, printed)
        if "--json" in call:
            assert code == 0
            assert json.loads(captured.out.splitlines()[0])
    cli.run(["tokenize", "--vocab", "out", word])
    program.told(capsys.readouterr().out.strip())


@FULL
@pytest.mark.case(80)
@pytest.mark.parametrize("command", ["tokenize", "help"])
def test_the_disk_is_full_behind_stdout(program: Program, command: str) -> None:
    """Of a process, to whose end it belongs that what it printed is there."""
    program.prepares(COURSE)
    arguments = ["tokenize", "--vocab", "vocabulary", "is"] if command == "tokenize" else ["train", "--help"]
    with open("/dev/full", "wb") as full:
        line = [sys.executable, "-m", "wordpiece_studio", *arguments]
        done = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, check=False, timeout=60)
    assert done.returncode == 1
    assert program.told(done.stderr.decode()) == "wordpiece-studio: stdout: No space left on device.\n"


@FULL
@pytest.mark.case(80)
@pytest.mark.parametrize(
    "arguments",
    [("count", COURSE, "--json"), ("train", COURSE, "-o", "out"), ("explain", "--vocab", "vocabulary", "is"),
     ("verify", "vocabulary", COURSE), ("--version",)],
)  # fmt: skip
def test_a_full_disk_behind_what_a_command_prints(
    program: Program, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program.prepares(COURSE)
    with open("/dev/full", "w", encoding="utf-8") as full, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", full)
        code = cli.run(list(arguments))
    said = capsys.readouterr().err
    assert (code, said.splitlines()[-1]) == (1, "wordpiece-studio: stdout: No space left on device.")
    program.told(said.splitlines()[-1])
