from __future__ import annotations

from io import BufferedReader, BytesIO
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.corpus import blocks
from wordpiece_studio.corpus.blocks import CorpusBlocks
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from pathlib import Path


def test_every_file_ends_a_line(tmp_path: Path) -> None:
    contents = [b"a b\r\nc", b"", b"\n", b"\xef\xbb\xbfd\n", b"e"]
    paths = [tmp_path / str(number) for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    told: list[tuple[int, int]] = []
    source = CorpusBlocks(paths, progress=lambda *args: told.append(args))
    assert b"".join(source) == b"a b\r\nc\n\nd\ne\n"
    assert (source.statistics.lines, source.statistics.characters, source.statistics.bytes) == (5, 10, 13)
    assert told[-1] == (13, 13)


def test_blocks_have_about_the_same_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 100)
    (tmp_path / "a").write_bytes(b"0123456789\n" * 30 + b"\xff\n" + b"0123456789\n" * 70)
    source = CorpusBlocks(tmp_path / "a", errors="replace")
    sizes = [len(block) for block in source]
    assert sum(sizes) == 1104
    assert all(size >= 100 for size in sizes[:-1])
    assert len(sizes) > 1
    assert source.statistics.replaced == 1


def test_a_stream_has_a_name_for_messages(tmp_path: Path) -> None:
    assert b"".join(CorpusBlocks(BufferedReader(BytesIO(b"a\nb")))) == b"a\nb\n"  # type: ignore[arg-type]
    (tmp_path / "x").write_bytes(b"\xff")
    with open(tmp_path / "x", "rb") as stream, pytest.raises(StudioError, match="x, line 1: the bytes FF"):
        list(CorpusBlocks(stream))


def test_no_files_and_no_paths(tmp_path: Path) -> None:
    with pytest.raises(StudioError, match="There is no file to read"):
        CorpusBlocks([])
    with pytest.raises(StudioError, match="Files are expected, not 3"):
        CorpusBlocks([3])  # type: ignore[list-item]
    with pytest.raises(StudioError, match="does not exist"):
        CorpusBlocks(tmp_path / "no")
