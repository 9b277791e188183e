"""Counting with several threads or processes, against counting with one."""

from __future__ import annotations

import bisect
import functools
import gzip
import itertools
import os
import pickle
import random
import signal
import threading
import time
from pathlib import Path
from queue import PriorityQueue, SimpleQueue
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.corpus.counting import counting, part_counts, segments, workers
from wordpiece_studio.corpus.counting.counting import count_words
from wordpiece_studio.corpus.counting.part_counts import PartCounts, Renumbering
from wordpiece_studio.corpus.counting.segments import Segment
from wordpiece_studio.corpus.counting.workers import SegmentCounter
from wordpiece_studio.corpus.counts import CountingProgress, CountingStopped
from wordpiece_studio.corpus.files import CorpusFile
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system import child
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import AlignedText, Normalizer, Pipeline
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer
from wordpiece_studio.text.word_numbers import PlainWordNumbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from wordpiece_studio.corpus.counting.workers import Answer
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.text.word_numbers import WordNumbers

PATTERN = r"pattern:\w+"  # Python, so that processes count
CORPORA = sorted((Path(__file__).resolve().parents[4] / "shared" / "corpora").glob("course-*.txt"))
PARTS = st.sampled_from([*"aéΣ,中한 \n\n\r", " the ", "[UNK]", "x" * 30, "한" * 12, "one\ntwo\n", "\u0301"])
RAW = st.lists(PARTS.map(str.encode) | st.sampled_from([b"\0", b"\xff"]) | PARTS.map(str.encode), max_size=60).map(
    b"".join
)
CLEAN = st.lists(PARTS, max_size=60).map(lambda parts: "".join(parts).encode())


class PretendedWorker:
    """Counts as a thread or process would, but only when it is asked: so a test says who is fast and who dies when."""

    def __init__(
        self,
        make_counter: Callable[..., SegmentCounter],
        numbers: WordNumbers,
        segments: Sequence[Segment],
        to_count: list[int],
    ) -> None:
        self.segment: int | None = None
        self._renumbering = Renumbering(numbers)
        self._counter = make_counter(sends_words=True)
        self._segments, self._to_count = segments, to_count
        self._answers: Iterator[Answer] = iter(())

    def said(self) -> Answer | None:
        """Return the next thing it says; None if it has nothing to do."""
        for answer in self._answers:
            return answer
        if not self._to_count:
            return None
        self.segment = self._to_count.pop(0)
        self._answers = self._answers_for(self.segment)
        return self.said()

    def _answers_for(self, number: int) -> Iterator[Answer]:
        fault = None
        try:
            for part in self._counter.parts(self._segments[number]):
                yield number, self._renumbering.renumbered(pickle.loads(pickle.dumps(part)))
        except StudioError as error:
            fault = pickle.loads(pickle.dumps(error))
        self.segment = None
        yield number, workers.OVER if fault is None else fault


class PretendedWorkers:
    """Several of them, each step of which a random number decides."""

    rng = random.Random(0)
    deaths = 0.0
    memory = 0

    def __init__(
        self,
        make_counter: Callable[..., SegmentCounter],
        count: int,
        numbers: WordNumbers,
        segments: Sequence[Segment],
        *,
        are_children: bool,
    ) -> None:
        self._to_count = list(range(len(segments)))
        self._begin = functools.partial(PretendedWorker, make_counter, numbers, segments, self._to_count)
        self._all = [self._begin() for _ in range(count)]

    def heard(self, seconds: float) -> Answer | None:
        if self.rng.random() < self.deaths:
            dead = self._all.pop(self.rng.randrange(len(self._all)))
            self._all = self._all or [self._begin()]
            if dead.segment is None:
                return None
            bisect.insort(self._to_count, dead.segment)
            return dead.segment, workers.LOST
        return self.rng.choice(self._all).said()

    def end(self) -> None:
        pass


def outcome(count: Callable[[], WordCounts]) -> Any:
    try:
        counts = count()
    except StudioError as error:
        return str(error)
    return counts.items(), counts.statistics, counts.skipped


