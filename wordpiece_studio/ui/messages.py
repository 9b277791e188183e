"""The only way errors reach the user: a sentence about what happened, and a sentence about what to do.

A :class:`~wordpiece_studio.errors.StudioError` is shown as it is. Anything else is a fault in the program: it is logged
with its traceback, one dialog reports it (no second one while the first is open, or within a few seconds), and the
program carries on. What asks for no decision is shown in a banner above the timeline, where it moves nothing.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, get_args

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMessageBox, QPushButton, QVBoxLayout, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.task import single_shot
from wordpiece_studio.ui.widgets.fields import room_for
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import plain_label, set_look, set_plain_text, shown, tool_button

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import TracebackType

    from PySide6.QtGui import QEnterEvent

    from wordpiece_studio.ui.widgets.theme import Theme

_log = logging.getLogger(__name__)
_QUIET_SECONDS = 10.0
_LONGEST_TEXT = 2_000  # characters: it may quote a file, and laying out many more takes seconds


class Messages(QObject):
    fault_happened = Signal(object)  # the traceback of an unexpected exception, from any thread
    diagnostics_requested = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._open_box: QMessageBox | None = None
        self._is_quiet = False
        self._last_fault_time = -_QUIET_SECONDS
        # Queued on purpose: an exception inside a paint event must not open a dialog inside that paint event.
        self.fault_happened.connect(self._on_fault_happened, Qt.ConnectionType.QueuedConnection)

    def show_error(self, error: StudioError) -> None:
        _log.info("shown to the user: %s", error)
        self._show(QMessageBox.Icon.Warning, sentence(error.what), error.advice)

    def show_information(self, text: str, details: str) -> None:
        self._show(QMessageBox.Icon.Information, text, details)

    def set_quiet(self, is_quiet: bool) -> None:
        """Keep the latest message back from now on, or show it."""
        self._is_quiet = is_quiet
        if self._open_box is not None and not is_quiet:
            self._open_box.open()

    # -- faults in the program

    def catch_faults(self) -> None:
        """Route every uncaught exception here, of all threads."""
        sys.excepthook = self._on_exception
        threading.excepthook = lambda raised: self._on_exception(*raised[:3])

    def release_faults(self) -> None:
        sys.excepthook = sys.__excepthook__
        threading.excepthook = threading.__excepthook__

    def _on_exception(
        self, kind: type[BaseException], error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        self.fault_happened.emit("".join(traceback.format_exception(kind, error, trace)))

    def _on_fault_happened(self, report: str) -> None:
        _log.error("unexpected exception\n%s", report)
        quiet = time.monotonic() - self._last_fault_time < _QUIET_SECONDS
        self._last_fault_time = time.monotonic()
        if quiet or (self._open_box is not None and self._open_box.isVisible()):
            return
        box = self._show(
            QMessageBox.Icon.Critical,
            self.tr("WordPiece Studio ran into an unexpected error."),
            self.tr("Your corpus and merges are safe. See the log file for details, or use “Copy diagnostics” to "
            "copy everything needed for a report."),
        )  # fmt: skip
        box.setDetailedText(report[-20_000:])
        button = QPushButton(self.tr("Copy diagnostics"), box)
        box.addButton(button, QMessageBox.ButtonRole.ActionRole)
        button.clicked.disconnect()  # this button does not close the box
        button.clicked.connect(self.diagnostics_requested)

    def _show(self, picture: QMessageBox.Icon, text: str, details: str) -> QMessageBox:
        box = plain_box(self._window, picture, text, details)
        box.setEscapeButton(box.addButton(QMessageBox.StandardButton.Ok))  # also of several
        if self._open_box is not None:
            self._open_box.done(0)  # the newest message is the one that matters
        self._open_box = box
        box.finished.connect(lambda: setattr(self, "_open_box", None))
        if not self._is_quiet:
            box.open()
        return box


def plain_box(parent: QWidget, picture: QMessageBox.Icon, text: str, details: str = "") -> QMessageBox:
    """Return a message box without buttons that shows `text` and `details` as they are, never as HTML."""
    box = QMessageBox(parent, icon=picture, textFormat=Qt.TextFormat.PlainText)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setWindowTitle("WordPiece Studio")
    most = min(_LONGEST_TEXT, room_for(parent).height())  # so many characters fit on a screen
    box.setText(shown(text, most))
    box.setInformativeText(shown(details, most))
    return box


def add_button(box: QMessageBox, which: QMessageBox.StandardButton, text: str = "") -> QPushButton:
    """Add the button `which` with `text`, where & marks the mnemonic. Cancel has a default text and the Escape key."""
    button = box.addButton(which)
    if which is QMessageBox.StandardButton.Cancel:
        box.setEscapeButton(which)
    button.setText(text or QCoreApplication.translate("messages", "&Cancel"))
    return button


def question_box(
    parent: QWidget, text: str, details: str, answers: Mapping[QMessageBox.StandardButton, str], *,
    default: QMessageBox.StandardButton = QMessageBox.StandardButton.Cancel,
    picture: QMessageBox.Icon = QMessageBox.Icon.Question,
) -> QMessageBox:  # fmt: skip
    box = plain_box(parent, picture, text, details)
    for which, words in answers.items():
        add_button(box, which, words)
    add_button(box, QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(default)
    return box


def ask(
    box: QMessageBox,
    acts: Mapping[QMessageBox.StandardButton, Callable[[], object]],
    otherwise: Callable[[], object] = lambda: None,
) -> None:
    """Show a question over its window, and do what belongs to the answer."""
    by_answer = {which.value: act for which, act in acts.items()}
    box.finished.connect(lambda answer: by_answer.get(answer, otherwise)())
    box.open()


@contextmanager
def reported(report: Callable[[StudioError], object]) -> Iterator[None]:
    """Report a `StudioError`, which ends what stands in the block."""
    try:
        yield
    except StudioError as error:
        report(error)


def sentence(what: str) -> str:
    return what if what.endswith((".", "!", "?")) else f"{what}."


BannerKind = Literal["error", "warning", "info"]
_AROUND = 44  # pixels beside its text and its buttons
_READING_MS, _CHARACTER_MS = 2500, 60  # to notice a message, and to read each character of it at leisure


def reading_time(text: str) -> int:
    """Return for how many milliseconds a message is shown.

    >>> reading_time("Saved."), reading_time("x" * 100)
    (2860, 8500)
    """
    return _READING_MS + _CHARACTER_MS * len(text)


class Banner(QFrame):
    """A message that goes by itself once it could be read, unless it needs an answer: then it waits for one."""

    def __init__(self, parent: Notices) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self.kind: BannerKind = "info"
        self.can_come_back = False  # the last message has gone, and still holds
        self.act: Callable[[], None] | None = None  # what the button does
        self._notices = parent
        self._waits = False
        self._label = plain_label("", self, wrap=True)
        self.button = QPushButton(self)
        self.button.clicked.connect(lambda: self.act() if self.act is not None else None)
        self.close_button = tool_button("", self.tr("Dismiss this message"), self)
        self.close_button.clicked.connect(lambda: self._hide(can_come_back=True))
        self.timer = single_shot(self, self._leave)
        fill(QHBoxLayout(self), (self._label, 1), self.button, self.close_button, margins=(12, 6, 6, 6), spacing=-1)
        self.hide()

    @property
    def text(self) -> str:
        return self._label.text() if not self.isHidden() else ""

    def show_message(
        self, text: str, kind: BannerKind = "info", action: str = "", act: Callable[[], None] | None = None, *,
        needs_answer: bool = True,
    ) -> None:  # fmt: skip
        """Show `text`, and a button with the text `action` that does `act`; `needs_answer`: it waits for the button."""
        self.kind, self.act, self._waits = kind, act, bool(action) and needs_answer
        set_look(self, kind=kind)
        for child in (self._label, self.button):
            child.style().polish(child)
        one_paragraph = shown(" ".join(text.split()), 600)  # the work below needs the room
        set_plain_text(self._label, one_paragraph)
        self._label.setAccessibleName(one_paragraph)
        self.button.setText(action)
        self.button.setVisible(bool(action))
        self.come_back()

    def come_back(self) -> None:
        self.can_come_back = False
        self.show()
        self._wait()
        self._notices.arrange()

    def clear(self) -> None:
        self.act = None
        self._label.clear()
        self._label.setAccessibleName("")
        self._hide(can_come_back=False)

    def wanted_width(self) -> int:
        parts = [part.sizeHint().width() for part in (self.button, self.close_button) if not part.isHidden()]
        return self._label.fontMetrics().horizontalAdvance(self._label.text()) + sum(parts) + _AROUND

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.timer.stop()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        if not self.isHidden():
            self._wait()

    def _wait(self) -> None:
        if self._waits:
            self.timer.stop()
        else:
            self.timer.start(reading_time(self._label.text()))

    def _leave(self) -> None:
        if self.isVisible():
            self._hide(can_come_back=True)
        else:
            self._wait()

    def _hide(self, *, can_come_back: bool) -> None:
        self.can_come_back = can_come_back
        self.timer.stop()
        self.hide()
        self._notices.arrange()


_WIDEST, _EDGE, _BETWEEN = 430, 14, 6
_PLACING = (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide)


class Notices(QWidget):
    """A banner for each topic, at the right over the foot of the parent; the most urgent is at the top."""

    changed = Signal()  # `can_come_back`

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._parent = parent
        self._free: QWidget | None = None
        self._is_quiet = False
        self.files, self.project, self.export, self.library, self.training, self.step, self.lesson = self._banners = [
            Banner(self) for _ in range(7)
        ]
        self._layout = fill(QVBoxLayout(self), *self._banners, spacing=_BETWEEN)
        for banner in self._banners:
            theme.set_icon(banner.close_button, "close", "muted")
        parent.installEventFilter(self)
        self.hide()

    @property
    def can_come_back(self) -> bool:
        return any(banner.can_come_back for banner in self._banners)

    def come_back(self) -> None:
        for banner in self._banners:
            if banner.can_come_back:
                banner.come_back()

    def keep_free(self, part: QWidget) -> None:
        self._free = part
        part.installEventFilter(self)
        self._place()

    def set_quiet(self, is_quiet: bool) -> None:
        self._is_quiet = is_quiet
        self._place()

    def arrange(self) -> None:
        for place, banner in enumerate(sorted(self._banners, key=lambda each: get_args(BannerKind).index(each.kind))):
            self._layout.insertWidget(place, banner)
        self._place()
        self.changed.emit()

    def event(self, event: QEvent) -> bool:
        is_handled = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._place()
        return is_handled

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _PLACING and watched in (self._parent, self._free):
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        seen = [banner for banner in self._banners if not banner.isHidden()]
        self.setVisible(bool(seen) and not self._is_quiet)
        if self.isHidden():
            return
        parent = self._parent
        width = min(max(banner.wanted_width() for banner in seen), _WIDEST, parent.width() - 2 * _EDGE)
        height, foot = self._layout.heightForWidth(width), parent.height()
        if self._free is not None and self._free.isVisible():
            foot = max(self._free.mapTo(parent, QPoint()).y(), height + 2 * _EDGE)
        self.setGeometry(parent.width() - width - _EDGE, foot - height - _EDGE, width, height)
        self.raise_()
