"""The steps of a training that change how a text is tokenized, found without training or tokenizing at every step.

A step changes a word only if it makes a token that is spelled inside the word. So for each distinct word the steps of
those tokens are looked up, and the word is tokenized at these steps only. Plain Python: no Qt.

Example: with ``Th`` born at step 9 and ``##is`` at step 12, "This" is tokenized at the steps 0, 9 and 12.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wordpiece_studio.core.encoder import Tokenizer
    from wordpiece_studio.core.training.history import MergeHistory
    from wordpiece_studio.core.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class StripRow:
    """A step that changed the text: its number, the token it made, and how many tokens the text has after it."""

    step: int
    token: str
    tokens: int


def film_strip(
    words: Mapping[str, int],
    history: MergeHistory,
    merges: int,
    tokenizer_at: Callable[[int], Tokenizer | None],
) -> list[StripRow]:
    """Return the steps that change the tokens of these words, in order.

    Parameters
    ----------
    words
        How often each distinct word occurs in the text.
    merges
        How many merges of the history count.
    tokenizer_at
        Returns the tokenizer of a moment.
    """
    vocabulary = history.vocabulary(merges)
    concerned: dict[int, list[str]] = {}
    for word in words:
        for step in _steps_inside(word, vocabulary, history):
            concerned.setdefault(step, []).append(word)
    tokens = {word: _tokens(word, tokenizer_at(0)) for word in words}
    total = sum(len(tokens[word]) * count for word, count in words.items())
    rows = []
    for step in sorted(concerned):
        tokenizer = tokenizer_at(step)
        is_changed = False
        for word in concerned[step]:
            now = _tokens(word, tokenizer)
            if now != tokens[word]:
                is_changed = True
                total += (len(now) - len(tokens[word])) * words[word]
                tokens[word] = now
        if is_changed:
            rows.append(StripRow(step, history[step - 1].token, total))
    return rows


def _steps_inside(word: str, vocabulary: Vocabulary, history: MergeHistory) -> set[int]:
    """Return the steps that made a token which is spelled inside the word."""
    steps: set[int] = set()
    suffix = vocabulary.end_of_word_suffix or ""
    for start in range(len(word)):
        prefix = vocabulary.continuing_subword_prefix if start else ""
        for end in range(start + 1, min(len(word), start + vocabulary.longest) + 1):
            endings = ("", suffix) if suffix and end == len(word) else ("",)
            for ending in endings:
                token_id = vocabulary.id_of(prefix + word[start:end] + ending)
                if token_id is not None:
                    steps.add(history.birth_step(token_id))
    return steps - {0}


def _tokens(word: str, tokenizer: Tokenizer | None) -> tuple[str, ...]:
    return tokenizer.explain(word).tokens if tokenizer is not None else ()
