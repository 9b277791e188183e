"""Tokenizers made with the `tokenizers` library, and the text that they and ours are given."""

from __future__ import annotations

import functools
import io
import itertools
import random
from typing import TYPE_CHECKING, Any

import pytest

from wordpiece_studio.storage.huggingface.reading_tokenizer_json import read_tokenizer_json

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.peers.imported_tokenizer import ImportedTokenizer
    from wordpiece_studio.tokenizer.tokenizer import Tokenizer

TRAINING = [
    "The quick brown fox jumps over the lazy dog. The dog didn't mind; it's 2024 now.",
    "Ein schöner Tag in Zürich: 12.345,67 Franken! Größe, Maße, Füße.",
    "안녕하세요 세계 한국어 나무 나무들 학교 학교에서",
    "机器学习 自然语言处理 東京都 すし カタカナ",
    "नमस्ते दुनिया हिन्दी  русский текст, Ёлка й",
    "emoji 😀 👩‍👩‍👧 tab\tand  two blanks\u00a0nbsp\n\nnew lines\r\n",
] * 4
HOSTILE = [
    "",
    " ",
    "\n",
    "  two  blanks  ",
    "a\u0301e\u0301 nin\u0303o İstanbul ΑΣ ß ﬁ ½ ²",
    "한국어 학교에서 가\u1100\u1161\u11a8",
    "a\u0000b\ufffdc\u200dd\u00ade\ufefff\u2028g\u0085h\rI\r\nj",
    "I'm you're they'll 'S'T ſ's K",
    "▁▁a ▁b▁ Ġa Ċ <0x41>",
    "[CLS] x[SEP]y [MASK]  [UNK]<unk><s> </s>day Day DAYS today <mask> .",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea \U000323b0 \ua7ce\u0558 \U0001e6c0",
    "x" * 300,
    "ا لعربية שלום ไทย ๑๒๓ ⅷ 12٣4",
    "\u3000　，。！¿¡«»…—–‘’“” $+<=>^`|~",
    "मस्ते हिन्दी เก้า ក្រ",
]


def texts(seed: int, count: int) -> list[str]:
    """Return the hostile texts, and random mixtures of their characters and of words."""
    rng = random.Random(seed)
    characters = sorted(set("".join(HOSTILE + TRAINING)))
    words = " ".join(HOSTILE + TRAINING).split(" ")
    mixed = []
    for _ in range(count):
        parts = [rng.choice(words) if rng.random() < 0.5 else rng.choice(characters) for _ in range(rng.randrange(12))]
        mixed.append(rng.choice(["", " ", "  "]).join(parts))
    anything = ["".join(chr(c) for c in rng.choices(range(0xD800), k=8)) for _ in range(count // 4)]
    return HOSTILE + TRAINING[:6] + mixed + anything


def saved(path: Path, theirs: Any) -> Tokenizer | ImportedTokenizer:
    """Return the reading of a tokenizer of theirs, whose scores become those that it reads itself: others by a bit."""
    theirs.save(str(path / "tokenizer.json"))
    theirs.model = library().Tokenizer.from_file(str(path / "tokenizer.json")).model
    return read_tokenizer_json(path / "tokenizer.json")


def assert_same(ours: Tokenizer | ImportedTokenizer, theirs: Any, given: list[str]) -> int:
    """Check tokens, ids, offsets and words of every text; return how many tokens that were."""
    compared = 0
    for text in given:
        expected = theirs.encode(text, add_special_tokens=False)
        found = ours.encode(text)
        assert found.tokens == expected.tokens, repr(text)
        assert found.ids == expected.ids, repr(text)
        assert found.offsets == expected.offsets, repr(text)
        compared += len(found)
    return compared


def library() -> Any:
    """Return the `tokenizers` library, or skip the test."""
    return pytest.importorskip("tokenizers")


def character_table(replaced: dict[bytes, str]) -> bytes:
    """Return a table as SentencePiece stores it, that replaces texts with these beginnings."""
    trie: dict[int | None, Any] = {}
    texts = bytearray()
    for key, text in replaced.items():
        node = trie
        for byte in key:
            node = node.setdefault(byte, {})
        node[None] = len(texts)
        texts += text.encode() + b"\0"
    units = {0: 0}

    def lay(place: int, node: dict[int | None, Any], label: int) -> None:
        labels = [key or 0 for key in node]
        base = next(base for base in itertools.count(1) if not any(base ^ each in units for each in labels))
        units.update({base ^ each: 0 for each in labels})
        units[place] = (place ^ base) << 10 | (None in node) << 8 | label
        for key, child in node.items():
            if key is None:
                units[base] = child | 1 << 31
            else:
                lay(base ^ key, child, key)

    lay(0, trie, 0)
    data = b"".join(units.get(place, 0).to_bytes(4, "little") for place in range((max(units) | 0xFF) + 1))
    return len(data).to_bytes(4, "little") + data + bytes(texts)


@functools.cache
def sentencepiece_table(rule: str) -> bytes:
    """Return the table of a rule of SentencePiece, from a model that it trains; without it the test is skipped."""
    trainer = pytest.importorskip("sentencepiece").SentencePieceTrainer
    model = io.BytesIO()
    trainer.train(
        sentence_iterator=iter(["the quick brown fox", "a lazy dog jumps"] * 5),
        model_writer=model,
        vocab_size=30,
        hard_vocab_limit=False,
        normalization_rule_name=rule,
        minloglevel=2,
    )
    return _member(_member(model.getvalue(), 3), 2)


def _member(message: bytes, number: int) -> bytes:
    """Return a member of a message of protocol buffers that is bytes."""

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            value |= (message[at] & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if message[at - 1] < 0x80:
                return value

    at = 0
    while True:
        tag = varint()
        kind = tag & 7
        size = {1: 8, 5: 4}.get(kind) or varint()
        if kind == 0:
            continue
        if tag >> 3 == number:
            return message[at : at + size]
        at += size
