"""How well what was typed fits a text: whole words first, then parts of words, then letters in their order.

It knows no language: capitals, accents and the width of letters make no difference.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_START, _WORD_START, _INSIDE, _LETTERS = 100, 80, 60, 25


@lru_cache(maxsize=4096)
def folded(text: str) -> str:
    """Return `text` without what makes no difference in a search.

    >>> folded("Über Größe"), folded("ＡＢＣ")
    ('uber grosse', 'abc')
    """
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in apart if unicodedata.category(character) != "Mn").strip()


def fit(word: str, text: str) -> int:
    """Return how well a folded `word` fits a folded `text`, 0 if not at all.

    >>> fit("sa", "save vocabulary"), fit("voc", "save vocabulary"), fit("ocab", "save vocabulary")
    (100, 80, 60)
    >>> 0 < fit("svoc", "save vocabulary") < 60, fit("xyz", "save vocabulary")
    (True, 0)
    """
    place = text.find(word)
    if place == 0:
        return _START
    if place > 0:
        return _WORD_START if f" {word}" in text else _INSIDE
    return _letters_fit(word, text) if len(word) > 1 else 0


def _letters_fit(word: str, text: str) -> int:
    """Return what letters in their order are worth, the first at the beginning of a word: the closer, the more."""
    if not text.startswith(word[0]) and f" {word[0]}" not in text:
        return 0
    best = 0
    for begin in (index for index, letter in enumerate(text) if letter == word[0] and text[index - 1 : index] in " "):
        at = begin
        for letter in word[1:]:
            at = text.find(letter, at + 1)
            if at < 0:
                return best
        best = max(best, _LETTERS - min(at - begin - len(word) + 1, _LETTERS - 1))
    return best
