from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from wordpiece_studio.storage.tokenizer_directory import (
    CONFIG_FILE,
    SPECIAL_TOKENS_FILE,
    configuration_files,
    is_berts,
)
from wordpiece_studio.text.normalizers import BertNormalizer, Sequence
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import Vocabulary

if TYPE_CHECKING:
    from pathlib import Path

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TOKENS = [*SPECIAL, "a", "##b", "ab", "é", "É", "中", "##中", "@b"]
BERT = Vocabulary(TOKENS, SPECIAL)
TEXT = "ab É中中 [MASK] x"


def config(tokenizer: Tokenizer) -> Any:
    return json.loads(configuration_files(tokenizer)[CONFIG_FILE])


@pytest.mark.parametrize(
    ("normalizer", "flags"),
    [
        ("bert-cased", {"do_lower_case": False, "strip_accents": None, "tokenize_chinese_chars": True}),
        ("bert-uncased", {"do_lower_case": True, "strip_accents": None, "tokenize_chinese_chars": True}),
        (
            "bert-uncased:keep-chinese,keep-accents",
            {"do_lower_case": True, "strip_accents": False, "tokenize_chinese_chars": False},
        ),
    ],
)
def test_berts_own_settings_are_its_class_with_all_flags(normalizer: str, flags: dict[str, object]) -> None:
    assert config(Tokenizer(BERT, normalizer)) == {
        **flags,
        "cls_token": "[CLS]",
        "mask_token": "[MASK]",
        "max_input_chars_per_word": 100,
        "model_max_length": 512,
        "pad_token": "[PAD]",
        "sep_token": "[SEP]",
        "tokenizer_class": "BertTokenizer",
        "unk_token": "[UNK]",
    }


@pytest.mark.parametrize(
    "tokenizer",
    [
        Tokenizer(BERT, "bert-cased:keep-controls"),
        Tokenizer(BERT, "language-friendly"),
        Tokenizer(BERT, "none"),
        Tokenizer(BERT, pre_tokenizer="whitespace"),
        Tokenizer(BERT, max_word_length=99),
        Tokenizer(Vocabulary(TOKENS, SPECIAL, "@")),
        Tokenizer(Vocabulary(TOKENS, SPECIAL[:4])),
        Tokenizer(Vocabulary(TOKENS, [*SPECIAL, "a"])),
        Tokenizer(Vocabulary(TOKENS, SPECIAL, unk_token="[PAD]")),
    ],
)
def test_everything_else_is_the_class_that_goes_by_the_file(tokenizer: Tokenizer) -> None:
    assert not is_berts(tokenizer)
    found = config(tokenizer)
    assert found["tokenizer_class"] == "PreTrainedTokenizerFast"
    assert found["model_input_names"] == ["input_ids", "token_type_ids", "attention_mask"]


@pytest.mark.parametrize(
    ("tokenizer", "flags"),
    [
        (Tokenizer(BERT, "language-friendly"), (True, False, True)),
        (Tokenizer(BERT, "language-friendly:keep-chinese"), (True, False, False)),
        (Tokenizer(BERT, "lowercase+strip-accents"), (True, False, False)),
        (Tokenizer(BERT, "nfd+strip-accents"), (False, True, False)),
        (Tokenizer(BERT, "nfd"), (False, False, False)),
        (Tokenizer(BERT, "none"), (False, False, False)),
        (Tokenizer(BERT, "bert-uncased:keep-chinese", max_word_length=99), (True, None, False)),
        (Tokenizer(BERT, Sequence([BertNormalizer(lowercase=False)]), max_word_length=99), (False, None, True)),
    ],
)
def test_berts_flags_come_nearest_where_the_class_differs(
    tmp_path: Path, tokenizer: Tokenizer, flags: tuple[bool | None, ...]
) -> None:
    found = config(tokenizer)
    assert tuple(found[key] for key in ("do_lower_case", "strip_accents", "tokenize_chinese_chars")) == flags
    tokenizer.save(tmp_path)
    assert Tokenizer.load(tmp_path).encode(TEXT) == tokenizer.encode(TEXT)


