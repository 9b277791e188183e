"""Some spoiled files of every format; a hundred thousand: `python -m tests.reliability.fuzz`."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest

fuzz = pytest.importorskip("tests.reliability.fuzz", exc_type=ImportError)  # needs POSIX's limits

if TYPE_CHECKING:
    from pathlib import Path

_INPUTS = 60


@pytest.mark.expects_log  # a spoiled tokenizer may end the process in which its library runs
@pytest.mark.parametrize("name", fuzz.formats())
def test_every_refusal_is_told(name: str, tmp_path: Path) -> None:
    module = fuzz.module_of(name)
    share = fuzz.Share(name, 0, _INPUTS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(_INPUTS):
            path = fuzz.placed(tmp_path, *fuzz.made(module, name, number))
            fuzz.tried(module, path, share, number)
            path.unlink()
    assert [fault for fault in share.faults if ": took " not in fault] == []
    assert share.refused > _INPUTS // 10
    assert share.read + share.refused == _INPUTS


def test_an_input_can_be_made_again() -> None:
    module = fuzz.module_of("settings")
    assert fuzz.made(module, "settings", 7) == fuzz.made(module, "settings", 7)
    assert len({fuzz.made(module, "settings", number) for number in range(20)}) > 10


def test_what_is_no_studio_error_is_a_fault(tmp_path: Path) -> None:
    class Module:
        @staticmethod
        def read(_path: Path) -> None:
            raise ValueError("not told")

    share = fuzz.Share("any", 0, 1)
    fuzz.tried(Module, tmp_path, share, 0)
    assert len(share.faults) == 1


@pytest.mark.slow
def test_inputs_are_read_in_a_limited_process() -> None:
    total = fuzz.watched(fuzz.Share("word_counts", 0, 120))
    assert (total.inputs, total.faults) == (120, [])
    assert total.memory < fuzz.MOST_MEMORY
