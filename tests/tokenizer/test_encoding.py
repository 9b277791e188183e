"""Pairs, special tokens, truncation and padding: as `tokenizers` has them, and explained where they are impossible."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import product
from typing import Any

import pytest
import tokenizers
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tokenizers import models, pre_tokenizers, processors

import wordpiece_studio as wps
from wordpiece_studio.tokenizer import corpus_encoding, shaping
from wordpiece_studio.tokenizer import tokenizer as tokenizer_module
from wordpiece_studio.tokenizer.encoding import Encoder
from wordpiece_studio.tokenizer.shaping import Columns, Library
from wordpiece_studio.tokenizer.tokenizer import NO_ID

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "##a", "##b", "ab", "."]
WORDPIECE = wps.Tokenizer(wps.Vocabulary(TOKENS, TOKENS[:4]))
BPE = wps.BpeTokenizer(
    {token: number for number, token in enumerate(["<s>", "</s>", "<pad>", "a", "b", ".", "ab"])},
    [("a", "b")],
    "none",
    "whitespace-split",
    special_tokens=["<s>", "</s>", "<pad>"],
)
ENCODERS: dict[str, wps.Tokenizer | wps.BpeTokenizer] = {"wordpiece": WORDPIECE, "bpe": BPE}
STRATEGIES = ("longest_first", "only_first", "only_second")


def library_run(name: str) -> tokenizers.Tokenizer:
    """Return the same tokenizer of the library, with BERT's special tokens around texts."""
    if name == "wordpiece":
        made = tokenizers.Tokenizer(models.WordPiece({t: i for i, t in enumerate(TOKENS)}, unk_token="[UNK]"))
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        first, last = "[CLS]", "[SEP]"
    else:
        made = tokenizers.Tokenizer(models.BPE(BPE.vocab, [("a", "b")]))
        made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        first, last = "<s>", "</s>"
    made.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} $B:1 {last}:1",
        special_tokens=[(token, made.token_to_id(token)) for token in (first, last)],
    )
    return made


LIBRARIES = {name: library_run(name) for name in ENCODERS}
SEP_CLS = [("[SEP]", 3), ("[CLS]", 2)]
TWO = {"id": "two", "ids": [4, 3], "tokens": ["a", "[SEP]"]}
TEMPLATES = {
    "none": None,
    "bert": processors.BertProcessing(*SEP_CLS),
    "roberta": processors.RobertaProcessing(*SEP_CLS, trim_offsets=False),
    "second first": processors.TemplateProcessing(
        single="$A:7 two:6", pair="[CLS]:5 $B:7 two:6 $A:8", special_tokens=[("[CLS]", 2), TWO]
    ),
    "between": processors.TemplateProcessing(single="[CLS] $0", pair="$A [SEP] $B:0", special_tokens=SEP_CLS),
}
for template_name, processor in TEMPLATES.items():
    LIBRARIES[template_name] = library_run("wordpiece")
    LIBRARIES[template_name].post_processor = processor
    stated = json.loads(LIBRARIES[template_name].to_str())["post_processor"]
    ENCODERS[template_name] = wps.Tokenizer(WORDPIECE.vocabulary, kept_parts={"post_processor": stated})
# Without a template, the library says that most of what overflows is of the first text.
LIBRARIES["none"].post_processor = processors.TemplateProcessing(single="$A", pair="$A $B:1", special_tokens=[])


def figures(encoding: Any, *, with_overflowing: bool = True) -> tuple[Any, ...]:
    words = encoding.words if isinstance(encoding, wps.Encoding) else encoding.word_ids
    lists = (encoding.tokens, encoding.ids, encoding.offsets, words, encoding.type_ids)
    masks = (encoding.attention_mask, encoding.special_tokens_mask)
    # Padding of an empty text has one there.
    sequences = [number for number, added in zip(encoding.sequence_ids, masks[1], strict=True) if not added]
    more = encoding.overflowing if with_overflowing else ()  # the library nests some twice
    return *map(list, (*lists, *masks)), sequences, [figures(each, with_overflowing=False) for each in more]


