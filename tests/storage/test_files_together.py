"""Complete files from two different saves: every reader notices, whichever file is from which save."""

from __future__ import annotations

import itertools
import json
import os
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.exports import Exported, write_export
from wordpiece_studio.storage.manifest import MANIFEST_FILE
from wordpiece_studio.storage.tokenizer_loading import load_tokenizer
from wordpiece_studio.system import atomic_write
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import Vocabulary
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
        write_export("bpe", Exported(counts, run.config, run.history, 3 - number), tmp_path / str(number))
        both.append(contents(tmp_path / str(number)))
    told = 0
    for mixture in mixtures(*both):
        fill(tmp_path / "0", mixture)
        for place in (tmp_path / "0", tmp_path / "0" / "vocab.json"):
            with pytest.raises(StudioError):
                load_tokenizer(place)
            told += 1
    assert told == 12
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
            StudioError, match=r"tokenizer\.json is not the file that was written together.*name the file to read"
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
    write_export("vocabulary", Exported(counts, run.config, run.history, 1), tmp_path / "words.txt")
    assert load_tokenizer(tmp_path / "words.txt").normalizer.name == "lowercase"
    (tmp_path / "words.txt").write_text("[UNK]\nhug\n")
    for steps in ((None, None), ("none", None)):
        with pytest.raises(StudioError, match=r"a different vocabulary than the words\.txt beside it.*name words\.txt"):
            load_tokenizer(tmp_path / "words.txt", *steps)
    assert load_tokenizer(tmp_path / "words.txt", "none", "whitespace").normalizer.name == "none"
