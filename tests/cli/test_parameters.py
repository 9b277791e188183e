"""A call is understood without typer as typer would understand it, or left to typer."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from tests.cli.calls import COURSE, POSIX, process
from wordpiece_studio import cli
from wordpiece_studio.cli.parameters import WrongCall, run_by_typer, values_in

UNDERSTOOD = [
    "count a.txt", "count a.txt -o b.tsv --top 3 --json c", "count --top=3 -- --json a", "count - --min-count 1",
    "train a b --output=x --min-value 0.5 --max-seconds 2 --vocab-size 70 --held-out --remove= ",
    "train a -o x --special-tokens=<s> -o y --column text --bpe --objective count --force",
    "train a -o b --min-value -1", "train a -o b --min-value .5", "verify x", "verify x y z --processes 2", "tokenize",
    "tokenize hug --ids --vocab v", "explain -- -hug", "decode", "decode 1 2 3 --keep-special-tokens",
    "encode a -o b --add-special-tokens --dtype uint16", "lint a b --encoding detect", "prepare",
    "evaluate a b --on c --json --on=d", "evaluate a --on - -- -b",
]  # fmt: skip
LEFT_TO_TYPER = [
    "count", "count --help", "count a -h", "count a --top", "count a -ob.tsv", "count a --json=1", "count a --nonsense",
    "train a", "count a -o --json", "encode a -o b --top 1", "explain",
    "evaluate a b", "evaluate a --on --json", "evaluate --on a",
]  # fmt: skip
WRONG = {
    "count a --top x": "--top must be a whole number, not x",
    "count a --top=-1": "--top must be at least 0, not -1",
    "train a -o b --max-seconds 1s": "--max-seconds must be a number, not 1s",
    "prepare now": "now is one argument too many",
    "tokenize a b": "b is one argument too many; put a text with spaces in quotation marks",
}


def as_typer_reads(words: list[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any] | None:
    seen: list[dict[str, Any]] = []
    command = cli._command(words[0])
    monkeypatch.setattr(command, "run", lambda called: seen.append(called.values))
    try:
        run_by_typer(words, {words[0]: command})
    except WrongCall:
        return None
    return seen[0] if seen else None


@pytest.mark.parametrize("call", UNDERSTOOD)
def test_what_is_understood_is_what_typer_reads(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = call.split(" ")
    values = values_in(cli._command(words[0]), words[1:])
    assert values is not None
    theirs = as_typer_reads(words, monkeypatch)
    assert theirs is not None
    ours, typers = (
        {name: (type(value), value) for name, value in each.items() if value not in (None, [])}
        for each in (values, theirs)
    )
    assert ours == typers


def test_an_option_may_take_several_words() -> None:
    values = values_in(cli._command("evaluate"), "a b --on c d --json --on e -- f".split(" "))
    assert values is not None
    assert (values["tokenizers"], values["on"], values["as_json"]) == (["a", "b", "f"], ["c", "d", "e"], True)


@pytest.mark.parametrize("call", LEFT_TO_TYPER)
def test_what_is_not_understood_is_left_to_typer(call: str) -> None:
    name, *words = call.split(" ")
    assert values_in(cli._command(name), words) is None


@pytest.mark.parametrize(("call", "message"), WRONG.items())
def test_what_is_wrong_is_said(call: str, message: str) -> None:
    name, *words = call.split(" ")
    with pytest.raises(WrongCall, match=message):
        values_in(cli._command(name), words)


@pytest.mark.slow
def test_typer_and_rich_are_not_loaded_for_nothing() -> None:
    program = (
        f"import sys; from wordpiece_studio import cli; cli.run(['count', {COURSE!r}]);"
        "print({'typer', 'click', 'pydantic', 'rich', 'llvmlite', 'wordpiece_studio.cli.train'} & set(sys.modules))"
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
    ("words", "found"), [("wordpiece-studio enc", "encode"), ("wordpiece-studio train --objective sc", "score")]
)
def test_the_shell_completes(words: str, found: str) -> None:
    asked = {"_WORDPIECE_STUDIO_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    with process(env=os.environ | asked) as completing:
        assert completing.stdout is not None
        assert completing.stdout.read().decode().split() == [found]
