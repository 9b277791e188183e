"""From the start of a process to the vocabulary in a file: ours by each objective, the others by count."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from tests.benchmarks.bench import OURS, Bench, Corpus
from tests.benchmarks.libraries import SETTINGS
from tests.benchmarks.table import Bar, Row

if TYPE_CHECKING:
    from tests.benchmarks.processes import ProcessRun

    Runs = dict[str, list[ProcessRun]]

_SPEED_BARS = {
    ("many-100", "tokenizers"): Bar("≥", 10),
    ("many-100", "sentencepiece"): Bar("≥", 4.5),
    ("english-26mb", "tokenizers"): Bar("≥", 6),
    ("english-26mb", "sentencepiece"): Bar("≥", 2.5),
}
_MEMORY_BARS = {("many-100", "tokenizers"): Bar("≤", 0.9)}


def measure(bench: Bench, corpora: list[Corpus]) -> None:
    """Run all programs on all corpora, in turn, and once more on almost nothing for the time of a mere start."""
    libraries = bench.libraries(*SETTINGS)
    loading = bench.probe("loading")["seconds"]  # which also compiles them, if that was never done
    empty = bench.folder / "empty.txt"
    empty.write_text("a\n", encoding="ascii")
    starts = _runs(bench, Corpus("empty", empty), [*OURS, *libraries], size=0)
    _add_starts(bench, starts)
    if not bench.is_quick:
        loading = median(bench.probe("loading")["seconds"] for _ in range(bench.runs))
    for corpus in corpora:
        runs = _runs(bench, corpus, [*OURS, *libraries], size=bench.merges)
        part = f"Process start to {bench.merges:,}-token vocab.txt: {corpus.name}, {corpus.megabytes:.1f} MB"
        _add_times(bench, part, runs)
        for library in SETTINGS:
            if library in runs:
                for ours in OURS:
                    _add_ratios(bench, part, corpus.name, (ours, library), runs, starts, loading)
            else:
                bench.add_missing(part, f"against {library}", library)


def _runs(bench: Bench, corpus: Corpus, programs: list[str], size: int) -> Runs:
    runs: Runs = {name: [] for name in programs}
    for number in range(bench.runs):
        for name in programs:
            runs[name].append(bench.program(name, corpus, size, number))
    return runs


def _add_starts(bench: Bench, starts: Runs) -> None:
    for name, runs in starts.items():
        note = "kernels not loaded" if name in OURS else ""
        bench.add(Row("A start that trains nothing", name, tuple(run.seconds for run in runs), "s", note=note))


def _add_times(bench: Bench, part: str, runs: Runs) -> None:
    for name, ours in runs.items():
        cpu = f"{median(run.cpu_seconds for run in ours):.2f} s computed"
        what = "minimum frequency 2" if name in OURS else SETTINGS[name]
        bench.add(Row(part, name, tuple(run.seconds for run in ours), "s", note=f"{cpu}; {what}"))
        peaks = tuple(run.peak_bytes / 1e6 for run in ours if run.peak_bytes)
        bench.add(Row(part, f"{name}, peak memory", peaks, "MB"))


def _add_ratios(
    bench: Bench, part: str, corpus: str, pair: tuple[str, str], runs: Runs, starts: Runs, loading: float
) -> None:
    name, library = pair
    by = OURS[name]
    rounds = list(zip(runs[library], runs[name], strict=True))
    ratios = tuple(theirs.seconds / ours.seconds for theirs, ours in rounds)
    bench.add(Row(part, f"{by}: × faster than {library}", ratios, "×", bench.bar(_SPEED_BARS.get((corpus, library)))))
    our_start, their_start = (median(run.seconds for run in starts[of]) for of in pair)
    ours, theirs = (median(run.seconds for run in runs[of]) for of in pair)
    without = (theirs - their_start) / (ours - our_start)
    note = ""
    if ours > our_start + loading:
        further = (theirs - their_start) / (ours - our_start - loading)
        note = f"{further:.1f} × with the {loading:.2f} s of loading the kernels subtracted as well"
    bench.add(Row(part, f"{by}: × faster than {library}, starts subtracted", (without,), "×", note=note))
    if all(run.peak_bytes for pair in rounds for run in pair):
        shares = tuple((ours.peak_bytes or 0) / (theirs.peak_bytes or 1) for theirs, ours in rounds)
        bar = bench.bar(_MEMORY_BARS.get((corpus, library)))
        bench.add(Row(part, f"{by}: peak memory, as part of that of {library}", shares, "×", bar))
