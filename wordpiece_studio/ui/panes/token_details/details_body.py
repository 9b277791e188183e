"""The views of the token details: all parts one below the other in a scroll area, or one line in a low pane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from wordpiece_studio.session.plural import plural
from wordpiece_studio.ui.panes.token_details.details_state import (
    MANY,
    birth_text,
    chain_items,
    children_items,
    children_of,
    chip,
    growth_text,
    more_item,
    other_origin,
    shortened,
    step_item,
    word_item,
)
from wordpiece_studio.ui.panes.token_details.merge_tree_view import MergeTreeView
from wordpiece_studio.ui.widgets.chip_area import ChipFlow
from wordpiece_studio.ui.widgets.chip_style import FlowItem
from wordpiece_studio.ui.widgets.explained import explain
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import WholeLabel, plain_label, set_plain_text
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.panes.token_details.details_state import DetailsState, Subject
    from wordpiece_studio.ui.widgets.theme import Theme

_HEAD_POINTS, _LONG = 5, 18  # characters
_MOST_NAME = 400  # characters passed to a screen reader
_DOTS = FlowItem("…")
_MOST_LOW = 60
"""No low pane has room for this many tokens of a word."""
_SIDES, _ABOVE, _BELOW = 14, 4, 1


class ListPart(QWidget):
    """A heading with chips below it; hidden if both are empty."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._heading = plain_label("", self, role="heading", wrap=True)
        self.flow = ChipFlow(theme, self, points=-0.5)
        fill(QVBoxLayout(self), self._heading, self.flow, spacing=3)

    def show_items(self, heading: str, items: Sequence[FlowItem]) -> None:
        """Show these items below this heading."""
        set_plain_text(self._heading, heading)
        self.flow.show_items(items, heading)
        self.setVisible(bool(items) or bool(heading))


