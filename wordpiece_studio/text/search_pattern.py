"""A regular expression of the user's own that is looked for in short texts, such as tokens.

What is invalid is told in words, and a text on which it would run for years is given up after a moment.
"""

from __future__ import annotations

from dataclasses import dataclass

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import printable
from wordpiece_studio.text.pattern_pre_tokenizer import PatternOverrunError, compiled_pattern

_TIMEOUT_SECONDS = 0.05
_LONGEST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class SearchPattern:
    r"""An expression of the `regex` module.

    Raises
    ------
    StudioError
        If the expression is empty or invalid; the message names the position and the reason.

    >>> SearchPattern(r"^##\p{L}+ing$").is_in("##ting")
    True
    """

    pattern: str

    def __post_init__(self) -> None:
        if not self.pattern:
            raise StudioError("The pattern is empty", "Write a regular expression that is found in a token.")
        compiled_pattern(self.pattern)

    def is_in(self, text: str) -> bool:
        """Return whether the expression is found anywhere in `text`.

        Raises
        ------
        StudioError
            If that takes too long or too much memory.
        """
        try:
            # Not `concurrent`: to give up the lock takes longer than to search a token.
            return compiled_pattern(self.pattern).search(text, timeout=_TIMEOUT_SECONDS) is not None
        except TimeoutError:
            what = "takes too long"
        except (MemoryError, RecursionError):
            what = "needs too much memory"
        raise PatternOverrunError(what, printable(self.pattern[:_LONGEST_SHOWN]), printable(text[:_LONGEST_SHOWN]))
