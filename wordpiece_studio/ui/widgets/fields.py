"""Fields with a limit, however text comes in, and dialogs, which fit the screen there is.

Qt's editor, and what follows each of its edits, takes seconds per key press with a few megabytes; so does whatever is
searched, compiled or drawn at each key press with the 32,767 characters that Qt lets into a line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QLocale, QMimeData, QObject, QSize, Qt, QTextBoundaryFinder, Signal
from PySide6.QtGui import QDropEvent, QKeyEvent, QMouseEvent, QShowEvent, QTextCursor
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLayout,
    QLineEdit,
    QMainWindow,
    QSpacerItem,
    QSpinBox,
    QStyle,
    QStyleOptionComboBox,
    QVBoxLayout,
    QWidget,
)

from wordpiece_studio.session.view_text import to_view, utf16_length
from wordpiece_studio.ui.widgets.pane import BareArea, fill
from wordpiece_studio.ui.widgets.plain import (
    ExactEdit,
    WholeLabel,
    editor_text,
    explain,
    plain_label,
    set_look,
    tool_button,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence


FRAME = QSize(12, 36)  # what the system draws around a window, which is known only once it is shown


def room_for(window: QWidget) -> QSize:
    return window.screen().availableSize() - FRAME


class RoomArea(BareArea):
    """Holds the content of a window: as large as it wants to be, but scrolled where the screen is smaller."""

    def __init__(self, content: QWidget, parent: QWidget) -> None:
        self._content, self._is_fitting = content, False
        super().__init__(content, parent)
        self.setWidgetResizable(True)

    def minimumSizeHint(self) -> QSize:
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

    def __init__(self, title: str, parent: QWidget | None, *, entry: str = "") -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        explain(entry, self)
        self._text_height = self.fontMetrics().height()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            before, self._text_height = self._text_height, self.fontMetrics().height()
            self.resize((self.size() * (self._text_height / before)).boundedTo(room_for(self)))

    def size_to(self, characters: int, lines: int) -> None:
        self.resize(self.fontMetrics().averageCharWidth() * characters, self.fontMetrics().height() * lines)

    def begin(self) -> None:
        self.show()
        self.raise_()
        self.activateWindow()

    def showEvent(self, event: QShowEvent) -> None:
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
        focused, buttons = self.focusWidget(), self.findChild(QDialogButtonBox)
        if buttons is not None:
            layout.removeWidget(buttons)
        content = QWidget(self)
        content.setLayout(layout)  # which takes the widgets with it
        area = RoomArea(content, self)
        area.setMinimumSize(QSize(200, 80))  # the buttons need room too
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

    def lay_out(
        self, *parts: QWidget | QLayout | QSpacerItem | tuple[Any, ...], accept: str = "", cancel: str = "",
        margins: tuple[int, int, int, int] | None = None,
    ) -> None:  # fmt: skip
        """Put the parts above the buttons, with other names than Qt's if they have some here."""
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        standard, roles = QDialogButtonBox.StandardButton, QDialogButtonBox.ButtonRole
        self.buttons = buttons = QDialogButtonBox(self)
        self.accept_button = buttons.addButton(accept, roles.AcceptRole) if accept else buttons.addButton(standard.Ok)
        if accept:
            set_look(self.accept_button, role="primary")
            self.accept_button.setDefault(True)
        if cancel:
            buttons.addButton(cancel, roles.RejectRole)
        else:
            buttons.addButton(standard.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        fill(QVBoxLayout(self), *parts, buttons, margins=margins, spacing=-1)


# Numbers look the same in fields, labels, tables and charts, whatever the system's language: 29,792 and 0.05.
NUMBERS = QLocale(QLocale.Language.English, QLocale.Country.UnitedStates)
MOST_CHARACTERS = 100_000
_LONGEST_CLUSTER = 64  # UTF-16 units; a letter with more accents than that is cut like any text
_LONGEST_LINE, _LINE_WIDTH = 1000, 400  # characters, pixels
LONGEST_LIST = 30_000  # for lists rather than lines, such as ids


class LimitedEdit(ExactEdit):
    """An editor for at most `most` characters. What is inserted is cut at its end, existing text stays."""

    text_changed = Signal(object)  # the text, without what an input method is still composing
    left_out_changed = Signal(object)  # the attribute

    def __init__(self, parent: QWidget | None = None, *, most: int = MOST_CHARACTERS) -> None:
        super().__init__(parent)
        self.most = most
        self._text = ""
        self.left_out = 0  # how many characters of the last insertion did not fit
        # Where an insertion begins and ends, and by how much it is too long.
        self._excess: tuple[int, int, int] | None = None
        self.document().contentsChange.connect(self._on_document_contents_change)
        self.textChanged.connect(self._on_self_text_changed)

    @property
    def text(self) -> str:
        """The text as it was typed; its line ends are LF."""
        return self._text

    def set_text(self, text: str) -> None:
        text = to_view(text)
        fitting = beginning(text, self.most)
        cursor = self.textCursor()
        cursor.beginEditBlock()
        cursor.select(cursor.SelectionType.Document)
        cursor.insertText(whole(fitting))
        cursor.endEditBlock()
        self._say_left_out(len(text) - len(fitting))

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert what is pasted or dropped as far as it fits, before Qt lays all of it out."""
        cursor, text = self.textCursor(), to_view(source.text())
        selected = self.text_between(cursor.selectionStart(), cursor.selectionEnd())
        fitting = beginning(text, max(self.most - len(editor_text(self.document())) + len(selected), 0))
        if fitting != text:
            source = QMimeData()
            source.setText(whole(fitting))
        super().insertFromMimeData(source)
        self._say_left_out(len(text) - len(fitting))

    def _say_left_out(self, count: int) -> None:
        if count != self.left_out:
            self.left_out = count
            self.left_out_changed.emit(count)

    def _on_document_contents_change(self, position: int, _removed: int, added: int) -> None:
        text = to_view(editor_text(self.document()))
        if len(text) > self.most:
            self._excess = (position, position + added, len(text) - self.most)
        elif text != self._text:
            self._text = text
            self.text_changed.emit(text)
            self._say_left_out(0)

    def _on_self_text_changed(self) -> None:
        """Remove what was inserted beyond the limit; undo must not bring it back."""
        if self._excess is None:
            return
        (start, end, excess), self._excess = self._excess, None
        end = min(end, self.document().characterCount() - 1)
        added = self.text_between(start, end)
        kept = beginning(added, max(len(added) - excess, 0))
        cursor = QTextCursor(self.document())
        cursor.setPosition(start + utf16_length(kept))
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        self.document().clearUndoRedoStacks()
        self._say_left_out(len(added) - len(kept))


def beginning(text: str, most: int) -> str:
    r"""Return at most the first `most` characters of a text, the last of them with all its accents or joined emoji.

    >>> beginning("abc", 2), beginning("ae\u0301", 2)
    ('ab', 'a')
    """
    if len(text) <= most:
        return text
    end = utf16_length(text[:most])
    finder = QTextBoundaryFinder(QTextBoundaryFinder.BoundaryType.Grapheme, whole(text[: most + 1]))
    finder.setPosition(end)
    before = end if finder.isAtBoundary() else finder.toPreviousBoundary()
    if before < end - _LONGEST_CLUSTER:
        return text[:most]
    units = text[:most].encode("utf-16-le", "surrogatepass")
    return units[: 2 * before].decode("utf-16-le", "surrogatepass")


class _Line(QLineEdit):
    def __init__(self, parent: QWidget | None, takes_key: Callable[[QKeyEvent], bool] | None) -> None:
        super().__init__(parent)
        self._takes_key = takes_key

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:  # Qt shows Tab to no other method
            if self._takes_key is not None and self._takes_key(event):
                return True
        return super().event(event)


def line_field(
    parent: QWidget | None, text: str = "", *, hint: str = "", name: str = "", clears: bool = False,
    most: int = _LONGEST_LINE, takes_key: Callable[[QKeyEvent], bool] | None = None,
) -> QLineEdit:  # fmt: skip
    """Return a field for one line of at most `most` UTF-16 units, or for `text` if that is longer.

    It shows `hint` while it is empty, screen readers say `name`. Keys for which `takes_key` is true do nothing else.
    """
    field = _Line(parent, takes_key)
    field.setPlaceholderText(hint)
    field.setAccessibleName(name)
    field.setClearButtonEnabled(clears)
    limit(field, text, most=most)
    field.setText(whole(text))
    return field


def limit(field: QLineEdit, text: str, *, most: int = _LONGEST_LINE) -> None:
    """Limit a field that Qt made to `most` UTF-16 units, or to `text` if that is longer."""
    field.setMaxLength(max(most, utf16_length(text)))


class _Box(QComboBox):
    def initStyleOption(self, option: QStyleOptionComboBox) -> None:
        """Let a choice that is too long end in “…”; a style sheet would cut it."""
        super().initStyleOption(option)
        complex_, field = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(complex_, option, field, self).width() - 2
        option.currentText = self.fontMetrics().elidedText(option.currentText, Qt.TextElideMode.ElideRight, room)


def combo_box(parent: QWidget, name: str) -> QComboBox:
    box = _Box(parent)
    box.setAccessibleName(name)
    return box


def offer(box: QComboBox, items: Iterable[tuple[str, str]], chosen: str | None = None) -> None:
    box.clear()
    for title, data in items:
        box.addItem(title, data)
    box.setCurrentIndex(-1 if chosen is None else box.findData(chosen))


class Segments(QWidget):
    """Buttons side by side of which one is down; a click on another calls `take` with its number."""

    def __init__(
        self, names: Sequence[str], tips: Sequence[str], parent: QWidget, take: Callable[[int], object], *,
        entry: str = "",
    ) -> None:  # fmt: skip
        super().__init__(parent)
        look: Any = {"role": "segment", "entry": entry, "is_switch": True}
        self.buttons = [tool_button(*each, self, name=each[0], **look) for each in zip(names, tips, strict=True)]
        for number, button in enumerate(self.buttons):
            button.setAutoExclusive(True)
            button.clicked.connect(lambda _is_on, at=number: take(at))
        fill(QHBoxLayout(self), *self.buttons)

    def choose(self, number: int) -> None:
        self.buttons[number].setChecked(True)


def ask_in(field: QLineEdit | QSpinBox) -> None:
    field.setFocus(Qt.FocusReason.ShortcutFocusReason)
    field.selectAll()


def show_problem(field: QLineEdit, label: WholeLabel, text: str) -> None:
    label.show_text(text)
    field.setAccessibleDescription(text)
    set_look(field, state="wrong" if text else "")


class LineDialog(QuestionDialog):
    """Asks for a line, which `take` gets."""

    def __init__(
        self, title: str, label: str, text: str, parent: QWidget, *, name: str, accept: str, entry: str,
        take: Callable[[str], object],
    ) -> None:  # fmt: skip
        super().__init__(title, parent, entry=entry)
        self.field = line_field(self, text, name=name)
        self.field.selectAll()
        self.lay_out(plain_label(label, self), self.field, accept=accept)
        self.accepted.connect(lambda: take(self.field.text()))
        self.resize(_LINE_WIDTH, self.sizeHint().height())


_ALONE = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)  # on a Mac arrow keys have the second
_DRAGS = (QEvent.Type.DragEnter, QEvent.Type.DragMove, QEvent.Type.Drop)
_DRAG_ENDS = (QEvent.Type.DragLeave, QEvent.Type.Drop)


def chooses(event: QMouseEvent, part: QWidget) -> bool:
    """Return whether a press chooses what it is on: a right one does where the commands of a menu are for that."""
    has_menu = part.contextMenuPolicy() == Qt.ContextMenuPolicy.CustomContextMenu
    return event.button() == Qt.MouseButton.LeftButton or (has_menu and event.button() == Qt.MouseButton.RightButton)


def is_alone(event: QKeyEvent) -> bool:
    return event.modifiers() in _ALONE


def keep(event: QEvent, keys: Collection[Qt.Key]) -> bool:
    """Accept `event` if it asks whether the control wants one of these keys, pressed alone; return whether it does."""
    if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    if event.key() not in keys or not is_alone(event):
        return False
    event.accept()
    return True


class _KeptKeys(QObject):
    def __init__(self, widget: QWidget, keys: Collection[Qt.Key]) -> None:
        super().__init__(widget)
        self._keys = keys
        widget.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        return keep(event, self._keys)


def keep_keys(widget: QWidget, *keys: Qt.Key) -> None:
    """Leave these keys, pressed alone, to a widget that has the focus: in the window they are for commands."""
    _KeptKeys(widget, keys)


class FileDrops(QObject):
    """Takes local files and folders dropped on a widget; while some are over it, it is lit up, and says `words`."""

    files_dropped = Signal(object)  # their paths

    def __init__(self, target: QWidget, words: str) -> None:
        super().__init__(target)
        self._target = target.viewport() if isinstance(target, QAbstractScrollArea) else target
        self.light = plain_label(words, self._target, wrap=True)
        self.light.setObjectName("drop_light")
        self.light.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.light.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.light.hide()
        self._target.setAcceptDrops(True)
        self._target.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._target and event.type() in _DRAG_ENDS:
            self.light.hide()
        if watched is not self._target or event.type() not in _DRAGS or not isinstance(event, QDropEvent):
            return False
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if not paths:
            return False
        event.acceptProposedAction()
        if event.type() == QEvent.Type.DragEnter:
            self.light.setGeometry(self._target.rect())
            self.light.raise_()
            self.light.show()
        elif event.type() == QEvent.Type.Drop:
            self.files_dropped.emit(paths)
        return True
