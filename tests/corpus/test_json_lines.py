from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.reading import corpus_file, losses_of, pieces_of, text_of
from wordpiece_studio.corpus import rows
from wordpiece_studio.corpus.listing import opened_stream

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.corpus.decoding import TextPiece

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


def read(rows: list[str], column: str | None = None, encoding: str = "utf-8") -> str:
    return "".join(piece.text for piece in pieces(rows, column, encoding))


def pieces(rows: list[str], column: str | None = None, encoding: str = "utf-8") -> list[TextPiece]:
    stream = io.BytesIO("".join(f"{row}\n" for row in rows).encode(encoding))
    return list(opened_stream(stream, "x", "jsonl", column=column, encoding=encoding).pieces())


@given(st.lists(TEXTS), st.booleans(), st.sampled_from(["utf-8", "utf-16-le", "gb18030"]))
def test_texts_come_as_they_are(texts: list[str], ascii_only: bool, encoding: str) -> None:
    rows = [json.dumps({"id": 1, "text": text, "other": "y"}, ensure_ascii=ascii_only) for text in texts]
    assert read(rows, encoding=encoding) == "".join(f"{text}\n" for text in texts)


@given(st.lists(TEXTS, min_size=1), st.sampled_from(["utf-8", "utf-16-be", "cp1251"]))
def test_every_row_is_found_again(texts: list[str], encoding: str) -> None:
    rows = [json.dumps({"text": text}, ensure_ascii=encoding == "cp1251") for text in texts]
    data = [f"{row}\n".encode(encoding) for row in rows]
    places = places_of(pieces(rows, encoding=encoding))
    byte = 0
    expected = []
    for number, text in enumerate(texts, start=1):
        expected += [(number, byte)] * (len(text) + 1)
        byte += len(data[number - 1])
    assert places == expected


def places_of(pieces: list[TextPiece]) -> list[tuple[int, int]]:
    """Return the line and byte of every character."""
    return [piece.locate(index) for piece in pieces for index in range(len(piece.text))]


@pytest.mark.parametrize(
    ("row", "column", "text"),
    [
        ({"a": 1, "b": "only"}, None, "only"),
        ({"title": "no", "content": "yes"}, None, "yes"),
        ({"title": "no", "Text": "yes", "content": "no"}, None, "yes"),
        ({"a": {"b": {"c": "deep"}}, "n": 1}, None, "deep"),
        ({"a": {"b": "x"}, "t": "y"}, "a.b", "x"),
        ({"a.b": "x", "a": {"b": "y"}}, "a.b", "x"),
        ({'"quoted"\n': "x", "text": "y"}, '"quoted"\n', "x"),
        ({"텍스트": "한국어", "text": "y"}, "텍스트", "한국어"),
    ],
)
def test_the_field(row: dict[str, object], column: str | None, text: str) -> None:
    assert read([json.dumps(row)] * 2, column) == f"{text}\n" * 2


def test_blank_lines_windows_line_ends_and_no_last_line_end(tmp_path: Path) -> None:
    content = '\r\n{"text": "a"}\r\n \n\n{"text": "b"}'
    file = corpus_file(tmp_path / "a.ndjson", content)
    assert text_of(file) == "a\nb\n"
    assert places_of(pieces_of(file)) == [(2, 2)] * 2 + [(5, content.index('{"text": "b"'))] * 2


def test_the_first_line_need_not_show_the_field(tmp_path: Path) -> None:
    file = corpus_file(tmp_path / "a.json", '{"text": null}\nbroken\n{"text": "x"}\n', errors="skip-line")
    assert text_of(file) == "x\n"
    assert text_of(corpus_file(tmp_path / "b.jsonl", "")) == ""
    assert text_of(corpus_file(tmp_path / "c.jsonl", "broken\n" * 3, errors="skip-line")) == ""


def test_a_stream_and_a_faulty_file_are_read_like_any_other(tmp_path: Path) -> None:
    rows = '{"a": "x"}\n{"a": "y", "text": "z"}\n'
    stream = opened_stream(io.BytesIO(rows.encode()), "x", "jsonl", errors="skip-line")
    assert "".join(piece.text for piece in stream.pieces()) == "z\n"
    assert losses_of(corpus_file(tmp_path / "x.jsonl", rows, errors="skip-line")) == ("z\n", 0, 1)
    faulty = rows.encode() + b'{"text": "\xff"}\n'
    assert losses_of(corpus_file(tmp_path / "x.jsonl", faulty, errors="skip-line")) == ("z\n", 0, 2)


def test_very_long_rows_show_the_field_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "_MOST_PARSED_BYTES", 40)
    long = "long " * 20
    row = json.dumps({"id": 1, "url": "u", "title": "t", "text": long, "body": None})
    assert text_of(corpus_file(tmp_path / "x.jsonl", f'{row}\n{{"text": "b"}}\n')) == f"{long}\nb\n"
    assert text_of(corpus_file(tmp_path / "x.jsonl", f"{row}\n", column="title")) == "t\n"


def test_half_a_character_is_one_place(tmp_path: Path) -> None:
    rows = '{"text": "a\\ud800b\\u0000"}\n'
    file = corpus_file(tmp_path / "x.jsonl", rows, errors="replace")
    assert losses_of(file) == ("a\ufffdb\ufffd\n", 2, 0)


def test_large_files_come_in_pieces(tmp_path: Path) -> None:
    row = json.dumps({"text": "word " * 100, "n": 1})
    found = pieces_of(corpus_file(tmp_path / "a.jsonl", f"{row}\n" * 10_000))
    assert len(found) > 4
    assert sum(piece.text.count("\n") for piece in found) == 10_000
    assert found[-1].locate(0)[1] == (found[-1].locate(0)[0] - 1) * (len(row) + 1)
