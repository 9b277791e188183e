"""Training: one step or many, back again, and the candidates at every step.

>>> from wordpiece_studio.corpus.counts import WordCounts
>>> counts = WordCounts.from_pairs([("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)])
>>> trainer = Trainer(counts, TrainingConfig(objective="score", special_tokens=()))
>>> trainer.run(3)
3
>>> [merge.token for merge in trainer.history]
['##gs', 'hu', 'hugs']
"""

from __future__ import annotations

import copy
import dataclasses
import threading
import time
from contextlib import suppress
from functools import partial, wraps
from operator import index
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar, get_args

import numpy as np

from wordpiece_studio import training as room
from wordpiece_studio.compiled.kernel_cache import kernels_are_cached, kernels_are_loaded
from wordpiece_studio.corpus.counts import CountingStopped, WordCounts, is_mapping
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.memory import ADVICE, available_memory, check_memory, out_of_memory
from wordpiece_studio.tokenizer.bpe_tokenizer import BpeTokenizer, LongestFirstTokenizer
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.engine import Candidate, Merge, MergeBatch, NotACandidateError, PairList, StopReason
from wordpiece_studio.training.forecast import Forecaster
from wordpiece_studio.training.history import MergeHistory
from wordpiece_studio.training.plain_engine import PlainEngine
from wordpiece_studio.training.segmentation import (
    INSIDE,
    PreparationStopped,
    Symbol,
    TrainingInput,
    prepare,
    stop_if_asked,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from wordpiece_studio.tokenizer.vocabulary import Vocabulary
    from wordpiece_studio.training.numba_engine import CompiledEngine

    Engine = PlainEngine | CompiledEngine

EngineName = Literal["auto", "plain", "compiled"]

# Cells times merges up to which the plain engine finishes before the compiled one is even loaded, or compiled.
PLAIN_WORK, PLAIN_WORK_UNCOMPILED = 100_000, 1_000_000

_SLICE = 256  # merges between two calls of the caller's `should_stop` and two looks at the clock

_BYTES_A_CELL = 48  # cells and all arrays of an engine before its first merge
_BYTES_A_MERGE = 500  # a symbol and its token, as text, in lists and dictionaries, and a row in the engine

_P = ParamSpec("_P")
_T = TypeVar("_T")


def _in_turn(method: Callable[Concatenate[Trainer, _P], _T]) -> Callable[Concatenate[Trainer, _P], _T]:
    """An engine can be moved by one thread at a time."""

    @wraps(method)
    def waiting(self: Trainer, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        with self._turn:
            try:
                return method(self, *args, **kwargs)
            except MemoryError as error:
                raise out_of_memory() from error

    return waiting


class Trainer:
    """Learns merges from word counts, one at a time, and can go back and forth among them.

    *Step* k is the state after k merges. Going back keeps the history; going forward replays it, then continues.

    Several threads may use one trainer: each call is carried out whole, while calls from other threads wait, so that a
    long `run` is best divided. Between two calls, another thread may have gone to another step. Reading the history or
    `current_step` does not wait.

    Parameters
    ----------
    counts
        The words to train on: what counting returned, or a mapping of words to counts.
    config
        The settings.
    engine
        ``"plain"`` recounts everything at every step, ``"compiled"`` is fast but has to be loaded, ``"auto"`` chooses.
        They give identical results.
    memory_limit
        In bytes: a training that is forecast to need more is refused. None: what is available at the start;
        ``math.inf``: no limit.
    history
        What was learned before from the same words and settings, to continue from its end.
    step
        The step of that history to start at; None for its end.
    should_stop
        Called now and then while the trainer is made, which takes seconds for millions of words; true gives up.

    Raises
    ------
    PreparationStopped
        If `should_stop` returned true.
    StudioError
        If there are no words, the vocabulary size is less than special tokens and alphabet together, or there is not
        enough memory. If memory runs out in a later call, the trainer stays intact at the last merge of its history.
    """

    def __init__(
        self,
        counts: WordCounts | Mapping[str, int],
        config: TrainingConfig | None = None,
        *,
        engine: EngineName = "auto",
        memory_limit: float | None = None,
        history: MergeHistory | None = None,
        step: int | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        if engine not in get_args(EngineName):
            raise StudioError("There is no engine {name!r}", "Choose auto, plain or compiled.", name=engine)
        self.counts = counts = _checked_counts(counts)
        if not isinstance(config, TrainingConfig | None):
            raise StudioError("Settings are expected, not {value}", "Pass a TrainingConfig.", value=repr(config)[:100])
        self.config = config or TrainingConfig()
        self.stop_reason: StopReason | None = None
        self._may_choose_engine = engine == "auto"
        self._seconds = 0.0  # spent on new merges
        self._turn = threading.RLock()
        self._memory_limit = memory_limit
        check_memory(
            Forecaster(counts).memory(self.config).peak, available_memory() if memory_limit is None else memory_limit
        )
        try:
            self.history = MergeHistory(prepare(counts, self.config, should_stop)) if history is None else history
            self._begin_at(len(self.history) if step is None else index(step), engine, should_stop)
        except MemoryError as error:
            raise out_of_memory() from error

    def __repr__(self) -> str:
        return f"<Trainer at step {self.current_step:,} of {len(self.history):,}>"

    @_in_turn
    def __getstate__(self) -> dict[str, Any]:
        # Copied now: pickle reads the engine's arrays only afterwards, when other threads may already change them.
        state = {name: value for name, value in self.__dict__.items() if name != "_turn"}
        return copy.deepcopy(state, {id(self.counts): self.counts})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._turn = threading.RLock()

    @property
    def current_step(self) -> int:
        """The number of merges carried out."""
        begin, engine = self._place
        # While another thread trains, the engine may be ahead of the history.
        return min(begin + engine.current_step, len(self.history))

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of this step."""
        return self.history.vocabulary(self.current_step)

    @_in_turn
    def step(self) -> Merge | None:
        """Carry out the next merge and return it, or None if a stop rule applies, see `stop_reason`."""
        before = self.current_step
        self._advance(1)
        return self.history[before] if self.current_step > before else None

    @_in_turn
    def run(self, n: int | None = None, should_stop: Callable[[], bool] | None = None) -> int:
        """Carry out `n` merges, or all until a stop rule applies, and return how many were carried out.

        `should_stop` is called every few hundred merges; what was learned until then is kept.
        """
        start, n = self.current_step, None if n is None else index(n)
        while n is None or self.current_step - start < n:
            if should_stop is not None and should_stop():
                break
            wanted = _SLICE if n is None else min(_SLICE, n - (self.current_step - start))
            self._advance(wanted)
            if self.stop_reason is not None and self.current_step == len(self.history):
                break
        return self.current_step - start

    @_in_turn
    def step_back(self) -> Merge | None:
        """Undo the last merge and return it, or None at step 0. The history keeps it."""
        if not self.current_step:
            return None
        self._retreat(self.current_step - 1)
        return self.history[self.current_step]

    @_in_turn
    def seek(self, step: int) -> None:
        """Go to the state after `step` merges, which must be known already or reachable by further training.

        Raises
        ------
        StudioError
            If a stop rule applies before `step` is reached.
        """
        step = index(step)
        if step < 0:
            raise StudioError("There is no step {step}", "Steps count from 0.", step=step)
        if step < self.current_step:
            self._retreat(step)
        elif step <= len(self.history) and not self.can_walk_to(step):
            self._begin_at(step, self._engine_name)
        self.run(step - self.current_step)
        if self.current_step < step:
            raise StudioError(
                "There is no step {step}: the training ends after {last}", "", step=step, last=self.current_step
            )

    def can_walk_to(self, step: int) -> bool:
        """Return whether the engine can go to `step` merge by merge; if not, a new engine is made there."""
        return self._begin <= step <= self._begin + self._engine.known

    @_in_turn
    def top(self, k: int) -> PairList[Candidate]:
        """Return the best `k` candidates at this step, the next merge first."""
        return candidates(self._engine, self.history, self.current_step, index(k))

    @_in_turn
    def change_limits(
        self,
        *,
        vocab_size: int | None = None,
        max_merges: int | None = None,
        max_seconds: float | None = None,
        min_value: float | None = None,
    ) -> None:
        """Replace all four limits, None for no limit, so that the training can continue where it stopped.

        Nothing that was learned changes: a longer training begins with the same merges.

        Raises
        ------
        StudioError
            If a limit is out of range, or there is not enough memory for the rest; then nothing is changed.
        """
        config = dataclasses.replace(
            self.config, vocab_size=vocab_size, max_merges=max_merges, max_seconds=max_seconds, min_value=min_value
        )
        forecaster = Forecaster(self.counts)
        forecast = forecaster.memory(config)
        if self._memory_limit is None:
            present = forecaster.memory(dataclasses.replace(config, max_merges=len(self.history)))
            check_memory(forecast.beyond(present), available_memory())
        else:
            check_memory(forecast.peak, self._memory_limit)
        is_plain = self._may_choose_engine and self._engine_name == "plain"
        if is_plain and _cheapest(self.history.input, config) == "compiled":  # there is now too much work for it
            self._begin_at(self.current_step, "compiled")
        self.config = config
        self.stop_reason = None
        self._seconds = 0.0

    def _begin_at(self, step: int, engine: EngineName, should_stop: Callable[[], bool] | None = None) -> None:
        input_ = input_at(self.history, step, should_stop) if step else self.history.input
        name = _cheapest(input_, self.config) if engine == "auto" else engine
        self._place = step, _make_engine(input_, name, should_stop)

    @property
    def _begin(self) -> int:
        return self._place[0]

    @property
    def _engine(self) -> Engine:
        return self._place[1]

    @property
    def _engine_name(self) -> EngineName:
        return "plain" if isinstance(self._engine, PlainEngine) else "compiled"

    def _retreat(self, step: int) -> None:
        if step < self._begin:
            self._begin_at(step, self._engine_name)
        else:
            self._engine.retreat(self.current_step - step)

    def _advance(self, merges: int) -> None:
        step = self.current_step
        behind = len(self.history) - step
        if not behind:
            self.stop_reason = self._limit_reached()
            if self.stop_reason is not None:
                return
            if self.config.max_merges is not None:
                merges = min(merges, self.config.max_merges - step)
        else:
            merges = min(merges, behind)
        started = time.monotonic()
        found = self._begin + self._engine.known  # merges after these are found now, whether new or in the history
        limits = (None, None) if behind else (self.config.vocab_size, self.config.min_value)
        try:
            batch, reason = self._engine.advance(merges, *limits)
            if not behind and len(batch):
                self.history.extend(batch)
        except BaseException as error:  # Ctrl-C too: the engine must never be ahead of the history
            known = min(found, len(self.history)) if behind else len(self.history)
            self._engine.forget(known - self._begin, self.history.vocabulary_size(known))
            if not isinstance(error, MemoryError):
                raise
            raise StudioError(
                "There is not enough memory for more than {merges:,} merges", ADVICE, merges=len(self.history)
            ) from error
        if not behind:
            self._seconds += time.monotonic() - started
            self.stop_reason = reason
        elif len(batch):
            self._check_found_again(batch, found)

    def _check_found_again(self, batch: MergeBatch, first: int) -> None:
        """Check that an engine that started later finds the merges of the history, which may come from a file."""
        end = first + len(batch)
        # Values follow from the counts, and older files hold those of another logarithm.
        found_again = {name: column for name, column in batch.columns.items() if name != "value"}
        if any((self.history.column(name)[first:end] != found).any() for name, found in found_again.items()):
            what = "The merges after {step:,} are not those that the words and the settings give"
            raise StudioError(what, "Train again from the corpus.", step=first)

    def _limit_reached(self) -> StopReason | None:
        if self.config.max_merges is not None and self.current_step >= self.config.max_merges:
            return "max_merges"
        if self.config.max_seconds is not None and self._seconds >= self.config.max_seconds:
            return "max_seconds"
        return None


@dataclasses.dataclass(frozen=True, slots=True)
class TrainingRun:
    """A finished training."""

    counts: WordCounts
    config: TrainingConfig
    history: MergeHistory
    stop_reason: StopReason | None

    def __repr__(self) -> str:
        size = self.history.vocabulary_size(len(self.history))
        merges = f"{len(self.history):,} merge{'s' * (len(self.history) != 1)}"
        return f"<TrainingRun: {merges} by {self.config.objective}, {size:,} tokens>"

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary after the last merge."""
        return self.history.vocabulary(len(self.history))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the training to a project file, ``.wpstudio``, which the window opens, too, in place of any other.

        Raises
        ------
        StudioError
            If the file cannot be written.
        """
        room.save(path, self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TrainingRun:
        """Return the training in a project file; of several, the one that is shown when the project is opened.

        Raises
        ------
        StudioError
            If the file is missing, damaged or without a training.
        """
        loaded: TrainingRun = room.load(path)
        return loaded

    def continued_config(self, **changes: Any) -> TrainingConfig:
        """Return the settings of a training on other words that goes on from this one, see `TrainingConfig.continued`.

        >>> first = train({"hug": 10, "pug": 5}, TrainingConfig(special_tokens=(), max_merges=2))
        >>> further = train({"hugs": 3, "bugs": 2}, first.continued_config(max_merges=1))
        >>> [merge.token for merge in first.history], [merge.token for merge in further.history]
        (['##ug', 'hug'], ['bug'])
        """
        return continued_config(self.history, self.config, **changes)

    def tokenizer(self) -> Tokenizer:
        """Return a tokenizer that reads text as the corpus was read."""
        return Tokenizer(self.vocabulary, self.counts.normalizer, self.counts.pre_tokenizer)

    def bpe_tokenizer(self, *, longest_first: bool = False) -> BpeTokenizer:
        """Return a tokenizer for byte pair encoding, which also reads text as the corpus was read.

        It applies the merges in their order, or with `longest_first` cuts words as `LongestFirstTokenizer` does.

        Raises
        ------
        StudioError
            If the symbols inside words have a prefix.

        >>> config = TrainingConfig(objective="count", continuing_subword_prefix="", max_merges=2)
        >>> train({"low": 2, "lower": 1}, config).bpe_tokenizer().encode("lows lower").tokens
        ['low', '[UNK]', 'low', 'e', 'r']
        """
        return bpe_tokenizer(self.history, self.counts, len(self.history), longest_first=longest_first)


def continued_config(history: MergeHistory, config: TrainingConfig, **changes: Any) -> TrainingConfig:
    tokens = history.vocabulary(len(history)).tokens
    pairs = zip(history.column("left_id").tolist(), history.column("right_id").tolist(), strict=True)
    return config.continued(tokens, [(tokens[left], tokens[right]) for left, right in pairs], **changes)


def bpe_tokenizer(history: MergeHistory, counts: WordCounts, step: int, *, longest_first: bool = False) -> BpeTokenizer:
    config, vocabulary = history.config, history.vocabulary(step)
    if config.continuing_subword_prefix:
        what = "The symbols inside words have a prefix, which byte pair encoding does not use"
        raise StudioError(what, 'Train with continuing_subword_prefix="".')
    vocab = {token: token_id for token_id, token in enumerate(vocabulary.tokens)}
    steps = counts.normalizer, counts.pre_tokenizer
    rest: dict[str, Any] = {
        "special_tokens": vocabulary.special_tokens,
        "unk_token": vocabulary.unk_token if vocabulary.unk_token in vocab else None,
        "end_of_word_suffix": config.end_of_word_suffix or "",
    }
    if longest_first:
        stored = partial(_stored_tokens, history, step)
        in_use = dict.fromkeys(config.base_tokens, 0) | history.tokens_in_use(step)
        return LongestFirstTokenizer(vocab, in_use, *steps, stored=stored, **rest)
    # A pair may occur again after it was merged; it keeps the priority of its first merge.
    pairs = list(history.pair_steps().items())  # another thread may add to them meanwhile
    merges = [pair for pair, first in pairs if first <= step]
    return BpeTokenizer(vocab, merges, *steps, end_of_word=config.end_of_word, **rest)


def _stored_tokens(history: MergeHistory, step: int, word: str) -> list[str] | None:
    with suppress(StudioError):
        return history.segmentation(word, step)
    return None


def train(
    counts: WordCounts | Mapping[str, int],
    config: TrainingConfig | None = None,
    *,
    engine: EngineName = "auto",
    memory_limit: float | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> TrainingRun:
    """Train until a stop rule applies.

    Parameters
    ----------
    counts, config, engine, memory_limit
        As for :class:`Trainer`.
    progress
        Called every few hundred merges with the size of the vocabulary so far and the size aimed at, if there is one.
    should_stop
        Called now and then. If it returns true, the training ends with what was learned until then.

    Raises
    ------
    PreparationStopped
        If `should_stop` returned true before there was anything to learn from.
    StudioError
        As :class:`Trainer`.
    """
    trainer = Trainer(counts, config, engine=engine, memory_limit=memory_limit, should_stop=should_stop)
    while trainer.run(_SLICE, should_stop):
        if progress is not None:
            progress(trainer.history.vocabulary_size(trainer.current_step), trainer.config.vocab_size)
    return TrainingRun(trainer.counts, trainer.config, trainer.history, trainer.stop_reason)


def train_elsewhere(counts: WordCounts, config: TrainingConfig, **options: Any) -> TrainingRun:
    """Train as :func:`train` does with settings that were made for other words or another objective.

    Where a pair is chosen for a step that is not a candidate there, the best one is merged. Raises `CountingStopped` if
    `should_stop` returned true while it prepared.
    """
    while True:
        try:
            return train(counts, config, **options)
        except NotACandidateError as error:
            fitting = tuple(merge for merge in config.chosen_merges if merge[0] != error.step)
            config = dataclasses.replace(config, chosen_merges=fitting)
        except PreparationStopped:
            raise CountingStopped from None


def _checked_counts(counts: object) -> WordCounts:
    if isinstance(counts, WordCounts):
        return counts
    if is_mapping(counts):
        return WordCounts.from_pairs(counts)
    what = "Words with their counts are expected, not {value}"
    advice = "Use count_texts for texts and count_words for files, or pass a mapping of words to counts."
    raise StudioError(what, advice, value=repr(counts)[:100])


def _cheapest(input_: TrainingInput, config: TrainingConfig) -> Literal["plain", "compiled"]:
    if kernels_are_loaded("training"):
        return "compiled"
    merges = len(input_.cells)
    if config.vocab_size is not None:
        merges = min(merges, config.vocab_size - len(input_.vocabulary_tokens))
    if config.max_merges is not None:
        merges = min(merges, config.max_merges)
    # Even without any merge, making the plain engine takes time.
    limit = PLAIN_WORK if kernels_are_cached("training") else PLAIN_WORK_UNCOMPILED
    return "plain" if len(input_.cells) * max(1, merges) <= limit else "compiled"


def _make_engine(
    input_: TrainingInput, name: Literal["plain", "compiled"], should_stop: Callable[[], bool] | None = None
) -> Engine:  # fmt: skip
    if name == "plain":
        return PlainEngine.of(input_)
    from wordpiece_studio.training.numba_engine import CompiledEngine

    return CompiledEngine(input_, should_stop=should_stop)


# The candidates at a step, from an engine that is at this step or from one that starts there. While an engine trains,
# it must not be moved. But the history has the segmentation of every word at every step, and an engine that starts with
# these symbols finds the same candidates, and would find the same merges. Making it takes as long as starting a
# training, whatever the step.


def candidates(engine: Engine, history: MergeHistory, step: int, k: int) -> PairList[Candidate]:
    ranked = engine.ranked(max(k, 2))
    prefix = history.config.continuing_subword_prefix
    best = max((value for *_, value in ranked), default=None)  # a chosen merge comes first, whatever its value
    is_tied = sum(value == best for *_, value in ranked) > 1
    symbols, objective = history.symbols_after(step), history.config.objective
    found: PairList[Candidate] = PairList()
    for left_id, right_id, together, of_left, of_right, value in ranked[: max(k, 0)]:
        left, right = history.token(left_id), history.token(right_id)
        token, tied = left + right.removeprefix(prefix), is_tied and value == best
        found.append(Candidate(left, right, token, together, of_left, of_right, value, tied, symbols, objective))
    return found


def candidates_at(
    history: MergeHistory, step: int, k: int, should_stop: Callable[[], bool] | None = None
) -> PairList[Candidate]:
    """Return the best `k` candidates after `step` merges; another thread may append to the history meanwhile.

    The result is exactly that of the trainer at this step. Raises `PreparationStopped` if `should_stop` returned true.

    >>> run = train({"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}, TrainingConfig(objective="score"))
    >>> [candidate.token for candidate in candidates_at(run.history, 2, 2)]
    ['hugs', 'pu']
    """
    input_ = input_at(history, step, should_stop)
    stop_if_asked(should_stop)
    # If the kernels are not loaded, the corpus is small.
    return candidates(_make_engine(input_, "compiled" if kernels_are_loaded("training") else "plain"), history, step, k)


def candidates_memory(history: MergeHistory) -> int:
    """Return how many bytes `candidates_at` needs for a step; an estimate that errs on the high side."""
    return _BYTES_A_CELL * len(history.input.cells) + _BYTES_A_MERGE * (len(history) + len(history.input.symbols))


def input_at(history: MergeHistory, step: int, should_stop: Callable[[], bool] | None = None) -> TrainingInput:
    initial, vocabulary = history.input, history.vocabulary(step)
    symbols, symbol_ids, made_by = _symbols_at(history, step)
    cells, numbers = initial.cells.copy(), initial.symbol_counts.copy()
    for block in history.places.blocks_at(step):
        stop_if_asked(should_stop)
        standing, merged = cells[block.begins], block.makers > 0
        standing[merged] = made_by[block.makers[merged] - 1]
        cells[block.insides] = INSIDE
        cells[block.begins] = cells[block.ends - 1] = standing
        numbers[block.words] = block.symbol_counts
    named: dict[str, Any] = {"symbols": symbols, "symbol_ids": symbol_ids, "vocabulary_tokens": vocabulary.tokens}
    return dataclasses.replace(initial, cells=cells, symbol_counts=numbers, step=step, **named)


def _symbols_at(history: MergeHistory, step: int) -> tuple[list[Symbol], NDArray[np.int64], NDArray[np.int32]]:
    """Return all symbols after `step` merges, their vocabulary ids, and the symbol that each merge made."""
    initial, tokens = history.input, history.vocabulary(step).tokens
    bare = len(initial.config.continuing_subword_prefix)
    first = initial.cells[history.places.firsts(step)]
    continues = np.array([symbol.continues for symbol in initial.symbols])[first].tolist()
    new_ids = history.column("new_id")[:step]
    made = [
        Symbol(tokens[new_id][bare:] if is_inside else tokens[new_id], is_inside)
        for new_id, is_inside in zip(new_ids.tolist(), continues, strict=True)
    ]
    if history.column("is_new")[:step].all():
        symbols = initial.symbols + made
        made_by = np.arange(len(initial.symbols), len(symbols), dtype=np.int32)
    else:
        index_of = {symbol: index for index, symbol in enumerate(initial.symbols)}
        made_by = np.array([index_of.setdefault(symbol, len(index_of)) for symbol in made], dtype=np.int32)
        symbols = list(index_of)
    ids = np.empty(len(symbols), dtype=np.int64)
    ids[: len(initial.symbols)] = initial.symbol_ids
    ids[made_by] = new_ids
    return symbols, ids, made_by
