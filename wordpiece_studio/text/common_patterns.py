r"""Regular expressions that the `regex` module and Oniguruma, which `tokenizers` searches with, understand alike.

Only what the two languages have in common is let through: characters, sets, classes, groups, alternatives, repetitions
and looking around. Classes differ with the version of Unicode, so a character that Oniguruma's does not have yet is
taken out of each of them here. Everything else is named as the part that another program may read differently.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple, NoReturn

import regex

from wordpiece_studio.text.character_tables import CodePoints, pattern_tables

PROPERTIES = frozenset(
    "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp Cc Cf Co Alphabetic Han"
    " Hiragana Katakana Hangul Latin Greek Cyrillic Arabic Hebrew Thai Devanagari Bengali Tamil Myanmar".split()
)
r"""The names in ``\p{…}`` whose members are the same in both, among the characters that both know."""

_DIFFERING = {
    r"\w": ("\u200c\u200d", "²³¹¼½¾"),
    r"[\w": ("\u200c\u200d", ""),
    r"\p{Ll}": ("", "\u0295"),
    r"\p{Lo}": ("\u0295", ""),
}
"""What a class lacks there, and what it has there, apart from the version of Unicode; after a bracket, in a set."""

_PLAIN = r"[^\\.^$|?*+()\[\]{}\ud800-\udfff]"
_ESCAPED = r"\\(?:[\\.^$|?*+()\[\]{}/ &~#!%,:;=@\x22-]|[tnrf]|x[0-7][0-9A-Fa-f]|u(?![Dd][89A-Fa-f])[0-9A-Fa-f]{4})"
_CLASS = r"\\(?:[sSdDwW]|[pP]\{(?P<inverse>\^?)(?P<property>[A-Za-z]+)\})"
_ATOM = re.compile(rf"(?P<character>{_PLAIN}|{_ESCAPED})|(?P<edge>[\^$])|(?P<any>\.)|(?P<class>{_CLASS})")
_GROUP = re.compile(r"\((?:\?(?:(?P<around>[=!])|(?P<behind><[=!])|(?P<fold>i:)|[:>]))?")
_IN_SET = rf"(?:[^\\\[\]^\-\ud800-\udfff]|{_ESCAPED})"
_SET_ITEM = re.compile(rf"(?P<range>{_IN_SET}-{_IN_SET})|(?P<character>{_IN_SET})|(?P<class>{_CLASS})")
_DOUBLED = re.compile(r"&&|\|\||~~|--")
_REPETITION = re.compile(r"(?:[*+?][?+]?|\{(?P<least>\d{1,3})(?:,\d{0,3})?\})(?![*+?{])")
_SAME_FOLDED = re.compile(r"[ -~]|\\[^a-zA-Z]")
_FOLDED_TOGETHER = re.compile(r"s[^a-z|]*[st]|f[^a-z|]*[fil]")  # ß and ligatures are such letters


class _LibraryError(Exception):
    """A part of a pattern that the two understand differently, or may."""


class _Extent(NamedTuple):
    """Whether something can match nothing, and whether it can match something."""

    may_be_empty: bool
    may_take: bool


def untranslatable_part(pattern: str) -> str | None:
    r"""Return what in a pattern the two understand differently, or may; None if nothing.

    >>> untranslatable_part(r" ?\p{L}+|\s+(?!\S)"), untranslatable_part(r"\bthe\b")
    (None, '\\b')
    """
    return _read(pattern)[1]


def common_pattern(pattern: str) -> str | None:
    """Return a pattern as `regex` must be given it, with its `VERSION1`, to match as Oniguruma; None if it cannot."""
    return _read(pattern)[0]


def literal_pattern(text: str) -> str:
    """Return the pattern that matches a text and nothing else, in both."""
    return re.sub(r"[\\.^$|?*+()\[\]{}]", r"\\\g<0>", text)


@cache
def _read(pattern: str) -> tuple[str | None, str | None]:
    try:
        return _Reader(pattern).read(), None
    except _LibraryError as error:
        return None, str(error)


class _Reader:
    """Reads a pattern that is valid for `regex`, part by part, and writes it anew."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._position = 0
        self._written: list[str] = []

    def read(self) -> str:
        extent = self._branches()
        if self._position < len(self._pattern):
            self._refuse()
        if extent.may_be_empty and extent.may_take:
            raise _LibraryError(self._pattern)  # they do not look for empty matches at the same places
        return "".join(self._written)

    def _refuse(self, length: int = 2) -> NoReturn:
        raise _LibraryError(self._pattern[self._position : self._position + length])

    def _next(self) -> str:
        return self._pattern[self._position : self._position + 1]

    def _take(self, part: str, written: str | None = None) -> None:
        self._position += len(part)
        self._written.append(part if written is None else written)

    def _branches(self, *, is_fixed: bool = False, is_folded: bool = False) -> _Extent:
        """Read alternatives, up to the end of the group or pattern.

        `is_fixed`: one sequence of single characters is all that may come, as when looking behind; `is_folded`: letters
        match in either case.
        """
        extents = [self._sequence(is_fixed, is_folded)]
        while self._next() == "|" and not is_fixed:
            self._take("|")
            extents.append(self._sequence(is_fixed, is_folded))
        return _Extent(any(it.may_be_empty for it in extents), any(it.may_take for it in extents))

    def _sequence(self, is_fixed: bool, is_folded: bool) -> _Extent:
        extents = []
        while self._next() not in ("", "|", ")"):
            extent = self._group(is_folded) if self._next() == "(" and not is_fixed else self._atom(is_folded)
            extents.append(extent if is_fixed else self._repeated(extent))
        return _Extent(all(it.may_be_empty for it in extents), any(it.may_take for it in extents))

    def _repeated(self, extent: _Extent) -> _Extent:
        if self._next() not in ("*", "+", "?", "{"):
            return extent
        found = _REPETITION.match(self._pattern, self._position)
        if found is None or extent.may_be_empty:
            self._refuse()
        self._take(found[0])
        return _Extent(found[0][0] in "*?" or (found["least"] is not None and not int(found["least"])), True)

    def _group(self, is_folded: bool) -> _Extent:
        opening = _GROUP.match(self._pattern, self._position)
        if opening is None or self._pattern.startswith(("?", "*"), opening.end()):
            self._refuse(3)
        self._take(opening[0], opening[0].replace("i", ""))
        start = self._position
        extent = self._branches(is_fixed=bool(opening["behind"]), is_folded=is_folded or bool(opening["fold"]))
        if self._next() != ")":
            self._refuse()
        if opening["fold"] and (found := _FOLDED_TOGETHER.search(self._pattern[start : self._position].lower())):
            raise _LibraryError(found[0])
        self._take(")")
        return _Extent(True, False) if opening["around"] or opening["behind"] else extent

    def _atom(self, is_folded: bool) -> _Extent:
        if self._next() == "[":
            self._set(is_folded)
            return _Extent(False, True)
        found = _ATOM.match(self._pattern, self._position)
        if found is None or (is_folded and not _SAME_FOLDED.fullmatch(found[0])):
            self._refuse()
        if is_folded:
            self._take(found[0], f"[{_cases(found[0])}]" if found["character"] else None)
        else:
            self._take(found[0], self._class(found) if found["class"] else None)
        return _Extent(True, False) if found["edge"] else _Extent(False, True)

    def _set(self, is_folded: bool) -> None:
        start = self._position
        opening = "[^" if self._pattern.startswith("[^", start) else "["
        if is_folded and opening == "[^":
            self._refuse()
        self._take(opening)
        while self._next() not in ("", "]"):
            if self._next() == "-" and (self._written[-1] == opening or self._pattern[self._position + 1] == "]"):
                self._take("-", r"\-")
                continue
            found = _SET_ITEM.match(self._pattern, self._position)
            if found is None:
                self._refuse()
            if is_folded:
                if not (found["character"] and _SAME_FOLDED.fullmatch(found[0])):
                    self._refuse()
                self._take(found[0], _cases(found[0]))
            else:
                self._take(found[0], self._class(found, in_set=True) if found["class"] else None)
        if _DOUBLED.search(self._pattern[start : self._position]):
            raise _LibraryError(self._pattern[start : self._position + 1])
        self._take("]")

    def _class(self, found: re.Match[str], *, in_set: bool = False) -> str:
        r"""Return a class escape, ``\s`` or ``\p{L}``, without the characters that Oniguruma's Unicode lacks."""
        name = found["property"]
        if name is not None and name not in PROPERTIES:
            self._refuse(len(found[0]))
        is_negative = found["class"][1].isupper() != bool(found["inverse"])
        positive = rf"\p{{{name}}}" if name else found["class"].lower()
        missing, added = _differences(positive, in_set=in_set)
        if is_negative:
            missing, added = added, missing
            positive = positive.replace("p", "P") if name else positive.upper()
        with_added = f"[{positive}||[{added}]]" if added else positive
        return f"[{with_added}--[{missing}]]" if missing else with_added


def _cases(character: str) -> str:
    """Return the inside of brackets that match a character of ASCII in either case, as Oniguruma does."""
    if not character.isalpha():
        return character if len(character) > 1 else regex.escape(character)
    return character.lower() + character.upper() + {"s": "ſ", "k": "\u212a"}.get(character.lower(), "")


@cache
def _differences(expression: str, *, in_set: bool) -> tuple[str, str]:
    """Return what a class lacks in Oniguruma, and what it has there, as the insides of brackets; empty if nothing."""
    removed, added = _DIFFERING.get("[" * in_set + expression) or _DIFFERING.get(expression, ("", ""))
    newer = regex.findall(expression, _newer_characters())
    return CodePoints.of([*newer, *removed]).pattern(), CodePoints.of(added).pattern()


@cache
def _newer_characters() -> str:
    unassigned = pattern_tables().unassigned.ranges
    return "".join("".join(regex.findall(r"\P{Cn}+", "".join(map(chr, range(a, b + 1))))) for a, b in unassigned)
