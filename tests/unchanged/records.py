"""Records of what a checkout does, and how two of them differ. Nothing here knows the program.

A record has a name and a value: a text, or a dictionary of texts. The records of a part are one JSON file.
"""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Value = str | dict[str, str]
    Records = dict[str, Value]

_CONTEXT = 1
_WIDEST = 220
_VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?"), "<time>"),
    (re.compile(r'("(?!max_)\w*seconds\w*": *)[\d.e+-]+'), r"\1<seconds>"),
    (re.compile(r"\b\d[\d,]*(\.\d+)? (ms|s|seconds?|minutes?|min|h)\b"), r"<number> \2"),
    (re.compile(r"\b\d[\d,]*(\.\d+)? ([\w ]{1,20}/s|\w+ (?:a|per) second)\b"), r"<number> \2"),
    (re.compile(r"\b\d[\d,]*(\.\d+)? ([kMG]i?B)( of memory| free| available| are free| of free)"), r"<number> \2\3"),
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "<address>"),
    (re.compile(r"/(?:tmp|var/folders)/[^\s:,;\"')]+"), "<temporary>"),
)


def normalised(text: str, places: dict[str, str]) -> str:
    """Return a text without what varies from call to call: places, times, speeds, free memory.

    Parameters
    ----------
    places
        What is written instead of each of these texts, such as paths and the version; longest first.
    """
    for place in sorted(places, key=len, reverse=True):
        text = text.replace(place, places[place])
    for pattern, instead in _VARYING:
        text = pattern.sub(instead, text)
    return text


def save(records: Records, path: Path) -> None:
    """Write the records of a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(records, ensure_ascii=True, indent=1), encoding="utf-8")


def load(path: Path) -> Records:
    """Read the records of a part."""
    records: Records = json.loads(path.read_text(encoding="utf-8"))
    return records


@dataclass(slots=True)
class Comparison:
    """How the records of a part differ.

    Attributes
    ----------
    recorded, equal
        How many names there are in both together, and how many of them have the same value.
    differences
        By name, the lines that say what differs.
    """

    recorded: int = 0
    equal: int = 0
    differences: dict[str, list[str]] = field(default_factory=dict)

    def note(self, name: str, lines: list[str]) -> None:
        """Count a name, which is equal if there are no lines."""
        self.recorded += 1
        if lines:
            self.differences[name] = lines
        else:
            self.equal += 1


def compared(base: Records, new: Records) -> Comparison:
    """Compare the records of a part one by one, in the order of the base."""
    result = Comparison()
    for name in dict.fromkeys([*base, *new]):
        if name not in new:
            lines = ["only in the base", *_shown("- ", base[name])]
        elif name not in base:
            lines = ["only in the new one", *_shown("+ ", new[name])]
        else:
            lines = list(_difference(base[name], new[name]))
        result.note(name, lines)
    return result


def _difference(base: Value, new: Value) -> Iterator[str]:
    if base == new:
        return
    if isinstance(base, str) or isinstance(new, str):
        yield from _text_difference(str(base), str(new))
        return
    for key in dict.fromkeys([*base, *new]):
        old, now = base.get(key), new.get(key)
        if old == now:
            continue
        if old is None or now is None:
            yield f"{key}: only in the {'base' if now is None else 'new one'}"
            yield from _shown("- " if now is None else "+ ", str(now if old is None else old))
        else:
            yield f"{key}:"
            yield from _text_difference(old, now)


def _text_difference(base: str, new: str) -> Iterator[str]:
    lines = difflib.unified_diff(base.splitlines(), new.splitlines(), lineterm="", n=_CONTEXT)
    found = [line for line in lines if not line.startswith(("---", "+++"))]
    yield from map(_cut, found or ["the lines are the same, their ends differ"])


def _shown(mark: str, value: Value) -> Iterator[str]:
    for key, text in value.items() if isinstance(value, dict) else [("", value)]:
        for line in text.splitlines():
            yield _cut(f"{mark}{key + ': ' if key else ''}{line}")


def _cut(line: str) -> str:
    shown = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in line)
    return shown if len(shown) <= _WIDEST else f"{shown[:_WIDEST]}…"
