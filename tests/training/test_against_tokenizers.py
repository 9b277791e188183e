"""The count objective against Hugging Face's trainers: the same vocabulary, token for token and in the same order.

Their trainers number the decorated symbols (``##c``, ``c</w>``) in the order of a randomly seeded hash map and break
ties by these numbers, so that two runs differ and a plain comparison means nothing. Two comparisons mean something:

* *replay*: train theirs once, and ours in the order that its vocabulary shows, see `TrainingConfig.replaying`;
* *pin*: number the decorated symbols beforehand, by naming them all as special tokens, for both.

Neither is asked where a word contains the prefix or the suffix or spells out a special token: theirs then miscounts.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import wordpiece_studio as wps
from wordpiece_studio.resources import resource_path

tokenizers = pytest.importorskip("tokenizers")
from tokenizers import models, normalizers, pre_tokenizers, trainers  # noqa: E402 (only if it is installed)

if TYPE_CHECKING:
    from collections.abc import Callable

Pairs = list[tuple[str, int]]
Library = tuple[list[str], list[tuple[str, str]]]
"""What theirs learned: tokens in id order, and merges (none for WordPiece, which throws them away)."""

SAMPLES = [resource_path(f"samples/{name}.txt") for name in ("chinese", "course-en", "hug", "korean", "spanish")]
CORPORA = Path(__file__).parents[3] / "shared" / "corpora"
COURSES = sorted(CORPORA.glob("course-*.txt")) if CORPORA.is_dir() else []
FEW = {"course-es", "course-ko"}
EACH_COURSE = pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.slow if path.stem in FEW else pytest.mark.exhaustive) for path in COURSES],
    ids=lambda path: path.stem,
)
SIZES = [1000, 4000, 8000]
COUNT = wps.TrainingConfig(
    objective="count", tie="ids", alphabet="huggingface", alphabet_overflow="remove", end_of_word="attached"
)
LIBRARIES = {"WordPiece": (models.WordPiece, trainers.WordPieceTrainer), "BPE": (models.BPE, trainers.BpeTrainer)}
BYTE_PAIRS = [("", None), ("", "</w>"), ("##", None), ("##", "</w>")]  # prefix and suffix

words = st.text(alphabet="ab", min_size=1, max_size=9) | st.text(alphabet="abcdé😀한", min_size=1, max_size=8)
runs = st.builds(str.__mul__, st.sampled_from("ab"), st.integers(1, 12)) | st.sampled_from(["abababa", "babab", "aabb"])
corpora = st.lists(
    st.tuples(words | runs, st.sampled_from([1, 1, 2, 3, 7, 40])),
    min_size=1,
    max_size=14,
    unique_by=lambda pair: pair[0],
)
configs = st.builds(
    dataclasses.replace,
    st.just(COUNT),
    min_frequency=st.sampled_from([0, 0, 1, 2, 5]),
    special_tokens=st.sampled_from([(), ("[UNK]",), ("[PAD]", "[UNK]", "[CLS]")]),
    initial_alphabet=st.sampled_from([(), (), ("b", "z"), ("é", "a", "字")]),
    alphabet_limit=st.sampled_from([None, None, 2, 3, 5]),
)
growths = st.integers(0, 30)  # vocabulary size above the alphabet
scales = st.sampled_from([1, 1, 2**31, 2**40])  # factors for our counts: theirs would wrap


def is_well_defined(pairs: Pairs, config: Any) -> bool:
    """Return whether theirs has one answer: no ambiguous spellings in the words, and no tie at the alphabet limit.

    Limits that leave no word are excluded too: an error here, an alphabet without merges there.
    """
    marks = (config.continuing_subword_prefix, config.end_of_word_suffix, *config.special_tokens)
    if any(mark in word for word, _ in pairs for mark in marks if mark):
        return False
    counts: dict[str, float] = {}
    for word, weight in pairs:
        for character in word:
            counts[character] = counts.get(character, 0) + weight
    counts |= dict.fromkeys(config.initial_alphabet, float("inf"))
    ranked = sorted(counts, key=counts.__getitem__, reverse=True)
    limit = config.alphabet_limit or len(ranked)
    kept, dropped = ranked[:limit], ranked[limit:]
    if dropped and counts[kept[-1]] == counts[dropped[0]]:
        return False
    return any(character in word for word, _ in pairs for character in kept)


def trained_library(model: str, config: Any, feed: Callable[[Any, Any], None]) -> Library:
    """Train theirs with the settings of ours."""
    theirs: dict[str, Any] = {
        "vocab_size": config.vocab_size,
        "min_frequency": config.min_frequency,
        "special_tokens": list(config.special_tokens),
        "limit_alphabet": config.alphabet_limit,
        "initial_alphabet": list(config.initial_alphabet),
        "end_of_word_suffix": config.end_of_word_suffix,
        "continuing_subword_prefix": config.continuing_subword_prefix,
    }
    theirs = {name: value for name, value in theirs.items() if value is not None}
    make_model, make_trainer = LIBRARIES[model]
    library = tokenizers.Tokenizer(make_model())
    feed(library, make_trainer(show_progress=False, **theirs))
    ids = library.get_vocab()
    merges = json.loads(library.to_str())["model"].get("merges", [])
    return sorted(ids, key=ids.__getitem__), [(left, right) for left, right in merges]


def pinned(pairs: Pairs, config: Any) -> Any:
    """Return the settings with every decorated symbol as a special token, unused ones included."""
    prefix, suffix = config.continuing_subword_prefix, config.end_of_word_suffix or ""
    characters = sorted({character for word, _ in pairs for character in word}, reverse=True)
    forms = dict.fromkeys([(prefix, ""), ("", suffix), (prefix, suffix)])
    tokens = [before + character + after for before, after in forms if before + after for character in characters]
    return dataclasses.replace(config, special_tokens=(*config.special_tokens, *tokens))


def assert_same(pairs: Pairs, config: Any, model: str, library: Library, engines: tuple[Any, ...]) -> None:
    """Compare; the message of a difference has all that reproduces it, even the order that theirs took by chance."""
    tokens, merges = library
    for engine in engines:
        trainer = wps.Trainer(wps.WordCounts.from_pairs(pairs), config, engine=engine)
        trainer.run()
        found: list[Any] = trainer.vocabulary.tokens
        expected: list[Any] = tokens
        if found == expected and model == "BPE":
            found, expected = [(merge.left, merge.right) for merge in trainer.history], merges
        if found != expected:
            both = enumerate(itertools.zip_longest(found, expected))
            index, (ours, theirs) = next((index, both) for index, both in both if both[0] != both[1])
            shown = pairs if len(pairs) < 100 else f"{len(pairs):,} words"
            pytest.fail(f"{engine}, entry {index}: ours {ours!r}, theirs {theirs!r}; {shown}, {config}", pytrace=False)


def compare_words(pairs: Pairs, config: Any, growth: int, scale: int, model: str) -> None:
    """Compare in both ways, with all our counts `scale` times theirs."""
    assume(is_well_defined(pairs, config))
    many = [(word, weight * scale) for word, weight in pairs]

    def show(library: Any, trainer: Any) -> None:
        library.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        library.train_from_iterator([" ".join([word] * weight) for word, weight in pairs], trainer)

    for base in (config, pinned(pairs, config)):
        smallest = wps.minimum_vocab_size(wps.WordCounts.from_pairs(pairs), base)
        asked = dataclasses.replace(base, vocab_size=smallest + growth)
        library = trained_library(model, asked, show)
        asked = asked.replaying(library[0]) if base is config else asked
        asked = dataclasses.replace(asked, min_frequency=asked.min_frequency * scale)
        assert_same(many, asked, model, library, ("plain", "compiled"))


def compare_file(path: Path, config: Any, model: str, engines: tuple[Any, ...]) -> None:
    """Compare in both ways on a file, which theirs reads, normalizes and splits by itself."""
    counts = wps.count_words([path], "bert-uncased")
    pairs = counts.items()
    assert is_well_defined(pairs, config)

    def show(library: Any, trainer: Any) -> None:
        library.normalizer, library.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
        library.train([str(path)], trainer)

    for asked in (config, pinned(pairs, config)):
        smallest = wps.minimum_vocab_size(counts, dataclasses.replace(asked, vocab_size=None))
        if config.vocab_size < smallest:
            pytest.skip(f"the alphabet alone has {smallest:,} tokens")
        library = trained_library(model, asked, show)
        assert_same(pairs, asked.replaying(library[0]) if asked is config else asked, model, library, engines)


@settings(max_examples=40)
@given(corpora, configs, growths, scales)
def test_wordpiece(pairs: Pairs, config: Any, growth: int, scale: int) -> None:
    compare_words(pairs, config, growth, scale, "WordPiece")


@pytest.mark.slow
@settings(max_examples=60)
@given(corpora, configs, growths, scales, st.sampled_from(BYTE_PAIRS))
def test_byte_pair_encoding(pairs: Pairs, config: Any, growth: int, scale: int, marks: tuple[str, str | None]) -> None:
    prefix, suffix = marks
    config = dataclasses.replace(config, continuing_subword_prefix=prefix, end_of_word_suffix=suffix)
    compare_words(pairs, config, growth, scale, "BPE")


@pytest.mark.exhaustive
@settings(max_examples=1000)
@given(
    corpora, configs, growths, scales, st.sampled_from([("WordPiece", "##", None), *(("BPE", *m) for m in BYTE_PAIRS)])
)
def test_many_corpora(pairs: Pairs, config: Any, growth: int, scale: int, kind: tuple[str, str, str | None]) -> None:
    model, prefix, suffix = kind
    config = dataclasses.replace(config, continuing_subword_prefix=prefix, end_of_word_suffix=suffix)
    compare_words(pairs, config, growth, scale, model)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples(path: Path) -> None:
    compare_file(path, dataclasses.replace(COUNT, vocab_size=400), "WordPiece", ("plain", "compiled"))
    byte_pairs = dataclasses.replace(COUNT, vocab_size=400, continuing_subword_prefix="", end_of_word_suffix="</w>")
    compare_file(path, byte_pairs, "BPE", ("plain", "compiled"))


@pytest.mark.parametrize("size", SIZES)
@EACH_COURSE
def test_courses(path: Path, size: int) -> None:
    compare_file(path, dataclasses.replace(COUNT, vocab_size=size, min_frequency=2), "WordPiece", ("compiled",))


@pytest.mark.parametrize("marks", BYTE_PAIRS, ids=str)
@EACH_COURSE
def test_courses_in_byte_pairs(path: Path, marks: tuple[str, str | None]) -> None:
    config = dataclasses.replace(COUNT, continuing_subword_prefix=marks[0], end_of_word_suffix=marks[1])
    compare_file(path, dataclasses.replace(config, vocab_size=8000), "BPE", ("compiled",))


@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_counts_beyond_32_bits(engine: Any) -> None:
    # Theirs would see -2**31 for (a, ##b), and never merge it.
    counts = wps.WordCounts.from_pairs([("ab", 2**31), ("cd", 2**30), ("abab", 2**59)])
    trainer = wps.Trainer(counts, dataclasses.replace(COUNT, special_tokens=()), engine=engine)
    trainer.run()
    assert [(merge.token, merge.pair_frequency) for merge in trainer.history] == [
        ("ab", 2**59 + 2**31),
        ("##ab", 2**59),
        ("abab", 2**59),
        ("cd", 2**30),
    ]
    assert trainer.history[0].symbols_before == 4 * 2**59 + 2 * (2**31 + 2**30)
