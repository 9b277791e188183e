"""Which tokens of a vocabulary contain a text or match a regular expression: a million in a few tenths of a second.

The work is sliced to give other threads their turn. `history_rows` decides which merges are shown for the result.
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
"""Patterns that `re` and `regex` read alike: no Unicode properties, no nested sets, no fuzzy matching."""
_INTRICATE = re.compile(r"\)[*+{?]|\(\?(?!:)|\(\*|\\\d|\\[gKLNRX]")


class SearchCanceled(Exception):
    """The result is no longer wanted."""


def tokens_found(
    tokens: Sequence[str], finder: Finder, should_stop: Callable[[], bool] | None = None
) -> NDArray[np.bool_]:
    """Return for each token whether it matches: bool, shape (n_tokens,).

    Raises
    ------
    StudioError
        If a regular expression takes too long.
    SearchCanceled
        If `should_stop` returns True.
    """
    found = np.empty(len(tokens), dtype=np.bool_)
    turn = Turn()
    for start in range(0, len(tokens), _TOKENS):
        part = tokens[start : start + _TOKENS]
        found[start : start + len(part)] = finder(part)
        if should_stop is not None:
            if should_stop():
                raise SearchCanceled
            turn.give()
    return found


def text_finder(text: str) -> Finder:
    """Return a finder of the tokens that contain `text`; case matters only if it has capitals."""
    if text == text.lower():
        return lambda tokens: [text in token.lower() for token in tokens]
    return lambda tokens: [text in token for token in tokens]


def pattern_finder(pattern: str, longest: int) -> Finder:
    """Return a finder of the tokens that match a regular expression; `longest`: characters in the longest token.

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
    # Checking the clock for every token takes six times as long, and `re` is faster still.
    search: Callable[[str], object] = compiled_pattern(pattern).search
    if _COMMON.fullmatch(pattern):
        with contextlib.suppress(re.error):
            search = re.compile(pattern).search
    return lambda tokens: [search(token) is not None for token in tokens]


def _line_finder(pattern: str, careful: SearchPattern) -> Finder:
    """Return a finder that searches many tokens at once, as the lines of one text; `pattern` must match no line end.

    The timeout is set once for all of them: setting it for each takes six times as long as searching a token. If it
    expires, each token is searched on its own, with its own timeout.
    """
    lines = compiled_pattern(f"(?m){pattern}")

    def found_in(tokens: Sequence[str]) -> list[bool]:
        text = "\n".join(tokens)
        if text.count("\n") >= len(tokens):  # a token contains a line end
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
    r"""Return whether an expression certainly takes only a moment for a text of `longest` characters.

    Assumes that each repetition may begin and end anywhere in the text and that each choice may go both ways. Returns
    False for repeated groups, lookarounds and backreferences.

    >>> ends_soon("^##a.*b$", 100), ends_soon("(a|aa)+b", 100), ends_soon("a?" * 20, 100)
    (True, False, False)
    """
    if _INTRICATE.search(pattern):
        return False
    repetitions, choices = len(_REPETITION.findall(pattern)), len(_CHOICE.findall(pattern))
    steps: int = max(longest, 1) ** (1 + repetitions) * 2**choices
    return steps <= _MOST_STEPS
