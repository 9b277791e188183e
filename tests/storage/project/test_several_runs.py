"""A project of several runs: all come back, share their words, and are copied."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.storage.project.making import (
    check_project,
    course_project,
    forged,
    origin_of,
    project_of_its_time,
    put_part,
    run_of,
)
from tests.storage.project.test_project_file import assert_same_history
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.project import stored_run
from wordpiece_studio.storage.project.project_file import open_project, save_project
from wordpiece_studio.storage.project.stored_run import link_copy
from wordpiece_studio.storage.view import RunTab, View
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.storage.project.contents import Project, Run

OTHER = [("cat", 4), ("cats", 2), ("hat", 7), ("hats", 1)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "p.wpstudio"


def beside(run: Run, number: int, objective: str) -> Run:
    """Return another run of the same words."""
    made = train(run.counts, TrainingConfig(objective=objective), engine="plain")
    return replace(run, config=made.config, history=made.history, number=number)


def three() -> Project:
    first = replace(run_of(), number=4)
    others = (
        beside(first, 1, "count"),
        replace(run_of(OTHER), number=2, origin=origin_of("cats", "cat cats\nhat")),
        replace(run_of(OTHER, objective="count"), number=3, origin=origin_of(text="cat cats\nhat")),
    )
    tabs = (RunTab(1, "one", 5, True, True, 3), RunTab(2, is_kept=False), RunTab(4), RunTab(3))
    return replace(course_project(run=first, others=others), view=View(tabs=tabs, current=4, step=2))


def part_names_in(path: Path) -> set[str]:
    with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as database:
        names = {name for (name,) in database.execute("SELECT name FROM part")}
    database.close()
    return names


def test_all_come_back(path: Path) -> None:
    project = three()
    save_project(path, project)
    check_project(path)
    again = open_project(path)
    assert again.view == project.view
    assert [run.number for run in again.runs] == [4, 1, 2, 3]
    for run, before in zip(again.runs, project.runs, strict=True):
        assert_same_history(run.history, before.history)
        assert (run.counts, run.config, run.text) == (before.counts, before.config, before.text)
    assert not again.lost


def test_words_and_texts_are_stored_once(path: Path) -> None:
    project = three()
    save_project(path, project)
    names = part_names_in(path)
    assert {"runs/0/words/text", "runs/2/words/text", "runs/3/words/text", "runs/text/0"} <= names
    assert not {"runs/1/words/text", "runs/text/1"} & names
    again = open_project(path)
    assert again.runs[1].counts is again.runs[0].counts


def test_what_a_file_has_is_copied_whichever_is_shown(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = three()
    save_project(path, project)
    made: list[str] = []
    make = stored_run.array_part
    monkeypatch.setattr(stored_run, "array_part", lambda name, *values: (made.append(name), make(name, *values))[1])
    first, second, *rest = project.runs
    save_project(path, replace(project, runs=(second, *rest, first)))
    assert made == []
    check_project(path)
    again = open_project(path)
    assert [run.number for run in again.runs] == [1, 2, 3, 4]
    assert_same_history(again.runs[3].history, first.history)
    assert link_copy(again.runs, path.with_name("link.wpstudio"))
    assert not link_copy([*again.runs, run_of()], path.with_name("link-2.wpstudio"))
    save_project(path, replace(again, runs=(again.runs[3], *again.runs[:3])))
    assert made == []
    check_project(path)


def test_a_run_whose_words_an_older_program_replaced_is_left_out(tmp_path: Path) -> None:
    path = project_of_its_time("1.5", tmp_path)

    def train_again(database: sqlite3.Connection) -> None:
        ((n,),) = database.execute("SELECT n FROM part WHERE name = 'words/counts'")
        put_part(database, "words/counts", bytes([10] * n), n)

    path.write_bytes(forged(path.read_bytes(), train_again))
    assert 1 not in [run.number for run in open_project(path).runs]


@pytest.mark.parametrize("wrong", ['{"a": 1}', "[1]", '[{"words": 99}]', "null"])
def test_wrong_records_are_damage(path: Path, wrong: str) -> None:
    save_project(path, three())
    change = "UPDATE meta SET v = ? WHERE k = 'runs'"
    path.write_bytes(forged(path.read_bytes(), lambda database: database.execute(change, (wrong,))))
    with pytest.raises(StudioError, match="damaged"):
        open_project(path)
