"""What the token details know at the current step, and what follows from it: their subject, sentences and items.

No widgets here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from PySide6.QtCore import QCoreApplication

from wordpiece_studio.libraries.library_child import WORD_MARK
from wordpiece_studio.session.breakpoints import step_of_pair, text_of_token
from wordpiece_studio.session.plural import plural
from wordpiece_studio.session.task import Task
from wordpiece_studio.session.token_usage import growth_of_word, words_of_token
from wordpiece_studio.session.vocabulary_table import score_text
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.panes.token_details.merge_tree_view import merges_of
from wordpiece_studio.ui.widgets.chip_style import FlowItem
from wordpiece_studio.ui.widgets.token_text import dead_sentence, formula_of, number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray
    from PySide6.QtCore import QObject

    from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer, Segmentation
    from wordpiece_studio.session.run import Candidates
    from wordpiece_studio.session.token_usage import TokenUsage, TokenWords, WordGrowth
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.config import Objective
    from wordpiece_studio.training.engine import Candidate, Merge
    from wordpiece_studio.training.history import MergeHistory, MergeTree

_tr = partial(QCoreApplication.translate, "TokenDetails")


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
    if selection.kind == "word":
        return Subject("word", selection.text)
    vocabulary = history.vocabulary(end)
    pair, text, step = None, text_of_token(selection, vocabulary), 0
    if selection.kind == "pair":
        pair = (selection.left, selection.right)
        step = step_of_pair(selection, history, end) or 0
    token_id = vocabulary.id_of(text)
    if token_id is None:
        return Subject("strange" if pair is None else "pair", text, pair=pair)
    return Subject("token", text, token_id, history.birth_step(token_id), pair, step)


def children_of(history: MergeHistory, token_id: int, end: int) -> NDArray[np.int64]:
    """Return the steps, from 1, of those of the first `end` merges that used a token as a part: int64, ascending."""
    lefts, rights = history.column("left_id")[:end], history.column("right_id")[:end]
    return np.flatnonzero((lefts == token_id) | (rights == token_id)) + 1


def birth_text(subject: Subject, special: int, step: int, history: MergeHistory) -> str:
    """Return the line below the token: id, kind and birth; `special` is the number of special tokens."""
    if subject.token_id < special:
        kind = _tr("special token")
    elif history.scores is not None:
        kind = _tr("score {score}").format(score=score_text(history.scores[subject.token_id]))
    elif not history.has_steps:
        kind = _tr("trained with another library")
    elif not subject.birth:
        kind = _tr("in the alphabet from the start")
    elif subject.birth > step:
        kind = _tr("not created until step {birth}; now at step {step}")
    else:
        kind = _tr("created at step {birth}")
    numbers = {"step": number_text(step), "birth": number_text(subject.birth)}
    return _tr("ID {id}").format(id=number_text(subject.token_id)) + " · " + kind.format(**numbers)


def usage_text(frequency: int, words: int, *, is_as_trained: bool = False) -> str:
    """Return how often a token is used on the corpus, or stands in the words as they were trained."""
    if not frequency:
        return _tr("No word of the corpus contains it.") if is_as_trained else ""
    if is_as_trained:
        text = plural(
            frequency,
            "It occurs once in the corpus.",
            "It occurs {count} times in the corpus; distinct words: {words}.",
        )
    else:
        text = plural(
            frequency,
            "It is used once in the corpus.",
            "It is used {count} times in the corpus; distinct words: {words}.",
        )
    return text.format(count=number_text(frequency), words=number_text(words))


def unknown_text(words: int, occurrences: int) -> str:
    """Return in how many distinct words the unknown token is used, and how often they occur."""
    if not words:
        return _tr("No word in the corpus is unknown.")
    text = plural(
        words,
        "One word in the corpus is unknown; occurrences: {count}.",
        "{words} distinct words in the corpus are unknown; occurrences: {count}.",
    )
    return text.format(words=number_text(words), count=number_text(occurrences))


def other_origin(subject: Subject) -> str:
    """Return what is unusual about a pair whose token exists; empty if nothing is."""
    if subject.pair is None or subject.pair_step == subject.birth:
        return ""
    left, right = map(token_text, subject.pair)
    if subject.pair_step:
        text = _tr("The pair {left} + {right} created it again at step {step}.")
    else:
        text = _tr("The pair {left} + {right} was not merged; another pair created the token.")
    return text.format(left=left, right=right, step=number_text(subject.pair_step))


def unborn_pair(formula: str = "", step: int = 0) -> str:
    """Return that a pair is not learned, with its value at a step if that is known."""
    if not formula:
        return _tr("Not learned yet.")
    text = plural(
        step,
        "Not learned yet. A candidate after 1 merge: {formula}",
        "Not learned yet. A candidate after {step} merges: {formula}",
    )
    return text.format(step=number_text(step), formula=formula)


def growth_text(growth: WordGrowth, step: int) -> str:
    """Return how often a word occurs, and since when it has been a single token; step -1: there are no steps."""
    if growth.index is None:
        return _tr("Not a word of the training corpus.")
    times = plural(growth.count, "Once in the corpus.", "{count} times in the corpus.")
    parts = [times.format(count=number_text(growth.count))]
    if step < 0:
        return " ".join(parts)
    if growth.is_whole and not growth.steps:
        parts.append(_tr("A single symbol from the start."))
    elif growth.is_whole:
        last = growth.steps[-1]
        text = _tr("One token since step {step}.") if last <= step else _tr("One token from step {step}.")
        parts.append(text.format(step=number_text(last)))
    else:
        parts.append(_tr("Still several tokens after the last merge."))
    return " ".join(parts)


MORE = "more"
"""The target of the link that shows the rest of a list."""
FEW, MANY = 24, 500
"""How many children, or steps of a word, are shown at first and at most."""


def chip(token: str, *, faded: bool = False, selected: bool = False, tip: str = "") -> FlowItem:
    return FlowItem(token, "chip", Selection("token", text=token), tip or token_text(token, 400), faded, selected)


def word_item(word: str, count: int = 0) -> FlowItem:
    times = f" ×{number_text(count)}" if count > 1 else ""
    return FlowItem(f"{token_text(word, 40)}{times}", "word", Selection("word", text=word), token_text(word, 400))


def step_item(step: int, now: int) -> FlowItem:
    tip = _tr("Go to step {step}").format(step=number_text(step))
    return FlowItem(number_text(step), "link", step, tip, faded=step > now)


def chain_items(history: MergeHistory, tree: MergeTree, now: int) -> list[list[FlowItem]]:
    """Return the merges that made a token, one list per merge: ``##fu + ##l → ##ful``, then ``+ ##l → ##full``.

    A merge whose left part is not the previous result starts over with both parts.
    """
    groups: list[list[FlowItem]] = []
    made = -1
    for merge in merges_of(tree):
        assert merge.left is not None  # this is a merge
        assert merge.right is not None
        faded = merge.step > now
        left, right, token = (history.token(node.token_id) for node in (merge.left, merge.right, merge))
        group = [] if merge.left.token_id == made else [chip(left, faded=faded)]
        if group and groups:
            group.insert(0, FlowItem("·"))
        tip = _tr("{token}, created at step {step}").format(token=token_text(token), step=number_text(merge.step))
        group += [FlowItem("+"), chip(right, faded=faded), FlowItem("→")]
        group.append(chip(token, faded=faded, selected=merge is tree, tip=tip))
        groups.append(group)
        made = merge.token_id
    return groups


def shortened(groups: Sequence[Sequence[FlowItem]], first: int) -> list[FlowItem]:
    """Return the merges of a chain from index `first` on, after an ellipsis for those left out."""
    items = [item for group in groups[first:] for item in group]
    if not first:
        return items
    return [FlowItem("…"), *(items[1:] if items and items[0].text == "·" else items)]


def children_items(history: MergeHistory, steps: Iterable[int], now: int) -> list[FlowItem]:
    items: dict[str, FlowItem] = {}
    for step in steps:
        token = history.token(int(history.column("new_id")[step - 1]))
        tip = _tr("{token}, created at step {step}").format(token=token_text(token), step=number_text(step))
        items.setdefault(token, chip(token, faded=step > now, tip=tip))
    return list(items.values())


def _best_splits(library: LibraryTokenizer, text: str) -> list[Segmentation]:
    return library.best_segmentations(text.removeprefix(WORD_MARK) if library.kind == "SentencePiece" else text)


class DetailsState:
    """The model, and what is looked up about the subject; answers may be about an earlier one.

    Attributes
    ----------
    words, growth, best
        Find the words with a token, the growth of a word, and its best splits by the library that trained the run.
    most_children
        How many children to show.
    """

    def __init__(self, model: TrainerModel, usage: TokenUsage, parent: QObject) -> None:
        self.model = model
        self.usage = usage
        self.words = Task(words_of_token, "The words with a token cannot be found", parent)
        self.growth = Task(growth_of_word, "The words with a token cannot be found", parent)
        self.best = Task(_best_splits, "The best splits cannot be found", parent)
        self.tasks = self.words, self.growth, self.best
        self.candidates: Candidates | None = None
        self.most_children = FEW

    def forget(self) -> None:
        self.candidates = None
        for task in self.tasks:
            task.stop()
            task.answer = task.answered = None

    def look_up(self, history: MergeHistory, subject: Subject, *, with_words: bool) -> None:
        """Find out what needs a search of the whole corpus, or another library."""
        model, usage = self.model, self.usage
        if subject.kind == "word":
            self.growth.ask(history, subject.text, model.merge_count)
        elif subject.kind == "token" and subject.birth <= model.step and with_words:
            reasons = usage.reasons if self.is_dead(subject) else None
            self.words.ask(history, subject.token_id, model.step, reasons)
        run, is_special = model.run, 0 <= subject.token_id < self.number_of_special
        if run is not None and run.library is not None and run.has_best_segmentations and not is_special:
            self.best.ask(run.library, subject.text)
        else:
            self.best.stop()

    def words_at(self, subject: Subject) -> TokenWords | None:
        request = self.words.answered
        is_this = request is not None and request[1:3] == (subject.token_id, self.model.step)
        return self.words.answer if is_this else None

    def best_text(self, word: str) -> str:
        """Return the best segmentations of a word by another library, if it has scores and they are known."""
        if self.best.error is not None:
            return str(self.best.error)
        if self.best.answered is None or self.best.answered[1] != word or not self.best.answer:
            return ""
        lines = [f"{score_text(each.score)}   {' '.join(map(token_text, each.tokens))}" for each in self.best.answer]
        return "\n".join([_tr("Most probable splits, with log probabilities:"), *lines])

    @property
    def number_of_special(self) -> int:
        config = self.model.config
        return len(config.reserved_tokens) if config is not None else 0

    @property
    def _objective(self) -> Objective:
        return self.model.config.objective if self.model.config is not None else "score"

    def formula(self, pair: Merge | Candidate, symbols: int) -> str:
        """Return the value of a pair with the numbers it was computed from; `symbols` is N before the merge."""
        formula = formula_of(self._objective, pair, symbols)
        return f"{formula.numbers or formula.rule} = {formula.value}"

    def named_formula(self, pair: Merge | Candidate, symbols: int) -> str:
        """Return `formula` after the name of the value; the formula of the count has it."""
        texts = {"score": _tr("score {formula}"), "likelihood": _tr("gain {formula}"), "count": "{formula}"}
        return texts[self._objective].format(formula=self.formula(pair, symbols))

    # -- a token

    def is_dead(self, subject: Subject) -> bool:
        return self.usage.is_current and self.usage.reason(subject.token_id) is not None

    def use(self, subject: Subject) -> str:
        usage, token_id = self.usage, subject.token_id
        if subject.birth > self.model.step or not usage.is_current or token_id >= len(usage.frequencies):
            return ""
        vocabulary = self.model.vocabulary_at(self.model.step)
        if token_id < self.number_of_special and vocabulary is not None and subject.text == vocabulary.unk_token:
            return unknown_text(*usage.unknown_words)
        reason = usage.reason(token_id)
        if reason is None:
            figures = int(usage.frequencies[token_id]), int(usage.word_counts[token_id])
            return usage_text(*figures, is_as_trained=usage.reasons is None)
        words, request = self.words.answer, self.words.answered
        return dead_sentence(reason, words.spelled if request is not None and request[1] == token_id else None)

    # -- a pair

    def unlearned(self, history: MergeHistory, subject: Subject) -> str:
        """Return that the subject is not learned, and a pair's numbers if it is among the candidates."""
        if subject.pair is None:
            return _tr("Not in the vocabulary of this run.")
        candidates = self.candidates
        if candidates is None or abs(candidates.step - self.model.step) > 1:
            return unborn_pair()
        found = next((each for each in candidates.pairs if (each.left, each.right) == subject.pair), None)
        if found is None:
            return unborn_pair()
        return unborn_pair(self.formula(found, history.symbols_after(candidates.step)), candidates.step)

    # -- a word

    def growth_said(self, history: MergeHistory, subject: Subject) -> str:
        growth = self.growth_of(subject)
        return "" if growth is None else growth_text(growth, self.model.step if history.has_steps else -1)

    def growth_of(self, subject: Subject) -> WordGrowth | None:
        request = self.growth.answered
        return self.growth.answer if request is not None and request[1] == subject.text else None

    def word_items(self, history: MergeHistory, subject: Subject) -> list[FlowItem]:
        """Return the tokens of a word as merged; for one not in the training corpus, as longest match splits it."""
        growth = self.growth_of(subject)
        if growth is None:
            return [FlowItem(subject.text, "word")]
        if growth.index is not None:
            return [chip(token) for token in history.segmentations.tokens(growth.index, self.model.step)]
        return [chip(token) for token in self.longest_match(subject.text)]

    def longest_match(self, word: str) -> list[str]:
        tokenizer = self.model.tokenizer_at(self.model.step)
        if tokenizer is None:
            return []
        spans = tokenizer.spans(word)
        return [tokenizer.vocabulary.unk_token] if spans is None else [token for token, _, _ in spans]

    def cut_otherwise(self, history: MergeHistory, subject: Subject) -> str:
        """Return how longest match splits a word of the corpus, if that differs from how it was merged."""
        growth = self.growth_of(subject)
        if growth is None or growth.index is None:
            return ""
        found = self.longest_match(subject.text)
        if found == history.segmentations.tokens(growth.index, self.model.step):
            return ""
        text = _tr("Longest match splits it differently: {tokens}")
        return text.format(tokens=" ".join(map(token_text, found)))
