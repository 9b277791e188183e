"""What the command line says: lines, warnings and progress; the summaries in them, and errors that name its options."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from wordpiece_studio.cli.parameters import PROGRAM
from wordpiece_studio.compiled.kernel_cache import KernelPackage, compiling_reported
from wordpiece_studio.corpus.decoding import BINARY_ADVICE, DETECT, UNDECODABLE_ADVICE
from wordpiece_studio.corpus.files import NO_FILE_ADVICE, kind_of_name
from wordpiece_studio.corpus.listing import FOLDER_SUFFIXES, NO_COLUMN_ADVICE
from wordpiece_studio.corpus.rows import CHARACTERS_ADVICE, NAME_COLUMN_ADVICE, QUOTE_ADVICE, SKIP_ADVICE
from wordpiece_studio.errors import StudioError
from wordpiece_studio.stopping import finished, undo_if_stopped
from wordpiece_studio.system.printable import REPLACE_ADVICE, display_name, printable, printable_json
from wordpiece_studio.tokenizer.tokenizer import NO_ID, Tokenizer, WordTrace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rich.progress import Progress, TaskID

    from wordpiece_studio.corpus.counts import CorpusStatistics, FileStatistics, WordCounts
    from wordpiece_studio.storage.tokenizer_loading import AnyTokenizer
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.trainer import Trainer

    Report = Callable[[str, int, int | None], None]

_CLEAR, _CLEAR_ABOVE = b"\r\x1b[2K\x1b[?25h", b"\x1b[1A\x1b[2K"  # also shows the cursor, which the bars hide
_PATIENCE_SECONDS = 0.3  # how long a command may take without a progress bar
_COMPILING = {
    "text": "Compiling the text engine, once on this machine",
    "training": "Compiling the training engine, once on this machine",
}
STDIN = "stdin"
# What was skipped or altered, as the statistics of a corpus and a summary of it call it.
LOSSES = ("skipped_words", "rare_words", "replaced", "skipped_lines", "guessed_tables", "left_out_files")
_MOST_FILES = 100

# The beginning of an error's template -> the option that it is about.
_RULES = {
    "required_tokens": "--require",
    "forbidden_tokens": "--forbid",
    "forbidden_pairs": "--forbid-pair",
    "chosen_merges": "--merge",
}
_OPTIONS = {
    "A vocabulary of {size": "--vocab-size",
    "At least one process": "--processes",
    "No word is left": "--alphabet-limit",
    "No word occurs": "--min-count",
    "The corpus has too few lines": "--held-out",
    "{text}: The corpus has too few lines": "--held-out",
    "The IDs of": "--dtype",
    "The corpus is words with": "--folds",
    "The longest word": "--max-word-length",
    "The pattern": "--pre-tokenizer",
    "The scheduler {address}": "--cluster",
    "The special token": "--special-tokens",
    "The user token": "--user-tokens",
    "The unknown token {token}": "--dtype",
    "The vocabulary has no {token} to add": "--add-special-tokens",
    "There is no error handling": "--errors",
    "There is no normalizer": "--normalizer",
    "There is no pre-tokenizer": "--pre-tokenizer",
    "There is no text encoding": "--encoding",
    "There is no kind of file": "--kind",
    "Words with their counts": "--held-out",
    '{path} has no column "': "--column",
    "There is no type of IDs": "--dtype",
    "There are too few lines for": "--folds",
    "{path} does not begin with a byte order mark": "--encoding",
}
_ADVICE_WITHOUT = {
    UNDECODABLE_ADVICE: "Convert the text to UTF-8.",
    BINARY_ADVICE: "If it is text in UTF-16, convert it to UTF-8.",
}


class OutputClosed(Exception):
    """The reader of our output has closed it, as in ``| head``."""


def print_line(text: str, end: str = "\n") -> None:
    try:
        sys.stdout.write(text + end)
    except BrokenPipeError:
        raise OutputClosed from None


def warn(*texts: str) -> None:
    for text in texts:
        sys.stderr.write(f"{PROGRAM}: {printable(text)}\n")


def print_result(summary: Mapping[str, object], words: str, *, as_json: bool) -> None:
    print_line(printable_json(summary) if as_json else words)


@contextmanager
def progress(*, of_bytes: bool = False) -> Iterator[Report]:
    """Show progress bars on stderr during the block, if it is a terminal; in any case say what is being compiled."""
    if not sys.stderr.isatty():
        with compiling_reported(_say_compiling):
            yield lambda *_: None
        return
    bars = _Bars(of_bytes)
    with compiling_reported(bars.report_compiling):
        try:
            yield bars.report
        finally:
            bars.close()


def _say_compiling(package: KernelPackage, done: int, _number: int) -> None:
    if not done:
        warn(f"{_COMPILING[package]}.")


class _Bars:
    """Progress bars on a terminal, which appear, and load what draws them, only once there is something to wait for."""

    def __init__(self, of_bytes: bool) -> None:
        self._of_bytes = of_bytes
        self._due = time.monotonic() + _PATIENCE_SECONDS
        self._changing = threading.Lock()  # kernels may be compiled in another thread
        self.bars: Progress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._is_over = False

    def report(self, what: str, done: int, total: int | None) -> None:
        if self.bars is None and time.monotonic() < self._due:
            return
        if self._of_bytes:
            amount = f"{done / 1e6:.1f} MB" if total is None else f"{done / 1e6:.1f} of {total / 1e6:.1f} MB"
        else:
            amount = f"{done:,}" if not total else f"{done / total:.0%}"
        self._show(what, done, total, amount)

    def report_compiling(self, package: KernelPackage, done: int, number: int) -> None:
        what = _COMPILING[package]
        self._show(what, done, number, f"{done} of {number}")
        if done == number:
            with self._changing:
                if self.bars is not None:
                    self.bars.remove_task(self._tasks.pop(what))

    def close(self) -> None:
        with self._changing:
            self._is_over = True
            if self.bars is not None:
                self.bars.stop()
                finished(self.bars)

    def _show(self, what: str, done: int, total: int | None, amount: str) -> None:
        with self._changing:
            if self._is_over:
                return
            if self.bars is None:
                self.bars = self._started()
            if what not in self._tasks:
                self._tasks[what] = self.bars.add_task(what, amount=amount)
            self.bars.update(self._tasks[what], completed=done, total=total, amount=amount)

    def _started(self) -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(file=sys.stderr)
        description, amount = TextColumn("{task.description}"), TextColumn("{task.fields[amount]}")
        bars = Progress(description, BarColumn(), amount, TimeRemainingColumn(), console=console, transient=True)

        def clear() -> None:
            if not (console.is_dumb_terminal or console.legacy_windows):
                os.write(sys.stderr.fileno(), _CLEAR + _CLEAR_ABOVE * (len(self._tasks) - 1))

        undo_if_stopped(bars, clear)
        bars.start()
        return bars


def error_words(error: StudioError, command: str = "") -> str:
    """Return an error as one line; settings and advice refer to the command's options."""
    has_options = command in ("train", "count", "encode", "lint", "evaluate", "compare", "sweep")
    advice = (_advice_with_options(command) if has_options else _ADVICE_WITHOUT).get(
        error.advice_template, error.advice
    )
    if has_options and (guess := error.values.get("guess")):
        advice = f"If so, use --encoding {str(guess).lower()}; otherwise --errors replace or --errors skip-line."
    what = error.what
    if error.what_template.startswith("The setting {name}"):
        name = str(error.values["name"])
        option = _RULES.get(name) or f"--{name.replace('_', '-')}"
        what = what.removeprefix("The setting ").replace(name, option, 1)
    for beginning, option in _OPTIONS.items():
        if error.what_template.startswith(beginning):
            what = f"{option}: {what}"
    return " ".join(f"{what}. {advice}".split())


