"""Breakpoints: where they are hit, against a plain check of every merge; halting; and running to one."""

from __future__ import annotations

import math
import re
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.session.conftest import random_counts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.step_marks import Breakpoints, BreakpointSearch, BreakpointWatch, Hit, Player, StepMarks
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.view import KINDS, Breakpoint
from wordpiece_studio.text.patterns import SearchPattern
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import Trainer

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.training.history import MergeHistory

    MakeModel = Callable[..., TrainerModel]

HOSTILE = "(a|aa)+[^a]"


def history_of(seed: int, merges: int = 60, **config: object) -> MergeHistory:
    trainer = Trainer(random_counts(seed), TrainingConfig(vocab_size=None, max_merges=merges, **config))
    trainer.run(merges)
    return trainer.history


def plain_hits(each: Breakpoint, history: MergeHistory) -> list[int]:
    """Return the steps at which a breakpoint is hit, by looking at every merge."""
    hits = []
    above = True
    for merge in history:
        size = history.vocabulary_size(merge.step)
        is_below = merge.value < each.number
        is_hit = {
            "token": merge.is_new and merge.token == each.text,
            "pattern": each.kind == "pattern" and merge.is_new and re.search(each.text, merge.token) is not None,
            "word": each.kind == "word" and is_whole(each.text, merge.step, history),
            "value": is_below and above,
            "tie": merge.ties >= each.number,
            "size": size >= each.number > history.vocabulary_size(merge.step - 1),
        }[each.kind]
        above = not is_below
        if is_hit:
            hits.append(merge.step)
    return hits


def is_whole(word: str, step: int, history: MergeHistory) -> bool:
    if word in history.input.words:
        return len(history.segmentation(word, step)) == 1 < len(history.segmentation(word, step - 1))
    suffix = history.input.config.end_of_word_suffix or ""
    return history[step - 1].is_new and history[step - 1].token == word + suffix


@st.composite
def breakpoints(draw: st.DrawFn, history: MergeHistory) -> Breakpoint:
    kind = draw(st.sampled_from(KINDS))
    merge = history[draw(st.integers(0, len(history) - 1))]
    texts = {
        "token": merge.token,
        "pattern": draw(st.sampled_from(["a", "^b", "##.*c$", "[de]{2}", "^##"])),
        "word": draw(st.sampled_from([*history.input.words, "abc", merge.token])),
    }
    size = draw(st.integers(1, history.vocabulary_size(len(history)) + 5))
    numbers = {
        "value": merge.value * draw(st.sampled_from([0.5, 1.0, 1.5])),
        "tie": draw(st.integers(2, 4)),
        "size": size,
    }
    return Breakpoint(kind, texts.get(kind, ""), numbers.get(kind, 0.0))


HISTORIES = [history_of(seed) for seed in range(4)] + [history_of(9, objective="count", end_of_word_suffix="</w>")]


@given(st.data())
@settings(max_examples=150)
def test_hits_are_those_of_a_plain_look_at_every_merge(data: st.DataObject) -> None:
    history = data.draw(st.sampled_from(HISTORIES))
    each = data.draw(breakpoints(history))
    search = BreakpointSearch(each, history)
    for count in sorted(data.draw(st.lists(st.integers(0, len(history)), max_size=4))):
        search.advance(count)
        assert search.known == count
    search.advance(len(history))
    assert search.steps.tolist() == plain_hits(each, history)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 2])
def test_a_fall_is_hit_once_wherever_two_searches_meet(seed: int) -> None:
    history = HISTORIES[seed]
    for number in sorted({merge.value for merge in history})[::5]:
        each = Breakpoint("value", number=number)
        for seam in range(1, len(history)):
            search = BreakpointSearch(each, history)
            search.advance(seam)
            search.advance(len(history))
            assert search.steps.tolist() == plain_hits(each, history)


@pytest.mark.parametrize(
    ("kind", "text", "number"),
    [
        ("token", "", 0),
        ("word", "", 0),
        ("pattern", "", 0),
        ("pattern", "(", 0),
        ("tie", "", 1),
        ("size", "", 0),
        *((kind, "", math.nan) for kind in ("value", "tie", "size")),
        ("value", "", math.inf),
    ],
)
def test_what_makes_no_sense_is_refused(kind: str, text: str, number: float) -> None:
    with pytest.raises(StudioError):
        Breakpoint(kind, text, number)


# -- the list


