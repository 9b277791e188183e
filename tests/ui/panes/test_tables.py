"""Tables against Qt's model tester, what they draw and how wide, and the timeline plot with very many merges."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics

from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn, each_row
from wordpiece_studio.storage.project.contents import Run
from wordpiece_studio.training.engine import Candidate
from wordpiece_studio.ui.panes.scoreboard.candidates_view import PAIR, CandidatesView, Ranking
from wordpiece_studio.ui.panes.scoreboard.words_panel import PairWord, WordsPanel
from wordpiece_studio.ui.panes.timeline import timeline_plot
from wordpiece_studio.ui.panes.timeline.timeline_plot import Lane, TimelinePlot
from wordpiece_studio.ui.panes.tokenization.token_table import TokenModel
from wordpiece_studio.ui.panes.tokenization.why_here import Rung, WhyHere
from wordpiece_studio.ui.widgets.chips import ChipStyle, FlowItem
from wordpiece_studio.ui.widgets.plain import tooltip_text
from wordpiece_studio.ui.widgets.table import TableView

if TYPE_CHECKING:
    from pytestqt.modeltest import ModelTester
    from pytestqt.qtbot import QtBot

    from tests.ui.panes.conftest import Bench
    from wordpiece_studio.ui.widgets.theme import Theme


def candidate(value: float, *, is_tied: bool = False) -> Candidate:
    return Candidate("<b>", "##x", "<b>x", 1, 2, 3, value, is_tied)


def test_candidates(qtbot: QtBot, theme: Theme, qtmodeltester: ModelTester) -> None:
    view = CandidatesView(theme)
    qtbot.addWidget(view)
    candidates = [candidate(0.5, is_tied=True), candidate(0.5, is_tied=True), candidate(0.25)]
    view.show_ranking(Ranking(candidates, "score", 9), may_have_more=False)
    model = view.candidates
    qtmodeltester.check(model)
    assert view.ranking.tied_rows == 2
    assert [view.ranking.share(row) for row in range(3)] == [1, 1, 0.5]
    assert model.index(0, PAIR).data() == "<b> ##x"
    assert "<b>" not in model.index(0, PAIR).data(Qt.ItemDataRole.ToolTipRole)  # it is shown, not obeyed


def test_more_candidates_are_appended_and_others_are_not(
    qtbot: QtBot, theme: Theme, qtmodeltester: ModelTester
) -> None:
    view = CandidatesView(theme)
    qtbot.addWidget(view)
    model, candidates = view.candidates, [candidate(1 / n) for n in range(1, 8)]
    view.show_ranking(Ranking(candidates[:3], "score", 9), may_have_more=True)
    qtmodeltester.check(model)
    with qtbot.waitSignal(model.rowsInserted, timeout=0) as caught, qtbot.assertNotEmitted(model.modelReset):
        view.show_ranking(Ranking(candidates, "score", 9), may_have_more=True)
    assert caught.args[1:] == [3, 6]
    assert list(model.records) == candidates
    assert not view.ranking.goes_on_in(Ranking(candidates[1:], "score", 9))
    assert not view.ranking.goes_on_in(Ranking(candidates, "likelihood", 9))


def test_the_tables_of_the_tokenization(bench: Bench, qtmodeltester: ModelTester) -> None:
    pane = bench.show_tokenization()
    pane.options.table.click()
    bench.settle()
    models = pane.changes_view.model, pane.findChild(TokenModel)
    for model in models:
        qtmodeltester.check(model)
        assert model.rowCount() > 5
    for text in ("", "generate\nHugging", "Hug"):
        pane.set_text(text)
        bench.settle()
        bench.seek(bench.model.step - 5)


def test_bars_of_values_that_are_not_positive() -> None:
    assert Ranking([candidate(-1.0), candidate(-2.0)], "likelihood", 9).share(1) == 0


def test_words(qtbot: QtBot, theme: Theme, qtmodeltester: ModelTester) -> None:
    panel = WordsPanel(theme)
    qtbot.addWidget(panel)
    model = panel.words
    model.set_records([PairWord("<b>", 3, ("<", "##b", "##>"), ("<b", "##>"))])
    qtmodeltester.check(model)
    assert [model.index(0, column).data() for column in range(3)] == ["<b>", "×3", "< ##b ##> → <b ##>"]


def test_the_rungs_of_a_ladder(qtbot: QtBot, theme: Theme, qtmodeltester: ModelTester) -> None:
    why = WhyHere(theme, str)
    qtbot.addWidget(why)
    why.rungs.set_records([Rung("<b>", True, "2", "said <b>")])
    qtmodeltester.check(why.rungs)
    assert why.rungs.index(0, 0).data(Qt.ItemDataRole.ToolTipRole) == tooltip_text("said <b>")


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


def test_no_axis_strikes_the_text_of_an_empty_plot_through(qtbot: QtBot, theme: Theme) -> None:
    plot = TimelinePlot(theme, str)
    qtbot.addWidget(plot)
    image = plot.grab().toImage()
    assert {image.pixel(image.width() // 2, y) for y in range(image.height())} == {theme.surface.rgb()}


def test_lanes_are_measured_once_until_they_change(qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(None, None, None)
    lanes = [Lane(run, name, 1, "", np.ones(2), np.arange(3), "3 tokens") for name in ("A", "B")]
    measured: list[Any] = []
    monkeypatch.setattr(timeline_plot, "QFontMetrics", lambda font: measured.append(font) or QFontMetrics(font))
    plot = TimelinePlot(theme, str)
    qtbot.addWidget(plot)
    plot.resize(600, 200)
    plot.show()
    plot.set_curve(np.ones(2), np.ones(2))
    plot.set_lanes(lanes, 0)
    first, last = plot.x_of(0), plot.x_of(2)
    before = len(measured)
    assert (plot.x_of(0), plot.x_of(2), len(measured)) == (first, last, before)
    plot.resize(700, 200)
    assert (plot.x_of(0), plot.x_of(2)) == (first, last + 100)
    lanes[1].name = "A longer name"
    plot.set_lanes(lanes, 0)
    assert plot.x_of(0) > first


class Numbers(Sequence[int]):
    """A million numbers."""

    def __len__(self) -> int:
        return 1_000_000

    def __getitem__(self, row: Any) -> Any:
        return row


def table_of(
    qtbot: QtBot, theme: Theme, columns: Sequence[TableColumn[Any]], records: Sequence[Any], **how: Any
) -> TableView:
    rows: RecordTableModel[Any] = RecordTableModel(columns)
    rows.set_records(records)
    table = TableView(rows, theme, name="numbers", **how)
    rows.setParent(table)
    qtbot.addWidget(table)
    table.resize(500, 300)
    return table


def test_a_million_rows_are_selected_at_once(qtbot: QtBot, theme: Theme) -> None:
    table = table_of(qtbot, theme, [TableColumn("", each_row(str)) for _ in range(11)], Numbers(), several=True)
    began = time.thread_time()
    table.selectAll()
    table.grab()
    assert time.thread_time() - began < 5


def test_typing_letters_does_not_search_the_rows(qtbot: QtBot, theme: Theme) -> None:
    table = table_of(qtbot, theme, [TableColumn("", each_row(str))], "xy")
    qtbot.keyClicks(table, "y")
    assert not table.currentIndex().isValid()


def test_what_matters_least_goes_first_and_the_rest_is_shared(qtbot: QtBot, theme: Theme) -> None:
    def pixels(width: int) -> Any:
        return lambda _measure, _records: width

    columns = [
        TableColumn("", each_row(str), width=pixels(100)),
        TableColumn("", each_row(str), width=pixels(80), importance=2),
        TableColumn("", each_row(str), width=pixels(60), least=pixels(20), importance=3),
        TableColumn("", each_row(str), width=pixels(40), importance=1, stretch=1),
        TableColumn("", each_row(str), width=pixels(30), is_there=lambda records: len(records) > 2),
    ]
    table = table_of(qtbot, theme, columns, "xy")
    assert table.widths(300) == {0: 100, 1: 80, 2: 60, 3: 60}
    assert table.widths(250) == {0: 100, 1: 80, 2: 30, 3: 40}
    assert table.widths(230) == {0: 100, 1: 80, 2: 50}
    assert table.widths(190) == {0: 100, 2: 60}
    assert table.widths(50) == {0: 100}
    table.choose(frozenset({1, 3}))
    assert table.widths(50) == {1: 80, 3: 40}
    assert table.shown_columns() == {1, 3}


def test_a_cell_shows_the_longest_that_fits(qtbot: QtBot, theme: Theme) -> None:
    variants = [[FlowItem("abc", "chip"), FlowItem("a + bc")], [FlowItem("abc", "chip")]]
    column = TableColumn(
        "", each_row(str), chips=each_row(lambda _letter: [variants]), sign=each_row(lambda _letter: "†")
    )
    table = table_of(qtbot, theme, [column], "x")
    chip, index = ChipStyle(theme, -1).width("abc"), table.rows.index(0, 0)
    for width, texts in ((chip + 200, ["abc", "a + bc", "†"]), (chip + 30, ["abc", "†"]), (30, ["abc", "†"])):
        places = list(table.delegate.places(QRect(0, 0, int(width), 20), index))
        assert [item.text for _, item in places] == texts
        assert places[-1][0].right() <= width
    for width in (400, int(chip), 12):
        table.setColumnWidth(0, width)
        assert not table.grab().isNull()


def test_two_lines_of_chips_share_the_height_of_a_row(qtbot: QtBot, theme: Theme) -> None:
    lines = [[[FlowItem("abc", "chip")]], [[FlowItem("de", "chip")]]]
    table = table_of(qtbot, theme, [TableColumn("", each_row(str), chips=each_row(lambda _letter: lines))], "x")
    (upper, first), (lower, second) = table.delegate.places(QRect(0, 0, 200, 60), table.rows.index(0, 0))
    assert [first.text, second.text] == ["abc", "de"]
    assert upper.bottom() <= 30 <= lower.top()


def test_a_column_whose_width_was_dragged_may_go_away(qtbot: QtBot, theme: Theme) -> None:
    columns = [
        TableColumn("", each_row(str), align=LEFT, width="mmm", is_there=lambda letters: len(letters) > 1),
        TableColumn("", each_row(str), stretch=1),
    ]
    table = table_of(qtbot, theme, columns, "xy", is_adjustable=True)
    table.show()
    table.horizontalHeader().resizeSection(0, table.columnWidth(0) + 40)
    table.rows.set_records("x")
    assert table.shown_columns() == {1}


def test_a_width_that_is_dragged_stays_until_the_font_changes(qtbot: QtBot, theme: Theme) -> None:
    columns = [TableColumn("", each_row(str), align=LEFT, width="mmm"), TableColumn("", each_row(str), stretch=1)]
    table = table_of(qtbot, theme, columns, "x", is_adjustable=True)
    table.show()
    before = table.columnWidth(0)
    table.horizontalHeader().resizeSection(0, before + 40)
    table.resize(400, 300)
    qtbot.waitUntil(lambda: table.columnWidth(0) + table.columnWidth(1) == table.viewport().width())
    assert table.columnWidth(0) == before + 40
    table.restyle()
    assert table.columnWidth(0) == before + 40
    font = table.font()
    font.setPointSizeF(font.pointSizeF() - 1)
    table.setFont(font)
    assert table.columnWidth(0) < before + 40
