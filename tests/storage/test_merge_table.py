"""Tables of merges: read back exactly, safe in a spreadsheet, complete or absent."""

from __future__ import annotations

import csv
import errno
import importlib.util
import json
import os
import sys
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage import merge_table
from wordpiece_studio.storage.merge_table import MERGE_COLUMNS, read_merge_table, write_merge_table
from wordpiece_studio.system.child import Stopped
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import Trainer

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.training.history import MergeHistory

NEEDS_PYARROW = pytest.mark.skipif(not importlib.util.find_spec("pyarrow"), reason="pyarrow is not installed")
EACH = pytest.mark.parametrize("kind", ["csv", "jsonl", pytest.param("parquet", marks=NEEDS_PYARROW)])
OBEYED = "=+-@\t\r\n'＝＋－＠"
WORDS = st.text(st.characters(exclude_categories=["Cs"], include_characters=OBEYED), min_size=1, max_size=5)


def learned(*words: str) -> MergeHistory:
    config = TrainingConfig(max_merges=50, continuing_subword_prefix="")
    trainer = Trainer(WordCounts.from_pairs([(word, 1 + n) for n, word in enumerate(dict.fromkeys(words))]), config)
    trainer.run(50)
    return trainer.history


@cache
def sample() -> MergeHistory:
    return learned("=A1", "+b", "-cc", "@d", "\tx", "'q", "hugs", "hug", 'a,"b"\n', "안녕", "＝x")


def assert_holds(table: dict[str, object], history: MergeHistory, steps: list[int]) -> None:
    assert tuple(table) == MERGE_COLUMNS
    for row, step in enumerate(steps):
        merge = history[step - 1]
        expected = [
            step, merge.left, merge.right, merge.token, merge.pair_frequency, merge.left_frequency,
            merge.right_frequency, merge.value, merge.ties, history.vocabulary_size(step), history.symbols_after(step),
            len(history.words_touched(step - 1)), merge.is_new,
        ]  # fmt: skip
        assert [table[name][row] for name in MERGE_COLUMNS] == expected
    assert {len(column) for column in table.values()} == {len(steps)}


@EACH
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(words=st.lists(WORDS, min_size=1, max_size=6))
def test_what_is_written_is_read_exactly(tmp_path: Path, kind: str, words: list[str]) -> None:
    history, path = learned(*words), tmp_path / f"merges.{kind}"
    write_merge_table(path, history)
    assert_holds(read_merge_table(path), history, list(range(1, len(history) + 1)))


@EACH
def test_rows_are_in_the_requested_order(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge_table, "_ROWS", 2)
    path, steps, seen = tmp_path / f"merges.{kind}", [5, 1, 3, len(sample()), 2], []
    write_merge_table(path, sample(), np.array(steps), report=lambda *progress: seen.append(progress))
    assert_holds(read_merge_table(path), sample(), steps)
    assert seen == [(2, 5), (4, 5), (5, 5)]


def test_a_spreadsheet_finds_no_formula(tmp_path: Path) -> None:
    path = tmp_path / "merges.csv"
    write_merge_table(path, sample())
    assert path.read_bytes().startswith(b"\xef\xbb\xbfstep,")  # else a spreadsheet takes it for another encoding
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    tokens = [cell for row in rows[1:] for cell in row[1:4]]
    assert any(token == "'=A1" for token in tokens)
    assert not [token for token in tokens if token.startswith(tuple(OBEYED.replace("'", "")))]


@EACH
def test_stopped_or_failed_nothing_is_there(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"merges.{kind}"
    path.write_bytes(b"old")
    monkeypatch.setattr(merge_table, "_ROWS", 3)
    answers = iter([False, False, True])
    with pytest.raises(Stopped):
        write_merge_table(path, sample(), should_stop=lambda: next(answers, True))
    assert path.read_bytes() == b"old"

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StudioError, match=r"cannot be written: No space left.*unchanged"):
        write_merge_table(path, sample())
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@EACH
def test_a_missing_folder_is_reported(tmp_path: Path, kind: str) -> None:
    with pytest.raises(StudioError, match="cannot be written"):
        write_merge_table(tmp_path / "none" / f"merges.{kind}", sample())
    with pytest.raises(StudioError, match="does not exist"):
        merge_table.check_merge_table_place(tmp_path / "none" / f"merges.{kind}")
    with pytest.raises(StudioError, match="does not exist"):
        read_merge_table(tmp_path / f"none.{kind}")


@pytest.mark.skipif(os.name != "posix", reason="POSIX files")
def test_a_pipe_is_refused_unopened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(StudioError, match="is not a regular file"):
        read_merge_table(tmp_path / "pipe.csv")


def test_without_pyarrow_parquet_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(StudioError, match=r"pip install pyarrow"):
        write_merge_table(tmp_path / "merges.parquet", sample())


@NEEDS_PYARROW
def test_arrow_and_pandas_hold_what_is_written(tmp_path: Path) -> None:
    history = sample()
    table = history.to_arrow()
    assert_holds(table.to_pydict(), history, list(range(1, len(history) + 1)))
    write_merge_table(tmp_path / "t.parquet", history)
    import pandas

    assert history.to_pandas().equals(pandas.read_parquet(tmp_path / "t.parquet"))
    assert learned("a").to_arrow().schema == table.schema
    assert list(learned("a").to_pandas().columns) == list(MERGE_COLUMNS)


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_what_tables_in_memory_need_is_said(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    method = {"pandas": sample().to_pandas, "pyarrow": sample().to_arrow}[library]
    with pytest.raises(StudioError, match=f"needs {library}. Install it: pip install {library}"):
        method()


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudioError, match=r"does not end in \.csv, \.jsonl or \.parquet"):
        write_merge_table(tmp_path / "merges.xlsx", sample())


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("csv", "step,left\n1"),
        ("csv", ""),
        ("csv", ",".join(MERGE_COLUMNS) + "\nx,a,b,ab,1,1,1,1,1,1,1,1,True\n"),
        ("csv", ",".join(MERGE_COLUMNS) + "\n1,a,b,ab,1,1,1,1,1,1,1,1,maybe\n"),
        ("jsonl", "[]\n"),
        ("jsonl", "{"),
        ("jsonl", json.dumps(dict.fromkeys(MERGE_COLUMNS)) + "\n"),
        pytest.param("parquet", "PAR1", marks=NEEDS_PYARROW),
    ],
)
def test_other_files_are_refused(tmp_path: Path, kind: str, content: str) -> None:
    path = tmp_path / f"merges.{kind}"
    path.write_text(content)
    with pytest.raises(StudioError, match="is not a table of merges"):
        read_merge_table(path)
