"""How long it takes to encode texts one by one, beside `tokenizers` in the same run.

``python -m tests.benchmarks.singles FILES`` learns a vocabulary of 30,000 from each file, and encodes its first 20,000
lines by each way in turn, each time with a new tokenizer, to which all is new. Prints medians of five in CPU seconds,
and how many lines `tokenizers` encodes otherwise.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import wordpiece_studio as wps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_RUNS = 5


def _all(encoding: Any) -> Any:
    return encoding.tokens, encoding.ids, encoding.offsets


def _ways(folder: Path) -> dict[str, Callable[[], Callable[[str], Any]]]:
    """Return what makes a new function that encodes a text, for each way."""
    import tokenizers

    def theirs() -> Any:
        return tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))

    def ours() -> wps.Tokenizer:
        tokenizer = wps.load_tokenizer(folder)
        assert isinstance(tokenizer, wps.Tokenizer)
        tokenizer.encode("first")  # loads the tables of characters
        return tokenizer

    def of_ours() -> Callable[[str], Any]:
        encode = ours().encode
        return lambda text: _all(encode(text))

    def of_theirs() -> Callable[[str], Any]:
        encode = theirs().encode
        return lambda text: _all(encode(text, add_special_tokens=False))

    def ids_of_theirs() -> Callable[[str], Any]:
        encode = theirs().encode
        return lambda text: encode(text, add_special_tokens=False).ids

    return {
        "tokens, ids, offsets": of_ours,
        "tokenizers": of_theirs,
        "ids": lambda: ours().ids,
        "tokenizers, ids": ids_of_theirs,
    }


def _measured(folder: Path, lines: Sequence[str]) -> dict[str, float]:
    """Return the CPU seconds of each way."""
    ways = _ways(folder)
    gc.collect()
    gc.freeze()  # else the collector would look again and again at what was trained on
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for _, (way, made) in itertools.product(range(_RUNS), ways.items()):
        encode = made()
        gc.collect()
        start = time.process_time()
        for line in lines:
            encode(line)
        seconds[way].append(time.process_time() - start)
    return {way: statistics.median(each) for way, each in seconds.items()}


def main() -> None:
    """Measure each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--lines", type=int, default=20_000)
    parser.add_argument("--normalizer", default="bert-uncased")
    options = parser.parse_args()
    for file in options.files:
        with file.open(encoding="utf-8") as text, tempfile.TemporaryDirectory() as folder:
            lines = [line.rstrip("\n") for line in itertools.islice(text, options.lines)]
            counts = wps.count_words([file], normalizer=options.normalizer)
            run = wps.train(counts, wps.TrainingConfig(vocab_size=30_000))
            wps.Tokenizer(run.vocabulary, options.normalizer).save(folder)
            ours, theirs, *_ = (made() for made in _ways(Path(folder)).values())
            differing = sum(ours(line) != theirs(line) for line in lines)
            length = sum(map(len, lines))
            sys.stdout.write(f"{file.name}: {len(lines):,} lines, {length:,} characters, {differing:,} differ\n")
            for way, seconds in _measured(Path(folder), lines).items():
                sys.stdout.write(f"  {way:24}{seconds:6.2f} s\n")


if __name__ == "__main__":
    main()
