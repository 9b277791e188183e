"""Sentences about a number of things, in the language of the window."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from wordpiece_studio.training.engine import number_text

_MOST = 1_000_000_000  # which Qt can take; forms go by the last digits
CONTEXT = "plural"  # under what a translation has the forms of a sentence: as many as its language has


def plural(number: int, one: str, many: str) -> str:
    """Return the template for `number` things: whole sentences, whose fields the caller fills in.

    English has two forms, Chinese has one, and Polish three: a translation has all of them under the text of `many`,
    and Qt chooses by the language's rule. `one` is for English alone.

    >>> plural(1, "1 row copied", "{count} rows copied")
    '1 row copied'
    >>> plural(1200, "1 row copied", "{count} rows copied").format(count="1,200")
    '1,200 rows copied'
    """
    text = QCoreApplication.translate(CONTEXT, many, None, number if number < _MOST else _MOST + number % _MOST)
    return one if number == 1 and text == many else text


def counted(number: int, one: str, many: str, /, **others: object) -> str:
    """Return the sentence for `number` things, with its fields: ``{count}``, and the others as `filled` has them.

    >>> counted(1200, "1 row copied", "{count} rows copied")
    '1,200 rows copied'
    """
    return filled(plural(number, one, many), count=number, **others)


def filled(text: str, /, **fields: object) -> str:
    """Return a text with its fields; whole numbers have their digits grouped.

    >>> filled("Step {step} of {name}", step=1200, name="A")
    'Step 1,200 of A'
    """
    return text.format(**{name: number_text(field) if type(field) is int else field for name, field in fields.items()})