def divide_small(patch: pytest.MonkeyPatch, size: int = 8, part: int = 20) -> None:
    """Make segments, parts and blocks so small that little text has many."""
    patch.setattr(counting, "_LEAST_BYTES", 0)
    patch.setattr(counting, "PART_BYTES", part)
    patch.setattr(counting, "SEGMENT_BYTES", 4 * size)
    patch.setattr(counting, "CHILD_SEGMENT_BYTES", 4 * size)
    make = counting.SegmentCounter
    patch.setattr(counting, "SegmentCounter", lambda *given, **how: make(*given, **{**how, "part_bytes": part}))
    patch.setattr(segments, "SMALLEST_SEGMENT", size)
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
    processes=st.integers(2, 4),
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
    processes: int,
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
        patch.setattr(part_counts, "FEW_BYTES", 0 if is_compiled else 1 << 60)
        patch.setattr(part_counts, "FEW_BYTES_UNCOMPILED", 0 if is_compiled else 1 << 60)
        patch.setattr(counting, "Workers", PretendedWorkers)
        patch.setattr(PretendedWorkers, "rng", random.Random(seed))
        patch.setattr(PretendedWorkers, "deaths", deaths)
        assert outcome(lambda: count_words(paths, *pipeline, **options, processes=processes)) == expected


