"""Texts as cells of a csv file, which a spreadsheet would obey if they began like a formula.

`guarded` puts an apostrophe before such a text, and before one that begins with an apostrophe, so that `unguarded`
gives back every text exactly. Where a semicolon or a tab parts the cells, as in the Excel of many countries, the quotes
around a text are none, because its line does not begin with them: so each piece of a text between such signs is
guarded like a text.
"""

from __future__ import annotations

import re

_OBEYED = "=+@\\t\\r\\n\\0＝＋－＠'\\-"
_SEPARATORS = ";\\t\\r\\n"
# Blanks and quotes before a formula do not keep every program from it.
_PIECE = re.compile(rf"(?:(?<=[{_SEPARATORS}])|\A)(?=(?:[^\S{_SEPARATORS}]|\")*[{_OBEYED}])")
_GUARD = re.compile(rf"(?:(?<=[{_SEPARATORS}])|\A)'")


def is_obeyed(text: str) -> bool:
    """Return whether a text must be guarded."""
    return not text.isalnum() and _PIECE.search(text) is not None


def guarded(text: str) -> str:
    """Return a text as it stands in a cell.

    >>> guarded("=1+1"), guarded("'tis"), guarded("hug"), guarded("a;=1")
    ("'=1+1", "''tis", 'hug', "a;'=1")
    """
    return _PIECE.sub("'", text)


def unguarded(cell: str) -> str:
    """Return the text of a cell that `guarded` made.

    >>> unguarded(guarded("=1+1"))
    '=1+1'
    """
    return _GUARD.sub("", cell)
