"""What a notebook shows of encodings, merges, histories and comparisons: the HTML of their `_repr_html_`.

Every element has its own style, because style sheets are dropped where a notebook is not trusted. A chip brings its
background and its text colour along; everything else takes the colours of the page, be it light or dark. All text from
outside is escaped, and its invisible characters are spelled out.
"""

from __future__ import annotations

import zlib
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any

from wordpiece_studio.system.printable import visible_character

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# The window's light backgrounds of tokens; see `wordpiece_studio.ui.widgets.theme` for how they were found.
CHIP_COLORS = ("#9fb1f7", "#eff8ab", "#f8e0ec", "#e3a77d", "#ddffdf", "#bfb4c7", "#81d2b3", "#dad3fd")
CHIP_INK = "#14181f"

_CHIP = "display:inline-block;padding:0 5px;border-radius:4px;font-family:monospace;white-space:pre"
_UNKNOWN = f"{_CHIP};outline:2px dashed #8c1d18;outline-offset:-2px;background:#fff1f0;color:#8c1d18"
_WORD = "display:inline-block;margin:2px 8px 2px 0;vertical-align:top;white-space:nowrap"
_TOKEN = "display:inline-block;margin-right:2px;text-align:center;line-height:1.5"
_SMALL = "font-size:75%;opacity:0.75"
_MOST_TOKENS, MOST_ROWS, _FIRST_ROWS, _MOST_CHARACTERS = 400, 100, 10, 60


def encoding_html(
    tokens: Sequence[str],
    ids: Sequence[int],
    offsets: Sequence[tuple[int, int]],
    places: Sequence[tuple[int | None, int | None]],
) -> str:
    """Return the tokens as chips, with offsets below and ids as tooltips; `places`: the text and word of each token."""
    words, notes = [], []
    shown = min(len(tokens), _MOST_TOKENS)
    for _, group in groupby(range(shown), key=places.__getitem__):
        chips = []
        for index in group:
            start, end = offsets[index]
            place = f"{start}–{end}" if end > start else ""  # a token that was added has none
            token, tip = tokens[index], f"ID {ids[index]}"
            if reason := _reason(token):
                tip += f": {reason}"
                notes.append(f"{_visible(token)} at {place}: {reason}")
            below = _element("span", place or "&nbsp;", _SMALL)
            chips.append(_element("span", f"{_chip(token)}<br>{below}", _TOKEN, tip))
        words.append(_element("span", "".join(chips), _WORD))
    notes[_FIRST_ROWS:] = _more(len(notes) - _FIRST_ROWS, "1 more unknown word", "{count} more unknown words")
    return _body(words, [*notes, *_more(len(tokens) - shown, "1 more token", "{count} more tokens")])


def trace_html(
    word: str, positions: Sequence[tuple[int, Sequence[tuple[str, bool]]]], tokens: Sequence[str], unknown: Any
) -> str:
    """Return which pieces longest match tried at each place of a word, and the tokens or why there are none.

    `positions` are the places with the pieces tried there and whether each matched; `unknown` is why there are none.
    """
    rows = []
    for start, tried in positions[:MOST_ROWS]:
        pieces = [
            _chip(piece) if is_matched else _element("s", _text(piece), "margin-right:8px")
            for piece, is_matched in tried[-_FIRST_ROWS:]
        ]
        more = "… " if len(tried) > len(pieces) else ""
        rows.append((f"{start + 1:,}", more + "".join(pieces)))
    chips = " ".join(_chip(token) for token in tokens[:_MOST_TOKENS])
    notes = [] if unknown is None else [_reason_text(unknown)]
    notes += _more(len(positions) - len(rows), "1 more position", "{count} more positions")
    table = _table(("from character", "pieces tried, longest first"), rows)
    return _body([f"<div>{_text(word)} → {chips}</div>", table], notes)


def merge_html(step: int, pair: tuple[str, str, str], formula: str, value: str, notes: Iterable[str]) -> str:
    lines = f"<div>Merge {step:,}: {_pair(*pair)}</div>", f"<div>{escape(formula)} = <b>{escape(value)}</b></div>"
    return _body(lines, notes)


