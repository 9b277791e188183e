"""The charts: what they show, and that they follow and move step and selection."""

from __future__ import annotations

import subprocess
import sys
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from pyqtgraph import PlotCurveItem, TextItem
from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QColor, QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QLabel, QTabWidget

from tests.sampling import some_pairs
from tests.ui.color_vision import contrast
from tests.ui.panes.conftest import changes_at
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.usage import symbols_at
from wordpiece_studio.session.chart_source import ChartSource
from wordpiece_studio.session.live_text import LiveChanges, TextSummary
from wordpiece_studio.session.measuring import HeldOutFigure
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.ui.panes.charts.chart import Axis, Dots, Line, Rule, StepChart, sampled
from wordpiece_studio.ui.panes.charts.charts_pane import ChartsPane, all_charts
from wordpiece_studio.ui.panes.charts.plot import ChartView, chart_picture
from wordpiece_studio.ui.widgets.plain import entry_at
from wordpiece_studio.ui.widgets.theme import LOOKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.ui.panes.conftest import Bench
    from wordpiece_studio.session.chart_source import Curve
    from wordpiece_studio.ui.widgets.theme import Colors

VALUE, SYMBOLS, FERTILITY, LENGTHS, ZIPF, IN_USE = range(6)
ALL = len(all_charts())


