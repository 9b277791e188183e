"""The subject of the token details, and their sentences: plain functions that return text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from PySide6.QtCore import QCoreApplication

from wordpiece_studio.session.selection import text_of_token
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.session.records import Selection
    from wordpiece_studio.session.token_details import WordGrowth
    from wordpiece_studio.training.history import MergeHistory


@dataclass(frozen=True, slots=True)
class Subject:
    """A token, a pair or a word.

    Attributes
    ----------
    kind
        ``"token"``: the token `token_id`; for a pair, the one that the pair makes. ``"pair"``: a pair whose token is
        not learned. ``"strange"``: `text` is not a token of this run. ``"word"``: the word `text`.
    text
        The token, learned or not, or the word.
    token_id, birth
        Its id, and the step that made it (0 for special tokens and the alphabet); -1 if it is not learned.
    pair
        The left and the right token, if a pair is selected.
    pair_step
        The first step that merged the pair; 0 for none.
    """

    kind: Literal["token", "pair", "strange", "word"]
    text: str
    token_id: int = -1
    birth: int = -1
    pair: tuple[str, str] | None = None
    pair_step: int = 0


def subject_of(history: MergeHistory, selection: Selection, end: int) -> Subject:
    """Return the subject of a selection, considering the first `end` merges."""
    if selection.kind == "word":
        return Subject("word", selection.text)
    vocabulary = history.vocabulary(end)
    pair, text, step = None, text_of_token(selection, vocabulary), 0
    if selection.kind == "pair":
        pair = (selection.left, selection.right)
        step = _step_of_pair(history, vocabulary.id_of(selection.left), vocabulary.id_of(selection.right), end)
    token_id = vocabulary.id_of(text)
    if token_id is None:
        return Subject("strange" if pair is None else "pair", text, pair=pair)
    return Subject("token", text, token_id, history.birth_step(token_id), pair, step)


def _step_of_pair(history: MergeHistory, left: int | None, right: int | None, end: int) -> int:
    if left is None or right is None:
        return 0
    found = np.flatnonzero((history.column("left_id")[:end] == left) & (history.column("right_id")[:end] == right))
    return int(found[0]) + 1 if len(found) else 0


def children_of(history: MergeHistory, token_id: int, end: int) -> NDArray[np.int64]:
    """Return the steps, from 1, of those of the first `end` merges that used a token as a part: int64, ascending."""
    lefts, rights = history.column("left_id")[:end], history.column("right_id")[:end]
    return np.flatnonzero((lefts == token_id) | (rights == token_id)) + 1


def summary(subject: Subject, special: int, step: int) -> str:
    """Return the line below the token: id, kind and birth; `special` is the number of special tokens."""
    if subject.token_id < special:
        kind = _tr("special token")
    elif not subject.birth:
        kind = _tr("in the alphabet from the start")
    elif subject.birth > step:
        kind = _tr("not yet born at step {step}; born at {birth}")
    else:
        kind = _tr("born at step {birth}")
    numbers = {"step": number_text(step), "birth": number_text(subject.birth)}
    return _tr("id {id}").format(id=number_text(subject.token_id)) + " · " + kind.format(**numbers)


def usage_text(frequency: int, words: int) -> str:
    """Return how often longest match uses a token on the corpus."""
    if not frequency:
        return ""
    if frequency == 1:
        return _tr("Longest match uses it once on the corpus.")
    if words == 1:
        return _tr("Longest match uses it {count} times on the corpus, in one word.").format(
            count=number_text(frequency)
        )
    text = _tr("Longest match uses it {count} times on the corpus, in {words} distinct words.")
    return text.format(count=number_text(frequency), words=number_text(words))


def unknown_text(words: int, occurrences: int) -> str:
    """Return in how many distinct words the unknown token is used, and how often they occur."""
    if not words:
        return _tr("No word in the corpus is unknown.")
    if words == occurrences == 1:
        return _tr("One word in the corpus is unknown.")
    if words == 1:
        return _tr("One word in the corpus is unknown; it occurs {count} times.").format(count=number_text(occurrences))
    text = _tr("{words} distinct words in the corpus are unknown; they occur {count} times.")
    return text.format(words=number_text(words), count=number_text(occurrences))


def other_origin(subject: Subject) -> str:
    """Return what is unusual about a pair whose token exists; empty if nothing is."""
    if subject.pair is None or subject.pair_step == subject.birth:
        return ""
    left, right = map(token_text, subject.pair)
    if subject.pair_step:
        text = _tr("The pair {left} + {right} made it again at step {step}.")
    else:
        text = _tr("The pair {left} + {right} was not merged; another pair made the token.")
    return text.format(left=left, right=right, step=number_text(subject.pair_step))


def unborn_pair(formula: str = "", step: int = 0) -> str:
    """Return that a pair is not learned, with its value at a step if that is known."""
    text = _tr("Not learned yet.")
    if not formula:
        return text
    return f"{text} {_tr('A candidate after {step} merges: {formula}').format(step=number_text(step), formula=formula)}"


def growth_text(growth: WordGrowth, step: int) -> str:
    """Return how often a word occurs, and since when it has been a single token."""
    if growth.index is None:
        return _tr("Not a word of the training corpus.")
    if growth.count == 1:
        parts = [_tr("Once in the corpus.")]
    else:
        parts = [_tr("{count} times in the corpus.").format(count=number_text(growth.count))]
    if growth.is_whole and not growth.steps:
        parts.append(_tr("A single symbol from the start."))
    elif growth.is_whole:
        last = growth.steps[-1]
        text = _tr("One token since step {step}.") if last <= step else _tr("One token from step {step}.")
        parts.append(text.format(step=number_text(last)))
    else:
        parts.append(_tr("Still several tokens after the last merge."))
    return " ".join(parts)


def _tr(text: str) -> str:
    return QCoreApplication.translate("TokenDetails", text)
