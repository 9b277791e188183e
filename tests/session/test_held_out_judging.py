"""Figures for held-out text in the background: that they are right, and when they begin, end and are known already."""

from __future__ import annotations

import dataclasses
import os
import random
import threading
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtGui import QUndoStack

from wordpiece_studio.corpus.count_tables import HEADER
from wordpiece_studio.corpus.counting.counting import count_texts, count_words
from wordpiece_studio.corpus.files import CorpusFile, CorpusReference
from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.held_out import divided_corpus, held_out_figures
from wordpiece_studio.session import tokenizer_figures
from wordpiece_studio.session.corpus_counting import CorpusCounting
from wordpiece_studio.session.measuring import HeldOutFigure
from wordpiece_studio.session.runs import Runs
from wordpiece_studio.session.tokenizer_figures import HeldOutJudging, judged
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.corpus_record import noted_files
from wordpiece_studio.storage.project.contents import ProjectCorpus, RunOrigin
from wordpiece_studio.training.config import TrainingConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.session.document import Document
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.storage.project.contents import Run

OBJECTIVES = ("likelihood", "score", "count")
SMALL = TrainingConfig(vocab_size=150)
FIGURES = {"likelihood": HeldOutFigure(1.5), "score": HeldOutFigure(2.0, 0.25), "count": HeldOutFigure(1.25)}


