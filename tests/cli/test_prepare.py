from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.calls import POSIX, run
from wordpiece_studio.cli.messages import progress
from wordpiece_studio.compiled import kernel_cache

if TYPE_CHECKING:
    from pathlib import Path

LINE = "Compiling the training engine, once on this machine"


def test_what_is_compiled_is_not_compiled_again(capsys: pytest.CaptureFixture[str]) -> None:
    for package in kernel_cache.KERNEL_PACKAGES:
        kernel_cache.load_kernels(package)
    code, out, err = run(capsys, "prepare")
    assert (code, err) == (0, "")
    assert out.startswith("Everything was compiled before, and is kept in ")
    engines = json.loads(run(capsys, "prepare", "--json")[1])["engines"]
    assert [(each["name"], each["compiled"]) for each in engines] == [("training", False), ("text", False)]


def test_without_a_terminal_compiling_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with progress():
        assert kernel_cache._report is not None
        for done in range(3):
            kernel_cache._report("training", done, 2)
    assert kernel_cache._report is None
    assert capsys.readouterr() == ("", f"wordpiece-studio: {LINE}.\n")


@pytest.mark.exhaustive
@pytest.mark.slow
@POSIX
def test_the_first_command_shows_how_far_compiling_is(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path), "TERM": "xterm"}
    command = [sys.executable, "-m", "wordpiece_studio", "prepare"]
    child = subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    said = b""
    while b"is kept in" not in said:
        said += os.read(ours, 1000)
    assert child.wait(60) == 0
    os.close(ours)
    number = kernel_cache.number_of_kernels("training")
    assert LINE in said.decode()
    assert any(f" {done} of {number} " in said.decode() for done in range(1, number))
    assert f"Compiled the training engine: {number} kernels." in said.decode()
