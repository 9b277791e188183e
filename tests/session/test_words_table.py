"""The table of words: splits at the step, changed words first, order, filter, and Qt's own test of item models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPersistentModelIndex, Qt

from tests.session.conftest import random_counts
from wordpiece_studio.session import table_model
from wordpiece_studio.session.table_model import VALUE_ROLE
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.session.words_table import RunWordsModel, WordColumn, WordsFilter
from wordpiece_studio.training.config import TrainingConfig

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.modeltest import ModelTester
    from pytestqt.qtbot import QtBot

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.trainer_model import TrainerModel

UP, DOWN = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder


class Scene:
    """A training and the table of its words."""

    def __init__(self, qtbot: QtBot, model: TrainerModel, counts: WordCounts) -> None:
        self.qtbot, self.model = qtbot, model
        model.start(counts, TrainingConfig(vocab_size=None, max_merges=60, objective="score"))
        qtbot.waitUntil(lambda: model.state is TrainerState.FINISHED, timeout=20_000)
        self.history = model.history
        self.table = RunWordsModel(model)
        model.set_after(True)
        self.seek(0)

    def seek(self, step: int) -> None:
        self.model.seek(step)
        self.table.show_step()
        self.settle()

    def settle(self) -> None:
        self.qtbot.waitUntil(lambda: not self.table.task.is_running, timeout=5000)

    def rows(self) -> list[tuple[str, int, tuple[str, ...]]]:
        table = self.table
        columns = list(WordColumn)[:3]
        return [
            tuple(table.index(row, column).data(VALUE_ROLE) for column in columns) for row in range(table.rowCount())
        ]

    def words(self) -> list[str]:
        return [row[0] for row in self.rows()]

    def expected(self, step: int, key: object = None) -> list[str]:
        """Return all words as they must be ordered: those that the step changed first, then by count or `key`."""
        changed = set(self.history.words_touched(step - 1)) if step else set()
        weights = dict(zip(self.history.input.words, self.history.input.weights.tolist(), strict=True))
        order = key or (lambda word: -weights[word])
        return sorted(self.history.input.words, key=lambda word: (word not in changed, order(word)))


@pytest.fixture
def hug(qtbot: QtBot, model: TrainerModel, hugs: WordCounts) -> Iterator[Scene]:
    scene = Scene(qtbot, model, hugs)
    yield scene
    scene.table.task.close()


@pytest.fixture
def scene(qtbot: QtBot, model: TrainerModel) -> Iterator[Scene]:
    scene = Scene(qtbot, model, random_counts(3))
    yield scene
    scene.table.task.close()


def test_every_word_has_its_count_and_its_split(hug: Scene) -> None:
    assert hug.rows() == [
        ("pun", 12, ("p", "##u", "##n")),
        ("hug", 10, ("h", "##u", "##g")),
        ("pug", 5, ("p", "##u", "##g")),
        ("hugs", 5, ("h", "##u", "##g", "##s")),
        ("bun", 4, ("b", "##u", "##n")),
    ]
    hug.seek(3)
    assert hug.rows()[0] == ("hugs", 5, ("hugs",))
    assert hug.table.changed_rows == 1
    assert hug.table.index(1, WordColumn.SPLIT).data() == "p ##u ##n"
    assert hug.table.headerData(WordColumn.SPLIT, Qt.Orientation.Horizontal) == "After merge 3"
    spoken = [hug.table.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(2)]
    assert spoken == ["hugs, changed by this step", "pun"]


def test_before_a_merge_words_are_those_that_it_was_chosen_from(hug: Scene) -> None:
    hug.model.set_after(False)
    hug.seek(2)
    assert hug.table.headerData(WordColumn.SPLIT, Qt.Orientation.Horizontal) == "Before merge 2"
    assert hug.rows()[:2] == [("hug", 10, ("h", "##u", "##g")), ("hugs", 5, ("h", "##u", "##gs"))]
    assert hug.table.source.marked(0) == ([True, True, False], [])
    hug.table.sort(-1)  # the order of the text says which of tied pairs is first: no word goes before others
    assert hug.words() == list(hug.history.input.words)
    hug.model.set_after(True)
    hug.seek(2)
    assert hug.rows()[:2] == [("hug", 10, ("hu", "##g")), ("hugs", 5, ("hu", "##gs"))]
    assert hug.table.source.marked(0) == ([], [True, False])


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [10, 40_000])
def test_changed_words_come_first_in_every_order(scene: Scene, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(table_model, "_AT_ONCE", at_once)
    for step in range(61):
        scene.seek(step)
        assert scene.words() == scene.expected(step)
        for word, _, split in scene.rows():
            assert list(split) == scene.history.segmentation(word, step)
    scene.table.sort(WordColumn.WORD, UP)
    scene.settle()
    for step in (60, 7, 0):
        scene.seek(step)
        assert scene.words() == scene.expected(step, lambda word: word)
    scene.table.sort(WordColumn.SPLIT, UP)
    scene.settle()
    for step in (0, 8, 60):
        scene.seek(step)
        lengths = [len(row[2]) for row in scene.rows()]
        first = scene.table.changed_rows
        assert lengths[:first] == sorted(lengths[:first])
        assert lengths[first:] == sorted(lengths[first:])


@pytest.mark.parametrize("at_once", [10, 40_000])
def test_only_words_with_the_text_and_the_token(scene: Scene, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(table_model, "_AT_ONCE", at_once)
    token = scene.history.token(int(scene.history.column("new_id")[4]))
    for step in (5, 60, 3, 6):
        scene.table.set_filter(WordsFilter("A", token))
        scene.seek(step)
        assert scene.words() == []
        scene.table.set_filter(WordsFilter("a", token))
        scene.settle()
        segmentation = scene.history.segmentation
        assert scene.words() == [w for w in scene.expected(step) if "a" in w and token in segmentation(w, step)]


def test_a_row_stays_on_its_word(scene: Scene) -> None:
    index = QPersistentModelIndex(scene.table.index(11, 0))
    word = index.data()
    scene.seek(9)
    assert index.data() == word
    assert scene.table.row_of_word(word) == index.row()
    assert scene.table.row_of_word("no such word") == -1


def test_a_new_run_replaces_the_words(hug: Scene) -> None:
    hug.table.forget()
    assert hug.table.rowCount() == 0
    hug.model.start(random_counts(8), TrainingConfig(max_merges=2))
    hug.qtbot.waitUntil(lambda: hug.model.state is TrainerState.FINISHED, timeout=20_000)
    hug.history = hug.model.history
    hug.seek(1)
    assert hug.words() == hug.expected(1)


def test_before_a_training_words_are_split_into_symbols(qtbot: QtBot, model: TrainerModel, hugs: WordCounts) -> None:
    table = RunWordsModel(model)
    table.show_step()
    assert table.source is None
    table.show_step((hugs, TrainingConfig(vocab_size=5, end_of_word_suffix="_")))
    qtbot.waitUntil(lambda: table.rowCount() == 5, timeout=5000)
    assert [table.index(row, 0).data() for row in range(5)] == ["pun", "hug", "pug", "hugs", "bun"]
    assert table.index(0, WordColumn.SPLIT).data() == "p ##u ##n ##_"
    shown = table.source
    table.show_step((hugs, TrainingConfig()))
    assert table.source is shown
    table.sort(WordColumn.SPLIT, DOWN)
    qtbot.waitUntil(lambda: table.index(0, 0).data() == "hugs", timeout=5000)
    model.start(hugs, TrainingConfig(max_merges=1))
    qtbot.waitUntil(lambda: model.state is TrainerState.FINISHED, timeout=20_000)
    table.show_step((hugs, TrainingConfig()))
    assert table.source is not shown
    table.task.close()


@pytest.mark.parametrize("column", [WordColumn.COUNT, -1])
def test_words_that_cannot_be_split_are_reported(
    qtbot: QtBot, model: TrainerModel, hugs: WordCounts, column: int
) -> None:
    table = RunWordsModel(model)
    table.sort(column)
    with qtbot.waitSignal(table.task.failed, timeout=5000):
        table.show_step((hugs, TrainingConfig(alphabet_limit=1, alphabet_overflow="unk")))
    assert table.rowCount() == 0
    table.task.close()


def test_words_touched_are_each_named_once(scene: Scene) -> None:
    segmentations = scene.history.places
    for index in range(len(scene.history)):
        places = scene.history.positions(index)
        assert segmentations.distinct_words_at(places).tolist() == np.unique(segmentations.words_at(places)).tolist()


def test_qt_accepts_the_model_before_a_training(
    qtbot: QtBot, model: TrainerModel, hugs: WordCounts, qtmodeltester: ModelTester
) -> None:
    table = RunWordsModel(model)
    qtmodeltester.check(table)
    for counts in (hugs, random_counts(8), hugs):
        table.show_step((counts, TrainingConfig()))
        qtbot.waitUntil(lambda counts=counts: table.rowCount() == len(counts), timeout=5000)
    table.task.close()


def test_qt_accepts_the_model(scene: Scene, qtmodeltester: ModelTester) -> None:
    table = RunWordsModel(scene.model)
    qtmodeltester.check(table)
    for step in (0, 3, 4, 60, 59):
        scene.model.seek(step)
        table.show_step()
        table.set_filter(WordsFilter("b" if step % 2 else ""))
    table.sort(WordColumn.SPLIT, DOWN)
    table.forget()
    table.show_step()
    table.task.close()


def test_a_token_is_looked_for_in_the_words_of_another_run_too(hug: Scene, hugs: WordCounts) -> None:
    hug.seek(2)
    hug.table.set_filter(WordsFilter(token="p"))
    hug.settle()
    assert set(hug.words()) == {"pug", "pun"}
    hug.model.start(hugs, TrainingConfig(vocab_size=None, max_merges=2, objective="count"))
    hug.qtbot.waitUntil(lambda: hug.model.state is TrainerState.FINISHED, timeout=20_000)
    hug.seek(1)
    assert set(hug.words()) == {"pug", "pun"}
