"""Training by another library beside the window: what it learned is a run like any other.

What `tokenizers` merges is then trained by us in its order of ties: if that gives its vocabulary, the run has our
history. All other runs have none, see `LibraryHistory`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wordpiece_studio.session.held_out_judging import corpus_with_lines
from wordpiece_studio.session.kernel_warmup import compile_kernels, must_compile_first
from wordpiece_studio.session.run import Run

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.libraries.library_training import LibraryProgress, LibraryTrainer
    from wordpiece_studio.session.run import RunOrigin
    from wordpiece_studio.training.config import TrainingConfig


def trained_by_library(
    trainer: LibraryTrainer,
    counts: WordCounts,
    config: TrainingConfig,
    origin: RunOrigin,
    is_twice: bool,
    progress: Callable[[LibraryProgress], None],
    should_stop: Callable[[], bool],
) -> Run:
    """Return the run; `is_twice`: train once more, to see whether the result is the same."""
    from wordpiece_studio.libraries.library_history import LibraryHistory
    from wordpiece_studio.libraries.library_training import (
        LibraryTrainingStopped,
        is_replayable,
        reads_text,
        train_library,
    )
    from wordpiece_studio.training.trainer import train

    corpus = corpus_with_lines(origin.corpus, counts) if reads_text(trainer) else None
    given: Any = counts if corpus is None else [each.file for each in corpus.files] or [corpus.text or ""]
    library_run = train_library(given, config, trainer, twice=is_twice, progress=progress, should_stop=should_stop)
    library, run = library_run.tokenizer(), None
    if is_replayable(trainer):
        replayed = library_run.replay_config()
        if must_compile_first(counts, replayed):
            compile_kernels(should_stop)
        ours = train(counts, replayed, should_stop=should_stop)
        if ours.vocabulary.tokens == list(library_run.tokens):
            reason = ours.stop_reason
            run = Run(counts, replayed, ours.history, stop_reason=reason, library_run=library_run, library=library)
    if should_stop():
        raise LibraryTrainingStopped
    if run is None:
        history = LibraryHistory(library_run, counts, library)
        run = Run(counts, library_run.config, history, library_run=library_run, library=library)
    run.origin, run.stop_reason, run.step = origin, run.stop_reason or "peer", len(run.history)
    return run
