"""Small tokenizers made with the libraries themselves, built as known models are, and texts to give them."""

from __future__ import annotations

import functools
import io
import random
from typing import TYPE_CHECKING, Any

from sentencepiece import SentencePieceTrainer
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wordpiece_studio.storage.tokenizer_loading import AnyTokenizer

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


LLAMA_3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
RUNAWAY = {"type": "Split", "pattern": {"Regex": "(a|aa)+b"}, "behavior": "Isolated", "invert": False}
"""A pre-tokenizer whose expression makes the library give up on ``"a" * 100``."""
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
_BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_SPACES = Regex(" {2,}")


def _trained(model: Any, trainer: Any, **steps: Any) -> Tokenizer:
    """Return a tokenizer with some steps, its model trained on a little text."""
    made = Tokenizer(model)
    for name, step in steps.items():
        setattr(made, name, step)
    made.train_from_iterator(TRAINING, trainer)
    return made


def _bpe(special: Sequence[str] = (), size: int = 300, **options: Any) -> Any:
    return trainers.BpeTrainer(vocab_size=size, special_tokens=list(special), show_progress=False, **options)


def _unigram(*special: str) -> Any:
    return trainers.UnigramTrainer(
        vocab_size=200, unk_token="<unk>", special_tokens=["<unk>", *special], show_progress=False
    )


def _word_piece() -> Any:
    return trainers.WordPieceTrainer(vocab_size=300, special_tokens=_BERT, show_progress=False)


def bert() -> Tokenizer:
    made = _trained(
        models.WordPiece(unk_token="[UNK]"),
        _word_piece(),
        normalizer=normalizers.BertNormalizer(),
        pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
        decoder=decoders.WordPiece(),
    )
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return made


def bert_with_more() -> Tokenizer:
    """Return BERT's with tokens that the Studio's vocabularies do not have."""
    made = bert()
    made.add_tokens([AddedToken("day", single_word=True), AddedToken("zurich", normalized=True)])
    return made


def gpt_2() -> Tokenizer:
    made = _trained(
        models.BPE(),
        _bpe(["<|endoftext|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), size=400),
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
        decoder=decoders.ByteLevel(),
    )
    made.post_processor = processors.ByteLevel(trim_offsets=False)
    return made


def roberta() -> Tokenizer:
    made = _trained(
        models.BPE(),
        _bpe(
            ["<s>", "<pad>", "</s>", "<unk>", "<mask>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), size=400
        ),
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=True),
        decoder=decoders.ByteLevel(),
    )
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    made.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    return made


def llama_2() -> Tokenizer:
    special = ["<unk>", "<s>", "</s>"]
    made = _trained(
        models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True),
        _bpe([*special, *BYTES], size=500, limit_alphabet=40),
        normalizer=normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
    )
    made.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return made


def llama_3() -> Tokenizer:
    split = pre_tokenizers.Split(Regex(LLAMA_3), "isolated")
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return _trained(
        models.BPE(ignore_merges=True),
        _bpe(["<|begin_of_text|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), size=400),
        pre_tokenizer=pre_tokenizers.Sequence([split, byte_level]),
        decoder=decoders.ByteLevel(),
    )


def clip() -> Tokenizer:
    spaces = normalizers.Replace(Regex(r"\s+"), " ")
    split = pre_tokenizers.Split(Regex(CLIP), "removed", invert=True)
    made = _trained(
        models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>"),
        _bpe(["<|startoftext|>", "<|endoftext|>"], end_of_word_suffix="</w>", size=500),
        normalizer=normalizers.Sequence([normalizers.NFC(), spaces, normalizers.Lowercase()]),
        pre_tokenizer=pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False)]),
    )
    made.post_processor = processors.RobertaProcessing(
        ("<|endoftext|>", 1), ("<|startoftext|>", 0), trim_offsets=False, add_prefix_space=False
    )
    return made


def metaspace() -> Tokenizer:
    return _trained(
        models.BPE(unk_token="<unk>"),
        _bpe(["<unk>"]),
        pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme="first"),
        decoder=decoders.Metaspace(prepend_scheme="first"),
    )


