"""Which size a vocabulary should have: its figures over the size, and what three rules advise.

A corpus is divided into folds. Vocabularies are trained on the others of them and measured on the one left out, each
size by longest match with all the tokens it has, as it will be used. So there is a mean for each size, with a standard
deviation. Not here: how vocabularies of many sizes come from one training (`libraries.sweep`).
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

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
Need = Literal["smaller", "larger", "text"]
Agreement = Literal["agree", "disagree", "some", "alone"]
USUAL_SIZES, NUMBER_OF_SIZES = "1000..64000", 10
KILOBYTE = 8000  # bits
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

    @property
    def text(self) -> str:
        """The rule in a sentence."""
        return f"{self.title}: {self.meaning} ({self.source})."


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
    """What a rule advises for a method: a size that was measured, or None if the rule holds for none of them.

    `is_at_edge` if it is the smallest or the largest of them, and the corpus gives sizes beyond, which may be better.
    """

    rule: RuleName
    method: str
    size: int | None
    is_at_edge: bool


def kilobytes(bits: float) -> str:
    return f"{bits / KILOBYTE:,.1f}"


AGREEMENTS: dict[Agreement, str] = {
    "agree": "The rules agree",
    "disagree": "The rules disagree",
    "some": "The rules that hold agree",
    "alone": "Only one rule holds",
}
NEEDS: dict[Need, str] = {
    "smaller": "smaller sizes or more text",
    "larger": "larger sizes or more text",
    "text": "more text",
}
FIGURES: dict[str, tuple[str, Callable[[float], str]]] = {
    "tokens_per_word": ("tokens per word", "{:.3f}".format),
    "bits_per_character": ("bits per character", "{:.3f}".format),
    "vocabulary_bits": ("vocabulary, kB", kilobytes),
    "description_length": ("description length, kB", kilobytes),
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
    left_out
        Sizes that were asked for and not reached.
    smallest, largest
        Which sizes all trainings give; None if larger ones were not tried.
    """

    sizes: tuple[int, ...]
    methods: Mapping[str, tuple[tuple[SizeFigures, ...], ...]]
    words_of: tuple[str, str]
    left_out: tuple[int, ...] = ()
    smallest: int = 0
    largest: int | None = None

    def __repr__(self) -> str:
        return f"<Sweep: {', '.join(self.methods)}; {len(self.sizes)} sizes, {self.folds} folds>"

    @property
    def folds(self) -> int:
        """How many folds there are; 1 if a single part was held out."""
        return len(next(iter(self.methods.values())))

    def values(self, method: str, figure: str) -> NDArray[np.float64]:
        """Return a figure of a method, one of `TokenizerFigures` or its own: float64 of shape (n_folds, n_sizes)."""
        if method not in self.methods:
            names = ", ".join(self.methods)
            raise StudioError("There is no method {name}", "Use one of {names}.", name=str(method)[:50], names=names)
        rows = [
            [each if figure == "frequent_share" else each.figures for each in fold] for fold in self.methods[method]
        ]
        try:
            return np.array([[float(getattr(each, figure)) for each in row] for row in rows], np.float64)
        except (AttributeError, TypeError, ValueError):
            what, advice = "There is no metric {name}", "Use one such as {names}."
            raise StudioError(what, advice, name=str(figure)[:50], names=", ".join(FIGURES)) from None

    def mean(self, method: str, figure: str) -> NDArray[np.float64]:
        """Return the mean of a figure over the folds, float64 of shape (n_sizes,)."""
        return np.asarray(self.values(method, figure).mean(axis=0))

    def deviation(self, method: str, figure: str) -> NDArray[np.float64]:
        """Return the standard deviation of a figure over the folds, float64 of shape (n_sizes,); 0 for one fold."""
        values = self.values(method, figure)
        return values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(len(self.sizes))

    @property
    def advice(self) -> tuple[SizeAdvice, ...]:
        """What each rule advises for each method."""
        pairs = [(rule.name, method) for rule in RULES for method in self.methods]
        return tuple(SizeAdvice(*pair, size, size in self.edges) for pair in pairs for size in [self.advised(*pair)])

    @property
    def edges(self) -> dict[int, str]:
        """The smallest and the largest size measured, where the corpus gives sizes beyond; and which of them it is."""
        found = {} if self.sizes[0] == self.smallest else {self.sizes[0]: "smallest"}
        if self.sizes[-1] != self.largest:
            found[self.sizes[-1]] = "largest" if len(self.sizes) > 1 else "only"
        return found

    def advised(self, rule: RuleName, method: str) -> int | None:
        """Return the size that a rule advises for a method; None if the rule holds for none of the sizes."""
        if rule not in get_args(RuleName):
            names = ", ".join(get_args(RuleName))
            raise StudioError("There is no rule {name}", "Use one of {names}.", name=str(rule)[:50], names=names)
        sizes = np.array(self.sizes)
        if rule == "description":
            found = sizes[[np.argmin(self.mean(method, "description_length"))]]
        elif rule == "frequency":
            found = sizes[self.mean(method, "frequent_share") >= FREQUENT_SHARE][-1:]
        else:
            saved = self.saved_by_doubling(method)
            saved = saved[~np.isnan(saved)]  # of the sizes before the others
            much = np.flatnonzero(saved >= LEAST_SAVING)
            found = sizes[: len(saved)][much[-1] + 1 if len(much) else 0 :]
        return int(found[0]) if len(found) else None

    def agreement(self, method: str) -> Agreement:
        """Return whether rules advise the same size for a method; those that hold for no size say nothing."""
        sizes = [self.advised(rule.name, method) for rule in RULES]
        holding = [size for size in sizes if size is not None]
        if len({*holding}) > 1:
            return "disagree"
        return "agree" if len(holding) == len(sizes) else "alone" if len(holding) == 1 else "some"

    def need(self, rule: RuleName) -> Need:
        """Return what a rule that holds for none of the sizes lacks: such sizes, or text, if they are all measured."""
        if rule == "frequency":
            return "text" if self.sizes[0] == self.smallest else "smaller"
        return "text" if self.sizes[-1] == self.largest else "larger"

    def saved_by_doubling(self, method: str) -> NDArray[np.float64]:
        """Return the share of tokens that a vocabulary of twice the size saves, float64 of shape (n_sizes,).

        Between sizes, tokens follow a line over the logarithm of the size; where twice the size is beyond the largest,
        it is not a number.
        """
        sizes, tokens = np.log(self.sizes), self.mean(method, "tokens")
        doubled = np.interp(sizes + math.log(2), sizes, tokens, right=math.nan)
        return np.asarray(1 - doubled / tokens)

    def _lengths(self, rule: RuleName) -> dict[str, list[float]]:
        """Return how long the description is in each fold, of each method at the size that a rule advises for it."""
        sizes = {method: self.advised(rule, method) for method in self.methods}
        return {
            method: self.values(method, "description_length")[:, self.sizes.index(size)].tolist()
            for method, size in sizes.items()
            if size is not None
        }

    def best(self, rule: RuleName = "description") -> tuple[str, int] | None:
        """Return the method with the shortest description at the size that a rule advises for it, and that size."""
        lengths = self._lengths(rule)
        method = min(lengths, key=lambda name: sum(lengths[name]), default="")
        size = self.advised(rule, method) if method in lengths else None
        return None if size is None else (method, size)

    def as_good(self, rule: RuleName = "description") -> dict[str, Difference]:
        """Return, of each other method, by how many bits its description is longer than the best one's.

        Each is taken at the size advised for it; nothing is returned of a single fold.
        """
        lengths, best = self._lengths(rule), self.best(rule)
        if best is None or self.folds < 2:
            return {}
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

    def rule_rows(self) -> list[list[str]]:
        """Return the sizes that rules advise as a table: rows of cells, first the titles, then one for each rule."""
        rows = [["rule", *self.methods]]
        for rule in RULES:
            sizes = (self.advised(rule.name, method) for method in self.methods)
            rows.append([rule.title, *(f"{size:,}" if size else "–" for size in sizes)])
        return rows

    @property
    def measured_on(self) -> str:
        """The parts of the corpus that vocabularies are measured on, in words."""
        return f"mean ± standard deviation over {self.folds} folds" if self.folds > 1 else "a tenth held out"

    def conclusions(self) -> list[str]:
        """Return what follows, in sentences: where rules disagree, and which method has the shortest description."""
        found = []
        if self.left_out:
            found.append(f"Sizes not reached: {', '.join(f'{size:,}' for size in self.left_out)}.")
        if self.largest is not None:
            found.append(f"The largest vocabulary that this corpus gives has {self.largest:,} tokens.")
        for method in self.methods:
            advised = {rule.title: self.advised(rule.name, method) for rule in RULES}
            said = "; ".join(
                f"{rule.title}, {f'{advised[rule.title]:,} tokens' if advised[rule.title] else none}"
                for rule in RULES
                for none in [f"none of these sizes ({NEEDS[self.need(rule.name)]} needed)"]
            )
            found.append(f"{AGREEMENTS[self.agreement(method)]} on {method}: {said}.")
            for edge, name in self.edges.items():
                if edge in advised.values():
                    what = f"For {method}, {edge:,} tokens is the {name} size measured"
                    found.append(f"{what}: {'another' if name == 'only' else 'one beyond it'} may be better.")
        best = self.best()
        assert best is not None  # this rule holds for some size
        shortest = self.mean(best[0], "description_length").min()
        found.append(f"The shortest description is that of {best[0]} at {best[1]:,} tokens: {kilobytes(shortest)} kB.")
        for name, each in self.as_good().items():
            size = self.advised("description", name)
            chance = "; the difference may be 0" if each.may_be_zero else ""
            longer = f"{kilobytes(each.mean)} kB longer (95% interval: {kilobytes(each.low)} to {kilobytes(each.high)})"
            found.append(f"That of {name} at {size:,} tokens is {longer}{chance}.")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON: what is not a number is None."""
        return {
            "words_of": dict(zip(("normalizer", "pre_tokenizer"), self.words_of, strict=True)),
            "folds": self.folds,
            "sizes": list(self.sizes),
            "left_out": list(self.left_out),
            "smallest": self.smallest,
            "largest": self.largest,
            "methods": {
                name: {
                    "figures": {
                        figure: {"mean": self.mean(name, figure).tolist(), "sd": self.deviation(name, figure).tolist()}
                        for figure in FIGURES
                    },
                    "folds": [
                        [{"figures": each.figures.to_dict(), "frequent_share": each.frequent_share} for each in fold]
                        for fold in folds
                    ],
                }
                for name, folds in self.methods.items()
            },
            "advice": [dataclasses.asdict(each) for each in self.advice],
            "rules": [dataclasses.asdict(rule) for rule in RULES],
            "best": {rule.name: self.best(rule.name) for rule in RULES},
            "as_good": {name: dataclasses.asdict(each) for name, each in self.as_good().items()},
        }


def checked_sizes(sizes: str | Iterable[int]) -> tuple[tuple[int, ...], int]:
    """Return sizes in ascending order; or the ends of a range and how many sizes it has, which is 0 for no range.

    >>> checked_sizes("1000..64000"), checked_sizes("1000..64000:20"), checked_sizes("2000,1000")
    (((1000, 64000), 10), ((1000, 64000), 20), ((1000, 2000), 0))
    """
    number = 0
    try:
        text = sizes if isinstance(sizes, str) else ",".join(map(str, sizes))
        if ".." in text:
            text, _, wanted = text.partition(":")
            number = int(wanted or NUMBER_OF_SIZES)
        found = [int(each) for each in text.split(".." if number else ",")]
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
