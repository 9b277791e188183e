"""The Unicode normalization forms NFC, NFD, NFKC and NFKD, exactly as the `tokenizers` library computes them.

A text whose characters need no attention is recognized as a whole. Otherwise only the stretches that may change are
processed: characters that change on their own, and those that may combine with the character before, with that one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Literal, get_args

from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.character_tables import (
    FIRST_SYLLABLE,
    LAST_SYLLABLE,
    CharacterMap,
    bert_tables,
    form_tables,
    rough_pattern,
)
from wordpiece_studio.text.pipeline import MOST_GROWTH, AlignedText, CharacterNormalizer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FormName = Literal["nfc", "nfd", "nfkc", "nfkd"]
FORM_NAMES: tuple[FormName, ...] = get_args(FormName)

_LONGEST_KEPT, _MOST_KEPT = 16, 1 << 16
_VIRAMA_CLASS = 9

Items = list[tuple[str, int]]
"""Characters, each with how it changes the length, as the `tokenizers` library records it: 1 for one that is added, 0
for one that replaces another, -n for one that replaces another and the n after it."""


@dataclass(frozen=True, slots=True)
class UnicodeForm(CharacterNormalizer):
    r"""One of the four Unicode normalization forms.

    Parameters
    ----------
    form
        ``"nfc"`` composes characters with their marks where a composed character exists, ``"nfd"`` decomposes them;
        ``"nfkc"`` and ``"nfkd"`` also replace compatibility characters, such as ligatures and full-width letters.

    >>> UnicodeForm("nfc").normalize("nin\u0303o") == "niño"
    True
    """

    form: FormName

    def __post_init__(self) -> None:
        if self.form not in FORM_NAMES:
            raise StudioError(
                "{form} is not a Unicode normalization form",
                "Choose one of {forms}.",
                form=repr(self.form)[:50],
                forms=", ".join(FORM_NAMES),
            )

    @property
    def name(self) -> str:
        """The form."""
        return self.form

    @property
    def growth(self) -> int:
        return MOST_GROWTH if self.form in ("nfkc", "nfkd") else 4

    def regards_neighbours(self, character: str) -> bool:
        """Return whether the character may compose with one before it, or change places with adjacent marks."""
        return character in _forms(self.form).regarding

    def normalize(self, text: str) -> str:
        return _forms(self.form).normalize(text)

    def align(self, text: str) -> AlignedText:
        """Return the text in this form, aligned with `text`.

        A composed character maps to the stretch of its first part only, as in the `tokenizers` library.
        """
        return _forms(self.form).align(text)


def put_in_order(items: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    classes = bert_tables().combining
    for _, run in groupby(items, key=lambda item: item[0] in classes):
        # The sort is stable, and characters that do not combine all have class 0.
        yield from sorted(run, key=lambda item: classes.get(item[0], 0))


def text_in_order(match: re.Match[str]) -> str:
    return "".join(character for character, _ in put_in_order((character, 0) for character in match[0]))


def positions_of(items: Iterable[tuple[str, int]]) -> Iterator[int]:
    """Yield the position of the character that each item came from, as the `tokenizers` library assigns them.

    It assigns them in the order of the result: where combining characters changed places, positions did not.
    """
    taken = 0
    for _, change in items:
        yield taken if change <= 0 else max(taken - 1, 0)
        taken += max(1 - change, 0)


def decomposed(text: str, table: CharacterMap) -> Iterator[tuple[str, int]]:
    return ((part, int(number > 0)) for character in text for number, part in enumerate(table[ord(character)] or ""))


class _Form:
    def __init__(self, form: FormName) -> None:
        tables, self._forms = bert_tables(), form_tables()
        self._composes = form.endswith("c")
        is_compatible = "k" in form
        self._classes = tables.combining
        self._decompose = CharacterMap(self._forms.decompose_compatibly if is_compatible else tables.decompose)
        self._kept: dict[str, str] = {}
        special = {*map(chr, tables.decompositions), *self._classes, *self._forms.following()}
        if is_compatible:
            special.update(map(chr, self._forms.compatible))
        following = self._classes.keys() | (self._forms.following() if self._composes else set())
        # Characters that may interact with the character before them.
        self._following = {character for character in special if self._parts(character)[0] in following}
        self.regarding = frozenset(self._regarding(special))
        behind = rough_pattern(self._following)
        changing = {character for character in special if self._changed(character) != character}
        if not self._composes:
            changing.update(map(chr, range(FIRST_SYLLABLE, LAST_SYLLABLE + 1)))
        self._stretch = re.compile(f"[{rough_pattern(self._following | changing)}][{behind}]*")
        combining = rough_pattern(self._classes)
        self._disorder = re.compile(f"[{combining}][{combining}]+")

    def normalize(self, text: str) -> str:
        if text.isascii() or not self._stretch.search(text):
            return text
        if not self._composes:
            return self._disorder.sub(text_in_order, text.translate(self._decompose))
        parts: list[str] = []
        done = 0
        for start, end in self._stretches(text):
            parts += text[done:start], self._changed_or_kept(text[start:end])
            done = end
        return "".join([*parts, text[done:]])

    def align(self, text: str) -> AlignedText:
        if text.isascii() or not self._stretch.search(text):
            return AlignedText.identity(text)
        parts: list[str] = []
        positions: list[int] = []
        done = 0
        for start, end in self._stretches(text):
            items = self._items(text[start:end])
            parts += text[done:start], *(character for character, _ in items)
            positions += range(done, start)
            positions += (start + position for position in positions_of(items))
            done = end
        positions += range(done, len(text))
        return AlignedText("".join([*parts, text[done:]]), positions, [position + 1 for position in positions])

    def _stretches(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield (start, end) of the stretches that may change, none of which depends on the rest."""
        for match in self._stretch.finditer(text):
            start = match.start()
            # The character before it is in no other stretch: whatever may interact with it would be in that one.
            yield start - (start > 0 and text[start] in self._following), match.end()

    def _changed_or_kept(self, stretch: str) -> str:
        """Return a stretch in this form; short ones are cached, because they recur again and again."""
        result = self._kept.get(stretch)
        if result is None:
            result = self._changed(stretch)
            if len(stretch) <= _LONGEST_KEPT and len(self._kept) < _MOST_KEPT:
                self._kept[stretch] = result
        return result

    def _changed(self, stretch: str) -> str:
        return "".join(character for character, _ in self._items(stretch))

    def _items(self, stretch: str) -> Items:
        items = list(put_in_order(decomposed(stretch, self._decompose)))
        return self._composed(items) if self._composes else items

    def _composed(self, items: Items) -> Items:
        result: Items = []
        starter: int | None = None
        # The class of the last mark between the starter and this character; it blocks classes that are not higher.
        between: int | None = None
        for character, change in items:
            combining = self._classes.get(character, 0)
            if starter is not None and (between is None or between < combining):
                composite = self._forms.compose(result[starter][0], character)
                if composite is not None:
                    result[starter] = composite, result[starter][1] + change - 1
                    continue
            if combining == 0:
                starter, between = len(result), None
            elif starter is not None:
                between = combining
            result.append((character, change))
        return result

    def _parts(self, character: str) -> str:
        return self._decompose[ord(character)] or ""

    def _regarding(self, special: set[str]) -> set[str]:
        """Return the characters whose result depends on their neighbours.

        In Indian languages every other word contains a virama. Where characters are composed it can be exempted: it is
        never composed itself, and it may change places only beside marks of other classes. Of these, those that end
        the result of another character are the ones to watch.
        """
        if not self._composes:
            return self._following
        viramas = {mark for mark, number in self._classes.items() if number == _VIRAMA_CLASS}
        viramas = {mark for mark in viramas if self._parts(mark) == mark} - self._forms.following()
        endings = {
            character for character in special if self._classes.get(self._changed(character)[-1], 0) > _VIRAMA_CLASS
        }
        return (self._following | endings) - viramas


_forms = cache(_Form)
