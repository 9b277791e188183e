"""The table: a view of any model whose columns say what is in their cells, and how it is drawn.

It reads like a list: no grid, no row numbers, whole rows of one fixed height. It gives every column its width, hides
those that matter least where there is too little room, and never cuts off a number.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from PySide6.QtCore import QEvent, QItemSelectionModel, QKeyCombination, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QTableView,
    QWidget,
)

from wordpiece_studio.session.table_model import LEFT, RIGHT, RecordTableModel, SortedTableModel
from wordpiece_studio.ui.widgets.chips import ChipStyle, FlowItem
from wordpiece_studio.ui.widgets.fields import chooses, is_alone, keep_keys, limit
from wordpiece_studio.ui.widgets.plain import copy_lines, set_look
from wordpiece_studio.ui.widgets.theme import Theme, bold, saved
from wordpiece_studio.ui.widgets.token_text import paint_run_disc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from PySide6.QtCore import QModelIndex
    from PySide6.QtWidgets import QLabel, QStyleOptionViewItem

    from wordpiece_studio.session.table_model import Index, TableColumn, TableModel
    from wordpiece_studio.storage.project.contents import Run

    Key = Qt.Key | QKeyCombination | QKeySequence.StandardKey

CELL_PADDING = 6  # pixels between the edge of a cell and what is in it
_ROOM = 2 * CELL_PADDING + 2
_BETWEEN_TEXTS = 8  # pixels between two that may have several lines
_SIGN_WIDTH, _SIGN_GAP = 12, 4
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
_ENDS = (Qt.Key.Key_Home, Qt.Key.Key_End)
_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End)


class RowLook(NamedTuple):
    """What is special about a row: the names of colors of the theme, and whether a bar marks its left edge."""

    ground: str = ""
    ink: str = ""
    is_bold: bool = False
    is_marked: bool = False


_PLAIN = RowLook()


WRAPPED = LEFT.value | Qt.TextFlag.TextWordWrap.value  # how text is drawn in a cell that spans several columns


@cache
def _flags(align: Qt.AlignmentFlag) -> int:
    return int(align | Qt.TextFlag.TextSingleLine)


class Measure:
    """How wide things are in a table, in pixels; `title` and `contents` are of the column that is asked about."""

    def __init__(self, table: TableView) -> None:
        self._table = table
        self._metrics = table.fontMetrics()
        self.room = table.viewport().width()
        self.line = self._metrics.height()
        self.letter = self._metrics.averageCharWidth()
        self.column = 0
        self.columns = table.rows.columns
        self.cell = table.rows.text

    def text(self, *texts: str, is_bold: bool = False) -> int:
        metrics = QFontMetrics(bold(self._table.font())) if is_bold else self._metrics
        return max(map(metrics.horizontalAdvance, texts), default=0)

    @property
    def title(self) -> int:
        return self._table.horizontalHeader().fontMetrics().horizontalAdvance(self._table.rows.title(self.column))

    @property
    def contents(self) -> int:
        heading, width = self._table.horizontalHeader(), self._table.sizeHintForColumn(self.column)
        return width if heading.isHidden() else max(width, heading.sectionSizeHint(self.column))

    def width(self, column: int, wanted: str | Callable[[Measure, Any], float] | None) -> int:
        self.column = column
        if wanted is None:
            return 0
        return self.text(wanted) + _ROOM if isinstance(wanted, str) else int(wanted(self, self._table.rows.source))


class CellDelegate(QStyledItemDelegate):
    """Draws the cells of a table as their columns say, as text or as chips.

    It does its own painting: Qt's would query the model seven times per cell, and a table that follows training is
    painted sixty times a second.
    """

    def __init__(self, table: TableView, theme: Theme, points: float, gap: float, padding: int) -> None:
        super().__init__(table)
        self._table = table
        self._theme = theme
        self._points = points
        self._gap = gap
        self._padding = padding
        self.restyle()

    def width(self, items: Sequence[FlowItem]) -> float:
        return sum(self.style.item_width(item) + self._gap for item in items) - self._gap

    def restyle(self) -> None:
        self.style = ChipStyle(self._theme, self._points)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        table, theme = self._table, self._theme
        rows, place, cell = table.rows, index.column(), option.rect
        source, item, column = rows.source, rows.item_of_row(index.row()), rows.columns[place]
        if column.check is not None or table.wordWrap():
            super().paint(painter, option, index)  # boxes, and texts of several lines, are Qt's
            return
        look = table.look(source, item)
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if is_selected or look.ground:
            painter.fillRect(cell, theme.accent_soft if is_selected else getattr(theme, look.ground))
        if (look.is_marked or (is_selected and table.marks_selected)) and place == table.first_column:
            painter.fillRect(QRectF(cell.left(), cell.top(), 3.5, cell.height()), theme.accent)
        if column.chips is not None:
            with saved(painter):
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setClipRect(cell)
                for rect, flow_item in self.places(cell, index):
                    self.style.paint_item(painter, rect, flow_item)
            return
        is_bold = look.is_bold or (column.bold is not None and column.bold(source, item))
        painter.setFont(bold(option.font) if is_bold else option.font)
        painter.setPen(self._ink(column, item, look))
        text = rows.drawn(item, place)
        inner = cell.adjusted(self._padding, 0, -self._padding, 0)
        if column.run is not None:
            inner = self._beside_disc(painter, inner, column.run(source, item))
        if table.columnSpan(index.row(), place) > 1:  # a sentence, which has the lines that it needs
            painter.drawText(inner, WRAPPED, text)
            return
        if column.align != RIGHT or column.elide is not None:
            text = painter.fontMetrics().elidedText(text, column.elide or Qt.TextElideMode.ElideRight, inner.width())
        painter.drawText(inner, _flags(column.align), text)

    def _beside_disc(self, painter: QPainter, room: QRect, run: Run | None) -> QRect:
        across = painter.fontMetrics().height()
        if run is not None:
            disc = QRectF(room.left(), room.center().y() - across / 2, across, across)
            with saved(painter):
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                paint_run_disc(painter, run, disc, self._theme, painter.font())
        return room.adjusted(across + self._padding, 0, 0, 0)

    def _ink(self, column: TableColumn[Any], item: int, look: RowLook) -> QColor:
        ink = column.ink if isinstance(column.ink, str) else column.ink(self._table.rows.source, item)
        color: QColor = getattr(self._theme, ink or look.ink or "text")
        return color

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        rows = self._table.rows
        column, item = rows.columns[index.column()], rows.item_of_row(index.row())
        look = self._table.look(rows.source, item)
        for role in (QPalette.ColorRole.Text, QPalette.ColorRole.HighlightedText):
            option.palette.setColor(role, self._ink(column, item, look))

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return super().sizeHint(option, index) + QSize(0, _BETWEEN_TEXTS)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = super().createEditor(parent, option, index)
        if isinstance(editor, QLineEdit):
            limit(editor, str(index.data()))
        return editor

    def places(self, cell: QRect, index: Index) -> Iterator[tuple[QRectF, FlowItem]]:
        rows = self._table.rows
        source, item, column = rows.source, rows.item_of_row(index.row()), rows.columns[index.column()]
        assert column.chips is not None
        cell = cell.adjusted(self._padding + column.indent, 0, -self._padding, 0)
        sign = column.sign(source, item) if column.sign is not None else ""
        lines = list(column.chips(source, item))
        height = cell.height() / len(lines)
        for number, variants in enumerate(lines):
            line = QRectF(cell.left(), cell.top() + number * height, cell.width(), height)
            yield from self._in_line(line, variants, sign)

    def _in_line(
        self, line: QRectF, variants: Iterable[Sequence[FlowItem]], sign: str
    ) -> Iterator[tuple[QRectF, FlowItem]]:
        height = self.style.height
        left, top = line.left(), line.center().y() - height / 2
        right = line.right() - (_SIGN_WIDTH if sign else 0)
        items: Sequence[FlowItem] = ()
        for items in variants:
            if self.width(items) <= right - left:
                break
        for item in items:
            width = min(self.style.item_width(item), right - left)
            if width <= 0:
                return
            yield QRectF(left, top, width, height), item
            left += width + self._gap
        if sign:
            left += _SIGN_GAP - self._gap
            item = FlowItem(sign, "value")
            yield QRectF(left, top, self.style.item_width(item), height), item


class TableView(QTableView):
    """Shows a table in rows; the arrow keys move among them, Home and End go to the first and the last.

    Rows are `row_room` pixels higher than their chips, or than their text if they have none. The font of chips is
    `points` larger than the window's, and there are `gap` pixels between two. Without `has_bar` it cannot be scrolled
    sideways. A click on a title sorts if it `is_sorted`, as a `SortedTableModel` always is. With `walking_chooses` keys
    that move to a row choose its item, with `marks_selected` selected rows have a bar at their left edge. `look`
    returns what is special about the row of an item, from the source and its number; `keys` do something in place of
    what they do otherwise.
    """

    item_chosen = Signal(object)  # the number of the item that was clicked, or on which Enter or Space was pressed
    item_walked_to = Signal(object)  # the number of the item in the row that a key moved to
    chip_chosen = Signal(object)  # what the chip stands for that was clicked
    columns_changed = Signal()  # others are visible, or they are in another order

    def __init__(
        self, rows: TableModel[Any], theme: Theme, parent: QWidget | None = None, *, name: str, row_room: int = 8,
        points: float = -1, gap: float = 7, padding: int = CELL_PADDING, wraps: bool = False, has_heading: bool = True,
        has_bar: bool = True, is_sorted: bool = False, several: bool = False, walking_chooses: bool = False,
        marks_selected: bool = False, is_adjustable: bool = False,
        look: Callable[[Any, int], RowLook] = lambda _source, _item: _PLAIN,
        keys: Mapping[Key, Callable[[], object]] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent, showGrid=False, wordWrap=wraps)
        self.rows = rows
        self.look = look
        self.keys: dict[Key, Callable[[], object]] = {QKeySequence.StandardKey.Copy: self._copy_rows, **(keys or {})}
        self.copies_all = False  # where no row is selected
        self.first_column = 0  # the leftmost of those that are visible
        self.lines, self.row_room = 1, row_room  # in a row
        self._least_rows = 0
        self._has_bar = has_bar
        self._walking_chooses = walking_chooses
        self.marks_selected = marks_selected
        self._pressed_at = QPointF()
        self._is_spreading = False
        self.chosen: frozenset[int] | None = None  # the columns to show; None: as many as fit
        self._dragged: dict[int, int] = {}  # widths that the user has set
        self._share = 1.0  # how much wider columns are than they want to be
        self.delegate = CellDelegate(self, theme, points, gap, padding)
        self.setItemDelegate(self.delegate)
        self.setAccessibleName(name)
        self.setModel(rows)
        self._set_up(several, wraps)
        self._set_up_heading(has_heading, is_sorted or isinstance(rows, SortedTableModel), is_adjustable)
        keep_keys(self, *_ENDS)
        self.clicked.connect(self._on_self_clicked)
        theme.changed.connect(self._recolor)  # another font is another event
        if isinstance(rows, RecordTableModel):
            rows.modelReset.connect(self.spread)
        self.restyle()

    def _set_up(self, several: bool, wraps: bool) -> None:
        mode = QAbstractItemView.SelectionMode
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(mode.ExtendedSelection if several else mode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)  # Tab leaves the table: the arrow keys move inside it
        self.setMinimumSize(80, 48)  # Qt's own least size would make small windows scroll twice
        self.verticalHeader().hide()
        fit = QHeaderView.ResizeMode.ResizeToContents if wraps else QHeaderView.ResizeMode.Fixed
        self.verticalHeader().setSectionResizeMode(fit)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def _set_up_heading(self, is_visible: bool, is_sorted: bool, is_adjustable: bool) -> None:
        header, mode = self.horizontalHeader(), QHeaderView.ResizeMode
        header.setVisible(is_visible)
        # A selection of its own, which stays empty: to mark selected columns, Qt would ask every row for every column
        # at every repaint, seven seconds for a million rows.
        header.setSelectionModel(QItemSelectionModel(self.rows, header))
        header.setHighlightSections(False)
        header.setMinimumSectionSize(20)
        header.setSectionResizeMode(mode.Interactive if is_adjustable else mode.Fixed)
        header.sectionResized.connect(self._on_header_section_resized)
        header.sectionMoved.connect(self._note_columns)
        if is_sorted:
            header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
            header.setSortIndicatorClearable(True)
            self.setSortingEnabled(True)

    # -- selection

    @property
    def selected_row(self) -> int:
        """The selected row, -1 if none is: a Ctrl+click clears the selection, but not the current row."""
        rows = self.selectionModel().selectedRows()
        return rows[0].row() if rows else -1

    def selected_count(self) -> int:
        return sum(part.height() for part in self.selectionModel().selection().toList())

    def is_one_row_selected(self) -> bool:
        """Return whether the selection may follow what is shown elsewhere."""
        return self.selected_count() <= 1

    def selected_items(self) -> NDArray[np.int64]:
        is_selected = np.zeros(self.rows.rowCount(), dtype=np.bool_)
        for part in self.selectionModel().selection().toList():
            is_selected[part.top() : part.bottom() + 1] = True
        return self.rows.shown_items()[is_selected]

    def mark_row(self, row: int) -> None:
        if row < 0:
            self.clearSelection()
            self.setCurrentIndex(self.rows.index(-1, 0))
        elif row != self.currentIndex().row() or not self.selectionModel().hasSelection():
            self.setCurrentIndex(self.rows.index(row, 0))

    def bring_into_view(self, row: int, around: int, *, is_early: bool = False) -> None:
        """Scroll to a row with some rows around it; a distant row goes to the middle. The topmost row is whole.

        `is_early`: scroll as soon as there are fewer rows around it, not only once it is out of view.
        """
        self.executeDelayedItemsLayout()  # the scroll bar knows the rows
        height, room = self.row_height, self.viewport().height()
        bar, top = self.verticalScrollBar(), self.rowViewportPosition(row)
        margin = min(around, max(room // height - 1, 0) // 2) * height
        edge = margin if is_early else 0
        if top < -4 * height or top > room + 4 * height:
            bar.setValue(_whole_rows(bar.value() + top - (room - height) // 2, height))
        elif top < edge:
            bar.setValue(_whole_rows(bar.value() + top - margin, height))
        elif top + height > room - edge:
            bar.setValue(-_whole_rows(-(bar.value() + top + height - room + margin), height))

    # -- look

    @property
    def row_height(self) -> int:
        return self.verticalHeader().defaultSectionSize()

    def restyle(self) -> None:
        self._recolor()
        self.fit_rows()
        self.spread()

    def _recolor(self) -> None:
        self.delegate.restyle()
        self.viewport().update()

    def fit_rows(self) -> None:
        has_chips = any(column.chips is not None for column in self.rows.columns)
        height = self.lines * (self.delegate.style.height if has_chips else self.fontMetrics().height()) + self.row_room
        if self.wordWrap():
            self.verticalHeader().setMinimumSectionSize(height)
        elif height != self.row_height:
            current = self.currentIndex()
            is_seen = self.viewport().rect().intersects(self.visualRect(current))
            row = current.row() if is_seen else self.rowAt(0)
            self.verticalHeader().setDefaultSectionSize(height)
            if row >= 0:
                self.updateGeometries()  # else the scroll bar ends too early
                self.bring_into_view(row, 1, is_early=True)  # a higher heading may take a row's room
        if self._least_rows:
            self.show_rows(self._least_rows)

    def show_rows(self, least: int) -> None:
        """Have room for so many rows at least, without a heading."""
        self._least_rows = least
        self.setMinimumHeight(least * self.row_height + 2)

    def spread(self) -> None:
        """Give each column its width; where they do not fit, hide those that matter least."""
        if self._is_spreading:
            return
        self._is_spreading = True
        before = self.shown_columns()
        for _ in range(3):  # Qt may show or hide the vertical scroll bar while widths are set
            room = self.viewport().width()
            widths = self.widths(room)
            for column in range(len(self.rows.columns)):
                self.setColumnHidden(column, column not in widths)
            for column, width in widths.items():
                self.setColumnWidth(column, width)
            if self._has_bar:
                is_whole = self.horizontalHeader().length() <= room
                policy = Qt.ScrollBarPolicy.ScrollBarAlwaysOff if is_whole else Qt.ScrollBarPolicy.ScrollBarAsNeeded
                self.setHorizontalScrollBarPolicy(policy)
            self.updateGeometries()  # else Qt leaves the table scrolled sideways for a while, with numbers cut off
            if room == self.viewport().width():
                break
        self._is_spreading = False
        if self.shown_columns() != before:
            self._note_columns()

    def choose(self, columns: frozenset[int] | None) -> None:
        self.chosen = columns
        self.spread()

    def shown_columns(self) -> frozenset[int]:
        return frozenset(column for column in range(len(self.rows.columns)) if not self.isColumnHidden(column))

    def widths(self, room: int) -> dict[int, int]:
        source, columns, measure = self.rows.source, self.rows.columns, Measure(self)
        there = {
            place: column
            for place, column in enumerate(columns)
            if (self.chosen is None or place in self.chosen)
            and (column.is_there is None or (source is not None and column.is_there(source)))
        }
        wanted = {place: self._dragged.get(place) or measure.width(place, it.width) for place, it in there.items()}
        widths = {
            place: wanted[place] if place in self._dragged or it.least is None else measure.width(place, it.least)
            for place, it in there.items()
        }
        over = sum(widths.values()) - room
        for place in sorted(there, key=lambda place: there[place].importance):
            if over > 0 and there[place].importance > 0 and self.chosen is None:
                over -= widths.pop(place)
        spare = room - sum(width for place, width in widths.items() if there[place].importance >= 0)
        for place in widths:
            more = min(wanted[place] - widths[place], spare)
            if more > 0:
                widths[place] += more
                spare -= more
        spare = room - sum(widths.values())
        most = max((there[place].stretch for place in widths), default=0)
        stretched = [place for place in widths if most and there[place].stretch == most]
        self._share = 1.0
        if len(stretched) == 1:
            widths[stretched[0]] += max(spare, 0)
        elif stretched:
            self._share = 1 + max(spare, 0) / max(sum(widths[place] for place in stretched), 1)
            widths |= {place: int(widths[place] * self._share) for place in stretched}
        return widths

    def _on_header_section_resized(self, column: int, before: int, width: int) -> None:
        """Keep a width that the user has set by dragging; a number keeps the room that it needs."""
        if self._is_spreading or not width or not before:
            return
        described = self.rows.columns[column]
        least = Measure(self).width(column, described.width) if described.align == RIGHT else 1
        self._dragged[column] = max(int(width / self._share), least)
        if width < least or self._share == 1:
            self.spread()

    def _note_columns(self) -> None:
        header = self.horizontalHeader()
        order = (header.logicalIndex(place) for place in range(header.count()))
        self.first_column = next((column for column in order if not self.isColumnHidden(column)), 0)
        self.viewport().update()
        self.columns_changed.emit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._dragged = {}
            if any(column.check is not None for column in self.rows.columns):
                set_look(self)  # the boxes grow with the font
            self.restyle()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.spread()

    # -- keys and mouse

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index, key = self.currentIndex(), event.key()
        if event.matches(QKeySequence.StandardKey.Copy) and not self.can_copy:
            event.ignore()
            return
        for wanted, act in self.keys.items():
            if isinstance(wanted, QKeySequence.StandardKey):
                is_pressed = event.matches(wanted)
            else:
                is_pressed = wanted in (key, event.keyCombination())
            if is_pressed:
                act()
                return
        if key in _MOVES and event.modifiers() & Qt.KeyboardModifier.AltModifier:
            event.ignore()  # it is a command's, which may be disabled
            return
        if key in _ENDS and is_alone(event):
            if count := self.rows.rowCount():  # in a visible column: Qt does not scroll to a hidden one
                column = max(self.horizontalHeader().logicalIndexAt(0), 0)
                self.setCurrentIndex(self.rows.index(count - 1 if key == Qt.Key.Key_End else 0, column))
        elif key == Qt.Key.Key_Space and index.isValid() and any(column.check for column in self.rows.columns):
            self._switch(index)
        elif key in _ENTER and not event.modifiers() and index.isValid():
            self.item_chosen.emit(self.rows.item_of_row(index.row()))
        else:
            super().keyPressEvent(event)
        row = self.currentIndex().row()
        # Not currentRowChanged: Qt makes the first row current when the table gets the keyboard.
        if key in _MOVES and row not in (index.row(), -1) and self.is_one_row_selected():
            (self.item_chosen if self._walking_chooses else self.item_walked_to).emit(self.rows.item_of_row(row))

    def _switch(self, index: QModelIndex) -> None:
        for column in range(len(self.rows.columns)):
            box = index.siblingAtColumn(column)
            is_checked = self.rows.is_checked(box)
            if is_checked is not None:
                wanted = Qt.CheckState.Unchecked if is_checked else Qt.CheckState.Checked
                self.rows.setData(box, wanted, Qt.ItemDataRole.CheckStateRole)

    @property
    def can_copy(self) -> bool:
        """Whether there are rows to copy; else the command and the key copy what is selected in the window."""
        return bool(self.rows.rowCount() if self.copies_all else self.selected_count())

    def copy(self) -> None:
        self.keys[QKeySequence.StandardKey.Copy]()

    def _copy_rows(self) -> None:
        columns = sorted(self.shown_columns())
        copy_lines(map(partial(self._copied, item), columns) for item in self.selected_items().tolist())

    def _copied(self, item: int, column: int) -> str:
        """Return the text of a cell; a number has all digits, and nothing between groups of them."""
        value = self.rows.value(item, column)
        is_plain = self.rows.columns[column].text is None and type(value) in (int, float)
        return str(value) if is_plain else self.rows.text(item, column)

    def keyboardSearch(self, search: str) -> None:
        """Do nothing: Qt would ask a Python model for the text of every row, and there can be a million."""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed_at = event.position()
        super().mousePressEvent(event)
        index = self.indexAt(event.position().toPoint())
        if event.button() == Qt.MouseButton.RightButton and chooses(event, self) and index.isValid():
            self.clicked.emit(index)

    def _on_self_clicked(self, index: QModelIndex) -> None:
        column, chip = self.rows.columns[index.column()], None
        if column.chips is not None:
            places = self.delegate.places(self.visualRect(index), index)
            chip = next((item for rect, item in places if rect.contains(self._pressed_at)), None)
        if chip is not None and chip.target is not None:
            self.chip_chosen.emit(chip.target)
        elif self.is_one_row_selected() and (column.check is None or index.data()):  # not where there is but a box
            self.item_chosen.emit(self.rows.item_of_row(index.row()))


def _whole_rows(pixels: int, height: int) -> int:
    return pixels // height * height


def needed_height(part: QWidget, title: QLabel, table: TableView, rows: int) -> int:
    """Return the height of a wrapped title and this many rows of a table, if that is there, in a part."""
    layout = part.layout()
    margins = part.contentsMargins() if layout is None else layout.contentsMargins()
    width = max(part.width() - margins.left() - margins.right(), 1)
    height = max(title.heightForWidth(width), 0)
    if not table.isHidden():
        height += max(rows * table.row_height, table.minimumHeight())
        height += layout.spacing() if layout is not None else 0
    return height + margins.top() + margins.bottom() + 4
