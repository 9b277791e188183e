"""The sentences of the scoreboard: the tie rule, the ratio and how it is normalized, the words of a pair."""

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
    """Return the name of the value of an objective."""
    return {"score": _tr("score"), "likelihood": _tr("gain"), "count": _tr("count")}[objective]


def tie_rule_names(tie: str) -> tuple[str, str]:
    """Return the name of a tie rule, and a shorter form."""
    if tie == "ids":
        return _tr("ties go to the smallest ids"), _tr("ties: smallest ids")
    return _tr("ties go to the pair that occurs first"), _tr("ties: first in the corpus")


def tie_rule_sentence(tie: str, count: int) -> str:
    """Return the tie rule explained in one sentence, for a tie of `count` pairs."""
    if tie == "ids":
        text = _tr(
            "Tie of {count}: the pair with the smallest left id is merged; if these are equal, the smallest right id."
        )
    else:
        text = _tr("Tie of {count}: the pair that occurs first is merged (earliest word, then leftmost in it).")
    return text.format(count=number_text(count))


def tie_text(count: int, *, or_more: bool) -> str:
    """Return the text of a tie box."""
    text = _tr("tie of {count} or more") if or_more else _tr("tie of {count}")
    return text.format(count=number_text(count))


def ratio_line(pair: PairNumbers, symbols: int) -> str:
    """Return the ratio of a pair in one line, with what it is normalized by."""
    text = _tr("p(ab) / (p(a) × p(b)) = {ratio} (times as often as by chance), with p = n / N, N = {symbols}")
    return text.format(ratio=value_text(float(ratio_of(pair, symbols))), symbols=number_text(symbols))


def ratio_sentences(pair: PairNumbers, symbols: int, words: int) -> str:
    """Return the ratio worked out, and the other way to normalize it.

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
        _tr(
            "All three p are counts over N = {symbols}, the symbols in the corpus, so the ratio is the score times N."
        ).format(symbols=numbers[1]),
    ]
    if other is not None:
        text = _tr(
            "With p(ab) taken over the P = {pairs} adjacent pairs (N minus the {words} words), it would be {other}."
        )
        counts = (number_text(symbols - words), number_text(words), value_text(float(other)))
        lines.append(text.format(**dict(zip(("pairs", "words", "other"), counts, strict=True))))
    return "\n".join(lines)


def words_title(wish: WordsWish, found: PairWords, history: MergeHistory) -> str:
    """Return the title of the words found for `wish`."""
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
        text = _tr("In {count} words, most frequent first: {name}")
    elif found.total:
        text = _tr("In {count} words, of which the {shown} most frequent: {name}")
    elif selection.kind == "token":
        return _absent_title(selection.text, name, history, wish.step)
    else:
        text = _tr("In no word at this step: {name}")
    return text.format(count=count, shown=shown, name=name)


def short_words_title(wish: WordsWish, found: PairWords) -> str:
    """Return, as briefly as possible, how many words there are, or what happens to the only one."""
    if wish.selection.kind == "word":
        return _tr("Unchanged") if found.words[0].before == found.words[0].after else _tr("Changes")
    if found.total == 1:
        return _tr("In 1 word")
    return _tr("In {count} words").format(count=number_text(found.total))


def _word_title(word: str, wish: WordsWish, found: PairWords) -> str:
    if not found.words:
        text = _tr("{word} is not a word of this corpus")
    elif found.words[0].before != found.words[0].after:
        text = _tr("{word} is changed by this merge")
    else:
        text = _tr("{word} is unchanged by this merge") if wish.step else _tr("{word} before the first merge")
    return text.format(word=token_text(word))


def _absent_title(token: str, name: str, history: MergeHistory, step: int) -> str:
    """Return why no word contains a token: it is not a token, not learned yet, or was absorbed by longer ones."""
    token_id = history.vocabulary(len(history)).id_of(token)
    if token_id is None:
        return _tr("{name} is not a token of this run").format(name=name)
    birth = history.birth_step(token_id)
    if birth > step:
        return _tr("{name} is not learned until step {step}").format(name=name, step=number_text(birth))
    return _tr("In no word at this step: {name}").format(name=name)
