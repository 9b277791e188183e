"""What all panes have in common: one refresh for many changes, an empty state, and the panel with their title line.

A hidden pane does no work; it catches up when it is shown. Between a change and its refresh it keeps showing the old
state with the run that this belongs to: what is painted, hovered or described never mixes two runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QAction, QFontMetricsF, QHideEvent, QMouseEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QBoxLayout,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSpacerItem,
    QVBoxLayout,
    QWidget,
)

from wordpiece_studio.session.task import Task, single_shot
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.ui.widgets.plain import (
    CutLabel,
    Fitted,
    explain,
    plain_label,
    set_look,
    set_plain_text,
    set_plain_tooltip,
)

if TYPE_CHECKING:
    from wordpiece_studio.session.token_usage import TokenUsage
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.history import MergeHistory

LayoutT = TypeVar("LayoutT", bound=QBoxLayout)
_FRAME_MS = 100


class Pane(QWidget):
    """A widget with a heading that is refreshed at most once per turn of the event loop, and only while visible.

    Subclasses say what they :meth:`follow`, and implement :meth:`refresh`, and :meth:`forget` if they remember anything
    about the run they show. `usage` is counted while it is visible.
    """

    heading_changed = Signal()  # title, hints or what is beside them

    def __init__(self, model: TrainerModel, parent: QWidget | None = None, *, usage: TokenUsage | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._shown_usage = usage
        self._history: MergeHistory | None = model.history  # of the run that is shown
        self.title = ""  # in place of that of its panel
        self.hints: Sequence[str] = ("",)  # muted, at the right of the title: the first that fits is shown
        self.beside: Forms = {}  # what parts of the title line say, before the hint
        self.header: QWidget | None = None  # a control for that line
        self.is_stale = True  # a refresh is due
        self._remembers = False  # has shown something of the run since it last forgot
        self.refresh_timer = single_shot(self, self.refresh_now)
        self.refresh_timer.setTimerType(Qt.TimerType.PreciseTimer)
        model.run_reset.connect(self._on_model_run_reset)

    def follow(self, *signals: SignalInstance) -> None:
        for signal in signals:
            signal.connect(self.refresh_soon)

    def close_jobs(self) -> None:
        for task in self.findChildren(Task):
            task.close()

    def set_heading(self, *hints: str, title: str = "", beside: Forms | None = None) -> None:
        heading = title, hints or ("",), beside or {}
        if heading != (self.title, self.hints, self.beside):
            self.title, self.hints, self.beside = heading
            self.heading_changed.emit()

    @property
    def seen(self) -> QSize:
        """The room for the parts: a pane that is scrolled is larger, and would remain so if they took all of it."""
        around = self.parentWidget()
        return self.size() if around is None else self.size().boundedTo(around.size())

    def fit(self) -> None:
        """Arrange the parts for `seen`; called whenever that has changed, or what a part needs."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self.fit()
        return super().event(event)

    def refresh(self) -> None:
        raise NotImplementedError

    def forget(self) -> None:
        """Drop every step, row, token and word remembered from the run shown: the model has another run."""

    @property
    def is_current(self) -> bool:
        """Whether the pane is visible and shows the model's run: then a change may be shown before a refresh."""
        return self.isVisible() and self._history is self._model.history

    def refresh_now(self) -> None:
        self.refresh_timer.stop()
        self.is_stale = False
        self._history = self._model.history
        self._remembers = True
        self.refresh()

    def refresh_later(self, delay_ms: int = 0) -> None:
        """Schedule one refresh for everything that changes before the event loop's next turn.

        With a delay it is at the next frame, or as many frames later as fit in the delay. Frames begin at the same
        times for all panes, ten a second: panes that follow a training show the same step.
        """
        self.is_stale = True
        until_frame = _FRAME_MS - time.monotonic_ns() // 1_000_000 % _FRAME_MS
        if self.isVisible() and not (delay_ms and self.refresh_timer.isActive()):
            skipped = (max(delay_ms // _FRAME_MS, 1) - 1) * _FRAME_MS
            self.refresh_timer.start(until_frame + skipped if delay_ms else 0)

    def refresh_soon(self) -> None:
        """Schedule a refresh; during training, for the next frame: no one can read faster."""
        self.refresh_later(_FRAME_MS if self._model.state is TrainerState.TRAINING else 0)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.is_stale:
            self.refresh_timer.start(0)
        if self._shown_usage is not None:
            self._shown_usage.set_wanted(self, True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.refresh_timer.stop()
        if self._shown_usage is not None:
            self._shown_usage.set_wanted(self, False)

    def _on_model_run_reset(self) -> None:
        if self._remembers:
            self.forget()
            self._remembers = False
        if not self.isVisible():
            self._history = self._model.history  # do not keep an old run in memory for a hidden pane
        self.refresh_later()
        if self._model.hides_future:  # it may still hold what is hidden now, even if no one sees it
            self.refresh_timer.start(0)


def fill(
    layout: LayoutT, *parts: QWidget | QLayout | QSpacerItem | int | tuple[Any, ...],
    margins: tuple[int, int, int, int] | None = (0, 0, 0, 0), spacing: int = 0,
) -> LayoutT:  # fmt: skip
    """Put parts into a layout: widgets and layouts, with stretch and alignment in a tuple; a number is empty space.

    Margins that are None and a spacing of -1 are those of the system's style.
    """
    if margins is not None:
        layout.setContentsMargins(*margins)
    layout.setSpacing(spacing)
    for part in parts:
        item, *place = part if isinstance(part, tuple) else (part,)
        if isinstance(item, int):
            layout.addStretch(item)
        elif isinstance(item, QSpacerItem):
            layout.addSpacerItem(item)
        elif isinstance(item, QLayout):
            layout.addLayout(item, *place)
        else:
            layout.addWidget(item, *place)
    return layout


def grid_in(parent: QWidget | None, margins: tuple[int, int, int, int], *, across: int, down: int) -> QGridLayout:
    grid = QGridLayout(parent)
    grid.setContentsMargins(*margins)
    grid.setHorizontalSpacing(across)
    grid.setVerticalSpacing(down)
    return grid


class EmptyState(Fitted, QWidget):
    """What a pane shows while it is empty: a sentence, and below it steps that would fill it, if any are offered."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._steps: dict[QPushButton, QAction] = {}
        self._label, self._reason = (plain_label("", self, role="hint", wrap=True) for _ in range(2))
        for label in (self._label, self._reason):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._reason.hide()
        self._row = fill(QHBoxLayout(), spacing=8)
        steps = fill(QHBoxLayout(), 1, self._row, 1)
        parts = 1, self._label, steps, self._reason, 1
        self._layout = fill(QVBoxLayout(self), *parts, margins=(24, 8, 24, 8), spacing=8)

    @property
    def text(self) -> str:
        return self._label.text() if not self.isHidden() else ""

    def offer(self, *actions: QAction) -> None:
        for action in actions:
            button = QPushButton(self)
            explain("training", button)
            button.clicked.connect(action.trigger)
            action.changed.connect(self._show_steps)
            self._row.addWidget(button)
            self._steps[button] = action
        self._show_steps()

    def show_text(self, text: str) -> None:
        set_plain_text(self._label, text)

    def replace(self, view: QWidget, text: str) -> None:
        """Stand in for a view if there is a `text` that says why it is empty."""
        self.show_text(text)
        self.setVisible(bool(text))
        view.setVisible(not text)

    def _show_steps(self) -> None:
        """Show the last step that can be done in the accent color, and why those after it cannot be done yet."""
        able = [button for button, action in self._steps.items() if action.isEnabled()]
        for number, (button, action) in enumerate(self._steps.items(), 1):
            text = action.iconText()  # without the mnemonic, which belongs to the menu
            button.setText(text if len(self._steps) == 1 else f"{number}  {text}")
            button.setEnabled(action.isEnabled())
            reason = action.property("reason") or ""
            set_plain_tooltip(button, reason or action.statusTip())
            set_look(button, role="primary" if button in able[-1:] else "")
            set_plain_text(self._reason, reason)  # of the last step
        self.fit()

    def fit(self) -> None:
        """Leave out the reason, then the sentence, where there is room for the steps alone."""
        reason = bool(self._reason.text())
        for has_sentence, has_reason in ((True, reason), (True, False), (False, False)) if self._steps else ():
            self._label.setVisible(has_sentence)
            self._reason.setVisible(has_reason)
            if self._layout.totalHeightForWidth(self.width()) <= self.height():
                break


Part = QLabel | QAbstractButton
Forms = Mapping[Part, Sequence[str]]  # the most important first, from the fullest form to the least; '' hides it


class PriorityRow(QHBoxLayout):
    """Gives each part the fullest form that fits beside the least forms of those after it and beside all else.

    `take_rest` is told how many pixels remain.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.take_rest: Callable[[int], None] | None = None
        self._forms: Forms = {}

    def set_forms(self, forms: Forms) -> None:
        self._forms = forms
        self.update()

    def setGeometry(self, rect: QRect) -> None:
        taken = sum(_width_of(part, part.text()) for part in self._forms if not isinstance(part, CutLabel))
        room = rect.width() - (self.minimumSize().width() - taken)
        room -= sum(_width_of(part, forms[-1]) for part, forms in self._forms.items())
        for part, forms in self._forms.items():
            room += _width_of(part, forms[-1])
            form = next((form for form in forms if _width_of(part, form) <= room), forms[-1])
            room -= _width_of(part, form)
            if not isinstance(part, CutLabel) and form != part.text():
                part.setText(form)
                part.setVisible(bool(form))
            elif isinstance(part, CutLabel) and form != part.forms[0]:  # otherwise the row would be laid out for ever
                part.show_text(form)
        if self.take_rest is not None:
            self.take_rest(room)
        super().setGeometry(rect)


def _width_of(part: Part, form: str) -> int:
    """Return what a part takes, with the space beside it; one whose text can be cut takes only what its text needs."""
    if not form:
        return 0
    width = ceil(QFontMetricsF(part.font()).horizontalAdvance(form))
    if isinstance(part, CutLabel):
        return width
    edges = part.sizeHint().width() - part.fontMetrics().horizontalAdvance(part.text())
    layout = around.layout() if (around := part.parentWidget()) is not None else None
    return edges + width + (layout.spacing() if layout is not None else 0)


_TITLE_MARGINS = 14, 0, 12, 0
_SHORTEST_HINT = 6  # characters: a hint cut shorter than this says nothing


class HintLabel(CutLabel):
    """Muted text at the right, cut at its end if it does not fit, or left out if little would remain."""

    elide_mode = Qt.TextElideMode.ElideRight

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent, role="hint")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)

    def fit(self) -> None:
        super().fit()
        if len(self.text()) <= _SHORTEST_HINT and self.text() != self.forms[0]:
            set_plain_text(self, "")


class TitleBar(Fitted, QFrame):
    fits_later = True

    double_clicked = Signal()

    def __init__(self, title: str, header: QWidget | None, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("panel_title_bar")
        self.title_label = plain_label(title, self, role="title")
        self._hint_label = HintLabel(self)
        self._header = header
        parts = self.title_label, (self._hint_label, 1)
        self._layout = fill(PriorityRow(self), *parts, margins=_TITLE_MARGINS, spacing=10)
        if header is not None:
            self._layout.addWidget(header)
        self._layout.take_rest = getattr(header, "take_rest", None)
        self.fit()

    def set_heading(self, title: str, hints: Sequence[str], beside: Forms) -> None:
        set_plain_text(self.title_label, title)
        self._layout.set_forms({**beside, self._hint_label: hints})

    def least_width(self) -> int:
        """Return the width of the title and the controls; tabs that are wider lie above the line."""
        return _TITLE_MARGINS[0] + self.title_label.sizeHint().width() + self._layout.spacing() + self.controls_width()

    def controls_width(self) -> int:
        header = self._header
        return _TITLE_MARGINS[2] + (header.sizeHint().width() + self._layout.spacing() if header is not None else 0)

    def make_room(self, width: int) -> None:
        """Leave so many pixels at the left to tabs, in place of the title; 0 shows the title."""
        left, *others = _TITLE_MARGINS
        if self._layout.contentsMargins().left() != (width or left):
            self.title_label.setVisible(not width)
            self._layout.setContentsMargins(width or left, *others)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._hint_label.show_text("")  # behind another pane it would keep what it said: it is laid out when shown
        self._layout.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.double_clicked.emit()

    def fit(self) -> None:
        self.setFixedHeight(max(32, self.fontMetrics().height() + 14))


class BareArea(QScrollArea):
    """Scrolls its content without a frame, on the ground of what is around it, and leaves the keyboard to it."""

    def __init__(self, content: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(content)
        for ground in (content, self.viewport()):
            ground.setAutoFillBackground(False)


class PaneArea(BareArea):
    """Holds a pane: in a window too small for it the pane is scrolled rather than cut."""

    _SMALLEST = QSize(180, 60)

    def __init__(self, pane: Pane, parent: QWidget | None = None) -> None:
        self._pane = pane
        # Not setWidgetResizable: that would ask wrapped text for its height at its usual size, and scroll for it.
        super().__init__(pane, parent)
        self._fit_timer = single_shot(self, self._fit_pane)

    def minimumSizeHint(self) -> QSize:
        return self._SMALLEST

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._pane.fit()
        self._fit_pane()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._pane and event.type() == QEvent.Type.LayoutRequest:
            self._fit_pane()
            self._fit_timer.start()  # once more when the parts of the pane have settled
        return super().eventFilter(watched, event)

    def _fit_pane(self) -> None:
        pane = self._pane
        smallest = pane.minimumSizeHint().expandedTo(pane.minimumSize())
        room = self.maximumViewportSize()
        if smallest.height() > room.height():
            room.setWidth(room.width() - self.verticalScrollBar().sizeHint().width())
        pane.resize(room.expandedTo(smallest))

    def sizeHint(self) -> QSize:
        return self._pane.sizeHint()


class Panel(QFrame):
    """A frame called `name` that shows one pane under its title line: the pane's own title, or else this one."""

    def __init__(self, name: str, title: str, pane: Pane, parent: QWidget | None = None, *, entry: str = "") -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("role", "panel")
        self._pane = pane
        self._gesture = ""
        self.setWindowTitle(title)  # its tab and its command have it too
        self.toggle_action = QAction(title, self, checkable=True)  # shows and hides it: the area of the panels does so
        explain(entry, self, self.toggle_action)
        self.title_bar = TitleBar(title, pane.header, self)
        self._area = PaneArea(pane, self)
        fill(QVBoxLayout(self), self.title_bar, (self._area, 1), margins=(1, 1, 1, 1))
        pane.heading_changed.connect(self._on_pane_heading_changed)
        self._on_pane_heading_changed()

    def minimumSizeHint(self) -> QSize:
        least, line = self._area.minimumSizeHint(), self.title_bar
        return QSize(max(least.width(), line.least_width()), least.height() + line.height()) + QSize(2, 2)

    def show_gesture(self, text: str) -> None:
        """Say in the line what the user can do here, before the hint, where there is room; empty says no more."""
        self._gesture = text
        self._on_pane_heading_changed()

    def _on_pane_heading_changed(self) -> None:
        pane = self._pane
        title = pane.title or self.windowTitle()
        pane.setAccessibleName(title)
        both = [" · ".join(filter(None, (self._gesture, hint))) for hint in (*pane.hints, "")] if self._gesture else []
        self.title_bar.set_heading(title, (*both, *pane.hints), pane.beside)
