"""Mutations of files with a tokenizer: ``tokenizer.json`` of all three models, ``vocab.txt``, ``vocab.json``."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from tests.reliability.mutating import PIECES, VALUES, spoiled_bytes, spoiled_json, spoiled_lines
from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.storage.bpe_files import bpe_files
from wordpiece_studio.storage.huggingface.tokenizer_json import tokenizer_json_bytes
from wordpiece_studio.storage.tokenizer_loading import load_tokenizer
from wordpiece_studio.storage.vocab_txt import vocabulary_bytes
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train

if TYPE_CHECKING:
    import random
    from pathlib import Path

TEXT = "the quick brown fox jumps over the lazy dog; the dogs hugged the pugs, 학교에서 12 34"
_PATTERNS = (
    r"\p{L}+",
    "(a|aa)+b",
    "(?:x+x+)+y",
    "[",
    "a{99}{99}{99}",
    r"\w",
    " ",
    "",
    "(" * 500,
    "a" * 20_000,
    r"\s+(?!\S)",
    "a{1,2}+" * 500,
    "[a[b" * 900,
    "[" + "a-b" * 3000,
)
_STEPS: tuple[Any, ...] = (
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True},
    {"type": "Metaspace", "replacement": "", "add_prefix_space": False},
    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True},
    {"type": "Digits", "individual_digits": True},
    {"type": "Punctuation", "behavior": "MergedWithNext"},
    {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": 1, "strip_accents": None, "lowercase": True},
    {"type": "Precompiled", "precompiled_charsmap": "AAAA////"},
    {"type": "Precompiled", "precompiled_charsmap": "AAQAAAAEAAA" + "A" * 1400},
    {"type": "Nmt"},
    {"type": "ByteFallback"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 2**40},
    {"type": "Strip", "strip_left": True, "strip_right": True},
    {"type": "Prepend", "prepend": "a" * 5000},
    {"type": "Replace", "pattern": {"String": "a"}, "content": "b" * 5000},
    {"type": "NFKC"},
    {"type": "TemplateProcessing", "single": []},
    None,
)  # fmt: skip


@cache
def seeds() -> dict[str, bytes]:
    """Return small tokenizers of every kind."""
    counts = count_texts([TEXT], "bert-uncased", "bert")
    run = train(counts, TrainingConfig(max_merges=20))
    pairs = train(
        counts,
        TrainingConfig(objective="count", max_merges=20, continuing_subword_prefix="", special_tokens=("<unk>",)),
    )
    word_piece = tokenizer_json_bytes(Tokenizer(run.vocabulary, counts.normalizer, counts.pre_tokenizer))
    vocab_json, merges, *_ = bpe_files(pairs.history).values()
    merge_list = [line.split(" ") for line in merges.decode().splitlines()[1:]]
    frame = json.loads(word_piece) | {"added_tokens": [], "post_processor": None, "decoder": None}
    bpe = frame | {
        "pre_tokenizer": _STEPS[2],
        "model": {"type": "BPE", "unk_token": "<unk>", "vocab": json.loads(vocab_json), "merges": merge_list},
    }
    pieces = [["<unk>", 0.0], *([token, -1.0 - number / 7] for number, token in enumerate(pairs.vocabulary.tokens[1:]))]
    unigram = frame | {"pre_tokenizer": _STEPS[0], "model": {"type": "Unigram", "unk_id": 0, "vocab": pieces}}
    return {
        "tokenizer.json": word_piece,
        "bpe.json": json.dumps(bpe, ensure_ascii=False).encode(),
        "unigram.json": json.dumps(unigram, ensure_ascii=False, indent=2).encode(),
        "vocab.txt": vocabulary_bytes(run.vocabulary.tokens),
        "vocab.json": vocab_json,
    }


def mutate(random: random.Random, seed: bytes) -> bytes:
    """Return a file of which something is not right."""
    if not seed.startswith(b"{"):
        return random.choice((spoiled_bytes, spoiled_lines))(random, seed)
    if b'"model"' not in seed:
        return random.choice((spoiled_bytes, spoiled_json, _spoiled_ids))(random, seed)
    return random.choice((spoiled_bytes, spoiled_json, spoiled_json, _spoiled_steps, _spoiled_model, _spoiled_texts))(
        random, seed
    )


def read(path: Path) -> None:
    """Load the tokenizer, and tokenize with it."""
    if path.name == "vocab.json":
        path.with_name("merges.txt").write_bytes(b"#version: 0.2\nt h\nth e\n")
    tokenizer = load_tokenizer(path)
    found = tokenizer.encode(TEXT + " [CLS] <unk> \0\n" + "a" * 200)
    tokenizer.decode(found.ids)


def _spoiled_steps(random: random.Random, seed: bytes) -> bytes:
    """Return a tokenizer with other steps before the model, or in great number."""
    value = json.loads(seed)
    step: Any = random.choice(_STEPS)
    if random.random() < 0.4:
        pattern = {random.choice(("String", "Regex", "regex")): random.choice(_PATTERNS)}
        step = {"type": random.choice(("Split", "Replace")), "pattern": pattern, "content": "x", "behavior": "Isolated"}
        step = {
            key: each for key, each in step.items() if key != ("content" if step["type"] == "Split" else "behavior")
        }
        step |= {"invert": False} if step["type"] == "Split" else {}
    if random.random() < 0.3:
        many = [step] * random.choice((1, 3, 3000))
        step = {"type": "Sequence", random.choice(("normalizers", "pretokenizers", "processors", "decoders")): many}
    for _ in range(random.choice((0, 0, 0, 1, 60))):
        step = {"type": "Sequence", "pretokenizers": [step]}
    value[random.choice(("normalizer", "pre_tokenizer", "post_processor", "decoder", "padding", "truncation"))] = step
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _spoiled_model(random: random.Random, seed: bytes) -> bytes:
    """Return a tokenizer whose ids, merges, scores, added tokens or flags are others."""
    value = json.loads(seed)
    model = value["model"]
    token = {
        "id": random.choice((0, 3, 999, 2**32)),
        "content": random.choice(("x", "the", "[UNK]", "")),
        "special": True,
    }
    flags = {name: random.random() < 0.3 for name in ("single_word", "lstrip", "rstrip", "normalized")}
    match random.randrange(6):
        case 0:
            value["added_tokens"] = [token | flags] * random.choice((1, 2, 5000))
        case 1:
            model[
                random.choice(("dropout", "byte_fallback", "fuse_unk", "ignore_merges", "unk_id", "unk_token", "type"))
            ] = random.choice((*VALUES, True, "BPE", "Unigram", "WordPiece", "WordLevel"))
        case 2:
            affix = random.choice(("##", "#" * 5000, "é", "\0"))
            model[random.choice(("continuing_subword_prefix", "end_of_word_suffix"))] = affix
        case 3 if "merges" in model:
            merges = [" ".join(pair) for pair in model["merges"]]
            model["merges"] = random.choice((merges, merges * 300, [*merges, "a b c"], [["a"]], merges[::-1]))
        case _:
            vocab = model["vocab"]
            if isinstance(vocab, dict):
                model["vocab"] = {name: random.choice((number, number * 2, 0)) for name, number in vocab.items()}
            else:
                vocab[random.randrange(len(vocab))] = random.choice(
                    (["a", 1e308], ["", -1], ["x" * 9000, -1], ["a"], [])
                )
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _spoiled_ids(random: random.Random, seed: bytes) -> bytes:
    """Return a vocabulary of which some ids are others, or a token stands there twice."""
    ids = json.loads(seed)
    for token in random.sample(sorted(ids), 3):
        ids[token] = random.choice((0, 1, -1, 2**31, 2**32, 0.5, "1", None, ids[token]))
    text = json.dumps(ids)
    return (text.replace("{", '{"a": 0, ', 1) if random.random() < 0.3 else text).encode()


def _spoiled_texts(random: random.Random, seed: bytes) -> bytes:
    """Return the file with something put between its values, or it nested in itself."""
    match random.randrange(3):
        case 0:
            at = random.choice([place for place, byte in enumerate(seed) if byte in b',:[]{}"'])
            return seed[:at] + random.choice(PIECES) + seed[at:]
        case 1:
            return b'{"version":"1.0","model":' + seed + b"}"
        case _:
            return seed[:-1] + b',"model":{"type":"BPE","vocab":{},"merges":[]}}'
