"""The bar under the menus: train, or pause and stop; the settings of the next run; the progress; and what it says.

Nothing in the bar moves when the state of the training changes.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDialogButtonBox,
    QFormLayout,
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
from wordpiece_studio.session.plural import counted
from wordpiece_studio.session.task import single_shot
from wordpiece_studio.text.character_tables import bert_tables
from wordpiece_studio.text.pipeline import BERT_SPECIAL_TOKENS
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.ui.rule_chips import RuleChips
from wordpiece_studio.ui.widgets.fields import MOST_CHARACTERS, LimitedEdit, QuestionDialog, combo_box
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import (
    BuddyLabel,
    Fitted,
    FittingLabel,
    add_heading,
    explain,
    key_text,
    plain_label,
    set_look,
    set_plain_text,
    set_plain_tooltip,
    shown,
    tool_button,
    whole,
)
from wordpiece_studio.ui.widgets.token_text import duration, merges_text, number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.session import Changes, ChosenSettings, Session
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.session.training_job import Progress
    from wordpiece_studio.training.forecast import Notice
    from wordpiece_studio.ui.actions import Actions

_tr = partial(QCoreApplication.translate, "training_bar")


def outcome_words(model: TrainerModel) -> str:
    """Return the outcome of training: tokens, merges, and why it ended; empty if nothing was trained."""
    return _outcome_forms(model)[0]


def _outcome_forms(model: TrainerModel) -> tuple[str, ...]:
    if model.history is None:
        return ("",)
    progress = model.progress
    library_run = None if model.run is None else model.run.library_run
    wanted = None if library_run is None else library_run.config.vocab_size
    size = size_words(progress.vocabulary_size, wanted if progress.vocabulary_size < (wanted or 0) else None)
    both = _joined(size, merges_text(progress.merges) if model.history.has_steps else "")
    return _joined(both, _reason_words(model)), both, size


def size_words(size: int, wanted: int | None) -> str:
    if wanted is None:
        return counted(size, "1 token", "{count} tokens")
    return counted(wanted, "{size} of 1 token", "{size} of {count} tokens", size=size)


def idle_words(session: Session, needs: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Return the message while no training is in progress, the full text and shorter forms; and more for its tooltip.

    What the next run `needs` stands alone: without it no one knows whether to start.
    """
    model, suggested = session.model, session.settings.suggestion.words
    changes = session.changes_since_run()
    is_other = changes.is_other_corpus or changes.corpus  # which is said below the tabs
    is_set = changes.pipeline or (changes.settings and not suggested)  # else the user knows about those settings
    changed = _tr("Settings changed since this run") if is_set and not is_other else ""
    said = tuple(filter(None, (changed, suggested)))
    if needs and (model.history is None or is_other or said):
        return needs, "\n".join(said)
    return (said[:1], "\n".join(said[1:])) if said else (_outcome_forms(model), "")


def _joined(*words: str) -> str:
    return " · ".join(filter(None, words))


def _reason_words(model: TrainerModel) -> str:
    library_run = None if model.run is None else model.run.library_run
    if library_run is not None and library_run.is_adapted:
        return _tr("without a record of merges")
    reasons = {
        "vocab_size": _tr("vocabulary size reached"),
        "no_pair": _tr("no pair left to merge"),
        "min_frequency": _tr("no pair reaches the minimum frequency of {count:,}"),
        "forbidden": _tr("all pairs left are forbidden"),
        "min_value": _tr("no pair reaches the minimum merge score"),
        "max_merges": _tr("all requested merges done"),
        "max_seconds": _tr("time limit reached"),
        "user": _tr("stopped"),
        "peer": _tr("trained with another library"),
    }
    return reasons.get(model.stop_reason or "", "").format(count=model.config.min_frequency if model.config else 0)


