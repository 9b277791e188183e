"""Training with every setting, as slow and as obvious as the definition that it extends.

`reference.py` defines training. The plain engine adds prefixes, suffixes, floors and rules of ties; this module adds
how training begins: special tokens, limits and layouts of the alphabet.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

from wordpiece_studio.training.plain_engine import PlainEngine, split, token_of
from wordpiece_studio.training.reference import Corpus, count_symbols

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.engine import MergeBatch


def kept_characters(words: Sequence[tuple[str, int]], config: TrainingConfig) -> set[str]:
    """Return the characters within the alphabet limit.

    The initial alphabet comes first, whether or not it occurs, then the most frequent characters, among equals the one
    seen first. A character that is a special token is in the vocabulary anyway, and stays.
    """
    frequency = count_symbols([(list(word), times) for word, times in words])
    if config.alphabet_limit is None:
        return set(frequency)
    initial = config.initial_characters
    ranked = sorted(
        [*sorted(initial - frequency.keys()), *frequency],
        key=lambda character: -math.inf if character in initial else -frequency[character],
    )
    return {*ranked[: config.alphabet_limit], *(token for token in config.reserved_tokens if len(token) == 1)}


def initial_corpus(words: Iterable[tuple[str, int]], kept: set[str], config: TrainingConfig) -> Corpus:
    """Return the words as symbols, less characters beyond the limit or the words that contain them."""
    corpus: Corpus = []
    for word, times in words:
        if config.alphabet_overflow == "unk" and not kept.issuperset(word):
            continue
        symbols = split(word, config)
        end = symbols[len(word) :]
        symbols = [symbol for symbol, character in zip(symbols, word, strict=False) if character in kept]
        if symbols:
            corpus.append((symbols + end, times))
    return corpus


def initial_vocabulary(words: Sequence[tuple[str, int]], kept: set[str], config: TrainingConfig) -> list[str]:
    """Return special tokens, alphabet and required tokens in the order of their ids."""
    corpus = initial_corpus(sorted(words), kept, config)
    seen = [token_of(symbol, config.continuing_subword_prefix) for symbol in count_symbols(corpus)]
    if config.alphabet == "seen":
        alphabet = sorted({*seen, *config.initial_alphabet})
    else:
        bare = {character for word, _ in words for character in word if character in kept}
        bare.update(symbol for symbol in config.initial_alphabet if len(symbol) == 1)
        given = [token for token in config.continuing_order or () if token in seen]
        alphabet = [*sorted(bare), *given, *seen, *(symbol for symbol in config.initial_alphabet if len(symbol) > 1)]
    return list(dict.fromkeys([*config.reserved_tokens, *alphabet, *config.required_tokens]))


class DefinedTraining(PlainEngine):
    """The engine, whose state can be looked at."""

    @property
    def vocabulary(self) -> list[str]:
        """The initial vocabulary, then the tokens of all merges found so far."""
        return list(self._ids)

    @property
    def segmentations(self) -> list[list[str]]:
        """The tokens of every word at this step."""
        return [[self._token(symbol) for symbol in symbols] for symbols, _ in self._corpus]


def train(words: Sequence[tuple[str, int]], config: TrainingConfig) -> tuple[DefinedTraining, MergeBatch]:
    """Return an engine that has trained on these words until a stop rule held, and all merges; time has no limit."""
    kept = kept_characters(words, config)
    engine = DefinedTraining(config, initial_corpus(words, kept, config), initial_vocabulary(words, kept, config))
    merges = sys.maxsize if config.max_merges is None else config.max_merges
    return engine, engine.advance(merges, config.vocab_size, config.min_value)[0]
