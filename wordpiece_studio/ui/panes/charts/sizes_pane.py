"""The sizes pane: a figure over the size of the vocabulary, with a line that is dragged: the size at the current step.

What is dragged is the step that all panes show, so that live text and words follow. The curves are of text that
vocabularies were not trained on, with a band of a standard deviation; where rules advise the current run's size, marks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.sizes import FIGURES, KILOBYTE, checked_sizes
from wordpiece_studio.session.chart_source import Curve
from wordpiece_studio.session.plural import counted, filled
from wordpiece_studio.session.task import single_shot
from wordpiece_studio.ui.panes.charts.chart import Axis, Band, Chart, Dots, Drawing, Label, Line, Room, Rule, Stroke
from wordpiece_studio.ui.widgets.chips import ChipFlow, FlowItem
from wordpiece_studio.ui.widgets.fields import combo_box, line_field, offer
from wordpiece_studio.ui.widgets.pane import Pane, fill
from wordpiece_studio.ui.widgets.plain import WholeLabel, push_button
from wordpiece_studio.ui.widgets.theme import run_line
from wordpiece_studio.ui.widgets.token_text import run_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QHideEvent, QShowEvent

    from wordpiece_studio.evaluation.sizes import Agreement, Need, RuleName, Sweep
    from wordpiece_studio.session.chart_source import ChartSource
    from wordpiece_studio.session.session import Session
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.panes.charts.chart import Shape
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "sizes")
_BAND = "#38"  # how opaque it is
_TEN_PIXELS = 10
_MORE, _MOST_JOINED, _JOINED_EVERY_MS = 100, 4, 100  # tokens, and merges that are shown


def _titles() -> dict[str, str]:
    return {
        "tokens_per_word": _tr("Tokens per word"),
        "bits_per_character": _tr("Bits per character"),
        "description_length": _tr("Description length (kB)"),
        "vocabulary_bits": _tr("Vocabulary cost (kB)"),
        "frequent_share": _tr("Tokens seen 100 times or more"),
        "unknown_share": _tr("Unknown tokens"),
    }


def _rule_names() -> dict[RuleName, str]:
    return {
        "description": _tr("Shortest description"),
        "frequency": _tr("95% occur 100 times"),
        "doubling": _tr("Doubling saves under 5%"),
    }


def _needs() -> dict[Need, str]:
    """Return what is said of a rule that holds for no size."""
    return {
        "smaller": _tr("none (smaller sizes or more text needed)"),
        "larger": _tr("none (larger sizes or more text needed)"),
        "text": _tr("none (more text needed)"),
    }


def _agreements() -> dict[Agreement, str]:
    return {
        "agree": _tr("The rules agree."),
        "disagree": _tr("The rules disagree: they ask different questions."),
        "some": _tr("The rules that hold agree."),
        "alone": _tr("Only one rule holds."),
    }


def _unit(figure: str) -> int:
    return KILOBYTE if figure in ("description_length", "vocabulary_bits") else 1


@dataclass(frozen=True, kw_only=True)
class SizesChart(Chart):
    """One figure of all methods over the size; its source is the pane."""

    def state(self, source: Any) -> object:
        return None if source.found is None else (source.figure, id(source.found), source.sweep.method)

    def missing(self, source: Any) -> str:
        if source.is_hidden:
            return _tr("Prediction is on: what comes next is hidden.")
        task = source.sweep.task
        if task.error is not None:
            return str(task.error)
        if not source.sweep.can_measure:
            return _tr("Sizes are measured on parts of the corpus: train on a text of 2,000 words or more.")
        return source.progress_text or _tr("Measuring…")

    def draw(self, source: Any, room: Room) -> Drawing:
        found: Sweep = source.found
        title = _titles()[source.figure]
        low, high = np.log10([found.sizes[0], found.sizes[-1]]).tolist()
        places = np.log10(np.array(found.sizes, np.float64))
        shapes: list[Shape] = []
        notes, values = [], []
        for letter in found.methods:
            unit = _unit(source.figure)
            mean, sd = found.mean(letter, source.figure) / unit, found.deviation(letter, source.figure) / unit
            values += [mean - sd, mean + sd]
            color, style = source.look_of(letter)
            edge = np.append(mean + sd, (mean - sd)[::-1])
            shapes.insert(0, Band(Curve(np.append(places, places[::-1]), edge), f"{_BAND}{color[1:]}"))
            shapes.append(Line(Curve(places, mean), Stroke(color, 1.8, style)))
            notes.append(("— " if style is Qt.PenStyle.SolidLine else "- - ") + source.names.get(letter, letter))
        y = Axis(title, notes=tuple(notes)).fitted(np.concatenate(values))
        margin = max((high - low) * 0.012, 1e-9)
        x = Axis(_tr("Tokens in the vocabulary"), "log", range=(low - margin, high + margin), marked=(low, high))
        return Drawing(x, y, shapes, room, found)

    def marks(self, source: Any, drawing: Drawing, hovered: float | None) -> Sequence[Shape]:
        low, high = drawing.y.range
        line = (high - low) * 1.4 * drawing.room.line / drawing.room.rows
        found: list[Shape] = []
        for number, (rule, name) in enumerate(_rule_names().items()):
            size = source.sweep.advised[rule, source.sweep.method]
            if size is not None:
                x, text = float(np.log10(size)), filled(_tr("{rule}: {size}"), rule=name, size=size)
                found.append(Rule(x, Stroke("bookmark", style=Qt.PenStyle.DotLine)))
                found.append(Label(text, x, high - (number + 1.5) * line, 0.5, 0, "bookmark"))
        if hovered is not None:
            found.append(Rule(hovered, Stroke("muted", style=Qt.PenStyle.DotLine)))
        x = float(np.log10(max(source.tokens, 1)))
        if drawing.x.range[0] <= x <= drawing.x.range[1]:
            each = (source.sweep.at(letter, source.figure, source.tokens)[0] for letter in source.found.methods)
            means = [mean / _unit(source.figure) for mean in each]
            known = [mean for mean in means if mean == mean]
            found += [Rule(x, Stroke("text", 2)), Dots([x] * len(known), known, "text", Stroke("surface", 1.5))]
            found.append(Label(counted(source.tokens, "↔ 1 token", "↔ {count} tokens"), x, high, 0.5, 0, "text"))
        return found

    def readout(self, source: Any, drawing: Drawing, hovered: float | None) -> str:
        size = source.tokens if hovered is None else round(10**hovered)
        said = " · ".join(
            f"{source.names.get(each, each)} {source.written(each, source.figure, size)}"
            for each in drawing.data.methods
        )
        return filled(_tr("{title} at {size} tokens: {values}"), title=_titles()[source.figure], size=size, values=said)

    def press(self, source: Any, drawing: Drawing, place: float) -> None:
        source.seek(round(10**place))

    def move(self, source: Any, drawing: Drawing, key: Qt.Key) -> bool:
        low, high = drawing.x.range
        few, all_ = _TEN_PIXELS * (high - low) / drawing.room.columns, high - low
        ways = {Qt.Key.Key_Left: -few, Qt.Key.Key_Right: few, Qt.Key.Key_Home: -all_, Qt.Key.Key_End: all_}
        if key in ways:
            source.seek(round(10 ** min(max(np.log10(source.tokens) + ways[key], low), high)))
        return key in ways


class SizesPane(Pane):
    def __init__(self, session: Session, actions: Actions, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(session.model, parent)
        self._session, self._theme = session, theme
        self.sweep = session.sizes
        self.edition = 0
        self.figure = "tokens_per_word"
        self.names: dict[str, str] = {}  # of the methods
        self.choice = combo_box(self, self.tr("Metric"))
        offer(self.choice, ((title, name) for name, title in _titles().items()), self.figure)
        self.field = line_field(self, hint=self.tr("Sizes, such as 1000..30000:24"), name=self.tr("Sizes"))
        self.view: Any = None
        self._figures, self._advice = WholeLabel(self, role="hint"), WholeLabel(self)
        self._export = push_button(self, self.tr("Export at this size…"), actions.export_size.trigger)
        self._keep = push_button(self, self.tr("Make a run of it"), actions.run_of_size.trigger)
        head = fill(QHBoxLayout(), self.choice, (self.field, 1), margins=(6, 0, 6, 0), spacing=8)
        foot = fill(QHBoxLayout(), self._export, self._keep, 1, margins=(6, 0, 6, 2), spacing=8)
        self._room = QVBoxLayout()
        for label in (self._figures, self._advice):
            label.setContentsMargins(10, 0, 10, 0)
        self._rest = single_shot(self, self._show_joined, _JOINED_EVERY_MS)
        self.joined = ChipFlow(theme, self, points=-1)
        self.joined.setFixedHeight(2 * self.joined.minimumSizeHint().height())  # else the chart would be drawn anew
        policy = self.joined.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.joined.setSizePolicy(policy)
        joined = fill(QHBoxLayout(), self.joined, margins=(8, 0, 6, 0))
        parts = head, (self._room, 1), self._figures, self._advice, joined, foot
        fill(QVBoxLayout(self), *parts, margins=(4, 6, 4, 4), spacing=4)
        self.choice.activated.connect(self._choose)
        self.field.editingFinished.connect(self._take_sizes)
        self.follow(session.model.merges_appended, session.runs.changed)
        session.model.step_changed.connect(self._mark)
        session.changes.changed.connect(self.refresh_soon)
        self.sweep.changed.connect(self._draw_anew)
        theme.changed.connect(self._restyle)

    # -- for the chart

    @property
    def found(self) -> Sweep | None:
        return self.sweep.found

    @property
    def is_hidden(self) -> bool:
        return self._model.hides_future

    @property
    def tokens(self) -> int:
        """The size of the vocabulary at the current step."""
        history = self._model.history
        return 0 if history is None else history.vocabulary_size(self._model.step)

    def seek(self, size: int) -> None:
        """Go to the step at which the vocabulary had this size, or the nearest one."""
        history, count = self._model.history, self._model.merge_count
        if history is not None:
            least = history.vocabulary_size(0)
            step = int(history.vocabulary_sizes()[:count].searchsorted(size)) + 1 if size > least else 0
            self._model.seek(min(step, count))

    def look_of(self, letter: str) -> tuple[str, Qt.PenStyle]:
        number = next((run.color for run in self.sweep.runs_of(letter)), 0)
        return self._theme.run_color(number).name(), run_line(number)

    def written(self, letter: str, figure: str, size: int) -> str:
        """Return a figure at a size; with ≈ between sizes that were measured, and a dash beyond them."""
        mean, sd = self.sweep.at(letter, figure, size)
        text = FIGURES[figure][1]
        is_measured = self.found is not None and size in self.found.sizes
        return "–" if mean != mean else f"{'' if is_measured else '≈ '}{text(mean)} ± {text(sd)}"

    # -- contents

    def refresh(self) -> None:
        if self.view is None:
            from wordpiece_studio.ui.panes.charts.plot import ChartView  # see `ChartsPane.refresh`

            title, source = self.tr("Vocabulary sizes"), cast("ChartSource", self)
            chart = SizesChart(name=title, file_name="sizes", entry="description-length", tip="", title=title)
            self.view = ChartView(chart, source, self._theme.colors, self)
            self.view.title.hide()
            self._room.addWidget(self.view)
        names = run_names(self._session.runs.all)
        self.names = {
            letter: ", ".join(f"{run.letter} {names[run]}" for run in self.sweep.runs_of(letter) if run in names)
            or letter
            for letter in (() if self.found is None else self.found.methods)
        }
        self.view.refresh()
        self.set_heading(self.progress_text if self.found is not None else "")
        self._say()

    @property
    def progress_text(self) -> str:
        task = self.sweep.task
        what, done, total = task.progress or ("", 0, 0)
        words = {
            "Reading": self.tr("Reading the corpus… {percent}%"),
            "Training": self.tr("Training… {percent}%"),
            "Measuring": self.tr("Measuring… {percent}%"),
        }
        said = words.get(what.split(" ")[0], self.tr("Measuring…")) if task.is_running else ""
        return said.format(percent=100 * done // max(total, 1))

    def _say(self) -> None:
        """Say the figures at the size, what the rules advise, and what the live text would gain by more tokens."""
        found, letter, size = self.found, self.sweep.method, self.tokens
        for button in (self._export, self._keep):
            button.setEnabled(size > 0)
        text = filled(self.tr("Export at {size}…"), size=size)
        self._export.setText(text if size else self.tr("Export at this size…"))
        figures = advice = ""
        if found is not None:
            figures = " · ".join(f"{title} {self.written(letter, name, size)}" for name, title in _titles().items())
            sizes = {name: self.sweep.advised[rule, letter] for rule, name in _rule_names().items()}
            edges = {"smallest": self.tr("{size} or less"), "largest": self.tr("{size} or more")}
            more = {each: edges.get(edge, "{size}") for each, edge in found.edges.items()}
            needs = {name: _needs()[found.need(rule)] for rule, name in _rule_names().items()}
            said = (
                f"{name}: {needs[name] if each is None else filled(more.get(each, '{size}'), size=each)}"
                for name, each in sizes.items()
            )
            advice = f"{_agreements()[found.agreement(letter)]} {' · '.join(said)}"
        self._figures.show_text(figures)
        self._advice.show_text(advice)
        if not self._rest.isActive():
            self._rest.start()

    def _show_joined(self) -> None:
        """Show the merges among the next hundred tokens that change the live text."""
        history, rows, items = self._model.history, self._session.changes.rows, []
        if self.found is not None and history is not None and len(rows):
            step = min(
                int(history.vocabulary_sizes().searchsorted(self.tokens + _MORE, "right")), self._model.merge_count
            )
            first, last = (int(rows.steps.searchsorted(each, "right")) for each in (self._model.step, step))
            for row in (rows[place] for place in range(first, min(last, first + _MOST_JOINED))):
                items += [FlowItem(row.left, "chip"), FlowItem(row.right, "chip"), FlowItem("→")]
                items += [FlowItem(row.token, "chip"), FlowItem(" ")]
            items += [FlowItem("…")] if last > first + _MOST_JOINED else []
        head = self.tr("What a hundred tokens more would join:")
        self.joined.show_items([FlowItem(head), *items] if items else (), head)

    # -- events

    def _choose(self) -> None:
        self.figure = self.choice.currentData()
        self.refresh_now()

    def _take_sizes(self) -> None:
        text = self.field.text().strip()
        try:
            checked_sizes(text or "1")
        except StudioError as error:
            self.set_heading(str(error))
            return
        if text != self.sweep.sizes:
            self.sweep.set_sizes(text)

    def _mark(self) -> None:
        if self.is_current and self.view is not None:
            self.view.mark()
            self._say()

    def _draw_anew(self) -> None:
        self.edition += 1
        self.refresh_soon()

    def _restyle(self) -> None:
        if self.view is not None:
            self.view.restyle(self._theme.colors)
        self.refresh_later()

    def forget(self) -> None:
        if self.view is not None:
            self.view.forget()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.sweep.set_wanted(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.sweep.set_wanted(False)
