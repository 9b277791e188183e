"""Making text from outside safe to print to a terminal.

A token or a file name may contain characters that move the cursor, set the window's title or reverse the reading
direction of the rest of the line.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from typing import TypeVar

import msgspec

# Controls, line and paragraph separators, direction marks, zero-width characters, lone surrogates, unassigned tags.
_UNPRINTABLE = (
    r"\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e007f"
)


@cache
def _unprintable(kept: str) -> re.Pattern[str]:
    return re.compile(f"(?![{re.escape(kept)}])[{_UNPRINTABLE}]" if kept else f"[{_UNPRINTABLE}]")


def printable(text: str, keep: str = "") -> str:
    r"""Return `text` with everything that a terminal might act on written as a Python escape.

    `keep` lists characters that are left unchanged.

    >>> printable("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    return _unprintable(keep).sub(_escape, text)


def printable_json(value: object) -> str:
    r"""Return `value` as one line of JSON, with what a terminal might act on in JSON's own escapes.

    >>> printable_json(["한", "\x9b"])
    '["한", "\\u009b"]'
    """
    return _unprintable("").sub(_escape_in_json, json.dumps(value, ensure_ascii=False))


def display_name(path: str | os.PathLike[str]) -> str:
    r"""Return a path in printable form; line breaks and undecodable bytes appear as backslash escapes.

    >>> display_name("two\nlines.txt")
    'two\\nlines.txt'
    """
    return printable(os.fsdecode(os.fspath(path))) or '""'


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def _escape_in_json(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


_Kind = TypeVar("_Kind", bound=type[msgspec.Struct])


def decodable(kind: _Kind) -> _Kind:
    """Prepare a struct class, as a decorator, before a second thread can use it.

    msgspec (0.22) prepares a class when it is first decoded; two threads doing so at the same time crash the process.
    """
    msgspec.json.Decoder(kind)
    return kind
