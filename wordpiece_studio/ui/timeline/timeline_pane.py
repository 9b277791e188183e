"""The timeline: to the first, previous, next, last moment; play at a speed; a slider over the curve of all values.

It moves the moment and nothing else: behind a training that runs it can be scrubbed, the engine is never touched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from wordpiece_studio.model.player import Player
from wordpiece_studio.model.records import TrainerState
from wordpiece_studio.model.watched_changes import WatchedChanges
from wordpiece_studio.ui.look.icons import icon
from wordpiece_studio.ui.look.pane import Pane
from wordpiece_studio.ui.look.plain import plain_label, set_plain_text, set_plain_tooltip
from wordpiece_studio.ui.look.token_text import number_text, token_text, value_text
from wordpiece_studio.ui.timeline.timeline_plot import TimelinePlot

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QResizeEvent

    from wordpiece_studio.model.trainer_model import TrainerModel
    from wordpiece_studio.ui.look.theme import Theme

_SPEEDS = (0.5, 1.0, 2.0, 4.0, 10.0, 50.0, 200.0, 1000.0)
_BUSY_DELAY_MS = 33
_LOW = 112
"""In a pane of fewer pixels the legend goes into the title line, which names the step too."""
_MANY = 5000
_MANY_DELAY_MS = 120
"""The curve of many merges takes ten milliseconds to draw: not more than a tenth of the time is spent on it."""


class TimelinePane(Pane):
    """Moves the moment that all panes share.

    Parameters
    ----------
    player
        The player that the play button moves; one of its own if it is None.
    """

    def __init__(
        self,
        model: TrainerModel,
        theme: Theme,
        parent: QWidget | None = None,
        *,
        player: Player | None = None,
        changes: WatchedChanges | None = None,
    ) -> None:
        super().__init__(parent)
        self._changes = changes if changes is not None else WatchedChanges(self)
        self._model = model
        self._theme = theme
        self._player = player if player is not None else Player(model, self)
        self._plot = TimelinePlot(theme, self._describe_moment, self)
        self._plot.setAccessibleName(self.tr("Moment of the training"))
        self._first = self._button("first", self.tr("To the beginning"), self._on_first_clicked)
        self._previous = self._button("previous", self.tr("Previous merge"), self._on_previous_clicked)
        self._play = self._button("play", self.tr("Play the merges"), self._on_play_clicked, primary=True)
        self._next = self._button("next", self.tr("Next merge"), self._on_next_clicked)
        self._last = self._button("last", self.tr("To the last merge"), self._on_last_clicked)
        self._speed = self._speed_box()
        self._step_label = plain_label("", self, role="caption")
        self._legend = TieLegend(theme, self)
        self._curve_label = plain_label("", self, role="caption")
        self._is_low = False
        self._lay_out()
        self._connect()
        self._draw_icons()
        self.set_heading(self.tr("Timeline"))

    @property
    def player(self) -> Player:
        """The player behind the play button."""
        return self._player

    @property
    def plot(self) -> TimelinePlot:
        """The slider."""
        return self._plot

    # -- set-up

    def _button(self, name: str, text: str, on_clicked: Callable[[], None], *, primary: bool = False) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(f"timeline_{name}")
        button.setProperty("role", "primary" if primary else "button")
        button.setProperty("picture", name)
        button.setIconSize(QSize(16, 16))
        button.setFixedSize(38, 32)
        button.setStyleSheet("padding: 0px;")  # the style sheet's padding is meant for words
        button.setAccessibleName(text)
        set_plain_tooltip(button, text)
        button.clicked.connect(on_clicked)
        # Played merges come several a second: the button must not swallow the second press.
        button.setAutoRepeat(name in ("previous", "next"))
        return button

    def _speed_box(self) -> QComboBox:
        box = QComboBox(self)
        box.setAccessibleName(self.tr("Speed of playing"))
        set_plain_tooltip(box, self.tr("How many merges a second are played"))
        for speed in _SPEEDS:
            number = value_text(speed) if speed >= 1 else "½"
            box.addItem(self.tr("{number} merges/s").format(number=number), speed)
        self._show_speed(box, self._player.speed)
        return box

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(6)
        for button in (self._first, self._previous, self._play, self._next, self._last):
            buttons.addWidget(button)
        speed_label = plain_label(self.tr("speed"), self, role="caption")
        speed_label.setBuddy(self._speed)
        speed = QHBoxLayout()
        speed.setSpacing(6)
        speed.addWidget(speed_label)
        speed.addWidget(self._speed, 1)
        left = QVBoxLayout()
        left.setSpacing(6)
        left.addLayout(buttons)
        left.addLayout(speed)
        left.addWidget(self._step_label)
        left.addStretch(1)
        legend = QHBoxLayout()
        legend.setContentsMargins(14, 0, 0, 0)
        legend.setSpacing(18)
        legend.addWidget(self._legend)
        legend.addWidget(self._curve_label)
        legend.addStretch(1)
        right = QVBoxLayout()
        right.setSpacing(0)
        right.addWidget(self._plot, 1)
        right.addLayout(legend)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(14, 8, 10, 4)
        layout.setSpacing(14)
        layout.addLayout(left)
        layout.addLayout(right, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the curve the room of the words in a low pane."""
        super().resizeEvent(event)
        self._is_low = self.height() < _LOW
        for widget in (self._step_label, self._legend, self._curve_label):
            widget.setVisible(not self._is_low)
        self._show_moment()

    def _connect(self) -> None:
        model = self._model
        model.moment_changed.connect(self._on_model_moment_changed)
        model.merges_appended.connect(self._on_model_merges_appended)
        model.run_reset.connect(self._on_model_run_reset)
        model.state_changed.connect(self._on_model_state_changed)
        self._plot.moment_chosen.connect(self._on_plot_moment_chosen)
        self._speed.activated.connect(self._on_speed_activated)
        self._player.playing_changed.connect(self._on_player_playing_changed)
        self._player.speed_changed.connect(self._on_player_speed_changed)
        self._theme.changed.connect(self._draw_icons)

    def _draw_icons(self) -> None:
        for button in (self._first, self._previous, self._play, self._next, self._last):
            is_primary = button is self._play
            name = "pause" if is_primary and self._player.is_playing else button.property("picture")
            color = self._theme.accent_text if is_primary else self._theme.text
            button.setIcon(icon(name, color, self._theme.faint))

    # -- what is shown

    def refresh(self) -> None:
        model = self._model
        history, count = model.history, model.merge_count
        if history is None:
            self._plot.set_curve(np.empty(0), np.empty(0))
        else:
            self._plot.set_curve(history.column("value")[:count], history.column("ties")[:count])
        self._plot.setEnabled(count > 0)
        self._show_moment()
        self._show_legend()

    def _show_moment(self) -> None:
        model = self._model
        self._plot.set_moment(model.moment)
        step, count = number_text(model.moment), number_text(model.merge_count)
        where = self.tr("step {step} of {count}").format(step=step, count=count)
        set_plain_text(self._step_label, where if model.history is not None else "")
        self._plot.setAccessibleDescription(where)
        self.set_heading(self.tr("Timeline"), self._hint_text(where))
        self._enable()

    def _hint_text(self, where: str) -> str:
        model = self._model
        if model.history is None:
            return self.tr("nothing is trained yet")
        if model.state is TrainerState.TRAINING:
            return self.tr("{where} · training").format(where=where)
        if self._is_low:
            return self.tr("{where} · {curve} · dots: ties").format(where=where, curve=self._curve_text())
        keys = self.tr("← → step · drag, click or turn the wheel")
        return f"{where} · {keys}"

    def _enable(self) -> None:
        model = self._model
        has_run = model.history is not None
        self._first.setEnabled(model.moment > 0)
        self._previous.setEnabled(model.moment > 0)
        self._last.setEnabled(not model.is_at_head)
        ended = model.state is TrainerState.FINISHED and model.stop_reason != "user"
        self._next.setEnabled(has_run and not (model.is_at_head and (ended or model.state is TrainerState.TRAINING)))
        self._play.setEnabled(model.merge_count > 0)

    def _curve_text(self) -> str:
        config = self._model.config
        names = {
            "score": self.tr("curve: score of each merge, logarithmic"),
            "likelihood": self.tr("curve: gain of each merge, logarithmic"),
            "count": self.tr("curve: count of each merge, logarithmic"),
        }
        return names[config.objective] if config is not None else ""

    def _show_legend(self) -> None:
        text = self._curve_text()
        set_plain_text(self._curve_label, text)
        self._legend.set_text(self.tr("tie") if text else "")

    def _describe_moment(self, moment: int) -> str:
        history = self._model.history
        if history is None or not moment:
            return self.tr("before the first merge")
        merge = history[moment - 1]
        text = f"{number_text(moment)} · {token_text(merge.token, 30)} · {value_text(merge.value)}"
        if merge.ties > 1:
            text += " · " + self.tr("tie of {count}").format(count=number_text(merge.ties))
        return text

    def _show_speed(self, box: QComboBox, speed: float) -> None:
        index = box.findData(speed)
        if index >= 0:
            box.setCurrentIndex(index)

    # -- what happens

    def _on_model_moment_changed(self, _moment: object) -> None:
        if self._model.state is TrainerState.TRAINING:
            self.refresh_later(_BUSY_DELAY_MS)  # together with the other panes
        elif self.isVisible():
            self._show_moment()

    def _on_model_merges_appended(self, _first: object, _last: object) -> None:
        self.refresh_later(_BUSY_DELAY_MS if self._model.merge_count < _MANY else _MANY_DELAY_MS)

    def _on_model_run_reset(self) -> None:
        self.refresh_later()

    def _on_model_state_changed(self, _state: object) -> None:
        self.refresh_later()

    def _on_plot_moment_chosen(self, moment: int) -> None:
        self._player.stop()
        self._model.seek(moment)

    def _on_first_clicked(self) -> None:
        self._player.stop()
        self._model.first()

    def _on_previous_clicked(self) -> None:
        self._player.stop()
        self._model.previous_merge()

    def _on_next_clicked(self) -> None:
        self._player.stop()
        self._model.next_merge()

    def _on_last_clicked(self) -> None:
        self._player.stop()
        self._model.last()

    def _on_play_clicked(self) -> None:
        self._player.toggle()

    def _on_speed_activated(self, index: int) -> None:
        self._player.set_speed(self._speed.itemData(index))

    def _on_player_speed_changed(self, speed: float) -> None:
        self._show_speed(self._speed, speed)

    def _on_player_playing_changed(self, is_playing: bool) -> None:
        text = self.tr("Stop playing") if is_playing else self.tr("Play the merges")
        self._play.setAccessibleName(text)
        set_plain_tooltip(self._play, text)
        self._draw_icons()


class TieLegend(QWidget):
    """A dot in the colour of ties, and the word for it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._text = ""
        theme.changed.connect(self.update)

    def set_text(self, text: str) -> None:
        """Show this word beside the dot, or nothing if it is empty."""
        self._text = text
        self.setAccessibleName(text)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        return QSize(metrics.horizontalAdvance(self._text) + 14, metrics.height()) if self._text else QSize(0, 0)

    def paintEvent(self, _event: QPaintEvent) -> None:
        if not self._text:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.tie)
        painter.drawEllipse(1, self.height() // 2 - 3, 6, 6)
        painter.setPen(self._theme.tie_text)
        painter.drawText(self.rect().adjusted(12, 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), self._text)
        painter.end()
