"""The settings of the next run, as fields: objective, size, minimum pair frequency, special tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtWidgets import QComboBox, QDialog, QDialogButtonBox, QHBoxLayout, QLabel, QSpinBox, QVBoxLayout, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.pipeline import BERT_SPECIAL_TOKENS
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.ui.widgets.fields import MOST_CHARACTERS, LimitedEdit
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, set_plain_tooltip, shown, whole
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from wordpiece_studio.session.chosen_settings import ChosenSettings

_LONGEST_PROBLEM = 300
NUMBERS = QLocale(QLocale.Language.English, QLocale.Country.UnitedStates)
"""Numbers look the same in fields, labels and tables, whatever the system's language: 29,792."""
_LARGEST_SIZE = 10_000_000
_LARGEST_COUNT = 1_000_000_000


class SpecialTokensDialog(QDialog):
    """Asks for special tokens; what the trainer would refuse is reported at once and cannot be accepted."""

    tokens_chosen = Signal(object)
    """The tokens typed, a tuple of str, when the dialog was accepted."""

    def __init__(self, tokens: tuple[str, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Special tokens"))
        intro = plain_label(
            self.tr("One token per line. They take the first ids, in this order, and are never learned or split. "
                    "Without [UNK], there is no token for unknown words."),
            self, role="caption", wrap=True,
        )  # fmt: skip
        text = "\n".join(tokens)
        self._most = max(MOST_CHARACTERS, len(text))
        self._editor = LimitedEdit(self, most=self._most)
        self._editor.setLineWrapMode(LimitedEdit.LineWrapMode.NoWrap)  # wrapping a long line takes seconds per key
        self._editor.setPlainText(whole(text))
        self._editor.setAccessibleName(self.tr("Special tokens, one per line"))
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
        """The tokens typed so far, without blank lines."""
        return tuple(line.strip() for line in self._editor.text.splitlines() if line.strip())

    def accept(self) -> None:
        """Emit the tokens and close."""
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


class TrainingSettings(QWidget):
    """The fields of the :class:`~wordpiece_studio.session.chosen_settings.ChosenSettings`."""

    def __init__(self, chosen: ChosenSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chosen = chosen
        self._token_choice = 0
        self._captions: list[QLabel] = []
        self._layout = QHBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(6)
        self._objective_box = self._make_objective_box()
        self._size_box = self._make_spin_box(
            self.tr("Vocabulary size"), _LARGEST_SIZE, self.tr("no limit"),
            self.tr("Stop at this many tokens, including special tokens and alphabet; 0 means no limit"),
        )  # fmt: skip
        self._frequency_box = self._make_spin_box(
            self.tr("Minimum pair frequency"), _LARGEST_COUNT, "",
            self.tr("Pairs that occur less often are not merged. Without a floor, the score favors pairs seen once"),
        )  # fmt: skip
        self._tokens_box = self._make_tokens_box()
        self._add(self.tr("Objective"), self._objective_box)
        self._add(self.tr("Size"), self._size_box)
        self._add(self.tr("Min. pairs"), self._frequency_box)
        self._add(self.tr("Special tokens"), self._tokens_box)
        self._layout.addStretch(1)
        chosen.replaced.connect(self._show)
        self._show()

    def _show(self) -> None:
        chosen = self._chosen
        fields = (self._objective_box, self._size_box, self._frequency_box, self._tokens_box)
        for field in fields:
            field.blockSignals(True)
        size, min_frequency = chosen.limits
        self._objective_box.setCurrentIndex(max(0, self._objective_box.findData(chosen.objective)))
        self._size_box.setValue(size)
        self._frequency_box.setValue(min_frequency)
        self._show_tokens(chosen.special_tokens)
        for field in fields:
            field.blockSignals(False)
        self._show_hint(chosen.suggestion.words)

    def _show_hint(self, hint: str) -> None:
        for box in (self._size_box, self._frequency_box):
            tip = str(box.property("tip"))
            set_plain_tooltip(box, f"{hint}\n{tip}" if hint else tip)

    def set_size_wrong(self, wrong: bool) -> None:
        """Mark the size as one that cannot be reached, or remove the mark."""
        self._size_box.setProperty("state", "wrong" if wrong else "")
        self._size_box.style().polish(self._size_box)

    def set_captions_visible(self, visible: bool) -> None:
        """Show or hide the captions beside the fields; the tooltips say the same."""
        for caption in self._captions:
            caption.setVisible(visible)
        self._layout.invalidate()  # otherwise its size is known only in the next turn of the event loop
        self.updateGeometry()

    def edit_special_tokens(self) -> None:
        """Open the special tokens dialog."""
        dialog = SpecialTokensDialog(self._chosen.special_tokens, self.window())
        dialog.tokens_chosen.connect(self._on_dialog_tokens_chosen)
        dialog.finished.connect(self._on_dialog_finished)
        dialog.open()

    def _make_objective_box(self) -> QComboBox:
        box = QComboBox(self)
        for text, value, tip in (
            (self.tr("WordPiece score"), "score", "n(ab) / (n(a) × n(b))"),
            (self.tr("Likelihood"), "likelihood", "n(ab) × ln(n(ab) × N / (n(a) × n(b)))"),
            (self.tr("Count (BPE)"), "count", "n(ab)"),
        ):
            box.addItem(text, value)
            box.setItemData(box.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        box.setAccessibleName(self.tr("Objective"))
        set_plain_tooltip(box, self.tr("How the best pair to merge is chosen"))
        box.currentIndexChanged.connect(self._on_objective_box_changed)
        return box

    def _make_spin_box(self, name: str, largest: int, at_zero: str, tip: str) -> QSpinBox:
        box = QSpinBox(self)
        box.setRange(0, largest)
        box.setStepType(QSpinBox.StepType.AdaptiveDecimalStepType)
        box.setLocale(NUMBERS)
        box.setGroupSeparatorShown(True)
        box.setSpecialValueText(at_zero)
        box.setMinimumWidth(box.fontMetrics().horizontalAdvance("000,000") + 34)
        box.setMaximumWidth(box.fontMetrics().horizontalAdvance("0,000,000") + 40)
        box.setAccessibleName(name)
        box.setProperty("tip", f"{name}: {tip}")
        set_plain_tooltip(box, f"{name}: {tip}")
        box.valueChanged.connect(self._on_limit_changed)
        return box

    def _make_tokens_box(self) -> QComboBox:
        box = QComboBox(self)
        box.addItems([self.tr("BERT’s five"), self.tr("None"), self.tr("Custom…")])
        box.setAccessibleName(self.tr("Special tokens"))
        box.activated.connect(self._on_tokens_box_activated)
        return box

    def _add(self, caption: str, field: QWidget) -> None:
        label = plain_label(caption, self, role="caption")
        label.setBuddy(field)
        self._captions.append(label)
        self._layout.addWidget(label)
        self._layout.addWidget(field)
        self._layout.addSpacing(6)

    def _on_objective_box_changed(self, _index: int) -> None:
        self._chosen.choose(objective=self._objective_box.currentData())

    def _on_limit_changed(self, _value: int) -> None:
        self._chosen.choose(vocab_size=self._size_box.value() or None, min_frequency=self._frequency_box.value())

    def _on_tokens_box_activated(self, index: int) -> None:
        if index == 2:
            self._tokens_box.setCurrentIndex(self._token_choice)  # until the dialog is accepted
            self.edit_special_tokens()
            return
        self._take_tokens((BERT_SPECIAL_TOKENS, ())[index])

    def _on_dialog_tokens_chosen(self, tokens: tuple[str, ...]) -> None:
        self._take_tokens(tokens)

    def _take_tokens(self, tokens: tuple[str, ...]) -> None:
        self._show_tokens(tokens)
        self._chosen.choose(special_tokens=tokens)

    def _on_dialog_finished(self, _result: int) -> None:
        self._tokens_box.setFocus()

    def _show_tokens(self, tokens: tuple[str, ...]) -> None:
        self._token_choice = 0 if tokens == BERT_SPECIAL_TOKENS else 1 if not tokens else 2
        self._tokens_box.setItemText(
            2, self.tr("Custom… ({number})").format(number=len(tokens)) if self._token_choice == 2
            else self.tr("Custom…"),
        )  # fmt: skip
        self._tokens_box.setCurrentIndex(self._token_choice)
        names = " ".join(tokens) or self.tr("no special tokens")
        set_plain_tooltip(self._tokens_box, f"{self.tr('Special tokens')}: {names}")
