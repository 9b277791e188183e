"""How often a tokenizer uses each of its tokens on the words of a corpus; why longest match never uses some.

The words are those of the counts: they are neither normalized nor pre-tokenized again. A large corpus is counted by
compiled kernels if available; nothing is ever compiled for it. Byte pair encoding is counted by its merges, and what
another library runs by that library.

Why a token is dead is determined from the corpus, not guessed. Most were intermediate steps: in the training itself
they no longer occur. Others occur in words as they were merged, but longest match splits these words differently.

Figures for curves: a *step* k is the state after k merges. N(k) is the number of symbols that the corpus consists of
*under merging*, weighted by the words' counts; longest match with the vocabulary of step k may split a word
differently, so its number of tokens may differ. *Fertility* is N(k) divided by the number of words (not distinct ones)
trained on. Nothing is estimated here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from wordpiece_studio.compiled.kernel_cache import kernels_are_cached, kernels_are_loaded
from wordpiece_studio.corpus.counts import stop_check
from wordpiece_studio.system.arrays import slices
from wordpiece_studio.tokenizer.tokenizer import NO_ID, Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.tokenizer.encoding import Encoder
    from wordpiece_studio.training.history import MergeHistory

# The share of unknown tokens beyond which tokens per word say little: however long, an unknown word is one token.
MUCH_UNKNOWN = 0.01
_FEW_WORDS = 10_000  # up to this many words are split sooner than the kernels are loaded
_PLAIN_PART = 1 << 10  # words between two calls of `should_stop`
_OWNER_BITS = 16


@dataclass(frozen=True, slots=True, eq=False)
class Usage:
    """The tokens that a tokenizer makes of the words of a corpus.

    By vocabulary id, int64 of shape (n_tokens,): `frequencies`, how often each token is produced, counting every
    occurrence of a word, and the unknown token for every unknown word; `word_counts`, in how many distinct words. There
    are `unknown_words`, which occur `unknown_occurrences` times; words that are one token, and known, occur
    `whole_occurrences` times. `words` and `tokens` are all, including unknown words if there is no unknown token.
    """

    frequencies: NDArray[np.int64]
    word_counts: NDArray[np.int64]
    unknown_words: int
    unknown_occurrences: int
    whole_occurrences: int
    words: int
    tokens: int

    def dead(self, special: int) -> NDArray[np.bool_]:
        """Return which tokens are never produced: bool, shape (n_tokens,).

        The first `special` tokens, which are not meant to occur in words, are never dead. Those of the alphabet may be.
        """
        found: NDArray[np.bool_] = self.frequencies == 0
        found[:special] = False
        return found


class EncodedWords(NamedTuple):
    """The ids of some words, how many there are up to the end of each word, the words, and their counts."""

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]
    words: Sequence[str]
    weights: NDArray[np.int64]


def count_usage(
    tokenizer: Encoder,
    counts: WordCounts,
    should_stop: Callable[[], bool] | None = None,
    *,
    progress: Callable[[int], None] | None = None,
    see: Callable[[EncodedWords], None] | None = None,
) -> Usage:
    """Return how often `tokenizer` uses each of its tokens on the words of a corpus; `see` is shown the same words.

    How it normalizes and splits text does not matter. The progress is the number of distinct words that are done; if
    `should_stop` returned true, `CountingStopped` is raised.
    """
    check_stop = stop_check(should_stop)

    def watched() -> Iterator[EncodedWords]:
        done = 0
        check_stop()
        for part in parts_encoded(tokenizer, counts):
            yield part
            if see is not None:
                see(part)
            check_stop()
            done += len(part.ends)
            if progress is not None:
                progress(done)

    return usage_in(tokenizer, watched())


def parts_encoded(tokenizer: Encoder, counts: WordCounts) -> Iterator[EncodedWords]:
    """Return the words of a corpus with their ids, some at a time, not always in their order."""
    if isinstance(tokenizer, Tokenizer) and tokenizer.can_explain and _is_worth_kernels(len(counts)):
        return _compiled_parts(tokenizer, counts)
    return _plain_parts(tokenizer, counts)


def usage_as_trained(history: MergeHistory, step: int) -> Usage:
    """Return how often each token stands in the words as they are after `step` merges; no word is unknown."""
    frequencies = np.zeros(history.vocabulary_size(step), dtype=np.int64)
    weights = history.input.weights
    lengths = np.zeros(len(weights), dtype=np.int64)
    for ids, words in history.places.tokens_by_block(step, history.column("new_id")):
        np.add.at(frequencies, ids, weights[words])
        lengths += np.bincount(words, minlength=len(weights))
    whole, tokens = int(weights[lengths == 1].sum()), int((lengths * weights).sum())
    return Usage(frequencies, history.words_per_token(step), 0, 0, whole, int(weights.sum()), tokens)


def _is_worth_kernels(words: int) -> bool:
    return kernels_are_loaded("text") or (words > _FEW_WORDS and kernels_are_cached("text"))


def usage_in(tokenizer: Encoder, parts: Iterable[EncodedWords]) -> Usage:
    """Return the tokens of words that a tokenizer encoded, fewer than ``1 << _OWNER_BITS`` at a time."""
    unknown_token = tokenizer.unk_token or ""
    unknown = tokenizer.id_of(unknown_token)
    size = getattr(tokenizer, "largest_id", len(tokenizer) - 1) + 1  # a library's ids may have gaps
    frequencies, word_counts = np.zeros((2, size), dtype=np.int64)
    totals = [0] * 5
    for ids, ends, words, weights in parts:
        lengths = np.diff(ends, prepend=0)
        both = ids.astype(np.int64) << _OWNER_BITS | np.repeat(np.arange(len(ends)), lengths)
        both.sort()
        both = both[np.searchsorted(both, 0) :]  # without tokens that have no id
        tokens, owners = both >> _OWNER_BITS, both & ((1 << _OWNER_BITS) - 1)
        firsts = np.flatnonzero(np.diff(tokens, prepend=-1))
        if len(firsts):
            frequencies[tokens[firsts]] += np.add.reduceat(weights[owners], firsts)
            is_other_word = (np.diff(both, prepend=-1) > 0).astype(np.int64)
            word_counts[tokens[firsts]] += np.add.reduceat(is_other_word, firsts)
        is_one = lengths == 1
        is_unknown = is_one.copy()
        is_unknown[is_one] = ids[ends[is_one] - 1] == (NO_ID if unknown is None else unknown)
        if unknown is not None and unknown_token in words:
            is_unknown[words.index(unknown_token)] = False  # a word spelled like it, and so known
        occurrences = (weights[is_unknown], weights[is_one & ~is_unknown], weights, lengths * weights)
        sums = [np.count_nonzero(is_unknown), *(each.sum() for each in occurrences)]
        totals = [total + int(more) for total, more in zip(totals, sums, strict=True)]
    return Usage(frequencies, word_counts, *totals)


def _plain_parts(tokenizer: Encoder, counts: WordCounts) -> Iterator[EncodedWords]:
    for first in range(0, len(counts), _PLAIN_PART):
        part = slice(first, first + _PLAIN_PART)
        yield _plain_part(tokenizer, counts.words[part], counts.counts[part])


def _plain_part(tokenizer: Encoder, words: Sequence[str], weights: NDArray[np.int64]) -> EncodedWords:
    return encoded_words((each.ids for each in tokenizer.encode_words(words)), words, weights)


def encoded_words(word_ids: Iterable[Sequence[int]], words: Sequence[str], weights: NDArray[np.int64]) -> EncodedWords:
    found = [*word_ids]
    ends = np.cumsum([*map(len, found)], dtype=np.int64)
    return EncodedWords(np.fromiter(chain.from_iterable(found), np.int32), ends, words, weights)


def _compiled_parts(tokenizer: Tokenizer, counts: WordCounts) -> Iterator[EncodedWords]:
    added = tokenizer.vocabulary.added_tokens
    if tokenizer.vocabulary.end_of_word_suffix or any(token.normalized for token in added):
        yield from _plain_parts(tokenizer, counts)
        return
    from wordpiece_studio.tokenizer.compiled_encoder import CompiledVocabulary

    index = CompiledVocabulary(tokenizer.vocabulary, tokenizer.max_word_length)
    for part in slices(len(counts)):
        words, weights = counts.words[part], counts.counts[part]
        lines = "\n".join([*words, ""])
        if " " in lines or lines.count("\n") != len(words):  # the kernel would treat these as several words
            is_whole = np.array([" " not in word and "\n" not in word for word in words])
            yield _plain_part(tokenizer, list(compress(words, ~is_whole)), weights[~is_whole])
            words, weights = list(compress(words, is_whole)), weights[is_whole]
            lines = "\n".join([*words, ""])
        if words:
            text = np.frombuffer(lines.encode("utf-8", "surrogatepass"), np.uint8)
            yield EncodedWords(*index.match(text, len(text), len(words)), words, weights)


DeadKind = Literal["merged", "covered", "unknown", "absent"]
_NONE = -1


@dataclass(frozen=True, slots=True)
class DeadReason:
    """Why a token is dead.

    ``"merged"``: wherever it occurred, it was absorbed by `merges` merges, the last of them, which made `token`, at
    `step`. ``"covered"``: it occurs in words as they were merged, but longest match takes `token` there, which `step`
    made. ``"unknown"``: it does occur, but the word as a whole is unknown. ``"absent"``: its characters occur in no
    word that was trained on, or not where it could be matched. Otherwise `word` is the most frequent word that contains
    it, or did before the merge.
    """

    kind: DeadKind
    word: str = ""
    token: str = ""
    step: int = 0
    merges: int = 0
    is_required: bool = False  # `token` is, and no step made it


class DeadTokens:
    """The reasons for the dead tokens of a vocabulary after some merges; `dead` is bool, shape (n_tokens,).

    The tokenizer splits words with that vocabulary. Once `should_stop` returns True, the object is unusable.
    """

    def __init__(
        self,
        history: MergeHistory,
        step: int,
        dead: NDArray[np.bool_],
        tokenizer: Tokenizer,
        texts: WordTexts | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        self._history = history
        self._step = step
        self._tokenizer = tokenizer
        self._prefix = tokenizer.vocabulary.continuing_subword_prefix
        self._suffix = tokenizer.vocabulary.end_of_word_suffix or ""
        self._known: dict[int, DeadReason] = {}  # no cache of a method, which would hold itself and the history
        self._occurs_in = _most_frequent_words(history, step, dead, should_stop)
        self._absorbed_at, self._absorptions = _last_absorptions(history, step, len(dead))
        self._texts = texts if texts is not None else WordTexts(history)
        is_unseen = dead & (self._occurs_in == _NONE) & (self._absorbed_at == 0)
        self._symbols = history.tokens_in_use(0) if is_unseen.any() else {}  # here: `reason` must be quick

    def reason(self, token_id: int) -> DeadReason:
        if token_id not in self._known:
            self._known[token_id] = self._determine(token_id)
        return self._known[token_id]

    def _determine(self, token_id: int) -> DeadReason:
        token = self._history.token(token_id)
        word = int(self._occurs_in[token_id])
        absorbed_at = int(self._absorbed_at[token_id])
        if word == _NONE and absorbed_at:
            return self._merged(absorbed_at, int(self._absorptions[token_id]))
        place = self._place(token, word) if word != _NONE else _NONE
        if place == _NONE:  # it occurs nowhere, or only where characters were dropped
            text, begins = self._spelled(token)
            if len(text) == 1 and begins is not None and not self._suffix and token not in self._symbols:
                return DeadReason("absent")  # it need not be sought where the character stands elsewhere in each word
            word, place = self._texts.first(text, begins)
        return self._split_otherwise(self._history.input.words[word], place) if place != _NONE else DeadReason("absent")

    def number_of_words(self, token_id: int) -> int:
        """Return in how many distinct words a token could be matched by its characters; searches all words."""
        return self._texts.count(*self._spelled(self._history.token(token_id)))

    def _merged(self, step: int, merges: int) -> DeadReason:
        history = self._history
        places = history.positions(step - 1)
        inside = history.places.words_at(places)
        word = history.input.words[int(inside[np.argmax(history.input.weights[inside])])]
        return DeadReason("merged", word, history.token(int(history.column("new_id")[step - 1])), step, merges)

    def _place(self, token: str, word: int) -> int:
        """Return where in a merged word a token occurs; _NONE if characters of the word were dropped."""
        tokens = self._history.places.tokens(word, self._step)
        parts = [tokens[0], *(part.removeprefix(self._prefix) for part in tokens[1:])]
        if "".join(parts) != self._history.input.words[word] + self._suffix:
            return _NONE
        return sum(map(len, parts[: tokens.index(token)]))

    def _spelled(self, token: str) -> tuple[str, bool | None]:
        """Return a token's characters in a word, and whether it begins the word; None if it may be anywhere."""
        if not self._prefix:
            return token.removesuffix(self._suffix), None
        begins = not token.startswith(self._prefix) or token == self._prefix
        return token.removeprefix("" if begins else self._prefix).removesuffix(self._suffix), begins

    def _split_otherwise(self, word: str, place: int) -> DeadReason:
        spans = self._tokenizer.spans(word)
        if spans is None:
            return DeadReason("unknown", word)
        winner = next(token for token, start, end in spans if start <= place < end)
        token_id = self._tokenizer.vocabulary.id_of(winner)
        born = 0 if token_id is None else self._history.birth_step(token_id)
        return DeadReason("covered", word, winner, born, is_required=winner in self._history.config.required_tokens)


