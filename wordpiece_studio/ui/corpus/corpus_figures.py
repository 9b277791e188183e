"""The lower part of the corpus pane: how large the corpus is, and the fields for normalizer and pre-tokenizer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QInputDialog, QLabel, QSizePolicy, QWidget

from wordpiece_studio.core.text.normalizers import Normalizer, resolve_normalizer
from wordpiece_studio.core.text.pre_tokenizers import PreTokenizer, resolve_pre_tokenizer
from wordpiece_studio.core.text.printable import printable
from wordpiece_studio.errors import StudioError
from wordpiece_studio.model.counts_with_figures import corpus_figures
from wordpiece_studio.ui.look.plain import plain_label, set_plain_text, set_plain_tooltip
from wordpiece_studio.ui.look.token_text import number_text

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from wordpiece_studio.core.corpus.counts import WordCounts


class CorpusFigures(QWidget):
    """Numbers of the present counts, and two choices."""

    pipeline_changed = Signal()
    """Another normalizer or pre-tokenizer was chosen."""
    name_refused = Signal(object)
    """The name typed for a normalizer is none, a StudioError."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(14, 8, 12, 10)
        self._grid.setVerticalSpacing(4)
        self._grid.setHorizontalSpacing(10)
        self._values: dict[str, QLabel] = {}
        self._rows: list[tuple[QLabel, QWidget]] = []
        for name, caption in self._captions():
            value = plain_label("–", self, role="value")
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self._values[name] = value
            self._rows.append((plain_label(caption, self, role="caption"), value))
        self._summary_label = plain_label("", self, role="caption", wrap=True)
        self._summary_label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._summary_label.hide()
        self._grid.addWidget(self._summary_label, 0, 0, 1, 2)
        self._normalizer_box = self._make_normalizer_box()
        self._pre_tokenizer_box = self._make_pre_tokenizer_box()
        for caption, box in (
            (self.tr("Normalizer"), self._normalizer_box), (self.tr("Pre-tokenizer"), self._pre_tokenizer_box),
        ):  # fmt: skip
            label = plain_label(caption, self, role="caption")
            label.setBuddy(box)
            self._rows.append((label, box))
        for row, (label, widget) in enumerate(self._rows, 1):
            self._grid.addWidget(label, row, 0)
            self._grid.addWidget(widget, row, 1)
        self._grid.setColumnStretch(1, 1)
        self._chosen_normalizer = 0
        self.show_counts(None)

    @property
    def normalizer(self) -> Normalizer:
        """The normalizer chosen."""
        return resolve_normalizer(self._normalizer_box.currentData())

    @property
    def pre_tokenizer(self) -> PreTokenizer:
        """The pre-tokenizer chosen."""
        return resolve_pre_tokenizer(self._pre_tokenizer_box.currentData())

    def set_names(self, normalizer: str, pre_tokenizer: str) -> None:
        """Choose by name; a name that is none leaves the choice as it is."""
        try:
            resolve_normalizer(normalizer)
        except StudioError:
            return
        if self._normalizer_box.findData(normalizer) < 0:
            self._normalizer_box.insertItem(self._normalizer_box.count() - 1, printable(normalizer), normalizer)
        self._normalizer_box.setCurrentIndex(self._normalizer_box.findData(normalizer))
        self._pre_tokenizer_box.setCurrentIndex(max(0, self._pre_tokenizer_box.findData(pre_tokenizer)))
        self._chosen_normalizer = self._normalizer_box.currentIndex()

    def choose(self, normalizer: str, pre_tokenizer: str) -> None:
        """Choose by name as the user does."""
        self.set_names(normalizer, pre_tokenizer)
        self.pipeline_changed.emit()

    def show_counts(self, counts: WordCounts | None) -> None:
        """Show the size of the corpus; a dash for each number while it is not known."""
        numbers = {} if counts is None else figures(counts)
        for name, label in self._values.items():
            number = numbers.get(name)
            set_plain_text(label, "–" if number is None else number_text(number))
        set_plain_text(self._summary_label, self._summary())
        self._fit_summary()

    def value_of(self, name: str) -> str:
        """Return what is shown for ``"lines"``, ``"words"``, ``"distinct"``, ``"symbols"`` or ``"alphabet"``."""
        return self._values[name].text()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_summary()

    def _fit_summary(self) -> None:
        """Keep the paragraph whole: a wrapped label may be made lower than its text otherwise."""
        margins = self._grid.contentsMargins()
        width = self.width() - margins.left() - margins.right()
        self._summary_label.setMinimumHeight(0)  # which would count as needed
        self._summary_label.setMinimumHeight(max(self._summary_label.heightForWidth(width), 0))

    def set_dense(self, dense: bool) -> None:
        """Say the numbers in one paragraph, which saves height, or one below the other."""
        self._summary_label.setVisible(dense)
        for label, value in self._rows[: len(self._values)]:
            label.setVisible(not dense)
            value.setVisible(not dense)

    def _summary(self) -> str:
        parts = [f"{caption}: {self.value_of(name)}" for name, caption in self._captions()]
        return " · ".join(part.replace(" ", "\u00a0") for part in parts)  # breaks between the parts only

    def _captions(self) -> list[tuple[str, str]]:
        return [
            ("lines", self.tr("Lines")), ("words", self.tr("Words")), ("distinct", self.tr("Distinct words")),
            ("symbols", self.tr("Symbols")), ("alphabet", self.tr("Alphabet")),
        ]  # fmt: skip

    def _make_normalizer_box(self) -> QComboBox:
        items = [
            (self.tr("BERT, cased"), "bert-cased"),
            (self.tr("BERT, uncased"), "bert-uncased"),
            (self.tr("BERT, uncased, accents kept"), "bert-uncased:keep-accents"),
            (self.tr("BERT, cased, Chinese kept together"), "bert-cased:keep-chinese"),
            (self.tr("Lower case, accents kept"), "language-friendly"),
            (self.tr("Lower case, accents kept, Chinese kept together"), "language-friendly:keep-chinese"),
            (self.tr("Lower case alone"), "lowercase"),
            (self.tr("Remove , and . · lower case"), "remove:,.+lowercase"),
            (self.tr("Unicode form NFC"), "nfc"),
            (self.tr("Unicode form NFKC"), "nfkc"),
            (self.tr("Unchanged"), "none"),
            (self.tr("Other…"), ""),
        ]
        box = self._make_box(self.tr("Normalizer"), items)
        set_plain_tooltip(box, self.tr("What is done to the text before it is cut into words"))
        box.activated.connect(self._on_normalizer_box_activated)
        return box

    def _make_pre_tokenizer_box(self) -> QComboBox:
        items = [
            (self.tr("BERT"), "bert"),
            (self.tr("White space and runs of punctuation"), "whitespace"),
            (self.tr("White space alone"), "whitespace-split"),
            (self.tr("Unicode punctuation"), "unicode-punctuation"),
        ]
        box = self._make_box(self.tr("Pre-tokenizer"), items)
        set_plain_tooltip(box, self.tr("How the text is cut into words"))
        box.activated.connect(self._on_pre_tokenizer_box_activated)
        return box

    def _make_box(self, name: str, items: list[tuple[str, str]]) -> QComboBox:
        box = QComboBox(self)
        for text, value in items:
            box.addItem(text, value)
        box.setAccessibleName(name)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(8)
        return box

    def _on_normalizer_box_activated(self, index: int) -> None:
        if self._normalizer_box.itemData(index) == "":
            self._normalizer_box.setCurrentIndex(self._chosen_normalizer)
            self._ask_for_name()
            return
        self._chosen_normalizer = index
        self.pipeline_changed.emit()

    def _on_pre_tokenizer_box_activated(self, _index: int) -> None:
        self.pipeline_changed.emit()

    def _ask_for_name(self) -> None:
        dialog = QInputDialog(self.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle(self.tr("Normalizer"))
        dialog.setLabelText(
            self.tr(
                "Steps joined by +: bert-cased, bert-uncased, language-friendly, nfc, nfd, nfkc, nfkd, lowercase,"
                " strip-accents, none, remove: and characters to remove"
            )
        )
        dialog.setTextValue(self._normalizer_box.currentData())
        dialog.textValueSelected.connect(self._on_name_selected)
        dialog.open()

    def _on_name_selected(self, name: str) -> None:
        try:
            resolve_normalizer(name)
        except StudioError as error:
            self.name_refused.emit(error)
            return
        self.set_names(name, self._pre_tokenizer_box.currentData())
        self.pipeline_changed.emit()


def figures(counts: WordCounts) -> dict[str, int]:
    """Return the numbers of a corpus by name."""
    found = corpus_figures(counts)
    return {
        "lines": found.lines,
        "words": found.words,
        "distinct": found.distinct,
        "symbols": found.symbols,
        "alphabet": found.alphabet,
    }
