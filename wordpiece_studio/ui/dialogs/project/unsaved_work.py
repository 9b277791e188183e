"""What would be lost if the window closed now, or showed something else; and the one question about that."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMessageBox, QWidget

from wordpiece_studio.session.records import TrainerState
from wordpiece_studio.ui.messages import add_button, plain_box

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.session.document import Document
    from wordpiece_studio.session.project_state import ProjectContent, ProjectState
    from wordpiece_studio.session.step_marks import StepMarks
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.ui.panes.training_bar.run_record import RunRecord

_Button = QMessageBox.StandardButton


class Loss(Enum):
    """What is about to be given up: everything, the corpus and the merges, or the corpus alone."""

    ALL = "all"
    RUN = "run"
    CORPUS = "corpus"


@dataclass(frozen=True, slots=True)
class UnsavedWork:
    """Work that is in no file.

    Attributes
    ----------
    text
        Whether the text of the corpus, or the list of its files, was changed.
    merges
        How many merges were learned that the user asked for.
    notes
        How many notes were added to the bookmarks or removed from them.
    others
        Whether settings, markers, breakpoints or the live text of a project have changed.
    trains
        Whether a training that the user asked for is running.
    """

    text: bool = False
    merges: int = 0
    notes: int = 0
    others: bool = False
    trains: bool = False

    @property
    def is_anything_made(self) -> bool:
        """Whether something would be lost that only the user can make again."""
        return self.text or self.notes > 0 or self.others

    @property
    def is_any(self) -> bool:
        """Whether anything would be lost."""
        return self.text or self.merges > 0 or self.notes > 0 or self.others or self.trains


class UnsavedWorkFinder:
    """Compares what there is with what is in files."""

    def __init__(
        self, state: ProjectState, document: Document, model: TrainerModel, marks: StepMarks, record: RunRecord
    ) -> None:
        self._state = state
        self._document = document
        self._model = model
        self._marks = marks
        self._record = record

    def unsaved_work(self, loss: Loss) -> UnsavedWork:
        """Return what `loss` would cost."""
        trains = loss is not Loss.CORPUS and self._model.state is TrainerState.TRAINING and self._record.is_wanted
        saved = self._state.saved_content
        if saved is not None:
            return self._against(saved, trains=trains)
        return UnsavedWork(
            text=self._document.is_modified,
            merges=self._model.merge_count if loss is not Loss.CORPUS and self._record.is_unsaved else 0,
            notes=self._new_notes() if loss is Loss.ALL else 0,
            others=self._state.path is not None,  # it was recovered: its file holds something older
            trains=trains,
        )

    def _new_notes(self) -> int:
        """Return how many notes are in no file; those of a project left for another corpus are in its file."""
        left = self._state.left_content
        notes = self._state.content().notes
        return len(notes) if left is None else len(set(notes) - set(left.notes))

    def _against(self, saved: ProjectContent, *, trains: bool) -> UnsavedWork:
        now = self._state.content()
        new_run = now.run is not None and now.run != saved.run
        return UnsavedWork(
            text=now.corpus != saved.corpus,
            merges=self._model.merge_count if new_run else 0,
            notes=len(set(now.notes) ^ set(saved.notes)),
            others=(now.settings, now.marks, now.live_text) != (saved.settings, saved.marks, saved.live_text),
            trains=trains,
        )


def unsaved_work_box(window: QWidget, unsaved_work: UnsavedWork, corpus_name: str, path: Path | None) -> QMessageBox:
    """Return the question whether to save the project first: ``Save``, ``Discard`` or ``Cancel``."""
    if path is None:
        title = window.tr("Save your work as a project?")
    else:
        title = window.tr("Save the changes to the project “{name}”?").format(name=path.stem)
    box = plain_box(window, QMessageBox.Icon.Question, title, "\n".join(_lines(window, unsaved_work, corpus_name)))
    add_button(box, _Button.Save, window.tr("&Save as…") if path is None else window.tr("&Save"))
    add_button(box, _Button.Discard, window.tr("&Don’t save"))
    add_button(box, _Button.Cancel)
    box.setDefaultButton(_Button.Save)
    return box


def _lines(window: QWidget, unsaved_work: UnsavedWork, corpus_name: str) -> list[str]:
    lines = []
    if unsaved_work.text:
        lines.append(window.tr("The corpus “{name}” was edited.").format(name=corpus_name))
    if unsaved_work.merges == 1:
        lines.append(window.tr("One merge was learned."))
    elif unsaved_work.merges:
        lines.append(window.tr("{merges:,} merges were learned.").format(merges=unsaved_work.merges))
    if unsaved_work.notes == 1:
        lines.append(window.tr("One bookmark is new."))
    elif unsaved_work.notes:
        lines.append(window.tr("{notes:,} bookmarks are new.").format(notes=unsaved_work.notes))
    if unsaved_work.others:
        lines.append(window.tr("Settings, marks or the live text were changed."))
    if unsaved_work.trains:
        lines.append(window.tr("The training is running and will end now; what it has learned so far can be saved."))
    lines.append(window.tr("Unless you save, this will be lost."))
    return lines
