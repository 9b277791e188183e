"""``wordpiece-studio verify``."""

from __future__ import annotations

import dataclasses
import time
from functools import partial
from typing import TYPE_CHECKING

from wordpiece_studio.cli.messages import print_result, progress, warn
from wordpiece_studio.cli.options import JSON, PROCESSES, WORD_COUNTS, report_counting
from wordpiece_studio.cli.parameters import CliCommand, argument
from wordpiece_studio.system.printable import display_name, printable

if TYPE_CHECKING:
    from wordpiece_studio.storage.verification import Verification

_WIDTH = len("unchecked")


class VerifyCommand(CliCommand):
    """Train again, and report for each exported file whether its bytes agree. The exit code is 0 if all do."""

    place: str = argument("The export: a folder, or a file with its manifest next to it.", "DIR|FILE")
    sources: list[str] | None = argument(
        "A project, an exported table of word counts, or the files of the corpus. By default the table in DIR, or the "
        "files that the manifest names.",
        "FROM",
        default=None,
        show_default=False,
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
                self.sources or (),
                is_counts=self.word_counts,
                processes=self.processes,
                counting=partial(report_counting, report),
                training=lambda done, merges: report("Training", done, merges),
            )
        seconds = time.monotonic() - started
        if not self.as_json:
            warn(*(f"{name} was version {then} then, and is {now} now." for name, then, now in result.versions))
            warn(*result.notes)
        summary = _summary(result, self.place, seconds)
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


def _summary(result: Verification, place: str, seconds: float) -> dict[str, object]:
    return {
        "place": place,
        "agrees": result.agrees,
        "source": result.source,
        "tokens": result.tokens,
        "merges": result.merges,
        "checks": [dataclasses.asdict(check) for check in result.checks],
        "versions": [{"name": name, "then": then, "now": now} for name, then, now in result.versions],
        "notes": list(result.notes),
        "seconds": round(seconds, 3),
    }
