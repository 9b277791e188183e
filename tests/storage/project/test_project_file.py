from __future__ import annotations

import contextlib
import dataclasses
import os
import sqlite3
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.storage.project.making import COURSE, check_project, course_project, forged, origin_of, run_of, settings_of
from wordpiece_studio.corpus.counts import CorpusStatistics, FileStatistics, SkippedWord, WordCounts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.project import container as container_module
from wordpiece_studio.storage.project import project_file
from wordpiece_studio.storage.project.container import ProjectStamp, SavingStopped, is_replaced, stamp_of
from wordpiece_studio.storage.project.contents import Project, ProjectCorpus, Run, RunOrigin
from wordpiece_studio.storage.project.project_file import is_project, open_project, save_project
from wordpiece_studio.storage.view import Bookmark, Breakpoint, Selection, View
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.history import COLUMNS, MergeHistory
from wordpiece_studio.training.trainer import Trainer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TEXTS = st.text(st.characters(codec=None, categories=None), max_size=30)  # halves of surrogate pairs too


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "course.wpstudio"


def saved(path: Path, project: Project) -> Project:
    save_project(path, project)
    check_project(path)
    return open_project(path)


def assert_same_history(one: MergeHistory, other: MergeHistory) -> None:
    assert len(one) == len(other)
    assert list(one) == list(other)
    for name in COLUMNS:
        assert one.column(name).dtype == other.column(name).dtype
        assert np.array_equal(one.column(name), other.column(name))
    for step in range(len(one) + 1):
        assert one.vocabulary(step).tokens == other.vocabulary(step).tokens
        assert one.symbols_after(step) == other.symbols_after(step)
        for word in one.input.words:
            assert one.segmentation(word, step) == other.segmentation(word, step)
    for index in range(len(one)):
        assert one.positions(index).tolist() == other.positions(index).tolist()


# ---- what is saved is what is opened ---------------------------------------------------------------------------------


def test_a_project_comes_back_as_it_was(path: Path) -> None:
    project = course_project()
    again = saved(path, project)
    assert (again.settings, again.corpus, again.view) == (project.settings, project.corpus, project.view)
    assert not again.lost
    assert project.run is not None
    assert again.run is not None
    assert again.run.counts == project.run.counts
    assert (again.run.config, again.run.stop_reason) == (project.run.config, project.run.stop_reason)
    assert len(again.run.history) > 5
    assert_same_history(again.run.history, project.run.history)


def test_a_project_without_anything(path: Path) -> None:
    project = Project(settings=settings_of(), corpus=ProjectCorpus(text=None), view=View())
    assert saved(path, project) == project


