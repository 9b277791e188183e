"""Shared by the tests of the command line: the course's vocabularies, and ways to call the program."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from wordpiece_studio import cli
from wordpiece_studio.resources import resource_path

if TYPE_CHECKING:
    from pathlib import Path

COURSE = str(resource_path("samples/course-en.txt"))
SENTENCE = "This is the Hugging Face course!"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
CONTINUING = [f"##{letter}" for letter in "abcdefghiklmnoprstuvwyz"]
# As the Hugging Face course prints it, and the Korean notebook, which drops commas and full stops and lower-cases.
COURSE_VOCABULARY = [
    *SPECIAL, *CONTINUING, ",", ".", *"CFHTabcghistuwy", "ab", "##fu", "Fa", "Fac", "##ct", "##ful", "##full",
    "##fully", "Th", "ch", "##hm", "cha", "chap", "chapt", "##thm", "Hu", "Hug", "Hugg", "sh", "th", "is", "##thms",
    "##za", "##zat", "##ut",
]  # fmt: skip
KOREAN_VOCABULARY = [
    *SPECIAL, *CONTINUING, *"abcfghistuwy", "ab", "##fu", "fa", "fac", "##ct", "##ful", "##full", "##fully", "##hm",
    "##thm", "is", "##thms", "##pt", "##apt", "##hapt", "chapt", "##za", "##zat", "abl", "##izat", "##izati", "##cti",
    "##iz", "##ithms", "wi", "wil", "will", "al", "##al", "alg",
]  # fmt: skip
POSIX = pytest.mark.skipif(os.name != "posix", reason="POSIX signals and pipes")


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = cli.run([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def fails(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 1) -> str:
    """Return the one line that a failing command says on stderr."""
    result, out, err = run(capsys, *arguments)
    assert (result, out) == (code, "")
    assert err.startswith("wordpiece-studio: ")
    assert err.count("\n") == 1
    return err


def process(*arguments: object, env: dict[str, str] | None = None, **options: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "wordpiece_studio", *map(str, arguments)]
    # As for most users: output is held back until there is much of it, or the program ends.
    environment = {name: value for name, value in (env or os.environ).items() if name != "PYTHONUNBUFFERED"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, **options)


def tokens_in(path: Path) -> list[str]:
    return [COURSE_VOCABULARY[token_id] for token_id in np.load(path)]
