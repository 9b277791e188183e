"""The start of the window: first whether there can be one, and only then Qt.

Where no window can open (no display, missing libraries, a Qt that crashes this Python), it says why in one line and
trains the sample in the terminal. Nothing of Qt is imported before that is known: Qt itself would end the process with
a core dump.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.loading import stopped_at_once
from wordpiece_studio.platform_check import window_problem

if TYPE_CHECKING:
    from collections.abc import Sequence


def run_studio(argv: Sequence[str] = ()) -> int:
    """Open the window, or run the sample in the terminal where there can be none; return the exit code.

    Parameters
    ----------
    argv
        Arguments without the program's name: files, folders and patterns to open as the corpus.
    """
    problem = window_problem()
    if problem is not None:
        from wordpiece_studio.terminal_demo import terminal_demo

        terminal_demo(problem)
        return 0
    with stopped_at_once():
        from wordpiece_studio.ui.studio import open_studio

    return open_studio(argv)