@pytest.fixture(params=["plain", "library"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """By the Studio's own longest match, or by the library, which a tokenizer loads when it is worth it."""
    name: str = request.param
    monkeypatch.setattr(tokenizer_module, "_FEW_CHARACTERS", -1 if name == "library" else 1 << 40)
    for encoder in ENCODERS.values():
        if isinstance(encoder, wps.Tokenizer):
            encoder._begin()
    return name


texts = st.text(alphabet="aabb.x ", max_size=12)
some_words = st.lists(st.text(alphabet="ab.x ", max_size=4), max_size=5)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(sorted(ENCODERS)),
    st.lists(texts, min_size=1, max_size=4)
    | st.lists(st.tuples(texts, texts), min_size=1, max_size=4)
    | st.lists(some_words, min_size=1, max_size=3)
    | st.lists(st.tuples(some_words, some_words), min_size=1, max_size=3),
    st.booleans(),
    st.none() | st.tuples(st.sampled_from(STRATEGIES), st.integers(3, 12), st.integers(0, 3)),
    st.none() | st.tuples(st.sampled_from([None, 5, 10]), st.sampled_from([None, 1, 4])),
    st.tuples(*[st.sampled_from(["right", "left"])] * 2),
)
def test_the_same_as_the_library(
    way: str,
    name: str,
    batch: Any,
    add_special_tokens: bool,
    truncation: tuple[Any, int, int] | None,
    padding: tuple[int | None, int | None] | None,
    sides: tuple[Any, Any],
) -> None:
    assert way
    assume(name != "bpe" or "x" not in repr(batch))  # its offsets are wrong beside a symbol that it leaves out
    first = batch[0][0] if isinstance(batch[0], tuple) else batch[0]
    is_pretokenized = isinstance(first, list)
    given = zip(*batch, strict=True) if is_pretokenized and isinstance(batch[0], tuple) else [batch]
    theirs, pad = LIBRARIES[name], "<pad>" if name == "bpe" else "[PAD]"
    ENCODERS[name].padding_side, ENCODERS[name].truncation_side = sides
    theirs.no_truncation()
    theirs.no_padding()
    options: dict[str, Any] = {"add_special_tokens": add_special_tokens, "is_pretokenized": is_pretokenized}
    if padding is not None:
        length, multiple = padding
        theirs.enable_padding(
            direction=sides[0],
            length=length,
            pad_to_multiple_of=multiple,
            pad_token=pad,
            pad_id=theirs.token_to_id(pad),
        )
        options |= {"padding": "longest" if length is None else "max_length", "pad_to_multiple_of": multiple}
        options |= {"max_length": length, "truncation": False}
    if truncation is not None:
        strategy, most, stride = truncation
        if padding is not None:  # one length for both
            most = padding[0] or most
        with suppress(ValueError):
            theirs.enable_truncation(most, stride=stride, strategy=strategy, direction=sides[1])
        options |= {"truncation": strategy, "max_length": most, "stride": stride}
    both = {"is_pretokenized": is_pretokenized, "add_special_tokens": add_special_tokens}
    try:
        ours = [figures(each) for each in ENCODERS[name].encode(*map(list, given), **options)]
    except wps.StudioError as error:
        if "stride" in str(error):  # it does not accept it, or panics
            with pytest.raises(BaseException, match=r"stride|Truncation error"):  # noqa: PT012
                theirs.enable_truncation(most, stride=stride, strategy=strategy, direction=sides[1])
                theirs.encode_batch(batch, **both)
        elif "no room" not in str(error):  # on that, it overflows and truncates nothing
            with pytest.raises(Exception, match="Truncation error"):
                theirs.encode_batch(batch, **both)
    else:
        assert ours == [figures(each) for each in theirs.encode_batch(batch, **both)]


def test_the_side_of_one_call_prevails() -> None:
    assert BPE.encode("a", padding="max_length", max_length=2, padding_side="left").tokens == ["<pad>", "a"]
    assert BPE.encode(["a", "ab a"], padding=True, padding_side="right")[0].tokens == ["a", "<pad>"]


def test_corpora_get_the_special_tokens_of_the_template() -> None:
    for encoder in ENCODERS.values():
        if isinstance(encoder, wps.Tokenizer):
            lines = ["a b", "", "ab"]
            expected = [encoding.ids for encoding in encoder.encode(lines, add_special_tokens=True)]
            encoded = wps.encode_texts(encoder, lines, add_special_tokens=True)
            assert [encoded[number].tolist() for number in range(3)] == expected


def test_roles_and_not_names_determine_the_special_tokens() -> None:
    tokens = ["[CLS]", "[SEP]", "[PAD]", "<c>", "<s>", "<p>", "a"]
    vocabulary = wps.Vocabulary(tokens, tokens[:6], cls_token="<c>", sep_token="<s>", pad_token="<p>")
    tokenizer = wps.Tokenizer(vocabulary)
    encoding = tokenizer.encode("a", add_special_tokens=True, padding="max_length", max_length=4)
    assert encoding.tokens == ["<c>", "a", "<s>", "<p>"]
    assert wps.encode_texts(tokenizer, ["a"], add_special_tokens=True).ids.tolist() == encoding.ids[:3]
    bpe = wps.BpeTokenizer(
        {"[PAD]": 0, "<p>": 1, "a": 2}, [], "none", "bert", special_tokens=["<p>"], roles={"pad_token": "<p>"}
    )
    assert bpe.encode("a", padding="max_length", max_length=2).tokens == ["a", "<p>"]


def test_a_template_that_cannot_be_applied_is_named() -> None:
    with pytest.raises(wps.StudioError, match=r"The post_processor .* is not supported"):
        wps.Tokenizer(WORDPIECE.vocabulary, kept_parts={"post_processor": {"type": "X"}})


def test_one_text_or_many_and_pairs_in_either_form() -> None:
    one, other = WORDPIECE.encode("a", "b"), WORDPIECE.encode("b", "ab.")
    assert WORDPIECE.encode(["a", "b"], ["b", "ab."]) == WORDPIECE.encode([("a", "b"), ("b", "ab.")]) == [one, other]
    assert WORDPIECE.encode(text for text in ("a", "b")) == [WORDPIECE.encode("a"), WORDPIECE.encode("b")]
    assert WORDPIECE.encode([]) == []
    alone, pair = (WORDPIECE.encode(*given, add_special_tokens=True) for given in (("a",), ("a", "")))
    assert pair.tokens == [*alone.tokens, "[SEP]"]
    assert WORDPIECE("a", "")["input_ids"] == alone.ids
    assert WORDPIECE(["a"], [""])["input_ids"] == [pair.ids]
    assert other.sequence_ids == other.type_ids == [0, 1, 1]
    assert WORDPIECE.encode("b", "ab.", add_special_tokens=True).sequence_ids == [None, 0, None, 1, 1, None]


def test_a_length_truncates_unless_only_padding_is_asked_for() -> None:
    for arguments, tokens, called in [
        ({"max_length": 1}, 1, 1),
        ({"max_length": 1, "padding": False}, 1, 1),
        ({"max_length": 1, "padding": "do_not_pad"}, 1, 2),
        ({"max_length": 1, "truncation": False}, 2, 2),
        ({"max_length": 1, "padding": "max_length"}, 1, 2),
        ({"max_length": 1, "padding": "max_length", "truncation": False}, 2, 2),
        ({"max_length": 3, "padding": "max_length"}, 3, 3),
        ({"max_length": 1, "truncation": True, "padding": True}, 1, 1),
        ({"max_length": 3, "truncation": True, "padding": True, "pad_to_multiple_of": 2}, 2, None),
    ]:
        assert len(WORDPIECE.encode("a b", **arguments)) == tokens  # type: ignore[call-overload]
        if called is None:
            with pytest.raises(wps.StudioError, match="3 tokens contradicts"):
                WORDPIECE("a b", **arguments)  # type: ignore[arg-type]
        else:
            assert len(WORDPIECE("a b", add_special_tokens=False, **arguments)["input_ids"]) == called  # type: ignore[arg-type]


def test_a_length_that_is_not_given_is_that_of_the_model() -> None:
    tokenizer = wps.Tokenizer(WORDPIECE.vocabulary)
    tokenizer.model_max_length = 3
    assert len(tokenizer.encode("a b a b", truncation=True)) == len(tokenizer.encode("a", padding="max_length")) == 3
    assert len(tokenizer.encode("a b a b", padding=True)) == 4
    assert len(tokenizer.encode("a b a b", truncation=True, max_length=2)) == 2


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((None,), {}, r"Texts are expected, not None\. Pass a list"),
        ((b"a",), {}, r"Bytes were given .* Decode"),
        (({"a": 1},), {}, "A mapping was given"),
        ((["a", None],), {}, "Text 2 is not a string: None"),
        ((["a", b"b"],), {}, "Text 2 is not a string: b'b'\\. Decode"),
        (("a", 3), {}, "Text 1 is not a string: 3"),
        ((["a", "b"], "a"), {}, "One text was given where several are expected"),
        (([("a", "b"), "c"],), {}, "'c' is not a pair of texts, but other items are"),
        ((["a", "b"], ["a"]), {}, "2 texts and 1 second texts"),
        (("a",), {"padding": "left"}, "Invalid padding: 'left'.*longest, max_length, do_not_pad, True or False"),
        (("a",), {"padding": True, "padding_side": "top"}, "padding_side: 'top'. Use right or left"),
        (("a",), {"max_length": 0}, "Invalid max_length: 0.*at least 1"),
        (("a",), {"max_length": 2.0}, r"Invalid max_length: 2\.0"),
        (("a",), {"max_length": True}, "Invalid max_length: True"),
        (("a",), {"max_length": 3, "stride": -1}, "Invalid stride: -1.*at least 0"),
        (("a",), {"max_length": 1, "add_special_tokens": True}, "A length of 1 leaves no room for 2 special tokens"),
        (("a b a",), {"max_length": 2, "stride": 2}, "A stride of 2 is too long where truncation leaves 2 tokens"),
        (("a", "a b a"), {"max_length": 2, "truncation": "only_first"}, "Truncating the first text alone cannot"),
        (("ab",), {"is_pretokenized": True}, "One text was given where several are expected"),
        ((3,), {"is_pretokenized": True}, "Texts are expected, not 3"),
        ((["a"], "b"), {"is_pretokenized": True}, "One text was given where several are expected"),
        ((["a", 3],), {"is_pretokenized": True}, "Text 2 is not a string"),
        ((["a"],), {"is_pretokenized": 2}, "Invalid is_pretokenized: 2"),
        (("a",), {"max_length": 4, "stride": 3}, "A stride of 3 is too long where truncation leaves 2 tokens"),
    ],
)
def test_what_is_impossible_is_explained(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(wps.StudioError, match=message):
        WORDPIECE.encode(*arguments, **options)


def test_a_length_must_be_known() -> None:
    for options in ({"truncation": True}, {"padding": "max_length"}):
        with pytest.raises(wps.StudioError, match=r"need max_length.*Set max_length"):
            BPE.encode("a", **options)  # type: ignore[arg-type]


def test_a_special_token_with_an_unpaired_surrogate_is_refused() -> None:
    vocabulary = wps.Vocabulary(["a", "\ud800"], pad_token="\ud800", cls_token="\ud800", sep_token="\ud800")
    options: dict[str, Any]
    for options in ({"padding": True}, {"add_special_tokens": True}):
        with pytest.raises(wps.StudioError, match="contains an unpaired surrogate"):
            wps.Tokenizer(vocabulary).encode(["a"], **options)


@pytest.mark.parametrize(("options", "token"), [({"padding": True}, "PAD"), ({"add_special_tokens": True}, "CLS")])
def test_a_missing_special_token_is_named_before_anything_is_encoded(options: Any, token: str) -> None:
    bare = [wps.Tokenizer(wps.Vocabulary(["a"])), wps.BpeTokenizer({"a": 0}, [], "none", "whitespace")]
    for encoder, wrong in product(bare, ("a", [], ["a", None])):
        with pytest.raises(wps.StudioError, match=rf"no \[{token}\] to add\. Encode without"):
            encoder.encode(wrong, **options)


@pytest.mark.parametrize("encoder", [wps.Tokenizer(WORDPIECE.vocabulary), BPE])
@pytest.mark.parametrize("encode", [wps.Tokenizer.encode, wps.encode_texts])
def test_progress_says_what_is_encoded(encode: Any, encoder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    texts, told, encoded = ["a b " * 10_000] * 60, [], []

    def noted(text: str, ids: Any = encoder.ids) -> Any:
        encoded.append(text)
        return ids(text)

    monkeypatch.setattr(encoder, "ids", noted)
    monkeypatch.setattr(shaping, "_INTERVAL_SECONDS", 0)
    monkeypatch.setattr(corpus_encoding, "_is_much", lambda _: False)
    monkeypatch.setattr(tokenizer_module, "_FEW_CHARACTERS", 1 << 40)
    encode(encoder, texts, progress=lambda *figures: told.append((len(encoded), *figures)))
    assert all(found == done and total == 60 for found, done, total in told)
    assert (told[0], told[-1], len(set(told)) > 2) == ((0, 0, 60), (60, 60, 60), True)
    encoded.clear()
    with pytest.raises(wps.EncodingStopped):
        encode(encoder, texts, should_stop=lambda: len(encoded) > 0)
    assert 0 < len(encoded) < 60


def test_progress_and_stop() -> None:
    told: list[tuple[int, int]] = []
    WORDPIECE.encode(["a"] * 100, progress=lambda *figures: told.append(figures))
    wps.encode_texts(WORDPIECE, ["a"] * 50, progress=lambda *figures: told.append(figures))
    assert (told[0], told[-1]) == ((0, 100), (50, 50))
    assert (100, 100) in told
    with pytest.raises(wps.EncodingStopped):
        WORDPIECE.encode(["a", "b"], should_stop=lambda: True)
    with pytest.raises(wps.EncodingStopped):
        wps.encode_texts(WORDPIECE, iter(["a", "b"]), should_stop=lambda: True)


def test_unknown_words_say_why_whoever_finds_them(way: str) -> None:
    del way
    first, second = WORDPIECE.encode([("a x", "b"), ("[UNK]", "ax.")], add_special_tokens=True, max_length=9)
    assert [(token, token.reason) for token in first.tokens if isinstance(token, wps.UnknownToken)] == [
        ("[UNK]", wps.UnknownReason("symbol", 0, "x"))
    ]
    assert [type(token) for token in second.tokens[:3:2]] == [str, str]  # it is spelled so
    assert second.tokens[3].reason == wps.UnknownReason("symbol", 1, "##x")
    (words,) = WORDPIECE.encode([["a", "a.x"]], is_pretokenized=True)
    assert (words.tokens, words.words) == (["a", "a", ".", "[UNK]"], [0, 1, 1, 1])
    assert words.tokens[3].reason == wps.UnknownReason("symbol", 0, "x")
    assert pickle.loads(pickle.dumps(first)) == copy.deepcopy(first) == first != second
    assert pickle.loads(pickle.dumps(first)).tokens[2].reason.symbol == "x"


def test_without_a_template_a_token_is_of_the_text_that_has_it(way: str) -> None:
    del way
    tokenizer = wps.Tokenizer(WORDPIECE.vocabulary, kept_parts={"post_processor": None})
    encoding = tokenizer.encode("a b x d a", "b c bx a b", max_length=4)
    assert [part.sequence_ids for part in encoding.overflowing][:3] == [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1]]
    for part in (encoding, *encoding.overflowing):
        assert (part.sequence_ids, part.special_tokens_mask) == (part.type_ids, [0] * len(part))
        for text, token, place in zip(part.sequence_ids, part.tokens, part.offsets, strict=True):
            word = ("a b x d a", "b c bx a b")[text or 0][slice(*place)]
            assert token == word or token.reason.symbol.removeprefix("##") in word  # type: ignore[attr-defined]


@pytest.mark.parametrize("options", [{}, {"add_special_tokens": True, "padding": True, "max_length": 5}])
def test_an_unpaired_surrogate_keeps_its_place_among_other_texts(way: str, options: dict[str, Any]) -> None:
    del way
    lines = ["a b", "a\ud800.", "ab", "", "\udfff\ud800", "a b a b a b"]
    found = WORDPIECE.encode(lines, **options)
    assert [WORDPIECE.encode([line], **options | {"pad_to_multiple_of": 5})[0] for line in lines if options] == (
        found if options else []
    )
    assert [each.ids for each in WORDPIECE.encode(lines)] == [WORDPIECE.ids(line) for line in lines]
    assert WORDPIECE.encode([["a", "\ud800"], ["b"]], is_pretokenized=True)[0].tokens == ["a", "[UNK]"]


def test_without_an_unknown_token_in_the_vocabulary(way: str) -> None:
    del way
    tokenizer = wps.Tokenizer(wps.Vocabulary(["[PAD]", "[CLS]", "[SEP]", "a"], ["[PAD]", "[CLS]", "[SEP]"]))
    options: dict[str, Any] = {"add_special_tokens": True, "padding": True}
    found = tokenizer.encode([("a", "x"), ("x x", "a")], **options)
    assert [each.ids for each in found] == [[1, 3, 2, NO_ID, 2, 0], [1, NO_ID, NO_ID, 2, 3, 2]]
    assert found[0].tokens[3].reason == wps.UnknownReason("symbol", 0, "x")


def test_a_pattern_of_the_user_stays_with_the_studio(way: str) -> None:
    del way
    tokenizer = wps.Tokenizer(WORDPIECE.vocabulary, "none", "pattern:(?:a|aa)+b|a+")
    assert tokenizer.encode(["aab ab"], padding=True)[0].tokens == ["a", "##a", "##b", "ab"]
    assert tokenizer._run is None


def test_equal_by_content_and_the_same_bytes_after_use(way: str) -> None:
    del way

    def made(**options: Any) -> wps.Tokenizer:
        return wps.Tokenizer(wps.Vocabulary(TOKENS, TOKENS[:4], **options), "bert-uncased")

    tokenizer, before = made(), pickle.dumps(made())
    tokenizer.encode(["a b", "É"], padding=True)
    tokenizer("a", max_length=2)
    tokenizer.ids("ab")
    assert tokenizer.is_local
    assert pickle.dumps(tokenizer) == before
    assert tokenizer == made() == pickle.loads(before)
    assert hash(tokenizer) == hash(made())
    assert tokenizer not in (
        made(added_tokens=["ab"]),
        made(continuing_subword_prefix="#"),
        tokenizer.changed(normalizer="none"),
    )
    assert BPE == pickle.loads(pickle.dumps(BPE)) != tokenizer


def test_threads_may_ask_for_different_forms() -> None:
    lines = ["a b ab", "b"] * 2000
    forms = [{"max_length": length, "padding": "max_length"} for length in (1, 2, 3, 7)]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda form: WORDPIECE.encode(lines, **form), forms * 3))
    assert [{len(each) for each in encodings} for encodings in found] == [{1}, {2}, {3}, {7}] * 3


