"""Making text from outside safe to print to a terminal, and invisible characters visible.

A token or a file name may contain characters that move the cursor, set the window's title or reverse the reading
direction of the rest of the line.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import msgspec

from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Sequence

# Controls, line and paragraph separators, direction marks, zero-width characters, lone surrogates, unassigned tags.
_UNPRINTABLE = (
    r"\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e007f"
)
_JOINERS = "\u200c\u200d"

# Here, where the command line, which names its option in place of it, finds it without NumPy.
REPLACE_ADVICE = "Write to another place, or move that file away."


@cache
def _unprintable(kept: str) -> re.Pattern[str]:
    return re.compile(f"(?![{re.escape(kept)}])[{_UNPRINTABLE}]" if kept else f"[{_UNPRINTABLE}]")


def printable(text: str, keep: str = "") -> str:
    r"""Return `text` with everything that a terminal might act on written as a Python escape.

    `keep` lists characters that are left unchanged.

    >>> printable("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    return _unprintable(keep).sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def shortened(texts: Sequence[str], characters: int = 100) -> str:
    """Return texts as one printable line that has hardly more than so many characters.

    >>> shortened(["hug", "##s"] * 5, 15)
    'hug ##s hug ##s …'
    """
    shown = printable(" ".join(texts[: characters // 2]))
    return shown if len(shown) <= characters and len(texts) <= characters // 2 else shown[:characters] + " …"


def visible_character(text: str, index: int) -> str:
    r"""Return a character of a text for display: spelled out if it is invisible, a lone mark on a dotted circle.

    >>> visible_character("##\u200b", 2)
    '⟨U+200B⟩'
    """
    character = text[index]
    category = unicodedata.category(character)
    before = unicodedata.category(text[index - 1]) if index else "Zs"
    stands_on_something = before[0] in "LMNS" and text[index - 1] != "#"
    if character in _JOINERS and stands_on_something and index + 1 < len(text):
        return character
    if category[0] == "M":
        return character if stands_on_something else "◌" + character
    if category[0] in "CZ" and not (category == "Zs" and character == " "):
        return f"⟨U+{ord(character):04X}⟩"
    return character


def printable_json(value: object) -> str:
    r"""Return `value` as one line of JSON, with what a terminal might act on in JSON's own escapes.

    >>> printable_json(["한", "\x9b"])
    '["한", "\\u009b"]'
    """
    return _unprintable("").sub(lambda found: json.dumps(found[0])[1:-1], json.dumps(value, ensure_ascii=False))


def display_name(path: str | os.PathLike[str]) -> str:
    r"""Return a path in printable form; line breaks and undecodable bytes appear as backslash escapes.

    >>> display_name("two\nlines.txt")
    'two\\nlines.txt'
    """
    return printable(os.fsdecode(os.fspath(path))) or '""'


def file_error(path: str | os.PathLike[str], what: str, advice: str = "", **values: object) -> StudioError:
    """Return an error about a file, which a field ``{path}`` of `what` or `advice` names."""
    return StudioError(what, advice, path=display_name(path), **values)


_Kind = TypeVar("_Kind", bound=type[msgspec.Struct])


def decodable(kind: _Kind) -> _Kind:
    """Prepare a struct class, as a decorator, before a second thread can use it.

    msgspec (0.22) prepares a class when it is first decoded; two threads doing so at the same time crash the process.
    """
    msgspec.json.Decoder(kind)
    return kind
