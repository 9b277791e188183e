"""Which size a vocabulary should have: its figures over the size, and what three rules advise.

A corpus is divided into folds. Vocabularies are trained on the others of them and measured on the one left out, each
size by longest match with all the tokens it has, as it will be used. So there is a mean for each size, with a standard
deviation. Not here: how vocabularies of many sizes come from one training (`libraries.sweep`).
"""

from __future__ import annotations

import dataclasses
import math
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.evaluating import figures_of_fold
from wordpiece_studio.evaluation.figures import Difference, difference
from wordpiece_studio.tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from wordpiece_studio.evaluation.figures import TokenizerFigures
    from wordpiece_studio.evaluation.held_out import DividedCorpus, TextInFiles, Watch
    from wordpiece_studio.tokenizer.encoding import Encoder

RuleName = Literal["description", "frequency", "doubling"]
USUAL_SIZES, NUMBER_OF_SIZES = "1000..64000", 10
FREQUENT, FREQUENT_SHARE, LEAST_SAVING = 100, 0.95, 0.05


@dataclass(frozen=True, slots=True)
class SizeFigures:
    """What a vocabulary of one size makes of the fold that it was not trained on.

    Attributes
    ----------
    figures
        Those that `evaluate` gives, with bits by what was trained on.
    frequent_share
        The share of the vocabulary, special tokens aside, that occurs 100 times or more in what was trained on.
    """

    figures: TokenizerFigures
    frequent_share: float

    @property
    def size(self) -> int:
        """How many tokens the vocabulary has."""
        return self.figures.vocabulary_size


def size_figures(
    name: str, tokenizer: Encoder, fold: DividedCorpus, source: TextInFiles, share: float, watch: Watch
) -> SizeFigures:
    """Return the figures of a tokenizer that was trained on the rest of a fold; arguments as for `figures_of_fold`."""
    figures, learned = figures_of_fold(name, tokenizer, fold, source, share, watch)
    special = {tokenizer.unk_token or "", *tokenizer.roles.values(), *getattr(tokenizer, "special_tokens", ())}
    if isinstance(tokenizer, Tokenizer):
        special |= {*tokenizer.vocabulary.special_tokens, *tokenizer.vocabulary.user_tokens}
    ids = [token_id for token in special if (token_id := tokenizer.id_of(token)) is not None]
    frequent = learned.frequencies >= FREQUENT
    frequent[ids] = False
    return SizeFigures(figures, int(frequent.sum()) / max(len(tokenizer) - len({*ids}), 1))


@dataclass(frozen=True, slots=True)
class SizeRule:
    """A rule that advises a size: what it asks, and who says so."""

    name: RuleName
    title: str
    meaning: str
    source: str


RULES: tuple[SizeRule, ...] = (
    SizeRule(
        "description",
        "shortest description",
        "the corpus in the code that was learned and the vocabulary spelled out take the fewest bits together",
        "Rissanen 1978, Modeling by shortest data description",
    ),
    SizeRule(
        "frequency",
        "95% occur 100 times",
        "the largest vocabulary of which 95% of the tokens occur 100 times or more where it was trained",
        "Gowda and May 2020, Finding the Optimal Vocabulary Size for Neural Machine Translation",
    ),
    SizeRule(
        "doubling",
        "doubling saves under 5%",
        "the size from which a vocabulary of twice the size saves less than 5% of the tokens",
        "a rule of thumb",
    ),
)


@dataclass(frozen=True, slots=True)
class SizeAdvice:
    """What a rule advises for a method.

    Attributes
    ----------
    rule, method
        The names of both.
    size
        The size, one of those that were measured; None if the rule holds for none of them.
    is_at_edge
        Whether it is the smallest or the largest of them, so that sizes beyond may be better.
    """

    rule: RuleName
    method: str
    size: int | None
    is_at_edge: bool = False


def kilobits(bits: float) -> str:
    return f"{bits / 1000:,.1f}"


FIGURES: dict[str, tuple[str, Callable[[float], str]]] = {
    "tokens_per_word": ("tokens per word", "{:.3f}".format),
    "bits_per_character": ("bits per character", "{:.3f}".format),
    "vocabulary_bits": ("vocabulary, kbit", kilobits),
    "description_length": ("description length, kbit", kilobits),
    "frequent_share": ("tokens seen 100 times or more", "{:.1%}".format),
    "unknown_share": ("unknown tokens", "{:.2%}".format),
}  # of each size: the title, and how it is written


