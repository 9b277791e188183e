"""The command line: ``wordpiece-studio`` opens the window, its commands train, tokenize and explain without one.

Results go to stdout; progress, warnings and errors go to stderr, an error in one line. The exit code is 0, or 1 for an
error that was told, 2 for a wrong call, 130 after Ctrl-C. Nothing is computed here.
"""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from wordpiece_studio import __version__
from wordpiece_studio.cli_messages import (
    STDIN,
    error_words,
    ladder,
    loss_warnings,
    no_unknown_token,
    no_words,
    summary_words,
)
from wordpiece_studio.core.corpus.counting import count_stream, count_words
from wordpiece_studio.core.corpus.streams import decoded_lines
from wordpiece_studio.core.encoder import NO_ID, Tokenizer
from wordpiece_studio.core.formats.atomic_write import check_folder
from wordpiece_studio.core.formats.tokenizer_directory import load_tokenizer, save_directory
from wordpiece_studio.core.text.normalizers import RemoveCharacters, Sequence, resolve_normalizer
from wordpiece_studio.core.text.pipeline import Pipeline
from wordpiece_studio.core.text.printable import printable, printable_json
from wordpiece_studio.core.training.config import BERT_SPECIAL_TOKENS, TrainingConfig
from wordpiece_studio.core.training.notices import corpus_notices
from wordpiece_studio.core.training.trainer import Trainer
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from io import BufferedIOBase

    from rich.progress import TaskID

    from wordpiece_studio.core.corpus.counts import WordCounts
    from wordpiece_studio.core.text.normalizers import Normalizer

    Report = Callable[[str, int, int | None], None]

PROGRAM = "wordpiece-studio"
_STOPPED = 130
_SLICE = 1000  # merges between two looks at the progress bar

_UsageError: type[Exception] = typer.BadParameter.__bases__[0]

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


class _OutputClosed(Exception):
    """Whoever read our output wants no more, as in ``| head``."""


def main() -> None:
    """Run the command line and end the program with its exit code."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command and return the exit code; errors are told on stderr."""
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
    except (_OutputClosed, BrokenPipeError):
        _drop_output()
        return 0
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # how rich ends the help that nobody reads
            return 0
        raise
    except _UsageError as error:
        message = getattr(error, "format_message", error.__str__)()
        return _fail(f"{message.rstrip('.')}. See {PROGRAM} --help.", 2)
    except StudioError as error:
        return _fail(error_words(error, *arguments[:1]), 1)
    except (KeyboardInterrupt, typer.Abort):
        code = _STOPPED
    except MemoryError:
        return _fail("There is not enough memory for this.", 1)
    except OSError as error:
        _drop_output()
        return _fail(f"{error.filename or 'stdout'}: {error.strerror or error}.", 1)
    return _fail("Stopped.", code) if code == _STOPPED else code


def _dispatch(arguments: list[str]) -> int:
    commands = {command.name for command in app.registered_commands}
    if len(arguments) == 1 and arguments[0] not in commands and os.path.isfile(arguments[0]):
        return _open_window(arguments)
    code = app(args=arguments, prog_name=PROGRAM, standalone_mode=False)
    return code if isinstance(code, int) else 0


def _open_window(arguments: list[str]) -> int:
    from wordpiece_studio.ui.app import run_studio

    try:
        return run_studio(arguments)
    except BrokenPipeError:
        raise _OutputClosed from None


def _drop_output() -> None:
    """Let what is still to be written to stdout vanish, or the interpreter complains when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@app.callback(invoke_without_command=True)
def _window(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Train WordPiece vocabularies, step through their merges, and tokenize. Without a command: the window."""
    if version:
        _print(f"{PROGRAM} {__version__}")
    elif context.invoked_subcommand is None:
        raise typer.Exit(_open_window([]))


_TEXT, _CHOICE, _STOP, _ALPHABET = "Reading the text", "Choosing the merges", "Stopping", "Alphabet and tokens"


def _option(text: str, panel: str, **more: Any) -> Any:
    return typer.Option(help=text, rich_help_panel=panel, **more)


