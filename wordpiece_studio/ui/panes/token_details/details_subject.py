"""What the token details are about: worked out of the focus and the history. No widget and no sentence is here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from wordpiece_studio.session.selection import text_of_token

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.session.records import Focus
    from wordpiece_studio.training.history import MergeHistory


@dataclass(frozen=True, slots=True)
class Subject:
    """A token, a pair or a word.

    Attributes
    ----------
    kind
        ``"token"``: the token `token_id`; of a pair it is the one that the pair makes. ``"pair"``: a pair whose token
        is not learned. ``"strange"``: `text` is no token of this training. ``"word"``: the word `text`.
    text
        The token as it is or would be written, or the word.
    token_id, birth
        Its id, and the step that made it, 0 for special tokens and the alphabet; -1 for what is not learned.
    pair
        The left and the right token, if a pair is looked at.
    pair_step
        The step that merged the pair; 0 for none.
    """

    kind: Literal["token", "pair", "strange", "word"]
    text: str
    token_id: int = -1
    birth: int = -1
    pair: tuple[str, str] | None = None
    pair_step: int = 0


def subject_of(history: MergeHistory, focus: Focus, end: int) -> Subject:
    """Return what is looked at, in the first `end` merges."""
    if focus.kind == "word":
        return Subject("word", focus.text)
    vocabulary = history.vocabulary(end)
    pair, text, step = None, text_of_token(focus, vocabulary), 0
    if focus.kind == "pair":
        pair = (focus.left, focus.right)
        step = _step_of_pair(history, vocabulary.id_of(focus.left), vocabulary.id_of(focus.right), end)
    token_id = vocabulary.id_of(text)
    if token_id is None:
        return Subject("strange" if pair is None else "pair", text, pair=pair)
    return Subject("token", text, token_id, history.birth_step(token_id), pair, step)


def _step_of_pair(history: MergeHistory, left: int | None, right: int | None, end: int) -> int:
    if left is None or right is None:
        return 0
    found = np.flatnonzero((history.column("left_id")[:end] == left) & (history.column("right_id")[:end] == right))
    return int(found[0]) + 1 if len(found) else 0


def children_of(history: MergeHistory, token_id: int, end: int) -> NDArray[np.int64]:
    """Return the steps, from 1, of the first `end` merges that took up a token: int64, ascending."""
    lefts, rights = history.column("left_id")[:end], history.column("right_id")[:end]
    return np.flatnonzero((lefts == token_id) | (rights == token_id)) + 1
