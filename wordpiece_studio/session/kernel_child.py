"""Compiling the kernels in child processes, so that neither the window nor its threads are blocked.

Each package of kernels is compiled by its own child, concurrently, into the user's cache. Loading the kernels from
there is quick and up to the caller. Requests made during compilation wait for it.
"""

from __future__ import annotations

import gc
import threading
from typing import TYPE_CHECKING

from wordpiece_studio.system.child_process import POLL_SECONDS, ChildProcess

if TYPE_CHECKING:
    from wordpiece_studio.compiled.kernel_cache import KernelPackage
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.system.child_process import ParentConnection
    from wordpiece_studio.training.config import TrainingConfig


_compiling = threading.Lock()


def compile_in_child(connection: ParentConnection, package: KernelPackage) -> None:
    from wordpiece_studio.compiled.kernel_cache import load_kernels

    gc.disable()  # numba allocates millions of objects, and the child ends soon
    load_kernels(package)


def compile_kernels(stop: threading.Event) -> None:
    """Compile the kernels that are not in the cache, in child processes; return early if `stop` is set.

    Only one caller compiles at a time; the others wait, and then compile only what is still missing.
    """
    while not _compiling.acquire(timeout=POLL_SECONDS):
        if stop.is_set():
            return
    try:
        _compile_missing(stop)
    finally:
        _compiling.release()


def _compile_missing(stop: threading.Event) -> None:
    from wordpiece_studio.compiled.kernel_cache import KERNEL_PACKAGES, kernels_are_cached

    children: list[ChildProcess] = []
    try:
        for package in KERNEL_PACKAGES:
            if not kernels_are_cached(package):
                children.append(ChildProcess(compile_in_child, package, failure="The fast engine cannot be prepared"))
        for child in children:
            for _ in child.messages(stop):
                pass
    finally:
        for child in children:
            child.end()


def must_compile_first(counts: WordCounts, config: TrainingConfig) -> bool:
    """Return whether training would have to compile the kernels; an estimate that errs on the side of yes."""
    from wordpiece_studio.compiled.kernel_cache import kernels_are_cached
    from wordpiece_studio.training.trainer import PLAIN_WORK_UNCOMPILED

    if kernels_are_cached("training"):
        return False
    cells = sum(map(len, counts.words)) + 2 * len(counts.words) + 1
    limits = (limit for limit in (config.vocab_size, config.max_merges) if limit is not None)
    return cells * max(1, min(limits, default=cells)) > PLAIN_WORK_UNCOMPILED
