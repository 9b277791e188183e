"""The progress of counting the corpus, in actual numbers, with buttons to pause, stop and restart it."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QLocale, Qt
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QToolButton, QVBoxLayout, QWidget

from wordpiece_studio.session.plural import plural
from wordpiece_studio.session.timers import single_shot
from wordpiece_studio.ui.panes.training_bar.training_bar import duration
from wordpiece_studio.ui.widgets.painting import icon
from wordpiece_studio.ui.widgets.plain import WholeLabel, set_plain_tooltip
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import CountingProgress
    from wordpiece_studio.session.corpus_counting import CorpusCounting
    from wordpiece_studio.session.document import Document
    from wordpiece_studio.ui.widgets.theme import Theme

_PATIENCE_MS = 300
"""Shorter counts show no progress."""
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
        self._progress: CountingProgress | None = None
        self._found: tuple[int, int] | None = None  # files examined and their total, while files are being listed
        self.setAccessibleName(self.tr("Counting"))
        self._label = WholeLabel(self, role="hint")
        self._bar = QProgressBar(self)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(self.tr("Counting progress"))
        self._pause_button = self._button(self._on_pause_clicked)
        self._stop_button = self._button(counting.stop)
        self._keep_button = self._button(counting.keep)
        self._again_button = self._button(counting.count_again)
        self._stop_button.setText(self.tr("Stop"))
        self._keep_button.setText(self.tr("Stop and keep"))
        set_plain_tooltip(self._stop_button, self.tr("Stop counting and discard the result"))
        set_plain_tooltip(self._keep_button, self.tr("Stop counting; what has been read so far becomes the corpus"))
        self._patience = single_shot(self, self._show, _PATIENCE_MS)
        self._lay_out()
        theme.changed.connect(self._draw_icons)
        counting.progress_changed.connect(self._on_counting_progress_changed)
        counting.state_changed.connect(self._on_counting_state_changed)
        counting.counts_changed.connect(self._show)
        self.hide()

    @property
    def text(self) -> str:
        """The text of the bar; empty while it is hidden."""
        return self._label.text() if not self.isHidden() else ""

    def show_listing(self, found: tuple[int, int] | None) -> None:
        """Show how many files have been examined, and of how many; None when listing is over."""
        self._found = found
        self._show()

    def set_narrow(self, is_narrow: bool) -> None:
        """Show only icons where there is no room for text."""
        style = Qt.ToolButtonStyle.ToolButtonIconOnly if is_narrow else Qt.ToolButtonStyle.ToolButtonTextOnly
        for button in (self._pause_button, self._stop_button):
            button.setToolButtonStyle(style)

    # -- events

    def _on_counting_progress_changed(self, progress: CountingProgress) -> None:
        self._progress = progress
        if not self.isHidden() or self._document.is_files:
            self._show()

    def _on_counting_state_changed(self) -> None:
        if not self._counting.is_running:
            self._progress = None
        if self._counting.is_running and self.isHidden() and not self._counting.is_paused:
            self._patience.start()
        else:
            self._show()

    def _on_pause_clicked(self) -> None:
        if self._counting.is_paused:
            self._counting.resume()
        else:
            self._counting.pause()

    # -- display

    def _show(self) -> None:
        self._patience.stop()
        counting = self._counting
        runs = counting.is_running
        words = self._words()
        had_keyboard = any(button.hasFocus() for button in self._buttons)
        self._label.show_text(words)
        self._pause_button.setText(self.tr("Resume") if counting.is_paused else self.tr("Pause"))
        self._draw_icons()
        self._pause_button.setVisible(runs)
        self._pause_button.setEnabled(not counting.is_ending)
        self._stop_button.setVisible(runs)
        self._keep_button.setVisible(runs and self._document.is_files and not counting.is_ending)
        self._keep_button.setEnabled(self._progress is not None and self._progress.bytes_done > 0)
        is_again = not runs and self._found is None and bool(words)
        self._again_button.setVisible(is_again)
        self._again_button.setText(self.tr("Count all") if counting.is_partial else self.tr("Count again"))
        self._show_bar(runs)
        self.setVisible(bool(words))
        if had_keyboard and not self.isHidden() and not any(button.hasFocus() for button in self._buttons):
            shown = [button for button in self._buttons if button.isVisible() and button.isEnabled()]
            if shown:
                shown[0].setFocus()

    def _draw_icons(self) -> None:
        name = "play" if self._counting.is_paused else "pause"
        self._pause_button.setIcon(icon(name, self._theme.text, self._theme.faint))
        self._stop_button.setIcon(icon("stop", self._theme.text, self._theme.faint))

    def _show_bar(self, runs: bool) -> None:
        done, total = 0, 0
        if self._found is not None and not self._counting.is_ending:
            done, total = self._found
        elif self._progress is not None and not self._counting.is_ending:
            done, total = self._progress.bytes_done, self._progress.bytes_total
        self._bar.setVisible(runs or self._found is not None)
        self._bar.setRange(0, _STEPS if total else 0)  # 0: a busy indicator without an end
        self._bar.setValue(_STEPS * done // total if total else 0)

    def _words(self) -> str:
        counting = self._counting
        if self._found is not None:
            words = plural(self._found[1], "{done:,} of 1 file examined", "{done:,} of {total:,} files examined")
            return words.format(done=self._found[0], total=self._found[1])
        progress = self._progress
        if counting.is_ending or (progress is not None and progress.bytes_done >= progress.bytes_total > 0):
            return self.tr("Finishing the count…")
        if counting.is_running:
            text = progress_words(self._progress) if self._progress is not None else self.tr("Counting the words…")
            return " · ".join((self.tr("Paused"), text)) if counting.is_paused else text
        if counting.error is not None:
            faulty = self._document.files.table.faulty
            if not faulty:
                return str(counting.error)
            # The table shows what is wrong with the file.
            return self.tr("Counting stopped: {name} cannot be read.").format(
                name=PurePath(self._document.files.table.row(faulty[0]).name).name
            )
        if counting.was_stopped:
            return self.tr("Counting was stopped.")
        if counting.is_partial and counting.counts is not None:
            read = data_size(sum(file.bytes for file in counting.counts.statistics.files))
            return self.tr("Only the first {read} was counted.").format(read=read)
        return ""

    @property
    def _buttons(self) -> tuple[QToolButton, ...]:
        return self._pause_button, self._stop_button, self._keep_button, self._again_button

    def _button(self, slot: object) -> QToolButton:
        button = QToolButton(self)
        button.setProperty("role", "button")
        button.clicked.connect(slot)
        return button

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(6)
        for button in (self._pause_button, self._stop_button, self._keep_button):
            buttons.addWidget(button)
        buttons.addStretch(1)
        words = QHBoxLayout()
        words.setSpacing(6)
        words.addWidget(self._label, 1)
        words.addWidget(self._again_button, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 6, 12, 6)
        layout.setSpacing(5)
        layout.addLayout(words)
        layout.addWidget(self._bar)
        layout.addLayout(buttons)


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
        parts.append(plural(progress.words, "1 word", "{count} words").format(count=number_text(progress.words)))
    if progress.seconds_left is not None:
        parts.append(_tr("{time} left").format(time=duration(progress.seconds_left)))
    if progress.memory_bytes is not None:
        parts.append(_tr("{size} of memory").format(size=data_size(progress.memory_bytes)))
    return " · ".join(part.replace(" ", "\u00a0") for part in parts)  # line breaks only between the parts


def data_size(size: int) -> str:
    """Return a number of bytes in short form, for example ``1.0 GB``."""
    digits = 1 if size >= 1_000_000_000 else 0
    return QLocale.c().formattedDataSize(size, digits, QLocale.DataSizeFormat.DataSizeSIFormat)


def _tr(text: str) -> str:
    return QCoreApplication.translate("counting_bar", text)
