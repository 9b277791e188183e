"""Where two tokenizers differ: the words that they cut differently, their vocabularies, and the first other merge.

Cuts are compared by their places in a word, not by how the tokens are written: ``hug ##s`` and ``hug s`` are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.evaluating import common_reading, named_tokenizers
from wordpiece_studio.evaluation.held_out import WORD_MARKS, Watch, as_texts, texts_by_name
from wordpiece_studio.text.pre_tokenizers import text_of_letters
from wordpiece_studio.tokenizer.tokenizer import NO_ID, Tokenizer
from wordpiece_studio.training.history import MergeHistory
from wordpiece_studio.training.trainer import TrainingRun

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.evaluation.evaluating import Measurable
    from wordpiece_studio.evaluation.held_out import Report, Text, TextInFiles, TextInWords
    from wordpiece_studio.tokenizer.encoding import Encoder, Encoding

    Pair = tuple[str, str]

_DEPTHS = tuple(factor * 10**power for power in range(2, 8) for factor in (1, 2, 5))
_FEW_MARKED = 0.01  # of the tokens: in fewer such a mark is a character like others
_AT_ONCE = 128  # words


@dataclass(frozen=True, slots=True)
class WordDifference:
    """A word that two tokenizers cut differently, how often it occurs, and the tokens of each."""

    word: str
    count: int
    first: tuple[str, ...]
    second: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WordDifferences:
    """The words of a text that two tokenizers cut differently, the most frequent first.

    `distinct_words` and `total` are how many words were compared, without and with repetitions.
    """

    words: tuple[WordDifference, ...]
    distinct_words: int
    total: int

    @property
    def share(self) -> float:
        """The share of all words, repetitions included, that are cut differently."""
        return sum(word.count for word in self.words) / self.total if self.total else 0.0

    def __repr__(self) -> str:
        return f"<WordDifferences: {len(self.words):,} of {self.distinct_words:,} words, {self.share:.2%} of the text>"


@dataclass(frozen=True, slots=True)
class VocabularyOverlap:
    """What two vocabularies have in common.

    Tokens are compared by their letters and by whether they begin a word, if both vocabularies mark that, be it by
    ``##``, ``▁`` or ``Ġ``; otherwise as they are written.

    `sizes` are how many different tokens each has, `shared` how many are in both; `only_first` and `only_second` are
    the others, as they are written, in id order. `by_rank` has how many of the first tokens of each, in id order, and
    what share of them is in both.
    """

    sizes: tuple[int, int]
    shared: int
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    by_rank: tuple[tuple[int, float], ...]

    @property
    def share(self) -> float:
        """The share of all tokens of the two that is in both, also called Jaccard index."""
        return self.shared / max(sum(self.sizes) - self.shared, 1)

    def __repr__(self) -> str:
        first, second = self.sizes
        return f"<VocabularyOverlap: {first:,} and {second:,} tokens, {self.shared:,} in both>"


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first merge in which two histories differ: the number of the step, from 1, and the pair that each merges.

    The pair is None if there is no further merge. `is_tie`: both are tied with others at the same value, so that
    perhaps only the rule for ties differs.
    """

    step: int
    first: Pair | None
    second: Pair | None
    is_tie: bool = False


@dataclass(frozen=True, slots=True)
class TokenizerComparison:
    """Where two tokenizers differ: what their vocabularies have in common, their merges, and their words.

    `divergence` is None if all merges are the same, or those of one are unknown; `has_merges`: those of both are known.
    `differences` is None if no text was given.
    """

    overlap: VocabularyOverlap
    divergence: Divergence | None
    has_merges: bool
    differences: WordDifferences | None

    def __repr__(self) -> str:
        return f"<TokenizerComparison: {self.overlap!r}, {self.divergence!r}, {self.differences!r}>"

    def _repr_html_(self) -> str:
        from wordpiece_studio.notebook import comparison_html

        apart, found = self.divergence, self.differences
        divergence = None if apart is None else (apart.step, apart.first, apart.second)
        words = [] if found is None else [(each.word, each.count, each.first, each.second) for each in found.words]
        return comparison_html(self.overlap.sizes, self.overlap.shared, divergence, words)


