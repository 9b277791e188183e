"""Mutations of tables of words and counts: lines with tabs, csv, jsonl, parquet, and compressed ones."""

from __future__ import annotations

import importlib.util
import io
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tests.reliability.mutating import VALUES, packed, spoiled_bytes, spoiled_lines
from wordpiece_studio.corpus.count_tables import write_word_counts
from wordpiece_studio.corpus.counting.counting import read_word_counts
from wordpiece_studio.corpus.counts import WordCounts

if TYPE_CHECKING:
    import random

_WORDS = ("hug", "pug", "hugs", "안녕", "naïve", "=1+1", "##x", "🤗", "a,b", 'say "no"', "x" * 300)
_PARQUET, _GZIP = b"PAR1", b"\x1f\x8b"


@cache
def seeds() -> dict[str, bytes]:
    """Return real tables by their file names."""
    counts = WordCounts.from_pairs([(word, 1 + 10**number) for number, word in enumerate(_WORDS)])
    kinds = ["tsv", "txt", "csv", *(["parquet"] if importlib.util.find_spec("pyarrow") else [])]
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds:
            path = Path(folder) / f"counts.{kind}"
            write_word_counts(path, counts)
            found[path.name] = path.read_bytes()
    found["counts.tsv.gz"] = found["counts.csv.gz"] = b""  # made of the others
    found["counts.jsonl"] = b'{"word": "hug", "count": 10}\n{"word": "pug", "count": 5}\n'
    return found


def mutate(random: random.Random, seed: bytes) -> bytes:
    """Return a table of which something is not right."""
    if not seed:
        return packed(random, random.choice((seeds()["counts.tsv"], seeds()["counts.csv"])))
    if seed.startswith(_PARQUET):
        return _other_table(random) if random.random() < 0.3 else spoiled_bytes(random, seed)
    for _ in range(random.choice((1, 1, 2, 4))):
        seed = random.choice((spoiled_bytes, spoiled_lines, spoiled_lines))(random, seed)
    return seed


def _other_table(random: random.Random) -> bytes:
    """Return a whole parquet file with columns of other kinds, names, lengths and compressions."""
    import pyarrow
    from pyarrow import parquet

    size = random.choice((0, 1, 3, 3000))
    columns = {}
    for name in random.choice((("word", "count"), ("count", "word"), ("word", "word "), ("text", "freq"), ("a",))):
        value = random.choice((*VALUES, "word", 3, b"\xff", 1))
        try:
            columns[name] = pyarrow.array([value] * size)
        except (pyarrow.ArrowException, OverflowError, UnicodeEncodeError):
            columns[name] = pyarrow.array([1] * size)
    file = io.BytesIO()
    try:
        compression = random.choice(("none", "snappy", "gzip", "zstd"))
        parquet.write_table(pyarrow.table(columns), file, compression=compression, row_group_size=max(1, size // 2))
    except (pyarrow.ArrowException, UnicodeEncodeError):
        return spoiled_bytes(random, seeds()["counts.parquet"])
    return file.getvalue()


def read(path: Path) -> None:
    """Read a table."""
    read_word_counts(path)
