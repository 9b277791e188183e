"""Random calls of encoders in every form, compared with `tokenizers` and with a call in `transformers`.

``python -m tests.benchmarks.forms --calls 100000`` trains a small vocabulary on random text, and compares what
``encode`` returns with ``encode_batch``, by the Studio's own longest match and by the library in turn; and, with
``--transformers``, a call of the tokenizer with one of `transformers`, whatever version is installed. Each call draws
texts, pairs or words, and options. Prints differences, and ends with 1 if there are any.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import tokenizers

import wordpiece_studio as wps
from wordpiece_studio.tokenizer import tokenizer as tokenizer_module

_LETTERS = "abcdeéÉ .,!_字\u0301\tAB1"
_COLUMNS = ("tokens", "ids", "offsets", "type_ids", "attention_mask", "special_tokens_mask")
_RETURNED = ("overflowing_tokens", "special_tokens_mask", "offsets_mapping", "token_type_ids", "attention_mask")
ADDED = [
    wps.AddedToken("<u>"),
    wps.AddedToken("<É>", normalized=True),
    wps.AddedToken("<w>", single_word=True),
    wps.AddedToken("<s>", lstrip=True, rstrip=True, special=True),
]


def made(normalizer: str, pre_tokenizer: str, with_added: bool) -> wps.Tokenizer:
    """Return a tokenizer that was trained on random text."""
    chance = random.Random(1)
    lines = ["".join(chance.choices("aaabbcde .é", k=40)) for _ in range(500)]
    counts = wps.count_texts(lines, normalizer=normalizer, pre_tokenizer=pre_tokenizer)
    tokenizer = wps.train(counts, wps.TrainingConfig(vocab_size=120)).tokenizer()
    if not with_added:
        return tokenizer
    words, pieces = tokenizer.vocabulary, len(tokenizer.vocabulary)
    tokens = [*words.tokens, *(token.content for token in ADDED)]
    more = wps.Vocabulary(tokens, words.special_tokens, added_tokens=ADDED, pieces=pieces)
    return wps.Tokenizer(more, normalizer, pre_tokenizer)


def _text(chance: random.Random) -> str:
    text = "".join(chance.choices(_LETTERS, k=chance.randrange(20)))
    return text + chance.choice(["", "", "", "[MASK]", " <u>", "x<w> ", "<w>", "<É>", "<é>", " <s> a", "[CLS]b"])


def _words(chance: random.Random) -> list[str]:
    return [_text(chance)[:8] for _ in range(chance.randrange(4))]


def _batch(chance: random.Random) -> tuple[list[Any], list[Any] | None, bool]:
    """Return texts, second texts if there are some, and whether they are words."""
    one = _words if (are_words := chance.random() < 0.25) else _text
    count = chance.randrange(1, 5)
    seconds = [one(chance) for _ in range(count)] if chance.random() < 0.5 else None
    return [one(chance) for _ in range(count)], seconds, are_words


def _options(chance: random.Random) -> dict[str, Any]:
    options: dict[str, Any] = {"add_special_tokens": chance.random() < 0.6}
    if chance.random() < 0.6:
        options["max_length"] = chance.randrange(1, 24)
        options["truncation"] = chance.choice([True, "longest_first", "longest_first", "only_first", "only_second"])
        options["stride"] = chance.choice([0, 0, 1, 2, 5])
    if chance.random() < 0.5:
        options["padding"] = chance.choice([True, "longest", "max_length"] if "max_length" in options else [True])
        options["pad_to_multiple_of"] = chance.choice([None, None, 4])
        options["padding_side"] = chance.choice(["left", "right"])
    return options


def _parts(encodings: Any, columns: tuple[str, ...]) -> list[Any]:
    return [
        [list(getattr(part, name)) for name in columns] for whole in encodings for part in (whole, *whole.overflowing)
    ]


def with_tokenizers(ours: wps.Tokenizer, theirs: Any, chance: random.Random) -> str | None:
    """Return how a random call differs, or None."""
    firsts, seconds, are_words = _batch(chance)
    options, side = _options(chance), chance.choice(["left", "right"])
    ours.truncation_side = side  # type: ignore[assignment]
    theirs.no_truncation()
    theirs.no_padding()
    expected: Any = None
    try:
        if options.get("padding"):
            theirs.enable_padding(
                direction=options["padding_side"], pad_id=theirs.token_to_id("[PAD]"), pad_token="[PAD]",
                length=options["max_length"] if options["padding"] == "max_length" else None,
                pad_to_multiple_of=options["pad_to_multiple_of"],
            )  # fmt: skip
        if "max_length" in options:
            strategy = "longest_first" if options["truncation"] is True else options["truncation"]
            theirs.enable_truncation(options["max_length"], stride=options["stride"], strategy=strategy, direction=side)
        given = firsts if seconds is None else list(zip(firsts, seconds, strict=True))
        expected = theirs.encode_batch(
            given, is_pretokenized=are_words, add_special_tokens=options["add_special_tokens"]
        )
    except BaseException as error:  # a panic is no Exception
        expected = error
    try:
        found = ours.encode(firsts, seconds, is_pretokenized=are_words, **options)
    except wps.StudioError as error:
        # There is no room: the length overflows, and nothing is truncated.
        is_same = isinstance(expected, BaseException) or "leaves no room" in str(error)
        return None if is_same else f"{firsts} {seconds} {options}: {error}"
    if isinstance(expected, BaseException):
        return f"{firsts} {seconds} {options}: {expected}"
    one, other = _parts(found, (*_COLUMNS, "words")), _parts(expected, (*_COLUMNS, "word_ids"))
    return None if one == other else f"{firsts} {seconds} {options} {side}: {one} {other}"


def with_transformers(ours: wps.Tokenizer, theirs: Any, chance: random.Random) -> str | None:
    """Return how a random call differs, or None."""
    given: list[Any] = [*_batch(chance)]
    are_words = given.pop()
    if chance.random() < 0.3:  # one text
        given = [None if each is None else each[0] for each in given]
        given[1] = chance.choice([given[1], given[1], "" if given[1] is None and not are_words else given[1]])
    options = _options(chance)
    if "max_length" in options and chance.random() < 0.3:
        del options["truncation"]
    if chance.random() < 0.2:
        del options["add_special_tokens"]
    options |= {f"return_{name}": chance.random() < 0.7 for name in _RETURNED}
    options["is_split_into_words"] = are_words
    side = chance.choice(["left", "right"])
    ours.truncation_side = theirs.truncation_side = side  # type: ignore[assignment]
    expected: Any
    try:
        expected = dict(theirs(*given, **options))
    except BaseException as error:
        expected = error
    try:
        found = ours(*given, **options)
    except wps.StudioError as error:
        is_same = isinstance(expected, BaseException) or "leaves no room" in str(error)
        return None if is_same else f"{given} {options}: {error}"
    if isinstance(expected, BaseException):
        return f"{given} {options}: {expected!r}, ours: {found}"
    return None if found == expected else f"{given} {options} {side}: {found} {expected}"


def main() -> int:
    """Compare, print, and return what the process ends with."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--transformers", action="store_true")
    given = parser.parse_args()
    chance, differing = random.Random(given.seed), 0
    settings = [
        (normalizer, splits, added)
        for normalizer in ("bert-uncased", "bert-cased", "nfkc+lowercase")
        for splits in ("bert", "whitespace")
        for added in (False, True)
    ]
    for number, setting in enumerate(settings):
        ours = made(*setting)
        with tempfile.TemporaryDirectory() as folder:
            ours.save(folder)
            compare: Any = with_tokenizers
            theirs: Any = tokenizers.Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))
            if given.transformers:
                import transformers

                transformers.logging.set_verbosity_error()
                compare, theirs = with_transformers, transformers.AutoTokenizer.from_pretrained(folder)
            calls = given.calls // len(settings) + (number < given.calls % len(settings))
            for call in range(calls):
                if call in (0, calls // 2):
                    tokenizer_module._FEW_CHARACTERS = -1 if call else 1 << 60  # the library, or the Studio
                    ours = made(*setting)
                if difference := compare(ours, theirs, chance):
                    differing += 1
                    if differing <= 20:
                        sys.stdout.write(f"{setting}: {difference[:1500]}\n")
    sys.stdout.write(f"{given.calls:,} calls, {differing:,} differences\n")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
