"""Compiling the kernels in a child process, so that neither the window nor its threads are held up by it.

The child leaves them in the user's cache. Loading them from there is quick and is the caller's affair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.model.child_process import ChildProcess

if TYPE_CHECKING:
    import threading
    from multiprocessing.connection import Connection

    from wordpiece_studio.core.corpus.counts import WordCounts
    from wordpiece_studio.core.training.config import TrainingConfig


def compile_in_child(connection: Connection) -> None:
    """Compile the kernels into the cache; runs in the child."""
    from wordpiece_studio.core.training.kernel_cache import load_kernels

    load_kernels()


def compile_kernels(stop: threading.Event) -> None:
    """Compile the kernels in a child process; leaves off early if `stop` is set.

    Raises
    ------
    StudioError
        If the child fails or dies.
    """
    child = ChildProcess(compile_in_child, name="The preparation of the fast engine")
    try:
        for _ in child.messages(stop):
            pass
    finally:
        child.end()


def must_compile_first(counts: WordCounts, config: TrainingConfig) -> bool:
    """Return whether a training would have to compile the kernels; a guess that rather says yes."""
    from wordpiece_studio.core.training.kernel_cache import kernels_are_cached
    from wordpiece_studio.core.training.trainer import PLAIN_WORK

    cells = sum(map(len, counts.words)) + 2 * len(counts.words) + 1
    limits = (limit for limit in (config.vocab_size, config.max_merges) if limit is not None)
    return cells * min(limits, default=cells) > PLAIN_WORK and not kernels_are_cached()
