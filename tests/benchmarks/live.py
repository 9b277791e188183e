"""From the last key to the panes: ``python -m tests.benchmarks.live [--keys 20]``.

Opens the real window, loads the kernels, puts a corpus of 1, 10 and 100 KB into the editor and types into the middle of
it: one key at a time, waiting each time until the new run is seen, and fast, in bursts. Measured is the time from the
last key press until history, scoreboard with its candidates and tokenization have been painted with the run of the text
as it is then; beside it the gaps between the ticks of a 2 ms timer.
"""

from __future__ import annotations

import argparse
import itertools
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget

from tests.benchmarks.bench import SHARED
from tests.benchmarks.corpus import blocks
from tests.benchmarks.event_loop import GapProbe
from tests.benchmarks.table import Bar, Report, Row
from tests.event_loop import wait
from wordpiece_studio.session.settings import SettingsStore
from wordpiece_studio.ui.main_window import MainWindow
from wordpiece_studio.ui.studio import GarbageCollector, give_turns
from wordpiece_studio.ui.widgets.theme import Theme

_KILOBYTES = (1, 10, 100)
_HUMAN_MS = 110  # between two keys of a quick typist
_BURST, _FAST_MS = 12, 30  # as a key that is held down
_PARTS = (
    "Last key to the panes, one key at a time",
    "Last key to the panes, after a burst of keys",
    "Gaps of the event loop while typing: 99 of 100",
    "Gaps of the event loop while typing: longest",
)
_BAR_MS, _P99_MS, _LONGEST_MS = 100, 50, 100


@dataclass(frozen=True)
class Language:
    """A corpus, by the name of its file or, without that, by a range of characters; and what is typed into it."""

    name: str
    file: str
    characters: tuple[str, str]
    typed: str


LANGUAGES = (
    Language("English", "course-en.txt", ("a", "z"), "the quick brown tokenizer learns every key "),
    Language("Korean", "course-ko.txt", ("가", "힣"), "토크나이저는 모든 글자를 배웁니다 "),
    Language("Chinese", "course-zh-CN.txt", ("一", "鿿"), "分词器学习每一个汉字 的 学 习 "),
)


def corpus(language: Language, kilobytes: int) -> str:
    """Return the beginning of the real corpus, or of the generated lines in the script of the language."""
    path = SHARED / language.file
    if path.is_file():
        text = path.read_text(encoding="utf-8")
    else:
        first, last = language.characters
        lines = itertools.chain.from_iterable(block.splitlines() for block in blocks())
        fitting = (line for line in lines if 4 * sum(first <= letter <= last for letter in line) > len(line))
        text = "\n".join(itertools.islice(fitting, 8 * kilobytes + 10))
    return text.encode()[: kilobytes * 1000].decode("utf-8", "ignore")


class PaintWatch(QObject):
    """Notes when one of some widgets was painted last."""

    def __init__(self, panes: list[QWidget]) -> None:
        super().__init__()
        self.last = 0.0
        for pane in panes:
            for widget in (pane, *pane.findChildren(QWidget)):
                widget.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self.last = time.perf_counter()
        return False


