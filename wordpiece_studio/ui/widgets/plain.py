"""Text from outside, shown and copied as it is: a token ``<img src=…>`` must be shown, not obeyed, no character lost.

Qt's labels and tooltips read a string that looks like HTML as HTML, fetch its images and lose its tags. Every label and
tooltip of this program is made here, also those for little space, which cut a text or grow with it. Buttons, line
edits, combo boxes and item views' cells are plain by themselves; item views' *tooltips* are not: give them
:func:`tooltip_text`.

PySide takes a U+FEFF or U+FFFE at the start of a string for a byte order mark, and drops it or swaps bytes; on the way
back it leaves out halves of surrogate pairs. Qt's own plain text of an editor has spaces for no-break spaces.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtCore import QEvent, QLocale, QMimeData, QPoint, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QTextCursor, QTextDocument
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLabel,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
    QWidgetAction,
)

from wordpiece_studio.session.table_model import TableModel
from wordpiece_studio.session.task import later
from wordpiece_studio.session.view_text import utf16_length

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from PySide6.QtGui import QAction, QResizeEvent, QWheelEvent

    _Widget = QWidget
else:
    _Widget = object  # a mixin comes before one class of Qt

_MARK = "\ufeff"
_MARK_IS_TAKEN = not QLocale.c().toLower(_MARK)  # true of all versions from 6.8 to 6.12


def whole(text: str) -> str:
    """Return what to pass to Qt so that it receives exactly `text`."""
    return _MARK + text if text[:1] in (_MARK, "\ufffe") and _MARK_IS_TAKEN else text


def key_text(keys: str | QKeySequence | QKeySequence.StandardKey) -> str:
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)


def copy_text(text: str) -> None:
    QGuiApplication.clipboard().setText(whole(text))


def copy_lines(lines: Iterable[Iterable[str]]) -> None:
    copy_text("".join("\t".join(line) + "\n" for line in lines))


def editor_text(document: QTextDocument, start: int = 0, end: int | None = None) -> str:
    """Return what an editor's document holds between two positions in UTF-16 units; the end of a block is a LF."""
    end = document.characterCount() - 1 if end is None else end
    cursor = QTextCursor(document)
    cursor.setPosition(start)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    text = cursor.selectedText()
    if utf16_length(text) != end - start:
        units = "".join(document.characterAt(place) for place in range(start, end))
        text = units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text.replace("\u2029", "\n")


class ExactEdit(QPlainTextEdit):
    """An editor from which text is copied, cut and dragged unchanged, and in which Shift+Enter ends a line too.

    In Qt's own editor that key inserts a U+2028, which ends no line of a file.
    """

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.InsertLineSeparator):
            event = QKeyEvent(QEvent.Type.KeyPress, event.key(), Qt.KeyboardModifier.NoModifier, "\r")
        super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Keep the size of the text: Qt would change that of one that is only read."""
        if not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().wheelEvent(event)

    def createMimeDataFromSelection(self) -> QMimeData:
        cursor = self.textCursor()
        # The clipboard may keep it beyond Python's end, when an object made in Python would crash.
        data = QPlainTextEdit().createMimeDataFromSelection()
        data.setText(whole(self.text_between(cursor.selectionStart(), cursor.selectionEnd())))
        return data

    def text_between(self, start: int, end: int) -> str:
        return editor_text(self.document(), start, end)


def plain_label(
    text: str = "", parent: QWidget | None = None, *, role: str = "", wrap: bool = False, entry: str = ""
) -> QLabel:
    """Return a label that shows `text` as it is; with `wrap`, it breaks its lines at the width it is given.

    The `role` says how the style sheet draws it: ``"title"``, ``"hint"``, ``"caption"``, ``"heading"``, ``"value"``,
    ``"error"`` or nothing; `entry` of the glossary explains it.
    """
    label = QLabel(parent, wordWrap=wrap)
    explain(entry, label)
    label.setProperty("role", role)
    set_plain_text(label, text)
    return label


class BuddyLabel(QLabel):
    """The caption of a field: it has the field's tooltip, which may change, and leads to the field."""

    def __init__(self, text: str, field: QWidget, parent: QWidget, *, role: str = "caption") -> None:
        super().__init__(parent)
        self.setProperty("role", role)
        set_plain_text(self, text)
        self.setBuddy(field)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            self.setToolTip(self.buddy().toolTip())
        return super().event(event)


