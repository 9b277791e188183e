"""Tokenizers measured on every block of a text, those that can be trained again on the others before each.

A training is repeated with its settings on the rest of the text; a tokenizer that was loaded is measured as it is. What
the figures of the blocks say together is in `figures`.
"""

from __future__ import annotations

import dataclasses
import operator
import statistics
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.corpus.decoding import checked_texts
from wordpiece_studio.corpus.listing import listing
from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.evaluating import ALPHA, by_name, evaluate
from wordpiece_studio.evaluation.held_out import NO_LINES, TOO_FEW_LINES, Fold, HeldOutText, divided_corpus
from wordpiece_studio.training.trainer import TrainingRun, train_elsewhere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from wordpiece_studio.corpus.files import CorpusFile
    from wordpiece_studio.evaluation.evaluating import Measurable
    from wordpiece_studio.evaluation.figures import Evaluation, TokenizerFigures
    from wordpiece_studio.evaluation.held_out import DividedCorpus, Report, Text
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer
    from wordpiece_studio.training.config import TrainingConfig

FOLDS = 10
_SUMMED = "words own_words whole_words characters bytes tokens unknown code_length lines share".split()


@dataclass(frozen=True, slots=True)
class Retraining:
    """A training to be repeated on a part of a corpus.

    `steps` find its words, of which rare ones may be left out. A `library` is called with the words, or with the files
    or texts if it `is_of_lines`, with the settings and the keyword arguments of `train_library`. What is to `verify`
    that the corpus is the same is called with it, its files and the settings.
    """

    config: TrainingConfig
    steps: tuple[Normalizer, PreTokenizer]
    library: Callable[..., Measurable] | None = None
    is_of_lines: bool = False
    min_count: int = 1
    verify: Callable[[DividedCorpus, Sequence[CorpusFile], TrainingConfig], None] | None = None

    @classmethod
    def of(cls, run: Any) -> Retraining | None:
        """Return how a training is repeated; None for what is none."""
        if isinstance(run, TrainingRun):
            return cls(run.config, (run.counts.normalizer, run.counts.pre_tokenizer))
        found: Retraining | None = run if isinstance(run, cls) else getattr(run, "retraining", None)
        return found


@dataclass(slots=True)
class CorpusInBlocks:
    """A corpus of which one block is held out; the rest is to train on: as words, or as lines of text."""

    files: Sequence[CorpusFile]
    texts: list[str]
    fold: Fold
    max_word_length: int
    progress: Report
    should_stop: Callable[[], bool] | None = None
    _known: dict[tuple[object, ...], DividedCorpus] = field(default_factory=dict)

    def trained(self, name: str, again: Retraining) -> Measurable:
        report = partial(self.progress, f"Training {name}")
        config = dataclasses.replace(again.config, max_seconds=None)
        report(0, 1)
        if again.verify is not None:
            again.verify(self.divided(again), self.files, again.config)
        if again.library is not None and again.is_of_lines:
            lines = self.files or self.texts
            return again.library(lines, config, is_rest=True, fold=self.fold, should_stop=self.should_stop)
        rest = self.divided(again).rest.at_least(again.min_count)
        if again.library is not None:
            return again.library(rest, config, should_stop=self.should_stop)
        return train_elsewhere(
            rest, config, progress=lambda done, size: report(done, size or done), should_stop=self.should_stop
        )

    def divided(self, again: Retraining) -> DividedCorpus:
        config = again.config
        key = *again.steps, config.special_tokens, config.user_tokens
        if key not in self._known:
            self._known[key] = divided_corpus(
                self.files, *again.steps, texts=self.texts, fold=self.fold, special_tokens=config.special_tokens,
                user_tokens=config.user_tokens, max_word_length=self.max_word_length,
                progress=lambda read: self.progress("Reading", read.bytes_done, read.bytes_total),
                should_stop=self.should_stop or (lambda: False),
            )  # fmt: skip
        return self._known[key]


@contextmanager
def in_folds(number: int) -> Iterator[None]:
    """Errors about what cannot be held out are about folds."""
    try:
        yield
    except StudioError as error:
        if error.what_template == TOO_FEW_LINES:
            what = "There are too few lines for {folds} folds"
            raise StudioError(what, "Use more text, or fewer folds.", folds=number) from None
        if error.what_template == NO_LINES:
            what = "The corpus is words with their counts, without lines"
            raise StudioError(what, "Use the text they are from.") from None
        raise


