"""The program: ``python -m wordpiece_studio``, and the command ``wordpiece-studio``.

Only the very start, so that Ctrl-C is an orderly end even while the command line itself is being loaded.
"""

import contextlib
import gc
import os
import signal
import sys

_STOPPED = 130


def main() -> None:
    """Run the command line and end the program with its exit code."""
    gc.disable()  # loading makes many objects and no garbage
    try:
        is_obeyed = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if is_obeyed:
            signal.signal(signal.SIGINT, _stop)
        from wordpiece_studio.cli import main as run_command_line

        if is_obeyed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        run_command_line()
    except KeyboardInterrupt:
        sys.exit(_STOPPED)


def _stop(*_: object) -> None:
    """End at once: modules that are being loaded may swallow an exception, or make another of it."""
    with contextlib.suppress(OSError):
        os.write(2, b"wordpiece-studio: Stopped.\n")
    os._exit(_STOPPED)


if __name__ == "__main__":
    main()
