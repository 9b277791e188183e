"""The tokens of the live text at all steps, kept up to date in time slices as the text and the history grow.

It stores the words of the text, not their positions. Each word is processed once; a new merge affects only the words
that contain its token; what an edit removes or adds is subtracted or added. Plain Python: no Qt.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import Counter, deque
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.session.text_changes import TextChanges, WordTimeline, word_timeline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.tokenizer.tokenizer import Tokenizer
    from wordpiece_studio.training.history import MergeHistory

_AT_ONCE = 16
"""How many small tasks are done between two checks of the clock."""
_BREAK = "\n"


@dataclass(frozen=True, slots=True)
class TextSummary:
    """Number of words, of tokens, and of unknown words."""

    words: int
    tokens: int
    unknown: int

    @property
    def fertility(self) -> float:
        """Tokens per word; 0 for a text without words."""
        return self.tokens / self.words if self.words else 0.0


class TextTimeline:
    """The words of a text and the steps that change them.

    Parameters
    ----------
    history, merges
        The history, of which the first `merges` merges are used.
    tokenizer
        Any tokenizer of that history; it determines how a text is split into words.
    """

    def __init__(self, history: MergeHistory, merges: int, tokenizer: Tokenizer) -> None:
        self._history = history
        self._tokenizer = tokenizer
        self._births = [0] * history.vocabulary_size(0)
        self._merges = 0
        self._searched = 0  # tokens, by id, that were searched for in the words
        self._lines: Counter[str] = Counter()
        self._new_lines: deque[tuple[str, int]] = deque()  # each with the change of its count
        self._counts: Counter[str] = Counter()
        self._special = 0
        self._known: dict[str, WordTimeline] = {}
        self._waiting: dict[str, None] = {}  # words to process, in order
        self._at: dict[int, list[int]] = {}  # step: how many words it changes, and by how many tokens in all
        self._words = self._tokens_at_start = 0
        self._unknown: Counter[str] = Counter()
        self._spelled: tuple[str, list[int], list[str]] | None = None
        self.grow(merges)
        self._searched = len(self._births)  # there are no words yet that they could affect

    def set_lines(self, lines: Sequence[str]) -> None:
        """Set the text, given as lines or segments of lines that may be tokenized separately."""
        lines_now = Counter(lines)
        changed = [(line, count - self._lines[line]) for line, count in lines_now.items() if count != self._lines[line]]
        changed += [(line, -count) for line, count in self._lines.items() if line not in lines_now]
        self._lines = lines_now
        self._new_lines += changed

    def grow(self, merges: int) -> None:
        """Take the first `merges` merges of the history into account."""
        is_new = self._history.column("is_new")[self._merges : merges]
        self._births += (np.flatnonzero(is_new) + self._merges + 1).tolist()
        self._merges = merges

    @property
    def merges(self) -> int:
        """How many merges are taken into account."""
        return self._merges

    @property
    def is_done(self) -> bool:
        """Whether all work is done."""
        return not self._new_lines and not self._waiting and self._searched == len(self._births)

    def advance(self, seconds: float) -> bool:
        """Work for about that long; return whether all work is done."""
        end = time.perf_counter() + seconds
        while not self.is_done:
            if self._new_lines:
                self._take_line(*self._new_lines.popleft())
            elif self._searched < len(self._births):
                self._search_tokens()
            else:
                self._process_words()
            if time.perf_counter() > end:
                break
        return self.is_done

    # Results.

    def rows(self) -> TextChanges:
        """Return the steps that change the text, as far as they are known."""
        steps = np.fromiter(self._at, dtype=np.int64, count=len(self._at))
        changes = np.fromiter((change for _, change in self._at.values()), dtype=np.int64, count=len(self._at))
        order = np.argsort(steps)
        return TextChanges(self._history, steps[order], changes[order], self.start.tokens)

    @property
    def start(self) -> TextSummary:
        """The text at step 0; the numbers of words and unknown words are the same at every step."""
        words = self._words + self._special
        return TextSummary(words, self._tokens_at_start + self._special, self._unknown.total())

    def unknown_words(self, limit: int) -> list[str]:
        """Return some of the distinct unknown words, at most `limit`."""
        return [word for word, _ in zip(self._unknown, range(limit), strict=False)]

    # The work.

    def _take_line(self, line: str, times: int) -> None:
        for word, is_special in self._tokenizer.split(line):
            if is_special:
                self._special += times
            else:
                self._count(word, times)

    def _count(self, word: str, times: int) -> None:
        count = self._counts[word] = self._counts[word] + times
        if word in self._known:
            self._add(word, times)
        if count:
            if word not in self._known:
                self._waiting[word] = None
            return
        del self._counts[word]
        self._known.pop(word, None)
        self._waiting.pop(word, None)
        self._spelled = None

    def _add(self, word: str, times: int) -> None:
        """Count `times` more (or fewer) of a known word."""
        timeline = self._known[word]
        self._words += times
        self._tokens_at_start += timeline.tokens_at_start * times
        if timeline.is_unknown:
            self._unknown[word] += times
            if not self._unknown[word]:
                del self._unknown[word]
        for step, change in zip(timeline.steps, timeline.changes, strict=True):
            entry = self._at.setdefault(step, [0, 0])
            entry[0] += times
            entry[1] += change * times
            if not entry[0]:
                del self._at[step]

    def _process_words(self) -> None:
        vocabulary = self._history.vocabulary(self._merges)
        for word in [word for word, _ in zip(self._waiting, range(_AT_ONCE), strict=False)]:
            del self._waiting[word]
            timeline = word_timeline(word, vocabulary, self._births, self._tokenizer.max_word_length)
            if word not in self._known:
                self._spelled = None
            elif timeline == self._known[word]:
                continue
            else:
                self._add(word, -self._counts[word])
            self._known[word] = timeline
            self._add(word, self._counts[word])

    def _search_tokens(self) -> None:
        """Find the words that contain one of the next new tokens, and queue them for processing."""
        joined, starts, words = self._joined()
        prefix = self._tokenizer.vocabulary.continuing_subword_prefix
        suffix = self._tokenizer.vocabulary.end_of_word_suffix or ""
        for token_id in range(self._searched, min(self._searched + _AT_ONCE, len(self._births))):
            token = self._history.token(token_id).removesuffix(suffix)
            # A token that is just the prefix occurs only where a word begins with these very characters.
            letters = token.removeprefix(prefix) if token.startswith(prefix) else ""
            letters = letters or _BREAK + token
            place = joined.find(letters)
            while place >= 0:
                index = bisect_right(starts, place) - 1
                self._waiting[words[index]] = None
                place = joined.find(letters, starts[index + 1])
            self._searched = token_id + 1

    def _joined(self) -> tuple[str, list[int], list[str]]:
        """Return the known words joined, each after a break; the start of each; and the words."""
        if self._spelled is None:
            words = list(self._known)
            starts = list(accumulate((len(word) + 1 for word in words), initial=0))
            self._spelled = ("".join(_BREAK + word for word in words), starts, words)
        return self._spelled
