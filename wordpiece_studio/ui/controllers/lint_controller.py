"""Has the corpus looked at whenever its words were counted, shows what was found, and mends it when that is wanted.

A warning goes because the corpus was looked at again, never because its button was pressed.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from wordpiece_studio.corpus.linter.finding import LengthFix, PipelineFix, ReadingFix, TextFix
from wordpiece_studio.session.lint_job import LARGEST_IN_THREAD, LintJob, RepairJob

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.corpus.linter.finding import Finding
    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.session.document import Document
    from wordpiece_studio.session.lint_job import RepairedText
    from wordpiece_studio.ui.controllers.counting_controller import CountingController
    from wordpiece_studio.ui.panes.corpus.corpus_figures import CorpusFigures
    from wordpiece_studio.ui.panes.corpus.lint_view import LintView

_log = logging.getLogger(__name__)
_DELAY_MS = 400
_LONG_DELAY_MS = 900


class LintController(QObject):
    """Stands between the corpus and the view of what is wrong with it."""

    def __init__(
        self, document: Document, counting: CountingController, figures: CorpusFigures, view: LintView, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._counting = counting
        self._figures = figures
        self._view = view
        self._job = LintJob(self)
        self._repair = RepairJob(self)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._check)
        counting.counts_changed.connect(self._on_counting_counts_changed)
        document.reset.connect(self._on_document_reset)
        view.fix_requested.connect(self._on_view_fix_requested)
        self._job.finished.connect(view.show_findings)
        self._job.failed.connect(self._on_job_failed)
        self._repair.finished.connect(self._on_repair_finished)
        self._repair.failed.connect(self._on_repair_failed)

    @property
    def is_under_way(self) -> bool:
        """Whether the corpus is being looked at, or will be, without anybody asking."""
        return self._timer.isActive() or self._job.is_running or self._repair.is_running

    def close(self) -> None:
        """Give up what runs and wait for it to end."""
        self._timer.stop()
        self._job.close()
        self._repair.close()

    def _check(self) -> None:
        counts = self._counting.counts
        if counts is not None:
            files = tuple(self._document.files.files) if self._document.is_files else ()
            self._job.check(self._document.text, counts, self._counting.pipeline, files)

    def _on_counting_counts_changed(self, counts: WordCounts | None) -> None:
        self._timer.stop()
        self._job.stop()  # what it looks at is out of date
        if counts is not None:
            is_long = max(len(self._document.text), len(counts)) > LARGEST_IN_THREAD
            self._timer.start(_LONG_DELAY_MS if is_long else _DELAY_MS)

    def _on_document_reset(self) -> None:
        self._view.clear()

    def _on_view_fix_requested(self, finding: Finding) -> None:
        match finding.fix:
            case PipelineFix(normalizer, pre_tokenizer):
                self._figures.choose(normalizer, pre_tokenizer)
            case TextFix() as fix:
                self._repair.repair(self._document.text, fix)
            case LengthFix(length):
                self._figures.longest_word_chosen.emit(length)
            case ReadingFix(path, encoding):
                files = self._document.files
                places = [place for place, file in enumerate(files.files) if file.path == path]
                files.read_as(places, encoding=encoding)

    def _on_repair_finished(self, text: RepairedText) -> None:
        if self._document.text != text.before:
            self._view.show_findings(self._view.findings)  # it was edited meanwhile: the button may be pressed again
        else:
            self._document.edit(text.position, text.removed, text.inserted)

    def _on_job_failed(self, error: StudioError) -> None:
        _log.info("the corpus could not be looked at: %s", error)
        self._view.clear()

    def _on_repair_failed(self, error: StudioError) -> None:
        _log.info("the text could not be mended: %s", error)
        self._view.show_findings(self._view.findings)
