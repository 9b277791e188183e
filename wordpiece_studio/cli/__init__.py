"""The command line: ``wordpiece-studio`` opens the window, its commands run without one.

Results go to stdout; progress, warnings and errors go to stderr, an error as one line; with --json, an error also goes
to stdout, as one object. The exit code is 0, or 1 for a reported error, 2 for a usage error, 130 after Ctrl-C, 143 when
terminated, 129 when the terminal was closed. Nothing is computed here; each command has its own module.
"""

from __future__ import annotations

import gc
import glob
import importlib
import logging
import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from wordpiece_studio.cli.messages import PROGRAM, OutputClosed, error_words, place_of, print_line, warn
from wordpiece_studio.errors import StudioError
from wordpiece_studio.stopping import STOPPED, end, stop_on_signals
from wordpiece_studio.system.printable import printable_json
from wordpiece_studio.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

logging.getLogger("wordpiece_studio").addHandler(logging.NullHandler())  # an error is reported in one line, not two
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]

# Which module of this package defines which command; only the one that is run is imported.
_COMMANDS = {
    "train": "train",
    "count": "count",
    "lint": "lint",
    "encode": "encode",
    "decode": "decode",
    "tokenize": "tokenize",
    "explain": "tokenize",
    "verify": "verify",
    "prepare": "prepare",
}
_COMPLETING = "_WORDPIECE_STUDIO_COMPLETE"  # set by the shell, beside the words typed so far
_EXIT_CODES = (
    "Exit codes: 0 done; 1 an error, or what verify compared differs, or lint has a warning; 2 not a command; "
    "130 after Ctrl-C, 143 terminated, 129 the terminal was closed."
)


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
    except _UsageError as error:
        message = getattr(error, "format_message", error.__str__)()
        return _fail(f"{message.rstrip('.')}. See {PROGRAM} --help.", 2, arguments)
    except StudioError as error:
        return _fail(error_words(error, *arguments[:1]), 1, arguments, place_of(error))
    except (KeyboardInterrupt, typer.Abort):
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
    if arguments and arguments[0] not in _COMMANDS and all(map(_is_place, arguments)):
        return _open_window(arguments)
    code = _application(arguments)(args=arguments, prog_name=PROGRAM, standalone_mode=False)
    return code if isinstance(code, int) else 0


def _application(arguments: Sequence[str]) -> typer.Typer:
    """Return the command line with the command that is called; with all of them for help and completion."""
    names = arguments[:1]
    needs_all = _COMPLETING in os.environ if not names else names[0] not in (*_COMMANDS, "--version")
    app = typer.Typer(
        add_completion=needs_all,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True, epilog=_EXIT_CODES)(_window)
    for name in _COMMANDS if needs_all else set(names).intersection(_COMMANDS):
        module = importlib.import_module(f"{__name__}.{_COMMANDS[name]}")
        app.command(name)(getattr(module, f"{name}_command"))
    return app


def _is_place(argument: str) -> bool:
    return os.path.exists(argument) or (not argument.startswith("-") and glob.has_magic(argument))


def _open_window(arguments: list[str]) -> int:
    from wordpiece_studio.ui.app import run_studio

    try:
        return run_studio(arguments)
    except BrokenPipeError:
        raise OutputClosed from None


def _drop_output() -> None:
    """Discard pending output to stdout; otherwise the interpreter complains at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _window(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Train WordPiece vocabularies, step through their merges, and tokenize. Without a command, open the window."""
    if version:
        print_line(f"{PROGRAM} {__version__}")
    elif context.invoked_subcommand is None:
        raise typer.Exit(_open_window([]))


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
