"""The numbers of the corpus: how far counting it is, its size, and the fields for normalizer and pre-tokenizer.

The bar shows the progress of counting in actual numbers, with buttons to pause, stop and restart it.
"""

from __future__ import annotations

import contextlib
from functools import partial
from itertools import chain, zip_longest
from pathlib import PurePath
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QLocale, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QSizePolicy,
    QSpinBox,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QVBoxLayout,
    QWidget,
)

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.corpus_counting import LONGEST_WORD
from wordpiece_studio.session.plural import counted, plural
from wordpiece_studio.session.task import single_shot
from wordpiece_studio.system.printable import printable
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer
from wordpiece_studio.ui.widgets.fields import LineDialog, ask_in
from wordpiece_studio.ui.widgets.pane import fill, grid_in
from wordpiece_studio.ui.widgets.plain import BuddyLabel, CutLabel, WholeLabel, explain, set_plain_tooltip, tool_button
from wordpiece_studio.ui.widgets.theme import icon
from wordpiece_studio.ui.widgets.token_text import duration, number_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QPaintEvent, QWheelEvent

    from wordpiece_studio.corpus.counts import CountingProgress
    from wordpiece_studio.session.corpus_counting import CorpusCounting
    from wordpiece_studio.session.document import Document
    from wordpiece_studio.session.session import ChosenSettings
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "corpus_figures")

_PATIENCE_MS = 300  # shorter counts show no progress
_STEPS = 10_000


