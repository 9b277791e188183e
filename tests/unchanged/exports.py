"""The bytes of every file that the library writes, over the sweep of settings."""

from __future__ import annotations

import itertools
import random
import shutil
from typing import TYPE_CHECKING, Any

import wordpiece_studio as wps
from tests.unchanged import corpora
from tests.unchanged.files import contents_of_folder, places
from tests.unchanged.records import normalised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.unchanged.records import Records

NORMALIZERS = (
    *(
        wps.BertNormalizer(*flags).name
        for flags in itertools.product([True, False], [True, False], [None, True, False], [True, False])
    ),
    "none", "language-friendly", "language-friendly:keep-chinese", "nfc", "nfd", "nfkc", "nfkd", "lowercase",
    "strip-accents", "nfd+strip-accents+lowercase", "nfkc+bert-uncased:keep-accents", "bert-cased+remove:aé.[-]^\\",
    "remove:\n b", "remove: #$&*~+nfc", "corpus:lowercase",
)  # fmt: skip
PRE_TOKENIZERS = (
    "bert", "whitespace", "whitespace-split", "punctuation", "unicode-punctuation", "whitespace-split+punctuation",
    "punctuation+whitespace", "digits", "bert+digits-single", "byte-level", "bert+byte-level:no-prefix",
    r"split:merged-with-next:\s+|(?i:the)", r"split:isolated:\p{N}{1,3}| ?\p{L}+|\s+(?!\S)+byte-level:bytes-only",
    r"split:removed,invert:\b\w+", "pattern:[a-z]+",
)  # fmt: skip
_USUAL = [("bert-cased", "bert"), ("bert-uncased", "whitespace-split"), ("none", "byte-level"), ("nfc", "punctuation")]
_UNUSUAL: tuple[dict[str, Any], ...] = (
    {"continuing_subword_prefix": ""}, {"continuing_subword_prefix": "@@"}, {"tie": "ids", "min_frequency": 3},
    {"special_tokens": ("[MASK]", "[SEP]", "[CLS]", "[UNK]", "[PAD]")}, {"special_tokens": ()},
    {"special_tokens": ("<unk>", "<s>", "</s>", "<pad>", "<mask>")}, {"alphabet": "huggingface"},
    {"user_tokens": ("the", "C++")}, {"alphabet_limit": 40, "alphabet_overflow": "remove"},
    {"continuing_subword_prefix": "", "end_of_word_suffix": "</w>", "end_of_word": "attached"},
)  # fmt: skip
_MERGES = 150
_ODD = (
    "Ünïcödé ﬁne ½ ① Ａｂｃ ß ẞ İı", "中文 日本語テキスト 한국어", "שָׁלוֹם مَرْحَبًا", "👩‍👩‍👧‍👦 👍🏽 ❤️",
    "tab\there  two   blanks",
    "don't stop—won't; (yes) [no] {maybe} 3.14 1,000", "a\u200bb\u00adc\ufeffd", "x" * 120, "C++ and C#, the THE The",
    "",
)  # fmt: skip


def lines() -> list[str]:
    """Return what is trained on: invented words, hostile ones, and numbers."""
    rng = random.Random(3)
    texts = [line for text in corpora.texts().values() for line in text.splitlines()]
    numbers = [" ".join(str(rng.randrange(10 ** rng.randint(1, 5))) for _ in range(8)) for _ in range(20)]
    return [*texts, *_ODD, *numbers, *_ODD]


def record(folder: Path) -> Records:
    """Record the hashes of what is written for every pipeline with every objective, and for unusual settings."""
    texts = lines()
    records: Records = {}
    for normalizer, pre_tokenizer in itertools.product(NORMALIZERS, PRE_TOKENIZERS):
        name = f"{normalizer!a} with {pre_tokenizer!a}"
        try:
            counts = wps.count_texts(texts, normalizer, pre_tokenizer, max_word_length=100)
        except wps.StudioError as error:
            records[name] = f"error: {error}"
            continue
        for objective in corpora.OBJECTIVES:
            config = wps.TrainingConfig(objective=objective, max_merges=_MERGES)
            files = _written(counts, config, folder / "out", (normalizer, pre_tokenizer), every_form=False)
            records[f"{name}, {objective}"] = files
    for (normalizer, pre_tokenizer), objective, extra in itertools.product(_USUAL, corpora.OBJECTIVES, _UNUSUAL):
        counts = wps.count_texts(texts, normalizer, pre_tokenizer, user_tokens=extra.get("user_tokens", ()))
        name = f"{normalizer!a} with {pre_tokenizer!a}, {objective}, {extra}"
        try:
            config = wps.TrainingConfig(objective=objective, max_merges=_MERGES, **extra)
        except wps.StudioError as error:
            records[name] = f"error: {error}"
            continue
        records[name] = _written(counts, config, folder / "out", (normalizer, pre_tokenizer), every_form=True)
    return records


def _written(counts: Any, config: Any, folder: Path, pipeline: tuple[str, str], *, every_form: bool) -> dict[str, str]:
    """Train, write every form that is possible, and return what the files contain and why others cannot be written."""
    try:
        run = wps.train(counts, config)
    except wps.StudioError as error:
        return {"training": f"error: {error}"}
    found: dict[str, str] = {}
    for form, write in _forms(run, counts, config, pipeline, every_form):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            write(folder)
        except wps.StudioError as error:
            found[form] = f"error: {normalised(str(error), places(folder))}"
        found |= {f"{form}: {name}": text for name, text in contents_of_folder(folder).items()}
    return found


def _forms(
    run: Any, counts: Any, config: Any, pipeline: tuple[str, str], every_form: bool
) -> Iterator[tuple[str, Callable[[Path], object]]]:
    def saved(vocabulary: Any, only: Any = None) -> Callable[[Path], object]:
        return lambda folder: wps.save_directory(
            folder, vocabulary, counts.normalizer, counts.pre_tokenizer, config=config, counts=counts,
            only=only,
        )  # fmt: skip

    yield "all", saved(run.vocabulary)
    yield "vocab.txt alone", saved(run.vocabulary, "vocab.txt")
    yield "tokenizer.json alone", saved(run.vocabulary, "tokenizer.json")
    if config.objective == "count":
        yield "byte pair encoding", lambda folder: wps.write_bpe_files(folder, run.history)
    yield "ids", lambda folder: (folder / "ids.npy").write_bytes(_ids(run.tokenizer()))
    if not every_form:
        return
    yield "a step in between", saved(run.history.vocabulary(len(run.history) // 2))
    yield "vocabulary", lambda folder: wps.write_vocabulary(folder / "vocab.txt", run.vocabulary.tokens)
    for suffix in ("tsv", "csv", "parquet"):
        yield (
            f"words as {suffix}",
            lambda folder, suffix=suffix: wps.write_word_counts(folder / f"words.{suffix}", counts),
        )
    yield "encodings", lambda folder: (folder / "encodings.txt").write_text(_encodings(run.tokenizer()), "utf-8")


def _ids(tokenizer: Any) -> bytes:
    encoded = wps.encode_texts(tokenizer, _ODD)
    return bytes(encoded.ids.tobytes()) + bytes(encoded.offsets.tobytes())


def _encodings(tokenizer: Any) -> str:
    encodings = [tokenizer.encode(text) for text in _ODD]
    return "\n".join(f"{each.ids} {each.tokens!a} {each.offsets}" for each in encodings)
