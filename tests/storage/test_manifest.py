from __future__ import annotations

import itertools
import json
import os
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.corpus_record import record_of_text
from wordpiece_studio.storage.exports import Export, Exported
from wordpiece_studio.storage.manifest import (
    FORMAT,
    MANIFEST_FILE,
    make_manifest,
    manifest_bytes,
    present_versions,
    read_manifest,
    side_manifest,
    vocabulary_digest,
)
from wordpiece_studio.storage.tokenizer_loading import load_tokenizer
from wordpiece_studio.system import atomic_write
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import Vocabulary
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import TrainingRun, train

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wordpiece_studio.storage.manifest import Manifest

TEXT = "Die Katze, die Tatze; die Fratze."


def trained() -> TrainingRun:
    return train(count_texts([TEXT]), TrainingConfig(max_merges=5))


def manifest() -> Manifest:
    run = trained()
    record = record_of_text(TEXT, max_word_length=1000)
    tokenizer = Tokenizer(run.vocabulary, run.counts.normalizer, run.counts.pre_tokenizer)
    return make_manifest(tokenizer, config=run.config, counts=run.counts, record=record, merges=5)


def test_a_manifest_says_all_that_is_needed_to_reproduce_the_vocabulary(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_bytes(manifest_bytes(manifest()))
    read = read_manifest(path)
    assert manifest_bytes(read) == manifest_bytes(manifest())
    run = trained()
    assert read.vocabulary_sha256 == vocabulary_digest(run.vocabulary.tokens)
    assert read.corpus is not None
    assert read.corpus.word_counts_sha256 == run.counts.digest()
    assert (read.merges, read.training, read.versions) == (5, run.config.to_dict(), present_versions())
    assert {"wordpiece-studio", "python", "numpy", "numba", "platform"} <= set(read.versions)


def test_a_manifest_of_the_first_format_is_read(tmp_path: Path) -> None:
    values = json.loads(manifest_bytes(manifest()))
    new = ("kind", "files", "merges", "parts", "max_word_length")
    old = {name: value for name, value in values.items() if name not in new} | {"format": 1}
    names = ("distinct_words", "words", "word_counts_sha256", "statistics")
    old["corpus"] = {name: values["corpus"][name] for name in names}
    (tmp_path / "manifest.json").write_text(json.dumps(old))
    read = read_manifest(tmp_path / "manifest.json")
    assert read.corpus is not None
    assert (read.merges, read.corpus.sha256, read.corpus.sha256_missing) == (
        None,
        None,
        "only the word counts are known",
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": FORMAT + 1, "new": {"a": 1}}, r"was written by wordpiece-studio .*Install a newer version"),
        ({"format": 0}, "is damaged: there is no format 0"),
        ({"merges": "5"}, "is damaged"),
        ({"corpus": {"files": [{"path": "a", "kind": "exe"}]}}, "is damaged"),
        ({"unknown": 1}, "is damaged"),
        ({"training": {"special_tokens": [[]]}}, "is damaged"),
        ({"normalizer": {"type": "x" * (1 << 20)}}, "is too large"),
    ],
)
def test_other_manifests_are_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(json.loads(manifest_bytes(manifest())) | change))
    with pytest.raises(StudioError, match=message):
        read_manifest(tmp_path / "manifest.json")


def test_where_the_manifest_of_a_file_is(tmp_path: Path) -> None:
    assert side_manifest(tmp_path / "merges.tar.csv") == tmp_path / "merges.tar.csv.card.json"


def test_a_vocab_txt_that_stands_alone_is_read_as_its_manifest_says(tmp_path: Path) -> None:
    counts = count_texts([TEXT], "lowercase", "whitespace-split")
    run = train(counts, TrainingConfig(max_merges=5, special_tokens=("<unk>",)))
    Export("vocabulary", tmp_path / "words.txt").write(Exported(counts, run.config, run.history, 5))
    tokenizer = load_tokenizer(tmp_path / "words.txt")
    assert (tokenizer.normalizer.name, tokenizer.pre_tokenizer.name) == ("lowercase", "whitespace-split")
    assert tokenizer.vocabulary.special_tokens == ("<unk>",)


@pytest.mark.parametrize("field", ["normalizer", "pre_tokenizer", "training"])
def test_a_manifest_that_is_made_to_fill_the_memory_is_refused_at_once(tmp_path: Path, field: str) -> None:
    values = json.loads(manifest_bytes(manifest())) | {field: {"a": "HERE"}}
    data = json.dumps(values).encode().replace(b'"HERE"', b"[" + b"[]," * (3 << 20) + b"[]]")
    (tmp_path / "manifest.json").write_bytes(data)
    tracemalloc.start()
    try:
        with pytest.raises(StudioError, match="is damaged"):
            read_manifest(tmp_path / "manifest.json")
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()


def test_a_manifest_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes(manifest_bytes(manifest()) + b" " * (12 << 20))
    with pytest.raises(StudioError, match="too large for a manifest"):
        read_manifest(tmp_path / "manifest.json")


# Complete files from two different saves: every reader notices, whichever file is from which save.

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
VOCABULARY = Vocabulary([*SPECIAL, "a", "##b", "ab", "é"], SPECIAL)
Contents = dict[str, bytes]


def saved(folder: Path, normalizer: str, longest: int = 100) -> Contents:
    Tokenizer(VOCABULARY, normalizer, max_word_length=longest).save(folder)
    return contents(folder)


