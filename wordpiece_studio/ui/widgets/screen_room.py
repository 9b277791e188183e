"""Windows and dialogs that fit the screen there is: they are made smaller, and what then has no room is scrolled.

A small screen, or text enlarged by the system, leaves less room than some of them need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QLayout,
    QMainWindow,
    QScrollArea,
    QSpacerItem,
    QVBoxLayout,
    QWidget,
)

from wordpiece_studio.ui.widgets.explained import explain
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import set_role

if TYPE_CHECKING:
    from PySide6.QtGui import QShowEvent

FRAME = QSize(12, 36)
"""What the system draws around a window, which is known only once it is shown."""

_LEAST = QSize(200, 80)


def room_for(window: QWidget) -> QSize:
    return window.screen().availableSize() - FRAME


class RoomArea(QScrollArea):
    """Holds the content of a window: as large as it wants to be, but scrolled where the screen is smaller."""

    def __init__(self, content: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self._content = content
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._is_fitting = False
        self.setWidgetResizable(True)
        self.setWidget(content)
        for ground in (content, self.viewport()):
            ground.setAutoFillBackground(False)  # the window's own color

    def minimumSizeHint(self) -> QSize:
        """Return the least size of the content, or what the screen has."""
        return self._content.minimumSizeHint().boundedTo(self._room())

    def sizeHint(self) -> QSize:
        return self._content.sizeHint().boundedTo(self._room())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest and watched is self._content:
            self.updateGeometry()
        if event.type() != QEvent.Type.Resize:
            return super().eventFilter(watched, event)
        if self._is_fitting:  # what the content needs may depend on its size: fitting it again might never end
            return False
        self._is_fitting = True
        try:
            return super().eventFilter(watched, event)
        finally:
            self._is_fitting = False

    def _room(self) -> QSize:
        window = self.window()
        room = room_for(window)
        menus = window.menuBar().sizeHint().height() if isinstance(window, QMainWindow) else 0
        return room - QSize(0, menus)


class ScreenDialog(QDialog):
    """A dialog that is never larger than the screen; its buttons stay in sight where the rest is scrolled."""

    def showEvent(self, event: QShowEvent) -> None:
        """Fit the screen before Qt finds a place for it."""
        self._fit_screen()
        super().showEvent(event)

    def _fit_screen(self) -> None:
        room, layout = room_for(self), self.layout()
        if layout is None:
            return
        layout.activate()
        least = layout.totalMinimumSize().expandedTo(self.minimumSize())
        size = self.size()
        if least.boundedTo(room) != least:
            bars = self._scroll(layout)
            size += QSize(bars.width() if least.height() > room.height() else 0,
                          bars.height() if least.width() > room.width() else 0)  # fmt: skip
        self.resize(size.boundedTo(room))

    def _scroll(self, layout: QLayout) -> QSize:
        """Put all but the buttons at the foot into an area that scrolls; return how wide and high its bars are."""
        focused, last = self.focusWidget(), layout.itemAt(layout.count() - 1)
        foot = last.widget() if last is not None else None
        buttons = foot if isinstance(foot, QDialogButtonBox) else None
        if buttons is not None:
            layout.removeWidget(buttons)
        content = QWidget(self)
        content.setLayout(layout)  # which takes the widgets with it
        area = RoomArea(content, self)
        area.setMinimumSize(_LEAST)  # the buttons need room too
        outer = fill(QVBoxLayout(self), (area, 1), spacing=-1)
        if buttons is not None:
            margins = layout.contentsMargins()
            around = margins.left(), 0, margins.right(), margins.bottom()
            outer.addLayout(fill(QVBoxLayout(), buttons, margins=around, spacing=-1))
        self.setMinimumSize(self.minimumSize().boundedTo(room_for(self)))
        outer.activate()
        if focused is not None:
            focused.setFocus()
        return QSize(area.verticalScrollBar().sizeHint().width(), area.horizontalScrollBar().sizeHint().height())


class QuestionDialog(ScreenDialog):
    """Asks something once: when it is `accepted`, its attributes have the answers. Then it is deleted."""

    def __init__(self, title: str, parent: QWidget | None, *, entry: str = "") -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        if entry:
            explain(entry, self)

    def lay_out(
        self,
        *parts: QWidget | QLayout | QSpacerItem | tuple[Any, ...],
        accept: str = "",
        cancel: str = "",
        margins: tuple[int, int, int, int] | None = None,
    ) -> None:
        """Put the parts above the buttons; `accept` and `cancel` are what these are called in place of Qt's names."""
        standard, roles = QDialogButtonBox.StandardButton, QDialogButtonBox.ButtonRole
        self.buttons = buttons = QDialogButtonBox(self)
        self.accept_button = buttons.addButton(accept, roles.AcceptRole) if accept else buttons.addButton(standard.Ok)
        if accept:
            set_role(self.accept_button, "primary")
            self.accept_button.setDefault(True)
        if cancel:
            buttons.addButton(cancel, roles.RejectRole)
        else:
            buttons.addButton(standard.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        fill(QVBoxLayout(self), *parts, buttons, margins=margins, spacing=-1)
