"""The exact reason why a word is ``[UNK]``, in sentences.

It asks the word counts in how many words a symbol occurs; it shows nothing itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from wordpiece_studio.ui.look.token_text import number_text, token_text

if TYPE_CHECKING:
    from wordpiece_studio.core.corpus.counts import WordCounts
    from wordpiece_studio.core.encoder import TokenizedWord, UnknownReason


class UnknownNote:
    """Writes the reasons for the unknown words of one training; what it learns about a symbol it keeps.

    Parameters
    ----------
    counts
        The corpus that the vocabulary was learned from.
    """

    def __init__(self, counts: WordCounts | None, max_word_length: int = 100) -> None:
        self._counts = counts
        self._max_word_length = max_word_length
        self._places: dict[str, tuple[int, int]] = {}

    def reason(self, word: str, unknown: UnknownReason, unk_token: str) -> str:
        """Return one sentence that says which position and which symbol made the word unknown."""
        if unknown.kind == "too-long":
            text = _tr("“{word}” is {unk}: it has {length} characters, and a word of more than {limit} is not split.")
            return text.format(
                word=token_text(word, 30),
                unk=unk_token,
                length=number_text(len(word)),
                limit=number_text(self._max_word_length),
            )
        character = word[unknown.position] if unknown.position < len(word) else unknown.symbol
        return self._template(character, unknown).format(
            word=token_text(word, 40),
            unk=unk_token,
            symbol=token_text(unknown.symbol),
            character=token_text(character),
            position=number_text(unknown.position),
        )

    def _template(self, character: str, unknown: UnknownReason) -> str:
        first, later = self._words_with(character)
        if not first + later and unknown.position:
            return _tr(
                "“{word}” is {unk}: {character}, at character {position} (from 0),"
                " occurs in no word that was trained on."
            )
        if not first + later:
            return _tr("“{word}” is {unk}: the symbol {symbol} occurs in no word that was trained on.")
        if unknown.position and not later:
            return _tr(
                "“{word}” is {unk}: the symbol {symbol}, at character {position} (from 0), occurs in no word that was"
                " trained on; {character} only begins words there."
            )
        if not unknown.position and not first:
            return _tr(
                "“{word}” is {unk}: no word that was trained on begins with {symbol};"
                " it only occurs inside words there."
            )
        return _tr(
            "“{word}” is {unk}: the symbol {symbol}, at character {position} (from 0), is in words that were"
            " trained on, but was left out of the alphabet."
        )

    def _words_with(self, character: str) -> tuple[int, int]:
        """Return how many distinct words begin with the character, and how many have it further on."""
        found = self._places.get(character)
        if found is None:
            words = self._counts.words if self._counts is not None else []
            found = (sum(word.startswith(character) for word in words), sum(character in word[1:] for word in words))
            self._places[character] = found
        return found


def unknown_note(words: list[TokenizedWord], note: UnknownNote, unk_token: str, total: int) -> str:
    """Return the note under the chips: a reason for each of these words, and what becomes of an unknown word.

    Parameters
    ----------
    words
        Some of the distinct unknown words.
    total
        How many words of the text are unknown.
    """
    lines = [
        note.reason(word.word.text, word.unknown, unk_token)
        for word in words
        if word.word is not None and word.unknown is not None
    ]
    if not lines:
        return ""
    if total > len(lines):
        lines.append(_tr("{count} words of the text are unknown in all.").format(count=number_text(total)))
    lines.append(_tr("The whole word becomes unknown, not only the missing part."))
    return "\n".join(lines)


def _tr(text: str) -> str:
    return QCoreApplication.translate("UnknownNote", text)
