"""``wordpiece-studio verify``."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Annotated

from wordpiece_studio.cli.messages import print_line, progress, warn
from wordpiece_studio.cli.options import TEXT, JsonOption, WordCountsOption, option
from wordpiece_studio.cli.parameters import Argument
from wordpiece_studio.system.printable import display_name, printable, printable_json

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import CountingProgress
    from wordpiece_studio.storage.verification import Verification

_WIDTH = len("unchecked")


def verify_command(
    place: Annotated[
        str,
        Argument(metavar="DIR|FILE", help="The export: a folder, or a file with its manifest next to it."),
    ],
    sources: Annotated[
        list[str] | None,
        Argument(
            metavar="FROM",
            help="A project, an exported table of word counts, or the files of the corpus. By default the table in "
            "DIR, or the files that the manifest names.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
    word_counts: WordCountsOption = False,
    processes: Annotated[
        int | None,
        option("Count in this many processes at once.", TEXT, metavar="N", show_default="as many as pay off"),
    ] = None,
) -> int:
    """Train again, and report for each exported file whether its bytes agree. The exit code is 0 if all do."""
    from wordpiece_studio.storage.verification import verify  # no other command needs it

    started = time.monotonic()
    with progress() as report:

        def report_counting(counting: CountingProgress) -> None:
            report("Counting", counting.bytes_done, counting.bytes_total)

        result = verify(
            place,
            sources or (),
            is_counts=word_counts,
            processes=processes,
            counting=report_counting,
            training=lambda done, merges: report("Training", done, merges),
        )
    seconds = time.monotonic() - started
    if as_json:
        print_line(_summary(result, place, seconds))
    else:
        _print(result, place, seconds)
    return 0 if result.agrees else 1


def _print(result: Verification, place: str, seconds: float) -> None:
    for name, then, now in result.versions:
        warn(f"{name} was version {then} then, and is {now} now.")
    for note in result.notes:
        warn(note)
    for check in result.checks:
        detail = f"  ({check.detail})" if check.detail else ""
        print_line(printable(f"{check.outcome:<{_WIDTH}}  {check.name}{detail}"))
    differing = sum(check.outcome == "differs" for check in result.checks)
    compared = sum(check.outcome != "unchecked" for check in result.checks)
    outcome = f"all {compared} agree" if result.agrees else f"{differing} of {compared} differ"
    if not compared:
        outcome = "nothing could be compared"
    learned = f"{result.tokens:,} tokens after {result.merges:,} merges, " if result.tokens else ""
    print_line(f"{display_name(place)}: {outcome} ({learned}from {result.source}, in {seconds:.1f} s)")


def _summary(result: Verification, place: str, seconds: float) -> str:
    return printable_json(
        {
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
    )