@pytest.mark.slow
@settings(max_examples=20)
@given(data=st.data())
def test_any_text_anywhere(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    draw = data.draw
    short, numbers = st.integers(0, 2**31), st.floats(allow_nan=False, allow_infinity=False)
    view = View(
        step=draw(short),
        selection=draw(st.none() | st.builds(Selection, st.just("pair"), TEXTS, TEXTS, TEXTS)),
        live_text=draw(TEXTS),
        notes=tuple(draw(st.lists(st.builds(Bookmark, short, TEXTS, TEXTS, st.none() | short), max_size=3))),
        breakpoints=tuple(draw(st.lists(st.builds(Breakpoint, st.just("value"), TEXTS, numbers)))),
    )
    corpus = ProjectCorpus(
        name=draw(TEXTS), text=draw(st.none() | TEXTS), mark=b"\xef\xbb\xbf", is_edited=draw(st.booleans())
    )
    project = Project(settings=settings_of(max_word_length=draw(st.integers(1, 2**31))), corpus=corpus, view=view)
    path = tmp_path_factory.mktemp("any") / "p.wpstudio"
    assert saved(path, project) == project


@pytest.mark.slow
@settings(max_examples=20)
@given(words=st.dictionaries(TEXTS.filter(len), st.integers(1, 2**40), min_size=1, max_size=12))
def test_any_words(tmp_path_factory: pytest.TempPathFactory, words: dict[str, int]) -> None:
    """Words may contain line ends and lone surrogates, as from jsonl."""
    plain = WordCounts.from_pairs(COURSE)
    counts = WordCounts(list(words), list(words.values()), plain.normalizer, plain.pre_tokenizer)
    trainer = Trainer(counts, TrainingConfig(max_merges=5), engine="plain")
    trainer.run()
    run = Run(counts, trainer.config, trainer.history, stop_reason=trainer.stop_reason)
    again = saved(tmp_path_factory.mktemp("any") / "p.wpstudio", course_project(run=run)).run
    assert again is not None
    assert again.counts == counts
    assert_same_history(again.history, run.history)


def test_statistics_settings_and_reasons_come_back(path: Path) -> None:
    run = run_of(
        special_tokens=("[UNK]", "<s>"), objective="likelihood", max_merges=4, alphabet="huggingface",
        end_of_word_suffix="</w>", min_value=-1e300,
    )  # fmt: skip
    statistics = CorpusStatistics(
        lines=3, replaced=2, files=(FileStatistics("a\udcff", words=3),), spelled_out={"[CLS]": 2}, changed_files=("b",)
    )
    counts = WordCounts(
        run.counts.words, run.counts.counts, run.counts.normalizer, run.counts.pre_tokenizer, statistics,
        [SkippedWord("a", 1, 2, 5000)],
    )  # fmt: skip
    more = dataclasses.replace(run.config, max_merges=900)
    run = dataclasses.replace(run, counts=counts, config=more, origin=RunOrigin(corpus_name="<b>"), is_of_corpus=True)
    again = saved(path, course_project(run=run)).run
    assert again is not None
    assert (again.counts.statistics, again.counts.skipped) == (statistics, counts.skipped)
    assert again.config == more
    assert again.history.config.max_merges == 4
    assert (again.stop_reason, again.origin.corpus_name) == ("max_merges", "<b>")
    assert again.is_of_corpus
    assert not again.origin.is_wanted
    assert_same_history(again.history, run.history)


@pytest.mark.parametrize(
    ("reason", "read"), [(None, None), ("user", "user"), ("no_pair", "no_pair"), ("boredom", "user")]
)
def test_why_it_ended(path: Path, reason: str | None, read: str | None) -> None:
    again = saved(path, course_project(run=dataclasses.replace(run_of(), stop_reason=reason))).run
    assert again is not None
    assert again.stop_reason == read


def test_what_needs_several_chunks(path: Path) -> None:
    """Characters of four bytes lie across the ends of chunks of a text, and arrays have more rows than one takes."""
    text = "x" + "\U0001f600한" * 400_000
    words = [(f"w{number}", 1 + number % 7) for number in range(70_000)]
    counts = WordCounts.from_pairs(words)
    run = dataclasses.replace(run_of(max_merges=2), counts=counts)
    project = course_project(text, run=None)
    save_project(path, project)
    assert open_project(path).corpus.text == text
    # Words that do not go with the merges are found when they are asked for, not before.
    save_project(path, course_project(text, run=run))
    again = open_project(path).run
    assert again is not None
    assert again.counts.items() == words
    with pytest.raises(StudioError, match="not learned from these words"):
        again.history.segmentation("hug", 0)


def test_an_empty_history(path: Path) -> None:
    again = saved(path, course_project(run=run_of(max_merges=0))).run
    assert again is not None
    assert len(again.history) == 0
    assert again.history.segmentation("hug", 0) == ["h", "##u", "##g"]


# ---- laziness --------------------------------------------------------------------------------------------------------


def test_words_and_places_are_read_when_they_are_asked_for(path: Path) -> None:
    save_project(path, course_project())
    run = open_project(path).run
    assert run is not None
    assert run.history[2].token
    assert run.history.is_whole is False  # type: ignore[attr-defined]
    assert run.counts.total == 36
    if os.name == "posix":  # elsewhere an open file cannot be removed
        path.unlink()
    assert run.history.segmentation("hugs", 3) == ["hugs"]
    assert run.counts.words == [word for word, _ in COURSE]


def test_a_project_is_saved_over_the_file_that_it_is_still_read_from(path: Path) -> None:
    save_project(path, course_project())
    project = open_project(path)
    save_project(path, project)
    check_project(path)
    again = open_project(path).run
    assert again is not None
    assert_same_history(again.history, run_of().history)


def test_the_file_is_let_go_of_when_all_was_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[object] = []

    def finalizer(container: object, close: Callable[[], None]) -> Callable[[], None]:
        return lambda: closed.append(container) or close()

    monkeypatch.setattr(container_module, "weakref", SimpleNamespace(finalize=finalizer))
    save_project(path, course_project())
    closed.clear()
    run = open_project(path).run
    assert run is not None
    assert not closed
    _ = run.history.input
    assert len(set(map(id, closed))) == 1
    for part in ("merges/value", "tokens/text", "words/text", "places/positions"):
        damage(path, f"runs/0/{part}")
        closed.clear()
        for run in open_project(path).runs:
            for read in (lambda run=run: run.counts.words, lambda run=run: run.history.input):
                with contextlib.suppress(StudioError):
                    read()
        assert len(set(map(id, closed))) == 1, part
        save_project(path, course_project())


def test_merges_appended_while_it_is_saved_are_left_out(path: Path) -> None:
    run = run_of()
    again = saved(path, course_project(run=dataclasses.replace(run, merges=4))).run
    assert again is not None
    assert [merge.token for merge in again.history] == [merge.token for merge in run.history][:4]
    assert again.history.segmentation("pug", 4) == run.history.segmentation("pug", 4)


# ---- damage ----------------------------------------------------------------------------------------------------------


def damage(path: Path, part: str) -> None:
    """Change a byte of the first chunk of a part."""

    def change(database: sqlite3.Connection) -> None:
        query = "UPDATE chunk SET data = x'00' WHERE id = (SELECT first FROM part WHERE name = ?)"
        assert database.execute(query, (part,)).rowcount == 1

    path.write_bytes(forged(path.read_bytes(), change, is_sealed=False))


LOST = {
    "corpus/text": "the text",
    "view/watched_text": "the live text",
    "runs/0/merges/value": "run A",
    "runs/1/tokens/text": "run C",
    "runs/1/words/counts": "run C",
    "runs/text/0": "run C",
    "corpus/words/counts": "the word counts",
}


@pytest.mark.parametrize("part", LOST)
def test_a_damaged_part_costs_that_part_alone(path: Path, part: str) -> None:
    other = dataclasses.replace(run_of([("cat", 3), ("cats", 2)]), number=2, origin=origin_of(text="cats"))
    whole = course_project(others=(other,), counts=WordCounts.from_pairs([("hug", 2)]))
    save_project(path, whole)
    damage(path, part)
    project = open_project(path)
    assert [lost for lost, _ in project.lost] == [LOST[part]]
    with pytest.raises(StudioError, match=f"course.wpstudio is damaged at {part}"):
        project.check_whole()
    assert project.corpus == dataclasses.replace(whole.corpus, text="" if part == "corpus/text" else whole.corpus.text)
    assert project.view.notes == whole.view.notes
    assert project.view.live_text == ("" if part == "view/watched_text" else "hugs bugs")
    assert [run.number for run in project.runs] == [number for number, name in ((0, "run A"), (2, "run C"))
                                                    if name != LOST[part]]  # fmt: skip
    assert (project.counts is None) == (part in ("corpus/text", "corpus/words/counts"))
    save_project(path, dataclasses.replace(project, lost=()))
    check_project(path)


# ---- saving ----------------------------------------------------------------------------------------------------------


def test_progress_is_reported_and_it_can_be_stopped(path: Path) -> None:
    told: list[tuple[int, int]] = []
    save_project(path, course_project(), progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert all(0 <= done <= total for done, total in told)
    before = path.read_bytes()
    for number in range(len(told) + 1):
        asked = iter(range(1_000))
        with pytest.raises(SavingStopped, match=r"was stopped\. Any existing file is unchanged\."):
            save_project(path, course_project("other"), should_stop=lambda: next(asked) >= number)  # noqa: B023
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_nothing_is_saved_that_could_not_be_opened(path: Path) -> None:
    save_project(path, course_project())
    before = path.read_bytes()
    bad = dataclasses.replace(course_project(), corpus=ProjectCorpus(text="", encoding="rot13"))
    with pytest.raises(StudioError, match=r"could not be opened again \(.*rot13") as caught:
        save_project(path, bad)
    assert str(caught.value).endswith("Any existing file is unchanged.")
    assert path.read_bytes() == before


def test_what_is_read_back_must_be_what_was_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_project(path, course_project())
    before = path.read_bytes()
    write = project_file.atomic_write_all

    class Forgetful:
        def __init__(self, file: Any) -> None:
            self._file = file

        def write(self, data: bytes) -> None:
            self._file.write(data.replace(b"course", b"curse!"))

        def __getattr__(self, name: str) -> Any:
            return getattr(self._file, name)

    def forgetful(files: dict[Any, Any]) -> None:
        write({place: lambda file: content(Forgetful(file)) for place, content in files.items()})  # noqa: B023

    monkeypatch.setattr(project_file, "atomic_write_all", forgetful)
    with pytest.raises(StudioError, match="what is read back differs from what was written"):
        save_project(path, course_project())
    assert path.read_bytes() == before


def test_a_saved_file_is_a_database_that_others_can_read(path: Path) -> None:
    save_project(path, course_project())
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        names = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
        meta = dict(database.execute("SELECT k, v FROM meta"))
    database.close()
    assert names == {"meta", "source", "part", "chunk"}
    assert meta["program"].startswith("WordPiece Studio ")
    assert '"objective": "score"' in meta["settings"]


def test_equal_projects_give_equal_files(path: Path) -> None:
    save_project(path, course_project())
    first = path.read_bytes()
    save_project(path, open_project(path))
    assert path.read_bytes() == first


def test_is_project_never_raises(path: Path, tmp_path: Path) -> None:
    save_project(path, course_project())
    assert is_project(path)
    (tmp_path / "text").write_text("hug " * 100)
    (tmp_path / "empty").touch()
    others = [tmp_path, tmp_path / "text", tmp_path / "empty", tmp_path / "none", "a\0b", os.devnull]
    assert not any(map(is_project, others))


def test_a_project_with_another_time_is_not_another_project(tmp_path: Path) -> None:
    path = tmp_path / "p.wpstudio"
    save_project(path, course_project())
    before, data = stamp_of(path), path.read_bytes()
    assert not is_replaced(path, before)
    path.write_bytes(data)
    os.utime(path, ns=(1, 1))
    assert not is_replaced(path, before)
    for other in (b"other", data[:-1] + b"?", data + b"?"):
        path.write_bytes(other)
        assert is_replaced(path, before)
    path.unlink()
    assert not is_replaced(path, before)
    assert stamp_of(tmp_path) == stamp_of(None) == ProjectStamp()
