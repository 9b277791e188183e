"""Prepares the compiled kernels while the window is already open.

On the first start on a machine they must be compiled, which takes long and would stall the window from a thread, so
child processes compile them into the cache. Then, and whenever the cache is warm, a thread of this process loads them.
Until then, small corpora are trained without them.
"""

from __future__ import annotations

import gc
import logging
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from wordpiece_studio.compiled.kernel_cache import KERNEL_PACKAGES, KernelPackage, kernels_are_cached, load_kernels
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.child import POLL_SECONDS, Child, Stopped
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import PLAIN_WORK_UNCOMPILED, Trainer

if TYPE_CHECKING:
    from collections.abc import Callable


_log = logging.getLogger(__name__)

_TRIAL_WORDS, _TRIAL_MERGES = 4000, 2000
_TRIAL_SECONDS = 0.006  # the trial's time where the figures of `forecast` were measured
_TRIALS = 3
_SLOWEST = 50.0

_compiling = threading.Lock()


def warm_up(*, progress: Callable[[str], object], should_stop: Callable[[], bool]) -> float:
    """Compile the kernels if need be, and load them; report "compiling" and "loading", and return the pace."""
    try:
        if not kernels_are_cached():
            progress("compiling")
            compile_kernels(should_stop)
        if should_stop():
            raise Stopped
        progress("loading")
        for package in KERNEL_PACKAGES:
            if should_stop():
                raise Stopped
            load_kernels(package)
        return measured_pace()
    except (StudioError, Stopped):
        raise
    except Exception as error:
        _log.exception("The compiled kernels cannot be loaded")
        what = "The fast engine cannot be loaded: {kind}: {message}"
        advice = "Small corpora can be trained without it; the log has the details."
        raise StudioError(what, advice, kind=type(error).__name__, message=error) from error


def compile_kernels(should_stop: Callable[[], bool]) -> None:
    """Compile the kernels that are not in the cache, each package in a child process; return early if stopped.

    Only one caller compiles at a time; the others wait, and then compile only what is still missing.
    """
    while not _compiling.acquire(timeout=POLL_SECONDS):
        if should_stop():
            return
    try:
        missing = [package for package in KERNEL_PACKAGES if not kernels_are_cached(package)]
        with suppress(Stopped), ThreadPoolExecutor() as threads:
            list(threads.map(partial(_compile, should_stop), missing))
    finally:
        _compiling.release()


def _compile(should_stop: Callable[[], bool], package: KernelPackage) -> None:
    with Child("The fast engine cannot be prepared") as child:
        child.call(compile_here, package, should_stop=should_stop)


def compile_here(package: KernelPackage) -> None:
    gc.disable()  # numba allocates millions of objects, and this child ends soon
    load_kernels(package)


def must_compile_first(counts: WordCounts, config: TrainingConfig) -> bool:
    """Return whether training would have to compile the kernels; an estimate that errs on the side of yes."""
    if kernels_are_cached("training"):
        return False
    cells = sum(map(len, counts.words)) + 2 * len(counts.words) + 1
    limits = (limit for limit in (config.vocab_size, config.max_merges) if limit is not None)
    return cells * max(1, min(limits, default=cells)) > PLAIN_WORK_UNCOMPILED


def measured_pace() -> float:
    """Return how many times longer a short fixed training takes here than where the forecast was calibrated."""
    counts = _trial_counts()
    config = TrainingConfig(objective="score", max_merges=_TRIAL_MERGES)

    def seconds() -> float:
        began = time.perf_counter()
        Trainer(counts, config, engine="compiled").run()
        return time.perf_counter() - began

    return min(*(seconds() / _TRIAL_SECONDS for _ in range(_TRIALS)), _SLOWEST)


def _trial_counts() -> WordCounts:
    rng = random.Random(2012)
    syllables = [first + second for first in "bdfgklmnprst" for second in "aeiou"]
    words = ("".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(_TRIAL_WORDS))
    return WordCounts.from_pairs((word, 1 + int(1000 / (rank + 1))) for rank, word in enumerate(words))
