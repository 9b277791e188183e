"""The user's own regular expressions: as pre-tokenizers whose matches are the words or divide them, and for searching.

An invalid expression is explained in words; one that would run for years on a text is stopped after a moment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Literal, TypeVar, cast, get_args

import regex

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import printable
from wordpiece_studio.text.common_patterns import common_pattern
from wordpiece_studio.text.pipeline import PatternOverrunError, PreTokenizer, Span, check_fields

if TYPE_CHECKING:
    from collections.abc import Callable


# An escape, a class, a repetition, or any other character.
_ITEM = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{0*(?P<least>\d+)(?:,\d*)?\}|.", re.DOTALL)
_MOST_UNROLLED = 300_000
_MOST_DIGITS = 10  # so many digits are already too many repetitions, and longer numbers are slow to parse
_T = TypeVar("_T")

PATTERN_PREFIX, SPLIT_PREFIX = "pattern:", "split:"
STEP_NAMES = (
    "bert", "whitespace", "whitespace-split", "punctuation", "unicode-punctuation", "digits", "digits-single",
    "byte-level", "byte-level:no-prefix", "byte-level:no-regex", "byte-level:bytes-only",
)  # fmt: skip
"""The names of the pre-tokenizers without a pattern."""

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
            raise StudioError(
                "{behavior} is not a valid split behavior",
                "Choose one of {behaviors}.",
                behavior=repr(self.behavior)[:50],
                behaviors=", ".join(_BEHAVIORS),
            )
        if found := _NEXT_STEP.search(self.pattern):
            raise StudioError(
                'In the pattern "{pattern}", the name of a pre-tokenizer follows a plus sign at character {position}',
                "Put a group around what comes before the name, as in (?:a+)digits.",
                pattern=_shown(self.pattern),
                position=found.start() + 1,
            )

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
        """Return where each word begins and ends."""
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
        raise StudioError(
            'The pattern "{pattern}" is too long: {length:,} characters',
            "Write one of at most {most:,} characters.",
            pattern=shown,
            length=len(pattern),
            most=_LONGEST_PATTERN,
        )
    if _unrolled_size(pattern) > _MOST_UNROLLED:
        raise StudioError(
            'The pattern "{pattern}" has too many repetitions', "Lower or remove some of them.", pattern=shown
        )
    try:
        return regex.compile(pattern)
    except regex.error as error:
        raise StudioError(
            'The pattern "{pattern}" is not a valid regular expression: at character {position}, {reason}',
            "Correct it; to match a special character literally, put a backslash before it.",
            pattern=shown,
            position=(getattr(error, "pos", None) or 0) + 1,
            reason=getattr(error, "msg", str(error)),
        ) from None
    except ValueError as error:
        raise StudioError(
            'The pattern "{pattern}" is not a valid regular expression: {reason}',
            "Correct it.",
            pattern=shown,
            reason=error,
        ) from None
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

        def shown() -> tuple[str, str]:
            return printable(self.pattern[:_LONGEST_SHOWN]), printable(text[:_LONGEST_SHOWN])

        return _found(search, shown) is not None
