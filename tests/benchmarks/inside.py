"""What the library takes for each of its own works: training, walking, counting, encoding, loading the kernels."""

from __future__ import annotations

import sys
import tempfile
from statistics import median
from typing import TYPE_CHECKING, Any

from tests.benchmarks.table import Bar, Row

if TYPE_CHECKING:
    from pathlib import Path

    from tests.benchmarks.bench import Bench, Corpus

OBJECTIVES = ("score", "count", "likelihood")

_TRAIN_BARS = {"score": Bar("≤", 0.25), "count": Bar("≤", 0.8), "likelihood": Bar("≤", 1.3)}
_FULL_BAR, _BACK_BAR = Bar("≤", 0.4), Bar("≤", 0.2)
_STEP_BARS = {"forward_us": Bar("≤", 30), "back_us": Bar("≤", 10)}
_TOP_BARS = {"top_head_ms": Bar("≤", 1), "top_seek_ms": Bar("≤", 15)}
_ENCODING_BAR = Bar("≥", 12)
_COMPILING_BAR, _LOADING_BAR = Bar("≤", 6), Bar("≤", 0.2)


def measure_training(bench: Bench, corpora: list[Corpus]) -> None:
    """Train from counts, and walk all the way back and forth again."""
    for corpus in corpora:
        is_shakespeare = corpus.name == "shakespeare"
        merges, min_frequency = (0, 0) if is_shakespeare else (bench.merges, 2)
        limit = "until no pair is left" if is_shakespeare else f"{merges:,} merges, minimum frequency 2"
        part = f"Training from counts: {corpus.name}, {limit}"
        for objective in OBJECTIVES:
            found = bench.probe("training", corpus.path, objective, merges, min_frequency, bench.runs)
            bars = _training_bars(corpus.name, objective)
            note = f"{found['merges']:,} merges, {found['distinct_words']:,} distinct words"
            for key, name in (("train", "merges"), ("back", "all back"), ("forward_again", "all forth again")):
                row_note = note if key == "train" else ""
                bench.add(Row(part, f"{objective}: {name}", tuple(found[key]), "s", bench.bar(bars.get(key)), row_note))
            note = "the Trainer: alphabet, cells, first pairs"
            bench.add(Row(part, f"{objective}: made ready", tuple(found["build"]), "s", note=note))


def _training_bars(corpus: str, objective: str) -> dict[str, Bar]:
    if corpus == "many-100":
        return {"train": _TRAIN_BARS[objective], "back": _BACK_BAR}
    return {"train": _FULL_BAR} if (corpus, objective) == ("shakespeare", "score") else {}


def measure_walking(bench: Bench, corpora: list[Corpus]) -> None:
    """Take single steps from Python, and ask for the best candidates."""
    for corpus in corpora:
        part = f"Single steps in mid-training, and the best 50: {corpus.name}"
        for objective in OBJECTIVES:
            found = bench.probe("walking", corpus.path, objective, bench.merges)
            for key, name in (("forward_us", "step"), ("back_us", "step back"), ("forward_again_us", "step, known")):
                bench.add_spread(part, f"{objective}: {name}", found[key], "µs", _STEP_BARS.get(key))
            for key, name in (
                ("top_head_ms", "top 50 at the head"),
                ("top_seek_ms", "top 50 after a seek"),
                ("seek_ms", "the seek itself"),
            ):
                bench.add_spread(part, f"{objective}: {name}", found[key], "ms", _TOP_BARS.get(key))


def measure_counting(bench: Bench, corpora: list[Corpus]) -> None:
    """Count the words, and have the library count them."""
    for corpus in corpora:
        part = f"Counting: {corpus.name}, {corpus.megabytes:.1f} MB"
        ours = bench.probe("counting", corpus.path, bench.runs)
        note = f"{ours['words']:,} words, {ours['distinct_words']:,} of them distinct"
        _add_speed(bench, part, "wordpiece-studio", corpus, ours, note)
        _compare(bench, part, corpus, ours, "counting_tokenizers", (corpus.path,), None, "distinct_words")


def measure_encoding(bench: Bench, corpora: list[Corpus]) -> None:
    """Encode each corpus with a vocabulary learned from it, by count, as the library would have learned it."""
    for corpus in corpora:
        part = f"Encoding on one core: {corpus.name}, {corpus.megabytes:.1f} MB, {bench.merges:,} tokens"
        bench.program("wordpiece-studio, count", corpus, bench.merges, 0)
        folder = bench.folder / "wordpiece-studio, count"
        ours = bench.probe("encoding", corpus.path, folder, bench.runs)
        _add_speed(bench, part, "wordpiece-studio", corpus, ours, f"{ours['tokens']:,} ids; from the file")
        _compare(bench, part, corpus, ours, "encoding_tokenizers", (corpus.path, folder), _ENCODING_BAR, "sum")


def _compare(
    bench: Bench,
    part: str,
    corpus: Corpus,
    ours: dict[str, Any],
    probe: str,
    arguments: tuple[Path, ...],
    bar: Bar | None,
    same: str,
) -> None:
    """Measure the library and put down the ratio, and whether both came to the `same`."""
    if not bench.libraries("tokenizers"):
        bench.add_missing(part, "against tokenizers", "tokenizers")
        return
    theirs = bench.probe(probe, *arguments, bench.runs)
    agree = "same result" if ours[same] == theirs[same] else f"OTHER RESULT: {ours[same]:,} and {theirs[same]:,}"
    _add_speed(bench, part, "tokenizers", corpus, theirs, "")
    ratios = tuple(b / a for a, b in zip(ours["seconds"], theirs["seconds"], strict=True))
    bench.add(Row(part, "× faster than tokenizers", ratios, "×", bench.bar(bar), agree))


def _add_speed(bench: Bench, part: str, name: str, corpus: Corpus, found: dict[str, Any], note: str) -> None:
    bench.add(Row(part, name, tuple(corpus.megabytes / seconds for seconds in found["seconds"]), "MB/s", note=note))


def measure_kernels(bench: Bench, corpora: list[Corpus]) -> None:
    """Compile the kernels into an empty cache by a child process, and load them from there."""
    del corpora
    compiling, computed, loading = [], [], []
    for _ in range(bench.runs):
        with tempfile.TemporaryDirectory(dir=bench.folder) as folder:
            cache = {"HOME" if sys.platform == "darwin" else "XDG_CACHE_HOME": folder}
            found = bench.probe("compiling", environment=cache)
            if not found["was_cached"]:  # where the system names the folder, the cache is the user's own
                compiling.append(found["seconds"])
                computed.append(found["cpu_seconds"])
            loading.append(bench.probe("loading", environment=cache)["seconds"])
    part = "Kernels, all of them"
    note = f"by a child process, its start included; {median(computed or [0]):.1f} s computed"
    bench.add(Row(part, "compiled into an empty cache", tuple(compiling), "s", bench.bar(_COMPILING_BAR), note))
    bench.add(
        Row(part, "loaded from the cache", tuple(loading), "s", bench.bar(_LOADING_BAR), "NumPy and LLVM included")
    )
