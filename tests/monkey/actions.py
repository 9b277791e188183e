"""What a user can do, as actions that are drawn at random, written to a log as JSON, and done again from it.

Mouse and keys go through Qt's window system, so that modal dialogs, popups and shortcuts have their say, as they would
with a person. Widgets are named by where they stand in the window, so that an action can be done in another process.
"""

from __future__ import annotations

import faulthandler
import json
import logging
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import shiboken6
from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QPointF, QSize, Qt, QTimer, QUrl, qWarning
from PySide6.QtGui import (
    QAction,
    QDragEnterEvent,
    QDragMoveEvent,
    QDropEvent,
    QGuiApplication,
    QInputMethodEvent,
    QKeyEvent,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QFileDialog,
    QHeaderView,
    QLineEdit,
    QMainWindow,
    QMenu,
    QPlainTextEdit,
    QScrollBar,
    QTableView,
    QTreeView,
    QWidget,
)

from tests.monkey.sandbox import NAMES, NUMBERS, PATTERNS, TEXTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.monkey.sandbox import Sandbox

_LEFT, _RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton
_NONE, _SHIFT = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
_CTRL, _ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
_MODIFIERS = (_NONE, _NONE, _NONE, _SHIFT, _CTRL, _CTRL | _SHIFT, _ALT)
_KEYS = (
    "Left", "Right", "Up", "Down", "Home", "End", "PageUp", "PageDown", "Tab", "Backtab", "Return", "Enter", "Escape",
    "Space", "Delete", "Backspace", "F1", "F2", "F3", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "BracketLeft",
    "BracketRight", "Plus", "Minus", "Menu", "A", "B", "C", "D", "E", "F", "G", "K", "L", "M", "N", "P", "T", "V", "X",
    "Y", "Z", "0", "1", "2", "3",
)  # fmt: skip
_PAUSES_MS = (0, 0, 0, 0, 1, 5, 20, 60, 150)
_SIZES = ((1366, 768), (1024, 768), (1920, 1080), (1440, 900), (640, 480))
_LARGE = ("a" * 1_000_000, "low lower lowest\n" * 60_000, "\n" * 200_000, "\U0001f917 " * 50_000)


@dataclass(frozen=True, slots=True)
class Action:
    """Something that is done: what, to which widget, and how; then the event loop runs for `pause_ms`."""

    kind: str
    target: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    pause_ms: int = 0

    def to_json(self) -> str:
        """Return it as one line."""
        return json.dumps([self.kind, self.target, self.data, self.pause_ms])

    @staticmethod
    def from_json(line: str) -> Action:
        """Return what `to_json` wrote."""
        return Action(*json.loads(line))


_held: list[QWidget] = []
"""What an action has looked at so far. PySide takes a widget of Qt's own for deleted once nothing in Python holds its
parent any more."""


# ---- which widget ----------------------------------------------------------------------------------------------------


def path_of(widget: QWidget) -> str:
    """Return where a widget stands: the class, and which of its siblings of that class, from the window down."""
    names: list[str] = []
    while True:
        parent = None if widget.isWindow() else widget.parentWidget()
        _held.append(widget)
        siblings = _children(parent) if parent is not None else QApplication.topLevelWidgets()
        same = [each for each in siblings if type(each) is type(widget) and each.isVisible()]
        names.append(f"{type(widget).__name__}:{same.index(widget) if widget in same else 0}")
        if parent is None:
            return "/".join(reversed(names))
        widget = parent


def widget_at(path: str) -> QWidget | None:
    """Return the widget that stands at a path now; None if there is none, or it cannot be seen."""
    found: QWidget | None = None
    for part in path.split("/"):
        name, _, number = part.partition(":")
        siblings = _children(found) if found is not None else QApplication.topLevelWidgets()
        same = [each for each in siblings if type(each).__name__ == name and each.isVisible()]
        if int(number) >= len(same):
            return None
        found = same[int(number)]
        _held.append(found)
    return found


