"""Commands of the View menu: theme and text size; also the place of the window."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QByteArray, QObject, QRect, QSize

from wordpiece_studio.errors import StudioError
from wordpiece_studio.ui.widgets.later import later

if TYPE_CHECKING:
    from PySide6.QtGui import QAction
    from PySide6.QtWidgets import QMainWindow

    from wordpiece_studio.session.settings import SettingsStore
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.controllers.layout_controller import LayoutController
    from wordpiece_studio.ui.messages import Messages
    from wordpiece_studio.ui.widgets.theme import Theme, ThemeChoice

_TEXT_STEP, _USUAL_TEXT = 10, 100
_TEXT_RANGE = (60, 300)
_USUAL_SIZE = QSize(1440, 900)
_FRAME = QSize(12, 36)
"""Room for the frame and title bar of the window, whose size is known only after the window is shown."""
_FRAME_KNOWN_MS = (0, 60, 400)
"""When to check, after the window is shown, that it lies on its screen with its frame."""


class ViewController(QObject):
    """Changes how the window looks, and remembers it."""

    def __init__(
        self, window: QMainWindow, layouts: LayoutController, theme: Theme, actions: Actions, settings: SettingsStore,
        messages: Messages,
    ) -> None:  # fmt: skip
        super().__init__(window)
        self._window = window
        self._layouts = layouts
        self._theme = theme
        self._settings = settings
        self._messages = messages
        for action in actions.themes.actions():
            action.setChecked(action.data() == theme.choice)
        actions.themes.triggered.connect(self._on_theme_triggered)
        actions.larger_text.triggered.connect(self._on_larger_text_triggered)
        actions.smaller_text.triggered.connect(self._on_smaller_text_triggered)
        actions.normal_text.triggered.connect(self._on_normal_text_triggered)

    def restore(self) -> None:
        """Give the window its last size and arrangement, or the default ones; never larger than the screen."""
        values, window = self._settings.values, self._window
        if values.window_geometry:
            window.restoreGeometry(QByteArray.fromBase64(values.window_geometry.encode()))
        if not window.isMaximized() and not window.isFullScreen():
            wanted = QSize(*values.window_size) if values.window_size else _USUAL_SIZE
            window.resize(wanted.boundedTo(window.screen().availableSize() - _FRAME))
        self._layouts.restore()

    def keep_on_screen(self) -> None:
        """Once the window is shown and its frame is known, make sure that no edge lies off the screen."""
        for delay_ms in _FRAME_KNOWN_MS:
            later(self, delay_ms, self._fit_frame)

    def _fit_frame(self) -> None:
        window = self._window
        if window.isMaximized() or window.isFullScreen() or not window.isVisible():
            return
        frame, inner = window.frameGeometry(), window.geometry()
        wanted = fitted(frame, window.screen().availableGeometry())
        if wanted.size() != frame.size():
            window.resize(inner.size() - (frame.size() - wanted.size()))
        if wanted.topLeft() != frame.topLeft():
            window.move(wanted.topLeft())

    def remember(self, play_speed: float) -> None:
        """Save the size, the arrangement and the playing speed for the next start."""
        size = self._window.normalGeometry().size()
        self._change(
            play_speed=play_speed,
            window_size=(size.width(), size.height()),
            window_geometry=self._window.saveGeometry().toBase64().toStdString(),
        )
        self._layouts.remember()

    def _on_theme_triggered(self, action: QAction) -> None:
        self._theme.set_choice(cast("ThemeChoice", action.data()))
        self._change(theme=action.data())

    def _on_larger_text_triggered(self) -> None:
        self._set_text_size(self._layouts.text_size + _TEXT_STEP)

    def _on_smaller_text_triggered(self) -> None:
        self._set_text_size(self._layouts.text_size - _TEXT_STEP)

    def _on_normal_text_triggered(self) -> None:
        self._set_text_size(None)

    def _set_text_size(self, percent: int | None) -> None:
        """Set and save the text size of the layout shown; None restores the default."""
        if percent is not None:
            percent = max(_TEXT_RANGE[0], min(_TEXT_RANGE[1], percent))
        if self._settings.values.layout == "demo":
            self._change(demo_scale=percent)
        else:
            self._change(font_scale=percent or _USUAL_TEXT)
        self._theme.set_scale(self._layouts.text_size / 100)
        self.keep_on_screen()  # larger text may need a larger window

    def _change(self, **changes: object) -> None:
        try:
            self._settings.change(**changes)
        except StudioError as error:
            self._messages.show_error(error)


def fitted(frame: QRect, available: QRect) -> QRect:
    """Return the window's frame, moved and if necessary made smaller so that it lies inside the available area."""
    size = frame.size().boundedTo(available.size())
    left = min(max(frame.left(), available.left()), available.left() + available.width() - size.width())
    top = min(max(frame.top(), available.top()), available.top() + available.height() - size.height())
    return QRect(left, top, size.width(), size.height())
