"""Compares two checkouts in what a change of the code must leave as it is, and prints what differs.

``python -m tests.unchanged BASE [NEW]`` records both, each by its own code, and compares the records one by one; NEW is
this checkout unless given. It prints every difference and a table, and ends with 1 if anything differs. The parts are

* ``commands``: what every command says to some hundred calls, how it ends, and what it writes;
* ``exports``: the bytes of the files that the library writes, over normalizers, pre-tokenizers and objectives;
* ``keys``: every command of the window in several states, with its keys, place, tips, and whether it is enabled;
* ``merges``: those that the window signals, in their order, and those of the library;
* ``charts``: what every chart says at every step of every sample;
* ``texts``: all that can be read in every panel, in three layouts, at some steps of every sample;
* ``pictures``: every scene at every size of screen.

``--keep DIR`` keeps the records, and shows pictures that differ side by side in ``DIR/shown``. The base's records can
be used again: as BASE, name ``DIR/base``. What the recorder asks of a checkout by names that may change is in
``adapter.py``; whoever changes such a name adds the new one there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.unchanged import recorder, records
from tests.unchanged.records import Comparison

if TYPE_CHECKING:
    from collections.abc import Callable


PARTS = ("commands", "exports", "keys", "merges", "charts", "texts", "pictures")
_MOST_LINES = 40
_ROOT = Path(__file__).parents[2]


def main() -> int:
    """Record, compare, print, and return what the process ends with."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.unchanged", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("base", type=Path, help="a checkout, or the records of one that were kept")
    parser.add_argument("new", type=Path, nargs="?", default=_ROOT, help="another checkout; this one unless given")
    parser.add_argument("--only", default=",".join(PARTS), help="the parts, with commas; all unless given")
    parser.add_argument("--keep", type=Path, help="a folder for the records")
    parser.add_argument("--corpora", type=Path, help="the folder with corpora that some pictures need")
    parser.add_argument("--scenes", default="", help="of the pictures, with commas; all unless given")
    parser.add_argument("--sizes", default="", help="of the pictures, with commas; all unless given")
    parser.add_argument("--lines", type=int, default=_MOST_LINES, help="at most this many of each difference")
    arguments = parser.parse_args()
    wanted = arguments.only.split(",")
    if unknown := set(wanted) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    with tempfile.TemporaryDirectory(prefix="unchanged-records-") as folder:
        keep = Path(folder) if arguments.keep is None else arguments.keep.resolve()
        return _compare(wanted, keep, arguments)


def _compare(wanted: list[str], keep: Path, arguments: argparse.Namespace) -> int:
    base, new = arguments.base.resolve(), arguments.new.resolve()
    found: dict[str, Comparison] = {}
    for part in PARTS:
        if part in wanted:
            found[part] = _compared(part, base, new, keep, arguments)
            _print_differences(part, found[part], arguments.lines)
    _print_table(found)
    return int(any(comparison.differences for comparison in found.values()))


def _compared(part: str, base: Path, new: Path, keep: Path, arguments: argparse.Namespace) -> Comparison:
    if part == "pictures":
        return _compared_pictures(base, new, keep, arguments)

    def record(checkout: Path, output: Path) -> None:
        recorder.record_part(checkout, part, output)

    old, now = (_recorded(f"{part}.json", *each, record) for each in ((base, keep / "base"), (new, keep / "new")))
    return records.compared(records.load(old), records.load(now))


def _compared_pictures(base: Path, new: Path, keep: Path, arguments: argparse.Namespace) -> Comparison:
    """Compare pictures, and make those that differ again, which may be a matter of what was ready first."""
    from tests.unchanged import pictures

    folders: tuple[list[Path], list[Path]] = ([], [])
    scenes, sizes = arguments.scenes, arguments.sizes
    comparison = Comparison()
    for name in ("pictures", "pictures-again", "pictures-once-more"):
        for source, side, made in zip((base, new), ("base", "new"), folders, strict=True):
            make = partial(pictures.record, corpora=arguments.corpora, only=scenes, sizes=sizes)
            made.append(_recorded(name, source, keep / side, make))
        comparison = pictures.compared(*folders, None if arguments.keep is None else keep / "shown")
        names = [picture.removesuffix(".png").rpartition("-") for picture in comparison.differences]
        if not names:
            break
        scenes, sizes = (",".join(sorted({each[at] for each in names})) for at in (0, 2))
    return comparison


def _recorded(name: str, source: Path, folder: Path, make: Callable[[Path, Path], None]) -> Path:
    """Record a part of a checkout, unless it is a folder of records."""
    if not (source / "wordpiece_studio").is_dir():
        return source / name
    _say(f"recording {Path(name).stem} of {source} … ", end="")
    started = time.monotonic()
    make(source, folder / name)
    _say(f"{time.monotonic() - started:.0f} s")
    return folder / name


def _print_differences(part: str, comparison: Comparison, most: int) -> None:
    for name, lines in comparison.differences.items():
        _say(f"\n{part}: {name}")
        for line in lines[:most]:
            _say(f"    {line}")
        if len(lines) > most:
            _say(f"    … {len(lines) - most} more lines")


def _print_table(found: dict[str, Comparison]) -> None:
    _say(f"\n{'':10} {'recorded':>9} {'equal':>9} {'different':>9}")
    for part, comparison in found.items():
        _say(f"{part:10} {comparison.recorded:9,} {comparison.equal:9,} {len(comparison.differences):9,}")


def _say(text: str, end: str = "\n") -> None:
    sys.stdout.write(text + end)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
