"""Saving a tokenizer: what a vocab.txt cannot hold, and what would not read back as the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage import tokenizer_directory
from wordpiece_studio.storage.manifest import MANIFEST_FILE
from wordpiece_studio.storage.vocab_txt import write_vocabulary
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TOKENS = ["[UNK]", "a", "##b", "ab"]


@pytest.mark.case(64)
@pytest.mark.parametrize(
    ("token", "reason"),
    [
        ("a\nb", "a line break"),
        ("a\rb", "a line break"),
        ("a\u2028b", "a line break"),
        ("a\x85b", "a line break"),
        ("a ", "whitespace at the end of a token"),
        ("\u00a0", "whitespace at the end of a token"),
        ("\u2028", "whitespace at the end of a token"),
        ("", "an empty token"),
        ("a\tb", "a tab"),
    ],
)
def test_tokens_that_no_line_can_hold_are_listed_and_the_json_offered(
    tmp_path: Path, told: Callable[[str], str], token: str, reason: str
) -> None:
    tokenizer = Tokenizer(Vocabulary([*TOKENS, token, "c\n"], ["[UNK]"]))
    with pytest.raises(StudioError) as caught:
        tokenizer.save(tmp_path / "out")
    message = told(str(caught.value))
    assert f"2 of the tokens cannot appear in a vocab.txt: {token!r} ({reason}" in message
    assert "'c\\n' (whitespace" in message
    assert "Save tokenizer.json without vocab.txt" in message
    assert not (tmp_path / "out").exists()
    with pytest.raises(StudioError, match=r"2 of the tokens cannot appear in a vocab\.txt"):
        write_vocabulary(tmp_path / "vocab.txt", tokenizer.vocabulary.tokens)
    assert not (tmp_path / "vocab.txt").exists()

    tokenizer.save(tmp_path / "out", only="tokenizer.json")
    assert not (tmp_path / "out" / "vocab.txt").exists()
    found = json.loads((tmp_path / "out" / "tokenizer.json").read_bytes())["model"]["vocab"]
    assert list(found) == tokenizer.vocabulary.tokens


@pytest.mark.case(66)
@pytest.mark.parametrize("name", ["vocab.txt", "tokenizer.json"])
@pytest.mark.parametrize(
    ("right", "wrong"),
    [(b"##b", b"##c"), (b"##b", b"a\r"), (b"ab", b"a")],
)
def test_what_would_not_read_back_the_same_replaces_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    told: Callable[[str], str],
    name: str,
    right: bytes,
    wrong: bytes,
) -> None:
    tokenizer = Tokenizer(Vocabulary(TOKENS, ["[UNK]"]))
    tokenizer.save(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    writer = {"vocab.txt": "vocabulary_bytes", "tokenizer.json": "tokenizer_json_bytes"}[name]
    genuine = getattr(tokenizer_directory, writer)

    def damaged(given: object) -> bytes:
        data: bytes = genuine(given).replace(right, wrong if name == "vocab.txt" else wrong.replace(b"\r", b"\\r"))
        return data

    monkeypatch.setattr(tokenizer_directory, writer, damaged)
    with pytest.raises(StudioError) as caught:
        Tokenizer(Vocabulary([*TOKENS, "new"], ["[UNK]"])).save(tmp_path)
    message = told(str(caught.value))
    assert f"The new {name} would not read back as the same vocabulary" in message
    assert "Nothing was written" in message
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.case(66)
def test_what_is_written_reads_back_as_the_identical_map(tmp_path: Path, told: Callable[[str], str]) -> None:
    tokens = [
        *TOKENS,
        *(chr(code) for code in range(0x21, 0x2000) if not chr(code).isspace() and chr(code) not in "ab"),
    ]
    Tokenizer(Vocabulary(tokens, ["[UNK]"])).save(tmp_path)
    expected = {token: number for number, token in enumerate(tokens)}
    assert json.loads((tmp_path / "tokenizer.json").read_bytes())["model"]["vocab"] == expected
    assert (tmp_path / "vocab.txt").read_text(encoding="utf-8").split("\n") == [*tokens, ""]
    assert json.loads((tmp_path / MANIFEST_FILE).read_bytes())["vocabulary_size"] == len(tokens)
    library = pytest.importorskip("tokenizers")
    assert library.Tokenizer.from_file(str(tmp_path / "tokenizer.json")).get_vocab() == expected
    assert library.models.WordPiece.read_file(str(tmp_path / "vocab.txt")) == expected
    told(f"Saved; {len(tokens):,} tokens read back under the same ids.")
