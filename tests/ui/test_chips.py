"""What all views of chips have in common, and which chips a table shows where there is little room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPixmap, QWheelEvent
from PySide6.QtWidgets import QApplication, QScrollArea, QToolTip

from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.tokenizer.encoding import UnknownReason, UnknownToken
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import Trainer
from wordpiece_studio.ui.panes.token_details.merge_tree_view import MergeTreeView
from wordpiece_studio.ui.widgets.chips import ChipFlow, ChipStyle, FlowItem, split_variants
from wordpiece_studio.ui.widgets.plain import tooltip_text

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.widgets.chips import ChipArea
    from wordpiece_studio.ui.widgets.theme import Theme

ITEMS = [FlowItem("a", "chip", "A", "the a"), FlowItem("+"), FlowItem("##b", "chip", "B"), FlowItem("3", "link", 3)]


def press(area: ChipArea[int], place: int) -> None:
    """Press the mouse button on a chip; the release of it would be warned about, as there is no window around."""
    at, kind, left = area.rect_of(place).center(), QEvent.Type.MouseButtonPress, Qt.MouseButton.LeftButton
    event = QMouseEvent(kind, at, area.viewport().mapToGlobal(at), left, left, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(area.viewport(), event)


@pytest.fixture
def flow(qtbot: QtBot, theme: Theme) -> ChipFlow:
    flow = ChipFlow(theme)
    qtbot.addWidget(flow)
    flow.resize(400, 40)
    flow.show_items(ITEMS, "letters")
    with qtbot.waitActive(flow):
        flow.show()
    flow.setFocus()
    qtbot.waitUntil(flow.hasFocus)
    return flow


@pytest.fixture(scope="module")
def history() -> MergeHistory:
    trainer = Trainer(WordCounts.from_pairs({"abcdefghijklmnop": 1}), TrainingConfig(special_tokens=()), engine="plain")
    trainer.run()
    return trainer.history


@pytest.fixture
def tree(qtbot: QtBot, theme: Theme, history: MergeHistory) -> MergeTreeView:
    """A tree of sixteen levels, in an area much smaller than it."""
    tree = MergeTreeView(theme)
    qtbot.addWidget(tree)
    tree.resize(300, 300)
    tree.show_tree(history, history.merge_tree(len(history.vocabulary(len(history))) - 1), len(history))
    with qtbot.waitActive(tree):
        tree.show()
    tree.setFocus()
    qtbot.waitUntil(tree.hasFocus)
    return tree


def test_keys_move_among_what_can_be_chosen(flow: ChipFlow, qtbot: QtBot) -> None:
    chosen: list[object] = []
    flow.chosen.connect(chosen.append)
    keys = Qt.Key
    for key in (keys.Key_Right, keys.Key_Space, keys.Key_End, keys.Key_Right, keys.Key_Return, keys.Key_Home):
        qtbot.keyClick(flow, key)
    assert chosen == ["B", 3]
    assert flow.current == 0
    assert flow.accessibleDescription() == "a. the a"
    flow.clearFocus()
    assert flow.accessibleDescription() == "a + ##b 3"


@pytest.mark.parametrize(("key", "is_kept"), [(Qt.Key.Key_Left, True), (Qt.Key.Key_Home, True), (Qt.Key.Key_F9, False)])
def test_keys_that_move_the_step_in_the_window_are_kept(flow: ChipFlow, key: Qt.Key, is_kept: bool) -> None:
    event = QKeyEvent(QEvent.Type.ShortcutOverride, key, Qt.KeyboardModifier.NoModifier)
    event.ignore()
    QApplication.sendEvent(flow, event)
    assert event.isAccepted() is is_kept


def test_a_click_chooses_only_what_stands_for_something(flow: ChipFlow, qtbot: QtBot) -> None:
    chosen: list[object] = []
    flow.chosen.connect(chosen.append)
    for index in (1, 3):
        press(flow, index)
    assert chosen == [3]
    shapes = []
    for index in (1, 3):
        qtbot.mouseMove(flow.viewport(), flow.rect_of(index).center().toPoint())
        shapes.append(flow.viewport().cursor().shape())
    assert shapes == [Qt.CursorShape.ArrowCursor, Qt.CursorShape.PointingHandCursor]


def test_between_chips_the_tooltip_is_that_of_the_area(flow: ChipFlow, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _place, text, *_: shown.append(text))
    beside = flow.viewport().rect().bottomRight()

    def point_at(place: QPoint) -> None:
        QApplication.sendEvent(flow.viewport(), QHelpEvent(QEvent.Type.ToolTip, place, flow.mapToGlobal(place)))

    point_at(flow.rect_of(0).center().toPoint())
    point_at(beside)
    assert shown == [tooltip_text("the a"), ""]


def test_an_unknown_token_is_hatched_in_a_cell_too(theme: Theme) -> None:
    style, picture = ChipStyle(theme), QPixmap(80, 30)
    unknown = UnknownToken("[UNK]", UnknownReason("symbol", 0, "x"))
    with QPainter(picture) as painter:
        for (item,) in (*split_variants([unknown], ""), *split_variants(["[UNK]"], "")):
            style.paint_item(painter, QRectF(0, 0, 60, 24), item)
    assert [look.unknown for _, _, look, *_ in style.pictures] == [True, False]


def test_where_nothing_can_be_chosen_the_focus_does_not_stop(flow: ChipFlow) -> None:
    assert flow.focusPolicy() == Qt.FocusPolicy.StrongFocus
    flow.show_items([FlowItem("a", "chip")], "a letter")
    assert flow.focusPolicy() == Qt.FocusPolicy.NoFocus


def test_items_that_need_no_scrolling_leave_it_to_what_is_around(qtbot: QtBot, theme: Theme) -> None:
    around = QScrollArea()
    qtbot.addWidget(around)
    flow = ChipFlow(theme)
    flow.show_items(ITEMS, "letters")
    flow.setFixedHeight(2000)
    around.setWidget(flow)
    around.resize(200, 200)
    with qtbot.waitActive(around):
        around.show()
    flow.setFocus()
    qtbot.waitUntil(flow.hasFocus)
    qtbot.keyClick(flow, Qt.Key.Key_PageDown)
    assert around.verticalScrollBar().value() > 0
    assert not is_wheel_taken(flow)


def is_wheel_taken(area: ChipArea[int]) -> bool:
    at, no_buttons, no_keys = QPointF(5, 5), Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    phase, down = Qt.ScrollPhase.NoScrollPhase, QPoint(0, -120)
    event = QWheelEvent(at, area.viewport().mapToGlobal(at), QPoint(), down, no_buttons, no_keys, phase, False)
    QApplication.sendEvent(area.viewport(), event)
    return event.isAccepted()


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_larger_text_needs_more_room(flow: ChipFlow, theme: Theme, scale: float) -> None:
    before = flow.height_of(ITEMS, 60), flow.rect_of(2).width()
    flow.set_points(12 * (scale - 1))
    after = flow.height_of(ITEMS, 60), flow.rect_of(2).width()
    assert (after > before) is (scale > 1)
    assert flow.height_of(ITEMS, 60) > flow.height_of(ITEMS, 400)


def test_the_tree_scrolls_to_the_node_that_a_key_reaches(tree: MergeTreeView, qtbot: QtBot) -> None:
    inside = tree.viewport().rect().toRectF()
    assert is_wheel_taken(tree)
    qtbot.keyClick(tree, Qt.Key.Key_Home)
    assert inside.contains(tree.rect_of(0))
    assert not inside.contains(tree.rect_of(len(tree.nodes) - 1))
    for key in (Qt.Key.Key_End, Qt.Key.Key_Left, Qt.Key.Key_Home, Qt.Key.Key_Down):
        qtbot.keyClick(tree, key)
        assert inside.contains(tree.rect_of(tree.current))


def test_a_node_that_was_scrolled_to_can_be_clicked(tree: MergeTreeView, qtbot: QtBot, history: MergeHistory) -> None:
    chosen: list[object] = []
    tree.chosen.connect(chosen.append)
    qtbot.keyClick(tree, Qt.Key.Key_End)
    assert tree.verticalScrollBar().value() > 0
    press(tree, tree.current)
    assert chosen == [Selection("token", text=history.token(tree.nodes[-1].tree.token_id))]
