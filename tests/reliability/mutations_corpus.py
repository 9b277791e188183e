"""Mutations of corpora: texts, jsonl, csv and parquet, and compressed ones."""

from __future__ import annotations

import importlib.util
import io
from functools import cache
from typing import TYPE_CHECKING

from tests.reliability.mutating import packed, spoiled_bytes, spoiled_lines
from wordpiece_studio.corpus.counting.counting import count_words
from wordpiece_studio.corpus.files import CorpusFile, kind_of_name

if TYPE_CHECKING:
    import random
    from pathlib import Path

_LINES = ("Hug the pugs.", "안녕 세상", "naïve café", "a, b and c", 'say "no"', "🤗 ok", "x" * 300)


@cache
def seeds() -> dict[str, bytes]:
    """Return real corpora by their file names."""
    found = {
        "corpus.txt": "\r\n".join(_LINES).encode(),
        "corpus.jsonl": "".join(f'{{"text": "{line.replace(chr(34), "")}", "id": 7}}\n' for line in _LINES).encode(),
        "corpus.csv": ("id,text\n" + "".join(f'{n},"{line.replace(chr(34), chr(34) * 2)}"\n'
                                            for n, line in enumerate(_LINES))).encode(),
        "corpus.tsv": ("id\ttext\n" + "".join(f"{n}\t{line}\n" for n, line in enumerate(_LINES))).encode(),
        "corpus.txt.gz": b"", "corpus.jsonl.gz": b"",
    }  # fmt: skip
    if importlib.util.find_spec("pyarrow"):
        import pyarrow
        from pyarrow import parquet

        file = io.BytesIO()
        parquet.write_table(pyarrow.table({"text": list(_LINES)}), file)
        found["corpus.parquet"] = file.getvalue()
    return found


def mutate(random: random.Random, seed: bytes) -> bytes:
    """Return a corpus of which something is not right."""
    if not seed:
        return packed(random, random.choice((seeds()["corpus.txt"], seeds()["corpus.jsonl"])))
    if seed.startswith(b"PAR1"):
        return spoiled_bytes(random, seed)
    for _ in range(random.choice((1, 1, 2, 4))):
        seed = random.choice((spoiled_bytes, spoiled_lines))(random, seed)
    return seed


def read(path: Path) -> None:
    """Count its words, the column by its name where there are columns."""
    kind = kind_of_name(path.name) or "text"
    count_words(CorpusFile(str(path), kind, None if kind == "text" else "text"))
