"""Whether tokens begin where morphemes do: precision, recall and F1 against words that the user has divided.

After Arnett, Hudspeth and O'Connor (2025, arXiv 2507.06378). Only boundaries inside words count. A word that is kept
whole has none, which need not be bad: such words are left out and told apart. Unknown words are left out too.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from wordpiece_studio.corpus.decoding import BINARY_ADVICE, UNDECODABLE_ADVICE, checked_texts
from wordpiece_studio.corpus.listing import listing, opened
from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.differences import cuts_of
from wordpiece_studio.evaluation.evaluating import common_reading, named_tokenizers
from wordpiece_studio.evaluation.held_out import Watch, held_out_text, is_given
from wordpiece_studio.system.printable import display_name

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from wordpiece_studio.corpus.listing import Listing
    from wordpiece_studio.evaluation.evaluating import Measurable
    from wordpiece_studio.evaluation.held_out import Place

_FORM = "Write a word, a tab, and the word with | between its morphemes, on each line."


@dataclass(frozen=True, slots=True)
class Boundaries:
    """How boundaries of tokens agree with those of morphemes, each word counted once or as often as it occurs.

    Attributes
    ----------
    words
        How many words, or occurrences of words, there are.
    whole, unknown
        How many of them are one token, and how many are unknown; neither count below.
    found, true, common
        How many boundaries tokens have, morphemes have, and both have, in the other words.
    """

    words: int
    whole: int
    unknown: int
    found: int
    true: int
    common: int

    @property
    def precision(self) -> float:
        """The share of the boundaries of tokens at which a morpheme begins."""
        return self.common / self.found if self.found else math.nan

    @property
    def recall(self) -> float:
        """The share of the boundaries of morphemes at which a token begins."""
        return self.common / self.true if self.true else math.nan

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.common / (self.found + self.true) if self.found + self.true else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
        ratios = {name: getattr(self, name) for name in ("precision", "recall", "f1")}
        return asdict(self) | {name: None if math.isnan(value) else value for name, value in ratios.items()}


def _divided_words(path: str | os.PathLike[str]) -> dict[str, set[int]]:
    """Return the words of a file, and where morphemes begin inside each."""
    try:
        files = listing(path, kind="text").files
        text = "".join(piece.text for file in files for piece in opened(file).pieces())
    except StudioError as error:
        if error.advice_template in (UNDECODABLE_ADVICE, BINARY_ADVICE):
            raise StudioError("{reason}", "Convert it to UTF-8.", reason=error.what) from None
        raise
    words: dict[str, set[int]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        word, tab, divided = line.rstrip("\r").partition("\t")
        parts = divided.split("|")
        if not tab or "".join(parts) != word or not all(parts):
            what = "{path}, line {line}: {text} is not a word with its morphemes"
            raise StudioError(what, _FORM, path=display_name(path), line=number, text=repr(line[:50]))
        if word in words:
            what = "{path}, line {line}: {text} is there a second time"
            raise StudioError(what, "Keep one of them.", path=display_name(path), line=number, text=repr(word[:50]))
        words[word] = {*accumulate(map(len, parts[:-1]))}
    if not words:
        raise StudioError("There are no words in {path}", _FORM, path=display_name(path))
    return words


def morpheme_boundaries(
    tokenizers: Mapping[str, Measurable] | Iterable[Measurable] | Measurable,
    path: str | os.PathLike[str],
    on: Place | Iterable[Place] | Listing = (),
    *,
    texts: Iterable[str] = (),
) -> dict[str, tuple[Boundaries, Boundaries | None]]:
    """Return how the tokens of each tokenizer agree with morphemes: over distinct words, and over those of a text.

    Parameters
    ----------
    tokenizers
        As for `evaluate`. Each reads every word as a text of its own.
    path
        A file with a word and its morphemes on each line: ``word<TAB>mor|phemes``, in UTF-8.
    on, texts
        A text, as files or in memory, whose words say how often each word occurs; without one the second of each pair
        is None.

    Raises
    ------
    StudioError
        If a file cannot be read or has no words, a line has another form, a word is there twice, or a library fails.
    """
    named, given = named_tokenizers(tokenizers), list(checked_texts(texts))
    morphemes = _divided_words(path)
    words, times = [*morphemes], []
    if given or is_given(on):
        pipeline = common_reading([*named.values()]).pipeline
        text = held_out_text(on, pipeline.normalizer, pipeline.pre_tokenizer, texts=given)
        counts = dict(text.counts.items())
        times = [counts.get("".join(pipeline.words(word)), 0) for word in words]
    found = {}
    for name, tokenizer in named.items():
        cuts = [cut.places for cut in cuts_of(tokenizer, words, False, Watch(None, None))]
        places = [None if any(lost for _, lost in cut) else {place for place, _ in cut} - {0} for cut in cuts]
        known = list(zip(morphemes.values(), places, strict=True))
        found[name] = _agreement(known, [1] * len(words)), _agreement(known, times) if times else None
    return found


def _agreement(places: Sequence[tuple[set[int], set[int] | None]], times: Sequence[int]) -> Boundaries:
    """Count boundaries of words; the places are those of morphemes and of tokens, None where some are unknown."""
    whole = unknown = found = true = common = 0
    for (morphemes, tokens), count in zip(places, times, strict=True):
        unknown += count * (tokens is None)
        whole += count * (tokens == set())
        if tokens:
            found, true = found + count * len(tokens), true + count * len(morphemes)
            common += count * len(tokens & morphemes)
    return Boundaries(sum(times), whole, unknown, found, true, common)
