"""Which of several tokenizers does better on a text: figures for each, in one table.

Each is measured as it tokenizes for its users: WordPiece by longest match, byte pair encoding by its merges, what
another library runs by that library. The text is not tokenized but counted, line by line: once for all tokenizers that
find words alike, and each distinct word is tokenized once. Only a tokenizer whose way to find words is unknown here
reads the text itself.

The definitions are those of `TokenizerFigures`. Not here: the texts (`held_out`), and counting tokens (`usage`).
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

from wordpiece_studio.corpus.counts import is_mapping
from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.held_out import Watch, texts_by_name
from wordpiece_studio.evaluation.usage import MUCH_UNKNOWN, Usage, count_usage, encoded_words, usage_in
from wordpiece_studio.system.arrays import slices
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer
from wordpiece_studio.tokenizer.encoding import Encoder, LibraryEncoder
from wordpiece_studio.tokenizer.vocabulary import TextReading
from wordpiece_studio.training.trainer import TrainingRun

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.evaluation.held_out import HeldOutText, Report, Text, TextInFiles, TextInWords

    Measurable = Encoder | TrainingRun | Any  # or a `LibraryRun`

ALPHA = 2.5  # the order of the Rényi entropy that Zouhar et al. found to predict best how well models translate
_AS_GOOD_AS_1 = 1e-7  # nearer to it, the general formula divides one error of rounding by another
_BERT = "bert-cased", "bert"


@dataclass(frozen=True, slots=True)
class TokenizerFigures:
    """What a tokenizer makes of a text.

    Attributes
    ----------
    name, kind
        Of the tokenizer; the kind is ``"WordPiece"``, ``"BPE"``, ``"Unigram"`` and so on.
    vocabulary_size
        How many tokens it has.
    words
        How many words the text has, the same for all tokenizers, see `evaluate`.
    own_words, whole_words
        How many words and added tokens the tokenizer itself finds, and how many of these are one token, and known.
    characters, bytes
        The size of the text in code points and in UTF-8, white space included; for words with their counts, if the text
        is unknown, the size of the words.
    tokens
        How many tokens it makes.
    unknown
        How many of them are the unknown token.
    used
        How many different tokens it makes.
    renyi_efficiency
        The Rényi entropy of its tokens, divided by the logarithm of `used` (Zouhar et al. 2023): 1 if all occur equally
        often; not a number if there is only one.
    code_length
        How many bits its tokens take in the best code that gives each token a word of its own, which ``-log2`` of its
        share is long: their number times their Shannon entropy.
    parity
        How many tokens it makes for each one that it makes of the first text (Petrov et al. 2023), if the texts say
        the same in different languages; None if they do not.
    """

    name: str
    kind: str
    vocabulary_size: int
    words: int
    own_words: int
    whole_words: int
    characters: int
    bytes: int
    tokens: int
    unknown: int
    used: int
    renyi_efficiency: float
    code_length: float
    parity: float | None = None

    @property
    def tokens_per_word(self) -> float:
        """Tokens divided by words, also called fertility."""
        return self.tokens / self.words

    @property
    def characters_per_token(self) -> float:
        """Characters of the text divided by tokens."""
        return self.characters / self.tokens if self.tokens else math.nan

    @property
    def bytes_per_token(self) -> float:
        """Bytes of the text divided by tokens."""
        return self.bytes / self.tokens if self.tokens else math.nan

    @property
    def unknown_share(self) -> float:
        """The share of tokens that are the unknown one."""
        return self.unknown / self.tokens if self.tokens else 0.0

    @property
    def loses_text(self) -> bool:
        """Whether so many tokens are the unknown one, over 1%, that `tokens_per_word` is better than it should be."""
        return self.unknown_share > MUCH_UNKNOWN

    @property
    def whole_share(self) -> float:
        """The share of its own words that it keeps whole."""
        return self.whole_words / self.own_words if self.own_words else 0.0

    @property
    def used_share(self) -> float:
        """The share of the vocabulary that the text uses."""
        return self.used / self.vocabulary_size if self.vocabulary_size else 0.0

    @property
    def bits_per_character(self) -> float:
        """The code length divided by the characters of the text."""
        return self.code_length / self.characters if self.characters else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return all figures, for JSON: what is not a number is None."""
        names = dict.fromkeys(field.name for field in dataclasses.fields(self))
        names |= dict.fromkeys(_COLUMNS)  # the ratios among them are no fields
        return {name: known(self, name) for name in names}


