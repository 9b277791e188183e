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
    notes[_FIRST_ROWS:] = _more(len(notes) - _FIRST_ROWS, "1 more unknown word", "{count} more unknown words")
    return _body(words, [*notes, *_more(len(encoding) - shown, "1 more token", "{count} more tokens")])


def trace_html(trace: WordTrace) -> str:
    """Return which pieces longest match tried at each place of a word, and the tokens or why there are none."""
    rows = []
    for position in trace.positions[:_MOST_ROWS]:
        tried = [
            _chip(trial.candidate) if trial.matched else _element("s", _text(trial.candidate), "margin-right:8px")
            for trial in position.tried[-_FIRST_ROWS:]
        ]
        more = "… " if len(position.tried) > len(tried) else ""
        rows.append((number_text(position.start + 1), more + "".join(tried)))
    chips = " ".join(_chip(token) for token in trace.tokens[:_MOST_TOKENS])
    notes = [] if trace.unknown is None else [_reason(trace.unknown)]
    notes += _more(len(trace.positions) - len(rows), "1 more position", "{count} more positions")
    table = _table(("from character", "pieces tried, longest first"), rows)
    return _body([f"<div>{_text(trace.word)} → {chips}</div>", table], notes)


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
        notes.append(f"{number_text(merge.ties)} candidates tied.")
    if not merge.is_new:
        notes.append("The token was already in the vocabulary.")
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
    more += len(pairs) - len(rows)
    if isinstance(pairs[0], Merge):
        number_name, notes = "step", _more(more, "1 more merge", "{count} more merges")
    else:
        number_name, notes = "rank", _more(more, "1 more candidate", "{count} more candidates")
    return _body([_table((number_name, "pair", RULES[objective], _VALUE_NAMES[objective], ""), rows)], notes)


def history_html(history: MergeHistory) -> str:
    """Return the first merges as a table, and how many more there are."""
    first = history[:_FIRST_ROWS]
    return pairs_html(first, len(history) - len(first))


def evaluation_html(evaluation: Evaluation) -> str:
    """Return the metrics of all of the text as a table, and those of each part."""
    parts: list[str] = []
    tables = list(evaluation.tables())
    shown = tables[: _FIRST_ROWS + 1]
    for name, (head, *rows) in shown:
        parts += [f"<div>{_text(name)}</div>"] if name else []
        parts.append(_table(head, ([_text(cell) for cell in row] for row in rows[:_MOST_ROWS])))
    number = evaluation.figures[0].words
    words = "1 word, as found by {names}" if number == 1 else "{count} words, as found by {names}"
    words = words.format(count=number_text(number), names=_visible(", ".join(evaluation.words_of)))
    return _body(parts, [words, *_more(len(tables) - len(shown), "1 more text", "{count} more texts")])


def comparison_html(comparison: TokenizerComparison) -> str:
    """Return what two vocabularies share, where they diverge, and a table of the words that they split differently."""
    overlap, parting, found = comparison.overlap, comparison.divergence, comparison.differences
    first, second = map(number_text, overlap.sizes)
    lines = [f"{first} and {second} tokens, {number_text(overlap.shared)} in both"]
    if parting is not None:
        what = "They diverge at step {step}: the first merges {first}, the second merges {second}"
        if parting.first is None:
            what = "They diverge at step {step}: the first ends, the second merges {second}"
        elif parting.second is None:
            what = "They diverge at step {step}: the first merges {first}, the second ends"
        pairs = [" + ".join(map(_visible, pair or ())) for pair in (parting.first, parting.second)]
        lines.append(what.format(step=number_text(parting.step), first=pairs[0], second=pairs[1]))
    shown = () if found is None else found.words[:_MOST_ROWS]
    rows = [
        (_text(each.word), number_text(each.count), *(" ".join(map(_chip, cut)) for cut in (each.first, each.second)))
        for each in shown
    ]
    table = [_table(("word", "count", "first", "second"), rows)] if rows else []
    notes = [] if found is None else _more(len(found.words) - len(shown), "1 more word", "{count} more words")
    return _body([*(f"<div>{escape(line)}</div>" for line in lines), *table], notes)


def _reason(reason: UnknownReason) -> str:
    if reason.kind == "too-long":
        return "the word has more characters than the tokenizer accepts"
    place = number_text(reason.position + 1)
    return f"nothing in the vocabulary matches from character {place} of the word, not even {_visible(reason.symbol)}"


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


def _more(number: int, one: str, many: str) -> list[str]:
    """Return a line about how many things are not shown, if there are any."""
    return [(one if number == 1 else many).format(count=number_text(number))] if number > 0 else []


def _body(parts: Iterable[str], notes: Iterable[str] = ()) -> str:
    """Return parts, which are HTML, with lines of small text below them."""
    small = "".join(_element("div", escape(note), _SMALL) for note in notes)
    return f"<div>{''.join(parts)}{small}</div>"
