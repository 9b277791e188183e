from __future__ import annotations

import csv
import dataclasses
import io
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.reading import corpus_file, losses_of, pieces_of, refusal, text_of
from wordpiece_studio.corpus.listing import opened_stream
from wordpiece_studio.corpus.rows import sniffed_delimiter

if TYPE_CHECKING:
    from pathlib import Path

CELLS = st.text(st.sampled_from('ab"\n\r,;\t|é한 '), max_size=8)
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=8)


def written(rows: list[tuple[str, ...]], delimiter: str = ",") -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows([("id", "text", "n"), *rows])
    return text.getvalue()


@given(ROWS, st.sampled_from([",", "\t"]), st.sampled_from(["utf-8", "utf-16-le", "cp949"]))
def test_what_was_written_is_read(rows: list[tuple[str, ...]], delimiter: str, encoding: str) -> None:
    content = written(rows, delimiter).replace("é", "é" if encoding != "cp949" else "e")
    kind = "csv" if delimiter == "," else "tsv"
    source = opened_stream(io.BytesIO(content.encode(encoding)), "x", kind, column="text", encoding=encoding)  # type: ignore[arg-type]
    pieces = list(source.pieces())
    texts = [row[1].replace("é", "é" if encoding != "cp949" else "e") for row in rows]
    assert "".join(piece.text for piece in pieces) == "".join(f"{text}\n" for text in texts)
    for piece in pieces:
        assert piece.rows is not None
        for start, byte, line in zip(piece.rows.starts, piece.rows.bytes, piece.rows.lines, strict=True):
            assert piece.locate(start) == (line, byte)
            before = content.encode(encoding)[:byte].decode(encoding)
            assert before.count("\n") == line - 1
            assert before.endswith("\n")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_of_csv_is_found(tmp_path: Path, delimiter: str) -> None:
    rows = [("1", "one; two, three | four", "3"), ("2", "five, six\nseven", "4"), ("3", "eight", "5")]
    assert text_of(corpus_file(tmp_path / "a.csv", written(rows, delimiter))) == (
        "one; two, three | four\nfive, six\nseven\neight\n"
    )


def test_a_delimiter_that_fits_no_better_is_a_comma() -> None:
    assert sniffed_delimiter(["text\n", "one; two\n"]) == ","
    assert sniffed_delimiter([]) == ","
    assert sniffed_delimiter(['"open;\n']) == ","


@pytest.mark.parametrize(
    ("content", "column", "text"),
    [
        ("id,text\n1,a\n2,b\n", None, "a\nb\n"),
        ("id,review\n1,a\n2,b\n", None, "a\nb\n"),
        ("Content\na\nb\n", None, "a\nb\n"),
        ("a,b\nc,d\n", "b", "d\n"),
        ("a,b\nc,d\n", "2", "b\nd\n"),
        ("a,1\nc,d\n", "1", "d\n"),
        ("id,text\r\n1,a\r\n\r\n2,b", "text", "a\nb\n"),
        ("\ufeffid,text\n1,a\n", "text", "a\n"),
        ("id,text\n", "text", ""),
        ("id,text\n1,\n", "text", "\n"),
        ("", None, ""),
        ("\n\n", None, ""),
    ],
)
def test_the_column(tmp_path: Path, content: str, column: str | None, text: str) -> None:
    assert text_of(corpus_file(tmp_path / "a.csv", content, column=column)) == text


def test_invalid_quotes_in_tsv_are_taken_literally(tmp_path: Path) -> None:
    content = 'id\ttext\n1\t"Hello," he said.\n2\t"open\n3\t"quoted\ttab"\n4\ta "b" c\n5\t"two\nlines"\n'
    assert losses_of(corpus_file(tmp_path / "a.tsv", content)) == (
        '"Hello," he said.\n"open\nquoted\ttab\na "b" c\ntwo\nlines\n', 0, 0
    )  # fmt: skip
    assert "line 2, byte 8: the number of cells is 3, not 2" in refusal(
        corpus_file(tmp_path / "b.tsv", "id\ttext\n1\t2\t3\n")
    )


@pytest.mark.slow
def test_bytes_are_counted_through_skipped_lines_and_in_pieces(tmp_path: Path) -> None:
    rows = b"".join(b'%d,"text %d\nof two lines"\n' % (number, number) for number in range(60_000))
    file = corpus_file(tmp_path / "a.csv", b"id,text\n1,\xff\n" + rows, errors="skip-line")
    pieces = pieces_of(file)
    assert len(pieces) > 1
    assert sum(piece.skipped_lines for piece in pieces) == 1
    line, byte = pieces[-1].locate(0)
    assert (b"id,text\n1,\xff\n" + rows)[:byte].count(b"\n") == line - 1
    number = int(pieces[-1].text.split()[1])
    assert (b"id,text\n1,\xff\n" + rows)[byte:].startswith(b'%d,"text %d\n' % (number, number))


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    for column in (None, "text"):
        message = refusal(corpus_file(tmp_path / "x.csv", "n,text,text\n1,a,b\n", column=column))
        assert 'more than one column "text"' in message


def test_numbers_of_columns_may_be_absurd(tmp_path: Path) -> None:
    for column in ("9" * 5000, "0", "-1", "2.0", ""):
        assert "has no column" in refusal(corpus_file(tmp_path / "x.csv", "1,a\n2,b\n", column=column))


def test_lone_cr_line_ends_are_reported_and_counted(tmp_path: Path) -> None:
    file = corpus_file(tmp_path / "x.csv", "n,text\r1,a\r")
    assert "line 1, byte 0: there is a CR without an LF after it" in refusal(file)
    assert losses_of(dataclasses.replace(file, errors="skip-line")) == ("", 0, 1)


def test_a_stream_is_read_like_a_file() -> None:
    source = opened_stream(io.BytesIO(b"id,text\n1,a\n"), "stdin", "csv")
    assert ("".join(piece.text for piece in source.pieces()), source.size, source.has_changed()) == ("a\n", 0, False)
