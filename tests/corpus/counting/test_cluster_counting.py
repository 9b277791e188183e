from __future__ import annotations

import gzip
import json
import os
import random
import socket
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.corpus.counting.clusters import LocalCluster
from wordpiece_studio.corpus.counting import cluster_counting, segments
from wordpiece_studio.corpus.counting.counting import count_words
from wordpiece_studio.corpus.counts import CountingStopped
from wordpiece_studio.corpus.files import CorpusFile
from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.normalizers import Lowercase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wordpiece_studio.corpus.counts import CountingProgress, WordCounts

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("distributed") is None, reason="needs dask.distributed"),  # takes a second to import
]

WORDS = ["niño", "的", "한국어", "Ünïcode", "a", "b,c", "[MASK]", "fin.", "x" * 40, "\u0301", "tab\tbed"]
SLOW = ("nfc+lowercase", r"pattern:\w+ ?|\W")
EXITS = """
import os
from wordpiece_studio.corpus.counting import cluster_counting
cluster_counting.counted = lambda *_: os._exit(1)
"""
OTHER_VERSION = "import wordpiece_studio; wordpiece_studio.__version__ = '0.0.9'"
NO_STUDIO = "import sys; sys.modules['wordpiece_studio'] = None"


class OwnNormalizer(Lowercase):
    """One that no other machine has."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    local = LocalCluster(tmp_path_factory.mktemp("cluster"))
    try:
        local.start_workers(2)
        yield local
    finally:
        local.end()


@pytest.fixture(scope="module")
def spare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """Another scheduler, without workers, for what goes wrong; one dead worker is too many for it."""
    local = LocalCluster(tmp_path_factory.mktemp("spare"), allowed_failures=0)
    try:
        yield local
    finally:
        local.end()


@pytest.fixture
def small_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide even a small corpus, and merge it in a tall tree."""
    monkeypatch.setattr(segments, "SMALLEST_SEGMENT", 2000)
    monkeypatch.setattr(cluster_counting, "LARGEST_STRETCH", 10_000)
    monkeypatch.setattr(cluster_counting, "FAN_IN", 3)


def lines(seed: int, count: int) -> list[str]:
    chance = random.Random(seed)
    numbers = [chance.randrange(count) for _ in range(count)]
    return [" ".join([*chance.choices(WORDS, k=chance.randrange(12)), str(number)]) for number in numbers]


def check_same(ours: WordCounts, reference: WordCounts) -> None:
    assert ours.items() == reference.items()
    assert ours.statistics == reference.statistics
    assert ours.skipped == reference.skipped
    assert (ours.normalizer, ours.pre_tokenizer) == (reference.normalizer, reference.pre_tokenizer)


def write_mixed_files(folder: Path) -> list[str | CorpusFile]:
    """Write files of several kinds, and return what to count, by paths from the folder on."""
    for name, seed, count in (("large.txt", 1, 2000), ("small.txt", 2, 3), ("other.txt", 3, 700)):
        (folder / name).write_text("\r\n".join(lines(seed, count)), encoding="utf-8", newline="")
    (folder / "marked.txt").write_text("\n".join(lines(4, 300)), encoding="utf-8-sig")
    (folder / "wide.txt").write_text("\n".join(lines(5, 300)), encoding="utf-16")
    (folder / "empty.txt").touch()
    rows = "".join(json.dumps({"id": n, "text": line}) + "\n" for n, line in enumerate(lines(6, 400)))
    (folder / "rows.jsonl.gz").write_bytes(gzip.compress(rows.encode()))
    (folder / "table.csv").write_text("text;n\n" + "".join(f'"{line}";1\n' for line in lines(7, 200)), encoding="utf-8")
    latin = "\n".join(["niño", "ÿ"] * 3000).encode("cp1252")
    (folder / "latin.txt").write_bytes(latin)
    return [
        "small.txt", "large.txt", "large.txt", "empty.txt", "wide.txt", "rows.jsonl.gz", "table.csv", "marked.txt",
        CorpusFile("latin.txt", encoding="cp1252"), CorpusFile("latin.txt", errors="replace"), "other.txt",
    ]  # fmt: skip


