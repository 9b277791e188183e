"""Structs can be decoded by several threads at once, from the first time on."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading
import msgspec
from wordpiece_studio.storage.view import Bookmark, Breakpoint, Selection, View
from wordpiece_studio.storage.project.contents import ProjectSettings

sys.setswitchinterval(1e-6)
note, mark = {"step": 1, "text": "a", "token": "b"}, {"kind": "token", "text": "a", "number": 1.0, "is_enabled": True}
focus = {"kind": "pair", "left": "a", "right": "b"}
view = {"step": 1, "selection": focus, "notes": [note, note], "breakpoints": [mark, mark]}
settings = {"training": {"a": 1}, "normalizer": {}, "pre_tokenizer": {}, "max_word_length": 100}
parts = {View: view, ProjectSettings: settings, Selection: focus, Bookmark: note, Breakpoint: mark}
for kind, values in parts.items():
    barrier = threading.Barrier(8)

    def decode() -> None:
        barrier.wait()
        for _ in range(5):
            msgspec.convert(values, kind)

    threads = [threading.Thread(target=decode) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print("alive")
"""


@pytest.mark.slow
def test_threads_that_decode_for_the_first_time_at_once() -> None:
    for _ in range(5):
        done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
        assert done.stdout == "alive\n", done.stderr
