"""No command replaces a file that this program did not write or that has changed since, except with --force."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.calls import COURSE, fails, run

if TYPE_CHECKING:
    from pathlib import Path

# What is written, and by which options; `{}` is a folder.
WRITTEN = {
    "vocab.txt": "train -o {}",
    "tokenizer.json": "train -o {} --only tokenizer.json",
    "wordpiece-studio.json": "train -o {} --only vocab.txt",
    "word-counts.tsv": "train -o {} --with-counts",
    "word-counts.tsv.card.json": "train -o {} --with-counts",
    "merges.txt": "train -o {} --bpe --objective count --continuing-subword-prefix=",
    "merges.csv": "train -o {}/new --history {}/merges.csv",
    "counts.csv": "count -o {}/counts.csv",
    "ids.npy": "encode --vocab {vocab} -o {}/ids.npy",
    "ends.npy": "encode --vocab {vocab} -o {}/ids.npy --offsets {}/ends.npy",
}


@pytest.fixture(params=WRITTEN)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def command(name: str, tmp_path: Path, course: Path) -> list[str]:
    (tmp_path / "out").mkdir()
    line = WRITTEN[name].replace("{}", str(tmp_path / "out")).replace("{vocab}", str(course))
    return [line.split()[0], COURSE, *line.split()[1:]]


def test_the_files_of_others_are_left_alone(
    name: str, command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = tmp_path / "out" / name
    theirs.write_text("mine")
    message = fails(capsys, *command)
    assert f"{name} was not written by WordPiece Studio, or has changed since. Replace it with --force" in message
    assert [path.name for path in (tmp_path / "out").rglob("*")] == [name]
    assert theirs.read_text() == "mine"
    assert run(capsys, *command, "--force")[0] == 0
    assert theirs.read_bytes() != b"mine"


def test_what_was_written_and_not_changed_is_written_again(
    name: str, command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, *command)[0] == run(capsys, *command)[0] == 0
    ours = tmp_path / "out" / name
    ours.write_bytes(ours.read_bytes() + b"\nmore")
    assert f"{name} was not written by WordPiece Studio, or has changed since" in fails(capsys, *command)
