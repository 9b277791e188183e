"""SentencePiece's models as a ``tokenizer.json``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tokenizers import Tokenizer

import wordpiece_studio as wps
from wordpiece_studio.errors import StudioError
from wordpiece_studio.resources import resource_path
from wordpiece_studio.storage.huggingface.tokenizer_json import SentencePieceModel
from wordpiece_studio.storage.tokenizer_directory import library_files

if TYPE_CHECKING:
    from wordpiece_studio.libraries.library_training import LibraryTrainer

LINES = resource_path("samples/course-en.txt").read_text(encoding="utf-8").splitlines()
OTHERS = ["  two  blanks ", "ＡＢＣ ﬁ \u00a0x", "日本 \U0001f600!", "", " ", "a\u2581b", "x\ty"]
SETTINGS = {"continuing_subword_prefix": "", "objective": "count", "special_tokens": ("<s>", "</s>", "[PAD]")}


@pytest.mark.slow
@pytest.mark.parametrize("trainer", ["sentencepiece-bpe", "sentencepiece-unigram"])
def test_tokenizers_splits_as_sentencepiece_does(trainer: LibraryTrainer) -> None:
    run = wps.train_library(LINES, wps.TrainingConfig(vocab_size=60, **SETTINGS), trainer)
    counts = wps.count_texts(LINES, "none", "whitespace-split")
    files = library_files(run, counts)
    assert sorted(files) == [
        "sentencepiece.model", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json",
    ]  # fmt: skip
    theirs, ours = Tokenizer.from_buffer(files["tokenizer.json"]), run.tokenizer()
    for text in (*LINES, *OTHERS):
        found = theirs.encode(text)
        assert found.ids == ours.ids(text)
        if theirs.token_to_id("<unk>") not in found.ids:
            assert theirs.decode(found.ids) == ours.decode(found.ids)
    configuration = json.loads(files["tokenizer_config.json"])
    assert {name: configuration[name] for name in ("unk_token", "cls_token", "eos_token", "pad_token")} == {
        "unk_token": "<unk>", "cls_token": "<s>", "eos_token": "</s>", "pad_token": "[PAD]",
    }  # fmt: skip
    config = wps.TrainingConfig(vocab_size=60, user_tokens=("<url>",), **SETTINGS)
    assert list(library_files(wps.train_library(LINES, config, trainer), counts)) == ["sentencepiece.model"]


@pytest.mark.parametrize("content", [b"", b"\x0a", b"\x0a\xff", b"\x0b", b"\x0a\x03\x0a\x01a" * 3, b"\x80" * 99])
def test_what_is_no_model(content: bytes) -> None:
    with pytest.raises(StudioError, match="SentencePiece model cannot be read"):
        SentencePieceModel(content)
