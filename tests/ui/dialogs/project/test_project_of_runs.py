"""A project keeps every run of the window: names, colors, steps, which one is shown, and the texts of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.session.project_state import unsaved_work
from wordpiece_studio.session.training_job import TrainerState

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.dialogs.project.conftest import Projects
    from wordpiece_studio.storage.project.contents import Run


def described(runs: tuple[Run, ...]) -> list[tuple[object, ...]]:
    return [
        (
            run.letter,
            run.name,
            run.color,
            run.is_kept,
            run.is_compared,
            run.config,
            [merge.token for merge in run.history],
        )
        for run in runs
    ]


def unsaved(projects: Projects) -> object:
    return unsaved_work(projects.window.session, projects.window.project)


@pytest.fixture
def two(projects: Projects) -> Projects:
    """A window with two runs, the first of which is shown, and a preview of another text."""
    window, runs = projects.window, projects.window.session.runs
    projects.train()
    window.session.settings.choose(objective="count")
    projects.train()
    runs.rename(runs.all[1], "second")
    runs.recolor(runs.all[1], 6)
    runs.set_compared(runs.all[1], True)
    window.session.document.set_text("cat cats hat hats")
    projects.studio.wait(lambda: len(runs.all) == 3)
    runs.show(runs.all[0])
    window.model.seek(4)
    return projects


def test_all_runs_come_back(two: Projects) -> None:
    window, runs = two.window, two.window.session.runs
    text = runs.all[0].origin.corpus.text
    path = two.save()
    assert all(run.is_kept for run in runs.all)
    assert not unsaved(two).is_any
    before = described(runs.all)
    window.actions_.new_corpus.trigger()
    assert runs.all == ()
    two.open(path)
    assert described(runs.all) == before
    assert (runs.current, window.model.step) == (runs.all[0], 4)
    assert not unsaved(two).is_any
    assert window.run_strip.tabs.count() == 3
    assert all(run.history.is_whole for run in runs.all)
    assert window.session.changes_since_run().corpus
    window.actions_.bring_text_back.trigger()
    assert window.session.document.text == text


def test_what_is_done_with_a_saved_run_is_to_be_saved_too(two: Projects) -> None:
    runs, bookmarks = two.window.session.runs, two.window.session.marks.bookmarks
    bookmarks.keep("here")
    for change in ("name", "color", "compare", "bookmark", "show", "close"):
        two.save()
        if change == "name":
            runs.rename(runs.all[1], "other")
        elif change == "color":
            runs.recolor(runs.all[1], 2)
        elif change == "compare":
            runs.set_compared(runs.all[1], False)
        elif change == "bookmark":
            bookmarks.set_compared(0, True)
        elif change == "close":
            runs.close(runs.all[1])
        else:
            runs.show(runs.all[2])
        assert unsaved(two).others == (change != "show")
        assert (unsaved(two).merges, unsaved(two).notes) == (0, 0)
        two.save()
        assert not unsaved(two).is_any


@pytest.mark.usefixtures("long_runs")
def test_all_merges_that_are_in_no_file_are_told(two: Projects) -> None:
    runs = two.window.session.runs
    merges = len(runs.all[0].history) + len(runs.all[1].history)  # no one asked for those of the preview
    assert unsaved(two).merges == merges
    two.save()
    runs.show(runs.all[1])
    two.window.session.settings.set_values(min_frequency=1)  # the same again would train nothing
    two.train()
    assert unsaved(two).merges == len(runs.current.history)


def test_a_training_of_one_run_is_paused_when_another_is_saved(two: Projects) -> None:
    window, runs = two.window, two.window.session.runs
    window.model.start(runs.all[0].counts, runs.all[0].config, paused=True, origin=runs.all[0].origin)
    two.studio.wait(lambda: window.model.state is TrainerState.PAUSED)
    left = runs.current
    runs.show(runs.all[1])
    place = runs.all.index(left)
    path = two.save()
    window.actions_.new_corpus.trigger()
    two.open(path)
    assert window.model.state is TrainerState.FINISHED
    runs.show(runs.all[place])
    assert window.model.state is TrainerState.PAUSED


def test_another_corpus_leaves_the_project_and_keeps_its_runs_open(two: Projects, tmp_path: Path) -> None:
    window, runs = two.window, two.window.session.runs
    two.save()
    before = runs.all
    (tmp_path / "other.txt").write_text("bun buns", encoding="utf-8")
    two.studio.open(tmp_path / "other.txt")
    assert (window.project.path, runs.all) == (None, before)


def test_the_corpus_of_a_run_comes_back_with_its_longest_word(projects: Projects, tmp_path: Path) -> None:
    window, counting = projects.window, projects.window.session.counting
    for name, text in (("en.txt", "hug hugs pug"), ("other.txt", "bun buns")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    projects.studio.open(tmp_path / "en.txt")
    counting.set_longest_word(3)
    projects.studio.wait(lambda: counting.counts is not None)
    projects.train()
    projects.studio.open(tmp_path / "other.txt")
    counting.set_longest_word(50)
    window.actions_.bring_text_back.trigger()
    projects.studio.wait(lambda: counting.counts is not None)
    assert (counting.max_word_length, counting.counts.statistics.skipped_words) == (3, 1)
    assert not window.session.changes_since_run().corpus


def test_no_length_of_words_is_made_up_for_a_run_of_another_text(two: Projects) -> None:
    window, counting = two.window, two.window.session.counting
    assert window.project.capture_run().run.is_of_corpus
    two.open(two.save())
    assert not window.project.capture_run().run.is_of_corpus
    window.actions_.bring_text_back.trigger()
    two.studio.wait(lambda: counting.counts is not None)
    assert window.project.capture_run().run.is_of_corpus
    assert counting.counts == window.session.runs.current.counts
