"""What is wrong with text files, each fault by its name. Encodings and compression have files of their own."""

from __future__ import annotations

import gzip
import os
import random
import sys
import tracemalloc
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from tests.corpus.reading import corpus_file, losses_of, pieces_of, refusal, text_of
from wordpiece_studio.corpus import decoding
from wordpiece_studio.corpus.counting.counting import count_words
from wordpiece_studio.corpus.files import CorpusFile
from wordpiece_studio.corpus.listing import listed_files, opened
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from pathlib import Path

POSIX = pytest.mark.skipif(os.name != "posix", reason="POSIX files")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.txt"


def test_01_invalid_utf_8_names_line_byte_and_bytes_and_can_be_replaced_or_skipped(path: Path) -> None:
    file = corpus_file(path, b"one\ntwo \xe9\xe8\nthree\n")
    assert "a.txt, line 2: the bytes E9 at byte 8 are not UTF-8" in refusal(file)
    assert losses_of(corpus_file(path, errors="replace")) == ("one\ntwo \ufffd\ufffd\nthree\n", 2, 0)
    assert losses_of(corpus_file(path, errors="skip-line")) == ("one\nthree\n", 0, 1)
    assert losses_of(corpus_file(path, encoding="cp1252")) == ("one\ntwo éè\nthree\n", 0, 0)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_02_a_byte_order_mark_is_believed_and_not_trained(path: Path, encoding: str) -> None:
    assert text_of(corpus_file(path, "é\n한\n".encode(encoding))) == "é\n한\n"


def test_03_nul_characters_are_named_replaced_or_skipped(path: Path) -> None:
    assert "line 2: there is a NUL character at byte 3, as in a binary file" in refusal(corpus_file(path, b"a\nb\0\nc"))
    assert losses_of(corpus_file(path, errors="replace")) == ("a\nb\ufffd\nc", 1, 0)
    assert losses_of(corpus_file(path, errors="skip-line")) == ("a\nc", 0, 1)


@pytest.mark.parametrize("content", [b"", b"\n", b" \t\r\n\x0b", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_04_empty_files_hold_no_words(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert not count_words(path)


def test_05_no_files_at_all() -> None:
    with pytest.raises(StudioError, match="There is no file to read"):
        listed_files([])


def test_06_a_folder_a_missing_and_an_unreadable_file_are_named(tmp_path: Path, path: Path) -> None:
    with pytest.raises(StudioError, match="is a folder"):
        opened(CorpusFile(str(tmp_path)))
    with pytest.raises(StudioError, match=r"a\.txt does not exist"):
        opened(CorpusFile(str(path)))
    corpus_file(path, b"x")
    if os.name == "posix" and os.geteuid() != 0:
        path.chmod(0)
        assert "cannot be read: Permission denied" in refusal(corpus_file(path))


@POSIX
@pytest.mark.parametrize("kind", ["text", "jsonl", "csv", "tsv", "parquet"])
def test_07_pipes_and_devices_are_refused_unopened(tmp_path: Path, kind: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (str(tmp_path / "pipe"), "/dev/zero"):
        with pytest.raises(StudioError, match="not a regular file"):
            opened(CorpusFile(name, kind))  # type: ignore[arg-type]


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes")
def test_08_an_undecodable_name_is_opened_and_shown_escaped(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.txt")).write_bytes(b"x\n")
    (file,) = listed_files(tmp_path)
    assert text_of(file) == "x\n"
    assert opened(file).name.endswith(r"\udcff.txt")


def test_09_a_line_without_an_end_is_bounded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "LONGEST_STRETCH_BYTES", 1 << 20)
    for content in (b"x" * (3 << 20), gzip.compress(b"x" * (3 << 20))):
        assert "MB without a line break" in refusal(corpus_file(path, content))
    blanks = list(opened(corpus_file(path, b"x " * (3 << 19)), splits_at_blanks=True).pieces())
    assert len(blanks) > 1


def test_11_unusual_line_ends_stay_in_the_text(path: Path) -> None:
    text = "a\rb\r\nc\u2028d\u0085e\u00a0f\x0bg\x1ch"
    assert text_of(corpus_file(path, text.encode())) == text
    assert [piece.line for piece in pieces_of(corpus_file(path))] == [1, 2]


def test_13_a_file_that_changes_while_it_is_read_is_noticed(path: Path) -> None:
    for suffix in (".txt", ".jsonl", ".csv"):
        file = corpus_file(path.with_suffix(suffix), "text\n" if suffix == ".csv" else '{"text": "x"}\n')
        source = opened(file)
        assert not source.has_changed()
        with open(file.path, "ab") as growing:
            growing.write(b"x")
        assert source.has_changed()


def test_13_a_file_that_becomes_shorter_is_no_crash(path: Path) -> None:
    file = corpus_file(path, b"words and words\n" * 200_000)
    source = opened(file)
    pieces = source.pieces()
    next(pieces)
    os.truncate(path, 1 << 20)
    assert sum(len(piece.text) for piece in pieces) < 3_200_000
    assert source.has_changed()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.jsonl", "a.csv"])
def test_14_memory_does_not_grow_with_the_file(tmp_path: Path, name: str) -> None:
    words = random.Random(1).choices(["alpha", "beta", "gamma", "delta"], k=12)
    line = {"a.jsonl": f'{{"text": "{" ".join(words)}"}}\n', "a.csv": f"1,{' '.join(words)}\n"}.get(
        name, " ".join(words) + "\n"
    )
    content = (("id,text\n" if name == "a.csv" else "") + line * 80_000).encode()
    assert len(content) > 4 << 20
    file = corpus_file(tmp_path / name, gzip.compress(content, 1) if name.endswith("gz") else content)
    del content
    pieces = opened(file).pieces()
    tracemalloc.start()
    try:
        total = sum(len(piece.text) for piece in islice(pieces, 3))
        early = tracemalloc.get_traced_memory()[1]
        total += sum(len(piece.text) for piece in pieces)
        late = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total == len(" ".join(words) + "\n") * 80_000
    assert late < early * 1.2


def test_15_a_file_removed_between_opening_and_reading_is_named(path: Path) -> None:
    source = opened(corpus_file(path, b"x"))
    path.unlink()
    assert source.has_changed()
    with pytest.raises(StudioError, match=r"a\.txt does not exist"):
        list(source.pieces())


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv"])
def test_16_special_tokens_spelled_out_are_counted(tmp_path: Path, name: str) -> None:
    content = {"a.jsonl": '{"text": "[MASK] x"}\n', "a.csv": "text\n[MASK] x\n"}.get(name, "[MASK] x\n")
    (tmp_path / name).write_text(content)
    counts = count_words(listed_files(tmp_path / name))  # type: ignore[arg-type]
    assert counts.statistics.spelled_out == {"[MASK]": 1}