def contents(folder: Path) -> Contents:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def fill(folder: Path, files: Contents) -> None:
    for path in folder.iterdir():
        path.unlink()
    for name, data in files.items():
        (folder / name).write_bytes(data)


def mixtures(one: Contents, other: Contents) -> Iterator[Contents]:
    """Yield every mixture of two saves that is neither of them."""
    for choice in itertools.product((one, other), repeat=len(one)):
        mixture = {name: source[name] for name, source in zip(one, choice, strict=True)}
        if mixture not in (one, other):
            yield mixture


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("bert-cased", 100), ("bert-uncased", 100)),  # all files of the same names, classes and tokens
        (("bert-cased", 100), ("language-friendly", 100)),
        (("none", 100), ("none", 99)),  # which only two files tell
    ],
)
def test_same_tokens_with_other_settings(tmp_path: Path, one: tuple[str, int], other: tuple[str, int]) -> None:
    both = saved(tmp_path / "one", *one), saved(tmp_path / "other", *other)
    for whole in both:
        fill(tmp_path / "one", whole)
        load_tokenizer(tmp_path / "one")
    told = 0
    for mixture in mixtures(*both):
        fill(tmp_path / "one", mixture)
        with pytest.raises(StudioError):
            load_tokenizer(tmp_path / "one")
        told += 1
    assert told >= 2


def test_a_first_save_that_was_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put: list[str] = []
    genuine = os.replace

    def note(source: str, target: Path) -> None:
        put.append(target.name)
        genuine(source, target)

    monkeypatch.setattr(atomic_write.os, "replace", note)
    files = saved(tmp_path, "none")
    assert put[0] == MANIFEST_FILE
    for number in range(1, len(put)):
        fill(tmp_path, {name: files[name] for name in put[:number]})
        with pytest.raises(StudioError, match=r"There is no tokenizer in|is missing; it was written together with"):
            load_tokenizer(tmp_path)
    fill(tmp_path, files)
    assert load_tokenizer(tmp_path).normalizer.name == "none"


def test_byte_pair_encoding_of_two_trainings(tmp_path: Path) -> None:
    both = []
    for number, text in enumerate(["hug hug pug pug hugs", "hug hug pug pug pugs"]):
        counts = count_texts([text], "none", "whitespace-split")
        run = train(counts, TrainingConfig(objective="count", continuing_subword_prefix="", max_merges=3))
        Export("bpe", tmp_path / str(number)).write(Exported(counts, run.config, run.history, 3 - number))
        both.append(contents(tmp_path / str(number)))
    told = 0
    for mixture in mixtures(*both):
        fill(tmp_path / "0", mixture)
        for place in (tmp_path / "0", tmp_path / "0" / "vocab.json"):
            with pytest.raises(StudioError):
                load_tokenizer(place)
            told += 1
    assert told == 112
    merges = both[0]["merges.txt"].decode().splitlines()
    swapped = "".join(f"{line}\n" for line in (merges[0], merges[1], merges[3], merges[2]))
    fill(tmp_path / "0", both[0] | {"merges.txt": swapped.encode()})
    with pytest.raises(StudioError, match=r"merges\.txt .*move wordpiece-studio\.json away"):
        load_tokenizer(tmp_path / "0")


def test_a_file_that_was_changed_on_purpose_can_be_named(tmp_path: Path) -> None:
    saved(tmp_path, "none")
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_bytes())), encoding="utf-8")  # as another program writes it
    for place in (tmp_path, tmp_path / MANIFEST_FILE):
        with pytest.raises(
            StudioError, match=r"tokenizer\.json is not the file that was written together.*specify the file to read"
        ):
            load_tokenizer(place)
    assert load_tokenizer(path).normalizer.name == load_tokenizer(tmp_path / "vocab.txt").normalizer.name == "none"


def test_line_ends_that_a_tool_changed_are_no_change(tmp_path: Path) -> None:
    files = saved(tmp_path, "lowercase")
    fill(tmp_path, {name: data.replace(b"\n", b"\r\n") for name, data in files.items()})
    assert load_tokenizer(tmp_path).normalizer.name == "lowercase"


def test_only_files_of_the_format_are_looked_at(tmp_path: Path) -> None:
    files = saved(tmp_path, "none")
    manifest = json.loads(files[MANIFEST_FILE])
    for name in ("../secret", "/etc/passwd", "notes.txt", "\0"):
        (tmp_path / MANIFEST_FILE).write_text(
            json.dumps(manifest | {"file_sha256": manifest["file_sha256"] | {name: "0" * 64}})
        )
        assert load_tokenizer(tmp_path).normalizer.name == "none"


def test_a_vocabulary_whose_manifest_is_of_another_one_needs_its_pipeline_named(tmp_path: Path) -> None:
    counts = count_texts(["hug pug"], "lowercase", "whitespace-split")
    run = train(counts)
    Export("vocabulary", tmp_path / "words.txt").write(Exported(counts, run.config, run.history, 1))
    assert load_tokenizer(tmp_path / "words.txt").normalizer.name == "lowercase"
    (tmp_path / "words.txt").write_text("[UNK]\nhug\n")
    for steps in ((None, None), ("none", None)):
        with pytest.raises(
            StudioError, match=r"a different vocabulary than the words\.txt next to it.*specify words\.txt"
        ):
            load_tokenizer(tmp_path / "words.txt", *steps)
    assert load_tokenizer(tmp_path / "words.txt", "none", "whitespace").normalizer.name == "none"
