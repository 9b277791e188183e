"""The bar under the menus: train, or pause and stop; the settings of the next run; the progress.

The settings are objective, size, minimum pair frequency and, behind *More*, special tokens. Nothing in the bar moves
when the state of the training changes.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QSignalBlocker, QSize, Qt, QTimer
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QProgressBar,
    QSizePolicy,
    QSpacerItem,
    QSpinBox,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.plural import plural
from wordpiece_studio.session.task import later, single_shot
from wordpiece_studio.text.pipeline import BERT_SPECIAL_TOKENS
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.ui.panes.training_bar.training_words import size_words
from wordpiece_studio.ui.widgets.explained import explain
from wordpiece_studio.ui.widgets.fields import MOST_CHARACTERS, LimitedEdit
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import (
    BuddyLabel,
    FittingLabel,
    plain_label,
    set_plain_text,
    set_plain_tooltip,
    set_state,
    shown,
    whole,
)
from wordpiece_studio.ui.widgets.screen_room import QuestionDialog
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from wordpiece_studio.session.run import Progress
    from wordpiece_studio.session.session import ChosenSettings
    from wordpiece_studio.ui.actions import Actions

_tr = partial(QCoreApplication.translate, "training_bar")
_LONGEST_PROBLEM = 300
_LARGEST_SIZE = 10_000_000
_LARGEST_COUNT = 1_000_000_000


class SpecialTokensDialog(QuestionDialog):
    """Asks for special tokens; what the trainer would refuse is reported at once and cannot be accepted."""

    def __init__(self, tokens: tuple[str, ...], parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Special tokens"), parent, entry="special-token")
        intro = plain_label(
            self.tr("One token per line. They take the first IDs, in this order, and are never learned or split. "
            "Without [UNK], there is no token for unknown words."),
            self, role="caption", wrap=True,
        )  # fmt: skip
        text = "\n".join(tokens)
        self.most = max(MOST_CHARACTERS, len(text))
        self.editor = LimitedEdit(self, most=self.most)
        self.editor.setLineWrapMode(LimitedEdit.LineWrapMode.NoWrap)  # wrapping a long line takes seconds per key
        self.editor.setPlainText(whole(text))
        self.editor.setAccessibleName(self.tr("Special tokens, one per line"))
        self.editor.setTabChangesFocus(True)
        self.problem_label = plain_label("", self, role="error", wrap=True)
        self.lay_out(intro, self.editor, self.problem_label)
        self.editor.text_changed.connect(self._check)
        self.editor.left_out_changed.connect(self._check)
        self.resize(360, 320)
        self._check()

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens typed so far, without blank lines."""
        return tuple(line.strip() for line in self.editor.text.splitlines() if line.strip())

    def _check(self) -> None:
        problem = left_out = ""
        try:
            TrainingConfig(special_tokens=self.tokens)
        except StudioError as error:
            problem = shown(str(error), _LONGEST_PROBLEM)
        if count := self.editor.left_out:
            left_out = plural(
                count,
                "There is room for {most} characters; 1 left out.",
                "There is room for {most} characters; {count} left out.",
            )
            left_out = left_out.format(most=number_text(self.most), count=number_text(count))
        set_plain_text(self.problem_label, "\n".join(filter(None, (problem, left_out))))
        self.accept_button.setEnabled(not problem)


