"""What happens while a project is written or read: other projects, other corpora, edits, the end of the window."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QMessageBox

from tests.storage.project.making import course_project, forged
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session import project_state
from wordpiece_studio.storage.project.project_file import open_project, save_project
from wordpiece_studio.training.stored_history import StoredHistory
from wordpiece_studio.ui.dialogs.file_questions import title_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.ui.dialogs.project.conftest import Projects
    from wordpiece_studio.storage.project.contents import Project

_SAVE, _DISCARD, _CANCEL = (
    QMessageBox.StandardButton.Save,
    QMessageBox.StandardButton.Discard,
    QMessageBox.StandardButton.Cancel,
)
_OK, _YES = QMessageBox.StandardButton.Ok, QMessageBox.StandardButton.Yes


class SlowSaving:
    """Savings that wait, once they have begun, until they may go on; `error`: how they end then."""

    def __init__(self) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.error: StudioError | None = None

    def save(self, path: Path, project: Project) -> None:
        self.begun.set()
        assert self.go_on.wait(10)
        if self.error is not None:
            raise self.error
        save_project(path, project)


@pytest.fixture
def slow(projects: Projects, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowSaving]:
    saving = SlowSaving()
    monkeypatch.setattr(projects.window.project_controller.saving, "_work", saving.save)
    yield saving
    saving.go_on.set()


def begin_saving(projects: Projects, slow: SlowSaving, name: str = "slow") -> Path:
    projects.window.project_controller._save_to(projects.path(name), None)
    projects.studio.wait(slow.begun.is_set)
    return projects.path(name)


@pytest.mark.slow
@pytest.mark.parametrize("fails", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_another_project_is_not_taken_for_the_one_that_was_being_saved(
    projects: Projects, slow: SlowSaving, fails: bool
) -> None:
    other = projects.path("other")
    save_project(other, course_project("bun bun"))
    projects.window.session.document.edit(0, 0, "x")
    path = begin_saving(projects, slow)
    projects.window.corpus_controller.open_paths([other])
    projects.studio.answer(_DISCARD)
    projects.wait_opened()
    slow.error = StudioError("{path} cannot be written", path="slow.wpstudio") if fails else None
    slow.go_on.set()
    projects.wait_saved()
    assert projects.window.project.path == other
    assert projects.window.windowTitle() == title_of("other")
    assert not projects.window.isWindowModified()
    if fails:
        assert "slow.wpstudio cannot be written" in projects.studio.box().text()
        assert projects.studio.box().button(_SAVE) is None  # what is shown is another project
        projects.studio.answer(_OK)
    else:
        assert open_project(path).corpus.text.startswith("x")
        assert "slow.wpstudio" in projects.window.notices.project.text


def test_another_corpus_is_not_saved_over_the_project_that_was_being_saved(
    projects: Projects, slow: SlowSaving, tmp_path: Path
) -> None:
    (tmp_path / "other.txt").write_text("other", encoding="utf-8")
    path = begin_saving(projects, slow)
    projects.studio.open(tmp_path / "other.txt")
    slow.go_on.set()
    projects.wait_saved()
    assert projects.window.project.path is None
    before = path.read_bytes()
    projects.window.actions_.save_project.trigger()
    assert projects.has_dialog()
    projects.choose(projects.path("new"))
    projects.wait_saved()
    assert path.read_bytes() == before
    assert open_project(projects.path("new")).corpus.text == "other"


def test_what_is_typed_while_the_last_saving_runs_is_asked_about(projects: Projects, slow: SlowSaving) -> None:
    window = projects.window
    window.session.document.edit(0, 0, "first ")
    window.close()
    projects.studio.answer(_SAVE)
    projects.choose(projects.path())
    projects.studio.wait(slow.begun.is_set)
    window.session.document.edit(0, 0, "second ")
    slow.go_on.set()
    assert "was edited" in projects.studio.box().informativeText()
    assert window.isVisible()
    projects.studio.answer(_SAVE)
    projects.studio.wait(lambda: not window.isVisible())
    assert open_project(projects.path()).corpus.text.startswith("second first ")


@pytest.mark.slow
def test_a_window_closed_while_it_saves_ends_when_that_is_done(projects: Projects, slow: SlowSaving) -> None:
    path = begin_saving(projects, slow)
    projects.window.close()
    projects.window.close()
    assert projects.window.isVisible()
    assert not projects.studio.has_box()
    slow.go_on.set()
    projects.studio.wait(lambda: not projects.window.isVisible())
    assert open_project(path).run is not None


@pytest.mark.slow
def test_saving_twice_at_once_is_saving_once_more(projects: Projects, slow: SlowSaving) -> None:
    path = begin_saving(projects, slow)
    projects.window.project_controller._save_to(path, None)
    projects.window.session.document.edit(0, 0, "x")
    slow.go_on.set()
    projects.studio.wait(lambda: path.exists() and not projects.window.project_controller.saving.is_running)
    projects.studio.wait(lambda: not projects.window.isWindowModified())
    assert open_project(path).corpus.text.startswith("x")


def test_notes_of_a_saved_project_are_not_at_stake_under_another_corpus(projects: Projects, tmp_path: Path) -> None:
    window = projects.window
    window.session.marks.bookmarks.keep("saved")
    projects.save()
    (tmp_path / "other.txt").write_text("other", encoding="utf-8")
    projects.studio.open(tmp_path / "other.txt")
    assert not window.project_controller.must_ask()
    window.session.marks.bookmarks.keep("not saved")
    assert window.project_controller.must_ask()
    assert "One bookmark" in projects.studio.box().informativeText()
    projects.studio.answer(_CANCEL)


@pytest.mark.slow
def test_a_name_that_gets_our_suffix_never_replaces_a_project_unasked(projects: Projects) -> None:
    there = projects.path("corpus.txt")
    save_project(there, course_project("there before"))
    before = there.read_bytes()
    for answer in (_CANCEL, _YES):
        projects.window.actions_.save_project_as.trigger()
        projects.choose(projects.folder / "corpus.txt")
        assert "corpus.txt.wpstudio" in projects.studio.box().text()
        assert there.read_bytes() == before
        projects.studio.answer(answer)
        if answer == _CANCEL:
            assert projects.has_dialog()  # for another name
            projects.choose(projects.path("mine"))
        projects.wait_saved()
    assert open_project(there).corpus.text == projects.window.session.document.text
    assert projects.path("mine").exists()


@pytest.mark.slow
def test_save_as_onto_itself_is_a_saving(projects: Projects) -> None:
    path = projects.save()
    projects.window.session.document.edit(0, 0, "x")
    projects.window.actions_.save_project_as.trigger()
    projects.choose(path)
    projects.wait_saved()
    assert open_project(path).corpus.text.startswith("x")
    assert not projects.studio.has_box()


@pytest.mark.slow
def test_a_folder_that_is_gone_leaves_the_work_and_offers_another_place(projects: Projects) -> None:
    folder = projects.folder / "gone"
    folder.mkdir()
    projects.window.project_controller._save_to(folder / "a.wpstudio", None)
    projects.wait_saved()
    (folder / "a.wpstudio").unlink()
    for each in folder.iterdir():
        each.unlink()
    folder.rmdir()
    projects.window.session.document.edit(0, 0, "x")
    projects.window.actions_.save_project.trigger()
    box = projects.studio.box()
    assert "a.wpstudio" in box.text()
    assert "Nothing is lost" in box.informativeText()
    projects.studio.wait(projects.window.isWindowModified)
    projects.studio.answer(_SAVE)
    projects.choose(projects.path("safe"))
    projects.wait_saved()
    assert open_project(projects.path("safe")).corpus.text.startswith("x")


# -- reading


@pytest.mark.slow
def test_training_waits_for_counts_that_are_being_read(projects: Projects, monkeypatch: pytest.MonkeyPatch) -> None:
    projects.train()
    path = projects.save()
    window = projects.window
    window.actions_.new_corpus.trigger()
    projects.studio.wait(lambda: window.session.counting.counts is not None)
    go_on, read = threading.Event(), StoredHistory._read_places

    def slowly(history: StoredHistory) -> object:
        assert go_on.wait(10)
        return read(history)

    monkeypatch.setattr(StoredHistory, "_read_places", slowly)
    begun: list[bool] = []
    window.session.counting.state_changed.connect(lambda: begun.append(window.session.counting.is_running))
    window.corpus_controller.open_paths([path])
    projects.studio.wait(lambda: window.project.path == path)
    window.session.settings.set_values(min_frequency=1)  # the same again would train nothing
    window.actions_.train.trigger()
    projects.studio.qtbot.wait(100)
    assert window.session.counting.counts is None
    with projects.studio.qtbot.waitSignal(window.model.run_reset, timeout=10_000):
        go_on.set()
    projects.studio.wait_finished()
    assert window.model.merge_count == 25
    assert not any(begun)


@pytest.mark.slow
def test_saved_before_all_is_read_nothing_is_missing(projects: Projects, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_state, "_FEW", 0)
    window = projects.window
    projects.train()
    window.actions_.train_as_you_type.trigger()
    window.session.document.edit(0, 0, "hug ")
    projects.studio.wait(lambda: window.session.counting.counts is not None)
    path = projects.save()
    assert open_project(path).counts is not None
    window.actions_.new_corpus.trigger()
    window.corpus_controller.open_paths([path])
    projects.studio.wait(lambda: window.project.path == path)
    assert window.project.reading.is_running
    window.project_controller._save_to(projects.path("again"), None)
    projects.wait_saved()
    projects.wait_opened()
    again = open_project(projects.path("again"))
    assert again.counts == window.session.counting.counts
    assert len(again.run.history.positions(0))


@pytest.mark.slow
def test_files_that_were_counted_and_not_trained_are_not_counted_again(projects: Projects, tmp_path: Path) -> None:
    window = projects.window
    paths = [tmp_path / name for name in ("a.txt", "b.txt")]
    for path in paths:
        path.write_text("hug pug bun\n", encoding="utf-8")
    window.corpus_controller.add_paths(paths)
    projects.studio.wait_opened()
    projects.studio.wait(lambda: window.session.counting.counts is not None, 20_000)
    projects.studio.wait(lambda: not window.session.watch.is_pending)
    path = projects.save()
    window.actions_.new_corpus.trigger()
    projects.studio.wait(lambda: window.session.counting.counts is not None)
    begun: list[bool] = []
    window.session.counting.state_changed.connect(lambda: begun.append(window.session.counting.is_running))
    projects.open(path)
    assert window.session.counting.counts.total == 6
    assert not any(begun)
    assert not window.isWindowModified()
    window.session.settings.set_values(min_frequency=1)  # the same again would train nothing
    projects.train()
    assert window.model.merge_count


# -- strangers


def forge_breakpoint(path: Path, **breakpoint_: object) -> None:
    save_project(path, course_project())
    view = json.dumps({"breakpoints": [breakpoint_]})
    change = "UPDATE meta SET v = ? WHERE k = 'view'"
    path.write_bytes(forged(path.read_bytes(), lambda database: database.execute(change, (view,))))


@pytest.mark.parametrize(
    "breakpoint_", [{"kind": "token"}, {"kind": "tie", "number": 1}, {"kind": "size", "number": -5}]
)
def test_breakpoints_that_make_no_sense_are_reported_before_anything_is_shown(
    tmp_path: Path, breakpoint_: dict[str, object]
) -> None:
    forge_breakpoint(tmp_path / "bad.wpstudio", **breakpoint_)
    with pytest.raises(StudioError, match=r"bad\.wpstudio is damaged at its breakpoints"):
        open_project(tmp_path / "bad.wpstudio")


def test_a_project_that_cannot_be_shown_changes_nothing(projects: Projects) -> None:
    window = projects.window
    mine = projects.save("mine")
    window.session.marks.bookmarks.keep("mine")
    before = window.project.content()
    forge_breakpoint(projects.path("bad"), kind="pattern", text="(((")
    window.corpus_controller.open_paths([projects.path("bad")])
    projects.studio.answer(_DISCARD)
    assert "bad.wpstudio is damaged at its breakpoints" in projects.studio.box().text()
    projects.studio.answer(_OK)
    assert window.project.content() == before
    assert window.project.path == mine
    projects.studio.wait(window.isWindowModified)


@pytest.mark.slow
def test_damage_that_is_found_later_names_the_file_and_cannot_be_saved(projects: Projects) -> None:
    path = projects.path("bad")
    save_project(path, course_project())

    def cut(database: object) -> None:
        database.execute("UPDATE chunk SET data = x'00' WHERE id = (SELECT first FROM part WHERE name = ?)",
                         ("runs/0/places/positions",))  # fmt: skip

    path.write_bytes(forged(path.read_bytes(), cut))
    before = path.read_bytes()
    projects.window.corpus_controller.open_paths([path])
    assert "bad.wpstudio is damaged at runs/0/places/positions" in projects.studio.box().text()
    projects.studio.answer(_OK)
    assert projects.window.model.merge_count  # the rows are sound
    projects.window.actions_.save_project.trigger()
    assert "bad.wpstudio" in projects.studio.box().text()
    projects.studio.answer(_CANCEL)
    assert path.read_bytes() == before
