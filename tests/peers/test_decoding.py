from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from tests.peers.foreign import library
from wordpiece_studio.errors import StudioError
from wordpiece_studio.peers.decoding import StripDecoder, decoded
from wordpiece_studio.storage.huggingface.reading_decoder import read_decoders
from wordpiece_studio.storage.huggingface.reading_json import JsonPart
from wordpiece_studio.storage.huggingface.reading_tokenizer_json import read_tokenizer_json

if TYPE_CHECKING:
    from pathlib import Path

DECODERS = [
    "D.WordPiece()",
    "D.WordPiece('@', False)",
    "D.BPEDecoder()",
    "D.BPEDecoder('b')",
    "D.ByteLevel()",
    "D.Metaspace()",
    "D.Metaspace(prepend_scheme='never')",
    "D.Metaspace('a', prepend_scheme='first')",
    "D.ByteFallback()",
    "D.Fuse()",
    "D.Strip(' ', 1, 0)",
    "D.Strip('a', 2, 0)",
    "D.Replace('a', 'xy')",
    "D.Replace(T.Regex(' {2,}'), '')",
    "D.Sequence([D.Replace('▁', ' '), D.ByteFallback(), D.Fuse(), D.Strip(' ', 1, 0)])",
    "D.Sequence([D.ByteFallback(), D.Metaspace()])",
]
TOKENS = [
    *("a", "##b", "▁a", "▁▁", "b</w>", "Ġc", "Ã©", "Ã", "<0xE5>", "<0x8f>", "<0xAB>", "<0x+A>", "<0xG1>"),
    *(".", "'s", "n't", " ' ", "x do not", "##", "ab", "▁<unk>", "  ", "aaabaaa", "é", "Ċ", "日", "@c", "<0x41>"),
    *("<0x-1>", "<0xé>", " n't"),
]  # fmt: skip


@pytest.mark.parametrize("source", DECODERS)
def test_every_decoder(source: str) -> None:
    tokenizers = library()
    from tokenizers import decoders

    theirs = eval(source, {"D": decoders, "T": tokenizers})
    ours = read_decoders(JsonPart(theirs.__getstate__(), "x.json"))
    rng = random.Random(3)
    given = [[], *([token] for token in TOKENS), *(rng.choices(TOKENS, k=rng.randrange(2, 9)) for _ in range(200))]
    for tokens in given:
        assert decoded(list(tokens), ours) == theirs.decode(list(tokens)), tokens


def test_without_decoder_there_are_blanks() -> None:
    assert (
        decoded(["a", "b"], read_decoders(None)) == decoded(["a", "b"], read_decoders(JsonPart(b"null", ""))) == "a b"
    )


def test_characters_stripped_at_the_end() -> None:
    """The library panics where a token is shorter than what may be stripped of it."""
    decoder = StripDecoder("a", 1, 2)
    assert decoder.decode(["aabaaa", "a", "", "ab", "ba"]) == ["aba", "", "", "b", "b"]


@pytest.fixture
def loaded(tmp_path: Path) -> tuple[Any, Any]:
    """Return a tokenizer of theirs, and ours."""
    tokenizers = library()
    from tokenizers import decoders, models, pre_tokenizers

    theirs = tokenizers.Tokenizer(models.Unigram([("<unk>", 0.0), ("▁a", -1.0), ("b", -2.0), ("▁", -3.0)], 0))
    theirs.pre_tokenizer, theirs.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    theirs.add_special_tokens(["<s>"])
    theirs.add_tokens(["▁b"])
    theirs.save(str(tmp_path / "tokenizer.json"))
    return theirs, read_tokenizer_json(tmp_path / "tokenizer.json")


def test_ids_become_text(loaded: tuple[Any, Any]) -> None:
    theirs, ours = loaded
    for ids in ([4, 1, 2, 5, 3, 0], theirs.encode("<s>ab a▁b z").ids, []):
        for skips in (True, False):
            assert ours.decode(ids, skip_special_tokens=skips) == theirs.decode(ids, skip_special_tokens=skips)
    with pytest.raises(StudioError, match="No token has the id 99"):
        ours.decode([1, 99])


@pytest.mark.parametrize(
    ("decoder", "message"),
    [
        ({"type": "CTC", "pad_token": "a", "word_delimiter_token": "b", "cleanup": True}, "decoder: CTC: this decoder"),
        ({"type": "Strip", "content": "a", "start": -1, "stop": 0}, r"decoder\.start: Strip: this is no number"),
        ({"type": "Replace", "pattern": {"Regex": r"\w"}, "content": ""}, r"decoder\.pattern: Replace: the regular"),
        ({"type": "Sequence", "decoders": [{"type": "Fuse"}] * 101}, "more than 100 components"),
        ({"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 40}] * 2},
         "too much of each character"),
    ],
)  # fmt: skip
def test_what_cannot_be_decoded_can_be_encoded(
    tmp_path: Path, loaded: tuple[Any, Any], decoder: dict[str, Any], message: str
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | {"decoder": decoder}), encoding="utf-8")
    ours = read_tokenizer_json(path)
    assert ours.encode("ab").ids == [1, 2]
    with pytest.raises(StudioError, match=message):
        ours.decode([1, 2])
