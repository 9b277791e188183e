"""How often each token of the vocabulary is used on the corpus at the moment shown, found beside the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from wordpiece_studio.model.trainer_model import TrainerModel


class TokenUsage(QObject):
    """What longest match makes of the training corpus, token by token.

    Signals
    -------
    changed()
        There are other figures, or none.
    """

    changed = Signal()

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model

    def close(self) -> None:
        """Stop what runs and wait for it."""