def test_a_breakpoint_is_there_once_and_switched_off(qtbot: QtBot) -> None:
    marks = Breakpoints()
    row = marks.add(Breakpoint("tie", number=2))
    with qtbot.waitSignal(marks.changed):
        marks.enable(row, False)
    assert not marks.enabled
    assert marks.add(Breakpoint("tie", number=2)) == row  # once is enough
    assert marks.enabled == marks.records
    marks.remove(row)
    assert not marks.records


# -- in a run


def trained(qtbot: QtBot, model: TrainerModel, counts: WordCounts, merges: int) -> StepMarks:
    marks = StepMarks(model, model)
    model.start(counts, TrainingConfig(vocab_size=None, max_merges=merges))
    qtbot.waitUntil(lambda: model.state is TrainerState.FINISHED)
    model.seek(0)
    return marks


@pytest.fixture
def marks(qtbot: QtBot, model: TrainerModel) -> StepMarks:
    return trained(qtbot, model, random_counts(1), 60)


def test_the_next_and_the_previous_hit(marks: StepMarks, model: TrainerModel) -> None:
    size = model.history.vocabulary_size(0)
    for more in (10, 20, 30):
        marks.breakpoints.add(Breakpoint("size", number=size + more))
    watch = marks.watch
    steps = watch.steps.tolist()
    assert len(steps) == 3
    assert [watch.next_hit(0).step, watch.next_hit(steps[0]).step, watch.next_hit(steps[2])] == [*steps[:2], None]
    assert [watch.previous_hit(61).step, watch.previous_hit(steps[1]).step] == [steps[2], steps[0]]
    assert watch.previous_hit(steps[0]) is None
    assert watch.next_hit(0, steps[0] - 1) is None
    assert watch.hit_at(steps[1]).breakpoints == (Breakpoint("size", number=size + 20),)


def test_what_is_disabled_or_removed_is_not_hit(marks: StepMarks) -> None:
    table, watch = marks.breakpoints, marks.watch
    table.add(Breakpoint("pattern", "."))
    assert len(watch.steps)
    table.enable(0, False)
    assert (len(watch.steps), watch.is_set, watch.next_hit(0)) == (0, False, None)


def test_a_hostile_pattern_is_abandoned(qtbot: QtBot, model: TrainerModel) -> None:
    counts = random_counts(1, words=3, letters="a")
    marks = StepMarks(model, model)
    model.start(type(counts).from_pairs([("a" * 90, 9)]), TrainingConfig(vocab_size=None))
    qtbot.waitUntil(lambda: model.state is TrainerState.FINISHED)
    with qtbot.waitSignal(marks.watch.faulted) as faulted:
        marks.breakpoints.add(Breakpoint("pattern", HOSTILE))
    assert "takes too long" in str(faulted.args[0])
    assert not marks.breakpoints.enabled


