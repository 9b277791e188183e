"""The framed field of the live tokenization: the text typed, the display options, and ids to decode.

Where the row of options is too long for the pane, the last switches move into the menu at its end.
Text that an input method has not committed yet stays in the editor and is not part of the text.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QAction, QFontMetricsF
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.plural import counted
from wordpiece_studio.ui.widgets.chips import ChipFlow, FlowItem
from wordpiece_studio.ui.widgets.fields import LONGEST_LIST, LimitedEdit, line_field
from wordpiece_studio.ui.widgets.pane import fill, grid_in
from wordpiece_studio.ui.widgets.plain import WholeLabel, explain, plain_label, set_look, set_plain_text, tool_button
from wordpiece_studio.ui.widgets.token_text import line_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtGui import QResizeEvent

    from wordpiece_studio.ui.widgets.theme import Theme

MOST_CHARACTERS = 20_000
_MARGIN = 4
_IDS = re.compile(r"[\s,;\[\]()]+")
_LONGEST_NUMBER = 9
_LEAST_LINES, _MOST_LINES = 2, 4
_SPACING = 2


class TokenOptions(QWidget):
    """Switches for ids, offsets, birth steps and the table, and a menu with commands."""

    changed = Signal()  # a switch has changed

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.ids = self._switch(self.tr("IDs"), self.tr("Show the ID of each token"), checked=True)
        self.offsets = self._switch(
            self.tr("Offsets"), self.tr("Show the position of each token in the text, counted from 0")
        )
        self.births = self._switch(
            self.tr("Created"), self.tr("Show the step at which each token was created; 0 is the alphabet")
        )
        self.table = self._switch(self.tr("Table"), self.tr("Show the tokens as a table"))
        self.copy_tokens = QAction(self.tr("Copy &tokens"), self)
        self.copy_ids = QAction(self.tr("Copy &IDs"), self)
        self.longest_first = QAction(self.tr("Also split by &longest token first"), self, checkable=True)
        self.decode = QAction(self.tr("&Decode IDs"), self, checkable=True)
        self._more = self._more_button()
        self.in_menu = {
            self.table: self._entry(self.table, self.tr("&Show as table")),
            self.births: self._entry(self.births, self.tr("Show &creation steps")),
        }
        explain("token", self)
        explain("step", self.births)
        parts = self.ids, self.offsets, self.births, 1, self.table, self._more
        self._row = fill(QHBoxLayout(self), *parts, spacing=_SPACING)

    def offer_longest_first(self, *, is_possible: bool, is_chosen: bool) -> None:
        self.longest_first.setVisible(is_possible)
        self.longest_first.setChecked(is_chosen)

    def minimumSizeHint(self) -> QSize:
        least = self.ids, self.offsets, self._more
        return QSize(self._width_of(least), self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # It fits soon, not now: a button that appears has the field lay itself out, which it may be doing right now.
        self._row.update()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:  # also when the font changes
            self._fit()
        return super().event(event)

    def _fit(self) -> None:
        shown = [self.ids, self.offsets, self.births, self.table, self._more]
        for button, entry in self.in_menu.items():
            fits = self._width_of(shown) <= self.width()
            if not fits:
                shown.remove(button)
            button.setVisible(fits)
            entry.setVisible(not fits)

    def _width_of(self, buttons: Sequence[QToolButton]) -> int:
        return sum(button.sizeHint().width() for button in buttons) + _SPACING * len(buttons)

    def _entry(self, button: QToolButton, text: str) -> QAction:
        entry = QAction(text, self, checkable=True, checked=button.isChecked())
        entry.toggled.connect(button.setChecked)
        button.toggled.connect(entry.setChecked)
        self._more.menu().insertAction(self._more.menu().actions()[0], entry)
        return entry

    def _switch(self, text: str, tip: str, *, checked: bool = False) -> QToolButton:
        button = tool_button(text, tip, self, is_switch=True)
        button.setChecked(checked)
        button.toggled.connect(self._on_switch_toggled)
        return button

    def _more_button(self) -> QToolButton:
        tip = self.tr("Copy tokens or IDs, decode IDs")
        button = tool_button(self.tr("⋯"), tip, self, name=self.tr("More options"), menu=QMenu(self))
        button.menu().addActions([self.copy_tokens, self.copy_ids, self.longest_first, self.decode])
        return button

    def _on_switch_toggled(self) -> None:
        self._fit()
        self.changed.emit()


class LiveEdit(LimitedEdit):
    """A plain-text field as high as its text, up to some lines."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, most=MOST_CHARACTERS)
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(0)  # the margin is outside the viewport, so that no half line shows in it
        self.setViewportMargins(_MARGIN, _MARGIN, _MARGIN, _MARGIN)
        # Lines are wrapped: a blank at the end of one is no reason for a bar.
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._set_height()
        self.document().documentLayout().documentSizeChanged.connect(self._set_height)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._set_height()

    def _set_height(self) -> None:
        frame = self.contentsMargins().top() + self.contentsMargins().bottom()
        # If the height were a fraction short, Qt would show a scroll bar for it.
        height = math.ceil(self._text_height()) + 1 + frame + 2 * _MARGIN
        if height != self.minimumHeight():
            self.setFixedHeight(height)

    def _text_height(self) -> float:
        """Return the height of the lines to be visible, which differ: some scripts have higher lines."""
        heights: list[float] = []
        block = self.document().firstBlock()
        for _ in range(_MOST_LINES):  # each has at least one line, but none until it is laid out
            if not block.isValid() or len(heights) >= _MOST_LINES:
                break
            layout = block.layout()
            heights += [layout.lineAt(line).height() for line in range(min(layout.lineCount(), _MOST_LINES))]
            block = block.next()
        missing = max(_LEAST_LINES - len(heights), 0) * QFontMetricsF(self.font()).lineSpacing()
        return sum(heights[:_MOST_LINES]) + missing


