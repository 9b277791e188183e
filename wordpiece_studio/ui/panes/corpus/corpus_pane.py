"""The corpus pane with its three tabs, *Text*, *Words* and *Files*; find bar, the line at the cursor, the numbers.

The line is shown as the trainer reads it: raw, normalized, words, and the symbols of the word at the cursor. The
normalizer and pre-tokenizer are those used for counting and training.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from enum import IntEnum
from pathlib import PurePath
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QTabBar, QToolButton, QVBoxLayout, QWidget

from wordpiece_studio.corpus.count_tables import is_typed_counts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.plural import counted, filled, plural
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.plain_engine import split, token_of
from wordpiece_studio.ui.panes.corpus.corpus_editor import CorpusEditor, FindBar
from wordpiece_studio.ui.panes.corpus.corpus_figures import CorpusFiguresView, CountingBar
from wordpiece_studio.ui.panes.corpus.files_view import FilesView
from wordpiece_studio.ui.panes.corpus.lint_view import LintController, LintView
from wordpiece_studio.ui.panes.corpus.reading import CountsOffer, reading_words
from wordpiece_studio.ui.panes.corpus.words_tab import WordsTab
from wordpiece_studio.ui.widgets.pane import Pane, fill, grid_in
from wordpiece_studio.ui.widgets.plain import (
    Fitted,
    FittingLabel,
    WholeLabel,
    explain,
    plain_label,
    set_plain_text,
    set_plain_tooltip,
    tooltip_text,
)
from wordpiece_studio.ui.widgets.token_text import jamo_apart, line_text, number_text, pipeline_text, token_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.document import Document
    from wordpiece_studio.session.session import Session
    from wordpiece_studio.text.pipeline import Pipeline, Word
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.widgets.theme import Theme

_LONGEST_LINE = 2000
_LONGEST_WORD = 300
_MOST_WORDS = 60
_MOST_SHOWN = 400  # characters of a row: more than ever fit, and few enough to be measured at every key press
# Characters: a line is shown from its start if the word is this near to it, else from this many before the word.
_SEEN_FROM_START, _SEEN_BEFORE = 14, 8


class LineView(QWidget):
    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heading = plain_label("", self, role="heading")
        grid = grid_in(self, (14, 6, 14, 8), across=10, down=4)
        grid.setColumnStretch(1, 1)
        grid.addWidget(self.heading, 0, 0, 1, 2)
        self.texts: dict[str, str] = {}  # in full, of the rows "raw", "normalized", "words" and "symbols"
        self._labels: dict[str, FittingLabel] = {}
        rows = {
            "raw": (self.tr("Raw"), "corpus"), "normalized": (self.tr("Normalized"), "normalizer"),
            "words": (self.tr("Words"), "word"), "symbols": (self.tr("Symbols"), "symbol"),
        }  # fmt: skip
        for row, (name, (caption, entry)) in enumerate(rows.items(), start=1):
            label = self._labels[name] = FittingLabel(self)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setAccessibleName(caption)
            caption_label = plain_label(caption, self, role="caption")
            explain(entry, label, caption_label)
            grid.addWidget(caption_label, row, 0)
            grid.addWidget(label, row, 1)
        theme.dress(lambda: self._labels["symbols"].setFont(theme.mono_font()))

    def show_line(
        self, number: int | None, line: str, column: int, pipeline: Pipeline, config: TrainingConfig | None = None,
        *, is_next: bool = False,
    ) -> None:  # fmt: skip
        """Show line `number` (from 1, None if not known) with the cursor before character `column` (from 0).

        The symbols are those with which a training with these settings begins; `is_next`: the run shown has others.
        """
        line, column = _window(line, column)
        which = self.tr("This line") if number is None else self.tr("Line {number}").format(number=number_text(number))
        said = self.tr("{line}, as the next run reads it") if is_next else self.tr("{line}, as the trainer reads it")
        set_plain_text(self.heading, said.format(line=which))
        try:
            aligned = pipeline.normalizer.align(line)
            words = pipeline.aligned_words(line)
        except StudioError as error:
            self._show(raw=(line, line_text(line)), normalized=(str(error), str(error)))
            return
        chosen = _word_at(words, column)
        # Where no one has placed the cursor, the line is shown from its beginning.
        place = chosen.start if chosen is not None and column else 0
        near = words[_first_near(words, chosen) :][:_MOST_WORDS]
        symbols = _symbols_of(chosen.text, config or TrainingConfig()) if chosen is not None else []
        is_later = near[:1] != words[:1]
        words_shown = _left_to_right(_joined_words([_isolated(word.text) for word in near], is_later))
        self._show(
            raw=(line, beginning_near(line, place)),
            normalized=(aligned.text, beginning_near(aligned.text, bisect_left(aligned.starts, place))),
            words=(_joined_words([word.text for word in near], is_later), words_shown),
            symbols=(" ".join(symbols), *(shown_symbols(chosen.text, symbols) if chosen is not None else ("",))),
        )

    def _show(self, **rows: tuple[str, ...]) -> None:
        """Set the full text of each row, and the forms to display, of which the first that fits is used."""
        for name, label in self._labels.items():
            self.texts[name], *forms = rows.get(name, ("", ""))
            set_plain_tooltip(label, jamo_apart(line_text(self.texts[name])))
            label.show_forms(*(jamo_apart(form[:_MOST_SHOWN]) for form in forms))


def _symbols_of(word: str, config: TrainingConfig) -> list[str]:
    """Return the symbols with which training starts for `word`, whatever the limit of the alphabet.

    >>> _symbols_of("hug", TrainingConfig())
    ['h', '##u', '##g']
    """
    word = word[:_LONGEST_WORD]
    return [token_of(symbol, config.continuing_subword_prefix) for symbol in split(word, config)]


def _word_at(words: list[Word], column: int) -> Word | None:
    """Return the word in or after which the cursor stands; None if there are no words.

    At the start of the line, where no one has placed the cursor, it is the first word of more than one symbol.
    """
    if column == 0:
        return next((word for word in words if len(word.text) > 1), words[0] if words else None)
    before = [word for word in words if word.start <= column]
    return before[-1] if before else (words[0] if words else None)


def _first_near(words: list[Word], chosen: Word | None) -> int:
    """Return the index of the first word to show: 0, or a little before the word at the cursor."""
    place = next((index for index, word in enumerate(words) if word is chosen), 0)
    return max(0, place - 1) if place > 2 else 0


def _joined_words(words: list[str], is_later: bool) -> str:
    shown = " · ".join(words)
    return f"… {shown}" if is_later else shown


def beginning_near(line: str, place: int) -> str:
    if place <= _SEEN_FROM_START:
        return line_text(line)
    start = place - _SEEN_BEFORE
    return "… " + line_text(line[start:])


def _isolated(word: str) -> str:
    """Return a word for display that keeps its own direction and does not affect that of its neighbors."""
    shown = line_text(word[:_LONGEST_WORD])
    return shown if word.isascii() else f"\u2068{shown}\u2069"


def shown_symbols(word: str, symbols: list[str]) -> tuple[str, ...]:
    """Return ``"word → w ##o ##r ##d"`` for display, left to right in every script, with and without the word."""
    apart = [token_text(symbol) for symbol in symbols]
    if not word.isascii():
        apart = [f"\u2066{symbol}\u2069" for symbol in apart]
    bare = " ".join(apart)
    return _left_to_right(f"{_isolated(word)} → {bare}"), _left_to_right(bare)


def _left_to_right(text: str) -> str:
    """Return a text for display whose parts run from left to right, like those of a list."""
    has_right_to_left = any(unicodedata.bidirectional(character) in ("R", "AL") for character in text)
    return f"\u200e{text}" if has_right_to_left else text


def _window(line: str, column: int) -> tuple[str, int]:
    if len(line) <= _LONGEST_LINE:
        return line, column
    start = max(0, min(column - _LONGEST_LINE // 4, len(line) - _LONGEST_LINE))
    return line[start : start + _LONGEST_LINE], column - start


_LEAST_LINES = 7  # the line view appears only where at least this many lines of the text are visible too
_LOW_BELOW = 680  # pixels; below it, files and preview do not both fit


class CorpusTab(IntEnum):
    TEXT = 0
    WORDS = 1
    FILES = 2


class CorpusTabs(Fitted, QTabBar):
    """The text, of which files, and a text that is kept as one, have none to edit; the words; the files."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, expanding=False, drawBase=False, usesScrollButtons=False)
        for name in (self.tr("Text"), self.tr("Words and splits"), self.tr("Files")):
            self.addTab(name)
        self.setAccessibleName(self.tr("Corpus views"))

    def show_kind(self, document: Document) -> None:
        shows_words = self.currentIndex() == CorpusTab.WORDS  # Qt leaves a tab that is disabled
        self.setTabEnabled(CorpusTab.TEXT, document.is_editable)
        why = self.tr("The text is too long to edit") if document.is_kept else self.tr("The corpus is a list of files")
        self.setTabToolTip(CorpusTab.TEXT, "" if document.is_editable else tooltip_text(why))
        if not shows_words:
            self.setCurrentIndex(CorpusTab.TEXT if document.is_editable else CorpusTab.FILES)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def fit(self) -> None:
        self.setTabText(CorpusTab.WORDS, self.tr("Words and splits"))
        if self.sizeHint().width() > self.width():
            self.setTabText(CorpusTab.WORDS, self.tr("Words"))


