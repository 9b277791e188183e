"""A project with what another library trained: the window shows it again, whatever the library does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.storage.project.making import course_project, library_run_of, run_of
from tests.ui.dialogs.project.test_damaged_runs import told  # noqa: F401 - a fixture
from tests.ui.dialogs.project.test_project_of_runs import unsaved
from wordpiece_studio.session.vocabulary_table import VocabularyColumn
from wordpiece_studio.storage.project.contents import Run, RunOrigin
from wordpiece_studio.storage.project.project_file import open_project, save_project
from wordpiece_studio.storage.view import RunTab, View

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.dialogs.project.conftest import Projects

HUGS = ["hug", "s"]


def saved(path: Path, library_run: Run) -> Path:
    view = View(tabs=(RunTab(0, step=9), RunTab(1, "theirs", 3)), current=1, live_text="hugs")
    save_project(path, replace(course_project(run=library_run, others=(run_of(),)), view=view))
    return path


@pytest.mark.usefixtures("long_runs")
def test_the_run_of_a_library_comes_back_as_it_was(projects: Projects) -> None:
    window, runs = projects.window, projects.window.session.runs
    projects.open(saved(projects.path(), library_run_of()))
    run = runs.current
    assert (runs.all[1], run.name, window.run_strip.tabs.tabText(1)) == (
        run,
        "theirs",
        "theirs final only · results vary",
    )
    assert run.library.encode("hugs").tokens == HUGS
    projects.studio.wait(lambda: window.tokenization_pane.tokens == HUGS)
    projects.studio.wait(lambda: "2 tokens" in window.tokenization_pane._summary.text())
    projects.studio.wait(lambda: window.session.usage.is_current)
    window.docks.bring("vocabulary")
    projects.studio.wait(lambda: not window.vocabulary_pane.is_stale)
    table = window.vocabulary_pane.table
    assert table.text(run.library_run.tokens.index("hug"), VocabularyColumn.FREQUENCY) == "15"
    assert not window.actions_.next_merge.isEnabled()
    assert run.history.segmentation("hugs", 0) == HUGS
    assert not unsaved(projects).is_any
    runs.add(Run(run.counts, run.config, run.history, origin=RunOrigin(is_wanted=True), library_run=run.library_run))
    assert (unsaved(projects).library_runs, unsaved(projects).merges) == (1, 0)
    window.close()
    box = projects.studio.box()
    assert "One run was trained with another library." in box.informativeText()
    box.done(0)
    again = open_project(projects.save())
    assert [each.number for each in again.runs if each.library_run is not None] == [2, 1]
    assert not unsaved(projects).is_any


@pytest.mark.slow
def test_what_its_library_refuses_stays_and_harms_nothing(projects: Projects, told: list[str]) -> None:  # noqa: F811
    like = library_run_of()
    spoiled = replace(like, library_run=replace(like.library_run, content=b"{}"))
    projects.open(saved(projects.path(), spoiled))
    window, runs = projects.window, projects.window.session.runs
    assert len(told) == 1
    assert (
        "The words of the run trained with tokenizers-unigram cannot be shown: tokenizer.json: the tokenizers"
        in told[0]
    )
    projects.studio.box().done(0)
    assert window.model.vocabulary_at(0).tokens == list(like.library_run.tokens)
    assert window.tokenization_pane.tokens == ["[UNK]"]
    projects.studio.wait(
        lambda: window.tokenization_pane.hints[0] == "The library that trained this run is not available"
    )
    runs.show(runs.all[0])
    projects.studio.wait(lambda: window.tokenization_pane.tokens == ["hugs"])
    runs.rename(runs.all[1], "spoiled")
    again = open_project(projects.save())
    assert again.runs[1].library_run.content == b"{}"
    assert again.runs[1].counts == like.counts
