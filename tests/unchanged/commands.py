"""What every command says, with which exit code it ends, and what it writes."""

from __future__ import annotations

import gc
import gzip
import json
import os
import shlex
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.unchanged import adapter, corpora
from tests.unchanged.calls import AS_PROCESSES, CALLS
from tests.unchanged.files import content_of, places, states
from tests.unchanged.records import normalised

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unchanged.records import Records

_EVIL = "a\x1b]0;owned\x07\x1b[31m\x9b2J\u202e\u200bb"
_COMMANDS = (
    "train", "count", "lint", "encode", "decode", "tokenize", "explain", "evaluate", "compare", "verify", "prepare",
)  # fmt: skip


def record(folder: Path) -> Records:
    """Record every call: those of a block in one folder, in their order."""
    records: Records = {}
    helps = [["--help"], ["-h"], ["--version"], *([name, "--help"] for name in _COMMANDS)]
    blocks = [helps, *_blocks(CALLS)]
    for number, block in enumerate(blocks):
        where = folder / f"block-{number}"
        make_files(where)
        for call in block:
            _add(records, " ".join(call), _called(call, where, in_process=True))
        shutil.rmtree(where, ignore_errors=True)
    for number, block in enumerate(_blocks(AS_PROCESSES)):
        where = folder / f"process-{number}"
        make_files(where)
        for call in block:
            _add(records, f"as a process: {' '.join(call)}", _called(call, where, in_process=False))
    return records


def _add(records: Records, name: str, value: dict[str, str]) -> None:
    name = name.replace(_EVIL, "{evil}")
    while name in records:
        name += " (again)"
    records[name] = value


def _blocks(text: str) -> Iterator[list[list[str]]]:
    for block in text.strip("\n").split("\n\n"):
        calls = [shlex.split(line, comments=True) for line in block.splitlines()]
        yield [[word.replace("{evil}", _EVIL) for word in call] for call in calls if call]


def make_files(folder: Path) -> None:
    """Fill a folder with what the calls read: good files of every kind, and bad ones."""
    from wordpiece_studio.resources import resource_path

    shutil.rmtree(folder, ignore_errors=True)
    (folder / "texts").mkdir(parents=True)
    for sample in ("course-en", "hug", "korean"):
        shutil.copy(resource_path(f"samples/{sample}.txt"), folder / f"{sample}.txt")
    for name, data in _contents().items():
        (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))