@pytest.mark.parametrize("pipeline", [("bert-uncased", "bert"), ("language-friendly", "pattern:\\S+ ?")])
@pytest.mark.usefixtures("small_stretches")
def test_the_same_as_on_one_machine(
    cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pipeline: tuple[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)  # the workers are elsewhere
    files = write_mixed_files(tmp_path)
    told: list[CountingProgress] = []
    ours = count_words(files, *pipeline, max_word_length=30, cluster=cluster.address, progress=told.append)
    reference = count_words(files, *pipeline, max_word_length=30)
    check_same(ours, reference)
    assert reference.skipped
    assert reference.statistics.replaced
    assert reference.statistics.marked_files == {"wide.txt": "utf-16-le"}
    sizes = [Path(file.path if isinstance(file, CorpusFile) else file).stat().st_size for file in files]
    assert told[-1].bytes_done == told[-1].bytes_total == sum(sizes)
    assert (told[-1].files_done, told[-1].words) == (len(files), reference.total)
    assert [p.bytes_done for p in told] == sorted(p.bytes_done for p in told)


@pytest.mark.usefixtures("small_stretches")
def test_urls(cluster: LocalCluster, tmp_path: Path) -> None:
    write_mixed_files(tmp_path)
    ours = count_words(f"{tmp_path.as_uri()}/[lrm]a*.txt", cluster=cluster.address, errors="replace")
    reference = count_words(f"{tmp_path}/[lrm]a*.txt", errors="replace")
    assert ours.items() == reference.items()
    assert [Path(file.name).name for file in ours.statistics.files] == ["large.txt", "latin.txt", "marked.txt"]


def test_few_bytes_and_none(cluster: LocalCluster, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one two one")
    (tmp_path / "b.txt").touch()
    for files in (["a.txt"], ["b.txt"], ["b.txt", "a.txt", "b.txt"]):
        paths = [tmp_path / name for name in files]
        check_same(count_words(paths, cluster=cluster.address), count_words(paths))


@pytest.mark.usefixtures("small_stretches")
def test_a_worker_that_dies_changes_nothing(cluster: LocalCluster, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("\n".join(lines(8, 20_000)), encoding="utf-8")
    victim = cluster.workers[0]
    seen: list[int] = []

    def kill(progress: CountingProgress) -> None:
        if progress.bytes_done > progress.bytes_total // 4 and victim.poll() is None:
            seen.append(progress.bytes_done)
            victim.kill()
            victim.wait()

    try:
        ours = count_words(path, cluster=cluster.address, progress=kill)
    finally:
        cluster.kill(victim)
        cluster.start_workers(1)
    check_same(ours, count_words(path))
    assert len(seen) == 1
    assert seen[0] < path.stat().st_size * 3 // 4


@pytest.mark.parametrize(
    ("places", "errors"),
    [((30_000,), "strict"), ((90_000, 30_001), "strict"), ((0,), "strict"), ((100_000,), "skip-line")],
)
@pytest.mark.usefixtures("small_stretches")
def test_the_first_fault_is_reported_as_on_one_machine(
    cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, places: tuple[int, ...], errors: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    data = bytearray("\n".join(lines(9, 2000)).encode())
    for place in places:
        data[place] = 0xFF
    Path("a.txt").write_bytes(data)
    Path("b.txt").write_bytes("\n".join(lines(10, 100)).encode())
    Path("c.jsonl").write_bytes(b'{"text": "one"}\n{"text": \n')
    files = ["b.txt", "a.txt", "b.txt"] if errors == "strict" else ["b.txt", "a.txt", "c.jsonl"]

    def outcome(**where: Any) -> Any:
        try:
            return count_words(files, errors=errors, **where)
        except StudioError as error:
            return str(error), error.what_template, error.values

    ours, reference = outcome(cluster=cluster.address), outcome()
    if errors == "strict":
        assert ours == reference
        assert "a.txt, line " in reference[0]
    else:
        check_same(ours, reference)
        assert reference.statistics.skipped_lines == 2


def test_a_file_that_only_this_machine_has(
    cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one")
    theirs, real = tmp_path / "elsewhere" / "a.txt", os.path.abspath  # where the path leads on the workers' machine
    monkeypatch.setattr(os.path, "abspath", lambda each: str(theirs) if each == str(path) else real(each))
    with pytest.raises(StudioError, match=r"The cluster's workers cannot find \S*a\.txt\. Put it"):
        count_words(path, cluster=cluster.address)


def test_stopping_is_prompt_and_the_workers_stop_too(cluster: LocalCluster, tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"  # one long task
    path.write_bytes(gzip.compress("\n".join(lines(11, 20_000)).encode()) * 200)
    asked: list[float] = []

    def should_stop() -> bool:
        asked.append(time.monotonic())
        return asked[-1] - asked[0] > 0.8

    with pytest.raises(CountingStopped):
        count_words(path, *SLOW, cluster=cluster.address, should_stop=should_stop)
    assert len(asked) > 2  # it was asked while it waited
    wait_until(lambda: not busy(cluster), 60)


@pytest.mark.usefixtures("small_stretches")
def test_rare_words_can_stay_there(cluster: LocalCluster, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("\n".join(lines(14, 2000)), encoding="utf-8")
    ours = count_words(path, cluster=cluster.address, min_count=3)
    check_same(ours, count_words(path, min_count=3))
    assert 0 < ours.statistics.rare_words < len(count_words(path))


def test_a_custom_pipeline_stays_here(cluster: LocalCluster, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one")
    with pytest.raises(StudioError, match="cannot be sent to a cluster"):
        count_words(tmp_path / "a.txt", OwnNormalizer(), cluster=cluster.address)


@pytest.mark.slow
def test_a_large_corpus_with_compiled_kernels(cluster: LocalCluster, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with path.open("w", encoding="utf-8") as file:
        for seed in range(4):
            file.write(5 * ("\n".join(lines(seed, 20_000)) + "\n"))
    victim = cluster.workers[0]

    def kill(progress: CountingProgress) -> None:
        if progress.bytes_done > 0 and victim.poll() is None:
            victim.kill()
            victim.wait()

    try:
        ours = count_words([path, path], "bert-uncased", cluster=cluster.address, progress=kill)
    finally:
        cluster.kill(victim)
        cluster.start_workers(1)
    check_same(ours, count_words([path, path], "bert-uncased", processes=2))
    assert path.stat().st_size > 20_000_000


# ---- what goes wrong with a cluster ----------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense", "foo://x:1", "", "tls://127.0.0.1:1"])
def test_a_scheduler_that_cannot_be_reached(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_counting, "CONNECTING_SECONDS", 0.3)
    monkeypatch.setattr(cluster_counting, "WORKERS_SECONDS", 0.3)
    (tmp_path / "a.txt").write_text("one")
    with pytest.raises(StudioError, match=rf"The scheduler {address} cannot be reached: .*\. Check the address"):
        count_words(tmp_path / "a.txt", cluster=address)


def test_an_address_without_a_scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_counting, "CONNECTING_SECONDS", 0.3)
    monkeypatch.setattr(cluster_counting, "WORKERS_SECONDS", 0.3)
    (tmp_path / "a.txt").write_text("one")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(StudioError, match="cannot be reached"):
            count_words(tmp_path / "a.txt", cluster=address)
        with pytest.raises(CountingStopped):
            count_words(tmp_path / "a.txt", cluster=address, should_stop=lambda: True)


def test_no_workers_and_wrong_ones(spare: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("one")
    with monkeypatch.context() as patch:
        patch.setattr(cluster_counting, "WORKERS_SECONDS", 0.3)
        with pytest.raises(StudioError, match=r"has no workers\. Start some: dask worker tcp://"):
            count_words(tmp_path / "a.txt", cluster=spare.address)
    for program, message in (
        (OTHER_VERSION, r"runs WordPiece Studio 0\.0\.9, but this machine runs .*\. Install "),
        (
            NO_STUDIO,
            r"The worker tcp://\S* cannot load WordPiece Studio: .*\. Install version \S* there from its folder",
        ),
        (EXITS, r"killed 1 workers of the cluster.*memory"),
    ):
        spare.start_workers(1, preloaded=program)
        try:
            with pytest.raises(StudioError, match=message):
                count_words(tmp_path / "a.txt", cluster=spare.address)
        finally:
            spare.kill(spare.workers[0])


def test_the_last_worker_goes_away(cluster: LocalCluster, tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress("\n".join(lines(13, 20_000)).encode()) * 200)

    def kill(_: CountingProgress) -> None:
        if cluster.workers and busy(cluster):
            for worker in list(cluster.workers):
                cluster.kill(worker)

    try:
        with pytest.raises(StudioError, match=f"{cluster.address} lost its last worker.* Start workers again"):
            count_words(path, *SLOW, cluster=cluster.address, progress=kill)
    finally:
        cluster.start_workers(2 - len(cluster.workers))
    assert cluster_counting.REPLACEMENT_SECONDS + cluster_counting._WATCH_SECONDS < 10


def test_a_scheduler_that_goes_away(spare: LocalCluster, tmp_path: Path) -> None:
    spare.start_workers(1)
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress("\n".join(lines(13, 20_000)).encode()) * 200)
    started = time.monotonic()

    def kill(_: CountingProgress) -> None:
        if time.monotonic() - started > 0.7:
            spare.scheduler.kill()

    with pytest.raises(StudioError, match=f"connection to the scheduler {spare.address} was lost"):
        count_words(path, *SLOW, cluster=spare.address, progress=kill)


def test_dask_is_loaded_only_when_it_is_needed() -> None:
    program = (
        "import sys, wordpiece_studio.corpus.counting.cluster_counting;"
        "print({'dask', 'distributed', 'fsspec', 'llvmlite'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def busy(cluster: LocalCluster) -> bool:
    from distributed import Client

    with Client(cluster.address, set_as_default=False) as client:
        executing = client.run(lambda dask_worker: dask_worker.state.executing_count)
        return any(executing.values())


def wait_until(is_so: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)
