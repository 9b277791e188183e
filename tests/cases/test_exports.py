"""Case 65: what a spreadsheet would obey."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.corpus.count_tables import write_word_counts
from wordpiece_studio.corpus.counting.counting import read_word_counts
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.storage.merge_table import read_merge_table, write_merge_table
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")
FORMULAS = [f"{sign}1+cmd|calc" for sign in SIGNS]


def cells(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file, strict=True))


def is_obeyed(cell: str) -> bool:
    return cell[:1] in (*SIGNS[:-1], "\0")


@pytest.mark.case(65)
def test_no_token_of_a_merge_table_is_a_formula(tmp_path: Path, told: Callable[[object], str]) -> None:
    config = TrainingConfig(special_tokens=(), continuing_subword_prefix="")
    history = train(WordCounts.from_pairs([(word, 1) for word in FORMULAS]), config).history
    path = tmp_path / "merges.csv"
    write_merge_table(path, history)
    written = cells(path)
    dangerous = [token for merge in history for token in (merge.left, merge.right, merge.token) if is_obeyed(token)]
    assert {token[0] for token in dangerous} == set(SIGNS[:-1])
    texts = [cell for row in written[1:] for cell in row[1:4]]
    assert len(texts) == 3 * len(history)
    assert not [cell for cell in texts if is_obeyed(cell)]
    assert read_merge_table(path)["token"] == [merge.token for merge in history]
    apostrophes = sum(cell.startswith("'") for cell in texts)
    assert apostrophes >= len(dangerous)
    told(f"{apostrophes} cells of merges.csv have an apostrophe before them; read_merge_table takes it away")


@pytest.mark.case(65)
def test_no_word_of_a_count_table_is_a_formula(tmp_path: Path, told: Callable[[object], str]) -> None:
    counts = WordCounts.from_pairs([(word, number) for number, word in enumerate([*FORMULAS, "hug"], start=1)])
    path = tmp_path / "counts.csv"
    write_word_counts(path, counts)
    written = cells(path)
    assert written[0] == ["guarded_word", "count"]
    assert not [row for row in written if is_obeyed(row[0])]
    assert read_word_counts(path) == counts
    assert "guarded_word" in told(f"The first column is called {written[0][0]}; read_word_counts takes it away")


def test_a_table_without_formulas_is_an_ordinary_one(tmp_path: Path) -> None:
    write_word_counts(tmp_path / "counts.csv", WordCounts.from_pairs([("hug", 2), ("a=1", 1)]))
    assert (tmp_path / "counts.csv").read_bytes() == b"word,count\r\nhug,2\r\na=1,1\r\n"


def test_the_words_of_others_keep_their_apostrophes(tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text("word,count\n'tis,2\n")
    assert read_word_counts(tmp_path / "counts.csv").words == ["'tis"]
