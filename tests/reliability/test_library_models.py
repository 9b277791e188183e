"""Other people's tokenizers, in small: ``python -m tests.reliability.library_models`` reads a thousand spoiled ones."""

from __future__ import annotations

import pytest

from tests.reliability import library_models


@pytest.mark.slow
def test_every_structure_is_equal_to_its_library(capsys: pytest.CaptureFixture[str]) -> None:
    assert library_models.compare(30, None) == 0
    assert capsys.readouterr().out.count("tokens equal") == len(library_models.STRUCTURES) == 14


@pytest.mark.slow
@pytest.mark.expects_log  # that the child ended
@pytest.mark.parametrize("way", ["library", "command line"])
def test_spoiled_ones_are_loaded_or_refused_in_one_line(way: str) -> None:
    outcomes, faults = library_models.read_all(30, way)
    assert faults == []
    assert outcomes["loaded"] > 3
    assert outcomes["refused"] > 15
