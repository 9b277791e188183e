from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.peers.foreign import (
    HOSTILE,
    assert_same,
    character_table,
    library,
    saved,
    sentencepiece_table,
    texts,
)
from wordpiece_studio.errors import StudioError
from wordpiece_studio.peers.character_table import CharacterTable
from wordpiece_studio.peers.sentencepiece import Nmt, Precompiled

if TYPE_CHECKING:
    from pathlib import Path

RULES = ["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf"]
# Replaces every grapheme, by one character if it is short: so it shows where graphemes begin and end.
EVERYTHING = {bytes([byte]): "X" for byte in range(1, 256)}
MIXED = {
    b"a": "",
    b"b": "12",
    b"c\xcc\x81": "C",
    b"d\xcc": "ddd",
    "é".encode(): "e",
    b"\r": "\n",
    b"f": "f",
    b"gh": "k",
}
GRAPHEMES = list(
    "a\r\n \u0301\u0300é©®\u200d\u200c\u094d\u0915\u0924\u0600\u0903\u093e\ufe0f\u00ad\u0308cdbgh\x00\u1100\U0001f1e9"
)
MORE_GRAPHEMES = [
    "a\u094d\u0915\u0301",
    "\u0916\u094d\u0915\u0301",
    "\u0916\u093e\u094d\u0915\u0301",
    "\u0308\u1ade",
    "\r\n\r",
]


def theirs(table: bytes) -> Any:
    """Return the normalizer of the library."""
    library()
    from tokenizers import normalizers

    return normalizers.Precompiled(table)


def mixtures(seed: int, count: int, characters: list[str]) -> list[str]:
    rng = random.Random(seed)
    return ["".join(rng.choices(characters, k=rng.randrange(1, 10))) for _ in range(count)]


@pytest.mark.parametrize(
    ("rule", "end"),
    [("nmt_nfkc", 0x500), *(pytest.param(rule, 0x30000, marks=pytest.mark.slow) for rule in RULES)],
)
def test_the_tables_of_sentencepiece(rule: str, end: int) -> None:
    table = sentencepiece_table(rule)
    ours = Precompiled(CharacterTable(table))
    expected = theirs(table)
    everything = [chr(code) for code in range(1, end) if not 0xD800 <= code < 0xE000]
    blocks = ["a".join(everything[start : start + 4096]) for start in range(0, len(everything), 4096)]
    given = (
        blocks + texts(7, 100) + mixtures(8, 300, [*GRAPHEMES, *everything[0x80:0x300], "Å", "ﬁ", "①", "\u3099", "が"])
    )
    for text in given:
        assert ours.normalize(text) == expected.normalize_str(text), ascii(text)[:200]
        assert ours.align(text).text == ours.normalize(text)
    assert sum(ours.normalize(text) != text for text in given) > 100


@pytest.mark.parametrize("table", [EVERYTHING, MIXED])
def test_graphemes(table: dict[bytes, str]) -> None:
    data = character_table(table)
    ours, expected = Precompiled(CharacterTable(data)), theirs(data)
    for text in [*MORE_GRAPHEMES, *HOSTILE, *mixtures(9, 400, GRAPHEMES)]:
        assert ours.normalize(text) == expected.normalize_str(text), ascii(text)


TABLES = [character_table({**MIXED, b"\xe0": ""}), character_table(EVERYTHING)]


@settings(max_examples=50, deadline=None)
@given(text=st.text(st.sampled_from(GRAPHEMES + list("abcdfgh"))) | st.text(st.characters(exclude_categories=["Cs"])))
def test_where_characters_come_from(text: str) -> None:
    """Offsets where the table changes how many characters there are."""
    from tokenizers import NormalizedString

    for data in TABLES:
        found = Precompiled(CharacterTable(data)).align(text)
        expected = NormalizedString(text)
        theirs(data).normalize(expected)
        assert found.text == expected.normalized
        for index in range(len(found.text)):
            part = expected.slice((index, index + 1))
            assert part.original == text[found.starts[index] : found.ends[index]]


