"""The faults of all formats at every call, with the commonest error; all: `python -m tests.reliability.faults`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.reliability.c_faults import full_at_each_page
from tests.reliability.fault_layer import Faults, planted
from tests.reliability.faults import CODES, calls_of, killed_at_each_call, swept
from tests.reliability.saves import NEW, OLD, Save, saves

if TYPE_CHECKING:
    from pathlib import Path

POSIX = pytest.mark.skipif(os.name != "posix", reason="forks, and limits the size of files")
_SAVES = saves(40)
EVERY = pytest.mark.parametrize(
    "every", [pytest.param(4, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.exhaustive)]
)
EACH = pytest.mark.parametrize("save", _SAVES, ids=[save.name for save in _SAVES])


@EACH
def test_the_old_files_stay_whatever_fails(save: Save, tmp_path: Path) -> None:
    report = swept(save, tmp_path, ["ENOSPC"], every=3)
    assert report.faults == []
    assert report.outcomes["old"] > 2


@EVERY
@EACH
@pytest.mark.parametrize("code", CODES)
def test_so_with_any_error(save: Save, tmp_path: Path, code: str, every: int) -> None:
    report = swept(save, tmp_path, [code], 1 if code == "short" else every)  # of which there are few
    assert report.faults == []
    assert report.outcomes.total() > 0


@EVERY
@POSIX
@EACH
def test_a_save_that_is_killed_before_any_call_leaves_the_old_or_the_new(
    save: Save, tmp_path: Path, every: int
) -> None:
    report = killed_at_each_call(save, tmp_path, every)
    assert report.faults == []
    assert report.outcomes["old"]
    assert report.outcomes["new"]


@POSIX
@EACH
def test_a_disk_that_is_full_at_any_place(save: Save, tmp_path: Path) -> None:
    report = full_at_each_page(save, tmp_path)
    assert report.faults == []


def test_the_layer_notices_a_save_that_loses_the_old_file(tmp_path: Path) -> None:
    def write(folder: Path, which: int) -> None:
        with open(folder / "file", "wb") as file:  # in place, as no one should
            file.write(b"ab"[which : which + 1] * 100_000)

    bad = Save("in place", write, lambda folder: NEW if (folder / "file").read_bytes().startswith(b"b") else OLD)
    assert "write" in calls_of(bad, tmp_path)
    assert swept(bad, tmp_path, ["short"]).faults


def test_the_layer_fails_as_often_as_it_is_told(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with planted(Faults(1, CODES["EIO"])), pytest.raises(OSError, match="Input/output"):
        os.open(path, os.O_WRONLY | os.O_CREAT)
    with planted(Faults(1, CODES["EIO"], for_good=True, spares_cleaning=False)):
        for _ in range(3):
            with pytest.raises(OSError, match="Input/output"):
                os.unlink(path)
    with pytest.raises(FileNotFoundError):
        os.unlink(path)
