"""Random and damaged files: whatever is in them, only a StudioError may come out, and soon."""

from __future__ import annotations

import gzip
import random
import time
from typing import TYPE_CHECKING, Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.corpus.reading import corpus_file, pieces_of
from wordpiece_studio.corpus.counting.counting import read_word_counts
from wordpiece_studio.corpus.decoding import ErrorHandling
from wordpiece_studio.corpus.files import CorpusFile, FileKind
from wordpiece_studio.corpus.inspection import described, preview
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ["a.txt", "a.jsonl", "a.csv", "a.tsv", "a.parquet"]
PARTS = st.sampled_from(
    [
        b'"', b",", b"\t", b"\n", b"\r\n", b"{", b"}", b'{"text": "', b'"}', b"[", b"\\ud800", b"\\u0000", b"\0",
        b"\xff", b"\xc3", b"\xe9", b"text", b"id,text\n", b"id\ttext\n", b"1,", b"NaN", b"9" * 30, b"\xef\xbb\xbf",
        b"\xff\xfe", "한글".encode(), "한글".encode("utf-16-le"), b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"BZh91AY&SY",
        b"\xfd7zXZ\0", b"PAR1", b" ", b":", b"null", b"word\tcount\n", b"a\t5\n",
    ]
)  # fmt: skip
CONTENT = st.one_of(st.binary(max_size=200), st.lists(PARTS, max_size=40).map(b"".join))
SECONDS = 20  # of work, whatever else the machine does


def only_studio_errors(function: Any, *arguments: Any) -> None:
    started = time.process_time()
    message = "none"
    try:
        function(*arguments)
    except StudioError as error:
        message = str(error)
    assert message
    assert "\n" not in message
    assert time.process_time() - started < SECONDS


@pytest.mark.parametrize("name", NAMES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=CONTENT,
    errors=st.sampled_from(get_args(ErrorHandling)),
    encoding=st.sampled_from([None, "detect", "utf-16-le", "cp1252", "gb18030"]),
    column=st.sampled_from([None, "text", "2"]),
)
def test_readers(
    tmp_path: Path, name: str, content: bytes, errors: Any, encoding: str | None, column: str | None
) -> None:
    file = corpus_file(tmp_path / name, content, errors=errors, encoding=encoding, column=column)
    only_studio_errors(pieces_of, file)
    only_studio_errors(described, file.path)
    only_studio_errors(preview, file, len(content) // 2, 20)
    only_studio_errors(read_word_counts, file.path)


@pytest.mark.parametrize("kind", [kind for kind in get_args(FileKind) if kind != "word-counts"])
def test_random_bytes_of_every_kind(tmp_path: Path, kind: FileKind) -> None:
    chance = random.Random(3)
    for size in (1, 10, 1000, 100_000):
        content = chance.randbytes(size)
        for data in (content, gzip.compress(content), gzip.compress(content)[: size // 2]):
            (tmp_path / "a").write_bytes(data)
            for errors in get_args(ErrorHandling):
                only_studio_errors(pieces_of, CorpusFile(str(tmp_path / "a"), kind, errors=errors))


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 5))])
def test_damaged_parquet(tmp_path: Path, seed: int) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    texts = [f"row {number % 700}" for number in range(2000)]
    path = tmp_path / "a.parquet"
    parquet.write_table(
        arrow.table({"text": texts}), path, row_group_size=900, use_dictionary=seed % 2 == 0,
        compression=["none", "zstd", "snappy"][seed % 3],
    )  # fmt: skip
    whole = path.read_bytes()
    chance = random.Random(seed)
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(chance.choice([1, 1, 3, 10])):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data[: chance.choice([len(data), len(data), chance.randrange(len(data))])])
        only_studio_errors(pieces_of, CorpusFile(str(path), "parquet"))
        only_studio_errors(preview, CorpusFile(str(path), "parquet"), 1000)
