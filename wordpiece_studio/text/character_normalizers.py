"""Normalizers that go by single characters: each becomes what it becomes, whatever stands around it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from wordpiece_studio.text.alignment import AlignedText
from wordpiece_studio.text.character_tables import CharacterMap, bert_tables
from wordpiece_studio.text.form_tables import form_tables
from wordpiece_studio.text.normalizer import CharacterNormalizer


class _ByCharacter(CharacterNormalizer):
    """What they have in common."""

    __slots__ = ()

    @property
    def growth(self) -> int:
        """Two: a capital I with a dot is lower-cased to an i and a dot."""
        return 2

    def regards_neighbours(self, character: str) -> bool:
        """Return False."""
        return False


@dataclass(frozen=True, slots=True)
class Unchanged(_ByCharacter):
    """Leaves a text as it is."""

    @property
    def name(self) -> str:
        """``"none"``."""
        return "none"

    def normalize(self, text: str) -> str:
        """Return `text`."""
        return text

    def align(self, text: str) -> AlignedText:
        """Return `text`, aligned with itself."""
        return AlignedText.identity(text)


@dataclass(frozen=True, slots=True)
class Lowercase(_ByCharacter):
    """Lower-cases each character by itself, as the `tokenizers` library does.

    Python's `str.lower` would also look around: a capital sigma becomes another letter at the end of a word.

    >>> Lowercase().normalize("ΣΟΦΟΣ")
    'σοφοσ'
    """

    @property
    def name(self) -> str:
        """``"lowercase"``."""
        return "lowercase"

    def normalize(self, text: str) -> str:
        """Return `text` in lower case."""
        return text.lower() if text.isascii() else text.translate(_lower_case())

    def align(self, text: str) -> AlignedText:
        """Return `text` in lower case, aligned with `text`."""
        lowered = self.normalize(text)
        if len(lowered) == len(text):  # no character becomes nothing
            return AlignedText(lowered, range(len(text)), range(1, len(text) + 1))
        table = _lower_case()
        starts = [index for index, character in enumerate(text) for _ in table[ord(character)] or ""]
        return AlignedText(lowered, starts, [start + 1 for start in starts])


@dataclass(frozen=True, slots=True)
class StripAccents(_ByCharacter):
    r"""Removes combining marks; it takes no character apart, so that "é" stays unless NFD or NFKD goes before.

    >>> StripAccents().normalize("nin\u0303o, niño")
    'nino, niño'
    """

    @property
    def name(self) -> str:
        """``"strip-accents"``."""
        return "strip-accents"

    def normalize(self, text: str) -> str:
        """Return `text` without marks."""
        return text if text.isascii() else text.translate(_without_marks())

    def align(self, text: str) -> AlignedText:
        """Return `text` without marks, aligned with `text`."""
        stripped = self.normalize(text)
        if len(stripped) == len(text):
            return AlignedText.identity(text)
        table = _without_marks()
        return _kept(text, [index for index, character in enumerate(text) if table[ord(character)]])


@dataclass(frozen=True, slots=True)
class RemoveCharacters(_ByCharacter):
    """Removes every occurrence of some characters; their neighbours touch.

    >>> RemoveCharacters(",.").normalize("Well, well.")
    'Well well'
    """

    characters: str

    @property
    def name(self) -> str:
        """``"remove:"`` and the characters; ``%`` and ``+`` are written ``%25`` and ``%2B``."""
        return "remove:" + self.characters.replace("%", "%25").replace("+", "%2B")

    @property
    def is_local(self) -> bool:
        """Unless blanks or line ends are among the characters."""
        return not set(self.characters) & {" ", "\n"}

    def normalize(self, text: str) -> str:
        """Return `text` without the characters."""
        return text.translate(dict.fromkeys(map(ord, self.characters)))

    def align(self, text: str) -> AlignedText:
        """Return `text` without the characters, aligned with `text`."""
        return _kept(text, [index for index, character in enumerate(text) if character not in self.characters])


def _kept(text: str, starts: list[int]) -> AlignedText:
    """Return the characters of a text that stand at `starts`, aligned with it."""
    return AlignedText("".join(text[start] for start in starts), starts, [start + 1 for start in starts])


@cache
def _lower_case() -> CharacterMap:
    lower_case = bert_tables().lower_case
    return CharacterMap(lambda code_point: lower_case.get(code_point) or chr(code_point))


@cache
def _without_marks() -> CharacterMap:
    marks = form_tables().marks
    return CharacterMap(lambda code_point: "" if code_point in marks else chr(code_point))
