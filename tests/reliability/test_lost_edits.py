"""The measure of lost edits, and two kills of a real window."""

from __future__ import annotations

import os

import pytest

from tests.reliability.lost_edits import MOST_SECONDS, Round, lost_seconds, measure


def test_the_oldest_missing_word_counts() -> None:
    before = Round(typed={1: 10.0, 2: 11.0, 3: 12.5}, killed=13.0)
    assert lost_seconds(before, 3) == 0.0
    assert lost_seconds(before, 2) == 0.5
    assert lost_seconds(before, 1) == 2.0
    assert lost_seconds(Round(killed=5.0), 0) == 0.0


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kill -9")
def test_a_killed_window_loses_no_more_than_two_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    lost = measure(2, 0.0)
    assert len(lost) == 2
    assert max(lost) <= MOST_SECONDS
    assert "words typed" in capsys.readouterr().out
