"""A run: what was trained, from which words and settings, why it ended, and who asked for it.

Also the small records in which the model tells the panes about it: state, progress, candidates.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from wordpiece_studio.storage.view import RunTab

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer
    from wordpiece_studio.libraries.library_training import LibraryRun
    from wordpiece_studio.storage.project.contents import ProjectCorpus
    from wordpiece_studio.tokenizer.tokenizer import Tokenizer
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.engine import Candidate
    from wordpiece_studio.training.forecast import Notice
    from wordpiece_studio.training.history import MergeHistory


@dataclass(frozen=True, slots=True)
class RunOrigin:
    """Who asked for a run, and which corpus it was trained on.

    Attributes
    ----------
    is_wanted
        Whether the user asked for it, or kept it; else the Studio began it by itself.
    corpus_name
        What the corpus was called.
    text_serial
        Which state of the corpus it was, see `CorpusCounting.text_serial`; -1 for none there is now.
    corpus
        The corpus itself, so that it can be brought back; None if it is not known any more.
    """

    is_wanted: bool = False
    corpus_name: str = ""
    text_serial: int = -1
    corpus: ProjectCorpus | None = None


_TOKENIZERS_KEPT = 16
_QUICK_WORDS = 50_000
"""Distinct words; for more, it takes too long to count at each step the tokens that they consist of."""


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
        How many of its merges are in a file of the user's; -1 if it is in none.
    name
        What the user calls it; empty for what tells it from the others.
    number
        Its place among the letters, from 0; no two runs of a session have the same.
    color
        Its place among the colors, from 0.
    is_kept
        Whether it stays when another one is trained; False for a preview.
    is_compared
        Whether it is compared with others.
    step
        The step at which it was left.
    library_run, library
        What another library trained, and the tokenizer that it runs; None for our own trainings. An opened project
        loads the tokenizer in the background.
    """

    counts: WordCounts
    config: TrainingConfig
    history: MergeHistory
    sure_size: int | None = None
    notices: tuple[Notice, ...] = ()
    stop_reason: str | None = None
    origin: RunOrigin = RunOrigin()
    saved_merges: int = -1
    name: str = ""
    number: int = 0
    color: int = 0
    is_kept: bool = True
    is_compared: bool = False
    step: int = 0
    library_run: LibraryRun | None = None
    library: LibraryTokenizer | None = None
    _tokenizers: OrderedDict[tuple[int, bool], Tokenizer] = field(default_factory=OrderedDict, init=False, repr=False)

    @property
    def letter(self) -> str:
        """A to Z, then AA, AB and so on.

        >>> [Run(None, None, None, number=number).letter for number in (0, 25, 26, 27)]
        ['A', 'Z', 'AA', 'AB']
        """
        rest, last = divmod(self.number, 26)
        return (chr(64 + rest) if rest else "") + chr(65 + last)

    @property
    def tab(self) -> RunTab:
        return RunTab(*(getattr(self, name) for name in RunTab.__struct_fields__))

    @property
    def is_unsaved(self) -> bool:
        """Whether it is, or has merges, that the user asked for and did not save."""
        return self.origin.is_wanted and len(self.history) > self.saved_merges

    @property
    def can_cut_longest_first(self) -> bool:
        """Whether it can also cut words by the longest token first, wherever it stands, at any step without a wait."""
        return self.config.is_byte_pair_encoding and self.history.has_steps and self.history.word_count <= _QUICK_WORDS

    @property
    def has_best_segmentations(self) -> bool:
        """Whether a library trained it that cuts words by probabilities."""
        return self.library_run is not None and self.library_run.trainer.endswith("unigram")

    def is_run_by_library(self, step: int) -> bool:
        """Return whether the library that trained it tokenizes: at the end, except WordPiece, which we can as well."""
        return (
            self.library_run is not None
            and self.library_run.trainer != "tokenizers-wordpiece"
            and step == len(self.history)
        )

    def tokenizer_at(self, step: int, *, longest_first: bool = False) -> Tokenizer:
        """Return the tokenizer after `step` merges, with the pipeline of the counts; those of a few steps are kept.

        `longest_first`: a `LongestFirstTokenizer` rather than the merges.
        """
        found = self._tokenizers.pop((step, longest_first), None)
        if found is None:
            if longest_first:
                from wordpiece_studio.training.trainer import bpe_tokenizer

                encoder = bpe_tokenizer(self.history, self.counts, step, longest_first=True)
                found = encoder.in_window(self.history.vocabulary(step))
            else:
                found = self.new_tokenizer(step)
            while len(self._tokenizers) >= _TOKENIZERS_KEPT:
                self._tokenizers.popitem(last=False)
        self._tokenizers[step, longest_first] = found
        return found

    def new_tokenizer(self, step: int) -> Tokenizer:
        """Return a tokenizer after `step` merges that is nobody else's, for a thread.

        What another library trained is run by it at the end, except WordPiece, which is longest match here and there.
        """
        if self.is_run_by_library(step):
            from wordpiece_studio.libraries.library_history import LibraryRunTokenizer

            return LibraryRunTokenizer(self.history, self.counts, self.library)
        return tokenizer_at(self.history, self.counts, step)

    def set_library(self, library: LibraryTokenizer) -> None:
        self.library = library
        self.drop_tokenizers()

    def drop_tokenizers(self) -> None:
        self._tokenizers.clear()

    def is_trained_on(self, counts: WordCounts, config: TrainingConfig) -> bool:
        """Return whether our training with these words and settings would give the same merges."""
        mine = self.counts
        return (self.config, self.library_run) == (config, None) and (
            mine is counts
            or (
                (mine.normalizer, mine.pre_tokenizer) == (counts.normalizer, counts.pre_tokenizer)
                and len(mine) == len(counts)
                and mine == counts
            )
        )


