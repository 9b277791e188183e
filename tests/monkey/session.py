"""One window in one process and what the monkey does to it: `python -m tests.monkey.session SEED LOG …`.

Every action is in the log before it is done, so that it is there after a crash as well. The first fault ends the
process with exit code 3 and stands at the end of the log; without one the code is 0.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import random
import tempfile
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from platformdirs import user_cache_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.monkey.actions import Action

FAULT_CODE = 3
_ROUNDS = 10
_MOST_GROWTH = 50 << 20
_SETTLE_SECONDS, _END_SECONDS = 1.5, 20.0
_CHECK_EVERY = 8
_NOTICE_SECONDS = 15.0


def own_folders(folder: Path) -> None:
    """Let the window keep its settings, recovery and log in `folder`; compiled kernels are shared."""
    os.environ["XDG_CACHE_HOME"] = str(user_cache_path())
    for kind in ("CONFIG", "DATA", "STATE"):
        os.environ[f"XDG_{kind}_HOME"] = str(folder / "settings" / kind.lower())
    os.environ["HOME"] = str(folder)


class Session:
    """The window, the monkey's hand, and the watch for faults.

    Parameters
    ----------
    log
        Takes a line for each action, and at the end what came of it all.
    """

    def __init__(self, seed: int, folder: Path, log: TextIO) -> None:
        from PySide6.QtCore import QCoreApplication, Qt, QTimer
        from PySide6.QtGui import QDesktopServices
        from PySide6.QtWidgets import QApplication

        from tests.monkey.actions import Chooser, Hand
        from tests.monkey.agreement import FiguresCheck, files_read
        from tests.monkey.sandbox import Sandbox
        from tests.monkey.watch import FaultWatch
        from wordpiece_studio.ui.studio import GarbageCollector, give_turns

        self._log = log
        self._did = ""
        self._done = 0
        self._rng = random.Random(seed)
        QCoreApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
        self._application = QApplication(["monkey"])
        QDesktopServices.openUrl = lambda *_args: True  # type: ignore[method-assign]  # nothing outside is started
        give_turns()
        self._garbage = GarbageCollector(self._application)
        self._garbage.start()
        self._sandbox = Sandbox(folder, random.Random(seed))
        self._hand, self._chooser = Hand(self._sandbox), Chooser(self._rng, self._sandbox)
        self._watch = FaultWatch(self.fail)
        self._rescue = QTimer(interval=1000)
        self._rescue.timeout.connect(_end_nested_loops)
        self._window: Any = None
        self._figures_check = FiguresCheck(self._run_loop)
        self._chooser.files_read = lambda: [] if self._window is None else files_read(self._window)
        self._is_closed = True
        self._longest: tuple[float, str] = (0.0, "")

    # -- what is done

    def actions(self, count: int, until: float) -> Iterator[Action]:
        """Yield a beginning, random actions, at most `count` and until that time, and an end."""
        from tests.monkey.actions import Action

        yield Action("open", data={"paths": []})
        for _ in range(count):
            if time.monotonic() > until:
                break
            if self._is_closed:
                yield Action("open", data={"paths": self._some_paths()})
            elif self._rng.random() < 0.002:
                yield Action("close")
            elif self._rng.random() < 0.004:
                yield Action("figures", data={"text": self._rng.choice(("middle.txt", "counts.tsv", "marked.txt"))})
            else:
                yield self._chooser.draw()
        yield Action("rounds")
        yield Action("end")

    def run(self, actions: Iterator[Action]) -> None:
        """Do them, one after the other."""
        from tests.monkey.watch import Fault

        try:
            self._run(actions)
        except Exception as error:  # of an action itself, which Qt does not hand to the watch
            self.fail(Fault("action", f"{type(error).__name__}: {error}", traceback.format_exc()))
        self._write_end()

    def _run(self, actions: Iterator[Action]) -> None:
        for action in actions:
            self._log.write(action.to_json() + "\n")
            self._log.flush()
            self._did = action.to_json()
            self._do(action)
            self._run_loop(action.pause_ms / 1000)
            self._note_stall()
            self._done += 1
            if self._done % _CHECK_EVERY == 0:
                self._check_agreement()

    def fail(self, fault: Any) -> NoReturn:
        """Write the fault to the log and end the process."""
        self._note_stall()
        self._write_end({"kind": fault.kind, "line": fault.line, "details": fault.details, "action": self._did})
        os._exit(FAULT_CODE)

    def _write_end(self, fault: dict[str, str] | None = None) -> None:
        longest, where = self._longest
        end = {"done": self._done, "longest_stall": longest, "stall": where, "fault": fault}
        self._log.write(json.dumps({"end": end}) + "\n")
        self._log.flush()

    def _note_stall(self) -> None:
        seconds, where = self._watch.longest_stall
        if seconds > self._longest[0]:
            self._longest = (seconds, f"{self._did}\n{where}")

    def _do(self, action: Action) -> None:
        own = {"open": self._open, "close": self._close, "rounds": self._rounds, "end": self._end}
        own["figures"] = self._show_figures
        if action.kind in own:
            own[action.kind](**action.data)
        elif not self._is_closed:
            self._rescue.start()
            self._hand.do(action)
            self._rescue.stop()

    def _some_paths(self) -> list[str]:
        paths = self._sandbox.paths()
        chosen = self._rng.sample(paths, k=self._rng.choice((0, 0, 1, 1, 3)))
        return [str(path.relative_to(self._sandbox.folder)) for path in chosen]

    def _open(self, paths: list[str]) -> None:
        from wordpiece_studio.session.settings import SettingsStore, default_folder
        from wordpiece_studio.ui.main_window import MainWindow
        from wordpiece_studio.ui.widgets.theme import Theme

        if not self._is_closed:
            return
        settings = SettingsStore(default_folder())
        theme = Theme(settings.values.theme)
        theme.apply_to(self._application)
        theme.set_scale(settings.values.font_scale / 100)
        self._window = window = MainWindow(settings, theme)
        window.closed.connect(self._on_window_closed)
        window.messages.catch_faults()
        self._watch.take_exceptions()
        window.open_first([str(self._sandbox.folder / path) for path in paths])
        window.show_soon()
        self._is_closed = False

    def _on_window_closed(self) -> None:
        self._is_closed = True

    def _close(self) -> None:
        """Close the window in whatever state it is."""

        if self._window is not None:
            self._window.leave_at_once()
            self._window.take_down()
            self._window, self._is_closed = None, True

    def _show_figures(self, text: str) -> None:
        """Show what tokenizers in files make of a file, which chance alone seldom does."""
        from wordpiece_studio.session.tokenizer_figures import FiguresText

        if self._is_closed:
            return
        figures = self._window.session.figures
        figures.open([str(self._sandbox.folder / name) for name in ("vocab.txt", "tokenizer.json")])
        figures.measure_on(FiguresText("files", (str(self._sandbox.folder / text),)))
        self._window.actions_.figures.trigger()

    # -- what must hold

    def _run_loop(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        self._rescue.start()  # a drag may begin after the button was released
        self._application.processEvents()
        while (left := end - time.monotonic()) > 0:
            self._application.processEvents()
            time.sleep(min(left, 0.002))
        self._rescue.stop()
        if self._is_closed and self._window is not None:
            self._close()

    def _wait_settled(self, seconds: float) -> bool:
        from tests.monkey.agreement import is_settled

        end = time.monotonic() + seconds
        while not self._is_closed and time.monotonic() < end:
            if is_settled(self._window):
                return True
            self._run_loop(0.01)
        return False

    def _check_agreement(self) -> None:
        from tests.monkey.agreement import disagreements, outdated
        from tests.monkey.watch import Fault

        if self._is_closed or not self._wait_settled(_SETTLE_SECONDS):
            return
        for found in disagreements(self._window):
            self.fail(Fault("disagreement", found))
        end = time.monotonic() + _NOTICE_SECONDS  # that is how long another program's change may go unnoticed
        while found := outdated(self._window) or self._figures_check.disagreement(self._window):
            if time.monotonic() > end:
                self.fail(Fault("disagreement", found))
            self._run_loop(0.3)
            if self._is_closed or not self._wait_settled(_END_SECONDS):
                return

    def _rounds(self) -> None:
        """Make new corpora and train them, the same ones ten times, and see what that leaves in memory."""
        from tests.monkey.watch import Fault, memory_bytes

        self._close()
        self._open([])
        self._wait_settled(_END_SECONDS)
        self._new_round()
        before = memory_bytes()
        for _ in range(_ROUNDS):
            self._new_round()
        growth = memory_bytes() - before
        if growth > _MOST_GROWTH:
            self.fail(Fault("memory", f"{growth >> 20} MB more after {_ROUNDS} rounds"))

    def _new_round(self) -> None:
        from PySide6.QtWidgets import QApplication, QMessageBox

        window = self._window
        window.actions_.new_corpus.trigger()
        self._run_loop(0.01)
        question = QApplication.activeModalWidget()
        if isinstance(question, QMessageBox):
            question.button(QMessageBox.StandardButton.Discard).click()
            self._run_loop(0.01)
        window.session.document.set_text(self._sandbox.middle_text)
        self._wait_settled(_END_SECONDS)
        window.actions_.train.trigger()
        self._wait_settled(_END_SECONDS)
        window.model.seek(window.model.merge_count // 2)
        self._wait_settled(_END_SECONDS)

    def _end(self) -> None:
        """Close the window, and see what stays behind."""
        from tests.leftovers import left_since
        from tests.monkey.watch import Fault, children

        self._close()
        self._garbage.stop()
        left = [words for words in left_since({}) if not _is_ours(words)]
        end = time.monotonic() + 2
        while (processes := children()) and time.monotonic() < end:
            time.sleep(0.05)
        if left or processes:
            self.fail(Fault("left over", "; ".join((*left, *processes))))


def _is_ours(words: str) -> bool:
    return words in ("thread MainThread", "thread stall watch") or "FaultWatch" in words or "StallWatch" in words


def _end_nested_loops() -> None:
    """End what waits for a person: a menu, a drag, a question of a file dialog."""
    from PySide6.QtGui import QDrag, QGuiApplication
    from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox

    if QGuiApplication.platformName() != "offscreen":  # where a drag ends at once, and cannot be ended
        QDrag.cancel()
    if (popup := QApplication.activePopupWidget()) is not None:
        popup.close()
        return
    for box in QApplication.topLevelWidgets():  # one of ours may have come before it
        if isinstance(box, QMessageBox) and isinstance(box.parentWidget(), QFileDialog) and box.isVisible():
            box.reject()


def main() -> None:
    """Run the session that the arguments ask for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int)
    parser.add_argument("log", type=Path)
    parser.add_argument("--actions", type=int, default=1500)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--replay", type=Path, help="do the actions of this file instead of random ones")
    arguments = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    replayed = arguments.replay.read_text("utf-8").splitlines() if arguments.replay is not None else None
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name,
        arguments.log.open("w", encoding="utf-8") as log,
    ):
        faulthandler.enable(log, all_threads=False)
        folder = Path(name) / "sandbox"
        folder.mkdir()
        own_folders(folder)
        os.chdir(folder)  # where file dialogs begin
        session = Session(arguments.seed, folder, log)
        if replayed is not None:
            from tests.monkey.actions import Action

            session.run(map(Action.from_json, replayed))
            os._exit(0)  # with the window as it is: only the tail of a session may have been played
        else:
            session.run(session.actions(arguments.actions, time.monotonic() + arguments.seconds))


if __name__ == "__main__":
    main()
