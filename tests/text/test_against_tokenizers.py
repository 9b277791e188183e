"""BERT's normalizer and pre-tokenizers against Hugging Face's own, character for character and offset for offset."""

from __future__ import annotations

import json
import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sampling import one_example_in
from wordpiece_studio.text.character_tables import bert_tables
from wordpiece_studio.text.huggingface_steps import pre_tokenizer_value
from wordpiece_studio.text.normalizers import BertNormalizer, Unchanged, resolve_normalizer
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.text.pre_tokenizers import BertPreTokenizer, WhitespaceSplit, resolve_pre_tokenizer

tokenizers = pytest.importorskip("tokenizers")
from tokenizers import Regex, normalizers, pre_tokenizers  # noqa: E402 (only if it is installed)

from tests.benchmarks.parity import Pair, other_pairs  # noqa: E402
from tests.benchmarks.parity import random_texts as parity_texts  # noqa: E402

CODE_POINTS = [code_point for code_point in range(0x110000) if not 0xD800 <= code_point <= 0xDFFF]
# In short texts with letters between them, so that a fault names its neighbourhood.
EVERY_CHARACTER = ["a".join(map(chr, CODE_POINTS[start : start + 512])) for start in range(0, len(CODE_POINTS), 512)]
# All where scripts have marks and cases, and some of the rest.
MANY_CHARACTERS = EVERY_CHARACTER[:24] + EVERY_CHARACTER[24::17]
SWEPT = pytest.mark.parametrize(
    "texts",
    [
        pytest.param(MANY_CHARACTERS, marks=pytest.mark.slow),
        pytest.param(EVERY_CHARACTER, marks=pytest.mark.exhaustive),
    ],
    ids=["many", "every"],
)
FLAGS = list(product([True, False], [True, False], [None, True, False], [True, False]))


def random_texts(count: int, seed: int) -> list[str]:
    """Return texts in which the hard characters are frequent: marks, white space, Chinese, Hangul, controls."""
    rng = random.Random(seed)
    tables = bert_tables()
    combining = list(tables.combining)
    # Marks that Python's Unicode combines and the library's does not, and the other way round.
    newer = [chr(c) for c in (0x1ABF, 0x1AC5, 0x8CA, 0x9FE, 0xC3C, 0xD3B, 0x1715, 0x11938, 0x1734, 0x10EAB)]
    classes = [tables.removed, tables.to_space, tables.chinese, tables.marks, tables.punctuation, tables.whitespace]
    pools = [[chr(bound) for pair in members.ranges for bound in pair] for members in classes]
    pools += [combining, combining, newer, [chr(c) for c in tables.decompositions], [chr(c) for c in tables.lower_case]]
    pools += [list("abc XYZ."), list("한국어가각")]
    pools.append([chr(code_point) for code_point in rng.sample(CODE_POINTS, 5000)])
    return ["".join(rng.choice(rng.choice(pools)) for _ in range(rng.randrange(1, 24))) for _ in range(count)]


def aligned(text: str, normalizer: object) -> tuple[str, list[int], list[int]]:
    """Return the library's normalized text with the original's start and end of every character."""
    pieces = tokenizers.PreTokenizedString(text)
    pieces.normalize(normalizer.normalize)
    pieces.split(lambda _, piece: piece.split(Regex("(?m:.)"), "isolated"))
    splits = pieces.get_splits("original", "char")
    return "".join(s[0] for s in splits), [s[1][0] for s in splits], [s[1][1] for s in splits]


@SWEPT
@pytest.mark.parametrize("flags", FLAGS)
def test_every_code_point_is_normalized_alike(texts: list[str], flags: tuple[bool, bool, bool | None, bool]) -> None:
    ours, theirs = BertNormalizer(*flags), normalizers.BertNormalizer(*flags)
    for text in texts:
        assert ours.normalize(text) == theirs.normalize_str(text)


@SWEPT
def test_every_code_point_is_split_alike(texts: list[str]) -> None:
    ours = [
        BertPreTokenizer(),
        WhitespaceSplit(),
        *map(resolve_pre_tokenizer, ("digits", "digits-single", "byte-level")),
    ]
    theirs = [pre_tokenizers.BertPreTokenizer(), pre_tokenizers.WhitespaceSplit()]
    theirs += [pre_tokenizers.Digits(), pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel()]
    for mine, other in zip(ours, theirs, strict=True):
        for text in texts:
            expected = [(word, start, end) for word, (start, end) in other.pre_tokenize_str(text)]
            assert [(span.text, span.start, span.end) for span in mine.spans(text)] == expected
            assert mine.split(text) == [word for word, _, _ in expected]


