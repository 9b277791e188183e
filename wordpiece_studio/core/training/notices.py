"""What a user should know about a corpus before training on it, though nothing is wrong: it is told, not raised."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wordpiece_studio.core.vocabulary import UNKNOWN_TOKEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.core.corpus.counts import WordCounts
    from wordpiece_studio.core.training.config import TrainingConfig

_SEARCHED_AT_ONCE = 10_000  # words


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence with ``{named}`` fields and their values, kept apart so that a window can translate it."""

    template: str
    values: dict[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.template.format(**self.values)


def corpus_notices(counts: WordCounts, config: TrainingConfig) -> list[Notice]:
    """Return what is unusual: special tokens in the text, words that begin with the prefix, no unknown token."""
    return [*_spelled_out(counts, config), *_prefixed(counts, config), *_without_unknown(config)]


def _spelled_out(counts: WordCounts, config: TrainingConfig) -> Iterator[Notice]:
    for token in config.special_tokens:
        times = counts.statistics.spelled_out.get(token, 0)
        if not times and len(token) > 1:
            found = _indices_of_words_with(token, counts.words)
            times = sum(counts.counts[index].item() for index in found)
        if times:
            yield Notice(
                "The corpus spells out the special token {token} ({times:,}×). It is trained on as ordinary text; a "
                "tokenizer will take it for the special token.",
                {"token": token, "times": times},
            )


def _prefixed(counts: WordCounts, config: TrainingConfig) -> Iterator[Notice]:
    prefix = config.continuing_subword_prefix
    found = _indices_of_words_with(prefix, counts.words) if prefix else ()
    words = [word for word in (counts.words[index] for index in found) if word.startswith(prefix) and word != prefix]
    if words:
        yield Notice(
            "Words of the corpus begin with the prefix {prefix}, such as {word} ({number:,} in all). Their tokens can "
            "be written like tokens inside a word, and then share an id with them.",
            {"number": len(words), "prefix": prefix, "word": words[0]},
        )


def _indices_of_words_with(text: str, words: list[str]) -> Iterator[int]:
    """Yield the indices of the words that hold `text`.

    Many words are searched at once, which is far sooner done than one by one; but not all, so that other threads get
    their turn.
    """
    for start in range(0, len(words), _SEARCHED_AT_ONCE):
        some = words[start : start + _SEARCHED_AT_ONCE]
        if text in "\n".join(some):
            yield from (start + index for index, word in enumerate(some) if text in word)


def _without_unknown(config: TrainingConfig) -> Iterator[Notice]:
    if UNKNOWN_TOKEN not in config.special_tokens:
        yield Notice(
            "{token} is not among the special tokens: words that the vocabulary cannot spell will have no id.",
            {"token": UNKNOWN_TOKEN},
        )
