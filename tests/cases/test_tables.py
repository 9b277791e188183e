"""Cases 17 to 29: what is wrong with jsonl, csv, parquet and compressed files, and what the command line says of it."""

from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import zstandard

from wordpiece_studio.corpus import compression, decoding, rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cases.program import Program

GOOD = '{"text": "good words"}\n'
SKIP = "Correct it, or skip such lines with --errors skip-line."
# A process that may take so many bytes of memory in all, as a table is read in.
LIMITED = (
    "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2); "
    "sys.path.insert(0, sys.argv[2]); from wordpiece_studio import cli; sys.exit(cli.run(sys.argv[3:]))"
)


# ---- jsonl -----------------------------------------------------------------------------------------------------------


@pytest.mark.case(17)
def test_a_broken_line_of_json(program: Program) -> None:
    file = program.file("a.jsonl", GOOD + '{"text": "é", "b": }\n' + GOOD)
    assert program.refuses_to_train(file) == (
        f"a.jsonl, line 2, column 20, byte 43: this is not JSON (Expecting value). {SKIP}"
    )
    assert "1 invalid line was skipped." in program.trains(file, "--errors", "skip-line")


@pytest.mark.case(18)
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"txt": "x"}', 'the row has no field "text"; it has: txt'),
        ('{"text": 3}', 'the field "text" is not a text (JSON type: number)'),
        ('["text"]', "the row is not an object (JSON type: array)"),
    ],
)
def test_a_row_without_a_text(program: Program, line: str, said: str) -> None:
    file = program.file("a.jsonl", f"{GOOD}{line}\n")
    assert program.refuses_to_train(file) == f"a.jsonl, line 2, byte 23: {said}. {SKIP}"


@pytest.mark.case(18)
def test_a_file_in_which_nothing_is_a_text(program: Program) -> None:
    message = program.refuses_to_train(program.file("a.jsonl", '{"n": 3, "m": null}\n'))
    assert message == "a.jsonl has no field with text. Available: n, m. Choose a file with text."


@pytest.mark.case(19)
def test_keys_twice_and_nan_have_a_rule(program: Program) -> None:
    file = program.file("a.jsonl", '{"text": "aaa", "text": "bbb"}\n{"text": "bbb", "x": NaN, "y": 1e999}\n')
    assert "tokens after" in program.trains(file)
    assert "bbb" in program.tokens()  # of equal keys the last one counts
    assert "aaa" not in program.tokens()


@pytest.mark.case(19)
def test_a_million_brackets(program: Program) -> None:
    file = program.file("a.jsonl", GOOD + '{"text": "x", "y": ' + "[" * 10**6 + "]" * 10**6 + "}\n")
    assert program.refuses_to_train(file) == f"a.jsonl, line 2, byte 23: the JSON is nested too deeply. {SKIP}"


@pytest.mark.slow
@pytest.mark.case(19)
@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory as Linux does")
def test_brackets_without_number_cost_no_memory(program: Program, told: Callable[[object], str]) -> None:
    file = program.file("a.jsonl", GOOD + '{"text": 3, "y": [' + "[]," * (20 << 20) + "[]]}\n")
    message = told(refusal_with_memory(program.folder / file, 2 << 30))
    assert message == f'a.jsonl, line 2, byte 23: the field "text" is not a text (JSON type: number). {SKIP}'


@pytest.mark.case(18)
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"txt": "x"}', 'the row has no field "text"'),
        ('{"text": 3}', 'the field "text" is not a text (JSON type: number)'),
        ('{"text": null}', 'the field "text" is not a text (JSON type: null)'),
        ('["text"]', "the row is not an object (JSON type: array)"),
        ('{"text": x}', "this is not JSON (JSON is malformed: invalid character (byte 9))"),
    ],
)
def test_a_very_long_row_without_a_text(
    program: Program, monkeypatch: pytest.MonkeyPatch, line: str, said: str
) -> None:
    """It is not looked at as closely, but told of in the same words."""
    monkeypatch.setattr(rows, "_MOST_PARSED_BYTES", 3)
    assert program.refuses_to_train(program.file("a.jsonl", f"{GOOD}{line}\n")) == (
        f"a.jsonl, line 2, byte 23: {said}. {SKIP}"
    )