@given(seed=st.integers(0, 1 << 30), stops_after=st.integers(0, 30), processes=st.integers(1, 3))
def test_what_is_kept_when_stopped_is_the_beginning(
    tmp_path_factory: pytest.TempPathFactory, seed: int, stops_after: int, processes: int
) -> None:
    path = tmp_path_factory.mktemp("counting") / "a.txt"
    path.write_text("".join(f"w{number}\nagain é\n" for number in range(60)))
    with pytest.MonkeyPatch.context() as patch:
        divide_small(patch)
        patch.setattr(part_counts, "FEW_BYTES", 0 if seed % 2 else 1 << 60)
        patch.setattr(part_counts, "FEW_BYTES_UNCOMPILED", 0 if seed % 2 else 1 << 60)
        patch.setattr(counting, "Workers", PretendedWorkers)
        patch.setattr(PretendedWorkers, "rng", random.Random(seed))
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
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Files of several kinds; the first one is large enough to be divided, and for kernels."""
    monkeypatch.setattr(counting, "_LEAST_BYTES", 0)
    monkeypatch.setattr(counting, "SEGMENT_BYTES", 50_000)
    monkeypatch.setattr(counting, "CHILD_SEGMENT_BYTES", 50_000)
    monkeypatch.setattr(segments, "SMALLEST_SEGMENT", 20_000)
    monkeypatch.setattr(part_counts, "FEW_BYTES", 0)
    monkeypatch.setattr(part_counts, "FEW_BYTES_UNCOMPILED", 0)
    rng = random.Random(1)
    words = [f"wörd{number}" for number in range(3_000)]
    text = "\n".join(" ".join(rng.choices(words, k=12)) for _ in range(6_000))
    paths = [tmp_path / name for name in ("a.txt", "b.txt.gz", "c.txt")]
    paths[0].write_text(text, encoding="utf-8")
    paths[1].write_bytes(gzip.compress(text[:100_000].encode(), 1))
    paths[2].write_text("the end", encoding="utf-16")
    return paths


@pytest.mark.slow
@pytest.mark.parametrize("pre_tokenizer", ["bert", PATTERN])
def test_real_threads_and_processes(corpus: list[Path], pre_tokenizer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[CountingProgress] = []
    threads: set[int] = set()

    def tell(progress: CountingProgress) -> None:
        told.append(progress)
        threads.add(threading.get_ident())

    begun = children_of(monkeypatch)
    one = count_words(corpus, "bert-uncased", pre_tokenizer)
    two = count_words(corpus, "bert-uncased", pre_tokenizer, processes=2, progress=tell)
    assert outcome(lambda: two) == outcome(lambda: one)
    assert len(begun) == (0 if pre_tokenizer == "bert" else 2)
    assert [file.lines for file in one.statistics.files] == [6_000, corpus_lines(100_000, corpus[0]), 1]
    assert one.statistics.files[2].encoding == "utf-16-le"
    assert threads == {threading.get_ident()}
    assert [progress.bytes_done for progress in told] == sorted(progress.bytes_done for progress in told)
    assert told[-1].bytes_done == told[-1].bytes_total == sum(path.stat().st_size for path in corpus)
    assert (told[-1].files_done, told[-1].words) == (3, one.total)


def children_of(monkeypatch: pytest.MonkeyPatch) -> list[workers.ChildCounter]:
    """Return a list of the children that count, which grows."""
    begun: list[workers.ChildCounter] = []
    begin = workers.ChildCounter.__init__
    monkeypatch.setattr(workers.ChildCounter, "__init__", lambda self, *how: begun.append(self) or begin(self, *how))
    return begun


def corpus_lines(characters: int, path: Path) -> int:
    return path.read_text(encoding="utf-8")[:characters].count("\n") + 1


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a process is killed by a signal")
@pytest.mark.parametrize("all_die", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_killed_process_costs_nothing(corpus: list[Path], monkeypatch: pytest.MonkeyPatch, all_die: bool) -> None:
    expected = outcome(lambda: count_words(corpus, "bert-uncased", PATTERN))
    killed: set[int] = set()
    parts = workers.ChildCounter.parts

    def kill_at_its_first_part(self: workers.ChildCounter, segment: Segment) -> Iterator[PartCounts]:
        for part in parts(self, segment):
            if all_die or not killed:
                killed.add(self.pid)
                os.kill(self.pid, signal.SIGKILL)
            yield part

    monkeypatch.setattr(workers.ChildCounter, "parts", kill_at_its_first_part)
    assert outcome(lambda: count_words(corpus, "bert-uncased", PATTERN, processes=2)) == expected
    assert killed


def test_processes_that_never_come_up_cost_nothing(corpus: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    expected = outcome(lambda: count_words(corpus[1:], "bert-uncased", PATTERN))
    monkeypatch.setattr(child, "_BOOTSTRAP", "raise SystemExit(3)")
    assert outcome(lambda: count_words(corpus[1:], "bert-uncased", PATTERN, processes=2)) == expected


@pytest.mark.parametrize("pre_tokenizer", ["bert", PATTERN])
@pytest.mark.parametrize("processes", [1, 2])
def test_stopping_leaves_no_thread_and_no_process(
    corpus: list[Path], pre_tokenizer: str, processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = set(threading.enumerate())  # other tests may have left the library of a tokenizer
    begun, asked = children_of(monkeypatch), itertools.count()
    with pytest.raises(CountingStopped):
        count_words(
            corpus * 5, "bert-uncased", pre_tokenizer, processes=processes, should_stop=lambda: next(asked) >= 3
        )
    assert len(begun) == (2 if processes == 2 and pre_tokenizer == PATTERN else 0)
    found = set(threading.enumerate()) - threads
    assert not [thread for thread in found if thread.name.startswith(("counting", "messages of"))]
    for each in begun if os.name == "posix" else ():
        with pytest.raises(ProcessLookupError):
            os.kill(each.pid, 0)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("pre_tokenizer", ["bert", PATTERN])
def test_the_first_fault_in_the_corpus_is_reported(corpus: list[Path], pre_tokenizer: str, processes: int) -> None:
    lines = corpus[0].read_bytes().splitlines(keepends=True)
    for number in (5_000, 5_800, 5_999):
        lines[number] = b"\xff" + lines[number]
    corpus[0].write_bytes(b"".join(lines))
    with pytest.raises(StudioError, match=r"a\.txt, line 5001: the bytes FF at byte \d+ are not UTF-8"):
        count_words(corpus, "bert-uncased", pre_tokenizer, processes=processes)


def test_little_is_begun_after_a_fault() -> None:
    """And nothing again that a lost worker had begun; what comes before the fault is counted again."""
    begun: list[int] = []
    all_begun, is_known = threading.Barrier(3), threading.Event()

    class Counter:
        def parts(self, segment: Segment) -> Iterator[PartCounts]:
            begun.append(segment.start)
            if begun.count(segment.start) == 1:
                if segment.start < 3:
                    all_begun.wait(60)
                if segment.start == 1:
                    raise StudioError("A fault")
                is_known.wait(60)
                raise workers.LostChildError
            yield from ()

    parts = [Segment(0, number, number + 1) for number in range(9)]
    counted = workers.Workers(lambda **_: Counter(), 3, PlainWordNumbers(), parts, are_children=False)
    try:
        number, fault = counted.heard(60)
        assert (number, type(fault)) == (1, StudioError)
        is_known.set()
        heard = list(iter(lambda: counted.heard(0.5), None))
        assert {(0, "lost"), (0, "over"), (2, "lost")} <= set(heard)
    finally:
        counted.end()
    assert (begun.count(0), begun.count(2)) == (2, 1)
    assert max(begun) <= 3  # which the worker may have begun that found the fault


def test_while_should_stop_does_not_return_all_rest(corpus: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The workers end what they have begun, and wait until it is received."""
    said: list[object] = []
    say = workers.Worker._say
    monkeypatch.setattr(workers.Worker, "_say", lambda self, *what: said.append(what) or say(self, *what))
    rested: list[int] = []

    def should_stop() -> bool:
        if len(said) >= 3 and not rested:
            before = -1
            while before < len(said):
                before = len(said)
                time.sleep(0.5)
            rested.append(before)
        return False

    counts = count_words(corpus, "bert-uncased", processes=2, should_stop=should_stop)
    assert rested[0] < len(said)
    assert counts == count_words(corpus, "bert-uncased")


