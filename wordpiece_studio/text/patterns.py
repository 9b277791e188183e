"""The user's own regular expressions: as a pre-tokenizer whose matches are the words, and to search for tokens.

An invalid expression is explained in words; one that would run for years on a text is stopped after a moment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, TypeVar

import regex

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import printable
from wordpiece_studio.text.pipeline import PatternOverrunError, PreTokenizer, Span

if TYPE_CHECKING:
    from collections.abc import Callable


# An escape, a class, a repetition, or any other character.
_ITEM = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{0*(?P<least>\d+)(?:,\d*)?\}|.", re.DOTALL)
_MOST_UNROLLED = 300_000
_MOST_DIGITS = 10  # so many digits are already too many repetitions, and longer numbers are slow to parse
_T = TypeVar("_T")

PATTERN_PREFIX = "pattern:"
_LONGEST_PATTERN = 10_000
_CHARACTERS_A_TIMEOUT = 1_000_000  # a long line may take proportionally longer


@dataclass(frozen=True, slots=True)
class PatternPreTokenizer(PreTokenizer):
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
        """Return the words of `text` and their positions."""
        find = partial(compiled_pattern(self.pattern).finditer, text, timeout=self._timeout_for(text), concurrent=True)
        # All at once: the time between two matches would count as well.
        matches = self._in_time(lambda: list(find()), text)
        spans = [Span(match[0], match.start(), match.end()) for match in matches if match[0]]
        return spans[::-1] if self._is_reverse else spans

    def split(self, text: str) -> list[str]:
        """Return the words of `text`."""
        compiled = compiled_pattern(self.pattern)
        if compiled.groups:
            return [span.text for span in self.spans(text)]  # findall would return the groups
        find = partial(compiled.findall, text, timeout=self._timeout_for(text), concurrent=True)
        words = [word for word in self._in_time(find, text) if word]
        return words[::-1] if self._is_reverse else words

    @property
    def _is_reverse(self) -> bool:
        """Whether it searches from right to left, as ``(?r)`` makes it do."""
        return bool(compiled_pattern(self.pattern).flags & regex.REVERSE)

    def _timeout_for(self, text: str) -> float:
        return self.timeout * (1 + len(text) / _CHARACTERS_A_TIMEOUT)

    def _in_time(self, search: Callable[[], _T], text: str) -> _T:
        try:
            return search()
        except TimeoutError:
            what = "takes too long"
        except (MemoryError, RecursionError):
            what = "needs too much memory"
        raise PatternOverrunError(what, _shown(self.pattern), _shown(text, 60))


@cache
def compiled_pattern(pattern: str) -> regex.Pattern[str]:
    """Return a user's pattern, compiled.

    Raises
    ------
    StudioError
        If it is empty, invalid, or too large to compile; the message gives the position and the reason.
    """
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

    Raises
    ------
    StudioError
        If the expression is empty or invalid; the message gives the position and the reason.

    >>> SearchPattern(r"^##\p{L}+ing$").is_in("##ting")
    True
    """

    pattern: str

    def __post_init__(self) -> None:
        if not self.pattern:
            raise StudioError("The pattern is empty", "Write a regular expression that matches part of a token.")
        compiled_pattern(self.pattern)

    def is_in(self, text: str) -> bool:
        """Return whether the expression matches anywhere in `text`.

        Raises
        ------
        StudioError
            If that takes too long or too much memory.
        """
        try:
            # Not `concurrent`: releasing the lock takes longer than searching a token.
            return compiled_pattern(self.pattern).search(text, timeout=_TIMEOUT_SECONDS) is not None
        except TimeoutError:
            what = "takes too long"
        except (MemoryError, RecursionError):
            what = "needs too much memory"
        raise PatternOverrunError(what, printable(self.pattern[:_LONGEST_SHOWN]), printable(text[:_LONGEST_SHOWN]))
