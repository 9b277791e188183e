"""Vocabularies that were trained by the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.calls import COURSE, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def course(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert run(capsys, "train", COURSE, "--objective", "score", "--vocab-size", 70, "-o", tmp_path / "course")[0] == 0
    return tmp_path / "course"


@pytest.fixture
def korean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    folder = tmp_path / "korean"
    options = ["--objective", "score", "--vocab-size", 70, "--normalizer", "lowercase", "--remove", ",.", "-o", folder]
    assert run(capsys, "train", COURSE, *options)[0] == 0
    return folder
