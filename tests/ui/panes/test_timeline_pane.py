"""The timeline by button, keyboard, mouse and wheel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QWheelEvent
from PySide6.QtWidgets import QApplication, QToolButton

from tests.ui.panes.timeline_bench import Timeline, at, click
from wordpiece_studio.session.measuring import HeldOutFigure
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.ui.panes.timeline.timeline_plot import Lane
from wordpiece_studio.ui.widgets.plain import entry_at

if TYPE_CHECKING:
    from tests.ui.panes.conftest import Bench
    from wordpiece_studio.ui.panes.timeline.timeline_pane import TimelinePane


@pytest.fixture
def timeline(bench: Bench) -> Timeline:
    return Timeline(bench)


@pytest.fixture
def pane(timeline: Timeline) -> TimelinePane:
    return timeline.pane


def test_the_buttons_move_the_step(bench: Bench, pane: TimelinePane) -> None:
    for name, step in (
        ("first_merge", 0), ("next_merge", 1), ("next_merge", 2), ("previous_merge", 1), ("last_merge", 25),
    ):  # fmt: skip
        click(bench, pane, name)
        assert bench.model.step == step
        assert pane.plot.value() == step


def test_buttons_that_lead_nowhere_are_disabled(bench: Bench, pane: TimelinePane) -> None:
    def enabled() -> set[str]:
        buttons = [button for button in pane.findChildren(QToolButton) if button.isVisible()]
        return {button.objectName().removeprefix("timeline_") for button in buttons if button.isEnabled()}

    always = {"next_merge", "play", "keep_step", "more", "further"}
    assert enabled() == always | {"first_merge", "previous_merge"}
    bench.seek(0)
    assert enabled() == always | {"last_merge"}


def test_a_click_on_the_curve_goes_there(bench: Bench, pane: TimelinePane) -> None:
    bench.qtbot.mouseClick(pane.plot, Qt.MouseButton.LeftButton, pos=at(pane, 7))
    assert bench.model.step == 7


def test_dragging_goes_through_the_steps(bench: Bench, pane: TimelinePane) -> None:
    seen: list[int] = []
    bench.model.step_changed.connect(seen.append)
    bench.qtbot.mousePress(pane.plot, Qt.MouseButton.LeftButton, pos=at(pane, 3))
    for step in (4, 5, 6):
        bench.qtbot.mouseMove(pane.plot, at(pane, step))
    bench.qtbot.mouseRelease(pane.plot, Qt.MouseButton.LeftButton, pos=at(pane, 6))
    bench.settle()
    assert seen[0] == 3
    assert bench.model.step == seen[-1] == 6


@pytest.mark.parametrize(
    ("key", "step"),
    [
        (Qt.Key.Key_Left, 11),
        (Qt.Key.Key_Right, 13),
        (Qt.Key.Key_Home, 0),
        (Qt.Key.Key_End, 25),
        (Qt.Key.Key_PageDown, 22),
        (Qt.Key.Key_PageUp, 2),
    ],
)
def test_the_keys_of_a_slider(bench: Bench, pane: TimelinePane, key: Qt.Key, step: int) -> None:
    bench.seek(12)
    bench.qtbot.keyClick(pane.plot, key)
    assert bench.model.step == step


def test_the_wheel_goes_one_step_per_notch(bench: Bench, pane: TimelinePane) -> None:
    bench.seek(12)
    for delta in (120, 60, 60, -120):
        place = QPointF(at(pane, 12))
        event = QWheelEvent(
            place, pane.plot.mapToGlobal(place), QPoint(), QPoint(0, delta), Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(pane.plot, event)
    assert bench.model.step == 13


def test_it_follows_the_step_and_shows_where_it_is(bench: Bench, pane: TimelinePane) -> None:
    bench.seek(12)
    assert pane.plot.value() == 12
    assert pane.hints[0].startswith("Step 12 of 25")
    assert pane.plot.accessibleDescription() == "Step 12 of 25"


def test_it_says_what_the_objectives_make_of_held_out_text(bench: Bench, timeline: Timeline) -> None:
    pane, judging, label = timeline.pane, timeline.judging, timeline.pane.held_out
    panel = bench.show_panel("Timeline", pane, 1200, 220)
    assert not label.isVisible()
    assert label.parentWidget() is pane.header  # it takes no height from the curve
    judging.task.progress = 0.437
    judging.changed.emit()
    bench.settle()
    assert (label.isVisible(), label.text()) == (True, "Measuring held-out text: 43%")
    rates = {"likelihood": 1.268, "count": 1.25, "score": 2.856}
    judging.figures, judging.task.progress = {name: HeldOutFigure(rate, 0.01) for name, rate in rates.items()}, None
    judging.changed.emit()
    bench.settle()
    whole = "Held-out: 1.27 tokens per word (Count 1.25 · Score 2.86)"
    assert label.text() == whole
    assert (label.accessibleName(), label.accessibleDescription()) == ("Held-out text", whole)
    assert "tenth of the corpus" in label.toolTip()
    assert entry_at(label, QPoint(-1, -1)) == "held-out-text"
    shown = []
    panel.setMinimumSize(1, 1)
    for width in range(1200, 200, -50):
        panel.resize(width, 220)
        bench.settle()
        shown.append(label.text() if label.isVisible() else "")
        texts = panel.windowTitle(), panel.title_bar._hint_label.text(), shown[-1]
        needed = sum(map(pane.fontMetrics().horizontalAdvance, texts))
        assert needed < panel.width() or not shown[-1]
    assert list(dict.fromkeys(shown)) == [whole, "Held-out: 1.27 tokens per word", ""]
    panel.resize(1200, 220)
    judging.figures = {"likelihood": HeldOutFigure(1.05, 0.117), "count": HeldOutFigure(1.06, 0.0251)}
    judging.changed.emit()
    bench.settle()
    assert label.text() == "Held-out: 1.05 tokens per word, 11.7% unknown (Count 1.06, 2.5% unknown)"
    judging.figures = None
    judging.changed.emit()
    bench.settle()
    assert not label.isVisible()


def test_a_step_says_what_was_merged_there(bench: Bench, pane: TimelinePane) -> None:
    assert pane._describe_step(12) == "12 · cha · 0.1667 · tie of 2"
    assert pane._describe_step(0) == "Before the first merge"


def test_playing_moves_on_and_the_user_stops_it(bench: Bench, timeline: Timeline) -> None:
    pane, player = timeline.pane, timeline.player
    bench.seek(0)
    menu = pane.findChild(QToolButton, "timeline_more").defaultAction().menu()
    menu.aboutToShow.emit()
    speeds = menu.actions()[0].menu().actions()
    assert [speed.text() for speed in speeds[::8]] == ["½ merge per second", "&Whole run in 30 s"]
    speeds[5].trigger()
    assert player.speed == 50.0
    assert [speed.isChecked() for speed in speeds].index(True) == 5
    click(bench, pane, "play")
    bench.wait(lambda: bench.model.step >= 2)
    bench.qtbot.keyClick(pane.plot, Qt.Key.Key_Home)
    assert not player.is_playing
    assert bench.model.step == 0


def test_it_grows_when_more_is_trained(bench: Bench, pane: TimelinePane) -> None:
    bench.seek(3)
    bench.model.train_further(vocab_size=80)
    bench.wait(lambda: pane.plot.maximum() == 35)
    assert (bench.model.step, pane.plot.value()) == (3, 3)


def test_before_a_training_nothing_can_be_moved(empty_bench: Bench) -> None:
    pane = Timeline(empty_bench).pane
    assert not pane.plot.isEnabled()
    assert pane.hints[0] == "Nothing trained yet"
    assert pane.plot.callout.startswith("Nothing has been trained yet. Train to see")


def test_the_legend_says_that_the_alphabet_was_there_from_the_start(bench: Bench, pane: TimelinePane) -> None:
    for token, said in (("##s", "##s exists from the start"), ("Th", "Th is created")):
        bench.model.set_selection(Selection("token", text=token))
        assert said in pane.legend.accessibleName()


def test_every_control_has_a_name(pane: TimelinePane) -> None:
    for control in (pane.plot, *pane.findChildren(QToolButton)):
        assert control.accessibleName()


def test_play_is_disabled_where_there_is_no_step(empty_bench: Bench) -> None:
    timeline = Timeline(empty_bench)
    empty_bench.train(["a b c"])
    empty_bench.settle()
    assert not timeline.actions.play.isEnabled()
    assert "Nothing has been trained yet" in timeline.actions.play.toolTip()


@pytest.mark.parametrize("merges", [25, 600, 5000])
def test_the_area_under_the_curve_is_filled_for_any_number_of_merges(
    bench: Bench, pane: TimelinePane, merges: int
) -> None:
    plot = pane.plot
    plot.set_curve(np.full(merges, 0.5), np.zeros(merges, dtype=np.bool_))
    picture = plot.grab().toImage()
    x = plot.width() // 3
    column = [picture.pixelColor(x, y).name() for y in range(plot.height())]
    soft, surface = bench.theme.accent_soft.name(), bench.theme.surface.name()
    first, last = column.index(soft), len(column) - column[::-1].index(soft)
    assert last - first > 10
    assert set(column[first:last]) == {soft}
    assert set(column[: first - 4]) == {surface}  # between them is the curve


@pytest.mark.parametrize("runs", [3, 4])
def test_the_names_of_lanes_are_clear_of_each_other_in_large_type(bench: Bench, pane: TimelinePane, runs: int) -> None:
    plot, run = pane.plot, bench.model.run
    large = QFont(plot.font())
    large.setPointSizeF(2 * large.pointSizeF())
    plot.setFont(large)
    bench.theme.set_scale(2)
    plot.setMinimumSize(1, 1)
    plot.resize(370, 133)
    lanes = [Lane(run, "A", 1, "", np.ones(25), np.arange(45, 71), "") for _ in range(runs)]
    plot.set_lanes(lanes, 0)
    rooms = [plot._lane_room(number) for number in range(runs)]
    line = QFontMetrics(plot._name_font(is_own=True)).height()
    assert line <= rooms[1].bottom() - rooms[0].bottom()
    assert rooms[0].height() > 0.5 * line  # so high is the disc with the letter
    assert plot.minimumSizeHint().height() > runs * 13


# -- behind a training


def test_during_training_the_step_stays_where_it_was_set(bench: Bench, timeline: Timeline) -> None:
    model, plot = bench.model, timeline.pane.plot
    model.start(model.counts, TrainingConfig(vocab_size=None), paused=True)
    bench.wait(lambda: model.state is TrainerState.PAUSED)
    for _ in range(4):
        model.next_merge()
    bench.wait(lambda: model.merge_count == 4 and plot.maximum() == 4)
    bench.qtbot.mousePress(plot, Qt.MouseButton.LeftButton, pos=at(timeline.pane, 2))
    model.resume()
    bench.wait(lambda: model.state is TrainerState.FINISHED and plot.maximum() == model.merge_count)
    assert model.merge_count > 30
    assert (model.step, plot.value()) == (2, 2)
    bench.qtbot.mouseMove(plot, at(timeline.pane, 3))
    bench.qtbot.mouseRelease(plot, Qt.MouseButton.LeftButton, pos=at(timeline.pane, 3))
    timeline.actions.next_merge.trigger()
    assert model.step == 4


def test_the_end_of_the_curve_is_the_head_even_if_more_was_learned(bench: Bench, pane: TimelinePane) -> None:
    bench.seek(3)
    ends: list[int] = []

    def press_end(_first: int, _last: int) -> None:
        ends.append(pane.plot.maximum())
        bench.qtbot.keyClick(pane.plot, Qt.Key.Key_End)

    bench.model.merges_appended.connect(press_end)
    bench.model.train_further(vocab_size=75)
    bench.wait(lambda: bench.model.merge_count == 30)
    assert (ends[0], bench.model.step) == (25, 30)
