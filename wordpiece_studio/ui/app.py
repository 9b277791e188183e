"""The start of the window: checks whether one can open, and only then imports Qt.

A Qt that crashes this Python is refused: the installation is at fault, and a crash would take the user's work with it.
Where no window can open for another reason (no display, missing libraries), one line says why and the sample is trained
in the terminal. Nothing of Qt is imported before this is known: Qt itself would end the process with a core dump.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.platform_check import bad_qt_pair, window_problem

if TYPE_CHECKING:
    from collections.abc import Sequence


def run_studio(argv: Sequence[str] = ()) -> int:
    """Open the window, or run the sample in the terminal where no window can open; return the exit code.

    Parameters
    ----------
    argv
        Arguments without the program's name: files, folders and patterns to open as the corpus.
    """
    if refusal := bad_qt_pair():
        raise refusal
    problem = window_problem()
    if problem is not None:
        from wordpiece_studio.terminal_demo import terminal_demo

        terminal_demo(problem)
        return 0
    from wordpiece_studio.ui.studio import open_studio

    return open_studio(argv)
