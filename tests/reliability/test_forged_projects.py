"""Some forged projects in the real window; two thousand: `python -m tests.reliability.forged_projects`."""

from __future__ import annotations

import random

import pytest

forgeries = pytest.importorskip("tests.reliability.forgeries", exc_type=ImportError)

from tests.reliability import forged_projects  # noqa: E402 - it would fail where the import above is skipped


def test_a_forgery_can_be_made_again() -> None:
    assert forged_projects.made(1, 7, 100) == forged_projects.made(1, 7, 100)
    assert len({forgeries.forged(random.Random(number))[0] for number in range(20)}) > 15


@pytest.mark.slow
def test_forged_projects_are_shown_or_refused_and_nothing_else() -> None:
    result = forged_projects.looked_at(seed=5, projects=2000, first=0, last=11)
    assert result.faults == []
    assert (result.opened + result.refused, min(result.opened, result.refused) > 2) == (11, True)
    assert result.memory < forged_projects.MOST_MEMORY
    assert result.stall < 2
