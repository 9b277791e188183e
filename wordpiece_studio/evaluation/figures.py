"""Which of several tokenizers does better on a text: figures for each, in one table.

The definitions are those of `TokenizerFigures`. Not here: how a text is measured (`evaluating`).
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.usage import MUCH_UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Literal

    CodedBy = Literal["rest", "training", "before"]


_LEVEL = 0.95  # of intervals


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of a paired difference over the folds, and the ends of its interval.

    >>> difference([1.0, 1.2, 1.1], [1.1, 1.1, 1.1]).may_be_zero
    True
    """

    mean: float
    low: float
    high: float

    @property
    def may_be_zero(self) -> bool:
        """Whether 0 lies in the interval: the data do not say which of the two is larger."""
        return self.low <= 0 <= self.high


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
        How many bits its tokens take if each takes ``-log2`` of its share, which was learned before: its count on the
        training part plus one, divided by all of them. An unknown token takes the spelling of what it stands for too,
        see `coding.Spelling`.
    vocabulary_bits
        How many bits the vocabulary itself takes, spelled in its alphabet: ``log2`` of the size of the alphabet plus
        one for each character and each end.
    coded_by
        The training part: ``"rest"``, what is not held out of the text; ``"training"``, the words that the tokenizer
        was trained on; ``"before"``, if that is not known, for each token those before it in the text.
    lines
        How many lines the text has; 0 if unknown.
    share
        The share of the characters of all of the text that are measured on: 1 unless a part of it is held out.
    greedy_gap
        The tokens of longest match divided by the fewest possible with the same vocabulary, in known words; None
        unless asked for, or if the tokenizer does not use longest match.
    folds, is_retrained
        The figures on each block, if there are several: then all numbers of the text are sums, and the others means;
        and whether it was trained for each block on the others.
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
    vocabulary_bits: float = math.nan
    coded_by: CodedBy = "before"
    lines: int = 0
    share: float = 1.0
    greedy_gap: float | None = None
    parity: float | None = None
    folds: tuple[TokenizerFigures, ...] = ()
    is_retrained: bool = False

    @property
    def tokens_per_word(self) -> float:
        """Tokens divided by words, also called fertility."""
        return self.tokens / self.words

    @property
    def tokens_per_line(self) -> float:
        """Tokens divided by lines: what remains where a whole line has no spaces and is one word."""
        return self.tokens / self.lines if self.lines else math.nan

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

    @property
    def description_length(self) -> float:
        """The bits of the vocabulary and of all of the text (Rissanen 1978), whose rest takes as many as its share."""
        return self.code_length / self.share + self.vocabulary_bits

    @property
    def renyi_of_vocabulary(self) -> float:
        """The Rényi entropy divided by the logarithm of the whole vocabulary's size, not of `used`."""
        if self.used < 2:
            return math.nan
        return self.renyi_efficiency * math.log(self.used) / math.log(self.vocabulary_size)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures, for JSON: what is not a number is None."""
        names = dict.fromkeys(field.name for field in dataclasses.fields(self))
        names |= dict.fromkeys(_COLUMNS)  # the ratios among them are no fields
        found = {name: known(self, name) for name in names}
        if self.folds:
            values = {name: values_of(self, name) for name in _COLUMNS}
            found["deviations"] = {name: statistics.stdev(each) for name, each in values.items() if each}
        return found | {"folds": [each.to_dict() for each in self.folds]}


def _kilobytes(bits: float) -> str:
    return f"{bits / 8000:,.1f} kB"


# Of a table: for each figure the title, how it is written, and which value is the best.
_COLUMNS: dict[str, tuple[str, Callable[[Any], str], Callable[..., Any] | None]] = {
    "name": ("tokenizer", "{}".format, None),
    "vocabulary_size": ("size", "{:,}".format, None),
    "tokens_per_word": ("tokens per word", "{:.3f}".format, min),
    "tokens_per_line": ("tokens per line", "{:.2f}".format, min),
    "characters_per_token": ("characters per token", "{:.3f}".format, max),
    "bytes_per_token": ("bytes per token", "{:.3f}".format, max),
    "unknown_share": ("unknown", "{:.2%}".format, min),
    "whole_share": ("whole words", "{:.1%}".format, max),
    "used_share": ("tokens used", "{:.1%}".format, max),
    "renyi_efficiency": ("Rényi", "{:.4f}".format, max),
    "renyi_of_vocabulary": ("Rényi of vocabulary", "{:.4f}".format, max),
    "bits_per_character": ("bits per character", "{:.3f}".format, min),
    "vocabulary_bits": ("vocabulary", _kilobytes, None),
    "description_length": ("description length", _kilobytes, min),
    "greedy_gap": ("greedy gap", "{:.4f}".format, min),
    "parity": ("parity", "{:.3f}".format, None),
}
BEST = {name: best for name, (_, _, best) in _COLUMNS.items() if best is not None}


def checked_column(name: str) -> str:
    """Return the name of a column, whose words may be joined by hyphens as on the command line."""
    if name.replace("-", "_") not in _COLUMNS:
        names = ", ".join(column.replace("_", "-") for column in _COLUMNS)
        raise StudioError("There is no column {name}", "Use one of {names}.", name=name, names=names)
    return name.replace("-", "_")


def known(figures: TokenizerFigures | None, name: str) -> Any:
    """Return a figure, over folds the mean; None if it is not a number."""
    values = [] if figures is None else values_of(figures, name)
    value = statistics.fmean(values) if values else getattr(figures, name, None)
    return None if value != value else value


def values_of(figures: TokenizerFigures, name: str) -> list[float]:
    """Return a column of a table on each of its folds; none if one of them is not a number."""
    values = [getattr(each, name) for each in figures.folds if name in _COLUMNS]
    return [] if any(not isinstance(each, float) or each != each for each in values) else values


def figure_text(figures: TokenizerFigures, name: str) -> str:
    """Return a figure as it stands in a table: a dash for what is not a number, in brackets what looks too good.

    Over folds it is ``mean ± standard deviation``.
    """
    value, values = known(figures, name), values_of(figures, name)
    if value is None:
        return "–"
    write = _COLUMNS[name][1]
    written = f"{write(value)} ± {write(statistics.stdev(values))}" if values else write(value)
    return f"({written})" if name == "tokens_per_word" and figures.loses_text else written


def losing(figures: Sequence[TokenizerFigures]) -> list[TokenizerFigures]:
    """Return those of tokenizers that lose more of the text than others: their other figures say little."""
    least = min((each.unknown_share for each in figures), default=0.0)
    return [each for each in figures if each.unknown_share > least + MUCH_UNKNOWN]


def best_of(figures: Sequence[TokenizerFigures], name: str) -> list[TokenizerFigures]:
    """Return those with the best value, as it is written; over folds, with those whose difference to it may be 0.

    Those that lose text are left out: it makes their figures look good.
    """
    lossy = losing(figures)
    sound = [each for each in figures if each not in lossy and known(each, name) is not None]
    if name not in BEST or not sound:
        return []
    first = BEST[name](sound, key=lambda each: known(each, name))
    values, written = values_of(first, name), figure_text(first, name)

    def is_as_good(each: TokenizerFigures) -> bool:
        own = values_of(each, name)
        return difference(own, values).may_be_zero if own and values else figure_text(each, name) == written

    return [each for each in sound if is_as_good(each)]


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
        """Yield a table of all of the text, named ``""``, and one of each part: rows of cells, the first the titles.

        Over folds, a star stands after the best of each column and those whose difference to it may be 0.
        """
        for name, figures in (("", self.figures), *self.parts.items()):
            columns = [column for column in _COLUMNS if any(getattr(each, column) is not None for each in figures)]
            is_marked = len(figures) > 1 and bool(figures[0].folds)
            best = {column: best_of(figures, column) if is_marked else [] for column in columns}
            rows = [[figure_text(each, at) + " *" * (each in best[at]) for at in columns] for each in figures]
            yield name, [[_COLUMNS[column][0] for column in columns], *rows]

    def sorted_by(self, column: str) -> Evaluation:
        """Return the same with the best value of a column first, or the smallest where none is the best.

        Raises
        ------
        StudioError
            If there is no such column.
        """
        column = checked_column(column)

        def in_order(figures: Sequence[TokenizerFigures]) -> tuple[TokenizerFigures, ...]:
            there = [each for each in figures if known(each, column) is not None]
            there.sort(key=lambda each: known(each, column), reverse=BEST.get(column) is max)
            return (*there, *(each for each in figures if each not in there))

        parts = {name: in_order(figures) for name, figures in self.parts.items()}
        return dataclasses.replace(self, figures=in_order(self.figures), parts=parts)

    def difference(self, first: str, second: str, column: str = "tokens_per_word") -> Difference:
        """Return the paired difference of a figure of two tokenizers over the folds, with its interval of 95%.

        Raises
        ------
        StudioError
            If there is no such tokenizer, or the figure is not known on several folds.
        """
        named = {each.name: each for each in self.figures}
        one, other = (values_of(named[name], column) if name in named else [] for name in (first, second))
        if len(one) != len(other) or len(one) < 2:
            what = "{first} and {second} have no {column} on several folds"
            advice = "Use cross_validate, and the names of its tokenizers."
            raise StudioError(what, advice, first=first, second=second, column=column)
        return difference(one, other)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
        return {
            "words_of": dict(zip(("normalizer", "pre_tokenizer"), self.words_of, strict=True)),
            "figures": [each.to_dict() for each in self.figures],
            "parts": {name: [each.to_dict() for each in figures] for name, figures in self.parts.items()},
        }


def difference(first: Sequence[float], second: Sequence[float]) -> Difference:
    """Return the difference first - second over the same two or more folds, with its interval.

    Each fold judges by one block of a text what was trained on the n - 1 others. As these overlap, the variance is
    multiplied by 1/n + 1/(n - 1) (Nadeau and Bengio 2003, "Inference for the Generalization Error", Machine Learning).
    """
    apart, folds = [one - other for one, other in zip(first, second, strict=True)], len(first)
    mean, deviation = statistics.fmean(apart), statistics.stdev(apart)
    half = t_quantile((1 + _LEVEL) / 2, folds - 1) * deviation * math.sqrt(1 / folds + 1 / (folds - 1))
    return Difference(mean, mean - half, mean + half)


def t_quantile(probability: float, degrees: int) -> float:
    """Return the quantile of Student's t for a probability of 0.5 or more and whole degrees of freedom.

    Its distribution is a finite sum of powers of a cosine (Abramowitz and Stegun 26.7.3 and 26.7.4); the angle is found
    by halving.

    >>> round(t_quantile(0.975, 9), 4)
    2.2622
    """
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        sine, cosine, is_odd = math.sin(angle), math.cos(angle), degrees % 2
        term, total = (cosine, 0.0) if is_odd else (1.0, 0.0)
        for power in range(2 + is_odd, degrees + 1, 2):  # as many terms as the sum has
            total += term
            term *= cosine**2 * (power - 1) / power
        within = 2 / math.pi * (angle + sine * total) if is_odd else sine * total  # plus and minus the quantile
        low, high = (angle, high) if within < 2 * probability - 1 else (low, angle)
    return math.sqrt(degrees) * math.tan(low)
