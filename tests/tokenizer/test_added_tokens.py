"""Added tokens, compared with the `tokenizers` library: all flags, overlapping tokens, tokens that are pieces too."""

from __future__ import annotations

import pytest
import tokenizers
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import models, normalizers, pre_tokenizers

from wordpiece_studio.errors import StudioError
from wordpiece_studio.tokenizer.compiled_encoder import CompiledEncoder
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import AddedToken, Vocabulary

PIECES = ["[UNK]", *"abc.", "##a", "##b", "##c", "ab", "##bc", "é"]
CONTENTS = st.text("abAé. _", min_size=1, max_size=4).filter(lambda content: content == content.strip())
TOKENS = st.builds(AddedToken, CONTENTS, *[st.booleans()] * 5)
TEXTS = st.text("abcABÉ. _\t\n", max_size=20)


def studio(added: list[AddedToken], normalizer: str) -> Tokenizer:
    new = [token.content for token in added if token.content not in PIECES]
    vocabulary = Vocabulary([*PIECES, *new], unk_token="[UNK]", added_tokens=added, pieces=len(PIECES))
    return Tokenizer(vocabulary, normalizer)


def hugging_face(added: list[AddedToken], normalizer: str) -> tokenizers.Tokenizer:
    vocab = {token: number for number, token in enumerate(PIECES)}
    library_run = tokenizers.Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    library_run.normalizer = normalizers.BertNormalizer(lowercase=normalizer == "bert-uncased")
    library_run.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    for token in added:
        flags = {name: getattr(token, name) for name in ("single_word", "lstrip", "rstrip", "normalized", "special")}
        library_run.add_tokens([tokenizers.AddedToken(token.content, **flags)])
    return library_run


@given(
    st.lists(TOKENS, max_size=4, unique_by=lambda token: token.content.lower()),  # else theirs takes any of them
    TEXTS,
    st.sampled_from(["bert-cased", "bert-uncased"]),
)
@example([AddedToken("a b", rstrip=True), AddedToken("b", single_word=True)], "a b  b bb", "bert-cased")
@example([AddedToken("AB", normalized=True, lstrip=True)], "c  ab ABc", "bert-uncased")
@example([AddedToken("ab", single_word=True)], "abc ab AB", "bert-uncased")
def test_equals_tokenizers(added: list[AddedToken], text: str, normalizer: str) -> None:
    ours, theirs = studio(added, normalizer), hugging_face(added, normalizer)
    encoded, expected = ours.encode(text), theirs.encode(text)
    assert encoded.ids == expected.ids == ours.ids(text)
    assert (encoded.tokens, encoded.offsets) == (expected.tokens, expected.offsets)
    tokens = [piece.token for word in ours.tokenize_words(text) for piece in word.pieces]
    assert tokens == [ours.vocabulary[number] for number in expected.ids]
    kept = [token for token in tokens if token not in ours.vocabulary.special_tokens]
    assert ours.decode(encoded.ids, cleanup=False).split() == " ".join(kept).replace(" ##", "").split()


@given(st.lists(TOKENS, max_size=3, unique_by=lambda token: token.content), st.lists(TEXTS, max_size=5))
def test_encoder_of_blocks_equals_single_texts(added: list[AddedToken], texts: list[str]) -> None:
    tokenizer = studio(added, "bert-uncased")
    if tokenizer.is_local:
        text = " ".join(texts)
        block = CompiledEncoder(tokenizer).encode_lines(text.encode())
        assert block.ids.tolist() == [number for line in text.split("\n") for number in tokenizer.ids(line)]


def test_words_and_added_tokens_are_told_apart() -> None:
    tokenizer = studio([AddedToken("ab", normalized=True, single_word=True), AddedToken("<b>")], "bert-uncased")
    assert list(tokenizer.split("AB ab_ c<b>")) == [
        ("ab", True),
        ("ab", False),
        ("_", False),
        ("c", False),
        ("<b>", True),
    ]
    assert [word.word is None for word in tokenizer.tokenize_words("AB ab_ c<b>")] == [True, False, False, False, True]


@pytest.mark.parametrize("values", [("",), (7,), ("a", "yes")])
def test_wrong_types(values: tuple[object, ...]) -> None:
    with pytest.raises(StudioError, match=r"added token|AddedToken: 'yes'\. Use True or False"):
        AddedToken(*values)  # type: ignore[arg-type]
