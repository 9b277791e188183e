"""The fewest tokens of a vocabulary that a word can be split into: what longest match, which is greedy, may miss."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary


class FewestTokens:
    """Finds the fewest tokens by a shortest path from the beginning of a word to its end, token by token."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        prefix = vocabulary.continuing_subword_prefix
        self._suffix = vocabulary.end_of_word_suffix or ""
        self._first = {*vocabulary.pieces}
        self._others = {token[len(prefix) :] for token in self._first if token.startswith(prefix)}
        self._longest = vocabulary.longest

    def number(self, word: str) -> int:
        """Return the fewest tokens of a word, which is neither normalized nor split; 0 if there are none.

        >>> from wordpiece_studio.tokenizer.vocabulary import Vocabulary
        >>> FewestTokens(Vocabulary(["ab", "a", "##c", "##d", "##bcd"])).number("abcd")  # longest match: ab ##c ##d
        2
        """
        suffix, length = self._suffix, len(word)
        known, tokens, reached, seen = self._first, 1, {0}, {0}
        while reached:
            if any(word[start:] + suffix in known for start in reached):
                return tokens
            ends = length - (not suffix)  # a suffix may be a token of its own
            reached = {
                end
                for start in reached
                for end in range(start + 1, min(start + self._longest, ends) + 1)
                if end not in seen and word[start:end] in known
            }
            seen |= reached
            known, tokens = self._others, tokens + 1
        return 0
