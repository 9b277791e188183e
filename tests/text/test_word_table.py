"""The compiled way from chunks to words, against the pipelines themselves."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.system.arrays import BEHIND_BLOCK
from wordpiece_studio.text.character_tables import bert_tables, form_tables
from wordpiece_studio.text.kernels.chunks import SPAN
from wordpiece_studio.text.normalizers import BertNormalizer, resolve_normalizer
from wordpiece_studio.text.pipeline import Normalizer, Pipeline
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer
from wordpiece_studio.text.word_numbers import spelled_out
from wordpiece_studio.text.word_table import (
    CharacterActions,
    ChunkTable,
    CompiledWordTable,
    PlainWordTable,
    TableWordNumbers,
    WordTable,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

NORMALIZERS = [
    *(BertNormalizer(*flags) for flags in product([True, False], [True, False], [None, True, False], [True, False])),
    *map(resolve_normalizer, ["none", "lowercase", "remove:a,.", "lowercase+remove:,.", "bert-uncased+remove:e'"]),
    *map(resolve_normalizer, ["nfc", "nfd", "nfkc", "nfkd", "strip-accents", "nfkd+strip-accents+lowercase"]),
    *map(resolve_normalizer, ["language-friendly", "language-friendly:keep-chinese", "strip-accents+nfc", "nfd+nfc"]),
]
PRE_TOKENIZERS = list(
    map(resolve_pre_tokenizer, ["bert", "whitespace-split", "unicode-punctuation", "punctuation+whitespace-split"])
)
# Marks that change places and stay, Hangul, also in jamo, the two sigmas, letters of several lower-case ones, what is
# composed or becomes blanks, marks or several words, white space, controls.
HARD = "aeΣςσİß,.\t\r\x0b\x1c\x85\xa0\u2028\u3000\u200b\xad\0中한가😀"
HARD += "\u0301\u0323\u0345\u302e\u302f\u1baa\ua9c0\u1dfb\U0001d15e"
HARD += "\u1112\u1161\u11ab\u094d\u0915\u093c\u0958\ufb1d\u09c7\u09beÅé\u212b\ufdfa\u1fbd\uff9e\uff8a\xa8ﬁ㌖①"
TEXTS = st.text(st.sampled_from(HARD + " \n") | st.characters(exclude_categories=["Cs"]), max_size=40)


def taken(table: WordTable, text: str, capacity: int = 100) -> Counter[str]:
    """Return the words of a text and how often they come, in the order that `table` gives."""
    chunks, long_ones = ChunkTable(capacity=capacity), Counter[int]()
    words: Counter[str] = Counter()
    left_out = 0
    for part in (text.encode(), b"", text.encode()):  # the second time all chunks are known
        chunks.add(part)
        long_ones.update(table.cut(chunks))
        left_out += sum(number * int(chunks.counts[row]) for row, number in long_ones.items())
        table.tally(chunks)
        numbers, counts = table.take_tally()
        spelled = table.numbers.words()
        words.update({spelled[number]: count for number, count in zip(numbers.tolist(), counts.tolist(), strict=True)})
    assert all(count % 2 == 0 for count in words.values())
    words = Counter({word: count // 2 for word, count in words.items()})
    left_out //= 2
    return words + Counter({"": left_out})


def expected(pipeline: Pipeline, text: str, longest: int) -> list[tuple[str, int]]:
    words = Counter(pipeline.words(text))
    short = [(word, count) for word, count in words.items() if len(word) <= longest]
    left_out = sum(count for word, count in words.items() if len(word) > longest)
    return [*short, ("", left_out)] if left_out else short


@pytest.mark.parametrize("pre_tokenizer", PRE_TOKENIZERS, ids=lambda it: it.name)
@given(
    text=TEXTS,
    normalizer=st.sampled_from(NORMALIZERS),
    longest=st.sampled_from([1000, 3, 1]),
    capacity=st.sampled_from([1, 100]),
)
def test_the_words_are_the_pipelines(
    pre_tokenizer: object, text: str, normalizer: object, longest: int, capacity: int
) -> None:
    pipeline = Pipeline(normalizer, pre_tokenizer)
    assert pipeline.is_by_character
    for table in (CompiledWordTable(pipeline, longest, TableWordNumbers(capacity)), PlainWordTable(pipeline, longest)):
        assert list(taken(table, text, capacity).items()) == expected(pipeline, text, longest)


# Whole rows of 32: the table finds out about all characters of a row when it meets the first.
ROWS = [code for row in range(0x3100 // 32, 0x110000 // 32) if row % 80 == 7 for code in range(row * 32, row * 32 + 32)]


def by_code_points(text: str) -> str:
    """Return every character alone, and between two letters."""
    return " ".join(f"{character} a{character}a" for character in text)


@pytest.mark.parametrize("name", ["bert-cased", "bert-uncased", "language-friendly", "nfkc", "nfkd"])
@pytest.mark.parametrize(
    "codes",
    [
        range(0, 0x3100, 6),
        pytest.param((*range(3, 0x3100, 6), *ROWS), marks=pytest.mark.slow),
        pytest.param(range(0x110000), marks=pytest.mark.exhaustive),
    ],
    ids=["some", "many", "all"],
)
@pytest.mark.parametrize("pre_tokenizer", PRE_TOKENIZERS, ids=lambda it: it.name)
def test_every_code_point(pre_tokenizer: object, codes: Sequence[int], name: str) -> None:
    pipeline = Pipeline(resolve_normalizer(name), pre_tokenizer)
    text = by_code_points("".join(chr(code) for code in codes if not 0xD800 <= code <= 0xDFFF))
    assert list(taken(CompiledWordTable(pipeline, 1000), text).items()) == expected(pipeline, text, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("normalizer", NORMALIZERS, ids=lambda it: it.name)
def test_marks_that_meet(normalizer: Normalizer) -> None:
    tables, forms, rng = bert_tables(), form_tables(), random.Random(7)
    pool = [*tables.combining, *map(chr, tables.decompositions), *map(chr, tables.lower_case), *"aaa  bé中,"]
    pool += [*map(chr, forms.compatible), *forms.following(), *HARD, *"\u094d\u094d\u094d" * 100]
    text = "".join(rng.choices(pool, k=3000))
    pipeline = Pipeline(normalizer, PRE_TOKENIZERS[0])
    assert list(taken(CompiledWordTable(pipeline, 1000), text).items()) == expected(pipeline, text, 1000)


def test_overlong_words_are_listed_by_chunk() -> None:
    for pipeline in (Pipeline(resolve_normalizer(name), PRE_TOKENIZERS[0]) for name in ("bert-uncased", "lowercase")):
        chunks = ChunkTable()
        chunks.add("ab abc,ÀÉÎ.abcd-x ΣABC abcde".encode())
        for table in (CompiledWordTable(pipeline, 2), PlainWordTable(pipeline, 2)):
            assert [table.long_words(chunks, row) for row in range(len(chunks))] == [[], [3, 3, 4], [4], [5]]
            assert table.numbers.words() == []
            assert list(table.cut(chunks)) == [1, 1, 1, 2, 3]
            assert table.numbers.words() == ["ab", ",", ".", "-", "x"]


def test_words_in_another_order() -> None:
    words = ["a", "é" * 9, "中", "x" * 40, "\U0001f600b"]
    numbers = TableWordNumbers(1)
    numbers.numbers_of(*spelled_out(words))
    for order in ([0, 1, 2, 3, 4], [3, 0, 4], []):
        found = numbers.words_of(np.array(order, dtype=np.int32))
        assert found() == [words[number] for number in order]


def test_equal_pipelines_that_are_built_in_share_what_they_learn() -> None:
    class Custom(BertNormalizer):
        pass

    pipelines = [
        Pipeline(normalizer, PRE_TOKENIZERS[0]) for normalizer in (*map(BertNormalizer, [True, True]), Custom())
    ]
    one, same, custom, other = map(CharacterActions.shared, [*pipelines, Pipeline(BertNormalizer(), PRE_TOKENIZERS[1])])
    assert one is same
    assert len({id(one), id(custom), id(other)}) == 3
    one.find_out(ord("É"))
    actions, used = one.actions.copy(), one.texts.any()
    one.find_out(ord("È"))  # of the same page
    assert np.array_equal(one.actions, actions)
    assert used


@pytest.mark.slow
def test_a_stop_is_asked_for() -> None:
    chunks = ChunkTable()
    chunks.add(b" ".join(b"%d" % number for number in range(50_000)))
    pipeline = Pipeline(resolve_normalizer("none"), PRE_TOKENIZERS[0])
    calls: list[int] = []
    for table in (CompiledWordTable(pipeline, 9), PlainWordTable(pipeline, 9)):
        assert list(table.cut(chunks, lambda: calls.append(0))) == []
        assert len(table.numbers.words()) == 50_000
    assert len(calls) == 6


@pytest.mark.parametrize("kind", [CompiledWordTable, PlainWordTable])
def test_words_keep_their_numbers_when_chunks_are_forgotten(kind: type[WordTable]) -> None:
    table, chunks = kind(Pipeline(resolve_normalizer("lowercase"), PRE_TOKENIZERS[0]), 1000), ChunkTable(capacity=1)
    tallies = []
    for block in ("b a b.", "A é b"):
        chunks.add(block.encode())
        assert list(table.cut(chunks)) == []
        table.tally(chunks)
        chunks.clear()
        table.forget_chunks()
        tallies.append(tuple(map(list, table.take_tally())))
    assert table.numbers.words() == ["b", "a", ".", "é"]
    assert tallies == [([0, 1, 2], [2, 1, 1]), ([1, 3, 0], [1, 1, 1])]
    assert table.numbers.spelled(1)[0] == "a.é".encode()
    assert table.numbers.numbers_of(*table.numbers.spelled(1)).tolist() == [1, 2, 3]


@pytest.mark.parametrize("kind", [CompiledWordTable, PlainWordTable])
def test_a_word_of_any_length_is_spelled_out(kind: type[WordTable]) -> None:
    table, chunks = kind(Pipeline(resolve_normalizer("lowercase"), PRE_TOKENIZERS[0]), 10**9), ChunkTable()
    words = ["É" * 200_000, "x", "y" * 70_000]
    chunks.add(" ".join(words).encode())
    assert list(table.cut(chunks)) == []
    assert table.numbers.words() == [word.lower() for word in words]


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
    assert table.arrays.touched[:3].tolist() == [0, 1, 2]


@pytest.mark.parametrize("size", [*range(20), *range(60, 70), *range(125, 131)])
def test_nothing_behind_the_block_is_read(size: int) -> None:
    table = ChunkTable()
    for tail in (b"", b" ", b"\n"):
        table.add(b"x" * size + tail)
    assert entries_of(table) == ([(b"x" * size, 3)] if size else [])
