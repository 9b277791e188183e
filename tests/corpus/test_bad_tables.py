"""What is wrong with jsonl, csv, tsv and parquet files, each fault by its name."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.corpus.reading import corpus_file, losses_of, pieces_of, refusal, text_of
from wordpiece_studio.corpus import decoding, parquet, rows
from wordpiece_studio.corpus.files import CorpusFile
from wordpiece_studio.corpus.listing import opened_stream
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from pathlib import Path

GOOD = '{"text": "good"}\n'


@pytest.fixture
def jsonl(tmp_path: Path) -> Path:
    return tmp_path / "a.jsonl"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return tmp_path / "a.csv"


# ---- jsonl -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "column", "said"),
    [
        ('{"text": "é", "b": }', 20, "Expecting value"),
        ('{"text": "é"', 13, "Expecting ',' delimiter"),
        ('{"text": "é} ', 10, "Unterminated string"),
        ("nonsense", 1, "Expecting value"),
        ('{"text": "a\tb"}', 12, "Invalid control character"),
        ('{"text": "a"} {"text": "b"}', 15, "Extra data"),
    ],
)
def test_17_a_broken_line_names_line_column_and_byte(jsonl: Path, line: str, column: int, said: str) -> None:
    file = corpus_file(jsonl, f"{GOOD}\n{line}\n{GOOD}")
    byte = len(GOOD) + 1 + len(line[: column - 1].encode())
    assert f"a.jsonl, line 3, column {column}, byte {byte}: this is not JSON ({said}" in refusal(file)
    assert "line 3" in refusal(corpus_file(jsonl, errors="replace"))
    assert losses_of(corpus_file(jsonl, errors="skip-line")) == ("good\ngood\n", 0, 1)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"other": "x"}', 'the row has no field "text"; it has: other'),
        ("{}", 'the row has no field "text"'),
        ('{"text": 3}', 'the field "text" is not a text (JSON type: number)'),
        ('{"text": null}', 'the field "text" is not a text (JSON type: null)'),
        ('{"text": ["x"]}', 'the field "text" is not a text (JSON type: array)'),
        ('{"text": true}', 'the field "text" is not a text (JSON type: boolean)'),
        ('["text"]', "the row is not an object (JSON type: array)"),
        ('"text"', "the row is not an object (JSON type: string)"),
    ],
)
def test_18_a_row_without_a_text_is_named(jsonl: Path, line: str, said: str) -> None:
    file = corpus_file(jsonl, f"{GOOD}{line}\n{GOOD}")
    assert f"a.jsonl, line 2, byte {len(GOOD)}: {said}" in refusal(file)
    assert losses_of(corpus_file(jsonl, errors="skip-line")) == ("good\ngood\n", 0, 1)


def test_18_a_row_without_an_inner_field_is_named(jsonl: Path) -> None:
    file = corpus_file(jsonl, '{"a": {"b": "x"}}\n{"a": {"c": "x"}}\n', column="a.b")
    assert 'line 2, byte 18: the field "a" has no field "b"; it has: c' in refusal(file)
    file = corpus_file(jsonl, '{"a": {"b": "x"}}\n{"a": 3}\n', column="a.b")
    assert 'line 2, byte 18: the field "a" is not an object (JSON type: number)' in refusal(file)


def test_12_half_a_character_names_the_row(jsonl: Path) -> None:
    for bad, name in (("\\ud800", "an unpaired surrogate (U+D800)"), ("\\u0000", "a NUL character")):
        file = corpus_file(jsonl, GOOD + f'{{"text": "a{bad}b"}}\n' + GOOD)
        assert f"a.jsonl, line 2, byte 17: the text contains {name}" in refusal(file)
        text, replaced, skipped = losses_of(corpus_file(jsonl, errors="replace"))
        assert (text.split("\n")[1].strip("ab").strip("\ufffd"), replaced > 0, skipped) == ("", True, 0)
        assert losses_of(corpus_file(jsonl, errors="skip-line")) == ("good\ngood\n", 0, 1)


def test_19_keys_twice_nan_and_large_numbers_are_read(jsonl: Path) -> None:
    lines = [
        '{"text": "a", "text": "b"}',
        '{"text": "c", "x": NaN, "y": -Infinity}',
        '{"x": 1e400, "text": "d"}',
        f'{{"x": {"9" * 5000}, "text": "e"}}',
        f'{{"x": NaN, "y": {"9" * 5000}, "text": "f"}}',
    ]
    assert text_of(corpus_file(jsonl, "\n".join(lines))) == "b\nc\nd\ne\nf\n"


@pytest.mark.parametrize("key", ["text", "other"])
def test_19_deep_nesting_is_no_crash(jsonl: Path, key: str) -> None:
    deep = "[" * 10**6 + "]" * 10**6
    file = corpus_file(jsonl, GOOD + f'{{"{key}": {deep}, "text": "x"}}\n' + GOOD)
    assert "line 2, byte 17: the JSON is nested too deeply" in refusal(file)
    assert losses_of(corpus_file(jsonl, errors="skip-line")) == ("good\ngood\n", 0, 1)


@pytest.mark.slow
def test_19_brackets_without_end_cost_no_memory(jsonl: Path) -> None:
    file = corpus_file(jsonl, GOOD + '{"x": [' + "[]," * (6 << 20) + "\n")
    assert "line 2, byte 17: " in refusal(file)


def test_20_a_line_that_is_too_long(jsonl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "LONGEST_STRETCH_BYTES", 1 << 20)
    assert "without a line break" in refusal(corpus_file(jsonl, '{"text": "' + "x" * (3 << 20) + '"}\n'))


# ---- csv and tsv -----------------------------------------------------------------------------------------------------


def test_21_an_unclosed_quote_names_the_line_where_it_opens(table: Path) -> None:
    file = corpus_file(table, 'id,text\n1,"fine ""so""\nfar"\n2,"é\n3,more\n4,"text"\n')
    assert "a.csv, line 4, byte 30: the quote that opens here is not closed correctly" in refusal(file)
    assert losses_of(corpus_file(table, errors="skip-line")) == ('fine "so"\nfar\nmore\ntext\n', 0, 1)
    assert "line 2, byte 7: the quote that opens here" in refusal(corpus_file(table, 'a,text\n"1,x\n2,y\n'))


def test_21_what_follows_a_quote_is_named(table: Path) -> None:
    assert "line 2, byte 7: the quote that opens here" in refusal(corpus_file(table, 'a,text\n"x"y,z\n'))


@pytest.mark.slow
def test_21_a_quote_is_not_searched_for_in_the_whole_file(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = corpus_file(table, 'id,text\n1,"open\n' + "2,row\n" * 40_000)
    monkeypatch.setattr(rows, "_LONGEST_CELL", 1000)
    monkeypatch.setattr(rows.csv, "field_size_limit", limited(1000))
    assert "line 2, byte 10: the quote that opens here is not closed correctly" in refusal(file)
    assert losses_of(corpus_file(table, errors="skip-line")) == ("row\n" * 40_000, 0, 1)


def limited(limit: int) -> Any:
    """Return a stand-in for what sets the longest cell, which sets it to `limit`."""
    set_limit = rows.csv.field_size_limit
    return lambda *wanted: set_limit(limit) if wanted else set_limit()


def test_22_a_cell_over_the_limit(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows.csv, "field_size_limit", limited(1000))
    file = corpus_file(table, f"id,text\n1,{'x' * 2000}\n2,y\n")
    assert "line 2, byte 8: the row cannot be read (field larger than field limit (1000))" in refusal(file)
    assert losses_of(corpus_file(table, errors="skip-line")) == ("y\n", 0, 1)


@pytest.mark.parametrize("row", ["1", "1,2,3", "1,2,"])
def test_23_a_ragged_row_names_line_and_numbers(table: Path, row: str) -> None:
    file = corpus_file(table, f"id,text\n\n0,a\n{row}\n5,b\n")
    number = row.count(",") + 1
    assert f"a.csv, line 4, byte 13: the number of cells is {number}, not 2 as in the first row" in refusal(file)
    assert losses_of(corpus_file(table, errors="skip-line")) == ("a\nb\n", 0, 1)


def test_24_nul_in_csv(table: Path) -> None:
    file = corpus_file(table, b"id,text\n1,a\0b\n2,c\n")
    assert "line 2: there is a NUL character at byte 11" in refusal(file)
    assert losses_of(corpus_file(table, errors="replace")) == ("a\ufffdb\nc\n", 1, 0)
    assert losses_of(corpus_file(table, errors="skip-line")) == ("c\n", 0, 1)


def test_25_no_such_column_lists_the_columns(table: Path, jsonl: Path) -> None:
    file = corpus_file(table, "id,body \x1b,title\n1,x,y\n", column="txt")
    assert r'has no column "txt". Available: id, body \x1b, title.' in refusal(file)
    assert 'has no column "4"' in refusal(corpus_file(table, column="4"))
    assert 'has no column "0"' in refusal(corpus_file(table, column="0"))
    file = corpus_file(jsonl, '{"a": "x", "b": "y", "n": 1}\n')
    assert "has more than one field that may be the text: a, b. Specify the one to read." in refusal(file)
    assert "has no field with text" in refusal(corpus_file(jsonl, '{"n": 1}\n'))


def test_a_bare_carriage_return_is_named(table: Path) -> None:
    assert "line 1, byte 0: there is a CR without an LF" in refusal(corpus_file(table, "id,text\r1,a\r2,b\r"))


def test_undecodable_bytes_in_a_table_are_named_as_in_a_text(table: Path, jsonl: Path) -> None:
    assert "line 2: the bytes E9 at byte 10" in refusal(corpus_file(table, b"id,text\n1,\xe9\n2,x\n"))
    assert losses_of(corpus_file(table, errors="skip-line")) == ("x\n", 0, 1)
    assert losses_of(corpus_file(table, errors="replace")) == ("\ufffd\nx\n", 1, 0)
    assert "line 2: the bytes E9 at byte 27" in refusal(corpus_file(jsonl, GOOD.encode() + b'{"text": "\xe9"}\n'))
    assert losses_of(corpus_file(jsonl, errors="skip-line")) == ("good\n", 0, 1)


# ---- parquet ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def write_parquet(tmp_path: Path) -> Any:
    """Return what writes columns to a parquet file and returns the file."""
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as writer

    def write(columns: dict[str, Any], file_options: dict[str, Any] | None = None, **options: Any) -> CorpusFile:
        writer.write_table(arrow.table(columns), tmp_path / "a.parquet", **options)
        return corpus_file(tmp_path / "a.parquet", **(file_options or {}))

    return write


def test_26_a_small_file_that_claims_to_be_large_is_refused(
    write_parquet: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow

    monkeypatch.setattr(parquet, "UNSUSPICIOUS_BYTES", 1 << 20)
    repeated = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 200_000, pyarrow.int32()), ["x y " * 1000])
    file = write_parquet({"text": repeated})
    before = pyarrow.total_allocated_bytes()
    message = refusal(file)
    assert "claims to hold" in message
    assert "which is implausible for text" in message
    assert pyarrow.total_allocated_bytes() - before < 32 << 20


def test_26_one_cell_that_is_too_large_is_refused_before_it_is_read(
    write_parquet: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "LONGEST_STRETCH_BYTES", 1 << 20)
    message = refusal(write_parquet({"text": ["x" * (8 << 20)]}, compression="zstd"))
    assert 'the column "text" claims to hold 8 MB in row group 0' in message


@pytest.mark.parametrize("size", [0, 3, 4, 100, 0.3, 0.6, 0.9, -1, -9])
def test_27_a_truncated_file_is_refused(write_parquet: Any, size: float) -> None:
    file = write_parquet({"text": [f"row {number}" for number in range(5000)]})
    with open(file.path, "r+b") as content:
        data = content.read()
        length = int(len(data) * size) if 0 < size < 1 else int(size) if size >= 0 else len(data) + int(size)
        content.truncate(length)
    assert "cannot be read as a Parquet file: " in refusal(file)


def test_27_damage_inside_names_column_and_row_group(write_parquet: Any) -> None:
    rows = [f"row {number}" for number in range(5000)]
    file = write_parquet({"text": rows}, use_dictionary=False, compression="zstd", row_group_size=1000)
    with open(file.path, "r+b") as content:
        content.seek(60)
        content.write(b"\xff" * 200)
    assert 'the column "text" of row group 0 cannot be read: ' in refusal(file)


def test_28_columns_that_hold_no_text_are_refused_and_those_that_do_listed(write_parquet: Any) -> None:
    columns = {"n": [1], "list": [["x"]], "object": [{"a": "x"}], "bytes": [b"x"], "one": ["x"], "two": ["y"]}
    for column in ("n", "list", "object", "bytes"):
        message = refusal(write_parquet(columns, {"column": column}))
        assert f'the column "{column}" contains ' in message
        assert "Columns with texts: one, two." in message
    assert 'has no column "x". Available: n, list' in refusal(write_parquet(columns, {"column": "x"}))
    assert "more than one column that may be the text: one, two" in refusal(write_parquet(columns))


def test_28_a_row_without_a_text_is_named(write_parquet: Any) -> None:
    file = write_parquet({"text": ["a", None, "b"]})
    assert 'a.parquet, row group 0, row 2: there is no text in the column "text"' in refusal(file)
    skipping = CorpusFile(file.path, "parquet", errors="skip-line")
    assert losses_of(skipping) == ("a\nb\n", 0, 1)


def test_28_text_that_is_not_utf_8_is_named(write_parquet: Any) -> None:
    import pyarrow

    bad = pyarrow.array([b"a", b"\xff", b"b"]).view(pyarrow.string())
    for dictionary in (True, False):
        file = write_parquet({"text": bad}, use_dictionary=dictionary, store_schema=False)
        assert 'row group 0, row 2: the column "text" contains bytes that are not UTF-8' in refusal(file)
        assert losses_of(CorpusFile(file.path, "parquet", errors="replace")) == ("a\n\ufffd\nb\n", 1, 0)


def test_parquet_needs_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(StudioError, match=r"Install it: pip install pyarrow"):
        pieces_of(corpus_file(tmp_path / "a.parquet", b"PAR1"))


@pytest.mark.parametrize("kind", ["parquet", "word-counts"])
def test_some_kinds_cannot_be_read_from_a_stream(kind: Any) -> None:
    with pytest.raises(StudioError, match=f"A file of the kind {kind} cannot be read from stdin"):
        opened_stream(io.BytesIO(), "stdin", kind)


def test_word_counts_are_not_text(tmp_path: Path) -> None:
    with pytest.raises(StudioError, match="is a table of words and their counts, not a text"):
        pieces_of(corpus_file(tmp_path / "a.tsv", "a\t1\n", kind="word-counts"))
