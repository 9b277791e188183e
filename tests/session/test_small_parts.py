"""Pacing, the progress meter, and the warm-up of the compiled kernels."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, ClassVar, Self

import pytest

from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.session import kernel_warmup
from wordpiece_studio.session.kernel_warmup import warm_up
from wordpiece_studio.session.task import Task
from wordpiece_studio.session.trainer_model import TrainingPace
from wordpiece_studio.session.training_job import MAX_BATCH, SLICE_SECONDS, Pacer, sure_size
from wordpiece_studio.system.child import Stopped
from wordpiece_studio.training.config import TrainingConfig

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot


def test_slices_grow_to_one_frame() -> None:
    pacer = Pacer()
    for _ in range(20):
        pacer.note(pacer.size, pacer.size * 0.001)
    assert pacer.size == SLICE_SECONDS / 0.001


def test_slices_shrink_when_it_gets_slow_and_have_bounds() -> None:
    pacer = Pacer()
    for _ in range(20):
        pacer.note(pacer.size, 0.0)
    assert pacer.size == MAX_BATCH
    pacer.note(pacer.size, 100.0)
    assert pacer.size == 1
    pacer.note(0, 1.0)
    assert pacer.size == 1


def test_time_left_is_that_of_the_nearest_limit() -> None:
    meter = TrainingPace()
    meter.note(100, 1.0)
    meter.note(200, 2.0)
    assert meter.seconds_left(200, 300, TrainingConfig(vocab_size=500, max_merges=250)) == pytest.approx(0.5)
    assert meter.seconds_left(200, 300, TrainingConfig(max_seconds=2.1)) == pytest.approx(0.1)
    assert meter.seconds_left(200, 300, TrainingConfig()) is None


def test_time_left_goes_by_the_recent_pace() -> None:
    meter = TrainingPace()
    for second in range(1, 20):
        meter.note(min(second, 10) + max(0, second - 10) * 100, float(second))
    assert meter.seconds_left(910, 910, TrainingConfig(vocab_size=1010)) == pytest.approx(1.0, rel=0.2)


class Kernels:
    """In place of the functions that load the compiled kernels."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.loads: list[str] = []

    def kernels_are_cached(self, *packages: str) -> bool:
        return True

    def load_kernels(self, package: str) -> None:
        self.loads.append(package)
        if self.error is not None:
            raise self.error


def put_in_place(monkeypatch: pytest.MonkeyPatch, kernels: Kernels) -> None:
    for name in ("kernels_are_cached", "load_kernels"):
        monkeypatch.setattr(kernel_warmup, name, getattr(kernels, name))
    monkeypatch.setattr(kernel_warmup, "measured_pace", lambda: 2.5)  # it would ask for the real ones


def test_cached_kernels_are_loaded_once(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = Kernels()
    put_in_place(monkeypatch, kernels)
    task = Task(warm_up, "")
    task.ask()
    task.ask()
    qtbot.waitUntil(lambda: task.answer == 2.5)
    assert kernels.loads == ["training", "text"]
    task.close()


@pytest.mark.expects_log
def test_kernels_that_cannot_be_loaded_are_reported_in_words(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    put_in_place(monkeypatch, Kernels(OSError("no LLVM")))
    task = Task(warm_up, "")
    task.ask()
    qtbot.waitUntil(lambda: task.error is not None)
    assert "no LLVM" in str(task.error)
    task.close()


@pytest.mark.slow
def test_cold_kernels_are_compiled_by_children_first(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = Kernels()
    monkeypatch.setattr(Kernels, "kernels_are_cached", lambda self, *packages: False)
    put_in_place(monkeypatch, kernels)
    monkeypatch.setattr(kernel_warmup, "compile_here", do_nothing_in_child)
    task, stages = Task(warm_up, ""), []
    task.progressed.connect(stages.append)
    task.ask()
    qtbot.waitUntil(lambda: task.answer == 2.5, timeout=20_000)
    assert stages == ["compiling", "loading"]
    task.close()


def do_nothing_in_child(package: str) -> None:
    """Run in the child, which finds it by its name."""


def test_closing_ends_the_compiling(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = Kernels()
    monkeypatch.setattr(Kernels, "kernels_are_cached", lambda self, *packages: False)
    put_in_place(monkeypatch, kernels)
    monkeypatch.setattr(kernel_warmup, "compile_here", wait_in_child)
    task = Task(warm_up, "")
    task.ask()
    qtbot.wait(200)
    task.close()
    assert kernels.loads == []


class Compiler:
    """In place of a child process: it takes until `finish` is set, and then its package is cached."""

    begun: ClassVar[list[str]] = []
    cached: ClassVar[set[str]] = set()
    finish: ClassVar[threading.Event] = threading.Event()

    def __init__(self, failure: str) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        pass

    def call(self, work: object, package: str, *, should_stop: Callable[[], bool]) -> None:
        self.begun.append(package)
        while not should_stop():
            if self.finish.wait(0.01):
                self.cached.add(package)
                return
        raise Stopped


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> type[Compiler]:
    kernels = Kernels()
    monkeypatch.setattr(kernels, "kernels_are_cached", lambda *packages: Compiler.cached.issuperset(packages))
    put_in_place(monkeypatch, kernels)
    monkeypatch.setattr(kernel_warmup, "Child", Compiler)
    Compiler.begun.clear()
    Compiler.cached.clear()
    Compiler.finish.clear()
    return Compiler


def begin_compiling(stop: threading.Event) -> threading.Thread:
    thread = threading.Thread(target=kernel_warmup.compile_kernels, args=(stop.is_set,))
    thread.start()
    return thread


def test_who_comes_while_they_are_compiled_only_waits(qtbot: QtBot, compiler: type[Compiler]) -> None:
    first = begin_compiling(threading.Event())
    qtbot.waitUntil(lambda: len(compiler.begun) == 2)
    second = begin_compiling(threading.Event())
    second.join(0.1)
    assert second.is_alive()
    compiler.finish.set()
    first.join(5)
    second.join(5)
    assert not second.is_alive()
    assert sorted(compiler.begun) == ["text", "training"]


def test_who_waits_can_be_stopped_and_who_compiles_too(qtbot: QtBot, compiler: type[Compiler]) -> None:
    stops = threading.Event(), threading.Event()
    first = begin_compiling(stops[0])
    qtbot.waitUntil(lambda: len(compiler.begun) == 2)
    second = begin_compiling(stops[1])
    stops[1].set()
    second.join(5)
    assert not second.is_alive()
    assert first.is_alive()
    heir = begin_compiling(threading.Event())
    stops[0].set()  # it leaves the work to the one that waits
    first.join(5)
    compiler.finish.set()
    heir.join(5)
    assert not heir.is_alive()
    assert sorted(compiler.begun) == sorted(["training", "text"] * 2)
    assert compiler.cached == {"training", "text"}


def wait_in_child(package: str) -> None:
    """Run in the child, far too long."""
    import time

    time.sleep(60)


def test_each_frequent_word_becomes_a_token_for_certain() -> None:
    counts = WordCounts.from_pairs([("hug", 3), ("pug", 1), ("a", 9)])
    assert sure_size(counts, TrainingConfig(), 10) == 12
    assert sure_size(counts, TrainingConfig(min_frequency=2), 10) == 11
    assert sure_size(counts, TrainingConfig(max_token_length=2), 10) == 10
