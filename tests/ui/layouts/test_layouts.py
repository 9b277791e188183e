"""The layouts: what each shows, what the user changes by hand, and what is left of that after a restart."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTabBar, QToolButton

from wordpiece_studio.session.settings import SavedLayout, SettingsStore
from wordpiece_studio.ui.layouts import LAYOUTS, TEACH, demo_text_size
from wordpiece_studio.ui.main_window import MainWindow
from wordpiece_studio.ui.panes.scoreboard.candidates_view import CandidatesView
from wordpiece_studio.ui.workspace import PANES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.ui.conftest import Studio
    from wordpiece_studio.ui.widgets.theme import Theme

IN_FRONT = {
    "teach": {"corpus", "token_details", "scoreboard", "history", "tokenization", "timeline"},
    "engineer": {"corpus", "token_details", "history", "charts", "tokenization", "timeline"},
    "demo": {"scoreboard", "tokenization", "timeline"},
}


def in_front(window: MainWindow) -> set[str]:
    return {panel.objectName() for panel in window.docks.panels if panel.is_in_front}


def choose(window: MainWindow, name: str) -> None:
    getattr(window.actions_, f"layout_{name}").trigger()


@pytest.fixture
def window(empty_studio: Studio) -> MainWindow:
    empty_studio.window.resize(1440, 900)
    empty_studio.window.show()
    return empty_studio.window


@pytest.fixture
def restarted(window: MainWindow, theme: Theme) -> Iterator[object]:
    """A function that closes the window and opens another one on the same file of settings."""
    opened = []

    def restart() -> MainWindow:
        window.leave_at_once()
        store = SettingsStore(window.settings.path.parent)
        assert store.damage is None
        opened.append(MainWindow(store, theme))
        opened[-1].show()
        return opened[-1]

    yield restart
    for each in opened:
        each.leave_at_once()
        each.take_down()


@pytest.mark.parametrize("name", LAYOUTS)
def test_each_layout_places_every_pane_once(name: str) -> None:
    layout = LAYOUTS[name]
    for columns in (layout.columns, layout.low or layout.columns):
        assert sorted([*(n for column in columns for n in column.names), layout.bottom]) == sorted(PANES)


def test_the_layouts_show_what_they_are_for(window: MainWindow) -> None:
    for name in ("teach", "engineer", "demo", "teach"):
        choose(window, name)
        assert in_front(window) == IN_FRONT[name]
        assert getattr(window.actions_, f"layout_{name}").isChecked()
    assert not window.isFullScreen()


def test_the_layout_for_presenting_takes_the_screen_and_large_type(window: MainWindow, theme: Theme) -> None:
    choose(window, "demo")
    assert window.isFullScreen()
    assert window.actions_.full_screen.isChecked()
    assert theme.scale == demo_text_size(window.screen().size().height()) / 100 > 1.1
    assert not window.bar.isVisible()
    window.actions_.full_screen.trigger()
    assert not window.isFullScreen()
    choose(window, "teach")
    assert theme.scale == 1.0
    assert window.bar.isVisible()


def test_the_size_of_text_in_demo_is_the_users_until_it_is_normal_again(window: MainWindow, theme: Theme) -> None:
    choose(window, "demo")
    usual = theme.scale
    window.actions_.larger_text.trigger()
    assert window.settings.values.demo_scale == round(100 * usual) + 10
    window.actions_.normal_text.trigger()
    assert theme.scale == usual
    assert window.settings.values.demo_scale is None
    assert window.settings.values.font_scale == 100


def test_the_timeline_has_room_for_its_buttons_which_grow_with_the_text(window: MainWindow) -> None:
    pane = window.timeline_pane
    for name in LAYOUTS:
        choose(window, name)
        window.resize(1366, 768)
        QTest.qWait(20)
        assert pane.height() <= pane.parentWidget().height()
    button = pane.findChild(QToolButton, "timeline_next")
    usual = button.height()
    window.view_controller.zoom.set_zoom("timeline", 150)
    assert button.height() == pytest.approx(1.5 * usual, abs=3)
    assert button.iconSize().height() > usual / 2


def test_the_bars_of_the_candidates_leave_room_for_the_tie_in_larger_text(studio: Studio) -> None:
    view = studio.window.scoreboard_pane.findChild(CandidatesView)
    studio.wait(lambda: view._delegate._tie_width > 0)  # the candidates are there a little after the training
    before = view._delegate._tie_width
    studio.window.view_controller.zoom.set_zoom("scoreboard", 150)
    assert view._delegate._tie_width == view._tie_width() > 1.3 * before


def test_arrow_keys_go_from_tab_to_tab_and_leave_the_step(studio: Studio) -> None:
    studio.window.activateWindow()
    bar = next(bar for bar in studio.window.docks.findChildren(QTabBar) if bar.count() > 1)
    bar.setFocus()
    QTest.keyClick(bar, Qt.Key.Key_Right)
    assert bar.tabText(bar.currentIndex()) == "Vocabulary"
    assert studio.window.docks.panel("vocabulary").is_in_front
    assert studio.window.model.step == 12


def test_the_usual_sizes_are_those_of_the_sketch(window: MainWindow) -> None:
    panel = window.docks.panel
    room = window.docks.width()
    assert panel("corpus").width() / room == pytest.approx(0.225, abs=0.02)
    assert panel("tokenization").width() / room == pytest.approx(0.29, abs=0.02)
    assert panel("corpus").height() > 2 * panel("token_details").height()
    assert panel("timeline").width() == room


def test_a_pane_behind_another_does_no_work_until_it_is_shown(studio: Studio) -> None:
    window, refreshed = studio.window, []
    for pane in (window.vocabulary_pane, window.history_pane):
        assert pane.isVisible() == (pane is window.history_pane)
        pane.refresh = lambda pane=pane: refreshed.append(pane)
    for pane in (window.vocabulary_pane, window.history_pane):
        pane.refresh_later()
    studio.wait(lambda: bool(refreshed))
    assert refreshed == [window.history_pane]
    window.docks.bring("vocabulary")
    studio.wait(lambda: window.vocabulary_pane in refreshed)
    assert not window.history_pane.isVisible()


def test_what_is_changed_by_hand_is_kept_by_each_layout_across_restarts(window: MainWindow, restarted: object) -> None:
    window.docks.bring("vocabulary")
    window.docks.panel("corpus").toggleViewAction().trigger()
    window.view_controller.zoom.set_zoom("scoreboard", 130)
    choose(window, "engineer")
    assert in_front(window) == IN_FRONT["engineer"]
    assert not window.view_controller.zoom.zooms
    window.docks.bring("scoreboard")
    again = restarted()
    assert in_front(again) == IN_FRONT["engineer"] - {"history"} | {"scoreboard"}
    choose(again, "teach")
    assert in_front(again) == IN_FRONT["teach"] - {"history", "corpus"} | {"vocabulary"}
    assert again.view_controller.zoom.zooms == {"scoreboard": 130}
    again.actions_.reset_layout.trigger()
    assert in_front(again) == IN_FRONT["teach"]
    assert again.docks.changed_by_hand() is None
    assert not again.view_controller.zoom.zooms
    assert "teach" not in again.settings.values.layouts


def test_edges_that_were_dragged_keep_their_proportions(window: MainWindow) -> None:
    docks = window.docks
    docks.take(TEACH, SavedLayout(version=TEACH.version, widths={"corpus": 0.35, "tokenization": 0.25},
                                  heights={"timeline": 0.3, "corpus": 0.3}))  # fmt: skip
    for width, height in ((1440, 900), (1200, 1000)):
        window.resize(width, height)
        QApplication.processEvents()
        assert docks.panel("corpus").width() / docks.width() == pytest.approx(0.35, abs=0.02)
        assert docks.panel("timeline").height() / docks.height() == pytest.approx(0.3, abs=0.02)
    assert docks.changed_by_hand().widths["corpus"] == 0.35


def test_an_edge_dragged_with_the_mouse_is_kept(window: MainWindow) -> None:
    docks = window.docks
    corpus = docks.panel("corpus")
    room, edge = corpus.parentWidget(), QPoint(corpus.geometry().right() + 5, 100)
    QTest.mouseClick(room, Qt.MouseButton.LeftButton, pos=edge)
    assert docks.changed_by_hand() is None
    before = corpus.width()
    QTest.mousePress(room, Qt.MouseButton.LeftButton, pos=edge)
    QTest.mouseMove(room, edge + QPoint(100, 0))
    QTest.qWait(10)
    QTest.mouseRelease(room, Qt.MouseButton.LeftButton, pos=edge + QPoint(100, 0))
    assert corpus.width() == pytest.approx(before + 100, abs=6)
    assert docks.changed_by_hand().widths["corpus"] == pytest.approx(corpus.width() / docks.width(), abs=0.01)
    choose(window, "engineer")
    choose(window, "teach")
    assert corpus.width() == pytest.approx(before + 100, abs=6)


def test_what_was_saved_for_another_version_or_no_pane_is_ignored(window: MainWindow) -> None:
    docks = window.docks
    docks.take(TEACH, SavedLayout(version=TEACH.version + 1, closed=("timeline",), widths={"corpus": 0.9}))
    assert docks.changed_by_hand() is None
    docks.take(TEACH, SavedLayout(version=TEACH.version, closed=("nothing", "timeline"), front=("nobody", "charts")))
    assert docks.changed_by_hand().closed == ("timeline",)
    assert docks.changed_by_hand().front == ("charts",)
    docks.take(replace(TEACH, version=7), docks.changed_by_hand())
    assert docks.changed_by_hand() is None


def test_a_low_window_puts_the_token_details_behind_the_corpus_and_back(window: MainWindow) -> None:
    window.resize(1024, 700)
    QApplication.processEvents()
    assert in_front(window) == IN_FRONT["teach"] - {"token_details"}
    assert window.docks.changed_by_hand() is None
    window.resize(1440, 900)
    QApplication.processEvents()
    assert in_front(window) == IN_FRONT["teach"]


def test_only_the_tab_bars_of_this_layout_are_left(window: MainWindow) -> None:
    for name in ("engineer", "teach", "engineer", "demo"):
        choose(window, name)
        bars = [bar for bar in window.docks.findChildren(QTabBar) if bar.isVisible()]
        seen = [bar for bar in bars if bar.geometry().right() >= 0]
        assert len(seen) == (0 if name == "demo" else 1)
        assert all(bar.count() < 2 for bar in bars if bar not in seen)
        assert all(bar.accessibleName() for bar in bars)


def wheel(window: MainWindow, at: QPoint, notches: int) -> None:
    none, position = QPoint(), QPointF(at)
    event = QWheelEvent(
        position, QPointF(window.mapToGlobal(at)), none, QPoint(0, 120 * notches), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(window.windowHandle(), event)


def test_the_wheel_with_ctrl_makes_the_text_of_one_pane_larger(window: MainWindow) -> None:
    chips = window.tokenization_pane
    before, title = chips.fontMetrics().height(), window.scoreboard_pane.fontMetrics().height()
    wheel(window, chips.mapTo(window, QPoint(40, 60)), 5)
    assert window.view_controller.zoom.zooms == {"tokenization": 150}
    assert chips.fontMetrics().height() > 1.3 * before
    assert window.scoreboard_pane.fontMetrics().height() == title
    wheel(window, chips.mapTo(window, QPoint(40, 60)), -5)
    assert not window.view_controller.zoom.zooms
    assert chips.fontMetrics().height() == before


def test_the_commands_make_the_text_of_the_focused_pane_larger(window: MainWindow) -> None:
    window.activateWindow()
    window.corpus_pane.editor.setFocus()
    window.actions_.larger_pane.trigger()
    window.actions_.larger_pane.trigger()
    window.actions_.smaller_pane.trigger()
    assert window.view_controller.zoom.zooms == {"corpus": 110}
    window.actions_.normal_pane.trigger()
    assert not window.view_controller.zoom.zooms


def test_saved_layouts_are_checked_when_they_are_read() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"version": 1, "widths": {"corpus": 7.0}}, SavedLayout)
