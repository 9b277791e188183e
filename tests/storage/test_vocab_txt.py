from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage import vocab_txt
from wordpiece_studio.storage.vocab_txt import read_vocabulary, write_vocabulary

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vocab.txt"


def test_what_is_written_is_read_back_and_has_one_token_a_line(path: Path) -> None:
    tokens = ["[PAD]", "##a", " b", "한", "\u200bx", "a\x7fb", "\ufeff"]
    write_vocabulary(path, tokens)
    assert path.read_bytes() == "".join(token + "\n" for token in tokens).encode()
    assert read_vocabulary(path) == tokens


@given(tokens=st.lists(st.text(st.characters(codec=None), max_size=5), max_size=6))
def test_what_is_written_is_always_read_back(tmp_path_factory: pytest.TempPathFactory, tokens: list[str]) -> None:
    path = tmp_path_factory.mktemp("vocab") / "vocab.txt"
    try:
        write_vocabulary(path, tokens)
    except StudioError:
        assert not path.exists()
    else:
        assert read_vocabulary(path) == tokens


@pytest.mark.parametrize(
    ("data", "tokens"),
    [
        (b"a\nb\n", ["a", "b"]),
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\r\nb", ["a", "b"]),
        (b"\xef\xbb\xbf[UNK]\nb\n", ["[UNK]", "b"]),
        (b"a\n" + "İ\n".encode(), ["a", "İ"]),
    ],
)
def test_forms_that_are_understood(path: Path, data: bytes, tokens: list[str]) -> None:
    path.write_bytes(data)
    assert read_vocabulary(path) == tokens


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "contains no tokens"),
        (b"a\nb\nc\na\n", "'a' appears on line 1 and again on line 4"),
        (b"a\n\nb\n", "line 2: an empty token"),
        (b"\n", "line 1: an empty token"),
        (b"a\nb \n", "line 2: whitespace at the end"),
        (b"a\nb\r\n", "line 2: whitespace at the end"),
        ("a\nb\u3000\n".encode(), "line 2: whitespace at the end"),
        (b"a\nb\t12\n", "line 2: a tab"),
        (b"a\nb\0c\n", "line 2: a NUL"),
        (b"a\rb\nc\n", "line 1: a line break"),
        (b"a\nb\n\xffc\n", "line 3: the byte FF at offset 4 is not valid UTF-8"),
        ("a\n".encode("utf-16"), "is in UTF-16"),
        (b"a\n" + b"x" * 10_001, "line 2: a token of 10,001 characters"),
    ],
)
def test_what_is_refused(path: Path, data: bytes, message: str) -> None:
    path.write_bytes(data)
    with pytest.raises(StudioError, match=message):
        read_vocabulary(path)


@pytest.mark.parametrize("token", ["", "a ", "a\u00a0", "a\nb", "a\r", "a\rb", "a\tb", "\0", "\ud800", "x" * 10_001])
def test_tokens_that_cannot_be_read_back_are_not_written(path: Path, token: str) -> None:
    path.write_bytes(b"old")
    with pytest.raises(StudioError, match=r"1 of the tokens cannot appear in a vocab\.txt"):
        write_vocabulary(path, ["ok", token])
    assert path.read_bytes() == b"old"


def test_duplicates_are_not_written(path: Path) -> None:
    with pytest.raises(StudioError, match="twice"):
        write_vocabulary(path, ["a", "a"])


@pytest.mark.parametrize(("tokens", "message"), [([], "no tokens to write"), (["\ufeffa", "b"], "byte order mark")])
def test_vocabularies_that_cannot_be_read_back_are_not_written(path: Path, tokens: list[str], message: str) -> None:
    path.write_bytes(b"old")
    with pytest.raises(StudioError, match=message):
        write_vocabulary(path, tokens)
    assert path.read_bytes() == b"old"


def test_what_is_no_file_or_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StudioError, match="does not exist"):
        read_vocabulary(tmp_path / "no")
    with pytest.raises(StudioError, match="is a folder"):
        read_vocabulary(tmp_path)
    monkeypatch.setattr(vocab_txt, "LARGEST_FILE_BYTES", 3)
    (tmp_path / "large").write_bytes(b"1234")
    with pytest.raises(StudioError, match="too large for a vocabulary"):
        read_vocabulary(tmp_path / "large")
