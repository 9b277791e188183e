"""What a notebook shows of encodings, merges, histories and comparisons: the HTML of their `_repr_html_`.

Every element has its own style, because style sheets are dropped where a notebook is not trusted. A chip brings its
background and its text colour along; everything else takes the colours of the page, be it light or dark. All text from
outside is escaped, and its invisible characters are spelled out.
"""

from __future__ import annotations

import zlib
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from wordpiece_studio.system.printable import visible_character
from wordpiece_studio.tokenizer.encoding import UnknownToken
from wordpiece_studio.training.engine import Merge
from wordpiece_studio.training.formula import RULES, formula_of, number_text, ratio_of, value_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wordpiece_studio.evaluation.differences import TokenizerComparison
    from wordpiece_studio.evaluation.figures import Evaluation
    from wordpiece_studio.tokenizer.encoding import Encoding, UnknownReason
    from wordpiece_studio.tokenizer.tokenizer import WordTrace
    from wordpiece_studio.training.engine import Candidate
    from wordpiece_studio.training.history import MergeHistory

CHIP_COLORS = ("#9fb1f7", "#eff8ab", "#f8e0ec", "#e3a77d", "#ddffdf", "#bfb4c7", "#81d2b3", "#dad3fd")
"""The window's light backgrounds of tokens; see `wordpiece_studio.ui.widgets.colors` for how they were found."""
CHIP_INK = "#14181f"

_CHIP = "display:inline-block;padding:0 5px;border-radius:4px;font-family:monospace;white-space:pre"
_UNKNOWN = f"{_CHIP};outline:2px dashed #8c1d18;outline-offset:-2px;background:#fff1f0;color:#8c1d18"
_WORD = "display:inline-block;margin:2px 8px 2px 0;vertical-align:top;white-space:nowrap"
_TOKEN = "display:inline-block;margin-right:2px;text-align:center;line-height:1.5"
_SMALL = "font-size:75%;opacity:0.75"
_MOST_TOKENS, _MOST_ROWS, _FIRST_ROWS, _MOST_CHARACTERS = 400, 100, 10, 60
_VALUE_NAMES = {"score": "score", "likelihood": "gain", "count": "count"}


def encoding_html(encoding: Encoding) -> str:
    """Return the tokens as chips, word by word, with their offsets below and their ids as tooltips."""
    words, notes = [], []
    shown = min(len(encoding), _MOST_TOKENS)
    places = list(zip(encoding.sequence_ids, encoding.words, strict=True))  # both texts of a pair have a word 0
    for _, group in groupby(range(shown), key=places.__getitem__):
        tokens = []
        for index in group:
            start, end = encoding.offsets[index]
            place = f"{start}–{end}" if end > start else ""  # a token that was added has none
            token, tip = encoding.tokens[index], f"ID {encoding.ids[index]}"
            if isinstance(token, UnknownToken):
                tip += f": {_reason(token.reason)}"
                notes.append(f"{_visible(token)} at {place}: {_reason(token.reason)}")
            chip = _chip(token)
            below = _element("span", place or "&nbsp;", _SMALL)
            tokens.append(_element("span", f"{chip}<br>{below}", _TOKEN, tip))
        words.append(_element("span", "".join(tokens), _WORD))
    if len(notes) > _FIRST_ROWS:
        notes[_FIRST_ROWS:] = [f"{number_text(len(notes) - _FIRST_ROWS)} more unknown words"]
    return _body(words, notes, len(encoding) - shown, "token")


def trace_html(trace: WordTrace) -> str:
    """Return which pieces longest match tried at each place of a word, and the tokens or why there are none."""
    rows = []
    for position in trace.positions[:_MOST_ROWS]:
        tried = [
            _chip(trial.candidate) if trial.matched else _element("s", _text(trial.candidate), "margin-right:8px")
            for trial in position.tried[-_FIRST_ROWS:]
        ]
        more = "… " if len(position.tried) > len(tried) else ""
        rows.append((str(position.start), more + "".join(tried)))
    chips = " ".join(_chip(token) for token in trace.tokens[:_MOST_TOKENS])
    notes = [] if trace.unknown is None else [_reason(trace.unknown)]
    table = _table(("at", "pieces tried, longest first"), rows)
    return _body([f"<div>{_text(trace.word)} → {chips}</div>", table], notes, len(trace.positions) - len(rows), "place")


def merge_html(merge: Merge) -> str:
    """Return the pair and its value, with the formula filled in as on the window's scoreboard."""
    formula = formula_of(merge.objective, merge, merge.symbols_before)
    parts = [_VALUE_NAMES[merge.objective], formula.rule, formula.numbers, *formula.reduced]
    value = " = ".join(escape(part) for part in parts if part) + f" = <b>{escape(formula.value)}</b>"
    ratio, symbols = value_text(float(ratio_of(merge, merge.symbols_before))), number_text(merge.symbols_before)
    notes = [
        f"The pair occurs {ratio} times as often as expected by chance: p(ab) / (p(a) × p(b)), where N = {symbols}."
    ]
    if merge.ties > 1:
        notes.append(f"Tie of {number_text(merge.ties)}.")
    if not merge.is_new:
        notes.append("The token was in the vocabulary already.")
    return _body([f"<div>Merge {number_text(merge.step)}: {_pair(merge)}</div>", f"<div>{value}</div>"], notes)


