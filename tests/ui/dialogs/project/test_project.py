"""Saving and opening projects in the window."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest
from PySide6.QtWidgets import QMessageBox

from tests.monkey.agreement import outdated
from tests.storage.project.making import VERSIONS, course_project, project_of_its_time
from tests.ui.drops import drop
from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.session.history_table import HistoryColumn
from wordpiece_studio.session.project_state import content_of
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.project.contents import ProjectSettings, Run, RunOrigin
from wordpiece_studio.storage.project.project_file import open_project, save_project
from wordpiece_studio.storage.view import Breakpoint, RunTab, Selection
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.stored_history import StoredHistory
from wordpiece_studio.training.trainer import train
from wordpiece_studio.ui.dialogs.file_questions import title_of, with_suffix

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.ui.dialogs.project.conftest import Projects
    from wordpiece_studio.storage.project.contents import Project

_SAVE = QMessageBox.StandardButton.Save
_DISCARD = QMessageBox.StandardButton.Discard
_CANCEL = QMessageBox.StandardButton.Cancel
_OK = QMessageBox.StandardButton.Ok


# -- all of it comes back


def test_all_that_the_window_shows_comes_back(projects: Projects) -> None:
    window, model, marks = projects.window, projects.window.model, projects.window.session.marks
    projects.train()
    window.session.settings.set_config(
        TrainingConfig(vocab_size=64, objective="count", special_tokens=("[UNK]", "<s>"))
    )
    marks.bookmarks.keep("a tie\nhere", 12)
    marks.bookmarks.set_compared(marks.bookmarks.keep("the third", 3), True)
    marks.breakpoints.add(Breakpoint("tie", number=3, is_enabled=False))
    window.tokenization_pane.set_text("hugs\nand more")
    projects.studio.wait(lambda: window.tokenization_pane.text == "hugs\nand more")
    model.seek(7)
    model.set_selection(Selection("token", text="##ing"))
    merges, before = list(model.history), window.project.content()
    path = projects.save()
    window.actions_.new_corpus.trigger()
    assert (model.history, window.session.document.text, marks.bookmarks.records, marks.breakpoints.records) == (
        None,
        "",
        (),
        (),
    )
    projects.open(path)
    assert window.project.content() == before
    assert list(model.history) == merges
    assert (model.step, model.selection, model.state) == (7, Selection("token", text="##ing"), TrainerState.FINISHED)
    notes = [(note.text, note.run) for note in marks.bookmarks.records[:-1]]  # the last one is the sample's
    assert notes == [("the third", 0), ("a tie here", None)]
    assert [each.label for each in window.session.comparison.beside()] == ["A@3"]
    assert window.tokenization_pane.text == "hugs\nand more"
    assert window.session.settings.config().special_tokens == ("[UNK]", "<s>")
    assert window.corpus_pane.hints[0] == "English: the Hugging Face course"
    assert not window.isWindowModified()


def test_a_project_of_every_version_is_shown_as_it_was_saved(projects: Projects) -> None:
    window = projects.window
    for version in VERSIONS:
        before = open_project(project_of_its_time(version, projects.folder))
        projects.open(projects.path(version))
        after = window.project.capture()
        tabs = before.view.tabs or (RunTab(0, step=2),)  # of one run
        assert after.view == msgspec.structs.replace(before.view, tabs=tabs)
        assert (after.settings, after.corpus, after.counts) == (before.settings, before.corpus, before.counts)
        assert [list(run.history) for run in after.runs] == [list(run.history) for run in before.runs]
        assert not window.isWindowModified()


def test_the_counts_are_taken_over_and_nothing_is_counted(projects: Projects) -> None:
    projects.train()
    path = projects.save()
    projects.window.actions_.new_corpus.trigger()
    projects.studio.wait(lambda: projects.window.session.counting.counts is not None)  # of the empty text
    begun: list[bool] = []
    projects.window.session.counting.state_changed.connect(
        lambda: begun.append(projects.window.session.counting.is_running)
    )
    projects.open(path)
    projects.studio.qtbot.wait(50)
    assert projects.window.session.counting.counts is not None
    assert projects.window.corpus_pane.figures.values["distinct"] == "30"
    assert not any(begun)


@pytest.mark.slow
def test_a_text_edited_since_the_training_is_counted_and_not_trained(projects: Projects) -> None:
    window = projects.window
    projects.train()
    window.actions_.train_as_you_type.trigger()
    window.session.document.edit(0, 0, "hug ")
    path = projects.save()
    window.actions_.new_corpus.trigger()
    window.actions_.train_as_you_type.trigger()
    projects.open(path)
    projects.studio.wait(lambda: window.session.counting.counts is not None)
    assert window.corpus_pane.figures.values["distinct"] == "31"
    assert window.model.counts.total != window.session.counting.counts.total
    projects.studio.wait(window.run_strip.line.isVisible)
    assert window.run_strip._said.accessibleName().endswith(", which was edited since.")


@pytest.mark.slow
@pytest.mark.usefixtures("long_runs")
def test_an_opened_run_goes_on(projects: Projects) -> None:
    projects.train()
    path = projects.save()
    merges = list(projects.window.model.history)
    projects.window.actions_.new_corpus.trigger()
    projects.open(path)
    projects.window.model.train_further(vocab_size=75)
    projects.studio.wait(lambda: projects.window.model.merge_count == 30, 20_000)
    projects.studio.wait_finished()
    assert list(projects.window.model.history)[:25] == merges
    assert projects.window.project_controller.must_ask()
    projects.studio.answer(_CANCEL)


def test_the_settings_of_a_project_from_before_all_bytes_were_in_the_alphabet_are_those_of_its_run(
    projects: Projects,
) -> None:
    run = train(count_texts(["hug pug hugs"], "none", "byte-level"), TrainingConfig(max_merges=2, byte_alphabet="seen"))
    training = run.config.to_dict()
    del training["byte_alphabet"]  # which was no setting
    settings = ProjectSettings(
        training=training,
        normalizer=normalizers.to_spec(run.counts.normalizer),
        pre_tokenizer=pre_tokenizers.to_spec(run.counts.pre_tokenizer),
    )
    project = course_project(run=Run(run.counts, run.config, run.history, origin=RunOrigin(is_wanted=True)))
    save_project(projects.path(), replace(project, settings=settings))
    projects.open(projects.path())
    session = projects.window.session
    assert session.model.run.config == run.config
    assert not session.changes_since_run().settings


def test_a_running_training_is_saved_up_to_its_present_merge(projects: Projects) -> None:
    window = projects.window
    projects.studio.set_text(" ".join(f"{number:x}{number:o}" for number in range(3000)))
    window.session.settings.set_target_size(0)
    with projects.studio.qtbot.waitSignal(window.model.merges_appended, timeout=20_000):
        window.actions_.train.trigger()
    path = projects.save()
    window.actions_.stop.trigger()
    projects.studio.wait_finished()
    saved = open_project(path).run
    assert 0 < len(saved.history) <= window.model.merge_count
    assert saved.stop_reason is None
    assert [merge.token for merge in saved.history] == [
        merge.token for merge in list(window.model.history)[: len(saved.history)]
    ]


def test_capturing_copies_nothing(projects: Projects) -> None:
    projects.train()
    project = projects.window.project.capture()
    assert project.run.history is projects.window.model.history
    assert project.corpus.text is projects.window.session.document.text


def words_touched(projects: Projects) -> object:
    """Return what the history shows as the number of words that the first merge changed."""
    rows = projects.window.history_pane.rows
    return rows.data(rows.index(0, HistoryColumn.WORDS))


@pytest.mark.slow
def test_nothing_that_is_large_is_read_in_the_turn_of_the_window(
    projects: Projects, monkeypatch: pytest.MonkeyPatch
) -> None:
    projects.train()
    projects.window.tokenization_pane.set_text("course!")  # an unknown word, with its reason
    path = projects.save()
    projects.window.actions_.new_corpus.trigger()
    readers: list[int] = []
    go_on, read = threading.Event(), StoredHistory._read_places

    def slow(history: StoredHistory) -> object:
        readers.append(threading.get_ident())
        assert go_on.wait(10)
        return read(history)

    monkeypatch.setattr(StoredHistory, "_read_places", slow)
    window = projects.window
    window.corpus_controller.open_paths([path])
    projects.studio.wait(lambda: bool(readers))
    projects.studio.qtbot.wait(200)
    for step in (0, 12, 25):
        window.model.seek(step)
        window.repaint()
        projects.studio.qtbot.wait(30)
    assert words_touched(projects) == "…"
    assert window.scoreboard_pane.candidates is None
    assert "nothing in the vocabulary matches" in window.tokenization_pane.unknown_box.text()
    go_on.set()
    projects.wait_opened()
    assert threading.get_ident() not in readers
    assert words_touched(projects) != "…"
    projects.studio.wait(lambda: window.scoreboard_pane.candidates is not None)
    projects.studio.wait(lambda: "does not occur in" in window.tokenization_pane.unknown_box.text())


# -- name and mark


def test_an_unknown_token_that_is_selected_is_saved(projects: Projects) -> None:
    window = projects.window
    window.tokenization_pane.set_text("한")
    projects.studio.wait(lambda: window.tokenization_pane.tokens == ["[UNK]"])
    window.model.set_selection(Selection("token", text=window.tokenization_pane.tokens[0]))
    assert open_project(projects.save()).view.selection == Selection("token", text="[UNK]")


def test_title_and_mark_follow_what_is_not_saved(projects: Projects) -> None:
    window = projects.window
    assert window.windowTitle() == title_of("Untitled")
    assert not window.isWindowModified()  # a sample that no one touched
    path = projects.save("pug & [*]")
    assert path.exists()
    assert window.windowTitle() == "pug & [*][*][*] — WordPiece Studio"
    window.session.document.edit(0, 0, "x")
    projects.studio.wait(window.isWindowModified)
    window.session.document.undo_stack.undo()
    projects.studio.wait(lambda: not window.isWindowModified())
    window.session.marks.bookmarks.keep("one")
    projects.studio.wait(window.isWindowModified)
    projects.save()
    assert not window.isWindowModified()
    window.model.seek(3)  # where one looks is no change
    projects.studio.qtbot.wait(300)
    assert not window.isWindowModified()


def test_save_as_asks_and_goes_on_in_the_new_file(projects: Projects) -> None:
    first = projects.save("first")
    projects.window.session.document.edit(0, 0, "x")
    projects.window.actions_.save_project_as.trigger()
    projects.choose(projects.folder / "second")
    projects.wait_saved()
    assert not open_project(first).corpus.text.startswith("x")
    assert open_project(projects.path("second")).corpus.text.startswith("x")
    assert projects.window.project.path == projects.path("second")
    assert projects.window.settings.values.recent_files[0] == (str(projects.path("second")),)


@pytest.mark.slow
def test_a_file_that_another_program_has_written_is_not_replaced_unasked(projects: Projects) -> None:
    window = projects.window
    path = projects.save()
    mine = path.read_bytes()
    path.write_bytes(b"someone else's")
    window.model.seek(3)
    window.actions_.save_project.trigger()
    assert "has changed on disk" in projects.studio.box().text()
    projects.studio.answer(_CANCEL)
    assert path.read_bytes() == b"someone else's"
    window.actions_.save_project.trigger()
    projects.studio.answer(_SAVE)
    projects.choose(projects.path("mine"))
    projects.wait_saved()
    assert open_project(projects.path("mine")).view.step == 3
    path.write_bytes(mine)
    projects.open(path)
    path.write_bytes(b"again")
    window.actions_.save_project.trigger()
    projects.studio.answer(QMessageBox.StandardButton.Yes)
    projects.wait_saved()
    assert open_project(path).corpus.text == window.session.document.text


@pytest.mark.slow
def test_a_project_whose_file_is_gone_or_changed_is_unsaved(projects: Projects) -> None:
    window, studio = projects.window, projects.studio
    path, text = projects.save(), lambda: window.notices.project.text
    window.session.document.edit(0, 0, "x")
    projects.save()
    watch, mine = window.project_controller._file, path.read_bytes()
    studio.wait(lambda: not watch.is_pending)
    assert not window.isWindowModified()
    path.rename(projects.path("elsewhere"))
    assert outdated(window) == f"the project's file {path.name} is another, and nothing says so"
    studio.wait(lambda: "is missing" in text(), 20_000)
    studio.wait(window.isWindowModified)
    assert outdated(window) == ""
    assert window.project_controller.must_ask()
    assert studio.box().informativeText().startswith("Another program changed or removed the project file.\nIf you")
    studio.answer(_CANCEL)
    path.write_bytes(mine)
    studio.wait(lambda: not text(), 20_000)
    studio.wait(lambda: not window.isWindowModified())
    path.write_bytes(b"someone else's")
    studio.wait(lambda: "Another program changed the project file" in text(), 20_000)
    studio.wait(window.isWindowModified)
    window.actions_.save_project.trigger()
    studio.answer(QMessageBox.StandardButton.Yes)
    projects.wait_saved()
    assert not text()
    assert not window.isWindowModified()
    assert open_project(path).corpus.text.startswith("x")


@pytest.mark.usefixtures("long_runs")
def test_a_run_trained_while_a_project_is_saved_stays_unsaved(
    projects: Projects, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, runs = projects.window, projects.window.session.runs
    projects.train()
    saved, go_on = runs.current, threading.Event()

    def slow(path: Path, project: Project) -> None:
        assert go_on.wait(10)
        save_project(path, project)

    monkeypatch.setattr(window.project_controller.saving, "_work", slow)
    window.project_controller._save_to(projects.path(), None)
    window.session.settings.set_target_size(60)
    projects.train()
    go_on.set()
    projects.wait_saved()
    assert runs.current is not saved
    assert (saved.is_unsaved, runs.current.is_unsaved) == (False, True)
    assert window.project_controller.must_ask()
    projects.studio.answer(_CANCEL)


def test_a_file_of_which_only_the_time_has_changed_is_saved_without_a_question(projects: Projects) -> None:
    path = projects.save()
    os.utime(path, ns=(1, 1))
    projects.window.session.document.edit(0, 0, "hug ")
    projects.window.actions_.save_project.trigger()
    assert not projects.studio.has_box()
    projects.wait_saved()
    assert open_project(path).corpus.text.startswith("hug ")


def test_a_name_gets_the_suffix_once(tmp_path: Path) -> None:
    assert with_suffix(tmp_path / "a.txt").name == "a.txt.wpstudio"
    assert with_suffix(tmp_path / "a.wpstudio").name == "a.wpstudio"


# -- ways to open


@pytest.mark.slow
def test_projects_are_opened_by_dialog_drop_recent_and_command_line(projects: Projects) -> None:
    window = projects.window
    path = projects.save()
    for way in ("dialog", "drop", "recent", "command line"):
        window.actions_.new_corpus.trigger()
        assert window.project.path is None
        if way == "dialog":
            window.actions_.open_file.trigger()
            projects.choose(path)
        elif way == "drop":
            drop(window, path)
        elif way == "recent":
            window.actions_.refresh_menus()
            window.actions_.choices("open_recent")[0].trigger()
        else:
            window.open_first([str(path)])
        projects.wait_opened()
        assert window.project.path == path, way
        assert window.model.merge_count == 25


def test_a_project_is_opened_alone(projects: Projects) -> None:
    path = projects.save()
    projects.window.corpus_controller.open_paths([path, projects.folder / "a.txt"])
    assert "alone" in projects.studio.box().informativeText()
    projects.studio.answer(_OK)


def test_what_is_no_project_is_reported_and_changes_nothing(projects: Projects) -> None:
    for content in (b"", b"no project", b"PK\x03\x04" + b"\0" * 100):
        projects.path("bad").write_bytes(content)
        text = projects.window.session.document.text
        projects.open(projects.path("bad"))
        assert "bad.wpstudio" in projects.studio.box().text()
        projects.studio.answer(_OK)
        assert projects.window.session.document.text == text
        assert projects.window.model.merge_count == 25
        assert projects.window.project.path is None


def test_another_corpus_is_no_part_of_the_project(projects: Projects, tmp_path: Path) -> None:
    projects.train()
    path = projects.save()
    before = path.read_bytes()
    (tmp_path / "other.txt").write_text("other", encoding="utf-8")
    projects.studio.open(tmp_path / "other.txt")
    assert not projects.studio.has_box()  # all of it is in the project
    assert projects.window.windowTitle() == title_of("Untitled")
    projects.window.actions_.save_project.trigger()
    assert projects.has_dialog()  # and not over the project there was
    projects.choose(projects.path("new"))
    projects.wait_saved()
    assert path.read_bytes() == before


# -- one question


def test_new_open_and_samples_ask_once_about_all(projects: Projects) -> None:
    window = projects.window
    path = projects.save()
    projects.train()
    window.session.document.edit(0, 0, "x")
    window.session.marks.bookmarks.keep("one")
    for act in (window.actions_.new_corpus.trigger, window.actions_.choices("open_sample")[0].trigger,
                lambda: window.corpus_controller.open_paths([path]), window.close):  # fmt: skip
        act()
        words = projects.studio.box().informativeText()
        assert "was edited" in words
        assert "One bookmark" in words
        projects.studio.answer(_CANCEL)
        assert window.session.document.text.startswith("x")
    window.close()
    projects.studio.answer(_SAVE)
    projects.studio.wait(lambda: not window.isVisible())
    assert open_project(path).corpus.text.startswith("x")


def test_giving_up_opens_without_a_second_question(projects: Projects) -> None:
    path = projects.save()
    projects.train()
    projects.window.session.document.edit(0, 0, "x")
    projects.window.corpus_controller.open_paths([path])
    projects.studio.answer(_DISCARD)
    projects.wait_opened()
    assert not projects.studio.has_box()
    assert not projects.window.session.document.text.startswith("x")


def test_closing_twice_asks_once(projects: Projects) -> None:
    projects.window.session.document.edit(0, 0, "x")
    projects.window.close()
    projects.window.close()
    assert len([box for box in projects.window.findChildren(QMessageBox) if box.isVisible()]) == 1
    projects.studio.answer(_CANCEL)


# -- saving takes its time


def test_the_window_goes_on_while_a_slow_saving_runs(projects: Projects, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    def slow(path: Path, project: Project, *, progress: Callable[[int, int], None]) -> None:
        progress(40, 100)
        assert go_on.wait(10)
        save_project(path, project)

    window = projects.window
    monkeypatch.setattr(window.project_controller.saving, "_work", slow)
    monkeypatch.setattr("wordpiece_studio.ui.controllers.project_controller._PATIENCE_SECONDS", 0.0)
    window.project_controller._save_to(projects.path(), None)
    projects.studio.wait(lambda: "40%" in window.notices.project.text)
    window.session.document.edit(0, 0, "x")
    window.actions_.save_project.trigger()  # under its name, which it has not yet: it is asked for
    projects.choose(projects.path("second"))
    go_on.set()
    projects.studio.wait(lambda: window.project.path == projects.path("second"))
    assert not open_project(projects.path()).corpus.text.startswith("x")
    assert open_project(projects.path("second")).corpus.text.startswith("x")
    projects.studio.wait(lambda: not window.isWindowModified())


def test_what_was_saved_opens_with_the_same_content(projects: Projects) -> None:
    project = projects.window.project.capture()
    save_project(projects.path(), project)
    assert content_of(open_project(projects.path())) == content_of(project)


def test_a_live_text_that_is_too_long_is_shown_in_part_and_kept_whole_until_it_is_edited(projects: Projects) -> None:
    window, path = projects.window, projects.save()
    project = open_project(path)
    whole = "hugs\n" * 40_000
    save_project(path, replace(project, view=msgspec.structs.replace(project.view, live_text=whole)))
    projects.open(path)
    assert window.tokenization_pane.text == whole[:20_000]
    assert not window.isWindowModified()
    projects.save()
    assert open_project(path).view.live_text == whole
    window.tokenization_pane.set_text("short")
    projects.save()
    assert open_project(path).view.live_text == "short"
    window.actions_.new_corpus.trigger()
    assert window.project.content().live_text == ""
