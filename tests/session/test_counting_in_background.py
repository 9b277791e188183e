"""Counting in the background: the same counts everywhere, and child processes that always end."""

from __future__ import annotations

import functools
import os
import pickle
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import platformdirs
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.corpus.counting import counting
from wordpiece_studio.corpus.counting.counting import count_corpus, count_texts, is_much
from wordpiece_studio.corpus.counts import CorpusStatistics, SkippedWord, WordCounts
from wordpiece_studio.corpus.files import CorpusFile
from wordpiece_studio.session.task import Task
from wordpiece_studio.text.normalizers import BertNormalizer, Lowercase, resolve_normalizer
from wordpiece_studio.text.pre_tokenizers import BertPreTokenizer, WhitespaceSplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer

NORMALIZER, PRE_TOKENIZER = BertNormalizer(), BertPreTokenizer()
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))


@functools.cache
def long_text() -> str:
    """Return a text that a child has work with for a while: every line is new."""
    return "\n".join(f"word{number} other{number * 7}" for number in range(1_500_000))


@pytest.fixture
def job(qapp: object) -> Iterator[Task]:
    job = Task(count_corpus, "The words cannot be counted", in_child=is_much)
    yield job
    job.close()


def count_text(
    job: Task,
    text: str,
    normalizer: Normalizer = NORMALIZER,
    pre_tokenizer: PreTokenizer = PRE_TOKENIZER,
) -> None:
    job.run(text, (), normalizer, pre_tokenizer, 1000)


def count_file(job: Task, path: Path) -> None:
    job.run(None, [CorpusFile(str(path))], NORMALIZER, PRE_TOKENIZER, 1000)


@pytest.fixture
def always_in_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "LARGEST_AT_ONCE", -1)


@pytest.fixture
def children() -> Callable[[], list[psutil.Process]]:
    """Return the processes that this one has started since; that of a library may be there from an earlier test."""
    before = psutil.Process().children()
    return lambda: [child for child in psutil.Process().children() if child not in before]


needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks for processes in /proc")


@given(st.lists(st.tuples(st.text(min_size=1, max_size=5), st.integers(1, 2**50)), max_size=20))
def test_counts_survive_the_journey(pairs: list[tuple[str, int]]) -> None:
    words = dict(pairs)
    statistics = CorpusStatistics(1, 2, 3, 4, 5, 6, ("a", "b"))
    skipped = (SkippedWord("a", 1, 2, 3),)
    counts = WordCounts(list(words), list(words.values()), NORMALIZER, PRE_TOKENIZER, statistics, skipped)
    back = pickle.loads(pickle.dumps(counts))
    assert back == counts
    assert (back.statistics, back.skipped) == (statistics, skipped)
    alphabet = len({word[0] for word in words}) + len({part for word in words for part in word[1:]})
    symbols = sum(len(word) * count for word, count in words.items())
    assert (back.alphabet_size, back.symbols, back.digest()) == (alphabet, symbols, counts.digest())


def test_a_small_text_is_counted_at_once(qtbot: QtBot, job: Task) -> None:
    with qtbot.waitSignal(job.finished, timeout=2000) as caught:
        count_text(job, "Hug pug hug", Lowercase(), WhitespaceSplit())
    assert caught.args[0].items() == [("hug", 2), ("pug", 1)]
    assert not job.is_running


def test_a_child_counts_the_same(qtbot: QtBot, job: Task) -> None:
    text = "Hug, pug!\r\nniño 안녕하세요 \U0001f917 hug\n" * 10_000
    with qtbot.waitSignals([job.progressed, job.finished], timeout=20_000):
        job.finished.connect(lambda counts: results.append(counts))
        results: list[WordCounts] = []
        count_text(job, text, resolve_normalizer("bert-uncased"))
    expected = count_texts([text], "bert-uncased", "bert")
    assert results[0] == expected
    assert results[0].statistics == expected.statistics
    assert results[0].normalizer == expected.normalizer


def test_files_are_counted_in_a_child(qtbot: QtBot, job: Task, tmp_path: Path) -> None:
    path = tmp_path / "한글 \udcff.txt"  # a name that is not UTF-8
    path.write_text("hug pug", encoding="utf-16")
    with qtbot.waitSignal(job.finished, timeout=20_000) as caught:
        count_file(job, path)
    assert caught.args[0].words == ["hug", "pug"]


@pytest.mark.slow
def test_what_a_file_holds_now_is_counted_whatever_its_size_and_time_are(
    qtbot: QtBot, job: Task, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    for text in ("hug pug", "bun pun"):
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(10**18, 10**18))
        with qtbot.waitSignal(job.finished, timeout=20_000) as caught:
            count_file(job, path)
        assert caught.args[0].words == text.split()


