"""Longest match: tokens, offsets, reasons, and the way back; as Hugging Face's where both are defined."""

from __future__ import annotations

import copy
import json
import pickle
import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import decoders, models, normalizers, pre_tokenizers

from tests.sampling import one_example_in
from wordpiece_studio.text.pipeline import AlignedText, CharacterNormalizer, Normalizer
from wordpiece_studio.tokenizer import tokenizer as tokenizer_module
from wordpiece_studio.tokenizer.encoding import Encoding, UnknownReason, UnknownToken
from wordpiece_studio.tokenizer.tokenizer import NO_ID, Tokenizer
from wordpiece_studio.tokenizer.vocabulary import AddedToken, Vocabulary

TOKENS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "a",
    "b",
    "c",
    "e",
    "##a",
    "##b",
    "##c",
    "##e",
    "ab",
    "##bc",
    "##cab",
    "abc",
    ".",
    "!",
]
SPECIAL = ("[PAD]", "[UNK]", "[CLS]")


def studio(**settings: object) -> Tokenizer:
    return Tokenizer(Vocabulary(TOKENS, SPECIAL), "bert-uncased", **settings)  # type: ignore[arg-type]


def hugging_face() -> tokenizers.Tokenizer:
    library_run = tokenizers.Tokenizer(models.WordPiece({t: i for i, t in enumerate(TOKENS)}, unk_token="[UNK]"))
    library_run.normalizer = normalizers.BertNormalizer(lowercase=True)
    library_run.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    library_run.decoder = decoders.WordPiece()
    library_run.add_special_tokens(list(SPECIAL))
    return library_run


OFTEN_USED = studio()
TEXTS = st.text(alphabet="abceéÉ.! \t\u0301中x", max_size=40) | st.text(max_size=20)


@given(TEXTS)
def test_equals_hugging_face(text: str) -> None:
    theirs = hugging_face().encode(text, add_special_tokens=False)
    for tokenizer in (studio(), OFTEN_USED):
        ours = tokenizer.encode(text)
        assert (ours.tokens, ours.ids, ours.offsets) == (theirs.tokens, theirs.ids, theirs.offsets)
        assert tokenizer.ids(text) == theirs.ids


class Doubling(CharacterNormalizer):
    """Keeps the length of a text, but not the places of its characters."""

    name = "doubling"

    def regards_neighbours(self, character: str) -> bool:
        return False

    def align(self, text: str) -> AlignedText:
        places = [place for place, character in enumerate(text) for _ in range({"a": 2, "b": 0}.get(character, 1))]
        return AlignedText("".join(text[place] for place in places), places, [place + 1 for place in places])


@pytest.mark.parametrize("most", [0, 1 << 18])
@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer", "settings"),
    [
        ("bert-cased", "bert", {}),
        ("nfkc+lowercase", "whitespace", {}),
        ("remove:.", "bert", {"end_of_word_suffix": "</w>"}),
        ("bert-uncased", "punctuation", {"pieces": 14}),
        ("bert-uncased", "bert", {"added_tokens": ["e.", AddedToken("É", normalized=True)]}),
        ("bert-cased", "bert", {"added_tokens": [AddedToken("!", lstrip=True, rstrip=True)]}),
        ("none", "unicode-punctuation", {}),
        ("bert-cased", "whitespace-split+byte-level", {}),
        (Doubling(), "bert", {}),
    ],
)
@one_example_in(3)
@given(st.lists(TEXTS, max_size=3))
def test_what_is_kept_of_earlier_texts_changes_nothing(
    normalizer: str | Normalizer, pre_tokenizer: str, settings: dict[str, Any], most: int, texts: list[str]
) -> None:
    vocabulary = Vocabulary([*TOKENS, "ab</w>", "##</w>"], SPECIAL, **settings)
    tokenizer = Tokenizer(vocabulary, normalizer, pre_tokenizer)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokenizer_module, "_MOST_KEPT", most)
        for text in (*texts, *(f"{text} [CLS]a{text}" for text in texts)):
            words = list(enumerate(tokenizer.tokenize_words(text)))
            pieces = [(piece, number) for number, word in words for piece in word.pieces]
            assert tokenizer.encode(text) == Encoding(
                [piece.covered or piece.token for piece, _ in pieces],
                [piece.id for piece, _ in pieces],
                [(piece.start, piece.end) for piece, _ in pieces],
                [number for _, number in pieces],
            )
            assert tokenizer.ids(text) == [piece.id for piece, _ in pieces]
            kept = tokenizer._ids, tokenizer._matches
            assert all(sum(len(text) + 1 for text in each) <= max(most, tokenizer_module._LONG) for each in kept)
            again = copy.copy(tokenizer)
            assert [again._ids, again._matches] == [{}, {}]


def test_equals_hugging_face_with_special_tokens_in_the_text() -> None:
    text = "[CLS] abc[PAD]b [UNK]."
    ours, theirs = studio().encode(text), hugging_face().encode(text, add_special_tokens=False)
    assert (ours.tokens, ours.ids, ours.offsets) == (theirs.tokens, theirs.ids, theirs.offsets)


