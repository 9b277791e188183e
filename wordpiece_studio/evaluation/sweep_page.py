"""A sweep as one file of HTML, with its charts as SVG in it: nothing is fetched, nothing runs, all text is escaped."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.evaluation.sizes import FIGURES, RULES
from wordpiece_studio.system.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.evaluation.sizes import Sweep

_COLORS = ("#277d5d", "#c2410c", "#2563e0", "#8d579e", "#db0059", "#6d7100", "#0a9b86", "#7889b3")
_DASHES = ("", "7 3", "2 3", "9 3 2 3")
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 460, 270, 62, 446, 12, 230
_LABEL_ROOM = 52
_STYLE = """
:root { color-scheme: light dark; --ink: #1d2330; --page: #fff; --line: #d9dce2; --faint: #616977 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --page: #1c2028; --line: #3a4150; --faint: #99a2b1 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 980px;
  margin: 24px auto; padding: 0 16px }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px }
th, td { text-align: right; padding: 3px 10px; border-bottom: 1px solid var(--line) }
th:first-child, td:first-child, th:last-child, td:last-child { text-align: left }
div.wide { overflow-x: auto } svg { max-width: 100%; margin: 4px 8px 4px 0 }
svg text { fill: var(--ink); font-size: 12px }
.faint { color: var(--faint) } svg .axis { stroke: var(--line) }
"""


def sweep_html(sweep: Sweep, name: str) -> str:
    """Return the page of a sweep over the corpus called `name`."""
    title = f"Vocabulary sizes for {name}"
    said = [f"Words by {', '.join(sweep.words_of)}; measured on {sweep.measured_on}.", *sweep.conclusions()]
    parts = [_element("h1", title), *(_element("p", text) for text in said), _table(sweep.rule_rows())]
    parts += ['<ul class="faint">', *(_element("li", rule.text) for rule in RULES), "</ul>"]
    parts += [_legend([*sweep.methods]), *(_chart(sweep, figure) for figure in FIGURES)]
    for method in sweep.methods:
        parts += [_element("h2", method), _table(sweep.rows(method))]
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"/>{_element("title", title)}'
        '<meta name="viewport" content="width=device-width"/>'
        f"<style>{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _escaped(text: str) -> str:
    return html.escape(printable(text))


def _element(name: str, text: str) -> str:
    return f"<{name}>{_escaped(text)}</{name}>"


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = ("".join(_element("td" if number else "th", cell) for cell in row) for number, row in enumerate(rows))
    return f'<div class="wide"><table>{"".join(f"<tr>{line}</tr>" for line in lines)}</table></div>'


def _look(number: int) -> str:
    dashes = _DASHES[number % len(_DASHES)]
    return f'stroke="{_COLORS[number % len(_COLORS)]}" stroke-dasharray="{dashes}" stroke-width="2"'


def _legend(methods: Sequence[str]) -> str:
    lines = (
        f'<svg width="34" height="10"><line x1="0" x2="32" y1="5" y2="5" {_look(number)}/></svg>'
        f"{_escaped(method)}&emsp;"
        for number, method in enumerate(methods)
    )
    return f"<p>{''.join(lines)}</p>"


def _text(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{_escaped(text)}</text>'


def _chart(sweep: Sweep, figure: str) -> str:
    """Return a figure over the size, which is logarithmic: a line for each method in its standard deviation."""
    title, written = FIGURES[figure]
    curves = {each: (sweep.mean(each, figure), sweep.deviation(each, figure)) for each in sweep.methods}
    low = min(float((mean - sd).min()) for mean, sd in curves.values())
    high = max(float((mean + sd).max()) for mean, sd in curves.values())
    if written(low) == written(high):
        return _element("p", f"{title}: {written(low)} throughout.")
    ends = np.log([sweep.sizes[0], max(sweep.sizes[-1], sweep.sizes[0] + 1)])
    places = np.interp(np.log(sweep.sizes), ends, (_LEFT, _RIGHT)).tolist()

    def points(values: NDArray[np.float64]) -> list[tuple[float, float]]:
        return [*zip(places, np.interp(values, (low, high), (_BOTTOM, _TOP)).tolist(), strict=True)]

    def path(corners: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)

    drawn = [_text((_LEFT + _RIGHT) / 2, _HEIGHT - 4, "middle", f"{title}, by tokens in the vocabulary")]
    for value, y in zip(np.linspace(low, high, 5).tolist(), np.linspace(_BOTTOM, _TOP, 5).tolist(), strict=True):
        drawn.append(f'<line class="axis" x1="{_LEFT}" x2="{_RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        drawn.append(_text(_LEFT - 6, y + 4, "end", written(value)))
    last = -math.inf
    for x, size in zip(places, sweep.sizes, strict=True):
        if x - last > _LABEL_ROOM:
            drawn.append(_text(x, _BOTTOM + 18, "middle", f"{size:,}"))
            last = x
    for number, (method, (mean, sd)) in enumerate(curves.items()):
        color = _COLORS[number % len(_COLORS)]
        if sd.any():
            edge = path([*points(mean + sd), *reversed(points(mean - sd))])
            drawn.append(f'<polygon points="{edge}" fill="{color}" opacity="0.15"/>')
        drawn.append(f'<polyline points="{path(points(mean))}" fill="none" {_look(number)}/>')
        advised = {sweep.advised(rule.name, method) for rule in RULES}
        for size, (x, y) in zip(sweep.sizes, points(mean), strict=True):
            if size in advised:
                drawn.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{color}"/>')
    label = _escaped(f"{title}, by the size of the vocabulary")
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" role="img" aria-label="{label}">{"".join(drawn)}</svg>'
    )
