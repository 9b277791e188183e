"""Our normalizers and pre-tokenizers against the `tokenizers` library's: every code point, and random strings.

``python -m tests.benchmarks.parity code-points`` goes through all code points, and ``random --count 200000`` in its
place through random strings. Both print the differences in words and offsets that they find, how many there were for
each pipeline, and end with 1 if there was one.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import time
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from tokenizers import PreTokenizedString, Regex, normalizers, pre_tokenizers

from wordpiece_studio.text import normalizers as our_normalizers
from wordpiece_studio.text.character_tables import bert_tables, form_tables
from wordpiece_studio.text.normalizers import BertNormalizer, resolve_normalizer
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Words = list[tuple[str, int, int]]

SCALARS = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
_BATCH = 512
_MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Pair:
    """A pipeline and the library's two steps that should do the same; no normalizer is None."""

    name: str
    ours: Pipeline
    normalizer: Any
    pre_tokenizer: Any

    def our_words(self, text: str) -> Words:
        """Return our words with their offsets in code points."""
        return [(word.text, word.start, word.end) for word in self.ours.aligned_words(text)]

    def their_words(self, text: str) -> Words:
        """Return the library's."""
        pieces = PreTokenizedString(text)
        if self.normalizer is not None:
            pieces.normalize(self.normalizer.normalize)
        self.pre_tokenizer.pre_tokenize(pieces)
        return [(word, *offsets) for word, offsets, _ in pieces.get_splits("original", "char")]

    def difference(self, text: str) -> str | None:
        """Return what differs, if anything does."""
        ours, theirs = self.our_words(text), self.their_words(text)
        if ours == theirs and self.ours.words(text) == [word for word, _, _ in theirs]:
            return None
        return f"{self.name}: {text!a}: ours {ours!a}, theirs {theirs!a}"

    def readable(self, text: str) -> str:
        """Return a text without LF if the pipeline goes line by line, where the library goes on."""
        return text if self.ours.is_local else text.replace("\n", "")

    def alone(self, character: str) -> str | None:
        """Return what differs in a text of one character, if anything does; as `difference`, but sooner."""
        normalized = character if self.normalizer is None else self.normalizer.normalize_str(character)
        aligned = self.ours.normalizer.align(character)
        places = [0] * len(normalized), [1] * len(normalized)
        is_same = self.ours.normalizer.normalize(character) == aligned.text == normalized
        if is_same and (list(aligned.starts), list(aligned.ends)) == places and normalized == character:
            return None  # it is then left to the pre-tokenizer, which has its turn as a pair of its own
        return self.difference(character)


def bert_pairs() -> list[Pair]:
    """Return BERT's two steps in every combination of the four flags."""
    flags = product([True, False], [True, False], [None, True, False], [True, False])
    bert = resolve_pre_tokenizer("bert")
    return [
        Pair(
            f"BertNormalizer{setting} + bert",
            Pipeline(BertNormalizer(*setting), bert),
            normalizers.BertNormalizer(*setting),
            pre_tokenizers.BertPreTokenizer(),
        )
        for setting in flags
    ]


def other_pairs() -> list[Pair]:
    """Return all other normalizers with BERT's pre-tokenizer, and all other pre-tokenizers."""
    forms = {form.lower(): getattr(normalizers, form)() for form in ("NFC", "NFD", "NFKC", "NFKD")}
    lower, strip = normalizers.Lowercase(), normalizers.StripAccents()
    friendly = [
        normalizers.Sequence(
            [normalizers.NFC(), normalizers.BertNormalizer(True, is_isolating, strip_accents=False, lowercase=True)]
        )
        for is_isolating in (True, False)
    ]
    theirs = forms | {
        "lowercase": lower,
        "strip-accents": strip,
        "remove:a.é": normalizers.Replace(Regex("[a.é]"), ""),
        "language-friendly": friendly[0],
        "language-friendly:keep-chinese": friendly[1],
        "nfd+strip-accents+lowercase": normalizers.Sequence([forms["nfd"], strip, lower]),
        "nfkd+lowercase+nfc": normalizers.Sequence([forms["nfkd"], lower, forms["nfc"]]),
        "strip-accents+nfkc": normalizers.Sequence([strip, forms["nfkc"]]),
        "none": None,
    }
    splitters = {
        "bert": pre_tokenizers.BertPreTokenizer(),
        "punctuation": pre_tokenizers.Punctuation("isolated"),
        "whitespace": pre_tokenizers.Whitespace(),
        "whitespace-split": pre_tokenizers.WhitespaceSplit(),
        "whitespace-split+punctuation": pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()]
        ),
        "punctuation+whitespace": pre_tokenizers.Sequence([pre_tokenizers.Punctuation(), pre_tokenizers.Whitespace()]),
    }
    named = [(normalizer, "bert") for normalizer in theirs]
    named += [("none", splitter) for splitter in list(splitters)[1:]] + [
        ("nfkc", "punctuation"),
        ("nfkd", "whitespace"),
    ]
    return [
        Pair(
            f"{normalizer} + {splitter}",
            Pipeline(resolve_normalizer(normalizer), resolve_pre_tokenizer(splitter)),
            theirs[normalizer],
            splitters[splitter],
        )
        for normalizer, splitter in named
    ]


