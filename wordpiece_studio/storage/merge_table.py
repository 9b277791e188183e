r"""The merges of a training as a table: csv, jsonl or parquet, by file extension. Written in slices, read at once.

The columns are those of `MERGE_COLUMNS`. Jsonl and parquet contain the tokens unchanged. People open csv in a
spreadsheet, which would execute a token such as ``=A1``: so the file begins with a byte order mark, and a token that
begins with ``=``, ``+``, ``-``, ``@``, a tab, a line end, a wide form of these signs or an apostrophe gets an
apostrophe before it. `read_merge_table` removes it again, so every file reads back exactly. A manifest beside the table
may say how it was made, see `manifest`.
"""

from __future__ import annotations

import csv
import json
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec
import numpy as np

from wordpiece_studio.corpus.count_tables import check_table_place, csv_text, guarded, unguarded
from wordpiece_studio.corpus.files import regular_file_status
from wordpiece_studio.corpus.parquet import load_pyarrow
from wordpiece_studio.storage.manifest import Manifest, with_side_manifest
from wordpiece_studio.system.arrays import slices
from wordpiece_studio.system.atomic_write import atomic_write_all
from wordpiece_studio.system.child import Stopped
from wordpiece_studio.system.printable import display_name, file_error
from wordpiece_studio.training.history import MERGE_COLUMNS, MERGE_TOKENS, arrow_schema, merge_columns

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from wordpiece_studio.training.history import Columns, MergeHistory

    Place = str | os.PathLike[str]

KINDS = ("csv", "jsonl", "parquet")

_ROWS = 256  # written at once, so that no other thread waits long
_GROUP_PARTS = 256  # such slices per row group of a parquet file
_ADVICE = "Read a table that was exported here."


def merge_parts(
    history: MergeHistory, steps: NDArray[np.int64], should_stop: Callable[[], bool] = lambda: False
) -> Iterator[Columns]:
    """Yield the result of `merge_columns`, some rows at a time, so that no other thread waits long."""
    words_touched = _words_touched(history, should_stop) if len(steps) > _ROWS else None
    for start in range(0, len(steps), _ROWS):
        if should_stop():
            raise Stopped
        yield merge_columns(history, steps[start : start + _ROWS], words_touched)


def write_merge_table(
    path: Place,
    history: MergeHistory,
    steps: NDArray[np.int64] | None = None,
    *,
    manifest: Manifest | None = None,
    report: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> None:
    """Write merges to a file, and a manifest beside it; raise `Stopped`, without either, if `should_stop` says so.

    The `steps`, from 1, are in the desired order. `report` is called with the number of rows written and the total.
    """
    kind = kind_of_merge_table(path)
    wanted = np.arange(1, len(history) + 1) if steps is None else steps

    def parts() -> Iterator[Columns]:
        written = 0
        for columns in merge_parts(history, wanted, should_stop):
            yield columns
            written += len(columns["step"])
            if report is not None:
                report(written, len(wanted))

    write = {"csv": _write_csv, "jsonl": _write_jsonl, "parquet": _write_parquet}[kind]
    if kind == "parquet":
        load_pyarrow(display_name(path))

    def write_parts(file: BinaryIO) -> None:
        write(file, parts())

    atomic_write_all({path: write_parts} if manifest is None else with_side_manifest(manifest, path, write_parts))


def read_merge_table(path: Place) -> dict[str, list[str] | NDArray[Any]]:
    """Return the columns of a table written by this module, by name: tokens as lists, numbers as arrays."""
    kind = kind_of_merge_table(path)
    regular_file_status(path)
    try:
        columns = {"csv": _read_csv, "jsonl": _read_jsonl, "parquet": _read_parquet}[kind](Path(path))
        return {title: _typed(title, columns[title]) for title in MERGE_COLUMNS}
    except OSError as error:
        raise file_error(path, "{path} cannot be read: {reason}", reason=error.strerror or error) from error
    except (ValueError, KeyError, TypeError, OverflowError, csv.Error) as error:
        raise file_error(path, "{path} is not a table of merges: {reason}", _ADVICE, reason=error) from error


def kind_of_merge_table(path: Place) -> str:
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise file_error(path, "{path} does not end in .csv, .jsonl or .parquet", "Use one of these extensions.")
    return kind


def check_merge_table_place(path: Place) -> None:
    """Check that a table of merges can probably be written to `path`; nothing is written."""
    kind_of_merge_table(path)
    check_table_place(path)


def _words_touched(history: MergeHistory, should_stop: Callable[[], bool]) -> NDArray[np.int64]:
    parts = [np.empty(0, dtype=np.int64)]
    for part in slices(len(history)):
        if should_stop():
            raise Stopped
        parts.append(history.words_touched_counts(part.start, part.stop))
    return np.concatenate(parts)


# Writing.


def _write_csv(file: BinaryIO, parts: Iterable[Columns]) -> None:
    file.write(csv_text([MERGE_COLUMNS]).encode("utf-8-sig"))
    for columns in parts:
        for name in MERGE_TOKENS:
            columns[name] = [guarded(token) for token in columns[name]]
        file.write(csv_text(_rows(columns)).encode())


def _write_jsonl(file: BinaryIO, parts: Iterable[Columns]) -> None:
    encoder = msgspec.json.Encoder()
    for columns in parts:
        records = [dict(zip(MERGE_COLUMNS, row, strict=True)) for row in _rows(columns)]
        file.write(encoder.encode_lines(records))


def _write_parquet(file: BinaryIO, parts: Iterable[Columns]) -> None:
    import pyarrow
    from pyarrow import parquet

    schema = arrow_schema()
    tables = (pyarrow.table(columns, schema=schema) for columns in parts)
    with parquet.ParquetWriter(file, schema) as writer:
        while group := list(islice(tables, _GROUP_PARTS)):
            writer.write_table(pyarrow.concat_tables(group))


def _rows(columns: Columns) -> Iterator[tuple[Any, ...]]:
    return zip(*(columns[name] for name in MERGE_COLUMNS), strict=True)


# Reading.


def _read_csv(path: Path) -> Columns:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, strict=True)
        titles = next(rows, [])
        columns: Columns = {title: [] for title in titles}
        for row in rows:
            for title, cell in zip(titles, row, strict=True):
                columns[title].append(cell)
    for name in MERGE_TOKENS:
        columns[name] = [unguarded(token) for token in columns[name]]
    columns["is_new"] = [{"True": True, "False": False}[cell] for cell in columns["is_new"]]
    return columns


def _read_jsonl(path: Path) -> Columns:
    with path.open("rb") as file:
        records = [json.loads(line) for line in file]
    return {name: [record[name] for record in records] for name in MERGE_COLUMNS}


def _read_parquet(path: Path) -> Columns:
    load_pyarrow(display_name(path))
    from pyarrow import parquet

    columns: Columns = parquet.read_table(path).to_pydict()
    return columns


def _typed(name: str, cells: list[Any]) -> list[str] | NDArray[Any]:
    if name in MERGE_TOKENS:
        return cells
    kind: Any = {"value": np.float64, "is_new": np.bool_}.get(name, np.int64)
    return np.array([kind(cell) for cell in cells], dtype=kind)
