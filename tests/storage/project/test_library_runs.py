"""Runs of other libraries in a project: they come back without training, and outlast a program that has none."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.storage.project.making import COURSE, check_project, course_project, forged, library_run_of, put_part, run_of
from tests.storage.project.test_project_file import assert_same_history
from tests.storage.project.test_several_runs import part_names_in
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.project import project_file, stored_run
from wordpiece_studio.storage.project.project_file import open_project, save_project
from wordpiece_studio.storage.project.stored_run import link_copy
from wordpiece_studio.storage.view import RunTab, View
from wordpiece_studio.training.config import TrainingConfig

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from wordpiece_studio.storage.project.contents import Project, ProjectRun


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "p.wpstudio"


def replayed(number: int) -> ProjectRun:
    """Return a run of a library that our training has made again."""
    run, like = run_of(objective="count", continuing_subword_prefix=""), library_run_of()
    tokens = run.history.vocabulary(len(run.history)).tokens
    learned = replace_fields(like.library_run.learned, tokens=tuple(tokens), scores=None, merges=(("u", "g"),))
    config = TrainingConfig(vocab_size=40, objective="count", continuing_subword_prefix="")
    library_run = replace(like.library_run, trainer="tokenizers-bpe", config=config, learned=learned, repetition=None)
    return replace(run, counts=like.counts, number=number, library_run=library_run, stop_reason="peer")


def replace_fields(record: object, **fields: object) -> object:
    return type(record)(**{name: getattr(record, name) for name in record.__struct_fields__} | fields)


def project() -> Project:
    unigram = library_run_of(3, text="hug pug", corpus_name="hugs", is_wanted=True)
    second = replace(replayed(2), counts=unigram.counts)
    tabs = (RunTab(1), RunTab(2, "theirs", 3, True, True, 2), RunTab(3))
    view = View(tabs=tabs, current=3)
    return replace(course_project(run=unigram, others=(replace(run_of(), number=1), second)), view=view)


def assert_same_library_run(run: ProjectRun, before: ProjectRun) -> None:
    one, other = run.library_run, before.library_run
    assert one.learned == other.learned
    assert (one.trainer, one.config, one.content, one.repetition) == (
        other.trainer,
        other.config,
        other.content,
        other.repetition,
    )
    assert run.library_run.counts is run.counts


def test_all_come_back(path: Path) -> None:
    before = project()
    save_project(path, before)
    check_project(path)
    again = open_project(path)
    assert [run.number for run in again.runs] == [3, 1, 2]
    assert (again.unknown, again.view) == (None, before.view)
    for run, old in zip(again.runs, before.runs, strict=True):
        assert (run.config, run.text, run.stop_reason) == (old.config, old.text, old.stop_reason)
        assert run.history.has_steps is old.history.has_steps
        assert_same_history(run.history, old.history)
        if old.library_run is not None:
            assert_same_library_run(run, old)
    unigram, _, theirs = again.runs
    assert unigram.history.scores == unigram.library_run.scores
    assert unigram.history.segmentation("hugs", 0) == ["hug", "s"]
    assert unigram.counts is theirs.counts
    names = part_names_in(path)
    assert {"peers/0/file", "peers/1/learned", "peers/1/merges/left_id", "peers/0/words/text", "peers/text/0"} <= names
    assert not {"peers/1/words/text", "peers/0/merges/left_id", "peers/0/places/counts"} & names


def test_what_a_file_has_is_copied(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = project()
    save_project(path, before)
    made: list[str] = []
    make = stored_run.array_part
    monkeypatch.setattr(stored_run, "array_part", lambda name, *values: (made.append(name), make(name, *values))[1])
    first, *others = before.runs
    save_project(path, replace(before, runs=(others[-1], first, *others[:-1])))
    again = open_project(path)
    save_project(path, replace(again, runs=(again.runs[1], again.runs[0], again.runs[2])))
    assert made == []
    again = open_project(path)
    assert link_copy(again.runs, path.with_name("link.wpstudio"))
    assert not link_copy([*again.runs, library_run_of()], path.with_name("link-2.wpstudio"))
    check_project(path.with_name("link.wpstudio"))


def test_words_are_those_of_the_corpus_as_long_as_that_is_the_same(path: Path) -> None:
    only = course_project(run=library_run_of(is_of_corpus=True))
    save_project(path, only)
    assert open_project(path).run.is_of_corpus

    def type_more(database: sqlite3.Connection) -> None:  # as a program does that does not know the run
        put_part(database, "corpus/text", b"hugs!", 5)

    path.write_bytes(forged(path.read_bytes(), type_more))
    assert not open_project(path).run.is_of_corpus


def test_a_program_without_them_keeps_them(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = project()
    save_project(path, before)
    with monkeypatch.context() as older:
        older.setattr(project_file, "_LIBRARY_RUNS", "nothing")
        older.setattr(project_file, "_RECORDS", project_file._RECORDS - {"peers"})
        opened = open_project(path)
        assert [run.number for run in opened.runs] == [1]
        ours = tuple(replace(run_of(objective="count"), number=number, text="hug pug") for number in (2, 3))
        save_project(path, replace(opened, runs=ours))
        assert [run.number for run in open_project(path).runs] == [2, 3]
    check_project(path)
    again = open_project(path)
    assert len({run.number for run in again.runs}) == len(again.runs) == 4
    theirs = [run for run in again.runs if run.library_run is not None]
    assert_same_library_run(theirs[0], before.run)
    assert_same_library_run(theirs[1], before.runs[2])
    assert theirs[0].text == "hug pug"


def test_a_file_that_its_library_refuses_stays(path: Path) -> None:
    like = library_run_of()
    spoiled = replace(like.library_run, content=b'{"version": "1.0", "model": {"type": "Unigram"}}')
    run = run_of()
    save_project(path, course_project(run=run, others=(replace(like, library_run=spoiled),)))
    check_project(path)
    ours, theirs = open_project(path).runs
    assert_same_history(ours.history, run.history)
    with pytest.raises(
        StudioError, match="The words of the run trained with tokenizers-unigram cannot be shown: "
    ) as caught:
        _ = theirs.history.places
    assert "It stays in the project. Install the library" in str(caught.value)
    assert theirs.history.vocabulary(0).tokens == list(spoiled.tokens)
    copy = path.with_name("copy.wpstudio")
    save_project(copy, course_project(run=ours, others=(theirs,)))
    assert open_project(copy).runs[1].library_run.content == spoiled.content


@pytest.mark.parametrize(
    "wrong",
    [
        {"trainer": "tokenizers-magic"},
        {"repetition": [1, -1, 0]},
        {"config": {}},
        {"has_steps": True},
        {"mood": "good"},
        {"run": None},
    ],
)
def test_wrong_records_are_damage(path: Path, wrong: dict[str, object]) -> None:
    save_project(path, course_project(others=(library_run_of(),)))

    def change(database: sqlite3.Connection) -> None:
        ((text,),) = database.execute("SELECT v FROM meta WHERE k = 'peers'")
        database.execute("UPDATE meta SET v = ? WHERE k = 'peers'", (json.dumps([json.loads(text)[0] | wrong]),))

    path.write_bytes(forged(path.read_bytes(), change))
    with pytest.raises(StudioError, match="damaged"):
        open_project(path)


@pytest.mark.parametrize("learned", [b"", b"\x93\xa11\x91\x01\xc0\xc0", b"\x84\xa7version\xa11\xa6tokens\x90"])
def test_what_no_library_can_have_learned_is_damage(path: Path, learned: bytes) -> None:
    save_project(path, course_project(others=(library_run_of(),)))
    change = forged(path.read_bytes(), lambda database: put_part(database, "peers/0/learned", learned, len(learned)))
    path.write_bytes(change)
    with pytest.raises(StudioError, match="damaged"):
        open_project(path)


def test_the_made_up_run_is_what_its_library_makes_of_it() -> None:
    run = library_run_of()
    assert run.history.symbols_after(0) == sum(count * len(run.history.segmentation(word, 0)) for word, count in COURSE)