@pytest.mark.parametrize("is_child", [False, True])
def test_a_worker_whose_parts_no_one_takes_pauses(corpus: list[Path], is_child: bool) -> None:
    pipeline = Pipeline(resolve_normalizer("bert-cased"), resolve_pre_tokenizer("bert"))
    files = [CorpusFile(str(corpus[0]))]
    make_counter = functools.partial(SegmentCounter, files, pipeline, 100, is_compiled=False, part_bytes=100_000)
    said: SimpleQueue[Any] = SimpleQueue()
    stop = threading.Event()
    to_count: PriorityQueue[int] = PriorityQueue()
    parts = [Segment(0, start, start + 1000) for start in range(0, 4000, 1000)]
    shared = {"make_counter": make_counter, "segments": parts, "to_count": to_count, "said": said, "stop": stop}
    worker = workers.Worker(SimpleNamespace(numbers=PlainWordNumbers(), **shared), is_child=is_child)
    worker.start()
    for number in range(5):
        to_count.put(number)
    kinds = [type(said.get(timeout=60)[2]) for _ in range(4)]
    assert kinds == [PartCounts, str, PartCounts, str]  # twice a part of a segment
    assert said.empty()
    worker.waiting_parts.release()
    assert type(said.get(timeout=60)[2]) is PartCounts
    stop.set()
    worker.join()
    assert not worker.is_alive()


@pytest.mark.slow
@pytest.mark.parametrize("user_token", ["örd1", "1 wö"])
def test_user_tokens_are_taken_out_by_any_number(corpus: list[Path], user_token: str, tmp_path: Path) -> None:
    one = count_words(corpus, user_tokens=[user_token])
    assert count_words(corpus, user_tokens=[user_token], processes=2).items() == one.items()
    text = corpus[0].read_text("utf-8")
    (tmp_path / "d.txt").write_text(text.replace(user_token, "\t"), encoding="utf-8")
    assert count_words([tmp_path / "d.txt"]).items() == count_words(corpus[:1], user_tokens=[user_token]).items()


def test_a_custom_pipeline_is_counted_here(corpus: list[Path]) -> None:
    class Own(Normalizer):
        name = "own"

        def align(self, text: str) -> AlignedText:
            return AlignedText.identity(text)

    assert count_words(corpus[1:], Own(), processes=2) == count_words(corpus[1:], None)


def test_no_process_is_started_for_little_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "Workers", None)
    (tmp_path / "a.txt").write_text("a b a")
    for processes in (2, None):
        assert count_words(tmp_path / "a.txt", processes=processes).items() == [("a", 2), ("b", 1)]
    with pytest.raises(StudioError, match="At least one process"):
        count_words(tmp_path / "a.txt", processes=0)


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
    monkeypatch.setattr(PretendedWorkers, "rng", rng)
    monkeypatch.setattr(counting, "Workers", PretendedWorkers)
    for name in ("FEW_BYTES", "FEW_BYTES_UNCOMPILED"):
        monkeypatch.setattr(part_counts, name, 0 if is_compiled else 1 << 60)
    for _ in range(2):
        divide_small(monkeypatch, rng.randrange(3_000, 100_000), rng.randrange(1000, 1_000_000))
        monkeypatch.setattr(PretendedWorkers, "deaths", rng.choice([0, 0.02]))
        count = count_words(paths, "bert-uncased", max_word_length=30, processes=rng.randrange(2, 5))
        assert outcome(lambda count=count: count) == expected