def test_a_part_is_given_only_to_a_special_token_of_the_vocabulary() -> None:
    files = configuration_files(
        Tokenizer(Vocabulary(["<u>", "[CLS]", "[SEP]", "x"], ["<u>", "x", "[CLS]"], unk_token="<u>"))
    )
    found = json.loads(files[CONFIG_FILE])
    assert {key: found[key] for key in found if key.endswith(("token", "tokens"))} == {
        "additional_special_tokens": ["x"],
        "cls_token": "[CLS]",
        "unk_token": "<u>",
    }
    assert list(json.loads(files[SPECIAL_TOKENS_FILE])) == ["cls_token", "unk_token"]
    assert json.loads(files[SPECIAL_TOKENS_FILE])["cls_token"] == {
        "content": "[CLS]",
        "lstrip": False,
        "normalized": False,
        "rstrip": False,
        "single_word": False,
    }
    for data in files.values():
        assert json.dumps(json.loads(data), indent=2, sort_keys=True, ensure_ascii=False).encode() + b"\n" == data


@pytest.fixture
def transformers(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("TRANSFORMERS_VERBOSITY", "error")  # else it tells that there is no PyTorch
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return pytest.importorskip("transformers")


@pytest.mark.slow  # each process that loads transformers needs seconds for it
@pytest.mark.parametrize(
    ("tokenizer", "is_bert"),
    [
        (Tokenizer(BERT), True),
        (Tokenizer(BERT, "bert-uncased:keep-chinese"), True),
        (Tokenizer(BERT, "language-friendly"), False),
        (Tokenizer(Vocabulary(TOKENS, SPECIAL, "@"), "bert-uncased", max_word_length=2), False),
        (Tokenizer(Vocabulary(TOKENS, [*SPECIAL, "中"])), False),
        (Tokenizer(Vocabulary(TOKENS, ["[UNK]"])), False),
        (Tokenizer(Vocabulary([*TOKENS, "x"], [])), False),
    ],
)
def test_transformers_loads_and_saves_the_same(
    transformers: Any, tmp_path: Path, tokenizer: Tokenizer, is_bert: bool
) -> None:
    tokenizer.save(tmp_path)
    names = [transformers.AutoTokenizer, *([transformers.BertTokenizerFast] if is_bert else [])]
    for name in names:
        loaded = name.from_pretrained(tmp_path)
        assert type(loaded).__name__.startswith("Bert") == is_bert
        assert len(loaded) == len(tokenizer.vocabulary)
        ours = tokenizer.encode(TEXT)
        found = loaded(TEXT, add_special_tokens=False, return_offsets_mapping=True)
        assert (found["input_ids"], found["offset_mapping"]) == (ours.ids, ours.offsets)
        assert found.tokens() == ours.tokens
        assert list(loaded(TEXT, "a")) == ["input_ids", "token_type_ids", "attention_mask"]
        assert set(loaded.all_special_tokens) == set(tokenizer.vocabulary.special_tokens)
        if {"[CLS]", "[SEP]"} <= set(tokenizer.vocabulary.special_tokens):
            loaded.save_pretrained(tmp_path / "again")
            assert (tmp_path / "again" / "tokenizer.json").read_bytes() == (tmp_path / "tokenizer.json").read_bytes()


@pytest.mark.slow
def test_the_class_that_people_name_does_not_take_syllables_apart(transformers: Any, tmp_path: Path) -> None:
    tokens = [*SPECIAL, "\uac15", "##\uc758", "ni\xf1o"]
    Tokenizer(Vocabulary(tokens, SPECIAL), "language-friendly").save(tmp_path)
    found = transformers.BertTokenizerFast.from_pretrained(str(tmp_path))
    assert found.tokenize("\uac15\uc758 NI\xd1O") == tokens[5:]
