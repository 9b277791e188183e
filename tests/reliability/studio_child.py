"""The window in a process of its own, brought into a state from which it is to be ended; `processes` runs it.

``python -m tests.reliability.studio_child STATE END FOLDER``: opens the window, has a `studio_hand` bring it into the
state, which says ``ready`` on the standard output, and then ends it by the quit action (END ``quit``), by two close
events (``close``), or by nothing of its own (``wait``: a signal will come). SIGUSR1 makes it say what all threads do.

Nothing of Qt is imported before it is needed, as in the program itself: what is imported here every child process of
the window imports too, before it does anything else.
"""

from __future__ import annotations

import faulthandler
import signal
import sys
from pathlib import Path


def main(state: str, end: str, folder: str) -> int:
    """Open the window and return its exit code."""
    from tests.reliability.studio_hand import StudioHand
    from wordpiece_studio.ui import studio
    from wordpiece_studio.ui.main_window import MainWindow

    def made(*arguments: object) -> MainWindow:
        window = MainWindow(*arguments)  # type: ignore[arg-type]
        StudioHand(window, state, end, Path(folder))
        return window

    studio.MainWindow = made  # type: ignore[misc, assignment]
    return studio.open_studio([])


if __name__ == "__main__":
    if hasattr(faulthandler, "register"):
        faulthandler.register(signal.SIGUSR1, all_threads=True)
    sys.exit(main(*sys.argv[1:4]))
