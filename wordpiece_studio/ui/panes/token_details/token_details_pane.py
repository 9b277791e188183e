"""The details of the selection: merge tree, parents, children, birth and words.

A low pane has one line on how the token came to be; a higher one shows everything. Every chip, word and step can be
chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QPushButton, QStackedLayout, QVBoxLayout, QWidget

from wordpiece_studio.session.run import Selection
from wordpiece_studio.ui.panes.token_details.details_body import DetailsBody, DetailsFiller, DetailsLine
from wordpiece_studio.ui.panes.token_details.details_state import FEW, MANY, MORE, DetailsState, Subject, subject_of
from wordpiece_studio.ui.widgets.pane import Pane, fill
from wordpiece_studio.ui.widgets.plain import WholeLabel
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent

    from wordpiece_studio.session.run import Candidates
    from wordpiece_studio.session.token_usage import TokenUsage
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.widgets.theme import Theme

_SMALLEST = QSize(120, 44)
_LOW_LINES = 9
"""A pane lower than this many lines of text is low."""


class TokenDetailsPane(Pane):
    """Shows what is known about the selection."""

    def __init__(self, model: TrainerModel, usage: TokenUsage, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self._usage = usage
        self._state = DetailsState(model, usage, self)
        self._subject: Subject | None = None
        self.body = DetailsBody(theme, self)
        self._filler = DetailsFiller(self.body, self._state)
        self.line = DetailsLine(theme, self._state, self)
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
        for page in (self._empty, self.line, self.body):
            self._stack.addWidget(page)

    def _connect(self) -> None:
        for chips in (self.line.chain, *self.body.chips()):
            chips.chosen.connect(self._on_chips_chosen)
        self.body.birth.clicked.connect(self._on_birth_clicked)
        self._show_merge.clicked.connect(self._on_show_merge_clicked)
        for task in self._state.tasks:
            task.finished.connect(self.refresh_soon)
            task.failed.connect(self.refresh_soon)
        for signal in (self._usage.changed, self._model.step_changed, self._model.merges_appended):
            signal.connect(self.refresh_soon)
        self._model.selection_changed.connect(self._on_model_selection_changed)
        self._model.candidates_changed.connect(self._on_model_candidates_changed)

    @property
    def is_low(self) -> bool:
        """Whether there is room for only one line."""
        return self.height() < _LOW_LINES * self.fontMetrics().height()

    # -- contents

    def forget(self) -> None:
        self._state.forget()

    def refresh(self) -> None:
        history, selection = self._model.history, self._model.selection
        if history is None or selection is None:
            self._subject = None
            self._show_nothing(history)
            return
        self._subject = subject_of(history, selection, self._model.merge_count)
        self._show_heading(self._subject)
        self._state.look_up(history, self._subject, with_words=not self.is_low)
        if self.is_low:
            self._stack.setCurrentWidget(self.line)
            self.line.fill(history, self._subject, self.width(), self.height())
        else:
            self._stack.setCurrentWidget(self.body)
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

    def close_jobs(self) -> None:
        """Wait for the thread to end."""
        for task in self._state.tasks:
            task.close()

    # -- events

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

    def _on_model_selection_changed(self) -> None:
        self._state.most_children = FEW
        self.refresh_later()

    def _on_model_candidates_changed(self, candidates: Candidates) -> None:
        self._state.candidates = candidates
        if self._subject is not None and self._subject.kind == "pair":
            self.refresh_later()
