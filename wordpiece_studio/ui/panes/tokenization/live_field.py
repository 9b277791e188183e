"""The framed field of the live tokenization: the text, and below it what stands under each chip."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QFrame, QSizePolicy, QVBoxLayout, QWidget

from wordpiece_studio.ui.panes.tokenization.decode_box import DecodeBox
from wordpiece_studio.ui.panes.tokenization.live_edit import LiveEdit
from wordpiece_studio.ui.panes.tokenization.token_options import TokenOptions
from wordpiece_studio.ui.widgets.limited_edit import MOST_CHARACTERS
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wordpiece_studio.ui.widgets.theme import Theme

_LINES, _LOW_LINES = (2, 4), (1, 3)


class LiveField(QFrame):
    """Editor and options in one frame, never higher than they are; the frame shows who has the keyboard."""

    height_changed = Signal()
    """It says something more, or less."""

    def __init__(
        self, theme: Theme, decode: Callable[[Sequence[int]], str | None], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("live_field")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.edit = LiveEdit(*_LINES, self)
        self.edit.setAccessibleName(self.tr("Text to tokenize"))
        self.edit.setPlaceholderText(self.tr("Type a text, and see its tokens at this step"))
        self._limit = plain_label("", self, role="hint", wrap=True)
        self._limit.hide()
        self.options = TokenOptions(self)
        self.decode_box = DecodeBox(decode, self)
        inside = QVBoxLayout(self)
        inside.setContentsMargins(4, 4, 4, 4)
        inside.setSpacing(0)
        inside.addWidget(self.edit)
        inside.addWidget(self._limit)
        inside.addWidget(self.options)
        inside.addWidget(self.decode_box)
        self.decode_box.hide()
        self.edit.installEventFilter(self)
        self.edit.left_out_changed.connect(self._on_edit_left_out_changed)
        self._dress()
        theme.changed.connect(self._dress)

    def set_low(self, is_low: bool) -> None:
        """Save height, or take as much as is usual."""
        self.edit.set_lines(*(_LOW_LINES if is_low else _LINES))

    @property
    def limit_note(self) -> str:
        """What is said of a text that is too long; empty if all of it is there."""
        return self._limit.text()

    def _on_edit_left_out_changed(self, count: int) -> None:
        text = ""
        if count:
            text = self.tr("Live tokenization takes up to {most} characters; {count} left out.")
            text = text.format(most=number_text(MOST_CHARACTERS), count=number_text(count))
        set_plain_text(self._limit, text)
        self._limit.setVisible(bool(text))
        self.height_changed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self._dress()
        return super().eventFilter(watched, event)

    def _dress(self) -> None:
        color = self._theme.accent if self.edit.hasFocus() else self._theme.border
        self.setStyleSheet(
            f"#live_field {{ border: 1px solid {color.name()}; border-radius: 6px; }}"
            "#live_field QPlainTextEdit { border-color: transparent; }"
        )