def test_threads_load_the_library_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[bytes] = []

    def slowly(content: bytes, of_json: Any = Library.of_json) -> Library:
        loaded.append(content)
        time.sleep(0.1)
        return of_json(content)

    monkeypatch.setattr(tokenizer_module.Library, "of_json", slowly)
    tokenizer = wps.Tokenizer(WORDPIECE.vocabulary)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: tokenizer.encode(["a b " * 3000] * 2), range(4)))
    assert len(loaded) == 1
    assert found == found[:1] * 4


def test_the_library_is_loaded_when_it_is_worth_it() -> None:
    code = """
import sys, wordpiece_studio as wps
tokenizer = wps.Tokenizer(wps.Vocabulary(["[UNK]", "a"]))
wps.encode_texts(tokenizer, ["a"] * 9); tokenizer.encode(["a"] * 9); tokenizer.ids("a" * 20_000)
print("tokenizers" in sys.modules)
tokenizer.encode(["a a"] * 9000)
print("tokenizers" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_the_length_of_texts_is_known_without_a_look_at_each_character() -> None:
    class Text(str):
        __slots__ = ()

        def __iter__(self) -> Any:
            pytest.fail("looked at each character")

    tokenizer = wps.Tokenizer(WORDPIECE.vocabulary)
    assert tokenizer._in_library([(Text("a " * 2000),)]) is None
    assert tokenizer._in_library([(Text("a " * 2000), ["a"] * 6001)])


def test_a_call_returns_what_a_model_takes() -> None:
    WORDPIECE.truncation_side = "right"
    found = WORDPIECE(["a b", "ab"], padding=True, padding_side="right", return_offsets_mapping=True)
    assert found == {
        "input_ids": [[2, 4, 5, 3], [2, 8, 3, 0]],
        "token_type_ids": [[0] * 4] * 2,
        "attention_mask": [[1] * 4, [1, 1, 1, 0]],
        "offset_mapping": [[(0, 0), (0, 1), (2, 3), (0, 0)], [(0, 0), (0, 2), (0, 0), (0, 0)]],
    }
    parts = WORDPIECE("a b", truncation=True, max_length=3, return_overflowing_tokens=True, return_attention_mask=False)
    assert parts["input_ids"] == [[2, 4, 3], [2, 5, 3]]
    assert (parts["overflow_to_sample_mapping"], "attention_mask" in parts) == ([0, 0], False)


def test_ids_alone_are_found_first(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = wps.Tokenizer(WORDPIECE.vocabulary)
    whole, of_ids = tokenizer.encode("ab a.x"), tokenizer.encode("ab a.x")
    assert whole.tokens == ["ab", "a", ".", "[UNK]"]
    monkeypatch.setattr(tokenizer, "_columns_of", lambda texts: pytest.fail(f"{texts} were aligned"))
    assert tokenizer.encode("ab a.x").ids == of_ids.ids == whole.ids
    monkeypatch.undo()
    assert of_ids == whole
    assert of_ids.offsets == [(0, 2), (3, 4), (4, 5), (5, 6)]


def test_a_text_is_read_once_for_the_reasons_in_all_that_overflows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer_module, "_FEW_CHARACTERS", -1)
    tokenizer = wps.Tokenizer(WORDPIECE.vocabulary)
    read: list[str] = []

    def noted(text: str, tokenize: Any = tokenizer.tokenize_words) -> Any:
        read.append(text)
        return tokenize(text)

    monkeypatch.setattr(tokenizer, "tokenize_words", noted)
    encoding = tokenizer.encode("a x " * 9, "b ax " * 4, max_length=4, add_special_tokens=False)
    reasons = {token.reason for part in (encoding, *encoding.overflowing) for token in part.tokens[1::2]}
    assert reasons == {wps.UnknownReason("symbol", 0, "x"), wps.UnknownReason("symbol", 1, "##x")}
    assert sorted(read) == ["a x " * 9, "b ax " * 4]


def test_an_encoder_needs_only_say_how_a_text_is_cut() -> None:
    class Letters(Encoder):
        kind, reading, unk_token = "WordLevel", None, None
        _id_by_token, roles = {"a": 0, "b": 1, "[PAD]": 2}, {"pad_token": "[PAD]"}

        def _columns_of(self, texts: Any) -> Any:
            for text in texts:
                places = [(start, start + 1) for start in range(len(text))]
                yield Columns([*text], [self._id_by_token[letter] for letter in text], places, [0] * len(text))

        def _cuts(self, words: Any) -> Any:
            raise NotImplementedError

    assert Letters().ids("ab") == Letters().encode("ab").ids == [0, 1]
    assert Letters().encode(["ab", "b"], padding=True)[1].ids == [1, 2]
    with pytest.raises(wps.StudioError, match="3 is not a string"):
        Letters().ids(3)  # type: ignore[arg-type]


def test_parts_of_a_batch_are_padded_alike(way: str) -> None:
    given = ["a", "a b" * 5, "\ud800", "b"]
    for options in ({}, {"progress": lambda *_: None}):
        found = WORDPIECE.encode(given, padding=True, max_length=4, truncation=True, **options)  # type: ignore[call-overload]
        assert [len(each) for each in found] == [4] * 4
        assert found[1].overflowing
        assert {len(part) for part in found[1].overflowing} == {4}
    assert not {"pad", "length"} & {*dir(found[0])}, way
