from __future__ import annotations

import gzip
import itertools
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.corpus.counting import segments
from wordpiece_studio.corpus.counting.segments import (
    NotPlainUtf8,
    RawBlock,
    Segment,
    divided,
    first_byte,
    is_divisible,
    raw_blocks,
    segment_pieces,
)
from wordpiece_studio.corpus.files import CorpusFile
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.arrays import BEHIND_BLOCK

if TYPE_CHECKING:
    from pathlib import Path

CONTENTS = st.lists(st.sampled_from([b"a", b" ", b"\n", b"word\n", b"x" * 9, "é".encode()]), max_size=40).map(b"".join)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("segments") / "a.txt"


@given(content=CONTENTS, cuts=st.lists(st.integers(0, 200), max_size=6), block_bytes=st.sampled_from([1, 5, 1000]))
def test_segments_are_the_file_each_line_in_one_of_them(
    path: Path, content: bytes, cuts: list[int], block_bytes: int
) -> None:
    path.write_bytes(content)
    file, bounds = CorpusFile(str(path)), [0, *sorted(cuts), None]
    place = 0
    for start, end in itertools.pairwise(bounds):
        segment = Segment(0, start or 0, end)
        raw = b""
        for block in raw_blocks(file, segment, block_bytes):
            assert len(block.text) >= block.size + BEHIND_BLOCK
            assert block.byte == place + len(raw)
            assert block.line == 1 + raw.count(b"\n")
            raw += block.utf8.tobytes()
        text = "".join(piece.text for piece in segment_pieces(file, segment, splits_at_blanks=True))
        assert text.encode() == raw
        assert raw == b"" or first_byte(file, segment) == place
        assert end is None or raw == b"" or raw.endswith(b"\n") or place + len(raw) == len(content)
        place += len(raw)
    assert place == len(content)


def test_a_fault_is_reported_with_its_line_in_the_segment(path: Path) -> None:
    path.write_bytes(b"one\ntwo\nthr\xff\n")
    with pytest.raises(StudioError, match="line 2: the bytes FF at byte 11"):
        list(segment_pieces(CorpusFile(str(path)), Segment(0, 4), splits_at_blanks=True))


def test_a_place_in_a_block(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbfa\nb \n")
    block = next(raw_blocks(CorpusFile(str(path)), Segment(0)))
    assert isinstance(block, RawBlock)
    assert (block.utf8.tobytes(), block.byte, block.locate(4)) == (b"a\nb \n", 3, (2, 7))


def test_text_that_is_not_plain_utf_8_is_noticed(path: Path) -> None:
    for content in (gzip.compress(b"a"), "a".encode("utf-16")):
        path.write_bytes(content)
        with pytest.raises(NotPlainUtf8):
            list(raw_blocks(CorpusFile(str(path)), Segment(0)))
        assert not is_divisible(CorpusFile(str(path)))
    path.write_bytes(b"a")
    assert is_divisible(CorpusFile(str(path)))
    assert is_divisible(CorpusFile(str(path), encoding="utf-8", errors="replace"))
    for file in (CorpusFile(str(path), "csv"), CorpusFile(str(path), encoding="latin-1")):
        assert not is_divisible(file)


def test_an_endless_line_is_left_to_decoding(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "LONGEST_STRETCH_BYTES", 100)
    path.write_bytes(b"x" * 1000)
    with pytest.raises(NotPlainUtf8):
        list(raw_blocks(CorpusFile(str(path)), Segment(0), 10))


def test_large_files_are_divided_ever_smaller(path: Path) -> None:
    path.write_bytes(b"")
    file, size = CorpusFile(str(path)), 100 << 20
    parts = divided([file, CorpusFile(str(path), "csv"), file], [size, 50 << 20, 1000], 2)
    assert [part.file for part in parts[-2:]] == [1, 2]
    assert all((part.start, part.end) == (0, None) for part in parts[-2:])
    assert parts[-3].end is None
    bounds = [part.start for part in parts[:-2]] + [size]
    lengths = [after - before for before, after in itertools.pairwise(bounds)]
    assert parts[0].start == 0
    assert [part.end for part in parts[:-3]] == bounds[1:-1]
    assert max(lengths) <= segments.LARGEST_SEGMENT * 3 // 2
    assert min(lengths) >= segments.SMALLEST_SEGMENT // 2
