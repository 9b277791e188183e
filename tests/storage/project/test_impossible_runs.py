"""Projects with valid hashes and a run that no training can have made: refused before anything uses it."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.storage.project.making import COURSE, check_project, course_project, forged, put_part, run_of, seal
from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.project.container import Container, array_part
from wordpiece_studio.storage.project.contents import Run
from wordpiece_studio.storage.project.project_file import open_project, save_project
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

INF, NAN = float("inf"), float("nan")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "p.wpstudio"
    save_project(found, course_project())
    return found


def forge_text(path: Path, name: str, text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    path.write_bytes(forged(path.read_bytes(), lambda database: put_part(database, name, data, len(data))))


def forge_array(path: Path, name: str, values: np.ndarray[Any, Any]) -> None:
    kind = array_part(name, values).kind
    data = values.astype(kind).tobytes()
    path.write_bytes(forged(path.read_bytes(), lambda database: put_part(database, name, data, len(values), kind)))


def refusal(path: Path) -> str:
    with pytest.raises(StudioError) as caught:
        check_project(path)
    return str(caught.value)


def tokens_of(path: Path) -> list[str]:
    run = open_project(path).run
    assert run is not None
    return list(run.history.vocabulary(len(run.history)).tokens)


@pytest.mark.parametrize("text", ["#", "##", "##x", "x", "hugs and more", "\u0301"])
@pytest.mark.parametrize("place", [-1, -2, -5])
def test_a_token_that_is_not_its_two_parts_together(path: Path, text: str, place: int) -> None:
    """Of one whose bare text is empty, the engine that took up the training never came to an end."""
    tokens = tokens_of(path)
    tokens[place] = text
    forge_text(path, "runs/0/tokens/text", "".join(f"{token}\n" for token in tokens))
    assert "not its two parts joined" in refusal(path)


def test_an_empty_token(path: Path) -> None:
    tokens = tokens_of(path)
    tokens[-1] = ""
    forge_text(path, "runs/0/tokens/text", "".join(f"{token}\n" for token in tokens))
    assert "empty token" in refusal(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("value", value) for value in (INF, -INF, NAN, 1e308, -1.0, 0.0)),
        *(("ties", value) for value in (0, 2**62)),
        *((name, value) for name in ("pair_frequency", "left_frequency", "right_frequency", "symbols_before")
          for value in (0, 2**62, 2**63 - 1)),
    ],
)  # fmt: skip
def test_numbers_that_cannot_be(path: Path, name: str, value: float) -> None:
    run = open_project(path).run
    assert run is not None
    for index in (0, 4, len(run.history) - 1):
        column = run.history.column(name).copy()
        column[index] = value
        forge_array(path, f"runs/0/merges/{name}", column)
        assert "frequencies or scores" in refusal(path)


def test_a_merge_of_other_tokens_than_stand_at_its_places(path: Path) -> None:
    """The first two merges, exchanged but for their places: every token is spelled right."""
    project = course_project(run=run_of(COURSE, objective="count"))
    save_project(path, project)
    assert project.run is not None
    places = project.run.history.places
    counts, _, positions = places.until(len(project.run.history))
    positions = positions.copy()
    first, second = int(counts[0]), int(counts[1])
    positions[: first + second] = np.concatenate((positions[first : first + second], positions[:first]))
    counts = counts.copy()
    counts[0], counts[1] = second, first
    forge_array(path, "runs/0/places/positions", positions)
    forge_array(path, "runs/0/places/counts", counts)
    assert "do not fit the words" in refusal(path)


@pytest.mark.parametrize("settings", [
    {}, {"objective": "likelihood"}, {"continuing_subword_prefix": "", "end_of_word_suffix": "</w>"},
    {"objective": "count", "end_of_word_suffix": "</w>", "end_of_word": "attached"},
    {"alphabet_limit": 4, "alphabet_overflow": "remove"},
])  # fmt: skip
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_every_place_that_is_shifted_is_noticed_and_what_was_trained_is_not(
    path: Path, settings: dict[str, Any], every: int
) -> None:
    project = course_project(run=run_of([*COURSE, ("aaaaa", 3), ("##a", 2), ("a##", 1), ("banana", 2)], **settings))
    save_project(path, project)
    check_project(path)
    whole = path.read_bytes()
    assert project.run is not None
    positions = project.run.history.places.until(len(project.run.history)).positions
    for index in range(0, len(positions), every):
        for shift in (-1, 1):
            shifted = positions.copy()
            shifted[index] += shift
            path.write_bytes(whole)
            forge_array(path, "runs/0/places/positions", shifted)
            assert refusal(path)


def forge_run(path: Path, **changes: Any) -> None:
    def change(database: sqlite3.Connection) -> None:
        (text,) = database.execute("SELECT v FROM meta WHERE k = 'runs'").fetchone()
        database.execute("UPDATE meta SET v = ? WHERE k = 'runs'", (json.dumps([json.loads(text)[0] | changes]),))
        seal(database)

    path.write_bytes(forged(path.read_bytes(), change, is_sealed=False))


@pytest.mark.parametrize(
    "changes",
    [{"symbols_after": 0}, {"symbols_after": 2**63 - 1}, {"word_count": 1}, {"word_count": 0}, {"total_words": 1}],
)
def test_totals_that_cannot_be(path: Path, changes: dict[str, int]) -> None:
    forge_run(path, **changes)
    assert refusal(path)


@pytest.mark.parametrize(
    "setting", [{"objective": "count"}, {"continuing_subword_prefix": "@@"}, {"special_tokens": ["[UNK]"]}]
)
def test_a_run_with_other_settings_than_it_began_with(path: Path, setting: dict[str, Any]) -> None:
    forge_run(path, config=TrainingConfig(objective="score").to_dict() | setting)
    assert "not those that the training started with" in refusal(path)


def test_limits_that_were_raised_are_no_other_settings(path: Path) -> None:
    forge_run(path, config=TrainingConfig(objective="score", vocab_size=500, max_merges=400).to_dict())
    check_project(path)


def test_words_that_are_too_many_for_so_small_a_file(path: Path) -> None:
    """Of one letter each: some kilobytes in the file, hundreds of megabytes as strings."""
    with pytest.raises(StudioError, match="more than any genuine ones"):
        Container(path).strings("words", 3_000_000)


@pytest.mark.parametrize(
    ("name", "value"),
    [("skipped_words", 3), ("lines", -1), ("bytes", 2**63), ("rare_words", -(2**40)), ("spelled_out", {"[UNK]": -1})],
)
def test_statistics_that_cannot_be(path: Path, name: str, value: object) -> None:
    """Of words that were too long, of which not one is named, the linter took the longest."""
    run = open_project(path).run
    assert run is not None
    statistics = dataclasses.asdict(run.counts.statistics) | {name: value}
    forge_text(path, "runs/0/words/statistics", json.dumps({"statistics": statistics, "skipped": []}))
    assert "words/statistics" in refusal(path) or "its records" in refusal(path)


def test_bytes_of_a_run_before_all_were_in_the_alphabet(path: Path) -> None:
    run = train(count_texts(["hug pug hugs"], "none", "byte-level"), TrainingConfig(byte_alphabet="seen"))
    save_project(path, course_project(run=Run(run.counts, run.config, run.history)))
    before = run.config.to_dict()
    del before["byte_alphabet"]  # which was no setting
    forge_run(path, config=before, first_config=before)
    assert tokens_of(path) == run.vocabulary.tokens
