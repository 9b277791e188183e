"""When the film strip is made anew: a moment after the text or the run has changed, and never while training runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from wordpiece_studio.model.film_strip import film_strip
from wordpiece_studio.model.records import TrainerState

if TYPE_CHECKING:
    from wordpiece_studio.model.trainer_model import TrainerModel
    from wordpiece_studio.model.watched_changes import WatchedChanges
    from wordpiece_studio.model.watched_text import WatchedText
    from wordpiece_studio.ui.tokenization.film_strip_view import FilmStripView

_MOST_WORDS = 300
"""So many distinct words can have a film strip; more would hold up the window."""
_DELAY_MS = 60


class FilmStripFlow(QObject):
    """Keeps the strip at the moment of the model and at the text that is watched."""

    def __init__(
        self,
        model: TrainerModel,
        watched: WatchedText,
        view: FilmStripView,
        changes: WatchedChanges,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._watched = watched
        self._view = view
        self._changes = changes
        self._key: object = None  # what the strip was made from
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DELAY_MS)
        self._timer.timeout.connect(self._on_timer_timeout)

    def forget(self) -> None:
        """Make another strip the next time."""
        self._key = None

    def refresh(self) -> None:
        """Follow the moment now; make another strip, which takes longer, when nothing has changed for a moment."""
        model = self._model
        key = (id(model.history), model.merge_count, self._watched.text)
        waits = model.state is TrainerState.TRAINING and self._key is not None
        if waits or key == self._key:
            self._view.set_moment(model.moment)
        else:
            self._key = key
            self._timer.start()

    def _on_timer_timeout(self) -> None:
        model, history = self._model, self._model.history
        counts = self._watched.word_counts()
        if history is None:
            self._view.show_rows((), 0)
            self._changes.set_rows((), is_known=False)
        elif len(counts) > _MOST_WORDS:
            self._view.show_too_long()
            self._changes.set_rows((), is_known=False)
        else:
            rows = film_strip(counts, history, model.merge_count, model.tokenizer_at)
            self._view.show_rows(rows, model.moment)
            self._changes.set_rows(rows)
