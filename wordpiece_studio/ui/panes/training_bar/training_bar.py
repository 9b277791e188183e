"""The bar under the menus: train, train further, pause, stop and keep; the settings; the progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from wordpiece_studio.ui.panes.training_bar.training_settings import TrainingSettings
from wordpiece_studio.ui.widgets.later import later
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, set_plain_tooltip

if TYPE_CHECKING:
    from PySide6.QtGui import QAction, QResizeEvent

    from wordpiece_studio.session.chosen_settings import ChosenSettings
    from wordpiece_studio.session.records import Progress
    from wordpiece_studio.ui.actions import Actions

_USUAL_PROGRESS = "12,345 of 30,000 tokens · 12 s left"
_LEAST_CHARACTERS = 110  # of average width, for the bar in its shortest form
_MOST_LEAST_WIDTH = 940  # pixels: with large text too, the window must fit a small screen
_UNKNOWN = 0
_FORMS = (
    (True, True, 0), (True, True, 1), (True, True, 2), (False, True, 1), (False, True, 2), (False, False, 1),
    (False, False, 2), (False, False, 3),
)  # fmt: skip
"""Captions, text on buttons, and which text on the search button (3: no button), tried in order until one fits."""


class TrainingBar(QFrame):
    """The training controls. They only trigger the window's actions, and decide nothing."""

    def __init__(self, settings: ChosenSettings, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("training_bar")
        self.setAccessibleName(self.tr("Training"))
        self.settings = TrainingSettings(settings, self)
        self._wordy_buttons: list[QToolButton] = []
        self._progress_forms: tuple[str, ...] = ("",)
        controls = self._controls = QHBoxLayout()
        controls.setContentsMargins(12, 7, 12, 5)
        controls.setSpacing(6)
        self._train_button = self._button(actions.train, "primary")
        controls.addWidget(self._train_button)
        for action in (actions.train_further, actions.pause, actions.stop):
            button = self._button(action, "button")
            self._wordy_buttons.append(button)
            controls.addWidget(button)
        controls.addSpacing(10)
        controls.addWidget(self.settings)
        self._progress_label = plain_label("", self, role="hint")
        self._progress_label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._progress_label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._progress_label.installEventFilter(self)
        controls.addWidget(self._progress_label, 1)
        self._search_button = self._make_search_button(actions.command_palette)
        controls.addWidget(self._search_button)
        self._progress_bar = QProgressBar(self)
        self._progress_bar.setTextVisible(False)
        self._progress_bar.setAccessibleName(self.tr("Training progress"))
        keep = self._progress_bar.sizePolicy()
        keep.setRetainSizeWhenHidden(True)
        self._progress_bar.setSizePolicy(keep)
        self._progress_bar.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(controls)
        layout.addWidget(self._progress_bar)

    @property
    def progress_text(self) -> str:
        """The full progress text, even where it is elided on screen."""
        return self._progress_forms[0]

    def focus_first(self) -> None:
        """Move the keyboard focus to the first button."""
        self._train_button.setFocus()

    @property
    def has_keyboard(self) -> bool:
        """Whether one of the buttons has the keyboard focus."""
        return any(button.hasFocus() for button in (self._train_button, *self._wordy_buttons))

    def keep_keyboard(self) -> None:
        """Move the keyboard focus to an enabled button: Qt takes it from a disabled one."""
        buttons = (self._train_button, *self._wordy_buttons[1:])  # Train, else Pause or Stop
        button = next((button for button in buttons if button.isEnabled()), None)
        if button is not None and not self.has_keyboard:
            button.setFocus()

    def show_text(self, *forms: str) -> None:
        """Show a text in place of the progress, and hide the progress bar.

        The first of its `forms` that fits is shown; the first one is the full text.
        """
        self._progress_bar.hide()
        self._set_text(*forms)

    def show_busy(self, text: str) -> None:
        """Show `text` beside a busy indicator."""
        self._progress_bar.setRange(0, _UNKNOWN)
        self._progress_bar.show()
        self._set_text(text)

    def show_progress(self, progress: Progress, paused: bool) -> None:
        """Show the training progress in actual counts."""
        start, target = self._span(progress)
        self._progress_bar.setRange(0, max(target - start, 0))  # 0: a busy indicator without an end
        self._progress_bar.setValue(progress.vocabulary_size - start)
        self._progress_bar.setVisible(True)
        self._set_text(self._described(progress, paused))

    def _described(self, progress: Progress, paused: bool) -> str:
        if progress.target_size is None:
            text = self.tr("{size:,} tokens").format(size=progress.vocabulary_size)
        elif not progress.is_target_sure:
            text = self.tr("{size:,} tokens, {target:,} at most").format(
                size=progress.vocabulary_size, target=progress.target_size
            )
        else:
            text = self.tr("{size:,} of {target:,} tokens").format(
                size=progress.vocabulary_size, target=progress.target_size
            )
        if paused:
            return self.tr("{text} · paused").format(text=text)
        if progress.seconds_left is not None:
            return self.tr("{text} · {time} left").format(text=text, time=duration(progress.seconds_left))
        return text

    @staticmethod
    def _span(progress: Progress) -> tuple[int, int]:
        # Counted from the first token learned: special tokens and alphabet take no work.
        start = progress.vocabulary_size - progress.merges
        is_sure = progress.target_size is not None and progress.is_target_sure
        return start, progress.target_size if is_sure and progress.target_size is not None else start

    def minimumSizeHint(self) -> QSize:
        # Not the layout's: that is for the current form, and a wide one would keep the window wide.
        width = min(self.fontMetrics().averageCharWidth() * _LEAST_CHARACTERS, _MOST_LEAST_WIDTH)
        return QSize(width, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Save room in a narrow window: first drop the captions, then the text on the buttons."""
        super().resizeEvent(event)
        self._choose_form()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Elide the text again when its label is resized: Qt would cut off the first digits of a number."""
        if watched is self._progress_label and event.type() == QEvent.Type.Resize:
            self._cut_text()
        return super().eventFilter(watched, event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            later(self, 0, self._choose_form)  # once the children have their new sizes too

    def _choose_form(self) -> None:
        for captions, words, search in _FORMS:
            self._take_form(captions, words)
            self._search_button.setVisible(search < len(self._search_texts))
            self._search_button.setText(self._search_texts[min(search, len(self._search_texts) - 1)])
            if self._needed_width() <= self.width():
                break
        self._controls.activate()
        self._cut_text()

    def _take_form(self, captions: bool, words: bool) -> None:
        self.settings.set_captions_visible(captions)
        style = Qt.ToolButtonStyle
        for button in self._wordy_buttons:
            button.setToolButtonStyle(style.ToolButtonTextOnly if words else style.ToolButtonIconOnly)

    def _needed_width(self) -> int:
        self._controls.invalidate()
        return self._controls.minimumSize().width() + self._text_width()

    def _text_width(self) -> int:
        """Return the width that the text needs in its second form, but no less than the usual progress text."""
        forms = (_USUAL_PROGRESS, self._progress_forms[:2][-1])
        return max(self.fontMetrics().horizontalAdvance(form) for form in forms)

    def _make_search_button(self, action: QAction) -> QToolButton:
        key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        self._search_texts = (
            self.tr("Find or do anything…   {key}").format(key=key), self.tr("Find…   {key}").format(key=key), key
        )  # fmt: skip
        button = QToolButton(self)
        button.setProperty("role", "search")
        button.setText(self._search_texts[0])
        button.setAccessibleName(self.tr("Find or do anything"))
        set_plain_tooltip(
            button, self.tr("Type to find any command, step, token, sample or file ({key})").format(key=key)
        )
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.clicked.connect(action.trigger)
        return button

    def _button(self, action: QAction, role: str) -> QToolButton:
        button = QToolButton(self)
        button.setDefaultAction(action)
        button.setProperty("role", role)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        primary = role == "primary"
        style = Qt.ToolButtonStyle
        button.setToolButtonStyle(style.ToolButtonTextBesideIcon if primary else style.ToolButtonTextOnly)
        return button

    def _set_text(self, *forms: str) -> None:
        before = self._text_width()
        self._progress_forms = forms
        set_plain_tooltip(self._progress_label, forms[0])
        self._progress_label.setAccessibleName(forms[0])
        if self._text_width() != before:
            self._choose_form()
        else:
            self._cut_text()

    def _cut_text(self) -> None:
        width = max(0, self._progress_label.width() - 2)
        metrics = self._progress_label.fontMetrics()
        fitting = (form for form in self._progress_forms if metrics.horizontalAdvance(form) <= width)
        text = next(fitting, self._progress_forms[-1])
        set_plain_text(self._progress_label, metrics.elidedText(text, Qt.TextElideMode.ElideRight, width))


def duration(seconds: float) -> str:
    """Return a time span in short form.

    >>> duration(0.2), duration(75), duration(7300)
    ('1 s', '1 min 15 s', '2 h 1 min')
    """
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
