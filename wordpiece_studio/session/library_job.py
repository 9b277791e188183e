"""Training by another library beside the window: what it learned is a run like any other.

What `tokenizers` merges is then trained by us in its order of ties: if that gives its vocabulary, the run has our
history. All other runs have none, see `LibraryHistory`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wordpiece_studio.session.held_out_judging import corpus_with_lines
from wordpiece_studio.session.kernel_warmup import compile_kernels, must_compile_first
from wordpiece_studio.session.run import Run

if TYPE_CHECKING:
    import threading

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.corpus.files import CorpusFile
    from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer
    from wordpiece_studio.libraries.library_training import LibraryRun, LibraryTrainer
    from wordpiece_studio.session.background_job import Report
    from wordpiece_studio.session.run import RunOrigin
    from wordpiece_studio.training.config import TrainingConfig


@dataclass(frozen=True, slots=True, eq=False)
class LibraryOrder:
    """What is to be trained; `is_twice`: once more, to see whether the result is the same."""

    trainer: LibraryTrainer
    counts: WordCounts
    config: TrainingConfig
    origin: RunOrigin
    is_twice: bool = False


def trained_by_library(order: LibraryOrder, stop: threading.Event, report: Report) -> Run | None:
    """Return the run; None if it was stopped. The work of a `BackgroundJob`, which reports `LibraryProgress`."""
    from wordpiece_studio.libraries.library_history import LibraryHistory
    from wordpiece_studio.libraries.library_training import LibraryTrainingStopped, train_library

    given = _lines(order) or order.counts
    try:
        library_run = train_library(
            given, order.config, order.trainer, twice=order.is_twice, progress=report, should_stop=stop.is_set
        )
    except LibraryTrainingStopped:
        return None
    library = library_run.tokenizer()
    run = _replayed(order, library_run, library, stop)
    if run is None and not stop.is_set():
        run = Run(
            order.counts,
            library_run.config,
            LibraryHistory(library_run, order.counts, library),
            library_run=library_run,
            library=library,
        )
    if run is None or stop.is_set():
        return None
    run.origin, run.stop_reason, run.step = order.origin, run.stop_reason or "peer", len(run.history)
    return run


def _lines(order: LibraryOrder) -> list[CorpusFile] | list[str]:
    from wordpiece_studio.libraries.library_training import reads_text

    corpus = corpus_with_lines(order.origin.corpus, order.counts) if reads_text(order.trainer) else None
    if corpus is None:
        return []
    return [each.file for each in corpus.files] or [corpus.text or ""]


def _replayed(
    order: LibraryOrder, library_run: LibraryRun, library: LibraryTokenizer, stop: threading.Event
) -> Run | None:
    """Return the same training by ours; None if there is none, or its vocabulary differs."""
    from wordpiece_studio.libraries.library_training import is_replayable
    from wordpiece_studio.training.trainer import train

    if not is_replayable(library_run.trainer):
        return None
    config = library_run.replay_config()
    if must_compile_first(order.counts, config):
        compile_kernels(stop.is_set)
    if stop.is_set():
        return None
    ours = train(order.counts, config, should_stop=stop.is_set)
    if ours.vocabulary.tokens != list(library_run.tokens):
        return None
    return Run(
        order.counts, config, ours.history, stop_reason=ours.stop_reason, library_run=library_run, library=library
    )
