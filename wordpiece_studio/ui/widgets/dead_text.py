"""Why a token is never used, in a few words for a table and in sentences for whoever asks.

What is true of it was found out by :mod:`~wordpiece_studio.evaluation.dead_tokens`; here it is only said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from wordpiece_studio.evaluation.dead_tokens import DeadReason

DEAD_MARK = "†"


def dead_words(reason: DeadReason) -> str:
    """Return the reason in a few words."""
    templates = {
        "merged": _tr("all became {token} at {step}"),
        "covered": _tr("“{word}” takes {token}"),
        "unknown": _tr("“{word}” is unknown"),
        "absent": _tr("spelled in no word"),
    }
    several = _tr("went into {merges} others, last {token} at {step}")
    return _filled(several if reason.merges > 1 else templates[reason.kind], reason)


def dead_sentence(reason: DeadReason, spelled: int | None = None) -> str:
    """Return the reason in sentences; `spelled` is in how many distinct words the token is spelled, if known."""
    templates = {
        "merged": _tr("Never used: a step on the way. All of it became {token} at step {step}, as in “{word}”."),
        "covered": _tr("Never used: in “{word}” longest match takes {token}, born at step {step}, in its place."),
        "unknown": _tr("Never used: “{word}”, which holds it, is unknown as a whole."),
        "absent": _tr("Never used: no word of the corpus is spelled with it where it could be matched."),
    }
    several = _tr(
        "Never used: a step on the way. {merges} merges took it up wherever it stood, the last made {token} at step"
        " {step}, as in “{word}”."
    )
    if reason.kind == "covered" and not reason.step:
        templates["covered"] = _tr(
            "Never used: in “{word}” longest match takes {token}, of the alphabet, in its place."
        )
    sentence = _filled(several if reason.merges > 1 else templates[reason.kind], reason)
    if not spelled:
        return sentence
    if spelled == 1:
        return sentence + " " + _tr("One word spells it; longest match cuts that otherwise.")
    more = _tr("{count} words spell it; longest match cuts all of them otherwise.")
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
