"""The command line: ``wordpiece-studio`` opens the window, its commands run without one.

Results go to stdout; progress, warnings and errors go to stderr, an error as one line; with --json, an error also goes
to stdout, as one object. The exit code is 0, or 1 for a reported error (and for what verify, lint and check find), 2
for a usage error, 130 after Ctrl-C, 143 when terminated, 129 when the terminal was closed. Commands that belong
together share a module.
"""

from __future__ import annotations

import gc
import glob
import importlib
import logging
import os
import sys
from typing import TYPE_CHECKING

from wordpiece_studio.cli.messages import OutputClosed, aligned, error_words, place_of, print_line, warn
from wordpiece_studio.cli.parameters import PROGRAM, HelpShown, WrongCall, complete, run_program, similar
from wordpiece_studio.errors import StudioError
from wordpiece_studio.stopping import STOPPED, end, stop_on_signals
from wordpiece_studio.system.printable import display_name, printable, printable_json
from wordpiece_studio.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wordpiece_studio.cli.parameters import CliCommand

logging.getLogger("wordpiece_studio").addHandler(logging.NullHandler())  # an error is reported in one line, not two

# Of each command, which module of this package defines it, and what it does. Only that of the called one is imported.
_COMMANDS = {
    "train": ("train", "Learn a vocabulary from texts and write it to a folder."),
    "count": ("count", "Count the words of texts, print statistics for each file, and write the words as a table."),
    "lint": (
        "count",
        "Look for what would spoil a vocabulary, and say which option helps. The exit code is 1 if there are warnings."
        "\n\nA large corpus is examined in parts, evenly chosen.",
    ),
    "encode": ("encode", "Write the token IDs of whole files, line by line, as one array for numpy.load."),
    "decode": ("encode", "Turn token IDs back into text, as far as possible: one line per text."),
    "tokenize": ("encode", "Tokenize text: one line of tokens per line."),
    "explain": ("encode", "Show which pieces longest match tries for a word, and if the word is unknown, why."),
    "evaluate": (
        "evaluate", "Compare tokenizers on a text: tokens per word, unknown tokens, words kept whole, and more."
    ),
    "compare": (
        "evaluate",
        "Show where two tokenizers differ: in their vocabularies, in how they split words, and in their merges.",
    ),
    "sweep": (
        "sweep", "Compare vocabularies of many sizes and methods on text not trained on, and say which size to take."
    ),
    "check": (
        "check",
        "Check whether a tokenizer is healthy: its IDs, special tokens, tokens that no text can produce, and with --on "
        "what a text shows. The exit code is 1 if a check fails.",
    ),
    "extend": (
        "extend",
        "Find the tokens that a vocabulary lacks for the texts of a domain, show what adding them gains, and add them.",
    ),
    "prune": ("extend", "Take the tokens out of a vocabulary that texts do not use, and show what that costs."),
    "verify": (
        "train",
        "Train again, and report for each exported file whether its bytes agree. The exit code is 0 if all do.",
    ),
    "prepare": (
        "train", "Compile the engines now, once per machine, so that no later command has to wait for it."
    ),
}  # fmt: skip
_OLD_COMPLETION = "_WORDPIECE_STUDIO_COMPLETE"  # set by scripts that earlier versions installed


def main() -> None:
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
        try:
            code = _dispatch(arguments)
        except HelpShown:
            code = 0
        sys.stdout.flush()
    except (OutputClosed, BrokenPipeError):
        _drop_output()
        return 0
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
    texts = {name: text for name, (_, text) in _COMMANDS.items()}
    if "_ARGCOMPLETE" in os.environ:
        complete(texts, _command)
    if _OLD_COMPLETION in os.environ:
        return 0
    if first == "--version":
        print_line(f"{PROGRAM} {__version__}")
        return 0
    if first in _COMMANDS:
        return _command(first)(others, _COMMANDS[first][1]).run() or 0
    if all(map(_is_place, arguments)):
        return _open_window(arguments)
    if not first.startswith("-"):
        wrong = next(argument for argument in arguments if not _is_place(argument))
        what = f"neither a command nor a file{similar(first, _COMMANDS)}" if wrong == first else "not a file"
        raise WrongCall(f"{display_name(wrong)} is {what}")
    print_line(run_program(arguments, texts))
    return 0


def _command(name: str) -> type[CliCommand]:
    module = importlib.import_module(f"{__name__}.{_COMMANDS[name][0]}")
    return getattr(module, f"{name.capitalize()}Command")  # type: ignore[no-any-return]


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
    if problem := window_problem():
        terminal_demo(problem)
        return 0
    from wordpiece_studio.ui.studio import open_studio

    return open_studio(arguments)


def terminal_demo(reason: str) -> None:
    """Say why there is no window, train the sample corpus, and show its merges and a sentence in its tokens."""
    from wordpiece_studio.corpus.counting.counting import count_words
    from wordpiece_studio.resources import resource_path
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.engine import RULES
    from wordpiece_studio.training.trainer import train

    config = TrainingConfig(objective="score", vocab_size=70)
    run, sentence = (
        train(count_words(resource_path("samples/course-en.txt")), config),
        "This is the Hugging Face course!",
    )
    rows: list[tuple[str, ...]] = [("left", "right", "token", "step", "n(ab)", "n(a)", "n(b)", "value", "tied")]
    for merge in run.history:
        tokens = map(printable, (merge.left, merge.right, merge.token))
        counts = merge.step, merge.pair_frequency, merge.left_frequency, merge.right_frequency
        ties = str(merge.ties) if merge.ties > 1 else ""
        rows.append((*tokens, *(f"{count:,}" for count in counts), f"{merge.value:.4g}", ties))
    lines = [
        printable(" ".join(reason.split())),
        f"The sample corpus, trained to {config.vocab_size} tokens by {RULES['score']}:",
        *aligned(rows, names=3),
        f"{sentence}\n→ {' '.join(run.tokenizer().encode(sentence).tokens)}",
        f"Your own text: {PROGRAM} train FILES --vocab-size N -o FOLDER",
    ]
    print_line("\n".join(lines))


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
