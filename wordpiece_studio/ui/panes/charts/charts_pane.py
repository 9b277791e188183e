"""The charts of a run: some over the steps, the others of the vocabulary at the current step; and the pane for them.

Each chart is one description. One is shown, or all at once, linked both ways to the step and the selection.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PySide6.QtCore import QCoreApplication, QSize, Qt, Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.usage import fertility_at, rank_frequency, symbols_at, vocabulary_sizes_at
from wordpiece_studio.session.chart_source import ChartSource, Curve, held_curve, spread_ranks, tie_steps
from wordpiece_studio.session.plural import counted, filled, plural
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.panes.charts.chart import (
    Axis,
    Bars,
    Chart,
    Choice,
    Dots,
    Drawing,
    Label,
    Line,
    Series,
    StepAxis,
    StepChart,
    Stroke,
    each_step,
    sampled,
)
from wordpiece_studio.ui.widgets.fields import combo_box
from wordpiece_studio.ui.widgets.pane import Pane, fill
from wordpiece_studio.ui.widgets.plain import explain, tool_button, tooltip_text
from wordpiece_studio.ui.widgets.token_text import held_out_text, signed_text, token_text, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from PySide6.QtGui import QHideEvent, QResizeEvent

    from wordpiece_studio.session.session import Session
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.panes.charts.chart import Room, Shape
    from wordpiece_studio.ui.panes.charts.plot import ChartView
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "charts")
_MOST_POINTS = 400


def all_charts() -> tuple[Chart, ...]:
    return (
        StepChart(
            _tr("Merge score"), "merge-score", "merge-score",
            _tr("The score of each merge on a logarithmic axis, with ties marked"),
            title=_tr("Merge score"), y=_score_axis, figures=_merge_figures,
            series=(each_step(lambda source: source.merges.column("value")[: source.count], 1, has_median=True),),
            ties=lambda source, columns: tie_steps(source.merges, source.count, columns // 4),
        ),
        StepChart(
            _tr("Symbols"), "symbols-by-vocabulary-size", "symbol",
            _tr("The number of symbols in the corpus at each vocabulary size"),
            title=_tr("Symbols by vocabulary size"), x=_sizes(), figures=_symbols_figures,
            y=lambda _source: Axis(_tr("Symbols in the corpus"), "whole"),
            series=(sampled(symbols_at),),
        ),
        StepChart(
            _tr("Tokens per word"), "tokens-per-word", "fertility",
            _tr("Tokens per word in the training corpus, as merged, in the live text and, if known, in held-out text"),
            title=_tr("Tokens per word"), y=_fertility_axis, figures=_fertility_figures,
            series=(
                sampled(fertility_at, name=_tr("Training corpus")),
                Series(_live_curve, _live_fertility, color="tie_text", style=Qt.PenStyle.DashLine, symbol="s",
                       name=_tr("Live text")),
            ),
            dots=lambda source: () if source.held_out is None else ((float(source.count), source.held_out.rate),),
        ),
        LengthsChart(
            _tr("Token lengths"), "token-lengths", "token",
            _tr("The distribution of token lengths in characters at the current step"),
            title=_tr("Token lengths"),
        ),
        ZipfChart(
            _tr("Zipf"), "zipf", "token",
            _tr("How often each token is used in the corpus at the current step, most frequent first"),
            title=_tr("Rank and frequency (Zipf)"), needs_usage=True,
        ),
        StepChart(
            _tr("Tokens in use"), "tokens-in-use", "in-use",
            _tr("How many distinct tokens the corpus uses after each merge"),
            title=_tr("Tokens in use"), needs_usage=True, figures=_in_use_figures,
            y=lambda _source: Axis(_tr("Distinct tokens in the corpus"), "whole"),
            series=(each_step(lambda source: source.usage.in_use, 0),),
            known=lambda source: len(source.usage.in_use),
        ),
    )  # fmt: skip


# -- merge score


def _score_axis(source: ChartSource) -> Axis:
    config = source.model.config
    axis = {
        "score": Axis(_tr("Score n(ab) / (n(a) × n(b))")),
        "likelihood": Axis(_tr("Gain in log-likelihood"), unit=_tr("nats")),
        "count": Axis(_tr("Pair count")),
    }["score" if config is None else config.objective]
    return axis._replace(scale="log", notes=("▲ " + _tr("Tie"),))


def _merge_figures(source: ChartSource, step: int) -> str:
    config = source.model.config
    if config is None or not step:
        return _tr("Before the first merge")
    merge = source.merges[step - 1]
    said = {
        "score": _tr("Merge {step}: score {value}"),
        "likelihood": _tr("Merge {step}: gain {value}"),
        "count": _tr("Merge {step}: count {value}"),
    }[config.objective]
    left, right, token = (token_text(each, 24) for each in (merge.left, merge.right, merge.token))
    parts = [filled(said, step=step, value=value_text(merge.value)), f"{left} + {right} → {token}"]
    if merge.ties > 1:
        parts.append(filled(_tr("tie of {count}"), count=merge.ties))
    return " · ".join(parts)


# -- symbols that make up the corpus, against vocabulary size


def _sizes() -> StepAxis:
    def step_at(source: ChartSource, size: float) -> int:
        """Return the first step after which the vocabulary has about this size."""
        if size <= source.merges.vocabulary_size(0):
            return 0
        sizes = source.merges.vocabulary_sizes()[: source.count]
        return min(int(np.searchsorted(sizes, round(size))) + 1, source.count)

    def places(history: MergeHistory, steps: NDArray[np.float64]) -> NDArray[np.int64]:
        return vocabulary_sizes_at(history, steps.astype(np.int64))

    return StepAxis(_tr("Tokens in the vocabulary"), places, step_at)


def _symbols_figures(source: ChartSource, step: int) -> str:
    tokens, symbols = source.merges.vocabulary_size(step), source.merges.symbols_after(step)
    return filled(
        _tr("After merge {step}: {tokens}, {symbols}"), step=step, tokens=counted(tokens, "1 token", "{count} tokens"),
        symbols=counted(symbols, "1 symbol in the corpus", "{count} symbols in the corpus"),
    )  # fmt: skip


# -- tokens per word: of the training corpus, as it is merged; of the live text, as longest match splits it; and of
# -- text that was held out, at the last step


def _fertility_axis(source: ChartSource) -> Axis:
    found = source.held_out
    notes = () if found is None else (_tr("● {rate} on held-out text").format(rate=held_out_text(found)),)
    return Axis(_tr("Tokens per word"), notes=notes)


def _has_live_fertility(source: ChartSource) -> bool:
    return source.changes.is_known and source.changes.summary_at(0).has_fertility


def _live_curve(source: ChartSource, columns: int) -> Curve:
    if not _has_live_fertility(source):
        return Curve(np.empty(0), np.empty(0))
    changes = source.changes
    return held_curve(changes.steps, changes.rows.tokens, changes.summary_at(0), source.count, columns)


def _live_fertility(source: ChartSource, step: int) -> float | None:
    return source.changes.summary_at(step).fertility if _has_live_fertility(source) else None


def _fertility_figures(source: ChartSource, step: int) -> str:
    live = _live_fertility(source, step)
    held_out = source.held_out if step == source.count else None
    said = {
        (False, False): _tr("After merge {step}: {corpus} tokens per word in the corpus"),
        (True, False): _tr("After merge {step}: {corpus} tokens per word in the corpus, {live} in the live text"),
        (False, True): _tr("After merge {step}: {corpus} tokens per word in the corpus, {held_out} in held-out text"),
        (True, True): _tr("After merge {step}: {corpus} tokens per word in the corpus, {live} in the live text, "
                          "{held_out} in held-out text"),
    }[live is not None, held_out is not None]  # fmt: skip
    return filled(
        said, step=step, corpus=value_text(source.merges.symbols_after(step) / source.merges.total_words),
        live=value_text(live or 0.0), held_out="" if held_out is None else held_out_text(held_out),
    )  # fmt: skip


# -- tokens in use: a merge adds one to those that the corpus consists of, and takes away those that it used up


def _in_use_figures(source: ChartSource, step: int) -> str:
    numbers = source.usage.in_use
    if step >= len(numbers):
        return _tr("Counting…")
    tokens = int(numbers[step])
    if not step:
        return counted(
            tokens, "After merge {step}: 1 token in use", "After merge {step}: {tokens} tokens in use", step=step,
            tokens=tokens,
        )  # fmt: skip
    return counted(
        tokens, "After merge {step}: 1 token in use ({change})",
        "After merge {step}: {tokens} tokens in use ({change})", step=step, tokens=tokens,
        change=signed_text(tokens - int(numbers[step - 1])),
    )  # fmt: skip


# -- of the vocabulary at the current step

_MARK_EDGE = Stroke("accent_ink", 1.6)


class LengthsChart(Chart):
    """A histogram of token lengths in characters; the bars of the alphabet are hollow."""

    def state(self, source: ChartSource) -> object:
        return None if source.history is None else (source.step, min(source.step, source.lengths.merges))

    def draw(self, source: ChartSource, room: Room) -> Drawing:
        history = source.merges
        special, first = len(set(history.config.reserved_tokens)), history.first_size()
        of_tokens = source.lengths.first(history.vocabulary_size(source.step))
        width = int(of_tokens[special:].max(initial=-1)) + 1
        parts = of_tokens[first:], of_tokens[special:first]  # special tokens are not pieces of words
        # How many of each have each length: int64, shape (longest + 1,).
        learned, alphabet = (np.bincount(part, minlength=width) for part in parts)
        lengths, has_any = np.arange(len(learned)), alphabet > 0  # a bar of zero height would be drawn as a line
        shapes: list[Shape] = [
            Bars(lengths, np.zeros(len(lengths)), learned, "accent"),
            Bars(lengths[has_any], learned[has_any], alphabet[has_any], "surface", Stroke("muted", 1.2)),
        ]
        drawn = (learned, "■ " + _tr("Learned")), (alphabet, "□ " + _tr("Alphabet"))
        top, notes = (learned + alphabet).max(initial=1) * 1.16, tuple(name for each, name in drawn if each.any())
        x = Axis(
            _tr("Characters (without prefix)"), "whole", range=(0.4, max(len(learned), 6) - 0.4),
            marked=(1, max(len(learned) - 1, 5)),
        )  # fmt: skip
        y = Axis(_tr("Tokens"), "whole", range=(0.0, float(top)), notes=notes)
        return Drawing(x, y, shapes, room, (learned, alphabet))

    def marks(self, source: ChartSource, drawing: Drawing, hovered: float | None) -> Sequence[Shape]:
        selected, (learned, alphabet) = source.selected, drawing.data
        if selected is None or selected.id >= source.merges.vocabulary_size(source.step):
            return ()
        length = source.lengths.of(selected.id)
        if length is None or length >= len(learned):
            return ()
        height, across = float(learned[length] + alphabet[length]), 0.5 if 2 < length < len(learned) - 2 else 0
        return (
            Dots([length], [height], "surface", _MARK_EDGE, "d", 12),
            Label(token_text(selected.text, 24), length, height, across, 1.4, "accent_ink"),
        )

    def readout(self, source: ChartSource, drawing: Drawing, hovered: float | None) -> str:
        learned, alphabet = drawing.data
        if hovered is None or not 0 <= round(hovered) < len(learned):
            return self._figures_of_all(source.step, learned)
        length = round(hovered)
        said = (
            counted(length, "1 character", "{count} characters"),
            counted(int(learned[length]), "1 learned token", "{count} learned tokens"),
            counted(int(alphabet[length]), "1 in the alphabet", "{count} in the alphabet"),
        )
        return " · ".join(said)

    def _figures_of_all(self, step: int, counts: NDArray[np.int64]) -> str:
        learned = int(counts.sum())
        if not learned:
            return filled(_tr("After merge {step}: no tokens learned yet"), step=step)
        mean = float((counts * np.arange(len(counts))).sum()) / learned
        return counted(
            learned, "After merge {step}: 1 learned, {mean} characters on average, {longest} at most",
            "After merge {step}: {learned} learned, {mean} characters on average, {longest} at most", step=step,
            learned=learned, mean=value_text(mean), longest=int(np.flatnonzero(counts).max()),
        )  # fmt: skip


class _Ranks(NamedTuple):
    """The tokens that occur, most frequent first: their ids and frequencies, int64 of shape (n_occurring,)."""

    ids: NDArray[np.int64]
    frequencies: NDArray[np.int64]

    def at(self, place: float) -> int:
        return min(max(round(math.pow(10.0, min(place, 12.0))), 1), len(self.ids))

    def of(self, token_id: int) -> int | None:
        places = np.flatnonzero(self.ids == token_id).tolist()
        return places[0] + 1 if places else None


class ZipfChart(Chart):
    """How often each token is used on the corpus against its rank, on log-log axes, beside the line of Zipf's law."""

    kept_keys = (Qt.Key.Key_Left, Qt.Key.Key_Right)

    def state(self, source: ChartSource) -> object:
        usage = source.usage
        return None if source.history is None or not usage.frequencies.any() else usage.step

    def draw(self, source: ChartSource, room: Room) -> Drawing:
        data = _Ranks(*rank_frequency(source.usage.frequencies))
        count, most = len(data.ids), math.log10(float(data.frequencies[0]))
        ranks = spread_ranks(count, min(room.columns // 2, _MOST_POINTS))
        x, y = np.log10(ranks), np.log10(data.frequencies[ranks - 1])
        right, top = max(math.log10(count), 0.3), max(most, 0.3)
        end = min(right, most)
        law = Curve(np.array([0.0, end]), np.array([most, most - end]))
        lines = Line(law, Stroke("muted", 1.2, Qt.PenStyle.DashLine)), Line(Curve(x, y), Stroke("accent"))
        x_axis = Axis(_tr("Rank"), "log", range=(-0.03 * right, right * 1.03))
        notes = ("- - " + _tr("Zipf’s law: maximum / rank"),)
        y_axis = Axis(_tr("Uses in the corpus"), "log", range=(-0.06 * top, top * 1.08), notes=notes)
        return Drawing(x_axis, y_axis, [*lines, Dots(x, y, "accent", size=5)], room, data)

    def marks(self, source: ChartSource, drawing: Drawing, hovered: float | None) -> Sequence[Shape]:
        rank, ranks = self._marked(source, drawing, hovered), drawing.data
        if rank is None:
            return ()
        x, y = math.log10(rank), math.log10(float(ranks.frequencies[rank - 1]))
        text = token_text(self._token(source, drawing, rank), 24)
        end = math.log10(len(ranks.ids) + 1)
        fits = drawing.room.width_of(text) * 1.2 < (end - x) / end * drawing.room.columns
        across, down = (-0.05, 1.05) if fits else (1, 1.4)  # the curve falls: above it is free
        return Dots([x], [y], "surface", _MARK_EDGE, "d", 12), Label(text, x, y, across, down, "accent_ink")

    def _marked(self, source: ChartSource, drawing: Drawing, hovered: float | None) -> int | None:
        ranks: _Ranks = drawing.data
        if hovered is not None:
            return ranks.at(hovered)
        return None if source.selected is None else ranks.of(source.selected.id)

    def _token(self, source: ChartSource, drawing: Drawing, rank: int) -> str:
        return source.merges.token(int(drawing.data.ids[rank - 1]))

    def readout(self, source: ChartSource, drawing: Drawing, hovered: float | None) -> str:
        rank, step = self._marked(source, drawing, hovered) or 1, source.usage.step
        times = int(drawing.data.frequencies[rank - 1])
        text = plural(
            times, "After merge {step}: {token} has rank {rank} of {count}, used once",
            "After merge {step}: {token} has rank {rank} of {count}, used {times} times",
        )  # fmt: skip
        token = token_text(self._token(source, drawing, rank), 24)
        said = filled(text, step=step or 0, token=token, rank=rank, count=len(drawing.data.ids), times=times)
        return " · ".join((said, _tr("counting…"))) if step != source.step else said

    # -- user input

    def press(self, source: ChartSource, drawing: Drawing, place: float) -> None:
        self._choose(source, drawing, drawing.data.at(place))

    def move(self, source: ChartSource, drawing: Drawing, key: Qt.Key) -> bool:
        if key not in self.kept_keys:
            return False
        rank = self._marked(source, drawing, None)
        way = 1 if key is Qt.Key.Key_Right else -1
        self._choose(source, drawing, 1 if rank is None else min(max(rank + way, 1), len(drawing.data.ids)))
        return True

    def _choose(self, source: ChartSource, drawing: Drawing, rank: int) -> None:
        source.model.set_selection(Selection("token", text=self._token(source, drawing, rank)))


_IN_ROW = 3
_FRAME_MS = 100


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
        self.choice = combo_box(self, self.tr("Chart"))
        for index, choice in enumerate(self._choices):
            self.choice.addItem(choice.name)
            self.choice.setItemData(index, tooltip_text(choice.tip), Qt.ItemDataRole.ToolTipRole)
        tip = self.tr("Save the current charts as an image (PNG or SVG)")
        self._save = tool_button(self.tr("Save…"), tip, self, name=self.tr("Save chart"), takes_focus=True)
        self._save.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        theme.set_icon(self._save, "save", "text", "faint")
        self._outdated: list[ChartView] = []  # in the colors of another look, or its font
        head = fill(QHBoxLayout(), self.choice, 1, self._save, margins=(6, 0, 6, 0), spacing=-1)
        self._grid = QGridLayout()
        self._grid.setSpacing(6)
        for column in range(_IN_ROW):
            self._grid.setColumnStretch(column, 1)
        self._layout = fill(QVBoxLayout(self), head, (self._grid, 1), margins=(4, 6, 4, 4), spacing=4)
        self.choice.activated.connect(self.choose)
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
        (self.refresh_now if self.isVisible() else self.refresh_later)()

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
        for view in self.charts:
            if view in self._outdated:
                view.restyle(self._theme.colors)
                self._outdated.remove(view)
            view.refresh()
        self._save.setEnabled(any(view.drawing is not None for view in self.charts))
        hint = ""
        if history is not None:
            hint = filled(self.tr("After merge {step} of {count}"), step=self._source.step, count=self._source.count)
        self.set_heading(hint)

    def picture(self, kind: str) -> bytes:
        """Return the charts shown as the content of a file, ``"png"`` or ``"svg"``."""
        from wordpiece_studio.ui.panes.charts.plot import chart_picture

        self.refresh_now()
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
        needed = QSize(47, 3 + 12 * self._rows) * self.fontMetrics().height()
        return self.width() >= needed.width() and self.height() >= needed.height()

    def _arrange(self) -> None:
        items, index = self.choice.model(), self._shown_index()
        assert isinstance(items, QStandardItemModel)
        items.item(self._all).setEnabled(self._has_room_for_all)
        is_all = index == self._all
        self.choice.setCurrentIndex(index)
        explain(self._choices[index].entry, self.choice)
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
        is_followed = self._model.state is TrainerState.TRAINING and self._model.is_at_head
        if self.is_current and not is_followed:
            for view in self.charts:
                view.mark()
        self.refresh_later(_FRAME_MS)

    def _draw_anew(self) -> None:
        self._source.edition += 1
        self.refresh_later(_FRAME_MS)

    # -- Qt

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._usage.set_wanted(self, False)
        self.refresh_later()  # when it is shown again

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._views:
            self._arrange()
            self.refresh_later()
