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
from wordpiece_studio.evaluation.cross_validation import CorpusInBlocks, over_folds
from wordpiece_studio.evaluation.evaluating import evaluate
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


@dataclass(frozen=True, slots=True)
class TrainedAnew:
    """A run to be trained once more, on what is not held out of its corpus, which must be the same."""

    again: Retraining
    fingerprint: Fingerprint


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
    size = anew.again.config.vocab_size

    def read(_reading: str, done: int, total: int) -> None:
        progress(_READING_PART * done / max(total, 1))

    def trained(objective: str, tokens: int) -> None:
        if objective not in begun:
            begun.append(objective)
        part = 0.0 if size is None else min(tokens / size, 1.0)
        progress(_READING_PART + _TRAINING_PART * (len(begun) - 1 + part))

    divided = CorpusInBlocks(files, [] if files else [text], max_word_length, read).divided(anew.again)
    anew.fingerprint.check(divided, files, anew.again.config)
    found = held_out_figures(divided.rest, divided.held_out, anew.again.config, progress=trained)
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
    tokenizers: Mapping[str, Measurable | TrainedAnew | partial[Measurable]], on: Any, text: str, max_word_length: int,
    *, is_parallel: bool = False, is_held_out: bool = False, folds: int = 0, progress: Report,
) -> tuple[Evaluation | None, dict[str, StudioError]]:  # fmt: skip
    """Return the figures of tokenizers, some to be loaded first, and the errors of those that fail; None if all fail.

    As `evaluate`, or with folds as `cross_validate`; the text is used where `on` is empty, and the length is that of
    words to train anew on.
    """
    texts = [text] if on == () else []
    failures: dict[str, StudioError] = {}
    found: list[Evaluation] = []
    for fold in [Fold(number, folds) for number in range(folds)] or [LAST_TENTH]:

        def report(what: str, done: int, total: int, fold: Fold = fold) -> None:
            progress(f"Fold {fold.number + 1} of {folds}: {what}" if folds else what, done, total)

        corpus = CorpusInBlocks(on, texts, max_word_length, report)

        def ready(name: str, fold: Fold = fold, corpus: CorpusInBlocks = corpus) -> Measurable:
            each = tokenizers[name]
            if isinstance(each, TrainedAnew):
                each.fingerprint.check(corpus.divided(each.again, fold), on, each.again.config)
                return corpus.trained(name, each.again, fold)
            return each() if isinstance(each, partial) else each

        def figures(named: Mapping[str, Measurable], fold: Fold = fold, report: Report = report) -> Evaluation:
            options: Any = {"is_parallel": is_parallel, "is_held_out": is_held_out, "fold": fold, "progress": report}
            return evaluate(named, on, texts=texts, with_greedy_gap=True, **options)

        named = _those_without_error([name for name in tokenizers if name not in failures], ready, failures)
        if not named:
            return None, failures
        try:
            found.append(figures(named))
        except StudioError:
            failing: dict[str, StudioError] = {}
            working = _those_without_error(named, lambda name: figures({name: named[name]}), failing)  # noqa: B023
            if not working:
                raise
            failures |= failing
            found.append(figures({name: named[name] for name in working}))
    return (over_folds(found) if folds else found[0]), failures


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
