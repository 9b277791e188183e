from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.huggingface.tokenizer_json import (
    pretty_json,
    tokenizer_json_bytes,
    why_not_expressible,
)
from wordpiece_studio.text.normalizers import BertNormalizer, Lowercase, RemoveCharacters, Sequence
from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer
from wordpiece_studio.text.pre_tokenizers import BertPreTokenizer, ByteLevel
from wordpiece_studio.tokenizer.tokenizer import NO_ID, Tokenizer
from wordpiece_studio.tokenizer.vocabulary import Vocabulary

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.text.pipeline import AlignedText, Span

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TOKENS = [*SPECIAL, "a", "b", "##b", "ab"]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)


def made(
    normalizer: str | Normalizer = "bert-cased",
    pre_tokenizer: str | PreTokenizer = "bert",
    vocabulary: Vocabulary | None = None,
) -> Tokenizer:
    return Tokenizer(Vocabulary(TOKENS, SPECIAL) if vocabulary is None else vocabulary, normalizer, pre_tokenizer)


def value(tokenizer: Tokenizer) -> Any:
    return json.loads(tokenizer_json_bytes(tokenizer))


def theirs(tokenizer: Tokenizer) -> Any:
    return pytest.importorskip("tokenizers").Tokenizer.from_str(tokenizer_json_bytes(tokenizer).decode())


@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer"),
    [
        ("bert-cased", "bert"),
        ("bert-uncased:keep-controls,keep-chinese,keep-accents", "whitespace"),
        ("bert-cased:strip-accents", "whitespace-split"),
        ("language-friendly", "whitespace-split+punctuation"),
        ("none", "punctuation"),
        ("nfc", "punctuation+whitespace"),
        ("nfd+strip-accents+lowercase", "bert"),
        ("nfkc", "bert"),
        ("nfkd+none", "bert"),
        ("remove:.[]^-\\#&~ \"", "whitespace-split"),
        ("none", "digits"),
        ("bert-cased", "bert+digits-single"),
        ("nfc", "split:merged-with-next,invert:\\p{N}{1,3}| ?[^\\s\"中]+byte-level:bytes-only"),
        ("bert-uncased", "whitespace+split:contiguous:(?i:ab)|-+byte-level:no-regex"),
        ("bert-cased:keep-controls", "byte-level:no-prefix"),
    ],
)  # fmt: skip
def test_the_library_would_save_the_same_bytes(normalizer: str, pre_tokenizer: str) -> None:
    tokenizer = made(normalizer, pre_tokenizer)
    data = tokenizer_json_bytes(tokenizer)
    assert theirs(tokenizer).to_str(pretty=True).encode() == data
    assert json.dumps(json.loads(data), indent=2, ensure_ascii=False).encode() == data


@settings(max_examples=30)
@given(st.lists(TEXTS, unique=True, max_size=12), TEXTS)
def test_any_token_and_prefix(tokens: list[str], prefix: str) -> None:
    vocabulary = Vocabulary(tokens, tokens[:2], prefix, unk_token=(tokens or ["?"])[-1])
    tokenizer = made(vocabulary=vocabulary)
    data = tokenizer_json_bytes(tokenizer)
    assert json.dumps(json.loads(data), indent=2, ensure_ascii=False).encode() == data
    assert json.loads(data)["model"]["vocab"] == {token: number for number, token in enumerate(tokens)}
    library = theirs(tokenizer)
    assert library.to_str(pretty=True).encode() == data
    text = " ".join(tokens)
    ours = tokenizer.encode(text)
    if NO_ID in ours.ids:
        with pytest.raises(Exception, match="Missing"):
            library.encode(text)
    else:
        found = library.encode(text, add_special_tokens=False)
        assert (found.ids, found.tokens, found.offsets) == (ours.ids, ours.tokens, ours.offsets)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.recursive(st.none() | st.booleans() | st.integers(0, 1 << 60) | TEXTS, lambda inner: st.lists(inner)))
