from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer
from wordpiece_studio.storage.huggingface.tokenizer_json import (
    read_tokenizer_json,
    stated_normalizer,
    tokenizer_json_bytes,
)
from wordpiece_studio.storage.small_files import JsonPart
from wordpiece_studio.storage.tokenizer_loading import load_tokenizer, load_wordpiece_tokenizer
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import Vocabulary

if TYPE_CHECKING:
    from pathlib import Path

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##b", "é"]


def ours(normalizer: str = "bert-uncased", pre_tokenizer: str = "bert", length: int = 100) -> Tokenizer:
    return Tokenizer(Vocabulary(TOKENS, TOKENS[:5]), normalizer, pre_tokenizer, max_word_length=length)


def written(path: Path, tokenizer: Tokenizer, **changes: Any) -> Path:
    """Write a tokenizer with other values in its ``tokenizer.json``."""
    value = json.loads(tokenizer_json_bytes(tokenizer)) | changes
    (path / "tokenizer.json").write_text(json.dumps(value), encoding="utf-8")
    return path / "tokenizer.json"


@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer"),
    [
        ("none", "bert"),
        ("bert-cased", "bert"),
        ("nfkc+lowercase+remove:,.", "whitespace"),
        ("language-friendly", "whitespace-split+punctuation"),
        ("none", "punctuation"),  # whose words would continue across line ends
        ("nfkc+lowercase+remove:,.", "punctuation"),
        ("lowercase+remove:" + "".join(map(chr, range(0x4E00, 0x4E00 + 1000))), "bert"),
        ("none", "digits"),
        ("bert-cased", "whitespace+digits-single"),
        ("nfc", "byte-level"),
        ("bert-uncased", "bert+byte-level:no-prefix"),
        ("none", r"split:merged-with-previous:\.|[^\s'\"]+byte-level:bytes-only"),
        ("none", "split:removed,invert:ab+split:isolated:b+byte-level:no-regex"),
    ],
)
def test_what_is_written_here_is_read_as_what_it_was(tmp_path: Path, normalizer: str, pre_tokenizer: str) -> None:
    tokenizer = ours(normalizer, pre_tokenizer, 7)
    found = read_tokenizer_json(written(tmp_path, tokenizer))
    assert isinstance(found, Tokenizer)
    assert (found.normalizer.name, found.pre_tokenizer.name) == (tokenizer.normalizer.name, pre_tokenizer)
    assert (found.vocabulary, found.max_word_length) == (tokenizer.vocabulary, 7)
    assert found.vocabulary.special_tokens == tokenizer.vocabulary.special_tokens
    assert tokenizer_json_bytes(found) == tokenizer_json_bytes(tokenizer)


