"""Counting with several processes, against counting with one."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import sys
import threading
import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.corpus.counting import counting_run, file_counting, helpers, segments, worker
from wordpiece_studio.corpus.counting.counting import count_words
from wordpiece_studio.corpus.counting.helpers import Helper, Helpers
from wordpiece_studio.corpus.counts import CountingStopped
from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.pipeline import AlignedText, Normalizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wordpiece_studio.corpus.counting.counting_progress import CountingProgress
    from wordpiece_studio.corpus.counting.segments import Segment
    from wordpiece_studio.corpus.counts import WordCounts

CORPORA = sorted((Path(__file__).resolve().parents[4] / "shared" / "corpora").glob("course-*.txt"))
PARTS = st.sampled_from([*"aéΣ,中한 \n\n\r", " the ", "[UNK]", "x" * 30, "한" * 12, "one\ntwo\n", "\u0301"])
RAW = st.lists(PARTS.map(str.encode) | st.sampled_from([b"\0", b"\xff"]) | PARTS.map(str.encode), max_size=60).map(
    b"".join
)
CLEAN = st.lists(PARTS, max_size=60).map(lambda parts: "".join(parts).encode())


class PretendedHelper(Helper):
    """Answers as a process would, but only when it is asked, so that a test says who is fast and who dies when."""

    def _start(self, settings: bytes, messages: object) -> None:
        self._answers = worker.Answers(worker.counter_for(settings))
        self._orders: deque[bytes] = deque()
        self._answer: Iterator[Any] = iter(())
        self.is_ready = True

    def give(self, number: int, segment: Segment) -> None:
        self.segments.append(number)
        self._orders.append(json.dumps([number, segment.file, segment.start, segment.end]).encode())

    def said(self) -> Any:
        """Return the next thing it says; False if it has nothing to do."""
        for message in self._answer:
            return message
        if not self._orders:
            return False
        self._answer = self._answers.to(self._orders.popleft())
        return self.said()

    def end(self) -> None:
        self._orders.clear()


class PretendedHelpers(Helpers):
    """Several of them, each step of which a random number decides."""

    rng = random.Random(0)
    deaths = 0.0

    def __init__(self, count: int, settings: bytes) -> None:
        self._all = [PretendedHelper(settings, None) for _ in range(count)]  # type: ignore[arg-type]

    def heard(self, seconds: float = 0.0) -> Any:
        living = list(self)
        if not living or (not seconds and self.rng.random() < 0.5):
            return None
        helper = self.rng.choice(living)
        if self.rng.random() < self.deaths:
            return helper, None
        message = helper.said()
        return None if message is False else (helper, message)


def outcome(count: Callable[[], WordCounts]) -> Any:
    try:
        counts = count()
    except StudioError as error:
        return str(error)
    return counts.items(), counts.statistics, counts.skipped


def divide_small(patch: pytest.MonkeyPatch, size: int = 8, part: int = 20) -> None:
    """Make segments, parts and blocks so small that little text has many."""
    patch.setattr(file_counting, "_LEAST_BYTES", 0)
    patch.setattr(counting_run, "PART_BYTES", part)
    patch.setattr(worker, "PART_BYTES", part)
    patch.setattr(segments, "SMALLEST_SEGMENT", size)
    patch.setattr(segments, "LARGEST_SEGMENT", 4 * size)
    patch.setattr(segments.raw_blocks, "__defaults__", (size,))


@pytest.mark.slow
@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("errors", ["strict", "replace", "skip-line"])
@given(
    files=st.lists(RAW | CLEAN, min_size=1, max_size=3),
    options=st.sampled_from([{}, {"max_word_length": 12}, {"max_word_length": 1}]),
    pipeline=st.sampled_from([("bert-uncased", "bert"), ("lowercase+remove: ", "whitespace-split")]),
    seed=st.integers(0, 1 << 30),
    size=st.sampled_from([1, 4, 16]),
    part=st.sampled_from([1, 20, 1000]),
    helping=st.integers(1, 3),
    deaths=st.sampled_from([0, 0.02, 0.3]),
)
def test_any_number_of_processes_gives_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    is_compiled: bool,
    errors: Any,
    files: list[bytes],
    options: Any,
    pipeline: tuple[str, str],
    seed: int,
    size: int,
    part: int,
    helping: int,
    deaths: float,
) -> None:
    folder = tmp_path_factory.mktemp("counting")
    paths = [folder / f"{number}.txt" for number in range(len(files))]
    for path, data in zip(paths, files, strict=True):
        path.write_bytes(data)
    options = {**options, "errors": errors}
    expected = outcome(lambda: count_words(paths, *pipeline, **options))
    with pytest.MonkeyPatch.context() as patch:
        divide_small(patch, size, part)
        patch.setattr(file_counting, "FEW_BYTES", 0 if is_compiled else 1 << 60)
        patch.setattr(file_counting, "FEW_BYTES_UNCOMPILED", 0 if is_compiled else 1 << 60)
        patch.setattr(file_counting, "Helpers", PretendedHelpers)
        patch.setattr(PretendedHelpers, "rng", random.Random(seed))
        patch.setattr(PretendedHelpers, "deaths", deaths)
        assert outcome(lambda: count_words(paths, *pipeline, **options, processes=helping + 1)) == expected


@given(seed=st.integers(0, 1 << 30), stops_after=st.integers(0, 30), processes=st.integers(1, 3))
def test_what_is_kept_when_stopped_is_the_beginning(
    tmp_path_factory: pytest.TempPathFactory, seed: int, stops_after: int, processes: int
) -> None:
    path = tmp_path_factory.mktemp("counting") / "a.txt"
    path.write_text("".join(f"w{number}\nagain é\n" for number in range(60)))
    with pytest.MonkeyPatch.context() as patch:
        divide_small(patch)
        patch.setattr(file_counting, "FEW_BYTES", 0 if seed % 2 else 1 << 60)
        patch.setattr(file_counting, "FEW_BYTES_UNCOMPILED", 0 if seed % 2 else 1 << 60)
        patch.setattr(file_counting, "Helpers", PretendedHelpers)
        patch.setattr(PretendedHelpers, "rng", random.Random(seed))
        asked = iter(range(1000))
        counts = count_words(
            path, processes=processes, should_stop=lambda: next(asked) >= stops_after, keeps_when_stopped=True
        )
    read = counts.statistics.bytes
    expected = path.with_name("beginning.txt")
    expected.write_bytes(path.read_bytes()[:read])
    assert counts == count_words(expected)
    line_ends = path.read_bytes()[:read].count(b"\n")
    assert counts.statistics.lines in (line_ends, line_ends + 1)  # the last line may have been begun
    assert counts.statistics.is_partial or read == path.stat().st_size


@pytest.fixture
def corpus(tmp_path: Path) -> list[Path]:
    """Files of several kinds; the first one is large enough to be divided."""
    rng = random.Random(1)
    words = [f"wörd{number}" for number in range(30_000)]
    text = "\n".join(" ".join(rng.choices(words, k=12)) for _ in range(60_000))
    paths = [tmp_path / name for name in ("a.txt", "b.txt.gz", "c.txt")]
    paths[0].write_text(text, encoding="utf-8")
    paths[1].write_bytes(gzip.compress(text[:100_000].encode(), 1))
    paths[2].write_text("the end", encoding="utf-16")
    return paths


def test_real_processes(corpus: list[Path]) -> None:
    told: list[CountingProgress] = []
    threads: set[int] = set()

    def tell(progress: CountingProgress) -> None:
        told.append(progress)
        threads.add(threading.get_ident())

    one = count_words(corpus, "bert-uncased")
    two = count_words(corpus, "bert-uncased", processes=2, progress=tell)
    assert outcome(lambda: two) == outcome(lambda: one)
    assert [file.lines for file in one.statistics.files] == [60_000, corpus_lines(100_000, corpus[0]), 1]
    assert one.statistics.files[2].encoding == "utf-16-le"
    assert threads == {threading.get_ident()}
    assert [progress.bytes_done for progress in told] == sorted(progress.bytes_done for progress in told)
    assert told[-1].bytes_done == told[-1].bytes_total == sum(path.stat().st_size for path in corpus)
    assert (told[-1].files_done, told[-1].words) == (3, one.total)


def corpus_lines(characters: int, path: Path) -> int:
    return path.read_text(encoding="utf-8")[:characters].count("\n") + 1


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a process is killed by a signal")
def test_a_killed_process_costs_nothing(corpus: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    expected = outcome(lambda: count_words(corpus, "bert-uncased"))
    killed: list[int] = []
    take_in = counting_run.CountingRun._take_in

    def kill_at_its_first_part(self: Any, helper: Helper, message: Any) -> None:
        if message is not None and "is_ready" not in message[0] and not killed:
            os.kill(helper.pid, signal.SIGKILL)
            killed.append(helper.pid)
        take_in(self, helper, message)

    monkeypatch.setattr(counting_run.CountingRun, "_take_in", kill_at_its_first_part)
    # All is left to it until then.
    choose = counting_run.CountingRun._segment_for_this_process
    monkeypatch.setattr(
        counting_run.CountingRun, "_segment_for_this_process", lambda self: choose(self) if killed else None
    )
    assert outcome(lambda: count_words(corpus, "bert-uncased", processes=2)) == expected
    assert killed


def test_a_process_that_never_comes_up_costs_nothing(corpus: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    expected = outcome(lambda: count_words(corpus, "bert-uncased"))
    monkeypatch.setattr(helpers, "_PROGRAM", "raise SystemExit(3)")
    assert outcome(lambda: count_words(corpus, "bert-uncased", processes=3)) == expected


@pytest.mark.parametrize("processes", [1, 2])
def test_stopping_is_prompt_and_leaves_no_process(corpus: list[Path], processes: int, monkeypatch: Any) -> None:
    started: list[int] = []
    start = Helper._start
    monkeypatch.setattr(Helper, "_start", lambda self, *args: (start(self, *args), started.append(self.pid))[0])
    until = time.monotonic() + 0.02
    with pytest.raises(CountingStopped):
        count_words(corpus * 5, "bert-uncased", processes=processes, should_stop=lambda: time.monotonic() > until)
    assert len(started) == processes - 1
    for pid in started if os.name == "posix" else ():
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_pipeline_of_ones_own_is_counted_here(corpus: list[Path]) -> None:
    class Own(Normalizer):
        name = "own"

        def align(self, text: str) -> AlignedText:
            return AlignedText.identity(text)

    assert count_words(corpus[1:], Own(), processes=2) == count_words(corpus[1:], None)


def test_no_process_is_started_for_little_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_counting, "Helpers", None)
    (tmp_path / "a.txt").write_text("a b a")
    for processes in (2, None):
        assert count_words(tmp_path / "a.txt", processes=processes).items() == [("a", 2), ("b", 1)]
    with pytest.raises(StudioError, match="At least one process"):
        count_words(tmp_path / "a.txt", processes=0)


@pytest.mark.slow
def test_the_parent_needs_no_main_module(corpus: list[Path]) -> None:
    import subprocess

    script = f"""
