"""Which token the focus is about: the token itself, or the one that a pair makes. Plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wordpiece_studio.session.records import Focus
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary


def text_of_token(focus: Focus, vocabulary: Vocabulary) -> str:
    """Return how the token that is looked at is written, or would be; empty for a word."""
    if focus.kind == "word":
        return ""
    return focus.text if focus.kind == "token" else made_by(focus, vocabulary.continuing_subword_prefix)


def made_by(pair: Focus, prefix: str) -> str:
    """Return the token that a pair makes; `prefix` is what stands before a token that goes on with a word."""
    return pair.left + pair.right.removeprefix(prefix)


def id_of_token(focus: Focus, vocabulary: Vocabulary) -> int | None:
    """Return the id of the token that is looked at; None for a word, and if there is no such token."""
    return None if focus.kind == "word" else vocabulary.id_of(text_of_token(focus, vocabulary))
