"""Why here? The ladder of pieces that longest match tried at one place in a word, down to the one it took.

It shows a trace of the tokenizer; a tried piece that only later becomes a token shows when.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QHeaderView, QVBoxLayout, QWidget

from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, tooltip_text
from wordpiece_studio.ui.widgets.quiet_table import QuietTable, needed_height
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from wordpiece_studio.session.table_model import Index
    from wordpiece_studio.tokenizer.tokenizer import PositionTrace, Trial, WordTrace
    from wordpiece_studio.ui.widgets.theme import Theme

BirthStep = Callable[[str], int | None]
"""Returns the step at which a token is born, 0 for the alphabet and special tokens, None if it never is."""


@dataclass(frozen=True, slots=True)
class Rung:
    """The texts of a row, its text for screen readers, the names of their colors, and the tried piece.

    The names are those in `Colors`: colors themselves would be out of date after a change of theme.
    """

    texts: tuple[str, ...]
    spoken: str = ""
    colors: tuple[str, ...] = ()
    candidate: str = ""


class LadderModel(RecordTableModel["Rung"]):
    """The rungs as rows: tried piece, mark, birth."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._columns = (
            TableColumn(
                self.tr("tried piece"),
                lambda rungs, row: rungs[row].texts[0],
                align=LEFT,
                spoken=lambda rungs, row: rungs[row].spoken,
            ),
            TableColumn(self.tr("matches"), lambda rungs, row: rungs[row].texts[1], align=LEFT),
            TableColumn(self.tr("born"), lambda rungs, row: rungs[row].texts[2], align=LEFT),
        )

    def tooltip(self, item: int) -> str:
        """Return what a screen reader says."""
        return tooltip_text(self.records[item].spoken)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.ForegroundRole and index.isValid():
            colors = self.records[index.row()].colors
            return getattr(self._theme.colors, colors[index.column()]) if colors else None
        return super().data(index, role)


class WhyHere(QWidget):
    """The ladder under a title."""

    token_chosen = Signal(object)
    """The token (str) of the rung that was clicked."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = plain_label("", self, role="heading", wrap=True)
        self._table = _LadderTable(theme, self)
        self._table.setAccessibleName(self.tr("Pieces tried by longest match"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 6, 6, 2)
        layout.setSpacing(4)
        layout.addWidget(self._title)
        layout.addWidget(self._table, 1)
        self._table.row_chosen.connect(self._on_table_row_chosen)

    @property
    def title(self) -> str:
        """The title shown."""
        return self._title.text()

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The texts of the rungs: tried piece, mark, when it was born."""
        return [row.texts for row in self._table.ladder.records]

    def needed_height(self, most_rungs: int | None = None) -> int:
        """Return the height in pixels of the title and all rungs, or the first `most_rungs`."""
        rungs = len(self._table.ladder.records)
        return needed_height(self, self._title, self._table, rungs if most_rungs is None else min(rungs, most_rungs))

    def show_special(self, token: str) -> None:
        """Show that a special token written out in the text is not matched at all."""
        text = self.tr("Why here? {token} is a special token: it is found before the text is split into words.")
        set_plain_text(self._title, text.format(token=token_text(token)))
        self._table.ladder.set_records(())

    def show_chip(self, trace: WordTrace, chip: int, boundary: bool, birth_step: BirthStep) -> None:
        """Show the ladder of one token of a word.

        Parameters
        ----------
        chip
            Index of the token in the word; the only token of an unknown word stands for the place where it failed.
        boundary
            Whether the question is about the boundary at the end of the chip, not the chip itself.
        """
        word = token_text(trace.word, 30)
        if trace.unknown is not None:
            title = self.tr("Why here? {word}: nothing matches from character {position} (from 0) on")
            place = trace.positions[-1] if trace.positions else None
            if place is None:
                title = self.tr("Why here? {word} has too many characters: nothing was tried")
            position = place.start if place is not None else 0
            title = title.format(word=word, position=number_text(position))
        else:
            place = trace.positions[chip] if chip < len(trace.positions) else None
            if boundary:
                end = trace.positions[chip + 1].start if chip + 1 < len(trace.positions) else len(trace.word)
                title = self.tr("Why here? {word}, boundary at character {position} (from 0)").format(
                    word=word, position=number_text(end)
                )
            else:
                title = self.tr("Why here? {word}, from character {position} (from 0) on").format(
                    word=word, position=number_text(place.start if place is not None else 0)
                )
        set_plain_text(self._title, title)
        self._table.ladder.set_records(self._rows(place, birth_step) if place is not None else ())
        self._table.scrollToTop()

    def _rows(self, place: PositionTrace, birth_step: BirthStep) -> list[Rung]:
        return [self._row(trial, birth_step(trial.candidate)) for trial in place.tried]

    def _row(self, trial: Trial, born: int | None) -> Rung:
        candidate = token_text(trial.candidate)
        if trial.matched:
            when = self._when_matched(born)
            spoken = self.tr("{candidate} matches: {when}").format(candidate=candidate, when=when)
            colors = ("text", "success", "success")
            return Rung((candidate, "✓", when), spoken, colors, trial.candidate)
        when = self.tr("not before step {step}").format(step=number_text(born)) if born else ""
        spoken = self.tr("{candidate} is not a token").format(candidate=candidate)
        colors = ("faint", "error", "faint")
        return Rung((candidate, "✗", when), spoken, colors, trial.candidate)

    def _when_matched(self, born: int | None) -> str:
        if born:
            return self.tr("born at step {step}").format(step=number_text(born))
        return self.tr("in the alphabet")

    def _on_table_row_chosen(self, row: int) -> None:
        self.token_chosen.emit(self._table.ladder.records[row].candidate)


class _LadderTable(QuietTable):
    """The table of the ladder, with columns as wide as their contents."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.ladder = LadderModel(theme, self)
        self.setModel(self.ladder)
        self.horizontalHeader().hide()
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
        self.restyle()
        theme.changed.connect(self.on_theme_changed)

    def restyle(self) -> None:
        metrics = self.fontMetrics()
        self.verticalHeader().setDefaultSectionSize(metrics.height() + 4)
        self.setColumnWidth(0, metrics.horizontalAdvance("n") * 18)
        self.setColumnWidth(1, metrics.horizontalAdvance("✓") + 16)