def set_plain_text(label: QLabel, text: str) -> None:
    """Show `text` in `label` as it is, cut after 20,000 characters (longer text would hold up the window)."""
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setText(whole(shown(text, 20_000)))


def set_plain_tooltip(target: QWidget | QAction, text: str) -> None:
    target.setToolTip(tooltip_text(text))


def tool_button(
    text: str, tip: str, parent: QWidget | None, act: Callable[..., object] | None = None, *, name: str = "",
    role: str = "", entry: str = "", is_switch: bool = False, takes_focus: bool = False, menu: QMenu | None = None,
) -> QToolButton:  # fmt: skip
    """Return a small button that calls `act`; screen readers say its tooltip `tip` too unless there is a `name`.

    A switch stays down until it is clicked again, and calls `act` whenever it is switched, also by the program. A
    button that `takes_focus` does so at a click too, one with a `menu` shows it; `entry` of the glossary explains it.
    """
    button = QToolButton(parent)
    explain(entry, button)
    button.setText(text)
    button.setAccessibleName(name or tip)
    set_plain_tooltip(button, tip)
    if role:
        button.setProperty("role", role)
    button.setCheckable(is_switch)
    if takes_focus:
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    if menu is not None:
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    if act is not None:
        (button.toggled if is_switch else button.clicked).connect(act)
    return button


def push_button(parent: QWidget, text: str, act: Callable[[], object]) -> QPushButton:
    """Return a button of a dialog that calls `act`; Enter does not press it."""
    button = QPushButton(text, parent, autoDefault=False)
    button.clicked.connect(act)
    return button


def add_heading(menu: QMenu, text: str) -> None:
    """Add a line and a heading to a menu; of Qt's own sections, a style sheet shows no text."""
    if not menu.isEmpty():
        menu.addSeparator()
    action = QWidgetAction(menu)
    action.setDefaultWidget(label := plain_label(text, menu, role="heading"))
    label.setMargin(5)
    action.setEnabled(False)
    menu.addAction(action)


def tooltip_text(text: str) -> str:
    """Return the HTML that a tooltip shows as exactly `text`; for ``ToolTipRole`` and ``setToolTip``.

    >>> tooltip_text("a<b>c")
    '<span style="white-space:pre-wrap">a&lt;b&gt;c</span>'
    """
    if not text:
        return ""
    return f'<span style="white-space:pre-wrap">{escape(shown(text, 2000), quote=False)}</span>'


def set_look(widget: QWidget, **properties: str) -> None:
    """Let the style sheet draw `widget` by properties: a ``role`` such as "primary", a ``state`` such as "wrong"."""
    for name, value in properties.items():
        widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)
    widget.updateGeometry()  # layouts keep the size that it had before
    widget.update()


def menu_text(text: str) -> str:
    """Return `text` for a menu, a tab or a button, where a lone ``&`` would mark a mnemonic."""
    return shown(text, 200).replace("&", "&&")


def plain_title(text: str) -> str:
    r"""Return the text of a command or menu without the mark of its mnemonic and without the key after it.

    >>> plain_title("Save &vocabulary…"), plain_title("R&&D"), plain_title("Cu&t\tCtrl+X")
    ('Save vocabulary…', 'R&D', 'Cut')
    """
    return re.sub(r"&(.)", r"\1", text.partition("\t")[0])


