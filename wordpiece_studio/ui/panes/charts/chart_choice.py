"""A row of buttons of which one is pressed; a combo box where there is no room for them. It knows no chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QButtonGroup, QComboBox, QHBoxLayout, QSizePolicy, QToolButton, QWidget

from wordpiece_studio.ui.widgets.kept_keys import keep
from wordpiece_studio.ui.widgets.plain import set_plain_tooltip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QResizeEvent


class _Segment(QToolButton):
    """A button that keeps the arrow keys, which are the window's elsewhere, for going to its neighbours."""

    def event(self, event: QEvent) -> bool:
        return keep(event, (Qt.Key.Key_Left, Qt.Key.Key_Right)) or super().event(event)


class ChartChoice(QWidget):
    """Which of several things is shown."""

    chosen = Signal(object)
    """The index chosen by the user, an int."""

    def __init__(self, names: Sequence[str], tips: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._group = QButtonGroup(self)
        self._row = QWidget(self)
        self._combo = QComboBox(self)
        self._combo.setAccessibleName(self.tr("Chart"))
        self._combo.addItems(list(names))
        row = QHBoxLayout(self._row)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        for index, (name, tip) in enumerate(zip(names, tips, strict=True)):
            button = _Segment(self._row)
            button.setText(name)
            button.setCheckable(True)
            set_plain_tooltip(button, tip)
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            self._group.addButton(button, index)
            row.addWidget(button)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._row)
        layout.addWidget(self._combo)
        layout.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._group.idClicked.connect(self._on_group_id_clicked)
        self._combo.activated.connect(self._on_combo_activated)
        self.set_index(0)
        self._fit()

    @property
    def index(self) -> int:
        """Which one is chosen."""
        return self._group.checkedId()

    def set_index(self, index: int) -> None:
        """Choose without saying so."""
        self._group.button(index).setChecked(True)
        self._combo.setCurrentIndex(index)

    def set_available(self, index: int, available: bool) -> None:
        """Offer one of them, or not."""
        self._group.button(index).setVisible(available)
        items = self._combo.model()
        if isinstance(items, QStandardItemModel):
            items.item(index).setEnabled(available)
        self._fit()

    def minimumSizeHint(self) -> QSize:
        return QSize(60, max(self._row.sizeHint().height(), self._combo.sizeHint().height()))

    def sizeHint(self) -> QSize:
        return QSize(self._row.sizeHint().width(), self.minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        fits = self._row.sizeHint().width() <= self.width()
        self._row.setVisible(fits)
        self._combo.setVisible(not fits)

    def _on_group_id_clicked(self, index: int) -> None:
        self._combo.setCurrentIndex(index)
        self.chosen.emit(index)

    def _on_combo_activated(self, index: int) -> None:
        self._group.button(index).setChecked(True)
        self.chosen.emit(index)