# Of a table: for each figure the title, and how it is written.
_COLUMNS = {
    "name": ("tokenizer", "{}"),
    "vocabulary_size": ("size", "{:,}"),
    "tokens_per_word": ("tokens per word", "{:.3f}"),
    "characters_per_token": ("characters per token", "{:.3f}"),
    "bytes_per_token": ("bytes per token", "{:.3f}"),
    "unknown_share": ("unknown", "{:.2%}"),
    "whole_share": ("whole words", "{:.1%}"),
    "used_share": ("tokens used", "{:.1%}"),
    "renyi_efficiency": ("Rényi", "{:.4f}"),
    "bits_per_character": ("bits per character", "{:.3f}"),
    "parity": ("parity", "{:.3f}"),
}


def known(figures: TokenizerFigures | None, name: str) -> Any:
    value = getattr(figures, name, None)
    return None if value != value else value


def figure_text(figures: TokenizerFigures, name: str) -> str:
    """Return a figure as it stands in a table: a dash for what is not a number, in brackets what looks too good."""
    value = known(figures, name)
    if value is None:
        return "–"
    written = _COLUMNS[name][1].format(value)
    return f"({written})" if name == "tokens_per_word" and figures.loses_text else written


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The figures of tokenizers on a text.

    Attributes
    ----------
    figures
        Those of each tokenizer on all of the text.
    parts
        Those on each text, by its name, if texts with names were given.
    words_of
        The normalizer and the pre-tokenizer that decide what a word is.
    """

    figures: tuple[TokenizerFigures, ...]
    parts: Mapping[str, tuple[TokenizerFigures, ...]]
    words_of: tuple[str, str]

    def __repr__(self) -> str:
        shown = ", ".join(f"{each.name} {each.tokens_per_word:.3f}" for each in self.figures[:8])
        more = ", …" if len(self.figures) > 8 else ""
        return f"<Evaluation, tokens per word: {shown}{more}>"

    def _repr_html_(self) -> str:
        from wordpiece_studio.notebook import evaluation_html

        return evaluation_html(list(self.tables()), self.figures[0].words, self.words_of)

    def tables(self) -> Iterator[tuple[str, list[list[str]]]]:
        """Yield a table of all of the text, named ``""``, and one of each part: rows of cells, the first the titles."""
        for name, figures in (("", self.figures), *self.parts.items()):
            columns = [column for column in _COLUMNS if any(getattr(each, column) is not None for each in figures)]
            rows = [[figure_text(each, column) for column in columns] for each in figures]
            yield name, [[_COLUMNS[column][0] for column in columns], *rows]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
        return {
            "words_of": dict(zip(("normalizer", "pre_tokenizer"), self.words_of, strict=True)),
            "figures": [each.to_dict() for each in self.figures],
            "parts": {name: [each.to_dict() for each in figures] for name, figures in self.parts.items()},
        }


def evaluate(
    tokenizers: Mapping[str, Measurable] | Iterable[Measurable] | Measurable,
    on: Text | Mapping[str, Text] = (),
    *,
    texts: Iterable[str] | Mapping[str, Iterable[str]] = (),
    alpha: float = ALPHA,
    is_parallel: bool = False,
    is_held_out: bool = False,
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
        Whether to measure only on the part of each text that `divided_corpus` holds out.
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
    named = named_tokenizers(tokenizers)
    sources = texts_by_name(on, texts, is_held_out=is_held_out)
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
        part: _measured(named, source, common, Watch(progress, should_stop, part)) for part, source in sources.items()
    }
    parts = {
        part: tuple(_figures(name, named[name], [text], usage, alpha) for name, usage in usages.items())
        for part, (text, usages) in measured.items()
    }
    if is_parallel:
        _check_lines({part: text.lines for part, (text, _) in measured.items()})
        first = next(iter(parts.values()))
        parts = {part: tuple(map(_with_parity, figures, first)) for part, figures in parts.items()}
    all_texts = [text for text, _ in measured.values()]
    usages = {name: _summed([found[name] for _, found in measured.values()]) for name in named}
    total = tuple(_figures(name, each, all_texts, usages[name], alpha) for name, each in named.items())
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


def named_tokenizers(tokenizers: Any) -> dict[str, Encoder]:
    if not isinstance(tokenizers, Iterable) or isinstance(tokenizers, str | bytes):
        tokenizers = [tokenizers]
    if not is_mapping(tokenizers):
        names = (chr(65 + number) if number < 26 else str(number + 1) for number in range(1 << 30))
        tokenizers = dict(zip(names, tokenizers, strict=False))
    if not tokenizers:
        raise StudioError("There is no tokenizer to measure", "Pass at least one.")
    return {str(name): _tokenizer_of(each) for name, each in tokenizers.items()}


def _tokenizer_of(given: Any) -> Encoder:
    if isinstance(given, Encoder):
        return given
    if isinstance(given, TrainingRun):
        return given.bpe_tokenizer() if given.config.is_byte_pair_encoding else given.tokenizer()
    made = getattr(given, "tokenizer", None)  # by another library
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
    if read.characters:
        return dataclasses.replace(text, characters=read.characters, bytes=read.bytes, lines=read.lines)
    code_points, lengths = counts.characters()
    sizes = 1 + (code_points > 0x7F) + (code_points > 0x7FF) + (code_points > 0xFFFF)  # in UTF-8
    ends = np.append(0, np.cumsum(sizes))[np.append(0, np.cumsum(lengths))]
    size = int((np.diff(ends) * counts.counts).sum())
    return dataclasses.replace(text, characters=counts.symbols, bytes=size, lines=0)


def _measured(
    named: Mapping[str, Encoder], source: TextInFiles | TextInWords, common: TextReading, watch: Watch
) -> tuple[HeldOutText, dict[str, Usage]]:
    whole = _sized(source.begin(common, watch))
    usages: dict[str, Usage] = {}
    for first in named.values():
        alike = [name for name, each in named.items() if name not in usages and each.reading == first.reading]
        if first.reading is not None:
            text = source.counted(first.reading, watch)
            usages |= {name: _usage(name, named[name], text, watch) for name in alike}
        else:
            usages |= {name: _usage_by_library(name, named[name], source, watch) for name in alike}  # type: ignore[arg-type]
    return whole, {name: usages[name] for name in named}


def _usage(name: str, tokenizer: Encoder, text: HeldOutText, watch: Watch) -> Usage:
    counts = text.counts
    report = partial(watch.note, f"Tokenizing by {name}", total=len(counts))
    usage = count_usage(tokenizer, counts, watch.is_stopped, progress=report)
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


def _usage_by_library(name: str, tokenizer: LibraryEncoder, source: TextInFiles | TextInWords, watch: Watch) -> Usage:
    words: Counter[tuple[str, tuple[int, ...]]] = Counter()
    for word, ids, count in source.counted_by(tokenizer, partial(watch.note, f"Tokenizing by {name}")):
        words[word, ids] += count
    found, counts = [*words], np.fromiter(words.values(), np.int64, len(words))
    parts = (encoded_words((ids for _, ids in found[part]), (), counts[part]) for part in slices(len(found)))
    return usage_in(tokenizer, parts)


def _summed(usages: Sequence[Usage]) -> Usage:
    """Return the usage of several texts together; the words in which tokens are may be counted several times."""
    values = zip(*(dataclasses.astuple(usage) for usage in usages), strict=True)
    return Usage(*(sum(each[1:], each[0]) for each in values))


def _figures(
    name: str, tokenizer: Encoder, texts: Sequence[HeldOutText], usage: Usage, alpha: float
) -> TokenizerFigures:
    frequencies = usage.frequencies[usage.frequencies > 0]
    without_id = usage.tokens - int(frequencies.sum())
    shares = np.append(frequencies, [without_id] if without_id else []) / max(usage.tokens, 1)
    unknown = tokenizer.id_of(tokenizer.unk_token or "")
    return TokenizerFigures(
        name, tokenizer.kind, vocabulary_size=len(tokenizer), words=sum(text.words for text in texts),
        own_words=usage.words, whole_words=usage.whole_occurrences, tokens=usage.tokens,
        characters=sum(text.characters for text in texts), bytes=sum(text.bytes for text in texts),
        unknown=usage.unknown_occurrences if unknown is None else int(usage.frequencies[unknown]),
        used=len(frequencies), renyi_efficiency=renyi_efficiency(shares, alpha),
        code_length=usage.tokens * float((shares * np.log2(1 / shares)).sum()),
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
