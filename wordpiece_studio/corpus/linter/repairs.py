"""Mending a text: each repair changes what is wrong and leaves every other character as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import regex

from wordpiece_studio.corpus.linter.damage import decoded_again
from wordpiece_studio.corpus.linter.word_checks import LONG_RUN, without_stray_characters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wordpiece_studio.corpus.linter.finding import Repair, TextFix

_WRAPPED_FROM = 1000
_LONGEST_LINE = 5000
_SENTENCE_END = regex.compile(
    r"(?<=[.!?…؟।။](?:[\"'”’»)\]])*)[ \t\u00a0]+|(?<=[。！？](?:[”’」』）])*)(?![”’」』）。！？])[ \u3000]*"
)


def repaired(text: str, fix: TextFix) -> str:
    """Return `text` after the fix.

    >>> from wordpiece_studio.corpus.linter.finding import TextFix
    >>> repaired("niÃ±o", TextFix("decode-again"))
    'niño'
    """
    return _REPAIRS[fix.repair](text)


def _wrapped(text: str) -> str:
    """Begin a new line after each sentence of long lines; blanks there become the line break."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    lines = text.split("\n")
    return "\n".join(line_end.join(_sentences(line)) if len(line) > _WRAPPED_FROM else line for line in lines)


def _sentences(line: str) -> list[str]:
    lines: list[str] = []
    for sentence in _SENTENCE_END.sub("\n", line).removesuffix("\n").split("\n"):
        while len(sentence) > _LONGEST_LINE:
            place = sentence.rfind(" ", 0, _LONGEST_LINE)
            if place <= 0:
                break
            lines.append(sentence[:place])
            sentence = sentence[place + 1 :]
        lines.append(sentence)
    return lines


def _without_long_words(text: str) -> str:
    return LONG_RUN.sub("", text)


_REPAIRS: Mapping[Repair, Callable[[str], str]] = {
    "decode-again": decoded_again,
    "remove-invisible": without_stray_characters,
    "remove-long-words": _without_long_words,
    "wrap-lines": _wrapped,
}


def difference(before: str, after: str) -> tuple[int, int, str]:
    """Return the one edit that makes `after` of `before`: its position, how many characters go, and what comes.

    >>> difference("a cat sat", "a dog sat")
    (2, 3, 'dog')
    """
    start = _common(before, after)
    most = min(len(before), len(after)) - start
    end = min(most, _common(before[::-1], after[::-1]))
    return start, len(before) - end - start, after[start : len(after) - end]


def _common(first: str, second: str) -> int:
    """Return how many characters two texts have in common at their start."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
