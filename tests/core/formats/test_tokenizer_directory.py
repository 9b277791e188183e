from __future__ import annotations

import errno
import json
import os
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.core.corpus.counting.counting import count_texts
from wordpiece_studio.core.formats.card import CARD_FILE
from wordpiece_studio.core.formats.tokenizer_directory import load_tokenizer, save_directory
from wordpiece_studio.core.text.normalizers import Unchanged
from wordpiece_studio.core.text.pre_tokenizers import WhitespaceSplit
from wordpiece_studio.core.training.config import TrainingConfig
from wordpiece_studio.core.training.trainer import train
from wordpiece_studio.core.vocabulary import Vocabulary
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "Die Katze, die Tatze; die Fratze."
CONFIG = TrainingConfig(max_merges=5)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    counts = count_texts([TEXT], "lowercase+remove:,.", "unicode-punctuation")
    run = train(counts, CONFIG)
    path = tmp_path / "a" / "out"
    save_directory(path, run.vocabulary, counts.normalizer, counts.pre_tokenizer, config=run.config, counts=counts)
    return path


def change(folder: Path, **values: object) -> None:
    path = folder / CARD_FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_a_folder_tokenizes_as_the_corpus_was_read(folder: Path) -> None:
    tokenizer = load_tokenizer(folder)
    assert tokenizer.normalizer.name == "lowercase+remove:,."
    assert tokenizer.pre_tokenizer.name == "unicode-punctuation"
    assert "[UNK]" not in tokenizer.encode(TEXT).tokens
    assert tokenizer.encode(TEXT) == load_tokenizer(folder / "vocab.txt").encode(TEXT)
    assert sorted(path.name for path in folder.iterdir()) == ["vocab.txt", CARD_FILE]


def test_the_settings_tell_how_it_was_made(folder: Path) -> None:
    settings = json.loads((folder / CARD_FILE).read_text())
    assert TrainingConfig.from_dict(settings["training"]) == CONFIG
    assert (
        settings["corpus"]["word_counts_sha256"]
        == count_texts([TEXT], "lowercase+remove:,.", "unicode-punctuation").digest()
    )
    assert settings["corpus"]["statistics"]["characters"] == len(TEXT)


def test_what_is_named_goes_before_the_settings(folder: Path) -> None:
    tokenizer = load_tokenizer(folder, "none", "whitespace-split")
    assert (tokenizer.normalizer.name, tokenizer.pre_tokenizer.name) == ("none", "whitespace-split")


def test_a_vocabulary_alone_is_read_as_cased_bert_reads_it(folder: Path, tmp_path: Path) -> None:
    alone = tmp_path / "vocab.txt"
    alone.write_bytes((folder / "vocab.txt").read_bytes())
    tokenizer = load_tokenizer(alone)
    assert (tokenizer.normalizer.name, tokenizer.pre_tokenizer.name) == ("bert-cased", "bert")
    assert tokenizer.vocabulary.special_tokens == ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def test_settings_of_another_vocabulary_are_not_used(folder: Path) -> None:
    with (folder / "vocab.txt").open("a") as file:
        file.write("more\n")
    with pytest.raises(StudioError, match="belongs to another vocabulary"):
        load_tokenizer(folder)
    assert load_tokenizer(folder / "vocab.txt").normalizer.name == "bert-cased"


def test_line_ends_that_a_tool_changed_do_not_matter(folder: Path) -> None:
    path = folder / "vocab.txt"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert load_tokenizer(folder).normalizer.name == "lowercase+remove:,."


@pytest.mark.parametrize(
    "values",
    [
        {"format": 2},
        {"format": "1"},
        {"surprise": 1},
        {"special_tokens": [1]},
        {"normalizer": {"type": "x"}},
        {"pre_tokenizer": []},
        {"unk_token": None},
    ],
)
def test_settings_that_are_not_ours_are_refused(folder: Path, values: dict[str, object]) -> None:
    change(folder, **values)
    with pytest.raises(StudioError):
        load_tokenizer(folder)


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'{"format":1,"format":1}'])
def test_damaged_settings_are_named(folder: Path, data: bytes) -> None:
    (folder / CARD_FILE).write_bytes(data)
    with pytest.raises(StudioError, match=r"wordpiece-studio\.json is damaged"):
        load_tokenizer(folder)


@pytest.mark.parametrize("name", ["link", "replace", "fsync", "open", "fchmod"])
@pytest.mark.parametrize("call", [1, 2, 3])
def test_a_save_that_fails_at_any_point_changes_neither_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, call: int
) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    genuine = getattr(os, name)
    calls = 0

    def fail(*arguments: object, **options: object) -> object:
        nonlocal calls
        calls += 1
        if calls == call:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return genuine(*arguments, **options)

    monkeypatch.setattr(os, name, fail)
    counts = count_texts(["another text"])
    told = ""
    try:
        save_directory(folder, train(counts).vocabulary, counts.normalizer, counts.pre_tokenizer)
    except StudioError as error:
        told = str(error)
    if told:
        assert "What was there before is unchanged" in told
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    else:
        assert (name, calls) in {("link", 1), ("replace", 2), ("fsync", 3), ("open", 3), ("fchmod", 2)}
        assert sorted(path.name for path in folder.iterdir()) == sorted(before)
        assert load_tokenizer(folder).normalizer.name == "bert-cased"


def test_half_a_character_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    for vocabulary in (Vocabulary(["a"], ["\ud800"]), Vocabulary(["a"], (), "\ud800"), Vocabulary(["\ud800"])):
        with pytest.raises(StudioError, match="half a character"):
            save_directory(tmp_path / "out", vocabulary, Unchanged(), WhitespaceSplit())
    assert not (tmp_path / "out").exists()


def test_missing_files_are_named(folder: Path, tmp_path: Path) -> None:
    (folder / CARD_FILE).unlink()
    with pytest.raises(StudioError, match=r"wordpiece-studio\.json does not exist"):
        load_tokenizer(folder)
    with pytest.raises(StudioError, match=r"vocab\.txt does not exist"):
        load_tokenizer(tmp_path)
