"""The steps of a training that change how a text is tokenized, found without training or tokenizing at every step.

A step changes a word only if it makes a token that is spelled inside the word. So the birth steps of all tokens inside
a word are looked up, and longest match is done over these numbers alone: at step k it may take what was born by then.
Plain Python: no Qt.

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

_Reach = list[list[tuple[int, int]]]
"""For each place in a word the (end, birth step) of the tokens that fit there, longest first."""


@dataclass(frozen=True, slots=True)
class TextChange:
    """A step that changed the text.

    Attributes
    ----------
    step, token
        Its number, and the token it made.
    tokens
        How many tokens the text has after it.
    change
        How many more that is than before it; it may be 0 where the text is split elsewhere.
    left, right
        The pair that it joined.
    """

    step: int
    token: str
    tokens: int
    change: int = 0
    left: str = ""
    right: str = ""


class TextChanges(Sequence[TextChange]):
    """Rows over two columns, each made when it is asked for.

    Parameters
    ----------
    steps, changes
        int64, shape (n,): the steps, ascending, and by how many tokens each changes the text.
    before
        The number of tokens before the first of them.

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
        By how many each of them changes their number.
    is_unknown
        Whether it is out of the vocabulary, which is so at all steps or at none: merges make no new symbol.
    """

    tokens_at_start: int
    steps: tuple[int, ...]
    changes: tuple[int, ...]
    is_unknown: bool = False


def word_timeline(word: str, vocabulary: Vocabulary, births: Sequence[int], longest_word: int) -> WordTimeline:
    """Return at which steps the tokens of a word change.

    Parameters
    ----------
    vocabulary
        The tokens up to the last step that is to be looked at.
    births
        The step that made each token, by id; 0 for special tokens and the alphabet.
    longest_word
        A word of more characters is unknown as a whole.
    """
    reach = _reach(word, vocabulary, births) if len(word) <= longest_word else None
    before = _ends(reach, 0) if reach is not None else None
    if reach is None or before is None:
        return WordTimeline(1, (), (), is_unknown=True)
    first = len(before)
    steps, changes = [], []
    for step in sorted({born for place in reach for _, born in place if born}):
        now = _ends(reach, step)
        if now is not None and now != before:
            steps.append(step)
            changes.append(len(now) - len(before))
            before = now
    return WordTimeline(first, tuple(steps), tuple(changes))


def _reach(word: str, vocabulary: Vocabulary, births: Sequence[int]) -> _Reach:
    """Look up every stretch of the word; its end-of-word suffix, if there is one, counts as one more symbol."""
    suffix = vocabulary.end_of_word_suffix
    units = [*word, suffix] if suffix else list(word)
    places: _Reach = []
    for start in range(len(units)):
        candidate = vocabulary.continuing_subword_prefix if start else ""
        found = []
        for end in range(start + 1, min(len(units), start + vocabulary.longest) + 1):
            candidate += units[end - 1]
            token_id = vocabulary.id_of(candidate)
            if token_id is not None:
                found.append((end, births[token_id]))
        places.append(found[::-1])
    return places


def _ends(reach: _Reach, step: int) -> list[int] | None:
    """Return where the tokens of the word end at a step, by longest match; None if it is unknown."""
    ends = []
    place = 0
    while place < len(reach):
        for end, born in reach[place]:
            if born <= step:
                ends.append(end)
                place = end
                break
        else:
            return None
    return ends
