"""The Ctrl-C harness, some signals for each command; a hundred each: `python -m tests.reliability.interrupts`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
    pytest.mark.slow,
]


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    from tests.reliability.interrupts import make_material

    folder = tmp_path_factory.mktemp("texts")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPYCACHEPREFIX", "")  # put back afterwards
        patch.setenv("PYTHONDONTWRITEBYTECODE", "")
        make_material(folder)
        yield folder


@pytest.mark.parametrize("command", ["train", "count", "encode", "verify"])
def test_ctrl_c_ends_every_command_at_any_step(command: str, texts: Path, tmp_path: Path) -> None:
    from tests.reliability.interrupts import Commands, interrupted

    tally = interrupted(Commands(command, "second", texts, tmp_path), 2, 1, seed=command)
    assert (dict(tally.codes), tally.with_files, tally.swallowed, tally.faults) == ({130: 2}, 0, 0, [])


def test_the_harness_notices_a_signal_that_is_swallowed(texts: Path, tmp_path: Path) -> None:
    from tests.reliability.interrupts import LAUNCHER, Commands

    deaf = f"import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])\n{LAUNCHER}"
    commands = Commands("count", "second", texts, tmp_path, launcher=deaf)
    outcome = commands._interrupted_at("deaf", 0.1)
    assert (outcome.code, outcome.had_ended) == (0, False)
