"""How tokens, numbers, formulas and the reasons why a token is never used are written, the same way in every pane.

Only text: no painting, no widget. A token is shown as it is, never obeyed; only invisible characters are spelled out.
Numbers are written as in English, the language of all words: 29,792 and 0.05.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from wordpiece_studio.session.plural import plural
from wordpiece_studio.system.printable import visible_character
from wordpiece_studio.training.engine import formula_of as formula_of
from wordpiece_studio.training.engine import fraction_text as fraction_text
from wordpiece_studio.training.engine import number_text as number_text
from wordpiece_studio.training.engine import value_text as value_text
from wordpiece_studio.ui.widgets.plain import shown

if TYPE_CHECKING:
    from wordpiece_studio.evaluation.usage import DeadReason
    from wordpiece_studio.session.held_out_judging import HeldOutFigure

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
    return f"−{number_text(-change)}" if change < 0 else f"+{number_text(change)}" if change else "±0"


def dead_words(reason: DeadReason) -> str:
    """Return the reason in a few words."""
    templates = {
        "merged": plural(
            reason.merges,
            "All merged into {token} at step {step}",
            "Merged into {merges} others, the last being {token} at step {step}",
        ),
        "covered": _tr("“{word}” uses {token} instead"),
        "unknown": _tr("“{word}” is unknown"),
        "absent": _tr("In no word"),
    }
    return _filled(templates[reason.kind], reason)


def dead_sentence(reason: DeadReason, spelled: int | None = None) -> str:
    """Return the reason in sentences; `spelled` is how many distinct words contain the token, if known."""
    templates = {
        "merged": plural(
            reason.merges,
            "Unused: an intermediate token. Every occurrence was merged into {token} at step {step}, as in “{word}”.",
            "Unused: an intermediate token. {merges} merges absorbed every occurrence; the last created {token} at "
            "step {step}, as in “{word}”.",
        ),
        "covered": _tr("Unused: in “{word}”, longest match takes {token}, created at step {step}, instead."),
        "unknown": _tr("Unused: “{word}”, which contains it, is unknown as a whole."),
        "absent": _tr("Unused: no word in the corpus contains it where it could match."),
    }
    if reason.kind == "covered" and not reason.step:
        templates["covered"] = _tr("Unused: in “{word}”, longest match takes {token}, from the alphabet, instead.")
    sentence = _filled(templates[reason.kind], reason)
    if not spelled:
        return sentence
    more = plural(
        spelled,
        "One word contains it; longest match splits that word differently.",
        "{count} words contain it; longest match splits all of them differently.",
    )
    return sentence + " " + more.format(count=number_text(spelled))


def _filled(template: str, reason: DeadReason) -> str:
    return template.format(
        word=token_text(reason.word, 40),
        token=token_text(reason.token),
        step=number_text(reason.step),
        merges=number_text(reason.merges),
    )


def held_out_text(figure: HeldOutFigure) -> str:
    """Return tokens per word; with the share of unknown tokens if that makes them seem fewer."""
    rate = value_text(figure.rate)
    if not figure.loses_text:
        return rate
    return QCoreApplication.translate("HeldOut", "{rate} ({share} unknown)").format(
        rate=rate, share=f"{figure.unknown:.1%}"
    )


def _tr(text: str) -> str:
    return QCoreApplication.translate("DeadText", text)
