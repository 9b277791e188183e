"""What a call is understood to ask for, and what is said of one that is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import fields
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import psutil
import pytest

from tests.cli.calls import COURSE, POSIX, process, run
from wordpiece_studio import cli
from wordpiece_studio.cli import parameters
from wordpiece_studio.cli.parameters import WrongCall
from wordpiece_studio.training.config import TrainingConfig

if TYPE_CHECKING:
    from pathlib import Path

UNDERSTOOD: dict[str, dict[str, Any]] = {
    "count a.txt": {"files": ["a.txt"], "output": None, "top": 0, "as_json": False, "normalizer": "bert-cased"},
    "count a.txt -o b.tsv --top 3 --json c": {"files": ["a.txt", "c"], "output": "b.tsv", "top": 3, "as_json": True},
    "count -ob.tsv a": {"files": ["a"], "output": "b.tsv"},
    "count --top=3 -- --json a": {"files": ["--json", "a"], "top": 3, "as_json": False},
    "count - --min-count 1": {"files": ["-"], "min_count": 1},
    "train a b --output=x --min-value 0.5 --max-seconds 2 --vocab-size 70 --held-out --remove= ": {
        "files": ["a", "b", ""], "output": "x", "min_value": 0.5, "max_seconds": 2.0, "vocab_size": 70,
        "held_out": True, "remove": "",
    },
    "train a -o x --special-tokens=<s> -o y --column text --bpe --objective count --force": {
        "output": "y", "special_tokens": ["<s>"], "column": "text", "bpe": True, "objective": "count", "force": True,
    },
    "train a -o b --min-value -1": {"min_value": -1.0},
    "train a -o b --min-value .5": {"min_value": 0.5},
    "verify x": {"place": "x", "sources": []},
    "verify x y z --processes 2": {"place": "x", "sources": ["y", "z"], "processes": 2},
    "tokenize": {"text": "-", "ids": False, "vocab": "."},
    "tokenize hug --ids --vocab v": {"text": "hug", "ids": True, "vocab": "v"},
    "explain -- -hug": {"word": "-hug"},
    "explain --vocab v -- --help": {"word": "--help", "vocab": "v"},
    "decode": {"ids": []},
    "decode 1 2 3 --keep-special-tokens": {"ids": ["1", "2", "3"], "keep_special_tokens": True},
    "encode a -o b --add-special-tokens --dtype uint16": {"dtype": "uint16", "add_special_tokens": True},
    "lint a b --encoding detect": {"files": ["a", "b"], "encoding": "detect", "errors": "replace"},
    "prepare": {"as_json": False},
    "evaluate a b --on c --json --on=d": {"tokenizers": ["a", "b"], "on": ["c", "d"], "as_json": True},
    "evaluate a --on - -- -b": {"tokenizers": ["a", "-b"], "on": ["-"]},
    "evaluate a --on c b --json --on d -- e": {"tokenizers": ["a", "b", "e"], "on": ["c", "d"], "as_json": True},
    "evaluate --on c a": {"tokenizers": ["a"], "on": ["c"]},
    "train a -o -b --special-tokens -x --remove -,-- --min-value -1e-3 --continuing-subword-prefix -": {
        "files": ["a"], "output": "-b", "special_tokens": ["-x"], "remove": "-,--", "min_value": -0.001,
        "continuing_subword_prefix": "-",
    },
    "train a --special-tokens=--x -o=-b": {"output": "-b", "special_tokens": ["--x"]},
    "train a -o o --require ab --require ##b --forbid -c --forbid-pair -x ##y b --merge 3 - --a --forbid-pair c d": {
        "files": ["a", "b"], "required_tokens": ("ab", "##b"), "forbidden_tokens": ("-c",),
        "forbidden_pairs": (("-x", "##y"), ("c", "d")), "chosen_merges": (("3", "-", "--a"),),
    },
    "tokenize --vocab -v -- -x": {"vocab": "-v", "text": "-x"},
}  # fmt: skip
WRONG = {
    "count": "^FILES is missing",
    "count a --top": "--top needs a value",
    "count a -o --json": "-o/--output needs a value",
    "count a -o -h": "-o/--output needs a value",
    "count a --remove --jso --json": "--remove needs a value; if that is --jso, write --remove=--jso",
    "count a --json -x": "There is no option -x",
    "count a --top x": "--top must be a whole number, not x",
    "count a --top=-1": "--top must be at least 0, not -1",
    "count a --json=1": "--json takes no value",
    "count a --normaliser nfc": r"There is no option --normaliser \(did you mean --normalizer\?\)",
    "count a --normaliser=nfc": r"There is no option --normaliser \(did you mean --normalizer\?\)",
    "count a --min 3": "There is no option --min",
    "encode a -o b --word-counts": "There is no option --word-counts",
    "lint a --errors strict": "There is no option --errors",
    "train a --ouput b": r"There is no option --ouput \(did you mean --output\?\)",
    "prepare -- -x": "^-x is one argument too many",
    "train a -o b --merge 1 a": "--merge needs 3 values",
    "train a -o b --forbid-pair a --json": "--forbid-pair needs 2 values",
    "train a": "^-o/--output is missing",
    "train a -o b --max-seconds 1s": "--max-seconds must be a number, not 1s",
    "evaluate a b": "^--on is missing",
    "evaluate a --on --json": "^--on needs a value",
    "evaluate --on a": "^TOKENIZERS is missing",
    "explain": "^WORD is missing",
    "prepare now": "now is one argument too many",
    "tokenize a b": "b is one argument too many; put a text with spaces in quotation marks",
}


@pytest.mark.parametrize(("call", "expected"), UNDERSTOOD.items())
def test_what_is_understood(call: str, expected: dict[str, Any]) -> None:
    name, *words = call.split(" ")
    command = cli._command(name)(words)
    found = {each: getattr(command, each) for each in expected}
    assert {name: (type(value), value) for name, value in found.items()} == {
        name: (type(value), value) for name, value in expected.items()
    }


@pytest.mark.parametrize(("call", "message"), WRONG.items())
def test_what_is_wrong_is_said(call: str, message: str) -> None:
    name, *words = call.split(" ")
    with pytest.raises(WrongCall, match=message):
        cli._command(name)(words)


def test_the_options_of_train_are_the_settings_of_a_training() -> None:
    declared = cli._command("train").declared()
    for field in fields(TrainingConfig):
        if field.name not in ("user_tokens", "continuing_subword_prefix", "base_tokens", "base_merges"):
            assert declared[field.name].default == field.default
    assert declared["objective"].values == ("likelihood", "score", "count")


@pytest.mark.slow
def test_rich_and_argcomplete_are_not_loaded_for_nothing() -> None:
    program = (
        f"import sys; from wordpiece_studio import cli; cli.run(['count', {COURSE!r}]);"
        "print({'argcomplete', 'psutil', 'rich', 'llvmlite', 'wordpiece_studio.cli.train'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


@pytest.mark.slow
def test_a_start_does_not_wait_for_numpy() -> None:
    program = "import sys; from wordpiece_studio import cli; cli.run(['--version']); print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


@pytest.mark.slow
@POSIX
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("wordpiece-studio enc", ["encode"]),
        ("wordpiece-studio train --objective sc", ["score"]),
        ("wordpiece-studio train --norm", ["--normalizer"]),
        ("wordpiece-studio train --normalizer nfk", ["nfkc", "nfkd"]),
    ],
)
def test_the_shell_completes(line: str, found: list[str], tmp_path: Path) -> None:
    asked = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line)), "_ARGCOMPLETE_IFS": "\n"}
    output = tmp_path / "found"
    with process(env=os.environ | asked | {"_ARGCOMPLETE_STDOUT_FILENAME": str(output)}) as completing:
        assert completing.wait() == 0
    assert output.read_text().split() == found


@pytest.mark.slow
@POSIX
def test_a_script_of_an_earlier_version_completes_nothing() -> None:
    with process(env=os.environ | {"_WORDPIECE_STUDIO_COMPLETE": "complete_bash"}) as completing:
        assert completing.stdout is not None
        assert (completing.wait(), completing.stdout.read()) == (0, b"")


def test_only_a_call_that_asks_for_it_installs_completion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", "/bin/bash")
    assert cli.run(["--"]) == 2
    assert "A command is missing" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@POSIX
@pytest.mark.parametrize(
    ("shell", "profile"), [("bash", ".bashrc"), ("zsh", ".zshrc"), ("fish", ".config/fish/config.fish")]
)
def test_completion_is_installed_once(
    shell: str, profile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Caller:
        def parents(self) -> list[Caller]:
            return [self]

        def name(self) -> str:
            return f"-{shell}"  # as the shell of a login is called

    monkeypatch.setattr("psutil.Process", Caller)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for _ in range(2):
        code, out, _ = run(capsys, "--install-completion")
        assert (code, out) == (0, f"Completion is installed in {tmp_path / profile}. Start a new shell to use it.\n")
    script = tmp_path / "data" / parameters.PROGRAM / f"completion.{shell}"
    assert (tmp_path / profile).read_text() == f"source '{script}'\n"
    assert run(capsys, "--show-completion")[1] == f"{script.read_text()}\n"
    assert parameters.PROGRAM in script.read_text()


def test_completion_that_finds_no_shell_or_profile_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def gone() -> None:
        raise psutil.NoSuchProcess(1)

    monkeypatch.setattr("psutil.Process", gone)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", "")
    assert run(capsys, "--install-completion")[2].startswith("wordpiece-studio: The shell is not known. ")
    monkeypatch.setenv("SHELL", "/opt/pwsh")
    for error in (subprocess.CalledProcessError(1, "pwsh"), FileNotFoundError(2, "No such file", "pwsh")):
        monkeypatch.setattr("subprocess.run", Mock(side_effect=error))
        code, _, told = run(capsys, "--install-completion")
        assert (code, told.startswith("wordpiece-studio: pwsh does not say where its profile is. Add ")) == (1, True)
