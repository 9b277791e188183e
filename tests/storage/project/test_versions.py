from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from tests.storage.project.making import (
    VERSIONS,
    check_project,
    course_project,
    forged,
    project_of_its_time,
    settings_of,
)
from tests.storage.project.test_project_file import assert_same_history
from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.project.container import MAJOR, MINOR, read_head
from wordpiece_studio.storage.project.contents import Project, ProjectCorpus
from wordpiece_studio.storage.project.project_file import open_project, save_project
from wordpiece_studio.storage.view import Bookmark, Breakpoint, RunTab, Selection, View
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

TEXT = "hug hug hug pug pug pun pun pun pun bun bun hugs hugs\n"
LATER = TEXT + "Häuser 漢字\n"
COUNTED = ["##ug", "##un", "hug", "pun", "pug", "bun"]
MERGES = {0: ["##gs", "hu", "hugs", "hug", "pu", "bu"], 1: COUNTED, 2: [*COUNTED, "hugs", "Hä"], 3: ["##ug"]}
"""The tokens made by the runs whose merges are known, by number."""
CONFIGS = {
    0: TrainingConfig(objective="score", vocab_size=14, special_tokens=("[UNK]",)),
    1: TrainingConfig(objective="count", vocab_size=14, special_tokens=("[UNK]",)),
    2: TrainingConfig(objective="count", vocab_size=22, special_tokens=("[UNK]",)),
}


def view_of(minor: int) -> View:
    """Return the view of the project with this minor format."""
    notes = [Bookmark(1, "the first: hug's", "##gs"), Bookmark(3, "", "hugs")]
    if minor < 3:  # the markers A and B
        notes = [notes[0], Bookmark(1, "A", "##gs"), notes[1], Bookmark(3, "B", "hugs")]
    if minor >= 3:
        notes = [replace(notes[0], run=0), Bookmark(2, "second's", "##un"), notes[1]]
    if minor >= 5:
        notes = [replace(note, owner=owner) for note, owner in zip(notes, (0, 1, 0), strict=True)]
    tabs = (RunTab(0, step=2, is_compared=minor >= 5), RunTab(1, "by count", 6, is_compared=True, step=1))
    tabs += (RunTab(2, color=2, step=8), RunTab(3, color=3, step=1), RunTab(4, "theirs", 4))
    return View(
        step=2,
        selection=Selection("token", text="hug"),
        live_text="hugs bugs\n漢字 🙂",
        notes=tuple(notes),
        breakpoints=(Breakpoint("tie", number=2, is_enabled=False), Breakpoint("token", "##ug")),
        tabs={1: (), 2: tabs[:3], 3: tabs[:3]}.get(minor, tabs),
        is_longest_first=minor >= 4,
    )


def check_contents(project: Project, minor: int) -> None:
    config = CONFIGS[0]
    if minor == 1:
        config = TrainingConfig(objective="count", vocab_size=16, special_tokens=("[UNK]", "<s>"))
    assert project.settings == settings_of(config)
    assert project.corpus == ProjectCorpus(name="Untitled" if minor == 5 else "new", text=LATER, is_edited=True)
    assert project.view == view_of(minor)
    assert project.counts == count_texts([LATER])
    assert not project.lost
    assert [run.number for run in project.runs] == list(range({1: 1, 2: 3, 3: 3}.get(minor, 5)))
    for run in project.runs:
        is_later = run.number > 1
        assert run.counts == count_texts([LATER if is_later else TEXT])
        assert (run.origin.is_wanted, run.is_of_corpus, run.origin.corpus_name) == (True, is_later, project.corpus.name)
        assert run.text == (None if is_later or minor == 1 else TEXT)
        if run.number in MERGES:
            assert [merge.token for merge in run.history] == MERGES[run.number]
            assert_same_history(run.history, train(run.counts, run.config, engine="plain").history)
        if run.number in CONFIGS:
            assert (run.config, run.stop_reason, run.library_run) == (CONFIGS[run.number], "vocab_size", None)
    for run in project.runs[3:]:
        library_run, is_unigram = run.library_run, run.number == 4
        assert library_run is not None
        assert library_run.trainer == ("tokenizers-unigram" if is_unigram else "tokenizers-wordpiece")
        assert run.stop_reason == ("peer" if is_unigram else "vocab_size")
        vocab = json.loads(library_run.content)["model"]["vocab"]
        assert list(library_run.tokens) == ([token for token, _ in vocab] if is_unigram else list(vocab))
        assert run.history.segmentation("hugs", len(run.history)) == (
            ["hug", "s"] if is_unigram else ["h", "##ug", "##s"]
        )


