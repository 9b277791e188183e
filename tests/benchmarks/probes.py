"""What is measured inside a process: ``python -m tests.benchmarks.probes NAME ARGUMENTS`` prints one JSON object.

Each is a fresh process, so that one measurement does not warm the next. Times are seconds unless the key says
otherwise; a list holds one value for each repetition.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from wordpiece_studio import Trainer, WordCounts

_SINGLE_STEPS = 2_000
_TOP = 50


def training(corpus: str, objective: str, merges: str, min_frequency: str, runs: str) -> dict[str, Any]:
    """Train from counts, go all the way back, and forth again; `merges` is 0 for until no pair is left."""
    counts = _count(corpus)
    _load()
    found: dict[str, list[float]] = {"build": [], "train": [], "back": [], "forward_again": []}
    for _ in range(int(runs)):
        started = time.perf_counter()
        trainer = _trainer(counts, objective, int(merges), int(min_frequency))
        found["build"].append(time.perf_counter() - started)
        found["train"].append(_seconds(trainer.run))
        last = trainer.current_step
        found["back"].append(_seconds(trainer.seek, 0))
        found["forward_again"].append(_seconds(trainer.seek, last))
    return {**found, "merges": last, "distinct_words": len(counts), "vocabulary": len(trainer.vocabulary)}


def walking(corpus: str, objective: str, merges: str) -> dict[str, Any]:
    """Take single steps in mid-training, and list the best candidates at the head and after jumps."""
    counts = _count(corpus)
    _load()
    middle = _trainer(counts, objective, int(merges), 2).run() // 2
    trainer = _trainer(counts, objective, int(merges), 2)
    trainer.run(middle)
    steps = min(_SINGLE_STEPS, middle // 2)
    forward = [_seconds(trainer.step) for _ in range(steps)]
    back = [_seconds(trainer.step_back) for _ in range(steps)]
    again = [_seconds(trainer.step) for _ in range(steps)]
    head = []
    for _ in range(30):
        trainer.step()
        head.append(_seconds(trainer.top, _TOP))
    trainer.run()
    last, jumps, after = trainer.current_step, [], []
    for number in range(1, 12):
        step = number * 7919 % last
        jumps.append(_seconds(trainer.seek, step))
        after.append(_seconds(trainer.top, _TOP))
    steps_us = {"forward_us": forward, "back_us": back, "forward_again_us": again}
    spread = {name: _spread(times, 1e6) for name, times in steps_us.items()}
    return {
        **spread,
        "top_head_ms": _spread(head, 1e3),
        "top_seek_ms": _spread(after, 1e3),
        "seek_ms": _spread(jumps, 1e3),
    }


def counting(corpus: str, runs: str) -> dict[str, Any]:
    """Count the words of a file."""
    from wordpiece_studio import count_words

    _load()
    times = []
    for _ in range(int(runs)):
        started = time.perf_counter()
        counts = count_words(corpus, "bert-uncased")
        times.append(time.perf_counter() - started)
    return {"seconds": times, "words": counts.total, "distinct_words": len(counts), "bytes": counts.statistics.bytes}


def counting_tokenizers(corpus: str, runs: str) -> dict[str, Any]:
    """Count with Hugging Face's library: a word-level training, which does nothing else."""
    from tokenizers import Tokenizer, models, trainers

    times = []
    for _ in range(int(runs)):
        tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
        _as_bert_reads(tokenizer)
        trainer = trainers.WordLevelTrainer(vocab_size=10**9, show_progress=False)
        times.append(_seconds(tokenizer.train, [corpus], trainer))
    return {"seconds": times, "distinct_words": tokenizer.get_vocab_size()}


def encoding(corpus: str, folder: str, runs: str) -> dict[str, Any]:
    """Encode a file with the vocabulary of a folder, each line a text, on one core; reading the file is counted."""
    _stay_on_one_core()
    from wordpiece_studio import encode_files, load_tokenizer

    _load()
    tokenizer = load_tokenizer(folder)
    times = []
    for _ in range(int(runs)):
        started = time.perf_counter()
        encoded = encode_files(tokenizer, corpus)
        times.append(time.perf_counter() - started)
    return {"seconds": times, "tokens": len(encoded.ids), "sum": _checksum(encoded.ids)}


