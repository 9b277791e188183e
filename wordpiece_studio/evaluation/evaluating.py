"""What tokenizers make of a text: `evaluate` counts the tokens of each, from which its figures follow.

Each is measured as it tokenizes for its users: WordPiece by longest match, byte pair encoding by its merges, what
another library runs by that library. The text is not tokenized but counted, line by line: once for all tokenizers that
find words alike, and each distinct word is tokenized once. Only a tokenizer whose way to find words is unknown here
reads the text itself.

Not here: the figures (`figures`), the texts (`held_out`), counting tokens (`usage`), bits (`coding`), and several
blocks of a text (`cross_validation`).
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from wordpiece_studio.corpus.counts import WordCounts, is_mapping
from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.coding import Spelling, adaptive_code_bits, code_bits
from wordpiece_studio.evaluation.figures import Evaluation, TokenizerFigures
from wordpiece_studio.evaluation.held_out import LAST_TENTH, HeldOutText, TextInFiles, Watch, texts_by_name
from wordpiece_studio.evaluation.usage import Usage, count_usage, encoded_words, usage_in
from wordpiece_studio.system.arrays import slices
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer
from wordpiece_studio.tokenizer.encoding import Encoder, LibraryEncoder
from wordpiece_studio.tokenizer.shortest_path import FewestTokens
from wordpiece_studio.tokenizer.tokenizer import NO_ID, Tokenizer
from wordpiece_studio.tokenizer.vocabulary import TextReading
from wordpiece_studio.training.trainer import TrainingRun

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.evaluation.figures import CodedBy
    from wordpiece_studio.evaluation.held_out import CountedWord, DividedCorpus, Fold, Report, Text, TextInWords
    from wordpiece_studio.evaluation.usage import EncodedWords

    Measurable = Encoder | TrainingRun | Any  # or a `LibraryRun`


ALPHA = 2.5  # the order of the Rényi entropy that Zouhar et al. found to predict best how well models translate
_AS_GOOD_AS_1 = 1e-7  # nearer to it, the general formula divides one error of rounding by another
_BERT = "bert-cased", "bert"
_MOST_IDS = 1 << 24  # of a library's tokenizer, whose ids may have gaps


def evaluate(
    tokenizers: Mapping[str, Measurable] | Iterable[Measurable] | Measurable,
    on: Text | Mapping[str, Text] = (),
    *,
    texts: Iterable[str] | Mapping[str, Iterable[str]] = (),
    alpha: float = ALPHA,
    is_parallel: bool = False,
    is_held_out: bool = False,
    fold: Fold = LAST_TENTH,
    with_greedy_gap: bool = False,
    progress: Report | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Evaluation:
    """Return the figures of tokenizers on a text.

    Parameters
    ----------
    tokenizers
        One or several, as from :func:`~wordpiece_studio.load_tokenizer`, or trainings, ours and by other libraries;
        without names they are called A, B and so on.
    on
        The text: files, as for :func:`~wordpiece_studio.count_words`, words with their counts, or what was held out; or
        several texts by name, such as languages. Words with their counts are measured as they are by tokenizers that
        find words as they were found; for others each word is a text of its own, after a blank if it is no punctuation.
    texts
        Texts in place of files, or several such collections by name.
    alpha
        The order of the Rényi entropy.
    is_parallel
        Whether the texts in `on` say the same in different languages, line by line, so that the numbers of tokens can
        be compared.
    is_held_out
        Whether to measure only on the part of each text that `divided_corpus` holds out; tokens are coded by their
        counts on the rest.
    fold
        Which part that is.
    with_greedy_gap
        Whether to find the `greedy_gap` too, which takes up to a minute for each million distinct words.
    progress
        Called now and then with what is being done, how much of it is done, and how much there is.
    should_stop
        Called now and then; `CountingStopped` is raised if it returns True.

    Returns
    -------
    Evaluation
        The words that tokens are counted per are those that the tokenizers find, if all of which that is known find the
        same; otherwise those of ``"bert-cased"`` and ``"bert"``. Where only libraries can find them, they are what
        found the words that these were trained on; for SentencePiece, if it was trained on lines, what white space
        separates. Of words with their counts, these.

    Raises
    ------
    StudioError
        If there is no tokenizer or no word, a file cannot be read or changes meanwhile, or a library fails. If texts
        that should say the same differ in their numbers of lines, or only a part of each is to be measured.

    >>> from wordpiece_studio import BpeTokenizer, Tokenizer, Vocabulary
    >>> by_match = Tokenizer(Vocabulary(["[UNK]", "h", "hug", "##u", "##g", "##s"], ["[UNK]"]))
    >>> by_merges = BpeTokenizer({"h": 0, "u": 1, "g": 2, "ug": 3, "s": 4}, [("u", "g")], "bert-cased", "bert")
    >>> found = evaluate({"match": by_match, "merges": by_merges}, texts=["hug hugs", "hug mug"])
    >>> [(each.name, each.tokens, each.tokens_per_word, each.unknown) for each in found.figures]
    [('match', 5, 1.25, 1), ('merges', 8, 2.0, 0)]
    """
    given = by_name(tokenizers)
    named = named_tokenizers(given)
    sources = texts_by_name(on, texts, fold if is_held_out else None)
    if not isinstance(alpha, int | float | np.integer | np.floating) or not 0 < alpha <= sys.float_info.max:
        what = "Invalid order for the Rényi entropy: {value}"
        raise StudioError(what, "Use a number greater than 0.", value=repr(alpha)[:50])
    alpha = float(alpha)
    if is_parallel and len(sources) < 2:
        raise StudioError("Parity needs at least two texts", "Pass several texts, each with a name.")
    if is_parallel and is_held_out:
        raise StudioError("The parts that are held out of several texts do not say the same", "Measure all of them.")
    common = common_reading([*named.values()])
    measured = {
        part: _measured(named, source, common, Watch(progress, should_stop, part), with_greedy_gap)
        for part, source in sources.items()
    }
    learned, coded_by = _learned(given, named, [found for _, found in measured.values()], Watch(None, should_stop))
    judged = max(sum(text.characters for text, _ in measured.values()), 1)
    rest = sum(source.rest.characters for source in sources.values() if source.rest is not None)
    figures_of = partial(_figures, alpha=alpha, coded_by=coded_by, share=judged / (judged + rest))
    parts = {
        part: tuple(
            figures_of(name, named[name], [text], each, each.learned if coded_by == "rest" else learned.get(name))
            for name, each in found.items()
        )
        for part, (text, found) in measured.items()
    }
    if is_parallel:
        _check_lines({part: text.lines for part, (text, _) in measured.items()})
        first = next(iter(parts.values()))
        parts = {part: tuple(map(_with_parity, figures, first)) for part, figures in parts.items()}
    all_texts = [text for text, _ in measured.values()]
    sums = {name: _summed([found[name] for _, found in measured.values()]) for name in named}
    total = tuple(figures_of(name, each, all_texts, sums[name], learned.get(name)) for name, each in named.items())
    pipeline = next(iter(sources.values())).pipeline
    words_of = pipeline.normalizer.name, pipeline.pre_tokenizer.name
    return Evaluation(total, {} if "" in parts else parts, words_of)


def _check_lines(lines: Mapping[str, int]) -> None:
    (first, number), *others = lines.items()
    for other, each in others:
        if each != number:
            what = "{first} and {other} do not say the same line by line: they have {n:,} and {lines:,} lines"
            advice = "Use texts of which each line is the translation of the same line of the others."
            raise StudioError(what, advice, first=first, other=other, n=number, lines=each)


def by_name(tokenizers: Any) -> dict[str, Any]:
    """Return tokenizers or trainings by name; without names they are called A, B and so on."""
    if not isinstance(tokenizers, Iterable) or isinstance(tokenizers, str | bytes):
        tokenizers = [tokenizers]
    if not is_mapping(tokenizers):
        names = (chr(65 + number) if number < 26 else str(number + 1) for number in range(1 << 30))
        tokenizers = dict(zip(names, tokenizers, strict=False))
    if not tokenizers:
        raise StudioError("There is no tokenizer to measure", "Pass at least one.")
    return {str(name): each for name, each in tokenizers.items()}


def named_tokenizers(tokenizers: Any) -> dict[str, Encoder]:
    named = {name: _tokenizer_of(each) for name, each in by_name(tokenizers).items()}
    for name, each in named.items():
        if (largest := getattr(each, "largest_id", 0)) >= _MOST_IDS:
            what = "{name} has the ID {largest:,}: its tokens are not counted, which takes memory for each ID below"
            raise StudioError(what, "Number the tokens without gaps.", name=name, largest=largest)
    return named


def _tokenizer_of(given: Any) -> Encoder:
    if isinstance(given, Encoder):
        return given
    if isinstance(given, TrainingRun):
        return given.bpe_tokenizer() if given.config.is_byte_pair_encoding else given.tokenizer()
    counts = getattr(given, "counts", None)  # that another library was trained on
    if getattr(given, "trainer", "") == "tokenizers-wordpiece" and counts and not counts.pre_tokenizer.is_byte_level:
        return Tokenizer(given.config.vocabulary(given.tokens), counts.normalizer, counts.pre_tokenizer)
    made = getattr(given, "tokenizer", None)
    if not callable(made):
        advice = "Pass what load_tokenizer returns, or a run."
        raise StudioError("{value} is not a tokenizer", advice, value=repr(given)[:100])
    tokenizer: Encoder = made()
    return tokenizer


def common_reading(tokenizers: Sequence[Encoder]) -> TextReading:
    """Return how all tokenizers find words, without their added tokens if these differ; or how BERT does.

    One whose way is unknown here has no say beside others; alone, what it is said to be.
    """
    known = [each.reading for each in tokenizers if each.reading is not None]
    if not known:
        known = [each.words_of for each in tokenizers if each.words_of is not None]
    if known:
        if all(reading == known[0] for reading in known):
            return known[0]
        if all(reading.pipeline == known[0].pipeline for reading in known):
            return TextReading(known[0].pipeline)
    return TextReading(Pipeline(resolve_normalizer(_BERT[0]), resolve_pre_tokenizer(_BERT[1])))


def _sized(text: HeldOutText) -> HeldOutText:
    """Return a text with its size, or with that of its words if it is unknown."""
    counts, read = text.counts, text.counts.statistics
    if text.characters:
        return text
    if read.characters and all(file.characters for file in read.files if file.words):  # else some are tables
        return dataclasses.replace(text, characters=read.characters, bytes=read.bytes, lines=read.lines)
    code_points, lengths = counts.characters()
    sizes = 1 + (code_points > 0x7F) + (code_points > 0x7FF) + (code_points > 0xFFFF)  # in UTF-8
    ends = np.append(0, np.cumsum(sizes))[np.append(0, np.cumsum(lengths))]
    size = int((np.diff(ends) * counts.counts).sum())
    return dataclasses.replace(text, characters=counts.symbols, bytes=size, lines=0)


@dataclass(frozen=True, slots=True)
class _Counted:
    """The tokens of a text; what unknown ones take besides; those of known words, and the fewest they can take."""

    usage: Usage
    learned: Usage | None  # on the rest of the text
    unknown_bits: float
    greedy: int
    fewest: int


def _measured(
    named: Mapping[str, Encoder], source: TextInFiles | TextInWords, common: TextReading, watch: Watch, has_gap: bool
) -> tuple[HeldOutText, dict[str, _Counted]]:
    whole = _sized(source.begin(common, watch))
    found: dict[str, _Counted] = {}
    for first in named.values():
        parts = None if first.reading is None else source.counted(first.reading, watch)
        for name, each in named.items():
            if name not in found and each.reading == first.reading:
                found[name] = _counted(name, each, source, parts, watch, has_gap)
    return whole, {name: found[name] for name in named}


def _counted(
    name: str, tokenizer: Encoder, source: TextInFiles | TextInWords,
    parts: tuple[HeldOutText, HeldOutText | None] | None, watch: Watch, has_gap: bool = False,
) -> _Counted:  # fmt: skip
    """Count the tokens of a text and of the rest: these `parts`, or what a library finds in them."""
    beside, learned = _Beside(tokenizer, has_gap=has_gap), None
    if parts is not None:
        usage = _usage(name, tokenizer, parts[0], watch, beside.see)
        learned = None if parts[1] is None else _usage(name, tokenizer, parts[1], watch)
    else:
        assert isinstance(tokenizer, LibraryEncoder)
        note = partial(watch.note, f"Tokenizing by {name}")
        usage = _usage_of_words(tokenizer, source.counted_by(tokenizer, note), beside.see)
        if isinstance(source, TextInFiles) and source.rest is not None:
            learned = _usage_of_words(tokenizer, source.counted_by(tokenizer, note, is_rest=True))
    return _Counted(usage, learned, beside.unknown_bits, beside.greedy, beside.fewest)


class _Beside:
    """What is found out about words while their tokens are counted: how unknown ones are spelled, and the fewest."""

    def __init__(self, tokenizer: Encoder, *, has_gap: bool) -> None:
        self._spelling = spelling_of(tokenizer)
        self._unknown = tokenizer.id_of(tokenizer.unk_token or "")
        self._shortest: FewestTokens | None = None
        if has_gap and isinstance(tokenizer, Tokenizer) and tokenizer.can_explain:
            self._shortest = FewestTokens(tokenizer.vocabulary)
        self.unknown_bits = 0.0
        self.greedy = self.fewest = 0

    def see(self, part: EncodedWords) -> None:
        ids, ends, words, weights = part
        is_unknown = (ids == NO_ID) | (ids == self._unknown)
        lengths = np.diff(ends, prepend=0)
        owners = np.unique(np.searchsorted(ends, np.flatnonzero(is_unknown), side="right"))
        if len(owners):
            # Where there are known tokens too, what the alphabet lacks is unknown.
            known = self._spelling.alphabet
            lost = [
                words[each] if lengths[each] == 1 else "".join(letter for letter in words[each] if letter not in known)
                for each in owners.tolist()
            ]
            self.unknown_bits += self._spelling.bits_of_unknown(lost, weights[owners])
        if self._shortest is None:
            return
        is_known = np.ones(len(ends), np.bool_)
        is_known[owners] = False
        tokens = int((lengths * weights)[is_known].sum())
        self.greedy, self.fewest = self.greedy + tokens, self.fewest + tokens
        for each in np.flatnonzero(is_known & (lengths > 2)).tolist():  # two are the fewest where one is not enough
            saved = int(lengths[each]) - self._shortest.number(words[each])
            self.fewest -= saved * int(weights[each])


def spelling_of(tokenizer: Encoder) -> Spelling:
    """Return how the tokens of a tokenizer are spelled."""
    special = {tokenizer.unk_token or "", *tokenizer.roles.values(), *getattr(tokenizer, "special_tokens", ())}
    if isinstance(tokenizer, Tokenizer):
        vocabulary = tokenizer.vocabulary
        affixes = vocabulary.continuing_subword_prefix, vocabulary.end_of_word_suffix or ""
        return Spelling.of(vocabulary.tokens, {*special, *vocabulary.special_tokens}, *affixes)
    prefix = "##" if tokenizer.kind == "WordPiece" else ""
    return Spelling.of(tokenizer.tokens, special, prefix, getattr(tokenizer, "end_of_word_suffix", ""))


def _usage(
    name: str, tokenizer: Encoder, text: HeldOutText, watch: Watch, see: Callable[[EncodedWords], None] | None = None
) -> Usage:
    counts = text.counts
    report = partial(watch.note, f"Tokenizing by {name}", total=len(counts))
    usage = count_usage(tokenizer, counts, watch.is_stopped, progress=report, see=see)
    found = Counter({tokenizer.id_of(token): count for token, count in text.spelled_out.items()})
    found[None] += text.special_tokens - sum(text.spelled_out.values())
    unknown = tokenizer.id_of(tokenizer.unk_token or "")
    found[unknown] += counts.statistics.skipped_words
    frequencies = usage.frequencies.copy()
    for token_id, count in found.items():
        if token_id is not None:
            frequencies[token_id] += count
    total = sum(found.values())
    whole = total - sum(found[each] for each in {None, unknown})
    return dataclasses.replace(
        usage, frequencies=frequencies, words=usage.words + total, tokens=usage.tokens + total,
        whole_occurrences=usage.whole_occurrences + whole,
    )  # fmt: skip


def _usage_of_words(
    tokenizer: Encoder, read: Iterable[CountedWord], see: Callable[[EncodedWords], None] | None = None
) -> Usage:
    """Return the tokens of words that a library found, with their ids; `see` is shown the same."""
    words: Counter[tuple[str, tuple[int, ...]]] = Counter()
    for word, ids, count in read:
        words[word, ids] += count
    found, counts = [*words], np.fromiter(words.values(), np.int64, len(words))

    def parts() -> Iterator[EncodedWords]:
        for part in slices(len(found)):
            encoded = encoded_words((ids for _, ids in found[part]), (), counts[part])
            if see is not None:
                see(encoded._replace(words=[word for word, _ in found[part]]))
            yield encoded

    return usage_in(tokenizer, parts())


def figures_of_fold(
    name: str, tokenizer: Encoder, fold: DividedCorpus, source: TextInFiles, share: float, watch: Watch
) -> tuple[TokenizerFigures, Usage]:
    """Return the figures of a tokenizer that was trained on the rest of a fold, and its tokens there.

    `source` is the text of both, which has begun, and `share` the part of it that is held out.
    """
    parts = None if tokenizer.reading is None else (fold.held_out, HeldOutText(fold.rest))
    counted = _counted(name, tokenizer, source, parts, watch)
    assert counted.learned is not None
    texts, given = [fold.held_out], counted.learned
    return _figures(name, tokenizer, texts, counted, given, alpha=ALPHA, coded_by="rest", share=share), given


def _learned(
    given: Mapping[str, Any], named: Mapping[str, Encoder], found: Sequence[Mapping[str, _Counted]], watch: Watch
) -> tuple[dict[str, Usage | None], CodedBy]:
    """Return the tokens of the training part of each tokenizer; all have the same kind of one, or none."""
    if all(each.learned is not None for counted in found for each in counted.values()):
        return {name: _summed([each[name] for each in found]).learned for name in named}, "rest"
    known = {name: getattr(each, "counts", None) for name, each in given.items()}
    words = {name: HeldOutText(counts) for name, counts in known.items() if isinstance(counts, WordCounts)}
    if len(words) < len(given):
        return {}, "before"
    return {name: _usage(name, named[name], text, watch) for name, text in words.items()}, "training"


def _summed(found: Sequence[_Counted]) -> _Counted:
    """Return what was counted of several texts together; the words in which tokens are may be counted several times."""
    usage = Usage(*_sums([dataclasses.astuple(each.usage) for each in found]))
    learned = [dataclasses.astuple(each.learned) for each in found if each.learned is not None]
    others = _sums([(each.unknown_bits, each.greedy, each.fewest) for each in found])
    return _Counted(usage, Usage(*_sums(learned)) if learned else None, *others)


def _sums(values: Sequence[tuple[Any, ...]]) -> list[Any]:
    return [sum(each[1:], each[0]) for each in zip(*values, strict=True)]


def _with_unknown(usage: Usage) -> NDArray[np.int64]:
    """Return how often each token occurs; the last is the unknown one if the vocabulary has none."""
    return np.append(usage.frequencies, usage.tokens - usage.frequencies.sum())


def _figures(
    name: str, tokenizer: Encoder, texts: Sequence[HeldOutText], found: _Counted, learned: Usage | None, *,
    alpha: float, coded_by: CodedBy, share: float,
) -> TokenizerFigures:  # fmt: skip
    usage, counts = found.usage, _with_unknown(found.usage)
    shares = counts[counts > 0] / max(usage.tokens, 1)
    unknown = tokenizer.id_of(tokenizer.unk_token or "")
    trained = None if learned is None else _with_unknown(learned)
    entries = len(tokenizer) + bool(counts[-1] or (trained is not None and trained[-1]))
    bits = adaptive_code_bits(counts, entries) if trained is None else code_bits(counts, trained, entries)
    return TokenizerFigures(
        name, tokenizer.kind, vocabulary_size=len(tokenizer), words=sum(text.words for text in texts),
        own_words=usage.words, whole_words=usage.whole_occurrences, tokens=usage.tokens,
        characters=sum(text.characters for text in texts), bytes=sum(text.bytes for text in texts),
        unknown=usage.unknown_occurrences if unknown is None else int(usage.frequencies[unknown]),
        used=int(np.count_nonzero(usage.frequencies)), renyi_efficiency=renyi_efficiency(shares, alpha),
        code_length=bits + found.unknown_bits, vocabulary_bits=spelling_of(tokenizer).bits, coded_by=coded_by,
        lines=sum(text.lines for text in texts), share=share,
        greedy_gap=found.greedy / found.fewest if found.fewest else None,
    )  # fmt: skip


def renyi_efficiency(shares: NDArray[np.float64], alpha: float = ALPHA) -> float:
    """Return the Rényi entropy of tokens with these shares divided by its maximum; order 1 gives the Shannon entropy.

    >>> renyi_efficiency(np.array([0.25] * 4))
    1.0
    """
    if len(shares) < 2:
        return math.nan
    if abs(alpha - 1) < _AS_GOOD_AS_1:
        entropy = (shares * np.log2(1 / shares)).sum()
    else:
        largest = shares.max()  # so that no power of it becomes 0
        entropy = (np.log2(((shares / largest) ** alpha).sum()) / alpha + np.log2(largest)) * (alpha / (1 - alpha))
    return float(entropy / np.log2(len(shares)))


def _with_parity(figures: TokenizerFigures, first: TokenizerFigures) -> TokenizerFigures:
    return dataclasses.replace(figures, parity=figures.tokens / first.tokens if first.tokens else math.nan)
