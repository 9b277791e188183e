"""The timeline: buttons that move between steps and mark them, and a slider over the curve of all values."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QCoreApplication, QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSpacerItem, QToolButton, QVBoxLayout, QWidget

from wordpiece_studio.session.plural import counted, filled
from wordpiece_studio.session.runs import divergences
from wordpiece_studio.session.step_marks import step_of_selection
from wordpiece_studio.session.task import Task
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.ui.panes.timeline.timeline_plot import Lane, PlotMarks, TimelinePlot
from wordpiece_studio.ui.widgets.pane import Pane, fill
from wordpiece_studio.ui.widgets.plain import Fitted, FittingLabel, explain, plain_label, set_plain_tooltip, tool_button
from wordpiece_studio.ui.widgets.theme import icon
from wordpiece_studio.ui.widgets.token_text import (
    divergence_words,
    number_text,
    objective_name,
    run_names,
    step_name,
    token_text,
    value_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QAction, QHideEvent

    from wordpiece_studio.session.runs import ComparedStep, RunDivergence
    from wordpiece_studio.session.session import Session
    from wordpiece_studio.session.step_marks import Hit
    from wordpiece_studio.storage.view import Breakpoint
    from wordpiece_studio.training.engine import Merge
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.widgets.pane import Forms
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "timeline_marks")
_MARK = "▼"
_WIDTH, _HEIGHT, _ICON = 1.82, 1.65, 0.94  # sizes of a button and of its icon, in lines of text
# Commands from left to right; empty: a gap.
_SHOWN = (
    "first_merge", "previous_merge", "play", "next_merge", "last_merge", "", "previous_change", "next_change", "",
    "keep_step",
)  # fmt: skip
# Those of the menu beside them; empty: a line.
_MORE = ("ten_back", "ten_on", "", "compare_step", "bookmarks", "", "run_back", "run_to_breakpoint")
# Playback shows several merges a second: "next" must not swallow the second press.
_REPEATED = ("previous_merge", "next_merge")
# Of the glossary, that explain a command; the others are about the step.
_ENTRIES = {"keep_step": "bookmark", "previous_change": "changes", "next_change": "changes"}


class CommandButton(Fitted, QToolButton):
    def __init__(self, name: str, action: QAction, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName(f"timeline_{name}")
        self.setProperty("role", "button")
        explain(_ENTRIES.get(name, "step"), self)
        self.setAutoRepeat(name in _REPEATED)
        self.setDefaultAction(action)
        action.changed.connect(self._show_action)  # after the button's own update
        self._show_action()
        self.fit()

    def fit(self) -> None:
        line = self.fontMetrics().height()
        self.setIconSize(QSize(round(_ICON * line), round(_ICON * line)))
        self.setFixedSize(round(_WIDTH * line), round(_HEIGHT * line))

    def _show_action(self) -> None:
        self.setAccessibleName(self.defaultAction().text().replace("&", "").rstrip("…"))


class TimelineButtons(QWidget):
    """One row: moving through the steps and bookmarking them; and a menu with the speed and all else."""

    def __init__(self, actions: Actions, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._actions, self._theme = actions, theme
        self._speeds = QMenu(self.tr("Playback &speed"), self)
        menu = QMenu(self.tr("More commands for steps"), self)
        menu.menuAction().setIconText("⋯")
        menu.aboutToShow.connect(self._offer_speeds)
        menu.addMenu(self._speeds)
        for name in ("", *_MORE):
            menu.addAction(getattr(actions, name)) if name else menu.addSeparator()
        more = CommandButton("more", menu.menuAction(), self)
        more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        buttons = {name: CommandButton(name, getattr(actions, name), self) for name in _SHOWN if name}
        self._play = buttons["play"]  # the one in the accent color
        self._play.setProperty("role", "primary")
        actions.play.changed.connect(self._draw_play)
        theme.dress(self._draw_play)
        fill(QHBoxLayout(self), *(buttons.get(name) or QSpacerItem(10, 0) for name in _SHOWN), more, spacing=4)

    def _draw_play(self) -> None:
        theme, is_playing = self._theme, self._play.isChecked()
        color = theme.accent_ink if is_playing else theme.accent_text
        self._play.setIcon(icon("pause" if is_playing else "play", color, theme.faint))

    def _offer_speeds(self) -> None:
        self._speeds.clear()
        self._speeds.addActions(self._actions.choices("choose_speed"))


def divergences_text(found: Sequence[RunDivergence]) -> tuple[str, ...]:
    """Return where other runs diverge from the one shown, and a shorter form; nothing if there are none."""
    places = [_divergence_place(each) for each in found if each.step is not None]
    if len(found) == 1 and places:
        short = filled(_tr("{mark} Divergence at step {step}"), mark=_MARK, step=found[0].step)
        return _divergence_sentence(found[0]), short
    if not places:
        return (" · ".join(dict.fromkeys(map(_divergence_sentence, found))),) if found else ()
    return " · ".join(places), " · ".join((*places[:1], "…"))


def _divergence_place(divergence: RunDivergence) -> str:
    said = _tr("{mark} {runs} diverge at step {step}")
    return filled(said, mark=_MARK, runs=divergence_words(divergence)[0], step=divergence.step)


def _divergence_sentence(divergence: RunDivergence) -> str:
    runs, step, here, there = divergence_words(divergence)
    if step is not None:
        return _tr("{place}: {here}, {there}").format(place=_divergence_place(divergence), here=here, there=there)
    return _tr("{runs} make the same merges").format(runs=runs) if divergence.is_known else here


def hit_words(hit: Hit, history: MergeHistory) -> str:
    merge = history[hit.step - 1]
    return " · ".join(dict.fromkeys(_hit_text(each, merge, history) for each in hit.breakpoints))


def _hit_text(each: Breakpoint, merge: Merge, history: MergeHistory) -> str:
    if each.kind == "word":
        return _tr("breakpoint: word {word} becomes one token").format(word=token_text(each.text, 30))
    if each.kind == "value":
        said = _tr("breakpoint: merge score {value} < {limit}")
        return said.format(value=value_text(merge.value), limit=value_text(each.number))
    if each.kind == "tie":
        return counted(merge.ties, "breakpoint: tie of 1 pair", "breakpoint: tie of {count} pairs")
    if each.kind == "size":
        size = history.vocabulary_size(merge.step)
        return counted(size, "breakpoint: vocabulary reaches 1 token", "breakpoint: vocabulary reaches {count} tokens")
    return _tr("breakpoint: token {token} is created").format(token=token_text(merge.token, 30))


def merge_words(step: int, history: MergeHistory | None) -> str:
    """Return the merge of a step: ``"12: ch + ##a → cha"``."""
    if history is None or not step:
        return _tr("Before the first merge")
    merge = history[step - 1]
    left, right, token = (token_text(each, 30) for each in (merge.left, merge.right, merge.token))
    return f"{left} + {right} → {token}"


_NARROW_LINES = 50


class TimelinePane(Pane):
    """Moves the step that all panes share; the commands of its buttons are connected elsewhere."""

    def __init__(self, session: Session, actions: Actions, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(session.model, parent)
        self._actions, self._session = actions, session
        self._comparison, self._marks, self._changes = session.comparison, session.marks, session.changes
        self.divergences = Task(divergences, "The runs cannot be compared", self)
        self._said = ""  # about the step
        self._said_step = -1
        self._buttons = TimelineButtons(actions, theme, self)
        name = self.tr("Train further")
        self._further = tool_button(name, "", self, name=name, role="button", entry="training", takes_focus=True)
        self._further.setObjectName("timeline_further")
        self._further.setDefaultAction(actions.train_further)
        self._further.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self.plot = TimelinePlot(theme, self._describe_step, self)
        self.plot.setAccessibleName(self.tr("Training step"))
        self.legend = FittingLabel(self, role="hint")
        self._make_header()
        legend = fill(QHBoxLayout(), self.legend, margins=(14, 0, 12, 0))
        right = fill(QVBoxLayout(), (self.plot, 1), legend)
        fill(QHBoxLayout(self), self._buttons, (right, 1), self._further, margins=(14, 2, 10, 2), spacing=14)
        model, marks = session.model, session.marks
        self.follow(
            model.merges_appended, model.state_changed, marks.watch.changed, marks.bookmarks.changed,
            session.changes.changed, session.comparison.changed, self.divergences.changed,
        )  # fmt: skip
        model.step_changed.connect(self._on_model_step_changed)
        for changed in (model.selection_changed, session.judging.changed, session.player.changed):
            changed.connect(self._show_now)
        self.plot.valueChanged.connect(self._on_plot_step_chosen)

    def say_here(self, words: str) -> None:
        """Show a message about the current step, such as why it halted there, until the step changes."""
        self._said, self._said_step = words, self._model.step
        self._show_step()

    def _make_header(self) -> None:
        tip = self.tr("Where other runs diverge from the current run")
        go = self._actions.divergences.trigger
        self.link = tool_button("", tip, self, go, role="link", entry="divergence", takes_focus=True)
        self.link.hide()
        self.held_out = plain_label("", self, role="hint", entry="held-out-text")
        self.held_out.setAccessibleName(self.tr("Held-out text"))
        self.held_out.setContentsMargins(14, 0, 0, 0)  # pixels between the parts of the title bar
        tip = self.tr("A tenth of the corpus is held out. Vocabularies trained on the rest, one per objective, split "
                      "it into this many tokens per word; fewer is better.")  # fmt: skip
        set_plain_tooltip(self.held_out, tip)
        self.held_out.hide()
        self.header = QWidget(self)
        fill(QHBoxLayout(self.header), self.held_out, self.link, spacing=-1)

    def hideEvent(self, event: QHideEvent) -> None:
        """Compare nothing that nobody sees."""
        super().hideEvent(event)
        self.divergences.stop()
        self.refresh_later()

    def fit(self) -> None:
        line = self.fontMetrics().height()
        self.legend.setVisible(self.height() >= 5.6 * line)  # a pane of fewer lines of text has no room for the legend
        self._further.setVisible(self.width() >= _NARROW_LINES * line)  # the menus have it too

    # -- contents

    def forget(self) -> None:
        self.divergences.forget()

    def refresh(self) -> None:
        history, count = self._model.history, self._model.merge_count
        values, ties = (history.column(name)[:count] if history else np.empty(0) for name in ("value", "ties"))
        self.plot.set_curve(values, ties)
        self.plot.setEnabled(count > 0)
        self._find_divergences()
        self._show_lanes()
        self._show_step()
        self._show_marks()

    def _find_divergences(self) -> None:
        run, others = self._model.run, self._comparison.others
        if run is None or not others or self._model.is_busy:
            self.divergences.stop()
            return
        self.divergences.ask([len(each.history) for each in (run, *others)], *((run, each) for each in others))

    @property
    def _known_divergences(self) -> tuple[RunDivergence, ...]:
        """Where the compared runs diverge from the one shown; nothing while it is not known."""
        task = self.divergences
        return task.answer if task.answer is not None and task.answered == task.request else ()

    def _show_lanes(self) -> None:
        lanes, runs = self._comparison.lanes(), self._comparison.runs.all
        names = run_names(runs) if lanes else {}
        steps = {each.other: each.step for each in self._known_divergences}
        drawn = [
            self._lane(lane, step_name(lane, names), steps.get(lane.run) if lane.bookmark is None else None)
            for lane in lanes
        ]
        runs_drawn = [lane.run for lane in lanes]
        own = runs_drawn.index(self._model.run) if drawn and self._model.run is not None else 0
        self.plot.set_lanes(drawn, own)

    def _lane(self, lane: ComparedStep, name: str, diverges_at: int | None) -> Lane:
        run, history = lane.run, lane.run.history
        values = self.plot.values if run is self._model.run else history.column("value")
        count = len(values)
        sizes = np.concatenate(([history.vocabulary_size(0)], history.vocabulary_sizes()[:count]))
        last = int(sizes[-1])
        widest = max((self._size_words(last, last, is_at_end=is_at_end) for is_at_end in (False, True)), key=len)
        return Lane(run, name, lane.step, "", values, sizes, widest, diverges_at)

    def _size_words(self, size: int, last: int, *, is_at_end: bool) -> str:
        if is_at_end:
            return counted(last, "final, 1 token", "final, {count} tokens")
        return counted(last, "{size} of 1 token", "{size} of {last} tokens", size=size, last=last)

    def _show_lane_steps(self) -> tuple[str, ...]:
        """Show how far the compared runs are; return what to say about them, first where they are compared."""
        steps, lanes = self._comparison.lanes(), self.plot.lanes
        if not steps or [step.run for step in steps] != [lane.run for lane in lanes]:
            return ()  # when other runs are compared, a refresh is due
        for step, lane in zip(steps, lanes, strict=True):
            history = step.run.history
            last = history.vocabulary_size(self._model.merge_count if step.run is self._model.run else len(history))
            lane.step = step.step
            lane.words = self._size_words(history.vocabulary_size(step.step), last, is_at_end=step.is_at_end)
        aligned = [step.step for step in steps if step.bookmark is None]
        size = self._comparison.size
        text = counted(size, "compared at 1 token", "compared at {count} tokens")
        if len(aligned) > 1 and len(set(aligned)) == 1:
            text = counted(size, "compared at the same step, 1 token", "compared at the same step, {count} tokens")
        said = self.tr("{letter} {name}: {progress}")
        return text, *(said.format(letter=lane.run.letter, name=lane.name, progress=lane.words) for lane in lanes)

    def _show_marks(self) -> None:
        model, marks = self._model, self._marks
        notes = np.array([note.step for note in marks.bookmarks.of_run()], dtype=np.int64)
        birth = step_of_selection(model.selection, model.history, model.merge_count)
        self.plot.marks = PlotMarks(self._changes.steps, marks.watch.steps, notes, birth)
        self.plot.update()
        self._show_legend()

    def _show_step(self) -> None:
        model = self._model
        if self._said_step != model.step:
            self._said = ""
        self.plot.callout = self._said or self._why_empty()
        compared = self._show_lane_steps()
        self.plot.set_step(model.step)
        where = filled(self.tr("Step {step} of {count}"), step=model.step, count=model.merge_count)
        if model.hides_future:
            where = filled(self.tr("Step {step} · what follows is hidden"), step=model.step)
        if model.history is not None and not model.history.has_steps:
            where = self.tr("Final vocabulary")
        self._show_link()
        held_out = self._held_out_forms()
        self.held_out.setAccessibleDescription(held_out[0])
        beside: Forms = {self.link: (*divergences_text(self._known_divergences), ""), self.held_out: held_out}
        self.set_heading(*self._hints(" · ".join((where, *compared[:1]))), beside=beside)
        self.plot.setAccessibleDescription("\n".join(filter(None, (where, self._said, *compared))))

    def _show_link(self) -> None:
        found = self._known_divergences
        leads_there = any(each.step for each in found)
        said = "\n".join(divergences_text((each,))[0] for each in found)
        self.link.setEnabled(leads_there)
        self.link.setAccessibleName(said or self.tr("Where other runs diverge from the current run"))
        tip = self.tr("List where the runs diverge") if leads_there else ""
        set_plain_tooltip(self.link, "\n".join(filter(None, (said, tip))))

    def _held_out_forms(self) -> tuple[str, ...]:
        """Return what is said about held-out text, a shorter form, and none."""
        figures, progress = self._session.judging.figures, self._session.judging.task.progress
        if figures is None and progress is None:
            return ("",)
        if figures is None:
            return self.tr("Measuring held-out text: {percent}%").format(percent=int(100 * progress)), ""
        (_, figure), *others = figures.items()
        said = self.tr("Held-out: {rate} tokens per word")
        if figure.loses_text:
            said = self.tr("Held-out: {rate} tokens per word, {share} unknown")
        short = said.format(rate=f"{figure.rate:.2f}", share=f"{figure.unknown:.1%}")
        named = []
        for objective, each in others:
            text = self.tr("{objective} {rate}, {share} unknown") if each.loses_text else self.tr("{objective} {rate}")
            rate, share = f"{each.rate:.2f}", f"{each.unknown:.1%}"
            named.append(text.format(objective=objective_name(objective), rate=rate, share=share))
        return f"{short} ({' · '.join(named)})", short, ""

    def _why_empty(self) -> str:
        if self._model.merge_count:
            return ""
        if self._model.history is None:
            return self.tr("Nothing has been trained yet. Train to see the score of every merge here.")
        if not self._model.history.has_steps:
            why = self.tr("This run has no record of merges: it was trained with another library, extended or pruned.")
            return "" if self._comparison.lanes() else why
        return self.tr("No merges yet. The curve appears here after the first one.")

    def _hints(self, where: str) -> tuple[str, ...]:
        model = self._model
        if model.history is None:
            return (self.tr("Nothing trained yet"),)
        said = self._said or (self.tr("running to a breakpoint") if self._session.player.is_running else "")
        if said or model.state is TrainerState.TRAINING:
            return (" · ".join((where, said or self.tr("training"))),)
        if not model.history.has_steps:
            return (where,)
        keys = self.tr("← → step · {change} next change to the text · {compare} compare with this step")
        named = keys.format(
            change=self._actions.next_change.shortcut().toString(),
            compare=self._actions.compare_step.shortcut().toString(),
        )
        short = self.tr("← → step · drag, click or scroll")
        return f"{where} · {named}", f"{where} · {short}", where

    def _curve_text(self) -> str:
        config = self._model.config
        if config is None:
            return ""
        return {
            "score": self.tr("Curve: score of each merge (log scale)"),
            "likelihood": self.tr("Curve: gain of each merge (log scale)"),
            "count": self.tr("Curve: count of each merge (log scale)"),
        }[config.objective]

    def _show_legend(self) -> None:
        """Say what the marks are, as many as fit; the tooltip says it of all."""
        marks, curve = self.plot.marks, self._curve_text()
        known = (
            ("●", True, self.tr("Tie")), ("▎", len(marks.changes), self.tr("Changes the live text")),
            ("◆", len(marks.breakpoints), self.tr("Breakpoint")), ("⚑", len(marks.notes), self.tr("Bookmark")),
            (_MARK, any(lane.diverges_at for lane in self.plot.lanes), self.tr("Diverges from the current run")),
            ("▲", marks.birth is not None, self._birth_text()), ("", True, curve),
        )  # fmt: skip
        texts = [f"{sign} {text}".strip() for sign, is_there, text in known if is_there and curve]
        whole = " · ".join(texts)
        self.legend.setAccessibleName(whole)
        set_plain_tooltip(self.legend, whole)
        self.legend.show_forms(*("   ".join(texts[:count]) for count in range(len(texts), -1, -1)))

    def _birth_text(self) -> str:
        selection = self._model.selection
        if selection is None:
            return ""
        if selection.kind == "pair":
            return self.tr("Pair merged")
        text = self.tr("{token} is created") if selection.kind == "token" else self.tr("{token} becomes one token")
        if not self.plot.marks.birth:
            text = self.tr("{token} exists from the start")
        return text.format(token=token_text(selection.text, 20))

    def _describe_step(self, step: int) -> str:
        history = self._history  # the run whose curve is shown
        if history is None or not step:
            return self.tr("Before the first merge")
        merge = history[step - 1]
        parts = [number_text(step), token_text(merge.token, 30), value_text(merge.value)]
        if merge.ties > 1:
            parts.append(filled(self.tr("tie of {count}"), count=merge.ties))
        if self._changes.next_after(step - 1) == step:
            parts.append(self.tr("changes the live text"))
        if (hit := self._marks.watch.hit_at(step)) is not None:
            parts.append(hit_words(hit, history))
        parts += [self.tr("“{note}”").format(note=token_text(note, 40)) for note in self._marks.bookmarks.texts(step)]
        return " · ".join(parts)

    # -- events

    def _on_model_step_changed(self) -> None:
        if self._model.state is TrainerState.TRAINING and self._model.is_at_head:
            self.refresh_soon()  # together with the other panes
        elif self.is_current:
            self._show_step()
        else:
            self.refresh_later()

    def _show_now(self) -> None:
        """Show all but the curve at once, or everything later."""
        if self.is_current:
            self._show_step()
            self._show_marks()
        else:
            self.refresh_later()

    def _on_plot_step_chosen(self, step: int) -> None:
        self._session.player.stop()
        if step == self.plot.maximum():  # during training there may be later steps by now
            self._model.last()
        else:
            self._model.seek(step)