@pytest.mark.parametrize(
    ("step", "name"),
    [
        ({"type": "Split", "pattern": {"String": "."}, "behavior": "Isolated", "invert": False}, r"split:isolated:\."),
        ({"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Removed", "invert": True}, "split:removed,invert:a"),
        ({"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False}, "byte-level:no-prefix"),
    ],
)
def test_other_ways_to_write_a_step(tmp_path: Path, step: dict[str, Any], name: str) -> None:
    line_end = {"type": "Split", "pattern": {"String": "\n"}, "behavior": "Removed", "invert": False}
    path = written(tmp_path, ours("none"), pre_tokenizer={"type": "Sequence", "pretokenizers": [line_end, step]})
    found = read_tokenizer_json(path)
    assert isinstance(found, Tokenizer)
    assert found.pre_tokenizer.name == name


@pytest.mark.parametrize(
    "changes",
    [
        {"pre_tokenizer": None},
        {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}},
        {"pre_tokenizer": {"type": "Split", "pattern": {"Regex": r"\s"}, "behavior": "Removed", "invert": False}},
        {
            "normalizer": None,
            "pre_tokenizer": {
                "type": "Sequence",
                "pretokenizers": [
                    {"type": "WhitespaceSplit"},
                    {"type": "Split", "pattern": {"Regex": r"\b"}, "behavior": "Removed", "invert": False},
                ],
            },
        },
        {"pre_tokenizer": {"type": "Punctuation"}},
        {"pre_tokenizer": {"type": "Metaspace", "replacement": "_"}},
        {"normalizer": {"type": "Prepend", "prepend": "x"}},
        {"post_processor": {"type": "ByteLevel", "trim_offsets": True, "add_prefix_space": False}},
    ],
)
def test_what_the_studio_cannot_take_apart_is_tokenized_with_all_the_same(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    path = written(tmp_path, ours(), **changes)
    assert isinstance(read_tokenizer_json(path), LibraryTokenizer)
    with pytest.raises(StudioError, match="can be used for tokenizing"):
        load_wordpiece_tokenizer(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"normalizer": {"type": "Else"}}, "the tokenizers library cannot read it"),
        ({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Else"}]}}, "library cannot read it"),
        ({"post_processor": {"type": "Else"}}, "the tokenizers library cannot read it"),
        ({"decoder": 1}, "decoder: this is not a component"),
        ({"padding": [1]}, "padding: expected object, got array"),
        ({"truncation": {"max_length": -1}}, r"truncation\.max_length: expected int >= 0"),
    ],
)
def test_what_cannot_be_read_is_reported_in_one_line(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(StudioError, match=message) as caught:
        read_tokenizer_json(written(tmp_path, ours(), **changes))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "normalizer",
    [
        {"type": "Strip", "strip_left": True, "strip_right": True},
        {"type": "Sequence", "normalizers": [{"type": "NFC"}] * 101},
        {"type": "Replace", "pattern": {"String": "ab"}, "content": ""},
        {"type": "NFC", "more": 1},
    ],
)
def test_normalizers_that_are_none_of_ours_are_the_librarys(tmp_path: Path, normalizer: dict[str, Any]) -> None:
    path = written(tmp_path, ours(), normalizer=normalizer)
    assert stated_normalizer(path) is None
    assert isinstance(read_tokenizer_json(path), LibraryTokenizer)


def test_merges_of_old_files_are_texts(tmp_path: Path) -> None:
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["#version: 0.2", "a b"]}
    path = written(tmp_path, ours(), model=model, added_tokens=[], post_processor=None)
    assert read_tokenizer_json(path).encode("abb").ids == [2, 1]


@pytest.mark.parametrize("data", [b'{"a":1,"a":1}', b'{"a":[1],"b":2,"a":[1]}', b'{"b":1, "a" : {} ,\n"a":2}'])
def test_duplicate_keys(data: bytes) -> None:
    with pytest.raises(StudioError, match="twice"):
        JsonPart(data, "x.json").members()


def test_members_are_found_whatever_is_between_them() -> None:
    members = JsonPart(b' {\n"a\\"}" : [1, "}"] ,\t"b":{"a":2}}\n', "x.json").members()
    assert {key: json.loads(part.data) for key, part in members.items()} == {'a"}': [1, "}"], "b": {"a": 2}}


def test_a_folder_without_a_manifest_is_read_by_its_configuration(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(TOKENS), encoding="utf-8")
    assert load_wordpiece_tokenizer(tmp_path).is_normalizer_guessed
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": true, "sep_token": {"content": "é"}}')
    found = load_wordpiece_tokenizer(tmp_path)
    assert (found.normalizer.name, found.is_normalizer_guessed) == ("bert-uncased", False)
    assert "é" in found.vocabulary.special_tokens
    assert Tokenizer.load(tmp_path, "none").normalizer.name == "none"


def test_what_stands_beside_an_library_tokenizer_must_agree_with_it(tmp_path: Path) -> None:
    written(tmp_path, ours(), pre_tokenizer={"type": "Punctuation"})
    vocabulary = tmp_path / "vocab.txt"
    vocabulary.write_text("\n".join(TOKENS), encoding="utf-8")
    assert isinstance(load_tokenizer(tmp_path), LibraryTokenizer)
    vocabulary.write_text("\n".join([*TOKENS[:6], "é", "##b"]), encoding="utf-8")
    with pytest.raises(
        StudioError, match=r"vocab\.txt, line 7, contradicts .* 'é' has the ID 6 in the first, 7 in the second"
    ):
        load_tokenizer(tmp_path)
    vocabulary.write_text("\n".join(TOKENS[:2]), encoding="utf-8")
    with pytest.raises(StudioError, match="which has more tokens"):
        load_tokenizer(tmp_path)
    vocabulary.unlink()
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    with pytest.raises(StudioError, match="do_lower_case is false here, and true there"):
        load_tokenizer(tmp_path)