def text_of(words: int) -> str:
    chance = random.Random(4)
    stems = ["".join(chance.choices("aeioubdglmnrst", k=chance.randint(2, 7))) for _ in range(300)]
    weights = [1 / (rank + 2) for rank in range(len(stems))]
    return "".join(" ".join(chance.choices(stems, weights, k=10)) + "\n" for _ in range(words // 10))


TEXT = text_of(3000)


class Judge:
    """The judging with what it needs, and ways to train."""

    def __init__(self, qtbot: QtBot, model: TrainerModel, document: Document) -> None:
        self.qtbot = qtbot
        self.model = model
        self.stack = QUndoStack()
        self.runs = Runs(model, self.stack)
        self.counting = CorpusCounting(document)
        self.judging = HeldOutJudging(model, self.runs, self.counting)
        self.counts = count_texts([TEXT])

    def train(self, config: TrainingConfig = SMALL, counts: WordCounts | None = None, **corpus: Any) -> Run:
        origin = RunOrigin(True, "text", 0, ProjectCorpus(**{"text": TEXT, **corpus}))
        self.model.start(counts or self.counts, config, origin=origin)
        self.qtbot.waitUntil(lambda: self.model.state is TrainerState.FINISHED, timeout=20_000)
        return self.model.run

    def wait(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition, timeout=60_000)

    def close(self) -> None:
        self.judging.task.close()
        self.counting.task.close()
        self.stack.clear()


@pytest.fixture
def judge(qtbot: QtBot, model: TrainerModel, document: Document) -> Iterator[Judge]:
    judge = Judge(qtbot, model, document)
    yield judge
    judge.close()


class Fake:
    """Judges as soon as it may; remembers its requests, and how many of them were cancelled."""

    def __init__(self) -> None:
        self.requests: list[tuple[Any, ...]] = []
        self.cancelled = 0
        self.may_end = threading.Event()
        self.may_end.set()

    def judged(
        self, *request: Any, progress: Callable[[float], None], should_stop: Callable[[], bool]
    ) -> dict[str, HeldOutFigure]:
        self.requests.append(request)
        progress(0.25)
        while not self.may_end.wait(0.005):
            if should_stop():
                self.cancelled += 1
                break
        return FIGURES


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    fake = Fake()
    monkeypatch.setattr(tokenizer_figures, "judged", fake.judged)
    monkeypatch.setattr(tokenizer_figures, "_JUDGING_DEBOUNCE_MS", 0)
    return fake


@pytest.fixture
def quick(fake: Fake, judge: Judge) -> Judge:
    return judge


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["text", "files"])
def test_the_figures_are_those_of_three_trainings_on_the_rest(judge: Judge, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8", newline="")
    config = dataclasses.replace(SMALL, objective="score")
    if kind == "text":
        divided = divided_corpus(texts=[TEXT])
        judge.train(config)
    else:
        divided = divided_corpus(path)
        judge.train(config, count_words(path), text=None, files=(CorpusReference(CorpusFile(str(path))),))
    reported: list[float] = []
    judge.judging.changed.connect(lambda: reported.append(judge.judging.task.progress))
    judge.wait(lambda: judge.judging.figures is not None)
    expected = held_out_figures(divided.rest, divided.held_out, config)
    assert {name: each.rate for name, each in judge.judging.figures.items()} == expected.tokens_per_word
    assert {name: each.unknown for name, each in judge.judging.figures.items()} == expected.unknown
    assert list(judge.judging.figures) == ["score", "count", "likelihood"]
    *during, last = reported
    assert last is None
    assert during == sorted(during)
    assert 0 <= during[-1] <= 1  # how much is reported depends on the machine


def test_a_run_that_differs_in_its_objective_has_the_same_figures(quick: Judge, fake: Fake) -> None:
    first = quick.train()
    quick.wait(lambda: quick.judging.figures is not None)
    assert list(quick.judging.figures) == ["likelihood", "count", "score"]
    quick.train(dataclasses.replace(SMALL, objective="count"))
    assert list(quick.judging.figures) == ["count", "likelihood", "score"]
    fake.may_end.clear()
    quick.train(dataclasses.replace(SMALL, min_frequency=2))
    assert quick.judging.figures is None
    fake.may_end.set()
    quick.wait(lambda: quick.judging.figures is not None)
    quick.runs.show(first)
    assert quick.judging.figures == FIGURES
    assert [request[1].min_frequency for request in fake.requests] == [0, 2]
    quick.runs.take([], None, 0)
    assert quick.judging.figures is None


def test_a_run_that_is_brought_back_has_its_figures(quick: Judge) -> None:
    run = quick.train()
    quick.wait(lambda: quick.judging.figures is not None)
    quick.runs.close(run)
    assert quick.judging.figures is None
    quick.stack.undo()
    quick.wait(lambda: quick.judging.figures is not None)


def test_an_equal_run_that_is_opened_in_place_of_one_is_judged(quick: Judge) -> None:
    run = quick.train()
    quick.wait(lambda: quick.judging.figures is not None)
    again = dataclasses.replace(run, counts=count_texts([TEXT]))
    assert again.counts == run.counts
    quick.runs.take((again,), again, 0)
    quick.wait(lambda: quick.judging.figures == FIGURES)


def test_nothing_of_a_run_that_is_gone_is_kept(quick: Judge) -> None:
    quick.train()
    quick.wait(lambda: quick.judging.figures is not None)
    quick.runs.take((), None, 0)
    assert (quick.judging.task.request, quick.judging.task.answered) == (None, None)


@pytest.mark.parametrize("way", ["train", "show", "forget"])
def test_it_is_cancelled_when_another_run_is_trained_or_shown(quick: Judge, fake: Fake, way: str) -> None:
    first = quick.train()
    quick.wait(lambda: quick.judging.figures is not None)
    fake.may_end.clear()
    quick.train(dataclasses.replace(SMALL, vocab_size=200))
    quick.wait(lambda: quick.judging.task.progress == 0.25)
    if way == "train":
        quick.model.train_further(vocab_size=250)
    elif way == "show":
        quick.runs.show(first)
    else:
        quick.model.forget()
    assert quick.judging.task.progress is None
    quick.wait(lambda: fake.cancelled == 1)
    assert quick.judging.figures == (FIGURES if way == "show" else None)
    fake.may_end.set()
    if way == "train":
        quick.wait(lambda: quick.judging.figures is not None)
        assert fake.requests[-1][1].vocab_size == 250


@pytest.mark.parametrize("why", ["few words", "part", "typed", "table", "gone"])
def test_what_cannot_be_judged_has_no_figures(quick: Judge, fake: Fake, why: str) -> None:
    corpus: dict[str, Any] = {}
    counts = quick.counts
    if why == "few words":
        counts = count_texts([text_of(1000)])
    elif why == "part":
        counts.statistics = dataclasses.replace(counts.statistics, is_partial=True)
    elif why == "typed":
        corpus = {"text": f"{HEADER}\nhug\t2000\n"}
    elif why == "table":
        corpus = {"text": None, "files": (CorpusReference(CorpusFile("a.tsv", kind="word-counts")),)}
    run = quick.train(counts=counts, **corpus)
    if why == "gone":
        quick.wait(lambda: len(fake.requests) == 1)
        run.origin = dataclasses.replace(run.origin, corpus=None)
        quick.runs.changed.emit()
    assert quick.judging._request is None
    assert (quick.judging.figures, quick.judging.task.progress) == (None, None)
    assert not quick.judging.task.is_running


def test_a_training_that_was_stopped_is_judged_at_its_size(quick: Judge, fake: Fake) -> None:
    config = dataclasses.replace(SMALL, max_seconds=60.0, min_value=2.0, objective="count")
    run = quick.train(config)
    assert run.stop_reason == "vocab_size"
    quick.wait(lambda: len(fake.requests) == 1)
    assert fake.requests[0][1] == dataclasses.replace(config, max_seconds=None)
    quick.model.open_run(dataclasses.replace(run, stop_reason="user", config=TrainingConfig(vocab_size=9000)), 0)
    quick.wait(lambda: len(fake.requests) == 2)
    assert fake.requests[1][1] == SMALL


def judged_now(counts: WordCounts, text: str = "", files: tuple[CorpusReference, ...] = ()) -> dict[str, HeldOutFigure]:
    return judged(counts, SMALL, text, files, 1000, progress=lambda _part: None, should_stop=lambda: False)


@pytest.mark.slow
def test_a_corpus_that_has_changed_is_not_judged(judge: Judge) -> None:
    with pytest.raises(StudioError, match="has changed since it was counted"):
        judged_now(judge.counts, TEXT + "more\n")
    with pytest.raises(StudioError, match="too few lines"):
        judged_now(judge.counts, TEXT.replace("\n", " "))


@pytest.mark.slow
@pytest.mark.parametrize("special", ["", "[MASK]"])
def test_a_file_with_as_many_other_words_is_not_judged(tmp_path: Path, special: str) -> None:
    path = tmp_path / "text.txt"
    path.write_text(f"{TEXT}{special}\n", encoding="utf-8", newline="")
    counts, files = count_words(path), tuple(noted_files([CorpusFile(str(path))]))
    assert judged_now(counts, files=files)
    path.write_text(f"{TEXT[:-3]}ow\n{special}\n", encoding="utf-8", newline="")
    os.utime(path, ns=(0, 0))  # or else a coarse clock might not tell
    with pytest.raises(StudioError, match="has changed since it was counted"):
        judged_now(counts, files=files)


def test_another_corpus_with_the_same_words_is_judged_for_itself(quick: Judge, fake: Fake) -> None:
    quick.train()
    quick.wait(lambda: quick.judging.figures is not None)
    fake.may_end.clear()
    quick.train(text=TEXT.replace("\n", "\n\n"))
    assert quick.judging.figures is None
    fake.may_end.set()
    quick.wait(lambda: quick.judging.figures is not None)
    assert [request[2] == TEXT for request in fake.requests] == [True, False]


def test_a_failure_leaves_no_figures(quick: Judge, fake: Fake) -> None:
    fake.may_end.clear()
    quick.train()
    quick.wait(lambda: quick.judging.task.progress == 0.25)
    with quick.qtbot.waitSignal(quick.judging.changed):
        quick.judging.task._end("error", StudioError("Too little memory"))
    assert (quick.judging.figures, quick.judging.task.progress) == (None, None)
