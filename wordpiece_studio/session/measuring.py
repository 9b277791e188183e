"""What children of the window measure: vocabularies by the objective on held-out text, and tokenizers on any text.

The window's end is `tokenizer_figures`. Children have no window: Qt must not be imported here.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.check import check
from wordpiece_studio.evaluation.cross_validation import CorpusInBlocks, measured_by_blocks, without_failures
from wordpiece_studio.evaluation.held_out import LAST_TENTH, Fold, held_out_figures
from wordpiece_studio.evaluation.usage import MUCH_UNKNOWN
from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer
from wordpiece_studio.storage.corpus_record import noted_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.corpus.files import CorpusFile, CorpusReference
    from wordpiece_studio.evaluation.check import CheckReport
    from wordpiece_studio.evaluation.cross_validation import Retraining
    from wordpiece_studio.evaluation.evaluating import Measurable
    from wordpiece_studio.evaluation.figures import Evaluation
    from wordpiece_studio.evaluation.held_out import DividedCorpus, Report
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


class HeldOutFigure(NamedTuple):
    rate: float
    unknown: float = 0.0

    @property
    def loses_text(self) -> bool:
        """Whether so much is unknown that the rate is better than it should be."""
        return self.unknown > MUCH_UNKNOWN


def judge(
    text: str, files: Sequence[CorpusFile], again: Retraining, max_word_length: int, *,
    progress: Callable[[float], None],
) -> dict[str, HeldOutFigure]:  # fmt: skip
    """Return the figures by objective: on a part of files, or of `text` without any; the progress is from 0 to 1."""
    begun: list[str] = []  # the objectives, the present one last
    size = again.config.vocab_size

    def read(_reading: str, done: int, total: int) -> None:
        progress(_READING_PART * done / max(total, 1))

    def trained(objective: str, tokens: int) -> None:
        if objective not in begun:
            begun.append(objective)
        part = 0.0 if size is None else min(tokens / size, 1.0)
        progress(_READING_PART + _TRAINING_PART * (len(begun) - 1 + part))

    divided = CorpusInBlocks(files, [] if files else [text], LAST_TENTH, max_word_length, read).divided(again)
    assert again.verify is not None
    again.verify(divided, files, again.config)
    found = held_out_figures(divided.rest, divided.held_out, again.config, progress=trained)
    rates = found.tokens_per_word.items()
    return {objective: HeldOutFigure(rate, found.unknown[objective]) for objective, rate in rates}


def library_tokenizer(file_name: str, content: bytes, words_of: TextReading | None) -> LibraryTokenizer:
    tokenizer = LibraryTokenizer(file_name, content=content)
    tokenizer.words_of = words_of or tokenizer.words_of
    return tokenizer


def checked(
    tokenizer: Measurable | str | partial[Measurable], on: WordCounts, *, progress: Report,
    should_stop: Callable[[], bool],
) -> CheckReport:  # fmt: skip
    """Return the checks of a tokenizer, or of what is loaded first, on words with their counts."""
    loaded = tokenizer() if isinstance(tokenizer, partial) else tokenizer
    return check(loaded, on, progress=progress, should_stop=should_stop)


def measure(
    tokenizers: Mapping[str, Measurable | partial[Measurable]], on: Any, text: str, max_word_length: int,
    *, is_parallel: bool = False, is_held_out: bool = False, folds: int = 0, progress: Report,
) -> tuple[Evaluation | None, dict[str, StudioError]]:  # fmt: skip
    """Return the figures of tokenizers, some to be loaded first, and the errors of those that fail; None if all fail.

    As `evaluate`, or with folds as `cross_validate`; the text is used where `on` is empty, and the length is that of
    words to train anew on.
    """
    failures: dict[str, StudioError] = {}

    def loaded(name: str) -> Measurable:
        each = tokenizers[name]
        return each() if isinstance(each, partial) else each

    named = without_failures(tokenizers, loaded, failures)
    blocks = [Fold(number, folds) for number in range(folds)] or [LAST_TENTH]
    found = measured_by_blocks(
        named, blocks, on, [text] if on == () else [], max_word_length=max_word_length, progress=progress,
        failures=failures, is_held_out=is_held_out, is_parallel=is_parallel, with_greedy_gap=True,
    )  # fmt: skip
    return found, failures
