"""The chart of an extension: tokens per word after each token that is added, on both texts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QCoreApplication, Qt

from wordpiece_studio.evaluation.extension import Extension
from wordpiece_studio.session.chart_source import Curve
from wordpiece_studio.session.plural import counted, filled
from wordpiece_studio.ui.panes.charts.chart import Axis, Chart, Dots, Drawing, Label, Line, Rule, Stroke

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.session.adaptation import Adaptation
    from wordpiece_studio.ui.panes.charts.chart import Room, Shape

_tr = partial(QCoreApplication.translate, "effect_chart")


@dataclass(frozen=True, kw_only=True)
class EffectChart(Chart):
    """Its source is an `Adaptation`; a press chooses how many of the tokens are added, best first."""

    kept_keys = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)

    def state(self, source: Any) -> object:
        found = source.found
        return found if isinstance(found, Extension) and found.proposals else None

    def missing(self, source: Any) -> str:
        return _tr("No token is missing: none would save anything often enough.")

    def draw(self, source: Any, room: Room) -> Drawing:
        found: Extension = source.found
        last, enough = len(found.proposals), found.enough
        effects = [(found.held_out, _tr("Held-out text"), Stroke("accent", 1.8), "accent_ink")]
        if found.general is not None:
            effects.append((found.general, _tr("General text"), Stroke("muted", 1.8, Qt.PenStyle.DashLine), "muted"))
        steps = np.arange(last + 1, dtype=np.float64)
        y = Axis(_tr("Tokens per word")).fitted(np.concatenate([each.tokens_per_word for each, *_ in effects]))
        shapes: list[Shape] = [Line(Curve(steps, each.tokens_per_word), stroke) for each, _, stroke, _ in effects]
        if enough is not None and 0 < enough < last:
            shapes.append(Rule(enough, Stroke("accent_ink", style=Qt.PenStyle.DotLine)))
            text = counted(enough, "Enough: 1 token", "Enough: {count} tokens")
            shapes.append(Label(text, enough, y.range[1], 0, 0, "accent_ink"))
        shapes += [Label(name, last, float(each.tokens_per_word[-1]), 1, 1, ink) for each, name, _, ink in effects]
        margin = max(last * 0.012, 1e-9)
        x = Axis(_tr("Tokens added"), "whole", range=(-margin, last + margin), marked=(0, last))
        return Drawing(x, y, shapes, room)

    def marks(self, source: Any, drawing: Drawing, hovered: float | None) -> Sequence[Shape]:
        place, effects = self._at(source, hovered)
        dots = [Dots([place], [rate], "text", Stroke("surface", 1.5)) for rate in effects]
        return [Rule(place, Stroke("text" if hovered is None else "muted", style=Qt.PenStyle.DotLine)), *dots]

    def readout(self, source: Any, drawing: Drawing, hovered: float | None) -> str:
        place, effects = self._at(source, hovered)
        first = counted(place, "With the first token", "With the first {count} tokens")
        chosen = counted(place, "With the chosen token", "With the {count} chosen tokens")
        names = _tr("{rate} held out"), _tr("{rate} general")
        rates = [filled(name, rate=f"{rate:.4f}") for name, rate in zip(names, effects, strict=False)]
        return " · ".join([chosen if hovered is None else first, *rates])

    def _at(self, source: Adaptation, hovered: float | None) -> tuple[int, list[float]]:
        """Return a number of tokens, and tokens per word with so many of the best, or with those that are wanted."""
        place, is_hovered = self._number(source, hovered), hovered is not None
        found, at = (source.found, place) if is_hovered else (source.result, -1)
        effects = (found.held_out, found.general) if found is not None else ()
        return place, [float(each.tokens_per_word[at]) for each in effects if each is not None]

    def press(self, source: Any, drawing: Drawing, place: float) -> None:
        source.want_only(source.found.tokens[: self._number(source, place)])

    def move(self, source: Any, drawing: Drawing, key: Qt.Key) -> bool:
        by = dict(zip(self.kept_keys, (-1, 1, -10, 10), strict=True)).get(key)
        if by is not None:
            source.want_only(source.found.tokens[: self._number(source, len(source.wanted) + by)])
        return by is not None

    def _number(self, source: Adaptation, place: float | None) -> int:
        assert isinstance(source.found, Extension)
        wanted = len(source.wanted) if place is None else round(place)
        return min(max(wanted, 0), len(source.found.proposals))


def effect_chart() -> EffectChart:
    name = _tr("Gain over the number of tokens")
    tip = _tr("Tokens per word after each token that is added, best first")
    return EffectChart(name, "effect", "extend", tip, title=name)
