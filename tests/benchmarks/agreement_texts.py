"""Lines of text to compare tokenizers on: real ones, and such as no one would write who does not look for faults."""

from __future__ import annotations

import random
import unicodedata
from collections import defaultdict
from functools import cache
from itertools import chain, cycle, islice
from typing import TYPE_CHECKING

from tests.benchmarks.parity import random_texts
from wordpiece_studio.resources import resource_path
from wordpiece_studio.text.pipeline import BERT_SPECIAL_TOKENS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

LAST_CODE_POINT = 0x10FFFF
_SAMPLES = ("course-en", "spanish", "chinese", "korean", "hug")
_JOINED = ("👩‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "❤️‍🔥", "🇩🇪🇫🇷", "🧑🏿‍🚀", "1️⃣", "e\u200d\u0301")
_RIGHT_TO_LEFT = ("שָׁלוֹם", "עולם", "مَرْحَبًا", "العالَم", "\u202eabc\u202c", "\u200fx", "ߒߞߏ", "سلام،")
_CONTROLS = "\0\x01\x07\x08\t\n\x0b\x0c\r\x1b\x1c\x1d\x1e\x1f\x7f\x80\x85\x9f\xad\u200b\u2028\u2029\ufeff\ufffd\ufffe"


def mixed_lines(count: int, files: Sequence[Path] = (), seed: int = 1) -> list[str]:
    """Return `count` lines, half of them real, in a random order that the seed decides.

    Parameters
    ----------
    count
        How many.
    files
        Corpora to take the real ones from, beside the samples that the Studio brings. None is needed.
    seed
        Of the random choices.
    """
    rng = random.Random(seed)
    real = real_lines(files, rng)
    lines = list(islice(cycle(real), count // 2))
    lines += islice(hostile_lines(rng), count - len(lines))
    rng.shuffle(lines)
    return lines


def real_lines(files: Sequence[Path], rng: random.Random) -> list[str]:
    """Return the lines of the samples, and some thousand of each file."""
    texts = [resource_path(f"samples/{name}.txt").read_text(encoding="utf-8") for name in _SAMPLES]
    lines = [line for text in texts for line in text.splitlines() if line]
    for file in files:
        with file.open(encoding="utf-8") as opened:
            found = [line.rstrip("\n") for line in islice(opened, 20_000)]
        lines += rng.sample(found, min(len(found), 2_000))
    rng.shuffle(lines)
    return lines


def hostile_lines(rng: random.Random) -> Iterator[str]:
    """Yield lines of every kind in turn, without end."""
    hard = random_texts(LAST_CODE_POINT, rng.randrange(1 << 30))
    kinds: list[Callable[[random.Random], str]] = [
        _of_scripts, _of_any_code_points, _with_special_tokens, _of_controls, _of_marks, _of_emoji, _of_both_directions,
        _of_long_words, _of_punctuation, _of_chinese_and_hangul,
    ]  # fmt: skip
    for kind in cycle(kinds):
        yield kind(rng)
        yield next(hard)


@cache
def scripts() -> dict[str, list[str]]:
    """Return the letters of every script, by the first word of their names: LATIN, GREEK, …"""
    found = defaultdict(list)
    for code in range(LAST_CODE_POINT + 1):
        character = chr(code)
        if unicodedata.category(character)[0] in "LMN":
            found[unicodedata.name(character, "?").split(" ", 1)[0].split("-")[0]].append(character)
    return dict(found)


def _text(rng: random.Random, pool: Sequence[str], least: int, most: int) -> str:
    return "".join(rng.choices(pool, k=rng.randint(least, most)))


def _of_scripts(rng: random.Random) -> str:
    names = rng.choices(list(scripts()), k=6)
    return " ".join(_text(rng, scripts()[name], 1, 7) for name in names)


def _of_any_code_points(rng: random.Random) -> str:
    planes = [rng.randrange(LAST_CODE_POINT + 1) >> rng.choice((0, 4, 8, 12)) for _ in range(30)]
    return "".join(chr(code) for code in planes if not 0xD800 <= code <= 0xDFFF)


def _with_special_tokens(rng: random.Random) -> str:
    written = [*BERT_SPECIAL_TOKENS, "[mask]", "[UNK", "UNK]", "[[CLS]]", "[MASK][MASK]", "##a", "##", "[ SEP ]"]
    words = chain.from_iterable(
        (rng.choice(written), rng.choice(["a", " ", "é", "", "\u0301", "中"])) for _ in range(6)
    )
    return "".join(words)


def _of_controls(rng: random.Random) -> str:
    return _text(rng, [*_CONTROLS, "a", "b", " "], 5, 25)


def _of_marks(rng: random.Random) -> str:
    marks = [chr(code) for code in (*range(0x300, 0x370), *range(0x483, 0x488), 0x94D, 0x3099, 0x20D0, 0x1D165)]
    return " ".join(_text(rng, "aeioun한がй", 1, 2) + _text(rng, marks, 1, 12) for _ in range(4))


def _of_emoji(rng: random.Random) -> str:
    return _text(rng, [*_JOINED, "a", " ", "!"], 4, 12)


def _of_both_directions(rng: random.Random) -> str:
    return " ".join(rng.choices([*_RIGHT_TO_LEFT, "left", "(to)", "right-1"], k=6))


def _of_long_words(rng: random.Random) -> str:
    length = rng.choice([99, 100, 101, 102, 1000])
    return _text(rng, "aeé", length, length) + " " + rng.choice(["x" * 100, "한" * 34, "É" * 101])


def _of_punctuation(rng: random.Random) -> str:
    marks = [chr(code) for code in (*range(0x21, 0x30), 0x5F, 0x60, 0x7E, 0xA7, 0xBF, *range(0x2010, 0x2060), 0x3001)]
    return _text(rng, [*marks, "a", "7", " ", "don't"], 8, 24)


def _of_chinese_and_hangul(rng: random.Random) -> str:
    bounds = [0x3400, 0x4DBF, 0x4E00, 0x9FFF, 0xF900, 0x2A6DF, 0x2B81F, 0x2B820, 0x2B91F, 0x2B920, 0x2FA1F, 0x30000]
    pool = [*map(chr, bounds), *"中文漢字ひらがな한국어각", "\u1112\u1161\u11ab", "a"]
    return _text(rng, pool, 4, 16)
