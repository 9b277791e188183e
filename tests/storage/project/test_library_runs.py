"""Runs of other libraries in a project: they come back without training."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.storage.project.making import (
    COURSE,
    check_project,
    course_project,
    forged,
    library_run_of,
    open_whole,
    origin_of,
    project_of_its_time,
    put_part,
    run_of,
)
from tests.storage.project.test_project_file import assert_same_history
from tests.storage.project.test_several_runs import part_names_in
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.project import stored_run
from wordpiece_studio.storage.project.project_file import open_project, save_project
from wordpiece_studio.storage.project.stored_run import link_copy
from wordpiece_studio.storage.view import RunTab, View
from wordpiece_studio.training.config import TrainingConfig

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from wordpiece_studio.storage.project.contents import Project, Run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "p.wpstudio"


def replayed(number: int) -> Run:
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
    unigram = library_run_of(3, origin=origin_of("hugs", "hug pug"))
    second = replace(replayed(2), counts=unigram.counts)
    tabs = (RunTab(1), RunTab(2, "theirs", 3, True, True, 2), RunTab(3))
    view = View(tabs=tabs, current=3)
    return replace(course_project(run=unigram, others=(replace(run_of(), number=1), second)), view=view)


def assert_same_library_run(run: Run, before: Run) -> None:
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
    assert (again.lost, again.view) == ((), before.view)
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
    assert {"runs/0/file", "runs/2/learned", "runs/2/merges/left_id", "runs/0/words/text", "runs/text/0"} <= names
    assert not {"runs/2/words/text", "runs/0/merges/left_id", "runs/0/places/counts"} & names


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


def test_words_are_those_of_the_corpus_as_long_as_that_is_the_same(tmp_path: Path) -> None:
    """A program before 1.4 kept the runs of libraries, and changed the corpus."""
    path = project_of_its_time("1.5", tmp_path)
    assert [run.is_of_corpus for run in open_project(path).runs if run.library_run is not None] == [True, True]
    path.write_bytes(forged(path.read_bytes(), lambda database: put_part(database, "corpus/text", b"hugs!", 5)))
    assert not any(run.is_of_corpus for run in open_project(path).runs if run.library_run is not None)


def test_runs_with_the_same_number_get_another(tmp_path: Path) -> None:
    """A program before 1.4 gave the numbers of the runs of libraries to runs of ours."""

    def take_numbers(database: sqlite3.Connection) -> None:
        ((text,),) = database.execute("SELECT v FROM meta WHERE k = 'runs'")
        heads = [head | {"number": 3 + place} for place, head in enumerate(json.loads(text))]
        database.execute("UPDATE meta SET v = ? WHERE k = 'runs'", (json.dumps(heads),))

    path = project_of_its_time("1.5", tmp_path)
    path.write_bytes(forged(path.read_bytes(), take_numbers))
    assert [run.number for run in open_project(path).runs] == [0, 3, 4, 5, 6]


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
    ],
)
def test_wrong_records_are_damage(path: Path, wrong: dict[str, object]) -> None:
    save_project(path, course_project(others=(library_run_of(),)))

    def change(database: sqlite3.Connection) -> None:
        ((text,),) = database.execute("SELECT v FROM meta WHERE k = 'runs'")
        first, theirs = json.loads(text)
        theirs["library"] |= wrong
        database.execute("UPDATE meta SET v = ? WHERE k = 'runs'", (json.dumps([first, theirs]),))

    path.write_bytes(forged(path.read_bytes(), change))
    with pytest.raises(StudioError, match="damaged"):
        open_whole(path)


@pytest.mark.parametrize("learned", [b"", b"\x93\xa11\x91\x01\xc0\xc0", b"\x84\xa7version\xa11\xa6tokens\x90"])
def test_what_no_library_can_have_learned_is_damage(path: Path, learned: bytes) -> None:
    save_project(path, course_project(others=(library_run_of(),)))
    change = forged(path.read_bytes(), lambda database: put_part(database, "runs/1/learned", learned, len(learned)))
    path.write_bytes(change)
    with pytest.raises(StudioError, match="damaged"):
        open_whole(path)


def test_the_made_up_run_is_what_its_library_makes_of_it() -> None:
    run = library_run_of()
    assert run.history.symbols_after(0) == sum(count * len(run.history.segmentation(word, 0)) for word, count in COURSE)
