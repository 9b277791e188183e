"""What the charts draw from: one run at its step, the live text, the tokens' use, and the focus put in numbers.

Plain Python over the models: no Qt, no signal, no widget.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.evaluation.metrics import number_of_words
from wordpiece_studio.session.chart_lengths import TokenLengths
from wordpiece_studio.session.focus_token import text_of_token
from wordpiece_studio.session.text_changes import TextChanges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.session.live_changes import LiveChanges
    from wordpiece_studio.session.token_usage import TokenUsage
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.history import MergeHistory


@dataclass(frozen=True, slots=True)
class FocusedToken:
    """The token that is looked at: its text, its id, and the step that made it (0: it was there from the beginning)."""

    text: str
    id: int
    birth: int


class ChartSource:
    """The figures of all charts, as far as the run has got."""

    def __init__(self, model: TrainerModel, usage: TokenUsage, changes: LiveChanges) -> None:
        self.model = model
        self.usage = usage
        self.changes = changes
        self.lengths = TokenLengths()
        self._words: tuple[MergeHistory | None, int] = (None, 0)

    @property
    def history(self) -> MergeHistory | None:
        """The merges; None if nothing was trained, or not a single merge was made."""
        return self.model.history if self.model.merge_count else None

    @property
    def count(self) -> int:
        """The last step there is."""
        return self.model.merge_count

    @property
    def step(self) -> int:
        """The step shown."""
        return self.model.step

    @property
    def words(self) -> int:
        """Number of words in the training corpus, each as often as it occurs."""
        history = self.model.history
        if history is not None and self._words[0] is not history:
            self._words = (history, number_of_words(history))
        return self._words[1] if history is not None else 0

    @property
    def focused(self) -> FocusedToken | None:
        """The token that the focus means: itself, the one its pair makes, or the one that is its whole word.

        None if there is no such token yet.
        """
        focus, history = self.model.focus, self.history
        vocabulary = self.model.vocabulary_at(self.count)
        if focus is None or history is None or vocabulary is None:
            return None
        text = focus.text if focus.kind == "word" else text_of_token(focus, vocabulary)
        token_id = vocabulary.id_of(text)
        return None if token_id is None else FocusedToken(text, token_id, history.birth_step(token_id))

    def live_tokens(self) -> NDArray[np.int64]:
        """Return the number of tokens of the live text after each of the steps that changed it."""
        rows = self.changes.rows
        if isinstance(rows, TextChanges):
            return rows.tokens
        return np.array([row.tokens for row in rows], dtype=np.int64)
