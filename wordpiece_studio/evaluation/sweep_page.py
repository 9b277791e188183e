"""A sweep as one file of HTML, with its charts as SVG in it: nothing is fetched, nothing runs, all text is escaped."""

from __future__ import annotations

import math
from html import escape
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
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 460, 270, 62, 40, 12
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
    title = f"Vocabulary sizes for {printable(name)}"
    measured = f"{sweep.folds} folds: mean ± standard deviation" if sweep.folds > 1 else "a tenth held out"
    head = f"Words by {', '.join(sweep.words_of)}; measured on {measured}."
    parts = [f"<h1>{escape(title)}</h1>", f"<p>{escape(printable(head))}</p>"]
    parts += [f"<p>{escape(printable(text))}</p>" for text in sweep.conclusions()]
    parts += [_table(_advice(sweep)), "<ul class='faint'>"]
    parts += [f"<li>{escape(f'{rule.title}: {rule.meaning} ({rule.source}).')}</li>" for rule in RULES]
    parts += ["</ul>", _legend([*sweep.methods])]
    parts += [_chart(sweep, figure) for figure in FIGURES]
    for method in sweep.methods:
        parts += [f"<h2>{escape(printable(method))}</h2>", _table(sweep.rows(method))]
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"/><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width"/>'
        f"<style>{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _advice(sweep: Sweep) -> list[list[str]]:
    rows = [["rule", *sweep.methods]]
    for rule in RULES:
        sizes = (sweep.advised(rule.name, method) for method in sweep.methods)
        rows.append([rule.title, *("–" if size is None else f"{size:,}" for size in sizes)])
    return rows


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *others = ("".join(f"<{{0}}>{escape(printable(cell))}</{{0}}>" for cell in row) for row in rows)
    lines = [f"<tr>{head.replace('{0}', 'th')}</tr>", *(f"<tr>{row.replace('{0}', 'td')}</tr>" for row in others)]
    return f'<div class="wide"><table>{"".join(lines)}</table></div>'


def _look(number: int) -> str:
    return f'stroke="{_COLORS[number % len(_COLORS)]}" stroke-dasharray="{_DASHES[number % len(_DASHES)]}"'


def _legend(methods: Sequence[str]) -> str:
    lines = (
        f'<svg width="34" height="10"><line x1="0" x2="32" y1="5" y2="5" stroke-width="2" {_look(number)}/></svg>'
        f"{escape(printable(method))}&emsp;"
        for number, method in enumerate(methods)
    )
    return f"<p>{''.join(lines)}</p>"


def _chart(sweep: Sweep, figure: str) -> str:
    """Return a figure over the size, which is logarithmic: a line for each method in its standard deviation."""
    title, text = FIGURES[figure]
    means = [sweep.mean(method, figure) for method in sweep.methods]
    sds = [sweep.deviation(method, figure) for method in sweep.methods]
    low = min(float((mean - sd).min()) for mean, sd in zip(means, sds, strict=True))
    high = max(float((mean + sd).max()) for mean, sd in zip(means, sds, strict=True))
    if text(low) == text(high):
        return f"<p>{escape(f'{title}: {text(low)} throughout.')}</p>"
    places = np.log(np.array(sweep.sizes, np.float64))
    width, height = _WIDTH - _LEFT - 14, _HEIGHT - _TOP - _BOTTOM

    def x(values: NDArray[np.float64]) -> NDArray[np.float64]:
        spread = max(float(places[-1] - places[0]), 1e-9)
        found: NDArray[np.float64] = _LEFT + (values - places[0]) / spread * width
        return found

    def y(values: NDArray[np.float64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = _TOP + (high - values) / (high - low) * height
        return found

    drawn = []
    for value in np.linspace(low, high, 5).tolist():
        at = float(y(np.array([value]))[0])
        drawn.append(f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH - 14}" y1="{at:.1f}" y2="{at:.1f}"/>')
        drawn.append(f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{escape(text(value))}</text>')
    last = -math.inf
    for at, size in zip(x(places).tolist(), sweep.sizes, strict=True):
        if at - last > 52:
            drawn.append(f'<text x="{at:.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{size:,}</text>')
            last = at
    for number, (mean, sd) in enumerate(zip(means, sds, strict=True)):
        color = _COLORS[number % len(_COLORS)]
        if sd.any():
            edge = [*_points(x(places), y(mean + sd)), *reversed(_points(x(places), y(mean - sd)))]
            drawn.append(f'<polygon points="{" ".join(edge)}" fill="{color}" opacity="0.15"/>')
        points = " ".join(_points(x(places), y(mean)))
        drawn.append(f'<polyline points="{points}" fill="none" stroke-width="2" {_look(number)}/>')
        advised = {each.size for each in sweep.advice if each.method == [*sweep.methods][number]} - {None}
        for size in sorted(size for size in advised if size is not None):
            place = sweep.sizes.index(size)
            at, level = float(x(places)[place]), float(y(mean)[place])
            drawn.append(f'<circle cx="{at:.1f}" cy="{level:.1f}" r="4" fill="{color}"/>')
    middle = _LEFT + width / 2
    drawn.append(
        f'<text x="{middle:.0f}" y="{_HEIGHT - 4}" text-anchor="middle">{escape(title)}, by tokens in the vocabulary'
        "</text>"
    )
    label = escape(f"{title}, by the size of the vocabulary")
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" role="img" aria-label="{label}">{"".join(drawn)}</svg>'
    )


def _points(x: NDArray[np.float64], y: NDArray[np.float64]) -> list[str]:
    return [f"{across:.1f},{down:.1f}" for across, down in zip(x.tolist(), y.tolist(), strict=True)]
