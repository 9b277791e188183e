"""Why longest match never produces a token that is in the vocabulary: found out from the corpus, not guessed.

Most of them were steps on the way: in the training itself they stand nowhere any more. Others stand in words as they
were merged, but longest match cuts these words otherwise. Not here: which tokens are dead (`usage`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from wordpiece_studio.system.in_slices import slices

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.tokenizer.tokenizer import Tokenizer
    from wordpiece_studio.training.history import MergeHistory

DeadKind = Literal["merged", "covered", "unknown", "absent"]
_NONE = -1


@dataclass(frozen=True, slots=True)
class DeadReason:
    """Why a token is dead.

    Attributes
    ----------
    kind
        ``"merged"``: wherever it stood, merges took it up, the last of them at `step`. ``"covered"``: it stands in
        words as they were merged, but longest match takes another token there. ``"unknown"``: so it does, but the
        word is unknown as a whole. ``"absent"``: it is spelled in no word that was trained on, or not at a place where
        it could be matched.
    word
        The most frequent word that holds it, or held it before the merge; empty if it is absent.
    token
        What took it up, or what longest match takes in its place.
    step
        The merge that took it up last, or that made `token`.
    merges
        How many merges took it up.
    """

    kind: DeadKind
    word: str = ""
    token: str = ""
    step: int = 0
    merges: int = 0


class DeadTokens:
    """The reasons for the dead tokens of a vocabulary.

    Parameters
    ----------
    history
        The training that made the vocabulary.
    step
        After so many merges.
    dead
        bool, shape (n_tokens,): which tokens are dead.
    tokenizer
        Cuts words with that vocabulary.
    texts
        The words of the training, if they are at hand.
    should_stop
        Called now and then; what was made after it said so is worth nothing.
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
        self._known: dict[int, DeadReason] = {}
        self._standing_in = _most_frequent_words(history, step, dead, should_stop)
        self._taken_up_at, self._takers = _last_takers(history, step, len(dead))
        self._texts = texts if texts is not None else WordTexts(history)
        if (dead & (self._standing_in == _NONE) & (self._taken_up_at == 0)).any():
            self._texts.look_at_characters(should_stop)  # here and not in `reason`, which must be quick

    def reason(self, token_id: int) -> DeadReason:
        """Return why a dead token is dead."""
        found = self._known.get(token_id)
        if found is None:
            found = self._known[token_id] = self._found_out(token_id)
        return found

    def _found_out(self, token_id: int) -> DeadReason:
        token = self._history.token(token_id)
        word = int(self._standing_in[token_id])
        taken_up_at = int(self._taken_up_at[token_id])
        if word == _NONE and taken_up_at:
            return self._merged(taken_up_at, int(self._takers[token_id]))
        place = self._place(token, word) if word != _NONE else _NONE
        if place == _NONE:  # it stands nowhere, or only where characters were left out
            word, place = self._texts.first(*self._spelled(token))
        return self._cut_otherwise(self._history.input.words[word], place) if place != _NONE else DeadReason("absent")

    def number_of_words(self, token_id: int) -> int:
        """Return in how many distinct words a token is spelled where it could be matched; looks at all of them."""
        return self._texts.count(*self._spelled(self._history.token(token_id)))

    def _merged(self, step: int, merges: int) -> DeadReason:
        history = self._history
        places = history.positions(step - 1)
        inside = history.segmentations.words_at(places)
        word = history.input.words[int(inside[np.argmax(history.input.weights[inside])])]
        return DeadReason("merged", word, history.token(int(history.column("new_id")[step - 1])), step, merges)

    def _place(self, token: str, word: int) -> int:
        """Return where in a word a token stands as it was merged; _NONE if characters of the word were left out."""
        tokens = self._history.segmentations.tokens(word, self._step)
        prefix, suffix = self._tokenizer.vocabulary.continuing_subword_prefix, self._suffix
        parts = [tokens[0], *(part.removeprefix(prefix) for part in tokens[1:])]
        if "".join(parts) != self._history.input.words[word] + suffix:
            return _NONE
        return sum(map(len, parts[: tokens.index(token)]))

    def _spelled(self, token: str) -> tuple[str, bool | None]:
        """Return how a token is spelled in a word, and whether it begins the word; None if it may stand anywhere."""
        prefix = self._tokenizer.vocabulary.continuing_subword_prefix
        if not prefix:
            return token.removesuffix(self._suffix), None
        begins = not token.startswith(prefix) or token == prefix
        return token.removeprefix("" if begins else prefix).removesuffix(self._suffix), begins

    @property
    def _suffix(self) -> str:
        return self._tokenizer.vocabulary.end_of_word_suffix or ""

    def _cut_otherwise(self, word: str, place: int) -> DeadReason:
        spans = self._tokenizer.spans(word)
        if spans is None:
            return DeadReason("unknown", word)
        winner = next(token for token, start, end in spans if start <= place < end)
        token_id = self._tokenizer.vocabulary.id_of(winner)
        return DeadReason("covered", word, winner, 0 if token_id is None else self._history.birth_step(token_id))


