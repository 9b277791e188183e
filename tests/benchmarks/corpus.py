"""A corpus in many scripts, of any size and always the same: ``python -m tests.benchmarks.corpus MEGABYTES FILE``.

Each line is in one invented language (`languages`). Words are drawn by their rank, with a frequency that falls as
1 / rank and, past the common words, faster, as in real text; so new words never cease to come, and their number grows
by Heaps' law. A rank is spelled from the language's stems and endings. A smaller corpus is the beginning of a larger
one.
Not here: any real word.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.languages import LANGUAGES, SEPARATORS, Language
from wordpiece_studio import count_words

if TYPE_CHECKING:
    from collections.abc import Iterator

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Texts = NDArray[np.object_]

_SEED = 2012
_BLOCK_LINES = 20_000
_WORDS_A_LINE = 28.0
_SENTENCE_ENDS, _COMMAS = 0.06, 0.10
_NUMBERS, _BORROWED = 0.02, 0.02  # parts of the words: digits, and words of the first language anywhere

_FLATTENED = 2.0  # ranks by which the law of the most frequent words is shifted
_COMMON = 2_000.0  # ranks up to which frequency falls as 1 / rank
_STEEPNESS = 1.53  # with which it falls further on
_LARGEST_RANK = 2.0**40

_STEMS = 16_000
_FLATTENED_SYLLABLES = 8.0
_FUNCTION_WORDS = 80
_PLAIN, _CAPITALIZED, _UPPER = range(3)


class Spelling:
    """Spells the words of a language: the same rank always in the same way."""

    def __init__(self, language: Language, number: int) -> None:
        self._language = language
        self._salt = np.uint64(number + 1)

    @cached_property
    def _stems(self) -> Texts:
        ranks = np.arange(_STEMS)
        draws = _uniforms(ranks, self._salt, 2)
        usual = 1 + (ranks > 400) + (ranks > 2_500) * (draws[0] < 0.7)
        lengths = np.minimum(usual + (draws[1] < 0.15), self._language.longest_stem)
        return self._syllables(self._language.stems, ranks, lengths, 3)

    def words(self, ranks: Ints) -> Texts:
        """Return the word of each rank."""
        stem, ending, prefix, kind, second = _uniforms(ranks, self._salt, 5)
        function = ranks < _FUNCTION_WORDS
        rarity = np.clip(np.log10(ranks + 1.0) / 6, 0, 1)  # rare words are more often long, compounds and names
        stems = np.where(function, ranks, ((0.1 + 0.9 * rarity) * _STEMS * stem**2).astype(np.int64))
        words = self._stems[stems]
        compound = ~function & (kind < 0.25 * rarity)
        words[compound] += self._stems[(_STEMS * second[compound] ** 3).astype(np.int64)]
        named = ~function & (kind > 1 - 0.3 * rarity)
        words[named] = self._syllables(self._language.names, ranks[named], 2 + (3 * second[named]).astype(np.int64), 11)
        if self._language.names is not self._language.stems:
            words[function] = self._syllables(self._language.names, ranks[function], 1 + ranks[function] // 30, 11)
        prefixes, endings = (np.array(part, dtype=object) for part in (self._language.prefixes, self._language.endings))
        prefixed = ~function & (prefix > 0.85)
        words[prefixed] = prefixes[_zipfian(prefix[prefixed] / 0.15 % 1, len(prefixes))] + words[prefixed]
        words[~function] += endings[_zipfian(ending[~function], len(endings))]
        return words

    def _syllables(self, syllables: tuple[str, ...], ranks: Ints, lengths: Ints, salt: int) -> Texts:
        inventory = np.array(syllables, dtype=object)
        draws = _uniforms(ranks, self._salt + np.uint64(salt * 1000), 6)
        texts = np.full(len(ranks), "", dtype=object)
        for position in range(int(lengths.max(initial=0))):
            longer = lengths > position
            texts[longer] += inventory[_zipfian(draws[position][longer], len(inventory), _FLATTENED_SYLLABLES)]
        return texts


class Digits:
    """Spells each rank as the number it is."""

    def words(self, ranks: Ints) -> Texts:
        """Return the number of each rank."""
        return np.array(list(map(str, ranks.tolist())), dtype=object)


def blocks(seed: int = _SEED) -> Iterator[str]:
    """Yield the corpus in blocks of whole lines, without end."""
    spellings: list[Spelling | Digits] = [Spelling(language, number) for number, language in enumerate(LANGUAGES)]
    spellings.append(Digits())
    shares = np.cumsum([language.share for language in LANGUAGES])
    number = 0
    while True:
        draw = np.random.Generator(np.random.PCG64([seed, number])).random
        number += 1
        language_of_line = np.searchsorted(shares / shares[-1], draw(_BLOCK_LINES), side="right")
        lengths = 1 + (-np.log1p(-draw(_BLOCK_LINES)) * _WORDS_A_LINE).astype(np.int64)
        ends = np.cumsum(lengths) - 1
        languages = np.repeat(language_of_line, lengths)
        separators, starts = _separators(languages, ends, draw)
        other = draw(len(languages))
        languages[other < _BORROWED] = 0
        languages[other > 1 - _NUMBERS] = len(LANGUAGES)
        words = _words(spellings, languages, _ranks(draw(len(languages))), _forms(starts, draw(len(languages))))
        woven = np.empty(2 * len(words), dtype=object)
        woven[0::2], woven[1::2] = words, separators
        yield "".join(woven.tolist())


def write_corpus(path: Path, size: int, seed: int = _SEED) -> None:
    """Write whole lines of together at least `size` bytes, and not a line more."""
    with path.open("wb") as file:
        for block in blocks(seed):
            data = block.encode()
            if len(data) >= size:
                file.write(data[: data.index(b"\n", max(0, size - 1)) + 1])
                return
            file.write(data)
            size -= len(data)


def _uniforms(ranks: Ints, salt: np.uint64, count: int) -> Floats:
    """Return `count` rows of numbers from 0 to 1 that depend on nothing but the rank and the salt."""
    with np.errstate(over="ignore"):
        columns = np.arange(1, count + 1, dtype=np.uint64)[:, None] * np.uint64(0xD1B54A32D192ED03)
        mixed = (
            ranks.astype(np.uint64)[None, :] * np.uint64(0x9E3779B97F4A7C15)
            + columns
            + salt * np.uint64(0xA0761D6478BD642F)
        )
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        mixed ^= mixed >> np.uint64(31)
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _zipfian(uniforms: Floats, count: int, flattened: float = 1.0) -> Ints:
    """Return an index below `count` for each number from 0 to 1; index i as often as 1 / (i + `flattened`)."""
    weights = np.cumsum(1 / (np.arange(count) + flattened))
    return np.minimum(np.searchsorted(weights / weights[-1], uniforms, side="right"), count - 1)


def _ranks(uniforms: Floats) -> Ints:
    """Return a word's rank for each number from 0 to 1."""
    common, rest = np.log((_COMMON + _FLATTENED) / _FLATTENED), 1 / (_STEEPNESS - 1)
    mass = uniforms * (common + rest)
    head = _FLATTENED * np.exp(np.minimum(mass, common)) - _FLATTENED
    tail = (_COMMON + _FLATTENED) * np.maximum(1 - (mass - common) / rest, 1e-9) ** (-1 / (_STEEPNESS - 1)) - _FLATTENED
    ranks: Floats = np.minimum(np.where(mass < common, head, tail), _LARGEST_RANK)
    return ranks.astype(np.int64)


