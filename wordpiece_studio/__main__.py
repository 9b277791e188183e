"""The program: ``python -m wordpiece_studio``, and the command ``wordpiece-studio``.

Only the very start, so that Ctrl-C stops the program cleanly even while the command line itself is being loaded.
"""

import _signal  # type: ignore[import-not-found]  # the core of `signal`, which takes a while to load
import sys


def main() -> None:
    if sys.argv[1:] == ["--serve-parent"]:  # only the stand-alone program is called so, see `system.child`
        from wordpiece_studio.system.child import serve

        serve()
    # Blocked until their handlers are set. Where signals cannot be blocked, Python handles them until then.
    held = None
    if hasattr(_signal, "pthread_sigmask"):
        held = _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP))
    from wordpiece_studio.stopping import ignore_signals, stop_on_signals

    stop_on_signals()
    if held is not None:
        _signal.pthread_sigmask(_signal.SIG_SETMASK, held)
    import gc

    gc.disable()  # loading creates many objects and no garbage
    from wordpiece_studio.cli import main as run_command_line

    try:
        run_command_line()
    finally:
        ignore_signals()  # nothing must interrupt the interpreter's shutdown


if __name__ == "__main__":
    main()