def why_not_further(model: TrainerModel) -> str:
    """Return why training further would learn nothing, and what to do; empty if it could learn something."""
    if model.config is None:
        return ""
    if model.run is not None and model.run.library_run is not None:
        return _tr("This run was trained with another library, extended or pruned, and cannot be continued here.")
    reasons = {
        "no_pair": _tr("No pair is left to merge: every word is already a single token."),
        "min_frequency": _tr(
            "No remaining pair reaches the minimum frequency of {count:,}. Lower “Min. frequency” and train again."
        ),
        "forbidden": _tr("All remaining pairs are forbidden. Remove a rule and train again."),
        "min_value": _tr("No remaining pair reaches the minimum merge score."),
    }
    return reasons.get(model.stop_reason or "", "").format(count=model.config.min_frequency)


def why_nothing_was_learned(model: TrainerModel) -> str:
    """Return why training ended without a single merge, and what to change; empty if it did not."""
    if model.merge_count or model.history is None or model.config is None or model.counts is None:
        return ""
    if model.stop_reason == "min_frequency":
        words = _tr("No merges: no pair reaches the minimum frequency of {count:,}. Lower “Min. frequency”.")
        return words.format(count=model.config.min_frequency)
    if model.stop_reason == "forbidden":
        return _tr("No merges: all pairs are forbidden. Remove a rule.")
    if model.stop_reason != "no_pair" or not model.history.is_whole:  # the words are still being read
        return ""
    chinese = bert_tables().chinese
    if any(ord(word[0]) in chinese for word in model.counts.words):
        return _tr("No merges: every word is a single character. BERT’s normalizer makes each Chinese character a "
                   "separate word; try the normalizer “BERT, cased, Chinese kept together”.")  # fmt: skip
    return _tr("No merges: every word is a single character, so there is no pair to merge.")


def why_no_words(counts: WordCounts | None) -> str:
    """Return why there is nothing to train on; empty if there is something, or it is not counted yet."""
    if counts is None or len(counts):
        return ""
    if not counts.skipped:
        return _tr("The corpus has no words. Type or open a text, then train.")
    first, number = counts.skipped[0], counts.statistics.skipped_words
    return counted(
        number,
        "The only word in the corpus was left out because it is too long: line {line}, length {length}. Put spaces or "
        "line breaks between words.",
        "All {count} words in the corpus were left out because they are too long; the first: line {line}, length "
        "{length}. Put spaces or line breaks between words.",
        line=first.line, length=first.length,
    )  # fmt: skip


def notice_words(notices: Sequence[Notice]) -> str:
    translate = QCoreApplication.translate
    return " ".join(translate("notices", notice.template).format(**notice.values) for notice in notices)


def further_note(changes: Changes, corpus_name: str) -> str:
    """Return what training the current run further does not take into account; empty if nothing."""
    if changes.is_other_corpus:
        note = _tr("This continues with the corpus “{name}”, not with the one open now.")
        return note.format(name=corpus_name)
    if changes.corpus:
        return _tr("This continues with the corpus as it was when the run began, not as it is now.")
    if changes.pipeline:
        return _tr("This continues with the words as they were when the run began, not with the normalizer, "
                   "pre-tokenizer and maximum word length chosen now.")  # fmt: skip
    return _tr("This continues with the settings of the run, not with those chosen now.") if changes.rules else ""


_LARGEST_SIZE = 10_000_000
_STEPS = (100, 200, 500, 1000, 2000, 5000, 8000, 10_000, 16_000, 20_000, 30_000, 50_000, 100_000)


class FurtherDialog(QuestionDialog):
    """Asks to what size the vocabulary should grow; a `note` about what that ignores offers to train again instead."""

    again_chosen = Signal()

    def __init__(self, size: int, parent: QWidget | None = None, *, note: str = "") -> None:
        super().__init__(self.tr("Train further"), parent, entry="vocabulary")
        words = counted(
            size,
            "The vocabulary has 1 token. Everything learned so far is kept.",
            "The vocabulary has {count} tokens. Everything learned so far is kept.",
        )
        intro = plain_label(words, self, role="caption", wrap=True)
        self.size_box = _SizeBox(self, size + 1, max(size + 1, _LARGEST_SIZE))
        self.size_box.setValue(next_size(size))
        self.size_box.setAccessibleName(self.tr("New vocabulary size"))
        self.size_box.selectAll()
        self.note = note
        form = QFormLayout()
        form.addRow(self.tr("New vocabulary size"), self.size_box)
        notes = [plain_label(note, self, wrap=True)] if note else []
        self.lay_out(intro, *notes, form, accept=self.tr("&Train further"), cancel=self.tr("&Cancel"))
        if note:
            again = self.buttons.addButton(self.tr("Train &again"), QDialogButtonBox.ButtonRole.ResetRole)
            again.clicked.connect(self.reject)
            again.clicked.connect(self.again_chosen)
        self.size_box.setFocus()


