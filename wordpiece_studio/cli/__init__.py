"""The command line: ``wordpiece-studio`` opens the window, its commands run without one.

Results go to stdout; progress, warnings and errors go to stderr, an error as one line; with --json, an error also goes
to stdout, as one object. The exit code is 0, or 1 for a reported error (and for what verify and lint find), 2 for a
usage error, 130 after Ctrl-C, 143 when terminated, 129 when the terminal was closed. Nothing is computed here; each
command, or pair of commands, has its own module.
"""

from __future__ import annotations

import gc
import glob
import importlib
import logging
import os
import sys
from typing import TYPE_CHECKING

from wordpiece_studio.cli.messages import OutputClosed, error_words, place_of, print_line, warn
from wordpiece_studio.cli.parameters import PROGRAM, WrongCall, run_by_typer, values_in
from wordpiece_studio.errors import StudioError
from wordpiece_studio.stopping import STOPPED, end, stop_on_signals
from wordpiece_studio.system.printable import display_name, printable_json
from wordpiece_studio.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wordpiece_studio.cli.parameters import CliCommand

logging.getLogger("wordpiece_studio").addHandler(logging.NullHandler())  # an error is reported in one line, not two

# Which module of this package defines which command; only the one that is run is imported.
_COMMANDS = {
    "train": "train",
    "count": "count",
    "lint": "count",
    "encode": "encode",
    "decode": "encode",
    "tokenize": "tokenize",
    "explain": "tokenize",
    "evaluate": "evaluate",
    "compare": "evaluate",
    "verify": "verify",
    "prepare": "verify",
}
_COMPLETING = "_WORDPIECE_STUDIO_COMPLETE"  # set by the shell, beside the words typed so far


def main() -> None:
    """Run the command line and end the program with its exit code."""
    stop_on_signals()
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the parent process
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
    gc.freeze()  # what has been loaded stays
    gc.enable()
    code = run(sys.argv[1:])
    if "PySide6.QtCore" in sys.modules:
        sys.exit(code)
    end(code)  # at once, without freeing a million words one by one


def run(arguments: list[str]) -> int:
    """Run one command and return the exit code; errors are reported on stderr."""
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
    except (OutputClosed, BrokenPipeError):
        _drop_output()
        return 0
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # how rich ends when its help output is not read
            return 0
        raise
    except WrongCall as error:
        known = f" {arguments[0]}" if arguments[0] in _COMMANDS else ""
        return _fail(f"{str(error).rstrip('.')}. See {PROGRAM}{known} --help.", 2, arguments)
    except StudioError as error:
        return _fail(error_words(error, *arguments[:1]), 1, arguments, place_of(error))
    except KeyboardInterrupt:
        code = STOPPED
    except MemoryError:
        return _fail("There is not enough memory for this.", 1, arguments)
    except OSError as error:
        if not error.filename:
            _drop_output()
        where = {"file": os.fsdecode(error.filename)} if isinstance(error.filename, str | bytes) else {}
        return _fail(f"{error.filename or 'stdout'}: {error.strerror or error}.", 1, arguments, where)
    return _fail("Stopped.", code, ()) if code == STOPPED else code


def _dispatch(arguments: list[str]) -> int:
    first, *others = arguments or [""]
    is_completing = _COMPLETING in os.environ
    if first == "--version":
        print_line(f"{PROGRAM} {__version__}")
        return 0
    if first in _COMMANDS and not is_completing:
        command = _command(first)
        values = values_in(command, others)
        if values is not None:
            return command(values).run() or 0
        return run_by_typer(arguments, {first: command}) or 0
    if not is_completing and all(map(_is_place, arguments)):
        return _open_window(arguments)
    if arguments and not first.startswith("-"):
        wrong = next(argument for argument in arguments if not _is_place(argument))
        what = f"neither a command nor a file{_similar(first)}" if wrong == first else "not a file"
        raise WrongCall(f"{display_name(wrong)} is {what}")
    return run_by_typer(arguments, {name: _command(name) for name in _COMMANDS}) or 0


def _command(name: str) -> type[CliCommand]:
    module = importlib.import_module(f"{__name__}.{_COMMANDS[name]}")
    return getattr(module, f"{name.capitalize()}Command")  # type: ignore[no-any-return]


def _similar(name: str) -> str:
    from difflib import get_close_matches

    found = get_close_matches(name, _COMMANDS, 1)
    return f" (did you mean {found[0]}?)" if found else ""


def _is_place(argument: str) -> bool:
    return os.path.exists(argument) or (not argument.startswith("-") and glob.has_magic(argument))


def _open_window(arguments: list[str]) -> int:
    """Open the window; where none can open, say why and train the sample in the terminal.

    A Qt that crashes this Python is refused: the installation is at fault, and a crash would take the user's work with
    it. Nothing of Qt is imported before this is known: Qt itself would end the process with a core dump.
    """
    from wordpiece_studio.platform_check import bad_qt_pair, window_problem

    if refusal := bad_qt_pair():
        raise refusal
    problem = window_problem()
    try:
        if problem is None:
            from wordpiece_studio.ui.studio import open_studio

            return open_studio(arguments)
        from wordpiece_studio.terminal_demo import terminal_demo

        terminal_demo(problem)
        return 0
    except BrokenPipeError:
        raise OutputClosed from None


def _drop_output() -> None:
    """Discard pending output to stdout; otherwise the interpreter complains at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(text: str, code: int, arguments: Sequence[str], where: Mapping[str, object] | None = None) -> int:
    """Report an error, also as JSON on stdout if requested; `where` says what it is about."""
    message = " ".join(text.split())
    warn(message)
    if "--json" in arguments[: arguments.index("--") if "--" in arguments else None]:
        try:
            print_line(printable_json({"message": message, "exit_code": code, **(where or {})}))
            sys.stdout.flush()
        except (OutputClosed, OSError):
            _drop_output()
    return code
