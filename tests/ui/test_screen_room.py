"""No window is larger than the screen, and what has no room in it is scrolled while the buttons stay in sight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QRect, QSize
from PySide6.QtWidgets import QDialogButtonBox, QMessageBox, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.adaptation import Adaptation
from wordpiece_studio.session.document import Reading
from wordpiece_studio.session.recovery_store import About
from wordpiece_studio.ui import messages
from wordpiece_studio.ui.dialogs.adapt_vocabulary import AdaptWindow
from wordpiece_studio.ui.dialogs.check_tokenizer import CheckWindow
from wordpiece_studio.ui.dialogs.export_dialog import ExportDialog, HistoryExportDialog
from wordpiece_studio.ui.dialogs.file_questions import RecoveryDialog
from wordpiece_studio.ui.dialogs.help_window import HelpWindow, KeyLine, KeysWindow
from wordpiece_studio.ui.panes.corpus.reading import EncodingDialog
from wordpiece_studio.ui.panes.timeline.marks_dialogs import MarksDialog
from wordpiece_studio.ui.training_bar import FurtherDialog, SpecialTokensDialog
from wordpiece_studio.ui.widgets import fields
from wordpiece_studio.ui.widgets.fields import LineDialog, RoomArea, ScreenDialog

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest
    from pytestqt.qtbot import QtBot

    from tests.ui.conftest import Studio
    from wordpiece_studio.ui.widgets.theme import Theme

SCREENS = (QSize(800, 480), QSize(911, 512), QSize(683, 384), QSize(1366, 768), QSize(500, 250))


def rooms(monkeypatch: pytest.MonkeyPatch) -> Iterator[QSize]:
    """Yield what each screen leaves for the inside of a window, which is on that screen then."""
    for screen in SCREENS:
        room = screen - fields.FRAME
        for module in (fields, messages):
            monkeypatch.setattr(module, "room_for", lambda _window, room=room: room)
        yield room


def kinds_of_dialogs(kind: type) -> set[type]:
    """Return the subclasses that have none themselves."""
    return set().union(*(kinds_of_dialogs(each) or {each} for each in kind.__subclasses__()))


def line_dialog(parent: QWidget) -> LineDialog:
    return LineDialog("Title", "Label", "text", parent, name="Name", accept="Take", entry="run", take=str)


def dialogs(studio: Studio, folder: Path) -> Iterator[ScreenDialog]:
    window = studio.window
    session, theme = window.session, window.theme
    error = StudioError("The file is not valid UTF-8 in line {line}", "", line=3)
    yield ExportDialog([(30, 100), (12, 82)], folder, theme.mono_font(-1), window)
    yield EncodingDialog(error, Reading(), window, guess="latin-1", files=3)
    yield HistoryExportDialog(30, 12, window)
    yield line_dialog(window)
    yield MarksDialog(session.marks, window.actions_, theme, window)
    yield SpecialTokensDialog(("[UNK]",), window)
    yield FurtherDialog(70, window, note="The text was changed.")
    yield RecoveryDialog([About(name=f"text {number}", edits=1) for number in range(9)], window)
    yield AdaptWindow(Adaptation("extend", session, window), session, theme, window)
    yield AdaptWindow(Adaptation("prune", session, window), session, theme, window)
    yield CheckWindow(session, theme, window)
    yield HelpWindow(theme, window)
    yield KeysWindow([KeyLine("File", "Open", "Ctrl+O")] * 60, theme, window)


def test_every_dialog_fits_and_its_buttons_are_in_sight(
    empty_studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds: set[type] = set()
    for room in rooms(monkeypatch):
        for dialog in dialogs(empty_studio, tmp_path):
            kinds.add(type(dialog))
            dialog.show()
            empty_studio.qtbot.waitExposed(dialog)
            for size in (dialog.size(), dialog.minimumSizeHint()):
                assert size.boundedTo(room) == size, dialog.windowTitle()
            for box in dialog.findChildren(QDialogButtonBox):
                place = QRect(box.mapTo(dialog, box.rect().topLeft()), box.size())
                assert dialog.rect().contains(place), dialog.windowTitle()
            dialog.close()
            dialog.deleteLater()
    assert kinds == kinds_of_dialogs(ScreenDialog), "a new kind of dialog belongs in this walk"


def test_the_window_fits(empty_studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    window = empty_studio.window
    window.show()
    empty_studio.qtbot.waitExposed(window)
    area = window.centralWidget()
    assert isinstance(area, RoomArea)
    for room in rooms(monkeypatch):
        area.updateGeometry()
        QCoreApplication.processEvents()
        window.resize(room)
        assert window.size() == room
        content = area._content.minimumSizeHint()
        has_room = content.boundedTo(area.viewport().size()) == content
        bars = (area.horizontalScrollBar(), area.verticalScrollBar())
        assert has_room is not any(bar.maximum() > 0 for bar in bars)


def test_messages_fit(empty_studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    for room in rooms(monkeypatch):
        if room.height() > 300:  # what is smaller is smaller than any screen
            box = messages.plain_box(empty_studio.window, QMessageBox.Icon.Warning, "word " * 2000, "word " * 2000)
            box.addButton(QMessageBox.StandardButton.Ok)
            box.show()
            assert box.height() <= room.height()
            box.close()


def test_what_fits_is_not_scrolled(empty_studio: Studio) -> None:
    dialog = line_dialog(empty_studio.window)
    dialog.show()
    assert not dialog.findChildren(RoomArea)
    dialog.close()


def test_what_is_open_grows_with_its_text(empty_studio: Studio, styled: Theme) -> None:
    window = empty_studio.window
    dialog = KeysWindow([KeyLine("View", "Larger text", "Ctrl++")], styled, window)
    dialog.show()
    before = dialog.size()
    styled.set_scale(1.2)
    assert dialog.width() > 1.1 * before.width()
    assert dialog.height() > 1.1 * before.height()
    styled.set_scale(1.0)
    assert abs(dialog.width() - before.width()) < 20
    dialog.close()


def test_what_is_scrolled_down_is_not_scrolled_sideways(
    empty_studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = ExportDialog([(30, 100), (12, 82)], tmp_path, empty_studio.window.theme.mono_font(-1), empty_studio.window)
    dialog.ensurePolished()
    width = dialog.layout().totalMinimumSize().width()
    monkeypatch.setattr(fields, "room_for", lambda _window: QSize(width + 100, 300))
    dialog.show()
    empty_studio.qtbot.waitExposed(dialog)
    (area,) = dialog.findChildren(RoomArea)
    empty_studio.wait(lambda: area.width() == dialog.width() and area.verticalScrollBar().maximum() > 0)
    assert area.horizontalScrollBar().maximum() == 0
    dialog.close()


class Restless(QWidget):
    """Needs much room when it has little, and little when it has much."""

    def minimumSizeHint(self) -> QSize:
        return QSize(100, 900 if self.height() < 500 else 100)


def test_content_that_never_fits_is_not_fitted_for_ever(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    area = RoomArea(Restless(), window)
    window.show()
    for height in (200, 700, 300):
        area.resize(300, height)
        QCoreApplication.processEvents()
        assert area.widget().width() >= 250
