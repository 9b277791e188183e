"""Training by other libraries: Hugging Face's `tokenizers` and SentencePiece, each by its own code, in a child process.

The process can be stopped at any time, and ends with this one. Nothing is written to disk. What was trained is run by
its library (`library_tokenizer`), and has the form of our own trainings: a history without merges, and a tokenizer.
"""

from __future__ import annotations

import dataclasses
import logging
import math
import os
import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.corpus.decoding import checked_texts
from wordpiece_studio.corpus.files import CorpusFile
from wordpiece_studio.corpus.listing import Listing, listing
from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.cross_validation import Retraining
from wordpiece_studio.evaluation.held_out import LAST_TENTH
from wordpiece_studio.libraries.library_child import MODEL_FILE
from wordpiece_studio.libraries.training_child import Learned, no_words, train_in_child, vocabulary_too_small
from wordpiece_studio.system.child import Child, Stopped
from wordpiece_studio.system.memory import available_memory, out_of_memory
from wordpiece_studio.text.huggingface_steps import byte_level_decoder, normalizer_value, pre_tokenizer_value
from wordpiece_studio.text.normalizers import Unchanged
from wordpiece_studio.text.pipeline import Pipeline, PreTokenizer
from wordpiece_studio.text.pre_tokenizers import WhitespaceSplit
from wordpiece_studio.tokenizer.encoding import UnknownReason, UnknownToken
from wordpiece_studio.tokenizer.tokenizer import Tokenizer, WordMatch
from wordpiece_studio.tokenizer.vocabulary import ROLES, TextReading
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.history import COLUMNS, HistoryTable, MergeHistory
from wordpiece_studio.training.segmentation import (
    INSIDE,
    SEPARATOR,
    HistoryPlaces,
    MergePlaces,
    Symbol,
    TrainingInput,
    check_sizes,
)
from wordpiece_studio.training.stored_history import StoredHistory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from wordpiece_studio.evaluation.held_out import Fold
    from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer
    from wordpiece_studio.text.pipeline import Normalizer
    from wordpiece_studio.tokenizer.encoding import WordCut

    Files = CorpusFile | Path | Sequence[CorpusFile | Path] | Listing

LibraryTrainer = Literal[
    "tokenizers-wordpiece", "tokenizers-bpe", "tokenizers-unigram", "sentencepiece-bpe", "sentencepiece-unigram"
]
_ALWAYS = {"vocab_size", "special_tokens", "user_tokens", *ROLES}
_BY_COUNT = {"min_frequency", "alphabet_limit", "byte_alphabet", "initial_alphabet", "continuing_subword_prefix"}
_SETTINGS: dict[LibraryTrainer, set[str]] = {
    "tokenizers-wordpiece": _ALWAYS | _BY_COUNT,
    "tokenizers-bpe": _ALWAYS | _BY_COUNT | {"end_of_word_suffix"},
    "tokenizers-unigram": _ALWAYS | {"byte_alphabet", "initial_alphabet"},
    "sentencepiece-bpe": _ALWAYS,
    "sentencepiece-unigram": _ALWAYS,
}
_LARGEST_TOTAL = 2**31 - 1  # beyond it, the counts of pairs in `tokenizers` wrap around silently
_LEAST_COVERAGE = 0.98  # less than that, SentencePiece refuses
_LONGEST_SENTENCE = 1 << 30  # bytes: the most that SentencePiece can be told; by default it is 4,192
_MOST_MEMORY = 1 << 62  # no less than there is
_WATCHES_MEMORY = sys.platform != "linux"
_LEAST_MEMORY = 64 << 20
_log = logging.getLogger(__name__)


class LibraryTrainingStopped(StudioError):
    """Raised when the caller's `should_stop` returns True; the library is stopped, and nothing is kept."""

    def __init__(self) -> None:
        super().__init__("The training was stopped")


@dataclass(frozen=True, slots=True)
class LibraryProgress:
    """How far another library is.

    Attributes
    ----------
    done, total
        In the library's own measure: tokens learned, or pieces pruned. None: it does not say how far it is.
    is_second
        Whether it trains once more, to see whether the result is the same.
    """

    done: int | None = None
    total: int | None = None
    is_second: bool = False


