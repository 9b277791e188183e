"""What if? The rules that one can set for a training, defined as `reference.py` defines it without them.

Some pairs may be forbidden, by the token that they would become or as a pair: they are no candidates. At some steps
another candidate than the best may be chosen. And tokens may be required: they are in the vocabulary from the start,
after the alphabet, for longest match to use. Merging knows nothing of them. It may make one of them later, and then
adds no token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.training.reference import (
    best_pair,
    corpus_of,
    count_pairs,
    count_symbols,
    join,
    merge,
    pair_values,
)

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from wordpiece_studio.training.reference import Objective, Pair


def is_allowed(left: str, right: str, new: str, forbidden: Container[str], forbidden_pairs: Container[Pair]) -> bool:
    """Return whether neither a pair nor the token `new` that it becomes is forbidden.

    >>> is_allowed("h", "##u", "hu", ["hu"], []), is_allowed("h", "##ug", "hug", ["hu"], [("hu", "##g")])
    (False, True)
    """
    return new not in forbidden and (left, right) not in forbidden_pairs


def train(
    words: dict[str, int],
    objective: Objective,
    size: int,
    required: Sequence[str] = (),
    forbidden: Sequence[str] = (),
    forbidden_pairs: Sequence[Pair] = (),
    chosen: Sequence[tuple[int, str, str]] = (),
) -> tuple[list[str], list[Pair]]:
    """Return the vocabulary and the merged pairs. `chosen` has steps, from 1, each with the pair that is merged there.

    >>> from wordpiece_studio.training.reference import WORDS, score
    >>> train(WORDS, score, 10, required=["bug"], forbidden=["hu"], chosen=[(1, "p", "##u")])
    (['##g', '##n', '##s', '##u', 'b', 'h', 'p', 'bug', 'pu', 'bu'], [('p', '##u'), ('b', '##u')])
    """
    corpus = corpus_of(words)
    vocabulary = list(dict.fromkeys([*sorted(count_symbols(corpus)), *required]))
    choices = {step: (left, right) for step, left, right in chosen}
    merges: list[Pair] = []
    while len(vocabulary) < size:
        values = pair_values(count_pairs(corpus), count_symbols(corpus), objective)
        values = {
            pair: value for pair, value in values.items() if is_allowed(*pair, join(*pair), forbidden, forbidden_pairs)
        }
        if not values:
            break
        left, right = choices.get(len(merges) + 1) or best_pair(values)
        if (left, right) not in values:
            raise ValueError("the pair that is chosen for this step is not a candidate")
        new = join(left, right)
        corpus = [(merge(symbols, left, right, new), times) for symbols, times in corpus]
        merges.append((left, right))
        if new not in vocabulary:
            vocabulary.append(new)
    return vocabulary, merges