def gpt_neox() -> Tokenizer:
    return _trained(
        models.BPE(),
        _bpe(["<|endoftext|>"]),
        normalizer=normalizers.NFC(),
        pre_tokenizer=pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        ),
        decoder=decoders.ByteLevel(),
    )


def xlm_r() -> Tokenizer:
    made = _trained(
        models.Unigram(),
        _unigram("<s>", "</s>"),
        normalizer=normalizers.Sequence(
            [normalizers.Precompiled(sentencepiece_table("nmt_nfkc")), normalizers.Replace(_SPACES, " ")]
        ),
        pre_tokenizer=pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]),
        decoder=decoders.Metaspace(),
    )
    made.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    return made


def t5() -> Tokenizer:
    made = _trained(
        models.Unigram(),
        _unigram("</s>"),
        normalizer=normalizers.Precompiled(sentencepiece_table("nmt_nfkc")),
        pre_tokenizer=pre_tokenizers.Metaspace(),
        decoder=decoders.Metaspace(),
    )
    made.post_processor = processors.TemplateProcessing("$A </s>", "$A </s> $B </s>", [("</s>", 1)])
    made.add_special_tokens([AddedToken("<extra_id_0>", lstrip=True, rstrip=True)])
    return made


def albert() -> Tokenizer:
    quotes = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    case = [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]
    table = normalizers.Precompiled(sentencepiece_table("nmt_nfkc"))
    return _trained(
        models.Unigram(),
        _unigram("[CLS]", "[SEP]"),
        normalizer=normalizers.Sequence([*quotes, *case, table, normalizers.Replace(_SPACES, " ")]),
        pre_tokenizer=pre_tokenizers.Metaspace(),
        decoder=decoders.Metaspace(),
    )


def unigram_of_bytes() -> Tokenizer:
    """Return a Unigram model with byte fallback."""
    pieces = [("<unk>", 0.0), *((byte, -9.0) for byte in BYTES), *((f"▁{letter}", -3.0) for letter in "thequickdog")]
    pieces += [("the", -2.5), ("qu", -4.5), ("ick", -4.25), ("▁", -3.5), *((letter, -5.0) for letter in "abcdefghij")]
    made = Tokenizer(models.Unigram(list(dict(pieces).items()), 0, byte_fallback=True))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    return made


def word_level() -> Tokenizer:
    return _trained(
        models.WordLevel(unk_token="<unk>"),
        trainers.WordLevelTrainer(vocab_size=100, special_tokens=["<unk>"], show_progress=False),
        pre_tokenizer=pre_tokenizers.Whitespace(),
    )


STRUCTURES: dict[str, Callable[[], Tokenizer]] = {
    made.__name__: made
    for made in (
        bert, bert_with_more, gpt_2, roberta, llama_2, llama_3, clip, metaspace, gpt_neox, xlm_r, t5, albert,
        unigram_of_bytes, word_level,
    )
}  # fmt: skip
"""How known models are built."""


def assert_same(ours: AnyTokenizer, theirs: Tokenizer, given: list[str]) -> int:
    """Check tokens, ids, offsets and words of every text; return how many tokens that were."""
    compared = 0
    expected_all = theirs.encode_batch(given, add_special_tokens=False)
    for text, found, expected in zip(given, ours.encode(given), expected_all, strict=True):
        assert found.tokens == expected.tokens, repr(text)
        assert found.ids == expected.ids, repr(text)
        assert found.offsets == expected.offsets, repr(text)
        assert found.words == expected.word_ids, repr(text)
        compared += len(found)
    return compared


@functools.cache
def sentencepiece_model(rule: str = "nmt_nfkc", kind: str = "unigram") -> bytes:
    """Return a small model of SentencePiece that normalizes by a rule."""
    model = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(["the quick brown fox", "a lazy dog jumps"] * 5),
        model_writer=model,
        model_type=kind,
        vocab_size=40,
        hard_vocab_limit=False,
        normalization_rule_name=rule,
        minloglevel=2,
    )
    return model.getvalue()


def sentencepiece_table(rule: str) -> bytes:
    """Return the table of characters of a rule of SentencePiece, from a model that it trains."""
    return _member(_member(sentencepiece_model(rule), 3), 2)


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
