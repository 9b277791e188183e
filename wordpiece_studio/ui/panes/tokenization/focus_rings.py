"""Which chips of a word stand for the focus: a token, a pair and what it makes, or all chips of a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.session.selection import made_by

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from wordpiece_studio.session.records import Focus
    from wordpiece_studio.tokenizer.tokenizer import TokenizedWord


def rings_of(focus: Focus, prefix: str) -> Callable[[TokenizedWord], Container[int]]:
    """Return what tells the indices of the chips of a word that are in the focus.

    Parameters
    ----------
    prefix
        What stands before a token that goes on with a word: a pair is found again in the token that it makes.
    """
    if focus.kind == "word":
        return lambda word: range(len(word.pieces)) if word.word is not None and word.word.text == focus.text else ()
    if focus.kind == "token":
        return lambda word: [at for at, piece in enumerate(word.pieces) if piece.token == focus.text]
    made = made_by(focus, prefix)

    def of_pair(word: TokenizedWord) -> set[int]:
        tokens = [piece.token for piece in word.pieces]
        pairs = [at for at in range(len(tokens) - 1) if (tokens[at], tokens[at + 1]) == (focus.left, focus.right)]
        return {*pairs, *(at + 1 for at in pairs), *(at for at, token in enumerate(tokens) if token == made)}

    return of_pair
