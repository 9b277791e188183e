"""What tokenizers make of a text, measured beside the window: when that begins and ends, and what is known then."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QUndoStack

from tests.session.test_held_out_judging import TEXT
from tests.session.test_runs import trained
from wordpiece_studio.cli import run as run_command
from wordpiece_studio.corpus.counting.counting import count_texts, count_words
from wordpiece_studio.corpus.files import CorpusFile, CorpusReference
from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.cross_validation import Retraining, cross_validate
from wordpiece_studio.evaluation.evaluating import evaluate
from wordpiece_studio.evaluation.held_out import divided_corpus
from wordpiece_studio.libraries.library_tokenizer import end_libraries
from wordpiece_studio.libraries.library_training import LibraryHistory, train_library
from wordpiece_studio.session import tokenizer_figures, watched_files
from wordpiece_studio.session.corpus_counting import CorpusCounting
from wordpiece_studio.session.runs import Comparison, Runs
from wordpiece_studio.session.step_marks import Bookmarks
from wordpiece_studio.session.task import Task
from wordpiece_studio.session.tokenizer_figures import (
    FiguresFound,
    FiguresMeasuring,
    FiguresRequest,
    FiguresText,
    Measured,
    corpus_to_divide,
    measured,
)
from wordpiece_studio.session.training_job import trained_by_library
from wordpiece_studio.storage.corpus_record import noted_files
from wordpiece_studio.storage.project.contents import ProjectCorpus, Run, RunOrigin, tokenizer_at
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import bpe_tokenizer, train

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from wordpiece_studio.session.document import Document
    from wordpiece_studio.session.trainer_model import TrainerModel


class Fake:
    """Measures as soon as it may; remembers its requests."""

    def __init__(self) -> None:
        self.requests: list[FiguresRequest] = []
        self.may_end = threading.Event()
        self.may_end.set()

    def measured(
        self, request: FiguresRequest, *, progress: Callable[..., None], should_stop: Callable[[], bool]
    ) -> FiguresFound:
        self.requests.append(request)
        progress("Reading", 1, 4)
        while not self.may_end.wait(0.005) and not should_stop():
            pass
        named = {each.name: tokenizer_at(each.run.history, each.run.counts, each.step) for each in request.measured}
        found = evaluate(named, request.counts or (), texts=[request.text] if request.text else ())
        return FiguresFound({"": dict(zip(request.measured, found.figures, strict=True))}, {}, found.words_of)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    fake = Fake()
    monkeypatch.setattr(tokenizer_figures, "measured", fake.measured)
    monkeypatch.setattr(tokenizer_figures, "_DEBOUNCE_MS", 0)
    return fake


class Desk:
    """The measuring with what it needs."""

    def __init__(self, qtbot: QtBot, model: TrainerModel, document: Document) -> None:
        self.qtbot, self.model, self.stack = qtbot, model, QUndoStack()
        self.runs, self.bookmarks = Runs(model, self.stack), Bookmarks(model)
        self.counting = CorpusCounting(document)
        self.figures = FiguresMeasuring(model, Comparison(model, self.runs, self.bookmarks), self.counting)

    def train(self, objective: str) -> Run:
        return trained(self.qtbot, self.model, objective)

    def wait_known(self, *names: str) -> None:
        def known() -> list[str]:
            return [row.measured.name for row in self.figures.rows() if row.figures is not None]

        self.qtbot.waitUntil(lambda: known() == list(names) and not self.figures.is_running, timeout=60_000)


@pytest.fixture
def desk(qtbot: QtBot, model: TrainerModel, document: Document, fake: Fake) -> Iterator[Desk]:
    desk = Desk(qtbot, model, document)
    yield desk
    desk.figures._files.watch(())
    for task in desk.figures.findChildren(Task):
        task.close()
    desk.counting.task.close()
    end_libraries()
    desk.stack.clear()


def test_runs_are_measured_while_someone_looks_and_anew_when_they_change(desk: Desk, fake: Fake) -> None:
    figures = desk.figures
    first = desk.train("score")
    assert not figures.is_running
    figures.set_wanted(True)
    desk.wait_known("A")
    desk.train("count")
    desk.wait_known("A", "B")
    desk.runs.show(first)
    desk.model.seek(2)
    desk.bookmarks.set_compared(desk.bookmarks.keep("look"), True)
    desk.wait_known("A", "A@2", "B")
    assert [row.measured.step for row in figures.rows()] == [len(first.history), 2, len(desk.runs.all[1].history)]
    known, orders = figures.rows(), len(fake.requests)
    figures.set_wanted(False)
    desk.runs.close(first)
    assert not figures.is_running
    desk.stack.undo()
    figures.set_wanted(True)
    desk.wait_known("A", "A@2", "B")
    assert (figures.rows(), len(fake.requests)) == (known, orders)  # they are still known


def test_what_is_stopped_begins_again_on_another_text(desk: Desk, fake: Fake) -> None:
    figures = desk.figures
    desk.train("score")
    fake.may_end.clear()
    figures.set_wanted(True)
    desk.qtbot.waitUntil(lambda: figures.task.progress == ("Reading", 1, 4))
    figures.stop()
    assert (figures.is_running, figures.was_stopped, figures.task.progress) == (False, True, None)
    fake.may_end.set()
    desk.runs.changed.emit()
    assert not figures.is_running
    figures.set_live_text("hugs")
    figures.measure_on(FiguresText("live"))
    desk.wait_known("A")
    assert figures.rows()[0].figures.words == 1
    figures.set_live_text("hugs pugs")
    assert figures.rows()[0].figures is None
    desk.wait_known("A")
    assert figures.rows()[0].figures.words == 2


def test_it_can_be_stopped_while_it_waits_for_a_file(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures, told = desk.figures, []
    desk.train("score")
    monkeypatch.setattr(watched_files.FileWatch, "is_pending", True)  # as on a network drive that does not answer
    figures.measure_on(FiguresText("files", (str(tmp_path / "a.txt"),)))
    figures.set_wanted(True)
    assert figures.is_running
    figures.changed.connect(lambda: told.append(figures.is_running))
    figures.stop()
    assert told == [False]


def test_nothing_of_runs_that_are_gone_is_kept(desk: Desk) -> None:
    desk.train("score")
    desk.figures.set_wanted(True)
    desk.wait_known("A")
    desk.runs.take((), None, 0)
    assert (desk.figures.task.request, desk.figures.task.answered) == (None, None)


def measured_now(request: FiguresRequest) -> FiguresFound:
    return measured(request, progress=lambda *_progress: None, should_stop=lambda: False)


class FileReader(Fake):
    """Measures what the text files hold now, by runs; tokenizers in files are counted as errors with their content."""

    def measured(
        self, request: FiguresRequest, *, progress: Callable[..., None], should_stop: Callable[[], bool]
    ) -> FiguresFound:
        try:
            texts = [Path(path).read_text(encoding="utf-8") for path in request.where.paths]
        except OSError as error:
            raise StudioError("It is gone") from error
        of_text = replace(request, measured=request.measured[:1], text=" ".join(texts))
        found = super().measured(of_text, progress=progress, should_stop=should_stop)
        errors = {
            each: StudioError(Path(each.path).read_text("utf-8") if Path(each.path).exists() else "gone")
            for each in request.measured[1:]
        }
        return replace(found, errors=errors)


def rewrite(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def replace_file(path: Path, text: str) -> None:
    """Put another file in its place, of the same size and age."""
    status = path.stat()
    new = path.with_name("new")
    new.write_text(text, encoding="utf-8")
    os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
    new.replace(path)


@pytest.fixture
def reader(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> FileReader:
    reader = FileReader()
    monkeypatch.setattr(tokenizer_figures, "measured", reader.measured)
    monkeypatch.setattr(watched_files, "SETTLE_MS", 20)
    return reader


@pytest.mark.parametrize("change", [rewrite, replace_file])
@pytest.mark.usefixtures("reader")
def test_figures_are_of_files_as_they_are(desk: Desk, tmp_path: Path, change: Callable[[Path, str], None]) -> None:
    figures, text, tokenizer = desk.figures, tmp_path / "text.txt", tmp_path / "opened.json"
    rewrite(text, "hugs pugs")
    rewrite(tokenizer, "older")

    def shown() -> tuple[int | None, str]:
        first, *others = figures.rows()
        error = str(figures.task.error or others[0].error)
        return first.figures.words if first.figures is not None else None, error

    def wait_shown(words: int | None, error: str) -> None:
        desk.qtbot.waitUntil(lambda: not figures.is_running and shown() == (words, error))

    desk.train("score")
    figures.open([str(tokenizer)])
    figures.measure_on(FiguresText("files", (str(text),)))
    figures.set_wanted(True)
    wait_shown(2, "older.")
    change(text, "hug pug a")
    wait_shown(3, "older.")
    change(tokenizer, "newer")
    wait_shown(3, "newer.")
    tokenizer.unlink()
    wait_shown(3, "gone.")
    rewrite(tokenizer, "newer")
    figures._files.check()
    wait_shown(3, "newer.")
    text.unlink()
    wait_shown(None, "It is gone.")
    rewrite(text, "hug")
    figures._files.check()
    wait_shown(1, "newer.")
    figures.set_wanted(False)
    change(text, "pug" if change is rewrite else "pun")
    desk.qtbot.waitUntil(lambda: figures.rows()[0].figures is None)  # it is not shown when one looks again


def test_a_file_beside_a_tokenizer_may_come_later(reader: FileReader, desk: Desk, tmp_path: Path) -> None:
    figures = desk.figures
    rewrite(tmp_path / "vocab.txt", "[UNK]")
    desk.train("score")
    figures.open([str(tmp_path / "vocab.txt")])
    figures.set_wanted(True)
    desk.qtbot.waitUntil(lambda: len(reader.requests) == 1 and not figures.is_running)
    rewrite(tmp_path / "tokenizer_config.json", "{}")
    figures._files.check()
    desk.qtbot.waitUntil(lambda: len(reader.requests) == 2 and not figures.is_running)


@pytest.mark.slow
def test_those_that_fail_leave_the_others(desk: Desk, tmp_path: Path) -> None:
    """The work itself: two files are no tokenizers, and then there is nothing to read."""
    by_count = {"objective": "count", "continuing_subword_prefix": "", "end_of_word_suffix": "</w>"}
    run, config = desk.train("score"), TrainingConfig(**by_count, max_merges=4)
    pairs = Run(run.counts, config, train(run.counts, config).history, number=1)
    (tmp_path / "bad.json").write_text("{}", encoding="utf-8")
    (tmp_path / "text.txt").write_text("hugs pun", encoding="utf-8")
    rows = Measured(run, 3), Measured(pairs, 2), *(Measured(path=str(tmp_path / name)) for name in ("bad.json", "no"))
    text = FiguresText("files", (str(tmp_path / "text.txt"),))
    request = FiguresRequest(rows, text)
    found = measured_now(request)
    named = {"A@3": run.tokenizer_at(3), "B@2": bpe_tokenizer(pairs.history, pairs.counts, 2)}
    assert list(found.figures[""].values()) == list(
        evaluate(named, tmp_path / "text.txt", with_greedy_gap=True).figures
    )
    assert list(found.figures[""]) == list(rows[:2])
    assert "has no model" in str(found.errors[rows[2]])
    assert "no" in str(found.errors[rows[3]])
    (tmp_path / "text.txt").unlink()
    with pytest.raises(StudioError, match=r"text\.txt"):
        measured_now(request)


@pytest.mark.slow
def test_runs_are_trained_anew_where_a_part_of_their_corpus_is_held_out(desk: Desk) -> None:
    """A run on another corpus may have seen that part, and is not measured."""
    counts, config = count_texts([TEXT]), TrainingConfig(vocab_size=120)
    origin = RunOrigin(corpus=ProjectCorpus(text=TEXT))
    library_run = train_library(counts, config, "sentencepiece-unigram")
    runs = [
        Run(counts, config, train(counts, config).history, origin=origin),
        Run(
            counts,
            config,
            LibraryHistory(library_run, counts, library_run.tokenizer()),
            origin=origin,
            number=1,
            library_run=library_run,
        ),
        desk.train("score"),
    ]
    runs[1].library, runs[2].number = library_run.tokenizer(), 2
    steps = [20, len(runs[1].history), 3]
    rows = tuple(map(Measured, runs, steps))
    request = FiguresRequest(rows, FiguresText("held-out"), corpus=runs[0].origin.corpus, max_word_length=1000)
    found = measured_now(request)
    rest = divided_corpus(texts=[TEXT]).rest
    size = runs[0].history.vocabulary_size(20)
    named = {
        "A@20": train(rest, replace(config, vocab_size=size)),
        "B": train_library(rest, config, "sentencepiece-unigram"),
    }
    assert {each.name: str(error)[:31] for each, error in found.errors.items()} == {
        "C@3": "It may have been trained on thi"
    }
    expected = evaluate(named, texts=[TEXT], is_held_out=True, with_greedy_gap=True).figures
    assert [each.to_dict() for each in found.figures[""].values()] == [each.to_dict() for each in expected]
    folded = measured_now(replace(request, where=FiguresText("folds")))
    again = {
        "A@20": Retraining(replace(config, vocab_size=size), (counts.normalizer, counts.pre_tokenizer)),
        "B": library_run,
    }
    crossed = cross_validate(again, texts=[TEXT], with_greedy_gap=True).figures
    assert [*folded.errors] == [*found.errors]
    assert [replace(each, is_retrained=True) for each in folded.figures[""].values()] == [*crossed]
    assert [len(each.folds) for each in crossed] == [10, 10]
    assert corpus_to_divide(runs[0]) is origin.corpus
    assert corpus_to_divide(runs[2]) is None


def test_held_out_text_is_the_default_where_there_is_some(desk: Desk) -> None:
    figures = desk.figures
    desk.train("score")
    assert (figures.can_hold_out, figures.where.place) == (False, "training")
    counts, config = count_texts([TEXT]), TrainingConfig(vocab_size=120)
    origin = RunOrigin(corpus=ProjectCorpus(text=TEXT))
    desk.runs.add(Run(counts, config, train(counts, config).history, origin=origin, stop_reason="vocab_size"))
    assert (figures.can_hold_out, figures.where.place) == (True, "held-out")
    figures.measure_on(FiguresText("live"))
    assert figures.where.place == "live"


@pytest.mark.slow
def test_a_library_that_reads_text_is_given_lines_and_others_have_the_words_of_their_pipeline(tmp_path: Path) -> None:
    counts = count_texts([TEXT.replace(" ", ", ", 200)], pre_tokenizer="whitespace-split")
    (tmp_path / "text.txt").write_text(TEXT.replace(" ", ", ", 200), encoding="utf-8", newline="")
    file = CorpusFile(str(tmp_path / "text.txt"))
    origin = RunOrigin(corpus=ProjectCorpus(files=(CorpusReference(file),)))
    runs, never = [], threading.Event()
    for trainer in ("sentencepiece-unigram", "tokenizers-bpe"):
        config = TrainingConfig(vocab_size=120, continuing_subword_prefix="")
        run = trained_by_library(trainer, counts, config, origin, False, lambda _progress: None, never.is_set)
        run.number = len(runs)
        runs.append(run)
    assert runs[0].library_run is not None
    assert not runs[0].library_run.is_of_words
    assert runs[0].library_run.tokens == train_library([file], config, "sentencepiece-unigram").tokens
    rows = tuple(Measured(run, len(run.history)) for run in runs)
    request = FiguresRequest(rows, FiguresText("held-out"), corpus=origin.corpus, max_word_length=1000)
    found = measured_now(request)
    lines = train_library([file], config, "sentencepiece-unigram", is_rest=True)
    rest = divided_corpus([file], pre_tokenizer="whitespace-split").rest
    named = {"A": lines, "B": train_library(rest, config, "tokenizers-bpe")}
    expected = evaluate(named, [file], is_held_out=True)
    assert list(found.figures[""].values()) == list(expected.figures)
    assert found.words_of == expected.words_of == ("bert-cased", "whitespace-split")
    alone = measured_now(replace(request, measured=rows[:1]))
    expected = evaluate({"A": lines}, [file], is_held_out=True)
    assert list(alone.figures[""].values()) == list(expected.figures)
    assert alone.words_of == expected.words_of == ("none", "whitespace-split")
    end_libraries()


@pytest.mark.slow
def test_a_run_is_not_trained_anew_on_files_that_hold_something_else_now(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8", newline="")
    counts, config = count_words(path), TrainingConfig(vocab_size=60)
    corpus = ProjectCorpus(text=None, files=tuple(noted_files([CorpusFile(str(path))])))
    run = Run(counts, config, train(counts, config).history, origin=RunOrigin(corpus=corpus), stop_reason="vocab_size")
    measuring = Measured(run, len(run.history))
    request = FiguresRequest((measuring,), FiguresText("held-out"), corpus=corpus, max_word_length=1000)
    assert measured_now(request).figures
    path.write_text(f"{TEXT[:-3]}ow\n", encoding="utf-8", newline="")
    found = measured_now(request)
    assert "has changed since it was counted" in str(found.errors[measuring])
    assert not found.figures


@pytest.mark.slow
def test_an_opened_tokenizer_that_knows_the_held_out_text_is_not_measured(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8", newline="")
    options = ["--vocab-size", "120", "--held-out", "--held-out-model", tmp_path / "judged", "-o", tmp_path / "out"]
    assert run_command([str(each) for each in ("train", path, *options)]) == 0
    corpus = ProjectCorpus(files=tuple(noted_files([CorpusFile(str(path))])))
    rows = tuple(Measured(path=str(tmp_path / name)) for name in ("out", "judged"))
    request = FiguresRequest(rows, FiguresText("held-out"), corpus=corpus, max_word_length=1000)
    found = measured_now(request)
    assert [*found.figures[""]] == [rows[1]]
    assert "It was trained on this part too" in str(found.errors[rows[0]])
    folded = measured_now(replace(request, where=FiguresText("folds")))
    assert {*folded.errors} == {*rows}  # the rest too is held out in turn


@pytest.mark.slow
def test_an_empty_file_of_a_library_is_not_looked_for_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    counts = count_texts([TEXT])
    library_run = train_library(counts, TrainingConfig(vocab_size=60), "sentencepiece-unigram")
    (tmp_path / library_run.file_name).write_bytes(library_run.content)
    run = Run(
        counts, library_run.config, LibraryHistory(library_run, counts), library_run=replace(library_run, content=b"")
    )
    request = FiguresRequest((Measured(run, 0),), FiguresText("live"), text=TEXT)
    found = measured_now(request)
    assert list(found.errors) == [Measured(run, 0)]