@pytest.mark.case(20)
def test_a_line_that_has_no_end(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "LONGEST_STRETCH_BYTES", 4 << 20)
    message = program.refuses_to_train(program.file("a.jsonl", GOOD + '{"text": "' + "x" * (9 << 20)))
    assert message == (
        "a.jsonl, line 2, byte 23: 4 MB without a line break. Add line breaks; a corpus is read line by line."
    )


@pytest.mark.slow
@pytest.mark.case(20)
@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory as Linux does")
def test_a_line_of_a_gigabyte(program: Program, told: Callable[[object], str]) -> None:
    path = program.folder / "a.jsonl"
    with path.open("wb") as file:
        file.write(b'{"text": "')
        for _ in range(1000):
            file.write(b"x" * (1 << 20))
    assert "without a line break" in told(refusal_with_memory(path, 3 << 30, within_s=60))


# ---- csv -------------------------------------------------------------------------------------------------------------


@pytest.mark.case(21)
def test_a_quote_that_is_not_closed(program: Program) -> None:
    file = program.file("a.csv", 'id,text\n1,fine\n2,"open\n3,more\n')
    assert program.refuses_to_train(file) == (
        "a.csv, line 3, byte 17: the quote that opens here is not closed correctly (unexpected end of data). "
        "Correct it: a quoted cell ends with its quote, and a quote in it is doubled. Or skip such lines with "
        "--errors skip-line."
    )
    assert "1 invalid line was skipped." in program.trains(file, "--errors", "skip-line")
    assert "more" in program.tokens()