class DecodeBox(QWidget):
    """A field for ids, and below it their text or an error."""

    def __init__(self, decode: Callable[[Sequence[int]], str | None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._decode = decode
        explain("token", self)
        hint = self.tr("IDs to decode, such as 53 13 21")
        self.field = line_field(self, hint=hint, name=self.tr("IDs to decode"), most=LONGEST_LIST)
        self.result = plain_label("", self, wrap=True)
        self.result.setAccessibleName(self.tr("Decoded text"))
        self.result.setTextInteractionFlags(self.result.textInteractionFlags().TextSelectableByMouse)
        fill(QVBoxLayout(self), self.field, self.result, margins=(2, 2, 2, 2), spacing=2)
        self.field.textChanged.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        text, is_wrong = self._answer()
        set_plain_text(self.result, text)
        self.result.setVisible(bool(text))
        role = "error" if is_wrong else "value"
        if self.result.property("role") != role:
            set_look(self.result, role=role)

    def _answer(self) -> tuple[str, bool]:
        parts = [part for part in _IDS.split(self.field.text()) if part]
        wrong = next((part for part in parts if not (part.isdecimal() and len(part) <= _LONGEST_NUMBER)), None)
        if wrong is not None:
            return self.tr("“{part}” is not an ID: IDs are whole numbers.").format(part=line_text(wrong[:40])), True
        try:
            text = self._decode([int(part) for part in parts]) if parts else ""
        except StudioError as error:
            return str(error), True
        return (self.tr("Nothing has been trained yet."), True) if text is None else (line_text(text), False)


class LiveField(QFrame):
    """Editor and options in one frame, no higher than its contents; the frame shows the keyboard focus."""

    def __init__(
        self, theme: Theme, decode: Callable[[Sequence[int]], str | None], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("live_field")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.edit = LiveEdit(self)
        self.edit.setAccessibleName(self.tr("Text to tokenize"))
        self.edit.setPlaceholderText(self.tr("Type text to see its tokens at this step"))
        self.limit = WholeLabel(self, role="hint")
        self.offer = ChipFlow(theme, self, points=-1)
        self.offer.chosen.connect(self._on_offer_chosen)
        self.options = TokenOptions(self)
        self.decode_box = DecodeBox(decode, self)
        self._inside = grid_in(self, (4, 4, 4, 4), across=0, down=0)
        self._inside.setColumnStretch(0, 1)
        for row, widget in enumerate((self.edit, self.limit, self.offer, self.options, self.decode_box)):
            self._inside.addWidget(widget, row, 0, 1, 2)
        self.decode_box.hide()
        self.edit.installEventFilter(self)
        self.edit.left_out_changed.connect(self._on_edit_left_out_changed)
        self.options.decode.toggled.connect(self._on_decode_toggled)

    def offer_text(self, text: str) -> None:
        items = []
        if text not in ("", self.edit.text):
            tip = self.tr("Replace the text with this one; Undo brings it back")
            items = [FlowItem(self.tr("Try: {text}").format(text=text), "link", target=text, tip=tip)]
        self.offer.show_items(items, self.tr("Suggested text"))

    def _on_offer_chosen(self, text: str) -> None:
        self.edit.setFocus()  # the link, which had it, goes
        self.edit.set_text(text)
        self.offer_text("")

    def _on_decode_toggled(self, is_wanted: bool) -> None:
        self.decode_box.setVisible(is_wanted)
        if is_wanted:
            self.decode_box.field.setFocus()

    def _on_edit_left_out_changed(self, count: int) -> None:
        said = counted(
            count, "Live tokenization takes up to {most} characters; 1 left out.",
            "Live tokenization takes up to {most} characters; {count} left out.", most=MOST_CHARACTERS,
        )  # fmt: skip
        self.limit.show_text(said if count else "")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            set_look(self, state="focused" if self.edit.hasFocus() else "")
        return super().eventFilter(watched, event)
