"""The parts of the token details one below the other, in a room that scrolls; it shows what it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from wordpiece_studio.ui.panes.token_details.chip_flow import ChipFlow
from wordpiece_studio.ui.panes.token_details.merge_tree_view import MergeTreeArea
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text
from wordpiece_studio.ui.widgets.token_text import number_text
from wordpiece_studio.ui.widgets.whole_label import WholeLabel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.ui.panes.token_details.chip_flow import FlowItem
    from wordpiece_studio.ui.widgets.theme import Theme

_HEAD_POINTS, _LONG = 5, 18  # characters


class ListPart(QWidget):
    """A heading, and chips below it; hidden where there are none."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._heading = plain_label("", self, role="heading", wrap=True)
        self.flow = ChipFlow(theme, self, points=-0.5)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(3)
        layout.addWidget(self._heading)
        layout.addWidget(self.flow)

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
        self.birth.setAccessibleName(self.tr("Go to the step that made the token"))
        self.formula = ChipFlow(theme)
        self.facts = WholeLabel()
        self.tree = MergeTreeArea(theme)
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
        top = QHBoxLayout()
        top.setSpacing(8)
        beside = QVBoxLayout()
        beside.setSpacing(2)
        beside.addWidget(self.head)
        beside.addWidget(self.summary)
        top.addLayout(beside, 1)
        top.addWidget(self.birth, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(content)
        layout.setContentsMargins(14, 8, 10, 8)
        layout.setSpacing(8)
        layout.addLayout(top)
        for part in (self.formula, self.facts, self.tree, self.parts, self.children_, self.words):
            layout.addWidget(part)
        layout.addStretch(1)
        return content

    def flows(self) -> tuple[ChipFlow, ...]:
        """Return all lines of chips."""
        return self.head, self.formula, self.parts.flow, self.children_.flow, self.words.flow

    def show_head(self, item: FlowItem, name: str, summary: str, birth: int = 0) -> None:
        """Show what they are about, a line about it, and a button to its birth step unless that is 0."""
        self.head.set_points(_HEAD_POINTS if len(item.text) <= _LONG else 0)
        self.head.show_items([item], name)
        self.summary.show_text(summary)
        self.birth.setVisible(birth > 0)
        self.birth.setText(self.tr("Step {step}").format(step=number_text(birth)))

    def show_no_lists(self) -> None:
        """Show neither tree nor lists."""
        self.tree.show_tree(None, None, 0)
        for part in (self.parts, self.children_, self.words):
            part.show_items("", [])

    def show_facts(self, *sentences: str) -> None:
        """Show those of the sentences that are not empty."""
        text = "\n".join(sentence for sentence in sentences if sentence)
        self.facts.show_text(text)
        self.facts.setVisible(bool(text))
