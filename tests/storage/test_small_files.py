from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.small_files import small_file_bytes, utf8_text


def test_a_file_is_read_up_to_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"12345")
    assert small_file_bytes(path, 5, "{path} is {n} MB, too large for a manifest") == b"12345"
    with pytest.raises(StudioError, match=r"a\.bin is 0 MB, too large for a manifest\. Ask\."):
        small_file_bytes(path, 4, "{path} is {n} MB, too large for a manifest", "Ask.")


def test_a_high_limit_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"12345")
    tracemalloc.start()
    try:
        assert small_file_bytes(path, 1 << 30, "{path} is {n} MB, too large for a manifest") == b"12345"
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_a_file_that_says_it_is_empty_and_is_not_is_refused_too() -> None:
    path = Path("/proc/cpuinfo")
    if not path.exists() or path.stat().st_size:
        pytest.skip("the system makes up no such file")
    with pytest.raises(StudioError, match="too large for a manifest"):
        small_file_bytes(path, 10, "{path} is {n} MB, too large for a manifest")
    version = Path("/proc/version")
    assert small_file_bytes(version, 1 << 20, "{path} is {n} MB, too large for a manifest") == version.read_bytes()


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudioError, match="is a folder"):
        small_file_bytes(tmp_path, 10, "{path} is {n} MB, too large for a manifest")


def test_the_line_and_byte_of_what_is_not_utf_8_are_named() -> None:
    assert utf8_text("né".encode(), "a.txt") == "né"
    with pytest.raises(StudioError, match=r"a\.txt, line 2: the byte FF at offset 4 is not valid UTF-8"):
        utf8_text(b"one\n\xff", "a.txt")
