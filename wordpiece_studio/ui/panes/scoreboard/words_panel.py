"""The lower part of the scoreboard: the words that hold the focus, under a title that says which and how many.

What is quickly found is found at once; in a large corpus it is looked for beside the window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QMargins, QRect, Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QWidget

from wordpiece_studio.session.background_job import BackgroundJob
from wordpiece_studio.ui.panes.scoreboard.pair_words import NO_WORDS, PairWords, WordsWish, find_words
from wordpiece_studio.ui.panes.scoreboard.wording import short_words_title, words_title
from wordpiece_studio.ui.panes.scoreboard.words_view import WordsView
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, set_plain_tooltip
from wordpiece_studio.ui.widgets.quiet_table import needed_height

if TYPE_CHECKING:
    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.ui.widgets.theme import Theme

_MOST_CELLS = 1 << 20
"""Characters of all distinct words, up to which a look takes some milliseconds."""

_SIDES, _LOW_SIDES = QMargins(14, 4, 6, 4), QMargins(14, 0, 6, 0)


class WordsPanel(QWidget):
    """Shows the words of one `WordsWish` after the other; the latest wins."""

    word_chosen = Signal(object)
    """The word (str) that was chosen."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._wish: WordsWish | None = None
        self._found = NO_WORDS
        self._marked = ""
        self._rows = 1
        self._is_narrow = False
        self._title = plain_label("", self, role="heading", wrap=True)
        self._view = WordsView(theme, self)
        self._job = BackgroundJob(find_words, "The search for words", self)
        self._layout = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        self._layout.setContentsMargins(_SIDES)
        self._layout.setSpacing(2)
        self._layout.addWidget(self._title)
        self._layout.addWidget(self._view, 1)
        self._view.word_chosen.connect(self.word_chosen)
        self._job.finished.connect(self._on_job_finished)
        self._job.failed.connect(self._on_job_failed)

    @property
    def view(self) -> WordsView:
        """The table."""
        return self._view

    @property
    def title(self) -> str:
        """What stands above or beside the table."""
        return self._title.text()

    @property
    def wish(self) -> WordsWish | None:
        """Whose words are shown, or looked for."""
        return self._wish

    def show_words(self, wish: WordsWish | None) -> None:
        """Show the words wished for, or none."""
        self._wish = wish
        self._job.stop()
        if wish is None:
            self._show(NO_WORDS)
        elif wish.history.is_whole and len(wish.history.input.cells) <= _MOST_CELLS:
            self._show(find_words(wish))
        else:
            self._show(NO_WORDS)
            set_plain_text(self._title, self.tr("Looking for the words…"))
            self._job.begin(wish)

    def mark_word(self, word: str) -> bool:
        """Mark a word as soon as it is shown; an empty one marks none. Returns whether it is shown now."""
        self._marked = word
        return self._view.mark_word(word)

    def set_room(self, rows: int, *, is_low: bool) -> None:
        """Be high enough for so many rows; where it is low, the title stands beside them, and is short."""
        self._rows = rows
        if is_low != self._is_narrow:
            self._is_narrow = is_low
            direction = QBoxLayout.Direction.LeftToRight if is_low else QBoxLayout.Direction.TopToBottom
            self._layout.setDirection(direction)
            self._layout.setContentsMargins(_LOW_SIDES if is_low else _SIDES)
            self._title.setWordWrap(not is_low)
            self._show_title()
        self._fit()

    def needed_height(self, rows: int, width: int, *, is_low: bool) -> int:
        """Return the height in pixels with so many rows in a pane of this width; 0 while there is nothing to show."""
        if self._wish is None:
            return 0
        row = self._view.verticalHeader().defaultSectionSize()
        if is_low:
            return max(rows * row + 2, self._title.fontMetrics().height()) + 4
        margins = _SIDES.left() + _SIDES.right()
        room, flags = QRect(0, 0, width - margins, 10_000), int(Qt.TextFlag.TextWordWrap)
        title = self._title.fontMetrics().boundingRect(room, flags, self._title.accessibleName())
        return title.height() + rows * row + 2 + self._layout.spacing() + _SIDES.top() + _SIDES.bottom()

    def _fit(self) -> None:
        """Take the height of some words, and no more than all of them need."""
        count = len(self._found.words)
        self._view.show_rows(min(self._rows, max(count, 1)))
        row = self._view.verticalHeader().defaultSectionSize()
        if self._is_narrow:
            self.setMaximumHeight(max(self._rows * row, self._title.sizeHint().height()) + 4)
        else:
            self.setMaximumHeight(needed_height(self, self._title, self._view, count))

    def close_job(self) -> None:
        """Stop looking, and wait for the thread to end."""
        self._job.close()

    def _show(self, found: PairWords) -> None:
        self._found = found
        self._view.show_words(found)
        self._view.mark_word(self._marked)
        self._view.setVisible(bool(found.words))  # an empty table would take the keyboard
        self._show_title()
        self._fit()

    def _show_title(self) -> None:
        if self._wish is None:
            set_plain_text(self._title, "")
            return
        whole = words_title(self._wish, self._found, self._wish.history)
        set_plain_tooltip(self._title, whole)
        is_short = self._is_narrow and bool(self._found.words)
        set_plain_text(self._title, short_words_title(self._wish, self._found) if is_short else whole)
        self._title.setAccessibleName(whole)

    def _on_job_finished(self, found: PairWords) -> None:
        self._show(found)

    def _on_job_failed(self, error: StudioError) -> None:
        set_plain_text(self._title, str(error))
