"""A run: what was trained, from which words and settings, why it ended, and who asked for it.

Also the small records in which the model tells the panes about it: state, progress, candidates.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from wordpiece_studio.libraries.library_training import LibraryRunTokenizer
from wordpiece_studio.storage.view import RunTab, run_letter
from wordpiece_studio.tokenizer.bpe_tokenizer import TokenizerByMerges, TokenizerInWindow
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.training.trainer import bpe_tokenizer

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer
    from wordpiece_studio.libraries.library_training import LibraryRun
    from wordpiece_studio.storage.project.contents import ProjectCorpus
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.engine import Candidate
    from wordpiece_studio.training.forecast import Notice
    from wordpiece_studio.training.history import MergeHistory


@dataclass(frozen=True, slots=True)
class RunOrigin:
    """Who asked for a run, and which corpus it was trained on."""

    is_wanted: bool = False  # the user asked for it, or kept it; else the Studio began it by itself
    corpus_name: str = ""  # what it was called
    text_serial: int = -1  # which state of the corpus it was, see `CorpusCounting`; -1 for none there is now
    corpus: ProjectCorpus | None = None  # so that it can be brought back; None if it is not known any more
    max_word_length: int | None = None  # of the words that were counted; None if it is not known


LONG_SECONDS = 10.0  # training that took longer is not lost without a question
_TOKENIZERS_KEPT = 16
_QUICK_WORDS = 50_000
"""Distinct words; for more, it takes too long to count at each step the tokens that they consist of."""


@dataclass(slots=True, eq=False)
class Run:
    """What was trained; `config`, with the limits that hold now, and `stop_reason` change when it is trained further.

    What another library trained has a `library_run`, and the tokenizer that this library runs. An opened project loads
    that in the background.
    """

    counts: WordCounts
    config: TrainingConfig
    history: MergeHistory
    sure_size: int | None = None  # the vocabulary size that it can reach for certain; None if it can reach any
    notices: tuple[Notice, ...] = ()  # what is unusual about the corpus
    stop_reason: str | None = None  # a stop rule's name, or "user"; None while the training has not ended
    origin: RunOrigin = RunOrigin()
    saved_merges: int = -1  # how many of its merges are in a file of the user's; -1 if it is in none
    name: str = ""  # what the user calls it; empty for what tells it from the others
    number: int = 0  # its place among the letters; no two runs of a session have the same
    color: int = 0
    is_kept: bool = True  # it stays when another one is trained; False for a preview
    is_compared: bool = False
    step: int = 0  # at which it was left
    seconds: float = 0.0  # that training took, without pauses
    library_run: LibraryRun | None = None
    library: LibraryTokenizer | None = None
    _tokenizers: OrderedDict[tuple[int, bool], Tokenizer] = field(default_factory=OrderedDict, init=False, repr=False)

    @property
    def letter(self) -> str:
        return run_letter(self.number)

    @property
    def tab(self) -> RunTab:
        return RunTab(*(getattr(self, name) for name in RunTab.__struct_fields__))

    @property
    def is_unsaved(self) -> bool:
        """Whether it is, or has merges, that the user asked for and did not save, and not made again in no time."""
        return self.origin.is_wanted and len(self.history) > self.saved_merges and self.is_worth_asking

    @property
    def is_worth_asking(self) -> bool:
        return self.seconds > LONG_SECONDS or bool(self.name)

    @property
    def is_half_way(self) -> bool:
        return self.stop_reason in (None, "user")

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
        trainer = None if self.library_run is None else self.library_run.trainer
        return trainer not in (None, "tokenizers-wordpiece") and step == len(self.history)

    def tokenizer_at(self, step: int, *, longest_first: bool = False) -> Tokenizer:
        """Return the tokenizer after `step` merges, with the pipeline of the counts; those of a few steps are kept.

        `longest_first`: a `LongestFirstTokenizer` rather than the merges.
        """
        found = self._tokenizers.pop((step, longest_first), None)
        if found is None:
            if longest_first:
                encoder = bpe_tokenizer(self.history, self.counts, step, longest_first=True)
                found = TokenizerInWindow(self.history.vocabulary(step), encoder)
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
            return LibraryRunTokenizer(self.history, self.counts, self.library)
        return tokenizer_at(self.history, self.counts, step)

    def set_library(self, library: LibraryTokenizer) -> None:
        self.library = library
        self.drop_tokenizers()

    def drop_tokenizers(self) -> None:
        self._tokenizers.clear()

    def is_trained_on(self, counts: WordCounts, config: TrainingConfig) -> bool:
        """Return whether our training with these words and settings would give the same merges."""
        mine, steps = self.counts, (counts.normalizer, counts.pre_tokenizer)
        is_alike = (self.config, self.library_run, mine.normalizer, mine.pre_tokenizer) == (config, None, *steps)
        return is_alike and mine == counts


def tokenizer_at(history: MergeHistory, counts: WordCounts, step: int) -> Tokenizer:
    """Return a tokenizer after `step` merges, with the pipeline of the counts: by merges for byte pair encoding."""
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
    """The progress of a training."""

    merges: int  # learned and published
    vocabulary_size: int
    target_size: int | None  # None if there is no such limit
    seconds_left: float | None  # None if unknown
    is_target_sure: bool = True  # the corpus has enough words for it; otherwise training may run out of pairs first


@dataclass(frozen=True, slots=True)
class Candidates:
    """The best pairs at a step, best first; there are none if no pair is left, or if nothing is available.

    Nothing is if there is no run, or not enough memory to find them beside a running training.
    """

    step: int
    pairs: tuple[Candidate, ...]
    available: bool
