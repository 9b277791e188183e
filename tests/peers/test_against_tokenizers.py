from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.peers.foreign import TRAINING, assert_same, library, saved, texts
from wordpiece_studio.peers.imported_tokenizer import ImportedTokenizer

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("tokenizers")

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
MODELS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": ({"unk_token": "<unk>"}, {"special_tokens": ["<unk>"]}),
    "suffix": (
        {"unk_token": "<unk>", "fuse_unk": True, "end_of_word_suffix": "</w>"},
        {"special_tokens": ["<unk>"], "end_of_word_suffix": "</w>", "limit_alphabet": 60},
    ),
    "prefix": (
        {"unk_token": "<unk>", "continuing_subword_prefix": "##"},
        {"special_tokens": ["<unk>"], "continuing_subword_prefix": "##", "limit_alphabet": 60},
    ),
    "no unknown token": ({}, {"limit_alphabet": 50}),
    "ignore merges": ({"ignore_merges": True}, {}),
    "byte fallback": (
        {"unk_token": "<unk>", "byte_fallback": True},
        {"special_tokens": ["<unk>", *BYTES], "limit_alphabet": 30, "vocab_size": 450},
    ),
    "half a byte fallback": (
        {"unk_token": "<unk>", "byte_fallback": True},
        {"special_tokens": ["<unk>", *BYTES[:0xE5]], "limit_alphabet": 30, "vocab_size": 450},
    ),
}
PRE_TOKENIZERS = [
    "None",
    "P.BertPreTokenizer()",
    "P.Whitespace()",
    "P.Sequence([P.WhitespaceSplit(), P.Punctuation()])",
    *(f"P.Punctuation('{how}')" for how in ("removed", "merged_with_previous", "merged_with_next", "contiguous")),
    *(f"P.Split(' ', '{how}')" for how in ("removed", "isolated", "merged_with_previous", "merged_with_next")),
    "P.Split(T.Regex(r'\\p{L}+'), 'contiguous', True)",
    "P.CharDelimiterSplit('a')",
    "P.Digits(False)",
    "P.Sequence([P.Digits(True), P.WhitespaceSplit(), P.Metaspace()])",
    "P.ByteLevel(add_prefix_space=True)",
    "P.ByteLevel(add_prefix_space=False)",
    "P.Sequence([P.Split(T.Regex(LLAMA3), 'isolated'), P.ByteLevel(add_prefix_space=False, use_regex=False)])",
    *(f"P.Metaspace(prepend_scheme='{how}')" for how in ("always", "first", "never")),
    "P.Metaspace(split=False)",
]
NORMALIZERS = [
    "N.BertNormalizer()",
    "N.Sequence([N.NFKC(), N.Lowercase()])",
    "N.Sequence([N.NFD(), N.StripAccents(), N.Strip(True, False)])",
    "N.Sequence([N.Replace(T.Regex(' {2,}'), ' '), N.Replace('a', 'xyz'), N.Replace(' ', '▁'), N.Replace('e', '')])",
    "N.Prepend('▁')",
    "N.Strip()",
    "N.ByteLevel()",
]


def made(source: str) -> Any:
    """Return the component of the library that an expression names."""
    from tokenizers import normalizers, pre_tokenizers

    return eval(source, {"N": normalizers, "P": pre_tokenizers, "T": library(), "LLAMA3": LLAMA3})


def trained(kind: str, model: str, pre_tokenizer: str, normalizer: str = "None") -> Any:
    """Return a tokenizer of theirs, trained on a little text."""
    from tokenizers import Tokenizer, models, trainers

    if kind == "BPE":
        options, told = MODELS[model]
        theirs = Tokenizer(models.BPE(**options))
        trainer = trainers.BpeTrainer(**{"vocab_size": 220, "show_progress": False, **told})
    elif kind == "Unigram":
        theirs = Tokenizer(models.Unigram())
        trainer = trainers.UnigramTrainer(
            vocab_size=200, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False
        )
    else:
        theirs = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        trainer = trainers.WordPieceTrainer(vocab_size=220, special_tokens=["[UNK]"], show_progress=False)
    if normalizer != "None":
        theirs.normalizer = made(normalizer)
    if pre_tokenizer != "None":
        theirs.pre_tokenizer = made(pre_tokenizer)
    theirs.train_from_iterator(TRAINING[:6], trainer)
    return theirs


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("pre_tokenizer", ["None", "P.Whitespace()", "P.ByteLevel()", "P.Metaspace()"])
def test_bpe_of_every_kind(tmp_path: Path, model: str, pre_tokenizer: str) -> None:
    theirs = trained("BPE", model, pre_tokenizer)
    ours = saved(tmp_path, theirs)
    assert isinstance(ours, ImportedTokenizer)
    assert assert_same(ours, theirs, texts(1, 20)) > 150  # how many differs: ties are broken by chance there