def test_json_is_written_as_python_writes_it(anything: object) -> None:
    assert pretty_json(anything) == json.dumps(anything, indent=2, ensure_ascii=False).encode()


def test_the_content_of_the_file() -> None:
    vocabulary = Vocabulary(["x", "[SEP]", "##x", "[CLS]"], ["[CLS]", "[SEP]"], unk_token="x")
    tokenizer = Tokenizer(vocabulary, "none", "whitespace-split", max_word_length=7)
    found = value(tokenizer)
    assert [(token["id"], token["content"], token["normalized"]) for token in found["added_tokens"]] == [
        (1, "[SEP]", False),
        (3, "[CLS]", False),
    ]
    assert found["normalizer"] is None
    assert found["pre_tokenizer"] == {"type": "WhitespaceSplit"}
    assert found["model"]["max_input_chars_per_word"] == 7
    assert found["model"]["unk_token"] == "x"
    assert found["post_processor"]["special_tokens"]["[CLS]"]["ids"] == [3]
    assert theirs(tokenizer).encode("x", "xx").tokens == ["[CLS]", "x", "[SEP]", "x", "##x", "[SEP]"]


def test_nothing_is_put_around_a_text_where_there_is_nothing_to_put() -> None:
    assert value(made(vocabulary=Vocabulary(["[CLS]", "[SEP]", "a"], ["[CLS]"])))["post_processor"] is None


def test_an_empty_prefix_has_no_decoder_that_would_join_all_words() -> None:
    tokenizer = made(vocabulary=Vocabulary(["[UNK]", "a", "b"], ["[UNK]"], ""))
    assert value(tokenizer)["decoder"] is None
    assert theirs(tokenizer).decode([1, 2]) == tokenizer.decode([1, 2]) == "a b"


@pytest.mark.parametrize("text", ["a,b\nb,\na", "\n", "a\r\n[SEP]\n\n b", "ab", "a\x85b\n"])
def test_lines_are_parted_where_the_pre_tokenizer_would_not(text: str) -> None:
    tokenizer = made("none", "punctuation", Vocabulary([*TOKENS, "\r", " ", "##\r", "\x85", "##\x85"], SPECIAL))
    found = theirs(tokenizer).encode(text, add_special_tokens=False)
    ours = tokenizer.encode(text)
    assert (found.ids, found.tokens, found.offsets) == (ours.ids, ours.tokens, ours.offsets)


@pytest.mark.parametrize("prefix", ["##", "", "é(+"])
@pytest.mark.parametrize("pre_tokenizer", ["byte-level", "whitespace-split+byte-level", "byte-level:bytes-only"])
@given(text=TEXTS, cut=st.integers(0, 9))
def test_bytes_are_decoded_alike(pre_tokenizer: str, prefix: str, text: str, cut: int) -> None:
    letters = [*ByteLevel.alphabet(), *(prefix + letter for letter in ByteLevel.alphabet() if prefix)]
    tokenizer = made("none", pre_tokenizer, Vocabulary([*SPECIAL, "é [", *letters], [*SPECIAL, "é ["], prefix))
    library = theirs(tokenizer)
    ids = tokenizer.encode(f"[CLS]{text} é [日本\n {text}").ids
    assert library.encode(f"[CLS]{text} é [日本\n {text}", add_special_tokens=False).ids == ids
    assert tokenizer.vocabulary.unk_token not in tokenizer.encode(text).tokens
    for part in (ids, ids[cut:], ids[::-1]):
        for skips in (True, False):
            expected = library.decode(part, skip_special_tokens=skips)
            assert tokenizer.decode(part, skip_special_tokens=skips) == expected


def test_a_text_comes_back_from_its_bytes() -> None:
    letters = ByteLevel.alphabet()
    vocabulary = Vocabulary([*SPECIAL, *letters, *(f"##{letter}" for letter in letters)], SPECIAL)
    for text in ("naïve  日本 👍\tx", " don't."):
        tokenizer = made("none", "byte-level:no-prefix", vocabulary)
        assert tokenizer.decode(tokenizer.encode(text).ids) == text


