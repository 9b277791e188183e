from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.core.text.chunk_table import ChunkTable

# Few bytes, so that chunks come again; NUL, other white space, and bytes that are no UTF-8 are parts of chunks.
BLOCKS = st.lists(st.sampled_from([b"a", b"b", b" ", b"\n", b"\0", b"\t", b"\xa0", b"\xff", b"abcdefg", b"hijklmnop"]))
LONGER = st.integers(0, 40).map(lambda length: bytes(range(33, 33 + length)))


def chunks_of(block: bytes) -> list[bytes]:
    return [chunk for chunk in block.replace(b"\n", b" ").split(b" ") if chunk]


def entries_of(table: ChunkTable) -> list[tuple[bytes, int]]:
    return [(table[row], count) for row, count in enumerate(table.counts.tolist())]


@given(blocks=st.lists(BLOCKS.map(b"".join) | LONGER, max_size=5), capacity=st.sampled_from([1, 2, 100]))
def test_it_counts_what_splitting_counts(blocks: list[bytes], capacity: int) -> None:
    table, expected = ChunkTable(capacity=capacity), Counter[bytes]()
    for number, block in enumerate(blocks):
        if number % 2:
            rows = table.add_recording(block)
            assert [table[row] for row in rows] == chunks_of(block)
        else:
            table.add(block)
        expected.update(chunks_of(block))
    assert entries_of(table) == list(expected.items())
    assert table.joined.tobytes() == b"".join(chunk + b" " for chunk in expected)
    assert len(table) == len(expected)


def test_many_chunks_of_every_length() -> None:
    chunks = [b"%d" % number + b"x" * (number % 23) for number in range(20_000)]
    table = ChunkTable(capacity=1)
    table.add(b" ".join(chunks))
    table.add(b"\n".join(reversed(chunks)))
    assert entries_of(table) == [(chunk, 2) for chunk in chunks]


def test_an_occurrence_may_count_for_many() -> None:
    table = ChunkTable()
    table.add(b"a b a", 5)
    table.add(b"b", 1 << 40)
    assert entries_of(table) == [(b"a", 10), (b"b", 5 + (1 << 40))]


def test_long_chunks_are_told_each_time_and_go_in_order() -> None:
    table = ChunkTable(capacity=1)
    long_one = "é".encode() * 5
    assert list(table.add_watching(b"x " + long_one + b"\n" + long_one + b" y eeee", 4)) == [(1, 2), (1, 13)]
    assert list(table.add_watching(long_one, 5)) == []
    assert entries_of(table) == [(b"x", 1), (long_one, 3), (b"y", 1), (b"eeee", 1)]


def test_what_is_cleared_is_forgotten() -> None:
    table = ChunkTable(capacity=1)
    table.add(b"a b c d e")
    table.clear()
    assert (len(table), table.joined.tobytes()) == (0, b"")
    table.add(b"c")
    assert entries_of(table) == [(b"c", 1)]


@pytest.mark.parametrize("size", range(20))
def test_nothing_behind_the_block_is_read(size: int) -> None:
    table = ChunkTable()
    for tail in (b"", b" ", b"\n"):
        table.add(b"x" * size + tail)
    assert entries_of(table) == ([(b"x" * size, 3)] if size else [])
