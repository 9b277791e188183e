"""The vocabulary of a step as a table for Qt's views: a thin adapter over ids, the history and the figures.

Moving the step adds or removes rows; no row is an object and no text is built before it is visible. Colors, chips and
sentences are up to the view.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QLocale, QModelIndex, QObject, QPersistentModelIndex, Qt

from wordpiece_studio.session.vocabulary_rows import SPECIAL_BIRTH, Kind, VocabularyColumn, VocabularyRows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from wordpiece_studio.evaluation.dead_tokens import DeadReason
    from wordpiece_studio.session.token_usage import TokenUsage
    from wordpiece_studio.session.trainer_model import TrainerModel

    Index = QModelIndex | QPersistentModelIndex

RAW_ROLE = int(Qt.ItemDataRole.UserRole)
"""The value itself: a token, an int, a `DeadReason`; None if unknown."""

ID_ROLE = RAW_ROLE + 1
"""The id of the row's token."""

_NO_INDEX = QModelIndex()
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_TEXTS = (VocabularyColumn.TOKEN, VocabularyColumn.REASON)
BY_USAGE = (VocabularyColumn.FREQUENCY, VocabularyColumn.WORDS, VocabularyColumn.REASON)
"""The columns about how tokens are used, which are known a little later than the others."""


class VocabularyTableModel(QAbstractTableModel):
    """One row per token; the columns are those of `VocabularyColumn`.

    It switches to a new run at once; within a run, it changes only by `show_step`, `show_usage`, `set_kind`,
    `set_found` and `sort`.

    Parameters
    ----------
    explain
        Returns why a token is dead in a few words.
    """

    def __init__(
        self,
        model: TrainerModel,
        usage: TokenUsage,
        explain: Callable[[DeadReason], str],
        parent: QObject | None = None,
        *,
        locale: QLocale | None = None,
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._usage = usage
        self._explain = explain
        self._locale = locale if locale is not None else QLocale()
        self._history = model.history
        self._rows = VocabularyRows(model.history, usage) if model.history is not None else None
        self._kind: Kind = "all"
        self._found: NDArray[np.bool_] | None = None
        self._column = VocabularyColumn.ID
        self._descending = False
        # All tokens of the whole training that match, in order; None for 0, 1, 2, …
        self._all: NDArray[np.int64] | None = None
        self._known = 0  # tokens that `_all` covers
        self._order: NDArray[np.int64] | None = None  # those of the current step
        self._count = 0
        self._row_of_id: NDArray[np.int64] | None = None  # the inverse of `_order`, computed on demand
        model.run_reset.connect(self.show_step)
        self.show_step()

    # Rows and tokens.

    @property
    def rows(self) -> VocabularyRows | None:
        """The data of the tokens; None before a training."""
        return self._rows

    @property
    def is_counted(self) -> bool:
        """Whether the columns `BY_USAGE` describe the current step, not an earlier one."""
        return self._usage.is_current

    @property
    def kind(self) -> Kind:
        """Which tokens are shown."""
        return self._kind

    def id_of_row(self, row: int) -> int:
        """Return the id of the token in `row`."""
        return row if self._order is None else int(self._order[row])

    def row_of_id(self, token_id: int) -> int:
        """Return the row of a token; -1 if it is not shown."""
        if self._order is None:
            return token_id if 0 <= token_id < self._count else -1
        if self._row_of_id is None:
            self._row_of_id = np.full(int(self._order.max(initial=-1)) + 1, -1, dtype=np.int64)
            self._row_of_id[self._order] = np.arange(len(self._order))
        return int(self._row_of_id[token_id]) if 0 <= token_id < len(self._row_of_id) else -1

    def ids_of_rows(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the ids of the tokens in some rows: int64, shape (n_rows,)."""
        return rows if self._order is None else self._order[rows]

    def value(self, token_id: int, column: VocabularyColumn) -> object:
        """Return the value of a column for a token; None if unknown."""
        rows, history = self._rows, self._history
        assert rows is not None  # there are no ids without a history
        assert history is not None
        if column is VocabularyColumn.TOKEN:
            return history.token(token_id)
        if column is VocabularyColumn.ID:
            return token_id
        if column is VocabularyColumn.BORN:
            return rows.birth(token_id)
        if column is VocabularyColumn.LENGTH:
            return rows.length(token_id)
        if column is VocabularyColumn.REASON:
            return self._usage.reason(token_id)
        numbers = self._usage.frequencies if column is VocabularyColumn.FREQUENCY else self._usage.word_counts
        return int(numbers[token_id]) if token_id < len(numbers) else None

    # What is shown.

    def show_step(self) -> None:
        """Show the vocabulary of the step: remove tokens not born yet, add those born."""
        history = self._model.history
        if history is not self._history:
            self.beginResetModel()
            self._history = history
            self._rows = VocabularyRows(history, self._usage) if history is not None else None
            self._found = None
            self._all, self._known = None, 0
            self._set_rows(*self._of_step())
            self.endResetModel()
            return
        self._show(*self._of_step())

    def show_usage(self) -> None:
        """Show the current figures."""
        if self._kind == "dead" or self._column in BY_USAGE:
            self._known = 0
            self._show(*self._of_step())
        if self._count:
            last = self.index(self._count - 1, VocabularyColumn.REASON)
            self.dataChanged.emit(self.index(0, VocabularyColumn.FREQUENCY), last)

    def set_kind(self, kind: Kind) -> None:
        """Show only the tokens of this kind."""
        if kind != self._kind:
            self._kind = kind
            self._rearrange()

    def set_found(self, found: NDArray[np.bool_] | None) -> None:
        """Show only the tokens that a search found: bool by id; None shows all."""
        if found is not None or self._found is not None:
            self._found = found
            self._rearrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; -1 means order of id."""
        self._column = VocabularyColumn(column) if column >= 0 else VocabularyColumn.ID
        self._descending = column >= 0 and order == Qt.SortOrder.DescendingOrder
        self._rearrange()

    # The interface of Qt's item models.

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else self._count

    def columnCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(VocabularyColumn)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the data of a cell for `role`."""
        if not index.isValid() or self._rows is None:
            return None
        column, token_id = VocabularyColumn(index.column()), self.id_of_row(index.row())
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(token_id, column)
        if role == RAW_ROLE:
            return self.value(token_id, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if column in _TEXTS else _RIGHT
        return token_id if role == ID_ROLE else None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the title or the alignment of a column."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(VocabularyColumn):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._titles()[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if VocabularyColumn(section) in _TEXTS else _RIGHT
        return None

    def text(self, token_id: int, column: VocabularyColumn) -> str:
        """Return the formatted text of a cell."""
        value = self.value(token_id, column)
        if column is VocabularyColumn.REASON:
            reason = self._usage.reason(token_id)
            return self._explain(reason) if reason is not None else ""
        if column is VocabularyColumn.BORN and value in (0, SPECIAL_BIRTH):
            return self.tr("alphabet") if value == 0 else self.tr("special")
        if isinstance(value, int):
            return f"{value:,}".replace(",", self._locale.groupSeparator())
        return "…" if value is None else str(value)

    def _titles(self) -> tuple[str, ...]:
        return (
            self.tr("token"),
            self.tr("id"),
            self.tr("born"),
            self.tr("frequency"),
            self.tr("words"),
            self.tr("length"),
            self.tr("never used, because"),
        )

    # Updating rows.

    def _rearrange(self) -> None:
        self._known = 0
        self._show(*self._of_step())

    def _of_step(self) -> tuple[NDArray[np.int64] | None, int]:
        """Return the ids of the tokens to show (None for 0, 1, 2, …) and their number."""
        history, rows = self._history, self._rows
        if history is None or rows is None:
            return None, 0
        size, known = history.vocabulary_size(self._model.step), history.vocabulary_size(self._model.merge_count)
        is_plain = self._column in (VocabularyColumn.ID, VocabularyColumn.BORN) and not self._descending
        if is_plain and self._kind == "all" and self._found is None:
            self._all, self._known = None, known
            return None, size
        if self._known != known or self._all is None:
            self._all = rows.ordered(known, self._kind, self._found, self._column, descending=self._descending)
            self._known = known
        order = self._all if size == known else self._all[self._all < size]
        return order, len(order)

    def _set_rows(self, order: NDArray[np.int64] | None, count: int) -> None:
        self._order, self._count, self._row_of_id = order, count, None

    def _show(self, order: NDArray[np.int64] | None, count: int) -> None:
        """Show these rows by removing and inserting rows at the end and reordering the rest."""
        before, after = self._as_ids(self._order, self._count), self._as_ids(order, count)
        shared = min(len(before), len(after))
        if not np.array_equal(before[:shared], after[:shared]):
            stays = np.isin(before, after)
            self._permute(np.concatenate((before[stays], before[~stays])))
            shared = int(np.count_nonzero(stays))
            comes = after[~np.isin(after, before)]
        else:
            comes = after[shared:]
        if shared < self._count:
            self.beginRemoveRows(QModelIndex(), shared, self._count - 1)
            self._set_rows(self._as_ids(self._order, self._count)[:shared], shared)
            self.endRemoveRows()
        if len(comes):
            self.beginInsertRows(QModelIndex(), shared, shared + len(comes) - 1)
            self._set_rows(np.concatenate((self._as_ids(self._order, self._count), comes)), shared + len(comes))
            self.endInsertRows()
        if np.array_equal(self._as_ids(self._order, self._count), after):
            self._set_rows(order, count)
        else:
            self._permute(after)
            self._order = order

    def _permute(self, ids: NDArray[np.int64]) -> None:
        """Reorder the rows; selected and current rows stay on their tokens."""
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        tokens = [self.id_of_row(index.row()) for index in before]
        self._set_rows(ids, len(ids))
        after = [self.index(self.row_of_id(token), old.column()) for token, old in zip(tokens, before, strict=True)]
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    @staticmethod
    def _as_ids(order: NDArray[np.int64] | None, count: int) -> NDArray[np.int64]:
        return np.arange(count) if order is None else order
