"""A script as an engineer writes it with the library: train, evaluate, send to processes, encode, compare.

``python -m tests.benchmarks.engineer CORPUS…`` trains a vocabulary on files, prints what it makes of held-out text,
writes it to a folder, sends the tokenizer to eight new processes, and encodes lines of the files there in every form:
with special tokens, as pairs, truncated, with a stride, padded, on either side; and once more with added tokens of all
kinds, which some of the lines contain. Everything is compared with what `tokenizers` and `transformers` make of the
same lines and the written folder. Prints a table, and ends with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import multiprocessing
import os
import pickle
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import wordpiece_studio as wps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

FORMS: dict[str, dict[str, Any]] = {
    "as they are": {},
    "special tokens": {"add_special_tokens": True},
    "truncated": {"add_special_tokens": True, "truncation": True, "max_length": 20},
    "windows": {"add_special_tokens": True, "truncation": "longest_first", "max_length": 24, "stride": 4},
    "padded": {"add_special_tokens": True, "padding": True, "pad_to_multiple_of": 8},
    "of one length": {"add_special_tokens": True, "truncation": True, "max_length": 48, "padding": "max_length"},
    "second truncated": {"add_special_tokens": True, "truncation": "only_second", "max_length": 48},
    "on the left": {"add_special_tokens": True, "padding": True, "padding_side": "left"},
}
ADDED = (
    wps.AddedToken("<url>"),
    wps.AddedToken("Foo Bar", normalized=True),
    wps.AddedToken("<b>", lstrip=True),
    wps.AddedToken("the", single_word=True, rstrip=True),
    wps.AddedToken("<sep>", special=True, normalized=True),
    wps.AddedToken("[MASK]", lstrip=True, special=True),
)
_LINES_AT_ONCE = 500
_LONGEST_FIRST_TEXT = 40  # characters, where only the second text is truncated
_LISTS = ("input_ids", "token_type_ids", "attention_mask", "special_tokens_mask", "offset_mapping")

Batch = list[Any]  # texts, or pairs of texts


def batches(lines: Sequence[str], form: str) -> Iterator[Batch]:
    """Yield the lines, and each with the one after it as pairs, in portions."""
    if form == "second truncated":
        texts: list[Any] = [(first[:_LONGEST_FIRST_TEXT], second) for first, second in itertools.pairwise(lines)]
    else:
        texts = [*lines, *itertools.pairwise(lines)]
    singles = [text for text in texts if isinstance(text, str)]
    for alike in (singles, [text for text in texts if not isinstance(text, str)]):
        for start in range(0, len(alike), _LINES_AT_ONCE):
            yield alike[start : start + _LINES_AT_ONCE]


def of_tokenizers(folder: Path, batch: Batch, options: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return what `tokenizers` makes of texts."""
    tokenizer = _tokenizers(folder)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if options.get("truncation"):
        strategy = "longest_first" if options["truncation"] is True else options["truncation"]
        tokenizer.enable_truncation(options["max_length"], stride=options.get("stride", 0), strategy=strategy)
    if options.get("padding"):
        tokenizer.enable_padding(
            length=options["max_length"] if options["padding"] == "max_length" else None,
            direction=options.get("padding_side", "right"),
            pad_to_multiple_of=options.get("pad_to_multiple_of"),
            pad_id=tokenizer.token_to_id("[PAD]"),
        )
    found = tokenizer.encode_batch(batch, add_special_tokens=options.get("add_special_tokens", False))
    return [_figures(part) for encoding in found for part in (encoding, *encoding.overflowing)]


