"""What would be lost if the window closed now, or showed something else: what is in no file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from wordpiece_studio.session.run import TrainerState

if TYPE_CHECKING:
    from wordpiece_studio.session.project_state import ProjectContent, ProjectState
    from wordpiece_studio.session.session import Session


class Loss(Enum):
    """What is about to be given up: everything, or the corpus alone."""

    ALL = "all"
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
    library_runs
        How many trainings by other libraries there are.
    notes
        How many notes were added to the bookmarks or removed from them.
    others
        Whether settings, breakpoints, what is compared or the live text of a project have changed.
    trains
        Whether a training that the user asked for is running.
    is_file_another
        Whether another program has changed or removed the project's file.
    is_text_missing
        Whether the file of the text is missing, and no project holds it.
    """

    text: bool = False
    merges: int = 0
    library_runs: int = 0
    notes: int = 0
    others: bool = False
    trains: bool = False
    is_file_another: bool = False
    is_text_missing: bool = False

    @property
    def is_anything_made(self) -> bool:
        """Whether something would be lost that only the user can make again."""
        return self.text or self.notes > 0 or self.others or self.is_file_another or self.is_text_missing

    @property
    def is_any(self) -> bool:
        """Whether anything would be lost."""
        return self.is_anything_made or self.merges > 0 or self.library_runs > 0 or self.trains


def unsaved_work(session: Session, project: ProjectState, loss: Loss) -> UnsavedWork:
    """Return what `loss` would cost."""
    path = session.document.path
    is_text_missing = project.path is None and path is not None and session.watch.is_gone(path)
    unsaved = _of_window(session, project, loss)
    return replace(unsaved, is_file_another=project.is_file_another, is_text_missing=is_text_missing)


def _of_window(session: Session, project: ProjectState, loss: Loss) -> UnsavedWork:
    model = session.model
    trains = loss is not Loss.CORPUS and model.state is TrainerState.TRAINING and model.origin.is_wanted
    saved = project.saved_content
    if saved is not None:
        return _compared(session, project, saved, trains=trains)
    return UnsavedWork(
        text=session.document.is_modified,
        merges=session.runs.unsaved_merges if loss is not Loss.CORPUS else 0,
        library_runs=session.runs.unsaved_library_runs if loss is not Loss.CORPUS else 0,
        notes=_new_notes(project) if loss is Loss.ALL else 0,
        others=project.path is not None,  # it was recovered: its file holds something older
        trains=trains,
    )


def _new_notes(project: ProjectState) -> int:
    """Return how many notes are in no file; those of a project left for another corpus are in its file."""
    left = project.left_content
    notes = project.content().notes
    return len(notes) if left is None else len(set(notes) - set(left.notes))


def _compared(session: Session, project: ProjectState, saved: ProjectContent, *, trains: bool) -> UnsavedWork:
    now = project.content()
    new = [run for run in session.runs.all if now.runs.get(run.number) != saved.runs.get(run.number)]
    new = [run for run in new if run.number in now.runs]
    new_runs = {run.number for run in new}
    closed = saved.runs.keys() - now.runs.keys()
    tabs_before = {number: saved.tabs.get(number) for number in now.tabs if number not in new_runs}
    tabs = {number: now.tabs[number] for number in tabs_before}
    # A run trained meanwhile takes settings over as its own; they are still the same.
    are_other_settings = now.settings != saved.settings and now.own_settings != saved.own_settings
    return UnsavedWork(
        text=now.corpus != saved.corpus,
        merges=sum(len(run.history) for run in new if run.library_run is None),
        library_runs=sum(run.library_run is not None for run in new),
        notes=len(set(now.notes) ^ set(saved.notes)),
        others=bool(closed)
        or are_other_settings
        or (now.marks, now.live_text, tabs) != (saved.marks, saved.live_text, tabs_before),
        trains=trains,
    )
