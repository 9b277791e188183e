"""What the scoreboard says in sentences: the rule for ties, the ratio and how it is normalised, the words of a pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from wordpiece_studio.ui.widgets.formula import fraction_text, ratio_of, ratio_over_neighbours
from wordpiece_studio.ui.widgets.token_text import number_text, token_text, value_text

if TYPE_CHECKING:
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.panes.scoreboard.pair_words import PairWords, WordsWish
    from wordpiece_studio.ui.widgets.formula import PairNumbers


def _tr(text: str) -> str:
    return QCoreApplication.translate("scoreboard", text)


def value_name(objective: str) -> str:
    """Return what the value of an objective is called."""
    return {"score": _tr("score"), "likelihood": _tr("gain"), "count": _tr("count")}[objective]


def tie_rule_names(tie: str) -> tuple[str, str]:
    """Return the name of a rule for ties, and the same shorter."""
    if tie == "ids":
        return _tr("ties go to the smallest ids"), _tr("ties: smallest ids")
    return _tr("ties go to the pair that occurs first"), _tr("ties: first in the corpus")


def tie_rule_sentence(tie: str, count: int) -> str:
    """Return the rule for ties explained in one sentence, for a tie of so many pairs."""
    if tie == "ids":
        text = _tr("Tie of {count}: the pair with the smallest ids is merged, of its left token, then of its right.")
    else:
        text = _tr("Tie of {count}: the pair that occurs first is merged, in the earliest word, and there leftmost.")
    return text.format(count=number_text(count))


def tie_text(count: int, *, or_more: bool) -> str:
    """Return what stands beside a box of ties."""
    text = _tr("tie of {count} or more") if or_more else _tr("tie of {count}")
    return text.format(count=number_text(count))


def ratio_line(pair: PairNumbers, symbols: int) -> str:
    """Return the ratio of a pair in one line, with what it is normalised by."""
    text = _tr("p(ab) / (p(a) × p(b)) = {ratio}: so many times as often as by chance, with p = n / N, N = {symbols}")
    return text.format(ratio=value_text(float(ratio_of(pair, symbols))), symbols=number_text(symbols))


def ratio_sentences(pair: PairNumbers, symbols: int, words: int) -> str:
    """Return the ratio worked out, and the other way to normalise it.

    Parameters
    ----------
    symbols, words
        N, and the number of words in the corpus, both weighted.
    """
    ratio, other = ratio_of(pair, symbols), ratio_over_neighbours(pair, symbols, words)
    numbers = [number_text(n) for n in (pair.pair_frequency, symbols, pair.left_frequency, pair.right_frequency)]
    exact, value = fraction_text(ratio), value_text(float(ratio))
    equal = " = ".join(dict.fromkeys((exact, value)))
    lines = [
        "p(ab) / (p(a) × p(b)) = n(ab) × N / (n(a) × n(b)) = {} × {} / ({} × {}) = ".format(*numbers) + equal,
        _tr("All three are counts over N = {symbols}, the symbols in the corpus, so it is the score times N.").format(
            symbols=numbers[1]
        ),
    ]
    if other is not None:
        text = _tr(
            "With p(ab) over the P = {pairs} pairs of neighbours, N less the {words} words, it would be {other}."
        )
        counts = (number_text(symbols - words), number_text(words), value_text(float(other)))
        lines.append(text.format(**dict(zip(("pairs", "words", "other"), counts, strict=True))))
    return "\n".join(lines)


def words_title(wish: WordsWish, found: PairWords, history: MergeHistory) -> str:
    """Return what the words are that were found for `wish`."""
    selection = wish.selection
    if selection.kind == "word":
        return _word_title(selection.text, wish, found)
    name = (
        token_text(selection.text)
        if selection.kind == "token"
        else f"{token_text(selection.left)} + {token_text(selection.right)}"
    )
    count, shown = number_text(found.total), number_text(len(found.words))
    if found.total == 1:
        text = _tr("In one word: {name}")
    elif found.total == len(found.words) > 0:
        text = _tr("In {count} words, the most frequent first: {name}")
    elif found.total:
        text = _tr("In {count} words, the {shown} most frequent first: {name}")
    elif selection.kind == "token":
        return _absent_title(selection.text, name, history, wish.step)
    else:
        text = _tr("In no word at this step: {name}")
    return text.format(count=count, shown=shown, name=name)


def short_words_title(wish: WordsWish, found: PairWords) -> str:
    """Return how many words there are, or what happens to the one, in as little room as can be."""
    if wish.selection.kind == "word":
        return _tr("Unchanged") if found.words[0].before == found.words[0].after else _tr("Changes")
    if found.total == 1:
        return _tr("In 1 word")
    return _tr("In {count} words").format(count=number_text(found.total))


def _word_title(word: str, wish: WordsWish, found: PairWords) -> str:
    if not found.words:
        text = _tr("{word} is not a word of this corpus")
    elif found.words[0].before != found.words[0].after:
        text = _tr("{word} changes at this merge")
    else:
        text = _tr("{word} stays as it is at this merge") if wish.step else _tr("{word} before the first merge")
    return text.format(word=token_text(word))


def _absent_title(token: str, name: str, history: MergeHistory, step: int) -> str:
    """Say why no word holds a token: it is no token, is not learned yet, or has gone into longer ones."""
    token_id = history.vocabulary(len(history)).id_of(token)
    if token_id is None:
        return _tr("{name} is no token of this training").format(name=name)
    birth = history.birth_step(token_id)
    if birth > step:
        return _tr("{name} is not learned yet: step {step} makes it").format(name=name, step=number_text(birth))
    return _tr("In no word at this step: {name}").format(name=name)
