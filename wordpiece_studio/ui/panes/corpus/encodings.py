"""File encodings: those on offer, how the reading of a text is described, and the dialog that asks for one.

For a file that cannot be decoded, the user can name its encoding, or have bad bytes replaced or bad lines skipped.
"""

from __future__ import annotations

import codecs
import locale
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt, Signal
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
from wordpiece_studio.ui.widgets.plain import plain_label, set_role

if TYPE_CHECKING:
    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.session.document import Document


def encodings() -> list[tuple[str, str]]:
    """Return ``(codec, title)`` of each encoding on offer; the system's comes first if it is not UTF-8."""
    offered = _known()
    system = codecs.lookup(locale.getpreferredencoding(False)).name
    if system in ("utf-8", "ascii"):
        return offered
    title = next((title for codec, title in offered if codecs.lookup(codec).name == system), system)
    others = [(codec, title) for codec, title in offered if codecs.lookup(codec).name != system]
    return [(system, _tr("{encoding} (system default)").format(encoding=title)), *others]


def encoding_title(codec: str) -> str:
    """Return the display name of an encoding, for example ``"Latin-1"``."""
    name = codecs.lookup(codec).name
    if name == "utf-8":
        return "UTF-8"
    return next((title for known, title in _known() if codecs.lookup(known).name == name), codec.upper())


def reading_words(document: Document) -> str:
    """Return how the text was read if not completely and as UTF-8; otherwise an empty string."""
    replaced, skipped = document.losses
    if skipped:
        return _tr("1 line left out") if skipped == 1 else _tr("{count:,} lines left out").format(count=skipped)
    if replaced:
        return _tr("1 place replaced") if replaced == 1 else _tr("{count:,} places replaced").format(count=replaced)
    return "" if codecs.lookup(document.encoding).name == "utf-8" else encoding_title(document.encoding)


def _known() -> list[tuple[str, str]]:
    return [
        ("cp1252", "Windows-1252"), ("latin-1", "Latin-1"), ("cp949", _tr("Korean (CP949)")),
        ("gb18030", _tr("Chinese (GB 18030)")), ("big5", _tr("Chinese (Big5)")),
        ("shift_jis", _tr("Japanese (Shift-JIS)")),
        ("koi8-r", _tr("Cyrillic (KOI8-R)")), ("cp1251", _tr("Cyrillic (Windows-1251)")),
        ("utf-16", "UTF-16"), ("utf-16-le", "UTF-16 LE"), ("utf-16-be", "UTF-16 BE"),
    ]  # fmt: skip


def _tr(text: str) -> str:
    return QCoreApplication.translate("encodings", text)


def is_about_decoding(error: StudioError) -> bool:
    """Return whether the file might be readable in another way."""
    return error.advice_template in (UNDECODABLE_ADVICE, BINARY_ADVICE)


class EncodingDialog(QDialog):
    """Explains why a file could not be read, and asks how to read it instead.

    Parameters
    ----------
    tried
        How it was read: replacing and skipping use this encoding.
    guess
        The likely encoding, offered first and labeled as a guess.
    files
        How many files the corpus has; with several, the choice can apply to all.
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
        self.setWindowTitle(self.tr("Read the file in another way?"))
        self._tried = tried
        self.message = error.what if error.what.endswith(".") else f"{error.what}."
        self._read_button = QRadioButton(self.tr("&Read it as"), self)
        self._encoding_box = QComboBox(self)
        if guess is not None:
            self._encoding_box.addItem(self.tr("{encoding} (guess)").format(encoding=encoding_title(guess)), guess)
        for codec, title in encodings():
            self._encoding_box.addItem(title, codec)
        self._encoding_box.setAccessibleName(self.tr("Encoding"))
        self._encoding_box.activated.connect(self._on_encoding_box_activated)
        self._replace_button = QRadioButton(self.tr("Re&place bad bytes with \ufffd"), self)
        self._skip_button = QRadioButton(self.tr("&Skip bad lines"), self)
        self._read_button.setChecked(True)
        self._all_box = QCheckBox(self.tr("Apply to &all {number:,} files").format(number=files), self)
        self._all_box.setVisible(files > 1)
        buttons = QDialogButtonBox(self)
        accept_words = self.tr("&Open") if files == 1 else self.tr("Con&tinue")
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
        note = self.tr("If bytes are replaced or lines skipped, part of the file’s content is lost.")
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
        """Emit the choice and close."""
        (self.chosen_for_all if self._all_box.isChecked() else self.chosen).emit(self.reading)
        super().accept()

    def _on_encoding_box_activated(self, _index: int) -> None:
        self._read_button.setChecked(True)
