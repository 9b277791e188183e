from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from tests.corpus.reading import corpus_file, text_of
from wordpiece_studio.corpus import inspection
from wordpiece_studio.corpus.inspection import preview
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.corpus.files import CorpusFile

LINES = [f"line {number} é한\n" for number in range(1, 5001)]


def seen_all(file: CorpusFile, size: int) -> tuple[str, list[int | None]]:
    """Return the whole text of a file as a sequence of previews shows it, and the numbers of their first lines."""
    text, numbers = "", []
    at = end = 0
    total = 1
    while end < total:
        shown = preview(file, at, size)
        assert shown.start == end or not text
        text += shown.text
        numbers.append(shown.first_line)
        at = end = shown.end
        total = shown.total
    return text, numbers


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "gb18030"])
@pytest.mark.parametrize("size", [100, 20_000])
def test_parts_make_the_whole(tmp_path: Path, encoding: str, size: int) -> None:
    lines = [line.replace("é한", "é中") for line in LINES[: 10 * size]]
    given = None if encoding in ("utf-8", "utf-8-sig", "utf-16") else encoding
    file = corpus_file(tmp_path / "a.txt", "".join(lines).encode(encoding), encoding=given)
    text, numbers = seen_all(file, size)
    assert text == "".join(lines)
    assert numbers[0] == 1
    assert all(number is not None and number > 0 for number in numbers)


def test_any_byte_shows_the_line_that_holds_it(tmp_path: Path) -> None:
    data = "".join(LINES).encode()
    file = corpus_file(tmp_path / "a.txt", data)
    for at in (0, 1, len(data) // 2, len(data) // 2 + 1, len(data) - 1, len(data), 10 * len(data)):
        shown = preview(file, at, 30)
        assert shown.start <= at
        assert data[shown.start : shown.end].decode() == shown.text
        assert data[: shown.start].count(b"\n") + 1 == shown.first_line
        assert shown.text.startswith(f"line {shown.first_line} ")
        assert shown.text.endswith("\n")
        assert shown.total == len(data)


def test_bad_bytes_are_shown_as_such(tmp_path: Path) -> None:
    shown = preview(corpus_file(tmp_path / "a.txt", b"a\n\xff b\0\n"))
    assert shown.text == "a\n\ufffd b\0\n"


@pytest.mark.parametrize("content", [b"", b"\n", b"x", b"\xef\xbb\xbf", "\ufeff".encode("utf-16")])
def test_small_files(tmp_path: Path, content: bytes) -> None:
    shown = preview(corpus_file(tmp_path / "a.txt", content), 5)
    assert (shown.first_line, shown.end) == (1, len(content))


def test_a_line_that_is_very_long_is_shown_from_where_one_looks(tmp_path: Path) -> None:
    file = corpus_file(tmp_path / "a.txt", "é" * (4 << 20))
    shown = preview(file, 3_000_001, 1000)
    assert set(shown.text.strip("\ufffd")) == {"é"}
    assert len(shown.text) < 1100
    assert 3_000_000 <= shown.start <= 3_000_002


def test_a_compressed_file_is_shown_as_far_as_is_looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = "".join(LINES).encode()
    file = corpus_file(tmp_path / "a.txt.gz", gzip.compress(data))
    shown = preview(file, 50_000, 100)
    assert data[shown.start : shown.end].decode() == shown.text
    assert (shown.total, shown.start <= 50_000 < shown.end + 100) == (len(data), True)
    monkeypatch.setattr(inspection, "SEARCHED_BYTES", 10_000)
    shown = preview(file, 50_000, 100)
    assert shown.start < 10_000 < shown.total
    assert shown.text in "".join(LINES)


def test_the_number_of_a_line_far_into_a_file_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspection, "SEARCHED_BYTES", 1000)
    file = corpus_file(tmp_path / "a.txt", "".join(LINES))
    assert preview(file, 500).first_line is not None
    assert preview(file, 5000).first_line is None


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv"])
def test_of_rows_the_texts_are_shown_and_faulty_ones_left_out(tmp_path: Path, name: str) -> None:
    separator = {"a.csv": ",", "a.tsv": "\t"}.get(name)
    rows = [f'{{"id": {n}, "text": "row {n}"}}\n' for n in range(2000)]
    if separator:
        rows = [f"id{separator}text\n", *(f"{n}{separator}row {n}\n" for n in range(2000))]
    rows[1000] = "broken\n"
    file = corpus_file(tmp_path / name, "".join(rows), errors="skip-line")
    assert seen_all(file, 500)[0] == text_of(file)
    assert preview(file, 20_000, 100).text.startswith("row ")


def test_without_a_known_column_the_rows_themselves_are_shown(tmp_path: Path) -> None:
    assert preview(corpus_file(tmp_path / "a.csv", "a,b\nx,y\n")).text == "a,b\nx,y\n"
    assert preview(corpus_file(tmp_path / "a.jsonl", '{"a": "x", "b": "y"}\n')).text == '{"a": "x", "b": "y"}\n'


def test_of_parquet_rows_are_counted(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    texts = [f"row {number}" for number in range(1, 1001)]
    parquet.write_table(arrow.table({"text": texts}), tmp_path / "a.parquet", row_group_size=300)
    file = corpus_file(tmp_path / "a.parquet")
    shown = preview(file, 650, 20)
    assert (shown.text, shown.first_line, shown.start, shown.end) == ("row 651\nrow 652\nrow 653\n", 651, 650, 653)
    assert shown.total == 1000
    assert preview(file, 5000, 20).text == "row 1000\n"
    assert seen_all(file, 3000)[0] == "".join(f"{text}\n" for text in texts)


def test_unreadable_files_are_reported(tmp_path: Path) -> None:
    for name, content in (("a.txt.gz", gzip.compress(b"x" * 1000)[:20]), ("a.parquet", b"PAR1")):
        with pytest.raises(StudioError, match=name):
            preview(corpus_file(tmp_path / name, content))
    with pytest.raises(StudioError, match="does not exist"):
        preview(corpus_file(tmp_path / "no.txt"))