from wordpiece_studio import count_words
counts = count_words({[str(path) for path in corpus]!r}, processes=2)
print(counts.total)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert (int(run.stdout), run.stderr) == (count_words(corpus).total, "")


def test_each_file_has_its_own_figures(tmp_path: Path) -> None:
    texts = ["b a b\n", "", "a c\nc\nd", "a" * 2000 + "\n"]
    paths = [tmp_path / f"{number}.txt" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    files = count_words(paths).statistics.files
    assert [file.name for file in files] == [str(path) for path in paths]
    assert [(file.bytes, file.lines, file.words, file.distinct_words) for file in files] == [
        (6, 1, 3, 2),
        (0, 0, 0, 0),
        (7, 3, 4, 3),
        (2001, 1, 0, 0),
    ]
    assert [file.most_line_bytes for file in files] == [6, 0, 4, 2001]


@pytest.mark.slow
@pytest.mark.skipif(not CORPORA, reason="the corpora lie beside the project")
@pytest.mark.parametrize("is_compiled", [False, True])
def test_course_files_in_random_segments(is_compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [path for path in CORPORA if path.stem[-2:] in {"en", "hi", "ko", "TW"}]
    expected = outcome(lambda: count_words(paths, "bert-uncased", max_word_length=30))
    rng = random.Random(5)
    monkeypatch.setattr(PretendedHelpers, "rng", rng)
    monkeypatch.setattr(file_counting, "Helpers", PretendedHelpers)
    for name in ("FEW_BYTES", "FEW_BYTES_UNCOMPILED"):
        monkeypatch.setattr(file_counting, name, 0 if is_compiled else 1 << 60)
    for _ in range(2):
        divide_small(monkeypatch, rng.randrange(3_000, 100_000), rng.randrange(1000, 1_000_000))
        monkeypatch.setattr(PretendedHelpers, "deaths", rng.choice([0, 0.02]))
        count = count_words(paths, "bert-uncased", max_word_length=30, processes=rng.randrange(2, 5))
        assert outcome(lambda count=count: count) == expected
