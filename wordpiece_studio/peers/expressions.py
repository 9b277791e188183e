r"""Regular expressions in the files of other programs: those that surely match here what they match there.

There they are Oniguruma's and of its Unicode version; here they are the `regex` module's. Only expressions made of what
means the same to both are taken: characters, the classes of Unicode, ``\s``, ``\d``, repetition, alternatives, and
looking ahead; a few things are written in another way here. Code points that only newer Unicode versions know are
taken for what they were before: nothing.
"""

from __future__ import annotations

import re
from functools import cache, partial
from typing import TYPE_CHECKING

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import printable
from wordpiece_studio.text.character_tables import CharacterMap, CodePoints
from wordpiece_studio.text.patterns import compiled_pattern
from wordpiece_studio.text.pipeline import PatternOverrunError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import regex

GPT2_WORDS = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""What the byte-level pre-tokenizer cuts a text into."""

_SECONDS, _CHARACTERS_A_SECOND = 0.5, 1_000_000
UNKNOWN = "\ue000"  # for private use: of no class
# Assigned after the Unicode version of the library, as found by asking both about every code point.
NEWER = CodePoints(
    "0558 058B-058C 05C8-05C9 088F 0B53-0B54 0C5C 0CDC 1ACF-1AF0 208F 209D-209F 20C1-20C4 2B96 2E60-2E63 A7CE-A7CF"
    " A7D2 A7D4 A7DD A7E2 A7F1 AB6C-AB6D FBC3-FBD2 FD90-FD91 FDC8-FDCE 107BB-107BF 10940-10959 10EC5-10EC7"
    " 10EC9-10EEE 10EF0-10EFB 11B0A 11B60-11B67 11DB0-11DDB 11DE0-11DE9 11DF0-11DF1 1246F 12475-1247F 12550-12686"
    " 16EA0-16EB8 16EBB-16ED3 16FF2-16FF6 187F8-187FF 18CD6-18CDA 18D09-18D20 18D80-18DF2 18E00-19191 191A0-191D2"
    " 1B123-1B128 1B168 1CCFA-1CCFC 1CEBA-1CED0 1CED2-1CED4 1CEDD-1CEFD 1D127-1D128 1D1EB-1D1FF 1D250-1D281 1D6A6"
    " 1DB00-1DB1C 1DF1F-1DF24 1DF2B-1DF81 1DF90-1DF96 1DFCD-1DFFF 1E6C0-1E6DE 1E6E0-1E6F5 1E6FE-1E6FF 1F1AE"
    " 1F6D8-1F6D9 1F777-1F77A 1F7DA-1F7DB 1F7F1-1F7FF 1F8D0-1F8D8 1FA54-1FA57 1FA8A-1FA8E 1FAC8 1FACC-1FACD 1FADD"
    " 1FAEA-1FAEB 1FAEF 1FAF9-1FAFA 1FBFA 2B73A-2B73F 2B81E 2CEA2-2CEAD 323B0-33479 3D000-3FC3F"
)
_OTHERWISE = {0x295: "\u0296"}  # a lower-case letter to the library; so is the next, and to both
# The endings of English words are the only thing that known expressions look for in either case.
_EITHER_CASE = r"\(\?i:(?:'s\|'t\|'re\|'ve\|'m\|'ll\|'d|'\(\?:\[sdmt\]\|ll\|ve\|re\)|\[sdmt\]\|ll\|ve\|re)\)"
_CLASSES = (
    r"\\[pP]\{(?:L[ultmo]?|N[dlo]?|M[nce]?|P[cdseifo]?|S[mcko]?|Z[slp]?|Han|Hangul|Hiragana|Katakana|Latin|Cyrillic"
    r"|Greek|Thai)\}|\\[sSd]"
)
_ESCAPED = r"\\(?:[nrt]|[^\w\s])"
_OUTSIDE = rf"(?:{_CLASSES}|{_ESCAPED}|[^\\\[\](){{}}?*+|^$])"  # a dot is any character but a line feed to both
_INSIDE = rf"(?:{_ESCAPED}|[^\\\[\]\-&^])"
_ITEMS = rf"(?:{_CLASSES}(?!-[^\]])|{_INSIDE}(?:-{_INSIDE})?|\^|&(?!&))"
_NESTED = rf"\[(?![\^:])({_ITEMS}+)\]"  # adds its characters to the class that it stands in
_CLASS = rf"\[(?:\^(?!\^)|(?!\^))(?:{_ITEMS}|{_NESTED})+-?\]"
_INTERVAL = r"\{\d{1,2}(?:,\d{0,2})?\}"
_TOKEN = re.compile(
    rf"(?P<case>{_EITHER_CASE})[?]?|(?P<unit>{_OUTSIDE}|{_CLASS})(?:(?P<interval>{_INTERVAL})(?P<again>\+)?|[?*+]\+?)?"
    rf"|\(\?[:!=]|\(|\)(?:[?*+]|{_INTERVAL})?(?![?*+{{])|(?P<end>\$)|\|"
)


class Expression:
    """An expression of a file of another program.

    Parameters
    ----------
    pattern
        As it stands in the file.

    Raises
    ------
    StudioError
        If it is invalid, or what it matches might differ from what it matches there.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._compiled = compiled_pattern(_translated(pattern))

    def matches(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where the matches in a text begin and end; those of no length are left out.

        Raises
        ------
        StudioError
            If that takes too long.
        """
        known = text if text.isascii() else text.translate(_without_newer())
        seconds = _SECONDS + len(text) / _CHARACTERS_A_SECOND
        find = partial(self._compiled.finditer, known, timeout=seconds, concurrent=True)
        try:
            found: list[regex.Match[str]] = list(find())
        except TimeoutError:
            what = "takes too long"
        except (MemoryError, RecursionError):
            what = "needs too much memory"
        else:
            return ((match.start(), match.end()) for match in found if match.end() > match.start())
        raise PatternOverrunError(what, printable(self.pattern[:200]), printable(text[:60]))


def _translated(pattern: str) -> str:
    """Return the expression that matches here what `pattern` matches there.

    Raises
    ------
    StudioError
        If that is not sure.
    """
    parts: list[str] = []
    place = 0
    while place < len(pattern):
        token = _TOKEN.match(pattern, place)
        if token is None:
            raise StudioError(
                'the regular expression "{pattern}" might match other text here than it does in its own program',
                pattern=printable(pattern[:200]),
            )
        place = token.end()
        unit = token["unit"]
        if token["end"]:
            parts.append("(?m:$)")  # there before every line feed
        elif unit is None:
            parts.append(token[0])
        else:
            if unit.startswith("["):
                unit = "[" + re.sub(_NESTED, r"\1", unit[1:-1]) + "]"
            times = token[0][len(token["unit"]) :]
            # There an interval is repeated by a plus, here it would become possessive.
            parts.append(f"(?:{unit}{token['interval']})+" if token["again"] else unit + times)
    return "".join(parts)


@cache
def _without_newer() -> CharacterMap:
    def rule(code_point: int) -> str:
        return UNKNOWN if code_point in NEWER else _OTHERWISE.get(code_point, chr(code_point))

    return CharacterMap(rule)
