"""What the vocabulary that is shown has in common with those it is compared with: as sets, and by rank.

It stays open beside the work and follows the step.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from wordpiece_studio.session.plural import plural
from wordpiece_studio.session.run import TrainerState
from wordpiece_studio.session.runs import ComparedStep
from wordpiece_studio.session.table_model import LEFT, RIGHT, RecordTableModel, TableColumn, each_row
from wordpiece_studio.session.task import single_shot
from wordpiece_studio.ui.widgets.fields import ScreenDialog
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text
from wordpiece_studio.ui.widgets.table import TableView
from wordpiece_studio.ui.widgets.token_text import number_text, where_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtCore import Qt
    from PySide6.QtGui import QHideEvent, QShowEvent

    from wordpiece_studio.evaluation.differences import VocabularyOverlap
    from wordpiece_studio.session.session import Session
    from wordpiece_studio.ui.widgets.theme import Theme

    Line = tuple[str, ...]
    """What is counted, and the number for each compared vocabulary."""

_tr = partial(QCoreApplication.translate, "overlap_window")
_CHARACTERS, _LINES = 64, 25


def overlap_lines(shown: ComparedStep, found: Sequence[VocabularyOverlap]) -> list[Line]:
    """Return what a vocabulary has in common with each of the others: by kind, and by rank."""
    sets: tuple[tuple[str, Callable[[VocabularyOverlap], str]], ...] = (
        (_tr("Tokens"), lambda each: number_text(each.sizes[1])),
        (_tr("Tokens in both"), lambda each: number_text(each.shared)),
        (_tr("Only in {run}"), lambda each: number_text(each.sizes[0] - each.shared)),
        (_tr("Only in the other"), lambda each: number_text(each.sizes[1] - each.shared)),
        (_tr("Share in both, all tokens"), lambda each: _percent(each.share)),
    )
    lines = [(name.format(run=shown.label), *map(text, found)) for name, text in sets]
    by_depth = [dict(each.by_rank) for each in found]
    for depth in sorted({depth for shares in by_depth for depth in shares}):
        name = _tr("Share in both, first {number}").format(number=number_text(depth))
        lines.append((name, *(_percent(shares[depth]) if depth in shares else "" for shares in by_depth)))
    return lines


def _column(place: int, title: str, align: Qt.AlignmentFlag = RIGHT) -> TableColumn[Sequence[Line]]:
    return TableColumn(
        title, each_row(lambda line: line[place]), align=align, width=lambda measure, _lines: measure.contents
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


class OverlapWindow(ScreenDialog):
    """Compares the vocabularies as long as it is visible."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Vocabulary overlap"), parent, entry="comparison")
        self._session = session
        self._search = session.overlaps
        self.lines: RecordTableModel[Line] = RecordTableModel((), self)
        self.said = plain_label("", self, wrap=True)
        self._note = plain_label("", self, role="hint", wrap=True)
        self._table = TableView(self.lines, theme, self, name=self.windowTitle(), row_room=10, padding=3)
        self._table.setFrameShape(QFrame.Shape.StyledPanel)
        fill(QVBoxLayout(self), self.said, (self._table, 1), self._note, margins=None, spacing=-1)
        self._timer = single_shot(self, self._show)
        for changed in (self._search.changed, session.comparison.changed, session.model.step_changed):
            changed.connect(lambda: self._timer.start())
        self.resize(self.fontMetrics().averageCharWidth() * _CHARACTERS, self.fontMetrics().height() * _LINES)

    def _show(self) -> None:
        session = self._session
        run, others = session.model.run, session.comparison.beside()
        if not self.isVisible():
            return
        if run is None or not others:
            self._search.stop()
            set_plain_text(self.said, self.tr("No runs are compared. Select “Compare” on the tab of another run."))
        else:
            shown = ComparedStep(run, session.model.step)
            self._search.ask(shown, *others, at_once=session.model.state is not TrainerState.TRAINING)
            if self._search.answered == self._search.request:
                self._show_answer(shown, others)
        self._table.setVisible(bool(others))
        self._note.setVisible(bool(others))

    def _show_answer(self, shown: ComparedStep, others: Sequence[ComparedStep]) -> None:
        found: Sequence[VocabularyOverlap] = self._search.answer
        titles = (where_text(other) for other in others)
        columns = _column(0, "", LEFT), *(_column(place, title) for place, title in enumerate(titles, start=1))
        self.lines.set_records(overlap_lines(shown, found), columns)
        size = found[0].sizes[0]
        text = plural(size, "{run} has 1 token. Compared with:", "{run} has {number} tokens. Compared with:")
        set_plain_text(self.said, text.format(run=where_text(shown), number=number_text(size)))
        note = self.tr("“First” means the lowest IDs. To list the tokens that are only in {run}, choose “Only in this "
                       "run” above the vocabulary.")  # fmt: skip
        set_plain_text(self._note, note.format(run=shown.label))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Compare nothing that nobody sees."""
        super().hideEvent(event)
        self._search.forget()