class DetailsBody(QScrollArea):
    """Token or word, birth, figures, formula, tree, children and words."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.head = ChipFlow(theme, points=_HEAD_POINTS)
        self.summary = WholeLabel(role="hint")
        self.birth = QPushButton()
        self.birth.setAccessibleName(self.tr("Go to the step that created the token"))
        self.formula = ChipFlow(theme)
        self.facts = WholeLabel()
        self.tree = MergeTreeView(theme)
        explain("step", self.birth)
        explain("merge", self.tree)
        self.parts = ListPart(theme)
        self.children_ = ListPart(theme)
        self.words = ListPart(theme)
        self.setWidget(self._content())
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)

    def _content(self) -> QWidget:
        content = QWidget()
        content.setObjectName("scroll_contents")
        beside = fill(QVBoxLayout(), self.head, self.summary, spacing=2)
        top = fill(QHBoxLayout(), (beside, 1), (self.birth, 0, Qt.AlignmentFlag.AlignTop), spacing=8)
        parts = self.formula, self.facts, self.tree, self.parts, self.children_, self.words
        fill(QVBoxLayout(content), top, *parts, 1, margins=(14, 8, 10, 8), spacing=8)
        return content

    def chips(self) -> tuple[ChipFlow | MergeTreeView, ...]:
        return self.head, self.formula, self.tree, self.parts.flow, self.children_.flow, self.words.flow

    def show_head(self, item: FlowItem, name: str, summary: str, birth: int = 0) -> None:
        """Show the subject, a line about it, and a button to its birth step unless that is 0."""
        self.head.set_points(_HEAD_POINTS if len(item.text) <= _LONG else 0)
        self.head.show_items([item], name)
        self.summary.show_text(summary)
        self.birth.setVisible(birth > 0)
        self.birth.setText(self.tr("Step {step}").format(step=number_text(birth)))

    def show_no_lists(self) -> None:
        """Hide the tree and the lists."""
        self.tree.show_tree(None, None, 0)
        for part in (self.parts, self.children_, self.words):
            part.show_items("", [])

    def show_facts(self, *sentences: str) -> None:
        """Show the sentences that are not empty."""
        text = "\n".join(sentence for sentence in sentences if sentence)
        self.facts.show_text(text)
        self.facts.setVisible(bool(text))


class DetailsFiller:
    """Fills a body with what is known about a subject."""

    def __init__(self, body: DetailsBody, state: DetailsState) -> None:
        self._body = body
        self._state = state

    def fill(self, history: MergeHistory, subject: Subject) -> None:
        """Show `subject` at the current step."""
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
        body.show_head(item, name, birth_text(subject, self._state.number_of_special, step, history), subject.birth)
        self._fill_formula(history, subject)
        body.show_facts(other_origin(subject), self._state.use(subject), self._state.best_text(subject.text))
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
        formula = self._state.named_formula(merge, merge.symbols_before)
        items = [chip(merge.left, faded=faded), FlowItem("+"), chip(merge.right, faded=faded)]
        items.append(FlowItem(formula, faded=faded))
        name = _tr("The pair merged into {token} and its merge score").format(token=token_text(subject.text))
        self._body.formula.show_items(items, name)

    def _fill_children(self, history: MergeHistory, subject: Subject) -> None:
        model, most = self._state.model, self._state.most_children
        steps = children_of(history, subject.token_id, model.merge_count)
        items = children_items(history, steps[:most].tolist(), model.step)
        if len(steps) > most and most < MANY:
            items.append(more_item(len(steps) - most))
        heading = plural(len(steps), "Part of one later merge", "Part of {count} later merges")
        self._body.children_.show_items(heading.format(count=number_text(len(steps))) if items else "", items)

    def _fill_words(self, subject: Subject) -> None:
        words = self._state.words_at(subject)
        is_special = subject.token_id < self._state.number_of_special  # merges never make a special token
        if words is None or is_special or subject.birth > self._state.model.step:
            self._body.words.show_items("", [])
            return
        items = [word_item(word, count) for word, count in words.words]
        heading = _tr("Occurs in no word at this step")
        if words.total:
            heading = plural(
                words.total,
                "Occurs in one word at this step",
                "Occurs in {count} words at this step, most frequent first",
            )
        if words.total > len(words.words):
            items.append(FlowItem("…"))
        self._body.words.show_items(heading.format(count=number_text(words.total)), items)

    # -- what is not a token

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
        summary = growth_text(growth, now if history.has_steps else -1) if growth is not None else ""
        body.show_head(FlowItem(subject.text, "word"), token_text(subject.text, _MOST_NAME), summary)
        body.formula.show_items(state.word_items(history, subject), _tr("Tokens of the word at this step"))
        body.show_facts(state.cut_otherwise(history, subject), state.best_text(subject.text))
        body.show_no_lists()
        steps = growth.steps if growth is not None else ()
        items = [step_item(step, now) for step in steps[:MANY]]
        body.parts.show_items(_tr("Changed at steps") if items else "", items)


def _tr(text: str) -> str:
    return QCoreApplication.translate("TokenDetails", text)


class DetailsLine(QWidget):
    """The merges of a token in one line; where not all fit, the last ones."""

    def __init__(self, theme: Theme, state: DetailsState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self.chain = ChipFlow(theme, points=-0.5)
        self.note = WholeLabel(role="hint")
        fill(QVBoxLayout(self), self.chain, self.note, 1, margins=(_SIDES, _ABOVE, _SIDES, _BELOW), spacing=4)

    def fill(self, history: MergeHistory, subject: Subject, width: int, height: int) -> None:
        """Show `subject` in a pane of this size in pixels."""
        room = max(width - 2 * _SIDES, 1), max(height - _ABOVE - _BELOW, 1)
        if subject.kind == "word":
            items = self._beginning(self._state.word_items(history, subject), room)
            name = self.tr("Tokens of the word")
        else:
            items = self._token_items(history, subject, room)
            name = self.tr("How {token} was built").format(token=token_text(subject.text))
        self.chain.show_items(items, name)
        self._show_note(self._note(history, subject), room[1] - self.chain.height_of(items, room[0]))

    def _token_items(self, history: MergeHistory, subject: Subject, room: tuple[int, int]) -> list[FlowItem]:
        groups: list[list[FlowItem]] = []
        if subject.kind == "token" and subject.birth:
            groups = chain_items(history, history.merge_tree(subject.token_id), self._state.model.step)
        if groups:
            return self._fitting(groups, room)
        is_learned = subject.kind == "token"
        return [FlowItem(subject.text, "chip", selected=is_learned, faded=not is_learned)]

    def _fitting(self, groups: Sequence[Sequence[FlowItem]], room: tuple[int, int]) -> list[FlowItem]:
        """Return as many merges as fit, but at least the last one."""
        first = 0
        while first < len(groups) - 1 and self.chain.height_of(shortened(groups, first), room[0]) > room[1]:
            first = min(first + max(1, (len(groups) - first) // 16), len(groups) - 1)
        return shortened(groups, first)

    def _beginning(self, items: Sequence[FlowItem], room: tuple[int, int]) -> list[FlowItem]:
        """Return as many tokens of a word as fit above one line of the note, then an ellipsis if any are left out."""
        width, height = room[0], max(room[1] - self.note.fontMetrics().height() - 6, 1)
        if self.chain.height_of(items, width) <= height:
            return list(items)
        fits = [self.chain.height_of([*items[:count], _DOTS], width) <= height for count in range(1, _MOST_LOW)]
        return [*items[: max(fits.count(True), 1)], _DOTS]

    def _note(self, history: MergeHistory, subject: Subject) -> str:
        state, step = self._state, self._state.model.step
        if subject.kind == "word":
            growth = state.growth_of(subject)
            said = growth_text(growth, step if history.has_steps else -1) if growth is not None else ""
            return f"{said}\n{state.best_text(subject.text)}".strip()
        if subject.kind != "token":
            return state.unlearned(history, subject)
        summary = birth_text(subject, state.number_of_special, step, history)
        return f"{summary}\n{state.use(subject)}".strip()

    def _show_note(self, text: str, room: int) -> None:
        """Show as many lines of a text as fit."""
        lines = text.split("\n")
        height, width = self.note.fontMetrics().height(), max(self.chain.width(), 1)
        while lines:
            needed = sum(1 + self.note.fontMetrics().horizontalAdvance(line) // width for line in lines) * height + 6
            if needed <= room:
                break
            lines.pop()
        self.note.show_text("\n".join(lines))
        self.note.setVisible(bool(lines))