class WordTexts:
    """Finds in which words of a training a text is spelled."""

    def __init__(self, history: MergeHistory) -> None:
        self._history = history
        self._joined = ""
        self._starts: NDArray[np.int64] | None = None  # made when first asked for
        self._first_characters: set[str] | None = None
        self._later_characters: set[str] = set()

    @property
    def _words(self) -> Sequence[str]:
        return self._history.input.words  # not before they are needed: of a stored history they must be read

    def first(self, text: str, begins: bool | None) -> tuple[int, int]:
        """Return the first word with `text` and where in it; (-1, -1) if there is none.

        `begins` tells whether `text` must be at the beginning of the word, or must not be; None for anywhere.
        """
        if self._first_characters is not None and len(text) == 1:
            is_first, is_later = text in self._first_characters, text in self._later_characters
            if not (is_first or is_later if begins is None else is_first if begins else is_later):
                return _NONE, _NONE
        return self._next(text, begins, 0)

    def look_at_characters(self, should_stop: Callable[[], bool] | None = None) -> None:
        """Find out which characters begin words and which are inside, so that `first` knows at once if one is not."""
        if self._first_characters is not None:
            return
        first: set[str] = set()
        for part in slices(len(self._words)):
            if should_stop is not None and should_stop():
                return
            first.update([word[0] for word in self._words[part]])
            self._later_characters.update("".join([word[1:] for word in self._words[part]]))
        self._first_characters = first

    def count(self, text: str, begins: bool | None) -> int:
        """Return how many words hold `text`."""
        found = 0
        word, _ = self._next(text, begins, 0)
        while word != _NONE:
            found += 1
            word, _ = self._next(text, begins, word + 1)
        return found

    def _next(self, text: str, begins: bool | None, word: int) -> tuple[int, int]:
        """Return the first word from the one with number `word` on."""
        if self._starts is None:
            self._starts = self._join()
        starts = self._starts
        sought = f"\n{text}" if begins else text
        at = int(starts[word]) - 1 if begins else int(starts[word])
        while (at := self._joined.find(sought, at)) != -1:
            place = at + 1 if begins else at
            word = int(np.searchsorted(starts, place, side="right")) - 1
            start, end = int(starts[word]), int(starts[word + 1]) - 1
            if place + len(text) <= end and (begins is None or begins == (place == start)):
                return word, place - start
            at += 1
        return _NONE, _NONE

    def _join(self) -> NDArray[np.int64]:
        """Put the words together, a line end before and behind each, and return where they start and all ends."""
        pieces = ["\n".join([*self._words[part], ""]) for part in slices(len(self._words))]
        lengths = np.fromiter(map(len, self._words), dtype=np.int64, count=len(self._words))
        self._joined = "\n" + "".join(pieces)
        return np.append(1, 1 + np.cumsum(lengths + 1))


def _most_frequent_words(
    history: MergeHistory, step: int, dead: NDArray[np.bool_], should_stop: Callable[[], bool] | None
) -> NDArray[np.int64]:
    """Return the most frequent word that holds each dead token as it was merged: int64 by id; _NONE if none does."""
    found = np.full(len(dead), _NONE, dtype=np.int64)
    most = np.zeros(len(dead), dtype=np.int64)
    weights = history.input.weights
    if not dead.any():
        return found
    for ids, inside in history.segmentations.tokens_by_block(step, history.column("new_id")):
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


def _last_takers(history: MergeHistory, step: int, size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the last merge up to `step` that took up each token, 0 for none, and how many there were."""
    last, number = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    lefts, rights = history.column("left_id")[:step], history.column("right_id")[:step]
    steps = np.arange(1, step + 1)
    for side in (lefts, rights):
        np.maximum.at(last, side, steps)
    number += np.bincount(lefts, minlength=size)
    others = rights[rights != lefts]
    number += np.bincount(others, minlength=size)
    return last, number