def cross_validate(
    tokenizers: Mapping[str, Measurable] | Iterable[Measurable] | Measurable,
    on: Text = (),
    *,
    texts: Iterable[str] = (),
    folds: int = FOLDS,
    max_word_length: int = 1000,
    alpha: float = ALPHA,
    with_greedy_gap: bool = False,
    progress: Report | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Evaluation:
    """Return the figures of tokenizers over the blocks of a text, each measured after training on all others.

    Parameters
    ----------
    tokenizers
        As for `evaluate`. Trainings are repeated, with their settings, on the rest of each block; tokenizers are
        measured on the blocks as they are, with tokens coded by their counts on the rest.
    on, texts
        The text, as files or in memory, whose lines are divided into blocks. One below a megabyte is divided into
        `folds` equal stretches; of a larger one, every stretch of 64 kB belongs to the next block.
    folds
        How many blocks, at least 2.
    max_word_length
        Longer words are not trained on, as for :func:`~wordpiece_studio.count_words`.
    alpha, with_greedy_gap, progress, should_stop
        As for `evaluate`.

    Returns
    -------
    Evaluation
        Each tokenizer's figures have those of the blocks as `folds`, and `is_retrained` says whether it was trained
        again. `figures.figure_text` writes mean ± standard deviation, `Evaluation.difference` compares two tokenizers.

    Raises
    ------
    StudioError
        As `evaluate` and :func:`~wordpiece_studio.train`; and if there are more blocks than the text has lines.

    >>> import wordpiece_studio as wps
    >>> lines = ["hug hugs", "pug hug"] * 6
    >>> run = wps.train(wps.count_texts(lines), wps.TrainingConfig(vocab_size=14))
    >>> found = cross_validate(run, texts=lines, folds=3)
    >>> [each.words for each in found.figures[0].folds]
    [8, 8, 8]
    """
    number = operator.index(folds) if hasattr(folds, "__index__") else 0
    if number < 2:
        raise StudioError("Invalid number of folds: {value}", "Use a whole number from 2.", value=repr(folds)[:30])
    given, lines = by_name(tokenizers), list(checked_texts(texts))
    blocks = [Fold(place, number) for place in range(number)]
    with in_folds(number):
        if isinstance(on, WordCounts | HeldOutText):
            raise StudioError(NO_LINES)
        found = measured_by_blocks(
            given, blocks, () if lines else listing(on).files, lines, max_word_length=max_word_length,
            progress=progress or (lambda *_: None), should_stop=should_stop, is_held_out=True, alpha=alpha,
            with_greedy_gap=with_greedy_gap,
        )  # fmt: skip
    assert found is not None
    return found


def measured_by_blocks(
    given: Mapping[str, Any], blocks: Sequence[Fold], files: Any, lines: list[str], *, max_word_length: int,
    progress: Report, should_stop: Callable[[], bool] | None = None, failures: dict[str, StudioError] | None = None,
    **options: Any,
) -> Evaluation | None:  # fmt: skip
    """Return the figures of tokenizers on one or more blocks together, see `cross_validate`.

    With `failures`, the errors of those that fail go there, and the others are measured; None if there are none.
    """
    again = {name: training for name, each in given.items() if (training := Retraining.of(each)) is not None}
    names, found = [*given], []
    for fold in blocks:

        def report(what: str, done: int, total: int, fold: Fold = fold) -> None:
            progress(f"Fold {fold.number + 1} of {fold.of}: {what}" if len(blocks) > 1 else what, done, total)

        options |= {"texts": lines, "fold": fold, "progress": report, "should_stop": should_stop}
        corpus = CorpusInBlocks(files, lines, fold, max_word_length, report, should_stop)

        def trained(name: str, corpus: CorpusInBlocks = corpus) -> Measurable:
            return corpus.trained(name, again[name]) if name in again else given[name]

        def figures(names: Iterable[str]) -> Evaluation:
            return evaluate({name: ready[name] for name in names}, files, **options)  # noqa: B023

        ready = without_failures(names, trained, failures)
        names = [*ready]
        if not names:
            return None
        try:
            found.append(figures(names))
        except StudioError:
            names = [] if failures is None else [*without_failures(names, lambda name: figures([name]), failures)]
            if not names:
                raise
            found.append(figures(names))
    if len(blocks) == 1:
        return found[0]
    by_block = [{each.name: each for each in evaluation.figures} for evaluation in found]
    together = [_together([each[name] for each in by_block], is_retrained=name in again) for name in names]
    return dataclasses.replace(found[0], figures=tuple(together), parts={})


def without_failures(
    names: Iterable[str], made: Callable[[str], Any], failures: dict[str, StudioError] | None
) -> dict[str, Any]:
    """Return what is made for each name; errors go to `failures` if it is given."""
    found = {}
    for name in names:
        try:
            found[name] = made(name)
        except (StudioError, OSError) as error:
            if failures is None:
                raise
            failures[name] = error if isinstance(error, StudioError) else StudioError("{reason}", reason=str(error))
    return found


def _together(folds: Sequence[TokenizerFigures], *, is_retrained: bool) -> TokenizerFigures:
    """Return what the figures of a tokenizer on all blocks say together."""

    def mean(name: str) -> float:
        return statistics.fmean(getattr(each, name) for each in folds)

    found: dict[str, Any] = {name: sum(getattr(each, name) for each in folds) for name in _SUMMED}
    found |= {name: round(mean(name)) for name in ("vocabulary_size", "used")}
    found |= {name: mean(name) for name in ("renyi_efficiency", "vocabulary_bits")}
    has_gap = all(each.greedy_gap is not None for each in folds)
    found["greedy_gap"] = mean("greedy_gap") if has_gap else None
    return dataclasses.replace(folds[0], **found, folds=tuple(folds), is_retrained=is_retrained)