def compare(
    first: Measurable,
    second: Measurable,
    on: Text = (),
    *,
    texts: Iterable[str] = (),
    progress: Report | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> TokenizerComparison:
    """Return where two tokenizers differ.

    Parameters
    ----------
    first, second
        Tokenizers, as from :func:`~wordpiece_studio.load_tokenizer`, or trainings, whose merges are compared too.
    on, texts, progress, should_stop
        The text whose words are compared, and the rest, as for `evaluate`. If both find the same words, these are
        compared; otherwise those of ``"bert-cased"`` and ``"bert"``, or those given with their counts, each as a text
        of its own, after a blank if it is no punctuation.

    Raises
    ------
    StudioError
        As `evaluate`.

    >>> from wordpiece_studio import Tokenizer, Vocabulary
    >>> first, second = (Tokenizer(Vocabulary(["h", "p", "##u", "##g", more])) for more in ("##ug", "hu"))
    >>> found = compare(first, second, texts=["hug pug hug"])
    >>> found.differences.words[0]
    WordDifference(word='hug', count=2, first=('h', '##ug'), second=('hu', '##g'))
    >>> found.overlap
    <VocabularyOverlap: 5 and 5 tokens, 4 in both>
    """
    histories: list[Any] = [
        each.history if isinstance(each, TrainingRun) else getattr(each, "merges", None) for each in (first, second)
    ]
    both = list(named_tokenizers([first, second]).values())
    has_text = not all(isinstance(given, tuple | list) and not given for given in (on, texts))
    differences = _differences(both[0], both[1], on, texts, Watch(progress, should_stop)) if has_text else None
    has_merges = None not in histories
    first_other = divergence(*histories) if has_merges else None
    return TokenizerComparison(overlap(*both), first_other, has_merges, differences)


# ---- histories -------------------------------------------------------------------------------------------------------


def divergence(first: Any, second: Any) -> Divergence | None:
    """Return the first merge in which two histories differ; None if they are the same.

    Parameters
    ----------
    first, second
        Histories, trainings, byte pair encodings, or lists of pairs.

    Raises
    ------
    StudioError
        If one of them has no merges.

    >>> divergence([("h", "u"), ("hu", "g")], [("h", "u"), ("u", "g")])
    Divergence(step=2, first=('hu', 'g'), second=('u', 'g'), is_tie=False)
    """
    both = [each.history if isinstance(each, TrainingRun) else each for each in (first, second)]
    for index, (left, right) in enumerate(zip_longest(*map(_pairs, both))):
        if left != right:
            known = [each[index] for each in both if isinstance(each, MergeHistory) and index < len(each)]
            are_tied = len(known) == 2 and min(each.ties for each in known) > 1 and known[0].value == known[1].value
            return Divergence(index + 1, left, right, are_tied)
    return None


def _pairs(history: Any) -> Iterable[Pair]:
    if not isinstance(history, MergeHistory):
        try:
            return [(left, right) for left, right in getattr(history, "merges", history)]
        except (TypeError, ValueError):
            advice = "Pass runs, their histories or lists of pairs."
            raise StudioError("{value} has no merges", advice, value=repr(history)[:100]) from None
    ids = (history.column(name).tolist() for name in ("left_id", "right_id"))
    return ((history.token(left), history.token(right)) for left, right in zip(*ids, strict=True))


# ---- vocabularies ----------------------------------------------------------------------------------------------------


def overlap(first: Encoder, second: Encoder) -> VocabularyOverlap:
    written = first.tokens, second.tokens
    marked = [_forms(*each) for each in zip((first, second), written, strict=True)]
    forms: list[Sequence[Any]] = [each for each in marked if each is not None]
    if len(forms) < len(marked):
        forms = [*written]
    ranks = [dict.fromkeys(each) for each in forms]
    shared = ranks[0].keys() & ranks[1].keys()
    only = [
        tuple(token for token, form in zip(*each, strict=True) if form not in shared)
        for each in zip(written, forms, strict=True)
    ]
    orders = [list(each) for each in ranks]
    most = min(map(len, orders))
    depths = [*(depth for depth in _DEPTHS if depth < most), *([most] if most else [])]
    by_rank = ((depth, len(set(orders[0][:depth]).intersection(orders[1][:depth])) / depth) for depth in depths)
    return VocabularyOverlap((len(orders[0]), len(orders[1])), len(shared), only[0], only[1], tuple(by_rank))


def _forms(tokenizer: Encoder, tokens: Sequence[str]) -> Sequence[Any] | None:
    """Return each token's letters and whether it begins a word; None if the vocabulary does not mark that."""
    if isinstance(tokenizer, Tokenizer) and (prefix := tokenizer.vocabulary.continuing_subword_prefix):
        return [(token.removeprefix(prefix), not token.startswith(prefix)) for token in tokens]
    for mark in WORD_MARKS:
        if sum(token.startswith(mark) for token in tokens) > _FEW_MARKED * len(tokens):
            forms = [(token.removeprefix(mark), token.startswith(mark)) for token in tokens]
            return [(text_of_letters([text]), begins) for text, begins in forms] if mark == "Ġ" else forms
    return None


# ---- words -----------------------------------------------------------------------------------------------------------


def _differences(first: Encoder, second: Encoder, on: Text, texts: Iterable[str], watch: Watch) -> WordDifferences:
    sources = list(texts_by_name(on, texts).values())
    if len(sources) > 1:
        raise StudioError("Words are compared on one text, and several were given", "Pass the files as one list.")
    words = WordsToCompare.of([first, second], sources[0], watch)
    found = [WordDifference(word, count, *splits) for _, part in words.differing(watch) for word, count, splits in part]
    return WordDifferences(tuple(found), len(words.counts), words.counts.total)


class WordsToCompare(NamedTuple):
    """Words with their counts, which all `encoders` find alike or which each reads as a text of its own."""

    encoders: Sequence[Encoder]
    counts: WordCounts
    is_alike: bool

    @classmethod
    def of(cls, encoders: Sequence[Encoder], source: TextInFiles | TextInWords, watch: Watch) -> Self:
        reading, *others = (each.reading for each in encoders)
        given = source.begin(common_reading(encoders), watch)
        if reading is None or any(other is None or other.pipeline != reading.pipeline for other in others):
            return cls(encoders, given.counts, False)
        return cls(encoders, source.counted(reading, watch)[0].counts, True)

    def differing(self, watch: Watch) -> Iterator[tuple[int, list[tuple[str, int, list[tuple[str, ...]]]]]]:
        """Compare the words, the most frequent first, and yield how many are done, and those not cut alike by all.

        That is after every few words; those come with their counts and cuts.
        """
        counts, words = self.counts, self.counts.words
        order = np.argsort(-counts.counts, kind="stable")
        for start in range(0, len(counts), _AT_ONCE):
            watch.note("Comparing words", start, len(counts))
            part = order[start : start + _AT_ONCE]
            some = [words[index] for index in part.tolist()]
            cuts = zip(*(cuts_of(each, some, self.is_alike, watch) for each in self.encoders), strict=True)
            found = [
                (word, count, [each.tokens for each in cut])
                for word, count, cut in zip(some, counts.counts[part].tolist(), cuts, strict=True)
                if any(each.places != cut[0].places for each in cut)
            ]
            if counts.pre_tokenizer.is_byte_level:
                found = [(text_of_letters([word]), *others) for word, *others in found]
            yield start + len(some), found
        watch.note("Comparing words", len(counts), len(counts))


class _Cut(NamedTuple):
    """The tokens of a word, and where they begin in it, with whether they are unknown."""

    tokens: tuple[str, ...]
    places: list[tuple[int, bool]]


def cuts_of(tokenizer: Encoder, words: Sequence[str], is_alike: bool, watch: Watch) -> list[_Cut]:
    """Return how words are cut: as they are if `is_alike`, else each as a text."""
    spelled = words if is_alike else as_texts(tokenizer, words)
    encodings = tokenizer.encode_words(watch.over(words)) if is_alike else tokenizer.encode(spelled)
    unknown = tokenizer.id_of(tokenizer.unk_token or "")
    lengths = zip(map(len, spelled), map(len, words), strict=True)
    pairs = zip(encodings, lengths, strict=True)
    return [_cut(encoding, whole - length, length, unknown) for encoding, (whole, length) in pairs]


def _cut(encoding: Encoding, before: int, length: int, unknown: int | None) -> _Cut:
    """Return the cut of a word of some length that stands after some characters; marks of its ends cut nothing."""
    tokens = tuple(encoding.tokens)
    is_marked = len(tokens) > 1 and tokens[0] in WORD_MARKS
    found = zip(encoding.ids[is_marked:], encoding.offsets[is_marked:], strict=True)
    places = [(max(start - before, 0), token_id in (unknown, NO_ID)) for token_id, (start, _) in found]
    return _Cut(tokens, [place for place in places if place[0] < length])
