"""Cases 40, 41, 69 and 76: processes that are killed, and the window that is ended; and 73, damaged settings."""

from __future__ import annotations

import json
import os
import signal
from math import factorial
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.corpus.counting import workers
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.settings import FILE_NAME, SettingsStore, StudioSettings
from wordpiece_studio.system.child import Child

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.cases.program import Program
    from wordpiece_studio.corpus.counting.part_counts import PartCounts
    from wordpiece_studio.corpus.counting.segments import Segment

    Told = Callable[[object], str]

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
PROC = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="looks into /proc")


@POSIX
@pytest.mark.case(40)
@pytest.mark.expects_log
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV] if os.name == "posix" else [0])
def test_a_counting_process_is_killed(told: Told, number: int) -> None:
    with Child("The words cannot be counted") as child:
        assert child.call(factorial, 5) == 120
        os.kill(child.pid, number)
        with pytest.raises(StudioError) as raised:
            child.call(factorial, 5)
    assert told(raised.value) == (
        f"The words cannot be counted. The background process was ended by the signal "
        f"{signal.Signals(number).name}. There may be too little "
        "memory, or another program ended it. Try again, or use a smaller corpus."
    )


@pytest.mark.slow
@POSIX
@pytest.mark.case(40)
def test_a_process_that_helps_to_count_is_killed(program: Program, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it had is counted again by the others: nothing is missing, and nothing counts twice."""
    file = program.file("a.txt", "some words and some more words\n" * 150_000)
    killed: list[int] = []
    parts = workers.ChildCounter.parts

    def kill_at_its_first_part(self: workers.ChildCounter, segment: Segment) -> Iterator[PartCounts]:
        for part in parts(self, segment):
            if not killed:
                killed.append(self.pid)
                os.kill(self.pid, signal.SIGKILL)
            yield part

    monkeypatch.setattr(workers.ChildCounter, "parts", kill_at_its_first_part)
    code, said, err = program.run(("count", file, "--pre-tokenizer", "pattern:[a-z]+", "--processes", 2, "--json"), 60)
    assert (code, err) == (0, "")
    assert json.loads(said)["words"] == 6 * 150_000
    assert killed
    told(f"nothing: {said.strip()}")


_PARENT = """
import threading
import time
from wordpiece_studio.corpus.files import CorpusFile
from functools import partial
from wordpiece_studio.corpus.counting.workers import ChildCounter, SegmentCounter
from wordpiece_studio.system.child import Child
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer
child = Child("The words cannot be counted")
child.call(time.sleep, 0)
threading.Thread(target=child.call, args=(time.sleep, 60), daemon=True).start()
pipeline = Pipeline(resolve_normalizer("bert-cased"), resolve_pre_tokenizer("bert"))
make_counter = partial(SegmentCounter, [CorpusFile(__file__)], pipeline, 100, is_compiled=False, part_bytes=1000)
helper = ChildCounter(Child("The words cannot be counted"), make_counter, threading.Event())
print(child.pid, helper.pid, flush=True)
threading.Event().wait()
"""


@pytest.mark.slow
@PROC
@pytest.mark.case(41)
def test_the_window_is_killed_and_its_processes_end(tmp_path: Path, told: Told) -> None:
    from tests.reliability.studio_process import MarkedProcess

    script = tmp_path / "parent.py"
    script.write_text(_PARENT, encoding="utf-8")
    parent = MarkedProcess(tmp_path / "own", [str(script)])
    assert parent.process.stdout is not None
    pids = [int(word) for word in parent.process.stdout.readline().split()]
    assert len(pids) == 2
    assert set(parent.family()) >= {*pids, parent.process.pid}
    parent.process.kill()
    parent.wait()
    seconds = parent.seconds_until_alone(2)
    assert seconds < 2
    told(f"nothing: the processes of the killed window ended within {seconds:.1f} s")


@PROC
@pytest.mark.case(69, 76)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("state", "end"),
    [("starting", "SIGTERM"), ("counting", "quit"), ("training", "close"), ("saving", "SIGINT"), ("dialog", "quit")],
)
def test_the_window_ends_in_any_state(tmp_path: Path, told: Told, state: str, end: str) -> None:
    from tests.reliability.processes import ended_once, make_texts

    texts = tmp_path / "texts"
    texts.mkdir()
    make_texts(texts, 25_000_000)  # a smaller one is no list of files
    ended = ended_once(tmp_path / "own", texts, state, end, 0.1)
    assert ended.fault == ""
    told(f"nothing: ended by {end} while {state}, in {ended.seconds:.1f} s")


@pytest.mark.case(73)
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "Input data was truncated"),
        (b'{"theme": "pink"}', "Invalid enum value 'pink' - at `$.theme`"),
        (b'{"demo_scale": "8"}', "Expected `int | null`, got `str` - at `$.demo_scale`"),
        (b'{"train_as_you_type": "true"}', "Expected `bool`, got `str` - at `$.train_as_you_type`"),
        (b'{"recent_files": "a.txt"}', "Expected `array`, got `str` - at `$.recent_files`"),
        (b'{"layouts": {"teach": []}}', "Expected `object`, got `array` - at `$.layouts[...]`"),
        (b'{"font_scale": 1e400}', "Number out of range"),
        (b'{"window_geometry": null}', "Expected `str`, got `null` - at `$.window_geometry`"),
        (b"[1]", "Expected `object`, got `array`"),
        (b'{"of_another_version": ' + b"[" * 100_000, "recursion"),
        (b"", "Input data was truncated"),
        (b"\xff\xfe{\0}\0", "JSON is malformed"),
        (b"cos\nsystem\n(S'echo'\ntR.", "JSON is malformed"),
    ],
)
def test_damaged_settings(tmp_path: Path, told: Told, content: bytes, reason: str) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    store = SettingsStore(tmp_path)
    copy = tmp_path / (FILE_NAME + ".bad")
    message = told(store.damage)
    assert message.startswith(f"The settings {tmp_path / FILE_NAME} are damaged: ")
    assert reason in message
    assert message.endswith(f". The defaults are used; the damaged file was kept as {copy}.")
    assert copy.read_bytes() == content
    assert store.values == StudioSettings()


@POSIX
@pytest.mark.case(73)
def test_settings_without_an_end(tmp_path: Path, told: Told) -> None:
    os.mkfifo(tmp_path / FILE_NAME)
    store = SettingsStore(tmp_path)
    assert "is not a regular file. The defaults are used." in told(store.damage)