def pairs_html(
    titles: Sequence[str], rows: Iterable[tuple[int, tuple[str, str, str], str, str, str]], more: int, name: str
) -> str:
    """Return pairs as a table: number, the pair and its token, and three texts; `more` that have the `name` follow."""
    shown = (
        (f"{number:,}", _pair(*pair), escape(count), escape(value), tie) for number, pair, count, value, tie in rows
    )
    return _body([_table(titles, shown)], _more(more, f"1 more {name}", f"{{count}} more {name}s"))


def evaluation_html(tables: Sequence[tuple[str, Sequence[Sequence[str]]]], words: int, words_of: Iterable[str]) -> str:
    parts: list[str] = []
    shown = tables[: _FIRST_ROWS + 1]
    for name, (head, *rows) in shown:
        parts += [f"<div>{_text(name)}</div>"] if name else []
        parts.append(_table(head, ([_text(cell) for cell in row] for row in rows[:MOST_ROWS])))
    note = "1 word, as found by {names}" if words == 1 else "{count:,} words, as found by {names}"
    note = note.format(count=words, names=_visible(", ".join(words_of)))
    return _body(parts, [note, *_more(len(tables) - len(shown), "1 more text", "{count} more texts")])


def comparison_html(
    sizes: tuple[int, int],
    shared: int,
    divergence: tuple[int, tuple[str, str] | None, tuple[str, str] | None] | None,
    words: Sequence[tuple[str, int, Sequence[str], Sequence[str]]],
) -> str:
    """Return what two vocabularies share, where they diverge, and a table of the words that they split differently.

    `divergence` is the step and both merges; of a word the text, the count and both ways to split it.
    """
    lines = [f"{sizes[0]:,} and {sizes[1]:,} tokens, {shared:,} in both"]
    if divergence is not None:
        step, *merges = divergence
        first, second = (None if pair is None else " + ".join(map(_visible, pair)) for pair in merges)
        what = f"the first merges {first}, the second merges {second}"
        if first is None:
            what = f"the first ends, the second merges {second}"
        elif second is None:
            what = f"the first merges {first}, the second ends"
        lines.append(f"They diverge at step {step:,}: {what}")
    rows = [
        (_text(word), f"{count:,}", *(" ".join(map(_chip, cut)) for cut in cuts))
        for word, count, *cuts in words[:MOST_ROWS]
    ]
    table = [_table(("word", "count", "first", "second"), rows)] if rows else []
    notes = _more(len(words) - len(rows), "1 more word", "{count} more words")
    return _body([*(f"<div>{escape(line)}</div>" for line in lines), *table], notes)


def _reason(token: str) -> str:
    reason = getattr(token, "reason", None)
    return "" if reason is None else _reason_text(reason)


def _reason_text(reason: Any) -> str:
    if reason.kind == "too-long":
        return "the word has more characters than the tokenizer accepts"
    place = f"{reason.position + 1:,}"
    return f"nothing in the vocabulary matches from character {place} of the word, not even {_visible(reason.symbol)}"


def _pair(left: str, right: str, token: str) -> str:
    return f"{_chip(left)} + {_chip(right)} → {_chip(token)}"


def _chip(token: str) -> str:
    # The same colour as in the window, where the symbols of a small corpus are an exception.
    color = CHIP_COLORS[zlib.crc32(token.encode("utf-8", "surrogatepass")) % len(CHIP_COLORS)]
    return _element(
        "span", _text(token), _UNKNOWN if hasattr(token, "reason") else f"{_CHIP};background:{color};color:{CHIP_INK}"
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
    titles = "".join(_element("th", escape(title), "text-align:left") for title in head)
    lines = ("".join(_element("td", cell, "text-align:left") for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def _more(number: int, one: str, many: str) -> list[str]:
    return [(one if number == 1 else many).format(count=f"{number:,}")] if number > 0 else []


def _body(parts: Iterable[str], notes: Iterable[str] = ()) -> str:
    small = "".join(_element("div", escape(note), _SMALL) for note in notes)
    return f"<div>{''.join(parts)}{small}</div>"