def tokenizer_at(history: MergeHistory, counts: WordCounts, step: int) -> Tokenizer:
    """Return a tokenizer after `step` merges, with the pipeline of the counts: by merges for byte pair encoding."""
    from wordpiece_studio.tokenizer.bpe_tokenizer import TokenizerByMerges
    from wordpiece_studio.tokenizer.tokenizer import Tokenizer

    config = history.config
    parts = history.vocabulary(step), counts.normalizer, counts.pre_tokenizer
    if config.is_byte_pair_encoding:
        return TokenizerByMerges(*parts, steps=history.pair_steps(), step=step, end_of_word=config.end_of_word)
    return Tokenizer(*parts)


class TrainerState(Enum):
    """What the trainer is doing.

    `IDLE`: nothing has been trained yet. `TRAINING`: the worker is training or preparing to. `PAUSED`: the training can
    be resumed. `FINISHED`: a stop rule was met, or the user stopped; the run can be trained further. `FAILED`: the last
    command failed; what was learned before is still there.
    """

    IDLE = "idle"
    TRAINING = "training"
    PAUSED = "paused"
    FINISHED = "finished"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a training.

    Attributes
    ----------
    merges
        Number of merges learned and published.
    vocabulary_size
        Number of tokens after them.
    target_size
        The requested vocabulary size; None if there is no such limit.
    symbols
        Number of symbols that the corpus consists of after them, weighted.
    seconds
        Time that the engine has trained, excluding pauses.
    seconds_left
        Estimate of the remaining time; None if unknown.
    is_target_sure
        Whether the corpus has enough words to reach `target_size`; otherwise training may run out of pairs first.
    """

    merges: int
    vocabulary_size: int
    target_size: int | None
    symbols: int
    seconds: float
    seconds_left: float | None
    is_target_sure: bool = True


@dataclass(frozen=True, slots=True)
class Candidates:
    """The best pairs at a step.

    Attributes
    ----------
    step
        The step they belong to, as a number of merges.
    pairs
        Best first; empty if no pair is left, or if nothing is available.
    available
        False if there is no run, or not enough memory to find them beside a running training.
    """

    step: int
    pairs: tuple[Candidate, ...]
    available: bool
