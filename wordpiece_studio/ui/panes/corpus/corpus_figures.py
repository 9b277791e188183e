"""The lower part of the corpus pane: the size of the corpus, and the fields for normalizer and pre-tokenizer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QGridLayout,
    QInputDialog,
    QLabel,
    QSizePolicy,
    QSpinBox,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.corpus_counting import LONGEST_WORD
from wordpiece_studio.session.plural import plural
from wordpiece_studio.session.timers import single_shot
from wordpiece_studio.system.printable import printable
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer
from wordpiece_studio.ui.widgets.explained import explain
from wordpiece_studio.ui.widgets.plain import BuddyLabel, plain_label, set_plain_text, set_plain_tooltip
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent, QResizeEvent, QWheelEvent

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer

_MOST_LONGEST_WORD = 100_000
_LEAST_FIELD = 60  # pixels
_INSIDE = 4  # pixels that a style leaves beside the text of a box
_ENTRIES = {"lines": "corpus", "words": "word", "distinct": "word", "symbols": "symbol", "alphabet": "alphabet"}
"""Of the glossary, that explain the numbers."""
_CHOICE_DELAY_MS = 500
"""How long after its last change a number counts as chosen."""


class _CutBox(QComboBox):
    """A box whose text ends with … where it is too long, instead of in the middle of a letter."""

    def paintEvent(self, _event: QPaintEvent) -> None:
        option, combo = QStyleOptionComboBox(), QStyle.ComplexControl.CC_ComboBox
        self.initStyleOption(option)
        room = self.style().subControlRect(combo, option, QStyle.SubControl.SC_ComboBoxEditField, self).width()
        text = self.fontMetrics().elidedText(option.currentText, Qt.TextElideMode.ElideRight, room - _INSIDE)
        option.currentText = text
        painter = QStylePainter(self)
        painter.drawComplexControl(combo, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()


class CorpusFiguresView(QWidget):
    """The numbers of the current counts, and the choices of pipeline and longest word."""

    pipeline_changed = Signal()
    """Another normalizer or pre-tokenizer was chosen."""
    longest_word_chosen = Signal(object)
    """The user chose the length (int) up to which words are counted."""
    name_refused = Signal(object)
    """The name typed for a normalizer or pre-tokenizer is not valid, a StudioError."""

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
            explain(_ENTRIES[name], *self._rows[-1])
        self._summary_label = plain_label("", self, role="caption", wrap=True)
        self._summary_label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._summary_label.hide()
        self._grid.addWidget(self._summary_label, 0, 0, 1, 2)
        self._normalizer_box = self._make_normalizer_box()
        self._pre_tokenizer_box = self._make_pre_tokenizer_box()
        self._longest_word = LONGEST_WORD
        self._has_tools = self._has_choices = True
        self._longest_timer = single_shot(self, self._on_longest_timer_timeout, _CHOICE_DELAY_MS)
        self._longest_edit = self._make_longest_edit()
        for caption, box in (
            (self.tr("Normalizer"), self._normalizer_box), (self.tr("Pre-tokenizer"), self._pre_tokenizer_box),
            (self.tr("Maximum word length"), self._longest_edit),
        ):  # fmt: skip
            self._rows.append((BuddyLabel(caption, box, self), box))
        explain("normalizer", self._normalizer_box)
        explain("pre-tokenizer", self._pre_tokenizer_box)
        explain("word", self._longest_edit)
        for row, (label, widget) in enumerate(self._rows, 1):
            self._grid.addWidget(label, row, 0)
            self._grid.addWidget(widget, row, 1)
        self._grid.setColumnStretch(1, 1)
        self._chosen = {self._normalizer_box: 0, self._pre_tokenizer_box: 0}
        self._box_asked_for = self._normalizer_box
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
        """Choose by name; if either name is invalid, the choice stays as it is."""
        try:
            resolve_normalizer(normalizer)
            resolve_pre_tokenizer(pre_tokenizer)
        except StudioError:
            return
        for box, name in ((self._normalizer_box, normalizer), (self._pre_tokenizer_box, pre_tokenizer)):
            if box.findData(name) < 0:
                box.insertItem(box.count() - 1, printable(name), name)
            box.setCurrentIndex(box.findData(name))
            self._chosen[box] = box.currentIndex()

    def show_longest_word(self, length: int) -> None:
        """Show the length, in characters, up to which words are counted."""
        self._longest_word = length
        self._longest_edit.setValue(length)
        self._show_longest_edit()

    def show_tools(self, is_wanted: bool) -> None:
        """Show the choice of the longest word; without this it is shown only if it is not the usual one."""
        self._has_tools = is_wanted
        self._show_longest_edit()

    def ask_for_longest_word(self) -> None:
        """Show that choice until another layout is taken, with the keyboard focus in it."""
        self.show_tools(True)
        self._longest_edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._longest_edit.selectAll()

    def _show_longest_edit(self) -> None:
        for part in self._rows[-1]:
            part.setVisible(self._has_choices and (self._has_tools or self._longest_word != LONGEST_WORD))

    def choose(self, normalizer: str, pre_tokenizer: str) -> None:
        """Choose by name, as the user would."""
        self.set_names(normalizer, pre_tokenizer)
        self.pipeline_changed.emit()

    def show_counts(self, counts: WordCounts | None, *, ends_count: bool = False) -> None:
        """Show the size of the corpus; a dash stands for each unknown number.

        `ends_count`: the end of a word is a symbol of its own.
        """
        numbers = {} if counts is None else figures(counts)
        if ends_count and numbers:
            numbers["symbols"] += numbers["words"]
        for name, label in self._values.items():
            number = numbers.get(name)
            set_plain_text(label, "–" if number is None else number_text(number))
        self._show_summary()

    def value_of(self, name: str) -> str:
        """Return the text shown for ``"lines"``, ``"words"``, ``"distinct"``, ``"symbols"`` or ``"alphabet"``."""
        return self._values[name].text()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_summary()

    def _show_summary(self) -> None:
        set_plain_text(self._summary_label, self._summary())
        self._fit_summary()

    def _fit_summary(self) -> None:
        """Keep the whole paragraph visible: otherwise a wrapped label may become lower than its text."""
        margins = self._grid.contentsMargins()
        width = self.width() - margins.left() - margins.right()
        self._summary_label.setMinimumHeight(0)  # the old minimum would count as needed
        self._summary_label.setMinimumHeight(max(self._summary_label.heightForWidth(width), 0))

    def set_dense(self, dense: bool) -> None:
        """Show the numbers in one paragraph, which saves height, or one below the other."""
        self._summary_label.setVisible(dense)
        for label, value in self._rows[: len(self._values)]:
            label.setVisible(not dense)
            value.setVisible(not dense)

    def show_choices(self, are_shown: bool) -> None:
        """Show or hide how text becomes words, which takes much height."""
        self._has_choices = are_shown
        for label, field in self._rows[len(self._values) : -1]:
            label.setVisible(are_shown)
            field.setVisible(are_shown)
        self._show_longest_edit()
        self._show_summary()

    def _summary(self) -> str:
        parts = [f"{caption}: {self.value_of(name)}" for name, caption in self._captions()]
        if not self._has_choices:  # above are the words of the run, which may be of another corpus
            parts.insert(0, self.tr("Current corpus"))
        return " · ".join(part.replace(" ", "\u00a0") for part in parts)  # line breaks only between the parts

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
            (self.tr("Lowercase, accents kept"), "language-friendly"),
            (self.tr("Lowercase, accents kept, Chinese kept together"), "language-friendly:keep-chinese"),
            (self.tr("Lowercase only"), "lowercase"),
            (self.tr("Remove , and . · lowercase"), "remove:,.+lowercase"),
            (
                self.tr("Corpus only: lowercase · no , or . · BERT, cased"),
                "corpus:lowercase+corpus:remove:,.+bert-cased",
            ),
            (self.tr("Unicode form NFC"), "nfc"),
            (self.tr("Unicode form NFKC"), "nfkc"),
            (self.tr("Unchanged"), "none"),
            (self.tr("Other…"), ""),
        ]
        box = self._make_box(self.tr("Normalizer"), items)
        set_plain_tooltip(box, self.tr("What is done to the text before it is split into words"))
        box.activated.connect(self._on_box_activated)
        return box

    def _make_pre_tokenizer_box(self) -> QComboBox:
        items = [
            (self.tr("BERT"), "bert"),
            (self.tr("BERT, individual digits"), "bert+digits-single"),
            (self.tr("Whitespace and runs of punctuation"), "whitespace"),
            (self.tr("Whitespace only"), "whitespace-split"),
            (self.tr("Unicode punctuation"), "unicode-punctuation"),
            (self.tr("Byte level"), "byte-level"),
            (self.tr("Whitespace, then byte level"), "whitespace-split+byte-level"),
            (self.tr("Other…"), ""),
        ]
        box = self._make_box(self.tr("Pre-tokenizer"), items)
        set_plain_tooltip(box, self.tr("How the text is split into words"))
        box.activated.connect(self._on_box_activated)
        return box

    def _make_longest_edit(self) -> QSpinBox:
        edit = _LengthEdit(self)
        edit.setRange(1, _MOST_LONGEST_WORD)
        edit.setValue(self._longest_word)
        edit.setGroupSeparatorShown(True)
        edit.setKeyboardTracking(False)
        edit.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        edit.setMinimumWidth(_LEAST_FIELD)
        edit.setAccessibleName(self.tr("Maximum word length"))
        set_plain_tooltip(edit, self.tr("Longer words are left out and reported. Very long words slow training down."))
        edit.valueChanged.connect(self._longest_timer.start)
        return edit

    def _make_box(self, name: str, items: list[tuple[str, str]]) -> QComboBox:
        box = _CutBox(self)
        for text, value in items:
            box.addItem(text, value)
        box.setAccessibleName(name)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(6)
        return box

    def _on_box_activated(self, _index: int) -> None:
        for box in self._chosen:
            if box.currentData() == "":
                box.setCurrentIndex(self._chosen[box])
                self._ask_for_name(box)
                return
        self._chosen = {box: box.currentIndex() for box in self._chosen}
        self.pipeline_changed.emit()

    def _ask_for_name(self, box: QComboBox) -> None:
        self._box_asked_for = box
        dialog = QInputDialog(self.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle(box.accessibleName())
        dialog.setLabelText(
            self.tr(
                "Steps joined by +: bert-cased, bert-uncased, language-friendly, nfc, nfd, nfkc, nfkd, lowercase,\n"
                "strip-accents, none, remove: and characters to remove"
            )
            if box is self._normalizer_box
            else self.tr(
                "Steps joined by +: bert, whitespace, whitespace-split, punctuation, unicode-punctuation, digits,\n"
                "digits-single, byte-level, byte-level:no-prefix, byte-level:no-regex, byte-level:bytes-only,\n"
                "split:isolated: (or removed, merged-with-previous, merged-with-next, contiguous) followed by a\n"
                "regular expression that matches between words, and, as the last step, pattern: followed by one\n"
                "that matches words, such as pattern:[a-z]+|."
            )
        )
        dialog.setTextValue(box.currentData())
        dialog.textValueSelected.connect(self._on_name_selected)
        dialog.open()

    def _on_name_selected(self, name: str) -> None:
        names = {box: box.currentData() for box in self._chosen} | {self._box_asked_for: name}
        normalizer, pre_tokenizer = names[self._normalizer_box], names[self._pre_tokenizer_box]
        try:
            resolve_normalizer(normalizer)
            resolve_pre_tokenizer(pre_tokenizer)
        except StudioError as error:
            self.name_refused.emit(error)
            return
        self.choose(normalizer, pre_tokenizer)

    def _on_longest_timer_timeout(self) -> None:
        if self._longest_edit.value() != self._longest_word:
            self.longest_word_chosen.emit(self._longest_edit.value())


class _LengthEdit(QSpinBox):
    """A number of characters; the field ignores the wheel, which would recount a large corpus at every notch."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.valueChanged.connect(self._show_unit)

    def _show_unit(self, value: int) -> None:
        self.setSuffix(plural(value, " character", " characters"))

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


def figures(counts: WordCounts) -> dict[str, int]:
    """Return the numbers of a corpus by name."""
    return {
        "lines": counts.statistics.lines,
        "words": counts.total,
        "distinct": len(counts),
        "symbols": counts.symbols,
        "alphabet": counts.alphabet_size,
    }