@pytest.mark.slow
def test_nothing_of_the_corpus_is_left_in_the_cache(qtbot: QtBot, job: Task, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hug pug", encoding="utf-8")
    cache = platformdirs.user_cache_path("wordpiece-studio", appauthor=False)
    before = set(cache.rglob("*"))
    with qtbot.waitSignal(job.finished, timeout=20_000):
        count_file(job, tmp_path / "a.txt")
    assert [path for path in set(cache.rglob("*")) - before if "kernels" not in path.parts] == []


def test_an_error_in_the_child_is_reported_here(qtbot: QtBot, job: Task, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"ok\n\xff")
    with qtbot.waitSignal(job.failed, timeout=20_000) as caught:
        count_file(job, tmp_path / "bad.txt")
    assert "bad.txt, line 2" in str(caught.args[0])


@pytest.mark.slow
@pytest.mark.usefixtures("always_in_a_child")
def test_the_latest_request_wins(qtbot: QtBot, job: Task) -> None:
    results: list[WordCounts] = []
    job.finished.connect(lambda counts: results.append(counts))
    count_text(job, "old " * 1000)
    qtbot.wait(50)
    count_text(job, "older")
    count_text(job, "new")
    qtbot.waitUntil(lambda: bool(results), timeout=20_000)
    qtbot.wait(50)
    assert [counts.words for counts in results] == [["new"]]


@pytest.mark.slow
@pytest.mark.parametrize("delay_ms", [0, 100, 700, 1500])
def test_stop_ends_the_child_at_once(
    qtbot: QtBot, job: Task, children: Callable[[], list[psutil.Process]], delay_ms: int
) -> None:
    count_text(job, long_text())
    qtbot.wait(delay_ms)
    with qtbot.assertNotEmitted(job.finished, wait=10), qtbot.assertNotEmitted(job.failed):
        job.stop()
        qtbot.waitUntil(lambda: not children(), timeout=60_000)
    assert not job.is_running


@pytest.mark.slow
@needs_proc
@pytest.mark.expects_log
def test_a_killed_child_is_reported_in_words(
    qtbot: QtBot, job: Task, children: Callable[[], list[psutil.Process]]
) -> None:
    count_text(job, long_text())
    qtbot.waitUntil(lambda: bool(children()), timeout=5000)
    qtbot.wait(300)
    with qtbot.waitSignal(job.failed, timeout=10_000) as caught:
        children()[0].kill()
    assert "SIGKILL" in str(caught.args[0])
    with qtbot.waitSignal(job.finished, timeout=5000):
        count_text(job, "it goes on")


_PARENT = """
import sys, time
from PySide6.QtCore import QCoreApplication
from wordpiece_studio.session.corpus_counting import CorpusCounting
from wordpiece_studio.session.document import Document
if __name__ == "__main__":
    app = QCoreApplication([])
    document = Document()
    counting = CorpusCounting(document)
    document.set_text(chr(10).join(f"word{n} other{n * 7}" for n in range(4_000_000)))
    app.exec()
"""


@pytest.mark.slow
@needs_proc
def test_a_child_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(_PARENT)
    environment = {**os.environ, "PYTHONPATH": ROOT}
    parent = subprocess.Popen([sys.executable, str(script)], env=environment)
    try:
        child = _wait_for_child_of(parent.pid)
        time.sleep(1.0)
    finally:
        parent.kill()
        parent.wait()
    deadline = time.monotonic() + 60
    while os.path.exists(f"/proc/{child}") and _state_of(child) != "Z":
        assert time.monotonic() < deadline, "the child outlives its parent"
        time.sleep(0.02)


def _wait_for_child_of(parent: int) -> int:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with open(f"/proc/{parent}/task/{parent}/children") as file:
            listed = [int(pid) for pid in file.read().split()]
        for task in os.listdir(f"/proc/{parent}/task"):
            with open(f"/proc/{parent}/task/{task}/children") as file:
                listed += [int(pid) for pid in file.read().split()]
        for pid in listed:
            with open(f"/proc/{pid}/cmdline") as file:
                if "wordpiece_studio.system.child" in file.read():
                    return pid
        time.sleep(0.02)
    raise AssertionError("no child was started")


def _state_of(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


@pytest.mark.slow
def test_close_while_counting(qapp: object) -> None:
    for text in ("small", long_text()):
        job = Task(count_corpus, "The words cannot be counted", in_child=is_much)
        count_text(job, text)
        job.close()
        count_text(job, "too late")
        assert not job.is_running
