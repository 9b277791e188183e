"""Cases of the project in the window: missing files, opened twice, no place to write, closing in between."""

from __future__ import annotations

import os
import shutil
import threading
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QMessageBox

from tests.storage.project.making import check_project
from tests.ui.conftest import Studio, empty_studio, studio, theme  # noqa: F401  (fixtures)
from tests.ui.dialogs.project.conftest import projects  # noqa: F401  (a fixture)
from wordpiece_studio.session.corpus_files import FileState
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.project.project_file import open_project, save_project
from wordpiece_studio.ui.controllers.project_controller import ProjectLock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.ui.dialogs.project.conftest import Projects
    from wordpiece_studio.storage.project.contents import Project

    Told = Callable[[object], str]

pytestmark = [pytest.mark.slow, pytest.mark.qt_log_ignore("does not support propagateSizeHints", extend=True)]

_SAVE = QMessageBox.StandardButton.Save
_DISCARD = QMessageBox.StandardButton.Discard
_CANCEL = QMessageBox.StandardButton.Cancel


def words_of(box: QMessageBox) -> str:
    return f"{box.text()} {box.informativeText()}"


def with_files(made: Projects, folder: Path) -> Path:
    """Save a project of two files in `folder`, beside it the texts, and begin anew; return the project."""
    texts = folder / "texts"
    texts.mkdir(parents=True)
    for name in ("a.txt", "b.txt"):
        (texts / name).write_text("hug pug bun hugs\n" * 3, encoding="utf-8")
    made.window.corpus_controller.add_paths([texts])
    made.studio.wait_opened()
    made.studio.wait(lambda: made.window.session.counting.counts is not None, 20_000)
    made.train()
    made.window.project_controller._save_to(folder / "p.wpstudio", None)
    made.wait_saved()
    made.window.actions_.new_corpus.trigger()
    return folder / "p.wpstudio"


@pytest.mark.case(15)
def test_a_file_gone_before_the_project_is_opened_is_kept_as_a_reference(projects: Projects, told: Told) -> None:  # noqa: F811
    path = with_files(projects, projects.folder / "p")
    gone = path.parent / "texts" / "a.txt"
    gone.unlink()
    projects.open(path)
    assert told(projects.window.notices.files.text) == (
        f"A corpus file is missing: {gone}. Existing counts and merges are kept."
    )
    assert projects.window.notices.files.button.text() == "Locate missing files…"
    assert [row.state for row in projects.window.session.document.files.rows] == [FileState.FAULT, FileState.DONE]
    assert projects.window.model.merge_count
    assert projects.window.session.counting.counts is not None


@pytest.mark.case(52)
def test_a_project_opened_twice_names_who_has_it(projects: Projects, told: Told) -> None:  # noqa: F811
    path = projects.save()
    projects.window.actions_.new_corpus.trigger()
    first = ProjectLock()
    assert first.take(path) is None
    projects.open(path)
    words = told(projects.window.notices.project.text)
    assert words.startswith(f"The project {path} is open in another window: process {os.getpid()} on ")
    assert words.endswith(". It is read-only here; save it under another name to keep your changes.")
    assert projects.window.project_controller.is_read_only
    first.release()