class WordTexts:
    def __init__(self, history: MergeHistory) -> None:
        self._history = history

    @property
    def _words(self) -> Sequence[str]:
        return self._history.input.words  # late: for a stored history, they must be read

    def first(self, text: str, begins: bool | None) -> tuple[int, int]:
        """Return the first word with `text` and its place in it; (-1, -1) if there is none.

        `begins`: whether `text` must be at the beginning of the word, or must not be; None for anywhere.
        """
        return self._next(text, begins, 0)

    def count(self, text: str, begins: bool | None) -> int:
        found = 0
        word, _ = self._next(text, begins, 0)
        while word != _NONE:
            found += 1
            word, _ = self._next(text, begins, word + 1)
        return found

    def _next(self, text: str, begins: bool | None, word: int) -> tuple[int, int]:
        joined, starts = self._joined
        sought = f"\n{text}" if begins else text
        at = int(starts[word]) - 1 if begins else int(starts[word])
        while (at := joined.find(sought, at)) != -1:
            place = at + 1 if begins else at
            word = int(np.searchsorted(starts, place, side="right")) - 1
            start, end = int(starts[word]), int(starts[word + 1]) - 1
            if place + len(text) <= end and (begins is None or begins == (place == start)):
                return word, place - start
            at += 1
        return _NONE, _NONE

    @cached_property
    def _joined(self) -> tuple[str, NDArray[np.int64]]:
        """The words with a line end before and after each, where each starts, and the end of all."""
        pieces = ["\n".join([*self._words[part], ""]) for part in slices(len(self._words))]
        lengths = np.fromiter(map(len, self._words), dtype=np.int64, count=len(self._words))
        return "\n" + "".join(pieces), np.append(1, 1 + np.cumsum(lengths + 1))


