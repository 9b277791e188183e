"""The small table models against Qt's model tester, and the timeline plot with very many merges."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QAbstractItemModel, QAbstractTableModel, QModelIndex, Qt

from wordpiece_studio.training.engine import Candidate
from wordpiece_studio.ui.panes.scoreboard.candidates_view import PAIR, CandidatesModel
from wordpiece_studio.ui.panes.scoreboard.words_panel import PairWord, WordsModel
from wordpiece_studio.ui.panes.timeline.timeline_plot import TimelinePlot
from wordpiece_studio.ui.panes.tokenization.token_table import ChangesModel, TokenModel
from wordpiece_studio.ui.panes.tokenization.why_here import LadderModel, Rung
from wordpiece_studio.ui.widgets.plain import tooltip_text
from wordpiece_studio.ui.widgets.quiet_table import QuietTable

if TYPE_CHECKING:
    from pytestqt.modeltest import ModelTester
    from pytestqt.qtbot import QtBot

    from tests.ui.panes.conftest import Bench
    from wordpiece_studio.ui.widgets.theme import Theme


def candidate(value: float, *, is_tied: bool = False) -> Candidate:
    return Candidate("<b>", "##x", "<b>x", 1, 2, 3, value, is_tied)


def test_candidates(qtmodeltester: ModelTester) -> None:
    model = CandidatesModel()
    candidates = [candidate(0.5, is_tied=True), candidate(0.5, is_tied=True), candidate(0.25)]
    model.show_candidates(candidates, "score", 9)
    qtmodeltester.check(model)
    assert model.tied_rows == 2
    assert [model.share(row) for row in range(3)] == [1, 1, 0.5]
    assert model.index(0, PAIR).data() == "<b> ##x"
    assert "<b>" not in model.index(0, PAIR).data(Qt.ItemDataRole.ToolTipRole)  # it is shown, not obeyed


def test_more_candidates_are_appended_and_others_are_not(qtmodeltester: ModelTester, qtbot: QtBot) -> None:
    model = CandidatesModel()
    candidates = [candidate(1 / n) for n in range(1, 8)]
    model.show_candidates(candidates[:3], "score", 9)
    qtmodeltester.check(model)
    with qtbot.waitSignal(model.rowsInserted, timeout=0) as caught, qtbot.assertNotEmitted(model.modelReset):
        assert model.show_candidates(candidates, "score", 9)
    assert caught.args[1:] == [3, 6]
    assert model.records == tuple(candidates)
    assert not model.show_candidates(candidates[1:], "score", 9)
    assert not model.show_candidates(candidates, "likelihood", 9)


@pytest.mark.parametrize("model_class", [ChangesModel, TokenModel])
def test_the_tables_of_the_tokenization(
    bench: Bench, qtmodeltester: ModelTester, model_class: type[QAbstractItemModel]
) -> None:
    pane = bench.show_tokenization()
    pane.options._table.click()
    bench.settle()
    model = pane.findChild(model_class)
    qtmodeltester.check(model)
    assert model.rowCount() > 5
    for text in ("", "generate\nHugging", "Hug"):
        pane.set_text(text)
        bench.settle()
        bench.seek(bench.model.step - 5)


def test_bars_of_values_that_are_not_positive() -> None:
    model = CandidatesModel()
    model.show_candidates([candidate(-1.0), candidate(-2.0)], "likelihood", 9)
    assert model.share(1) == 0


def test_words(qtmodeltester: ModelTester) -> None:
    model = WordsModel()
    model.set_records([PairWord("<b>", 3, ("<", "##b", "##>"), ("<b", "##>"))])
    qtmodeltester.check(model)
    assert [model.index(0, column).data() for column in range(3)] == ["<b>", "×3", "< ##b ##> → <b ##>"]


def test_the_rungs_of_a_ladder(qtmodeltester: ModelTester, theme: Theme) -> None:
    model = LadderModel(theme)
    model.set_records([Rung("<b>", True, "2", "said <b>")])
    qtmodeltester.check(model)
    assert model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole) == tooltip_text("said <b>")


@pytest.mark.slow
def test_300_000_merges_are_painted_at_once(qtbot: QtBot, theme: Theme) -> None:
    plot = TimelinePlot(theme, str)
    qtbot.addWidget(plot)
    plot.resize(1200, 120)
    values = np.random.default_rng(1).random(300_000)
    plot.set_curve(values, np.where(values > 0.5, 2, 1))
    plot.grab()
    began = time.thread_time()
    for step in range(0, 300_000, 10_000):
        plot.set_step(step)
        plot.grab()
    assert (time.thread_time() - began) / 30 < 1


class ManyRows(QAbstractTableModel):
    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else 1_000_000

    def columnCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else 11

    def data(self, _index: QModelIndex, _role: int = Qt.ItemDataRole.DisplayRole) -> None:
        return None


def test_a_million_rows_are_selected_at_once(qtbot: QtBot) -> None:
    table = QuietTable()
    qtbot.addWidget(table)
    table.setModel(ManyRows(table))
    table.setSelectionMode(QuietTable.SelectionMode.ExtendedSelection)
    table.resize(500, 300)
    began = time.thread_time()
    table.selectAll()
    table.grab()
    assert time.thread_time() - began < 5


def test_typing_letters_does_not_search_the_rows(qtbot: QtBot, theme: Theme) -> None:
    table = QuietTable()
    qtbot.addWidget(table)
    model = LadderModel(theme, table)
    model.set_records([Rung("x", False, "", ""), Rung("y", False, "", "")])
    table.setModel(model)
    qtbot.keyClicks(table, "y")
    assert not table.currentIndex().isValid()