def of_transformers(folder: Path, batch: Batch, options: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return what `transformers` makes of texts."""
    are_pairs = not isinstance(batch[0], str)
    texts = map(list, zip(*batch, strict=True)) if are_pairs else [batch]
    found = _transformers(folder)(
        *texts,
        **{"add_special_tokens": False, **options},
        return_overflowing_tokens=True,
        return_token_type_ids=True,
        return_special_tokens_mask=True,
        return_offsets_mapping=True,
    )
    tokens = [encoding.tokens for encoding in found.encodings]
    return [(one, *lists) for one, *lists in zip(tokens, *(found[name] for name in _LISTS), strict=True)]


@functools.cache
def _tokenizers(folder: Path) -> Any:
    import tokenizers

    return tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))


@functools.cache
def _transformers(folder: Path) -> Any:
    import transformers

    return transformers.AutoTokenizer.from_pretrained(folder)


LIBRARIES = {"tokenizers": of_tokenizers, "transformers": of_transformers}


def _figures(encoding: Any) -> tuple[Any, ...]:
    masks = encoding.type_ids, encoding.attention_mask, encoding.special_tokens_mask
    return encoding.tokens, encoding.ids, *masks, encoding.offsets


def with_added_tokens(tokenizer: wps.Tokenizer, lines: Sequence[str]) -> tuple[wps.Tokenizer, list[str]]:
    """Return a tokenizer that has added tokens besides, and lines of which every second contains some of them."""
    vocabulary = tokenizer.vocabulary
    new = [token.content for token in ADDED if token.content not in vocabulary]
    more = wps.Vocabulary(
        [*vocabulary.tokens, *new], vocabulary.special_tokens, added_tokens=ADDED, pieces=len(vocabulary)
    )
    rng = random.Random(1)
    spellings = [*(token.content for token in ADDED), "foo bar", "FOO BAR", "<SEP>", "[CLS]", "The", "[PAD]"]
    spoilt = []
    for number, line in enumerate(lines):
        words = line.split(" ")
        for _ in range(number % 2 * 2):
            words.insert(rng.randrange(len(words) + 1), rng.choice(("", " ", "x")) + rng.choice(spellings))
        spoilt.append(" ".join(words))
    return wps.Tokenizer(more, tokenizer.normalizer, tokenizer.pre_tokenizer), spoilt


def differences(
    tokenizer: wps.Tokenizer, folder: Path, lines: Sequence[str], libraries: Iterable[str], processes: int
) -> Iterator[tuple[str, int, int, list[str]]]:
    """Yield for each form its name, how many encodings were compared, how many differ, and some of those.

    Parameters
    ----------
    tokenizer
        What was written to `folder`.
    lines
        The texts; each is also paired with the next.
    libraries
        The names of the libraries to compare with.
    processes
        How many new processes encode.
    """
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for form, options in FORMS.items():
            encode = functools.partial(tokenizer.encode, **options)
            compared, different = 0, []
            for batch, encodings in zip(batches(lines, form), pool.imap(encode, batches(lines, form)), strict=True):
                ours = [_figures(part) for encoding in encodings for part in (encoding, *encoding.overflowing)]
                for name in libraries:
                    theirs = LIBRARIES[name](folder, batch, options)
                    compared += len(theirs)
                    different += [f"{name}: {a!a}, ours: {b!a}" for a, b in zip(theirs, ours, strict=True) if a != b]
            yield form, compared, len(different), different[:3]


def main() -> int:
    """Train, compare, print, and return what the process ends with."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path, nargs="+", help="files in UTF-8")
    parser.add_argument("--lines", type=int, default=100_000, help="how many lines, spread over the files")
    parser.add_argument("--part", type=int, nargs=2, default=(1, 1), metavar="N", help="1 4: the first of four parts")
    parser.add_argument("--processes", type=int, default=8)
    arguments = parser.parse_args()
    os.environ |= {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    begun = time.monotonic()
    parts = wps.divided_corpus(arguments.corpus, "bert-uncased")
    figures = wps.held_out_figures(parts.rest, parts.held_out, wps.TrainingConfig(vocab_size=30_000))
    per_word = ", ".join(f"{objective} {value:.3f}" for objective, value in figures.tokens_per_word.items())
    run = figures.run
    _say(f"{len(run.vocabulary):,} tokens from {run.counts.total:,} words; tokens a word of held-out text: {per_word}")
    sent = pickle.dumps(run)
    is_same = [*pickle.loads(sent).history] == [*run.history]
    _say(f"the run pickled: {len(sent):,} bytes; {'the same' if is_same else 'NOT THE SAME'} when it is back")
    lines = [line for path in arguments.corpus for line in path.read_text(encoding="utf-8").splitlines() if line]
    part, parts = arguments.part
    lines = lines[:: max(1, len(lines) // arguments.lines)][: arguments.lines][part - 1 :: parts]
    total = 0
    for title, tokenizer, texts in (
        ("as it was trained", run.tokenizer(), lines),
        ("with added tokens", *with_added_tokens(run.tokenizer(), lines)),
    ):
        with tempfile.TemporaryDirectory() as folder:
            tokenizer.save(folder)
            for form, compared, different, shown in differences(
                tokenizer, Path(folder), texts, LIBRARIES, arguments.processes
            ):
                _say(f"{title}, {form:18} {compared:12,} encodings {different:8,} differences")
                for difference in shown:
                    _say(f"    {difference[:500]}")
                total += different
    _say(f"{total} differences in the forms of {len(lines):,} lines; {time.monotonic() - begun:.0f} s")
    return int(total > 0 or not is_same)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
