"""The token details of a low pane: how the token came to be in a line or two, and below it what there is room for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from wordpiece_studio.ui.panes.token_details import details_text
from wordpiece_studio.ui.panes.token_details.chip_flow import ChipFlow, FlowItem
from wordpiece_studio.ui.panes.token_details.details_items import chain_items, shortened
from wordpiece_studio.ui.widgets.token_text import token_text
from wordpiece_studio.ui.widgets.whole_label import WholeLabel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.panes.token_details.details_state import DetailsState
    from wordpiece_studio.ui.panes.token_details.details_subject import Subject
    from wordpiece_studio.ui.widgets.theme import Theme

_DOTS = FlowItem("…")
_MOST_LOW = 60
"""No low pane has room for so many tokens of a word."""
_SIDES, _ABOVE, _BELOW = 14, 4, 1


class DetailsLine(QWidget):
    """The merges of a token in a line; where they have no room, the last of them."""

    def __init__(self, theme: Theme, state: DetailsState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self.chain = ChipFlow(theme, points=-0.5)
        self.note = WholeLabel(role="hint")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(_SIDES, _ABOVE, _SIDES, _BELOW)
        layout.setSpacing(4)
        layout.addWidget(self.chain)
        layout.addWidget(self.note)
        layout.addStretch(1)

    def fill(self, history: MergeHistory, subject: Subject, width: int, height: int) -> None:
        """Show `subject` in a pane of so many pixels."""
        room = max(width - 2 * _SIDES, 1), max(height - _ABOVE - _BELOW, 1)
        if subject.kind == "word":
            items = self._beginning(self._state.word_items(history, subject), room)
            name = self.tr("Tokens of the word")
        else:
            items = self._token_items(history, subject, room)
            name = self.tr("How {token} came to be").format(token=token_text(subject.text))
        self.chain.show_items(items, name)
        self._show_note(self._note(history, subject), room[1] - self.chain.height_of(items, room[0]))

    def _token_items(self, history: MergeHistory, subject: Subject, room: tuple[int, int]) -> list[FlowItem]:
        groups: list[list[FlowItem]] = []
        if subject.kind == "token" and subject.birth:
            groups = chain_items(history, history.merge_tree(subject.token_id), self._state.model.step)
        if groups:
            return self._fitting(groups, room)
        is_learned = subject.kind == "token"
        return [FlowItem(subject.text, "chip", focused=is_learned, faded=not is_learned)]

    def _fitting(self, groups: Sequence[Sequence[FlowItem]], room: tuple[int, int]) -> list[FlowItem]:
        """Return as many merges as there is room for, the last one at least."""
        first = 0
        while first < len(groups) - 1 and self.chain.height_of(shortened(groups, first), room[0]) > room[1]:
            first = min(first + max(1, (len(groups) - first) // 16), len(groups) - 1)
        return shortened(groups, first)

    def _beginning(self, items: Sequence[FlowItem], room: tuple[int, int]) -> list[FlowItem]:
        """Return as many tokens of a word as there is room for above a line of the note, dots for the others."""
        width, height = room[0], max(room[1] - self.note.fontMetrics().height() - 6, 1)
        if self.chain.height_of(items, width) <= height:
            return list(items)
        fits = [self.chain.height_of([*items[:count], _DOTS], width) <= height for count in range(1, _MOST_LOW)]
        return [*items[: max(fits.count(True), 1)], _DOTS]

    def _note(self, history: MergeHistory, subject: Subject) -> str:
        state, step = self._state, self._state.model.step
        if subject.kind == "word":
            growth = state.growth_of(subject)
            return details_text.growth_text(growth, step) if growth is not None else ""
        if subject.kind != "token":
            return state.unlearned(history, subject)
        summary = details_text.summary(subject, state.number_of_special, step)
        return f"{summary}\n{state.use(subject)}".strip()

    def _show_note(self, text: str, room: int) -> None:
        """Show as many lines of a text as there is room for."""
        lines = text.split("\n")
        height, width = self.note.fontMetrics().height(), max(self.chain.width(), 1)
        while lines:
            needed = sum(1 + self.note.fontMetrics().horizontalAdvance(line) // width for line in lines) * height + 6
            if needed <= room:
                break
            lines.pop()
        self.note.show_text("\n".join(lines))
        self.note.setVisible(bool(lines))