def _advice_with_options(command: str) -> dict[str, str]:
    """Return the advice in errors that names options, by the advice that does not."""
    from wordpiece_studio.evaluation.held_out import HOLD_OUT_ADVICE  # with it comes the trainer
    from wordpiece_studio.storage.bpe_files import NO_BPE_ADVICE
    from wordpiece_studio.storage.vocab_txt import JSON_ALONE_ADVICE
    from wordpiece_studio.text.huggingface_steps import VOCABULARY_ALONE_ADVICE

    advice = {
        UNDECODABLE_ADVICE: "Specify the encoding with --encoding, or use --errors replace or --errors skip-line.",
        BINARY_ADVICE: "If it is text in UTF-16, use --encoding utf-16-le or utf-16-be; or use --errors replace or "
        "--errors skip-line.",
        SKIP_ADVICE: "Correct it, or skip such lines with --errors skip-line.",
        CHARACTERS_ADVICE: "Use --errors replace to have such characters replaced, or --errors skip-line to skip such "
        "lines.",
        QUOTE_ADVICE: "Correct it: a quoted cell ends with its quote, and a quote in it is doubled. Or skip such lines "
        "with --errors skip-line.",
        NAME_COLUMN_ADVICE: "Specify the one to read with --column.",
        NO_COLUMN_ADVICE: "Omit --column; or if the lines are rows, specify their kind with --kind.",
        NO_FILE_ADVICE: "Specify a regular file or a single pipe; or pipe the text in and use - for stdin.",
        HOLD_OUT_ADVICE: "Omit it.",
        REPLACE_ADVICE: "Replace it with --force, or write to another place.",
    }
    of_training = {
        HOLD_OUT_ADVICE: "Use --held-out-file with another text.",
        VOCABULARY_ALONE_ADVICE: "Use --only vocab.txt: any program can read its tokens, and WordPiece Studio finds in "
        "the file next to it how text becomes words.",
        JSON_ALONE_ADVICE: "Use --only tokenizer.json; or choose a normalizer that removes such characters.",
        NO_BPE_ADVICE: "Train with --objective count --continuing-subword-prefix '' --end-of-word attached; or omit "
        "--bpe.",
    }
    return advice | of_training if command == "train" else advice