class Own(Normalizer):
    name = "my own"

    def align(self, text: str) -> AlignedText:
        raise NotImplementedError


class OwnLowercase(Lowercase):
    __slots__ = ()


class OwnPreTokenizer(PreTokenizer):
    name = "my own"

    def spans(self, text: str) -> list[Span]:
        raise NotImplementedError


class OwnBert(BertPreTokenizer):
    __slots__ = ()


@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer", "message"),
    [
        ("nfc", "unicode-punctuation", 'express the pre-tokenizer "unicode-punctuation": other programs cannot drop'),
        ("nfc", "pattern:[a-z]+", r'express the pre-tokenizer "\[a-z\]\+": where a regular expression matches'),
        ("nfc", "whitespace-split+pattern:x", 'express the pre-tokenizer "x"'),
        ("bert-cased", "punctuation", 'pre-tokenizer "punctuation" after the normalizer "bert-cased", which removes'),
        ("bert-cased", "byte-level", "words would continue from one line to the next"),
        ("bert-cased", "split:removed: +whitespace-split", "words would continue from one line to the next"),
        ("nfc", r"split:removed:\b", r'the pattern "\\b": other programs may read "\\b" differently'),
        ("remove:\n", "bert", "words would continue from one line to the next"),
        (Own(), "bert", 'the normalizer "my own": it is not built in'),
        (Sequence([BertNormalizer(), OwnLowercase()]), "bert", "it is not built in"),
        ("none", OwnPreTokenizer(), 'the pre-tokenizer "my own": it is not built in'),
        ("none", OwnBert(), 'the pre-tokenizer "bert": it is not built in'),
    ],
)
def test_what_it_cannot_do_exactly_is_refused(
    normalizer: str | Normalizer, pre_tokenizer: str | PreTokenizer, message: str
) -> None:
    tokenizer = made(normalizer, pre_tokenizer)
    reason = why_not_expressible(tokenizer)
    assert reason is not None
    assert reason.advice.startswith("Save vocab.txt alone")
    with pytest.raises(StudioError, match=message):
        tokenizer_json_bytes(tokenizer)


def test_vocabularies_that_are_refused() -> None:
    for vocabulary, message in [
        (Vocabulary(["a", "a</w>"], end_of_word_suffix="</w>"), 'the end-of-word suffix "</w>"'),
        (Vocabulary(["a"], ["[CLS]"]), r"special token '\[CLS\]', which is not in the vocabulary"),
    ]:
        assert why_not_expressible(made(vocabulary=vocabulary)) is not None
        with pytest.raises(StudioError, match=message):
            tokenizer_json_bytes(made(vocabulary=vocabulary))
    with pytest.raises(StudioError, match=r"the unpaired surrogate '\\udc00'"):
        tokenizer_json_bytes(made(vocabulary=Vocabulary(["a\udc00"])))
    with pytest.raises(StudioError, match="unpaired surrogate"):
        tokenizer_json_bytes(made("remove:\ud800"))


@pytest.mark.parametrize("number", [97, 98, 101, 2000])
def test_many_characters_that_are_removed_are_read_back(tmp_path: Path, number: int) -> None:
    characters = "".join(chr(0x4E00 + place) for place in range(number))
    removing = RemoveCharacters(characters)
    for normalizer in (removing, Sequence([BertNormalizer(), removing, Lowercase(), RemoveCharacters("ab")])):
        Tokenizer(Vocabulary(["[UNK]", "x"], ["[UNK]"]), normalizer).save(tmp_path)
        assert Tokenizer.load(tmp_path).normalizer == normalizer
    many = RemoveCharacters("".join(chr(0x4E00 + place) for place in range(10_001)))
    reason = why_not_expressible(Tokenizer(Vocabulary(["[UNK]"], ["[UNK]"]), many))
    assert "removes 10,001 characters: each would be a step of its own. Save vocab.txt alone" in str(reason)
