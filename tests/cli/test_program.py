from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import wordpiece_studio
from tests.cli.calls import COURSE, POSIX, fails, process, run
from wordpiece_studio import cli


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version") == (0, f"wordpiece-studio {wordpiece_studio.__version__}\n", "")
    assert run(capsys, "--help")[0] == run(capsys, "train", "-h")[0] == 0


@pytest.mark.parametrize("name", ["train", "count", "lint", "encode", "decode", "tokenize", "verify"])
def test_help_has_every_option_and_value_in_80_columns(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = run(capsys, name, "--help")[1]
    assert max(map(len, out.splitlines())) <= 80
    for parameter, each in cli._command(name).declared().items():
        assert {*each.names, *each.values} <= set(re.split(r"[\s,;()]+|\.\s", out)), parameter


@pytest.mark.parametrize(
    "arguments", [["trian"], ["train"], ["train", COURSE], ["encode", COURSE], ["--nonsense"], ["explain"]]
)
def test_wrong_calls(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    known = arguments[0] if arguments[0] in ("train", "encode", "explain") else ""
    assert f"See wordpiece-studio {known} --help.".replace("  ", " ") in fails(capsys, *arguments, code=2)


def test_what_is_neither_a_command_nor_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert "trian is neither a command nor a file (did you mean train?)." in fails(capsys, "trian", code=2)
    assert "no.txt is neither a command nor a file." in fails(capsys, "no.txt", code=2)
    assert "no.txt is not a file." in fails(capsys, COURSE, "no.txt", code=2)


def test_bad_places(tmp_path: Path, capsys: pytest.CaptureFixture[str], course: Path) -> None:
    assert "does not exist" in fails(capsys, "train", tmp_path / "no.txt", "-o", tmp_path / "out")
    (tmp_path / "empty").mkdir()
    assert "contains no files that end in" in fails(capsys, "train", tmp_path / "empty", "-o", tmp_path / "out")
    for command in (["count", COURSE], ["encode", COURSE, "--vocab", course, "--force"]):
        assert "empty is a folder. Specify a file in it." in fails(capsys, *command, "-o", tmp_path / "empty")
    assert "is not a folder" in fails(capsys, "train", COURSE, "-o", course / "vocab.txt")
    assert "does not exist" in fails(capsys, "tokenize", "--vocab", tmp_path / "no", "a")
    assert "There is no word" in fails(capsys, "explain", "--vocab", course, " ")


def test_names_are_shown_in_one_line_whatever_they_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert r"two\nlines.txt does not exist" in fails(capsys, "train", "two\nlines.txt", "-o", tmp_path)
    assert '"" does not exist' in fails(capsys, "train", "", "-o", tmp_path)


def test_nothing_that_a_terminal_obeys_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil = "a\x1b]0;owned\x07\u202e"
    (tmp_path / "a.txt").write_text(f"{evil} {evil}", encoding="utf-8")
    folder = tmp_path / "out"
    options = ["--normalizer", "none", "--pre-tokenizer", "whitespace-split", "-o", folder]
    assert run(capsys, "train", tmp_path / "a.txt", *options)[0] == 0
    outputs = [
        run(capsys, "tokenize", "--vocab", folder, evil),
        run(capsys, "tokenize", "--vocab", folder, "--json", evil),
        run(capsys, "explain", "--vocab", folder, evil),
        run(capsys, "train", tmp_path / evil, "-o", folder),
    ]
    for _, out, err in outputs:
        assert not {"\x1b", "\x07", "\u202e"} & set(out + err)
    assert json.loads(outputs[1][1])["text"] == evil


def test_errors_are_json_too(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "good"}\nbroken\n')
    (tmp_path / "a.tsv").write_text("hug\t1\nhug\tx\n")
    (tmp_path / "a.txt").write_bytes(b"hug\nx\xff\n")
    for arguments, code, where in (
        (["count", tmp_path / "a.jsonl"], 1, {"file": f"{tmp_path / 'a.jsonl'}", "line": 2, "byte": 17}),
        (["train", tmp_path / "a.txt", "-o", tmp_path], 1, {"file": f"{tmp_path / 'a.txt'}", "line": 2, "byte": 5}),
        (["count", tmp_path / "a.tsv", "--word-counts"], 1, {"file": f"{tmp_path / 'a.tsv'}", "line": 2}),
        (["encode", tmp_path / "no", "--vocab", course, "-o", "x"], 1, {"file": f"{tmp_path / 'no'}"}),
        (["tokenize", "--vocab", tmp_path / "no", "hug"], 1, {"file": f"{tmp_path / 'no'}"}),
        (["explain", "--vocab", course, " "], 1, {}),
        (["verify", tmp_path / "no"], 1, {"file": f"{tmp_path / 'no'}"}),
        (["count", course, "--top", "x"], 2, {}),
        (["train"], 2, {}),
        (["count", course, "--no-such-option"], 2, {}),
    ):
        result, out, err = run(capsys, *arguments, "--json")
        assert (result, err) == run(capsys, *arguments)[::2]
        assert out.count("\n") == 1
        error = json.loads(out)
        assert f"wordpiece-studio: {error.pop('message')}\n" == err
        assert error == {"exit_code": code, **where}
    assert run(capsys, "tokenize", "--vocab", tmp_path / "no", "--", "--json")[1] == ""


@POSIX
def test_an_error_that_no_one_reads_is_reported_all_the_same() -> None:
    with process("count", "no-such-file", "--json") as count:
        assert count.stdout is not None
        assert count.stderr is not None
        count.stdout.close()
        assert (count.wait(), count.stderr.read().count(b"\n")) == (1, 1)


@pytest.mark.slow
def test_stdin(course: Path, tmp_path: Path) -> None:
    with process("tokenize", "--vocab", course, stdin=subprocess.PIPE) as tokenize:
        out, err = tokenize.communicate("is\r\n\nab".encode("utf-8-sig"))
    assert (tokenize.returncode, out.decode().splitlines(), err) == (0, ["is", "", "ab"], b"")
    options = ["--objective", "score", "--vocab-size", 70, "-o", tmp_path / "out"]
    with process("train", "-", *options, stdin=subprocess.PIPE) as train:
        train.communicate(Path(COURSE).read_bytes())
    assert (tmp_path / "out" / "vocab.txt").read_bytes() == (course / "vocab.txt").read_bytes()
    with process("tokenize", "--vocab", course, "-", stdin=subprocess.PIPE) as tokenize:
        out, err = tokenize.communicate(b"a\nb\xff\n")
    assert tokenize.returncode == 1
    assert b"stdin, line 2: the bytes FF at byte 3 are not UTF-8. Convert the text to UTF-8." in err


@POSIX
@pytest.mark.parametrize("command", ["tokenize --vocab {}", "train - -o {}", "encode - -o ids.npy --vocab {}"])
def test_a_closed_stdin_is_reported(course: Path, command: str) -> None:
    line = f"{shlex.quote(sys.executable)} -m wordpiece_studio {command.format(shlex.quote(str(course)))} <&-"
    done = subprocess.run(["sh", "-c", line], capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        b"wordpiece-studio: There is nothing to read: stdin is closed. Specify a file or a text instead.\n"
    )


@pytest.mark.slow
@POSIX
@pytest.mark.parametrize("arguments", [["--help"], ["train", "--help"], ["--version"]])
def test_a_reader_that_has_enough_of_the_help_is_no_error(arguments: list[str]) -> None:
    with process(*arguments) as helping:
        assert helping.stdout is not None
        assert helping.stderr is not None
        helping.stdout.close()
        assert (helping.wait(), helping.stderr.read()) == (0, b"")


@POSIX
def test_ctrl_c_while_modules_are_loaded_is_an_orderly_end() -> None:
    code = (
        "import os, signal, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'numpy': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from wordpiece_studio.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"wordpiece-studio: Stopped.\n")


def test_the_installed_command_starts_in_main() -> None:
    pyproject = Path(__file__).resolve().parents[2] / "pyproject.toml"
    scripts = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["scripts"]
    assert scripts == {"wordpiece-studio": "wordpiece_studio.__main__:main"}


@pytest.mark.slow
@POSIX
def test_a_reader_that_has_enough_is_no_error(course: Path) -> None:
    with process("tokenize", "--vocab", course, stdin=subprocess.PIPE) as tokenize:
        assert tokenize.stdin is not None
        assert tokenize.stdout is not None
        assert tokenize.stderr is not None
        tokenize.stdout.close()
        tokenize.stdin.write(b"is the\n" * 10)
        tokenize.stdin.close()
        assert (tokenize.wait(), tokenize.stderr.read()) == (0, b"")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a window would open")
def test_a_reader_that_has_enough_of_the_demo_is_no_error() -> None:
    environment = {name: value for name, value in os.environ.items() if "DISPLAY" not in name}
    environment.pop("QT_QPA_PLATFORM", None)
    with process(env=environment) as demo:
        assert demo.stdout is not None
        assert demo.stderr is not None
        demo.stdout.close()
        assert (demo.wait(), demo.stderr.read()) == (0, b"")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device to write to")
def test_a_full_disk_behind_stdout_is_reported(course: Path) -> None:
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "wordpiece_studio", "tokenize", "--vocab", str(course), "is"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert done.stderr == b"wordpiece-studio: stdout: No space left on device.\n"


def test_no_command_or_a_file_opens_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []

    def open_window(arguments: list[str]) -> int:
        calls.append(arguments)
        return 7

    monkeypatch.setattr(cli, "_open_window", open_window)
    assert cli.run([]) == 7
    assert cli.run([COURSE]) == 7
    assert calls == [[], [COURSE]]


def test_the_demo_in_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    cli.terminal_demo("There is no display\nhere.")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "There is no display here."
    assert sum("##full" in line for line in lines) == 2
    assert "→ Th ##i ##s is th ##e Hugg ##i ##n ##g Fac ##e c ##o ##u ##r ##s ##e [UNK]" in lines
