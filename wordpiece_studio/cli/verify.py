"""``wordpiece-studio verify`` and ``wordpiece-studio prepare``."""

from __future__ import annotations

import dataclasses
import time
from functools import partial
from typing import TYPE_CHECKING

from wordpiece_studio.cli.messages import number_of, print_result, progress, warn
from wordpiece_studio.cli.options import JSON, PROCESSES, WORD_COUNTS, report_counting
from wordpiece_studio.cli.parameters import CliCommand, argument
from wordpiece_studio.compiled.kernel_cache import (
    KERNEL_PACKAGES,
    cache_folder,
    kernels_are_cached,
    load_kernels,
    number_of_kernels,
)
from wordpiece_studio.system.printable import display_name, printable

if TYPE_CHECKING:
    from wordpiece_studio.storage.verification import Verification

_WIDTH = len("unchecked")


class VerifyCommand(CliCommand):
    place: str = argument("The export: a folder, or a file with its manifest next to it.", "DIR|FILE")
    sources: list[str] = argument(
        "A project, an exported table of word counts, or the files of the corpus. By default the table in DIR, or the "
        "files that the manifest names.",
        "FROM",
        default=None,
    )
    as_json: bool = JSON
    word_counts: bool = WORD_COUNTS
    processes: int | None = PROCESSES

    def run(self) -> int:
        from wordpiece_studio.storage.verification import verify  # no other command needs it

        started = time.monotonic()
        with progress() as report:
            result = verify(
                self.place,
                self.sources,
                is_counts=self.word_counts,
                processes=self.processes,
                counting=partial(report_counting, report),
                training=lambda done, merges: report("Training", done, merges),
            )
        seconds = time.monotonic() - started
        if not self.as_json:
            warn(*(f"{name} was version {then} then, and is {now} now." for name, then, now in result.versions))
            warn(*result.notes)
        versions = [dict(zip(("name", "then", "now"), each, strict=True)) for each in result.versions]
        summary = {"place": self.place, "agrees": result.agrees, **dataclasses.asdict(result), "versions": versions,
                   "seconds": round(seconds, 3)}  # fmt: skip
        print_result(summary, _printed(result, self.place, seconds), as_json=self.as_json)
        return 0 if result.agrees else 1


def _printed(result: Verification, place: str, seconds: float) -> str:
    lines = []
    for check in result.checks:
        detail = f"  ({check.detail})" if check.detail else ""
        lines.append(printable(f"{check.outcome:<{_WIDTH}}  {check.name}{detail}"))
    differing = sum(check.outcome == "differs" for check in result.checks)
    compared = sum(check.outcome != "unchecked" for check in result.checks)
    outcome = f"all {compared} agree" if result.agrees else f"{differing} of {compared} differ"
    if not compared:
        outcome = "nothing could be compared"
    learned = f"{result.tokens:,} tokens after {result.merges:,} merges, " if result.tokens else ""
    return "\n".join([*lines, f"{display_name(place)}: {outcome} ({learned}from {result.source}, in {seconds:.1f} s)"])


# ---- prepare ---------------------------------------------------------------------------------------------------------


class PrepareCommand(CliCommand):
    as_json: bool = JSON

    def run(self) -> None:
        started = time.monotonic()
        compiled = []
        with progress():
            for package in KERNEL_PACKAGES:
                if not kernels_are_cached(package):
                    compiled.append(package)
                load_kernels(package)  # also finds out whether the cache is damaged
        seconds, folder = time.monotonic() - started, cache_folder("text").parent
        kernels = {package: number_of_kernels(package) for package in KERNEL_PACKAGES}
        lines = [f"Compiled the {package} engine: {number_of(kernels[package], 'kernel')}." for package in compiled]
        done = f"in {seconds:.1f} s" if compiled else "before"
        lines.append(f"Everything was compiled {done}, and is kept in {display_name(folder)}")
        engines = [{"name": name, "kernels": kernels[name], "compiled": name in compiled} for name in KERNEL_PACKAGES]
        summary = {"engines": engines, "folder": str(folder), "seconds": round(seconds, 3)}
        print_result(summary, "\n".join(lines), as_json=self.as_json)
