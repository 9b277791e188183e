"""The program: ``python -m wordpiece_studio``, and the command ``wordpiece-studio``.

Only the very start, so that Ctrl-C is an orderly end even while the command line itself is being loaded.
"""

import _signal  # type: ignore[import-not-found]  # what `signal` is made of, which takes a while to load


def main() -> None:
    """Run the command line and end the program with its exit code."""
    # Held back until it is known what to do with them. Where that cannot be, Python's own handling goes on till then.
    held = None
    if hasattr(_signal, "pthread_sigmask"):
        held = _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP))
    from wordpiece_studio.stopping import ignore_signals, stop_on_signals

    stop_on_signals()
    if held is not None:
        _signal.pthread_sigmask(_signal.SIG_SETMASK, held)
    import gc

    gc.disable()  # loading makes many objects and no garbage
    from wordpiece_studio.cli import main as run_command_line

    try:
        run_command_line()
    finally:
        ignore_signals()  # nothing is to disturb the end of the interpreter


if __name__ == "__main__":
    main()
