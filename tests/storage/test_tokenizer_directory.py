from __future__ import annotations

import errno
import json
import os
from functools import partial
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.manifest import MANIFEST_FILE
from wordpiece_studio.storage.tokenizer_directory import check_saving, save_directory, tokenizer_files
from wordpiece_studio.storage.tokenizer_loading import (
    guessed_normalizer,
    load_tokenizer,
    load_wordpiece_tokenizer,
)
from wordpiece_studio.text.normalizers import Unchanged, to_spec
from wordpiece_studio.text.pre_tokenizers import WhitespaceSplit
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import Vocabulary
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.storage.tokenizer_directory import Only

TEXT = "Die Katze, die Tatze; die Fratze."
CONFIG = TrainingConfig(max_merges=5)
ONLY: tuple[Only | None, ...] = (None, "vocab.txt", "tokenizer.json")
ALL_FILES = ["special_tokens_map.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt", MANIFEST_FILE]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    counts = count_texts([TEXT], "lowercase+remove:,.", "whitespace")
    run = train(counts, CONFIG)
    path = tmp_path / "a" / "out"
    save_directory(path, run.vocabulary, counts.normalizer, counts.pre_tokenizer, config=run.config, counts=counts)
    return path


def change(folder: Path, **values: object) -> None:
    path = folder / MANIFEST_FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_a_folder_tokenizes_as_the_corpus_was_read(folder: Path) -> None:
    tokenizer = load_tokenizer(folder)
    assert tokenizer.normalizer.name == "lowercase+remove:,."
    assert tokenizer.pre_tokenizer.name == "whitespace"
    assert "[UNK]" not in tokenizer.encode(TEXT).tokens
    assert tokenizer.encode(TEXT) == load_tokenizer(folder / "vocab.txt").encode(TEXT)
    assert sorted(path.name for path in folder.iterdir()) == sorted(ALL_FILES)


def test_the_settings_tell_how_it_was_made(folder: Path) -> None:
    settings = json.loads((folder / MANIFEST_FILE).read_text())
    assert TrainingConfig.from_dict(settings["training"]) == CONFIG
    assert settings["corpus"]["word_counts_sha256"] == count_texts([TEXT], "lowercase+remove:,.", "whitespace").digest()
    assert settings["corpus"]["statistics"]["characters"] == len(TEXT)


def test_what_is_named_goes_before_the_settings(folder: Path) -> None:
    tokenizer = load_tokenizer(folder, "none", "whitespace-split")
    assert (tokenizer.normalizer.name, tokenizer.pre_tokenizer.name) == ("none", "whitespace-split")


def test_a_vocabulary_alone_is_read_as_uncased_or_cased_bert_reads_it(folder: Path, tmp_path: Path) -> None:
    alone = tmp_path / "vocab.txt"
    alone.write_bytes((folder / "vocab.txt").read_bytes())
    tokenizer = load_wordpiece_tokenizer(alone)
    assert (tokenizer.normalizer.name, tokenizer.pre_tokenizer.name) == ("bert-uncased", "bert")
    assert tokenizer.vocabulary.special_tokens == ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    assert tokenizer.is_normalizer_guessed
    assert not load_wordpiece_tokenizer(alone, "bert-cased").is_normalizer_guessed
    assert not load_wordpiece_tokenizer(folder).is_normalizer_guessed
    alone.write_bytes(alone.read_bytes() + b"Hug\n")
    tokenizer = load_wordpiece_tokenizer(alone)
    assert (tokenizer.normalizer.name, tokenizer.is_normalizer_guessed) == ("bert-cased", True)


@pytest.mark.parametrize(
    ("tokens", "normalizer"),
    [
        (["[UNK]", "[unused1]", "<S>", "hug", "##s", "1", "\u1112\u1161", "春"], "bert-uncased"),
        (["hug", "##S"], "bert-cased"),
        (["hug", "É"], "bert-cased"),
        (
            ["[PAD]", "[unused1]", "1", "春", "##."],
            "bert-cased",
        ),  # where there are no letters, there is nothing to tell
        (["ʰ", "ⁿ", "ß", "ﬁ", "ı", "ª"], "bert-uncased"),
        (["hug", "ℝ", "𝐀"], "bert-uncased"),  # which lower-casing leaves as they are
        (["hug", "niño"], "bert-uncased:keep-accents"),
        (["hug", "한"], "bert-uncased:keep-accents"),
        ([], "bert-cased"),
    ],
)
def test_the_tokens_tell_whether_they_are_cased(tokens: list[str], normalizer: str) -> None:
    assert guessed_normalizer(tokens) == normalizer


def test_settings_of_another_vocabulary_are_not_used(folder: Path) -> None:
    with (folder / "vocab.txt").open("a") as file:
        file.write("more\n")
    with pytest.raises(StudioError, match=r"contradicts tokenizer\.json next to it"):
        load_tokenizer(folder)
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").unlink()
    with pytest.raises(StudioError, match="belongs to a different vocabulary"):
        load_tokenizer(folder)
    with pytest.raises(StudioError, match=r"specify vocab\.txt itself together with its normalizer and pre-tokenizer"):
        load_tokenizer(folder / "vocab.txt")
    assert load_tokenizer(folder / "vocab.txt", "bert-cased", "bert").normalizer.name == "bert-cased"
    (folder / MANIFEST_FILE).unlink()
    assert load_tokenizer(folder / "vocab.txt").normalizer.name == "bert-uncased"


def test_line_ends_that_a_tool_changed_do_not_matter(folder: Path) -> None:
    path = folder / "vocab.txt"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert load_tokenizer(folder).normalizer.name == "lowercase+remove:,."


