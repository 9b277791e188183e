"""The steps of a training that change how a text is tokenized, found without training or tokenizing at every step.

A step can change a word only if it makes a token that occurs inside the word. So the birth steps of all tokens inside
a word are looked up, and longest match works on these numbers alone: at step k it may use tokens born by then. Plain
Python: no Qt.

Example: with ``Th`` born at step 9 and ``##is`` at step 12, "This" can change at the steps 9 and 12 only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.tokenizer.vocabulary import Vocabulary
    from wordpiece_studio.training.history import MergeHistory

_Fits = list[list[tuple[int, int]]]
"""For each position in a word, the (end, birth step) of the tokens that fit there, longest first."""


@dataclass(frozen=True, slots=True)
class TextChange:
    """A step that changed the text.

    Attributes
    ----------
    step, token
        The step, and the token it made.
    tokens
        Number of tokens of the text after it.
    change
        How many more tokens that is than before; may be 0 if the text is only split differently.
    left, right
        The pair that it merged.
    """

    step: int
    token: str
    tokens: int
    change: int = 0
    left: str = ""
    right: str = ""


class TextChanges(Sequence[TextChange]):
    """Rows over two columns, each created on demand.

    Parameters
    ----------
    steps, changes
        int64, shape (n,): the steps, ascending, and by how many tokens each changes the text.
    before
        The number of tokens before the first step.

    Attributes
    ----------
    tokens
        int64, shape (n,): the number of tokens after each step.
    """

    def __init__(
        self, history: MergeHistory, steps: NDArray[np.int64], changes: NDArray[np.int64], before: int
    ) -> None:
        self._history = history
        self.steps = steps
        self.changes = changes
        self.tokens = np.cumsum(changes) + before

    def __len__(self) -> int:
        return len(self.steps)

    @overload
    def __getitem__(self, index: int) -> TextChange: ...
    @overload
    def __getitem__(self, index: slice) -> list[TextChange]: ...
    def __getitem__(self, index: int | slice) -> TextChange | list[TextChange]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        step = int(self.steps[index])
        merge = self._history[step - 1]
        return TextChange(step, merge.token, int(self.tokens[index]), int(self.changes[index]), merge.left, merge.right)


@dataclass(frozen=True, slots=True)
class WordTimeline:
    """One word at all steps.

    Attributes
    ----------
    tokens_at_start
        Number of tokens before the first merge.
    steps
        The steps that change its tokens, ascending.
    changes
        By how many tokens each step changes their number.
    is_unknown
        Whether the word is unknown, at all steps or at none: merges add no new characters.
    """

    tokens_at_start: int
    steps: tuple[int, ...]
    changes: tuple[int, ...]
    is_unknown: bool = False


def word_timeline(word: str, vocabulary: Vocabulary, births: Sequence[int], longest_word: int) -> WordTimeline:
    """Return the steps at which the tokens of a word change.

    Parameters
    ----------
    vocabulary
        The tokens up to the last step of interest.
    births
        The step that made each token, by id; 0 for special tokens and the alphabet.
    longest_word
        A word of more characters is unknown.
    """
    fits = _fitting_tokens(word, vocabulary, births) if len(word) <= longest_word else None
    before = _ends(fits, 0) if fits is not None else None
    if fits is None or before is None:
        return WordTimeline(1, (), (), is_unknown=True)
    first = len(before)
    steps, changes = [], []
    for step in sorted({born for place in fits for _, born in place if born}):
        now = _ends(fits, step)
        if now is not None and now != before:
            steps.append(step)
            changes.append(len(now) - len(before))
            before = now
    return WordTimeline(first, tuple(steps), tuple(changes))


def _fitting_tokens(word: str, vocabulary: Vocabulary, births: Sequence[int]) -> _Fits:
    """Look up every substring of the word; an end-of-word suffix counts as one more symbol."""
    suffix = vocabulary.end_of_word_suffix
    units = [*word, suffix] if suffix else list(word)
    places: _Fits = []
    for start in range(len(units)):
        piece = vocabulary.continuing_subword_prefix if start else ""
        found = []
        for end in range(start + 1, min(len(units), start + vocabulary.longest) + 1):
            piece += units[end - 1]
            token_id = vocabulary.id_of(piece)
            if token_id is not None:
                found.append((end, births[token_id]))
        places.append(found[::-1])
    return places


def _ends(fits: _Fits, step: int) -> list[int] | None:
    """Return where the tokens of the word end at a step, by longest match; None if the word is unknown."""
    ends = []
    place = 0
    while place < len(fits):
        for end, born in fits[place]:
            if born <= step:
                ends.append(end)
                place = end
                break
        else:
            return None
    return ends