def shown(text: str, limit: int) -> str:
    """Return `text` as Qt can show it: at most `limit` characters, and no half of a surrogate pair."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    has_half = not cut.isascii() and any("\ud800" <= character <= "\udfff" for character in cut)
    return cut.encode("utf-8", "replace").decode("utf-8") if has_half else cut


_LONGEST_CUT = 5000


class Fitted(_Widget):
    """Mixed into a widget that `fit` fits anew to each other size or font; `fits_later`, once its parts have theirs."""

    fits_later: ClassVar[bool] = False

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() not in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            return
        if self.fits_later:
            later(self, 0, self.fit)
        else:
            self.fit()

    def fit(self) -> None:
        raise NotImplementedError


class FittingLabel(Fitted, QLabel):
    """Shows one line: of several forms of a text the first that fits, else the last, cut at its end."""

    elide_mode: ClassVar[Qt.TextElideMode] = Qt.TextElideMode.ElideRight
    most = 0  # pixels that it takes; 0: all that there are

    def __init__(self, parent: QWidget | None = None, *, role: str = "") -> None:
        super().__init__(parent)
        self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.forms: tuple[str, ...] = ("",)

    def show_forms(self, *forms: str) -> None:
        self.forms = forms
        self.fit()

    def fit(self) -> None:
        metrics, room = self.fontMetrics(), self.most or self.contentsRect().width()
        text = next((form for form in self.forms if metrics.horizontalAdvance(form) <= room), self.forms[-1])
        set_plain_text(self, metrics.elidedText(text, self.elide_mode, room))


class CutLabel(FittingLabel):
    """Shows one line of text, cut if necessary; its tooltip and screen readers have all of it."""

    elide_mode = Qt.TextElideMode.ElideMiddle  # both ends of a path matter

    def __init__(self, text: str = "", parent: QWidget | None = None, *, role: str = "", most: int = 0) -> None:
        super().__init__(parent, role=role)
        self.most = most
        policy = QSizePolicy.Policy.Preferred if most else QSizePolicy.Policy.Ignored
        self.setSizePolicy(policy, QSizePolicy.Policy.Fixed)
        self.show_text(text)

    def show_text(self, text: str) -> None:
        self.setAccessibleName(text[:_LONGEST_CUT])
        self.show_forms(text[:_LONGEST_CUT])

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        width = metrics.horizontalAdvance(self.forms[0]) + 2
        return QSize(min(width, self.most) if self.most else width, metrics.height() + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(0 if not self.most else self.sizeHint().width(), self.sizeHint().height())

    def fit(self) -> None:
        super().fit()
        set_plain_tooltip(self, self.forms[0] if self.text() != self.forms[0] else "")
        self.updateGeometry()


class WholeLabel(Fitted, QLabel):
    """Shows all of a text, or is hidden while there is none; Qt would cut it off where space is short."""

    def __init__(self, parent: QWidget | None = None, *, role: str = "") -> None:
        super().__init__(parent)
        self.setProperty("role", role)
        self.setWordWrap(True)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Maximum)
        self.hide()

    def show_text(self, text: str) -> None:
        if text != self.text():
            set_plain_text(self, text)
            self.setAccessibleName(text)
            self.fit()
        self.setVisible(bool(text))

    def fit(self) -> None:
        self.setMinimumHeight(0)  # else the old minimum would count as needed
        self.setMinimumHeight(max(self.heightForWidth(self.width()), 0))


def wrapped_height(label: QLabel, text: str, width: int) -> int:
    """Return the height in pixels that a text needs in the font of a label, in lines of this width."""
    return _wrapped_height(label.font().toString(), text, width)


@lru_cache(maxsize=256)  # it is asked for at every key and step
def _wrapped_height(font: str, text: str, width: int) -> int:
    described = QFont()
    described.fromString(font)
    flags = int(Qt.TextFlag.TextWordWrap)
    return QFontMetrics(described).boundingRect(0, 0, width, 10_000, flags, text).height()


# Which entry of the help explains a part of the window: by its key, the same in every language.

_ENTRY = "help_entry"


def explain(entry: str, *widgets: QWidget | QAction) -> None:
    """Let the entry with this key explain these, and what is inside them unless that has its own."""
    for widget in widgets:
        widget.setProperty(_ENTRY, entry)


def entry_at(widget: QWidget, place: QPoint) -> str:
    """Return the key of the entry that explains a widget, or the nearest one around it; empty if there is none.

    Over a table, `place` of the mouse on the screen decides about the column; in a menu, the chosen command counts.
    """
    around: QWidget | None = widget
    while around is not None:
        buddy = around.buddy() if isinstance(around, QLabel) else None
        entry = _entry_of_part(around, place) or around.property(_ENTRY) or (buddy and buddy.property(_ENTRY))
        if entry:
            return str(entry)
        around = around.parentWidget()
    return ""


def _entry_of_part(widget: QWidget, place: QPoint) -> str:
    """Return the key that the column of a table or the command of a menu under the mouse has, if there is one."""
    if isinstance(widget, QMenu):  # none is active over a command that cannot be done now
        action = widget.activeAction() or widget.actionAt(widget.mapFromGlobal(place))
        return str(action.property(_ENTRY) or "") if action is not None else ""
    column = -1
    if isinstance(widget, QHeaderView):
        column = widget.logicalIndexAt(widget.viewport().mapFromGlobal(place))
    elif isinstance(widget, QAbstractItemView):
        column = widget.indexAt(widget.viewport().mapFromGlobal(place)).column()
    model = widget.model() if isinstance(widget, QAbstractItemView) else None
    return model.entry(column) if column >= 0 and isinstance(model, TableModel) else ""