def pairs_html(pairs: Sequence[Merge | Candidate], more: int = 0) -> str:
    """Return merges or candidates as a table; `more`: how many there are besides."""
    if not pairs:
        return "<div>No pairs</div>"
    objective = pairs[0].objective
    rows = []
    for rank, pair in enumerate(pairs[:_MOST_ROWS], start=1):
        formula = formula_of(objective, pair, pair.symbols_before)
        if isinstance(pair, Merge):
            number, tie = pair.step, f"tie of {number_text(pair.ties)}" if pair.ties > 1 else ""
        else:
            number, tie = rank, "tie" if pair.is_tied else ""
        numbers = formula.numbers or number_text(pair.pair_frequency)
        rows.append((number_text(number), _pair(pair), escape(numbers), escape(formula.value), tie))
    number_name, things = ("step", "merge") if isinstance(pairs[0], Merge) else ("rank", "candidate")
    table = _table((number_name, "pair", RULES[objective], _VALUE_NAMES[objective], ""), rows)
    return _body([table], [], more + len(pairs) - len(rows), things)


def history_html(history: MergeHistory) -> str:
    """Return the first merges as a table, and how many more there are."""
    first = history[:_FIRST_ROWS]
    return pairs_html(first, len(history) - len(first))


def evaluation_html(evaluation: Evaluation) -> str:
    """Return the figures of all of the text as a table, and those of each part."""
    parts: list[str] = []
    tables = list(evaluation.tables())
    shown = tables[: _FIRST_ROWS + 1]
    for name, (head, *rows) in shown:
        parts += [f"<div>{_text(name)}</div>"] if name else []
        parts.append(_table(head, ([_text(cell) for cell in row] for row in rows[:_MOST_ROWS])))
    words = f"{number_text(evaluation.figures[0].words)} words: {_visible(', '.join(evaluation.words_of))}"
    return _body(parts, [words], len(tables) - len(shown), "text")


def comparison_html(comparison: TokenizerComparison) -> str:
    """Return what two vocabularies share, the first merge that differs, and the words cut differently as a table."""
    overlap, parting, found = comparison.overlap, comparison.divergence, comparison.differences
    first, second = map(number_text, overlap.sizes)
    lines = [f"{first} and {second} tokens, {number_text(overlap.shared)} in both"]
    if parting is not None:
        pairs = (
            "none" if pair is None else " + ".join(map(_visible, pair)) for pair in (parting.first, parting.second)
        )
        lines.append(f"Merge {number_text(parting.step)} is the first that differs: {' and '.join(pairs)}")
    shown = () if found is None else found.words[:_MOST_ROWS]
    rows = [
        (_text(each.word), number_text(each.count), *(" ".join(map(_chip, cut)) for cut in (each.first, each.second)))
        for each in shown
    ]
    table = [_table(("word", "count", "first", "second"), rows)] if rows else []
    more = 0 if found is None else len(found.words) - len(shown)
    return _body([*(f"<div>{escape(line)}</div>" for line in lines), *table], [], more, "word")


def _reason(reason: UnknownReason) -> str:
    if reason.kind == "too-long":
        return "the word has more characters than the tokenizer accepts"
    return f"no token matches at character {reason.position} of the word, not even {_visible(reason.symbol)}"


def _pair(pair: Merge | Candidate) -> str:
    return f"{_chip(pair.left)} + {_chip(pair.right)} → {_chip(pair.token)}"


def _chip(token: str) -> str:
    # The same colour as in the window, where the symbols of a small corpus are an exception.
    color = CHIP_COLORS[zlib.crc32(token.encode("utf-8", "surrogatepass")) % len(CHIP_COLORS)]
    return _element(
        "span",
        _text(token),
        _UNKNOWN if isinstance(token, UnknownToken) else f"{_CHIP};background:{color};color:{CHIP_INK}",
    )


def _visible(text: str) -> str:
    shown = "".join(visible_character(text, index) for index in range(min(len(text), _MOST_CHARACTERS)))
    return shown if len(text) <= _MOST_CHARACTERS else shown + "…"


def _text(text: str) -> str:
    return escape(_visible(text))


def _element(name: str, content: str, style: str = "", tip: str = "") -> str:
    title = f' title="{escape(tip)}"' if tip else ""
    return f'<{name} style="{style}"{title}>{content}</{name}>'


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; `rows` are HTML, `head` is text."""
    titles = "".join(_element("th", escape(title), "text-align:left") for title in head)
    lines = ("".join(_element("td", cell, "text-align:left") for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def _body(parts: Iterable[str], notes: Iterable[str] = (), more: int = 0, things: str = "") -> str:
    """Return parts, which are HTML, with lines of small text below them; `more`: how many `things` are not shown."""
    lines = [*notes, f"{number_text(more)} more {things}{'s' if more > 1 else ''}"] if more else [*notes]
    small = "".join(_element("div", escape(line), _SMALL) for line in lines)
    return f"<div>{''.join(parts)}{small}</div>"
