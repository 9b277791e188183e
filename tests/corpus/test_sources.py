from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.corpus.reading import corpus_file
from wordpiece_studio.corpus.files import CorpusFile, checked_kind
from wordpiece_studio.corpus.inspection import described
from wordpiece_studio.corpus.listing import opened
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from pathlib import Path

HEAVY = {"pyarrow", "zstandard", "charset_normalizer", "dask", "distributed", "fsspec", "llvmlite", "bz2", "lzma"}


def loaded_by(code: str) -> set[str]:
    """Return the modules that a program has loaded when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.slow
def test_nothing_is_loaded_before_it_is_needed(tmp_path: Path) -> None:
    for name, content in (("a.txt", "é\n"), ("a.jsonl", '{"text": "x"}\n'), ("a.csv", "text\nx\n")):
        corpus_file(tmp_path / name, content)
    reading = (
        "from wordpiece_studio.corpus.listing import listed_files\n"
        "from wordpiece_studio.corpus.listing import opened\n"
        "from wordpiece_studio.corpus.inspection import described, preview\n"
        "import wordpiece_studio.cli, wordpiece_studio.corpus.count_tables\n"
        f"for file in listed_files({str(tmp_path)!r}):\n"
        "    print(*(piece.text for piece in opened(file).pieces()), preview(file).text, described(file.path).name)"
    )
    assert not loaded_by(reading) & (HEAVY - {"bz2", "lzma"})
    assert not loaded_by("import wordpiece_studio.corpus.listing") & HEAVY


def test_a_description_says_how_a_file_would_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = "1;Это очень хороший фильм;5\n2;Мне совсем не понравилось;1\n" * 5
    path.write_bytes(f"id;отзыв;n\n{rows}".encode("cp1251"))
    found = described(path)
    assert (found.kind, found.compression, found.size) == ("csv", None, path.stat().st_size)
    assert (found.encoding, found.how) == ("cp1251", "guess")
    assert (found.columns, found.column) == (("id", "отзыв", "n"), "отзыв")
    assert found.file == CorpusFile(str(path), "csv", "отзыв", "cp1251")


@pytest.mark.parametrize(
    ("name", "content", "columns", "column"),
    [
        ("a.jsonl", '{"n": 1, "text": "x", "b": {"c": "y"}}\n', ("text", "b.c"), "text"),
        ("a.jsonl", '{"a": "x", "b": "y"}\n', ("a", "b"), None),
        ("a.jsonl", "broken", (), None),
        ("a.csv", "", (), None),
        ("a.tsv", "a\tb\nx\ty\n", ("a", "b"), None),
        ("a.tsv", "a\ttext\nx\ty\n", ("a", "text"), "text"),
        ("a.txt", "x", (), None),
    ],
)
def test_columns_are_detected(
    tmp_path: Path, name: str, content: str, columns: tuple[str, ...], column: str | None
) -> None:
    file = corpus_file(tmp_path / name, content)
    assert (described(file.path).columns, described(file.path).column) == (columns, column)


def test_parquet_is_also_recognized_by_its_beginning(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    for name in ("a.parquet", "data"):
        parquet.write_table(arrow.table({"n": [1], "body": ["x"], "other": ["y"]}), tmp_path / name)
        found = described(tmp_path / name)
        assert (found.kind, found.encoding, found.columns, found.column) == ("parquet", None, ("body", "other"), "body")


def test_kinds_have_names() -> None:
    assert checked_kind("csv") == "csv"
    with pytest.raises(StudioError, match=r'no kind of file called "xml"\. Use one of text, jsonl, csv'):
        checked_kind("xml")


def test_every_kind_is_a_source(tmp_path: Path) -> None:
    for name, content in (("a.txt", "x\n"), ("a.jsonl", '{"text": "x"}\n'), ("a.csv", "text\nx\n")):
        source = opened(corpus_file(tmp_path / name, content))
        assert (source.name, source.size, source.bytes_read) == (str(tmp_path / name), len(content), 0)
        assert [piece.source for piece in source.pieces()] == [str(tmp_path / name)]
        assert (source.bytes_read, source.has_changed()) == (len(content), False)
