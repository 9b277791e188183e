"""The charts of a run, one at a time or all at once, linked both ways to the step and the selection."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.chart_source import ChartSource
from wordpiece_studio.session.plural import filled
from wordpiece_studio.session.task import single_shot
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.ui.panes.charts.chart import Choice
from wordpiece_studio.ui.panes.charts.charts import all_charts
from wordpiece_studio.ui.widgets.fields import combo_box, keep_keys
from wordpiece_studio.ui.widgets.pane import Pane, fill
from wordpiece_studio.ui.widgets.plain import Fitted, tool_button

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent

    from wordpiece_studio.session.session import Session
    from wordpiece_studio.ui.panes.charts.plot import ChartView
    from wordpiece_studio.ui.widgets.theme import Theme

_IN_ROW = 3
_ROOM_FOR_ALL = QSize(47, 3)  # in line heights, without the rows
_ROW_HEIGHT = 12
_FRAME_MS = 100


class ChartChoice(Fitted, QWidget):
    """Buttons, or a combo box where they do not fit, that choose what is shown."""

    chosen = Signal(object)  # the index chosen by the user, an int

    def __init__(self, choices: Sequence[Choice], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._group = QButtonGroup(self)
        self._row = QWidget(self)
        self._combo = combo_box(self, self.tr("Chart"))
        row = fill(QHBoxLayout(self._row), spacing=2)
        for index, choice in enumerate(choices):
            self._combo.addItem(choice.name)
            button = tool_button(
                choice.name, choice.tip, self._row, name=choice.name, entry=choice.entry, is_switch=True,
                takes_focus=True,
            )  # fmt: skip
            keep_keys(button, Qt.Key.Key_Left, Qt.Key.Key_Right)  # which go to its neighbors
            self._group.addButton(button, index)
            row.addWidget(button)
        fill(QHBoxLayout(self), self._row, self._combo, 1, spacing=-1)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._group.idClicked.connect(self.chosen.emit)
        self._combo.activated.connect(self.chosen.emit)
        self.set_index(0)
        self.fit()

    def set_index(self, index: int) -> None:
        self._group.button(index).setChecked(True)
        self._combo.setCurrentIndex(index)

    def set_available(self, index: int, available: bool) -> None:
        self._group.button(index).setVisible(available)
        items = self._combo.model()
        assert isinstance(items, QStandardItemModel)
        items.item(index).setEnabled(available)
        self.fit()

    def minimumSizeHint(self) -> QSize:
        combo = self._combo.sizeHint()
        return QSize(combo.width(), max(self._row.sizeHint().height(), combo.height()))

    def sizeHint(self) -> QSize:
        return QSize(self._row.sizeHint().width(), self.minimumSizeHint().height())

    def fit(self) -> None:
        fits = self._row.sizeHint().width() <= self.width()
        self._row.setVisible(fits)
        self._combo.setVisible(not fits)


class ChartsPane(Pane):
    save_requested = Signal()

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(session.model, parent)
        self._usage = session.usage
        self._theme = theme
        self._source = ChartSource(session)
        self._views: list[ChartView] = []
        self._index: int | None = None  # None: whatever fits
        self._charts = all_charts()
        self._rows = math.ceil(len(self._charts) / _IN_ROW)
        self._all = len(self._charts)
        self._choices = *self._charts, Choice(self.tr("All"), "charts", "chart", self.tr("All charts at once"))
        self.choice = ChartChoice(self._choices, self)
        tip = self.tr("Save the current charts as an image (PNG or SVG)")
        self._save = tool_button(self.tr("Save…"), tip, self, name=self.tr("Save chart"), takes_focus=True)
        self._save.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        theme.set_icon(self._save, "save", "text", "faint")
        self._outdated: list[ChartView] = []  # in the colors of another look, or its font
        self._waiting: list[ChartView] = []  # to be drawn in the next turns of the event loop
        self._turn_timer = single_shot(self, self._draw_next)
        head = fill(QHBoxLayout(), (self.choice, 1), self._save, margins=(6, 0, 6, 0), spacing=-1)
        self._grid = QGridLayout()
        self._grid.setSpacing(6)
        for column in range(_IN_ROW):
            self._grid.setColumnStretch(column, 1)
        self._layout = fill(QVBoxLayout(self), head, (self._grid, 1), margins=(4, 6, 4, 4), spacing=4)
        self.choice.chosen.connect(self.choose)
        self._save.clicked.connect(self.save_requested)
        session.model.step_changed.connect(self._mark)
        session.model.selection_changed.connect(self._mark)
        self.follow(session.model.merges_appended)
        for source in (session.usage, session.changes, session.judging):
            source.changed.connect(self._draw_anew)
        theme.changed.connect(self._restyle)

    # -- contents

    @property
    def charts(self) -> list[ChartView]:
        """The charts shown; none until the pane is first shown."""
        shown = self._shown_index()
        return self._views if shown == self._all else self._views[shown : shown + 1]

    @property
    def file_name(self) -> str:
        return self._choices[self._shown_index()].file_name

    def choose(self, index: int) -> None:
        self._index = index
        if self.isVisible():
            self.refresh_now()
        else:
            self.refresh_later()

    def forget(self) -> None:
        for view in self._views:
            view.forget()

    def refresh(self) -> None:
        if not self._views:
            # Imported here, not at the top: importing pyqtgraph takes a fifth of a second.
            from wordpiece_studio.ui.panes.charts.plot import ChartView

            self._views = [ChartView(chart, self._source, self._theme.colors, self) for chart in self._charts]
        self._arrange()
        history = self._source.history
        if history is not None and not self._source.lengths.catch_up(history, self._source.count):
            self.refresh_later(_FRAME_MS)
        for view in [view for view in self.charts if view in self._outdated]:
            view.restyle(self._theme.colors)
            self._outdated.remove(view)
        self._waiting = list(self.charts)
        self._draw_next()
        self._save.setEnabled(any(view.drawing is not None for view in self.charts))
        hint = ""
        if history is not None:
            hint = filled(self.tr("After merge {step} of {count}"), step=self._source.step, count=self._source.count)
        self.set_heading(hint)

    @property
    def _is_growing(self) -> bool:
        return self._model.state is TrainerState.TRAINING

    def _draw_next(self) -> None:
        """Draw a chart, then the others: in a training, after the window has handled other events."""
        while self._waiting:
            self._waiting.pop(0).refresh()
            if self._is_growing:
                self._turn_timer.start()
                return

    def picture(self, kind: str) -> bytes:
        """Return the charts shown as the content of a file, ``"png"`` or ``"svg"``."""
        from wordpiece_studio.ui.panes.charts.plot import chart_picture

        self.refresh_now()
        for view in self._waiting:
            view.refresh()
        drawn = [view for view in self.charts if view.drawing is not None]
        if not drawn:
            raise StudioError("There is no chart to save yet", "Train first, or wait until the tokens are counted.")
        return chart_picture(drawn, kind)

    def _shown_index(self) -> int:
        has_room = self._has_room_for_all
        if self._index is None:
            return self._all if has_room else 0
        return 0 if self._index == self._all and not has_room else self._index

    @property
    def _has_room_for_all(self) -> bool:
        needed = (_ROOM_FOR_ALL + QSize(0, _ROW_HEIGHT * self._rows)) * self.fontMetrics().height()
        return self.width() >= needed.width() and self.height() >= needed.height()

    def _arrange(self) -> None:
        self.choice.set_available(self._all, self._has_room_for_all)
        index = self._shown_index()
        is_all = index == self._all
        self.choice.set_index(index)
        for number, view in enumerate(self._views):
            is_shown = is_all or index == number
            if is_shown:
                self._grid.addWidget(view, *(divmod(number, _IN_ROW) if is_all else (0, 0, 1, _IN_ROW)))
            view.title.setVisible(is_all)
            view.setVisible(is_shown)
        for row in range(self._rows):
            self._grid.setRowStretch(row, 1 if is_all or row == 0 else 0)
        self._usage.set_wanted(self, self.isVisible() and any(view.chart.needs_usage for view in self.charts))
        self._layout.activate()

    def _restyle(self) -> None:
        self._outdated = list(self._views)
        self.refresh_later()

    # -- events

    def _mark(self) -> None:
        """Show the step and the selection at once, unless a training moves on; draw the rest in the next frame."""
        if self.is_current and not (self._is_growing and self._model.is_at_head):
            for view in self.charts:
                view.mark()
        self.refresh_later(_FRAME_MS)

    def _draw_anew(self) -> None:
        self._source.edition += 1
        self.refresh_later(_FRAME_MS)

    # -- Qt

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh_later()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._turn_timer.stop()
        self._usage.set_wanted(self, False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._views:
            self._arrange()
            self.refresh_later()
