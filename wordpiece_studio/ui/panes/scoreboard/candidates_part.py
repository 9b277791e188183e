"""The middle of the scoreboard: the table of candidates, or a sentence that says why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QStackedWidget, QVBoxLayout, QWidget

from wordpiece_studio.ui.panes.scoreboard.candidates_view import CandidatesView
from wordpiece_studio.ui.panes.scoreboard.wording import tie_rule_sentence, tie_text, value_name
from wordpiece_studio.ui.widgets.empty_state import EmptyState
from wordpiece_studio.ui.widgets.icons import icon
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, set_plain_tooltip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.engine import Candidate
    from wordpiece_studio.ui.widgets.theme import Theme


class CandidatesPart(QStackedWidget):
    """Shows candidates or a message."""

    pause_wanted = Signal()
    """The button below the message was pressed."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = CandidatesView(theme, self)
        self._note = QWidget(self)
        self.message = plain_label("", self._note, role="hint", wrap=True)
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._theme = theme
        self.pause_button = QPushButton(self.tr("Pause"), self._note)
        set_plain_tooltip(self.pause_button, self.tr("Pause the training, so that the candidates can be seen"))
        layout = QVBoxLayout(self._note)
        layout.setContentsMargins(24, 4, 24, 4)
        layout.addStretch(1)
        layout.addWidget(self.message)
        layout.addWidget(self.pause_button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(1)
        self.addWidget(self.view)
        self.addWidget(self._note)
        self.nothing = EmptyState(self)
        self.addWidget(self.nothing)
        self._on_theme_changed()
        theme.changed.connect(self._on_theme_changed)
        self.pause_button.clicked.connect(self.pause_wanted)

    def show_candidates(
        self,
        candidates: Sequence[Candidate],
        config: TrainingConfig,
        symbols: int,
        limit: int,
        *,
        ties: int | None,
    ) -> None:
        """Show these candidates; if they only go on where those that are shown end, nothing moves.

        Parameters
        ----------
        symbols
            N, see `formula_of`.
        limit
            How many were asked for: if there are as many, there may be more.
        ties
            How many tie with the best, None if no one knows more than is seen.
        """
        may_have_more = len(candidates) >= limit
        name = value_name(config.objective)
        if not self.view.add_candidates(candidates, config.objective, symbols, may_have_more=may_have_more):
            self.view.show_candidates(candidates, config.objective, symbols, name, may_have_more=may_have_more)
        tied = self.view.candidates.tied_rows
        text = tie_text(ties or tied, or_more=ties is None and tied == limit)
        self.view.set_tie_text(text, tie_rule_sentence(config.tie, ties or tied))

    def show_message(self, text: str, *, can_pause: bool = False) -> None:
        """Show a message in place of the table, with a button if pausing helps; an empty one shows the table."""
        set_plain_text(self.message, text)
        self.pause_button.setVisible(can_pause)
        self.setCurrentWidget(self._note if text else self.view)

    def show_nothing(self, text: str) -> None:
        """Say that nothing is trained, with the command that trains."""
        self.nothing.show_text(text, offers=True)
        self.setCurrentWidget(self.nothing)

    def _on_theme_changed(self) -> None:
        self.pause_button.setIcon(icon("pause", self._theme.text))