@pytest.mark.parametrize("kind", ["BPE", "Unigram", "WordPiece"])
@pytest.mark.parametrize("pre_tokenizer", PRE_TOKENIZERS)
def test_every_pre_tokenizer(tmp_path: Path, kind: str, pre_tokenizer: str) -> None:
    theirs = trained(kind, "plain", pre_tokenizer)
    assert assert_same(saved(tmp_path, theirs), theirs, texts(2, 20)) > 200


@pytest.mark.parametrize("kind", ["BPE", "Unigram", "WordPiece"])
@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_every_normalizer(tmp_path: Path, kind: str, normalizer: str) -> None:
    theirs = trained(kind, "plain", "P.WhitespaceSplit()", normalizer)
    assert assert_same(saved(tmp_path, theirs), theirs, texts(3, 20)) > 200


@pytest.mark.parametrize("adds_blank", [None, True, False])
@pytest.mark.parametrize("normalizer", ["None", *NORMALIZERS[:4]])
@pytest.mark.parametrize("pre_tokenizer", ["P.BertPreTokenizer()", "P.ByteLevel()", "P.Metaspace('▁', 'first')"])
def test_added_tokens_and_trimmed_offsets(
    tmp_path: Path, pre_tokenizer: str, normalizer: str, adds_blank: bool | None
) -> None:
    from tokenizers import AddedToken, processors

    theirs = trained("BPE", "plain", pre_tokenizer, normalizer)
    if adds_blank is not None:
        theirs.post_processor = processors.ByteLevel(trim_offsets=True, add_prefix_space=adds_blank)
    theirs.add_special_tokens(
        [
            AddedToken("<s>", normalized=False),
            AddedToken("<mask>", lstrip=True, normalized=False),
            AddedToken("</s>", rstrip=True, normalized=True),
            "[CLS]",
        ]
    )
    theirs.add_tokens(
        [
            AddedToken("day", single_word=True, normalized=False),
            AddedToken("Day", normalized=True),
            AddedToken("<lw>", lstrip=True, rstrip=True, normalized=True),
            AddedToken("<rw>", rstrip=True, single_word=True, normalized=False),
            AddedToken("two blanks", normalized=True),
        ]
    )
    more = [
        "[CLS] x[SEP]y <s>",
        "a  <mask>  b<mask>",
        "xDayx day DAY Today day_ _day day1 ¹day \u0301day day\u0301 ▁day",
        "   <s>  </s>   <s>  <lw>  <rw>  <lw><rw>  x<lw> two blanks",
    ]
    assert assert_same(saved(tmp_path, theirs), theirs, more + texts(4, 15)) > 200


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, Any]]:
    """Return tokenizers, theirs and ours."""
    kinds = [
        ("BPE", "plain", "P.ByteLevel()", "None"),
        ("BPE", "suffix", "P.BertPreTokenizer()", "N.BertNormalizer()"),
        ("BPE", "no unknown token", "P.Digits(True)", "None"),
        ("Unigram", "", "P.Metaspace()", "N.NFKC()"),
        ("WordPiece", "", "P.Punctuation('merged_with_next')", "N.Lowercase()"),
    ]
    found = [trained(*kind) for kind in kinds]
    return [(saved(tmp_path_factory.mktemp("theirs"), theirs), theirs) for theirs in found]


@settings(max_examples=60, deadline=None)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_any_text(pairs: list[tuple[Any, Any]], text: str) -> None:
    for ours, theirs in pairs:
        assert_same(ours, theirs, [text])


@pytest.mark.slow
def test_every_code_point(pairs: list[tuple[Any, Any]]) -> None:
    everything = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    blocks = ["a".join(map(chr, everything[start : start + 2048])) for start in range(0, len(everything), 2048)]
    compared = sum(assert_same(ours, theirs, blocks) for ours, theirs in pairs[:1])
    assert compared > 1_000_000