@dataclass(frozen=True, slots=True)
class Repetition:
    """What differs when a library trains a second time on the same corpus with the same settings.

    Attributes
    ----------
    tokens
        How many tokens only one of both vocabularies has.
    ids, scores
        How many of the others have another id, or another score beyond the ninth digit.
    """

    tokens: int
    ids: int
    scores: int

    @property
    def is_same(self) -> bool:
        """Whether both trainings gave the same vocabulary."""
        return not (self.tokens or self.ids or self.scores)


@dataclass(frozen=True, slots=True, eq=False)
class LibraryRun:
    """A training by another library.

    Attributes
    ----------
    trainer, config
        What trained, and the settings.
    counts
        The words it was trained on; None if it was given texts or files.
    learned
        The tokens by id, their scores or the merges, and the version of the library.
    content
        The file that the library would save, see `file_name`.
    repetition
        What differed when it trained once more; None if it did not.
    character_coverage, byte_fallback
        What SentencePiece was told, see `train_library`.
    """

    trainer: LibraryTrainer
    config: TrainingConfig
    counts: WordCounts | None
    learned: Learned
    content: bytes
    repetition: Repetition | None = None
    character_coverage: float | None = None
    byte_fallback: bool = False

    def __repr__(self) -> str:
        of_words = ", trained on words" if self.is_of_words else ""
        return f"<LibraryRun: {self.trainer}, {len(self.tokens):,} tokens{of_words}>"

    @property
    def is_of_words(self) -> bool:
        """Whether a library that reads text was given words with their counts, from which it learns something else."""
        return reads_text(self.trainer) and not self.learned.is_of_lines

    @property
    def retraining(self) -> Retraining | None:
        """How it is repeated on a part of its corpus; None if it is no training."""
        if self.is_adapted:
            return None
        steps: tuple[Normalizer, PreTokenizer] = (Unchanged(), WhitespaceSplit())
        if self.counts is not None:
            steps = self.counts.normalizer, self.counts.pre_tokenizer
        coverage = self.character_coverage, self.byte_fallback
        return library_retraining(self.trainer, self.config, steps, self.learned.is_of_lines, *coverage)

    @property
    def is_adapted(self) -> bool:
        """Whether it is no training: the vocabulary of another one was extended or pruned."""
        return not self.learned.version

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens by id."""
        return self.learned.tokens

    @property
    def scores(self) -> tuple[float, ...] | None:
        """The score of each token, for Unigram the logarithm of its probability; None where there are none."""
        return self.learned.scores

    @property
    def merges(self) -> tuple[tuple[str, str], ...] | None:
        """The merges in order; None where there are none, or the library discards them."""
        return self.learned.merges

    @property
    def left_out(self) -> int:
        """How many words, or lines of text, the library did not train on: they have a character that it reserves."""
        return self.learned.left_out

    @property
    def file_name(self) -> str:
        """What the file is usually called."""
        return file_of(self.trainer)

    def tokenizer(self) -> LibraryTokenizer:
        """Return the tokenizer, which the library runs.

        Raises
        ------
        StudioError
            If the library cannot load what it trained.
        """
        from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer  # trainings do without

        tokenizer = LibraryTokenizer(self.file_name, content=self.content)
        if self.counts is not None:
            tokenizer.words_of = TextReading(Pipeline(self.counts.normalizer.kept, self.counts.pre_tokenizer))
        return tokenizer

    def replay_config(self) -> TrainingConfig:
        """Return the settings by which our training gives the same vocabulary: merges by count, in their order of ties.

        `tokenizers` numbers the symbols inside words in the order of a randomly seeded table and breaks ties by these
        numbers; the order is read from the vocabulary. The result is not the same only where a word contains the prefix
        or the suffix or spells out a special token, or equally rare characters compete for the limit of the alphabet.

        Raises
        ------
        StudioError
            If it was not trained by merges of `tokenizers`.
        """
        check_replayable(self.trainer)
        config = self.config.replaying(self.tokens[len(self.config.reserved_tokens) :])
        if self.counts is None:
            return config
        marked = [symbol for symbol in _initial_alphabet(self.config, self.counts.pre_tokenizer) if len(symbol) > 1]
        return dataclasses.replace(config, initial_alphabet=tuple(dict.fromkeys((*config.initial_alphabet, *marked))))


def library_settings(trainer: LibraryTrainer, config: TrainingConfig) -> TrainingConfig:
    known = {name: getattr(config, name) for name in _SETTINGS[trainer] - {"continuing_subword_prefix"}}
    prefix = config.continuing_subword_prefix or "##" if trainer == "tokenizers-wordpiece" else ""
    return TrainingConfig(**known, objective="count", continuing_subword_prefix=prefix)


def check_library_settings(trainer: LibraryTrainer, config: TrainingConfig) -> None:
    if trainer not in get_args(LibraryTrainer):
        what, names = 'There is no trainer called "{name}"', ", ".join(get_args(LibraryTrainer))
        raise StudioError(what, "Choose one of {names}.", name=str(trainer)[:100], names=names)
    if not isinstance(config, TrainingConfig):
        raise StudioError("Settings are expected, not {value}", "Pass a TrainingConfig.", value=repr(config)[:100])
    if config.vocab_size is None:
        what = "The setting {name} must be a whole number for {trainer}"
        raise StudioError(what, "Choose the size of the vocabulary.", name="vocab_size", trainer=trainer)
    usual, theirs = TrainingConfig(), TrainingConfig().replaying(())
    known = _SETTINGS[trainer]
    for name, value in config.to_dict().items():
        is_said = value in (getattr(usual, name), getattr(theirs, name)) or value in ([], "")
        if name not in known and not is_said:
            raise _not_available(name, trainer)


def _not_available(name: str, trainer: str) -> StudioError:
    return StudioError("The setting {name} is not available for {trainer}", name=name, trainer=trainer)


def is_replayable(trainer: str) -> bool:
    return trainer in ("tokenizers-wordpiece", "tokenizers-bpe")


def check_replayable(trainer: str) -> None:
    if not is_replayable(trainer):
        what = "Training with {trainer} cannot be replayed: it does not choose pairs by count alone"
        raise StudioError(what, "Replay tokenizers-wordpiece or tokenizers-bpe.", trainer=trainer)


def reads_text(trainer: str) -> bool:
    """Return whether a trainer's library finds words by itself, so that it is best given lines of text."""
    return trainer.startswith("sentencepiece")