def test_many_tokens_are_searched_bit_by_bit(qtbot: QtBot, marks: StepMarks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wordpiece_studio.session.step_marks._SLICE_SECONDS", 0.0)
    marks.breakpoints.add(Breakpoint("pattern", "."))
    assert (marks.watch.known, marks.watch.is_searching) == (1, True)
    qtbot.waitUntil(lambda: not marks.watch.is_searching)
    assert len(marks.watch.steps) == 60


def test_slow_expressions_are_searched_token_by_token(
    qtbot: QtBot, marks: StepMarks, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(self: SearchPattern, text: str) -> bool:
        asked.append(text)
        time.sleep(0.004)
        return False

    asked: list[str] = []
    monkeypatch.setattr(SearchPattern, "is_in", slow)
    marks.breakpoints.set_marks([Breakpoint("pattern", str(number)) for number in range(100)])
    assert len(asked) < 5  # it takes 6 ms, and not 100 times as long
    assert marks.watch.is_searching
    marks.breakpoints.set_marks([])
    assert not marks.watch.is_searching


# -- playing


@pytest.mark.parametrize("speed", [50, 1000])
def test_playing_halts_at_every_breakpoint(qtbot: QtBot, marks: StepMarks, model: TrainerModel, speed: int) -> None:
    size = model.history.vocabulary_size(0)
    for more in (3, 4, 17):
        marks.breakpoints.add(Breakpoint("size", number=size + more))
    player = Player(model, watch=marks.watch)
    player.set_speed(speed)
    for step in marks.watch.steps.tolist():
        with qtbot.waitSignal(player.halted) as halted:
            player.play()
        assert (halted.args[0].step, model.step, player.is_playing) == (step, step, False)


def test_playing_waits_for_a_search(
    qtbot: QtBot, marks: StepMarks, model: TrainerModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wordpiece_studio.session.step_marks._SLICE_SECONDS", 0.0)
    marks.breakpoints.add(Breakpoint("pattern", f"^{re.escape(model.history[49].token)}$"))
    player = Player(model, watch=marks.watch)
    player.set_speed(1000)
    with qtbot.waitSignal(player.halted):
        player.play()
    assert model.step == 50


@pytest.mark.parametrize("wanted", [40, 41, 59, 60, 97])
def test_playing_at_the_head_of_a_training_follows_no_further(
    qtbot: QtBot, make_model: MakeModel, hugs: WordCounts, wanted: int
) -> None:
    model = make_model(seconds_per_merge=0.0005)
    model.start(hugs, TrainingConfig(max_merges=400))
    seen: list[int] = []
    model.step_changed.connect(seen.append)
    qtbot.waitUntil(lambda: model.history is not None)
    player = Player(model, watch=Stub(model, wanted))
    with qtbot.waitSignal(player.halted):
        player.play()
    qtbot.waitUntil(lambda: model.state is TrainerState.FINISHED)
    assert (model.step, max(seen)) == (wanted, wanted)


class Stub(BreakpointWatch):
    """A watch with one hit, of a history that cannot be searched."""

    is_set, is_searching = True, False

    def __init__(self, model: TrainerModel, step: int) -> None:
        super().__init__(model, Breakpoints(model), model)
        self._step = step

    @property
    def known(self) -> int:
        return self._model.merge_count

    def next_hit(self, after: int, last: int) -> object:
        return Hit(self._step, ()) if after < self._step <= last else None


# -- running


def test_running_goes_from_hit_to_hit_and_back(qtbot: QtBot, marks: StepMarks, model: TrainerModel) -> None:
    size = model.history.vocabulary_size(0)
    for more in (10, 20):
        marks.breakpoints.add(Breakpoint("size", number=size + more))
    player = Player(model, watch=marks.watch)
    first, second = marks.watch.steps.tolist()
    seen = []
    for move in (player.run, player.run, player.run_back, player.run_back):
        move()
        seen.append(model.step)
    assert seen == [first, second, first, first]
    model.seek(second)
    with qtbot.waitSignal(player.halted) as halted:
        player.run()
    assert halted.args == [None]
    assert model.is_at_head


def test_running_to_a_breakpoint_ends_playing(marks: StepMarks, model: TrainerModel) -> None:
    marks.breakpoints.add(Breakpoint("size", number=model.history.vocabulary_size(0) + 10))
    player = Player(model, watch=marks.watch)
    player.play()
    player.run()
    assert (model.step, player.is_playing, player.is_running) == (marks.watch.steps[0], False, False)


@pytest.mark.parametrize("state", ["training", "paused", "stopped"])
def test_running_trains_on_and_pauses_at_the_hit(qtbot: QtBot, model: TrainerModel, state: str) -> None:
    counts = random_counts(3, words=3000, letters="abcdefgh")
    marks = StepMarks(model, model)
    player = Player(model, watch=marks.watch)
    model.start(counts, TrainingConfig(vocab_size=None, max_merges=4000), paused=state != "training")
    qtbot.waitUntil(lambda: model.history is not None)
    if state != "training":
        qtbot.waitUntil(lambda: model.state is TrainerState.PAUSED)
    if state == "stopped":
        model.stop()
    wanted = model.history.vocabulary_size(0) + 150
    marks.breakpoints.add(Breakpoint("size", number=wanted))
    with qtbot.waitSignal(player.halted) as halted:
        player.run()
    step = halted.args[0].step
    assert model.history.vocabulary_size(step) == wanted > model.history.vocabulary_size(step - 1)
    qtbot.waitUntil(lambda: model.state is TrainerState.PAUSED)
    assert (model.step, player.is_running) == (step, False)
    assert model.merge_count < 4000


def test_running_ends_with_the_training(qtbot: QtBot, model: TrainerModel) -> None:
    marks = StepMarks(model, model)
    player = Player(model, watch=marks.watch)
    model.start(random_counts(3), TrainingConfig(vocab_size=None, max_merges=50), paused=True)
    qtbot.waitUntil(lambda: model.state is TrainerState.PAUSED)
    marks.breakpoints.add(Breakpoint("token", "nowhere"))
    with qtbot.waitSignal(player.halted) as halted:
        player.run()
    assert halted.args == [None]
    assert (model.state, model.step, player.is_running) == (TrainerState.FINISHED, 50, False)


def test_without_breakpoints_nothing_runs(marks: StepMarks, model: TrainerModel) -> None:
    player = Player(model, watch=marks.watch)
    player.run()
    assert (model.step, player.is_running) == (0, False)