class _SizeBox(Fitted, QSpinBox):
    """A number of tokens or of pairs, with room for the usual ones and for the name of zero in any font."""

    def __init__(self, parent: QWidget, least: int, most: int) -> None:
        super().__init__(parent, minimum=least, maximum=most, stepType=QSpinBox.StepType.AdaptiveDecimalStepType)
        self.setGroupSeparatorShown(True)

    def fit(self) -> None:
        metrics = self.fontMetrics()
        arrows = metrics.height()  # as wide in the style sheet
        least = max(metrics.horizontalAdvance(text) for text in ("000,000", self.specialValueText()))
        self.setMinimumWidth(least + arrows + _BESIDE_NUMBER)
        self.setMaximumWidth(max(least, metrics.horizontalAdvance("0,000,000")) + arrows + _BESIDE_NUMBER)


def next_size(size: int) -> int:
    """Return the size to offer after `size`: the next usual one, or a fifth more beyond those.

    >>> next_size(70), next_size(8000), next_size(200_000)
    (100, 10000, 240000)
    """
    return next((step for step in _STEPS if step > size * 1.1), size + max(1, size // 5))


_BESIDE_NUMBER = 18  # pixels


class SpecialTokensDialog(QuestionDialog):
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
        self.size_to(52, 18)
        self._check()

    @property
    def tokens(self) -> tuple[str, ...]:
        return tuple(line.strip() for line in self.editor.text.splitlines() if line.strip())

    def _check(self) -> None:
        problem = left_out = ""
        try:
            TrainingConfig(special_tokens=self.tokens)
        except StudioError as error:
            problem = shown(str(error), 300)
        if count := self.editor.left_out:
            left_out = counted(
                count, "There is room for {most} characters; 1 left out.",
                "There is room for {most} characters; {count} left out.", most=self.most,
            )  # fmt: skip
        set_plain_text(self.problem_label, "\n".join(filter(None, (problem, left_out))))
        self.accept_button.setEnabled(not problem)


class TrainingSettings(QWidget):
    def __init__(self, chosen: ChosenSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chosen = chosen
        self._captions: list[QLabel] = []
        self.is_size_wrong = False
        self._layout = fill(QHBoxLayout(self), spacing=6)
        self.objective_box = self._make_objective_box()
        self.size_box = self._make_spin_box(
            self.tr("Size"), self.tr("Vocabulary size"), "vocabulary", _LARGEST_SIZE, self.tr("No limit"),
            self.tr("Stop at this many tokens, including special tokens and alphabet; 0 means no limit"),
        )  # fmt: skip
        self.frequency_box = self._make_spin_box(
            self.tr("Min. frequency"), self.tr("Minimum frequency"), "minimum-frequency", 1_000_000_000, "",
            self.tr("Pairs that occur less often are not merged. Without a minimum, Score favors pairs that occur "
            "only once."),
        )  # fmt: skip
        self._token_choices = QActionGroup(self)
        self.more = QMenu(self)
        add_heading(self.more, self.tr("Special tokens"))
        for text in (self.tr("&BERT (5 tokens)"), self.tr("&None"), ""):
            self.more.addAction(QAction(text, self._token_choices, checkable=True))
        self._token_choices.triggered.connect(self._choose_tokens)
        self.more_button = tool_button("", "", self, role="button", takes_focus=True, menu=self.more)
        self._layout.addWidget(self.more_button)
        chosen.replaced.connect(self._show)
        chosen.changed.connect(self._show_objective)
        self._show()

    def _show(self) -> None:
        chosen = self._chosen
        self._show_objective()
        for box, value in zip((self.size_box, self.frequency_box), chosen.limits, strict=True):
            with QSignalBlocker(box):
                box.setValue(value)
        self._show_tokens(chosen.special_tokens)
        for field in (self.objective_box, self.size_box, self.frequency_box):
            set_plain_tooltip(field, "\n".join(filter(None, (chosen.suggestion.words, field.property("tip")))))

    def set_size_wrong(self, is_wrong: bool) -> None:
        self.is_size_wrong = is_wrong
        set_look(self.size_box, state="wrong" if is_wrong else "")

    def set_captions_visible(self, visible: bool) -> None:
        for caption in self._captions:
            caption.setVisible(visible)
        self._layout.invalidate()  # otherwise its size is known only in the next turn of the event loop
        self.updateGeometry()

    def edit_special_tokens(self) -> None:
        dialog = SpecialTokensDialog(self._chosen.special_tokens, self.window())
        dialog.accepted.connect(lambda: self._take_tokens(dialog.tokens))
        dialog.finished.connect(lambda: self.more_button.setFocus())
        dialog.open()

    def _show_objective(self) -> None:
        self.objective_box.setCurrentIndex(max(0, self.objective_box.findData(self._chosen.objective)))

    def _make_objective_box(self) -> QComboBox:
        box = combo_box(self, self.tr("Objective"))
        for text, value, tip in (
            (self.tr("Likelihood"), "likelihood", "n(ab) × ln(n(ab) × N / (n(a) × n(b)))"),
            (self.tr("Score"), "score", "n(ab) / (n(a) × n(b))"),
            (self.tr("Count (BPE)"), "count", "n(ab)"),
        ):
            box.addItem(text, value)
            box.setItemData(box.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        explain("objective", box)
        box.setProperty("tip", self.tr(
            "How the best pair to merge is chosen. Likelihood merges the pair that makes the corpus most probable and "
            "gives good vocabularies. Score is the formula of the Hugging Face course. Count is byte pair encoding "
            "(BPE)."
        ))  # fmt: skip
        box.currentIndexChanged.connect(self._take_objective)
        self._add(self.tr("Objective"), box)
        return box

    def _make_spin_box(self, caption: str, name: str, entry: str, largest: int, at_zero: str, tip: str) -> QSpinBox:
        box = _SizeBox(self, 0, largest)
        box.setSpecialValueText(at_zero)
        box.setAccessibleName(name)
        explain(entry, box)
        box.setProperty("tip", "\n".join((name, tip)))
        box.valueChanged.connect(self._take_limits)
        self._add(caption, box)
        return box

    def _add(self, caption: str, field: QWidget) -> None:
        self._captions.append(BuddyLabel(caption, field, self))
        fill(self._layout, self._captions[-1], field, _space(6), spacing=6)

    def _take_objective(self) -> None:
        if self.objective_box.currentData() != self._chosen.objective:
            self._chosen.choose(objective=self.objective_box.currentData())

    def _take_limits(self) -> None:
        self._chosen.choose(vocab_size=self.size_box.value() or None, min_frequency=self.frequency_box.value())

    def _choose_tokens(self, action: QAction) -> None:
        usual, _, custom = self._token_choices.actions()
        self._show_tokens(self._chosen.special_tokens)  # a dialog may still be cancelled
        if action is custom:
            self.edit_special_tokens()
        else:
            self._take_tokens(BERT_SPECIAL_TOKENS if action is usual else ())

    def _take_tokens(self, tokens: tuple[str, ...]) -> None:
        self._show_tokens(tokens)
        self._chosen.choose(special_tokens=tokens)

    def _show_tokens(self, tokens: tuple[str, ...]) -> None:
        usual, none, custom = self._token_choices.actions()
        is_custom = bool(tokens) and tokens != BERT_SPECIAL_TOKENS
        words = self.tr("&Custom… ({number})").format(number=len(tokens)) if is_custom else self.tr("&Custom…")
        custom.setText(words)
        (custom if is_custom else usual if tokens else none).setChecked(True)
        names = self.tr("Special tokens: {names}").format(names=" ".join(tokens))
        said = names if tokens else self.tr("Special tokens: none")
        self.more_button.setAccessibleName(" · ".join((self.tr("Options"), shown(said, 200))))
        set_plain_tooltip(self.more_button, said)


_STYLES = Qt.ToolButtonStyle
_USUAL_PROGRESS = "12,345 of 30,000 tokens"
_LEAST_CHARACTERS = 110  # of average width, for the bar in its shortest form
_MOST_LEAST_WIDTH = 940  # pixels: with large text too, the window must fit a small screen
# Captions, and which text on the search button (2: no button; 3: nor a word on *Options*); the first that fits.
_FORMS = ((True, 0), (True, 1), (False, 1), (False, 2), (False, 3))
_BETWEEN = 4
_PATIENCE_MS = 150  # a training that ends sooner leaves its button as it is: nothing flashes


class TrainButtons(QWidget):
    """*Train*, and in its place, as wide, *Pause* and *Stop* as long as there is something to be paused or stopped."""

    def __init__(self, actions: Actions, parent: QWidget) -> None:
        super().__init__(parent)
        self.train = _button("primary", self, actions.train, _STYLES.ToolButtonTextBesideIcon)
        self.pause, self.stop = (_button("button", self, action) for action in (actions.pause, actions.stop))
        self._all = (self.train, self.pause, self.stop)
        self._holds_keyboard = False
        for button in self._all:
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            button.installEventFilter(self)
        fill(QHBoxLayout(self), *self._all, spacing=_BETWEEN)
        self._swap_timer = single_shot(self, lambda: self._show(is_training=True), _PATIENCE_MS)
        self.fresh_timer = QTimer(self, singleShot=True, interval=QApplication.doubleClickInterval())
        self.pause.hide()
        self.stop.hide()
        self.train.show()
        self.fit()

    @property
    def has_keyboard(self) -> bool:
        return any(button.hasFocus() for button in self._all)

    def show_training(self, is_training: bool, *, had_keyboard: bool) -> None:
        """Offer to pause and stop, or to train; a keyboard focus that a button had is given back."""
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
        seen = {self.pause, self.stop} if is_training else {self.train}
        for button in seen:
            button.show()
        self._give_keyboard()
        for button in {*self._all} - seen:
            button.hide()

    def _give_keyboard(self) -> None:
        button = next((each for each in self._all if each.isEnabled() and not each.isHidden()), None)
        if self._holds_keyboard and button is not None and not self.has_keyboard:
            button.setFocus()


class TrainingBar(Fitted, QFrame):
    fits_later = True

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
        self.messages_button = _button("", self, actions.last_messages, _STYLES.ToolButtonIconOnly)
        self.export_button = _button("button", self, actions.save_vocabulary)
        find = actions.command_palette
        key = key_text(find.shortcut())
        self._search_texts = (self.tr("Find…   {key}").format(key=key), key)
        self.search_button = tool_button(
            "", self.tr("Type to find any command, step, token, sample or file ({key})").format(key=key), self,
            find.trigger, name=self.tr("Command palette"), role="search", takes_focus=True,
        )  # fmt: skip
        self.progress_bar = QProgressBar(self, textVisible=False)
        self.progress_bar.setAccessibleName(self.tr("Training progress"))
        policy = self.progress_bar.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.progress_bar.setSizePolicy(policy)
        self.progress_bar.hide()
        self._engine_words: tuple[str, ...] = ()
        self.is_preparing = False  # the fast engine is compiled
        self.ready_timer = single_shot(self, lambda: setattr(self, "_engine_words", ()), 4000)
        parts = self.buttons, _space(10), self.settings, _space(6), (self.progress_label, 1)
        more = self.messages_button, self.export_button, self.search_button
        self._controls = fill(QHBoxLayout(), *parts, *more, margins=(12, 7, 12, 5), spacing=6)
        self.rules = RuleChips(settings, self)
        fill(QVBoxLayout(self), self._controls, self.rules, self.progress_bar)

    def show_engine(self, stage: str | None, *, is_ready: bool) -> None:
        if stage == "compiling":
            whole = self.tr("Preparing the fast engine (first start only)…")
            self._engine_words = (whole, self.tr("Preparing the fast engine…"))
        elif self.is_preparing and is_ready:
            self._engine_words = (self.tr("The fast engine is ready"),)
            self.ready_timer.start()
        elif stage is None:
            self._engine_words = ()
        self.is_preparing = stage == "compiling" or (self.is_preparing and stage is not None)

    def show_text(self, *forms: str, more: str = "") -> None:
        """Show a text in place of the progress: the first form that fits; the tooltip has the full one, and `more`."""
        self.progress_bar.hide()
        both = [_joined(said, form) for said in self._engine_words for form in forms]
        self._set_text(*(dict.fromkeys((*both, *self._engine_words)) or forms), more=more)

    def show_waiting(self) -> None:
        self.show_busy(self._engine_words[-1] if self.is_preparing else self.tr("Getting ready…"))

    def show_busy(self, text: str) -> None:
        self.progress_bar.setRange(0, 0)  # without an end
        self.progress_bar.show()
        self._set_text(text)

    def show_progress(self, progress: Progress, paused: bool) -> None:
        start = progress.vocabulary_size - progress.merges  # special tokens and alphabet take no work
        target = (progress.target_size or start) if progress.is_target_sure else start
        self.progress_bar.setRange(0, max(target - start, 0))  # 0: a busy indicator without an end
        self.progress_bar.setValue(progress.vocabulary_size - start)
        self.progress_bar.setVisible(True)
        said = [size_words(progress.vocabulary_size, progress.target_size if progress.is_target_sure else None)]
        if progress.target_size is not None and not progress.is_target_sure:
            said.append(self.tr("{count} at most").format(count=number_text(progress.target_size)))
        if paused:
            said.append(self.tr("paused"))
        elif progress.seconds_left is not None:
            said.append(self.tr("{time} left").format(time=duration(progress.seconds_left)))
        self._set_text(_joined(*said))

    def minimumSizeHint(self) -> QSize:
        # Not the layout's: that is for the current form, and a wide one would keep the window wide.
        width = min(self.fontMetrics().averageCharWidth() * _LEAST_CHARACTERS, _MOST_LEAST_WIDTH)
        return QSize(width, super().minimumSizeHint().height())

    def fit(self) -> None:
        """Take the first form that fits; it depends on nothing that changes with a training."""
        self.buttons.fit()
        reserve = self.fontMetrics().horizontalAdvance(_USUAL_PROGRESS)
        for captions, search in _FORMS:
            self.settings.set_captions_visible(captions)
            self.settings.more_button.setText(self.tr("Options ▾") if search < 3 else "⋯")
            self.search_button.setVisible(search < len(self._search_texts))
            self.search_button.setText(self._search_texts[min(search, len(self._search_texts) - 1)])
            self._controls.invalidate()
            if self._controls.minimumSize().width() + reserve <= self.width():
                break
        self._controls.activate()

    def _set_text(self, *forms: str, more: str = "") -> None:
        set_plain_tooltip(self.progress_label, "\n".join(filter(None, (forms[0], more))))
        self.progress_label.setAccessibleName(forms[0])
        self.progress_label.show_forms(*forms)


def _space(width: int) -> QSpacerItem:
    return QSpacerItem(width, 0, QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Minimum)


def _button(
    role: str, parent: QWidget, action: QAction, style: Qt.ToolButtonStyle = _STYLES.ToolButtonTextOnly
) -> QToolButton:
    button = QToolButton(parent, toolButtonStyle=style)
    button.setDefaultAction(action)
    button.setProperty("role", role)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return button
