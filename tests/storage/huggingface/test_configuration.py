"""The configuration beside a tokenizer: its added tokens and roles, as `transformers` reads them."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from wordpiece_studio.errors import StudioError
from wordpiece_studio.tokenizer.added_tokens import AddedToken
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import Vocabulary

if TYPE_CHECKING:
    from pathlib import Path

BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TOKENS = [*BERT, *"abcdfou<>[]", *("##" + letter for letter in "abcdfou"), "foo", "é"]
SIZE = len(TOKENS)
PLAIN = {"lstrip": False, "rstrip": False, "single_word": False}
BERT_CLASS = {"tokenizer_class": "BertTokenizer", "do_lower_case": True}
LEFT_MASK = {"content": "[MASK]", "lstrip": True, "normalized": False, "rstrip": False, "single_word": False}

FOLDERS: dict[str, dict[str, Any]] = {
    "added_tokens.json": {
        "vocab.txt": TOKENS,
        "tokenizer_config.json": {**BERT_CLASS, "model_max_length": 77},
        "added_tokens.json": {"Foo": SIZE, "<u>": SIZE + 1},
    },
    "special_tokens_map.json": {
        "vocab.txt": TOKENS,
        "tokenizer_config.json": BERT_CLASS,
        "added_tokens.json": {"<u>": SIZE + 1, "<s>": SIZE},
        "special_tokens_map.json": {"bos_token": "<s>", "mask_token": LEFT_MASK, "additional_special_tokens": ["<c>"]},
    },
    "added_tokens_decoder": {
        "vocab.txt": TOKENS,
        "tokenizer_config.json": {
            **BERT_CLASS,
            "added_tokens_decoder": {str(SIZE): {**PLAIN, "content": "Foo", "single_word": True, "normalized": True}},
        },
        "added_tokens.json": {"other": 7},  # not read then
    },
    "tokens that the class adds": {
        "vocab.txt": [token for token in TOKENS if token not in ("[MASK]", "[SEP]")],
        "tokenizer_config.json": BERT_CLASS,
    },
    "roles of tokens that are not added": {
        "tokenizer.json": [],
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "unk_token": "[UNK]",
            "eos_token": "<e>",
        },
    },
}


def folder_of(files: dict[str, Any], folder: Path) -> Path:
    for name, content in files.items():
        value = content
        if name == "tokenizer.json":
            Tokenizer(Vocabulary(TOKENS, BERT), "nfkc+lowercase").save(folder, only="tokenizer.json")
            (folder / "wordpiece-studio.json").unlink()
            value = json.loads((folder / name).read_text("utf-8")) | {"added_tokens": value}
            (folder / "special_tokens_map.json").unlink()
        text = "".join(f"{token}\n" for token in value) if name == "vocab.txt" else json.dumps(value)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.slow  # it loads transformers
@pytest.mark.parametrize("files", FOLDERS.values(), ids=FOLDERS)
def test_folders_encode_as_transformers_does(
    files: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSFORMERS_VERBOSITY", "error")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    transformers = pytest.importorskip("transformers")
    ours = Tokenizer.load(folder_of(files, tmp_path))
    ours.save(tmp_path / "again")
    again = Tokenizer.load(tmp_path / "again")
    rng = random.Random(1)
    parts = ["foo", "Foo", "FOO", "<u>", "<s>", "<c>", "<e>", "_", " ", "  ", "\n", "ab", "É", *BERT]
    texts = ["".join(rng.choices(parts, k=8)) for _ in range(300)]
    for theirs in map(transformers.AutoTokenizer.from_pretrained, (tmp_path, tmp_path / "again")):
        assert dict(theirs.special_tokens_map) == ours.vocabulary.roles == again.vocabulary.roles
        for text in texts:
            expected = theirs(text, add_special_tokens=False, return_offsets_mapping=True)
            assert ours.encode(text) == again.encode(text)
            assert (ours.ids(text), ours.encode(text).offsets) == (expected["input_ids"], expected["offset_mapping"])


def test_what_the_files_add(tmp_path: Path) -> None:
    found = Tokenizer.load(folder_of(FOLDERS["special_tokens_map.json"], tmp_path))
    assert found.vocabulary.tokens == [*TOKENS, "<s>", "<u>", "<c>"]
    assert set(found.vocabulary.special_tokens) == {*BERT, "<s>", "<c>"}
    assert (found.vocabulary.user_tokens, found.vocabulary.bos_token) == (("<u>",), "<s>")
    assert AddedToken("[MASK]", lstrip=True, special=True) in found.vocabulary.added_tokens
    assert found.model_max_length == 512


def test_an_added_token_with_another_id_is_refused(tmp_path: Path) -> None:
    files = {**FOLDERS["added_tokens.json"], "added_tokens.json": {"<u>": SIZE + 1}}
    with pytest.raises(StudioError, match="the added token '<u>' has the id"):
        Tokenizer.load(folder_of(files, tmp_path))


def test_what_the_studio_does_not_use_is_written_again(tmp_path: Path) -> None:
    truncation = {"direction": "Right", "max_length": 7, "strategy": "LongestFirst", "stride": 0}
    padding = {"strategy": {"Fixed": 9}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0}
    padding |= {"pad_type_id": 0, "pad_token": "[PAD]"}
    added = [AddedToken("<u>", rstrip=True, normalized=True), AddedToken("[MASK]", lstrip=True, special=True)]
    vocabulary = Vocabulary([*TOKENS, "<u>"], BERT, added_tokens=added, pieces=SIZE, bos_token="[CLS]", pad_token="")
    kept = {"truncation": truncation, "padding": padding, "post_processor": None}
    Tokenizer(vocabulary, model_max_length=99, kept_parts=kept).save(tmp_path / "one")
    Tokenizer.load(tmp_path / "one").save(tmp_path / "two")
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()
    written = json.loads((tmp_path / "two" / "tokenizer.json").read_text("utf-8"))
    assert {name: written[name] for name in kept} == kept
    assert "<u>" not in written["model"]["vocab"]
    found = Tokenizer.load(tmp_path / "two")
    assert (found.vocabulary.roles, found.vocabulary.added_tokens) == (vocabulary.roles, vocabulary.added_tokens)