def _forms(starts: NDArray[np.bool_], uniforms: Floats) -> Ints:
    forms = np.where(starts | (uniforms > 0.94), _CAPITALIZED, _PLAIN)
    return np.where(uniforms < 0.008, _UPPER, forms)


def _words(spellings: list[Spelling | Digits], languages: Ints, ranks: Ints, forms: Ints) -> Texts:
    """Return each word's text; every distinct one is spelled once."""
    distinct, places = np.unique((languages << 42 | ranks) << 2 | forms, return_inverse=True)
    texts = np.empty(len(distinct), dtype=object)
    for number, spelling in enumerate(spellings):
        first, last = np.searchsorted(distinct, [number << 44, (number + 1) << 44])
        texts[first:last] = spelling.words(distinct[first:last] >> 2 & (1 << 42) - 1)
    for form, change in ((_CAPITALIZED, str.capitalize), (_UPPER, str.upper)):
        chosen = np.flatnonzero(distinct & 3 == form)
        texts[chosen] = [change(text) for text in texts[chosen].tolist()]
    return texts[places]


def _separators(languages: Ints, ends: Ints, draw: Any) -> tuple[Texts, NDArray[np.bool_]]:
    """Return what follows each word, and which words begin a sentence."""
    count = len(languages)
    sentence_ends, choice, which = draw(count) < _SENTENCE_ENDS, draw(count), draw(count)
    line_ends = np.zeros(count, dtype=np.bool_)
    line_ends[ends] = True
    separators = np.empty(count, dtype=object)
    settings = np.array([language.setting for language in LANGUAGES], dtype=object)[languages]
    for name, (last, sentence, inner) in SEPARATORS.items():
        ours = settings == name
        for chosen, texts in (
            (ours & line_ends, [f"{text}\n" for text in last]),
            (ours & sentence_ends & ~line_ends, sentence),
        ):
            separators[chosen] = np.array(texts, dtype=object)[(which[chosen] * len(texts)).astype(np.int64)]
        chosen = ours & ~sentence_ends & ~line_ends
        index = np.where(choice[chosen] < _COMMAS, 1 + _zipfian(which[chosen], len(inner) - 1), 0)
        separators[chosen] = np.array(inner, dtype=object)[index]
    starts = np.roll(line_ends | sentence_ends, 1)
    return separators, starts


def main() -> None:
    """Write a corpus and say what is in it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("megabytes", type=float, help="millions of bytes")
    parser.add_argument("file", type=Path)
    parser.add_argument("--only-write", action="store_true", help="do not count its words")
    arguments = parser.parse_args()
    started = time.perf_counter()
    write_corpus(arguments.file, round(arguments.megabytes * 1e6))
    seconds = time.perf_counter() - started
    sys.stdout.write(f"{arguments.file}: {arguments.file.stat().st_size:,} bytes written in {seconds:.1f} s\n")
    if not arguments.only_write:
        counts = count_words(arguments.file, "bert-uncased")
        sys.stdout.write(f"{counts.total:,} words as BERT uncased reads them, {len(counts):,} of them distinct\n")


if __name__ == "__main__":
    main()
