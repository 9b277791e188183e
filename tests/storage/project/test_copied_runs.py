"""A run that a file already holds is copied from it, whatever has become of that file in the meantime."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.storage.project.making import check_project, course_project, run_of
from tests.storage.project.test_project_file import assert_same_history
from wordpiece_studio.storage.project import stored_run
from wordpiece_studio.storage.project.project_file import open_project, save_project
from wordpiece_studio.storage.project.stored_run import link_copy
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import Trainer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wordpiece_studio.storage.project.contents import Project, Run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "p.wpstudio"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the arrays of runs that are made anew, as they come."""
    names: list[str] = []
    make = stored_run.array_part

    def noted(name: str, *values: object) -> object:
        names.append(name)
        return make(name, *values)  # type: ignore[arg-type]

    monkeypatch.setattr(stored_run, "array_part", noted)
    return names


def run_in(project: Project) -> Run:
    assert project.run is not None
    return project.run


def test_what_was_saved_once_is_not_made_again(path: Path, made: list[str]) -> None:
    project = course_project()
    save_project(path, project)
    assert "runs/0/merges/left_id" in made
    made.clear()
    save_project(path, replace(project, corpus=replace(project.corpus, text="another text")))
    save_project(path.with_name("elsewhere.wpstudio"), project)
    assert made == []
    check_project(path)
    again = open_project(path)
    assert again.corpus.text == "another text"
    assert_same_history(run_in(again).history, run_of().history)
    assert run_in(again).counts == run_in(project).counts


def test_what_was_opened_is_copied_unread(path: Path, made: list[str]) -> None:
    save_project(path, course_project())
    before = path.read_bytes()
    made.clear()
    project = open_project(path)
    save_project(path, project)
    assert made == []
    assert not run_in(project).history.is_whole
    assert path.read_bytes() == before


def test_further_merges_are_not_in_the_copy(path: Path, made: list[str]) -> None:
    run = run_of()
    trainer = Trainer(run.counts, TrainingConfig(max_merges=4))
    trainer.run(3)
    run = replace(run, history=trainer.history, config=trainer.config)
    save_project(path, course_project(run=run))
    trainer.run(1)
    made.clear()
    save_project(path, course_project(run=run))
    assert "runs/0/merges/left_id" in made
    assert len(run_in(open_project(path)).history) == 4
    made.clear()
    save_project(path, course_project(run=replace(run, merges=3)))
    assert "runs/0/merges/left_id" in made
    assert len(run_in(open_project(path)).history) == 3


def test_merges_appended_while_it_is_saved_are_not_in_the_copy(path: Path) -> None:
    run = run_of()
    trainer = Trainer(run.counts, TrainingConfig(max_merges=4))
    trainer.run(2)
    project = course_project(run=replace(run, history=trainer.history, config=trainer.config))
    save_project(path, project, progress=lambda _done, _total: trainer.run(1) and None)
    assert len(run_in(open_project(path)).history) == 2 < len(trainer.history)
    save_project(path, project)
    check_project(path)
    assert len(run_in(open_project(path)).history) == len(trainer.history)


def test_other_words_are_not_in_the_copy(path: Path, made: list[str]) -> None:
    project = course_project()
    save_project(path, project)
    made.clear()
    other = run_of([("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 6)])
    save_project(path, replace(project, runs=(replace(run_in(project), counts=other.counts),)))
    assert "runs/0/words/counts" in made


def remove(path: Path) -> None:
    path.unlink()


def replace_by_another(path: Path) -> None:
    save_project(path, course_project(run=run_of([("bun", 3), ("buns", 2)])))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def damage(path: Path) -> None:
    """Change a byte of every compressed piece."""
    data = path.read_bytes()
    magic = b"\x28\xb5\x2f\xfd"  # of zstd
    pieces = data.split(magic)
    path.write_bytes(magic.join([pieces[0], *(piece[:2] + bytes([piece[2] ^ 1]) + piece[3:] for piece in pieces[1:])]))


@pytest.mark.parametrize("happens", [remove, replace_by_another, empty, damage])
def test_without_that_file_it_is_made_again(path: Path, made: list[str], happens: Callable[[Path], None]) -> None:
    project = course_project()
    save_project(path, project)
    happens(path)
    made.clear()
    other = path.with_name("other.wpstudio")
    save_project(other, project)
    assert "runs/0/merges/left_id" in made
    check_project(other)
    assert_same_history(run_in(open_project(other)).history, run_of().history)


def test_a_second_name_outlives_the_first(path: Path) -> None:
    project = course_project()
    link = path.with_name("link.wpstudio")
    assert not link_copy([run_in(project)], link)
    save_project(path, project)
    assert link_copy([run_in(project)], link)
    assert os.path.samefile(path, link)
    replace_by_another(path)
    path.unlink()
    check_project(link)
    assert_same_history(run_in(open_project(link)).history, run_of().history)


@pytest.mark.parametrize("happens", [remove, replace_by_another, empty])
def test_no_second_name_for_what_is_not_there(path: Path, happens: Callable[[Path], None]) -> None:
    project = course_project()
    save_project(path, project)
    happens(path)
    link = path.with_name("link.wpstudio")
    assert not link_copy([run_in(project)], link)
    assert not link.exists()


def test_no_second_name_where_there_are_none(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_link(_source: object, _target: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    project = course_project()
    save_project(path, project)
    monkeypatch.setattr(os, "link", no_link)
    assert not link_copy([run_in(project)], path.with_name("link.wpstudio"))
