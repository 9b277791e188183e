"""The table of tokens: rows, order, filter, the step, and Qt's own test of item models."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QObject, QPersistentModelIndex, Qt

from tests.session.conftest import random_counts
from wordpiece_studio.session import table_model
from wordpiece_studio.session.table_model import VALUE_ROLE, RowsWanted
from wordpiece_studio.session.token_usage import TokenUsage
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.session.vocabulary_table import (
    SPECIAL_BIRTH,
    TokenNumbers,
    VocabularyColumn,
    VocabularyFilter,
    VocabularyItems,
    VocabularyTableModel,
)
from wordpiece_studio.training.config import TrainingConfig

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.modeltest import ModelTester
    from pytestqt.qtbot import QtBot

    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.session.vocabulary_table import Kind

UP, DOWN = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder
_Column = VocabularyColumn
KINDS: tuple[Kind, ...] = ("all", "special", "alphabet", "learned", "dead")


class Scene:
    """A training of 60 merges, its figures and the table."""

    def __init__(self, qtbot: QtBot, model: TrainerModel) -> None:
        self.qtbot, self.model = qtbot, model
        model.start(random_counts(5), TrainingConfig(max_merges=60))
        qtbot.waitUntil(lambda: model.state is TrainerState.FINISHED, timeout=20_000)
        model.last()
        self.usage = TokenUsage(model)
        self.table = VocabularyTableModel(model, self.usage)
        self._widget = QObject()

    def count(self) -> None:
        """Find the figures of the step and show them."""
        self.usage.set_wanted(self._widget, True)
        self.qtbot.waitUntil(lambda: self.usage.is_current, timeout=5000)
        self.usage.set_wanted(self._widget, False)
        self.table.show_usage()

    def seek(self, step: int) -> None:
        self.model.seek(step)
        self.table.show_step()

    def ids(self) -> list[int]:
        return [self.table.item_of_row(row) for row in range(self.table.rowCount())]


@pytest.fixture
def scene(qtbot: QtBot, model: TrainerModel) -> Iterator[Scene]:
    scene = Scene(qtbot, model)
    yield scene
    scene.usage.task.close()


def test_cells_say_what_the_history_says(scene: Scene) -> None:
    scene.count()
    history, usage, table = scene.model.history, scene.usage, scene.table
    assert table.rowCount() == history.vocabulary_size(60)
    for row in range(table.rowCount()):
        token = history.token(row)
        born = SPECIAL_BIRTH if row < 5 else history.birth_step(row)
        values = [table.index(row, column).data(VALUE_ROLE) for column in _Column]
        length = len(token if row < 5 else token.removeprefix("##"))
        figures = [int(usage.frequencies[row]), int(usage.word_counts[row])]
        assert values == [token, row, born, [], None, *figures, length, usage.reason(row)]


def test_cells_are_readable(scene: Scene) -> None:
    table = scene.table
    assert table.index(0, _Column.BORN).data() == "Special"
    assert table.index(6, _Column.BORN).data() == "Alphabet"
    assert table.index(table.rowCount() - 1, _Column.BORN).data() == "60"
    assert table.index(6, _Column.FREQUENCY).data() == "…"  # nothing is known yet
    scene.count()
    assert table.headerData(0, Qt.Orientation.Horizontal) == "Token"
    assert table.index(0, _Column.ID).data(Qt.ItemDataRole.TextAlignmentRole) & Qt.AlignmentFlag.AlignRight


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(scene: Scene, kind: Kind) -> None:
    scene.count()
    items, size = scene.table.source, scene.model.history.vocabulary_size(60)
    assert items is not None
    expected = {
        "all": range(size), "special": range(5), "alphabet": range(5, items.initial),
        "learned": range(items.initial, size), "dead": scene.usage.dead.nonzero()[0].tolist(),
    }  # fmt: skip
    scene.table.set_filter(VocabularyFilter(kind=kind))
    assert scene.ids() == list(expected[kind])


def test_numbers(scene: Scene) -> None:
    items = scene.table.source
    assert items is not None
    assert items.numbers(70) == TokenNumbers(5, items.initial - 5, 70 - items.initial, None)
    scene.count()
    assert items.numbers(70).dead == int(scene.usage.dead.sum())
    assert items.numbers(70).all == 70


@pytest.mark.parametrize("order", [UP, DOWN])
@pytest.mark.parametrize("column", [column for column in _Column if column is not _Column.SCORE])
def test_sorting_is_stable(scene: Scene, column: VocabularyColumn, order: Qt.SortOrder) -> None:
    scene.count()
    scene.table.sort(column, order)
    ids = scene.ids()
    assert sorted(ids) == list(range(scene.table.rowCount()))
    if column is _Column.REASON:
        keys = [int(scene.usage.dead[each]) for each in ids]
    else:
        keys = [scene.table.value(each, column) for each in ids]  # type: ignore[misc]
    assert keys == sorted(keys, reverse=order == DOWN)
    for left, right in zip(range(len(ids)), range(1, len(ids)), strict=False):
        if keys[left] == keys[right] and column not in (_Column.ID, _Column.BORN):
            assert ids[left] < ids[right]


def test_the_step_adds_and_removes_rows_in_any_order_and_filter(scene: Scene) -> None:
    chance = random.Random(1)
    history, items = scene.model.history, scene.table.source
    assert items is not None
    known = history.vocabulary_size(60)
    scene.count()
    for _ in range(60):
        chosen = VocabularyFilter(chance.choice(["", "a", "AB"]), kind=chance.choice(KINDS))
        column, order = chance.choice(list(_Column)), chance.choice([UP, DOWN])
        scene.table.set_filter(chosen)
        scene.table.sort(column, order)
        wanted = RowsWanted(known, scene.table.columns[column], order == DOWN, chosen)
        for _ in range(3):
            scene.seek(chance.randint(0, 60))
            size = history.vocabulary_size(scene.model.step)
            everything = VocabularyItems(history, scene.usage).ordered(wanted)
            assert scene.ids() == [each for each in everything.tolist() if each < size]
            for row, token_id in enumerate(scene.ids()):
                assert scene.table.row_of_item(token_id) == row
            assert scene.table.row_of_item(size) == scene.table.row_of_item(-1) == -1


def test_rows_that_stay_keep_their_selection(scene: Scene) -> None:
    scene.table.sort(_Column.TOKEN, DOWN)
    kept = QPersistentModelIndex(scene.table.index(scene.table.row_of_item(20), 2))
    gone = QPersistentModelIndex(scene.table.index(scene.table.row_of_item(scene.table.rowCount() - 1), 2))
    scene.seek(30)
    assert scene.table.item_of_row(kept.row()) == 20
    assert kept.column() == 2
    assert not gone.isValid()
    scene.table.sort(-1)
    assert kept.row() == 20


def test_new_tokens_of_a_longer_training_come(scene: Scene, qtbot: QtBot) -> None:
    scene.table.sort(_Column.TOKEN, UP)
    before = scene.table.rowCount()
    scene.model.train_further(max_merges=65)
    qtbot.waitUntil(lambda: scene.model.merge_count == 65, timeout=5000)
    scene.table.show_step()
    qtbot.waitUntil(lambda: scene.table.rowCount() > before)
    assert scene.table.rowCount() == scene.model.history.vocabulary_size(65)
    assert [scene.table.value(each, _Column.TOKEN) for each in scene.ids()] == sorted(
        scene.model.vocabulary_at(65).tokens
    )


def test_another_run(scene: Scene) -> None:
    scene.table.sort(_Column.TOKEN, DOWN)
    scene.model.forget()
    scene.table.show_step()
    assert (scene.table.rowCount(), scene.table.source) == (0, None)
    assert VocabularyTableModel(scene.model, scene.usage).rowCount() == 0


def test_qt_finds_no_fault(scene: Scene, qtmodeltester: ModelTester) -> None:
    table = VocabularyTableModel(scene.model, scene.usage)
    qtmodeltester.check(table)
    for column, order, kind in ((0, UP, "all"), (3, DOWN, "all"), (-1, UP, "learned"), (2, DOWN, "all")):
        table.set_filter(VocabularyFilter(kind=kind))  # type: ignore[arg-type]
        table.sort(column, order)
        for step in (60, 10, 35, 0, 60):
            scene.model.seek(step)
            table.show_step()
        table.set_filter(VocabularyFilter("a"))
        table.set_filter(VocabularyFilter())
    scene.count()
    table.show_usage()
    scene.model.forget()
    table.show_step()


def test_many_tokens_are_sorted_and_moved_through_quickly(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """100,000 tokens; the limits are twenty times what it takes, for busy machines."""
    count = 100_000
    tokens = [f"##t{n * 7919 % count}" for n in range(count)]
    table, history = scene.table, scene.model.history
    monkeypatch.setattr(VocabularyItems, "_all_tokens", lambda _self, size: tokens[:size])
    monkeypatch.setattr(history, "vocabulary_size", lambda step: count * step // 60 if step else 40)
    for column in _Column:
        began = time.process_time()
        table.sort(column, DOWN)
        scene.qtbot.waitUntil(lambda: not table.task.is_running, timeout=20_000)
        sorted_in = time.process_time() - began
        began = time.process_time()
        scene.seek(30)
        scene.seek(60)
        assert sorted_in < 20
        assert time.process_time() - began < 5
    assert table.rowCount() == count
    table.task.close()


# ---- the search


def test_only_the_latest_search_is_answered(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_model, "_AT_ONCE", 0)
    found: list[bool] = []
    scene.table.rows_found.connect(found.append)
    for text in ("a", "ab", "b$"):
        scene.table.set_filter(VocabularyFilter(text, is_pattern=True))
    assert scene.table.task.is_running
    scene.qtbot.waitUntil(lambda: not scene.table.task.is_running)
    assert found == [True]
    tokens = scene.model.vocabulary_at(60).tokens
    assert scene.ids() == [token_id for token_id, token in enumerate(tokens) if token.endswith("b")]
    scene.table.task.close()


@pytest.mark.parametrize(("pattern", "message"), [("(a", "missing )"), ("(?:a|b|ab|#)+[^ab]$", "takes too long")])
def test_an_expression_that_fails_shows_no_token(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, pattern: str, message: str
) -> None:
    everything = scene.ids()
    monkeypatch.setattr(table_model, "_MOST_SECONDS", -1.0)
    with scene.qtbot.waitSignal(scene.table.task.failed) as caught:
        scene.table.set_filter(VocabularyFilter(pattern, is_pattern=True))
    assert message in str(caught.args[0])
    assert scene.ids() == []
    scene.seek(30)
    scene.seek(60)
    assert scene.ids() == []
    scene.table.set_filter(VocabularyFilter())
    assert scene.ids() == everything
    scene.table.task.close()
