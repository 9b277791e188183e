"""Whatever is done to a document, and whenever its keeper reacts: what is read back is what the document was."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QObject, Signal

from tests.session.recovery.fakes import FakeState
from wordpiece_studio.corpus.files import CorpusFile
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session import recovery_keeper, recovery_store
from wordpiece_studio.session.corpus_files import FileRow
from wordpiece_studio.session.document import Document, TextFile
from wordpiece_studio.session.recovery_keeper import RecoveryKeeper
from wordpiece_studio.session.recovery_store import RecoveryStore
from wordpiece_studio.system.child import takes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from wordpiece_studio.session.recovery_store import About
    from wordpiece_studio.storage.project.contents import Project

KINDS = {"edit": 12, "type": 8, "undo": 5, "redo": 3, "look": 8, "fail": 1, "set": 1, "take": 1, "files": 1, "save": 1}


def random_steps(seed: int) -> Iterator[tuple[Any, ...]]:
    """Yield actions: mostly edits, and the keeper's reactions; some that replace the text."""
    rng = random.Random(seed)
    for kind in rng.choices(list(KINDS), list(KINDS.values()), k=60):
        text = "".join(rng.choices("ab \n\r한😀\ud800", k=rng.randrange(6)))
        yield kind, rng.randrange(40), rng.randrange(5), text


class AtOnce(QObject):
    """Stands in for a `Task`: does its work before `run` returns."""

    finished = Signal(object)
    failed = Signal(object)
    is_running = False

    def __init__(
        self,
        work: Callable[..., object],
        _name: str,
        parent: QObject | None = None,
        *,
        on_answer: Callable[[Any], object],
        on_error: Callable[[StudioError], object],
    ) -> None:
        super().__init__(parent)
        self._work = work
        self.finished.connect(on_answer)
        self.failed.connect(on_error)

    def run(self, *request: object) -> None:
        options = {"should_stop": bool} if takes(self._work, "should_stop") else {}
        try:
            result = self._work(*request, **options)
        except StudioError as error:
            self.failed.emit(error)
        else:
            self.finished.emit(result)

    def forget(self) -> tuple[object, ...]:
        return ()

    close = forget


class Failing(RecoveryStore):
    """Fails once on request, before or after something was written."""

    fails = False

    def write(self, project: Project | None, about: About, newest: int) -> None:
        super().write(project, about, newest)
        if self.fails:
            self.fails = False
            raise StudioError("The disk is full")


def do(document: Document, state: FakeState, kind: str, place: int, number: int, text: str) -> None:
    size = len(document.text)
    start = min(place, size)
    if kind in ("edit", "type", "set") and document.is_files:
        document.take_text(TextFile(text), None, is_modified=True)
    elif kind == "edit":
        document.edit(start, min(number, size - start), text)
    elif kind == "type":
        document.edit_view(start, number, text)
    elif kind == "set":
        document.set_text(text)
    elif kind == "take":
        document.take_text(TextFile(text), None, is_modified=bool(number % 2))
    elif kind == "files":
        document.take_files()
        document.files.set_rows([FileRow(CorpusFile(f"/somewhere/{each}.txt")) for each in range(number)])
        state.changed.emit()
    elif kind == "undo":
        document.undo_stack.undo()
    elif kind == "redo":
        document.undo_stack.redo()
    elif kind == "save":
        document.note_saved()
        state.saved.emit()


@pytest.mark.slow
@pytest.mark.usefixtures("qapp")
def test_what_is_read_again_is_what_the_document_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery_keeper, "Task", AtOnce)
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
    for seed in range(40):
        document = Document()
        folder = tmp_path / str(seed)
        state, store = FakeState(document), Failing(folder)
        keeper = RecoveryKeeper(state, document, store)  # type: ignore[arg-type]
        document.take_text(TextFile("what it began with\n"), None)
        for kind, *values in random_steps(seed):
            do(document, state, kind, *values)
            store.fails = kind == "fail"
            if kind in ("look", "fail"):
                keeper.keep()
            store.fails = False
        keeper.keep()
        keeper._timer.stop()
        project = state.capture()
        assert keeper.is_kept == keeper._should_keep(project)
        store.close(keeps=True)
        found = recovery_store.find_recoverable(folder)
        assert len(found) == int(keeper.is_kept)
        for one in found:
            recovered = recovery_store.recover(one)
            one.lock.release()
            assert recovered.lost_edits is None
            assert recovered.project.corpus == project.corpus
        keeper.close()
        document.close()
