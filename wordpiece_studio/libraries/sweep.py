"""Vocabularies of many sizes, measured on what they were not trained on: by our objectives, and by other libraries.

A training that records its merges contains every smaller vocabulary: what it had learned when it had that many tokens
is what a training to that size learns. So one training for each fold gives all sizes. It is the same where a library
puts tokens in the order of its merges, as `tokenizers` does for WordPiece and byte pair encoding; the others are
trained once for each size.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from wordpiece_studio.compiled.kernel_cache import kernels_are_cached, load_kernels
from wordpiece_studio.corpus.counts import CountingStopped
from wordpiece_studio.corpus.decoding import checked_texts
from wordpiece_studio.corpus.listing import Listing, listing
from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.cross_validation import CorpusInBlocks, Retraining, in_folds
from wordpiece_studio.evaluation.held_out import LAST_TENTH, Fold, TextInFiles, Watch
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
    is_replayable,
    library_retraining,
    library_settings,
    reads_text,
)
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer
from wordpiece_studio.tokenizer.bpe_tokenizer import BpeTokenizer
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import TextReading
from wordpiece_studio.training.config import Objective, TrainingConfig
from wordpiece_studio.training.segmentation import minimum_vocab_size
from wordpiece_studio.training.trainer import bpe_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wordpiece_studio.evaluation.held_out import Place, Report
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
    methods: str | Iterable[str] | Mapping[str, SweepMethod] = get_args(Objective),
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
    config = TrainingConfig() if config is None else config
    if not isinstance(methods, Mapping):
        names = [methods] if isinstance(methods, str) or not isinstance(methods, Iterable) else methods
        methods = {name: _method(name, config) for name in names}
    for method in methods.values() or [None]:
        if not isinstance(method, SweepMethod):
            what = "There is no method to compare" if method is None else "A method is expected, not {value}"
            raise StudioError(what, "Pass an objective or a library.", value=repr(method)[:50])
    if not hasattr(folds, "__index__") or isinstance(folds, bool) or folds < 1:
        what, advice = "Invalid number of folds: {value}", "Use a whole number of at least 1."
        raise StudioError(what, advice, value=repr(folds)[:50])
    folds = operator.index(folds)
    if not hasattr(max_word_length, "__index__") or max_word_length < 1:
        what = "The longest word must have at least one character, not {n}"
        raise StudioError(what, n=repr(max_word_length)[:50])
    watch, given = Watch(progress, should_stop), list(checked_texts(texts))
    files = () if given else listing(corpus).files
    steps = resolve_normalizer(normalizer), resolve_pre_tokenizer(pre_tokenizer)
    again = {name: _retraining(method, steps) for name, method in methods.items()}
    blocks = [Fold(block, folds) for block in range(folds)] if folds > 1 else [LAST_TENTH]
    corpora = [
        CorpusInBlocks(files, given, block, max_word_length, lambda *_: None, watch.is_stopped) for block in blocks
    ]
    with in_folds(folds):
        for block, corpus_in_blocks in zip(blocks, corpora, strict=True):
            watch.note("Reading", block.number, block.of)
            divided = [corpus_in_blocks.divided(training) for training in again.values()]
    if kernels_are_cached("text") and sum(len(fold.rest) for fold in divided) * folds > _FEW_WORDS:
        load_kernels("text")  # the words are tokenized many times
    sources = [TextInFiles("", Listing(files) if files else None, given, block) for block in blocks]
    if any(training.is_of_lines for training in again.values()):
        for source in sources:
            source.begin(TextReading(Pipeline(*steps)), watch)
    pairs = [(name, *each) for name in methods for each in zip(corpora, sources, strict=True)]
    trained: list[VocabularySizes] = []
    for name, training, _ in pairs:
        watch.note(f"Training {name}", len(trained), len(pairs))
        trained.append(_trained(name, methods[name].trainer, again[name], training, wanted[-1], watch))
    first, last = max(each.first for each in trained), min(each.last for each in trained)
    chosen = _common_sizes(wanted, number, first, last)
    measured: list[list[SizeFigures | None]] = []
    for (name, parts, source), each in zip(pairs, trained, strict=True):
        fold, found = parts.divided(again[name]), []
        share = fold.held_out.characters / fold.characters
        for place, size in enumerate(chosen):
            watch.note(f"Measuring {name}", len(measured) * len(chosen) + place, len(pairs) * len(chosen))
            tokenizer = each.at(size)
            found.append(None if tokenizer is None else size_figures(name, tokenizer, fold, source, share, watch))
        measured.append(found)
    by_size = [some for some in zip(*measured, strict=True) if None not in some]
    if not by_size:
        raise _unreachable(wanted, first, last)
    rows: Any = [*zip(*by_size, strict=True)]
    by_method = {name: tuple(rows[k * folds : (k + 1) * folds]) for k, name in enumerate(methods)}
    reached = tuple(each.size for each in rows[0])
    left_out = () if number else tuple(size for size in wanted if size not in reached)
    return Sweep(
        reached, by_method, (steps[0].name, steps[1].name), left_out, first, last if last < wanted[-1] else None
    )


def _retraining(method: SweepMethod, steps: tuple[Normalizer, PreTokenizer]) -> Retraining:
    config = dataclasses.replace(method.config, max_merges=None, max_seconds=None)
    if method.trainer is None:
        return Retraining(config, steps)
    return library_retraining(method.trainer, config, steps, reads_text(method.trainer))


def _method(name: str, config: TrainingConfig) -> SweepMethod:
    if name in get_args(LibraryTrainer):
        trainer: LibraryTrainer = name  # type: ignore[assignment]  # it is one
        check_library_settings(trainer, dataclasses.replace(config, vocab_size=1))
        return SweepMethod(library_settings(trainer, config), trainer)
    if name not in get_args(Objective):
        known = ", ".join([*get_args(Objective), *get_args(LibraryTrainer)])
        raise StudioError("There is no method {name}", "Use one of {names}.", name=str(name)[:50], names=known)
    if not isinstance(config, TrainingConfig):
        raise StudioError("Settings are expected, not {value}", "Pass a TrainingConfig.", value=repr(config)[:50])
    return SweepMethod(dataclasses.replace(config, objective=name, min_value=None))  # type: ignore[arg-type]  # checked


def _common_sizes(wanted: Sequence[int], number: int, first: int, last: int) -> tuple[int, ...]:
    low, high = first, last
    if number and wanted[0] < last:  # else the corpus is small, and all its sizes are measured
        low, high = max(first, wanted[0]), min(last, wanted[-1])
    if number:
        chosen = spaced_sizes(low, high, number) if low <= high else ()
    else:
        chosen = tuple(size for size in wanted if first <= size <= last)
    if not chosen:
        raise _unreachable(wanted, first, last)
    return chosen


def _unreachable(wanted: Sequence[int], first: int, last: int) -> StudioError:
    what = "No vocabulary of {smallest:,} to {largest:,} tokens can be trained on this corpus"
    advice = "Use sizes of {first:,} to {last:,}." if last < wanted[-1] else "Use smaller sizes."
    if first > wanted[-1]:
        advice = "Use larger sizes: special tokens and alphabet alone are {first:,} tokens."
    elif first > last:  # the alphabet of one part has more tokens than another part gives
        advice = "Use more text: one part gives at least {first:,} tokens, another at most {last:,}."
    return StudioError(what, advice, smallest=wanted[0], largest=wanted[-1], first=first, last=last)


def _trained(
    name: str, trainer: LibraryTrainer | None, again: Retraining, corpus: CorpusInBlocks, most: int, watch: Watch
) -> VocabularySizes:
    counts, config = corpus.divided(again).rest, dataclasses.replace(again.config, vocab_size=most)
    least, steps = minimum_vocab_size(counts, config), (counts.normalizer.kept, counts.pre_tokenizer)
    if least > most:
        return VocabularySizes(least, 0, lambda _: None)  # no size is common to all

    def train(size: int) -> Any:
        try:
            sized = dataclasses.replace(again, config=dataclasses.replace(config, vocab_size=size))
            run = corpus.trained(name, sized)
        except LibraryTrainingStopped:
            raise CountingStopped from None
        if watch.is_stopped():
            raise CountingStopped
        return run

    def of_vocabulary(vocabulary: Vocabulary, first: int) -> VocabularySizes:
        return VocabularySizes(first, len(vocabulary), lambda size: Tokenizer(vocabulary.with_size(size), *steps))

    if trainer is None:
        history = train(most).history
        vocabulary, sizes = history.vocabulary(len(history)), history.vocabulary_sizes()
        if not config.is_byte_pair_encoding:  # the places of the merges are not needed any more
            return of_vocabulary(vocabulary, least)

        def with_steps(size: int) -> Encoder:
            step = int(sizes.searchsorted(size)) + 1 if size > history.vocabulary_size(0) else 0
            return bpe_tokenizer(history, counts, step)

        return VocabularySizes(least, len(vocabulary), with_steps)
    is_ordered = is_replayable(trainer) and not counts.pre_tokenizer.is_byte_level
    if not is_ordered or (trainer == "tokenizers-bpe" and config.continuing_subword_prefix):

        def trained_anew(size: int) -> Encoder | None:
            run = train(size)
            return run.tokenizer() if len(run.tokens) == size else None

        return VocabularySizes(least, most, trained_anew)
    run = train(most)
    first, tokens, merges = _first_of_merges(run), run.tokens, run.merges or ()
    whole = run.config.vocabulary(tokens)
    if trainer == "tokenizers-wordpiece":
        return of_vocabulary(whole, first)
    made = [whole.id_of("".join(pair)) for pair in merges]

    def with_merges(size: int) -> Encoder:
        ids = {token: number for number, token in enumerate(tokens[:size])}
        number = made.index(size - 1) + 1 if size > first else 0
        return BpeTokenizer(
            ids, merges[:number], *steps, special_tokens=whole.special_tokens, user_tokens=whole.user_tokens,
            unk_token=whole.unk_token if whole.unk_token in ids else None,
            end_of_word_suffix=run.config.end_of_word_suffix or "",
        )  # fmt: skip

    return VocabularySizes(first, len(tokens), with_merges)


def _first_of_merges(run: Any) -> int:
    """Return how many tokens of a run of `tokenizers` are special tokens and its alphabet, which come first."""
    prefix, suffix = run.config.continuing_subword_prefix, run.config.end_of_word_suffix or ""
    place = len(run.config.reserved_tokens)
    while place < len(run.tokens) and len(run.tokens[place].removeprefix(prefix).removesuffix(suffix) or prefix) == 1:
        place += 1
    return place