@pytest.mark.parametrize("version", VERSIONS)
def test_a_project_of_every_version_is_opened_with_everything_and_saved_again(version: str, tmp_path: Path) -> None:
    minor = int(version.partition(".")[2])
    path, again = project_of_its_time(version, tmp_path), tmp_path / "again.wpstudio"
    assert read_head(path)[0] == 1000 + minor
    check_project(path)
    project = open_project(path)
    check_contents(project, minor)
    save_project(again, project)
    assert read_head(again)[0] == 1000 * MAJOR + MINOR
    check_project(again)
    check_contents(open_project(again), minor)


def test_a_project_without_counts_of_the_first_version_opens(tmp_path: Path) -> None:
    """No program is left that saved it: that of 1.1, without what is new in it."""

    def age(database: sqlite3.Connection) -> None:
        database.execute("PRAGMA user_version = 1000")
        database.execute("DELETE FROM meta WHERE k = 'counts'")
        own = "FROM part WHERE name LIKE 'corpus/words/%'"
        database.execute(f"DELETE FROM chunk WHERE id >= (SELECT min(first) {own})")
        database.execute(f"DELETE {own}")

    path = project_of_its_time("1.1", tmp_path)
    path.write_bytes(forged(path.read_bytes(), age))
    check_project(path)
    project = open_project(path)
    assert project.counts is None
    check_contents(dataclasses.replace(project, counts=count_texts([LATER])), 1)


def test_a_newer_major_version_is_refused(path: Path) -> None:
    path.write_bytes(forged(path.read_bytes(), lambda database: database.execute("PRAGMA user_version = 3000")))
    with pytest.raises(StudioError, match=r"in the format 3\.0, which this version does not know") as refusal:
        open_project(path)
    assert "Install a newer version of WordPiece Studio" in str(refusal.value)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "p.wpstudio"
    save_project(path, course_project())
    return path


def test_a_project_that_says_nothing_of_sides_shows_what_was_before_the_merge(path: Path) -> None:
    def age(database: sqlite3.Connection) -> None:
        view = json.loads(database.execute("SELECT v FROM meta WHERE k = 'view'").fetchone()[0])
        assert (view.pop("is_after"), view.pop("is_predicting")) == (False, False)
        database.execute("UPDATE meta SET v = ? WHERE k = 'view'", (json.dumps(view),))
        database.execute("PRAGMA user_version = 2000")

    path.write_bytes(forged(path.read_bytes(), age))
    check_project(path)
    assert open_project(path).view == course_project().view
    save_project(path, dataclasses.replace(course_project(), view=replace(course_project().view, is_after=True)))
    assert open_project(path).view.is_after


def test_a_newer_minor_version_is_refused_too(path: Path) -> None:
    change = f"PRAGMA user_version = {1000 * MAJOR + MINOR + 1}"
    path.write_bytes(forged(path.read_bytes(), lambda database: database.execute(change)))
    with pytest.raises(StudioError, match=rf"in the format {MAJOR}\.{MINOR + 1}, which this version does not know"):
        open_project(path)


def test_a_field_too_many_is_damage(path: Path) -> None:
    def add_field(database: sqlite3.Connection) -> None:
        view = json.loads(database.execute("SELECT v FROM meta WHERE k = 'view'").fetchone()[0])
        database.execute("UPDATE meta SET v = ? WHERE k = 'view'", (json.dumps({**view, "zoom": [2]}),))

    path.write_bytes(forged(path.read_bytes(), add_field))
    with pytest.raises(StudioError, match="damaged at its records: Object contains unknown field `zoom`"):
        open_project(path)


def test_a_version_that_never_was(path: Path) -> None:
    path.write_bytes(forged(path.read_bytes(), lambda database: database.execute("PRAGMA user_version = 3")))
    with pytest.raises(StudioError, match="damaged at its version: there was never a format 0"):
        open_project(path)
