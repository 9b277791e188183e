"""The word counts of a corpus that is edited: those of an older text are never handed out."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from wordpiece_studio.corpus.counting.counting import count_texts
from wordpiece_studio.corpus.counts import CountingProgress
from wordpiece_studio.corpus.files import CorpusFile
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session import corpus_counting
from wordpiece_studio.session.corpus_counting import CorpusCounting, CountsRequest
from wordpiece_studio.session.corpus_files import FileRow
from wordpiece_studio.session.document import Document
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from wordpiece_studio.corpus.counts import WordCounts


@pytest.fixture
def document(qapp: object) -> Iterator[Document]:
    document = Document()
    yield document
    document.close()


@pytest.fixture
def counting(document: Document) -> Iterator[CorpusCounting]:
    counting = CorpusCounting(document)
    yield counting
    counting.task.close()


def counted(qtbot: QtBot, counting: CorpusCounting) -> list[tuple[str, int]]:
    qtbot.waitUntil(lambda: counting.counts is not None)
    return counting.counts.items()


def test_words_are_counted_after_an_edit(qtbot: QtBot, document: Document, counting: CorpusCounting) -> None:
    document.set_text("hug pug hug")
    assert counting.counts is None
    assert counting.is_under_way
    assert counted(qtbot, counting) == [("hug", 2), ("pug", 1)]
    assert not counting.is_under_way
    serial = counting.text_serial
    document.edit(0, 3, "bun")
    assert counting.counts is None
    assert counting.text_serial != serial
    assert counted(qtbot, counting) == [("bun", 1), ("pug", 1), ("hug", 1)]


def test_another_pipeline_counts_anew(qtbot: QtBot, document: Document, counting: CorpusCounting) -> None:
    document.set_text("Hug, hug")
    assert counted(qtbot, counting) == [("Hug", 1), (",", 1), ("hug", 1)]
    counting.set_pipeline(resolve_normalizer("bert-uncased"), resolve_pre_tokenizer("whitespace-split"))
    assert counting.counts is None
    assert counted(qtbot, counting) == [("hug,", 1), ("hug", 1)]


def test_longer_words_are_left_out(qtbot: QtBot, document: Document, counting: CorpusCounting) -> None:
    counting.max_word_length = 3
    document.set_text("hug hugs")
    assert counted(qtbot, counting) == [("hug", 1)]
    assert counting.counts.statistics.skipped_words == 1


def test_expected_counts_are_taken_and_nothing_is_counted(
    qtbot: QtBot, document: Document, counting: CorpusCounting
) -> None:
    document.set_text("hug")
    counted(qtbot, counting)
    counts = counting.counts
    document.set_text("pug")
    counting.expect_counts()
    assert counting.is_expecting
    counting.take_counts(counts)
    assert counting.counts is counts
    assert not counting.is_running
    assert not counting.is_expecting


def test_counts_that_were_expected_for_an_older_text_are_not_taken(
    qtbot: QtBot, document: Document, counting: CorpusCounting
) -> None:
    document.set_text("hug")
    counted(qtbot, counting)
    counts = counting.counts
    counting.expect_counts()
    document.set_text("pug")
    counting.take_counts(counts)
    assert counted(qtbot, counting) == [("pug", 1)]


def test_what_was_stopped_comes_only_when_it_is_asked_for(
    qtbot: QtBot, document: Document, counting: CorpusCounting
) -> None:
    document.set_text("hug")
    counting.stop()
    assert counting.was_stopped
    assert not counting.is_under_way
    counting.count_again()
    assert counted(qtbot, counting) == [("hug", 1)]
    assert not counting.was_stopped


@pytest.mark.slow
def test_a_file_that_cannot_be_read_is_reported(
    qtbot: QtBot, document: Document, counting: CorpusCounting, tmp_path: Path
) -> None:
    document.take_files()
    with qtbot.waitSignal(counting.failed, timeout=20_000) as caught:
        rows = [FileRow(CorpusFile(str(tmp_path / "none.txt")))]
        document.files.append(rows)
        document.files.end_listing(rows)
    assert "none.txt" in str(caught.args[0])
    assert counting.error is caught.args[0]
    assert counting.counts is None


def test_each_state_is_reported_once_however_often_progress_is(
    qtbot: QtBot, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end = threading.Event()

    def slow(*request: Any, progress: Callable[[CountingProgress], None]) -> WordCounts:
        while not may_end.wait(0.005):
            progress(CountingProgress(1, 4))
        return count_texts([request[0]])

    monkeypatch.setattr(corpus_counting, "count_corpus", slow)
    monkeypatch.setattr(corpus_counting, "is_much", False)
    counting = CorpusCounting(document)
    states: list[tuple[bool, bool, bool]] = []
    progressed: list[CountingProgress] = []
    counting.state_changed.connect(lambda: states.append((counting.is_running, counting.is_paused, counting.is_ending)))
    counting.task.progressed.connect(progressed.append)
    document.set_text("hug")
    qtbot.waitUntil(lambda: len(progressed) >= 3)
    counting.pause_or_resume()
    qtbot.waitUntil(lambda: len(progressed) >= 6)
    counting.pause_or_resume()
    counting.keep()
    may_end.set()
    counted(qtbot, counting)
    qtbot.waitUntil(lambda: not counting.is_running)
    running, paused, ending = (True, False, False), (True, True, False), (True, False, True)
    assert states == [running, paused, running, ending, (False, False, False)]
    counting.task.close()


class Waiting:
    """What a request hands over."""

    def __init__(self, counting: CorpusCounting) -> None:
        self.counts: list[WordCounts] = []
        self.ends: list[StudioError | None] = []
        self.request = CountsRequest(counting, self.counts.append, self.ends.append, counting)


def test_counts_are_handed_over_once_for_each_time_that_they_are_asked_for(
    qtbot: QtBot, document: Document, counting: CorpusCounting
) -> None:
    waiting = Waiting(counting)
    document.set_text("hug pug")
    qtbot.waitUntil(lambda: counting.counts is not None)
    assert not waiting.counts
    waiting.request.ask()
    assert waiting.counts == [counting.counts]
    document.set_text("hug pug pun")
    waiting.request.ask()
    assert waiting.request.is_waiting
    qtbot.waitUntil(lambda: len(waiting.counts) == 2)
    assert not waiting.request.is_waiting
    document.set_text("hug")
    waiting.request.ask()
    waiting.request.cancel()
    qtbot.waitUntil(lambda: counting.counts is not None)
    assert (len(waiting.counts), waiting.ends) == (2, [])


def test_who_waits_for_counts_is_told_that_none_will_come(document: Document, counting: CorpusCounting) -> None:
    waiting = Waiting(counting)
    document.set_text("hug pug")
    waiting.request.ask()
    counting.stop()
    assert waiting.ends == [None]
    error = StudioError("The file is missing")
    counting.failed.emit(error)  # no one waits any more
    waiting.request.ask()
    counting.failed.emit(error)
    assert waiting.ends == [None, error]
    assert not waiting.counts
