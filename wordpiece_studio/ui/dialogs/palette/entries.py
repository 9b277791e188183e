"""What the palette can find: the commands of the menus, a step by its number, tokens of the vocabulary."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QKeySequence

from wordpiece_studio.ui.dialogs.palette.matching import fit, folded
from wordpiece_studio.ui.menus import plain_title
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from PySide6.QtGui import QAction

    from wordpiece_studio.tokenizer.vocabulary import Vocabulary

_TITLE_WEIGHT, _KEYS_WEIGHT, _PATH_WEIGHT, _TIP_WEIGHT = 10, 8, 4, 3
_SCANNED = 50_000
"""So many tokens are looked through for a part of their text; beyond them a token is found by its whole text."""
_FEW_TOKENS, _MANY_TOKENS = 3, 20
_NATIVE = QKeySequence.SequenceFormat.NativeText


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the palette.

    Attributes
    ----------
    title, where, keys, tip
        Its text; the menus that it is in; its keys; what it does.
    refusal
        Why it can never be done; empty if it can. A command says itself whether it can be given.
    action, step, token
        What it does: a command is given, a step is shown, or a token is looked at.
    """

    title: str
    where: str = ""
    keys: str = ""
    tip: str = ""
    refusal: str = ""
    action: QAction | None = field(default=None, compare=False)
    step: int | None = None
    token: str | None = None

    @property
    def reason(self) -> str:
        """Why it cannot be done at this step; empty if it can."""
        return self.refusal if self.action is None or self.action.isEnabled() else _reason(self.action)

    def worth(self, words: Sequence[str]) -> int:
        """Return how well the folded `words` fit, 0 if one of them does not."""
        total = 0
        for word in words:
            best = max(
                fit(word, folded(self.title)) * _TITLE_WEIGHT,
                _KEYS_WEIGHT * 100 if word == folded(self.keys.partition("   ")[0]) else 0,
                _whole(fit(word, folded(self.where))) * _PATH_WEIGHT,
                _whole(fit(word, folded(self.tip))) * _TIP_WEIGHT,
            )
            if not best:
                return 0
            total += best
        return max(1, total - len(self.title))


def _whole(value: int) -> int:
    return value if value >= 60 else 0  # single letters are in every long text


def command_entries(placed: Iterable[tuple[str, QAction]]) -> list[Entry]:
    """Return an entry for each command with the names of its menus."""
    return [_command_entry(where, action) for where, action in placed if action.text() and action.isVisible()]


def _command_entry(where: str, action: QAction) -> Entry:
    tooltip = plain_tooltip(action)
    shown_key = action.text().partition("\t")[2]
    keys = "   ".join(key.toString(_NATIVE) for key in action.shortcuts()) or shown_key
    return Entry(plain_title(action.text()), where, keys, action.statusTip() or tooltip, action=action)


def _reason(action: QAction) -> str:
    """Return what the tooltip of a command says beside what the command does: that it cannot be used, and why."""
    tooltip = plain_tooltip(action)
    usual = action.statusTip() or plain_title(action.text())
    why = tooltip.partition("\n")[2] if tooltip.startswith(usual) else tooltip
    return why or QCoreApplication.translate("palette", "Not possible now")


def plain_tooltip(action: QAction) -> str:
    """Return the text of a tooltip that was set by the helper that escapes."""
    return unescape(re.sub(r"<[^<>]*>", "", action.toolTip()))


def matching_entries(entries: Sequence[Entry], text: str) -> list[Entry]:
    """Return the entries that `text` fits, the best first; all of them, in their order, for an empty text."""
    words = folded(text).split()
    if not words:
        return list(entries)
    found = [(entry.worth(words), -index, entry) for index, entry in enumerate(entries)]
    return [entry for worth, _, entry in sorted(found, key=lambda each: each[:2], reverse=True) if worth]


def step_entry(text: str, merge_count: int) -> Entry | None:
    """Return the entry that shows a step, if a number was typed, alone or after a word."""
    number = re.fullmatch(r"[^\d\-−]*(\d[\d\s.,_'’]{0,20})", text.strip())
    if number is None:
        return None
    step = int("".join(character for character in number[1] if character.isdecimal()))
    title = QCoreApplication.translate("palette", "Go to step {step}").format(step=number_text(step))
    few = QCoreApplication.translate("palette", "{count} merges are learned").format(count=number_text(merge_count))
    return Entry(title, refusal=few if step > merge_count else "", step=step)


def token_entries(text: str, vocabulary: Vocabulary | None, tokens: Sequence[str]) -> list[Entry]:
    """Return entries for the tokens that `text` fits best: the whole token, then its beginning, then a part.

    After the word "token" only tokens are meant, and more of them are returned.
    """
    is_asked = asks_for_token(text)
    sought = text.strip().partition(" ")[2].strip() if is_asked else text.strip()
    if vocabulary is None or not sought or " " in sought:
        return []
    most = _MANY_TOKENS if is_asked else _FEW_TOKENS
    whole = [token for token in (sought, vocabulary.continuing_subword_prefix + sought) if _has(vocabulary, token)]
    near = [token for token in tokens[:_SCANNED] if sought in token and token not in whole]
    near.sort(key=lambda token: (not token.startswith(sought), len(token)))
    title = QCoreApplication.translate("palette", "Look at the token {token}")
    where = QCoreApplication.translate("palette", "Vocabulary")
    return [Entry(title.format(token=token_text(token)), where, token=token) for token in (whole + near)[:most]]


def asks_for_token(text: str) -> bool:
    """Return whether `text` begins with the word "token" and goes on."""
    first, _, rest = text.strip().partition(" ")
    return folded(first) == folded(QCoreApplication.translate("palette", "token")) and bool(rest.strip())


def _has(vocabulary: Vocabulary, token: str) -> bool:
    return vocabulary.id_of(token) is not None
