"""``python -m tests.cases``: every case of bad input and bad days, what the user is told, and whether it held.

Exits with 1 if a case has no test or one of its tests failed.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tests.cases.titles import TITLES
from wordpiece_studio.system.printable import printable

FOLDER = Path(__file__).parent
LONGEST_MESSAGE = 400
ROOT = FOLDER.parent.parent
# The folder of one test, which says nothing to who reads the table.
_TEST_FOLDER = re.compile(r"/[^\s:,]*/pytest-of-[^/]+/pytest-\d+/(?:popen-gw\d+/)?[^/\s:,]+(?:/|(?=[\s:,.]))")


@dataclass
class Case:
    """What became of the tests of one case."""

    told: dict[str, None] = field(default_factory=dict)
    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not self.failed and bool(self.passed or self.skipped)

    @property
    def outcome(self) -> str:
        if self.failed:
            return f"FAILED: {', '.join(self.failed)}"
        if self.passed:
            return "held" if self.passed == 1 else f"held ({self.passed} tests)"
        return f"not here: {self.skipped[0]}" if self.skipped else "NO TEST"


class Collector:
    """Gathers what pytest reports of the tests that are marked with the number of a case."""

    def __init__(self) -> None:
        self.cases: dict[int, Case] = defaultdict(Case)
        self.errors: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        numbers = [value for name, value in report.user_properties if name == "case"]
        name = report.nodeid.rpartition("::")[2]
        for number in numbers:
            case = self.cases[int(str(number))]
            if report.failed and name not in case.failed:
                case.failed.append(name)
            elif report.skipped:
                reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
                case.skipped.append(reason.removeprefix("Skipped: "))
            elif report.when == "call" and report.passed:
                case.passed += 1
                case.told |= {str(value): None for key, value in report.user_properties if key == "told"}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.errors.append(f"{report.nodeid}: {report.longreprtext.strip().splitlines()[-1]}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cases", description=__doc__)
    parser.add_argument("--markdown", action="store_true", help="print a table for a note")
    parser.add_argument("--quick", action="store_true", help="without the tests that are marked slow")
    parser.add_argument("--details", action="store_true", help="show what pytest says of those that fail")
    parser.add_argument("-n", "--processes", type=int, default=2, help="how many tests run at the same time")
    wanted = parser.parse_args()
    collector = Collector()
    arguments = [str(FOLDER), f"--rootdir={ROOT}", "-c", str(ROOT / "pyproject.toml"), "-m"]
    arguments += ["case and not slow" if wanted.quick else "case", "-q", "--no-header"]
    arguments += ["-n", str(wanted.processes)] if wanted.processes > 1 else []
    arguments += ["--tb=short" if wanted.details else "--tb=no"]
    code = pytest.main(arguments, plugins=[collector])
    cases = [collector.cases[number] for number in TITLES]
    (print_markdown if wanted.markdown else print_table)(cases)
    missing = [number for number, case in zip(TITLES, cases, strict=True) if case.outcome == "NO TEST"]
    failed = [number for number, case in zip(TITLES, cases, strict=True) if case.failed]
    for error in collector.errors:
        print(f"cannot be run: {error}")  # noqa: T201 (this is a command)
    print(f"{sum(case.holds for case in cases)} of {len(TITLES)} cases hold")  # noqa: T201
    print(f"without a test: {listed(missing)}\nfailed: {listed(failed)}")  # noqa: T201
    return 0 if not (missing or failed or collector.errors) and code == 0 else 1


def listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers)) or "none"


def messages_of(case: Case) -> list[str]:
    """Return what the user was told, so that a terminal may show it, each cut where it is very long."""
    shown = (_TEST_FOLDER.sub("…/", message) for message in case.told if message.strip())
    lines = list(dict.fromkeys(printable(" ".join(message.split())) for message in shown))
    return [line if len(line) <= LONGEST_MESSAGE else f"{line[:LONGEST_MESSAGE]}…" for line in lines]


def print_table(cases: list[Case]) -> None:
    table = Table(show_lines=True)
    for heading in ("#", "case", "what the user is told", "outcome"):
        table.add_column(heading, overflow="fold")
    for (number, title), case in zip(TITLES.items(), cases, strict=True):
        table.add_row(str(number), title, Text("\n".join(messages_of(case))), Text(case.outcome))
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def print_markdown(cases: list[Case]) -> None:
    print("| # | case | what the user is told | outcome |\n|---|---|---|---|")  # noqa: T201
    for (number, title), case in zip(TITLES.items(), cases, strict=True):
        messages = "<br>".join(f"`{message}`" for message in map(in_a_cell, messages_of(case)))
        print(f"| {number} | {in_a_cell(title)} | {messages} | {in_a_cell(case.outcome)} |")  # noqa: T201


def in_a_cell(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "ˋ")


if __name__ == "__main__":
    sys.exit(main())
