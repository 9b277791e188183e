"""Whether any number of threads and processes, and any cutting of the files, gives the same vocabulary, byte for byte.

``python -m tests.benchmarks.same_bytes FILES`` counts the files with each of six pipelines and 1, 2, 3 and 8 workers,
in small segments so that all have work, and trains a vocabulary; then it cuts the largest text file at random places
many times: into segments of random size for workers, and at random line ends into files of their own. Prints a table,
and ends with 1 if anything differs: words, their order, their counts, the figures of the corpus, or ``vocab.txt``.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from wordpiece_studio.corpus.counting import counting, segments, word_counters
from wordpiece_studio.corpus.counting.counting import count_words
from wordpiece_studio.storage.vocab_txt import vocabulary_bytes
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.corpus.counts import WordCounts

# Threads with kernels, processes with kernels, processes without: two of each.
PIPELINES = (
    ("bert-uncased", "bert"), ("nfkc", "whitespace-split+digits-single"),
    ("bert-cased", "whitespace"), ("language-friendly", "whitespace-split+byte-level"),
    ("none", "split:merged-with-next: +byte-level:bytes-only"), ("lowercase", r"pattern:\p{L}+|\p{N}"),
)  # fmt: skip
WORKERS = (1, 2, 3, 8)
_VOCABULARY = 10_000


def digest(counts: WordCounts, *figures: object) -> str:
    """Return a hash of the words in their order, their counts, and more about the corpus."""
    content = repr((counts.items(), figures)).encode(errors="surrogatepass")
    return hashlib.sha256(content).hexdigest()[:12]


def full_digest(counts: WordCounts) -> str:
    """Return a hash that includes the figures of the corpus and the files, and what was left out."""
    return digest(counts, counts.statistics, counts.skipped)


def vocabulary_digest(counts: WordCounts) -> str:
    """Return a hash of the above and the ``vocab.txt`` that is trained on the counts."""
    run = train(counts, TrainingConfig(vocab_size=_VOCABULARY, min_frequency=2))
    return digest(counts, counts.statistics, counts.skipped, vocabulary_bytes(run.vocabulary.tokens))


def divide(segment_bytes: int) -> None:
    """Let every text be divided among workers, into segments of about this size."""
    counting._LEAST_BYTES = 0
    counting.SEGMENT_BYTES = counting.CHILD_SEGMENT_BYTES = segment_bytes
    segments.SMALLEST_SEGMENT = min(segment_bytes, segments.SMALLEST_SEGMENT)
    word_counters.FEW_BYTES = word_counters.FEW_BYTES_UNCOMPILED = 0


def cut_into_files(path: Path, folder: Path, rng: random.Random) -> list[Path]:
    """Write a file as several, cut at random line ends, and return them."""
    lines = path.read_bytes().splitlines(keepends=True)
    places = sorted(rng.sample(range(1, len(lines)), rng.randrange(1, 12)))
    parts = [folder / f"{number:02}.txt" for number in range(len(places) + 1)]
    for part, start, end in zip(parts, [0, *places], [*places, None], strict=True):
        part.write_bytes(b"".join(lines[start:end]))
    return parts


def compare(name: str, expected: str, found: Sequence[str], seconds: float) -> int:
    """Print a line of the table, and return how many differ."""
    differences = sum(each != expected for each in found)
    sys.stdout.write(f"{name:84} {expected} {len(found):5} {differences:12} {seconds:6.0f} s\n")
    sys.stdout.flush()
    return differences


def main() -> int:
    """Compare, print, and return what the process ends with."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--cuts", type=int, default=10, help="how many random cuts for each pipeline")
    parser.add_argument("--segment", type=int, default=300_000, help="bytes in a segment")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    largest = max((path for path in arguments.files if path.suffix == ".txt"), key=lambda path: path.stat().st_size)
    size = sum(path.stat().st_size for path in arguments.files)
    sys.stdout.write(f"{len(arguments.files)} files, {size:,} bytes; cut: {largest.name}\n")
    sys.stdout.write(f"{'':84} {'SHA-256':12} {'times':>5} {'differences':>12}\n")
    differences = 0
    for pipeline in PIPELINES:
        started = time.monotonic()
        divide(arguments.segment)
        one, *others = (
            vocabulary_digest(count_words(arguments.files, *pipeline, processes=count)) for count in WORKERS
        )
        name = " + ".join(pipeline)
        differences += compare(f"{name}, {WORKERS} workers", one, others, time.monotonic() - started)
        started = time.monotonic()
        whole = count_words(largest, *pipeline)
        in_segments, in_files = [], []
        for _ in range(arguments.cuts):
            divide(rng.randrange(5_000, 1_000_000))
            in_segments.append(full_digest(count_words(largest, *pipeline, processes=rng.randrange(2, 9))))
            with tempfile.TemporaryDirectory() as folder:
                parts = cut_into_files(largest, Path(folder), rng)
                in_files.append(digest(count_words(parts, *pipeline, processes=rng.choice([1, 3]))))
        differences += compare("  random segments", full_digest(whole), in_segments, time.monotonic() - started)
        differences += compare("  cut into files", digest(whole), in_files, 0)
    sys.stdout.write(f"{differences} differences\n")
    return int(differences > 0)


if __name__ == "__main__":
    sys.exit(main())
