"""The definition of training, written down as plainly as possible and independently of the product."""

from __future__ import annotations

import itertools
import math
from typing import Any

Symbol = tuple[str, bool]  # bare text, does it continue a word?


def initial_symbols(word: str, config: Any) -> list[Symbol]:
    continues = bool(config.continuing_subword_prefix)
    symbols = [(character, continues and index > 0) for index, character in enumerate(word)]
    if config.end_of_word_suffix and config.end_of_word == "symbol":
        symbols.append((config.end_of_word_suffix, continues))
    elif config.end_of_word_suffix:
        symbols[-1] = (symbols[-1][0] + config.end_of_word_suffix, symbols[-1][1])
    return symbols


def train(pairs: list[tuple[str, int]], config: Any) -> dict[str, Any]:
    """Return merges (as tuples), tokens and final segmentations; counts everything anew at every step."""
    prefix = config.continuing_subword_prefix

    def token(symbol: Symbol) -> str:
        return prefix + symbol[0] if symbol[1] else symbol[0]

    words = [initial_symbols(word, config) for word, _ in pairs]
    tokens = [*config.special_tokens, *sorted({token(symbol) for word in words for symbol in word})]
    tokens = list(dict.fromkeys(tokens))
    merges = []
    while config.max_merges is None or len(merges) < config.max_merges:
        if config.vocab_size is not None and len(tokens) >= config.vocab_size:
            break
        n: dict[tuple[Symbol, Symbol], int] = {}
        f: dict[Symbol, int] = {}
        for word, (_, weight) in zip(words, pairs, strict=True):
            for symbol in word:
                f[symbol] = f.get(symbol, 0) + weight
            for pair in itertools.pairwise(word):
                n[pair] = n.get(pair, 0) + weight
        total = sum(f.values())
        values = {}
        for (a, b), together in n.items():
            length = len(a[0] + b[0])
            if together < config.min_frequency or length > (config.max_token_length or 10**9):
                continue
            product = float(f[a]) * float(f[b])
            values[a, b] = {
                "score": float(together) / product,
                "likelihood": float(together) * math.log((float(together) * float(total)) / product),
                "count": float(together),
            }[config.objective]
        if not values:
            break
        best = max(values.values())
        tied = [pair for pair, value in values.items() if value == best]  # in order of first occurrence
        if config.min_value is not None and best < config.min_value:
            break
        if config.tie == "ids":
            tied.sort(key=lambda pair: (tokens.index(token(pair[0])), tokens.index(token(pair[1]))))
        a, b = tied[0]
        new = (a[0] + b[0], a[1])
        touched = []
        for index, word in enumerate(words):
            position = 0
            joined = []
            while position < len(word):
                if tuple(word[position : position + 2]) == (a, b):
                    joined.append(new)
                    position += 2
                else:
                    joined.append(word[position])
                    position += 1
            if joined != word:
                touched.append(pairs[index][0])
                words[index] = joined
        is_new = token(new) not in tokens
        if is_new:
            tokens.append(token(new))
        merges.append((token(a), token(b), token(new), n[a, b], f[a], f[b], total, best, len(tied), is_new, touched))
    return {
        "merges": merges,
        "tokens": tokens,
        "segmentation": {pair[0]: [token(s) for s in word] for pair, word in zip(pairs, words, strict=True)},
    }
