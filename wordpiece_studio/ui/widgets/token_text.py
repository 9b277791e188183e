"""How tokens, numbers, formulas and the reasons why a token is never used are written, the same way in every pane.

Only text: no painting, no widget. A token is shown as it is, never obeyed; only invisible characters are spelled out.
Numbers have the separators of the user's language.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QLocale

from wordpiece_studio.system.printable import visible_character
from wordpiece_studio.training import formula
from wordpiece_studio.training.formula import Separators
from wordpiece_studio.ui.widgets.plain import shown

if TYPE_CHECKING:
    from fractions import Fraction

    from wordpiece_studio.evaluation.usage import DeadReason
    from wordpiece_studio.training.engine import Candidate, Merge
    from wordpiece_studio.training.formula import Formula

_NAMES = {"\t": "⟨tab⟩", "\r": "⟨CR⟩", "\xa0": "⟨nbsp⟩", "\ufeff": "⟨BOM⟩", "\xad": "⟨shy⟩"}
DEAD_MARK = "†"


@lru_cache(maxsize=65536)
def token_text(token: str, limit: int = 60) -> str:
    r"""Return the text of a token for display.

    Invisible characters are spelled out, a combining mark without a letter gets a dotted circle to stand on,
    and a token of more than `limit` characters is cut.

    >>> token_text("##\u200b")
    '##⟨U+200B⟩'
    """
    if token.isascii() and token.isprintable():
        return shown(token, limit)
    count = len(token) if len(token) <= limit else limit - 1
    text = "".join(visible_character(token, index) for index in range(count))
    return text if count == len(token) else text + "…"


def line_text(line: str) -> str:
    r"""Return a line of text for display, with invisible characters spelled out as in :func:`token_text`.

    The common ones have names.

    >>> line_text("a\tb\u200b")
    'a⟨tab⟩b⟨U+200B⟩'
    """
    if line.isascii() and line.isprintable():
        return line
    return "".join(_NAMES.get(character) or visible_character(line, index) for index, character in enumerate(line))


def signed_text(change: int) -> str:
    """Return a change as the user's locale writes it, with its sign."""
    return f"−{number_text(-change)}" if change < 0 else f"+{number_text(change)}" if change else "±0"


def number_text(number: int) -> str:
    """Return a whole number in groups of three digits, with the separator of the user's language."""
    if -1000 < number < 1000:
        return str(number)
    # Not QLocale's own: some languages, and the C locale, leave the separators out.
    return f"{number:,}".replace(",", QLocale().groupSeparator())


def value_text(value: float) -> str:
    """Return a value of an objective: whole as it is, else in four significant digits, small ones with an exponent."""
    return formula.value_text(value, _separators())


def fraction_text(fraction: Fraction) -> str:
    """Return ``1/20``, or ``3``."""
    return formula.fraction_text(fraction, _separators())


def formula_of(objective: str, pair: Merge | Candidate, symbols: int) -> Formula:
    """Fill in the formula of the objective, see `formula.formula_of`."""
    return formula.formula_of(objective, pair, symbols, _separators())


def _separators() -> Separators:
    return Separators(QLocale().groupSeparator(), QLocale().decimalPoint())


def dead_words(reason: DeadReason) -> str:
    """Return the reason in a few words."""
    templates = {
        "merged": _tr("all became {token} at {step}"),
        "covered": _tr("“{word}” takes {token}"),
        "unknown": _tr("“{word}” is unknown"),
        "absent": _tr("found in no word"),
    }
    several = _tr("went into {merges} others, last {token} at {step}")
    return _filled(several if reason.merges > 1 else templates[reason.kind], reason)


def dead_sentence(reason: DeadReason, spelled: int | None = None) -> str:
    """Return the reason in sentences; `spelled` is how many distinct words contain the token, if known."""
    templates = {
        "merged": _tr("Never used: an intermediate token. All of it became {token} at step {step}, as in “{word}”."),
        "covered": _tr("Never used: in “{word}” longest match takes {token}, born at step {step}, instead."),
        "unknown": _tr("Never used: “{word}”, which contains it, is unknown as a whole."),
        "absent": _tr("Never used: no word of the corpus contains it where it could be matched."),
    }
    several = _tr(
        "Never used: an intermediate token. {merges} merges absorbed it wherever it occurred; the last made {token} at"
        " step {step}, as in “{word}”."
    )
    if reason.kind == "covered" and not reason.step:
        templates["covered"] = _tr("Never used: in “{word}” longest match takes {token}, from the alphabet, instead.")
    sentence = _filled(several if reason.merges > 1 else templates[reason.kind], reason)
    if not spelled:
        return sentence
    if spelled == 1:
        return sentence + " " + _tr("One word contains it; longest match splits that word differently.")
    more = _tr("{count} words contain it; longest match splits all of them differently.")
    return sentence + " " + more.format(count=number_text(spelled))


def _filled(template: str, reason: DeadReason) -> str:
    return template.format(
        word=token_text(reason.word, 40),
        token=token_text(reason.token),
        step=number_text(reason.step),
        merges=number_text(reason.merges),
    )


def _tr(text: str) -> str:
    return QCoreApplication.translate("DeadText", text)
