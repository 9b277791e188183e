"""Fills the parts of the token details: for a token, for what is not learned, for a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from wordpiece_studio.ui.panes.token_details import details_text
from wordpiece_studio.ui.panes.token_details.chip_flow import FlowItem
from wordpiece_studio.ui.panes.token_details.details_items import children_items, chip, more_item, step_item, word_item
from wordpiece_studio.ui.panes.token_details.details_state import MANY
from wordpiece_studio.ui.panes.token_details.details_subject import children_of
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.panes.token_details.details_body import DetailsBody
    from wordpiece_studio.ui.panes.token_details.details_state import DetailsState
    from wordpiece_studio.ui.panes.token_details.details_subject import Subject

_MOST_NAME = 400  # characters that a screen reader is given


class DetailsFiller:
    """Shows in a body what is known of a subject."""

    def __init__(self, body: DetailsBody, state: DetailsState) -> None:
        self._body = body
        self._state = state

    def fill(self, history: MergeHistory, subject: Subject) -> None:
        """Show `subject` at the step."""
        if subject.kind == "word":
            self._fill_word(history, subject)
        elif subject.kind == "token":
            self._fill_token(history, subject)
        else:
            self._fill_unlearned(history, subject)

    # -- a token

    def _fill_token(self, history: MergeHistory, subject: Subject) -> None:
        step, body, name = self._state.model.step, self._body, token_text(subject.text, _MOST_NAME)
        item = FlowItem(subject.text, "chip", tip=name, faded=subject.birth > step)
        body.show_head(item, name, details_text.summary(subject, self._state.number_of_special, step), subject.birth)
        self._fill_formula(history, subject)
        body.show_facts(details_text.other_origin(subject), self._state.use(subject))
        body.tree.show_tree(history, history.merge_tree(subject.token_id), step)
        body.parts.show_items("", [])
        self._fill_children(history, subject)
        self._fill_words(subject)

    def _fill_formula(self, history: MergeHistory, subject: Subject) -> None:
        if not subject.birth:
            self._body.formula.show_items([], "")
            return
        merge = history[subject.birth - 1]
        faded = subject.birth > self._state.model.step
        formula = f"{self._state.value_name()} {self._state.formula(merge, merge.symbols_before)}".strip()
        items = [chip(merge.left, faded=faded), FlowItem("+"), chip(merge.right, faded=faded)]
        items.append(FlowItem(formula, faded=faded))
        name = _tr("Parts of {token} and the value of their merge").format(token=token_text(subject.text))
        self._body.formula.show_items(items, name)

    def _fill_children(self, history: MergeHistory, subject: Subject) -> None:
        model, most = self._state.model, self._state.most_children
        steps = children_of(history, subject.token_id, model.merge_count)
        items = children_items(history, steps[:most].tolist(), model.step)
        if len(steps) > most and most < MANY:
            items.append(more_item(len(steps) - most))
        heading = _tr("Taken up by {count} merges") if len(steps) != 1 else _tr("Taken up by one merge")
        self._body.children_.show_items(heading.format(count=number_text(len(steps))) if items else "", items)

    def _fill_words(self, subject: Subject) -> None:
        words, step = self._state.words, self._state.model.step
        is_special = subject.token_id < self._state.number_of_special  # no word is merged into one
        is_of_another = words is None or (words.token_id, words.step) != (subject.token_id, step)
        if words is None or is_of_another or is_special or subject.birth > step:
            self._body.words.show_items("", [])
            return
        items = [word_item(word, count) for word, count in words.words]
        if not words.total:
            heading = _tr("Stands in no word at this step")
        elif words.total == 1:
            heading = _tr("Stands in one word at this step")
        else:
            heading = _tr("Stands in {count} words at this step, the most frequent first")
        if words.total > len(words.words):
            items.append(FlowItem("…"))
        self._body.words.show_items(heading.format(count=number_text(words.total)), items)

    # -- what is no token

    def _fill_unlearned(self, history: MergeHistory, subject: Subject) -> None:
        body, item = self._body, FlowItem(subject.text, "chip", faded=True)
        body.show_head(item, token_text(subject.text, _MOST_NAME), self._state.unlearned(history, subject))
        formula: list[FlowItem] = []
        if subject.pair is not None:
            left, right = subject.pair
            formula = [chip(left), FlowItem("+"), chip(right), FlowItem("→"), item]
        body.formula.show_items(formula, _tr("The pair"))
        body.show_facts()
        body.show_no_lists()

    # -- a word

    def _fill_word(self, history: MergeHistory, subject: Subject) -> None:
        state, body, now = self._state, self._body, self._state.model.step
        growth = state.growth_of(subject)
        summary = details_text.growth_text(growth, now) if growth is not None else ""
        body.show_head(FlowItem(subject.text, "word"), token_text(subject.text, _MOST_NAME), summary)
        body.formula.show_items(state.word_items(history, subject), _tr("Tokens of the word at this step"))
        body.show_facts(state.cut_otherwise(history, subject))
        body.show_no_lists()
        steps = growth.steps if growth is not None else ()
        items = [step_item(step, now) for step in steps[:MANY]]
        body.parts.show_items(_tr("Changed at the steps") if items else "", items)


def _tr(text: str) -> str:
    return QCoreApplication.translate("TokenDetails", text)
