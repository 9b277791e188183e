"""What is known for the token details at the step, and what follows from it; no widget is here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from wordpiece_studio.ui.panes.token_details import details_text
from wordpiece_studio.ui.panes.token_details.chip_flow import FlowItem
from wordpiece_studio.ui.panes.token_details.details_items import chip
from wordpiece_studio.ui.widgets.dead_text import dead_sentence
from wordpiece_studio.ui.widgets.formula import formula_of
from wordpiece_studio.ui.widgets.token_text import token_text

if TYPE_CHECKING:
    from wordpiece_studio.session.records import Candidates
    from wordpiece_studio.session.token_details import TokenWords, WordGrowth
    from wordpiece_studio.session.token_usage import TokenUsage
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.engine import Candidate, Merge
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.panes.token_details.details_subject import Subject

FEW, MANY = 24, 500
"""So many children, or steps of a word, are shown at first, and at most."""


class DetailsState:
    """The answers that came last, and the model.

    Attributes
    ----------
    words, growth, candidates
        The latest ones; they may be about something else by now.
    most_children
        So many children are to be shown.
    """

    def __init__(self, model: TrainerModel, usage: TokenUsage) -> None:
        self.model = model
        self.usage = usage
        self.words: TokenWords | None = None
        self.growth: WordGrowth | None = None
        self.candidates: Candidates | None = None
        self.most_children = FEW

    @property
    def number_of_special(self) -> int:
        """The number of special tokens."""
        config = self.model.config
        return len(config.special_tokens) if config is not None else 0

    @property
    def _unknown_token(self) -> str:
        vocabulary = self.model.vocabulary_at(self.model.step)
        return vocabulary.unk_token if vocabulary is not None else ""

    def formula(self, pair: Merge | Candidate, symbols: int) -> str:
        """Return the value of a pair with the numbers it was computed from; `symbols` is N before the merge."""
        config = self.model.config
        formula = formula_of(config.objective if config is not None else "score", pair, symbols)
        return f"{formula.numbers or formula.rule} = {formula.value}"

    def value_name(self) -> str:
        """Return what the value of a pair is called; empty for the count, whose formula says it."""
        names = {"score": _tr("score"), "likelihood": _tr("gain"), "count": ""}
        return names[self.model.config.objective if self.model.config is not None else "score"]

    # -- of a token

    def is_dead(self, subject: Subject) -> bool:
        """Return whether it is known that the token is never used at this step."""
        return self.usage.is_current and self.usage.reason(subject.token_id) is not None

    def use(self, subject: Subject) -> str:
        """Return how often the token is used, or why it never is; empty if that is not known."""
        usage, token_id = self.usage, subject.token_id
        if subject.birth > self.model.step or not usage.is_current or token_id >= len(usage.frequencies):
            return ""
        if token_id < self.number_of_special and subject.text == self._unknown_token:
            return details_text.unknown_text(*usage.unknown_words)
        reason = usage.reason(token_id)
        if reason is None:
            return details_text.usage_text(int(usage.frequencies[token_id]), int(usage.word_counts[token_id]))
        words = self.words
        return dead_sentence(reason, words.spelled if words is not None and words.token_id == token_id else None)

    # -- of a pair

    def unlearned(self, history: MergeHistory, subject: Subject) -> str:
        """Return that what is looked at is not learned, and a pair's numbers if it is among the candidates."""
        if subject.pair is None:
            return _tr("It is not in the vocabulary of this training.")
        candidates = self.candidates
        if candidates is None or abs(candidates.step - self.model.step) > 1:
            return details_text.unborn_pair()
        found = next((each for each in candidates.pairs if (each.left, each.right) == subject.pair), None)
        if found is None:
            return details_text.unborn_pair()
        return details_text.unborn_pair(self.formula(found, history.symbols_after(candidates.step)), candidates.step)

    # -- of a word

    def growth_of(self, subject: Subject) -> WordGrowth | None:
        """Return how the word grew, if that is known."""
        return self.growth if self.growth is not None and self.growth.word == subject.text else None

    def word_items(self, history: MergeHistory, subject: Subject) -> list[FlowItem]:
        """Return the tokens of a word as it was merged; of one that was not trained on, as longest match cuts it."""
        growth = self.growth_of(subject)
        if growth is None:
            return [FlowItem(subject.text, "word")]
        if growth.index is not None:
            return [chip(token) for token in history.segmentations.tokens(growth.index, self.model.step)]
        return [chip(token) for token in self.longest_match(subject.text)]

    def longest_match(self, word: str) -> list[str]:
        """Return the tokens into which longest match cuts a word at this step."""
        tokenizer = self.model.tokenizer_at(self.model.step)
        if tokenizer is None:
            return []
        spans = tokenizer.spans(word)
        return [tokenizer.vocabulary.unk_token] if spans is None else [token for token, _, _ in spans]

    def cut_otherwise(self, history: MergeHistory, subject: Subject) -> str:
        """Return how longest match cuts a word of the corpus, if that is not how it was merged."""
        growth = self.growth_of(subject)
        if growth is None or growth.index is None:
            return ""
        found = self.longest_match(subject.text)
        if found == history.segmentations.tokens(growth.index, self.model.step):
            return ""
        text = _tr("Longest match cuts it otherwise: {tokens}")
        return text.format(tokens=" ".join(map(token_text, found)))


def _tr(text: str) -> str:
    return QCoreApplication.translate("TokenDetails", text)
