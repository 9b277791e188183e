"""The sizes pane: a figure over the size of the vocabulary, with a line that is dragged: the size at the current step.

What is dragged is the step that all panes show, so that live text and words follow. The curves are of text that
vocabularies were not trained on, with a band of a standard deviation; where rules advise the current run's size, marks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.sizes import FIGURES, RULES, checked_sizes
from wordpiece_studio.session.chart_source import Curve
from wordpiece_studio.session.plural import counted, filled
from wordpiece_studio.ui.panes.charts.chart import Axis, Band, Chart, Dots, Drawing, Label, Line, Room, Rule, Stroke
from wordpiece_studio.ui.widgets.fields import combo_box, line_field, offer
from wordpiece_studio.ui.widgets.pane import Pane, fill
from wordpiece_studio.ui.widgets.plain import WholeLabel, push_button
from wordpiece_studio.ui.widgets.theme import run_line
from wordpiece_studio.ui.widgets.token_text import run_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QHideEvent, QShowEvent

    from wordpiece_studio.evaluation.sizes import Sweep
    from wordpiece_studio.session.session import Session
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.panes.charts.chart import Shape
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "sizes")
_BAND = "#38"  # how opaque it is
_TEN_PIXELS = 10


def _titles() -> dict[str, str]:
    return {
        "tokens_per_word": _tr("Tokens per word"),
        "bits_per_character": _tr("Bits per character"),
        "description_length": _tr("Description length (kbit)"),
        "vocabulary_bits": _tr("Vocabulary cost (kbit)"),
        "frequent_share": _tr("Tokens seen 100 times or more"),
        "unknown_share": _tr("Unknown tokens"),
    }


def _rule_names() -> dict[str, str]:
    return {
        "description": _tr("Shortest description"),
        "frequency": _tr("95% occur 100 times"),
        "doubling": _tr("Doubling saves under 5%"),
    }


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
            mean, sd = found.mean(letter, source.figure), found.deviation(letter, source.figure)
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
        found: list[Shape] = []
        low, high = drawing.y.range
        line = (high - low) * 1.4 * drawing.room.line / drawing.room.rows
        for number, (rule, name) in enumerate(_rule_names().items()):
            size = source.sweep.advised[rule, source.sweep.method]
            if size is not None:
                x = float(np.log10(size))
                found.append(Rule(x, Stroke("bookmark", style=Qt.PenStyle.DotLine)))
                text = filled(_tr("{rule}: {size}"), rule=name, size=size)
                found.append(Label(text, x, high - (number + 1.5) * line, 0.5, 0, "bookmark"))
        if hovered is not None:
            found.append(Rule(hovered, Stroke("muted", style=Qt.PenStyle.DotLine)))
        x = float(np.log10(max(source.tokens, 1)))
        if drawing.x.range[0] <= x <= drawing.x.range[1]:
            found.append(Rule(x, Stroke("text", 2)))
            for letter in source.found.methods:
                mean, _ = source.sweep.at(letter, source.figure, source.tokens)
                if mean == mean:
                    found.append(Dots([x], [mean], "text", Stroke("surface", 1.5)))
            text = counted(source.tokens, "↔ 1 token", "↔ {count} tokens")
            found.append(Label(text, x, high, 0.5, 0, "text"))
        return found

    def readout(self, source: Any, drawing: Drawing, hovered: float | None) -> str:
        size = source.tokens if hovered is None else round(10**hovered)
        title = _titles()[source.figure]
        said = (
            f"{source.names.get(each, each)} {source.written(each, source.figure, size)}"
            for each in drawing.data.methods
        )
        return filled(_tr("{title} at {size} tokens: {values}"), title=title, size=size, values=" · ".join(said))

    def press(self, source: Any, drawing: Drawing, place: float) -> None:
        source.seek(round(10**place))

    def move(self, source: Any, drawing: Drawing, key: Qt.Key) -> bool:
        far = drawing.room.columns if key in (Qt.Key.Key_Home, Qt.Key.Key_End) else _TEN_PIXELS
        ways = {Qt.Key.Key_Left: -1, Qt.Key.Key_Home: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_End: 1}
        if key in ways:
            low, high = drawing.x.range
            part = ways[key] * far * (high - low) / drawing.room.columns
            source.seek(round(10 ** min(max(np.log10(source.tokens) + part, low), high)))
        return key in ways


class SizesPane(Pane):
    def __init__(self, session: Session, actions: Actions, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(session.model, parent)
        self._session, self._theme = session, theme
        self.sweep = session.sizes
        self.edition = 0
        self.figure = "tokens_per_word"
        self.names: dict[str, str] = {}  # of the methods
        self.progress_text = ""
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
        parts = head, (self._room, 1), self._figures, self._advice, foot
        fill(QVBoxLayout(self), *parts, margins=(4, 6, 4, 4), spacing=4)
        self.choice.activated.connect(self._choose)
        self.field.editingFinished.connect(self._take_sizes)
        self.follow(session.model.merges_appended, session.runs.changed)
        session.model.step_changed.connect(self._mark)
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
        run = next((run for run in self._session.runs.all if run.letter == letter), None)
        number = 0 if run is None else run.color
        return self._theme.run_color(number).name(), run_line(number)

    def written(self, letter: str, figure: str, size: int) -> str:
        """Return a figure at a size, with its standard deviation; a dash beyond the sizes that were measured."""
        mean, sd = self.sweep.at(letter, figure, size)
        _, text = FIGURES[figure]
        return "–" if mean != mean else f"{text(mean)} ± {text(sd)}"

    # -- contents

    def refresh(self) -> None:
        if self.view is None:
            from wordpiece_studio.ui.panes.charts.plot import ChartView  # see `ChartsPane.refresh`

            title = self.tr("Vocabulary sizes")
            chart = SizesChart(name=title, file_name="sizes", entry="description-length", tip="", title=title)
            source: Any = self
            self.view = ChartView(chart, source, self._theme.colors, self)
            self.view.title.hide()
            self._room.addWidget(self.view)
        self.names = {run.letter: f"{run.letter} {name}" for run, name in run_names(self._session.runs.all).items()}
        self.progress_text = self._progress()
        self.view.refresh()
        self.set_heading(self.progress_text if self.found is not None else "")
        self._say()

    def _progress(self) -> str:
        task = self.sweep.task
        if not task.is_running:
            return ""
        what, done, total = task.progress or ("", 0, 0)
        words = {
            "Reading": self.tr("Reading the corpus"),
            "Training": self.tr("Training"),
            "Measuring": self.tr("Measuring"),
        }
        name = words.get(str(what).split(" ")[0], self.tr("Measuring"))
        return f"{name}… {done / total:.0%}" if total else f"{name}…"

    def _say(self) -> None:
        """Say the figures at the size, and what the rules advise."""
        found, letter, size = self.found, self.sweep.method, self.tokens
        for button in (self._export, self._keep):
            button.setEnabled(size > 0)
        self._export.setText(filled(self.tr("Export at {size}…"), size=size))
        figures = advice = ""
        if found is not None:
            rows = (f"{title} {self.written(letter, name, size)}" for name, title in _titles().items())
            figures = " · ".join(rows)
            sizes = {rule: self.sweep.advised[rule.name, letter] for rule in RULES}
            agree = len({*sizes.values()}) == 1
            names = _rule_names()
            none, more = self.tr("none of these sizes"), self.tr("{size} or more")
            texts = (
                none if each is None else filled(more if each == found.sizes[-1] else "{size}", size=each)
                for each in sizes.values()
            )
            said = (f"{names[rule.name]}: {text}" for rule, text in zip(sizes, texts, strict=True))
            first = (
                self.tr("The rules agree.") if agree else self.tr("The rules disagree: they ask different questions.")
            )
            advice = f"{first} {' · '.join(said)}"
        self._figures.show_text(figures)
        self._advice.show_text(advice)

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
