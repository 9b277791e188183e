"""What a case of the list of bad input and bad days has: its number, and the message that the user is told."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.cases.program import Program
from tests.cases.titles import TITLES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CASE, TOLD = "case", "told"


@pytest.fixture
def told(request: pytest.FixtureRequest) -> Callable[[object], str]:
    """Return a function that notes what the user is told, for the table of `python -m tests.cases`, and returns it."""

    def note(message: object) -> str:
        request.node.user_properties.append((TOLD, str(message)))
        return str(message)

    return note


@pytest.fixture
def program(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    told: Callable[[object], str],
) -> Program:
    """The command line in an empty folder, which is the working one."""
    folder = tmp_path / "working"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return Program(folder, capsys, told)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Hand the numbers of the cases to whoever reports, and ignore what Qt's offscreen platform says of itself."""
    for item in items:
        if "/tests/cases/" not in item.path.as_posix():
            continue
        for mark in item.iter_markers("case"):
            for number in mark.args:
                if number not in TITLES:
                    raise pytest.UsageError(f"{item.nodeid}: there is no case {number}")
                item.user_properties.append((CASE, number))
        if os.environ.get("QT_QPA_PLATFORM") == "offscreen" and item.config.pluginmanager.has_plugin("pytest-qt"):
            item.add_marker(pytest.mark.qt_log_ignore("does not support propagateSizeHints", extend=True))
