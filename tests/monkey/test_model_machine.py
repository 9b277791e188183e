"""The model without widgets under random commands: text, undo, training, moving, selecting; against plain Python."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from PySide6.QtCore import QCoreApplication, QEventLoop

from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.session.document import Document
from wordpiece_studio.session.step_marks import StepMarks
from wordpiece_studio.session.token_usage import TokenUsage
from wordpiece_studio.session.trainer_model import TrainerModel
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.session.view_text import to_view
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.training.engine import Merge

_PATIENCE_SECONDS = 60
_words = st.lists(st.text("hugpnbs#", min_size=1, max_size=6), min_size=1, max_size=8).map(" ".join)
_texts = st.text(st.sampled_from("hug pugs\n\r\t\ufeff\u2028\U0001f917é#"), max_size=12)
_TARGETS = st.sampled_from([None, 12, 16, 40])


class ModelMachine(RuleBasedStateMachine):
    """What a window asks of the model, in any order and at any time."""

    def __init__(self) -> None:
        super().__init__()
        self.model = TrainerModel()
        self.marks = StepMarks(self.model)
        self.usage = TokenUsage(self.model)
        self.document = Document()
        self.merged: list[Merge] = []
        self.steps: list[int] = []
        self.wanted = ""
        self.model.merged.connect(self.merged.append)
        self.model.run_reset.connect(self.merged.clear)
        self.model.step_changed.connect(self.steps.append)

    def teardown(self) -> None:
        self.wait()
        self.usage.task.close()
        self.document.close()
        self.model.close()

    # -- the text

    @rule(text=_texts, place=st.integers(0, 40), removed=st.integers(0, 6))
    def edit(self, text: str, place: int, removed: int) -> None:
        place = min(place, len(self.wanted))
        removed = min(removed, len(self.wanted) - place)
        self.document.edit(place, removed, text)
        self.wanted = self.wanted[:place] + text + self.wanted[place + removed :]

    @rule(place=st.integers(0, 40), removed=st.integers(0, 6), text=_texts)
    def edit_in_the_editor(self, place: int, removed: int, text: str) -> None:
        """As the editor reports it: places in UTF-16 units of what it shows, line breaks as LF."""
        start = min(place, self.document.view_position(len(self.wanted)))
        end = min(start + removed, self.document.view_position(len(self.wanted)))
        first, last = self.document.text_position(start), self.document.text_position(end)
        start, end = self.document.view_position(first), self.document.view_position(last)  # no half of a pair
        before, after = self.wanted[:first], self.wanted[last:]
        self.document.edit_view(start, end - start, to_view(text))
        self.wanted = self.document.text
        assert to_view(self.wanted) == to_view(before + to_view(text) + after)

    @rule()
    def undo_and_redo(self) -> None:
        stack = self.document.undo_stack
        if stack.canUndo():
            stack.undo()
            stack.redo()

    # -- training

    @rule(words=_words, size=_TARGETS, paused=st.booleans())
    def train(self, words: str, size: int | None, paused: bool) -> None:
        counts = count_texts([words], "none", "whitespace-split")
        self.model.start(counts, TrainingConfig(vocab_size=size), paused=paused)

    @rule(words=_words, size=_TARGETS)
    def retrain(self, words: str, size: int | None) -> None:
        self.model.replace(count_texts([words], "none", "whitespace-split"), TrainingConfig(vocab_size=size))

    @rule(command=st.sampled_from(["pause", "resume", "stop", "next_merge", "forget", "train_further"]))
    def command(self, command: str) -> None:
        getattr(self.model, command)()

    @rule()
    def wait(self) -> None:
        model = self.model
        wait_until(lambda: not model.is_busy and not model.is_replacing and not self.usage.is_counting)

    @rule()
    def let_a_little_happen(self) -> None:
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 2)

    # -- moving and looking

    @rule(step=st.integers(-1, 30))
    def seek(self, step: int) -> None:
        self.model.seek(step)

    @rule()
    def go_to_the_end(self) -> None:
        self.model.last()

    @rule()
    def go_back(self) -> None:
        self.model.seek(self.model.step - 1)

    @rule(text=st.sampled_from(["h", "##u", "hug", "##", "[UNK]", "nothing"]), kind=st.sampled_from(["token", "word"]))
    def select(self, text: str, kind: str) -> None:
        self.model.set_selection(Selection("token" if kind == "token" else "word", text=text))

    @rule(is_wanted=st.booleans())
    def want_usage(self, is_wanted: bool) -> None:
        self.usage.set_wanted(self.model, is_wanted)

    @rule()
    def ask_for_candidates(self) -> None:
        self.model.request_candidates()

    # -- what holds always

    @invariant()
    def the_text_is_what_was_typed(self) -> None:
        assert self.document.text == self.wanted
        assert self.document.view_text == to_view(self.wanted)

    @invariant()
    def every_merge_was_told_once_and_in_order(self) -> None:
        model = self.model
        assert [merge.step for merge in self.merged] == list(range(1, model.merge_count + 1))
        assert 0 <= model.step <= model.merge_count
        assert not self.steps or self.steps[-1] == model.step or model.step == 0

    @invariant()
    def the_parts_tell_of_one_run(self) -> None:
        model = self.model
        assert (model.history is None) == (model.counts is None)
        if model.history is not None:
            assert model.progress.vocabulary_size == model.history.vocabulary_size(model.merge_count)
            assert len(model.vocabulary_at(model.step)) == model.history.vocabulary_size(model.step)
            assert len(self.usage.frequencies) in (0, model.history.vocabulary_size(self.usage.step or 0))

    @precondition(lambda self: not self.model.is_busy and self.model.history is not None)
    @invariant()
    def the_run_is_what_the_plain_engine_finds(self) -> None:
        model = self.model
        wanted = train(model.counts, TrainingConfig(max_merges=model.merge_count), engine="plain")
        assert [merge.token for merge in wanted.history] == [merge.token for merge in self.merged]


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + _PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end, "nothing happens any more"
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 50)


@pytest.mark.usefixtures("qapp")
class TestModel(ModelMachine.TestCase):
    settings = settings(max_examples=12, stateful_step_count=30)


def test_a_training_that_is_given_up_leaves_the_model_idle_or_with_its_run(qapp: object) -> None:
    machine = ModelMachine()
    machine.train("hug hug pug", None, paused=False)
    machine.command("stop")
    machine.wait()
    assert machine.model.state in (TrainerState.IDLE, TrainerState.FINISHED)
    machine.teardown()
