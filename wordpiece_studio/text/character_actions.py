"""What a pipeline makes of every code point, as the compiled kernel takes it: found out page by page, when it is met.

Everything is asked of the very normalizer and pre-tokenizer, so that there is no second truth. Only pipelines that go
by single characters have such a table; of a character that regards its neighbours it says so. Importing this module
loads the kernels, and with them numba.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.compiled.kernel_cache import load_kernels

load_kernels("text")  # from the user's cache; the import below then finds them
from wordpiece_studio.text.kernels import words as kernels  # noqa: E402

if TYPE_CHECKING:
    from wordpiece_studio.text.pipeline import Pipeline

_CODE_POINTS = 0x110000
_PAGE = 32
_LETTER = "a"  # neither white space nor punctuation for any pre-tokenizer


class CharacterActions:
    """The table of a pipeline that goes by characters.

    Attributes
    ----------
    actions : numpy.ndarray
        For every code point what becomes of it: int64, see :mod:`~wordpiece_studio.text.kernels.words`.
    texts : numpy.ndarray
        The texts that code points become, in UTF-8: uint8, with room behind the last.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self.actions = np.zeros(_CODE_POINTS, dtype=np.int64)  # costs memory only where it is written to
        self.texts = np.zeros(0, dtype=np.uint8)
        self._used = 0

    def find_out(self, code_point: int) -> None:
        """Fill in the page of a code point."""
        first = code_point // _PAGE * _PAGE
        characters = list(map(chr, range(first, first + _PAGE)))
        added = bytearray()
        for code, (kind, text) in enumerate(self._actions_of(characters), start=first):
            data = text.encode("utf-8", "surrogatepass")
            place = (self._used + len(added)) << kernels.TEXT_SHIFT
            lengths = len(text) << kernels.CHARACTERS_SHIFT | len(data) << kernels.BYTES_SHIFT
            self.actions[code] = kind | lengths | place if len(data) <= kernels.LONGEST_TEXT else kernels.HARD
            added += data
        needed = self._used + len(added) + kernels.LONGEST_TEXT
        if needed > len(self.texts):
            self.texts = np.append(self.texts, np.zeros(needed, dtype=np.uint8))
        self.texts[self._used : self._used + len(added)] = added
        self._used += len(added)

    def _actions_of(self, characters: list[str]) -> list[tuple[int, str]]:
        """Return what becomes of each character, and the text that it becomes, if any."""
        normalizer, split = self._pipeline.normalizer, self._pipeline.pre_tokenizer.split
        between = [f"{_LETTER}{normalizer.normalize(character)}{_LETTER}" for character in characters]
        # Nearly always white space alone parts words, and one look at all shows that.
        words = [text.split() for text in between]
        if split(" ".join(between)) != [word for parts in words for word in parts]:
            words = [split(text) for text in between]
        return [
            (kernels.HARD, "") if normalizer.regards_neighbours(character) else _action_of(parts)
            for character, parts in zip(characters, words, strict=True)
        ]


def _action_of(words: list[str]) -> tuple[int, str]:
    """Return what becomes of a character that made these words, standing between two letters."""
    match words:
        case [word]:
            return kernels.LETTERS if len(word) > 2 else kernels.NOTHING, word[1:-1]
        case [word, other] if word == other == _LETTER:
            return kernels.BLANK, ""
        case [before, word, after] if before == after == _LETTER:
            return kernels.ALONE, word
    return kernels.HARD, ""