class CountingBar(QWidget):
    """Visible during a long count, and after one that was stopped, failed, or covered only a part."""

    def __init__(
        self, document: Document, counting: CorpusCounting, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._counting = counting
        self._theme = theme
        self._found: tuple[int, int] | None = None  # files examined and their total, while files are being listed
        self.setAccessibleName(self.tr("Counting"))
        self._label = WholeLabel(self, role="hint")
        self._bar = QProgressBar(self, textVisible=False)
        self._bar.setAccessibleName(self.tr("Counting progress"))
        self.pause_button = tool_button("", "", self, counting.pause_or_resume, role="button")
        name, tip = self.tr("Stop"), self.tr("Stop counting and discard the result")
        self.stop_button = tool_button(name, tip, self, counting.stop, name=name, role="button")
        name = self.tr("Stop and keep")
        tip = self.tr("Stop counting; what has been read so far becomes the corpus")
        self.keep_button = tool_button(name, tip, self, counting.keep, name=name, role="button")
        self.again_button = tool_button("", "", self, counting.count_again, role="button")
        self._patience = single_shot(self, self._show, _PATIENCE_MS)
        shown = self.pause_button, self.stop_button, self.keep_button
        self._buttons = (*shown, self.again_button)
        buttons = fill(QHBoxLayout(), *shown, 1, spacing=6)
        words = fill(QHBoxLayout(), (self._label, 1), (self.again_button, 0, Qt.AlignmentFlag.AlignTop), spacing=6)
        fill(QVBoxLayout(self), words, self._bar, buttons, margins=(14, 6, 12, 6), spacing=5)
        theme.set_icon(self.stop_button, "stop", "text", "faint")
        for button in (self.pause_button, self.stop_button):
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        theme.changed.connect(self._draw_pause)
        counting.task.progressed.connect(self._show_progress)
        counting.state_changed.connect(self._show_state)
        counting.counts_changed.connect(self._show)
        self.hide()

    @property
    def text(self) -> str:
        return self._label.text() if not self.isHidden() else ""

    def show_listing(self, found: tuple[int, int] | None) -> None:
        self._found = found
        self._show()

    @property
    def _progress(self) -> CountingProgress | None:
        progress: CountingProgress | None = self._counting.task.progress
        return progress

    def _show_progress(self) -> None:
        if not self.isHidden() or self._document.is_files:
            self._show()

    def _show_state(self) -> None:
        if self._counting.is_running and self.isHidden() and not self._counting.is_paused:
            self._patience.start()
        else:
            self._show()

    def _show(self) -> None:
        self._patience.stop()
        counting = self._counting
        runs = counting.is_running
        words = self._words()
        had_keyboard = any(button.hasFocus() for button in self._buttons)
        self._label.show_text(words)
        self.pause_button.setText(self.tr("Resume") if counting.is_paused else self.tr("Pause"))
        set_plain_tooltip(self.pause_button, self.pause_button.text())
        self._draw_pause()
        self.pause_button.setVisible(runs)
        self.pause_button.setEnabled(not counting.is_ending)
        self.stop_button.setVisible(runs)
        self.keep_button.setVisible(runs and self._document.is_files and not counting.is_ending)
        self.keep_button.setEnabled(self._progress is not None and self._progress.bytes_done > 0)
        is_again = not runs and self._found is None and bool(words)
        self.again_button.setVisible(is_again)
        self.again_button.setText(self.tr("Count all") if counting.is_partial else self.tr("Count again"))
        self._show_bar(runs)
        self.setVisible(bool(words))
        if had_keyboard and not self.isHidden() and not any(button.hasFocus() for button in self._buttons):
            shown = [button for button in self._buttons if button.isVisible() and button.isEnabled()]
            if shown:
                shown[0].setFocus()

    def _draw_pause(self) -> None:
        name = "play" if self._counting.is_paused else "pause"
        self.pause_button.setIcon(icon(name, self._theme.text, self._theme.faint))

    def _show_bar(self, runs: bool) -> None:
        done, total, progress = 0, 0, self._progress
        if self._found is not None and not self._counting.is_ending:
            done, total = self._found
        elif progress is not None and not self._counting.is_ending:
            done, total = progress.bytes_done, progress.bytes_total
        self._bar.setVisible(runs or self._found is not None)
        self._bar.setRange(0, _STEPS if total else 0)  # 0: a busy indicator without an end
        self._bar.setValue(_STEPS * done // total if total else 0)

    def _words(self) -> str:
        counting, progress = self._counting, self._progress
        if self._found is not None:
            words = plural(self._found[1], "{done:,} of 1 file examined", "{done:,} of {total:,} files examined")
            return words.format(done=self._found[0], total=self._found[1])
        if counting.is_ending or (progress is not None and progress.bytes_done >= progress.bytes_total > 0):
            return self.tr("Finishing the count…")
        if counting.is_running:
            text = progress_words(progress) if progress is not None else self.tr("Counting the words…")
            return " · ".join((self.tr("Paused"), text)) if counting.is_paused else text
        if counting.error is not None:
            faulty = self._document.files.faulty
            if not faulty:
                return str(counting.error)
            # The table shows what is wrong with the file.
            name = PurePath(self._document.files.records[faulty[0]].name).name
            return self.tr("Counting stopped: {name} cannot be read.").format(name=name)
        if counting.was_stopped:
            return self.tr("Counting was stopped.")
        if counting.is_partial and counting.counts is not None:
            read = data_size(sum(file.bytes for file in counting.counts.statistics.files))
            return self.tr("Only the first {read} was counted.").format(read=read)
        return ""


def progress_words(progress: CountingProgress) -> str:
    """Return the progress of a count, for example ``312 MB of 1.0 GB · 4.1 million words · 31 s left · 260 MB``."""
    parts = [
        _tr("{done} of {total}").format(done=data_size(progress.bytes_done), total=data_size(progress.bytes_total))
    ]
    if progress.files_total > 1:
        files = plural(progress.files_total, "{done:,} of 1 file", "{done:,} of {total:,} files")
        parts.append(files.format(done=progress.files_done, total=progress.files_total))
    if progress.words >= 1_000_000:
        parts.append(_tr("{number:.1f} million words").format(number=progress.words / 1e6))
    elif progress.words:
        parts.append(counted(progress.words, "1 word", "{count} words"))
    if progress.seconds_left is not None:
        parts.append(_tr("{time} left").format(time=duration(progress.seconds_left)))
    if progress.memory_bytes is not None:
        parts.append(_tr("{size} of memory").format(size=data_size(progress.memory_bytes)))
    return " · ".join(part.replace(" ", "\u00a0") for part in parts)  # line breaks only between the parts


def data_size(size: int) -> str:
    digits = 1 if size >= 1_000_000_000 else 0
    return QLocale.c().formattedDataSize(size, digits, QLocale.DataSizeFormat.DataSizeSIFormat)


_INSIDE = 4  # pixels that a style leaves beside the text of a box
_CHOICE_DELAY_MS = 500  # how long after its last change a number counts as chosen


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

    def __init__(
        self, counting: CorpusCounting, settings: ChosenSettings, refuse: Callable[[StudioError], None],
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        """`refuse` is called if a name typed for a normalizer or pre-tokenizer is not valid."""
        super().__init__(parent)
        self._counting = counting
        self._settings = settings
        self._refuse = refuse
        self._grid = grid_in(self, (14, 8, 12, 10), across=10, down=4)
        self.values = dict.fromkeys(("lines", "words", "distinct", "symbols", "alphabet"), "–")
        self._rows: list[tuple[QLabel, QWidget]] = []  # of choices
        self.summary_label = WholeLabel(self, role="caption")
        self.summary_label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        explain("corpus", self.summary_label)
        self._grid.addWidget(self.summary_label, 0, 0, 1, 2)
        self.normalizer_box = self._make_normalizer_box()
        self.pre_tokenizer_box = self._make_pre_tokenizer_box()
        self._has_choices = True
        self._longest_timer = single_shot(self, self._take_longest_word, _CHOICE_DELAY_MS)
        self.longest_edit = self._make_longest_edit()
        for caption, box, entry in (
            (self.tr("Normalizer"), self.normalizer_box, "normalizer"),
            (self.tr("Pre-tokenizer"), self.pre_tokenizer_box, "pre-tokenizer"),
            (self.tr("Maximum word length"), self.longest_edit, "word"),
        ):
            self._rows.append((BuddyLabel(caption, box, self), box))
            explain(entry, box)
        self._is_unfolded = False
        self.fold = tool_button("", "", self, self._turn_fold, takes_focus=True, entry="normalizer")
        self._folded = CutLabel("", self, role="hint")
        fold = fill(QHBoxLayout(), (self.fold, 0, Qt.AlignmentFlag.AlignLeft), (self._folded, 1), spacing=4)
        self._grid.addLayout(fold, 1, 0, 1, 2)
        for row, (label, widget) in enumerate(self._rows, 2):
            self._grid.addWidget(label, row, 0)
            self._grid.addWidget(widget, row, 1)
        self._grid.setColumnStretch(1, 1)
        self._chosen = {self.normalizer_box: 0, self.pre_tokenizer_box: 0}
        for changed in (counting.counts_changed, settings.replaced):
            changed.connect(self._show_counts)
        counting.pipeline_changed.connect(self._show_pipeline)
        self._show_counts()

    @property
    def normalizer(self) -> Normalizer:
        return resolve_normalizer(self.normalizer_box.currentData())

    @property
    def pre_tokenizer(self) -> PreTokenizer:
        return resolve_pre_tokenizer(self.pre_tokenizer_box.currentData())

    def set_names(self, normalizer: str, pre_tokenizer: str) -> None:
        """Choose by name; raises a `StudioError` if either name is invalid."""
        resolve_normalizer(normalizer)
        resolve_pre_tokenizer(pre_tokenizer)
        for box, name in ((self.normalizer_box, normalizer), (self.pre_tokenizer_box, pre_tokenizer)):
            if box.findData(name) < 0:
                box.insertItem(box.count() - 1, printable(name), name)
            box.setCurrentIndex(box.findData(name))
            self._chosen[box] = box.currentIndex()

    def _show_pipeline(self) -> None:
        pipeline = self._counting.pipeline
        with contextlib.suppress(StudioError):  # they may be the user's own
            self.set_names(pipeline.normalizer.name, pipeline.pre_tokenizer.name)
        self.longest_edit.setValue(self._counting.max_word_length)
        self._arrange()

    def ask_for_longest_word(self) -> None:
        self._is_unfolded = True
        self._arrange()
        ask_in(self.longest_edit)

    def _turn_fold(self) -> None:
        self._is_unfolded = not self._is_unfolded
        self._arrange()

    def choose(self, normalizer: str, pre_tokenizer: str) -> None:
        try:
            self.set_names(normalizer, pre_tokenizer)
        except StudioError as error:
            self._refuse(error)
        else:
            self._counting.set_pipeline(self.normalizer, self.pre_tokenizer)

    def _show_counts(self) -> None:
        numbers: list[int] = []
        counts, config = self._counting.counts, self._settings.valid_config()
        if counts is not None:
            ends_count = bool(config.end_of_word_suffix) and config.end_of_word == "symbol"
            symbols = counts.symbols + ends_count * counts.total
            numbers = [counts.statistics.lines, counts.total, len(counts), symbols, counts.alphabet_size]
        self.values = dict(zip_longest(self.values, map(number_text, numbers), fillvalue="–"))
        self._arrange()

    def fit(self, *, has_choices: bool) -> None:
        """Save height: do not show how text becomes words."""
        self._has_choices = has_choices
        self._arrange()

    def _arrange(self) -> None:
        is_open = self._has_choices and self._is_unfolded
        self.fold.setVisible(self._has_choices)
        self.fold.setText(self.tr("▾ Text processing") if is_open else self.tr("▸ Text processing:"))
        self._folded.setVisible(self._has_choices and not is_open)
        chosen = [box.currentText() for box in (self.normalizer_box, self.pre_tokenizer_box)]
        chosen += [self.longest_edit.text()] * (self._counting.max_word_length != LONGEST_WORD)
        if (said := " · ".join(chosen)) != self._folded.accessibleName():  # else the pane would be laid out for ever
            self._folded.show_text(said)
        for part in chain.from_iterable(self._rows):
            part.setVisible(is_open)
        self.summary_label.show_text(self._summary())

    def _summary(self) -> str:
        tr = self.tr
        captions = tr("Lines"), tr("Words"), tr("Distinct words"), tr("Symbols"), tr("Alphabet")
        parts = [f"{caption}: {value}" for caption, value in zip(captions, self.values.values(), strict=True)]
        if not self._has_choices:  # above are the words of the run, which may be of another corpus
            parts.insert(0, self.tr("Current corpus"))
        return " · ".join(part.replace(" ", "\u00a0") for part in parts)  # line breaks only between the parts

    def _make_normalizer_box(self) -> QComboBox:
        names = {
            self.tr("BERT, cased"): "bert-cased",
            self.tr("BERT, uncased"): "bert-uncased",
            self.tr("BERT, uncased, accents kept"): "bert-uncased:keep-accents",
            self.tr("BERT, cased, Chinese kept together"): "bert-cased:keep-chinese",
            self.tr("Lowercase, accents kept"): "language-friendly",
            self.tr("Lowercase, accents kept, Chinese kept together"): "language-friendly:keep-chinese",
            self.tr("Lowercase only"): "lowercase",
            self.tr("Remove , and . · lowercase"): "remove:,.+lowercase",
            self.tr("Corpus only: lowercase · no , or . · BERT, cased"): "corpus:lowercase+corpus:remove:,.+bert-cased",
            self.tr("Unicode form NFC"): "nfc",
            self.tr("Unicode form NFKC"): "nfkc",
            self.tr("Unchanged"): "none",
        }
        tip = self.tr("What is done to the text before it is split into words")
        return self._make_box(self.tr("Normalizer"), tip, names)

    def _make_pre_tokenizer_box(self) -> QComboBox:
        names = {
            self.tr("BERT"): "bert",
            self.tr("BERT, individual digits"): "bert+digits-single",
            self.tr("Whitespace and runs of punctuation"): "whitespace",
            self.tr("Whitespace only"): "whitespace-split",
            self.tr("Unicode punctuation"): "unicode-punctuation",
            self.tr("Byte level"): "byte-level",
            self.tr("Whitespace, then byte level"): "whitespace-split+byte-level",
        }
        return self._make_box(self.tr("Pre-tokenizer"), self.tr("How the text is split into words"), names)

    def _make_longest_edit(self) -> QSpinBox:
        edit = _LengthEdit(self)
        edit.valueChanged.connect(lambda value: edit.setSuffix(plural(value, " character", " characters")))
        edit.setRange(1, 100_000)
        edit.setValue(self._counting.max_word_length)
        edit.setGroupSeparatorShown(True)
        edit.setKeyboardTracking(False)
        edit.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        edit.setMinimumWidth(60)  # pixels
        edit.setAccessibleName(self.tr("Maximum word length"))
        set_plain_tooltip(edit, self.tr("Longer words are left out and reported. Very long words slow training down."))
        edit.valueChanged.connect(lambda: self._longest_timer.start())  # not in as many milliseconds as the number
        return edit

    def _make_box(self, name: str, tip: str, names: dict[str, str]) -> QComboBox:
        policy = QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        box = _CutBox(self, sizeAdjustPolicy=policy, minimumContentsLength=6)
        box.setAccessibleName(name)
        for text, value in (names | {self.tr("Other…"): ""}).items():
            box.addItem(text, value)
        set_plain_tooltip(box, tip)
        box.activated.connect(lambda index: self._take_choice(box, index))
        return box

    def _take_choice(self, box: QComboBox, index: int) -> None:
        if box.itemData(index) == "":
            box.setCurrentIndex(self._chosen[box])
            self._ask_for_name(box)
        else:
            self._chosen[box] = index
            self._counting.set_pipeline(self.normalizer, self.pre_tokenizer)

    def _ask_for_name(self, box: QComboBox) -> None:
        entry, said = (
            "normalizer",
            self.tr(
                "Steps joined by +: bert-cased, bert-uncased, language-friendly, nfc, nfd, nfkc, nfkd, lowercase,\n"
                "strip-accents, none, remove: and characters to remove"
            ),
        )
        if box is self.pre_tokenizer_box:
            entry, said = (
                "pre-tokenizer",
                self.tr(
                    "Steps joined by +: bert, whitespace, whitespace-split, punctuation, unicode-punctuation, digits,\n"
                    "digits-single, byte-level, byte-level:no-prefix, byte-level:no-regex, byte-level:bytes-only,\n"
                    "split:isolated: (or removed, merged-with-previous, merged-with-next, contiguous) followed by a\n"
                    "regular expression that matches between words, and, as the last step, pattern: followed by one\n"
                    "that matches words, such as pattern:[a-z]+|."
                ),
            )
        name, chosen = box.accessibleName(), {each: each.currentData() for each in self._chosen}
        LineDialog(
            name, said, box.currentData(), self.window(), name=name, accept="", entry=entry,
            take=lambda text: self.choose(*(chosen | {box: text}).values()),
        ).open()  # fmt: skip

    def _take_longest_word(self) -> None:
        self._counting.set_longest_word(self.longest_edit.value())


class _LengthEdit(QSpinBox):
    """A number of characters; the field ignores the wheel, which would recount a large corpus at every notch."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()