class TrainingSettings(QWidget):
    """The fields of the :class:`~wordpiece_studio.session.session.ChosenSettings`; the rest is in `more`."""

    def __init__(self, chosen: ChosenSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chosen = chosen
        self._captions: list[QLabel] = []
        self._layout = fill(QHBoxLayout(self), spacing=6)
        self.objective_box = self._make_objective_box()
        self.size_box = self._make_spin_box(
            self.tr("Vocabulary size"), _LARGEST_SIZE, self.tr("No limit"),
            self.tr("Stop at this many tokens, including special tokens and alphabet; 0 means no limit"),
        )  # fmt: skip
        self.frequency_box = self._make_spin_box(
            self.tr("Minimum frequency"), _LARGEST_COUNT, "",
            self.tr("Pairs that occur less often are not merged. Without a minimum, Score favors pairs that occur "
            "only once."),
        )  # fmt: skip
        explain("vocabulary", self.size_box)
        explain("minimum-frequency", self.frequency_box)
        self._add(self.tr("Objective"), self.objective_box)
        self._add(self.tr("Size"), self.size_box)
        self._add(self.tr("Min. frequency"), self.frequency_box)
        self._fields = self.objective_box, self.size_box, self.frequency_box
        self._token_choices = QActionGroup(self)
        self.more = QMenu(self)
        self._more_button = self._make_more_button()
        self._layout.addWidget(self._more_button)
        chosen.replaced.connect(self._show)
        chosen.changed.connect(self._show_objective)
        self._show()

    def _show(self) -> None:
        chosen = self._chosen
        size, min_frequency = chosen.limits
        self._show_objective()
        with QSignalBlocker(self.size_box), QSignalBlocker(self.frequency_box):
            self.size_box.setValue(size)
            self.frequency_box.setValue(min_frequency)
        self._show_tokens(chosen.special_tokens)
        for field in self._fields:
            set_plain_tooltip(field, "\n".join(filter(None, (chosen.suggestion.words, field.property("tip")))))

    @property
    def is_size_wrong(self) -> bool:
        return bool(self.size_box.property("state") == "wrong")

    def set_size_wrong(self, wrong: bool) -> None:
        """Mark the size as one that cannot be reached, or remove the mark."""
        set_state(self.size_box, "wrong" if wrong else "")

    def set_captions_visible(self, visible: bool) -> None:
        """Show or hide the captions before the fields; the tooltips say the same."""
        for caption in self._captions:
            caption.setVisible(visible)
        self._layout.invalidate()  # otherwise its size is known only in the next turn of the event loop
        self.updateGeometry()

    def edit_special_tokens(self) -> None:
        dialog = SpecialTokensDialog(self._chosen.special_tokens, self.window())
        dialog.accepted.connect(lambda: self._take_tokens(dialog.tokens))
        dialog.finished.connect(lambda: self._more_button.setFocus())
        dialog.open()

    def _show_objective(self) -> None:
        self.objective_box.setCurrentIndex(max(0, self.objective_box.findData(self._chosen.objective)))

    def _make_objective_box(self) -> QComboBox:
        box = QComboBox(self)
        for text, value, tip in (
            (self.tr("Likelihood"), "likelihood", "n(ab) × ln(n(ab) × N / (n(a) × n(b)))"),
            (self.tr("Score"), "score", "n(ab) / (n(a) × n(b))"),
            (self.tr("Count (BPE)"), "count", "n(ab)"),
        ):
            box.addItem(text, value)
            box.setItemData(box.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        box.setAccessibleName(self.tr("Objective"))
        explain("objective", box)
        tip = self.tr(
            "How the best pair to merge is chosen. Likelihood merges the pair that makes the corpus most probable and "
            "gives good vocabularies. Score is the formula of the Hugging Face course. Count is byte pair encoding "
            "(BPE)."
        )
        box.setProperty("tip", tip)
        box.currentIndexChanged.connect(self._take_objective)
        return box

    def _make_spin_box(self, name: str, largest: int, at_zero: str, tip: str) -> QSpinBox:
        box = QSpinBox(self)
        box.setRange(0, largest)
        box.setStepType(QSpinBox.StepType.AdaptiveDecimalStepType)
        box.setGroupSeparatorShown(True)
        box.setSpecialValueText(at_zero)
        box.setMinimumWidth(box.fontMetrics().horizontalAdvance("000,000") + 34)
        box.setMaximumWidth(box.fontMetrics().horizontalAdvance("0,000,000") + 40)
        box.setAccessibleName(name)
        box.setProperty("tip", "\n".join((name, tip)))
        box.valueChanged.connect(self._take_limits)
        return box

    def _make_more_button(self) -> QToolButton:
        self.more.addSection(self.tr("Special tokens"))
        for text in (self.tr("&BERT (5 tokens)"), self.tr("&None"), ""):
            self.more.addAction(QAction(text, self._token_choices, checkable=True))
        self._token_choices.triggered.connect(self._choose_tokens)
        button = _button("button", self)
        button.setText(self.tr("Options ▾"))
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setMenu(self.more)
        return button

    def _add(self, caption: str, field: QWidget) -> None:
        self._captions.append(BuddyLabel(caption, field, self))
        fill(self._layout, self._captions[-1], field, _space(6), spacing=6)

    def _take_objective(self) -> None:
        if self.objective_box.currentData() != self._chosen.objective:
            self._chosen.choose(objective=self.objective_box.currentData())

    def _take_limits(self) -> None:
        self._chosen.choose(vocab_size=self.size_box.value() or None, min_frequency=self.frequency_box.value())

    def _choose_tokens(self, action: QAction) -> None:
        choice = self._token_choices.actions().index(action)
        self._show_tokens(self._chosen.special_tokens)  # a dialog may still be cancelled
        if choice == 2:
            self.edit_special_tokens()
        else:
            self._take_tokens((BERT_SPECIAL_TOKENS, ())[choice])

    def _take_tokens(self, tokens: tuple[str, ...]) -> None:
        self._show_tokens(tokens)
        self._chosen.choose(special_tokens=tokens)

    def _show_tokens(self, tokens: tuple[str, ...]) -> None:
        usual, none, custom = self._token_choices.actions()
        is_custom = bool(tokens) and tokens != BERT_SPECIAL_TOKENS
        words = self.tr("&Custom… ({number})").format(number=len(tokens)) if is_custom else self.tr("&Custom…")
        custom.setText(words)
        (custom if is_custom else usual if tokens else none).setChecked(True)
        said = self.tr("Special tokens: {names}") if tokens else self.tr("Special tokens: none")
        said = said.format(names=" ".join(tokens))
        self._more_button.setAccessibleName(" · ".join((self.tr("Options"), shown(said, 200))))
        set_plain_tooltip(self._more_button, said)


_USUAL_PROGRESS = "12,345 of 30,000 tokens"
_LEAST_CHARACTERS = 110  # of average width, for the bar in its shortest form
_MOST_LEAST_WIDTH = 940  # pixels: with large text too, the window must fit a small screen
_UNKNOWN = 0
_FORMS = ((True, 0), (True, 1), (False, 1), (False, 2))
"""Captions, and which text on the search button (2: no button); the first one is used that fits width and font."""
_BETWEEN = 4
_PATIENCE_MS = 150
"""A training that ends sooner leaves its button as it is: nothing flashes."""


class TrainButtons(QWidget):
    """*Train*, and in its place *Pause* and *Stop* as long as there is something to be paused or stopped.

    The place has one width for all of them. A press that comes right after they changed was meant for the other one.
    """

    def __init__(self, actions: Actions, parent: QWidget) -> None:
        super().__init__(parent)
        self.train = _button("primary", self, actions.train)
        self.train.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.pause, self.stop = (_button("button", self, action) for action in (actions.pause, actions.stop))
        self._all = (self.train, self.pause, self.stop)
        self._holds_keyboard = False
        for button in self._all:
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            button.installEventFilter(self)
        fill(QHBoxLayout(self), *self._all, spacing=_BETWEEN)
        self._swap_timer = single_shot(self, self._show_stop, _PATIENCE_MS)
        self.fresh_timer = QTimer(self, singleShot=True, interval=QApplication.doubleClickInterval())
        self.pause.hide()
        self.stop.hide()
        self.train.show()
        self.fit()

    @property
    def has_keyboard(self) -> bool:
        return any(button.hasFocus() for button in self._all)

    def show_training(self, is_training: bool, *, had_keyboard: bool) -> None:
        """Offer to pause and stop, or to train; a keyboard focus that a button has lost by then is given back."""
        self._holds_keyboard = had_keyboard or (self._holds_keyboard and self._swap_timer.isActive())
        if not is_training:
            self._swap_timer.stop()
            self._show(is_training=False)
        elif self.train.isHidden():
            self._give_keyboard()
        elif not self._swap_timer.isActive():
            self._swap_timer.start()

    def fit(self) -> None:
        metrics, texts = self.pause.fontMetrics(), (self.tr("Pause"), self.tr("Resume"))
        edges = self.pause.sizeHint().width() - metrics.horizontalAdvance(self.pause.text())
        both = max(map(metrics.horizontalAdvance, texts)) + edges + self.stop.sizeHint().width()
        self.setFixedWidth(max(self.train.sizeHint().width(), both + _BETWEEN))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ignore the second press of a double click, which comes upon another button than the first."""
        presses = (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick)
        return (self.fresh_timer.isActive() and event.type() in presses) or super().eventFilter(watched, event)

    def _show(self, *, is_training: bool) -> None:
        if is_training != self.train.isHidden():
            self.fresh_timer.start()
        shown_ones = (self.pause, self.stop) if is_training else (self.train,)
        for button in shown_ones:
            button.show()
        self._give_keyboard()
        for button in set(self._all) - set(shown_ones):
            button.hide()

    def _give_keyboard(self) -> None:
        button = next((each for each in self._all if each.isEnabled() and not each.isHidden()), None)
        if self._holds_keyboard and button is not None and not self.has_keyboard:
            button.setFocus()

    def _show_stop(self) -> None:
        self._show(is_training=True)


class TrainingBar(QFrame):
    """The training controls. They only trigger the window's actions, and decide nothing."""

    def __init__(self, settings: ChosenSettings, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("training_bar")
        self.setAccessibleName(self.tr("Training"))
        explain("training", self)
        self.settings = TrainingSettings(settings, self)
        self.settings.more.addSeparator()
        self.settings.more.addAction(actions.train_as_you_type)
        self.buttons = TrainButtons(actions, self)
        self.progress_label = FittingLabel(self, role="hint")
        self.messages_button = _button("", self, actions.last_messages)
        self.messages_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        self.search_button = self._make_search_button(actions.command_palette)
        self.progress_bar = QProgressBar(self)
        self.progress_bar.setTextVisible(False)
        self.progress_bar.setAccessibleName(self.tr("Training progress"))
        keep = self.progress_bar.sizePolicy()
        keep.setRetainSizeWhenHidden(True)
        self.progress_bar.setSizePolicy(keep)
        self.progress_bar.hide()
        parts = self.buttons, _space(10), self.settings, _space(6), (self.progress_label, 1), self.messages_button
        self._controls = fill(QHBoxLayout(), *parts, self.search_button, margins=(12, 7, 12, 5), spacing=6)
        fill(QVBoxLayout(self), self._controls, self.progress_bar)

    @property
    def progress_text(self) -> str:
        """The full progress text, even where it is elided on screen."""
        return self.progress_label.forms[0]

    def focus_first(self) -> None:
        self.buttons.train.setFocus()

    def show_text(self, *forms: str, more: str = "") -> None:
        """Show a text in place of the progress, and hide the progress bar.

        The first of its `forms` that fits is shown; the tooltip has the first one, the full text, and `more`.
        """
        self.progress_bar.hide()
        self._set_text(*forms, more=more)

    def show_busy(self, text: str) -> None:
        self.progress_bar.setRange(0, _UNKNOWN)
        self.progress_bar.show()
        self._set_text(text)

    def show_progress(self, progress: Progress, paused: bool) -> None:
        start = progress.vocabulary_size - progress.merges  # special tokens and alphabet take no work
        target = (progress.target_size or start) if progress.is_target_sure else start
        self.progress_bar.setRange(0, max(target - start, 0))  # 0: a busy indicator without an end
        self.progress_bar.setValue(progress.vocabulary_size - start)
        self.progress_bar.setVisible(True)
        self._set_text(self._described(progress, paused))

    def _described(self, progress: Progress, paused: bool) -> str:
        said = [size_words(progress.vocabulary_size, progress.target_size if progress.is_target_sure else None)]
        if progress.target_size is not None and not progress.is_target_sure:
            said.append(self.tr("{count} at most").format(count=number_text(progress.target_size)))
        if paused:
            said.append(self.tr("paused"))
        elif progress.seconds_left is not None:
            said.append(self.tr("{time} left").format(time=duration(progress.seconds_left)))
        return " · ".join(said)

    def minimumSizeHint(self) -> QSize:
        # Not the layout's: that is for the current form, and a wide one would keep the window wide.
        width = min(self.fontMetrics().averageCharWidth() * _LEAST_CHARACTERS, _MOST_LEAST_WIDTH)
        return QSize(width, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Save room in a narrow window: first at the search button, then drop the captions."""
        super().resizeEvent(event)
        self._choose_form()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            later(self, 0, self._fit)  # once the children have their new sizes too

    def _fit(self) -> None:
        self.buttons.fit()
        self._choose_form()

    def _choose_form(self) -> None:
        """Take the first form that fits; it depends on nothing that changes with a training."""
        reserve = self.fontMetrics().horizontalAdvance(_USUAL_PROGRESS)
        for captions, search in _FORMS:
            self.settings.set_captions_visible(captions)
            self.search_button.setVisible(search < len(self._search_texts))
            self.search_button.setText(self._search_texts[min(search, len(self._search_texts) - 1)])
            self._controls.invalidate()
            if self._controls.minimumSize().width() + reserve <= self.width():
                break
        self._controls.activate()

    def _make_search_button(self, action: QAction) -> QToolButton:
        key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        self._search_texts = (self.tr("Find…   {key}").format(key=key), key)
        button = _button("search", self)
        button.setText(self._search_texts[0])
        button.setAccessibleName(self.tr("Command palette"))
        set_plain_tooltip(
            button, self.tr("Type to find any command, step, token, sample or file ({key})").format(key=key)
        )
        button.clicked.connect(action.trigger)
        return button

    def _set_text(self, *forms: str, more: str = "") -> None:
        set_plain_tooltip(self.progress_label, "\n".join(filter(None, (forms[0], more))))
        self.progress_label.setAccessibleName(forms[0])
        self.progress_label.show_forms(*forms)


def _space(width: int) -> QSpacerItem:
    return QSpacerItem(width, 0, QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Minimum)


def _button(role: str, parent: QWidget, action: QAction | None = None) -> QToolButton:
    button = QToolButton(parent)
    if action is not None:
        button.setDefaultAction(action)
    button.setProperty("role", role)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
    return button


def duration(seconds: float) -> str:
    """Return a time span in short form.

    >>> duration(0.2), duration(75), duration(7300)
    ('1 s', '1 min 15 s', '2 h 1 min')
    """
    whole = max(1, round(seconds))
    if whole < 60:
        return _tr("{seconds} s").format(seconds=whole)
    if whole < 3600:
        return _tr("{minutes} min {seconds} s").format(minutes=whole // 60, seconds=whole % 60)
    return _tr("{hours} h {minutes} min").format(hours=whole // 3600, minutes=whole % 3600 // 60)