def _children(widget: QWidget) -> list[QWidget]:
    children = widget.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return [each for each in children if not each.isWindow()]


def front_windows() -> list[QWidget]:
    """Return the windows that a person can act on: a popup, else a modal dialog, else all that are open."""
    popup, modal = QApplication.activePopupWidget(), QApplication.activeModalWidget()
    if popup is not None or modal is not None:
        return [popup if popup is not None else modal]
    return [each for each in QApplication.topLevelWidgets() if each.isVisible()]


def _visible(window: QWidget) -> list[QWidget]:
    _held.extend(window.findChildren(QWidget))
    found = (each for each in window.findChildren(QWidget) if each.isVisible() and each.isEnabled())
    return [each for each in found if each.window() is window and each.width() > 1 and each.height() > 1]


# ---- drawing ---------------------------------------------------------------------------------------------------------


class Chooser:
    """Draws actions from what can be seen and done now."""

    def __init__(self, rng: Random, sandbox: Sandbox) -> None:
        self._rng = rng
        self._sandbox = sandbox
        self.files_read: Callable[[], Sequence[Path]] = tuple
        """Returns the files that the window has read."""
        self._kinds: dict[str, tuple[int, Callable[[list[QWidget]], Action | None]]] = {
            "click": (26, self._click),
            "key": (22, self._key),
            "trigger": (16, self._trigger),
            "pick": (9, self._pick),
            "type": (9, self._type),
            "hover": (8, self._hover),
            "drag": (6, self._drag),
            "wheel": (3, self._wheel),
            "paste": (3, self._paste),
            "compose": (1, self._compose),
            "drop": (2, self._drop),
            "wait": (4, self._wait),
            "resize": (1, self._resize),
            "spoil": (1, lambda _windows: Action("spoil", data={"seed": self._rng.randrange(1 << 30)})),
            "change": (2, self._change),
            "touch": (1, lambda _windows: Action("touch", data={"seed": self._rng.randrange(1 << 30)})),
        }

    def draw(self) -> Action:
        """Return something that can be done now."""
        _held.clear()
        windows = front_windows()
        if windows and isinstance(windows[0], QFileDialog) and self._rng.random() < 0.7:
            return self._place(windows[0])
        if windows and isinstance(windows[0], QMenu):
            return self._rng.choice((self._key, self._click))(windows) or Action("escape")
        kinds, weights = list(self._kinds), [weight for weight, _draw in self._kinds.values()]
        while True:
            kind = self._rng.choices(kinds, weights)[0]
            action = self._kinds[kind][1](windows)
            if action is not None:
                pause = self._rng.choice(_PAUSES_MS)
                return Action(action.kind, action.target, action.data, action.pause_ms or pause)

    def _widget(self, windows: list[QWidget], *kinds: type[QWidget]) -> QWidget | None:
        """Return some widget; first its class is chosen, so that the many labels do not hide the few buttons."""
        if not windows:
            return None
        by_class: dict[str, list[QWidget]] = {}
        for each in _visible(self._rng.choice(windows)):
            if not kinds or isinstance(each, kinds):
                by_class.setdefault(type(each).__name__, []).append(each)
        return self._rng.choice(by_class[self._rng.choice(list(by_class))]) if by_class else None

    def _place_in(self) -> dict[str, float]:
        return {"x": round(self._rng.random(), 4), "y": round(self._rng.random(), 4)}

    def _click(self, windows: list[QWidget]) -> Action | None:
        widget = self._widget(windows)
        if widget is None:
            return None
        draw = self._rng.random()
        data: dict[str, Any] = {**self._place_in(), "right": draw < 0.08, "double": 0.08 <= draw < 0.16}
        data["modifiers"] = self._rng.choice(_MODIFIERS).value if draw > 0.85 else 0
        return Action("click", path_of(widget), data)

    def _key(self, windows: list[QWidget]) -> Action | None:
        if not windows:
            return None
        window = self._rng.choice(windows)
        shortcuts = [each for each in window.actions() if each.isEnabled() and not each.shortcut().isEmpty()]
        if shortcuts and self._rng.random() < 0.5:
            combination = self._rng.choice(shortcuts).shortcut()[0]
            key, modifiers = combination.key().value, combination.keyboardModifiers().value
        else:
            key = getattr(Qt.Key, f"Key_{self._rng.choice(_KEYS)}").value
            modifiers = self._rng.choice(_MODIFIERS).value
        data = {"key": key, "modifiers": modifiers, "times": self._rng.choice((1, 1, 4))}
        return Action("key", path_of(window), data)

    def _trigger(self, windows: list[QWidget]) -> Action | None:
        names = [name for window in windows for name, action in _actions(window) if action.isEnabled()]
        return Action("trigger", path_of(windows[0]), {"name": self._rng.choice(names)}) if names else None

    def _pick(self, windows: list[QWidget]) -> Action | None:
        view = self._widget(windows, QAbstractItemView)
        if not isinstance(view, QAbstractItemView) or isinstance(view, QHeaderView) or view.model() is None:
            return None
        rows, columns = view.model().rowCount(view.rootIndex()), _column_count(view)
        if not rows or not columns:
            return None
        data = {"row": self._rng.randrange(rows), "column": self._rng.randrange(columns)}
        draw = self._rng.random()
        data |= {"double": draw < 0.1, "right": 0.1 <= draw < 0.2, "modifiers": self._rng.choice(_MODIFIERS[:5]).value}
        return Action("pick", path_of(view), data)

    def _type(self, windows: list[QWidget]) -> Action | None:
        field_ = self._widget(windows, QLineEdit, QPlainTextEdit, QAbstractSpinBox, QComboBox)
        if field_ is None:
            return None
        pool = self._rng.choice((TEXTS, TEXTS, PATTERNS, NUMBERS))
        if isinstance(field_, QAbstractSpinBox):
            pool = NUMBERS
        text = self._rng.choice(pool)
        start = self._rng.randrange(len(text) + 1) if self._rng.random() < 0.5 else 0
        data = {"text": text[start : start + 40], "all": self._rng.random() < 0.3, "enter": self._rng.random() < 0.4}
        return Action("type", path_of(field_), data)

    def _hover(self, windows: list[QWidget]) -> Action | None:
        widget = self._widget(windows)
        return Action("hover", path_of(widget), self._place_in()) if widget is not None else None

    def _drag(self, windows: list[QWidget]) -> Action | None:
        widget = self._widget(windows)
        if widget is None:
            return None
        if self._rng.random() < 0.4:
            widget = self._widget(windows, QScrollBar) or widget
        end = self._place_in()
        return Action("drag", path_of(widget), {**self._place_in(), "to_x": end["x"], "to_y": end["y"]})

    def _wheel(self, windows: list[QWidget]) -> Action | None:
        widget = self._widget(windows)
        if widget is None:
            return None
        turn, modifiers = self._rng.choice((-1200, -120, 120, 1200)), self._rng.choice((_NONE, _NONE, _CTRL)).value
        return Action("wheel", path_of(widget), {**self._place_in(), "turn": turn, "modifiers": modifiers})

    def _paste(self, windows: list[QWidget]) -> Action | None:
        field_ = self._widget(windows, QLineEdit, QPlainTextEdit)
        if field_ is None:
            return None
        if self._rng.random() < 0.06:
            return Action("paste", path_of(field_), {"large": self._rng.randrange(len(_LARGE))})
        return Action("paste", path_of(field_), {"text": self._rng.choice(TEXTS)})

    def _compose(self, _windows: list[QWidget]) -> Action:
        text = self._rng.choice(("ㅎ", "한", "ni hao", "あ"))
        return Action("compose", data={"text": text, "ends": self._rng.random() < 0.6})

    def _drop(self, windows: list[QWidget]) -> Action | None:
        widget = self._widget(windows)
        if widget is None:
            return None
        paths = self._rng.sample(self._sandbox.paths(), k=self._rng.choice((1, 1, 2)))
        names = [str(path.relative_to(self._sandbox.folder)) for path in paths]
        return Action("drop", path_of(widget), {"paths": names, "text": self._rng.choice(("", "", "dropped text"))})

    def _wait(self, _windows: list[QWidget]) -> Action:
        return Action("wait", pause_ms=self._rng.choice((50, 200, 700)))

    def _resize(self, windows: list[QWidget]) -> Action | None:
        if not windows:
            return None
        width, height = self._rng.choice(_SIZES)
        return Action("resize", path_of(self._rng.choice(windows)), {"width": width, "height": height})

    def _change(self, _windows: list[QWidget]) -> Action | None:
        folder = self._sandbox.folder.resolve()
        names = [str(path.relative_to(folder)) for path in self.files_read() if folder in path.parents]
        seed = self._rng.randrange(1 << 30)
        return Action("change", data={"path": self._rng.choice(names), "seed": seed}) if names else None

    def _place(self, dialog: QFileDialog) -> Action:
        """Choose a file or a folder, one that is there or a new one, or none."""
        names = [str(path.relative_to(self._sandbox.folder)) for path in self._sandbox.paths()]
        if dialog.acceptMode() is QFileDialog.AcceptMode.AcceptSave:
            names += NAMES * 8
        chosen = self._rng.sample(names, k=1)
        return Action("place", path_of(dialog), {"paths": chosen if self._rng.random() < 0.85 else []})


