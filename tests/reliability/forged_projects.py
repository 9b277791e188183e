"""Forged projects in the real window: `python -m tests.reliability.forged_projects --projects 2000 --seed N`.

Each is opened, looked at from all sides, and followed by the next, in the same window. Faults are what the monkey's
watch knows: exceptions, Qt's warnings, lines in the log, stalls of the window's thread over 2 s; and a process that
dies or hangs, more than one message for one project, and 1 GB of memory. One can be made again by seed and number:
``--only NUMBER`` opens it alone. The last twentieth of them have live texts that are huge.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST_MEMORY = 1_000_000_000
_HANG_SECONDS = 120.0
_OPEN_SECONDS, _SETTLE_SECONDS = 60.0, 30.0  # of a machine that may be loaded
_AT_ONCE = 100
"""Projects in one window."""


@dataclass(slots=True)
class Result:
    """What became of one or more projects; memory in bytes, at its highest."""

    opened: int = 0
    refused: int = 0
    memory: int = 0
    memory_of: int = -1
    stall: float = 0.0
    stall_of: int = -1
    faults: list[str] = field(default_factory=list)

    def take(self, told: dict[str, Any]) -> None:
        """Take in what was told of a project."""
        number = told["number"]
        self.opened += told["opened"]
        self.refused += not told["opened"]
        if told["memory"] > self.memory:
            self.memory, self.memory_of = told["memory"], number
        if told["stall"] > self.stall:
            self.stall, self.stall_of = told["stall"], number
        self.faults += [f"{number}: {fault}" for fault in told["faults"]]


def made(seed: int, number: int, projects: int) -> tuple[bytes, list[str]]:
    """Return the project of this number, and what is wrong with it."""
    from tests.reliability.forgeries import forged

    return forged(random.Random(f"{seed} {number}"), huge=number >= projects - projects // 20)


# ---- in the process that has the window ------------------------------------------------------------------------------


class Looker:
    """A window, and someone who opens one project after the other in it."""

    def __init__(self) -> None:
        from PySide6.QtWidgets import QApplication

        from tests.monkey.watch import FaultWatch
        from wordpiece_studio.session.settings import SettingsStore, default_folder
        from wordpiece_studio.ui.main_window import MainWindow
        from wordpiece_studio.ui.messages import Messages
        from wordpiece_studio.ui.widgets.theme import Theme

        self._application = QApplication(["forged"])
        self._faults: list[str] = []
        self._told: list[str] = []
        show = Messages.show_error
        Messages.show_error = lambda messages, error: (self._told.append(str(error)), show(messages, error))[1]  # type: ignore[method-assign, assignment]
        settings = SettingsStore(default_folder())
        theme = Theme(settings.values.theme)
        theme.apply_to(self._application)
        self.window = MainWindow(settings, theme)
        self._watch = FaultWatch(self._on_fault)
        self.window.resize(1500, 950)
        self.window.show()
        self.window.view_controller.choose_layout("engineer")

    def look(self, path: Path) -> dict[str, Any]:
        """Open a project and return what came of it."""
        self._faults, self._told = [], []
        self._watch.stalls.longest = (0.0, "")
        _reset_memory()
        window, model = self.window, self.window.model
        serial = window.project.serial
        window.project_controller.open(path)
        self._wait(
            lambda: not window.project_controller.opening.is_running and not window.project.reading.is_running,
            _OPEN_SECONDS,
        )
        if len(self._told) > 1:
            self._faults.append(f"{len(self._told)} messages: {self._told}")
        is_restored = window.project.serial != serial
        if is_restored:
            self._close_messages()
            self._settle()
            for action in self._actions():
                action()
                self._settle()
        elif not self._told:
            self._faults.append("neither opened nor refused")
        self._close_messages()
        model.seek(0)
        stall, where = self._watch.longest_stall
        told = {"opened": is_restored, "told": self._told, "faults": self._faults, "stall": stall, "where": where}
        return {**told, "memory": _most_memory()}

    def _actions(self) -> list[Callable[[], object]]:
        from PySide6.QtCore import Qt

        from wordpiece_studio.storage.view import Selection
        from wordpiece_studio.ui.panes.tokenization.live_chips import ChipPlace

        window, model = self.window, self.window.model
        history, tokens = model.history, model.vocabulary_at(model.merge_count)
        token = list(tokens)[-1] if tokens is not None and len(tokens) else "##gs"
        last = history[len(history) - 1] if history is not None and len(history) else None
        pair = (
            Selection("pair", left=last.left, right=last.right) if last is not None else Selection("pair", "h", "##u")
        )
        selections = [Selection("token", text=token), pair, Selection("word", text="hugs")]
        acts: list[Callable[[], object]] = [
            *(lambda selection=selection: model.set_selection(selection) for selection in selections),
            lambda: model.seek(model.merge_count // 2),
            model.next_merge,
            lambda: model.seek(model.step - 1),
            lambda: model.set_selection(selections[0]),
            model.last,
            lambda: window.tokenization_pane.chips.chosen.emit((ChipPlace(0, 0, 0), False)),
        ]
        for table in (window.vocabulary_pane.table, window.history_pane.rows):
            acts += [lambda t=table, c=column: t.sort(c, Qt.SortOrder.DescendingOrder)
                     for column in range(0, table.columnCount(), 3)]  # fmt: skip
            acts.append(lambda t=table: t.sort(t.columnCount() - 2))
            acts.append(lambda t=table: t.sort(-1 if t is window.history_pane.rows else 0))
        return [*acts, lambda: model.seek(0), lambda: window.view_controller.choose_layout("teach"), model.last,
                lambda: window.view_controller.choose_layout("engineer")]  # fmt: skip

    def _close_messages(self) -> None:
        from PySide6.QtWidgets import QApplication, QMessageBox

        self._turn()
        for box in [each for each in QApplication.topLevelWidgets() if isinstance(each, QMessageBox)]:
            box.done(0)
        self._turn()

    def _settle(self) -> None:
        from tests.monkey.agreement import is_settled

        self._turn()
        self._wait(lambda: is_settled(self.window), _SETTLE_SECONDS)

    def _wait(self, condition: Callable[[], bool], seconds: float) -> None:
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                self._faults.append(f"not settled after {seconds:.0f} s")
                return
            self._turn()
            time.sleep(0.002)

    def _turn(self) -> None:
        self._application.processEvents()

    def _on_fault(self, fault: Any) -> None:
        self._faults.append(f"{fault.kind}: {fault.line}")
        print(fault.details, file=sys.stderr, flush=True)  # noqa: T201


def _reset_memory() -> None:
    if sys.platform == "linux":
        Path("/proc/self/clear_refs").write_text("5")


def _most_memory() -> int:
    """Return the most memory held since `_reset_memory`."""
    if sys.platform != "linux":
        return 0
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def _work(arguments: argparse.Namespace) -> None:
    """Look at projects and print a line for each."""
    from tests.monkey.session import own_folders

    faulthandler.enable()
    with tempfile.TemporaryDirectory() as name:
        own_folders(Path(name))
        looker = Looker()
        for path in sorted(arguments.child.glob("*.wpstudio")):
            print(json.dumps({"begun": int(path.stem)}), flush=True)  # noqa: T201
            print(json.dumps({"number": int(path.stem), **looker.look(path)}), flush=True)  # noqa: T201
        os._exit(0)


# ---- in the process that counts --------------------------------------------------------------------------------------


def looked_at(seed: int, projects: int, first: int, last: int) -> Result:
    """Have the projects `first` to `last` (exclusive) looked at; a process that dies or hangs is a fault."""
    result, changes = Result(), {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(first, last):
            data, changes[number] = made(seed, number, projects)
            (folder / f"{number:06}.wpstudio").write_bytes(data)
        while waiting := sorted(folder.glob("*.wpstudio")):
            lines, end = _child(folder)
            for line in lines:
                if "number" in line:
                    result.take(line)
            looked = {line.get("number", line.get("begun")) for line in lines}
            begun = max(looked, default=int(waiting[0].stem))
            if not any(line.get("number") == begun for line in lines):
                result.faults.append(f"{begun}: the process {end}")
            for path in waiting:
                if int(path.stem) <= begun:
                    path.unlink()
    result.faults = [f"{fault} ({'; '.join(changes[int(fault.partition(':')[0])])})" for fault in result.faults]
    return result


def _child(folder: Path) -> tuple[list[dict[str, Any]], str]:
    """Have a process look at what is in a folder; return what it said, and how it ended."""
    with tempfile.TemporaryFile("w+") as output:
        command = [sys.executable, "-m", "tests.reliability.forged_projects", "--child", str(folder)]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output)
        hangs = _wait(process, output)
        output.seek(0)
        lines = [json.loads(line) for line in output if line.startswith("{") and line.endswith("\n")]
    return lines, "hangs" if hangs else f"ended with {process.returncode}"


def _wait(process: subprocess.Popen[bytes], output: Any) -> bool:
    """Wait for a process; end one that says nothing any more, and return whether it did."""
    size, changed = -1, time.monotonic()
    while process.poll() is None:
        time.sleep(0.1)
        now = os.fstat(output.fileno()).st_size
        if now != size:
            size, changed = now, time.monotonic()
        if time.monotonic() - changed > _HANG_SECONDS:
            process.send_signal(signal.SIGABRT)  # faulthandler writes where it hangs
            process.wait()
            return True
    return False


def report(total: Result) -> list[str]:
    """Return the table, and the faults; memory over the limit is one."""
    if total.memory > MOST_MEMORY:
        total.faults.append(f"{total.memory_of}: {total.memory / 1e6:,.0f} MB of memory")
    return [
        f"{total.opened + total.refused:,} projects: {total.opened:,} opened, {total.refused:,} refused with a message",
        f"highest memory {total.memory / 1e6:,.0f} MB (project {total.memory_of}), "
        f"longest stall {total.stall:.2f} s (project {total.stall_of})",
        *total.faults,
        f"FAILED, {len(total.faults)} faults" if total.faults else "passed: no exception, no stall over 2 s",
    ]


def main(given: Sequence[str] | None = None) -> int:
    """Look at all of them; return 1 if there was a fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--projects", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="keep the projects with faults here")
    parser.add_argument("--stop", type=int, help="look only at the projects before this number")
    parser.add_argument("--only", type=int, help="look at the project with this number alone")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args(given)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    if arguments.child:
        _work(arguments)
    seed, projects = arguments.seed, arguments.projects
    numbers = range(projects)[: arguments.stop] if arguments.only is None else range(arguments.only, arguments.only + 1)
    edges = [(first, min(first + _AT_ONCE, numbers.stop)) for first in range(numbers.start, numbers.stop, _AT_ONCE)]
    total, began = Result(), time.monotonic()

    def work(edge: tuple[int, int]) -> Result:
        return looked_at(seed, projects, *edge)

    with ThreadPoolExecutor(arguments.workers) as pool:
        for (first, last), found in zip(edges, pool.map(work, edges), strict=True):
            _add(total, found)
            print(f"{first} to {last}: {found.opened} opened, {found.refused} refused, {found.memory / 1e6:,.0f} MB, "  # noqa: T201
                  f"{found.stall:.2f} s, {len(found.faults)} faults", flush=True)  # fmt: skip
    if arguments.folder is not None:
        wanted = {int(fault.partition(":")[0]) for fault in total.faults} | ({arguments.only} - {None})
        arguments.folder.mkdir(parents=True, exist_ok=True)
        for number in sorted(wanted):
            (arguments.folder / f"{seed}-{number}.wpstudio").write_bytes(made(seed, number, projects)[0])
    print(*report(total), f"in {time.monotonic() - began:.0f} s", sep="\n")  # noqa: T201
    return int(bool(total.faults))


def _add(total: Result, found: Result) -> None:
    total.opened, total.refused = total.opened + found.opened, total.refused + found.refused
    if found.memory > total.memory:
        total.memory, total.memory_of = found.memory, found.memory_of
    if found.stall > total.stall:
        total.stall, total.stall_of = found.stall, found.stall_of
    total.faults += found.faults


if __name__ == "__main__":
    sys.exit(main())
