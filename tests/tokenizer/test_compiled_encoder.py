"""The compiled encoder gives what the plain tokenizer gives, and that is what Hugging Face gives."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import models, normalizers, pre_tokenizers

from wordpiece_studio.resources import resource_path
from wordpiece_studio.text.normalizers import Lowercase, RemoveCharacters, Sequence
from wordpiece_studio.text.pipeline import PreTokenizer, Span
from wordpiece_studio.tokenizer.compiled_encoder import CompiledEncoder
from wordpiece_studio.tokenizer.corpus_encoding import PlainEncoder
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import Vocabulary

if TYPE_CHECKING:
    from wordpiece_studio.tokenizer.encoding import EncodedBlock

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[MASK]]", "é<s>")
TOKENS = [
    *SPECIAL, *"abceσς中é.[]!#k", "##a", "##b", "##c", "##e", "##é", "##σ", "##ς", "##k", "##kk", "ab", "##bc",
    "##cab", "abc", "[m", "mas", "##k]", "##中", "ab##c", "###", "\ud800",
]  # fmt: skip
COURSES = sorted((Path(__file__).resolve().parents[3] / "shared" / "corpora").glob("course-*.txt"))

# What is hard: special tokens and parts of them, marks, white space of every kind, two to four bytes, the final sigma.
PARTS = [
    *SPECIAL, *TOKENS[7:30], "[mask]", "[MAS", "K]", "É", "é", "\u0301", "\u0323", "İ", "ΑΣ", "Σ", "한", "中", "😀",
    "\t", "\r", "\r\n", "\n", "\n\n", " ", "  ", "\x0b", "\x1c", "\x85", "\u2028", "\u200b", "\0", "\x7f", "\xad",
    "¿", "k" * 99, "k" * 100, "k" * 101, "é" * 100, "中" * 101, "\ue000", "ﬃ", "\ufffd",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PARTS) | st.characters(codec="utf-8"), min_size=1, max_size=30).map("".join)


def tokenizer(normalizer: object = "bert-uncased", pre_tokenizer: object = "bert", **more: object) -> Tokenizer:
    return Tokenizer(Vocabulary(TOKENS, SPECIAL, **more), normalizer, pre_tokenizer)  # type: ignore[arg-type]


def hugging_face(tokens: list[str], special: tuple[str, ...], lowercase: bool = True) -> tokenizers.Tokenizer:
    library_run = tokenizers.Tokenizer(models.WordPiece({t: i for i, t in enumerate(tokens)}, unk_token="[UNK]"))
    library_run.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    library_run.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    library_run.add_special_tokens(list(special))
    return library_run


def per_line(lists: list[list[int]]) -> tuple[list[int], list[int]]:
    ids: list[int] = []
    ends = []
    for one in lists:
        ids += one
        ends.append(len(ids))
    return ids, ends


def assert_equal(encoded: EncodedBlock, lists: list[list[int]], is_open: bool) -> None:
    ids, ends = per_line(lists)
    assert encoded.ids.tolist() == ids
    assert encoded.ends.tolist() == (ends[:-1] if is_open else ends)
    assert (encoded.ids.dtype, encoded.ends.dtype, encoded.is_open) == (np.int32, np.int64, is_open)


def check(encoder: CompiledEncoder | PlainEncoder, plain: Tokenizer, text: str) -> None:
    lines = text.split("\n")
    is_open = lines[-1] != ""
    expected = [plain.encode(line).ids for line in (lines if is_open else lines[:-1])]
    assert_equal(encoder.encode_lines(text.encode("utf-8", "surrogatepass")), expected, is_open)


PIPELINES = [
    ("bert-uncased", "bert"),
    ("bert-cased", "bert"),
    ("bert-uncased:keep-controls,keep-accents", "whitespace-split"),
    ("bert-cased:strip-accents,keep-chinese", "bert"),
    ("lowercase+remove:b.", "unicode-punctuation"),
    ("none", "whitespace-split"),
]


@pytest.mark.parametrize(("normalizer", "pre_tokenizer"), PIPELINES)
def test_equals_the_plain_tokenizer(normalizer: str, pre_tokenizer: str) -> None:
    plain = tokenizer(normalizer, pre_tokenizer)
    kept = CompiledEncoder(plain)  # which has seen the texts before

    @given(TEXTS)
    def run(text: str) -> None:
        check(CompiledEncoder(plain, capacity=1, most_chunk_bytes=20), plain, text)
        check(PlainEncoder(plain), plain, text)
        check(kept, plain, text)

    run()


@given(TEXTS)
def test_equals_hugging_face(text: str) -> None:
    tokens = [token for token in TOKENS if token != "\ud800"]
    plain = Tokenizer(Vocabulary(tokens, SPECIAL), "bert-uncased")
    library_run = hugging_face(tokens, SPECIAL)
    expected = [library_run.encode(line, add_special_tokens=False).ids for line in text.split("\n")]
    assert_equal(CompiledEncoder(plain).encode_lines(f"{text}\n".encode()), expected, is_open=False)


@pytest.mark.parametrize(
    "text",
    [
        "a[MASK]b",
        "[MASK][SEP]",
        "[mask] [MASK",
        "[MASK]]",
        "[MASK]][MASK]]]",
        "[[MASK]",
        "ab[UNK]abc[PAD] [CLS]",
        "[MA SK]",
        "é<s>aé<s",
        "E\u0301<s>",
        "[MASK]",
        "[MASK]\r",
        "[MASK]\u0301",
        "aé<s>\tb",
    ],
)
def test_special_tokens_in_the_text(text: str) -> None:
    plain, tokens = tokenizer(), [token for token in TOKENS if token != "\ud800"]
    check(CompiledEncoder(plain), plain, f"ab {text} abc\n{text}\n{text}")
    library_run = hugging_face(tokens, SPECIAL)
    assert plain.encode(text).ids == library_run.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("path", COURSES or [resource_path("samples/course-en.txt")], ids=lambda path: path.stem)
def test_equals_hugging_face_on_courses(path: Path, lowercase: bool) -> None:
    lines = path.read_bytes().decode("utf-8").splitlines(keepends=True)[:400]
    words = sorted({word for line in lines[::7] for word in line.split()})
    tokens = list(dict.fromkeys([*SPECIAL[:5], *"".join(words), *(f"##{c}" for c in "".join(words)), *words]))
    tokens += [token for word in words[::3] if (token := f"##{word}") not in tokens]
    plain = Tokenizer(Vocabulary(tokens, SPECIAL[:5]), "bert-uncased" if lowercase else "bert-cased")
    library_run = hugging_face(tokens, SPECIAL[:5], lowercase)
    expected = [
        one.ids for one in library_run.encode_batch_fast([line[:-1] for line in lines], add_special_tokens=False)
    ]
    assert_equal(CompiledEncoder(plain).encode_lines("".join(lines).encode()), expected, is_open=False)


@pytest.mark.slow
def test_blocks_follow_each_other() -> None:
    chance = random.Random(5)
    plain = tokenizer()
    encoder = CompiledEncoder(plain, capacity=2, most_chunk_bytes=300)
    for _ in range(200):
        check(encoder, plain, "".join(chance.choices([*PARTS, " ", " ", "\n"], k=40)) + chance.choice(["", " ", "\n"]))


def test_words_that_take_more_room_than_their_text() -> None:
    plain = tokenizer()
    check(CompiledEncoder(plain), plain, f"{'!' * 500} {'中' * 500}\n{'한' * 90} {'ab!' * 300}[MASK]")


def test_words_that_no_kernel_can_split() -> None:
    class Pairs(PreTokenizer):
        """Cuts into stretches of two characters."""

        name = "pairs"
        is_local = True

        def spans(self, text: str) -> list[Span]:
            return [Span(match[0], match.start(), match.end()) for match in re.finditer(r"[^ \n]{1,2}", text)]

    text = "abcab c\nabΑΣ ΑΣΑ [MASK]abc\n"
    for plain in (
        tokenizer(Lowercase(), Pairs()),
        tokenizer(Sequence([Lowercase(), RemoveCharacters("c")])),
        tokenizer(end_of_word_suffix="c"),
        tokenizer(end_of_word_suffix="</w>", continuing_subword_prefix=""),
        tokenizer(continuing_subword_prefix="é"),
        tokenizer(continuing_subword_prefix=""),
        tokenizer(unk_token="[no such]"),
    ):
        check(CompiledEncoder(plain), plain, text)


@pytest.mark.parametrize("tokens", [[], ["a"], ["[UNK]"]])
def test_tiny_vocabularies(tokens: list[str]) -> None:
    plain = Tokenizer(Vocabulary(tokens))
    check(CompiledEncoder(plain), plain, "a b ab\n\n")
