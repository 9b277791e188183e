"""Files of the corpus that are gone, moved or changed: what the window says, and what can be done."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtWidgets import QMessageBox

from wordpiece_studio.corpus.counting.counting import count_corpus
from wordpiece_studio.corpus.counts import CountingProgress
from wordpiece_studio.session.corpus_files import FileState

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.ui.dialogs.project.conftest import Projects

_OPEN, _YES = QMessageBox.StandardButton.Open, QMessageBox.StandardButton.Yes
_CANCEL, _OK = QMessageBox.StandardButton.Cancel, QMessageBox.StandardButton.Ok


def opened_files(projects: Projects, *names: str) -> list[Path]:
    """Open a list of files, count it and save it as a project."""
    folder = projects.folder / "texts"
    folder.mkdir()
    paths = [folder / name for name in names]
    for number, path in enumerate(paths):
        path.write_text(f"hug pug bun {number}\n" * 3, encoding="utf-8")
    projects.window.corpus_controller.add_paths(paths)
    projects.studio.wait_opened()
    projects.studio.wait(lambda: projects.window.session.counting.counts is not None, 20_000)
    projects.studio.wait(lambda: not projects.window.session.watch.is_pending)
    preview = projects.window.corpus_pane.files_view.preview
    projects.studio.wait(lambda: not preview.task.is_running)  # it suggests a text to tokenize
    projects.train()
    projects.save()
    return paths


def reopened(projects: Projects) -> None:
    projects.window.actions_.new_corpus.trigger()
    projects.open(projects.path())


def states(projects: Projects) -> list[FileState]:
    return [row.state for row in projects.window.session.document.files.rows]


@pytest.mark.slow
def test_files_as_they_were_need_no_counting(projects: Projects) -> None:
    opened_files(projects, "a.txt", "b.txt")
    reopened(projects)
    assert states(projects) == [FileState.DONE, FileState.DONE]
    assert projects.window.session.counting.counts is not None
    assert not projects.window.notices.files.text
    assert not projects.window.actions_.locate_files.isEnabled()


@pytest.mark.slow
def test_missing_files_are_looked_for_in_a_folder(projects: Projects) -> None:
    paths = opened_files(projects, "a.txt", "b.txt", "c.txt")
    new = projects.folder / "new" / "texts"
    new.mkdir(parents=True)
    for path in paths[:2]:
        path.rename(new / path.name)
    (projects.folder / "new" / "a.txt").write_text("another of that name", encoding="utf-8")
    reopened(projects)
    assert states(projects) == [FileState.FAULT, FileState.FAULT, FileState.DONE]
    assert "2 corpus files are missing: a.txt, b.txt" in projects.window.notices.files.text
    assert projects.window.model.merge_count
    merges = list(projects.window.model.history)
    projects.window.notices.files.button.click()
    assert "a.txt" in projects.studio.box().informativeText()
    projects.studio.answer(_OPEN)
    projects.choose(projects.folder / "new")
    projects.studio.wait(lambda: not projects.window.corpus_controller.disk.gone)
    files = [row.file.path for row in projects.window.session.document.files.rows]
    assert files == [str(new / "a.txt"), str(new / "b.txt"), str(paths[2])]
    assert states(projects) == [FileState.DONE] * 3
    assert projects.window.session.counting.counts is not None
    assert not projects.window.notices.files.text
    assert list(projects.window.model.history) == merges
    assert projects.window.project_controller.must_ask()  # the places are new
    projects.studio.answer(_CANCEL)


@pytest.mark.slow
def test_one_missing_file_can_be_chosen(projects: Projects) -> None:
    paths = opened_files(projects, "a.txt", "b.txt")
    paths[0].rename(projects.folder / "renamed.txt")
    reopened(projects)
    projects.window.actions_.locate_files.trigger()
    projects.studio.answer(_YES)
    projects.choose(projects.folder / "renamed.txt")
    projects.studio.wait(lambda: not projects.window.corpus_controller.disk.gone)
    assert projects.window.session.document.files.rows[0].file.path == str(projects.folder / "renamed.txt")


@pytest.mark.slow
def test_files_that_are_missed_at_once_are_told_of_once(projects: Projects, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = opened_files(projects, "a.txt", "b.txt", "c.txt")
    told: list[str] = []
    monkeypatch.setattr(projects.window.notices.files, "show_message", lambda words, *_: told.append(words))
    watch = projects.window.session.watch
    projects.studio.wait(lambda: not watch.task.is_running)  # a look meanwhile would miss only some of them
    for path in paths:
        path.unlink()
    projects.studio.wait(lambda: bool(told), 20_000)
    assert [words.partition(":")[0] for words in told] == ["3 corpus files are missing"]
    assert states(projects) == [FileState.FAULT] * 3


@pytest.mark.slow
def test_what_is_not_in_the_folder_is_reported(projects: Projects) -> None:
    paths = opened_files(projects, "a.txt", "b.txt")
    paths[0].unlink()
    reopened(projects)
    projects.window.actions_.locate_files.trigger()
    projects.studio.answer(_OPEN)
    projects.choose(projects.folder / "texts")
    projects.studio.wait(lambda: "Not found in that folder: a.txt" in projects.window.notices.files.text)


@pytest.mark.slow
def test_a_changed_file_is_marked_and_counted_again_when_wanted(projects: Projects) -> None:
    paths = opened_files(projects, "a.txt", "b.txt")
    paths[1].write_text("mug\n", encoding="utf-8")
    reopened(projects)
    assert states(projects) == [FileState.DONE, FileState.CHANGED]
    assert "b.txt" in projects.window.notices.files.text
    before = projects.window.session.counting.counts
    assert before is not None
    projects.window.notices.files.button.click()
    projects.studio.wait(lambda: projects.window.session.counting.counts not in (None, before), 20_000)
    assert "mug" in projects.window.session.counting.counts.words
    assert states(projects) == [FileState.DONE, FileState.DONE]
    assert not projects.window.notices.files.text


@pytest.mark.slow
def test_a_file_that_changes_while_it_is_counted_is_told_of(
    projects: Projects, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths, window = opened_files(projects, "a.txt", "b.txt"), projects.window
    counting, go_on = window.session.counting, threading.Event()

    def count(*request: Any, progress: Callable[[CountingProgress], None], should_stop: Callable[[], bool]) -> Any:
        while not go_on.wait(0.02) and not should_stop():
            progress(CountingProgress(1, 100))
        return count_corpus(*request, progress=progress, should_stop=should_stop)

    monkeypatch.setattr(counting.task, "_work", count)
    counting.count_again()
    projects.studio.wait(lambda: not window.session.watch.is_pending)
    paths[1].write_text("mug\n", encoding="utf-8")
    projects.studio.wait(lambda: paths[1] in window.session.watch.changed, 20_000)
    with projects.studio.qtbot.waitSignals([counting.task.progressed] * 2):
        pass
    assert counting.is_running
    go_on.set()
    projects.studio.wait(lambda: counting.counts is not None, 20_000)
    assert "b.txt" in window.notices.files.text
    assert states(projects) == [FileState.DONE, FileState.CHANGED]


def opened_text(projects: Projects) -> Path:
    path = projects.folder / "mine.txt"
    path.write_text("hug pug\n", encoding="utf-8")
    projects.studio.open(path)
    projects.studio.wait(lambda: projects.window.session.counting.counts is not None)
    watch = projects.window.session.watch
    projects.studio.wait(lambda: path in watch.stamps and not watch.task.is_running)
    return path


@pytest.mark.slow
def test_a_text_changed_on_disk_is_reloaded_on_request_and_edits_can_be_undone(projects: Projects) -> None:
    path, window = opened_text(projects), projects.window
    window.session.document.edit(0, 0, "my ")
    path.write_text("bun\n", encoding="utf-8")
    projects.studio.wait(lambda: "Another program changed" in window.notices.files.text, 20_000)
    assert window.session.document.text == "my hug pug\n"
    window.notices.files.button.click()
    assert window.session.document.text == "bun\n"
    assert not window.session.document.is_modified
    assert not window.notices.files.text
    window.session.document.undo_stack.undo()
    assert window.session.document.text == "my hug pug\n"
    assert window.session.document.is_modified


@pytest.mark.slow
def test_a_text_whose_file_is_removed_is_unsaved_until_it_is_in_one(projects: Projects) -> None:
    path, window = opened_text(projects), projects.window
    assert not window.isWindowModified()
    path.unlink()
    projects.studio.wait(window.isWindowModified, 20_000)
    assert window.project_controller.must_ask()
    assert "The file of the corpus “mine.txt” is missing." in projects.studio.box().informativeText()
    projects.studio.answer(QMessageBox.StandardButton.Cancel)
    window.actions_.save_corpus.trigger()
    projects.choose(path)
    projects.studio.wait(lambda: not window.isWindowModified(), 20_000)
    assert not window.project_controller.must_ask()


@pytest.mark.slow
def test_saving_the_text_here_is_no_change_on_disk(projects: Projects) -> None:
    path, window = opened_text(projects), projects.window
    window.session.document.edit(0, 0, "my ")
    window.actions_.save_corpus.trigger()
    projects.choose(path)
    window.session.watch.check()
    projects.studio.wait(lambda: not window.session.watch.task.is_running)
    projects.studio.qtbot.wait(400)
    assert not window.notices.files.text


@pytest.mark.slow
@pytest.mark.parametrize("is_gone", [True, False])
def test_nothing_is_said_of_the_old_file_once_the_text_is_saved_to_another(projects: Projects, is_gone: bool) -> None:
    path, window = opened_text(projects), projects.window
    if is_gone:
        path.unlink()
    else:
        path.write_text("bun\n", encoding="utf-8")
    projects.studio.wait(lambda: "mine.txt" in window.notices.files.text, 20_000)
    window.actions_.save_corpus.trigger()
    projects.choose(projects.folder / "other.txt")
    assert not window.notices.files.text
    assert not window.actions_.locate_files.isEnabled()


@pytest.mark.slow
def test_a_text_whose_file_is_gone_is_still_there(projects: Projects) -> None:
    path, window = opened_text(projects), projects.window
    projects.save()
    path.unlink()
    reopened(projects)
    assert window.session.document.text == "hug pug\n"
    assert "mine.txt is missing. Its text is still open" in window.notices.files.text


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="such names are not possible there")
def test_a_file_name_that_looks_like_markup_is_shown_as_it_is(projects: Projects) -> None:
    paths = opened_files(projects, "<img src=x>.txt", "b.txt")
    paths[0].unlink()
    reopened(projects)
    assert "<img src=x>.txt" in projects.window.notices.files.text