def file_of(trainer: str) -> str:
    return MODEL_FILE if trainer.startswith("sentencepiece") else "tokenizer.json"


def library_retraining(
    trainer: LibraryTrainer, config: TrainingConfig, steps: tuple[Normalizer, PreTokenizer], is_of_lines: bool,
    character_coverage: float | None = None, byte_fallback: bool = False,
) -> Retraining:  # fmt: skip
    """Return how a training by a library is repeated on a part of a corpus."""
    options: Any = {"character_coverage": character_coverage, "byte_fallback": byte_fallback}
    return Retraining(config, steps, partial(train_library, trainer=trainer, **options), is_of_lines)


def train_library(
    corpus: WordCounts | Iterable[str] | Files,
    config: TrainingConfig,
    trainer: LibraryTrainer,
    *,
    is_rest: bool = False,
    fold: Fold = LAST_TENTH,
    character_coverage: float | None = None,
    byte_fallback: bool = False,
    twice: bool = False,
    progress: Callable[[LibraryProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> LibraryRun:
    """Train a vocabulary with another library.

    Parameters
    ----------
    corpus
        The words, with which `tokenizers` is given their normalizer and pre-tokenizer. SentencePiece has its own, and
        is better given texts, or files as `CorpusFile` or `pathlib.Path`: each line is a sentence to it. From words
        with their counts it learns another vocabulary, see `LibraryRun.is_of_words`.
    config
        The settings: the size, the special tokens and the user tokens, and what else the library knows. For byte pair
        encoding, the usual prefix ``##`` stands for none.
    trainer
        The library and the kind of its model.
    is_rest
        Whether to train only on what `divided_corpus` does not hold out of the texts or the files.
    fold
        Which part that is.
    character_coverage
        For SentencePiece: the share of the characters of the corpus that are in the alphabet, from 0.98 to 1; None:
        its own default.
    byte_fallback
        For SentencePiece: whether unknown characters become tokens of their bytes, of which it then has 256.
    twice
        Whether it trains a second time, to see whether the result is the same.
    progress
        Called with how far the library is, once if it does not say.
    should_stop
        Called regularly; `LibraryTrainingStopped` is raised if it returns true.

    Raises
    ------
    StudioError
        If the library has no such setting, is missing, fails, or its process ends, for instance without memory.

    >>> import wordpiece_studio as wps
    >>> counts = wps.count_texts(["hug pug hugs", "hug"])
    >>> settings = {"special_tokens": ["[UNK]"], "continuing_subword_prefix": ""}
    >>> config = wps.TrainingConfig(vocab_size=8, **settings)
    >>> run = wps.train_library(counts, config, "tokenizers-bpe")
    >>> run.merges
    (('u', 'g'), ('h', 'ug'))
    >>> run.tokenizer().encode("hug pugs").tokens
    ['hug', 'p', 'ug', 's']
    >>> wps.train(counts, run.replay_config()).vocabulary.tokens == list(run.tokens)
    True
    """
    check_library_settings(trainer, config)
    if trainer == "tokenizers-bpe" and config.continuing_subword_prefix == TrainingConfig().continuing_subword_prefix:
        config = dataclasses.replace(config, continuing_subword_prefix="")  # which is usual for it
    settings, given = _request(trainer, corpus, config, is_rest=is_rest)
    settings |= checked_coverage(trainer, character_coverage, byte_fallback)
    report = progress or (lambda _: None)

    def train(is_second: bool = False) -> tuple[bytes, Learned]:
        def report_far(done: int | None = None, total: int | None = None) -> None:
            report(LibraryProgress(done, total, is_second))

        report_far()
        library = trainer.partition("-")[0]
        with Child("{library} cannot train on this corpus", library=library) as child:
            found: tuple[bytes, Learned] = child.call(
                train_in_child, trainer, settings, given, fold if is_rest else None, _MOST_MEMORY,
                progress=report_far, should_stop=lambda: _must_stop(should_stop),
            )  # fmt: skip
            return found

    try:
        content, learned = train()
        if len(learned.tokens) > (config.vocab_size or 0):
            raise vocabulary_too_small(config.vocab_size or 0, len(learned.tokens))
        repetition = _compared(learned, train(is_second=True)[1]) if twice else None
    except Stopped:
        raise LibraryTrainingStopped from None
    counts = corpus if isinstance(corpus, WordCounts) else None
    return LibraryRun(trainer, config, counts, learned, content, repetition, character_coverage, byte_fallback)


def train_peer(
    trainer: LibraryTrainer, corpus: WordCounts | Iterable[str] | Files, config: TrainingConfig, **others: Any
) -> LibraryRun:
    """Call `train_library`, whose name this was: it remains for a version."""
    return train_library(corpus, config, trainer, **others)


def checked_coverage(trainer: LibraryTrainer, character_coverage: float | None, byte_fallback: bool) -> dict[str, Any]:
    given = {"character_coverage": character_coverage, "byte_fallback": byte_fallback or None}
    settings = {name: value for name, value in given.items() if value is not None}
    if settings and not reads_text(trainer):
        raise _not_available(next(iter(settings)), trainer)
    is_number = isinstance(character_coverage, int | float) and not isinstance(character_coverage, bool)
    if character_coverage is not None and not (is_number and _LEAST_COVERAGE <= character_coverage <= 1):
        what = "The setting {name} must be a number from {least} to 1, not {value!r}"
        raise StudioError(what, "", name="character_coverage", least=_LEAST_COVERAGE, value=character_coverage)
    return settings


def _must_stop(should_stop: Callable[[], bool] | None) -> bool:
    """Return what a function returns; an error where the child's memory has no limit, as soon as there is none."""
    if _WATCHES_MEMORY and (available := available_memory()) is not None and available < _LEAST_MEMORY:
        raise out_of_memory()
    return should_stop is not None and should_stop()


def _compared(first: Learned, second: Learned) -> Repetition:
    numbers = {token: number for number, token in enumerate(first.tokens)}
    common = [(numbers[token], number) for number, token in enumerate(second.tokens) if token in numbers]
    scores = 0
    if first.scores is not None and second.scores is not None:
        scores = sum(not math.isclose(first.scores[one], second.scores[other]) for one, other in common)
    tokens = len(first.tokens) + len(second.tokens) - 2 * len(common)
    return Repetition(tokens, sum(one != other for one, other in common), scores)


def _request(
    trainer: LibraryTrainer, corpus: WordCounts | Iterable[str] | Files, config: TrainingConfig, *, is_rest: bool
) -> tuple[dict[str, Any], WordCounts | list[str] | list[CorpusFile]]:
    """Return the settings in the library's words, and the corpus as the child is given it."""
    unk_token = config.vocabulary(config.reserved_tokens).unk_token
    unk_token = unk_token if unk_token in config.special_tokens else ""
    is_sentencepiece = reads_text(trainer)
    if not isinstance(corpus, WordCounts):
        if not is_sentencepiece:
            raise StudioError("{trainer} is trained on words", "Count them with count_texts.", trainer=trainer)
        return _sentencepiece_settings(config, unk_token), _files_in(corpus) or list(checked_texts(corpus))
    if is_rest:
        raise StudioError("Words with their counts have no lines and cannot be held out", "Pass files or texts.")
    if not (any(map(str.strip, corpus.words)) if is_sentencepiece else corpus):
        raise no_words()
    if is_sentencepiece:
        settings = _sentencepiece_settings(config, unk_token)
    else:
        settings = _tokenizers_settings(trainer, corpus, config, unk_token)
    # The child needs no more of it, and the steps may be the user's own.
    given = WordCounts(corpus.words, corpus.counts, Unchanged(), WhitespaceSplit())
    given.take_figures(corpus.figures())
    return settings, given


def _sentencepiece_settings(config: TrainingConfig, unk_token: str) -> dict[str, Any]:
    """Return the settings of SentencePiece, with the special tokens in their order; it always has an unknown token."""
    special = list(config.special_tokens) if unk_token else [*config.special_tokens, "<unk>"]
    unk_token = unk_token or "<unk>"
    reserved = len(special) + len(config.user_tokens)
    if (config.vocab_size or 0) < reserved:
        raise vocabulary_too_small(config.vocab_size or 0, reserved)
    return {
        "vocab_size": config.vocab_size,
        "hard_vocab_limit": False,  # as with all others, a small corpus ends before it
        "max_sentence_length": _LONGEST_SENTENCE,
        "unk_id": special.index(unk_token),
        "unk_piece": unk_token,
        **dict.fromkeys(("bos_id", "eos_id", "pad_id"), -1),  # they are among the control symbols
        "control_symbols": [token for token in special if token != unk_token],
        "user_defined_symbols": list(config.user_tokens),
    }


def _tokenizers_settings(
    trainer: LibraryTrainer, counts: WordCounts, config: TrainingConfig, unk_token: str
) -> dict[str, Any]:
    if counts.total > _LARGEST_TOTAL:
        what = "{n:,} words are too many for the library tokenizers, which counts pairs in 32 bits"
        raise StudioError(what, "Train on a part of the text.", n=counts.total)
    alphabet = _initial_alphabet(config, counts.pre_tokenizer)
    config = dataclasses.replace(config, alphabet="huggingface").for_words_of(counts.pre_tokenizer)
    prefix, suffix = config.continuing_subword_prefix, config.end_of_word_suffix
    marked = [] if trainer == "tokenizers-unigram" else [symbol for symbol in alphabet if len(symbol) > 1]
    seen = _marked_symbols(counts.words, prefix, suffix or "") if marked else set()
    absent = [symbol for symbol in marked if symbol not in seen]
    settings: dict[str, Any] = {
        "vocab_size": max((config.vocab_size or 0) - len(absent), 0),
        "special_tokens": list(config.reserved_tokens),
        "initial_alphabet": [symbol for symbol in alphabet if len(symbol) == 1],
    }
    model = {"unk_token": unk_token} if unk_token else {}
    if trainer == "tokenizers-unigram":
        settings, model = settings | model, {}
    else:
        settings |= {"min_frequency": config.min_frequency, "continuing_subword_prefix": prefix}
        settings |= {"limit_alphabet": config.alphabet_limit, "end_of_word_suffix": suffix}
    if trainer == "tokenizers-bpe":
        settings["progress_format"] = "json"  # the others know no such thing
    decoder: dict[str, Any] | None = None
    if counts.pre_tokenizer.is_byte_level:
        decoder = byte_level_decoder(prefix, suffix)
    elif trainer == "tokenizers-wordpiece":
        decoder = {"type": "WordPiece", "prefix": prefix, "cleanup": True}
    elif suffix is not None:
        decoder = {"type": "BPEDecoder", "suffix": suffix}
    kept = counts.normalizer.kept
    try:
        parts = {"normalizer": normalizer_value(kept), "decoder": decoder}
        parts["pre_tokenizer"] = pre_tokenizer_value(counts.pre_tokenizer, kept)
    except StudioError as error:
        raise StudioError(error.what_template, "Choose another for this library.", **error.values) from None
    return {
        "model": model,
        "trainer": {name: value for name, value in settings.items() if value is not None},
        "parts": parts,
        "user_tokens": list(config.user_tokens),
        "absent_symbols": absent,
    }


def _initial_alphabet(config: TrainingConfig, pre_tokenizer: PreTokenizer) -> tuple[str, ...]:
    """Return the initial alphabet, with all bytes in every form if words are made of them, as in our own training."""
    config = dataclasses.replace(config, alphabet="seen", end_of_word="attached")
    return config.for_words_of(pre_tokenizer).initial_alphabet


def _marked_symbols(words: Sequence[str], prefix: str, suffix: str) -> set[str]:
    inside = {prefix + each for each in set().union(*(word[1:-1] for word in words))}
    alone = {word + suffix for word in words if len(word) == 1}
    return inside | alone | {prefix + word[-1] + suffix for word in words if len(word) > 1}


def _files_in(corpus: Any) -> list[CorpusFile]:
    places = [corpus] if isinstance(corpus, CorpusFile | os.PathLike) else corpus
    if isinstance(places, list | tuple) and all(isinstance(each, CorpusFile | os.PathLike) for each in places):
        places = listing(places) if places else ()
    if not isinstance(places, Listing):
        return []
    if any(file.kind == "word-counts" for file in places.files):
        raise StudioError("Words with their counts have no lines", "Count them with count_words.")
    return list(places.files)


# -- what a library trained, in the form of our own trainings: the words stand as the library cuts them, so that tokens,
# -- their places and their counts are what it makes of them

_ANY_LENGTH = 1 << 31  # of words: the library has its own limit, if any


class LibraryHistory(StoredHistory):
    """The history of a training whose library does not say how it came to its tokens.

    `library` cuts the words; if it is None, it is loaded when they are first needed, and `symbols` is how many tokens
    they consist of. `explained` turns an error of the library that is loaded later into the one to raise.
    """

    has_steps = False

    def __init__(
        self,
        library_run: LibraryRun,
        counts: WordCounts,
        library: LibraryTokenizer | None = None,
        symbols: int = 0,
        explained: Callable[[StudioError], StudioError] | None = None,
    ) -> None:
        self._library_run = library_run
        places = None if library is None else _places(library_run, counts, library)
        if places is not None:
            symbols = places.input.total_symbols
        columns = {name: np.empty(0, dtype=dtype) for name, dtype in COLUMNS.items()}
        tokens = list(library_run.tokens)
        table = HistoryTable(library_run.config, tokens, len(tokens), columns, symbols, len(counts), counts.total)
        super().__init__(table, lambda: (counts, _NO_PLACES), explained)
        self._places = places
        self.scores = library_run.scores

    def drop_places(self, counts: WordCounts) -> None:
        """Do nothing: there are no merges to make the places of again."""

    def _read_places(self) -> MergePlaces:
        counts, _ = self._load()
        return _places(self._library_run, counts, self._library_run.tokenizer())


_NO_PLACES = HistoryPlaces(*(np.empty(0, dtype=np.int32) for _ in range(3)))


def _places(library_run: LibraryRun, counts: WordCounts, library: LibraryTokenizer) -> MergePlaces:
    """Return the words as the library cuts them, with a cell for each character."""
    cuts = [ids for ids, _ in library.cut(counts.words)]
    number = np.fromiter(map(len, cuts), dtype=np.int64, count=len(cuts))
    ids = np.fromiter((each for cut in cuts for each in cut), dtype=np.int64, count=int(number.sum()))
    symbols, symbol_of = np.unique(ids, return_inverse=True)
    if len(symbols) and symbols[-1] >= len(library_run.tokens):
        raise StudioError("{file} is not what the library trained", "Train again.", file=library_run.file_name)
    widths = np.array([len(library_run.tokens[each]) for each in symbols.tolist()], dtype=np.int32)[symbol_of]
    words = np.repeat(np.arange(len(cuts)), number)
    lengths = np.bincount(words, weights=widths, minlength=len(cuts)).astype(np.int64)
    check_sizes(counts.counts, lengths, "")
    starts = np.cumsum(lengths + 1) - lengths
    cells = np.full(int(lengths.sum()) + len(lengths) + 1, INSIDE, dtype=np.int32)
    cells[0] = cells[starts + lengths] = SEPARATOR
    places = np.cumsum(widths) - widths + words + 1  # a symbol comes after the separators of the words up to its own
    inside = cells == INSIDE
    inside[places] = False
    cells[places] = cells[places + widths - 1] = symbol_of
    merge_places = MergePlaces(TrainingInput(
        config=library_run.config, counts=counts, cells=cells, word_starts=starts, word_lengths=lengths,
        symbol_counts=number, symbol_ids=symbols, vocabulary_tokens=list(library_run.tokens),
        symbols=[Symbol(library_run.tokens[each], continues=False) for each in symbols.tolist()],
    ))  # fmt: skip
    merge_places.boundary_steps[inside] = 0
    return merge_places


class LibraryRunTokenizer(Tokenizer):
    """Tokenizes with a library; text becomes words as for the words that it was trained on.

    Where the library fails, a word is unknown; all of them are if it is not loaded.
    """

    can_explain = is_cut_by_tokens = False

    def __init__(self, history: MergeHistory, counts: WordCounts, library: LibraryTokenizer | None) -> None:
        vocabulary = history.vocabulary(len(history))
        super().__init__(vocabulary, counts.normalizer, counts.pre_tokenizer, max_word_length=_ANY_LENGTH)
        self._library = library

    def _definition(self) -> tuple[Any, ...]:
        return *super()._definition(), self._library

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = True, cleanup: bool = True) -> str:
        if self._library is None:
            return super().decode(ids, skip_special_tokens=skip_special_tokens, cleanup=cleanup)
        return self._library.decode(ids, skip_special_tokens=skip_special_tokens)

    def _cut(self, word: str) -> WordMatch:
        try:
            ((tokens, ids, spans),) = self._cuts([word])
        except StudioError as error:
            if self._library is not None:
                _log.info("%s", error)
            return self._unknown(word, UnknownReason("symbol", 0, ""))
        return WordMatch(tuple(tokens), tuple(ids), tuple(spans), None)

    def _cuts(self, words: Iterable[str]) -> Iterator[WordCut]:
        if self._library is None:
            what = "The library that trained this run is not available"
            raise StudioError(what, "See the earlier message for details.")
        words, unk_token = list(words), self.vocabulary.unk_token
        for word, (ids, spans) in zip(words, self._library.cut(words), strict=True):
            tokens = [self.vocabulary[each] for each in ids]
            for place, (start, end) in enumerate(spans):
                if tokens[place] == unk_token:
                    tokens[place] = UnknownToken(unk_token, UnknownReason("symbol", start, word[start:end]))
            yield tokens, ids, spans