def encoding_tokenizers(corpus: str, folder: str, runs: str) -> dict[str, Any]:
    """Encode the lines of a file with ``encode_batch_fast``, on one core; reading the file is not counted."""
    _stay_on_one_core()
    import numpy as np
    from tokenizers import Tokenizer, models

    tokenizer = Tokenizer(models.WordPiece.from_file(f"{folder}/vocab.txt", unk_token="[UNK]"))
    _as_bert_reads(tokenizer)
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    with open(corpus, encoding="utf-8", newline="\n") as file:
        lines = file.readlines()
    batches = [lines[start : start + 1000] for start in range(0, len(lines), 1000)]
    times = []
    for run in range(int(runs)):
        seconds, parts = 0.0, []
        for batch in batches:
            started = time.perf_counter()
            encodings = tokenizer.encode_batch_fast(batch, add_special_tokens=False)
            seconds += time.perf_counter() - started
            if not run:
                parts += [encoding.ids for encoding in encodings]
        if not run:
            ids = np.concatenate([np.array(part, dtype=np.int32) for part in parts])
        times.append(seconds)
    return {"seconds": times, "tokens": len(ids), "sum": _checksum(ids)}


def compiling() -> dict[str, Any]:
    """Have a child compile all kernels, as the window does; the environment names an empty cache."""
    from wordpiece_studio.compiled.kernel_cache import kernels_are_cached
    from wordpiece_studio.session.kernel_warmup import compile_kernels

    return {"was_cached": kernels_are_cached(), "seconds": _seconds(compile_kernels, threading.Event().is_set)}


def loading() -> dict[str, Any]:
    """Load all kernels from the cache."""
    return {"seconds": _seconds(_load)}


def growth(corpus: str, merges: str) -> dict[str, Any]:
    """Count, build and train by score, once."""
    from wordpiece_studio import count_words

    _load()
    started = time.perf_counter()
    counts = count_words(corpus, "bert-uncased")
    counted = time.perf_counter()
    trainer = _trainer(counts, "score", int(merges), 2)
    built = time.perf_counter()
    trainer.run()
    ended = time.perf_counter()
    times = {"count": counted - started, "build": built - counted, "train": ended - built}
    return {**times, "merges": trainer.current_step, "bytes": counts.statistics.bytes, "distinct_words": len(counts)}


def _count(corpus: str) -> WordCounts:
    from wordpiece_studio import count_words

    return count_words(corpus, "bert-uncased")


def _trainer(counts: WordCounts, objective: Any, merges: int, min_frequency: int) -> Trainer:
    from wordpiece_studio import Trainer, TrainingConfig

    config = TrainingConfig(
        objective=objective, vocab_size=None, max_merges=merges or None, min_frequency=min_frequency
    )
    return Trainer(counts, config, engine="compiled")


def _load() -> None:
    """Load all kernels, so that no measurement holds it."""
    from wordpiece_studio.compiled.kernel_cache import load_kernels

    load_kernels("text")
    load_kernels("training")


def _as_bert_reads(tokenizer: Any) -> None:
    from tokenizers import normalizers, pre_tokenizers

    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()


def _stay_on_one_core() -> None:
    os.environ |= {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "NUMBA_NUM_THREADS": "1"}
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _checksum(ids: Any) -> int:
    """Return a number that other ids, or another order of them, would hardly give."""
    import numpy as np

    places = np.arange(1, len(ids) + 1, dtype=np.uint64)
    return int((ids.astype(np.uint64) * places).sum() & np.uint64(2**53 - 1))


def _seconds(work: Callable[..., object], *arguments: object) -> float:
    started = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - started


def _spread(seconds: Iterable[float], unit: float) -> dict[str, float]:
    ordered = sorted(value * unit for value in seconds)
    return {
        "median": median(ordered),
        "least": ordered[0],
        "p99": ordered[len(ordered) * 99 // 100],
        "most": ordered[-1],
    }


PROBES: dict[str, Callable[..., dict[str, Any]]] = {
    probe.__name__: probe
    for probe in (
        training,
        walking,
        counting,
        counting_tokenizers,
        encoding,
        encoding_tokenizers,
        compiling,
        loading,
        growth,
    )
}

if __name__ == "__main__":
    sys.stdout.write(json.dumps(PROBES[sys.argv[1]](*sys.argv[2:])))
