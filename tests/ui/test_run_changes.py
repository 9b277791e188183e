"""Another run in the place of the one that is shown: whatever is remembered of the old one, all panes live with it.

The places where it would hurt are sought on purpose: every pane is painted, pointed at and asked for tooltips right
inside the signals with which the run changes, while some parts know of it already and others do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QHelpEvent, QHoverEvent, QMouseEvent
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from wordpiece_studio.session.vocabulary_table import VocabularyColumn
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.ui.panes.tokenization.live_chips import ChipPlace
from wordpiece_studio.ui.widgets.pane import Pane

if TYPE_CHECKING:
    from tests.ui.conftest import Studio

_NO_BUTTONS, _NO_KEYS = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier


def train_again(studio: Studio, size: int) -> None:
    window = studio.window
    window.session.settings.set_config(TrainingConfig(vocab_size=size))
    with studio.qtbot.waitSignal(window.model.run_reset):
        window.actions_.train.trigger()
    studio.wait_finished()


def point_at(widget: QWidget, place: QPoint) -> None:
    """Move the pointer there and ask for the tooltip, as Qt would."""
    there = widget.mapToGlobal(place)
    move = QMouseEvent(QEvent.Type.MouseMove, QPointF(place), QPointF(there), _NO_BUTTONS, _NO_BUTTONS, _NO_KEYS)
    QApplication.sendEvent(widget, move)
    QApplication.sendEvent(widget, QHoverEvent(QEvent.Type.HoverMove, QPointF(place), QPointF(there), QPointF(place)))
    QApplication.sendEvent(widget, QHelpEvent(QEvent.Type.ToolTip, place, there))


def touch_all(window: QWidget) -> None:
    """Paint every pane that is seen and point at the corners and the middle of all that is in it."""
    for pane in window.findChildren(Pane):
        if pane.isVisible():
            pane.grab()
            for widget in pane.findChildren(QWidget):
                if isValid(widget) and widget.isVisible():  # a tooltip comes and goes
                    rect = widget.rect()
                    for place in (rect.center(), rect.topLeft() + QPoint(8, 8), rect.bottomRight() - QPoint(8, 8)):
                        point_at(widget, place)


@pytest.fixture
def engineer(studio: Studio) -> Studio:
    """A window with all panes, at the last step, with something chosen in each of them."""
    window = studio.window
    window.resize(1920, 1080)
    window.actions_.choice("choose_layout", "engineer").trigger()
    window.model.last()
    window.tokenization_pane.chips.chosen.emit((ChipPlace(0, 3, 1), False))
    window.model.set_selection(Selection("token", text=window.model.history[24].token))
    plot = window.timeline_pane.plot
    studio.wait(lambda: plot.isVisible() and plot.maximum() == 25)
    point_at(plot, plot.rect().center() + QPoint(plot.width() // 2 - 16, 0))
    assert plot.hovered == 25
    return studio


@pytest.mark.parametrize(
    ("details", "size"), [("token_details", 46), ("charts", 300), ("vocabulary", 50), ("history", 300)]
)
def test_every_pane_is_painted_in_the_middle_of_the_change(engineer: Studio, size: int, details: str) -> None:
    window = engineer.window
    window.docks.bring(details)
    QApplication.processEvents()
    signals = (
        window.model.run_reset, window.session.usage.changed, window.session.changes.changed, window.model.step_changed,
        window.model.selection_changed, window.model.state_changed, window.model.merges_appended,
    )  # fmt: skip
    touched = []

    def touch(*_values: object) -> None:
        touched.append(window.model.merge_count)
        touch_all(window)

    for signal in signals:
        signal.connect(touch)
    train_again(engineer, size)
    QApplication.processEvents()
    for signal in signals:
        signal.disconnect(touch)
    assert touched
    touch_all(window)


def test_the_step_under_the_pointer_is_forgotten_with_its_run(engineer: Studio) -> None:
    """A segmentation fault once: the step was described from the new run while the painter was open."""
    plot = engineer.window.timeline_pane.plot
    train_again(engineer, 50)
    engineer.wait(lambda: plot.maximum() == engineer.window.model.merge_count == 5)
    plot.grab()
    assert plot.hovered is None


@pytest.mark.parametrize(
    ("column", "size"),
    [(VocabularyColumn.FREQUENCY, 46), (VocabularyColumn.WORDS, 200), (VocabularyColumn.REASON, 70)],
)
def test_a_sorted_vocabulary_takes_another_run(engineer: Studio, column: VocabularyColumn, size: int) -> None:
    window = engineer.window
    window.docks.bring("vocabulary")
    engineer.wait(lambda: window.session.usage.is_current)
    table, view = window.vocabulary_pane.table, window.vocabulary_pane.view
    tester = QAbstractItemModelTester(table, QAbstractItemModelTester.FailureReportingMode.Fatal)
    view.sortByColumn(int(column), Qt.SortOrder.DescendingOrder)
    view.selectRow(table.row_of_item(69))
    train_again(engineer, size)
    engineer.wait(lambda: window.session.usage.is_current and window.session.usage.step == window.model.step)
    engineer.wait(lambda: not window.vocabulary_pane.is_stale)
    engineer.wait(lambda: table.rowCount() == window.model.history.vocabulary_size(window.model.step))
    tester.deleteLater()


def test_the_table_of_tokens_never_mixes_two_tokenizers(engineer: Studio) -> None:
    """It was shown with the rows of one tokenizer and the words of another until the pane was refreshed."""
    window = engineer.window
    pane = window.tokenization_pane
    pane.set_text("the tokenization of the chapter about tokenizers")
    engineer.wait(lambda: not pane.is_stale)
    pane.options.table.setChecked(True)
    engineer.wait(lambda: pane._table.isVisible() and not pane.is_stale)
    pane.options.table.setChecked(False)
    for step in (0, 25, 3):
        window.model.seek(step)
        engineer.wait(lambda: not pane.is_stale)
        pane.options.table.setChecked(True)  # it is painted before the pane is refreshed
        pane._table.grab()
        model = pane._table.rows
        rows = [model.index(row, 0).data() for row in range(model.rowCount())]
        assert rows == pane.tokens
        pane._table.item_chosen.emit(len(rows) - 1)
        pane.options.table.setChecked(False)