class CorpusPane(Pane):
    # What was typed is not possible, a StudioError: a count, or the name of a normalizer or pre-tokenizer.
    refused = Signal(object)

    def __init__(self, session: Session, actions: Actions, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(session.model, parent)
        self._session = session
        self._document = document = session.document
        self._counting = counting = session.counting
        self._theme = theme
        self._counted: WordCounts | None = None  # the latest counts, of the current text or from before an edit
        self.counting_bar = CountingBar(document, counting, theme, self)
        self.counts_offer = CountsOffer(document, self)
        self.editor = CorpusEditor(document, theme, self)
        self.files_view = FilesView(document, actions, theme, self)
        self.tabs = CorpusTabs(self)
        self.words_tab = WordsTab(session, self.refused.emit, theme, self)
        self.find_bar = FindBar(document, self.editor, theme, self)
        self.line_view = LineView(theme, self)
        self.lint_view = LintView(theme, self)
        self.figures = CorpusFiguresView(counting, session.settings, self.refused.emit, self)
        self.lint_controller = LintController(document, counting, self.figures, self.lint_view, self)
        self.note_label = WholeLabel(self, role="hint")
        self.note_label.setContentsMargins(14, 2, 14, 4)
        self.header = header = QWidget(self)
        self._samples_button = QToolButton(header)
        fill(QHBoxLayout(header), self._samples_button)
        self._lay_out()
        self._connect()
        self._on_document_reset()

    def refresh(self) -> None:
        edited = self.tr("edited") if self._document.is_modified else ""
        said = self._session.corpus_name, reading_words(self._document), edited
        self.set_heading(" · ".join(filter(None, said)))
        self._show_note()
        self._show_line()

    def set_samples_menu(self, menu: QMenu) -> None:
        self._samples_button.setMenu(menu)

    @property
    def tab(self) -> CorpusTab:
        return CorpusTab(self.tabs.currentIndex())

    def show_tab(self, tab: CorpusTab) -> None:
        if tab is not CorpusTab.WORDS:
            tab = CorpusTab.TEXT if self._document.is_editable else CorpusTab.FILES
        self.tabs.setCurrentIndex(tab)

    # -- finding

    def open_find_bar(self) -> None:
        if self.tab is CorpusTab.WORDS:
            self.words_tab.focus_search()
            return
        self.show_tab(CorpusTab.TEXT)
        self.find_bar.open_bar()

    def find_next(self) -> None:
        self._find(self.find_bar.find_next)

    def find_previous(self) -> None:
        self._find(self.find_bar.find_previous)

    def _find(self, find: Callable[[], None]) -> None:
        if self.find_bar.sought:
            find()
        else:
            self.open_find_bar()

    # -- the document

    def _on_document_reset(self) -> None:
        self.tabs.show_kind(self._document)
        self._show_tab()
        self._counted = None
        self.refresh_later()

    def _show_tab(self) -> None:
        self.editor.setVisible(self.tab is CorpusTab.TEXT)
        self.words_tab.setVisible(self.tab is CorpusTab.WORDS)
        self.files_view.setVisible(self.tab is CorpusTab.FILES)
        if self.tab is not CorpusTab.TEXT and not self.find_bar.isHidden():
            self.find_bar.close_bar()
        self.counts_offer.set_wanted(self.tab is not CorpusTab.WORDS)
        self.fit()

    def _show_note(self) -> None:
        notes = []
        if self._counting.counts is not None:
            self._counted = self._counting.counts
        if self._counted is not None and not self._document.is_files and self._counted.statistics.skipped_lines:
            notes.append(counted(
                self._counted.statistics.skipped_lines, "1 line is left out: it is not a word with a count.",
                "{count} lines are left out: they are not words with counts.",
            ))  # fmt: skip
        if self._counted is not None and self._counted.skipped:
            notes.append(self._words_left_out(self._counted))
        run = self._model.run
        if run is not None and not self._session.has_pipeline_of(run):
            words, length = self.tr("Run {letter} had {steps}."), run.origin.max_word_length
            if length not in (None, self._counting.max_word_length):
                words = self.tr("Run {letter} had {steps}, maximum word length {length}.")
            said = words.format(letter=run.letter, steps=pipeline_text(run.counts), length=number_text(length or 0))
            notes.append(said)
        self.note_label.show_text(" ".join(notes))

    def _words_left_out(self, counts: WordCounts) -> str:
        number, first = counts.statistics.skipped_words, counts.skipped[0]
        name = PurePath(first.source).name
        if self._document.is_files and len(self._document.files.rows) > 1:
            template = plural(
                number, "1 word was left out because it is too long: line {line} of {name}, length {length}.",
                "{count} words were left out because they are too long; the first: line {line} of {name}, "
                "length {length}.",
            )  # fmt: skip
        else:
            template = plural(
                number, "1 word was left out because it is too long: line {line}, length {length}.",
                "{count} words were left out because they are too long; the first: line {line}, length {length}.",
            )  # fmt: skip
        return filled(template, count=number, name=name, line=first.line, length=first.length)

    def _show_line(self) -> None:
        config, is_next = self._session.settings.valid_config(), not self._session.has_pipeline_of(self._model.run)
        if not self._document.is_editable:
            at_cursor = self.files_view.preview.line_at_cursor()
            self.line_view.show_line(*at_cursor, self._counting.pipeline, config, is_next=is_next)
            return
        block = self.editor.textCursor().block()
        number = block.blockNumber() + 1
        # From the document, because the editor replaces some characters by others.
        start = self._document.text_position(block.position())
        line = self._document.text[start : self._document.text_position(block.position() + block.length() - 1)]
        column = self._document.text_position(self.editor.textCursor().position()) - start
        self.line_view.show_line(number, line, column, self._counting.pipeline, config, is_next=is_next)

    def minimumSizeHint(self) -> QSize:
        """Use the actual width of wrapped texts; Qt's own answer assumes their preferred width."""
        least, layout = super().minimumSizeHint(), self.layout()
        whole = layout.minimumHeightForWidth(self.width()) if layout is not None else 0
        return least.expandedTo(QSize(0, whole))

    def fit(self) -> None:
        is_files, room = not self._document.is_editable, self.seen.height()
        self.figures.fit(has_choices=self.tab is not CorpusTab.WORDS)
        self.files_view.set_dense(is_files and room < _LOW_BELOW)
        if self.tab is CorpusTab.WORDS or (self.tab is CorpusTab.FILES and not is_files):
            self.line_view.hide()
        elif is_files:
            self.line_view.setVisible(bool(self._document.files.rows) and self.files_view.shows_preview)
        else:
            self._give_room_to_text(room)

    def _give_room_to_text(self, room: int) -> None:
        """Hide the line view where not everything fits into `room` pixels."""
        others = self.tabs, self.counting_bar, self.counts_offer, self.find_bar, self.figures, self.lint_view
        shown = self.line_view, *(part for part in others if not part.isHidden())
        taken = sum(part.sizeHint().height() for part in shown)
        taken += 0 if self.note_label.isHidden() else self.note_label.minimumHeight()
        rest = room - taken - _LEAST_LINES * self.editor.fontMetrics().lineSpacing()
        text = self._document.text
        is_line_read = bool(text) and not is_typed_counts(text)  # words with counts are taken as they stand
        self.line_view.setVisible(is_line_read and rest >= 0)

    # -- construction

    def _lay_out(self) -> None:
        self._samples_button.setText(self.tr("Samples"))
        self._samples_button.setToolButtonStyle(self._samples_button.toolButtonStyle().ToolButtonTextBesideIcon)
        self._samples_button.setLayoutDirection(self.layoutDirection().RightToLeft)
        self._samples_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        set_plain_tooltip(self._samples_button, self.tr("Sample corpora"))
        line = QFrame(self)
        line.setObjectName("panel_title_bar")
        line.setFixedHeight(1)
        above = self.tabs, self.counting_bar, self.counts_offer, self.find_bar
        views = (self.editor, 1), (self.words_tab, 1), (self.files_view, 1)
        below = self.note_label, self.line_view, self.lint_view, line, self.figures
        fill(QVBoxLayout(self), *above, *views, *below)
        self.setMinimumWidth(210)
        self._theme.set_icon(self._samples_button, "down", "muted")

    def _connect(self) -> None:
        session, document, counting, preview = self._session, self._document, self._counting, self.files_view.preview
        self.follow(
            document.text_changed, document.modified_changed, document.path_changed, document.files.changed,
            counting.counts_changed, counting.pipeline_changed, session.settings.replaced,
            session.corpus_taken, self.editor.cursorPositionChanged, preview.line_changed,
        )  # fmt: skip
        document.reset.connect(self._on_document_reset)
        session.corpus_taken.connect(lambda: self.editor.select(0))
        counting.failed.connect(self.files_view.show_fault)
        self.tabs.currentChanged.connect(self._show_tab)
        for changed in (self.files_view.preview_button.toggled, document.files.changed):
            changed.connect(self.fit)
        session.watch.noticed.connect(preview.read_again)
