"""How often each token of a vocabulary is used when longest match splits the words of a corpus.

The words are those of the counts: they are neither normalized nor pre-tokenized again. A large corpus is counted by
compiled kernels if available; nothing is ever compiled for it. `dead_tokens` finds why a token is never used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from wordpiece_studio.compiled.kernel_cache import kernels_are_cached, kernels_are_loaded
from wordpiece_studio.system.arrays import slices
from wordpiece_studio.tokenizer.tokenizer import NO_ID

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.tokenizer.tokenizer import Tokenizer
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary

EngineName = Literal["auto", "plain", "compiled"]

_FEW_WORDS = 10_000
"""Up to this many words are split sooner than the kernels are loaded."""
_PLAIN_PART = 1 << 10  # words between two calls of `should_stop`
_OWNER_BITS = 16


@dataclass(frozen=True, slots=True, eq=False)
class Usage:
    """The tokens that longest match makes of the words of a corpus.

    Attributes
    ----------
    frequencies
        int64, shape (n_tokens,), by vocabulary id: how often each token is produced, counting every occurrence of a
        word. Every unknown word produces the unknown token.
    word_counts
        int64, shape (n_tokens,): in how many distinct words it is produced.
    unknown_words, unknown_occurrences
        How many distinct words are unknown, and how often they occur.
    """

    frequencies: NDArray[np.int64]
    word_counts: NDArray[np.int64]
    unknown_words: int
    unknown_occurrences: int

    def dead(self, special: int) -> NDArray[np.bool_]:
        """Return which tokens are never produced: bool, shape (n_tokens,).

        The first `special` tokens, which are not meant to occur in words, are never dead. Those of the alphabet may be.
        """
        found: NDArray[np.bool_] = self.frequencies == 0
        found[:special] = False
        return found


class _Part(NamedTuple):
    """The ids of some words, how many there are up to the end of each word, the words, and their counts."""

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]
    words: Sequence[str]
    weights: NDArray[np.int64]


def count_usage(
    tokenizer: Tokenizer,
    counts: WordCounts,
    should_stop: Callable[[], bool] | None = None,
    *,
    engine: EngineName = "auto",
) -> Usage | None:
    """Return how often `tokenizer` uses each of its tokens on the words of a corpus; None if stopped.

    Parameters
    ----------
    tokenizer
        Only its vocabulary and its maximum word length matter, not how it normalizes and splits text.
    counts
        The words.
    should_stop
        Called regularly.
    engine
        ``"compiled"`` is fast but must be loaded; ``"auto"`` chooses. Results are identical.
    """
    vocabulary = tokenizer.vocabulary
    is_compiled = engine == "compiled" or (engine == "auto" and _is_worth_kernels(len(counts)))
    parts = _compiled_parts(tokenizer, counts) if is_compiled else _plain_parts(tokenizer, counts)
    tally = _Tally(vocabulary)
    for part in parts:
        if should_stop is not None and should_stop():
            return None
        tally.add(part)
    return tally.usage()


def _is_worth_kernels(words: int) -> bool:
    return kernels_are_loaded("text") or (words > _FEW_WORDS and kernels_are_cached("text"))


class _Tally:
    """Accumulates the figures."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._unknown_token = vocabulary.unk_token
        unknown = vocabulary.id_of(vocabulary.unk_token)
        self._unknown_id = NO_ID if unknown is None else unknown
        self._frequencies = np.zeros(len(vocabulary), dtype=np.int64)
        self._word_counts = np.zeros(len(vocabulary), dtype=np.int64)
        self._unknown_words = self._unknown_occurrences = 0

    def add(self, part: _Part) -> None:
        """Count some words, fewer than ``1 << _OWNER_BITS``."""
        begins = np.append(0, part.ends[:-1])
        self._add_unknown(part, begins)
        owners = np.repeat(np.arange(len(part.ends)), part.ends - begins)
        both = part.ids.astype(np.int64) << _OWNER_BITS | owners
        both.sort()
        both = both[np.searchsorted(both, 0) :]  # without tokens that have no id
        tokens, owners = both >> _OWNER_BITS, both & ((1 << _OWNER_BITS) - 1)
        firsts = np.flatnonzero(np.diff(tokens, prepend=-1))
        if len(firsts):
            used = tokens[firsts]
            self._frequencies[used] += np.add.reduceat(part.weights[owners], firsts)
            is_other_word = (np.diff(both, prepend=-1) > 0).astype(np.int64)
            self._word_counts[used] += np.add.reduceat(is_other_word, firsts)

    def _add_unknown(self, part: _Part, begins: NDArray[np.int64]) -> None:
        is_unknown = part.ends - begins == 1
        is_unknown[is_unknown] = part.ids[begins[is_unknown]] == self._unknown_id
        if self._unknown_id != NO_ID and self._unknown_token in part.words:
            is_unknown[part.words.index(self._unknown_token)] = False  # a word spelled like it, and so known
        self._unknown_words += int(np.count_nonzero(is_unknown))
        self._unknown_occurrences += int(part.weights[is_unknown].sum())

    def usage(self) -> Usage:
        """Return the counted figures."""
        return Usage(self._frequencies, self._word_counts, self._unknown_words, self._unknown_occurrences)


def _plain_parts(tokenizer: Tokenizer, counts: WordCounts) -> Iterator[_Part]:
    for first in range(0, len(counts), _PLAIN_PART):
        part = slice(first, first + _PLAIN_PART)
        yield _plain_part(tokenizer, counts.words[part], counts.counts[part])


def _plain_part(tokenizer: Tokenizer, words: Sequence[str], weights: NDArray[np.int64]) -> _Part:
    vocabulary = tokenizer.vocabulary
    ids: list[int] = []
    ends: list[int] = []
    for word in words:
        spans = tokenizer.spans(word)
        tokens = [vocabulary.unk_token] if spans is None else [token for token, _, _ in spans]
        found = (vocabulary.id_of(token) for token in tokens)
        ids += [NO_ID if token_id is None else token_id for token_id in found]
        ends.append(len(ids))
    return _Part(np.array(ids, np.int32), np.array(ends, np.int64), words, weights)


def _compiled_parts(tokenizer: Tokenizer, counts: WordCounts) -> Iterator[_Part]:
    if tokenizer.vocabulary.end_of_word_suffix:
        yield from _plain_parts(tokenizer, counts)
        return
    from wordpiece_studio.tokenizer.compiled_encoder import CompiledVocabulary

    index = CompiledVocabulary(tokenizer.vocabulary, tokenizer.max_word_length)
    for part in slices(len(counts)):
        words, weights = counts.words[part], counts.counts[part]
        lines = "\n".join([*words, ""])
        if " " in lines or lines.count("\n") != len(words):  # the kernel would treat these as several words
            is_whole = np.array([" " not in word and "\n" not in word for word in words])
            by_hand = np.flatnonzero(~is_whole)
            yield _plain_part(tokenizer, [words[place] for place in by_hand.tolist()], weights[by_hand])
            words = [words[place] for place in np.flatnonzero(is_whole).tolist()]
            weights = weights[is_whole]
            lines = "\n".join([*words, ""])
        if words:
            text = np.frombuffer(lines.encode("utf-8", "surrogatepass"), np.uint8)
            yield _Part(*index.match(text, len(text), len(words)), words, weights)
