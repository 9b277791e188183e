"""The charts: what they show, and that they follow and move step and selection."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest
from pyqtgraph import TextItem
from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QColor, QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QLabel, QTabWidget

from tests.sampling import some_pairs
from tests.ui.color_vision import contrast
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.held_out_judging import HeldOutFigure
from wordpiece_studio.session.live_changes import LiveChanges
from wordpiece_studio.session.live_text import TextChange, TextSummary
from wordpiece_studio.session.run import TrainerState
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.ui.panes.charts.charts_pane import ChartsPane
from wordpiece_studio.ui.widgets.theme import LOOKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.ui.panes.conftest import Bench
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.ui.panes.charts.chart import Chart
    from wordpiece_studio.ui.widgets.theme import Colors, Theme

VALUE, SYMBOLS, FERTILITY, LENGTHS, ZIPF, IN_USE, ALL = range(7)


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
        self.pane = bench.show(self._made, width, height)

    def _made(self, model: TrainerModel, theme: Theme) -> ChartsPane:
        return ChartsPane(model, self.usage, self.changes, theme, judging=self.judging)

    def choose(self, index: int) -> Chart:
        self.pane.choose(index)
        self.bench.settle()
        return self.pane.charts[0]

    def press(self, chart: Chart, x: float, y: float = 0.0) -> None:
        view = chart.canvas._view
        place = chart.canvas.place_of(x, y).toPoint() - view.pos()
        self.bench.qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)

    def hover(self, chart: Chart, x: float) -> None:
        view = chart.canvas._view
        place = QPoint(chart.canvas.place_of(x, 0).toPoint().x(), view.height() // 2)
        self.bench.qtbot.mouseMove(view.viewport(), place - QPoint(40, 0))
        self.bench.qtbot.mouseMove(view.viewport(), place)


@pytest.fixture
def charts(bench: Bench) -> Charts:
    bench.model.seek(12)
    return Charts(bench)


# -- what is shown


def test_nothing_is_trained_yet(empty_bench: Bench) -> None:
    charts = Charts(empty_bench)
    for index in (VALUE, LENGTHS, ZIPF):
        assert charts.choose(index).sentence == "Nothing has been trained yet. Train to see the charts here."
    with pytest.raises(StudioError, match="no chart to save"):
        charts.pane.picture("png")


def test_a_run_without_a_merge_has_no_charts(empty_bench: Bench) -> None:
    empty_bench.train(vocab_size=45)
    assert Charts(empty_bench).choose(VALUE).sentence == "No merges yet. The charts appear here after the first one."


def test_the_readout_gives_the_value_of_the_step(charts: Charts) -> None:
    chart = charts.choose(VALUE)
    assert chart.readout == "Merge 12: score 0.1667 · ch + ##a → cha · tie of 2"
    assert chart.accessibleName() == "Merge score"
    assert chart.accessibleDescription().startswith("Merge score\n25 merges\nMerge 12: score 0.1667")
    assert charts.pane.hint == "After merge 12 of 25"


def test_every_merge_is_on_the_curve_and_every_tie_has_a_mark(charts: Charts) -> None:
    chart = charts.choose(VALUE)
    history = charts.model.history
    x, y = chart.curve.getData()
    assert x.tolist() == list(range(1, 26))
    assert np.allclose(10.0**y, [merge.value for merge in history])
    assert chart.ties.getData()[0].tolist() == [merge.step for merge in history if merge.ties > 1]


def test_vocabulary_against_symbols(charts: Charts) -> None:
    chart = charts.choose(SYMBOLS)
    assert chart.readout == "After merge 12: 57 tokens, 156 symbols in the corpus"
    x, y = chart.curve.getData()
    assert (x[0], y[0], x[-1], y[-1]) == (45, 171, 70, charts.model.history.symbols_after(25))


def test_tokens_per_word_of_corpus_and_live_text(charts: Charts) -> None:
    chart = charts.choose(FERTILITY)
    assert chart.readout == "After merge 12: 4.333 tokens per word in the corpus"  # 156 symbols, 36 words
    assert charts.model.history.input.weights.sum() == 36
    rows = [TextChange(3, "x", 24), TextChange(14, "y", 20)]
    charts.changes.set_rows(rows, start=TextSummary(words=8, tokens=26, unknown=0))
    charts.bench.wait(lambda: chart.readout.endswith(", 3 in the live text"))
    x, y = chart.live.getData()
    assert (x[0], y[0], x[-1], y[-1]) == (0, 26 / 8, 25, 20 / 8)
    charts.bench.seek(14)
    assert chart.readout.endswith(", 2.500 in the live text")
    charts.judging.tell({"score": HeldOutFigure(5.25), "count": HeldOutFigure(4.0)})
    charts.bench.wait(lambda: [*chart.held_out.getData()[1]] == [5.25])
    assert chart.y_range[1] > 5.25
    charts.bench.seek(25)
    assert chart.readout.endswith(", 2.500 in the live text, 5.250 in held-out text")
    charts.changes.set_rows([], start=TextSummary(words=0, tokens=0, unknown=0))
    charts.bench.wait(lambda: chart.readout.endswith(" tokens per word in the corpus, 5.250 in held-out text"))
    charts.judging.tell({"score": HeldOutFigure(5.25, 0.5)})
    charts.bench.wait(lambda: chart.readout.endswith(", 5.250 (50.0% unknown) in held-out text"))
    charts.judging.tell(None)
    charts.bench.wait(lambda: not len(chart.held_out.getData()[1]))


def test_lengths_of_the_vocabulary_at_the_step(charts: Charts) -> None:
    chart = charts.choose(LENGTHS)
    vocabulary = charts.model.vocabulary_at(12)
    learned = [len(token.removeprefix("##")) for token in vocabulary.tokens[45:]]
    assert chart._learned.sum() == 12
    assert chart._learned.tolist() == np.bincount(learned).tolist()
    assert chart.alphabet.tolist()[:2] == [0, 40]
    for length, name in ((1, "1 character"), (2, "2 characters")):
        chart._point_at(float(length))
        learned_tokens = "1 learned token" if learned.count(length) == 1 else f"{learned.count(length)} learned tokens"
        in_alphabet = int(chart.alphabet[length])
        assert chart.readout == f"{name} · {learned_tokens} · {in_alphabet} in the alphabet"
    chart._point_at(None)
    charts.model.seek(0)
    charts.bench.wait(lambda: chart.readout == "After merge 0: no tokens learned yet")


def test_zipf_waits_for_counting_and_follows_it(charts: Charts) -> None:
    chart = charts.choose(ZIPF)
    assert charts.usage.wanted
    assert chart.sentence == "Counting how often tokens are used…"
    frequencies = token_frequencies(charts)
    charts.usage.tell(12, frequencies)
    charts.bench.wait(lambda: chart.is_drawn)
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
    assert chart.sentence == "Counting how often tokens are used…"
    charts.usage.tell(12, [1], [*range(40, 53), 52, 51])
    charts.bench.wait(lambda: chart.readout == "After merge 12: 52 tokens in use (+1)")
    assert [values.tolist() for values in chart.curve.getData()] == [list(range(15)), [*range(40, 53), 52, 51]]
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


# -- the step


@pytest.mark.parametrize(("index", "x", "step"), [(VALUE, 7, 7), (FERTILITY, 20, 20), (SYMBOLS, 50, 5)])
def test_a_press_on_a_chart_goes_to_the_step(charts: Charts, index: int, x: float, step: int) -> None:
    chart = charts.choose(index)
    low, high = chart.y_range
    charts.press(chart, x, (low + high) / 2)
    assert charts.model.step == step
    assert chart.step_line.value() == pytest.approx(x)


def test_dragging_goes_through_the_steps(charts: Charts) -> None:
    chart = charts.choose(VALUE)
    viewport, qtbot = chart.canvas._view.viewport(), charts.bench.qtbot
    places = [QPoint(chart.canvas.place_of(step, 0).toPoint().x(), 60) for step in (5, 9, 60)]
    qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, pos=places[0])
    seen = [charts.model.step]
    for place in places[1:]:
        qtbot.mouseMove(viewport, place)
        seen.append(charts.model.step)
    qtbot.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=places[2])
    assert seen == [5, 9, 25]


def test_the_marks_follow_the_step_in_the_same_frame(charts: Charts) -> None:
    chart = charts.choose(VALUE)
    charts.model.seek(20)
    assert chart.step_line.value() == 20
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
        assert not chart.birth_line.isVisible()
        charts.model.set_selection(selection)
        assert chart.birth_line.isVisible()
        assert chart.birth_line.value() == 9
        assert "Th was created at step 9" in chart.accessibleDescription()


def test_a_token_of_the_alphabet_has_no_birth(charts: Charts) -> None:
    chart = charts.choose(VALUE)
    charts.model.set_selection(Selection("token", text="T"))
    assert not chart.birth_line.isVisible()


def test_zipf_marks_the_selection_and_sets_it(charts: Charts) -> None:
    charts.usage.tell(12, token_frequencies(charts))
    chart = charts.choose(ZIPF)
    charts.press(chart, np.log10(2), 0.5)
    second = charts.model.history.token(int(chart._ids[1]))
    assert charts.model.selection == Selection("token", text=second)
    assert chart.readout.startswith(f"After merge 12: {second} has rank 2")
    charts.bench.qtbot.keyClick(chart, Qt.Key.Key_Right)
    assert charts.model.selection == Selection("token", text=charts.model.history.token(int(chart._ids[2])))


# -- room


def test_a_large_pane_shows_all_charts_and_a_small_one_a_single_one(bench: Bench) -> None:
    charts = Charts(bench, 960, 600)
    assert len(charts.pane.charts) == 6
    charts.pane.resize(420, 300)
    charts.bench.settle()
    assert [chart.title() for chart in charts.pane.charts] == ["Merge score"]


def test_a_pane_behind_a_tab_makes_no_charts(bench: Bench) -> None:
    tabs = bench.show(lambda _model, _theme: QTabWidget())
    pane = ChartsPane(bench.model, Usage(), LiveChanges(), bench.theme)
    tabs.addTab(QLabel(), "another")
    tabs.addTab(pane, "charts")
    bench.seek(3)
    assert not pane.charts
    tabs.setCurrentIndex(1)
    bench.wait(lambda: bool(pane.charts) and pane.charts[0].readout.startswith("Merge 3: "))


def test_a_hidden_pane_requests_no_figures(bench: Bench) -> None:
    charts = Charts(bench, 960, 600)
    assert charts.usage.wanted
    charts.pane.hide()
    assert not charts.usage.wanted


def test_another_run_is_redrawn(charts: Charts) -> None:
    chart = charts.choose(VALUE)
    charts.bench.train(["unaffable people are affable and unable to be people"], vocab_size=60)
    charts.bench.wait(lambda: len(chart.curve.getData()[0]) == charts.model.merge_count != 25)


def test_the_charts_have_the_colors_of_the_theme(charts: Charts) -> None:
    chart, theme = charts.choose(VALUE), charts.bench.theme
    for look in ("dark", "contrast", "light"):
        theme.set_choice(look)
        charts.bench.wait(lambda: chart.curve.opts["pen"].color() == theme.accent)
        assert chart.canvas._view.backgroundBrush().color() == theme.surface


@pytest.mark.parametrize("colors", LOOKS.values(), ids=LOOKS)
def test_curves_marks_and_labels_stand_out_from_the_background(colors: Colors) -> None:
    for line in (colors.accent, colors.tie_text, colors.text, colors.muted):
        assert contrast(line, colors.surface) >= 3  # WCAG 2.2, 1.4.11
    for label in (colors.accent_ink, colors.tie_text, colors.muted):
        assert contrast(label, colors.surface) >= 4.5


# -- room


def cut_labels(chart: Chart) -> list[str]:
    """Return the labels with letters outside the plot, where they are cut off."""
    plot, cut = chart.canvas.box.sceneBoundingRect().adjusted(-1, -1, 1, 1), []
    for item in chart.canvas._view.scene().items():
        if isinstance(item, TextItem) and item.isVisible() and item.textItem.toPlainText():
            edge = item.textItem.document().documentMargin()
            if not plot.contains(item.textItem.sceneBoundingRect().adjusted(edge, edge, -edge, -edge)):
                cut.append(item.textItem.toPlainText())
    return cut


@pytest.mark.slow
@some_pairs(("size", "points"), [(300, 110), (300, 180), (420, 300), (1200, 140)], [16, 10, 7])
def test_no_label_is_cut_off_at_any_size(bench: Bench, size: tuple[int, int], points: int) -> None:
    bench.train(vocab_size=150)
    charts = Charts(bench, *size)
    charts.changes.set_rows([TextChange(3, "x", 9)], start=TextSummary(words=2, tokens=10, unknown=0))
    charts.pane.setStyleSheet(f"* {{ font-size: {points}pt; }}")
    charts.usage.tell(len(bench.model.history), list(range(100, 0, -1)))
    cut = {}
    for token in ("##e", bench.model.history[-1].token, bench.model.history[0].token):
        bench.model.set_selection(Selection("token", text=token))
        for index in (VALUE, SYMBOLS, FERTILITY, LENGTHS, ZIPF, IN_USE):
            cut |= {(index, token): found} if (found := cut_labels(charts.choose(index))) else {}
    assert not cut


def test_labels_that_fit_are_shown(bench: Bench) -> None:
    bench.train(vocab_size=150)
    chart = Charts(bench).choose(LENGTHS)
    assert all(label.isVisible() for label in chart._labels)
    assert not chart._labels[0].rect.intersects(chart._labels[1].rect)


@pytest.mark.slow
def test_the_line_of_figures_is_hidden_completely(bench: Bench) -> None:
    charts = Charts(bench, 420, 300)
    chart = charts.choose(VALUE)
    for height in range(300, 60, -7):
        charts.pane.resize(420, height)
        bench.settle()
        seen = chart._readout.visibleRegion().boundingRect().height() if chart._readout.isVisible() else 0
        assert seen in (0, chart._readout.fontMetrics().height())
    assert not seen


# -- pictures


@pytest.mark.slow
@pytest.mark.parametrize("index", [VALUE, ALL])
def test_pictures_are_white_and_have_title_and_axes(bench: Bench, index: int) -> None:
    bench.theme.set_choice("dark")
    charts = Charts(bench, 960, 600)
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
    assert charts.choose(index).is_drawn
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
    assert chart.birth_label.textItem.toPlainText() == token
    assert chart.readout.endswith(f"→ {token}")
    assert chart._readout.textFormat() == Qt.TextFormat.PlainText
    assert charts.pane.picture("svg").count(b"&lt;img src=x&gt;") == 2  # in the line of figures, and at its birth


# -- what it must leave alone


def test_pyqtgraph_installs_no_hook(charts: Charts) -> None:
    charts.choose(VALUE)
    assert "pyqtgraph" in sys.modules
    for hook in (sys.excepthook, threading.excepthook):
        assert "pyqtgraph" not in str(getattr(hook, "__module__", ""))


_HIDDEN = """
import sys
from PySide6.QtWidgets import QApplication
from wordpiece_studio.session.token_usage import TokenUsage
from wordpiece_studio.session.trainer_model import TrainerModel
from wordpiece_studio.session.live_changes import LiveChanges
from wordpiece_studio.ui.panes.charts.charts_pane import ChartsPane
from wordpiece_studio.ui.widgets.theme import Theme
application = QApplication([])
model = TrainerModel()
usage = TokenUsage(model)
pane = ChartsPane(model, usage, LiveChanges(), Theme("light"))
application.processEvents()
print("pyqtgraph" in sys.modules)
hooks = sys.excepthook
pane.show()
for _ in range(20):
    application.processEvents()
print("pyqtgraph" in sys.modules, sys.excepthook is hooks)
pane.close()
usage.close()
model.close()
"""


@pytest.mark.slow
def test_pyqtgraph_is_imported_when_the_pane_is_first_shown() -> None:
    done = subprocess.run([sys.executable, "-c", _HIDDEN], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split() == ["False", "True", "True"], done.stderr
