from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.corpus.reading import corpus_file, pieces_of, refusal, text_of
from wordpiece_studio.corpus.listing import opened

pyarrow = pytest.importorskip("pyarrow")

from pyarrow import parquet as writer  # noqa: E402 (only where it is installed)

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = [f"row {number} é\nline two" if number % 3 else "" for number in range(5000)]


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary"])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
def test_texts_come_as_they_are(tmp_path: Path, kind: str, compression: str) -> None:
    array = pyarrow.array(TEXTS, pyarrow.string() if kind == "dictionary" else getattr(pyarrow, kind)())
    table = pyarrow.table({"n": range(5000), "body": array.dictionary_encode() if kind == "dictionary" else array})
    writer.write_table(table, tmp_path / "a.parquet", row_group_size=1500, compression=compression)
    file = corpus_file(tmp_path / "a.parquet")
    pieces = pieces_of(file)
    assert "".join(piece.text for piece in pieces) == "".join(f"{text}\n" for text in TEXTS)
    assert "".join(piece.utf8.decode() for piece in pieces) == "".join(piece.text for piece in pieces)
    row = 1
    for piece in pieces:
        assert piece.rows is not None
        assert list(piece.rows.lines) == list(range(row, row + len(piece.rows.lines)))
        row += len(piece.rows.lines)


def test_pieces_are_small_and_progress_is_reported(tmp_path: Path) -> None:
    texts = [f"{number} " * 20_000 for number in range(100)]
    writer.write_table(pyarrow.table({"text": texts, "other": texts}), tmp_path / "a.parquet", row_group_size=30)
    source = opened(corpus_file(tmp_path / "a.parquet", column="text"))
    read = []
    for piece in source.pieces():
        assert len(piece.text) < 2 << 20
        read.append(source.bytes_read)
    assert read == sorted(read)
    assert len(set(read)) > 5
    assert source.bytes_read == source.size


@pytest.mark.parametrize("texts", [[], [""], ["a"]])
def test_small_files(tmp_path: Path, texts: list[str]) -> None:
    writer.write_table(pyarrow.table({"text": pyarrow.array(texts, pyarrow.string())}), tmp_path / "a.parquet")
    assert text_of(corpus_file(tmp_path / "a.parquet")) == "".join(f"{text}\n" for text in texts)


def test_names_of_columns_may_be_anything(tmp_path: Path) -> None:
    for name in ("a.b", "텍스트", 'q"\n', ""):
        writer.write_table(pyarrow.table({name: ["x"], "n": [1]}), tmp_path / "a.parquet")
        assert text_of(corpus_file(tmp_path / "a.parquet", column=name)) == "x\n"


def test_a_field_of_another_column_may_have_the_same_name(tmp_path: Path) -> None:
    writer.write_table(pyarrow.table({"a": [{"b": "inner"}], "a.b": ["outer"]}), tmp_path / "a.parquet")
    assert text_of(corpus_file(tmp_path / "a.parquet", column="a.b")) == "outer\n"


def test_rows_are_called_rows(tmp_path: Path) -> None:
    writer.write_table(pyarrow.table({"text": ["a", "b\0"]}), tmp_path / "a.parquet")
    assert "a.parquet, row 2: the text contains a NUL character" in refusal(corpus_file(tmp_path / "a.parquet"))


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    table = pyarrow.Table.from_arrays([pyarrow.array(["x"]), pyarrow.array(["y"])], names=["text", "text"])
    writer.write_table(table, tmp_path / "a.parquet")
    assert 'more than one column "text"' in refusal(corpus_file(tmp_path / "a.parquet"))
