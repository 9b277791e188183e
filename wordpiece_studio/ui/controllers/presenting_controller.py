"""Presenting: what a merge did in a sentence, the keys that clickers send, and the way to bookmarked steps and back."""

from __future__ import annotations

import sys

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication, QPushButton

from wordpiece_studio.session.history_table import value_name
from wordpiece_studio.session.plural import counted, filled
from wordpiece_studio.ui.actions import command, tr
from wordpiece_studio.ui.panes.timeline.timeline_pane import merge_words
from wordpiece_studio.ui.widgets.token_text import formula_of, token_text
from wordpiece_studio.ui.workspace import Controller, Workspace

_START = "F5"  # what a clicker sends to start a show


class PresentingController(Controller):
    """Its keys hold in the layout *Presenting* alone, in text fields too; there F5 predicts, and trains nothing.

    Those of a clicker, Page Down and Page Up, hold while predicting too.
    """

    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        actions = self._actions
        self._bookmarks = window.session.marks.bookmarks
        self._came_from: int | None = None  # the step before a bookmarked one was gone to
        self._keys = {action: action.shortcuts() for action in (actions.train, actions.train_further, actions.predict)}
        self._cover = QPushButton(window)
        self._cover.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._cover.setStyleSheet("background: black; border: none")
        self._cover.setAccessibleName(self.tr("Blank screen"))
        self._cover.clicked.connect(self._cover.hide)
        self._cover.hide()
        model = self._model
        for signal in (model.step_changed, model.run_reset, self._bookmarks.changed):
            signal.connect(self._show_caption)
        model.run_reset.connect(lambda: setattr(self, "_came_from", None))
        window.presenting_changed.connect(self._on_window_presenting_changed)
        self._actions.bind(
            self, model.step_changed, model.run_reset, self._bookmarks.changed, window.presenting_changed
        )

    def _not_presenting(self) -> str:
        return "" if self._window.is_presenting else self.tr("Only in the layout Presenting")

    def _no_clicker(self) -> str:
        return "" if self._window.is_clicked else self.tr("Only in the layout Presenting, or while predicting")

    def _on_window_presenting_changed(self) -> None:
        window, actions = self._window, self._actions
        self._cover.hide()
        starts = QKeySequence(_START), QKeySequence(f"Shift+{_START}")
        for action, keys in self._keys.items():
            own = [key for key in keys if key not in starts] + [starts[0]] * (action is actions.predict)
            action.setShortcuts(own if window.is_presenting else keys)
        self._show_motion()
        self._show_caption()

    # -- what a merge did

    def _show_caption(self) -> None:
        forms = self._caption() if self._window.is_presenting else ("",)
        self._window.caption.setVisible(bool(forms[0]))
        self._window.caption.setAccessibleName(forms[0])
        self._window.caption.show_forms(*forms)
        note = self._note() if forms[0] else ""
        self._window.caption_note.setVisible(bool(note))
        self._window.caption_note.setAccessibleName(note)
        self._window.caption_note.show_forms(note)

    def _note(self) -> str:
        """Return the notes of the step, or else that it is bookmarked, if it is."""
        step, bookmarks = self._model.step, self._bookmarks
        own = merge_words(step, self._model.history)  # a note that says no more
        if notes := [text for text in bookmarks.texts(step) if text != own]:
            return " ".join(notes)
        return self.tr("Bookmarked") if any(note.step == step for note in bookmarks.of_run()) else ""

    def _caption(self) -> tuple[str, ...]:
        """Return a sentence about the merge of the step, and a phrase."""
        history, config, step = self._model.history, self._model.config, self._model.step
        if history is None or config is None or not history.has_steps:
            return ("",)
        if not step:
            return (self.tr("Before the first merge: words are split into their symbols"),)
        merge = history[step - 1]
        value = formula_of(config.objective, merge, merge.symbols_before).short
        why = self.tr("because their {name}, {value}, is the highest")
        if step in config.choices:
            why = self.tr("because they were chosen for this step")
        elif merge.ties > 1 and config.tie == "ids":
            why = self.tr("of {ties} pairs with the highest {name}, {value}, the one with the lowest IDs")
        elif merge.ties > 1:
            why = self.tr("of {ties} pairs with the highest {name}, {value}, the first in the corpus")
        changed = ""
        if history.is_whole:  # otherwise it is shown again when the words have been read
            count = int(history.words_touched_counts(step - 1, step)[0])
            changed = "; " + counted(count, "1 word changes", "{count} words change")
        left, right, token = (token_text(each, 30) for each in (merge.left, merge.right, merge.token))
        parts = {"left": left, "right": right, "token": token, "step": step, "value": value, "ties": merge.ties}
        why = filled(why, name=value_name(config.objective).lower(), **parts)
        long = filled(self.tr("{step}: {left} and {right} become {token}, {why}{changed}"), why=why, changed=changed,
                      **parts)  # fmt: skip
        return long, f"{merge_words(step, history)}{changed}"

    # -- clickers

    @command(tr("&Forward"), tr("Reveal, or go one merge forward, as a clicker does"), "PgDown", unless=_no_clicker)
    def forward(self) -> None:
        if self._cover.isVisible():
            self._cover.hide()
        elif self._window.tokenization_pane.split_view.is_asking:
            self._window.tokenization_pane.split_view.go_on()
        elif self._session.prediction.is_on:
            self._session.prediction.go_on()
        else:
            self._actions.next_merge.trigger()

    @command(tr("&Back"), tr("Go one merge back, as a clicker does"), "PgUp", unless=_no_clicker)
    def backward(self) -> None:
        if self._cover.isVisible():
            self._cover.hide()
        else:
            self._actions.previous_merge.trigger()

    @command(
        tr("Blank &screen"), tr("Make the screen black; any key of a clicker shows it again"), ".",
        unless=_not_presenting,
    )  # fmt: skip
    def blank_screen(self) -> None:
        self._cover.resize(self._window.screen().size().expandedTo(self._window.size()))
        self._cover.raise_()
        self._cover.setVisible(not self._cover.isVisible())

    # -- motion

    @command(
        tr("&Animate merges"), tr("Let the two symbols of a merge move together while presenting"),
        checked=lambda self: self._is_animated,
    )  # fmt: skip
    def animate_merges(self) -> None:
        self._window.remember(animates_merges=not self._is_animated)
        self._show_motion()

    @property
    def _is_animated(self) -> bool:
        """Whether the user wants motion, or else the system, where Qt says what that wants."""
        chosen = self._window.settings.values.animates_merges
        says_so = sys.platform == "win32"
        return (not says_so or QApplication.isEffectEnabled(Qt.UIEffect.UI_General)) if chosen is None else chosen

    def _show_motion(self) -> None:
        self._window.scoreboard_pane.is_animated = self._window.is_presenting and self._is_animated

    # -- bookmarked steps

    def _bookmark(self, way: int) -> int | None:
        """Return the nearest bookmarked step after the current one, or before it if `way` is -1."""
        here = self._model.step
        steps = (note.step for note in self._bookmarks.of_run() if way * note.step > way * here)
        return min(steps, key=lambda step: way * step, default=None)

    def _go(self, step: int | None) -> None:
        self._session.player.stop()
        if step is not None:
            self._came_from = self._model.step
            self._model.seek(step)

    @command(
        tr("Next bookmarked step"), tr("Go to the next bookmarked step"), "Ctrl+PgDown",
        unless=lambda self: self.tr("No bookmarked step follows") if self._bookmark(1) is None else "",
    )  # fmt: skip
    def next_bookmark(self) -> None:
        self._go(self._bookmark(1))

    @command(
        tr("Previous bookmarked step"), tr("Go to the previous bookmarked step"), "Ctrl+PgUp",
        unless=lambda self: self.tr("No bookmarked step comes before") if self._bookmark(-1) is None else "",
    )  # fmt: skip
    def previous_bookmark(self) -> None:
        self._go(self._bookmark(-1))

    @command(
        tr("Back to where you were"), tr("Go back to the step before a bookmarked one was gone to, and there again"),
        "Shift+F8",
        unless=lambda self: "" if self._came_from is not None else self.tr("No bookmarked step was gone to"),
    )  # fmt: skip
    def return_from_bookmark(self) -> None:
        self._go(self._came_from)
