"""Charts of the training, linked to the moment both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.ui.look.pane import Pane

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from wordpiece_studio.model.token_usage import TokenUsage
    from wordpiece_studio.model.trainer_model import TrainerModel
    from wordpiece_studio.model.watched_changes import WatchedChanges
    from wordpiece_studio.ui.look.theme import Theme


class ChartsPane(Pane):
    """Charts of the training, linked to the moment both ways."""

    def __init__(
        self,
        model: TrainerModel,
        usage: TokenUsage,
        changes: WatchedChanges,
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._usage = usage
        self._changes = changes
        self._theme = theme
        self.set_heading(self.tr("Charts"))

    def refresh(self) -> None:
        pass
