from __future__ import annotations

import json
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.corpus_record import record_of_text
from wordpiece_studio.storage.exports import Exported, write_export
from wordpiece_studio.storage.manifest import (
    FORMAT,
    Origin,
    make_manifest,
    manifest_bytes,
    present_versions,
    read_manifest,
    side_manifest,
    vocabulary_digest,
)
from wordpiece_studio.storage.tokenizer_loading import load_tokenizer
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import TrainingRun, train

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.storage.manifest import Manifest

TEXT = "Die Katze, die Tatze; die Fratze."


def trained() -> TrainingRun:
    return train(count_texts([TEXT]), TrainingConfig(max_merges=5))


def manifest() -> Manifest:
    run = trained()
    origin = Origin(merges=5, corpus=record_of_text(TEXT, max_word_length=1000))
    normalizer, pre_tokenizer = run.counts.normalizer, run.counts.pre_tokenizer
    return make_manifest(
        run.vocabulary, normalizer, pre_tokenizer, config=run.config, counts=run.counts, origin=origin
    )  # fmt: skip


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
def test_foreign_manifests_are_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(json.loads(manifest_bytes(manifest())) | change))
    with pytest.raises(StudioError, match=message):
        read_manifest(tmp_path / "manifest.json")


def test_where_the_manifest_of_a_file_is(tmp_path: Path) -> None:
    assert side_manifest(tmp_path / "merges.tar.csv") == tmp_path / "merges.tar.csv.card.json"


def test_a_vocab_txt_that_stands_alone_is_read_as_its_manifest_says(tmp_path: Path) -> None:
    counts = count_texts([TEXT], "lowercase", "whitespace-split")
    run = train(counts, TrainingConfig(max_merges=5, special_tokens=("<unk>",)))
    write_export("vocabulary", Exported(counts, run.config, run.history, 5), tmp_path / "words.txt")
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
    with pytest.raises(StudioError, match="too many for a manifest"):
        read_manifest(tmp_path / "manifest.json")
