"""The benchmark corpus: always the same, in many scripts, with new words that never cease to come."""

from __future__ import annotations

import unicodedata
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.benchmarks.corpus import write_corpus
from wordpiece_studio import WordCounts, count_words

if TYPE_CHECKING:
    from pathlib import Path

SIZE = 1_000_000
SCRIPTS = {
    "ARABIC",
    "CJK",
    "CYRILLIC",
    "DEVANAGARI",
    "DIGIT",
    "GREEK",
    "HANGUL",
    "HEBREW",
    "HIRAGANA",
    "KATAKANA",
    "LATIN",
    "THAI",
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "many-1.txt"
    write_corpus(path, SIZE)
    return path


@pytest.fixture(scope="module")
def counts(corpus: Path) -> WordCounts:
    return count_words(corpus, "bert-uncased")


@pytest.mark.slow
def test_it_is_the_same_each_time_and_a_smaller_one_is_its_beginning(corpus: Path, tmp_path: Path) -> None:
    content = corpus.read_bytes()
    for size in (SIZE, SIZE // 7, 1):
        write_corpus(tmp_path / "again.txt", size)
        again = (tmp_path / "again.txt").read_bytes()
        assert content.startswith(again)
        assert len(again) >= size
        assert b"\n" not in again[size - 1 : -1]  # not a line more than needed
        assert again.endswith(b"\n")


@pytest.mark.slow
def test_another_seed_gives_another_one(corpus: Path, tmp_path: Path) -> None:
    write_corpus(tmp_path / "other.txt", 1000, seed=1)
    assert not corpus.read_bytes().startswith((tmp_path / "other.txt").read_bytes())


def test_it_holds_all_scripts_cases_accents_and_emoji(corpus: Path) -> None:
    characters = set(corpus.read_text(encoding="utf-8"))
    assert {unicodedata.name(character, "?").split()[0] for character in characters} >= SCRIPTS
    assert characters >= set("aAéÉñßłşЖжΩω0123456789.,!?。，؟।❤🙂")
    assert len(characters) > 2_500


def test_lines_have_the_length_of_lines(corpus: Path) -> None:
    lengths = np.array([len(line) for line in corpus.read_text(encoding="utf-8").splitlines()])
    assert 60 < np.median(lengths) < 250
    assert lengths.max() < 5_000


def test_words_are_as_frequent_as_in_text(counts: WordCounts) -> None:
    ordered = np.sort(counts.counts)[::-1]
    assert 0.01 < ordered[0] / counts.total < 0.08
    assert 0.5 < np.mean(counts.counts == 1) < 0.8
    slope = np.polyfit(np.log(np.arange(10, 2_000)), np.log(ordered[10:2_000]), 1)[0]
    assert -1.3 < slope < -0.7


@pytest.mark.slow
def test_new_words_come_ever_more_slowly_but_never_cease(corpus: Path, tmp_path: Path, counts: WordCounts) -> None:
    distinct = []
    for size in (SIZE // 100, SIZE // 10):
        write_corpus(tmp_path / "part.txt", size)
        distinct.append(len(count_words(tmp_path / "part.txt", "bert-uncased")))
    distinct.append(len(counts))
    for fewer, more in pairwise(distinct):
        assert 0.6 < np.log10(more / fewer) < 0.9  # the exponent of Heaps' law
    assert 30_000 < distinct[-1] < 42_000


def test_words_share_their_parts(counts: WordCounts) -> None:
    words = [word for word in counts.words if word.isascii() and word.isalpha() and len(word) >= 8]
    endings = Counter(word[-3:] for word in words)
    common = sum(number for _, number in endings.most_common(100))
    assert common > 0.4 * len(words)  # 0.006 with random letters, 0.6 in English