VocabOption = Annotated[str, typer.Option(help="A folder that train wrote, or a vocab.txt.", metavar="DIR|FILE")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
GivenOption = Annotated[str | None, _option("Instead of what the vocabulary was trained with.", _TEXT)]
RemoveOption = Annotated[str, _option("Characters to remove after normalizing.", _TEXT, metavar="CHARACTERS")]


@app.command("train")
def _train(
    context: typer.Context,
    files: Annotated[list[str], typer.Argument(help="Text files, or - for stdin.")],
    output: Annotated[str, typer.Option("-o", "--output", metavar="DIR", help="The folder to write to.")],
    as_json: JsonOption = False,
    normalizer: Annotated[str, _option("bert-cased, bert-uncased, lowercase, none, a+b.", _TEXT)] = "bert-cased",
    pre_tokenizer: Annotated[str, _option("bert, whitespace or unicode-punctuation.", _TEXT)] = "bert",
    remove: RemoveOption = "",
    encoding: Annotated[str | None, _option("The files' encoding, if not UTF-8.", _TEXT)] = None,
    errors: Annotated[str, _option("For bytes that are no text: strict, replace or skip-line.", _TEXT)] = "strict",
    max_word_length: Annotated[int, _option("Longer words are left out.", _TEXT)] = 1000,
    objective: Annotated[str, _option("score, likelihood or count.", _CHOICE)] = "score",
    tie: Annotated[str, _option("Among equals: first in the corpus, or smallest ids.", _CHOICE)] = "first",
    min_frequency: Annotated[int, _option("Rarer pairs are not merged.", _CHOICE)] = 0,
    max_token_length: Annotated[int | None, _option("In characters.", _CHOICE)] = None,
    vocab_size: Annotated[int | None, _option("At this many tokens.", _STOP, metavar="N")] = None,
    max_merges: Annotated[int | None, _option("After this many merges.", _STOP)] = None,
    max_seconds: Annotated[float | None, _option("After this time.", _STOP)] = None,
    min_value: Annotated[float | None, _option("When the best value is below this.", _STOP)] = None,
    alphabet: Annotated[str, _option("Layout: seen or huggingface.", _ALPHABET)] = "seen",
    alphabet_limit: Annotated[int | None, _option("At most this many characters.", _ALPHABET)] = None,
    alphabet_overflow: Annotated[str, _option("Words with others: unk skips, remove cuts.", _ALPHABET)] = "unk",
    initial_alphabet: Annotated[str, _option("Symbols to have at any rate, by blanks.", _ALPHABET)] = "",
    continuing_order: Annotated[str | None, _option("Order of continuing symbols, by blanks.", _ALPHABET)] = None,
    special_tokens: Annotated[
        str, _option("The first ids, by blanks; empty for none.", _ALPHABET, show_default="BERT's five")
    ] = " ".join(BERT_SPECIAL_TOKENS),
    continuing_subword_prefix: Annotated[str, _option("Before what begins no word.", _ALPHABET)] = "##",
    end_of_word_suffix: Annotated[str | None, _option("After every word, for byte pair encoding.", _ALPHABET)] = None,
    end_of_word: Annotated[str, _option("The suffix is a symbol, or attached.", _ALPHABET)] = "symbol",
) -> None:
    """Learn a vocabulary from text files and write it to a folder."""
    started = time.monotonic()
    config = _config(context.params)
    check_folder(output)
    normalizing = _with_removal(resolve_normalizer(normalizer), remove)
    with _progress() as report:
        counts = _count(context.params, normalizing, report)
    for warning in (*loss_warnings(counts), *map(str, corpus_notices(counts, config))):
        _warn(warning)
    with _progress() as report:
        trainer = Trainer(counts, config)
        while trainer.run(_SLICE):
            report("Training", trainer.history.vocabulary_size(trainer.moment), vocab_size)
    save_directory(output, trainer.vocabulary, counts.normalizer, counts.pre_tokenizer, config=config, counts=counts)
    told = _summary if as_json else summary_words
    _print(told(trainer, output, time.monotonic() - started))


@app.command("tokenize")
def _tokenize(
    text: Annotated[str, typer.Argument(help="The text; - or nothing for stdin, line by line.")] = "-",
    vocab: VocabOption = ".",
    normalizer: GivenOption = None,
    pre_tokenizer: GivenOption = None,
    remove: RemoveOption = "",
    ids: Annotated[bool, typer.Option("--ids", help="Print ids, not tokens.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Tokenize text: a line of tokens for every line."""
    tokenizer = _loaded(vocab, normalizer, pre_tokenizer, remove)
    is_warned = not (ids or as_json)
    for line in decoded_lines(_stdin(), STDIN) if text == "-" else text.split("\n"):
        encoding = tokenizer.encode(line)
        if not is_warned and NO_ID in encoding.ids:
            is_warned = True
            _warn(no_unknown_token(tokenizer.vocabulary.unk_token))
        if as_json:
            offsets = [list(offset) for offset in encoding.offsets]
            _print(printable_json({"text": line, "tokens": encoding.tokens, "ids": encoding.ids, "offsets": offsets}))
        else:
            _print(" ".join(map(str, encoding.ids)) if ids else printable(" ".join(encoding.tokens)))


@app.command("explain")
def _explain(
    word: Annotated[str, typer.Argument(help="The word; a text is explained word by word.")],
    vocab: VocabOption = ".",
    normalizer: GivenOption = None,
    pre_tokenizer: GivenOption = None,
    remove: RemoveOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show which candidates longest match tries for a word, and why it is unknown if it is."""
    tokenizer = _loaded(vocab, normalizer, pre_tokenizer, remove)
    words = Pipeline(tokenizer.normalizer, tokenizer.pre_tokenizer).words(word)
    if not words:
        raise StudioError("There is no word in {text!r}", "Give one.", text=word)
    for trace in map(tokenizer.explain, words):
        _print(printable_json(dataclasses.asdict(trace)) if as_json else ladder(trace, tokenizer.max_word_length))


def _config(values: Mapping[str, Any]) -> TrainingConfig:
    """Return the settings; the options of `train` are called as they are, and lists are written with blanks."""
    lists = ("initial_alphabet", "continuing_order", "special_tokens")
    fields = [field.name for field in dataclasses.fields(TrainingConfig)]
    settings = {name: values[name] for name in fields}
    return TrainingConfig.from_dict(
        settings | {name: settings[name].split() for name in lists if settings[name] is not None}
    )


def _count(options: Mapping[str, Any], normalizer: Normalizer, report: Report) -> WordCounts:
    files: list[str] = options["files"]
    reading = {name: options[name] for name in ("pre_tokenizer", "max_word_length")}
    decoding = {name: options[name] for name in ("encoding", "errors")}

    def progress(done: int, total: int) -> None:
        report("Counting", done, total)

    if "-" not in files:
        counts = count_words(files, normalizer, **reading, **decoding, progress=progress)
    elif len(files) == 1:
        counts = count_stream(_stdin(), STDIN, normalizer, **reading, **decoding)
    else:
        raise StudioError("Stdin is read alone", "Write the text to a file and name it.")
    if not counts:
        raise no_words(files, counts)
    return counts


def _stdin() -> BufferedIOBase:
    if sys.stdin is None:  # closed by whoever started us
        raise StudioError("There is nothing to read: stdin is closed", "Name a file or give a text instead.")
    return cast("BufferedIOBase", sys.stdin.buffer)


def _summary(trainer: Trainer, output: str, seconds: float) -> str:
    counts = trainer.counts
    summary = {
        "output": output,
        "tokens": len(trainer.vocabulary),
        "merges": len(trainer.history),
        "stop_reason": trainer.stop_reason,
        "words": counts.total,
        "distinct_words": len(counts),
        "skipped_words": counts.statistics.skipped_words,
        "seconds": round(seconds, 3),
    }
    return printable_json(summary)


def _with_removal(normalizer: Normalizer, characters: str) -> Normalizer:
    return Sequence([normalizer, RemoveCharacters(characters)]) if characters else normalizer


def _loaded(vocab: str, normalizer: str | None, pre_tokenizer: str | None, remove: str) -> Tokenizer:
    if vocab == "." and not Path("vocab.txt").exists():
        raise StudioError("There is no vocab.txt in this folder", "Name a vocabulary with --vocab.")
    tokenizer = load_tokenizer(vocab, normalizer, pre_tokenizer)
    return Tokenizer(tokenizer.vocabulary, _with_removal(tokenizer.normalizer, remove), tokenizer.pre_tokenizer)


@contextmanager
def _progress() -> Iterator[Report]:
    """Show a progress bar on stderr while the block runs, if someone is there to see it."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(file=sys.stderr), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def report(what: str, done: int, total: int | None) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what)
            bars.update(tasks[what], completed=done, total=total)

        yield report


def _print(text: str) -> None:
    try:
        sys.stdout.write(text + "\n")
    except BrokenPipeError:
        raise _OutputClosed from None  # typer would end the program with an error


def _warn(text: str) -> None:
    sys.stderr.write(f"{PROGRAM}: {printable(text)}\n")


def _fail(text: str, code: int) -> int:
    _warn(" ".join(text.split()))
    return code