class Typist(QObject):
    """Types into the editor of a window and waits for the panes."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__()
        self._window = window
        self._panes = [window.history_pane, window.scoreboard_pane, window.tokenization_pane]
        self._watch = PaintWatch([*self._panes])
        self._candidates_of: object = None
        self._history_before: object = None
        window.model.candidates_changed.connect(self._on_model_candidates_changed)

    def press(self, letter: str) -> float:
        """Press a key; return when."""
        self._history_before = self._window.model.history
        now = time.perf_counter()
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            event = QKeyEvent(kind, Qt.Key.Key_unknown, Qt.KeyboardModifier.NoModifier, letter)
            QApplication.sendEvent(self._window.corpus_pane.editor, event)
        return now

    def shown(self, since: float) -> list[float]:
        """Wait until the run of the present text is seen; return the milliseconds since then, if it is another run.

        A blank, for one, changes no word and begins no run.
        """
        wait(self._is_current)
        if self._window.model.history is self._history_before:
            return []
        before = -1.0
        while self._watch.last != before:  # what was asked to be painted is
            before = self._watch.last
            for _ in range(3):
                QApplication.processEvents()
        return [(self._watch.last - since) * 1000]

    def _is_current(self) -> bool:
        model, counting = self._window.model, self._window.session.counting
        if counting.counts is None or model.is_replacing or model.counts != counting.counts:
            return False
        return self._candidates_of is model.history and not any(pane.is_stale for pane in self._panes)

    def _on_model_candidates_changed(self, _candidates: object) -> None:
        self._candidates_of = self._window.model.history


def pause(milliseconds: float) -> None:
    """Let the window run for a while."""
    end = time.perf_counter() + milliseconds / 1000
    wait(lambda: time.perf_counter() >= end)


def measure(window: MainWindow, language: Language, kilobytes: int, keys: int, size: int | None) -> list[Row]:
    """Type into one corpus; return a row each for keys one by one, bursts, and the gaps while all that went on."""
    name = f"{language.name}, {kilobytes} KB"
    window.session.document.clear()
    window.session.document.set_text(corpus(language, kilobytes))
    wait(lambda: window.session.counting.counts is not None)
    if size is not None:
        window.session.settings.set_target_size(size)
        window.actions_.train.trigger()
    typist = Typist(window)
    editor = window.corpus_pane.editor
    editor.select(editor.document().characterCount() // 2)
    letters = itertools.cycle(language.typed)
    typist.shown(typist.press("x"))
    pause(300)
    probe = GapProbe()
    single: list[float] = []
    bursts: list[float] = []
    while len(single) < keys:
        pressed = typist.press(next(letters))
        single += typist.shown(pressed)
        pause(_HUMAN_MS - (time.perf_counter() - pressed) * 1000)
    while len(bursts) < max(2, keys // 5):
        for _ in range(_BURST):
            pause(_FAST_MS)
            last = typist.press(next(letters))
        bursts += typist.shown(last)
        pause(_HUMAN_MS)
    gaps = sorted(probe.gaps_ms)
    probe.deleteLater()
    window.model.candidates_changed.disconnect(typist._on_model_candidates_changed)
    merges = f"{window.model.merge_count:,} merges"
    bar = Bar("≤", _BAR_MS)
    return [
        Row(_PARTS[0], name, tuple(single), "ms", bar, f"worst {max(single):.0f}; {merges}"),
        Row(_PARTS[1], name, tuple(bursts), "ms", bar, f"worst {max(bursts):.0f}"),
        Row(_PARTS[2], name, (gaps[len(gaps) * 99 // 100],), "ms", Bar("≤", _P99_MS)),
        Row(_PARTS[3], name, (gaps[-1],), "ms", Bar("≤", _LONGEST_MS)),
    ]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=20, help="keys for each corpus, one by one")
    parser.add_argument("--size", type=int, help="tokens to train to; else what is proposed for the corpus")
    parser.add_argument("--kilobytes", type=int, nargs="+", default=_KILOBYTES)
    arguments = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QApplication([])
    give_turns()
    garbage = GarbageCollector(application)
    garbage.start()
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        window = MainWindow(SettingsStore(Path(folder)), Theme("light"))
        window.open_first()
        window.resize(1440, 900)
        window.show()
        window.session.warm_up.ask()
        wait(lambda: window.session.warm_up.answer is not None)
        for language in LANGUAGES:
            for kilobytes in arguments.kilobytes:
                report.rows += measure(window, language, kilobytes, arguments.keys, arguments.size)
        window.leave_at_once()
        window.take_down()
    report.rows.sort(key=lambda row: _PARTS.index(row.part))
    report.print()


if __name__ == "__main__":
    main()