def test_a_manifest_that_reads_text_differently_is_refused(folder: Path) -> None:
    change(folder, normalizer=to_spec(Unchanged()))
    with pytest.raises(StudioError, match=r"tokenizer\.json next to it say differently how text becomes words"):
        load_tokenizer(folder)


@pytest.mark.parametrize(
    "values",
    [
        {"format": 4},
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
    (folder / MANIFEST_FILE).write_bytes(data)
    with pytest.raises(StudioError, match=r"wordpiece-studio\.json is damaged"):
        load_tokenizer(folder)


@pytest.mark.parametrize("name", ["link", "replace", "fsync", "open", "fchmod"])
@pytest.mark.parametrize("call", [1, 2, 3, 5, 6])
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
        assert "Any existing file is unchanged" in told
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    else:
        # Links are made where they can be, the last file needs none; the last fsync and open are the folder's.
        assert (name, calls) in {("link", 4), ("replace", 5), ("fsync", 6), ("open", 6), ("fchmod", 5)}
        assert sorted(path.name for path in folder.iterdir()) == sorted(before)
        assert load_tokenizer(folder).normalizer.name == "bert-cased"


def test_half_a_character_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    for vocabulary in (
        Vocabulary(["\ud800"], ["\ud800"]),
        Vocabulary(["a"], (), "\ud800"),
        Vocabulary(["\ud800"]),
        Vocabulary(["a"], unk_token="\ud800"),
    ):
        for only in ONLY:
            with pytest.raises(StudioError, match="unpaired surrogate"):
                save_directory(tmp_path / "out", vocabulary, Unchanged(), WhitespaceSplit(), only=only)
    assert not (tmp_path / "out").exists()


def test_missing_files_are_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(StudioError, match="There is no tokenizer in"):
        load_tokenizer(tmp_path)
    (folder / "vocab.txt").unlink()
    with pytest.raises(StudioError, match=r"vocab\.txt does not exist"):
        load_tokenizer(folder / "vocab.txt")
    (folder / MANIFEST_FILE).unlink()
    assert load_tokenizer(folder).normalizer.name == "lowercase+remove:,."  # as tokenizer.json says


@pytest.mark.parametrize(
    ("only", "names"),
    [("vocab.txt", ["vocab.txt"]), ("tokenizer.json", ALL_FILES[:3]), (None, ALL_FILES[:4])],
)
def test_what_is_written(tmp_path: Path, only: Only | None, names: list[str]) -> None:
    tokenizer = Tokenizer(Vocabulary(["[UNK]", "a", "##b"], ["[UNK]"]))
    tokenizer.save(tmp_path / "out", only=only)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted([*names, MANIFEST_FILE])
    assert sorted(tokenizer_files(tokenizer, only)) == sorted(names)
    check_saving(tokenizer, tmp_path / "out", only)


def test_no_other_file_can_be_written_alone(tmp_path: Path) -> None:
    with pytest.raises(StudioError, match=r"vocab cannot be written alone. Write vocab\.txt or tokenizer\.json"):
        Tokenizer(Vocabulary(["a"])).save(tmp_path / "out", only="vocab")  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_files_that_would_stay_from_before_are_not_mixed_with_the_new_ones(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    tokenizer = Tokenizer(Vocabulary(["[UNK]", "a"], ["[UNK]"]))
    for only, name in (("vocab.txt", "special_tokens_map.json"), ("tokenizer.json", "vocab.txt")):
        for act in (tokenizer.save, partial(check_saving, tokenizer)):
            with pytest.raises(StudioError, match=f"{name} already exists.*Choose another folder, or move that file"):
                act(folder, only=only)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    (folder / "added_tokens.json").write_text("{}")
    with pytest.raises(StudioError, match=r"added_tokens\.json already exists"):
        tokenizer.save(folder)
    (folder / "added_tokens.json").unlink()
    (folder / "config.json").write_text("{}")  # a model's
    tokenizer.save(folder)
    assert (folder / "config.json").exists()


def test_what_cannot_be_saved_is_known_before_the_training(tmp_path: Path) -> None:
    beginning = Tokenizer(Vocabulary(["[UNK]"], ["[UNK]"]), "nfc", "unicode-punctuation")
    with pytest.raises(StudioError, match=r"A tokenizer\.json cannot express .* Save vocab\.txt alone"):
        check_saving(beginning, tmp_path)
    check_saving(beginning, tmp_path, "vocab.txt")
    beginning = Tokenizer(Vocabulary([], [], end_of_word_suffix="</w>"))
    with pytest.raises(StudioError, match="end-of-word suffix"):
        check_saving(beginning, tmp_path, "tokenizer.json")
    check_saving(Tokenizer(Vocabulary([])), tmp_path)
    with pytest.raises(StudioError, match=r"Save tokenizer\.json without vocab\.txt"):
        check_saving(Tokenizer(Vocabulary([" "]), "none", "punctuation"), tmp_path)


@pytest.mark.parametrize("tokens", [["[UNK]", "a", "##b"], ["[UNK]", *map(str, range(3000))]])
def test_what_is_read_is_written_again_to_the_byte(tmp_path: Path, tokens: list[str]) -> None:
    Tokenizer(Vocabulary(tokens, ["[UNK]"]), "language-friendly", "whitespace").save(tmp_path / "a")
    load_wordpiece_tokenizer(tmp_path / "a").save(tmp_path / "b")
    for path in (tmp_path / "a").iterdir():
        assert (tmp_path / "b" / path.name).read_bytes() == path.read_bytes()
