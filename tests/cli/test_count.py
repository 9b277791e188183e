from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import threading
from typing import TYPE_CHECKING

import pytest

from tests.cli.calls import COURSE, POSIX, fails, process, run
from wordpiece_studio.corpus.counting.counting import count_words, read_word_counts
from wordpiece_studio.corpus.linter.linter import lint

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Return a folder of files of several kinds."""
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("hug pug hugs\nhug\n")
    (folder / "b.jsonl").write_text('{"text": "hug bun"}\n{"text": "bun"}\n')
    (folder / "c.csv.gz").write_bytes(gzip.compress(b"id,text\n1,pun\n"))
    return folder


def without_time(out: str) -> str:
    return re.sub(r"in [0-9.]+ s", "in 0.0 s", out)


def test_figures_of_each_file_and_of_all(texts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "count", texts)
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines()]
    assert rows[0] == ["file", "encoding", "bytes", "lines", "words", "distinct"]
    assert [(row[0].rpartition(os.sep)[2], row[1], *row[3:]) for row in rows[1:4]] == [
        ("a.txt", "utf-8", "2", "4", "3"),
        ("b.jsonl", "utf-8", "2", "3", "2"),
        ("c.csv.gz", "utf-8", "1", "1", "1"),
    ]
    assert without_time(out.splitlines()[-1]) == "8 words, 5 distinct, in 0.0 s"


def test_json_and_the_most_common_words(texts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "count", texts, "--top", 2)[1]
    assert [line.split() for line in out.splitlines()[-3:-1]] == [["3", "hug"], ["2", "bun"]]
    summary = json.loads(run(capsys, "count", texts, "--top", 2, "--json")[1])
    assert (summary["words"], summary["distinct_words"], summary["top"]) == (8, 5, [["hug", 3], ["bun", 2]])
    assert [file["words"] for file in summary["files"]] == [4, 3, 1]
    assert [file["encoding"] for file in summary["files"]] == ["utf-8"] * 3


@pytest.mark.parametrize("suffix", ["tsv", "csv", "parquet"])
def test_a_table_is_written_and_trained_on(
    texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str
) -> None:
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    table = tmp_path / f"counts.{suffix}"
    code, out, err = run(capsys, "count", texts, "-o", table)
    assert (code, err) == (0, "")
    assert out.endswith(f", written to {table}\n")
    assert read_word_counts(table).items() == count_words(texts).items()
    options = ["--max-merges", 3, "-o"]
    assert run(capsys, "train", texts, *options, tmp_path / "1")[0] == 0
    assert run(capsys, "train", table, "--word-counts", *options, tmp_path / "2")[0] == 0
    assert run(capsys, "train", table, "--kind", "word-counts", *options, tmp_path / "3")[0] == 0
    vocabularies = {(tmp_path / name / "vocab.txt").read_bytes() for name in "123"}
    assert len(vocabularies) == 1
    assert json.loads(run(capsys, "count", table, "--word-counts", "--json")[1])["words"] == 8


def test_user_tokens_are_taken_out_as_train_does_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, tokens, table = tmp_path / "a.txt", tmp_path / "tokens.txt", tmp_path / "counts.tsv"
    text.write_text("hug <url> pug<url>s foo bar hug\n")
    tokens.write_text("\ufeff<url>\r\n\nfoo bar\r\n", encoding="utf-8")
    with_them = ["--normalizer", "lowercase", "--user-tokens", tokens]
    assert run(capsys, "count", text, *with_them, "-o", table)[::2] == (0, "")
    assert run(capsys, "train", text, *with_them, "--with-counts", "-o", tmp_path / "1")[0] == 0
    assert table.read_bytes() == (tmp_path / "1" / "word-counts.tsv").read_bytes() == b"hug\t2\npug\t1\ns\t1\n"
    assert run(capsys, "train", table, "--word-counts", *with_them, "-o", tmp_path / "2")[::2] == (0, "")
    assert (tmp_path / "1" / "vocab.txt").read_bytes() == (tmp_path / "2" / "vocab.txt").read_bytes()
    assert run(capsys, "verify", table)[0] == run(capsys, "verify", tmp_path / "1", text)[0] == 0
    said = "counts.tsv was counted with --normalizer lowercase --pre-tokenizer bert"
    for command in (["train", table, "-o", tmp_path / "3"], ["count", table]):
        assert f"{said} --user-tokens with <url>, foo bar. " in run(capsys, *command)[2]
        assert said in run(capsys, *command, "--user-tokens", tokens)[2]
    assert run(capsys, "train", text, table, "--word-counts", *with_them, "-o", tmp_path / "4")[0] == 1
    assert run(capsys, "train", text, table, *with_them, "-o", tmp_path / "4")[0] == 0
    assert run(capsys, "verify", tmp_path / "4")[0] == 0
    assert run(capsys, "count", text, "--normalizer", "lowercase", "-o", table)[0] == 0
    err = run(capsys, "train", text, table, *with_them, "-o", tmp_path / "4")[2]
    assert f"{said} and no --user-tokens. " in err
    assert run(capsys, "verify", tmp_path / "4")[0] == 0
    assert run(capsys, "count", text, *with_them, "-o", table)[0] == 0
    tokens.write_text("<url>\nnew\n")
    err = run(capsys, "count", table, *with_them)[2]
    assert f"{said} --user-tokens with <url>, foo bar. " in err
    assert "The words of a table are taken as they are, whatever --user-tokens says." in err


def test_a_list_of_tokens_with_a_fault_is_refused_by_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tokens.txt"
    for text, message in (
        ("", " contains no tokens. Write one on each line."),
        ("a\n\nb \n", ", line 3: The user token 'b ' is empty, or has whitespace at its ends"),
        ("a\nb\na\n", ", line 3: The user token 'a' is listed twice"),
    ):
        path.write_text(text)
        for command in (["count", COURSE], ["train", COURSE, "-o", tmp_path / "out"]):
            assert f"{path}{message}" in fails(capsys, *command, "--user-tokens", path)
    path.write_text("[UNK]\n")
    message = fails(capsys, "train", COURSE, "-o", tmp_path / "out", "--user-tokens", path)
    assert "--user-tokens: The user token '[UNK]' is listed twice, or is a special token." in message


def test_a_table_is_verified_by_counting_again(texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "count", texts, "-o", tmp_path / "counts.tsv")[0] == 0
    assert "from 3 files" in run(capsys, "verify", tmp_path / "counts.tsv")[1]


def test_what_looks_like_a_table_of_words_is_one_and_it_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("hug\t10\npug\t5\n")
    said = f"wordpiece-studio: {path} was read as words and their counts: two columns, the second with whole numbers "
    for arguments in (["count", path, "--json"], ["train", path, "-o", tmp_path / "1", "--json"]):
        code, out, err = run(capsys, *arguments)
        assert (code, json.loads(out)["words"], json.loads(out)["guessed_tables"]) == (0, 15, [str(path)])
        assert err == f"{said}in every row. If that is wrong, use --kind tsv.\n"
    code, out, err = run(capsys, "count", path, "--json", "--word-counts")
    assert (code, json.loads(out)["words"], json.loads(out)["guessed_tables"], err) == (0, 15, [], "")
    code, out, err = run(capsys, "count", path, "--json", "--kind", "tsv")
    assert (code, json.loads(out)["words"], json.loads(out)["guessed_tables"], err) == (0, 1, [], "")
    (tmp_path / "b.tsv").write_text("bun\t1\n")
    assert f"{path} and 1 more file were read as words" in run(capsys, "count", tmp_path)[2]
    assert run(capsys, "verify", tmp_path / "1")[0] == 0
    assert run(capsys, "verify", tmp_path / "1", path)[0] == 0


def test_a_text_whose_first_line_names_word_and_count_is_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("word\tcount\nhug\t10\npug\t5\n")
    code, out, err = run(capsys, "train", path, "-o", tmp_path / "1", "--json")
    assert (code, json.loads(out)["words"], json.loads(out)["guessed_tables"]) == (0, 15, [str(path)])
    assert err.endswith("If that is wrong, use --kind text.\n")
    assert json.loads(run(capsys, "count", path, "--json", "--kind", "text")[1])["words"] == 6
    assert run(capsys, "verify", tmp_path / "1")[0] == 0


def test_what_is_left_out_of_a_folder_is_said(texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    why = "left out{}: in a folder, only names that end in .txt, .text, .jsonl, .ndjson, .csv, .tsv, .parquet are read."
    out = tmp_path / "out"
    for names, said in (
        (["a.md"], f"{texts / 'a.md'} was {why.format('')}"),
        (["b.md", "c.json", ".hidden"], "3 files were " + why.format(f", such as {texts / 'a.md'}")),
    ):
        for name in names:
            (texts / name).write_text("hug\n")
        for command in (["count", texts, "--json"], ["train", texts, "--json", "-o", out, "--max-merges", 1]):
            code, printed, err = run(capsys, *command)
            assert (code, json.loads(printed)["left_out_files"]) == (0, 1 if len(names) == 1 else 3)
            assert err == f"wordpiece-studio: {said} Specify others one by one, or with a pattern.\n"
        assert said in run(capsys, "encode", texts, "--vocab", out, "-o", tmp_path / "ids.npy")[2]
        assert [str(finding) for finding in lint(texts) if finding.kind == "left-out"] != []
    assert run(capsys, "count", texts / "a.md")[2] == run(capsys, "count", f"{texts}/*.md")[2] == ""


def test_patterns_columns_and_kinds(texts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def words(*arguments: object) -> int:
        return json.loads(run(capsys, "count", *arguments, "--json")[1])["words"]  # type: ignore[no-any-return]

    assert words(f"{texts}/*.txt", texts / "c.csv.gz") == 5
    assert words(f"{texts}/*.txt", texts / "c.csv.gz", "--column", "text") == 5
    assert words(texts / "c.csv.gz", "--column", "id") == 1
    assert words(texts / "b.jsonl", "--kind", "text", "--pre-tokenizer", "whitespace-split") == 5
    (texts / "d.data").write_text('{"body": "one two three", "x": "y"}\n')
    assert words(texts / "d.data", "--kind", "jsonl", "--column", "body") == 3


def test_encodings_are_detected_only_when_that_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("Les élèves ont déjà préparé leurs modèles à l'école, où êtes-vous allés ?\n".encode("cp1252") * 9)
    error = fails(capsys, "count", path)
    assert "are not UTF-8; it may be CP1252. If so, use --encoding cp1252; otherwise --errors replace" in error
    code, out, err = run(capsys, "count", path, "--encoding", "detect")
    assert (code, "cp1252" in out) == (0, True)
    assert err == f"wordpiece-studio: {path} was read as CP1252.\n"
    assert run(capsys, "count", path, "--encoding", "cp1252")[2] == ""


def test_faulty_lines_are_refused_or_left_out_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "good"}\nbroken\n')
    assert "line 2, column 1, byte 17: this is not JSON" in fails(capsys, "count", path)
    assert "Correct it, or skip such lines with --errors skip-line." in fails(capsys, "count", path)
    code, out, err = run(capsys, "count", path, "--errors", "skip-line", "--json")
    assert (code, json.loads(out)["skipped_lines"]) == (0, 1)
    assert err == "wordpiece-studio: 1 invalid line was skipped.\n"


def test_wrong_calls_name_the_option(texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "b.jsonl").write_text('{"a": "x", "b": "y"}\n')
    for arguments, message in [
        ([texts / "c.csv.gz", "--column", "x"], "--column: "),
        ([texts / "a.txt", "--column", "x"], "--column: "),
        ([texts / "a.txt", "--column", "x"], 'has no column "x": it is read as plain text. Omit --column; or if the'),
        ([texts / "c.csv.gz", "--word-counts", "--column", "x"], "it is read as words and their counts. Omit --column"),
        ([tmp_path / "b.jsonl"], "may be the text: a, b. Specify the one to read with --column."),
        ([texts, "--kind", "xml"], '--kind: There is no kind of file called "xml"'),
        ([texts, "--kind", "csv", "--word-counts"], "--word-counts and --kind csv cannot be combined. Omit one of"),
        ([texts, "-"], "Stdin cannot be combined with files"),
        ([texts, "-o", texts / "a.txt"], "is one of the files to count"),
        ([texts, "-o", tmp_path / "b.jsonl" / "x.tsv"], "is not a folder"),
        ([tmp_path / "no.txt"], "does not exist"),
        ([f"{tmp_path}/*.x"], "No file matches"),
    ]:
        assert message in fails(capsys, "count", *arguments)
    assert (texts / "a.txt").read_text() == "hug pug hugs\nhug\n"


@pytest.mark.parametrize("name", ["no/x.tsv", ".", "x.tsv.gz", "x.txt/y.csv"])
def test_where_no_table_can_be_written_is_reported_before_counting(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "x.txt").write_text("hug")
    monkeypatch.setattr("wordpiece_studio.cli.options.CorpusCommand.counted", None)
    fails(capsys, "count", tmp_path / "x.txt", "-o", tmp_path / name)


@pytest.mark.slow
def test_stdin_of_any_kind() -> None:
    for data, options, words in [
        (b"a b\n", [], 2),
        (gzip.compress(b"a b\n"), [], 2),
        (b'{"text": "a b c"}\n', ["--kind", "jsonl"], 3),
        (b"id;text\n1;a b\n", ["--kind", "csv"], 2),
    ]:
        with process("count", "-", "--json", *options, stdin=subprocess.PIPE) as count:
            out, err = count.communicate(data)
        assert (count.returncode, err, json.loads(out)["words"]) == (0, b"", words)


@POSIX
def test_a_device_is_no_place_for_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert "/dev/null is not a regular file. Choose another name" in fails(capsys, "count", COURSE, "-o", "/dev/null")


@POSIX
@pytest.mark.parametrize("kind", ["text", "jsonl", "gzip"])
def test_a_pipe_is_read(texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    path = tmp_path / ("pipe.jsonl" if kind == "jsonl" else "pipe")
    data = {"text": b"hug pug\nhug\n", "jsonl": b'{"text": "hug pug hug"}\n', "gzip": gzip.compress(b"hug pug hug")}
    run(capsys, "train", texts, "-o", tmp_path / "vocabulary")
    os.mkfifo(path)
    for command in (
        ["count", path, "--json"],
        ["train", path, "-o", tmp_path / "out", "--json"],
        ["encode", path, "-o", tmp_path / "ids.npy", "--vocab", tmp_path / "vocabulary", "--json"],
    ):
        writer = threading.Thread(target=path.write_bytes, args=(data[kind],))  # which waits for a reader
        writer.start()
        code, out, err = run(capsys, *command)
        writer.join()
        assert (code, err) == (0, "")
        assert json.loads(out).get("words", 3) == 3


@pytest.mark.slow
@POSIX
@pytest.mark.skipif(not os.path.exists("/dev/fd/0"), reason="the system has no /dev/fd")
def test_what_the_shell_makes_of_a_command_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("/dev/fd/{}", "/proc/self/fd/{}") if os.path.exists("/proc/self/fd") else ("/dev/fd/{}",):
        end, other = os.pipe()
        with os.fdopen(other, "wb") as writer:
            writer.write(b"hug pug\nx\xff\n")
        name = name.format(end)
        message = fails(capsys, "count", name)
        assert f"{name}, line 2: the bytes FF at byte 9 are not UTF-8" in message
        os.close(end)
    with process("count", "/dev/stdin", "--json", stdin=subprocess.PIPE) as count:
        out, err = count.communicate(b"hug pug hug\n")
    assert (count.returncode, err, json.loads(out)["words"]) == (0, b"", 3)


def test_names_and_words_are_printed_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a\u202e.txt"
    path.write_text("x\x9by x\x9by", encoding="utf-8")
    options = ["--normalizer", "none", "--pre-tokenizer", "whitespace-split", "--top", 1]
    for more in ([], ["--json"]):
        out = run(capsys, "count", path, *options, *more)[1]
        assert not {"\u202e", "\x9b"} & set(out)


def test_of_many_files_the_first_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(103):
        (tmp_path / f"{number}.txt").write_text("a\n")
    lines = run(capsys, "count", tmp_path)[1].splitlines()
    assert len(lines) == 1 + 100 + 2
    assert lines[-2] == "and 3 more files"


def test_the_course_is_counted_alike_by_any_number_of_processes(capsys: pytest.CaptureFixture[str]) -> None:
    one, two = (json.loads(run(capsys, "count", COURSE, "--processes", n, "--json", "--top", 5)[1]) for n in (1, 2))
    assert {**one, "seconds": 0} == {**two, "seconds": 0}


@pytest.mark.slow
def test_encode_reads_what_count_reads(texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "train", texts, "-o", tmp_path / "vocabulary")
    encode = ["encode", "--vocab", tmp_path / "vocabulary", "-o", tmp_path / "ids.npy", "--json"]
    assert json.loads(run(capsys, *encode, texts)[1])["texts"] == 5
    assert json.loads(run(capsys, *encode, texts / "c.csv.gz", "--column", "1")[1])["texts"] == 2
    with process(*encode, "-", "--kind", "jsonl", stdin=subprocess.PIPE) as encoding:
        out, err = encoding.communicate(b'{"text": "hug"}\n')
    assert (json.loads(out)["texts"], err) == (1, b"")


@pytest.mark.slow
@POSIX
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopping_writes_nothing(tmp_path: Path, number: int, code: int) -> None:
    with process("count", "-", "-o", tmp_path / "counts.tsv", stdin=subprocess.PIPE) as count:
        assert count.stdin is not None
        assert count.stderr is not None
        count.stdin.write(b"some words\n" * 100_000)
        count.stdin.flush()
        count.send_signal(number)
        assert count.wait(timeout=60) == code
        assert count.stderr.read() == b"wordpiece-studio: Stopped.\n"
    assert list(tmp_path.iterdir()) == []


def test_rare_words_can_be_left_out(texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "count", texts, "--min-count", 2, "--json")
    assert code == 0
    assert err == "wordpiece-studio: 3 distinct words were left out as too rare, 37.50% of all words.\n"
    assert [json.loads(out)[name] for name in ("words", "distinct_words", "rare_words")] == [5, 2, 3]
    assert run(capsys, "train", texts, "--min-count", 2, "-o", tmp_path / "out", "--json")[0] == 0
    tokens = (tmp_path / "out" / "vocab.txt").read_text().split()
    assert "hug" in tokens
    assert "##s" not in tokens
    message = fails(capsys, "count", texts, "--min-count", 4)
    assert "--min-count: No word occurs 4 times or more. Leave out fewer words." in message


@pytest.mark.slow
def test_a_missing_cluster(texts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("distributed")
    message = fails(capsys, "count", texts, "--cluster", "nonsense")
    assert "--cluster: The scheduler nonsense cannot be reached" in message
    assert "Stdin cannot be counted on a cluster" in fails(capsys, "count", "-", "--cluster", "tcp://localhost:8786")