@pytest.mark.case(22)
def test_a_cell_beyond_the_limit(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limit = rows.csv.field_size_limit

    def smaller(*wanted: int) -> int:
        return set_limit(1000) if wanted else set_limit()

    monkeypatch.setattr(rows.csv, "field_size_limit", smaller)
    message = program.refuses_to_train(program.file("a.csv", f"id,text\n1,{'x' * 2000}\n2,y\n"))
    assert message == (f"a.csv, line 2, byte 8: the row cannot be read (field larger than field limit (1000)). {SKIP}")


@pytest.mark.case(23)
def test_a_row_of_another_length(program: Program) -> None:
    message = program.refuses_to_train(program.file("a.csv", "id,text\n1,a\n1,2,3\n"))
    assert message == f"a.csv, line 3, byte 12: the number of cells is 3, not 2 as in the first row. {SKIP}"


@pytest.mark.case(24)
def test_nul_in_csv(program: Program) -> None:
    message = program.refuses_to_train(program.file("a.csv", b"id,text\n1,a\0b\n"))
    assert message.startswith("a.csv, line 2: there is a NUL character at byte 11, as in a binary file.")


@pytest.mark.case(25)
def test_a_column_that_is_not_there(program: Program) -> None:
    message = program.refuses_to_train(program.file("a.csv", "id,body\n1,words\n"), "--column", "txt")
    assert message == '--column: a.csv has no column "txt". Available: id, body.'


# ---- parquet ---------------------------------------------------------------------------------------------------------


def parquet(program: Program, **columns: Any) -> Path:
    arrow, writer = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    writer.write_table(arrow.table(columns), program.folder / "a.parquet")
    return program.folder / "a.parquet"


def one_text_many_times(program: Program, rows: int) -> Path:
    """Return a file in which a text of 512 KB stands once that every row has: some KB, and 3 GB if 6000 are read."""
    arrow = pytest.importorskip("pyarrow")
    text = arrow.array(["x y " * (128 << 10)])
    path = parquet(program, text=arrow.DictionaryArray.from_arrays(arrow.array([0] * rows, arrow.int32()), text))
    assert path.stat().st_size < 64 << 10
    return path


@pytest.mark.slow
@pytest.mark.case(26)
def test_a_small_parquet_file_with_very_much_in_it(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    path = one_text_many_times(program, 100)
    monkeypatch.setattr("wordpiece_studio.corpus.parquet.UNSUSPICIOUS_BYTES", 8 << 20)
    message = program.refuses_to_train(path.name)
    assert message.startswith('a.parquet: the column "text" claims to hold ')
    assert message.endswith("which is implausible for text. Convert the file yourself if you trust it.")


@pytest.mark.slow
@pytest.mark.case(26)
@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory as Linux does")
def test_a_parquet_bomb_in_bounded_memory(program: Program, told: Callable[[object], str]) -> None:
    assert "which is implausible for text" in told(
        refusal_with_memory(one_text_many_times(program, 6000), 3 << 30, within_s=150)
    )


@pytest.mark.slow
@pytest.mark.case(27)
def test_a_truncated_parquet_file(program: Program) -> None:
    path = parquet(program, text=["some words"] * 1000)
    whole = path.read_bytes()
    for size in (0, 4, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        message = program.refuses_to_train(path.name)
        assert message.startswith("a.parquet cannot be read as a Parquet file: ")
        assert message.endswith("Get a new copy; the file is damaged or incomplete.")


@pytest.mark.case(27)
def test_a_damaged_parquet_file(program: Program) -> None:
    path = parquet(program, text=[f"some words {number}" for number in range(1000)])
    damaged = bytearray(path.read_bytes())
    damaged[40:400] = bytes(360)
    path.write_bytes(damaged)
    assert program.refuses_to_train(path.name).startswith("a.parquet")


@pytest.mark.case(28)
def test_a_column_without_text(program: Program) -> None:
    path = parquet(program, n=[1, 2], words=[["a"], ["b"]])
    assert program.refuses_to_train(path.name) == (
        "a.parquet has no column with text. Available: n, words. Choose a file with text."
    )
    message = program.refuses_to_train(path.name, "--column", "words")
    assert message.startswith('a.parquet: the column "words" contains list<')
    assert message.endswith("Choose a file with text.")


# ---- compressed ------------------------------------------------------------------------------------------------------


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor().compress,
}


@pytest.mark.slow
@pytest.mark.case(29)
@pytest.mark.parametrize("ending", COMPRESS)
def test_a_compression_bomb(program: Program, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    monkeypatch.setattr(compression, "UNSUSPICIOUS_BYTES", 2 << 20)
    message = program.refuses_to_train(program.file(f"a.txt.{ending}", COMPRESS[ending](b"a\n" * (2 << 20))))
    assert message.startswith(f"a.txt.{ending} expands from ")
    assert message.endswith("which is implausible for text. Decompress it yourself if you trust it.")


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.case(29)
@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory as Linux does")
def test_half_a_gigabyte_in_half_a_megabyte(program: Program, told: Callable[[object], str]) -> None:
    file = program.file("a.txt.gz", 32 * gzip.compress(b"a\n" * (8 << 20)))
    assert "which is implausible for text" in told(refusal_with_memory(program.folder / file, 3 << 30, within_s=60))


def demanding(ending: str) -> bytes:
    """Return a small text, compressed so that 8 MB and more are asked for to decompress it."""
    text = b"some words\n" * 1000
    if ending == "xz":
        return lzma.compress(text)
    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=24)
    stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return stream.compress(text) + stream.flush()


@pytest.mark.case(29)
@pytest.mark.parametrize(("ending", "name"), [("xz", "xz"), ("zst", "zstd")])
def test_a_file_that_asks_for_much_memory(
    program: Program, monkeypatch: pytest.MonkeyPatch, ending: str, name: str
) -> None:
    monkeypatch.setattr(compression, "_LARGEST_XZ_MEMORY", 1 << 20)
    monkeypatch.setattr(compression, "_LARGEST_WINDOW", 1 << 20)
    file = program.file(f"a.txt.{ending}", demanding(ending))
    assert program.refuses_to_train(file) == (
        f"Decompressing {file} ({name}) takes more memory than such files normally need. "
        "Decompress it yourself if you trust it."
    )


def refusal_with_memory(path: Path, limit: int, within_s: float = 30) -> str:
    """Return what is told, in a process that may take `limit` bytes of address space, of a file that is refused."""
    from tests.test_architecture import ROOT

    arguments = [str(limit), str(ROOT), "train", path.name, "-o", "vocabulary", "--processes", "1"]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *arguments],
        cwd=path.parent, capture_output=True, text=True, timeout=within_s, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert not (path.parent / "vocabulary").exists()
    assert "not enough memory" not in done.stderr
    return done.stderr.removeprefix("wordpiece-studio: ").rstrip("\n")
