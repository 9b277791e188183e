"""Word counts that are typed or pasted: what is offered as such, and how it is read."""

from __future__ import annotations

import pytest

from wordpiece_studio.corpus.count_tables import (
    as_typed_counts,
    counts_as_text,
    is_typed_counts,
    read_typed_counts,
    with_count,
)
from wordpiece_studio.corpus.counts import CountingStopped, WordCounts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

HUG = "word\tcount\nhug\t10\npug\t5\n"


def read(text: str, *, stops: bool = False) -> WordCounts:
    return read_typed_counts(text, resolve_normalizer("none"), resolve_pre_tokenizer("bert"), lambda: stops)


@pytest.mark.parametrize(
    "text",
    [
        "hug 10\npug 5",
        "hug\t10\r\npug\t5\r\n",
        "\n  hug   10 \n\npug\t 5\n",
        "Wort\tAnzahl\nhug\t10\npug\t5\n",
        "the word\tin all\nhug\t10\npug\t5\n",
        "Wort Anzahl\nhug 10\npug 5\n",
    ],
)
def test_words_with_counts_are_recognized(text: str) -> None:
    assert as_typed_counts(text) == HUG
    assert not is_typed_counts(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "hug 10", "hug 10\npug", "hug 10\npug 0", "we were 10\nthey were 5", "1 10\n2 5", "a 1.5\nb 2", HUG),
        *("Wort Anzahl\nhug 10", "so many words\nhug 10\npug 5", "hug x1\nhug 10\npug 5"),
    ],
)
def test_other_texts_are_not(text: str) -> None:
    assert as_typed_counts(text) is None


def test_counts_are_read_as_they_stand() -> None:
    assert is_typed_counts(HUG)
    assert read(HUG).items() == [("hug", 10), ("pug", 5)]
    assert not is_typed_counts("word\tcounts\n")


def test_repeated_words_add_up_and_other_lines_are_left_out_and_counted() -> None:
    counts = read("word\tcount\r\nNew York 3\r\nhug 1\r\npug\r\nhug\t2\r\na\tb 3\r\n\r\nbun -1")
    assert counts.items() == [("New York", 3), ("hug", 3)]
    assert counts.statistics.skipped_lines == 3
    assert counts.statistics.lines == 8


def test_too_many_words_and_a_stop_are_reported() -> None:
    with pytest.raises(StudioError, match="more than"):
        read(f"word\tcount\na {2**63 - 1}\nb 1")
    with pytest.raises(CountingStopped):
        read(HUG, stops=True)


def test_counts_as_a_text_are_read_as_the_same_counts() -> None:
    counts = WordCounts.from_pairs([("hug", 10), ("New York", 3), ("=1", 2)])
    assert read(counts_as_text(counts)).items() == counts.items()
    assert counts_as_text(WordCounts.from_pairs([])) == "word\tcount\n"


@pytest.mark.parametrize("word", ["a\tb", "a\nb", "a\r", " a", "a\u00a0"])
def test_a_word_that_cannot_be_read_back_is_refused(word: str) -> None:
    with pytest.raises(StudioError, match="cannot be written on a line"):
        counts_as_text(WordCounts.from_pairs([("hug", 10), (word, 1)]))


@pytest.mark.parametrize(
    ("text", "word", "count", "expected"),
    [
        (HUG, "hug", 12, "word\tcount\nhug\t12\npug\t5\n"),
        (HUG, "ug", 7, HUG + "ug\t7\n"),
        (HUG, "hug", 0, "word\tcount\npug\t5\n"),
        (HUG, "bun", 0, HUG),
        ("word\tcount", "bun", 4, "word\tcount\nbun\t4\n"),
        ("word\tcount\r\nhug 1\r\nnot a count\r\nhug 2\r\n\r\n", "hug", 5,
         "word\tcount\r\nhug\t5\r\nnot a count\r\n"),
        (HUG, "word", 3, HUG + "word\t3\n"),
    ],
)  # fmt: skip
def test_a_count_is_set(text: str, word: str, count: int, expected: str) -> None:
    assert with_count(text, word, count) == expected
