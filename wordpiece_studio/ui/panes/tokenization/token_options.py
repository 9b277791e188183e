"""The options of the live tokenization, and the texts about a token: under its chip, in a row, for screen readers.

Where the row of options is too long for the pane, the last switches move into the menu at its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QWidget

from wordpiece_studio.ui.widgets.plain import set_plain_tooltip
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QResizeEvent

    from wordpiece_studio.session.live_text import LiveLine, LiveText
    from wordpiece_studio.session.live_timeline import TextSummary
    from wordpiece_studio.session.view_text import TextUnit
    from wordpiece_studio.tokenizer.tokenizer import Piece, TokenizedWord
    from wordpiece_studio.training.history import MergeHistory

_SPACING = 2
_NOTHING = "–"


class TokenOptions(QWidget):
    """Switches for ids, offsets, birth steps and the table, and a menu to copy."""

    changed = Signal()
    """A switch has changed."""
    copy_tokens_requested = Signal()
    """The user asks to copy the tokens."""
    copy_ids_requested = Signal()
    """The user asks to copy the ids."""
    decode_toggled = Signal(object)
    """Whether (bool) the field to decode ids should be visible."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ids = self._switch(self.tr("ids"), self.tr("Show the id of each token"), checked=True)
        self._offsets = self._switch(
            self.tr("offsets"), self.tr("Show the position of each token in the text, counted from 0")
        )
        self._units = QActionGroup(self)
        self._unit = self._unit_button()
        self._births = self._switch(
            self.tr("born"), self.tr("Show the step at which each token was born; 0 is the alphabet")
        )
        self._table = self._switch(self.tr("table"), self.tr("Show the tokens as a table"))
        self._decode = QAction(self.tr("&Decode ids"), self)
        self._more = self._more_button()
        self._in_menu = {
            self._table: self._entry(self._table, self.tr("Show as &table")),
            self._births: self._entry(self._births, self.tr("Show &birth steps")),
        }
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(_SPACING)
        for button in (self._ids, self._offsets, self._unit, self._births):
            layout.addWidget(button)
        layout.addStretch(1)
        layout.addWidget(self._table)
        layout.addWidget(self._more)

    @property
    def ids(self) -> bool:
        """Whether ids stand under the chips."""
        return self._ids.isChecked()

    @property
    def offsets(self) -> bool:
        """Whether offsets stand under the chips."""
        return self._offsets.isChecked()

    @property
    def unit(self) -> TextUnit:
        """The unit of offsets."""
        unit: TextUnit = self._units.checkedAction().data()
        return unit

    @property
    def unit_name(self) -> str:
        """The name of the unit."""
        return self._units.checkedAction().text().replace("&", "")

    @property
    def births(self) -> bool:
        """Whether birth steps stand under the chips."""
        return self._births.isChecked()

    @property
    def as_table(self) -> bool:
        """Whether a table is shown instead of chips."""
        return self._table.isChecked()

    def minimumSizeHint(self) -> QSize:
        least = [self._ids, self._offsets, *self._unit_shown, self._more]
        return QSize(self._width_of(least), self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:  # also when the font changes
            self._fit()
        return super().event(event)

    def _fit(self) -> None:
        shown = [self._ids, self._offsets, *self._unit_shown, self._births, self._table, self._more]
        for button, entry in self._in_menu.items():
            fits = self._width_of(shown) <= self.width()
            if not fits:
                shown.remove(button)
            button.setVisible(fits)
            entry.setVisible(not fits)

    @property
    def _unit_shown(self) -> list[QToolButton]:
        return [self._unit] if self.offsets else []

    @staticmethod
    def _width_of(buttons: list[QToolButton]) -> int:
        return sum(button.sizeHint().width() for button in buttons) + _SPACING * len(buttons)

    def _entry(self, button: QToolButton, text: str) -> QAction:
        """Return a menu entry that mirrors the switch `button`."""
        entry = QAction(text, self, checkable=True, checked=button.isChecked())
        entry.toggled.connect(button.setChecked)
        button.toggled.connect(entry.setChecked)
        self._more.menu().insertAction(self._more.menu().actions()[0], entry)
        return entry

    def _switch(self, text: str, tip: str, *, checked: bool = False) -> QToolButton:
        button = self._button(text, tip)
        button.setCheckable(True)
        button.setChecked(checked)
        button.toggled.connect(self._on_switch_toggled)
        return button

    def _unit_button(self) -> QToolButton:
        button = self._button("", self.tr("Unit of the offsets"))
        menu = QMenu(button)
        names: dict[TextUnit, str] = {
            "characters": self.tr("&characters"), "utf8": self.tr("UTF-&8 bytes"), "utf16": self.tr("UTF-&16 units"),
        }  # fmt: skip
        for unit, name in names.items():
            action = menu.addAction(name)
            action.setCheckable(True)
            action.setData(unit)
            action.setChecked(unit == "characters")
            self._units.addAction(action)
        self._units.triggered.connect(self._on_units_triggered)
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setText(f"{self.unit_name} ▾")
        button.hide()
        return button

    def _more_button(self) -> QToolButton:
        button = self._button(self.tr("more ▾"), self.tr("Copy tokens or ids, decode ids"))
        menu = QMenu(button)
        self._add(menu, self.tr("Copy &tokens"), self.copy_tokens_requested.emit)
        self._add(menu, self.tr("Copy &ids"), self.copy_ids_requested.emit)
        self._decode.setCheckable(True)
        self._decode.toggled.connect(self.decode_toggled.emit)
        menu.addAction(self._decode)
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        return button

    def _add(self, menu: QMenu, text: str, on_triggered: Callable[[], None]) -> None:
        menu.addAction(text).triggered.connect(on_triggered)

    def _button(self, text: str, tip: str) -> QToolButton:
        button = QToolButton(self)
        button.setText(text)
        button.setAccessibleName(tip)
        set_plain_tooltip(button, tip)
        return button

    def _on_switch_toggled(self, _checked: bool) -> None:
        self._unit.setVisible(self._offsets.isChecked())
        self._fit()
        self.changed.emit()

    def _on_units_triggered(self, _action: QAction) -> None:
        self._unit.setText(f"{self.unit_name} ▾")
        self._fit()
        self.changed.emit()


class PieceTexts(QObject):
    """Formats ids, offsets and birth steps; birth steps come from the run that made the tokens."""

    def __init__(self, live: LiveText, options: TokenOptions, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._history: MergeHistory | None = None
        self._merges = 0
        self._live = live
        self._options = options
        self._captions: dict[int, tuple[str, ...]] | None = {}  # by id; None where they depend on the place
        options.changed.connect(self._forget)

    def show_run(self, history: MergeHistory | None, merges: int) -> None:
        """Use the tokens of this run, up to this many merges."""
        if history is not self._history:
            self._forget()
        self._history, self._merges = history, merges

    def _forget(self) -> None:
        self._captions = None if self._options.offsets else {}

    @property
    def unit_name(self) -> str:
        """The name of the unit of offsets."""
        return self._options.unit_name

    def birth_step(self, token: str) -> int | None:
        """Return the step at which a token is born in the whole run, 0 for the alphabet, None if it never is."""
        history = self._history
        if history is None:
            return None
        token_id = history.vocabulary(self._merges).id_of(token)
        return history.birth_step(token_id) if token_id is not None else None

    def summary(self, found: TextSummary) -> str:
        """Return the numbers of words and tokens in a text, and the unit of offsets if they are shown."""
        words = self.tr("1 word") if found.words == 1 else self.tr("{count} words")
        tokens = self.tr("1 token") if found.tokens == 1 else self.tr("{count} tokens")
        text = self.tr("{words}, {tokens} · {fertility} tokens per word · {unknown} unknown").format(
            words=words.format(count=number_text(found.words)),
            tokens=tokens.format(count=number_text(found.tokens)),
            fertility=f"{found.fertility:.2f}",
            unknown=number_text(found.unknown),
        )
        if not self._options.offsets:
            return text
        return text + " · " + self.tr("offsets in {unit}, from 0").format(unit=self.unit_name)

    def captions(self, line: LiveLine, piece: Piece) -> tuple[str, ...]:
        """Return the lines under a chip, according to the options."""
        known = self._captions.get(piece.id) if self._captions is not None else None
        if known is not None:
            return known
        captions = []
        if self._options.ids:
            captions.append(_id_text(piece))
        if self._options.offsets:
            captions.append(self._offsets_text(line, piece))
        if self._options.births:
            captions.append(self.tr("step {step}").format(step=self._born_text(piece)))
        if self._captions is not None:
            self._captions[piece.id] = tuple(captions)
        return tuple(captions)

    def row(self, line: LiveLine, word: TokenizedWord, chip: int) -> tuple[str, ...]:
        """Return token, id, offsets, birth step and word of one token."""
        piece = word.pieces[chip]
        text = token_text(word.word.text) if word.word is not None else ""
        offsets = self._offsets_text(line, piece)
        return token_text(piece.token), _id_text(piece), offsets, self._born_text(piece), text

    def spoken(self, line: LiveLine, word: TokenizedWord, chip: int) -> str:
        """Return the text about one token for screen readers."""
        token, number, offsets, born, text = self.row(line, word, chip)
        said = self.tr("token {token}, id {id}, {unit} {offsets}, born at step {born}, in the word {word}")
        return said.format(token=token, id=number, unit=self.unit_name, offsets=offsets, born=born, word=text)

    def _born_text(self, piece: Piece) -> str:
        history = self._history
        return number_text(history.birth_step(piece.id)) if history is not None and piece.id >= 0 else _NOTHING

    def _offsets_text(self, line: LiveLine, piece: Piece) -> str:
        start, end = self._live.offsets_in(self._options.unit, line, piece.start, piece.end)
        return f"{number_text(start)}–{number_text(end)}"


def _id_text(piece: Piece) -> str:
    return number_text(piece.id) if piece.id >= 0 else _NOTHING