def place_of(error: StudioError) -> dict[str, object]:
    """Return the file that an error is about, and the line or row and the byte, if it names them."""
    values, template = error.values, error.what_template
    file = next((values[name] for name in ("path", "source", "vocabulary") if name in values), None)
    line = "row" if "row {line}" in template else "line"
    found = {"file": None if file is None else str(file), line: values.get("line"), "byte": values.get("byte")}
    return {name: value for name, value in found.items() if value is not None}


def summary_words(trainer: Trainer, output: str, seconds: float) -> str:
    tokens, merges = len(trainer.vocabulary), len(trainer.history)
    figures = f"{number_of(tokens, 'token')} after {number_of(merges, 'merge')} in {seconds:.1f} s"
    reason = _stop_words(trainer.stop_reason or "", trainer.config)
    nothing = "" if merges else ", so nothing was merged"
    return f"{figures} ({reason}{nothing}), written to {display_name(output)}"


# What explains tokens per word in brackets.
LOST_TEXT = "In brackets: more than 1% of the tokens are unknown, and however long, an unknown word is one token."


def held_out_words(tokens_per_word: Mapping[Any, float], unknown: Mapping[Any, float]) -> str:
    """Return how a vocabulary splits text that it was not trained on, and how those of other objectives would.

    The first is that of the vocabulary; `unknown` has the shares of unknown tokens.
    """
    from wordpiece_studio.evaluation.usage import MUCH_UNKNOWN  # with it comes NumPy

    lost = {name: f" with {share:.1%} unknown" if share > MUCH_UNKNOWN else "" for name, share in unknown.items()}
    judged, *others = tokens_per_word
    named = ", ".join(f"{each.capitalize()} {tokens_per_word[each]:.2f}{lost[each]}" for each in sorted(others))
    figures = f"Held-out: {tokens_per_word[judged]:.2f} tokens per word{lost[judged]}"
    return f"{figures} ({named})" if named else figures


def loss_warnings(counts: WordCounts) -> list[str]:
    statistics = counts.statistics
    left_out = [f"{_left_out(counts)}."] if statistics.skipped_words else []
    if statistics.rare_words:
        share = statistics.rare_occurrences / max(counts.total + statistics.rare_occurrences, 1)
        rare = _were(statistics.rare_words, "distinct word", "left out as too rare")
        left_out.append(f"{rare}, {share:.2%} of all words.")
    return left_out + reading_warnings(counts.statistics)


def reading_warnings(statistics: CorpusStatistics) -> list[str]:
    warnings = []
    if statistics.replaced:
        warnings.append(f"{_were(statistics.replaced, 'invalid sequence', 'replaced')}.")
    if statistics.skipped_lines:
        warnings.append(f"{_were(statistics.skipped_lines, 'invalid line', 'skipped')}.")
    for name, encoding in statistics.marked_files.items():
        warnings.append(f"{name} was read as {encoding.upper()}, because it begins with that byte order mark.")
    if statistics.guessed_tables:
        warnings.append(_guessed_tables(statistics.guessed_tables))
    if statistics.left_out_files:
        warnings.append(_left_out_files(statistics))
    for name in statistics.changed_files:
        warnings.append(f"{name} changed while it was read.")
    return warnings


def detected_encodings(statistics: CorpusStatistics, encoding: str | None) -> list[str]:
    files = statistics.files if encoding == DETECT else ()
    return [f"{file.name} was read as {file.encoding.upper()}." for file in files if file.encoding != "utf-8"]


def table_of_files(files: Sequence[FileStatistics]) -> list[str]:
    """Return the lines of a table with the figures of each file; if there are very many, only the first."""
    rows: list[tuple[str, ...]] = [("file", "encoding", "bytes", "lines", "words", "distinct")]
    for file in files[:_MOST_FILES]:
        figures = (file.bytes, file.lines, file.words, file.distinct_words)
        rows.append((printable(file.name), file.encoding, *(f"{figure:,}" for figure in figures)))
    lines = aligned(rows, names=2)
    more = len(files) - _MOST_FILES
    return [*lines, f"and {number_of(more, 'more file')}"] if more > 0 else lines if files else []


