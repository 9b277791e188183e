"""Training by another library beside the window: what it learned is a run like any other.

What `tokenizers` merges is then trained by us in its order of ties: if that gives its vocabulary, the run has our
history. All other runs have none, see `PeerHistory`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wordpiece_studio.session.held_out_judging import corpus_with_lines
from wordpiece_studio.session.kernel_child import compile_kernels, must_compile_first
from wordpiece_studio.session.run import Run

if TYPE_CHECKING:
    import threading

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.corpus.files import CorpusFile
    from wordpiece_studio.peers.imported_tokenizer import ImportedTokenizer
    from wordpiece_studio.peers.library_training import PeerName, PeerRun
    from wordpiece_studio.session.background_job import Report
    from wordpiece_studio.session.run import RunOrigin
    from wordpiece_studio.training.config import TrainingConfig


@dataclass(frozen=True, slots=True, eq=False)
class PeerOrder:
    """What is to be trained; `is_twice`: once more, to see whether the result is the same."""

    trainer: PeerName
    counts: WordCounts
    config: TrainingConfig
    origin: RunOrigin
    is_twice: bool = False


def trained_by_library(order: PeerOrder, stop: threading.Event, report: Report) -> Run | None:
    """Return the run; None if it was stopped. The work of a `BackgroundJob`, which reports `PeerProgress`."""
    from wordpiece_studio.peers.library_training import PeerTrainingStopped, train_peer
    from wordpiece_studio.peers.peer_history import PeerHistory

    given = _lines(order) or order.counts
    try:
        peer = train_peer(
            order.trainer, given, order.config, twice=order.is_twice, progress=report, should_stop=stop.is_set
        )
    except PeerTrainingStopped:
        return None
    library = peer.tokenizer()
    run = _replayed(order, peer, library, stop)
    if run is None and not stop.is_set():
        run = Run(order.counts, peer.config, PeerHistory(peer, order.counts, library), peer=peer, library=library)
    if run is None or stop.is_set():
        return None
    run.origin, run.stop_reason, run.step = order.origin, run.stop_reason or "peer", len(run.history)
    return run


def _lines(order: PeerOrder) -> list[CorpusFile] | list[str]:
    """Return the files of the corpus, or its text, if the library reads it line by line; nothing if it has no lines."""
    from wordpiece_studio.peers.library_training import reads_text

    corpus = corpus_with_lines(order.origin.corpus, order.counts) if reads_text(order.trainer) else None
    if corpus is None:
        return []
    return [each.file for each in corpus.files] or [corpus.text or ""]


def _replayed(order: PeerOrder, peer: PeerRun, library: ImportedTokenizer, stop: threading.Event) -> Run | None:
    """Return the same training by ours; None if there is none, or its vocabulary differs."""
    from wordpiece_studio.peers.library_training import is_replayable
    from wordpiece_studio.training.trainer import train

    if not is_replayable(peer.trainer):
        return None
    config = peer.replay_config()
    if must_compile_first(order.counts, config):
        compile_kernels(stop)
    if stop.is_set():
        return None
    ours = train(order.counts, config, should_stop=stop.is_set)
    if ours.vocabulary.tokens != list(peer.tokens):
        return None
    return Run(order.counts, config, ours.history, stop_reason=ours.stop_reason, peer=peer, library=library)
