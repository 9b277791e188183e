"""The details of the selection: merge tree, parents, children, birth and words.

A low pane has one line on how the token came to be; a higher one shows everything. Every chip, word and step can be
chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QPushButton, QStackedLayout, QVBoxLayout, QWidget

from wordpiece_studio.libraries.library_child import WORD_MARK
from wordpiece_studio.session.background_job import BackgroundJob
from wordpiece_studio.session.run import Selection, TrainerState
from wordpiece_studio.ui.panes.token_details.details_body import DetailsBody, DetailsFiller, DetailsLine
from wordpiece_studio.ui.panes.token_details.details_state import FEW, MANY, MORE, DetailsState, Subject, subject_of
from wordpiece_studio.ui.widgets.pane import Pane, fill
from wordpiece_studio.ui.widgets.plain import WholeLabel
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    import threading

    from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent

    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer, Segmentation
    from wordpiece_studio.session.background_job import Report
    from wordpiece_studio.session.run import Candidates
    from wordpiece_studio.session.token_usage import TokenUsage, TokenWords, WordGrowth
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.widgets.theme import Theme

_BUSY_DELAY_MS = 100
_SMALLEST = QSize(120, 44)
_LOW_LINES = 9
"""A pane lower than this many lines of text is low."""


class TokenDetailsPane(Pane):
    """Shows what is known about the selection."""

    def __init__(self, model: TrainerModel, usage: TokenUsage, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self._usage = usage
        self._state = DetailsState(model, usage)
        self._subject: Subject | None = None
        self._asked: object = None
        self._asked_library: tuple[LibraryTokenizer, str] | None = None
        self._best = BackgroundJob(_best_of, "The best splits cannot be found", self)
        self._best.finished.connect(self._on_best_finished)
        self._best.failed.connect(self._on_best_failed)
        self._body = DetailsBody(theme, self)
        self._filler = DetailsFiller(self._body, self._state)
        self._line = DetailsLine(theme, self._state, self)
        self._empty = QWidget(self)
        self._empty_text = WholeLabel(role="hint")
        self._show_merge = QPushButton(self.tr("Show this merge’s token"))
        self._lay_out()
        self._connect()
        self.set_heading(self.tr("Token details"))

    def _lay_out(self) -> None:
        parts = self._empty_text, (self._show_merge, 0, Qt.AlignmentFlag.AlignLeft), 1
        fill(QVBoxLayout(self._empty), *parts, margins=(14, 5, 14, 3), spacing=4)
        self._stack = QStackedLayout(self)
        for page in (self._empty, self._line, self._body):
            self._stack.addWidget(page)

    def _connect(self) -> None:
        for chips in (self._line.chain, *self._body.chips()):
            chips.chosen.connect(self._on_chips_chosen)
        self._body.birth.clicked.connect(self._on_birth_clicked)
        self._show_merge.clicked.connect(self._on_show_merge_clicked)
        self._usage.changed.connect(self._on_usage_changed)
        self._usage.details.words_found.connect(self._on_details_words_found)
        self._usage.details.growth_found.connect(self._on_details_growth_found)
        self._model.selection_changed.connect(self._on_model_selection_changed)
        self._model.step_changed.connect(self._on_model_step_changed)
        self._model.merges_appended.connect(self._on_model_merges_appended)
        self._model.candidates_changed.connect(self._on_model_candidates_changed)

    @property
    def body(self) -> DetailsBody:
        """The full details, for a pane that is not low."""
        return self._body

    @property
    def line(self) -> DetailsLine:
        """The short details of a low pane."""
        return self._line

    @property
    def is_low(self) -> bool:
        """Whether there is room for only one line."""
        return self.height() < _LOW_LINES * self.fontMetrics().height()

    # -- contents

    def forget(self) -> None:
        self._state.words = self._state.growth = self._state.candidates = self._asked = None
        self._state.best, self._asked_library = ("", ()), None

    def refresh(self) -> None:
        history, selection = self._model.history, self._model.selection
        if history is None or selection is None:
            self._subject = None
            self._show_nothing(history)
            return
        self._subject = subject_of(history, selection, self._model.merge_count)
        self._show_heading(self._subject)
        self._ask_library(self._subject)
        self._ask(history, self._subject)
        if self.is_low:
            self._stack.setCurrentWidget(self._line)
            self._line.fill(history, self._subject, self.width(), self.height())
        else:
            self._stack.setCurrentWidget(self._body)
            self._filler.fill(history, self._subject)

    def _show_nothing(self, history: MergeHistory | None) -> None:
        self._stack.setCurrentWidget(self._empty)
        self.set_heading(self.tr("Token details"))
        text = self.tr("Click any token to see how it was built and where it occurs.")
        if history is None:
            text = self.tr("Nothing has been trained yet. Train to see how each token was built.")
        elif self.is_low:
            text = self.tr("Click any token.")
        self._empty_text.show_text(text)
        self._show_merge.setVisible(history is not None and self._model.step > 0)

    def _show_heading(self, subject: Subject) -> None:
        hint = token_text(subject.text, 40)
        if subject.birth > self._model.step:
            hint = self.tr("{token} · created at step {step}").format(token=hint, step=number_text(subject.birth))
        self.set_heading(self.tr("Token details"), hint)

    # -- requests

    def _ask(self, history: MergeHistory, subject: Subject) -> None:
        """Request what needs a search of the whole corpus, unless it has already been requested."""
        usage, step = self._usage, self._model.step
        if subject.kind == "word":
            wanted: object = (id(history), subject.text, self._model.merge_count)
            if wanted != self._asked:
                self._asked = wanted
                usage.details.find_growth(subject.text)
            return
        if subject.kind != "token" or subject.birth > step or self.is_low:
            return
        is_dead = self._state.is_dead(subject)
        wanted = (id(history), subject.token_id, step, is_dead)
        if wanted != self._asked:
            self._asked = wanted
            usage.details.find_words(subject.token_id, usage.reasons if is_dead else None)

    def _ask_library(self, subject: Subject) -> None:
        """Request the best segmentations by the library that trained the run, if it is one by probabilities."""
        run, wanted = self._model.run, None
        is_special = 0 <= subject.token_id < self._state.number_of_special
        has_best = run is not None and run.has_best_segmentations
        if run is not None and run.library is not None and has_best and not is_special:
            wanted = (run.library, subject.text)
        if wanted == self._asked_library:
            return
        self._asked_library, self._state.best = wanted, ("", ())
        if wanted is None:
            self._best.stop()
        else:
            self._best.begin(wanted)

    def close_jobs(self) -> None:
        """Wait for the thread to end."""
        super().close_jobs()
        self._best.close()

    # -- events

    def _on_best_finished(self, found: tuple[str, list[Segmentation]]) -> None:
        self._state.best = found
        self.refresh_later()

    def _on_best_failed(self, error: StudioError) -> None:
        self._state.best = ("" if self._subject is None else self._subject.text, str(error))
        self.refresh_later()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._usage.set_wanted(self, True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._usage.set_wanted(self, False)

    def minimumSizeHint(self) -> QSize:
        return _SMALLEST  # not that of the largest page

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.refresh_later()

    def _on_chips_chosen(self, target: object) -> None:
        if isinstance(target, Selection):
            self._model.set_selection(target)
        elif isinstance(target, int):
            self._model.seek(target)
        elif target == MORE:
            self._state.most_children = MANY
            self.refresh_later()

    def _on_birth_clicked(self) -> None:
        if self._subject is not None and self._subject.birth > 0:
            self._model.seek(self._subject.birth)

    def _on_show_merge_clicked(self) -> None:
        history, step = self._model.history, self._model.step
        if history is not None and step:
            self._model.set_selection(Selection("token", text=history[step - 1].token))

    def _on_usage_changed(self) -> None:
        self.refresh_later()

    def _on_details_words_found(self, words: TokenWords) -> None:
        self._state.words = words
        self.refresh_later()

    def _on_details_growth_found(self, growth: WordGrowth) -> None:
        self._state.growth = growth
        self.refresh_later()

    def _on_model_selection_changed(self, _selection: object) -> None:
        self._state.most_children = FEW
        self.refresh_later()

    def _on_model_step_changed(self, _step: object) -> None:
        self.refresh_later(_BUSY_DELAY_MS if self._model.state is TrainerState.TRAINING else 0)

    def _on_model_merges_appended(self, _first: object, _last: object) -> None:
        self.refresh_later(_BUSY_DELAY_MS)

    def _on_model_candidates_changed(self, candidates: Candidates) -> None:
        self._state.candidates = candidates
        if self._subject is not None and self._subject.kind == "pair":
            self.refresh_later()


def _best_of(
    order: tuple[LibraryTokenizer, str], _stop: threading.Event, _report: Report
) -> tuple[str, list[Segmentation]]:
    library, text = order
    marked = text.removeprefix(WORD_MARK) if library.kind == "SentencePiece" else text
    return text, library.best_segmentations(marked)