def _actions(window: QWidget) -> Iterator[tuple[str, QAction]]:
    """Yield the commands of a window that are in its menus or have keys, with names that stay what they are."""
    bar = window.menuBar() if isinstance(window, QMainWindow) else None
    in_menus = _menu_actions(bar.actions()) if bar is not None else ()
    for action in dict.fromkeys((*in_menus, *window.actions())):
        if action.isVisible() and not action.isSeparator() and action.text():
            yield action.text(), action


def _menu_actions(actions: list[QAction]) -> Iterator[QAction]:
    for action in actions:
        menu = action.menu()
        if isinstance(menu, QMenu):
            yield from _menu_actions(menu.actions())
        else:
            yield action


def _column_count(view: QAbstractItemView) -> int:
    if isinstance(view, QTableView):
        return view.horizontalHeader().count()
    return view.header().count() if isinstance(view, QTreeView) else 1


def _fail() -> None:
    raise ValueError("planted")


def _is_there(one: QObject, those: Sequence[QObject]) -> bool:
    """Whether a window or widget was not deleted by what was done to it: a menu is when something in it is chosen."""
    return shiboken6.isValid(one) and shiboken6.getCppPointer(one) in map(shiboken6.getCppPointer, those)


def _in_window(widget: QWidget, point: QPoint) -> QPoint:
    """Return a place in a widget as one in its window, on the edge where the widget reaches out of it."""
    window = widget.window()
    size = window.size().boundedTo(window.windowHandle().size())  # one may lag behind the other
    return _within(size, widget.mapTo(window, point))


