"""A file is read as long as it was when it was opened, however much is added to it meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from wordpiece_studio.corpus.files import open_binary

CONTENT = b"some words\n" * 5000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "log.txt"
    path.write_bytes(CONTENT)
    return path


def added(path: Path) -> None:
    with path.open("ab") as growing:
        growing.write(b"more\n" * 5000)


@pytest.mark.parametrize("size", [1, 1000, 8192, 1 << 20, -1])
def test_appended_text_is_not_read(path: Path, size: int) -> None:
    with open_binary(path) as file:
        first = file.read(5)
        added(path)
        parts = [first]
        while part := file.read(size):
            parts.append(part)
            if size > 1000:
                added(path)
        assert b"".join(parts) == CONTENT


def test_places_are_those_of_the_file(path: Path) -> None:
    with open_binary(path) as file:
        added(path)
        file.seek(11)
        assert file.readline() == b"some words\n"
        assert file.tell() == 22
        buffer = bytearray(2 * len(CONTENT))
        assert file.readinto(buffer) == len(CONTENT) - 22  # type: ignore[attr-defined]
        file.seek(0, 2)
        assert file.read() == b""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="files that the system makes up as they are read")
def test_a_file_that_says_it_is_empty_is_read() -> None:
    with open_binary("/proc/self/status") as file:
        assert b"Pid:" in file.read()
