"""Which tokens of a vocabulary contain a text or match a regular expression, and their order by code points.

A million takes a few tenths of a second. The work is sliced to give other threads their turn, which Python's own sort
of a million strings would not. The tables of merges and of tokens decide what is shown for the result.
"""

from __future__ import annotations

import contextlib
import re
import time
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.table_model import OrderingCanceled
from wordpiece_studio.session.task import Turn
from wordpiece_studio.system.arrays import code_points_of, lengths_of
from wordpiece_studio.text.patterns import SearchPattern, compiled_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.session.table_model import ShouldStop
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary

    Finder = Callable[[Sequence[str]], list[bool]]

_TOKENS = 512
_SLICE_SECONDS = 0.05
_MOST_SECONDS = 20.0
_MOST_STEPS = 1_000_000
_REPETITION = re.compile(r"[*+{]")
_CHOICE = re.compile(r"[?|]")
_COMMON = re.compile(
    r"(?:[\w# @%&=<>!~:;,'\"/.^$|()]|\\[.*+?()\[\]{}^$|\\]|\[\^?(?:\w-\w|[\w#])+\]|[*+?]|\{\d+(?:,\d*)?\})*"
)
"""Patterns that `re` and `regex` read alike: no Unicode properties, no nested sets, no fuzzy matching."""
_CODE_POINTS = 0x110000
_INTRICATE = re.compile(r"\)[*+{?]|\(\?(?!:)|\(\*|\\\d|\\[gKLNRX]")


class TokenSearch:
    """The order of a growing vocabulary's tokens, and those that the last search found; both grow with it."""

    def __init__(self) -> None:
        self._ranks = np.empty(0, dtype=np.int64)
        self._found: tuple[tuple[str, bool], NDArray[np.bool_]] = (("", False), np.empty(0, dtype=np.bool_))

    def ranks(self, tokens: Sequence[str]) -> NDArray[np.int64]:
        """Return the place of each token in code point order, by token id: int64, shape (n_tokens,)."""
        if len(self._ranks) != len(tokens):
            self._ranks = token_ranks(tokens)
        return self._ranks

    def found(self, vocabulary: Vocabulary, text: str, is_pattern: bool, should_stop: ShouldStop) -> NDArray[np.bool_]:
        """Return for each token whether a text or an expression occurs in it: bool, by token id."""
        tokens, (sought, found) = vocabulary.tokens, self._found
        if sought != (text, is_pattern):
            found = found[:0]
        if len(found) < len(tokens):
            finder = pattern_finder(text, vocabulary.longest) if is_pattern else text_finder(text)
            found = np.concatenate((found, tokens_found(tokens[len(found) :], finder, should_stop)))
            self._found = ((text, is_pattern), found)
        return found


def tokens_found(tokens: Sequence[str], finder: Finder, should_stop: ShouldStop | None = None) -> NDArray[np.bool_]:
    """Return for each token whether it matches: bool, shape (n_tokens,)."""
    found = np.empty(len(tokens), dtype=np.bool_)
    turn, end = Turn(), time.monotonic() + _MOST_SECONDS
    for start in range(0, len(tokens), _TOKENS):
        part = tokens[start : start + _TOKENS]
        found[start : start + len(part)] = finder(part)
        if should_stop is not None:
            if should_stop():
                raise OrderingCanceled
            turn.give()
        if time.monotonic() > end:
            raise StudioError("The search takes too long", "Write a simpler expression.")
    return found


def text_finder(text: str) -> Finder:
    """Return a finder of the tokens that contain `text`; case matters only if it has capitals."""
    if text == text.lower():
        return lambda tokens: [text in token.lower() for token in tokens]
    return lambda tokens: [text in token for token in tokens]


def pattern_finder(pattern: str, longest: int) -> Finder:
    """Return a finder of the tokens that match a regular expression; `longest`: characters in the longest token."""
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


def token_ranks(tokens: Sequence[str]) -> NDArray[np.int64]:
    """Return the place of each token in code point order: int64, shape (n_tokens,).

    Equal tokens have equal ranks. As many characters as fit are packed into one 64-bit number; tokens are sorted by
    their first characters, those still equal by the next ones, and so on. The characters of a language need few bits
    each, so there are few rounds.

    >>> token_ranks(["b", "##a", "ab", "a", "b"]).tolist()
    [3, 0, 2, 1, 3]
    """
    lengths = lengths_of(tokens)
    letters, bits = _numbered(code_points_of(tokens, lengths))
    letters = np.append(letters, np.zeros(64, dtype=letters.dtype))  # read past the end of the last token
    starts = np.cumsum(lengths) - lengths
    ranks = np.zeros(len(tokens), dtype=np.int64)
    # Tokens still tied, with the numbers of their groups; a group's rank is the place of its first token.
    tied, groups, bases = np.arange(len(tokens)), np.zeros(len(tokens), dtype=np.int64), np.zeros(1, dtype=np.int64)
    offset = 0
    while len(tied):
        keys, places, left = groups, starts[tied] + offset, lengths[tied] - offset
        packed = min((63 - len(bases).bit_length()) // bits, max(int(left.max()), 1))
        for place in range(packed):
            keys = keys << bits | np.where(left > place, letters[places + place], 0)
        order = np.argsort(keys)
        tied, groups, keys = tied[order], groups[order], keys[order]
        offset += packed
        is_first = np.diff(keys, prepend=-1) != 0
        if len(tied) == len(tokens) and is_first.all():  # as in the vocabularies of most languages
            ranks[tied] = np.arange(len(tied))
            return ranks
        first_of_old = np.searchsorted(groups, np.arange(len(bases)))
        firsts = np.flatnonzero(is_first)
        bases = bases[groups[firsts]] + firsts - first_of_old[groups[firsts]]
        groups = np.cumsum(is_first) - 1
        ranks[tied] = bases[groups]
        is_tied = (np.diff(firsts, append=len(tied)) > 1)[groups] & (lengths[tied] >= offset)
        tied, groups = tied[is_tied], groups[is_tied]
        is_left = np.bincount(groups, minlength=len(bases)) > 0
        bases, groups = bases[is_left], (np.cumsum(is_left) - 1)[groups]
    return _dense(ranks)


def _numbered(code_points: NDArray[np.int32]) -> tuple[NDArray[np.int32], int]:
    """Replace code points by numbers from 1 in the same order; return them and the bit length of the largest."""
    used = np.zeros(_CODE_POINTS, dtype=np.bool_)
    used[code_points] = True
    numbers = np.cumsum(used, dtype=np.int32)
    return numbers[code_points], max(int(numbers[-1]).bit_length(), 1)


def _dense(ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    used = np.zeros(len(ranks), dtype=np.int64)
    used[ranks] = 1
    result: NDArray[np.int64] = (np.cumsum(used) - 1)[ranks]
    return result