class Usage(QObject):
    """Token usage, set by the test."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.step: int | None = None
        self.frequencies = self.in_use = np.zeros(0, dtype=np.int64)
        self.is_counting = True
        self.wanted = False

    def set_wanted(self, _widget: object, wanted: bool) -> None:
        self.wanted = wanted

    def tell(self, step: int, frequencies: list[int], in_use: Sequence[int] = (5, 4)) -> None:
        self.step, self.frequencies = step, np.array(frequencies, dtype=np.int64)
        self.in_use = np.array(in_use, dtype=np.int64)
        self.changed.emit()


class Judging(QObject):
    """What is known of held-out text, set by the test."""

    changed = Signal()
    figures: dict[str, float] | None = None

    def tell(self, figures: dict[str, float] | None) -> None:
        self.figures = figures
        self.changed.emit()


class Charts:
    """A pane and its inputs."""

    def __init__(self, bench: Bench, width: int = 420, height: int = 300) -> None:
        self.bench, self.model = bench, bench.model
        self.usage, self.changes, self.judging = Usage(), LiveChanges(), Judging()
        self.session = SimpleNamespace(model=bench.model, usage=self.usage, changes=self.changes, judging=self.judging)
        self.pane = bench.show(lambda _model, theme: ChartsPane(self.session, theme), width, height)

    def choose(self, index: int) -> ChartView:
        self.pane.choose(index)
        self.bench.settle()
        return self.pane.charts[0]

    def press(self, chart: ChartView, x: float, y: float = 0.0) -> None:
        place = chart.plot.place_of(x, y).toPoint()
        self.bench.qtbot.mouseClick(chart.plot.viewport(), Qt.MouseButton.LeftButton, pos=place)

    def hover(self, chart: ChartView, x: float) -> None:
        place = QPoint(chart.plot.place_of(x, 0).toPoint().x(), chart.plot.height() // 2)
        self.bench.qtbot.mouseMove(chart.plot.viewport(), place - QPoint(40, 0))
        self.bench.qtbot.mouseMove(chart.plot.viewport(), place)


def curves(chart: ChartView) -> list[Curve]:
    return [shape.curve for shape in chart.plot.shapes if isinstance(shape, Line)]


def dots(chart: ChartView, symbol: str, color: str) -> list[tuple[float, float]]:
    """Return the points of one kind."""
    found = [shape for shape in chart.plot.shapes if isinstance(shape, Dots)]
    kind = [shape for shape in found if (shape.symbol, shape.color) == (symbol, color)]
    return [point for shape in kind for point in zip(shape.x, shape.y, strict=True)]


def rule(chart: ChartView, color: str) -> float | None:
    """Return where a vertical line is: that of the step is in the color of text, that of a creation accented."""
    rules = [shape for shape in chart.plot.shapes if isinstance(shape, Rule)]
    return next((shape.x for shape in rules if shape.stroke.color == color), None)


def items(chart: ChartView, kind: type) -> list[Any]:
    """Return what is seen of a kind."""
    return [item for item in chart.plot.scene().items() if isinstance(item, kind) and item.isVisible()]


@pytest.fixture
def charts(bench: Bench) -> Charts:
    bench.model.seek(12)
    return Charts(bench)


# -- what is shown


def test_nothing_is_trained_yet(empty_bench: Bench) -> None:
    charts = Charts(empty_bench)
    for index in (VALUE, LENGTHS, ZIPF):
        assert charts.choose(index).sentence.text() == "Nothing has been trained yet. Train to see the charts here."
    with pytest.raises(StudioError, match="no chart to save"):
        charts.pane.picture("png")


def test_help_on_the_choice_is_about_the_chart_that_is_shown(charts: Charts) -> None:
    entries = []
    for index in range(len(all_charts())):
        charts.choose(index)
        entries.append(entry_at(charts.pane.choice, QPoint(-1, -1)))
    assert entries == [chart.entry for chart in all_charts()]
    assert "fertility" in entries


def test_a_run_without_a_merge_has_no_charts(empty_bench: Bench) -> None:
    empty_bench.train(vocab_size=45)
    assert (
        Charts(empty_bench).choose(VALUE).sentence.text()
        == "No merges yet. The charts appear here after the first one."
    )


def test_the_readout_gives_the_value_of_the_step(charts: Charts) -> None:
    chart = charts.choose(VALUE)
    assert chart.readout == "Merge 12: score 0.1667 · ch + ##a → cha · tie of 2"
    assert chart.accessibleName() == "Merge score"
    assert chart.accessibleDescription().startswith("Merge score\n25 merges\nMerge 12: score 0.1667")
    assert charts.pane.hints[0] == "After merge 12 of 25"


def test_every_merge_is_on_the_curve_and_every_tie_has_a_mark(charts: Charts) -> None:
    chart = charts.choose(VALUE)
    history = charts.model.history
    x, y, _ = curves(chart)[0]
    assert x.tolist() == list(range(1, 26))
    assert np.allclose(10.0**y, [merge.value for merge in history])
    assert [x for x, _ in dots(chart, "t1", "tie")] == [merge.step for merge in history if merge.ties > 1]


def test_vocabulary_against_symbols(charts: Charts) -> None:
    chart = charts.choose(SYMBOLS)
    assert chart.readout == "After merge 12: 57 tokens, 156 symbols in the corpus"
    x, y, _ = curves(chart)[0]
    assert (x[0], y[0], x[-1], y[-1]) == (45, 171, 70, charts.model.history.symbols_after(25))


def test_tokens_per_word_of_corpus_and_live_text(charts: Charts) -> None:
    chart = charts.choose(FERTILITY)
    assert chart.readout == "After merge 12: 4.333 tokens per word in the corpus"  # 156 symbols, 36 words
    assert charts.model.history.input.weights.sum() == 36
    charts.changes.set_rows(changes_at((3, -2), (14, -4), start=TextSummary(words=8, tokens=26)))
    charts.bench.wait(lambda: chart.readout.endswith(", 3 in the live text"))
    x, y, _ = curves(chart)[1]
    assert (x[0], y[0], x[-1], y[-1]) == (0, 26 / 8, 25, 20 / 8)
    charts.bench.seek(14)
    assert chart.readout.endswith(", 2.500 in the live text")
    charts.judging.tell({"score": HeldOutFigure(5.25), "count": HeldOutFigure(4.0)})
    charts.bench.wait(lambda: dots(chart, "o", "accent_ink") == [(25, 5.25)])
    assert chart.drawing.y.range[1] > 5.25
    charts.bench.seek(25)
    assert chart.readout.endswith(", 2.500 in the live text, 5.250 in held-out text")
    charts.changes.set_rows(changes_at())
    charts.bench.wait(lambda: chart.readout.endswith(" tokens per word in the corpus, 5.250 in held-out text"))
    charts.judging.tell({"score": HeldOutFigure(5.25, 0.5)})
    charts.bench.wait(lambda: chart.readout.endswith(", 5.250 (50.0% unknown) in held-out text"))
    charts.judging.tell(None)
    charts.bench.wait(lambda: not dots(chart, "o", "accent_ink"))


def test_lengths_of_the_vocabulary_at_the_step(charts: Charts) -> None:
    chart = charts.choose(LENGTHS)
    vocabulary = charts.model.vocabulary_at(12)
    learned = [len(token.removeprefix("##")) for token in vocabulary.tokens[45:]]
    assert chart.drawing.data[0].sum() == 12
    assert chart.drawing.data[0].tolist() == np.bincount(learned).tolist()
    assert chart.drawing.data[1].tolist()[:2] == [0, 40]
    for length, name in ((1, "1 character"), (2, "2 characters")):
        chart.point_at(float(length))
        learned_tokens = "1 learned token" if learned.count(length) == 1 else f"{learned.count(length)} learned tokens"
        in_alphabet = int(chart.drawing.data[1][length])
        assert chart.readout == f"{name} · {learned_tokens} · {in_alphabet} in the alphabet"
    chart.point_at(None)
    charts.model.seek(0)
    charts.bench.wait(lambda: chart.readout == "After merge 0: no tokens learned yet")


def test_zipf_waits_for_counting_and_follows_it(charts: Charts) -> None:
    chart = charts.choose(ZIPF)
    assert charts.usage.wanted
    assert chart.sentence.text() == "Counting how often tokens are used…"
    frequencies = token_frequencies(charts)
    charts.usage.tell(12, frequencies)
    charts.bench.wait(lambda: chart.drawing is not None)
    best = int(np.argmax(frequencies))
    token = charts.model.history.token(best)
    assert chart.readout.startswith(f"After merge 12: {token} has rank 1 of ")
    charts.model.seek(13)
    charts.bench.wait(lambda: chart.readout.endswith(" times · counting…"))
    charts.usage.tell(13, np.minimum(frequencies, 1))
    charts.bench.wait(lambda: chart.readout.endswith(", used once"))
    charts.choose(VALUE)
    assert not charts.usage.wanted


def test_tokens_in_use_as_far_as_they_are_counted(charts: Charts) -> None:
    chart = charts.choose(IN_USE)
    assert charts.usage.wanted
    assert chart.sentence.text() == "Counting how often tokens are used…"
    charts.usage.tell(12, [1], [*range(40, 53), 52, 51])
    charts.bench.wait(lambda: chart.readout == "After merge 12: 52 tokens in use (+1)")
    assert [values.tolist() for values in curves(chart)[0][:2]] == [list(range(15)), [*range(40, 53), 52, 51]]
    charts.bench.seek(13)
    assert chart.readout == "After merge 13: 52 tokens in use (±0)"
    charts.bench.seek(14)
    assert chart.readout == "After merge 14: 51 tokens in use (−1)"
    charts.bench.seek(0)
    assert chart.readout == "After merge 0: 40 tokens in use"
    charts.bench.seek(15)
    assert chart.readout == "Counting…"


def token_frequencies(charts: Charts) -> list[int]:
    """Count how longest match tokenizes the corpus, in the simplest way."""
    model = charts.model
    tokenizer = model.tokenizer_at(12)
    assert isinstance(tokenizer, Tokenizer)
    found = [0] * len(model.vocabulary_at(12))
    for word, weight in zip(model.history.input.words, model.history.input.weights.tolist(), strict=True):
        for token in tokenizer.explain(word).tokens:
            found[model.vocabulary_at(12).id_of(token)] += weight
    return found


def test_a_chart_more_is_one_description(charts: Charts) -> None:
    chart = StepChart(
        "Saved", "saved", "symbol", "What merging saves", title="Symbols saved",
        y=lambda _source: Axis("Symbols", "whole", "thousands"),
        series=(sampled(lambda history, steps: history.symbols_after(0) - symbols_at(history, steps)),),
        figures=lambda source, step: f"{step} of {source.count}",
    )  # fmt: skip
    source = ChartSource(charts.session)
    view = ChartView(chart, source, LOOKS["dark"], charts.pane)
    view.resize(400, 300)
    view.show()
    view.refresh()
    assert view.readout == "12 of 25"
    assert view.accessibleDescription() == "Symbols saved\n25 merges\n12 of 25"
    assert view.drawing.y.caption == "Symbols (thousands)"
    assert curves(view)[0].y[[0, 12]].tolist() == [0, 171 - 156]
    assert rule(view, "text") == 12
    charts.press(view, 20, 5)
    assert charts.model.step == 20
    assert b">Symbols saved</text>" in chart_picture([view], "svg")


# -- the step


@pytest.mark.parametrize(("index", "x", "step"), [(VALUE, 7, 7), (FERTILITY, 20, 20), (SYMBOLS, 50, 5)])
def test_a_press_on_a_chart_goes_to_the_step(charts: Charts, index: int, x: float, step: int) -> None:
    chart = charts.choose(index)
    low, high = chart.drawing.y.range
    charts.press(chart, x, (low + high) / 2)
    assert charts.model.step == step
    assert rule(chart, "text") == pytest.approx(x)


def test_dragging_goes_through_the_steps(charts: Charts) -> None:
    chart = charts.choose(VALUE)
    viewport, qtbot = chart.plot.viewport(), charts.bench.qtbot
    places = [QPoint(chart.plot.place_of(step, 0).toPoint().x(), 60) for step in (5, 9, 60)]
    qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, pos=places[0])
    seen = [charts.model.step]
    for place in places[1:]:
        qtbot.mouseMove(viewport, place)
        seen.append(charts.model.step)
    qtbot.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=places[2])
    assert seen == [5, 9, 25]


def test_a_chart_that_is_about_to_be_drawn_again_still_answers(charts: Charts) -> None:
    chart = charts.choose(VALUE)
    charts.usage.changed.emit()  # of which this chart shows nothing
    charts.press(chart, 7, 0)
    assert charts.model.step == 7


def test_the_marks_follow_the_step_in_the_same_frame(charts: Charts) -> None:
    chart = charts.choose(VALUE)
    charts.model.seek(20)
    assert rule(chart, "text") == 20
    assert chart.readout.startswith("Merge 20: ")


def test_pointing_shows_the_figures_there_and_leaves_the_step(charts: Charts) -> None:
    chart = charts.choose(VALUE)
    charts.hover(chart, 4)
    assert chart.readout.startswith("Merge 4: score 0.5")
    assert charts.model.step == 12
    assert "\nMerge 12: score 0.1667" in chart.accessibleDescription()


def test_keys_move_the_step(charts: Charts) -> None:
    chart, key = charts.choose(VALUE), Qt.Key
    steps = {key.Key_Left: 11, key.Key_Right: 12, key.Key_PageDown: 22, key.Key_Home: 0, key.Key_End: 25}
    for pressed, step in steps.items():
        charts.bench.qtbot.keyClick(chart, pressed)
        assert charts.model.step == step


# -- the selection


def test_the_birth_of_the_selected_token_is_marked_at_once(charts: Charts) -> None:
    chart = charts.choose(VALUE)
    for selection in (
        Selection("token", text="Th"),
        Selection("pair", left="T", right="##h"),
        Selection("word", text="Th"),
    ):
        charts.model.set_selection(None)
        assert rule(chart, "accent_ink") is None
        charts.model.set_selection(selection)
        assert rule(chart, "accent_ink") == 9
        assert "Th was created at step 9" in chart.accessibleDescription()


def test_a_token_of_the_alphabet_has_no_birth(charts: Charts) -> None:
    chart = charts.choose(VALUE)
    charts.model.set_selection(Selection("token", text="T"))
    assert rule(chart, "accent_ink") is None


def test_zipf_marks_the_selection_and_sets_it(charts: Charts) -> None:
    charts.usage.tell(12, token_frequencies(charts))
    chart = charts.choose(ZIPF)
    charts.press(chart, np.log10(2), 0.5)
    second = charts.model.history.token(int(chart.drawing.data.ids[1]))
    assert charts.model.selection == Selection("token", text=second)
    assert chart.readout.startswith(f"After merge 12: {second} has rank 2")
    charts.bench.qtbot.keyClick(chart, Qt.Key.Key_Right)
    assert charts.model.selection == Selection("token", text=charts.model.history.token(int(chart.drawing.data.ids[2])))


# -- room


def test_a_large_pane_shows_all_charts_and_a_small_one_a_single_one(bench: Bench) -> None:
    charts = Charts(bench, 960, 900)
    assert len(charts.pane.charts) == len(all_charts())
    charts.pane.resize(420, 300)
    charts.bench.settle()
    assert [chart.accessibleName() for chart in charts.pane.charts] == ["Merge score"]


def test_a_pane_behind_a_tab_makes_no_charts(bench: Bench) -> None:
    tabs = bench.show(lambda _model, _theme: QTabWidget())
    session = SimpleNamespace(model=bench.model, usage=Usage(), changes=LiveChanges(), judging=Judging())
    pane = ChartsPane(session, bench.theme)
    tabs.addTab(QLabel(), "another")
    tabs.addTab(pane, "charts")
    bench.seek(3)
    assert not pane.charts
    tabs.setCurrentIndex(1)
    bench.wait(lambda: bool(pane.charts) and pane.charts[0].readout.startswith("Merge 3: "))


def test_a_hidden_pane_requests_no_figures(bench: Bench) -> None:
    charts = Charts(bench, 960, 900)
    assert charts.usage.wanted
    charts.pane.hide()
    assert not charts.usage.wanted


def test_another_run_is_redrawn(charts: Charts) -> None:
    chart = charts.choose(VALUE)
    charts.bench.train(["unaffable people are affable and unable to be people"], vocab_size=60)
    charts.bench.wait(lambda: len(curves(chart)[0].x) == charts.model.merge_count != 25)


def test_the_charts_have_the_colors_of_the_theme(charts: Charts) -> None:
    chart, theme = charts.choose(VALUE), charts.bench.theme
    for look in ("dark", "contrast", "light"):
        theme.set_choice(look)
        charts.bench.wait(lambda: theme.accent in [item.opts["pen"].color() for item in items(chart, PlotCurveItem)])
        assert chart.plot.backgroundBrush().color() == theme.surface


@pytest.mark.parametrize("colors", LOOKS.values(), ids=LOOKS)
def test_curves_marks_and_labels_stand_out_from_the_background(colors: Colors) -> None:
    for line in (colors.accent, colors.tie_text, colors.text, colors.muted):
        assert contrast(line, colors.surface) >= 3  # WCAG 2.2, 1.4.11
    for label in (colors.accent_ink, colors.tie_text, colors.muted):
        assert contrast(label, colors.surface) >= 4.5


# -- room


def cut_labels(chart: ChartView) -> list[str]:
    """Return the labels with letters outside the plot, where they are cut off."""
    plot, cut = chart.plot.plot_rect().adjusted(-1, -1, 1, 1), []
    for item in items(chart, TextItem):
        edge = item.textItem.document().documentMargin()
        if not plot.contains(item.textItem.sceneBoundingRect().adjusted(edge, edge, -edge, -edge)):
            cut.append(item.toPlainText())
    return cut


@pytest.mark.slow
@some_pairs(("size", "points"), [(300, 110), (300, 180), (420, 300), (1200, 140)], [16, 7])
def test_no_label_is_cut_off_at_any_size(bench: Bench, size: tuple[int, int], points: int) -> None:
    bench.train(vocab_size=150)
    charts = Charts(bench, *size)
    charts.changes.set_rows(changes_at((3, -1), start=TextSummary(words=2, tokens=10)))
    charts.pane.setStyleSheet(f"* {{ font-size: {points}pt; }}")
    charts.usage.tell(len(bench.model.history), list(range(100, 0, -1)))
    cut = {}
    for token in ("##e", bench.model.history[-1].token, bench.model.history[0].token):
        bench.model.set_selection(Selection("token", text=token))
        for index in (VALUE, SYMBOLS, FERTILITY, LENGTHS, ZIPF, IN_USE):
            cut |= {(index, token): found} if (found := cut_labels(charts.choose(index))) else {}
    assert not cut


def test_the_caption_names_what_is_drawn(bench: Bench) -> None:
    bench.train(vocab_size=150)
    charts = Charts(bench)
    assert charts.choose(LENGTHS).drawing.y.caption == "Tokens   ■ Learned   □ Alphabet"
    charts.changes.set_rows(changes_at((3, -2), start=TextSummary(words=8, tokens=26)))
    caption = "Tokens per word   — Training corpus   - - Live text"
    bench.wait(lambda: charts.choose(FERTILITY).drawing.y.caption == caption)


@pytest.mark.slow
def test_the_line_of_figures_is_hidden_completely(bench: Bench) -> None:
    charts = Charts(bench, 420, 300)
    chart = charts.choose(VALUE)
    readout = chart.findChildren(QLabel)[-1]
    for height in range(300, 60, -7):
        charts.pane.resize(420, height)
        bench.settle()
        seen = readout.visibleRegion().boundingRect().height() if readout.isVisible() else 0
        assert seen in (0, readout.fontMetrics().height())
    assert not seen


# -- pictures


@pytest.mark.slow
@pytest.mark.parametrize("index", [VALUE, ALL])
def test_pictures_are_white_and_have_title_and_axes(bench: Bench, index: int) -> None:
    bench.theme.set_choice("dark")
    charts = Charts(bench, 960, 900)
    charts.pane.choose(index)
    charts.bench.settle()
    image = QImage.fromData(charts.pane.picture("png"), "PNG")
    assert image.width() >= 1900
    assert image.pixelColor(2, 2) == QColor("white")
    drawing = charts.pane.picture("svg")
    renderer = QSvgRenderer(drawing)
    assert renderer.isValid()
    for text in (b">Merge score</text>", b">Merge</text>", b">0.2</text>", b">20</text>"):
        assert text in drawing
    assert LOOKS["light"].muted.name().encode() in drawing
    assert LOOKS["dark"].muted.name().encode() not in drawing
    assert b"<image" not in drawing


@pytest.mark.parametrize("index", [VALUE, SYMBOLS, FERTILITY, LENGTHS, ZIPF, IN_USE])
def test_the_drawing_of_a_single_merge_has_no_empty_path(empty_bench: Bench, index: int) -> None:
    empty_bench.model.start(WordCounts.from_pairs([("ab", 5)]), TrainingConfig())
    empty_bench.wait(lambda: empty_bench.model.state is TrainerState.FINISHED)
    charts = Charts(empty_bench)
    charts.usage.tell(1, [0] * 7 + [5])
    assert charts.choose(index).drawing is not None
    drawing = charts.pane.picture("svg")
    assert b' d=""' not in drawing
    assert QSvgRenderer(drawing).isValid()


def test_a_token_that_looks_like_markup_is_shown_literally(empty_bench: Bench) -> None:
    token = "<img src=x>"
    empty_bench.model.start(WordCounts.from_pairs([(token, 5)]), TrainingConfig(objective="count"))
    empty_bench.wait(lambda: empty_bench.model.state is TrainerState.FINISHED)
    empty_bench.model.last()
    empty_bench.model.set_selection(Selection("token", text=token))
    charts = Charts(empty_bench)
    chart = charts.choose(VALUE)
    assert [label.toPlainText() for label in items(chart, TextItem)] == [token]
    assert chart.readout.endswith(f"→ {token}")
    assert {label.textFormat() for label in chart.findChildren(QLabel)} == {Qt.TextFormat.PlainText}
    assert charts.pane.picture("svg").count(b"&lt;img src=x&gt;") == 2  # in the line of figures, and at its birth


# -- what it must leave alone


def test_pyqtgraph_installs_no_hook(charts: Charts) -> None:
    charts.choose(VALUE)
    assert "pyqtgraph" in sys.modules
    for hook in (sys.excepthook, threading.excepthook):
        assert "pyqtgraph" not in str(getattr(hook, "__module__", ""))


_HIDDEN = """
import sys
from PySide6.QtGui import QUndoStack
from types import SimpleNamespace
from PySide6.QtWidgets import QApplication
from wordpiece_studio.session.corpus_counting import CorpusCounting
from wordpiece_studio.session.document import Document
from wordpiece_studio.session.runs import Runs
from wordpiece_studio.session.token_usage import TokenUsage
from wordpiece_studio.session.tokenizer_figures import HeldOutJudging
from wordpiece_studio.session.trainer_model import TrainerModel
from wordpiece_studio.session.live_text import LiveChanges
from wordpiece_studio.ui.panes.charts.charts_pane import ChartsPane
from wordpiece_studio.ui.widgets.theme import Theme
application = QApplication([])
model = TrainerModel()
usage = TokenUsage(model)
counting = CorpusCounting(Document())
judging = HeldOutJudging(model, Runs(model, QUndoStack()), counting)
session = SimpleNamespace(model=model, usage=usage, changes=LiveChanges(), judging=judging)
pane = ChartsPane(session, Theme("light"))
application.processEvents()
print("pyqtgraph" in sys.modules)
hooks = sys.excepthook
pane.show()
for _ in range(20):
    application.processEvents()
print("pyqtgraph" in sys.modules, sys.excepthook is hooks)
pane.close()
usage.task.close()
model.close()
"""


@pytest.mark.slow
def test_pyqtgraph_is_imported_when_the_pane_is_first_shown() -> None:
    done = subprocess.run([sys.executable, "-c", _HIDDEN], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split() == ["False", "True", "True"], done.stderr
