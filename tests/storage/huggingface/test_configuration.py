"""The configuration beside a tokenizer: its added tokens and roles, as `transformers` reads them."""

from __future__ import annotations

import itertools
import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from wordpiece_studio.errors import StudioError
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import AddedToken, Vocabulary

if TYPE_CHECKING:
    from pathlib import Path

BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TOKENS = [*BERT, *"abcdfou<>[]", *("##" + letter for letter in "abcdfou"), "foo", "é"]
SIZE = len(TOKENS)
PLAIN = {"lstrip": False, "rstrip": False, "single_word": False}
BERT_CLASS = {"tokenizer_class": "BertTokenizer", "do_lower_case": True}
FAST_CLASS = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]"}
UNCASED = {
    **{"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True},
    **{"strip_accents": None, "lowercase": True},
}
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 2}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [
        {"Sequence": {"id": "B", "type_id": 0}},
        {"SpecialToken": {"id": "[SEP]", "type_id": 1}},
        {"Sequence": {"id": "A", "type_id": 1}},
    ],
    "special_tokens": {
        name: {"id": name, "ids": [number], "tokens": [name]} for number, name in ((2, "[CLS]"), (3, "[SEP]"))
    },
}
PADDING = {
    **{"strategy": "BatchLongest", "direction": "Left", "pad_to_multiple_of": None},
    **{"pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
}
TRUNCATION = {"direction": "Left", "max_length": 5, "strategy": "LongestFirst", "stride": 0}
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
        "tokenizer.json": {"added_tokens": []},
        "tokenizer_config.json": {**FAST_CLASS, "eos_token": "<e>"},
    },
    "a template of its own": {
        "tokenizer.json": {"post_processor": TEMPLATE, "padding": PADDING, "truncation": TRUNCATION},
        "tokenizer_config.json": {**FAST_CLASS, "cls_token": "<c>", "sep_token": "[SEP]"},
    },
    "sides": {
        "tokenizer.json": {"padding": PADDING},
        "tokenizer_config.json": {
            **FAST_CLASS,
            "pad_token": "[MASK]",
            "padding_side": "right",
            "truncation_side": "left",
            "cls_token": "[CLS]",
        },
    },
    "no template": {
        "tokenizer.json": {"post_processor": None},
        "tokenizer_config.json": {**FAST_CLASS, "pad_token": "[PAD]", "padding_side": "left"},
    },
    "no template in the file, one in the class": {
        "tokenizer.json": {"post_processor": None, "normalizer": UNCASED},
        "tokenizer_config.json": BERT_CLASS,
    },
}
FORMS: list[dict[str, Any]] = [
    {"add_special_tokens": False},
    {"add_special_tokens": True},
    {"add_special_tokens": True, "padding": "max_length", "max_length": 50},
    {"add_special_tokens": True, "truncation": True, "max_length": 7},
    {"add_special_tokens": False, "truncation": True, "max_length": 9, "padding": "max_length"},
]


def folder_of(files: dict[str, Any], folder: Path) -> Path:
    for name, content in files.items():
        value = content
        if name == "tokenizer.json":
            Tokenizer(Vocabulary(TOKENS, BERT), "nfkc+lowercase").save(folder, only="tokenizer.json")
            (folder / "wordpiece-studio.json").unlink()
            value = json.loads((folder / name).read_text("utf-8")) | content
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
    texts = ["".join(rng.choices(parts, k=8)) for _ in range(120)]
    folders = [tmp_path, tmp_path / "again"]
    if transformers.__version__ < "5" and files["tokenizer_config.json"] is BERT_CLASS and "tokenizer.json" in files:
        del folders[0]  # version 4 follows the file there, version 5 and the Studio its class; written again they agree
    for theirs in map(transformers.AutoTokenizer.from_pretrained, folders):
        roles = {role: token for role, token in theirs.special_tokens_map.items() if isinstance(token, str)}
        assert roles == ours.vocabulary.roles == again.vocabulary.roles
        for text, pair, form in zip(texts, [None, *texts], itertools.cycle(FORMS), strict=False):
            if not theirs.pad_token and "padding" in form:
                continue
            expected = theirs(text, pair, return_offsets_mapping=True, return_token_type_ids=True, **form)
            found = ours.encode(text, pair, **form)
            assert found == again.encode(text, pair, **form)
            assert (found.ids, found.offsets, found.type_ids, found.tokens) == (
                *(expected[name] for name in ("input_ids", "offset_mapping", "token_type_ids")),
                expected.tokens(),
            )
            assert (ours.ids(text), found.attention_mask) == (
                theirs.encode(text, add_special_tokens=False),
                expected["attention_mask"],
            )


def test_what_the_files_add(tmp_path: Path) -> None:
    found = Tokenizer.load(folder_of(FOLDERS["special_tokens_map.json"], tmp_path))
    assert found.vocabulary.tokens == [*TOKENS, "<s>", "<u>", "<c>"]
    assert set(found.vocabulary.special_tokens) == {*BERT, "<s>", "<c>"}
    assert (found.vocabulary.user_tokens, found.vocabulary.bos_token) == (("<u>",), "<s>")
    assert AddedToken("[MASK]", lstrip=True, special=True) in found.vocabulary.added_tokens
    assert found.model_max_length == 512


def test_an_added_token_with_another_id_is_refused(tmp_path: Path) -> None:
    files = {**FOLDERS["added_tokens.json"], "added_tokens.json": {"<u>": SIZE + 1}}
    with pytest.raises(StudioError, match="the added token '<u>' has the ID"):
        Tokenizer.load(folder_of(files, tmp_path))


def test_what_the_studio_does_not_use_is_written_again(tmp_path: Path) -> None:
    truncation = {"direction": "Right", "max_length": 7, "strategy": "LongestFirst", "stride": 0}
    padding = {"strategy": {"Fixed": 9}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0}
    padding |= {"pad_type_id": 0, "pad_token": "[PAD]"}
    added = [AddedToken("<u>", rstrip=True, normalized=True), AddedToken("[MASK]", lstrip=True, special=True)]
    vocabulary = Vocabulary([*TOKENS, "<u>"], BERT, added_tokens=added, pieces=SIZE, bos_token="[CLS]", mask_token="")
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