@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer"),
    [
        ("N.Precompiled(table)", "P.Metaspace()"),
        ("N.Sequence([N.Strip(), N.Precompiled(table), N.Replace(T.Regex(' {2,}'), ' ')])", "P.Metaspace()"),
        (
            "N.Sequence([N.Precompiled(table), N.Strip(False, True), N.Replace(T.Regex(' {2,}'), '▁')])",
            "P.Metaspace(split=False)",
        ),
        (
            "N.Sequence([N.Replace('``', '\"'), N.NFKD(), N.StripAccents(), N.Lowercase(), N.Precompiled(table)])",
            "P.Sequence([P.WhitespaceSplit(), P.Metaspace()])",
        ),
        ("N.Sequence([N.Nmt(), N.NFKC(), N.Replace(T.Regex(' {2,}'), ' ')])", "P.Metaspace(prepend_scheme='first')"),
    ],
)
@pytest.mark.parametrize("rule", ["nmt_nfkc", "nmt_nfkc_cf"])
def test_unigram_behind_them(tmp_path: Path, normalizer: str, pre_tokenizer: str, rule: str) -> None:
    tokenizers = library()
    from tokenizers import models, normalizers, pre_tokenizers, processors, trainers

    names = {"N": normalizers, "P": pre_tokenizers, "T": tokenizers, "table": sentencepiece_table(rule)}
    made = tokenizers.Tokenizer(models.Unigram())
    made.normalizer = eval(normalizer, names)
    made.pre_tokenizer = eval(pre_tokenizer, names)
    trainer = trainers.UnigramTrainer(
        vocab_size=200, unk_token="<unk>", special_tokens=["<unk>", "</s>"], show_progress=False
    )
    made.train_from_iterator(HOSTILE, trainer)
    made.post_processor = processors.TemplateProcessing("$A </s>", "$A </s> $B </s>", [("</s>", 1)])
    made.add_special_tokens([tokenizers.AddedToken("<extra_id_0>", lstrip=True, rstrip=True)])
    more = [
        "a\u0301\u0301 ﬁﬃ\u200b\u200bx  ㌀  ½ <extra_id_0> \r\n①",
        "\x01\x02ab ﷺ ﷺ",
        "\u00ad\ufeff ａｂｃ<extra_id_0>",
    ]
    assert assert_same(saved(tmp_path, made), made, more + texts(11, 40) + mixtures(12, 40, GRAPHEMES)) > 400


@pytest.mark.parametrize("end", [0x3000, pytest.param(0x110000, marks=pytest.mark.slow)])
def test_nmt(end: int) -> None:
    library()
    from tokenizers import normalizers

    everything = "\ufeff\ufffd" + "".join(chr(code) for code in range(end) if not 0xD800 <= code < 0xE000)
    assert Nmt().normalize(everything) == normalizers.Nmt().normalize_str(everything)
    assert Nmt().align("\x01a\tb\x0b").starts == [1, 2, 3]


def sized(units: list[int], texts: bytes = b"") -> bytes:
    data = np.array(units, "<u4").tobytes()
    return len(data).to_bytes(4, "little") + data + texts


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "its trie has 0 bytes, of 0"),
        (b"\0\0\0", "its trie"),
        (b"\xff\xff\xff\x7f" + bytes(8), "its trie has 2,147,483,647 bytes"),
        (b"\x03\0\0\0" + bytes(8), "its trie has 3 bytes"),
        (sized([0]), "leads outside itself"),
        (sized([1 << 31 >> 1, *[0] * 255]), "leads outside itself"),
        (sized([0] * 256, b"\xff"), "not UTF-8"),
        (sized([1 << 10 | 1 << 8, 1 << 31 | 9, *[0] * 254], b"ab\0"), "outside its texts"),
        (sized([1 << 10 | 1 << 8, 1 << 31 | 1, *[0] * 254], "é\0".encode()), "middle of a character"),
    ],
)
def test_damaged_tables_are_refused(data: bytes, reason: str) -> None:
    with pytest.raises(StudioError, match=f"The table of characters is damaged: .*{reason}"):
        CharacterTable(data)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**9), text=st.text(max_size=6))
def test_no_table_leads_astray(seed: int, text: str) -> None:
    rng = np.random.default_rng(seed)
    bases = rng.integers(0, 256, 256) ^ np.arange(256)  # every byte leads somewhere
    units = np.arange(256) | bases << 10 | rng.integers(0, 2, 256) << 8
    found = CharacterTable(sized(list(units), b"abc\0def\0" * 40_000)).find(text)
    assert found is None or len(found) <= 3


def test_tables_that_go_in_circles() -> None:
    circle = [label | label << 10 for label in range(256)]  # every unit leads back to the first
    assert CharacterTable(sized(circle, b"a\0")).find("abc" * 1000) is None
