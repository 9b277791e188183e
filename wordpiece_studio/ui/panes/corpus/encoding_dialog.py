"""What may be done about a file that cannot be decoded: name its encoding, replace such bytes, or skip such lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from wordpiece_studio.corpus.decoding import BINARY_ADVICE, UNDECODABLE_ADVICE
from wordpiece_studio.session.corpus_opening import Reading
from wordpiece_studio.ui.panes.corpus.encodings import encoding_title, encodings
from wordpiece_studio.ui.widgets.plain import plain_label, set_role

if TYPE_CHECKING:
    from wordpiece_studio.errors import StudioError


def is_about_decoding(error: StudioError) -> bool:
    """Return whether a file could be read another way."""
    return error.advice_template in (UNDECODABLE_ADVICE, BINARY_ADVICE)


class EncodingDialog(QDialog):
    """Says why a file could not be read, and asks how to read it instead.

    Parameters
    ----------
    tried
        How it was read: replacing and skipping are done in this encoding.
    guess
        The encoding that it looks like, which is proposed and called a guess.
    files
        How many files the corpus has: of several, the choice may be meant for all.
    """

    chosen = Signal(object)
    """The :class:`Reading`, when the dialog was accepted."""
    chosen_for_all = Signal(object)
    """The :class:`Reading`, when it was accepted for all files."""

    def __init__(
        self, error: StudioError, tried: Reading, parent: QWidget | None = None, *, guess: str | None = None,
        files: int = 1,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Read the file another way?"))
        self._tried = tried
        self.message = error.what if error.what.endswith(".") else f"{error.what}."
        self._read_button = QRadioButton(self.tr("&Read it as"), self)
        self._encoding_box = QComboBox(self)
        if guess is not None:
            self._encoding_box.addItem(self.tr("{encoding}, a guess").format(encoding=encoding_title(guess)), guess)
        for codec, title in encodings():
            self._encoding_box.addItem(title, codec)
        self._encoding_box.setAccessibleName(self.tr("Encoding"))
        self._encoding_box.activated.connect(self._on_encoding_box_activated)
        self._replace_button = QRadioButton(self.tr("Re&place such bytes by \ufffd"), self)
        self._skip_button = QRadioButton(self.tr("&Skip such lines"), self)
        self._read_button.setChecked(True)
        self._all_box = QCheckBox(self.tr("The same for &all {number:,} files").format(number=files), self)
        self._all_box.setVisible(files > 1)
        buttons = QDialogButtonBox(self)
        accept_words = self.tr("&Open") if files == 1 else self.tr("&Go on")
        open_button = buttons.addButton(accept_words, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.addButton(self.tr("&Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        set_role(open_button, "primary")
        open_button.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        first = QHBoxLayout()
        first.addWidget(self._read_button)
        first.addWidget(self._encoding_box, 1)
        layout = QVBoxLayout(self)
        layout.addWidget(plain_label(self.message, self, wrap=True))
        layout.addLayout(first)
        layout.addWidget(self._replace_button)
        layout.addWidget(self._skip_button)
        note = self.tr("With bytes replaced or lines skipped the text is not all that the file holds.")
        layout.addWidget(plain_label(note, self, role="hint", wrap=True))
        layout.addWidget(self._all_box)
        layout.addWidget(buttons)
        self.setMinimumWidth(440)

    def choose(self, reading: Reading) -> None:
        """Show `reading` as the choice."""
        button = {"replace": self._replace_button, "skip-line": self._skip_button}
        button.get(reading.errors, self._read_button).setChecked(True)
        if reading.encoding is not None:
            self._encoding_box.setCurrentIndex(max(0, self._encoding_box.findData(reading.encoding)))

    @property
    def reading(self) -> Reading:
        """The choice."""
        if self._replace_button.isChecked():
            return Reading(self._tried.encoding, "replace")
        if self._skip_button.isChecked():
            return Reading(self._tried.encoding, "skip-line")
        return Reading(self._encoding_box.currentData())

    def accept(self) -> None:
        """Hand the choice over and close."""
        (self.chosen_for_all if self._all_box.isChecked() else self.chosen).emit(self.reading)
        super().accept()

    def _on_encoding_box_activated(self, _index: int) -> None:
        self._read_button.setChecked(True)
