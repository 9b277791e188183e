"""The dialog in which the special tokens are typed, one a line."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.ui.widgets.exact_text import whole
from wordpiece_studio.ui.widgets.limited_edit import MOST_CHARACTERS, LimitedEdit
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, shown
from wordpiece_studio.ui.widgets.token_text import number_text

_LONGEST_PROBLEM = 300


class SpecialTokensDialog(QDialog):
    """Asks for special tokens; what the trainer would refuse is said at once and cannot be accepted."""

    tokens_chosen = Signal(object)
    """The tokens typed, a tuple of str, when the dialog was accepted."""

    def __init__(self, tokens: tuple[str, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Special tokens"))
        intro = plain_label(
            self.tr("One token a line. They take the first ids, in this order, and are never learned or split. "
                    "Without [UNK] an unknown word has no token to stand for it."),
            self, role="caption", wrap=True,
        )  # fmt: skip
        text = "\n".join(tokens)
        self._most = max(MOST_CHARACTERS, len(text))
        self._editor = LimitedEdit(self, most=self._most)
        self._editor.setLineWrapMode(LimitedEdit.LineWrapMode.NoWrap)  # a long line that is wrapped takes seconds a key
        self._editor.setPlainText(whole(text))
        self._editor.setAccessibleName(self.tr("Special tokens, one a line"))
        self._editor.setTabChangesFocus(True)
        self._problem_label = plain_label("", self, role="error", wrap=True)
        self._buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel, self
        )
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        for widget in (intro, self._editor, self._problem_label, self._buttons):
            layout.addWidget(widget)
        self._editor.text_changed.connect(self._check)
        self._editor.left_out_changed.connect(self._check)
        self.resize(360, 320)
        self._check()

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens typed so far, blank lines left out."""
        return tuple(line.strip() for line in self._editor.text.splitlines() if line.strip())

    def accept(self) -> None:
        """Hand the tokens over and close."""
        self.tokens_chosen.emit(self.tokens)
        super().accept()

    def _check(self, _what: object = None) -> None:
        problem = left_out = ""
        try:
            TrainingConfig(special_tokens=self.tokens)
        except StudioError as error:
            problem = shown(str(error), _LONGEST_PROBLEM)
        if count := self._editor.left_out:
            left_out = self.tr("There is room for {most} characters; {count} left out.")
            left_out = left_out.format(most=number_text(self._most), count=number_text(count))
        set_plain_text(self._problem_label, "\n".join(filter(None, (problem, left_out))))
        self._buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(not problem)
