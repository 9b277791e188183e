from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.system.arrays import BEHIND_BLOCK
from wordpiece_studio.text.chunk_table import ChunkTable
from wordpiece_studio.text.kernels.lanes import SPAN

# Few bytes, so that chunks come again; NUL, other white space, and bytes that are no UTF-8 are parts of chunks.
BLOCKS = st.lists(st.sampled_from([b"a", b"b", b" ", b"\n", b"\0", b"\t", b"\xa0", b"\xff", b"abcdefg", b"hijklmnop"]))
LONGER = st.integers(0, 40).map(lambda length: bytes(range(33, 33 + length)))


def chunks_of(block: bytes) -> list[bytes]:
    return [chunk for chunk in block.replace(b"\n", b" ").split(b" ") if chunk]


def watched(table: ChunkTable, block: bytes, longest: int) -> list[tuple[int, int]]:
    padded = np.frombuffer(block + b"x" * BEHIND_BLOCK, dtype=np.uint8)
    return list(table.add_watching(padded, len(block), longest))


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


def test_long_chunks_are_reported_each_time_and_in_order() -> None:
    table = ChunkTable(capacity=1)
    long_one = "é".encode() * 5
    assert watched(table, b"x " + long_one + b"\n" + long_one + b" y eeee", 4) == [(1, 2), (1, 13)]
    assert watched(table, long_one, 5) == []
    assert entries_of(table) == [(b"x", 1), (long_one, 3), (b"y", 1), (b"eeee", 1)]


def test_a_cleared_table_is_empty() -> None:
    table = ChunkTable(capacity=1)
    table.add(b"a b c d e")
    table.clear()
    assert (len(table), table.joined.tobytes()) == (0, b"")
    table.add(b"c")
    assert entries_of(table) == [(b"c", 1)]


def test_the_number_of_bytes_read_at_once() -> None:
    assert BEHIND_BLOCK == SPAN


@pytest.mark.parametrize("length", [15, 16, 17, 63, 64, 65, (1 << 20) - 2, (1 << 20) - 1, 1 << 20, (1 << 20) + 9])
def test_long_chunks_that_differ_only_at_their_ends(length: int) -> None:
    chunks = [b"x" * length, b"x" * (length - 1) + b"y", b"x" * (length + 1), b"y" + b"x" * (length - 1)]
    table = ChunkTable(capacity=1)
    for chunk in [*chunks, *chunks]:
        table.add(chunk)
    table.add(b" ".join(chunks))
    assert entries_of(table) == [(chunk, 3) for chunk in chunks]


@given(chunks=st.lists(st.binary(min_size=1, max_size=40).map(lambda data: data.translate(None, b" \n") or b"-")))
def test_strings_get_the_rows_of_their_first_appearance(chunks: list[bytes]) -> None:
    table = ChunkTable(capacity=1)
    source = np.frombuffer(b"".join(chunks) + bytes(BEHIND_BLOCK), dtype=np.uint8)
    ends = np.cumsum([len(chunk) for chunk in chunks], dtype=np.int64)
    order = list(dict.fromkeys(chunks))
    assert table.rows_of(source, ends).tolist() == [order.index(chunk) for chunk in chunks]
    assert [table[row] for row in range(len(table))] == order
    assert not table.counts.any()


def test_touched_rows_are_listed_in_order() -> None:
    table = ChunkTable()
    table.add(b"a b c")
    assert table.touched.tolist() == [0, 1, 2]


@pytest.mark.parametrize("size", [*range(20), *range(60, 70), *range(125, 131)])
def test_nothing_behind_the_block_is_read(size: int) -> None:
    table = ChunkTable()
    for tail in (b"", b" ", b"\n"):
        table.add(b"x" * size + tail)
    assert entries_of(table) == ([(b"x" * size, 3)] if size else [])
