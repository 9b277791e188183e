"""The step that made what is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from wordpiece_studio.session.trainer_model import TrainerModel


def focused_step(model: TrainerModel) -> int:
    """Return the step at which the token that is looked at was born, or at which its pair was merged first; else 0."""
    focus, vocabulary, history = model.focus, model.vocabulary_at(model.merge_count), model.history
    if focus is None or vocabulary is None or history is None:
        return 0
    if focus.kind == "token":
        token_id = vocabulary.id_of(focus.text)
        return history.birth_step(token_id) if token_id is not None else 0
    left, right = vocabulary.id_of(focus.left), vocabulary.id_of(focus.right)
    if focus.kind == "word" or left is None or right is None:
        return 0
    count = model.merge_count
    is_pair = (history.column("left_id")[:count] == left) & (history.column("right_id")[:count] == right)
    first = int(np.argmax(is_pair)) if count else 0
    return first + 1 if count and is_pair[first] else 0