@pytest.mark.case(53)
def test_a_project_in_a_read_only_place_is_saved_elsewhere(
    projects: Projects,  # noqa: F811
    told: Told,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = projects.save()
    before = path.read_bytes()
    monkeypatch.setattr(os, "access", lambda place, mode: str(path.parent) not in str(place) or mode == os.R_OK)
    projects.window.session.document.edit(0, 0, "x")
    projects.window.actions_.save_project.trigger()
    words = told(words_of(projects.studio.box()))
    assert "hugs.wpstudio" in words
    assert "Nothing is lost: your work is still open." in words
    projects.studio.answer(_SAVE)
    assert projects.has_dialog()
    monkeypatch.undo()
    projects.choose(projects.path("elsewhere"))
    projects.wait_saved()
    assert path.read_bytes() == before
    assert open_project(projects.path("elsewhere")).corpus.text.startswith("x")
    assert not projects.window.isWindowModified()


@pytest.mark.case(53)
def test_a_project_that_cannot_be_written_opens_for_reading(
    projects: Projects,  # noqa: F811
    told: Told,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = projects.save()
    projects.window.actions_.new_corpus.trigger()
    monkeypatch.setattr(os, "access", lambda place, mode: str(path) not in str(place) or mode == os.R_OK)
    projects.open(path)
    assert told(projects.window.windowTitle()) == "hugs (read-only)[*] — WordPiece Studio"
    projects.window.actions_.save_project.trigger()
    assert projects.has_dialog()


@pytest.mark.case(54)
def test_a_project_moved_with_its_texts_finds_them(projects: Projects, told: Told) -> None:  # noqa: F811
    path = with_files(projects, projects.folder / "old")
    shutil.move(projects.folder / "old", projects.folder / "new")
    projects.open(projects.folder / "new" / path.name)
    new = projects.folder / "new" / "texts"
    assert [row.file.path for row in projects.window.session.document.files.rows] == [
        str(new / "a.txt"),
        str(new / "b.txt"),
    ]
    assert [row.state for row in projects.window.session.document.files.rows] == [FileState.DONE, FileState.DONE]
    assert told(projects.window.notices.files.text) == ""


@pytest.mark.case(63)
def test_a_refused_renaming_is_tried_again_and_then_another_place_is_offered(
    projects: Projects,  # noqa: F811
    told: Told,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = projects.save()
    before = path.read_bytes()
    tries = []

    def refuse(source: object, target: object) -> None:
        tries.append(target)
        raise PermissionError(13, "Permission denied", str(source), None, str(target))

    monkeypatch.setattr("wordpiece_studio.system.atomic_write._is_in_use", lambda _error: True)
    monkeypatch.setattr("wordpiece_studio.system.atomic_write._RETRY_SECONDS", (0.001,) * 7)
    monkeypatch.setattr(os, "replace", refuse)
    projects.window.session.document.edit(0, 0, "x")
    projects.window.actions_.save_project.trigger()
    words = told(words_of(projects.studio.box()))
    assert "hugs.wpstudio" in words
    assert "Permission denied" in words
    assert len(tries) > 1
    assert path.read_bytes() == before
    projects.studio.wait(projects.window.isWindowModified)
    monkeypatch.undo()
    projects.studio.answer(_SAVE)
    projects.choose(projects.path("elsewhere"))
    projects.wait_saved()
    check_project(projects.path("elsewhere"))
    assert [each.name for each in projects.folder.iterdir() if "tmp" in each.name] == []


@pytest.mark.case(69)
@pytest.mark.usefixtures("long_runs")
def test_closing_in_training_asks_once_and_saves_what_was_learned(projects: Projects, told: Told) -> None:  # noqa: F811
    window = projects.window
    projects.studio.set_text(" ".join(f"{number:x}{number:o}" for number in range(3000)))
    window.session.settings.set_target_size(0)
    with projects.studio.qtbot.waitSignal(window.model.merges_appended, timeout=20_000):
        window.actions_.train.trigger()
    window.close()
    window.close()
    boxes = [box for box in window.findChildren(QMessageBox) if box.isVisible()]
    assert len(boxes) == 1
    words = told(words_of(boxes[0]))
    assert "Training is still running and will stop; the merges learned so far can be saved." in words
    assert window.model.state is TrainerState.TRAINING
    projects.studio.answer(_SAVE)
    projects.choose(projects.path())
    projects.studio.wait(lambda: not window.isVisible(), 20_000)
    assert len(open_project(projects.path()).run.history)


@pytest.mark.case(69)
def test_closing_in_saving_waits_for_its_end(
    projects: Projects,  # noqa: F811
    told: Told,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go_on = threading.Event()

    def slow(path: Path, project: Project, *, progress: Callable[[int, int], None]) -> None:
        progress(1, 2)
        assert go_on.wait(10)
        save_project(path, project)

    window = projects.window
    monkeypatch.setattr(window.project_controller.saving, "_work", slow)
    monkeypatch.setattr("wordpiece_studio.ui.controllers.project_controller._PATIENCE_SECONDS", 0.0)
    window.session.document.edit(0, 0, "x")
    window.project_controller._save_to(projects.path(), None)
    projects.studio.wait(lambda: bool(window.notices.project.text))
    assert told(window.notices.project.text) == "Saving the project… 50%"
    window.close()
    window.close()
    assert window.isVisible()
    assert not projects.studio.has_box()
    go_on.set()
    projects.studio.wait(lambda: not window.isVisible())
    assert open_project(projects.path()).corpus.text.startswith("x")
