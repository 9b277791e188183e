"""Memory and time that the next training needs: shown beside its limits, and a question if it is too much.

The figures take a millisecond; the forecast itself is in `training.forecast`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtWidgets import QMessageBox, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.memory import ADVICE, available_memory, memory_text
from wordpiece_studio.training.forecast import Forecaster
from wordpiece_studio.ui.messages import add_button, plain_box

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.chosen_settings import ChosenSettings
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.ui.widgets.banner import Banner

_LEAST_BYTES = 1_000_000  # of a corpus for which the need is shown
_MUCH = 0.8  # of the free memory


class MemoryController(QObject):
    """Forecasts what training the open corpus with the present settings needs, and warns if that is much."""

    def __init__(self, window: QWidget, settings: ChosenSettings, banner: Banner) -> None:
        super().__init__(window)
        self._window = window
        self._settings = settings
        self._banner = banner
        self._forecaster: Forecaster | None = None
        self._counts: WordCounts | None = None  # those that the forecast is for
        self._needed = 0  # 0: not worth mentioning
        self._seconds = 0.0
        self._pace = 1.0
        self._available: int | None = None
        self._is_much = False
        self._warning = ""  # the last one that was shown
        self._question: QMessageBox | None = None
        self._go: Callable[[], None] | None = None  # what to do if the user goes ahead

    def take_counts(self, counts: WordCounts | None) -> None:
        """Forecast for another corpus; None for one that is not counted yet."""
        self._forecaster, self._counts = None, counts
        if counts is not None and max(counts.statistics.bytes, counts.statistics.characters) > _LEAST_BYTES:
            self._forecaster = Forecaster(counts)
        self.look()

    def set_pace(self, pace: float) -> None:
        """Take the pace of this machine into account, see `kernel_warmup`."""
        self._pace = pace
        self.look()

    def look(self) -> None:
        """Update the forecast from the settings and the free memory."""
        self._needed = 0
        if self._forecaster is not None:
            try:
                config = self._settings.config()
                self._needed = self._forecaster.memory(config).peak
                self._seconds = self._forecaster.seconds(config, self._pace, is_watched=True)
            except StudioError:
                return  # training says what is wrong with the settings
            self._available = available_memory()
        was_much, self._is_much = self._is_much, self._needed > _MUCH * (self._available or math.inf)
        is_shown = self._banner.text == self._warning != ""
        if self._is_much and self._available is not None and (is_shown or not was_much):
            self._warning = " ".join((self._figures(self._needed, self._available), _advice()))
            self._banner.show_message(self._warning, "warning")
        elif is_shown:
            self._banner.clear()

    @property
    def words(self) -> tuple[str, ...]:
        """What the next training needs, from the longest wording to the shortest; empty for a small corpus."""
        if not self._needed:
            return ()
        needed, time = memory_text(self._needed), self._time_text()
        forms = (
            self.tr("needs about {needed} · {time}").format(needed=needed, time=time),
            self.tr("{needed}, {time}").format(needed=needed, time=time),
        )
        if self._available is None:
            return forms
        whole = self.tr("needs about {needed}, {free} free · {time}")
        return whole.format(needed=needed, free=memory_text(self._available), time=time), *forms

    def _time_text(self) -> str:
        if self._seconds < 1:
            return self.tr("under 1 s")
        return self.tr("about {time}").format(time=rough_duration(self._seconds))

    def confirm(self, counts: WordCounts, config: TrainingConfig, go: Callable[[], None], *, merges: int = 0) -> None:
        """Call `go`; if the training does not fit, ask the user first. `merges` of its merges are already learned."""
        known = self._forecaster if counts is self._counts else None
        available, forecaster = available_memory(), known or Forecaster(counts)
        forecast = forecaster.memory(config)
        present = forecaster.memory(replace(config, max_merges=merges))
        needed = forecast.beyond(present) if merges else forecast.peak
        if available is None or needed <= available:
            go()
            return
        risk = self.tr("If you start it anyway, other programs may become slow, or the system may end this one.")
        figures = self._figures(needed, available)
        box = plain_box(self._window, QMessageBox.Icon.Warning, figures, f"{risk} {_advice()}")
        add_button(box, QMessageBox.StandardButton.Yes, self.tr("&Train anyway"))
        box.setDefaultButton(add_button(box, QMessageBox.StandardButton.Cancel))
        box.finished.connect(self._on_question_finished)
        if self._question is not None:
            self._question.reject()  # it is about a training no longer wanted
        self._question, self._go = box, go
        box.open()

    def _on_question_finished(self, answer: int) -> None:
        go, self._go, self._question = self._go, None, None
        if answer == QMessageBox.StandardButton.Yes.value and go is not None:
            go()

    def _figures(self, needed: int, available: int) -> str:
        words = self.tr("This training needs about {needed} of memory, and {free} is free.")
        return words.format(needed=memory_text(needed), free=memory_text(available))


def rough_duration(seconds: float) -> str:
    """Return a time span of which only the magnitude is known.

    >>> rough_duration(3.4), rough_duration(38), rough_duration(200), rough_duration(9000)
    ('3 s', '40 s', '3 min', '2.5 h')
    """
    if seconds < 10:
        return f"{max(1, round(seconds))} s"
    if seconds < 57:
        return f"{round(seconds / 5) * 5} s"
    if seconds < 3600:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"


def _advice() -> str:
    return QCoreApplication.translate("errors", ADVICE)
