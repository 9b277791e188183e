r"""The user's own regular expressions: as pre-tokenizers whose matches are the words or divide them, and for searching.

An invalid expression is explained in words; one that would run for years on a text is stopped after a moment.

Of those that divide a text, the ones that the `regex` module and Oniguruma, which `tokenizers` searches with,
understand alike can be written for that library. Only what the two languages have in common is let through:
characters, sets, classes, groups, alternatives, repetitions and looking around. Classes differ with the version of
Unicode, so a character that Oniguruma's does not have yet is taken out of each of them here. Everything else is named
as the part that another program may read differently.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Literal, NamedTuple, NoReturn, TypeVar, cast, get_args

import regex

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import printable
from wordpiece_studio.text.character_tables import CodePoints, pattern_tables
from wordpiece_studio.text.pipeline import PatternOverrunError, PreTokenizer, Span, check_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Finder = Callable[[Sequence[str]], list[bool]]


# An escape, a class, a repetition, or any other character.
_ITEM = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{0*(?P<least>\d+)(?:,\d*)?\}|.", re.DOTALL)
_MOST_UNROLLED = 300_000
_MOST_DIGITS = 10  # so many digits are already too many repetitions, and longer numbers are slow to parse
_T = TypeVar("_T")

PATTERN_PREFIX, SPLIT_PREFIX = "pattern:", "split:"
# The names of the pre-tokenizers without a pattern.
STEP_NAMES = (
    "bert", "whitespace", "whitespace-split", "punctuation", "unicode-punctuation", "digits", "digits-single",
    "byte-level", "byte-level:no-prefix", "byte-level:no-regex", "byte-level:bytes-only",
)  # fmt: skip

Behavior = Literal["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
_BEHAVIORS: tuple[Behavior, ...] = get_args(Behavior)
# What ends a pattern in a name: the next step.
_NEXT_STEP = re.compile(rf"\+(?=(?:{'|'.join(STEP_NAMES)})(?:\+|\Z)|{PATTERN_PREFIX}|{SPLIT_PREFIX})")
_LONGEST_PATTERN = 10_000
_CHARACTERS_A_TIMEOUT = 1_000_000  # a long line may take proportionally longer


class _Searching(PreTokenizer):
    __slots__ = ()

    pattern: str
    timeout: float

    def _timeout_for(self, text: str) -> float:
        return self.timeout * (1 + len(text) / _CHARACTERS_A_TIMEOUT)

    def _matches(self, compiled: regex.Pattern[str], text: str) -> list[regex.Match[str]]:
        find = partial(compiled.finditer, text, timeout=self._timeout_for(text), concurrent=True)
        # All at once: the time between two matches would count as well.
        matches = self._in_time(lambda: list(find()), text)
        return matches[::-1] if compiled.flags & regex.REVERSE else matches

    def _in_time(self, search: Callable[[], _T], text: str) -> _T:
        return _found(search, lambda: (_shown(self.pattern), _shown(text, 60)))


def _found(search: Callable[[], _T], shown: Callable[[], tuple[str, str]]) -> _T:
    """Return what a search finds; the error for one that overruns names the pattern and the text as shown."""
    try:
        return search()
    except TimeoutError:
        what = "takes too long"
    except (MemoryError, RecursionError):
        what = "needs too much memory"
    raise PatternOverrunError(what, *shown())


@dataclass(frozen=True, slots=True)
class PatternPreTokenizer(_Searching):
    r"""The words are the matches of a regular expression, from left to right; the rest is dropped.

    A text is read line by line. Empty matches are not words, and groups do not matter. The syntax is that of the
    `regex` module, which supports Unicode classes, ``\p{Han}``, and uses its own Unicode version for them.

    Parameters
    ----------
    pattern
        The expression.
    timeout
        The seconds after which a line is given up, per million characters if it is longer than that.

    Raises
    ------
    StudioError
        If the expression is invalid; the message gives the position and the reason. And when a text is split, if that
        takes too long.

    >>> PatternPreTokenizer(r"\p{L}+|\d").split("Room 101, please")
    ['Room', '1', '0', '1', 'please']
    """

    pattern: str
    timeout: float = field(default=1.0, compare=False)

    def __post_init__(self) -> None:
        compiled_pattern(self.pattern)

    @property
    def name(self) -> str:
        """``"pattern:"`` and the expression."""
        return PATTERN_PREFIX + self.pattern

    def spans(self, text: str) -> list[Span]:
        matches = self._matches(compiled_pattern(self.pattern), text)
        return [Span(match[0], match.start(), match.end()) for match in matches if match[0]]

    def split(self, text: str) -> list[str]:
        compiled = compiled_pattern(self.pattern)
        if compiled.groups:
            return [span.text for span in self.spans(text)]  # findall would return the groups
        find = partial(compiled.findall, text, timeout=self._timeout_for(text), concurrent=True)
        words = [word for word in self._in_time(find, text) if word]
        return words[::-1] if compiled.flags & regex.REVERSE else words


@dataclass(frozen=True, slots=True)
class Split(_Searching):
    r"""Divides a text where a regular expression matches, as ``Split`` of the `tokenizers` library does.

    The syntax is that of the `regex` module. What it has in common with that library's can be written to a
    ``tokenizer.json``, and its classes are then that library's: ``\p{L}`` lacks letters that Unicode got later.

    Parameters
    ----------
    pattern
        The expression.
    behavior
        What becomes of a match: it is ``"removed"``; ``"isolated"``, a word of its own; ``"merged_with_previous"`` or
        ``"merged_with_next"``, part of the word before or after it; or ``"contiguous"``, a word together with the
        matches beside it.
    invert
        Whether what is between the matches is treated so, instead of the matches.
    timeout
        The seconds after which a line is given up, per million characters if it is longer than that.

    Raises
    ------
    StudioError
        If the expression is invalid; the message gives the position and the reason. And when a text is split, if that
        takes too long.

    >>> Split("-", "merged_with_previous").split("a-b--c")
    ['a-', 'b-', '-', 'c']
    >>> Split(r"\p{L}+", "removed", invert=True).split("Room 101, please")
    ['Room', 'please']
    """

    pattern: str
    behavior: Behavior = "isolated"
    invert: bool = False
    timeout: float = field(default=1.0, compare=False, repr=False)

    def __post_init__(self) -> None:
        compiled_pattern(self.pattern)
        check_fields(self)
        if self.behavior not in _BEHAVIORS:
            what = "{behavior} is not a valid split behavior"
            advice = "Choose one of {behaviors}."
            raise StudioError(what, advice, behavior=repr(self.behavior)[:50], behaviors=", ".join(_BEHAVIORS))
        if found := _NEXT_STEP.search(self.pattern):
            what = 'In the pattern "{pattern}", the name of a pre-tokenizer follows a plus sign at character {position}'
            advice = "Put a group around what comes before the name, as in (?:a+)digits."
            raise StudioError(what, advice, pattern=_shown(self.pattern), position=found.start() + 1)

    @property
    def name(self) -> str:
        """``"split:"``, the behavior, ``",invert"`` if it does, and after a colon the expression."""
        behavior = self.behavior.replace("_", "-") + ",invert" * self.invert
        return f"{SPLIT_PREFIX}{behavior}:{self.pattern}"

    def spans(self, text: str) -> list[Span]:
        return [Span(text[start:end], start, end) for start, end in self._places(text)]

    def split(self, text: str) -> list[str]:
        return [text[start:end] for start, end in self._places(text)]

    def _places(self, text: str) -> list[tuple[int, int]]:
        stretches, end = [], 0
        for match in self._matches(_common_or_compiled(self.pattern), text):
            if match.start() > end:
                stretches.append((end, match.start(), self.invert))
            elif match.end() == end > 0:
                continue  # an empty match right after another does not count
            stretches.append((*match.span(), not self.invert))
            end = match.end()
        if end < len(text):
            stretches.append((end, len(text), self.invert))
        return [(start, end) for start, end in _joined(stretches, self.behavior) if start < end]


def _joined(stretches: list[tuple[int, int, bool]], behavior: Behavior) -> list[tuple[int, int]]:
    if behavior in ("removed", "isolated"):
        return [(start, end) for start, end, is_match in stretches if behavior == "isolated" or not is_match]
    places: list[tuple[int, int]] = []
    was_match = False
    order = -1 if behavior == "merged_with_next" else 1
    for start, end, is_match in stretches[::order]:
        joins = is_match == was_match if behavior == "contiguous" else is_match and not was_match
        if joins and places:
            other_start, other_end = places.pop()
            start, end = min(start, other_start), max(end, other_end)
        places.append((start, end))
        was_match = is_match
    return places[::order]


def split_named(name: str) -> tuple[Split, str]:
    behavior, _, rest = name.removeprefix(SPLIT_PREFIX).partition(":")
    after = _NEXT_STEP.search(rest)
    pattern = rest[: after.start()] if after else rest
    kind = behavior.removesuffix(",invert")
    split = Split(pattern, cast("Behavior", kind.replace("-", "_")), invert=kind != behavior)
    return split, rest[len(pattern) :]


@cache
def _common_or_compiled(pattern: str) -> regex.Pattern[str]:
    common = common_pattern(pattern)
    return compiled_pattern(pattern) if common is None else regex.compile(common, regex.VERSION1)


@cache
def compiled_pattern(pattern: str) -> regex.Pattern[str]:
    if not isinstance(pattern, str):
        raise StudioError("A pattern is expected, not {value}", "Pass it as a string.", value=repr(pattern)[:50])
    shown = _shown(pattern)
    if not pattern:
        raise StudioError("The pattern is empty", "Write a regular expression whose matches are the words.")
    if len(pattern) > _LONGEST_PATTERN:
        what, values = 'The pattern "{pattern}" is too long: {length:,} characters', {"length": len(pattern)}
        advice = "Write one of at most {most:,} characters."
        raise StudioError(what, advice, pattern=shown, most=_LONGEST_PATTERN, **values)
    if _unrolled_size(pattern) > _MOST_UNROLLED:
        raise StudioError(
            'The pattern "{pattern}" has too many repetitions', "Lower or remove some of them.", pattern=shown
        )
    try:
        return regex.compile(pattern)
    except regex.error as error:
        what = 'The pattern "{pattern}" is not a valid regular expression: at character {position}, {reason}'
        advice = "Correct it; to match a special character literally, put a backslash before it."
        place, reason = (getattr(error, "pos", None) or 0) + 1, getattr(error, "msg", str(error))
        raise StudioError(what, advice, pattern=shown, position=place, reason=reason) from None
    except ValueError as error:
        what = 'The pattern "{pattern}" is not a valid regular expression: {reason}'
        raise StudioError(what, "Correct it.", pattern=shown, reason=error) from None
    except (RecursionError, MemoryError):
        raise StudioError('The pattern "{pattern}" is nested too deeply', "Simplify it.", pattern=shown) from None


def _unrolled_size(pattern: str) -> int:
    """Return about how many items a pattern compiles to: the compiler unrolls required repetitions."""
    sizes, last = [0], 0
    for item in _ITEM.finditer(pattern):
        if item[0] == "(":
            sizes.append(0)
        elif item[0] == ")" and len(sizes) > 1:
            last = sizes.pop()
            sizes[-1] += last
        elif item[0] == "+" or item["least"]:
            times = int((item["least"] or "1")[:_MOST_DIGITS])
            sizes[-1] += last * times
            last *= times + 1
        else:
            last = 1
            sizes[-1] += 1
    return sum(sizes)


def _shown(text: str, most: int = 200) -> str:
    return printable(text if len(text) <= most else text[:most] + "…")


_TIMEOUT_SECONDS = 0.05
_LONGEST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class SearchPattern:
    r"""An expression of the `regex` module, to search for.

    >>> SearchPattern(r"^##\p{L}+ing$").is_in("##ting")
    True
    """

    pattern: str

    def __post_init__(self) -> None:
        if not self.pattern:
            raise StudioError("The pattern is empty", "Write a regular expression that matches part of a token.")
        compiled_pattern(self.pattern)

    def is_in(self, text: str) -> bool:
        # Not `concurrent`: releasing the lock takes longer than searching a token.
        search = partial(compiled_pattern(self.pattern).search, text, timeout=_TIMEOUT_SECONDS)
        shown = self.pattern[:_LONGEST_SHOWN], text[:_LONGEST_SHOWN]
        return _found(search, lambda: (printable(shown[0]), printable(shown[1]))) is not None


def text_finder(text: str) -> Finder:
    """Return a finder of the tokens that contain `text`; case matters only if it has capitals."""
    if text == text.lower():
        return lambda tokens: [text in token.lower() for token in tokens]
    return lambda tokens: [text in token for token in tokens]


# Patterns that match no line end, but for the classes of what they are to exclude.
_WITHIN_LINES = re.compile(
    r"(?:[\w# @%&=<>!~:;,'\"/.^$|)]|\((?:\?(?:[:=!<]|i[:)]))?(?![*?])|\\(?:[.*+?()\[\]{}^$|\\bdw]|p\{[LMNPS][a-z]?\})"
    r"|\[\^?(?:\w-\w|[\w#])+\]|[*+?]|\{\d+(?:,\d*)?\})*"
)
_EXCLUDING = re.compile(r"\\.|\[\^")


def pattern_finder(pattern: str) -> Finder:
    """Return a finder of the tokens that match a regular expression.

    A timeout for each token takes ten times as long as searching it. So most expressions are searched in many tokens at
    once, as the lines of one text, with one timeout for all.
    """
    careful = SearchPattern(pattern)
    is_within_lines = _WITHIN_LINES.fullmatch(pattern) is not None

    def found(tokens: Sequence[str]) -> list[bool]:
        in_lines = _found_in_lines(pattern, tokens) if is_within_lines else None
        return [careful.is_in(token) for token in tokens] if in_lines is None else in_lines

    return found


def _found_in_lines(pattern: str, tokens: Sequence[str]) -> list[bool] | None:
    """Return for each token whether it matches; None if one contains a line end, or if it takes too long."""
    in_line = _EXCLUDING.sub(lambda found: r"[^\n" if found[0] == "[^" else found[0], pattern)
    lines = compiled_pattern(f"(?m)(?:{in_line}).*")  # to the end of the line: one match in each is enough
    text = "\n".join(tokens)
    if text.count("\n") >= len(tokens):
        return None
    found = [False] * len(tokens)
    line = at = 0
    try:
        for match in lines.finditer(text, timeout=_TIMEOUT_SECONDS):
            line += text.count("\n", at, match.start())
            at = match.start()
            found[line] = True
    except (TimeoutError, MemoryError, RecursionError):
        return None
    return found


# What is common to the two languages.

# The names in ``\p{…}`` whose members are the same in both, among the characters that both know.
PROPERTIES = frozenset(
    "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp Cc Cf Co Alphabetic Han"
    " Hiragana Katakana Hangul Latin Greek Cyrillic Arabic Hebrew Thai Devanagari Bengali Tamil Myanmar".split()
)

# What a class lacks there, and what it has there, apart from the version of Unicode; after a bracket, in a set.
_DIFFERING = {
    r"\w": ("\u200c\u200d", "²³¹¼½¾"),
    r"[\w": ("\u200c\u200d", ""),
    r"\p{Ll}": ("", "\u0295"),
    r"\p{Lo}": ("\u0295", ""),
}

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
    return re.sub(r"[\\.^$|?*+()\[\]{}]", r"\\\g<0>", text)


@cache
def _read(pattern: str) -> tuple[str | None, str | None]:
    try:
        return _Reader(pattern).read(), None
    except _LibraryError as error:
        return None, str(error)


class _Reader:
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
        """Read alternatives to the end of the group or pattern: only one of single characters if that `is_fixed`."""
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
        return _Extent(True, False) if self._taken(_ATOM, is_folded)["edge"] else _Extent(False, True)

    def _taken(self, items: re.Pattern[str], is_folded: bool, *, in_set: bool = False) -> re.Match[str]:
        found = items.match(self._pattern, self._position)
        if found is None or (is_folded and not _SAME_FOLDED.fullmatch(found[0])):
            self._refuse()
        written = self._class(found, in_set=in_set) if found["class"] else None
        if is_folded and found["character"]:
            written = _cases(found[0]) if in_set else f"[{_cases(found[0])}]"
        self._take(found[0], written)
        return found

    def _set(self, is_folded: bool) -> None:
        start = self._position
        opening = "[^" if self._pattern.startswith("[^", start) else "["
        if is_folded and opening == "[^":
            self._refuse()
        self._take(opening)
        while self._next() not in ("", "]"):
            if self._next() == "-" and (self._written[-1] == opening or self._pattern[self._position + 1] == "]"):
                self._take("-", r"\-")
            else:
                self._taken(_SET_ITEM, is_folded, in_set=True)
        if _DOUBLED.search(self._pattern[start : self._position]):
            raise _LibraryError(self._pattern[start : self._position + 1])
        self._take("]")

    def _class(self, found: re.Match[str], *, in_set: bool) -> str:
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
    """Return the inside of brackets that match an ASCII character in either case, as Oniguruma does."""
    if not character.isalpha():
        return character if len(character) > 1 else regex.escape(character)
    return character.lower() + character.upper() + {"s": "ſ", "k": "\u212a"}.get(character.lower(), "")


@cache
def _differences(expression: str, *, in_set: bool) -> tuple[str, str]:
    """Return what a class lacks in Oniguruma, and what it has there, as the insides of brackets."""
    removed, added = _DIFFERING.get("[" * in_set + expression) or _DIFFERING.get(expression, ("", ""))
    newer = regex.findall(expression, _newer_characters())
    return CodePoints.of([*newer, *removed]).pattern(), CodePoints.of(added).pattern()


@cache
def _newer_characters() -> str:
    unassigned = pattern_tables().unassigned.ranges
    return "".join("".join(regex.findall(r"\P{Cn}+", "".join(map(chr, range(a, b + 1))))) for a, b in unassigned)