def test_decoding_equals_hugging_face() -> None:
    chance = random.Random(3)
    library_run, ours = hugging_face(), studio()
    for _ in range(200):
        ids = chance.choices(range(len(TOKENS)), k=8)
        assert ours.decode(ids) == library_run.decode(ids)


def test_offsets_are_code_points_of_the_original_text() -> None:
    encoding = studio().encode("\u0000A\u0301b 😀 Abc")
    assert encoding.tokens == ["ab", "[UNK]", "abc"]
    assert encoding.offsets == [(1, 4), (5, 6), (7, 10)]
    assert encoding.words == [0, 1, 2]


def test_explains_every_candidate() -> None:
    trace = studio().explain("abca")
    assert trace.tokens == ("abc", "##a")
    assert [[(trial.candidate, trial.matched) for trial in one.tried] for one in trace.positions] == [
        [("abca", False), ("abc", True)],
        [("##a", True)],
    ]
    assert trace.unknown is None


def test_explains_an_unknown_word() -> None:
    trace = studio().explain("abcaxb")
    assert trace.tokens == ("[UNK]",)
    assert trace.unknown is not None
    assert (trace.unknown.kind, trace.unknown.position, trace.unknown.symbol) == ("symbol", 4, "##x")
    assert [(one.start, one.token) for one in trace.positions] == [(0, "abc"), (3, "##a"), (4, None)]
    assert [trial.candidate for trial in trace.positions[-1].tried] == ["##xb", "##x"]


def test_an_overlong_word_is_unknown() -> None:
    tokenizer = studio()
    assert tokenizer.encode("a" * 100).tokens[0] == "a"
    (word,) = tokenizer.tokenize_words("a" * 101)
    assert word.unknown is not None
    assert word.unknown.kind == "too-long"
    assert [piece.token for piece in word.pieces] == ["[UNK]"]


def test_the_token_of_an_unknown_word_has_the_reason() -> None:
    tokens = Tokenizer(Vocabulary(["[UNK]", "a"], ["[UNK]"]), max_word_length=5).encode("a [UNK] ab aaaaaa").tokens
    assert tokens == ["a", "[UNK]", "[UNK]", "[UNK]"]
    assert type(tokens[1]) is str  # spelled out in the text
    reasons = [UnknownReason("symbol", 1, "##b"), UnknownReason("too-long", 0, "")]
    for copied in (tokens, copy.deepcopy(tokens), pickle.loads(pickle.dumps(tokens))):
        assert copied == tokens
        assert [token.reason for token in copied if isinstance(token, UnknownToken)] == reasons
    assert json.dumps(tokens[2:]) == '["[UNK]", "[UNK]"]'


def test_unknown_token_missing_from_the_vocabulary() -> None:
    encoding = Tokenizer(Vocabulary(["a"])).encode("a z")
    assert (encoding.tokens, encoding.ids) == (["a", "[UNK]"], [0, NO_ID])


def test_end_of_word_suffix() -> None:
    vocabulary = Vocabulary(["a", "b", "ab</w>", "</w>"], continuing_subword_prefix="", end_of_word_suffix="</w>")
    tokenizer = Tokenizer(vocabulary)
    encoding = tokenizer.encode("ab ba")
    assert encoding.tokens == ["ab</w>", "b", "a", "</w>"]
    assert encoding.offsets == [(0, 2), (3, 4), (4, 5), (5, 5)]
    assert tokenizer.decode(encoding.ids) == "ab ba"


def test_the_same_word_is_processed_once() -> None:
    tokenizer = studio()
    first, second = tokenizer.tokenize_words("abc abc")
    assert first.pieces[0].token == second.pieces[0].token == "abc"
    assert (first.pieces[0].start, second.pieces[0].start) == (0, 4)


def test_words_may_cross_blanks_if_a_step_or_a_special_token_does() -> None:
    assert studio().is_local
    assert not Tokenizer(Vocabulary(TOKENS), "remove: ").is_local
    assert not Tokenizer(Vocabulary(["a", "a b"], ["a b"])).is_local


def test_one_tokenizer_in_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer_module, "_MOST_KEPT", 2_000)  # so that much is forgotten meanwhile
    rng = random.Random(3)
    letters = [*"abc", *map(chr, range(192, 9000))]
    vocabulary = Vocabulary(["[UNK]", *letters, *(f"##{letter}" for letter in letters)])
    texts = ["".join(rng.choices("abc ", k=12) + letters[first : first + 60]) for first in range(3, len(letters), 60)]
    expected = [Tokenizer(vocabulary).ids(text) for text in texts]
    shared, is_begun = Tokenizer(vocabulary), threading.Barrier(4)

    def encoded(_: int) -> list[tuple[list[int], list[int]]]:
        is_begun.wait(60)
        return [(shared.ids(text), shared.encode(text).ids) for text in texts]

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(encoded, range(4)))
    finally:
        sys.setswitchinterval(before)
    assert found == [[(ids, ids) for ids in expected]] * 4
