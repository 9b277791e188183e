"""Where no window can open the same command explains itself, trains the sample, and ends well. Needs no Qt."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def start(**changes: str) -> subprocess.CompletedProcess[str]:
    names = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {name: value for name, value in os.environ.items() if name not in names} | changes
    return subprocess.run(
        [sys.executable, "-m", "wordpiece_studio"], env=environment, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there is always a display")
@pytest.mark.parametrize("changes", [{}, {"DISPLAY": ":987"}], ids=["none", "unreachable"])
def test_without_a_display_the_sample_is_trained_in_the_terminal(changes: dict[str, str]) -> None:
    done = start(**changes)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "display" in lines[0]
    assert "cha" in done.stdout
    assert "[UNK]" in done.stdout
    assert not done.stderr
