"""A run: what was trained, from which words and settings, why it ended, and who asked for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.training.notices import Notice


@dataclass(frozen=True, slots=True)
class RunOrigin:
    """Who asked for a run, and which corpus it was trained on.

    Attributes
    ----------
    is_automatic
        Whether the Studio began it by itself.
    is_wanted
        Whether the user asked for it, or for one that it replaced while the corpus was typed.
    corpus_name
        What the corpus was called.
    text_serial
        Which state of the corpus it was, see `CorpusCounting.text_serial`; -1 for none there is now.
    """

    is_automatic: bool = True
    is_wanted: bool = False
    corpus_name: str = ""
    text_serial: int = -1


@dataclass(slots=True, eq=False)
class Run:
    """What was trained; `config` and `stop_reason` change when it is trained further.

    Attributes
    ----------
    counts, config, history
        The words, the settings with the limits that hold now, and the merges.
    sure_size
        The vocabulary size that it can reach for certain; None if it can reach any.
    notices
        What is unusual about the corpus.
    stop_reason
        Why the training ended: a stop rule's name, or "user"; None while it has not.
    origin
        Who asked for it, and where its words come from.
    saved_merges
        How many of its merges are in a file of the user's.
    """

    counts: WordCounts
    config: TrainingConfig
    history: MergeHistory
    sure_size: int | None = None
    notices: tuple[Notice, ...] = ()
    stop_reason: str | None = None
    origin: RunOrigin = RunOrigin()
    saved_merges: int = 0
