"""What children of the window measure: vocabularies by the objective on held-out text, and tokenizers on any text.

The window's end is `tokenizer_figures`. Children have no window: Qt must not be imported here.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.figures import evaluate
from wordpiece_studio.evaluation.held_out import divided_corpus, held_out_figures
from wordpiece_studio.evaluation.usage import MUCH_UNKNOWN
from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer
from wordpiece_studio.libraries.library_training import train_library
from wordpiece_studio.storage.corpus_record import noted_files
from wordpiece_studio.training.trainer import train_elsewhere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.corpus.files import CorpusFile, CorpusReference
    from wordpiece_studio.evaluation.figures import Evaluation, Measurable
    from wordpiece_studio.evaluation.held_out import DividedCorpus, Report
    from wordpiece_studio.libraries.library_training import LibraryTrainer
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer
    from wordpiece_studio.tokenizer.vocabulary import TextReading
    from wordpiece_studio.training.config import TrainingConfig

_READING_PART, _TRAINING_PART = 0.1, 0.3  # of the progress of judging: reading, and each of three trainings


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A checksum of a corpus, of which those of its parts add up; size and time of the last change of each file."""

    words: int
    checksum: int
    files: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, counts: WordCounts, files: Iterable[CorpusReference]) -> Fingerprint:
        words = counts.total + counts.statistics.skipped_words
        return cls(words, _checksum(counts), tuple((each.size, each.modified_ns) for each in files))

    def check(self, divided: DividedCorpus, files: Sequence[CorpusFile], config: TrainingConfig) -> None:
        rest, held_out = divided.rest, divided.held_out
        if held_out.special_tokens or config.user_tokens:  # they were taken out, so that words cannot be compared
            is_same = tuple((each.size, each.modified_ns) for each in noted_files(files)) == self.files
        else:
            words = rest.total + rest.statistics.skipped_words + held_out.words
            is_same = (words, _checksum(rest) + _checksum(held_out.counts)) == (self.words, self.checksum)
        if not is_same:
            raise StudioError("The corpus has changed since it was counted", "Train again on the corpus as it is now.")


def _checksum(counts: WordCounts) -> int:
    encoded = (word.encode("utf-8", "surrogatepass") for word in counts.words)
    return sum(zlib.crc32(word) * count for word, count in zip(encoded, counts.counts.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class TrainedAnew:
    """A run to be trained once more, on what is not held out of its corpus: by a library if there is a trainer.

    `steps` find its words; a library may be given lines of text instead.
    """

    config: TrainingConfig
    steps: tuple[Normalizer, PreTokenizer]
    fingerprint: Fingerprint
    trainer: LibraryTrainer | None = None
    is_of_lines: bool = False


class HeldOutFigure(NamedTuple):
    rate: float
    unknown: float = 0.0

    @property
    def loses_text(self) -> bool:
        """Whether so much is unknown that the rate is better than it should be."""
        return self.unknown > MUCH_UNKNOWN


def judge(
    text: str, files: Sequence[CorpusFile], anew: TrainedAnew, max_word_length: int, *,
    progress: Callable[[float], None],
) -> dict[str, HeldOutFigure]:  # fmt: skip
    """Return the figures by objective: on a part of files, or of `text` without any; the progress is from 0 to 1."""
    begun: list[str] = []  # the objectives, the present one last
    size = anew.config.vocab_size

    def read(_reading: str, done: int, total: int) -> None:
        progress(_READING_PART * done / max(total, 1))

    def trained(objective: str, tokens: int) -> None:
        if objective not in begun:
            begun.append(objective)
        part = 0.0 if size is None else min(tokens / size, 1.0)
        progress(_READING_PART + _TRAINING_PART * (len(begun) - 1 + part))

    corpus = _Corpus(files, [] if files else [text], max_word_length, read).divided(anew)
    found = held_out_figures(corpus.rest, corpus.held_out, anew.config, progress=trained)
    rates = found.tokens_per_word.items()
    return {objective: HeldOutFigure(rate, found.unknown[objective]) for objective, rate in rates}


def library_tokenizer(file_name: str, content: bytes, words_of: TextReading | None) -> LibraryTokenizer:
    tokenizer = LibraryTokenizer(file_name, content=content)
    tokenizer.words_of = words_of or tokenizer.words_of
    return tokenizer


def measure(
    tokenizers: Mapping[str, Measurable | TrainedAnew | partial[Measurable]], on: Any, text: str, max_word_length: int,
    *, is_parallel: bool = False, is_held_out: bool = False, progress: Report,
) -> tuple[Evaluation | None, dict[str, StudioError]]:  # fmt: skip
    """Return the figures of tokenizers, some to be loaded first, and the errors of those that fail; None if all fail.

    As `evaluate`; the text is used where `on` is empty, and the length is that of words to train anew on.
    """
    texts = [text] if on == () else []
    corpus = _Corpus(on, texts, max_word_length, progress)
    failures: dict[str, StudioError] = {}

    def ready(name: str) -> Measurable:
        each = tokenizers[name]
        if isinstance(each, TrainedAnew):
            return corpus.trained(name, each)
        return each() if isinstance(each, partial) else each

    def figures(named: Mapping[str, Measurable]) -> Evaluation:
        options: Any = {"is_parallel": is_parallel, "is_held_out": is_held_out, "progress": progress}
        return evaluate(named, on, texts=texts, **options)

    named = _those_without_error(tokenizers, ready, failures)
    try:
        return figures(named) if named else None, failures
    except StudioError:
        failing: dict[str, StudioError] = {}
        working = _those_without_error(named, lambda name: figures({name: named[name]}), failing)
        if not working:
            raise
        return figures({name: named[name] for name in working}), failures | failing


def _those_without_error(
    names: Iterable[str], made: Callable[[str], Any], failures: dict[str, StudioError]
) -> dict[str, Any]:
    found = {}
    for name in names:
        try:
            found[name] = made(name)
        except StudioError as error:
            failures[name] = error
        except OSError as error:
            failures[name] = StudioError("{reason}", reason=str(error))
    return found


class _Corpus:
    """A corpus of which a part is held out; the rest is to train on: as words, or for a library, as lines of text."""

    def __init__(self, files: Sequence[CorpusFile], texts: list[str], max_word_length: int, progress: Report) -> None:
        self._files, self._texts = files, texts
        self._max_word_length = max_word_length
        self._progress = progress
        self._known: dict[tuple[object, ...], DividedCorpus] = {}

    def trained(self, name: str, anew: TrainedAnew) -> Measurable:
        rest, report = self.divided(anew).rest, partial(self._progress, f"Training {name}")
        if anew.trainer is None:
            return train_elsewhere(rest, anew.config, progress=lambda done, size: report(done, size or done))
        report(0, 1)
        given = (self._files or self._texts) if anew.is_of_lines else rest
        return train_library(given, anew.config, anew.trainer, is_rest=anew.is_of_lines)

    def divided(self, anew: TrainedAnew) -> DividedCorpus:
        config = anew.config
        key = *anew.steps, config.special_tokens, config.user_tokens
        if key not in self._known:
            self._known[key] = divided_corpus(
                self._files, *anew.steps, texts=self._texts, special_tokens=config.special_tokens,
                user_tokens=config.user_tokens, max_word_length=self._max_word_length,
                progress=lambda read: self._progress("Reading", read.bytes_done, read.bytes_total),
            )  # fmt: skip
        anew.fingerprint.check(self._known[key], self._files, config)
        return self._known[key]