def _within(size: QSize, point: QPoint) -> QPoint:
    return QPoint(min(max(point.x(), 0), size.width() - 1), min(max(point.y(), 0), size.height() - 1))


# ---- doing -----------------------------------------------------------------------------------------------------------


class Hand:
    """Does actions; one whose widget is not there does nothing."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def do(self, action: Action) -> None:
        """Do it."""
        _held.clear()
        widget = widget_at(action.target) if action.target else None
        if widget is not None or not action.target:
            getattr(self, f"_do_{action.kind}")(widget, **action.data)

    @staticmethod
    def _point(widget: QWidget, x: float, y: float) -> QPoint:
        return _in_window(widget, QPoint(int(x * (widget.width() - 1)), int(y * (widget.height() - 1))))

    def _press(self, widget: QWidget, point: QPoint, modifiers: int, *, right: bool, double: bool) -> None:
        handle, button = widget.window().windowHandle(), _RIGHT if right else _LEFT
        if handle is None:
            return
        QTest.mouseMove(handle, point)
        if double and QApplication.activePopupWidget() is None and QApplication.activeModalWidget() is None:
            QTest.mouseDClick(handle, button, Qt.KeyboardModifier(modifiers), point)
            return
        if _is_there(handle, QGuiApplication.allWindows()):
            QTest.mousePress(handle, button, Qt.KeyboardModifier(modifiers), _within(handle.size(), point))
        if _is_there(handle, QGuiApplication.allWindows()):
            QTest.mouseRelease(handle, button, Qt.KeyboardModifier(modifiers), _within(handle.size(), point))

    def _do_click(self, widget: QWidget, x: float, y: float, right: bool, double: bool, modifiers: int) -> None:
        self._press(widget, self._point(widget, x, y), modifiers, right=right, double=double)

    def _do_key(self, _window: QWidget, key: int, modifiers: int, times: int) -> None:
        for _ in range(times):
            receiver = QApplication.activePopupWidget() or QApplication.focusWidget() or QApplication.activeWindow()
            if receiver is None:
                return
            QTest.keyPress(receiver, Qt.Key(key), Qt.KeyboardModifier(modifiers))
            if _is_there(receiver, QApplication.allWidgets()):
                QTest.keyRelease(receiver, Qt.Key(key), Qt.KeyboardModifier(modifiers))
            QApplication.processEvents()

    def _do_escape(self, _widget: QWidget | None) -> None:
        if (popup := QApplication.activePopupWidget()) is not None:
            popup.close()

    def _do_trigger(self, window: QWidget, name: str) -> None:
        for title, action in list(_actions(window)):
            if title == name and action.isEnabled():
                action.trigger()
                return

    def _do_pick(self, view: QWidget, row: int, column: int, double: bool, right: bool, modifiers: int) -> None:
        if not isinstance(view, QAbstractItemView) or view.model() is None:
            return
        index = view.model().index(row, column, view.rootIndex())
        if index.isValid():
            view.scrollTo(index)
            point = _in_window(view.viewport(), view.visualRect(index).center())
            self._press(view, point, modifiers, right=right, double=double)

    def _do_type(self, widget: QWidget, text: str, all: bool, enter: bool) -> None:
        widget.setFocus()
        if all and isinstance(widget, QLineEdit | QPlainTextEdit | QAbstractSpinBox):
            widget.selectAll()
        for character in text:
            receiver = QApplication.focusWidget()
            if receiver is not None:
                QApplication.sendEvent(receiver, QKeyEvent(QEvent.Type.KeyPress, 0, _NONE, character))
        if enter:
            self._do_key(widget.window(), Qt.Key.Key_Return.value, 0, 1)

    def _do_hover(self, widget: QWidget, x: float, y: float) -> None:
        if (handle := widget.window().windowHandle()) is not None:
            QTest.mouseMove(handle, self._point(widget, x, y))

    def _do_drag(self, widget: QWidget, x: float, y: float, to_x: float, to_y: float) -> None:
        handle = widget.window().windowHandle()
        if handle is None:
            return
        start, end = self._point(widget, x, y), self._point(widget, to_x, to_y)
        QTest.mousePress(handle, _LEFT, _NONE, start)
        for part in (1, 2, 3):
            if _is_there(handle, QGuiApplication.allWindows()):
                QTest.mouseMove(handle, _within(handle.size(), start + (end - start) * part / 3))
        if _is_there(handle, QGuiApplication.allWindows()):  # and it may be smaller now, dragged by its edge
            QTest.mouseRelease(handle, _LEFT, _NONE, _within(handle.size(), end))

    def _do_wheel(self, widget: QWidget, x: float, y: float, turn: int, modifiers: int) -> None:
        if (handle := widget.window().windowHandle()) is not None:
            point = self._point(widget, x, y)
            QTest.wheelEvent(handle, QPointF(point), QPoint(0, turn), stateKey=Qt.KeyboardModifier(modifiers))

    def _do_paste(self, widget: QWidget, text: str = "", large: int = -1) -> None:
        QGuiApplication.clipboard().setText(_LARGE[large] if large >= 0 else text)
        widget.setFocus()
        self._do_key(widget.window(), Qt.Key.Key_V.value, _CTRL.value, 1)

    def _do_compose(self, _widget: QWidget | None, text: str, ends: bool) -> None:
        receiver = QApplication.focusWidget()
        if receiver is None:
            return
        QApplication.sendEvent(receiver, QInputMethodEvent(text, []))
        if ends:
            event = QInputMethodEvent()
            event.setCommitString(text)
            QApplication.sendEvent(receiver, event)

    def _do_drop(self, widget: QWidget, paths: list[str], text: str) -> None:
        mime = QMimeData()
        if text:
            mime.setText(text)
        else:
            mime.setUrls([QUrl.fromLocalFile(str(self._sandbox.folder / path)) for path in paths])
        receiver: QWidget | None = widget
        while receiver is not None and not receiver.acceptDrops():
            receiver = None if receiver.isWindow() else receiver.parentWidget()
        if receiver is None:
            return
        place, actions = receiver.rect().center(), Qt.DropAction.CopyAction
        for event in (
            QDragEnterEvent(place, actions, mime, _LEFT, _NONE),
            QDragMoveEvent(place, actions, mime, _LEFT, _NONE),
            QDropEvent(QPointF(place), actions, mime, _LEFT, _NONE),
        ):
            QApplication.sendEvent(receiver, event)
            if not event.isAccepted():
                return

    def _do_wait(self, _widget: QWidget | None) -> None:
        """The pause does it."""

    def _do_resize(self, window: QWidget, width: int, height: int) -> None:
        window.resize(width, height)

    def _do_spoil(self, _widget: QWidget | None, seed: int) -> None:
        self._sandbox.spoil(Random(seed))

    def _do_touch(self, _widget: QWidget | None, seed: int) -> None:
        """Change, or take away, a file that the window may have open."""
        rng = Random(seed)
        self._sandbox.change(self._sandbox.folder, rng)

    def _do_change(self, _widget: QWidget | None, path: str, seed: int) -> None:
        """Change, or take away, a file that the window has read."""
        self._sandbox.change(self._sandbox.folder / path, Random(seed))

    def _do_plant(self, _widget: QWidget | None, fault: str) -> None:
        """Do what no user can: be at fault, to see that it is noticed."""
        if fault == "exception":
            QTimer.singleShot(0, QApplication.instance(), _fail)
        elif fault == "stall":
            time.sleep(2.5)
        elif fault == "crash":
            faulthandler._sigsegv()
        elif fault == "thread":
            threading.Thread(target=time.sleep, args=(30,), name="planted").start()
        elif fault == "text":
            editor = next(w for w in QApplication.allWidgets() if type(w).__name__ == "CorpusEditor")
            editor.document().blockSignals(True)
            editor.insertPlainText("planted")
        else:
            (qWarning if fault == "qt" else logging.getLogger("wordpiece_studio").warning)("planted")

    def _do_place(self, dialog: QWidget, paths: list[str]) -> None:
        if not isinstance(dialog, QFileDialog):
            return
        if not paths:
            dialog.reject()
            return
        path = Path(self._sandbox.folder, paths[0])
        dialog.setDirectory(str(path.parent if path.parent.is_dir() else self._sandbox.folder))
        dialog.selectFile(str(path))
        for name in dialog.findChildren(QLineEdit):
            name.setText(str(path))
        dialog.accept()
