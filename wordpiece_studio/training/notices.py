"""What a user should know about a corpus before training on it. Nothing is wrong, so it is reported, not raised."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.training.config import TrainingConfig


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence with ``{named}`` fields, and their values, kept separate so that a window can translate it."""

    template: str
    values: dict[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.template.format(**self.values)


def corpus_notices(counts: WordCounts, config: TrainingConfig) -> list[Notice]:
    """Return what is unusual about a corpus with these settings.

    This covers special tokens in the text or among the ordinary tokens, user tokens that were not taken out of the
    text, an empty prefix, words that begin with the prefix, and a missing unknown token.
    """
    prefix, seen = config.continuing_subword_prefix, counts.statistics.spelled_out
    sought = {token for token in config.special_tokens if len(token) > 1 and not seen.get(token)}
    bodies = _ordinary_bodies(config)
    found = counts.indices_with(sought | set(bodies.values()) | ({prefix} - {""}))
    return [
        *_spelled_out(counts, config, found),
        *_also_ordinary(counts, prefix, bodies, found),
        *_not_taken_out(counts, config),
        *_without_prefix(config),
        *_prefixed(counts, prefix, found),
        *_without_unknown(config),
    ]


def _spelled_out(counts: WordCounts, config: TrainingConfig, found: dict[str, list[int]]) -> Iterator[Notice]:
    occurring: list[tuple[str, int]] = []
    for token in config.special_tokens:
        times = counts.statistics.spelled_out.get(token, 0)
        if not times and len(token) > 1:
            times = sum(counts.counts[index].item() for index in found[token])
        if times:
            occurring.append((token, times))
    if len(occurring) == 1:
        yield Notice(
            "The corpus spells out the special token {token} ({times:,}×). It is trained on as ordinary text; a "
            "tokenizer will take it for the special token.",
            {"token": occurring[0][0], "times": occurring[0][1]},
        )
    elif occurring:
        yield Notice(
            "The corpus spells out the special tokens {tokens}. They are trained on as ordinary text; a tokenizer will "
            "take them for the special tokens.",
            {"tokens": ", ".join(f"{token} ({times:,}×)" for token, times in occurring)},
        )


def _ordinary_bodies(config: TrainingConfig) -> dict[str, str]:
    """Return the special tokens that may be ordinary tokens too, each with the text that it would be in a word.

    Longer ones without the prefix are reported when the corpus spells them out.
    """
    prefix = config.continuing_subword_prefix
    bodies = {token: token for token in config.special_tokens if len(token) == 1}
    inside = [token for token in config.special_tokens if prefix and token.startswith(prefix) and token != prefix]
    return bodies | {token: token.removeprefix(prefix) for token in inside}


def _also_ordinary(
    counts: WordCounts, prefix: str, bodies: dict[str, str], found: dict[str, list[int]]
) -> Iterator[Notice]:
    for token, body in bodies.items():
        begins_words = token == body and bool(prefix)
        words = (counts.words[index] for index in found[body])
        if any(word.startswith(body) if begins_words else word.find(body, len(token) > 1) >= 0 for word in words):
            yield Notice(
                "The special token {token} is also an ordinary token of this corpus, or may become one. Both share "
                "one ID, and a tokenizer takes it for the special token.",
                {"token": token},
            )


def _not_taken_out(counts: WordCounts, config: TrainingConfig) -> Iterator[Notice]:
    tokens = [token for token in config.user_tokens if token not in counts.statistics.user_tokens]
    if tokens:
        yield Notice(
            "The words were counted without taking the user tokens out of the text: {tokens}. Where they are spelled "
            "out, their letters are trained on as ordinary text.",
            {"tokens": ", ".join(tokens[:5]) + (", …" if len(tokens) > 5 else "")},
        )


def _without_prefix(config: TrainingConfig) -> Iterator[Notice]:
    is_plain = not config.continuing_subword_prefix and config.end_of_word_suffix is None
    if is_plain and config.objective != "count":  # byte pair encoding has none
        yield Notice(
            "The prefix of tokens inside words is empty: they are written like tokens at the beginning of a word and "
            "share their IDs, so decoding cannot tell where a word begins.",
        )


def _prefixed(counts: WordCounts, prefix: str, found: dict[str, list[int]]) -> Iterator[Notice]:
    holding = (counts.words[index] for index in found.get(prefix, ()))
    words = [word for word in holding if word.startswith(prefix) and word != prefix]
    if words:
        yield Notice(
            "Words of the corpus begin with the prefix {prefix}, such as {word} ({number:,} in all). Their tokens can "
            "be written like tokens inside a word, and then share an ID with them.",
            {"number": len(words), "prefix": prefix, "word": words[0]},
        )


def _without_unknown(config: TrainingConfig) -> Iterator[Notice]:
    token = config.vocabulary(config.special_tokens).unk_token
    if token not in config.special_tokens:
        yield Notice(
            "{token} is not among the special tokens: words that the vocabulary cannot spell will have no ID.",
            {"token": token},
        )