def _contents() -> dict[str, str | bytes]:
    made = corpora.texts()
    rows = "id,text\n1,hug pug hug\n2,pün bun bun\n"
    piece = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None, "decoder": None,
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": {"[UNK]": 0, "a": 1, "##b": 2},
        },
    }  # fmt: skip
    return {
        "invented.txt": made["invented"], "scripts.txt": made["scripts"], "overlaps.txt": made["overlaps"],
        "texts/a.txt": "hug pug hugs\nhug\n", "texts/b.jsonl": '{"text": "pug pug"}\n{"text": "bun"}\n',
        "texts/c.csv.gz": gzip.compress(rows.encode(), mtime=0), "texts/d.data": '{"body": "hug bun"}\n',
        "rows.csv": rows, "latin.csv": rows.encode("latin-1"),
        "words.tsv": "hug\t10\npug\t5\npun\t12\nbun\t4\nhugs\t5\n",
        "bad.tsv": "hug\t10\npug\tx\n", "twice.tsv": "hug\t1\nhug\t2\n", "empty.txt": "", "blank.txt": " \n\n",
        "two.tsv": "id\ttext\n1\thug\n2\tpug pug\n",
        "latin.txt": "Größe für Bücher\n".encode("latin-1"), "utf16.txt": "hug pug".encode("utf-16"),
        "nul.txt": b"hug\0pug\n", "half.txt": b"fine\n\xffbad\nfine\n", "broken.csv": 'id,text\n1,"hug\n',
        "broken.jsonl": '{"text": "hug"}\n{"text": \n{"text": "pug"}\n', "other.jsonl": '{"body": "hug"}\n{"n": 3}\n',
        "truncated.txt.gz": gzip.compress(b"hug pug " * 1000, mtime=0)[:60], "no.gz": "hug", "wrong.txt.xz": "hug",
        "same.txt": ("This is the Hugging Face course. Hopefully\n" * 3), "one.txt": "hug\n",
        "runaway.txt": f"fine\n{'a' * 60}!\n", "long.txt": f"{'a' * 1200} hug\n", "evil.txt": f"{_EVIL} {_EVIL} x\n",
        "tokens.txt": "Hugging Face\nC++\n", "bad-tokens.txt": "a\n\n a\n",
        "ids.txt": "2 10 3\n", "notes.md": "hug pug\n",
        "lint.txt": "don't  e\u0301 é \u200b caf\u00e9 ﬁne １２ I\u0307 http://a.b/c?d=e&f <p>hug</p>\n" * 30,
        "vocab.txt": "[UNK]\na\n##b\n", "twice-vocab.txt": "[UNK]\na\nb\na\n", "blank-vocab.txt": "[UNK]\n\na\n",
        "tab-vocab.txt": "[UNK]\t0\na\t1\n", "piece.json": json.dumps(piece),
        "cut.json": json.dumps(piece)[:200], "unknown.json": json.dumps(piece | {"surprise": 1}),
        "list.json": "[]", "version.json": json.dumps(piece | {"version": "2.0"}),
        "holes.json": json.dumps(piece | {"model": piece["model"] | {"vocab": {"[UNK]": 0, "a": -1}}}),  # type: ignore[operator]
        "same-id.json": json.dumps(piece | {"model": piece["model"] | {"vocab": {"[UNK]": 0, "a": 1, "b": 1}}}),  # type: ignore[operator]
        "lines.txt": "This is the course.\nhug pug\n\nHugging Face\n",
    }  # fmt: skip


# -- one call


def _called(call: list[str], folder: Path, *, in_process: bool) -> dict[str, str]:
    """Run a command in a folder; ``< NAME`` at its end gives it a file as its input."""
    arguments, given = call, b""
    if "<" in call:
        at = call.index("<")
        arguments, given = call[:at], (folder / call[at + 1]).read_bytes()
    before = states(folder)
    run = _in_this_process if in_process else _in_a_process
    code, out, err = run(arguments, given, folder)
    said = places(folder)
    value = {"exit code": str(code), "stdout": normalised(out, said), "stderr": normalised(err, said)}
    after = states(folder)
    for path, state in after.items():
        if before.get(path) != state:
            value[f"writes {path.relative_to(folder).as_posix()}"] = content_of(path, folder)
    for path in before.keys() - after.keys():
        value[f"removes {path.relative_to(folder).as_posix()}"] = ""
    return value


def _in_a_process(arguments: list[str], given: bytes, folder: Path) -> tuple[int, str, str]:
    command = [sys.executable, "-P", "-m", "wordpiece_studio", *arguments]
    done = subprocess.run(command, cwd=folder, input=given, capture_output=True, check=False, timeout=300)
    return done.returncode, _text(done.stdout), _text(done.stderr)


def _in_this_process(arguments: list[str], given: bytes, folder: Path) -> tuple[int, str, str]:
    with _standard_streams(given, folder.parent) as outputs:
        before = Path.cwd()
        os.chdir(folder)
        try:
            code = adapter.run_command(arguments)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        finally:
            os.chdir(before)
            sys.stdout.flush()
            sys.stderr.flush()
    gc.collect()
    return code, *(_text(path.read_bytes()) for path in outputs)


@contextmanager
def _standard_streams(given: bytes, folder: Path) -> Iterator[list[Path]]:
    """Let this process's three streams be files, down to their descriptors; yield those that it writes."""
    paths = [folder / name for name in ("stdin", "stdout", "stderr")]
    paths[0].write_bytes(given)
    kept = [os.dup(number) for number in range(3)]
    streams = sys.stdin, sys.stdout, sys.stderr
    for number, path in enumerate(paths):
        opened = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    sys.stdout = open(1, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    try:
        yield paths[1:]
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
        for number, copy in enumerate(kept):
            os.dup2(copy, number)
            os.close(copy)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
