"""Cases 1 to 16: what is wrong with texts, and what the command line says of it."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio import cli

if TYPE_CHECKING:
    from tests.cases.program import Program

POSIX = pytest.mark.skipif(os.name != "posix", reason="POSIX files")
TEXT = "some words and some more words\n"


@pytest.mark.case(1)
def test_invalid_utf_8_is_told_with_file_line_byte_and_bytes(program: Program) -> None:
    file = program.file("a.txt", b"one\ntwo \xe9\xe8\nthree\n")
    assert program.refuses_to_train(file) == (
        "a.txt, line 2: the bytes E9 at byte 8 are not UTF-8. Specify the encoding with --encoding, or use --errors "
        "replace or --errors skip-line."
    )


@pytest.mark.case(1)
@pytest.mark.parametrize(
    ("choice", "said", "token"),
    [
        (["--errors", "replace"], "2 invalid sequences were replaced.", "two"),
        (["--errors", "skip-line"], "1 invalid line was skipped.", "one"),
        (["--encoding", "cp1252"], "tokens after", "é"),
    ],
)
def test_invalid_utf_8_may_be_replaced_left_out_or_read_otherwise(
    program: Program, choice: list[str], said: str, token: str
) -> None:
    assert said in program.trains(program.file("a.txt", b"one\ntwo \xe9\xe8\nthree\n"), *choice)
    assert token in program.tokens()


@pytest.mark.case(2)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_byte_order_mark_is_believed_told_and_not_trained(program: Program, encoding: str) -> None:
    told = program.trains(program.file("a.txt", "한글 한글\n".encode(encoding)))
    assert f"a.txt was read as {encoding.upper()}-LE, because it begins with that byte order mark." in told
    assert "한글" in program.tokens()
    assert "\ufeff" not in "".join(program.tokens())


@pytest.mark.case(2)
def test_a_byte_order_mark_of_utf_8_is_no_character(program: Program) -> None:
    plain = ["--normalizer", "none", "--pre-tokenizer", "whitespace-split"]
    assert program.trains(program.file("a.txt", "\ufeffwords words\n"), *plain)
    assert "w" in program.tokens()
    assert "\ufeff" not in "".join(program.tokens())


@pytest.mark.case(2)
def test_utf_16_without_a_mark_is_guessed_and_asked(program: Program) -> None:
    message = program.refuses_to_train(program.file("a.txt", "hello world\n".encode("utf-16-le")))
    assert "a.txt, line 1: there is a NUL character at byte 1, as in a binary file; it may be UTF-16-LE." in message
    assert "If so, use --encoding utf-16-le; otherwise --errors replace or" in message


@pytest.mark.case(3)
def test_nul_bytes_are_told_and_replaced_by_choice(program: Program) -> None:
    file = program.file("a.txt", b"aa\nb\0\nc\0\n")
    message = program.refuses_to_train(file)
    assert message.startswith("a.txt, line 2: there is a NUL character at byte 4, as in a binary file.")
    assert "--errors skip-line" in message
    assert "2 invalid sequences were replaced." in program.trains(file, "--errors", "replace")
    assert "2 invalid lines were skipped." in program.trains(file, "--errors", "skip-line")


@pytest.mark.case(4)
@pytest.mark.parametrize("content", [b"", b" \t\r\n\n", b"\xef\xbb\xbf"])
def test_nothing_to_train_on(program: Program, content: bytes) -> None:
    message = program.refuses_to_train(program.file("a.txt", content))
    assert message == "There are no words in a.txt. Choose a text that contains words."


@pytest.mark.case(5)
def test_no_files(program: Program) -> None:
    assert "FILES is missing" in program.refuses("train", "-o", "out", code=2)
    (program.folder / "empty").mkdir()
    message = program.refuses_to_train("empty")
    assert message.startswith("The folder empty contains no files that end in .txt,")


@pytest.mark.case(6)
def test_what_cannot_be_read_is_named(program: Program) -> None:
    assert program.refuses_to_train("missing.txt") == "missing.txt does not exist. Check the name."
    file = program.file("a.txt", TEXT)
    beyond = program.refuses_to_train(os.path.join(file, "b.txt"))
    assert beyond.startswith(os.path.join("a.txt", "b.txt"))
    assert "does not exist" in beyond or "cannot be read: Not a directory" in beyond


@pytest.mark.case(6)
def test_a_file_that_may_not_be_read_is_named(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    file = program.file("a.txt", TEXT)

    def refuse(path: str) -> object:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("wordpiece_studio.corpus.files._FileAsItWas", refuse)  # root may read everything
    assert program.refuses_to_train(file) == "a.txt cannot be read: Permission denied."


@POSIX
@pytest.mark.case(7)
def test_devices_sockets_and_several_pipes_are_refused_unread(program: Program) -> None:
    os.mkfifo("pipe.txt")
    program.file("a.txt", TEXT)
    os.symlink("/dev/zero", "link.txt")
    os.symlink("loop.txt", "loop.txt")
    with socket.socket(socket.AF_UNIX) as end:
        end.bind("socket.txt")
        for name in ("link.txt", "socket.txt", "/dev/zero", "pipe.txt"):
            message = program.refuses_to_train(name, *(["a.txt"] if name == "pipe.txt" else []), within_s=2)
            assert message == (
                f"{name} is not a regular file. Specify a regular file or a single pipe; or pipe the text in and use "
                "- for stdin."
            )
    assert program.refuses_to_train("loop.txt") == "loop.txt cannot be read: Too many levels of symbolic links."


@pytest.mark.case(8)
@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes")
def test_a_name_of_any_bytes_is_read_and_shown_escaped(program: Program) -> None:
    name = os.fsdecode(b"\xff\x1b[31m.txt")
    program.file(name, b"\xff")
    assert program.refuses_to_train(name).startswith(r"\udcff\x1b[31m.txt, line 1: the bytes FF at byte 0")
    program.file(name, TEXT)
    assert "written to vocabulary" in program.trains(name)


@pytest.mark.case(9)
@pytest.mark.parametrize("size", [1 << 20, pytest.param(50 << 20, marks=pytest.mark.slow)])
def test_a_line_without_a_blank_is_left_out_and_told(program: Program, size: int) -> None:
    file = program.file("a.txt", b"some words\n" + b"x" * size + b"\nmore words\n")
    told = program.trains(file)
    assert f"1 word was left out as too long: {size:,} characters in a.txt, line 2, byte 11." in told
    assert "words" in program.tokens()


@pytest.mark.case(12)
def test_half_a_character_names_the_row(program: Program) -> None:
    file = program.file("a.jsonl", '{"text": "ok"}\n{"text": "a\\ud800b"}\n')
    assert program.refuses_to_train(file) == (
        "a.jsonl, line 2, byte 15: the text contains an unpaired surrogate (U+D800). Use --errors replace to have such "
        "characters replaced, or --errors skip-line to skip such lines."
    )
    assert "1 invalid sequence was replaced." in program.trains(file, "--errors", "replace")


@pytest.mark.case(14)
def test_a_file_that_grows_for_ever_is_read_as_it_was(program: Program) -> None:
    """Someone writes faster than it is read: its end is where it was, be that in the middle of a word."""
    file = program.folder / program.file("log.txt", TEXT * 100_000)
    over = threading.Event()

    def grow() -> None:
        with file.open("ab", buffering=0) as growing:
            while not over.is_set() and growing.tell() < 200 << 20:
                growing.write(TEXT.encode() * 10_000)

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        told = program.trains(file.name, "--json")
    finally:
        over.set()
        writer.join()
    assert "log.txt changed while it was read." in told
    assert json.loads(told.splitlines()[-1])["distinct_words"] in (4, 5)


@pytest.mark.slow
@pytest.mark.case(14)
@pytest.mark.skipif(sys.platform != "linux", reason="measures the memory as Linux tells it")
def test_memory_does_not_grow_with_a_file(program: Program) -> None:
    file = program.folder / program.file("a.txt", TEXT)
    assert program.trains(file.name)  # all that is needed is loaded
    with file.open("wb") as growing:
        for _ in range(70):
            growing.write(TEXT.encode() * (1 << 15))
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak
    before = peak_memory()
    program.trains(file.name, "--processes", 1)
    assert file.stat().st_size > 64 << 20
    assert peak_memory() - before < 50 << 20


def peak_memory() -> int:
    """Return the most bytes of memory that this process has held."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) << 10


@pytest.mark.case(16)
def test_a_special_token_in_the_corpus_is_counted_and_the_rule_told(program: Program) -> None:
    told = program.trains(program.file("a.txt", "a [MASK] b [MASK]\n"))
    assert (
        "The corpus spells out the special token [MASK] (2×). It is trained on as ordinary text; a tokenizer will take "
        "it for the special token." in told
    )


@pytest.mark.parametrize("command", ["train", "count", "encode"])
def test_every_command_that_reads_texts_refuses_alike(
    command: str, program: Program, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.trains(program.file("good.txt", TEXT))
    file = program.file("a.txt", b"one\n\xff\n")
    places = {"train": ["-o", "new"], "count": ["-o", "new.tsv"], "encode": ["--vocab", "vocabulary", "-o", "new.npy"]}
    assert "a.txt, line 2: the bytes FF at byte 4 are not UTF-8" in program.refuses(command, file, *places[command])


@POSIX
def test_a_vocabulary_that_is_a_pipe_is_refused_unread(program: Program, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "vocab.txt")
    for place in (tmp_path, tmp_path / "vocab.txt", "/dev/zero"):
        program.refuses("tokenize", "--vocab", place, "words", within_s=2)
    assert cli.run(["--version"]) == 0
