"""Cases 43 to 45: vocabularies of other programs, damaged, hostile or with holes, and what is said of them."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.tokenizer_loading import load_tokenizer, load_wordpiece_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Told = Callable[[object], str]

WORD_PIECE = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": {"type": "WhitespaceSplit"},
    "post_processor": None,
    "decoder": None,
    "model": {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {"[UNK]": 0, "a": 1, "##b": 2},
    },
}


def refusal(path: Path, data: bytes) -> StudioError:
    """Return why a file with this content is refused, which it is within a second of work."""
    path.write_bytes(data)
    started = time.process_time()
    with pytest.raises(StudioError) as caught:
        load_tokenizer(path)
    assert time.process_time() - started < 2  # it takes 0.7 s, and this machine may be slow
    return caught.value


def changed(place: str, value: Any) -> bytes:
    """Return a small tokenizer with another value at a place, as ``"model.vocab"``."""
    tokenizer = json.loads(json.dumps(WORD_PIECE))
    *outer, last = place.split(".")
    target = tokenizer
    for key in outer:
        target = target[key]
    target[last] = value
    return json.dumps(tokenizer).encode()


@pytest.mark.case(43)
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"[UNK]\na\nb\na\n", "'a' appears on line 2 and again on line 4"),
        (b"[UNK]\n\na\n", "line 2: an empty token"),
        (b"[UNK]\na \n", "line 2: whitespace at the end of a token"),
        (b"[UNK]\r\na\nb\r\n", "line 1: whitespace at the end of a token"),
        (b"[UNK]\t0\na\t1\n", "line 1: a tab, as in a table"),
        (b"[UNK]\na\0b\n", "line 2: a NUL character"),
        (b"[UNK]\n\xffa\n", "line 2: the byte FF at offset 6 is not valid UTF-8"),
        ("[UNK]\n".encode("utf-16"), "is in UTF-16"),
        (b"", "contains no tokens"),
    ],
    ids=range(9),
)
def test_vocab_txt_of_any_kind(tmp_path: Path, told: Told, data: bytes, message: str) -> None:
    assert message in told(refusal(tmp_path / "vocab.txt", data))


@pytest.mark.case(43)
def test_vocab_txt_of_any_size(tmp_path: Path, told: Told) -> None:
    path = tmp_path / "vocab.txt"
    assert "10,000,000 lines, too many for a vocabulary" in told(refusal(path, b"a\n" * 10_000_000))
    assert "line 2: a token of more than 10,000 characters" in told(refusal(path, b"a\n" + b"x" * 100_000_000))


@pytest.mark.case(43)
def test_a_line_of_500_mb(tmp_path: Path, told: Told) -> None:
    path = tmp_path / "vocab.txt"
    with path.open("wb") as file:
        file.truncate(500 << 20)
    with pytest.raises(StudioError) as caught:
        load_tokenizer(path)
    assert "is 500 MB, too large for a vocabulary" in told(caught.value)


@pytest.mark.case(43)
def test_a_byte_order_mark_and_windows_line_ends_are_no_matter(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_bytes(b"\xef\xbb\xbf[UNK]\r\na\r\n")
    assert load_wordpiece_tokenizer(tmp_path / "vocab.txt").vocabulary.tokens == ["[UNK]", "a"]


@pytest.mark.case(43)
def test_no_unknown_token_is_no_token_for_unknown_words(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_bytes(b"a\n##b\n")
    assert load_tokenizer(tmp_path / "vocab.txt").encode("ab z").ids == [0, 1, -1]


@pytest.mark.slow
@pytest.mark.case(44)
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "line 1, column 1: this is not valid JSON: the file ends too early"),
        (json.dumps(WORD_PIECE, indent=2).encode()[:200], "the file ends too early"),
        (b'{"version": "1.0",\n "model": x}', "line 2, column 11: this is not valid JSON"),
        (b"[]", "expected object, got array"),
        (b'{"model":' + b"[" * 1_000_000, "nested too deeply"),
        (b"[" + b"[]," * 5_000_000 + b"[]]", "expected object, got array"),
        (changed("normalizer", [[]] * 300_000), "the tokenizers library cannot read it"),
        (changed("model.type", "Else"), "the tokenizers library cannot read it"),
        (changed("version", "2.0"), "version: the version is '2.0'"),
        (changed("surprise", 1), "the key 'surprise' is unknown"),
        (changed("model.vocab", {"[UNK]": 0, "a": -1}), "model.vocab: 'a' has the ID -1"),
        (changed("model.vocab", {"[UNK]": 0, "a": 1.0}), "model.vocab: expected int, got float"),
        (changed("model.vocab", {"[UNK]": 0, "a": 2**32}), "model.vocab: 'a' has the ID 4294967296"),
        (changed("model.vocab", {"[UNK]": 0, "a": 1, "b": 1}), "'a' and 'b' have the same ID, 1"),
        (json.dumps(WORD_PIECE).replace('"a": 1', '"a": 1, "a": 3').encode(), "the key 'a' appears twice"),
        (json.dumps(WORD_PIECE)[:-1].encode() + b', "model": {}}', "the key 'model' appears twice"),
        (changed("model.vocab", {"a": 0}), "model.unk_token: '[UNK]' is not in the vocabulary"),
        (changed("padding", {"strategy": {"Fixed": 2**40}}), "padding.strategy: expected int <= 2147483648"),
        (
            changed("normalizer", {"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
            "the tokenizers library ",
        ),
        (changed("model.continuing_subword_prefix", "#" * 10**6), "model.continuing_subword_prefix: expected str of"),
        (changed("model.vocab", {"[UNK]": 0, "\ud800": 1}), "this is not valid JSON"),
        (changed("model.max_input_chars_per_word", 2**70), "model.max_input_chars_per_word"),
        (
            changed("added_tokens", [{"id": 9, "content": "x", "single_word": False, "lstrip": False, "rstrip": False,
                                      "normalized": False, "special": True}]),
            "added_tokens[0]: 'x' has the ID 9, where the `tokenizers` library would silently assign 3",
        ),
    ],
    ids=range(23),
)  # fmt: skip
def test_tokenizer_json_of_any_kind(tmp_path: Path, told: Told, data: bytes, message: str) -> None:
    shown = told(refusal(tmp_path / "tokenizer.json", data))
    assert message in shown
    assert "tokenizer.json" in shown
    assert len(shown) < 1000


@pytest.mark.case(44)
def test_a_pattern_that_runs_away(tmp_path: Path, told: Told) -> None:
    path = tmp_path / "tokenizer.json"
    split = {"type": "Split", "pattern": {"Regex": "(a|aa)+b"}, "behavior": "Isolated", "invert": False}
    path.write_bytes(changed("pre_tokenizer", split))
    tokenizer = load_tokenizer(path)
    with pytest.raises(StudioError) as caught:
        tokenizer.encode("a" * 100)
    assert "the tokenizers library crashed on it: " in told(caught.value)


@pytest.mark.case(44)
def test_files_that_contradict_each_other(tmp_path: Path, told: Told) -> None:
    (tmp_path / "tokenizer.json").write_bytes(changed("normalizer", {"type": "BertNormalizer", "clean_text": True,
        "handle_chinese_chars": True, "strip_accents": None, "lowercase": False}))  # fmt: skip
    config = tmp_path / "tokenizer_config.json"
    config.write_text('{"tokenizer_class": "BertTokenizer"}')
    with pytest.raises(StudioError) as caught:
        load_tokenizer(tmp_path)
    assert "do_lower_case is true here by default, and false there" in told(caught.value)
    config.write_text('{"tokenizer_class": "BertTokenizer", "do_lower_case": false}')
    (tmp_path / "vocab.txt").write_bytes(b"[UNK]\n##b\na\n")
    with pytest.raises(StudioError) as caught:
        load_tokenizer(tmp_path)
    assert "vocab.txt, line 2, contradicts tokenizer.json next to it" in told(caught.value)


@pytest.mark.case(45)
def test_ids_with_holes_are_kept(tmp_path: Path, told: Told) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(changed("model.vocab", {"[UNK]": 7, "a": 100, "##b": 3}))
    assert load_tokenizer(path).encode("ab z").ids == [100, 3, 7]
    with pytest.raises(StudioError) as caught:
        load_wordpiece_tokenizer(path)
    assert "its IDs have gaps, and in vocab.txt the line number is the ID" in told(caught.value)