def code_point_differences(pair: Pair, characters: str = SCALARS) -> Iterator[str]:
    """Yield what differs for each character: alone, and in a text between letters and between blanks."""
    if pair.normalizer is None:
        yield from filter(None, map(pair.difference, pair.readable(characters)))
    else:
        yield from filter(None, map(pair.alone, pair.readable(characters)))
    # Many at once; where a batch differs each of its characters is looked at.
    for start in range(0, len(characters), _BATCH):
        batch = pair.readable(characters[start : start + _BATCH])
        texts = [f"{character}a {character} e" for character in batch]
        if pair.difference("".join(["e", *texts])):
            found = list(filter(None, (pair.difference(f"e{text}") for text in texts)))
            yield from found or [f"{pair.name}: {batch!a} together"]


def random_texts(count: int, seed: int) -> Iterator[str]:
    """Yield texts in which the hard characters are frequent.

    Marks, also in long runs, Hangul in jamo, what is composed or decomposes, compatibility characters, Chinese,
    punctuation, controls, emoji with joiners; and some texts in both of their forms.
    """
    rng = random.Random(seed)
    pools = _pools(rng)
    apart, together = normalizers.NFD(), normalizers.NFC()
    for number in range(count):
        pool = rng.choices(pools, k=3)
        text = "".join(rng.choice(rng.choice(pool)) for _ in range(rng.randrange(1, 16)))
        if number % 16 == 0:
            text += "".join(rng.choices(pools[0], k=rng.randrange(20, 60)))
        elif number % 8 == 1:
            text = apart.normalize_str(text) + rng.choice(" .e") + together.normalize_str(text)
        yield text


def _pools(rng: random.Random) -> list[Sequence[str]]:
    tables, forms = bert_tables(), form_tables()
    # Marks that Python's Unicode combines and the library's does not, and the other way round.
    newer = [chr(c) for c in (0x1ABF, 0x1AC5, 0x8CA, 0x9FE, 0xC3C, 0xD3B, 0x1715, 0x11938, 0x1734, 0x10EAB)]
    classes = (tables.removed, tables.to_space, tables.chinese, tables.marks, tables.punctuation, forms.word)
    bounds = [[chr(bound) for pair in members.ranges for bound in pair] for members in classes]
    jamo = [
        chr(c) for first, last in ((0x1100, 0x1113), (0x1160, 0x1176), (0x11A6, 0x11C4)) for c in range(first, last)
    ]
    syllables = [chr(rng.randrange(0xAC00, 0xD7A4)) for _ in range(200)]
    firsts, seconds = ([pair[place] for pair in forms.composites] for place in (0, 1))
    return [
        list(tables.combining), [*tables.combining, *seconds, *newer], jamo, [*jamo, *syllables], firsts,
        [*firsts, *seconds], [chr(c) for c in tables.decompositions], [chr(c) for c in forms.compatible],
        [chr(c) for c in tables.lower_case], *bounds, list("abcXYZ. ,-'’…"),
        list(" \t\n\r\x0b\x1c\x85\xa0\u2028\u3000"),
        ["\u200d", "\ufe0f", "👩", "👨‍👩‍👧", "🏳️‍🌈", "\U0001f3fd", "❤️‍🔥", "🇩🇪"], list("한국어가각 niñoΑΣÉé中文ひが"),
        rng.sample(SCALARS, 5000),
    ]  # fmt: skip


def random_differences(pair: Pair, texts: Iterable[str]) -> Iterator[str]:
    """Yield what differs."""
    return filter(None, map(pair.difference, map(pair.readable, texts)))


def main() -> int:
    """Compare, print, and return what the process ends with."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["code-points", "random"])
    parser.add_argument("--count", type=int, default=200_000, help="how many random strings")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    gc.disable()  # millions of small objects, and no cycles
    total, started = 0, time.monotonic()
    texts = list(random_texts(arguments.count, arguments.seed)) if arguments.what == "random" else []
    for pair in bert_pairs() + other_pairs():
        found = random_differences(pair, texts) if texts else code_point_differences(pair)
        differences = 0
        for difference in found:
            differences += 1
            if differences <= _MOST_SHOWN:
                _say(f"  {difference}")
        _say(f"{differences} differences: {pair.name}")
        total += differences
        our_normalizers._maps.cache_clear()  # of a million characters under each setting
    compared = f"{len(texts):,} random strings" if texts else f"{len(SCALARS):,} code points"
    _say(f"{total} differences over {compared}, {time.monotonic() - started:.0f} s")
    return int(total > 0)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
