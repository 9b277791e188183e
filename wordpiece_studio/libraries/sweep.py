"""Vocabularies of many sizes, measured on what they were not trained on: by our objectives, and by other libraries.

A training that records its merges contains every smaller vocabulary: what it had learned when it had that many tokens
is what a training to that size learns. So one training for each fold gives all sizes. It is the same where a library
puts tokens in the order of its merges, as `tokenizers` does for WordPiece and byte pair encoding; the others are
trained once for each size.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from wordpiece_studio.compiled.kernel_cache import kernels_are_cached, load_kernels
from wordpiece_studio.corpus.counts import CountingStopped
from wordpiece_studio.corpus.listing import listing
from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.held_out import (
    LAST_TENTH,
    NO_LINES,
    TOO_FEW_LINES,
    DividedCorpus,
    Fold,
    TextInFiles,
    Watch,
    divided_corpus,
)
from wordpiece_studio.evaluation.sizes import (
    USUAL_SIZES,
    SizeFigures,
    Sweep,
    checked_sizes,
    size_figures,
    spaced_sizes,
)
from wordpiece_studio.libraries.library_training import (
    LibraryTrainer,
    LibraryTrainingStopped,
    check_library_settings,
    library_settings,
    reads_text,
    train_library,
)
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.tokenizer.bpe_tokenizer import BpeTokenizer
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import TextReading
from wordpiece_studio.training.config import Objective, TrainingConfig
from wordpiece_studio.training.segmentation import PreparationStopped, minimum_vocab_size
from wordpiece_studio.training.trainer import bpe_tokenizer, train_elsewhere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.corpus.listing import Listing
    from wordpiece_studio.evaluation.held_out import Place, Report
    from wordpiece_studio.libraries.library_training import LibraryRun
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer
    from wordpiece_studio.tokenizer.encoding import Encoder
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary

FOLDS = 5
_FEW_WORDS = 20_000  # with fewer, the kernels are not worth being loaded


@dataclass(frozen=True, slots=True)
class SweepMethod:
    """How vocabularies are trained: with these settings, by our engine, or by another library if there is a trainer."""

    config: TrainingConfig
    trainer: LibraryTrainer | None = None


@dataclass(frozen=True, slots=True)
class VocabularySizes:
    """The tokenizers that a training contains, from the `first` size to the `last`.

    `at` returns the one of a size; None where its training ends before.
    """

    first: int
    last: int
    at: Callable[[int], Encoder | None]


def sweep(
    corpus: Place | Iterable[Place] | Listing = (),
    methods: Sequence[str] | Mapping[str, SweepMethod] = get_args(Objective),
    *,
    texts: Iterable[str] = (),
    sizes: str | Iterable[int] = USUAL_SIZES,
    config: TrainingConfig | None = None,
    folds: int = FOLDS,
    normalizer: str | Normalizer | None = "bert-cased",
    pre_tokenizer: str | PreTokenizer = "bert",
    max_word_length: int = 1000,
    progress: Report | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Sweep:
    r"""Measure vocabularies of many sizes on text that they were not trained on; three rules advise which to take.

    Parameters
    ----------
    corpus, texts
        The files, as for :func:`~wordpiece_studio.count_words`, or texts in place of them; they are read once for each
        fold.
    methods
        What to compare: objectives, trainers of other libraries as for :func:`~wordpiece_studio.train_library`, or both
        with settings of their own, by name. SentencePiece is given lines, and finds words itself.
    sizes
        The sizes of the vocabularies: all of them, or two ends like ``"1000..64000"``, between which ten sizes (or 20
        with ``"1000..64000:20"``) are measured as far as all trainings reach; of a corpus that ends before, all sizes.
    config
        The other settings, for methods that have none.
    folds
        Into how many blocks the corpus is divided: each is measured on once, with a training on the others. With 1,
        a tenth is held out, as `divided_corpus` does, and there are no standard deviations.
    normalizer, pre_tokenizer, max_word_length
        As for :func:`~wordpiece_studio.count_words`.
    progress
        Called now and then with what is being done, how much of it is done, and how much there is.
    should_stop
        Called now and then; `CountingStopped` is raised if it returns True.

    Raises
    ------
    StudioError
        If a file cannot be read, there are fewer lines than folds, a setting is wrong or not available for a library,
        or no size can be reached by all trainings.

    >>> text = "hug pug hugs bugs\nhug mug pugs bug\n" * 20
    >>> found = sweep(texts=[text], methods=["count"], sizes=[15, 20], folds=2)
    >>> found.sizes, found.mean("count", "tokens_per_word").tolist()
    ((15, 20), [1.75, 1.0])
    """
    wanted, number = checked_sizes(sizes)
    if not isinstance(methods, Mapping):
        methods = {name: _method(name, config or TrainingConfig()) for name in methods}
    if not methods:
        raise StudioError("There is no method to compare", "Pass an objective or a library.")
    if folds < 1:
        raise StudioError("Invalid number of folds: {value}", "Use a whole number of at least 1.", value=folds)
    watch, given, config = Watch(progress, should_stop), list(texts), next(iter(methods.values())).config
    divided: list[DividedCorpus] = []
    blocks = [Fold(block, folds) for block in range(folds)] if folds > 1 else [LAST_TENTH]
    try:
        for block in blocks:
            watch.note("Reading", block.number, block.of)
            divided.append(divided_corpus(
                corpus, normalizer, pre_tokenizer, texts=given, fold=block,
                special_tokens=config.special_tokens, user_tokens=config.user_tokens, max_word_length=max_word_length,
                should_stop=watch.is_stopped,
            ))  # fmt: skip
    except StudioError as error:
        if error.what_template == TOO_FEW_LINES:
            what = "There are too few lines for {folds} folds"
            raise StudioError(what, "Use more text, or fewer folds.", folds=folds) from None
        if error.what_template == NO_LINES:
            raise StudioError(
                "The corpus is words with their counts, without lines", "Use the text they are from."
            ) from None
        raise
    if kernels_are_cached("text") and sum(len(fold.rest) for fold in divided) * len(methods) > _FEW_WORDS:
        load_kernels("text")  # the words are tokenized many times
    listed = None if given else listing(corpus)
    sources = [TextInFiles("", listed, given, block) for block in blocks]
    if any(method.trainer is not None and reads_text(method.trainer) for method in methods.values()):
        for source in sources:
            source.begin(TextReading(Pipeline(divided[0].rest.normalizer, divided[0].rest.pre_tokenizer)), watch)
    pairs = [(name, *each) for name in methods for each in zip(divided, sources, blocks, strict=True)]
    trained: list[VocabularySizes] = []
    for name, fold, _, block in pairs:
        watch.note(f"Training {name}", len(trained), len(pairs))
        train = partial(train_library, listed or given, is_rest=True, fold=block)
        trained.append(_trained(methods[name], fold.rest, train, wanted[-1], watch))
    chosen = _common_sizes(wanted, number, trained)
    measured: list[list[SizeFigures | None]] = []
    for (name, fold, source, _), each in zip(pairs, trained, strict=True):
        measured.append([])
        share = fold.held_out.words / (fold.held_out.words + fold.rest.total)
        for place, size in enumerate(chosen):
            watch.note(f"Measuring {name}", (len(measured) - 1) * len(chosen) + place, len(pairs) * len(chosen))
            tokenizer = each.at(size)
            found = None if tokenizer is None else size_figures(name, tokenizer, fold, source, share, watch)
            measured[-1].append(found)
    by_size = [some for some in zip(*measured, strict=True) if None not in some]
    if not by_size:
        raise _unreachable(wanted)
    rows = [*zip(*by_size, strict=True)]
    by_method: Any = {name: tuple(rows[k * folds : (k + 1) * folds]) for k, name in enumerate(methods)}
    steps = divided[0].rest.normalizer.name, divided[0].rest.pre_tokenizer.name
    return Sweep(tuple(some[0].size for some in by_size if some[0]), by_method, steps)


def _method(name: str, config: TrainingConfig) -> SweepMethod:
    if name in get_args(LibraryTrainer):
        trainer: LibraryTrainer = name  # type: ignore[assignment]  # it is one
        check_library_settings(trainer, dataclasses.replace(config, vocab_size=1))
        return SweepMethod(library_settings(trainer, config), trainer)
    return SweepMethod(dataclasses.replace(config, objective=name, min_value=None))  # type: ignore[arg-type]  # checked


def _common_sizes(wanted: Sequence[int], number: int, trained: Sequence[VocabularySizes]) -> tuple[int, ...]:
    first, last = max(each.first for each in trained), min(each.last for each in trained)
    if number:
        if wanted[0] < last:  # else the corpus is small, and all its sizes are measured
            first, last = max(first, wanted[0]), min(last, wanted[-1])
        chosen = spaced_sizes(first, last, number) if first < last else ()
    else:
        chosen = tuple(size for size in wanted if first <= size <= last)
    if not chosen:
        raise _unreachable(wanted, first)
    return chosen


def _unreachable(wanted: Sequence[int], first: int = 0) -> StudioError:
    what = "No vocabulary of {smallest:,} to {largest:,} tokens can be trained on this corpus"
    advice = "Use other sizes."
    if first > wanted[-1]:
        advice = "Use larger sizes: special tokens and alphabet alone are {first:,} tokens."
    return StudioError(what, advice, smallest=wanted[0], largest=wanted[-1], first=first)


def _trained(
    method: SweepMethod, counts: WordCounts, train_on_lines: Callable[..., LibraryRun], most: int, watch: Watch
) -> VocabularySizes:
    config = dataclasses.replace(method.config, vocab_size=most, max_merges=None, max_seconds=None)
    least = minimum_vocab_size(counts, config)
    if least > most:
        return VocabularySizes(least, 0, lambda _: None)  # no size is common to all
    if method.trainer is not None:
        return _trained_by_library(method.trainer, config, counts, train_on_lines, least, watch)
    try:
        history = train_elsewhere(counts, config, should_stop=watch.is_stopped).history
    except PreparationStopped:
        raise CountingStopped from None
    if watch.is_stopped():
        raise CountingStopped
    sizes, steps = history.vocabulary_sizes(), (counts.normalizer, counts.pre_tokenizer)
    vocabulary = history.vocabulary(len(history))
    if not config.is_byte_pair_encoding:  # the places of the merges are not needed any more
        return _of_vocabulary(vocabulary, least, steps)

    def at(size: int) -> Encoder:
        step = int(sizes.searchsorted(size)) + 1 if size > history.vocabulary_size(0) else 0
        return bpe_tokenizer(history, counts, step)

    return VocabularySizes(least, len(vocabulary), at)


def _of_vocabulary(vocabulary: Vocabulary, first: int, steps: tuple[Normalizer, PreTokenizer]) -> VocabularySizes:
    return VocabularySizes(first, len(vocabulary), lambda size: Tokenizer(vocabulary.with_size(size), *steps))


def _trained_by_library(
    trainer: LibraryTrainer,
    config: TrainingConfig,
    counts: WordCounts,
    train_on_lines: Callable[..., LibraryRun],
    least: int,
    watch: Watch,
) -> VocabularySizes:
    most = config.vocab_size
    assert most is not None

    def train(size: int) -> LibraryRun:
        try:
            sized = dataclasses.replace(config, vocab_size=size)
            train_on = train_on_lines if reads_text(trainer) else partial(train_library, counts)
            return train_on(config=sized, trainer=trainer, should_stop=watch.is_stopped)
        except LibraryTrainingStopped:
            raise CountingStopped from None

    def at(size: int) -> Encoder | None:
        run = train(size)
        return run.tokenizer() if len(run.tokens) == size else None

    is_ordered = trainer in ("tokenizers-wordpiece", "tokenizers-bpe") and not counts.pre_tokenizer.is_byte_level
    if not is_ordered or (trainer == "tokenizers-bpe" and config.continuing_subword_prefix):
        return VocabularySizes(least, most, at)
    run = train(most)
    first = _first_of_merges(run)
    steps = counts.normalizer.kept, counts.pre_tokenizer
    if trainer == "tokenizers-wordpiece":
        return _of_vocabulary(run.config.vocabulary(run.tokens), first, steps)
    merges, ids = run.merges or (), {token: number for number, token in enumerate(run.tokens)}
    made = [ids["".join(pair)] for pair in merges]

    def with_merges(size: int) -> Encoder:
        number = made.index(size - 1) + 1 if size > first else 0
        vocabulary = run.config.vocabulary(run.tokens[:size])
        return BpeTokenizer(
            {token: ids[token] for token in run.tokens[:size]}, merges[:number], *steps,
            special_tokens=vocabulary.special_tokens, user_tokens=vocabulary.user_tokens,
            unk_token=vocabulary.unk_token if vocabulary.unk_token in ids else None,
            end_of_word_suffix=run.config.end_of_word_suffix or "",
        )  # fmt: skip

    return VocabularySizes(first, len(run.tokens), with_merges)


def _first_of_merges(run: LibraryRun) -> int:
    """Return how many tokens of a run of `tokenizers` are special tokens and its alphabet, which come first."""
    prefix, suffix = run.config.continuing_subword_prefix, run.config.end_of_word_suffix or ""
    place = len(run.config.reserved_tokens)
    while place < len(run.tokens) and len(run.tokens[place].removeprefix(prefix).removesuffix(suffix) or prefix) == 1:
        place += 1
    return place