def aligned(rows: Sequence[Sequence[str]], names: int = 1) -> list[str]:
    """Return the lines of a table: first columns of names, ready to print, then columns of numbers."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = "<" * names + ">" * (len(widths) - names)
    return ["  ".join(map("{:{}{}}".format, row, sides, widths)).rstrip() for row in rows]


def no_words(files: Sequence[str], counts: WordCounts | None = None) -> StudioError:
    names = ", ".join(STDIN if name == "-" else display_name(name) for name in files[:3])
    names += ", …" if len(files) > 3 else ""
    if counts is not None and counts.statistics.skipped_words:
        what = "There are no words in {names} to train on: {left_out}"
        advice = "Allow longer words with --max-word-length, or choose another text."
        return StudioError(what, advice, names=names, left_out=_left_out(counts))
    return StudioError("There are no words in {names}", "Choose a text that contains words.", names=names)


def no_unknown_token(unk_token: str, done: str = "printed") -> str:
    return f"The vocabulary has no {unk_token}: words that it cannot spell have no ID and are {done} as {NO_ID}."


def guessed_case(tokenizer: AnyTokenizer, vocab: str) -> list[str]:
    if not isinstance(tokenizer, Tokenizer) or not tokenizer.is_normalizer_guessed:
        return []
    normalizer = tokenizer.normalizer.name.partition("+")[0]  # characters may also be removed
    if normalizer == "bert-cased":
        case, other = "cased", "bert-uncased, which is what the BertTokenizer of transformers does"
    else:
        case, other = "uncased, as its tokens have no capitals", "bert-cased"
    return [
        f"Nothing next to {display_name(vocab)} says how text is read; it is assumed to be {case} (--normalizer "
        f"{normalizer}). If that is wrong, use --normalizer {other}."
    ]


def number_of(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def ladder(trace: WordTrace, max_word_length: int) -> str:
    """Return the pieces that longest match tried for a word, one line per position, ready to print."""
    lines = [trace.word]
    for position in trace.positions:
        tried = "  ".join(f"{trial.candidate} {'✓' if trial.matched else '✗'}" for trial in position.tried)
        lines.append(f"  from character {position.start + 1}: {tried}")
    reason = ""
    if trace.unknown is not None and trace.unknown.kind == "symbol":
        symbol, place = trace.unknown.symbol, trace.unknown.position + 1
        reason = f": nothing in the vocabulary matches from character {place}, not even {symbol}"
    elif trace.unknown is not None:
        reason = f": the word has more than {max_word_length} characters"
    return printable("\n".join([*lines, f"  → {' '.join(trace.tokens)}{reason}"]), keep="\n")


def _guessed_tables(names: Sequence[str]) -> str:
    more = f" and {number_of(len(names) - 1, 'more file')}" if len(names) > 1 else ""
    were = "were" if more else "was"
    return (
        f"{names[0]}{more} {were} read as words and their counts: two columns, the second with whole "
        f"numbers in every row. If that is wrong, use --kind {kind_of_name(names[0])}."
    )


def _left_out_files(statistics: CorpusStatistics) -> str:
    number, example = statistics.left_out_files, statistics.left_out_example
    files = f"{example} was" if number == 1 else f"{number_of(number, 'file')} were"
    example = "" if number == 1 else f", such as {example}"
    return (
        f"{files} left out{example}: in a folder, only names that end in {', '.join(FOLDER_SUFFIXES)} are read. "
        "Specify others one by one, or with a pattern."
    )


def _stop_words(reason: str, config: TrainingConfig) -> str:
    words = {
        "vocab_size": "the vocabulary has the requested size",
        "no_pair": "no pair is left",
        "min_frequency": f"no pair occurs {config.min_frequency:,} times or more",
        "forbidden": "all pairs left are forbidden",
        "min_value": f"no pair has a merge score of {config.min_value} or more",
        "max_merges": "the requested number of merges was reached",
        "max_seconds": "the time limit was reached",
    }
    return words.get(reason, reason)


def _left_out(counts: WordCounts) -> str:
    number = counts.statistics.skipped_words
    words = _were(number, "word", "left out as too long")
    for first in counts.skipped[:1]:
        words += ", the first one" if number > 1 else ""
        words += f": {first.length:,} characters in {first.source}, line {first.line}, byte {first.byte}"
    return words


def _were(count: int, what: str, done: str) -> str:
    return f"{number_of(count, what)} {'was' if count == 1 else 'were'} {done}"
