"""The kill harness, some kills of each format; a thousand each: `python -m tests.reliability.kills`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.reliability.saves import NEW, OLD, Save, saves

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the children are forked")
_NAMES = [save.name for save in saves(40)]  # as the tests of the other harnesses have them


@pytest.mark.slow
@pytest.mark.parametrize("name", _NAMES)
def test_no_killed_save_tears_a_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.reliability import kills

    monkeypatch.setattr(kills, "_TIMED_SAVES", 3)  # about how long a save takes is enough for a few kills
    save = next(save for save in saves(200) if save.name == name)
    tally = kills.killed(save, 3, tmp_path, seed=1)
    assert (tally.outcomes["torn"], tally.still_left, tally.faults) == (0, 0, [])
    assert tally.outcomes.total() == 3


@pytest.mark.slow
def test_the_harness_notices_a_file_that_is_torn(tmp_path: Path) -> None:
    from tests.reliability.kills import killed

    def write(folder: Path, which: int) -> None:
        with (folder / "file").open("wb") as file:  # in place, as no one should
            for _ in range(3000):
                file.write(b"ab"[which : which + 1])
                file.flush()

    def which(folder: Path) -> int:
        data = (folder / "file").read_bytes()
        assert data in (b"a" * 3000, b"b" * 3000), "torn"
        return NEW if data.startswith(b"b") else OLD

    tally = killed(Save("torn", write, which), 10, tmp_path, seed=1)
    assert tally.outcomes["torn"] > 5
