"""The token that the selection stands for, and the step at which the selected item came to be. Plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.session.breakpoints import Breakpoint, BreakpointSearch

if TYPE_CHECKING:
    from wordpiece_studio.session.run import Selection
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary
    from wordpiece_studio.training.history import MergeHistory


def text_of_token(selection: Selection, vocabulary: Vocabulary) -> str:
    """Return the text of the selected token, or of the one its pair would make; empty for a word."""
    if selection.kind == "word":
        return ""
    return selection.text if selection.kind == "token" else made_by(selection, vocabulary.continuing_subword_prefix)


def made_by(pair: Selection, prefix: str) -> str:
    return pair.left + pair.right.removeprefix(prefix)


def id_of_token(selection: Selection, vocabulary: Vocabulary) -> int | None:
    return None if selection.kind == "word" else vocabulary.id_of(text_of_token(selection, vocabulary))


def step_of_pair(pair: Selection, history: MergeHistory, merges: int) -> int | None:
    """Return the first of so many steps that merged a pair; None if none did."""
    left, right = map(history.vocabulary(merges).id_of, (pair.left, pair.right))
    if left is None or right is None:
        return None
    is_merge = (history.column("left_id")[:merges] == left) & (history.column("right_id")[:merges] == right)
    return int(np.argmax(is_merge)) + 1 if is_merge.any() else None


class SelectionStep:
    """Finds the step; for the same selection during training, it searches only the new merges."""

    def __init__(self) -> None:
        self._request: tuple[Selection | None, MergeHistory | None] = (None, None)
        self._found: int | None = None
        self._word: BreakpointSearch | None = None

    def find(self, selection: Selection | None, history: MergeHistory | None, merges: int) -> int | None:
        """Return the step, up to `merges`, at which the selection came to be; None if it did not.

        For a token, the step of its birth, 0 for the alphabet; for a pair, the first step that merged it; for a
        word, the step from which it is one token.
        """
        if selection is None or history is None:
            return None
        if selection != self._request[0] or history is not self._request[1]:
            self._request, self._found, self._word = (selection, history), None, None
        if self._found is None:
            self._found = self._look(selection, history, merges)
        return self._found if self._found is not None and self._found <= merges else None

    def _look(self, selection: Selection, history: MergeHistory, merges: int) -> int | None:
        if selection.kind == "word":
            return self._whole(selection.text, history, merges)
        vocabulary = history.vocabulary(merges)
        if selection.kind == "token":
            token_id = vocabulary.id_of(selection.text)
            return None if token_id is None else history.birth_step(token_id)
        return step_of_pair(selection, history, merges)

    def _whole(self, word: str, history: MergeHistory, merges: int) -> int | None:
        if self._word is None:
            if not word:
                return None
            self._word = BreakpointSearch(Breakpoint("word", word), history)
        self._word.advance(merges)
        return int(self._word.steps[0]) if len(self._word.steps) else None
