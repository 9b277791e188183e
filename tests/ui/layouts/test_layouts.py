"""The layouts: what each shows, what the user changes by hand, and what is left of that after a restart."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import msgspec
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTabBar, QToolButton, QWidget

from wordpiece_studio.session.settings import SavedLayout, SettingsStore
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.main_window import MainWindow
from wordpiece_studio.ui.panes.scoreboard.candidates_view import CandidatesView
from wordpiece_studio.ui.widgets.layouts import LAYOUTS, TEACH, demo_text_size
from wordpiece_studio.ui.workspace import PANES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.ui.conftest import Studio
    from wordpiece_studio.ui.widgets.theme import Theme

IN_FRONT = {
    "teach": {"corpus", "token_details", "scoreboard", "history", "tokenization", "timeline"},
    "engineer": {"corpus", "token_details", "history", "charts", "tokenization", "timeline"},
    "demo": {"scoreboard", "tokenization", "timeline"},
    "compare": {"comparison"},
    "sizes": {"sizes", "tokenization"},
}


def panel_tabs(window: MainWindow) -> list[QTabBar]:
    """Return the tab bars of the panels, without those in panes."""
    return window.docks.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)


def in_front(window: MainWindow) -> set[str]:
    return {panel.objectName() for panel in window.docks.panels.values() if panel.isVisible()}


def choose(window: MainWindow, name: str) -> None:
    window.actions_.choice("choose_layout", name).trigger()
    for _ in range(3):  # what follows from it is arranged at once, two turns later
        QApplication.processEvents()


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
        opened[-1].resize(1440, 900)
        opened[-1].show()
        return opened[-1]

    yield restart
    for each in opened:
        each.leave_at_once()
        each.take_down()


@pytest.mark.parametrize("name", LAYOUTS)
def test_each_layout_places_every_pane_once(name: str) -> None:
    layout = LAYOUTS[name]
    for columns in (layout.columns, layout.low or layout.columns, layout.narrow or layout.columns):
        assert sorted([*(n for column in columns for n in column.names), layout.bottom]) == sorted(PANES)


def test_the_layouts_show_what_they_are_for(window: MainWindow) -> None:
    for name in ("teach", "engineer", "demo", "teach"):
        choose(window, name)
        assert in_front(window) == IN_FRONT[name]
        assert window.actions_.choice("choose_layout", name).isChecked()
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


@pytest.fixture
def enlarge(styled: Theme) -> Callable[[], None]:
    """Make all text half as large again, in the style that the application has."""

    def make_larger() -> None:
        styled.set_scale(1.5 * styled.scale)
        QTest.qWait(20)

    return make_larger


def test_the_timeline_has_room_for_its_buttons_which_grow_with_the_text(
    window: MainWindow, enlarge: Callable[[], None]
) -> None:
    pane = window.timeline_pane
    for name in LAYOUTS:
        choose(window, name)
        window.docks.bring("timeline")
        window.resize(1366, 768)
        QTest.qWait(20)
        assert pane.height() <= pane.parentWidget().height()
    button = pane.findChild(QToolButton, "timeline_next_merge")
    usual = button.height()
    enlarge()
    assert button.height() == pytest.approx(1.5 * usual, abs=3)
    assert button.iconSize().height() > usual / 2


def test_large_text_on_a_small_screen_cuts_no_choice_and_scrolls_nothing_sideways(
    studio: Studio, enlarge: Callable[[], None]
) -> None:
    window, history = studio.window, studio.window.history_pane.view
    window.resize(1024, 768)
    enlarge()
    window.theme.set_scale(2)
    bar = window.bar
    studio.wait(lambda: bar.settings.more_button.text() == "⋯")
    assert bar.settings.objective_box.width() >= bar.settings.objective_box.minimumSizeHint().width()
    studio.wait(lambda: history.horizontalHeader().length() <= history.viewport().width())
    assert not window.timeline_pane._further.isVisible()
    window.model.seek(12)
    studio.wait(lambda: not window.history_pane.is_stale)
    assert history.viewport().rect().contains(history.visualRect(history.currentIndex()))
    candidates = window.scoreboard_pane.candidates_view
    studio.wait(lambda: candidates.viewport().height() >= 2 * candidates.row_height)
    assert window.scoreboard_pane.size() == window.scoreboard_pane.seen  # it needs no scroll bar for them


def test_the_bars_of_the_candidates_leave_room_for_the_tie_in_larger_text(
    studio: Studio, enlarge: Callable[[], None]
) -> None:
    view = studio.window.scoreboard_pane.findChild(CandidatesView)
    studio.wait(lambda: view.tie_width > 0)  # the candidates are there a little after the training
    before = view.tie_width
    enlarge()
    assert view.tie_width > 1.3 * before


def test_arrow_keys_go_from_tab_to_tab_and_leave_the_step(studio: Studio) -> None:
    studio.window.activateWindow()
    bar = next(bar for bar in panel_tabs(studio.window) if bar.count() > 1)
    bar.setFocus()
    QTest.keyClick(bar, Qt.Key.Key_Right)
    assert bar.tabText(bar.currentIndex()) == "Code"
    assert studio.window.docks.panels["code"].isVisible()
    assert studio.window.model.step == 12


def test_the_usual_sizes_are_those_of_the_sketch(window: MainWindow) -> None:
    panel = window.docks.panels.__getitem__
    room = window.docks.width()
    assert panel("corpus").width() / room == pytest.approx(0.22, abs=0.01)
    assert panel("tokenization").width() / room == pytest.approx(0.32, abs=0.01)
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
    window.docks.panels["corpus"].toggle_action.trigger()
    choose(window, "engineer")
    assert in_front(window) == IN_FRONT["engineer"]
    window.docks.bring("scoreboard")
    again = restarted()
    assert in_front(again) == IN_FRONT["engineer"] - {"history"} | {"scoreboard"}
    choose(again, "teach")
    assert in_front(again) == IN_FRONT["teach"] - {"history", "corpus"} | {"vocabulary"}
    again.actions_.reset_layout.trigger()
    assert in_front(again) == IN_FRONT["teach"]
    assert again.docks.changed_by_hand() is None
    assert "teach" not in again.settings.values.layouts


def test_edges_that_were_dragged_keep_their_proportions(window: MainWindow) -> None:
    docks = window.docks
    docks.take(TEACH, SavedLayout(version=TEACH.version, widths={"corpus": 0.35, "tokenization": 0.25},
                                  heights={"timeline": 0.3, "corpus": 0.3}))  # fmt: skip
    for width, height in ((1440, 900), (1200, 1000)):
        window.resize(width, height)
        QApplication.processEvents()
        assert docks.panels["corpus"].width() / docks.width() == pytest.approx(0.35, abs=0.02)
        assert docks.panels["timeline"].height() / docks.height() == pytest.approx(0.3, abs=0.02)
    assert docks.changed_by_hand().widths["corpus"] == 0.35


def edge_between(before: QWidget, after: QWidget) -> QWidget:
    """Return what lies in the middle between two panels that are beside or below each other."""
    a, b = before.geometry(), after.geometry()
    shared = QRect(
        QPoint(max(a.left(), b.left()), max(a.top(), b.top())),
        QPoint(min(a.right(), b.right()), min(a.bottom(), b.bottom())),
    )
    return before.parentWidget().childAt(shared.center())


def drag(edge: QWidget, way: QPoint) -> None:
    start = edge.rect().center()
    QTest.mousePress(edge, Qt.MouseButton.LeftButton, pos=start)
    there = QPointF(edge.mapToGlobal(start + way))
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(edge, QMouseEvent(QEvent.Type.MouseMove, QPointF(start + way), there, left, left, none))
    QTest.mouseRelease(edge, Qt.MouseButton.LeftButton, pos=edge.rect().center())


def test_every_edge_can_be_dragged_and_the_panels_still_fill_the_area(window: MainWindow) -> None:
    docks = window.docks
    for before, after, way in (
        ("corpus", "scoreboard", QPoint(-60, 0)), ("scoreboard", "tokenization", QPoint(-80, 0)),
        ("scoreboard", "history", QPoint(0, 40)), ("corpus", "token_details", QPoint(0, -50)),
        ("token_details", "timeline", QPoint(0, -30)),
    ):  # fmt: skip
        window.actions_.reset_layout.trigger()
        QApplication.processEvents()
        first, second, old = docks.panels[before], docks.panels[after], sizes(window)
        edge = edge_between(first, second)
        drag(edge, way)
        grown = QSize(way.x(), way.y())
        assert (first.size(), second.size()) == (old[before] + grown, old[after] - grown)
        drag(edge, QPoint(-5000, -5000))  # as far as it goes
        assert first.size() == old[before].boundedTo(first.size())
        seen = [panel for panel in docks.panels.values() if panel.isVisible()]
        assert all(docks.rect().contains(panel.geometry()) for panel in seen)
        assert not any(a.geometry().intersects(b.geometry()) for a, b in combinations(seen, 2))


def test_an_edge_dragged_with_the_mouse_is_kept(window: MainWindow) -> None:
    docks = window.docks
    corpus = docks.panels["corpus"]
    room, edge = corpus.parentWidget(), QPoint(corpus.geometry().right() + 5, 100)
    gap = room.childAt(edge)
    QTest.mouseClick(gap, Qt.MouseButton.LeftButton)
    assert docks.changed_by_hand() is None
    before = corpus.width()
    drag(gap, QPoint(100, 0))
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
    window.resize(1366, 700)
    QApplication.processEvents()
    assert in_front(window) == IN_FRONT["teach"] - {"token_details"}
    assert window.docks.changed_by_hand() is None
    window.resize(1440, 900)
    QApplication.processEvents()
    assert in_front(window) == IN_FRONT["teach"]


def test_in_a_narrow_window_a_whole_column_gives_way_to_a_tab(window: MainWindow) -> None:
    for name in ("teach", "engineer"):
        choose(window, name)
        window.resize(1024, 768)
        QApplication.processEvents()
        assert in_front(window) == IN_FRONT[name] - {"corpus", "token_details"}
        tabs = [bar.tabText(at) for bar in panel_tabs(window) for at in range(bar.count()) if bar.isVisible()]
        assert {"Live tokenization", "Corpus", "Token details"} <= set(tabs)
        assert window.docks.changed_by_hand() is None
        window.docks.bring("corpus")
        assert window.docks.changed_by_hand().front == ("corpus",)
        window.resize(1440, 900)
        QApplication.processEvents()
        assert in_front(window) == IN_FRONT[name]


def test_what_an_engineer_needs_is_in_that_layout_and_in_menus(window: MainWindow) -> None:
    placed = {action for _, action in window.actions_.placed()}
    actions = window.actions_
    assert {actions.bookmarks, actions.longest_word} <= placed
    columns = window.history_pane._controls.columns
    for name in ("engineer", "teach", "engineer", "demo"):
        choose(window, name)
        assert columns.isHidden() == (name != "engineer")
    choose(window, "teach")
    actions.longest_word.trigger()
    assert not window.corpus_pane.figures.longest_edit.isHidden()


def test_only_the_tab_bars_of_this_layout_are_left(window: MainWindow) -> None:
    for name in ("engineer", "teach", "engineer", "demo"):
        choose(window, name)
        bars = [bar for bar in panel_tabs(window) if bar.isVisible()]
        seen = [bar for bar in bars if bar.geometry().right() >= 0]
        assert len(seen) == (0 if name == "demo" else 1)
        assert all(bar.count() < 2 for bar in bars if bar not in seen)
        assert all(bar.accessibleName() for bar in bars)


# -- one pane alone


def double_click_title(window: MainWindow, name: str) -> None:
    title = window.docks.panels[name].title_bar
    QTest.mouseDClick(title, Qt.MouseButton.LeftButton, pos=title.rect().center())


def sizes(window: MainWindow) -> dict[str, QSize]:
    return {panel.objectName(): panel.size() for panel in window.docks.panels.values() if panel.isVisible()}


def test_a_double_click_on_its_title_lets_a_pane_fill_the_window_until_escape(window: MainWindow) -> None:
    docks = window.docks
    for name in PANES:
        docks.bring(name)
        QApplication.processEvents()
        before = sizes(window)
        double_click_title(window, name)
        QApplication.processEvents()
        assert in_front(window) == {name}
        assert docks.filling == name
        assert docks.panels[name].width() == docks.width()
        assert docks.panels[name].height() > docks.height() - 10
        QTest.keyClick(window, Qt.Key.Key_Escape)
        QApplication.processEvents()
        assert sizes(window) == before
        assert not docks.filling


def test_a_tab_and_a_command_fill_the_window_too(window: MainWindow) -> None:
    bar = next(bar for bar in panel_tabs(window) if bar.count() > 1)
    QTest.mouseDClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(bar.currentIndex()).center())
    assert window.docks.filling == "history"
    window.actions_.fill_pane.trigger()
    assert not window.docks.filling
    window.activateWindow()
    window.corpus_pane.editor.setFocus()
    window.actions_.fill_pane.trigger()
    assert in_front(window) == {"corpus"}
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert in_front(window) == IN_FRONT["teach"]


def test_what_fills_the_window_changes_nothing_that_is_kept(window: MainWindow) -> None:
    docks = window.docks
    docks.bring("charts")
    docks.fill("tokenization")
    window.resize(1300, 880)
    QApplication.processEvents()
    assert in_front(window) == {"tokenization"}
    closed = tuple(sorted(TEACH.closed))
    assert docks.changed_by_hand() == SavedLayout(version=TEACH.version, closed=closed, front=("charts",))
    docks.panels["token_details"].toggle_action.trigger()
    assert in_front(window) == IN_FRONT["teach"] - {"history", "token_details"} | {"charts"}
    docks.panels["token_details"].toggle_action.trigger()
    docks.fill("timeline")
    docks.bring("history")
    assert in_front(window) == IN_FRONT["teach"]
    docks.fill("timeline")
    choose(window, "engineer")
    assert in_front(window) == IN_FRONT["engineer"]


@pytest.mark.parametrize("is_filled", [False, True])
def test_a_key_does_what_can_be_done_since_this_moment(studio: Studio, is_filled: bool) -> None:
    window = studio.window
    if is_filled:
        window.docks.fill("history")
    window.activateWindow()
    assert len(window.session.runs.all) == 1
    window.session.settings.choose(objective="count")
    window.actions_.train.trigger()
    studio.wait(lambda: len(window.session.runs.all) == 2)
    studio.wait_finished()
    current = window.session.runs.current
    QTest.keyClick(window, Qt.Key.Key_Tab, Qt.KeyboardModifier.ControlModifier)
    assert window.session.runs.current is not current


def test_escape_clears_the_selection_where_no_pane_fills_the_window(studio: Studio) -> None:
    window = studio.window
    window.model.set_selection(Selection("token", text="ch"))
    window.docks.fill("scoreboard")
    for is_left in (True, False):
        QTest.keyClick(window, Qt.Key.Key_Escape)
        assert (window.model.selection is not None) == is_left
        assert not window.docks.filling


def test_saved_layouts_are_checked_when_they_are_read() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"version": 1, "widths": {"corpus": 7.0}}, SavedLayout)