@dataclass(frozen=True, slots=True)
class Sweep:
    """The figures of vocabularies by method, fold and size; and which sizes three rules advise.

    Attributes
    ----------
    sizes
        The sizes, ascending: those which every method reaches in every fold.
    methods
        By the name of each method, the figures of each fold by size.
    words_of
        The normalizer and the pre-tokenizer that decide what a word is.
    """

    sizes: tuple[int, ...]
    methods: Mapping[str, tuple[tuple[SizeFigures, ...], ...]]
    words_of: tuple[str, str]

    def __repr__(self) -> str:
        return f"<Sweep: {', '.join(self.methods)}; {len(self.sizes)} sizes, {self.folds} folds>"

    @property
    def folds(self) -> int:
        """How many folds there are; 1 if a single part was held out."""
        return len(next(iter(self.methods.values())))

    def values(self, method: str, figure: str) -> NDArray[np.float64]:
        """Return a figure of a method, one of `TokenizerFigures` or its own: float64 of shape (n_folds, n_sizes)."""
        found = self.methods[method]
        own = figure == "frequent_share"
        rows = [[getattr(each if own else each.figures, figure) for each in fold] for fold in found]
        return np.array(rows, np.float64)

    def mean(self, method: str, figure: str) -> NDArray[np.float64]:
        """Return the mean of a figure over the folds, float64 of shape (n_sizes,)."""
        mean: NDArray[np.float64] = self.values(method, figure).mean(axis=0)
        return mean

    def deviation(self, method: str, figure: str) -> NDArray[np.float64]:
        """Return the standard deviation of a figure over the folds, float64 of shape (n_sizes,); 0 for one fold."""
        values = self.values(method, figure)
        return values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(len(self.sizes))

    @property
    def advice(self) -> tuple[SizeAdvice, ...]:
        """What each rule advises for each method."""
        return tuple(self._advised(method, rule.name) for rule in RULES for method in self.methods)

    def advised(self, rule: str, method: str) -> int | None:
        """Return the size that a rule advises for a method; None if the rule holds for none of the sizes."""
        return next(each.size for each in self.advice if (each.rule, each.method) == (rule, method))

    def _advised(self, method: str, rule: RuleName) -> SizeAdvice:
        place = self._place(method, rule)
        if place is None:
            return SizeAdvice(rule, method, None)
        # Of the doubled sizes the largest is no edge: beyond it, nothing is known to be better.
        edges = {0} if rule == "doubling" else {0, len(self.sizes) - 1}
        return SizeAdvice(rule, method, self.sizes[place], place in edges)

    def _place(self, method: str, rule: RuleName) -> int | None:
        if rule == "description":
            return int(np.argmin(self.mean(method, "description_length")))
        if rule == "frequency":
            holds = np.flatnonzero(self.mean(method, "frequent_share") >= FREQUENT_SHARE)
            return int(holds[-1]) if len(holds) else None
        saved = self.saved_by_doubling(method)
        known = np.flatnonzero(~np.isnan(saved))
        little = saved[known] < LEAST_SAVING
        if not len(known) or not little[-1]:
            return None
        much = np.flatnonzero(~little)
        return int(known[much[-1] + 1 if len(much) else 0])

    def saved_by_doubling(self, method: str) -> NDArray[np.float64]:
        """Return the share of tokens that a vocabulary of twice the size saves, float64 of shape (n_sizes,).

        Between sizes, tokens follow a line over the logarithm of the size; where twice the size is beyond the largest,
        it is not a number.
        """
        sizes, tokens = np.log(self.sizes), self.mean(method, "tokens")
        doubled = np.interp(sizes + math.log(2), sizes, tokens, right=math.nan)
        found: NDArray[np.float64] = 1 - doubled / tokens
        return found

    def best(self, rule: RuleName = "description") -> tuple[str, int] | None:
        """Return the method with the shortest description at the size that a rule advises for it, and that size."""
        sizes = {each.method: each.size for each in self.advice if each.rule == rule and each.size is not None}
        lengths = {
            method: self.mean(method, "description_length")[self.sizes.index(size)] for method, size in sizes.items()
        }
        method = min(lengths, key=lengths.__getitem__, default=None)
        return None if method is None else (method, sizes[method])

    def as_good(self, rule: RuleName = "description") -> dict[str, Difference]:
        """Return, of each other method, by how many bits its description is longer than the best one's.

        Each is taken at the size advised for it; nothing is returned of a single fold.
        """
        best = self.best(rule)
        if best is None or self.folds < 2:
            return {}
        sizes = {each.method: each.size for each in self.advice if each.rule == rule and each.size is not None}
        lengths = {
            method: self.values(method, "description_length")[:, self.sizes.index(size)].tolist()
            for method, size in sizes.items()
        }
        return {name: difference(each, lengths[best[0]]) for name, each in lengths.items() if name != best[0]}

    def rows(self, method: str) -> list[list[str]]:
        """Return the figures of a method as a table: rows of cells, the first the titles, then one for each size.

        A mean stands with the standard deviation, in the last column which rules advise the size.
        """
        found = [["size", *(title for title, _ in FIGURES.values()), "advised by"]]
        columns = [(self.mean(method, name), self.deviation(method, name), text) for name, (_, text) in FIGURES.items()]
        for place, size in enumerate(self.sizes):
            by = (rule.title for rule in RULES if self.advised(rule.name, method) == size)
            cells = (
                text(mean[place]) + (f" ± {text(sd[place])}" if self.folds > 1 else "") for mean, sd, text in columns
            )
            found.append([f"{size:,}", *cells, ", ".join(by)])
        return found

    def conclusions(self) -> list[str]:
        """Return what follows, in sentences: where rules disagree, and which method has the shortest description."""
        found = []
        for method in self.methods:
            advice = [each for each in self.advice if each.method == method]
            said = (
                f"{rule.title}, {'none of these sizes' if each.size is None else f'{each.size:,} tokens'}"
                for rule, each in zip(RULES, advice, strict=True)
            )
            verb = "agree" if len({each.size for each in advice}) == 1 else "disagree"
            found.append(f"The rules {verb} on {method}: {'; '.join(said)}.")
            found += [
                f"For {method}, {each.size:,} tokens is the {'smallest' if each.size == self.sizes[0] else 'largest'} "
                "size measured: one beyond it may be better."
                for each in advice
                if each.is_at_edge
            ]
        best = self.best()
        assert best is not None  # this rule holds for some size
        shortest = self.mean(best[0], "description_length")[self.sizes.index(best[1])]
        found.append(f"The shortest description is that of {best[0]} at {best[1]:,} tokens: {kilobits(shortest)} kbit.")
        for name, each in self.as_good().items():
            size = self.advised("description", name)
            chance = "; the difference may be 0" if each.may_be_zero else ""
            longer = f"{kilobits(each.mean)} kbit longer (95% interval: {kilobits(each.low)} to {kilobits(each.high)})"
            found.append(f"That of {name} at {size:,} tokens is {longer}{chance}.")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON: what is not a number is None."""
        return {
            "words_of": dict(zip(("normalizer", "pre_tokenizer"), self.words_of, strict=True)),
            "folds": self.folds,
            "sizes": list(self.sizes),
            "methods": {
                name: {
                    "figures": {
                        figure: {"mean": _plain(self.mean(name, figure)), "sd": _plain(self.deviation(name, figure))}
                        for figure in FIGURES
                    },
                    "folds": [[dataclasses.asdict(each) for each in fold] for fold in folds],
                }
                for name, folds in self.methods.items()
            },
            "advice": [dataclasses.asdict(each) for each in self.advice],
            "rules": [dataclasses.asdict(rule) for rule in RULES],
            "best": {rule.name: self.best(rule.name) for rule in RULES},
            "as_good": {name: dataclasses.asdict(each) for name, each in self.as_good().items()},
        }


def _plain(values: NDArray[np.float64]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


def checked_sizes(sizes: str | Iterable[int]) -> tuple[tuple[int, ...], int]:
    """Return sizes in ascending order; or the ends of a range and how many sizes it has, which is 0 for no range.

    >>> checked_sizes("1000..64000"), checked_sizes("1000..64000:20"), checked_sizes("2000,1000")
    (((1000, 64000), 10), ((1000, 64000), 20), ((1000, 2000), 0))
    """
    number = 0
    try:
        if isinstance(sizes, str) and ".." in sizes:
            ends, _, wanted = sizes.partition(":")
            found = [int(each) for each in ends.split("..")]
            number = int(wanted or NUMBER_OF_SIZES)
        else:
            given = map(int, sizes.split(",")) if isinstance(sizes, str) else map(operator.index, sizes)
            found = [*given]
    except (TypeError, ValueError):
        found = []
    is_range = not number or (number > 1 and len(found) == 2 and found[0] < found[1])
    if not found or min(found) < 1 or not is_range:
        what, advice = "Invalid sizes: {value}", "Use two ends like 1000..64000, or sizes like 1000,2000,4000."
        raise StudioError(what, advice, value=str(sizes)[:50])
    return tuple(sorted({*found})), number


def spaced_sizes(first: int, last: int, number: int) -> tuple[int, ...]:
    """Return sizes from the first to the last, about evenly spaced on a logarithmic scale, as round as they can be.

    >>> spaced_sizes(1000, 64000, 10)
    (1000, 1600, 2500, 4000, 6400, 10000, 16000, 25000, 40000, 64000)
    """
    places = [round(place) for place in np.geomspace(first, last, number).tolist()]
    found: list[int] = []
    for digits in range(2, 9):
        found = [first, *(round(size, digits - 1 - int(math.log10(size))) for size in places[1:-1]), last]
        if sorted({*found}) == found:
            break
    return tuple(size for size in sorted({*found}) if first <= size <= last)
