"""The program: ``python -m wordpiece_studio``, and the command ``wordpiece-studio``.

Only the very start, so that Ctrl-C is an orderly end even while the command line itself is being loaded.
"""

import gc
import sys

from wordpiece_studio.loading import STOPPED, stopped_at_once


def main() -> None:
    """Run the command line and end the program with its exit code."""
    gc.disable()  # loading makes many objects and no garbage
    try:
        with stopped_at_once():
            from wordpiece_studio.cli import main as run_command_line

        run_command_line()
    except KeyboardInterrupt:
        sys.exit(STOPPED)


if __name__ == "__main__":
    main()
