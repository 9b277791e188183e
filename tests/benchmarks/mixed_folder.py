"""A folder of many files of every kind, always the same: text, compressed, rows, UTF-16 and Windows-1252."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from itertools import cycle, islice
from typing import TYPE_CHECKING

from tests.benchmarks.corpus import blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_LINES = 120


def write_folder(folder: Path, files: int) -> int:
    """Write so many files below `folder`; return their bytes."""
    lines = _lines()
    western = (line for line in _lines() if _is_western(line))
    size = 0
    for number, (suffix, write) in enumerate(islice(cycle(_KINDS.items()), files)):
        source = western if suffix == ".western.txt" else lines
        place = folder / f"part {number // 100:02}" / f"{number:05}{suffix}"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(write(list(islice(source, 20 if suffix == ".western.txt" else _LINES))))
        size += place.stat().st_size
    return size


def _lines() -> Iterator[str]:
    for block in blocks():
        yield from block.splitlines()


def _is_western(line: str) -> bool:
    try:
        return len(line.encode("cp1252")) > len(line.encode("ascii", "ignore"))
    except UnicodeEncodeError:
        return False


def _plain(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _rows(lines: list[str], delimiter: str) -> bytes:
    table = io.StringIO()
    writer = csv.writer(table, delimiter=delimiter)
    writer.writerow(["id", "text"])
    writer.writerows(enumerate(lines))
    return table.getvalue().encode()


_KINDS: dict[str, Callable[[list[str]], bytes]] = {
    ".txt": _plain,
    ".txt.gz": lambda lines: gzip.compress(_plain(lines), 1),
    ".txt.xz": lambda lines: lzma.compress(_plain(lines), preset=0),
    ".txt.bz2": lambda lines: bz2.compress(_plain(lines)),
    ".jsonl": lambda lines: _plain([json.dumps({"id": 1, "text": line}, ensure_ascii=False) for line in lines]),
    ".csv": lambda lines: _rows(lines, ","),
    ".tsv": lambda lines: _rows(lines, "\t"),
    ".wide.txt": lambda lines: "".join(f"{line}\r\n" for line in lines).encode("utf-16"),
    ".western.txt": lambda lines: "".join(f"{line}\n" for line in lines).encode("cp1252"),
    ".jsonl.gz": lambda lines: gzip.compress(_plain([json.dumps({"text": line}) for line in lines]), 1),
}