@pytest.mark.parametrize("flags", FLAGS)
def test_random_texts_are_normalized_and_aligned_alike(flags: tuple[bool, bool, bool | None, bool]) -> None:
    ours, theirs = BertNormalizer(*flags), normalizers.BertNormalizer(*flags)
    for text in random_texts(120, seed=FLAGS.index(flags)):
        expected, starts, ends = aligned(text, theirs)
        result = ours.align(text)
        assert ours.normalize(text) == result.text == expected
        assert (list(result.starts), list(result.ends)) == (starts, ends), ascii(text)


@pytest.mark.parametrize("pair", [pair for pair in other_pairs() if pair.normalizer], ids=lambda pair: pair.name)
def test_other_normalizers_align_every_character_alike(pair: Pair) -> None:
    for text in parity_texts(100, seed=3):
        result = pair.ours.normalizer.align(text)
        assert (result.text, list(result.starts), list(result.ends)) == aligned(text, pair.normalizer), ascii(text)


@pytest.mark.parametrize(
    "count", [pytest.param(1500, marks=pytest.mark.slow), pytest.param(10_000, marks=pytest.mark.exhaustive)]
)
@pytest.mark.parametrize("lowercase", [False, True])
def test_words_and_their_offsets_are_alike(lowercase: bool, count: int) -> None:
    pipeline = Pipeline(BertNormalizer(lowercase=lowercase), BertPreTokenizer())
    normalizer, splitter = normalizers.BertNormalizer(lowercase=lowercase), pre_tokenizers.BertPreTokenizer()
    for text in random_texts(count, seed=7):
        pieces = tokenizers.PreTokenizedString(text)
        pieces.normalize(normalizer.normalize)
        splitter.pre_tokenize(pieces)
        expected = [(word, *offsets) for word, offsets, _ in pieces.get_splits("original", "char")]
        words = pipeline.aligned_words(text)
        assert [(word.text, word.start, word.end) for word in words] == expected, ascii(text)
        assert pipeline.words(text) == [word for word, _, _ in expected]


PATTERN = r"\s|\p{P}+"
PARTS = (
    *[
        "a",
        "Z",
        "é",
        "e\u0301",
        "7",
        "12",
        "½",
        "Ⅳ",
        "٣",
        " ",
        "  ",
        "\t",
        "\n",
        "\r\n",
        "\xa0",
        "\u3000",
        "\x85",
        "\x1c",
        ".",
    ],
    *[
        "...",
        "—",
        "'s",
        "'LL",
        "n't",
        "_",
        "[",
        "中文",
        "が",
        "한",
        "ﬁ",
        "👍🏽",
        "\u200d",
        "\u0301",
        "\x00",
        "\ufeff",
        "𞗰",
        "㍿",
    ],
)
BEHAVIORS = ("removed", "isolated", "merged-with-previous", "merged-with-next", "contiguous")
NAMED = [
    *["digits", "digits-single", "byte-level", "byte-level:no-prefix", "byte-level:no-regex", "byte-level:bytes-only"],
    *["whitespace-split+digits", "bert+digits-single", "digits+byte-level", "punctuation+byte-level:no-regex"],
    *(f"split:{behavior}{invert}:{PATTERN}" for behavior in BEHAVIORS for invert in ("", ",invert")),
    *["split:isolated: ?[^\\s\\p{N}]+|\\p{N}+byte-level:no-regex", "split:removed:(?<=\\p{L})(?=\\p{N})+digits"],
]


@pytest.mark.parametrize("name", NAMED)
@one_example_in(4)
@given(text=st.lists(st.one_of(st.sampled_from(PARTS), st.characters(codec="utf-8")), max_size=15).map("".join))
def test_digits_splits_and_bytes_are_those_of_the_library(name: str, text: str) -> None:
    """As they are written to a file, after a normalizer that changes the text, with the line ends split off."""
    ours = Pipeline(resolve_normalizer("nfkc"), resolve_pre_tokenizer(name))
    theirs = tokenizers.Tokenizer(tokenizers.models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"))
    value = json.loads(theirs.to_str())
    value["normalizer"], value["pre_tokenizer"] = {"type": "NFKC"}, pre_tokenizer_value(ours.pre_tokenizer, Unchanged())
    theirs = tokenizers.Tokenizer.from_str(json.dumps(value))
    pieces = tokenizers.PreTokenizedString(text)
    pieces.normalize(theirs.normalizer.normalize)
    theirs.pre_tokenizer.pre_tokenize(pieces)
    expected = [(word, *offsets) for word, offsets, _ in pieces.get_splits("original", "char")]
    assert [(word.text, word.start, word.end) for word in ours.aligned_words(text)] == expected
    assert ours.words(text) == [word for word, _, _ in expected]
