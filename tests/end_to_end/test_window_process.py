"""The window as a process of its own: it starts on the trained sample and ends with the right exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import qVersion

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")


class Process:
    def __init__(self, folder: Path, *arguments: str) -> None:
        self._folder = folder
        self._errors = folder / "stderr.txt"
        names = ("XDG_CONFIG_HOME", "XDG_STATE_HOME")
        environment = os.environ | {name: str(folder) for name in names} | {"QT_QPA_PLATFORM": "offscreen"}
        command = [sys.executable, "-m", "wordpiece_studio", *arguments]
        with self._errors.open("wb") as errors:
            self.process = subprocess.Popen(command, env=environment, stderr=errors)

    def wait_for_log(self, words: str) -> str:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            log = "".join(path.read_text("utf-8") for path in self._folder.rglob("studio.log"))
            if words in log:
                return log
            assert self.process.poll() is None, self._errors.read_text()
            time.sleep(0.05)
        raise AssertionError(f"the log never said {words!r}")

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        code = self.process.wait(60)
        assert "Traceback" not in self._errors.read_text()
        return code


def test_the_window_opens_on_the_trained_sample(tmp_path: Path) -> None:
    assert qVersion()
    process = Process(tmp_path)
    process.wait_for_log("the window is open, 25 merges")
    assert process.end(signal.SIGTERM) == 128 + signal.SIGTERM
    assert "WordPiece Studio ends" in process.wait_for_log("ends")


@pytest.mark.slow
def test_ctrl_c_ends_it_at_once_even_with_edits_and_questions(tmp_path: Path) -> None:
    text = tmp_path / "words.txt"
    text.write_text("hug pug\n", encoding="utf-8")
    process = Process(tmp_path, str(text))
    process.wait_for_log("the window is open")
    assert process.end(signal.SIGINT) == 128 + signal.SIGINT


@pytest.mark.slow
def test_ending_again_and_again_never_crashes(tmp_path: Path) -> None:
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        process = Process(folder)
        process.wait_for_log("starts")
        time.sleep(0.2 * number)  # in different states of the start
        code = process.end(signal.SIGTERM)
        assert code in (128 + signal.SIGTERM, -signal.SIGTERM)  # the latter before there is a window to close


@pytest.mark.slow
def test_a_file_that_is_none_opens_the_window_with_a_message(tmp_path: Path) -> None:
    path = tmp_path / "binary.txt"
    path.write_bytes(b"\x00\x01\x02" * 100)
    process = Process(tmp_path, str(path))
    log = process.wait_for_log("shown to the user")
    assert "binary.txt" in log
    process.end(signal.SIGTERM)


_START = """
import sys, time
from pathlib import Path
from PySide6.QtWidgets import QApplication
from wordpiece_studio.session.settings import SettingsStore
from wordpiece_studio.ui.main_window import MainWindow
from wordpiece_studio.ui.widgets.theme import Theme
application = QApplication([])
window = MainWindow(SettingsStore(Path(sys.argv[1])), Theme("light"))
window.open_first()
deadline = time.monotonic() + 20
while window.model.merge_count < 25 and time.monotonic() < deadline:
    application.processEvents()
assert window.model.merge_count == 25
print(*sys.modules)
window.leave_at_once()
"""


@pytest.mark.slow
def test_the_trained_sample_is_on_the_screen_without_the_compiler(tmp_path: Path) -> None:
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-c", _START, str(tmp_path)], env=environment, capture_output=True, text=True, timeout=60,
        check=True,
    )  # fmt: skip
    assert not {"numba", "llvmlite", "pyqtgraph"} & set(done.stdout.split())
