"""What all panes have in common: a heading for their panel, one refresh for many changes, and an empty state.

A hidden pane does no work; it catches up when it is shown. Between a change and its refresh it keeps showing the old
state with the run that this belongs to: what is painted, hovered or described never mixes two runs.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, set_plain_tooltip

if TYPE_CHECKING:
    from PySide6.QtGui import QAction, QShowEvent

    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.history import MergeHistory

_FRAME_MS = 100
_HEADING_MARGINS = 48  # pixels: those of the title line, and the room between title and hint


class Pane(QWidget):
    """A widget with a heading that is refreshed at most once per turn of the event loop, and only while visible.

    Subclasses implement :meth:`refresh`, and :meth:`forget` if they remember anything about the run they show.
    """

    heading_changed = Signal()
    """:attr:`title` or :attr:`hint` has changed."""

    def __init__(self, model: TrainerModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._history: MergeHistory | None = model.history  # of the run that is shown
        self._title = ""
        self._hint = ""
        self._is_stale = True
        self._refresh_timer = QTimer(self)
        self._refresh_timer.setSingleShot(True)
        self._refresh_timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._refresh_timer.setInterval(0)
        self._refresh_timer.timeout.connect(self._on_refresh_timer_timeout)
        model.run_reset.connect(self._on_model_run_reset)

    @property
    def title(self) -> str:
        """The title of the panel, plain text."""
        return self._title

    @property
    def hint(self) -> str:
        """The muted text at the right of the title, plain text."""
        return self._hint

    def close_jobs(self) -> None:
        """Cancel background jobs, if there are any, and wait for them to end."""

    def set_heading(self, title: str, hint: str = "") -> None:
        """Set title and hint, and emit `heading_changed` if they differ."""
        if (title, hint) != (self._title, self._hint):
            self._title, self._hint = title, hint
            self.setAccessibleName(title)
            self.heading_changed.emit()

    def fitting_hint(self, title: str, *hints: str, taken: int = 0) -> str:
        """Return the first of the hints that fits beside the title, else the last; `taken`: pixels of other parts."""
        title_width = self.fontMetrics().horizontalAdvance(title) * 11 // 10  # it is bold
        room = self.width() - _HEADING_MARGINS - title_width - taken
        fitting = (hint for hint in hints if self.fontMetrics().horizontalAdvance(hint) <= room)
        return next(fitting, hints[-1])

    def refresh(self) -> None:
        """Show the present state."""
        raise NotImplementedError

    def forget(self) -> None:
        """Drop every step, row, token and word remembered from the run shown: the model has another run."""

    @property
    def is_stale(self) -> bool:
        """Whether a refresh is due."""
        return self._is_stale

    @property
    def is_current(self) -> bool:
        """Whether the pane is visible and shows the model's run: then a change may be shown before a refresh."""
        return self.isVisible() and self._history is self._model.history

    def refresh_now(self) -> None:
        """Refresh without waiting for the event loop."""
        self._is_stale = False
        self._history = self._model.history
        self.refresh()

    def refresh_later(self, delay_ms: int = 0) -> None:
        """Schedule one refresh for everything that changes before the event loop's next turn.

        With a delay it is at the next frame, or as many frames later as fit in the delay. Frames begin at the same
        times for all panes, ten a second: panes that follow a training show the same step.
        """
        self._is_stale = True
        if self.isVisible() and not (delay_ms and self._refresh_timer.isActive()):
            self._refresh_timer.start(_until_frame(delay_ms) if delay_ms else 0)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_stale:
            self._refresh_timer.start(0)

    def _on_refresh_timer_timeout(self) -> None:
        if self.isVisible():
            self.refresh_now()

    def _on_model_run_reset(self) -> None:
        self.forget()
        if not self.isVisible():
            self._history = self._model.history  # do not keep an old run in memory for a hidden pane
        self.refresh_later()


def _until_frame(delay_ms: int) -> int:
    """Return the milliseconds until the next frame; a delay of several frames skips that many less one."""
    now = time.monotonic_ns() // 1_000_000
    return _FRAME_MS - now % _FRAME_MS + (max(delay_ms // _FRAME_MS, 1) - 1) * _FRAME_MS


class EmptyState(QWidget):
    """What a pane shows while it is empty: a sentence, and below it the command that would fill it, if any.

    The pane decides when it is shown and what it says; the window sets the command with :meth:`offer`.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._action: QAction | None = None
        self._label = plain_label("", self, role="hint", wrap=True)
        self._label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._button = QPushButton(self)
        self._button.setProperty("role", "button")
        self._button.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 8, 24, 8)
        layout.setSpacing(8)
        layout.addStretch(1)
        layout.addWidget(self._label)
        layout.addWidget(self._button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(1)

    @property
    def text(self) -> str:
        """The sentence."""
        return self._label.text()

    def offer(self, action: QAction) -> None:
        """Set `action` as the command that fills the pane."""
        self._action = action
        self._button.clicked.connect(action.trigger)
        action.changed.connect(self._on_action_changed)
        self._on_action_changed()

    def show_text(self, text: str, *, offers: bool = False) -> None:
        """Show `text`, with `offers` also the command below it."""
        set_plain_text(self._label, text)
        self._button.setVisible(offers and self._action is not None)

    def _on_action_changed(self) -> None:
        if self._action is not None:
            self._button.setText(self._action.iconText())  # without the mnemonic, which belongs to the menu
            self._button.setEnabled(self._action.isEnabled())
            set_plain_tooltip(self._button, self._action.statusTip())
