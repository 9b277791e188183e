"""Which tokens of a vocabulary hold a text or match an expression, a million in some tenths of a second.

Done in slices that leave other threads their turn. Not here: which merges are shown for it (`history_rows`).
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.session.pacing import Turn
from wordpiece_studio.text.patterns import SearchPattern, compiled_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Finder = Callable[[Sequence[str]], list[bool]]

_TOKENS = 512
_SLICE_SECONDS = 0.05
_MOST_STEPS = 1_000_000
_REPETITION = re.compile(r"[*+{]")
_CHOICE = re.compile(r"[?|]")
_COMMON = re.compile(
    r"(?:[\w# @%&=<>!~:;,'\"/.^$|()]|\\[.*+?()\[\]{}^$|\\]|\[\^?(?:\w-\w|[\w#])+\]|[*+?]|\{\d+(?:,\d*)?\})*"
)
"""What `re` and `regex` read in the same way: not what either knows of Unicode, no sets of sets, nothing fuzzy."""
_INTRICATE = re.compile(r"\)[*+{?]|\(\?(?!:)|\(\*|\\\d|\\[gKLNRX]")


class GivenUp(Exception):
    """Whoever asked does not want to know any more."""


def tokens_found(
    tokens: Sequence[str], finder: Finder, should_stop: Callable[[], bool] | None = None
) -> NDArray[np.bool_]:
    """Return for each token whether it is found: bool, shape (n_tokens,).

    Raises
    ------
    StudioError
        If an expression takes too long.
    GivenUp
        If `should_stop` says so.
    """
    found = np.empty(len(tokens), dtype=np.bool_)
    turn = Turn()
    for start in range(0, len(tokens), _TOKENS):
        part = tokens[start : start + _TOKENS]
        found[start : start + len(part)] = finder(part)
        if should_stop is not None:
            if should_stop():
                raise GivenUp
            turn.give()
    return found


def text_finder(text: str) -> Finder:
    """Return what tells of tokens whether they hold `text`; capitals and small letters count if it has capitals."""
    if text == text.lower():
        return lambda tokens: [text in token.lower() for token in tokens]
    return lambda tokens: [text in token for token in tokens]


def pattern_finder(pattern: str, longest: int) -> Finder:
    """Return what tells of tokens, the longest of which has so many characters, whether an expression is found in them.

    Raises
    ------
    StudioError
        If the expression is invalid.
    """
    careful = SearchPattern(pattern)
    if not ends_soon(pattern, longest):
        if _COMMON.fullmatch(pattern) and "[^" not in pattern:
            return _line_finder(pattern, careful)
        return lambda tokens: [careful.is_in(token) for token in tokens]
    # To look at the clock for every token takes six times as long, and `re` is quicker again.
    search: Callable[[str], object] = compiled_pattern(pattern).search
    if _COMMON.fullmatch(pattern):
        with contextlib.suppress(re.error):
            search = re.compile(pattern).search
    return lambda tokens: [search(token) is not None for token in tokens]


def _line_finder(pattern: str, careful: SearchPattern) -> Finder:
    """Return what searches many tokens at once, as the lines of one text; `pattern` must match no line end.

    The clock is set once for all of them: to set it for each takes six times as long as to search a token. Should the
    time be over, each token is searched on its own, with a time of its own.
    """
    lines = compiled_pattern(f"(?m){pattern}")

    def found_in(tokens: Sequence[str]) -> list[bool]:
        text = "\n".join(tokens)
        if text.count("\n") >= len(tokens):  # a token holds a line end
            return [careful.is_in(token) for token in tokens]
        found = [False] * len(tokens)
        line = at = 0
        try:
            for match in lines.finditer(text, timeout=_SLICE_SECONDS):
                line += text.count("\n", at, match.start())
                at = match.start()
                found[line] = True
        except (TimeoutError, MemoryError, RecursionError):
            return [careful.is_in(token) for token in tokens]
        return found

    return found_in


def ends_soon(pattern: str, longest: int) -> bool:
    r"""Return whether an expression surely needs no more than a moment for a text of so many characters.

    Each repetition may begin and end anywhere in the text, each choice may go both ways; what repeats a group, looks
    around, or refers to groups is not judged at all.

    >>> ends_soon("^##a.*b$", 100), ends_soon("(a|aa)+b", 100), ends_soon("a?" * 20, 100)
    (True, False, False)
    """
    if _INTRICATE.search(pattern):
        return False
    repetitions, choices = len(_REPETITION.findall(pattern)), len(_CHOICE.findall(pattern))
    steps: int = max(longest, 1) ** (1 + repetitions) * 2**choices
    return steps <= _MOST_STEPS
