"""What the cells of the table of merges hold, and how titles and cells read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from wordpiece_studio.session.history_rows import NUMBER_COLUMNS, TOKEN_COLUMNS, HistoryColumn

_NOT_YET = "…"
"""Of a run that was opened and is still being read."""

if TYPE_CHECKING:
    from PySide6.QtCore import QLocale

    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.history import MergeHistory


class HistoryCells:
    """The values of the cells of one history."""

    def __init__(self, history: MergeHistory) -> None:
        self._history = history
        self._words_by_step: dict[int, int] = {}

    def value(self, step: int, column: HistoryColumn) -> str | int | float:
        """Return what a cell holds: a token, a number, or a bool."""
        history = self._history
        if column in TOKEN_COLUMNS:
            return history.token(int(history.column(TOKEN_COLUMNS[column])[step - 1]))
        if column in NUMBER_COLUMNS:
            value: int | float = history.column(NUMBER_COLUMNS[column])[step - 1].item()
            return value
        if column is HistoryColumn.VOCABULARY:
            return history.vocabulary_size(step)
        if column is HistoryColumn.SYMBOLS:
            return history.symbols_after(step)
        if column is HistoryColumn.WORDS:
            return self._words_touched(step) if history.is_whole else _NOT_YET
        return bool(history.column("is_new")[step - 1]) if column is HistoryColumn.IS_NEW else step

    def extremes(self, count: int) -> dict[HistoryColumn, tuple[float, float]]:
        """Return bounds of the numbers in each column of numbers, of so many merges; empty if there is none."""
        if not count:
            return {}
        history = self._history
        found: dict[HistoryColumn, tuple[float, float]] = {}
        for column, name in NUMBER_COLUMNS.items():
            values = history.column(name)[:count]
            found[column] = (values.min().item(), values.max().item())
        found[HistoryColumn.STEP] = (1, count)
        found[HistoryColumn.VOCABULARY] = (history.vocabulary_size(1), history.vocabulary_size(count))
        found[HistoryColumn.SYMBOLS] = (history.symbols_after(count), history.symbols_after(1))
        found[HistoryColumn.WORDS] = (0, history.word_count)  # to look for the largest takes too long
        return found

    def _words_touched(self, step: int) -> int:
        found = self._words_by_step.get(step)
        if found is None:
            found = self._words_by_step[step] = int(self._history.words_touched_counts(step - 1, step)[0])
        return found


class HistoryWords(QObject):
    """The words of the table: titles, what they mean, and how a value reads."""

    def titles(self, config: TrainingConfig | None) -> tuple[str, ...]:
        """Return the titles of the columns; that of the values is the objective's."""
        values = {"score": self.tr("score"), "likelihood": self.tr("gain"), "count": self.tr("count")}
        return (
            self.tr("step"),
            self.tr("left"),
            self.tr("right"),
            self.tr("new token"),
            self.tr("n(ab)"),
            self.tr("n(a)"),
            self.tr("n(b)"),
            values[config.objective if config is not None else "score"],
            self.tr("ties"),
            self.tr("vocabulary"),
            self.tr("symbols"),
            self.tr("words"),
            self.tr("is new"),
        )

    def explanations(self) -> tuple[str, ...]:
        """Return a sentence on each column."""
        return (
            self.tr("The number of the merge, from 1"),
            self.tr("The left symbol of the pair"),
            self.tr("The right symbol of the pair"),
            self.tr("The token that the pair became"),
            self.tr("How often the pair occurred in the corpus before this merge"),
            self.tr("How often the left symbol occurred in the corpus before this merge"),
            self.tr("How often the right symbol occurred in the corpus before this merge"),
            self.tr("What the objective says of the pair; the best one is merged"),
            self.tr("How many pairs had the best value, this one included; a dot: no other one"),
            self.tr("How many tokens the vocabulary had after this merge"),
            self.tr("How many symbols the corpus was made of after this merge, N"),
            self.tr("How many distinct words this merge changed"),
            self.tr("Whether the vocabulary did not hold the token before"),
        )

    def text(self, value: str | int | float, locale: QLocale) -> str:
        """Return a value for reading: numbers in groups of digits, other ones in four significant digits."""
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return self.tr("yes") if value else self.tr("no")
        if isinstance(value, int):
            return f"{value:,}".replace(",", locale.groupSeparator())
        return f"{value:.4g}".replace(".", locale.decimalPoint())
