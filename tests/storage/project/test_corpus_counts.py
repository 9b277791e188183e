"""The word counts of a project's corpus that are not those of its run; and reports of damage found late."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.storage.project.making import (
    check_project,
    course_project,
    forged,
    open_whole,
    project_of_its_time,
    put_part,
    run_of,
)
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.corpus.files import CorpusFile, CorpusReference
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.project.contents import Project, ProjectCorpus
from wordpiece_studio.storage.project.project_file import open_project, save_project

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

_COUNTS = WordCounts.from_pairs([("hug", 10), ("a\nb", 2), ("pug", 5)])


def counted(**others: object) -> Project:
    files = (CorpusReference(CorpusFile("/data/a.txt"), 17, 5), CorpusReference(CorpusFile("/data/b.txt"), 3, 6))
    project = course_project(run=None)
    return dataclasses.replace(
        project, **{"corpus": ProjectCorpus(text=None, files=files), "counts": _COUNTS, **others}
    )


def saved(path: Path, project: Project) -> Project:
    save_project(path, project)
    check_project(path)
    return open_project(path)


@pytest.mark.parametrize("runs", [(), (run_of([("other", 3), ("others", 2)]),)])
def test_counts_come_back_with_and_without_a_run(tmp_path: Path, runs: tuple[object, ...]) -> None:
    project = saved(tmp_path / "p.wpstudio", counted(runs=runs))
    assert project.counts == _COUNTS
    assert project.counts.statistics == _COUNTS.statistics
    assert len(project.runs) == len(runs)
    if project.run is not None:
        assert project.run.counts.words == ["other", "others"]
        assert len(project.run.history.positions(0))


def test_the_words_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    project = saved(tmp_path / "p.wpstudio", counted())
    assert callable(project.counts._words)
    assert (len(project.counts), project.counts.total) == (3, 17)
    assert project.counts.words == _COUNTS.words


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE meta SET v = replace(v, '\"max_word_length\": 1000', '\"max_word_length\": 9') WHERE k = 'settings'",
        "UPDATE meta SET v = replace(v, '\"corpus\": \"', '\"corpus\": \"0') WHERE k = 'counts'",
    ],
)
def test_counts_of_older_programs_that_are_not_of_this_corpus_are_not_taken(tmp_path: Path, change: str) -> None:
    """As when a program that does not know them kept them, and changed corpus or settings."""
    path = project_of_its_time("1.5", tmp_path)
    assert open_project(path).counts is not None
    path.write_bytes(forged(path.read_bytes(), lambda database: database.execute(change)))
    project = open_project(path)
    assert project.counts is None
    assert not project.lost


def test_files_that_were_moved_keep_their_counts(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "a.txt").write_text("hug", encoding="utf-8")
    files = (CorpusReference(CorpusFile(str(tmp_path / "one" / "a.txt")), 3, 6),)
    save_project(tmp_path / "one" / "p.wpstudio", counted(corpus=ProjectCorpus(text=None, files=files)))
    (tmp_path / "one").rename(tmp_path / "two")
    project = open_project(tmp_path / "two" / "p.wpstudio")
    assert project.corpus.files[0].file.path == str(tmp_path / "two" / "a.txt")
    assert project.counts == _COUNTS


def test_damaged_counts_are_reported_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "p.wpstudio"
    save_project(path, counted())
    wrong = np.array([1, -1, 2], dtype="|i1").tobytes()
    path.write_bytes(forged(path.read_bytes(), lambda database: put_part(database, "corpus/words/counts", wrong, 3)))
    with pytest.raises(StudioError, match=r"p\.wpstudio is damaged at corpus/words/counts"):
        open_whole(path)


def test_merges_that_do_not_fit_the_words_are_reported_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "p.wpstudio"
    save_project(path, course_project())

    def shift(database: sqlite3.Connection) -> None:
        n = database.execute("SELECT n FROM part WHERE name = 'runs/0/places/positions'").fetchone()[0]
        put_part(database, "runs/0/places/positions", b"\1" * n, n, "|i1")

    path.write_bytes(forged(path.read_bytes(), shift))
    project = open_project(path)
    with pytest.raises(StudioError, match=r"p\.wpstudio is damaged at its merges: The merges do not fit the words"):
        _ = project.run.history.places
    with pytest.raises(StudioError, match=r"p\.wpstudio is damaged at its merges"):
        check_project(path)


def test_a_token_that_is_there_twice_is_reported_on_opening(tmp_path: Path) -> None:
    path = tmp_path / "p.wpstudio"
    save_project(path, course_project())
    tokens = open_project(path).run.history.vocabulary(1).tokens
    names = [*open_project(path).run.history.vocabulary(len(open_project(path).run.history)).tokens]
    names[-1] = tokens[-1]
    text = "".join(f"{name}\n" for name in names).encode()
    path.write_bytes(
        forged(path.read_bytes(), lambda database: put_part(database, "runs/0/tokens/text", text, len(text)))
    )
    with pytest.raises(StudioError, match=r"p\.wpstudio is damaged at its merges: The vocabulary holds .* twice"):
        open_whole(path)