def _most_frequent_words(
    history: MergeHistory, step: int, dead: NDArray[np.bool_], should_stop: Callable[[], bool] | None
) -> NDArray[np.int64]:
    """Return the most frequent merged word that contains each dead token: int64 by id; _NONE if none does."""
    found = np.full(len(dead), _NONE, dtype=np.int64)
    most = np.zeros(len(dead), dtype=np.int64)
    weights = history.input.weights
    if not dead.any():
        return found
    for ids, inside in history.places.tokens_by_block(step, history.column("new_id")):
        if should_stop is not None and should_stop():
            break
        is_dead = dead[ids]
        ids, words = ids[is_dead], inside[is_dead]
        order = np.lexsort((words, -weights[words], ids))
        order = order[np.diff(ids[order], prepend=-1) > 0]
        ids, words = ids[order], words[order].astype(np.int64)
        better = weights[words] > most[ids]
        found[ids[better]], most[ids[better]] = words[better], weights[words[better]]
    return found


def _last_absorptions(history: MergeHistory, step: int, size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    last = np.zeros(size, dtype=np.int64)
    lefts, rights = history.column("left_id")[:step], history.column("right_id")[:step]
    steps = np.arange(1, step + 1)
    for side in (lefts, rights):
        np.maximum.at(last, side, steps)
    return last, np.bincount(lefts, minlength=size) + np.bincount(rights[rights != lefts], minlength=size)


# -- for curves


def symbols_at(history: MergeHistory, steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return N, the weighted number of symbols in the corpus under merging, after each of these numbers of merges."""
    before = history.column("symbols_before")
    return np.append(before, history.symbols_after(len(before)))[steps]


def vocabulary_sizes_at(history: MergeHistory, steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of tokens, including special ones and alphabet, after each of these numbers of merges."""
    return np.append(history.vocabulary_size(0), history.vocabulary_sizes())[steps]


def fertility_at(history: MergeHistory, steps: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return N divided by the number of words, after each of these numbers of merges; zeros if there are no words."""
    words = history.total_words
    return symbols_at(history, steps) / words if words else np.zeros(len(steps), dtype=np.float64)


def tokens_in_use_at(history: MergeHistory) -> NDArray[np.int64]:
    """Return how many different tokens the corpus consists of after each step: int64, shape (len(history) + 1,).

    A merge adds its token and takes away those that occurred nowhere else: both, one or none. So the number changes by
    -1, 0 or 1, or by one less if other merges had made the same token before.

    >>> from wordpiece_studio.training.trainer import train
    >>> tokens_in_use_at(train({"hug": 10, "pug": 5, "hugs": 5}).history).tolist()
    [5, 4, 4, 3, 3]
    """
    count = len(history)  # to which a training may be appending
    steps = np.arange(count + 1)
    merged = -np.diff(symbols_at(history, steps))
    vocabulary, initial = history.vocabulary(0), history.tokens_in_use(0)
    # What becomes of each token: it occurs `changes` times more or less after a step.
    first = np.array([vocabulary.id_of(token) for token in initial], dtype=np.int64)
    ids = np.concatenate((first, *(history.column(name)[:count] for name in ("left_id", "right_id", "new_id"))))
    at = np.concatenate((np.zeros(len(first), dtype=np.int64), *[steps[1:]] * 3))
    changes = np.concatenate((np.array([*initial.values()], dtype=np.int64), -merged, -merged, merged))
    order = np.lexsort((at, ids))
    ids, at, changes = ids[order], at[order], changes[order]
    totals = np.cumsum(changes)
    begins = np.diff(ids, prepend=-1) != 0
    totals -= np.repeat((totals - changes)[begins], np.diff(np.flatnonzero(np.append(begins, True))))
    is_last = (np.diff(ids, append=-1) != 0) | (np.diff(at, append=-1) != 0)  # of several changes in one step
    ids, at, is_used = ids[is_last], at[is_last], totals[is_last] > 0
    was_used = np.append(False, is_used[:-1]) & (np.diff(ids, prepend=-1) == 0)
    more = np.bincount(at[is_used & ~was_used], minlength=len(steps))
    fewer = np.bincount(at[was_used & ~is_used], minlength=len(steps))
    return np.cumsum(more - fewer)


def rank_frequency(frequencies: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ids of the tokens that occur, and their frequencies, the most frequent first, then in order of id.

    >>> [column.tolist() for column in rank_frequency(np.array([2, 0, 7, 2]))]
    [[2, 0, 3], [7, 2, 2]]
    """
    ids, size = np.flatnonzero(frequencies), len(frequencies)
    most = int(frequencies.max(initial=0))
    if most < np.iinfo(np.int64).max // max(size, 1):
        # Sorting plain numbers that combine frequency and id takes a third of the time of an argsort.
        ids = np.sort((most - frequencies[ids]) * size + ids) % size if size else ids
    else:
        ids = ids[np.argsort(-frequencies[ids], kind="stable")]
    return ids, frequencies[ids]
